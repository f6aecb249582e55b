//! Facts of scope `host`.

use super::catalogue::{EVENT, HOST, MEASUREMENT};
use super::entry::{Access, Entry, Put, derived, facts};
use super::unit::Unit;
use super::{Derived, events, measurements, sysctl};
use crate::lang::{Dim, Type, Value};
use crate::reading::{Bytes, Reading, Seconds, Version};
use crate::snapshot::Host;

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = readings();
    entries.extend(sysctl::entries());
    entries.push(Entry {
        path: "log_lines".into(),
        kind: Type::PLAIN,
        unit: Unit::Plain,
        doc: "lines of the kernel log that concern networking".into(),
        command: "sudo dmesg -T",
        access: Access::Host(
            |host| host.log.map(|lines| Value::Number(lines.len() as f64)),
            |host, put| match put {
                Put::Unknown(gap) => {
                    host.log = Reading::Unknown(*gap);
                    Ok(())
                }
                Put::Absent(source) => {
                    host.log = Reading::Absent(*source);
                    Ok(())
                }
                Put::Known(..) => Err("give the lines themselves".into()),
            },
        ),
    });
    entries.extend([
        derived(
            "log",
            Type::list(Type::Entity(EVENT)),
            Unit::Plain,
            "named events of the kernel log",
            |facts, index| events::list(facts, HOST, index),
        ),
        derived(
            "measured",
            Type::list(Type::Entity(MEASUREMENT)),
            Unit::Plain,
            "results that the user gave",
            |facts, _| measurements::list(facts, None),
        ),
        derived(
            "measured_worst",
            Type::Entity(MEASUREMENT),
            Unit::Plain,
            "result with the largest share of segments that were sent again",
            |facts, _| measurements::worst(facts),
        ),
        derived(
            "measured_peer",
            Type::Text,
            Unit::Plain,
            "address of the other end of the results, where they agree",
            |facts, _| measurements::peer(facts, None),
        ),
        derived("window", Type::number(Dim::TIME), Unit::Seconds, "length of the sample", |facts, _| {
            let seconds = facts.snapshot().sample.seconds;
            if seconds > 0.0 { Derived::fact(Value::Number(seconds)) } else { Derived::none() }
        }),
    ]);
    entries
}

fn readings() -> Vec<Entry> {
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
