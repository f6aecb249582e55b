//! Ceilings as a report shows them: range, binding part, waterfall, headroom, shared uplinks.

use std::collections::BTreeSet;

use super::model::{CeilingRow, Excluded, PcieHop, PcieRow, SharedCeiling, WaterfallStep};
use crate::ceiling::combine::{Headroom, Mechanism, headroom as room_above};
use crate::ceiling::{Ceiling, Confidence};
use crate::facts::{
    Facts, InterfaceCeiling, Judged, MeasuredVerdict, SharedHop, pcie_generation, pcie_raw_rate, shared_hops,
};
use crate::reading::numbers::{rate, rate_range, significant};
use crate::snapshot::{PcieLink, Word};

/// The narrowest link and the whole path of an interface's card.
pub(super) fn pcie(facts: &Facts<'_>, interface: usize) -> Option<PcieRow> {
    let device_index = facts.device_of(interface)?;
    let device = &facts.snapshot().devices[device_index];
    let links = device.pcie.links.known()?;
    if device.pcie.virtual_root.known() == Some(&true) || links.is_empty() {
        return None;
    }
    let narrowest =
        facts.path_ceiling(device_index).and_then(|path| path.narrowest).and_then(|link| facts.pcie_link(link));
    Some(PcieRow {
        device: device.address.to_string(),
        name: device.name.known().cloned(),
        generation: narrowest.and_then(|link| generation(facts, link)),
        width: narrowest.and_then(|link| link.width.known().copied()),
        narrowest: narrowest.and_then(|link| link.upper.known().map(ToString::to_string)),
        slot: narrowest.and_then(|link| link.slot.known().cloned()),
        path: links.iter().map(|link| hop(facts, link)).collect(),
    })
}

fn generation(facts: &Facts<'_>, link: &PcieLink) -> Option<u32> {
    pcie_generation(facts, *link.speed.known()?)
}

fn hop(facts: &Facts<'_>, link: &PcieLink) -> PcieHop {
    let best = |speed: Option<&crate::reading::Gigatransfers>, width: Option<&u32>| {
        Some(format!("Gen{} x{}", pcie_generation(facts, *speed?)?, width?))
    };
    PcieHop {
        lower: link.lower.to_string(),
        upper: link.upper.known().map_or_else(String::new, ToString::to_string),
        role: link.role.known().map(|role| role.word().into()),
        generation: generation(facts, link),
        width: link.width.known().copied(),
        lower_max: best(link.lower_speed_max.known(), link.lower_width_max.known()),
        upper_max: best(link.upper_speed_max.known(), link.upper_width_max.known()),
        raw_bps: pcie_raw_rate(facts, link),
    }
}

