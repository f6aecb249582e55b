//! What the kernel counts for each CPU and flow: interrupts, softirqs, affinities, connection tracking.

use std::collections::BTreeMap;

use super::super::command::Command;
use super::super::site::Site;
use super::{Intake, Tool};
use crate::formats::conntrack;
use crate::formats::cursor::Cursor;
use crate::formats::kernel_log::speaker::is_common_name;
use crate::formats::per_cpu::{self, PerCpu, Row, vector};
use crate::formats::{cpu_list, cpu_mask};
use crate::snapshot::PciAddress;

pub(super) static TOOLS: &[Tool] = &[
    Tool { name: "/proc/interrupts", answers: is_interrupts, begins: per_cpu::begins, read: interrupts },
    Tool { name: "/proc/irq", answers: is_affinity, begins: |_| false, read: affinity },
    Tool { name: "conntrack", answers: |command| command.program == "conntrack", begins: |_| false, read: connections },
];

fn is_interrupts(command: &Command) -> bool {
    let files = command.files();
    !files.is_empty() && files.iter().all(|file| ["/proc/interrupts", "/proc/softirqs"].contains(file))
}

fn is_affinity(command: &Command) -> bool {
    let ends = [
        "smp_affinity",
        "smp_affinity_list",
        "effective_affinity",
        "effective_affinity_list",
        "affinity_hint",
        "rps_cpus",
        "xps_cpus",
        "local_cpus",
        "local_cpulist",
        "rps_flow_cnt",
    ];
    let files = command.files();
    !files.is_empty() && files.iter().all(|file| ends.iter().any(|end| file.rsplit('/').next() == Some(end)))
}

/// Lines with a mask or a list of CPUs, perhaps behind the name of their file.
fn affinity(cursor: &mut Cursor<'_>, _: &mut Intake<'_>) {
    let is_set =
        |text: &str| cpu_mask::members(text).is_some() || cpu_list::count(text).is_some() || text.trim().is_empty();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let value = match text.split_once(':') {
            Some((file, value)) if file.starts_with('/') => value,
            _ => text,
        };
        if text.is_empty() || !is_set(value) {
            break;
        }
        cursor.take();
    }
}

fn interrupts(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(table) = per_cpu::parse(cursor) else { return };
    let partial = intake.is_filtered() || !table.has_head;
    put(intake.site, &table, partial);
}

/// What the vectors of an interface counted.
#[derive(Default)]
struct Vectors<'t> {
    queues: Vec<&'t Row>,
    others: Vec<&'t Row>,
}

/// The interface of a vector, by its name or by the PCI function in it.
fn interface_of<'t>(site: &Site, name: &'t str) -> Option<(String, bool, &'t str)> {
    if let Some((front, address)) = name.split_once("@pci:") {
        let address: PciAddress = address.parse().ok()?;
        let device = site.snapshot.devices.iter().find(|device| device.address == address)?;
        let [only] = device.interfaces.known()?.as_slice() else { return None };
        return Some((only.clone(), front.contains("comp"), name));
    }
    let found = vector(name)?;
    (site.knows(found.interface) || is_common_name(found.interface))
        .then(|| (found.interface.to_owned(), found.is_queue, name))
}

/// Adds the counts of each interface's queues: of each vector, and of each CPU over all of them.
fn put(site: &mut Site, table: &PerCpu, partial: bool) {
    let mut interfaces: BTreeMap<String, Vectors<'_>> = BTreeMap::new();
    for row in &table.rows {
        // An interrupt that several devices share says nothing of one of them.
        let [name] = row.devices()[..] else { continue };
        if row.name.parse::<u32>().is_err() || row.counts.len() != table.cpus.len() {
            continue;
        }
        if let Some((interface, is_queue, _)) = interface_of(site, name) {
            let vectors = interfaces.entry(interface).or_default();
            if is_queue { vectors.queues.push(row) } else { vectors.others.push(row) }
        }
    }
    for (name, vectors) in interfaces {
        // An interface with one vector has it for all; else the one that bears its name alone tells of the link.
        let rows = if vectors.queues.is_empty() { vectors.others } else { vectors.queues };
        let mut counters: Vec<(String, u64)> = Vec::with_capacity(rows.len() + table.cpus.len() + 1);
        counters.extend(rows.iter().map(|row| (format!("irq{}", row.name), sum(row.counts.iter()))));
        for (column, cpu) in table.cpus.iter().enumerate() {
            counters.push((format!("cpu{cpu}"), sum(rows.iter().filter_map(|row| row.counts.get(column)))));
        }
        let line = rows.first().map_or(table.line, |row| row.line);
        site.counters(&name, "interrupts", line, counters, partial);
    }
}

