//! The declared vocabulary: every fact with its path, type, unit, meaning and command.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::entry::{Access, CounterView, Entry};
use super::unit::Unit;
use super::{
    counters, device, events, functions, host, interface, measurements, members, processors, protocols, queues,
};
use crate::knowledge::schema::{CounterSubject, CounterUnit};
use crate::knowledge::{CanonicalCounter, Knowledge};
use crate::lang::{Dim, Function, Key, ScopeId, Slot, Type, Vocabulary};

/// The host.
pub const HOST: ScopeId = ScopeId(0);
/// A network interface.
pub const INTERFACE: ScopeId = ScopeId(1);
/// A PCI function of class network.
pub const DEVICE: ScopeId = ScopeId(2);
/// A PCIe link on the path of such a function.
pub const LINK: ScopeId = ScopeId(3);

/// A named event of the kernel log.
pub const EVENT: ScopeId = ScopeId(4);
/// A measured result.
pub const MEASUREMENT: ScopeId = ScopeId(5);
/// A member of a bond.
pub const MEMBER: ScopeId = ScopeId(6);
/// A queueing discipline.
pub const QDISC: ScopeId = ScopeId(7);

/// A queue of an interface.
pub const QUEUE: ScopeId = ScopeId(8);
/// An interrupt of an interface.
pub const IRQ: ScopeId = ScopeId(9);
/// A lane of a pluggable module.
pub const LANE: ScopeId = ScopeId(10);
/// An action of a filter of an interface.
pub const ACTION: ScopeId = ScopeId(11);
/// A health reporter of devlink.
pub const REPORTER: ScopeId = ScopeId(12);
/// A TCP connection.
pub const FLOW: ScopeId = ScopeId(13);
/// A route.
pub const ROUTE: ScopeId = ScopeId(14);
/// An NFS mount.
pub const NFS: ScopeId = ScopeId(15);
/// A setting in a file.
pub const SETTING: ScopeId = ScopeId(16);
/// An online CPU.
pub const CPU: ScopeId = ScopeId(17);
/// A kernel thread that works for the network.
pub const THREAD: ScopeId = ScopeId(18);
/// A TCP socket that waits for connections.
pub const LISTENER: ScopeId = ScopeId(19);
/// A UDP socket.
pub const UDP_SOCKET: ScopeId = ScopeId(20);

/// Names of the scopes as expressions use them.
const NAMES: [(&str, ScopeId); 21] = [
    ("host", HOST),
    ("iface", INTERFACE),
    ("device", DEVICE),
    ("link", LINK),
    ("event", EVENT),
    ("measurement", MEASUREMENT),
    ("member", MEMBER),
    ("qdisc", QDISC),
    ("queue", QUEUE),
    ("irq", IRQ),
    ("lane", LANE),
    ("action", ACTION),
    ("reporter", REPORTER),
    ("flow", FLOW),
    ("route", ROUTE),
    ("nfs", NFS),
    ("setting", SETTING),
    ("cpu", CPU),
    ("thread", THREAD),
    ("listener", LISTENER),
    ("udp_socket", UDP_SOCKET),
];

/// All facts.
pub struct Catalogue {
    scopes: Vec<Vec<Entry>>,
    index: Vec<BTreeMap<String, u32>>,
    functions: Vec<Function>,
}

