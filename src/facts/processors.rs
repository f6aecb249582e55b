//! Facts of CPUs and kernel threads, and of the interrupts that keep them busy.

use super::catalogue::{CPU, HOST, INTERFACE, IRQ, THREAD};
use super::entry::{Entry, derived};
use super::rows::row_facts;
use super::unit::Unit;
use super::{Derived, Facts};
use crate::lang::{Dim, Key, ScopeId, State, Type, Value};
use crate::reading::Reading;
use crate::snapshot::{CounterBlock, Cpu, Growth, Irq, Thread};

/// Ticks of /proc/stat per second; the kernel's own constant for user space.
const TICKS_PER_SECOND: f64 = 100.0;
/// Share of an interrupt's count below which a CPU does not count as serving it.
const NOTEWORTHY: f64 = 0.01;

/// Facts of an online CPU.
pub(super) fn cpu_entries() -> Vec<Entry> {
    let mut entries = row_facts! { Cpu;
        "node" = node: u32, "lscpu -e", "NUMA node";
        "core" = core: u32, "lscpu -e", "lowest number of the CPUs that are threads of the same core";
        "softirq_read" = softirq: f64, "mpstat -P ALL 1 5", "share of the time in soft interrupts, as a tool printed it";
        "steal_read" = steal: f64, "mpstat -P ALL 1 5", "share of the time that the hypervisor gave to others, as a tool printed it";
        "idle_read" = idle: f64, "mpstat -P ALL 1 5", "share of the time without work, as a tool printed it";
        names
        "number" = number: u32, "number of the CPU";
    };
    entries.extend([
        derived("softirq", Type::PLAIN, Unit::Share, "share of the sample in soft interrupts", |facts, index| {
            share(facts, index, "softirq_read", |cpu| &cpu.softirq, &["softirq"])
        }),
        derived(
            "steal",
            Type::PLAIN,
            Unit::Share,
            "share of the sample that the hypervisor gave to others",
            |facts, index| share(facts, index, "steal_read", |cpu| &cpu.steal, &["steal"]),
        ),
        derived("idle", Type::PLAIN, Unit::Share, "share of the sample without work", |facts, index| {
            share(facts, index, "idle_read", |cpu| &cpu.idle, &["idle", "iowait"])
        }),
        derived("busy", Type::PLAIN, Unit::Share, "share of the sample with work", |facts, index| {
            let idle = facts.key(CPU, index, "idle");
            let state = match facts.lookup_state(&idle) {
                State::Known(Value::Number(idle)) => State::Known(Value::Number(1.0 - idle)),
                other => other,
            };
            Derived::of(state, idle)
        }),
        derived("processed", Type::PLAIN, Unit::Packets, "packets that its backlog took", |facts, index| {
            block_total(facts.row::<Cpu>(index).map(|(_, cpu)| &cpu.softnet), "processed")
        }),
        derived(
            "processed_growth",
            Type::PLAIN,
            Unit::Packets,
            "packets that its backlog took within the sample",
            |facts, index| block_growth(facts.row::<Cpu>(index).map(|(_, cpu)| &cpu.softnet), "processed"),
        ),
        derived("dropped", Type::PLAIN, Unit::Packets, "packets that its backlog dropped", |facts, index| {
            block_total(facts.row::<Cpu>(index).map(|(_, cpu)| &cpu.softnet), "dropped")
        }),
        derived(
            "net_rx_growth",
            Type::PLAIN,
            Unit::Plain,
            "receive soft interrupts within the sample",
            |facts, index| block_growth(facts.row::<Cpu>(index).map(|(_, cpu)| &cpu.softirqs), "NET_RX"),
        ),
        derived("net_rx", Type::PLAIN, Unit::Plain, "receive soft interrupts since boot", |facts, index| {
            block_total(facts.row::<Cpu>(index).map(|(_, cpu)| &cpu.softirqs), "NET_RX")
        }),
        derived(
            "throttled",
            Type::PLAIN,
            Unit::Plain,
            "times that it was slowed down for its temperature since boot",
            |facts, index| block_total(facts.row::<Cpu>(index).map(|(_, cpu)| &cpu.throttled), "core_throttle_count"),
        ),
        derived(
            "throttled_growth",
            Type::PLAIN,
            Unit::Plain,
            "times that it was slowed down for its temperature within the sample",
            |facts, index| block_growth(facts.row::<Cpu>(index).map(|(_, cpu)| &cpu.throttled), "core_throttle_count"),
        ),
    ]);
    entries
}

