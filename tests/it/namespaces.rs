//! Known faults, made with real devices in network namespaces and found by the program as its user runs it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use netdoctor::facts::assign;
use netdoctor::reading::Source;
use netdoctor::report::model::{Check, Evidence, Finding, Report};
use netdoctor::snapshot::Snapshot;
use nix::sched::{CloneFlags, setns};
use serde_json::Value;

use crate::support::{Said, report, snapshot};

/// One test at a time: what a CPU drops is counted for all namespaces together.
static SAMPLING: Mutex<()> = Mutex::new(());

/// A network namespace of the test's own; it goes when the test ends.
pub struct Namespace(String);

impl Namespace {
    /// `None`, with a word on it, where none can be made.
    pub fn new() -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("netdoctor-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let made = Command::new("ip").args(["netns", "add", &name]).output();
        match made {
            Ok(output) if output.status.success() => Some(Self(name)),
            other => {
                let why = other.map_or_else(|error| error.to_string(), |output| Said::from(output).err);
                // Not by a print macro, whose text the test harness would keep to itself.
                let text = format!("\nSKIPPED: no network namespace can be made here: {}\n\n", why.trim());
                std::io::stderr().write_all(text.as_bytes()).unwrap();
                None
            }
        }
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, program]).args(arguments);
        command.env_remove("SSH_CONNECTION").env("NO_COLOR", "1").env("COLUMNS", "100");
        command
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Runs a program in it.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Said {
        self.command(program, arguments).output().unwrap().into()
    }

    /// A command line as a person types it; it must succeed.
    pub fn must(&self, line: &str) {
        let said = self.run("sh", &["-c", line]);
        assert_eq!(said.code, 0, "{line}: {}{}", said.out, said.err);
    }

    /// Runs netdoctor in it.
    pub fn netdoctor(&self, arguments: &[&str]) -> Said {
        self.run(env!("CARGO_BIN_EXE_netdoctor"), arguments)
    }

    /// Starts a sample of four seconds, and lets its first half second and more pass.
    fn sample(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(env!("CARGO_BIN_EXE_netdoctor"), &["scan", "--during", "4s"]);
        let child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        sleep(Duration::from_millis(1500));
        child
    }

    /// Does something in a thread that has entered the namespace.
    fn inside(&self, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        let file = File::open(format!("/run/netns/{}", self.0)).unwrap();
        spawn(move || {
            setns(file, CloneFlags::CLONE_NEWNET).unwrap();
            work();
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).output();
    }
}

fn alone() -> MutexGuard<'static, ()> {
    SAMPLING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Two namespaces joined by pairs of the given names, each with the addresses 10.9.N.1 and 10.9.N.2, which are up.
fn joined(pairs: &[(&str, &str)]) -> Option<[Namespace; 2]> {
    let [here, there] = [Namespace::new()?, Namespace::new()?];
    here.must("ip link set lo up");
    there.must("ip link set lo up");
    for (at, (near, far)) in pairs.iter().enumerate() {
        here.must(&format!("ip link add {near} type veth peer name {far} netns {}", there.0));
        here.must(&format!("ip address add 10.9.{at}.1/24 dev {near} && ip link set {near} up"));
        there.must(&format!("ip address add 10.9.{at}.2/24 dev {far} && ip link set {far} up"));
    }
    Some([here, there])
}

