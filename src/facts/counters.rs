//! Canonical counters of interfaces and of the host, out of whatever the driver and the kernel list.

mod activity;
mod derived;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::catalogue::{HOST, INTERFACE};
use super::entry::{self, CounterView, Entry};
use super::unit::Unit;
use super::{Derived, Facts};
use crate::knowledge::schema::{CounterSubject, Instance};
use crate::knowledge::{CanonicalCounter, Place};
use crate::lang::{Entity, State, Type, Value};
use crate::reading::{Reading, SourceId};
use crate::snapshot::InterfaceKind;
pub(super) use rows::is_leaf;
use rows::{Ask, Rows};

/// A canonical counter of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Newest value.
    pub total: u64,
    /// Difference between the samples; `None` with one sample, after a reset, or where the device was re-made.
    pub growth: Option<u64>,
    /// Seconds between the samples of its source.
    pub window: Option<f64>,
    /// Where it was read.
    pub source: SourceId,
    /// The rows that were added, by their own names.
    pub rows: Vec<String>,
    /// Why the name may have several causes.
    pub ambiguous: Option<String>,
    /// True where it counts failures that need not lose a packet, or packets that another counter may hold too.
    pub aside: bool,
    /// True where there is a growth only; `total` says nothing then.
    pub growth_only: bool,
}

/// What is known of a canonical counter.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    /// It was counted.
    Counted(Counted),
    /// This subject has no such counter.
    Absent,
    /// It could not be read, or nobody knows how this driver counts it.
    Unknown,
}

impl Count {
    /// What was counted, if it was.
    pub fn counted(self) -> Option<Counted> {
        match self {
            Self::Counted(counted) => Some(counted),
            Self::Absent | Self::Unknown => None,
        }
    }
}

/// Reads a canonical counter of the subject of this index.
fn count(facts: &Facts<'_>, index: usize, counter: &CanonicalCounter) -> Count {
    match counter.subject {
        CounterSubject::PciDevice => {
            let Some(device) = facts.snapshot().devices.get(index) else { return Count::Unknown };
            let upstream = counter.name.ends_with("_upstream");
            return match &device.aer {
                // What the port above counts is not among what a function counts.
                _ if upstream => Count::Unknown,
                Reading::Absent(_) => Count::Absent,
                Reading::Unknown(_) => Count::Unknown,
                Reading::Known(block, _) => {
                    rows::of_device(block, counter).and_then(|rows| rows.sum()).map_or(Count::Unknown, Count::Counted)
                }
            };
        }
        CounterSubject::Host => {
            if let Some(derivation) = counter.derived {
                return derived::count(facts, index, derivation);
            }
            let host = &facts.snapshot().host;
            if activity::is_absent(host, counter) {
                return Count::Absent;
            }
            return rows::of_host(host, counter).and_then(|rows| rows.sum()).map_or(Count::Unknown, Count::Counted);
        }
        CounterSubject::Interface => {}
    }
    let Some(interface) = facts.snapshot().interfaces.get(index) else { return Count::Unknown };
    let ask = Ask::new(facts.knowledge(), interface, counter);
    if !ask.driver_may_have_it() {
        return Count::Absent;
    }
    let found = ask.gather();
    if let Some(counted) = add(found.iter().map(Rows::sum)) {
        return Count::Counted(counted);
    }
    if let Some(derivation) = counter.derived {
        return derived::count(facts, index, derivation);
    }
    if ask.is_unknown() { Count::Unknown } else { Count::Absent }
}

/// The parts of a canonical counter that is kept for queues, CPUs, leaves or members, by their names.
fn instances(facts: &Facts<'_>, index: usize, counter: &CanonicalCounter) -> BTreeMap<String, Counted> {
    if counter.per == Some(Instance::Member) {
        return derived::members(facts, index);
    }
    match counter.subject {
        CounterSubject::PciDevice => BTreeMap::new(),
        CounterSubject::Host => {
            rows::of_host(&facts.snapshot().host, counter).map_or_else(BTreeMap::new, |rows| rows.instances())
        }
        CounterSubject::Interface => {
            let Some(interface) = facts.snapshot().interfaces.get(index) else { return BTreeMap::new() };
            let ask = Ask::new(facts.knowledge(), interface, counter);
            ask.gather().iter().flat_map(Rows::instances).collect()
        }
    }
}

/// Adds what can be added; `None` if there is nothing.
fn add(parts: impl Iterator<Item = Option<Counted>>) -> Option<Counted> {
    parts.flatten().reduce(|mut sum, part| {
        sum.total = sum.total.saturating_add(part.total);
        sum.growth = sum.growth.zip(part.growth).map(|(sum, part)| sum.saturating_add(part));
        sum.window = sum.window.or(part.window);
        sum.rows.extend(part.rows);
        sum.ambiguous = sum.ambiguous.or(part.ambiguous);
        sum.aside |= part.aside;
        sum.growth_only |= part.growth_only;
        sum
    })
}

/// True for an interface that the kernel makes up: no queue or wire of its own.
fn made_up(kind: &Reading<InterfaceKind>) -> bool {
    !matches!(kind.known(), None | Some(InterfaceKind::Ethernet | InterfaceKind::Wifi | InterfaceKind::Infiniband))
}

