use super::super::range::Confidence;
use super::super::shaper::{policer, shaper};
use super::super::{Framing, Traffic};
use super::{buses, near};

/// A queueing discipline counts 1514 bytes for a packet with 1448 bytes of payload: 500 Mb/s leave 478.2 Mb/s.
#[test]
fn headers_count_against_the_rate() {
    let b = buses();
    let tcp = Framing { timestamps: Some(true), ..Framing::new(1500, Traffic::Tcp4) };
    let half = shaper(5e8, &tcp, &b);
    near(half.typical_bps, 0.99 * 478.2e6, 0.0005);
    assert!(half.contains(476.9e6) && half.confidence == Confidence::High);
    let jumbo = shaper(5e8, &Framing { mtu: 9000, ..tcp }, &b);
    near(jumbo.typical_bps, 0.99 * 5e8 * 8948.0 / 9014.0, 0.0005);
}

#[test]
fn a_policer_costs_more_and_is_less_certain() {
    let b = buses();
    let tcp = Framing::new(1500, Traffic::Tcp4);
    let (held, dropped) = (shaper(1e8, &tcp, &b), policer(1e8, &tcp, &b));
    assert!(dropped.typical_bps < held.typical_bps && dropped.lo_bps < held.lo_bps);
    assert_eq!(dropped.confidence, Confidence::Low);
}
