//! TCP connections: those of each interface that carry most.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::interfaces::Links;
use super::kernel::{Reply, Request};
use super::links::{self, ip};
use super::netlink::{self, Answer, attributes, text, u32_at, u64_at};
use super::peer::route_request;
use super::plan;
use super::routing;
use super::scan::Scan;
use super::statistics;
use crate::reading::{BitsPerSecond, Bytes, GapId, GapKind, Reading, Seconds, SourceId};
use crate::snapshot::Flow;

/// Connections that are kept for each interface, and in all.
const MOST_PER_INTERFACE: usize = 32;
const MOST: usize = 256;
/// The most bytes of a dump: about 20,000 connections.
const DUMP_LIMIT: usize = 8 << 20;
const GROUP: &str = "tcp_info";

/// One connection as sock_diag tells it. `None` where this kernel sends no such field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowRow {
    pub local: SocketAddr,
    pub peer: SocketAddr,
    /// Interface that the socket is bound to; 0 for none.
    pub bound: u32,
    /// Tells the socket from all others, also later ones of the same addresses.
    pub cookie: u64,
    pub receive_queue: u32,
    pub congestion: Option<String>,
    pub info: TcpInfo,
    pub receive_buffer: Option<u32>,
    pub send_buffer: Option<u32>,
    pub drops: Option<u32>,
}

/// What is needed of `struct tcp_info`. Kernels send as much of it as they know.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TcpInfo {
    bytes: Vec<u8>,
}

