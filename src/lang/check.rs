//! Names, types and units of a tree; what comes out is a [`Program`].

use super::ast::{Comparison, Expr, Fold, Join, Kind, Operation, Quantifier, Question, Segment};
use super::diagnostic::Diagnostic;
use super::parse::parse;
use super::program::{self, Builtin, DEEPEST_QUANTIFIER, Node, Op, Program};
use super::suggest::{closest, did_you_mean};
use super::types::{Dim, Quantity, ScopeId, Slot, Type};
use super::unit;
use super::value::Value;
use super::vocabulary::Vocabulary;
use std::collections::BTreeSet;
use std::ops::Range;

/// What an expression may ask besides facts; this depends on where it stands in a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allow {
    /// `x is known`: in `requires`.
    pub known: bool,
    /// `x is unknown`: in `severity_when`.
    pub unknown: bool,
    /// `fired(rule)`.
    pub fired: bool,
}

/// The names an expression may use.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Scopes, facts and functions.
    pub vocabulary: &'a dyn Vocabulary,
    /// Names bound to subjects, in the order their entities are passed when evaluating.
    pub roots: &'a [(&'a str, ScopeId)],
    /// Names whose value the caller supplies, in the order they are passed; a name may be dotted.
    pub variables: &'a [(String, Type)],
    /// What else may be asked.
    pub allow: Allow,
    /// Every rule `fired(...)` may name.
    pub rules: &'a BTreeSet<String>,
}

/// Checks an expression: every name, type and unit.
pub fn check(source: &str, context: &Context<'_>) -> Result<Program, Vec<Diagnostic>> {
    let (tree, errors) = parse(source);
    let mut checker =
        Checker { source, context, errors, elements: Vec::new(), reads: BTreeSet::new(), fired: BTreeSet::new() };
    let typed = tree.and_then(|tree| checker.expr(&tree, None, Place::Positive));
    match typed {
        Some(Typed { node, kind }) if checker.errors.is_empty() => Ok(Program {
            source: source.to_owned(),
            root: node,
            result: kind,
            reads: checker.reads,
            fired: checker.fired,
        }),
        _ => Err(checker.errors),
    }
}

/// Whether a part can only make the whole true, never false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Positive,
    Other,
}

/// A checked part and its type.
pub(super) struct Typed {
    pub(super) node: Node,
    pub(super) kind: Type,
}

impl Typed {
    pub(super) fn new(span: &Range<usize>, op: Op, kind: Type) -> Self {
        Self { node: Node { span: span.clone(), op }, kind }
    }
}

pub(super) struct Checker<'a> {
    pub(super) source: &'a str,
    pub(super) context: &'a Context<'a>,
    pub(super) errors: Vec<Diagnostic>,
    /// Elements of the quantifiers around, outermost first.
    pub(super) elements: Vec<(String, Type)>,
    pub(super) reads: BTreeSet<(ScopeId, Slot)>,
    fired: BTreeSet<String>,
}

