//! Filters with actions: asked where the queueing disciplines show that there may be some.

use std::collections::BTreeMap;

use super::kernel::Request;
use super::netlink::{self, Answer, attribute, attributes, text, u32_at, u64_at};
use super::plan;
use super::qdiscs::{self, Stats};
use super::scan::Scan;
use super::statistics;
use crate::reading::{BitsPerSecond, GapKind, Reading, SourceId};
use crate::snapshot::{Interface, TcAction};

const GET_FILTER: u16 = 46;
const GROUP: &str = "tc_actions";
/// What filters of a clsact or ingress discipline hang on.
const INGRESS: u32 = 0xffff_fff2;
const EGRESS: u32 = 0xffff_fff3;
/// Most actions of one interface.
const MOST: usize = 1024;
/// The most bytes of one answer.
const LIMIT: usize = 4 << 20;

/// An action of a filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ActionRow {
    pub kind: String,
    /// Of a policer, in bytes per second.
    pub rate: Option<u64>,
    pub stats: Option<Stats>,
}

fn request(index: u32, parent: u32) -> Request {
    let mut header = [0; 20];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[12..16].copy_from_slice(&parent.to_ne_bytes());
    netlink::route_dump(GET_FILTER, &header).most(LIMIT)
}

/// The attributes of a kind of filter that hold its actions and, in the older way, a policer.
fn places(kind: &str) -> (Option<u16>, Option<u16>) {
    match kind {
        "u32" => (Some(7), Some(6)),
        "flower" | "basic" => (Some(3), (kind == "basic").then_some(4)),
        "matchall" => (Some(2), None),
        "bpf" | "cgroup" => (Some(1), Some(2)),
        "fw" => (Some(4), Some(2)),
        "route" => (Some(6), Some(5)),
        "flow" => (Some(9), None),
        _ => (None, None),
    }
}

/// Reads one RTM_NEWTFILTER payload.
pub(super) fn actions(payload: &[u8]) -> Vec<ActionRow> {
    let read = || {
        let rest = payload.get(20..)?;
        let (actions, policer) = places(&attribute(rest, 1).map(text)?);
        let options = attribute(rest, 2)?;
        let listed = actions.and_then(|kind| attribute(options, kind)).unwrap_or_default();
        let mut rows: Vec<ActionRow> = attributes(listed).filter_map(|(_, action)| one(action)).collect();
        if let Some(options) = policer.and_then(|kind| attribute(options, kind)) {
            rows.push(ActionRow { kind: "police".into(), rate: police_rate(options), stats: None });
        }
        Some(rows)
    };
    read().unwrap_or_default()
}

fn one(action: &[u8]) -> Option<ActionRow> {
    let kind = attribute(action, 1).map(text)?;
    let rate = (kind == "police").then(|| attribute(action, 2).and_then(police_rate)).flatten();
    Some(ActionRow { rate, stats: attribute(action, 4).map(qdiscs::stats), kind })
}

/// `struct tc_police`, with the attribute that holds rates beyond 32 bits. Zero is a policer by packets.
fn police_rate(options: &[u8]) -> Option<u64> {
    let wide = attribute(options, 8).and_then(|wide| u64_at(wide, 0));
    wide.or_else(|| attribute(options, 1).and_then(|police| u32_at(police, 28)).map(u64::from)).filter(|rate| *rate > 0)
}

/// The places of an interface where filters may hang: a word for each, and what the kernel calls it.
fn hooks(interface: &Interface) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for qdisc in interface.qdiscs.known().into_iter().flatten() {
        match qdisc.kind.as_str() {
            "ingress" => found.push(("ingress".to_owned(), INGRESS)),
            "clsact" => found.extend([("ingress".to_owned(), INGRESS), ("egress".to_owned(), EGRESS)]),
            // Those that sort packets by filters.
            "htb" | "hfsc" | "prio" | "drr" | "qfq" | "ets" | "cbq" | "dsmark" | "multiq" | "sfq" | "fq_codel"
            | "cake" => {
                let major = qdisc.handle.trim_end_matches(':');
                if let Ok(major) = u32::from_str_radix(major, 16)
                    && major > 0
                    && major <= 0xffff
                {
                    found.push((qdisc.handle.clone(), major << 16));
                }
            }
            _ => {}
        }
    }
    found
}

/// What one interface has, in the order of the kernel: a word for the place, and the action.
type Found = Vec<(String, ActionRow)>;

struct Heard {
    rows: Found,
    /// The first place that was not read to its end.
    refusal: Option<Answer>,
}

