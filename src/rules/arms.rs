//! Arms of a counter rule: growth within the sample, the same output twice, totals since the driver was loaded, named events
//! of the kernel log.

use super::located::Located;
use super::log_arm::{LogArm, LogOutcome};
use super::problem::{Problem, RuleFile};
use super::schema::{ArmSpec, ArmsSpec, Confidence, LogArmSpec, RuleSpec};
use crate::facts::{Catalogue, Count, Counted, DEVICE, Facts, HOST, INTERFACE, constant};
use crate::knowledge::schema::{CounterSubject, CounterUnit};
use crate::knowledge::{CanonicalCounter, Knowledge};
use crate::lang::{Dim, Entity, Evaluation, Key, State, Value, closest};

/// How many times its smallest number a count since the driver was loaded has to reach to be told of fewer packets than the floor.
const MANY: f64 = 10.0;
/// How many times its ratio it has to reach then.
const MANY_OF: f64 = 1000.0;

/// Shortest window in seconds in which a counter that stands still proves anything: several drivers refresh their
/// statistics every one to two seconds only.
const REFRESH_SECONDS: f64 = 2.5;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Which arm held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArmName {
    /// Growth within the sample.
    Delta,
    /// Growth between two outputs of one capture.
    Repeat,
    /// Events of the kernel log.
    Log,
    /// Totals since the driver was loaded.
    Totals,
}

impl ArmName {
    /// The word that rules and reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Delta => "delta",
            Self::Repeat => "repeat",
            Self::Log => "log",
            Self::Totals => "totals",
        }
    }
}

/// An arm that held.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Which.
    pub name: ArmName,
    /// What was counted: growth, the total, or events.
    pub count: f64,
    /// Its ratio to the denominator, if that was readable.
    pub ratio: Option<f64>,
    /// Growth or events per second, if their times are known.
    pub rate: Option<f64>,
    /// Growth within the sample, or between the outputs, whatever arm held; none where it was not read.
    pub grew: Option<f64>,
    /// Seconds of the sample, if its times are known.
    pub window: Option<f64>,
    /// Seconds since the newest event of the log, if it bears a time.
    pub age: Option<f64>,
    /// Seconds since the oldest event of the log that counts, likewise.
    pub oldest: Option<f64>,
    /// Confidence of a finding by this arm.
    pub confidence: Confidence,
    /// It is no growth, and a growth that enough traffic decided did not hold: the finding is information only ("not growing
    /// now").
    pub not_growing: bool,
    /// The events of the log are older than the arm asks for: the finding is information only.
    pub old: bool,
}

impl Held {
    /// It speaks of now, not of the whole time since the driver was loaded.
    pub fn is_fresh(&self) -> bool {
        self.name != ArmName::Totals && !self.old
    }
}

/// What the arms of a rule say of a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmsResult {
    /// The first arm that held, if one did.
    pub held: Option<Held>,
    /// `arms` and the `arm.*` variables, in the order of `arm_variables`.
    pub variables: Vec<Evaluation>,
}

/// Thresholds of one arm in the language's base units.
#[derive(Clone, Copy, Debug, Default)]
struct Thresholds {
    min: f64,
    above: Option<f64>,
    share: Option<f64>,
    floor: f64,
    rate: Option<f64>,
    per_day: Option<f64>,
    confidence: Option<Confidence>,
}

/// A canonical counter by its number, or the largest of the parts that it is kept for.
#[derive(Clone, Copy, Debug)]
struct Term {
    counter: usize,
    largest: bool,
}

/// Checked arms.
#[derive(Clone, Debug)]
pub struct Arms {
    count: Vec<Term>,
    of: Vec<Term>,
    delta: Option<Thresholds>,
    repeat: Option<Thresholds>,
    totals: Option<Thresholds>,
    log: Option<LogArm>,
}

/// A sum of canonical counters.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    total: f64,
    growth: f64,
    window: Option<f64>,
    /// All that exist could be read.
    total_complete: bool,
    growth_complete: bool,
    /// There is at least one of them on this subject.
    exists: bool,
    ambiguous: bool,
}

