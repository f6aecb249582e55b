//! Counters as blocks: the driver's own statistics, and second samples.

use std::collections::BTreeMap;

use super::ethtool::{self, Command, Family};
use super::interfaces::{self, Links, Netdev};
use super::kernel::{Reply, Request};
use super::networking::Tables;
use super::scan::Scan;
use super::standard::{self, Standard};
use super::{ethtool_replies, filters, ioctl, links, netlink, plan, qdiscs, rdma};
use crate::reading::{GapKind, Reading, SourceId};
use crate::snapshot::{Counter, CounterBlock, Interface};

/// Group of the counts of the carrier.
pub(super) const CARRIER: &str = "rtnl_link_carrier";

/// What happened to an interface between the samples, so that its counters can't be compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It is another device of the same name.
    Recreated,
    /// Somebody switched it on or off; that the carrier followed says nothing.
    Switched,
    /// The carrier came or went by itself.
    Carrier,
}

impl Change {
    fn between(first: &links::LinkRow, second: &links::LinkRow) -> Option<Self> {
        if first.index != second.index {
            Some(Self::Recreated)
        } else if (first.flags ^ second.flags) & interfaces::UP != 0 {
            Some(Self::Switched)
        } else if first.carrier_changes != second.carrier_changes {
            Some(Self::Carrier)
        } else {
            None
        }
    }

    fn remark(self, name: &str) -> String {
        let what = match self {
            Self::Recreated => "was re-created",
            Self::Switched => "was switched on or off",
            Self::Carrier => "lost or gained its carrier",
        };
        format!("{name} {what} between the samples: its counters are those of the second only")
    }
}

/// A block with one sample.
pub(super) fn block<N: Into<String>>(
    group: &str,
    source: SourceId,
    rows: impl IntoIterator<Item = (N, u64)>,
) -> CounterBlock {
    let counter = |(name, value): (N, u64)| Counter { name: name.into(), values: vec![Some(value)] };
    CounterBlock {
        group: group.into(),
        source,
        partial: false,
        at_ms: vec![0],
        counters: rows.into_iter().map(counter).collect(),
    }
}

/// Adds the rows of a later sample.
pub(super) fn append<'n>(block: &mut CounterBlock, after_ms: u64, rows: impl IntoIterator<Item = (&'n str, u64)>) {
    block.append(after_ms, rows);
}

/// When a source was read for the first time.
#[derive(Default)]
pub(super) struct Stamps {
    pub links: u64,
    /// Of the statistics in dumps of ethtool.
    pub dumps: u64,
    pub qdiscs: u64,
    pub filters: u64,
    /// Per interface index.
    pub drivers: BTreeMap<u32, u64>,
    pub standard: Standard,
    pub tables: Tables,
}

/// Driver information and the first sample of its statistics, for interfaces with a device behind them.
pub(super) fn drivers(scan: &mut Scan<'_>, links: &Links, stamps: &mut Stamps) {
    let mut interfaces = std::mem::take(&mut scan.out.interfaces);
    for interface in &mut interfaces {
        let Some(device) = device(links, interface) else { continue };
        driver_info(scan, interface, device);
        if let Some(rows) = statistics(scan, device) {
            stamps.drivers.insert(device.row.index, scan.kernel.now_ms());
            let source = scan.ioctl("ETHTOOL_GSTATS", &device.name);
            interface.counters.push(block("ethtool_statistics", source, rows));
        }
    }
    scan.out.interfaces = interfaces;
}

fn device<'l>(links: &'l Links, interface: &Interface) -> Option<&'l Netdev> {
    links.at(*interface.index.known()?).filter(|device| device.has_device)
}

fn driver_info(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let [reply] = scan.batch(&[ioctl::driver_request(&device.row.raw_name)]);
    let source = scan.ioctl("ETHTOOL_GDRVINFO", &device.name);
    let row = match &reply {
        Reply::Bytes(blob) => ioctl::driver(&blob.0),
        Reply::Error { errno: libc::EOPNOTSUPP, .. } => return interface.driver.mark_absent(source),
        refusal => {
            let gap = scan.refusal(refusal, &plan::DRIVER, &device.name);
            return interface.driver.mark(gap);
        }
    };
    let Some(row) = row else {
        let gap = scan.gap(GapKind::Malformed, "ETHTOOL_GDRVINFO", &plan::DRIVER, &device.name);
        return interface.driver.mark(gap);
    };
    let field = |text: String| match text.as_str() {
        "" | "N/A" | "n/a" => Reading::Absent(source),
        _ => Reading::Known(text, source),
    };
    interface.driver.name = field(row.name);
    interface.driver.version = field(row.version);
    interface.driver.firmware = field(row.firmware);
    interface.driver.bus_info = field(row.bus_info);
}

