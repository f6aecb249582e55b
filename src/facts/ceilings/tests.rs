//! Expected rates are worked out by hand: TCP payload of MTU 1500 is 1448 of 1538 bytes on the wire, 1448 of 1514 that a queueing
//! discipline counts.

use serde_json::{Value as Json, json};

use super::*;
use crate::facts::Judged;
use crate::facts::MeasuredVerdict::{AtCeiling, Close, NotTheLimit};
use crate::knowledge::Knowledge;
use crate::snapshot::Snapshot;

fn known(value: impl Into<Json>) -> Json {
    json!([value.into(), "assumed"])
}

fn port(name: &str, gigabit: f64) -> Json {
    json!({
        "name": name, "mtu": known(1500), "port": {"physical": known(true)},
        "link": {"up": known(true), "speed": known((gigabit * 1e9) as u64), "duplex": known("full")},
    })
}

fn with(mut what: Json, more: &Json) -> Json {
    for (key, value) in more.as_object().unwrap() {
        what[key] = value.clone();
    }
    what
}

fn host(interfaces: &[Json], more: &Json) -> Snapshot {
    let document = with(json!({"schema": "netdoctor.snapshot/1", "interfaces": interfaces}), more);
    Snapshot::from_json(&document.to_string()).unwrap()
}

fn qdisc(kind: &str, parent: &str, bps: u64) -> Json {
    json!({"qdiscs": known(json!([{"kind": kind, "parent": parent, "rate": known(bps)}]))})
}

fn result(name: &str, sends: Option<bool>, gigabit: f64, streams: u32) -> Json {
    let mut one = json!({
        "tool": "iperf3", "rate": known((gigabit * 1e9) as u64), "duration": known(30.0), "streams": known(streams),
        "protocol": known("tcp"), "interface": known(name), "peer_address": known("192.0.2.9"),
    });
    if let Some(sends) = sends {
        one["sends"] = known(sends);
    }
    one
}

fn measured(results: Json) -> Json {
    json!({"host": {"measured": known(results)}})
}

fn ceiling(snapshot: &Snapshot, index: usize) -> InterfaceCeiling {
    Facts::new(snapshot, Knowledge::embedded()).interface_ceiling(index).unwrap().clone()
}

/// Interfaces of a snapshot stand in the order of their names.
fn of_bond(snapshot: &Snapshot) -> InterfaceCeiling {
    ceiling(snapshot, snapshot.interfaces.iter().position(|one| one.name == "bond0").unwrap())
}

fn judged(snapshot: &Snapshot) -> Vec<Judged> {
    Facts::new(snapshot, Knowledge::embedded()).judged_directions(0)
}

#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual / expected - 1.0).abs() <= tolerance, "{actual:.4e} is not {expected:.4e}");
}

fn typical(whole: Option<&Combined>) -> (f64, Mechanism) {
    let whole = whole.unwrap();
    (whole.ceiling.typical_bps, whole.binding)
}

/// 200 Mb/s * 0.99 * 1448 / 1514 = 189.4 Mb/s; the link carries 1 Gb/s * 1448 / 1538 = 941.5 Mb/s.
#[test]
fn a_shaper_at_the_root_binds_what_is_sent() {
    for kind in ["tbf", "htb", "cake"] {
        let found = ceiling(&host(&[with(port("eth0", 1.0), &qdisc(kind, "root", 200_000_000))], &json!({})), 0);
        let (sent, binding) = typical(found.towards(Some(true)));
        near(sent, 189.4e6, 0.001);
        assert_eq!((binding, found.shaper.as_ref().unwrap().kind.as_str()), (Mechanism::Shaper, kind));
        let (received, binding) = typical(found.towards(Some(false)));
        near(received, 941.5e6, 0.001);
        assert_eq!(binding, Mechanism::Link);
    }
}

#[test]
fn shapers_that_hold_nothing_back_or_only_a_part_are_no_ceiling() {
    for set in [
        qdisc("tbf", "root", 2_000_000_000),
        qdisc("tbf", "1:10", 200_000_000),
        json!({"qdiscs": known(json!([{"kind": "fq_codel", "parent": "root"}]))}),
        json!({}),
    ] {
        let found = ceiling(&host(&[with(port("eth0", 1.0), &set)], &json!({})), 0);
        assert!(found.shaper.is_none() && found.receiving.is_none(), "{set}");
        assert_eq!(typical(found.combined.as_ref()).1, Mechanism::Link);
    }
}

