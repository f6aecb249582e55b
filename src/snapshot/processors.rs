//! CPUs of the host: what they are, and what holds them back.

use super::section::section;
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
