//! What all views for people share: which findings stand in which section and in what order, what is folded, how a
//! cell reads. The formats only lay it out. All text in here has its hidden characters made visible.

mod ceilings;
mod findings;
mod interfaces;

use std::collections::BTreeMap;

use serde::Serialize;

use self::ceilings::{ceiling, link_bound, shared};
use self::findings::Sections;
use self::interfaces::{
    drop_grid, drops_note, fold_alike, host_clean, host_losses, host_row, interface_grid, lost, no_drops,
};

use crate::reading::numbers;
use crate::report::escape;
use crate::report::model::{CeilingRow, Check, InterfaceRow, Missing, NotDecided, Report, Symptom};

/// A cell without a reading.
pub const NONE: &str = "-";

/// Kinds that are virtual even where nobody said so.
const VIRTUAL_KINDS: [&str; 9] = ["veth", "loopback", "bridge", "dummy", "tun", "tap", "ifb", "netkit", "macvtap"];

/// One host's report, ready to be laid out.
#[derive(Debug, Serialize)]
pub struct View {
    pub generator: String,
    pub host_name: String,
    /// Product, system, kernel, source, length of the sample, privileges.
    pub host_facts: Vec<String>,
    pub answer: String,
    /// How good the sample was and what could not be seen.
    pub quality: String,
    /// The way to the other end that was asked about.
    pub way: Vec<String>,
    pub interfaces: Grid,
    /// Virtual interfaces that are alike, one line per verdict.
    pub alike: Vec<String>,
    /// Interfaces with an alias: name, alias.
    pub aliases: Vec<(String, String)>,
    pub fix_now: Vec<Item>,
    pub options: Vec<Item>,
    pub limits: Vec<Item>,
    pub hygiene: Vec<Item>,
    pub ceilings: Vec<Ceiling>,
    /// Interfaces whose own link is the ceiling, with what does not limit, one line per kind.
    pub link_bound: Vec<String>,
    pub shared: Vec<String>,
    /// What exclusions are about: "TCP sends many segments again (host)"; empty where nothing measured is wrong.
    pub symptom: String,
    /// Where to look where no cause was found.
    pub symptom_note: String,
    pub excluded: Vec<(String, String)>,
    pub not_decided: Vec<Undecided>,
    pub drops: Grid,
    /// Counters of the whole host that lost something.
    pub host_losses: Vec<String>,
    /// Those that lost nothing, and those that could not be read.
    pub host_clean: String,
    /// One line instead of the grid where nothing was lost.
    pub no_drops: Option<String>,
    /// How the figures of the grid read.
    pub drops_note: String,
    pub not_seen: Vec<NotSeen>,
    pub needs_root: Vec<String>,
    pub remarks: Vec<String>,
    pub conflicts: Vec<String>,
    pub understood: Option<Understood>,
    pub undecided: Vec<Undecided>,
    pub summary: Vec<String>,
    pub next_command: Option<String>,
}