#[test]
fn a_result_is_held_against_the_ceiling_of_its_direction() {
    let shaped = with(port("eth0", 1.0), &qdisc("tbf", "root", 200_000_000));
    let of = |sends, gigabit| {
        let all = judged(&host(std::slice::from_ref(&shaped), &measured(json!([result("eth0", sends, gigabit, 4)]))));
        (all[0].verdict, all[0].binding)
    };
    assert_eq!(of(Some(true), 0.19), (AtCeiling, Mechanism::Shaper));
    assert_eq!(of(Some(false), 0.19), (NotTheLimit, Mechanism::Link));
    assert_eq!(of(Some(false), 0.935), (AtCeiling, Mechanism::Link));
    // Who sent is not known: what fits the shaper was held back by it, what does not was received.
    assert_eq!(of(None, 0.19), (AtCeiling, Mechanism::Shaper));
    assert_eq!(of(None, 0.935), (AtCeiling, Mechanism::Link));
}

/// Seed 0: 9.27 Gb/s one way is line rate, 7.35 the other way is 78 % of 9.415 and not the link.
#[test]
fn directions_and_repeats_are_kept_apart() {
    let results = json!([
        result("eth2", Some(true), 6.87, 4),
        result("eth2", Some(false), 9.27, 4),
        result("eth2", Some(true), 7.35, 4),
        result("eth9", Some(true), 9.9, 4),
    ]);
    let snapshot = host(&[port("eth2", 10.0)], &measured(results));
    let all = judged(&snapshot);
    let told: Vec<_> = all.iter().map(|one| (one.sends, one.measurement, one.verdict, one.repeats.len())).collect();
    assert_eq!(told, [(Some(true), 2, NotTheLimit, 2), (Some(false), 1, AtCeiling, 1)]);
    near(all[0].share, 0.7807, 0.001);
    let facts = Facts::new(&snapshot, Knowledge::embedded());
    assert_eq!(facts.judged(0).unwrap().measurement, 1);
}

/// 480 Mb/s * 0.65 * 1448 / (1514 + 24) = 293.7 Mb/s.
#[test]
fn usb_binds_below_the_link() {
    let usb = |megabit: u64| with(port("eth0", 1.0), &json!({"usb": {"speed": known(megabit * 1_000_000)}}));
    let found = ceiling(&host(&[usb(480)], &json!({})), 0);
    let (rate, binding) = typical(found.combined.as_ref());
    near(rate, 293.7e6, 0.001);
    assert_eq!(binding, Mechanism::Usb);
    assert_eq!(typical(ceiling(&host(&[usb(5000)], &json!({})), 0).combined.as_ref()).1, Mechanism::Link);
    // A speed that no USB has says nothing.
    assert!(ceiling(&host(&[usb(12)], &json!({})), 0).usb.is_none());
}

fn bonded(mode: &str, policy: &str) -> Json {
    json!({
        "name": "bond0", "mtu": known(1500), "port": {"physical": known(false)},
        "bond": {"mode": known(mode), "xmit_hash_policy": known(policy), "active_member": known("eth1"),
                 "members": known(json!([{"name": "eth0"}, {"name": "eth1"}]))},
    })
}

#[test]
fn a_bond_carries_what_its_members_do_and_one_flow_what_one_does() {
    let bond = |mode, policy| {
        let ports = [port("eth0", 10.0), port("eth1", 10.0), bonded(mode, policy)];
        of_bond(&host(&ports, &json!({})))
    };
    let lacp = bond("802.3ad", "layer3+4");
    near(typical(lacp.combined.as_ref()).0, 2.0 * 9.415e9, 0.001);
    near(lacp.one_flow.unwrap().typical_bps, 9.415e9, 0.001);
    near(typical(bond("802.3ad", "layer2").combined.as_ref()).0, 9.415e9, 0.001);
    near(typical(bond("active-backup", "layer2").combined.as_ref()).0, 9.415e9, 0.001);
    near(typical(bond("balance-rr", "layer2").combined.as_ref()).0, 2.0 * 9.415e9, 0.001);
    // A member that is down carries nothing; what is no bond and no port has no ceiling.
    let mut down = port("eth0", 10.0);
    down["link"]["up"] = known(false);
    let found = of_bond(&host(&[down, port("eth1", 10.0), bonded("802.3ad", "layer3+4")], &json!({})));
    near(typical(found.combined.as_ref()).0, 9.415e9, 0.001);
    let bridge = json!({"name": "br0", "mtu": known(1500), "port": {"physical": known(false)}});
    assert!(ceiling(&host(&[bridge], &json!({})), 0).combined.is_none());
}

