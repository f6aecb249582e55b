//! Facts of flows, routes, mounts and configured settings, and the gauges of the protocols.

use super::catalogue::{FLOW, INTERFACE, NFS};
use super::entry::{Access, Entry, Put, derived};
use super::fact::Fact;
use super::rows::row_facts;
use super::unit::Unit;
use super::{Derived, Facts};
use crate::lang::{Dim, Key, State, Type, Value};
use crate::reading::{BitsPerSecond, Bytes, Reading, Seconds};
use crate::snapshot::{
    ConfiguredSetting, CounterBlock, Flow, Growth, Host, Listener, NfsMount, Route, UdpSocket, best_route,
};

/// Facts of a TCP connection.
pub(super) fn flow_entries() -> Vec<Entry> {
    let mut entries = row_facts! { Flow;
        "interface" = interface: String, "ip route", "interface that it leaves by";
        "congestion" = congestion: String, "ss -tin", "congestion control";
        "rtt" = rtt: Seconds, "ss -tin", "smoothed round trip time";
        "min_rtt" = min_rtt: Seconds, "ss -tin", "least round trip time";
        "mss" = mss: Bytes, "ss -tin", "segment size";
        "pmtu" = pmtu: Bytes, "ss -tin", "path MTU";
        "cwnd" = cwnd: u32, "ss -tin", "congestion window in segments";
        "retransmits" = retransmits: u64, "ss -tin", "segments sent again";
        "segments_out" = segments_out: u64, "ss -tin", "segments sent";
        "bytes_acked" = bytes_acked: u64, "ss -tin", "bytes that the other end acknowledged";
        "bytes_received" = bytes_received: u64, "ss -tin", "bytes received";
        "busy_time" = busy: Seconds, "ss -tin", "time that it had something to send";
        "rwnd_limited" = rwnd_limited: Seconds, "ss -tin", "time that the other end's window held it back";
        "sndbuf_limited" = sndbuf_limited: Seconds, "ss -tin", "time that its send buffer held it back";
        "delivery_rate" = delivery_rate: BitsPerSecond, "ss -tin", "rate at which data was last delivered";
        "pacing_rate" = pacing_rate: BitsPerSecond, "ss -tin", "rate to which it is paced";
        "app_limited" = app_limited: bool, "ss -tin", "the program gave it too little to send";
        "rcvbuf" = receive_buffer: Bytes, "ss -tinm", "receive buffer";
        "sndbuf" = send_buffer: Bytes, "ss -tinm", "send buffer";
        "buffer_locked" = buffer_locked: bool, "ss -tinm", "the program set its buffers";
        "drops" = drops: u64, "ss -tinm", "packets that its socket dropped";
        "recv_q" = receive_queue: Bytes, "ss -tin", "bytes that the program has not read yet";
        "unacked" = unacked: u32, "ss -tin", "segments on their way that are not acknowledged";
        "backoff" = backoff: u32, "ss -tin", "times in a row that its retransmission timer ran out";
        names
        "local" = local: String, "own address and port";
        "peer" = peer: String, "address and port of the other end";
    };
    entries.extend([
        derived("iface", Type::Entity(INTERFACE), Unit::Plain, "interface that it leaves by", |facts, index| {
            let from = facts.key(FLOW, index, "interface");
            let Some((_, flow)) = facts.row::<Flow>(index) else { return Derived::none() };
            interface(facts, flow.interface.known().map(String::as_str), from)
        }),
        derived(
            "rate",
            Type::number(Dim::RATE),
            Unit::BitsPerSecond,
            "rate at which it carried data within the sample, both ways together",
            |facts, index| {
                of_samples(facts, index, |block| {
                    let grown = grown(block, "bytes_acked")?.checked_add(grown(block, "bytes_received")?)?;
                    Some(grown as f64 * 8.0 / block.window()?)
                })
            },
        ),
        derived(
            "rwnd_share",
            Type::PLAIN,
            Unit::Share,
            "share of the time with something to send, since it was opened, that the other end's window held it back",
            |facts, index| limited(facts, index, "rwnd_limited", |flow| &flow.rwnd_limited),
        ),
        derived(
            "sndbuf_share",
            Type::PLAIN,
            Unit::Share,
            "share of the time with something to send, since it was opened, that its send buffer held it back",
            |facts, index| limited(facts, index, "sndbuf_limited", |flow| &flow.sndbuf_limited),
        ),
        derived(
            "rwnd_share_now",
            Type::PLAIN,
            Unit::Share,
            "the same within the sample; unknown where it had nothing to send",
            |facts, index| of_samples(facts, index, |block| share(block, "rwnd_limited")),
        ),
        derived(
            "sndbuf_share_now",
            Type::PLAIN,
            Unit::Share,
            "the same within the sample; unknown where it had nothing to send",
            |facts, index| of_samples(facts, index, |block| share(block, "sndbuf_limited")),
        ),
        derived(
            "bdp",
            Type::number(Dim::DATA),
            Unit::Bytes,
            "speed of the interface by the least round trip time: what has to be on the way for full speed",
            |facts, index| {
                let Some((_, flow)) = facts.row::<Flow>(index) else { return Derived::none() };
                let mut from = facts.key(FLOW, index, "min_rtt");
                let name = flow.interface.known();
                let Some(at) = name.and_then(|name| facts.topology().interface("", name)) else {
                    from.extend(facts.key(FLOW, index, "interface"));
                    return Derived::unknown(from);
                };
                from.extend(facts.key(INTERFACE, at, "link.speed"));
                let state = match (flow.min_rtt.known(), facts.snapshot().interfaces[at].link.speed.known()) {
                    (Some(rtt), Some(speed)) => State::Known(Value::Number(speed.0 as f64 * rtt.0)),
                    _ => State::Unknown,
                };
                Derived::of(state, from)
            },
        ),
    ]);
    entries
}

