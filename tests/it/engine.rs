//! The engine on small rule sets and hand-made hosts: arms, varying kinds and severities, strata, folding, templates.

use netdoctor::facts::Facts;
use netdoctor::knowledge::Knowledge;
use netdoctor::report::model::Report;
use netdoctor::rules::schema::{Confidence, Kind, Severity};
use netdoctor::rules::{ArmName, Finding, RuleSet, Verdict, diagnose, parse_file};
use netdoctor::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::support::{report_by, rules, snapshot};

/// A rule in one line of what matters here; the rest is what every rule must have.
pub fn rule(id: &str, scope: &str, lines: &str) -> String {
    let mut text = format!("- id: {id}\n  title: {id}\n  scope: {scope}\n");
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        text += &format!("  {line}\n");
    }
    for (key, value) in [
        ("kind", "risk"),
        ("severity", "warning"),
        ("confidence", "high"),
        ("why", "w"),
        ("impact", "i"),
        ("recommend", "[{do: act, commands: ['true'], persist: none, interrupts: none, verify: v}]"),
        ("sources", "[{from: test, checked: known}]"),
    ] {
        if !lines.lines().any(|line| line.trim().starts_with(&format!("{key}:"))) {
            text += &format!("  {key}: {value}\n");
        }
    }
    text
}

/// A snapshot out of its fields.
pub fn host(fields: Value) -> Snapshot {
    let mut document = fields;
    document["schema"] = "netdoctor.snapshot/1".into();
    snapshot(&document.to_string())
}

/// What a rule says of a subject.
#[derive(Debug)]
struct Said {
    verdict: Verdict,
    missing: Vec<String>,
    finding: Option<Finding>,
}

fn ask(rules: &RuleSet, snapshot: &Snapshot, id: &str, subject: &str) -> Said {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    let wanted = facts.find(subject).unwrap_or_else(|| panic!("no {subject}"));
    let position = rules.position(id).unwrap_or_else(|| panic!("no rule {id}"));
    let outcomes = diagnose(rules, &facts).outcomes;
    let outcome = outcomes.into_iter().find(|one| one.rule == position && one.subject == wanted).unwrap();
    let missing = facts.gaps_below(&outcome.missing).keys().map(|key| facts.path(*key)).collect();
    Said { verdict: outcome.verdict, missing, finding: outcome.finding }
}

impl Said {
    fn finding(&self) -> &Finding {
        self.finding.as_ref().unwrap_or_else(|| panic!("no finding: {:?}", self.verdict))
    }

    fn loudness(&self) -> (Kind, Severity, Confidence) {
        let finding = self.finding();
        (finding.kind, finding.severity, finding.confidence)
    }
}

// ---- arms ----

/// An interface with CRC errors and received packets at each sample, `seconds` apart.
fn counted(seconds: f64, errors: &[u64], packets: &[u64], uptime: Option<f64>) -> Snapshot {
    let at: Vec<u64> = (0..errors.len()).map(|sample| sample as u64 * (seconds * 1000.0) as u64).collect();
    let row = |name: &str, values: &[u64]| {
        let cells = std::iter::once(Value::from(name)).chain(values.iter().map(|value| Value::from(*value)));
        Value::from(cells.collect::<Vec<_>>())
    };
    let mut rows = vec![row("rx_crc_errors", errors)];
    if !packets.is_empty() {
        rows.push(row("rx_packets", packets));
    }
    let mut document = json!({"interfaces": [{"name": "eth0", "kind": ["ethernet", "assumed"],
        "counters": [{"group": "rtnl_link_stats64", "source": "assumed", "at_ms": at, "counters": rows}]}]});
    if let Some(uptime) = uptime {
        document["host"] = json!({"uptime": [uptime, "assumed"]});
    }
    host(document)
}

fn arms(lines: &str) -> RuleSet {
    let arms = format!("when: arms\nkind: fault\narms: {{count: [rx_crc_errors], of: [rx_packets], {lines}}}");
    rules(&rule("link.crc", "interface", &arms))
}

const ALL_ARMS: &str = "delta: {min: 3, above: 1ppm, floor: 1e5, confidence: high}, \
    repeat: {min: 5, confidence: medium}, totals: {min: 100, above: 1ppm, floor: 1e6, confidence: medium}";

