//! `netdoctor rules trace`: why a rule did or did not fire, term by term.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::output::load_rules;
use super::rules::unknown_rule;
use super::{Output, RuleArguments, Surroundings, exit, scan};
use crate::capture;
use crate::facts::{Facts, Unit, show, unit_of_type};
use crate::knowledge::Knowledge;
use crate::lang::{Entity, Evaluation, Key, Program, State, Term, Value};
use crate::report::escape::visible;
use crate::report::origin;
use crate::rules::{Diagnosis, Rule, RuleSet, Seen, bind, diagnose, related, variables};

/// Arguments of `rules trace`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Rule id
    id: String,
    /// Interface, PCI address or `host`; none: every subject of the rule
    subject: Option<String>,
    /// A capture; none: this host
    #[arg(long, value_name = "CAPTURE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    rules: RuleArguments,
}

pub(super) fn run(arguments: &Arguments, surroundings: &mut Surroundings<'_>) -> Output {
    let (rules, problems) = match load_rules(&arguments.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let Some(position) = rules.position(&arguments.id) else { return unknown_rule(&rules, &arguments.id) };
    let snapshot = match &arguments.from {
        Some(path) => match capture::read_one(path) {
            Ok(snapshot) => snapshot,
            Err(error) => return Output::failure(error.to_string(), exit::INPUT),
        },
        None => scan::snapshot(&scan::Reading::two_samples(), surroundings),
    };
    let facts = Facts::new(&snapshot, Knowledge::embedded());
    let rule = &rules.rules()[position];
    let subjects: Vec<Entity> = match &arguments.subject {
        None => facts.entities(rule.subject_scope()).collect(),
        Some(name) => match facts.find(name) {
            Some(entity) => related(&facts, entity, rule.subject_scope()),
            None => return Output::failure(format!("there is no subject `{name}`"), exit::USAGE),
        },
    };
    let mut out = String::new();
    if subjects.is_empty() {
        out = format!("{}: this host has nothing that the rule is asked of\n", rule.id());
    }
    let diagnosis = diagnose(&rules, &facts);
    for subject in subjects {
        out += &trace(&rules, rule, &facts, &diagnosis, subject);
    }
    Output { out, err: problems, ..Output::default() }
}

fn trace(rules: &RuleSet, rule: &Rule, facts: &Facts<'_>, diagnosis: &Diagnosis, subject: Entity) -> String {
    let outcome =
        diagnosis.outcomes.iter().find(|one| rules.rules()[one.rule].id() == rule.id() && one.subject == subject);
    let verdict = outcome.map_or("not asked", |outcome| outcome.verdict.word());
    let mut out = format!("{} of {}: {}\n", rule.id(), visible(&facts.name(subject)), verdict.replace('_', " "));
    if let Some(outcome) = outcome {
        for (key, gap) in facts.gaps_below(&outcome.missing) {
            let gap = facts.gap(key, gap);
            let name = facts.name(key.entity);
            let line = format!(
                "  missing {} of {name}: {}  {}",
                facts.path(key),
                gap.why.word().replace('_', " "),
                gap.command
            );
            out += &format!("{}\n", visible(&line));
        }
    }
    let world = Seen::after(rules, facts, diagnosis);
    let roots = bind(rule, subject);
    let (values, _) = variables(rule, facts, &world, &roots);
    let mut printer = Printer { facts, rule, out: String::new() };
    let mut section = |name: &str, program: &Program, values: &[Evaluation]| {
        printer.out += &format!("{name}\n");
        printer.term(&program.explain(&world, &roots, values), 1, unit_of_type(program.result_type()));
    };
    if let Some(requires) = &rule.requires {
        section("requires", requires, &[]);
    }
    for (at, (name, program)) in rule.lets.iter().enumerate() {
        section(&format!("let {name}"), program, &values[..at]);
    }
    section("when", &rule.when, &values);
    for (severity, program) in &rule.severity_when {
        section(&format!("severity {severity:?} when").to_lowercase(), program, &values);
    }
    for (confidence, program) in &rule.confidence_when {
        section(&format!("confidence {confidence:?} when").to_lowercase(), program, &values);
    }
    out + &printer.out
}

struct Printer<'a> {
    facts: &'a Facts<'a>,
    rule: &'a Rule,
    out: String,
}

impl Printer<'_> {
    /// A line for a term and one, further in, for each of its parts. `unit` is that of the whole expression.
    fn term(&mut self, term: &Term, depth: usize, unit: Unit) {
        let facts = self.facts;
        let of_fact = term.key.and_then(|key| facts.catalogue().entry(key)).map(|entry| entry.unit);
        let named = self.rule.lets.iter().find(|(name, _)| *name == term.text);
        let of_let = named.map(|(_, program)| unit_of_type(program.result_type()));
        let unit = of_fact.or(of_let).unwrap_or(if depth == 1 { unit } else { Unit::Plain });
        let text = term.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (value, source) = (self.value(&term.outcome, unit), self.source(term));
        let line = format!("{:indent$}{text} = {value}{source}", "", indent = depth * 2);
        self.out += &format!("{}\n", visible(&line));
        if let Some(key) = term.key {
            self.readings(key, depth + 1, &mut BTreeSet::new());
        }
        for child in &term.children {
            self.term(child, depth + 1, Unit::Plain);
        }
    }

    /// The facts that a derived one follows from, down to the readings, each with its value and source.
    fn readings(&mut self, key: Key, depth: usize, seen: &mut BTreeSet<Key>) {
        for below in self.facts.lookup(key).from {
            if !seen.insert(below) {
                continue;
            }
            let unit = self.facts.catalogue().entry(below).map_or(Unit::Plain, |entry| entry.unit);
            let (path, name) = (self.facts.path(below), self.facts.name(below.entity));
            let value = self.value(&self.facts.lookup(below).state, unit);
            let line = format!("{:indent$}{path} of {name} = {value}{}", "", self.source_of(below), indent = depth * 2);
            self.out += &format!("{}\n", visible(&line));
            self.readings(below, depth + 1, seen);
        }
    }

    fn value(&self, outcome: &State, unit: Unit) -> String {
        match outcome {
            State::Known(Value::Entity(entity)) => self.facts.name(*entity),
            State::Known(Value::List(items)) => {
                let names = items.iter().map(|item| self.value(&State::Known(item.clone()), unit));
                format!("[{}]", names.collect::<Vec<_>>().join(", "))
            }
            State::Known(value) => show(value, unit),
            State::Absent => "absent".into(),
            State::Unknown => "unknown".into(),
        }
    }

    fn source(&self, term: &Term) -> String {
        term.key.map_or_else(String::new, |key| self.source_of(key))
    }

    fn source_of(&self, key: Key) -> String {
        let found = self.facts.lookup(key);
        let Some(gap) = found.gap else { return format!("  [{}]", origin(self.facts, &found).1) };
        let gap = self.facts.gap(key, gap);
        let detail = if gap.detail.is_empty() { String::new() } else { format!(": {}", gap.detail) };
        format!("  [{}{detail}]", gap.why.word().replace('_', " "))
    }
}
