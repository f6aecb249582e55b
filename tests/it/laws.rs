//! Laws of the engine: a reading that is removed never turns a result around; both routes to rules and knowledge are one.

use std::collections::{BTreeMap, BTreeSet};

use netdoctor::facts::{Catalogue, Facts, Put, set};
use netdoctor::knowledge::schema::{CanonicalCounter, DriverCounters, Drivers, LogEventSpec, Persistence};
use netdoctor::knowledge::{Knowledge, buses::Buses};
use netdoctor::reading::{Gap, GapKind};
use netdoctor::rules::schema::{Confidence, Kind, Severity};
use netdoctor::rules::{RuleSet, Verdict, diagnose, embedded_specs, parse_file};
use netdoctor::snapshot::Snapshot;
use serde::de::DeserializeOwned;

use crate::support::{files, fixtures, known_readings, read, repository, rules, snapshot, trials};

/// Changes that the law forbids and that a review found right: rule, fact that is removed, change, reason. An entry that no
/// fixture needs fails the test.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[];

/// What a rule said of a subject, as far as the law looks.
#[derive(Clone, Debug, PartialEq)]
struct Result {
    verdict: Verdict,
    said: Option<Loudness>,
}

#[derive(Clone, Debug, PartialEq)]
struct Loudness {
    kind: Kind,
    severity: Severity,
    confidence: Confidence,
    /// Something was taken to be true or assumed, and the finding says so.
    assumes: bool,
}

type Results = BTreeMap<(String, String), Result>;

fn results(rules: &RuleSet, snapshot: &Snapshot) -> Results {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    let outcomes = diagnose(rules, &facts).outcomes;
    let of = |outcome: netdoctor::rules::Outcome| {
        let said = outcome.finding.map(|finding| Loudness {
            kind: finding.kind,
            severity: finding.severity,
            confidence: finding.confidence,
            assumes: !finding.taken.is_empty() || !finding.assumed.is_empty(),
        });
        let id = rules.rules()[outcome.rule].id().to_owned();
        ((id, facts.name(outcome.subject)), Result { verdict: outcome.verdict, said })
    };
    outcomes.into_iter().map(of).collect()
}

fn is_loud(said: &Loudness) -> bool {
    said.kind <= Kind::Risk && said.severity >= Severity::Warning
}

/// What is wrong with a result after a reading was removed; nothing where the law allows it.
fn broken(before: &Result, after: &Result) -> Option<String> {
    let turned = format!("{} -> {}", before.verdict.word(), after.verdict.word());
    match (&before.said, &after.said) {
        _ if after.verdict == Verdict::Unknown || before == after => None,
        (Some(was), Some(is)) => {
            let quieter = is.confidence <= was.confidence && is.severity <= was.severity && is.kind >= was.kind;
            (!quieter || !is.assumes).then(|| format!("{turned}: {was:?}, then {is:?}"))
        }
        // A subject that the rule did not concern, or that nobody could tell of: only an assumed, quiet finding may come.
        (None, Some(is)) => {
            let undecided = matches!(before.verdict, Verdict::NotApplicable | Verdict::Unknown);
            (!undecided || !is.assumes || is_loud(is)).then_some(turned)
        }
        (Some(_), None) => Some(turned),
        (None, None) => {
            // Without its precondition a rule may come out as passed; a pass that is lost must say what is missing.
            let allowed = before.verdict == Verdict::NotApplicable && after.verdict == Verdict::Passes;
            (!allowed).then_some(turned)
        }
    }
}

/// Removes each known reading in turn; yields (rule, subject, fact, change) of each breach, and how many were tried.
fn removals(
    rules: &RuleSet,
    snapshot: &Snapshot,
    step: usize,
    turn: usize,
) -> (Vec<(String, String, String, String)>, usize) {
    let before = results(rules, snapshot);
    let mut breaches = Vec::new();
    let readings = trials(known_readings(snapshot), step, turn);
    for (key, path) in &readings {
        let mut without = snapshot.clone();
        let gap = without.origins.gap(Gap::new(GapKind::Failed).detail("removed by the test"));
        set(&mut without, key.entity, path, &Put::Unknown(gap)).unwrap();
        let after = results(rules, &without);
        assert_eq!(after.len(), before.len(), "{path}: a subject is gone");
        let fact = Catalogue::shared().full_path(*key);
        for ((rule, subject), was) in &before {
            if let Some(change) = broken(was, &after[&(rule.clone(), subject.clone())]) {
                breaches.push((rule.clone(), subject.clone(), fact.clone(), change));
            }
        }
    }
    (breaches, readings.len())
}

