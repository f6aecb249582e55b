//! The first two lines: the answer, and how good the sample was.

use super::ceilings;
use super::model::{DropRow, Finding, InterfaceRow, Report};
use crate::facts::{Count, Facts, Judged, MeasuredVerdict};
use crate::knowledge::Place;
use crate::reading::numbers::{count, rate, rate_range, significant};
use crate::snapshot::{CounterBlock, SampleSource, Snapshot};

/// Share of a link's rate below which a port counts as quiet.
const QUIET: f64 = 0.01;

/// Packets that the host as a whole must have lost in the sample before the answer speaks of them: programs that listen for
/// announcements let a few go by.
const HOST_LEAST: u64 = 10;

/// Rule of a measured result that stays below its ceiling.
const SHORTFALL: &str = "tcp.below-ceiling";

/// Rule of segments that were lost somewhere on the way.
const LOSS: &str = "tcp.retrans-high";

/// The rule of one stream, or one thread for all of them.
const ONE_STREAM: &str = "cpu.single-stream";

/// Busiest hardware port in the sample: its name and the share of its link that it used.
fn busiest(facts: &Facts<'_>) -> Option<(String, f64)> {
    let mut busiest: Option<(String, f64)> = None;
    for (index, interface) in facts.snapshot().interfaces.iter().enumerate() {
        let Some(speed) = interface.link.speed.known().filter(|speed| speed.0 > 0) else { continue };
        // A made-up port has a made-up speed.
        if facts.interface_ceiling(index).is_none_or(|found| found.link.is_none()) {
            continue;
        }
        for name in ["rx_bytes", "tx_bytes"] {
            let Count::Counted(counted) = facts.count(index, name) else { continue };
            let Some(bytes_per_second) =
                counted.growth.zip(counted.window).map(|(growth, window)| growth as f64 / window)
            else {
                continue;
            };
            let share = bytes_per_second * 8.0 / speed.0 as f64;
            if busiest.as_ref().is_none_or(|(_, most)| share > *most) {
                busiest = Some((interface.name.clone(), share));
            }
        }
    }
    busiest
}

/// True where no port carried enough to judge loss by it; unknown without a second sample.
pub(super) fn idle(facts: &Facts<'_>) -> Option<bool> {
    (facts.snapshot().sample.seconds > 0.0).then(|| busiest(facts).is_none_or(|(_, share)| share < QUIET))
}

/// How good the sample was, in one sentence.
pub(super) fn quality(facts: &Facts<'_>, idle: Option<bool>) -> String {
    let sample = &facts.snapshot().sample;
    let mut text = match (idle, busiest(facts)) {
        (None, _) if sample.source == SampleSource::Live => "One sample: what grows now is not judged.".to_owned(),
        (None, _) if read_twice(facts.snapshot()) => {
            "Some counters were read twice, at times that are not told: what grew is judged, how fast is not."
                .to_owned()
        }
        (None, _) => "One reading of each counter: what grows now is not judged.".to_owned(),
        (Some(quiet), Some((name, share))) => {
            let percent = significant(share * 100.0, 3);
            let verdict = if quiet { "quiet: loss is judged from totals" } else { "loss is judged from what grew" };
            format!(
                "Sampled {} s, busiest {name} at {percent} % of its link: {verdict}.",
                significant(sample.seconds, 3)
            )
        }
        (Some(_), None) => {
            format!("Sampled {} s; no hardware port whose load could be judged.", significant(sample.seconds, 3))
        }
    };
    if !sample.needs_root.is_empty() {
        text += &format!(" Not readable without root: {}.", sample.needs_root.join(", "));
    } else if sample.source == SampleSource::Live && facts.snapshot().host.privileged.known() == Some(&false) {
        text += " Root would add nothing on this host.";
    }
    text
}

/// True where a capture holds an output more than once.
fn read_twice(snapshot: &Snapshot) -> bool {
    let twice = |blocks: &[CounterBlock]| blocks.iter().any(|block| block.at_ms.len() > 1);
    snapshot.interfaces.iter().any(|one| twice(&one.counters))
        || snapshot.host.counters.known().is_some_and(|blocks| twice(blocks))
}

