//! What rtnetlink says of a link beyond its basics: sizes of packets, XDP, and what only a VLAN, a bridge or a tunnel has.

use std::net::IpAddr;

use super::kernel::{Reply, Request};
use super::links::{self, LinkRow};
use super::netlink::{attribute, u16_at, u32_at};
use super::plan;
use super::scan::Scan;
use crate::reading::{Bytes, GapKind, Reading, SourceId};
use crate::snapshot::{Interface, InterfaceKind, XdpMode};

/// `None` where the attribute is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Details {
    pub gro_max_size: Option<u32>,
    pub gso_max_size: Option<u32>,
    pub xdp: Option<XdpRow>,
    pub vlan_id: Option<u32>,
    pub bridge: Option<BridgeRow>,
    pub forwarding: Option<bool>,
    pub tunnel: Option<Box<TunnelRow>>,
}

/// IFLA_XDP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct XdpRow {
    /// `None` where no program is attached.
    pub mode: Option<XdpMode>,
    /// Number of the program.
    pub program: Option<u32>,
}

/// Of a bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BridgeRow {
    pub stp: Option<bool>,
    pub vlan_filtering: Option<bool>,
    /// It passes IP packets to netfilter by an option of its own.
    pub netfilter: Option<bool>,
}

/// Of a tunnel. An end that is not fixed is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TunnelRow {
    pub remote: Option<IpAddr>,
    pub local: Option<IpAddr>,
    pub port: Option<u16>,
    pub vni: Option<u32>,
}

/// Reads IFLA_XDP. With programs in several places the one that sees packets first counts.
pub(super) fn xdp(nested: &[u8]) -> XdpRow {
    let number = |kind| attribute(nested, kind).and_then(|value| u32_at(value, 0));
    let attached = attribute(nested, 2).and_then(|value| value.first().copied()).unwrap_or(0);
    let (mode, program) = match attached {
        1 => (XdpMode::Native, number(4)),
        2 => (XdpMode::Generic, number(4)),
        3 => (XdpMode::Offload, number(4)),
        4 => match (number(7), number(5)) {
            (Some(hardware), _) => (XdpMode::Offload, Some(hardware)),
            (None, Some(driver)) => (XdpMode::Native, Some(driver)),
            (None, None) => (XdpMode::Generic, number(6)),
        },
        _ => return XdpRow::default(),
    };
    XdpRow { mode: Some(mode), program }
}

/// Reads IFLA_INFO_DATA of a link of this kind.
pub(super) fn data(details: &mut Details, kind: &str, data: &[u8]) {
    let flag = |kind| attribute(data, kind).and_then(|value| value.first().copied()).map(|on| on != 0);
    let address = |kind| attribute(data, kind).and_then(links::ip).filter(|address| !address.is_unspecified());
    let port = |kind| attribute(data, kind).and_then(|value| Some(u16_at(value, 0)?.to_be()));
    let number = |kind| attribute(data, kind).and_then(|value| u32_at(value, 0));
    match kind {
        "vlan" => details.vlan_id = attribute(data, 1).and_then(|value| u16_at(value, 0)).map(u32::from),
        "bridge" => {
            let netfilter = flag(36).map(|v4| v4 || flag(37) == Some(true));
            details.bridge =
                Some(BridgeRow { stp: number(5).map(|state| state != 0), vlan_filtering: flag(7), netfilter });
        }
        "vxlan" => {
            // One that takes the ends from the route of each packet has none of its own.
            let external = flag(25) == Some(true);
            details.tunnel = Some(Box::new(TunnelRow {
                remote: address(2).or_else(|| address(16)),
                local: address(4).or_else(|| address(17)),
                port: port(15),
                vni: number(1).filter(|_| !external),
            }));
        }
        "geneve" => {
            let external = attribute(data, 6).is_some();
            details.tunnel = Some(Box::new(TunnelRow {
                remote: address(2).or_else(|| address(7)),
                local: None,
                port: port(5),
                vni: number(1).filter(|_| !external),
            }));
        }
        "gre" | "gretap" | "ip6gre" | "ip6gretap" | "erspan" | "ip6erspan" => {
            let (remote, local) = (address(7), address(6));
            details.tunnel = Some(Box::new(TunnelRow { remote, local, ..TunnelRow::default() }));
        }
        "ipip" | "sit" | "ip6tnl" => {
            let (remote, local) = (address(3), address(2));
            details.tunnel = Some(Box::new(TunnelRow { remote, local, ..TunnelRow::default() }));
        }
        "vti" | "vti6" => {
            let (remote, local) = (address(5), address(4));
            details.tunnel = Some(Box::new(TunnelRow { remote, local, ..TunnelRow::default() }));
        }
        _ => {}
    }
}

