//! The tree of an expression as it was written.

use super::types::Quantity;
use super::value::Version;
use std::ops::Range;

/// A part of an expression.
#[derive(Debug, Clone)]
pub(super) struct Expr {
    /// Where it stands, with the parentheses around it.
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
    /// Levels of the tree from here down.
    pub(super) depth: usize,
}

/// One name of a dotted path.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) name: String,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    pub(super) fn is_equality(self) -> bool {
        matches!(self, Self::Equal | Self::NotEqual)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// What `is` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Known,
    Unknown,
    Absent,
    Empty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Any,
    All,
    Count,
    Sum,
    Max,
    Min,
    Distinct,
}

impl Fold {
    pub(super) const NAMES: [(&'static str, Self); 7] = [
        ("any", Self::Any),
        ("all", Self::All),
        ("count", Self::Count),
        ("sum", Self::Sum),
        ("max", Self::Max),
        ("min", Self::Min),
        ("distinct", Self::Distinct),
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, fold)| *fold)
    }

    pub(super) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, fold)| *fold == self).map_or("", |(name, _)| name)
    }
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// `digits` is where the number without sign and unit stands.
    Number {
        value: f64,
        quantity: Quantity,
        digits: Range<usize>,
    },
    Version(Version),
    Text(String),
    Bool(bool),
    /// A dotted path or a bare word.
    Path(Vec<Segment>),
    List(Vec<Expr>),
    Negate(Box<Expr>),
    Not {
        operator: Range<usize>,
        operand: Box<Expr>,
    },
    Logic {
        join: Join,
        operators: Vec<Range<usize>>,
        terms: Vec<Expr>,
    },
    Compare {
        comparison: Comparison,
        operator: Range<usize>,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Arithmetic {
        operation: Operation,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    In {
        negation: Option<Range<usize>>,
        item: Box<Expr>,
        list: Box<Expr>,
    },
    Is {
        question: Question,
        negation: Option<Range<usize>>,
        subject: Box<Expr>,
    },
    Call {
        name: Segment,
        arguments: Vec<Expr>,
    },
    Fired(Segment),
    Quantifier(Box<Quantifier>),
}

/// `fold(projection for variable in list if filter)`.
#[derive(Debug, Clone)]
pub(super) struct Quantifier {
    pub(super) fold: Fold,
    pub(super) keyword: Range<usize>,
    pub(super) projection: Option<Expr>,
    pub(super) variable: Segment,
    pub(super) list: Expr,
    pub(super) filter: Option<Expr>,
}

impl Expr {
    pub(super) fn new(span: Range<usize>, kind: Kind) -> Self {
        let depth = 1 + kind.children().iter().map(|child| child.depth).max().unwrap_or(0);
        Self { span, kind, depth }
    }
}

impl Kind {
    /// The expressions right below.
    pub(super) fn children(&self) -> Vec<&Expr> {
        match self {
            Self::Number { .. } | Self::Version(_) | Self::Text(_) | Self::Bool(_) | Self::Path(_) | Self::Fired(_) => {
                Vec::new()
            }
            Self::List(items) | Self::Logic { terms: items, .. } | Self::Call { arguments: items, .. } => {
                items.iter().collect()
            }
            Self::Negate(operand) | Self::Not { operand, .. } | Self::Is { subject: operand, .. } => vec![operand],
            Self::Compare { left, right, .. } | Self::Arithmetic { left, right, .. } => vec![left, right],
            Self::In { item, list, .. } => vec![item, list],
            Self::Quantifier(q) => q.projection.iter().chain(std::iter::once(&q.list)).chain(q.filter.iter()).collect(),
        }
    }
}
