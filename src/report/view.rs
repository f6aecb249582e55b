//! What all views for people share: which findings stand in which section and in what order, what is folded, how a
//! cell reads. The formats only lay it out. All text in here has its hidden characters made visible.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::report::model::{
    CeilingRow, Check, DropRow, Evidence, Finding, InterfaceRow, PcieHop, PcieRow, Recommendation, Report,
};
use crate::report::{escape, numbers};

/// A cell without a reading.
pub const NONE: &str = "-";

/// Places where packets are lost, from the wire inwards and out again, with the words of a column head.
const PLACES: [(&str, &str); 8] = [
    ("wire", "WIRE"),
    ("nic", "NIC"),
    ("ring", "RING"),
    ("softnet", "SOFTNET"),
    ("socket", "SOCKET"),
    ("qdisc", "QDISC"),
    ("tx_ring", "TX RING"),
    ("tx_wire", "TX WIRE"),
];

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
    pub excluded: Vec<(String, String)>,
    pub drops: Grid,
    /// One line instead of the grid where nothing was lost.
    pub no_drops: Option<String>,
    /// Places that could be read on no interface: "socket and softnet".
    pub unread_places: String,
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
    pub evidence: Vec<Reading>,
    pub below: Vec<Below>,
    pub actions: Vec<Action>,
}

/// A finding that its root explains.
#[derive(Debug, Serialize)]
pub struct Below {
    pub rule: String,
    pub subject: String,
    pub title: String,
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
    pub commands: Vec<String>,
    pub effect: String,
    /// True where the session is hit or the whole card or host is interrupted.
    pub disruptive: bool,
    pub risk: String,
    pub persist: Vec<Step>,
    pub verify: String,
    pub undo: Vec<Step>,
    /// Rule that stands in the way of this advice.
    pub withheld_by: Option<String>,
}

/// A command, or a step in words.
#[derive(Debug, Serialize)]
pub struct Step {
    pub text: String,
    pub command: bool,
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
    pub subjects: String,
    pub lacks: String,
    pub commands: Vec<String>,
}

