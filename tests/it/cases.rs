//! Labelled transcripts: what has to be found in each, and what must not be said. Those of the repository, and those of the
//! folder that NETDOCTOR_CASES names, which are held to the floor in tests/cases-floor.yaml.

use std::collections::BTreeSet;
use std::path::Path;

use netdoctor::capture;
use netdoctor::report::model::{Finding, Report};
use netdoctor::rules::RuleSet;
use serde::Deserialize;

use crate::support::{read, report_by, repository};

/// `expect.yaml` of a case.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Expect {
    /// False where only `forbid` counts.
    scored: bool,
    /// Nothing loud may be said.
    benign: bool,
    /// One of these rules has to be among the findings.
    #[serde(rename = "expect_any")]
    any_of: Vec<String>,
    /// Right or harmless beside it.
    also_ok: Vec<String>,
    /// Wrong: never loud, and those of [`QUIET`] not at all.
    forbid: Vec<String>,
    /// How sure the label is.
    confidence: String,
    /// The input is a line or two.
    single_line: bool,
}

/// Rules that are never loud, and that are wrong where they are forbidden all the same.
const QUIET: [&str; 6] = [
    "pcie.path-below-link",
    "pcie.slot-limits",
    "link.peer-limits-speed",
    "link.port-limits-speed",
    "cpu.single-stream",
    "config.test-method",
];

/// What a folder of cases came to.
#[derive(Debug, Default, PartialEq)]
struct Score {
    /// Cases in which something has to be found, those in which it was, and among the first three roots.
    wanted: usize,
    found: usize,
    first: usize,
    /// Benign cases, and those with a loud finding.
    benign: usize,
    alarms: usize,
    /// Forbidden rules that were reported.
    wrong: usize,
    /// Faults and risks that nobody asked for.
    extra: usize,
    /// Inputs without a report.
    broken: usize,
    /// What is not as it should be, case by case.
    told: Vec<String>,
}

/// The least that a folder has to come to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Floor {
    recall_percent: f64,
    first_three_percent: f64,
    false_alarms: usize,
    wrong_diagnoses: usize,
    extra_per_case: f64,
    without_report: usize,
}

fn is_loud(finding: &Finding) -> bool {
    ["fault", "risk"].contains(&finding.kind.as_str()) && ["critical", "warning"].contains(&finding.severity.as_str())
}

impl Score {
    fn add(&mut self, name: &str, expect: &Expect, reports: Option<&[Report]>) {
        let is_wanted = expect.scored && !expect.any_of.is_empty();
        self.wanted += usize::from(is_wanted);
        self.benign += usize::from(expect.scored && expect.benign);
        let Some(reports) = reports else {
            self.broken += 1;
            self.told.push(format!("{name}: no report"));
            return;
        };
        let all: Vec<&Finding> = reports.iter().flat_map(|report| &report.findings).collect();
        let loud: BTreeSet<&str> = all.iter().filter(|one| is_loud(one)).map(|one| one.rule.as_str()).collect();
        let is_hit = |rule: &str| expect.any_of.iter().any(|wanted| wanted == rule);
        let lenient = expect.confidence == "weak" || expect.single_line;
        let found = all.iter().any(|one| is_hit(&one.rule) && (lenient || one.confidence != "low"));
        let roots = all.iter().filter(|one| one.under.is_none()).take(3);
        let first = found && (expect.benign || roots.into_iter().any(|one| is_hit(&one.rule)));
        if is_wanted {
            self.found += usize::from(found);
            self.first += usize::from(first);
            if !first {
                let what = if found { "not among the first three" } else { "missed" };
                self.told.push(format!("{name}: {what}: {}", expect.any_of.join(" | ")));
            }
        }
        let named: BTreeSet<&str> = all.iter().map(|one| one.rule.as_str()).collect();
        for rule in expect.forbid.iter().map(String::as_str) {
            if loud.contains(rule) || named.contains(rule) && QUIET.contains(&rule) {
                self.wrong += 1;
                self.told.push(format!("{name}: forbidden {rule}"));
            }
        }
        if expect.scored && expect.benign && !loud.is_empty() {
            self.alarms += 1;
            self.told.push(format!("{name}: false alarm {loud:?}"));
        }
        if expect.scored {
            let judged = all.iter().filter(|one| ["fault", "risk"].contains(&one.kind.as_str()));
            let judged: BTreeSet<&str> = judged.map(|one| one.rule.as_str()).collect();
            let asked = |rule: &&&str| is_hit(rule) || expect.also_ok.iter().any(|one| one == *rule);
            self.extra += judged.iter().filter(|rule| !asked(rule)).count();
        }
    }

    fn percent(part: usize, whole: usize) -> f64 {
        if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
    }

