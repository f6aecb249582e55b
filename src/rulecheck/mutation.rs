//! Mutants: a rule with one threshold, operator or term changed. A mutant that no test of the rule notices shows what the
//! tests do not say.

use std::path::Path;

use serde::Deserialize;

use super::cases::{SURVIVORS, TestFile, parse};
use super::run::{Prepared, prepare, try_case};
use crate::facts::Catalogue;
use crate::lang::{Allow, Context, mutants};
use crate::rules::located::Located;
use crate::rules::schema::{ArmSpec, LogArmSpec, RuleSpec};
use crate::rules::{Problem, Rule, RuleFile, RuleSet, arm_variables, roots};

/// A mutant that all tests let pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// Rule id.
    pub rule: String,
    /// What was changed, and where.
    pub mutant: String,
}

/// A survivor that was looked at and found harmless.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    /// Rule id.
    pub rule: String,
    /// What was changed, in the words of the report.
    pub mutant: String,
    /// Why no test can, or need, notice it.
    pub why: String,
}

/// Reads the list of survivors that were reviewed; a folder without one allows none.
pub fn read_allowed(folder: &Path) -> Result<Vec<Allowed>, Problem> {
    let path = folder.join(SURVIVORS);
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&path.display().to_string(), &text),
        Err(_) => Ok(Vec::new()),
    }
}

/// Number of mutants tried and those that survived.
pub fn survivors(rules: &RuleSet, files: &[TestFile]) -> (usize, Vec<Survivor>) {
    let mut tried = 0;
    let mut survived = Vec::new();
    for rule in rules.rules() {
        let tests = files.iter().flat_map(|file| file.rules.iter().map(move |cases| (file, cases)));
        let mine = tests.filter(|(_, cases)| cases.rule == rule.id());
        let prepared: Vec<Prepared<'_>> = mine.map(|(file, cases)| prepare(file, cases).0).collect();
        for (mutant, spec) in mutated(rules, rule) {
            let changed = with_mutant(rules, rule, spec);
            // A mutant that does not check is no mutant.
            if changed.get(rule.id()).is_none() {
                continue;
            }
            tried += 1;
            let mut cases = prepared.iter().flatten();
            if cases.all(|(case, snapshot)| try_case(&changed, rule.id(), case, snapshot).is_ok()) {
                survived.push(Survivor { rule: rule.id().into(), mutant });
            }
        }
    }
    (tried, survived)
}

/// The mutant with the rules that it asks for.
fn with_mutant(rules: &RuleSet, rule: &Rule, mutant: RuleSpec) -> RuleSet {
    let file_of = |rule: &Rule| RuleFile { name: rule.file.clone(), text: "".into() };
    let asked = rules.rules().iter().filter(|one| one.id() != rule.id() && rule.asks.contains(one.id()));
    let mut specs: Vec<_> = asked.map(|one| (file_of(one), one.spec.clone())).collect();
    specs.push((file_of(rule), mutant));
    RuleSet::compile(specs)
}

/// A place of an expression in a rule: what it is called, how to reach it, its number there.
type Place = (String, fn(&mut RuleSpec, usize) -> Option<&mut Located>, usize);

fn places(spec: &RuleSpec) -> Vec<Place> {
    let mut places: Vec<Place> = vec![("when".into(), |spec, _| Some(&mut spec.when), 0)];
    if spec.requires.is_some() {
        places.push(("requires".into(), |spec, _| spec.requires.as_mut(), 0));
    }
    for (at, (name, _)) in spec.lets.0.iter().enumerate() {
        places.push((format!("let {name}"), |spec, at| spec.lets.0.get_mut(at).map(|(_, place)| place), at));
    }
    let mut cases = |name: &str, count: usize, reach: fn(&mut RuleSpec, usize) -> Option<&mut Located>| {
        places.extend((0..count).map(|at| (format!("{name} {}", at + 1), reach, at)));
    };
    cases("severity_when", spec.severity_when.len(), |spec, at| {
        spec.severity_when.get_mut(at).map(|one| &mut one.when)
    });
    cases("kind_when", spec.kind_when.len(), |spec, at| spec.kind_when.get_mut(at).map(|one| &mut one.when));
    cases("confidence_when", spec.confidence_when.len(), |spec, at| {
        spec.confidence_when.get_mut(at).map(|one| &mut one.when)
    });
    cases("sides", spec.sides.len(), |spec, at| spec.sides.get_mut(at).map(|one| &mut one.when));
    cases("recommend", spec.recommend.len(), |spec, at| spec.recommend.get_mut(at).and_then(|one| one.when.as_mut()));
    places
}

