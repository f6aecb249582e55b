//! Routes, rules of policy routing and neighbour tables.

use std::net::IpAddr;

use super::interfaces::Links;
use super::kernel::{Reply, Request};
use super::links::ip;
use super::netlink::{self, Answer, attribute, attributes, text, u16_at, u32_at};
use super::plan;
use super::scan::Scan;
use super::tuning::or_absent;
use crate::reading::{Bytes, GapKind, Reading, SourceId};
use crate::snapshot::Route;

const GET_NEIGHBOUR: u16 = 30;
const GET_RULE: u16 = 34;
/// The table of routes that is used where no rule says otherwise.
pub(super) const MAIN: u32 = 254;
/// A route to somewhere else, as opposed to local, broadcast and forbidden addresses.
pub(super) const UNICAST: u8 = 1;
/// Most routes that are kept. A router of the internet has a hundred times as many, and none of them is told from another.
const MOST_ROUTES: usize = 10_000;
/// Most rules that are kept.
const MOST_RULES: usize = 1000;

/// What RTM_NEWROUTE says of one route. `None` where the attribute is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RouteRow {
    pub v6: bool,
    pub kind: u8,
    pub table: u32,
    pub destination: Option<IpAddr>,
    /// Length of the prefix.
    pub length: u8,
    pub metric: u32,
    pub interfaces: Vec<u32>,
    pub gateway: Option<IpAddr>,
    pub source: Option<IpAddr>,
    pub mtu: Option<u32>,
    pub initcwnd: Option<u32>,
    pub initrwnd: Option<u32>,
    /// It was made for one destination while packets were sent.
    pub cloned: bool,
}

/// Reads one RTM_NEWROUTE payload.
pub(super) fn route(payload: &[u8]) -> Option<RouteRow> {
    const CLONED: u32 = 0x200;
    let rest = payload.get(12..)?;
    let mut row = RouteRow {
        v6: i32::from(*payload.first()?) == libc::AF_INET6,
        length: *payload.get(1)?,
        table: u32::from(*payload.get(4)?),
        kind: *payload.get(7)?,
        cloned: u32_at(payload, 8)? & CLONED != 0,
        ..RouteRow::default()
    };
    let number = |value: &[u8]| u32_at(value, 0);
    for (kind, value) in attributes(rest) {
        match kind {
            1 => row.destination = ip(value),
            4 => row.interfaces.extend(number(value)),
            5 => row.gateway = ip(value),
            6 => row.metric = number(value).unwrap_or(0),
            7 => row.source = ip(value),
            8 => {
                row.mtu = attribute(value, 2).and_then(number);
                row.initcwnd = attribute(value, 11).and_then(number);
                row.initrwnd = attribute(value, 14).and_then(number);
            }
            9 => {
                // A list of next hops: length, flags, weight, interface, attributes.
                let mut hops = value;
                while let (Some(length), Some(index)) = (u16_at(hops, 0), u32_at(hops, 4)) {
                    row.interfaces.push(index);
                    let length = usize::from(length);
                    let inside = hops.get(8..length).unwrap_or_default();
                    row.gateway = row.gateway.or_else(|| gateway(inside));
                    let step = length.next_multiple_of(4);
                    hops = if step < 8 { &[] } else { hops.get(step..).unwrap_or_default() };
                }
            }
            15 => row.table = number(value).unwrap_or(row.table),
            // An address of another family behind the number of that family.
            18 => row.gateway = value.get(2..).and_then(ip),
            _ => {}
        }
    }
    Some(row)
}

/// The next hop in the attributes of one of several.
fn gateway(inside: &[u8]) -> Option<IpAddr> {
    attribute(inside, 5).and_then(ip).or_else(|| attribute(inside, 18)?.get(2..).and_then(ip))
}

impl RouteRow {
    /// True for a route that is worth keeping: each interface has a link-local one, and all of those are alike.
    fn is_kept(&self) -> bool {
        let link_local = matches!(self.destination, Some(IpAddr::V6(address)) if address.is_unicast_link_local());
        self.kind == UNICAST && !self.cloned && !(link_local && self.gateway.is_none())
    }

