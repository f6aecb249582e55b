use super::super::ethernet::{Duplex, Framing, Traffic, Tunnel, link, packets_per_second};
use super::super::range::Confidence;
use super::{buses, near};

fn with(mtu: u32, traffic: Traffic, timestamps: bool) -> Framing {
    Framing { timestamps: Some(timestamps), ..Framing::new(mtu, traffic) }
}

/// Payload over wire bytes, both counted by hand.
#[test]
fn payload_share_of_the_link() {
    let b = buses();
    let on = with(1500, Traffic::Tcp4, true);
    let cases = [
        (on, 1448.0, 1538.0),
        (with(1500, Traffic::Tcp4, false), 1460.0, 1538.0),
        (with(1500, Traffic::Tcp6, true), 1428.0, 1538.0),
        (Framing { vlan_tags: 1, ..on }, 1448.0, 1542.0),
        (Framing { vlan_tags: 2, ..on }, 1448.0, 1546.0),
        (with(9000, Traffic::Tcp4, true), 8948.0, 9038.0),
        (with(1500, Traffic::Udp4, true), 1472.0, 1538.0),
        (with(1500, Traffic::Udp6, true), 1452.0, 1538.0),
        (Framing { tunnel: Some(Tunnel::Vxlan4), ..on }, 1398.0, 1538.0),
        (Framing { tunnel: Some(Tunnel::Vxlan6), ..on }, 1378.0, 1538.0),
        (Framing { tunnel: Some(Tunnel::Geneve4 { options: 8 }), ..on }, 1390.0, 1538.0),
        (Framing { tunnel: Some(Tunnel::Gre4), ..on }, 1424.0, 1538.0),
        (Framing { tunnel: Some(Tunnel::Wireguard4), ..on }, 1388.0, 1538.0),
        (Framing { tunnel: Some(Tunnel::Wireguard6), ..on }, 1368.0, 1538.0),
        (with(4200, Traffic::RoceV2, true), 4096.0, 4178.0),
        (with(1500, Traffic::RoceV2, true), 1024.0, 1106.0),
        (with(1500, Traffic::L2, true), 1518.0, 1538.0),
    ];
    for (framing, payload, wire) in cases {
        for gigabit in [1.0, 2.5, 5.0, 10.0, 25.0, 40.0, 100.0, 200.0, 400.0, 800.0] {
            let ceiling = link(gigabit * 1e9, &framing, Duplex::Full, &b);
            near(ceiling.typical_bps, gigabit * 1e9 * payload / wire, 1e-9);
        }
    }
}

/// The figures people know.
#[test]
fn well_known_rates() {
    let b = buses();
    let tcp = |mtu, gigabit: f64| link(gigabit * 1e9, &with(mtu, Traffic::Tcp4, true), Duplex::Full, &b).typical_bps;
    near(tcp(1500, 1.0), 0.941e9, 0.001);
    near(tcp(1500, 2.5), 2.354e9, 0.001);
    near(tcp(1500, 10.0), 9.415e9, 0.001);
    near(tcp(9000, 100.0), 99.0e9, 0.001);
    let small = Framing { frame_bytes: Some(64), ..Framing::new(1500, Traffic::L2) };
    for (gigabit, mpps) in [(1.0, 1.488), (10.0, 14.881), (100.0, 148.81)] {
        near(packets_per_second(gigabit * 1e9, &small, &b), mpps * 1e6, 0.001);
    }
}

#[test]
fn short_packets_are_padded_to_the_smallest_frame() {
    let b = buses();
    let tiny = Framing { frame_bytes: Some(20), ..Framing::new(1500, Traffic::L2) };
    assert_eq!((tiny.wire_bytes(&b), tiny.dma_bytes(&b)), (84.0, 60.0));
    let starved = link(1e9, &Framing::new(30, Traffic::Tcp6), Duplex::Full, &b);
    assert_eq!((starved.lo_bps, starved.hi_bps), (0.0, 0.0));
}

#[test]
fn unknown_timestamps_widen_the_range_only_upwards() {
    let b = buses();
    let known = link(1e10, &with(1500, Traffic::Tcp4, true), Duplex::Full, &b);
    let unknown = link(1e10, &Framing::new(1500, Traffic::Tcp4), Duplex::Full, &b);
    assert_eq!((known.lo_bps, known.typical_bps), (unknown.lo_bps, unknown.typical_bps));
    near(unknown.hi_bps, 9.493e9, 0.001);
    assert_eq!(unknown.confidence, Confidence::High);
    assert!(unknown.assumed.is_empty() && !unknown.notes.is_empty());
}

/// Two segments of 1448 bytes and one acknowledgement of 84 on the wire: 2 * 1448 / (2 * 1538 + 84) = 0.9165.
#[test]
fn half_duplex_shares_the_wire() {
    let b = buses();
    let half = link(1e8, &with(1500, Traffic::Tcp4, true), Duplex::Half, &b);
    assert!(half.hi_bps < 0.9165e8 && half.typical_bps < 0.7e8 && half.lo_bps > 0.3e8);
    assert_eq!(half.confidence, Confidence::Low);
}
