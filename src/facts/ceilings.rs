//! Ceilings of this host's interfaces and cards: the readings that the pure formulas of `crate::ceiling` need, and which of
//! their inputs had to be assumed.

mod asked;
mod bond;
mod set_rate;
mod shared;
mod stacked;
#[cfg(test)]
mod tests;
mod window;

pub use asked::Asked;
pub use set_rate::SetRate;
pub(super) use set_rate::policers;
pub use shared::{SharedHop, shared_hops};
pub(super) use window::{WindowOf, window_of};

use super::catalogue::{DEVICE, INTERFACE, LINK};
use super::{Derived, Facts};
use crate::ceiling::combine::{Combined, Mechanism, Part, combine};
use crate::ceiling::pcie::{self, Hop, Path, PcieCeiling, Platform};
use crate::ceiling::{Ceiling, Confidence, Duplex, Framing};
use crate::ceiling::{bus, ethernet};
use crate::lang::{Key, State, Value};
use crate::reading::numbers::rate_range;
use crate::reading::{Gigatransfers, Reading};
use crate::snapshot::{self, PcieLink, PcieRole};

/// The usual MTU of jumbo frames.
const JUMBO_MTU: u64 = 9000;

/// What the PCIe path of a card carries.
#[derive(Clone, Debug)]
pub struct PathCeiling {
    /// The ceiling, if all that it needs is known.
    pub found: Option<PcieCeiling>,
    /// Index of the narrowest link among all links of the snapshot.
    pub narrowest: Option<usize>,
    /// What it would be for each payload size, where that was not read.
    pub by_payload_size: Vec<(u32, Ceiling)>,
    /// State of the facts that follow: known, absent (no PCIe, or made up by a hypervisor) or unknown.
    state: State,
    from: Vec<Key>,
}

/// How fast an interface could go.
#[derive(Clone, Debug, Default)]
pub struct InterfaceCeiling {
    /// The Ethernet link.
    pub link: Option<Ceiling>,
    /// The PCIe path at this interface's MTU.
    pub pcie: Option<PcieCeiling>,
    /// Index of the narrowest PCIe link among all links of the snapshot.
    pub narrowest: Option<usize>,
    /// The same for each payload size, where that was not read.
    pub by_payload_size: Vec<(u32, Ceiling)>,
    /// The USB link, with its name in `knowledge/buses.yaml`.
    pub usb: Option<(String, Ceiling)>,
    /// Buses that the card may sit on, where that is parallel PCI and was not read: explanations, none of them the ceiling.
    pub candidates: Vec<bus::Candidate>,
    /// What a queueing discipline lets out.
    pub shaper: Option<SetRate>,
    /// The lowest of them and what binds.
    pub combined: Option<Combined>,
    /// The same for receiving alone, where something holds back what is sent.
    pub receiving: Option<Combined>,
    /// What one flow gets, where that is less: a bond sends it over one member.
    pub one_flow: Option<Ceiling>,
    /// The interface below, which this one stands on, with its parts for the packets of this one.
    pub stands_on: Option<(usize, Box<InterfaceCeiling>)>,
    /// What was taken of its sending side, in words: a shaper that nobody read.
    pub taken_sending: Option<String>,
    /// What else a reader should know, in words.
    pub notes: Vec<String>,
    link_state: LinkState,
    link_from: Vec<Key>,
}

impl InterfaceCeiling {
    /// The ceiling of a direction; where it is not known, of the way that is not held back.
    pub fn towards(&self, sends: Option<bool>) -> Option<&Combined> {
        match sends {
            Some(true) => self.combined.as_ref(),
            Some(false) | None => self.receiving.as_ref().or(self.combined.as_ref()),
        }
    }

