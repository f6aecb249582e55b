//! What a PCI Express path leaves for packets: slowest hop, packet costs, descriptor traffic, both directions.
//!
//! Each frame crosses the path in pieces of at most the maximum payload size, every piece with its own header; the
//! adapter also fetches descriptors and writes completions. Acknowledgements and credits travel against the packets
//! they answer, so they are charged to the opposite direction.

use serde::{Deserialize, Serialize};

use super::ethernet::Framing;
use super::range::{Ceiling, Confidence, Direction, spread};
use crate::knowledge::buses::{Buses, Factors, Generation, Profile};

/// One link between the adapter and the root port.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// Signalling rate per lane, GT/s: 2.5, 5, 8, 16, 32 or 64.
    pub gigatransfers: f64,
    /// Lanes in use.
    pub width: u32,
    /// The link is a USB4 or Thunderbolt tunnel: its reported speed means nothing.
    pub tunnel: bool,
}

impl Hop {
    /// An ordinary link.
    pub fn new(gigatransfers: f64, width: u32) -> Self {
        Self { gigatransfers, width, tunnel: false }
    }
}

/// What kind of machine it is, for the payload sizes to consider when the register cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    /// x86 server, desktop or appliance.
    #[default]
    X86,
    /// Anything else, or not known.
    Other,
}

/// The path from adapter to root port, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path<'a> {
    /// Links, the adapter's own first.
    pub hops: &'a [Hop],
    /// Maximum payload size in use (the smallest of the path), bytes.
    pub mps: Option<u32>,
    /// Maximum read request size of the adapter, bytes.
    pub mrrs: Option<u32>,
    /// Size at which the root complex cuts completions, bytes, where it is known to be below the payload size.
    pub read_completion_boundary: Option<u32>,
    /// Kernel driver, for its descriptor traffic.
    pub driver: Option<&'a str>,
    /// Receive completions are compressed (`rx_cqe_compress`).
    pub compressed_completions: bool,
    /// Kind of machine.
    pub platform: Platform,
}

impl<'a> Path<'a> {
    /// A path of which only the links are known, in an x86 machine.
    pub fn new(hops: &'a [Hop]) -> Self {
        Self {
            hops,
            mps: None,
            mrrs: None,
            read_completion_boundary: None,
            driver: None,
            compressed_completions: false,
            platform: Platform::X86,
        }
    }
}

/// Ceiling of a PCIe path and what decided it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PcieCeiling {
    /// The range, payload bit/s per direction.
    pub ceiling: Ceiling,
    /// Index of the slowest hop in [`Path::hops`]; the first of equals.
    pub slowest_hop: usize,
    /// Raw rate of that hop after line coding, bit/s per direction.
    pub raw_bps: f64,
    /// Descriptor profile used; empty for DMA engines.
    pub profile: String,
    /// Hops that took no part, in words: impossible readings and tunnels.
    pub discarded: Vec<String>,
}

/// No hop of the path had a usable speed and width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoUsableHop {
    /// Why each hop was discarded.
    pub discarded: Vec<String>,
}

impl std::fmt::Display for NoUsableHop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.discarded.is_empty() {
            return f.write_str("no PCIe link is known");
        }
        write!(f, "no usable PCIe link: {}", self.discarded.join("; "))
    }
}

impl std::error::Error for NoUsableHop {}

/// The generation with this signalling rate (GT/s), within one per cent.
pub fn generation(gigatransfers: f64, buses: &Buses) -> Option<&Generation> {
    buses.pcie.generations.iter().find(|g| (g.gigatransfers - gigatransfers).abs() <= g.gigatransfers * 0.01)
}

fn raw_of(generation: &Generation, width: u32) -> f64 {
    generation.gigatransfers * 1e9 * f64::from(generation.encoded) / f64::from(generation.on_wire) * f64::from(width)
}

/// Raw rate of a hop per direction after line coding, bit/s; `None` for an impossible reading.
pub fn raw_bps(hop: Hop, buses: &Buses) -> Option<f64> {
    let usable = (1..=buses.pcie.max_width.value).contains(&hop.width);
    generation(hop.gigatransfers, buses).filter(|_| usable).map(|g| raw_of(g, hop.width))
}

