//! The host as a whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::configuration::ConfiguredSetting;
use super::counters::CounterBlock;
use super::processors::{Cpu, Irqbalance, Processors, Thread};
use super::section::section;
use super::traffic::{Conntrack, Flow, Listener, Neighbours, NfsMount, Peer, Route, UdpSocket};
use crate::reading::{Bytes, Reading, Seconds, SourceId, Version};

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
        /// What the host is for, as the user said: `throughput`, `latency`, `router`, `storage` or `hypervisor`.
        workload: String,
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
        /// Kernel parameters below /proc/sys by their dotted names, as text.
        sysctl: BTreeMap<String, String>,
        /// Counters of the whole host: groups `softnet_stat` (summed over CPUs), `snmp`, `netstat`, `snmp6`, `conntrack`,
        /// `xfrm_stat`, `neigh_stat`, `rpc_nfs`, `cgroup_cpu`, `ovs_datapath`.
        counters: Vec<CounterBlock>,
        /// Kernel log lines that concern networking, oldest first.
        log: Vec<LogLine>,
        /// Results of measurements that the user gave.
        measured: Vec<Measurement>,
        /// Cloud that it runs in, by the firmware tables: `aws`, `azure`, `gcp` ... Absent elsewhere.
        cloud: String,
        /// Kind of case, by the firmware tables: `laptop`, `desktop`, `server` ...
        chassis: String,
        /// Gauges of the protocols as /proc/net/sockstat names them, for example `TCP.orphan`.
        sockstat: BTreeMap<String, u64>,
        /// TCP connections: for each interface those that carry most.
        flows: Vec<Flow>,
        /// TCP sockets that wait for connections.
        listeners: Vec<Listener>,
        /// UDP sockets.
        udp_sockets: Vec<UdpSocket>,
        /// Unicast routes of all tables, local and link-local ones apart.
        routes: Vec<Route>,
        /// Rules of policy routing beyond the three that the kernel makes.
        rules: Vec<String>,
        /// NFS mounts.
        nfs: Vec<NfsMount>,
        /// Settings of the network that files keep for the next boot.
        configured: Vec<ConfiguredSetting>,
        /// Names of programs that matter to the network and run: `irqbalance`, `NetworkManager`, `systemd-networkd`,
        /// `ovs-vswitchd`, `tuned` ...
        services: Vec<String>,
        /// Online CPUs, one by one.
        cpu_list: Vec<Cpu>,
        /// Kernel threads that work for the network.
        threads: Vec<Thread>,
        ;
        /// CPUs.
        processors = Processors,
        /// Interrupt balancing.
        irqbalance = Irqbalance,
        /// Connection tracking.
        conntrack = Conntrack,
        /// Neighbour tables.
        neighbours = Neighbours,
        /// The other end that somebody asked about.
        peer = Peer,
    }
}

/// A line of the kernel log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogLine {
    /// Seconds before the snapshot; none where the line bears no usable time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<f64>,
    /// Seconds on the kernel's clock, which begins with the boot; none where the line bears no such stamp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_boot: Option<f64>,
    /// The interface that it is about, where the line does not name it and all else leaves only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The message without time stamp, host name and facility.
    pub text: String,
    /// Where it was read.
    pub source: SourceId,
}

/// One measured result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Measurement {
    /// Program: `iperf3`, `iperf`, `netperf` ...
    pub tool: String,
    /// Where it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceId>,
    /// Rate of the receiver (of the sender where there is no other), bit/s.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub rate: Reading<crate::reading::BitsPerSecond>,
    /// Length of the test.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub duration: Reading<Seconds>,
    /// Parallel streams.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub streams: Reading<u32>,
    /// Segments that the sender sent again.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub retransmits: Reading<u64>,
    /// True where this host sent the data.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub sends: Reading<bool>,
    /// `tcp`, `udp`, `rdma` (over Ethernet) or `infiniband`.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub protocol: Reading<String>,
    /// True where the other direction ran at the same time; the rate is that of this one.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub both_ways: Reading<bool>,
    /// Payload of one packet of a test of RDMA over Ethernet; absent for any other test.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub rdma_mtu: Reading<Bytes>,
    /// True where the rate was printed as MB and meant 2^20 bytes.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub binary_megabytes: Reading<bool>,
    /// True where the sender sent less than a megabyte and then nothing for three intervals or more.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub stalled: Reading<bool>,
    /// The congestion window that stood still meanwhile; absent where it did not stall.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub stalled_window: Reading<Bytes>,
    /// Version of the program.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub version: Reading<Version>,
    /// Bytes of one segment's payload.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub mss: Reading<Bytes>,
    /// Buffer size that was asked for with an option (`-w`); absent where none was.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub window_option: Reading<Bytes>,
    /// Address of this end.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub local_address: Reading<String>,
    /// Address of the other end.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub peer_address: Reading<String>,
    /// Address that the data was sent to, whichever end printed the result.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub receiver_address: Reading<String>,
    /// Interface that it ran over.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub interface: Reading<String>,
}