/// What `ethtool -S` prints. A list that changes between counting and reading is read again.
fn statistics(scan: &mut Scan<'_>, device: &Netdev) -> Option<Vec<(String, u64)>> {
    let name = &device.row.raw_name;
    for _ in 0..3 {
        let [reply] = scan.batch(&[ioctl::count_request(name)]);
        let count = match &reply {
            Reply::Bytes(blob) => ioctl::count(&blob.0).unwrap_or(0),
            Reply::Error { errno: libc::EOPNOTSUPP, .. } => return None,
            refusal => return refused(scan, refusal, device),
        };
        if count == 0 {
            return None;
        }
        let [names, values] = scan.batch(&ioctl::statistics_requests(name, count));
        match (&names, &values) {
            (Reply::Bytes(names), Reply::Bytes(values)) => {
                if let Some(rows) = ioctl::statistics(&names.0, &values.0, count) {
                    return Some(rows);
                }
            }
            (Reply::Bytes(_), refusal) | (refusal, _) => return refused(scan, refusal, device),
        }
    }
    scan.remark(format!("{} of {}: the list changed while it was read", plan::STATISTICS.what, device.name));
    None
}

fn refused<T>(scan: &mut Scan<'_>, refusal: &Reply, device: &Netdev) -> Option<T> {
    let gap = scan.refusal(refusal, &plan::STATISTICS, &device.name);
    let gap = scan.out.origins.gap_of(gap);
    if gap.why == GapKind::Failed {
        let remark = format!("{} of {}: {}", plan::STATISTICS.what, device.name, gap.detail);
        scan.remark(remark);
    }
    None
}

/// The second sample of all counters. `family` is that of ethtool, if there is one.
pub(super) fn second_sample(
    scan: &mut Scan<'_>,
    links: &Links,
    family: Option<&Family>,
    stamps: &Stamps,
    ports: &rdma::Sample,
) {
    let answer = netlink::ask(scan.kernel, &[interfaces::links_request()]).pop().unwrap_or_default();
    let after = scan.kernel.now_ms().saturating_sub(stamps.links);
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let rows: BTreeMap<Vec<u8>, links::LinkRow> =
        answer.parts.iter().filter_map(|payload| links::link(payload)).map(|row| (row.raw_name.clone(), row)).collect();
    let mut changed = BTreeMap::new();
    for interface in &mut taken {
        let Some(first) = interface.index.known().and_then(|index| links.at(*index)) else { continue };
        let Some(row) = rows.get(&first.row.raw_name) else {
            if answer.complete {
                scan.remark(format!("{} vanished between the samples", interface.name));
            }
            continue;
        };
        if let Some(change) = Change::between(&first.row, row) {
            changed.insert(first.row.index, change);
        }
        let named = links::stat_names(row.stats.len()).iter().copied().zip(row.stats.iter().copied());
        add(interface, "rtnl_link_stats64", after, named);
        add(interface, CARRIER, after, row.carrier_counts());
    }
    if let Some(family) = family {
        pause_again(scan, &mut taken, family.id, stamps);
        fec_again(scan, &mut taken, family.id, stamps);
        standard::again(scan, links, family, &stamps.standard, &mut taken);
    }
    for interface in &mut taken {
        if !interface.counters.iter().any(|block| block.group == "ethtool_statistics") {
            continue;
        }
        let Some(device) = device(links, interface) else { continue };
        if let Some(rows) = statistics(scan, device) {
            let first = stamps.drivers.get(&device.row.index).copied().unwrap_or(0);
            let after = scan.kernel.now_ms().saturating_sub(first);
            let named = rows.iter().map(|(name, value)| (name.as_str(), *value));
            add(interface, "ethtool_statistics", after, named);
        }
    }
    qdiscs::again(scan, &mut taken, stamps.qdiscs);
    filters::again(scan, &mut taken, stamps.filters);
    rdma::again(scan, ports, &mut taken);
    for interface in &mut taken {
        if let Some(change) = interface.index.known().and_then(|index| changed.get(index)) {
            scan.remark(change.remark(&interface.name));
            drop_first(interface, *change);
        }
    }
    scan.out.interfaces = taken;
    if rows.is_empty() {
        scan.remark("there is no second sample: interfaces could not be listed again".into());
    } else {
        scan.out.sample.seconds = after as f64 / 1000.0;
    }
}

