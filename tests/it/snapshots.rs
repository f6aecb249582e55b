//! The serialised snapshot: read for ever, written back unchanged, and each leaf of it is a fact or is known not to be.

use std::collections::{BTreeMap, BTreeSet};

use netdoctor::facts::{Catalogue, Facts};
use netdoctor::knowledge::Knowledge;
use netdoctor::lang::Key;
use netdoctor::reading::{BitsPerSecond, Bytes, GapKind, Gigatransfers, Seconds, Source};
use netdoctor::snapshot::{
    Bond, BondMember, Bridge, Channels, Coalesce, ConfiguredSetting, Conflict, Conntrack, CounterBlock, Cpu, Devlink,
    DriverInfo, Eee, Feature, Fec, Flow, Growth, HealthReporter, Host, Interface, Irq, Irqbalance, Link, Listener,
    LogLine, Measurement, Module, ModuleLane, ModuleThresholds, Neighbours, NfsMount, Pause, PciDevice, Pcie, PcieLink,
    PcieRole, Peer, Pfc, Port, Processors, Qdisc, Queue, Rates, Rdma, Ring, Route, Rss, SCHEMA, Sample, SampleSource,
    Session, Snapshot, Stack, TcAction, Thread, Tunnel, UdpSocket, Usb, Wireless, Xdp,
};
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde_json::Value;

use crate::support::{files, read, snapshot};

/// Leaves that are no fact of their own, each with the reason. Paths as `leaves` yields them.
const NOT_FACTS: &[(&str, &str)] = &[
    ("devices.interfaces", "rules ask for `device.ports`, which joins the names of all functions of a card"),
    ("devices.pcie.links", "rules ask for `device.pcie.links`, the same as references to links"),
    (
        "devices.pcie.links.siblings",
        "addresses of functions that are no subject; a group ceiling will derive from them",
    ),
    ("devices.aer", "a block: rules ask for events of the log and, later, canonical counters"),
    ("host.cpu_list", "a list: rules ask for each CPU"),
    ("host.cpu_list.softirqs", "a block: derived facts read it"),
    ("host.cpu_list.softnet", "a block: derived facts read it"),
    ("host.cpu_list.throttled", "a block: derived facts read it"),
    ("host.cpu_list.times", "a block: derived facts read it"),
    ("host.threads", "a list: rules ask for each thread"),
    ("host.threads.ticks", "a block: derived facts read it"),
    ("host.counters", "blocks: rules ask for canonical counters"),
    ("host.flows", "a list: rules ask for each connection"),
    ("host.listeners", "a list: rules ask for each listener"),
    ("host.udp_sockets", "a list: rules ask for each socket"),
    ("host.flows.samples", "a block: derived facts read it"),
    ("host.measured", "a list: rules ask for each result"),
    ("host.nfs", "a list: rules ask for each mount"),
    ("host.routes", "a list: rules ask for each route"),
    ("interfaces.bond.members", "a list: rules ask for each member"),
    ("interfaces.devlink.health", "a list: rules ask for each reporter"),
    ("interfaces.forwarding", "the derived `iface.forwarding` reads it before the parameters of the host"),
    ("interfaces.irqs", "a list: rules ask for each interrupt"),
    ("interfaces.irqs.counts", "a block: derived facts sum it up"),
    ("interfaces.module.lanes", "a list: rules ask for each lane"),
    ("interfaces.private_flags", "a map that is shown; no rule asks for a flag yet"),
    ("interfaces.queues", "a list: rules ask for each queue"),
    ("interfaces.rdma.counters", "a block: rules ask for canonical counters"),
    ("interfaces.tc_actions", "a list: rules ask for each action"),
    ("interfaces.tc_actions.counters", "a block: derived facts read it"),
    ("interfaces.qdiscs", "a list: rules ask for each discipline"),
];

/// Leaves that are read and that no rule asks yet. The fact comes with the first rule that does, and its line goes.
const NOT_YET_FACTS: &[&str] = &["host.measured.local_address", "host.measured.mss"];

/// A reading of the serialised form: its path without indexes, and where it stands.
struct Leaf {
    path: String,
    pointer: String,
}

