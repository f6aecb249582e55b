//! Runs rule tests: builds the snapshot of a case, asks the rule, compares.

use std::collections::BTreeMap;

use super::cases::{Case, Expected, GivenLine, RuleCases, TestFile};
use crate::advice;
use crate::facts::{Facts, assign};
use crate::knowledge::Knowledge;
use crate::lang::Entity;
use crate::reading::{Reading, Source};
use crate::rules::schema::Side;
use crate::rules::{Outcome, Rule, RuleSet, Verdict, bind, diagnose};
use crate::snapshot::{LogLine, SCHEMA, Snapshot};

/// A case that did not come out as expected, or a rule whose tests are incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Test file.
    pub file: String,
    /// Rule id.
    pub rule: String,
    /// Name of the case; empty where the rule as a whole is meant.
    pub case: String,
    /// What is wrong.
    pub message: String,
}

/// What a run of rule tests yields.
#[derive(Clone, Debug, Default)]
pub struct RuleTests {
    /// Cases that were run.
    pub cases: usize,
    /// Those that failed.
    pub failures: Vec<Failure>,
}

/// The cases of one rule with their snapshots, ready to be asked again and again.
pub(super) type Prepared<'c> = Vec<(&'c Case, Snapshot)>;

impl Expected {
    fn verdict(self) -> Verdict {
        match self {
            Self::Fires => Verdict::Fires,
            Self::Passes => Verdict::Passes,
            Self::NotApplicable => Verdict::NotApplicable,
            Self::Unknown => Verdict::Unknown,
        }
    }
}

/// Runs all cases, and demands of each rule that it has cases which fire, pass and stay unknown.
pub fn run_tests(rules: &RuleSet, files: &[TestFile]) -> RuleTests {
    let mut tests = RuleTests::default();
    let mut kinds: BTreeMap<&str, Vec<Verdict>> = BTreeMap::new();
    for (file, cases) in files.iter().flat_map(|file| file.rules.iter().map(move |cases| (file, cases))) {
        if rules.get(&cases.rule).is_none() {
            tests.failures.push(failure(file, cases, "", "there is no such rule"));
            continue;
        }
        let (prepared, problems) = prepare(file, cases);
        tests.failures.extend(problems);
        for (case, snapshot) in &prepared {
            tests.cases += 1;
            kinds.entry(&cases.rule).or_default().push(case.expect.verdict());
            if let Err(message) = try_case(rules, &cases.rule, case, snapshot) {
                tests.failures.push(failure(file, cases, &case.name, message));
            }
        }
    }
    for rule in rules.rules() {
        let seen = kinds.get(rule.id()).map_or(&[][..], Vec::as_slice);
        for wanted in [Verdict::Fires, Verdict::Passes, Verdict::Unknown] {
            if !seen.contains(&wanted) {
                tests.failures.push(Failure {
                    file: rule.file.clone(),
                    rule: rule.id().into(),
                    case: String::new(),
                    message: format!("no case expects `{}`", wanted.word()),
                });
            }
        }
    }
    tests
}

fn failure(file: &TestFile, cases: &RuleCases, case: &str, message: impl Into<String>) -> Failure {
    Failure { file: file.name.clone(), rule: cases.rule.clone(), case: case.into(), message: message.into() }
}

/// The snapshots of the cases of a file, each with the names of its rule and its case.
pub fn given(file: &TestFile) -> Vec<(String, Snapshot)> {
    let name = |cases: &RuleCases, case: &Case| format!("{}, {}", cases.rule, case.name);
    let each = |cases| prepare(file, cases).0.into_iter().map(move |(case, snapshot)| (name(cases, case), snapshot));
    file.rules.iter().flat_map(each).collect()
}

/// Builds the snapshots of a rule's cases.
pub(super) fn prepare<'c>(file: &TestFile, cases: &'c RuleCases) -> (Prepared<'c>, Vec<Failure>) {
    let base = match base(file, cases) {
        Ok(base) => base,
        Err(message) => return (Vec::new(), vec![failure(file, cases, "", message)]),
    };
    let mut prepared = Vec::new();
    let mut failures = Vec::new();
    for case in &cases.cases {
        let mut snapshot = base.clone();
        if let Some(lines) = &case.log {
            let source = snapshot.origins.source(Source::assumed("rule test"));
            let line = |line: &GivenLine| LogLine {
                age: line.age,
                since_boot: line.since_boot,
                text: line.text.clone(),
                source,
                about: String::new(),
            };
            snapshot.host.log = Reading::Known(lines.iter().map(line).collect(), source);
        }
        let set = case.set.iter().try_for_each(|one| assign(&mut snapshot, one, Source::assumed("rule test")));
        match set {
            Ok(()) => prepared.push((case, snapshot)),
            Err(message) => failures.push(failure(file, cases, &case.name, message)),
        }
    }
    (prepared, failures)
}

