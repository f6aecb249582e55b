//! What could not be read, out of the snapshot: facts that are unknown, by their reason.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::manifest::Unread;
use crate::reading::GapKind;
use crate::snapshot::Snapshot;

/// Subjects that are named.
const MOST_SUBJECTS: usize = 8;

/// Facts and subjects that share a gap.
#[derive(Default)]
struct Group {
    facts: BTreeSet<String>,
    subjects: Vec<String>,
}

/// Facts that were asked for and are unknown, by their reason; what follows from others is left out.
pub fn unread(snapshot: &Snapshot) -> Vec<Unread> {
    let Ok(document) = serde_json::from_str::<Value>(&snapshot.to_json()) else { return Vec::new() };
    let mut groups: BTreeMap<u64, Group> = BTreeMap::new();
    find(&document["host"], "host", "", &mut groups);
    for (list, key) in [("interfaces", "name"), ("devices", "address")] {
        for one in document[list].as_array().into_iter().flatten() {
            find(one, one[key].as_str().unwrap_or_default(), "", &mut groups);
        }
    }
    let gaps = snapshot.origins.gaps();
    let mut found = Vec::new();
    for (id, group) in groups {
        let Some(gap) = usize::try_from(id).ok().and_then(|id| gaps.get(id)) else { continue };
        if gap.why == GapKind::Derived || (gap.why == GapKind::NotCollected && gap.detail.is_empty()) {
            continue;
        }
        let Group { facts, mut subjects } = group;
        let more = subjects.len().saturating_sub(MOST_SUBJECTS);
        subjects.truncate(MOST_SUBJECTS);
        if more > 0 {
            subjects.push(format!("and {more} more"));
        }
        let facts: Vec<String> = facts.into_iter().collect();
        found.push(Unread {
            what: facts.join(", "),
            of: subjects,
            why: gap.why.word().into(),
            detail: gap.detail.clone(),
            command: gap.command.clone(),
        });
    }
    found
}

/// Takes down the unknown facts of a subject. Elements of a list share the path of the list.
fn find(value: &Value, subject: &str, path: &str, groups: &mut BTreeMap<u64, Group>) {
    match value {
        Value::Object(fields) => {
            if let (1, Some(id)) = (fields.len(), fields.get("unknown").and_then(Value::as_u64)) {
                let group = groups.entry(id).or_default();
                group.facts.insert(path.to_owned());
                if group.subjects.last().is_none_or(|last| last != subject) {
                    group.subjects.push(subject.to_owned());
                }
                return;
            }
            for (key, inner) in fields {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                find(inner, subject, &path, groups);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| find(item, subject, path, groups)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_facts_are_told_by_their_reason() {
        let snapshot = Snapshot::from_json(
            r#"{"schema": "netdoctor.snapshot/1",
                "gaps": [{"why": "not_collected"}, {"why": "failed", "detail": "no answer", "command": "ethtool IFACE"},
                         {"why": "derived", "detail": "x"}],
                "interfaces": [{"name": "a", "link": {"speed": {"unknown": 1}, "duplex": {"unknown": 1}}},
                               {"name": "b", "link": {"speed": {"unknown": 1}}, "mtu": {"unknown": 2}}]}"#,
        );
        let found = unread(&snapshot.unwrap());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].what.as_str(), found[0].why.as_str()), ("link.duplex, link.speed", "failed"));
        assert_eq!(found[0].of, ["a", "b"]);
        assert_eq!((found[0].detail.as_str(), found[0].command.as_str()), ("no answer", "ethtool IFACE"));
    }
}
