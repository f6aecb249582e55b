//! Network interfaces.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::attached::{Bridge, Devlink, Rdma, Tunnel, Usb, Wireless, Xdp};
use super::counters::CounterBlock;
use super::device::PciAddress;
use super::optics::Module;
use super::queues::{Irq, Pfc, Queue, Rss, TcAction};
use super::section::section;
use super::words::{Bus, Duplex, InterfaceKind, OperState, PortType};
use crate::reading::{BitsPerSecond, Bytes, Reading};

/// Link modes by ethtool's names, for example `100000baseSR4/Full`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinkModes(pub BTreeSet<String>);

section! {
    /// Negotiated state of the link and what both ends offer.
    Link {
        /// True where the link passes packets (carrier, and not administratively down).
        up: bool,
        /// Negotiated speed.
        speed: BitsPerSecond,
        /// Negotiated duplex mode.
        duplex: Duplex,
        /// True where autonegotiation is on.
        autoneg: bool,
        /// True where the port can negotiate at all.
        autoneg_supported: bool,
        /// Lanes in use.
        lanes: u32,
        /// Modes that the port supports.
        supported: LinkModes,
        /// Modes that this end offers.
        advertised: LinkModes,
        /// Why there is no link, in the kernel's words: `Link training failure`, `No cable` ...
        ext_state: String,
        /// Signal quality index, 0 to 7, of automotive PHYs.
        sqi: u32,
        /// Modes that the link partner offers; absent where there is no negotiation.
        partner: LinkModes,
        /// Times that the carrier was lost since the device was made.
        carrier_down: u64,
    }
}

section! {
    /// Rates as a tool printed them; what counters show comes before.
    Rates {
        /// Received.
        rx: BitsPerSecond,
        /// Sent.
        tx: BitsPerSecond,
    }
}

section! {
    /// The physical port.
    Port {
        /// True for a hardware port (permanent link modes, or a parent device whose driver drives hardware);
        /// a printed port type alone is no proof.
        physical: bool,
        /// Connector.
        connector: PortType,
    }
}

section! {
    /// Ring sizes in descriptors.
    Ring {
        /// Receive ring in use.
        rx: u32,
        /// Largest receive ring.
        rx_max: u32,
        /// Transmit ring in use.
        tx: u32,
        /// Largest transmit ring.
        tx_max: u32,
    }
}

section! {
    /// Ethernet flow control (IEEE 802.3 pause frames).
    Pause {
        /// True where pause is negotiated.
        autoneg: bool,
        /// True where this end obeys pause frames.
        rx: bool,
        /// True where this end sends pause frames.
        tx: bool,
    }
}

section! {
    /// What ETHTOOL_GDRVINFO says.
    DriverInfo {
        /// Driver name.
        name: String,
        /// Driver version; the kernel's own where the driver has none.
        version: String,
        /// Firmware version.
        firmware: String,
        /// Bus address as the driver spells it.
        bus_info: String,
    }
}

section! {
    /// Position in the stack of interfaces. Names are those of the same network namespace.
    Stack {
        /// Interface below this one (the parent of a VLAN, the underlay of a tunnel). Absent where there is none.
        parent: String,
        /// Bond, bridge, team or VRF that this one is a member of. Absent where there is none.
        master: String,
        /// Members of a bond, bridge or team.
        members: Vec<String>,
        /// Other end of a veth or netkit pair; absent where it is in another namespace.
        peer: String,
    }
}

section! {
    /// Queues (ETHTOOL_MSG_CHANNELS). A kind that the driver does not have is absent.
    Channels {
        /// Receive queues in use.
        rx: u32,
        /// Most receive queues.
        rx_max: u32,
        /// Transmit queues in use.
        tx: u32,
        /// Most transmit queues.
        tx_max: u32,
        /// Combined queues in use.
        combined: u32,
        /// Most combined queues.
        combined_max: u32,
    }
}

section! {
    /// Interrupt moderation (ETHTOOL_MSG_COALESCE). A parameter that the driver does not have is absent.
    Coalesce {
        /// Microseconds that a receive interrupt may be delayed.
        rx_usecs: u32,
        /// Packets after which a receive interrupt is raised at the latest.
        rx_frames: u32,
        /// Microseconds that a transmit interrupt may be delayed.
        tx_usecs: u32,
        /// Packets after which a transmit interrupt is raised at the latest.
        tx_frames: u32,
        /// Moderation of the receive side adapts to the traffic.
        adaptive_rx: bool,
        /// Moderation of the transmit side adapts to the traffic.
        adaptive_tx: bool,
    }
}

