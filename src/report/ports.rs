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
    for ports in cards.into_values().filter(|ports| ports.len() > 1) {
        let mut firsts: Vec<(usize, BTreeMap<&str, Vec<u64>>)> = Vec::new();
        for port in ports {
            let counts = large_counts(&interfaces[port]);
            let same = firsts.iter().find(|(first, theirs)| {
                !in_one_bond(&interfaces[*first], &interfaces[port]) && is_same_port(theirs, &counts)
            });
            match same {
                Some((first, _)) => {
                    shared.insert(port, *first);
                }
                None => firsts.push((port, counts)),
            }
        }
    }
    shared
}

/// Part of the growth by which a counter may have moved on until the second function was read.
const SKEW: u64 = 8;

/// True for members of one bond: they may share the traffic so evenly that their counts look like one.
fn in_one_bond(one: &Interface, other: &Interface) -> bool {
    let master = one.stack.master.known();
    master.is_some() && master == other.stack.master.known()
}

/// True where both show a large count that is the same, read a moment apart.
fn is_same_port(one: &BTreeMap<&str, Vec<u64>>, other: &BTreeMap<&str, Vec<u64>>) -> bool {
    let same = |a: &[u64], b: &[u64]| interleave(a, b) || interleave(b, a);
    one.iter().any(|(name, ours)| other.get(name).is_some_and(|theirs| same(ours, theirs)))
}

/// Counters of the driver that are large at every sample. Round figures are left out: they may be settings.
fn large_counts(interface: &Interface) -> BTreeMap<&str, Vec<u64>> {
    let own = interface.counters.iter().filter(|block| block.group == "ethtool_statistics");
    let large = |value: &Option<u64>| value.filter(|value| *value >= SURE && !value.is_multiple_of(1000));
    own.flat_map(|block| &block.counters)
        .filter_map(|one| Some((one.name.as_str(), one.values.iter().map(large).collect::<Option<Vec<u64>>>()?)))
        .collect()
}

/// True where both may be one counter that was read for `first` a moment before it was read for `second`, in each sample.
fn interleave(first: &[u64], second: &[u64]) -> bool {
    let (Some(start), Some(end)) = (first.first(), first.last()) else { return false };
    let moved = end.saturating_sub(*start) / SKEW;
    first.len() == second.len()
        && first.iter().zip(second).all(|(a, b)| b.checked_sub(*a).is_some_and(|late| late <= moved))
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