/// All readings below a value. A reading is `[value, source]`, `{"absent": ..}` or `{"unknown": ..}`.
fn leaves(value: &Value, path: &str, pointer: &str, found: &mut Vec<Leaf>) {
    let Value::Object(fields) = value else { return };
    for (name, field) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let pointer = format!("{pointer}/{name}");
        match field {
            // Blocks of counters have facts by their canonical names.
            Value::Array(items) if name == "counters" && items.iter().all(Value::is_object) => {}
            Value::Object(block) if block.contains_key("group") => {}
            Value::Array(items) if items.iter().all(Value::is_object) => {
                for (at, item) in items.iter().enumerate() {
                    leaves(item, &path, &format!("{pointer}/{at}"), found);
                }
            }
            Value::Array(pair) if pair.len() == 2 => {
                let items = pair[0].as_array().into_iter().flatten().enumerate();
                for (at, item) in items.filter(|(_, item)| item.get("group").is_none()) {
                    leaves(item, &path, &format!("{pointer}/0/{at}"), found);
                }
                found.push(Leaf { path, pointer });
            }
            Value::Object(map) if map.contains_key("absent") || map.contains_key("unknown") => {
                found.push(Leaf { path, pointer });
            }
            Value::Object(_) => leaves(field, &path, &pointer, found),
            _ => {}
        }
    }
}

/// Readings of a whole document.
fn leaves_of(document: &Value) -> Vec<Leaf> {
    let mut found = Vec::new();
    for part in ["host", "interfaces", "devices"] {
        leaves(&serde_json::json!({ part: document[part] }), "", "", &mut found);
    }
    found
}

const GOLDEN: [(&str, &str); 1] = [(SCHEMA, "fixtures/golden/snapshot-1.json")];

fn golden() -> Value {
    serde_json::from_str(&read(GOLDEN[0].1)).unwrap()
}

#[test]
fn there_is_a_golden_file_for_each_schema() {
    let names: Vec<String> = files("fixtures/golden", "json")
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into())
        .collect();
    let listed: Vec<String> = GOLDEN.iter().map(|(_, path)| path.rsplit('/').next().unwrap().to_owned()).collect();
    assert_eq!(names, listed);
    for (schema, path) in GOLDEN {
        let document: Value = serde_json::from_str(&read(path)).unwrap();
        assert_eq!(document["schema"], schema);
    }
}

#[test]
fn golden_files_load_and_survive_a_round_trip() {
    for (_, path) in GOLDEN {
        let first = snapshot(&read(path));
        let written = first.to_json();
        let second = snapshot(&written);
        assert_eq!(second, first, "{path}");
        assert_eq!(second.to_json(), written, "{path}");
    }
}

