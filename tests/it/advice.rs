//! What the report tells people to type: complete commands, also where readings are missing, kept in the way of the host.

use std::collections::BTreeSet;
use std::process::Command;

use netdoctor::advice::flaw;
use netdoctor::facts::{Catalogue, Put, assign, set};
use netdoctor::reading::{Gap, GapKind, Reading, Source, SourceId};
use netdoctor::report::model::{Recommendation, Report};
use netdoctor::rulecheck::{given, lint, read_tests};
use netdoctor::rules::RuleSet;
use netdoctor::snapshot::Snapshot;
use serde_json::json;

use crate::support::{fixtures, formats, known_readings, report, report_by, repository, snapshot, trials};

/// Every snapshot that some rule has something to say of: fixtures, and the cases of all rules.
fn hosts() -> Vec<(String, Snapshot)> {
    let fixtures = fixtures().into_iter().map(|(name, text)| (name, snapshot(&text)));
    let cases = read_tests(&repository().join("rules/tests")).unwrap();
    fixtures.chain(cases.iter().flat_map(given)).collect()
}

fn steps(report: &Report) -> impl Iterator<Item = (&str, &Recommendation)> {
    report.findings.iter().flat_map(|one| one.recommend.iter().map(|step| (one.rule.as_str(), step)))
}

/// All that is meant to be typed, each with where it stands.
fn typed(report: &Report) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (rule, step) in steps(report) {
        let keep = step.keep.as_ref().map_or(&[][..], |keep| keep.commands.as_slice());
        all.extend(step.commands.iter().chain(&step.undo).chain(keep).map(|one| (rule.to_owned(), one.clone())));
    }
    all.extend(report.next_command.iter().map(|one| ("next".to_owned(), one.clone())));
    all.extend(report.not_seen.iter().map(|one| ("not seen".to_owned(), one.command.clone())));
    let missing = report
        .checks
        .iter()
        .flat_map(|check| check.missing.iter().map(|one| (check.rule.clone(), one.command.clone())));
    all.extend(missing);
    all.retain(|(_, command)| !command.is_empty());
    all
}

/// Each known reading of a snapshot in turn, removed.
fn removals(snapshot: &Snapshot, turn: usize) -> impl Iterator<Item = (String, Snapshot)> {
    trials(known_readings(snapshot), 50, turn).into_iter().map(|(key, path)| {
        let mut without = snapshot.clone();
        let gap = without.origins.gap(Gap::new(GapKind::Failed).detail("removed by the test"));
        set(&mut without, key.entity, &path, &Put::Unknown(gap)).unwrap();
        (Catalogue::shared().full_path(key), without)
    })
}

#[test]
fn every_command_can_be_typed_as_it_stands() {
    let rules = RuleSet::embedded();
    let mut seen = BTreeSet::new();
    let mut advising = BTreeSet::new();
    for (turn, (name, host)) in hosts().into_iter().enumerate() {
        let whole = report_by(&rules, &host);
        advising.extend(steps(&whole).filter(|(_, step)| !step.commands.is_empty()).map(|(rule, _)| rule.to_owned()));
        let mut reports = vec![("nothing".to_owned(), whole)];
        if !reports[0].1.findings.is_empty() {
            reports.extend(removals(&host, turn).map(|(fact, host)| (fact, report_by(&rules, &host))));
        }
        for (removed, report) in reports {
            for (place, command) in typed(&report) {
                assert_eq!(flaw(&command), None, "{name} without {removed}, {place}: {command}");
                seen.insert(command);
            }
        }
    }
    let all: BTreeSet<String> = rules.ids().map(str::to_owned).collect();
    assert_eq!(advising, all, "a rule whose commands no case renders");
    // The shell reads each of them as one command line.
    for command in &seen {
        let read = Command::new("/bin/sh").args(["-n", "-c", command]).output().unwrap();
        assert!(read.status.success(), "{command}: {}", String::from_utf8_lossy(&read.stderr));
    }
    assert!(seen.len() > 100, "only {} commands", seen.len());
}

#[test]
fn no_rule_writes_a_placeholder() {
    let problems = lint(&RuleSet::embedded());
    assert!(problems.is_empty(), "{problems:?}");
}

/// A port of 1 Gb/s that loses packets for want of a larger ring.
fn starved(platform: &serde_json::Value) -> Snapshot {
    let counters = |group: &str, rows: serde_json::Value| json!({"group": group, "source": "assumed", "at_ms": [0, 3000], "counters": rows});
    snapshot(
        &json!({"schema": "netdoctor.snapshot/1", "sample": {"source": "live", "seconds": 3},
            "host": {"platform": platform},
            "interfaces": [{"name": "eth0", "kind": ["ethernet", "assumed"], "port": {"physical": [true, "assumed"]},
                "driver": {"name": ["mlx5_core", "assumed"]},
                "link": {"up": [true, "assumed"], "speed": [25_000_000_000_u64, "assumed"]},
                "ring": {"rx": [1024, "assumed"], "rx_max": [8192, "assumed"]},
                "counters": [counters("rtnl_link_stats64", json!([["rx_packets", 0, 1_000_000]])),
                    counters("ethtool_statistics", json!([["rx_out_of_buffer", 0, 5000]]))]}]})
        .to_string(),
    )
}

fn ring_step(report: &Report) -> &Recommendation {
    let found = steps(report)
        .find(|(rule, step)| *rule == "ring.rx-starved" && step.commands.iter().any(|one| one.contains("-G")));
    found.unwrap().1
}

