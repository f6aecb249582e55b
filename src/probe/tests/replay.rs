//! A recorded session of a small virtual machine, replayed whole and disturbed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use crate::reading::GapKind;
use crate::snapshot::{InterfaceKind, OperState};

pub(super) fn recording() -> Recording {
    serde_json::from_str(include_str!("../../../fixtures/netlink/virtio-vm.json")).unwrap()
}

fn twice() -> Options {
    Options { interval_ms: 200, ..Options::default() }
}

#[test]
fn the_recorded_machine_reads_as_its_tools_print_it() {
    let snapshot = collect(&mut Recorded::new(recording()), &twice(), &mut |_| {});
    let host = &snapshot.host;
    assert_eq!(host.kernel.known().unwrap().parts, [6, 18, 44]);
    assert_eq!(host.os.known().unwrap(), "Debian GNU/Linux 12 (bookworm)");
    assert_eq!(host.platform.known().unwrap(), "debian");
    assert_eq!(host.cpus.known(), Some(&2));
    assert_eq!(host.memory.known().unwrap().0, 24_731_184 * 1024);
    assert_eq!(host.is_guest.known(), Some(&true));
    assert_eq!(host.privileged.known(), Some(&true));
    // This machine has no firmware tables.
    assert_eq!(snapshot.origins.gap_of(host.vendor.gap().unwrap()).why, GapKind::Failed);

    let names: Vec<&str> = snapshot.interfaces.iter().map(|interface| interface.name.as_str()).collect();
    assert_eq!(names, ["eth0", "ifb0", "ifb1", "lo"]);
    let eth0 = snapshot.interface("eth0").unwrap();
    assert_eq!(eth0.kind.known(), Some(&InterfaceKind::Ethernet));
    assert_eq!(eth0.index.known(), Some(&4));
    assert_eq!(eth0.mtu.known().unwrap().0, 1400);
    assert_eq!((eth0.mtu_min.known().unwrap().0, eth0.mtu_max.known().unwrap().0), (68, 65535));
    assert_eq!(eth0.oper_state.known(), Some(&OperState::Up));
    assert_eq!(eth0.link.up.known(), Some(&true));
    assert_eq!(eth0.address.known().unwrap(), "02:00:5e:00:53:04");
    assert_eq!(eth0.device.known().unwrap().to_string(), "0000:00:03.0");
    assert_eq!(eth0.driver.name.known().unwrap(), "virtio_net");
    assert!(eth0.driver.firmware.is_absent());
    assert_eq!((eth0.ring.rx.known(), eth0.ring.tx_max.known()), (Some(&256), Some(&256)));
    assert_eq!(snapshot.origins.gap_of(eth0.link.speed.gap().unwrap()).why, GapKind::DriverUnknown);
    assert!(eth0.link.supported.is_absent() && eth0.pause.rx.is_absent());
    assert_eq!(eth0.session.is_default_route.known(), Some(&true));
    assert_eq!(eth0.session.is_session.known(), Some(&false));
    let features = eth0.features.known().unwrap();
    assert_eq!(features.len(), 60);
    assert!(features["rx-gro"].active && features["rx-gro"].changeable);
    assert!(features["rx-checksum"].active && !features["rx-checksum"].changeable);
    assert!(!features["tx-udp-segmentation"].active);

    let groups: Vec<(&str, usize)> =
        eth0.counters.iter().map(|block| (block.group.as_str(), block.counters.len())).collect();
    assert_eq!(groups, [("rtnl_link_stats64", 25), ("rtnl_link_carrier", 3), ("ethtool_statistics", 20)]);
    for block in &eth0.counters {
        assert!(block.window().unwrap() >= 0.2, "{block:?}");
        assert!(block.counters.iter().all(|counter| counter.values.len() == 2));
    }
    let block = |group: &str| eth0.counters.iter().find(|block| block.group == group).unwrap();
    assert!(block("ethtool_statistics").get("rx0_kicks").unwrap().total().unwrap() > 0);
    // Its driver begins without a carrier, which counts as a fall; then it came up.
    let carrier = block("rtnl_link_carrier").counters.iter().map(|row| (row.name.as_str(), row.total().unwrap()));
    let counted: Vec<_> = carrier.collect();
    assert_eq!(counted, [("carrier_changes", 2), ("carrier_up_count", 1), ("carrier_down_count", 1)]);

    assert_eq!((eth0.channels.combined.known(), eth0.channels.combined_max.known()), (Some(&1), Some(&1)));
    assert!(eth0.channels.rx.is_absent());
    assert_eq!((eth0.coalesce.rx_frames.known(), eth0.coalesce.adaptive_rx.known()), (Some(&1), Some(&false)));
    assert!(eth0.coalesce.adaptive_tx.is_absent());
    assert!(eth0.eee.enabled.is_absent() && eth0.fec.configured.is_absent() && eth0.bond.mode.is_absent());
    assert!(eth0.link.ext_state.is_absent() && eth0.link.sqi.is_absent());
    assert_eq!(eth0.addresses.known().unwrap()[0], "192.0.2.2/24");
    let [qdisc] = eth0.qdiscs.known().unwrap().as_slice() else { panic!("{:?}", eth0.qdiscs) };
    assert_eq!((qdisc.kind.as_str(), qdisc.handle.as_str(), qdisc.parent.as_str()), ("pfifo_fast", "0:", "root"));
    assert_eq!(qdisc.counters.as_ref().unwrap().get("sent_packets").unwrap().values.len(), 2);
    assert!(qdisc.rate.is_absent());

    let sysctl = host.sysctl.known().unwrap();
    assert_eq!(sysctl["net.ipv4.tcp_mem"], "288450 384602 576900");
    assert_eq!(sysctl["net.core.netdev_max_backlog"], "1000");
    let groups: Vec<&str> = host.counters.known().unwrap().iter().map(|block| block.group.as_str()).collect();
    assert_eq!(groups, ["softnet_stat", "snmp", "netstat", "snmp6"]);
    for block in host.counters.known().unwrap() {
        assert!(block.window().unwrap() >= 0.2, "{}", block.group);
    }
    let log = host.log.known().unwrap();
    assert!(log.iter().any(|line| line.text.starts_with("TCP: Hash tables configured")), "{log:?}");
    assert!(log.iter().all(|line| line.age.unwrap() > 0.0 && !line.text.contains("audit")), "{log:?}");

    let ifb0 = snapshot.interface("ifb0").unwrap();
    assert!(ifb0.qdiscs.known().unwrap().is_empty() && ifb0.addresses.known().unwrap().is_empty());
    assert!(ifb0.channels.combined.is_absent());
    assert_eq!(ifb0.kind.known(), Some(&InterfaceKind::Ifb));
    assert!(ifb0.mtu_max.is_absent() && ifb0.device.is_absent() && ifb0.ring.rx.is_absent());
    assert!(ifb0.driver.is_unasked());

    let [device] = snapshot.devices.as_slice() else { panic!("{:?}", snapshot.devices) };
    assert_eq!(device.address.to_string(), "0000:00:03.0");
    assert_eq!(device.class.known(), Some(&0x0200));
    assert_eq!(device.id.known().unwrap(), "1af4:1041 1af4:1041");
    assert_eq!(device.name.known().unwrap(), "Red Hat, Inc. Virtio 1.0 network device");
    assert_eq!(device.driver.known().unwrap(), "virtio-pci");
    assert_eq!(device.interfaces.known().unwrap(), &["eth0"]);
    assert!(device.numa_node.is_absent() && device.pcie.links.is_absent() && device.pcie.mps.is_absent());
    assert_eq!(device.pcie.virtual_root.known(), Some(&true));
    assert!(snapshot.sample.remarks.is_empty() && snapshot.sample.needs_root.is_empty());
    assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot);
}