impl TcpInfo {
    fn u8(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn u32(&self, at: usize) -> Option<u32> {
        u32_at(&self.bytes, at)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        u64_at(&self.bytes, at)
    }

    // Offsets by include/uapi/linux/tcp.h, where fields are only ever added at the end.
    fn backoff(&self) -> Option<u8> {
        self.u8(4)
    }

    fn app_limited(&self) -> Option<bool> {
        // The first bit of a byte of bit fields; it came with the rate.
        self.delivery_rate()?;
        let first = if cfg!(target_endian = "big") { 0x80 } else { 1 };
        Some(self.u8(7)? & first != 0)
    }

    fn mss(&self) -> Option<u32> {
        self.u32(16)
    }

    fn unacked(&self) -> Option<u32> {
        self.u32(24)
    }

    fn pmtu(&self) -> Option<u32> {
        self.u32(60)
    }

    fn rtt_us(&self) -> Option<u32> {
        self.u32(68)
    }

    fn cwnd(&self) -> Option<u32> {
        self.u32(80)
    }

    fn retransmits(&self) -> Option<u32> {
        self.u32(100)
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.u64(104)
    }

    fn bytes_acked(&self) -> Option<u64> {
        self.u64(120)
    }

    fn bytes_received(&self) -> Option<u64> {
        self.u64(128)
    }

    fn segments_out(&self) -> Option<u32> {
        self.u32(136)
    }

    fn min_rtt_us(&self) -> Option<u32> {
        self.u32(148)
    }

    fn delivery_rate(&self) -> Option<u64> {
        self.u64(160)
    }

    fn busy_us(&self) -> Option<u64> {
        self.u64(168)
    }

    fn rwnd_limited_us(&self) -> Option<u64> {
        self.u64(176)
    }

    fn sndbuf_limited_us(&self) -> Option<u64> {
        self.u64(184)
    }

    /// The counters that this kernel has.
    fn rows(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("bytes_acked", self.bytes_acked()),
            ("bytes_received", self.bytes_received()),
            ("segments_out", self.segments_out().map(u64::from)),
            ("retransmits", self.retransmits().map(u64::from)),
            ("busy", self.busy_us()),
            ("rwnd_limited", self.rwnd_limited_us()),
            ("sndbuf_limited", self.sndbuf_limited_us()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    fn carried(&self) -> u64 {
        self.bytes_acked().unwrap_or(0).saturating_add(self.bytes_received().unwrap_or(0))
    }
}

/// The request for connections of a family that may carry data.
pub(super) fn request(family: i32) -> Request {
    const ESTABLISHED: u32 = 1 << 1;
    const FIN_WAIT1: u32 = 1 << 4;
    const CLOSE_WAIT: u32 = 1 << 8;
    // Bits of the attributes wanted: tcp_info, the name of the congestion control, memory.
    const WANTED: u8 = 1 << 1 | 1 << 3 | 1 << 6;
    let mut payload = vec![family as u8, libc::IPPROTO_TCP as u8, WANTED, 0];
    payload.extend((ESTABLISHED | FIN_WAIT1 | CLOSE_WAIT).to_ne_bytes());
    payload.resize(56, 0);
    netlink::socket_dump(&payload).most(DUMP_LIMIT)
}

/// Reads one `struct inet_diag_msg` with its attributes.
pub(super) fn flow(payload: &[u8]) -> Option<FlowRow> {
    let length = if i32::from(*payload.first()?) == libc::AF_INET6 { 16 } else { 4 };
    let rest = payload.get(72..)?;
    let end = |port: usize, address: usize| {
        let port = u16::from_be_bytes([*payload.get(port)?, *payload.get(port + 1)?]);
        Some(SocketAddr::new(ip(payload.get(address..address + length)?)?, port))
    };
    let mut row = FlowRow {
        local: end(4, 8)?,
        peer: end(6, 24)?,
        bound: u32_at(payload, 40)?,
        cookie: u64::from(u32_at(payload, 44)?) | u64::from(u32_at(payload, 48)?) << 32,
        receive_queue: u32_at(payload, 56)?,
        congestion: None,
        info: TcpInfo::default(),
        receive_buffer: None,
        send_buffer: None,
        drops: None,
    };
    for (kind, value) in attributes(rest) {
        match kind {
            2 => row.info.bytes = value.to_vec(),
            4 => row.congestion = Some(text(value)).filter(|name| !name.is_empty()),
            7 => {
                // Places by the list of SK_MEMINFO_* in include/uapi/linux/sock_diag.h.
                let at = |place: usize| u32_at(value, place * 4);
                (row.receive_buffer, row.send_buffer, row.drops) = (at(1), at(3), at(8));
            }
            _ => {}
        }
    }
    Some(row)
}

/// Connections at one moment.
#[derive(Default)]
pub(super) struct Sample {
    rows: BTreeMap<u64, FlowRow>,
    at: u64,
    /// Why there are none.
    gap: Option<GapId>,
    asked: bool,
}

impl Sample {
    /// Why there are none.
    pub fn gap(&self) -> Option<GapId> {
        self.gap
    }
}

/// Whether asking would have the kernel load a module: what `ss` causes on a host where nobody asked before.
fn would_load(scan: &mut Scan<'_>) -> bool {
    let release = scan.out.host.kernel.known().map(|kernel| kernel.text.clone()).unwrap_or_default();
    let built_in = format!("/lib/modules/{release}/modules.builtin");
    let [tcp, inet, modules, kernel, disabled, list] = scan.batch(&[
        Request::exists("/sys/module/tcp_diag"),
        Request::exists("/sys/module/inet_diag"),
        Request::exists("/proc/modules"),
        Request::exists("/proc/sys/kernel/osrelease"),
        Request::read("/proc/sys/kernel/modules_disabled"),
        Request::read(built_in).most(1 << 20),
    ]);
    let none = |reply: &Reply| matches!(reply, Reply::Error { errno: libc::ENOENT, .. });
    let loaded = tcp.bytes().is_some() && inet.bytes().is_some();
    // Without /proc/modules this kernel has no modules, if it is its /proc at all.
    let never = none(&modules) && kernel.bytes().is_some() || disabled.bytes() == Some(b"1\n");
    let part = list.bytes().is_some_and(|text| {
        let text = String::from_utf8_lossy(text);
        ["tcp_diag.ko", "inet_diag.ko"].iter().all(|name| text.lines().any(|line| line.ends_with(name)))
    });
    !(loaded || never || part)
}

/// The first sample.
pub(super) fn first(scan: &mut Scan<'_>) -> Sample {
    if would_load(scan) {
        let detail = "asking would have the kernel load tcp_diag";
        let gap = scan.gap(GapKind::NotCollected, detail, &plan::FLOWS, "");
        return Sample { gap: Some(gap), ..Sample::default() };
    }
    ask(scan)
}

/// The second sample, if there was a first one.
pub(super) fn again(scan: &mut Scan<'_>, first: &Sample) -> Option<Sample> {
    first.asked.then(|| ask(scan)).filter(|second| second.gap.is_none())
}

fn ask(scan: &mut Scan<'_>) -> Sample {
    let answers = netlink::ask(scan.kernel, &[request(libc::AF_INET), request(libc::AF_INET6)]);
    let at = scan.kernel.now_ms();
    let mut sample = Sample { at, asked: true, ..Sample::default() };
    let no_family = |answer: &Answer| {
        matches!(answer.refusal, Some(Reply::Error { errno: libc::ENOENT | libc::EINVAL | libc::EAFNOSUPPORT, .. }))
    };
    for (place, answer) in answers.iter().enumerate() {
        match &answer.refusal {
            // A kernel without IPv6 has no such sockets.
            Some(_) if place == 1 && no_family(answer) => {}
            Some(refusal) => sample.gap = Some(scan.refusal(refusal, &plan::FLOWS, "")),
            None if !answer.complete => {
                let count = answer.parts.len();
                scan.remark(format!("of {} only the first {count} were looked at", plan::FLOWS.what));
            }
            None => {}
        }
        sample.rows.extend(answer.parts.iter().filter_map(|part| flow(part)).map(|row| (row.cookie, row)));
    }
    sample
}

/// A connection with its earlier state, if there is one.
struct Candidate<'s> {
    now: &'s FlowRow,
    before: Option<&'s FlowRow>,
    /// What it carried within the sample, then since it was opened.
    weight: (u64, u64),
}

/// Fills the list of connections from one sample, or from two.
/// Those to `peer` come before others.
pub(super) fn fill(
    scan: &mut Scan<'_>,
    links: &Links,
    addresses: &Answer,
    samples: (&Sample, Option<&Sample>),
    peer: Option<IpAddr>,
) {
    let (first, second) = samples;
    let latest = second.unwrap_or(first);
    if let Some(gap) = latest.gap {
        scan.out.host.flows = Reading::Unknown(gap);
        return;
    }
    let mut owners: BTreeMap<IpAddr, u32> = BTreeMap::new();
    for row in addresses.parts.iter().filter_map(|part| links::address(part)) {
        owners.entry(row.address).or_insert(row.index);
    }
    // Where a connection seems to leave by, which is good enough to choose.
    let seems =
        |row: &FlowRow| if row.bound == 0 { owners.get(&row.local.ip()).copied().unwrap_or(0) } else { row.bound };
    let mut groups: BTreeMap<u32, Vec<Candidate<'_>>> = BTreeMap::new();
    for now in latest.rows.values() {
        let before = second.and_then(|_| first.rows.get(&now.cookie));
        let total = now.info.carried();
        // One that is new has carried everything since.
        let earlier = second.map_or(total, |_| before.map_or(0, |before| before.info.carried()));
        groups.entry(seems(now)).or_default().push(Candidate {
            now,
            before,
            weight: (total.saturating_sub(earlier), total),
        });
    }
    let to_peer = |one: &Candidate<'_>| peer.is_some_and(|peer| one.now.peer.ip().to_canonical() == peer);
    let heaviest = |one: &Candidate<'_>| {
        (!to_peer(one), std::cmp::Reverse(one.weight), one.now.local, one.now.peer, one.now.cookie)
    };
    let mut chosen: Vec<Candidate<'_>> = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_key(heaviest);
        group.truncate(MOST_PER_INTERFACE);
        chosen.extend(group);
    }
    chosen.sort_by_key(heaviest);
    chosen.truncate(MOST);
    let ways = ways(scan, links, &chosen);
    let source = scan.netlink("SOCK_DIAG_BY_FAMILY", "TCP");
    let after = latest.at.saturating_sub(first.at);
    let flows = chosen.iter().zip(ways).map(|(one, way)| build(scan, one, way, source, after)).collect();
    scan.out.host.flows = Reading::Known(flows, source);
}