fn sum<'c>(counts: impl Iterator<Item = &'c u64>) -> u64 {
    counts.fold(0, |sum, count| sum.saturating_add(*count))
}

/// The table of connections, and its length. Its statistics are read with the files of /proc.
fn connections(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if intake.command.is_some_and(|command| command.has("-C")) {
        conntrack::count(cursor);
    }
    while intake.command.is_some() && cursor.peek().is_some_and(|line| conntrack::is_entry(line.text)) {
        cursor.take();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::transcript::one;

    #[test]
    fn vectors_are_summed_over_queues_and_cpus() {
        let table = |first: u32| {
            format!(
                "            CPU0       CPU2\n  57:          1          0   PCI-MSI-edge      eth0\n  58:  {first}       5   PCI-MSI-edge      eth0-rx-0\n\
                 \u{20} 59:    20       7   PCI-MSI-edge      eth0-rx-1\n  60:    20       7   IO-APIC-fasteoi   eth9, ahci\nNMI:  1 2   Non-maskable\n"
            )
        };
        let text = format!("$ cat /proc/interrupts\n{}$ cat /proc/interrupts\n{}", table(10), table(15));
        let (snapshot, understood) = one(&text);
        assert_eq!(understood.left, []);
        let block = &snapshot.interface("eth0").unwrap().counters[0];
        let values = |name: &str| block.get(name).unwrap().values.clone();
        assert_eq!(
            (block.group.as_str(), values("irq58"), values("cpu0")),
            ("interrupts", vec![Some(15), Some(20)], vec![Some(30), Some(35)])
        );
        assert_eq!(
            (values("cpu2"), block.get("irq57").is_none(), block.partial),
            (vec![Some(12), Some(12)], true, false)
        );
        assert!(snapshot.interface("eth9").is_none());
    }

    #[test]
    fn vectors_of_mlx5_are_known_by_the_function() {
        let text = "# ethtool -i ens1\ndriver: mlx5_core\nversion: 6\nbus-info: 0000:03:00.0\n# grep mlx5 /proc/interrupts\n\
                    \u{20}90:    9       0  IR-PCI-MSI 1572864-edge      mlx5_async0@pci:0000:03:00.0\n 91:    0       4  IR-PCI-MSI 1572865-edge      mlx5_comp0@pci:0000:03:00.0\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let block = &snapshot.interface("ens1").unwrap().counters[0];
        let names: Vec<&str> = block.counters.iter().map(|counter| counter.name.as_str()).collect();
        assert_eq!((names, block.partial), (vec!["irq91", "cpu0", "cpu1"], true));
    }

    #[test]
    fn connection_tracking_of_the_host_alone() {
        let rows = "cpu=0   \tfound=0 invalid=1 insert_failed=2 drop=0\n";
        let (snapshot, _) = one(&format!("# conntrack -S\n{rows}"));
        let block = &snapshot.host.counters.known().unwrap()[0];
        assert_eq!(
            (block.group.as_str(), block.get("insert_failed").unwrap().values.as_slice()),
            ("nf_conntrack_stat", &[Some(2)][..])
        );
        let (snapshot, understood) = one(&format!("$ kubectl exec -it pod1 -- conntrack -S\n{rows}"));
        assert!(snapshot.host.counters.known().is_none() && understood.left.is_empty());
    }

    #[test]
    fn masks_lists_and_numbers() {
        let text = "$ cat /proc/irq/125/smp_affinity\nf\n$ grep . /proc/irq/*/smp_affinity_list\n/proc/irq/9/smp_affinity_list:0-3,8\n\
                    $ cat /proc/net/ip_conntrack | wc -l\n544\n$ ls | grep -c x\n3\n$ cat /proc/softirqs\n      CPU0  CPU1\nNET_RX:  5  6\n";
        let (_, understood) = one(text);
        assert_eq!(understood.left, []);
    }
}
