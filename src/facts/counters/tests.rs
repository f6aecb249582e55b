use super::rows::growth;
use super::*;
use crate::facts::Facts;
use crate::knowledge::Knowledge;
use crate::lang::World;
use crate::reading::{BitsPerSecond, Seconds};
use crate::snapshot::{Counter, CounterBlock, Interface, PciDevice, Qdisc, Snapshot};

fn known<T>(value: T) -> Reading<T> {
    Reading::Known(value, SourceId::ASSUMED)
}

/// A block with two samples three seconds apart, or with one where all rows have one value.
fn block(group: &str, rows: &[(&str, &[u64])]) -> CounterBlock {
    let counters = rows
        .iter()
        .map(|(name, values)| Counter { name: (*name).into(), values: values.iter().copied().map(Some).collect() })
        .collect();
    let samples = rows.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
    CounterBlock {
        group: group.into(),
        source: SourceId::ASSUMED,
        partial: false,
        at_ms: (0..samples as u64).map(|sample| sample * 3000).collect(),
        counters,
    }
}

fn port(driver: &str, blocks: Vec<CounterBlock>) -> Interface {
    let mut interface = Interface { name: "eth0".into(), kind: known(InterfaceKind::Ethernet), ..Interface::default() };
    interface.driver.name = known(driver.into());
    interface.counters = blocks;
    interface
}

fn snapshot(interfaces: Vec<Interface>) -> Snapshot {
    let mut snapshot = Snapshot::from_json(r#"{"schema": "netdoctor.snapshot/1"}"#).unwrap();
    snapshot.interfaces = interfaces;
    snapshot
}

fn facts(snapshot: &Snapshot) -> Facts<'_> {
    Facts::new(snapshot, Knowledge::embedded())
}

fn total(facts: &Facts<'_>, name: &str) -> Option<u64> {
    facts.count(0, name).counted().map(|counted| counted.total)
}

fn grown(facts: &Facts<'_>, name: &str) -> Option<u64> {
    facts.count(0, name).counted().and_then(|counted| counted.growth)
}

fn lost(facts: &Facts<'_>, place: Place) -> Option<u64> {
    facts.lost(Facts::entity(INTERFACE, 0), place).and_then(|lost| lost.total)
}

const TEXTS: [(&str, &str); 8] = [
    ("be2net", include_str!("../../../fixtures/counters/be2net.txt")),
    ("bnxt_en", include_str!("../../../fixtures/counters/bnxt_en.txt")),
    ("e1000e", include_str!("../../../fixtures/counters/e1000e.txt")),
    ("ena", include_str!("../../../fixtures/counters/ena.txt")),
    ("i40e", include_str!("../../../fixtures/counters/i40e.txt")),
    ("igb", include_str!("../../../fixtures/counters/igb.txt")),
    ("virtio_net", include_str!("../../../fixtures/counters/virtio_net.txt")),
    ("vmxnet3", include_str!("../../../fixtures/counters/vmxnet3.txt")),
];

fn real(driver: &str) -> Interface {
    let text = TEXTS.iter().find(|(name, _)| *name == driver).unwrap().1;
    let rows: Vec<(&str, u64)> = text
        .lines()
        .filter_map(|line| line.rsplit_once(": "))
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    let counters = rows.into_iter().map(|(name, value)| Counter { name: name.into(), values: vec![Some(value)] });
    let statistics = CounterBlock {
        group: "ethtool_statistics".into(),
        source: SourceId::ASSUMED,
        partial: false,
        at_ms: vec![0],
        counters: counters.collect(),
    };
    port(driver, vec![statistics])
}

