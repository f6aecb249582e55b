//! Links, addresses and routes out of rtnetlink messages.

use std::net::IpAddr;

use super::bonds::{self, BondRow, MemberRow};
use super::link_details::{self, Details};
use super::netlink::{attribute, attributes, text, u16_at, u32_at, u64_at};
use super::routing;

/// RTM_GETLINK.
pub(super) const GET_LINK: u16 = 18;
/// RTM_GETADDR.
pub(super) const GET_ADDRESS: u16 = 22;
/// RTM_GETROUTE.
pub(super) const GET_ROUTE: u16 = 26;

/// Fields of `struct rtnl_link_stats64` in their order.
const STATS64: [&str; 25] = [
    "rx_packets",
    "tx_packets",
    "rx_bytes",
    "tx_bytes",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
    "multicast",
    "collisions",
    "rx_length_errors",
    "rx_over_errors",
    "rx_crc_errors",
    "rx_frame_errors",
    "rx_fifo_errors",
    "rx_missed_errors",
    "tx_aborted_errors",
    "tx_carrier_errors",
    "tx_fifo_errors",
    "tx_heartbeat_errors",
    "tx_window_errors",
    "rx_compressed",
    "tx_compressed",
    "rx_nohandler",
    "rx_otherhost_dropped",
];

/// What RTM_NEWLINK says of one interface. `None` where the attribute is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LinkRow {
    pub index: u32,
    pub hardware: u16,
    pub flags: u32,
    /// The name as the kernel has it.
    pub raw_name: Vec<u8>,
    pub address: Option<Vec<u8>>,
    pub permanent_address: Option<Vec<u8>>,
    pub mtu: Option<u32>,
    pub mtu_min: Option<u32>,
    pub mtu_max: Option<u32>,
    pub lower: Option<u32>,
    /// The lower link is in another network namespace.
    pub lower_elsewhere: bool,
    pub master: Option<u32>,
    pub txqueuelen: Option<u32>,
    pub oper_state: Option<u8>,
    pub kind: Option<String>,
    pub alias: Option<String>,
    pub carrier: Option<bool>,
    pub carrier_changes: Option<u32>,
    pub carrier_up_count: Option<u32>,
    pub carrier_down_count: Option<u32>,
    pub parent_device: Option<String>,
    pub parent_bus: Option<String>,
    /// In the order of [`stat_names`]; an older kernel has fewer.
    pub stats: Vec<u64>,
    /// Of a bond.
    pub bond: Option<Box<BondRow>>,
    /// Of a member of a bond.
    pub member: Option<Box<MemberRow>>,
    pub details: Details,
}

impl LinkRow {
    /// How often the carrier came and went, by the names in /sys/class/net; an older kernel has fewer.
    pub fn carrier_counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = [
            ("carrier_changes", self.carrier_changes),
            ("carrier_up_count", self.carrier_up_count),
            ("carrier_down_count", self.carrier_down_count),
        ];
        counts.into_iter().filter_map(|(name, count)| Some((name, u64::from(count?))))
    }
}

/// Names of the first `count` statistics.
pub(super) fn stat_names(count: usize) -> &'static [&'static str] {
    &STATS64[..count.min(STATS64.len())]
}

fn hold_u32(value: &[u8]) -> Option<u32> {
    u32_at(value, 0)
}

/// Reads one RTM_NEWLINK payload; `None` if it has no header or no name.
pub(super) fn link(payload: &[u8]) -> Option<LinkRow> {
    let mut row = LinkRow {
        hardware: u16_at(payload, 2)?,
        index: u32_at(payload, 4)?,
        flags: u32_at(payload, 8)?,
        ..LinkRow::default()
    };
    let mut tunnel = None;
    for (kind, value) in attributes(payload.get(16..)?) {
        match kind {
            1 => row.address = Some(value.to_vec()),
            3 => row.raw_name = value.split(|byte| *byte == 0).next().unwrap_or_default().to_vec(),
            4 => row.mtu = hold_u32(value),
            5 => row.lower = hold_u32(value).filter(|index| *index != 0),
            10 => row.master = hold_u32(value).filter(|index| *index != 0),
            13 => row.txqueuelen = hold_u32(value),
            16 => row.oper_state = value.first().copied(),
            18 => {
                row.kind = attribute(value, 1).map(text);
                // A VXLAN tunnel keeps its lower link to itself: IFLA_VXLAN_LINK.
                if row.kind.as_deref() == Some("vxlan") {
                    tunnel = attribute(value, 2).and_then(|data| hold_u32(attribute(data, 3)?));
                }
                if row.kind.as_deref() == Some("bond") {
                    row.bond = attribute(value, 2).map(|data| Box::new(bonds::bond(data)));
                }
                if let (Some(kind), Some(data)) = (&row.kind, attribute(value, 2)) {
                    link_details::data(&mut row.details, kind, data);
                }
                if attribute(value, 4).is_some_and(|kind| text(kind) == "bond") {
                    row.member = attribute(value, 5).map(|data| Box::new(bonds::member(data)));
                }
            }
            20 => row.alias = Some(text(value)),
            26 => row.details.forwarding = link_details::forwarding(value),
            23 => row.stats = (0..STATS64.len()).map_while(|at| u64_at(value, at * 8)).collect(),
            33 => row.carrier = value.first().map(|carrier| *carrier != 0),
            35 => row.carrier_changes = hold_u32(value),
            37 => row.lower_elsewhere = true,
            41 => row.details.gso_max_size = hold_u32(value),
            43 => row.details.xdp = Some(link_details::xdp(value)),
            47 => row.carrier_up_count = hold_u32(value),
            48 => row.carrier_down_count = hold_u32(value),
            50 => row.mtu_min = hold_u32(value),
            51 => row.mtu_max = hold_u32(value),
            54 => row.permanent_address = Some(value.to_vec()),
            56 => row.parent_device = Some(text(value)),
            57 => row.parent_bus = Some(text(value)),
            58 => row.details.gro_max_size = hold_u32(value),
            _ => {}
        }
    }
    row.lower = row.lower.or(tunnel.filter(|index| *index != 0));
    (!row.raw_name.is_empty()).then_some(row)
}