#[test]
fn our_table_of_link_modes_is_the_kernels() {
    let replies = recording().exchanges;
    let reply = replies.iter().find(|exchange| exchange.ask.to_string() == "ETHTOOL_MSG_STRSET_GET").unwrap();
    let answer = netlink::Answer::new(reply.reply.clone());
    let kernels = ethtool::names(&answer.parts[0]).link_modes;
    for (bit, name) in legacy::link_mode_names() {
        assert_eq!(Some(&name), kernels.get(&bit), "bit {bit}");
    }
}

#[test]
fn a_kernel_without_ethtool_netlink_leaves_gaps_that_say_so() {
    let mut recording = recording();
    recording.exchanges.retain(|exchange| !exchange.ask.to_string().starts_with("ETHTOOL_MSG"));
    for exchange in &mut recording.exchanges {
        if exchange.ask.to_string() == "CTRL_CMD_GETFAMILY" {
            exchange.reply = without_ethtool(&exchange.reply);
        }
    }
    let snapshot = scan(&mut Recorded::new(recording));
    let eth0 = snapshot.interface("eth0").unwrap();
    assert_eq!(snapshot.origins.gap_of(eth0.ring.rx.gap().unwrap()).why, GapKind::KernelTooOld);
    assert_eq!(eth0.mtu.known().unwrap().0, 1400);
    assert_eq!(eth0.driver.name.known().unwrap(), "virtio_net");
}

