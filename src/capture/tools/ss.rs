//! `ss`: TCP connections, listeners, UDP sockets, and the counts of `ss -s`.

use super::super::command::Command;
use super::super::site::Site;
use super::{Intake, Tool};
use crate::formats::cursor::Cursor;
use crate::formats::ss::{self, Socket};
use crate::reading::{BitsPerSecond, Bytes, Reading, Seconds, Source, SourceId};
use crate::snapshot::{Flow, Host, Listener, UdpSocket};

pub(super) static TOOLS: &[Tool] = &[Tool {
    name: "ss",
    answers: |command| command.program == "ss",
    begins: |cursor| cursor.peek().is_some_and(|line| ss::begins(line.text)),
    read,
}];

/// Most connections, and most sockets of each other kind, of a capture.
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
    put(intake, &sockets);
}

/// Takes sockets, whichever tool printed them. A later output tells of the same socket as it is later.
pub(super) fn put(intake: &mut Intake<'_>, sockets: &[Socket]) {
    // Each network namespace has its own, and the snapshot has one host.
    if !intake.site.namespace.is_empty() {
        return;
    }
    let udp = intake.command.is_some_and(asks_udp);
    let kinds: Vec<(Kind, &Socket)> = sockets.iter().filter_map(|one| Some((kind(one, udp)?, one))).collect();
    let of = |wanted: Kind| kinds.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, socket)| *socket);
    // Idle connections of which nothing but the addresses is printed say nothing.
    let flows: Vec<&Socket> = of(Kind::Flow).filter(|socket| tells(socket)).collect();
    merge(
        intake,
        &flows,
        |host| &mut host.flows,
        flow,
        |held, fresh| !held.local.is_empty() && (&held.local, &held.peer) == (&fresh.local, &fresh.peer),
    );
    let listeners: Vec<&Socket> = of(Kind::Listener).collect();
    // Several may listen at one address (SO_REUSEPORT): those of an earlier output go, those of this one stay.
    let before: Vec<String> = listeners.iter().map(|socket| socket.local.clone()).collect();
    forget(&mut intake.site.snapshot.host.listeners, |held| before.contains(&held.local));
    merge(intake, &listeners, |host| &mut host.listeners, listener, |_, _| false);
    let datagrams: Vec<&Socket> = of(Kind::Udp).collect();
    let before: Vec<String> = datagrams.iter().map(|socket| socket.local.clone()).collect();
    forget(&mut intake.site.snapshot.host.udp_sockets, |held| before.contains(&held.local));
    merge(intake, &datagrams, |host| &mut host.udp_sockets, udp_socket, |_, _| false);
}

fn forget<T>(list: &mut Reading<Vec<T>>, goes: impl Fn(&T) -> bool) {
    if let Reading::Known(held, _) = list {
        held.retain(|one| !goes(one));
    }
}

/// Adds rows to a list of the host; each takes the place of those that are the same.
fn merge<T: Clone>(
    intake: &mut Intake<'_>,
    sockets: &[&Socket],
    list: impl Fn(&mut Host) -> &mut Reading<Vec<T>>,
    make: fn(&Socket, &mut Site) -> T,
    same: impl Fn(&T, &T) -> bool,
) {
    let Some(first) = sockets.first() else { return };
    let mut all = list(&mut intake.site.snapshot.host).known().cloned().unwrap_or_default();
    for socket in sockets.iter().take(MOST) {
        let row = make(socket, intake.site);
        all.retain(|held| !same(held, &row));
        if all.len() < MOST {
            all.push(row);
        }
    }
    // Each row says where it was read, so that no tool has to outrank another.
    let source = intake.site.source(first.line);
    *list(&mut intake.site.snapshot.host) = Reading::Known(all, source);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Flow,
    Listener,
    Udp,
}

/// True for `ss -u`, which does not print the protocol where it is the only one.
fn asks_udp(command: &Command) -> bool {
    command.program == "ss" && (command.has_flag('u') || command.has("--udp"))
}

/// What a socket is to us; none for those of other protocols. `udp` says that datagrams were asked for.
fn kind(socket: &Socket, udp: bool) -> Option<Kind> {
    // The protocol is printed where several were asked for.
    let udp = match socket.protocol.as_str() {
        "tcp" | "tcp6" => false,
        "udp" | "udp6" => true,
        "" => udp,
        _ => return None,
    };
    // Others than those of the internet have paths and numbers.
    let internet = socket.local.is_empty() || socket.local.contains(':') && !socket.local.starts_with(['/', '@']);
    match socket.state.as_str() {
        _ if !internet => None,
        "UNCONN" | "ESTAB" | "ESTABLISHED" | "" if udp && !socket.local.is_empty() => Some(Kind::Udp),
        "ESTAB" | "ESTABLISHED" | "" if !udp => Some(Kind::Flow),
        "LISTEN" if !udp && socket.peer.ends_with(":*") => Some(Kind::Listener),
        _ => None,
    }
}