/// Whether packets that come in by the link are forwarded (IFLA_AF_SPEC): the parameters of IPv4 and of IPv6.
pub(super) fn forwarding(value: &[u8]) -> Option<bool> {
    let conf = |family: i32, list: u16, at: usize| {
        let list = attribute(attribute(value, u16::try_from(family).ok()?)?, list)?;
        Some(u32_at(list, at * 4)? != 0)
    };
    // The kernel counts the parameters of IPv4 from 1 and sends them without a place for 0.
    match (conf(libc::AF_INET, 1, 0), conf(libc::AF_INET6, 2, 0)) {
        (Some(v4), v6) => Some(v4 || v6 == Some(true)),
        (None, Some(true)) => Some(true),
        (None, _) => None,
    }
}

/// Whether this namespace hands the packets of every bridge to netfilter; `None` where that could not be read.
pub(super) fn bridges_call(scan: &mut Scan<'_>, has_bridge: bool) -> Option<bool> {
    if !has_bridge {
        return None;
    }
    let requests =
        ["iptables", "ip6tables"].map(|kind| Request::read(format!("/proc/sys/net/bridge/bridge-nf-call-{kind}")));
    let replies = scan.batch(&requests);
    // Without br_netfilter there is no such directory, and no bridge can.
    let absent = |reply: &Reply| matches!(reply, Reply::Error { errno: libc::ENOENT, .. });
    let on = |reply: &Reply| reply.bytes().map(|text| !text.starts_with(b"0"));
    match &replies {
        [v4, v6] if absent(v4) && absent(v6) => Some(false),
        [v4, v6] => match (on(v4), on(v6)) {
            (Some(v4), Some(v6)) => Some(v4 || v6),
            (Some(true), _) | (_, Some(true)) => Some(true),
            _ => None,
        },
    }
}

/// Puts them into an interface of this kind. `bridges_call` answers [`bridges_call`].
pub(super) fn apply(
    scan: &mut Scan<'_>,
    out: &mut Interface,
    row: &LinkRow,
    kind: InterfaceKind,
    calls: Option<bool>,
    source: SourceId,
) {
    let why = GapKind::KernelTooOld;
    let detail = "not in the answer to RTM_GETLINK";
    let details = &row.details;
    let bytes = |size: Option<u32>| size.map(|size| Bytes(size.into()));
    out.gro_max_size = scan.or_unknown(bytes(details.gro_max_size), source, why, detail);
    out.gso_max_size = scan.or_unknown(bytes(details.gso_max_size), source, why, detail);
    out.vlan_id = match kind {
        InterfaceKind::Vlan => scan.or_unknown(details.vlan_id, source, why, detail),
        _ => Reading::Absent(source),
    };
    match details.xdp {
        Some(XdpRow { mode: Some(mode), program }) => {
            out.xdp.mode = Reading::Known(mode, source);
            let words = program.map_or_else(|| "the program".to_owned(), |number| format!("program {number}"));
            let gap = scan.gap(GapKind::NotCollected, format!("the name of {words}"), &plan::XDP, &out.name);
            out.xdp.program = Reading::Unknown(gap);
        }
        Some(XdpRow { mode: None, .. }) => out.xdp.mark_absent(source),
        None => {
            let gap = scan.dead_end(why, detail);
            out.xdp.mark(gap);
        }
    }
    out.forwarding = scan.or_unknown(details.forwarding, source, why, detail);
    bridge(scan, out, details.bridge, kind, calls, source);
    tunnel(scan, out, details.tunnel.as_deref(), kind, source);
}

fn bridge(
    scan: &mut Scan<'_>,
    out: &mut Interface,
    row: Option<BridgeRow>,
    kind: InterfaceKind,
    calls: Option<bool>,
    source: SourceId,
) {
    if kind != InterfaceKind::Bridge {
        return out.bridge.mark_absent(source);
    }
    let row = row.unwrap_or_default();
    let why = GapKind::KernelTooOld;
    let detail = "not in the answer to RTM_GETLINK";
    out.bridge.stp = scan.or_unknown(row.stp, source, why, detail);
    out.bridge.vlan_filtering = scan.or_unknown(row.vlan_filtering, source, why, detail);
    let parameters = "/proc/sys/net/bridge";
    out.bridge.netfilter = match (row.netfilter, calls) {
        (_, Some(true)) => Reading::Known(true, scan.file(parameters)),
        (Some(own), Some(false)) => Reading::Known(own, source),
        (None, Some(false)) => Reading::Unknown(scan.dead_end(why, detail)),
        (Some(true), None) => Reading::Known(true, source),
        (_, None) => Reading::Unknown(scan.gap(GapKind::Failed, parameters, &plan::SYSCTL, "")),
    };
}