/// A table of short cells; empty columns are gone.
#[derive(Debug, Default, Serialize)]
pub struct Grid {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A root finding with what is folded below it.
#[derive(Debug, Serialize)]
pub struct Item {
    /// Position over all sections, from 1.
    pub number: usize,
    pub rule: String,
    pub kind: String,
    pub severity: String,
    pub confidence: String,
    pub subject: String,
    pub title: String,
    pub why: String,
    pub impact: String,
    pub assumed: Vec<String>,
    /// When it was seen: "in the sample: 33 120 in 10 s (0.19 %)"; empty for what stands.
    pub seen: String,
    pub evidence: Vec<Reading>,
    pub below: Vec<Below>,
    /// Findings that may have a part in it, each with the reason for the doubt.
    pub maybe: Vec<String>,
    pub actions: Vec<Action>,
}

/// A finding that its root explains.
#[derive(Debug, Serialize)]
pub struct Below {
    pub rule: String,
    pub subject: String,
    pub title: String,
    pub seen: String,
    /// "probably", "possibly", or empty where it is sure.
    pub surely: String,
    pub evidence: Vec<Reading>,
}

/// One reading.
#[derive(Debug, Serialize)]
pub struct Reading {
    pub fact: String,
    pub subject: String,
    pub text: String,
    pub source: String,
}

/// One thing to do.
#[derive(Debug, Serialize)]
pub struct Action {
    /// `a`, `b` ... where there are alternatives.
    pub letter: String,
    pub what: String,
    /// Where the commands are typed; empty for this host.
    pub place: String,
    pub commands: Vec<String>,
    /// Why a command is left out.
    pub commands_note: String,
    pub effect: String,
    /// True where the session is hit or the whole card or host is interrupted.
    pub disruptive: bool,
    pub risk: String,
    pub gain: String,
    /// How to keep it, in words.
    pub keep_note: String,
    /// Lines of a file or a field that keep it.
    pub keep_lines: Vec<String>,
    /// Commands that keep it.
    pub keep_commands: Vec<String>,
    /// What the usual managers would need, in words.
    pub keep_likely: String,
    pub verify: String,
    pub undo: Vec<String>,
    pub undo_note: String,
    /// Rule that stands in the way of this advice.
    pub withheld_by: Option<String>,
}

/// How fast one interface could go.
#[derive(Debug, Serialize)]
pub struct Ceiling {
    pub name: String,
    pub range: String,
    pub binding: String,
    pub confidence: String,
    /// True where something binds below the link itself.
    pub below_link: bool,
    pub assumed: Vec<String>,
    pub headroom: Vec<String>,
    pub notes: Vec<String>,
    pub as_root: String,
    pub steps: Vec<Bar>,
    pub path: Option<Path>,
}

/// One bar of the waterfall. Fractions are of the highest bar, 0 to 1.
#[derive(Debug, Serialize)]
pub struct Bar {
    pub label: String,
    pub text: String,
    pub lo: f64,
    pub typical: f64,
    pub hi: f64,
    /// Where the bar before it ended.
    pub before: f64,
    /// Where a gap begins; 0 for a bar.
    pub from: f64,
    pub binds: bool,
}

/// A PCIe path from the card up.
#[derive(Debug, Serialize)]
pub struct Path {
    pub device: String,
    pub card: String,
    pub slot: String,
    pub hops: Vec<Hop>,
}

/// One PCIe link.
#[derive(Debug, Serialize)]
pub struct Hop {
    pub upper: String,
    pub role: String,
    pub link: String,
    pub rate: String,
    pub could: String,
    pub lanes: u32,
    pub narrowest: bool,
}

/// Something that could not be seen.
#[derive(Debug, Serialize)]
pub struct NotSeen {
    pub what: String,
    pub why: String,
    pub command: String,
}

/// How much of a capture was understood.
#[derive(Debug, Serialize)]
pub struct Understood {
    pub text: String,
    /// "file:line: text"
    pub left: Vec<String>,
}

/// A rule that could not be decided.
#[derive(Debug, Serialize)]
pub struct Undecided {
    pub rule: String,
    /// Its subjects, or the suspect and its subjects.
    pub subjects: String,
    pub lacks: String,
    pub commands: Vec<String>,
}

impl View {
    pub fn new(report: &Report) -> Self {
        let sections = Sections::new(&report.findings);
        let (rows, alike) = fold_alike(report);
        let host = host_row(report);
        let losing: Vec<&InterfaceRow> = rows.iter().copied().chain(&host).collect();
        let drops = drop_grid(&losing);
        let quiet = losing.iter().flat_map(|row| &row.drops).all(|drop| lost(drop).is_none_or(|n| n == 0));
        Self {
            generator: show(&report.generator),
            host_name: report.host.name.as_deref().filter(|name| !name.is_empty()).map_or("this host".into(), show)
                + &report.capture.as_deref().map_or_else(String::new, |file| format!(" ({})", show(file))),
            host_facts: host_facts(report),
            answer: escape::prose(&report.answer),
            quality: quality(report),
            way: report.way.iter().map(|sentence| escape::prose(sentence)).collect(),
            interfaces: interface_grid(&rows),
            alike,
            aliases: aliases(report),
            ceilings: rows.iter().filter_map(|row| ceiling(row)).collect(),
            link_bound: link_bound(&rows),
            shared: report.shared.iter().map(shared).collect(),
            symptom: report.symptom.as_ref().map(symptom).unwrap_or_default(),
            symptom_note: report
                .symptom
                .as_ref()
                .and_then(|x| x.note.as_deref())
                .map(escape::prose)
                .unwrap_or_default(),
            not_decided: report.not_decided.iter().map(not_decided).collect(),
            host_losses: host_losses(report),
            host_clean: host_clean(report),
            excluded: report.not_the_cause.iter().map(|x| (escape::prose(&x.what), escape::prose(&x.by))).collect(),
            drops_note: drops_note(&losing, &drops),
            no_drops: (quiet && !drops.rows.is_empty()).then(|| no_drops(&losing)),
            drops,
            not_seen: report
                .not_seen
                .iter()
                .map(|x| NotSeen { what: escape::prose(&x.what), why: words(&x.why), command: show(&x.command) })
                .collect(),
            needs_root: report.sample.needs_root.iter().map(|text| escape::prose(text)).collect(),
            remarks: report.sample.remarks.iter().map(|text| escape::prose(text)).collect(),
            conflicts: report
                .conflicts
                .iter()
                .map(|c| show(&format!("{} {}: used {}, not {}", c.subject, c.fact, c.used, c.other)))
                .collect(),
            understood: report.understood.as_ref().map(|u| Understood {
                text: format!(
                    "Understood {} of {}.",
                    numbers::count(u.read),
                    numbers::plural(usize::try_from(u.lines).unwrap_or(usize::MAX), "line")
                ),
                left: u.left.iter().map(|l| show(&format!("{}:{}: {}", l.file, l.line, l.text))).collect(),
            }),
            undecided: report.checks.iter().filter(|check| check.result == "unknown").map(undecided).collect(),
            summary: summary(report),
            next_command: report.next_command.as_deref().filter(|c| !c.is_empty()).map(show),
            fix_now: sections.fix_now,
            options: sections.options,
            limits: sections.limits,
            hygiene: sections.hygiene,
        }
    }
}

/// One line with hidden characters made visible.
fn show(text: &str) -> String {
    escape::visible(text).into_owned()
}

/// A word of the model as prose: `not_permitted` is "not permitted".
fn words(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    if plain { text.replace('_', " ") } else { escape::prose(text) }
}

fn host_facts(report: &Report) -> Vec<String> {
    let host = &report.host;
    let mut out: Vec<String> = [&host.product, &host.os]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .map(|text| show(text))
        .collect();
    if host.os.is_none() {
        out.extend(host.platform.as_deref().filter(|p| !p.is_empty()).map(words));
    }
    out.extend(host.kernel.as_ref().map(|kernel| format!("kernel {}", show(kernel))));
    if !report.sample.source.is_empty() {
        out.push(words(&report.sample.source));
    }
    if report.sample.seconds > 0.0 {
        out.push(format!("sample {}", numbers::duration(report.sample.seconds)));
    }
    out.extend(host.privileged.map(|root| if root { "as root" } else { "not as root" }.to_owned()));
    out
}

fn quality(report: &Report) -> String {
    let mut out = escape::prose(&report.sample.quality);
    let unseen = &report.not_seen;
    if !unseen.is_empty() {
        let space = if out.is_empty() { "" } else { " " };
        // Line 2 stays short: many gaps are a number here and a list below.
        let what = if unseen.len() <= 2 {
            and(&unseen.iter().map(|x| escape::prose(&x.what)).collect::<Vec<_>>())
        } else {
            format!("{} (see below)", numbers::plural(unseen.len(), "reading"))
        };
        out = format!("{out}{space}Not seen: {what}.");
    }
    out
}

/// "a", "a and b", "a, b and c".
fn and(list: &[String]) -> String {
    match list {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn is_virtual(row: &InterfaceRow) -> bool {
    match row.physical {
        Some(physical) => !physical,
        None => row.kind.as_deref().is_some_and(|kind| VIRTUAL_KINDS.contains(&kind)),
    }
}

fn full_name(row: &InterfaceRow) -> String {
    if row.namespace.is_empty() { show(&row.name) } else { show(&format!("{}/{}", row.namespace, row.name)) }
}

fn aliases(report: &Report) -> Vec<(String, String)> {
    let named = report.interfaces.iter().filter_map(|row| Some((row, row.alias.as_deref()?)));
    named.filter(|(_, alias)| !alias.is_empty()).map(|(row, alias)| (full_name(row), show(alias))).collect()
}

fn symptom(symptom: &Symptom) -> String {
    format!("{} ({})", escape::prose(&symptom.title), show(&symptom.subject))
}

fn not_decided(one: &NotDecided) -> Undecided {
    open_question(&one.rule, escape::prose(&one.what), &one.missing)
}

fn undecided(check: &Check) -> Undecided {
    let subjects: Vec<String> = check.subjects.iter().map(|subject| show(subject)).collect();
    open_question(&check.rule, subjects.join(", "), &check.missing)
}

/// A rule of which facts are missing, each with the command that supplies it.
fn open_question(rule: &str, subjects: String, missing: &[Missing]) -> Undecided {
    let mut lacks: Vec<String> = missing.iter().map(|m| format!("{} ({})", show(&m.fact), words(&m.why))).collect();
    if lacks.is_empty() {
        // All was read: its arms ask for more packets than there were.
        lacks.push("traffic: too little was counted to judge by".into());
    }
    let mut commands: Vec<String> = Vec::new();
    for missing in missing {
        let command = show(&missing.command);
        if !command.is_empty() && !commands.contains(&command) {
            commands.push(command);
        }
    }
    Undecided { rule: show(rule), subjects, lacks: lacks.join(", "), commands }
}

/// "88 checks passed", "2 not decided", "9 not applicable", "2 hygiene notes". A rule counts once, by the weightiest
/// of its results.
fn summary(report: &Report) -> Vec<String> {
    let mut rules: BTreeMap<&str, u8> = BTreeMap::new();
    for check in &report.checks {
        let weight = match check.result.as_str() {
            "fires" => 3,
            "unknown" => 2,
            "passes" => 1,
            _ => 0,
        };
        let known = rules.entry(&check.rule).or_default();
        *known = weight.max(*known);
    }
    let of = |weight: u8| rules.values().filter(|known| **known == weight).count();
    let mut out = Vec::new();
    if !rules.is_empty() {
        out.push(format!("{} passed", numbers::plural(of(1), "check")));
    }
    for (n, text) in [(of(3), "found something"), (of(2), "not decided"), (of(0), "not applicable")] {
        if n > 0 {
            out.push(format!("{} {text}", numbers::count(n as u64)));
        }
    }
    out
}

fn link_text(generation: Option<u32>, width: Option<u32>) -> String {
    match (generation, width) {
        (Some(generation), Some(width)) => format!("Gen{generation} x{width}"),
        (Some(generation), None) => format!("Gen{generation}"),
        (None, Some(width)) => format!("x{width}"),
        (None, None) => String::new(),
    }
}

fn range_text(ceiling: &CeilingRow) -> String {
    numbers::rate_range(ceiling.lo_bps, ceiling.typical_bps, ceiling.hi_bps, ceiling.confidence == "low")
}
