//! Facts of scope `host`.

use super::entry::{Entry, facts};
use crate::reading::{Bytes, Seconds, Version};
use crate::snapshot::Host;

pub(super) fn entries() -> Vec<Entry> {
    facts! { Host, Host;
        "name" = name: String, "hostname", "host name";
        "kernel" = kernel: Version, "uname -r", "kernel release";
        "architecture" = architecture: String, "uname -m", "machine architecture";
        "os" = os: String, "cat /etc/os-release", "operating system as its release file names it";
        "platform" = platform: String, "cat /etc/os-release", "platform word, for example debian or synology_dsm";
        "vendor" = vendor: String, "cat /sys/class/dmi/id/sys_vendor", "system vendor of the firmware tables";
        "product" = product: String, "cat /sys/class/dmi/id/product_name", "product name of the firmware tables";
        "is_guest" = is_guest: bool, "systemd-detect-virt --vm", "runs in a virtual machine";
        "is_container" = is_container: bool, "systemd-detect-virt --container", "runs in a container";
        "uptime" = uptime: Seconds, "cat /proc/uptime", "time since boot";
        "cpus" = cpus: u32, "nproc", "online CPUs";
        "memory" = memory: Bytes, "cat /proc/meminfo", "installed memory";
        "privileged" = privileged: bool, "id -u", "the readings were taken with the privileges of root";
    }
}