/// The recorded session with attributes of eth0 changed in the second listing of the links: number, byte, what is added.
fn changed_link(changes: &[(u16, usize, u8)]) -> Recording {
    let mut recording = recording();
    let mut seen = 0;
    for exchange in &mut recording.exchanges {
        if exchange.ask.to_string() != "RTM_GETLINK" {
            continue;
        }
        seen += 1;
        let Reply::Bytes(Blob(bytes)) = &mut exchange.reply else { panic!() };
        // The index of eth0, 4, stands at byte 4 of its header.
        let mut at = 0;
        while at < bytes.len() {
            let length = netlink::u32_at(bytes, at).unwrap() as usize;
            let mut inside = at + 32;
            while inside < at + length && bytes[at + 20] == 4 && seen == 2 {
                let kind = netlink::u16_at(bytes, inside + 2).unwrap();
                for (_, byte, more) in changes.iter().filter(|(changed, ..)| *changed == kind) {
                    bytes[inside + 4 + byte] += more;
                }
                inside += usize::from(netlink::u16_at(bytes, inside).unwrap()).next_multiple_of(4);
            }
            at += length.next_multiple_of(4);
        }
    }
    assert_eq!(seen, 2);
    recording
}

/// IFLA_CARRIER_CHANGES, IFLA_CARRIER_UP_COUNT and IFLA_CARRIER_DOWN_COUNT after the carrier went and came back.
const FLAP: [(u16, usize, u8); 3] = [(35, 0, 2), (47, 0, 1), (48, 0, 1)];

#[test]
fn a_link_that_fell_between_the_samples_keeps_both_counts_of_its_carrier_only() {
    let snapshot = collect(&mut Recorded::new(changed_link(&FLAP)), &twice(), &mut |_| {});
    let eth0 = snapshot.interface("eth0").unwrap();
    let (carrier, others): (Vec<_>, Vec<_>) =
        eth0.counters.iter().partition(|block| block.group == statistics::CARRIER);
    assert!(others.len() >= 2 && others.iter().all(|block| block.at_ms == [0]));
    assert_eq!(carrier[0].get("carrier_down_count").unwrap().values, [Some(1), Some(2)]);
    assert!(snapshot.interface("lo").unwrap().counters[0].window().is_some());
    assert!(snapshot.sample.remarks[0].starts_with("eth0 lost or gained its carrier"), "{:?}", snapshot.sample.remarks);
}

#[test]
fn a_link_that_somebody_switched_between_the_samples_loses_the_first() {
    let mut recording = changed_link(&FLAP);
    let lists = recording.exchanges.iter_mut().filter(|exchange| exchange.ask.to_string() == "RTM_GETLINK");
    let Reply::Bytes(Blob(bytes)) = &mut lists.last().unwrap().reply else { panic!() };
    let at = netlink::messages(bytes).take_while(|message| message.whole[20] != 4).map(|message| message.whole.len());
    let at: usize = at.map(|length| length.next_multiple_of(4)).sum();
    // IFF_UP in the flags behind the index.
    bytes[at + 24] &= !1;
    let snapshot = collect(&mut Recorded::new(recording), &twice(), &mut |_| {});
    let eth0 = snapshot.interface("eth0").unwrap();
    assert!(eth0.counters.iter().all(|block| block.at_ms == [0]));
    assert!(snapshot.sample.remarks[0].starts_with("eth0 was switched on or off"), "{:?}", snapshot.sample.remarks);
}

/// Lists whose rows have readings of their own: a row that lost one keeps the others.
const ROWS: [&str; 7] = [".flows", ".routes", ".cpu_list", ".threads", ".nfs", ".configured", ".irqs"];