impl Checker<'_> {
    /// Notes an error; `None` so that the caller can return at once.
    pub(super) fn fail<T>(
        &mut self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Option<T> {
        self.errors.push(Diagnostic::new(span.clone(), message).help(help));
        None
    }

    pub(super) fn text(&self, span: &Range<usize>) -> &str {
        &self.source[span.clone()]
    }

    /// Checks a part. `expected` is what the other side is, for bare words and for zero.
    pub(super) fn expr(&mut self, expr: &Expr, expected: Option<&Type>, place: Place) -> Option<Typed> {
        let span = &expr.span;
        let typed = |op, kind| Some(Typed::new(span, op, kind));
        match &expr.kind {
            Kind::Number { value, quantity, .. } => {
                let quantity = match expected {
                    Some(Type::Number(Quantity::Scale(dim))) if is_zero(expr) => Quantity::Scale(*dim),
                    _ => *quantity,
                };
                typed(Op::Constant(Value::Number(*value)), Type::Number(quantity))
            }
            Kind::Version(version) => typed(Op::Constant(Value::Version(*version)), Type::Version),
            Kind::Bool(value) => typed(Op::Constant(Value::Bool(*value)), Type::Bool),
            Kind::Text(text) => self.literal_text(span, text, expected),
            Kind::Path(segments) => self.path(span, segments, expected),
            Kind::List(items) => self.list(span, items, expected),
            Kind::Negate(operand) => self.negate(span, operand),
            Kind::Not { operand, .. } => {
                let node = self.condition(operand, "`not` turns a condition around", Place::Other)?;
                typed(Op::Not(Box::new(node)), Type::Bool)
            }
            Kind::Logic { join, terms, .. } => self.logic(span, *join, terms, place),
            Kind::Compare { comparison, left, right, .. } => self.compare(span, *comparison, left, right),
            Kind::Arithmetic { operation, left, right } => self.arithmetic(span, *operation, left, right),
            Kind::In { negation, item, list } => self.is_in(span, negation.is_some(), item, list),
            Kind::Is { question, negation, subject } => self.is(span, *question, negation.is_some(), subject),
            Kind::Call { name, arguments } => self.call(span, name, arguments),
            Kind::Fired(rule) => self.fired(span, rule, place),
            Kind::Quantifier(quantifier) => self.quantifier(span, quantifier, place),
        }
    }

    fn condition(&mut self, expr: &Expr, why: &str, place: Place) -> Option<Node> {
        let Typed { node, kind } = self.expr(expr, None, place)?;
        if kind == Type::Bool {
            return Some(node);
        }
        let message = format!("{why}, but `{}` has type `{kind}`", self.text(&expr.span));
        self.fail(&expr.span, message, "compare it with something".to_owned())
    }

    fn logic(&mut self, span: &Range<usize>, join: Join, terms: &[Expr], place: Place) -> Option<Typed> {
        let why = if join == Join::And { "`and` joins conditions" } else { "`or` joins conditions" };
        let nodes: Vec<_> = terms.iter().map(|term| self.condition(term, why, place)).collect();
        let nodes = nodes.into_iter().collect::<Option<Vec<_>>>()?;
        let op = if join == Join::And { Op::And(nodes) } else { Op::Or(nodes) };
        Some(Typed::new(span, op, Type::Bool))
    }

    /// Checks two sides of which one may tell the other what its words mean.
    fn pair(&mut self, left: &Expr, right: &Expr) -> Option<(Typed, Typed)> {
        let (first, second) =
            if self.needs_hint(left) && !self.needs_hint(right) { (right, left) } else { (left, right) };
        let Some(one) = self.expr(first, None, Place::Other) else {
            if !self.needs_hint(second) {
                self.expr(second, None, Place::Other);
            }
            return None;
        };
        let other = self.expr(second, Some(&one.kind), Place::Other)?;
        Some(if std::ptr::eq(first, left) { (one, other) } else { (other, one) })
    }

    /// Whether the meaning of a part depends on what it is compared with.
    fn needs_hint(&self, expr: &Expr) -> bool {
        match &expr.kind {
            Kind::Text(_) => true,
            Kind::Number { .. } => is_zero(expr),
            Kind::Path(segments) => matches!(&segments[..], [only] if !self.binds_value(&only.name)),
            Kind::List(items) => items.iter().all(|item| self.needs_hint(item)),
            _ => false,
        }
    }

    fn compare(&mut self, span: &Range<usize>, comparison: Comparison, left: &Expr, right: &Expr) -> Option<Typed> {
        let (one, other) = self.pair(left, right)?;
        if !comparable(&one.kind, &other.kind) {
            return self.incomparable(span, (left, &one.kind), (right, &other.kind));
        }
        if !comparison.is_equality() && !matches!(one.kind, Type::Number(_) | Type::Version) {
            let message = format!("type `{}` has no order", one.kind);
            return self.fail(
                span,
                message,
                "numbers and versions can be compared by `<` and `>`; use `==` or `in`".to_owned(),
            );
        }
        if matches!(one.kind, Type::List(_)) {
            return self.fail(span, "lists cannot be compared", "compare their elements, or size(list)".to_owned());
        }
        let operands = Box::new([one.node, other.node]);
        Some(Typed::new(span, Op::Compare(comparison, operands), Type::Bool))
    }

    fn incomparable<T>(&mut self, span: &Range<usize>, one: (&Expr, &Type), other: (&Expr, &Type)) -> Option<T> {
        let help = match (one.1, other.1) {
            (Type::Number(_), Type::Number(_)) => self.unit_help(one, other).or_else(|| self.unit_help(other, one)),
            (Type::Bool, _) | (_, Type::Bool) => Some("a condition stands by itself: `x` or `not x`".to_owned()),
            (Type::List(_) | Type::Set(_), _) | (_, Type::List(_) | Type::Set(_)) => {
                Some("ask whether a list or set holds it with `in`".to_owned())
            }
            _ => None,
        };
        self.fail(span, format!("cannot compare `{}` with `{}`", one.1, other.1), help)
    }

    /// How to write a literal of the wrong unit, given what it meets.
    fn unit_help(&self, literal: (&Expr, &Type), other: (&Expr, &Type)) -> Option<String> {
        let (Kind::Number { .. }, Type::Number(given), Type::Number(wanted)) = (&literal.0.kind, literal.1, other.1)
        else {
            return None;
        };
        let (written, met) = (self.text(&literal.0.span), self.text(&other.0.span));
        Some(match (given, wanted) {
            (Quantity::Scale(Dim::DATA), Quantity::Scale(Dim::RATE)) => {
                format!("`{met}` is in bit/s: write {written}/s")
            }
            (_, Quantity::Scale(Dim::PLAIN)) => format!("`{met}` has no unit"),
            (_, Quantity::Scale(dim)) => {
                format!("`{met}` is in {dim}: write a number such as {}", unit::example(*wanted))
            }
            (_, wanted) => format!("write a number such as {}", unit::example(*wanted)),
        })
    }

    fn negate(&mut self, span: &Range<usize>, operand: &Expr) -> Option<Typed> {
        let Typed { node, kind } = self.expr(operand, None, Place::Other)?;
        if !matches!(kind, Type::Number(Quantity::Scale(_))) {
            return self.fail(span, format!("`-` needs a number, but this has type `{kind}`"), None);
        }
        Some(Typed::new(span, Op::Negate(Box::new(node)), kind))
    }

    fn arithmetic(&mut self, span: &Range<usize>, operation: Operation, left: &Expr, right: &Expr) -> Option<Typed> {
        let (one, other) = match operation {
            Operation::Add | Operation::Subtract => self.pair(left, right)?,
            Operation::Multiply | Operation::Divide => {
                let one = self.expr(left, None, Place::Other);
                let other = self.expr(right, None, Place::Other);
                (one?, other?)
            }
        };
        let (Type::Number(a), Type::Number(b)) = (&one.kind, &other.kind) else {
            let (odd, kind) = if matches!(one.kind, Type::Number(_)) { (right, other.kind) } else { (left, one.kind) };
            let message = format!("arithmetic needs numbers, but `{}` has type `{kind}`", self.text(&odd.span));
            return self.fail(&odd.span, message, None);
        };
        let result = match (operation, a, b) {
            (Operation::Add | Operation::Subtract, Quantity::Scale(x), Quantity::Scale(y)) if x == y => Some(*a),
            (Operation::Subtract, Quantity::Dbm, Quantity::Dbm)
            | (Operation::Subtract, Quantity::Celsius, Quantity::Celsius) => Some(Quantity::Scale(Dim::PLAIN)),
            (Operation::Multiply, Quantity::Scale(x), Quantity::Scale(y)) => x.times(*y).map(Quantity::Scale),
            (Operation::Divide, Quantity::Scale(x), Quantity::Scale(y)) => x.per(*y).map(Quantity::Scale),
            _ => None,
        };
        let Some(quantity) = result else {
            let verb = match operation {
                Operation::Add => "add",
                Operation::Subtract => "subtract",
                Operation::Multiply => "multiply",
                Operation::Divide => "divide",
            };
            let affine = [a, b].iter().any(|q| !matches!(q, Quantity::Scale(_)));
            let help = affine.then(|| "levels in dBm and temperatures can only be compared and subtracted".to_owned());
            let message = format!("cannot {verb} `{}` and `{}`", one.kind, other.kind);
            return self.fail(span, message, help);
        };
        let operands = Box::new([one.node, other.node]);
        Some(Typed::new(span, Op::Arithmetic(operation, operands), Type::Number(quantity)))
    }

    fn list(&mut self, span: &Range<usize>, items: &[Expr], expected: Option<&Type>) -> Option<Typed> {
        let mut element = match expected {
            Some(Type::List(element)) => Some((**element).clone()),
            Some(Type::Set(words)) => Some(Type::Word(words)),
            _ => None,
        };
        if element.is_none()
            && let Some(plain) = items.iter().find(|item| !self.needs_hint(item))
        {
            element = Some(self.expr(plain, None, Place::Other)?.kind);
        }
        let mut nodes = Vec::new();
        for item in items {
            let typed = self.expr(item, element.as_ref(), Place::Other);
            let Some(Typed { node, kind }) = typed else { continue };
            let first = element.get_or_insert_with(|| kind.clone());
            if comparable(first, &kind) {
                nodes.push(node);
            } else {
                let message = format!("type `{kind}` in a list of: {first}");
                self.fail::<()>(&item.span, message, None);
            }
        }
        if nodes.len() < items.len() {
            return None;
        }
        let constants: Option<Vec<Value>> = nodes.iter().map(|node| constant(node).cloned()).collect();
        match (expected, constants) {
            (Some(Type::Set(words)), Some(values)) => {
                let letters = values.into_iter().filter_map(|value| match value {
                    Value::Word(word) | Value::Text(word) => Some(word),
                    _ => None,
                });
                let set = Value::Set(std::sync::Arc::new(letters.collect()));
                Some(Typed::new(span, Op::Constant(set), Type::Set(words)))
            }
            (_, Some(values)) => Some(Typed::new(span, Op::Constant(Value::List(values.into())), Type::list(element?))),
            (_, None) => Some(Typed::new(span, Op::List(nodes), Type::list(element?))),
        }
    }

    fn is_in(&mut self, span: &Range<usize>, negated: bool, item: &Expr, list: &Expr) -> Option<Typed> {
        let (one, other) = if self.needs_hint(list) {
            let one = self.expr(item, None, Place::Other)?;
            let expected = Type::list(one.kind.clone());
            let other = self.expr(list, Some(&expected), Place::Other)?;
            (one, other)
        } else {
            let other = self.expr(list, None, Place::Other)?;
            let expected = element_type(&other.kind);
            (self.expr(item, expected.as_ref(), Place::Other)?, other)
        };
        let Some(element) = element_type(&other.kind) else {
            let message =
                format!("`in` needs a list or a set, but `{}` has type `{}`", self.text(&list.span), other.kind);
            return self.fail(&list.span, message, "write `x in [a, b]`".to_owned());
        };
        if !comparable(&one.kind, &element) {
            return self.incomparable(span, (item, &one.kind), (list, &element));
        }
        Some(Typed::new(span, Op::In { negated, operands: Box::new([one.node, other.node]) }, Type::Bool))
    }

    fn is(&mut self, span: &Range<usize>, question: Question, negated: bool, subject: &Expr) -> Option<Typed> {
        let misplaced = match question {
            Question::Known if !self.context.allow.known => Some(("known", "requires")),
            Question::Unknown if !self.context.allow.unknown => Some(("unknown", "severity_when")),
            _ => None,
        };
        if let Some((word, home)) = misplaced {
            let message = format!("`is {word}` is not allowed here");
            return self.fail(span, message, format!("`is {word}` belongs to `{home}`"));
        }
        if question != Question::Empty && !matches!(subject.kind, Kind::Path(_)) {
            return self.fail(&subject.span, "only a fact can be asked whether it is known", None);
        }
        let Typed { node, kind } = self.expr(subject, None, Place::Other)?;
        if question == Question::Empty && !matches!(kind, Type::List(_) | Type::Set(_) | Type::Text) {
            let message = format!("type `{kind}` is never empty");
            return self.fail(span, message, "lists, sets and texts can be empty".to_owned());
        }
        Some(Typed::new(span, Op::Is { question, negated, subject: Box::new(node) }, Type::Bool))
    }

    fn fired(&mut self, span: &Range<usize>, rule: &Segment, place: Place) -> Option<Typed> {
        if !self.context.allow.fired {
            return self.fail(span, "`fired` is not allowed here", None);
        }
        if place == Place::Other {
            let help = "use it by itself, under `and`, `or` and `any`; to give way to another rule use `instead_of`";
            return self.fail(span, "`fired` can only make a condition true", help.to_owned());
        }
        if !self.context.rules.contains(&rule.name) {
            let near = closest(&rule.name, self.context.rules.iter().map(String::as_str));
            return self.fail(&rule.span, format!("no rule `{}`", rule.name), did_you_mean(&near));
        }
        self.fired.insert(rule.name.clone());
        Some(Typed::new(span, Op::Fired(rule.name.clone()), Type::Bool))
    }

    fn call(&mut self, span: &Range<usize>, name: &Segment, arguments: &[Expr]) -> Option<Typed> {
        if let Some(builtin) = Builtin::from_name(&name.name) {
            return self.builtin(span, builtin, arguments);
        }
        let Some(function) = self.context.vocabulary.function(&name.name) else {
            let known = self.context.vocabulary.function_names();
            let ours = Builtin::NAMES.iter().map(|(known, _)| *known);
            let folds = Fold::NAMES.iter().map(|(known, _)| *known);
            let near = closest(&name.name, known.into_iter().chain(ours).chain(folds).chain(["fired"]));
            return self.fail(&name.span, format!("no function `{}`", name.name), did_you_mean(&near));
        };
        let params = &function.params;
        if params.len() != arguments.len() {
            let message = format!("`{}` takes {} arguments, not {}", name.name, params.len(), arguments.len());
            return self.fail(span, message, None);
        }
        let mut nodes = Vec::new();
        for (argument, param) in arguments.iter().zip(params) {
            let Some(Typed { node, kind }) = self.expr(argument, Some(param), Place::Other) else { continue };
            if comparable(param, &kind) {
                nodes.push(node);
            } else {
                let message = format!("`{}` needs `{param}` here, but this has type `{kind}`", name.name);
                self.fail::<()>(&argument.span, message, None);
            }
        }
        (nodes.len() == params.len())
            .then(|| Typed::new(span, Op::Apply(function.apply, nodes), function.result.clone()))
    }

    fn builtin(&mut self, span: &Range<usize>, builtin: Builtin, arguments: &[Expr]) -> Option<Typed> {
        let (kinds, nodes) = match (builtin, arguments) {
            (Builtin::Intersect | Builtin::Difference | Builtin::Union, [a, b]) => {
                let (one, other) = self.pair(a, b)?;
                (vec![one.kind, other.kind], vec![one.node, other.node])
            }
            (Builtin::Size | Builtin::Empty | Builtin::Abs, [a]) => {
                let one = self.expr(a, None, Place::Other)?;
                (vec![one.kind], vec![one.node])
            }
            (Builtin::Max | Builtin::Min, [_, _, ..]) => self.figures(arguments)?,
            _ => {
                let wanted = match builtin {
                    Builtin::Size | Builtin::Empty | Builtin::Abs => "one argument",
                    Builtin::Max | Builtin::Min => "two arguments or more",
                    _ => "two arguments",
                };
                return self.fail(span, format!("this function takes {wanted}"), None);
            }
        };
        let result = match (builtin, &kinds[..]) {
            (Builtin::Intersect | Builtin::Difference | Builtin::Union, [Type::Set(_), Type::Set(_)])
                if comparable(&kinds[0], &kinds[1]) =>
            {
                kinds.first().cloned()
            }
            (Builtin::Size, [Type::Set(_) | Type::List(_)]) => Some(Type::PLAIN),
            (Builtin::Empty, [Type::Set(_) | Type::List(_) | Type::Text]) => Some(Type::Bool),
            (Builtin::Abs, [Type::Number(Quantity::Scale(_))]) | (Builtin::Max | Builtin::Min, _) => {
                kinds.first().cloned()
            }
            _ => None,
        };
        let Some(result) = result else {
            let (wanted, given) = match builtin {
                Builtin::Size | Builtin::Empty => ("a list or a set", &kinds[0]),
                Builtin::Abs => ("a number", &kinds[0]),
                _ => ("two sets of the same words", kinds.last()?),
            };
            let message = format!("this function needs {wanted}, but this has type `{given}`");
            return self.fail(span, message, None);
        };
        Some(Typed::new(span, Op::Builtin(builtin, nodes), result))
    }

    /// Arguments of `max` and `min`: numbers of one unit.
    fn figures(&mut self, arguments: &[Expr]) -> Option<(Vec<Type>, Vec<Node>)> {
        let lead = arguments.iter().find(|argument| !self.needs_hint(argument)).unwrap_or(&arguments[0]);
        let first = self.expr(lead, None, Place::Other)?.kind;
        if !matches!(first, Type::Number(_)) {
            return self.fail(
                &lead.span,
                format!("`max` and `min` compare numbers, but this has type `{first}`"),
                None,
            );
        }
        let mut nodes = Vec::new();
        for argument in arguments {
            let Typed { node, kind } = self.expr(argument, Some(&first), Place::Other)?;
            if kind != first {
                return self.incomparable(&argument.span, (lead, &first), (argument, &kind));
            }
            nodes.push(node);
        }
        Some((vec![first], nodes))
    }

    fn quantifier(&mut self, span: &Range<usize>, q: &Quantifier, place: Place) -> Option<Typed> {
        let depth = self.elements.len();
        if depth >= DEEPEST_QUANTIFIER {
            let message = format!("quantifiers stand at most {DEEPEST_QUANTIFIER} deep");
            return self.fail(&q.keyword, message, "name the inner one in `let`".to_owned());
        }
        let list = self.expr(&q.list, None, Place::Other)?;
        let Some(element) = element_type(&list.kind) else {
            let message = format!("`{}` has type `{}` and is no list", self.text(&q.list.span), list.kind);
            return self.fail(&q.list.span, message, None);
        };
        let inner = if q.fold == Fold::Any { place } else { Place::Other };
        self.elements.push((q.variable.name.clone(), element.clone()));
        let filter = q.filter.as_ref().map(|filter| self.condition(filter, "`if` needs a condition", inner));
        let body = q.projection.as_ref().map(|projection| self.expr(projection, None, inner));
        self.elements.pop();
        let (filter, body) = (filter.map_or(Some(None), |f| f.map(Some))?, body.map_or(Some(None), |b| b.map(Some))?);
        self.fold(span, q, depth, list.node, filter, body, element)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one quantifier")]
    fn fold(
        &mut self,
        span: &Range<usize>,
        q: &Quantifier,
        depth: usize,
        list: Node,
        mut filter: Option<Node>,
        body: Option<Typed>,
        element: Type,
    ) -> Option<Typed> {
        let at = q.projection.as_ref().map_or_else(|| q.variable.span.clone(), |projection| projection.span.clone());
        let name = q.fold.name();
        let mut counts_true = false;
        let itself = || Typed::new(&q.variable.span, Op::Element(depth), element);
        let (body, result) = match q.fold {
            Fold::Any | Fold::All => {
                let condition = match body {
                    Some(Typed { node, kind: Type::Bool }) => Some(node),
                    Some(Typed { kind, .. }) => {
                        return self.fail(&at, format!("`{name}` needs a condition, but this has type `{kind}`"), None);
                    }
                    None => filter.take(),
                };
                if q.fold == Fold::All && condition.is_none() {
                    return self.fail(span, "`all` needs a condition", "write all(x in list if condition)".to_owned());
                }
                (condition, Type::Bool)
            }
            Fold::Count => {
                counts_true = body.as_ref().is_some_and(|typed| typed.kind == Type::Bool);
                (body.map(|typed| typed.node), Type::PLAIN)
            }
            Fold::Distinct => {
                let body = body.unwrap_or_else(itself);
                (Some(body.node), Type::list(body.kind))
            }
            Fold::Sum | Fold::Max | Fold::Min => {
                let body = body.unwrap_or_else(itself);
                let fits = match body.kind {
                    Type::Number(Quantity::Scale(_)) => true,
                    Type::Number(_) => q.fold != Fold::Sum,
                    _ => false,
                };
                if !fits {
                    let message = format!("`{name}` needs numbers, but this has type `{}`", body.kind);
                    return self.fail(&at, message, format!("write {name}(x.value for x in list)"));
                }
                (Some(body.node), body.kind)
            }
        };
        let variable = q.variable.name.clone();
        let quantifier = program::Quantifier { fold: q.fold, depth, variable, list, filter, body, counts_true };
        Some(Typed::new(span, Op::Quantifier(Box::new(quantifier)), result))
    }
}

fn constant(node: &Node) -> Option<&Value> {
    match &node.op {
        Op::Constant(value) => Some(value),
        _ => None,
    }
}

/// A zero without unit, which fits any unit.
fn is_zero(expr: &Expr) -> bool {
    matches!(expr.kind, Kind::Number { value: 0.0, quantity: Quantity::Scale(Dim::PLAIN), .. })
}

/// What the elements of a list or set are.
fn element_type(kind: &Type) -> Option<Type> {
    match kind {
        Type::List(element) => Some((**element).clone()),
        Type::Set(words) => Some(Type::Word(words)),
        _ => None,
    }
}

/// Whether values of the two types can be equal.
fn comparable(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Word(a), Type::Word(b)) | (Type::Set(a), Type::Set(b)) => a.name == b.name || a.open || b.open,
        (Type::Word(_), Type::Text) | (Type::Text, Type::Word(_)) => true,
        (Type::List(a), Type::List(b)) => comparable(a, b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests;
