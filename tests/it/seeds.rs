//! The QNAP of seed 3: a 100GbE card in a Gen3 x4 slot, and the same card in Gen4 x16.
//!
//! reference/ceilings/ranges.md, section 3, gives 24.9-28.3 (typically 26.7) at MTU 1500 and 26.4-29.7 (28.2) at MTU 9000
//! for 16-byte descriptors. This card writes 32-byte completions and reads 32-byte transmit descriptors, which costs 16 bytes
//! a frame. Worked by hand from model.md 2.4, of 31.508e9 * (1 - 4/1538) / 8 = 3.9282e9 B/s, receive / transmit in Gb/s:
//!
//! - MTU 1500, payload 256: 26.49 / 27.00; payload 512: 27.65 / 27.99 -> 0.93 * 26.49 = 24.63, 0.97 * mean = 26.46
//! - MTU 9000, payload 256: 28.30 / 28.56; payload 512: 29.58 / 29.64 -> 26.31 and 28.15
//!
//! The upper end is the best of them without TCP timestamps: 27.99 * 1460/1448 = 28.22 and 29.64 * 8960/8948 = 29.68.

use netdoctor::capture::attach;
use netdoctor::facts::assign;
use netdoctor::reading::Source;
use netdoctor::report::model::{Finding, Recommendation, Report};
use netdoctor::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::support::{Folder, formats, read, report, snapshot};

fn seed(name: &str) -> Report {
    report(&snapshot(&read(format!("fixtures/seeds/{name}.json"))))
}

const NARROW: &str = "qnap-ts855x-mtu1500";

/// A seed with further fields of eth4, and what iperf3 printed for four streams from 10.0.0.3 to 10.0.0.2 in ten seconds.
fn measured(name: &str, eth4: &Value, gigabits: &str, retransmits: u64) -> Report {
    let mut document: Value = serde_json::from_str(&read(format!("fixtures/seeds/{name}.json"))).unwrap();
    for (field, value) in eth4.as_object().unwrap() {
        document["interfaces"][1][field] = value.clone();
    }
    let mut host = Snapshot::from_json(&document.to_string()).unwrap();
    let mut text = String::from("Connecting to host 10.0.0.2, port 5201\n");
    for stream in 0..4 {
        let port = 40_000 + stream;
        text += &format!("[  {}] local 10.0.0.3 port {port} connected to 10.0.0.2 port 5201\n", 5 + stream);
    }
    text += "[ ID] Interval           Transfer     Bitrate         Retr\n";
    for stream in 5..9 {
        text += &format!("[  {stream}]   0.00-10.00  sec  5.9 GBytes  5.1 Gbits/sec  1             sender\n");
    }
    text += &format!("[SUM]   0.00-10.00  sec  23.6 GBytes  {gigabits} Gbits/sec  {retransmits}             sender\n");
    text += &format!("[SUM]   0.00-10.00  sec  23.6 GBytes  {gigabits} Gbits/sec                  receiver\n");
    let folder = Folder::new();
    attach(&mut host, folder.write("iperf3.txt", text).as_ref(), Some("eth4")).unwrap();
    report(&host)
}

/// The steps that change something, with the rule that they belong to.
fn changes(report: &Report) -> Vec<(&str, &Recommendation)> {
    let steps = report.findings.iter().flat_map(|one| one.recommend.iter().map(|step| (one.rule.as_str(), step)));
    // What changes a setting can be taken back; reading needs no way back.
    steps.filter(|(_, step)| !step.undo.is_empty() || step.keep.is_some() && step.interrupts != "host").collect()
}

/// `tc` on the other host, where the interface is the one that leads to 10.0.0.2.
const THERE: &str = "$(ip -o route get 10.0.0.2 | grep -o 'dev [^ ]*')";

/// The one finding of a report.
fn only(report: &Report) -> &Finding {
    let [finding] = report.findings.as_slice() else { panic!("{} findings", report.findings.len()) };
    finding
}