fn ask(scan: &mut Scan<'_>, interfaces: &[Interface]) -> BTreeMap<u32, Heard> {
    let mut asked: Vec<(u32, String)> = Vec::new();
    let mut requests = Vec::new();
    for interface in interfaces {
        let Some(index) = interface.index.known().copied() else { continue };
        for (hook, parent) in hooks(interface) {
            asked.push((index, hook));
            requests.push(request(index, parent));
        }
    }
    let mut found: BTreeMap<u32, Heard> = BTreeMap::new();
    for ((index, hook), answer) in asked.into_iter().zip(netlink::ask(scan.kernel, &requests)) {
        let heard = found.entry(index).or_insert(Heard { rows: Vec::new(), refusal: None });
        for row in answer.parts.iter().flat_map(|payload| actions(payload)) {
            if heard.rows.len() < MOST {
                heard.rows.push((hook.clone(), row));
            }
        }
        if (answer.refusal.is_some() || !answer.complete) && heard.refusal.is_none() {
            heard.refusal = Some(answer);
        }
    }
    found
}

/// Fills the interfaces, whose queueing disciplines are known by now. Yields when the counters were read.
pub(super) fn collect(scan: &mut Scan<'_>) -> u64 {
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let mut found = ask(scan, &taken);
    let at = scan.kernel.now_ms();
    for interface in &mut taken {
        let heard = interface.index.known().and_then(|index| found.remove(index));
        interface.tc_actions = match (heard, &interface.qdiscs) {
            (Some(Heard { refusal: Some(Answer { refusal: Some(refusal), .. }), .. }), _) => {
                Reading::Unknown(scan.refusal(&refusal, &plan::FILTERS, &interface.name))
            }
            (Some(Heard { refusal: Some(_), .. }), _) => {
                let detail = "the dump has no end";
                Reading::Unknown(scan.gap(GapKind::Malformed, detail, &plan::FILTERS, &interface.name))
            }
            (Some(heard), _) => {
                let source = scan.netlink("RTM_GETTFILTER", &interface.name);
                if let Some(sums) = policed(&heard.rows) {
                    interface.counters.push(statistics::block(GROUP, source, sums));
                }
                Reading::Known(heard.rows.into_iter().map(|(hook, row)| fill(hook, row, source)).collect(), source)
            }
            // Nothing that filters could hang on.
            (None, Reading::Known(_, source)) => Reading::Known(Vec::new(), *source),
            (None, Reading::Unknown(gap)) => Reading::Unknown(*gap),
            (None, Reading::Absent(source)) => Reading::Absent(*source),
        };
    }
    scan.out.interfaces = taken;
    at
}

