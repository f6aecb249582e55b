//! Facts about counters, drivers and buses that no host tells of itself: data in knowledge/, embedded by build.rs.

pub mod buses;
mod embedded;
mod pattern;
pub mod schema;

use std::sync::OnceLock;

pub use pattern::{holes, matches, unnumbered};
pub use schema::{
    CanonicalCounter, Class, DriverCounter, DriverCounters, Drivers, EventOf, KeptForm, KeptSetting, LogEventSpec,
    Manager, Persistence, Place, Suspect, Suspects,
};

use buses::Buses;
use embedded::{BUSES, CANONICAL_COUNTERS, COUNTER_NAMES, COUNTERS, DRIVERS, LOG_EVENTS, PERSISTENCE, SUSPECTS};
use schema::{CounterNames, CounterUnit, NameGroup};

/// What a driver's own counter tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified<'a> {
    /// Cause.
    pub class: Class,
    /// Unit.
    pub unit: CounterUnit,
    /// True where growth means lost packets.
    pub is_drop: bool,
    /// True where growth alone is no finding.
    pub benign: bool,
    /// True for a level, of which no difference may be taken.
    pub gauge: bool,
    /// Fields of `rtnl_link_stats64` that contain this count.
    pub in_rtnl: &'a [String],
    /// Width in bits, where it is known to be narrower than 64.
    pub width: Option<u8>,
    /// True where the name was not found in the driver sources that were read.
    pub unproven: bool,
}

/// The embedded knowledge. Sections are parsed when they are first asked for.
#[derive(Debug, Default)]
pub struct Knowledge {
    canonical: OnceLock<Vec<CanonicalCounter>>,
    drivers: OnceLock<Drivers>,
    buses: OnceLock<Buses>,
    log_events: OnceLock<Vec<LogEventSpec>>,
    suspects: OnceLock<Suspects>,
    counter_names: OnceLock<CounterNames>,
    persistence: OnceLock<Persistence>,
    counters: OnceLock<Vec<OnceLock<DriverCounters>>>,
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

    /// True for a kind of queueing discipline that drops to keep its queue short, so that a drop is no loss by itself.
    pub fn drops_on_purpose(&self, qdisc: &str) -> bool {
        let dropped = self.canonical_counters().iter().filter(|counter| counter.name == "qdisc_dropped");
        dropped.flat_map(|counter| &counter.generic).any(|source| source.ambiguous_in.iter().any(|kind| kind == qdisc))
    }

    /// Which drivers are hardware.
    pub fn drivers(&self) -> &Drivers {
        self.drivers.get_or_init(|| section("drivers", DRIVERS))
    }

    /// Kinds of kernel log lines.
    pub fn log_events(&self) -> &[LogEventSpec] {
        self.log_events.get_or_init(|| section("log-events", LOG_EVENTS))
    }

    /// Hardware that misbehaves under a setting.
    pub fn suspects(&self) -> &Suspects {
        self.suspects.get_or_init(|| section("suspects", SUSPECTS))
    }

    /// What names in `ethtool -S` prove by themselves.
    fn counter_names(&self) -> &CounterNames {
        self.counter_names.get_or_init(|| section("counter-names", COUNTER_NAMES))
    }

    /// The driver that lists counters of these names. `None` where they fit several drivers, or nobody knows.
    pub fn driver_of_names<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Option<&str> {
        let mut told = self.told_by(names).filter(|drivers| drivers.len() == 1).flatten();
        let first = told.next()?;
        told.all(|other| other == first).then_some(first.as_str())
    }

    /// True where counters of these names show a port of hardware, whatever its driver.
    pub fn are_of_hardware<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> bool {
        let hardware = &self.counter_names().hardware;
        names.clone().any(|name| hardware.iter().any(|held| held == name))
            || self.told_by(names).flatten().any(|driver| self.is_hardware(driver) == Some(true))
    }