impl Arms {
    /// Checks counters and thresholds; problems are noted.
    pub fn compile(spec: &ArmsSpec, rule: &RuleSpec, file: &RuleFile, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut reader = Reader { rule, file, problems, failed: false };
        let count = reader.counters(&spec.count);
        let of = reader.counters(&spec.of);
        if spec.count.is_empty() && spec.log.is_none() {
            reader.note(&rule.id, "arms count something: `count: [canonical counter]`".into(), None);
        }
        let delta = spec.delta.as_ref().map(|arm| reader.thresholds(arm, None));
        let repeat = spec.repeat.as_ref().map(|arm| reader.thresholds(arm, delta));
        let totals = spec.totals.as_ref().map(|arm| reader.thresholds(arm, None));
        let log = spec.log.as_ref().map(|arm| reader.log(arm));
        (!reader.failed).then_some(Self { count, of, delta, repeat, totals, log })
    }

    /// What the arms say of a subject.
    pub fn evaluate(&self, facts: &Facts<'_>, subject: Entity) -> ArmsResult {
        let count = sum(facts, subject, &self.count);
        let of = (!self.of.is_empty()).then(|| sum(facts, subject, &self.of));
        let grew = self.growth_arm(&count, of.as_ref());
        let totals = self.totals.as_ref().map(|arm| totals_arm(arm, &count, of.as_ref(), uptime(facts)));
        let mut log = self.log.as_ref().map(|arm| arm.evaluate(facts, subject));
        let mut outcomes = vec![grew.as_ref().map(|(_, outcome)| outcome.0), totals.as_ref().map(|outcome| outcome.0)];
        if self.count.is_empty() {
            outcomes.clear();
        }
        // Without a denominator nobody knows whether there was anything to lose.
        let stood_still = of.is_some() && matches!(outcomes.first(), Some(Some(Some(false))));
        let decided = !outcomes.is_empty() && outcomes.iter().flatten().all(|outcome| *outcome == Some(false));
        if decided && self.log.as_ref().is_some_and(|arm| arm.beside) {
            // An unread log leaves nothing open, and one that says otherwise decides nothing.
            log = log.filter(|log| log.held.is_some());
            log.iter_mut().filter(|log| log.held == Some(true)).for_each(|log| log.held = None);
        }
        outcomes.push(log.as_ref().filter(|log| log.exists).map(|log| log.held));
        let held = held(grew, totals, log.as_ref(), &count, stood_still);
        let given = outcomes.iter().flatten();
        let state = if held.is_some() {
            State::TRUE
        } else if !count.exists && !log.as_ref().is_some_and(|log| log.exists) {
            State::Absent
        } else if given.clone().count() > 0 && given.clone().all(|outcome| *outcome == Some(false)) {
            State::FALSE
        } else {
            State::Unknown
        };
        let mut arms = Evaluation::from(state);
        match arms.outcome {
            State::Absent => arms.absent = self.keys(subject, "total"),
            State::Unknown => {
                let counted = !self.count.is_empty() && given.clone().take(outcomes.len() - 1).any(Option::is_none);
                if counted {
                    arms.needed = self.keys(subject, if count.total_complete { "growth" } else { "total" });
                }
                if log.as_ref().is_some_and(|log| log.held.is_none()) {
                    arms.needed.extend(LogArm::lines());
                }
            }
            State::Known(_) => {}
        }
        if let Some(held) = &held {
            arms.touched = match held.name {
                ArmName::Totals => self.keys(subject, "total"),
                ArmName::Delta | ArmName::Repeat => self.keys(subject, "growth"),
                ArmName::Log => log.map(|log| log.touched).unwrap_or_default(),
            };
        }
        ArmsResult { variables: variables(arms, held.as_ref()), held }
    }

    /// Names of the counters that are counted, without those of the denominator.
    pub fn counted_names(&self) -> impl Iterator<Item = &'static str> {
        let all = Knowledge::embedded().canonical_counters();
        self.count.iter().map(move |term| all[term.counter].name.as_str())
    }

    /// Names of the counters that are added up.
    pub fn counter_names(&self) -> impl Iterator<Item = &'static str> {
        let all = Knowledge::embedded().canonical_counters();
        self.count.iter().chain(&self.of).map(move |term| all[term.counter].name.as_str())
    }

    fn keys(&self, subject: Entity, view: &str) -> std::collections::BTreeSet<Key> {
        let catalogue = Catalogue::shared();
        let all = Knowledge::embedded().canonical_counters();
        let counters = self.count.iter().map(|term| &all[term.counter]);
        let paths = counters.map(|counter| (counter, format!("counter.{}.{view}", counter.name)));
        paths
            .filter_map(|(counter, path)| {
                let entity = counted_entity(counter, subject);
                Some(Key { entity, slot: catalogue.slot(entity.scope, &path)? })
            })
            .collect()
    }

    /// The delta arm where the time between the samples is known, else the repeat arm.
    fn growth_arm(&self, count: &Sum, of: Option<&Sum>) -> Option<(ArmName, ArmOutcome)> {
        let (name, arm) = match (count.window, &self.delta, &self.repeat) {
            (None, _, Some(repeat)) if count.growth_complete => (ArmName::Repeat, repeat),
            (_, Some(delta), _) => (ArmName::Delta, delta),
            _ => return None,
        };
        Some((name, growth_arm(arm, name, count, of)))
    }
}