/// Adds the rows of a later sample to the block of this group, if there is one.
pub(super) fn add<'n>(
    interface: &mut Interface,
    group: &str,
    after: u64,
    rows: impl IntoIterator<Item = (&'n str, u64)>,
) {
    if let Some(block) = interface.counters.iter_mut().find(|block| block.group == group) {
        append(block, after, rows);
    }
}

fn pause_again(scan: &mut Scan<'_>, taken: &mut [Interface], family: u16, stamps: &Stamps) {
    let rows = |payload: &[u8]| Some(ethtool::pause(payload)?.stats);
    dump_again(scan, taken, "ethtool_pause", ethtool::request(family, Command::Pause, None, true), stamps, rows);
}

fn fec_again(scan: &mut Scan<'_>, taken: &mut [Interface], family: u16, stamps: &Stamps) {
    let rows = |payload: &[u8]| Some(ethtool_replies::fec(payload)?.stats);
    dump_again(scan, taken, "ethtool_fec", ethtool::request(family, Command::Fec, None, true), stamps, rows);
}

/// Statistics of one device.
type Rows = Vec<(&'static str, u64)>;

/// Makes a dump of ethtool again, if an interface has statistics of this group.
fn dump_again(
    scan: &mut Scan<'_>,
    taken: &mut [Interface],
    group: &str,
    request: Request,
    stamps: &Stamps,
    rows: fn(&[u8]) -> Option<Rows>,
) {
    let counted = |interface: &Interface| interface.counters.iter().any(|block| block.group == group);
    if !taken.iter().any(counted) {
        return;
    }
    let answer = netlink::ask(scan.kernel, &[request]).pop().unwrap_or_default();
    let after = scan.kernel.now_ms().saturating_sub(stamps.dumps);
    let rows: BTreeMap<u32, Rows> =
        answer.parts.iter().filter_map(|payload| Some((ethtool::device(payload)?, rows(payload)?))).collect();
    for interface in taken {
        if let Some(rows) = interface.index.known().and_then(|index| rows.get(index)) {
            add(interface, group, after, rows.iter().copied());
        }
    }
}

/// Keeps the second sample only, where there is one. Of a carrier that came or went both count: that is what they tell of.
fn drop_first(interface: &mut Interface, change: Change) {
    let qdiscs = match &mut interface.qdiscs {
        Reading::Known(qdiscs, _) => qdiscs.as_mut_slice(),
        _ => &mut [],
    };
    let actions = match &mut interface.tc_actions {
        Reading::Known(actions, _) => actions.as_mut_slice(),
        _ => &mut [],
    };
    let acted = actions.iter_mut().filter_map(|action| match &mut action.counters {
        Reading::Known(block, _) => Some(block),
        _ => None,
    });
    let of_rdma = match &mut interface.rdma.counters {
        Reading::Known(block, _) => Some(block),
        _ => None,
    };
    let queued = qdiscs.iter_mut().filter_map(|qdisc| qdisc.counters.as_mut());
    let blocks = interface.counters.iter_mut().chain(queued).chain(acted).chain(of_rdma);
    let comparable = |block: &CounterBlock| change == Change::Carrier && block.group == CARRIER;
    for block in blocks.filter(|block| block.at_ms.len() > 1 && !comparable(block)) {
        block.at_ms = vec![0];
        block.counters.retain_mut(|counter| {
            let last = counter.values.pop().flatten();
            counter.values = vec![last];
            last.is_some()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_with_other_names_are_joined_by_name() {
        let mut block = block("x", SourceId::ASSUMED, [("a", 1), ("b", 2)]);
        append(&mut block, 1000, [("b", 5), ("c", 7)]);
        let rows: Vec<(&str, &[Option<u64>])> =
            block.counters.iter().map(|counter| (counter.name.as_str(), &counter.values[..])).collect();
        assert_eq!(rows, [("a", &[Some(1), None][..]), ("b", &[Some(2), Some(5)]), ("c", &[None, Some(7)])]);
        let mut interface = Interface { counters: vec![block], ..Interface::default() };
        drop_first(&mut interface, Change::Recreated);
        let block = &interface.counters[0];
        assert_eq!((block.at_ms.as_slice(), block.counters.len()), (&[0u64][..], 2));
        assert_eq!(block.get("b").unwrap().values, [Some(5)]);
    }
}