    /// Inputs of the whole that were assumed, in words.
    pub fn assumed(&self) -> Vec<String> {
        let whole = self.combined.iter().flat_map(|whole| whole.ceiling.assumed.iter().cloned());
        whole.chain(self.taken_sending.clone()).collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinkState {
    #[default]
    Unknown,
    /// The port is made up: its speed is nominal and says nothing.
    Absent,
    Known,
}

type Get = fn(&Facts<'_>, usize) -> Derived;

/// Facts `iface.ceiling.*`: path, meaning, derivation. All are rates of TCP payload in bit/s.
pub(super) const INTERFACE_FACTS: &[(&str, &str, Get)] = &[
    ("ceiling.link.lo", "least TCP payload that the link carries", |facts, index| {
        link_part(facts, index, |c| c.lo_bps)
    }),
    ("ceiling.link.typical", "typical TCP payload that the link carries", |facts, index| {
        link_part(facts, index, |c| c.typical_bps)
    }),
    ("ceiling.link.hi", "most TCP payload that the link carries", |facts, index| link_part(facts, index, |c| c.hi_bps)),
    ("ceiling.lo", "lower end of the ceiling", |facts, index| whole(facts, index, |c| c.lo_bps)),
    ("ceiling.typical", "typical ceiling", |facts, index| whole(facts, index, |c| c.typical_bps)),
    ("ceiling.hi", "upper end of the ceiling", |facts, index| whole(facts, index, |c| c.hi_bps)),
    ("ceiling.jumbo.typical", "typical ceiling at an MTU of 9000", |facts, index| {
        let jumbo = interface_at(facts, index, Asked::at(Some(JUMBO_MTU)));
        let from = jumbo.link_from.clone();
        match &jumbo.combined {
            Some(combined) => Derived::of(known(combined.ceiling.typical_bps), from).assuming(jumbo.assumed()),
            None if jumbo.link_state == LinkState::Absent => Derived::absent(from),
            None => Derived::unknown(from),
        }
    }),
];

impl Facts<'_> {
    /// The PCIe path of a card, at the smallest MTU of its ports.
    pub fn path_ceiling(&self, device: usize) -> Option<&PathCeiling> {
        Some(self.paths.get(device)?.get_or_init(|| {
            let ports = self.topology().card_ports(device);
            // Ports that are down carry nothing; where none is known to be up, all count.
            let is_up = |port: &&usize| self.snapshot().interfaces[**port].link.up.known() == Some(&true);
            let up: Vec<usize> = ports.iter().filter(is_up).copied().collect();
            let ports = if up.is_empty() { ports } else { up };
            let of_port = |port: &usize| Some((self.snapshot().interfaces[*port].mtu.known()?.0, *port));
            let smallest = ports.iter().filter_map(of_port).min();
            let mtu = smallest.map(|(mtu, _)| mtu);
            let asked = Asked::at(mtu);
            let framing = asked.framing(self, self.vlan_tags(ports.first().copied()));
            let mut path = path_at(self, device, framing, asked, 0);
            path.from.extend(smallest.iter().flat_map(|(_, port)| self.key(INTERFACE, *port, "mtu")));
            path
        }))
    }

    /// How fast an interface could go.
    pub fn interface_ceiling(&self, interface: usize) -> Option<&InterfaceCeiling> {
        Some(self.ceilings.get(interface)?.get_or_init(|| {
            let mtu = self.snapshot().interfaces[interface].mtu.known().map(|mtu| mtu.0);
            interface_at(self, interface, Asked::at(mtu))
        }))
    }

    /// The same for other packets, or for both directions at once.
    pub fn ceiling_asked(&self, interface: usize, asked: Asked) -> InterfaceCeiling {
        interface_at(self, interface, asked)
    }

    fn vlan_tags(&self, interface: Option<usize>) -> u32 {
        let tags = interface.and_then(|index| self.snapshot().interfaces[index].vlan_tags.known().copied());
        tags.unwrap_or(0)
    }
}

/// PCIe generation of a lane speed.
pub fn pcie_generation(facts: &Facts<'_>, speed: Gigatransfers) -> Option<u32> {
    let found = pcie::generation(speed.0, facts.knowledge().buses())?;
    found.name.strip_prefix("Gen")?.parse().ok()
}

/// Rate of a PCIe link after line encoding in bit/s; `None` where its speed or width is not known.
pub fn pcie_raw_rate(facts: &Facts<'_>, link: &PcieLink) -> Option<f64> {
    pcie::raw_bps(Hop::new(link.speed.known()?.0, *link.width.known()?), facts.knowledge().buses())
}

/// The path of a card from its `skip`th link on.
fn path_at(facts: &Facts<'_>, index: usize, framing: Framing, asked: Asked, skip: usize) -> PathCeiling {
    let device = &facts.snapshot().devices[index];
    let none = |state, from| PathCeiling { found: None, narrowest: None, by_payload_size: Vec::new(), state, from };
    if device.pcie.virtual_root.known() == Some(&true) {
        return none(State::Absent, facts.key(DEVICE, index, "pcie.virtual_root"));
    }
    if device.physical_function.known().is_some() {
        return none(State::Absent, facts.key(DEVICE, index, "physical_function"));
    }
    let links = match &device.pcie.links {
        Reading::Known(links, _) => links.get(skip..).unwrap_or_default(),
        Reading::Absent(_) => return none(State::Absent, facts.key(DEVICE, index, "pcie.links")),
        Reading::Unknown(_) => return none(State::Unknown, facts.key(DEVICE, index, "pcie.links")),
    };
    let first = facts.topology().device_links(index).start + skip;
    let mut from = facts.key(DEVICE, index, "pcie.mps");
    let mut unread = Vec::new();
    let mut hops = Vec::new();
    for (place, link) in links.iter().enumerate() {
        let tunnel = link.tunnelled.known() == Some(&true);
        let keys = ["speed", "width"].map(|path| facts.key(LINK, first + place, path));
        match (link.speed.known(), link.width.known()) {
            (Some(speed), Some(width)) => hops.push(Hop { tunnel, ..Hop::new(speed.0, *width) }),
            _ if tunnel => hops.push(Hop { tunnel, ..Hop::new(0.0, 0) }),
            _ => unread.extend(keys.iter().flatten().copied()),
        }
        from.extend(keys.into_iter().flatten());
    }
    if !unread.is_empty() {
        return none(State::Unknown, unread);
    }
    let tunnels = hops.iter().any(|hop| hop.tunnel);
    let mps = device.pcie.mps.known().and_then(|size| u32::try_from(size.0).ok());
    let mrrs = device.pcie.mrrs.known().and_then(|size| u32::try_from(size.0).ok());
    let platform = match facts.snapshot().host.architecture.known().map(String::as_str) {
        Some("x86_64" | "i686" | "i586") => Platform::X86,
        _ => Platform::Other,
    };
    let driver = device.driver.known().map(String::as_str);
    let path = Path { mps, mrrs, driver, platform, ..Path::new(&hops) };
    let buses = facts.knowledge().buses();
    let Ok(mut found) = pcie::nic(&path, &framing, asked.direction, buses) else {
        return none(State::Unknown, from);
    };
    let by_payload_size = pcie::by_payload_size(&path, &framing, asked.direction, buses);
    if let Some(unread) = asked.mtu_unread() {
        found.ceiling = found.ceiling.assuming(unread);
    }
    if links.last().is_none_or(|last| last.role.known() != Some(&PcieRole::RootPort)) {
        found.ceiling = found.ceiling.assuming("the links above the ones that were read are no narrower");
    }
    if tunnels {
        // What a tunnel carries depends on its controller, and none is told by its links.
        found.ceiling = found.ceiling.assuming("the Thunderbolt or USB4 tunnel on the way carries more");
    }
    let narrowest = Some(first + found.slowest_hop);
    PathCeiling { found: Some(found), narrowest, by_payload_size, state: State::Unknown, from }
}

/// The ceiling of an interface for certain packets.
fn interface_at(facts: &Facts<'_>, index: usize, asked: Asked) -> InterfaceCeiling {
    let interface = &facts.snapshot().interfaces[index];
    let mut result = InterfaceCeiling { notes: set_rate::policer_notes(interface), ..InterfaceCeiling::default() };
    let physical_key = facts.key(INTERFACE, index, "port.physical");
    let physical = physical_key.first().and_then(|key| match facts.lookup(*key).state {
        State::Known(Value::Bool(physical)) => Some(physical),
        _ => None,
    });
    if physical == Some(false) {
        result.link_state = LinkState::Absent;
        result.link_from = physical_key;
        bond::fill(&mut result, facts, index, asked);
        stacked::fill(&mut result, facts, index, asked);
        return result;
    }
    result.link_from = [facts.key(INTERFACE, index, "link.speed"), facts.key(INTERFACE, index, "mtu")].concat();
    let buses = facts.knowledge().buses();
    let framing = asked.framing(facts, facts.vlan_tags(Some(index)));
    let mut parts = Vec::new();
    if let Some(speed) = interface.link.speed.known().filter(|speed| speed.0 > 0) {
        let duplex = match interface.link.duplex.known() {
            Some(snapshot::Duplex::Half) => Duplex::Half,
            Some(snapshot::Duplex::Full) | None => Duplex::Full,
        };
        let mut link = ethernet::link(speed.0 as f64, &framing, duplex, buses);
        if let Some(unread) = asked.mtu_unread() {
            link = link.assuming(unread);
        }
        if physical.is_none() {
            link = link.assuming("the speed is that of a hardware port");
        }
        if on_some_pci_bus(facts, index) {
            link = link.assuming("the PCI or PCI-X bus of the card, which was not read, carries more than the link");
            let slower = |one: &bus::Candidate| one.ceiling.lo_bps < link.typical_bps;
            result.candidates = bus::pci_candidates(&framing, buses).into_iter().filter(slower).collect();
            result.notes.extend(candidates_in_words(&result.candidates));
        }
        parts.push(Part { mechanism: Mechanism::Link, ceiling: link.clone() });
        result.link = Some(link);
        result.link_state = LinkState::Known;
    }
    if let Some(device) = facts.device_of(index) {
        let path = path_at(facts, device, framing, asked, 0);
        result.by_payload_size = path.by_payload_size;
        if let Some(found) = path.found {
            parts.push(Part { mechanism: Mechanism::Pcie, ceiling: found.ceiling.clone() });
            result.pcie = Some(found);
            result.narrowest = path.narrowest;
        }
        result.notes.extend(shared_links(facts, device));
    }
    if let Some(speed) = interface.usb.speed.known()
        && let Some(name) = bus::usb_name(speed.0 as f64 / 1e6, buses)
        && let Some(ceiling) = bus::usb(name, &framing, buses)
    {
        parts.push(Part { mechanism: Mechanism::Usb, ceiling: ceiling.clone() });
        result.usb = Some((name.to_owned(), ceiling));
        result.link_from.extend(facts.key(INTERFACE, index, "usb.speed"));
    }
    // Without the link's speed a bus alone would be a ceiling that no cable may reach.
    if result.link.is_some() {
        let told = on_some_pci_bus(facts, index) || parts.len() > 1;
        if let (false, Some(unread)) = (told, unread_bus(facts, index, &framing, parts[0].ceiling.hi_bps)) {
            parts[0].ceiling = parts[0].ceiling.clone().assuming(unread);
        }
        result.combined = combine(&parts);
        set_rate::hold_back(&mut result, facts, index, parts, &framing);
        result.notes.extend(window::note(facts, asked.mtu, result.combined.as_ref()));
        result.notes.extend(second_path(facts, index, &result));
    }
    result
}

/// A bus that was not read, in words, where the slowest of its kind would carry less than `link_bps`.
fn unread_bus(facts: &Facts<'_>, index: usize, framing: &Framing, link_bps: f64) -> Option<String> {
    let interface = &facts.snapshot().interfaces[index];
    let buses = facts.knowledge().buses();
    let slower = |ceiling: Option<Ceiling>| ceiling.is_some_and(|ceiling| ceiling.lo_bps < link_bps);
    if interface.usb.speed.known().is_some() {
        return None;
    }
    let slowest = || {
        let hops = [Hop::new(buses.pcie.generations.first()?.gigatransfers, 1)];
        Some(pcie::nic(&Path::new(&hops), framing, None, buses).ok()?.ceiling)
    };
    match &interface.device {
        Reading::Absent(_) => None,
        Reading::Known(..) => {
            let device = &facts.snapshot().devices.get(facts.device_of(index)?)?.pcie;
            let unread = matches!(device.links, Reading::Unknown(_)) || device.links.known().is_some();
            let counts = unread && device.virtual_root.known() != Some(&true);
            (counts && slower(slowest()))
                .then(|| "the PCIe path, which was not read, carries more than the link".into())
        }
        Reading::Unknown(_) => {
            slower(slowest()).then(|| "the bus of the card, which was not read, carries more than the link".to_owned())
        }
    }
}

/// Some machines reach one port by two PCIe paths, in two domains: what one carries is not what the port does.
fn second_path(facts: &Facts<'_>, index: usize, found: &InterfaceCeiling) -> Option<String> {
    let snapshot = facts.snapshot();
    let (link, pcie) = (found.link.as_ref()?, found.pcie.as_ref()?);
    let product = snapshot.host.product.known()?;
    let known = &facts.knowledge().buses().pcie.two_domains.products;
    if pcie.ceiling.typical_bps >= link.typical_bps || !known.iter().any(|name| product.contains(name.as_str())) {
        return None;
    }
    let own = &snapshot.devices[facts.device_of(index)?];
    let twin = snapshot.interfaces.iter().enumerate().find(|(other, _)| {
        let device = facts.device_of(*other).map(|device| &snapshot.devices[device]);
        device.is_some_and(|device| {
            let (a, b) = (device.address, own.address);
            a.domain != b.domain
                && (a.bus, a.device, a.function) == (b.bus, b.device, b.function)
                && device.id == own.id
        })
    });
    let other = twin.map_or_else(|| "an interface of the other domain".to_owned(), |(_, twin)| twin.name.clone());
    Some(format!(
        "this machine reaches each port by two PCIe paths, in two domains: one alone carries what is said here, the whole port needs {other} as well"
    ))
}

/// `its bus was not read: pci-x-66 would carry 1.7-4.0 Gb/s, pci-x-133 3.4-8.2 Gb/s`; none without candidates.
fn candidates_in_words(candidates: &[bus::Candidate]) -> Option<String> {
    let mut ranges: Vec<(&str, f64, f64)> = Vec::new();
    for one in candidates {
        let (lo, hi) = (one.ceiling.lo_bps, one.ceiling.hi_bps);
        match ranges.iter_mut().find(|(name, ..)| *name == one.bus) {
            Some((_, low, high)) => (*low, *high) = (low.min(lo), high.max(hi)),
            None => ranges.push((&one.bus, lo, hi)),
        }
    }
    let each = ranges.iter().map(|(name, lo, hi)| format!("{name} {}", rate_range(*lo, *hi, *hi, true)));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("its bus was not read, and of these nothing chooses: {}", each.join(", ")))
}

/// A card on parallel PCI or PCI-X. What sits on bus 0 is part of the chipset or of a virtual machine and on no such bus.
fn on_some_pci_bus(facts: &Facts<'_>, index: usize) -> bool {
    let interface = &facts.snapshot().interfaces[index];
    let Some(address) = interface.device.known() else { return false };
    let device = facts.device_of(index).map(|device| &facts.snapshot().devices[device]);
    let links = device.map(|device| &device.pcie.links);
    let virtual_root = device.is_some_and(|device| device.pcie.virtual_root.known() == Some(&true));
    let driver = device.and_then(|device| device.driver.known()).or_else(|| interface.driver.name.known());
    let drivers = &facts.knowledge().buses().pci.drivers.names;
    let unread = links.is_none_or(|links| links.known().is_none());
    let parallel = links.is_some_and(Reading::is_absent) || unread && driver.is_some_and(|name| drivers.contains(name));
    parallel && !virtual_root && address.bus != 0
}

/// Links of a card's path that carry other devices too, in words: what those take was not measured.
fn shared_links(facts: &Facts<'_>, device: usize) -> Vec<String> {
    let links = facts.snapshot().devices[device].pcie.links.known().map_or(&[][..], Vec::as_slice);
    let shared = links.iter().filter_map(|link| {
        let others = link.siblings.known().filter(|others| !others.is_empty())?;
        let below = link.upper.known().map_or_else(|| link.lower.to_string(), ToString::to_string);
        Some(match others.as_slice() {
            [one] => format!("the link below {below} is shared with {one}: not measured"),
            several => format!("the link below {below} is shared with {} other devices: not measured", several.len()),
        })
    });
    shared.chain(chipset(facts, links)).collect()
}

/// A root port where those of a chipset are, in words.
fn chipset(facts: &Facts<'_>, links: &[PcieLink]) -> Option<String> {
    let known = &facts.knowledge().buses().pcie.chipset_ports;
    let root = links.last()?.upper.known()?;
    let vendor = facts.snapshot().host.processors.vendor.known()?;
    let there = *vendor == known.vendor && root.bus == 0 && known.devices.contains(&root.device);
    there.then(|| format!("root port {root} is probably one of the chipset: its uplink is shared with SATA, USB and other slots, not measured"))
}

fn known(number: f64) -> State {
    State::Known(Value::Number(number))
}

fn link_part(facts: &Facts<'_>, index: usize, pick: fn(&Ceiling) -> f64) -> Derived {
    let Some(found) = facts.interface_ceiling(index) else { return Derived::unknown(Vec::new()) };
    let from = found.link_from.clone();
    match (&found.link, found.link_state) {
        (Some(link), _) => Derived::of(known(pick(link)), from).assuming(link.assumed.clone()),
        (None, LinkState::Absent) => Derived::absent(from),
        (None, _) => Derived::unknown(from),
    }
}

fn whole(facts: &Facts<'_>, index: usize, pick: fn(&Ceiling) -> f64) -> Derived {
    let Some(found) = facts.interface_ceiling(index) else { return Derived::unknown(Vec::new()) };
    match &found.combined {
        Some(combined) => {
            Derived::of(known(pick(&combined.ceiling)), found.link_from.clone()).assuming(found.assumed())
        }
        None => link_part(facts, index, pick),
    }
}

/// The range of an interface in words: `25-28 Gb/s`.
pub(super) fn interface_range(facts: &Facts<'_>, index: usize) -> Derived {
    let Some(found) = facts.interface_ceiling(index) else { return Derived::unknown(Vec::new()) };
    match &found.combined {
        Some(combined) => {
            let range = in_words(&combined.ceiling);
            Derived::of(State::Known(Value::Text(range.into())), found.link_from.clone()).assuming(found.assumed())
        }
        None if found.link_state == LinkState::Absent => Derived::absent(found.link_from.clone()),
        None => Derived::unknown(found.link_from.clone()),
    }
}

fn in_words(ceiling: &Ceiling) -> String {
    rate_range(ceiling.lo_bps, ceiling.typical_bps, ceiling.hi_bps, ceiling.confidence == Confidence::Low)
}

fn of_path(facts: &Facts<'_>, index: usize, pick: impl Fn(&PathCeiling, &PcieCeiling) -> Option<Value>) -> Derived {
    let Some(path) = facts.path_ceiling(index) else { return Derived::unknown(Vec::new()) };
    match &path.found {
        Some(found) => match pick(path, found) {
            Some(value) => Derived::of(State::Known(value), path.from.clone()).assuming(found.ceiling.assumed.clone()),
            None => Derived::unknown(path.from.clone()),
        },
        None => Derived::of(path.state.clone(), path.from.clone()),
    }
}

/// A figure of the path's ceiling.
pub(super) fn path(facts: &Facts<'_>, index: usize, pick: fn(&Ceiling) -> f64) -> Derived {
    of_path(facts, index, |_, found| Some(Value::Number(pick(&found.ceiling))))
}

/// The range in words: `25-28 Gb/s`.
pub(super) fn range(facts: &Facts<'_>, index: usize) -> Derived {
    of_path(facts, index, |_, found| Some(Value::Text(in_words(&found.ceiling).into())))
}

/// The raw rate of the narrowest link.
pub(super) fn raw(facts: &Facts<'_>, index: usize) -> Derived {
    let mut derived = of_path(facts, index, |_, found| Some(Value::Number(found.raw_bps)));
    derived.assumed.clear();
    derived
}

/// The narrowest link.
pub(super) fn narrowest(facts: &Facts<'_>, index: usize) -> Derived {
    let mut derived =
        of_path(facts, index, |path, _| path.narrowest.map(|link| Value::Entity(Facts::entity(LINK, link))));
    derived.assumed.clear();
    derived
}
