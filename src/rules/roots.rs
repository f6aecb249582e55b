//! Which finding leads, and which is folded below which.

use std::collections::BTreeMap;

use super::arms::Held;
use super::compile::Rule;
use super::evaluate::{Diagnosis, Finding, Outcome, related};
use super::load::RuleSet;
use super::schema::{Confidence, Kind, Severity, Side};
use crate::facts::{Facts, HOST, MeasuredVerdict};
use crate::snapshot::{NaturalPart, natural};

/// A finding in its place.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Position among the outcomes of the diagnosis.
    pub outcome: usize,
    /// Position of the outcome that it is folded below.
    pub under: Option<usize>,
    /// Rule whose finding makes this one's advice pointless for now.
    pub withheld_by: Option<String>,
}

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
    let growing = finding.arm.as_ref().is_some_and(Held::is_fresh);
    match finding.kind {
        Kind::Fault if growing => 1,
        Kind::Fault if finding.arm.is_none() && layer(rule) < 2 => 2,
        Kind::Fault => 3,
        Kind::Risk => 4,
        Kind::Limit if at_ceiling(facts, outcome) => 0,
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

/// True where the interfaces of a finding were measured at their ceiling, and nowhere below it.
fn at_ceiling(facts: &Facts<'_>, outcome: &Outcome) -> bool {
    let judged: Vec<MeasuredVerdict> = facts
        .interfaces_of(outcome.subject)
        .into_iter()
        .filter_map(|port| facts.judged(port))
        .map(|one| one.verdict)
        .collect();
    !judged.is_empty() && judged.iter().all(|verdict| *verdict == MeasuredVerdict::AtCeiling)
}

/// True where a finding of `cause` may fold one of `symptom`: an edge of the rule, the same or a lower subject, enough
/// confidence. A ceiling is a cause only where a measurement reached it: below it, something else comes first.
fn folds(facts: &Facts<'_>, rules: &RuleSet, cause: (&Outcome, &Finding), symptom: &Outcome) -> bool {
    let (rule, other) = (&rules.rules()[cause.0.rule], &rules.rules()[symptom.rule]);
    let edge = rule.spec.explains.iter().find(|edge| edge.rule == other.id());
    let own_side = edge.is_some_and(|edge| edge.side != Some(Side::Peer));
    let belongs = related(facts, cause.0.subject, symptom.subject.scope).contains(&symptom.subject);
    let carries = symptom.subject.scope != HOST || carries_most(facts, cause.0);
    let binds = cause.1.kind != Kind::Limit || at_ceiling(facts, cause.0);
    own_side && belongs && carries && cause.1.confidence > Confidence::Low && binds
}

/// Share of the host's bytes from which an interface may explain what the host counts as a whole.
const MOST: f64 = 0.5;

/// True where the interfaces of a cause carry what a symptom of the whole host is about: a measured result's own interface; else
/// at least half of the bytes of the sample; without a sample the default route.
fn carries_most(facts: &Facts<'_>, cause: &Outcome) -> bool {
    let mine = facts.interfaces_of(cause.subject);
    if mine.is_empty() {
        return true;
    }
    let interfaces = &facts.snapshot().interfaces;
    let measured: Vec<&String> =
        facts.snapshot().host.measured.known().into_iter().flatten().filter_map(|one| one.interface.known()).collect();
    if !measured.is_empty() {
        return mine.iter().any(|index| measured.contains(&&interfaces[*index].name));
    }
    let bytes = |index: usize| -> f64 {
        let grown = ["rx_bytes", "tx_bytes"].iter().filter_map(|name| facts.count(index, name).counted()?.growth);
        grown.map(|bytes| bytes as f64).sum()
    };
    // Virtual interfaces carry again what their ports carry.
    let all: f64 = (0..interfaces.len()).filter(|index| interfaces[*index].device.known().is_some()).map(bytes).sum();
    if all > 0.0 {
        return mine.iter().copied().map(bytes).sum::<f64>() >= MOST * all;
    }
    mine.iter().any(|index| interfaces[*index].session.is_default_route.known() == Some(&true))
}

/// Ranks the findings of a diagnosis: roots in order, each followed by what is folded below it.
pub fn rank(rules: &RuleSet, facts: &Facts<'_>, diagnosis: &Diagnosis) -> Vec<Ranked> {
    let findings: Vec<(usize, &Outcome, &Finding)> = diagnosis
        .outcomes
        .iter()
        .enumerate()
        .filter_map(|(at, outcome)| Some((at, outcome, outcome.finding.as_ref()?)))
        .collect();
    let having = |edges: fn(&Rule) -> bool| -> Vec<&(usize, &Outcome, &Finding)> {
        findings.iter().filter(|(_, outcome, _)| edges(&rules.rules()[outcome.rule])).collect()
    };
    // Few rules have edges; only their findings are looked at for each other one.
    let causes = having(|rule| !rule.spec.explains.is_empty());
    let withholders = having(|rule| !rule.spec.instead_of.is_empty());
    let mut under: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, symptom, _) in &findings {
        let mine = causes
            .iter()
            .filter(|(other, outcome, finding)| other != at && folds(facts, rules, (outcome, finding), symptom));
        let lowest = mine.min_by_key(|(other, outcome, finding)| {
            let measured = finding.arm.as_ref().is_some_and(Held::is_fresh);
            (layer(&rules.rules()[outcome.rule]), !measured, *other)
        });
        if let Some((cause, _, _)) = lowest {
            under.insert(*at, *cause);
        }
    }
    let root_of = |at: usize| {
        let mut root = at;
        // `explains` is acyclic by a check of the rules; the bound holds even if it were not.
        for _ in 0..findings.len() {
            match under.get(&root) {
                Some(cause) => root = *cause,
                None => break,
            }
        }
        root
    };
    let mut folded: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
    for (at, _, finding) in findings.iter().filter(|(at, _, _)| under.contains_key(at)) {
        folded.entry(root_of(*at)).or_default().push((*at, weight(finding)));
    }
    let below = |at: usize| folded.get(&at).map_or(&[][..], Vec::as_slice);
    let score =
        |at: usize, finding: &Finding| weight(finding) + 0.5 * below(at).iter().map(|(_, weight)| weight).sum::<f64>();
    let mut heads: Vec<(u8, f64, String, Vec<NaturalPart>, usize)> = findings
        .iter()
        .filter(|(at, _, _)| !under.contains_key(at))
        .map(|(at, outcome, finding)| {
            let rule = &rules.rules()[outcome.rule];
            let subject = natural(&facts.name(outcome.subject));
            (class(facts, rule, outcome, finding), score(*at, finding), rule.id().to_owned(), subject, *at)
        })
        .collect();
    heads.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then_with(|| (&a.2, &a.3).cmp(&(&b.2, &b.3))));
    let withheld = |outcome: &Outcome| {
        let id = rules.rules()[outcome.rule].id();
        withholders.iter().find_map(|(_, other, finding)| {
            let rule = &rules.rules()[other.rule];
            let belongs = related(facts, other.subject, outcome.subject.scope).contains(&outcome.subject);
            let names_it = rule.spec.instead_of.iter().any(|withheld| withheld == id);
            (names_it && belongs && (finding.kind != Kind::Limit || at_ceiling(facts, other)))
                .then(|| rule.id().to_owned())
        })
    };
    let mut ranked = Vec::new();
    for (_, _, _, _, head) in heads {
        ranked.push(head);
        ranked.extend(below(head).iter().map(|(at, _)| *at));
    }
    ranked
        .into_iter()
        .map(|at| Ranked {
            outcome: at,
            under: under.get(&at).copied(),
            withheld_by: withheld(&diagnosis.outcomes[at]),
        })
        .collect()
}
