//! Which finding is the root of which: the same place, direction and time, sure enough; and what is said of the others.
#![allow(clippy::needless_pass_by_value, reason = "`json!` makes values")]

use netdoctor::report::model::{Finding, Report};
use netdoctor::report::text;
use netdoctor::rules::RuleSet;
use netdoctor::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::engine::{host, rule};
use crate::support::{report, report_by, rules};

/// The finding of a rule, of the only subject or the one that is named.
fn finding<'r>(report: &'r Report, rule: &str, subject: &str) -> &'r Finding {
    let found = report.findings.iter().find(|one| one.rule == rule && one.subject == subject);
    found.unwrap_or_else(|| panic!("no {rule} of {subject}: {:?}", report.findings.iter().map(|one| &one.rule)))
}

/// Rule and sureness that a finding stands below.
fn under<'r>(report: &'r Report, rule: &str, subject: &str) -> Option<(&'r str, &'r str)> {
    let found = finding(report, rule, subject);
    Some((found.under.as_deref()?, found.under_confidence.as_deref()?))
}

/// Rules that may have a part in a finding, each with the reason for the doubt.
fn others<'r>(report: &'r Report, rule: &str, subject: &str) -> Vec<(&'r str, &'r str)> {
    finding(report, rule, subject).others.iter().map(|one| (one.rule.as_str(), one.why.as_str())).collect()
}

/// A port of a card of its own, on the bus that its name ends in.
fn port(name: &str, fields: Value) -> Value {
    let bus = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut port = json!({"name": name, "device": [format!("0000:0{bus}:00.0"), "assumed"]});
    for (key, value) in fields.as_object().unwrap() {
        port[key] = value.clone();
    }
    port
}

fn counters(at_ms: &[u64], rows: Value) -> Value {
    json!([{"group": "rtnl_link_stats64", "source": "assumed", "at_ms": at_ms, "counters": rows}])
}

// ---- direction ----

/// A symptom of measured results that states who sent, and a cause for each direction.
fn sided() -> RuleSet {
    let cause = |id: &str, side: &str| {
        rule(
            id,
            "interface",
            &format!("kind: fault\nwhen: iface.mtu < 9000B\nexplains: [{{rule: tcp.symptom, side: {side}}}]"),
        )
    };
    rules(
        &[
            rule(
                "tcp.symptom",
                "host",
                "kind: fault
                 when: any(m.retransmits > 100 for m in host.measured)
                 sides: [{is: own, when: any(m.retransmits > 100 and (m.sends or m.sends is unknown) for m in host.measured)}, \
                 {is: peer, when: any(m.retransmits > 100 and (not m.sends or m.sends is unknown) for m in host.measured)}]",
            ),
            cause("ring.receives", "peer"),
            cause("softnet.sends", "own"),
        ]
        .concat(),
    )
}

fn result(interface: &str, sends: Value, retransmits: u64) -> Value {
    json!({"tool": "iperf3", "rate": [1_000_000_000, "assumed"], "retransmits": [retransmits, "assumed"],
        "sends": sends, "interface": [interface, "assumed"]})
}

#[test]
fn a_loss_while_receiving_is_behind_what_the_peer_sends_again_and_nothing_else() {
    let of = |results: Vec<Value>| {
        let interfaces =
            [port("eth0", json!({"mtu": [1500, "assumed"]})), port("eth1", json!({"mtu": [9000, "assumed"]}))];
        let report =
            report_by(&sided(), &host(json!({"host": {"measured": [results, "assumed"]}, "interfaces": interfaces})));
        finding(&report, "tcp.symptom", "host").under.clone()
    };
    let (yes, no, unread) = (json!([true, "assumed"]), json!([false, "assumed"]), json!({"unknown": "failed"}));
    let (own, peer) = (Some("softnet.sends".to_owned()), Some("ring.receives".to_owned()));
    assert_eq!(of(vec![result("eth0", yes.clone(), 500)]), own, "this host sent");
    assert_eq!(of(vec![result("eth0", no.clone(), 500)]), peer, "the peer sent");
    assert_eq!(of(vec![result("eth0", unread, 500)]), None, "nobody knows who sent");
    assert_eq!(
        of(vec![result("eth0", yes.clone(), 500), result("eth0", no.clone(), 500)]),
        None,
        "each explains a half"
    );
    // A test that lost nothing says nothing of the direction.
    assert_eq!(of(vec![result("eth0", yes.clone(), 5), result("eth0", no.clone(), 500)]), peer);
    // The lossy test ran over another port; a clean one over this port does not change that.
    assert_eq!(of(vec![result("eth1", no.clone(), 500)]), None);
    assert_eq!(of(vec![result("eth1", no.clone(), 500), result("eth0", no.clone(), 5)]), None);
    assert_eq!(of(vec![result("eth0", no.clone(), 500), result("eth1", no, 500)]), None, "only one of both tests");
}

