//! Facts of scope `iface`.

use super::catalogue::{DEVICE, INTERFACE};
use super::entry::{Entry, derived, facts, inferred};
use super::fact::Fact;
use super::unit::Unit;
use super::{Derived, Facts, ceilings};
use crate::lang::{Dim, State, Type, Value};
use crate::reading::{BitsPerSecond, Bytes, Reading};
use crate::snapshot::{Duplex, Interface, InterfaceKind, LinkModes, OperState, PortType};

pub(super) fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = readings()
        .into_iter()
        .map(|entry| if entry.path == "port.physical" { inferred(entry, is_physical) } else { entry })
        .collect();
    entries.extend([
        derived("name", Type::Text, Unit::Plain, "kernel name of the interface", |facts, index| {
            Derived::fact(facts.snapshot().interfaces[index].name.to_value())
        }),
        derived("device", Type::Entity(DEVICE), Unit::Plain, "PCI function of the interface", device),
        derived("parent", Type::Entity(INTERFACE), Unit::Plain, "interface below this one", |facts, index| {
            facts.reference(index, "stack.parent", &facts.snapshot().interfaces[index].stack.parent)
        }),
        derived(
            "master",
            Type::Entity(INTERFACE),
            Unit::Plain,
            "bond, bridge, team or VRF that it is a member of",
            |facts, index| facts.reference(index, "stack.master", &facts.snapshot().interfaces[index].stack.master),
        ),
        derived("peer", Type::Entity(INTERFACE), Unit::Plain, "other end of a veth or netkit pair", |facts, index| {
            facts.reference(index, "stack.peer", &facts.snapshot().interfaces[index].stack.peer)
        }),
        derived(
            "members",
            Type::list(Type::Entity(INTERFACE)),
            Unit::Plain,
            "members of a bond, bridge or team",
            members,
        ),
    ]);
    let rate = Type::number(Dim::RATE);
    for (path, doc, get) in ceilings::INTERFACE_FACTS {
        entries.push(derived(path, rate.clone(), Unit::BitsPerSecond, doc, *get));
    }
    entries
}

