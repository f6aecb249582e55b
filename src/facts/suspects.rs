//! What was reported of the hardware of a driver, as facts of its interfaces.

use super::catalogue::INTERFACE;
use super::entry::{Entry, derived};
use super::unit::Unit;
use super::{Derived, Facts};
use crate::knowledge::Suspect;
use crate::lang::{State, Type, Value};
use crate::reading::Reading;

/// Facts `iface.knowledge.eee.*`.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        derived(
            "knowledge.eee.suspect",
            Type::Bool,
            Unit::Plain,
            "reports of trouble with Energy Efficient Ethernet: of its driver's hardware",
            |facts, index| eee(facts, index, |suspect| Some(Value::Bool(suspect.is_some()))),
        ),
        derived(
            "knowledge.eee.hardware",
            Type::Text,
            Unit::Plain,
            "hardware that such reports name",
            |facts, index| eee(facts, index, |suspect| Some(Value::Text(suspect?.hardware.as_str().into()))),
        ),
        derived("knowledge.eee.reported", Type::Text, Unit::Plain, "content of such reports", |facts, index| {
            eee(facts, index, |suspect| Some(Value::Text(suspect?.reported.as_str().into())))
        }),
    ]
}

fn eee(facts: &Facts<'_>, index: usize, tell: fn(Option<&Suspect>) -> Option<Value>) -> Derived {
    let from = facts.key(INTERFACE, index, "driver");
    match &facts.snapshot().interfaces[index].driver.name {
        Reading::Known(driver, _) => {
            let suspect = facts.knowledge().suspects().eee.iter().find(|suspect| suspect.driver == *driver);
            Derived::of(tell(suspect).map_or(State::Absent, State::Known), from)
        }
        Reading::Absent(_) => Derived::absent(from),
        Reading::Unknown(_) => Derived::unknown(from),
    }
}
