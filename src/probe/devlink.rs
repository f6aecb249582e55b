//! devlink: the health that drivers report of their devices, and the package in the firmware. Two dumps.

use std::collections::BTreeMap;

use rtnetlink::packet_core::NLM_F_DUMP;

use super::ethtool;
use super::interfaces::{Links, Netdev};
use super::kernel::{Lock, Protocol, Reply, Request};
use super::netlink::{self, Answer, attribute, attributes, family_request, text, u64_at};
use super::plan::{self, Probe};
use super::scan::Scan;
use crate::reading::{GapId, GapKind, Reading};
use crate::snapshot::HealthReporter;

const INFO_GET: u8 = 51;
const HEALTH_REPORTER_GET: u8 = 52;
/// Names under which firmware tells of its package.
const PACKAGES: [&str; 2] = ["fw.app.name", "fw.app"];

/// Name of a command that reads.
pub(super) fn command_name(command: u8) -> Option<&'static str> {
    Some(match command {
        INFO_GET => "DEVLINK_CMD_INFO_GET",
        HEALTH_REPORTER_GET => "DEVLINK_CMD_HEALTH_REPORTER_GET",
        _ => return None,
    })
}

/// A device by its bus and address: `pci/0000:01:00.0`.
fn handle(body: &[u8]) -> Option<String> {
    Some(format!("{}/{}", attribute(body, 1).map(text)?, attribute(body, 2).map(text)?))
}

/// A reporter of a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReporterRow {
    pub device: String,
    pub name: String,
    /// `None` for a state that has no word.
    pub state: Option<&'static str>,
    pub errors: Option<u64>,
}

pub(super) fn reporter(payload: &[u8]) -> Option<ReporterRow> {
    let body = payload.get(4..)?;
    let row = attribute(body, 114)?;
    let state = attribute(row, 116).and_then(|state| state.first().copied());
    Some(ReporterRow {
        device: handle(body)?,
        name: attribute(row, 115).map(text)?,
        state: match state {
            Some(0) => Some("healthy"),
            Some(1) => Some("error"),
            _ => None,
        },
        errors: attribute(row, 117).and_then(|count| u64_at(count, 0)),
    })
}

/// The device, and the package in its running firmware, if it tells of one.
pub(super) fn package(payload: &[u8]) -> Option<(String, Option<String>)> {
    const RUNNING: u16 = 101;
    let body = payload.get(4..)?;
    let versions: Vec<(String, String)> = attributes(body)
        .filter(|(kind, _)| *kind == RUNNING)
        .filter_map(|(_, version)| Some((attribute(version, 103).map(text)?, attribute(version, 104).map(text)?)))
        .collect();
    let named = |name: &&str| versions.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
    Some((handle(body)?, PACKAGES.iter().find_map(named)))
}

/// The device behind an interface, as devlink names it.
fn device_of(device: &Netdev) -> Option<String> {
    let bus = match (&device.row.parent_bus, device.pci.known()) {
        (Some(bus), _) => bus.clone(),
        (None, Some(_)) => "pci".to_owned(),
        (None, None) => return None,
    };
    let name = device.row.parent_device.clone().or_else(|| Some(device.pci.known()?.to_string()))?;
    Some(format!("{bus}/{name}"))
}

fn requests(family: u16) -> [Request; 2] {
    [HEALTH_REPORTER_GET, INFO_GET].map(|command| {
        let lock = Lock::Device("devlink".to_owned());
        family_request(Protocol::Devlink, family, NLM_F_DUMP, command, &[]).lock(lock)
    })
}