#[test]
fn the_delta_arm_goes_by_growth_and_ratio() {
    let rules = arms(ALL_ARMS);
    for (what, errors, packets, seconds, verdict) in [
        // 10 of 1 000 000 are 10 ppm.
        ("above", [0, 10], [0, 1_000_000], 3.0, Verdict::Fires),
        ("exactly at the ratio is not above it", [0, 3], [0, 3_000_000], 3.0, Verdict::Passes),
        ("below min", [0, 2], [0, 1_000_000], 3.0, Verdict::Passes),
        ("min is enough", [0, 3], [0, 1_000_000], 3.0, Verdict::Fires),
        ("few packets: the growth itself is the proof", [0, 3], [0, 50_000], 3.0, Verdict::Fires),
        ("few packets and no growth prove nothing", [0, 0], [0, 50_000], 3.0, Verdict::Unknown),
        ("a short window proves nothing", [0, 0], [0, 1_000_000], 1.0, Verdict::Unknown),
        ("still", [7, 7], [0, 1_000_000], 3.0, Verdict::Passes),
        ("a reset proves nothing", [10, 4], [0, 1_000_000], 3.0, Verdict::Unknown),
    ] {
        let said = ask(&rules, &counted(seconds, &errors, &packets, None), "link.crc", "eth0");
        assert_eq!(said.verdict, verdict, "{what}");
        if verdict == Verdict::Fires {
            let held = said.finding().arm.clone().unwrap();
            assert_eq!((held.name, held.count, held.not_growing), (ArmName::Delta, errors[1] as f64, false), "{what}");
            assert_eq!(held.ratio, Some(errors[1] as f64 / packets[1] as f64), "{what}");
            assert_eq!(held.rate, Some(errors[1] as f64 / seconds), "{what}");
            assert_eq!(said.loudness(), (Kind::Fault, Severity::Warning, Confidence::High), "{what}");
        }
    }
    // Without its denominator the growth counts, one step less sure.
    let said = ask(&rules, &counted(3.0, &[0, 10], &[], None), "link.crc", "eth0");
    assert_eq!(said.loudness(), (Kind::Fault, Severity::Warning, Confidence::Medium));
}

#[test]
fn a_share_needs_its_floor() {
    let rules = arms("delta: {min: 1, share: 10%, floor: 1000}");
    for (errors, packets, verdict) in [
        ([0, 200], [0, 1000], Verdict::Fires),
        ([0, 100], [0, 1000], Verdict::Passes),
        ([0, 900], [0, 999], Verdict::Unknown),
    ] {
        let said = ask(&rules, &counted(3.0, &errors, &packets, None), "link.crc", "eth0");
        assert_eq!(said.verdict, verdict, "{errors:?} of {packets:?}");
    }
}

#[test]
fn a_rate_is_per_second() {
    let rules = arms("delta: {min: 1, rate: 10/s}");
    // 30 in 3 s are 10 a second: at the threshold, not above it.
    for (grown, verdict) in [(30, Verdict::Passes), (31, Verdict::Fires)] {
        let said = ask(&rules, &counted(3.0, &[0, grown], &[0, 1_000_000], None), "link.crc", "eth0");
        assert_eq!(said.verdict, verdict, "{grown}");
    }
}

#[test]
fn the_repeat_arm_takes_over_where_no_time_is_known() {
    let rules = arms(ALL_ARMS);
    let pasted = |errors: [u64; 2]| {
        let counters = json!([["rx_crc_errors", errors[0], errors[1]], ["rx_packets", 0, 1_000_000]]);
        host(json!({"interfaces": [{"name": "eth0", "counters":
            [{"group": "rtnl_link_stats64", "source": "assumed", "at_ms": [0, 0], "counters": counters}]}]}))
    };
    let said = ask(&rules, &pasted([0, 50]), "link.crc", "eth0");
    let held = said.finding().arm.clone().unwrap();
    assert_eq!((held.name, held.count, held.rate), (ArmName::Repeat, 50.0, None));
    assert_eq!(said.loudness().2, Confidence::Medium);
    // `min` of repeat is 5 of its own; what it does not state it takes from delta.
    assert_eq!(ask(&rules, &pasted([0, 4]), "link.crc", "eth0").verdict, Verdict::Passes);
    assert_eq!(ask(&rules, &pasted([0, 5]), "link.crc", "eth0").verdict, Verdict::Fires, "5 ppm are above 1 ppm");
}

#[test]
fn totals_are_weaker_and_say_so() {
    let rules = arms(ALL_ARMS);
    let one = |errors, packets: &[u64]| counted(0.0, &[errors], packets, None);
    for (what, snapshot, verdict) in [
        ("above", one(100, &[10_000_000]), Verdict::Fires),
        ("below min", one(99, &[10_000_000]), Verdict::Unknown),
        ("below the ratio", one(100, &[1_000_000_000]), Verdict::Unknown),
        ("below the floor", one(100, &[999_999]), Verdict::Unknown),
        ("no denominator", one(100, &[]), Verdict::Fires),
    ] {
        // With one sample the delta arm is open, so totals that do not hold prove nothing yet.
        assert_eq!(ask(&rules, &snapshot, "link.crc", "eth0").verdict, verdict, "{what}");
    }
    let said = ask(&rules, &one(100, &[10_000_000]), "link.crc", "eth0");
    let held = said.finding().arm.clone().unwrap();
    assert_eq!((held.name, held.count, held.rate, held.not_growing), (ArmName::Totals, 100.0, None, false));
    assert_eq!(said.loudness(), (Kind::Fault, Severity::Warning, Confidence::Medium));
    assert_eq!(ask(&rules, &one(100, &[]), "link.crc", "eth0").loudness().2, Confidence::Low);
    // A rule of totals alone can pass.
    let alone = arms("totals: {min: 100}");
    assert_eq!(ask(&alone, &one(99, &[]), "link.crc", "eth0").verdict, Verdict::Passes);
}

