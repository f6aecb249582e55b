//! The log arm of a counter rule: named events of the kernel log, weighed by their age.

use std::collections::{BTreeMap, BTreeSet};

use super::schema::Confidence;
use crate::facts::{Catalogue, EVENT, Facts, HOST};
use crate::lang::{Entity, Key};
use crate::reading::Reading;

/// Seconds within which lines of other wording tell the same event: driver, bond and network manager each report the fall of
/// a link.
const SAME_EVENT: f64 = 1.0;

/// Lines that a finding quotes at most.
const QUOTED: usize = 5;

/// A checked log arm.
#[derive(Clone, Debug)]
pub(super) struct LogArm {
    /// Events by their position in the knowledge.
    pub events: Vec<usize>,
    /// Smallest number of them.
    pub min: f64,
    /// Seconds that they may be old.
    pub within: Option<f64>,
    /// An unread log leaves nothing open where the counters decide.
    pub beside: bool,
    /// Confidence.
    pub confidence: Option<Confidence>,
}

/// What it says of a subject.
#[derive(Clone, Debug)]
pub(super) struct LogOutcome {
    /// Whether it holds; none where the log could not be read.
    pub held: Option<bool>,
    /// False where there is no log.
    pub exists: bool,
    /// Events that count.
    pub count: f64,
    /// Seconds since the newest of them.
    pub age: Option<f64>,
    /// Seconds since the oldest of them.
    pub oldest: Option<f64>,
    /// Events per second between the oldest and the newest.
    pub rate: Option<f64>,
    /// They are older than the arm asks for.
    pub old: bool,
    /// Confidence.
    pub confidence: Confidence,
    /// Their lines.
    pub touched: BTreeSet<Key>,
}

impl LogArm {
    pub(super) fn evaluate(&self, facts: &Facts<'_>, subject: Entity) -> LogOutcome {
        let none = LogOutcome {
            held: None,
            exists: true,
            count: 0.0,
            age: None,
            oldest: None,
            rate: None,
            old: false,
            confidence: self.confidence.unwrap_or(Confidence::Medium),
            touched: BTreeSet::new(),
        };
        match facts.snapshot().host.log {
            Reading::Known(..) => {}
            Reading::Absent(_) => return LogOutcome { exists: false, ..none },
            Reading::Unknown(_) => return none,
        }
        let all = self.of(facts, subject);
        let age = |at: usize| facts.event(at).and_then(|event| facts.log_line(event)).and_then(|line| line.age);
        let fresh: Vec<usize> =
            all.iter().copied().filter(|at| self.within.zip(age(*at)).is_none_or(|(most, age)| age <= most)).collect();
        let old = (fresh.len() as f64) < self.min;
        let counted = if old { &all } else { &fresh };
        if (counted.len() as f64) < self.min {
            return LogOutcome { held: Some(false), ..none };
        }
        let ages: Vec<f64> = counted.iter().filter_map(|at| age(*at)).collect();
        let newest = ages.iter().copied().reduce(f64::min);
        let oldest = ages.iter().copied().reduce(f64::max);
        let span = oldest.zip(newest).map(|(oldest, newest)| oldest - newest).filter(|span| *span > 0.0);
        let text = Catalogue::shared().slot(EVENT, "text");
        let quoted = counted.iter().rev().take(QUOTED);
        LogOutcome {
            held: Some(true),
            count: counted.len() as f64,
            age: newest,
            oldest,
            rate: span.map(|span| (ages.len() - 1) as f64 / span),
            old,
            touched: quoted.filter_map(|at| Some(Key { entity: Facts::entity(EVENT, *at), slot: text? })).collect(),
            ..none
        }
    }

    /// Its events of a subject, each once.
    fn of(&self, facts: &Facts<'_>, subject: Entity) -> Vec<usize> {
        let mut told = Told::default();
        let mine = facts.events_of(subject).filter(|(_, event)| self.events.contains(&event.kind));
        mine.filter(|(_, event)| match facts.log_line(event) {
            Some(line) => line.age.is_none_or(|age| told.is_new(event.kind, age, &line.text)),
            None => true,
        })
        .map(|(at, _)| at)
        .collect()
    }