/// A view of the canonical counter of this number.
pub(super) fn derive(facts: &Facts<'_>, entity: Entity, number: u16, view: CounterView) -> Derived {
    let counters = facts.knowledge().canonical_counters();
    let Some(counter) = counters.get(usize::from(number)) else { return Derived::unknown(Vec::new()) };
    let index = entity.index as usize;
    match count(facts, index, counter) {
        Count::Absent => Derived::absent(Vec::new()),
        Count::Unknown => Derived::unknown(Vec::new()),
        Count::Counted(counted) if view == CounterView::Parts => {
            let parts = instances(facts, index, counter).len();
            let state = if parts > 0 { State::Known(Value::Number(parts as f64)) } else { State::Unknown };
            Derived::of(state, Vec::new()).read_at(Some(counted.source))
        }
        Count::Counted(counted) => {
            let number = match view {
                CounterView::Total => (!counted.growth_only).then_some(counted.total as f64),
                CounterView::Growth => counted.growth.map(|growth| growth as f64),
                CounterView::Rate => counted.growth.zip(counted.window).map(|(growth, window)| growth as f64 / window),
                CounterView::Parts => None,
            };
            let scaled = number.map(|number| Value::Number(number * counter.unit.scale()));
            Derived::of(scaled.map_or(State::Unknown, State::Known), Vec::new()).read_at(Some(counted.source))
        }
    }
}

/// What the files on counters tell of an interface's driver.
pub(super) fn entries() -> Vec<Entry> {
    vec![entry::derived(
        "knowledge.overflow_may_be_ring",
        Type::Bool,
        Unit::Plain,
        "meaning of rx_fifo_overflow: on this driver a full receive ring shows as such only",
        |facts, index| {
            let from = facts.key(INTERFACE, index, "driver");
            let driver = facts.snapshot().interfaces[index].driver.name.known();
            match driver.and_then(|driver| facts.knowledge().driver_counters(driver)) {
                Some(known) => Derived::of(State::Known(Value::Bool(known.overflow_may_be_ring)), from),
                None => Derived::unknown(from),
            }
        },
    )]
}

impl Facts<'_> {
    fn canonical(&self, name: &str) -> Option<&CanonicalCounter> {
        self.knowledge.canonical_counters().iter().find(|counter| counter.name == name)
    }

    /// A canonical counter by its name, of the interface of this index; the index says nothing for a counter of the host.
    pub fn count(&self, index: usize, name: &str) -> Count {
        self.canonical(name).map_or(Count::Unknown, |counter| count(self, index, counter))
    }

    /// The parts of a canonical counter that is kept for queues, CPUs, leaves or members, by their names.
    pub fn count_instances(&self, index: usize, name: &str) -> BTreeMap<String, Counted> {
        self.canonical(name).map_or_else(BTreeMap::new, |counter| instances(self, index, counter))
    }

    /// The largest part of such a counter: the largest total and the largest growth, which may be of different parts.
    pub fn count_largest(&self, index: usize, name: &str) -> Count {
        let parts = self.count_instances(index, name);
        let growth = parts.values().map(|part| part.growth).collect::<Option<Vec<u64>>>();
        match parts.into_values().max_by_key(|part| part.total) {
            Some(largest) => {
                Count::Counted(Counted { growth: growth.and_then(|all| all.into_iter().max()), ..largest })
            }
            None => match self.count(index, name) {
                Count::Absent => Count::Absent,
                Count::Counted(_) | Count::Unknown => Count::Unknown,
            },
        }
    }

    /// Packets that an interface, or the host for [`HOST`], lost at a place. No packet is counted twice: counters with a place
    /// are disjoint, and those set aside are left out. Where a part
    /// could not be read, what the others show is a lower bound, and their zero shows nothing.
    pub fn lost(&self, subject: Entity, place: Place) -> Option<Lost> {
        let wanted = if subject.scope == HOST { CounterSubject::Host } else { CounterSubject::Interface };
        let (mut total, mut growth) = (0u64, Some(0u64));
        let (mut exists, mut complete) = (false, true);
        let all = self.knowledge.canonical_counters();
        for counter in all.iter().filter(|counter| counter.place == Some(place) && counter.subject == wanted) {
            match count(self, subject.index as usize, counter) {
                Count::Absent => {}
                Count::Unknown if self.is_set_aside(subject, counter) => {}
                Count::Unknown => (exists, complete) = (true, false),
                Count::Counted(counted) if counted.aside => {}
                Count::Counted(counted) => {
                    exists = true;
                    total = total.saturating_add(counted.total);
                    growth = growth.zip(counted.growth).map(|(sum, growth)| sum.saturating_add(growth));
                }
            }
        }
        let proven = |sum: u64| complete || sum > 0;
        exists.then_some(Lost {
            total: Some(total).filter(|sum| proven(*sum)),
            growth: growth.filter(|sum| proven(*sum)),
        })
    }

    /// True where this interface's driver keeps the counter apart from what is lost.
    fn is_set_aside(&self, subject: Entity, counter: &CanonicalCounter) -> bool {
        let interface = self.snapshot.interfaces.get(subject.index as usize).filter(|_| subject.scope == INTERFACE);
        let driver = interface.and_then(|interface| interface.driver.name.known());
        let known = driver.and_then(|driver| self.knowledge.driver_counters(driver));
        known.and_then(|known| known.canonical.get(&counter.name)).is_some_and(|own| own.aside)
    }
}

/// Packets lost at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// In all; `None` where that could not be read.
    pub total: Option<u64>,
    /// Within the sample.
    pub growth: Option<u64>,
}