/// The first arm that holds: growth, events that are fresh, totals, events that are not.
fn held(
    grew: Option<(ArmName, ArmOutcome)>,
    totals: Option<ArmOutcome>,
    log: Option<&LogOutcome>,
    count: &Sum,
    stood_still: bool,
) -> Option<Held> {
    let growth = (count.exists && count.growth_complete).then_some(count.growth);
    let plain = |name, number, (_, ratio, rate, confidence): ArmOutcome| Held {
        name,
        count: number,
        ratio,
        rate,
        grew: growth,
        window: count.window,
        age: None,
        oldest: None,
        confidence,
        not_growing: stood_still && name == ArmName::Totals,
        old: false,
    };
    let log = log.filter(|log| log.held == Some(true)).map(|log| Held {
        name: ArmName::Log,
        count: log.count,
        ratio: None,
        rate: log.rate,
        grew: growth,
        window: count.window,
        age: log.age,
        oldest: log.oldest,
        confidence: log.confidence,
        not_growing: stood_still,
        old: log.old,
    });
    let grew = grew.filter(|(_, outcome)| outcome.0 == Some(true));
    let grew = grew.map(|(name, outcome)| plain(name, count.growth, outcome));
    let totals = totals.filter(|outcome| outcome.0 == Some(true));
    let totals = totals.map(|outcome| plain(ArmName::Totals, count.total, outcome));
    let fresh = log.clone().filter(|log| !log.old);
    grew.or(fresh).or(totals).or(log)
}

/// `arms` and the `arm.*` variables, in the order of `arm_variables`.
fn variables(arms: Evaluation, held: Option<&Held>) -> Vec<Evaluation> {
    let number =
        |value: Option<f64>| Evaluation::from(value.map_or(State::Unknown, |v| State::Known(Value::Number(v))));
    let is = |name| Evaluation::from(held.map_or(State::Unknown, |held| State::Known(Value::Bool(held.name == name))));
    let name = held.map_or(State::Unknown, |held| State::Known(Value::Text(held.name.word().into())));
    vec![
        arms,
        name.into(),
        number(held.map(|held| held.count)),
        number(held.and_then(|held| held.ratio)),
        number(held.and_then(|held| held.rate)),
        number(held.and_then(|held| held.age)),
        is(ArmName::Delta),
        is(ArmName::Repeat),
        is(ArmName::Log),
        is(ArmName::Totals),
    ]
}

fn sum(facts: &Facts<'_>, subject: Entity, terms: &[Term]) -> Sum {
    let all = facts.knowledge().canonical_counters();
    let mut sum = Sum { total_complete: true, growth_complete: true, ..Sum::default() };
    for term in terms {
        let counter = &all[term.counter];
        let index = counted_entity(counter, subject).index as usize;
        let count =
            if term.largest { facts.count_largest(index, &counter.name) } else { facts.count(index, &counter.name) };
        match count {
            Count::Absent => {}
            Count::Unknown => {
                sum.exists = true;
                sum.total_complete = false;
                sum.growth_complete = false;
            }
            Count::Counted(counted) => sum.add(&counted, counter.unit),
        }
    }
    sum
}

/// Held, failed or undecided; ratio; rate; confidence.
type ArmOutcome = (Option<bool>, Option<f64>, Option<f64>, Confidence);

