//! `lspci` in all its forms, `-t` and the hex rows of `-x` among them.

use super::cursor::{At, Cursor, pair};
use super::kernel_log::pcie::Figures;
use super::kernel_log::speaker::is_pci_address;
use super::{pci_config, pci_id, pci_link};

/// What an output says of one function. What it leaves out is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// As it is printed: `03:00.0` or `0000:03:00.0`; none where the output does not name it.
    pub address: Option<At<String>>,
    /// Line of the first row.
    pub line: u32,
    /// Base class and subclass.
    pub class: Option<At<u16>>,
    /// Vendor and device: `8086:1572`.
    pub id: Option<At<String>>,
    /// Vendor and device of the subsystem.
    pub subsystem: Option<At<String>>,
    /// Vendor and device by name, without revision.
    pub name: Option<At<String>>,
    /// Driver in use.
    pub driver: Option<At<String>>,
    /// Line that names the modules that could drive it; with the option for it a driver in use would be named, too.
    pub modules: Option<u32>,
    /// NUMA node.
    pub numa_node: Option<At<u32>>,
    /// Name of the slot that it sits in.
    pub slot: Option<At<String>>,
    /// Secondary and subordinate bus of a bridge.
    pub buses: Option<At<(u8, u8)>>,
    /// What it is on PCIe, in lspci's words: `Endpoint`, `Root Port (Slot+)`.
    pub kind: Option<At<String>>,
    /// Highest speed and width (LnkCap).
    pub link_most: Option<At<Figures>>,
    /// Current speed and width (LnkSta).
    pub link_now: Option<At<Figures>>,
    /// Largest payload that it supports, in bytes (DevCap).
    pub payload_most: Option<At<u64>>,
    /// Payload in use, in bytes (DevCtl).
    pub payload: Option<At<u64>>,
    /// Read request in use, in bytes (DevCtl).
    pub read_request: Option<At<u64>>,
    /// Relaxed ordering is enabled.
    pub relaxed_ordering: Option<At<bool>>,
    /// Power saving states of the link that are enabled: `l0s`, `l1`, `l1.1`, `l1.2` (LnkCtl, L1SubCtl1).
    pub aspm: Option<At<Vec<String>>>,
    /// Line of a capability that was shown.
    pub shows_capabilities: Option<u32>,
    /// Line that says that only root sees the capabilities.
    pub denied: Option<u32>,
    /// Bytes of configuration space from offset 0, as `-x` prints them.
    pub config: Vec<u8>,
}

/// A line that begins a function: `03:00.0 Ethernet controller: Intel Corporation ...`.
struct Head<'t> {
    address: &'t str,
    class: Option<u16>,
    id: Option<String>,
    name: String,
}

fn head(text: &str) -> Option<Head<'_>> {
    let (address, rest) = text.split_once(' ')?;
    if !is_pci_address(address) {
        return None;
    }
    let rest = rest.trim_start();
    if rest.starts_with('"') {
        return machine_head(address, rest);
    }
    // `-n` prints numbers alone: `0200: 8086:1572 (rev 02)`.
    if let Some((class, ids)) = rest.split_once(": ")
        && class.len() == 4
        && let Ok(class) = u16::from_str_radix(class, 16)
    {
        let id = ids.split_ascii_whitespace().next().filter(|id| is_id(id)).map(str::to_ascii_lowercase);
        return Some(Head { address, class: Some(class), id, name: String::new() });
    }
    let (class, name) = rest.split_once(": ").unwrap_or((rest.trim_end_matches(':'), ""));
    let code = bracketed(class).and_then(|(_, code)| u16::from_str_radix(code, 16).ok());
    let plain = class.split(" [").next().unwrap_or(class);
    let class = code.or_else(|| pci_id::class(plain));
    let name = name.split(" (rev ").next().unwrap_or(name).split(" (prog-if ").next().unwrap_or(name).trim();
    let (name, id) = match bracketed(name) {
        Some((front, id)) if is_id(id) => (front, Some(id.to_ascii_lowercase())),
        _ => (name, None),
    };
    let known = class.is_some() || id.is_some() || rest.contains(": ") || rest.chars().any(char::is_alphabetic);
    known.then(|| Head { address, class, id, name: name.to_owned() })
}

