//! What the rules say of a host: for each rule and subject, fires, passes, not applicable or unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::arms::{Held, lower};
use super::compile::Rule;
use super::load::RuleSet;
use super::schema::{Confidence, Kind, Scope, Severity};
use super::senders::Senders;
use crate::facts::{DEVICE, Facts, HOST, INTERFACE};
use crate::lang::{Entity, Evaluation, Key, Program, Slot, State, Value, World};

/// Result of a rule for a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The condition holds.
    Fires,
    /// It does not.
    Passes,
    /// The rule does not concern this subject.
    NotApplicable,
    /// A fact that could decide it is missing.
    Unknown,
}

impl Verdict {
    /// The word of the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fires => "fires",
            Self::Passes => "passes",
            Self::NotApplicable => "not_applicable",
            Self::Unknown => "unknown",
        }
    }
}

/// One rule, one subject.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Position of the rule in its set.
    pub rule: usize,
    /// Subject.
    pub subject: Entity,
    /// Result.
    pub verdict: Verdict,
    /// For unknown: facts that could decide it.
    pub missing: BTreeSet<Key>,
    /// For fires: what is to be said.
    pub finding: Option<Finding>,
}

/// What a rule that fires has to say.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Kind.
    pub kind: Kind,
    /// Severity.
    pub severity: Severity,
    /// Confidence.
    pub confidence: Confidence,
    /// The arm that held, for counter rules.
    pub arm: Option<Held>,
    /// Facts of `requires` that were taken to be true.
    pub taken: BTreeSet<Key>,
    /// Inputs of derived facts that were assumed, in words.
    pub assumed: Vec<String>,
    /// Facts that it rests on.
    pub touched: BTreeSet<Key>,
    /// Values of the rule's variables, for its texts.
    pub variables: Vec<Evaluation>,
    /// Who sent the data that it is about.
    pub senders: Senders,
}

impl Finding {
    /// Everything that was assumed, in words: inputs of derived facts, and preconditions that were not read.
    pub fn assumptions(&self, facts: &Facts<'_>) -> Vec<String> {
        let taken = self.taken.iter().map(|key| format!("{} of {}", facts.path(*key), facts.name(key.entity)));
        self.assumed.iter().cloned().chain(taken).collect()
    }
}

/// All outcomes, in the order of rules and subjects.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// One for each rule and subject.
    pub outcomes: Vec<Outcome>,
}

impl Diagnosis {
    /// Outcomes that fire.
    pub fn findings(&self) -> impl Iterator<Item = (&Outcome, &Finding)> {
        self.outcomes.iter().filter_map(|outcome| Some((outcome, outcome.finding.as_ref()?)))
    }
}

/// Facts and the results so far: what `fired` may ask.
pub struct Seen<'a> {
    facts: &'a Facts<'a>,
    rules: &'a RuleSet,
    /// Results, each with its position among the outcomes.
    verdicts: BTreeMap<(usize, Entity), (Verdict, usize)>,
}

impl<'a> Seen<'a> {
    /// All results of a finished diagnosis.
    pub fn after(rules: &'a RuleSet, facts: &'a Facts<'a>, diagnosis: &Diagnosis) -> Self {
        let outcomes = diagnosis.outcomes.iter().enumerate();
        let verdicts = outcomes.map(|(at, one)| ((one.rule, one.subject), (one.verdict, at))).collect();
        Self { facts, rules, verdicts }
    }
}

/// The same world with a driver that no rule names, wherever the driver was not read.
struct OtherDriver<'s, 'a>(&'s Seen<'a>);

impl World for OtherDriver<'_, '_> {
    fn read(&self, entity: Entity, slot: Slot) -> State {
        match self.0.read(entity, slot) {
            State::Unknown if self.0.facts.is_driver(Key { entity, slot }) => State::Known(Value::Text("".into())),
            state => state,
        }
    }

    fn fired(&self, rule: &str, subject: Entity) -> State {
        self.0.fired(rule, subject)
    }
}

impl World for Seen<'_> {
    fn read(&self, entity: Entity, slot: Slot) -> State {
        self.facts.read(entity, slot)
    }

    fn fired(&self, rule: &str, subject: Entity) -> State {
        let Some(position) = self.rules.position(rule) else { return State::Unknown };
        let scope = self.rules.rules()[position].subject_scope();
        let mut unknown = false;
        for other in related(self.facts, subject, scope) {
            match self.verdicts.get(&(position, other)).map(|(verdict, _)| verdict) {
                Some(Verdict::Fires) => return State::TRUE,
                Some(Verdict::Unknown) | None => unknown = true,
                Some(Verdict::Passes | Verdict::NotApplicable) => {}
            }
        }
        if unknown { State::Unknown } else { State::FALSE }
    }
}

