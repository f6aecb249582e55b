//! From diagnosis to report model: everything that a format shows is put into words and figures here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::model::{
    Check, ConflictLine, Evidence, Finding, HostLine, Keep, LikelyManager, Missing, NotSeen, OtherCause,
    Recommendation, Report, SCHEMA, Sample,
};
use super::{causes, ceilings, interfaces, next, seen, summary, unseen, way};
use crate::advice;
use crate::facts::{Facts, INTERFACE, Unit, show};
use crate::lang::{Key, State, Value};
use crate::reading::{Reading, Source, numbers};
use crate::rules::schema::Severity;
use crate::rules::{Diagnosis, Outcome, Ranked, Rule, RuleSet, Verdict, bind};
use crate::snapshot::Word;

/// Builds the report of one host.
pub fn assemble(facts: &Facts<'_>, rules: &RuleSet, diagnosis: &Diagnosis, ranked: &[Ranked]) -> Report {
    let findings: Vec<Finding> = ranked.iter().map(|place| finding(facts, rules, diagnosis, place)).collect();
    let snapshot = facts.snapshot();
    let mut interfaces = interfaces::rows(facts, &findings);
    let checks = checks(facts, rules, diagnosis);
    let not_seen = unseen::not_seen(facts, diagnosis);
    let idle = summary::idle(facts);
    let lacking = |keys: &BTreeSet<Key>| missing(facts, keys);
    let causes = causes::causes(facts, rules, diagnosis, ranked, (&findings, &interfaces), &lacking);
    let next_command = next::command(facts, rules, diagnosis, &findings, &causes.not_decided)
        .or_else(|| first_command(&not_seen).filter(|_| findings.is_empty()));
    let findings = way::first(facts, findings);
    way::interface_first(facts, &mut interfaces);
    let mut report = Report {
        schema: SCHEMA.into(),
        generator: concat!("netdoctor ", env!("CARGO_PKG_VERSION")).into(),
        answer: String::new(),
        capture: None,
        sample: Sample {
            seconds: snapshot.sample.seconds,
            idle,
            source: snapshot.sample.source.word().into(),
            quality: summary::quality(facts, idle),
            remarks: [snapshot.sample.remarks.clone(), not_compared(facts)].concat(),
            needs_root: snapshot.sample.needs_root.clone(),
        },
        host: host(facts),
        way: way::sentences(facts),
        understood: None,
        shared: ceilings::shared(facts),
        host_drops: interfaces::host_drops(facts, &interfaces),
        host_counters: interfaces::host_counters(facts),
        symptom: causes.symptom,
        not_the_cause: causes.not_the_cause,
        not_decided: causes.not_decided,
        next_command,
        conflicts: conflicts(facts),
        interfaces,
        findings,
        not_seen,
        checks,
    };
    report.answer = summary::answer(facts, &report);
    report
}

/// Measured results that no ceiling could be compared with, and why; and what weakens a comparison.
fn not_compared(facts: &Facts<'_>) -> Vec<String> {
    let snapshot = facts.snapshot();
    let results = snapshot.host.measured.known().map_or(&[][..], Vec::as_slice);
    let mut remarks = Vec::new();
    for (at, one) in results.iter().enumerate() {
        let rate = one.rate.known().map_or(0.0, |rate| rate.0 as f64);
        let file = one.source.map_or_else(String::new, |source| snapshot.origins.source_of(source).to_string());
        let what = format!("{file}: {} of {}", numbers::rate(rate), one.tool);
        let index = one.interface.known().and_then(|name| snapshot.interfaces.iter().position(|one| one.name == *name));
        let directions = index.map_or_else(Vec::new, |index| facts.judged_directions(index));
        if let Some(judged) = directions.iter().find(|judged| judged.measurement == at) {
            if let Some(Source::Inferred { from }) =
                one.interface.source().map(|source| snapshot.origins.source_of(source))
            {
                remarks.push(format!("{what} is taken by {from}"));
            }
            remarks.extend((!judged.caveats.is_empty()).then(|| format!("{what}: {}", judged.caveats.join("; "))));
            if one.binary_megabytes.known() == Some(&true) {
                remarks.push(format!("{what}: the MB/sec that it printed are 2^20 bytes a second"));
            }
            if one.both_ways.known() == Some(&true) {
                remarks.push(format!("{what}: the other direction ran too, so it is held against what each gets then"));
            }
            remarks.extend(ceilings::repeats(judged).map(|text| format!("{what}: {text}")));
            continue;
        }
        let why = match (index, one.protocol.known().map(String::as_str)) {
            (_, Some("udp")) => "a UDP sender offers what it was told to",
            (_, Some("infiniband")) => "InfiniBand has frames of its own",
            (None, _) => "no interface of this host matches; name it with --measured IFACE=FILE",
            (Some(_), _) if !directions.is_empty() => "another result of the same interface and direction is faster",
            (Some(_), _) => "its interface has no ceiling",
        };
        remarks.push(format!("{what}, not compared: {why}"));
    }
    remarks
}