fn mutated(rules: &RuleSet, rule: &Rule) -> Vec<(String, RuleSpec)> {
    let ids = rules.ids().map(str::to_owned).collect();
    let lets = rule.lets.iter().map(|(name, program)| (name.clone(), program.result_type().clone()));
    let arms = rule.arms.iter().flat_map(|_| arm_variables());
    let variables: Vec<_> = lets.chain(arms).collect();
    let allow = Allow { known: true, unknown: true, fired: true };
    let context = Context {
        vocabulary: Catalogue::shared(),
        roots: roots(rule.spec.scope),
        variables: &variables,
        allow,
        rules: &ids,
    };
    let mut all = Vec::new();
    for (name, reach, at) in places(&rule.spec) {
        let mut spec = rule.spec.clone();
        let Some(source) = reach(&mut spec, at).map(|place| place.text.clone()) else { continue };
        for mutant in mutants(&source, &context) {
            let mut changed = rule.spec.clone();
            if let Some(place) = reach(&mut changed, at) {
                place.text = mutant.source;
            }
            all.push((format!("{name}: {}", mutant.description), changed));
        }
    }
    if rule.spec.requires.is_some() {
        all.push(("requires: dropped".into(), RuleSpec { requires: None, ..rule.spec.clone() }));
    }
    all.extend(arm_mutants(&rule.spec));
    all.extend(log_mutants(&rule.spec));
    all
}

/// Each threshold of each arm at a half and at twice its value, and each arm dropped.
fn arm_mutants(spec: &RuleSpec) -> Vec<(String, RuleSpec)> {
    type Arm = fn(&mut RuleSpec) -> Option<&mut Option<ArmSpec>>;
    type Threshold = fn(&mut ArmSpec) -> &mut Option<Located>;
    let arms: [(&str, Arm); 3] = [
        ("delta", |spec| spec.arms.as_mut().map(|arms| &mut arms.delta)),
        ("repeat", |spec| spec.arms.as_mut().map(|arms| &mut arms.repeat)),
        ("totals", |spec| spec.arms.as_mut().map(|arms| &mut arms.totals)),
    ];
    let thresholds: [(&str, Threshold); 6] = [
        ("min", |arm| &mut arm.min),
        ("above", |arm| &mut arm.above),
        ("share", |arm| &mut arm.share),
        ("floor", |arm| &mut arm.floor),
        ("rate", |arm| &mut arm.rate),
        ("per_day", |arm| &mut arm.per_day),
    ];
    let mut all = Vec::new();
    for (arm_name, arm) in arms {
        let mut dropped = spec.clone();
        match arm(&mut dropped) {
            Some(place) if place.is_some() => *place = None,
            _ => continue,
        }
        all.push((format!("arm {arm_name}: dropped"), dropped));
        for (name, threshold) in thresholds {
            for factor in ["0.5", "2"] {
                let mut changed = spec.clone();
                let place = arm(&mut changed).and_then(Option::as_mut).and_then(|arm| threshold(arm).as_mut());
                let Some(place) = place else { continue };
                place.text = format!("{factor} * {}", place.text);
                all.push((format!("arm {arm_name}: {name} times {factor}"), changed));
            }
        }
    }
    all
}

/// Thresholds of the log arm at a half and at twice their value, each event dropped, and the arm dropped.
fn log_mutants(spec: &RuleSpec) -> Vec<(String, RuleSpec)> {
    type Threshold = fn(&mut LogArmSpec) -> &mut Option<Located>;
    let Some(log) = spec.arms.as_ref().and_then(|arms| arms.log.as_ref()) else { return Vec::new() };
    let with = |changed: Option<LogArmSpec>| {
        let mut spec = spec.clone();
        if let Some(arms) = &mut spec.arms {
            arms.log = changed;
        }
        spec
    };
    let mut all = vec![("arm log: dropped".to_owned(), with(None))];
    let thresholds: [(&str, Threshold); 2] = [("min", |arm| &mut arm.min), ("within", |arm| &mut arm.within)];
    for (name, threshold) in thresholds {
        for factor in ["0.5", "2"] {
            let mut changed = log.clone();
            if let Some(place) = threshold(&mut changed) {
                place.text = format!("{factor} * {}", place.text);
                all.push((format!("arm log: {name} times {factor}"), with(Some(changed))));
            }
        }
    }
    if log.events.len() > 1 {
        for at in 0..log.events.len() {
            let mut changed = log.clone();
            let event = changed.events.remove(at);
            all.push((format!("arm log: {} dropped", event.text), with(Some(changed))));
        }
    }
    all
}
