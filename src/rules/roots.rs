//! Which finding leads, and which is folded below which.

mod fold;
mod stack;
mod time;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::compile::Rule;
use super::evaluate::{Diagnosis, Finding, Outcome, related};
use super::load::RuleSet;
use super::schema::{Confidence, Explains, Kind, Reach, Severity, Side};
use crate::facts::{Facts, MeasuredVerdict};
use crate::lang::Entity;
use crate::snapshot::{NaturalPart, natural};
use fold::{Bond, Found, Ground, Place};
use time::Seen;

impl Finding {
    /// It was measured and speaks of now: it grew in the sample, stands in the log of late, or shows in a test.
    pub fn is_measured(&self) -> bool {
        Seen::of(self).is_now()
    }
}

/// A finding in its place.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Position among the outcomes of the diagnosis.
    pub outcome: usize,
    /// Position of the outcome that it is folded below.
    pub under: Option<usize>,
    /// How surely: as the weaker of both findings, and medium at most where time or place are likely and not shown.
    pub surely: Option<Confidence>,
    /// Other findings that may have a part in it, from the lowest layer upwards.
    pub others: Vec<Other>,
    /// Severity of the group that it leads: its own, or that of the worst finding below it that was measured.
    pub group: Severity,
    /// Rule whose finding makes this one's advice pointless for now.
    pub withheld_by: Option<String>,
}

/// A finding that may have a part in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// Position among the outcomes.
    pub outcome: usize,
    /// Why the other one does not stand below it.
    pub why: Reservation,
}

/// Why a symptom does not stand below a cause that may have a part in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reservation {
    /// It stands below another one.
    Second,
    /// The cause was seen since boot and not shown to grow in the sample.
    SinceStart,
    /// Both were seen at different times.
    OtherTime,
    /// The cause is a hint only.
    Hint,
    /// The cause is untidy and not known to hurt.
    Untidy,
}

impl Reservation {
    /// The words of reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Second => "it explains this as well",
            Self::SinceStart => "seen since boot, not shown to grow in the sample",
            Self::OtherTime => "seen at another time",
            Self::Hint => "no more than a hint",
            Self::Untidy => "untidy, not known to hurt",
        }
    }
}

/// Findings at most that are named as having a part in another one.
const OTHERS: usize = 5;

/// Areas of rule ids by layer, from physics upwards. A cause stands in a layer below its symptom, or in the same.
const LAYERS: [&[&str]; 7] = [
    &["link", "fec", "optics", "eee"],
    &["pcie", "cpu", "power", "firmware", "driver", "devlink"],
    &["ring", "queue", "irq", "numa", "coalesce", "pause"],
    &["softnet", "offload", "qdisc", "tc", "xdp"],
    &["mtu", "bond", "bridge", "vlan", "ovs", "tunnel", "route", "address", "virt", "cloud"],
    &["tcp", "udp", "ip", "sysctl", "xfrm", "rdma", "storage"],
    &["config"],
];

fn layer(rule: &Rule) -> usize {
    let area = rule.id().split('.').next().unwrap_or_default();
    LAYERS.iter().position(|areas| areas.contains(&area)).unwrap_or(LAYERS.len())
}

/// Class of the report's order: a ceiling that a measurement reached, growing loss, link down or degraded, other faults, risk,
/// limit, hygiene.
fn class(facts: &Facts<'_>, rule: &Rule, outcome: &Outcome, finding: &Finding) -> u8 {
    let growing = finding.arm.is_some() && Seen::of(finding).is_now();
    match finding.kind {
        Kind::Fault if growing => 1,
        Kind::Fault if finding.arm.is_none() && layer(rule) < 2 => 2,
        Kind::Fault => 3,
        Kind::Risk => 4,
        Kind::Limit if at_ceiling(facts, outcome, None) => 0,
        Kind::Limit => 5,
        Kind::Hygiene => 6,
    }
}

