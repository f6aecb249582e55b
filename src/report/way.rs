//! The way to the other end that was asked about: told first, and what is on it comes before the rest.

use std::collections::BTreeSet;

use super::model::{Finding, InterfaceRow};
use crate::facts::{Facts, INTERFACE};
use crate::reading::{Bytes, Reading, Seconds, numbers};
use crate::snapshot::{Flow, Interface, Snapshot, address_of};

/// As deep as the kernel lets devices be stacked.
const DEEPEST: usize = 8;

/// The interface that packets to the peer leave by.
fn leaves(snapshot: &Snapshot) -> Option<&Interface> {
    let name = snapshot.host.peer.interface.known()?;
    snapshot.interfaces.iter().find(|interface| interface.namespace.is_empty() && interface.name == *name)
}

/// Names of the interfaces on the way: the one that packets leave by, and all that it stands on.
fn on_the_way(facts: &Facts<'_>) -> BTreeSet<String> {
    let snapshot = facts.snapshot();
    let mut names: BTreeSet<&str> = leaves(snapshot).map(|interface| interface.name.as_str()).into_iter().collect();
    for _ in 0..DEEPEST {
        let below =
            snapshot.interfaces.iter().filter(|one| one.namespace.is_empty() && names.contains(one.name.as_str()));
        let below = below.flat_map(|one| {
            let members = one.stack.members.known().map_or(&[][..], Vec::as_slice);
            one.stack.parent.known().into_iter().chain(members)
        });
        let more: Vec<&str> = below.map(String::as_str).filter(|name| !names.contains(name)).collect();
        if more.is_empty() {
            break;
        }
        names.extend(more);
    }
    let index = |name: &str| snapshot.interfaces.iter().position(|one| one.namespace.is_empty() && one.name == name);
    names.into_iter().filter_map(|name| Some(facts.name(Facts::entity(INTERFACE, index(name)?)))).collect()
}

/// Puts what concerns the way, and the host as a whole, before what concerns other interfaces only. What is folded below a
/// cause stays there.
pub(super) fn first(facts: &Facts<'_>, findings: Vec<Finding>) -> Vec<Finding> {
    let names = on_the_way(facts);
    if names.is_empty() {
        return findings;
    }
    let concerns =
        |finding: &Finding| finding.interfaces.is_empty() || finding.interfaces.iter().any(|name| names.contains(name));
    let mut groups: Vec<Vec<Finding>> = Vec::new();
    for finding in findings {
        match groups.last_mut().filter(|_| finding.under.is_some()) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    let (on, off): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.iter().any(concerns));
    on.into_iter().chain(off).flatten().collect()
}

/// Puts the row of the interface that packets leave by first.
pub(super) fn interface_first(facts: &Facts<'_>, rows: &mut [InterfaceRow]) {
    if let Some(interface) = leaves(facts.snapshot()) {
        rows.sort_by_key(|row| !(row.namespace.is_empty() && row.name == interface.name));
    }
}

/// What is known of the way, in sentences.
pub(super) fn sentences(facts: &Facts<'_>) -> Vec<String> {
    let snapshot = facts.snapshot();
    let peer = &snapshot.host.peer;
    let Some(address) = peer.address.known() else { return Vec::new() };
    let interface = match &peer.interface {
        Reading::Known(interface, _) => interface,
        Reading::Absent(_) => return vec![format!("There is no route to {address}.")],
        Reading::Unknown(_) => return vec![format!("The route to {address} could not be read.")],
    };
    let mut text = format!("Packets to {address} leave by {interface}");
    if let Some(source) = peer.source.known() {
        text += &format!(" from {source}");
    }
    if let Some(gateway) = peer.gateway.known() {
        text += &format!(" through {gateway}");
    }
    match (&peer.neighbour, peer.neighbour_address.known()) {
        (Reading::Known(state, _), Some(hardware)) => text += &format!(" (next hop {hardware}, {state})"),
        (Reading::Known(state, _), None) => text += &format!(" (next hop {state})"),
        // What has no addresses on its link needs no entry.
        _ => {}
    }
    let own = leaves(snapshot).and_then(|interface| interface.mtu.known());
    match (peer.mtu.known(), own) {
        (Some(Bytes(mtu)), _) => text += &format!(", packets of at most {mtu} B by the route"),
        (None, Some(Bytes(mtu))) => text += &format!(", MTU {mtu}"),
        (None, None) => {}
    }
    text.push('.');
    let mut out = vec![text];
    out.extend(connections(snapshot, address));
    out
}

