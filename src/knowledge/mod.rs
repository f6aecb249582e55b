//! Facts about counters, drivers and buses that no host tells of itself: data in knowledge/, embedded by build.rs.

pub mod buses;
mod embedded;
mod pattern;
pub mod schema;

use std::collections::BTreeMap;
use std::sync::OnceLock;

pub use pattern::matches;
pub use schema::{CanonicalCounter, DriverCounter, DriverCounters, Drivers, EventOf, LogEventSpec, Place};

use buses::Buses;
use embedded::{BUSES, CANONICAL_COUNTERS, COUNTERS, DRIVERS, LOG_EVENTS};

/// The embedded knowledge. Sections are parsed when they are first asked for.
#[derive(Debug, Default)]
pub struct Knowledge {
    canonical: OnceLock<Vec<CanonicalCounter>>,
    drivers: OnceLock<Drivers>,
    buses: OnceLock<Buses>,
    log_events: OnceLock<Vec<LogEventSpec>>,
    counters: OnceLock<BTreeMap<&'static str, OnceLock<Option<DriverCounters>>>>,
}

impl Knowledge {
    /// The knowledge that this binary was built with.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: OnceLock<Knowledge> = OnceLock::new();
        EMBEDDED.get_or_init(Self::default)
    }

    /// Canonical counters in the order of their file.
    pub fn canonical_counters(&self) -> &[CanonicalCounter] {
        self.canonical.get_or_init(|| section("canonical-counters", CANONICAL_COUNTERS))
    }

    /// Which drivers are hardware.
    pub fn drivers(&self) -> &Drivers {
        self.drivers.get_or_init(|| section("drivers", DRIVERS))
    }

    /// Kinds of kernel log lines.
    pub fn log_events(&self) -> &[LogEventSpec] {
        self.log_events.get_or_init(|| section("log-events", LOG_EVENTS))
    }

    /// Constants of buses and protocols.
    pub fn buses(&self) -> &Buses {
        self.buses.get_or_init(|| section("buses", BUSES))
    }

    /// The counters of a driver, if it is known.
    pub fn driver_counters(&self, driver: &str) -> Option<&DriverCounters> {
        let sections =
            self.counters.get_or_init(|| COUNTERS.iter().map(|(name, _)| (*name, OnceLock::new())).collect());
        let text = COUNTERS.iter().find(|(name, _)| *name == driver)?.1;
        sections.get(driver)?.get_or_init(|| Some(section(driver, text))).as_ref()
    }

    /// Drivers whose counters are known, in alphabetical order.
    pub fn counter_drivers() -> impl Iterator<Item = &'static str> {
        COUNTERS.iter().map(|(name, _)| *name)
    }

    /// True for a driver of hardware ports, false for one of made-up ports; `None` where it is in neither list.
    pub fn is_hardware(&self, driver: &str) -> Option<bool> {
        let drivers = self.drivers();
        if drivers.hardware.iter().any(|name| name == driver) {
            Some(true)
        } else if drivers.virtual_ports.iter().any(|name| name == driver) {
            Some(false)
        } else {
            None
        }
    }
}

/// Parses an embedded section. build.rs wrote it from the same types, so it can't fail but by a fault of ours.
fn section<T: serde::de::DeserializeOwned>(name: &str, json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("embedded section {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_file_maps_to_canonical_names_only() {
        let knowledge = Knowledge::default();
        let names: Vec<_> = knowledge.canonical_counters().iter().map(|counter| counter.name.as_str()).collect();
        for driver in Knowledge::counter_drivers() {
            let counters = knowledge.driver_counters(driver).unwrap();
            assert_eq!(counters.driver, driver);
            for (name, counter) in &counters.canonical {
                assert!(names.contains(&name.as_str()), "{driver}: {name} is no canonical counter");
                assert!(!counter.add.is_empty(), "{driver}: {name} has no name to add");
            }
        }
    }

    #[test]
    fn no_driver_is_both_hardware_and_made_up() {
        let drivers = Knowledge::embedded().drivers();
        for name in &drivers.hardware {
            assert!(!drivers.virtual_ports.contains(name), "{name}");
        }
    }
}