/// Both members on one card in Gen2 x4: together 11.6 to 13.8 Gb/s, not 18.8.
#[test]
fn a_bond_of_two_ports_of_one_card_is_bound_by_its_slot() {
    let on =
        |name: &str, function: u32| with(port(name, 10.0), &json!({"device": known(format!("0000:01:00.{function}"))}));
    let device = |function: u32| {
        json!({"address": format!("0000:01:00.{function}"), "driver": known("ixgbe"),
               "pcie": {"links": known(json!([{"lower": format!("0000:01:00.{function}"), "upper": known("0000:00:01.0"),
                                               "role": known("root_port"), "speed": known(5.0), "width": known(4)}]))}})
    };
    let more = json!({"devices": [device(0), device(1)], "host": {"architecture": known("x86_64")}});
    let found = of_bond(&host(&[on("eth0", 0), on("eth1", 1), bonded("802.3ad", "layer3+4")], &more));
    let (rate, binding) = typical(found.combined.as_ref());
    assert_eq!(binding, Mechanism::Shared);
    assert!((11.6e9..13.8e9).contains(&rate), "{rate:.4e}");
}

#[test]
fn broken_bonds_end_nowhere() {
    let own = json!({"name": "bond0", "bond": {"mode": known("802.3ad"), "members": known(json!([{"name": "bond0"}, {"name": "gone"}]))},
                     "port": {"physical": known(false)}});
    assert!(ceiling(&host(&[own], &json!({})), 0).combined.is_none());
}

/// One flow of this host to one 80 ms away: 4 MiB of send buffer, 96 % of it in flight, are 0.403 Gb/s.
#[test]
fn the_window_of_a_measured_flow_is_named() {
    let host_of = |rate| {
        json!({"host": {
            "measured": known(json!([result("eth0", Some(true), rate, 1)])),
            "flows": known(json!([{"local": "192.0.2.1:4000", "peer": "192.0.2.9:5201", "min_rtt": known(0.08)}])),
            "sysctl": known(json!({"net.ipv4.tcp_wmem": "4096 16384 4194304"})),
        }})
    };
    let caveats = |rate| judged(&host(&[port("eth0", 10.0)], &host_of(rate))).remove(0).caveats.join("; ");
    assert!(
        caveats(0.4).contains("80 ms the window of its flow allows about 403 Mb/s, so that is what binds"),
        "{}",
        caveats(0.4)
    );
    assert!(!caveats(0.2).contains("so that is what binds"));
}

#[test]
fn one_thread_for_all_streams_is_named() {
    let caveats = |version: &str, gigabit| {
        let mut one = result("eth0", Some(true), gigabit, 8);
        one["version"] = known(version);
        judged(&host(&[port("eth0", 100.0)], &measured(json!([one])))).remove(0).caveats.join("; ")
    };
    assert!(caveats("3.9", 30.0).contains("one thread"));
    assert!(!caveats("3.16", 30.0).contains("one thread") && !caveats("3.9", 5.0).contains("one thread"));
}

/// Without timestamps 1460 of 1538 bytes are payload: 9.493 Gb/s. On at this end says nothing: the other end decides too.
#[test]
fn timestamps_that_are_off_are_known() {
    let rate = |value: &str| {
        let more = json!({"host": {"sysctl": known(json!({"net.ipv4.tcp_timestamps": value}))}});
        typical(ceiling(&host(&[port("eth0", 10.0)], &more), 0).combined.as_ref()).0
    };
    near(rate("0"), 9.493e9, 0.001);
    near(rate("1"), 9.415e9, 0.001);
}

/// 6 MiB of receive buffer, half of it window, fill 94.15 Gb/s up to 0.27 ms and 10 Gb/s up to 2.7 ms.
#[test]
fn the_round_trip_from_which_a_window_binds_is_told_where_it_is_short() {
    let notes = |gigabit| {
        let more = json!({"host": {"kernel": known("5.15.0"), "sysctl": known(json!({"net.ipv4.tcp_rmem": "4096 131072 6291456"}))}});
        ceiling(&host(&[port("eth0", gigabit)], &more), 0).notes
    };
    assert!(notes(100.0)[0].contains("above a round trip of 0.27 ms"), "{:?}", notes(100.0));
    assert!(notes(10.0).is_empty());
}

