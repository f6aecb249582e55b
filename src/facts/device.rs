//! Facts of scope `device` (a PCI function of class network) and `pcie_link`.

use super::catalogue::{DEVICE, EVENT, INTERFACE, LINK, MEASUREMENT};
use super::entry::{Entry, derived, facts};
use super::unit::Unit;
use super::{Derived, Facts, ceilings, events, measurements, told};
use crate::lang::{Dim, Key, State, Type, Value, Words};
use crate::reading::{Bytes, Gigatransfers, Reading};
use crate::snapshot::{PciAddress, PciDevice, PcieLink, PcieRole};

/// PCI base classes by the PCI code and ID assignment specification.
static CLASSES: Words = Words {
    name: "PCI class",
    words: &[
        "unclassified",
        "storage",
        "network",
        "display",
        "multimedia",
        "memory",
        "bridge",
        "communication",
        "peripheral",
        "input",
        "docking",
        "processor",
        "serial_bus",
        "wireless",
        "other",
    ],
    open: false,
};

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = readings();
    entries.extend(path_entries());
    entries.extend(told::of_device());
    entries.extend(identity_entries());
    entries
}

fn readings() -> Vec<Entry> {
    facts! { Device, PciDevice;
        "class_code" = class: u16, "lspci -n -s {bdf}", "base class and subclass";
        "id" = id: String, "lspci -nn -s {bdf}", "vendor, device and subsystem ids";
        "name" = name: String, "lspci -s {bdf}", "name out of the PCI id list";
        "driver" = driver: String, "lspci -k -s {bdf}", "bound driver";
        "numa_node" = numa_node: u32, "cat /sys/bus/pci/devices/{bdf}/numa_node", "NUMA node";
        "physical_function" = physical_function: PciAddress, "ls -l /sys/bus/pci/devices/{bdf}/physfn", "physical function";
        "iommu" = iommu: String, "cat /sys/bus/pci/devices/{bdf}/iommu_group/type", "type of the IOMMU domain";
        "power_state" = power_state: String, "cat /sys/bus/pci/devices/{bdf}/power_state", "power state";
        "driver_override" = driver_override: String, "cat /sys/bus/pci/devices/{bdf}/driver_override", "driver override: bound by name";
        "pcie.aspm" = pcie.aspm: Vec<String>, "sudo lspci -vvv -s {bdf}", "active state power management states that are enabled";
        "pcie.mps" = pcie.mps: Bytes, "sudo lspci -vvv -s {bdf}", "maximum payload size in use";
        "pcie.mps_supported" = pcie.mps_supported: Bytes, "sudo lspci -vvv -s {bdf}", "largest payload size that it supports";
        "pcie.mrrs" = pcie.mrrs: Bytes, "sudo lspci -vvv -s {bdf}", "maximum read request size";
        "pcie.relaxed_ordering" = pcie.relaxed_ordering: bool, "sudo lspci -vvv -s {bdf}", "relaxed ordering: enabled";
        "pcie.virtual_root" = pcie.virtual_root: bool, "lspci -t", "kind of root bus: emulated by a hypervisor";
    }
}

fn identity_entries() -> Vec<Entry> {
    vec![
        derived("address", Type::Text, Unit::Plain, "PCI address", |facts, index| {
            Derived::fact(Value::Text(facts.snapshot().devices[index].address.to_string().into()))
        }),
        derived("class", Type::Word(&CLASSES), Unit::Plain, "base class", class),
        derived(
            "ports",
            Type::list(Type::Entity(INTERFACE)),
            Unit::Plain,
            "network interfaces of the card, all functions",
            ports,
        ),
        derived(
            "log",
            Type::list(Type::Entity(EVENT)),
            Unit::Plain,
            "events of the kernel log that name it",
            |facts, index| events::list(facts, DEVICE, index),
        ),
        derived(
            "measured",
            Type::list(Type::Entity(MEASUREMENT)),
            Unit::Plain,
            "results measured over its ports",
            |facts, index| measurements::list(facts, Some(&facts.topology().card_ports(index))),
        ),
        derived("pcie.link", Type::Entity(LINK), Unit::Plain, "its own PCIe link", |facts, index| {
            let links = links(facts, index);
            let first = match &links.state {
                State::Known(Value::List(all)) => all.first().cloned(),
                _ => None,
            };
            Derived { state: first.map_or(links.state.clone(), State::Known), ..links }
        }),
        derived(
            "is_primary",
            Type::Bool,
            Unit::Plain,
            "rank among the functions of its card: the first one speaks for it",
            |facts, index| Derived::fact(Value::Bool(facts.topology().card(index).first() == Some(&index))),
        ),
        derived(
            "pcie.links",
            Type::list(Type::Entity(LINK)),
            Unit::Plain,
            "links from the device up to the root port",
            links,
        ),
    ]
}