#[test]
fn what_grew_once_and_stands_still_is_only_worth_knowing() {
    let rules = arms(ALL_ARMS);
    // 500 of 10 000 000 since the driver was loaded; in the sample 1 000 000 packets without a further one.
    let said = ask(&rules, &counted(3.0, &[500, 500], &[9_000_000, 10_000_000], None), "link.crc", "eth0");
    assert_eq!(said.verdict, Verdict::Fires);
    let held = said.finding().arm.clone().unwrap();
    assert_eq!((held.name, held.not_growing), (ArmName::Totals, true));
    assert_eq!(said.loudness().1, Severity::Info);
    // With too little traffic to tell, the totals keep their voice.
    let said = ask(&rules, &counted(3.0, &[500, 500], &[9_999_990, 10_000_000], None), "link.crc", "eth0");
    assert_eq!((said.finding().arm.clone().unwrap().not_growing, said.loudness().1), (false, Severity::Warning));
}

#[test]
fn a_count_per_day_needs_the_uptime() {
    for threshold in ["3", "3/d", "0.125/h"] {
        per_day(&arms(&format!("totals: {{min: 3, per_day: {threshold}}}")));
    }
}

fn per_day(rules: &RuleSet) {
    let with = |errors, uptime| counted(0.0, &[errors], &[1_000_000], uptime);
    for (what, snapshot, verdict) in [
        ("40 in 10 days are 4 a day", with(40, Some(864_000.0)), Verdict::Fires),
        ("30 in 10 days are 3 a day, not more", with(30, Some(864_000.0)), Verdict::Passes),
        ("without an uptime the count alone", with(30, None), Verdict::Fires),
    ] {
        assert_eq!(ask(rules, &snapshot, "link.crc", "eth0").verdict, verdict, "{what}");
    }
}

#[test]
fn thresholds_are_checked_with_their_units() {
    for (arm, told) in [
        ("delta: {min: 3s}", "3s"),
        ("delta: {above: 1MB}", "1MB"),
        ("delta: {rate: 10}", "10"),
        ("totals: {per_day: 1GB}", "1GB"),
        ("totals: {floor: many}", "many"),
        ("totals: {min: 1, when: iface.mtu < 9000B}", "iface.mtu < 9000B"),
    ] {
        let text = rule("link.crc", "interface", &format!("when: arms\narms: {{count: [rx_crc_errors], {arm}}}"));
        let set = RuleSet::compile(parse_file("test.yaml", &text).0);
        assert_eq!((set.rules().len(), set.problems.len()), (0, 1), "{arm}: {:?}", set.problems);
        let shown = &set.problems[0].text;
        assert!(shown.contains("test.yaml:") && shown.contains(told) && shown.contains('^'), "{arm}: {shown}");
    }
    let (specs, _) = parse_file(
        "test.yaml",
        &rule("link.crc", "interface", "when: arms\narms: {count: [rx_crc_error], delta: {min: 1}}"),
    );
    let problems = RuleSet::compile(specs).problems;
    assert!(problems[0].text.contains("did you mean `rx_crc_errors`?"), "{}", problems[0]);
}

#[test]
fn an_interface_without_the_counter_is_not_concerned() {
    // bnxt_en has no early sign of a starved ring, so such a rule does not concern a port of it whose statistics were read.
    let rules =
        rules(&rule("link.crc", "interface", "when: arms\narms: {count: [rx_no_buffer_early], delta: {min: 1}}"));
    let block =
        json!({"group": "ethtool_statistics", "source": "assumed", "at_ms": [0], "counters": [["rx_packets", 5]]});
    let port = json!({"name": "v", "kind": ["ethernet", "assumed"], "driver": {"name": ["bnxt_en", "assumed"]}, "counters": [block]});
    let both = host(json!({"interfaces": [port, {"name": "e"}]}));
    assert_eq!(ask(&rules, &both, "link.crc", "v").verdict, Verdict::NotApplicable);
    // Nobody read the counters of the other one.
    let unread = ask(&arms(ALL_ARMS), &both, "link.crc", "e");
    assert_eq!(unread.verdict, Verdict::Unknown);
    assert!(unread.missing.iter().any(|fact| fact.starts_with("iface.counter.rx_crc_errors")), "{:?}", unread.missing);
}

// ---- kinds, severities, confidences ----

fn mtu(fields: &Value) -> Snapshot {
    let mut interface = json!({"name": "eth0", "mtu": [1500, "assumed"]});
    for (name, value) in fields.as_object().unwrap() {
        interface[name] = value.clone();
    }
    host(json!({"interfaces": [interface]}))
}