/// Fills the interfaces. `families` answers [`ethtool::families_request`].
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links, families: &Answer) {
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let none = scan.netlink("RTM_GETLINK", "all interfaces");
    let mut asked: Vec<(usize, Option<String>, &str)> = Vec::new();
    for (place, interface) in taken.iter_mut().enumerate() {
        match interface.index.known().and_then(|index| links.at(*index)).filter(|device| device.has_device) {
            Some(device) => asked.push((place, device_of(device), &device.name)),
            None => interface.devlink.mark_absent(none),
        }
    }
    let family = ethtool::family_number(&families.parts, "devlink");
    if let (Some(family), false) = (family, asked.is_empty()) {
        let mut answers = netlink::ask(scan.kernel, &requests(family)).into_iter();
        let (health, info) = (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        let mut reporters: BTreeMap<String, Vec<ReporterRow>> = BTreeMap::new();
        for row in health.parts.iter().filter_map(|payload| reporter(payload)) {
            reporters.entry(row.device.clone()).or_default().push(row);
        }
        let packages: BTreeMap<String, Option<String>> =
            info.parts.iter().filter_map(|payload| package(payload)).collect();
        for (place, device, name) in asked {
            let out = &mut taken[place].devlink;
            let source = scan.netlink("DEVLINK_CMD_HEALTH_REPORTER_GET", name);
            out.health = match device.as_ref().and_then(|device| reporters.get(device)) {
                Some(rows) => {
                    let rows = rows.iter().map(|row| HealthReporter {
                        name: row.name.clone(),
                        state: scan.or_unknown(
                            row.state.map(str::to_owned),
                            source,
                            GapKind::DriverUnknown,
                            "a state without a word",
                        ),
                        errors: row.errors.map_or(Reading::Absent(source), |count| Reading::Known(count, source)),
                    });
                    let rows = rows.collect();
                    Reading::Known(rows, source)
                }
                None => cut(scan, &health, &plan::HEALTH, name).map_or(Reading::Absent(source), Reading::Unknown),
            };
            let source = scan.netlink("DEVLINK_CMD_INFO_GET", name);
            out.firmware_package = match device.as_ref().and_then(|device| packages.get(device)) {
                Some(Some(package)) => Reading::Known(package.clone(), source),
                Some(None) => Reading::Absent(source),
                None => {
                    cut(scan, &info, &plan::FIRMWARE_PACKAGE, name).map_or(Reading::Absent(source), Reading::Unknown)
                }
            };
        }
    } else if !asked.is_empty() {
        // Without the family no driver has registered with devlink; without the list nothing is known.
        let gap = cut(scan, families, &plan::HEALTH, "");
        let source = scan.netlink("CTRL_CMD_GETFAMILY", "devlink");
        for (place, ..) in asked {
            match gap {
                Some(gap) => taken[place].devlink.mark(gap),
                None => taken[place].devlink.mark_absent(source),
            }
        }
    }
    scan.out.interfaces = taken;
}

/// The gap for what a dump may have held, if it did not come to its end.
fn cut(scan: &mut Scan<'_>, answer: &Answer, probe: &Probe, name: &str) -> Option<GapId> {
    match &answer.refusal {
        Some(Reply::Error { errno: libc::EOPNOTSUPP, .. }) => None,
        Some(refusal) => Some(scan.refusal(refusal, probe, name)),
        None if answer.complete => None,
        None => Some(scan.gap(GapKind::Malformed, "the dump has no end", probe, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::netlink::push;
    use super::*;

    fn nested(fields: &[(u16, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, value) in fields {
            push(&mut out, *kind, value);
        }
        out
    }

    fn reply(fields: &[(u16, &[u8])]) -> Vec<u8> {
        let device: [(u16, &[u8]); 2] = [(1, b"pci\0"), (2, b"0000:01:00.0\0")];
        [vec![0; 4], nested(&device), nested(fields)].concat()
    }

    #[test]
    fn reporters_tell_of_errors() {
        let row = nested(&[(115, b"fw\0"), (116, &[1]), (117, &3u64.to_ne_bytes())]);
        let found = reporter(&reply(&[(114, &row)])).unwrap();
        assert_eq!((found.device.as_str(), found.name.as_str()), ("pci/0000:01:00.0", "fw"));
        assert_eq!((found.state, found.errors), (Some("error"), Some(3)));
        assert_eq!(reporter(&reply(&[])), None);
        assert_eq!(reporter(&[]), None);
    }

    #[test]
    fn the_package_is_that_of_the_running_firmware() {
        let version = |name: &[u8], value: &[u8]| nested(&[(103, name), (104, value)]);
        let (fw, app) = (version(b"fw.mgmt\0", b"5.1\0"), version(b"fw.app.name\0", b"ICE OS Default Package\0"));
        let (_, found) = package(&reply(&[(101, &fw), (101, &app)])).unwrap();
        assert_eq!(found.as_deref(), Some("ICE OS Default Package"));
        assert_eq!(package(&reply(&[(102, &app)])).unwrap().1, None, "stored, not running");
        assert_eq!(package(&[]), None);
    }
}
