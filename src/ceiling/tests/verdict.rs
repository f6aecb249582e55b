use super::super::bus::usb;
use super::super::ethernet::{Duplex, Framing, Traffic, link};
use super::super::pcie::{Hop, Path, nic};
use super::super::range::{Ceiling, Direction};
use super::super::verdict::{Conditions, Verdict, caveats, judge};
use super::{buses, near};

fn verdict(gigabit: f64, ceiling: &Ceiling) -> Verdict {
    judge(gigabit * 1e9, ceiling, &buses()).unwrap().verdict
}

#[test]
fn thresholds() {
    let ceiling = Ceiling::from_bounds(93e9, 97e9, 100e9);
    for (gigabit, expected) in [
        (102.1, Verdict::ModelOrInputWrong),
        (101.9, Verdict::AtCeiling),
        (93.0, Verdict::AtCeiling),
        (92.9, Verdict::Close),
        (82.5, Verdict::Close),
        (82.4, Verdict::NotTheLimit),
    ] {
        assert_eq!(verdict(gigabit, &ceiling), expected, "{gigabit}");
    }
    assert_eq!(judge(0.0, &ceiling, &buses()), None);
    assert_eq!(judge(f64::NAN, &ceiling, &buses()), None);
    assert_eq!(judge(1.0, &Ceiling::from_bounds(0.0, 0.0, 0.0), &buses()), None);
}

/// The storage box with a 100 Gb/s card in Gen3 x4, before and after tuning.
#[test]
fn narrow_slot() {
    let b = buses();
    let hops = [Hop::new(8.0, 4)];
    for driver in [None, Some("bnxt_en"), Some("ice")] {
        let at = |mtu| nic(&Path { driver, ..Path::new(&hops) }, &Framing::new(mtu, Traffic::Tcp4), None, &b).unwrap();
        assert_eq!(verdict(20.3, &at(1500).ceiling), Verdict::NotTheLimit);
        near(judge(20.3e9, &at(1500).ceiling, &b).unwrap().share_of_typical, 0.76, 0.02);
        assert_eq!(verdict(27.9, &at(9000).ceiling), Verdict::AtCeiling);
        assert_eq!(verdict(29.5, &at(9000).ceiling), Verdict::AtCeiling);
    }
}

#[test]
fn ten_gigabit_line_rate() {
    let ten = link(1e10, &Framing::new(1500, Traffic::Tcp4), Duplex::Full, &buses());
    assert_eq!(verdict(9.27, &ten), Verdict::AtCeiling);
    assert_eq!(verdict(7.35, &ten), Verdict::NotTheLimit);
    assert_eq!(verdict(9.9, &ten), Verdict::ModelOrInputWrong);
}

#[test]
fn other_buses() {
    let b = buses();
    let tcp = Framing::new(1500, Traffic::Tcp4);
    assert_eq!(verdict(3.4, &usb("usb-5g", &tcp, &b).unwrap()), Verdict::AtCeiling);
    let hops = [Hop::new(8.0, 1)];
    let pi = nic(&Path::new(&hops), &tcp, None, &b).unwrap().ceiling;
    assert_eq!(verdict(6.04, &pi), Verdict::AtCeiling);
    assert!(pi.lo_bps > 5.6e9 && pi.hi_bps < 7.0e9);
}

#[test]
fn unfair_tests_are_told() {
    let b = buses();
    let fair = Conditions { direction: Some(Direction::Receive), streams: Some(8), seconds: Some(30.0) };
    assert!(caveats(&fair, None, &b).is_empty() && caveats(&fair, Some(Direction::Receive), &b).is_empty());
    assert_eq!(caveats(&fair, Some(Direction::Transmit), &b).len(), 1);
    assert_eq!(caveats(&Conditions::default(), None, &b).len(), 2);
    assert_eq!(caveats(&Conditions { streams: Some(1), seconds: Some(3.0), ..fair }, None, &b).len(), 2);
    let both = Conditions { direction: Some(Direction::Bidirectional), ..fair };
    assert_eq!(caveats(&both, None, &b).len(), 1);
}
