//! The vocabulary holds every fact that the researched catalogue of rules asks for, or says why not.

use std::collections::{BTreeMap, BTreeSet};

use netdoctor::facts::{Catalogue, DEVICE, EVENT, FLOW, HOST, INTERFACE, MEMBER, QDISC};
use netdoctor::lang::{Allow, Context, check};
use serde::Deserialize;

use crate::support::read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    has: BTreeSet<String>,
    by: BTreeMap<String, String>,
    left: BTreeMap<String, String>,
}

#[test]
fn every_fact_that_rules_ask_for_is_there_or_accounted_for() {
    let asked: Asked = serde_yaml::from_str(&read("tests/it/catalogue-facts.yaml")).unwrap();
    let rules = BTreeSet::new();
    let roots = [
        ("host", HOST),
        ("iface", INTERFACE),
        ("device", DEVICE),
        ("flow", FLOW),
        ("member", MEMBER),
        ("event", EVENT),
        ("qdisc", QDISC),
    ];
    let allow = Allow { unknown: true, ..Allow::default() };
    let context = Context { vocabulary: Catalogue::shared(), roots: &roots, variables: &[], allow, rules: &rules };
    let expressions = asked.has.iter().map(|path| (path, path)).chain(&asked.by);
    let wrong: Vec<String> = expressions
        .filter_map(|(path, by)| {
            let problems = check(by, &context).err()?;
            let said: Vec<_> = problems.into_iter().map(|problem| problem.message).collect();
            Some(format!("{path} by `{by}`: {}", said.join("; ")))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A name stands in one list only, and what is left out has a reason in words.
    let names = asked.has.iter().chain(asked.by.keys()).chain(asked.left.keys());
    assert_eq!(names.collect::<BTreeSet<_>>().len(), asked.has.len() + asked.by.len() + asked.left.len());
    assert!(asked.left.values().all(|why| why.split(' ').count() > 4));
    assert!(asked.left.len() * 10 < asked.has.len() + asked.by.len(), "too much is left out");
}
