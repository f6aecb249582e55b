//! Ceilings of this host's interfaces and cards: the readings that the pure formulas of `crate::ceiling` need, and which of
//! their inputs had to be assumed.

mod bond;
mod set_rate;
#[cfg(test)]
mod tests;
mod window;

pub use set_rate::SetRate;
pub(super) use window::window_of;

use super::catalogue::{DEVICE, INTERFACE, LINK};
use super::{Derived, Facts};
use crate::ceiling::combine::{Combined, Mechanism, Part, combine};
use crate::ceiling::pcie::{self, Hop, Path, PcieCeiling, Platform};
use crate::ceiling::{Ceiling, Confidence, Duplex, Framing, Traffic};
use crate::ceiling::{bus, ethernet};
use crate::lang::{Key, State, Value};
use crate::reading::numbers::rate_range;
use crate::reading::{Gigatransfers, Reading};
use crate::snapshot::{self, PcieLink, PcieRole};

/// MTU that is assumed where none was read: the default of Ethernet.
const USUAL_MTU: u32 = 1500;

/// The usual MTU of jumbo frames.
const JUMBO_MTU: u64 = 9000;

/// What the PCIe path of a card carries.
#[derive(Clone, Debug)]
pub struct PathCeiling {
    /// The ceiling, if all that it needs is known.
    pub found: Option<PcieCeiling>,
    /// Index of the narrowest link among all links of the snapshot.
    pub narrowest: Option<usize>,
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
    /// The USB link, with its name in `knowledge/buses.yaml`.
    pub usb: Option<(String, Ceiling)>,
    /// What a queueing discipline lets out.
    pub shaper: Option<SetRate>,
    /// The lowest of them and what binds.
    pub combined: Option<Combined>,
    /// The same for receiving alone, where something holds back what is sent.
    pub receiving: Option<Combined>,
    /// What one flow gets, where that is less: a bond sends it over one member.
    pub one_flow: Option<Ceiling>,
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
    ("ceiling.lo", "least that the interface could carry", |facts, index| whole(facts, index, |c| c.lo_bps)),
    ("ceiling.typical", "what the interface could typically carry", |facts, index| {
        whole(facts, index, |c| c.typical_bps)
    }),
    ("ceiling.hi", "most that the interface could carry", |facts, index| whole(facts, index, |c| c.hi_bps)),
    ("ceiling.jumbo.typical", "what the interface could typically carry at an MTU of 9000", |facts, index| {
        let jumbo = interface_at(facts, index, Some(JUMBO_MTU));
        let from = jumbo.link_from.clone();
        match &jumbo.combined {
            Some(combined) => {
                let ceiling = &combined.ceiling;
                Derived::of(known(ceiling.typical_bps), from).assuming(ceiling.assumed.clone())
            }
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
            let framing = framing(self, mtu, self.vlan_tags(ports.first().copied()));
            let mut path = path_at(self, device, framing, mtu.is_none());
            path.from.extend(smallest.iter().flat_map(|(_, port)| self.key(INTERFACE, *port, "mtu")));
            path
        }))
    }

    /// How fast an interface could go.
    pub fn interface_ceiling(&self, interface: usize) -> Option<&InterfaceCeiling> {
        Some(self.ceilings.get(interface)?.get_or_init(|| {
            let mtu = self.snapshot().interfaces[interface].mtu.known().map(|mtu| mtu.0);
            interface_at(self, interface, mtu)
        }))
    }

    fn vlan_tags(&self, interface: Option<usize>) -> u32 {
        let tags = interface.and_then(|index| self.snapshot().interfaces[index].vlan_tags.known().copied());
        tags.unwrap_or(0)
    }
}

/// Timestamps are in use only where both ends have them on: off at this end is known, on is not.
fn framing(facts: &Facts<'_>, mtu: Option<u64>, vlan_tags: u32) -> Framing {
    let mtu = mtu.and_then(|mtu| u32::try_from(mtu).ok()).unwrap_or(USUAL_MTU);
    let off = window::parameter(facts, "net.ipv4.tcp_timestamps") == Some(0.0);
    Framing { vlan_tags, timestamps: off.then_some(false), ..Framing::new(mtu, Traffic::Tcp4) }
}

