//! Buses that are not PCI Express: parallel PCI and PCI-X, USB, PCIe tunnelled through Thunderbolt.

use serde::Serialize;

use super::ethernet::Framing;
use super::pcie::Dma;
use super::range::{Ceiling, Confidence, Direction, spread};
use crate::knowledge::buses::{Buses, PciBus};

/// One explanation among several when the bus of an adapter is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Bus name as in `knowledge/buses.yaml`.
    pub bus: String,
    /// PCI-X read size, bytes, where it matters.
    pub read_size: Option<u32>,
    /// Direction this candidate is about.
    pub direction: Direction,
    /// What the adapter reaches on such a bus.
    pub ceiling: Ceiling,
}

fn bytes_per_clock(bus: &PciBus) -> f64 {
    f64::from(bus.bits) / 8.0
}

fn clocks_per_second(bus: &PciBus) -> f64 {
    bus.megahertz * 1e6
}

/// Clocks for `bytes` in bursts of at most `burst` bytes.
fn burst_clocks(bus: &PciBus, bytes: f64, burst: u32, operation: Dma, buses: &Buses) -> f64 {
    let delay = match operation {
        Dma::Write => 0.0,
        Dma::Read => buses.pci.read_delay_nanoseconds.value * bus.megahertz / 1e3,
    };
    let bursts = (bytes / f64::from(burst.max(1))).ceil();
    bytes / bytes_per_clock(bus) + bursts * (f64::from(buses.pci.burst_clocks.value) + delay)
}

/// Data rate of a DMA engine on a named PCI-X bus with bursts of `burst` bytes; `None` for an unknown name.
pub fn pcix_dma(name: &str, burst: u32, operation: Dma, buses: &Buses) -> Option<Ceiling> {
    let bus = buses.pci.buses.get(name).filter(|b| b.burst_protocol)?;
    let bytes = f64::from(burst.max(1));
    let clocks = burst_clocks(bus, bytes, burst, operation, buses);
    Some(Ceiling::from_formula(clocks_per_second(bus) / clocks * bytes * 8.0, &buses.pci.pcix))
}

/// Frames per second of an adapter alone on a PCI-X bus. Data, descriptors and completions share the one bus.
fn pcix_frames(bus: &PciBus, framing: &Framing, read_size: u32, direction: Direction, buses: &Buses) -> f64 {
    let frame = framing.dma_bytes(buses);
    let descriptor = f64::from(buses.pci.descriptor.value);
    let batch = f64::from(buses.pcie.descriptor_batch.value);
    let write = |bytes: f64| burst_clocks(bus, bytes, buses.pci.write_burst.value, Dma::Write, buses);
    let fetch = burst_clocks(bus, descriptor * batch, read_size, Dma::Read, buses) / batch;
    let receive = write(frame) + write(descriptor) + fetch;
    let transmit = burst_clocks(bus, frame, read_size, Dma::Read, buses) + fetch + write(descriptor * batch) / batch;
    clocks_per_second(bus)
        / match direction {
            Direction::Receive => receive,
            Direction::Transmit => transmit,
            Direction::Bidirectional => receive + transmit,
        }
}

/// Payload rate of an adapter alone on a named parallel bus; `None` for an unknown name.
///
/// `read_size` is the PCI-X maximum memory read byte count; unknown covers the usual default and the largest.
/// All cards of the bus share it, and the slowest card sets its clock.
pub fn pci(
    name: &str,
    framing: &Framing,
    read_size: Option<u32>,
    direction: Option<Direction>,
    buses: &Buses,
) -> Option<Ceiling> {
    let bus = buses.pci.buses.get(name)?;
    let bits = 8.0 * framing.payload_bytes(buses);
    let shared = "shared by every card of the bus; the slowest card sets the clock";
    if !bus.burst_protocol {
        let ways = if direction == Some(Direction::Bidirectional) { 2.0 } else { 1.0 };
        let gross = bytes_per_clock(bus) * clocks_per_second(bus) * 8.0 / ways;
        let pure = gross * framing.payload_bytes(buses) / framing.dma_bytes(buses);
        let ceiling = Ceiling::from_formula(pure, &buses.pci.conventional);
        return Some(framing.cover_timestamps(ceiling, buses).noting(shared).at_most(Confidence::Low));
    }
    let directions = direction.map_or(vec![Direction::Receive, Direction::Transmit], |d| vec![d]);
    let read_sizes = read_size.filter(|&r| r > 0).map_or(buses.pci.read_sizes.value.clone(), |r| vec![r]);
    let mut rates = Vec::new();
    for &size in &read_sizes {
        rates.extend(directions.iter().map(|&d| pcix_frames(bus, framing, size, d, buses) * bits));
    }
    let (lowest, mean, highest) = spread(&rates)?;
    let f = &buses.pci.pcix;
    let ceiling = Ceiling::from_bounds(f.lo * lowest, f.typical * mean, f.hi * highest);
    let mut ceiling = framing.cover_timestamps(ceiling, buses).noting(shared);
    if let [first, .., last] = read_sizes[..] {
        ceiling = ceiling.assuming(format!("PCI-X read size {first} or {last} B: not readable without root"));
    }
    Some(ceiling)
}

