//! The next best command: the one that decides or narrows most.
//!
//! What narrows a range that the report shows does so for certain. A rule that is merely open seldom fires: on a healthy host
//! none does. So however many open rules a command would decide, they weigh less than one finding that it would sharpen. Where a
//! symptom stands without its cause, one of the rules that would explain it is expected to fire, and each of them counts in full.

use std::collections::{BTreeMap, BTreeSet};

use super::model::NotDecided;
use crate::facts::{Facts, MeasuredVerdict};
use crate::formats::shell::shell_quote;
use crate::lang::{Key, State};
use crate::rules::schema::{Kind, Severity};
use crate::rules::{Diagnosis, Finding, Rule, RuleSet, Verdict};

/// How often an open rule is expected to fire: a guess, far below one.
const SELDOM: f64 = 0.1;

/// What a command is worth.
#[derive(Clone, Copy, Debug, Default)]
struct Worth {
    /// Findings that it sharpens, and causes that it finds.
    certain: f64,
    /// Chance that none of the merely open rules that it decides fires.
    nothing: Option<f64>,
}

impl Worth {
    fn total(self) -> f64 {
        self.certain + 1.0 - self.nothing.unwrap_or(1.0)
    }
}

/// The command; `None` where no command would tell more. `causes` are those of the loudest symptom that were not decided.
pub(super) fn command(
    facts: &Facts<'_>,
    rules: &RuleSet,
    diagnosis: &Diagnosis,
    causes: &[NotDecided],
) -> Option<String> {
    if let Some(again) = measure_again(facts) {
        return Some(again);
    }
    let mut worth: BTreeMap<String, Worth> = BTreeMap::new();
    for outcome in diagnosis.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Unknown) {
        let commands = commands(facts, &outcome.missing);
        // Of several commands each decides a part.
        let part = stake(&rules.rules()[outcome.rule]) / commands.len() as f64;
        for command in commands {
            let one = worth.entry(command).or_default();
            one.nothing = Some(one.nothing.unwrap_or(1.0) * (1.0 - SELDOM * part));
        }
    }
    for cause in causes {
        let named: BTreeSet<&String> =
            cause.missing.iter().map(|one| &one.command).filter(|command| !command.is_empty()).collect();
        let part = rules.get(&cause.rule).map_or(0.0, stake) / named.len() as f64;
        for command in named {
            worth.entry(command.clone()).or_default().certain += part;
        }
    }
    for (outcome, finding) in diagnosis.findings() {
        let stake = stake(&rules.rules()[outcome.rule]);
        for command in commands(facts, &assumed_for(facts, finding)) {
            worth.entry(command).or_default().certain += stake;
        }
    }
    // Of equal ones the first by name.
    let best = worth.into_iter().reduce(|best, one| if one.1.total() > best.1.total() { one } else { best });
    best.map(|(command, _)| command)
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
        let open = |rules: usize| Worth { certain: 0.0, nothing: Some((1.0 - SELDOM).powi(rules as i32)) };
        assert!(open(1).total() < open(2).total());
        assert!(open(200).total() < Worth { certain: 1.0, nothing: None }.total());
        assert!(Worth { certain: 1.0, ..open(1) }.total() > Worth { certain: 1.0, nothing: None }.total());
    }
}