fn mtu_assumed() -> String {
    format!("MTU {USUAL_MTU}: not read")
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

fn path_at(facts: &Facts<'_>, index: usize, framing: Framing, mtu_unread: bool) -> PathCeiling {
    let device = &facts.snapshot().devices[index];
    let none = |state, from| PathCeiling { found: None, narrowest: None, state, from };
    if device.pcie.virtual_root.known() == Some(&true) {
        return none(State::Absent, facts.key(DEVICE, index, "pcie.virtual_root"));
    }
    if device.physical_function.known().is_some() {
        return none(State::Absent, facts.key(DEVICE, index, "physical_function"));
    }
    let links = match &device.pcie.links {
        Reading::Known(links, _) => links,
        Reading::Absent(_) => return none(State::Absent, facts.key(DEVICE, index, "pcie.links")),
        Reading::Unknown(_) => return none(State::Unknown, facts.key(DEVICE, index, "pcie.links")),
    };
    let first = facts.topology().device_links(index).start;
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
    let Ok(mut found) = pcie::nic(&path, &framing, None, facts.knowledge().buses()) else {
        return none(State::Unknown, from);
    };
    if mtu_unread {
        found.ceiling = found.ceiling.assuming(mtu_assumed());
    }
    if links.last().is_none_or(|last| last.role.known() != Some(&PcieRole::RootPort)) {
        found.ceiling = found.ceiling.assuming("the links above the ones that were read are no narrower");
    }
    if tunnels {
        // What a tunnel carries depends on its controller, and none is told by its links.
        found.ceiling = found.ceiling.assuming("the Thunderbolt or USB4 tunnel on the way carries more");
    }
    let narrowest = Some(first + found.slowest_hop);
    PathCeiling { found: Some(found), narrowest, state: State::Unknown, from }
}

/// The ceiling of an interface at an MTU; none: not read.
fn interface_at(facts: &Facts<'_>, index: usize, mtu: Option<u64>) -> InterfaceCeiling {
    let interface = &facts.snapshot().interfaces[index];
    let mut result = InterfaceCeiling::default();
    let physical_key = facts.key(INTERFACE, index, "port.physical");
    let physical = physical_key.first().and_then(|key| match facts.lookup(*key).state {
        State::Known(Value::Bool(physical)) => Some(physical),
        _ => None,
    });
    if physical == Some(false) {
        result.link_state = LinkState::Absent;
        result.link_from = physical_key;
        bond::fill(&mut result, facts, index, mtu);
        return result;
    }
    result.link_from = [facts.key(INTERFACE, index, "link.speed"), facts.key(INTERFACE, index, "mtu")].concat();
    let buses = facts.knowledge().buses();
    let framing = framing(facts, mtu, facts.vlan_tags(Some(index)));
    let mut parts = Vec::new();
    if let Some(speed) = interface.link.speed.known().filter(|speed| speed.0 > 0) {
        let duplex = match interface.link.duplex.known() {
            Some(snapshot::Duplex::Half) => Duplex::Half,
            Some(snapshot::Duplex::Full) | None => Duplex::Full,
        };
        let mut link = ethernet::link(speed.0 as f64, &framing, duplex, buses);
        if mtu.is_none() {
            link = link.assuming(mtu_assumed());
        }
        if physical.is_none() {
            link = link.assuming("the speed is that of a hardware port");
        }
        if on_some_pci_bus(facts, index) {
            link = link.assuming("the PCI or PCI-X bus of the card, which was not read, carries more than the link");
        }
        parts.push(Part { mechanism: Mechanism::Link, ceiling: link.clone() });
        result.link = Some(link);
        result.link_state = LinkState::Known;
    }
    if let Some(device) = facts.device_of(index) {
        let path = path_at(facts, device, framing, mtu.is_none());
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
        result.combined = combine(&parts);
        set_rate::hold_back(&mut result, facts, index, parts, &framing);
        result.notes.extend(window::note(facts, mtu, result.combined.as_ref()));
    }
    result
}

/// A card on parallel PCI or PCI-X. What sits on bus 0 is part of the chipset or of a virtual machine and on no such bus.
fn on_some_pci_bus(facts: &Facts<'_>, interface: usize) -> bool {
    facts.device_of(interface).is_some_and(|device| {
        let device = &facts.snapshot().devices[device];
        let virtual_root = device.pcie.virtual_root.known() == Some(&true);
        device.pcie.links.is_absent() && !virtual_root && device.address.bus != 0
    })
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
    shared.collect()
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
        Some(combined) => Derived::of(known(pick(&combined.ceiling)), found.link_from.clone())
            .assuming(combined.ceiling.assumed.clone()),
        None => link_part(facts, index, pick),
    }
}

/// The range of an interface in words: `25-28 Gb/s`.
pub(super) fn interface_range(facts: &Facts<'_>, index: usize) -> Derived {
    let Some(found) = facts.interface_ceiling(index) else { return Derived::unknown(Vec::new()) };
    match &found.combined {
        Some(combined) => {
            let range = in_words(&combined.ceiling);
            Derived::of(State::Known(Value::Text(range.into())), found.link_from.clone())
                .assuming(combined.ceiling.assumed.clone())
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
