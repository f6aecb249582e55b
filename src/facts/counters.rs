//! Canonical counters of an interface, out of whatever its driver and the kernel list.

use super::catalogue::INTERFACE;
use super::entry::CounterView;
use super::{Derived, Facts};
use crate::knowledge::{CanonicalCounter, DriverCounter, matches};
use crate::lang::{Entity, State, Value};
use crate::reading::SourceId;
use crate::snapshot::{Counter, CounterBlock, Growth, InterfaceKind};

/// A canonical counter of one interface.
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
}

/// What is known of a canonical counter of an interface.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    /// It was counted.
    Counted(Counted),
    /// This interface has no such counter.
    Absent,
    /// It could not be read, or nobody knows how this driver counts it.
    Unknown,
}

/// Reads a canonical counter of the interface of this index.
pub(super) fn count(facts: &Facts<'_>, interface: usize, counter: &CanonicalCounter) -> Count {
    let Some(interface) = facts.snapshot().interfaces.get(interface) else { return Count::Unknown };
    let driver = interface.driver.name.known().map(String::as_str);
    let names = driver.and_then(|driver| facts.knowledge().driver_counters(driver));
    let own = names.and_then(|names| names.canonical.get(&counter.name));
    let statistics = interface.counters.iter().find(|block| block.group == "ethtool_statistics");
    if let (Some(own), Some(block)) = (own, statistics)
        && let Some(counted) = from_driver(block, own)
    {
        return Count::Counted(counted);
    }
    let generic_is_right = driver.is_none_or(|driver| !counter.not_generic.iter().any(|name| name == driver));
    for source in counter.generic.iter().filter(|_| generic_is_right) {
        let block = interface.counters.iter().find(|block| block.group == source.group);
        if let Some(counted) = block.and_then(|block| add(block, &[block.get(&source.key)?], None)) {
            return Count::Counted(counted);
        }
    }
    let made_up = interface.kind.known().is_some_and(|kind| *kind != InterfaceKind::Ethernet);
    // The list was read and the name is not in it, or it is known that this driver has no such name.
    let read_without = own.is_some() && statistics.is_some();
    let driver_lacks_it = names.is_some() && own.is_none() && counter.generic.is_empty();
    if made_up || read_without || driver_lacks_it { Count::Absent } else { Count::Unknown }
}

fn from_driver(block: &CounterBlock, own: &DriverCounter) -> Option<Counted> {
    let rows_of = |patterns: &[String]| -> Vec<&Counter> {
        block.counters.iter().filter(|row| patterns.iter().any(|pattern| matches(pattern, &row.name))).collect()
    };
    let mut rows = rows_of(&own.add);
    if rows.is_empty() {
        rows =
            own.instead.iter().map(|pattern| rows_of(std::slice::from_ref(pattern))).find(|rows| !rows.is_empty())?;
    }
    let mut counted = add(block, &rows, own.ambiguous.clone())?;
    for row in rows_of(&own.less) {
        counted.total = counted.total.saturating_sub(row.total().unwrap_or(0));
        counted.growth = match (counted.growth, row.growth()) {
            (Some(growth), Growth::By(less)) => Some(growth.saturating_sub(less)),
            _ => None,
        };
    }
    Some(counted)
}

fn add(block: &CounterBlock, rows: &[&Counter], ambiguous: Option<String>) -> Option<Counted> {
    let mut total = 0u64;
    let mut growth = Some(0u64);
    for row in rows {
        total = total.saturating_add(row.total()?);
        growth = match (growth, row.growth()) {
            (Some(sum), Growth::By(grown)) => Some(sum.saturating_add(grown)),
            _ => None,
        };
    }
    let rows_named = rows.iter().map(|row| row.name.clone()).collect();
    Some(Counted { total, growth, window: block.window(), source: block.source, rows: rows_named, ambiguous })
}

/// A view of the canonical counter of this number.
pub(super) fn derive(facts: &Facts<'_>, entity: Entity, number: u16, view: CounterView) -> Derived {
    let counters = facts.knowledge().canonical_counters();
    let Some(counter) = counters.get(usize::from(number)).filter(|_| entity.scope == INTERFACE) else {
        return Derived::unknown(Vec::new());
    };
    let bits = if counter.unit == crate::knowledge::schema::CounterUnit::Bytes { 8.0 } else { 1.0 };
    match count(facts, entity.index as usize, counter) {
        Count::Absent => Derived::absent(Vec::new()),
        Count::Unknown => Derived::unknown(Vec::new()),
        Count::Counted(counted) => {
            let number = match view {
                CounterView::Total => Some(counted.total as f64),
                CounterView::Growth => counted.growth.map(|growth| growth as f64),
                CounterView::Rate => counted.growth.zip(counted.window).map(|(growth, window)| growth as f64 / window),
            };
            let state = number.map_or(State::Unknown, |number| State::Known(Value::Number(number * bits)));
            Derived::of(state, Vec::new()).read_at(Some(counted.source))
        }
    }
}

impl Facts<'_> {
    /// A canonical counter of an interface by its name.
    pub fn count(&self, interface: usize, name: &str) -> Count {
        match self.knowledge.canonical_counters().iter().find(|counter| counter.name == name) {
            Some(counter) => count(self, interface, counter),
            None => Count::Unknown,
        }
    }
}