#[test]
fn the_retransmits_of_this_host_are_not_about_what_it_receives() {
    // 3 % of the segments that this host sent in the sample; its ring lost 2 ‰ of what it received.
    let snmp = json!([["Tcp.RetransSegs", 0, 30_000], ["Tcp.OutSegs", 0, 1_000_000]]);
    let netstat =
        json!([["TcpExt.TCPSynRetrans", 0, 0], ["TcpExt.TCPDSACKRecv", 0, 0], ["TcpExt.TCPLossProbes", 0, 0]]);
    let block =
        |group: &str, rows: &Value| json!({"group": group, "source": "assumed", "at_ms": [0, 3000], "counters": rows});
    let rows = json!([
        ["rx_packets", 0, 1_000_000],
        ["rx_bytes", 0, 1_500_000_000],
        ["tx_bytes", 0, 9],
        ["rx_missed_errors", 0, 2000]
    ]);
    let port = port(
        "eth0",
        json!({"kind": ["ethernet", "assumed"], "port": {"physical": [true, "assumed"]}, "counters": counters(&[0, 3000], rows)}),
    );
    let with = |measured: Value| {
        report(&host(json!({"host": {"measured": [measured, "assumed"],
            "counters": [[block("snmp", &snmp), block("netstat", &netstat)], "assumed"]}, "interfaces": [port.clone()]})))
    };
    let counted = with(json!([]));
    assert_eq!(under(&counted, "tcp.retrans-high", "host"), None);
    assert_eq!(finding(&counted, "ring.rx-starved", "eth0").severity, "critical");
    // A test in which the peer sent and lost as well: now the finding is about both directions, and the ring explains one.
    let both = with(json!([{"tool": "iperf3", "rate": [9_000_000_000_u64, "assumed"], "duration": [10, "assumed"],
        "retransmits": [9000, "assumed"], "sends": [false, "assumed"], "interface": ["eth0", "assumed"]}]));
    assert_eq!(under(&both, "tcp.retrans-high", "host"), None);
}

#[test]
fn a_ceiling_that_was_reached_while_receiving_folds_the_overflow() {
    let text = crate::support::read("fixtures/seeds/qnap-ts855x-mtu1500.json");
    let with = |rate: u64, sends: bool| {
        let mut document: Value = serde_json::from_str(&text).unwrap();
        document["host"]["measured"] = json!([[{"tool": "iperf3", "protocol": ["tcp", "assumed"], "rate": [rate, "assumed"],
            "duration": [30, "assumed"], "streams": [4, "assumed"], "sends": [sends, "assumed"], "interface": ["eth4", "assumed"]}], "assumed"]);
        let port = document["interfaces"].as_array_mut().unwrap().iter_mut().find(|one| one["name"] == "eth4").unwrap();
        port["counters"] = json!([
            {"group": "rtnl_link_stats64", "source": "assumed", "at_ms": [0, 10_000], "counters": [["rx_packets", 0, 17_500_000]]},
            {"group": "ethtool_statistics", "source": "assumed", "at_ms": [0, 10_000], "counters": [["rx_stat_discard", 0, 33_120]]}]);
        report(&crate::support::snapshot(&document.to_string()))
    };
    let overflow = "driver.rx-fifo-overflow";
    // The slot carries 24.6 to 28.2 Gb/s.
    let at_ceiling = with(27_000_000_000, false);
    assert_eq!(under(&at_ceiling, overflow, "eth4").map(|(rule, _)| rule), Some("pcie.path-below-link"));
    assert!(at_ceiling.answer.contains("Changing anything else cannot help"), "{}", at_ceiling.answer);
    // As a sender it would pace itself.
    assert_eq!(under(&with(27_000_000_000, true), overflow, "eth4"), None);
    // Below the ceiling the loss leads, the shortfall stands below it, and the limit stands beside.
    let below = with(20_300_000_000, false);
    assert_eq!(under(&below, overflow, "eth4"), None);
    assert_eq!(under(&below, "pcie.path-below-link", "0000:01:00.0"), None);
    assert_eq!(under(&below, "tcp.below-ceiling", "eth4").map(|(rule, _)| rule), Some(overflow));
    assert!(below.answer.contains("receive buffer overflows, and that is fixable"), "{}", below.answer);
    // A shortfall of what this host sends is not about what it receives.
    let sending = with(20_300_000_000, true);
    assert_eq!(under(&sending, "tcp.below-ceiling", "eth4"), None);
    assert!(!sending.answer.contains("fixable") && sending.answer.contains("Beside it: "), "{}", sending.answer);
}

// ---- time ----

/// A cause and a symptom of the same port, each with delta, totals and log arms.
fn timed() -> RuleSet {
    let arms = |counter: &str, event: &str| {
        format!(
            "kind: fault\nwhen: arms\narms: {{count: [{counter}], delta: {{min: 10, confidence: high}}, \
             totals: {{min: 10, confidence: medium}}, log: {{events: [{event}], min: 1, within: 24h, confidence: high}}}}"
        )
    };
    rules(
        &[
            rule(
                "link.cause",
                "interface",
                &(arms("rx_crc_errors", "link_down") + "\nexplains: [{rule: tcp.symptom}]"),
            ),
            rule("tcp.symptom", "interface", &arms("collisions", "tx_hang")),
        ]
        .concat(),
    )
}