#[test]
fn gen3_x4_limits_the_card() {
    for (name, mtu, range, exact) in [
        ("qnap-ts855x-mtu1500", 1500, "25-28 Gb/s", [24.63, 26.46, 28.22]),
        ("qnap-ts855x-mtu9000", 9000, "26-30 Gb/s", [26.31, 28.15, 29.68]),
    ] {
        let report = seed(name);
        let finding = only(&report);
        assert_eq!((finding.rule.as_str(), finding.kind.as_str()), ("pcie.path-below-link", "limit"), "{name}");
        assert_eq!(
            (finding.severity.as_str(), finding.confidence.as_str()),
            ("advice", "high"),
            "one input is assumed, but no value of it would widen the path enough"
        );
        assert_eq!(
            (finding.subject.as_str(), finding.interfaces.as_slice()),
            ("0000:01:00.0", &["eth4".to_owned()][..])
        );
        assert!(finding.why.contains("0000:00:1c.0"), "{name}: the hop is named: {}", finding.why);
        assert!(finding.why.contains("Gen3 x4") && finding.why.contains(range), "{name}: {}", finding.why);
        assert!(finding.impact.contains(range), "{name}: {}", finding.impact);
        assert!(
            finding.assumed.iter().any(|input| input.contains("256") && input.contains("512")),
            "{:?}",
            finding.assumed
        );
        assert_eq!(finding.assumed.len(), 1, "nothing but the payload size is assumed: {:?}", finding.assumed);

        let row = report.interfaces.iter().find(|row| row.name == "eth4").unwrap();
        assert_eq!(row.mtu, Some(mtu), "{name}");
        let ceiling = row.ceiling.as_ref().unwrap();
        for (bps, worked) in [ceiling.lo_bps, ceiling.typical_bps, ceiling.hi_bps].into_iter().zip(exact) {
            assert!((bps / 1e9 - worked).abs() < 0.01, "{name}: {bps} is not {worked} Gb/s");
        }
        assert_eq!((ceiling.binding.as_str(), ceiling.confidence.as_str()), ("pcie", "medium"));
        // The finding is about the path, the table about what is sent as well.
        let (shaper, path) = ceiling.assumed.split_last().unwrap();
        assert_eq!(path, finding.assumed, "table and finding assume the same");
        assert!(shaper.contains("no shaper"), "{shaper}");
        let pcie = row.pcie.as_ref().unwrap();
        assert_eq!((pcie.generation, pcie.width, pcie.narrowest.as_deref()), (Some(3), Some(4), Some("0000:00:1c.0")));

        let hand_worked = 8e9 * 4.0 * 128.0 / 130.0;
        let raw = pcie.path[0].raw_bps.unwrap();
        assert!((raw - hand_worked).abs() < 1.0, "{name}: {raw}");
    }
}

#[test]
fn the_limit_is_no_alarm() {
    let report = seed("qnap-ts855x-mtu1500");
    assert!(report.answer.starts_with("Nothing wrong found"), "{}", report.answer);
    assert!(report.answer.contains("25-28 Gb/s"), "{}", report.answer);
    // Whatever else is open: the range of the answer narrows for certain.
    for name in [NARROW, "qnap-ts855x-mtu9000"] {
        assert_eq!(seed(name).next_command.as_deref(), Some("sudo lspci -vvv -s 0000:01:00.0"), "{name}");
    }
    // The 2.5 Gb/s port beside it is judged by its link alone.
    let small = report.interfaces.iter().find(|row| row.name == "eth0").unwrap();
    assert_eq!(small.ceiling.as_ref().unwrap().binding, "link");
}

