//! `netdoctor ceiling --of CAPTURE --set ...`: the ceilings of a capture, and what would change if readings were others.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::ceiling::Shape;
use super::output::{load_rules, report_of};
use super::{Output, RuleArguments, exit};
use crate::capture;
use crate::facts::assign;
use crate::reading::{Source, numbers};
use crate::report::escape::visible;
use crate::report::json::pretty;
use crate::report::model::{CeilingRow, Finding, Report};
use crate::snapshot::Snapshot;

pub(super) fn run(capture: &Path, settings: &[String], shape: Shape, rules: &RuleArguments) -> Output {
    let (rules, problems) = match load_rules(rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let before = match capture::read_one(capture) {
        Ok(snapshot) => snapshot,
        Err(error) => return Output::failure(error.to_string(), exit::INPUT),
    };
    let after = match changed(&before, settings) {
        Ok(snapshot) => snapshot,
        Err(message) => return Output::failure(message, exit::USAGE),
    };
    let measured = before.host.measured.known().is_some_and(|all| !all.is_empty());
    let change = Change {
        settings,
        measured: measured && !settings.is_empty(),
        before: report_of(&before, &rules),
        after: report_of(&after, &rules),
    };
    let out = match shape {
        Shape::Text => change.text(),
        Shape::Json => pretty(&change.json()),
    };
    Output { out, err: problems, ..Output::default() }
}

fn changed(snapshot: &Snapshot, settings: &[String]) -> Result<Snapshot, String> {
    let mut snapshot = snapshot.clone();
    for setting in settings {
        assign(&mut snapshot, setting, Source::WhatIf { setting: setting.clone() })
            .map_err(|error| format!("--set {}: {}", visible(setting), visible(&error)))?;
    }
    Ok(snapshot)
}

/// A report beside that of the changed snapshot.
struct Change<'a> {
    settings: &'a [String],
    /// Results were measured, under the old readings.
    measured: bool,
    before: Report,
    after: Report,
}

/// An interface of which a ceiling is known, before or after.
struct Pair<'a> {
    name: String,
    before: Option<&'a CeilingRow>,
    after: Option<&'a CeilingRow>,
}

/// Findings of `one` that `other` has not.
fn only<'a>(one: &'a Report, other: &Report) -> Vec<&'a Finding> {
    let same = |a: &Finding, b: &Finding| a.rule == b.rule && a.subject == b.subject;
    one.findings.iter().filter(|mine| !other.findings.iter().any(|theirs| same(mine, theirs))).collect()
}