/// Counts of cause and symptom at one or two samples three seconds apart, and lines of the log with their ages.
fn at(cause: &[u64], symptom: &[u64], log: &[(f64, &str)]) -> Snapshot {
    let row = |name: &str, values: &[u64]| {
        let cells: Vec<Value> = std::iter::once(json!(name)).chain(values.iter().map(|value| json!(value))).collect();
        json!(cells)
    };
    let times: Vec<u64> = (0..cause.len()).map(|sample| sample as u64 * 3000).collect();
    let line = |(age, text): &(f64, &str)| json!({"age": age, "text": format!("eth0: {text}"), "source": "assumed"});
    let lines: Vec<Value> = log.iter().map(line).collect();
    let rows = json!([row("rx_crc_errors", cause), row("collisions", symptom)]);
    let port = port("eth0", json!({"kind": ["ethernet", "assumed"], "counters": counters(&times, rows)}));
    host(json!({"host": {"log": [lines, "assumed"]}, "interfaces": [port]}))
}

const SINCE_BOOT: &str = "seen since boot, not shown to grow in the sample";
const ANOTHER_TIME: &str = "seen at another time";

#[test]
fn what_was_counted_since_boot_swallows_no_symptom_of_the_sample() {
    let rules = timed();
    let of = |cause: [u64; 2], symptom: [u64; 2]| report_by(&rules, &at(&cause, &symptom, &[]));
    // Both grew by enough in the sample.
    let both = of([0, 20], [0, 30]);
    assert_eq!(under(&both, "tcp.symptom", "eth0"), Some(("link.cause", "high")));
    assert_eq!(others(&both, "tcp.symptom", "eth0"), []);
    // 500 since boot, none of them in the sample: the symptom stands for itself, and names what it may be.
    let before = of([500, 500], [0, 30]);
    assert_eq!(under(&before, "tcp.symptom", "eth0"), None);
    assert_eq!(others(&before, "tcp.symptom", "eth0"), [("link.cause", SINCE_BOOT)]);
    // 500 since boot and three of them in the sample, too few for a finding of their own: probably, as the weaker of both.
    let grew = of([500, 503], [0, 30]);
    assert_eq!(finding(&grew, "link.cause", "eth0").seen.as_ref().unwrap().arm, "totals");
    assert_eq!(under(&grew, "tcp.symptom", "eth0"), Some(("link.cause", "medium")));
    // Both since boot: the same time.
    let totals = of([500, 503], [400, 400]);
    assert_eq!(under(&totals, "tcp.symptom", "eth0"), Some(("link.cause", "medium")));
    // What grows now need not be what grew before.
    assert_eq!(under(&of([0, 20], [400, 400]), "tcp.symptom", "eth0"), Some(("link.cause", "medium")));
    // With one sample nobody knows of growth; both arms are totals then.
    let one = report_by(&rules, &at(&[500], &[400], &[]));
    assert_eq!(under(&one, "tcp.symptom", "eth0"), Some(("link.cause", "medium")));
}

#[test]
fn events_of_the_log_explain_what_follows_them() {
    let rules = timed();
    let hour = 3600.0;
    let of = |down: f64, hang: f64| {
        report_by(&rules, &at(&[0, 0], &[0, 0], &[(down, "Link is Down"), (hang, "Detected Hardware Unit Hang")]))
    };
    for (what, down, hang, explained) in [
        ("at once", hour, hour, true),
        ("nine minutes later", hour, hour - 540.0, true),
        ("eleven minutes later", hour, hour - 660.0, false),
        ("a minute before", hour, hour + 60.0, false),
    ] {
        let report = of(down, hang);
        let expected = explained.then_some(("link.cause", "high"));
        assert_eq!(under(&report, "tcp.symptom", "eth0"), expected, "{what}");
        let doubt = if explained { vec![] } else { vec![("link.cause", ANOTHER_TIME)] };
        assert_eq!(others(&report, "tcp.symptom", "eth0"), doubt, "{what}");
    }
    // An event two hours ago is not what makes a counter grow now; one a minute ago may be.
    for (down, expected) in [(2.0 * hour, None), (60.0, Some(("link.cause", "high")))] {
        let report = report_by(&rules, &at(&[0, 0], &[0, 30], &[(down, "Link is Down")]));
        assert_eq!(under(&report, "tcp.symptom", "eth0"), expected, "{down} s ago");
    }
}

#[test]
fn each_finding_says_when_it_was_seen() {
    let rules = timed();
    let seen = |snapshot: &Snapshot| {
        let report = report_by(&rules, snapshot);
        let seen = finding(&report, "link.cause", "eth0").seen.clone().unwrap();
        (seen.arm, seen.text)
    };
    let said = |arm: &str, text: &str| (arm.to_owned(), text.to_owned());
    assert_eq!(seen(&at(&[5, 25], &[0, 0], &[])), said("delta", "in the sample: 20 in 3 s"));
    assert_eq!(seen(&at(&[12_345], &[0], &[])), said("totals", "since the driver was loaded: 12\u{202f}345"));
    let log = [(90_000.0, "Link is Down"), (7200.0, "Link is Down"), (3600.0, "Link is Down")];
    assert_eq!(seen(&at(&[0], &[0], &log)), said("log", "in the log: 2 times, last 1 h before the capture"));
    let pasted = host(
        json!({"interfaces": [{"name": "eth0", "counters": counters(&[0, 0], json!([["rx_crc_errors", 0, 50]]))}]}),
    );
    assert_eq!(seen(&pasted), said("delta", "in the sample: 50"), "no time between the outputs, and no arm for that");
    // A state stands now: there is nothing to say of its time.
    let state = rules_of_a_state();
    let report = report_by(&state, &host(json!({"interfaces": [{"name": "eth0", "mtu": [1500, "assumed"]}]})));
    assert_eq!(finding(&report, "mtu.small", "eth0").seen, None);
}

