//! Where an interface stands: its node, its children, what it leaves by, and other facts that follow from several readings.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::catalogue::{HOST, INTERFACE};
use super::entry::{Entry, derived};
use super::unit::Unit;
use super::{Derived, Facts};
use crate::lang::{Dim, State, Type, Value};
use crate::reading::{Bytes, Reading};
use crate::snapshot::{Interface, InterfaceKind, Route, best_route};

/// Derived facts of an interface.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        derived("numa.node", Type::PLAIN, Unit::Plain, "NUMA node of its PCI function", |facts, index| {
            let from = facts.key(INTERFACE, index, "device");
            match facts.device_of(index) {
                Some(device) => facts.same_as(super::catalogue::DEVICE, device, "numa_node"),
                None => Derived::of(facts.lookup_state(&from), from),
            }
        }),
        derived(
            "channels.used",
            Type::PLAIN,
            Unit::Plain,
            "receive queues in use, combined ones included",
            |facts, index| channels(facts, index, ["channels.combined", "channels.rx"]),
        ),
        derived(
            "queues.counted",
            Type::PLAIN,
            Unit::Plain,
            "receive queues in use; where nobody asked for them, those that the driver's statistics list, if they are few enough to be \
             all in use",
            counted_queues,
        ),
        derived(
            "channels.max",
            Type::PLAIN,
            Unit::Plain,
            "most receive queues, combined ones included",
            |facts, index| channels(facts, index, ["channels.combined_max", "channels.rx_max"]),
        ),
        derived(
            "children",
            Type::list(Type::Entity(INTERFACE)),
            Unit::Plain,
            "interfaces above it: VLANs, macvlans, tunnels",
            children,
        ),
        derived("forwarding", Type::Bool, Unit::Plain, "forwarding of packets: IPv4 or IPv6", forwarding),
        derived(
            "egress",
            Type::Entity(INTERFACE),
            Unit::Plain,
            "outgoing interface: the parent, or by the route to the other end of the tunnel",
            egress,
        ),
        derived(
            "default_route.mtu",
            Type::number(Dim::DATA),
            Unit::Bytes,
            "MTU of the default route",
            default_route_mtu,
        ),
        derived("link.lane_rate", Type::number(Dim::RATE), Unit::BitsPerSecond, "speed of one lane", |facts, index| {
            let link = &facts.snapshot().interfaces[index].link;
            let from = ["link.speed", "link.lanes"].iter().flat_map(|path| facts.key(INTERFACE, index, path)).collect();
            let state = match (link.speed.known(), link.lanes.known()) {
                (Some(speed), Some(lanes)) if *lanes > 0 => {
                    State::Known(Value::Number(speed.0 as f64 / f64::from(*lanes)))
                }
                _ => State::Unknown,
            };
            Derived::of(state, from)
        }),
        derived(
            "module.thresholds_valid",
            Type::Bool,
            Unit::Plain,
            "plausibility of the module's thresholds: not all zero, and no low one above a high one",
            thresholds_valid,
        ),
    ]
}

/// Derived facts of the host.
pub(super) fn host_entries() -> Vec<Entry> {
    let both = |facts: &Facts<'_>, _| {
        let tables = &facts.snapshot().host.neighbours;
        let from = ["neighbours.v4", "neighbours.v6"].iter().flat_map(|path| facts.key(HOST, 0, path)).collect();
        let state = match (tables.v4.known(), tables.v6.known()) {
            (Some(v4), Some(v6)) => State::Known(Value::Number(f64::from(*v4) + f64::from(*v6))),
            _ => State::Unknown,
        };
        Derived::of(state, from)
    };
    vec![
        derived(
            "uplink",
            Type::Entity(INTERFACE),
            Unit::Plain,
            "interface of the default route; where no route was read, the only one that is up and can lead out of the host",
            uplink,
        ),
        derived(
            "shared_networks",
            Type::list(Type::Text),
            Unit::Plain,
            "networks in which more than one interface that is up holds an address; none where the routes were read, which say it better",
            shared_networks,
        ),
        derived("neighbours.count", Type::PLAIN, Unit::Plain, "IPv4 and IPv6 neighbours", both),
        derived(
            "bare_metal",
            Type::Bool,
            Unit::Plain,
            "bare metal: neither a virtual machine nor a container",
            |facts, _| {
                let host = &facts.snapshot().host;
                let from = ["is_guest", "is_container"].iter().flat_map(|path| facts.key(HOST, 0, path)).collect();
                let state = match (host.is_guest.known(), host.is_container.known()) {
                    (Some(true), _) | (_, Some(true)) => State::FALSE,
                    (Some(false), Some(false)) => State::Known(Value::Bool(true)),
                    _ => State::Unknown,
                };
                Derived::of(state, from)
            },
        ),
    ]
}