#[test]
fn gen4_x16_limits_nothing() {
    let report = seed("qnap-tsh1277afx");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let passes = |rule: &str| report.checks.iter().find(|check| check.result == "passes" && check.rule == rule);
    assert_eq!(passes("pcie.path-below-link").unwrap().subjects, ["0000:01:00.0"]);
    let row = report.interfaces.iter().find(|row| row.name == "eth4").unwrap();
    assert_eq!(row.ceiling.as_ref().unwrap().binding, "link");
}

#[test]
fn with_the_payload_size_read_the_next_command_is_another() {
    let mut host = snapshot(&read(format!("fixtures/seeds/{NARROW}.json")));
    for set in ["0000:01:00.0.pcie.mps=256B", "0000:01:00.0.pcie.mrrs=512B"] {
        assign(&mut host, set, Source::assumed("test")).unwrap();
    }
    let next = report(&host).next_command.unwrap();
    assert!(!next.contains("lspci"), "{next}");
}

#[test]
fn below_the_ceiling_the_sender_is_paced_first() {
    let report = measured(NARROW, &json!({}), "20.3", 33_857);
    assert!(report.answer.starts_with("eth4 reached 20.3 Gb/s."), "{}", report.answer);
    assert!(report.answer.contains("expect 25-28 Gb/s"), "{}", report.answer);
    let first = &report.findings[0];
    assert_eq!((first.rule.as_str(), first.severity.as_str()), ("tcp.retrans-high", "warning"));
    let changes = changes(&report);
    let rules: Vec<&str> = changes.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(rules, ["tcp.retrans-high", "tcp.retrans-high", "tcp.retrans-high", "mtu.jumbo-candidate"]);

    // 0.98 * 26.46 Gb/s / 4 flows = 6483 Mb/s. Nobody knows which end this host was, so both are told under their condition.
    let here = changes[0].1;
    assert_eq!((here.place.as_str(), here.interrupts.as_str(), here.hits_session), ("here", "none", false));
    assert!(here.action.starts_with("If this host was the sender"), "{}", here.action);
    assert_eq!(here.commands, ["tc qdisc show dev eth4", "tc qdisc replace dev eth4 root fq maxrate 6480mbit"]);
    assert_eq!(here.undo, ["tc qdisc del dev eth4 root"]);
    assert!(here.risk.contains("mq") && here.gain.contains("up to 25-28 Gb/s") && here.verify.contains("Retr"));
    let keep = here.keep.as_ref().unwrap();
    assert_eq!(keep.manager.as_deref(), Some("QNAP QTS"));
    assert_eq!(keep.lines, ["tc qdisc replace dev eth4 root fq maxrate 6480mbit"]);

    let there = changes[1].1;
    assert_eq!((there.place.as_str(), there.interrupts.as_str(), there.hits_session), ("peer", "none", false));
    assert!(there.action.starts_with("If the other host was the sender"), "{}", there.action);
    let pace = format!("tc qdisc replace {THERE} root fq maxrate 6480mbit");
    assert_eq!(there.commands, [format!("tc qdisc show {THERE}"), pace]);
    assert_eq!(there.undo, [format!("tc qdisc del {THERE} root")]);

    let pause = changes[2].1;
    assert_eq!((pause.place.as_str(), pause.interrupts.as_str(), pause.hits_session), ("here", "link", false));
    assert_eq!(pause.commands, ["ethtool -A eth4 rx on tx on"]);
    assert_eq!(pause.undo, ["ethtool -A eth4 rx off tx off"]);
    for word in ["head-of-line", "pause storm", "priority flow control"] {
        assert!(pause.risk.contains(word), "{word}: {}", pause.risk);
    }
    assert!(pause.action.contains("switch ports of both"), "{}", pause.action);
    assert!(pause.verify.contains("RX and TX on"), "{}", pause.verify);
}