    fn destination(&self) -> String {
        let full = if self.v6 { 128 } else { 32 };
        match (self.destination, self.length) {
            (_, 0) => "default".into(),
            (Some(address), length) if length == full => address.to_string(),
            (Some(address), length) => format!("{address}/{length}"),
            // The kernel leaves an address of zeros out.
            (None, length) => format!("{}/{length}", if self.v6 { "::" } else { "0.0.0.0" }),
        }
    }
}

fn table(number: u32) -> String {
    match number {
        MAIN => "main".into(),
        255 => "local".into(),
        253 => "default".into(),
        other => other.to_string(),
    }
}

/// Takes the answer to the dump of all routes.
pub(super) fn routes(scan: &mut Scan<'_>, links: &Links, answer: &Answer) {
    let rows: Vec<RouteRow> =
        answer.parts.iter().filter_map(|part| route(part)).filter(RouteRow::is_kept).take(MOST_ROUTES + 1).collect();
    scan.out.host.routes = match &answer.refusal {
        Some(refusal) => Reading::Unknown(scan.refusal(refusal, &plan::ROUTES, "")),
        // A list that lacks some would show another way to a destination than packets take.
        None if !answer.complete || rows.len() > MOST_ROUTES => {
            let detail = format!("more than {} routes, or the list was cut", rows.len().min(MOST_ROUTES));
            Reading::Unknown(scan.gap(GapKind::NotCollected, detail, &plan::ROUTES, ""))
        }
        None => {
            let source = scan.netlink("RTM_GETROUTE", "all tables");
            Reading::Known(rows.iter().map(|row| fill(scan, links, row, source)).collect(), source)
        }
    };
}

fn fill(scan: &mut Scan<'_>, links: &Links, row: &RouteRow, source: SourceId) -> Route {
    let names: Option<Vec<String>> =
        row.interfaces.iter().map(|index| links.at(*index).map(|device| device.name.clone())).collect();
    let names = names.filter(|names| !names.is_empty());
    Route {
        destination: row.destination(),
        // An object of next hops names its interfaces elsewhere where `nexthop_compat_mode` is off.
        interfaces: scan.or_unknown(names, source, GapKind::Failed, "the route names no interface of this namespace"),
        gateway: or_absent(row.gateway.map(|address| address.to_string()), source),
        table: Reading::Known(table(row.table), source),
        metric: Reading::Known(row.metric, source),
        source: or_absent(row.source.map(|address| address.to_string()), source),
        mtu: or_absent(row.mtu.map(|mtu| Bytes(mtu.into())), source),
        initcwnd: or_absent(row.initcwnd, source),
        initrwnd: or_absent(row.initrwnd, source),
    }
}

