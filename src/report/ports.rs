//! Ports that several functions of a card share: their counters are those of the port, and each function shows them.

use std::collections::BTreeMap;

use crate::facts::{Facts, Lost};
use crate::snapshot::Interface;

/// Count of packets or bytes from which two functions that show the same are taken to show the same port.
const SURE: u64 = 1_000_000;

/// For each interface the first interface of the same card and driver that shows the counters of the same port.
pub(super) fn shared(facts: &Facts<'_>) -> BTreeMap<usize, usize> {
    let interfaces = &facts.snapshot().interfaces;
    let mut cards: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    for (index, interface) in interfaces.iter().enumerate() {
        if let (Some(device), Some(driver)) = (facts.device_of(index), interface.driver.name.known()) {
            cards.entry((facts.primary(device), driver)).or_default().push(index);
        }
    }
    let mut shared = BTreeMap::new();
    for ports in cards.into_values() {
        for (at, port) in ports.iter().enumerate() {
            let before = ports[..at].iter().filter(|one| !shared.contains_key(*one));
            if let Some(first) = before.copied().find(|one| is_same_port(&interfaces[*one], &interfaces[*port])) {
                shared.insert(*port, first);
            }
        }
    }
    shared
}

/// Part of the growth by which a counter may have moved on until the second function was read.
const SKEW: u64 = 8;

/// True where both show a large count that is the same, read a moment apart. Round figures are left out: they may be settings;
/// and so are members of one bond, which may share the traffic evenly.
fn is_same_port(one: &Interface, other: &Interface) -> bool {
    let master = |interface: &Interface| interface.stack.master.known().cloned();
    if master(one).is_some_and(|name| master(other) == Some(name)) {
        return false;
    }
    let ours = statistics(one);
    let large = |value: u64| value >= SURE && !value.is_multiple_of(1000);
    statistics(other).into_iter().any(|(name, theirs)| {
        ours.get(name).is_some_and(|ours| {
            let all = ours.len() == theirs.len() && ours.iter().chain(theirs).all(|value| value.is_some_and(large));
            let ours: Vec<u64> = ours.iter().copied().flatten().collect();
            let theirs: Vec<u64> = theirs.iter().copied().flatten().collect();
            all && (interleave(&ours, &theirs) || interleave(&theirs, &ours))
        })
    })
}

/// True where both may be one counter that was read for `first` a moment before it was read for `second`, in each sample.
fn interleave(first: &[u64], second: &[u64]) -> bool {
    let (Some(start), Some(end)) = (first.first(), first.last()) else { return false };
    let moved = end.saturating_sub(*start) / SKEW;
    first.len() == second.len()
        && first.iter().zip(second).all(|(a, b)| b.checked_sub(*a).is_some_and(|late| late <= moved))
}

fn statistics(interface: &Interface) -> BTreeMap<&str, &Vec<Option<u64>>> {
    let blocks = interface.counters.iter();
    let own = blocks.filter(|block| block.group == "ethtool_statistics");
    own.flat_map(|block| &block.counters).map(|counter| (counter.name.as_str(), &counter.values)).collect()
}

/// True where what two functions of one port lost at a place is the same count.
pub(super) fn is_same_loss(one: Lost, other: Lost) -> bool {
    let range = |lost: Lost| lost.total.map(|total| (total - lost.growth.unwrap_or(0).min(total), total));
    let Some(((a, b), (c, d))) = range(one).zip(range(other)) else { return false };
    interleave(&[a, b], &[c, d]) || interleave(&[c, d], &[a, b])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_counter_read_twice_in_each_sample_never_falls() {
        assert!(interleave(&[100, 180], &[110, 185]));
        assert!(!interleave(&[110, 185], &[100, 180]), "the other way round");
        assert!(!interleave(&[10, 20], &[12, 22]), "a fifth of the growth later");
        assert!(interleave(&[7], &[7]) && !interleave(&[7], &[8]), "one sample must be equal");
        assert!(interleave(&[7, 7], &[7, 7]) && !interleave(&[7, 7], &[8, 8]), "what stands still must be equal");
        assert!(!interleave(&[], &[]));
    }

    #[test]
    fn losses_are_the_same_where_they_may_be_one_counter() {
        let lost = |total, growth| Lost { total: Some(total), growth };
        assert!(is_same_loss(lost(33_120, Some(120)), lost(33_125, Some(121))));
        assert!(is_same_loss(lost(5, None), lost(5, None)));
        assert!(!is_same_loss(lost(5, None), lost(6, None)));
        assert!(!is_same_loss(lost(5, Some(0)), Lost { total: None, growth: None }));
    }
}