fn rules_of_a_state() -> RuleSet {
    rules(&rule("mtu.small", "interface", "when: iface.mtu < 9000B"))
}

#[test]
fn an_explained_finding_is_told_with_its_time_and_sureness() {
    let report = report_by(&timed(), &at(&[500, 503], &[0, 30], &[]));
    let text = text::render(&[report], &text::Options { width: 200, ..text::Options::default() });
    assert!(text.contains("seen      since the driver was loaded: 503"), "{text}");
    assert!(text.contains("below     tcp.symptom (eth0, tcp.symptom), in the sample: 30 in 3 s, probably"), "{text}");
    let report = report_by(&timed(), &at(&[500, 500], &[0, 30], &[]));
    let text = text::render(&[report], &text::Options { width: 200, ..text::Options::default() });
    assert!(text.contains(&format!("maybe     link.cause (eth0, link.cause): {SINCE_BOOT}")), "{text}");
}

// ---- place ----

/// Two bonds, VLANs on them, a bridge; eth0 is the port with the small MTU.
fn stacked() -> Snapshot {
    let on = |name: &str, stack: Value, size: u32| json!({"name": name, "stack": stack, "mtu": [size, "assumed"]});
    let member = |name: &str, master: &str, size: u32| {
        port(name, json!({"stack": {"master": [master, "assumed"]}, "mtu": [size, "assumed"]}))
    };
    let parent = |name: &str| json!({"parent": [name, "assumed"]});
    host(json!({"interfaces": [
        member("eth0", "bond0", 1500), member("eth1", "bond0", 9000), member("eth2", "bond1", 9000),
        on("bond0", json!({}), 9000), on("bond1", json!({}), 9000),
        on("bond0.5", parent("bond0"), 9000), on("bond1.5", parent("bond1"), 9000),
        on("br0", json!({"members": [["bond0.5"], "assumed"]}), 9000), on("br1", json!({"members": [["bond1.5"], "assumed"]}), 9000),
    ]}))
}

#[test]
fn a_cause_reaches_what_stands_on_it() {
    let rules = |reach: &str| {
        rules(
            &[
                rule("tcp.symptom", "interface", "kind: fault\nwhen: iface.mtu > 0B"),
                rule(
                    "link.cause",
                    "interface",
                    &format!("kind: fault\nwhen: iface.mtu < 9000B\nexplains: [{{rule: tcp.symptom{reach}}}]"),
                ),
            ]
            .concat(),
        )
    };
    let explained = |reach: &str, snapshot: &Snapshot| -> Vec<String> {
        let report = report_by(&rules(reach), snapshot);
        let folded = report.findings.iter().filter(|one| one.under.is_some());
        let mut names: Vec<String> = folded.map(|one| one.subject.clone()).collect();
        names.sort();
        names
    };
    let host = stacked();
    assert_eq!(explained("", &host), ["bond0", "bond0.5", "br0", "eth0"]);
    assert_eq!(explained(", reach: up", &host), ["bond0", "bond0.5", "br0", "eth0"]);
    assert_eq!(explained(", reach: down", &host), ["eth0"]);
    // The same with the cause on the VLAN.
    let mut vlan = stacked();
    let swap = |snapshot: &mut Snapshot, a: &str, b: &str| {
        let at = |name: &str| snapshot.interfaces.iter().position(|one| one.name == name).unwrap();
        let (a, b) = (at(a), at(b));
        let size = snapshot.interfaces[a].mtu.clone();
        snapshot.interfaces[a].mtu = std::mem::replace(&mut snapshot.interfaces[b].mtu, size);
    };
    swap(&mut vlan, "eth0", "bond0.5");
    assert_eq!(explained("", &vlan), ["bond0.5", "br0"]);
    assert_eq!(explained(", reach: down", &vlan), ["bond0", "bond0.5", "eth0", "eth1"]);
    assert_eq!(explained(", reach: both", &vlan), ["bond0", "bond0.5", "br0", "eth0", "eth1"]);
}

