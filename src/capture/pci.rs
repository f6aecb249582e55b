//! PCI functions as lspci and the kernel log tell of them, and the links that follow from all of them together.

use std::collections::BTreeMap;

use super::site::Site;
use crate::formats::kernel_log::pcie::Figures;
use crate::formats::pci_id::{is_emulated, is_hypervisors};
use crate::knowledge::Knowledge;
use crate::reading::{Bytes, Gap, GapId, GapKind, Gigatransfers, Reading, SourceId};
use crate::snapshot::{PciAddress, PcieLink, PcieRole, pcie_ends};

/// What a function is on PCIe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A device below a port.
    Endpoint,
    /// A part of the root complex, which has no link.
    Integrated,
    /// A port or bridge.
    Port(PcieRole),
}

/// What a message of the kernel or of a driver says of the path of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PathNote {
    /// The narrowest link, or its own.
    pub now: Figures,
    /// What the function itself could do.
    pub able: Figures,
    /// The port at whose link the path is narrowest.
    pub at: Option<PciAddress>,
}

/// A function of any class.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    /// Base class and subclass.
    pub class: Reading<u16>,
    /// Vendor and device: `8086:1572`.
    pub id: Reading<String>,
    /// Those of the subsystem.
    pub subsystem: Reading<String>,
    /// As lspci names it.
    pub name: Reading<String>,
    pub driver: Reading<String>,
    pub numa_node: Reading<u32>,
    /// Name of the slot that it sits in.
    pub slot: Reading<String>,
    /// Absent for conventional PCI.
    pub kind: Reading<Kind>,
    pub speed: Reading<Gigatransfers>,
    pub width: Reading<u32>,
    pub speed_max: Reading<Gigatransfers>,
    pub width_max: Reading<u32>,
    pub mps: Reading<Bytes>,
    pub mps_supported: Reading<Bytes>,
    pub mrrs: Reading<Bytes>,
    pub relaxed_ordering: Reading<bool>,
    pub aspm: Reading<Vec<String>>,
    /// First and last bus below a bridge.
    pub buses: Reading<(u8, u8)>,
    pub note: Reading<PathNote>,
    /// A driver of network cards that speaks of it in the kernel log, whether or not it drives it.
    pub told_by: Reading<String>,
    /// Somebody asked about this one function.
    pub asked_for: bool,
}

impl Function {
    fn is_bridge(&self) -> bool {
        self.buses.known().is_some() || self.class.known() == Some(&0x0604)
    }

    /// True for a network card by its class or by its driver, and for the one function that somebody asked about.
    fn is_network(&self) -> bool {
        match self.class.known() {
            Some(class) => class >> 8 == 2,
            None => self.asked_for || self.drives_ports() || self.told_by.known().is_some(),
        }
    }

    /// True where a driver of wireless cards drives it or speaks of it.
    pub fn is_wireless(&self) -> bool {
        let drivers = [self.driver.known(), self.told_by.known()];
        drivers.into_iter().flatten().any(|driver| Knowledge::embedded().is_wireless(driver))
    }

    fn drives_ports(&self) -> bool {
        self.driver.known().is_some_and(|driver| Knowledge::embedded().is_hardware(driver) == Some(true))
    }

    /// Where it is said that only hypervisors have such a function.
    fn emulated(&self) -> Option<SourceId> {
        let pair = |id: &Reading<String>| {
            let (vendor, device) = id.known()?.split_once(':')?;
            let number = |text| u16::from_str_radix(text, 16).ok();
            Some((number(vendor)?, number(device)?))
        };
        let by_id = pair(&self.id).is_some_and(|(vendor, device)| is_emulated(vendor, device));
        // The device is a copy of a real one, and the subsystem names the maker of the copy.
        let by_subsystem = pair(&self.subsystem).is_some_and(|(vendor, _)| is_hypervisors(vendor));
        let by_name =
            self.name.known().is_some_and(|name| name.starts_with("Red Hat, Inc") || name.starts_with("VMware "));
        if by_id {
            self.id.source()
        } else if by_subsystem {
            self.subsystem.source()
        } else {
            self.name.source().filter(|_| by_name)
        }
    }

    fn port(&self) -> Option<PcieRole> {
        match self.kind {
            Reading::Known(Kind::Port(role), _) => Some(role),
            Reading::Known(..) => Some(PcieRole::Bridge),
            Reading::Absent(_) | Reading::Unknown(_) => None,
        }
    }
}