fn readings() -> Vec<Entry> {
    facts! { Interface, Interface;
        "index" = index: u32, "ip link show {if}", "interface index";
        "kind" = kind: InterfaceKind, "ip -d link show {if}", "what the interface is";
        "alias" = alias: String, "ip link show {if}", "alias that an administrator gave";
        "address" = address: String, "ip link show {if}", "hardware address";
        "permanent_address" = permanent_address: String, "ethtool -P {if}", "hardware address that the device was made with";
        "bus_address" = device: crate::snapshot::PciAddress, "ethtool -i {if}", "address of its PCI function";
        "admin_up" = admin_up: bool, "ip link show {if}", "administratively up";
        "oper_state" = oper_state: OperState, "ip link show {if}", "operational state";
        "mtu" = mtu: Bytes, "ip link show {if}", "largest IP packet";
        "mtu_min" = mtu_min: Bytes, "ip -d link show {if}", "smallest MTU that the driver takes";
        "mtu_max" = mtu_max: Bytes, "ip -d link show {if}", "largest MTU that the driver takes";
        "txqueuelen" = txqueuelen: u32 as Packets, "ip link show {if}", "length of the transmit queue";
        "vlan_tags" = vlan_tags: u32, "ip -d link show {if}", "VLAN tags that its frames carry";
        "driver" = driver.name: String, "ethtool -i {if}", "driver";
        "driver_version" = driver.version: String, "ethtool -i {if}", "driver version";
        "firmware" = driver.firmware: String, "ethtool -i {if}", "firmware version";
        "bus_info" = driver.bus_info: String, "ethtool -i {if}", "bus address as the driver spells it";
        "port.physical" = port.physical: bool, "ethtool -i {if}", "a hardware port: read, or known by its driver";
        "port.type" = port.connector: PortType, "ethtool {if}", "connector";
        "link.up" = link.up: bool, "ip link show {if}", "the link passes packets";
        "link.speed" = link.speed: BitsPerSecond, "ethtool {if}", "negotiated speed";
        "link.duplex" = link.duplex: Duplex, "ethtool {if}", "negotiated duplex mode";
        "link.autoneg" = link.autoneg: bool, "ethtool {if}", "autonegotiation is on";
        "link.autoneg_supported" = link.autoneg_supported: bool, "ethtool {if}", "the port can negotiate";
        "link.lanes" = link.lanes: u32 as Lanes, "ethtool {if}", "lanes in use";
        "link.supported" = link.supported: LinkModes, "ethtool {if}", "modes that the port supports";
        "link.advertised" = link.advertised: LinkModes, "ethtool {if}", "modes that this end offers";
        "link.partner" = link.partner: LinkModes, "ethtool {if}", "modes that the link partner offers";
        "link.carrier_down" = link.carrier_down: u64, "cat /sys/class/net/{if}/carrier_down_count", "times that the carrier was lost";
        "ring.rx" = ring.rx: u32 as Descriptors, "ethtool -g {if}", "receive ring in use";
        "ring.rx_max" = ring.rx_max: u32 as Descriptors, "ethtool -g {if}", "largest receive ring";
        "ring.tx" = ring.tx: u32 as Descriptors, "ethtool -g {if}", "transmit ring in use";
        "ring.tx_max" = ring.tx_max: u32 as Descriptors, "ethtool -g {if}", "largest transmit ring";
        "pause.autoneg" = pause.autoneg: bool, "ethtool -a {if}", "flow control is negotiated";
        "pause.rx" = pause.rx: bool, "ethtool -a {if}", "this end obeys pause frames";
        "pause.tx" = pause.tx: bool, "ethtool -a {if}", "this end sends pause frames";
        "stack.parent" = stack.parent: String, "ip -d link show {if}", "name of the interface below this one";
        "stack.master" = stack.master: String, "ip link show {if}", "name of the bond, bridge, team or VRF above";
        "stack.members" = stack.members: Vec<String>, "ip link show master {if}", "names of the members";
        "stack.peer" = stack.peer: String, "ip link show {if}", "name of the other end of the pair";
        "is_session" = session.is_session: bool, "echo $SSH_CONNECTION", "the user's own session runs over it";
        "is_default_route" = session.is_default_route: bool, "ip route show default", "the default route leaves by it";
    }
}

fn device(facts: &Facts<'_>, index: usize) -> Derived {
    let from = facts.key(INTERFACE, index, "bus_address");
    match facts.snapshot().interfaces[index].device {
        Reading::Known(address, _) => match facts.topology().device(address) {
            Some(device) => Derived::of(State::Known(Value::Entity(Facts::entity(DEVICE, device))), from),
            None => Derived::of(State::Unknown, from),
        },
        Reading::Absent(_) => Derived::of(State::Absent, from),
        Reading::Unknown(_) => Derived::of(State::Unknown, from),
    }
}

fn members(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    let from = facts.key(INTERFACE, index, "stack.members");
    let state = match &interface.stack.members {
        Reading::Known(names, _) => {
            let found: Option<Vec<Value>> = names
                .iter()
                .map(|name| facts.topology().interface(&interface.namespace, name))
                .map(|member| member.map(|member| Value::Entity(Facts::entity(INTERFACE, member))))
                .collect();
            found.map_or(State::Unknown, |members| State::Known(Value::List(members.into())))
        }
        Reading::Absent(_) => State::Absent,
        Reading::Unknown(_) => State::Unknown,
    };
    Derived::of(state, from)
}

/// A positive test: the driver drives hardware. A port type alone proves nothing.
fn is_physical(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    match interface.kind.known() {
        Some(InterfaceKind::Ethernet | InterfaceKind::Wifi | InterfaceKind::Infiniband) | None => {}
        Some(_) => return Derived::of(State::Known(Value::Bool(false)), facts.key(INTERFACE, index, "kind")),
    }
    let from = facts.key(INTERFACE, index, "driver");
    let known = interface.driver.name.known().and_then(|driver| facts.knowledge().is_hardware(driver));
    Derived::of(known.map_or(State::Unknown, |physical| State::Known(Value::Bool(physical))), from)
}