    fn told_by<'k, 'n>(
        &'k self,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> impl Iterator<Item = &'k Vec<String>> {
        let fits =
            move |patterns: &[String]| names.clone().any(|name| patterns.iter().any(|pattern| matches(pattern, name)));
        self.counter_names().told.iter().filter(move |entry| fits(&entry.names)).map(|entry| &entry.drivers)
    }

    /// How temporary settings are made to last.
    pub fn persistence(&self) -> &Persistence {
        self.persistence.get_or_init(|| section("persistence", PERSISTENCE))
    }

    /// Constants of buses and protocols.
    pub fn buses(&self) -> &Buses {
        self.buses.get_or_init(|| section("buses", BUSES))
    }

    /// The counters of a driver, by its name or another name of a driver with the same counters.
    pub fn driver_counters(&self, driver: &str) -> Option<&DriverCounters> {
        let sections = self.counters.get_or_init(|| COUNTERS.iter().map(|_| OnceLock::new()).collect());
        let number = COUNTERS.iter().position(|(name, aliases, _)| *name == driver || aliases.contains(&driver))?;
        let (name, _, text) = COUNTERS[number];
        Some(sections.get(number)?.get_or_init(|| section(name, text)))
    }

    /// Drivers whose counters are known, in alphabetical order.
    pub fn counter_drivers() -> impl Iterator<Item = &'static str> {
        COUNTERS.iter().map(|(name, _, _)| *name)
    }

