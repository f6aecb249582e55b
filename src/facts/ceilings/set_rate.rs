//! Rates that somebody set on an interface: shapers of what it sends.

use super::{Facts, INTERFACE, InterfaceCeiling};
use crate::ceiling::combine::{Mechanism, Part, combine};
use crate::ceiling::shaper::shaper;
use crate::ceiling::{Ceiling, Framing};
use crate::reading::Reading;
use crate::snapshot::Interface;

/// A shaper that all passes what the interface sends.
#[derive(Clone, Debug, PartialEq)]
pub struct SetRate {
    /// Kind of the queueing discipline: `tbf`, `htb` ...
    pub kind: String,
    /// Its rate, bit/s.
    pub bps: f64,
    /// What it leaves for TCP payload.
    pub ceiling: Ceiling,
}

/// The shaper at the root. Shapers below a class hold back a part of the traffic only, and nobody knows which.
fn at_root(interface: &Interface) -> Option<(&str, f64)> {
    let root = interface.qdiscs.known()?.iter().find(|one| one.parent == "root")?;
    match &root.rate {
        Reading::Known(rate, _) if rate.0 > 0 => Some((&root.kind, rate.0 as f64)),
        _ => None,
    }
}

/// Lets a shaper bind what is sent, where its rate is below what the hardware carries. What is received stays as it is.
pub(super) fn hold_back(
    result: &mut InterfaceCeiling,
    facts: &Facts<'_>,
    index: usize,
    mut parts: Vec<Part>,
    framing: &Framing,
) {
    let Some((kind, bps)) = at_root(&facts.snapshot().interfaces[index]) else { return };
    let ceiling = shaper(bps, framing, facts.knowledge().buses());
    let set = SetRate { kind: kind.to_owned(), bps, ceiling: ceiling.clone() };
    if result.combined.as_ref().is_none_or(|whole| ceiling.typical_bps >= whole.ceiling.typical_bps) {
        return;
    }
    parts.push(Part { mechanism: Mechanism::Shaper, ceiling });
    result.receiving = result.combined.take();
    result.combined = combine(&parts);
    result.shaper = Some(set);
    result.link_from.extend(facts.key(INTERFACE, index, "root_qdisc"));
}