/// What stands in the last pair of brackets, and what stands before it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (front, inner) = text.strip_suffix(']')?.rsplit_once('[')?;
    Some((front.trim_end(), inner))
}

fn is_id(text: &str) -> bool {
    let hex = |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split_once(':').is_some_and(|(vendor, device)| hex(vendor) && hex(device))
}

/// `-mm`: `03:00.0 "Ethernet controller" "Intel Corporation" "82599ES" -r01 "Intel Corporation" "X520"`.
fn machine_head<'t>(address: &'t str, rest: &str) -> Option<Head<'t>> {
    let mut quoted = rest.split('"').skip(1).step_by(2);
    let (class, vendor, device) = (quoted.next()?, quoted.next()?, quoted.next()?);
    let (class_name, code) = named(class);
    let (vendor, vendor_id) = named(vendor);
    let (device, device_id) = named(device);
    let class = code.or_else(|| pci_id::class(class_name));
    let id = vendor_id.zip(device_id).map(|(vendor, device)| format!("{vendor:04x}:{device:04x}"));
    Some(Head { address, class, id, name: format!("{vendor} {device}") })
}

/// `Intel Corporation [8086]`, `Intel Corporation` or `8086`.
fn named(text: &str) -> (&str, Option<u16>) {
    let number = |code: &str| u16::from_str_radix(code, 16).ok().filter(|_| code.len() == 4);
    match bracketed(text) {
        Some((front, code)) if number(code).is_some() => (front, number(code)),
        _ => (text, number(text)),
    }
}

/// True for a line that only lspci prints: the head of a function.
pub fn begins(text: &str) -> bool {
    let text = text.trim_end();
    head(text).is_some_and(|head| {
        let described = head.id.is_some() || !head.name.is_empty();
        head.class.is_some() && described
    }) || text.starts_with("Slot:") && slot(text).is_some()
}

/// Words that rows of the verbose form begin with, and names of the capabilities' registers.
const KEYS: &[&str] = &[
    "Subsystem",
    "DeviceName",
    "Physical Slot",
    "Flags",
    "Control",
    "Status",
    "Latency",
    "Interrupt",
    "NUMA node",
    "IOMMU group",
    "BIST",
    "Region",
    "Bus",
    "I/O behind bridge",
    "Memory behind bridge",
    "Prefetchable memory behind bridge",
    "Secondary status",
    "BridgeCtl",
    "PriDiscTmr-",
    "Expansion ROM at",
    "Capabilities",
    "Kernel driver in use",
    "Kernel modules",
    "Memory at",
    "I/O ports at",
    "DevCap",
    "DevCtl",
    "DevSta",
    "LnkCap",
    "LnkCtl",
    "LnkSta",
    "SltCap",
    "SltCtl",
    "SltSta",
    "RootCap",
    "RootCtl",
    "RootSta",
    "DevCap2",
    "DevCtl2",
    "LnkCap2",
    "LnkCtl2",
    "LnkCtl3",
    "LnkSta2",
    "UESta",
    "UEMsk",
    "UESvrt",
    "CESta",
    "CEMsk",
    "AERCap",
    "HeaderLog",
    "ErrorSrc",
    "RootCmd",
    "Address",
    "Masking",
    "Vector table",
    "PBA",
    "ARICap",
    "ARICtl",
    "IOVCap",
    "IOVCtl",
    "IOVSta",
    "Initial VFs",
    "VF offset",
    "Supported Page Size",
    "VF Migration",
    "PTMCap",
    "PTMControl",
    "PTMClockGranularity",
    "L1SubCap",
    "L1SubCtl1",
    "L1SubCtl2",
    "LaneErrStat",
    "ACSCap",
    "ACSCtl",
    "ATSCap",
    "ATSCtl",
    "PASIDCap",
    "PASIDCtl",
    "PRICtl",
    "PRISta",
    "Caps",
    "Ctrl",
    "Arb",
    "Port Arbitration Table",
    "VC0",
    "VC1",
    "Product Name",
    "Read-only fields",
    "Vendor specific",
    "Not readable",
    "Unknown",
    "Identification",
    "Change Notice",
    "FRS",
    "Power Management version",
    "!!! Unknown header type",
    "!!! Invalid",
    "AtomicOpsCap",
    "AtomicOpsCtl",
    "Steering table",
    "Extended Capability",
    "DpcCap",
    "DpcCtl",
    "DpcSta",
    "MCAP",
    "Tag",
    "Max snoop latency",
    "Max no snoop latency",
    "PortCommonModeRestoreTime",
    "EqualizationComplete",
    "Target Link Speed",
    "Transmit Margin",
    "Compliance",
    "10BitTagComp",
    "ExtTag",
    "MaxPayload",
    "RlxdOrd",
    "MSI-X",
    "MSI",
    "BAR",
    "Mask",
    "Pending",
    "T_CommonMode",
];

