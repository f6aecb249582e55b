//! Kernel log lines as named events, tied to the interface or PCI function that they name.

use std::collections::{BTreeMap, BTreeSet};

use super::catalogue::{DEVICE, EVENT, HOST, INTERFACE};
use super::entry::{Entry, derived};
use super::unit::Unit;
use super::{Derived, Facts};
use crate::formats::kernel_log::link::speed_in;
use crate::knowledge::{EventOf, Knowledge};
use crate::lang::{Dim, Entity, Type, Value, Words};
use crate::reading::Reading;
use crate::snapshot::{LogLine, Snapshot};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position of its kind in the knowledge.
    pub kind: usize,
    /// Position of its line in the log.
    pub line: usize,
    /// Interfaces that it names, or whose PCI function it names.
    pub interfaces: Vec<usize>,
    /// PCI functions that it names.
    pub devices: Vec<usize>,
    /// Speed that the line tells, in bit/s.
    pub speed: Option<f64>,
}

/// Names of all events, as a vocabulary of the language.
pub(super) fn words() -> &'static Words {
    static WORDS: std::sync::OnceLock<Words> = std::sync::OnceLock::new();
    WORDS.get_or_init(|| {
        let names: Vec<&'static str> =
            Knowledge::embedded().log_events().iter().map(|event| event.event.as_str()).collect();
        Words { name: "log event", words: Vec::leak(names), open: false }
    })
}

/// All events of a snapshot's log, in the order of its lines.
pub(super) fn read(snapshot: &Snapshot, knowledge: &Knowledge) -> Vec<Event> {
    let lines = snapshot.host.log.known().map_or(&[][..], Vec::as_slice);
    let mut events = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.to_lowercase();
        for (kind, spec) in knowledge.log_events().iter().enumerate().filter(|(_, spec)| spec.matches(&text)) {
            let (mut interfaces, devices) = snapshot.named_in(&line.text);
            if interfaces.is_empty() && !line.about.is_empty() {
                interfaces.extend(snapshot.interfaces.iter().position(|interface| interface.name == line.about));
            }
            // A line that names no device of this host says nothing about one.
            if spec.of == EventOf::Host || !interfaces.is_empty() || !devices.is_empty() {
                events.push(Event { kind, line: at, interfaces, devices, speed: speed_in(&text) });
            }
        }
    }
    events
}

/// Positions of the events of each interface and device.
pub(super) fn by_subject(events: &[Event]) -> BTreeMap<Entity, Vec<usize>> {
    let mut found: BTreeMap<Entity, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let interfaces = event.interfaces.iter().map(|index| Facts::entity(INTERFACE, *index));
        let devices = event.devices.iter().map(|index| Facts::entity(DEVICE, *index));
        let subjects: BTreeSet<Entity> = interfaces.chain(devices).collect();
        for subject in subjects {
            found.entry(subject).or_default().push(at);
        }
    }
    found
}

/// Facts of an event.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        derived("event", Type::Word(words()), Unit::Plain, "kind of event", |facts, index| {
            facts.event(index).map_or_else(Derived::none, |event| {
                let name = facts.knowledge().log_events()[event.kind].event.as_str();
                Derived::fact(Value::Word(name.into())).read_at(facts.log_line(event).map(|line| line.source))
            })
        }),
        derived("age", Type::number(Dim::TIME), Unit::Seconds, "age of the event", |facts, index| {
            let line = facts.event(index).and_then(|event| facts.log_line(event));
            match line {
                Some(LogLine { age: Some(age), source, .. }) => {
                    Derived::fact(Value::Number(*age)).read_at(Some(*source))
                }
                _ => Derived::none(),
            }
        }),
        derived(
            "since_boot",
            Type::number(Dim::TIME),
            Unit::Seconds,
            "time from the boot until it happened",
            |facts, index| {
                let line = facts.event(index).and_then(|event| facts.log_line(event));
                match line {
                    Some(LogLine { since_boot: Some(after), source, .. }) => {
                        Derived::fact(Value::Number(*after)).read_at(Some(*source))
                    }
                    _ => Derived::none(),
                }
            },
        ),
        derived("speed", Type::number(Dim::RATE), Unit::BitsPerSecond, "speed that the line tells", |facts, index| {
            match facts.event(index).map(|event| (event.speed, facts.log_line(event))) {
                Some((Some(speed), line)) => Derived::fact(Value::Number(speed)).read_at(line.map(|line| line.source)),
                _ => Derived::absent(Vec::new()),
            }
        }),
        derived("text", Type::Text, Unit::Plain, "text of the line", |facts, index| {
            let line = facts.event(index).and_then(|event| facts.log_line(event));
            line.map_or_else(Derived::none, |line| {
                Derived::fact(Value::Text(line.text.as_str().into())).read_at(Some(line.source))
            })
        }),
    ]
}

