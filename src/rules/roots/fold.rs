//! Whether a finding may be folded below another: the same place, the same direction, the same time, sure enough.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::stack::Stack;
use super::time::{Fit, Seen, fit};
use super::{Reservation, at_ceiling};
use crate::facts::{DEVICE, Facts, HOST, INTERFACE};
use crate::lang::Entity;
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
    /// Bytes that each interface carried in the sample, and those of the hardware that it stands on.
    bytes: Vec<(OnceCell<f64>, OnceCell<f64>)>,
    all_bytes: OnceCell<f64>,
    /// Interface that each measured result ran over, where that is known.
    measured: Vec<Option<usize>>,
    /// Interfaces that the default route leaves by.
    default_route: Vec<usize>,
    /// Functions of each card, by the one that speaks for it.
    cards: BTreeMap<usize, Vec<Entity>>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, rules: &'a RuleSet) -> Self {
        let snapshot = facts.snapshot();
        let interfaces = &snapshot.interfaces;
        let named = |name: &String| interfaces.iter().position(|one| one.namespace.is_empty() && one.name == *name);
        let results = snapshot.host.measured.known().into_iter().flatten();
        let default = |index: &usize| interfaces[*index].session.is_default_route.known() == Some(&true);
        let mut cards: BTreeMap<usize, Vec<Entity>> = BTreeMap::new();
        for function in facts.entities(DEVICE) {
            cards.entry(facts.primary(function.index as usize)).or_default().push(function);
        }
        Self {
            facts,
            rules,
            stack: Stack::of(snapshot),
            bytes: interfaces.iter().map(|_| Default::default()).collect(),
            all_bytes: OnceCell::new(),
            measured: results.map(|one| one.interface.known().and_then(named)).collect(),
            default_route: (0..interfaces.len()).filter(default).collect(),
            cards,
        }
    }

    /// Subjects of causes that may reach a subject upwards; none where any may.
    pub(super) fn below(&self, subject: Entity) -> Option<BTreeSet<Entity>> {
        if subject.scope == HOST {
            return None;
        }
        let mut all = BTreeSet::from([subject, Facts::entity(HOST, 0)]);
        for interface in self.facts.interfaces_of(subject) {
            for index in self.stack.down_from(interface).iter() {
                all.insert(Facts::entity(INTERFACE, *index));
                let card = self.facts.device_of(*index).and_then(|device| self.cards.get(&self.facts.primary(device)));
                all.extend(card.into_iter().flatten());
            }
        }
        Some(all)
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
        let over: Vec<Option<usize>> =
            senders.results.iter().map(|one| self.measured.get(*one).copied().flatten()).collect();
        if over.iter().flatten().any(|one| !self.carries(mine, *one)) {
            return Place::Elsewhere;
        }
        if !senders.counted && !over.is_empty() && over.iter().all(Option::is_some) {
            return Place::Here;
        }
        if !senders.counted && over.is_empty() {
            // A symptom that does not say which results it is about may be about any of them.
            let mut any = self.measured.iter().flatten().peekable();
            if any.peek().is_some() {
                return if any.any(|one| self.carries(mine, *one)) { Place::Here } else { Place::Elsewhere };
            }
        }
        let all = self.all_bytes();
        if all > 0.0 {
            let most = mine.iter().map(|index| self.bytes(*index)).sum::<f64>() >= MOST * all;
            return if most { Place::Here } else { Place::Elsewhere };
        }
        let carried = self.default_route.iter().any(|index| self.carries(mine, *index));
        if carried { Place::Probably } else { Place::Elsewhere }
    }

    /// True where interfaces carry what goes over another one: all of its hardware, or most of the bytes of that.
    fn carries(&self, mine: &[usize], over: usize) -> bool {
        let below = self.stack.down_from(over);
        let mut carried = BTreeSet::new();
        for index in mine.iter().filter(|index| below.contains(index)) {
            carried.extend(self.stack.hardware_of(*index).iter().copied());
        }
        match (carried.is_empty(), self.stack.hardware_of(over).is_subset(&carried)) {
            (true, _) => false,
            (_, true) => true,
            _ => {
                let all = self.hardware_bytes(over);
                all > 0.0 && carried.iter().map(|index| self.bytes(*index)).sum::<f64>() >= MOST * all
            }
        }
    }

    /// Bytes that an interface carried in the sample.
    fn bytes(&self, index: usize) -> f64 {
        let count = || {
            let grown =
                ["rx_bytes", "tx_bytes"].iter().filter_map(|name| self.facts.count(index, name).counted()?.growth);
            grown.map(|bytes| bytes as f64).sum()
        };
        self.bytes.get(index).map_or(0.0, |(known, _)| *known.get_or_init(count))
    }

    /// Bytes of the hardware that an interface stands on.
    fn hardware_bytes(&self, index: usize) -> f64 {
        let count = || self.stack.hardware_of(index).iter().map(|one| self.bytes(*one)).sum();
        self.bytes.get(index).map_or(0.0, |(_, known)| *known.get_or_init(count))
    }

    /// Bytes of all hardware: virtual interfaces carry again what their ports carry.
    fn all_bytes(&self) -> f64 {
        let hardware = (0..self.bytes.len()).filter(|index| self.stack.is_hardware(*index));
        *self.all_bytes.get_or_init(|| hardware.map(|index| self.bytes(index)).sum())
    }
}