section! {
    /// Energy Efficient Ethernet (IEEE 802.3az). Absent where the driver has none.
    Eee {
        /// This end offers it.
        enabled: bool,
        /// Both ends use it.
        active: bool,
    }
}

section! {
    /// Forward error correction.
    Fec {
        /// Modes that are configured, as ethtool spells them in lower case: `auto off baser rs llrs`.
        configured: LinkModes,
        /// Mode in use: `off`, `baser`, `rs` or `llrs`.
        active: String,
    }
}

section! {
    /// A bonding device; absent for any other interface.
    Bond {
        /// Mode as the kernel spells it: `balance-rr`, `active-backup`, `802.3ad` ...
        mode: String,
        /// Interval of link monitoring in milliseconds; 0 is none.
        miimon: u32,
        /// Interval of ARP monitoring in milliseconds; 0 is none.
        arp_interval: u32,
        /// Policy by which flows are spread over members: `layer2`, `layer3+4` ...
        xmit_hash_policy: String,
        /// Member in use, for active-backup.
        active_member: String,
        /// Aggregator in use, for 802.3ad.
        active_aggregator: u32,
        /// Hardware address of the LACP partner, for 802.3ad.
        partner_address: String,
        /// Members.
        members: Vec<BondMember>,
    }
}

/// A member of a bond.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BondMember {
    /// Interface name.
    pub name: String,
    /// Link state by the bond's own monitoring.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub mii_up: Reading<bool>,
    /// Times that monitoring saw its link go down.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub link_failures: Reading<u32>,
    /// Aggregator that it belongs to, for 802.3ad.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub aggregator: Reading<u32>,
    /// Speed as the bond sees it.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub speed: Reading<BitsPerSecond>,
    /// True where LACP partners of this member never agreed (churn state `churned` at either end).
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub churned: Reading<bool>,
}

/// A queueing discipline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Qdisc {
    /// Kind: `fq_codel`, `mq`, `pfifo_fast`, `tbf` ...
    pub kind: String,
    /// Handle, for example `8001:`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub handle: String,
    /// `root`, `ingress`, or the class that it hangs on, for example `1:2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// Its counters: `sent_bytes sent_packets dropped overlimits requeues backlog_bytes backlog_packets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CounterBlock>,
    /// Limits rate, for shapers.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub rate: Reading<BitsPerSecond>,
}

section! {
    /// What hangs on this interface.
    Session {
        /// True where the user's own login session runs over it.
        is_session: bool,
        /// True where the default route leaves by it.
        is_default_route: bool,
    }
}

/// State of one offload feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// In use.
    pub active: bool,
    /// Not marked `[fixed]`.
    pub changeable: bool,
}

/// What the name of an interface begins with that an output speaks of without naming it; the line follows. The kernel takes
/// no colon in a name, so it is never that of a real one.
pub const STAND_IN: &str = "unnamed:";

