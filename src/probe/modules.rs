//! Pluggable modules: their memory, half a page at a time. Each read may take the driver tens of milliseconds, so they come
//! last, and not for ever.

use super::ethtool::Family;
use super::interfaces::{Links, Netdev};
use super::ioctl;
use super::kernel::{Kernel, Lock, Reply, Request};
use super::netlink::{self, attribute, generic, push};
use super::plan;
use super::scan::Scan;
use crate::formats::module_memory::{self, HALF, Memory, Module as Row, Place};
use crate::reading::{Celsius, Decibel, GapId, GapKind, Reading, SourceId};
use crate::snapshot::{Bus, Interface, Module, ModuleLane};

/// ETHTOOL_MSG_MODULE_EEPROM_GET.
const MODULE_EEPROM: u8 = 31;
/// Milliseconds for the modules of all ports together.
const BUDGET_MS: u64 = 4000;
/// The longest memory that is read in one piece.
const MOST: u32 = 640;

/// Asks for half a page of the module of a port.
pub(super) fn request(family: u16, index: u32, place: Place) -> Request {
    let mut header = Vec::new();
    push(&mut header, 1, &index.to_ne_bytes());
    let mut body = Vec::new();
    push(&mut body, 1 | 0x8000, &header);
    push(&mut body, 2, &u32::from(place.offset()).to_ne_bytes());
    push(&mut body, 3, &(HALF as u32).to_ne_bytes());
    push(&mut body, 4, &[place.page]);
    push(&mut body, 5, &[0]);
    push(&mut body, 6, &[place.address]);
    generic(family, 0, MODULE_EEPROM, 1, &body, Lock::Rtnl)
}

/// The bytes out of ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY.
pub(super) fn bytes(payload: &[u8]) -> Option<&[u8]> {
    attribute(payload.get(4..)?, 7)
}

/// What came of a module's memory.
enum Outcome {
    /// With the refusal for what is missing of it.
    Read(Memory, Option<Reply>),
    /// The port has no cage, or the driver does not reach into it.
    None,
    Refused(Reply),
}

/// Fills the interfaces with hardware behind them. `family` is that of ethtool, if there is one.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links, family: Option<&Family>) {
    let family = family.filter(|family| family.commands.contains(&u32::from(MODULE_EEPROM)));
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let started = scan.kernel.now_ms();
    for interface in &mut taken {
        let device = interface.index.known().and_then(|index| links.at(*index));
        let Some(device) = device.filter(|device| device.has_device && !device.wifi) else {
            let source = scan.netlink("RTM_GETLINK", "all interfaces");
            interface.module.mark_absent(source);
            continue;
        };
        if matches!(interface.bus.known(), Some(Bus::Virtual | Bus::Usb)) {
            let source = scan.inferred("ports of this bus have no cage");
            interface.module.mark_absent(source);
            continue;
        }
        let spent = scan.kernel.now_ms().saturating_sub(started) > BUDGET_MS;
        let outcome = if spent {
            Outcome::Refused(Reply::Skipped { because: "the time for modules is spent".into() })
        } else {
            match family {
                Some(family) => by_netlink(scan.kernel, family.id, device),
                None => by_ioctl(scan.kernel, device),
            }
        };
        let source = match family {
            Some(_) => scan.netlink("ETHTOOL_MSG_MODULE_EEPROM_GET", &device.name),
            None => scan.ioctl("ETHTOOL_GMODULEEEPROM", &device.name),
        };
        match outcome {
            Outcome::None => interface.module.mark_absent(source),
            Outcome::Refused(reply) => {
                let gap = scan.refusal(&reply, &plan::MODULE, &device.name);
                interface.module.mark(gap);
            }
            Outcome::Read(memory, rest) => {
                let gap = rest.map(|reply| scan.refusal(&reply, &plan::MODULE, &device.name));
                fill(scan, interface, &memory, gap, source);
            }
        }
    }
    scan.out.interfaces = taken;
}

fn by_netlink(kernel: &mut dyn Kernel, family: u16, device: &Netdev) -> Outcome {
    let index = device.row.index;
    let mut memory = Memory::default();
    let answer = netlink::ask(kernel, &[request(family, index, Place::FIRST)]).pop().unwrap_or_default();
    let Some(first) = answer.parts.first().and_then(|payload| bytes(payload)) else {
        return refused(answer.refusal);
    };
    memory.put(Place::FIRST, first);
    let further = module_memory::further(first);
    let requests: Vec<Request> = further.iter().map(|place| request(family, index, *place)).collect();
    let mut rest = None;
    for (place, answer) in further.iter().zip(netlink::ask(kernel, &requests)) {
        match answer.parts.first().and_then(|payload| bytes(payload)) {
            Some(half) => memory.put(*place, half),
            None => rest = rest.or(Some(answer.refusal.unwrap_or(Reply::errno(libc::EIO)))),
        }
    }
    Outcome::Read(memory, rest)
}

