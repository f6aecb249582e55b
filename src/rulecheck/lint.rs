//! What is wrong with a set of rules beyond each rule by itself.

use std::collections::BTreeSet;

use crate::knowledge::Knowledge;
use crate::lang::closest;
use crate::rules::{Problem, RuleFile, RuleSet};

/// Edges that lead nowhere, circles of explanation, unknown keys.
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
        if explains_itself(rules, rule.id()) {
            problems.push(Problem::of_rule(&file, &rule.spec.id, "it explains itself, through others"));
        }
    }
    problems
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