fn base(file: &TestFile, cases: &RuleCases) -> Result<Snapshot, String> {
    let text = match (&cases.fixture, &cases.given) {
        (Some(fixture), None) => {
            let path = file.folder.join(fixture);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?
        }
        (None, Some(given)) => {
            let mut given = given.clone();
            given["schema"] = SCHEMA.into();
            given.to_string()
        }
        _ => return Err("give either `given` or `fixture`".into()),
    };
    Snapshot::from_json(&text).map_err(|error| format!("the given snapshot: {error}"))
}

/// Runs one case against a rule set.
pub(super) fn try_case(rules: &RuleSet, id: &str, case: &Case, snapshot: &Snapshot) -> Result<(), String> {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    let position = rules.position(id).ok_or("there is no such rule")?;
    let rule = &rules.rules()[position];
    let diagnosis = diagnose(rules, &facts);
    let subject = subject(&facts, rule, case)?;
    let outcome = diagnosis
        .outcomes
        .iter()
        .find(|outcome| outcome.rule == position && outcome.subject == subject)
        .ok_or("the rule was not asked of this subject")?;
    let named: Vec<String> = facts.gaps_below(&outcome.missing).keys().map(|key| facts.path(*key)).collect();
    let wanted = case.expect.verdict();
    if outcome.verdict != wanted {
        return Err(format!("expected {}, got {} {}", wanted.word(), outcome.verdict.word(), named.join(", ")));
    }
    if let Some(fact) = case.missing.iter().find(|fact| !named.contains(fact)) {
        return Err(format!("`{fact}` is not named as missing, but {named:?}"));
    }
    compare_finding(rule, case, outcome, &facts)
}

fn subject(facts: &Facts<'_>, rule: &Rule, case: &Case) -> Result<Entity, String> {
    if let Some(name) = &case.subject {
        return facts.find(name).ok_or_else(|| format!("there is no subject `{name}`"));
    }
    let mut all = facts.entities(rule.subject_scope());
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only),
        _ => Err("name the `subject`: there is not exactly one".into()),
    }
}

fn compare_finding(rule: &Rule, case: &Case, outcome: &Outcome, facts: &Facts<'_>) -> Result<(), String> {
    let Some(finding) = &outcome.finding else { return Ok(()) };
    let differs = |what: &str, wanted: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug| {
        Err(format!("{what}: expected {wanted:?}, got {got:?}"))
    };
    if case.kind.is_some_and(|kind| kind != finding.kind) {
        return differs("kind", &case.kind, &finding.kind);
    }
    if case.severity.is_some_and(|severity| severity != finding.severity) {
        return differs("severity", &case.severity, &finding.severity);
    }
    if case.confidence.is_some_and(|confidence| confidence != finding.confidence) {
        return differs("confidence", &case.confidence, &finding.confidence);
    }
    if let Some(wanted) = &case.sides {
        let sides = [(Side::Own, finding.senders.own), (Side::Peer, finding.senders.peer)];
        let told: Vec<Side> = sides.into_iter().filter(|(_, told)| *told).map(|(side, _)| side).collect();
        if *wanted != told {
            return differs("sides", wanted, &told);
        }
    }
    if let Some(wanted) = &case.assumed {
        let told = finding.assumptions(facts);
        let all_told = wanted.iter().all(|piece| told.iter().any(|line| line.contains(piece.as_str())));
        if !all_told || wanted.is_empty() != told.is_empty() {
            return differs("assumed", wanted, &told);
        }
    }
    let roots = bind(rule, outcome.subject);
    let mut said = rule.why.render(facts, &roots, &finding.variables);
    said += &rule.impact.render(facts, &roots, &finding.variables);
    said += &format!("\n{}\n", rule.title(facts, &roots, &finding.variables));
    for step in advice::steps(rule, finding, facts, outcome.subject) {
        for command in step.commands.iter().chain(&step.undo).chain(&step.keep.commands) {
            if let Some(flaw) = advice::flaw(command) {
                return Err(format!("the command `{command}` can't be typed: {flaw}"));
            }
        }
        let commands = [step.commands.join("\n"), step.undo.join("\n")].join("\n");
        let notes = [step.commands_note, step.gain, step.risk, step.verify, step.undo_note].join("\n");
        said += &format!("\n{}\n{}\n{commands}\n{notes}", step.action, step.place.word());
    }
    if let Some(piece) = case.never_says.iter().find(|piece| said.contains(piece.as_str())) {
        return Err(format!("it says `{piece}`: {said}"));
    }
    match case.says.iter().find(|piece| !said.contains(piece.as_str())) {
        Some(piece) => Err(format!("it does not say `{piece}`, but: {said}")),
        None => Ok(()),
    }
}