/// Every bus an adapter may sit in when that is not known, slowest first. They are explanations to tell apart, so no
/// single one is to be presented as the ceiling.
pub fn pci_candidates(framing: &Framing, buses: &Buses) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (name, bus) in &buses.pci.buses {
        let sizes: Vec<Option<u32>> = if bus.burst_protocol {
            buses.pci.read_sizes.value.iter().copied().map(Some).collect()
        } else {
            vec![None]
        };
        for direction in [Direction::Receive, Direction::Transmit] {
            // The read size hardly matters to a receiver: one candidate is enough.
            let useful = if direction == Direction::Receive { 1 } else { sizes.len() };
            for &read_size in sizes.iter().take(useful) {
                if let Some(ceiling) = pci(name, framing, read_size, Some(direction), buses) {
                    let read_size = read_size.filter(|_| direction == Direction::Transmit);
                    found.push(Candidate { bus: name.clone(), read_size, direction, ceiling });
                }
            }
        }
    }
    found.sort_by(|a, b| a.ceiling.typical_bps.total_cmp(&b.ceiling.typical_bps));
    found
}

/// Payload rate of an adapter on a named USB link (`usb-5g` ...), per direction; `None` for an unknown name.
pub fn usb(name: &str, framing: &Framing, buses: &Buses) -> Option<Ceiling> {
    let bus = buses.usb.buses.get(name)?;
    let u = &buses.usb;
    let share = framing.payload_bytes(buses) / (framing.dma_bytes(buses) + f64::from(u.frame_header.value));
    let coded = bus.signalling_bps * f64::from(bus.encoded) / f64::from(bus.on_wire);
    let ceiling = if bus.packet_protocol {
        let payload = f64::from(u.packet_payload.value);
        let packets = payload / (payload + f64::from(u.packet_overhead.value));
        Ceiling::from_formula(coded * packets * share, &u.range)
    } else {
        Ceiling::from_formula(coded * share, &u.usb2)
    };
    Some(framing.cover_timestamps(ceiling, buses).noting("few USB adapters were measured").at_most(Confidence::Low))
}

/// The USB bus name for a speed in Mbit/s as `/sys/bus/usb/devices/*/speed` prints it.
pub fn usb_name(speed_mbps: f64, buses: &Buses) -> Option<&str> {
    let near = |bps: f64| (bps / 1e6 - speed_mbps).abs() < 1.0;
    buses.usb.buses.iter().find(|(_, b)| near(b.signalling_bps)).map(|(name, _)| name.as_str())
}

/// Payload rate of an adapter behind a tunnel of a named controller (`thunderbolt3`), per direction; `None` for others,
/// about which nothing is claimed.
pub fn thunderbolt(name: &str, framing: &Framing, buses: &Buses) -> Option<Ceiling> {
    let rate = buses.thunderbolt.get(name)?;
    let share = framing.payload_bytes(buses) / framing.dma_bytes(buses);
    let ceiling = Ceiling::from_bounds(rate.lo_bps * share, rate.typical_bps * share, rate.hi_bps * share);
    Some(ceiling.noting("two measurements support this figure").at_most(Confidence::Low))
}

/// The ceiling of any bus that has a name of its own in `knowledge/buses.yaml`; `None` for an unknown name.
pub fn named(name: &str, framing: &Framing, direction: Option<Direction>, buses: &Buses) -> Option<Ceiling> {
    pci(name, framing, None, direction, buses)
        .or_else(|| usb(name, framing, buses))
        .or_else(|| thunderbolt(name, framing, buses))
}

/// The names that [`named`] knows.
pub fn names(buses: &Buses) -> impl Iterator<Item = &str> {
    buses.pci.buses.keys().chain(buses.usb.buses.keys()).chain(buses.thunderbolt.keys()).map(String::as_str)
}
