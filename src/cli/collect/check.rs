//! Whether a redacted snapshot leads to the same diagnosis.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::reading::numbers::plural;
use crate::report::model::Report;

/// What has to stay, each with how often it is there.
type Tally = BTreeMap<String, usize>;

/// Compares the reports of the original and of the redacted snapshot: findings with their subjects, rules with their
/// results, ceilings. `new` is what a name became. What differs is told in sentences that hold the new names.
pub(super) fn alike(original: &Report, redacted: &Report, new: &dyn Fn(&str) -> String) -> Result<String, Vec<String>> {
    let same = |text: &str| text.to_owned();
    let (before, after) = (tally(original, new), tally(redacted, &same));
    let mut differences = Vec::new();
    for (what, count) in &before {
        let now = after.get(what).copied().unwrap_or(0);
        if now != *count {
            differences.push(format!("{what}: {count} in the original, {now} after redaction"));
        }
    }
    let added = after.iter().filter(|(what, _)| !before.contains_key(*what));
    differences.extend(added.map(|(what, count)| format!("{what}: none in the original, {count} after redaction")));
    if !differences.is_empty() {
        differences.truncate(10);
        return Err(differences);
    }
    let ceilings = original.interfaces.iter().filter(|row| row.ceiling.is_some()).count();
    Ok(format!(
        "checked: the diagnosis is that of the original ({}, {}, {})",
        plural(original.findings.len(), "finding"),
        plural(original.checks.len(), "check"),
        plural(ceilings, "ceiling")
    ))
}

fn tally(report: &Report, new: &dyn Fn(&str) -> String) -> Tally {
    let mut all = Tally::new();
    let mut add = |what: Value, count: usize| *all.entry(what.to_string()).or_default() += count;
    let document = serde_json::to_value(report).unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let subject = |value: &Value| value.as_str().map(new);
    for finding in list(&document["findings"]) {
        let subjects: Vec<Value> = list(&finding["interfaces"]).iter().map(|one| json!(subject(one))).collect();
        add(
            json!({"finding": finding["rule"], "of": subject(&finding["subject"]), "interfaces": sorted(subjects),
                "kind": finding["kind"], "severity": finding["severity"], "confidence": finding["confidence"],
                "under": finding["under"]}),
            1,
        );
    }
    for check in list(&document["checks"]) {
        let count = list(&check["subjects"]).len().max(1);
        add(json!({"rule": check["rule"], "result": check["result"]}), count);
    }
    for row in list(&document["interfaces"]) {
        add(
            json!({"interface": subject(&row["name"]), "namespace": subject(&row["namespace"]),
                "state": row["state"], "verdict": row["verdict"], "ceiling": ceiling(&row["ceiling"])}),
            1,
        );
    }
    for shared in list(&document["shared"]) {
        add(json!({"shared ceiling": ceiling(&shared)}), 1);
    }
    all
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(ToString::to_string);
    values
}

/// The figures of a ceiling to six digits: more is not read back as it was written.
fn ceiling(value: &Value) -> Value {
    let figure = |key: &str| value[key].as_f64().map(|figure| format!("{figure:.5e}"));
    json!({"lo": figure("lo_bps"), "typical": figure("typical_bps"), "hi": figure("hi_bps"),
        "binding": value["binding"], "confidence": value["confidence"]})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> Report {
        serde_json::from_str(text).unwrap()
    }

    const ORIGINAL: &str = r#"{"findings": [{"rule": "a.a", "kind": "fault", "severity": "warning", "confidence": "high",
            "subject": "nas1-br", "interfaces": ["nas1-br"]}],
        "checks": [{"rule": "a.a", "result": "fires", "subjects": ["nas1-br"]}, {"rule": "b.b", "result": "passes", "subjects": ["host"]}],
        "interfaces": [{"name": "nas1-br", "ceiling": {"lo_bps": 1e9, "typical_bps": 2e9, "hi_bps": 3e9, "binding": "link"}}]}"#;

    #[test]
    fn a_diagnosis_is_the_same_under_other_names() {
        let original = report(ORIGINAL);
        let new = |text: &str| text.replace("nas1", "host-1");
        let said = alike(&original, &report(&new(ORIGINAL)), &new);
        assert_eq!(said.unwrap(), "checked: the diagnosis is that of the original (1 finding, 2 checks, 1 ceiling)");
        for (from, to, told) in [
            ("\"subject\": \"nas1-br\"", "\"subject\": \"other\"", "1 in the original, 0 after redaction"),
            ("\"severity\": \"warning\"", "\"severity\": \"info\"", "none in the original, 1 after redaction"),
            ("\"passes\"", "\"unknown\"", "b.b"),
            ("\"hi_bps\": 3e9", "\"hi_bps\": 4e9", "3.00000e9"),
            ("\"binding\": \"link\"", "\"binding\": \"pcie\"", "pcie"),
        ] {
            assert!(ORIGINAL.contains(from), "{from}");
            let changed = new(&ORIGINAL.replace(from, to));
            let differences = alike(&original, &report(&changed), &new).unwrap_err();
            assert!(differences.iter().any(|text| text.contains(told)), "{from}: {differences:?}");
            assert!(differences.iter().all(|text| !text.contains("nas1")), "{differences:?}");
        }
    }
}