#[test]
fn a_falling_member_is_behind_its_bond_and_no_other() {
    let down = |name: &str| json!({"age": 60.0, "text": format!("{name}: Link is Down"), "source": "assumed"});
    let member = |name: &str, up: bool| json!({"name": name, "mii_up": [up, "assumed"]});
    let bond = |name: &str, members: Value| {
        json!({"name": name, "kind": ["bond", "assumed"], "admin_up": [true, "assumed"],
        "bond": {"members": [members, "assumed"]}})
    };
    let up = json!({"kind": ["ethernet", "assumed"], "admin_up": [true, "assumed"], "port": {"physical": [true, "assumed"]}});
    let report = report(&host(json!({
        "host": {"log": [[down("eth0"), down("eth0"), down("eth0")], "assumed"]},
        "interfaces": [port("eth0", up.clone()), port("eth1", up.clone()), port("eth2", up.clone()), port("eth3", up),
            bond("bond0", json!([member("eth0", false), member("eth1", true)])),
            bond("bond1", json!([member("eth2", false), member("eth3", true)]))]})));
    assert_eq!(finding(&report, "link.flapping", "eth0").seen.as_ref().unwrap().arm, "log");
    assert_eq!(under(&report, "bond.member-down", "bond0"), Some(("link.flapping", "high")));
    assert_eq!(finding(&report, "bond.member-down", "bond0").under_subject.as_deref(), Some("eth0"));
    assert_eq!(under(&report, "bond.member-down", "bond1"), None);
}

/// A symptom of every host, and a cause on each port with a small MTU.
fn of_the_host() -> RuleSet {
    rules(
        &[
            rule("tcp.symptom", "host", "when: host.cpus > 0\nkind: fault"),
            rule("link.cause", "interface", "when: iface.mtu < 9000B\nkind: fault\nexplains: [{rule: tcp.symptom}]"),
        ]
        .concat(),
    )
}

#[test]
fn one_member_carries_the_traffic_of_its_bond_only_with_most_of_the_bytes() {
    let rules = of_the_host();
    let of = |bytes: [u64; 2], sample: bool, default: bool| {
        let times: &[u64] = if sample { &[0, 3000] } else { &[0] };
        let row = |count: u64| if sample { json!([["rx_bytes", 0, count]]) } else { json!([["rx_bytes", count]]) };
        let member = |name: &str, size: u32, count: u64| {
            port(name, json!({"mtu": [size, "assumed"], "counters": counters(times, row(count))}))
        };
        let bond = json!({"name": "bond0", "stack": {"members": [["eth0", "eth1"], "assumed"]}, "session": {"is_default_route": [default, "assumed"]}});
        let results = if default { json!([]) } else { json!([result("bond0", json!([true, "assumed"]), 5)]) };
        let report = report_by(
            &rules,
            &host(json!({"host": {"cpus": [4, "assumed"], "measured": [results, "assumed"]},
                "interfaces": [member("eth0", 1500, bytes[0]), member("eth1", 9000, bytes[1]), bond]})),
        );
        under(&report, "tcp.symptom", "host").map(|(_, surely)| surely.to_owned())
    };
    assert_eq!(
        of([9000, 100], true, false).as_deref(),
        Some("high"),
        "the test ran over the bond, mostly over this member"
    );
    assert_eq!(of([100, 9000], true, false), None);
    assert_eq!(of([9000, 100], false, false), None, "nobody knows how much of it");
    assert_eq!(of([9000, 100], false, true), None, "half of the default route at most is known");
}

#[test]
fn without_a_sample_the_default_route_is_a_likely_place() {
    let rules = of_the_host();
    for (default, expected) in [(true, Some(("link.cause", "medium"))), (false, None)] {
        let eth0 =
            port("eth0", json!({"mtu": [1500, "assumed"], "session": {"is_default_route": [default, "assumed"]}}));
        let report = report_by(&rules, &host(json!({"host": {"cpus": [4, "assumed"]}, "interfaces": [eth0]})));
        assert_eq!(under(&report, "tcp.symptom", "host"), expected, "{default}");
    }
}

// ---- sureness and kind ----

#[test]
fn what_may_hide_nothing_is_named_and_not_made_the_root() {
    let symptom = rule("tcp.symptom", "interface", "when: iface.mtu > 0B\nkind: fault");
    let with = |lines: &str| {
        let cause = rule(
            "link.cause",
            "interface",
            &format!("when: iface.mtu < 9000B\nexplains: [{{rule: tcp.symptom}}]\n{lines}"),
        );
        let rules = rules(&[cause, symptom.clone()].concat());
        report_by(&rules, &host(json!({"interfaces": [{"name": "eth0", "mtu": [1500, "assumed"]}]})))
    };
    for (lines, why) in [
        ("kind: hygiene\nseverity: info", "untidy, not known to hurt"),
        ("kind: fault\nconfidence: low", "no more than a hint"),
    ] {
        let report = with(lines);
        assert_eq!(under(&report, "tcp.symptom", "eth0"), None, "{lines}");
        assert_eq!(others(&report, "tcp.symptom", "eth0"), [("link.cause", why)], "{lines}");
    }
    // A precondition that was not read makes a cause a likely one.
    let taken = with("kind: fault\nrequires: iface.link.up");
    assert_eq!(finding(&taken, "link.cause", "eth0").confidence, "medium");
    assert_eq!(under(&taken, "tcp.symptom", "eth0"), Some(("link.cause", "medium")));
}

