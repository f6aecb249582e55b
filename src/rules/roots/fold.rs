//! Whether a finding may be folded below another: the same place, the same direction, the same time, sure enough.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::stack::Stack;
use super::time::{Fit, Seen, fit};
use super::{Reservation, at_ceiling};
use crate::facts::{Facts, HOST};
use crate::rules::compile::Rule;
use crate::rules::evaluate::{Finding, Outcome};
use crate::rules::load::RuleSet;
use crate::rules::schema::{Confidence, Explains, Kind, Reach};
use crate::rules::senders::Senders;

/// Share of the host's bytes from which an interface may explain what the host counts as a whole.
const MOST: f64 = 0.5;

/// What an edge of the rules comes to between two findings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bond {
    /// The symptom stands below the cause, this surely.
    Folds(Confidence),
    /// The cause may have a part in it.
    Perhaps(Reservation),
    /// Nothing.
    None,
}

/// A finding and the outcome that holds it.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub outcome: &'a Outcome,
    pub finding: &'a Finding,
}

/// How surely a cause works where a symptom was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It does.
    Here,
    /// Probably: nobody saw the traffic that would tell.
    Probably,
    /// It does not.
    Elsewhere,
}

/// What findings are judged by: the host, the rules, the stack of interfaces, the traffic of the sample.
pub(super) struct Ground<'a> {
    facts: &'a Facts<'a>,
    rules: &'a RuleSet,
    stack: Stack,
    bytes: Vec<OnceCell<f64>>,
    all_bytes: OnceCell<f64>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, rules: &'a RuleSet) -> Self {
        let snapshot = facts.snapshot();
        let bytes = snapshot.interfaces.iter().map(|_| OnceCell::new()).collect();
        Self { facts, rules, stack: Stack::of(snapshot), bytes, all_bytes: OnceCell::new() }
    }

    fn rule(&self, found: Found<'_>) -> &'a Rule {
        &self.rules.rules()[found.outcome.rule]
    }

    /// How a cause and a symptom are bound by an edge of the cause's rule.
    pub(super) fn bond(&self, edge: &Explains, cause: Found<'_>, symptom: Found<'_>) -> Bond {
        let senders = &symptom.finding.senders;
        if !senders.covered_by(edge.side) || !self.share_senders(cause, symptom) {
            return Bond::None;
        }
        let seen = Seen::of(cause.finding);
        // A ceiling is a cause only where a measurement reached it: below it, something else comes first.
        let ceiling = cause.finding.kind == Kind::Limit && !seen.is_now();
        if ceiling && !at_ceiling(self.facts, cause.outcome, edge.side) {
            return Bond::None;
        }
        let mut place = self.reaches(edge.reach, cause.outcome, symptom.outcome, senders);
        // What the host counts over all its traffic is about an interface that carries most of it.
        let narrower = cause.outcome.subject.scope == HOST && symptom.outcome.subject.scope != HOST;
        if narrower && !self.rule(cause).sides.is_empty() {
            place = self.carries_most(&self.facts.interfaces_of(symptom.outcome.subject), &cause.finding.senders);
        }
        if place == Place::Elsewhere {
            return Bond::None;
        }
        // A symptom whose condition asks for the cause by its name is there because of it.
        if self.rule(symptom).asks.contains(self.rule(cause).id()) {
            return Bond::Folds(Confidence::High);
        }
        let time = fit(seen, Seen::of(symptom.finding));
        match time {
            Fit::Never => return Bond::None,
            Fit::NotShown(why) => return Bond::Perhaps(why),
            Fit::Same | Fit::Perhaps => {}
        }
        if cause.finding.confidence == Confidence::Low {
            return Bond::Perhaps(Reservation::Hint);
        }
        // Untidiness is only counted in the report: nothing that hurts may vanish below it.
        if cause.finding.kind == Kind::Hygiene && matches!(symptom.finding.kind, Kind::Fault | Kind::Risk) {
            return Bond::Perhaps(Reservation::Untidy);
        }
        let sure = time == Fit::Same && place == Place::Here && cause.finding.taken.is_empty();
        let most = if sure { Confidence::High } else { Confidence::Medium };
        Bond::Folds(cause.finding.confidence.min(symptom.finding.confidence).min(most))
    }

    /// A cause that is itself about the data of one side explains only what is about the same data.
    fn share_senders(&self, cause: Found<'_>, symptom: Found<'_>) -> bool {
        if self.rule(cause).sides.is_empty() || self.rule(symptom).sides.is_empty() {
            return true;
        }
        let (mine, theirs) = (&cause.finding.senders, &symptom.finding.senders);
        let sides = (mine.own || !theirs.own) && (mine.peer || !theirs.peer);
        let results = mine.results.is_empty() || theirs.results.is_subset(&mine.results);
        sides && results
    }

    /// Whether what was found of one subject works on another.
    pub(super) fn reaches(&self, reach: Reach, cause: &Outcome, symptom: &Outcome, senders: &Senders) -> Place {
        let (from, to) = (cause.subject, symptom.subject);
        if from == to || from.scope == HOST {
            return Place::Here;
        }
        let mine = self.facts.interfaces_of(from);
        if to.scope == HOST {
            return self.carries_most(&mine, senders);
        }
        let theirs = self.facts.interfaces_of(to);
        let stand_on = |upper: &[usize], lower: &[usize]| {
            upper.iter().any(|one| {
                let down = self.stack.down_from(*one);
                lower.iter().any(|other| down.contains(other))
            })
        };
        let up = matches!(reach, Reach::Up | Reach::Both) && stand_on(&theirs, &mine);
        let down = matches!(reach, Reach::Down | Reach::Both) && stand_on(&mine, &theirs);
        if up || down { Place::Here } else { Place::Elsewhere }
    }

    /// Whether the interfaces of a cause carry what a symptom of the whole host is about: the interface of each result that
    /// shows it, and most of the bytes where it was counted; without a sample, the default route.
    fn carries_most(&self, mine: &[usize], senders: &Senders) -> Place {
        if mine.is_empty() {
            return Place::Here;
        }
        let over: Vec<Option<usize>> = senders.results.iter().map(|one| self.measured_over(*one)).collect();
        if over.iter().flatten().any(|one| !self.carries(mine, *one)) {
            return Place::Elsewhere;
        }
        if !senders.counted && !over.is_empty() && over.iter().all(Option::is_some) {
            return Place::Here;
        }
        if !senders.counted && over.is_empty() {
            // A symptom that does not say which results it is about may be about any of them.
            let results = self.facts.snapshot().host.measured.known().map_or(0, Vec::len);
            let mut any = (0..results).filter_map(|one| self.measured_over(one)).peekable();
            if any.peek().is_some() {
                return if any.any(|one| self.carries(mine, one)) { Place::Here } else { Place::Elsewhere };
            }
        }
        let all = self.all_bytes();
        if all > 0.0 {
            let most = mine.iter().map(|index| self.bytes(*index)).sum::<f64>() >= MOST * all;
            return if most { Place::Here } else { Place::Elsewhere };
        }
        let interfaces = self.facts.snapshot().interfaces.iter().enumerate();
        let mut default = interfaces.filter(|(_, one)| one.session.is_default_route.known() == Some(&true));
        if default.any(|(index, _)| self.carries(mine, index)) { Place::Probably } else { Place::Elsewhere }
    }

    /// Interface that a measured result ran over.
    fn measured_over(&self, result: usize) -> Option<usize> {
        let name = self.facts.measurement(result)?.interface.known()?;
        self.facts.snapshot().interfaces.iter().position(|one| one.namespace.is_empty() && one.name == *name)
    }

    /// True where interfaces carry what goes over another one: all of its hardware, or most of the bytes of that.
    fn carries(&self, mine: &[usize], over: usize) -> bool {
        let below = self.stack.down_from(over);
        let carried: BTreeSet<usize> = mine
            .iter()
            .filter(|index| below.contains(index))
            .flat_map(|index| self.stack.hardware_of(*index))
            .collect();
        let all = self.stack.hardware_of(over);
        let sum = |set: &BTreeSet<usize>| set.iter().map(|index| self.bytes(*index)).sum::<f64>();
        match (carried.is_empty(), all.is_subset(&carried)) {
            (true, _) => false,
            (_, true) => true,
            _ => sum(&all) > 0.0 && sum(&carried) >= MOST * sum(&all),
        }
    }

    /// Bytes that an interface carried in the sample.
    fn bytes(&self, index: usize) -> f64 {
        let count = || {
            let grown =
                ["rx_bytes", "tx_bytes"].iter().filter_map(|name| self.facts.count(index, name).counted()?.growth);
            grown.map(|bytes| bytes as f64).sum()
        };
        self.bytes.get(index).map_or(0.0, |known| *known.get_or_init(count))
    }

    /// Bytes of all hardware: virtual interfaces carry again what their ports carry.
    fn all_bytes(&self) -> f64 {
        let hardware = (0..self.bytes.len()).filter(|index| self.stack.is_hardware(*index));
        *self.all_bytes.get_or_init(|| hardware.map(|index| self.bytes(index)).sum())
    }
}
