//! Bonds: what their members reach together, what they share, and what one flow gets.

use std::collections::BTreeMap;

use super::{Asked, Facts, INTERFACE, InterfaceCeiling, LinkState, interface_at, path_at};
use crate::ceiling::Ceiling;
use crate::ceiling::combine::{Combined, Mechanism, Part, Spread, bond, combine, group};
use crate::snapshot::Interface;

/// How a mode of the bonding driver spreads what it sends.
fn spread(interface: &Interface) -> Option<Spread> {
    let policy = interface.bond.xmit_hash_policy.known().map(String::as_str);
    Some(match interface.bond.mode.known()?.as_str() {
        "active-backup" | "broadcast" => Spread::OneMember,
        "balance-rr" => Spread::PerPacket,
        "802.3ad" | "balance-xor" => match policy {
            Some("layer2" | "vlan+srcmac") => Spread::PerPair,
            _ => Spread::PerFlow,
        },
        _ => Spread::PerFlow,
    })
}

/// Members that carry traffic: those that are up, of a mode with one active member that one.
fn carrying(facts: &Facts<'_>, index: usize, spread: Spread) -> Vec<usize> {
    let bond = &facts.snapshot().interfaces[index];
    let names: Vec<&String> = match bond.bond.members.known() {
        Some(members) => members.iter().map(|member| &member.name).collect(),
        None => bond.stack.members.known().map_or_else(Vec::new, |names| names.iter().collect()),
    };
    let active = bond.bond.active_member.known().filter(|_| spread == Spread::OneMember);
    let wanted = names.into_iter().filter(|name| active.is_none_or(|active| active == *name));
    let found = wanted.filter_map(|name| facts.topology().interface(&bond.namespace, name));
    let usable = found.filter(|member| {
        let member = &facts.snapshot().interfaces[*member];
        // A bond of bonds does not exist; a broken capture may tell of one.
        member.bond.mode.known().is_none() && member.link.up.known() != Some(&false)
    });
    usable.collect()
}

/// Fills in the ceiling of a bond; any other interface without a port stays without one.
pub(super) fn fill(result: &mut InterfaceCeiling, facts: &Facts<'_>, index: usize, asked: Asked) {
    let Some(spread) = spread(&facts.snapshot().interfaces[index]) else { return };
    let members = carrying(facts, index, spread);
    let parts: Option<Vec<Combined>> =
        members.iter().map(|member| interface_at(facts, *member, asked).combined).collect();
    let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
        // It has a ceiling: that of members of which not enough was read.
        if !members.is_empty() {
            result.link_state = LinkState::Unknown;
            result.link_from = facts.key(INTERFACE, index, "stack.members");
        }
        return;
    };
    let alone: Vec<Ceiling> = parts.iter().map(|part| part.ceiling.clone()).collect();
    let Some(together) = bond(&alone, spread, None) else { return };
    let mut whole = vec![Part { mechanism: parts[0].binding, ceiling: together }];
    if matches!(spread, Spread::PerFlow | Spread::PerPacket) {
        whole.extend(
            cards(facts, &members, &alone, asked).map(|ceiling| Part { mechanism: Mechanism::Shared, ceiling }),
        );
    }
    result.combined = combine(&whole);
    result.link_from = ["bond.mode", "bond.xmit_hash_policy", "mtu"]
        .iter()
        .flat_map(|path| facts.key(INTERFACE, index, path))
        .chain(members.iter().flat_map(|member| facts.key(INTERFACE, *member, "link.speed")))
        .collect();
    if spread == Spread::PerFlow && members.len() > 1 {
        result.one_flow = bond(&alone, spread, Some(1));
    }
    result.notes.extend(whole.into_iter().next().map_or_else(Vec::new, |part| part.ceiling.notes));
}

/// What the PCIe paths below the members carry, where several members sit on one card: none where no path binds its members.
fn cards(facts: &Facts<'_>, members: &[usize], alone: &[Ceiling], asked: Asked) -> Option<Ceiling> {
    let mut by_card: BTreeMap<usize, Vec<(usize, Ceiling)>> = BTreeMap::new();
    for (member, ceiling) in members.iter().zip(alone) {
        let device = facts.device_of(*member)?;
        by_card.entry(facts.primary(device)).or_default().push((device, ceiling.clone()));
    }
    let mut sum: Option<Ceiling> = None;
    let mut binds = false;
    for ports in by_card.values() {
        let path = path_at(facts, ports.first()?.0, asked.framing(facts, 0), asked, 0).found?;
        let ceilings: Vec<Ceiling> = ports.iter().map(|(_, ceiling)| ceiling.clone()).collect();
        let shared = group(&path.ceiling, &ceilings);
        binds |= shared.shared_binds && ports.len() > 1;
        sum = Some(match sum {
            None => shared.together,
            Some(sum) => Ceiling {
                lo_bps: sum.lo_bps + shared.together.lo_bps,
                typical_bps: sum.typical_bps + shared.together.typical_bps,
                hi_bps: sum.hi_bps + shared.together.hi_bps,
                confidence: sum.confidence.min(shared.together.confidence),
                ..sum
            },
        });
    }
    sum.filter(|_| binds)
}