/// Packets that policers saw and dropped, over all of them; `None` without a policer that counts.
fn policed(rows: &Found) -> Option<[(&'static str, u64); 2]> {
    let police = rows.iter().map(|(_, row)| row).filter(|row| row.kind == "police");
    let sums = police.filter_map(|row| {
        let stats = row.stats?;
        Some((stats.basic?.1, u64::from(stats.queue?[2])))
    });
    let [packets, drops] = sums.fold([None::<u64>; 2], |[packets, drops], (more, lost)| {
        [Some(packets.unwrap_or(0).saturating_add(more)), Some(drops.unwrap_or(0).saturating_add(lost))]
    });
    Some([("police_packets", packets?), ("police_drops", drops?)])
}

/// Its counters by the names of tc.
fn counts(stats: Stats) -> impl Iterator<Item = (&'static str, u64)> {
    const NAMES: [&str; 4] = ["sent_bytes", "sent_packets", "dropped", "overlimits"];
    stats.rows().filter(|(name, _)| NAMES.contains(name))
}

fn fill(hook: String, row: ActionRow, source: SourceId) -> TcAction {
    TcAction {
        hook,
        kind: row.kind,
        rate: match row.rate {
            Some(rate) => Reading::Known(BitsPerSecond(rate.saturating_mul(8)), source),
            None => Reading::Absent(source),
        },
        counters: match row.stats {
            Some(stats) => Reading::Known(statistics::block(GROUP, source, counts(stats)), source),
            None => Reading::Absent(source),
        },
    }
}

/// The second sample of interfaces with actions.
pub(super) fn again(scan: &mut Scan<'_>, taken: &mut [Interface], at: u64) {
    let acts = |interface: &&Interface| interface.tc_actions.known().is_some_and(|actions| !actions.is_empty());
    let with: Vec<Interface> = taken
        .iter()
        .filter(acts)
        .map(|interface| Interface {
            index: interface.index.clone(),
            qdiscs: interface.qdiscs.clone(),
            ..Interface::default()
        })
        .collect();
    if with.is_empty() {
        return;
    }
    let found = ask(scan, &with);
    let after = scan.kernel.now_ms().saturating_sub(at);
    for interface in taken {
        let Some(heard) = interface.index.known().and_then(|index| found.get(index)) else { continue };
        let Reading::Known(rows, _) = &mut interface.tc_actions else { continue };
        // Filters were added or removed: rows can't be told apart.
        let same = rows.len() == heard.rows.len()
            && rows.iter().zip(&heard.rows).all(|(row, (hook, now))| row.hook == *hook && row.kind == now.kind);
        if !same {
            continue;
        }
        for (row, (_, now)) in rows.iter_mut().zip(&heard.rows) {
            if let (Reading::Known(block, _), Some(stats)) = (&mut row.counters, now.stats) {
                statistics::append(block, after, counts(stats));
            }
        }
        if let Some(sums) = policed(&heard.rows) {
            statistics::add(interface, GROUP, after, sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::netlink::push;
    use super::*;
    use crate::snapshot::Qdisc;

    fn nested(fields: &[(u16, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, value) in fields {
            push(&mut out, *kind, value);
        }
        out
    }

    fn message(kind: &str, options: &[u8]) -> Vec<u8> {
        [vec![0; 20], nested(&[(1, format!("{kind}\0").as_bytes()), (2, options)])].concat()
    }

    fn stats() -> Vec<u8> {
        let basic = [5000u64.to_ne_bytes().to_vec(), vec![50, 0, 0, 0, 0, 0, 0, 0]].concat();
        nested(&[(1, &basic), (3, &[0u32, 0, 7, 0, 9].map(u32::to_ne_bytes).concat())])
    }

    #[test]
    fn a_policer_drops_what_is_beyond_its_rate() {
        let mut police = vec![0; 56];
        police[28..32].copy_from_slice(&125_000u32.to_ne_bytes());
        let action = nested(&[(1, b"police\0"), (2, &nested(&[(1, &police)])), (4, &stats())]);
        let mirror = nested(&[(1, b"mirred\0"), (2, &[])]);
        let rows = actions(&message("matchall", &nested(&[(2, &nested(&[(1, &action), (2, &mirror)]))])));
        assert_eq!((rows[0].kind.as_str(), rows[0].rate), ("police", Some(125_000)));
        assert_eq!((rows[1].kind.as_str(), rows[1].rate, rows[1].stats), ("mirred", None, None));
        let counted: Vec<_> = counts(rows[0].stats.unwrap()).collect();
        assert_eq!(counted, [("sent_bytes", 5000), ("sent_packets", 50), ("dropped", 7), ("overlimits", 9)]);
        let all: Found = rows.into_iter().map(|row| ("ingress".to_owned(), row)).collect();
        assert_eq!(policed(&all), Some([("police_packets", 50), ("police_drops", 7)]));
        assert_eq!(policed(&all[1..].to_vec()), None);
    }

    #[test]
    fn rates_beyond_32_bits_and_policers_of_the_older_way() {
        let police = nested(&[(1, &[0; 56]), (8, &12_500_000_000u64.to_ne_bytes())]);
        assert_eq!(police_rate(&police), Some(12_500_000_000));
        assert_eq!(police_rate(&nested(&[(1, &[0; 56])])), None);
        let rows = actions(&message("u32", &nested(&[(6, &police)])));
        assert_eq!((rows[0].kind.as_str(), rows[0].stats), ("police", None));
        for odd in [&[][..], &[0; 20], &message("u32", &[])[..], &message("rsvp", &police)] {
            assert_eq!(actions(odd), []);
        }
    }

    #[test]
    fn filters_are_looked_for_where_they_can_hang() {
        let qdisc = |kind: &str, handle: &str| Qdisc { kind: kind.into(), handle: handle.into(), ..Qdisc::default() };
        let rows = vec![qdisc("mq", "0:"), qdisc("htb", "1:"), qdisc("fq_codel", "0:"), qdisc("clsact", "ffff:")];
        let interface = Interface { qdiscs: Reading::Known(rows, SourceId::ASSUMED), ..Interface::default() };
        let expected = [("1:".to_owned(), 0x1_0000), ("ingress".to_owned(), INGRESS), ("egress".to_owned(), EGRESS)];
        assert_eq!(hooks(&interface), expected);
    }
}