/// The interfaces by which the routes of connections leave.
fn ways(scan: &mut Scan<'_>, links: &Links, chosen: &[Candidate<'_>]) -> Vec<Reading<String>> {
    let mut pairs: BTreeMap<(IpAddr, IpAddr), usize> = BTreeMap::new();
    let mut requests = Vec::new();
    for one in chosen.iter().filter(|one| one.now.bound == 0) {
        pairs.entry((one.now.peer.ip(), one.now.local.ip())).or_insert_with(|| {
            requests.push(route_request(one.now.peer.ip(), Some(one.now.local.ip())));
            requests.len() - 1
        });
    }
    let answers: Vec<Answer> = netlink::ask(scan.kernel, &requests);
    let source = scan.netlink("RTM_GETROUTE", "other ends of connections");
    let bound = scan.netlink("SOCK_DIAG_BY_FAMILY", "TCP");
    let name = |index: u32, source: SourceId, scan: &mut Scan<'_>| match links.at(index) {
        Some(device) => Reading::Known(device.name.clone(), source),
        None => Reading::Unknown(scan.dead_end(GapKind::Changed, format!("no link with index {index}"))),
    };
    chosen
        .iter()
        .map(|one| {
            if one.now.bound != 0 {
                return name(one.now.bound, bound, scan);
            }
            let place = pairs.get(&(one.now.peer.ip(), one.now.local.ip()));
            let Some(answer) = place.and_then(|place| answers.get(*place)) else { return Reading::default() };
            match (answer.parts.first().and_then(|part| routing::route(part)), &answer.refusal) {
                (Some(row), _) if !row.interfaces.is_empty() => name(row.interfaces[0], source, scan),
                (_, Some(refusal)) => Reading::Unknown(scan.refusal(refusal, &plan::ROUTES, "")),
                _ => Reading::Unknown(scan.dead_end(GapKind::Failed, "no route to the other end")),
            }
        })
        .collect()
}