#[test]
fn the_first_case_that_holds_wins() {
    let rules = rules(&rule(
        "mtu.small",
        "interface",
        "when: iface.mtu < 9000B
         kind_when: [{is: fault, when: iface.mtu < 1000B}, {is: hygiene, when: iface.txqueuelen > 100}]
         severity_when: [{is: critical, when: iface.mtu < 1000B}, {is: info, when: iface.mtu < 1400B}, {is: advice, when: iface.txqueuelen > 100}]
         confidence_when: [{is: low, when: iface.mtu < 1400B}, {is: medium, when: iface.txqueuelen > 100}]",
    ));
    for (size, queue, expected) in [
        (900, 1, (Kind::Fault, Severity::Critical, Confidence::Low)),
        (1300, 1, (Kind::Risk, Severity::Info, Confidence::Low)),
        (1500, 1000, (Kind::Hygiene, Severity::Advice, Confidence::Medium)),
        (1500, 1, (Kind::Risk, Severity::Warning, Confidence::High)),
    ] {
        let host = mtu(&json!({"mtu": [size, "assumed"], "txqueuelen": [queue, "assumed"]}));
        assert_eq!(ask(&rules, &host, "mtu.small", "eth0").loudness(), expected, "{size} {queue}");
    }
}

#[test]
fn an_unread_refinement_never_makes_a_finding_louder() {
    // The default is a warning; unread, the case counts where it is the quieter one.
    let of = |case: &str| {
        let text = format!("when: iface.mtu < 9000B\nseverity_when: [{{is: {case}, when: iface.txqueuelen > 100}}]");
        rules(&rule("mtu.small", "interface", &text))
    };
    let unread = mtu(&json!({}));
    assert_eq!(ask(&of("critical"), &unread, "mtu.small", "eth0").loudness().1, Severity::Warning);
    assert_eq!(ask(&of("info"), &unread, "mtu.small", "eth0").loudness().1, Severity::Info);
    let kinds = rules(&rule(
        "mtu.small",
        "interface",
        "when: iface.mtu < 9000B
         kind_when: [{is: fault, when: iface.txqueuelen > 100}]
         confidence_when: [{is: medium, when: iface.txqueuelen > 100}]",
    ));
    assert_eq!(
        ask(&kinds, &unread, "mtu.small", "eth0").loudness(),
        (Kind::Risk, Severity::Warning, Confidence::Medium)
    );
    let quieter = rules(&rule(
        "mtu.small",
        "interface",
        "kind: fault\nwhen: iface.mtu < 9000B\nkind_when: [{is: limit, when: iface.txqueuelen > 100}]",
    ));
    assert_eq!(ask(&quieter, &unread, "mtu.small", "eth0").loudness().0, Kind::Limit);
    // A case further down that holds does not undo the quieter one above it that is open.
    let two = rules(&rule(
        "mtu.small",
        "interface",
        "when: iface.mtu < 9000B
         severity_when: [{is: info, when: iface.txqueuelen > 100}, {is: critical, when: iface.mtu == 1500B}]",
    ));
    assert_eq!(ask(&two, &unread, "mtu.small", "eth0").loudness().1, Severity::Info);
}

#[test]
fn a_severity_may_ask_whether_something_is_unknown() {
    let rules = rules(&rule(
        "mtu.small",
        "interface",
        "when: iface.mtu < 9000B\nseverity_when: [{is: advice, when: iface.link.partner is unknown}]",
    ));
    for (partner, severity) in [
        (json!({"unknown": "failed"}), Severity::Advice),
        (json!([["1000baseT/Full"], "assumed"]), Severity::Warning),
        // Absent is a fact: there is no partner list to be read.
        (json!({"absent": "assumed"}), Severity::Warning),
    ] {
        let host = mtu(&json!({"link": {"partner": partner}}));
        assert_eq!(ask(&rules, &host, "mtu.small", "eth0").loudness().1, severity, "{partner}");
    }
    let elsewhere = rule("mtu.small", "interface", "when: iface.mtu is unknown");
    let (specs, _) = parse_file("test.yaml", &elsewhere);
    let set = RuleSet::compile(specs);
    assert_eq!(set.rules().len(), 0, "`is unknown` in `when` would break the law");
    assert!(set.problems[0].text.contains("belongs to `severity_when`"), "{}", set.problems[0]);
}

#[test]
fn a_precondition_that_was_not_read_is_taken_and_told() {
    let rules = rules(&rule("mtu.small", "interface", "requires: iface.link.up\nwhen: iface.mtu < 9000B"));
    let of = |up: Value| ask(&rules, &mtu(&json!({"link": {"up": up}})), "mtu.small", "eth0");
    assert_eq!(of(json!([false, "assumed"])).verdict, Verdict::NotApplicable);
    assert_eq!(of(json!({"absent": "assumed"})).verdict, Verdict::NotApplicable);
    let read = of(json!([true, "assumed"]));
    assert_eq!(read.loudness(), (Kind::Risk, Severity::Warning, Confidence::High));
    assert!(read.finding().taken.is_empty());
    let taken = of(json!({"unknown": "failed"}));
    assert_eq!(taken.loudness(), (Kind::Risk, Severity::Advice, Confidence::Medium));
    assert_eq!(taken.finding().taken.len(), 1);
    let report = report_by(&rules, &mtu(&json!({"link": {"up": {"unknown": "failed"}}})));
    assert_eq!(report.findings[0].assumed, ["iface.link.up of eth0"]);
}

