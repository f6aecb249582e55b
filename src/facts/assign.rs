//! Readings set by hand: `eth2.mtu=9000`, `0000:01:00.0.pcie.mps=512B`, `host.kernel=v6.6`, `eth2.link.up=unknown`.

use std::collections::BTreeSet;

use super::catalogue::{Catalogue, DEVICE, HOST, INTERFACE, LINK, MEASUREMENT, QDISC};
use super::entry::Put;
use super::rows::{self, Row};
use super::topology::Topology;
use super::unit::Unit;
use super::{Facts, set};
use crate::knowledge::Knowledge;
use crate::lang::{Allow, Context, Dim, Entity, Key, Quantity, Slot, State, Type, Value, Version, World, check};
use crate::reading::{Gap, GapKind, Reading, Source, SourceId};
use crate::snapshot::{Counter, CounterBlock, Qdisc, Snapshot};

/// Carries out an assignment. `source` is what the new reading names as its origin.
///
/// # Errors
/// Names what is wrong: no such subject, no such fact (with the nearest), a value of another type or unit, a derived fact.
pub fn assign(snapshot: &mut Snapshot, assignment: &str, source: Source) -> Result<(), String> {
    let (target, text) = assignment
        .split_once('=')
        .ok_or_else(|| format!("`{assignment}` is no assignment: write SUBJECT.FACT=VALUE"))?;
    let (entity, path) = target_of(snapshot, target.trim())?;
    if let Some(counter) = path.strip_prefix("counters.") {
        return assign_counter(snapshot, entity, counter, text.trim(), source);
    }
    let catalogue = Catalogue::shared();
    let put = match text.trim() {
        "unknown" => Put::Unknown(snapshot.origins.gap(Gap::new(GapKind::NotCollected).detail("set to unknown"))),
        "absent" => Put::Absent(snapshot.origins.source(source)),
        text => {
            let entry = catalogue.slot(entity.scope, path).and_then(|slot| catalogue.entry(Key { entity, slot }));
            let (kind, unit) = entry.map_or((Type::Text, Unit::Plain), |entry| (entry.kind.clone(), entry.unit));
            let value = value_of(text, &kind, unit).map_err(|error| format!("{assignment}: {error}"))?;
            Put::Known(value, snapshot.origins.source(source))
        }
    };
    set(snapshot, entity, path, &put)
}

/// `eth0.counters.ethtool_statistics.rx_missed_errors=10 35`: the samples of a row, three seconds apart in a new block;
/// `unknown` takes the row, or without a name the whole block, away.
fn assign_counter(
    snapshot: &mut Snapshot,
    entity: Entity,
    counter: &str,
    text: &str,
    source: Source,
) -> Result<(), String> {
    let source = snapshot.origins.source(source);
    match entity.scope {
        INTERFACE => set_counter(&mut snapshot.interfaces[entity.index as usize].counters, counter, text, source),
        HOST => {
            let mut blocks = snapshot.host.counters.known().cloned().unwrap_or_default();
            set_counter(&mut blocks, counter, text, source)?;
            snapshot.host.counters = Reading::Known(blocks, source);
            Ok(())
        }
        QDISC => {
            let place = Topology::of(snapshot).row_place(QDISC, entity.index as usize);
            let qdisc = place.and_then(|(interface, place)| Qdisc::at_mut(snapshot, interface, place));
            let Some(qdisc) = qdisc else { return Err("there is no such queueing discipline".into()) };
            let mut blocks = Vec::from_iter(qdisc.counters.take());
            let done = set_counter(&mut blocks, counter, text, source);
            qdisc.counters = blocks.pop();
            done
        }
        _ => Err("only interfaces, their queueing disciplines and the host have counters".into()),
    }
}

