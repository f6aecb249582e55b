//! What the rules may ask: the declared catalogue of facts, and what is derived from a snapshot.

mod assign;
mod catalogue;
mod ceilings;
mod counters;
mod device;
mod entry;
mod events;
mod fact;
mod functions;
mod host;
mod interface;
mod measurements;
mod members;
mod offload;
mod placement;
mod processors;
mod protocols;
mod queues;
mod rows;
mod speed;
mod suspects;
mod sysctl;
mod told;
mod topology;
mod unit;

pub use crate::ceiling::verdict::Verdict as MeasuredVerdict;
pub use assign::{assign, constant};
pub use catalogue::{Catalogue, DEVICE, EVENT, FLOW, HOST, INTERFACE, LINK, MEASUREMENT, MEMBER, QDISC};
pub use ceilings::{
    Asked, InterfaceCeiling, PathCeiling, SetRate, SharedHop, pcie_generation, pcie_raw_rate, shared_hops,
};
pub use counters::{Count, Counted, Lost};
pub use entry::{CounterView, Entry, Put};
pub use events::Event;
pub use measurements::Judged;
pub use unit::{Unit, show, show_number, unit_of_type};

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::formats::shell::{can_be_copied, shell_quote};
use crate::knowledge::Knowledge;
use crate::lang::{Entity, Key, ScopeId, State, Value};
use crate::reading::{Gap, GapId, Reading, SourceId};
use crate::snapshot::{LogLine, Measurement, PcieLink, Snapshot};
use entry::Access;
use topology::Topology;

/// The state of a derived fact and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Known, absent or unknown.
    pub state: State,
    /// The facts that it follows from.
    pub from: Vec<Key>,
    /// Inputs that were assumed, in words.
    pub assumed: Vec<String>,
    /// Where it was read, for a fact that is a reading in another shape.
    pub source: Option<SourceId>,
    /// Why it is unknown, likewise.
    pub gap: Option<GapId>,
}

impl Derived {
    fn of(state: State, from: Vec<Key>) -> Self {
        Self { state, from, assumed: Vec::new(), source: None, gap: None }
    }

    /// A fact that rests on nothing but the snapshot's own shape.
    fn fact(value: Value) -> Self {
        Self::of(State::Known(value), Vec::new())
    }

    fn absent(from: Vec<Key>) -> Self {
        Self::of(State::Absent, from)
    }

    fn unknown(from: Vec<Key>) -> Self {
        Self::of(State::Unknown, from)
    }

    /// Nothing that anybody could read.
    fn none() -> Self {
        Self::unknown(Vec::new())
    }

    fn read_at(mut self, source: Option<SourceId>) -> Self {
        self.source = source;
        self
    }

    fn because(mut self, gap: Option<GapId>) -> Self {
        self.gap = gap;
        self
    }

    fn assuming(mut self, assumed: Vec<String>) -> Self {
        self.assumed = assumed;
        self
    }
}

/// A snapshot with everything that follows from it.
pub struct Facts<'a> {
    snapshot: &'a Snapshot,
    knowledge: &'a Knowledge,
    catalogue: &'static Catalogue,
    topology: Topology,
    derived: RefCell<BTreeMap<Key, Derived>>,
    paths: Vec<OnceCell<PathCeiling>>,
    ceilings: Vec<OnceCell<InterfaceCeiling>>,
    events: OnceCell<Vec<Event>>,
    /// Positions of the events of an interface or a device, in the order of the lines.
    events_by_subject: OnceCell<BTreeMap<Entity, Vec<usize>>>,
}

impl<'a> Facts<'a> {
    /// Facts over a snapshot. Nothing is computed before it is asked for.
    pub fn new(snapshot: &'a Snapshot, knowledge: &'a Knowledge) -> Self {
        Self {
            snapshot,
            knowledge,
            catalogue: Catalogue::shared(),
            topology: Topology::of(snapshot),
            derived: RefCell::default(),
            paths: snapshot.devices.iter().map(|_| OnceCell::new()).collect(),
            ceilings: snapshot.interfaces.iter().map(|_| OnceCell::new()).collect(),
            events: OnceCell::new(),
            events_by_subject: OnceCell::new(),
        }
    }