impl Change<'_> {
    /// Interfaces have the same order in both reports: only readings differ.
    fn pairs(&self) -> Vec<Pair<'_>> {
        let find = |report: &'_ Report, name: &str, namespace: &str| {
            report.interfaces.iter().position(|row| row.name == name && row.namespace == namespace)
        };
        let pairs = self.before.interfaces.iter().map(|row| {
            let after = find(&self.after, &row.name, &row.namespace).map(|at| &self.after.interfaces[at]);
            let name =
                if row.namespace.is_empty() { row.name.clone() } else { format!("{}@{}", row.name, row.namespace) };
            Pair { name, before: row.ceiling.as_ref(), after: after.and_then(|row| row.ceiling.as_ref()) }
        });
        pairs.filter(|pair| pair.before.is_some() || pair.after.is_some()).collect()
    }

    /// Findings that stay with another severity.
    fn other_severity(&self) -> Vec<(&Finding, &Finding)> {
        let mut found = Vec::new();
        for before in &self.before.findings {
            let after = self.after.findings.iter().find(|one| one.rule == before.rule && one.subject == before.subject);
            found.extend(after.filter(|after| after.severity != before.severity).map(|after| (before, after)));
        }
        found
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for setting in self.settings {
            out += &format!("if {}\n", visible(setting));
        }
        if !self.settings.is_empty() {
            out += "\n";
        }
        let pairs = self.pairs();
        if pairs.is_empty() {
            out +=
                "no interface of this capture has a ceiling: its link speed was not read, or it is no hardware port\n";
        }
        let width = pairs.iter().map(|pair| visible(&pair.name).chars().count()).max().unwrap_or(0);
        for pair in &pairs {
            let name = visible(&pair.name);
            let now = pair.before.map_or_else(|| "not known".into(), in_words);
            if self.settings.is_empty() || pair.before == pair.after {
                let same = if self.settings.is_empty() { "" } else { "  (as before)" };
                out += &format!("{name:<width$}  {now}{same}\n");
                let row = pair.after.filter(|_| self.settings.is_empty());
                for note in row.iter().flat_map(|row| row.notes.iter().chain(&row.as_root)) {
                    out += &format!("{:<width$}  {}\n", "", visible(note));
                }
            } else {
                let then = pair.after.map_or_else(|| "not known".into(), in_words);
                out += &format!("{name:<width$}  now   {now}\n{:<width$}  then  {then}\n", "");
            }
        }
        for shared in &self.after.shared {
            let names: Vec<String> = shared.interfaces.iter().map(|name| visible(name).to_string()).collect();
            let range = numbers::rate_range(shared.lo_bps, shared.typical_bps, shared.hi_bps, false);
            out += &format!("{} share {}: {range} together\n", names.join(", "), visible(&shared.what));
        }
        if !self.settings.is_empty() {
            out += &self.findings();
        }
        out
    }

    fn findings(&self) -> String {
        let mut out = String::new();
        let (gone, new, other) =
            (only(&self.before, &self.after), only(&self.after, &self.before), self.other_severity());
        for (title, findings) in [("vanish", &gone), ("appear", &new)] {
            for one in findings {
                out += &format!(
                    "{title:<8} {:<9} {} of {}: {}\n",
                    one.severity,
                    visible(&one.rule),
                    visible(&one.subject),
                    visible(&one.title)
                );
            }
        }
        for (before, after) in &other {
            let (rule, subject) = (visible(&after.rule), visible(&after.subject));
            out += &format!("{:<8} {:<9} {rule} of {subject}: was {}\n", "change", after.severity, before.severity);
        }
        if out.is_empty() {
            out += "no finding vanishes or appears\n";
        }
        if self.measured {
            out += "Measured results stay as they were: they were taken before the change.\n";
        }
        out += "Counters stay as they were, too: what the change does to losses is not told here.\n";
        format!("\n{out}")
    }

    fn json(&self) -> Json {
        let finding = |one: &&Finding| json!({"rule": one.rule, "subject": one.subject, "kind": one.kind, "severity": one.severity, "title": one.title});
        let other = self.other_severity();
        json!({
            "schema": "netdoctor.what-if/1",
            "set": self.settings,
            "interfaces": self.pairs().iter().map(|pair| json!({
                "name": pair.name, "before": pair.before.map(ceiling), "after": pair.after.map(ceiling),
            })).collect::<Vec<_>>(),
            "vanish": only(&self.before, &self.after).iter().map(finding).collect::<Vec<_>>(),
            "appear": only(&self.after, &self.before).iter().map(finding).collect::<Vec<_>>(),
            "change": other.iter().map(|(before, after)| json!({
                "rule": after.rule, "subject": after.subject, "before": before.severity, "after": after.severity,
            })).collect::<Vec<_>>(),
        })
    }
}

fn ceiling(row: &CeilingRow) -> Json {
    json!({
        "lo_bps": row.lo_bps, "typical_bps": row.typical_bps, "hi_bps": row.hi_bps, "binding": row.binding,
        "binding_text": row.binding_text, "assumed": row.assumed, "confidence": row.confidence, "notes": row.notes, "stands_on": row.stands_on,
    })
}

fn in_words(row: &CeilingRow) -> String {
    let range = numbers::rate_range(row.lo_bps, row.typical_bps, row.hi_bps, row.confidence == "low");
    format!("{range}, typically {}: {} binds", numbers::rate(row.typical_bps), visible(&row.binding_text))
}
