//! Every part of an expression with its outcome, for a person who asks why.

use super::eval::{Evaluation, Run, State, World};
use super::program::{Node, Op, Program, Quantifier};
use super::types::{Entity, Key};

/// So many elements of a quantifier are shown.
const ELEMENTS_SHOWN: usize = 64;

/// One part of an expression and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// How it is written; for an element of a quantifier, the name it is bound to.
    pub text: String,
    /// Its value, absent, or unknown.
    pub outcome: State,
    /// The fact it reads.
    pub key: Option<Key>,
    /// Its parts, all of them evaluated.
    pub children: Vec<Term>,
}

impl Program {
    /// The tree of all parts with their outcomes; nothing is cut short.
    pub fn explain(&self, world: &dyn World, roots: &[Entity], variables: &[Evaluation]) -> Term {
        Explainer { source: &self.source, run: Run::new(world, roots, variables) }.term(&self.root)
    }
}

struct Explainer<'a> {
    source: &'a str,
    run: Run<'a>,
}

impl Explainer<'_> {
    fn term(&mut self, node: &Node) -> Term {
        let outcome = self.run.state(node);
        let key = self.run.key(node);
        let children = match &node.op {
            Op::Quantifier(quantifier) => self.elements(quantifier),
            _ => node.operands().iter().filter(|part| is_worth_showing(part)).map(|part| self.term(part)).collect(),
        };
        let text = self.source.get(node.span.clone()).unwrap_or_default().to_owned();
        Term { text, outcome, key, children }
    }

    fn elements(&mut self, quantifier: &Quantifier) -> Vec<Term> {
        let mut terms = vec![self.term(&quantifier.list)];
        let Ok(elements) = self.run.elements(quantifier) else { return terms };
        for element in elements.iter().take(ELEMENTS_SHOWN) {
            self.run.bind(quantifier.depth, element.clone());
            let parts = quantifier.filter.iter().chain(&quantifier.body);
            let children = parts.filter(|part| is_worth_showing(part)).map(|part| self.term(part)).collect();
            let outcome = State::Known(element.clone());
            terms.push(Term { text: quantifier.variable.clone(), outcome, key: None, children });
        }
        terms
    }
}

/// Literals and bound names explain nothing.
fn is_worth_showing(node: &Node) -> bool {
    !matches!(node.op, Op::Constant(_) | Op::Root(_) | Op::Element(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::testing::{Room, key, number, program, shelf};

    fn drawn(term: &Term, depth: usize, out: &mut String) {
        let mark = if term.key.is_some() { " *" } else { "" };
        let outcome = match &term.outcome {
            State::Known(value) => format!("{value:?}"),
            other => format!("{other:?}"),
        };
        for part in ["  ".repeat(depth).as_str(), &term.text, " = ", &outcome, mark, "\n"] {
            out.push_str(part);
        }
        for child in &term.children {
            drawn(child, depth + 1, out);
        }
    }

    #[test]
    fn every_part_is_shown_even_past_the_decision() {
        let room = Room::new().shelf("locked", State::TRUE).shelf("count", number(3.0));
        let term = program("shelf.locked or shelf.count + shelf.depth.left > 2").explain(&room, &[shelf(0)], &[]);
        let mut text = String::new();
        drawn(&term, 0, &mut text);
        assert_eq!(
            text,
            "\
shelf.locked or shelf.count + shelf.depth.left > 2 = Bool(true)
  shelf.locked = Bool(true) *
  shelf.count + shelf.depth.left > 2 = Unknown
    shelf.count + shelf.depth.left = Unknown
      shelf.count = Number(3.0) *
      shelf.depth.left = Unknown *
"
        );
        assert_eq!(term.children[0].key, Some(key(shelf(0), "locked")));
    }

    #[test]
    fn quantifiers_are_shown_per_element() {
        let room = Room::new().boxes("weight", &[number(1.0), State::Absent]);
        let term = program("any(b in shelf.boxes if b.weight > 0)").explain(&room, &[shelf(0)], &[]);
        assert_eq!(term.children.len(), 3);
        assert_eq!(term.children[1].text, "b");
        assert_eq!(term.children[1].children[0].text, "b.weight > 0");
        assert_eq!(term.children[2].children[0].outcome, State::Absent);
    }

    #[test]
    fn long_lists_are_cut() {
        let room = Room::new().boxes("weight", &vec![number(1.0); 100]);
        let term = program("count(b in shelf.boxes if b.weight > 0)").explain(&room, &[shelf(0)], &[]);
        assert_eq!(term.children.len(), 1 + ELEMENTS_SHOWN);
    }
}