#[test]
fn the_golden_file_means_today_what_it_meant() {
    let snapshot = snapshot(&read(GOLDEN[0].1));
    let names: Vec<_> = snapshot.interfaces.iter().map(|one| (one.namespace.as_str(), one.name.as_str())).collect();
    assert_eq!(names, [("", "eth3"), ("", "eth10"), ("blue", "eth2")]);
    assert_eq!((snapshot.sample.source, snapshot.sample.seconds), (SampleSource::Live, 3.0));
    assert_eq!(snapshot.host.uptime.known(), Some(&Seconds(2_692_800.5)));
    assert_eq!(snapshot.host.memory.known(), Some(&Bytes(64 << 30)));

    let [unknown, absent, known] = snapshot.interfaces.as_slice() else { panic!("three interfaces") };
    assert_eq!(known.mtu.known(), Some(&Bytes(9000)));
    let source = |id| snapshot.origins.source_of(id).to_string();
    assert_eq!(known.mtu.source().map(source).unwrap(), "what if eth2.mtu=9000");
    assert_eq!(known.link.speed.known(), Some(&BitsPerSecond(100_000_000_000)));
    assert_eq!(known.link.speed.source().map(source).unwrap(), "post.txt:12");
    assert_eq!(known.features.known().unwrap()["rx-lro"], Feature { active: false, changeable: false });
    assert!(absent.mtu.is_absent() && absent.mtu.known().is_none());
    let gap = snapshot.origins.gap_of(unknown.txqueuelen.gap().unwrap());
    assert_eq!((gap.why, gap.detail.as_str(), gap.command.as_str()), (GapKind::Failed, "ENODEV", "ip link show eth3"));
    assert_eq!(snapshot.origins.gap_of(unknown.mtu_max.gap().unwrap()).why, GapKind::NotPermitted);

    let rows = &known.counters[0];
    assert_eq!(rows.window(), Some(3.0));
    assert_eq!(rows.get("rx_packets").unwrap().total(), Some(u64::MAX), "counters are exact to the last packet");
    assert_eq!(rows.get("rx_packets").unwrap().growth(), Growth::By(5));
    assert_eq!(rows.get("rx_crc_errors").unwrap().growth(), Growth::OneSample, "the second sample did not list it");

    let addresses: Vec<_> = snapshot.devices.iter().map(|one| one.address.to_string()).collect();
    assert_eq!(addresses, ["0000:01:00.0", "0000:02:00.0", "10000:e1:1f.7"]);
    let links = snapshot.devices[0].pcie.links.known().unwrap();
    assert_eq!((links[0].speed.known(), links[0].width.known()), (Some(&Gigatransfers(8.0)), Some(&4)));
    assert_eq!(links[0].role.known(), Some(&PcieRole::RootPort));
    assert_eq!(source(snapshot.conflicts[0].other_source), "/sys/class/net/eth2/mtu");
}

