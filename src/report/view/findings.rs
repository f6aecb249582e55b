//! Findings in their sections, each root with what is folded below it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Action, Below, Item, Reading, show, words};
use crate::reading::numbers;
use crate::report::escape;
use crate::report::model::{Evidence, Finding, Keep, OtherCause, Recommendation};

/// The sections in the order in which they are shown.
pub(super) struct Sections {
    pub fix_now: Vec<Item>,
    pub options: Vec<Item>,
    pub limits: Vec<Item>,
    pub hygiene: Vec<Item>,
}

impl Sections {
    pub fn new(findings: &[Finding]) -> Self {
        let index = Index::new(findings);
        let roots: Vec<Option<usize>> = (0..findings.len()).map(|i| index.root_of(i)).collect();
        let mut folded: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
        for (finding, root) in findings.iter().zip(&roots) {
            if let Some(root) = root {
                folded.entry(*root).or_default().push(finding);
            }
        }
        let mut out = Self { fix_now: Vec::new(), options: Vec::new(), limits: Vec::new(), hygiene: Vec::new() };
        for (i, finding) in findings.iter().enumerate() {
            if roots[i].is_some() {
                continue;
            }
            let section = match (finding.kind.as_str(), finding.group()) {
                ("limit", _) => &mut out.limits,
                ("hygiene", _) => &mut out.hygiene,
                (_, "critical" | "warning") => &mut out.fix_now,
                _ => &mut out.options,
            };
            section.push(item(finding, &folded.remove(&i).unwrap_or_default()));
        }
        let all = out.fix_now.iter_mut().chain(&mut out.options).chain(&mut out.limits).chain(&mut out.hygiene);
        for (i, item) in all.enumerate() {
            item.number = i + 1;
        }
        out
    }
}

/// Findings by rule, and by rule and subject, as positions in their list.
struct Index<'a> {
    findings: &'a [Finding],
    by_rule: BTreeMap<&'a str, Vec<usize>>,
    by_subject: BTreeMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Index<'a> {
    fn new(findings: &'a [Finding]) -> Self {
        let mut out = Self { findings, by_rule: BTreeMap::new(), by_subject: BTreeMap::new() };
        for (i, finding) in findings.iter().enumerate() {
            out.by_rule.entry(&finding.rule).or_default().push(i);
            out.by_subject.entry((&finding.rule, &finding.subject)).or_default().push(i);
        }
        out
    }

    /// Position of the root that a finding is folded below; none for a root, and none where the chain is a ring.
    fn root_of(&self, start: usize) -> Option<usize> {
        let mut at = start;
        for _ in 0..self.findings.len() {
            match self.parent(at) {
                Some(next) if next != start => at = next,
                Some(_) => return None,
                None => return (at != start).then_some(at),
            }
        }
        None
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let child = &self.findings[at];
        let rule = child.under.as_deref()?;
        let candidates = match child.under_subject.as_deref() {
            Some(subject) => self.by_subject.get(&(rule, subject)),
            None => self.by_rule.get(rule),
        };
        let others = || candidates.into_iter().flatten().copied().filter(|i| *i != at);
        let touches = |i: &usize| self.findings[*i].interfaces.iter().any(|name| child.interfaces.contains(name));
        others().find(touches).or_else(|| others().next())
    }
}

fn below(finding: &Finding) -> Below {
    Below {
        rule: show(&finding.rule),
        subject: show(&finding.subject),
        title: escape::prose(&finding.title),
        seen: seen(finding),
        surely: match finding.under_confidence.as_deref() {
            Some("medium") => "probably".into(),
            Some("low") => "possibly".into(),
            _ => String::new(),
        },
        evidence: finding.evidence.iter().map(reading).collect(),
    }
}

fn seen(finding: &Finding) -> String {
    finding.seen.as_ref().map(|seen| escape::prose(&seen.text)).unwrap_or_default()
}

/// Findings that may have a part in this one or in what stands below it, each once; those of the group itself are left out.
fn maybe(finding: &Finding, below: &[&Finding]) -> Vec<String> {
    let group: Vec<&Finding> = std::iter::once(finding).chain(below.iter().copied()).collect();
    let is_in = |other: &OtherCause| group.iter().any(|one| one.rule == other.rule && one.subject == other.subject);
    let mut out: Vec<String> = Vec::new();
    for other in group.iter().flat_map(|one| &one.others).filter(|other| !is_in(other)) {
        let (title, why) = (escape::prose(&other.title), escape::prose(&other.why));
        let line = format!("{title} ({}, {}): {why}", show(&other.subject), show(&other.rule));
        if !out.contains(&line) {
            out.push(line);
        }
    }
    out
}

fn reading(evidence: &Evidence) -> Reading {
    let text = if evidence.text.is_empty() { plain(&evidence.value, &evidence.unit) } else { show(&evidence.text) };
    let source = if evidence.source_text.is_empty() && !evidence.source.is_null() {
        show(&evidence.source.to_string())
    } else {
        show(&evidence.source_text)
    };
    Reading { fact: show(&evidence.fact), subject: show(&evidence.subject), text, source }
}

