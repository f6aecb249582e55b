//! Rows of the interface table.

use std::collections::BTreeMap;

use super::assemble::copied;
use super::model::{DropRow, Finding, HostCounter, InterfaceRow};
use super::{ceilings, ports};
use crate::facts::{Count, Facts, HOST, INTERFACE, MeasuredVerdict};
use crate::knowledge::Place;
use crate::knowledge::schema::CounterSubject;
use crate::lang::{State, Value, World};
use crate::snapshot::{Interface, Word};

/// One row per interface: hardware ports, then ports that a hypervisor makes up, then the rest.
pub(super) fn rows(facts: &Facts<'_>, findings: &[Finding]) -> Vec<InterfaceRow> {
    let mut by_name: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        for name in &finding.interfaces {
            by_name.entry(name).or_default().push(finding);
        }
    }
    let shared = ports::shared(facts);
    let mut rows: Vec<InterfaceRow> = facts
        .snapshot()
        .interfaces
        .iter()
        .enumerate()
        .map(|(index, interface)| row(facts, (index, shared.get(&index).copied()), interface, &by_name))
        .collect();
    rows.sort_by_key(|row| (row.physical != Some(true), row.kind.as_deref() != Some("ethernet")));
    rows
}

fn row(
    facts: &Facts<'_>,
    (index, first): (usize, Option<usize>),
    interface: &Interface,
    findings: &BTreeMap<&str, Vec<&Finding>>,
) -> InterfaceRow {
    let name = facts.name(Facts::entity(INTERFACE, index));
    let state = state(interface);
    let mine = findings.get(name.as_str()).map_or(&[][..], Vec::as_slice);
    let drops = drops(facts, index, first);
    InterfaceRow {
        name: interface.name.clone(),
        namespace: interface.namespace.clone(),
        alias: interface.alias.known().cloned(),
        kind: interface.kind.known().map(|kind| kind.word().into()),
        physical: physical(facts, index),
        driver: interface.driver.name.known().cloned(),
        state: state.map(Into::into),
        speed_bps: interface.link.speed.known().map(|speed| speed.0 as f64),
        mtu: interface.mtu.known().map(|mtu| mtu.0),
        master: interface.stack.master.known().cloned(),
        is_session: copied(&interface.session.is_session) == Some(true),
        pcie: ceilings::pcie(facts, index),
        ceiling: ceilings::row(facts, index),
        measured_bps: facts.judged(index).map(|judged| judged.bps),
        verdict: verdict(state, mine, &drops, told_verdict(facts, index)),
        drops,
    }
}

/// Where the best result stands; none where the bus of the card may be behind it.
fn told_verdict(facts: &Facts<'_>, index: usize) -> Option<MeasuredVerdict> {
    facts.judged(index).filter(|judged| judged.unread_bus.is_none()).map(|judged| judged.verdict)
}

fn physical(facts: &Facts<'_>, index: usize) -> Option<bool> {
    let slot = facts.catalogue().slot(INTERFACE, "port.physical")?;
    match facts.read(Facts::entity(INTERFACE, index), slot) {
        State::Known(Value::Bool(physical)) => Some(physical),
        _ => None,
    }
}

fn state(interface: &Interface) -> Option<&'static str> {
    match (copied(&interface.admin_up), copied(&interface.link.up)) {
        (Some(false), _) => Some("disabled"),
        (_, Some(true)) => Some("up"),
        (Some(true), Some(false)) => Some("no-carrier"),
        (None, Some(false)) => Some("down"),
        (_, None) => None,
    }
}

/// Lost packets by place. A place that this interface has no counter for has no row; one that could not be read has no total.
/// What `first` shows of the same port is counted there.
fn drops(facts: &Facts<'_>, index: usize, first: Option<usize>) -> Vec<DropRow> {
    let lost_by = |interface: usize, place| facts.lost(Facts::entity(INTERFACE, interface), place);
    let row = |place: Place| {
        let lost = lost_by(index, place)?;
        let twice = lost.total.is_some_and(|total| total > 0)
            && first.and_then(|first| lost_by(first, place)).is_some_and(|other| ports::is_same_loss(lost, other));
        if let Some(first) = first.filter(|_| twice) {
            let counted_at = Some(facts.name(Facts::entity(INTERFACE, first)));
            return Some(DropRow { place: place.word().into(), counted_at, ..DropRow::default() });
        }
        Some(DropRow { place: place.word().into(), total: lost.total, grew: lost.growth, counted_at: None })
    };
    Place::ALL.into_iter().filter_map(row).collect()
}

