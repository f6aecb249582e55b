//! A checked expression, its paths turned into slots.

use super::ast::{Comparison, Fold, Operation, Question};
use super::types::{ScopeId, Slot, Type};
use super::value::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// Quantifiers that may stand inside one another.
pub(super) const DEEPEST_QUANTIFIER: usize = 2;

/// A checked expression, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) source: String,
    pub(super) root: Node,
    pub(super) result: Type,
    pub(super) reads: BTreeSet<(ScopeId, Slot)>,
    pub(super) fired: BTreeSet<String>,
}

impl Program {
    /// What it yields.
    pub fn result_type(&self) -> &Type {
        &self.result
    }

    /// Every fact it can touch, in order.
    pub fn reads(&self) -> Vec<(ScopeId, Slot)> {
        self.reads.iter().copied().collect()
    }

    /// The rules it asks `fired(...)` of, in order.
    pub fn fired_rules(&self) -> Vec<String> {
        self.fired.iter().cloned().collect()
    }

    /// The text it was made from.
    pub fn source(&self) -> &str {
        &self.source
    }
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Where it stands in the source.
    pub(super) span: Range<usize>,
    pub(super) op: Op,
}

#[derive(Debug, Clone)]
pub(super) enum Op {
    Constant(Value),
    /// An entity the caller binds.
    Root(usize),
    /// The element of the quantifier at that depth.
    Element(usize),
    Variable(usize),
    Fact {
        subject: Box<Node>,
        slot: Slot,
    },
    List(Vec<Node>),
    Negate(Box<Node>),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    /// Two operands.
    Compare(Comparison, Box<[Node; 2]>),
    /// Two operands.
    Arithmetic(Operation, Box<[Node; 2]>),
    /// Item and list.
    In {
        negated: bool,
        operands: Box<[Node; 2]>,
    },
    Is {
        question: Question,
        negated: bool,
        subject: Box<Node>,
    },
    Builtin(Builtin, Vec<Node>),
    Apply(fn(&[Value]) -> Option<Value>, Vec<Node>),
    Fired(String),
    Quantifier(Box<Quantifier>),
}

#[derive(Debug, Clone)]
pub(super) struct Quantifier {
    pub(super) fold: Fold,
    /// How many quantifiers stand around it.
    pub(super) depth: usize,
    pub(super) variable: String,
    pub(super) list: Node,
    pub(super) filter: Option<Node>,
    /// The condition of `any` and `all`, the value of the others; none for a `count` of elements.
    pub(super) body: Option<Node>,
    /// Whether `count` counts the elements for which the body is true.
    pub(super) counts_true: bool,
}

/// Functions of the language itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    Intersect,
    Difference,
    Union,
    Size,
    Empty,
    Abs,
    Max,
    Min,
}

impl Builtin {
    pub(super) const NAMES: [(&'static str, Self); 8] = [
        ("intersect", Self::Intersect),
        ("difference", Self::Difference),
        ("union", Self::Union),
        ("size", Self::Size),
        ("empty", Self::Empty),
        ("abs", Self::Abs),
        ("max", Self::Max),
        ("min", Self::Min),
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, builtin)| *builtin)
    }
}

impl Node {
    /// The nodes right below; those of a quantifier depend on an element and are not among them.
    pub(super) fn operands(&self) -> &[Node] {
        match &self.op {
            Op::Constant(_) | Op::Root(_) | Op::Element(_) | Op::Variable(_) | Op::Fired(_) | Op::Quantifier(_) => &[],
            Op::Fact { subject: one, .. } | Op::Negate(one) | Op::Not(one) | Op::Is { subject: one, .. } => {
                std::slice::from_ref(&**one)
            }
            Op::List(many) | Op::And(many) | Op::Or(many) | Op::Builtin(_, many) | Op::Apply(_, many) => many,
            Op::Compare(_, two) | Op::Arithmetic(_, two) | Op::In { operands: two, .. } => &**two,
        }
    }
}
