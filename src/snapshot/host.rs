//! The host as a whole.

use super::section::section;
use crate::reading::{Bytes, Seconds, Version};

section! {
    /// Readings that belong to no single interface or device.
    Host {
        /// Host name.
        name: String,
        /// Kernel release as `uname -r` prints it.
        kernel: Version,
        /// Machine architecture as `uname -m` prints it.
        architecture: String,
        /// PRETTY_NAME of os-release.
        os: String,
        /// ID of os-release, or the platform that marker files name (`synology_dsm`, `qnap_qts`, `proxmox` ...).
        platform: String,
        /// System vendor of the firmware tables.
        vendor: String,
        /// Product name of the firmware tables.
        product: String,
        /// True in a virtual machine.
        is_guest: bool,
        /// True inside a container.
        is_container: bool,
        /// Time since boot.
        uptime: Seconds,
        /// Online CPUs.
        cpus: u32,
        /// Installed memory.
        memory: Bytes,
        /// True where the process that read had the privileges of root.
        privileged: bool,
    }
}
