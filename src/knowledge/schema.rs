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
}

/// Unit of a canonical counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterUnit {
    /// Packets or frames.
    Packets,
    /// Bytes.
    Bytes,
    /// Events.
    Events,
}

/// A counter of a generic source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericCounter {
    /// Group of the counter block, for example `rtnl_link_stats64`.
    pub group: String,
    /// Name in it.
    pub key: String,
}

/// A counter name that rules may use, the same for all drivers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanonicalCounter {
    /// Name.
    pub name: String,
    /// What it is counted of.
    pub subject: CounterSubject,
    /// Unit.
    pub unit: CounterUnit,
    /// True where growth proves lost packets.
    pub loss: bool,
    /// Where they are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it counts.
    pub definition: String,
    /// Generic sources in order of preference; read where the driver's own names give nothing.
    #[serde(default)]
    pub generic: Vec<GenericCounter>,
    /// Drivers whose generic field of that name means something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_generic: Vec<String>,
    /// Where the definition comes from.
    pub source: String,
}

/// How a driver counts a canonical counter. A name may hold `{n}` for a run of digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DriverCounter {
    /// Disjoint names: they are added.
    pub add: Vec<String>,
    /// The same events under other names: read only where nothing of `add` is there; the first that is there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// Names that are contained in `add` and belong elsewhere: taken off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub less: Vec<String>,
    /// Why one name may have several causes; a finding is one confidence step lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambiguous: Option<String>,
}

/// The counters of one driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverCounters {
    /// Driver name as ETHTOOL_GDRVINFO gives it.
    pub driver: String,
    /// Where the names come from.
    pub source: String,
    /// By canonical name.
    pub canonical: BTreeMap<String, DriverCounter>,
}

/// What is known of drivers as such.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drivers {
    /// Drivers of hardware ports: an interface of theirs is a physical port.
    pub hardware: Vec<String>,
    /// Drivers of ports that a hypervisor or the kernel makes up: their link speed is nominal or missing.
    pub virtual_ports: Vec<String>,
    /// Where the lists come from.
    pub source: String,
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
    /// What it concerns.
    pub of: EventOf,
    /// Who writes such lines.
    pub source: String,
}

impl LogEventSpec {
    /// True for a line of this kind; the line is in lower case.
    pub fn matches(&self, line: &str) -> bool {
        self.any.iter().any(|pieces| holds(line, pieces)) && !self.not.iter().any(|pieces| holds(line, pieces))
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