fn key(text: &str) -> Option<(&str, &str)> {
    let key = KEYS.iter().filter(|key| text.starts_with(**key)).max_by_key(|key| key.len())?;
    let rest = &text[key.len()..];
    // A longer word is another one: `LnkSta2`.
    let ends = !rest.starts_with(|char: char| char.is_ascii_alphanumeric());
    ends.then(|| (*key, rest.trim_start_matches(':').trim()))
}

impl Function {
    /// Takes what a row says; false for a row that is none of lspci's.
    fn row(&mut self, text: &str, line: u32, indented: bool) -> bool {
        let at = |value: String| Some(At::new(value, line));
        let Some((key, value)) = key(text) else {
            return indented && !text.is_empty() || self.hex(text);
        };
        match key {
            "Subsystem" => {
                let id = bracketed(value).map_or(value, |(_, id)| id);
                self.subsystem =
                    self.subsystem.take().or_else(|| at(id.to_ascii_lowercase()).filter(|at| is_id(&at.value)));
            }
            "Physical Slot" if !value.is_empty() => self.slot = self.slot.take().or_else(|| at(value.to_owned())),
            "Kernel driver in use" => self.driver = self.driver.take().or_else(|| at(value.to_owned())),
            "Kernel modules" => self.modules = Some(line),
            "NUMA node" => self.numa_node = value.parse().ok().map(|node| At::new(node, line)),
            "Bus" => self.buses = self.buses.take().or_else(|| buses(value).map(|buses| At::new(buses, line))),
            // A function without any capability has no list of them, and so no link of PCI Express either.
            "Status" if value.starts_with("Cap- ") => self.shows_capabilities = Some(line),
            "Capabilities" if value.starts_with("<access denied>") => self.denied = Some(line),
            "Capabilities" => {
                self.shows_capabilities.get_or_insert(line);
                if let Some((_, kind)) = value.split_once("] Express ") {
                    // `Express (v2) Endpoint, MSI 00`, and `Express Endpoint` of old versions.
                    let kind = kind
                        .split_once(") ")
                        .map_or(kind, |(version, rest)| if version.starts_with("(v") { rest } else { kind });
                    self.kind =
                        self.kind.take().or_else(|| at(kind.split(',').next().unwrap_or_default().trim().to_owned()));
                }
            }
            "LnkCap" => self.link_most = self.link_most.take().or_else(|| Some(At::new(figures(value), line))),
            "LnkSta" => self.link_now = self.link_now.take().or_else(|| Some(At::new(figures(value), line))),
            "LnkCtl" => self.aspm = self.aspm.take().or_else(|| Some(At::new(aspm(value)?, line))),
            "L1SubCtl1" => {
                if let Some(states) = &mut self.aspm {
                    let on = [("ASPM_L1.1+", "l1.1"), ("ASPM_L1.2+", "l1.2")]
                        .into_iter()
                        .filter(|(flag, _)| value.contains(flag));
                    states.value.extend(on.map(|(_, state)| state.to_owned()));
                }
            }
            "DevCap" => {
                self.payload_most = self
                    .payload_most
                    .take()
                    .or_else(|| bytes_behind(value, "MaxPayload ").map(|size| At::new(size, line)));
            }
            "RlxdOrd" => {
                self.relaxed_ordering =
                    self.relaxed_ordering.take().or_else(|| Some(At::new(value.starts_with('+'), line)));
            }
            "MaxPayload" => {
                self.payload =
                    self.payload.take().or_else(|| bytes_behind(text, "MaxPayload ").map(|size| At::new(size, line)));
                self.read_request = self
                    .read_request
                    .take()
                    .or_else(|| bytes_behind(text, "MaxReadReq ").map(|size| At::new(size, line)));
            }
            _ => {}
        }
        true
    }