/// Lost packets of the host by place: what belongs to no interface, and the sum of all queueing disciplines.
pub(super) fn host_drops(facts: &Facts<'_>, rows: &[InterfaceRow]) -> Vec<DropRow> {
    let of_host = |place: Place| {
        let lost = facts.lost(Facts::entity(HOST, 0), place)?;
        Some(DropRow { place: place.word().into(), total: lost.total, grew: lost.growth, counted_at: None })
    };
    let qdisc: Vec<&DropRow> =
        rows.iter().flat_map(|row| &row.drops).filter(|drop| drop.place == Place::Qdisc.word()).collect();
    let sum = |value: fn(&DropRow) -> Option<u64>| {
        let known = qdisc.iter().filter_map(|drop| value(drop)).reduce(u64::saturating_add);
        // Where a part was not read, the others show a lower bound, and their zero shows nothing.
        known.filter(|sum| *sum > 0 || qdisc.iter().all(|drop| value(drop).is_some()))
    };
    let qdisc = (!qdisc.is_empty()).then(|| DropRow {
        place: Place::Qdisc.word().into(),
        total: sum(|drop| drop.total),
        grew: sum(|drop| drop.grew),
        counted_at: None,
    });
    Place::ALL
        .into_iter()
        .filter_map(|place| if place == Place::Qdisc { qdisc.clone() } else { of_host(place) })
        .collect()
}

/// Counters of lost packets of the whole host: those that have a place, and of the others those that could be read.
pub(super) fn host_counters(facts: &Facts<'_>) -> Vec<HostCounter> {
    let counters = facts.knowledge().canonical_counters().iter();
    let counters = counters.filter(|one| one.subject == CounterSubject::Host && one.loss);
    counters
        .filter_map(|one| {
            let (total, grew) = match facts.count(0, &one.name) {
                Count::Counted(counted) => ((!counted.growth_only).then_some(counted.total), counted.growth),
                Count::Unknown if one.place.is_some() => (None, None),
                Count::Unknown | Count::Absent => return None,
            };
            let place = one.place.map(|place| place.word().to_owned());
            Some(HostCounter { counter: one.name.clone(), place, what: one.definition.clone(), total, grew })
        })
        .collect()
}

/// Name of a row, with its namespace where that is another one.
pub(super) fn full_name(row: &InterfaceRow) -> String {
    if row.namespace.is_empty() { row.name.clone() } else { format!("{}@{}", row.name, row.namespace) }
}

/// Short words for the state column, loudest first.
fn verdict(
    state: Option<&str>,
    mine: &[&Finding],
    drops: &[DropRow],
    measured: Option<MeasuredVerdict>,
) -> Vec<String> {
    let loud = |finding: &Finding| matches!(finding.severity.as_str(), "critical" | "warning");
    let mut words: Vec<String> = Vec::new();
    if mine.iter().filter(|finding| loud(finding)).any(|finding| finding.kind == "fault") {
        words.push("FAULT".into());
    }
    if drops.iter().any(|drop| drop.grew.is_some_and(|grew| grew > 0)) {
        words.push("LOSS".into());
    }
    if measured == Some(MeasuredVerdict::NotTheLimit) {
        words.push("BELOW CEILING".into());
    }
    if mine.iter().filter(|finding| loud(finding)).any(|finding| finding.kind == "risk") {
        words.push("RISK".into());
    }
    let limits = measured != Some(MeasuredVerdict::NotTheLimit) && mine.iter().any(|finding| finding.kind == "limit");
    if state == Some("up") && limits {
        words.push("LIMIT".into());
    }
    let quiet = |finding: &&&Finding| finding.is_trouble() && finding.severity == "advice";
    if words.is_empty() && mine.iter().any(|finding| quiet(&finding)) {
        words.push("ADVICE".into());
    }
    if words.is_empty() {
        words.extend(state.map(|state| if state == "up" { "ok" } else { "down" }.into()));
    }
    words
}