    /// What a driver's own counter tells, by its name as `ethtool -S` prints it. `None` where nobody classified it: such a
    /// name proves nothing, whatever words are in it.
    pub fn classify(&self, driver: &str, name: &str) -> Option<Classified<'_>> {
        let group = self.name_group(driver, name)?;
        Some(Classified {
            class: group.class,
            unit: group.unit,
            is_drop: group.drop.unwrap_or_else(|| group.class.loses_packets()) && !group.benign && !group.gauge,
            benign: group.benign,
            gauge: group.gauge,
            in_rtnl: &group.rtnl,
            width: group.width,
            unproven: group.unproven,
        })
    }

    fn name_group(&self, driver: &str, name: &str) -> Option<&NameGroup> {
        let groups = &self.driver_counters(driver)?.names;
        groups.iter().find(|group| group.names.iter().any(|pattern| matches(pattern, unnumbered(name))))
    }

    /// Width in bits of a driver's own counter that is known to be narrower than 64.
    pub fn counter_width(&self, driver: &str, name: &str) -> Option<u8> {
        self.name_group(driver, name)?.width
    }

    /// True for a driver of wireless cards.
    pub fn is_wireless(&self, driver: &str) -> bool {
        self.drivers().wireless.iter().any(|name| name == driver)
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
                let sources = [&counter.add, &counter.instead, &counter.inside, &counter.rtnl];
                assert!(sources.iter().any(|names| !names.is_empty()), "{driver}: {name} names no source");
            }
        }
    }

    #[test]
    fn no_driver_counts_a_name_as_two_losses() {
        let knowledge = Knowledge::default();
        let losses: Vec<_> = knowledge.canonical_counters().iter().filter(|counter| counter.loss).collect();
        for driver in Knowledge::counter_drivers() {
            let counters = knowledge.driver_counters(driver).unwrap();
            let mut seen = Vec::new();
            // Counters that are kept for queues show parts of others.
            for loss in losses.iter().filter(|loss| loss.per.is_none()) {
                let Some(own) = counters.canonical.get(&loss.name) else { continue };
                for name in own.add.iter().filter(|name| !own.less.contains(name)) {
                    assert!(!seen.contains(&name), "{driver}: {name} in {} and in another", loss.name);
                    seen.push(name);
                }
                for name in own.add.iter().chain(&own.instead) {
                    let classified = counters.names.iter().any(|group| group.names.contains(name));
                    assert!(classified, "{driver}: {name} of {} has no class", loss.name);
                }
            }
        }
    }

    #[test]
    fn no_driver_keeps_two_places_in_one_kernel_field() {
        let knowledge = Knowledge::default();
        let placed: Vec<_> = knowledge.canonical_counters().iter().filter(|counter| counter.place.is_some()).collect();
        for driver in Knowledge::counter_drivers() {
            let counters = knowledge.driver_counters(driver).unwrap();
            let mut seen: Vec<&String> = Vec::new();
            for own in placed.iter().filter_map(|counter| counters.canonical.get(&counter.name)) {
                for field in own.rtnl.iter().filter(|field| !own.rtnl_less.contains(field)) {
                    assert!(!seen.contains(&field), "{driver}: {field}");
                    seen.push(field);
                }
            }
        }
    }

    #[test]
    fn names_have_a_class_by_driver() {
        let knowledge = Knowledge::embedded();
        let missed = knowledge.classify("r8169", "rx_missed").unwrap();
        assert_eq!((missed.class, missed.is_drop, missed.width), (Class::HostTooSlow, true, Some(16)));
        assert_eq!(knowledge.classify("r8125", "rx_missed"), Some(missed), "an alias");
        let early = knowledge.classify("igb", "rx_no_buffer_count").unwrap();
        assert!(!early.is_drop, "the frame may be kept in the FIFO");
        assert_eq!(knowledge.classify("igb", "rx_queue_3_drops").unwrap().in_rtnl, ["rx_fifo_errors"]);
        assert!(knowledge.classify("mlx5_core", "outbound_pci_stalled_wr").unwrap().gauge);
        assert_eq!(knowledge.classify("igb", "rx_drop_of_doom"), None, "no guess by words");
        assert_eq!(knowledge.classify("no_such_driver", "rx_missed"), None);
        assert!(serde_json::to_string(&missed.class).unwrap().contains(missed.class.word()));
    }

    #[test]
    fn names_that_tell_a_driver_are_of_no_other() {
        let knowledge = Knowledge::embedded();
        for entry in &knowledge.counter_names().told {
            for driver in &entry.drivers {
                let hardware = knowledge.is_hardware(driver);
                assert!(hardware.is_some() && (entry.drivers.len() == 1 || hardware == Some(true)), "{driver}");
            }
            for (name, other) in
                entry.names.iter().flat_map(|name| Knowledge::counter_drivers().map(move |d| (name, d)))
            {
                let lists = knowledge.driver_counters(other).unwrap();
                let lists = lists.names.iter().any(|group| group.names.contains(name))
                    || lists.canonical.values().any(|own| own.add.contains(name) || own.instead.contains(name));
                assert!(!lists || entry.drivers.iter().any(|driver| driver == other), "{other} has {name} too");
            }
        }
        let driver = |names: &[&'static str]| knowledge.driver_of_names(names.iter().copied());
        assert_eq!(driver(&["rx_packets", "rxq12: rx_drops_no_frags"]), Some("be2net"));
        assert_eq!(driver(&["rx_crc_errors", "tx_dropped", "corr_ecc_errors"]), Some("e1000e"));
        assert_eq!(driver(&["rx_missed_errors"]), None, "many drivers have it");
        assert_eq!(driver(&["rx_no_dma_resources"]), None, "two drivers have it");
        assert_eq!(driver(&["rx_out_of_buffer", "peer_ifindex"]), None, "of two lists");
        let hardware = |names: &[&'static str]| knowledge.are_of_hardware(names.iter().copied());
        assert!(hardware(&["rx_missed_errors"]) && hardware(&["rx_no_dma_resources"]) && hardware(&["rxbds_empty"]));
        assert!(!hardware(&["rx_packets", "tx_dropped"]) && !hardware(&["peer_ifindex"]) && !hardware(&["tx3_kicks"]));
    }

    #[test]
    fn aliases_name_one_driver() {
        let mut names: Vec<&str> = Knowledge::counter_drivers().collect();
        for driver in Knowledge::counter_drivers() {
            let aliases = &Knowledge::embedded().driver_counters(driver).unwrap().aliases;
            names.extend(aliases.iter().map(String::as_str));
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn no_driver_is_both_hardware_and_made_up() {
        let drivers = Knowledge::embedded().drivers();
        for name in &drivers.hardware {
            assert!(!drivers.virtual_ports.contains(name), "{name}");
            assert!(!drivers.wireless.contains(name), "{name}");
        }
    }
}
