//! What was observed: entities, readings and counters of one host at one time. No I/O.

mod attached;
mod best_route;
mod configuration;
mod counters;
mod device;
mod document;
mod host;
mod interface;
mod optics;
mod pcie_path;
mod processors;
mod queues;
mod section;
mod traffic;
mod words;

pub use attached::{Bridge, Devlink, HealthReporter, Rdma, Tunnel, Usb, Wireless, Xdp};
pub use best_route::best_route;
pub use configuration::ConfiguredSetting;
pub use counters::{Counter, CounterBlock, Growth};
pub use device::{PciAddress, PciDevice, Pcie, PcieLink};
pub use document::{DocumentError, SCHEMA};
pub use host::{Host, LogLine, Measurement};
pub use interface::{
    Bond, BondMember, Channels, Coalesce, DriverInfo, Eee, Feature, Fec, Interface, Link, LinkModes, Pause, Port,
    Qdisc, Rates, Ring, STAND_IN, Session, Stack,
};
pub use optics::{Module, ModuleLane, ModuleThresholds};
pub use pcie_path::pcie_ends;
pub use processors::{Cpu, Irqbalance, Processors, Thread};
pub use queues::{Irq, Pfc, Queue, Rss, TcAction};
pub use traffic::{Conntrack, Flow, Listener, Neighbours, NfsMount, Peer, Route, UdpSocket, address_of};
pub use words::{Bus, Duplex, InterfaceKind, OperState, PcieRole, PortType, SampleSource, Word, XdpMode};

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::reading::{Origins, SourceId};

/// How and when the readings were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sample {
    /// Live host, bundle, transcript ...
    pub source: SampleSource,
    /// Seconds between the two samples of the counters; 0 where there is one sample only.
    pub seconds: f64,
    /// The probes that were skipped or cut short, in words: "EEPROM of eth2: driver did not answer in 2 s".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Facts that this user could not read and what would supply them: "device control register: sudo".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs_root: Vec<String>,
}

impl Default for Sample {
    fn default() -> Self {
        Self { source: SampleSource::Bundle, seconds: 0.0, remarks: Vec::new(), needs_root: Vec::new() }
    }
}

/// The same thing read from two places with different results. Precedence decides, the conflict is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conflict {
    /// Interface name, PCI address or `host`.
    pub subject: String,
    /// Path of the fact.
    pub fact: String,
    /// The value that is used.
    pub used: String,
    /// Where it was read.
    pub used_source: SourceId,
    /// The value that is not used.
    pub other: String,
    /// Where that was read.
    pub other_source: SourceId,
}

/// One host as it was observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// How and when.
    pub sample: Sample,
    /// Sources and gaps that the readings refer to.
    pub origins: Origins,
    /// The host itself.
    pub host: Host,
    /// Interfaces in natural order of (network namespace, name).
    pub interfaces: Vec<Interface>,
    /// PCI functions of class network, in order of their address; also those without an interface.
    pub devices: Vec<PciDevice>,
    /// Readings that contradict each other.
    pub conflicts: Vec<Conflict>,
}

impl Snapshot {
    /// Puts entities into their one order, so that equal input in any order gives equal output.
    pub fn sort(&mut self) {
        self.interfaces
            .sort_by(|a, b| (&a.namespace, natural(&a.name), &a.name).cmp(&(&b.namespace, natural(&b.name), &b.name)));
        self.devices.sort_by_key(|device| device.address);
        self.conflicts.sort_by(|a, b| (&a.subject, &a.fact).cmp(&(&b.subject, &b.fact)));
    }

    /// Names by which lines of the kernel log mean this host's network: interfaces, drivers, PCI functions.
    pub fn log_names(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self.interfaces.iter().map(|interface| interface.name.clone()).collect();
        for interface in &self.interfaces {
            // What the kernel makes by itself has a driver of a common word, as `bridge`.
            if interface.bus.known() != Some(&Bus::None) {
                names.extend(interface.driver.name.known().cloned());
            }
            names.extend(interface.wireless.phy.known().cloned());
            names.extend(interface.device.known().map(ToString::to_string));
        }
        for device in &self.devices {
            names.insert(device.address.to_string());
            names.extend(device.driver.known().cloned());
        }
        // Drivers of functions of any class.
        for other in ["", "virtio-pci", "vfio-pci", "pcieport"] {
            names.remove(other);
        }
        names
    }

    /// Interfaces and PCI functions that a line names; an address without its domain counts where the domain is 0.
    pub fn named_in(&self, line: &str) -> (Vec<usize>, Vec<usize>) {
        let words: Vec<&str> = line
            .split(|c: char| !(c.is_ascii_alphanumeric() || "_.-:@".contains(c)))
            .map(|word| word.trim_end_matches([':', '.', ',']))
            .filter(|word| !word.is_empty())
            .collect();
        let devices: Vec<usize> = (0..self.devices.len())
            .filter(|index| {
                let full = self.devices[*index].address.to_string();
                words.iter().any(|word| {
                    word.eq_ignore_ascii_case(&full) || full.strip_prefix("0000:").is_some_and(|short| word == &short)
                })
            })
            .collect();
        let interfaces = (0..self.interfaces.len())
            .filter(|index| {
                let interface = &self.interfaces[*index];
                let by_address = interface
                    .device
                    .known()
                    .is_some_and(|address| devices.iter().any(|device| self.devices[*device].address == *address));
                let by_radio = interface.wireless.phy.known().is_some_and(|phy| words.contains(&phy.as_str()));
                by_address || by_radio || words.contains(&interface.name.as_str())
            })
            .collect();
        (interfaces, devices)
    }

    /// The interface of this name in the first namespace that has it.
    pub fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }
}

/// A piece of a name for natural order: digits compare as numbers, so `eth2` stands before `eth10`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NaturalPart {
    /// A run of digits: its length without leading zeros, then the digits.
    Number(usize, String),
    /// Anything else.
    Text(String),
}

/// Splits a name for natural order.
pub fn natural(name: &str) -> Vec<NaturalPart> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        parts.push(if digits {
            let plain = piece.trim_start_matches('0');
            NaturalPart::Number(plain.len(), plain.into())
        } else {
            NaturalPart::Text(piece.into())
        });
        rest = tail;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_people_count() {
        let mut names = ["eth10", "eth2", "enp1s0f1", "eth02x", "br0", "eth2x"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["br0", "enp1s0f1", "eth2", "eth02x", "eth2x", "eth10"]);
    }
}