/// One rule of policy routing as `ip rule` prints it; `None` for those that the kernel makes by itself.
pub(super) fn rule(payload: &[u8]) -> Option<String> {
    let family = i32::from(*payload.first()?);
    if family != libc::AF_INET && family != libc::AF_INET6 {
        return None;
    }
    let (to_length, from_length, number, action) =
        (*payload.get(1)?, *payload.get(2)?, *payload.get(4)?, *payload.get(7)?);
    let inverted = u32_at(payload, 8)? & 2 != 0;
    let rest = payload.get(12..)?;
    let (mut to, mut from, mut priority, mut table_number) = (None, None, 0, u32::from(number));
    let (mut mark, mut mask) = (None, u32::MAX);
    let mut words = Vec::new();
    let prefix = |value: &[u8], length: u8| ip(value).map(|address| with_length(address, length));
    for (kind, value) in attributes(rest) {
        match kind {
            1 => to = prefix(value, to_length),
            2 => from = prefix(value, from_length),
            3 => words.push(format!("iif {}", text(value))),
            6 => priority = u32_at(value, 0)?,
            10 => mark = u32_at(value, 0),
            15 => table_number = u32_at(value, 0)?,
            16 => mask = u32_at(value, 0)?,
            17 => words.push(format!("oif {}", text(value))),
            19 if value.first() == Some(&1) => words.push("lookup [l3mdev-table]".into()),
            22 => words.push(format!("ipproto {}", value.first()?)),
            23 => words.push(format!("sport {}", ports(value)?)),
            24 => words.push(format!("dport {}", ports(value)?)),
            _ => {}
        }
    }
    let plain = to.is_none() && from.is_none() && mark.is_none() && words.is_empty() && !inverted;
    let own = [(0, 255), (32766, MAIN), (32767, 253)].contains(&(priority, table_number));
    // The one that leads to the table of a VRF is made with the first of them.
    let of_vrf = words == ["lookup [l3mdev-table]"];
    if (plain && own && action == 1) || of_vrf {
        return None;
    }
    let mut out = format!("{priority}: ");
    if inverted {
        out += "not ";
    }
    out += &format!("from {}", from.as_deref().unwrap_or("all"));
    if let Some(to) = to {
        out += &format!(" to {to}");
    }
    match mark {
        Some(mark) if mask == u32::MAX => out += &format!(" fwmark {mark:#x}"),
        Some(mark) => out += &format!(" fwmark {mark:#x}/{mask:#x}"),
        None => {}
    }
    for word in words {
        out = format!("{out} {word}");
    }
    Some(match action {
        1 => format!("{out} lookup {}", table(table_number)),
        2 => format!("{out} goto"),
        3 => format!("{out} nop"),
        6 => format!("{out} blackhole"),
        7 => format!("{out} unreachable"),
        8 => format!("{out} prohibit"),
        other => format!("{out} action {other}"),
    })
}

fn with_length(address: IpAddr, length: u8) -> String {
    let full = if address.is_ipv4() { 32 } else { 128 };
    if length == full { address.to_string() } else { format!("{address}/{length}") }
}

fn ports(value: &[u8]) -> Option<String> {
    let (first, last) = (u16_at(value, 0)?, u16_at(value, 2)?);
    Some(if first == last { first.to_string() } else { format!("{first}-{last}") })
}

/// Entries of a neighbour table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NeighbourCount {
    /// Those that count against the limit of the table.
    pub counted: u32,
    /// Those that never answered.
    pub failed: u32,
}

/// Counts the entries of RTM_NEWNEIGH payloads.
pub(super) fn neighbours<'p>(payloads: impl IntoIterator<Item = &'p [u8]>) -> NeighbourCount {
    const FAILED: u16 = 0x20;
    const NO_ARP: u16 = 0x40;
    const PERMANENT: u16 = 0x80;
    const LEARNED: u8 = 0x10;
    let mut count = NeighbourCount::default();
    for payload in payloads {
        let (Some(state), Some(flags)) = (u16_at(payload, 8), payload.get(10)) else { continue };
        // The kernel does not count what it may not throw away, and throws away at once what needs no resolution.
        if state == 0 || state & (NO_ARP | PERMANENT) != 0 || flags & LEARNED != 0 {
            continue;
        }
        count.counted += 1;
        count.failed += u32::from(state & FAILED != 0);
    }
    count
}

fn family(kind: u16, family: i32) -> Request {
    let mut header = [0; 12];
    header[0] = family as u8;
    netlink::route_dump(kind, &header)
}

/// Asks for the neighbours of a family.
pub(super) fn neighbours_request(of: i32) -> Request {
    family(GET_NEIGHBOUR, of)
}