    /// The fact that is missing where the log was not read.
    pub(super) fn lines() -> Option<Key> {
        let slot = Catalogue::shared().slot(HOST, "log_lines")?;
        Some(Key { entity: Facts::entity(HOST, 0), slot })
    }
}

/// Events that were told already, by kind and second. A second holds few texts: one that differs from another near it is not new.
#[derive(Default)]
struct Told(BTreeMap<(usize, i64), Vec<Span>>);

/// The youngest and the oldest of the lines with one text within a second.
struct Span {
    shape: String,
    from: f64,
    to: f64,
}

impl Told {
    /// False where a line of other wording tells the same event; what is new is remembered.
    fn is_new(&mut self, kind: usize, age: f64, text: &str) -> bool {
        let shape = shape(text);
        let second = (age / SAME_EVENT).floor() as i64;
        let near = |span: &Span| span.shape != shape && span.from - SAME_EVENT <= age && age <= span.to + SAME_EVENT;
        let seconds = second.saturating_sub(1)..=second.saturating_add(1);
        if seconds.filter_map(|second| self.0.get(&(kind, second))).flatten().any(near) {
            return false;
        }
        let spans = self.0.entry((kind, second)).or_default();
        match spans.iter_mut().find(|span| span.shape == shape) {
            Some(span) => (span.from, span.to) = (span.from.min(age), span.to.max(age)),
            None => spans.push(Span { shape, from: age, to: age }),
        }
        true
    }
}

/// A line without what differs where one program says the same of two ports or counts: words that hold digits.
fn shape(text: &str) -> String {
    let word = |word: &str| if word.bytes().any(|byte| byte.is_ascii_digit()) { "#" } else { word }.to_owned();
    text.split_ascii_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::INTERFACE;
    use crate::knowledge::Knowledge;
    use crate::reading::SourceId;
    use crate::snapshot::{LogLine, Snapshot};

    fn outcome(lines: &[(Option<f64>, &str)]) -> LogOutcome {
        let text = r#"{"schema": "netdoctor.snapshot/1", "interfaces": [{"name": "eth0"}]}"#;
        let mut snapshot = Snapshot::from_json(text).unwrap();
        let line = |(age, text): &(Option<f64>, &str)| LogLine {
            age: *age,
            since_boot: None,
            text: (*text).into(),
            source: SourceId::ASSUMED,
            about: String::new(),
        };
        snapshot.host.log = Reading::Known(lines.iter().map(line).collect(), SourceId::ASSUMED);
        let knowledge = Knowledge::embedded();
        let down = knowledge.log_events().iter().position(|event| event.event == "link_down").unwrap();
        let arm = LogArm { events: vec![down], min: 2.0, within: Some(3600.0), beside: false, confidence: None };
        arm.evaluate(&Facts::new(&snapshot, knowledge), Facts::entity(INTERFACE, 0))
    }

    #[test]
    fn age_decides_between_now_and_once() {
        let down = "eth0: Link is Down";
        let fresh = outcome(&[(Some(3600.0), down), (Some(1800.0), down)]);
        assert_eq!((fresh.held, fresh.old, fresh.age, fresh.count), (Some(true), false, Some(1800.0), 2.0));
        assert_eq!(fresh.rate, Some(1.0 / 1800.0));
        let old = outcome(&[(Some(7200.0), down), (Some(3601.0), down), (Some(10.0), down)]);
        assert_eq!((old.held, old.old, old.count), (Some(true), true, 3.0));
        let undated = outcome(&[(None, down), (None, down)]);
        assert_eq!((undated.held, undated.old, undated.age, undated.rate), (Some(true), false, None, None));
        assert_eq!(outcome(&[(Some(5.0), down)]).held, Some(false));
    }

    #[test]
    fn one_fall_told_by_several_counts_once_and_a_storm_counts_each_line() {
        let told = [(Some(60.0), "eth0: Link is Down"), (Some(59.6), "eth0: Lost carrier")];
        assert_eq!(outcome(&told).held, Some(false));
        let storm = [(Some(60.0), "eth0: Link is Down"), (Some(59.6), "eth0: Link is Down")];
        assert_eq!(outcome(&storm).held, Some(true));
        let numbered = [(Some(60.0), "eth0: Link is Down 7"), (Some(59.6), "eth0: Link is Down 8")];
        assert_eq!(outcome(&numbered).held, Some(true), "the same message with another number");
    }
}