/// An interface by its name.
fn interface(facts: &Facts<'_>, name: Option<&str>, from: Vec<Key>) -> Derived {
    let found = name.and_then(|name| facts.topology().interface("", name));
    Derived::of(found.map_or(State::Unknown, |at| State::Known(Value::Entity(Facts::entity(INTERFACE, at)))), from)
}

/// A number out of the counters of a connection at both moments.
fn of_samples(facts: &Facts<'_>, index: usize, get: impl FnOnce(&CounterBlock) -> Option<f64>) -> Derived {
    match facts.row::<Flow>(index).map(|(_, flow)| &flow.samples) {
        Some(Reading::Known(block, source)) => {
            let state = get(block).map_or(State::Unknown, |number| State::Known(Value::Number(number)));
            Derived::of(state, Vec::new()).read_at(Some(*source))
        }
        Some(Reading::Absent(source)) => Derived::absent(Vec::new()).read_at(Some(*source)),
        Some(Reading::Unknown(gap)) => Derived::unknown(Vec::new()).because(Some(*gap)),
        None => Derived::none(),
    }
}

fn grown(block: &CounterBlock, name: &str) -> Option<u64> {
    match block.get(name)?.growth() {
        Growth::By(grown) => Some(grown),
        Growth::Reset | Growth::OneSample => None,
    }
}

/// The share of the busy time of the sample that something held a connection back.
fn share(block: &CounterBlock, name: &str) -> Option<f64> {
    let busy = grown(block, "busy").filter(|busy| *busy > 0)?;
    Some(grown(block, name)? as f64 / busy as f64)
}

/// The share of the busy time since a connection was opened that something held it back.
fn limited(facts: &Facts<'_>, index: usize, path: &str, held: fn(&Flow) -> &Reading<Seconds>) -> Derived {
    let Some((_, flow)) = facts.row::<Flow>(index) else { return Derived::none() };
    let from = ["busy_time", path].iter().flat_map(|path| facts.key(FLOW, index, path)).collect();
    let state = match (held(flow).known(), flow.busy.known()) {
        (Some(held), Some(busy)) if busy.0 > 0.0 => State::Known(Value::Number(held.0 / busy.0)),
        _ => State::Unknown,
    };
    Derived::of(state, from)
}

/// Facts of a TCP socket that waits for connections.
pub(super) fn listener_entries() -> Vec<Entry> {
    row_facts! { Listener;
        "program" = program: String, "sudo ss -ltnp", "program that holds it";
        "waiting" = waiting: u32, "ss -ltn", "connections that wait to be accepted";
        "most" = most: u32, "ss -ltn", "most connections that may wait";
        "rcvbuf" = receive_buffer: Bytes, "ss -ltnm", "receive buffer that its connections begin with";
        "sndbuf" = send_buffer: Bytes, "ss -ltnm", "send buffer that its connections begin with";
        names
        "local" = local: String, "own address and port";
    }
}

/// Facts of a UDP socket.
pub(super) fn udp_socket_entries() -> Vec<Entry> {
    row_facts! { UdpSocket;
        "program" = program: String, "sudo ss -uanp", "program that holds it";
        "recv_q" = receive_queue: Bytes, "ss -uan", "bytes that the program has not read yet";
        "rcvbuf" = receive_buffer: Bytes, "ss -uanm", "receive buffer";
        "drops" = drops: u64, "ss -uanm", "datagrams that found no room since it was opened";
        names
        "local" = local: String, "own address and port";
    }
}