#[test]
fn close_results_are_called_close() {
    let all = judged(&host(&[port("eth0", 10.0)], &measured(json!([result("eth0", Some(true), 8.5, 4)]))));
    assert_eq!((all[0].verdict, all[0].caveats.len()), (Close, 0));
}

#[test]
fn a_card_on_an_unknown_pci_bus_lowers_the_confidence() {
    let more = |bus: &str| json!({"devices": [{"address": format!("0000:{bus}:00.0"), "pcie": {"links": {"absent": "assumed"}}}]});
    let at = |bus: &str| with(port("eth0", 10.0), &json!({"device": known(format!("0000:{bus}:00.0"))}));
    let confidence = |bus| ceiling(&host(&[at(bus)], &more(bus)), 0).combined.unwrap().ceiling.confidence;
    assert_eq!((confidence("02"), confidence("00")), (Confidence::Medium, Confidence::High));
}

fn stacked(name: &str, kind: &str, mtu: u64, more: &Json) -> Json {
    let one = json!({"name": name, "kind": known(kind), "mtu": known(mtu), "port": {"physical": known(false)}});
    with(one, more)
}

fn of(name: &str, snapshot: &Snapshot) -> InterfaceCeiling {
    ceiling(snapshot, snapshot.interfaces.iter().position(|one| one.name == name).unwrap())
}

/// One tag: 1448 of 1542 bytes. VXLAN of MTU 1450 in packets of 1500: 1398 of 1538. WireGuard of 1420: 1368 of 1518. IPIP of 1480:
/// 1428 of 1538.
#[test]
fn what_stands_on_a_port_carries_what_the_port_does_in_packets_of_its_own() {
    let on = |parent: &str| json!({"stack": {"parent": known(parent)}});
    let interfaces = [
        port("eth0", 10.0),
        stacked("eth0.5", "vlan", 1500, &with(on("eth0"), &json!({"vlan_tags": known(1)}))),
        stacked("mac0", "macvlan", 1500, &on("eth0")),
        stacked("vx0", "vxlan", 1450, &on("eth0")),
        stacked("wg0", "wireguard", 1420, &on("eth0")),
        stacked("tun0", "ipip", 1480, &on("eth0")),
        stacked("vx5", "vxlan", 1450, &on("eth0.5")),
    ];
    let snapshot = host(&interfaces, &json!({}));
    for (name, expected) in [
        ("eth0.5", 10e9 * 1448.0 / 1542.0),
        ("mac0", 10e9 * 1448.0 / 1538.0),
        ("vx0", 10e9 * 1398.0 / 1538.0),
        ("wg0", 10e9 * 1368.0 / 1518.0),
        ("tun0", 10e9 * 1428.0 / 1538.0),
        ("vx5", 10e9 * 1398.0 / 1542.0),
    ] {
        let found = of(name, &snapshot);
        near(typical(found.combined.as_ref()).0, expected, 1e-4);
        assert!(found.link.is_none() && found.stands_on.is_some(), "{name}");
    }
    assert!(of("wg0", &snapshot).notes[0].contains("encrypts"));
}

#[test]
fn a_bridge_carries_what_its_one_uplink_does() {
    let member = |name: &str| with(port(name, 10.0), &json!({"stack": {"master": known("br0")}}));
    let guest = stacked("tap0", "tun", 1500, &json!({"stack": {"master": known("br0")}}));
    let bridge = stacked("br0", "bridge", 1500, &json!({}));
    let found = of("br0", &host(&[member("eth0"), guest.clone(), bridge.clone()], &json!({})));
    near(typical(found.combined.as_ref()).0, 9.415e9, 0.001);
    let two = host(&[member("eth0"), member("eth1"), guest.clone(), bridge.clone()], &json!({}));
    assert!(of("br0", &two).combined.is_none(), "which of both is not known");
    assert!(of("br0", &host(&[guest, bridge], &json!({}))).combined.is_none());
}