#[test]
fn a_setting_is_kept_in_the_way_of_the_host() {
    let command = "ethtool -G eth0 rx 2048";
    for (platform, manager, line) in [
        ("qnap_qts", "QNAP QTS", command.to_owned()),
        ("synology_dsm", "Synology DSM", command.to_owned()),
        ("truenas", "TrueNAS", command.to_owned()),
        ("proxmox", "ifupdown2 of Proxmox", format!("post-up {command} || true")),
    ] {
        let report = report(&starved(&json!([platform, "assumed"])));
        let step = ring_step(&report);
        assert_eq!(step.commands, [command], "{platform}");
        let keep = step.keep.as_ref().unwrap();
        assert_eq!(keep.manager.as_deref(), Some(manager));
        assert_eq!((keep.lines.as_slice(), keep.commands.len(), keep.likely.len()), (&[line][..], 0, 0), "{platform}");
        // The contract's list holds the same, line by line.
        assert_eq!(step.persist, [&[keep.note.clone()][..], &keep.lines].concat());
    }
}

#[test]
fn where_nobody_knows_the_manager_one_line_says_so() {
    for (platform, usual, likely) in [
        (json!(["debian", "assumed"]), "usual here: NetworkManager, systemd-networkd, ifupdown", 3),
        (json!(["fedora", "assumed"]), "usual here: NetworkManager", 1),
        (json!(["ubuntu", "assumed"]), "usual here: netplan", 1),
        (json!(["an-unheard-of-system", "assumed"]), "was not read", 4),
        (json!({"unknown": "failed"}), "was not read", 4),
    ] {
        let report = report(&starved(&platform));
        let step = ring_step(&report);
        let keep = step.keep.as_ref().unwrap();
        assert!(keep.note.ends_with(usual), "{platform}: {}", keep.note);
        assert_eq!((&keep.manager, keep.lines.len(), keep.commands.len()), (&None, 0, 0), "{platform}");
        assert_eq!(keep.likely.len(), likely, "{platform}");
        assert_eq!(step.persist, std::slice::from_ref(&keep.note), "{platform}");
        for (format, text) in formats(&report) {
            // What the likely ones need is for those who ask, and no command.
            let short = matches!(format.as_str(), "text 80" | "text 200");
            assert!(!short || !text.contains("RxBufferSize"), "{platform}, {format}");
            assert!(!text.contains("nmcli connection") && !text.contains("post-up ethtool"), "{platform}, {format}");
        }
    }
}

/// Two alike ports whose driver was not asked for its counters; over the second a test was measured in which segments were lost.
fn lossy() -> Snapshot {
    let port = |name: &str| {
        json!({"name": name, "kind": ["ethernet", "assumed"], "device": {"absent": "assumed"}, "admin_up": [true, "assumed"],
            "mtu": [1500, "assumed"], "port": {"physical": [true, "assumed"], "connector": ["fibre", "assumed"]},
            "driver": {"name": ["mlx5_core", "assumed"]},
            "link": {"up": [true, "assumed"], "speed": [25_000_000_000_u64, "assumed"], "duplex": ["full", "assumed"],
                "autoneg": [false, "assumed"], "carrier_down": [0, "assumed"]}})
    };
    let result = json!({"tool": "iperf3", "rate": [15_000_000_000_u64, "assumed"], "duration": [30, "assumed"],
        "streams": [4, "assumed"], "retransmits": [90_000, "assumed"], "sends": [false, "assumed"], "interface": ["eth1", "assumed"]});
    let document = json!({"schema": "netdoctor.snapshot/1", "sample": {"source": "live", "seconds": 0},
        "host": {"measured": [[result], "assumed"]}, "interfaces": [port("eth0"), port("eth1")]});
    snapshot(&document.to_string())
}

#[test]
fn a_symptom_without_its_cause_asks_for_the_counters_of_its_way() {
    let report = report(&lossy());
    assert_eq!(report.findings[0].rule, "tcp.retrans-high");
    let next = report.next_command.unwrap();
    assert!(next.starts_with("ethtool -S eth1"), "{next}");
}

#[test]
fn a_doubtful_measurement_is_repeated_where_the_other_end_is_known() {
    let mut host = lossy();
    for set in ["iperf3 result 1.streams=1", "iperf3 result 1.peer=192.0.2.9"] {
        assign(&mut host, set, Source::assumed("test")).unwrap();
    }
    let again = "iperf3 -c 192.0.2.9 -P 4 -t 30; iperf3 -c 192.0.2.9 -P 4 -t 30 -R";
    assert_eq!(report(&host).next_command.as_deref(), Some(again));
    // The result that the other end printed names this host, which nobody measures against.
    let own = Reading::Known(vec!["192.0.2.9/24".to_owned()], SourceId::ASSUMED);
    host.interfaces[1].addresses = own;
    assert_ne!(report(&host).next_command.as_deref(), Some(again));
    assign(&mut host, "iperf3 result 1.peer=unknown", Source::assumed("test")).unwrap();
    assert!(!report(&host).next_command.unwrap().contains("iperf3"));
}

#[test]
fn words_are_told_from_what_is_typed() {
    let report = report(&starved(&json!(["proxmox", "assumed"])));
    for (format, text) in formats(&report) {
        let line = "post-up ethtool -G eth0 rx 2048 || true";
        let alone = |line: &str| text.lines().any(|one| one.trim() == line);
        match format.as_str() {
            "md" => assert!(
                text.contains("  ```\n  post-up ethtool") && text.contains("  ```sh\n  ethtool -G eth0 rx 2048\n")
            ),
            "html" => assert!(text.contains(&format!("<pre><code>{line}</code></pre>"))),
            "json" => {}
            _ => assert!(alone(line) && alone("ethtool -G eth0 rx 2048"), "{format}: {text}"),
        }
        assert!(text.contains("In the stanza of eth0"), "{format}");
    }
}