/// The answer in one sentence, two at most.
pub(super) fn answer(facts: &Facts<'_>, report: &Report) -> String {
    if report.interfaces.is_empty() && report.findings.is_empty() {
        let told = !facts.snapshot().sample.remarks.is_empty();
        let why = if told { " The remarks say what was refused." } else { "" };
        return format!("Nothing could be judged: no network interface could be read.{why}");
    }
    let roots = || report.findings.iter().filter(|finding| finding.under.is_none());
    let loud: Vec<&Finding> = roots().filter(|finding| is_loud(finding)).collect();
    if let Some(sentence) = measured(facts, report, &loud) {
        return sentence;
    }
    if let Some(first) = loud.first() {
        return format!("{}: {}.{}", subject(first), first.title, below(&loud));
    }
    if let Some(sentence) = unjudged_loss(facts, report) {
        return sentence;
    }
    // What is not urgent is not nothing: it stands in the first line, in plain words.
    let quiet: Vec<&Finding> = roots().filter(|finding| is_quiet(finding)).collect();
    if let Some(first) = quiet.first() {
        return format!("Nothing urgent, but {}: {}.{}", subject(first), first.title, below(&quiet));
    }
    let limits = roots().filter(|finding| finding.kind == "limit").flat_map(|finding| &finding.interfaces);
    let mut ceilings: Vec<String> = limits.filter_map(|name| limit_sentence(row(report, name)?)).collect();
    ceilings.dedup();
    if !ceilings.is_empty() {
        return format!("Nothing wrong found. {}.", ceilings.join("; "));
    }
    // What is no fault may still be the answer to what the user asks.
    let notes: Vec<&Finding> = roots().filter(|finding| finding.kind != "hygiene").collect();
    if let Some(first) = notes.first() {
        let all = if first.kind == "limit" { "Nothing wrong found" } else { "Nothing urgent" };
        return format!("{all}. Worth a look: {} ({}).{}", first.title, subject(first), below(&notes));
    }
    let hardware = report.interfaces.iter().filter(|row| row.physical == Some(true));
    let up = hardware.clone().filter(|row| row.state.as_deref() == Some("up")).count();
    let undecided = report.checks.iter().any(|check| check.result == "unknown");
    let decided = report.checks.iter().any(|check| check.result == "passes" || check.result == "fires");
    let ports = format!("{up} hardware port{} up", if up == 1 { " that is" } else { "s that are" });
    match (decided, undecided) {
        (true, _) if report.interfaces.is_empty() => "Nothing wrong found in what was read.".into(),
        (true, _) if hardware.clone().count() == 0 => {
            let unsure = report.interfaces.iter().any(|row| row.physical.is_none());
            let why = if unsure { "Which ports are hardware was not read" } else { "No hardware port here" };
            format!("Nothing wrong found. {why}, so no link or PCIe ceiling to judge.")
        }
        (true, _) => format!("Nothing wrong found on {ports}."),
        (false, true) => "Not decided: readings that the checks need are missing.".into(),
        (false, false) if hardware.clone().count() == 0 => {
            "Nothing could be judged: this host has no hardware port, and no check concerns it.".into()
        }
        (false, false) => format!("Nothing could be judged: no check concerns this host ({ports})."),
    }
}

/// Packets that are being lost and that no finding speaks of.
fn unjudged_loss(facts: &Facts<'_>, report: &Report) -> Option<String> {
    let spoken_of = |name: &String| {
        report.findings.iter().any(|finding| finding.kind == "fault" && finding.interfaces.contains(name))
    };
    let rows = report.interfaces.iter().filter(|row| !spoken_of(&row.name));
    let mut losses: Vec<(&str, &DropRow)> =
        rows.flat_map(|row| row.drops.iter().map(move |drop| (row.name.as_str(), drop))).collect();
    // The sum of the queueing disciplines is told by their interfaces.
    let of_host = report.host_drops.iter().filter(|drop| drop.place != Place::Qdisc.word());
    let of_host = of_host.filter(|drop| drop.grew.is_some_and(|grew| grew >= HOST_LEAST));
    if !report.findings.iter().any(|finding| finding.kind == "fault" && finding.subject == "host") {
        losses.extend(of_host.map(|drop| ("The host", drop)));
    }
    let grew = |drop: &DropRow| drop.grew.unwrap_or(0);
    let (who, drop) = losses.into_iter().max_by_key(|(_, drop)| grew(drop)).filter(|(_, drop)| grew(drop) > 0)?;
    let seconds = significant(facts.snapshot().sample.seconds, 3);
    let place = drop.place.replace('_', " ");
    Some(format!(
        "{who} lost {} packets in {seconds} s (place: {place}); no check judges that here.",
        count(grew(drop))
    ))
}

/// How many stand below the first.
fn below(findings: &[&Finding]) -> String {
    if findings.len() > 1 { format!(" {} more below.", findings.len() - 1) } else { String::new() }
}

/// A fault or risk that may wait.
fn is_quiet(finding: &Finding) -> bool {
    finding.is_trouble() && finding.group() == "advice"
}

fn is_loud(finding: &Finding) -> bool {
    finding.is_trouble() && matches!(finding.group(), "critical" | "warning")
}

fn row<'r>(report: &'r Report, name: &str) -> Option<&'r InterfaceRow> {
    report.interfaces.iter().find(|row| row.name == name)
}

