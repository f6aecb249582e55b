//! Facts of scope `host`.

use super::catalogue::{CPU, EVENT, FLOW, HOST, LISTENER, MEASUREMENT, NFS, ROUTE, SETTING, THREAD, UDP_SOCKET};
use super::entry::{Access, Entry, Put, derived, facts};
use super::unit::Unit;
use super::{Derived, events, measurements, placement, protocols, rows, sysctl};
use crate::lang::{Dim, Type, Value};
use crate::reading::{Bytes, Reading, Seconds, Version};
use crate::snapshot::{ConfiguredSetting, Cpu, Flow, Host, Listener, NfsMount, Route, Thread, UdpSocket};

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = readings();
    entries.extend(sysctl::entries());
    entries.extend(sysctl::at_boot());
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
    entries.extend(protocols::gauges());
    entries.extend(placement::host_entries());
    entries.extend([
        derived("flows", Type::list(Type::Entity(FLOW)), Unit::Plain, "TCP connections", rows::list::<Flow>),
        derived(
            "listeners",
            Type::list(Type::Entity(LISTENER)),
            Unit::Plain,
            "TCP sockets that wait for connections",
            rows::list::<Listener>,
        ),
        derived(
            "udp_sockets",
            Type::list(Type::Entity(UDP_SOCKET)),
            Unit::Plain,
            "UDP sockets",
            rows::list::<UdpSocket>,
        ),
        derived("routes", Type::list(Type::Entity(ROUTE)), Unit::Plain, "routes", rows::list::<Route>),
        derived("cpu", Type::list(Type::Entity(CPU)), Unit::Plain, "online CPUs", rows::list::<Cpu>),
        derived(
            "threads",
            Type::list(Type::Entity(THREAD)),
            Unit::Plain,
            "kernel threads that work for the network",
            rows::list::<Thread>,
        ),
        derived("nfs.mounts", Type::list(Type::Entity(NFS)), Unit::Plain, "NFS mounts", rows::list::<NfsMount>),
        derived(
            "configured",
            Type::list(Type::Entity(SETTING)),
            Unit::Plain,
            "settings that files keep for the next boot",
            rows::list::<ConfiguredSetting>,
        ),
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
        "workload" = workload: String, "scan --workload WORK", "what the host is for, as the user said";
        "vendor" = vendor: String, "cat /sys/class/dmi/id/sys_vendor", "system vendor of the firmware tables";
        "product" = product: String, "cat /sys/class/dmi/id/product_name", "product name of the firmware tables";
        "is_guest" = is_guest: bool, "systemd-detect-virt --vm", "kind of machine: runs in a virtual machine";
        "is_container" = is_container: bool, "systemd-detect-virt --container", "kind of environment: runs in a container";
        "uptime" = uptime: Seconds, "cat /proc/uptime", "time since boot";
        "cpus" = cpus: u32, "nproc", "online CPUs";
        "memory" = memory: Bytes, "cat /proc/meminfo", "installed memory";
        "cloud" = cloud: String, "cat /sys/class/dmi/id/sys_vendor", "cloud that it runs in";
        "chassis" = chassis: String, "hostnamectl", "kind of case";
        "rules" = rules: Vec<String>, "ip rule show", "rules of policy routing beyond the kernel's own";
        "services" = services: Vec<String>, "ps -e -o comm=", "programs that matter to the network and run";
        "cpu.vendor" = processors.vendor: String, "lscpu", "vendor of the CPUs";
        "cpu.model" = processors.model: String, "lscpu", "model of the CPUs";
        "numa_nodes" = processors.numa_nodes: u32, "lscpu", "NUMA nodes";
        "llc_size" = processors.llc: Bytes, "lscpu", "last level cache of one CPU";
        "cpufreq.driver" = processors.frequency_driver: String, "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "driver of the CPU clock";
        "cpufreq.governor" = processors.governor: String, "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "governor of the CPU clock, if all CPUs have the same";
        "cpufreq.epp" = processors.energy_preference: String, "cat /sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference", "energy preference, if all CPUs have the same";
        "load.softirq_read" = processors.softirq: f64 as Share, "mpstat 1 5", "share of the time of all CPUs in soft interrupts, as a tool printed it";
        "load.steal_read" = processors.steal: f64 as Share, "mpstat 1 5", "share of the time of all CPUs that the hypervisor gave to others, as a tool printed it";
        "load.idle_read" = processors.idle: f64 as Share, "mpstat 1 5", "share of the time of all CPUs without work, as a tool printed it";
        "cpuidle.latency" = processors.deepest_idle_latency: u32, "cpupower idle-info", "exit latency of the deepest idle state in use, in microseconds";
        "on_battery" = processors.on_battery: bool, "cat /sys/class/power_supply/*/online", "power source: runs on battery";
        "iommu" = processors.iommu: String, "cat /sys/kernel/iommu_groups/*/type", "type of the IOMMU's domains";
        "irqbalance.running" = irqbalance.running: bool, "systemctl is-active irqbalance", "state of irqbalance: runs";
        "irqbalance.banned" = irqbalance.banned: String, "cat /etc/default/irqbalance", "CPUs that irqbalance may not use";
        "conntrack.count" = conntrack.count: u64, "cat /proc/sys/net/netfilter/nf_conntrack_count", "tracked connections";
        "conntrack.max" = conntrack.max: u64, "cat /proc/sys/net/netfilter/nf_conntrack_max", "most tracked connections";
        "conntrack.buckets" = conntrack.buckets: u64, "cat /proc/sys/net/netfilter/nf_conntrack_buckets", "hash buckets of the connection table";
        "neighbours.v4" = neighbours.v4: u32, "ip -4 neigh | wc -l", "IPv4 neighbours";
        "neighbours.v6" = neighbours.v6: u32, "ip -6 neigh | wc -l", "IPv6 neighbours";
        "peer.address" = peer.address: String, "scan --peer ADDRESS", "address of the other end that was asked about";
        "peer.interface" = peer.interface: String, "ip route get ADDRESS", "interface that packets to it leave by";
        "peer.source" = peer.source: String, "ip route get ADDRESS", "own address that packets to it bear";
        "peer.gateway" = peer.gateway: String, "ip route get ADDRESS", "next hop to it";
        "peer.mtu" = peer.mtu: Bytes, "ip route get ADDRESS", "largest packet that the route to it takes";
        "peer.neighbour" = peer.neighbour: String, "ip neigh", "state of the next hop in the neighbour table";
        "peer.neighbour_address" = peer.neighbour_address: String, "ip neigh", "hardware address of the next hop";
        "neighbours.failed" = neighbours.failed: u32, "ip neigh show nud failed", "neighbours that never answered";
        "privileged" = privileged: bool, "id -u", "privileges of the reading: taken as root";
    }
}