    /// `10: 04 00 00 e0 ...`: sixteen bytes at an offset.
    fn hex(&mut self, text: &str) -> bool {
        let Some((offset, bytes)) = text.split_once(": ") else { return false };
        let Some(offset) = usize::from_str_radix(offset, 16).ok().filter(|_| (2..=3).contains(&offset.len())) else {
            return false;
        };
        let bytes: Option<Vec<u8>> = bytes
            .split_ascii_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).ok().filter(|_| byte.len() == 2))
            .collect();
        let Some(bytes) = bytes.filter(|bytes| (1..=16).contains(&bytes.len()) && offset % 16 == 0) else {
            return false;
        };
        if offset == self.config.len() {
            self.config.extend(bytes);
        }
        true
    }

    /// Fills what the hex rows tell and the verbose rows did not.
    fn decode(&mut self) {
        if self.config.len() <= 64 {
            return;
        }
        let line = self.line;
        let space = |link: Option<(u8, u32)>| {
            link.map(|(speed, width)| At::new(Figures { speed: pci_link::speed_of(speed), width: Some(width) }, line))
        };
        match pci_config::parse(&self.config) {
            pci_config::Config::Express(express) => {
                let kind = match express.port_type {
                    0 | 1 => "Endpoint",
                    4 => "Root Port",
                    5 => "Upstream Port",
                    6 => "Downstream Port",
                    7 => "PCI-Express to PCI/PCI-X Bridge",
                    9 => "Root Complex Integrated Endpoint",
                    _ => "",
                };
                self.kind = self.kind.take().or_else(|| (!kind.is_empty()).then(|| At::new(kind.to_owned(), line)));
                self.link_most = self.link_most.take().or_else(|| space(express.link_most));
                self.link_now = self.link_now.take().or_else(|| space(express.link_now));
                self.payload_most = self.payload_most.take().or(Some(At::new(express.payload_max.into(), line)));
                self.payload = self.payload.take().or(Some(At::new(express.payload.into(), line)));
                self.read_request = self.read_request.take().or(Some(At::new(express.read_request.into(), line)));
                self.relaxed_ordering = self.relaxed_ordering.take().or(Some(At::new(express.relaxed_ordering, line)));
                self.shows_capabilities.get_or_insert(line);
            }
            pci_config::Config::Conventional => {
                self.shows_capabilities.get_or_insert(line);
            }
            _ => {}
        }
    }
}

/// `ASPM L0s L1 Enabled; RCB 64 bytes`, `ASPM Disabled; ...`.
fn aspm(text: &str) -> Option<Vec<String>> {
    let states = text.strip_prefix("ASPM ")?.split([';', ',']).next()?;
    if states.trim() == "Disabled" {
        return Some(Vec::new());
    }
    let states = states.trim().strip_suffix("Enabled")?;
    Some(states.split_ascii_whitespace().map(str::to_ascii_lowercase).collect())
}

/// `primary=00, secondary=03, subordinate=05, sec-latency=0`.
fn buses(text: &str) -> Option<(u8, u8)> {
    let hex = |name: &str| {
        let rest = text.split_once(name)?.1;
        u8::from_str_radix(rest.get(..2)?, 16).ok()
    };
    Some((hex("secondary=")?, hex("subordinate=")?))
}

/// `Port #0, Speed 8GT/s (ok), Width x2 (downgraded), ...`.
fn figures(text: &str) -> Figures {
    let behind = |name: &str| text.split_once(name).map(|(_, rest)| rest);
    let word = |text: &'_ str| -> usize { text.find([',', ' ']).unwrap_or(text.len()) };
    Figures {
        speed: behind("Speed ").and_then(pci_link::speed),
        width: behind("Width ").and_then(|rest| pci_link::width(&rest[..word(rest)])),
    }
}

