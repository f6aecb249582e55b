//! The same host scanned, and at the same moment asked by the usual tools whose text is then analyzed: every fact that both
//! know is compared. What moves meanwhile has to lie between a scan before the tools and one after them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::namespaces::Namespace;
use crate::support::{Folder, read, run};

/// A fact that the two may tell differently.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    /// Its path; `*` at its end stands for what follows.
    fact: String,
    /// Why.
    why: String,
}

impl Exception {
    fn covers(&self, fact: &str) -> bool {
        match self.fact.strip_suffix('*') {
            Some(front) => fact.starts_with(front),
            None => fact == self.fact,
        }
    }
}

/// Subject and path.
type Key = (String, String);

/// What a snapshot or capture says: the value of each fact, null where it says that there is no such thing. What it does not
/// know is left out.
fn told(path: &Path) -> BTreeMap<Key, Value> {
    let said = run(&["facts", "show", path.to_str().unwrap(), "-f", "json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let rows: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter()
        .filter(|row| row["state"] != "unknown")
        .map(|row| ((text(row, "subject"), text(row, "fact")), row.get("value").cloned().unwrap_or(Value::Null)))
        .collect()
}

/// Lists are sets: in which order tools print them says nothing.
fn plain(value: &Value) -> Value {
    let Value::Array(items) = value else { return value.clone() };
    let mut items = items.clone();
    items.sort_by_key(ToString::to_string);
    items.into()
}

/// True where a value is that of one of the scans, or a number between theirs.
fn agrees(value: &Value, before: &Value, after: Option<&Value>) -> bool {
    let after = after.unwrap_or(before);
    if [before, after].into_iter().any(|scanned| plain(scanned) == plain(value)) {
        return true;
    }
    let (Some(value), Some(before), Some(after)) = (value.as_f64(), before.as_f64(), after.as_f64()) else {
        return false;
    };
    (before.min(after)..=before.max(after)).contains(&value)
}

/// Compares; yields the paths that both know.
fn compare(what: &str, before: &Path, tools: &Path, after: &Path) -> BTreeSet<String> {
    let exceptions: Vec<Exception> = serde_yaml::from_str(&read("tests/it/live-capture/exceptions.yaml")).unwrap();
    let [before, tools, after] = [before, tools, after].map(told);
    let mut compared = BTreeSet::new();
    let mut differ = Vec::new();
    let mut values = 0;
    for (key, value) in &tools {
        let Some(scanned) = before.get(key) else { continue };
        if let Some(exception) = exceptions.iter().find(|one| one.covers(&key.1)) {
            assert!(!exception.why.is_empty());
            continue;
        }
        values += 1;
        compared.insert(key.1.clone());
        if !agrees(value, scanned, after.get(key)) {
            differ.push(format!("{} of {}: tools {value}, scan {scanned}", key.1, key.0));
        }
    }
    let paths = |side: &BTreeMap<Key, Value>| side.keys().map(|(_, fact)| fact.clone()).collect::<BTreeSet<_>>();
    let text = format!(
        "\n{what}: {} paths compared in {values} values; the scan alone knows {} more, the tools {}\n\n",
        compared.len(),
        paths(&before).difference(&compared).count(),
        paths(&tools).difference(&compared).count(),
    );
    // Not by a print macro, whose text the test harness would keep to itself.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    assert!(differ.is_empty(), "{what}:\n{}", differ.join("\n"));
    compared
}

/// Interfaces of every kind that most kernels have, queueing, routes, rules and neighbours.
const MADE: &str = "
    ip link set lo up
    ip link add eth0 type veth peer name far0 netns $FAR
    ip link add eth1 numtxqueues 4 numrxqueues 4 type veth peer name far1 netns $FAR
    ip link add eth2 type veth peer name far2 netns $FAR
    ip link add eth3 type veth peer name eth4
    ip link add br0 type bridge stp_state 1
    ip link add vx0 type vxlan id 42 local 10.9.0.1 remote 10.9.0.2 dstport 4789 dev eth0
    ip link add link eth0 name mv0 type macvlan mode bridge
    ip tuntap add dev tun0 mode tun
    ip tuntap add dev tap0 mode tap multi_queue
    ip link set eth2 mtu 9000; ip link set eth1 master br0; ip link set tap0 master br0
    ip link set eth0 alias 'to the other side'
    for one in eth0 eth1 eth3 br0 vx0 mv0 tap0 tun0; do ip link set $one up; done
    ip -n $FAR link set far0 up; ip -n $FAR link set far1 up; ip -n $FAR address add 10.9.0.2/24 dev far0
    ip address add 10.9.0.1/24 dev eth0; ip address add 10.9.1.1/24 dev br0
    ip address add 2001:db8::1/64 dev eth0 nodad
    ip route add default via 10.9.0.2; ip route add 192.0.2.0/24 via 10.9.0.2 mtu 1400 initcwnd 20 metric 50
    ip -6 route add default via 2001:db8::2 dev eth0; ip route add 198.51.100.0/24 via 10.9.0.2 table 100
    ip rule add from 10.9.1.1 lookup 100; ip rule add not from 10.0.0.0/8 fwmark 0x7/0xff lookup 100
    ip neigh add 10.9.0.77 lladdr 02:00:00:00:00:07 dev eth0
    tc qdisc add dev eth0 root handle 1: tbf rate 500mbit burst 64k limit 100k
    tc qdisc add dev eth1 root handle 1: htb default 10
    tc class add dev eth1 parent 1: classid 1:10 htb rate 100mbit ceil 200mbit
    tc qdisc add dev eth2 ingress
    ethtool -K eth1 gro on; ethtool -K eth1 tso off; ethtool -G eth1 rx 512
    ip link add dummy0 type dummy; ip link add link eth1 name eth1.100 type vlan id 100
    ip link add ifb0 type ifb; ip link add bond0 type bond mode 802.3ad miimon 100; ip link add vrf0 type vrf table 200
    ip link add gre1 type gre local 10.9.0.1 remote 10.9.0.2 ttl 64; ip link add wg0 type wireguard
    true";

/// Runs the tools of a list, each below the line that asked for it, between two scans, and compares. A line with `IFACE` is
/// typed for each interface.
fn compared(what: &str, host: &Namespace) -> BTreeSet<String> {
    let folder = Folder::new();
    let [before, text, after] = ["before.json", "tools.txt", "after.json"].map(|name| folder.path().join(name));
    let listed = host.run("ls", &["/sys/class/net"]).out;
    let scan = |path: &Path| {
        let said = host.netdoctor(&["scan", "--interval", "0", "--snapshot"]);
        assert_eq!(said.code, 0, "{}", said.err);
        std::fs::write(path, said.out).unwrap();
    };
    scan(&before);
    let mut transcript = String::new();
    for line in read(format!("tests/it/live-capture/{what}.txt")).lines() {
        let typed: Vec<String> = if line.contains("IFACE") {
            listed.split_whitespace().map(|name| line.replace("IFACE", name)).collect()
        } else {
            vec![line.to_owned()]
        };
        for line in typed {
            let said = host.run("bash", &["-c", &format!("{line} 2>&1")]);
            transcript += &format!("$ {line}\n{}", said.out);
            if !transcript.ends_with('\n') {
                transcript.push('\n');
            }
        }
    }
    std::fs::write(&text, transcript).unwrap();
    scan(&after);
    compare(what, &before, &text, &after)
}

#[test]
fn a_scan_and_the_text_of_tools_tell_the_same() {
    let Some(far) = Namespace::new() else { return };
    let Some(host) = Namespace::new() else { return };
    host.must(&format!("FAR={}; exec 2>/dev/null{MADE}", far.name()));
    let text = compared("text", &host);
    assert!(text.len() >= 400, "{} paths: what was compared once is not told any more", text.len());
    let json = compared("json", &host);
    assert!(json.len() >= 250, "{} paths: what was compared once is not told any more", json.len());
}

/// A machine with real drivers, as tests/vm/compare.sh brought it back into the folder of this name.
#[test]
fn a_machine_with_real_drivers_tells_the_same_twice() {
    let Some(folder) = std::env::var_os("NETDOCTOR_COMPARE") else { return };
    let file = |name: &str| Path::new(&folder).join(name);
    let text = compare("text of the machine", &file("before.json"), &file("text.txt"), &file("between.json"));
    let json = compare("JSON of the machine", &file("between.json"), &file("json.txt"), &file("after.json"));
    assert!(text.len() >= 500 && json.len() >= 300, "{} and {} paths", text.len(), json.len());
}