/// The functions of a host.
#[derive(Debug, Default)]
pub(super) struct Tree {
    functions: BTreeMap<PciAddress, Function>,
    /// Where all functions are listed.
    complete: Option<SourceId>,
    /// The bridge above each bus, by domain and bus; made when all is read.
    above: BTreeMap<(u32, u8), PciAddress>,
    /// What is known of a function that was never met.
    nothing: Function,
}

/// As deep as busses can be stacked.
const DEEPEST: usize = 32;
/// Most functions that are kept.
const MOST: usize = 65_536;

impl Tree {
    /// The function of this address, made where it is new; one too many shares the last place.
    pub fn function(&mut self, address: PciAddress) -> &mut Function {
        let full = self.functions.len() >= MOST && !self.functions.contains_key(&address);
        let last = self.functions.keys().next_back().copied().filter(|_| full);
        self.functions.entry(last.unwrap_or(address)).or_default()
    }

    /// All functions with their addresses, in order.
    pub fn all(&self) -> impl Iterator<Item = (PciAddress, &Function)> {
        self.functions.iter().map(|(address, function)| (*address, function))
    }

    /// Notes an output that lists all functions.
    pub fn lists_all(&mut self, source: SourceId) {
        self.complete = Some(source);
    }

    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Bridges above a function, nearest first, and whether the last of them is known to sit on a root bus.
    fn above(&self, address: PciAddress) -> (Vec<PciAddress>, bool) {
        let mut chain = Vec::new();
        let mut here = address;
        while chain.len() < DEEPEST {
            let Some(upper) = self.above.get(&(here.domain, here.bus)) else { break };
            chain.push(*upper);
            here = *upper;
        }
        (chain, here.bus == 0 || self.complete.is_some())
    }

    fn figures(&self, address: PciAddress) -> &Function {
        self.functions.get(&address).unwrap_or(&self.nothing)
    }

    /// Notes which bridge is above each bus.
    fn index(&mut self) {
        for (address, function) in &self.functions {
            if let Some((first, _)) = function.buses.known().filter(|(first, _)| *first != address.bus) {
                self.above.entry((address.domain, *first)).or_insert(*address);
            }
        }
    }

    /// Functions that share a link without being part of the card.
    fn siblings(&self, upper: PciAddress, device: PciAddress) -> Reading<Vec<PciAddress>> {
        let buses = self.functions.get(&upper).and_then(|upper| upper.buses.known());
        let (Some(source), Some((first, last))) = (self.complete, buses) else { return Reading::default() };
        let below =
            |at: &PciAddress| at.domain == device.domain && (*first..=*last).contains(&at.bus) && at.bus != device.bus;
        let all = self.functions.iter().filter(|(at, function)| below(at) && !function.is_bridge());
        Reading::Known(all.map(|(at, _)| *at).collect(), source)
    }
}

/// Makes the PCI functions of class network with their links out of all that was read.
pub(super) fn finish(site: &mut Site) {
    let mut tree = std::mem::take(&mut site.pci);
    tree.index();
    tie(site, &tree);
    ports(site);
    if site.snapshot.host.is_guest.known().is_none()
        && let Some((address, _)) = tree.functions.iter().find(|(_, function)| function.emulated().is_some())
    {
        let source = site.inferred(&format!("{address}, which only hypervisors have"));
        site.snapshot.host.is_guest = Reading::Known(true, source);
    }
    let mut wanted: Vec<PciAddress> = site.snapshot.devices.iter().map(|device| device.address).collect();
    wanted.extend(tree.functions.iter().filter(|(_, function)| function.is_network()).map(|(address, _)| *address));
    wanted.sort_unstable();
    wanted.dedup();
    for address in wanted {
        let function = tree.figures(address).clone();
        let name = site.device(address).interfaces.known().and_then(|names| names.first().cloned());
        let class = match (name, function.driver.known()) {
            _ if function.class.known().is_some() => function.class.clone(),
            // An interface proves the class of its function.
            (Some(name), _) => {
                let source = site.inferred(&format!("{name}, an interface of it"));
                let subclass = if name.starts_with("wl") || function.is_wireless() {
                    0x80
                } else {
                    u16::from(name.starts_with("ib")) * 7
                };
                Reading::Known(0x0200 + subclass, source)
            }
            (None, Some(driver)) if function.drives_ports() => {
                let source = site.inferred(&format!("{driver}, its driver"));
                Reading::Known(0x0200, source)
            }
            (None, _) if function.told_by.known().is_some() => {
                let driver = function.told_by.known().cloned().unwrap_or_default();
                let source = site.inferred(&format!("{driver}, which speaks of it in the kernel log"));
                Reading::Known(if function.is_wireless() { 0x0280 } else { 0x0200 }, source)
            }
            (None, _) => function.class.clone(),
        };
        let links = links(site, &tree, address, &function);
        let root = virtual_root(site, &tree, address);
        let all_links = site.all_links;
        let device = site.device(address);
        if let Some(source) = all_links {
            device.interfaces.fill(Reading::Known(Vec::new(), source));
        }
        device.class.fill(class);
        device.id.fill(match (function.id, function.subsystem) {
            (Reading::Known(id, source), Reading::Known(subsystem, _)) => {
                Reading::Known(format!("{id} {subsystem}"), source)
            }
            (id, _) => id,
        });
        device.name.fill(function.name);
        device.driver.fill(function.driver);
        device.numa_node.fill(function.numa_node);
        let pcie = &mut device.pcie;
        pcie.mps.fill(function.mps);
        pcie.mps_supported.fill(function.mps_supported);
        pcie.mrrs.fill(function.mrrs);
        pcie.relaxed_ordering.fill(function.relaxed_ordering);
        pcie.aspm.fill(function.aspm);
        pcie.virtual_root.fill(root);
        pcie.links.fill(links);
    }
}

