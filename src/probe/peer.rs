//! The way to one other end: the route that packets to it take, and the next hop in the neighbour table. Sends nothing.

use std::net::IpAddr;

use super::interfaces::Links;
use super::kernel::{Ask, Protocol, Reply, Request};
use super::netlink::{self, attribute, push, u16_at, u32_at};
use super::scan::Scan;
use super::{links, plan, routing};
use crate::reading::{Bytes, GapKind, Reading};

/// Kinds of routes that lead nowhere.
const CLOSED: std::ops::RangeInclusive<u8> = 6..=9;

fn octets(address: IpAddr) -> (i32, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (libc::AF_INET, address.octets().to_vec()),
        IpAddr::V6(address) => (libc::AF_INET6, address.octets().to_vec()),
    }
}

/// Asks for the route that packets to an address take; those of a connection bear its own address `from`.
pub(super) fn route_request(to: IpAddr, from: Option<IpAddr>) -> Request {
    let mut payload = vec![0; 12];
    let mut add = |kind: u16, length_at: usize, address: IpAddr| {
        let (family, octets) = octets(address);
        payload[0] = family as u8;
        payload[length_at] = (octets.len() * 8) as u8;
        push(&mut payload, kind, &octets);
    };
    add(1, 1, to);
    if let Some(from) = from {
        add(2, 2, from);
    }
    let bytes = netlink::message(links::GET_ROUTE, 0, &payload).into();
    Request::new(Ask::Netlink { protocol: Protocol::Route, bytes, limit: 1 << 16 })
}

/// An entry of the neighbour table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    state: &'static str,
    hardware: Option<String>,
}

/// The entry of an address by an interface in RTM_NEWNEIGH payloads.
fn entry<'p>(payloads: impl IntoIterator<Item = &'p [u8]>, index: u32, address: IpAddr) -> Option<Entry> {
    const STATES: [(u16, &str); 8] = [
        (0x01, "incomplete"),
        (0x02, "reachable"),
        (0x04, "stale"),
        (0x08, "delay"),
        (0x10, "probe"),
        (0x20, "failed"),
        (0x40, "noarp"),
        (0x80, "permanent"),
    ];
    payloads.into_iter().find_map(|payload| {
        let rest = payload.get(12..)?;
        let state = u16_at(payload, 8)?;
        let is_it = u32_at(payload, 4)? == index && attribute(rest, 1).and_then(links::ip)? == address;
        let (_, word) = STATES.iter().find(|(bit, _)| state & bit != 0).filter(|_| is_it)?;
        let hardware: Vec<String> =
            attribute(rest, 2).unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Entry { state: word, hardware: Some(hardware.join(":")).filter(|text| !text.is_empty()) })
    })
}

/// Fills the host's peer.
pub(super) fn collect(scan: &mut Scan<'_>, found: &Links, peer: IpAddr) {
    let peer = peer.to_canonical();
    let subject = peer.to_string();
    let asked = scan.inferred("the address that was asked about");
    scan.out.host.peer.address = Reading::Known(subject.clone(), asked);
    let answers = netlink::ask(scan.kernel, &[route_request(peer, None)]);
    let source = scan.netlink("RTM_GETROUTE", &subject);
    let Some(answer) = answers.first() else { return };
    let row = match (answer.parts.first().and_then(|part| routing::route(part)), &answer.refusal) {
        (Some(row), _) if !CLOSED.contains(&row.kind) && !row.interfaces.is_empty() => row,
        (Some(_), _)
        | (
            None,
            Some(Reply::Error { errno: libc::ENETUNREACH | libc::EHOSTUNREACH | libc::EACCES | libc::EINVAL, .. }),
        ) => {
            scan.remark(format!("there is no route to {subject}"));
            return scan.out.host.peer.mark_absent(source);
        }
        (None, Some(refusal)) => {
            let gap = scan.refusal(refusal, &plan::PEER, &subject);
            return scan.out.host.peer.mark(gap);
        }
        (None, None) => {
            let gap = scan.gap(GapKind::Malformed, "RTM_GETROUTE", &plan::PEER, &subject);
            return scan.out.host.peer.mark(gap);
        }
    };
    let or_absent = |text: Option<String>| text.map_or(Reading::Absent(source), |text| Reading::Known(text, source));
    let index = row.interfaces[0];
    scan.out.host.peer.interface = match found.name(index) {
        Some(name) => Reading::Known(name.to_owned(), source),
        None => Reading::Unknown(scan.dead_end(GapKind::Changed, format!("no link with index {index}"))),
    };
    scan.out.host.peer.source = or_absent(row.source.map(|address| address.to_string()));
    scan.out.host.peer.gateway = or_absent(row.gateway.map(|address| address.to_string()));
    scan.out.host.peer.mtu =
        row.mtu.map_or(Reading::Absent(source), |mtu| Reading::Known(Bytes(u64::from(mtu)), source));
    let hop = row.gateway.unwrap_or(peer);
    let (family, _) = octets(hop);
    let tables = netlink::ask(scan.kernel, &[routing::neighbours_request(family)]);
    let source = scan.netlink("RTM_GETNEIGH", "all interfaces");
    let Some(table) = tables.first() else { return };
    if let Some(refusal) = &table.refusal {
        let gap = scan.refusal(refusal, &plan::PEER, &subject);
        return scan.out.host.peer.mark(gap);
    }
    let entry = entry(table.parts.iter().map(Vec::as_slice), index, hop);
    let or_absent = |text: Option<String>| text.map_or(Reading::Absent(source), |text| Reading::Known(text, source));
    scan.out.host.peer.neighbour = or_absent(entry.as_ref().map(|entry| entry.state.to_owned()));
    scan.out.host.peer.neighbour_address = or_absent(entry.and_then(|entry| entry.hardware));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_are_ones_that_read() {
        for from in [None, Some(IpAddr::from([192, 0, 2, 2]))] {
            let Ask::Netlink { protocol, bytes, .. } = route_request([192, 0, 2, 1].into(), from).ask else { panic!() };
            assert!(netlink::only_reads(protocol, &bytes.0, None));
        }
    }

    #[test]
    fn the_entry_of_the_next_hop_is_found_among_those_of_other_links() {
        let neighbour = |index: u32, state: u16, last: u8| {
            let mut payload = vec![2, 0, 0, 0];
            payload.extend(index.to_ne_bytes());
            payload.extend(state.to_ne_bytes());
            payload.extend([0, 1]);
            push(&mut payload, 1, &[192, 0, 2, last]);
            push(&mut payload, 2, &[2, 0, 0, 0, 0, last]);
            payload
        };
        let table = [neighbour(3, 0x20, 1), neighbour(4, 0x04, 2), neighbour(4, 0x02, 1), vec![2, 0]];
        let found = |index, last| entry(table.iter().map(Vec::as_slice), index, [192, 0, 2, last].into());
        let reachable = Entry { state: "reachable", hardware: Some("02:00:00:00:00:01".into()) };
        assert_eq!((found(4, 1), found(4, 9)), (Some(reachable), None));
        assert_eq!(found(3, 1).unwrap().state, "failed");
    }
}