/// Rules and neighbours.
pub(super) fn collect(scan: &mut Scan<'_>) {
    let requests = [
        family(GET_RULE, libc::AF_UNSPEC).most(1 << 20),
        family(GET_NEIGHBOUR, libc::AF_INET),
        family(GET_NEIGHBOUR, libc::AF_INET6),
    ];
    let answers = netlink::ask(scan.kernel, &requests);
    let [rules, v4, v6] = answers.as_slice() else { return };
    scan.out.host.rules = if let Err(gap) = whole(scan, rules, &plan::RULES) {
        Reading::Unknown(gap)
    } else {
        let source = scan.netlink("RTM_GETRULE", "all families");
        let list = rules.parts.iter().filter_map(|part| rule(part)).take(MOST_RULES).collect();
        Reading::Known(list, source)
    };
    let source = scan.netlink("RTM_GETNEIGH", "all interfaces");
    let mut counts = [&v4, &v6].map(|answer| {
        whole(scan, answer, &plan::NEIGHBOURS).map(|()| neighbours(answer.parts.iter().map(Vec::as_slice)))
    });
    // A kernel without IPv6 knows no such family.
    let refused = |answer: &Answer| {
        matches!(answer.refusal, Some(Reply::Error { errno: libc::EOPNOTSUPP | libc::EAFNOSUPPORT, .. }))
    };
    if refused(v6) {
        counts[1] = Ok(NeighbourCount::default());
    }
    let known = |count: &Result<NeighbourCount, _>, get: fn(&NeighbourCount) -> u32| match count {
        Ok(count) => Reading::Known(get(count), source),
        Err(gap) => Reading::Unknown(*gap),
    };
    let tables = &mut scan.out.host.neighbours;
    tables.v4 = known(&counts[0], |count| count.counted);
    tables.v6 = known(&counts[1], |count| count.counted);
    tables.failed = match (&counts[0], &counts[1]) {
        (Ok(v4), Ok(v6)) => Reading::Known(v4.failed + v6.failed, source),
        (Err(gap), _) | (_, Err(gap)) => Reading::Unknown(*gap),
    };
}

