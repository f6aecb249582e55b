//! Interrupts of interfaces: who serves them, and how often.

use std::collections::{BTreeMap, BTreeSet};

use super::interfaces::Links;
use super::kernel::{Reply, Request, zero_ended};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::formats::{cpu_list, interrupts};
use crate::reading::{Reading, SourceId};
use crate::snapshot::{Interface, Irq, PciAddress};

const FILE: &str = "/proc/interrupts";
const GROUP: &str = "interrupts";
/// The most bytes of the file: 1,000 interrupts of 1,000 CPUs.
const LIMIT: usize = 16 << 20;
/// Most interrupts of one interface.
const MOST: usize = 1024;

/// What is kept for the second sample.
#[derive(Default)]
pub(super) struct Sample {
    at: u64,
    /// CPUs that had a column: a count that was not kept was zero.
    cpus: BTreeSet<u32>,
}

fn request() -> Request {
    Request::read(FILE).most(LIMIT)
}

/// Numbers of the interrupts of each PCI function. A function without a list has the one of its pin.
fn numbers(scan: &mut Scan<'_>, functions: &BTreeSet<PciAddress>) -> BTreeMap<PciAddress, BTreeSet<String>> {
    let path = |address: &PciAddress, tail: &str| format!("/sys/bus/pci/devices/{address}/{tail}");
    let requests: Vec<Request> = functions
        .iter()
        .flat_map(|address| [Request::list(path(address, "msi_irqs")), Request::read(path(address, "irq"))])
        .collect();
    let replies = scan.kernel.call(&requests);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    functions
        .iter()
        .zip(replies.chunks(2))
        .map(|(address, pair)| {
            let listed: BTreeSet<String> =
                pair[0].bytes().map(|names| zero_ended(names).map(text).collect()).unwrap_or_default();
            let pin = pair.get(1).and_then(Reply::bytes).map(text).filter(|number| number != "0" && number != "255");
            (*address, if listed.is_empty() { pin.into_iter().collect() } else { listed })
        })
        .collect()
}

/// The first sample, for interfaces with a device behind them; others have no interrupt.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) -> Sample {
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let device = |interface: &Interface| {
        interface.index.known().and_then(|index| links.at(*index)).filter(|device| device.has_device)
    };
    let source = scan.file(FILE);
    let mut wanted: Vec<usize> = Vec::new();
    for (place, interface) in taken.iter_mut().enumerate() {
        if device(interface).is_some() {
            wanted.push(place);
        } else {
            interface.irqs = Reading::Absent(source);
        }
    }
    let mut sample = Sample::default();
    if !wanted.is_empty() {
        let functions: BTreeSet<PciAddress> =
            wanted.iter().filter_map(|place| taken[*place].device.known().copied()).collect();
        let numbers = numbers(scan, &functions);
        sample = read(scan, &mut taken, &wanted, &numbers, source);
        affinities(scan, &mut taken, &wanted);
    }
    scan.out.interfaces = taken;
    sample
}

fn read(
    scan: &mut Scan<'_>,
    taken: &mut [Interface],
    wanted: &[usize],
    numbers: &BTreeMap<PciAddress, BTreeSet<String>>,
    source: SourceId,
) -> Sample {
    let [reply] = scan.batch(&[request()]);
    let at = scan.kernel.now_ms();
    let names: Vec<String> = wanted.iter().map(|place| taken[*place].name.clone()).collect();
    let of_function = |number: &str| numbers.values().any(|listed| listed.contains(number));
    let of_name = |words: &str| names.iter().any(|name| interrupts::is_of(words, name));
    let parse = |text: &str| interrupts::parse(text, |number, words| of_function(number) || of_name(words));
    let file = match scan.parsed(&reply, FILE, &plan::INTERRUPTS, "", parse) {
        Reading::Known(file, _) => file,
        Reading::Unknown(gap) => {
            for place in wanted {
                taken[*place].irqs = Reading::Unknown(gap);
            }
            return Sample::default();
        }
        Reading::Absent(_) => return Sample::default(),
    };
    for place in wanted {
        let interface = &mut taken[*place];
        let own = interface.device.known().and_then(|address| numbers.get(address)).filter(|list| !list.is_empty());
        let is_own = |row: &&interrupts::Row| {
            let names_it = |name: &str| row.actions.iter().any(|action| interrupts::is_of(action, name));
            match own {
                // Ports of one function share its list: what names another of them is not this one's.
                Some(listed) => {
                    let others = names.iter().filter(|name| **name != interface.name);
                    listed.contains(&row.number)
                        && (names_it(&interface.name) || !others.into_iter().any(|name| names_it(name)))
                }
                None => names_it(&interface.name),
            }
        };
        // One that nobody asked for serves nothing.
        let rows = file.rows.iter().filter(|row| !row.actions.is_empty()).filter(is_own).take(MOST);
        let irqs = rows.map(|row| Irq {
            number: row.number.clone(),
            action: row.actions.join(", "),
            counts: Reading::Known(statistics::block(GROUP, source, counts(&file.cpus, row)), source),
            ..Irq::default()
        });
        interface.irqs = Reading::Known(irqs.collect(), source);
    }
    Sample { at, cpus: file.cpus.iter().copied().collect() }
}