fn host(facts: &Facts<'_>) -> HostLine {
    let host = &facts.snapshot().host;
    HostLine {
        name: host.name.known().cloned(),
        kernel: host.kernel.known().map(ToString::to_string),
        os: host.os.known().cloned(),
        platform: host.platform.known().cloned(),
        product: host.product.known().cloned(),
        privileged: host.privileged.known().copied(),
    }
}

fn finding(facts: &Facts<'_>, rules: &RuleSet, diagnosis: &Diagnosis, place: &Ranked) -> Finding {
    let outcome = &diagnosis.outcomes[place.outcome];
    let rule = &rules.rules()[outcome.rule];
    let Some(found) = &outcome.finding else { return Finding::default() };
    let roots = bind(rule, outcome.subject);
    let under = place.under.map(|cause| &diagnosis.outcomes[cause]);
    let group = (under.is_none() && place.group > found.severity).then(|| place.group.word().into());
    let name_of = |at: usize| {
        let outcome = &diagnosis.outcomes[at];
        (&rules.rules()[outcome.rule], facts.name(outcome.subject))
    };
    let others = place.others.iter().map(|other| {
        let (rule, subject) = name_of(other.outcome);
        OtherCause { rule: rule.id().into(), subject, title: rule.spec.title.clone(), why: other.why.words().into() }
    });
    let names = concerned(facts, outcome).into_iter().map(|index| facts.name(Facts::entity(INTERFACE, index)));
    let recommend = advice::steps(rule, found, facts, outcome.subject).into_iter().map(|step| Recommendation {
        action: step.action,
        place: step.place.word().into(),
        commands: step.commands,
        commands_note: step.commands_note,
        persist: persist(&step.keep),
        keep: (step.keep != advice::Keep::default()).then(|| kept(step.keep)),
        risk: step.risk,
        interrupts: step.interrupts.word().into(),
        hits_session: step.hits_session == Some(true),
        session_unread: step.hits_session.is_none(),
        gain: step.gain,
        verify: step.verify,
        undo: step.undo,
        undo_note: step.undo_note,
        withheld_by: place.withheld_by.clone(),
    });
    Finding {
        rule: rule.id().into(),
        kind: found.kind.word().into(),
        severity: found.severity.word().into(),
        confidence: found.confidence.word().into(),
        subject: facts.name(outcome.subject),
        interfaces: names.collect(),
        title: rule.title(facts, &roots, &found.variables),
        why: rule.why.render(facts, &roots, &found.variables),
        impact: rule.impact.render(facts, &roots, &found.variables),
        under: under.map(|cause| rules.rules()[cause.rule].id().into()),
        under_subject: under.map(|cause| facts.name(cause.subject)),
        under_confidence: place.surely.map(|surely| surely.word().into()),
        others: others.collect(),
        group_severity: group,
        seen: seen::seen(facts, rule, outcome, found),
        assumed: found.assumptions(facts),
        evidence: evidence(facts, rule, &found.touched),
        recommend: recommend.collect(),
    }
}

/// All that keeps a setting, line by line.
fn persist(keep: &advice::Keep) -> Vec<String> {
    let note = Some(&keep.note).filter(|note| !note.is_empty());
    note.into_iter().chain(&keep.lines).chain(&keep.commands).cloned().collect()
}

fn kept(keep: advice::Keep) -> Keep {
    let likely = keep.likely.into_iter().map(|(manager, needs)| LikelyManager { manager, needs });
    Keep {
        manager: keep.manager,
        note: keep.note,
        lines: keep.lines,
        commands: keep.commands,
        likely: likely.collect(),
    }
}

/// Interfaces that a finding concerns: of a card those that are up, if any is.
fn concerned(facts: &Facts<'_>, outcome: &Outcome) -> Vec<usize> {
    let all = facts.interfaces_of(outcome.subject);
    let is_up = |index: &usize| facts.snapshot().interfaces[*index].link.up.known() == Some(&true);
    let up: Vec<usize> = all.iter().copied().filter(is_up).collect();
    if up.is_empty() { all } else { up }
}

/// The facts that a finding rests on: first those that the rule names as evidence, then the others by path.
fn evidence(facts: &Facts<'_>, rule: &Rule, touched: &BTreeSet<Key>) -> Vec<Evidence> {
    let named: BTreeSet<_> = rule.evidence.iter().flat_map(crate::lang::Program::reads).collect();
    let mut keys: Vec<Key> = with_readings_below(facts, touched).into_iter().collect();
    keys.sort_by_key(|key| (!named.contains(&(key.entity.scope, key.slot)), facts.path(*key), key.entity));
    keys.into_iter().filter_map(|key| evidence_line(facts, key)).collect()
}

/// The facts themselves and all that derived ones follow from, down to the readings.
fn with_readings_below(facts: &Facts<'_>, touched: &BTreeSet<Key>) -> BTreeSet<Key> {
    let mut all = BTreeSet::new();
    let mut open: Vec<Key> = touched.iter().copied().collect();
    while let Some(key) = open.pop() {
        if all.insert(key) {
            open.extend(facts.lookup(key).from);
        }
    }
    all
}

