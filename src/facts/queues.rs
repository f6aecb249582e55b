//! Facts of queues, interrupts, lanes of modules, filter actions and health reporters.

use super::counters::Counted;
use super::entry::{Entry, derived};
use super::rows::row_facts;
use super::unit::Unit;
use super::{Derived, Facts, processors};
use crate::lang::{State, Type, Value};
use crate::reading::{BitsPerSecond, Decibel};
use crate::snapshot::{HealthReporter, Irq, ModuleLane, Queue, TcAction};

/// Facts of a queue.
pub(super) fn queue_entries() -> Vec<Entry> {
    let mut entries = row_facts! { Queue;
        "rps_cpus" = rps_cpus: Vec<u32>, "grep . /sys/class/net/{if}/queues/rx-*/rps_cpus", "CPUs that received packets are steered to";
        "xps_cpus" = xps_cpus: Vec<u32>, "grep . /sys/class/net/{if}/queues/tx-*/xps_cpus", "CPUs that send over it";
        names
        "tx" = tx: bool, "direction: a transmit queue";
        "index" = index: u32, "number of the queue";
    };
    entries.extend([
        derived("packets", Type::PLAIN, Unit::Packets, "packets that it received", |facts, index| {
            counted(facts, index, "queue_rx_packets", |part| Some(part.total))
        }),
        derived(
            "packets_growth",
            Type::PLAIN,
            Unit::Packets,
            "packets that it received within the sample",
            |facts, index| counted(facts, index, "queue_rx_packets", |part| part.growth),
        ),
        derived("dropped", Type::PLAIN, Unit::Packets, "packets for it that were dropped", |facts, index| {
            counted(facts, index, "queue_rx_drops", |part| Some(part.total))
        }),
        derived(
            "dropped_growth",
            Type::PLAIN,
            Unit::Packets,
            "packets for it that were dropped within the sample",
            |facts, index| counted(facts, index, "queue_rx_drops", |part| part.growth),
        ),
    ]);
    entries
}

/// What the driver counted for a receive queue; absent for one that sends.
fn counted(facts: &Facts<'_>, index: usize, name: &str, of: fn(&Counted) -> Option<u64>) -> Derived {
    let Some((owner, queue)) = facts.row::<Queue>(index) else { return Derived::none() };
    if queue.tx {
        return Derived::absent(Vec::new());
    }
    let parts = facts.count_instances(owner, name);
    let Some(part) = parts.get(&queue.index.to_string()) else { return Derived::unknown(Vec::new()) };
    let state = of(part).map_or(State::Unknown, |number| State::Known(Value::Number(number as f64)));
    Derived::of(state, Vec::new()).read_at(Some(part.source))
}

/// Facts of an interrupt.
pub(super) fn irq_entries() -> Vec<Entry> {
    let mut entries = row_facts! { Irq;
        "affinity" = affinity: Vec<u32>, "grep {if} /proc/interrupts", "CPUs that may serve it";
        "effective_affinity" = effective_affinity: Vec<u32>, "grep {if} /proc/interrupts", "CPUs that serve it";
        names
        "number" = number: String, "number of the interrupt";
        "action" = action: String, "name of its action";
    };
    entries.extend(processors::irq_counts());
    entries
}

/// Facts of a lane of a module.
pub(super) fn lane_entries() -> Vec<Entry> {
    row_facts! { ModuleLane;
        "rx_power" = rx_power: Decibel, "sudo ethtool -m {if}", "received optical power in dBm";
        "tx_power" = tx_power: Decibel, "sudo ethtool -m {if}", "transmitted optical power in dBm";
        "bias" = bias: f64, "sudo ethtool -m {if}", "laser bias current in mA";
        names
        "lane" = lane: u32, "number of the lane";
    }
}

/// Facts of an action of a filter.
pub(super) fn action_entries() -> Vec<Entry> {
    row_facts! { TcAction;
        "rate" = rate: BitsPerSecond, "tc -s filter show dev {if} ingress", "rate of a policer";
        names
        "kind" = kind: String, "kind of the action";
        "hook" = hook: String, "hook";
    }
}

/// Facts of a health reporter.
pub(super) fn reporter_entries() -> Vec<Entry> {
    row_facts! { HealthReporter;
        "state" = state: String, "devlink health show", "state: healthy or error";
        "errors" = errors: u64, "devlink health show", "errors since the driver was loaded";
        names
        "name" = name: String, "name of the reporter";
    }
}
