//! What the kernel tells of links, filters and other network namespaces, compared with what ip and tc print of the same
//! devices.

use std::io::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use netdoctor::snapshot::{Interface, Snapshot};
use serde_json::Value;

use crate::support::{Said, snapshot};

/// A network namespace of the test's own; it goes when the test ends.
struct Namespace(String);

impl Namespace {
    /// `None`, with a word on it, where none can be made.
    fn new() -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("nd-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let made = Command::new("ip").args(["netns", "add", &name]).output();
        if made.is_ok_and(|output| output.status.success()) {
            return Some(Self(name));
        }
        std::io::stderr().write_all(b"\nSKIPPED: no network namespace can be made here\n\n").unwrap();
        None
    }

    fn run(&self, words: &[&str]) -> Said {
        Command::new("ip").args(["netns", "exec", &self.0]).args(words).output().unwrap().into()
    }

    /// A command line as a person types it; it must succeed.
    fn must(&self, line: &str) -> String {
        let said = self.run(&["sh", "-c", line]);
        assert_eq!(said.code, 0, "{line}: {}{}", said.out, said.err);
        said.out
    }

    /// A command line that this kernel or these tools may not know.
    fn may(&self, line: &str) -> bool {
        self.run(&["sh", "-c", line]).code == 0
    }

    fn scan(&self, arguments: &[&str]) -> Snapshot {
        let words = [&[env!("CARGO_BIN_EXE_netdoctor"), "scan", "--snapshot"][..], arguments].concat();
        let said = self.run(&words);
        assert_eq!(said.code, 0, "{}", said.err);
        snapshot(&said.out)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).output();
    }
}