/// An address of an interface.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AddressRow {
    pub index: u32,
    pub address: IpAddr,
    /// Length of the prefix.
    pub prefix: u8,
}

/// An address by the length of its bytes.
pub(super) fn ip(value: &[u8]) -> Option<IpAddr> {
    match value.len() {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(value).ok()?)),
        16 => Some(IpAddr::from(<[u8; 16]>::try_from(value).ok()?).to_canonical()),
        _ => None,
    }
}

/// Reads one RTM_NEWADDR payload: the local address, which differs from the address on a point-to-point link.
pub(super) fn address(payload: &[u8]) -> Option<AddressRow> {
    let rest = payload.get(8..)?;
    let value = attribute(rest, 2).or_else(|| attribute(rest, 1))?;
    Some(AddressRow { index: u32_at(payload, 4)?, address: ip(value)?, prefix: *payload.get(1)? })
}

/// A default route of the main table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DefaultRoute {
    pub v6: bool,
    pub metric: u32,
    pub interfaces: Vec<u32>,
}

/// Reads one RTM_NEWROUTE payload; `None` for anything but a default route of the main table.
pub(super) fn default_route(payload: &[u8]) -> Option<DefaultRoute> {
    // Routers have many routes, and few of these.
    if payload.get(1) != Some(&0) {
        return None;
    }
    let row = routing::route(payload)?;
    let leaves = row.table == routing::MAIN && row.kind == routing::UNICAST;
    leaves.then_some(DefaultRoute { v6: row.v6, metric: row.metric, interfaces: row.interfaces })
}

#[cfg(test)]
mod tests {
    use super::super::netlink::push;
    use super::*;

    #[test]
    fn a_link_is_read_with_a_name_that_is_not_text() {
        let mut payload = vec![0; 16];
        payload[2] = 1;
        payload[4] = 7;
        push(&mut payload, 3, b"a\xff;b\0");
        push(&mut payload, 4, &9000u32.to_ne_bytes());
        push(&mut payload, 51, &[1]);
        let mut info = Vec::new();
        push(&mut info, 1, b"veth\0");
        push(&mut payload, 0x8012, &info);
        push(&mut payload, 23, &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
        let row = link(&payload).unwrap();
        assert_eq!((row.index, row.hardware, row.mtu), (7, 1, Some(9000)));
        assert_eq!(row.raw_name, b"a\xff;b");
        assert_eq!(row.kind.as_deref(), Some("veth"));
        assert_eq!(row.stats, [1, 2]);
        assert_eq!(row.mtu_max, None);
        assert_eq!(link(&payload[..10]), None);
        assert_eq!(link(&payload[..16]), None);
    }

    #[test]
    fn default_routes_come_with_all_their_next_hops() {
        let mut payload = vec![2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
        push(&mut payload, 6, &100u32.to_ne_bytes());
        let mut hops = Vec::new();
        for index in [3u8, 4] {
            hops.extend([16, 0, 0, 0, index, 0, 0, 0, 8, 0, 5, 0, 10, 0, 0, 1]);
        }
        push(&mut payload, 9, &hops);
        let route = default_route(&payload).unwrap();
        assert_eq!(route, DefaultRoute { v6: false, metric: 100, interfaces: vec![3, 4] });
        payload[1] = 24;
        assert_eq!(default_route(&payload), None);
        assert_eq!(default_route(&[2]), None);
        assert_eq!(
            default_route(&[2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0, 12, 0, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0])
                .unwrap()
                .interfaces,
            [1]
        );
    }

    #[test]
    fn the_local_address_of_a_point_to_point_link_counts() {
        let mut payload = vec![2, 32, 0, 0, 5, 0, 0, 0];
        push(&mut payload, 1, &[10, 0, 0, 2]);
        push(&mut payload, 2, &[10, 0, 0, 1]);
        let row = AddressRow { index: 5, address: "10.0.0.1".parse().unwrap(), prefix: 32 };
        assert_eq!(address(&payload).unwrap(), row);
        assert_eq!(address(&[2, 32]), None);
    }
}