fn growth_arm(arm: &Thresholds, name: ArmName, count: &Sum, of: Option<&Sum>) -> ArmOutcome {
    let mut confidence = arm.confidence.unwrap_or(match name {
        ArmName::Delta => Confidence::High,
        ArmName::Repeat | ArmName::Log | ArmName::Totals => Confidence::Medium,
    });
    let rate = count.window.map(|window| count.growth / window);
    let denominator = of.filter(|of| of.growth_complete && of.exists).map(|of| of.growth);
    let ratio = denominator.filter(|of| *of > 0.0).map(|of| count.growth / of);
    let enough = denominator.is_some_and(|of| of >= arm.floor);
    if of.is_some() && denominator.is_none() || count.ambiguous {
        confidence = lower(confidence);
    }
    if count.growth < arm.min.max(1.0) {
        // What was not counted in all its time did not grow in the sample, whether or not that was read.
        let before = |of: &Sum| of.total - if of.growth_complete { of.growth } else { 0.0 };
        let seen = of.is_none_or(|of| of.total_complete && before(of) >= arm.floor);
        if count.total_complete && count.total < arm.min.max(1.0) && seen {
            return (Some(false), ratio, rate, confidence);
        }
        // A part that could not be read may have grown; a short window or too little traffic proves nothing.
        let long = name == ArmName::Repeat || count.window.is_some_and(|window| window >= REFRESH_SECONDS);
        let busy = of.is_none() || enough;
        let decided = (count.growth_complete && long && busy).then_some(false);
        return (decided, ratio, rate, confidence);
    }
    let passed = match (arm.share, arm.above) {
        (Some(share), _) => {
            if enough {
                ratio.map(|ratio| ratio > share)
            } else {
                None
            }
        }
        (None, Some(above)) if enough => ratio.map(|ratio| ratio > above),
        (None, _) => Some(true),
    };
    let fast = arm.rate.map_or(Some(true), |least| rate.map(|rate| rate > least));
    (and(passed, fast), ratio, rate, confidence)
}

fn totals_arm(arm: &Thresholds, count: &Sum, of: Option<&Sum>, uptime: Option<f64>) -> ArmOutcome {
    let mut confidence = arm.confidence.unwrap_or(Confidence::Low);
    if count.ambiguous {
        confidence = lower(confidence);
    }
    let denominator = of.filter(|of| of.total_complete && of.exists).map(|of| of.total);
    let ratio = denominator.filter(|of| *of > 0.0).map(|of| count.total / of);
    if count.total < arm.min.max(1.0) {
        return (count.total_complete.then_some(false), ratio, None, confidence);
    }
    let above = match (arm.above.or(arm.share), denominator) {
        (None, _) => Some(true),
        (Some(_), None) => {
            confidence = Confidence::Low;
            Some(true)
        }
        // Of few packets a small share proves nothing, and a large one does not need many.
        (Some(above), Some(of)) if of < arm.floor => {
            let many = arm.share.is_none() && count.total >= MANY * arm.min.max(1.0);
            Some(many && count.total > MANY_OF * above * of)
        }
        (Some(above), Some(_)) => ratio.map(|ratio| ratio > above),
    };
    let often = match (arm.per_day, uptime) {
        (Some(per_day), Some(uptime)) if uptime > 0.0 => Some(count.total / (uptime / DAY) > per_day * DAY),
        _ => Some(true),
    };
    (and(above, often), ratio, None, confidence)
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// One step less sure.
pub fn lower(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::High => Confidence::Medium,
        Confidence::Medium | Confidence::Low => Confidence::Low,
    }
}

/// The counter of `NAME`, `sum(NAME)` or `max(NAME)`, and whether its largest part is meant.
fn aggregate(text: &str) -> (&str, bool) {
    let inner = |function: &str| text.strip_prefix(function)?.trim().strip_prefix('(')?.strip_suffix(')');
    match (inner("max"), inner("sum")) {
        (Some(name), _) => (name.trim(), true),
        (None, Some(name)) => (name.trim(), false),
        (None, None) => (text.trim(), false),
    }
}

fn uptime(facts: &Facts<'_>) -> Option<f64> {
    facts.snapshot().host.uptime.known().map(|uptime| uptime.0)
}

fn counted_entity(counter: &CanonicalCounter, subject: Entity) -> Entity {
    match counter.subject {
        CounterSubject::Host => Facts::entity(HOST, 0),
        CounterSubject::Interface => Entity { scope: INTERFACE, index: subject.index },
        CounterSubject::PciDevice => Entity { scope: DEVICE, index: subject.index },
    }
}

impl Sum {
    fn add(&mut self, counted: &Counted, unit: CounterUnit) {
        // The language counts data in bits and time in seconds; so do thresholds such as `125MB`.
        let scale = unit.scale();
        self.exists = true;
        self.total += counted.total as f64 * scale;
        self.total_complete &= !counted.growth_only;
        self.ambiguous |= counted.ambiguous.is_some();
        self.window = self.window.or(counted.window);
        match counted.growth {
            Some(growth) => self.growth += growth as f64 * scale,
            None => self.growth_complete = false,
        }
    }
}

