//! The form of the files in knowledge/. build.rs includes this file: it uses serde alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where on its way a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// On the wire: damaged frames.
    Wire,
    /// In the NIC's own buffer.
    Nic,
    /// No descriptor was free in the receive ring.
    Ring,
    /// In the kernel's backlog.
    Softnet,
    /// At the socket.
    Socket,
    /// In the queueing discipline.
    Qdisc,
    /// In the transmit ring or the driver.
    TxRing,
    /// On the way to the wire.
    TxWire,
}

impl Place {
    /// All places, receive side from the wire inwards, then the transmit side from the host outwards.
    pub const ALL: [Self; 8] =
        [Self::Wire, Self::Nic, Self::Ring, Self::Softnet, Self::Socket, Self::Qdisc, Self::TxRing, Self::TxWire];

    /// The word of the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Nic => "nic",
            Self::Ring => "ring",
            Self::Softnet => "softnet",
            Self::Socket => "socket",
            Self::Qdisc => "qdisc",
            Self::TxRing => "tx_ring",
            Self::TxWire => "tx_wire",
        }
    }
}

/// What one canonical counter is counted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterSubject {
    /// One interface.
    Interface,
    /// The host.
    Host,
    /// A PCI function.
    PciDevice,
}

/// Unit of a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterUnit {
    /// Packets or frames.
    #[default]
    Packets,
    /// Bytes.
    Bytes,
    /// Bits.
    Bits,
    /// Events.
    Events,
    /// TCP segments.
    Segments,
    /// FEC code words.
    Blocks,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Ticks of the kernel's accounting of CPU time.
    Ticks,
    /// Percent: always a level.
    Percent,
}

impl CounterUnit {
    /// Factor into the base units of the language, which computes in bits and seconds.
    pub fn scale(self) -> f64 {
        match self {
            Self::Bytes => 8.0,
            Self::Microseconds => 1e-6,
            Self::Milliseconds => 1e-3,
            Self::Percent => 1e-2,
            _ => 1.0,
        }
    }
}

/// One of several alike parts that a counter is kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instance {
    /// Queue of an interface.
    Queue,
    /// Interrupt vector.
    Vector,
    /// CPU.
    Cpu,
    /// CPU core.
    Core,
    /// CPU package.
    Package,
    /// Leaf of the tree of queueing disciplines.
    Leaf,
    /// Member of a bond.
    Member,
    /// Control group.
    Cgroup,
    /// Health reporter of devlink.
    Reporter,
    /// Datapath of Open vSwitch.
    Datapath,
    /// Port of an RDMA device.
    RdmaPort,
}

/// A counter of a generic source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericCounter {
    /// Group of the counter block, for example `rtnl_link_stats64`.
    pub group: String,
    /// Name in it.
    pub key: String,
    /// Disjoint names that are added; all have to be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plus: Vec<String>,
    /// Names of the instances, with `{n}` for the number: `cpu{n}.processed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<String>,
    /// Set of the standard statistics that it belongs to: `eth-mac`, `fec`, `pause` ... Drivers list those that they have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Width of the counter; none for 64 bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u8>,
    /// Kinds of queueing discipline in which it counts what was meant to be dropped too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ambiguous_in: Vec<String>,
    /// What else is in the count where this source holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguous: Option<String>,
}

/// Counters that are computed; the formulas stand in facts/counters/derived.rs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Derivation {
    /// Drops of the kernel core without those of the driver.
    RxDroppedCore,
    /// Length of the sample.
    Window,
    /// What the link could carry in the sample.
    LineBits,
    /// Upper bound of the packets of squeezed softirq rounds; this many packets a round where the sysctl was not read.
    SqueezedPackets(u32),
    /// Retransmissions without connection set-up, probes and proved spurious ones.
    TcpRetransGenuine,
    /// Packets that did not go over the virtual function.
    TxPacketsSynthetic,
    /// Bytes sent by each member of a bond.
    MemberTxBytes,
    /// Losses of the carrier as the link itself counts them.
    CarrierDown,
    /// Interrupts that CPUs of another node than the device's served.
    QueueIrqsRemote,
}

