//! The loudest symptom, which of its causes were checked and passed, and which could not be decided.

use std::collections::{BTreeMap, BTreeSet};

use super::ceilings;
use super::model::{DropRow, Excluded, Finding, InterfaceRow, Missing, NotDecided, Symptom};
use super::seen;
use crate::facts::{Count, Counted, DEVICE, Facts, HOST, INTERFACE, show};
use crate::knowledge::Place;
use crate::lang::{Key, Program, State, Value};
use crate::reading::numbers;
use crate::rules::schema::{Kind, Severity};
use crate::rules::{
    ArmName, Arms, Diagnosis, Held, Outcome, Ranked, Rule, RuleSet, Seen, Suspect, Verdict, bind, explained_by,
    suspects, variables,
};

/// Names that a line gives before it counts the rest.
const NAMES: usize = 8;

/// Facts that a line quotes.
const FACTS: usize = 3;

/// Packets lost before the sample from which on they are worth a word.
const MANY: u64 = 100;

/// Where to look where this host lost nothing.
const ELSEWHERE: &str = "look at the other end, the switches between, or a limit of the provider";

/// Lines that one suspect gets.
const LINES: usize = 4;

/// What is known of the causes of the loudest symptom.
#[derive(Debug, Default)]
pub(super) struct Causes {
    pub symptom: Option<Symptom>,
    pub not_the_cause: Vec<Excluded>,
    pub not_decided: Vec<NotDecided>,
}

/// Missing facts of an outcome, with the commands that supply them.
pub(super) type MissingOf<'f> = dyn Fn(&BTreeSet<Key>) -> BTreeSet<Missing> + 'f;

pub(super) fn causes(
    facts: &Facts<'_>,
    rules: &RuleSet,
    diagnosis: &Diagnosis,
    ranked: &[Ranked],
    report: (&[Finding], &[InterfaceRow]),
    missing: &MissingOf<'_>,
) -> Causes {
    let (findings, rows) = report;
    let mut causes = Causes::default();
    let (mut covered, mut paths) = (BTreeSet::new(), BTreeSet::new());
    if let Some(at) = loudest(rules, diagnosis, ranked) {
        let place = &ranked[at];
        let suspects = suspects(rules, facts, diagnosis, place.outcome);
        let judge = Judge { facts, rules, diagnosis, world: Seen::after(rules, facts, diagnosis) };
        for suspect in &suspects {
            causes.not_the_cause.extend(judge.passed(suspect));
            causes.not_decided.extend(judge.undecided(suspect, missing));
            covered.extend(judge.places(suspect));
            paths.extend(judge.paths(suspect));
        }
        let finding = &findings[at];
        causes.symptom = Some(Symptom {
            rule: finding.rule.clone(),
            subject: finding.subject.clone(),
            title: finding.title.clone(),
            note: note(place, rows),
        });
    }
    causes.not_the_cause.extend(ceilings::excluded(facts, &paths));
    causes.not_the_cause.extend(clean_places(rows, &covered));
    causes
}

/// The measured fault that most others may be behind: what a user notices comes last in the chain of causes. Where several are
/// equal, the weightier one leads.
fn loudest(rules: &RuleSet, diagnosis: &Diagnosis, ranked: &[Ranked]) -> Option<usize> {
    let mut behind: BTreeMap<usize, usize> = BTreeMap::new();
    let mut best: Option<(usize, (bool, usize, Severity))> = None;
    for (at, place) in ranked.iter().enumerate() {
        let outcome = &diagnosis.outcomes[place.outcome];
        let Some(finding) = outcome.finding.as_ref().filter(|one| one.kind == Kind::Fault && one.is_measured()) else {
            continue;
        };
        let causes = *behind.entry(outcome.rule).or_insert_with(|| explained_by(rules, outcome.rule).len());
        let key = (finding.severity > Severity::Info, causes, finding.severity);
        if causes > 0 && best.is_none_or(|(_, most)| key > most) {
            best = Some((at, key));
        }
    }
    best.map(|(at, _)| at)
}

/// Where to look next if nothing on this host explains the symptom and no loss is counted; which place lost packets before,
/// where only the sample is clean.
fn note(place: &Ranked, rows: &[InterfaceRow]) -> Option<String> {
    let drops = || rows.iter().flat_map(|row| row.drops.iter().map(move |drop| (row, drop)));
    let lost = |drop: &DropRow| drop.grew.or(drop.total);
    let clean = drops().any(|(_, drop)| lost(drop) == Some(0)) && drops().all(|(_, drop)| lost(drop).unwrap_or(0) == 0);
    if place.under.is_some() || !place.others.is_empty() || !clean {
        return None;
    }
    let before = drops().filter(|(_, drop)| drop.counted_at.is_none()).max_by_key(|(_, drop)| drop.total);
    Some(match before {
        Some((row, DropRow { place, total: Some(total @ MANY..), .. })) => format!(
            "No loss grew on this host while it was looked at, but {} lost {} packets before ({}): scan while the load runs, \
             netdoctor scan --during 30s",
            row.name,
            numbers::count(*total),
            place.replace('_', " "),
        ),
        Some((_, DropRow { total: Some(1..), .. })) => {
            format!("No loss grew on this host while it was looked at: {ELSEWHERE}")
        }
        _ => format!("No loss was counted on this host: {ELSEWHERE}"),
    })
}