/// The figure the kernel prints as available bandwidth for such a hop, Mbit/s. It is not a throughput.
pub fn kernel_mbps(hop: Hop, buses: &Buses) -> Option<u32> {
    raw_bps(hop, buses)?;
    generation(hop.gigatransfers, buses).map(|g| g.kernel_mbps_per_lane * hop.width)
}

struct Slowest<'b> {
    index: usize,
    width: u32,
    generation: &'b Generation,
    raw_bps: f64,
    discarded: Vec<String>,
    /// Discarded hops that could have been the slowest one.
    unread: Vec<String>,
}

fn slowest<'b>(hops: &[Hop], buses: &'b Buses) -> Result<Slowest<'b>, NoUsableHop> {
    let mut discarded = Vec::new();
    let mut unread = Vec::new();
    let mut found: Option<(usize, &Hop, &'b Generation, f64)> = None;
    for (index, hop) in hops.iter().enumerate() {
        let place = format!("hop {} ({} GT/s x{})", index + 1, hop.gigatransfers, hop.width);
        if hop.tunnel {
            discarded.push(format!("{place} is a tunnel: its speed is nominal"));
            continue;
        }
        let (Some(raw), Some(generation)) = (raw_bps(*hop, buses), generation(hop.gigatransfers, buses)) else {
            let text = format!("{place} is no possible link and was ignored: the device may be asleep or gone");
            unread.push(text.clone());
            discarded.push(text);
            continue;
        };
        if found.is_none_or(|(.., best)| raw < best) {
            found = Some((index, hop, generation, raw));
        }
    }
    match found {
        Some((index, hop, generation, raw_bps)) => {
            Ok(Slowest { index, width: hop.width, generation, raw_bps, discarded, unread })
        }
        None => Err(NoUsableHop { discarded }),
    }
}

/// Payload sizes to consider, and the words for the assumption when the register was not read.
fn payload_sizes(path: &Path<'_>, hop: &Slowest<'_>, buses: &Buses) -> (Vec<u32>, Option<String>) {
    if let Some(mps) = path.mps.filter(|&m| possible_size(m)) {
        return (vec![mps], None);
    }
    let plausible = &buses.pcie.plausible_mps;
    let slow = hop.width == 1 || hop.generation.gigatransfers <= 5.0;
    let sizes = match path.platform {
        Platform::Other => &plausible.unknown,
        Platform::X86 if slow => &plausible.small,
        Platform::X86 => &plausible.server,
    };
    let words: Vec<String> = sizes.value.iter().map(ToString::to_string).collect();
    (sizes.value.clone(), Some(format!("max payload size {} B", words.join(" or "))))
}

/// Largest piece in which an answer to a read comes: no more than a packet holds, was asked for, or is cut to.
fn completion_size(path: &Path<'_>, mps: u32, mrrs: u32) -> u32 {
    path.read_completion_boundary.filter(|&b| b > 0).unwrap_or(mps).min(mps).min(mrrs)
}

fn possible_size(bytes: u32) -> bool {
    bytes.is_power_of_two() && (128..=4096).contains(&bytes)
}

/// Bytes and packets on one direction of the link, per frame.
#[derive(Clone, Copy, Default)]
struct Load {
    bytes: f64,
    tlps: f64,
}

impl Load {
    fn add(&mut self, tlps: f64, header: u32, data: f64) {
        self.bytes += tlps * f64::from(header) + data;
        self.tlps += tlps;
    }

    fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, tlps: self.tlps + other.tlps }
    }
}

struct Costs<'a> {
    generation: &'a Generation,
    profile: &'a Profile,
    buses: &'a Buses,
    mps: u32,
    completion: u32,
    mrrs: u32,
}

