//! One line of the fact catalogue: what a fact is called, what it is, where it comes from and how to set it.

use super::offload::Offload;
use super::sysctl::Parameter;
use super::unit::Unit;
use super::{Derived, Facts};
use crate::lang::{Type, Value};
use crate::reading::{GapId, Reading, SourceId};
use crate::snapshot::{Host, Interface, Measurement, PciDevice, PcieLink, Snapshot};

/// What is put into a reading.
#[derive(Clone, Debug, PartialEq)]
pub enum Put {
    /// A value.
    Known(Value, SourceId),
    /// There is no such thing.
    Absent(SourceId),
    /// It is not known.
    Unknown(GapId),
}

type Get<S> = fn(&S) -> Reading<Value>;
type Set<S> = fn(&mut S, &Put) -> Result<(), String>;

pub(super) type RowGet = fn(&Snapshot, usize, usize) -> Option<Reading<Value>>;
pub(super) type RowSet = fn(&mut Snapshot, usize, usize, &Put) -> Option<Result<(), String>>;

/// Where a fact is read and written.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// A reading of the host.
    Host(Get<Host>, Set<Host>),
    /// A reading of an interface.
    Interface(Get<Interface>, Set<Interface>),
    /// A reading of an interface that, where it was not read, follows from others.
    Inferred(Get<Interface>, Set<Interface>, fn(&Facts<'_>, usize) -> Derived),
    /// A reading of a PCI function.
    Device(Get<PciDevice>, Set<PciDevice>),
    /// A reading of a PCIe link.
    Link(Get<PcieLink>, Set<PcieLink>),
    /// A reading of a measured result.
    Measurement(Get<Measurement>, Set<Measurement>),
    /// A reading of a row, by its owner (an interface, or 0 for the host) and its place in the list.
    Row(RowGet, RowSet),
    /// A kernel parameter of the host.
    Sysctl(Parameter),
    /// What files set a kernel parameter to at boot.
    AtBoot(Parameter),
    /// A view of an offload feature of an interface.
    Offload(Offload),
    /// It follows from other facts.
    Derived(fn(&Facts<'_>, usize) -> Derived),
    /// A view of the canonical counter of this index.
    Counter(u16, CounterView),
}

/// What of a counter is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterView {
    /// The newest value.
    Total,
    /// Difference between the samples.
    Growth,
    /// That difference per second.
    Rate,
    /// How many parts were counted, of a counter that is kept for queues, CPUs, leaves or members.
    Parts,
}

impl CounterView {
    /// What the description of a counter begins with.
    pub fn words(self) -> &'static str {
        match self {
            Self::Total => "in total: ",
            Self::Growth => "within the sample: ",
            Self::Rate => "per second of the sample: ",
            Self::Parts => "number of its parts: ",
        }
    }
}

/// One line of the catalogue.
pub struct Entry {
    /// Path below its scope, for example `link.speed`.
    pub path: String,
    /// Type in the language.
    pub kind: Type,
    /// Unit in which it is shown.
    pub unit: Unit,
    /// What it says, in one line.
    pub doc: String,
    /// Command that supplies it, with `{if}`, `{bdf}` or `{peer}` where a name belongs; empty for derived facts.
    pub command: &'static str,
    pub(super) access: Access,
}

impl Entry {
    /// True for a fact that follows from others.
    pub fn is_derived(&self) -> bool {
        matches!(self.access, Access::Derived(_) | Access::Counter(..))
    }
}

/// Turns a reading of an interface into one that follows from others where it was not read.
pub(super) fn inferred(mut entry: Entry, derive: fn(&Facts<'_>, usize) -> Derived) -> Entry {
    if let Access::Interface(get, set) = entry.access {
        entry.access = Access::Inferred(get, set, derive);
    }
    entry
}

/// Writes `put` into a reading of type `T`.
pub(super) fn put<T: super::fact::Fact>(target: &mut Reading<T>, put: &Put) -> Result<(), String> {
    *target = match put {
        Put::Known(value, source) => Reading::Known(T::from_value(value)?, *source),
        Put::Absent(source) => Reading::Absent(*source),
        Put::Unknown(gap) => Reading::Unknown(*gap),
    };
    Ok(())
}

/// Declares the readings of one scope: `"path" = place: type, unit?, "command", "doc";`.
macro_rules! facts {
    ($access:ident, $subject:ty; $($path:literal = $($place:ident).+ : $kind:ty $(as $unit:ident)?, $command:literal, $doc:literal;)*) => {
        vec![$($crate::facts::entry::Entry {
            path: $path.into(),
            kind: <$kind as $crate::facts::fact::Fact>::kind(),
            unit: $crate::facts::entry::unit_of!($kind $(, $unit)?),
            doc: $doc.into(),
            command: $command,
            access: $crate::facts::entry::Access::$access(
                |subject: &$subject| $crate::facts::fact::reading::<$kind>(&subject.$($place).+),
                |subject: &mut $subject, put| $crate::facts::entry::put::<$kind>(&mut subject.$($place).+, put),
            ),
        }),*]
    };
}

macro_rules! unit_of {
    ($kind:ty) => {
        <$kind as $crate::facts::fact::Fact>::UNIT
    };
    ($kind:ty, $unit:ident) => {
        $crate::facts::unit::Unit::$unit
    };
}

pub(super) use {facts, unit_of};

/// A derived fact.
pub(super) fn derived(path: &str, kind: Type, unit: Unit, doc: &str, get: fn(&Facts<'_>, usize) -> Derived) -> Entry {
    Entry { path: path.into(), kind, unit, doc: doc.into(), command: "", access: Access::Derived(get) }
}
