//! Canonical counters that are kept CPU by CPU: times, throttling, interrupts.

use std::collections::BTreeMap;

use super::rows::{Row, Rows};
use super::{Count, Counted};
use crate::facts::Facts;
use crate::knowledge::CanonicalCounter;
use crate::knowledge::schema::GenericCounter;
use crate::reading::Reading;
use crate::snapshot::{CounterBlock, Cpu, Host, Interface};

/// Names of which all CPU time is the sum; what guests use is inside `user` and `nice`.
const TIMES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
/// /proc/interrupts prints 32-bit counters.
const WIDTH: u8 = 32;

/// A counter of the host out of the rows of its CPUs.
pub(super) fn of_cpus<'a>(host: &'a Host, source: &GenericCounter) -> Option<Rows<'a>> {
    let cpus = host.cpu_list.known()?;
    match (source.group.as_str(), source.key.as_str()) {
        ("proc_stat", "total") => rows(cpus, |cpu| cpu.times.known(), &TIMES),
        ("proc_stat", key) => rows(cpus, |cpu| cpu.times.known(), &[key]),
        // Each thread of a core repeats the count of the core.
        ("thermal_throttle", "core_throttle_count") => {
            let first = |cpu: &&Cpu| cpu.core.known().is_none_or(|core| *core == cpu.number);
            rows(cpus.iter().filter(first), |cpu| cpu.throttled.known(), &[source.key.as_str()])
        }
        // Each CPU of a package repeats the count of the package: the highest is that of one of them.
        ("thermal_throttle", key) => {
            let total = |cpu: &&Cpu| cpu.throttled.known().and_then(|block| block.get(key)?.total());
            rows(cpus.iter().max_by_key(total), |cpu| cpu.throttled.known(), &[key])
        }
        _ => None,
    }
}

/// The rows of these names of each CPU. `None` where a CPU lacks one: the others would not be the whole.
fn rows<'a>(
    cpus: impl IntoIterator<Item = &'a Cpu>,
    block: fn(&'a Cpu) -> Option<&'a CounterBlock>,
    names: &[&str],
) -> Option<Rows<'a>> {
    let mut all = Vec::new();
    let mut first = None;
    for cpu in cpus {
        let block = block(cpu)?;
        first = first.or(Some(block));
        for name in names {
            let counter = match block.get(name) {
                Some(counter) => counter,
                // Kernels before 2.6.11 have fewer times.
                None if names.len() > 1 => continue,
                None => return None,
            };
            all.push(Row { counter, width: None, instance: cpu.number.to_string() });
        }
    }
    (!all.is_empty()).then_some(first.map(|first| Rows::of(first, all))?)
}

/// True for a counter that none of the CPUs keeps.
pub(super) fn is_absent(host: &Host, counter: &CanonicalCounter) -> bool {
    let throttle = counter.generic.iter().any(|source| source.group == "thermal_throttle");
    let cpus = host.cpu_list.known().filter(|cpus| throttle && !cpus.is_empty());
    cpus.is_some_and(|cpus| cpus.iter().all(|cpu| cpu.throttled.is_absent()))
}

/// Counts of the interrupts of an interface, told apart by CPU or by interrupt.
pub(super) fn of_interrupts(interface: &Interface, by_cpu: bool) -> Option<Rows<'_>> {
    let mut all = Vec::new();
    let mut first = None;
    for irq in interface.irqs.known()? {
        let block = irq.counts.known()?;
        first = first.or(Some(block));
        for counter in &block.counters {
            let cpu = counter.name.trim_start_matches("cpu");
            let instance = if by_cpu { cpu.to_owned() } else { irq.number.clone() };
            all.push(Row { counter, width: Some(WIDTH), instance });
        }
    }
    first.map(|first| Rows::of(first, all))
}

/// Interrupts of an interface on CPUs of another node than that of its device.
pub(super) fn remote(facts: &Facts<'_>, index: usize) -> Count {
    let Some(interface) = facts.snapshot().interfaces.get(index) else { return Count::Unknown };
    let Some(device) = facts.device_of(index) else {
        return if interface.device.is_absent() { Count::Absent } else { Count::Unknown };
    };
    let own = match &facts.snapshot().devices[device].numa_node {
        Reading::Known(own, _) => *own,
        Reading::Absent(_) => return Count::Absent,
        Reading::Unknown(_) => return Count::Unknown,
    };
    let cpus = facts.snapshot().host.cpu_list.known();
    let nodes: BTreeMap<String, u32> =
        cpus.into_iter().flatten().filter_map(|cpu| Some((cpu.number.to_string(), *cpu.node.known()?))).collect();
    let Some(all) = of_interrupts(interface, true) else { return Count::Unknown };
    let Some(sum) = all.sum() else { return Count::Unknown };
    let mut found = Counted { total: 0, growth: sum.growth.map(|_| 0), ..sum };
    for (cpu, part) in all.instances() {
        match nodes.get(&cpu) {
            Some(node) if *node == own => {}
            Some(_) => {
                found.total = found.total.saturating_add(part.total);
                found.growth = found.growth.zip(part.growth).map(|(sum, grown)| sum.saturating_add(grown));
            }
            None => return Count::Unknown,
        }
    }
    Count::Counted(found)
}