impl Costs<'_> {
    fn request(&self) -> u32 {
        self.generation.header_4dw + self.generation.tlp_framing
    }

    fn answer(&self) -> u32 {
        self.generation.header_3dw + self.generation.tlp_framing
    }

    /// Descriptor fetch: the request goes up, the descriptors come down.
    fn fetch(&self, size: u32, up: &mut Load, down: &mut Load) {
        let batch = f64::from(self.buses.pcie.descriptor_batch.value);
        let size = f64::from(size);
        up.add(1.0 / batch, self.request(), 0.0);
        down.add((size * batch / f64::from(self.completion)).ceil() / batch, self.answer(), size);
    }

    fn doorbell(&self, size: u32, down: &mut Load) {
        let batch = f64::from(self.buses.pcie.descriptor_batch.value);
        down.add(1.0 / batch, self.request(), f64::from(size) / batch);
    }

    /// (towards the host, from the host) for one received frame.
    fn receive(&self, frame: f64) -> (Load, Load) {
        let (mut up, mut down) = (Load::default(), Load::default());
        up.add((frame / f64::from(self.mps)).ceil(), self.request(), frame);
        up.add(self.profile.rx_completion_writes, self.request(), self.profile.rx_completion);
        self.fetch(self.profile.rx_descriptor, &mut up, &mut down);
        self.doorbell(self.buses.pcie.rx_doorbell.value, &mut down);
        (up, down)
    }

    /// (towards the host, from the host) for one sent frame.
    fn transmit(&self, frame: f64) -> (Load, Load) {
        let (mut up, mut down) = (Load::default(), Load::default());
        up.add((frame / f64::from(self.mrrs)).ceil(), self.request(), 0.0);
        down.add((frame / f64::from(self.completion)).ceil(), self.answer(), frame);
        up.add(self.profile.tx_completion_writes, self.request(), self.profile.tx_completion);
        self.fetch(self.profile.tx_descriptor, &mut up, &mut down);
        self.doorbell(self.buses.pcie.tx_doorbell.value, &mut down);
        (up, down)
    }

    /// Frames per second that the busier direction of the link carries.
    fn frames_per_second(&self, raw_bps: f64, frame: f64, direction: Direction) -> f64 {
        let (up, down) = match direction {
            Direction::Receive => self.receive(frame),
            Direction::Transmit => self.transmit(frame),
            Direction::Bidirectional => {
                let (rx, tx) = (self.receive(frame), self.transmit(frame));
                (rx.0.plus(tx.0), rx.1.plus(tx.1))
            }
        };
        let dllp = f64::from(self.generation.dllp_per_tlp);
        let busiest = (up.bytes + dllp * down.tlps).max(down.bytes + dllp * up.tlps);
        usable_bytes(self.generation, raw_bps) / busiest
    }
}

/// Bytes per second that are left for packets.
fn usable_bytes(generation: &Generation, raw_bps: f64) -> f64 {
    raw_bps * (1.0 - generation.skip_share) / 8.0
}

struct ProfileChoice<'b> {
    name: &'b str,
    assumed: Option<String>,
}

fn choose_profile<'b>(path: &Path<'b>, buses: &'b Buses) -> ProfileChoice<'b> {
    let known = path.driver.and_then(|d| buses.pcie.drivers.get(d));
    let name = known.unwrap_or(&buses.pcie.default_profile);
    let assumed = match (known, path.driver) {
        (Some(_), _) | (None, None) => None,
        (None, Some(driver)) => Some(format!("descriptor sizes of driver {driver}: taken as those of {name}")),
    };
    let compressed = path.compressed_completions.then(|| buses.pcie.compressed.get(name)).flatten();
    ProfileChoice { name: compressed.unwrap_or(name), assumed }
}

