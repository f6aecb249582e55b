//! What the kernel counts for each CPU and flow: interrupts, softirqs, affinities, connection tracking.

use std::collections::BTreeMap;

use super::super::command::Command;
use super::super::site::{Site, sample_leaf};
use super::{Intake, Tool, path_value};
use crate::formats::conntrack;
use crate::formats::cursor::{At, Cursor};
use crate::formats::kernel_log::speaker::is_common_name;
use crate::formats::per_cpu::{self, PerCpu, Row, vector};
use crate::formats::{cpu_list, cpu_mask};
use crate::reading::Reading;
use crate::snapshot::{Irq, PciAddress};

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
    let ends = ["smp_affinity", "smp_affinity_list", "effective_affinity", "effective_affinity_list", "affinity_hint"];
    let of_irq = |file: &&str| {
        file.strip_prefix("/proc/irq/")
            .and_then(|rest| rest.rsplit('/').next())
            .is_some_and(|name| ends.contains(&name))
    };
    let files = command.files();
    !files.is_empty() && files.iter().all(of_irq)
}

/// Lines with a mask or a list of CPUs, perhaps behind the name of their file.
fn affinity(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let files = intake.command.map(Command::files).unwrap_or_default();
    let mut files = files.into_iter();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let (path, value) = match path_value(text) {
            Some((path, value)) => (path, value),
            None => (files.next().unwrap_or_default(), text),
        };
        let list = path.ends_with("_list") || path.ends_with("list");
        let cpus = if list { cpu_list::members(value) } else { cpu_mask::members(value) };
        if text.is_empty() || cpus.is_none() && !value.is_empty() {
            break;
        }
        cursor.take();
        if let Some(cpus) = cpus {
            put_affinity(intake.site, path, &cpus, line.number);
        }
    }
}

/// Sets the CPUs of an interrupt that is known to be of an interface.
fn put_affinity(site: &mut Site, path: &str, cpus: &[u32], line: u32) {
    let Some((number, file)) = path.strip_prefix("/proc/irq/").and_then(|rest| rest.split_once('/')) else { return };
    let source = site.source(line);
    for interface in &mut site.snapshot.interfaces {
        let Reading::Known(irqs, _) = &mut interface.irqs else { continue };
        let Some(irq) = irqs.iter_mut().find(|irq| irq.number == number) else { continue };
        match file {
            "smp_affinity" | "smp_affinity_list" => irq.affinity = Reading::Known(cpus.to_vec(), source),
            "effective_affinity" | "effective_affinity_list" => {
                irq.effective_affinity = Reading::Known(cpus.to_vec(), source);
            }
            _ => {}
        }
    }
}

fn interrupts(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(table) = per_cpu::parse(cursor) else { return };
    let partial = intake.is_filtered() || !table.has_head;
    put(intake.site, &table, partial);
    soft(intake, &table, partial);
    online(intake, &table);
}

/// The head of /proc/interrupts has a column for each CPU that is on line; that of /proc/softirqs for each that could be.
/// Columns may be cut off at the right: then nothing stands behind the counts.
fn online(intake: &mut Intake<'_>, table: &PerCpu) {
    let cuts = |words: &[String]| words.first().is_some_and(|name| ["awk", "cut", "gawk"].contains(&name.as_str()));
    let cut = intake.command.is_some_and(|command| {
        cuts(std::slice::from_ref(&command.program)) || command.filters.iter().any(|filter| cuts(filter))
    });
    let of_interrupts =
        |row: &Row| row.name.parse::<u32>().is_ok() && row.counts.len() == table.cpus.len() && !row.tail.is_empty();
    if table.has_head && !cut && table.rows.iter().any(of_interrupts) {
        let count = table.cpus.len() as u32;
        intake.site.put_host(|host| &mut host.cpus, At::new(count, table.line));
    }
}

