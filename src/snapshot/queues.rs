//! Queues of an interface, their interrupts, and how packets are spread over them.

use super::counters::CounterBlock;
use super::section::{row, section};

row! {
    /// A queue as sysfs shows it.
    Queue {
        /// True for a transmit queue.
        tx = bool,
        /// From 0.
        index = u32,
        ;
        /// CPUs to which received packets are steered (RPS); empty is off. Receive queues only.
        rps_cpus: Vec<u32>,
        /// CPUs that send over it (XPS); empty is off. Transmit queues only.
        xps_cpus: Vec<u32>,
    }
}

row! {
    /// An interrupt of an interface.
    Irq {
        /// Number as in /proc/interrupts.
        number = String,
        /// Name of its action, for example `eth0-TxRx-3`.
        action = String,
        ;
        /// CPUs that may serve it.
        affinity: Vec<u32>,
        /// CPUs that do serve it.
        effective_affinity: Vec<u32>,
        /// How often each CPU served it: `cpu0`, `cpu1` ...; CPUs that never did are left out.
        counts: CounterBlock,
    }
}

section! {
    /// Receive side scaling.
    Rss {
        /// For each receive queue how many entries of the indirection table lead to it.
        table: Vec<u32>,
        /// Hash function in use: `toeplitz`, `xor`, `crc32`.
        function: String,
        /// True where the table was set by somebody and does not follow the number of queues.
        configured: bool,
    }
}

section! {
    /// Priority flow control (IEEE 802.1Qbb), by the DCB interface.
    Pfc {
        /// Bit n is set where priority n is paused by itself.
        enabled_mask: u32,
        /// Priorities that this driver can pause.
        priorities: u32,
    }
}

row! {
    /// A filter with its action, as `tc -s filter` shows it.
    TcAction {
        /// `ingress`, `egress`, or the parent.
        hook = String,
        /// Kind of the action: `police`, `gact`, `mirred`, `bpf` ...
        kind = String,
        ;
        /// Rate of a policer in bit/s.
        rate: crate::reading::BitsPerSecond,
        /// Its counters: `sent_bytes sent_packets dropped overlimits`.
        counters: CounterBlock,
    }
}