/// Payload rate of a network adapter behind this path, per direction.
///
/// `direction` of `None` covers receiving and sending alone. With the payload size unknown the range covers the sizes
/// that such a machine may use. A driver that is not given is calculated with the default profile; for frames of a
/// stated length (small ones) the lower end then covers every known profile.
pub fn nic(
    path: &Path<'_>,
    framing: &Framing,
    direction: Option<Direction>,
    buses: &Buses,
) -> Result<PcieCeiling, NoUsableHop> {
    let hop = slowest(path.hops, buses)?;
    let (sizes, mps_assumed) = payload_sizes(path, &hop, buses);
    let choice = choose_profile(path, buses);
    let directions = direction.map_or(vec![Direction::Receive, Direction::Transmit], |d| vec![d]);
    let mrrs = path.mrrs.filter(|&m| possible_size(m));
    let frame = framing.dma_bytes(buses);

    let rates = |profile: &Profile| -> Vec<f64> {
        let mut rates = Vec::new();
        for &mps in &sizes {
            let mrrs = mrrs.unwrap_or(buses.pcie.usual_mrrs.value);
            let completion = completion_size(path, mps, mrrs);
            let costs = Costs { generation: hop.generation, profile, buses, mps, completion, mrrs };
            rates.extend(directions.iter().map(|&d| costs.frames_per_second(hop.raw_bps, frame, d)));
        }
        rates
    };
    let Some(profile) = buses.pcie.profiles.get(choice.name) else {
        return Err(NoUsableHop { discarded: vec![format!("descriptor profile {} is not defined", choice.name)] });
    };
    let Some((mut lowest, mean, highest)) = spread(&rates(profile)) else {
        return Err(NoUsableHop { discarded: hop.discarded });
    };
    let any_profile = framing.frame_bytes.is_some() && path.driver.is_none_or(|d| !buses.pcie.drivers.contains_key(d));
    if any_profile {
        let all = buses.pcie.profiles.values().flat_map(rates);
        lowest = all.fold(lowest, f64::min);
    }

    let bits = 8.0 * framing.payload_bytes(buses);
    let factors = &buses.pcie.nic;
    let mut ceiling =
        Ceiling::from_bounds(factors.lo * lowest * bits, factors.typical * mean * bits, factors.hi * highest * bits);
    ceiling = framing.cover_timestamps(ceiling, buses);
    ceiling = with_unread_registers(ceiling, mps_assumed, mrrs, direction, buses);
    if any_profile && path.driver.is_none() {
        ceiling = ceiling.assuming(format!("descriptor sizes {}: driver not known", choice.name));
    }
    if let Some(assumed) = choice.assumed {
        ceiling = ceiling.assuming(assumed);
    }
    if path.driver.is_none() && !any_profile {
        ceiling = ceiling.noting(format!("descriptor sizes {}: no driver given", choice.name));
    }
    if direction.is_none() {
        ceiling = ceiling.noting("covers receiving and sending, each alone");
    }
    let doubt = if path.compressed_completions { Some("compressed completions") } else { None };
    ceiling = with_upper_bound(ceiling, &hop, highest, bits, doubt, buses);
    Ok(finish(ceiling, hop, choice.name))
}

/// What [`nic`] would say for each payload size (bytes) that such a machine may use; empty where the size was read.
pub fn by_payload_size(
    path: &Path<'_>,
    framing: &Framing,
    direction: Option<Direction>,
    buses: &Buses,
) -> Vec<(u32, Ceiling)> {
    let Ok(hop) = slowest(path.hops, buses) else { return Vec::new() };
    let (sizes, assumed) = payload_sizes(path, &hop, buses);
    if assumed.is_none() {
        return Vec::new();
    }
    let of = |size: u32| {
        let mrrs = path.mrrs.or(Some(buses.pcie.usual_mrrs.value));
        Some((size, nic(&Path { mps: Some(size), mrrs, ..*path }, framing, direction, buses).ok()?.ceiling))
    };
    sizes.into_iter().filter_map(of).collect()
}

fn with_unread_registers(
    ceiling: Ceiling,
    mps: Option<String>,
    mrrs: Option<u32>,
    direction: Option<Direction>,
    buses: &Buses,
) -> Ceiling {
    // One capability holds both registers, so what hides them is one assumption.
    let reads = direction != Some(Direction::Receive);
    let mrrs = (mrrs.is_none() && reads).then(|| format!("max read request {} B", buses.pcie.usual_mrrs.value));
    let words: Vec<String> = mps.into_iter().chain(mrrs).collect();
    if words.is_empty() {
        return ceiling;
    }
    ceiling.assuming(format!("{}: not readable without root", words.join(", ")))
}