fn plain(value: &Value, unit: &str) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(n) => n.as_u64().map_or_else(
            || n.as_f64().map_or_else(|| n.to_string(), |float| numbers::significant(float, 3)),
            numbers::count,
        ),
        other => other.to_string(),
    };
    show(format!("{text} {unit}").trim_end())
}

fn item(finding: &Finding, below: &[&Finding]) -> Item {
    let many = finding.recommend.len() > 1;
    let letters = (b'a'..=b'z').map(char::from).map(String::from).chain(std::iter::repeat(String::new()));
    Item {
        number: 0,
        rule: show(&finding.rule),
        kind: words(&finding.kind),
        severity: words(&finding.severity),
        confidence: words(&finding.confidence),
        subject: subject_text(finding),
        title: escape::prose(&finding.title),
        why: escape::prose(&finding.why),
        impact: escape::prose(&finding.impact),
        assumed: finding.assumed.iter().map(|text| escape::prose(text)).collect(),
        seen: seen(finding),
        evidence: finding.evidence.iter().map(reading).collect(),
        maybe: maybe(finding, below),
        below: below.iter().map(|finding| self::below(finding)).collect(),
        actions: finding
            .recommend
            .iter()
            .zip(letters)
            .map(|(recommend, letter)| action(recommend, if many { letter } else { String::new() }))
            .collect(),
    }
}

/// "eth4", or "0000:01:00.0 (eth4, eth5)" where the subject is not an interface.
fn subject_text(finding: &Finding) -> String {
    let others: Vec<String> = finding.interfaces.iter().filter(|n| **n != finding.subject).map(|n| show(n)).collect();
    let subject = show(&finding.subject);
    match others.len() {
        0 => subject,
        1..=4 => format!("{subject} ({})", others.join(", ")),
        n => format!("{subject} ({}, {} more)", others[..3].join(", "), n - 3),
    }
}

fn action(recommend: &Recommendation, letter: String) -> Action {
    let interrupted = match recommend.interrupts.as_str() {
        "none" => "interrupts nothing",
        "queue" => "the queues of the port restart: a moment of loss",
        "link" => "the link drops for some seconds",
        "all-ports" => "every port of the card drops for some seconds",
        "service" => "a service restarts",
        "host" => "the host restarts",
        _ => "",
    };
    let session = match (recommend.hits_session, recommend.interrupts.as_str()) {
        (true, _) => "; YOUR SESSION RUNS OVER IT",
        (false, "queue" | "link" | "all-ports") if recommend.session_unread => {
            "; whether your session runs over it was not read"
        }
        // What runs over a port of another host was not read.
        (false, "queue" | "link" | "all-ports") if recommend.place != "peer" => "; your session does not run over it",
        _ => "",
    };
    let changes = !recommend.commands.is_empty() && (!recommend.undo.is_empty() || recommend.keep.is_some());
    // Who types what needs root is told before the kernel refuses it.
    let root = if changes { "; needs root" } else { "" };
    let shown = |lines: &[String]| lines.iter().map(|line| show(line)).collect::<Vec<_>>();
    // A report that was written before `keep` has words alone.
    let words_alone = Keep { note: recommend.persist.join("; "), ..Keep::default() };
    let keep = recommend.keep.as_ref().unwrap_or(&words_alone);
    Action {
        letter,
        what: escape::prose(&recommend.action),
        place: if recommend.place == "peer" { "the host at the other end, not this one".into() } else { String::new() },
        commands: shown(&recommend.commands),
        commands_note: escape::prose(&recommend.commands_note),
        effect: format!("{interrupted}{session}{root}").trim_start_matches("; ").to_owned(),
        disruptive: recommend.hits_session || matches!(recommend.interrupts.as_str(), "all-ports" | "host"),
        risk: escape::prose(&recommend.risk),
        gain: escape::prose(&recommend.gain),
        keep_note: keep_note(keep),
        keep_lines: shown(&keep.lines),
        keep_commands: shown(&keep.commands),
        keep_likely: likely(keep),
        verify: escape::prose(&recommend.verify),
        undo: shown(&recommend.undo),
        undo_note: escape::prose(&recommend.undo_note),
        withheld_by: recommend.withheld_by.as_deref().map(show),
    }
}

/// "QNAP QTS: a line in autorun.sh".
fn keep_note(keep: &Keep) -> String {
    let words: Vec<&str> =
        [keep.manager.as_deref().unwrap_or_default(), &keep.note].into_iter().filter(|text| !text.is_empty()).collect();
    escape::prose(&words.join(": "))
}

fn likely(keep: &Keep) -> String {
    let each = keep.likely.iter().map(|one| format!("{}: {}", one.manager, one.needs));
    escape::prose(&each.collect::<Vec<_>>().join("; "))
}