fn bytes_behind(text: &str, name: &str) -> Option<u64> {
    let rest = text.split_once(name)?.1;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// The address in the first row of a function in the form of `-vmm`; old versions call it `Device`.
fn slot(text: &str) -> Option<&str> {
    let (key, value) = pair(text)?;
    (matches!(key, "Slot" | "Device") && is_pci_address(value)).then_some(value)
}

/// Reads the functions that come next. Without a head, the first row must be one of the verbose form, and the caller knows
/// whose rows they are.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let mut machine = false;
    loop {
        // Blank lines stand between functions, and dots where somebody cut.
        let skipped =
            cursor.rest().iter().take_while(|line| matches!(line.text.trim(), "" | "..." | "\u{2026}")).count();
        let Some(line) = cursor.peek_at(skipped) else { break };
        let text = line.text.trim();
        let indented = line.text.starts_with([' ', '\t']);
        let at = |value: String| Some(At::new(value, line.number)).filter(|at| !at.value.is_empty());
        if let Some(head) = head(text).filter(|_| !indented || begins(text)) {
            machine = false;
            functions.push(Function {
                address: at(head.address.to_owned()),
                line: line.number,
                class: head.class.map(|class| At::new(class, line.number)),
                id: head.id.and_then(at),
                name: at(head.name),
                ..Function::default()
            });
        } else if let Some(address) = slot(text) {
            machine = true;
            functions.push(Function { address: at(address.to_owned()), line: line.number, ..Function::default() });
        } else if let Some(function) = functions.last_mut() {
            let fits = if machine {
                function.machine_row(text, line.number)
            } else {
                function.row(text, line.number, indented)
            };
            if !fits {
                break;
            }
        } else {
            let mut first = Function { line: line.number, ..Function::default() };
            if key(text).is_none() || !first.row(text, line.number, false) {
                break;
            }
            functions.push(first);
        }
        for _ in 0..=skipped {
            cursor.take();
        }
    }
    functions.iter_mut().for_each(Function::decode);
    functions
}

impl Function {
    /// A row of `-vmm`: `Slot:`, `Class:`, `Vendor:` and so on behind a tab.
    fn machine_row(&mut self, text: &str, line: u32) -> bool {
        let Some((key, value)) = pair(text) else { return false };
        let (name, code) = named(value);
        let at = |value: String| Some(At::new(value, line));
        match key {
            "Class" => self.class = code.or_else(|| pci_id::class(name)).map(|class| At::new(class, line)),
            "Vendor" => {
                self.name = at(name.to_owned());
                self.id = code.and_then(|code| at(format!("{code:04x}")));
            }
            "Device" => {
                let vendor = self.name.take().map(|at| at.value).unwrap_or_default();
                self.name = at(format!("{vendor} {name}").trim().to_owned());
                self.id =
                    self.id.take().zip(code).and_then(|(vendor, code)| at(format!("{}:{code:04x}", vendor.value)));
            }
            "Driver" => self.driver = at(value.to_owned()),
            "NUMANode" => self.numa_node = value.parse().ok().map(|node| At::new(node, line)),
            "PhySlot" => self.slot = at(value.to_owned()),
            "SVendor" | "SDevice" | "Rev" | "ProgIf" | "Module" | "IOMMUGroup" => {}
            _ => return false,
        }
        true
    }
}

/// A bridge of `lspci -t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// Domain.
    pub domain: u32,
    /// Bus.
    pub bus: u8,
    /// Device.
    pub device: u8,
    /// Function.
    pub function: u8,
    /// First and last bus below it.
    pub below: Option<(u8, u8)>,
    /// Line.
    pub line: u32,
}

/// True for the first line of a tree: `-[0000:00]-+-00.0`.
pub fn begins_tree(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '+', '\\', '|']);
    text.strip_prefix("-[").and_then(|rest| rest.split_once(']')).is_some_and(|(root, _)| root_bus(root).is_some())
}

fn root_bus(text: &str) -> Option<(u32, u8)> {
    let (domain, bus) = text.split_once(':')?;
    // A host bridge with several busses: `0000:00-0f`.
    let bus = bus.split('-').next()?;
    let fits = (4..=8).contains(&domain.len()) && bus.len() == 2;
    fits.then(|| Some((u32::from_str_radix(domain, 16).ok()?, u8::from_str_radix(bus, 16).ok()?)))?
}

