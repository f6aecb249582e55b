//! Routes: the table, and which interface carries the default route.

use std::collections::BTreeSet;

use super::super::{Intake, is_interface_name};
use super::{asked, complaint, document};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ip::json::Document;
use crate::formats::ip::route;
use crate::reading::{Bytes, Reading};
use crate::snapshot::Route;

/// A route, whichever tool printed it.
#[derive(Debug, Default)]
pub(in crate::capture::tools) struct Way {
    pub destination: String,
    pub v6: bool,
    /// Metric; 0 where none is printed.
    pub metric: u32,
    /// Leads to everywhere, by the main table.
    pub is_default: bool,
    pub devices: Vec<At<String>>,
    pub gateway: Option<String>,
    /// Table; `main` where none is printed.
    pub table: String,
    pub source: Option<String>,
    pub mtu: Option<u32>,
    pub initcwnd: Option<u32>,
    pub initrwnd: Option<u32>,
    /// True for routes to addresses of this host and to broadcast addresses.
    pub is_own: bool,
    pub line: u32,
}

impl Way {
    fn of(route: route::Route) -> Self {
        let text = |key: &str| route.words.after(key).map(|at| at.value.to_owned());
        let number = |key: &str| route.words.number(key).map(|at| at.value);
        Self {
            v6: route.is_v6(),
            metric: route.metric(),
            is_default: route.is_default(),
            gateway: text("via").map(|via| if via == "inet6" { text("inet6").unwrap_or_default() } else { via }),
            table: text("table").unwrap_or_else(|| "main".to_owned()),
            source: text("src"),
            mtu: route.mtu().map(|(mtu, _)| mtu),
            initcwnd: number("initcwnd"),
            initrwnd: number("initrwnd"),
            is_own: route.kind != "unicast",
            line: route.line,
            destination: route.destination,
            devices: route.devices,
        }
    }
}

pub(super) fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let asked = intake.command.and_then(asked).unwrap_or_default();
    if let Some(namespace) = asked.namespace {
        namespace.clone_into(&mut intake.site.namespace);
    }
    if asked.changes {
        return complaint(cursor, intake);
    }
    let routes = match document(cursor) {
        Some(Document::Routes(routes)) => routes,
        _ => route::parse(cursor),
    };
    // What `get` answers is the choice among the routes, not one of them.
    if intake.command.is_some_and(|command| command.has("get")) {
        choices(intake, &routes);
    } else {
        let complete = intake.command.is_some() && !asked.picks && asked.device.is_none() && !intake.is_filtered();
        let ways = routes.into_iter().map(Way::of).collect::<Vec<_>>();
        put(intake, &ways, complete);
    }
    complaint(cursor, intake);
}

/// Keeps the answers of `ip route get` about packets of this host: those that name a mark, a source or an interface are
/// about others.
fn choices(intake: &mut Intake<'_>, routes: &[route::Route]) {
    let special = |command: &super::super::super::command::Command| {
        ["mark", "from", "iif", "vrf", "oif", "uid"].iter().any(|word| command.has(word))
    };
    if !intake.site.namespace.is_empty() || intake.command.is_some_and(special) {
        return;
    }
    for route in routes.iter().filter(|route| route.kind == "unicast") {
        if let [device] = route.devices.as_slice()
            && is_interface_name(&device.value)
        {
            let source = intake.site.source(device.line);
            intake.site.ways.add(&route.destination, &device.value, source);
        }
    }
}

/// Takes routes. Only a list of all of them says what is not among them.
pub(in crate::capture::tools) fn put(intake: &mut Intake<'_>, ways: &[Way], complete: bool) {
    default_route(intake, ways, complete);
    if complete && intake.site.namespace.is_empty() {
        table(intake, ways);
    }
}

/// Marks the interfaces by which the default route leaves: IPv4 first, IPv6 where there is none. A list of all routes
/// also says of the other interfaces that it does not leave by them.
fn default_route(intake: &mut Intake<'_>, ways: &[Way], complete: bool) {
    let best = ways.iter().filter(|way| way.is_default).map(|way| (way.v6, way.metric)).min();
    let Some(best) = best else { return };
    let known = intake.site.snapshot.interfaces.iter().any(|i| i.session.is_default_route.known() == Some(&true));
    if best.0 && known {
        return;
    }
    let chosen = |name: &str| {
        let mut best = ways.iter().filter(|way| way.is_default && (way.v6, way.metric) == best);
        best.any(|way| way.devices.iter().any(|device| device.value == name))
    };
    for device in ways.iter().flat_map(|way| &way.devices).filter(|device| is_interface_name(&device.value)) {
        let leaves = chosen(&device.value);
        // The list of IPv6 says nothing of where IPv4 leaves.
        if leaves || complete && !best.0 {
            intake.site.put(&device.value, |i| &mut i.session.is_default_route, At::new(leaves, device.line));
        }
    }
}