fn evidence_line(facts: &Facts<'_>, key: Key) -> Option<Evidence> {
    let entry = facts.catalogue().entry(key)?;
    let found = facts.lookup(key);
    // References only lead to other facts.
    let State::Known(value) = &found.state else { return None };
    if matches!(value, Value::Entity(_))
        || matches!(value, Value::List(items) if items.iter().any(|item| matches!(item, Value::Entity(_))))
    {
        return None;
    }
    let (source, source_text) = origin(facts, &found);
    Some(Evidence {
        fact: facts.path(key),
        subject: facts.name(key.entity),
        value: json_value(value, entry.unit),
        unit: entry.unit.symbol().into(),
        text: show(value, entry.unit),
        source,
        source_text,
    })
}

/// Where a fact was read, or which facts it follows from.
pub fn origin(facts: &Facts<'_>, found: &crate::facts::Derived) -> (Json, String) {
    if let Some(source) = found.source {
        let source = facts.snapshot().origins.source_of(source);
        return (serde_json::to_value(source).unwrap_or_default(), source.to_string());
    }
    let mut from: Vec<String> =
        found.from.iter().map(|key| format!("{} of {}", facts.path(*key), facts.name(key.entity))).collect();
    from.dedup();
    let text = if from.is_empty() { "the snapshot itself".to_owned() } else { format!("from {}", from.join(", ")) };
    (serde_json::json!({"kind": "derived", "from": from}), text)
}

/// A value in the unit that stands beside it.
pub fn json_value(value: &Value, unit: Unit) -> Json {
    match value {
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Number(number) => {
            let number = unit.from_base(*number);
            if number.fract() == 0.0 && number.abs() < 9e15 { Json::from(number as i64) } else { Json::from(number) }
        }
        Value::Text(text) | Value::Word(text) => Json::String(text.to_string()),
        Value::Version(version) => Json::String(version.to_string()),
        Value::Set(words) => words.iter().map(|word| Json::String(word.to_string())).collect(),
        Value::List(items) => items.iter().map(|item| json_value(item, unit)).collect(),
        Value::Entity(entity) => Json::from(entity.index),
    }
}

fn missing(facts: &Facts<'_>, keys: &BTreeSet<Key>) -> BTreeSet<Missing> {
    let gaps = facts.gaps_below(keys);
    gaps.into_iter()
        .map(|(key, gap)| {
            let gap = facts.gap(key, gap);
            Missing { fact: facts.path(key), why: gap.why.word().into(), command: gap.command }
        })
        .collect()
}

/// Equal rule, result and missing facts stand once, with all their subjects.
fn checks(facts: &Facts<'_>, rules: &RuleSet, diagnosis: &Diagnosis) -> Vec<Check> {
    let mut groups: BTreeMap<(&str, Verdict, BTreeSet<Missing>), Vec<String>> = BTreeMap::new();
    for outcome in &diagnosis.outcomes {
        let lacking =
            if outcome.verdict == Verdict::Unknown { missing(facts, &outcome.missing) } else { BTreeSet::new() };
        let group = groups.entry((rules.rules()[outcome.rule].id(), outcome.verdict, lacking)).or_default();
        group.push(facts.name(outcome.subject));
    }
    groups
        .into_iter()
        .map(|((rule, verdict, missing), subjects)| Check {
            rule: rule.into(),
            result: verdict.word().into(),
            subjects,
            missing: missing.into_iter().collect(),
        })
        .collect()
}

/// Where nothing is open: a command that shows something more of what was found.
fn first_command(not_seen: &[NotSeen]) -> Option<String> {
    not_seen.iter().map(|one| one.command.clone()).find(|command| !command.is_empty())
}

fn conflicts(facts: &Facts<'_>) -> Vec<ConflictLine> {
    let origins = &facts.snapshot().origins;
    let line = |value: &str, source| format!("{value} ({})", origins.source_of(source));
    let conflicts = facts.snapshot().conflicts.iter();
    conflicts
        .map(|conflict| ConflictLine {
            subject: conflict.subject.clone(),
            fact: conflict.fact.clone(),
            used: line(&conflict.used, conflict.used_source),
            other: line(&conflict.other, conflict.other_source),
        })
        .collect()
}

/// A known reading, copied.
pub(super) fn copied<T: Copy>(reading: &Reading<T>) -> Option<T> {
    reading.known().copied()
}

/// True where one of the outcomes fires with kind fault or risk at this severity or above.
pub fn is_at_least(report: &Report, severity: Severity) -> bool {
    let rank = |word: &str| ["info", "advice", "warning", "critical"].iter().position(|one| *one == word);
    let least = rank(severity.word());
    report.findings.iter().any(|finding| finding.is_trouble() && rank(&finding.severity) >= least)
}
