//! Real devices in a network namespace of the test's own. A child process is made by the isolated worker's fork, so no
//! other test changes its namespace.

use std::process::Command;

use super::*;
use crate::snapshot::{Growth, InterfaceKind};

/// A kernel whose worker enters a fresh network namespace and makes devices there with `ip`.
struct InNamespace {
    live: Live,
}

impl InNamespace {
    fn new(script: &str) -> Self {
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
        let status = Command::new("ip").args(["-batch", "-"]).stdin(std::process::Stdio::piped()).spawn().and_then(
            |mut child| {
                use std::io::Write;
                child.stdin.take().unwrap().write_all(script.as_bytes())?;
                child.wait()
            },
        );
        assert!(status.unwrap().success());
        Self { live: Live::new("/") }
    }
}

impl Kernel for InNamespace {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        self.live.call(requests)
    }

    fn now_ms(&mut self) -> u64 {
        self.live.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.live.sleep(ms);
    }
}

/// Collects in a namespace with these devices; `None`, with a word on it, where that is not possible.
fn collect_with(script: &'static str, options: &Options) -> Option<Snapshot> {
    if !is_root() || Command::new("ip").arg("-V").output().is_err() {
        let mut out = std::io::stderr();
        let _ = std::io::Write::write_all(&mut out, b"skipped: needs root and ip\n");
        return None;
    }
    let mut kernel = Isolated::with(Box::new(move || Box::new(InNamespace::new(script))));
    // Making the devices counts as part of the first request.
    let mut first = Request::new(Ask::Uname);
    first.limit_ms = 20_000;
    assert!(kernel.call(&[first])[0].bytes().is_some(), "devices could not be made");
    Some(collect(&mut kernel, options, &mut |_| {}))
}

#[test]
fn stacked_devices_know_each_other() {
    let script = "link add va type veth peer name vb\nlink add br0 type bridge\nlink set va master br0\n\
                  link add vx0 type vxlan id 7 dev vb dstport 4789\nlink add link vb name mv0 type macvlan\n\
                  link set va up\nlink set vb up\nlink set br0 up\nlink set vb mtu 9000\n\
                  address add 192.0.2.1/24 dev br0\nroute add default via 192.0.2.9 dev br0\n";
    let options = Options { interval_ms: 50, ..Options::default() };
    let Some(snapshot) = collect_with(script, &options) else { return };
    let get = |name: &str| snapshot.interface(name).unwrap();
    assert_eq!(get("va").kind.known(), Some(&InterfaceKind::Veth));
    assert_eq!(get("va").stack.peer.known().unwrap(), "vb");
    assert_eq!(get("vb").stack.peer.known().unwrap(), "va");
    assert!(get("va").stack.parent.is_absent());
    assert_eq!(get("va").stack.master.known().unwrap(), "br0");
    assert_eq!(get("br0").kind.known(), Some(&InterfaceKind::Bridge));
    assert_eq!(get("br0").stack.members.known().unwrap(), &["va"]);
    assert!(get("vb").stack.members.is_absent());
    assert_eq!(get("vx0").kind.known(), Some(&InterfaceKind::Vxlan));
    assert_eq!(get("vx0").stack.parent.known().unwrap(), "vb");
    assert_eq!(get("mv0").kind.known(), Some(&InterfaceKind::Macvlan));
    assert_eq!(get("mv0").stack.parent.known().unwrap(), "vb");
    assert_eq!(get("mv0").vlan_tags.known(), Some(&0));
    assert_eq!(get("vb").mtu.known().unwrap().0, 9000);
    assert_eq!(get("va").link.speed.known().unwrap().0, 10_000_000_000);
    assert_eq!(get("va").link.up.known(), Some(&true));
    assert_eq!(get("vx0").link.up.known(), Some(&false));
    assert_eq!(get("br0").session.is_default_route.known(), Some(&true));
    assert_eq!(get("va").session.is_default_route.known(), Some(&false));
    assert!(get("va").features.known().unwrap()["tx-checksum-ip-generic"].active);
    // No request of its own for a veth: neither driver nor its statistics.
    assert!(get("va").driver.is_unasked());
    assert!(get("va").device.is_absent());
    let groups: Vec<&str> = get("va").counters.iter().map(|block| block.group.as_str()).collect();
    assert_eq!(groups, ["rtnl_link_stats64", "rtnl_link_carrier"]);
    assert!(get("va").counters.iter().all(|block| block.window().is_some()));
    // /sys still shows the first namespace.
    assert!(get("lo").device.is_absent());
}