/// How fast an interface could go; none where its link speed is unknown or made up.
pub(super) fn row(facts: &Facts<'_>, interface: usize) -> Option<CeilingRow> {
    let found = facts.interface_ceiling(interface)?;
    let combined = found.combined.as_ref()?;
    let ceiling = &combined.ceiling;
    Some(CeilingRow {
        lo_bps: ceiling.lo_bps,
        typical_bps: ceiling.typical_bps,
        hi_bps: ceiling.hi_bps,
        binding: combined.binding.name().into(),
        binding_text: binding_text(facts, interface, found, combined.binding),
        assumed: found.assumed(),
        confidence: confidence(ceiling.confidence).into(),
        waterfall: waterfall(facts, interface, found, combined.binding),
        headroom: headroom(found, combined.binding),
        notes: notes(found),
        as_root: as_root(facts, interface, found),
        stands_on: found.stands_on.as_ref().map(|(lower, _)| facts.snapshot().interfaces[*lower].name.clone()),
    })
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

fn speed_of(facts: &Facts<'_>, interface: usize) -> Option<f64> {
    facts.snapshot().interfaces[interface].link.speed.known().map(|speed| speed.0 as f64)
}

fn binding_text(facts: &Facts<'_>, interface: usize, found: &InterfaceCeiling, binding: Mechanism) -> String {
    if let Some((lower, below)) = found.stands_on.as_ref().filter(|_| found.shaper.is_none()) {
        let name = &facts.snapshot().interfaces[*lower].name;
        return format!("{} of {name}", binding_text(facts, *lower, below, binding));
    }
    let link = found.narrowest.and_then(|link| facts.pcie_link(link));
    match (binding, link) {
        (Mechanism::Pcie, Some(link)) => pcie_text(facts, link),
        (Mechanism::Link, _) => match speed_of(facts, interface) {
            Some(speed) => format!("the {} link", rate(speed)),
            None => "the link".into(),
        },
        (Mechanism::Usb, _) => usb_text(found),
        (Mechanism::Shaper, _) => match &found.shaper {
            Some(set) => format!("the {} shaper at {}, for what it sends", set.kind, rate(set.bps)),
            None => "a shaper".into(),
        },
        (Mechanism::Shared, _) => "the PCIe path that its members share".into(),
        _ => binding.name().into(),
    }
}

/// `USB at 5 Gb/s`.
fn usb_text(found: &InterfaceCeiling) -> String {
    let speed = found.usb.as_ref().and_then(|(name, _)| name.strip_prefix("usb-"));
    let units = [('m', "Mb/s"), ('g', "Gb/s")];
    let told = speed.and_then(|speed| {
        units.iter().find_map(|(letter, unit)| Some(format!("USB at {} {unit}", speed.strip_suffix(*letter)?)))
    });
    told.unwrap_or_else(|| "USB".into())
}

/// `PCIe Gen3 x4`.
fn pcie_label(facts: &Facts<'_>, link: &PcieLink) -> Option<String> {
    Some(format!("PCIe Gen{} x{}", generation(facts, link)?, link.width.known()?))
}

/// A PCIe link in words: `PCIe Gen3 x4 at 0000:00:1c.0 (slot 1)`.
fn pcie_text(facts: &Facts<'_>, link: &PcieLink) -> String {
    let mut text = "PCIe".to_owned();
    if let (Some(generation), Some(width)) = (generation(facts, link), link.width.known()) {
        text += &format!(" Gen{generation} x{width}");
    }
    match link.upper.known() {
        Some(upper) => text += &format!(" at {upper}"),
        None => text += &format!(" of {}", link.lower),
    }
    if let Some(slot) = link.slot.known() {
        text += &format!(" (slot {slot})");
    }
    text
}

/// From the nominal rate down to what was measured, and what of the rest nothing explains.
fn waterfall(facts: &Facts<'_>, interface: usize, found: &InterfaceCeiling, binding: Mechanism) -> Vec<WaterfallStep> {
    let mtu = facts.snapshot().interfaces[interface].mtu.known().map_or(1500, |mtu| mtu.0);
    let mut steps = parts(facts, interface, found, binding, mtu);
    let judged = facts.judged_directions(interface);
    let several = judged.len() > 1;
    for one in judged {
        let way = if several { format!(", {}", direction(one.sends)) } else { String::new() };
        if let Some(window) = &one.window {
            steps.push(WaterfallStep {
                label: format!("window{way}"),
                bps: window.typical_bps,
                range_bps: Some((window.lo_bps, window.hi_bps)),
                ..WaterfallStep::default()
            });
        }
        steps.push(WaterfallStep {
            label: format!("measured{way} ({} % of typical)", significant(one.share * 100.0, 2)),
            bps: one.bps,
            ..WaterfallStep::default()
        });
        let reach = one.window.iter().fold(one.ceiling.typical_bps, |least, window| least.min(window.typical_bps));
        if reach > one.bps
            && one.unread_bus.is_none()
            && matches!(one.verdict, MeasuredVerdict::NotTheLimit | MeasuredVerdict::Close)
        {
            steps.push(WaterfallStep {
                label: format!("unexplained{way}"),
                bps: reach - one.bps,
                from_bps: Some(one.bps),
                ..WaterfallStep::default()
            });
        }
    }
    steps
}

/// The parts of the path, from the nominal rate on; those of the interface below for one that stands on another.
fn parts(
    facts: &Facts<'_>,
    interface: usize,
    found: &InterfaceCeiling,
    binding: Mechanism,
    mtu: u64,
) -> Vec<WaterfallStep> {
    let mut steps = Vec::new();
    if let Some((lower, below)) = &found.stands_on {
        steps = parts(facts, *lower, below, if found.shaper.is_some() { Mechanism::Shaper } else { binding }, mtu);
        if found.shaper.is_some() {
            for step in &mut steps {
                step.binds = false;
            }
        }
    }
    if let Some(speed) = speed_of(facts, interface).filter(|_| found.stands_on.is_none()) {
        steps.push(WaterfallStep { label: "link, nominal".into(), bps: speed, ..WaterfallStep::default() });
    }
    if let Some(link) = &found.link {
        steps.push(WaterfallStep {
            label: format!("TCP payload at MTU {mtu}"),
            bps: link.typical_bps,
            range_bps: Some((link.lo_bps, link.hi_bps)),
            binds: binding == Mechanism::Link,
            from_bps: None,
        });
    }
    if let Some(pcie) = &found.pcie {
        let label = found.narrowest.and_then(|link| facts.pcie_link(link)).and_then(|link| pcie_label(facts, link));
        let label = label.unwrap_or_else(|| "PCIe".into());
        steps.push(WaterfallStep { label: format!("{label}, raw"), bps: pcie.raw_bps, ..WaterfallStep::default() });
        steps.push(WaterfallStep {
            label: format!("{label}, TCP payload"),
            bps: pcie.ceiling.typical_bps,
            range_bps: Some((pcie.ceiling.lo_bps, pcie.ceiling.hi_bps)),
            binds: binding == Mechanism::Pcie,
            from_bps: None,
        });
    }
    if let Some((_, usb)) = &found.usb {
        steps.push(WaterfallStep {
            label: format!("{}, TCP payload", usb_text(found)),
            bps: usb.typical_bps,
            range_bps: Some((usb.lo_bps, usb.hi_bps)),
            binds: binding == Mechanism::Usb,
            from_bps: None,
        });
    }
    if let Some(set) = &found.shaper {
        steps.push(WaterfallStep {
            label: format!("{} shaper, sending", set.kind),
            bps: set.ceiling.typical_bps,
            range_bps: Some((set.ceiling.lo_bps, set.ceiling.hi_bps)),
            binds: binding == Mechanism::Shaper,
            from_bps: None,
        });
    }
    steps
}

fn direction(sends: Option<bool>) -> &'static str {
    match sends {
        Some(true) => "sending",
        Some(false) => "receiving",
        None => "direction not known",
    }
}