struct Reader<'a> {
    rule: &'a RuleSpec,
    file: &'a RuleFile,
    problems: &'a mut Vec<Problem>,
    failed: bool,
}

impl Reader<'_> {
    fn note(&mut self, place: &Located, message: String, help: Option<String>) {
        self.failed = true;
        self.problems.push(Problem::at(self.file, &self.rule.id.text, place, message, help));
    }

    /// `NAME`, `sum(NAME)`, which is the same, or `max(NAME)`.
    fn counters(&mut self, names: &[Located]) -> Vec<Term> {
        let all = Knowledge::embedded().canonical_counters();
        let mut found = Vec::new();
        for name in names {
            let (bare, largest) = aggregate(&name.text);
            if let Some(counter) = all.iter().position(|counter| counter.name == bare) {
                if largest && all[counter].per.is_none() {
                    self.note(name, format!("`{bare}` is one number and has no largest part"), None);
                }
                found.push(Term { counter, largest });
                continue;
            }
            let near = closest(bare, all.iter().map(|counter| counter.name.as_str()));
            let help = near.first().map(|near| format!("did you mean `{near}`?"));
            self.note(name, format!("`{bare}` is no canonical counter"), help);
        }
        found
    }

    fn thresholds(&mut self, arm: &ArmSpec, base: Option<Thresholds>) -> Thresholds {
        let base = base.unwrap_or_default();
        if let Some(when) = &arm.when {
            // Left unread it would let the arm hold where its author said that it does not.
            self.note(
                when,
                "an arm has no condition of its own yet".into(),
                Some("put it into the rule's `when`".into()),
            );
        }
        let count = [Dim::PLAIN, Dim::DATA];
        let share = [Dim::PLAIN];
        // `per_day: 3` counts per day; with a unit it is a rate like any other.
        let per_day = self.constant(arm.per_day.as_ref(), &[Dim::PLAIN, Dim::FREQUENCY]);
        let per_day = per_day.map(|(number, dim)| if dim == Dim::PLAIN { number / DAY } else { number });
        let mut number =
            |place: &Option<Located>, wanted| self.constant(place.as_ref(), wanted).map(|(number, _)| number);
        Thresholds {
            min: number(&arm.min, &count).unwrap_or(base.min),
            above: number(&arm.above, &share).or(base.above),
            share: number(&arm.share, &share).or(base.share),
            floor: number(&arm.floor, &count).unwrap_or(base.floor),
            rate: number(&arm.rate, &[Dim::FREQUENCY, Dim::RATE]).or(base.rate),
            per_day: per_day.or(base.per_day),
            confidence: arm.confidence,
        }
    }

    fn log(&mut self, arm: &LogArmSpec) -> LogArm {
        let known = Knowledge::embedded().log_events();
        let mut events = Vec::new();
        for event in &arm.events {
            if let Some(kind) = known.iter().position(|one| one.event == event.text) {
                events.push(kind);
                continue;
            }
            let near = closest(&event.text, known.iter().map(|one| one.event.as_str()));
            let help = near.first().map(|near| format!("did you mean `{near}`?"));
            self.note(event, format!("`{}` is no event of the log", event.text), help);
        }
        if arm.events.is_empty() {
            let id = &self.rule.id;
            self.note(id, "a log arm counts something: `events: [link_down]`".into(), None);
        }
        let mut number =
            |place: &Option<Located>, wanted| self.constant(place.as_ref(), &[wanted]).map(|(number, _)| number);
        let min = number(&arm.min, Dim::PLAIN).unwrap_or(1.0);
        let within = number(&arm.within, Dim::TIME);
        LogArm { events, min, within, beside: arm.beside, confidence: arm.confidence }
    }

    fn constant(&mut self, place: Option<&Located>, wanted: &[Dim]) -> Option<(f64, Dim)> {
        let place = place?;
        match constant(&place.text) {
            Ok((number, dim)) if wanted.contains(&dim) => Some((number, dim)),
            Ok((_, dim)) => {
                let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
                self.note(place, format!("this is in {dim}; here belongs {}", wanted.join(" or ")), None);
                None
            }
            Err(message) => {
                self.note(place, message, None);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(total: f64, growth: f64, window: f64) -> Sum {
        Sum {
            total,
            growth,
            window: Some(window),
            total_complete: true,
            growth_complete: true,
            exists: true,
            ambiguous: false,
        }
    }

    fn delta() -> Thresholds {
        Thresholds { min: 10.0, above: Some(1e-6), floor: 1e5, ..Thresholds::default() }
    }

    fn decided(count: Sum, of: Option<Sum>) -> Option<bool> {
        growth_arm(&delta(), ArmName::Delta, &count, of.as_ref()).0
    }

    #[test]
    fn errors_that_grow_on_little_traffic_are_proof_by_themselves() {
        assert_eq!(decided(sum(50.0, 20.0, 3.0), Some(sum(500.0, 500.0, 3.0))), Some(true));
    }

    #[test]
    fn on_much_traffic_the_ratio_decides() {
        assert_eq!(decided(sum(50.0, 20.0, 3.0), Some(sum(1e9, 1e9, 3.0))), Some(false));
        assert_eq!(decided(sum(50.0, 20.0, 3.0), Some(sum(1e6, 1e6, 3.0))), Some(true));
    }

    #[test]
    fn no_growth_on_an_idle_port_or_in_a_short_window_decides_nothing() {
        assert_eq!(decided(sum(50.0, 0.0, 3.0), Some(sum(500.0, 500.0, 3.0))), None);
        assert_eq!(decided(sum(50.0, 0.0, 1.0), Some(sum(1e6, 1e6, 1.0))), None);
        assert_eq!(decided(sum(50.0, 0.0, 3.0), Some(sum(1e6, 1e6, 3.0))), Some(false));
    }

    #[test]
    fn a_part_that_could_not_be_read_leaves_standstill_open() {
        let part = Sum { growth_complete: false, ..sum(50.0, 0.0, 3.0) };
        assert_eq!(decided(part, Some(sum(1e6, 1e6, 3.0))), None);
    }

    #[test]
    fn a_share_needs_its_floor() {
        let arm = Thresholds { above: None, share: Some(0.2), ..delta() };
        let outcome = |of| growth_arm(&arm, ArmName::Delta, &sum(50.0, 20.0, 3.0), Some(&sum(of, of, 3.0))).0;
        assert_eq!(outcome(50.0), None);
        assert_eq!(outcome(2e5), Some(false));
    }

    #[test]
    fn the_largest_part_of_a_counter_is_told_from_the_sum() {
        assert_eq!(aggregate("max(softnet_processed)"), ("softnet_processed", true));
        assert_eq!(aggregate("sum( softnet_processed )"), ("softnet_processed", false));
        assert_eq!(aggregate("maximum"), ("maximum", false));
        let text = r#"{"schema": "netdoctor.snapshot/1", "interfaces": [{"name": "eth0"}]}"#;
        let mut snapshot = crate::snapshot::Snapshot::from_json(text).unwrap();
        let rows = [("cpu0.processed", [0, 30]), ("cpu1.processed", [0, 90])];
        let counters = rows
            .map(|(name, values)| crate::snapshot::Counter { name: name.into(), values: values.map(Some).to_vec() });
        let block = crate::snapshot::CounterBlock {
            group: "softnet_stat".into(),
            source: crate::reading::SourceId::ASSUMED,
            partial: false,
            at_ms: vec![0, 3000],
            counters: counters.to_vec(),
        };
        snapshot.host.counters = crate::reading::Reading::Known(vec![block], crate::reading::SourceId::ASSUMED);
        let facts = Facts::new(&snapshot, Knowledge::embedded());
        let all = facts.knowledge().canonical_counters();
        let counter = all.iter().position(|counter| counter.name == "softnet_processed").unwrap();
        let growth = |largest| {
            let found = super::sum(&facts, Facts::entity(INTERFACE, 0), &[Term { counter, largest }]);
            (found.growth, found.window)
        };
        assert_eq!(growth(true), (90.0, Some(3.0)));
        assert_eq!(growth(false), (120.0, Some(3.0)));
    }

    #[test]
    fn totals_are_weighed_by_packets_and_days() {
        let arm = Thresholds {
            min: 100.0,
            above: Some(1e-5),
            floor: 1e6,
            per_day: Some(10.0 / DAY),
            ..Thresholds::default()
        };
        let outcome = |total, of: f64, days: f64| {
            totals_arm(&arm, &sum(total, 0.0, 3.0), Some(&sum(of, 0.0, 3.0)), Some(days * DAY)).0
        };
        assert_eq!(outcome(5000.0, 1e7, 10.0), Some(true));
        assert_eq!(outcome(5000.0, 1e12, 10.0), Some(false), "one in 200 million");
        assert_eq!(outcome(5000.0, 1e7, 1000.0), Some(false), "five a day");
        assert_eq!(outcome(50.0, 1e7, 10.0), Some(false));
    }
}
