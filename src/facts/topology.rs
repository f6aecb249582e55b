//! Who belongs to whom: indexes over a snapshot, built once.

use std::collections::BTreeMap;
use std::ops::Range;

use super::rows;
use crate::lang::ScopeId;
use crate::snapshot::{PciAddress, PcieLink, Snapshot};

/// Rows of one kind.
#[derive(Debug, Default)]
struct Rows {
    /// Owner (an interface, or 0 for the host) and place in its list of each row.
    places: Vec<(usize, usize)>,
    /// First row of each owner.
    first: Vec<usize>,
}

/// Indexes of the entities of a snapshot.
#[derive(Debug, Default)]
pub(super) struct Topology {
    interfaces: BTreeMap<String, BTreeMap<String, usize>>,
    devices: BTreeMap<PciAddress, usize>,
    /// (device, place in its list) of each PCIe link.
    links: Vec<(usize, usize)>,
    /// Links of each device.
    device_links: Vec<Range<usize>>,
    /// Interfaces of each device.
    ports: Vec<Vec<usize>>,
    /// Rows of each scope of rows.
    rows: BTreeMap<u16, Rows>,
    /// Functions of the card that each device belongs to, in order of their address.
    cards: Vec<Vec<usize>>,
}

impl Topology {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut topology = Self::default();
        for (index, interface) in snapshot.interfaces.iter().enumerate() {
            let names = topology.interfaces.entry(interface.namespace.clone()).or_default();
            names.entry(interface.name.clone()).or_insert(index);
        }
        for (index, device) in snapshot.devices.iter().enumerate() {
            topology.devices.entry(device.address).or_insert(index);
            let first = topology.links.len();
            let count = device.pcie.links.known().map_or(0, Vec::len);
            topology.links.extend((0..count).map(|place| (index, place)));
            topology.device_links.push(first..first + count);
        }
        topology.ports = vec![Vec::new(); snapshot.devices.len()];
        for (index, interface) in snapshot.interfaces.iter().enumerate() {
            if let Some(device) = interface.device.known().and_then(|address| topology.devices.get(address)) {
                topology.ports[*device].push(index);
            }
        }
        for kind in rows::kinds() {
            let mut all = Rows::default();
            let owners = if kind.of_host { 1 } else { snapshot.interfaces.len() };
            for owner in 0..owners {
                all.first.push(all.places.len());
                all.places.extend((0..(kind.count)(snapshot, owner)).map(|place| (owner, place)));
            }
            topology.rows.insert(kind.scope.0, all);
        }
        // Functions with equal domain, bus and device are one card behind one link.
        let mut by_slot: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, device) in snapshot.devices.iter().enumerate() {
            let at = device.address;
            by_slot.entry((at.domain, at.bus, at.device)).or_default().push(index);
        }
        topology.cards = vec![Vec::new(); snapshot.devices.len()];
        for functions in by_slot.into_values() {
            for function in &functions {
                topology.cards[*function].clone_from(&functions);
            }
        }
        topology
    }

    pub(super) fn interface(&self, namespace: &str, name: &str) -> Option<usize> {
        self.interfaces.get(namespace)?.get(name).copied()
    }

    pub(super) fn device(&self, address: PciAddress) -> Option<usize> {
        self.devices.get(&address).copied()
    }

    pub(super) fn device_links(&self, device: usize) -> Range<usize> {
        self.device_links.get(device).cloned().unwrap_or(0..0)
    }

    pub(super) fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Device and place of a link.
    pub(super) fn link_place(&self, link: usize) -> Option<(usize, usize)> {
        self.links.get(link).copied()
    }

    pub(super) fn link<'a>(&self, snapshot: &'a Snapshot, link: usize) -> Option<&'a PcieLink> {
        let (device, place) = self.link_place(link)?;
        snapshot.devices.get(device)?.pcie.links.known()?.get(place)
    }

    /// Number of rows of a scope.
    pub(super) fn row_count(&self, scope: ScopeId) -> usize {
        self.rows.get(&scope.0).map_or(0, |rows| rows.places.len())
    }

    /// Owner and place of a row.
    pub(super) fn row_place(&self, scope: ScopeId, row: usize) -> Option<(usize, usize)> {
        self.rows.get(&scope.0)?.places.get(row).copied()
    }

    /// First row of an owner.
    pub(super) fn first_row(&self, scope: ScopeId, owner: usize) -> usize {
        self.rows.get(&scope.0).and_then(|rows| rows.first.get(owner).copied()).unwrap_or(0)
    }

    /// Functions of the card of a device.
    pub(super) fn card(&self, device: usize) -> &[usize] {
        self.cards.get(device).map_or(&[], Vec::as_slice)
    }

    /// Interfaces of all functions of the card of a device.
    pub(super) fn card_ports(&self, device: usize) -> Vec<usize> {
        self.card(device).iter().flat_map(|function| self.ports(*function)).copied().collect()
    }

    fn ports(&self, device: usize) -> &[usize] {
        self.ports.get(device).map_or(&[], Vec::as_slice)
    }
}