#[test]
fn a_second_cause_is_named_beside_the_root() {
    let cause = "explains: [{rule: tcp.symptom}]\nwhen: iface.mtu < 9000B\nkind: fault";
    let rules = rules(
        &[
            rule("tcp.symptom", "interface", "when: iface.mtu > 0B\nkind: fault"),
            rule("link.state", "interface", cause),
            // Of a higher layer, but measured now.
            rule(
                "ring.loss",
                "interface",
                "kind: fault\nwhen: arms\narms: {count: [rx_crc_errors], delta: {min: 1}}\nexplains: [{rule: tcp.symptom}]",
            ),
        ]
        .concat(),
    );
    let loss = |grown: u64| {
        let port = port(
            "eth0",
            json!({"mtu": [1500, "assumed"], "counters": counters(&[0, 3000], json!([["rx_crc_errors", 0, grown]]))}),
        );
        report_by(&rules, &host(json!({"interfaces": [port]})))
    };
    let both = loss(9);
    assert_eq!(under(&both, "tcp.symptom", "eth0").map(|(rule, _)| rule), Some("ring.loss"));
    assert_eq!(others(&both, "tcp.symptom", "eth0"), [("link.state", "it explains this as well")]);
    assert_eq!(under(&loss(0), "tcp.symptom", "eth0").map(|(rule, _)| rule), Some("link.state"));
}

#[test]
fn a_group_is_as_severe_as_what_was_measured_in_it() {
    let rules = |symptom: &str| {
        rules(
            &[
                rule(
                    "sysctl.cause",
                    "host",
                    "kind: risk\nseverity: info\nwhen: host.cpus > 0\nexplains: [{rule: tcp.symptom}]",
                ),
                rule("tcp.symptom", "host", &format!("kind: fault\nseverity: critical\n{symptom}")),
            ]
            .concat(),
        )
    };
    let softnet = json!({"group": "softnet_stat", "source": "assumed", "at_ms": [0, 3000], "counters": [["cpu0.dropped", 0, 50]]});
    let host = host(
        json!({"host": {"cpus": [4, "assumed"], "counters": [[softnet], "assumed"]}, "interfaces": [{"name": "eth0"}]}),
    );
    let measured = report_by(&rules("when: arms\narms: {count: [softnet_dropped], delta: {min: 10}}"), &host);
    let root = finding(&measured, "sysctl.cause", "host");
    assert_eq!((root.severity.as_str(), root.group()), ("info", "critical"));
    assert!(measured.answer.starts_with("host: sysctl.cause"), "{}", measured.answer);
    let text = text::render(&[measured], &text::Options::default());
    assert!(text.contains("FIX NOW  1  sysctl.cause"), "{text}");
    // What merely stands lifts nothing.
    let stands = report_by(&rules("when: host.cpus > 1"), &host);
    assert_eq!(finding(&stands, "sysctl.cause", "host").group(), "info");
    assert_eq!(under(&stands, "tcp.symptom", "host"), Some(("sysctl.cause", "high")));
}

// ---- what is not the cause ----

/// A symptom in a test that this host received, on a host where some causes were read and passed.
fn received(fields: Value) -> Report {
    let rows = json!([["rx_packets", 0, 2_000_000], ["rx_bytes", 0, 3_000_000_000_u64], ["tx_bytes", 0, 9]]);
    let own = json!([
        ["rx_fcs_err_frames", 4, 4],
        ["rx_align_err_frames", 0, 0],
        ["rx_ovrsz_frames", 0, 0],
        ["rx_total_ring_discards", 0, 0],
        ["rx_stat_discard", 0, 0]
    ]);
    let blocks = json!([
        {"group": "rtnl_link_stats64", "source": "assumed", "at_ms": [0, 3000], "counters": rows},
        {"group": "ethtool_statistics", "source": "assumed", "at_ms": [0, 3000], "counters": own}
    ]);
    let port = port(
        "eth0",
        json!({"driver": {"name": ["bnxt_en", "assumed"]}, "kind": ["ethernet", "assumed"],
            "port": {"physical": [true, "assumed"]}, "counters": blocks}),
    );
    let test = json!({"tool": "iperf3", "rate": [9_000_000_000_u64, "assumed"], "duration": [10, "assumed"],
        "retransmits": [9000, "assumed"], "sends": [false, "assumed"], "interface": ["eth0", "assumed"]});
    let mut document = json!({"host": {"measured": [[test], "assumed"]}, "interfaces": [port]});
    for (key, value) in fields.as_object().unwrap() {
        document["host"][key] = value.clone();
    }
    report(&host(document))
}

