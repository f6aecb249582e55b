//! Small changes to an expression that its tests should notice.

use super::ast::{Comparison, Expr, Fold, Join, Kind};
use super::check::{Context, check};
use super::parse::parse;
use std::collections::BTreeSet;
use std::ops::Range;

/// A changed expression that still checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// What was changed.
    pub description: String,
    /// The changed text.
    pub source: String,
}

/// Every mutant of an expression that still checks, none twice and none equal to the original.
pub fn mutants(source: &str, context: &Context<'_>) -> Vec<Mutant> {
    let (Some(tree), errors) = parse(source) else { return Vec::new() };
    if !errors.is_empty() {
        return Vec::new();
    }
    let mut edits = Vec::new();
    collect(&tree, source, &mut edits);
    let mut seen = BTreeSet::from([source.to_owned()]);
    edits
        .into_iter()
        .map(|edit| edit.apply(source))
        .filter(|mutant| seen.insert(mutant.source.clone()) && check(&mutant.source, context).is_ok())
        .collect()
}

/// One stretch of text replaced by another.
struct Edit {
    span: Range<usize>,
    with: String,
    description: String,
}

impl Edit {
    fn replace(source: &str, span: Range<usize>, with: &str) -> Self {
        let description = format!("`{}` becomes `{with}`", &source[span.clone()]);
        Self { span, with: with.to_owned(), description }
    }

    fn drop(span: Range<usize>, what: &str) -> Self {
        Self { span, with: String::new(), description: format!("`{what}` is dropped") }
    }

    fn apply(self, source: &str) -> Mutant {
        let Range { start, end } = self.span;
        let source = format!("{}{}{}", &source[..start], self.with, &source[end..]);
        Mutant { description: self.description, source: source.trim().to_owned() }
    }
}

fn collect(expr: &Expr, source: &str, edits: &mut Vec<Edit>) {
    match &expr.kind {
        Kind::Number { digits, .. } => scale(source, digits, edits),
        Kind::Compare { comparison, operator, .. } => {
            let flips = flips(*comparison).iter();
            edits.extend(flips.map(|flip| Edit::replace(source, operator.clone(), flip)));
        }
        Kind::Logic { join, operators, terms } => {
            let other = if *join == Join::And { "or" } else { "and" };
            edits.extend(operators.iter().map(|operator| Edit::replace(source, operator.clone(), other)));
            drop_each(source, terms, edits);
        }
        Kind::Not { operator, operand } => edits.push(Edit::drop(operator.start..operand.span.start, "not")),
        Kind::In { negation, list, .. } => {
            drop_negation(source, negation.as_ref(), edits);
            if let Kind::List(items) = &list.kind
                && items.len() > 1
            {
                drop_each(source, items, edits);
            }
        }
        Kind::Is { negation, .. } => drop_negation(source, negation.as_ref(), edits),
        Kind::Quantifier(quantifier) => match quantifier.fold {
            Fold::Any => edits.push(Edit::replace(source, quantifier.keyword.clone(), Fold::All.name())),
            Fold::All => edits.push(Edit::replace(source, quantifier.keyword.clone(), Fold::Any.name())),
            _ => {}
        },
        _ => {}
    }
    for child in expr.kind.children() {
        collect(child, source, edits);
    }
}

/// A literal halved and doubled, its unit kept.
fn scale(source: &str, digits: &Range<usize>, edits: &mut Vec<Edit>) {
    let figure = &source[digits.clone()];
    let value = match figure.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|whole| whole as f64),
        None => figure.parse::<f64>().ok(),
    };
    if let Some(value) = value.filter(|value| *value != 0.0) {
        edits.extend([0.5, 2.0].map(|factor| Edit::replace(source, digits.clone(), &(value * factor).to_string())));
    }
}

fn flips(comparison: Comparison) -> &'static [&'static str] {
    match comparison {
        Comparison::Less => &["<=", ">"],
        Comparison::LessOrEqual => &["<", ">="],
        Comparison::Greater => &[">=", "<"],
        Comparison::GreaterOrEqual => &[">", "<="],
        Comparison::Equal => &["!="],
        Comparison::NotEqual => &["=="],
    }
}

/// Each of several items, with what joins it to its neighbour, dropped.
fn drop_each(source: &str, items: &[Expr], edits: &mut Vec<Edit>) {
    for (index, item) in items.iter().enumerate() {
        let span = match (items.get(index + 1), index.checked_sub(1).and_then(|before| items.get(before))) {
            (Some(next), _) => item.span.start..next.span.start,
            (None, Some(before)) => before.span.end..item.span.end,
            (None, None) => continue,
        };
        edits.push(Edit::drop(span, &source[item.span.clone()]));
    }
}

fn drop_negation(source: &str, negation: Option<&Range<usize>>, edits: &mut Vec<Edit>) {
    if let Some(span) = negation {
        let after = source[span.end..].find(|c: char| !c.is_whitespace()).map_or(span.end, |gap| span.end + gap);
        edits.push(Edit::drop(span.start..after, "not"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::testing::{EVERYTHING, with_context};

    fn of(source: &str) -> Vec<String> {
        let found = with_context(EVERYTHING, |context| mutants(source, context));
        let unique: BTreeSet<_> = found.iter().map(|mutant| &mutant.source).collect();
        assert_eq!(unique.len(), found.len());
        assert!(found.iter().all(|mutant| mutant.source != source && !mutant.description.is_empty()));
        found.into_iter().map(|mutant| mutant.source).collect()
    }

    #[test]
    fn thresholds_and_comparisons() {
        assert_eq!(
            of("shelf.speed < 25Gbit/s"),
            ["shelf.speed <= 25Gbit/s", "shelf.speed > 25Gbit/s", "shelf.speed < 12.5Gbit/s", "shelf.speed < 50Gbit/s"]
        );
        assert_eq!(of("shelf.count == 0"), ["shelf.count != 0"]);
        assert_eq!(of("shelf.level > -12dBm")[2..], ["shelf.level > -6dBm", "shelf.level > -24dBm"]);
    }

    #[test]
    fn terms_and_joins() {
        assert_eq!(
            of("ok and (shelf.lit or shelf.locked)"),
            [
                "ok or (shelf.lit or shelf.locked)",
                "(shelf.lit or shelf.locked)",
                "ok",
                "ok and (shelf.lit and shelf.locked)",
                "ok and (shelf.locked)",
                "ok and (shelf.lit)",
            ]
        );
    }

    #[test]
    fn negations_quantifiers_and_lists() {
        assert_eq!(of("not shelf.lit"), ["shelf.lit"]);
        assert_eq!(
            of("shelf.kind not in [oak, pine]"),
            ["shelf.kind in [oak, pine]", "shelf.kind not in [pine]", "shelf.kind not in [oak]"]
        );
        assert_eq!(of("shelf.lit is not absent"), ["shelf.lit is absent"]);
        assert_eq!(of("any(b.open for b in shelf.boxes)"), ["all(b.open for b in shelf.boxes)"]);
    }

    #[test]
    fn a_mutant_that_does_not_check_is_left_out() {
        assert!(of("any(b in shelf.boxes)").is_empty());
        assert!(of("shelf.nothing > 3").is_empty());
        assert_eq!(of("any(fired(box.torn) for b in shelf.boxes)"), [] as [&str; 0]);
    }
}
