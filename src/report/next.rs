//! The next best command: the one that decides or narrows most.
//!
//! What narrows a range that the report shows does so for certain. A rule that is merely open seldom fires: on a healthy host
//! none does. So however many open rules a command would decide, they weigh less than one finding that it would sharpen. Where a
//! symptom stands without its cause, one of the rules that would explain it is expected to fire, and each of them counts in full.
//!
//! Where a fault is found, nobody wants to know what else could be read of the host: then only what may explain it counts, and
//! where nothing does, the first thing to type is what the finding itself asks to look at.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{self as shown, NotDecided};
use crate::facts::{Facts, HOST, MeasuredVerdict};
use crate::formats::shell::shell_quote;
use crate::lang::{Key, State};
use crate::rules::schema::{Kind, Severity};
use crate::rules::{Diagnosis, Finding, Rule, RuleSet, Verdict, explained_by};
use crate::snapshot::SampleSource;

/// How often an open rule is expected to fire: a guess, far below one.
const SELDOM: f64 = 0.1;

/// The fact that a rule misses where it waits for the log.
const LOG: &str = "host.log_lines";

/// What a cause that the log tells of weighs beside one that is counted.
const SELDOM_LOSES: f64 = 0.3;

/// What is typed after a live scan that took one sample.
const AGAIN: &str = "netdoctor scan --during 10s";

/// What is typed where no interface is known.
const LIST: &str = "ip -d -s link show";

/// What a command is worth.
#[derive(Clone, Debug, Default)]
struct Worth {
    /// Findings that it sharpens.
    certain: f64,
    /// Causes of the symptom that it decides, the largest part by area.
    causes: BTreeMap<String, f64>,
    /// What is typed in full, with how many wait for just that: counters of one interface are shown by one command and for some
    /// drivers by a second.
    forms: BTreeMap<String, usize>,
    /// Of the merely open rules that it decides the largest part by area: a dozen rules that wait for one file are no dozen chances.
    open: BTreeMap<String, f64>,
}

impl Worth {
    fn total(&self) -> f64 {
        let nothing: f64 = self.open.values().map(|part| 1.0 - SELDOM * part).product();
        self.certain + self.causes.values().sum::<f64>() + 1.0 - nothing
    }
}

/// Of several commands that a rule waits for, one alone seldom decides it.
fn shared(commands: usize) -> f64 {
    (commands * commands) as f64
}

/// Counts a part of a rule unless its area has a larger one already.
fn count(parts: &mut BTreeMap<String, f64>, rule: &str, part: f64) {
    let area = rule.split('.').next().unwrap_or_default();
    let known = parts.entry(area.to_owned()).or_default();
    *known = known.max(part);
}

/// The command; `None` where no command would tell more. `causes` are those of the loudest symptom that were not decided.
pub(super) fn command(
    facts: &Facts<'_>,
    rules: &RuleSet,
    diagnosis: &Diagnosis,
    findings: &[shown::Finding],
    causes: &[NotDecided],
) -> Option<String> {
    if let Some(again) = measure_again(facts) {
        return Some(again);
    }
    let fault = findings.iter().find(|one| one.under.is_none() && asks(one));
    let sample = &facts.snapshot().sample;
    if fault.is_none() && sample.source == SampleSource::Live && sample.seconds <= 0.0 {
        return Some(AGAIN.into());
    }
    if fault.is_none() && facts.snapshot().interfaces.is_empty() {
        return Some(LIST.into());
    }
    let log = facts.key(HOST, 0, "log_lines");
    let mut worth: BTreeMap<String, Worth> = BTreeMap::new();
    let behind = fault.and_then(|fault| rules.position(&fault.rule)).map(|rule| explained_by(rules, rule));
    for outcome in diagnosis.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Unknown) {
        let rule = &rules.rules()[outcome.rule];
        let may_explain = behind.as_ref().is_none_or(|behind| behind.contains(&outcome.rule));
        if !may_explain && fault.is_some_and(|fault| !is_alike(rule, fault)) {
            continue;
        }
        let commands = commands(facts, &outcome.missing);
        let told = if log.iter().any(|key| outcome.missing.contains(key)) { SELDOM_LOSES } else { 1.0 };
        let part = stake(rule) * aside(facts, rule) * told / shared(commands.len());
        for command in commands {
            count(&mut of(&mut worth, &command).open, rule.id(), part);
        }
    }
    for cause in causes {
        let named: BTreeSet<&String> =
            cause.missing.iter().map(|one| &one.command).filter(|command| !command.is_empty()).collect();
        // Counters place a loss; most that the log tells of loses none.
        let told = if cause.missing.iter().any(|one| one.fact == LOG) { SELDOM_LOSES } else { 1.0 };
        let part = rules.get(&cause.rule).map_or(0.0, stake) * told / shared(named.len());
        for command in named {
            count(&mut of(&mut worth, command).causes, &cause.rule, part);
        }
    }
    for (outcome, finding) in diagnosis.findings() {
        let stake = stake(&rules.rules()[outcome.rule]);
        for command in commands(facts, &assumed_for(facts, finding)) {
            of(&mut worth, &command).certain += stake;
        }
    }
    if worth.is_empty()
        && let Some(fault) = fault
    {
        // The finding stands: what it asks to look at comes next.
        let looks = fault.recommend.iter().filter(|step| step.undo.is_empty() && step.interrupts == "none");
        return looks.flat_map(|step| &step.commands).next().cloned();
    }
    // Of equal ones the first by name.
    let best = worth.into_iter().reduce(|best, one| if one.1.total() > best.1.total() { one } else { best });
    let (_, best) = best?;
    let form = best.forms.into_iter().reduce(|most, one| if one.1 > most.1 { one } else { most });
    form.map(|(command, _)| command)
}