#[test]
fn causes_that_passed_are_told_with_their_counts_and_open_ones_with_their_command() {
    let report = received(json!({}));
    let symptom = report.symptom.as_ref().unwrap();
    assert_eq!((symptom.rule.as_str(), symptom.subject.as_str()), ("tcp.retrans-high", "host"));
    let passed = |rule: &str| report.not_the_cause.iter().find(|one| one.rule.as_deref() == Some(rule));
    let ring = passed("ring.rx-starved").unwrap();
    assert_eq!(ring.what, "receive ring of eth0");
    assert_eq!(ring.by, "rx_no_buffer +0 of 2\u{202f}000\u{202f}000 rx_packets in 3 s");
    assert!(passed("link.crc-errors").unwrap().by.starts_with("rx_crc_errors +0"), "{:?}", report.not_the_cause);
    // What this host sends is not the question, so a cause of that is neither excluded nor asked for.
    let decided = report.not_the_cause.iter().filter_map(|one| one.rule.as_deref());
    let named: Vec<&str> = decided.chain(report.not_decided.iter().map(|one| one.rule.as_str())).collect();
    assert!(!named.contains(&"tcp.features-off"), "{named:?}");
    let open = report.not_decided.iter().find(|one| one.rule == "softnet.backlog-drops").unwrap();
    assert_eq!(open.what, "packet backlog of the CPUs");
    assert!(open.missing.iter().any(|one| one.command.contains("softnet_stat")), "{:?}", open.missing);
    // A rule stands on one side only.
    for one in &report.not_decided {
        let both = report.not_the_cause.iter().any(|other| other.rule.as_deref() == Some(&one.rule));
        assert!(!both, "{}", one.rule);
    }
    // Nothing was lost here: where to look next.
    assert!(
        symptom
            .note
            .as_ref()
            .is_some_and(|note| note.starts_with("No loss grew on this host while it was looked at: look")),
        "{symptom:?} {:?} {:?}",
        report.interfaces[0].drops,
        finding(&report, "tcp.retrans-high", "host").others
    );
    // Once the backlog was read, it is excluded.
    let softnet = json!([[{"group": "softnet_stat", "source": "assumed", "at_ms": [0, 3000],
        "counters": [["cpu0.processed", 0, 2_000_000], ["cpu0.dropped", 0, 0]]}], "assumed"]);
    let read = received(json!({"counters": softnet}));
    assert!(
        read.not_the_cause.iter().any(|one| one.rule.as_deref() == Some("softnet.backlog-drops")),
        "{:?}",
        read.not_the_cause
    );
    assert!(!read.not_decided.iter().any(|one| one.rule == "softnet.backlog-drops"));
}

#[test]
fn every_format_tells_what_is_no_cause_and_what_is_open() {
    let report = received(json!({}));
    for (format, text) in crate::support::formats(&report) {
        // The short text leaves the later open questions to -v.
        let words = ["receive ring of eth0", "rx_no_buffer", "softnet_stat"];
        let short = format.starts_with("text") && !format.ends_with("-v");
        for word in &words[..if short { 2 } else { 3 }] {
            assert!(text.contains(word) || text.contains(&word.replace('_', "\\_")), "{format}: {word}\n{text}");
        }
    }
    // The short text is bounded.
    let options = text::Options { width: 100, ..text::Options::default() };
    let short = text::render(std::slice::from_ref(&report), &options);
    let section = short.split("NOT THE CAUSE").nth(1).unwrap().split("WHO DROPS").next().unwrap();
    assert!(section.lines().count() < 30, "{section}");
}

#[test]
fn one_thing_is_excluded_once() {
    let text = crate::support::read("fixtures/seeds/qnap-tsh1277afx.json");
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let excluded = |document: &Value| -> Vec<String> {
        let report = report(&crate::support::snapshot(&document.to_string()));
        report.not_the_cause.into_iter().map(|one| one.what).filter(|what| what.starts_with("PCIe path")).collect()
    };
    assert_eq!(excluded(&document), ["PCIe path of eth4"]);
    // With a symptom the rule of the path speaks.
    let port = document["interfaces"].as_array_mut().unwrap().iter_mut().find(|one| one["name"] == "eth4").unwrap();
    port["counters"] = json!([{"group": "ethtool_statistics", "source": "assumed", "at_ms": [0, 10_000],
        "counters": [["rx_stat_discard", 0, 33_120]]}]);
    assert_eq!(excluded(&document), ["PCIe path of 0000:01:00.0"]);
}

#[test]
fn where_nothing_measured_is_wrong_there_is_no_symptom() {
    let report =
        report_by(&rules_of_a_state(), &host(json!({"interfaces": [{"name": "eth0", "mtu": [1500, "assumed"]}]})));
    assert_eq!((report.symptom, report.not_decided.len()), (None, 0));
}

#[test]
fn a_cause_that_fired_is_not_excluded() {
    let report = report_by(&timed(), &at(&[0, 20], &[0, 30], &[]));
    assert_eq!(report.symptom.as_ref().unwrap().rule, "tcp.symptom");
    assert!(report.not_the_cause.iter().all(|one| one.rule.is_none()), "{:?}", report.not_the_cause);
    // One that stood still in the sample is, with what was counted before.
    let text = [
        rule("tcp.symptom", "interface", "kind: fault\nwhen: arms\narms: {count: [collisions], delta: {min: 10}}"),
        rule(
            "link.cause",
            "interface",
            "kind: fault\nwhen: arms\nsuspect: the wire\nexplains: [{rule: tcp.symptom}]
             arms: {count: [rx_crc_errors], of: [rx_packets], delta: {min: 10, above: 1ppm, floor: 1000}, totals: {min: 10}}",
        ),
    ];
    let rows = json!([["rx_crc_errors", 40, 40], ["collisions", 0, 30], ["rx_packets", 0, 5000]]);
    let port = port("eth0", json!({"counters": counters(&[0, 3000], rows)}));
    let report = report_by(&rules(&text.concat()), &host(json!({"interfaces": [port]})));
    let excluded = report.not_the_cause.iter().find(|one| one.rule.as_deref() == Some("link.cause")).unwrap();
    assert_eq!(excluded.what, "the wire of eth0");
    assert!(excluded.by.contains("40") && excluded.by.ends_with("not growing now"), "{}", excluded.by);
    assert_eq!(others(&report, "tcp.symptom", "eth0"), []);
}