fn tunnel(scan: &mut Scan<'_>, out: &mut Interface, row: Option<&TunnelRow>, kind: InterfaceKind, source: SourceId) {
    let end = |address: Option<IpAddr>| match address {
        Some(address) => Reading::Known(address.to_string(), source),
        None => Reading::Absent(source),
    };
    match (kind, row) {
        (_, Some(row)) => {
            out.tunnel.remote = end(row.remote);
            out.tunnel.local = end(row.local);
            out.tunnel.port = row.port.map_or(Reading::Absent(source), |port| Reading::Known(port.into(), source));
            out.tunnel.vni = row.vni.map_or(Reading::Absent(source), |vni| Reading::Known(vni, source));
        }
        (InterfaceKind::Wireguard, None) => {
            let detail = "rtnetlink tells no peers of WireGuard";
            let gap = scan.gap(GapKind::NotCollected, detail, &plan::WIREGUARD, &out.name);
            out.tunnel.remote = Reading::Unknown(gap);
            out.tunnel.port = Reading::Unknown(gap);
        }
        (InterfaceKind::Tun, None) => {
            let gap = scan.gap(GapKind::NotCollected, "who holds the device open", &plan::TUN, &out.name);
            out.tunnel.program = Reading::Unknown(gap);
        }
        (InterfaceKind::Vxlan | InterfaceKind::Geneve | InterfaceKind::Gre | InterfaceKind::Ipip, None) => {
            let gap = scan.gap(GapKind::Failed, "the answer tells no ends", &plan::LINKS, &out.name);
            return out.tunnel.mark(gap);
        }
        _ => {}
    }
    out.tunnel.mark_absent(source);
}

#[cfg(test)]
mod tests {
    use super::super::netlink::push;
    use super::*;

    fn nested(fields: &[(u16, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, value) in fields {
            push(&mut out, *kind, value);
        }
        out
    }

    fn read(kind: &str, fields: &[(u16, &[u8])]) -> Details {
        let mut details = Details::default();
        data(&mut details, kind, &nested(fields));
        details
    }

    #[test]
    fn the_ends_of_tunnels_are_read_in_both_families() {
        let v6 = "2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap().octets();
        let vxlan = read("vxlan", &[(1, &42u32.to_ne_bytes()), (2, &[192, 0, 2, 9]), (15, &4789u16.to_be_bytes())]);
        let expected =
            TunnelRow { remote: Some("192.0.2.9".parse().unwrap()), local: None, port: Some(4789), vni: Some(42) };
        assert_eq!(*vxlan.tunnel.unwrap(), expected);
        let external = read("vxlan", &[(1, &0u32.to_ne_bytes()), (17, &v6), (25, &[1])]).tunnel.unwrap();
        assert_eq!((external.vni, external.local), (None, Some("2001:db8::1".parse().unwrap())));
        let geneve = read("geneve", &[(1, &7u32.to_ne_bytes()), (7, &v6), (5, &6081u16.to_be_bytes())]);
        let geneve = geneve.tunnel.unwrap();
        assert_eq!((geneve.vni, geneve.port), (Some(7), Some(6081)));
        assert_eq!(geneve.remote, Some("2001:db8::1".parse().unwrap()));
        let gre = read("gretap", &[(6, &[0, 0, 0, 0]), (7, &[192, 0, 2, 1])]).tunnel.unwrap();
        assert_eq!((gre.local, gre.remote, gre.port), (None, Some("192.0.2.1".parse().unwrap()), None));
        let sit = read("sit", &[(2, &[192, 0, 2, 1]), (3, &[192, 0, 2, 2])]).tunnel.unwrap();
        assert_eq!((sit.local, sit.remote), (Some("192.0.2.1".parse().unwrap()), Some("192.0.2.2".parse().unwrap())));
        assert_eq!(read("dummy", &[(1, &[1; 4])]), Details::default());
    }

    #[test]
    fn a_vlan_and_a_bridge_have_options_of_their_own() {
        assert_eq!(read("vlan", &[(1, &100u16.to_ne_bytes())]).vlan_id, Some(100));
        let bridge = read("bridge", &[(5, &1u32.to_ne_bytes()), (7, &[0]), (36, &[0]), (37, &[1])]).bridge.unwrap();
        assert_eq!(bridge, BridgeRow { stp: Some(true), vlan_filtering: Some(false), netfilter: Some(true) });
        assert_eq!(read("bridge", &[]).bridge, Some(BridgeRow::default()));
    }

    #[test]
    fn programs_are_told_by_where_they_run() {
        let nine = 9u32.to_ne_bytes();
        assert_eq!(xdp(&nested(&[(2, &[0])])), XdpRow::default());
        let at = |attached: u8, kind| xdp(&nested(&[(2, &[attached]), (kind, &nine)]));
        assert_eq!(at(1, 4), XdpRow { mode: Some(XdpMode::Native), program: Some(9) });
        assert_eq!(at(2, 4).mode, Some(XdpMode::Generic));
        assert_eq!(at(3, 4).mode, Some(XdpMode::Offload));
        assert_eq!(at(4, 7).mode, Some(XdpMode::Offload));
        assert_eq!(at(4, 5), XdpRow { mode: Some(XdpMode::Native), program: Some(9) });
        assert_eq!(xdp(&[]), XdpRow::default());
    }
}
