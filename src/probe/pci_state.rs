//! What sysfs says of a network function beyond its links: power, the driver that somebody bound it to, errors, and the
//! power management of its link.

use super::kernel::{Reply, Request};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::formats::aer;
use crate::reading::{GapKind, Reading};
use crate::snapshot::{PciAddress, PciDevice};

const GROUP: &str = "aer";
/// Files of Advanced Error Reporting, and what their counts are called.
const AER: [(&str, &str); 3] =
    [("aer_dev_correctable", "correctable"), ("aer_dev_nonfatal", "nonfatal"), ("aer_dev_fatal", "fatal")];
/// Files that are there where the link can do it, and what they are called.
const ASPM: [(&str, &str); 4] = [("l0s_aspm", "l0s"), ("l1_aspm", "l1"), ("l1_1_aspm", "l1.1"), ("l1_2_aspm", "l1.2")];

fn path(address: PciAddress, file: &str) -> String {
    format!("/sys/bus/pci/devices/{address}/{file}")
}

/// Fills the functions. None of these files wakes a function that sleeps.
pub(super) fn collect(scan: &mut Scan<'_>) {
    let mut devices = std::mem::take(&mut scan.out.devices);
    for device in &mut devices {
        let at = device.address;
        let link_of = device.physical_function.known().copied().unwrap_or(at);
        let own = scan.batch(&["power_state", "driver_override"].map(|file| Request::read(path(at, file))));
        power(scan, device, &own);
        let replies = scan.batch(&AER.map(|(file, _)| Request::read(path(at, file))));
        errors(scan, device, &replies);
        let replies = scan.batch(&ASPM.map(|(file, _)| Request::read(path(link_of, &format!("link/{file}")))));
        link(scan, device, link_of, &replies);
    }
    scan.out.devices = devices;
}

/// Reads the counts of errors again; where they can't be, those of the first sample stay.
pub(super) fn again(scan: &mut Scan<'_>, first: u64) {
    let mut devices = std::mem::take(&mut scan.out.devices);
    for device in &mut devices {
        let at = device.address;
        let Reading::Known(block, _) = &mut device.aer else { continue };
        let replies = scan.batch(&AER.map(|(file, _)| Request::read(path(at, file))));
        let now = scan.kernel.now_ms();
        let told: Option<Vec<_>> = AER
            .into_iter()
            .zip(&replies)
            .map(|((_, kind), reply)| Some((kind, aer::counts(&String::from_utf8_lossy(reply.bytes()?))?)))
            .collect();
        if let Some(told) = told {
            let rows = told.iter().flat_map(|(kind, counts)| counts.iter().map(move |row| (kind, row)));
            let rows: Vec<(String, u64)> =
                rows.map(|(kind, (name, count))| (format!("{kind}.{name}"), *count)).collect();
            block.append(now.saturating_sub(first), rows.iter().map(|(name, count)| (name.as_str(), *count)));
        }
    }
    scan.out.devices = devices;
}

fn power(scan: &mut Scan<'_>, device: &mut PciDevice, [state, bound]: &[Reply; 2]) {
    let subject = device.address.to_string();
    let word = |text: &str| Some(text.trim().to_owned()).filter(|word| !word.is_empty());
    let file = path(device.address, "power_state");
    device.power_state = match state {
        // Kernels before 5.11.
        Reply::Error { errno: libc::ENOENT, .. } => {
            let detail = "power_state";
            Reading::Unknown(scan.gap(GapKind::KernelTooOld, detail, &plan::PCI_STATE, &subject))
        }
        reply => match scan.parsed(reply, &file, &plan::PCI_STATE, &subject, word) {
            Reading::Known(word, _) if word == "unknown" => {
                let why = GapKind::DriverUnknown;
                Reading::Unknown(scan.gap(why, "power_state: `unknown`", &plan::PCI_STATE, &subject))
            }
            reading => reading,
        },
    };
    let file = path(device.address, "driver_override");
    device.driver_override = match bound {
        Reply::Error { errno: libc::ENOENT, .. } => Reading::Absent(scan.file(file)),
        reply => match scan.parsed(reply, &file, &plan::PCI_STATE, &subject, word) {
            Reading::Known(word, source) if word == "(null)" => Reading::Absent(source),
            reading => reading,
        },
    };
}

/// A function without Advanced Error Reporting, or whose errors the firmware keeps, has no such files.
fn errors(scan: &mut Scan<'_>, device: &mut PciDevice, replies: &[Reply; 3]) {
    let subject = device.address.to_string();
    let source = scan.file(path(device.address, "aer_dev_*"));
    if replies.iter().all(|reply| matches!(reply, Reply::Error { errno: libc::ENOENT, .. })) {
        device.aer = Reading::Absent(source);
        return;
    }
    let mut rows = Vec::new();
    for ((file, kind), reply) in AER.into_iter().zip(replies) {
        match scan.parsed(reply, &path(device.address, file), &plan::PCI_STATE, &subject, aer::counts) {
            Reading::Known(counts, _) => {
                rows.extend(counts.into_iter().map(|(name, count)| (format!("{kind}.{name}"), count)));
            }
            Reading::Unknown(gap) => {
                device.aer = Reading::Unknown(gap);
                return;
            }
            Reading::Absent(_) => {}
        }
    }
    device.aer = Reading::Known(statistics::block(GROUP, source, rows), source);
}

/// The files are there only where both ends can; without any, configuration space has spoken already.
fn link(scan: &mut Scan<'_>, device: &mut PciDevice, end: PciAddress, replies: &[Reply; 4]) {
    let mut on = Vec::new();
    let mut any = false;
    for ((_, word), reply) in ASPM.into_iter().zip(replies) {
        if let Some(text) = reply.bytes() {
            any = true;
            if text.starts_with(b"1") {
                on.push(word.to_owned());
            }
        }
    }
    if any {
        device.pcie.aspm = Reading::Known(on, scan.file(path(end, "link")));
    }
}
