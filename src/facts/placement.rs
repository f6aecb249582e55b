//! Where an interface stands: its node, its children, what it leaves by, and other facts that follow from several readings.

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
        derived("forwarding", Type::Bool, Unit::Plain, "IPv4 or IPv6 packets are forwarded from it", forwarding),
        derived(
            "egress",
            Type::Entity(INTERFACE),
            Unit::Plain,
            "interface by which its packets leave the host: the parent, or by the route to the other end of the tunnel",
            egress,
        ),
        derived(
            "default_route.mtu",
            Type::number(Dim::DATA),
            Unit::Bytes,
            "MTU that the default route by it sets",
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
            "the module's thresholds are not all zero, and no low one lies above a high one",
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
            "interface that leads out: that of the default route, or the only one that may",
            uplink,
        ),
        derived("neighbours.count", Type::PLAIN, Unit::Plain, "IPv4 and IPv6 neighbours", both),
        derived("bare_metal", Type::Bool, Unit::Plain, "neither a virtual machine nor a container", |facts, _| {
            let host = &facts.snapshot().host;
            let from = ["is_guest", "is_container"].iter().flat_map(|path| facts.key(HOST, 0, path)).collect();
            let state = match (host.is_guest.known(), host.is_container.known()) {
                (Some(true), _) | (_, Some(true)) => State::FALSE,
                (Some(false), Some(false)) => State::Known(Value::Bool(true)),
                _ => State::Unknown,
            };
            Derived::of(state, from)
        }),
    ]
}

/// Beginnings of the names that container engines, hypervisors and tunnels give.
const INNER: [&str; 16] = [
    "lo", "docker", "virbr", "lxcbr", "lxdbr", "incusbr", "cni", "podman", "cbr", "br-", "veth", "vnet", "tap", "tun",
    "wg", "flannel",
];

/// The one interface of the default route. Where nobody read of any route: the only one that is neither down nor made for
/// inside.
fn uplink(facts: &Facts<'_>, _: usize) -> Derived {
    let all = &facts.snapshot().interfaces;
    let of_host = || (0..all.len()).filter(|at| all[*at].namespace.is_empty());
    let mut leads: Vec<usize> = Vec::new();
    let mut told = false;
    let mut from = Vec::new();
    for at in of_host() {
        let key = facts.key(INTERFACE, at, "is_default_route");
        match facts.lookup_state(&key) {
            State::Known(Value::Bool(leaves)) => {
                told = true;
                if leaves {
                    leads.push(at);
                    from.extend(key);
                }
            }
            _ => from.extend(key),
        }
    }
    if !told {
        let outer = |at: &usize| {
            let one = &all[*at];
            !INNER.iter().any(|begin| one.name.starts_with(begin))
                && one.link.up.known() != Some(&false)
                && one.stack.master.known().is_none()
                && matches!(
                    one.kind.known(),
                    None | Some(
                        InterfaceKind::Ethernet | InterfaceKind::Wifi | InterfaceKind::Bond | InterfaceKind::Team
                    )
                )
        };
        leads = of_host().filter(outer).collect();
    }
    match leads.as_slice() {
        [only] => Derived::of(State::Known(Value::Entity(Facts::entity(INTERFACE, *only))), from),
        _ => Derived::unknown(from),
    }
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