/// Marks what no measurement supports: a generation never measured, very high packet rates, compressed completions.
fn with_upper_bound(
    ceiling: Ceiling,
    hop: &Slowest<'_>,
    highest_pps: f64,
    bits: f64,
    doubt: Option<&str>,
    buses: &Buses,
) -> Ceiling {
    let share = buses.pcie.upper_bound_lo.value;
    let trusted = buses.pcie.trusted_packets_per_second.value;
    if !hop.generation.validated {
        let why = format!("{} adapters have no published measurement", hop.generation.name);
        return ceiling.as_upper_bound(share, &why);
    }
    if let Some(why) = doubt {
        return ceiling.as_upper_bound(share, why);
    }
    if highest_pps <= trusted {
        return ceiling;
    }
    // The lower end stays at what is trusted until the weaker share overtakes it: a faster bus never lowers it.
    let kept = ceiling.lo_bps.min(buses.pcie.nic.lo * trusted * bits);
    let mut bound = ceiling.as_upper_bound(share, "more than a hundred million packets per second");
    bound.lo_bps = bound.lo_bps.max(kept);
    bound
}

fn finish(mut ceiling: Ceiling, hop: Slowest<'_>, profile: &str) -> PcieCeiling {
    for text in hop.unread {
        ceiling = ceiling.assuming(text);
    }
    PcieCeiling {
        ceiling,
        slowest_hop: hop.index,
        raw_bps: hop.raw_bps,
        profile: profile.to_owned(),
        discarded: hop.discarded,
    }
}

/// What a DMA engine does, seen from the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dma {
    /// Device to host memory.
    Write,
    /// Host memory to device.
    Read,
}

/// Data rate of a DMA engine behind this path: large transfers, no descriptors.
pub fn dma(path: &Path<'_>, operation: Dma, buses: &Buses) -> Result<PcieCeiling, NoUsableHop> {
    let hop = slowest(path.hops, buses)?;
    let (sizes, mps_assumed) = payload_sizes(path, &hop, buses);
    let mrrs = path.mrrs.filter(|&m| possible_size(m));
    let g = hop.generation;
    let per_size = |&mps: &u32| {
        let request = mrrs.unwrap_or(buses.pcie.usual_mrrs.value);
        let (piece, cost) = match operation {
            Dma::Write => (f64::from(mps), f64::from(g.header_4dw + g.tlp_framing)),
            Dma::Read => {
                let piece = f64::from(completion_size(path, mps, request));
                let requests = f64::from(g.dllp_per_tlp) * piece / f64::from(request);
                (piece, f64::from(g.header_3dw + g.tlp_framing) + requests)
            }
        };
        usable_bytes(g, hop.raw_bps) * 8.0 * piece / (piece + cost)
    };
    let rates: Vec<f64> = sizes.iter().map(per_size).collect();
    let Some((lowest, mean, highest)) = spread(&rates) else {
        return Err(NoUsableHop { discarded: hop.discarded });
    };
    let Factors { lo, typical, hi, .. } = &buses.pcie.dma;
    let direction = if operation == Dma::Write { Direction::Receive } else { Direction::Transmit };
    let mut ceiling = Ceiling::from_bounds(lo * lowest, typical * mean, hi * highest);
    ceiling = with_unread_registers(ceiling, mps_assumed, mrrs, Some(direction), buses);
    if !g.validated {
        ceiling =
            ceiling.as_upper_bound(buses.pcie.upper_bound_lo.value, "no published measurement of this generation");
    }
    Ok(finish(ceiling, hop, ""))
}

/// What a named chipset uplink carries (`dmi3`, `amd-x570` ...); `None` for an unknown name.
///
/// Storage and USB behind the same chipset use it too, and nothing here was measured, so the confidence is low.
pub fn chipset_uplink(name: &str, framing: &Framing, direction: Option<Direction>, buses: &Buses) -> Option<Ceiling> {
    let uplink = buses.pcie.uplinks.get(name)?;
    let hops = [Hop::new(uplink.gigatransfers, uplink.width)];
    let path = Path { platform: Platform::Other, ..Path::new(&hops) };
    let found = nic(&path, framing, direction, buses).ok()?;
    Some(
        found
            .ceiling
            .noting("chipset uplink: shared with storage and USB, from a table, not measured")
            .at_most(Confidence::Low),
    )
}