fn build(scan: &mut Scan<'_>, one: &Candidate<'_>, interface: Reading<String>, source: SourceId, after: u64) -> Flow {
    let row = one.now;
    let info = &row.info;
    macro_rules! known {
        ($value:expr) => {
            match $value {
                Some(value) => Reading::Known(value, source),
                None => Reading::Unknown(scan.gap(
                    GapKind::KernelTooOld,
                    "not in the answer of sock_diag",
                    &plan::FLOWS,
                    "",
                )),
            }
        };
    }
    macro_rules! unmeasured {
        () => {
            Reading::Unknown(scan.dead_end(GapKind::DriverUnknown, "not measured yet"))
        };
    }
    let time = |us: Option<u64>| us.map(|us| Seconds(us as f64 / 1e6));
    macro_rules! rtt {
        ($us:expr) => {
            match $us {
                // No segment was acknowledged yet.
                Some(0 | u32::MAX) => unmeasured!(),
                us => known!(time(us.map(u64::from))),
            }
        };
    }
    let rate = |bytes: u64| BitsPerSecond(bytes.saturating_mul(8));
    let size = |bytes: u32| Bytes(bytes.into());
    let mut samples = match one.before {
        Some(before) => statistics::block(GROUP, source, before.info.rows()),
        None => statistics::block(GROUP, source, info.rows()),
    };
    if one.before.is_some() {
        samples.append(after, info.rows());
    }
    Flow {
        local: row.local.to_string(),
        peer: row.peer.to_string(),
        interface,
        congestion: known!(row.congestion.clone()),
        rtt: rtt!(info.rtt_us()),
        min_rtt: rtt!(info.min_rtt_us()),
        mss: known!(info.mss().map(size)),
        pmtu: known!(info.pmtu().map(size)),
        cwnd: known!(info.cwnd()),
        retransmits: known!(info.retransmits().map(u64::from)),
        segments_out: known!(info.segments_out().map(u64::from)),
        bytes_acked: known!(info.bytes_acked()),
        bytes_received: known!(info.bytes_received()),
        busy: known!(time(info.busy_us())),
        rwnd_limited: known!(time(info.rwnd_limited_us())),
        sndbuf_limited: known!(time(info.sndbuf_limited_us())),
        delivery_rate: match info.delivery_rate() {
            Some(0) => unmeasured!(),
            bytes => known!(bytes.map(rate)),
        },
        pacing_rate: match info.pacing_rate() {
            // All ones: not paced.
            Some(u64::MAX) => Reading::Absent(source),
            bytes => known!(bytes.map(rate)),
        },
        app_limited: known!(info.app_limited()),
        receive_buffer: known!(row.receive_buffer.map(size)),
        send_buffer: known!(row.send_buffer.map(size)),
        buffer_locked: Reading::Unknown(scan.dead_end(GapKind::NotCollected, "the kernel does not tell")),
        drops: known!(row.drops.map(u64::from)),
        receive_queue: Reading::Known(size(row.receive_queue), source),
        unacked: known!(info.unacked()),
        backoff: known!(info.backoff().map(u32::from)),
        samples: Reading::Known(samples, source),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::Ask;
    use super::super::netlink::push;
    use super::*;

    /// `struct inet_diag_msg` of a connection over IPv4 with these attributes.
    fn message(fields: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut payload = vec![2, 1, 0, 0];
        payload.extend(5201u16.to_be_bytes());
        payload.extend(40000u16.to_be_bytes());
        payload.extend([192, 0, 2, 7]);
        payload.resize(24, 0);
        payload.extend([198, 51, 100, 8]);
        payload.resize(40, 0);
        for word in [3u32, 0x11, 0x22, 0, 1234, 0, 0, 0] {
            payload.extend(word.to_ne_bytes());
        }
        for (kind, value) in fields {
            push(&mut payload, *kind, value);
        }
        payload
    }

    #[test]
    fn a_connection_is_read_with_what_its_kernel_knows() {
        let mut info = vec![0; 232];
        info[4] = 3;
        info[7] = 1;
        let mut put =
            |at: usize, value: u64, width: usize| info[at..at + width].copy_from_slice(&value.to_ne_bytes()[..width]);
        put(16, 1448, 4);
        put(68, 20_000, 4);
        put(80, 10, 4);
        put(100, 7, 4);
        put(104, u64::MAX, 8);
        put(120, 1 << 40, 8);
        put(128, 500, 8);
        put(148, 19_000, 4);
        put(160, 125_000_000, 8);
        put(168, 3_000_000, 8);
        put(176, 1_500_000, 8);
        let memory: Vec<u8> =
            [0u32, 131_072, 0, 87_040, 0, 0, 0, 0, 9].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let row = flow(&message(&[(2, info.clone()), (4, b"bbr\0".to_vec()), (7, memory)])).unwrap();
        assert_eq!(
            (row.local.to_string(), row.peer.to_string()),
            ("192.0.2.7:5201".into(), "198.51.100.8:40000".into())
        );
        assert_eq!((row.bound, row.cookie, row.receive_queue), (3, 0x22_0000_0011, 1234));
        assert_eq!(row.congestion.as_deref(), Some("bbr"));
        assert_eq!((row.receive_buffer, row.send_buffer, row.drops), (Some(131_072), Some(87_040), Some(9)));
        let seen = &row.info;
        assert_eq!(
            (seen.mss(), seen.rtt_us(), seen.cwnd(), seen.retransmits()),
            (Some(1448), Some(20_000), Some(10), Some(7))
        );
        assert_eq!((seen.delivery_rate(), seen.app_limited()), (Some(125_000_000), Some(true)));
        assert_eq!((seen.rwnd_limited_us(), seen.sndbuf_limited_us()), (Some(1_500_000), Some(0)));
        assert_eq!(seen.carried(), (1 << 40) + 500);
        // A kernel before 4.10 ends with the rate's neighbours.
        info.truncate(152);
        let old = flow(&message(&[(2, info)])).unwrap().info;
        assert_eq!((old.delivery_rate(), old.app_limited(), old.busy_us()), (None, None, None));
        assert_eq!(old.rows().count(), 4);
        assert_eq!(flow(&message(&[])).unwrap().info.mss(), None);
        assert_eq!(flow(&message(&[])[..71]), None);
    }

    #[test]
    fn addresses_of_ipv4_in_ipv6_are_those_of_ipv4() {
        let mut payload = message(&[]);
        payload[0] = 10;
        payload[8..24].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1]);
        assert_eq!(flow(&payload).unwrap().local.to_string(), "192.0.2.1:5201");
        payload[8..12].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
        assert_eq!(flow(&payload).unwrap().local.to_string(), "[2001:db8::ffff:c000:201]:5201");
    }

    #[test]
    fn the_request_is_one_that_reads() {
        let Ask::Netlink { protocol, bytes, .. } = request(libc::AF_INET6).ask else { panic!() };
        assert!(netlink::only_reads(protocol, &bytes.0, None) && bytes.0.len() == 72);
    }
}