    /// The snapshot below.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The knowledge in use.
    pub fn knowledge(&self) -> &'a Knowledge {
        self.knowledge
    }

    /// The vocabulary.
    pub fn catalogue(&self) -> &'static Catalogue {
        self.catalogue
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    /// An entity by scope and index.
    pub fn entity(scope: ScopeId, index: usize) -> Entity {
        Entity { scope, index: index as u32 }
    }

    /// All entities of a scope.
    pub fn entities(&self, scope: ScopeId) -> impl Iterator<Item = Entity> + use<> {
        let count = match scope {
            HOST => 1,
            INTERFACE => self.snapshot.interfaces.len(),
            DEVICE => self.snapshot.devices.len(),
            LINK => self.topology.link_count(),
            EVENT => self.events().len(),
            MEASUREMENT => self.snapshot.host.measured.known().map_or(0, Vec::len),
            _ => self.topology.row_count(scope),
        };
        (0..count).map(move |index| Self::entity(scope, index))
    }

    /// The name that people know an entity by: `eth2`, `eth2@ns1`, `0000:01:00.0`, `host`.
    pub fn name(&self, entity: Entity) -> String {
        let index = entity.index as usize;
        match entity.scope {
            INTERFACE => self.snapshot.interfaces.get(index).map_or_else(String::new, |interface| {
                if interface.namespace.is_empty() {
                    interface.name.clone()
                } else {
                    format!("{}@{}", interface.name, interface.namespace)
                }
            }),
            DEVICE => self.snapshot.devices.get(index).map_or_else(String::new, |device| device.address.to_string()),
            LINK => {
                self.topology.link(self.snapshot, index).map_or_else(String::new, |link| match link.upper.known() {
                    Some(upper) => format!("{}-{upper}", link.lower),
                    None => link.lower.to_string(),
                })
            }
            EVENT => self.event(index).map_or_else(String::new, |event| format!("log line {}", event.line + 1)),
            MEASUREMENT => {
                self.measurement(index).map_or_else(String::new, |one| format!("{} result {}", one.tool, index + 1))
            }
            HOST => "host".into(),
            scope => self.row_name(scope, index).unwrap_or_default(),
        }
    }

    /// Named events of the kernel log.
    pub fn events(&self) -> &[Event] {
        self.events.get_or_init(|| events::read(self.snapshot, self.knowledge))
    }

    /// The events of an interface or a device, of the host all of them; each with its position.
    pub fn events_of(&self, subject: Entity) -> impl Iterator<Item = (usize, &Event)> {
        let all = self.events();
        let by_subject = self.events_by_subject.get_or_init(|| events::by_subject(all));
        let own = by_subject.get(&subject).map_or(&[][..], Vec::as_slice).iter().copied();
        let every = if subject.scope == HOST { 0..all.len() } else { 0..0 };
        every.chain(own).map(|at| (at, &all[at]))
    }

    /// A named event.
    pub fn event(&self, index: usize) -> Option<&Event> {
        self.events().get(index)
    }

    /// The line of an event.
    pub fn log_line(&self, event: &Event) -> Option<&'a LogLine> {
        self.snapshot.host.log.known()?.get(event.line)
    }

    /// A measured result.
    pub fn measurement(&self, index: usize) -> Option<&'a Measurement> {
        self.snapshot.host.measured.known()?.get(index)
    }

    /// A row, and the index of its owner.
    fn row<T: rows::Row>(&self, index: usize) -> Option<(usize, &'a T)> {
        let (owner, place) = self.topology.row_place(T::SCOPE, index)?;
        Some((owner, T::at(self.snapshot, owner, place)?))
    }

    /// The interface that a row belongs to; `None` for the host's.
    fn row_owner(&self, scope: ScopeId, index: usize) -> Option<usize> {
        rows::kind(scope).filter(|kind| !kind.of_host)?;
        self.topology.row_place(scope, index).map(|(owner, _)| owner)
    }

    fn row_name(&self, scope: ScopeId, index: usize) -> Option<String> {
        let kind = rows::kind(scope)?;
        let (owner, place) = self.topology.row_place(scope, index)?;
        let of = if kind.of_host { "" } else { &self.snapshot.interfaces.get(owner)?.name };
        (kind.name)(self.snapshot, owner, place, of)
    }

    /// State of the first of these facts.
    fn lookup_state(&self, keys: &[Key]) -> State {
        keys.first().map_or(State::Unknown, |key| self.lookup(*key).state)
    }

    /// A fact under another name.
    fn same_as(&self, scope: ScopeId, index: usize, path: &str) -> Derived {
        let from = self.key(scope, index, path);
        match from.first().copied() {
            Some(key) => Derived { from, ..self.lookup(key) },
            None => Derived::none(),
        }
    }

    /// The interface of that name, or the PCI function of that address.
    pub fn find(&self, name: &str) -> Option<Entity> {
        self.entities(INTERFACE)
            .chain(self.entities(DEVICE))
            .chain(self.entities(HOST))
            .find(|entity| self.name(*entity) == name)
            .or_else(|| {
                let address = name.parse().ok()?;
                Some(Self::entity(DEVICE, self.topology.device(address)?))
            })
    }

    /// Interfaces that an entity concerns.
    pub fn interfaces_of(&self, entity: Entity) -> Vec<usize> {
        let index = entity.index as usize;
        match entity.scope {
            INTERFACE => vec![index],
            DEVICE => self.topology.card_ports(index),
            LINK => {
                self.topology.link_place(index).map_or_else(Vec::new, |(device, _)| self.topology.card_ports(device))
            }
            _ => Vec::new(),
        }
    }

    /// The PCI function of an interface.
    pub fn device_of(&self, interface: usize) -> Option<usize> {
        self.topology.device(*self.snapshot.interfaces.get(interface)?.device.known()?)
    }

    /// The function that speaks for the card of a device.
    pub fn primary(&self, device: usize) -> usize {
        self.topology.card(device).first().copied().unwrap_or(device)
    }

    /// A PCIe link by its index among all links of the snapshot.
    pub fn pcie_link(&self, link: usize) -> Option<&'a PcieLink> {
        self.topology.link(self.snapshot, link)
    }

    /// Key of a fact by its path; empty where the catalogue has no such path.
    pub fn key(&self, scope: ScopeId, index: usize, path: &str) -> Vec<Key> {
        let slot = self.catalogue.slot(scope, path);
        slot.map(|slot| Key { entity: Self::entity(scope, index), slot }).into_iter().collect()
    }

    fn reference(&self, interface: usize, path: &str, name: &Reading<String>) -> Derived {
        let from = self.key(INTERFACE, interface, path);
        match name {
            Reading::Known(name, _) => {
                let namespace = &self.snapshot.interfaces[interface].namespace;
                match self.topology.interface(namespace, name) {
                    Some(other) => Derived::of(State::Known(Value::Entity(Self::entity(INTERFACE, other))), from),
                    None => Derived::unknown(from),
                }
            }
            Reading::Absent(_) => Derived::absent(from),
            Reading::Unknown(_) => Derived::unknown(from),
        }
    }

    /// A reading of the snapshot in terms of the language; `None` for a derived fact.
    fn reading(&self, key: Key) -> Option<Reading<Value>> {
        let index = key.entity.index as usize;
        match self.catalogue.entry(key)?.access {
            Access::Host(get, _) => Some(get(&self.snapshot.host)),
            Access::Interface(get, _) => self.snapshot.interfaces.get(index).map(get),
            Access::Inferred(get, ..) => {
                self.snapshot.interfaces.get(index).map(get).filter(|found| found.gap().is_none())
            }
            Access::Device(get, _) => self.snapshot.devices.get(index).map(get),
            Access::Link(get, _) => self.topology.link(self.snapshot, index).map(get),
            Access::Measurement(get, _) => self.measurement(index).map(get),
            Access::Row(get, _) => {
                let (owner, place) = self.topology.row_place(key.entity.scope, index)?;
                get(self.snapshot, owner, place)
            }
            Access::Sysctl(parameter) => Some(parameter.get(&self.snapshot.host)),
            Access::AtBoot(parameter) => Some(parameter.at_boot(&self.snapshot.host)),
            Access::Offload(offload) => self.snapshot.interfaces.get(index).map(|interface| offload.get(interface)),
            Access::Derived(_) | Access::Counter(..) => None,
        }
    }

    fn derive(&self, key: Key) -> Derived {
        if let Some(known) = self.derived.borrow().get(&key) {
            return known.clone();
        }
        let index = key.entity.index as usize;
        let result = match self.catalogue.entry(key).map(|entry| entry.access) {
            Some(Access::Derived(get) | Access::Inferred(_, _, get)) => get(self, index),
            Some(Access::Counter(counter, view)) => counters::derive(self, key.entity, counter, view),
            _ => Derived::unknown(Vec::new()),
        };
        self.derived.borrow_mut().insert(key, result.clone());
        result
    }

    /// State of a fact, what it rests on, and where it was read or why it is unknown.
    pub fn lookup(&self, key: Key) -> Derived {
        match self.reading(key) {
            Some(Reading::Known(value, source)) => Derived::fact(value).read_at(Some(source)),
            Some(Reading::Absent(source)) => Derived::absent(Vec::new()).read_at(Some(source)),
            Some(Reading::Unknown(gap)) => Derived::unknown(Vec::new()).because(Some(gap)),
            None => self.derive(key),
        }
    }

    /// The readings at the bottom of these facts that are not known, each with its gap.
    pub fn gaps_below(&self, keys: &BTreeSet<Key>) -> BTreeMap<Key, GapId> {
        let mut gaps = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<Key> = keys.iter().copied().collect();
        while let Some(key) = open.pop() {
            if !seen.insert(key) {
                continue;
            }
            let found = self.lookup(key);
            if found.state != State::Unknown {
                continue;
            }
            if found.from.is_empty() {
                gaps.insert(key, found.gap.unwrap_or(GapId::NOT_COLLECTED));
            }
            open.extend(found.from);
        }
        gaps
    }

    /// The gap of an unknown fact and the command that would fill it.
    pub fn gap(&self, key: Key, gap: GapId) -> Gap {
        let mut gap = self.snapshot.origins.gap_of(gap).clone();
        if gap.command.is_empty() {
            gap.command = self.command(key);
        } else if gap.command.contains(Gap::ANY_INTERFACE) {
            // One gap stands for all interfaces; what is typed asks about this one.
            gap.command = match self.interface_of(key).filter(|name| can_be_asked_for(name)) {
                Some(name) => gap.command.replace(Gap::ANY_INTERFACE, &shell_quote(name)),
                None => String::new(),
            };
        }
        gap
    }

    /// The name of the interface that a fact is of, or of that whose row it is of.
    fn interface_of(&self, key: Key) -> Option<&str> {
        let index = key.entity.index as usize;
        let at = if key.entity.scope == INTERFACE { Some(index) } else { self.row_owner(key.entity.scope, index) };
        Some(self.snapshot.interfaces.get(at?)?.name.as_str())
    }

    /// The command that supplies a fact of this entity, ready to be typed; empty where there is none, or where it needs a name
    /// that is not known.
    pub fn command(&self, key: Key) -> String {
        let Some(entry) = self.catalogue.entry(key) else { return String::new() };
        let index = key.entity.index as usize;
        // One placeholder for each scope: a name that looks like the other one must not be filled in a second time.
        let (place, name) = match key.entity.scope {
            DEVICE => ("{bdf}", self.snapshot.devices.get(index).map(|device| device.address.to_string())),
            LINK => ("{bdf}", self.topology.link(self.snapshot, index).map(|link| link.lower.to_string())),
            MEASUREMENT if entry.command.contains("{peer}") => {
                match self.measurement(index).and_then(|one| one.peer_address.known()) {
                    Some(peer) => ("{peer}", Some(peer.clone())),
                    None => return String::new(),
                }
            }
            _ => match self.interface_of(key) {
                Some(name) => ("{if}", Some(name.to_owned())),
                None => return entry.command.into(),
            },
        };
        let name = name.unwrap_or_default();
        if !can_be_asked_for(&name) {
            return String::new();
        }
        entry.command.replace(place, &shell_quote(&name))
    }

    /// True for the driver of an interface or a device.
    pub fn is_driver(&self, key: Key) -> bool {
        matches!(key.entity.scope, INTERFACE | DEVICE)
            && self.catalogue.entry(key).is_some_and(|entry| entry.path == "driver")
    }

    /// The path of a fact with its scope: `iface.link.speed`.
    pub fn path(&self, key: Key) -> String {
        self.catalogue.full_path(key)
    }
}

