//! Facts of the members of a bond and of queueing disciplines.

use super::catalogue::{INTERFACE, QDISC};
use super::entry::{Entry, derived};
use super::rows::row_facts;
use super::unit::Unit;
use super::{Derived, Facts, counters};
use crate::lang::{State, Type, Value};
use crate::reading::{BitsPerSecond, Reading};
use crate::snapshot::{BondMember, Qdisc};

/// Facts of a bond's member.
pub(super) fn member_entries() -> Vec<Entry> {
    let mut entries = row_facts! { BondMember;
        "mii_up" = mii_up: bool, "cat /proc/net/bonding/{if}", "link state: by the bond's own monitoring";
        "link_failures" = link_failures: u32, "cat /proc/net/bonding/{if}", "times that monitoring saw its link go down";
        "aggregator" = aggregator: u32, "cat /proc/net/bonding/{if}", "LACP aggregator that it belongs to";
        "speed" = speed: BitsPerSecond, "cat /proc/net/bonding/{if}", "speed as the bond sees it";
        "churned" = churned: bool, "cat /proc/net/bonding/{if}", "LACP churn: partners never agreed";
        names
        "name" = name: String, "interface name";
    };
    entries.push(derived("iface", Type::Entity(INTERFACE), Unit::Plain, "interface", |facts, index| {
        let Some((bond, member)) = facts.row::<BondMember>(index) else { return Derived::none() };
        let namespace = &facts.snapshot().interfaces[bond].namespace;
        match facts.topology().interface(namespace, &member.name) {
            Some(at) => Derived::fact(Value::Entity(Facts::entity(INTERFACE, at))),
            None => Derived::none(),
        }
    }));
    entries
}

/// Facts of a queueing discipline.
pub(super) fn qdisc_entries() -> Vec<Entry> {
    let mut entries = row_facts! { Qdisc;
        "rate" = rate: BitsPerSecond, "tc -s -d qdisc show dev {if}", "rate that a shaper allows";
        names
        "kind" = kind: String, "kind";
        "parent" = parent: String, "parent";
    };
    entries.extend([
        derived(
            "leaf",
            Type::Bool,
            Unit::Plain,
            "place: packets to send wait in it, nothing hangs on it",
            |facts, index| {
                let Some((interface, one)) = facts.row::<Qdisc>(index) else { return Derived::none() };
                let all = facts.snapshot().interfaces[interface].qdiscs.known().map_or(&[][..], Vec::as_slice);
                Derived::fact(Value::Bool(counters::is_leaf(one, all)))
            },
        ),
        derived(
            "aqm",
            Type::Bool,
            Unit::Plain,
            "active queue management: drops on purpose, to keep its queue short",
            |facts, index| {
                let Some((_, one)) = facts.row::<Qdisc>(index) else { return Derived::none() };
                Derived::fact(Value::Bool(facts.knowledge().drops_on_purpose(&one.kind)))
            },
        ),
        derived("dropped", Type::PLAIN, Unit::Packets, "packets dropped since it was made", |facts, index| {
            counter(facts, index, "dropped", false)
        }),
        derived("dropped_growth", Type::PLAIN, Unit::Packets, "packets dropped within the sample", |facts, index| {
            counter(facts, index, "dropped", true)
        }),
        derived("sent_packets", Type::PLAIN, Unit::Packets, "packets sent since it was made", |facts, index| {
            counter(facts, index, "sent_packets", false)
        }),
        derived("sent_growth", Type::PLAIN, Unit::Packets, "packets sent within the sample", |facts, index| {
            counter(facts, index, "sent_packets", true)
        }),
        derived("backlog_packets", Type::PLAIN, Unit::Packets, "packets that wait", |facts, index| {
            counter(facts, index, "backlog_packets", false)
        }),
    ]);
    entries
}

/// The queueing discipline at the root of an interface.
pub(super) fn root_qdisc(facts: &Facts<'_>, interface: usize) -> Derived {
    match &facts.snapshot().interfaces[interface].qdiscs {
        Reading::Known(all, source) => {
            let first = facts.topology().first_row(QDISC, interface);
            let at = all.iter().position(|one| one.parent == "root");
            let root = at.map(|at| State::Known(Value::Entity(Facts::entity(QDISC, first + at))));
            Derived::of(root.unwrap_or(State::Absent), Vec::new()).read_at(Some(*source))
        }
        Reading::Absent(source) => Derived::absent(Vec::new()).read_at(Some(*source)),
        Reading::Unknown(gap) => Derived::unknown(Vec::new()).because(Some(*gap)),
    }
}

fn counter(facts: &Facts<'_>, index: usize, name: &str, growth: bool) -> Derived {
    let Some((_, one)) = facts.row::<Qdisc>(index) else { return Derived::none() };
    let Some(block) = &one.counters else { return Derived::none() };
    let number = block.get(name).and_then(|row| match (growth, row.growth()) {
        (false, _) => row.total(),
        (true, crate::snapshot::Growth::By(grown)) => Some(grown),
        (true, _) => None,
    });
    let state = number.map_or(State::Unknown, |number| State::Known(Value::Number(number as f64)));
    Derived::of(state, Vec::new()).read_at(Some(block.source))
}