/// What binds in the direction of a result, and the range that it was held against, in words.
pub(super) fn held_against(facts: &Facts<'_>, interface: usize, judged: &Judged) -> Option<(String, String)> {
    let found = facts.interface_ceiling(interface)?;
    Some((binding_text(facts, interface, found, judged.binding), in_words(&judged.ceiling)))
}

/// How far the results of one direction lie apart; none for one result.
pub(super) fn repeats(judged: &Judged) -> Option<String> {
    let (count, lo) = (judged.repeats.len(), judged.repeats.iter().copied().reduce(f64::min)?);
    (count > 1).then(|| format!("the fastest of {count} results of its direction; the slowest was {}", rate(lo)))
}

/// The other direction in words, where it stays clearly below its ceiling.
pub(super) fn slower_direction(facts: &Facts<'_>, interface: usize, fastest: &Judged) -> Option<String> {
    let all = facts.judged_directions(interface);
    let other = all.iter().find(|one| one.sends != fastest.sends && one.verdict == MeasuredVerdict::NotTheLimit)?;
    let (way, percent) = (direction(other.sends), significant(other.share * 100.0, 2));
    Some(format!(
        "The other way ({way}) {} is {percent} % of typical: no ceiling of this interface limits that.",
        rate(other.bps)
    ))
}

fn headroom(found: &InterfaceCeiling, binding: Mechanism) -> Vec<String> {
    let mut told = Vec::new();
    match (&found.link, &found.pcie, binding) {
        (Some(link), Some(pcie), Mechanism::Link) => {
            let times = pcie.ceiling.typical_bps / link.typical_bps;
            told.push(format!("the PCIe path carries {} times what the link does", significant(times, 3)));
        }
        (Some(link), Some(pcie), Mechanism::Pcie) => {
            let times = link.typical_bps / pcie.ceiling.typical_bps;
            told.push(format!("the link carries {} times what the PCIe path does", significant(times, 3)));
        }
        (Some(link), _, Mechanism::Usb) => {
            let times = found.usb.as_ref().map_or(1.0, |(_, usb)| link.typical_bps / usb.typical_bps);
            told.push(format!("the link carries {} times what USB does", significant(times, 3)));
        }
        _ => {}
    }
    if let Some(whole) = &found.receiving {
        told.push(format!("what is received is not held back: {}", in_words(&whole.ceiling)));
    }
    told
}

