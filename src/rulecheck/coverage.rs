//! Which rules raw input makes fire. A rule that nothing has made fire is unproven.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::Facts;
use crate::knowledge::Knowledge;
use crate::rules::{RuleSet, Verdict, diagnose};
use crate::snapshot::Snapshot;

/// For each rule the inputs that make it fire, and how often it came out otherwise.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Rule id -> names of the inputs in which it fires.
    pub fires: BTreeMap<String, BTreeSet<String>>,
    /// Rule id -> number of subjects by result.
    pub results: BTreeMap<String, BTreeMap<Verdict, usize>>,
}

/// Asks all rules of all inputs.
pub fn cover<'s>(rules: &RuleSet, inputs: impl IntoIterator<Item = (&'s str, &'s Snapshot)>) -> Coverage {
    let mut coverage = Coverage::default();
    for id in rules.ids() {
        coverage.fires.insert(id.to_owned(), BTreeSet::new());
        coverage.results.insert(id.to_owned(), BTreeMap::new());
    }
    for (name, snapshot) in inputs {
        let facts = Facts::new(snapshot, Knowledge::embedded());
        for outcome in diagnose(rules, &facts).outcomes {
            let id = rules.rules()[outcome.rule].id();
            *coverage.results.entry(id.to_owned()).or_default().entry(outcome.verdict).or_default() += 1;
            if outcome.verdict == Verdict::Fires {
                coverage.fires.entry(id.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }
    coverage
}
