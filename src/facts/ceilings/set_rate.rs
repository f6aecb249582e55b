//! Rates that somebody set on an interface: shapers of what it sends.

use super::{Facts, INTERFACE, InterfaceCeiling};
use crate::ceiling::combine::{Mechanism, Part, combine};
use crate::ceiling::shaper::shaper;
use crate::ceiling::{Ceiling, Framing};
use crate::reading::Reading;
use crate::reading::numbers::rate;
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

/// Queueing disciplines that hold back what is sent, where their rate or their classes say so.
const SHAPERS: &[&str] = &["tbf", "htb", "hfsc", "cbq"];

/// What the root of the queueing disciplines says.
enum Root<'a> {
    /// It holds nothing back.
    Open,
    /// It lets this many bit/s out.
    Shaper(&'a str, f64),
    /// It may hold something back, in words.
    Unread(String),
}

/// The shaper at the root. Shapers below a class hold back a part of the traffic only, and nobody knows which.
fn at_root(interface: &Interface) -> Root<'_> {
    let Some(all) = interface.qdiscs.known() else {
        return match interface.qdiscs {
            Reading::Absent(_) => Root::Open,
            _ => Root::Unread("no shaper: its queueing disciplines were not read".into()),
        };
    };
    let Some(root) = all.iter().find(|one| one.parent == "root") else { return Root::Open };
    match &root.rate {
        Reading::Known(rate, _) if rate.0 > 0 => Root::Shaper(&root.kind, rate.0 as f64),
        Reading::Unknown(_) if SHAPERS.contains(&root.kind.as_str()) => {
            Root::Unread(format!("its {}, whose rate was not read, holds nothing back", root.kind))
        }
        _ => Root::Open,
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
    let (kind, bps) = match at_root(&facts.snapshot().interfaces[index]) {
        Root::Open => return,
        Root::Shaper(kind, bps) => (kind, bps),
        Root::Unread(taken) => {
            result.taken_sending.get_or_insert(taken);
            return;
        }
    };
    let ceiling = shaper(bps, framing, facts.knowledge().buses());
    let set = SetRate { kind: kind.to_owned(), bps, ceiling: ceiling.clone() };
    if result.combined.as_ref().is_none_or(|whole| ceiling.typical_bps >= whole.ceiling.typical_bps) {
        return;
    }
    parts.push(Part { mechanism: Mechanism::Shaper, ceiling });
    let whole = result.combined.take();
    result.receiving = result.receiving.take().or(whole);
    result.combined = combine(&parts);
    result.shaper = Some(set);
    result.link_from.extend(facts.key(INTERFACE, index, "root_qdisc"));
}

/// Policers of an interface: whether they stand on what it receives, and their rate in bit/s.
pub(in crate::facts) fn policers(interface: &Interface) -> impl Iterator<Item = (bool, f64)> {
    let actions = interface.tc_actions.known().map_or(&[][..], Vec::as_slice);
    actions.iter().filter(|one| one.kind == "police").filter_map(|one| {
        let rate = one.rate.known().filter(|rate| rate.0 > 0)?;
        Some((one.hook == "ingress", rate.0 as f64))
    })
}

/// Policers in words: no ceiling of the whole, for nobody knows what their filters match.
pub(super) fn policer_notes(interface: &Interface) -> Vec<String> {
    // As many as fit on a line.
    let told = policers(interface).take(4).map(|(receives, bps)| {
        let way = if receives { "receives" } else { "sends" };
        format!("a policer drops what it {way} above {}, of what its filter matches", rate(bps))
    });
    told.collect()
}
