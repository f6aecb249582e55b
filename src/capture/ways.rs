//! By which interface the other ends of a capture are reached: `ip route get`, routes, and own addresses.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::measured::holder;
use crate::reading::{Reading, Source, SourceId};
use crate::snapshot::{Snapshot, address_of, best_route};

/// Most answers that are kept.
const MOST: usize = 4096;

/// What `ip route get` answered: the interface to each address.
#[derive(Debug, Default)]
pub(super) struct Ways(BTreeMap<IpAddr, (String, SourceId)>);

impl Ways {
    /// Keeps an answer; a later one of the same address takes its place.
    pub fn add(&mut self, destination: &str, interface: &str, source: SourceId) {
        if let Ok(address) = destination.parse()
            && (self.0.len() < MOST || self.0.contains_key(&address))
        {
            self.0.insert(address, (interface.to_owned(), source));
        }
    }
}

/// The address in `192.0.2.1:22`, `[2001:db8::1]:443` or `192.0.2.1%eth0:68`; one of IPv4 that is written as one of IPv6 is
/// what it is.
fn address(end: &str) -> Option<IpAddr> {
    Some(address_of(end).split('%').next()?.parse::<IpAddr>().ok()?.to_canonical())
}

/// Gives connections and mounts the interface that they leave by, once all routes and addresses are known.
pub(super) fn finish(snapshot: &mut Snapshot, ways: &Ways) {
    let mut flows = std::mem::take(&mut snapshot.host.flows);
    if let Reading::Known(flows, _) = &mut flows {
        for flow in flows.iter_mut().filter(|flow| flow.interface.is_unasked()) {
            flow.interface = leaves(snapshot, ways, &flow.local, &flow.peer);
        }
    }
    snapshot.host.flows = flows;
    let mut mounts = std::mem::take(&mut snapshot.host.nfs);
    if let Reading::Known(mounts, _) = &mut mounts {
        for mount in mounts.iter_mut().filter(|mount| mount.interface.is_unasked()) {
            let server = mount.server.known().and_then(|server| server.parse().ok());
            let way = server.and_then(|server: IpAddr| ways.0.get(&server));
            mount.interface = way.map_or_else(Reading::default, |(name, source)| Reading::Known(name.clone(), *source));
        }
    }
    snapshot.host.nfs = mounts;
}

fn leaves(snapshot: &mut Snapshot, ways: &Ways, local: &str, peer: &str) -> Reading<String> {
    let Some(peer) = address(peer) else { return Reading::default() };
    if let Some((name, source)) = ways.0.get(&peer) {
        return Reading::Known(name.clone(), *source);
    }
    let routed = snapshot.host.routes.known().and_then(|routes| {
        let route = best_route(routes, &peer.to_string())?;
        match route.interfaces.known()?.as_slice() {
            [only] => Some((only.clone(), format!("the route to {}", route.destination))),
            _ => None,
        }
    });
    let held = || {
        let own = address(local).filter(|own| !own.is_loopback() && !own.is_unspecified())?.to_string();
        Some((holder(snapshot, Some(&own))?, format!("the own address {own}")))
    };
    match routed.or_else(held) {
        Some((name, from)) => Reading::Known(name, snapshot.origins.source(Source::Inferred { from })),
        None => Reading::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcript::one;
    use super::*;

    #[test]
    fn ends_are_addresses() {
        for (end, wanted) in [
            ("192.0.2.1:22", Some("192.0.2.1")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("[::ffff:192.0.2.3]:445", Some("192.0.2.3")),
            ("192.0.2.1%eth0:68", Some("192.0.2.1")),
            ("192.0.2.9", Some("192.0.2.9")),
            ("example:ssh", None),
            ("*:*", None),
            ("", None),
        ] {
            assert_eq!(address(end).map(|address| address.to_string()).as_deref(), wanted, "{end}");
        }
    }

    #[test]
    fn connections_leave_by_the_answer_then_by_the_routes_then_by_the_own_address() {
        let flow = |local: &str, peer: &str| {
            format!("ESTAB 0 0 {local} {peer}\n\t cubic rto:204 rtt:1/0.5 mss:1448 cwnd:10\n")
        };
        let sockets = format!(
            "$ ss -tin\n{}{}{}",
            flow("192.0.2.7:22", "198.51.100.9:50000"),
            flow("203.0.113.7:22", "203.0.113.9:50001"),
            flow("10.0.0.7:22", "peer:50002"),
        );
        let interfaces = |text: &str| {
            let flows = one(&format!("{text}{sockets}")).0.host.flows.known().unwrap().clone();
            flows.into_iter().map(|flow| flow.interface.known().cloned()).collect::<Vec<_>>()
        };
        let name = |name: &str| Some(name.to_owned());
        let get = "$ ip route get 198.51.100.9\n198.51.100.9 via 192.0.2.1 dev eth5 src 192.0.2.7 uid 0\n    cache\n";
        let table = "$ ip route\ndefault via 192.0.2.1 dev eth0\n203.0.113.0/24 dev eth1 scope link\n";
        let addresses = "$ ip addr\n2: eth7: <UP> mtu 1500\n    inet 203.0.113.7/24 scope global eth7\n";
        assert_eq!(interfaces(""), [None, None, None]);
        assert_eq!(interfaces(get), [name("eth5"), None, None]);
        assert_eq!(interfaces(&format!("{get}{table}")), [name("eth5"), name("eth1"), None]);
        assert_eq!(interfaces(addresses), [None, name("eth7"), None]);
        // Two hops are no choice.
        let two = "$ ip route\ndefault\n\tnexthop via 192.0.2.1 dev eth0 weight 1\n\tnexthop via 192.0.2.2 dev eth1 weight 1\n";
        assert_eq!(interfaces(two)[0], None);
    }
}
