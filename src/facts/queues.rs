//! Facts of queues, interrupts, lanes of modules, filter actions and health reporters.

use super::entry::Entry;
use super::processors;
use super::rows::row_facts;
use crate::reading::{BitsPerSecond, Decibel};
use crate::snapshot::{HealthReporter, Irq, ModuleLane, Queue, TcAction};

/// Facts of a queue.
pub(super) fn queue_entries() -> Vec<Entry> {
    row_facts! { Queue;
        "rps_cpus" = rps_cpus: Vec<u32>, "grep . /sys/class/net/{if}/queues/rx-*/rps_cpus", "CPUs that received packets are steered to";
        "xps_cpus" = xps_cpus: Vec<u32>, "grep . /sys/class/net/{if}/queues/tx-*/xps_cpus", "CPUs that send over it";
        names
        "tx" = tx: bool, "a transmit queue";
        "index" = index: u32, "number of the queue";
    }
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
        "hook" = hook: String, "where it hangs";
    }
}

/// Facts of a health reporter.
pub(super) fn reporter_entries() -> Vec<Entry> {
    row_facts! { HealthReporter;
        "state" = state: String, "devlink health show", "healthy or error";
        "errors" = errors: u64, "devlink health show", "errors since the driver was loaded";
        names
        "name" = name: String, "name of the reporter";
    }
}