/// True for a TCP connection of which more than its addresses is printed.
fn tells(socket: &Socket) -> bool {
    let of_kernel = ["rtt", "cwnd", "mss", "rwnd_limited", "skmem"].iter().any(|key| socket.info.contains_key(*key));
    let waits = |queue: Option<u64>| queue.is_some_and(|bytes| bytes > 0);
    of_kernel || !socket.state.is_empty() && (waits(socket.recv_q) || waits(socket.send_q))
}

/// The program in `users:(("smbd",pid=8120,fd=38))`.
fn program(socket: &Socket) -> Option<String> {
    let (_, rest) = socket.info.get("users")?.split_once('"')?;
    rest.split('"').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

fn listener(socket: &Socket, site: &mut Site) -> Listener {
    let source = site.source(socket.line);
    let small = |count: Option<u64>| known(count.and_then(|count| u32::try_from(count).ok()), source);
    Listener {
        local: socket.local.clone(),
        program: known(program(socket), source),
        waiting: small(socket.recv_q),
        // netstat prints 0 there; no program may let none wait.
        most: small(socket.send_q.filter(|most| *most > 0)),
        receive_buffer: known(socket.memory("rb").map(Bytes), source),
        send_buffer: known(socket.memory("tb").map(Bytes), source),
    }
}

fn udp_socket(socket: &Socket, site: &mut Site) -> UdpSocket {
    let source = site.source(socket.line);
    UdpSocket {
        local: socket.local.clone(),
        program: known(program(socket), source),
        receive_queue: known(socket.recv_q.map(Bytes), source),
        receive_buffer: known(socket.memory("rb").map(Bytes), source),
        drops: known(socket.memory("d"), source),
    }
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

fn known<T>(value: Option<T>, source: SourceId) -> Reading<T> {
    value.map_or_else(Reading::default, |value| Reading::Known(value, source))
}

/// Least share of which the time that it is a share of can be told: it is printed to a tenth of a percent.
const LEAST_SHARE: f64 = 1.0;

/// The time with something to send, and what it is told by: `busy:2812044ms`, else `rwnd_limited:146880ms(95.7%)`, which is a
/// share of it.
fn busy(socket: &Socket, site: &mut Site, source: SourceId) -> Reading<Seconds> {
    let get = |key: &str| socket.info.get(key).map(String::as_str);
    if let Some(busy) = get("busy").and_then(leading) {
        return Reading::Known(Seconds(busy / 1000.0), source);
    }
    for key in ["rwnd_limited", "sndbuf_limited"] {
        let Some((text, milliseconds)) = get(key).and_then(|text| Some((text, leading(text)?))) else { continue };
        let share = text.split_once('(').and_then(|(_, rest)| rest.strip_suffix("%)")?.parse::<f64>().ok());
        if let Some(share) = share.filter(|share| (LEAST_SHARE..=100.0).contains(share)) {
            let from = format!("{key}, {share} % of it");
            let source = site.snapshot.origins.source(Source::Inferred { from });
            return Reading::Known(Seconds(milliseconds / share / 10.0), source);
        }
    }
    Reading::default()
}

/// The figure that a text begins with: `0.1/0.05`, `10ms(1.2%)`.
fn leading(text: &str) -> Option<f64> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

fn flow(socket: &Socket, site: &mut Site) -> Flow {
    let source = site.source(socket.line);
    let text = |key: &str| socket.info.get(key).map(String::as_str).filter(|value| !value.is_empty());
    let number = |key: &str| text(key).and_then(|value| value.parse::<u64>().ok());
    let milliseconds = |key: &str| text(key).and_then(leading).map(|figure| Seconds(figure / 1000.0));
    let has = |key: &str| socket.info.contains_key(key);
    // What is zero is left out: before the round trip time, and before what stands last.
    let or_zero = |key: &str, complete: bool| {
        let value = number(key).and_then(|value| u32::try_from(value).ok());
        known(value.or_else(|| (complete && !has(key)).then_some(0)), source)
    };
    let whole = has("rto") && ["rcv_space", "rcv_ssthresh", "minrtt"].iter().any(|key| has(key));
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
        busy: busy(socket, site, source),
        rwnd_limited: known(milliseconds("rwnd_limited"), source),
        sndbuf_limited: known(milliseconds("sndbuf_limited"), source),
        delivery_rate: known(text("delivery_rate").and_then(rate), source),
        pacing_rate: known(text("pacing_rate").and_then(rate), source),
        app_limited: known(socket.info.contains_key("app_limited").then_some(true), source),
        receive_buffer: bytes(socket.memory("rb")),
        send_buffer: bytes(socket.memory("tb")),
        drops: known(socket.memory("d"), source),
        receive_queue: bytes(socket.recv_q),
        unacked: or_zero("unacked", whole),
        backoff: or_zero("backoff", has("rto") && has("rtt")),
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
    fn the_time_to_send_follows_from_a_share() {
        let flow = |info: &str| {
            let text =
                format!("$ ss -ti\nESTAB 0 0 192.0.2.2:22 198.51.100.9:50000\n\t cubic rto:204 rtt:20/3 {info}\n");
            one(&text).0.host.flows.known().unwrap()[0].clone()
        };
        let busy = |info: &str| flow(info).busy.known().map(|busy| busy.0);
        // 146.88 s / 0.957
        assert!((busy("rwnd_limited:146880ms(95.7%)").unwrap() - 153.479_6).abs() < 1e-3);
        assert_eq!(busy("sndbuf_limited:50ms(50.0%)"), Some(0.1));
        assert_eq!(busy("busy:300ms rwnd_limited:50ms(50.0%)"), Some(0.3));
        for none in
            ["", "rwnd_limited:50ms(0.2%)", "rwnd_limited:50ms", "rwnd_limited:50ms(x%)", "rwnd_limited:50ms(120.0%)"]
        {
            assert_eq!(busy(none), None, "{none}");
        }
        // Of a line that was cut nobody knows what stood behind it.
        let (cut, whole) = (flow("mss:1448"), flow("backoff:4 unacked:7 rcv_space:14600"));
        assert_eq!((cut.backoff.known(), cut.unacked.known()), (Some(&0), None));
        assert_eq!((whole.backoff.known(), whole.unacked.known()), (Some(&4), Some(&7)));
        assert_eq!(flow("rcv_space:14600 minrtt:19").unacked.known(), Some(&0));
    }

    #[test]
    fn listeners_and_datagrams_have_lists_of_their_own() {
        let text = "$ ss -lnm\nNetid State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n\
            u_str LISTEN 0 128 /run/x.sock 12345 * 0\n\
            udp   UNCONN 212864 0 0.0.0.0:2055 0.0.0.0:* users:((\"nfcapd\",pid=2210,fd=4))\n\
            \t skmem:(r213248,rb212992,t0,tb212992,f1792,w0,o0,bl0,d8120447)\n\
            tcp   LISTEN 512 511 [::]:8080 [::]:*\n\t skmem:(r0,rb65536,t0,tb65536,f0,w0,o0,bl0,d0)\n\
            $ netstat -ant\nActive Internet connections (servers and established)\n\
            Proto Recv-Q Send-Q Local Address           Foreign Address         State\n\
            tcp       3      0 0.0.0.0:22              0.0.0.0:*               LISTEN\n\
            tcp   90000      0 192.0.2.5:445           192.0.2.77:50122        ESTABLISHED\n\
            tcp       0      0 192.0.2.5:445           192.0.2.78:50122        ESTABLISHED\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let host = &snapshot.host;
        let [web, ssh] = host.listeners.known().unwrap().as_slice() else { panic!("two listen") };
        assert_eq!((web.local.as_str(), web.waiting.known(), web.most.known()), ("[::]:8080", Some(&512), Some(&511)));
        assert_eq!((web.receive_buffer.known(), web.send_buffer.known()), (Some(&Bytes(65_536)), Some(&Bytes(65_536))));
        assert_eq!((ssh.waiting.known(), ssh.most.known()), (Some(&3), None));
        let [flow] = host.flows.known().unwrap().as_slice() else { panic!("one has something to tell") };
        assert_eq!(flow.receive_queue.known(), Some(&Bytes(90_000)));
        let [datagrams] = host.udp_sockets.known().unwrap().as_slice() else { panic!("one of UDP") };
        assert_eq!(
            (datagrams.drops.known(), datagrams.program.known().unwrap().as_str()),
            (Some(&8_120_447), "nfcapd")
        );
        // Where one protocol was asked for it is not printed, and a connected socket of UDP is no connection of TCP.
        let text = "$ ss -uam\nState Recv-Q Send-Q Local Address:Port Peer Address:Port\n\
            ESTAB 0 0 192.0.2.5:4500 192.0.2.6:4500\n\t skmem:(r0,rb212992,t0,tb212992,f0,w0,o0,bl0,d5)\n";
        let (snapshot, _) = one(text);
        assert!(snapshot.host.flows.is_unasked());
        assert_eq!(snapshot.host.udp_sockets.known().unwrap()[0].drops.known(), Some(&5));
    }

    #[test]
    fn a_later_output_replaces_what_an_earlier_one_said() {
        let listening = |waiting: u32| {
            format!("$ ss -ltn\nLISTEN {waiting} 511 0.0.0.0:80 0.0.0.0:*\nLISTEN 0 511 0.0.0.0:80 0.0.0.0:*\n")
        };
        let (snapshot, _) = one(&format!("{}{}", listening(9), listening(1)));
        let waiting: Vec<_> = snapshot.host.listeners.known().unwrap().iter().map(|one| one.waiting.known()).collect();
        assert_eq!(waiting, [Some(&1), Some(&0)]);
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