/// Events of an interface, a PCI function or, for `HOST`, all of them.
pub(super) fn list(facts: &Facts<'_>, scope: crate::lang::ScopeId, index: usize) -> Derived {
    match &facts.snapshot().host.log {
        Reading::Known(_, source) => {
            let events = facts.events_of(Facts::entity(scope, index));
            let list = events.map(|(at, _)| Value::Entity(Facts::entity(EVENT, at))).collect();
            Derived::fact(Value::List(list)).read_at(Some(*source))
        }
        Reading::Absent(_) => Derived::absent(facts.key(HOST, 0, "log_lines")),
        Reading::Unknown(_) => Derived::unknown(facts.key(HOST, 0, "log_lines")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::SourceId;

    fn snapshot(lines: &[&str]) -> Snapshot {
        let text = r#"{"schema": "netdoctor.snapshot/1", "interfaces": [{"name": "eth0", "device": ["0000:01:00.0", "assumed"]}, {"name": "eth1"}],
            "devices": [{"address": "0000:01:00.0"}]}"#;
        let mut snapshot = Snapshot::from_json(text).unwrap();
        let line = |text: &&str| LogLine {
            age: Some(5.0),
            since_boot: None,
            text: (*text).into(),
            source: SourceId::ASSUMED,
            about: String::new(),
        };
        snapshot.host.log = Reading::Known(lines.iter().map(line).collect(), SourceId::ASSUMED);
        snapshot
    }

    fn events(lines: &[&str]) -> Vec<(String, Vec<usize>, Option<f64>)> {
        let knowledge = Knowledge::embedded();
        let found = read(&snapshot(lines), knowledge);
        found
            .into_iter()
            .map(|one| (knowledge.log_events()[one.kind].event.clone(), one.interfaces, one.speed))
            .collect()
    }

    #[test]
    fn a_line_counts_for_the_interface_that_it_names_by_name_or_address() {
        assert_eq!(
            events(&["e1000e 0000:01:00.0 eth0: NIC Link is Up 1000 Mbps Full Duplex"]),
            [("link_up".into(), vec![0], Some(1e9))]
        );
        assert_eq!(events(&["igb 01:00.0: Detected Tx Unit Hang"]), [("tx_hang".into(), vec![0], None)]);
        assert_eq!(events(&["r8169 0000:05:00.0 eth5: Link is Down"]), [], "a port that is not there");
        assert_eq!(events(&["eth10: link down"]), [], "eth1 is not eth10");
    }

    #[test]
    fn a_radio_is_of_its_interface() {
        let mut snapshot = snapshot(&["ieee80211 phy1: brcmf_fw_crashed: Firmware has halted or crashed"]);
        assert_eq!(read(&snapshot, Knowledge::embedded()), []);
        snapshot.interfaces[1].wireless.phy = Reading::Known("phy1".into(), SourceId::ASSUMED);
        assert_eq!(read(&snapshot, Knowledge::embedded())[0].interfaces, [1]);
    }

    #[test]
    fn host_events_need_no_device_and_lookalikes_are_told_apart() {
        assert_eq!(events(&["nf_conntrack: nf_conntrack: table full, dropping packet"])[0].0, "conntrack_full");
        let expectation = events(&["nf_conntrack: expectation table full"]);
        assert_eq!(expectation.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(), ["conntrack_expect_full"]);
        assert_eq!(events(&["nfs: server nas1 not responding, still trying"])[0].0, "nfs_not_responding");
    }
}