// ---- strata ----

/// A card with two ports of different MTU, and a port without a card.
fn card() -> Snapshot {
    let port = |name: &str, device: Value, size: u32| json!({"name": name, "device": device, "mtu": [size, "assumed"]});
    host(json!({
        "host": {"cpus": [4, "assumed"]},
        "interfaces": [port("eth0", json!(["01:00.0", "assumed"]), 1500), port("eth1", json!(["01:00.1", "assumed"]), 9000),
            port("eth2", json!({"absent": "assumed"}), 1500)],
        "devices": [{"address": "01:00.0", "driver": ["slow", "assumed"], "interfaces": [["eth0"], "assumed"]},
            {"address": "01:00.1", "driver": ["slow", "assumed"], "interfaces": [["eth1"], "assumed"]}]}))
}

#[test]
fn rules_may_ask_for_each_other_across_scopes() {
    // Named so that the alphabet would evaluate the askers first.
    let rules = rules(
        &[
            rule("a.port-asks-card", "interface", "when: fired(z.card)"),
            rule("a.card-asks-port", "pci_device", "when: fired(z.port)"),
            rule("a.port-asks-host", "interface", "when: fired(z.host)"),
            rule("a.host-asks-port", "host", "when: fired(z.port)"),
            rule("a.host-asks-no-port", "host", "when: fired(z.never)"),
            rule("a.port-asks-asker", "interface", "when: fired(a.port-asks-card) and iface.mtu > 2000B"),
            rule("z.card", "pci_device", "when: device.driver == \"slow\" and device.is_primary"),
            rule("z.port", "interface", "when: iface.mtu < 9000B"),
            rule("z.host", "host", "when: host.cpus < 8"),
            rule("z.never", "interface", "when: iface.mtu > 60000B"),
        ]
        .concat(),
    );
    let host = card();
    for (id, subject, verdict) in [
        // The card speaks by its first function, for the ports of both.
        ("z.card", "0000:01:00.0", Verdict::Fires),
        ("z.card", "0000:01:00.1", Verdict::Passes),
        ("a.port-asks-card", "eth0", Verdict::Fires),
        ("a.port-asks-card", "eth1", Verdict::Fires),
        ("a.port-asks-card", "eth2", Verdict::Passes),
        // One small port of the card is enough.
        ("a.card-asks-port", "0000:01:00.0", Verdict::Fires),
        ("a.port-asks-host", "eth2", Verdict::Fires),
        ("a.host-asks-port", "host", Verdict::Fires),
        ("a.host-asks-no-port", "host", Verdict::Passes),
        ("a.port-asks-asker", "eth0", Verdict::Passes),
        ("a.port-asks-asker", "eth1", Verdict::Fires),
    ] {
        assert_eq!(ask(&rules, &host, id, subject).verdict, verdict, "{id} of {subject}");
    }
}

#[test]
fn what_an_unread_rule_says_is_not_known() {
    let rules = rules(
        &[rule("a.asks", "interface", "when: fired(z.port)"), rule("z.port", "interface", "when: iface.mtu < 9000B")]
            .concat(),
    );
    let unread = host(json!({"interfaces": [{"name": "eth0"}]}));
    assert_eq!(ask(&rules, &unread, "a.asks", "eth0").verdict, Verdict::Unknown);
}

#[test]
fn a_circle_costs_its_members_alone() {
    let text = [
        rule("a.behind", "interface", "when: fired(c.one) or iface.mtu < 9000B"),
        rule("b.free", "interface", "when: iface.mtu < 9000B"),
        rule("c.one", "interface", "when: fired(c.two)"),
        rule("c.two", "interface", "when: fired(c.three)"),
        rule("c.three", "interface", "when: fired(c.one) or fired(b.free)"),
        rule("d.alone", "interface", "when: fired(d.alone)"),
    ]
    .concat();
    let (specs, problems) = parse_file("test.yaml", &text);
    assert_eq!(problems, []);
    let set = RuleSet::compile(specs);
    assert_eq!(set.ids().collect::<Vec<_>>(), ["a.behind", "b.free"]);
    let told: Vec<_> = set.problems.iter().map(|problem| problem.rule.as_str()).collect();
    assert_eq!(told, ["c.one", "c.three", "c.two", "d.alone"]);
    // What asks for a member of the circle is decided by the rest of its condition.
    let host = mtu(&json!({}));
    assert_eq!(ask(&set, &host, "a.behind", "eth0").verdict, Verdict::Fires);
    assert_eq!(ask(&set, &mtu(&json!({"mtu": [9000, "assumed"]})), "a.behind", "eth0").verdict, Verdict::Unknown);
    assert_eq!(ask(&set, &host, "b.free", "eth0").verdict, Verdict::Fires);
}

