//! The JSON shapes that others rely on: names, types, units; what is not known is left out.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Folder, fixtures, run};

/// Type of a field.
#[derive(Clone, Copy, Debug)]
enum Is {
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    Flag,
    /// Above zero.
    Positive,
    /// Zero or above.
    Count,
    Texts,
    TextOrNull,
    Anything,
    /// An object with a `kind`.
    Source,
    Object(&'static [Field]),
    Objects(&'static [Field]),
}

/// Name, type, and whether it is always there.
type Field = (&'static str, Is, bool);

const ALWAYS: bool = true;
const WHERE_KNOWN: bool = false;

const SEVERITY: Is = Is::Word(&["critical", "warning", "advice", "info"]);
const SURENESS: Is = Is::Word(&["high", "medium", "low"]);
const WHY: Is = Is::Word(&[
    "not_collected",
    "not_permitted",
    "kernel_too_old",
    "timed_out",
    "skipped",
    "failed",
    "malformed",
    "changed",
    "not_in_capture",
    "driver_unknown",
    "derived",
]);

const REPORT: &[Field] = &[
    ("schema", Is::Word(&["netdoctor.report/1"]), ALWAYS),
    ("generator", Is::Text, ALWAYS),
    ("answer", Is::Text, ALWAYS),
    ("sample", Is::Object(SAMPLE), ALWAYS),
    ("host", Is::Object(HOST), ALWAYS),
    ("understood", Is::Object(UNDERSTOOD), WHERE_KNOWN),
    ("interfaces", Is::Objects(INTERFACE), ALWAYS),
    ("findings", Is::Objects(FINDING), ALWAYS),
    ("host_drops", Is::Objects(DROP), WHERE_KNOWN),
    ("host_counters", Is::Objects(HOST_COUNTER), WHERE_KNOWN),
    ("symptom", Is::Object(SYMPTOM), WHERE_KNOWN),
    ("not_the_cause", Is::Objects(EXCLUDED), WHERE_KNOWN),
    ("not_decided", Is::Objects(NOT_DECIDED), WHERE_KNOWN),
    ("checks", Is::Objects(CHECK), ALWAYS),
    ("next_command", Is::Text, WHERE_KNOWN),
];
const SAMPLE: &[Field] = &[
    ("seconds", Is::Count, ALWAYS),
    ("idle", Is::Flag, WHERE_KNOWN),
    ("source", Is::Word(&["live", "bundle", "sosreport", "supportconfig", "transcript", "directory"]), ALWAYS),
];
const HOST: &[Field] = &[
    ("name", Is::Text, WHERE_KNOWN),
    ("kernel", Is::Text, WHERE_KNOWN),
    ("os", Is::Text, WHERE_KNOWN),
    ("platform", Is::Text, WHERE_KNOWN),
    ("privileged", Is::Flag, WHERE_KNOWN),
];
const UNDERSTOOD: &[Field] =
    &[("lines", Is::Count, ALWAYS), ("read", Is::Count, ALWAYS), ("left", Is::Anything, ALWAYS)];
const INTERFACE: &[Field] = &[
    ("name", Is::Text, ALWAYS),
    ("kind", Is::Text, WHERE_KNOWN),
    ("physical", Is::Flag, WHERE_KNOWN),
    ("driver", Is::Text, WHERE_KNOWN),
    ("state", Is::Text, WHERE_KNOWN),
    ("speed_bps", Is::Positive, WHERE_KNOWN),
    ("mtu", Is::Positive, WHERE_KNOWN),
    ("pcie", Is::Object(PCIE), WHERE_KNOWN),
    ("ceiling", Is::Object(CEILING), WHERE_KNOWN),
    ("drops", Is::Objects(DROP), WHERE_KNOWN),
];
const PCIE: &[Field] = &[
    ("generation", Is::Positive, WHERE_KNOWN),
    ("width", Is::Positive, WHERE_KNOWN),
    ("narrowest", Is::Text, WHERE_KNOWN),
];
const CEILING: &[Field] = &[
    ("lo_bps", Is::Positive, ALWAYS),
    ("typical_bps", Is::Positive, ALWAYS),
    ("hi_bps", Is::Positive, ALWAYS),
    ("binding", Is::Word(&["pcie", "link", "shared", "usb", "pci", "thunderbolt", "shaper", "window"]), ALWAYS),
    ("assumed", Is::Texts, ALWAYS),
    ("confidence", SURENESS, ALWAYS),
];
const DROP: &[Field] = &[
    ("place", Is::Word(&["wire", "nic", "ring", "softnet", "socket", "qdisc", "tx_ring", "tx_wire"]), ALWAYS),
    ("total", Is::Count, WHERE_KNOWN),
    ("grew", Is::Count, WHERE_KNOWN),
    ("counted_at", Is::Text, WHERE_KNOWN),
];
const HOST_COUNTER: &[Field] = &[
    ("counter", Is::Text, ALWAYS),
    ("place", Is::Word(&["softnet", "socket"]), WHERE_KNOWN),
    ("what", Is::Text, ALWAYS),
    ("total", Is::Count, WHERE_KNOWN),
    ("grew", Is::Count, WHERE_KNOWN),
];
const SYMPTOM: &[Field] = &[
    ("rule", Is::Text, ALWAYS),
    ("subject", Is::Text, ALWAYS),
    ("title", Is::Text, ALWAYS),
    ("note", Is::Text, WHERE_KNOWN),
];
const EXCLUDED: &[Field] = &[("what", Is::Text, ALWAYS), ("by", Is::Text, ALWAYS), ("rule", Is::Text, WHERE_KNOWN)];
const NOT_DECIDED: &[Field] =
    &[("what", Is::Text, ALWAYS), ("rule", Is::Text, ALWAYS), ("missing", Is::Objects(MISSING), ALWAYS)];
const FINDING: &[Field] = &[
    ("rule", Is::Text, ALWAYS),
    ("kind", Is::Word(&["fault", "risk", "limit", "hygiene"]), ALWAYS),
    ("severity", SEVERITY, ALWAYS),
    ("confidence", SURENESS, ALWAYS),
    ("subject", Is::Text, ALWAYS),
    ("interfaces", Is::Texts, ALWAYS),
    ("title", Is::Text, ALWAYS),
    ("why", Is::Text, ALWAYS),
    ("impact", Is::Text, ALWAYS),
    ("under", Is::TextOrNull, ALWAYS),
    ("under_subject", Is::Text, WHERE_KNOWN),
    ("under_confidence", SURENESS, WHERE_KNOWN),
    ("others", Is::Objects(OTHER), WHERE_KNOWN),
    ("group_severity", SEVERITY, WHERE_KNOWN),
    ("seen", Is::Object(SEEN), WHERE_KNOWN),
    ("assumed", Is::Texts, ALWAYS),
    ("evidence", Is::Objects(EVIDENCE), ALWAYS),
    ("recommend", Is::Objects(RECOMMEND), ALWAYS),
];
const OTHER: &[Field] = &[
    ("rule", Is::Text, ALWAYS),
    ("subject", Is::Text, ALWAYS),
    ("title", Is::Text, ALWAYS),
    ("why", Is::Text, ALWAYS),
];
const SEEN: &[Field] =
    &[("arm", Is::Word(&["delta", "repeat", "log", "totals", "measured"]), ALWAYS), ("text", Is::Text, ALWAYS)];
const EVIDENCE: &[Field] = &[
    ("fact", Is::Text, ALWAYS),
    ("value", Is::Anything, ALWAYS),
    // Empty for a plain value.
    ("unit", Is::Anything, ALWAYS),
    ("source", Is::Source, ALWAYS),
];
const RECOMMEND: &[Field] = &[
    ("do", Is::Text, ALWAYS),
    ("commands", Is::Texts, ALWAYS),
    ("persist", Is::Texts, ALWAYS),
    ("risk", Is::Text, WHERE_KNOWN),
    ("interrupts", Is::Word(&["none", "queue", "link", "all-ports", "service", "host"]), ALWAYS),
    ("hits_session", Is::Flag, ALWAYS),
    ("verify", Is::Text, WHERE_KNOWN),
    ("undo", Is::Texts, ALWAYS),
    ("withheld_by", Is::TextOrNull, ALWAYS),
];
const CHECK: &[Field] = &[
    ("rule", Is::Text, ALWAYS),
    ("result", Is::Word(&["fires", "passes", "not_applicable", "unknown"]), ALWAYS),
    ("subjects", Is::Texts, ALWAYS),
    ("missing", Is::Objects(MISSING), ALWAYS),
];
const MISSING: &[Field] = &[("fact", Is::Text, ALWAYS), ("why", WHY, ALWAYS), ("command", Is::Text, WHERE_KNOWN)];

const SHOWN_FACT: &[Field] = &[
    ("subject", Is::Text, ALWAYS),
    ("fact", Is::Text, ALWAYS),
    ("value", Is::Anything, WHERE_KNOWN),
    ("unit", Is::Anything, ALWAYS),
    ("state", Is::Word(&["known", "absent", "unknown"]), ALWAYS),
    ("why", WHY, WHERE_KNOWN),
    ("source", Is::Source, WHERE_KNOWN),
];
const LISTED_FACT: &[Field] = &[
    ("path", Is::Text, ALWAYS),
    ("type", Is::Text, ALWAYS),
    ("unit", Is::Anything, ALWAYS),
    ("doc", Is::Text, ALWAYS),
];

fn check(place: &str, value: &Value, is: Is, wrong: &mut Vec<String>) {
    let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let right = match is {
        Is::Text => text(value),
        Is::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Is::Flag => value.is_boolean(),
        Is::Positive => value.as_f64().is_some_and(|number| number > 0.0),
        Is::Count => value.as_f64().is_some_and(|number| number >= 0.0),
        Is::Texts => value.as_array().is_some_and(|items| items.iter().all(text)),
        Is::TextOrNull => value.is_null() || text(value),
        Is::Anything => !value.is_null(),
        Is::Source => text(&value["kind"]),
        Is::Object(fields) => return check_object(place, value, fields, wrong),
        Is::Objects(fields) => {
            let Some(items) = value.as_array() else {
                wrong.push(format!("{place} is no list: {value}"));
                return;
            };
            for (at, item) in items.iter().enumerate() {
                check_object(&format!("{place}[{at}]"), item, fields, wrong);
            }
            true
        }
    };
    if !right {
        wrong.push(format!("{place} is not {is:?}, but {value:.200}"));
    }
}

fn check_object(place: &str, value: &Value, fields: &[Field], wrong: &mut Vec<String>) {
    let Some(object) = value.as_object() else {
        wrong.push(format!("{place} is no object: {value:.200}"));
        return;
    };
    for (name, is, always) in fields {
        match object.get(*name) {
            Some(field) => check(&format!("{place}.{name}"), field, *is, wrong),
            None if *always => wrong.push(format!("{place}.{name} is missing")),
            None => {}
        }
    }
    // Further fields are free, but they too are left out where they are not known.
    let stated: BTreeSet<&str> = fields.iter().map(|(name, _, _)| *name).collect();
    for (name, field) in object.iter().filter(|(name, field)| !stated.contains(name.as_str()) && field.is_null()) {
        wrong.push(format!("{place}.{name} is {field}"));
    }
}

fn report_is_right(name: &str, report: &Value) {
    let mut wrong = Vec::new();
    check_object(name, report, REPORT, &mut wrong);
    for (at, check) in report["checks"].as_array().into_iter().flatten().enumerate() {
        let open = check["result"] == "unknown";
        if open == check["missing"].as_array().is_some_and(Vec::is_empty) {
            wrong.push(format!(
                "{name}.checks[{at}]: what is missing is told where it is unknown, and only there: {check}"
            ));
        }
    }
    for row in report["interfaces"].as_array().into_iter().flatten() {
        let ceiling = &row["ceiling"];
        let of = |field: &str| ceiling[field].as_f64().unwrap_or_default();
        if !(of("lo_bps") <= of("typical_bps") && of("typical_bps") <= of("hi_bps")) {
            wrong.push(format!("{name}: the ceiling of {} is no range: {ceiling}", row["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:.200}"))
}

#[test]
fn a_scan_of_this_host_keeps_the_contract() {
    let said = run(&["scan", "--interval", "0", "-f", "json"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let report = json(&said.out);
    report_is_right("scan", &report);
    assert_eq!(report["sample"]["source"], "live");
    assert_eq!(report["sample"]["seconds"], 0.0, "one sample");
    assert!(report["sample"].get("idle").is_none(), "one sample can't tell whether the host is idle");
    let names: Vec<_> = report["interfaces"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
    assert!(names.contains(&Value::from("lo")), "{names:?}");
    assert!(report["interfaces"][0]["drops"].as_array().into_iter().flatten().all(|drop| drop.get("grew").is_none()));
}

#[test]
fn every_fixture_keeps_the_contract() {
    let folder = Folder::new();
    let mut paths = Vec::new();
    for (name, text) in fixtures() {
        let path = folder.write(&name, text);
        let said = run(&["analyze", "-f", "json", &path]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{name}");
        report_is_right(&name, &json(&said.out));
        paths.push(path);
    }
    let said =
        run(&[&["analyze", "-f", "json"], paths.iter().map(String::as_str).collect::<Vec<_>>().as_slice()].concat());
    let all = json(&said.out);
    let all = all.as_array().expect("several inputs give an array");
    assert_eq!(all.len(), paths.len());
    for report in all {
        report_is_right("array", report);
    }
}

#[test]
fn what_a_finding_says_is_in_its_json() {
    let said = run(&["analyze", "-f", "json", "fixtures/seeds/qnap-ts855x-mtu1500.json"]);
    let report = json(&said.out);
    let finding = &report["findings"][0];
    assert_eq!(finding["under"], Value::Null);
    assert_eq!(finding["recommend"][0]["withheld_by"], Value::Null);
    // Values stand in the unit beside them: MTU in bytes, not in the language's bits.
    let evidence = finding["evidence"].as_array().unwrap();
    let of = |fact: &str| evidence.iter().find(|one| one["fact"] == fact).unwrap();
    assert_eq!((&of("iface.mtu")["value"], &of("iface.mtu")["unit"]), (&Value::from(1500), &Value::from("B")));
    assert_eq!(of("iface.mtu")["source"]["kind"], "assumed");
    assert_eq!((&of("link.width")["value"], &of("link.width")["unit"]), (&Value::from(4), &Value::from("lanes")));
    assert_eq!(of("iface.link.speed")["value"], Value::from(100_000_000_000_u64));
}

#[test]
fn a_host_of_which_nothing_is_known_has_no_figures() {
    let folder = Folder::new();
    let path = folder.write("bare.json", r#"{"schema": "netdoctor.snapshot/1", "interfaces": [{"name": "eth0"}]}"#);
    let report = json(&run(&["analyze", "-f", "json", &path]).out);
    report_is_right("bare", &report);
    assert_eq!(report["host"], serde_json::json!({}));
    let row = report["interfaces"][0].as_object().unwrap();
    for field in ["speed_bps", "mtu", "state", "physical", "driver", "kind", "pcie", "ceiling"] {
        assert!(!row.contains_key(field), "{field}");
    }
    for drop in row.get("drops").and_then(Value::as_array).into_iter().flatten() {
        assert!(drop.get("total").is_none() && drop.get("grew").is_none(), "nothing was counted: {drop}");
    }
}

#[test]
fn facts_keep_the_contract() {
    let mut wrong = Vec::new();
    let listed = json(&run(&["facts", "list", "-f", "json"]).out);
    check("facts list", &listed, Is::Objects(LISTED_FACT), &mut wrong);
    let paths: BTreeSet<&str> = listed.as_array().unwrap().iter().filter_map(|fact| fact["path"].as_str()).collect();
    assert!(paths.contains("iface.ring.rx") && paths.contains("device.pcie.mps") && paths.contains("host.uptime"));

    let golden = "fixtures/golden/snapshot-1.json";
    for arguments in [
        &["facts", "show", "-f", "json", golden][..],
        &["facts", "show", "-f", "json"],
        &["facts", "show", "--all", "-f", "json", golden],
    ] {
        let shown = json(&run(arguments).out);
        check(&arguments.join(" "), &shown, Is::Objects(SHOWN_FACT), &mut wrong);
        for fact in shown.as_array().unwrap() {
            let state = fact["state"].as_str().unwrap();
            let has = |field: &str| fact.get(field).is_some();
            // A value only where it is known, a source where something was read, a reason where not.
            let right = (has("value"), has("source"), has("why"));
            let wanted = (state == "known", state != "unknown", state == "unknown");
            if right != wanted || !paths.contains(fact["fact"].as_str().unwrap()) {
                wrong.push(format!("{}: {fact}", arguments.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let one = json(&run(&["facts", "show", "-f", "json", "-s", "eth2@blue", golden]).out);
    let of = |fact: &str| one.as_array().unwrap().iter().find(|row| row["fact"] == fact).unwrap().clone();
    let ring = serde_json::json!({"subject": "eth2@blue", "fact": "iface.ring.rx", "value": 511, "unit": "descriptors",
        "state": "known", "source": {"kind": "capture", "file": "post.txt", "line": 12, "tool": "ethtool"}});
    assert_eq!(of("iface.ring.rx"), ring);
}