/// Names of the fields that a struct is read from.
fn fields_of<T: DeserializeOwned>() -> BTreeSet<&'static str> {
    struct Fields<'f>(&'f mut BTreeSet<&'static str>);

    impl<'de> Deserializer<'de> for Fields<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(Self::Error::custom("no struct"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Self::Error> {
            self.0.extend(fields);
            Err(Self::Error::custom("only the names are wanted"))
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut fields = BTreeSet::new();
    assert!(T::deserialize(Fields(&mut fields)).is_err());
    assert!(!fields.is_empty());
    fields
}

/// Objects of the golden file by the struct that they are read into: the name of the struct, its fields, where it stands.
fn sections() -> Vec<(&'static str, BTreeSet<&'static str>, Vec<String>)> {
    let of = |path: &str| -> Vec<String> { (0..3).map(|at| path.replace('#', &at.to_string())).collect() };
    let links = vec![
        "/devices/0/pcie/links/0/0".into(),
        "/devices/2/pcie/links/0/0".into(),
        "/devices/2/pcie/links/0/1".into(),
    ];
    vec![
        ("Sample", fields_of::<Sample>(), vec!["/sample".into()]),
        ("Host", fields_of::<Host>(), vec!["/host".into()]),
        ("Interface", fields_of::<Interface>(), of("/interfaces/#")),
        ("DriverInfo", fields_of::<DriverInfo>(), of("/interfaces/#/driver")),
        ("Port", fields_of::<Port>(), of("/interfaces/#/port")),
        ("Link", fields_of::<Link>(), of("/interfaces/#/link")),
        ("Rates", fields_of::<Rates>(), of("/interfaces/#/rates")),
        ("Ring", fields_of::<Ring>(), of("/interfaces/#/ring")),
        ("Pause", fields_of::<Pause>(), of("/interfaces/#/pause")),
        ("Stack", fields_of::<Stack>(), of("/interfaces/#/stack")),
        ("Session", fields_of::<Session>(), of("/interfaces/#/session")),
        ("Channels", fields_of::<Channels>(), of("/interfaces/#/channels")),
        ("Coalesce", fields_of::<Coalesce>(), of("/interfaces/#/coalesce")),
        ("Eee", fields_of::<Eee>(), of("/interfaces/#/eee")),
        ("Fec", fields_of::<Fec>(), of("/interfaces/#/fec")),
        ("Bond", fields_of::<Bond>(), of("/interfaces/#/bond")),
        ("BondMember", fields_of::<BondMember>(), of("/interfaces/0/bond/members/0/#")),
        ("Qdisc", fields_of::<Qdisc>(), vec!["/interfaces/0/qdiscs/0/0".into()]),
        ("LogLine", fields_of::<LogLine>(), vec!["/host/log/0/0".into()]),
        ("Measurement", fields_of::<Measurement>(), vec!["/host/measured/0/0".into()]),
        ("CounterBlock", fields_of::<CounterBlock>(), vec!["/interfaces/0/counters/0".into()]),
        ("Processors", fields_of::<Processors>(), vec!["/host/processors".into()]),
        ("Cpu", fields_of::<Cpu>(), of("/host/cpu_list/0/#")),
        ("Thread", fields_of::<Thread>(), of("/host/threads/0/#")),
        ("Irqbalance", fields_of::<Irqbalance>(), vec!["/host/irqbalance".into()]),
        ("Conntrack", fields_of::<Conntrack>(), vec!["/host/conntrack".into()]),
        ("Neighbours", fields_of::<Neighbours>(), vec!["/host/neighbours".into()]),
        ("Peer", fields_of::<Peer>(), vec!["/host/peer".into()]),
        ("Flow", fields_of::<Flow>(), of("/host/flows/0/#")),
        ("Listener", fields_of::<Listener>(), of("/host/listeners/0/#")),
        ("UdpSocket", fields_of::<UdpSocket>(), of("/host/udp_sockets/0/#")),
        ("Route", fields_of::<Route>(), of("/host/routes/0/#")),
        ("NfsMount", fields_of::<NfsMount>(), of("/host/nfs/0/#")),
        ("ConfiguredSetting", fields_of::<ConfiguredSetting>(), of("/host/configured/0/#")),
        ("Rss", fields_of::<Rss>(), of("/interfaces/#/rss")),
        ("Pfc", fields_of::<Pfc>(), of("/interfaces/#/pfc")),
        ("Module", fields_of::<Module>(), of("/interfaces/#/module")),
        ("ModuleLane", fields_of::<ModuleLane>(), of("/interfaces/0/module/lanes/0/#")),
        ("ModuleThresholds", fields_of::<ModuleThresholds>(), of("/interfaces/#/module/thresholds")),
        ("Xdp", fields_of::<Xdp>(), of("/interfaces/#/xdp")),
        ("Usb", fields_of::<Usb>(), of("/interfaces/#/usb")),
        ("Wireless", fields_of::<Wireless>(), of("/interfaces/#/wireless")),
        ("Tunnel", fields_of::<Tunnel>(), of("/interfaces/#/tunnel")),
        ("Bridge", fields_of::<Bridge>(), of("/interfaces/#/bridge")),
        ("Devlink", fields_of::<Devlink>(), of("/interfaces/#/devlink")),
        ("HealthReporter", fields_of::<HealthReporter>(), of("/interfaces/0/devlink/health/0/#")),
        ("Rdma", fields_of::<Rdma>(), of("/interfaces/#/rdma")),
        ("Queue", fields_of::<Queue>(), of("/interfaces/0/queues/0/#")),
        ("Irq", fields_of::<Irq>(), of("/interfaces/0/irqs/0/#")),
        ("TcAction", fields_of::<TcAction>(), of("/interfaces/0/tc_actions/0/#")),
        ("Feature", fields_of::<Feature>(), vec!["/interfaces/0/features/0/rx-gro".into()]),
        ("PciDevice", fields_of::<PciDevice>(), of("/devices/#")),
        ("Pcie", fields_of::<Pcie>(), of("/devices/#/pcie")),
        ("PcieLink", fields_of::<PcieLink>(), links),
        ("Conflict", fields_of::<Conflict>(), vec!["/conflicts/0".into()]),
    ]
}

#[test]
fn the_golden_file_is_full() {
    let document = golden();
    for (name, fields, places) in sections() {
        for (number, place) in places.iter().enumerate() {
            let object = document.pointer(place).and_then(Value::as_object).unwrap_or_else(|| panic!("no {place}"));
            let missing: Vec<_> = fields.iter().filter(|field| !object.contains_key(**field)).collect();
            // Only a known interface has counters and a namespace.
            let optional = name == "Interface" && number > 0;
            let missing: Vec<_> =
                missing.into_iter().filter(|one| !optional || !["namespace", "counters"].contains(*one)).collect();
            assert!(
                missing.is_empty(),
                "{place} ({name}) lacks {missing:?}: add a golden file of a new schema, or these"
            );
        }
    }
}

#[test]
fn each_leaf_of_the_golden_file_stands_in_all_three_states() {
    let document = golden();
    let mut states: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for leaf in leaves_of(&document) {
        let value = document.pointer(&leaf.pointer).unwrap();
        let state = match value {
            Value::Array(_) => "known",
            other if other.get("absent").is_some() => "absent",
            _ => "unknown",
        };
        states.entry(leaf.path).or_default().insert(state);
    }
    // There is one host, so each of its leaves has one state, and of the links of a path some are always known.
    let complete = ["absent", "known", "unknown"].into();
    for (path, seen) in states {
        let single = path.starts_with("host.") && !path.starts_with("host.measured.") || path == "devices.pcie.links";
        assert!(seen == complete || single, "{path}: only {seen:?}");
    }
}

/// The facts that read this leaf: those whose source is the source that is put there.
fn facts_of(document: &Value, leaf: &Leaf) -> BTreeSet<String> {
    const MARK: &str = "marked by the test";
    let mut marked = document.clone();
    *marked.pointer_mut(&leaf.pointer).unwrap() = serde_json::json!({"absent": format!("assumed: {MARK}")});
    let snapshot = snapshot(&marked.to_string());
    let facts = Facts::new(&snapshot, Knowledge::embedded());
    let catalogue = Catalogue::shared();
    let mut found = BTreeSet::new();
    for (_, scope, slot, entry) in catalogue.all().filter(|(_, _, _, entry)| !entry.is_derived()) {
        for entity in facts.entities(scope) {
            let source = facts.lookup(Key { entity, slot }).source;
            if source.is_some_and(|source| *snapshot.origins.source_of(source) == Source::assumed(MARK)) {
                found.insert(format!(
                    "{}.{}",
                    catalogue.full_path(Key { entity, slot }).split('.').next().unwrap(),
                    entry.path
                ));
            }
        }
    }
    found
}

#[test]
fn each_leaf_is_a_fact_or_is_listed_as_none() {
    // What is walked is what this version writes, not what the file says.
    let document: Value = serde_json::from_str(&snapshot(&read(GOLDEN[0].1)).to_json()).unwrap();
    let mut asked: BTreeSet<String> = BTreeSet::new();
    let mut unasked: BTreeSet<String> = BTreeSet::new();
    for leaf in leaves_of(&document) {
        let facts = facts_of(&document, &leaf);
        if facts.is_empty() {
            unasked.insert(leaf.path);
        }
        asked.extend(facts);
    }
    let never = NOT_FACTS.iter().map(|(path, reason)| {
        assert!(!reason.is_empty(), "{path}");
        *path
    });
    let listed: BTreeSet<String> = never.chain(NOT_YET_FACTS.iter().copied()).map(str::to_owned).collect();
    let forgotten: Vec<_> = unasked.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&unasked).collect();
    assert!(forgotten.is_empty(), "neither a fact nor a line in NOT_FACTS: {forgotten:?}");
    assert!(stale.is_empty(), "a fact now: strike them off the lists: {stale:?}");

    // And the other way round: no fact of the catalogue reads something that no document can say.
    let readings = Catalogue::shared().all().filter(|(_, _, _, entry)| !entry.is_derived());
    let declared: BTreeSet<String> = readings.map(|(scope, _, _, entry)| format!("{scope}.{}", entry.path)).collect();
    assert_eq!(declared, asked);
}

#[test]
fn a_document_of_a_later_schema_is_refused_by_name() {
    let newer = read(GOLDEN[0].1).replace(SCHEMA, "netdoctor.snapshot/2");
    let error = Snapshot::from_json(&newer).unwrap_err().to_string();
    assert!(error.contains("netdoctor.snapshot/2") && error.contains(SCHEMA), "{error}");
}