/// The gap for a dump that did not come whole.
fn whole(scan: &mut Scan<'_>, answer: &Answer, probe: &plan::Probe) -> Result<(), crate::reading::GapId> {
    match &answer.refusal {
        Some(refusal) => Err(scan.refusal(refusal, probe, "")),
        None if !answer.complete => Err(scan.gap(GapKind::Malformed, "the dump has no end", probe, "")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::netlink::push;
    use super::*;

    fn header(family: u8, length: u8, table: u8, kind: u8) -> Vec<u8> {
        vec![family, length, 0, 0, table, 3, 0, kind, 0, 0, 0, 0]
    }

    #[test]
    fn a_route_is_read_with_its_metrics() {
        let mut payload = header(2, 24, 252, 1);
        push(&mut payload, 15, &1000u32.to_ne_bytes());
        push(&mut payload, 1, &[192, 0, 2, 0]);
        push(&mut payload, 4, &7u32.to_ne_bytes());
        push(&mut payload, 5, &[198, 51, 100, 1]);
        push(&mut payload, 6, &50u32.to_ne_bytes());
        push(&mut payload, 7, &[192, 0, 2, 9]);
        let mut metrics = Vec::new();
        push(&mut metrics, 2, &1400u32.to_ne_bytes());
        push(&mut metrics, 11, &20u32.to_ne_bytes());
        push(&mut payload, 0x8008, &metrics);
        let row = route(&payload).unwrap();
        assert_eq!((row.destination().as_str(), row.table, row.metric), ("192.0.2.0/24", 1000, 50));
        assert_eq!((row.mtu, row.initcwnd, row.initrwnd), (Some(1400), Some(20), None));
        assert_eq!(row.gateway.unwrap().to_string(), "198.51.100.1");
        assert_eq!(row.source.unwrap().to_string(), "192.0.2.9");
        assert!(row.is_kept());
        assert_eq!((table(1000), table(254)), ("1000".to_owned(), "main".to_owned()));
        assert_eq!(route(&payload[..11]), None);
    }

    #[test]
    fn hops_over_ipv6_of_an_ipv4_route_and_of_several_are_found() {
        let mut payload = header(2, 0, 254, 1);
        let mut via = 10u16.to_ne_bytes().to_vec();
        via.extend("fe80::1".parse::<std::net::Ipv6Addr>().unwrap().octets());
        push(&mut payload, 18, &via);
        assert_eq!(route(&payload).unwrap().gateway.unwrap().to_string(), "fe80::1");
        let mut payload = header(2, 0, 254, 1);
        let mut hops = Vec::new();
        for index in [3u8, 4] {
            hops.extend([16, 0, 0, 0, index, 0, 0, 0, 8, 0, 5, 0, 10, 0, 0, index]);
        }
        push(&mut payload, 9, &hops);
        let row = route(&payload).unwrap();
        assert_eq!((row.interfaces.as_slice(), row.gateway.unwrap().to_string().as_str()), (&[3, 4][..], "10.0.0.3"));
        assert_eq!(row.destination(), "default");
    }

    #[test]
    fn local_cloned_and_link_local_routes_are_left_out() {
        let kept = |family: u8, length: u8, kind: u8, address: &[u8]| {
            let mut payload = header(family, length, 254, kind);
            push(&mut payload, 1, address);
            route(&payload).unwrap().is_kept()
        };
        let local = "fe80::".parse::<std::net::Ipv6Addr>().unwrap().octets();
        assert!(kept(2, 32, 1, &[192, 0, 2, 1]) && kept(10, 128, 1, &[32; 16]));
        assert!(
            !kept(2, 32, 2, &[192, 0, 2, 1]) && !kept(2, 32, 3, &[192, 0, 2, 255]) && !kept(2, 8, 6, &[10, 0, 0, 0])
        );
        assert!(!kept(10, 64, 1, &local));
        let mut cloned = header(10, 128, 254, 1);
        cloned[9] = 2;
        assert!(!route(&cloned).unwrap().is_kept());
        assert_eq!(route(&header(10, 3, 254, 1)).unwrap().destination(), "::/3");
    }

    #[test]
    fn rules_are_printed_as_ip_prints_them() {
        let rule_of = |family: u8, lengths: [u8; 2], flags: u8, action: u8, fields: &[(u16, Vec<u8>)]| {
            let mut payload = vec![family, lengths[0], lengths[1], 0, 254, 0, 0, action, flags, 0, 0, 0];
            for (kind, value) in fields {
                push(&mut payload, *kind, value);
            }
            rule(&payload)
        };
        let word = |value: u32| value.to_ne_bytes().to_vec();
        let from = rule_of(2, [0, 32], 0, 1, &[(6, word(100)), (2, vec![192, 0, 2, 7]), (15, word(100))]);
        assert_eq!(from.unwrap(), "100: from 192.0.2.7 lookup 100");
        let fields = [(6, word(7)), (1, vec![10, 0, 0, 0]), (10, word(1)), (16, word(255)), (3, b"eth0\0".to_vec())];
        assert_eq!(
            rule_of(2, [8, 0], 2, 8, &fields).unwrap(),
            "7: not from all to 10.0.0.0/8 fwmark 0x1/0xff iif eth0 prohibit"
        );
        // Those that the kernel makes are left out, in both families, and rules of multicast routing are none.
        assert_eq!(rule_of(10, [0, 0], 0, 1, &[(6, word(32766)), (15, word(254))]), None);
        assert_eq!(rule_of(2, [0, 0], 0, 1, &[(15, word(255))]), None);
        assert_eq!(rule_of(128, [0, 0], 0, 1, &[(6, word(5)), (15, word(100))]), None);
        assert_eq!(rule_of(2, [0, 0], 0, 1, &[(6, word(1000)), (19, vec![1])]), None);
        // The same with another table is one that somebody made.
        assert!(rule_of(2, [0, 0], 0, 1, &[(6, word(32766)), (15, word(100))]).is_some());
        assert_eq!(rule(&[2, 0]), None);
    }

    #[test]
    fn neighbours_that_do_not_fill_the_table_are_not_counted() {
        let entry = |state: u16, flags: u8| {
            let mut payload = vec![2, 0, 0, 0, 1, 0, 0, 0];
            payload.extend(state.to_ne_bytes());
            payload.extend([flags, 1]);
            payload
        };
        let entries = [
            entry(0x02, 0),
            entry(0x04, 0x80),
            entry(0x20, 0),
            entry(0x40, 0),
            entry(0x80, 0),
            entry(0x02, 0x10),
            entry(0, 0),
            vec![2],
        ];
        let count = neighbours(entries.iter().map(Vec::as_slice));
        assert_eq!(count, NeighbourCount { counted: 3, failed: 1 });
    }
}