fn notes(found: &InterfaceCeiling) -> Vec<String> {
    let one_flow = found.one_flow.iter().map(|one| format!("one flow uses one member: {}", in_words(one)));
    let below = found.stands_on.iter().flat_map(|(_, below)| &below.notes);
    one_flow.chain(found.notes.iter().chain(below).cloned()).collect()
}

/// What root would find out, where a register that only root reads moves the ceiling.
fn as_root(facts: &Facts<'_>, interface: usize, found: &InterfaceCeiling) -> Option<String> {
    let (link, pcie) = (found.link.as_ref()?, found.pcie.as_ref()?);
    let buses = facts.knowledge().buses();
    if room_above(&pcie.ceiling, link, buses) == Headroom::Ample || found.by_payload_size.is_empty() {
        return None;
    }
    let device = facts.snapshot().interfaces[interface].device.known()?;
    let each = found.by_payload_size.iter().map(|(size, alone)| {
        let (lo, hi) = (alone.lo_bps.min(link.lo_bps), alone.hi_bps.min(link.hi_bps));
        let (low, high) = (rate(lo), rate(hi));
        let range = match (low.split_once(' '), high.split_once(' ')) {
            (Some((low, unit)), Some((high, same))) if unit == same => format!("{low}-{high} {unit}"),
            _ => format!("{low} to {high}"),
        };
        format!("{range} at {size} B")
    });
    let each: Vec<String> = each.collect();
    Some(format!("sudo lspci -vvv -s {device} shows the max payload size, and narrows it: {}", each.join(", ")))
}

fn in_words(ceiling: &Ceiling) -> String {
    rate_range(ceiling.lo_bps, ceiling.typical_bps, ceiling.hi_bps, ceiling.confidence == Confidence::Low)
}

/// Ceilings that several ports share, where those are up: of one card, or behind one switch or root port.
pub(super) fn shared(facts: &Facts<'_>) -> Vec<SharedCeiling> {
    let of = |hop: SharedHop| {
        let link = hop.link.and_then(|link| facts.pcie_link(link));
        let what = link.map_or_else(|| "the PCIe path".into(), |link| pcie_text(facts, link));
        SharedCeiling {
            interfaces: hop.ports.iter().map(|port| facts.snapshot().interfaces[*port].name.clone()).collect(),
            what: if hop.cards > 1 { format!("{what}, which {} cards stand behind", hop.cards) } else { what },
            lo_bps: hop.group.together.lo_bps,
            typical_bps: hop.group.together.typical_bps,
            hi_bps: hop.group.together.hi_bps,
            members_typical_bps: hop.group.members_typical_bps,
            binds: hop.group.shared_binds,
        }
    };
    shared_hops(facts).into_iter().map(of).collect()
}

/// PCIe paths that carry more than their ports, but for interfaces of which that was told.
pub(super) fn excluded(facts: &Facts<'_>, told: &BTreeSet<usize>) -> Vec<Excluded> {
    let mut excluded = Vec::new();
    let interfaces = facts.snapshot().interfaces.iter().enumerate();
    for (index, interface) in interfaces.filter(|(index, _)| !told.contains(index)) {
        let Some(found) = facts.interface_ceiling(index) else { continue };
        let (Some(link), Some(pcie)) = (&found.link, &found.pcie) else { continue };
        if pcie.ceiling.lo_bps > link.hi_bps {
            excluded.push(Excluded {
                what: format!("PCIe path of {}", interface.name),
                by: format!(
                    "it carries at least {}, the link at most {}",
                    rate(pcie.ceiling.lo_bps),
                    rate(link.hi_bps)
                ),
                rule: None,
            });
        }
    }
    excluded
}
