//! CPUs of the host: what they are, what they do, and what holds them back.

use super::counters::CounterBlock;
use super::section::{row, section};
use crate::reading::Bytes;

section! {
    /// CPUs. Times, interrupts and throttling are counters of the host.
    Processors {
        /// Vendor as /proc/cpuinfo names it: `GenuineIntel`, `AuthenticAMD` ...
        vendor: String,
        /// Model name.
        model: String,
        /// NUMA nodes.
        numa_nodes: u32,
        /// Last level cache of one CPU.
        llc: Bytes,
        /// Driver of the clock: `intel_pstate`, `acpi-cpufreq` ... Absent where the clock can't be set.
        frequency_driver: String,
        /// Governor, where all CPUs have the same: `performance`, `powersave`, `schedutil` ...
        governor: String,
        /// Energy performance preference, where all CPUs have the same.
        energy_preference: String,
        /// Exit latency of the deepest idle state that is enabled, in microseconds.
        deepest_idle_latency: u32,
        /// The host runs on battery.
        on_battery: bool,
        /// Share of the time of all CPUs in soft interrupts, 0 to 1, as a tool printed it.
        softirq: f64,
        /// Share of the time of all CPUs that a hypervisor gave to others, 0 to 1, as a tool printed it.
        steal: f64,
        /// Share of the time of all CPUs without work, waiting for disks included, 0 to 1, as a tool printed it.
        idle: f64,
        /// Domain type of the IOMMU for devices: `DMA`, `DMA-FQ`, `identity`; absent without IOMMU.
        iommu: String,
    }
}

section! {
    /// The program that spreads interrupts over CPUs.
    Irqbalance {
        /// It runs.
        running: bool,
        /// CPUs that it may not use.
        banned: String,
    }
}

row! {
    /// One online CPU. Shares are of the time between two samples, as `mpstat` prints them.
    Cpu {
        /// Its number.
        number = u32,
        ;
        /// NUMA node.
        node: u32,
        /// The lowest number of the CPUs that are threads of the same core.
        core: u32,
        /// Share of the time in soft interrupts, 0 to 1.
        softirq: f64,
        /// Share of the time that a hypervisor gave to others, 0 to 1.
        steal: f64,
        /// Share of the time without work, waiting for disks included, 0 to 1.
        idle: f64,
        /// Times in ticks as /proc/stat names them: `user nice system idle iowait irq softirq steal`.
        times: CounterBlock,
        /// Its line of /proc/net/softnet_stat: `processed dropped time_squeeze received_rps flow_limit_count`.
        softnet: CounterBlock,
        /// Its column of /proc/softirqs: `NET_RX`, `NET_TX`.
        softirqs: CounterBlock,
        /// Times that it was slowed down for its temperature.
        throttled: CounterBlock,
    }
}

row! {
    /// A kernel thread that works for the network: `ksoftirqd/3`, `vhost-4711`, `napi/eth0-0` ...
    Thread {
        /// Its name.
        name = String,
        ;
        /// Share of one CPU between two samples, 0 to 1.
        load: f64,
        /// Ticks of CPU time: `ticks`.
        ticks: CounterBlock,
    }
}
