//! What a link of a given speed leaves for the payload: framing, tags, headers, tunnels, small frames, half duplex.

use serde::{Deserialize, Serialize};

use super::range::{Ceiling, Confidence};
use crate::knowledge::buses::Buses;

/// What is carried, and so what a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// TCP payload over IPv4.
    Tcp4,
    /// TCP payload over IPv6.
    Tcp6,
    /// UDP payload over IPv4.
    Udp4,
    /// UDP payload over IPv6.
    Udp6,
    /// RDMA payload over RoCEv2 on IPv4.
    RoceV2,
    /// Whole frames with their check sequence, as test equipment counts. Kernel counters omit the 4 bytes.
    L2,
}

/// A tunnel whose outer packets have the interface's MTU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tunnel {
    /// VXLAN over IPv4.
    Vxlan4,
    /// VXLAN over IPv6.
    Vxlan6,
    /// Geneve over IPv4 with this many bytes of options.
    Geneve4 {
        /// Option bytes.
        options: u32,
    },
    /// Geneve over IPv6 with this many bytes of options.
    Geneve6 {
        /// Option bytes.
        options: u32,
    },
    /// GRE over IPv4, without key or checksum.
    Gre4,
    /// IPv4 or IPv6 in IPv4.
    Ipip4,
    /// WireGuard over IPv4.
    Wireguard4,
    /// WireGuard over IPv6.
    Wireguard6,
}

/// Whether both ends may send at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// Both ends may send at once.
    Full,
    /// One at a time.
    Half,
}

/// How full-size packets of the traffic look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Framing {
    /// Largest IP packet of the interface, bytes.
    pub mtu: u32,
    /// 802.1Q tags on each frame.
    pub vlan_tags: u32,
    /// What is carried.
    pub traffic: Traffic,
    /// Whether TCP timestamps are in use; unknown makes the range cover both, with "on" as the usual case.
    pub timestamps: Option<bool>,
    /// Tunnel that the payload goes through.
    pub tunnel: Option<Tunnel>,
    /// Frame length with check sequence, bytes; replaces the MTU for questions about small frames.
    pub frame_bytes: Option<u32>,
}

impl Framing {
    /// Full-size packets of this MTU (bytes): no tag, no tunnel, timestamps not known.
    pub fn new(mtu: u32, traffic: Traffic) -> Self {
        Self { mtu, vlan_tags: 0, traffic, timestamps: None, tunnel: None, frame_bytes: None }
    }

    fn tags(&self, buses: &Buses) -> u32 {
        self.vlan_tags.saturating_mul(buses.ethernet.vlan_tag.value)
    }

    fn packet_bytes(&self, buses: &Buses) -> u32 {
        let e = &buses.ethernet;
        match self.frame_bytes {
            Some(frame) => frame.saturating_sub(e.header.value + e.fcs.value).saturating_sub(self.tags(buses)),
            None => self.mtu,
        }
    }

    /// RDMA payload per packet: the largest path MTU that fits, or what fits if none does.
    fn rdma_payload(&self, buses: &Buses) -> u32 {
        let room = self.packet_bytes(buses).saturating_sub(buses.ethernet.rdma_headers.value);
        buses.ethernet.rdma_mtus.value.iter().copied().filter(|&mtu| mtu <= room).max().unwrap_or(room)
    }

    /// Frame on the wire with check sequence, without preamble and gap.
    fn frame_on_wire(&self, buses: &Buses) -> f64 {
        let e = &buses.ethernet;
        let packet = match self.traffic {
            Traffic::RoceV2 => f64::from(self.rdma_payload(buses)) + f64::from(e.rdma_headers.value),
            _ => f64::from(self.packet_bytes(buses)),
        };
        let frame = packet + f64::from(e.header.value + e.fcs.value) + f64::from(self.tags(buses));
        frame.max(f64::from(e.minimum_frame.value))
    }

    /// Bytes of link time that one packet takes: frame, preamble and gap.
    pub fn wire_bytes(&self, buses: &Buses) -> f64 {
        self.frame_on_wire(buses) + f64::from(buses.ethernet.preamble.value + buses.ethernet.gap.value)
    }