/// The answer where a result was measured: it is held against the ceiling before anything else is said.
fn measured(facts: &Facts<'_>, report: &Report, loud: &[&Finding]) -> Option<String> {
    let best = |row: &&InterfaceRow| row.measured_bps.unwrap_or(0.0);
    let row =
        report.interfaces.iter().filter(|row| row.measured_bps.is_some()).max_by(|a, b| best(a).total_cmp(&best(b)))?;
    let index =
        facts.snapshot().interfaces.iter().position(|one| one.name == row.name && one.namespace == row.namespace)?;
    let judged = facts.judged(index)?;
    let (part, range) = ceilings::held_against(facts, index, &judged)?;
    let reached = format!("{} reached {}", row.name, rate(judged.bps));
    let slower = ceilings::slower_direction(facts, index, &judged);
    let concerns = |finding: &&&Finding| finding.interfaces.is_empty() || finding.interfaces.contains(&row.name);
    // What is wrong and not known to be behind it is told as well, without a causal word.
    let also = loud.iter().find(concerns).map(|finding| format!("Beside it: {}.", finding.title));
    Some(match judged.verdict {
        MeasuredVerdict::AtCeiling if is_at_the_lower_end(facts, &judged) => {
            format!(
                "{reached}, at the lower end of what {part} carries ({range}), which stands on an assumption: it probably binds, but frame size or a processor may as well."
            )
        }
        MeasuredVerdict::AtCeiling => {
            let rest = slower.or(also).unwrap_or_else(|| "Changing anything else cannot help.".to_owned());
            format!("{reached}: that is its ceiling ({part}, {range}). {rest}")
        }
        MeasuredVerdict::Close => {
            format!("{reached} of {range}: {part} probably binds, with a few per cent lost elsewhere.")
        }
        MeasuredVerdict::ModelOrInputWrong => {
            format!(
                "{reached}, more than the {range} that {part} should carry: an input of the ceiling is wrong. See what was assumed."
            )
        }
        MeasuredVerdict::NotTheLimit => {
            if let Some(bus) = &judged.unread_bus {
                format!("{reached}, and what limits it can't be told: {bus}.")
            } else if let Some(cause) = shortfall(report, row).filter(|cause| cause.rule == LOSS) {
                // The cause is not known, but a loss is: without it the path carries what its ceiling says. That is more than one
                // stream may, where one stream or thread was all that there was.
                let alone =
                    report.findings.iter().any(|one| one.rule == ONE_STREAM && one.interfaces.contains(&row.name));
                let streams = if alone { " with several streams" } else { "" };
                format!(
                    "{reached}. {}, and that loss is fixable: without it expect {range}{streams}. Above that {part} is the end.",
                    cause.title
                )
            } else if let Some(cause) = shortfall(report, row) {
                format!(
                    "{reached}. {}, and that is fixable: expect {range}. Above that {part} is the end.",
                    cause.title
                )
            } else {
                let percent = significant(judged.share * 100.0, 2);
                format!(
                    "{reached}, {percent} % of what it typically can do ({range}): {part} is not what limits it.{}",
                    also.map_or_else(String::new, |also| format!(" {also}"))
                )
            }
        }
    })
}

/// Inside a range that is wide because an input was assumed, and well below its middle.
fn is_at_the_lower_end(facts: &Facts<'_>, judged: &Judged) -> bool {
    judged.share < facts.knowledge().buses().verdict.near.value && !judged.ceiling.assumed.is_empty()
}

/// The fault that the shortfall of an interface stands below.
fn shortfall<'r>(report: &'r Report, row: &InterfaceRow) -> Option<&'r Finding> {
    let mine = |finding: &&Finding| finding.rule == SHORTFALL && finding.interfaces.contains(&row.name);
    let mut cause = report.findings.iter().find(mine)?;
    for _ in 0..report.findings.len() {
        let Some(rule) = &cause.under else { break };
        let above = |one: &&Finding| one.rule == *rule && Some(&one.subject) == cause.under_subject.as_ref();
        cause = report.findings.iter().find(above)?;
    }
    (cause.rule != SHORTFALL && cause.kind == "fault").then_some(cause)
}

fn subject(finding: &Finding) -> String {
    if finding.interfaces.is_empty() { finding.subject.clone() } else { finding.interfaces.join(", ") }
}

fn limit_sentence(row: &InterfaceRow) -> Option<String> {
    let ceiling = row.ceiling.as_ref().filter(|ceiling| ceiling.binding != "link")?;
    let range = rate_range(ceiling.lo_bps, ceiling.typical_bps, ceiling.hi_bps, ceiling.confidence == "low");
    let link = row.speed_bps.map(|speed| format!(" under a {} link", rate(speed))).unwrap_or_default();
    Some(format!("{} can do {range} at most: {} is the ceiling{link}", row.name, ceiling.binding_text))
}