/// Beginnings of the names that programs give to what stays inside a host, where nobody says what kind it is of.
const INSIDE: &[&str] = &[
    "lo", "docker", "br-", "virbr", "veth", "vnet", "tap", "tun", "cni", "cali", "flannel", "lxc", "lxd", "podman",
    "ifb", "dummy",
];

fn uplink(facts: &Facts<'_>, _: usize) -> Derived {
    let snapshot = facts.snapshot();
    let entity = |at: usize| State::Known(Value::Entity(Facts::entity(INTERFACE, at)));
    let named = |name: &str| facts.topology().interface("", name);
    if let Reading::Known(routes, source) = &snapshot.host.routes {
        let main = |route: &&Route| {
            route.destination == "default"
                && route.table.known().is_none_or(|table| table == "main" || table == "254")
                && route.interfaces.known().is_some_and(|names| !names.is_empty())
        };
        let best = routes.iter().filter(main).min_by_key(|route| {
            let v6 = route.gateway.known().is_some_and(|gateway| gateway.contains(':'));
            (v6, route.metric.known().copied().unwrap_or(0))
        });
        let state = match best.and_then(|route| route.interfaces.known()?.first()) {
            Some(name) => named(name).map_or(State::Unknown, entity),
            None => State::Absent,
        };
        return Derived::of(state, Vec::new()).read_at(Some(*source));
    }
    let up: Vec<usize> = (0..snapshot.interfaces.len())
        .filter(|at| {
            let one = &snapshot.interfaces[*at];
            one.namespace.is_empty() && one.link.up.known() != Some(&false) && may_lead_out(one)
        })
        .collect();
    let from = up.iter().flat_map(|at| facts.key(INTERFACE, *at, "link.up")).collect();
    match up.as_slice() {
        [only] if snapshot.interfaces[*only].link.up.known() == Some(&true) => {
            let name = &snapshot.interfaces[*only].name;
            Derived::of(entity(*only), from).assuming(vec![format!("{name} leads out of the host")])
        }
        _ => Derived::unknown(from),
    }
}

/// The network of an address with its prefix: `192.0.2.0/24`; none of an address alone, or one that is only good on its link.
fn network(address: &str) -> Option<String> {
    let (text, length) = address.split_once('/')?;
    let length: u8 = length.parse().ok()?;
    match text.parse().ok()? {
        IpAddr::V4(one) => {
            let good = (1..=30).contains(&length) && !one.is_loopback() && !one.is_link_local();
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0);
            good.then(|| format!("{}/{length}", std::net::Ipv4Addr::from_bits(one.to_bits() & mask)))
        }
        IpAddr::V6(one) => {
            let good = (1..=126).contains(&length) && !one.is_loopback() && !one.is_unicast_link_local();
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0);
            good.then(|| format!("{}/{length}", std::net::Ipv6Addr::from_bits(one.to_bits() & mask)))
        }
    }
}