/// Reads `lspci -t`: each function that it draws.
pub fn tree(cursor: &mut Cursor<'_>) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    // Columns at which the functions of a bus are drawn, and that bus.
    let mut open: Vec<(usize, u32, u8)> = Vec::new();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim_end();
        let start = text.len() - text.trim_start_matches([' ', '|']).len();
        let piece = &text[start..];
        if begins_tree(piece) || piece.starts_with("+-[") || piece.starts_with("\\-[") {
            open.clear();
        } else if !(piece.starts_with("+-") || piece.starts_with("\\-")) || open.is_empty() {
            break;
        }
        if !tree_line(text, start, line.number, &mut open, &mut rows) {
            break;
        }
        cursor.take();
    }
    rows
}

/// Walks one line; false for a line that is none.
fn tree_line(text: &str, start: usize, line: u32, open: &mut Vec<(usize, u32, u8)>, rows: &mut Vec<TreeRow>) -> bool {
    let mut at = start;
    while open.last().is_some_and(|(column, ..)| *column > start) {
        open.pop();
    }
    let mut current = open.last().map(|(_, domain, bus)| (*domain, *bus));
    let mut read = false;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(inner) = rest.strip_prefix('[') {
            let Some((bus, _)) = inner.split_once(']') else { return read };
            let hex = |text: &str| u8::from_str_radix(text, 16).ok();
            let (first, last) = bus.split_once('-').unwrap_or((bus, bus));
            match (root_bus(bus), hex(first), hex(last)) {
                (Some((domain, bus)), ..) => current = Some((domain, bus)),
                (None, Some(first), Some(last)) => {
                    let Some(row) = rows.last_mut().filter(|row: &&mut TreeRow| row.line == line) else { return read };
                    row.below = Some((first, last));
                    current = Some((row.domain, first));
                }
                _ => return read,
            }
            at += bus.len() + 2;
            read = true;
        } else if rest.starts_with("+-") || rest.starts_with("\\-") {
            // More functions of this bus follow below this column.
            if let Some((domain, bus)) = current {
                open.retain(|(column, ..)| *column < at);
                open.push((at, domain, bus));
            }
            at += 2;
        } else if rest.starts_with('-') {
            at += 1;
        } else if let Some((device, function)) = tree_function(rest) {
            let Some((domain, bus)) = current else { return read };
            rows.push(TreeRow { domain, bus, device, function, below: None, line });
            at += 4;
            read = true;
            // With -v the name follows behind two spaces.
            if !text[at..].starts_with('-') {
                return true;
            }
        } else {
            return read;
        }
    }
    read
}