#[test]
fn real_texts_give_the_values_that_were_worked_out_by_hand() {
    type Values<'a> = &'a [(&'a str, Option<u64>)];
    let expected: [(&str, Values<'_>); 8] = [
        (
            "bnxt_en",
            &[
                ("rx_no_buffer", Some(655_430_134)),
                ("rx_fifo_overflow", Some(49_337)),
                ("queue_rx_drops", Some(11_763_190 + 10_611_365)),
                ("queue_rx_packets", Some(10_198_513_532 + 3_854_315 + 124_570_464 + 10_418_578_771 + 9_467_129 + 295)),
                ("rx_crc_errors", Some(0)),
                ("fec_corrected_bits", Some(0)),
                ("pause_rx", Some(0)),
            ],
        ),
        (
            "i40e",
            &[
                ("queue_rx_packets", Some(64_128_515_158 + 13_480_677_444)),
                ("rx_crc_errors", Some(0)),
                ("rx_no_buffer", Some(0)),
                ("rx_fifo_overflow", Some(0)),
            ],
        ),
        (
            "e1000e",
            &[
                ("rx_no_buffer", None),
                ("rx_no_buffer_early", Some(0)),
                ("rx_fifo_overflow", Some(0)),
                ("rx_broadcast", Some(1401)),
                ("pause_tx", Some(0)),
            ],
        ),
        (
            "ena",
            &[
                ("queue_rx_packets", Some(9_300_271 + 3_667_424)),
                ("tx_queue_stopped", Some(0)),
                ("alloc_failure", Some(0)),
                ("bw_in_allowance_exceeded", None),
            ],
        ),
        ("igb", &[("rx_no_buffer", Some(0)), ("rx_fifo_overflow", Some(0)), ("queue_rx_packets", Some(0))]),
        ("virtio_net", &[("alloc_failure", Some(0)), ("rx_no_buffer", None), ("tx_timeout", Some(0))]),
        ("vmxnet3", &[("rx_no_buffer", Some(0)), ("tx_queue_stopped", Some(0)), ("queue_rx_packets", Some(0))]),
        (
            "be2net",
            &[
                ("queue_rx_packets", Some(6_743_082 + 6_697_989)),
                ("rx_no_buffer", Some(0)),
                ("rx_fifo_overflow", Some(0)),
                ("alloc_failure", Some(0)),
            ],
        ),
    ];
    for (driver, counters) in expected {
        let snapshot = snapshot(vec![real(driver)]);
        let facts = facts(&snapshot);
        for (name, value) in counters {
            assert_eq!(total(&facts, name), *value, "{driver}: {name}");
        }
    }
}

#[test]
fn no_name_of_a_real_text_that_sounds_like_loss_is_unclassified() {
    let words =
        ["drop", "discard", "err", "miss", "overflow", "no_buf", "overrun", "fail", "abort", "coll", "bad", "OOB"];
    let mut unclassified = Vec::new();
    for (driver, _) in TEXTS {
        for counter in &real(driver).counters[0].counters {
            let sounds = words.iter().any(|word| counter.name.contains(word));
            if sounds && Knowledge::embedded().classify(driver, &counter.name).is_none() {
                unclassified.push(format!("{driver}: {}", counter.name));
            }
        }
    }
    assert!(unclassified.is_empty(), "{unclassified:#?}");
}

#[test]
fn a_name_that_is_repeated_for_each_queue_is_added_and_told_apart() {
    let rows: &[(&str, &[u64])] = &[("pkts rx OOB", &[5, 6]), ("ucast pkts rx", &[1, 1]), ("pkts rx OOB", &[7, 17])];
    let snapshot = snapshot(vec![port("vmxnet3", vec![block("ethtool_statistics", rows)])]);
    let facts = facts(&snapshot);
    assert_eq!((total(&facts, "rx_no_buffer"), grown(&facts, "rx_no_buffer")), (Some(23), Some(11)));
    let queues = facts.count_instances(0, "queue_rx_drops");
    assert_eq!(queues.keys().collect::<Vec<_>>(), ["0", "1"]);
    let largest = facts.count_largest(0, "queue_rx_drops").counted().unwrap();
    assert_eq!((largest.total, largest.growth), (17, Some(10)));
}

#[test]
fn igb_counts_an_overflow_in_two_kernel_fields_and_it_is_added_once() {
    let kernel = block("rtnl_link_stats64", &[("rx_missed_errors", &[20, 24]), ("rx_fifo_errors", &[30, 36])]);
    let alone = snapshot(vec![port("igb", vec![kernel.clone()])]);
    let own: &[(&str, &[u64])] = &[
        ("rx_missed_errors", &[20, 24]),
        ("rx_fifo_errors", &[30, 36]),
        ("rx_queue_0_drops", &[4, 4]),
        ("rx_queue_1_drops", &[6, 8]),
    ];
    let both = snapshot(vec![port("igb", vec![kernel, block("ethtool_statistics", own)])]);
    for snapshot in [alone, both] {
        let facts = facts(&snapshot);
        assert_eq!((lost(&facts, Place::Ring), lost(&facts, Place::Nic)), (Some(12), Some(24)));
        assert_eq!((grown(&facts, "rx_no_buffer"), grown(&facts, "rx_fifo_overflow")), (Some(2), Some(4)));
    }
}

#[test]
fn what_need_not_lose_a_packet_is_in_no_place() {
    let own: &[(&str, &[u64])] = &[("rx_queue_0_drops", &[4]), ("rx_queue_0_alloc_failed", &[1000])];
    let snapshot = snapshot(vec![port("igb", vec![block("ethtool_statistics", own)])]);
    let facts = facts(&snapshot);
    assert_eq!(total(&facts, "alloc_failure"), Some(1000));
    assert_eq!(lost(&facts, Place::Ring), Some(4));
}

#[test]
fn with_a_part_unread_a_loss_is_a_lower_bound_and_zero_is_nothing() {
    let of = |missed| {
        snapshot(vec![port("brand_new", vec![block("rtnl_link_stats64", &[("rx_missed_errors", &[missed])])])])
    };
    assert_eq!(lost(&facts(&of(7)), Place::Ring), Some(7));
    assert_eq!(lost(&facts(&of(0)), Place::Ring), None);
    assert!(facts(&of(0)).lost(Facts::entity(INTERFACE, 0), Place::Ring).is_some(), "there may be such losses");
}

#[test]
fn names_of_other_kernels_are_read_where_the_usual_ones_are_missing() {
    let old: &[(&str, &[u64])] = &[("rx_dropped", &[8]), ("port.rx_dropped", &[9])];
    let older = snapshot(vec![port("i40e", vec![block("ethtool_statistics", old)])]);
    assert_eq!(total(&facts(&older), "rx_no_buffer"), Some(8));
    assert_eq!(total(&facts(&older), "rx_fifo_overflow"), Some(9));
    let new: &[(&str, &[u64])] = &[("rx_dropped", &[8]), ("rx_missed_errors", &[3])];
    let newer = snapshot(vec![port("i40e", vec![block("ethtool_statistics", new)])]);
    assert_eq!(total(&facts(&newer), "rx_no_buffer"), Some(3));
}

#[test]
fn a_decrease_is_a_reset_unless_the_width_explains_it() {
    let counter = |first, last| Counter { name: "rx_missed".into(), values: vec![Some(first), Some(last)] };
    assert_eq!(growth(&counter(65_530, 4), Some(16)), Some(10));
    assert_eq!(growth(&counter(65_530, 4), None), None);
    assert_eq!(growth(&counter(100, 4), Some(16)), None, "it was far from its end");
    assert_eq!(growth(&counter(40_000, 30_000), Some(16)), None, "more than half of the range");
    assert_eq!(growth(&counter(70_000, 4), Some(16)), None, "wider than it should be");
    assert_eq!(growth(&counter(4_294_967_290, 4), Some(32)), Some(10));
    let rows: &[(&str, &[u64])] = &[("rx_missed", &[65_530, 4]), ("rx_errors", &[9, 2])];
    let snapshot = snapshot(vec![port("r8169", vec![block("ethtool_statistics", rows)])]);
    assert_eq!(grown(&facts(&snapshot), "rx_no_buffer"), Some(10), "16 bits by its driver's file");
    assert_eq!(grown(&facts(&snapshot), "rx_crc_errors"), None, "32 bits, far from their end");
}

#[test]
fn the_sums_of_ifconfig_are_second_best() {
    let sums = || block("proc_net_dev", &[("rx_frame_errors", &[11]), ("collisions", &[3])]);
    let alone = snapshot(vec![port("brand_new", vec![sums()])]);
    let frames = facts(&alone).count(0, "rx_frame_errors").counted().unwrap();
    assert_eq!((frames.total, frames.ambiguous.is_some()), (11, true));
    let collisions = facts(&alone).count(0, "collisions").counted().unwrap();
    assert_eq!((collisions.total, collisions.ambiguous), (3, None));
    let exact = block("rtnl_link_stats64", &[("rx_frame_errors", &[5])]);
    let both = snapshot(vec![port("brand_new", vec![sums(), exact])]);
    let frames = facts(&both).count(0, "rx_frame_errors").counted().unwrap();
    assert_eq!((frames.total, frames.ambiguous), (5, None));
}

#[test]
fn absent_is_what_the_driver_does_not_count_and_unknown_what_nobody_looked_up() {
    let kernel = || block("rtnl_link_stats64", &[("rx_missed_errors", &[5]), ("rx_dropped", &[7])]);
    let one = |driver| snapshot(vec![port(driver, vec![kernel()])]);
    let intel = one("e1000e");
    assert_eq!(facts(&intel).count(0, "rx_no_buffer"), Count::Absent);
    assert_eq!(facts(&intel).count(0, "bw_in_allowance_exceeded"), Count::Absent);
    assert_eq!(facts(&intel).count(0, "fec_uncorrectable"), Count::Absent, "this driver has no such statistics");
    let overflow = facts(&intel).count(0, "rx_fifo_overflow").counted().unwrap();
    assert_eq!((overflow.total, overflow.ambiguous.is_some()), (5, true));
    let stranger = one("brand_new");
    let missed = facts(&stranger).count(0, "rx_no_buffer").counted().unwrap();
    assert_eq!((missed.total, missed.ambiguous.is_some()), (5, true));
    assert_eq!(facts(&stranger).count(0, "rx_fifo_overflow"), Count::Unknown);
    assert_eq!(facts(&one("cxgb4")).count(0, "rx_no_buffer"), Count::Absent, "its rx_missed_errors is always 0");
    let mut bridge = port("bridge", vec![kernel()]);
    bridge.kind = known(InterfaceKind::Bridge);
    let made_up = snapshot(vec![bridge]);
    assert_eq!(facts(&made_up).count(0, "rx_no_buffer"), Count::Absent);
    assert_eq!(facts(&made_up).count(0, "qdisc_dropped"), Count::Unknown, "its queues were not read");
    assert_eq!(total(&facts(&made_up), "rx_dropped"), Some(7));
    assert_eq!(facts(&made_up).count(0, "aer_correctable"), Count::Unknown);
}

#[test]
fn errors_of_a_function_are_added_by_their_kind() {
    let rows: &[(&str, &[u64])] =
        &[("correctable.RxErr", &[3, 5]), ("correctable.BadTLP", &[1, 1]), ("fatal.TLP", &[0, 0])];
    let mut host = snapshot(Vec::new());
    host.devices = vec![PciDevice { aer: known(block("aer", rows)), ..PciDevice::default() }];
    let of = |name: &str| facts(&host).count(0, name).counted();
    let correctable = of("aer_correctable").unwrap();
    assert_eq!((correctable.total, correctable.growth), (6, Some(2)));
    assert_eq!(of("aer_fatal").unwrap().total, 0);
    assert_eq!((of("aer_nonfatal"), of("aer_correctable_upstream")), (None, None), "no such row was read");
    host.devices[0].aer = Reading::Absent(SourceId::ASSUMED);
    assert_eq!(facts(&host).count(0, "aer_correctable"), Count::Absent);
}

#[test]
fn drops_of_the_port_and_of_the_kernel_are_added_and_parts_are_not() {
    let kernel = || block("rtnl_link_stats64", &[("tx_dropped", &[3])]);
    let own = |rows: &[(&str, &[u64])]| block("ethtool_statistics", rows);
    let mellanox: &[(&str, &[u64])] = &[("tx_discards_phy", &[5]), ("tx_queue_dropped", &[3])];
    assert_eq!(total(&facts(&snapshot(vec![port("mlx5_core", vec![kernel(), own(mellanox)])])), "tx_dropped"), Some(8));
    assert_eq!(total(&facts(&snapshot(vec![port("mlx5_core", vec![own(mellanox)])])), "tx_dropped"), Some(8));
    let zero: &[(&str, &[u64])] = &[("tx_discards", &[0])];
    let half = snapshot(vec![port("tg3", vec![own(zero)])]);
    assert_eq!(facts(&half).count(0, "tx_dropped"), Count::Unknown, "the kernel's part is missing");
    let some: &[(&str, &[u64])] = &[("tx_discards", &[4])];
    assert_eq!(total(&facts(&snapshot(vec![port("tg3", vec![own(some)])])), "tx_dropped"), Some(4));
}

#[test]
fn only_the_leaves_of_the_queues_are_added() {
    let qdisc = |kind: &str, handle: &str, parent: &str, dropped: &[u64]| Qdisc {
        kind: kind.into(),
        handle: handle.into(),
        parent: parent.into(),
        counters: Some(block("qdisc", &[("dropped", dropped), ("sent_packets", &[100, 200])])),
        ..Qdisc::default()
    };
    let of = |qdiscs: Vec<Qdisc>| {
        let mut interface = port("igb", Vec::new());
        interface.qdiscs = known(qdiscs);
        snapshot(vec![interface])
    };
    let queues = of(vec![
        qdisc("mq", "0:", "root", &[30, 35]),
        qdisc("pfifo_fast", "0:", ":1", &[10, 15]),
        qdisc("pfifo_fast", "0:", ":2", &[20, 20]),
        qdisc("ingress", "ffff:", "ingress", &[9, 9]),
    ]);
    assert_eq!((total(&facts(&queues), "qdisc_dropped"), grown(&facts(&queues), "qdisc_dropped")), (Some(35), Some(5)));
    assert_eq!(lost(&facts(&queues), Place::Qdisc), Some(35));
    assert_eq!(facts(&queues).count_instances(0, "qdisc_dropped").len(), 2);
    let tree = of(vec![qdisc("htb", "1:", "root", &[8, 8]), qdisc("fq_codel", "10:", "1:10", &[8, 8])]);
    let codel = facts(&tree).count(0, "qdisc_dropped").counted().unwrap();
    assert_eq!((codel.total, codel.ambiguous.is_some()), (8, true), "it drops on purpose too");
    let wrapped = of(vec![qdisc("pfifo_fast", "0:", "root", &[4_294_967_295, 1])]);
    assert_eq!(grown(&facts(&wrapped), "qdisc_dropped"), Some(2));
    for without in [of(Vec::new()), of(vec![Qdisc { kind: "noqueue".into(), ..Qdisc::default() }])] {
        assert_eq!(facts(&without).count(0, "qdisc_dropped"), Count::Absent, "no packet waits here");
    }
    let uncounted = of(vec![Qdisc { counters: None, ..qdisc("pfifo", "1:", "root", &[]) }]);
    assert_eq!(facts(&uncounted).count(0, "qdisc_dropped"), Count::Unknown);
}

#[test]
fn counters_of_the_host_and_those_computed_from_them() {
    let mut snapshot = snapshot(Vec::new());
    snapshot.host.counters = known(vec![
        block(
            "softnet_stat",
            &[
                ("processed", &[300, 420]),
                ("dropped", &[1, 1]),
                ("time_squeeze", &[2, 4]),
                ("cpu0.processed", &[100, 110]),
                ("cpu3.processed", &[200, 310]),
            ],
        ),
        block("snmp", &[("Tcp.RetransSegs", &[100, 150]), ("Tcp.OutSegs", &[1000, 2000])]),
        block(
            "netstat",
            &[
                ("TcpExt.TCPSynRetrans", &[10, 15]),
                ("TcpExt.TCPDSACKRecv", &[5, 5]),
                ("TcpExt.TCPLossProbes", &[5, 10]),
                ("TcpExt.ListenOverflows", &[3, 4]),
            ],
        ),
    ]);
    let facts = facts(&snapshot);
    assert_eq!((total(&facts, "softnet_processed"), grown(&facts, "softnet_processed")), (Some(510 - 90), Some(120)));
    let largest = facts.count_largest(0, "softnet_processed").counted().unwrap();
    assert_eq!((largest.total, largest.growth), (310, Some(110)));
    assert_eq!(facts.count_largest(0, "softnet_dropped"), Count::Unknown, "not told by CPU");
    assert_eq!((total(&facts, "tcp_retrans_genuine"), grown(&facts, "tcp_retrans_genuine")), (Some(120), Some(40)));
    assert_eq!(grown(&facts, "softnet_squeezed_packets"), Some(600));
    assert_eq!(total(&facts, "ListenOverflows"), Some(4));
    assert_eq!(facts.count(0, "TCPBacklogDrop"), Count::Unknown);
    let softnet = facts.lost(Facts::entity(HOST, 0), Place::Softnet).unwrap();
    assert_eq!((softnet.total, softnet.growth), (Some(1), Some(0)));
    assert_eq!(facts.lost(Facts::entity(HOST, 0), Place::Ring), None);
    let slot = facts.catalogue().slot(HOST, "counter.RetransSegs.rate").unwrap();
    assert_eq!(facts.read(Facts::entity(HOST, 0), slot), State::Known(Value::Number(50.0 / 3.0)));
}

#[test]
fn the_squeeze_follows_the_budget_of_the_host() {
    let mut snapshot = snapshot(Vec::new());
    snapshot.host.counters = known(vec![block("softnet_stat", &[("time_squeeze", &[2])])]);
    snapshot.host.sysctl = known(BTreeMap::from([("net.core.netdev_budget".to_owned(), "600".to_owned())]));
    assert_eq!(total(&facts(&snapshot), "softnet_squeezed_packets"), Some(1200));
}

#[test]
fn the_sample_and_what_the_link_could_carry_in_it() {
    let mut interface = port("igb", vec![block("rtnl_link_stats64", &[("rx_bytes", &[0, 9])])]);
    interface.link.speed = known(BitsPerSecond(1_000_000_000));
    let mut snapshot = snapshot(vec![interface]);
    let window = facts(&snapshot).count(0, "window").counted().unwrap();
    assert_eq!((window.growth, window.growth_only), (Some(3_000_000), true));
    assert_eq!(grown(&facts(&snapshot), "line_bits"), Some(3_000_000_000));
    snapshot.host.uptime = known(Seconds(10.0));
    assert_eq!(total(&facts(&snapshot), "line_bits"), Some(10_000_000_000));
    let facts = facts(&snapshot);
    let slot = facts.catalogue().slot(INTERFACE, "counter.window.growth").unwrap();
    assert_eq!(facts.read(Facts::entity(INTERFACE, 0), slot), State::Known(Value::Number(3.0)), "seconds");
}

#[test]
fn drops_of_the_core_are_without_those_of_the_driver() {
    let kernel = || block("rtnl_link_stats64", &[("rx_dropped", &[50])]);
    let own: &[(&str, &[u64])] = &[("rx_dropped", &[30])];
    let ice = snapshot(vec![port("ice", vec![kernel(), block("ethtool_statistics", own)])]);
    assert_eq!(total(&facts(&ice), "rx_dropped_core"), Some(20));
    let unread = snapshot(vec![port("ice", vec![kernel()])]);
    assert_eq!(facts(&unread).count(0, "rx_dropped_core"), Count::Unknown);
    let stranger = snapshot(vec![port("brand_new", vec![kernel()])]);
    assert!(facts(&stranger).count(0, "rx_dropped_core").counted().unwrap().ambiguous.is_some());
}

#[test]
fn members_of_a_bond_are_told_apart() {
    let member = |name: &str, bytes: &[u64]| Interface {
        name: name.into(),
        counters: vec![block("rtnl_link_stats64", &[("tx_bytes", bytes)])],
        ..Interface::default()
    };
    let mut bond = Interface { name: "bond0".into(), kind: known(InterfaceKind::Bond), ..Interface::default() };
    bond.stack.members = known(vec!["eth1".into(), "eth2".into()]);
    let snapshot = snapshot(vec![bond, member("eth1", &[0, 900]), member("eth2", &[0, 100])]);
    let facts = facts(&snapshot);
    assert_eq!(grown(&facts, "member_tx_bytes"), Some(1000));
    assert_eq!(facts.count_largest(0, "member_tx_bytes").counted().unwrap().growth, Some(900));
}

#[test]
fn drivers_whose_rings_back_up_into_the_fifo_are_told() {
    for (driver, expected) in [("e1000e", Some(true)), ("mlx5_core", Some(false)), ("brand_new", None)] {
        let snapshot = snapshot(vec![port(driver, Vec::new())]);
        let facts = facts(&snapshot);
        let slot = facts.catalogue().slot(INTERFACE, "knowledge.overflow_may_be_ring").unwrap();
        let state = expected.map_or(State::Unknown, |flag| State::Known(Value::Bool(flag)));
        assert_eq!(facts.read(Facts::entity(INTERFACE, 0), slot), state, "{driver}");
    }
}