    /// Bytes of one packet that cross the host's bus: the frame without its check sequence; for RDMA the payload.
    pub fn dma_bytes(&self, buses: &Buses) -> f64 {
        match self.traffic {
            Traffic::RoceV2 => f64::from(self.rdma_payload(buses)),
            _ => self.frame_on_wire(buses) - f64::from(buses.ethernet.fcs.value),
        }
    }

    /// Bytes that the tunnel adds between the packets inside and those outside, both counted without Ethernet.
    pub fn tunnel_bytes(&self, buses: &Buses) -> u32 {
        let (name, options) = match self.tunnel {
            None => return 0,
            Some(Tunnel::Vxlan4) => ("vxlan4", 0),
            Some(Tunnel::Vxlan6) => ("vxlan6", 0),
            Some(Tunnel::Geneve4 { options }) => ("geneve4", options),
            Some(Tunnel::Geneve6 { options }) => ("geneve6", options),
            Some(Tunnel::Gre4) => ("gre4", 0),
            Some(Tunnel::Ipip4) => ("ipip4", 0),
            Some(Tunnel::Wireguard4) => ("wireguard4", 0),
            Some(Tunnel::Wireguard6) => ("wireguard6", 0),
        };
        buses.ethernet.tunnels.get(name).map_or(0, |t| t.value).saturating_add(options)
    }

    fn payload_with(&self, timestamps: bool, buses: &Buses) -> f64 {
        let e = &buses.ethernet;
        let tcp = e.tcp_header.value + if timestamps { e.tcp_timestamps.value } else { 0 };
        let headers = match self.traffic {
            Traffic::RoceV2 => return f64::from(self.rdma_payload(buses)),
            Traffic::L2 => return self.frame_on_wire(buses),
            Traffic::Tcp4 => e.ipv4_header.value + tcp,
            Traffic::Tcp6 => e.ipv6_header.value + tcp,
            Traffic::Udp4 => e.ipv4_header.value + e.udp_header.value,
            Traffic::Udp6 => e.ipv6_header.value + e.udp_header.value,
        };
        f64::from(self.packet_bytes(buses).saturating_sub(self.tunnel_bytes(buses)).saturating_sub(headers))
    }

    /// Bytes of one packet that the rate counts; TCP timestamps taken as on when not known.
    pub fn payload_bytes(&self, buses: &Buses) -> f64 {
        self.payload_with(self.timestamps.unwrap_or(true), buses)
    }

    /// The most that one packet can carry: differs from [`Self::payload_bytes`] where timestamps are not known.
    pub fn largest_payload_bytes(&self, buses: &Buses) -> f64 {
        self.payload_with(self.timestamps.unwrap_or(false), buses)
    }

    /// Widens a range so that it covers TCP without timestamps, where that is not known.
    pub(super) fn cover_timestamps(&self, mut ceiling: Ceiling, buses: &Buses) -> Ceiling {
        let (usual, largest) = (self.payload_bytes(buses), self.largest_payload_bytes(buses));
        if largest > usual && usual > 0.0 {
            ceiling.hi_bps *= largest / usual;
            return ceiling.noting("covers TCP timestamps on (usual) and off");
        }
        ceiling
    }
}

/// Packets per second that a link of `link_bps` bit/s can carry one way.
pub fn packets_per_second(link_bps: f64, framing: &Framing, buses: &Buses) -> f64 {
    link_bps.max(0.0) / (8.0 * framing.wire_bytes(buses))
}

/// Payload rate of a link of `link_bps` bit/s, per direction.
///
/// Line encodings and forward error correction are already inside the nominal rate and take nothing more.
pub fn link(link_bps: f64, framing: &Framing, duplex: Duplex, buses: &Buses) -> Ceiling {
    let pure = packets_per_second(link_bps, framing, buses) * 8.0 * framing.payload_bytes(buses);
    match duplex {
        Duplex::Full => framing.cover_timestamps(Ceiling::from_formula(pure, &buses.ethernet.range), buses),
        Duplex::Half => Ceiling::from_formula(pure, &buses.ethernet.half_duplex)
            .noting("half duplex: data and acknowledgements share the wire; the duplex itself is the fault to look at")
            .at_most(Confidence::Low),
    }
}