/// A counter name that rules may use, the same for all drivers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanonicalCounter {
    /// Name.
    pub name: String,
    /// What it is counted of.
    pub subject: CounterSubject,
    /// Parts that it is kept for; the counter itself is their sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<Instance>,
    /// Unit.
    pub unit: CounterUnit,
    /// True where growth proves lost packets.
    pub loss: bool,
    /// Where they are lost. Counters with a place are disjoint: the packets of a place are their sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it counts.
    pub definition: String,
    /// Generic sources in order of preference; read where the driver's own names give nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generic: Vec<GenericCounter>,
    /// The generic sources come before the driver's names: they are the same events, better defined.
    #[serde(default, skip_serializing_if = "is_false")]
    pub generic_first: bool,
    /// The generic source and the driver's names are disjoint and are added.
    #[serde(default, skip_serializing_if = "is_false")]
    pub combine: bool,
    /// The generic sources hold for drivers only whose counters are not listed in counters/.
    #[serde(default, skip_serializing_if = "is_false")]
    pub generic_unless_listed: bool,
    /// Why the generic source may have several causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generic_ambiguous: Option<String>,
    /// Drivers whose generic field of that name means something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_generic: Vec<String>,
    /// The only drivers that have it; empty where any driver may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// How it is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<Derivation>,
    /// Command that supplies it, with `{if}` or `{bdf}` where a name belongs.
    pub command: String,
    /// Where the definition comes from.
    pub source: String,
}

/// How a driver counts a canonical counter. A name may hold `{n}` for a run of digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DriverCounter {
    /// Disjoint names: they are added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// The same events under other names: read only where nothing of `add` is there; the first that is there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// Disjoint names of events that the generic source holds: added up where it was not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// Names that are contained in `add` and belong elsewhere: taken off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub less: Vec<String>,
    /// Fields of `rtnl_link_stats64` that hold it for this driver; added. Read where the driver's names were not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rtnl: Vec<String>,
    /// Fields that are contained in those and belong elsewhere: taken off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rtnl_less: Vec<String>,
    /// What else those fields hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtnl_ambiguous: Option<String>,
    /// Why one name may have several causes; a finding is one confidence step lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambiguous: Option<String>,
    /// Left out where the packets lost at a place are added up: it counts failures that need not lose one, as when a ring
    /// could not be refilled, or frames that another counter may hold too.
    #[serde(skip_serializing_if = "is_false")]
    pub aside: bool,
    /// What else one should know of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Names of a driver that have the same meaning. A name may hold `{n}` for a run of digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameGroup {
    /// Cause.
    pub class: Class,
    /// Unit.
    #[serde(default, skip_serializing_if = "is_packets")]
    pub unit: CounterUnit,
    /// Whether growth means lost packets, where it is not as the class says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop: Option<bool>,
    /// True where growth alone is no finding.
    #[serde(default, skip_serializing_if = "is_false")]
    pub benign: bool,
    /// True for a level, of which no difference may be taken.
    #[serde(default, skip_serializing_if = "is_false")]
    pub gauge: bool,
    /// Fields of `rtnl_link_stats64` that contain this count: never add both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rtnl: Vec<String>,
    /// Width of the counter in bits; none where it is not known to be narrower than 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u8>,
    /// True where the name was not found in the driver sources that were read.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unproven: bool,
    /// The names.
    pub names: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_packets(unit: &CounterUnit) -> bool {
    *unit == CounterUnit::Packets
}

