//! What may be asked, as data: what a probe tells, what it needs, costs and risks, and which command a person would type
//! for the same answer.

use crate::formats::shell::{can_be_copied, shell_quote};

/// What a probe needs of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: any user may ask.
    Nothing,
    /// Root (CAP_SYS_ADMIN, or files that only root may read).
    Root,
    /// CAP_NET_ADMIN.
    NetAdmin,
}

/// What a probe costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Once per host, microseconds.
    Once,
    /// One dump for all interfaces, about 1 to 10 us for each.
    Dump,
    /// Per hardware interface or PCI function, tens of microseconds.
    PerDevice,
}

/// What may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// Nothing.
    None,
    /// A driver may answer late or not at all.
    Driver,
}

/// What it waits for in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nothing that a driver holds.
    Nothing,
    /// The lock of all network configuration.
    Rtnl,
    /// The device itself.
    Device,
}

/// One probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its name.
    pub id: &'static str,
    /// What it tells, in words.
    pub what: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// What it costs.
    pub cost: Cost,
    /// What may go wrong.
    pub risk: Risk,
    /// What it waits for.
    pub waits: Waits,
    /// The command for the same answer; `{if}` stands for an interface, `{pci}` for a PCI address.
    pub command: &'static str,
}

impl Probe {
    /// The command for this interface or PCI address, quoted for a shell; empty where its name can't be typed.
    pub fn command(&self, subject: &str) -> String {
        if !can_be_copied(subject) {
            return String::new();
        }
        let quoted = shell_quote(subject);
        self.command.replace("{if}", &quoted).replace("{pci}", &quoted)
    }
}

macro_rules! plan {
    ($($name:ident: $id:literal, $what:literal, $needs:ident, $cost:ident, $risk:ident, $waits:ident, $command:literal;)*) => {
        $(#[doc = concat!("Probe `", $id, "`: ", $what, ".")]
        pub const $name: Probe = Probe {
            id: $id,
            what: $what,
            needs: Needs::$needs,
            cost: Cost::$cost,
            risk: Risk::$risk,
            waits: Waits::$waits,
            command: $command,
        };)*

        /// All probes in the order in which they are made.
        pub const PLAN: &[Probe] = &[$($name),*];
    };
}