/// Subjects of a scope that belong to a subject: itself, the card of a port, the ports of a card, the host.
pub fn related(facts: &Facts<'_>, subject: Entity, scope: crate::lang::ScopeId) -> Vec<Entity> {
    let index = subject.index as usize;
    match (subject.scope, scope) {
        (from, to) if from == to => vec![subject],
        (_, HOST) => vec![Facts::entity(HOST, 0)],
        (INTERFACE, DEVICE) => {
            let device = facts.device_of(index).map(|device| facts.primary(device));
            device.map(|device| Facts::entity(DEVICE, device)).into_iter().collect()
        }

        (DEVICE, INTERFACE) => {
            facts.interfaces_of(subject).into_iter().map(|port| Facts::entity(INTERFACE, port)).collect()
        }
        (HOST, _) => facts.entities(scope).collect(),
        _ => Vec::new(),
    }
}

/// Asks every rule of every subject.
pub fn diagnose(rules: &RuleSet, facts: &Facts<'_>) -> Diagnosis {
    let mut seen = Seen { facts, rules, verdicts: BTreeMap::new() };
    let mut outcomes = Vec::new();
    for (position, rule) in rules.rules().iter().enumerate() {
        for subject in facts.entities(rule.subject_scope()) {
            let mut outcome = ask(rule, position, subject, &seen);
            if outcome.verdict == Verdict::Unknown {
                let below = missing_below(rule, subject, &seen, &outcomes);
                outcome.missing.extend(below);
            }
            seen.verdicts.insert((position, subject), (outcome.verdict, outcomes.len()));
            outcomes.push(outcome);
        }
    }
    Diagnosis { outcomes }
}

/// What is missing to the rules that a condition asks for.
fn missing_below(rule: &Rule, subject: Entity, seen: &Seen<'_>, outcomes: &[Outcome]) -> BTreeSet<Key> {
    let mut missing = BTreeSet::new();
    for asked in rule.when.fired_rules() {
        let Some(position) = seen.rules.position(&asked) else { continue };
        let scope = seen.rules.rules()[position].subject_scope();
        let subjects = related(seen.facts, subject, scope);
        let asked = subjects.into_iter().filter_map(|subject| seen.verdicts.get(&(position, subject)));
        missing.extend(asked.flat_map(|(_, at)| &outcomes[*at].missing).copied());
    }
    missing
}

/// Entities bound to the names of a rule.
pub fn bind(rule: &Rule, subject: Entity) -> Vec<Entity> {
    match rule.spec.scope {
        Scope::Host => vec![subject],
        Scope::Interface | Scope::PciDevice => vec![subject, Facts::entity(HOST, 0)],
    }
}

/// Values of a rule's variables for a subject, and the arm that held.
pub fn variables(
    rule: &Rule,
    facts: &Facts<'_>,
    world: &dyn World,
    roots: &[Entity],
) -> (Vec<Evaluation>, Option<Held>) {
    values(rule, facts, world, roots, Program::evaluate_traced)
}

/// An evaluation with or without a note of the facts that were read.
type Evaluate = fn(&Program, &dyn World, &[Entity], &[Evaluation]) -> Evaluation;

fn values(
    rule: &Rule,
    facts: &Facts<'_>,
    world: &dyn World,
    roots: &[Entity],
    evaluate: Evaluate,
) -> (Vec<Evaluation>, Option<Held>) {
    let mut variables = Vec::with_capacity(rule.lets.len() + 10);
    for (_, program) in &rule.lets {
        let value = evaluate(program, world, roots, &variables);
        variables.push(value);
    }
    let Some(arms) = &rule.arms else { return (variables, None) };
    let mut result = arms.evaluate(facts, roots[0]);
    variables.append(&mut result.variables);
    (variables, result.held)
}

/// True where a condition can never hold, whatever is still unread.
fn excluded(evaluation: &Evaluation) -> bool {
    match evaluation.outcome {
        State::Known(Value::Bool(holds)) => !holds,
        State::Known(_) | State::Absent => true,
        State::Unknown => !evaluation.absent.is_empty(),
    }
}

