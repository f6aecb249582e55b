//! `ss`: TCP connections, and the counts of `ss -s`.

use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ss::{self, Socket};
use crate::reading::{BitsPerSecond, Bytes, Reading, Seconds, SourceId};
use crate::snapshot::Flow;

pub(super) static TOOLS: &[Tool] = &[Tool {
    name: "ss",
    answers: |command| command.program == "ss",
    begins: |cursor| cursor.peek().is_some_and(|line| ss::begins(line.text)),
    read,
}];

/// Most connections of a capture.
const MOST: usize = 4096;

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let summary = intake.command.is_some_and(|command| command.has_flag('s') || command.has("--summary"));
    if summary {
        let line = cursor.peek().map_or(0, |line| line.number);
        if let Some(found) = ss::summary(cursor) {
            // Both are counts of /proc/net/sockstat.
            for (state, gauge) in [("orphaned", "TCP.orphan"), ("timewait", "TCP.tw")] {
                if let Some(count) = found.tcp.get(state) {
                    super::proc::put_gauge(intake, gauge, *count, line);
                }
            }
        }
    }
    let sockets = ss::parse(cursor);
    let mut flows = intake.site.snapshot.host.flows.known().cloned().unwrap_or_default();
    let before = flows.len();
    for socket in sockets.iter().filter(|socket| is_flow(socket)).take(MOST) {
        let flow = flow(socket, intake.site.source(socket.line));
        // A later output tells of the same connection as it is later.
        flows.retain(|held| held.local.is_empty() || (&held.local, &held.peer) != (&flow.local, &flow.peer));
        if flows.len() < MOST {
            flows.push(flow);
        }
    }
    if let Some(first) = sockets.first().filter(|_| flows.len() > before || before > 0) {
        intake.site.put_host(|host| &mut host.flows, At::new(flows, first.line));
    }
}

/// A TCP connection of which the kernel's view is printed.
fn is_flow(socket: &Socket) -> bool {
    let tcp = socket.protocol.is_empty() || socket.protocol == "tcp";
    let open = socket.state.is_empty() || socket.state == "ESTAB";
    let tells = ["rtt", "cwnd", "mss", "rwnd_limited"].iter().any(|key| socket.info.contains_key(*key));
    tcp && open && (tells || socket.info.contains_key("skmem") && socket.state == "ESTAB")
}

/// Names of congestion controls; `-i` prints one among other words that stand alone.
const CONGESTION: [&str; 17] = [
    "bbr",
    "bbr2",
    "bbr3",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "westwood",
];

fn flow(socket: &Socket, source: SourceId) -> Flow {
    let text = |key: &str| socket.info.get(key).map(String::as_str).filter(|value| !value.is_empty());
    let number = |key: &str| text(key).and_then(|value| value.parse::<u64>().ok());
    fn known<T>(value: Option<T>, source: SourceId) -> Reading<T> {
        value.map_or_else(Reading::default, |value| Reading::Known(value, source))
    }
    let milliseconds = |key: &str| {
        // `0.1/0.05`, `10ms(1.2%)`.
        let end = text(key)?.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text(key)?.len());
        text(key)?[..end].parse::<f64>().ok().map(|figure| Seconds(figure / 1000.0))
    };
    let bytes = |value: Option<u64>| known(value.map(Bytes), source);
    let retransmits = text("retrans").and_then(|value| value.split('/').nth(1)?.parse().ok());
    // Counters that are zero are left out, where others of the same kind are printed.
    let counts = socket.info.contains_key("bytes_acked") || socket.info.contains_key("bytes_sent");
    let congestion = CONGESTION.iter().find(|name| socket.info.get(**name).is_some_and(String::is_empty));
    Flow {
        local: socket.local.clone(),
        peer: socket.peer.clone(),
        congestion: known(congestion.map(|name| (*name).to_owned()), source),
        rtt: known(milliseconds("rtt"), source),
        min_rtt: known(milliseconds("minrtt"), source),
        mss: bytes(number("mss")),
        pmtu: bytes(number("pmtu")),
        cwnd: known(number("cwnd").and_then(|cwnd| cwnd.try_into().ok()), source),
        retransmits: known(retransmits.or_else(|| counts.then_some(0)), source),
        segments_out: known(number("segs_out"), source),
        bytes_acked: known(number("bytes_acked"), source),
        bytes_received: known(number("bytes_received"), source),
        busy: known(milliseconds("busy"), source),
        rwnd_limited: known(milliseconds("rwnd_limited"), source),
        sndbuf_limited: known(milliseconds("sndbuf_limited"), source),
        delivery_rate: known(text("delivery_rate").and_then(rate), source),
        pacing_rate: known(text("pacing_rate").and_then(rate), source),
        app_limited: known(socket.info.contains_key("app_limited").then_some(true), source),
        receive_buffer: bytes(socket.memory("rb")),
        send_buffer: bytes(socket.memory("tb")),
        drops: known(socket.memory("d"), source),
        ..Flow::default()
    }
}

