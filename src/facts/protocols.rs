//! Facts of flows, routes, mounts and configured settings, and the gauges of the protocols.

use std::collections::BTreeMap;

use super::catalogue::{FLOW, INTERFACE, NFS};
use super::entry::{Access, Entry, Put, derived};
use super::fact::Fact;
use super::rows::row_facts;
use super::unit::Unit;
use super::{Derived, Facts};
use crate::lang::{Dim, Key, State, Type, Value};
use crate::reading::numbers::plural;
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
        "app_limited" = app_limited: bool, "ss -tin", "limit by the program: it gave the connection too little to send";
        "rcvbuf" = receive_buffer: Bytes, "ss -tinm", "receive buffer";
        "sndbuf" = send_buffer: Bytes, "ss -tinm", "send buffer";
        "buffer_locked" = buffer_locked: bool, "ss -tinm", "origin of the buffer sizes: set by the program";
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
            "bandwidth-delay product: speed of the interface by the least round trip time",
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

/// Address and port of an end.
fn ends(end: &str) -> (&str, &str) {
    end.rsplit_once(':').unwrap_or((end, ""))
}

/// Facts of an interface that its connections tell.
pub(super) fn of_interface() -> Vec<Entry> {
    /// Connections are those of the own namespace.
    fn own<'f>(facts: &'f Facts<'_>, index: usize) -> Option<&'f str> {
        let interface = &facts.snapshot().interfaces[index];
        interface.namespace.is_empty().then_some(interface.name.as_str())
    }
    vec![
        derived(
            "tcp.most_resent",
            Type::Text,
            Unit::Plain,
            "connections by it that sent most segments again within the sample: own address and other end",
            |facts, index| own(facts, index).map_or_else(Derived::none, |name| most_resent(facts, Some(name))),
        ),
        derived(
            "tcp.resent",
            Type::PLAIN,
            Unit::Plain,
            "segments that the connections by it sent again within the sample",
            |facts, index| own(facts, index).map_or_else(Derived::none, |name| resent(facts, Some(name))),
        ),
    ]
}

/// Segments that a connection sent again within the sample.
fn sent_again(flow: &Flow) -> Option<u64> {
    grown(flow.samples.known()?, "retransmits")
}

/// The connections that leave by this interface; by any without one. `None` where none of them was looked at twice.
fn sampled<'f>(flows: &'f [Flow], by: Option<&str>) -> Option<Vec<&'f Flow>> {
    let leaves = |flow: &&Flow| by.is_none_or(|by| flow.interface.known().is_some_and(|name| name == by));
    let flows: Vec<&Flow> = flows.iter().filter(leaves).collect();
    (flows.is_empty() || flows.iter().any(|flow| sent_again(flow).is_some())).then_some(flows)
}

fn resent(facts: &Facts<'_>, by: Option<&str>) -> Derived {
    let Reading::Known(flows, source) = &facts.snapshot().host.flows else { return Derived::none() };
    let Some(flows) = sampled(flows, by) else { return Derived::none() };
    let sum = flows.into_iter().filter_map(sent_again).fold(0u64, u64::saturating_add);
    Derived::fact(Value::Number(sum as f64)).read_at(Some(*source))
}

