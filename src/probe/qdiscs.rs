//! Queueing disciplines and their counters: one dump for all interfaces.

use std::collections::BTreeMap;

use super::kernel::Request;
use super::netlink::{self, Answer, attribute, text, u32_at, u64_at};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::reading::{BitsPerSecond, GapKind, Reading, SourceId};
use crate::snapshot::{Interface, Qdisc};

const GET_QDISC: u16 = 38;
const GET_CLASS: u16 = 42;
const ROOT: u32 = 0xffff_ffff;
const INGRESS: u32 = 0xffff_fff1;
const GROUP: &str = "qdisc";

/// What RTM_NEWQDISC says of one queueing discipline.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct QdiscRow {
    pub index: u32,
    pub handle: u32,
    pub parent: u32,
    pub kind: String,
    pub stats: Option<Stats>,
    pub rate: Rate,
}

/// Its counters. `None` where the kernel sends none of that group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stats {
    /// Bytes and packets that were sent.
    pub basic: Option<(u64, u64)>,
    /// Packets and bytes that wait, packets that were dropped and requeued, and attempts beyond the limit.
    pub queue: Option<[u32; 5]>,
}

/// The rate that it limits traffic to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Rate {
    /// It limits none.
    #[default]
    None,
    /// Bytes per second.
    Bytes(u64),
    /// Its classes hold it.
    Classes,
    /// It may limit one, in options that are not read here.
    Unread,
}

/// The request for all of them.
pub(super) fn request() -> Request {
    netlink::route_dump(GET_QDISC, &[0; 20])
}

/// Reads one RTM_NEWQDISC payload.
pub(super) fn qdisc(payload: &[u8]) -> Option<QdiscRow> {
    let rest = payload.get(20..)?;
    let kind = attribute(rest, 1).map(text)?;
    let options = attribute(rest, 2).unwrap_or_default();
    Some(QdiscRow {
        index: u32_at(payload, 4)?,
        handle: u32_at(payload, 8)?,
        parent: u32_at(payload, 12)?,
        stats: attribute(rest, 7).map(stats),
        rate: rate(&kind, options),
        kind,
    })
}

/// Reads TCA_STATS2, also that of an action.
pub(super) fn stats(nested: &[u8]) -> Stats {
    let basic = attribute(nested, 1).and_then(|basic| {
        // Beyond 32 bits the packets come in an attribute of their own.
        let packets = attribute(nested, 8).and_then(|wide| u64_at(wide, 0));
        Some((u64_at(basic, 0)?, packets.or_else(|| u32_at(basic, 8).map(u64::from))?))
    });
    let queue = attribute(nested, 3).and_then(|queue| {
        let at = |position: usize| u32_at(queue, position * 4);
        Some([at(0)?, at(1)?, at(2)?, at(3)?, at(4)?])
    });
    Stats { basic, queue }
}

impl Stats {
    /// The counters by their names, in the order of `tc -s qdisc`.
    pub fn rows(self) -> impl Iterator<Item = (&'static str, u64)> {
        let basic = self.basic.map(|(bytes, packets)| [("sent_bytes", bytes), ("sent_packets", packets)]);
        let queue = self.queue.map(|[waiting, backlog, drops, requeues, overlimits]| {
            [
                ("dropped", u64::from(drops)),
                ("overlimits", u64::from(overlimits)),
                ("requeues", u64::from(requeues)),
                ("backlog_bytes", u64::from(backlog)),
                ("backlog_packets", u64::from(waiting)),
            ]
        });
        basic.into_iter().flatten().chain(queue.into_iter().flatten())
    }
}

/// `struct tc_ratespec`, with the attribute that holds rates beyond 32 bits.
fn rate_of(spec: &[u8], wide: Option<&[u8]>) -> Option<u64> {
    wide.and_then(|wide| u64_at(wide, 0)).or_else(|| u32_at(spec, 8).map(u64::from))
}

fn rate(kind: &str, options: &[u8]) -> Rate {
    match kind {
        "tbf" => attribute(options, 1)
            .and_then(|spec| rate_of(spec, attribute(options, 4)))
            .map_or(Rate::Unread, Rate::Bytes),
        // Zero is "unlimited".
        "cake" => match attribute(options, 2).and_then(|wide| u64_at(wide, 0)) {
            None => Rate::Unread,
            Some(0) => Rate::None,
            Some(rate) => Rate::Bytes(rate),
        },
        "htb" => Rate::Classes,
        "hfsc" | "cbq" | "netem" | "taprio" | "cbs" | "etf" => Rate::Unread,
        _ => Rate::None,
    }
}

/// A handle as tc spells it.
fn handle(handle: u32) -> String {
    format!("{:x}:", handle >> 16)
}

/// What it hangs on, as tc spells it.
fn parent(parent: u32) -> String {
    match (parent, parent >> 16, parent & 0xffff) {
        (ROOT, ..) => "root".into(),
        (INGRESS, ..) => "ingress".into(),
        (0, ..) => "none".into(),
        (_, 0, minor) => format!(":{minor:x}"),
        (_, major, 0) => format!("{major:x}:"),
        (_, major, minor) => format!("{major:x}:{minor:x}"),
    }
}