/// Facts of a kernel thread.
pub(super) fn thread_entries() -> Vec<Entry> {
    let mut entries = row_facts! { Thread;
        "load_read" = load: f64, "top -H -b -n 1", "share of one CPU, as a tool printed it";
        names
        "name" = name: String, "name of the thread";
    };
    entries.push(derived("load", Type::PLAIN, Unit::Share, "share of one CPU within the sample", |facts, index| {
        let Some((_, thread)) = facts.row::<Thread>(index) else { return Derived::none() };
        if thread.load.known().is_some() {
            return facts.same_as(THREAD, index, "load_read");
        }
        let Reading::Known(block, source) = &thread.ticks else { return facts.same_as(THREAD, index, "load_read") };
        let used = block.get("ticks").map(crate::snapshot::Counter::growth);
        let state = match (used, block.window()) {
            (Some(Growth::By(ticks)), Some(seconds)) => {
                State::Known(Value::Number(ticks as f64 / TICKS_PER_SECOND / seconds))
            }
            _ => State::Unknown,
        };
        Derived::of(state, Vec::new()).read_at(Some(*source))
    }));
    entries
}

/// A share of the time: as it was read, else by the growth of the ticks.
fn share(facts: &Facts<'_>, index: usize, path: &str, read: fn(&Cpu) -> &Reading<f64>, names: &[&str]) -> Derived {
    let Some((_, cpu)) = facts.row::<Cpu>(index) else { return Derived::none() };
    let Reading::Known(block, source) = &cpu.times else { return facts.same_as(CPU, index, path) };
    if read(cpu).known().is_some() {
        return facts.same_as(CPU, index, path);
    }
    let grown = |name: &str| match block.get(name).map(crate::snapshot::Counter::growth) {
        Some(Growth::By(ticks)) => ticks,
        _ => 0,
    };
    // `guest` is inside `user`.
    let all: u64 =
        ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"].iter().map(|name| grown(name)).sum();
    let part: u64 = names.iter().map(|name| grown(name)).sum();
    let state = if all == 0 { State::Unknown } else { State::Known(Value::Number(part as f64 / all as f64)) };
    Derived::of(state, Vec::new()).read_at(Some(*source))
}

fn block_total(block: Option<&Reading<CounterBlock>>, name: &str) -> Derived {
    of_block(block, |block| block.get(name)?.total())
}

fn block_growth(block: Option<&Reading<CounterBlock>>, name: &str) -> Derived {
    of_block(block, |block| match block.get(name)?.growth() {
        Growth::By(grown) => Some(grown),
        Growth::Reset | Growth::OneSample => None,
    })
}

/// Facts of an interface that its interrupts and the CPUs that serve them tell.
pub(super) fn interface_entries() -> Vec<Entry> {
    vec![
        derived(
            "interrupts.rate",
            Type::number(Dim::FREQUENCY),
            Unit::PerSecond,
            "rate of the busiest interrupt: times per second within the sample",
            |facts, index| highest(facts, index, |_, irq| vec![(IRQ, irq, "rate")]),
        ),
        derived(
            "interrupts.softirq",
            Type::PLAIN,
            Unit::Share,
            "highest share of the sample in soft interrupts among the CPUs that serve its interrupts most",
            |facts, index| highest(facts, index, |facts, irq| serving(facts, irq, "softirq")),
        ),
        derived(
            "interrupts.busy",
            Type::PLAIN,
            Unit::Share,
            "highest share of the sample with work among the CPUs that serve its interrupts most",
            |facts, index| highest(facts, index, |facts, irq| serving(facts, irq, "busy")),
        ),
        derived("numa.cores", Type::PLAIN, Unit::Plain, "cores of its NUMA node; of the host without nodes", cores),
    ]
}

