//! Rows of the interface table.

use super::assemble::copied;
use super::ceilings;
use super::model::{DropRow, Finding, InterfaceRow};
use crate::facts::{Facts, INTERFACE, MeasuredVerdict};
use crate::knowledge::Place;
use crate::lang::{State, Value, World};
use crate::snapshot::{Interface, Word};

/// One row per interface: hardware ports, then ports that a hypervisor makes up, then the rest.
pub(super) fn rows(facts: &Facts<'_>, findings: &[Finding]) -> Vec<InterfaceRow> {
    let mut rows: Vec<InterfaceRow> = facts
        .snapshot()
        .interfaces
        .iter()
        .enumerate()
        .map(|(index, interface)| row(facts, index, interface, findings))
        .collect();
    rows.sort_by_key(|row| (row.physical != Some(true), row.kind.as_deref() != Some("ethernet")));
    rows
}

fn row(facts: &Facts<'_>, index: usize, interface: &Interface, findings: &[Finding]) -> InterfaceRow {
    let name = facts.name(Facts::entity(INTERFACE, index));
    let state = state(interface);
    let drops = drops(facts, index);
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
        verdict: verdict(&name, state, findings, &drops, facts.judged(index).map(|judged| judged.verdict)),
        drops,
    }
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
fn drops(facts: &Facts<'_>, index: usize) -> Vec<DropRow> {
    let row = |place: Place| {
        let lost = facts.lost(Facts::entity(INTERFACE, index), place)?;
        Some(DropRow { place: place.word().into(), total: lost.total, grew: lost.growth })
    };
    Place::ALL.into_iter().filter_map(row).collect()
}

/// Short words for the state column, loudest first.
fn verdict(
    name: &str,
    state: Option<&str>,
    findings: &[Finding],
    drops: &[DropRow],
    measured: Option<MeasuredVerdict>,
) -> Vec<String> {
    let mine = || findings.iter().filter(|finding| finding.interfaces.iter().any(|one| one == name));
    let loud = |finding: &&Finding| matches!(finding.severity.as_str(), "critical" | "warning");
    let mut words: Vec<String> = Vec::new();
    if mine().filter(loud).any(|finding| finding.kind == "fault") {
        words.push("FAULT".into());
    }
    if drops.iter().any(|drop| drop.grew.is_some_and(|grew| grew > 0)) {
        words.push("LOSS".into());
    }
    if measured == Some(MeasuredVerdict::NotTheLimit) {
        words.push("BELOW CEILING".into());
    }
    if mine().filter(loud).any(|finding| finding.kind == "risk") {
        words.push("RISK".into());
    }
    let limits = measured != Some(MeasuredVerdict::NotTheLimit) && mine().any(|finding| finding.kind == "limit");
    if state == Some("up") && limits {
        words.push("LIMIT".into());
    }
    if words.is_empty() {
        words.extend(state.map(|state| if state == "up" { "ok" } else { "down" }.into()));
    }
    words
}
