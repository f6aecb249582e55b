//! Puts the parts together: which one binds, what is too close to tell, shared uplinks, bonds.

use serde::{Deserialize, Serialize};

use super::range::Ceiling;
use crate::knowledge::buses::Buses;

/// A part of the path that can bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// The network link.
    Link,
    /// The PCI Express path.
    Pcie,
    /// An uplink that several interfaces share.
    Shared,
    /// Parallel PCI or PCI-X.
    Pci,
    /// USB.
    Usb,
    /// A Thunderbolt tunnel.
    Thunderbolt,
    /// A configured shaper.
    Shaper,
    /// The window of one flow.
    Window,
}

impl Mechanism {
    /// The word used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Pcie => "pcie",
            Self::Shared => "shared",
            Self::Pci => "pci",
            Self::Usb => "usb",
            Self::Thunderbolt => "thunderbolt",
            Self::Shaper => "shaper",
            Self::Window => "window",
        }
    }
}

/// One part and how fast it could go.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// Which part.
    pub mechanism: Mechanism,
    /// Its range.
    pub ceiling: Ceiling,
}

/// The parts of one interface together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Combined {
    /// The range of the whole.
    pub ceiling: Ceiling,
    /// The part with the smallest typical rate; the first of equals.
    pub binding: Mechanism,
    /// Other parts whose range reaches into that of the binding one.
    pub too_close_to_tell: Vec<Mechanism>,
}

/// The ceiling of several parts in series; `None` without parts.
///
/// The part with the smallest typical rate binds. The ends of the range are the smallest ends of all parts, because
/// every one of them has to let the data through.
pub fn combine(parts: &[Part]) -> Option<Combined> {
    let binding = parts.iter().reduce(|a, b| if b.ceiling.typical_bps < a.ceiling.typical_bps { b } else { a })?;
    let mut ceiling = binding.ceiling.clone();
    let mut too_close = Vec::new();
    for part in parts {
        if std::ptr::eq(part, binding) {
            continue;
        }
        let other = &part.ceiling;
        if other.overlaps(&binding.ceiling) {
            too_close.push(part.mechanism);
            ceiling.confidence = ceiling.confidence.min(other.confidence);
            let news = other.assumed.iter().filter(|a| !binding.ceiling.assumed.contains(a));
            ceiling.assumed.extend(news.cloned());
        }
        ceiling.lo_bps = ceiling.lo_bps.min(other.lo_bps);
        ceiling.hi_bps = ceiling.hi_bps.min(other.hi_bps);
    }
    Some(Combined { ceiling, binding: binding.mechanism, too_close_to_tell: too_close })
}

/// How a bus stands to the link in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Headroom {
    /// The bus usually binds first.
    Binds,
    /// The link fits with less than ten per cent to spare.
    Tight,
    /// The bus is not near.
    Ample,
}

/// How much room a bus leaves above the link.
pub fn headroom(bus: &Ceiling, link: &Ceiling, buses: &Buses) -> Headroom {
    if bus.typical_bps < link.typical_bps {
        Headroom::Binds
    } else if link.typical_bps > bus.typical_bps * buses.verdict.tight.value && link.hi_bps > bus.lo_bps {
        Headroom::Tight
    } else {
        Headroom::Ample
    }
}

/// Interfaces behind one shared hop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What all members reach together.
    pub together: Ceiling,
    /// Sum of what the members usually reach alone, bit/s.
    pub members_typical_bps: f64,
    /// Whether the hop, and not the members, sets the sum.
    pub shared_binds: bool,
}

/// The ceiling of interfaces that share a hop: together never more than the hop.
pub fn group(hop: &Ceiling, members: &[Ceiling]) -> Group {
    let sum = |pick: fn(&Ceiling) -> f64| members.iter().map(pick).sum::<f64>();
    let typical = sum(|c| c.typical_bps);
    let shared_binds = hop.typical_bps < typical;
    let mut together = hop.clone();
    together.lo_bps = hop.lo_bps.min(sum(|c| c.lo_bps));
    together.typical_bps = hop.typical_bps.min(typical);
    together.hi_bps = hop.hi_bps.min(sum(|c| c.hi_bps));
    if !shared_binds {
        together.upper_bound_only = members.iter().any(|m| m.upper_bound_only);
        together.confidence = members.iter().map(|m| m.confidence).min().unwrap_or(hop.confidence);
        together.assumed.clear();
        for what in members.iter().flat_map(|m| &m.assumed) {
            if !together.assumed.contains(what) {
                together.assumed.push(what.clone());
            }
        }
    }
    Group { together, members_typical_bps: typical, shared_binds }
}

/// How a bond spreads what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// One member at a time (active-backup).
    OneMember,
    /// Each flow stays on one member (802.3ad, balance-xor with a hash that sees ports).
    PerFlow,
    /// Each host pair stays on one member (a hash of addresses alone).
    PerPair,
    /// Packets in turn over all members (balance-rr).
    PerPacket,
}

/// How many of `members` links are in use, on average, by `flows` flows that are spread by a hash.
pub fn expected_members(members: u32, flows: u32) -> f64 {
    if members == 0 {
        return 0.0;
    }
    let m = f64::from(members);
    m * (1.0 - (1.0 - 1.0 / m).powf(f64::from(flows)))
}

/// What a bond reaches towards one other host with `flows` flows (unknown: many); `None` without members.
pub fn bond(members: &[Ceiling], spread: Spread, flows: Option<u32>) -> Option<Ceiling> {
    let slowest = members.iter().min_by(|a, b| a.typical_bps.total_cmp(&b.typical_bps))?;
    let count = members.len() as u32;
    let total = |pick: fn(&Ceiling) -> f64| members.iter().map(pick).sum::<f64>();
    let flows_used = flows.unwrap_or(u32::MAX);
    let all = Ceiling {
        lo_bps: total(|c| c.lo_bps),
        typical_bps: total(|c| c.typical_bps),
        hi_bps: total(|c| c.hi_bps),
        ..slowest.clone()
    };
    Some(match spread {
        Spread::OneMember => slowest.clone().noting("one member carries everything"),
        Spread::PerPair => slowest.clone().noting("the hash sees addresses only: one peer uses one member"),
        Spread::PerPacket => all.noting("packets in turn may arrive out of order"),
        Spread::PerFlow if flows_used <= 1 => slowest.clone().noting("one flow uses one member"),
        Spread::PerFlow => {
            let share = |members_used: f64| members_used / f64::from(count);
            Ceiling {
                lo_bps: slowest.lo_bps,
                typical_bps: all.typical_bps * share(expected_members(count, flows_used)),
                hi_bps: all.hi_bps * share(f64::from(count.min(flows_used))),
                ..all
            }
            .noting("flows are spread by a hash: some members may stay idle")
        }
    })
}