/// What tells of the outcomes of a suspect.
struct Judge<'a> {
    facts: &'a Facts<'a>,
    rules: &'a RuleSet,
    diagnosis: &'a Diagnosis,
    world: Seen<'a>,
}

impl Judge<'_> {
    fn rule(&self, suspect: &Suspect) -> &Rule {
        &self.rules.rules()[suspect.rule]
    }

    fn outcomes(&self, suspect: &Suspect) -> impl Iterator<Item = &Outcome> {
        suspect.outcomes.iter().map(|at| &self.diagnosis.outcomes[*at])
    }

    /// One line for subjects of which the same is known; of many lines the first ones.
    fn passed(&self, suspect: &Suspect) -> Vec<Excluded> {
        let rule = self.rule(suspect);
        let mut by: Vec<(String, Vec<&Outcome>)> = Vec::new();
        for outcome in self.outcomes(suspect) {
            let Some(text) = self.excuse(rule, outcome) else { continue };
            let known = by.iter().position(|(known, _)| *known == text);
            match known.or_else(|| (by.len() == LINES).then_some(LINES - 1)) {
                Some(at) => {
                    if known.is_none() {
                        "likewise, each by its own figures".clone_into(&mut by[at].0);
                    }
                    by[at].1.push(outcome);
                }
                None => by.push((text, vec![outcome])),
            }
        }
        let line = |(by, subjects): (String, Vec<&Outcome>)| Excluded {
            what: self.name(rule, &subjects),
            by,
            rule: Some(rule.id().into()),
        };
        by.into_iter().map(line).collect()
    }

    /// What shows that a rule has no part in it: it passed, or what it counted before stood still in the sample.
    fn excuse(&self, rule: &Rule, outcome: &Outcome) -> Option<String> {
        if outcome.verdict == Verdict::Passes {
            return Some(self.shown_by(rule, outcome));
        }
        let finding = outcome.finding.as_ref()?;
        let stood_still = |held: &Held| held.name == ArmName::Totals && held.not_growing;
        finding.arm.as_ref().filter(|held| stood_still(held))?;
        Some(seen::seen(self.facts, rule, outcome, finding)?.text)
    }

    fn undecided(&self, suspect: &Suspect, missing: &MissingOf<'_>) -> Vec<NotDecided> {
        let rule = self.rule(suspect);
        let mut by: BTreeMap<BTreeSet<Missing>, Vec<&Outcome>> = BTreeMap::new();
        for outcome in self.outcomes(suspect).filter(|one| one.verdict == Verdict::Unknown) {
            by.entry(missing(&outcome.missing)).or_default().push(outcome);
        }
        let line = |(missing, subjects): (BTreeSet<Missing>, Vec<&Outcome>)| NotDecided {
            what: self.name(rule, &subjects),
            rule: rule.id().into(),
            missing: missing.into_iter().collect(),
        };
        by.into_iter().map(line).collect()
    }

    /// "receive ring of eth2, eth3".
    fn name(&self, rule: &Rule, subjects: &[&Outcome]) -> String {
        let suspect = rule.spec.suspect.as_deref().unwrap_or(&rule.spec.title);
        let of: Vec<String> =
            subjects.iter().filter(|one| one.subject.scope != HOST).map(|one| self.facts.name(one.subject)).collect();
        if of.is_empty() { suspect.to_owned() } else { format!("{suspect} of {}", listed(&of)) }
    }

    /// The counts or facts by which a rule passed.
    fn shown_by(&self, rule: &Rule, outcome: &Outcome) -> String {
        if rule.arms.is_some() { self.counts(rule, outcome) } else { self.facts_of(rule, outcome) }
    }

    /// "rx_no_buffer +0 of 17 500 000 rx_packets in 10 s".
    fn counts(&self, rule: &Rule, outcome: &Outcome) -> String {
        let Some(arms) = &rule.arms else { return String::new() };
        let index = outcome.subject.index as usize;
        let counted = |name: &str| match self.facts.count(index, name) {
            Count::Counted(counted) => Some(counted),
            Count::Absent | Count::Unknown => None,
        };
        let names: Vec<&str> = arms.counted_names().collect();
        let found: Vec<(&str, Counted)> = names.iter().filter_map(|name| Some((*name, counted(name)?))).collect();
        if found.is_empty() {
            return "no such event in the log".into();
        }
        let number = |one: &Counted| match one.growth {
            Some(growth) => format!("+{}", numbers::count(growth)),
            None => numbers::count(one.total),
        };
        let mut text: Vec<String> =
            found.iter().take(FACTS).map(|(name, one)| format!("{name} {}", number(one))).collect();
        if found.len() > FACTS {
            text.push(format!("{} more likewise", found.len() - FACTS));
        }
        let mut text = text.join(", ");
        let base: Vec<&str> = arms.counter_names().filter(|name| !names.contains(name)).collect();
        if let [base] = base[..]
            && let Some(all) = counted(base)
        {
            text += &format!(" of {} {base}", numbers::count(all.growth.unwrap_or(all.total)));
        }
        let window = found.iter().find_map(|(_, one)| one.growth.and(one.window));
        text + &window.map(|window| format!(" in {}", numbers::duration(window))).unwrap_or_default()
    }

    /// The facts that the condition read.
    fn facts_of(&self, rule: &Rule, outcome: &Outcome) -> String {
        let roots = bind(rule, outcome.subject);
        let (values, _) = variables(rule, self.facts, &self.world, &roots);
        let touched = rule.when.evaluate_traced(&self.world, &roots, &values).touched;
        let evidence: BTreeSet<_> = rule.evidence.iter().flat_map(Program::reads).collect();
        let mut keys: Vec<Key> = touched.into_iter().collect();
        keys.sort_by_key(|key| (!evidence.contains(&(key.entity.scope, key.slot)), self.facts.path(*key), key.entity));
        let texts: Vec<String> = keys.into_iter().filter_map(|key| self.fact(key)).collect();
        match texts.len() {
            0 => "the condition does not hold".into(),
            1..=FACTS => texts.join(", "),
            more => format!("{} and {} more", texts[..FACTS].join(", "), more - FACTS),
        }
    }

    fn fact(&self, key: Key) -> Option<String> {
        let entry = self.facts.catalogue().entry(key)?;
        match self.facts.lookup(key).state {
            State::Known(Value::Entity(_) | Value::List(_)) | State::Unknown => None,
            State::Known(value) => Some(format!("{} {}", self.facts.path(key), show(&value, entry.unit))),
            State::Absent => Some(format!("no {}", self.facts.path(key))),
        }
    }

    /// Interfaces whose PCIe path a suspect weighs.
    fn paths(&self, suspect: &Suspect) -> BTreeSet<usize> {
        let rule = self.rule(suspect);
        let path = self.facts.catalogue().slot(DEVICE, "pcie.path.typical");
        let mut programs = rule.lets.iter().map(|(_, program)| program).chain([&rule.when]);
        let weighs =
            programs.any(|program| program.reads().iter().any(|read| Some(read.1) == path && read.0 == DEVICE));
        let passed = self.outcomes(suspect).filter(|one| weighs && one.verdict == Verdict::Passes);
        passed.flat_map(|one| self.facts.interfaces_of(one.subject)).collect()
    }

    /// Places of loss that the counters of a suspect stand for, by interface.
    fn places(&self, suspect: &Suspect) -> Vec<(String, &'static str)> {
        let names: Vec<&str> = self.rule(suspect).arms.iter().flat_map(Arms::counted_names).collect();
        let counters = self.facts.knowledge().canonical_counters().iter();
        let places: BTreeSet<Place> =
            counters.filter(|one| names.contains(&one.name.as_str())).filter_map(|one| one.place).collect();
        let interfaces = self.outcomes(suspect).filter(|one| one.subject.scope == INTERFACE);
        interfaces
            .flat_map(|one| places.iter().map(|place| (self.facts.name(one.subject), place.word())).collect::<Vec<_>>())
            .collect()
    }
}