#[test]
fn hostile_names_and_aliases_are_kept_as_they_are() {
    let script = "link add 'a;$(id>x)' type veth peer name '|<b>'\nlink set '|<b>' alias \"x\x1b[31mred\x07\"\n";
    let Some(snapshot) = collect_with(script, &Options::default()) else { return };
    let hostile = snapshot.interface("a;$(id>x)").unwrap();
    assert_eq!(hostile.stack.peer.known().unwrap(), "|<b>");
    let peer = snapshot.interface("|<b>").unwrap();
    assert_eq!(peer.alias.known().unwrap(), "x\x1b[31mred\x07");
    for gap in snapshot.origins.gaps() {
        assert!(!gap.command.contains(" a;"), "{gap:?}");
    }
}

/// The same devices, with packets sent between the samples.
struct Busy(InNamespace);

impl Kernel for Busy {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        if let [Request { ask: Ask::Variable { process: u32::MAX, .. }, .. }] = requests {
            let socket = std::net::UdpSocket::bind("192.0.2.1:0").unwrap();
            for _ in 0..200 {
                let _ = socket.send_to(&[0; 1000], "192.0.2.2:9");
            }
            return vec![Reply::Bytes(Blob::default())];
        }
        self.0.call(requests)
    }

    fn now_ms(&mut self) -> u64 {
        self.0.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.0.sleep(ms);
    }
}

/// Has the worker send while the collection waits.
struct SendsWhileWaiting(Isolated);

impl Kernel for SendsWhileWaiting {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        self.0.call(requests)
    }

    fn now_ms(&mut self) -> u64 {
        self.0.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.0.call(&[Request::new(Ask::Variable { process: u32::MAX, name: "send".into() })]);
        self.0.sleep(ms);
    }
}

/// Runs a tc batch in the namespace that the devices are in.
fn tc(script: &str) {
    let child = Command::new("tc").args(["-batch", "-"]).stdin(std::process::Stdio::piped()).spawn();
    let status = child.and_then(|mut child| {
        use std::io::Write;
        child.stdin.take().unwrap().write_all(script.as_bytes())?;
        child.wait()
    });
    assert!(status.unwrap().success());
}

