use super::super::combine::{Headroom, Mechanism, Part, Spread, bond, combine, expected_members, group, headroom};
use super::super::ethernet::{Duplex, Framing, Traffic, link};
use super::super::pcie::{Hop, Path, Platform, nic};
use super::super::range::{Ceiling, Confidence, Direction};
use super::{buses, near};

fn part(mechanism: Mechanism, lo: f64, typical: f64, hi: f64) -> Part {
    Part { mechanism, ceiling: Ceiling::from_bounds(lo, typical, hi) }
}

fn tcp(mtu: u32) -> Framing {
    Framing { timestamps: Some(true), ..Framing::new(mtu, Traffic::Tcp4) }
}

#[test]
fn the_smallest_typical_rate_binds() {
    let parts = [part(Mechanism::Link, 92.0, 94.0, 95.0), part(Mechanism::Pcie, 25.0, 27.0, 28.0)];
    let all = combine(&parts).unwrap();
    assert_eq!((all.binding, all.ceiling.typical_bps), (Mechanism::Pcie, 27.0));
    assert!(all.too_close_to_tell.is_empty());
    assert_eq!(combine(&[]), None);
}

#[test]
fn overlapping_ranges_are_too_close_to_tell() {
    let mut pcie = part(Mechanism::Pcie, 93.0, 98.0, 102.0);
    pcie.ceiling = pcie.ceiling.assuming("max payload size 256 B");
    let all = combine(&[part(Mechanism::Link, 92.0, 94.0, 95.0), pcie]).unwrap();
    assert_eq!((all.binding, all.too_close_to_tell), (Mechanism::Link, vec![Mechanism::Pcie]));
    assert_eq!((all.ceiling.lo_bps, all.ceiling.hi_bps), (92.0, 95.0));
    assert_eq!((all.ceiling.assumed.len(), all.ceiling.confidence), (1, Confidence::Medium));
    let lower = combine(&[part(Mechanism::Link, 92.0, 94.0, 95.0), part(Mechanism::Usb, 70.0, 96.0, 99.0)]).unwrap();
    assert_eq!((lower.ceiling.lo_bps, lower.ceiling.hi_bps), (70.0, 95.0), "both parts must let the data through");
}

#[test]
fn headroom_of_a_bus() {
    let b = buses();
    let at = |typical: f64| Ceiling::from_bounds(typical * 0.95, typical, typical * 1.03);
    assert_eq!(headroom(&at(28.0), &at(94.0), &b), Headroom::Binds);
    assert_eq!(headroom(&at(98.6), &at(94.1), &b), Headroom::Tight);
    assert_eq!(headroom(&at(214.0), &at(94.0), &b), Headroom::Ample);
}

/// Two 10 Gb/s ports of one card in Gen2 x4: each alone is fine, together they are not.
#[test]
fn two_ports_share_their_slot() {
    let b = buses();
    let hops = [Hop::new(5.0, 4)];
    let port = link(1e10, &tcp(1500), Duplex::Full, &b);
    let slot = nic(&Path { driver: Some("ixgbe"), ..Path::new(&hops) }, &tcp(1500), None, &b).unwrap().ceiling;
    assert_ne!(headroom(&slot, &port, &b), Headroom::Binds);
    let both = group(&slot, &[port.clone(), port.clone()]);
    assert!(both.shared_binds);
    near(both.together.lo_bps, 11.6e9, 0.01);
    near(both.together.hi_bps, 13.8e9, 0.01);
    let one = group(&slot, std::slice::from_ref(&port));
    assert!(!one.shared_binds);
    assert_eq!(one.together.typical_bps, port.typical_bps);
}

/// GB10: two independent Gen5 x4 paths; a 200 Gb/s port needs both.
#[test]
fn one_domain_against_both() {
    let b = buses();
    let hops = [Hop::new(32.0, 4)];
    let path = Path { platform: Platform::Other, driver: Some("mlx5_core"), ..Path::new(&hops) };
    let domain = nic(&path, &tcp(9000), None, &b).unwrap().ceiling;
    let port = link(2e11, &tcp(9000), Duplex::Full, &b);
    let one = group(&domain, std::slice::from_ref(&port));
    assert!(one.shared_binds && one.together.hi_bps < 1.2e11 && one.together.lo_bps > 0.9e11);
    let both = group(&port, &[domain.clone(), domain]);
    assert!(both.together.typical_bps > 1.9e11 && both.together.hi_bps <= port.hi_bps);
}

/// Two links and n flows: all on one link with probability 2^(1-n).
#[test]
fn bonds() {
    near(expected_members(2, 1), 1.0, 1e-9);
    near(expected_members(2, 2), 1.5, 1e-9);
    near(expected_members(2, 4), 1.875, 1e-9);
    near(expected_members(4, 4), 4.0 * (1.0 - 0.75f64.powi(4)), 1e-9);
    assert_eq!(expected_members(0, 4), 0.0);
    let b = buses();
    let members = [link(1e10, &tcp(1500), Duplex::Full, &b), link(1e10, &tcp(1500), Duplex::Full, &b)];
    let typical = |spread, flows| bond(&members, spread, flows).unwrap().typical_bps;
    near(typical(Spread::PerFlow, Some(1)), 9.415e9, 0.001);
    near(typical(Spread::PerFlow, Some(4)), 9.415e9 * 1.875, 0.001);
    near(typical(Spread::PerFlow, None), 9.415e9 * 2.0, 0.001);
    near(typical(Spread::PerPair, Some(16)), 9.415e9, 0.001);
    near(typical(Spread::OneMember, None), 9.415e9, 0.001);
    near(typical(Spread::PerPacket, Some(1)), 9.415e9 * 2.0, 0.001);
    assert_eq!(bond(&[], Spread::PerFlow, None), None);
}

#[test]
fn bidirectional_is_compared_per_direction() {
    let b = buses();
    let hops = [Hop::new(8.0, 8)];
    let at = |d| nic(&Path::new(&hops), &tcp(9000), Some(d), &b).unwrap().ceiling.typical_bps;
    assert!(at(Direction::Bidirectional) < at(Direction::Receive));
    assert!(at(Direction::Bidirectional) * 2.0 > at(Direction::Receive));
}
