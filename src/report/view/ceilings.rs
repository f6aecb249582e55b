//! How fast the interfaces could go: waterfalls, PCIe paths and what is shared.

use super::{Bar, Ceiling, Hop, Path, and, full_name, is_virtual, link_text, range_text, show, words};
use crate::reading::numbers;
use crate::report::escape;
use crate::report::model::{InterfaceRow, PcieHop, PcieRow, SharedCeiling};

pub(super) fn ceiling(row: &InterfaceRow) -> Option<Ceiling> {
    let ceiling = row.ceiling.as_ref()?;
    let told_below = ceiling.binding == "link" || ceiling.stands_on.is_some();
    if is_virtual(row) && told_below && row.measured_bps.is_none() {
        return None;
    }
    let points = ceiling.waterfall.iter().flat_map(|step| [step.bps, step.range_bps.map_or(0.0, |range| range.1)]);
    let top = points.filter(|bps| bps.is_finite()).fold(0.0, f64::max);
    let part = |bps: f64| if top > 0.0 && bps.is_finite() { (bps / top).clamp(0.0, 1.0) } else { 0.0 };
    let mut before = 0.0;
    let steps = ceiling.waterfall.iter().map(|step| {
        // A gap is drawn from where it begins.
        let end = step.bps + step.from_bps.unwrap_or(0.0);
        let (lo, hi) = step.range_bps.unwrap_or((end, end));
        let text = match step.range_bps {
            Some((lo, hi)) => numbers::rate_range(lo, step.bps, hi, ceiling.confidence == "low"),
            None => numbers::rate(step.bps),
        };
        let bar = Bar {
            label: escape::prose(&step.label),
            text,
            lo: part(lo),
            typical: part(end),
            hi: part(hi),
            before: if step.from_bps.is_some() { 0.0 } else { before },
            from: step.from_bps.map_or(0.0, part),
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
        notes: ceiling.notes.iter().map(|text| escape::prose(text)).collect(),
        as_root: ceiling.as_root.as_deref().map(escape::prose).unwrap_or_default(),
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
pub(super) fn link_bound(rows: &[&InterfaceRow]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(ceiling) = row.ceiling.as_ref().filter(|ceiling| ceiling.binding == "link") else { continue };
        if ceiling.stands_on.is_some() {
            continue;
        }
        let headroom: Vec<String> =
            ceiling.headroom.iter().chain(&ceiling.notes).map(|text| escape::prose(text)).collect();
        let text = if headroom.is_empty() { String::new() } else { format!(" ({})", headroom.join("; ")) };
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(full_name(row)),
            None => groups.push((text, vec![full_name(row)])),
        }
    }
    groups.iter().map(|(text, names)| format!("{}: the link itself would limit first{text}", and(names))).collect()
}

pub(super) fn shared(shared: &SharedCeiling) -> String {
    let names: Vec<String> = shared.interfaces.iter().map(|name| show(name)).collect();
    let range = numbers::rate_range(shared.lo_bps, shared.typical_bps, shared.hi_bps, false);
    let enough = if shared.binds || shared.members_typical_bps == 0.0 { "" } else { ", enough for each of them" };
    format!("{} share {}: {range} for all of them together{enough}", and(&names), escape::prose(&shared.what))
}