/// Counts by CPU, without those that never served it.
fn counts(cpus: &[u32], row: &interrupts::Row) -> Vec<(String, u64)> {
    cpus.iter()
        .zip(&row.counts)
        .filter(|(_, count)| **count > 0)
        .map(|(cpu, count)| (format!("cpu{cpu}"), *count))
        .collect()
}

fn affinities(scan: &mut Scan<'_>, taken: &mut [Interface], wanted: &[usize]) {
    const NAMES: [&str; 2] = ["smp_affinity_list", "effective_affinity_list"];
    let path = |number: &str, name: &str| format!("/proc/irq/{number}/{name}");
    let numbers: Vec<String> = wanted
        .iter()
        .filter_map(|place| taken[*place].irqs.known())
        .flatten()
        .map(|irq| irq.number.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let requests: Vec<Request> =
        numbers.iter().flat_map(|number| NAMES.map(|name| Request::read(path(number, name)))).collect();
    let replies = scan.kernel.call(&requests);
    let mut found: BTreeMap<&str, [Reading<Vec<u32>>; 2]> = BTreeMap::new();
    for (number, pair) in numbers.iter().zip(replies.chunks(2)) {
        let mut place = 0;
        let readings = NAMES.map(|name| {
            let reply = pair.get(place).cloned().unwrap_or(Reply::TimedOut);
            place += 1;
            let file = path(number, name);
            match (&reply, name) {
                // Kernels before 4.13, and controllers that cannot tell.
                (Reply::Error { errno: libc::ENOENT, .. }, "effective_affinity_list") => {
                    Reading::Absent(scan.file(file))
                }
                // No CPU of the list is online.
                (Reply::Bytes(blob), _) if blob.0 == b"\n" => Reading::Known(Vec::new(), scan.file(file)),
                _ => scan.parsed(&reply, &file, &plan::AFFINITY, "", cpu_list::members),
            }
        });
        found.insert(number, readings);
    }
    for place in wanted {
        let Reading::Known(irqs, _) = &mut taken[*place].irqs else { continue };
        for irq in irqs {
            if let Some([affinity, effective]) = found.get(irq.number.as_str()) {
                (irq.affinity, irq.effective_affinity) = (affinity.clone(), effective.clone());
            }
        }
    }
}

/// The second sample.
pub(super) fn again(scan: &mut Scan<'_>, sample: &Sample) {
    let listed = |interface: &Interface| interface.irqs.known().is_some_and(|irqs| !irqs.is_empty());
    if !scan.out.interfaces.iter().any(listed) {
        return;
    }
    let [reply] = scan.batch(&[request()]);
    let after = scan.kernel.now_ms().saturating_sub(sample.at);
    let irqs = || scan.out.interfaces.iter().filter_map(|interface| interface.irqs.known()).flatten();
    let numbers: BTreeSet<&str> = irqs().map(|irq| irq.number.as_str()).collect();
    let text = reply.bytes().map(String::from_utf8_lossy);
    let file = text.and_then(|text| interrupts::parse(&text, |number, _| numbers.contains(number)));
    let Some(file) = file else { return };
    let rows: BTreeMap<&str, &interrupts::Row> = file.rows.iter().map(|row| (row.number.as_str(), row)).collect();
    for interface in &mut scan.out.interfaces {
        let Reading::Known(irqs, _) = &mut interface.irqs else { continue };
        for irq in irqs {
            let Reading::Known(block, _) = &mut irq.counts else { continue };
            // A number may have changed hands between the samples.
            let Some(row) = rows.get(irq.number.as_str()).filter(|row| row.actions.join(", ") == irq.action) else {
                continue;
            };
            let counts = counts(&file.cpus, row);
            block.append(after, counts.iter().map(|(name, count)| (name.as_str(), *count)));
            for counter in &mut block.counters {
                let was_zero = counter
                    .name
                    .strip_prefix("cpu")
                    .and_then(|cpu| cpu.parse().ok())
                    .is_some_and(|cpu| sample.cpus.contains(&cpu));
                if let [first @ None, Some(_)] = counter.values.as_mut_slice()
                    && was_zero
                {
                    *first = Some(0);
                }
            }
        }
    }
}