fn shared_networks(facts: &Facts<'_>, _: usize) -> Derived {
    let all = &facts.snapshot().interfaces;
    let mut holders: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut from = Vec::new();
    let mut read = false;
    for (at, one) in all.iter().enumerate() {
        let Some(addresses) = one.addresses.known() else { continue };
        read = true;
        from.extend(facts.key(INTERFACE, at, "addresses"));
        let virtual_one = matches!(
            one.kind.known(),
            Some(InterfaceKind::Loopback | InterfaceKind::Veth | InterfaceKind::Dummy | InterfaceKind::Tun)
        );
        let counts = one.namespace.is_empty() && one.link.up.known() == Some(&true) && !virtual_one;
        if counts && one.stack.master.known().is_none() {
            for network in addresses.iter().filter_map(|address| network(address)) {
                holders.entry(network).or_default().insert(at);
            }
        }
    }
    // The table of routes says it better.
    if facts.snapshot().host.routes.known().is_some() {
        return Derived::of(State::Known(Value::List(Vec::new().into())), facts.key(HOST, 0, "routes"));
    }
    if !read {
        return Derived::unknown(from);
    }
    let shared = holders.into_iter().filter(|(_, held)| held.len() > 1).map(|(network, _)| Value::Text(network.into()));
    Derived::of(State::Known(Value::List(shared.collect())), from)
        .assuming(vec!["routes as the addresses make them".to_owned()])
}

/// True for an interface by which packets may leave the host.
fn may_lead_out(interface: &Interface) -> bool {
    use InterfaceKind::{Bridge, Dummy, Ethernet, Loopback, Tun, Veth};
    let member = interface.stack.master.known().is_some();
    let by_kind = match interface.kind.known() {
        Some(Loopback | Bridge | Veth | Tun | Dummy) => false,
        Some(Ethernet) | None => !INSIDE.iter().any(|start| interface.name.starts_with(start)),
        Some(_) => true,
    };
    by_kind && !member && !interface.name.starts_with(crate::snapshot::STAND_IN)
}

/// The sum of two kinds of queues; a kind that the driver lacks counts nothing.
fn channels(facts: &Facts<'_>, index: usize, paths: [&str; 2]) -> Derived {
    let from: Vec<_> = paths.iter().flat_map(|path| facts.key(INTERFACE, index, path)).collect();
    let mut sum = 0.0;
    let mut known = false;
    for key in &from {
        match facts.lookup(*key).state {
            State::Known(Value::Number(number)) => {
                sum += number;
                known = true;
            }
            State::Absent => {}
            _ => return Derived::unknown(from),
        }
    }
    Derived::of(if known { State::Known(Value::Number(sum)) } else { State::Absent }, from)
}

/// Drivers that list many queues list those that are not in use, too.
const FEW_QUEUES: usize = 16;

fn counted_queues(facts: &Facts<'_>, index: usize) -> Derived {
    let used = facts.same_as(INTERFACE, index, "channels.used");
    let listed = facts.count_instances(index, "queue_rx_packets").len();
    if matches!(used.state, State::Known(_)) || !(2..=FEW_QUEUES).contains(&listed) {
        return used;
    }
    Derived::of(State::Known(Value::Number(listed as f64)), used.from)
}

fn children(facts: &Facts<'_>, index: usize) -> Derived {
    let all = &facts.snapshot().interfaces;
    let own = &all[index];
    let above = |other: &Interface| {
        other.namespace == own.namespace && other.stack.parent.known().is_some_and(|name| *name == own.name)
    };
    let list = all.iter().enumerate().filter(|(_, other)| above(other));
    let from = facts.key(INTERFACE, index, "stack.parent");
    Derived::of(
        State::Known(Value::List(list.map(|(at, _)| Value::Entity(Facts::entity(INTERFACE, at))).collect())),
        from,
    )
}

