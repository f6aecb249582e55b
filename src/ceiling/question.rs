//! A question with all that its asker knows, and its answer: the parts of the path and which of them binds.

use serde::Serialize;

use super::bus::{self, Candidate};
use super::combine::{Combined, Group, Mechanism, Part, Spread, bond, combine, group};
use super::ethernet::{Duplex, Framing, link};
use super::pcie::{self, Path};
use super::range::{Ceiling, Direction};
use super::shaper::{policer, shaper};
use super::tcp::Window;
use crate::knowledge::buses::Buses;

/// What is asked. A part that is not given takes no part.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// How the packets look.
    pub framing: Framing,
    /// Direction; none covers receiving and sending, each alone.
    pub direction: Option<Direction>,
    /// Rate of the link, bit/s.
    pub link_bps: Option<f64>,
    /// Duplex mode of the link.
    pub duplex: Duplex,
    /// Such links bundled into a bond, and how it spreads its flows.
    pub bond: Option<(u32, Spread)>,
    /// The PCIe path; its hops may be empty.
    pub path: Path<'a>,
    /// Ports of the card that share the path.
    pub ports: u32,
    /// Another bus, by its name in `knowledge/buses.yaml`.
    pub bus: Option<&'a str>,
    /// The adapter sits on parallel PCI or PCI-X, and nobody knows on which: candidates are listed, none is chosen.
    pub some_pci: bool,
    /// Largest read of a PCI-X adapter, bytes.
    pub read_size: Option<u32>,
    /// Chipset uplink above the slot, by its name.
    pub uplink: Option<&'a str>,
    /// Rate of a shaper, bit/s.
    pub shaper_bps: Option<f64>,
    /// Rate of a policer, bit/s.
    pub policer_bps: Option<f64>,
    /// Window of one flow and round-trip time, seconds.
    pub window: Option<(Window, f64)>,
    /// Parallel flows; none: one for the window, many for a bond.
    pub flows: Option<u32>,
}

impl<'a> Question<'a> {
    /// A question about packets of which nothing else is known.
    pub fn new(framing: Framing, hops: &'a [pcie::Hop]) -> Self {
        Self {
            framing,
            direction: None,
            link_bps: None,
            duplex: Duplex::Full,
            bond: None,
            path: Path::new(hops),
            ports: 1,
            bus: None,
            some_pci: false,
            read_size: None,
            uplink: None,
            shaper_bps: None,
            policer_bps: None,
            window: None,
            flows: None,
        }
    }
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Each part and how fast it could go.
    pub parts: Vec<Part>,
    /// The whole; none where only candidates are known.
    pub combined: Option<Combined>,
    /// What the ports of the card reach together, where there are several.
    pub together: Option<Group>,
    /// Buses that the adapter may sit on, slowest first.
    pub candidates: Vec<Candidate>,
    /// Packets per second at the typical rate.
    pub packets_per_second: Option<f64>,
    /// Round trip above which the window of one flow binds, seconds.
    pub window_binds_above_seconds: Option<f64>,
}

/// Why there is no answer, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer(pub String);

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAnswer {}

fn mechanism_of(bus: &str) -> Mechanism {
    match bus.split('-').next() {
        Some("pci") => Mechanism::Pci,
        Some("usb") => Mechanism::Usb,
        _ => Mechanism::Thunderbolt,
    }
}

/// Several flows at once over windows of their own.
fn times(ceiling: Ceiling, flows: u32) -> Ceiling {
    let n = f64::from(flows.max(1));
    Ceiling { lo_bps: ceiling.lo_bps * n, typical_bps: ceiling.typical_bps * n, hi_bps: ceiling.hi_bps * n, ..ceiling }
}

fn link_part(question: &Question<'_>, link_bps: f64, buses: &Buses) -> Ceiling {
    let one = link(link_bps, &question.framing, question.duplex, buses);
    let Some((members, spread)) = question.bond else { return one };
    let members = vec![one.clone(); members.min(256) as usize];
    bond(&members, spread, question.flows).unwrap_or(one)
}

/// Answers a question.
///
/// # Errors
/// Says in words what is missing or contradicts itself: no part was given, headers leave no room for payload, no hop is a possible
/// link, a bus or uplink has no such name.
pub fn ask(question: &Question<'_>, buses: &Buses) -> Result<Answer, NoAnswer> {
    let framing = &question.framing;
    if framing.payload_bytes(buses) <= 0.0 {
        return Err(NoAnswer("the headers leave no room for payload in packets of this size".into()));
    }
    let mut parts = Vec::new();
    let mut add = |mechanism, ceiling| parts.push(Part { mechanism, ceiling });
    let alone = question.link_bps.map(|bps| link_part(question, bps, buses));
    if let Some(ceiling) = &alone {
        add(Mechanism::Link, ceiling.clone());
    }
    let mut together = None;
    if !question.path.hops.is_empty() {
        let found = pcie::nic(&question.path, framing, question.direction, buses);
        let found = found.map_err(|error| NoAnswer(error.to_string()))?;
        if let (Some(port), true) = (&alone, question.ports > 1) {
            together = Some(group(&found.ceiling, &vec![port.clone(); question.ports.min(256) as usize]));
        }
        add(Mechanism::Pcie, found.ceiling);
    }
    if let Some(name) = question.bus {
        let ceiling = match mechanism_of(name) {
            Mechanism::Pci => bus::pci(name, framing, question.read_size, question.direction, buses),
            _ => bus::named(name, framing, question.direction, buses),
        };
        add(mechanism_of(name), ceiling.ok_or_else(|| NoAnswer(format!("there is no bus `{name}`")))?);
    }
    if let Some(name) = question.uplink {
        let ceiling = pcie::chipset_uplink(name, framing, question.direction, buses);
        add(Mechanism::Shared, ceiling.ok_or_else(|| NoAnswer(format!("there is no chipset uplink `{name}`")))?);
    }
    if let Some(rate) = question.shaper_bps {
        add(Mechanism::Shaper, shaper(rate, framing, buses));
    }
    if let Some(rate) = question.policer_bps {
        add(Mechanism::Shaper, policer(rate, framing, buses));
    }
    if let Some((window, seconds)) = &question.window {
        let one = window.over(*seconds).ok_or_else(|| NoAnswer("the round-trip time must be above zero".into()))?;
        add(Mechanism::Window, times(one, question.flows.unwrap_or(1)));
    }
    let candidates = if question.some_pci { bus::pci_candidates(framing, buses) } else { Vec::new() };
    if parts.is_empty() && candidates.is_empty() {
        return Err(NoAnswer(
            "nothing to calculate with: give a link, a PCIe path, another bus, a shaper or a window".into(),
        ));
    }
    let hardware: Vec<Part> = parts.iter().filter(|part| part.mechanism != Mechanism::Window).cloned().collect();
    let reach = combine(&hardware).map(|whole| whole.ceiling.typical_bps);
    let combined = if question.some_pci { None } else { combine(&parts) };
    let typical = combined.as_ref().map(|whole| whole.ceiling.typical_bps);
    Ok(Answer {
        packets_per_second: typical.map(|bps| bps / 8.0 / framing.payload_bytes(buses)),
        window_binds_above_seconds: question
            .window
            .as_ref()
            .zip(reach)
            .and_then(|((window, _), bps)| window.binding_rtt_seconds(bps)),
        parts,
        combined,
        together,
        candidates,
    })
}