/// One network interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Interface {
    /// Kernel name; any bytes but `/` and white space, not valid UTF-8 replaced.
    pub name: String,
    /// Network namespace: empty for the one of the process, else its name or inode.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Interface index.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub index: Reading<u32>,
    /// Kind.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub kind: Reading<InterfaceKind>,
    /// Alias that an administrator gave (untrusted text).
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub alias: Reading<String>,
    /// Hardware address.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub address: Reading<String>,
    /// Hardware address that the device was made with.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub permanent_address: Reading<String>,
    /// IP addresses with their prefix length, for example `192.0.2.7/24`.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub addresses: Reading<Vec<String>>,
    /// PCI function that it belongs to; absent for an interface without one.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub device: Reading<PciAddress>,
    /// Administratively up.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub admin_up: Reading<bool>,
    /// Operational state.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub oper_state: Reading<OperState>,
    /// Largest IP packet.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub mtu: Reading<Bytes>,
    /// Smallest MTU that the driver takes.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub mtu_min: Reading<Bytes>,
    /// Largest MTU that the driver takes; absent where it does not limit it.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub mtu_max: Reading<Bytes>,
    /// Length of the transmit queue in packets.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub txqueuelen: Reading<u32>,
    /// VLAN tags that its frames carry on the wire.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub vlan_tags: Reading<u32>,
    /// Driver.
    #[serde(skip_serializing_if = "DriverInfo::is_unasked")]
    pub driver: DriverInfo,
    /// Port.
    #[serde(skip_serializing_if = "Port::is_unasked")]
    pub port: Port,
    /// Link.
    #[serde(skip_serializing_if = "Link::is_unasked")]
    pub link: Link,
    /// Rates.
    #[serde(skip_serializing_if = "Rates::is_unasked")]
    pub rates: Rates,
    /// Rings.
    #[serde(skip_serializing_if = "Ring::is_unasked")]
    pub ring: Ring,
    /// Flow control.
    #[serde(skip_serializing_if = "Pause::is_unasked")]
    pub pause: Pause,
    /// Queues.
    #[serde(skip_serializing_if = "Channels::is_unasked")]
    pub channels: Channels,
    /// Interrupt moderation.
    #[serde(skip_serializing_if = "Coalesce::is_unasked")]
    pub coalesce: Coalesce,
    /// Energy Efficient Ethernet.
    #[serde(skip_serializing_if = "Eee::is_unasked")]
    pub eee: Eee,
    /// Forward error correction.
    #[serde(skip_serializing_if = "Fec::is_unasked")]
    pub fec: Fec,
    /// Bond.
    #[serde(skip_serializing_if = "Bond::is_unasked")]
    pub bond: Bond,
    /// Queueing disciplines, in the kernel's order.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub qdiscs: Reading<Vec<Qdisc>>,
    /// Position in the stack.
    #[serde(skip_serializing_if = "Stack::is_unasked")]
    pub stack: Stack,
    /// What hangs on it.
    #[serde(skip_serializing_if = "Session::is_unasked")]
    pub session: Session,
    /// Offload features by the kernel's names, for example `rx-gro`.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub features: Reading<BTreeMap<String, Feature>>,
    /// Features that somebody asked for and that are not as asked: the kernel or driver refused.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub features_refused: Reading<Vec<String>>,
    /// Private flags of the driver.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub private_flags: Reading<BTreeMap<String, bool>>,
    /// Bus that it hangs on.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub bus: Reading<Bus>,
    /// Virtual functions that it has made.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub virtual_functions: Reading<u32>,
    /// Largest packet that GRO builds, in bytes.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub gro_max_size: Reading<Bytes>,
    /// Largest packet that GSO sends, in bytes.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub gso_max_size: Reading<Bytes>,
    /// Packets of IPv4 or IPv6 that come in by it are forwarded.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub forwarding: Reading<bool>,
    /// VLAN identifier; absent for an interface that is no VLAN.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub vlan_id: Reading<u32>,
    /// Queues.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub queues: Reading<Vec<Queue>>,
    /// Interrupts.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub irqs: Reading<Vec<Irq>>,
    /// Filters with actions.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub tc_actions: Reading<Vec<TcAction>>,
    /// Receive side scaling.
    #[serde(skip_serializing_if = "Rss::is_unasked")]
    pub rss: Rss,
    /// Priority flow control.
    #[serde(skip_serializing_if = "Pfc::is_unasked")]
    pub pfc: Pfc,
    /// Pluggable module.
    #[serde(skip_serializing_if = "Module::is_unasked")]
    pub module: Module,
    /// XDP program.
    #[serde(skip_serializing_if = "Xdp::is_unasked")]
    pub xdp: Xdp,
    /// USB device.
    #[serde(skip_serializing_if = "Usb::is_unasked")]
    pub usb: Usb,
    /// 802.11.
    #[serde(skip_serializing_if = "Wireless::is_unasked")]
    pub wireless: Wireless,
    /// Tunnel.
    #[serde(skip_serializing_if = "Tunnel::is_unasked")]
    pub tunnel: Tunnel,
    /// Bridge.
    #[serde(skip_serializing_if = "Bridge::is_unasked")]
    pub bridge: Bridge,
    /// devlink.
    #[serde(skip_serializing_if = "Devlink::is_unasked")]
    pub devlink: Devlink,
    /// RDMA device.
    #[serde(skip_serializing_if = "Rdma::is_unasked")]
    pub rdma: Rdma,
    /// Counters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterBlock>,
}