/// False for an interface that an output does not name, and for names that a tool takes for an option, or that nobody could type as
/// they are shown.
fn can_be_asked_for(name: &str) -> bool {
    !name.starts_with(crate::snapshot::STAND_IN) && !name.starts_with('-') && can_be_copied(name)
}

impl crate::lang::World for Facts<'_> {
    fn read(&self, entity: Entity, slot: crate::lang::Slot) -> State {
        let key = Key { entity, slot };
        match self.reading(key) {
            Some(Reading::Known(value, _)) => State::Known(value),
            Some(Reading::Absent(_)) => State::Absent,
            Some(Reading::Unknown(_)) => State::Unknown,
            None => self.derive(key).state,
        }
    }

    fn fired(&self, _rule: &str, _subject: Entity) -> State {
        State::Unknown
    }
}

/// Puts a reading into a snapshot: rule tests and what-if. Derived facts refuse and name their inputs.
pub fn set(snapshot: &mut Snapshot, entity: Entity, path: &str, put: &Put) -> Result<(), String> {
    let catalogue = Catalogue::shared();
    let slot = catalogue.slot(entity.scope, path).ok_or_else(|| {
        let paths = catalogue.paths_of(entity.scope);
        let near = crate::lang::closest(path, paths.iter().map(String::as_str));
        match near.first() {
            Some(near) => format!("there is no fact `{path}`; did you mean `{near}`?"),
            None => format!("there is no fact `{path}`"),
        }
    })?;
    let index = entity.index as usize;
    let access = catalogue.entry(Key { entity, slot }).map(|entry| entry.access);
    let gone = || format!("there is no such subject to set `{path}` of");
    match access {
        Some(Access::Host(_, set)) => set(&mut snapshot.host, put),
        Some(Access::Interface(_, set) | Access::Inferred(_, set, _)) => {
            set(snapshot.interfaces.get_mut(index).ok_or_else(gone)?, put)
        }
        Some(Access::Device(_, set)) => set(snapshot.devices.get_mut(index).ok_or_else(gone)?, put),
        Some(Access::Link(_, set)) => {
            let (device, place) = Topology::of(snapshot).link_place(index).ok_or_else(gone)?;
            match &mut snapshot.devices[device].pcie.links {
                Reading::Known(links, _) => set(&mut links[place], put),
                _ => Err(gone()),
            }
        }
        Some(Access::Sysctl(parameter)) => parameter.set(&mut snapshot.host, put),
        Some(Access::AtBoot(parameter)) => parameter.set_at_boot(&mut snapshot.host, put),
        Some(Access::Offload(offload)) => offload.set(snapshot.interfaces.get_mut(index).ok_or_else(gone)?, put),
        Some(Access::Measurement(_, set)) => match &mut snapshot.host.measured {
            Reading::Known(all, _) => set(all.get_mut(index).ok_or_else(gone)?, put),
            _ => Err(gone()),
        },
        Some(Access::Row(_, set)) => {
            let (owner, place) = Topology::of(snapshot).row_place(entity.scope, index).ok_or_else(gone)?;
            set(snapshot, owner, place, put).unwrap_or_else(|| Err(gone()))
        }
        Some(Access::Derived(_) | Access::Counter(..)) | None => {
            Err(format!("`{path}` follows from other facts: set those that it follows from"))
        }
    }
    .map_err(|error| format!("{path}: {error}"))
}