/// What the connections to the peer did.
fn connections(snapshot: &Snapshot, address: &str) -> Option<String> {
    let flows: Vec<&Flow> =
        snapshot.host.flows.known()?.iter().filter(|flow| address_of(&flow.peer) == address).collect();
    if flows.is_empty() {
        return Some(format!("No TCP connection to {address} was open."));
    }
    let mut parts = Vec::new();
    let blocks: Vec<_> = flows.iter().filter_map(|flow| flow.samples.known()).collect();
    let window = blocks.iter().filter_map(|block| block.window()).fold(0.0, f64::max);
    let grown = |name: &str| -> Option<u64> {
        let growth = |block: &&&crate::snapshot::CounterBlock| match block.get(name)?.growth() {
            crate::snapshot::Growth::By(count) => Some(count),
            _ => None,
        };
        let counts: Vec<u64> = blocks.iter().filter_map(|block| growth(&block)).collect();
        (!counts.is_empty()).then(|| counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count)))
    };
    if window > 0.0 {
        for (name, verb) in [("bytes_acked", "sent"), ("bytes_received", "received")] {
            if let Some(bytes) = grown(name).filter(|bytes| *bytes > 0) {
                parts.push(format!("{verb} {}", numbers::rate(bytes as f64 * 8.0 / window)));
            }
        }
        match (grown("retransmits"), grown("segments_out")) {
            (Some(0), _) => parts.push("no segment sent again".to_owned()),
            (Some(again), Some(all)) if all > 0 => {
                let share = numbers::share(again as f64 / all as f64);
                parts.push(format!("{} segments sent again ({share})", numbers::count(again)));
            }
            _ => {}
        }
    }
    let mut times: Vec<f64> = flows.iter().filter_map(|flow| flow.rtt.known().map(|Seconds(time)| *time)).collect();
    times.sort_by(f64::total_cmp);
    let milliseconds = |time: f64| numbers::significant(time * 1000.0, 3);
    match times.as_slice() {
        [] => {}
        [only] => parts.push(format!("round trip {} ms", milliseconds(*only))),
        [least, .., most] => parts.push(format!("round trips {} to {} ms", milliseconds(*least), milliseconds(*most))),
    }
    let tail = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    Some(format!("{} to {address}{tail}.", numbers::plural(flows.len(), "TCP connection")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    fn host(change: impl FnOnce(&mut Snapshot)) -> Snapshot {
        let known = crate::reading::SourceId::ASSUMED;
        let interface = |name: &str| Interface { name: name.into(), ..Interface::default() };
        let mut snapshot =
            Snapshot { interfaces: ["bond0", "eth0", "p1", "p2"].map(interface).into(), ..Snapshot::default() };
        snapshot.interfaces[1].mtu = Reading::Known(Bytes(9000), known);
        snapshot.interfaces[1].stack.parent = Reading::Known("bond0".into(), known);
        snapshot.interfaces[0].stack.members = Reading::Known(vec!["p1".into()], known);
        let peer = &mut snapshot.host.peer;
        peer.address = Reading::Known("192.0.2.9".into(), known);
        peer.interface = Reading::Known("eth0".into(), known);
        peer.source = Reading::Known("192.0.2.1".into(), known);
        peer.gateway = Reading::Absent(known);
        peer.mtu = Reading::Absent(known);
        peer.neighbour = Reading::Known("failed".into(), known);
        peer.neighbour_address = Reading::Absent(known);
        change(&mut snapshot);
        snapshot
    }

    fn told(snapshot: &Snapshot) -> Vec<String> {
        sentences(&Facts::new(snapshot, Knowledge::embedded()))
    }

    #[test]
    fn the_way_is_told_with_its_next_hop_and_size() {
        let known = crate::reading::SourceId::ASSUMED;
        let way = "Packets to 192.0.2.9 leave by eth0 from 192.0.2.1 (next hop failed), MTU 9000.";
        assert_eq!(told(&host(|_| {})), [way]);
        let flow =
            |peer: &str| Flow { peer: peer.into(), rtt: Reading::Known(Seconds(0.02), known), ..Flow::default() };
        let with = host(|snapshot| {
            let flows = vec![flow("192.0.2.9:22"), flow("192.0.2.90:22")];
            snapshot.host.flows = Reading::Known(flows, known);
            snapshot.host.peer.mtu = Reading::Known(Bytes(1400), known);
        });
        assert_eq!(
            told(&with)[0],
            "Packets to 192.0.2.9 leave by eth0 from 192.0.2.1 (next hop failed), packets of at most 1400 B by the route."
        );
        assert_eq!(told(&with)[1], "1 TCP connection to 192.0.2.9: round trip 20 ms.");
        let none = host(|snapshot| snapshot.host.peer.interface = Reading::Absent(known));
        assert_eq!(told(&none), ["There is no route to 192.0.2.9."]);
        assert!(told(&Snapshot::default()).is_empty());
    }

    #[test]
    fn what_is_on_the_way_comes_first_with_what_is_folded_below_it() {
        let snapshot = host(|_| {});
        let finding = |rule: &str, interface: &str, under: Option<&str>| Finding {
            rule: rule.into(),
            interfaces: vec![interface.into()],
            under: under.map(Into::into),
            ..Finding::default()
        };
        let found = vec![finding("a", "p2", None), finding("b", "p2", Some("a")), finding("c", "p1", None)];
        let facts = Facts::new(&snapshot, Knowledge::embedded());
        let order: Vec<String> = first(&facts, found).into_iter().map(|one| one.rule).collect();
        assert_eq!(order, ["c", "a", "b"]);
    }
}