fn weight(finding: &Finding) -> f64 {
    let severity = match finding.severity {
        Severity::Critical => 8.0,
        Severity::Warning => 4.0,
        Severity::Advice => 2.0,
        Severity::Info => 1.0,
    };
    let confidence = match finding.confidence {
        Confidence::High => 1.0,
        Confidence::Medium => 0.6,
        Confidence::Low => 0.3,
    };
    severity * confidence
}

/// True where the interfaces of a finding were measured at their ceiling, and nowhere below it; with a side, by tests in which
/// that side sent.
fn at_ceiling(facts: &Facts<'_>, outcome: &Outcome, side: Option<Side>) -> bool {
    let judged: Vec<(MeasuredVerdict, Option<bool>)> = facts
        .interfaces_of(outcome.subject)
        .into_iter()
        .flat_map(|port| facts.judged_directions(port))
        .map(|one| (one.verdict, one.sends))
        .collect();
    let in_direction = |sends: Option<bool>| match side {
        Some(Side::Own) => sends == Some(true),
        Some(Side::Peer) => sends == Some(false),
        Some(Side::Both) | None => true,
    };
    let mut mine = judged.iter().filter(|(_, sends)| in_direction(*sends)).peekable();
    mine.peek().is_some() && mine.all(|(verdict, _)| *verdict == MeasuredVerdict::AtCeiling)
}

/// A rule that may be behind a symptom, and the subjects for which it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// Position of the rule.
    pub rule: usize,
    /// Positions of its outcomes whose subjects work where the symptom was seen.
    pub outcomes: Vec<usize>,
}

/// Rules that explain another one, straight or through others.
pub fn explained_by(rules: &RuleSet, symptom: usize) -> BTreeSet<usize> {
    let edges = edges_by_symptom(rules);
    let mut found = BTreeSet::new();
    let mut open = vec![symptom];
    while let Some(next) = open.pop() {
        for (cause, _) in edges.get(rules.rules()[next].id()).into_iter().flatten() {
            if *cause != symptom && found.insert(*cause) {
                open.push(*cause);
            }
        }
    }
    found
}

/// The rules that explain a finding in its direction, first those that do so straight, then those behind them, each in the order
/// of their layers; only those that have a subject which works where the finding was seen.
pub fn suspects(rules: &RuleSet, facts: &Facts<'_>, diagnosis: &Diagnosis, symptom: usize) -> Vec<Suspect> {
    let outcome = &diagnosis.outcomes[symptom];
    let Some(finding) = &outcome.finding else { return Vec::new() };
    let ground = Ground::new(facts, rules);
    let edges = edges_by_symptom(rules);
    // Breadth first: what is behind the symptom straight comes before what is behind its causes.
    let mut found: BTreeMap<usize, (usize, Explains)> = BTreeMap::new();
    let mut open = VecDeque::from([(0, outcome.rule)]);
    while let Some((steps, next)) = open.pop_front() {
        for (cause, edge) in edges.get(rules.rules()[next].id()).into_iter().flatten() {
            // What is behind a cause works in the direction of that cause, unless its own edge says otherwise.
            let further = next != outcome.rule && (edge.side.is_none() || rules.rules()[outcome.rule].sides.is_empty());
            let in_direction = further || finding.senders.covered_by(edge.side);
            if in_direction && *cause != outcome.rule && !found.contains_key(cause) {
                found.insert(*cause, (steps, (*edge).clone()));
                open.push_back((steps + 1, *cause));
            }
        }
    }
    let mut found: Vec<(usize, (usize, Explains))> = found.into_iter().collect();
    found.sort_by_key(|(rule, (steps, _))| (*steps, layer(&rules.rules()[*rule]), *rule));
    let suspects = found
        .into_iter()
        .map(|(rule, (_, edge))| {
            let works = |one: &Outcome| {
                one.rule == rule && ground.reaches(edge.reach, one, outcome, &finding.senders) != Place::Elsewhere
            };
            let all = diagnosis.outcomes.iter().enumerate();
            Suspect { rule, outcomes: all.filter(|(_, one)| works(one)).map(|(at, _)| at).collect() }
        })
        .filter(|suspect| !suspect.outcomes.is_empty());
    suspects.collect()
}