// ---- root causes, order, withheld advice ----

fn shown(report: &Report) -> Vec<(&str, &str, Option<&str>)> {
    report.findings.iter().map(|one| (one.rule.as_str(), one.subject.as_str(), one.under.as_deref())).collect()
}

#[test]
fn symptoms_fold_below_the_lowest_cause_of_the_same_subject() {
    let cause = "explains: [{rule: tcp.symptom}]\nwhen: iface.mtu < 9000B\nkind: fault";
    let rules = rules(
        &[
            rule("tcp.symptom", "interface", "when: iface.mtu > 0B\nkind: fault\nseverity: critical"),
            rule("link.cause", "interface", cause),
            rule("mtu.cause", "interface", cause),
        ]
        .concat(),
    );
    let report = report_by(&rules, &card());
    // eth1 has the symptom and no cause: it stands by itself. Where two causes would do, the lower layer is the root.
    let found: Vec<_> = shown(&report);
    for port in ["eth0", "eth2"] {
        assert!(found.contains(&("tcp.symptom", port, Some("link.cause"))), "{found:?}");
        assert!(found.contains(&("link.cause", port, None)) && found.contains(&("mtu.cause", port, None)), "{found:?}");
        let at = |rule: &str| found.iter().position(|one| one.0 == rule && one.1 == port).unwrap();
        assert_eq!(at("tcp.symptom"), at("link.cause") + 1, "what is folded follows its root: {found:?}");
        let folded = &report.findings[at("tcp.symptom")];
        assert_eq!(folded.under_subject.as_deref(), Some(port));
    }
    assert!(found.contains(&("tcp.symptom", "eth1", None)), "{found:?}");
}

#[test]
fn what_may_not_be_a_cause_folds_nothing() {
    let symptom = rule("tcp.symptom", "interface", "when: iface.mtu > 0B\nkind: fault");
    for (what, lines) in [
        ("a limit", "kind: limit\nseverity: advice\nexplains: [{rule: tcp.symptom}]"),
        ("a hint", "kind: fault\nconfidence: low\nexplains: [{rule: tcp.symptom}]"),
        ("the other end's loss", "kind: fault\nexplains: [{rule: tcp.symptom, side: peer}]"),
        ("no edge", "kind: fault"),
    ] {
        let cause = rule("link.cause", "interface", &format!("when: iface.mtu < 9000B\n{lines}"));
        let report = report_by(&rules(&[cause, symptom.clone()].concat()), &mtu(&json!({})));
        assert_eq!(report.findings.len(), 2, "{what}");
        assert!(report.findings.iter().all(|one| one.under.is_none()), "{what}: {:?}", shown(&report));
    }
    let cause = rule(
        "link.cause",
        "interface",
        "when: iface.mtu < 9000B\nkind: fault\nexplains: [{rule: tcp.symptom, side: own}]",
    );
    let report = report_by(&rules(&[cause, symptom].concat()), &mtu(&json!({})));
    assert_eq!(shown(&report), [("link.cause", "eth0", None), ("tcp.symptom", "eth0", Some("link.cause"))]);
}

#[test]
fn an_interface_explains_the_host_only_where_it_carries_the_traffic() {
    let rules = rules(
        &[
            rule("tcp.symptom", "host", "when: host.cpus > 0\nkind: fault"),
            rule("link.cause", "interface", "when: iface.mtu < 9000B\nkind: fault\nexplains: [{rule: tcp.symptom}]"),
        ]
        .concat(),
    );
    let under = |measured: Value, eth0: Value| {
        let mut cause = json!({"name": "eth0", "mtu": [1500, "assumed"], "device": ["0000:01:00.0", "assumed"]});
        for (name, value) in eth0.as_object().unwrap() {
            cause[name] = value.clone();
        }
        let bytes = json!({"group": "rtnl_link_stats64", "source": "assumed", "at_ms": [0, 3000],
            "counters": [["rx_bytes", 0, 1000], ["tx_bytes", 0, 1000]]});
        let other = json!({"name": "eth1", "mtu": [9000, "assumed"], "device": ["0000:02:00.0", "assumed"], "counters": [bytes]});
        let report = report_by(
            &rules,
            &host(json!({"host": {"cpus": [4, "assumed"], "measured": measured}, "interfaces": [cause, other]})),
        );
        let found = report.findings.iter().find(|one| one.rule == "tcp.symptom").unwrap();
        found.under.clone()
    };
    let over = |name: &str| json!([[{"tool": "iperf3", "rate": [1_000_000_000, "assumed"], "interface": [name, "assumed"]}], "assumed"]);
    let nothing = || json!([[], "assumed"]);
    let sent = |bytes: u64| {
        json!({"counters": [{"group": "rtnl_link_stats64", "source": "assumed", "at_ms": [0, 3000],
            "counters": [["rx_bytes", 0, bytes], ["tx_bytes", 0, 0]]}]})
    };
    let cause = Some("link.cause".to_owned());
    assert_eq!(under(over("eth0"), json!({})), cause, "the test ran over it");
    assert_eq!(under(over("eth1"), sent(9000)), None, "the test ran over another port");
    assert_eq!(under(nothing(), sent(9000)), cause, "it carried most of the sample");
    assert_eq!(under(nothing(), sent(500)), None, "it carried little of it");
}