fn refused(refusal: Option<Reply>) -> Outcome {
    match refusal {
        Some(Reply::Error { errno: libc::EOPNOTSUPP, .. }) => Outcome::None,
        Some(refusal) => Outcome::Refused(refusal),
        None => Outcome::Refused(Reply::Error { errno: libc::EIO, text: "an empty answer".into() }),
    }
}

/// For kernels before 5.13.
fn by_ioctl(kernel: &mut dyn Kernel, device: &Netdev) -> Outcome {
    let name = &device.row.raw_name;
    let mut one = |request: Request| kernel.call(&[request]).pop().unwrap_or(Reply::TimedOut);
    let about = one(ioctl::module_request(name));
    let Some(length) = about.bytes().and_then(ioctl::module_length) else { return refused(Some(about)) };
    let length = length.min(MOST);
    if (length as usize) < HALF {
        return refused(None);
    }
    let reply = one(ioctl::module_bytes_request(name, 0, length));
    match reply.bytes().and_then(ioctl::module_bytes) {
        Some(bytes) => Outcome::Read(Memory::flat(bytes), None),
        None => refused(Some(reply)),
    }
}

fn fill(scan: &mut Scan<'_>, interface: &mut Interface, memory: &Memory, gap: Option<GapId>, source: SourceId) {
    let Some(row) = module_memory::parse(memory) else {
        let gap = scan.gap(GapKind::Malformed, "the memory of the module", &plan::MODULE, &interface.name);
        return interface.module.mark(gap);
    };
    let mut module = Module { present: Reading::Known(true, source), ..Module::default() };
    let rest = Rest { gap, source };
    let identifier = row.identifier.map(str::to_owned);
    module.identifier = scan.or_unknown(identifier, source, GapKind::DriverUnknown, "a form factor of its own");
    module.vendor = rest.of(row.vendor.clone());
    module.part_number = rest.of(row.part.clone());
    module.compliance = if let Some(codes) = &row.compliance {
        Reading::Known(codes.iter().map(|code| (*code).to_owned()).collect(), source)
    } else {
        let detail = "the codes of this layout are not read";
        Reading::Unknown(gap.unwrap_or_else(|| scan.dead_end(GapKind::NotCollected, detail)))
    };
    module.bit_rate = rest.of(row.bit_rate);
    module.copper = rest.of(row.copper);
    module.diagnostics = rest.of(row.diagnostics);
    module.temperature = rest.of(row.temperature.map(Celsius));
    module.voltage = rest.of(row.voltage);
    module.tx_fault = rest.of(row.tx_fault);
    module.rx_los = rest.of(row.rx_los);
    module.lanes = rest.of((!row.lanes.is_empty()).then(|| lanes(&row, &rest)));
    thresholds(&mut module, &row, &rest);
    interface.module = module;
}

/// What is missing of a module: the page that holds it was refused, or it has no such thing.
struct Rest {
    gap: Option<GapId>,
    source: SourceId,
}

impl Rest {
    fn of<T>(&self, value: Option<T>) -> Reading<T> {
        match (value, self.gap) {
            (Some(value), _) => Reading::Known(value, self.source),
            (None, Some(gap)) => Reading::Unknown(gap),
            (None, None) => Reading::Absent(self.source),
        }
    }
}

fn lanes(row: &Row, rest: &Rest) -> Vec<ModuleLane> {
    let lane = |lane: &module_memory::Lane| ModuleLane {
        lane: lane.number,
        rx_power: rest.of(lane.received.map(Decibel)),
        tx_power: rest.of(lane.sent.map(Decibel)),
        bias: rest.of(lane.bias),
    };
    row.lanes.iter().map(lane).collect()
}

/// As they were written: whether they are in order is for others to judge.
fn thresholds(module: &mut Module, row: &Row, rest: &Rest) {
    let (out, all) = (&mut module.thresholds, row.thresholds);
    out.rx_power_high_alarm = rest.of(all.received.high_alarm.map(Decibel));
    out.rx_power_low_alarm = rest.of(all.received.low_alarm.map(Decibel));
    out.rx_power_high_warn = rest.of(all.received.high_warn.map(Decibel));
    out.rx_power_low_warn = rest.of(all.received.low_warn.map(Decibel));
    out.tx_power_high_warn = rest.of(all.sent.high_warn.map(Decibel));
    out.tx_power_low_warn = rest.of(all.sent.low_warn.map(Decibel));
    out.bias_high_warn = rest.of(all.bias.high_warn);
    out.bias_low_warn = rest.of(all.bias.low_warn);
    out.temperature_high_alarm = rest.of(all.temperature.high_alarm.map(Celsius));
    out.temperature_high_warn = rest.of(all.temperature.high_warn.map(Celsius));
}