/// The fact of this path of the CPU that served an interrupt most; none of an interrupt that never came.
fn serving(facts: &Facts<'_>, irq: usize, path: &'static str) -> Vec<(ScopeId, usize, &'static str)> {
    let State::Known(Value::Number(number)) = facts.lookup_state(&facts.key(IRQ, irq, "cpu")) else {
        return Vec::new();
    };
    let cpus = facts.snapshot().host.cpu_list.known();
    let place = cpus.and_then(|cpus| cpus.iter().position(|cpu| f64::from(cpu.number) == number));
    let first = facts.topology().first_row(CPU, 0);
    place.map(|place| (CPU, first + place, path)).into_iter().collect()
}

/// The highest of facts that belong to the interrupts of an interface. Those that are not known leave a doubt on it.
fn highest(
    facts: &Facts<'_>,
    index: usize,
    of: impl Fn(&Facts<'_>, usize) -> Vec<(ScopeId, usize, &'static str)>,
) -> Derived {
    let irqs = match &facts.snapshot().interfaces[index].irqs {
        Reading::Known(irqs, _) => irqs,
        Reading::Absent(source) => return Derived::absent(Vec::new()).read_at(Some(*source)),
        Reading::Unknown(gap) => return Derived::unknown(Vec::new()).because(Some(*gap)),
    };
    let first = facts.topology().first_row(IRQ, index);
    let keys: Vec<Key> = (first..first + irqs.len())
        .flat_map(|irq| of(facts, irq))
        .flat_map(|(scope, at, path)| facts.key(scope, at, path))
        .collect();
    let mut most: Option<f64> = None;
    for key in &keys {
        match facts.lookup(*key).state {
            State::Known(Value::Number(number)) => most = Some(most.map_or(number, |most| most.max(number))),
            _ => return Derived::unknown(keys),
        }
    }
    Derived::of(most.map_or(State::Unknown, |most| State::Known(Value::Number(most))), keys)
}

/// Physical cores next to the device.
fn cores(facts: &Facts<'_>, index: usize) -> Derived {
    let node = facts.key(INTERFACE, index, "numa.node");
    let Some(cpus) = facts.snapshot().host.cpu_list.known() else {
        return facts.same_as(HOST, 0, "cpu");
    };
    let own = match facts.lookup_state(&node) {
        State::Known(Value::Number(own)) => Some(own),
        State::Absent => None,
        _ => return Derived::unknown(node),
    };
    let mut cores = std::collections::BTreeSet::new();
    for cpu in cpus {
        let here = match (own, &cpu.node) {
            (None, _) | (_, Reading::Absent(_)) => true,
            (Some(own), Reading::Known(node, _)) => f64::from(*node) == own,
            (Some(_), Reading::Unknown(_)) => return Derived::unknown(node),
        };
        match cpu.core.known() {
            Some(core) if here => {
                cores.insert(*core);
            }
            None if here => return Derived::unknown(node),
            _ => {}
        }
    }
    Derived::of(State::Known(Value::Number(cores.len() as f64)), node)
}

/// A number out of a block; a row that the block lacks is unknown.
fn of_block(block: Option<&Reading<CounterBlock>>, get: impl FnOnce(&CounterBlock) -> Option<u64>) -> Derived {
    match block {
        Some(Reading::Known(block, source)) => {
            let state = get(block).map_or(State::Unknown, |number| State::Known(Value::Number(number as f64)));
            Derived::of(state, Vec::new()).read_at(Some(*source))
        }
        Some(Reading::Absent(source)) => Derived::absent(Vec::new()).read_at(Some(*source)),
        Some(Reading::Unknown(gap)) => Derived::unknown(Vec::new()).because(Some(*gap)),
        None => Derived::none(),
    }
}