fn ask(rule: &Rule, position: usize, subject: Entity, seen: &Seen<'_>) -> Outcome {
    let roots = bind(rule, subject);
    let mut outcome =
        Outcome { rule: position, subject, verdict: Verdict::NotApplicable, missing: BTreeSet::new(), finding: None };
    // Most rules do not fire: only for a finding is it noted which facts were read.
    let requires = rule.requires.as_ref().map(|program| program.evaluate(seen, &roots, &[]));
    if requires.as_ref().is_some_and(excluded) {
        return outcome;
    }
    // A precondition that was not read is taken to hold, but nobody takes a port for one of the named drivers.
    if let Some((program, requires)) = rule.requires.as_ref().zip(requires.as_ref())
        && requires.needed.iter().any(|key| seen.facts.is_driver(*key))
        && excluded(&program.evaluate(&OtherDriver(seen), &roots, &[]))
    {
        outcome.verdict = Verdict::Unknown;
        outcome.missing.clone_from(&requires.needed);
        return outcome;
    }
    let (quick, _) = values(rule, seen.facts, seen, &roots, Program::evaluate);
    let when = rule.when.evaluate(seen, &roots, &quick);
    let taken = requires.as_ref().map_or_else(BTreeSet::new, |requires| requires.needed.clone());
    match when.outcome {
        State::Known(Value::Bool(true)) => {
            outcome.verdict = Verdict::Fires;
            let (variables, arm) = variables(rule, seen.facts, seen, &roots);
            let mut touched = rule.when.evaluate_traced(seen, &roots, &variables).touched;
            if let Some(program) = &rule.requires {
                touched.extend(program.evaluate_traced(seen, &roots, &[]).touched);
            }
            for program in &rule.evidence {
                touched.extend(program.evaluate_traced(seen, &roots, &variables).touched);
            }
            outcome.finding = Some(finding(rule, seen, &roots, variables, arm, taken, touched));
        }
        State::Known(_) => outcome.verdict = Verdict::Passes,
        State::Unknown if when.absent.is_empty() => {
            outcome.verdict = Verdict::Unknown;
            outcome.missing = when.needed;
            outcome.missing.extend(taken);
        }
        State::Absent | State::Unknown => {}
    }
    outcome
}

fn finding(
    rule: &Rule,
    world: &Seen<'_>,
    roots: &[Entity],
    variables: Vec<Evaluation>,
    arm: Option<Held>,
    taken: BTreeSet<Key>,
    touched: BTreeSet<Key>,
) -> Finding {
    let holds = |program: &Program| match program.evaluate(world, roots, &variables).outcome {
        State::Known(Value::Bool(holds)) => Some(holds),
        State::Absent => Some(false),
        _ => None,
    };
    let spec = &rule.spec;
    let kind = choose(&rule.kind_when, spec.kind, &holds, |a, b| if loudness(a) > loudness(b) { b } else { a });
    let mut severity = choose(&rule.severity_when, spec.severity, &holds, Severity::min);
    let mut confidence = match &arm {
        Some(held) => held.confidence,
        None => choose(&rule.confidence_when, spec.confidence, &holds, Confidence::min),
    };
    if arm.as_ref().is_some_and(|held| held.not_growing || held.old) {
        severity = Severity::Info;
    }
    let mut assumed: Vec<String> = Vec::new();
    for key in &touched {
        for one in world.facts.lookup(*key).assumed {
            if !assumed.contains(&one) {
                assumed.push(one);
            }
        }
    }
    // What was taken to be true costs one step and never makes a finding loud.
    if !taken.is_empty() {
        confidence = lower(confidence);
        severity = severity.min(Severity::Advice);
    }
    let senders = Senders::of(rule, world, world.facts, roots, &variables);
    Finding { kind, severity, confidence, arm, taken, assumed, touched, variables, senders }
}

fn loudness(kind: Kind) -> u8 {
    match kind {
        Kind::Fault => 3,
        Kind::Risk => 2,
        Kind::Limit => 1,
        Kind::Hygiene => 0,
    }
}

/// The first case whose condition holds, else the default. A case that can't be decided counts where it is the quieter one:
/// an unread refinement never makes a finding louder.
fn choose<T: Copy>(
    cases: &[(T, Program)],
    default: T,
    holds: &dyn Fn(&Program) -> Option<bool>,
    quieter: fn(T, T) -> T,
) -> T {
    let mut open = Vec::new();
    let mut chosen = default;
    for (is, when) in cases {
        match holds(when) {
            Some(true) => {
                chosen = *is;
                break;
            }
            Some(false) => {}
            None => open.push(*is),
        }
    }
    open.into_iter().fold(chosen, quieter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;
    use crate::snapshot::Snapshot;

    fn verdicts(fixture: &str) -> Vec<(String, String, Verdict)> {
        let text = std::fs::read_to_string(format!("fixtures/{fixture}")).unwrap();
        let snapshot = Snapshot::from_json(&text).unwrap();
        let facts = Facts::new(&snapshot, Knowledge::embedded());
        let rules = RuleSet::embedded();
        assert_eq!(rules.problems, []);
        diagnose(&rules, &facts)
            .outcomes
            .iter()
            .map(|outcome| (rules.rules()[outcome.rule].id().to_owned(), facts.name(outcome.subject), outcome.verdict))
            .collect()
    }

    #[test]
    fn the_slot_limits_the_card_in_gen3_x4_and_not_in_gen4_x16() {
        let rule = || "pcie.path-below-link".to_owned();
        let narrow = verdicts("seeds/qnap-ts855x-mtu1500.json");
        assert!(narrow.contains(&(rule(), "0000:01:00.0".into(), Verdict::Fires)), "{narrow:?}");
        assert!(narrow.contains(&(rule(), "0000:01:00.1".into(), Verdict::NotApplicable)), "{narrow:?}");
        let wide = verdicts("seeds/qnap-tsh1277afx.json");
        assert!(wide.contains(&(rule(), "0000:01:00.0".into(), Verdict::Passes)), "{wide:?}");
    }
}
