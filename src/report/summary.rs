//! The first two lines: the answer, and how good the sample was.

use super::model::{Finding, InterfaceRow, Report};
use crate::facts::{Count, Facts};
use crate::reading::numbers::{rate, rate_range, significant};
use crate::snapshot::SampleSource;

/// Share of a link's rate below which a port counts as quiet.
const QUIET: f64 = 0.01;

/// Busiest hardware port in the sample: its name and the share of its link that it used.
fn busiest(facts: &Facts<'_>) -> Option<(String, f64)> {
    let mut busiest: Option<(String, f64)> = None;
    for (index, interface) in facts.snapshot().interfaces.iter().enumerate() {
        let Some(speed) = interface.link.speed.known().filter(|speed| speed.0 > 0) else { continue };
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
            format!(
                "Sampled {} s; no port reports a speed to compare its traffic with.",
                significant(sample.seconds, 3)
            )
        }
    };
    if !sample.needs_root.is_empty() {
        text += &format!(" Not readable without root: {}.", sample.needs_root.join(", "));
    } else if sample.source == SampleSource::Live && facts.snapshot().host.privileged.known() == Some(&false) {
        text += " Root would add nothing on this host.";
    }
    text
}

/// The answer in one sentence, two at most.
pub(super) fn answer(report: &Report) -> String {
    let root = |finding: &&Finding| finding.under.is_none();
    let is_loud = |finding: &&Finding| {
        matches!(finding.kind.as_str(), "fault" | "risk") && matches!(finding.severity.as_str(), "critical" | "warning")
    };
    let loud: Vec<&Finding> = report.findings.iter().filter(root).filter(is_loud).collect();
    if let Some(first) = loud.first() {
        let more = if loud.len() > 1 { format!(" {} more below.", loud.len() - 1) } else { String::new() };
        return format!("{}: {}.{more}", subject(first), first.title);
    }
    let limits: Vec<&Finding> = report.findings.iter().filter(root).filter(|finding| finding.kind == "limit").collect();
    let ceilings: Vec<String> = limits
        .iter()
        .flat_map(|finding| &finding.interfaces)
        .filter_map(|name| {
            let row = report.interfaces.iter().find(|row| row.name == *name)?;
            limit_sentence(row)
        })
        .collect();
    if !ceilings.is_empty() {
        return format!("No fault found. {}.", ceilings.join("; "));
    }
    let hardware = report.interfaces.iter().filter(|row| row.physical == Some(true));
    let up = hardware.clone().filter(|row| row.state.as_deref() == Some("up")).count();
    let undecided = report.checks.iter().any(|check| check.result == "unknown");
    let decided = report.checks.iter().any(|check| check.result == "passes" || check.result == "fires");
    match (decided, undecided) {
        (false, true) => "Not decided: readings that the checks need are missing.".into(),
        _ if hardware.count() == 0 => {
            "Nothing wrong found. No hardware port here, so no link or PCIe ceiling to judge.".into()
        }
        _ => {
            format!("Nothing wrong found on {up} hardware port{} up.", if up == 1 { " that is" } else { "s that are" })
        }
    }
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