/// Edges by the id of the symptom that they lead to, each with the position of the rule that it leaves.
fn edges_by_symptom(rules: &RuleSet) -> BTreeMap<&str, Vec<(usize, &Explains)>> {
    let mut edges: BTreeMap<&str, Vec<(usize, &Explains)>> = BTreeMap::new();
    for (at, rule) in rules.rules().iter().enumerate() {
        for edge in &rule.spec.explains {
            edges.entry(&edge.rule).or_default().push((at, edge));
        }
    }
    edges
}

/// A cause that is bound to a symptom.
#[derive(Clone, Copy)]
struct Candidate {
    cause: usize,
    layer: usize,
    now: bool,
    bond: Bond,
}

/// What each symptom stands below, how surely, and what else may have a part in it.
#[derive(Default)]
struct Folds {
    under: BTreeMap<usize, (usize, Confidence)>,
    others: BTreeMap<usize, Vec<Other>>,
}

impl Folds {
    fn of(rules: &RuleSet, facts: &Facts<'_>, findings: &[(usize, &Outcome, &Finding)]) -> Self {
        let ground = Ground::new(facts, rules);
        let edges = edges_by_symptom(rules);
        let mut by_rule: BTreeMap<usize, BTreeMap<Entity, &(usize, &Outcome, &Finding)>> = BTreeMap::new();
        for one in findings {
            by_rule.entry(one.1.rule).or_default().insert(one.1.subject, one);
        }
        let mut folds = Self::default();
        for (at, outcome, finding) in findings {
            let symptom = Found { outcome, finding };
            let Some(edges) = edges.get(rules.rules()[outcome.rule].id()) else { continue };
            // Each port may have a cause and a symptom of its own: only those that may meet are held against each other.
            let below = ground.below(outcome.subject);
            let mut candidates = Vec::new();
            for (rule, edge) in edges {
                let Some(causes) = by_rule.get(rule) else { continue };
                let causes: Vec<_> = match &below {
                    Some(below) if edge.reach == Reach::Up => below.iter().filter_map(|one| causes.get(one)).collect(),
                    _ => causes.values().collect(),
                };
                for (cause, outcome, finding) in causes.into_iter().copied().filter(|one| one.0 != *at) {
                    let bond = ground.bond(edge, Found { outcome, finding }, symptom);
                    let (layer, now) = (layer(&rules.rules()[*rule]), Seen::of(finding).is_now());
                    candidates.push(Candidate { cause: *cause, layer, now, bond });
                }
            }
            folds.choose(*at, candidates);
        }
        folds
    }

    /// The root of a symptom is the cause in the lowest layer among those that were measured, else among all.
    fn choose(&mut self, symptom: usize, mut candidates: Vec<Candidate>) {
        candidates.sort_by_key(|one| (one.layer, one.cause));
        let folding = candidates.iter().filter_map(|one| match one.bond {
            Bond::Folds(surely) => Some((one, surely)),
            Bond::Perhaps(_) | Bond::None => None,
        });
        let root = folding.min_by_key(|(one, _)| (!one.now, one.layer, one.cause));
        let root = root.map(|(one, surely)| (one.cause, surely));
        let others = candidates.iter().filter_map(|one| {
            let why = match one.bond {
                Bond::Folds(_) => Reservation::Second,
                Bond::Perhaps(why) => why,
                Bond::None => return None,
            };
            (root.map(|(cause, _)| cause) != Some(one.cause)).then_some(Other { outcome: one.cause, why })
        });
        let others: Vec<Other> = others.take(OTHERS).collect();
        if !others.is_empty() {
            self.others.insert(symptom, others);
        }
        self.under.extend(root.map(|root| (symptom, root)));
    }

