//! Real devices in a network namespace of the test's own. A child process is made by the isolated worker's fork, so no
//! other test changes its namespace.

use std::process::Command;

use super::*;
use crate::snapshot::InterfaceKind;

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
    assert_eq!(get("va").counters.len(), 1);
    assert!(get("va").counters[0].window().is_some());
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
