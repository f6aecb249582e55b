//! RDMA devices of ports, and their counters, out of sysfs.

use super::interfaces::{Links, Netdev};
use super::kernel::{Reply, Request, zero_ended};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::reading::{GapKind, Reading};
use crate::snapshot::Interface;

const CLASS: &str = "/sys/class/infiniband";
const GROUP: &str = "rdma";
/// Most counters of a port.
const MOST: usize = 512;

/// Where the counters of a port lie, for the second sample.
pub(super) struct Sample {
    at: u64,
    /// Per interface index.
    ports: Vec<(u32, String, Vec<String>)>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// Fills the interfaces with a device behind them.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) -> Sample {
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let mut sample = Sample { at: 0, ports: Vec::new() };
    let [list] = scan.batch(&[Request::list(CLASS)]);
    let none = match &list {
        Reply::Error { errno: libc::ENOENT, .. } => true,
        Reply::Bytes(names) => names.0.is_empty(),
        _ => false,
    };
    let source = scan.file(CLASS);
    for interface in &mut taken {
        let device = interface.index.known().and_then(|index| links.at(*index));
        match (device.filter(|device| device.has_device), none) {
            (None, _) | (_, true) => interface.rdma.mark_absent(source),
            (Some(device), false) => {
                if let Some(port) = port(scan, interface, device, &list) {
                    sample.ports.push((device.row.index, port.0, port.1));
                }
            }
        }
    }
    sample.at = scan.kernel.now_ms();
    scan.out.interfaces = taken;
    sample
}

/// The folder of the port's counters and their names.
fn port(
    scan: &mut Scan<'_>,
    interface: &mut Interface,
    device: &Netdev,
    list: &Reply,
) -> Option<(String, Vec<String>)> {
    let name = &device.name;
    if device.path.is_none() || list.bytes().is_none() {
        let gap = match list {
            Reply::Bytes(_) => scan.gap(GapKind::Failed, super::hardware::UNSEEN, &plan::RDMA, name),
            refusal => scan.refusal(refusal, &plan::RDMA, name),
        };
        interface.rdma.mark(gap);
        return None;
    }
    let path = |tail: &str| [b"/sys/class/net/", &device.row.raw_name[..], tail.as_bytes()].concat();
    let [own, number] = scan.batch(&[Request::list(path("/device/infiniband")), Request::read(path("/dev_port"))]);
    let folder = format!("/sys/class/net/{name}/device/infiniband");
    let names = match &own {
        Reply::Bytes(names) => names,
        Reply::Error { errno: libc::ENOENT, .. } => {
            let source = scan.file(folder);
            interface.rdma.mark_absent(source);
            return None;
        }
        refusal => {
            let gap = scan.refusal(refusal, &plan::RDMA, name);
            interface.rdma.mark(gap);
            return None;
        }
    };
    let Some(found) = zero_ended(&names.0).next().map(text) else {
        let source = scan.file(folder);
        interface.rdma.mark_absent(source);
        return None;
    };
    let ports = format!("{CLASS}/{found}/ports");
    let [listed] = scan.batch(&[Request::list(ports.as_str())]);
    let listed: Vec<String> = listed.bytes().map(|names| zero_ended(names).map(text).collect()).unwrap_or_default();
    // Ports of RDMA count from 1, those of a network device from 0.
    let counted = number.bytes().and_then(|number| text(number).parse::<u32>().ok()).map(|port| (port + 1).to_string());
    let own = match listed.as_slice() {
        [only] => Some(only.clone()),
        many => counted.filter(|port| many.contains(port)),
    };
    let source = scan.file(folder);
    interface.rdma.device = Reading::Known(found, source);
    let Some(own) = own else {
        let gap = scan.gap(GapKind::Failed, "its port among those of the RDMA device", &plan::RDMA, name);
        interface.rdma.mark(gap);
        return None;
    };
    let base = format!("{ports}/{own}");
    let file = format!("{base}/state");
    let [state, counters] = scan.batch(&[Request::read(file.as_str()), Request::list(format!("{base}/hw_counters"))]);
    // `4: ACTIVE`.
    interface.rdma.state = scan.parsed(&state, &file, &plan::RDMA, name, |text| {
        let word = text.trim().split_once(": ").map_or(text.trim(), |(_, word)| word);
        (!word.is_empty()).then(|| word.to_ascii_lowercase())
    });
    let folder = format!("{base}/hw_counters");
    let names: Vec<String> = match &counters {
        Reply::Bytes(names) => zero_ended(&names.0).map(text).filter(|name| name != "lifespan").take(MOST).collect(),
        Reply::Error { errno: libc::ENOENT, .. } => {
            interface.rdma.counters = Reading::Absent(scan.file(folder));
            return None;
        }
        refusal => {
            interface.rdma.counters = Reading::Unknown(scan.refusal(refusal, &plan::RDMA, name));
            return None;
        }
    };
    let rows = counts(scan, &folder, &names);
    let source = scan.file(&folder);
    interface.rdma.counters = Reading::Known(statistics::block(GROUP, source, rows), source);
    Some((folder, names))
}

/// Counters that could be read.
fn counts(scan: &mut Scan<'_>, folder: &str, names: &[String]) -> Vec<(String, u64)> {
    let requests: Vec<Request> = names.iter().map(|name| Request::read(format!("{folder}/{name}"))).collect();
    let replies = scan.kernel.call(&requests);
    let row = |(name, reply): (&String, &Reply)| Some((name.clone(), text(reply.bytes()?).parse().ok()?));
    names.iter().zip(&replies).filter_map(row).collect()
}

/// The second sample.
pub(super) fn again(scan: &mut Scan<'_>, sample: &Sample, taken: &mut [Interface]) {
    for (index, folder, names) in &sample.ports {
        let rows = counts(scan, folder, names);
        let after = scan.kernel.now_ms().saturating_sub(sample.at);
        let mut interfaces = taken.iter_mut();
        let Some(interface) = interfaces.find(|interface| interface.index.known() == Some(index)) else { continue };
        if let Reading::Known(block, _) = &mut interface.rdma.counters {
            statistics::append(block, after, rows.iter().map(|(name, count)| (name.as_str(), *count)));
        }
    }
}