macro_rules! classes {
    ($($(#[$doc:meta])+ $variant:ident $word:literal $loss:literal;)*) => {
        /// Cause of a counter. The vocabulary is closed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Class { $($(#[$doc])+ $variant,)* }

        impl Class {
            /// The word of the files and of reports.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// True where growth of a counter of this class means lost packets, unless its entry says otherwise.
            pub fn loses_packets(self) -> bool {
                match self { $(Self::$variant => $loss,)* }
            }
        }
    };
}

classes! {
    /// No descriptor or buffer was posted when the frame came.
    HostTooSlow "host_too_slow" true;
    /// The NIC's own buffer was full.
    NicBufferOverflow "nic_buffer_overflow" true;
    /// PCIe held the NIC back.
    PcieStall "pcie_stall" false;
    /// Several causes in one number.
    RxDiscardUnspecified "rx_discard_unspecified" true;
    /// No memory for a buffer.
    AllocFailure "alloc_failure" true;
    /// DMA mapping or bus error.
    DmaError "dma_error" true;
    /// A page of another NUMA node was not used again.
    NumaMismatch "numa_mismatch" false;
    /// Damaged frame.
    WireError "wire_error" true;
    /// Length or type field that does not fit.
    FrameMalformed "frame_malformed" true;
    /// Sound frame above what the port takes.
    FrameTooLong "frame_too_long" true;
    /// Sound frame below the least length.
    FrameShort "frame_short" true;
    /// Repaired by forward error correction.
    FecCorrected "fec_corrected" false;
    /// Beyond repair by forward error correction.
    FecUncorrected "fec_uncorrected" true;
    /// The link went down or up.
    LinkFlap "link_flap" false;
    /// Local or remote fault.
    LinkFault "link_fault" false;
    /// Transceiver fault.
    ModuleFault "module_fault" false;
    /// Late or excessive collisions, carrier lost while sending.
    DuplexMismatch "duplex_mismatch" true;
    /// Collisions that half duplex allows.
    CollisionNormal "collision_normal" false;
    /// Energy Efficient Ethernet.
    EeeLpi "eee_lpi" false;
    /// Pause received: the peer is the slow side.
    PauseRx "pause_rx" false;
    /// Pause sent: this host is the slow side.
    PauseTx "pause_tx" false;
    /// Pause received for one priority.
    PfcRx "pfc_rx" false;
    /// Pause sent for one priority.
    PfcTx "pfc_tx" false;
    /// Pause without end.
    PauseStorm "pause_storm" false;
    /// Congestion mark.
    EcnMark "ecn_mark" false;
    /// Back-pressure of a transmit queue: the packet waits.
    TxQueueFull "tx_queue_full" false;
    /// Discarded on the way out without an error.
    TxDiscard "tx_discard" true;
    /// Refused on the way out.
    TxError "tx_error" true;
    /// The transmit FIFO ran dry.
    TxUnderrun "tx_underrun" true;
    /// Transmit watchdog.
    TxTimeout "tx_timeout" false;
    /// Queue or device reset.
    DeviceReset "device_reset" false;
    /// Fault of driver or firmware.
    InternalError "internal_error" false;
    /// Memory of the NIC.
    EccError "ecc_error" false;
    /// PCIe error that the NIC reports.
    PcieError "pcie_error" false;
    /// Dropped on purpose: filters.
    FilteredBenign "filtered_benign" false;
    /// Dropped by policy: spoof check, ACL, MACsec.
    PolicyDrop "policy_drop" false;
    /// Decision of an XDP program.
    XdpAction "xdp_action" false;
    /// XDP transmit or redirect failed.
    XdpError "xdp_error" true;
    /// Management controller, mailbox.
    MgmtTraffic "mgmt_traffic" false;
    /// Time stamps.
    Timestamping "timestamping" false;
    /// Flow director at work.
    SteeringActivity "steering_activity" false;
    /// A steering rule could not be installed.
    SteeringError "steering_error" false;
    /// Bookkeeping of offloads.
    OffloadActivity "offload_activity" false;
    /// Plain traffic.
    Traffic "traffic" false;
    /// Refused option.
    ConfigError "config_error" false;
    /// Wrong checksum; the stack looks again.
    CsumError "csum_error" false;
    /// Sum of other errors.
    RxErrorTotal "rx_error_total" false;
    /// The cloud provider's allowance.
    CloudAllowanceExceeded "cloud_allowance_exceeded" false;
}

/// The counters of one driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverCounters {
    /// Driver name as ETHTOOL_GDRVINFO gives it.
    pub driver: String,
    /// Other names of drivers with the same counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Where the names come from.
    pub source: String,
    /// True where `canonical` follows from classes alone and nobody checked it: findings are one confidence step lower.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_class: bool,
    /// True where a full receive ring backs up into the NIC's buffer, so that its loss shows as `rx_fifo_overflow` only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub overflow_may_be_ring: bool,
    /// Sets of ethtool's standard statistics that the driver fills; none where that was not looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<Vec<String>>,
    /// The driver's own part of the field `rx_dropped`; disjoint names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rx_dropped_own: Vec<String>,
    /// True where the driver has a part in that field which its names do not tell.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rx_dropped_shared: bool,
    /// By canonical name.
    #[serde(default)]
    pub canonical: BTreeMap<String, DriverCounter>,
    /// Meaning of the driver's names; the first group that holds a name counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameGroup>,
}

/// What is known of drivers as such.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drivers {
    /// Drivers of hardware ports: an interface of theirs is a physical port.
    pub hardware: Vec<String>,
    /// Drivers of wireless cards, by the names that they bear in the kernel log and as ETHTOOL_GDRVINFO reports them.
    #[serde(default)]
    pub wireless: Vec<String>,
    /// Drivers of ports that a hypervisor or the kernel makes up: their link speed is nominal or missing.
    pub virtual_ports: Vec<String>,
    /// Where the lists come from.
    pub source: String,
}

