//! PCIe links that several ports share: those of one card, and those of cards behind one switch or root port.

use std::collections::BTreeMap;

use super::{Asked, DEVICE, Facts, path_at};
use crate::ceiling::Ceiling;
use crate::ceiling::combine::{Group, group};
use crate::snapshot::PciAddress;

/// A link with the ports below it that are up.
#[derive(Clone, Debug)]
pub struct SharedHop {
    /// The interfaces, in order.
    pub ports: Vec<usize>,
    /// The narrowest link from the shared one up, among all links of the snapshot.
    pub link: Option<usize>,
    /// How many cards the ports are on.
    pub cards: usize,
    /// What they reach together.
    pub group: Group,
}

/// Where a link is: below the card itself, or at its lower end.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Card(usize),
    Hop(PciAddress),
}

/// The shared links of this host, those nearest to the cards first. Of several links one above the other that carry the same
/// ports the lowest is told, with the narrowest above it.
pub fn shared_hops(facts: &Facts<'_>) -> Vec<SharedHop> {
    let mut below: BTreeMap<(usize, Place), Vec<(usize, usize)>> = BTreeMap::new();
    for entity in facts.entities(DEVICE) {
        let device = entity.index as usize;
        if facts.primary(device) != device || facts.snapshot().devices[device].physical_function.known().is_some() {
            continue;
        }
        let links = facts.snapshot().devices[device].pcie.links.known().map_or(&[][..], Vec::as_slice);
        for (place, link) in links.iter().enumerate() {
            // The height above the card orders them; a link of two cards may have two heights, and the lesser one counts.
            let at = if place == 0 { Place::Card(device) } else { Place::Hop(link.lower) };
            let known = below.keys().find(|(_, other)| place > 0 && *other == at).map(|(height, _)| *height);
            below.entry((known.unwrap_or(place), at)).or_default().push((device, place));
        }
    }
    let mut found: Vec<SharedHop> = Vec::new();
    for cards in below.into_values() {
        let up = |port: &usize| facts.snapshot().interfaces[*port].link.up.known() == Some(&true);
        let of_card = |(device, _): &(usize, usize)| facts.topology().card_ports(*device);
        let mut ports: Vec<usize> = cards.iter().flat_map(of_card).filter(up).collect();
        ports.sort_unstable();
        ports.dedup();
        if ports.len() < 2 || found.iter().any(|one| one.ports == ports) {
            continue;
        }
        let Some((device, place)) = cards.first().copied() else { continue };
        let mtu = ports.iter().filter_map(|port| facts.snapshot().interfaces[*port].mtu.known()).map(|mtu| mtu.0).min();
        let asked = Asked::at(mtu);
        let path = path_at(facts, device, asked.framing(facts, 0), asked, place);
        let Some(hop) = path.found else { continue };
        let members: Option<Vec<Ceiling>> = ports.iter().map(|port| member(facts, *port, place)).collect();
        let Some(members) = members else { continue };
        let with_ports = |card: &&(usize, usize)| of_card(card).iter().any(up);
        let cards = cards.iter().filter(with_ports).count();
        found.push(SharedHop { group: group(&hop.ceiling, &members), ports, link: path.narrowest, cards });
    }
    found
}

/// What a port brings to a shared link: to that of its card what its own link carries, to one further up what its card lets through.
fn member(facts: &Facts<'_>, port: usize, place: usize) -> Option<Ceiling> {
    let found = facts.interface_ceiling(port)?;
    if place == 0 { found.link.clone() } else { found.combined.as_ref().map(|whole| whole.ceiling.clone()) }
}