impl View {
    pub fn new(report: &Report) -> Self {
        let sections = Sections::new(&report.findings);
        let (rows, alike) = fold_alike(report);
        let drops = drop_grid(&rows);
        let quiet = rows.iter().flat_map(|row| &row.drops).all(|drop| lost(drop).is_none_or(|n| n == 0));
        Self {
            generator: show(&report.generator),
            host_name: report.host.name.as_deref().filter(|name| !name.is_empty()).map_or("this host".into(), show),
            host_facts: host_facts(report),
            answer: escape::prose(&report.answer),
            quality: quality(report),
            interfaces: interface_grid(&rows),
            alike,
            aliases: aliases(report),
            ceilings: rows.iter().filter_map(|row| ceiling(row)).collect(),
            link_bound: link_bound(&rows),
            shared: report.shared.iter().map(shared).collect(),
            excluded: report.not_the_cause.iter().map(|x| (escape::prose(&x.what), escape::prose(&x.by))).collect(),
            unread_places: unread_places(&rows),
            no_drops: (quiet && !drops.rows.is_empty()).then(|| no_drops(&rows)),
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
        let named = if unseen.len() <= 3 { unseen.len() } else { 2 };
        let mut list: Vec<_> = unseen.iter().take(named).map(|x| escape::prose(&x.what)).collect();
        if unseen.len() > named {
            list.push(format!("{} more", numbers::count((unseen.len() - named) as u64)));
        }
        let space = if out.is_empty() { "" } else { " " };
        out = format!("{out}{space}Not seen: {}.", and(&list));
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

/// Splits off the virtual interfaces of which there is nothing to say; they get one line per verdict.
fn fold_alike(report: &Report) -> (Vec<&InterfaceRow>, Vec<String>) {
    let mut rows = Vec::new();
    let mut groups: Vec<(String, Vec<&InterfaceRow>)> = Vec::new();
    for row in &report.interfaces {
        let dull = is_virtual(row)
            && !row.is_session
            && row.ceiling.is_none()
            && row.measured_bps.is_none()
            && row.drops.iter().all(|drop| lost(drop).unwrap_or(0) == 0)
            && row.verdict.iter().all(|word| matches!(word.as_str(), "ok" | "idle" | "down" | "not judged"));
        if !dull {
            rows.push(row);
            continue;
        }
        let verdict = if row.verdict.is_empty() { "ok".into() } else { show(&row.verdict.join(", ")) };
        match groups.iter_mut().find(|(word, _)| *word == verdict) {
            Some((_, members)) => members.push(row),
            None => groups.push((verdict, vec![row])),
        }
    }
    let lines = groups.iter().map(|(verdict, members)| {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for row in members {
            *kinds.entry(row.kind.as_deref().unwrap_or_default()).or_default() += 1;
        }
        let many = |row: &InterfaceRow| {
            let kind = row.kind.as_deref().unwrap_or_default();
            kinds.get(kind).copied().filter(|n| *n > 3 && !kind.is_empty()).map(|n| (kind.to_owned(), n))
        };
        let mut names: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        for row in members {
            let name = match many(row) {
                Some((kind, n)) => format!("{} {}", numbers::count(n as u64), words(&kind)),
                None => full_name(row),
            };
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
        names.sort_by_key(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
        if names.len() > 12 {
            let more = names.len() - 10;
            names.truncate(10);
            names.push(format!("{more} more"));
        }
        let alike = if members.len() > 1 { "alike, " } else { "" };
        format!("+ {}: {alike}{verdict}", names.join(", "))
    });
    let lines = lines.collect();
    (rows, lines)
}

fn aliases(report: &Report) -> Vec<(String, String)> {
    let named = report.interfaces.iter().filter_map(|row| Some((row, row.alias.as_deref()?)));
    named.filter(|(_, alias)| !alias.is_empty()).map(|(row, alias)| (full_name(row), show(alias))).collect()
}

fn interface_grid(rows: &[&InterfaceRow]) -> Grid {
    let heads = ["IFACE", "LINK", "MTU", "PCIE", "CAN DO (TCP)", "MEASURED", "LOSS", "STATE"];
    let cells = rows.iter().map(|row| {
        vec![
            full_name(row),
            link_cell(row),
            row.mtu.map(|mtu| mtu.to_string()).unwrap_or_default(),
            row.pcie.as_ref().map(|pcie| link_text(pcie.generation, pcie.width)).unwrap_or_default(),
            row.ceiling.as_ref().map(range_text).unwrap_or_default(),
            row.measured_bps.map(numbers::rate).unwrap_or_default(),
            loss_cell(&row.drops),
            state_cell(row),
        ]
    });
    without_empty_columns(&heads, &cells.collect::<Vec<_>>())
}

/// Drops columns in which nothing stands and writes [`NONE`] into the gaps of the others.
fn without_empty_columns(heads: &[&str], rows: &[Vec<String>]) -> Grid {
    let kept: Vec<usize> = (0..heads.len()).filter(|i| *i == 0 || rows.iter().any(|row| !row[*i].is_empty())).collect();
    let cell = |text: &String| if text.is_empty() { NONE.to_owned() } else { text.clone() };
    Grid {
        heads: kept.iter().map(|i| heads[*i].to_owned()).collect(),
        rows: rows.iter().map(|row| kept.iter().map(|i| cell(&row[*i])).collect()).collect(),
    }
}

fn link_cell(row: &InterfaceRow) -> String {
    match (row.state.as_deref(), row.speed_bps) {
        (Some(state @ ("down" | "no-carrier" | "disabled")), _) => state.to_owned(),
        (_, Some(speed)) => numbers::link_speed(speed),
        _ => String::new(),
    }
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

fn state_cell(row: &InterfaceRow) -> String {
    let mut words: Vec<String> = row.verdict.iter().filter(|word| !word.is_empty()).map(|word| show(word)).collect();
    if row.is_session {
        words.push("your session".into());
    }
    words.join(", ")
}

/// Packets lost at a place that could be read: total, or growth where only that is known.
fn lost(drop: &DropRow) -> Option<u64> {
    match (drop.total, drop.grew) {
        (None, None) => None,
        (total, grew) => Some(total.unwrap_or(0).max(grew.unwrap_or(0))),
    }
}

/// "+33 120" while it grows, "12 (+0)" where it does not, "12" without a second sample, "0", "0 seen" where a place
/// could not be read.
fn loss_cell(drops: &[DropRow]) -> String {
    let known: Vec<&DropRow> = drops.iter().filter(|drop| lost(drop).is_some()).collect();
    if known.is_empty() {
        return String::new();
    }
    let total = known.iter().fold(0u64, |sum, drop| sum.saturating_add(lost(drop).unwrap_or(0)));
    let grew = known.iter().filter_map(|drop| drop.grew).reduce(u64::saturating_add);
    match (total, grew) {
        (_, Some(grew)) if grew > 0 => format!("+{}", numbers::count(grew)),
        (0, _) if known.len() < drops.len() => "0 seen".into(),
        (0, _) => "0".into(),
        (total, Some(_)) => format!("{} (+0)", numbers::count(total)),
        (total, None) => numbers::count(total),
    }
}

fn drop_cell(drop: &DropRow) -> String {
    match (drop.total, drop.grew) {
        (None, None) => String::new(),
        (Some(0), None | Some(0)) | (None, Some(0)) => "0".into(),
        (Some(total), None) => numbers::count(total),
        (Some(total), Some(grew)) => format!("{} (+{})", numbers::count(total), numbers::count(grew)),
        (None, Some(grew)) => format!("+{}", numbers::count(grew)),
    }
}

fn drop_grid(rows: &[&InterfaceRow]) -> Grid {
    let heads: Vec<&str> = std::iter::once("IFACE").chain(PLACES.map(|(_, head)| head)).collect();
    let with_data = rows.iter().filter(|row| row.drops.iter().any(|drop| lost(drop).is_some()));
    let cells = with_data.map(|row| {
        let at = |place: &str| row.drops.iter().find(|drop| drop.place == place).map(drop_cell).unwrap_or_default();
        std::iter::once(full_name(row)).chain(PLACES.map(|(place, _)| at(place))).collect()
    });
    without_empty_columns(&heads, &cells.collect::<Vec<_>>())
}

/// Places of which the model speaks, with whether every, and whether any interface could be read there.
fn places_read(rows: &[&InterfaceRow]) -> Vec<(String, bool, bool)> {
    let of = |(place, head): (&str, &str)| {
        let drops: Vec<&DropRow> = rows.iter().flat_map(|row| &row.drops).filter(|drop| drop.place == place).collect();
        let name = if head == "NIC" { head.to_owned() } else { head.to_ascii_lowercase() };
        let read = |drop: &&DropRow| lost(drop).is_some();
        (!drops.is_empty()).then(|| (name, drops.iter().all(read), drops.iter().any(read)))
    };
    PLACES.into_iter().filter_map(of).collect()
}

fn unread_places(rows: &[&InterfaceRow]) -> String {
    let names: Vec<String> = places_read(rows).into_iter().filter(|(.., any)| !any).map(|(name, ..)| name).collect();
    and(&names)
}

fn no_drops(rows: &[&InterfaceRow]) -> String {
    let (read, unread): (Vec<_>, Vec<_>) = places_read(rows).into_iter().partition(|(_, all, _)| *all);
    let names = |list: Vec<(String, bool, bool)>| and(&list.into_iter().map(|(name, ..)| name).collect::<Vec<_>>());
    let at = if read.is_empty() { String::new() } else { format!(" at {}", names(read)) };
    let but = if unread.is_empty() { String::new() } else { format!("; not readable everywhere: {}", names(unread)) };
    format!("no loss counted{at}{but}")
}

fn ceiling(row: &InterfaceRow) -> Option<Ceiling> {
    let ceiling = row.ceiling.as_ref()?;
    if is_virtual(row) && ceiling.binding == "link" {
        return None;
    }
    let points = ceiling.waterfall.iter().flat_map(|step| [step.bps, step.range_bps.map_or(0.0, |range| range.1)]);
    let top = points.filter(|bps| bps.is_finite()).fold(0.0, f64::max);
    let part = |bps: f64| if top > 0.0 && bps.is_finite() { (bps / top).clamp(0.0, 1.0) } else { 0.0 };
    let mut before = 0.0;
    let steps = ceiling.waterfall.iter().map(|step| {
        let (lo, hi) = step.range_bps.unwrap_or((step.bps, step.bps));
        let text = match step.range_bps {
            Some((lo, hi)) => numbers::rate_range(lo, step.bps, hi, ceiling.confidence == "low"),
            None => numbers::rate(step.bps),
        };
        let bar = Bar {
            label: escape::prose(&step.label),
            text,
            lo: part(lo),
            typical: part(step.bps),
            hi: part(hi),
            before,
            binds: step.binds,
        };
        before = bar.typical;
        bar
    });
    Some(Ceiling {
        name: full_name(row),
        range: range_text(ceiling),
        binding: escape::prose(&ceiling.binding_text),
        confidence: words(&ceiling.confidence),
        below_link: ceiling.binding != "link",
        assumed: ceiling.assumed.iter().map(|text| escape::prose(text)).collect(),
        headroom: ceiling.headroom.iter().map(|text| escape::prose(text)).collect(),
        steps: steps.collect(),
        path: row.pcie.as_ref().and_then(path),
    })
}

fn path(pcie: &PcieRow) -> Option<Path> {
    if pcie.path.is_empty() {
        return None;
    }
    let slowest = pcie.path.iter().filter_map(|hop| hop.raw_bps).fold(f64::INFINITY, f64::min);
    let named = pcie.narrowest.as_deref().filter(|upper| pcie.path.iter().any(|hop| hop.upper == *upper));
    let narrowest = |hop: &PcieHop| named.map_or(hop.raw_bps == Some(slowest), |upper| hop.upper == upper);
    let hops = pcie.path.iter().map(|hop| {
        let ends = [(&hop.lower_max, "below"), (&hop.upper_max, "above")];
        let could: Vec<String> =
            ends.iter().filter_map(|(max, end)| Some(format!("{} {end}", show(max.as_deref()?)))).collect();
        Hop {
            upper: if hop.upper.is_empty() { "upper end unknown".into() } else { show(&hop.upper) },
            role: hop.role.as_deref().map(words).unwrap_or_default(),
            link: link_text(hop.generation, hop.width),
            rate: hop.raw_bps.map(numbers::rate).unwrap_or_default(),
            could: if could.is_empty() { String::new() } else { format!("could do: {}", could.join(", ")) },
            lanes: hop.width.unwrap_or(1),
            narrowest: narrowest(hop),
        }
    });
    Some(Path {
        device: show(&pcie.device),
        card: pcie.name.as_deref().map(show).unwrap_or_default(),
        slot: pcie.slot.as_deref().map(show).unwrap_or_default(),
        hops: hops.collect(),
    })
}

/// "eno1, eno2: the link itself would limit first; PCIe has 4 times the link's rate".
fn link_bound(rows: &[&InterfaceRow]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(ceiling) = row.ceiling.as_ref().filter(|ceiling| ceiling.binding == "link") else { continue };
        let headroom: Vec<String> = ceiling.headroom.iter().map(|text| escape::prose(text)).collect();
        let text = if headroom.is_empty() { String::new() } else { format!(" ({})", headroom.join("; ")) };
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(full_name(row)),
            None => groups.push((text, vec![full_name(row)])),
        }
    }
    groups.iter().map(|(text, names)| format!("{}: the link itself would limit first{text}", and(names))).collect()
}

fn shared(shared: &crate::report::model::SharedCeiling) -> String {
    let names: Vec<String> = shared.interfaces.iter().map(|name| show(name)).collect();
    let range = numbers::rate_range(shared.lo_bps, shared.typical_bps, shared.hi_bps, false);
    format!("{} share {}: {range} for all of them together", and(&names), escape::prose(&shared.what))
}

fn undecided(check: &Check) -> Undecided {
    let lacks: Vec<String> = check.missing.iter().map(|m| format!("{} ({})", show(&m.fact), words(&m.why))).collect();
    let mut commands: Vec<String> = Vec::new();
    for missing in &check.missing {
        let command = show(&missing.command);
        if !command.is_empty() && !commands.contains(&command) {
            commands.push(command);
        }
    }
    Undecided {
        rule: show(&check.rule),
        subjects: check.subjects.iter().map(|subject| show(subject)).collect::<Vec<_>>().join(", "),
        lacks: lacks.join(", "),
        commands,
    }
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

struct Sections {
    fix_now: Vec<Item>,
    options: Vec<Item>,
    limits: Vec<Item>,
    hygiene: Vec<Item>,
}

impl Sections {
    fn new(findings: &[Finding]) -> Self {
        let index = Index::new(findings);
        let roots: Vec<Option<usize>> = (0..findings.len()).map(|i| index.root_of(i)).collect();
        let mut folded: BTreeMap<usize, Vec<Below>> = BTreeMap::new();
        for (finding, root) in findings.iter().zip(&roots) {
            if let Some(root) = root {
                folded.entry(*root).or_default().push(below(finding));
            }
        }
        let mut out = Self { fix_now: Vec::new(), options: Vec::new(), limits: Vec::new(), hygiene: Vec::new() };
        for (i, finding) in findings.iter().enumerate() {
            if roots[i].is_some() {
                continue;
            }
            let section = match (finding.kind.as_str(), finding.severity.as_str()) {
                ("limit", _) => &mut out.limits,
                ("hygiene", _) => &mut out.hygiene,
                (_, "critical" | "warning") => &mut out.fix_now,
                _ => &mut out.options,
            };
            section.push(item(finding, folded.remove(&i).unwrap_or_default()));
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
        evidence: finding.evidence.iter().map(reading).collect(),
    }
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

fn item(finding: &Finding, below: Vec<Below>) -> Item {
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
        evidence: finding.evidence.iter().map(reading).collect(),
        below,
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
        (false, "queue" | "link" | "all-ports") => "; your session does not run over it",
        _ => "",
    };
    Action {
        letter,
        what: escape::prose(&recommend.action),
        commands: recommend.commands.iter().map(|command| show(command)).collect(),
        effect: format!("{interrupted}{session}").trim_start_matches("; ").to_owned(),
        disruptive: recommend.hits_session || matches!(recommend.interrupts.as_str(), "all-ports" | "host"),
        risk: escape::prose(&recommend.risk),
        persist: recommend.persist.iter().map(|text| step(text)).collect(),
        verify: escape::prose(&recommend.verify),
        undo: recommend.undo.iter().map(|text| step(text)).collect(),
        withheld_by: recommend.withheld_by.as_deref().map(show),
    }
}

/// Steps in words begin with a capital, have several words and hold nothing that a shell or a file would need;
/// anything else may be meant to be typed, so it is never broken.
fn step(text: &str) -> Step {
    let wordy = text.starts_with(|c: char| c.is_uppercase()) && text.contains(' ') && !text.contains(['=', '$', '`']);
    Step { text: if wordy { escape::prose(text) } else { show(text) }, command: !wordy }
}