/// A key of /proc/sys/net holds the name of an interface; a dot in it is written as a slash.
fn forwarding(facts: &Facts<'_>, index: usize) -> Derived {
    if let Reading::Known(forwards, source) = &facts.snapshot().interfaces[index].forwarding {
        return Derived::fact(Value::Bool(*forwards)).read_at(Some(*source));
    }
    let Reading::Known(all, source) = &facts.snapshot().host.sysctl else { return Derived::none() };
    let name = facts.snapshot().interfaces[index].name.replace('.', "/");
    let read = |family: &str| all.get(&format!("net.{family}.conf.{name}.forwarding")).map(|value| value.trim() != "0");
    let state = match (read("ipv4"), read("ipv6")) {
        (Some(true), _) | (_, Some(true)) => State::Known(Value::Bool(true)),
        (Some(false), Some(false)) => State::FALSE,
        // A host without IPv6 has no such key.
        (Some(false), None) => State::FALSE,
        _ => State::Unknown,
    };
    Derived::of(state, Vec::new()).read_at(Some(*source))
}

fn egress(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    let parent = facts.key(INTERFACE, index, "stack.parent");
    if interface.stack.parent.known().is_some() {
        return facts.same_as(INTERFACE, index, "parent");
    }
    let mut from = facts.key(INTERFACE, index, "tunnel.remote");
    match &interface.tunnel.remote {
        Reading::Known(remote, _) => {
            let routes = facts.snapshot().host.routes.known();
            let found = routes.and_then(|routes| best_route(routes, remote)).and_then(|route| {
                let name = route.interfaces.known()?.first()?;
                facts.topology().interface(&interface.namespace, name)
            });
            let state = found.map_or(State::Unknown, |at| State::Known(Value::Entity(Facts::entity(INTERFACE, at))));
            Derived::of(state, from)
        }
        Reading::Absent(_) if interface.stack.parent.is_absent() => Derived::absent(parent),
        _ => {
            from.extend(parent);
            Derived::unknown(from)
        }
    }
}

/// The best default route of the table leaves by an interface: that of IPv4 where there is one.
pub(super) fn is_default_route(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    let Reading::Known(routes, source) = &facts.snapshot().host.routes else { return Derived::none() };
    if !interface.namespace.is_empty() {
        return Derived::none();
    }
    let default = |route: &&Route| {
        let main = route.table.known().is_none_or(|table| table == "main" || table == "254");
        main && route.destination == "default"
    };
    // IPv4 comes first, then the least metric; several may be as good.
    let rank = |route: &Route| {
        let v6 = route.gateway.known().is_some_and(|gateway| gateway.contains(':'));
        (v6, route.metric.known().copied().unwrap_or(0))
    };
    let best = routes.iter().filter(default).map(rank).min();
    let leaves = routes
        .iter()
        .filter(default)
        .filter(|route| Some(rank(route)) == best)
        .any(|route| route.interfaces.known().is_some_and(|names| names.contains(&interface.name)));
    Derived::fact(Value::Bool(leaves)).read_at(Some(*source))
}

fn default_route_mtu(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    let Reading::Known(routes, source) = &facts.snapshot().host.routes else { return Derived::none() };
    let by_it = |route: &&Route| {
        route.destination == "default" && route.interfaces.known().is_some_and(|names| names.contains(&interface.name))
    };
    let Some(route) = routes.iter().find(by_it) else {
        return Derived::absent(Vec::new()).read_at(Some(*source));
    };
    let state = match &route.mtu {
        Reading::Known(Bytes(bytes), _) => State::Known(Value::Number(*bytes as f64 * 8.0)),
        Reading::Absent(_) => State::Absent,
        Reading::Unknown(_) => State::Unknown,
    };
    Derived::of(state, Vec::new()).read_at(Some(*source))
}