fn path_entries() -> Vec<Entry> {
    let rate = Type::number(Dim::RATE);
    vec![
        derived(
            "pcie.path.narrowest",
            Type::Entity(LINK),
            Unit::Plain,
            "link of the path that carries least",
            ceilings::narrowest,
        ),
        derived(
            "pcie.path.raw",
            rate.clone(),
            Unit::BitsPerSecond,
            "rate of the narrowest link after line encoding",
            ceilings::raw,
        ),
        derived(
            "pcie.path.lo",
            rate.clone(),
            Unit::BitsPerSecond,
            "least TCP payload that the path carries",
            |facts, index| ceilings::path(facts, index, |ceiling| ceiling.lo_bps),
        ),
        derived(
            "pcie.path.typical",
            rate.clone(),
            Unit::BitsPerSecond,
            "typical TCP payload that the path carries",
            |facts, index| ceilings::path(facts, index, |ceiling| ceiling.typical_bps),
        ),
        derived("pcie.path.hi", rate, Unit::BitsPerSecond, "most TCP payload that the path carries", |facts, index| {
            ceilings::path(facts, index, |ceiling| ceiling.hi_bps)
        }),
        derived(
            "pcie.path.range",
            Type::Text,
            Unit::Plain,
            "range of TCP payload that the path carries, in words",
            ceilings::range,
        ),
        derived(
            "pcie.path.fewer_lanes",
            Type::Entity(LINK),
            Unit::Plain,
            "first link of the path that runs with fewer lanes than both of its ends have",
            |facts, index| below_both_ends(facts, index, ["width", "lower_width_max", "upper_width_max"]),
        ),
        derived(
            "pcie.path.lower_speed",
            Type::Entity(LINK),
            Unit::Plain,
            "first link of the path that runs at a lower speed than both of its ends can",
            |facts, index| below_both_ends(facts, index, ["speed", "lower_speed_max", "upper_speed_max"]),
        ),
        derived(
            "pcie.path.assumed",
            Type::PLAIN,
            Unit::Plain,
            "inputs of the path's ceiling that were assumed",
            |facts, index| ceilings::path(facts, index, |ceiling| ceiling.assumed.len() as f64),
        ),
    ]
}

/// The first link of which the first fact is below both others; absent where none is, unknown where one could be.
fn below_both_ends(facts: &Facts<'_>, index: usize, paths: [&str; 3]) -> Derived {
    let all = links(facts, index);
    let State::Known(Value::List(found)) = &all.state else { return all };
    let mut unread = Vec::new();
    for link in found.iter() {
        let Value::Entity(entity) = link else { continue };
        let keys = paths.map(|path| facts.key(LINK, entity.index as usize, path)).concat();
        let figure = |key: &Key| match facts.lookup(*key).state {
            State::Known(Value::Number(number)) => Some(number),
            _ => None,
        };
        let figures: Vec<Option<f64>> = keys.iter().map(figure).collect();
        let below = |at: usize| figures[0].zip(figures[at]).map(|(now, most)| now < most);
        match (figures[0], below(1), below(2)) {
            // No lanes, or no speed: nothing was trained, or nothing was read.
            (Some(0.0), ..) | (_, Some(false), _) | (_, _, Some(false)) => {}
            (_, Some(true), Some(true)) => return Derived::of(State::Known(link.clone()), keys),
            _ => unread.extend(keys.iter().zip(&figures).filter(|(_, figure)| figure.is_none()).map(|(key, _)| *key)),
        }
    }
    if unread.is_empty() { Derived::absent(all.from) } else { Derived::unknown(unread) }
}