/// A fault or risk that asks for something to be done.
fn asks(finding: &shown::Finding) -> bool {
    finding.is_trouble() && finding.group() != "info"
}

/// True where both are of one area. What parameters have in common is just that they are parameters.
fn is_alike(rule: &Rule, fault: &shown::Finding) -> bool {
    let area = |id: &str| id.split_once('.').map(|(area, _)| area.to_owned()).filter(|area| area != "sysctl");
    area(rule.id()).is_some_and(|area_of_rule| Some(area_of_rule) == area(&fault.rule))
}

/// What is known of the command that a line begins with.
fn of<'w>(worth: &'w mut BTreeMap<String, Worth>, line: &str) -> &'w mut Worth {
    let first = line.split("; ").next().unwrap_or(line);
    let one = worth.entry(first.to_owned()).or_default();
    *one.forms.entry(line.to_owned()).or_default() += 1;
    one
}

/// A result below the ceiling that was not measured well enough to conclude from is measured again first.
fn measure_again(facts: &Facts<'_>) -> Option<String> {
    let interfaces = &facts.snapshot().interfaces;
    (0..interfaces.len()).find_map(|index| {
        let judged = facts.judged(index)?;
        let doubtful = judged.verdict == MeasuredVerdict::NotTheLimit && !judged.caveats.is_empty();
        let peer = facts.measurement(judged.measurement)?.peer_address.known()?;
        // A result that the other end printed names this host.
        let own = |held: &String| held.split('/').next() == Some(peer);
        let is_own = interfaces.iter().any(|one| one.addresses.known().is_some_and(|all| all.iter().any(own)));
        let peer = shell_quote(peer);
        (doubtful && !is_own).then(|| format!("iperf3 -c {peer} -P 4 -t 30; iperf3 -c {peer} -P 4 -t 30 -R"))
    })
}

fn commands(facts: &Facts<'_>, keys: &BTreeSet<Key>) -> BTreeSet<String> {
    let gaps = facts.gaps_below(keys).into_iter().map(|(key, gap)| facts.gap(key, gap).command);
    gaps.filter(|command| !command.is_empty()).collect()
}

/// Unread facts that a finding had to assume something for.
fn assumed_for(facts: &Facts<'_>, finding: &Finding) -> BTreeSet<Key> {
    let derived = finding.touched.iter().map(|key| facts.lookup(*key)).filter(|found| !found.assumed.is_empty());
    let below = derived.flat_map(|found| found.from).chain(finding.taken.iter().copied());
    below.filter(|key| facts.lookup(*key).state == State::Unknown).collect()
}

/// Who shows what one interface prints asks about that interface: rules about the host come second then.
fn aside(facts: &Facts<'_>, rule: &Rule) -> f64 {
    let shown = facts.snapshot().sample.source != SampleSource::Live && !facts.snapshot().interfaces.is_empty();
    if shown && rule.subject_scope() == HOST { 0.5 } else { 1.0 }
}

/// What the answer of a rule matters.
fn stake(rule: &Rule) -> f64 {
    let spec = &rule.spec;
    let loudest = spec.severity_when.iter().map(|one| one.is).fold(spec.severity, Severity::max);
    let kind = spec.kind_when.iter().map(|one| one.is).fold(spec.kind, Kind::min);
    match kind {
        Kind::Fault | Kind::Risk if loudest >= Severity::Warning => 1.0,
        Kind::Limit if loudest >= Severity::Advice => 1.0,
        Kind::Fault | Kind::Risk | Kind::Limit => 0.5,
        Kind::Hygiene => 0.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_open_rules_outweighs_a_finding_that_narrows() {
        let open = |areas: &[&str]| {
            let mut worth = Worth::default();
            for area in areas {
                count(&mut worth.open, area, 1.0);
            }
            worth
        };
        let narrows = Worth { certain: 1.0, ..Worth::default() };
        assert!(open(&["tcp"]).total() < open(&["tcp", "ring"]).total());
        assert_eq!(open(&["tcp"]).total(), open(&["tcp", "tcp"]).total(), "what waits for the same is one chance");
        let areas: Vec<String> = (0..200).map(|n| n.to_string()).collect();
        let areas: Vec<&str> = areas.iter().map(String::as_str).collect();
        assert!(open(&areas).total() <= narrows.total());
        assert!(Worth { certain: 1.0, ..open(&["tcp"]) }.total() > narrows.total());
    }
}