/// `1.2Gbps`, `47Mbps`, `880bps`.
fn rate(text: &str) -> Option<BitsPerSecond> {
    let figure = text.strip_suffix("bps")?;
    let (figure, factor) = match figure.as_bytes().last()? {
        b'K' => (&figure[..figure.len() - 1], 1e3),
        b'M' => (&figure[..figure.len() - 1], 1e6),
        b'G' => (&figure[..figure.len() - 1], 1e9),
        b'T' => (&figure[..figure.len() - 1], 1e12),
        _ => (figure, 1.0),
    };
    let figure: f64 = figure.parse().ok()?;
    (0.0..1e15).contains(&(figure * factor)).then(|| BitsPerSecond((figure * factor).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_decimal_units() {
        for (text, wanted) in [
            ("1.2Gbps", Some(1_200_000_000)),
            ("47Mbps", Some(47_000_000)),
            ("880bps", Some(880)),
            ("5", None),
            ("xGbps", None),
            ("bps", None),
        ] {
            assert_eq!(rate(text), wanted.map(BitsPerSecond), "{text}");
        }
    }

    use crate::capture::transcript::one;

    #[test]
    fn connections_become_flows() {
        let text = "$ ss -tinm\nState    Recv-Q Send-Q Local Address:Port  Peer Address:Port\n\
            ESTAB    0      3899264 192.0.2.2:22       198.51.100.9:50000\n\
            \t skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d7) bbr wscale:7,7 rto:204 rtt:20.5/3 minrtt:19 mss:1448 pmtu:1500 cwnd:346 bytes_acked:9 \
            retrans:0/12 segs_out:500 busy:1000ms rwnd_limited:957ms(95.7%) delivery_rate 47Mbps pacing_rate 1.2Gbps app_limited\n\
            LISTEN     129    128                *:80                             *:*\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let flows = snapshot.host.flows.known().unwrap();
        assert_eq!(flows.len(), 1);
        let flow = &flows[0];
        assert_eq!((flow.peer.as_str(), flow.congestion.known().unwrap().as_str()), ("198.51.100.9:50000", "bbr"));
        assert_eq!((flow.rtt.known().unwrap().0, flow.min_rtt.known().unwrap().0), (0.0205, 0.019));
        assert_eq!((flow.retransmits.known(), flow.cwnd.known()), (Some(&12), Some(&346)));
        assert_eq!((flow.rwnd_limited.known().unwrap().0, flow.busy.known().unwrap().0), (0.957, 1.0));
        assert_eq!((flow.delivery_rate.known().unwrap().0, flow.drops.known()), (47_000_000, Some(&7)));
        assert!(flow.sndbuf_limited.is_unasked() && flow.buffer_locked.is_unasked());
    }

    #[test]
    fn counts_are_gauges() {
        let (snapshot, understood) = one(
            "$ ss -s\nTotal: 21\nTCP:   5 (estab 1, closed 2, orphaned 3, timewait 4)\n\nTransport Total     IP        IPv6\nRAW\t  0         0         0\n",
        );
        assert_eq!(understood.left, []);
        assert_eq!(snapshot.host.sockstat.known().unwrap().get("TCP.orphan"), Some(&3));
    }
}