impl Catalogue {
    /// The one catalogue of this program.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Catalogue> = OnceLock::new();
        SHARED.get_or_init(Self::build)
    }

    fn build() -> Self {
        let mut scopes = vec![
            host::entries(),
            interface::entries(),
            device::entries(),
            device::link_entries(),
            events::entries(),
            measurements::entries(),
            members::member_entries(),
            members::qdisc_entries(),
            queues::queue_entries(),
            queues::irq_entries(),
            queues::lane_entries(),
            queues::action_entries(),
            queues::reporter_entries(),
            protocols::flow_entries(),
            protocols::route_entries(),
            protocols::nfs_entries(),
            protocols::setting_entries(),
            processors::cpu_entries(),
            processors::thread_entries(),
            protocols::listener_entries(),
            protocols::udp_socket_entries(),
        ];
        scopes[usize::from(INTERFACE.0)].extend(counters::entries());
        for (number, counter) in Knowledge::embedded().canonical_counters().iter().enumerate() {
            let scope = match counter.subject {
                CounterSubject::Host => HOST,
                CounterSubject::Interface => INTERFACE,
                CounterSubject::PciDevice => DEVICE,
            };
            scopes[usize::from(scope.0)].extend(counter_entries(number as u16, counter));
        }
        let index = scopes
            .iter()
            .map(|entries| entries.iter().enumerate().map(|(slot, entry)| (entry.path.clone(), slot as u32)).collect())
            .collect();
        Self { scopes, index, functions: functions::functions() }
    }

    /// The entry of a fact.
    pub fn entry(&self, key: Key) -> Option<&Entry> {
        self.scopes.get(usize::from(key.entity.scope.0))?.get(key.slot.0 as usize)
    }

    /// The slot of a path.
    pub fn slot(&self, scope: ScopeId, path: &str) -> Option<Slot> {
        self.index.get(usize::from(scope.0))?.get(path).copied().map(Slot)
    }

    /// The entry of a slot.
    pub fn at(&self, scope: ScopeId, slot: Slot) -> Option<&Entry> {
        self.scopes.get(usize::from(scope.0))?.get(slot.0 as usize)
    }

    /// All paths of a scope in the order of the catalogue.
    pub fn paths_of(&self, scope: ScopeId) -> Vec<String> {
        self.scopes
            .get(usize::from(scope.0))
            .map_or_else(Vec::new, |entries| entries.iter().map(|entry| entry.path.clone()).collect())
    }

    /// The path of a fact with its scope.
    pub fn full_path(&self, key: Key) -> String {
        let path = self.entry(key).map_or("?", |entry| entry.path.as_str());
        format!("{}.{path}", self.scope_name(key.entity.scope))
    }

    /// Every fact: scope name and entry.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, ScopeId, Slot, &Entry)> {
        NAMES.iter().flat_map(|(name, scope)| {
            let entries = &self.scopes[usize::from(scope.0)];
            entries.iter().enumerate().map(move |(slot, entry)| (*name, *scope, Slot(slot as u32), entry))
        })
    }
}

fn counter_entries(number: u16, counter: &'static CanonicalCounter) -> Vec<Entry> {
    let (shown, per_second, dim) = match counter.unit {
        CounterUnit::Bytes => (Unit::Bytes, Unit::BytesPerSecond, Dim::DATA),
        CounterUnit::Bits => (Unit::Plain, Unit::BitsPerSecond, Dim::DATA),
        CounterUnit::Packets => (Unit::Packets, Unit::PacketsPerSecond, Dim::PLAIN),
        CounterUnit::Microseconds | CounterUnit::Milliseconds | CounterUnit::Seconds => {
            (Unit::Seconds, Unit::Share, Dim::TIME)
        }
        CounterUnit::Events
        | CounterUnit::Segments
        | CounterUnit::Blocks
        | CounterUnit::Ticks
        | CounterUnit::Percent => (Unit::Plain, Unit::Plain, Dim::PLAIN),
    };
    let rate = Dim { data: dim.data, time: dim.time - 1 };
    let entry = |view: CounterView, suffix: &str, kind, unit| Entry {
        path: format!("counter.{}.{suffix}", counter.name),
        kind,
        unit,
        doc: format!("{}{}", view.words(), counter.definition),
        command: &counter.command,
        access: Access::Counter(number, view),
    };
    let mut entries = vec![
        entry(CounterView::Total, "total", Type::number(dim), shown),
        entry(CounterView::Growth, "growth", Type::number(dim), shown),
        entry(CounterView::Rate, "rate", Type::number(rate), per_second),
    ];
    if counter.per.is_some() {
        entries.push(entry(CounterView::Parts, "parts", Type::PLAIN, Unit::Plain));
    }
    entries
}

impl Vocabulary for Catalogue {
    fn scope(&self, name: &str) -> Option<ScopeId> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, scope)| *scope)
    }

    fn scope_name(&self, scope: ScopeId) -> &str {
        NAMES.iter().find(|(_, known)| *known == scope).map_or("?", |(name, _)| name)
    }

    fn fact(&self, scope: ScopeId, path: &str) -> Option<(Slot, Type)> {
        let slot = self.slot(scope, path)?;
        self.at(scope, slot).map(|entry| (slot, entry.kind.clone()))
    }

    fn paths(&self, scope: ScopeId) -> Vec<String> {
        self.paths_of(scope)
    }

    fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    fn function_names(&self) -> Vec<&'static str> {
        self.functions.iter().map(|function| function.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_is_declared_twice_and_each_has_a_meaning() {
        let catalogue = Catalogue::shared();
        for (scope, entries) in catalogue.scopes.iter().enumerate() {
            assert_eq!(catalogue.index[scope].len(), entries.len(), "scope {scope}");
            for entry in entries {
                assert!(!entry.doc.is_empty(), "{}", entry.path);
                assert!(entry.is_derived() || !entry.command.is_empty(), "{} names no command", entry.path);
            }
        }
    }
}