#[test]
fn where_it_is_known_who_sent_only_that_host_is_paced() {
    let commands = |report: &Report, rule: &str| -> Vec<(String, String)> {
        let steps = changes(report)
            .into_iter()
            .filter(|(one, step)| *one == rule && step.commands.iter().any(|c| c.contains("fq maxrate")));
        steps.map(|(_, step)| (step.place.clone(), step.undo.join("; "))).collect()
    };
    let qdiscs = json!([[{"kind": "mq", "parent": "root"}, {"kind": "fq_codel", "parent": ":1"}], "assumed"]);
    let sent = measured(NARROW, &json!({"addresses": [["10.0.0.3/24"], "assumed"], "qdiscs": qdiscs}), "20.3", 33_857);
    let here = [("here".to_owned(), "tc qdisc replace dev eth4 root mq".to_owned())];
    assert_eq!(commands(&sent, "tcp.retrans-high"), here);
    let received = measured(NARROW, &json!({"addresses": [["10.0.0.2/24"], "assumed"]}), "20.3", 33_857);
    let there = [("peer".to_owned(), format!("tc qdisc del {THERE} root"))];
    assert_eq!(commands(&received, "tcp.retrans-high"), there);
}

#[test]
fn pause_that_is_on_is_not_offered() {
    let on = json!({"pause": {"autoneg": [false, "assumed"], "rx": [true, "assumed"], "tx": [true, "assumed"]}});
    for eth4 in [on, json!({"pause": {}})] {
        let report = measured(NARROW, &eth4, "20.3", 33_857);
        assert!(changes(&report).iter().all(|(_, step)| !step.commands.join(" ").contains("ethtool -A")), "{eth4}");
    }
}

#[test]
fn the_session_is_named_where_it_runs_over_the_port() {
    let session = json!({"session": {"is_session": [true, "assumed"]}});
    let report = measured(NARROW, &session, "20.3", 33_857);
    let hits: Vec<bool> = changes(&report).iter().map(|(_, step)| step.hits_session).collect();
    // Pacing interrupts nothing, here or there; pause and jumbo frames take the link down.
    assert_eq!(hits, [false, false, true, true]);
}

/// Frames that the line damages are a fault of their own, also where the path is full.
#[test]
fn at_the_ceiling_what_is_broken_is_told_beside_it() {
    let damaged = json!({"counters": [{"group": "ethtool_statistics", "source": "/dev/null", "at_ms": [0, 10000],
        "counters": [["rx_packets", 1_000_000, 9_000_000], ["rx_fcs_err_frames", 10, 90_000]]}]});
    let report = measured(NARROW, &damaged, "28.0", 0);
    assert!(report.answer.contains("that is its ceiling"), "{}", report.answer);
    assert!(report.answer.contains("Beside it: Frames arrive damaged"), "{}", report.answer);
    assert!(!report.answer.contains("anything else"), "{}", report.answer);
}

#[test]
fn at_the_ceiling_nothing_else_is_advised() {
    for (name, retransmits) in
        [(NARROW, 0), (NARROW, 60_000), ("qnap-ts855x-mtu9000", 0), ("qnap-ts855x-mtu9000", 60_000)]
    {
        let report = measured(name, &json!({}), "28.0", retransmits);
        assert!(report.answer.starts_with("eth4 reached 28 Gb/s: that is its ceiling"), "{name}: {}", report.answer);
        let roots: Vec<&str> =
            report.findings.iter().filter(|one| one.under.is_none()).map(|one| one.rule.as_str()).collect();
        assert_eq!(roots, ["pcie.path-below-link"], "{name}, {retransmits}");
        assert_eq!(changes(&report), [], "{name}, {retransmits}");
        // What is sent again at the ceiling is what waits for it.
        let below: Vec<_> = report.findings.iter().filter_map(|one| one.under.as_deref()).collect();
        assert_eq!(below, vec!["pcie.path-below-link"; usize::from(retransmits > 0)], "{name}");
        for (format, text) in formats(&report) {
            for change in ["tc qdisc", "ethtool -A", "mtu 9000", "sysctl -w"] {
                assert!(!text.contains(change), "{name}, {format}: {change}");
            }
        }
    }
}