#[test]
fn a_shaper_is_seen_dropping_between_the_samples() {
    if !is_root() || Command::new("tc").arg("-V").output().is_err() {
        return;
    }
    let devices = "link add va numtxqueues 4 numrxqueues 2 type veth peer name 'b;$(id>x)'\nlink set va up\n\
                   link set 'b;$(id>x)' up\naddress add 192.0.2.1/24 dev va\n\
                   neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev va\n";
    let make = move || -> Box<dyn Kernel> {
        let namespace = InNamespace::new(devices);
        tc("qdisc replace dev va root handle 10: tbf rate 8mbit burst 4kb limit 6000\n\
            qdisc add dev va ingress\nqdisc replace dev b;$(id>x) root handle 1: htb default 1\n\
            class add dev b;$(id>x) parent 1: classid 1:1 htb rate 1gbit ceil 40gbit\n");
        Box::new(Busy(namespace))
    };
    let mut kernel = SendsWhileWaiting(Isolated::with(Box::new(make)));
    let mut first = Request::new(Ask::Uname);
    first.limit_ms = 20_000;
    assert!(kernel.call(&[first])[0].bytes().is_some(), "devices could not be made");
    let options = Options { interval_ms: 50, ..Options::default() };
    let snapshot = collect(&mut kernel, &options, &mut |_| {});
    let va = snapshot.interface("va").unwrap();
    let [shaper, ingress] = va.qdiscs.known().unwrap().as_slice() else { panic!("{:?}", va.qdiscs) };
    assert_eq!((shaper.kind.as_str(), shaper.handle.as_str(), shaper.parent.as_str()), ("tbf", "10:", "root"));
    assert_eq!(shaper.rate.known().unwrap().0, 8_000_000);
    assert_eq!((ingress.kind.as_str(), ingress.parent.as_str()), ("ingress", "ingress"));
    assert!(ingress.rate.is_absent());
    let block = shaper.counters.as_ref().unwrap();
    assert!(block.window().is_some());
    let grew = |name: &str| match block.get(name).unwrap().growth() {
        Growth::By(count) => count,
        other => panic!("{name}: {other:?}"),
    };
    assert!(grew("dropped") > 50 && grew("sent_packets") > 0 && grew("overlimits") > 0, "{block:?}");
    assert_eq!(va.addresses.known().unwrap()[0], "192.0.2.1/24");
    // A veth has receive and transmit queues, and none that are both.
    assert!(va.channels.combined.is_absent());
    assert_eq!((va.channels.rx_max.known(), va.channels.tx_max.known()), (Some(&2), Some(&4)));
    assert!(va.coalesce.rx_usecs.is_absent() && va.eee.enabled.is_absent() && va.fec.active.is_absent());
    assert!(va.bond.mode.is_absent());
    let counters = snapshot.host.counters.known().unwrap();
    let snmp = counters.iter().find(|block| block.group == "snmp").unwrap();
    // The counters of this namespace, not of the one of the test.
    let sent = snmp.get("Udp.OutDatagrams").unwrap();
    assert!(matches!(sent.growth(), Growth::By(1..=200)) && sent.total() <= Some(200), "{sent:?}");
    let peer = snapshot.interface("b;$(id>x)").unwrap();
    let [htb] = peer.qdiscs.known().unwrap().as_slice() else { panic!("{:?}", peer.qdiscs) };
    assert_eq!((htb.kind.as_str(), htb.rate.known().unwrap().0), ("htb", 40_000_000_000));
}

#[test]
fn an_interface_that_was_never_up_has_no_qdisc() {
    let Some(snapshot) = collect_with("link add br0 type bridge\n", &Options::default()) else { return };
    let bridge = snapshot.interface("br0").unwrap();
    assert!(bridge.qdiscs.known().unwrap().is_empty());
    assert!(bridge.addresses.known().unwrap().is_empty());
    assert!(bridge.channels.rx.is_absent() && bridge.bond.members.is_absent());
}

#[test]
fn only_wanted_interfaces_are_shown_and_their_relations_stay() {
    let script = "link add va type veth peer name vb\nlink add br0 type bridge\nlink set va master br0\n";
    let options = Options { interfaces: ["va".to_owned()].into(), ..Options::default() };
    let Some(snapshot) = collect_with(script, &options) else { return };
    assert_eq!(snapshot.interfaces.len(), 1);
    assert_eq!(snapshot.interfaces[0].stack.master.known().unwrap(), "br0");
}

#[test]
fn a_namespace_that_cannot_be_entered_is_refused_as_a_whole() {
    let mut kernel = Isolated::in_namespace("/", "/proc/self/ns/no-such");
    let snapshot = scan(&mut kernel);
    assert!(snapshot.interfaces.is_empty() && !snapshot.sample.remarks.is_empty());
    if is_root() {
        let options = Options { namespace: "self".into(), ..Options::default() };
        let mut kernel = Isolated::in_namespace("/", "/proc/self/ns/net");
        let snapshot = collect(&mut kernel, &options, &mut |_| {});
        assert_eq!(snapshot.interface("lo").unwrap().namespace, "self");
    }
}