fn set_counter(blocks: &mut Vec<CounterBlock>, counter: &str, text: &str, source: SourceId) -> Result<(), String> {
    let (group, name) = counter.split_once('.').unwrap_or((counter, ""));
    if text == "unknown" {
        blocks.retain(|block| block.group != group || !name.is_empty());
        blocks.iter_mut().filter(|block| block.group == group).for_each(|block| {
            block.counters.retain(|row| row.name != name);
        });
        return Ok(());
    }
    let number = |word: &str| {
        let whole = word.parse::<f64>().ok().filter(|number| *number >= 0.0 && number.fract() == 0.0);
        whole.map(|number| Some(number as u64)).ok_or_else(|| format!("`{word}` is no count"))
    };
    let values = text.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
    let at = blocks.iter().position(|block| block.group == group).unwrap_or_else(|| {
        let at_ms = (0..values.len() as u64).map(|sample| sample * 3000).collect();
        blocks.push(CounterBlock { group: group.into(), source, partial: false, at_ms, counters: Vec::new() });
        blocks.len() - 1
    });
    blocks[at].counters.retain(|row| row.name != name);
    blocks[at].counters.push(Counter { name: name.into(), values });
    Ok(())
}

/// Splits `eth0.100.link.speed` into the subject and the path of the fact: the longest name that exists wins.
fn target_of<'t>(snapshot: &Snapshot, target: &'t str) -> Result<(Entity, &'t str), String> {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    let all = [HOST, INTERFACE, DEVICE, LINK, MEASUREMENT]
        .into_iter()
        .chain(rows::kinds().iter().map(|kind| kind.scope))
        .flat_map(|scope| facts.entities(scope).collect::<Vec<_>>());
    let mut best: Option<(Entity, &str)> = None;
    for entity in all {
        let name = facts.name(entity);
        let rest = target.strip_prefix(&name).and_then(|rest| rest.strip_prefix('.'));
        if let Some(path) = rest.filter(|path| best.is_none_or(|(_, other)| path.len() < other.len())) {
            best = Some((entity, path));
        }
    }
    best.ok_or_else(|| {
        format!("`{target}` begins with no interface, PCI address, PCIe link or `host` of this snapshot")
    })
}

/// Reads a value as its fact's type wants it. A number without a unit is in the unit in which the fact is shown.
fn value_of(text: &str, kind: &Type, unit: Unit) -> Result<Value, String> {
    let words = || text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
    match kind {
        Type::Bool => match text {
            "true" | "yes" | "on" => Ok(Value::Bool(true)),
            "false" | "no" | "off" => Ok(Value::Bool(false)),
            _ => Err("here belongs true or false".into()),
        },
        Type::Number(Quantity::Scale(dim)) => match constant(text)? {
            (number, found) if found == *dim => Ok(Value::Number(number)),
            (number, Dim::PLAIN) => Ok(Value::Number(unit.to_base(number))),
            (_, found) => Err(format!("this is in {found}; here belongs {dim}")),
        },
        Type::Number(_) => constant(text).map(|(number, _)| Value::Number(number)),
        Type::Text => Ok(Value::Text(text.into())),
        Type::Word(_) => Ok(Value::Word(text.into())),
        Type::Version => {
            let version = Version::parse(text.strip_prefix('v').unwrap_or(text));
            version.map(Value::Version).ok_or_else(|| "here belongs a version such as v6.6".into())
        }
        Type::Set(_) => Ok(Value::Set(std::sync::Arc::new(words().map(Into::into).collect()))),
        Type::List(_) => Ok(Value::List(words().map(|word| Value::Text(word.into())).collect())),
        Type::Entity(_) => Err("a reference follows from names: set the name".into()),
    }
}