/// Where a capture has one interface of a driver and one function that this driver drives or speaks of, they are the same.
fn tie(site: &mut Site, tree: &Tree) {
    let mut functions: BTreeMap<&str, Vec<PciAddress>> = BTreeMap::new();
    for (address, function) in &tree.functions {
        if let Some(driver) = function.driver.known().or(function.told_by.known()) {
            functions.entry(driver).or_default().push(*address);
        }
    }
    for (driver, addresses) in functions {
        let [address] = addresses.as_slice() else { continue };
        let of_driver = |one: &&mut crate::snapshot::Interface| {
            one.driver.name.known().is_some_and(|name| name == driver) && one.namespace.is_empty()
        };
        let source =
            site.inferred(&format!("the only interface of {driver}, and the only function that {driver} names"));
        let mut all = site.snapshot.interfaces.iter_mut().filter(of_driver);
        if let (Some(only), None) = (all.next(), all.next())
            && only.device.is_unasked()
        {
            only.device = Reading::Known(*address, source);
        }
    }
}

/// Notes at each function the interfaces that say that they are of it.
fn ports(site: &mut Site) {
    let of = |interface: &crate::snapshot::Interface| match interface.device {
        Reading::Known(address, source) => Some((interface.name.clone(), address, source)),
        _ => None,
    };
    let pairs: Vec<_> = site.snapshot.interfaces.iter().filter_map(of).collect();
    for (name, address, source) in pairs {
        let device = site.device(address);
        let mut names = device.interfaces.known().cloned().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
            device.interfaces = Reading::Known(names, source);
        }
    }
}

fn links(site: &mut Site, tree: &Tree, address: PciAddress, function: &Function) -> Reading<Vec<PcieLink>> {
    if let Reading::Absent(source) = function.kind {
        return Reading::Absent(source);
    }
    let (chain, at_root) = tree.above(address);
    let ports = chain.iter().map(|port| (*port, tree.figures(*port).port())).collect::<Vec<_>>();
    let mut links = Vec::new();
    for (lower, at) in pcie_ends(address, &ports) {
        let role = match (ports[at].1, at + 1 == ports.len()) {
            (Some(role), _) => {
                Reading::Known(role, tree.figures(ports[at].0).kind.source().unwrap_or(SourceId::ASSUMED))
            }
            (None, false) => {
                Reading::Known(PcieRole::SwitchDownstream, site.inferred("position below the root complex"))
            }
            (None, true) if at_root => {
                Reading::Known(PcieRole::RootPort, site.inferred("position below the root complex"))
            }
            (None, true) => Reading::default(),
        };
        links.push(link(tree, lower, Some(ports[at].0), role, address));
    }
    let measured = |link: &PcieLink| link.speed.known().is_some() && link.width.known().is_some();
    let whole = !links.is_empty() && links.iter().all(measured);
    if !whole && let Reading::Known(note, source) = &function.note
        // On the root bus there is no link, whatever a driver says.
        && address.bus != 0
    {
        let known = links.iter().find(|link| link.upper.known() == note.at.as_ref() && note.at.is_some());
        let direct = known.map(|link| link.lower == address).or_else(|| is_directly_below(tree, address, note.at?));
        let mut link = known.cloned().unwrap_or_else(|| of_note(site, tree, address, note, *source));
        let figure = |figure: Option<f64>| {
            figure.map_or_else(Reading::default, |speed| Reading::Known(Gigatransfers(speed), *source))
        };
        let lanes = |lanes: Option<u32>| lanes.map_or_else(Reading::default, |lanes| Reading::Known(lanes, *source));
        link.speed.fill(figure(note.now.speed));
        link.width.fill(lanes(note.now.width));
        if note.at.is_none() || direct == Some(true) {
            link.lower_speed_max.fill(figure(note.able.speed));
            link.lower_width_max.fill(lanes(note.able.width));
        }
        return Reading::Known(vec![link], *source);
    }
    let source =
        [function.speed.source(), function.speed_max.source(), function.kind.source(), function.class.source()];
    let source = source.into_iter().flatten().next();
    match (links.is_empty(), source) {
        (false, source) => Reading::Known(links, source.or(tree.complete).unwrap_or(SourceId::ASSUMED)),
        (true, Some(source)) => {
            let on_root = at_root && (address.bus == 0 || function.kind.known() == Some(&Kind::Integrated));
            let shows_link = function.speed.known().is_some() || function.width.known().is_some();
            if shows_link && function.kind.known() != Some(&Kind::Integrated) {
                // Above it is a port that the capture, or the hypervisor, does not show.
                Reading::Known(vec![link(tree, address, None, Reading::default(), address)], source)
            } else if on_root && site.snapshot.host.is_guest.known() != Some(&true) && function.kind.known().is_some() {
                Reading::Known(links, source)
            } else {
                hidden(site, tree, address)
            }
        }
        (true, None) => Reading::default(),
    }
}

