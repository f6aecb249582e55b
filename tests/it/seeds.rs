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

use netdoctor::report::model::{Finding, Report};

use crate::support::{read, report, snapshot};

fn seed(name: &str) -> Report {
    report(&snapshot(&read(format!("fixtures/seeds/{name}.json"))))
}

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
            ("advice", "medium"),
            "one input is assumed"
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
        assert_eq!(ceiling.assumed, finding.assumed, "table and finding assume the same");
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
    // The report names the command that would decide most of what is open.
    assert!(report.next_command.is_some());
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