/// Rows by the index of their interface, in the order of the kernel.
fn by_interface(answer: &Answer) -> BTreeMap<u32, Vec<QdiscRow>> {
    let mut rows: BTreeMap<u32, Vec<QdiscRow>> = BTreeMap::new();
    for row in answer.parts.iter().filter_map(|payload| qdisc(payload)) {
        rows.entry(row.index).or_default().push(row);
    }
    rows
}

/// Fills the interfaces. Yields when the counters were read.
pub(super) fn collect(scan: &mut Scan<'_>) -> u64 {
    let answer = netlink::ask(scan.kernel, &[request()]).pop().unwrap_or_default();
    let at = scan.kernel.now_ms();
    let mut rows = by_interface(&answer);
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    for interface in &mut taken {
        let Some(index) = interface.index.known().copied() else { continue };
        interface.qdiscs = match (rows.remove(&index), &answer.refusal) {
            (None, Some(refusal)) => Reading::Unknown(scan.refusal(refusal, &plan::QDISCS, &interface.name)),
            (None, None) if !answer.complete => {
                Reading::Unknown(scan.gap(GapKind::Malformed, "the dump has no end", &plan::QDISCS, &interface.name))
            }
            // An interface that was never up has none.
            (rows, _) => {
                let source = scan.netlink("RTM_GETQDISC", &interface.name);
                let rows = rows.unwrap_or_default();
                Reading::Known(rows.into_iter().map(|row| fill(scan, interface, row, source)).collect(), source)
            }
        };
    }
    scan.out.interfaces = taken;
    at
}

fn fill(scan: &mut Scan<'_>, interface: &Interface, row: QdiscRow, source: SourceId) -> Qdisc {
    // `noqueue` passes packets on without counting them.
    let stats = row.stats.filter(|_| row.kind != "noqueue");
    let rate = match row.rate {
        Rate::None => Reading::Absent(source),
        Rate::Bytes(bytes) => Reading::Known(BitsPerSecond(bytes.saturating_mul(8)), source),
        Rate::Classes => class_rate(scan, interface, row.index, row.handle),
        Rate::Unread => {
            let detail = format!("the options of {} are not read", row.kind);
            Reading::Unknown(scan.gap(GapKind::NotCollected, detail, &plan::QDISCS, &interface.name))
        }
    };
    Qdisc {
        handle: handle(row.handle),
        parent: parent(row.parent),
        counters: stats.map(|stats| statistics::block(GROUP, source, stats.rows())),
        rate,
        kind: row.kind,
    }
}

/// The ceiling of the one class below the root of an htb; with more than one, none of them limits all traffic alone.
fn class_rate(scan: &mut Scan<'_>, interface: &Interface, index: u32, handle: u32) -> Reading<BitsPerSecond> {
    let mut header = [0; 20];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    let request = netlink::route_dump(GET_CLASS, &header).most(1 << 22);
    let answer = netlink::ask(scan.kernel, &[request]).pop().unwrap_or_default();
    if let Some(refusal) = &answer.refusal {
        return Reading::Unknown(scan.refusal(refusal, &plan::CLASSES, &interface.name));
    }
    let roots: Vec<&[u8]> =
        answer.parts.iter().map(Vec::as_slice).filter(|payload| is_root_class(payload, handle)).collect();
    if let [class] = roots.as_slice()
        && let Some(ceiling) = ceiling(class)
    {
        let source = scan.netlink("RTM_GETTCLASS", &interface.name);
        return Reading::Known(BitsPerSecond(ceiling.saturating_mul(8)), source);
    }
    let detail = format!("{} classes hang on the root of htb", roots.len());
    Reading::Unknown(scan.gap(GapKind::Derived, detail, &plan::CLASSES, &interface.name))
}

/// True for a class of the htb with this handle that hangs on no other class.
fn is_root_class(payload: &[u8], handle: u32) -> bool {
    let (Some(id), Some(parent)) = (u32_at(payload, 8), u32_at(payload, 12)) else { return false };
    id >> 16 == handle >> 16 && (parent == ROOT || parent == handle)
}

/// The ceiling of a class of htb in bytes per second: `struct tc_htb_opt` holds the rate, then the ceiling.
fn ceiling(payload: &[u8]) -> Option<u64> {
    let options = attribute(payload.get(20..)?, 2)?;
    rate_of(attribute(options, 1)?.get(12..)?, attribute(options, 7))
}