/// Adds the soft interrupts of each CPU. The head names CPUs that could be: those that did nothing at all are not there.
fn soft(intake: &mut Intake<'_>, table: &PerCpu, partial: bool) {
    let of_network: Vec<&Row> =
        table.rows.iter().filter(|row| matches!(row.name.as_str(), "NET_RX" | "NET_TX")).collect();
    if of_network.is_empty() || !table.has_head {
        return;
    }
    for (column, cpu) in table.cpus.iter().enumerate() {
        if table.rows.iter().all(|row| row.counts.get(column).is_none_or(|count| *count == 0)) {
            continue;
        }
        let counts = of_network.iter().filter_map(|row| Some((row.name.clone(), *row.counts.get(column)?))).collect();
        let source = intake.site.source(table.line);
        super::cpu::row(intake, *cpu, table.line, |cpu| {
            sample_leaf(&mut cpu.softirqs, "softirqs", source, counts, partial);
        });
    }
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
        for row in vectors.queues.iter().chain(&vectors.others) {
            vector_of(site, &name, row, table, partial);
        }
        if let Reading::Known(irqs, _) = &mut site.interface(&name).irqs {
            irqs.sort_by_key(|irq| irq.number.parse::<u32>().unwrap_or(u32::MAX));
        }
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

/// Adds the counts of one vector to the interrupts of its interface.
fn vector_of(site: &mut Site, name: &str, row: &Row, table: &PerCpu, partial: bool) {
    let source = site.source(row.line);
    let served = table.cpus.iter().zip(&row.counts).filter(|(_, count)| **count > 0);
    let counts = served.map(|(cpu, count)| (format!("cpu{cpu}"), *count)).collect();
    let irqs = &mut site.interface(name).irqs;
    if irqs.known().is_none() {
        *irqs = Reading::Known(Vec::new(), source);
    }
    let Reading::Known(irqs, _) = irqs else { return };
    let at = irqs.iter().position(|irq| irq.number == row.name).unwrap_or_else(|| {
        let action = row.devices().concat();
        irqs.push(Irq { number: row.name.clone(), action, ..Irq::default() });
        irqs.len() - 1
    });
    sample_leaf(&mut irqs[at].counts, "interrupts", source, counts, partial);
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
        let irqs = snapshot.interface("eth0").unwrap().irqs.known().unwrap();
        assert_eq!((irqs.len(), irqs[0].number.as_str(), irqs[0].action.as_str()), (3, "57", "eth0"));
        assert_eq!(irqs[2].counts.known().unwrap().get("cpu2").unwrap().total(), Some(7));
        // CPUs that never served it are left out.
        assert!(irqs[0].counts.known().unwrap().get("cpu2").is_none());
    }

    #[test]
    fn a_column_for_each_cpu() {
        let cpus = |text: &str| one(text).0.host.cpus.known().copied();
        let head = "      CPU0  CPU1  CPU3\n";
        let row = " 24:     1     0     0   PCI-MSI 1-edge      ahci\n";
        assert_eq!(cpus(&format!("$ cat /proc/interrupts\n{head}{row}")), Some(3));
        assert_eq!(cpus(&format!("$ cat /proc/interrupts\n{head} 24:     1     0     0\n")), None, "cut off");
        assert_eq!(cpus(&format!("$ awk '{{print $1,$2,$3,$4,$5}}' /proc/interrupts\n{head}{row}")), None);
        assert_eq!(cpus(&format!("$ cat /proc/softirqs\n{head}NET_RX:  5  0 0\n")), None, "CPUs that could be");
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
        // Each network namespace counts for itself.
        let (snapshot, understood) =
            one(&format!("# conntrack -S\n{rows}$ kubectl exec -it pod1 -- conntrack -S\n{}", rows.replace('2', "9")));
        let block = &snapshot.host.counters.known().unwrap()[0];
        assert!(block.get("insert_failed").unwrap().total() == Some(2) && understood.left.is_empty());
    }

    #[test]
    fn masks_and_lists_are_of_vectors() {
        let text = "$ cat /proc/interrupts\n     CPU0  CPU1\n125:  5  0  IR-PCI-MSI 1-edge eth0\n$ cat /proc/irq/125/smp_affinity\nf\n\
                    $ grep . /proc/irq/*/effective_affinity_list\n/proc/irq/9/effective_affinity_list:0-3,8\n\
                    /proc/irq/125/effective_affinity_list:1\n\
                    $ cat /proc/softirqs\n      CPU0  CPU1 CPU2\nNET_RX:  5  0 0\nTIMER: 1 1 0\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let irq = &snapshot.interface("eth0").unwrap().irqs.known().unwrap()[0];
        assert_eq!((irq.affinity.known().unwrap().len(), irq.effective_affinity.known()), (4, Some(&vec![1])));
        let cpus = snapshot.host.cpu_list.known().unwrap();
        assert_eq!((cpus.len(), cpus[0].softirqs.known().unwrap().get("NET_RX").unwrap().total()), (2, Some(5)));
    }
}