fn thresholds_valid(facts: &Facts<'_>, index: usize) -> Derived {
    let limits = &facts.snapshot().interfaces[index].module.thresholds;
    let from = ["module.rx_power_low_warn", "module.rx_power_high_warn", "module.temp_high_warn"]
        .iter()
        .flat_map(|path| facts.key(INTERFACE, index, path))
        .collect();
    let (low, high) = (&limits.rx_power_low_warn, &limits.rx_power_high_warn);
    let state = match (low.known(), high.known()) {
        (Some(low), Some(high)) => {
            // A threshold of 0 mW is written as the floor of the scale.
            State::Known(Value::Bool(low.0 < high.0 && high.0 > -40.0))
        }
        _ => match limits.temperature_high_warn.known() {
            Some(limit) => State::Known(Value::Bool(limit.0 > 0.0)),
            None if low.is_absent() && high.is_absent() => State::FALSE,
            None => State::Unknown,
        },
    };
    Derived::of(state, from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;
    use crate::snapshot::Snapshot;

    #[test]
    fn the_uplink_is_that_of_the_default_route_or_the_only_one() {
        let name_of = |host: &str, interfaces: &str| {
            let text =
                format!(r#"{{"schema": "netdoctor.snapshot/1", "host": {{{host}}}, "interfaces": [{interfaces}]}}"#);
            let snapshot = Snapshot::from_json(&text).unwrap();
            let facts = Facts::new(&snapshot, Knowledge::embedded());
            let found = uplink(&facts, 0);
            let name = match &found.state {
                State::Known(Value::Entity(one)) => Some(snapshot.interfaces[one.index as usize].name.clone()),
                _ => None,
            };
            (name, found.assumed.len())
        };
        let up = |name: &str| format!(r#"{{"name": "{name}", "link": {{"up": [true, "assumed"]}}}}"#);
        let all = [up("docker0"), up("eth0"), up("eth1"), up("lo")].join(",");
        let route = |metric: u32, name: &str| {
            format!(
                r#"{{"destination": "default", "interfaces": [["{name}"], "assumed"], "metric": [{metric}, "assumed"]}}"#
            )
        };
        let routes = format!(r#""routes": [[{}, {}], "assumed"]"#, route(100, "eth0"), route(50, "eth1"));
        assert_eq!(name_of(&routes, &all), (Some("eth1".into()), 0));
        assert_eq!(name_of("", &all), (None, 0), "two could be it");
        let one = [up("docker0"), up("eth0"), up("lo")].join(",");
        assert_eq!(name_of("", &one), (Some("eth0".into()), 1));
        assert_eq!(name_of(r#""routes": [[], "assumed"]"#, &one), (None, 0), "no way out");
        let unread = [up("eth0"), r#"{"name": "eth1"}"#.into()].join(",");
        assert_eq!(name_of("", &unread), (None, 0), "eth1 may be up, too");
    }

    #[test]
    fn networks_of_addresses() {
        assert_eq!(network("192.0.2.17/24").as_deref(), Some("192.0.2.0/24"));
        assert_eq!(network("198.51.100.130/25").as_deref(), Some("198.51.100.128/25"));
        assert_eq!(network("2001:db8::5/64").as_deref(), Some("2001:db8::/64"));
        for none in ["192.0.2.1", "192.0.2.1/32", "169.254.3.4/16", "fe80::1/64", "127.0.0.1/8", "192.0.2.1/99", "x/24"]
        {
            assert_eq!(network(none), None, "{none}");
        }
        let one = |name: &str, address: &str| {
            format!(
                r#"{{"name": "{name}", "link": {{"up": [true, "assumed"]}}, "addresses": [["{address}"], "assumed"]}}"#
            )
        };
        let shared = |interfaces: &[String]| {
            let text = format!(r#"{{"schema": "netdoctor.snapshot/1", "interfaces": [{}]}}"#, interfaces.join(","));
            let snapshot = Snapshot::from_json(&text).unwrap();
            match shared_networks(&Facts::new(&snapshot, Knowledge::embedded()), 0).state {
                State::Known(Value::List(all)) => all.len(),
                _ => 99,
            }
        };
        assert_eq!(shared(&[one("eth0", "192.0.2.5/24"), one("eth1", "192.0.2.6/24")]), 1);
        assert_eq!(shared(&[one("eth0", "192.0.2.5/24"), one("eth1", "192.0.3.6/24")]), 0);
        assert_eq!(shared(&[r#"{"name": "eth0"}"#.into()]), 99);
    }
}