fn json(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What a reading knows, as JSON.
fn value<T: serde::Serialize + Clone>(reading: &netdoctor::reading::Reading<T>) -> Value {
    reading.known().map_or(Value::Null, |known| serde_json::to_value(known).unwrap())
}

#[test]
fn options_of_links_are_those_that_ip_prints() {
    let Some(host) = Namespace::new() else { return };
    host.must("ip link set lo up && ip link add va type veth peer name vb && ip link set va up && ip link set vb up");
    host.must("ip address add 192.0.2.1/24 dev va");
    let made: Vec<bool> = [
        "ip link add link va name va.7 type vlan id 7",
        "ip link add br0 type bridge stp_state 1 vlan_filtering 1",
        "ip link add br1 type bridge",
        "ip link add vx0 type vxlan id 42 local 192.0.2.1 remote 192.0.2.2 dstport 4789",
        "ip link add vx1 type vxlan id 43 group 239.1.1.1 dev va dstport 8472",
        "ip link add vx2 type vxlan external dstport 4790",
        "ip link add gn0 type geneve id 9 remote 2001:db8::2",
        "ip link add gr0 type gre local 192.0.2.1 remote 192.0.2.3",
        "ip link add gt0 type gretap local 192.0.2.1 remote 192.0.2.4",
        "ip link add ii0 type ipip local 192.0.2.1",
        "ip link set va gso_max_size 32768 gro_max_size 16384",
    ]
    .iter()
    .map(|line| host.may(line))
    .collect();
    assert!(made.iter().any(|made| *made), "not one of these could be made");
    let taken = host.scan(&["--interval", "0"]);
    let printed = json(&host.must("ip -d -j link"));
    let mut compared = 0;
    for link in &printed {
        let name = link["ifname"].as_str().unwrap();
        let Some(interface) = taken.interface(name) else { panic!("{name} is missing") };
        let data = &link["linkinfo"]["info_data"];
        let kind = link["linkinfo"]["info_kind"].as_str().unwrap_or("");
        let mut same = |what: &str, ours: Value, theirs: &Value| {
            let any = |value: &Value| value.is_null() || *value == "any";
            assert!(ours == *theirs || any(theirs) && ours.is_null(), "{name} {what}: {ours}, not {theirs}");
            compared += 1;
        };
        same("gso", value(&interface.gso_max_size), &link["gso_max_size"]);
        same("gro", value(&interface.gro_max_size), &link["gro_max_size"]);
        assert!(interface.xdp.mode.is_absent() && interface.xdp.program.is_absent(), "{name}");
        match kind {
            "vlan" => same("id", value(&interface.vlan_id), &data["id"]),
            "bridge" => {
                let on = |key: &str| Value::from(data[key].as_u64().unwrap() != 0);
                same("stp", value(&interface.bridge.stp), &on("stp_state"));
                same("filtering", value(&interface.bridge.vlan_filtering), &on("vlan_filtering"));
                assert!(interface.bridge.netfilter.known().is_some(), "{name}");
            }
            "vxlan" | "geneve" => {
                let external = data["external"] == true;
                same("id", value(&interface.tunnel.vni), if external { &Value::Null } else { &data["id"] });
                same("port", value(&interface.tunnel.port), &data["port"]);
                let remote = ["remote", "remote6", "group"].into_iter().find(|key| !data[*key].is_null());
                same("remote", value(&interface.tunnel.remote), &data[remote.unwrap_or("remote")]);
                same("local", value(&interface.tunnel.local), &data["local"]);
            }
            "gre" | "gretap" | "ipip" => {
                same("remote", value(&interface.tunnel.remote), &data["remote"]);
                same("local", value(&interface.tunnel.local), &data["local"]);
            }
            _ => {
                let none = |interface: &Interface| {
                    interface.tunnel.remote.is_absent()
                        && interface.bridge.stp.is_absent()
                        && interface.vlan_id.is_absent()
                };
                assert!(none(interface), "{name}");
            }
        }
    }
    assert!(compared > 2 * printed.len(), "{compared}");
}

#[test]
fn actions_of_filters_are_counted_as_tc_counts_them() {
    let Some(host) = Namespace::new() else { return };
    host.must("ip link set lo up && ip link add va type veth peer name vb && ip link set va up && ip link set vb up");
    host.must("ip address add 192.0.2.1/24 dev va && ip neigh add 192.0.2.9 lladdr 02:00:5e:00:53:09 dev va");
    let policed = "matchall action police rate 1mbit burst 2k conform-exceed drop";
    // Kernels are built without any of these.
    let made = [
        "tc qdisc add dev va clsact",
        &format!("tc filter add dev va egress protocol ip {policed}"),
        "tc filter add dev va ingress protocol ip matchall action pass",
    ];
    if !made.iter().all(|line| host.may(line)) {
        std::io::stderr().write_all(b"\nSKIPPED: this kernel has no such filters\n\n").unwrap();
        return;
    }
    let burst = "for n in 1 2 3 4 5 6 7 8; do ping -c 1 -s 1400 -W 1 192.0.2.9 >/dev/null 2>&1 & done; wait";
    if !host.may("command -v ping") {
        return;
    }
    host.may(burst);
    let taken = host.scan(&["--interval", "0"]);
    let printed = json(&host.must("tc -s -j filter show dev va egress"));
    let action = printed.iter().find_map(|filter| filter["options"]["actions"].get(0)).unwrap();
    let rows = taken.interface("va").unwrap().tc_actions.known().unwrap();
    let kinds: Vec<_> = rows.iter().map(|row| (row.hook.as_str(), row.kind.as_str())).collect();
    assert_eq!(kinds, [("ingress", "gact"), ("egress", "police")]);
    assert_eq!(rows[1].rate.known().unwrap().0, 1_000_000);
    let block = rows[1].counters.known().unwrap();
    for (ours, theirs) in
        [("sent_bytes", "bytes"), ("sent_packets", "packets"), ("dropped", "drops"), ("overlimits", "overlimits")]
    {
        let counted = block.get(ours).unwrap().total();
        assert_eq!(counted, action["stats"][theirs].as_u64(), "{ours}: {action}");
    }
    let sums = &taken.interface("va").unwrap().counters;
    let sums = sums.iter().find(|block| block.group == "tc_actions").unwrap();
    assert_eq!(sums.get("police_drops").unwrap().total(), block.get("dropped").unwrap().total());
    assert!(taken.interface("vb").unwrap().tc_actions.known().unwrap().is_empty());
}

#[test]
fn interfaces_of_other_namespaces_are_kept_apart() {
    let (Some(host), Some(other)) = (Namespace::new(), Namespace::new()) else { return };
    host.must("ip link set lo up && ip link add v0 type veth peer name v1 && ip link add v1x type ifb");
    host.must(&format!("ip link set v1 netns {} && ip link set v0 up", other.0));
    other.must("ip link set lo up && ip link add v0 mtu 9000 type veth peer name w0 && ip link set v1 up");
    other.must("ip address add 192.0.2.5/24 dev v1 && ip route add default via 192.0.2.1 dev v1");
    let taken = host.scan(&["--interval", "100ms", "--netns", &other.0]);
    let place: &str = &other.0;
    let all: Vec<(&str, &str)> =
        taken.interfaces.iter().map(|one| (one.namespace.as_str(), one.name.as_str())).collect();
    assert_eq!(all, [("", "lo"), ("", "v0"), ("", "v1x"), (place, "lo"), (place, "v0"), (place, "v1"), (place, "w0")]);
    let there = |name: &str| taken.interfaces.iter().find(|one| one.namespace == place && one.name == name).unwrap();
    assert_eq!(
        (there("v0").mtu.known().unwrap().0, taken.interface("v0").unwrap().mtu.known().unwrap().0),
        (9000, 1500)
    );
    assert_eq!(there("v1").addresses.known().unwrap()[0], "192.0.2.5/24");
    assert_eq!(there("v1").session.is_default_route.known(), Some(&true));
    assert_eq!(taken.interface("v0").unwrap().session.is_default_route.known(), Some(&false));
    assert!(there("v1").features.known().unwrap().contains_key("rx-gro"));
    assert!(there("v1").counters.iter().all(|block| block.window().is_some()), "both have two samples");
    // A gap names a command that looks there.
    let gap = taken.origins.gap_of(there("v1").queues.gap().unwrap());
    assert!(gap.command.starts_with(&format!("sudo ip netns exec {place} ")), "{gap:?}");
    // Nothing of the host comes from there.
    assert!(taken.host.routes.known().unwrap().is_empty(), "{:?}", taken.host.routes);

    let all = host.scan(&["--interval", "0", "--netns", "all"]);
    assert!(all.interfaces.iter().any(|one| one.namespace == place && one.name == "v1"));
    let own = all.interfaces.iter().filter(|one| one.name == "v1x").count();
    assert_eq!(own, 1, "our own namespace has a name too, and is no other");

    let said = host.run(&[env!("CARGO_BIN_EXE_netdoctor"), "scan", "--netns", "no-such"]);
    assert!(said.code == 2 && said.err.contains("there is no network namespace `no-such`"), "{}", said.err);
    let text = host.run(&[env!("CARGO_BIN_EXE_netdoctor"), "scan", "--interval", "0", "--netns", place, "-v"]);
    assert!(text.out.contains(place), "{}", text.out);
}
