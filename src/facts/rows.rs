//! Rows: lists of things that belong to an interface or to the host, each a scope of its own.

use super::catalogue::{
    ACTION, CPU, FLOW, IRQ, LANE, LISTENER, MEMBER, NFS, QDISC, QUEUE, REPORTER, ROUTE, SETTING, THREAD, UDP_SOCKET,
};
use super::{Derived, Facts};
use crate::lang::{ScopeId, Value};
use crate::reading::Reading;
use crate::snapshot::{
    BondMember, ConfiguredSetting, Cpu, Flow, HealthReporter, Irq, Listener, ModuleLane, NfsMount, Qdisc, Queue, Route,
    Snapshot, TcAction, Thread, UdpSocket,
};

/// A kind of row: where its lists stand, and what people call one.
pub(super) trait Row: Sized + 'static {
    /// Its scope.
    const SCOPE: ScopeId;
    /// True where the host owns the list, false where each interface has one.
    const OF_HOST: bool;

    /// The list of an owner.
    fn list(snapshot: &Snapshot, owner: usize) -> Option<&Reading<Vec<Self>>>;
    /// The list of an owner, to write in.
    fn list_mut(snapshot: &mut Snapshot, owner: usize) -> Option<&mut Reading<Vec<Self>>>;
    /// What people call it.
    fn name(&self, owner: &str) -> String;

    /// The row at a place of an owner's list.
    fn at(snapshot: &Snapshot, owner: usize, place: usize) -> Option<&Self> {
        Self::list(snapshot, owner)?.known()?.get(place)
    }

    /// The row at a place of an owner's list, to write in.
    fn at_mut(snapshot: &mut Snapshot, owner: usize, place: usize) -> Option<&mut Self> {
        match Self::list_mut(snapshot, owner)? {
            Reading::Known(rows, _) => rows.get_mut(place),
            _ => None,
        }
    }
}

macro_rules! rows {
    ($($row:ident, $scope:ident, $owner:ident.$($place:ident).+, |$self:ident, $of:ident| $name:expr;)*) => {
        $(impl Row for $row {
            const SCOPE: ScopeId = $scope;
            const OF_HOST: bool = rows!(@is_host $owner);

            fn list(snapshot: &Snapshot, owner: usize) -> Option<&Reading<Vec<Self>>> {
                rows!(@list snapshot, owner, $owner).map(|owner| &owner.$($place).+)
            }

            fn list_mut(snapshot: &mut Snapshot, owner: usize) -> Option<&mut Reading<Vec<Self>>> {
                rows!(@list_mut snapshot, owner, $owner).map(|owner| &mut owner.$($place).+)
            }

            fn name(&self, $of: &str) -> String {
                let $self = self;
                $name
            }
        })*

        /// All kinds of rows.
        const KINDS: &[Kind] = &[$(Kind {
            scope: $scope,
            of_host: <$row as Row>::OF_HOST,
            count: |snapshot, owner| <$row as Row>::list(snapshot, owner).and_then(|list| list.known()).map_or(0, Vec::len),
            name: |snapshot, owner, place, of| <$row as Row>::at(snapshot, owner, place).map(|row| row.name(of)),
        }),*];
    };
    (@is_host host) => { true };
    (@is_host interface) => { false };
    (@list $snapshot:ident, $index:ident, host) => { Some(&$snapshot.host).filter(|_| $index == 0) };
    (@list $snapshot:ident, $index:ident, interface) => { $snapshot.interfaces.get($index) };
    (@list_mut $snapshot:ident, $index:ident, host) => { Some(&mut $snapshot.host).filter(|_| $index == 0) };
    (@list_mut $snapshot:ident, $index:ident, interface) => { $snapshot.interfaces.get_mut($index) };
}