#[test]
#[ignore = "measures: run by hand, with PAIRS=5000 for more"]
fn a_thousand_interfaces() {
    let mut script = String::new();
    let pairs = std::env::var("PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(500);
    for at in 0..pairs {
        use std::fmt::Write;
        writeln!(script, "link add a{at} type veth peer name b{at}").unwrap();
    }
    let mut kernel = Isolated::with(Box::new(move || Box::new(InNamespace::new(&script))));
    let mut first = Request::new(Ask::Uname);
    first.limit_ms = 60_000;
    let ready = kernel.call(&[first]);
    assert!(ready[0].bytes().is_some());
    let mut kernel = kernel.budget_ms(600_000);
    let mut text = String::new();
    for _ in 0..5 {
        use std::fmt::Write;
        let started = std::time::Instant::now();
        let mut last = started;
        let mut stages = String::new();
        let snapshot = collect(&mut kernel, &Options::default(), &mut |stage| {
            write!(stages, "{:?} | {stage}: ", last.elapsed()).unwrap();
            last = std::time::Instant::now();
        });
        let took = started.elapsed();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let memory = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        writeln!(text, "{took:?} {stages}{:?} {memory} {} interfaces", last.elapsed(), snapshot.interfaces.len())
            .unwrap();
    }
    std::fs::write("/tmp/probe-thousand.txt", text).unwrap();
}

#[test]
fn routes_rules_and_neighbours_are_those_of_the_namespace() {
    let script = "link add va type veth peer name vb\nlink set lo up\nlink set va up\nlink set vb up\n\
                  address add 192.0.2.1/24 dev va\naddress add 198.51.100.1/24 dev vb\n\
                  route add 203.0.113.0/24 via 192.0.2.9 dev va metric 50 mtu 1400 initcwnd 20 initrwnd 30\n\
                  route add 203.0.114.0/24 nexthop via 192.0.2.9 dev va nexthop via 198.51.100.9 dev vb\n\
                  route add default via 192.0.2.9 dev va table 77\nroute add blackhole 203.0.115.0/24\n\
                  rule add from 192.0.2.1 lookup 77 pref 100\nrule add to 203.0.113.0/24 iif vb lookup 78 pref 200\n\
                  neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev va nud reachable\n\
                  neigh add 192.0.2.10 lladdr 02:00:00:00:00:10 dev va nud permanent\n\
                  neigh add 192.0.2.11 dev va nud failed\n";
    let Some(snapshot) = collect_with(script, &Options::default()) else { return };
    let routes = snapshot.host.routes.known().unwrap();
    let to = |destination: &str| routes.iter().find(|route| route.destination == destination).unwrap();
    let tuned = to("203.0.113.0/24");
    assert_eq!(tuned.interfaces.known().unwrap(), &["va"]);
    assert_eq!(tuned.gateway.known().unwrap(), "192.0.2.9");
    assert_eq!((tuned.metric.known(), tuned.mtu.known().unwrap().0), (Some(&50), 1400));
    assert_eq!((tuned.initcwnd.known(), tuned.initrwnd.known()), (Some(&20), Some(&30)));
    assert_eq!(to("203.0.114.0/24").interfaces.known().unwrap(), &["va", "vb"]);
    assert!(to("203.0.114.0/24").mtu.is_absent());
    let attached = to("192.0.2.0/24");
    assert!(attached.gateway.is_absent());
    assert_eq!(attached.source.known().unwrap(), "192.0.2.1");
    assert_eq!(
        (attached.table.known().unwrap().as_str(), to("default").table.known().unwrap().as_str()),
        ("main", "77")
    );
    // No local addresses, no broadcasts, no link-local networks, and nothing that leads nowhere.
    let others = ["192.0.2.1", "192.0.2.255", "127.0.0.0/8", "fe80::/64", "203.0.115.0/24"];
    assert!(routes.iter().all(|route| !others.contains(&route.destination.as_str())), "{routes:?}");
    assert_eq!(
        snapshot.host.rules.known().unwrap(),
        &["100: from 192.0.2.1 lookup 77", "200: from all to 203.0.113.0/24 iif vb lookup 78"]
    );
    // The permanent one does not count.
    let neighbours = &snapshot.host.neighbours;
    assert_eq!((neighbours.v4.known(), neighbours.failed.known()), (Some(&2), Some(&1)));
}

/// A connection in a namespace of its own, which carries data while the collection waits.
struct Talking {
    inner: InNamespace,
    ends: Option<(std::net::TcpStream, std::net::TcpStream)>,
}

impl Talking {
    /// As many connections as wanted, of which the first one talks.
    fn new(script: &str, idle: usize) -> Self {
        let inner = InNamespace::new(script);
        let listener = std::net::TcpListener::bind("192.0.2.1:5201").unwrap();
        let pair = || {
            let ours = std::net::TcpStream::connect("192.0.2.1:5201").unwrap();
            (ours, listener.accept().unwrap().0)
        };
        let ends = Some(pair());
        // They stay open as long as the worker lives.
        std::mem::forget((0..idle).map(|_| pair()).collect::<Vec<_>>());
        Self { inner, ends }
    }
}

impl Kernel for Talking {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        if let [Request { ask: Ask::Variable { process: u32::MAX, .. }, .. }] = requests {
            use std::io::{Read, Write};
            let (ours, theirs) = self.ends.as_mut().unwrap();
            let mut buffer = vec![0; 50_000];
            for _ in 0..20 {
                ours.write_all(&vec![1; 50_000]).unwrap();
                theirs.read_exact(&mut buffer).unwrap();
            }
            return vec![Reply::Bytes(Blob::default())];
        }
        self.inner.call(requests)
    }

    fn now_ms(&mut self) -> u64 {
        self.inner.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.inner.sleep(ms);
    }
}