/// What tells a row from the others of its list: its fields that are no readings.
fn identity(row: &Value) -> String {
    let plain = |field: &&Value| field.is_string() || field.is_number() || field.is_boolean();
    let fields = row.as_object().into_iter().flat_map(serde_json::Map::values).filter(plain);
    fields.map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Known leaves by path: `[value, source]` in the serialised form.
fn known(at: &str, value: &Value, into: &mut BTreeMap<String, Value>) {
    match value {
        Value::Array(pair) if pair.len() == 2 && pair[1].is_u64() && ROWS.iter().any(|end| at.ends_with(end)) => {
            for (place, row) in pair[0].as_array().into_iter().flatten().enumerate() {
                let mut path = format!("{at}[{}]", identity(row));
                if into.keys().any(|key| key.starts_with(&path)) {
                    path += &place.to_string();
                }
                known(&path, row, into);
            }
        }
        // A block of counters may have one sample or two.
        Value::Array(pair) if pair.len() == 2 && pair[0].get("at_ms").is_some() => {}
        Value::Array(pair) if pair.len() == 2 && pair[1].is_u64() && !at.contains("counters") => {
            into.insert(at.to_owned(), pair[0].clone());
        }
        Value::Object(map) => map.iter().for_each(|(key, value)| known(&format!("{at}.{key}"), value, into)),
        Value::Array(list) => list.iter().for_each(|value| {
            let name = value.get("name").or(value.get("address")).and_then(Value::as_str).unwrap_or("");
            known(&format!("{at}.{name}"), value, into);
        }),
        _ => {}
    }
}

pub(super) fn leaves(snapshot: &Snapshot) -> BTreeMap<String, Value> {
    let mut value: Value = serde_json::from_str(&snapshot.to_json()).unwrap();
    for table in ["sources", "gaps", "sample", "conflicts", "schema"] {
        value.as_object_mut().unwrap().remove(table);
    }
    let mut into = BTreeMap::new();
    known("", &value, &mut into);
    into
}

#[test]
fn answers_that_are_lost_never_change_those_that_are_not() {
    let good = leaves(&scan(&mut Recorded::new(recording())));
    assert!(good.len() > 60, "{}", good.len());
    let mut survivors = 0;
    for seed in 0..200 {
        let mut kernel = Faulty::new(seed, LOSSES, Recorded::new(recording()));
        let snapshot = collect(&mut kernel, &twice(), &mut |_| {});
        for (path, value) in leaves(&snapshot) {
            survivors += 1;
            // What is joined from parts may be shorter when a part is lost.
            if path.ends_with(".interfaces") {
                continue;
            }
            // So may the map of parameters, but what it holds stays.
            if path.ends_with(".sysctl") {
                let (some, all) = (value.as_object().unwrap(), good[&path].as_object().unwrap());
                assert!(some.iter().all(|(name, text)| all.get(name) == Some(text)), "seed {seed}");
                continue;
            }
            // Rows hold sources, ages and counters, which depend on what else was read.
            let row: &[&str] = if path == ".host.log" {
                &["text"]
            } else if path.ends_with(".qdiscs") {
                &["kind", "handle", "parent"]
            } else {
                assert_eq!(Some(&value), good.get(&path), "seed {seed}: {path}");
                continue;
            };
            let rows = |value: &Value| -> Vec<Vec<Value>> {
                let fields = |line: &Value| row.iter().map(|field| line[field].clone()).collect();
                value.as_array().unwrap().iter().map(fields).collect()
            };
            // A name that was lost has no lines of its own.
            let all = rows(&good[&path]);
            assert!(rows(&value).iter().all(|row| all.contains(row)), "seed {seed}: {path}");
        }
    }
    assert!(survivors > 200 * good.len() / 2, "{survivors} of {}", 200 * good.len());
}

#[test]
fn no_disturbance_makes_it_panic_and_equal_seeds_are_equal() {
    for seed in 0..200 {
        let run = || {
            let mut kernel = Faulty::new(seed, ALL_FAULTS, Recorded::new(recording()));
            collect(&mut kernel, &twice(), &mut |_| {})
        };
        let snapshot = run();
        assert_eq!(snapshot, run(), "seed {seed}");
        assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot, "seed {seed}");
    }
}

#[test]
fn everything_refused_is_a_snapshot_of_gaps() {
    let snapshot = scan(&mut Recorded::new(Recording::default()));
    assert!(snapshot.interfaces.is_empty() && snapshot.devices.is_empty());
    assert!(snapshot.host.kernel.gap().is_some());
    assert!(!snapshot.sample.remarks.is_empty());
}
