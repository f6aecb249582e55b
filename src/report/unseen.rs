//! What was not read though a rule asks for it, in words short enough for a list.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::model::NotSeen;
use crate::facts::{CounterView, Facts, HOST};
use crate::lang::{Key, State};
use crate::reading::GapKind;
use crate::rules::{Diagnosis, Verdict};

/// Things that one line names before it counts the rest.
const THINGS: usize = 4;

/// Interfaces and devices that one line names before it counts the rest.
const NAMES: usize = 3;

/// Open rules that a reading weighs as much as which narrows a finding.
const NARROWS: usize = 100;

/// Facts without which some rule could not be decided, by the command that would supply them.
pub(super) fn not_seen(facts: &Facts<'_>, diagnosis: &Diagnosis) -> Vec<NotSeen> {
    let mut by_command: BTreeMap<(String, GapKind), Gathered> = BTreeMap::new();
    let open =
        diagnosis.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Unknown).map(|outcome| &outcome.missing);
    let narrowing: Vec<BTreeSet<Key>> =
        diagnosis.findings().map(|(_, finding)| unread(facts, &finding.touched)).collect();
    let weighed = open.map(|keys| (keys, 1)).chain(narrowing.iter().map(|keys| (keys, NARROWS)));
    for (keys, weight) in weighed {
        let mut weighs = BTreeSet::new();
        for (key, gap) in facts.gaps_below(keys) {
            let gap = facts.gap(key, gap);
            let of = by_command.entry((gap.command.clone(), gap.why)).or_default();
            of.things.insert(brief(facts.catalogue().entry(key).map_or("", |entry| entry.doc.as_str())));
            if key.entity.scope != HOST {
                of.names.insert(facts.name(key.entity));
            }
            weighs.insert((gap.command, gap.why));
        }
        for group in weighs {
            by_command.entry(group).and_modify(|of| of.weight += weight);
        }
    }
    let mut all: Vec<((String, GapKind), Gathered)> = by_command.into_iter().collect();
    // What most wait for comes first; what no command shows comes last.
    all.sort_by_key(|((command, _), of)| (command.is_empty(), Reverse(of.weight)));
    all.into_iter()
        .map(|((command, why), Gathered { things, names, .. })| {
            let of = if names.is_empty() { String::new() } else { format!(" of {}", listed(names, NAMES)) };
            let what = format!("{}{of}", listed(things, THINGS));
            NotSeen { what, why: why.word().replace('_', " "), command }
        })
        .collect()
}

/// What one command would show.
#[derive(Default)]
struct Gathered {
    things: BTreeSet<String>,
    /// Interfaces and devices that it is of.
    names: BTreeSet<String>,
    /// Rules that wait for it; one that fired counts more.
    weight: usize,
}

/// Readings that a finding touched and that would have narrowed it.
fn unread(facts: &Facts<'_>, touched: &BTreeSet<Key>) -> BTreeSet<Key> {
    let below = touched.iter().flat_map(|key| facts.lookup(*key).from);
    below.chain(touched.iter().copied()).filter(|key| facts.lookup(*key).state == State::Unknown).collect()
}

/// What a fact is, without what explains it and without the span over which it is counted.
fn brief(doc: &str) -> String {
    let views = [CounterView::Total, CounterView::Growth, CounterView::Rate, CounterView::Parts];
    let doc = views.iter().find_map(|view| doc.strip_prefix(view.words())).unwrap_or(doc);
    let end = [": ", "; ", " ("].iter().filter_map(|mark| doc.find(mark)).min().unwrap_or(doc.len());
    let text = &doc[..end];
    // "Packets dropped" begins no sentence here; "DSACKs" and "TCP" stay as they are.
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
        }
        _ => text.into(),
    }
}

fn listed(names: BTreeSet<String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut names: Vec<String> = names.into_iter().take(most).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_named_without_its_explanation() {
        assert_eq!(brief("in total: DSACKs received: the peer got data twice"), "DSACKs received");
        assert_eq!(
            brief("within the sample: Packets dropped because the ring was full; see RX"),
            "packets dropped because the ring was full"
        );
        assert_eq!(brief("maximum payload size in use"), "maximum payload size in use");
        assert_eq!(brief("TCP"), "TCP");
        assert_eq!(brief(""), "");
    }

    #[test]
    fn of_many_names_the_rest_is_counted() {
        let names: BTreeSet<String> = ["a", "b", "c", "d"].map(String::from).into();
        assert_eq!(listed(names.clone(), 3), "a, b, c, 1 more");
        assert_eq!(listed(names, 4), "a, b, c, d");
    }
}