/// Facts of a route.
pub(super) fn route_entries() -> Vec<Entry> {
    row_facts! { Route;
        "interfaces" = interfaces: Vec<String>, "ip route show table all", "interfaces that it leaves by";
        "gateway" = gateway: String, "ip route show table all", "next hop";
        "table" = table: String, "ip route show table all", "table";
        "metric" = metric: u32, "ip route show table all", "metric";
        "source" = source: String, "ip route show table all", "own address that it prefers";
        "mtu" = mtu: Bytes, "ip route show table all", "MTU that it sets";
        "initcwnd" = initcwnd: u32, "ip route show table all", "initial congestion window that it sets";
        "initrwnd" = initrwnd: u32, "ip route show table all", "initial receive window that it sets";
        names
        "destination" = destination: String, "where it leads";
    }
}

/// Facts of an NFS mount.
pub(super) fn nfs_entries() -> Vec<Entry> {
    let mut entries = row_facts! { NfsMount;
        "export" = export: String, "nfsstat -m", "server and export";
        "server" = server: String, "nfsstat -m", "address of the server";
        "interface" = interface: String, "ip route show table all", "interface by which the route to its server leaves, as the kernel answered";
        "version" = version: String, "nfsstat -m", "version of the protocol";
        "transport" = transport: String, "nfsstat -m", "transport";
        "nconnect" = nconnect: u32, "nfsstat -m", "connections";
        "rsize" = rsize: Bytes, "nfsstat -m", "largest read request";
        "wsize" = wsize: Bytes, "nfsstat -m", "largest write request";
        "operations" = operations: u64, "cat /proc/self/mountstats", "requests";
        "retransmissions" = retransmissions: u64, "cat /proc/self/mountstats", "requests sent again";
        names
        "path" = path: String, "where it is mounted";
    };
    entries.push(derived(
        "iface",
        Type::Entity(INTERFACE),
        Unit::Plain,
        "interface by which the route to its server leaves",
        |facts, index| {
            let from = ["interface", "server"].iter().flat_map(|path| facts.key(NFS, index, path)).collect();
            let Some((_, mount)) = facts.row::<NfsMount>(index) else { return Derived::none() };
            if let Some(name) = mount.interface.known() {
                return interface(facts, Some(name), from);
            }
            let routes = facts.snapshot().host.routes.known();
            let route = routes.zip(mount.server.known()).and_then(|(routes, server)| best_route(routes, server));
            interface(facts, route.and_then(|route| route.interfaces.known()?.first()).map(String::as_str), from)
        },
    ));
    entries
}

/// Facts of a setting in a file.
pub(super) fn setting_entries() -> Vec<Entry> {
    row_facts! { ConfiguredSetting;
        "wins" = wins: bool, "grep -rn . /etc/sysctl.d /etc/systemd/network", "no other file overrides it at boot";
        names
        "manager" = manager: String, "who reads the file";
        "file" = file: String, "the file";
        "scope" = scope: String, "section or match that it stands below";
        "key" = key: String, "key as the file spells it";
        "value" = value: String, "value as the file spells it";
    }
}

/// Gauges of /proc/net/sockstat that rules ask for.
pub(super) fn gauges() -> Vec<Entry> {
    macro_rules! gauge {
        ($path:literal, $name:literal, $doc:literal) => {
            Entry {
                path: $path.into(),
                kind: u64::kind(),
                unit: Unit::Plain,
                doc: $doc.into(),
                command: "cat /proc/net/sockstat",
                access: Access::Host(|host| get(host, $name), |host, put| set(host, $name, put)),
            }
        };
    }
    vec![
        gauge!("tcp.orphans", "TCP.orphan", "connections that no program holds any more"),
        gauge!("tcp.mem_pages", "TCP.mem", "pages of memory that TCP uses"),
        gauge!("tcp.in_use", "TCP.inuse", "TCP sockets in use"),
        gauge!("tcp.time_wait", "TCP.tw", "connections in TIME-WAIT"),
        gauge!("udp.mem_pages", "UDP.mem", "pages of memory that UDP uses"),
    ]
}

fn get(host: &Host, name: &str) -> Reading<Value> {
    match &host.sockstat {
        Reading::Known(all, source) => match all.get(name) {
            Some(value) => Reading::Known(value.to_value(), *source),
            None => Reading::Absent(*source),
        },
        Reading::Absent(source) => Reading::Absent(*source),
        Reading::Unknown(gap) => Reading::Unknown(*gap),
    }
}

fn set(host: &mut Host, name: &str, put: &Put) -> Result<(), String> {
    let mut all = host.sockstat.known().cloned().unwrap_or_default();
    match put {
        Put::Known(value, source) => {
            all.insert(name.to_owned(), u64::from_value(value)?);
            host.sockstat = Reading::Known(all, *source);
        }
        Put::Absent(source) => {
            all.remove(name);
            host.sockstat = Reading::Known(all, *source);
        }
        // One map holds them all: not to know one is not to know any.
        Put::Unknown(gap) => host.sockstat = Reading::Unknown(*gap),
    }
    Ok(())
}