/// Why nothing is known of the links: mostly because only root sees them.
fn hidden(site: &mut Site, tree: &Tree, address: PciAddress) -> Reading<Vec<PcieLink>> {
    match tree.figures(address).speed {
        Reading::Unknown(gap) if gap != GapId::NOT_COLLECTED => Reading::Unknown(gap),
        _ => {
            let gap = Gap::new(GapKind::NotInCapture).command(format!("sudo lspci -vv -s {address}"));
            Reading::Unknown(site.snapshot.origins.gap(gap))
        }
    }
}

/// True where a port is known to be the one right above a function.
fn is_directly_below(tree: &Tree, address: PciAddress, port: PciAddress) -> Option<bool> {
    if let Some((first, _)) = tree.functions.get(&port).and_then(|port| port.buses.known()) {
        return Some(*first == address.bus);
    }
    // Busses are numbered in depth: below the root bus comes the first bus, and no switch fits between.
    (port.bus == 0 && address.bus == 1 && port.domain == address.domain).then_some(true)
}

/// A link of which only a message tells.
fn of_note(site: &mut Site, tree: &Tree, address: PciAddress, note: &PathNote, source: SourceId) -> PcieLink {
    let mut made = link(tree, address, None, Reading::default(), address);
    if let Some(port) = note.at.filter(|port| *port != address) {
        made.upper = Reading::Known(port, source);
        if port.bus == 0 {
            made.role = Reading::Known(PcieRole::RootPort, site.inferred("its place on bus 00"));
        }
    }
    made
}

fn link(
    tree: &Tree,
    lower: PciAddress,
    upper: Option<PciAddress>,
    role: Reading<PcieRole>,
    device: PciAddress,
) -> PcieLink {
    let below = tree.figures(lower).clone();
    let above = upper.map(|upper| tree.figures(upper).clone()).unwrap_or_default();
    let mut link = PcieLink {
        lower,
        upper: Reading::default(),
        role,
        slot: below.slot,
        speed: below.speed,
        width: below.width,
        lower_speed_max: below.speed_max,
        lower_width_max: below.width_max,
        upper_speed_max: above.speed_max,
        upper_width_max: above.width_max,
        tunnelled: Reading::default(),
        siblings: Reading::default(),
    };
    // The upper end stands in where the lower one gives no figure.
    link.speed.fill(above.speed);
    link.width.fill(above.width);
    if let Some(upper) = upper {
        link.upper = Reading::Known(upper, above.buses.source().unwrap_or(SourceId::ASSUMED));
        link.siblings = tree.siblings(upper, device);
    }
    link
}

/// Whether the function sits on an emulated bus.
fn virtual_root(site: &mut Site, tree: &Tree, address: PciAddress) -> Reading<bool> {
    let (chain, _) = tree.above(address);
    let emulated = std::iter::once(address).chain(chain).find_map(|at| tree.figures(at).emulated());
    match (emulated, &site.snapshot.host.is_guest) {
        (Some(source), _) => Reading::Known(true, source),
        (None, Reading::Known(false, source)) => Reading::Known(false, *source),
        (None, _) => Reading::default(),
    }
}