#[test]
fn a_vlan_on_a_bond_and_a_shaper_on_a_vlan() {
    let on_bond =
        stacked("bond0.7", "vlan", 1500, &json!({"stack": {"parent": known("bond0")}, "vlan_tags": known(1)}));
    let ports = [port("eth0", 10.0), port("eth1", 10.0), bonded("802.3ad", "layer3+4"), on_bond];
    let found = of("bond0.7", &host(&ports, &json!({})));
    near(typical(found.combined.as_ref()).0, 20e9 * 1448.0 / 1542.0, 0.001);
    near(found.one_flow.unwrap().typical_bps, 10e9 * 1448.0 / 1542.0, 0.001);
    let shaped = with(qdisc("tbf", "root", 200_000_000), &json!({"stack": {"parent": known("eth0")}}));
    let found = of("eth0.5", &host(&[port("eth0", 10.0), stacked("eth0.5", "vlan", 1500, &shaped)], &json!({})));
    // 200 Mb/s * 0.99 * 1448 / 1518 = 188.9 Mb/s.
    near(typical(found.combined.as_ref()).0, 188.9e6, 0.001);
    near(typical(found.receiving.as_ref()).0, 9.390e9, 0.001);
}

#[test]
fn interfaces_stacked_in_a_circle_end_nowhere() {
    let on = |parent: &str| json!({"stack": {"parent": known(parent)}});
    let circle = [
        stacked("a", "vlan", 1500, &on("b")),
        stacked("b", "vlan", 1500, &on("a")),
        stacked("c", "vlan", 1500, &on("c")),
    ];
    let snapshot = host(&circle, &json!({}));
    for name in ["a", "b", "c"] {
        assert!(of(name, &snapshot).combined.is_none());
    }
}

/// What was not read is taken, and said: a shaper concerns what is sent alone.
#[test]
fn a_shaper_that_nobody_read_is_assumed_away_in_words() {
    let open = json!({"qdiscs": known(json!([{"kind": "fq_codel", "parent": "root"}]))});
    let rateless = json!({"qdiscs": known(json!([{"kind": "htb", "parent": "root"}]))});
    let taken = |more: &Json| of("eth0", &host(&[with(port("eth0", 1.0), more)], &json!({}))).taken_sending;
    assert_eq!(taken(&open), None);
    assert!(taken(&json!({})).unwrap().contains("were not read"));
    assert!(taken(&rateless).unwrap().contains("its htb, whose rate was not read"));
    let caveats = |sends| {
        let measured = measured(json!([result("eth0", Some(sends), 0.2, 4)]));
        judged(&host(&[port("eth0", 1.0)], &measured)).remove(0).caveats.join("; ")
    };
    assert!(caveats(true).contains("no shaper") && !caveats(false).contains("no shaper"));
}

/// The slowest PCIe link carries 1.56 Gb/s of TCP or more: a gigabit port needs no assumption, one of ten does.
#[test]
fn a_bus_that_nobody_read_is_assumed_wide_enough_in_words() {
    let at = |gigabit| with(port("eth0", gigabit), &json!({"device": known("0000:01:00.0")}));
    let devices = |links: Json| json!({"devices": [{"address": "0000:01:00.0", "pcie": {"links": links}}]});
    let assumed =
        |gigabit, links: Json| of("eth0", &host(&[at(gigabit)], &devices(links))).combined.unwrap().ceiling.assumed;
    let unread = json!({"unknown": "not_permitted"});
    assert!(assumed(10.0, unread.clone())[0].contains("PCIe path, which was not read"));
    assert!(assumed(1.0, unread).is_empty());
    assert!(assumed(10.0, json!({"absent": "assumed"}))[0].contains("PCI-X bus"));
    let chip = with(port("eth0", 10.0), &json!({"device": {"absent": "assumed"}}));
    assert!(of("eth0", &host(&[chip], &json!({}))).combined.unwrap().ceiling.assumed.is_empty());
}

/// Two cards of 25 Gb/s, each alone in Gen3 x8, behind a switch that stands in Gen3 x4: 24.6 to 28.2 Gb/s together.
#[test]
fn cards_behind_one_switch_share_its_uplink() {
    let link = |lower: &str, upper: &str, role: &str, width: u32| json!({"lower": lower, "upper": known(upper), "role": known(role), "speed": known(8.0), "width": known(width)});
    let device = |address: &str, down: &str| {
        json!({"address": address, "driver": known("bnxt_en"), "pcie": {"links": known(json!([
            link(address, down, "switch_downstream", 8), link("0000:01:00.0", "0000:00:01.0", "root_port", 4)]))}})
    };
    let on = |name: &str, address: &str| with(port(name, 25.0), &json!({"device": known(address)}));
    let more = json!({"devices": [device("0000:03:00.0", "0000:02:00.0"), device("0000:04:00.0", "0000:02:01.0")],
                      "host": {"architecture": known("x86_64")}});
    let snapshot = host(&[on("eth0", "0000:03:00.0"), on("eth1", "0000:04:00.0")], &more);
    let facts = Facts::new(&snapshot, Knowledge::embedded());
    let all = shared_hops(&facts);
    assert_eq!((all.len(), all[0].cards, all[0].ports.as_slice()), (1, 2, &[0, 1][..]));
    let group = &all[0].group;
    assert!(group.shared_binds);
    near(group.together.lo_bps, 24.63e9, 0.003);
    near(group.together.hi_bps, 28.22e9, 0.003);
    near(group.members_typical_bps, 2.0 * 23.54e9, 0.001);
}