/// The table of the host. A list of one family takes the place of what there was of it.
fn table(intake: &mut Intake<'_>, ways: &[Way]) {
    let Some(first) = ways.first() else { return };
    let families: BTreeSet<bool> = ways.iter().map(|way| way.v6).collect();
    let of_v6 = |route: &Route| {
        route.destination.contains(':') || route.gateway.known().is_some_and(|gateway| gateway.contains(':'))
    };
    let held = intake.site.snapshot.host.routes.known().unwrap_or(&intake.site.routes_v6);
    let mut routes: Vec<Route> = held.iter().filter(|route| !families.contains(&of_v6(route))).cloned().collect();
    let link_local = |way: &Way| way.destination.starts_with("fe80::") && way.gateway.is_none();
    let is_kept = |way: &&Way| !way.is_own && !matches!(way.table.as_str(), "local" | "255") && !link_local(way);
    for way in ways.iter().filter(is_kept) {
        let source = intake.site.source(way.line);
        let or_absent =
            |value: Option<u32>| value.map_or(Reading::Absent(source), |value| Reading::Known(value, source));
        let text = |value: &Option<String>| match value {
            Some(value) => Reading::Known(value.clone(), source),
            None => Reading::Absent(source),
        };
        routes.push(Route {
            destination: if way.is_default { "default".to_owned() } else { way.destination.clone() },
            interfaces: Reading::Known(way.devices.iter().map(|device| device.value.clone()).collect(), source),
            gateway: text(&way.gateway),
            table: Reading::Known(way.table.clone(), source),
            metric: Reading::Known(way.metric, source),
            source: text(&way.source),
            mtu: or_absent(way.mtu).map(|mtu| Bytes(u64::from(*mtu))),
            initcwnd: or_absent(way.initcwnd),
            initrwnd: or_absent(way.initrwnd),
        });
    }
    // The table of IPv6 alone would say that there is no way to an address of IPv4.
    if families.contains(&false) || intake.site.snapshot.host.routes.known().is_some() {
        intake.site.put_host(|host| &mut host.routes, At::new(routes, first.line));
    } else {
        intake.site.routes_v6 = routes;
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;

    #[test]
    fn the_default_route_and_the_table() {
        let text = "$ ip route\ndefault via 192.0.2.1 dev eth0 proto dhcp metric 100 \ndefault via 198.51.100.1 dev eth1 metric 200 mtu 1400\n\
            192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.7 metric 100 \nblackhole 203.0.113.0/24 \n$ ip -6 route\n\
            default via fe80::1 dev eth1 metric 1024 pref medium\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let leaves = |name: &str| snapshot.interface(name).unwrap().session.is_default_route.known().copied();
        assert_eq!((leaves("eth0"), leaves("eth1")), (Some(true), Some(false)));
        let routes = snapshot.host.routes.known().unwrap();
        assert_eq!(routes.len(), 4);
        assert_eq!(routes[0].gateway.known().unwrap(), "192.0.2.1");
        assert_eq!((routes[1].mtu.known().unwrap().0, routes[1].metric.known()), (1400, Some(&200)));
        assert!(routes[2].gateway.is_absent() && routes[2].initcwnd.is_absent());
    }

    #[test]
    fn a_part_of_the_table_is_not_the_table() {
        for text in [
            "$ ip route | grep default\ndefault via 192.0.2.1 dev eth0\n",
            "$ ip route get 203.0.113.9\n203.0.113.9 via 192.0.2.1 dev eth0 src 192.0.2.7 uid 0\n    cache\n",
            "default via 192.0.2.1 dev eth0\n",
        ] {
            let (snapshot, understood) = one(text);
            assert!(snapshot.host.routes.is_unasked() && understood.left.is_empty(), "{text}");
        }
        let (snapshot, _) = one(
            "$ route -n\nKernel IP routing table\nDestination     Gateway         Genmask         Flags Metric Ref    Use Iface\n\
            0.0.0.0         192.0.2.1       0.0.0.0         UG    0      0        0 eth2\n\
            192.0.2.0       0.0.0.0         255.255.255.0   U     0      0        0 eth0\n",
        );
        let routes = snapshot.host.routes.known().unwrap();
        assert_eq!((routes[0].destination.as_str(), routes[1].destination.as_str()), ("default", "192.0.2.0/24"));
        assert_eq!(snapshot.interface("eth2").unwrap().session.is_default_route.known(), Some(&true));
        assert_eq!(snapshot.interface("eth0").unwrap().session.is_default_route.known(), Some(&false));
    }

    #[test]
    fn rules_and_neighbours_of_the_host() {
        let text = "$ ip rule\n0:\tfrom all lookup local\n100:\tfrom 192.0.2.7 lookup 100\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n\
            $ ip neigh\n192.0.2.1 dev eth0 lladdr 02:00:00:00:00:05 STALE\n192.0.2.9 dev eth0 FAILED\nfe80::1 dev eth0 lladdr 02:00:00:00:00:05 router REACHABLE\n\
            $ ip neigh show dev eth1\n192.0.2.8 dev eth1 FAILED\n";
        let (snapshot, _) = one(text);
        let host = &snapshot.host;
        assert_eq!(host.rules.known().unwrap(), &["100: from 192.0.2.7 lookup 100"]);
        let neighbours = &host.neighbours;
        assert_eq!(
            (neighbours.v4.known(), neighbours.v6.known(), neighbours.failed.known()),
            (Some(&2), Some(&1), Some(&1))
        );
    }
}