#[test]
fn a_cause_of_the_card_folds_the_symptoms_of_its_ports() {
    let rules = rules(
        &[
            rule("tcp.symptom", "interface", "when: iface.mtu > 0B\nkind: fault"),
            rule("pcie.cause", "pci_device", "when: device.is_primary\nkind: fault\nexplains: [{rule: tcp.symptom}]"),
        ]
        .concat(),
    );
    let report = report_by(&rules, &card());
    let found = shown(&report);
    for (port, under) in [("eth0", Some("pcie.cause")), ("eth1", Some("pcie.cause")), ("eth2", None)] {
        assert!(found.contains(&("tcp.symptom", port, under)), "{found:?}");
    }
}

#[test]
fn findings_stand_in_the_order_of_their_urgency() {
    let always = "when: iface.mtu > 0B";
    let text = [
        rule("a.hygiene", "interface", &format!("{always}\nkind: hygiene\nseverity: info")),
        rule("b.limit", "interface", &format!("{always}\nkind: limit\nseverity: advice")),
        rule("c.risk", "interface", &format!("{always}\nkind: risk\nseverity: critical")),
        rule("d.quiet-risk", "interface", &format!("{always}\nkind: risk\nseverity: warning")),
        rule("sysctl.fault", "interface", &format!("{always}\nkind: fault\nseverity: critical")),
        rule("link.fault", "interface", &format!("{always}\nkind: fault\nseverity: advice")),
        rule(
            "ring.loss",
            "interface",
            "when: arms\nkind: fault\nseverity: advice\narms: {count: [rx_crc_errors], delta: {min: 1}}",
        ),
    ]
    .concat();
    let host = host(
        json!({"interfaces": [{"name": "eth0", "mtu": [1500, "assumed"], "counters": [{"group": "rtnl_link_stats64",
        "source": "assumed", "at_ms": [0, 3000], "counters": [["rx_crc_errors", 0, 9]]}]}]}),
    );
    let report = report_by(&rules(&text), &host);
    // Growing loss, link, other faults, risks by weight, limits, hygiene.
    let order: Vec<_> = report.findings.iter().map(|one| one.rule.as_str()).collect();
    let expected = ["ring.loss", "link.fault", "sysctl.fault", "c.risk", "d.quiet-risk", "b.limit", "a.hygiene"];
    assert_eq!(order, expected);
}

#[test]
fn equal_findings_stand_in_natural_order_of_their_subjects() {
    let rules = rules(&rule("mtu.small", "interface", "when: iface.mtu > 0B"));
    let ports: Vec<Value> =
        ["eth10", "eth9", "eth1"].iter().map(|name| json!({"name": name, "mtu": [1500, "assumed"]})).collect();
    let report = report_by(&rules, &host(json!({ "interfaces": ports })));
    let subjects: Vec<_> = report.findings.iter().map(|one| one.subject.as_str()).collect();
    assert_eq!(subjects, ["eth1", "eth9", "eth10"]);
}

#[test]
fn instead_of_withholds_advice_and_never_evidence() {
    let text = |kind: &str| {
        [
            rule("ring.small", "interface", "when: iface.mtu > 0B\nkind: risk"),
            rule(
                "link.broken",
                "interface",
                &format!("when: iface.mtu < 9000B\nkind: {kind}\nseverity: advice\ninstead_of: [ring.small]"),
            ),
        ]
        .concat()
    };
    let report = report_by(&rules(&text("fault")), &card());
    let of = |report: &Report, port: &str| {
        let finding =
            report.findings.iter().find(|one| one.rule == "ring.small" && one.subject == port).unwrap().clone();
        assert!(!finding.evidence.is_empty(), "the evidence stays");
        finding.recommend[0].withheld_by.clone()
    };
    assert_eq!(of(&report, "eth0").as_deref(), Some("link.broken"));
    assert_eq!(of(&report, "eth1"), None, "another port of the same card");
    assert!(
        report
            .findings
            .iter()
            .filter(|one| one.rule == "link.broken")
            .all(|one| one.recommend[0].withheld_by.is_none())
    );
    // A ceiling alone withholds nothing: only a measurement at the ceiling would.
    let report = report_by(&rules(&text("limit")), &card());
    assert_eq!(of(&report, "eth0"), None);
}

// ---- templates ----