// ---- who drops ----

#[test]
fn the_host_has_a_row_of_its_own_and_zero_is_not_unread() {
    let block =
        |group: &str, rows: Value| json!({"group": group, "source": "assumed", "at_ms": [0, 3000], "counters": rows});
    let counted = json!([
        [
            block("softnet_stat", json!([["cpu0.dropped", 0, 0]])),
            block("snmp", json!([["Udp.RcvbufErrors", 5, 75]])),
            block("netstat", json!([["TcpExt.RcvPruned", 3, 4], ["TcpExt.TCPBacklogDrop", 0, 0]]))
        ],
        "assumed"
    ]);
    let rows = json!([["rx_crc_errors", 0, 0]]);
    let port = port(
        "eth0",
        json!({"kind": ["ethernet", "assumed"], "port": {"physical": [true, "assumed"]}, "counters": counters(&[0, 3000], rows)}),
    );
    let report =
        report(&host(json!({"sample": {"seconds": 3.0}, "host": {"counters": counted}, "interfaces": [port]})));
    let drop = |place: &str| report.host_drops.iter().find(|one| one.place == place).unwrap();
    assert_eq!((drop("softnet").total, drop("softnet").grew), (Some(0), Some(0)));
    // Some counters of the sockets were not read: what is known is a lower bound.
    assert_eq!((drop("socket").total, drop("socket").grew), (Some(75), Some(70)));
    let counter = |name: &str| report.host_counters.iter().find(|one| one.counter == name).unwrap();
    assert_eq!((counter("UdpRcvbufErrors").total, counter("UdpRcvbufErrors").grew), (Some(75), Some(70)));
    assert_eq!(
        (counter("RcvPruned").total, counter("RcvPruned").place.as_deref()),
        (Some(4), None),
        "it may hold the same"
    );
    assert_eq!((counter("TCPBacklogDrop").total, counter("TCPOFODrop").total), (Some(0), None));
    let text = text::render(std::slice::from_ref(&report), &text::Options { width: 120, verbose: true, colour: false });
    let row = text.lines().find(|line| line.trim_start().starts_with("host ")).unwrap();
    assert!(row.contains('0') && row.ends_with("75 (+70)"), "{row}");
    assert!(text.contains("UdpRcvbufErrors 75 (+70): ") && text.contains("RcvPruned 4 (+1): "), "{text}");
    assert!(text.contains("host: 0 at softnet_dropped and TCPBacklogDrop; not readable: "), "{text}");
    assert!(report.answer.contains("host: Datagrams are lost at full receive buffers"), "{}", report.answer);
}

#[test]
fn a_port_that_several_functions_show_is_counted_once() {
    let function = |name: &str, number: u32, lag: u64, bytes: u64, lost: u64| {
        let rows =
            json!([["port.rx_bytes", bytes + lag, bytes + 90_000_001 + lag], ["port.rx_discards", lost, lost + 4000]]);
        json!({"name": name, "kind": ["ethernet", "assumed"], "port": {"physical": [true, "assumed"]},
            "device": [format!("0000:01:00.{number}"), "assumed"], "driver": {"name": ["i40e", "assumed"]},
            "counters": [{"group": "ethtool_statistics", "source": "assumed", "at_ms": [0, 3000], "counters": rows}]})
    };
    let nic = |report: &Report, name: &str| {
        let row = report.interfaces.iter().find(|row| row.name == name).unwrap();
        let drop = row.drops.iter().find(|drop| drop.place == "nic").unwrap();
        (drop.total, drop.counted_at.clone())
    };
    let devices: Vec<Value> = (0..3).map(|number| json!({"address": format!("0000:01:00.{number}")})).collect();
    let with = |ports: Value| report(&host(json!({"interfaces": ports, "devices": devices})));
    // eth1 shows the port of eth0 a moment later; eth2 is another port that happens to have lost as much.
    let report = with(json!([
        function("eth0", 0, 0, 1_234_567, 500),
        function("eth1", 1, 3001, 1_234_567, 500),
        function("eth2", 2, 0, 77_654_321, 500)
    ]));
    assert_eq!(nic(&report, "eth0"), (Some(4500), None));
    assert_eq!(nic(&report, "eth1"), (None, Some("eth0".into())));
    assert_eq!(nic(&report, "eth2"), (Some(4500), None));
    let text = text::render(&[report], &text::Options { width: 120, ..text::Options::default() });
    assert!(text.lines().any(|line| line.trim_start().starts_with("eth1") && line.contains("as eth0")), "{text}");
    // The same port, but this function lost packets of its own.
    let own = with(json!([function("eth0", 0, 0, 1_234_567, 500), function("eth1", 1, 3001, 1_234_567, 99_000)]));
    assert_eq!(nic(&own, "eth1"), (Some(103_000), None));
}