rows! {
    BondMember, MEMBER, interface.bond.members, |row, of| format!("{} in {of}", row.name);
    Qdisc, QDISC, interface.qdiscs, |row, of| format!("{} {} of {of}", row.kind, row.handle);
    Queue, QUEUE, interface.queues, |row, of| format!("{}-{} of {of}", if row.tx { "tx" } else { "rx" }, row.index);
    Irq, IRQ, interface.irqs, |row, of| format!("interrupt {} of {of}", row.number);
    ModuleLane, LANE, interface.module.lanes, |row, of| format!("lane {} of {of}", row.lane);
    TcAction, ACTION, interface.tc_actions, |row, of| format!("{} at {} of {of}", row.kind, row.hook);
    HealthReporter, REPORTER, interface.devlink.health, |row, of| format!("{} reporter of {of}", row.name);
    Flow, FLOW, host.flows, |row, _of| format!("{} to {}", row.local, row.peer);
    Listener, LISTENER, host.listeners, |row, _of| row.local.clone();
    UdpSocket, UDP_SOCKET, host.udp_sockets, |row, _of| row.local.clone();
    Route, ROUTE, host.routes, |row, _of| format!("route to {}", row.destination);
    NfsMount, NFS, host.nfs, |row, _of| row.path.clone();
    Cpu, CPU, host.cpu_list, |row, _of| format!("cpu{}", row.number);
    Thread, THREAD, host.threads, |row, _of| row.name.clone();
    ConfiguredSetting, SETTING, host.configured, |row, _of| format!("{}:{}", row.file, row.line);
}

/// A kind of row without its type.
pub(super) struct Kind {
    pub scope: ScopeId,
    /// The host owns the list.
    pub of_host: bool,
    /// Rows of an owner.
    pub count: fn(&Snapshot, usize) -> usize,
    /// Name of a row; the last argument is the name of its owner.
    pub name: fn(&Snapshot, usize, usize, &str) -> Option<String>,
}

/// All kinds of rows.
pub(super) fn kinds() -> &'static [Kind] {
    KINDS
}

/// The kind of a scope; `None` for a scope that is none of rows.
pub(super) fn kind(scope: ScopeId) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.scope == scope)
}

/// Rows of an owner as a list of entities of their scope.
pub(super) fn list<T: Row>(facts: &Facts<'_>, owner: usize) -> Derived {
    match T::list(facts.snapshot(), owner) {
        Some(Reading::Known(rows, source)) => {
            let first = facts.topology().first_row(T::SCOPE, owner);
            let list = (first..first + rows.len()).map(|at| Value::Entity(Facts::entity(T::SCOPE, at)));
            Derived::fact(Value::List(list.collect())).read_at(Some(*source))
        }
        Some(Reading::Absent(source)) => Derived::absent(Vec::new()).read_at(Some(*source)),
        Some(Reading::Unknown(gap)) => Derived::unknown(Vec::new()).because(Some(*gap)),
        None => Derived::none(),
    }
}

/// Declares the facts of a kind of row: readings as in `facts!`, and after `names` the fields that name a row.
macro_rules! row_facts {
    ($row:ty; $($path:literal = $($place:ident).+ : $kind:ty $(as $unit:ident)?, $command:literal, $doc:literal;)*
     names $($key:literal = $field:ident : $key_kind:ty, $key_doc:literal;)*) => {{
        let mut entries = vec![$($crate::facts::entry::Entry {
            path: $path.into(),
            kind: <$kind as $crate::facts::fact::Fact>::kind(),
            unit: $crate::facts::entry::unit_of!($kind $(, $unit)?),
            doc: $doc.into(),
            command: $command,
            access: $crate::facts::entry::Access::Row(
                |snapshot, owner, place| {
                    let row = <$row as $crate::facts::rows::Row>::at(snapshot, owner, place)?;
                    Some($crate::facts::fact::reading::<$kind>(&row.$($place).+))
                },
                |snapshot, owner, place, put| {
                    let row = <$row as $crate::facts::rows::Row>::at_mut(snapshot, owner, place)?;
                    Some($crate::facts::entry::put::<$kind>(&mut row.$($place).+, put))
                },
            ),
        }),*];
        entries.extend([$($crate::facts::entry::derived(
            $key,
            <$key_kind as $crate::facts::fact::Fact>::kind(),
            <$key_kind as $crate::facts::fact::Fact>::UNIT,
            $key_doc,
            |facts, index| match facts.row::<$row>(index) {
                Some((_, row)) => $crate::facts::Derived::fact($crate::facts::fact::Fact::to_value(&row.$field)),
                None => $crate::facts::Derived::none(),
            },
        )),*]);
        entries
    }};
}
pub(super) use row_facts;