    /// What is below the floor, in sentences.
    fn below(&self, floor: &Floor) -> Vec<String> {
        let recall = Self::percent(self.found, self.wanted);
        let first = Self::percent(self.first, self.wanted);
        let extra = self.extra as f64 / (self.wanted + self.benign).max(1) as f64;
        let rules = [
            (recall < floor.recall_percent, format!("recall {recall:.1} %")),
            (first < floor.first_three_percent, format!("in the first three {first:.1} %")),
            (self.alarms > floor.false_alarms, format!("{} false alarms", self.alarms)),
            (self.wrong > floor.wrong_diagnoses, format!("{} wrong diagnoses", self.wrong)),
            (extra > floor.extra_per_case, format!("{extra:.2} findings a case that nobody asked for")),
            (self.broken > floor.without_report, format!("{} without a report", self.broken)),
        ];
        rules.into_iter().filter(|(is_below, _)| *is_below).map(|(_, text)| text).collect()
    }
}

/// Reads the cases of a folder.
fn score(folder: &Path) -> Score {
    let rules = RuleSet::embedded();
    let mut score = Score::default();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut cases: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    for case in cases.iter().filter(|case| case.join("expect.yaml").exists()) {
        let name = case.file_name().unwrap().to_string_lossy();
        let expect: Expect = serde_yaml::from_str(&read(case.join("expect.yaml"))).unwrap();
        let reports: Option<Vec<Report>> = capture::read(&case.join("input.txt"))
            .ok()
            .map(|capture| capture.hosts.iter().map(|host| report_by(&rules, &host.snapshot)).collect());
        score.add(&name, &expect, reports.as_deref());
    }
    assert!(score.wanted + score.benign > 0, "{} holds no case", folder.display());
    score
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Floors {
    own: Floor,
    named: Floor,
}

fn hold(score: &Score, floor: &Floor) {
    let below = score.below(floor);
    assert!(below.is_empty(), "below the floor: {}\n{}", below.join(", "), score.told.join("\n"));
}

fn floors() -> Floors {
    serde_yaml::from_str(&read("tests/cases-floor.yaml")).unwrap()
}

#[test]
fn the_cases_of_the_repository_are_judged_as_their_labels_say() {
    hold(&score(&repository().join("fixtures/cases")), &floors().own);
}

#[test]
#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
fn the_cases_of_a_folder_that_is_named_hold_the_floor() {
    match std::env::var_os("NETDOCTOR_CASES").filter(|folder| !folder.is_empty()) {
        Some(folder) => hold(&score(Path::new(&folder)), &floors().named),
        None => println!("skipped: NETDOCTOR_CASES names no folder"),
    }
}

#[test]
fn cases_are_counted_as_the_labels_mean_it() {
    let finding = |rule: &str, kind: &str, severity: &str, under: Option<&str>| -> Finding {
        serde_json::from_value(
            serde_json::json!({"rule": rule, "kind": kind, "severity": severity, "confidence": "high", "under": under}),
        )
        .unwrap()
    };
    let report = |findings: Vec<Finding>| [Report { findings, ..Report::default() }];
    let expect = |text: &str| -> Expect { serde_yaml::from_str(text).unwrap() };
    let mut score = Score::default();
    let label = expect("{scored: true, expect_any: [a.a], also_ok: [b.b], forbid: [c.c, pcie.slot-limits]}");
    // Found first, with one that is allowed and one that nobody asked for.
    let some = [("a.a", "warning"), ("b.b", "warning"), ("d.d", "info")];
    score.add("1", &label, Some(&report(some.map(|(rule, severity)| finding(rule, "risk", severity, None)).into())));
    assert_eq!((score.wanted, score.found, score.first, score.extra), (1, 1, 1, 1));
    // Not found; forbidden ones are wrong where they are loud, and quiet ones in any case.
    let some = [
        ("c.c", "risk", "info"),
        ("pcie.slot-limits", "limit", "advice"),
        ("e.e", "limit", "advice"),
        ("f.f", "limit", "info"),
    ];
    score.add(
        "2",
        &label,
        Some(&report(some.map(|(rule, kind, severity)| finding(rule, kind, severity, None)).into())),
    );
    assert_eq!((score.wanted, score.found, score.wrong), (2, 1, 1));
    score.add("3", &label, Some(&report(vec![finding("c.c", "fault", "warning", None)])));
    assert_eq!(score.wrong, 2);
    // Found, but three roots stand before it.
    let mut late: Vec<Finding> = ["x.a", "x.b", "x.c"].map(|rule| finding(rule, "limit", "info", None)).into();
    late.push(finding("a.a", "fault", "warning", None));
    score.add("4", &label, Some(&report(late)));
    assert_eq!((score.wanted, score.found, score.first), (4, 2, 1));
    let quiet = expect("{scored: true, benign: true}");
    score.add("5", &quiet, Some(&report(vec![finding("x.a", "fault", "advice", None)])));
    score.add("6", &quiet, Some(&report(vec![finding("x.a", "fault", "warning", None)])));
    assert_eq!((score.benign, score.alarms), (2, 1));
    score.add("7", &quiet, None);
    assert_eq!((score.benign, score.broken), (3, 1));
    let floor = Floor {
        recall_percent: 50.0,
        first_three_percent: 30.0,
        false_alarms: 0,
        wrong_diagnoses: 2,
        extra_per_case: 9.0,
        without_report: 0,
    };
    assert_eq!(score.below(&floor), ["in the first three 25.0 %", "1 false alarms", "1 without a report"]);
}