#[test]
fn texts_show_values_in_their_units_and_commands_are_complete_or_left_out() {
    let rules = rules(
        "
- id: test.words
  title: t
  kind: risk
  severity: warning
  scope: interface
  let: {half: iface.mtu / 2}
  when: iface.mtu > 0B
  confidence: high
  why: '{{ iface.name }}: {{ iface.mtu }}, {{ half }}, {{ iface.link.speed }}, {{ iface.ring.rx }}, {{ iface.alias }}'
  impact: '{% if iface.link.up %}up{% else %}down{% endif %}'
  recommend:
    - do: Grow the ring of {{ iface.name }}
      commands: ['ethtool -G {{ iface.name }} rx {{ iface.ring.rx_max }}', 'ip link set {{ iface.name }} mtu 9000', 'ip link set {{ iface.name }} alias {{ iface.alias }}']
      persist: none
      interrupts: none
      verify: v
      undo: ['ethtool -G {{ iface.name }} rx {{ iface.ring.rx }}']
  sources: [{from: test, checked: known}]
",
    );
    let link = json!({"up": [true, "assumed"], "speed": [25_000_000_000_u64, "assumed"]});
    let report =
        report_by(&rules, &mtu(&json!({"name": "eth 0", "link": link, "ring": {"rx_max": {"absent": "assumed"}}})));
    let finding = &report.findings[0];
    assert_eq!(finding.why, "eth 0: 1500 B, 750 B, 25 Gb/s, (not read), (not read)");
    assert_eq!(finding.impact, "up");
    let step = &finding.recommend[0];
    assert_eq!(step.action, "Grow the ring of eth 0");
    // Nobody could type a placeholder. What is missing is named; what the undo needs is read before the change.
    assert_eq!(step.commands, ["ethtool -g 'eth 0'", "ip link set 'eth 0' mtu 9000"]);
    assert_eq!(
        step.commands_note,
        "A command is left out here, as nobody read: alias that an administrator gave of eth 0; ip link show 'eth 0' shows it"
    );
    assert_eq!(step.undo, [""; 0]);
    assert_eq!(step.undo_note, "Set the values again that the first command shows: note them before the change");
}

#[test]
fn a_command_goes_over_the_elements_of_a_set() {
    let text = |hidden: &str| {
        rules(&rule(
            "link.hidden",
            "interface",
            &format!(
                "when: iface.mtu > 0B
                 recommend: [{{do: d, commands: ['ethtool -s {{{{ iface.name }}}} advertise{{% for mode in {hidden} %}} {{{{ mode }}}} off{{% endfor %}}'],
                   persist: none, interrupts: none, verify: v}}]"
            ),
        ))
    };
    let commands = |rules: &RuleSet, link: Value| {
        report_by(rules, &mtu(&json!({"link": link}))).findings[0].recommend[0].commands.clone()
    };
    let rules = text("iface.link.supported");
    let modes = json!({"supported": [["1000baseT/Full", "a;$(id)"], "assumed"]});
    assert_eq!(commands(&rules, modes), ["ethtool -s eth0 advertise 1000baseT/Full off 'a;$(id)' off"]);
    // Nothing to go over is no command, and neither is a set that nobody read.
    assert_eq!(commands(&rules, json!({"supported": [[], "assumed"]})), [""; 0]);
    assert_eq!(commands(&rules, json!({})), [""; 0]);
}

#[test]
fn a_step_under_a_condition_comes_where_it_holds_or_is_open() {
    let rules = rules(&rule(
        "mtu.small",
        "interface",
        "when: iface.mtu < 9000B
         recommend: [{do: grow, when: iface.mtu_max >= 9000B, commands: ['true'], persist: none, interrupts: none, verify: v}]",
    ));
    for (most, steps) in
        [(json!([9000, "assumed"]), 1), (json!([1500, "assumed"]), 0), (json!({"unknown": "failed"}), 1)]
    {
        let report = report_by(&rules, &mtu(&json!({"mtu_max": most})));
        assert_eq!(report.findings[0].recommend.len(), steps, "{most}");
    }
}

#[test]
fn a_step_that_cuts_the_users_own_session_says_so() {
    let rules = |interrupts: &str| {
        rules(&rule(
            "mtu.small",
            "interface",
            &format!(
                "when: iface.mtu < 9000B\nrecommend: [{{do: a, persist: none, interrupts: {interrupts}, risk: r, verify: v}}]"
            ),
        ))
    };
    let hits = |interrupts: &str, port: &str| {
        let mut host = card();
        host.interfaces[1].session.is_session =
            netdoctor::reading::Reading::Known(true, netdoctor::reading::SourceId::ASSUMED);
        host.interfaces[1].mtu = host.interfaces[0].mtu.clone();
        let report = report_by(&rules(interrupts), &host);
        report.findings.iter().find(|one| one.subject == port).unwrap().recommend[0].hits_session
    };
    // The session runs over eth1, on the same card as eth0.
    for (interrupts, port, hit) in [
        ("none", "eth1", false),
        ("service", "eth1", false),
        ("queue", "eth1", true),
        ("link", "eth1", true),
        ("link", "eth0", false),
        ("all-ports", "eth0", true),
        ("all-ports", "eth2", false),
        ("host", "eth2", true),
    ] {
        assert_eq!(hits(interrupts, port), hit, "{interrupts} on {port}");
    }
}