    /// The finding that leads the group of another one.
    fn root_of(&self, at: usize) -> usize {
        let mut root = at;
        // `explains` is acyclic by a check of the rules; the bound holds even if it were not.
        for _ in 0..=self.under.len() {
            match self.under.get(&root) {
                Some((cause, _)) => root = *cause,
                None => break,
            }
        }
        root
    }
}

/// Ranks the findings of a diagnosis: roots in order, each followed by what is folded below it.
pub fn rank(rules: &RuleSet, facts: &Facts<'_>, diagnosis: &Diagnosis) -> Vec<Ranked> {
    let findings: Vec<(usize, &Outcome, &Finding)> = diagnosis
        .outcomes
        .iter()
        .enumerate()
        .filter_map(|(at, outcome)| Some((at, outcome, outcome.finding.as_ref()?)))
        .collect();
    let mut folds = Folds::of(rules, facts, &findings);
    let mut folded: BTreeMap<usize, Vec<(usize, &Finding)>> = BTreeMap::new();
    for (at, _, finding) in findings.iter().filter(|(at, _, _)| folds.under.contains_key(at)) {
        folded.entry(folds.root_of(*at)).or_default().push((*at, finding));
    }
    let below = |at: usize| folded.get(&at).map_or(&[][..], Vec::as_slice);
    let score = |at: usize, finding: &Finding| {
        weight(finding) + 0.5 * below(at).iter().map(|(_, finding)| weight(finding)).sum::<f64>()
    };
    let group = |at: usize, finding: &Finding| {
        // A limit or hygiene is never louder than advice, whatever waits at it.
        let lifts = matches!(finding.kind, Kind::Fault | Kind::Risk);
        let measured = below(at).iter().filter(|(_, finding)| lifts && Seen::of(finding).is_now());
        measured.map(|(_, finding)| finding.severity).fold(finding.severity, Severity::max)
    };
    let mut heads: Vec<(u8, f64, String, Vec<NaturalPart>, usize)> = findings
        .iter()
        .filter(|(at, _, _)| !folds.under.contains_key(at))
        .map(|(at, outcome, finding)| {
            let rule = &rules.rules()[outcome.rule];
            let subject = natural(&facts.name(outcome.subject));
            (class(facts, rule, outcome, finding), score(*at, finding), rule.id().to_owned(), subject, *at)
        })
        .collect();
    heads.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then_with(|| (&a.2, &a.3).cmp(&(&b.2, &b.3))));
    let mut order = Vec::new();
    for (_, _, _, _, head) in heads {
        order.push(head);
        order.extend(below(head).iter().map(|(at, _)| *at));
    }
    let withholders: Vec<_> =
        findings.iter().filter(|(_, outcome, _)| !rules.rules()[outcome.rule].spec.instead_of.is_empty()).collect();
    let withheld = |subject: Entity, id: &str| {
        withholders.iter().find_map(|(_, other, finding)| {
            let rule = &rules.rules()[other.rule];
            let names_it = rule.spec.instead_of.iter().any(|withheld| withheld == id);
            let belongs = || related(facts, other.subject, subject.scope).contains(&subject);
            (names_it && belongs() && (finding.kind != Kind::Limit || at_ceiling(facts, other, None)))
                .then(|| rule.id().to_owned())
        })
    };
    let mut ranked = Vec::new();
    for at in order {
        let outcome = &diagnosis.outcomes[at];
        let Some(finding) = &outcome.finding else { continue };
        let under = folds.under.get(&at).copied();
        ranked.push(Ranked {
            outcome: at,
            under: under.map(|(cause, _)| cause),
            surely: under.map(|(_, surely)| surely),
            others: folds.others.remove(&at).unwrap_or_default(),
            group: group(at, finding),
            withheld_by: withheld(outcome.subject, rules.rules()[outcome.rule].id()),
        });
    }
    ranked
}