/// The second sample.
pub(super) fn again(scan: &mut Scan<'_>, taken: &mut [Interface], at: u64) {
    let counts = |interface: &Interface| {
        interface.qdiscs.known().is_some_and(|qdiscs| qdiscs.iter().any(|qdisc| qdisc.counters.is_some()))
    };
    if !taken.iter().any(counts) {
        return;
    }
    let answer = netlink::ask(scan.kernel, &[request()]).pop().unwrap_or_default();
    let after = scan.kernel.now_ms().saturating_sub(at);
    let rows = by_interface(&answer);
    for interface in taken {
        let Some(rows) = interface.index.known().and_then(|index| rows.get(index)) else { continue };
        let Reading::Known(qdiscs, _) = &mut interface.qdiscs else { continue };
        for qdisc in qdiscs {
            let Some(block) = &mut qdisc.counters else { continue };
            let same = |row: &&QdiscRow| {
                row.kind == qdisc.kind && handle(row.handle) == qdisc.handle && parent(row.parent) == qdisc.parent
            };
            if let Some(stats) = rows.iter().find(same).and_then(|row| row.stats) {
                statistics::append(block, after, stats.rows());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::netlink::push;
    use super::*;

    fn message(kind: &str, handle: u32, parent: u32, options: &[u8], stats: &[u8]) -> Vec<u8> {
        let mut payload = vec![0; 4];
        for word in [7, handle, parent, 1] {
            payload.extend(u32::to_ne_bytes(word));
        }
        push(&mut payload, 1, format!("{kind}\0").as_bytes());
        push(&mut payload, 2, options);
        push(&mut payload, 7, stats);
        payload
    }

    /// Bytes in the order of `struct tc_ratespec`.
    fn spec(rate: u32) -> Vec<u8> {
        [vec![0; 8], rate.to_ne_bytes().to_vec()].concat()
    }

    #[test]
    fn counters_come_under_the_names_of_tc() {
        let mut stats = Vec::new();
        push(&mut stats, 1, &[397_849u64.to_ne_bytes().to_vec(), vec![61, 19, 0, 0, 0, 0, 0, 0]].concat());
        push(&mut stats, 3, &[2u32, 3000, 5, 6, 7].map(u32::to_ne_bytes).concat());
        let row = qdisc(&message("pfifo_fast", 0, ROOT, &[], &stats)).unwrap();
        assert_eq!((row.index, row.kind.as_str(), row.rate), (7, "pfifo_fast", Rate::None));
        let rows: Vec<(&str, u64)> = row.stats.unwrap().rows().collect();
        let expected = [
            ("sent_bytes", 397_849),
            ("sent_packets", 4925),
            ("dropped", 5),
            ("overlimits", 7),
            ("requeues", 6),
            ("backlog_bytes", 3000),
            ("backlog_packets", 2),
        ];
        assert_eq!(rows, expected);
        push(&mut stats, 8, &(1u64 << 33).to_ne_bytes());
        let row = qdisc(&message("mq", 0, ROOT, &[], &stats)).unwrap();
        assert_eq!(row.stats.unwrap().basic, Some((397_849, 1 << 33)));
        assert_eq!(qdisc(&[0; 19]), None);
        assert_eq!(qdisc(&[0; 20]), None);
    }

    #[test]
    fn rates_of_shapers_are_bytes_per_second() {
        let mut options = Vec::new();
        push(&mut options, 1, &spec(125_000));
        let tbf = |options: &[u8]| qdisc(&message("tbf", 0x8001_0000, ROOT, options, &[])).unwrap().rate;
        assert_eq!(tbf(&options), Rate::Bytes(125_000));
        push(&mut options, 4, &12_500_000_000u64.to_ne_bytes());
        assert_eq!(tbf(&options), Rate::Bytes(12_500_000_000));
        assert_eq!(tbf(&[]), Rate::Unread);
        let cake = |rate: u64| {
            let mut options = Vec::new();
            push(&mut options, 2, &rate.to_ne_bytes());
            qdisc(&message("cake", 0, ROOT, &options, &[])).unwrap().rate
        };
        assert_eq!((cake(0), cake(9)), (Rate::None, Rate::Bytes(9)));
        let mut options = Vec::new();
        push(&mut options, 1, &[spec(1), spec(125_000_000), vec![0; 20]].concat());
        let class = |id: u32, parent: u32| message("htb", id, parent, &options, &[]);
        assert_eq!(ceiling(&class(0x1_0001, ROOT)), Some(125_000_000));
        assert!(is_root_class(&class(0x1_0001, ROOT), 0x1_0000));
        assert!(!is_root_class(&class(0x1_0002, 0x1_0001), 0x1_0000));
        assert!(!is_root_class(&class(0x2_0001, ROOT), 0x1_0000));
        assert!(!is_root_class(&[], 0x1_0000) && ceiling(&[]).is_none());
    }

    #[test]
    fn handles_and_parents_are_spelled_as_tc_does() {
        assert_eq!(
            (handle(0), handle(0x8001_0000), handle(0xffff_0000)),
            ("0:".into(), "8001:".into(), "ffff:".into())
        );
        for (number, words) in
            [(ROOT, "root"), (INGRESS, "ingress"), (0, "none"), (4, ":4"), (0x1_0000, "1:"), (0x1_001f, "1:1f")]
        {
            assert_eq!(parent(number), words);
        }
    }
}
