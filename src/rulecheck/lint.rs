//! What is wrong with a set of rules beyond each rule by itself.

use std::collections::BTreeSet;

use crate::advice::{flaw, reads_as_command};
use crate::knowledge::Knowledge;
use crate::lang::closest;
use crate::rules::schema::{Reach, Scope};
use crate::rules::{Problem, Rule, RuleFile, RuleSet};

/// Edges that lead nowhere, circles of explanation, unknown keys, commands that nobody could type.
pub fn lint(rules: &RuleSet) -> Vec<Problem> {
    let mut problems = Vec::new();
    let settings = &Knowledge::embedded().persistence().settings;
    let keys: Vec<&str> = settings.iter().map(|one| one.key.as_str()).collect();
    let ids: BTreeSet<&str> = rules.ids().collect();
    for rule in rules.rules() {
        let file = RuleFile { name: rule.file.clone(), text: "".into() };
        for message in edges(rules, rule) {
            problems.push(Problem::of_rule(&file, &rule.spec.id, message));
        }
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

/// What is wrong with what a rule explains: a direction that the symptom does not have or that is left open, a way through the
/// stack of interfaces that the host has not, one symptom twice.
fn edges(rules: &RuleSet, rule: &Rule) -> Vec<String> {
    let mut found = Vec::new();
    for (at, edge) in rule.spec.explains.iter().enumerate() {
        let id = &edge.rule;
        if rule.spec.explains[..at].iter().any(|before| before.rule == *id) {
            found.push(format!("it explains `{id}` twice; for both directions write `side: both`"));
        }
        let Some(symptom) = rules.get(id) else { continue };
        match (edge.side, symptom.spec.sides.is_empty()) {
            (Some(_), true) => found.push(format!("`{id}` states no `sides`, so `side` says nothing")),
            (None, false) => found.push(format!("`{id}` is about one direction: say `side: own`, `peer` or `both`")),
            _ => {}
        }
        let host = [rule, symptom].iter().any(|one| one.spec.scope == Scope::Host);
        if host && edge.reach != Reach::default() {
            found.push(format!("`reach` to `{id}` says nothing: the host stands on every interface"));
        }
    }
    found
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
    use crate::rules::parse_file;

    fn rule(id: &str, scope: &str, lines: &str) -> String {
        let text = "kind: fault, severity: info, confidence: high, why: w, impact: i, recommend: [], sources: [{from: test, checked: known}]";
        format!("- {{id: {id}, title: t, scope: {scope}, {text}, {lines}}}\n")
    }

    #[test]
    fn an_edge_says_its_direction_where_the_symptom_has_one() {
        let symptoms = rule("tcp.sided", "host", "when: host.cpus > 0, sides: [{is: own, when: host.cpus > 0}]")
            + &rule("tcp.plain", "host", "when: host.cpus > 0")
            + &rule("bond.plain", "interface", "when: iface.mtu > 0B");
        for (edge, told) in [
            ("{rule: tcp.sided, side: both}", None),
            ("{rule: tcp.plain}", None),
            ("{rule: bond.plain, reach: down}", None),
            ("{rule: tcp.sided}", Some("say `side: own`")),
            ("{rule: tcp.plain, side: peer}", Some("states no `sides`")),
            ("{rule: tcp.plain, reach: both}", Some("`reach` to `tcp.plain` says nothing")),
            ("{rule: tcp.sided, side: own}, {rule: tcp.sided, side: peer}", Some("twice")),
        ] {
            let cause = rule("link.cause", "interface", &format!("when: iface.mtu > 0B, explains: [{edge}]"));
            let (specs, problems) = parse_file("test.yaml", &(symptoms.clone() + &cause));
            assert_eq!(problems, []);
            let found: Vec<String> = lint(&RuleSet::compile(specs)).iter().map(ToString::to_string).collect();
            match told {
                None => assert_eq!(found, Vec::<String>::new(), "{edge}"),
                Some(told) => assert!(found.len() == 1 && found[0].contains(told), "{edge}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_side_is_one_of_two() {
        let both = rule("tcp.sided", "host", "when: host.cpus > 0, sides: [{is: both, when: host.cpus > 0}]");
        let problems = RuleSet::compile(parse_file("test.yaml", &both).0).problems;
        assert!(problems.len() == 1 && problems[0].to_string().contains("a line each"), "{problems:?}");
    }

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