/// Gen3 x8, payload 256, at MTU 1500: 53.5 Gb/s one way and 50.0 each way by the model's worked examples.
#[test]
fn both_directions_at_once_have_a_ceiling_of_their_own() {
    let more = json!({"host": {"architecture": known("x86_64")}, "devices": [{"address": "0000:01:00.0", "driver": known("ixgbe"),
        "pcie": {"mps": known(256), "mrrs": known(512), "links": known(json!([{"lower": "0000:01:00.0", "upper": known("0000:00:01.0"),
        "role": known("root_port"), "speed": known(8.0), "width": known(8)}]))}}]});
    let verdict = |both: bool| {
        let mut one = result("eth0", Some(true), 48.0, 4);
        one["both_ways"] = known(both);
        let more =
            with(more.clone(), &json!({"host": {"architecture": known("x86_64"), "measured": known(json!([one]))}}));
        judged(&host(&[with(port("eth0", 100.0), &json!({"device": known("0000:01:00.0")}))], &more)).remove(0)
    };
    assert_eq!((verdict(true).verdict, verdict(false).verdict), (AtCeiling, Close));
    near(verdict(true).ceiling.typical_bps, 0.97 * 50.0e9, 0.003);
}

/// RoCEv2 of 4096 bytes: 4096 of 4178 bytes of a 100 Gb/s link are 98.04 Gb/s; TCP at MTU 1500 would get 94.15.
#[test]
fn rdma_is_held_against_its_own_packets() {
    let verdict = |gigabit, protocol: &str| {
        let mut one = result("eth0", Some(true), gigabit, 1);
        one["protocol"] = known(protocol);
        one["rdma_mtu"] = known(4096);
        judged(&host(&[port("eth0", 100.0)], &measured(json!([one]))))
    };
    let all = verdict(97.97, "rdma");
    assert_eq!((all[0].verdict, all[0].caveats.len()), (AtCeiling, 0));
    near(all[0].ceiling.typical_bps, 98.04e9, 0.001);
    assert_eq!(verdict(93.4, "rdma")[0].verdict, Close);
    assert!(verdict(97.97, "infiniband").is_empty());
}

/// 200 Mb/s * 1448 / 1514 = 191 Mb/s, of which TCP gets half to all.
#[test]
fn a_policer_that_a_result_stands_at_is_named() {
    let policed =
        json!({"tc_actions": known(json!([{"hook": "ingress", "kind": "police", "rate": known(200_000_000)}]))});
    let eth0 = with(port("eth0", 1.0), &policed);
    let caveats = |sends, gigabit| {
        let measured = measured(json!([result("eth0", Some(sends), gigabit, 4)]));
        judged(&host(std::slice::from_ref(&eth0), &measured)).remove(0).caveats.join("; ")
    };
    assert!(caveats(false, 0.14).contains("policer drops what comes above 200 Mb/s"));
    assert!(!caveats(true, 0.14).contains("policer") && !caveats(false, 0.9).contains("policer"));
    assert!(of("eth0", &host(std::slice::from_ref(&eth0), &json!({}))).notes[0].contains("of what its filter matches"));
}

/// Seed 1: 3.854 Gb/s of a card of 2006 whose bus nobody noted.
#[test]
fn a_result_that_fits_an_unread_bus_gets_candidates() {
    let more = json!({"devices": [{"address": "0000:02:00.0", "pcie": {"links": {"absent": "assumed"}}}],
                      "host": {"measured": known(json!([result("eth1", None, 3.854, 1)]))}});
    let card = with(port("eth1", 10.0), &json!({"device": known("0000:02:00.0"), "mtu": known(9000)}));
    let caveats = judged(&host(&[card], &more)).remove(0).caveats.join("; ");
    assert!(
        caveats.contains("pci-x-66")
            && caveats.contains("pci-x-133 with reads of 512 B")
            && caveats.contains("or the processors"),
        "{caveats}"
    );
    assert!(caveats.contains("lspci -vv -s 0000:02:00.0"));
}
