//! What is wrong with a set of rules beyond each rule by itself.

use std::collections::BTreeSet;

use crate::advice::{flaw, reads_as_command};
use crate::knowledge::Knowledge;
use crate::lang::closest;
use crate::rules::{Problem, RuleFile, RuleSet};

/// Edges that lead nowhere, circles of explanation, unknown keys, commands that nobody could type.
pub fn lint(rules: &RuleSet) -> Vec<Problem> {
    let mut problems = Vec::new();
    let settings = &Knowledge::embedded().persistence().settings;
    let keys: Vec<&str> = settings.iter().map(|one| one.key.as_str()).collect();
    let ids: BTreeSet<&str> = rules.ids().collect();
    for rule in rules.rules() {
        let file = RuleFile { name: rule.file.clone(), text: "".into() };
        let edges = rule.spec.explains.iter().map(|edge| &edge.rule).chain(&rule.spec.instead_of);
        for edge in edges.filter(|edge| !ids.contains(edge.as_str())) {
            let near = closest(edge, ids.iter().copied());
            let hint = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            problems.push(Problem::of_rule(&file, &rule.spec.id, format!("`{edge}` is no rule{hint}")));
        }
        for advice in rule.recommend.iter().filter(|advice| !keys.contains(&advice.persist.as_str())) {
            let message = format!("`{}` is no key of persistence: {}", advice.persist, keys.join(", "));
            problems.push(Problem::of_rule(&file, &rule.spec.id, message));
        }
        for advice in &rule.spec.recommend {
            for command in advice.commands.iter().chain(&advice.undo) {
                let message = no_command(&command.text);
                problems.extend(message.map(|message| Problem::at(&file, rule.id(), command, message, None)));
            }
        }
        if explains_itself(rules, rule.id()) {
            problems.push(Problem::of_rule(&file, &rule.spec.id, "it explains itself, through others"));
        }
    }
    problems
}

/// What is wrong with a command as it was written.
fn no_command(template: &str) -> Option<String> {
    if !reads_as_command(template) {
        return Some("this is no command: words belong into `do`, `verify` or `undo_note`".into());
    }
    // What is filled in is checked when it is: a value stands in its place.
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let value = if rest[at..].starts_with("{{") { "x" } else { "" };
        text = text + &rest[..at] + value;
        let closing = if value.is_empty() { "%}" } else { "}}" };
        rest = rest[at..].split_once(closing).map_or("", |(_, after)| after);
    }
    flaw(&(text + rest)).map(|found| format!("{found}: fill it in, or say it in words"))
}

fn explains_itself(rules: &RuleSet, id: &str) -> bool {
    let mut open = vec![id];
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        let edges = rules.get(next).map_or(&[][..], |rule| rule.spec.explains.as_slice());
        for edge in edges {
            if edge.rule == id {
                return true;
            }
            if seen.insert(edge.rule.as_str()) {
                open.push(&edge.rule);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_ready_to_type() {
        for good in [
            "ethtool -G {{ iface.name }} rx {{ next }}",
            "ethtool -A {{ iface.name }} rx {% if iface.pause.rx %}on{% else %}off{% endif %} tx off",
            "mpstat -P ALL 1 5",
            "{{ x }}",
        ] {
            assert_eq!(no_command(good), None, "{good}");
        }
        for (bad, told) in [
            ("Put the former part back", "no command"),
            ("tc qdisc del dev '<interface of the sender>' root", "placeholder"),
            ("ping -s {{ size }} PEER", "`PEER`"),
        ] {
            assert!(no_command(bad).unwrap_or_default().contains(told), "{bad}");
        }
    }
}