fn tree_function(text: &str) -> Option<(u8, u8)> {
    let piece = text.get(..4)?;
    let (device, function) = piece.split_once('.')?;
    let device = u8::from_str_radix(device, 16).ok().filter(|number| *number < 32)?;
    let function = function.parse().ok().filter(|number| *number < 8)?;
    (piece.len() == 4 && piece.as_bytes()[2] == b'.').then_some((device, function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Vec<Function>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let functions = parse(&mut cursor);
        (functions, cursor.position())
    }

    fn both(speed: f64, width: u32) -> Figures {
        Figures { speed: Some(speed), width: Some(width) }
    }

    #[test]
    fn the_verbose_form() {
        let text = "00:1c.0 PCI bridge [0604]: Intel Corporation Device [8086:a33c] (rev f0) (prog-if 00 [Normal decode])\n\
                    \tBus: primary=00, secondary=03, subordinate=05, sec-latency=0\n\
                    \tCapabilities: [40] Express (v2) Root Port (Slot+), MSI 00\n\
                    \t\tLnkCap:\tPort #5, Speed 8GT/s, Width x4, ASPM L1\n\
                    \t\tLnkSta:\tSpeed 8GT/s, Width x4\n\
                    \t\tLnkSta2: Current De-emphasis Level: -3.5dB\n\n\
                    03:00.0 Ethernet controller [0200]: Intel Corporation Ethernet Controller X710 for 10GbE SFP+ [8086:1572] (rev 02)\n\
                    \tSubsystem: Intel Corporation Ethernet Converged Network Adapter X710-2 [8086:0007]\n\
                    \tPhysical Slot: 4\n\tNUMA node: 1\n\
                    \tCapabilities: [a0] Express (v2) Endpoint, MSI 00\n\
                    \t\tDevCap:\tMaxPayload 2048 bytes, PhantFunc 0, Latency L0s <512ns, L1 <64us\n\
                    \t\tDevCtl:\tReport errors: Correctable+ Non-Fatal+ Fatal+ Unsupported+\n\
                    \t\t\tRlxdOrd- ExtTag+ PhantFunc- AuxPwr- NoSnoop- FLReset-\n\
                    \t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes\n\
                    ...\n\
                    \t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM L1\n\
                    \t\tLnkCtl:\tASPM L0s L1 Enabled; RCB 64 bytes, Disabled- CommClk+\n\
                    \t\tLnkSta:\tSpeed 8GT/s (ok), Width x4 (downgraded)\n\
                    \t\tL1SubCtl1: PCI-PM_L1.2- PCI-PM_L1.1- ASPM_L1.2+ ASPM_L1.1-\n\
                    \tKernel driver in use: i40e\n\tKernel modules: i40e\n$ next\n";
        let (functions, taken) = read(text);
        assert_eq!((functions.len(), taken), (2, 23));
        let bridge = &functions[0];
        assert_eq!(bridge.buses, Some(At::new((3, 5), 2)));
        assert_eq!(bridge.kind, Some(At::new("Root Port (Slot+)".into(), 3)));
        assert_eq!((&bridge.class, &bridge.id), (&Some(At::new(0x0604, 1)), &Some(At::new("8086:a33c".into(), 1))));
        assert_eq!(bridge.link_now, Some(At::new(both(8.0, 4), 5)));
        let card = &functions[1];
        assert_eq!(card.name.as_ref().unwrap().value, "Intel Corporation Ethernet Controller X710 for 10GbE SFP+");
        assert_eq!(card.subsystem.as_ref().unwrap().value, "8086:0007");
        assert_eq!((card.slot.as_ref().unwrap().value.as_str(), card.numa_node.as_ref().unwrap().value), ("4", 1));
        assert_eq!(card.payload_most.as_ref().unwrap().value, 2048);
        assert_eq!((card.payload.as_ref().unwrap().value, card.read_request.as_ref().unwrap().value), (256, 512));
        assert_eq!(card.relaxed_ordering.as_ref().unwrap().value, false);
        assert_eq!(card.link_most, Some(At::new(both(8.0, 8), 18)));
        assert_eq!(card.link_now, Some(At::new(both(8.0, 4), 20)));
        assert_eq!(card.aspm.as_ref().unwrap().value, ["l0s", "l1", "l1.2"]);
        assert_eq!((aspm("ASPM Disabled; RCB 64 bytes"), aspm("what")), (Some(Vec::new()), None));
        assert_eq!(card.driver.as_ref().unwrap().value, "i40e");
    }

    #[test]
    fn heads_in_all_forms() {
        for (text, class, id, name) in [
            (
                "03:00.0 Ethernet controller: Intel Corporation 82574L (rev 01)",
                0x0200,
                None,
                "Intel Corporation 82574L",
            ),
            ("0001:03:00.0 0200: 8086:125c (rev 04)", 0x0200, Some("8086:125c"), ""),
            (
                "03:00.0 \"Ethernet controller\" \"Intel Corporation\" \"X710\" -r02 \"Intel\" \"x\"",
                0x0200,
                None,
                "Intel Corporation X710",
            ),
            (
                "03:00.0 \"Ethernet controller [0200]\" \"Intel Corporation [8086]\" \"X710 [1572]\" \"\" \"\"",
                0x0200,
                Some("8086:1572"),
                "Intel Corporation X710",
            ),
        ] {
            let (functions, _) = read(text);
            let found = &functions[0];
            let told = |at: &Option<At<String>>| at.as_ref().map(|at| at.value.clone());
            assert_eq!(found.class.as_ref().unwrap().value, class, "{text}");
            assert_eq!(
                (told(&found.id).as_deref(), told(&found.name).unwrap_or_default().as_str()),
                (id, name),
                "{text}"
            );
            assert!(begins(text), "{text}");
        }
        let text = "Slot:\t03:00.0\nClass:\tEthernet controller [0200]\nVendor:\tIntel Corporation [8086]\nDevice:\tX710 [1572]\n\
                    Driver:\ti40e\nNUMANode:\t0\n\nSlot:\t03:00.1\nClass:\tEthernet controller [0200]\n";
        let (functions, taken) = read(text);
        assert_eq!((functions.len(), taken), (2, 9));
        assert_eq!(functions[0].id.as_ref().unwrap().value, "8086:1572");
        assert_eq!(functions[0].name.as_ref().unwrap().value, "Intel Corporation X710");
        assert_eq!(functions[0].driver.as_ref().unwrap().value, "i40e");
        for other in ["Settings for eth0:", "10:20:30.5 what", "12:30.1 uhr", "eth0: up", ""] {
            assert!(!begins(other), "{other}");
        }
    }

    #[test]
    fn without_root_nothing_is_zero() {
        let text = "03:00.0 Ethernet controller: Intel Corporation X\n\tCapabilities: <access denied>\n\tKernel driver in use: igb\n";
        let (functions, _) = read(text);
        assert_eq!((functions[0].denied, functions[0].shows_capabilities), (Some(2), None));
        assert_eq!((&functions[0].link_now, &functions[0].kind), (&None, &None));
        let (functions, _) = read("\t\tLnkSta:\tSpeed unknown, Width x0, TrErr-\n");
        assert_eq!(functions[0].link_now, Some(At::new(Figures::default(), 1)));
        assert_eq!(functions[0].address, None);
        assert_eq!(read("Speed: 1000Mb/s\n").0, []);
    }

    #[test]
    fn hex_rows_hold_the_link() {
        let mut bytes = vec![0_u8; 256];
        bytes[..2].copy_from_slice(&[0x86, 0x80]);
        bytes[6] = 0x10;
        bytes[0x34] = 0x70;
        bytes[0x70] = 0x10;
        bytes[0x72] = 0x02;
        bytes[0x74] = 0x02;
        bytes[0x78..0x7a].copy_from_slice(&0x2820_u16.to_le_bytes());
        bytes[0x7c..0x7e].copy_from_slice(&0x0083_u16.to_le_bytes());
        bytes[0x82..0x84].copy_from_slice(&0x1042_u16.to_le_bytes());
        let rows = bytes.chunks(16).enumerate().map(|(at, row)| {
            let row: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{:02x}: {}\n", at * 16, row.join(" "))
        });
        let text = format!("03:00.0 Ethernet controller: Intel Corporation X\n{}", rows.collect::<String>());
        let (functions, taken) = read(&text);
        assert_eq!(taken, 17);
        assert_eq!(functions[0].link_most.as_ref().unwrap().value, both(8.0, 8));
        assert_eq!(functions[0].link_now.as_ref().unwrap().value, both(5.0, 4));
        assert_eq!(functions[0].kind.as_ref().unwrap().value, "Endpoint");
        assert_eq!(
            (functions[0].payload.as_ref().unwrap().value, functions[0].read_request.as_ref().unwrap().value),
            (256, 512)
        );
    }

    #[test]
    fn trees_tell_what_is_below_what() {
        let text = "-[0000:00]-+-00.0\n           +-01.0-[01]----00.0\n\
                    \u{20}          +-1c.0-[03-06]----00.0-[04-06]--+-00.0-[05]----00.0\n\
                    \u{20}          |                               \\-01.0-[06]--+-00.0\n\
                    \u{20}          |                                            \\-00.1\n\
                    \u{20}          \\-1f.6  Intel Corporation Ethernet Connection\nroot@x:~#";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let rows = tree(&mut cursor);
        assert_eq!(cursor.position(), 6);
        let told: Vec<String> = rows
            .iter()
            .map(|row| format!("{:02x}:{:02x}.{} {:?}", row.bus, row.device, row.function, row.below))
            .collect();
        assert_eq!(
            told,
            [
                "00:00.0 None",
                "00:01.0 Some((1, 1))",
                "01:00.0 None",
                "00:1c.0 Some((3, 6))",
                "03:00.0 Some((4, 6))",
                "04:00.0 Some((5, 5))",
                "05:00.0 None",
                "04:01.0 Some((6, 6))",
                "06:00.0 None",
                "06:00.1 None",
                "00:1f.6 None",
            ]
        );
        assert!(begins_tree("-[0000:00]-+-00.0") && begins_tree(" +-[0000:80]-+-00.0") && !begins_tree("-[x]"));
    }
}
