//! The standard statistics of IEEE 802.3 and RMON, for interfaces with a device behind them.

use std::collections::BTreeMap;

use super::ethtool::{self, Family};
use super::ethtool_replies;
use super::interfaces::{Links, Netdev};
use super::kernel::Reply;
use super::netlink;
use super::plan;
use super::scan::Scan;
use super::statistics;

/// The names, once read, and when the first sample was taken.
#[derive(Default)]
pub(super) struct Standard {
    sets: BTreeMap<u32, BTreeMap<usize, String>>,
    at: u64,
}

/// What each of these devices counts, by its index. A driver without such statistics is not in the list.
fn read(
    scan: &mut Scan<'_>,
    family: &Family,
    devices: &[&Netdev],
    sets: &BTreeMap<u32, BTreeMap<usize, String>>,
) -> BTreeMap<u32, Vec<(String, u64)>> {
    let requests: Vec<_> =
        devices.iter().map(|device| ethtool_replies::stats_request(family.id, device.row.index)).collect();
    let answers = netlink::ask(scan.kernel, &requests);
    let mut found = BTreeMap::new();
    for (device, answer) in devices.iter().zip(&answers) {
        match (answer.parts.first(), &answer.refusal) {
            (Some(payload), _) => {
                if let Some(rows) = ethtool_replies::stats(payload, sets).filter(|rows| !rows.is_empty()) {
                    found.insert(device.row.index, rows);
                }
            }
            (None, Some(Reply::Error { errno: libc::EOPNOTSUPP, .. }) | None) => {}
            (None, Some(refusal)) => {
                scan.refusal(refusal, &plan::STANDARD, &device.name);
            }
        }
    }
    found
}

/// The first sample.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links, family: &Family) -> Standard {
    let mut standard = Standard::default();
    let shown: Vec<u32> = scan.out.interfaces.iter().filter_map(|interface| interface.index.known().copied()).collect();
    let devices: Vec<&Netdev> =
        shown.iter().filter_map(|index| links.at(*index)).filter(|device| device.has_device).collect();
    if devices.is_empty() || !family.commands.contains(&u32::from(ethtool_replies::STATS)) {
        return standard;
    }
    let request = ethtool::sets_request(family.id, &ethtool_replies::STATS_SETS);
    let answer = netlink::ask(scan.kernel, &[request]).pop().unwrap_or_default();
    if let Some(payload) = answer.parts.first() {
        standard.sets = ethtool::sets(payload);
    }
    let rows = read(scan, family, &devices, &standard.sets);
    standard.at = scan.kernel.now_ms();
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    for interface in &mut taken {
        if let Some(rows) = interface.index.known().and_then(|index| rows.get(index)) {
            let source = scan.netlink("ETHTOOL_MSG_STATS_GET", &interface.name);
            interface.counters.push(statistics::block("ethtool_standard", source, rows.iter().cloned()));
        }
    }
    scan.out.interfaces = taken;
    standard
}

/// The second sample of interfaces that had a first one.
pub(super) fn again(
    scan: &mut Scan<'_>,
    links: &Links,
    family: &Family,
    standard: &Standard,
    taken: &mut [crate::snapshot::Interface],
) {
    let counted = |interface: &crate::snapshot::Interface| {
        interface.counters.iter().any(|block| block.group == "ethtool_standard")
    };
    let devices: Vec<&Netdev> = taken
        .iter()
        .filter(|interface| counted(interface))
        .filter_map(|interface| links.at(*interface.index.known()?))
        .collect();
    if devices.is_empty() {
        return;
    }
    let rows = read(scan, family, &devices, &standard.sets);
    let after = scan.kernel.now_ms().saturating_sub(standard.at);
    for interface in taken {
        if let Some(rows) = interface.index.known().and_then(|index| rows.get(index)) {
            let named = rows.iter().map(|(name, value)| (name.as_str(), *value));
            statistics::add(interface, "ethtool_standard", after, named);
        }
    }
}