pub(super) fn link_entries() -> Vec<Entry> {
    let mut entries = facts! { Link, PcieLink;
        "upper" = upper: PciAddress, "lspci -t", "port at the end that faces the root";
        "role" = role: PcieRole, "sudo lspci -vvv -s {bdf}", "kind of the upper end";
        "slot" = slot: String, "grep . /sys/bus/pci/slots/*/address", "slot name of the upper end";
        "speed" = speed: Gigatransfers, "cat /sys/bus/pci/devices/{bdf}/current_link_speed", "current speed of one lane";
        "width" = width: u32 as Lanes, "cat /sys/bus/pci/devices/{bdf}/current_link_width", "current number of lanes";
        "lower_speed_max" = lower_speed_max: Gigatransfers, "cat /sys/bus/pci/devices/{bdf}/max_link_speed", "highest speed of the end that faces the device";
        "lower_width_max" = lower_width_max: u32 as Lanes, "cat /sys/bus/pci/devices/{bdf}/max_link_width", "lanes of the end that faces the device";
        "upper_speed_max" = upper_speed_max: Gigatransfers, "cat /sys/bus/pci/devices/{bdf}/../max_link_speed", "highest speed of the end that faces the root";
        "upper_width_max" = upper_width_max: u32 as Lanes, "cat /sys/bus/pci/devices/{bdf}/../max_link_width", "lanes of the end that faces the root";
        "tunnelled" = tunnelled: bool, "boltctl list", "tunnel: part of Thunderbolt or USB4";
    };
    entries.extend([
        derived("lower", Type::Text, Unit::Plain, "function at the end that faces the device", |facts, index| {
            match facts.topology().link(facts.snapshot(), index) {
                Some(link) => Derived::fact(Value::Text(link.lower.to_string().into())),
                None => Derived::unknown(Vec::new()),
            }
        }),
        derived(
            "label",
            Type::Text,
            Unit::Plain,
            "generation and lanes of the current link, for example Gen3 x4",
            |facts, index| {
                let from = [facts.key(LINK, index, "speed"), facts.key(LINK, index, "width")].concat();
                let link = facts.topology().link(facts.snapshot(), index);
                let label = link.and_then(|link| {
                    let generation = ceilings::pcie_generation(facts, *link.speed.known()?)?;
                    Some(format!("Gen{generation} x{}", link.width.known()?))
                });
                Derived::of(label.map_or(State::Unknown, |label| State::Known(Value::Text(label.into()))), from)
            },
        ),
        derived("generation", Type::PLAIN, Unit::Plain, "PCIe generation of the current speed", |facts, index| {
            let from = facts.key(LINK, index, "speed");
            let speed = facts.topology().link(facts.snapshot(), index).and_then(|link| link.speed.known().copied());
            let generation = speed.and_then(|speed| ceilings::pcie_generation(facts, speed));
            Derived::of(
                generation.map_or(State::Unknown, |number| State::Known(Value::Number(f64::from(number)))),
                from,
            )
        }),
    ]);
    entries
}

fn class(facts: &Facts<'_>, index: usize) -> Derived {
    let from = facts.key(DEVICE, index, "class_code");
    let state = match facts.snapshot().devices[index].class {
        Reading::Known(code, _) => {
            let word = match code >> 8 {
                // 0x11 and above are accelerators and unassigned classes; 0x0e and 0x0f never carry a network card.
                base @ 0..=0x0d => CLASSES.words[usize::from(base)],
                _ => "other",
            };
            State::Known(Value::Word(word.into()))
        }
        Reading::Absent(_) => State::Absent,
        Reading::Unknown(_) => State::Unknown,
    };
    Derived::of(state, from)
}

fn ports(facts: &Facts<'_>, index: usize) -> Derived {
    let ports = facts.topology().card_ports(index);
    let card = facts.topology().card(index).iter().map(|function| &facts.snapshot().devices[*function]);
    // A port in another namespace, or one that the capture does not show, would be missing from the list.
    let named: Option<usize> = card.clone().map(|function| function.interfaces.known().map(Vec::len)).sum();
    let gap = card.clone().find_map(|function| function.interfaces.gap());
    let complete = named.map_or(!ports.is_empty(), |named| named <= ports.len());
    if complete {
        Derived::fact(Value::List(
            ports.into_iter().map(|port| Value::Entity(Facts::entity(INTERFACE, port))).collect(),
        ))
    } else {
        Derived::unknown(Vec::new()).because(gap)
    }
}

fn links(facts: &Facts<'_>, index: usize) -> Derived {
    match facts.snapshot().devices[index].pcie.links {
        Reading::Known(..) => {
            let links = facts.topology().device_links(index).map(|link| Value::Entity(Facts::entity(LINK, link)));
            Derived::fact(Value::List(links.collect()))
        }
        Reading::Absent(source) => Derived::absent(Vec::new()).read_at(Some(source)),
        Reading::Unknown(gap) => Derived::unknown(Vec::new()).because(Some(gap)),
    }
}