/// Hardware of a driver that was reported to misbehave under a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspect {
    /// Driver name as ETHTOOL_GDRVINFO gives it.
    pub driver: String,
    /// The hardware that the reports name.
    pub hardware: String,
    /// What they report.
    pub reported: String,
    /// Where.
    pub source: String,
}

/// Suspicions by the setting that they are about. None of them is a verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspects {
    /// Energy Efficient Ethernet.
    pub eee: Vec<Suspect>,
}

/// Names of counters that tell which driver prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldDriver {
    /// The only drivers with these names, as ETHTOOL_GDRVINFO names them; where there are several, all drive hardware.
    pub drivers: Vec<String>,
    /// The names, one of which is enough; `{n}` stands for a run of digits.
    pub names: Vec<String>,
}

/// What names in `ethtool -S` prove by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterNames {
    /// Names that tell the driver.
    pub told: Vec<ToldDriver>,
    /// Names that only ports of hardware have.
    pub hardware: Vec<String>,
    /// Where the names come from.
    pub source: String,
}

/// How temporary settings are made to last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persistence {
    /// What configures the network of a host.
    pub managers: Vec<Manager>,
    /// The settings.
    pub settings: Vec<KeptSetting>,
}

/// Something that configures the network of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manager {
    /// Name that forms go by.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Words of `host.platform` on which it is in charge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules_on: Vec<String>,
    /// Word of `host.configured` for its files: one that names an interface shows that it is in charge of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub files: String,
    /// Words of `host.platform` on which it is one of the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usual_on: Vec<String>,
}

/// A setting, and what each manager needs to keep it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptSetting {
    /// Key that rules name.
    pub key: String,
    /// The command whose values the forms take up; empty where nothing is to be kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub set_by: String,
    /// All that there is to say, where nothing is to be kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// By the id of a manager; `any` is for whatever has none of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub forms: BTreeMap<String, KeptForm>,
}

/// What one manager needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptForm {
    /// In words: where, and what to know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Lines for a file or a field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Commands to type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The same in a few words, for a list of several managers.
    pub short: String,
}

/// What a log event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOf {
    /// The interface or PCI function that the line names.
    Device,
    /// The host.
    Host,
}

/// A kind of kernel log line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEventSpec {
    /// Name that rules use.
    pub event: String,
    /// Pieces of the message in lower case, one of which is in the line; `*` stands for anything between two pieces.
    pub any: Vec<String>,
    /// Pieces that make it something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<String>,
    /// Wordings that only drivers of network devices write: such a line counts although it names no device, where all else
    /// leaves only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<Wording>,
    /// What it concerns.
    pub of: EventOf,
    /// Who writes such lines.
    pub source: String,
}

/// A wording of network drivers alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// Pieces of the message in lower case; `*` stands for anything between two pieces.
    pub line: String,
    /// The one driver that writes so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

impl LogEventSpec {
    /// True for a line of this kind; the line is in lower case.
    pub fn matches(&self, line: &str) -> bool {
        self.any.iter().any(|pieces| holds(line, pieces)) && !self.not.iter().any(|pieces| holds(line, pieces))
    }

    /// The wording of a line of this kind, in lower case, that only a network device's driver writes.
    pub fn wording(&self, line: &str) -> Option<&Wording> {
        self.alone.iter().find(|wording| self.matches(line) && holds(line, &wording.line))
    }
}

/// True where the pieces, separated by `*`, stand in the line in this order.
fn holds(line: &str, pieces: &str) -> bool {
    let mut rest = line;
    pieces.split('*').all(|piece| match rest.find(piece.trim()) {
        Some(at) => {
            rest = &rest[at + piece.trim().len()..];
            true
        }
        None => false,
    })
}