/// TCP streams from one namespace to an address of the other, until this is dropped. Each waits after each 16 KiB.
struct Streams {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Streams {
    fn new(from: &Namespace, to: &Namespace, address: &'static str, count: usize, wait: Duration) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, listening) = std::sync::mpsc::channel();
        let server = to.inside(move || {
            let listener = TcpListener::bind((address, 5201)).unwrap();
            ready.send(()).unwrap();
            let readers: Vec<_> = (0..count)
                .map(|_| {
                    let (mut stream, _) = listener.accept().unwrap();
                    spawn(move || {
                        let mut buffer = vec![0; 1 << 17];
                        while matches!(stream.read(&mut buffer), Ok(1..)) {}
                    })
                })
                .collect();
            for reader in readers {
                reader.join().unwrap();
            }
        });
        listening.recv().unwrap();
        let mut threads: Vec<_> = (0..count)
            .map(|_| {
                let stop = Arc::clone(&stop);
                from.inside(move || {
                    let mut stream = TcpStream::connect((address, 5201)).unwrap();
                    let buffer = vec![0; 1 << 14];
                    while !stop.load(Ordering::Relaxed) && stream.write_all(&buffer).is_ok() {
                        sleep(wait);
                    }
                })
            })
            .collect();
        threads.push(server);
        Self { stop, threads }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn json(said: &Said) -> Report {
    let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let report = value.get("reports").map_or(&value, |reports| &reports[0]);
    serde_json::from_value(report.clone()).unwrap()
}

/// Rule and subject of each finding that a namespace can have by itself.
///
/// What the CPUs dropped since the machine booted is counted for all namespaces together, the losses that an earlier
/// run of these tests made among them: it tells nothing of a namespace. What grew while a test looked does.
fn found(report: &Report) -> Vec<(&str, &str)> {
    own(report).map(|one| (one.rule.as_str(), one.subject.as_str())).collect()
}

/// What the tests make: findings of interfaces, losses of TCP, and drops of a CPU in the sample. What else is found of
/// the host (a reader that waits for a CPU, say) is the work of the machine that the tests run on.
fn own(report: &Report) -> impl Iterator<Item = &Finding> {
    let counted = |piece: &Evidence| piece.fact == "host.counter.softnet_dropped.growth" && piece.value != 0;
    let made = move |one: &&Finding| match (one.subject.as_str(), one.rule.as_str()) {
        ("host", "softnet.backlog-drops") => one.evidence.iter().any(counted),
        ("host", rule) => rule == "tcp.retrans-high",
        _ => true,
    };
    report.findings.iter().filter(made)
}

fn is_loud(severity: &str) -> bool {
    severity == "warning" || severity == "critical"
}

#[test]
fn a_bridge_with_a_smaller_port_is_named_and_the_advice_mends_it() {
    let Some(host) = Namespace::new() else { return };
    host.must("ip link add large type veth peer name large-peer mtu 9000 && ip link set large mtu 9000");
    host.must("ip link add small type veth peer name small-peer && ip link add br0 type bridge");
    host.must("ip link set large master br0 && ip link set small master br0 && ip link set br0 mtu 9000");
    host.must("for one in large large-peer small small-peer br0; do ip link set $one up; done");
    let report = json(&host.netdoctor(&["scan", "--interval", "0", "-f", "json"]));
    assert_eq!(found(&report), [("mtu.child-exceeds-parent", "br0")]);
    let finding = own(&report).next().unwrap();
    assert_eq!((finding.kind.as_str(), finding.severity.as_str()), ("risk", "advice"));
    assert!(finding.why.contains("br0 takes packets up to 9000 B, but the smallest of its members"), "{}", finding.why);
    let advised = &finding.recommend[0].commands;
    assert_eq!(advised, &["ip link set dev br0 mtu 1500"]);
    host.must(&advised[0]);
    assert_eq!(found(&json(&host.netdoctor(&["scan", "--interval", "0", "-f", "json"]))), []);
}

#[test]
fn a_child_that_a_kernel_lets_grow_beyond_its_parent_is_named() {
    let Some(host) = Namespace::new() else { return };
    host.must("ip link add below type veth peer name far && ip link add link below name child type macvlan");
    host.must("for one in below far child; do ip link set $one up; done");
    // Linux refuses the larger child, and shrinks it with its parent; one that does neither must be told of.
    let grown = host.run("ip", &["link", "set", "child", "mtu", "9000"]);
    let before = json(&host.netdoctor(&["scan", "--interval", "0", "-f", "json"]));
    assert_eq!(found(&before), if grown.code == 0 { vec![("mtu.child-exceeds-parent", "child")] } else { vec![] });
    host.must("ip link set below mtu 1300");
    let child = host.run("cat", &["/sys/class/net/child/mtu"]).out;
    let after = json(&host.netdoctor(&["scan", "--interval", "0", "-f", "json"]));
    let expected = if child.trim() == "1300" { vec![] } else { vec![("mtu.child-exceeds-parent", "child")] };
    assert_eq!(found(&after), expected, "its MTU is {child}");
}

#[test]
fn a_veth_without_gro_is_a_hygiene_note_where_it_matters_and_nothing_where_it_does_not() {
    let _alone = alone();
    let Some([sender, receiver]) = joined(&[("va", "vb")]) else { return };
    // Off is what a veth begins with: a host full of idle containers has nothing to tell of.
    let idle = json(&receiver.netdoctor(&["scan", "--during", "1s", "-f", "json"]));
    assert_eq!(found(&idle), []);
    // Segments that TCP hands over one by one, as they come from a wire.
    sender.must("ip link set va gso_max_segs 1");
    let _load = Streams::new(&sender, &receiver, "10.9.0.2", 1, Duration::ZERO);
    let report = json(&receiver.netdoctor(&["scan", "--during", "3s", "-f", "json"]));
    assert_eq!(found(&report), [("offload.gro-off", "vb")]);
    assert!(own(&report).all(|one| one.kind == "hygiene" && one.severity == "info"), "{:?}", report.findings);
    let text = receiver.netdoctor(&["scan", "--during", "3s"]);
    assert!(text.out.contains("1 hygiene note"), "{}", text.out);
    assert!(!text.out.contains("offload.gro-off"), "a note is a count: {}", text.out);
    let verbose = receiver.netdoctor(&["scan", "--during", "3s", "-v"]);
    assert!(verbose.out.contains("vb, offload.gro-off, info hygiene"), "{}", verbose.out);
    assert!(verbose.out.contains("ethtool -K vb gro on"), "{}", verbose.out);
    let sends = json(&sender.netdoctor(&["scan", "--during", "3s", "-f", "json"]));
    // Streams without segmentation may arrive out of order, which is told of the host.
    assert!(own(&sends).all(|one| one.interfaces.is_empty()), "what sends has nothing to join: {:?}", found(&sends));
}

#[test]
fn the_way_to_a_peer_is_told_and_its_interface_comes_first() {
    let Some([host, _there]) = joined(&[("near", "far"), ("free", "other")]) else { return };
    host.must("ip link set free mtu 1400 && ip route add 203.0.113.0/24 via 10.9.1.9 dev free mtu 1300");
    let to = |peer: &str| json(&host.netdoctor(&["scan", "--interval", "0", "-f", "json", "--peer", peer]));
    let direct = to("10.9.1.2");
    assert!(direct.way[0].starts_with("Packets to 10.9.1.2 leave by free from 10.9.1.1"), "{:?}", direct.way);
    assert!(direct.way[0].ends_with("MTU 1400."), "{:?}", direct.way);
    assert_eq!(direct.way[1], "No TCP connection to 10.9.1.2 was open.");
    assert_eq!(direct.interfaces[0].name, "free");
    let routed = to("203.0.113.7");
    assert!(routed.way[0].contains("through 10.9.1.9"), "{:?}", routed.way);
    assert!(routed.way[0].ends_with("packets of at most 1300 B by the route."), "{:?}", routed.way);
    assert_eq!(to("198.51.100.1").way, ["There is no route to 198.51.100.1."]);
    assert_eq!(host.netdoctor(&["scan", "--peer", "a-name.example"]).code, 2);
}

/// The one finding that a queue dropped packets, which must be of this interface; it says as many as the table of losses.
fn queue_of<'r>(report: &'r Report, interface: &str) -> &'r Finding {
    let queues: Vec<&Finding> = report.findings.iter().filter(|one| one.rule == "qdisc.drops-backlog").collect();
    let [queue] = queues.as_slice() else { panic!("{:?}", found(report)) };
    assert_eq!((queue.subject.as_str(), queue.interfaces.as_slice()), (interface, &[interface.to_owned()][..]));
    assert_eq!((queue.kind.as_str(), queue.confidence.as_str()), ("fault", "high"));
    let row = report.interfaces.iter().find(|row| row.name == interface).unwrap();
    let grown = row.drops.iter().find(|drop| drop.place == "qdisc").unwrap().grew.unwrap();
    assert!(grown > 100 && queue.why.contains(&format!("(tbf) dropped {grown} packets")), "{grown}: {queue:?}");
    queue
}

const SHAPER: &str = "root handle 10: tbf rate 50mbit burst 16k limit 20k";

#[test]
fn losses_in_a_shaper_are_placed_in_the_queue_of_its_interface() {
    let _alone = alone();
    let Some([sender, receiver]) = joined(&[("shaped", "far"), ("free", "other")]) else { return };
    sender.must("ip route add default via 10.9.0.2");
    sender.must(&format!("tc qdisc replace dev shaped {SHAPER}"));
    // BBR goes on where a queue drops at home; others slow down before a segment has to be sent again.
    let sends_again = sender.run("sysctl", &["-w", "net.ipv4.tcp_congestion_control=bbr"]).code == 0;
    let _load = Streams::new(&sender, &receiver, "10.9.0.2", 8, Duration::ZERO);
    let _bystander = Streams::new(&sender, &receiver, "10.9.1.2", 1, Duration::from_millis(10));
    let here = json(&sender.sample(&["-f", "json"]).wait_with_output().unwrap().into());
    let queue = queue_of(&here, "shaped");
    if sends_again {
        assert!(queue.why.contains(" to 10.9.0.2:5201 ("), "{}", queue.why);
    }
    // That there is a shaper is told beside what it drops.
    let others = own(&here).filter(|one| !matches!(one.rule.as_str(), "qdisc.drops-backlog" | "qdisc.shaper-present"));
    let others: Vec<&Finding> = others.collect();
    match others.as_slice() {
        [] => assert!(!sends_again, "segments were sent again"),
        [again] => {
            assert_eq!((again.rule.as_str(), again.interfaces.len()), ("tcp.retrans-high", 0));
            let cause = again.under.as_deref().zip(again.under_subject.as_deref());
            assert_eq!(cause, Some(("qdisc.drops-backlog", "shaped")), "the loss is the cause");
        }
        _ => panic!("{:?}", found(&here)),
    }
    // What receives the rest sees no loss of its own.
    let there = json(&receiver.netdoctor(&["scan", "--during", "3s", "-f", "json"]));
    assert!(own(&there).all(|finding| finding.kind == "hygiene"), "{:?}", found(&there));
}

#[test]
fn losses_in_a_router_are_seen_there_and_no_interface_of_the_sender_is_accused() {
    let _alone = alone();
    let Some([sender, router]) = joined(&[("near", "inner"), ("free", "other")]) else { return };
    let Some(receiver) = Namespace::new() else { return };
    router.must(&format!("ip link add outer type veth peer name far netns {}", receiver.0));
    router.must("ip address add 10.9.8.1/24 dev outer && ip link set outer up");
    router.must("echo 1 >/proc/sys/net/ipv4/ip_forward");
    receiver.must("ip address add 10.9.8.2/24 dev far && ip link set far up && ip route add default via 10.9.8.1");
    sender.must("ip route add default via 10.9.0.2");
    router.must(&format!("tc qdisc replace dev outer {SHAPER}"));
    let _load = Streams::new(&sender, &receiver, "10.9.8.2", 8, Duration::ZERO);
    let _bystander = Streams::new(&sender, &router, "10.9.1.2", 1, Duration::from_millis(10));
    let here = json(&sender.sample(&["-f", "json"]).wait_with_output().unwrap().into());
    assert_eq!(found(&here), [("tcp.retrans-high", "host")]);
    let again = own(&here).next().unwrap();
    assert_eq!((again.interfaces.len(), &again.under), (0, &None));
    let there = json(&router.netdoctor(&["scan", "--during", "3s", "-f", "json"]));
    queue_of(&there, "outer");
    assert!(own(&there).all(|one| one.kind == "hygiene" || one.subject == "outer"), "{:?}", found(&there));
}

#[test]
fn losses_in_the_backlog_of_a_cpu_are_placed_there_and_no_interface_is_accused() {
    let _alone = alone();
    let Some(host) = Namespace::new() else { return };
    // What is dropped here stays in the counts of the machine until it boots.
    // Each packet is copied 32 times, and each copy 32 times while the others wait: more than a backlog of 1000 holds.
    for pair in ["a", "b", "c"] {
        host.must(&format!("ip link add {pair}0 type veth peer name {pair}1"));
        host.must(&format!(
            "for one in {pair}0 {pair}1; do ip link set $one addrgenmode none && ip link set $one up; done"
        ));
    }
    for (from, to) in [("a1", "b0"), ("b1", "c0")] {
        let copies = format!("action mirred egress mirror dev {to} ").repeat(32);
        host.must(&format!("tc qdisc add dev {from} ingress"));
        host.must(&format!("tc filter add dev {from} parent ffff: protocol all u32 match u32 0 0 {copies}"));
    }
    host.must("ip address add 10.9.0.1/24 dev a0 && ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev a0");
    let scan = host.sample(&["-f", "json"]);
    let burst = host.inside(|| {
        let socket = UdpSocket::bind("10.9.0.1:0").unwrap();
        for _ in 0..2 {
            socket.send_to(b"x", "10.9.0.2:9").unwrap();
        }
    });
    burst.join().unwrap();
    let said: Said = scan.wait_with_output().unwrap().into();
    let report = json(&said);
    let all: Vec<&Finding> = own(&report).collect();
    let [finding] = all.as_slice() else { panic!("{:?}", found(&report)) };
    assert_eq!((finding.rule.as_str(), finding.subject.as_str()), ("softnet.backlog-drops", "host"));
    assert!(is_loud(&finding.severity) && finding.interfaces.is_empty(), "{finding:?}");
    let drops = finding.evidence.iter().find(|one| one.fact == "host.counter.softnet_dropped.growth").unwrap();
    let drops = drops.value.as_f64().unwrap();
    assert!((1.0..=2.0 * (32.0 + 32.0 * 32.0)).contains(&drops), "at most all copies: {drops}");
    assert!(finding.why.contains("found the backlog of their CPU full"), "{}", finding.why);
}

#[test]
fn a_link_that_falls_within_the_sample_is_told_from_one_that_stands() {
    let _alone = alone();
    let Some([host, switch]) = joined(&[("falls", "port"), ("stands", "other")]) else { return };
    let scan = host.sample(&["--snapshot"]);
    switch.must("ip link set port down");
    sleep(Duration::from_millis(200));
    switch.must("ip link set port up");
    let said: Said = scan.wait_with_output().unwrap().into();
    let mut taken: Snapshot = snapshot(&said.out);
    assert!(
        taken.sample.remarks.iter().any(|remark| remark.starts_with("falls lost or gained its carrier")),
        "{said:?}"
    );
    let counted = |snapshot: &Snapshot, name: &str| {
        let blocks = &snapshot.interface(name).unwrap().counters;
        let carrier = blocks.iter().find(|block| block.group == "rtnl_link_carrier").unwrap();
        let values = &carrier.get("carrier_down_count").unwrap().values;
        values.iter().map(|value| value.unwrap()).collect::<Vec<_>>()
    };
    let [before, after] = counted(&taken, "falls")[..] else { panic!("one sample") };
    assert_eq!(after - before, 1);
    assert_eq!(counted(&taken, "stands"), [1, 1]);
    // A veth has no link that could fall. The same figures of a port in hardware are a fault, and a pass.
    for name in ["falls", "stands"] {
        assign(&mut taken, &format!("{name}.port.physical=true"), Source::assumed("for the test")).unwrap();
    }
    let judged = report(&taken);
    let flapping: Vec<_> = judged.findings.iter().filter(|one| one.rule == "link.flapping").collect();
    let [finding] = flapping.as_slice() else { panic!("{:?}", found(&judged)) };
    assert_eq!((finding.subject.as_str(), finding.severity.as_str()), ("falls", "critical"));
    let check = |subject: &str| {
        let mine = |check: &&Check| check.rule == "link.flapping" && check.subjects.iter().any(|one| one == subject);
        judged.checks.iter().find(mine).map(|check| check.result.as_str())
    };
    assert_eq!((check("falls"), check("stands")), (Some("fires"), Some("passes")));
}