/// Evaluates a constant such as `10ppm` or `125MB/s`: its value in base units, and its dimension.
pub fn constant(text: &str) -> Result<(f64, Dim), String> {
    /// Constants read nothing.
    struct Nothing;
    impl World for Nothing {
        fn read(&self, _: Entity, _: Slot) -> State {
            State::Unknown
        }
        fn fired(&self, _: &str, _: Entity) -> State {
            State::Unknown
        }
    }
    let rules = BTreeSet::new();
    let context =
        Context { vocabulary: Catalogue::shared(), roots: &[], variables: &[], allow: Allow::default(), rules: &rules };
    let program = check(text, &context)
        .map_err(|found| found.first().map_or_else(|| "this is no number".to_owned(), |first| first.message.clone()))?;
    match (program.evaluate(&Nothing, &[], &[]).outcome, program.result_type()) {
        (State::Known(Value::Number(number)), Type::Number(Quantity::Scale(dim))) => Ok((number, *dim)),
        _ => Err("this is no constant number".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{BitsPerSecond, Bytes};

    fn snapshot() -> Snapshot {
        let text = r#"{"schema": "netdoctor.snapshot/1", "interfaces": [{"name": "eth0"}, {"name": "eth0.100"}],
            "devices": [{"address": "0000:01:00.0"}]}"#;
        Snapshot::from_json(text).unwrap()
    }

    fn set_one(snapshot: &mut Snapshot, assignment: &str) -> Result<(), String> {
        assign(snapshot, assignment, Source::assumed(""))
    }

    #[test]
    fn values_come_with_or_without_their_unit_and_names_may_hold_dots() {
        let mut snapshot = snapshot();
        for assignment in
            ["eth0.mtu=9000", "eth0.100.mtu=1500B", "eth0.link.speed=25Gbit/s", "0000:01:00.0.pcie.mps=512"]
        {
            assert_eq!(set_one(&mut snapshot, assignment), Ok(()), "{assignment}");
        }
        assert_eq!(snapshot.interface("eth0").unwrap().mtu.known(), Some(&Bytes(9000)));
        assert_eq!(snapshot.interface("eth0.100").unwrap().mtu.known(), Some(&Bytes(1500)));
        assert_eq!(snapshot.interface("eth0").unwrap().link.speed.known(), Some(&BitsPerSecond(25_000_000_000)));
        assert_eq!(snapshot.devices[0].pcie.mps.known(), Some(&Bytes(512)));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let mut snapshot = snapshot();
        for (assignment, told) in [
            ("eth0.mtu", "no assignment"),
            ("eth9.mtu=1500", "no interface"),
            ("eth0.mtuu=1500", "did you mean `mtu`"),
            ("eth0.mtu=3s", "here belongs bit"),
            ("eth0.link.up=perhaps", "true or false"),
            ("eth0.ceiling.typical=1", "follows from other facts"),
            ("eth0.link.duplex=quarter", "half, full"),
        ] {
            let error = set_one(&mut snapshot, assignment).unwrap_err();
            assert!(error.contains(told), "{assignment}: {error}");
        }
    }

    #[test]
    fn counters_are_set_by_their_rows() {
        let mut snapshot = snapshot();
        for assignment in ["eth0.counters.rtnl_link_stats64.rx_packets=0 1e6", "host.counters.snmp.Tcp.OutSegs=7"] {
            assert_eq!(set_one(&mut snapshot, assignment), Ok(()), "{assignment}");
        }
        let block = &snapshot.interface("eth0").unwrap().counters[0];
        assert_eq!((block.at_ms.as_slice(), block.counters[0].total()), (&[0, 3000][..], Some(1_000_000)));
        assert_eq!(snapshot.host.counters.known().unwrap()[0].get("Tcp.OutSegs").unwrap().total(), Some(7));
        assert_eq!(set_one(&mut snapshot, "eth0.counters.rtnl_link_stats64=unknown"), Ok(()));
        assert!(snapshot.interface("eth0").unwrap().counters.is_empty());
        assert!(set_one(&mut snapshot, "eth0.counters.rtnl_link_stats64.rx_packets=-1").is_err());
    }

    #[test]
    fn constants_carry_their_unit() {
        assert!(matches!(constant("10ppm"), Ok((number, Dim::PLAIN)) if (number - 1e-5).abs() < 1e-12));
        assert_eq!(constant("125MB/s"), Ok((1e9, Dim::RATE)));
        assert!(constant("much").is_err());
    }
}