#[test]
fn a_removed_reading_turns_no_result_around() {
    let rules = RuleSet::embedded();
    let mut used = BTreeSet::new();
    let mut open = Vec::new();
    for (turn, (name, text)) in fixtures().into_iter().enumerate() {
        let (breaches, tried) = removals(&rules, &snapshot(&text), 5, turn);
        assert!(tried > 10, "{name}: only {tried} readings were removed");
        for (rule, subject, fact, change) in breaches {
            match EXCEPTIONS.iter().position(|(r, f, c, _)| *r == rule && *f == fact && change.starts_with(c)) {
                Some(at) => {
                    used.insert(at);
                }
                None => open.push(format!("{name}: {rule} of {subject} without {fact}: {change}")),
            }
        }
    }
    assert!(open.is_empty(), "{} breaches:\n{}", open.len(), open.join("\n"));
    let stale: Vec<_> = EXCEPTIONS.iter().enumerate().filter(|(at, _)| !used.contains(at)).collect();
    assert!(stale.is_empty(), "exceptions that nothing needs: {stale:?}");
}

#[test]
fn a_rule_that_breaks_the_law_is_caught() {
    // A known MTU of 9000 passes; "severity_when" may not make the finding louder when it is unread, `when` may not fire.
    let document = r#"{"schema": "netdoctor.snapshot/1", "interfaces": [
        {"name": "eth0", "mtu": [9000, "assumed"], "alias": ["x", "assumed"], "ring": {"rx": [512, "assumed"]}}]}"#;
    let lawful = rules(
        "- {id: mtu.small, title: t, kind: risk, severity: warning, scope: interface, when: iface.mtu < 9000B,
            confidence: high, why: w, impact: i, recommend: [], sources: [{from: test, checked: known}]}",
    );
    assert_eq!(removals(&lawful, &snapshot(document), 1, 0), (vec![], 3));
    let passed = Result { verdict: Verdict::Passes, said: None };
    let said = |severity, confidence, assumes| {
        let said = Loudness { kind: Kind::Risk, severity, confidence, assumes };
        Result { verdict: Verdict::Fires, said: Some(said) }
    };
    let unknown = Result { verdict: Verdict::Unknown, said: None };
    let outside = Result { verdict: Verdict::NotApplicable, said: None };
    let quiet = said(Severity::Advice, Confidence::Medium, true);
    for (before, after, allowed) in [
        (&passed, &unknown, true),
        (&passed, &quiet, false),
        (&quiet, &passed, false),
        (&quiet, &outside, false),
        (&passed, &outside, false),
        (&outside, &passed, true),
        (&outside, &quiet, true),
        (&outside, &said(Severity::Warning, Confidence::Low, true), false),
        (&outside, &said(Severity::Advice, Confidence::Low, false), false),
        (&quiet, &said(Severity::Warning, Confidence::Medium, true), false),
        (&quiet, &said(Severity::Advice, Confidence::High, true), false),
        (&quiet, &said(Severity::Info, Confidence::Low, true), true),
        (&quiet, &said(Severity::Info, Confidence::Low, false), false),
    ] {
        assert_eq!(broken(before, after).is_none(), allowed, "{before:?} {after:?}");
    }
}

#[test]
fn rules_come_out_the_same_by_both_routes() {
    let mut by_yaml = Vec::new();
    for path in files("rules", "yaml") {
        let name = path.strip_prefix(repository()).unwrap().display().to_string();
        let (specs, problems) = parse_file(&name, &read(&path));
        assert_eq!(problems, [], "{name}");
        by_yaml.extend(specs.into_iter().map(|(file, spec)| (file.name, spec)));
    }
    let embedded: Vec<_> = embedded_specs().into_iter().map(|(file, spec)| (file.name, spec)).collect();
    assert_eq!(embedded, by_yaml);
    let set = RuleSet::embedded();
    assert_eq!(set.problems, []);
    assert_eq!(set.rules().len(), by_yaml.len());
}

fn knowledge<T: DeserializeOwned>(path: impl AsRef<std::path::Path>) -> T {
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(&read(path), options).unwrap()
}

#[test]
fn knowledge_comes_out_the_same_by_both_routes() {
    let embedded = Knowledge::embedded();
    let canonical: Vec<CanonicalCounter> = knowledge("knowledge/canonical-counters.yaml");
    assert_eq!(embedded.canonical_counters(), canonical);
    assert_eq!(embedded.drivers(), &knowledge::<Drivers>("knowledge/drivers.yaml"));
    assert_eq!(embedded.persistence(), &knowledge::<Persistence>("knowledge/persistence.yaml"));
    assert_eq!(embedded.log_events(), knowledge::<Vec<LogEventSpec>>("knowledge/log-events.yaml"));
    // Tables of figures compare by what they print: floats come out of both routes to the last digit.
    let buses: Buses = knowledge("knowledge/buses.yaml");
    assert_eq!(format!("{:?}", embedded.buses()), format!("{buses:?}"));
    let mut drivers = Vec::new();
    for path in files("knowledge/counters", "yaml") {
        let counters: DriverCounters = knowledge(&path);
        assert_eq!(embedded.driver_counters(&counters.driver), Some(&counters));
        drivers.push(counters.driver);
    }
    assert_eq!(Knowledge::counter_drivers().collect::<Vec<_>>(), drivers);
}