plan! {
    KERNEL: "host.kernel", "kernel, architecture and host name", Nothing, Once, None, Nothing, "uname -a";
    SYSTEM: "host.os", "operating system and platform", Nothing, Once, None, Nothing, "cat /etc/os-release";
    FIRMWARE: "host.dmi", "vendor and product of the machine", Nothing, Once, None, Nothing, "sudo dmidecode -t system";
    PROCESSORS: "host.cpus", "online CPUs", Nothing, Once, None, Nothing, "cat /sys/devices/system/cpu/online";
    MEMORY: "host.memory", "installed memory", Nothing, Once, None, Nothing, "cat /proc/meminfo";
    UPTIME: "host.uptime", "time since boot", Nothing, Once, None, Nothing, "cat /proc/uptime";
    VIRTUAL: "host.virtual", "whether this is a virtual machine or a container", Nothing, Once, None, Nothing, "systemd-detect-virt";
    PRIVILEGE: "host.privilege", "capabilities of this process", Nothing, Once, None, Nothing, "grep CapEff /proc/self/status";
    SYSCTL: "host.sysctl", "kernel parameters of the network", Nothing, Once, None, Nothing, "sysctl -a";
    SOFTNET: "host.softnet", "receive work of each CPU", Nothing, Once, None, Nothing, "cat /proc/net/softnet_stat";
    PROTOCOLS: "host.protocols", "counters of IP, TCP and UDP", Nothing, Once, None, Nothing, "nstat -az";
    TOPOLOGY: "host.topology", "NUMA nodes, cores and caches", Nothing, Once, None, Nothing, "lscpu";
    CLOCK: "host.cpufreq", "clock and idle states of the CPUs", Nothing, Once, None, Nothing, "cpupower frequency-info; cpupower idle-info";
    POWER: "host.power", "power supply", Nothing, Once, None, Nothing, "grep . /sys/class/power_supply/*/online";
    SOCKETS: "host.sockets", "sockets in use and their memory", Nothing, Once, None, Nothing, "cat /proc/net/sockstat";
    CONNTRACK: "host.conntrack", "size of the table of tracked connections", Nothing, Once, None, Nothing, "sysctl net.netfilter";
    MOUNTS: "host.nfs", "NFS mounts and their requests", Nothing, Once, None, Nothing, "cat /proc/self/mountstats";
    PCI: "pci.functions", "PCI functions of class network", Nothing, Once, None, Nothing, "lspci -nn";
    PCI_LINK: "pci.link", "speed and width of the PCIe links", Nothing, PerDevice, Driver, Device, "sudo lspci -vvv -s {pci}";
    PCI_CONFIG: "pci.config", "MaxPayload, MaxReadReq and relaxed ordering", Root, PerDevice, Driver, Device, "sudo lspci -vvv -s {pci}";
    PCI_STATE: "pci.state", "power, errors and binding of a function", Nothing, PerDevice, None, Nothing, "grep . /sys/bus/pci/devices/{pci}/power_state /sys/bus/pci/devices/{pci}/aer_dev_*";
    LINKS: "net.links", "interfaces, their state and statistics", Nothing, Dump, None, Rtnl, "ip -d -s link";
    INSIDE: "host.namespaces", "interfaces inside", Root, Dump, None, Rtnl, "sudo ip netns exec {if} ip -d -s link";
    PERMANENT: "net.permanent_address", "permanent hardware address", Nothing, Dump, None, Rtnl, "ethtool -P {if}";
    ADDRESSES: "net.addresses", "addresses", Nothing, Dump, None, Rtnl, "ip address";
    ROUTES: "net.routes", "routes", Nothing, Dump, None, Rtnl, "ip route show table all";
    PEER: "net.peer", "the way to the other end", Nothing, Once, None, Rtnl, "ip route get {if}";
    RULES: "net.rules", "rules of policy routing", Nothing, Dump, None, Rtnl, "ip rule show";
    NEIGHBOURS: "net.neighbours", "neighbour tables", Nothing, Dump, None, Rtnl, "ip neigh show";
    SESSION: "host.session", "interface of this login session", Nothing, Once, None, Nothing, "who -m";
    QDISCS: "net.qdiscs", "queueing disciplines and their statistics", Nothing, Dump, None, Rtnl, "tc -s qdisc show dev {if}";
    CLASSES: "net.classes", "classes of a queueing discipline", Nothing, PerDevice, None, Rtnl, "tc -s class show dev {if}";
    FILTERS: "net.filters", "filters with actions", Nothing, PerDevice, None, Rtnl, "tc -s filter show dev {if} ingress; tc -s filter show dev {if} egress";
    XDP: "net.xdp", "name of the XDP program", Root, PerDevice, None, Nothing, "sudo ip -d link show {if}";
    WIREGUARD: "net.wireguard", "peers of WireGuard", NetAdmin, PerDevice, None, Nothing, "sudo wg show {if}";
    TUN: "net.tun", "program that serves a tun device", Root, PerDevice, None, Nothing, "sudo lsof /dev/net/tun";
    NETDEV: "net.device", "device behind the interface", Nothing, PerDevice, None, Nothing, "ls -l /sys/class/net/{if}/device";
    FUNCTIONS: "net.functions", "virtual functions", Nothing, PerDevice, None, Nothing, "cat /sys/class/net/{if}/device/sriov_numvfs";
    QUEUES: "net.queues", "CPUs of the queues (RPS and XPS)", Nothing, PerDevice, None, Nothing, "grep . /sys/class/net/{if}/queues/*/*ps_cpus";
    USB: "net.usb", "USB device of the interface", Nothing, PerDevice, None, Nothing, "lsusb -t";
    RDMA: "net.rdma", "RDMA device of the port and its counters", Nothing, PerDevice, Driver, Nothing, "rdma link; rdma statistic";
    ETHTOOL: "ethtool.family", "ethtool over netlink", Nothing, Once, None, Nothing, "ethtool {if}";
    LINK_INFO: "ethtool.linkinfo", "connector", Nothing, Dump, Driver, Rtnl, "ethtool {if}";
    LINK_MODES: "ethtool.linkmodes", "speed, duplex, autonegotiation and link modes", Nothing, Dump, Driver, Rtnl, "ethtool {if}";
    LINK_STATE: "ethtool.linkstate", "link as the driver sees it", Nothing, Dump, Driver, Rtnl, "ethtool {if}";
    FEATURES: "ethtool.features", "offload features", Nothing, Dump, Driver, Rtnl, "ethtool -k {if}";
    RINGS: "ethtool.rings", "ring sizes", Nothing, Dump, Driver, Rtnl, "ethtool -g {if}";
    CHANNELS: "ethtool.channels", "number of queues", Nothing, Dump, Driver, Rtnl, "ethtool -l {if}";
    COALESCE: "ethtool.coalesce", "interrupt moderation", Nothing, Dump, Driver, Rtnl, "ethtool -c {if}";
    PAUSE: "ethtool.pause", "flow control and its statistics", Nothing, Dump, Driver, Rtnl, "ethtool -I -a {if}";
    EEE: "ethtool.eee", "Energy Efficient Ethernet", Nothing, Dump, Driver, Rtnl, "ethtool --show-eee {if}";
    FEC: "ethtool.fec", "forward error correction and its statistics", Nothing, Dump, Driver, Rtnl, "ethtool -I --show-fec {if}";
    PRIVATE_FLAGS: "ethtool.private_flags", "private flags of the driver", Nothing, Dump, Driver, Rtnl, "ethtool --show-priv-flags {if}";
    HASHING: "ethtool.rss", "spread of received packets over the queues", Nothing, Dump, Driver, Rtnl, "ethtool -x {if}";
    PFC: "net.pfc", "priority flow control", Nothing, PerDevice, Driver, Rtnl, "dcb pfc show dev {if}";
    WIRELESS: "net.wireless", "wireless link", Nothing, PerDevice, Driver, Rtnl, "iw dev {if} link; iw dev {if} get power_save";
    HEALTH: "net.devlink", "health reporters of devlink", Nothing, Dump, Driver, Device, "devlink health show";
    FIRMWARE_PACKAGE: "net.devlink_info", "package in the firmware", Nothing, Dump, Driver, Device, "devlink dev info";
    STANDARD: "ethtool.standard", "standard statistics", Nothing, PerDevice, Driver, Rtnl, "ethtool -S {if} --groups eth-phy eth-mac eth-ctrl rmon";
    DRIVER: "ethtool.driver", "driver and firmware", Nothing, PerDevice, Driver, Rtnl, "ethtool -i {if}";
    STATISTICS: "ethtool.statistics", "statistics of the driver", Nothing, PerDevice, Driver, Rtnl, "ethtool -S {if}";
    MODULE: "ethtool.module", "pluggable module and its diagnostics", NetAdmin, PerDevice, Driver, Rtnl, "sudo ethtool -m {if}";
    INTERRUPTS: "host.interrupts", "interrupts", Nothing, Once, None, Nothing, "cat /proc/interrupts";
    AFFINITY: "host.affinity", "CPUs of an interrupt", Nothing, PerDevice, None, Nothing, "grep . /proc/irq/*/smp_affinity_list";
    IOMMU: "host.iommu", "domain type of the IOMMU", Nothing, PerDevice, None, Nothing, "cat /sys/kernel/iommu_groups/*/type";
    PROCESSES: "host.processes", "programs and kernel threads that run", Nothing, Once, None, Nothing, "ps -e -o pid,comm";
    CONFIGURED: "host.configured", "settings that files keep for the next boot", Nothing, Once, None, Nothing, "grep -rn . /etc/sysctl.d /etc/sysctl.conf";
    CONNECTIONS: "host.connections", "connections of NetworkManager", Root, Once, None, Nothing, "sudo grep -r . /etc/NetworkManager/system-connections";
    FLOWS: "net.flows", "TCP connections", Nothing, Once, None, Nothing, "ss -tinm";
    LISTENERS: "net.listeners", "TCP sockets that wait for connections", Nothing, Once, None, Nothing, "sudo ss -ltnmp";
    DATAGRAMS: "net.udp", "UDP sockets", Nothing, Once, None, Nothing, "sudo ss -uanmp";
    CPU_TIMES: "host.cpu_times", "what each CPU does", Nothing, Once, None, Nothing, "mpstat -P ALL 1 5";
    CGROUPS: "host.cgroups", "throttling of control groups", Nothing, Once, None, Nothing, "grep -r . /sys/fs/cgroup --include=cpu.stat";
    LOG: "host.log", "log of the kernel", Root, Once, None, Nothing, "sudo dmesg -T";
    JOURNAL: "host.journal", "log of the kernel in the journal", Root, Once, None, Nothing, "sudo journalctl -k --no-pager";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_commands_quote_their_subject() {
        let ids: std::collections::BTreeSet<_> = PLAN.iter().map(|probe| probe.id).collect();
        assert_eq!(ids.len(), PLAN.len());
        assert_eq!(RINGS.command("eth0"), "ethtool -g eth0");
        assert_eq!(RINGS.command("a;$(id>x)"), "ethtool -g 'a;$(id>x)'");
        assert_eq!(PCI_CONFIG.command("0000:01:00.0"), "sudo lspci -vvv -s 0000:01:00.0");
    }
}