/// Places of hardware ports at which nothing was lost and of which no line above speaks; alike ports share a line.
fn clean_places(rows: &[InterfaceRow], covered: &BTreeSet<(String, &str)>) -> Vec<Excluded> {
    let mut by: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|row| row.physical == Some(true)) {
        let name = super::interfaces::full_name(row);
        let clean = row.drops.iter().filter(|drop| drop.total == Some(0));
        let clean: Vec<&str> = clean
            .filter(|drop| !covered.iter().any(|(of, place)| *of == name && *place == drop.place))
            .map(|drop| place_words(&drop.place))
            .collect();
        match by.iter_mut().find(|(known, _)| *known == clean) {
            _ if clean.is_empty() => {}
            Some((_, names)) => names.push(name),
            None => by.push((clean, vec![name])),
        }
    }
    let line = |(places, names): (Vec<&str>, Vec<String>)| Excluded {
        what: format!("{} of {}", places.join(", "), listed(&names)),
        by: "0 packets lost since the driver was loaded".into(),
        rule: None,
    };
    by.into_iter().map(line).collect()
}

/// "eth0, eth1", and of many the first ones.
fn listed(names: &[String]) -> String {
    if names.len() <= NAMES {
        return names.join(", ");
    }
    format!("{} and {} more", names[..NAMES].join(", "), names.len() - NAMES)
}

fn place_words(place: &str) -> &str {
    match place {
        "wire" => "cable and optics",
        "nic" => "NIC buffer",
        "ring" => "receive ring",
        "softnet" => "backlog",
        "socket" => "socket buffers",
        "qdisc" => "queueing discipline",
        "tx_ring" => "transmit path",
        _ => "way to the wire",
    }
}
