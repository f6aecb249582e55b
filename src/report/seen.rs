//! When a finding was seen, in words that fit the evidence: grown in the sample, between two outputs, told by the log, counted
//! since boot, measured in a test.

use super::model::SeenAt;
use crate::facts::{Facts, HOST};
use crate::knowledge::schema::CounterUnit;
use crate::reading::numbers;
use crate::rules::{ArmName, Finding, Held, Outcome, Rule};
use crate::snapshot::SampleSource;

/// When and how often; none for a state or a setting.
pub(super) fn seen(facts: &Facts<'_>, rule: &Rule, outcome: &Outcome, finding: &Finding) -> Option<SeenAt> {
    match &finding.arm {
        Some(held) => Some(SeenAt { arm: held.name.word().into(), text: by_arm(facts, rule, outcome, held) }),
        None if finding.senders.results.is_empty() => None,
        None => Some(SeenAt { arm: "measured".into(), text: "in a measured test".into() }),
    }
}

fn by_arm(facts: &Facts<'_>, rule: &Rule, outcome: &Outcome, held: &Held) -> String {
    let unit = unit(facts, rule);
    let share = held.ratio.map(|ratio| format!(" ({})", numbers::share(ratio))).unwrap_or_default();
    let amount = amount(held.count, unit);
    let mut text = match held.name {
        ArmName::Delta => {
            let within = held.window.map(|window| format!(" in {}", numbers::duration(window))).unwrap_or_default();
            format!("in the sample: {amount}{within}{share}")
        }
        ArmName::Repeat => format!("between the two outputs: {amount}{share}"),
        ArmName::Log => {
            let times = if held.count == 1.0 { "once".into() } else { format!("{} times", amount_of(held.count)) };
            let source = facts.snapshot().sample.source;
            match held.age {
                Some(age) if source == SampleSource::Live => {
                    format!("in the log: {times}, last {} ago", numbers::duration(age))
                }
                // The age of what is pasted counts from the last line, where the time of the capture is not known.
                Some(age) if age < 1.0 && source != SampleSource::Bundle => {
                    format!("in the log: {times}, last as it ends")
                }
                Some(age) => format!("in the log: {times}, last {} before the capture", numbers::duration(age)),
                None => format!("in the log: {times}, without a time"),
            }
        }
        ArmName::Totals => {
            let since = if outcome.subject.scope == HOST { "boot" } else { "the driver was loaded" };
            format!("since {since}: {amount}{share}")
        }
    };
    if held.not_growing {
        text += "; not growing now";
    }
    text
}

/// Unit of what a rule counts: that of its first counter.
fn unit(facts: &Facts<'_>, rule: &Rule) -> CounterUnit {
    let first = rule.arms.as_ref().and_then(|arms| arms.counted_names().next());
    let counters = facts.knowledge().canonical_counters();
    let counter = first.and_then(|name| counters.iter().find(|counter| counter.name == name));
    counter.map_or(CounterUnit::Packets, |counter| counter.unit)
}

/// A count in the base units of the language: bits and seconds.
fn amount(count: f64, unit: CounterUnit) -> String {
    match unit {
        CounterUnit::Bytes => numbers::bytes((count / 8.0) as u64),
        CounterUnit::Microseconds | CounterUnit::Milliseconds | CounterUnit::Seconds => numbers::duration(count),
        CounterUnit::Percent => numbers::share(count),
        CounterUnit::Bits => format!("{} bits", amount_of(count)),
        _ => amount_of(count),
    }
}

fn amount_of(count: f64) -> String {
    numbers::count(count.max(0.0) as u64)
}