#[test]
fn a_connection_that_talks_is_told_from_those_that_do_not() {
    if !is_root() || Command::new("ip").arg("-V").output().is_err() {
        return;
    }
    let script = "link set lo up\nlink add va type veth peer name vb\nlink set va up\nlink set vb up\n\
                  address add 192.0.2.1/24 dev va\n";
    let make = move || -> Box<dyn Kernel> { Box::new(Talking::new(script, 40)) };
    let mut kernel = SendsWhileWaiting(Isolated::with(Box::new(make)));
    let mut first = Request::new(Ask::Uname);
    first.limit_ms = 20_000;
    assert!(kernel.call(&[first])[0].bytes().is_some(), "devices could not be made");
    let options = Options { interval_ms: 50, ..Options::default() };
    let snapshot = collect(&mut kernel, &options, &mut |_| {});
    if let Some(gap) = snapshot.host.flows.gap() {
        // A kernel that would have to load a module for it.
        assert_eq!(snapshot.origins.gap_of(gap).command, "ss -tinm");
        return;
    }
    let flows = snapshot.host.flows.known().unwrap();
    // 82 sockets have the address of one interface.
    assert_eq!(flows.len(), 32);
    let grown = |flow: &crate::snapshot::Flow, name: &str| flow.samples.known().unwrap().get(name).unwrap().growth();
    let ours = flows.iter().find(|flow| flow.peer == "192.0.2.1:5201").unwrap();
    let theirs = flows.iter().find(|flow| flow.local == "192.0.2.1:5201").unwrap();
    assert!(flows[0] == *ours || flows[0] == *theirs, "those that talk come first");
    assert_eq!(grown(ours, "bytes_acked"), Growth::By(1_000_000));
    assert_eq!(grown(theirs, "bytes_received"), Growth::By(1_000_000));
    assert_eq!(theirs.bytes_received.known(), Some(&1_000_000));
    // A route to an address of the host itself leads over lo.
    assert_eq!(ours.interface.known().unwrap(), "lo");
    assert!(ours.mss.known().unwrap().0 > 500 && ours.rtt.known().unwrap().0 > 0.0);
    assert!(ours.receive_buffer.known().is_some() && ours.congestion.known().is_some());
    assert_eq!(flows.iter().filter(|flow| grown(flow, "bytes_acked") == Growth::By(0)).count(), 31);
}