/// Facts of an interrupt that its counts tell.
pub(super) fn irq_counts() -> Vec<Entry> {
    vec![
        derived("total", Type::PLAIN, Unit::Plain, "times that it was raised since boot", |facts, index| {
            per_cpu(facts, index, |counts| Some(Value::Number(counts.iter().map(|(_, count)| *count as f64).sum())))
        }),
        derived(
            "rate",
            Type::number(Dim::FREQUENCY),
            Unit::PerSecond,
            "times per second within the sample",
            |facts, index| {
                let Some((_, irq)) = facts.row::<Irq>(index) else { return Derived::none() };
                let Reading::Known(block, source) = &irq.counts else { return Derived::none() };
                let grown: Option<u64> = block
                    .counters
                    .iter()
                    .map(|counter| match counter.growth() {
                        Growth::By(grown) => Some(grown),
                        _ => None,
                    })
                    .sum();
                let state = match (grown, block.window()) {
                    (Some(grown), Some(seconds)) => State::Known(Value::Number(grown as f64 / seconds)),
                    _ => State::Unknown,
                };
                Derived::of(state, Vec::new()).read_at(Some(*source))
            },
        ),
        derived(
            "cpus",
            Type::list(Type::PLAIN),
            Unit::Plain,
            "CPUs that served a hundredth of it or more since boot, the busiest first",
            |facts, index| {
                per_cpu(facts, index, |counts| {
                    let all: f64 = counts.iter().map(|(_, count)| *count as f64).sum();
                    let served = counts.iter().filter(|(_, count)| *count as f64 >= all * NOTEWORTHY && *count > 0);
                    Some(Value::List(served.map(|(cpu, _)| Value::Number(f64::from(*cpu))).collect()))
                })
            },
        ),
        derived("cpu", Type::PLAIN, Unit::Plain, "CPU that served it most since boot", |facts, index| {
            per_cpu(facts, index, |counts| {
                counts.first().filter(|(_, count)| *count > 0).map(|(cpu, _)| Value::Number(f64::from(*cpu)))
            })
        }),
        derived(
            "cpu_share",
            Type::PLAIN,
            Unit::Share,
            "share of it that this CPU served since boot",
            |facts, index| {
                per_cpu(facts, index, |counts| {
                    let all: f64 = counts.iter().map(|(_, count)| *count as f64).sum();
                    counts.first().filter(|_| all > 0.0).map(|(_, count)| Value::Number(*count as f64 / all))
                })
            },
        ),
    ]
}

/// Something of the counts per CPU, the highest first.
fn per_cpu(facts: &Facts<'_>, index: usize, make: impl FnOnce(&[(u32, u64)]) -> Option<Value>) -> Derived {
    let from = facts.key(IRQ, index, "affinity");
    let Some((_, irq)) = facts.row::<Irq>(index) else { return Derived::none() };
    match &irq.counts {
        Reading::Known(block, source) => {
            let cpu = |name: &str| name.strip_prefix("cpu")?.parse::<u32>().ok();
            let mut counts: Vec<(u32, u64)> =
                block.counters.iter().filter_map(|counter| Some((cpu(&counter.name)?, counter.total()?))).collect();
            counts.sort_by_key(|(cpu, count)| (std::cmp::Reverse(*count), *cpu));
            let state = make(&counts).map_or(State::Unknown, State::Known);
            Derived::of(state, Vec::new()).read_at(Some(*source))
        }
        Reading::Absent(source) => Derived::absent(from).read_at(Some(*source)),
        Reading::Unknown(gap) => Derived::unknown(Vec::new()).because(Some(*gap)),
    }
}