/// The pair of hosts whose connections sent most segments again. A port that all of them share is the service.
fn most_resent(facts: &Facts<'_>, by: Option<&str>) -> Derived {
    let Reading::Known(flows, source) = &facts.snapshot().host.flows else { return Derived::none() };
    let Some(flows) = sampled(flows, by) else { return Derived::none() };
    let mut pairs: BTreeMap<(&str, &str), (u64, Vec<&Flow>)> = BTreeMap::new();
    for flow in flows {
        if let Some(again) = sent_again(flow).filter(|again| *again > 0) {
            let pair = pairs.entry((ends(&flow.local).0, ends(&flow.peer).0)).or_default();
            pair.0 = pair.0.saturating_add(again);
            pair.1.push(flow);
        }
    }
    // Of equal pairs the first by address.
    let Some(((own, other), (again, flows))) = pairs.into_iter().rev().max_by_key(|(_, (again, _))| *again) else {
        return Derived::absent(Vec::new()).read_at(Some(*source));
    };
    let shared = |end: fn(&Flow) -> &str| {
        let port = ends(end(flows[0])).1;
        flows.iter().all(|flow| ends(end(flow)).1 == port).then_some(port).filter(|port| !port.is_empty())
    };
    let named =
        |address: &str, port: Option<&str>| port.map_or_else(|| address.to_owned(), |port| format!("{address}:{port}"));
    let far = shared(|flow| &flow.peer);
    let near = shared(|flow| &flow.local).filter(|_| far.is_none() || flows.len() == 1);
    let way =
        flows[0].interface.known().filter(|_| by.is_none()).map_or_else(String::new, |name| format!(" by {name}"));
    let count = if flows.len() == 1 { String::new() } else { format!("{}, ", plural(flows.len(), "connection")) };
    let segments = plural(usize::try_from(again).unwrap_or(usize::MAX), "segment");
    let text = format!("{} to {}{way} ({count}{segments})", named(own, near), named(other, far));
    Derived::fact(Value::Text(text.into())).read_at(Some(*source))
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
        "destination" = destination: String, "destination";
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
        "path" = path: String, "mount point";
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
        "wins" = wins: bool, "grep -rn . /etc/sysctl.d /etc/systemd/network", "rank at boot: no other file overrides it";
        names
        "manager" = manager: String, "reader of the file";
        "file" = file: String, "file";
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
        derived(
            "tcp.most_resent",
            Type::Text,
            Unit::Plain,
            "connections that sent most segments again within the sample: own address, other end, interface",
            |facts, _| most_resent(facts, None),
        ),
        derived(
            "tcp.resent",
            Type::PLAIN,
            Unit::Plain,
            "segments that the connections in the list sent again within the sample",
            |facts, _| resent(facts, None),
        ),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;
    use crate::lang::World;
    use crate::reading::SourceId;
    use crate::snapshot::{Counter, Interface, Snapshot};

    fn flow(local: &str, peer: &str, interface: &str, again: &[u64]) -> Flow {
        let known = SourceId::ASSUMED;
        let values = again.iter().copied().map(Some).collect();
        let samples = CounterBlock {
            group: "tcp_info".into(),
            source: known,
            partial: false,
            at_ms: (0..again.len() as u64).collect(),
            counters: vec![Counter { name: "retransmits".into(), values }],
        };
        Flow {
            local: local.into(),
            peer: peer.into(),
            interface: Reading::Known(interface.into(), known),
            samples: Reading::Known(samples, known),
            ..Flow::default()
        }
    }

    fn told(flows: Vec<Flow>) -> [State; 2] {
        let eth1 = Interface { name: "eth1".into(), ..Interface::default() };
        let mut snapshot = Snapshot { interfaces: vec![eth1], ..Snapshot::default() };
        snapshot.host.flows = Reading::Known(flows, SourceId::ASSUMED);
        let facts = Facts::new(&snapshot, Knowledge::embedded());
        let slot = |scope| facts.catalogue().slot(scope, "tcp.most_resent").unwrap();
        let host = Facts::entity(super::super::HOST, 0);
        [facts.read(host, slot(super::super::HOST)), facts.read(Facts::entity(INTERFACE, 0), slot(INTERFACE))]
    }

    #[test]
    fn the_pair_of_hosts_that_sends_most_again_is_named_with_the_port_of_the_service() {
        let text = |text: &str| State::Known(Value::Text(text.into()));
        let two = vec![
            flow("192.0.2.1:40000", "192.0.2.9:5201", "eth0", &[5, 25]),
            flow("192.0.2.1:40001", "192.0.2.9:5201", "eth0", &[0, 10]),
            flow("192.0.2.1:445", "192.0.2.8:50000", "eth1", &[100, 107]),
        ];
        assert_eq!(
            told(two),
            [
                text("192.0.2.1 to 192.0.2.9:5201 by eth0 (2 connections, 30 segments)"),
                text("192.0.2.1:445 to 192.0.2.8:50000 (7 segments)"),
            ]
        );
        let served = vec![
            flow("[2001:db8::1]:445", "[2001:db8::2]:50000", "eth1", &[0, 1]),
            flow("[2001:db8::1]:445", "[2001:db8::2]:50001", "eth1", &[0, 1]),
        ];
        assert_eq!(told(served)[1], text("[2001:db8::1]:445 to [2001:db8::2] (2 connections, 2 segments)"));
    }

    #[test]
    fn without_a_second_sample_nothing_is_known_and_without_a_loss_there_is_none() {
        assert_eq!(told(vec![flow("192.0.2.1:1", "192.0.2.9:2", "eth1", &[5])]), [State::Unknown, State::Unknown]);
        assert_eq!(told(vec![flow("192.0.2.1:1", "192.0.2.9:2", "eth1", &[5, 5])]), [State::Absent, State::Absent]);
        assert_eq!(told(Vec::new()), [State::Absent, State::Absent]);
    }
}
