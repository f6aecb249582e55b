//! Evaluation in three-valued logic.
//!
//! A reading is known, absent (there is no such thing) or unknown. Unknown wins over absent in `and` as in `or`: only so does
//! filling in a reading never turn a known outcome around. Of an unknown `and` that can no longer become true because another
//! term is absent, [`Evaluation::absent`] says so.

use super::ast::{Comparison, Fold, Operation, Question};
use super::program::{Builtin, DEEPEST_QUANTIFIER, Node, Op, Program, Quantifier};
use super::types::{Entity, Key, Slot};
use super::value::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is known of a reading or a part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// It has this value.
    Known(Value),
    /// There is no such thing.
    Absent,
    /// It was not read, or cannot be told.
    Unknown,
}

impl State {
    /// A known condition.
    pub const TRUE: Self = Self::Known(Value::Bool(true));
    /// A known condition that does not hold.
    pub const FALSE: Self = Self::Known(Value::Bool(false));

    fn number(value: f64) -> Self {
        if value.is_finite() { Self::Known(Value::Number(value)) } else { Self::Unknown }
    }

    fn from_bool(value: Option<bool>) -> Self {
        value.map_or(Self::Unknown, |value| Self::Known(Value::Bool(value)))
    }
}

/// The readings a program is evaluated against.
pub trait World {
    /// A fact of a subject.
    fn read(&self, entity: Entity, slot: Slot) -> State;
    /// Whether a rule fired for a subject: a known condition, or unknown.
    fn fired(&self, rule: &str, subject: Entity) -> State;
}

/// The outcome of an evaluation and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The value, absent, or unknown.
    pub outcome: State,
    /// For an unknown outcome: the unread facts that could still decide it.
    pub needed: BTreeSet<Key>,
    /// For an absent outcome: the absent facts it rests on. For an unknown one: those that keep it from ever being true.
    pub absent: BTreeSet<Key>,
    /// The facts that were read; only filled by [`Program::evaluate_traced`].
    pub touched: BTreeSet<Key>,
}

impl From<State> for Evaluation {
    fn from(outcome: State) -> Self {
        Self { outcome, needed: BTreeSet::new(), absent: BTreeSet::new(), touched: BTreeSet::new() }
    }
}

impl Program {
    /// Evaluates for the subjects of the roots, with the values of the variables, each in the order of the context.
    pub fn evaluate(&self, world: &dyn World, roots: &[Entity], variables: &[Evaluation]) -> Evaluation {
        self.run(&mut Run::new(world, roots, variables))
    }

    /// The same, and notes the facts that were read.
    pub fn evaluate_traced(&self, world: &dyn World, roots: &[Entity], variables: &[Evaluation]) -> Evaluation {
        let mut run = Run { touched: Some(BTreeSet::new()), ..Run::new(world, roots, variables) };
        let evaluation = self.run(&mut run);
        Evaluation { touched: run.touched.unwrap_or_default(), ..evaluation }
    }

    fn run(&self, run: &mut Run<'_>) -> Evaluation {
        let mut evaluation = Evaluation::from(run.state(&self.root));
        match evaluation.outcome {
            State::Known(_) => {}
            State::Absent => run.why(&self.root, &mut evaluation),
            State::Unknown => {
                run.why(&self.root, &mut evaluation);
                let mut bars = BTreeSet::new();
                if run.bars(&self.root, &mut bars) {
                    evaluation.absent = bars;
                }
            }
        }
        evaluation
    }
}

pub(super) struct Run<'a> {
    world: &'a dyn World,
    roots: &'a [Entity],
    variables: &'a [Evaluation],
    elements: [Option<Value>; DEEPEST_QUANTIFIER],
    touched: Option<BTreeSet<Key>>,
}

/// What one element does to a quantifier.
enum Share {
    /// It does not count: filtered out or absent.
    None,
    /// It counts, with this value.
    Some(Value),
    /// It cannot be told.
    Unknown,
}

impl<'a> Run<'a> {
    pub(super) fn new(world: &'a dyn World, roots: &'a [Entity], variables: &'a [Evaluation]) -> Self {
        Self { world, roots, variables, elements: [const { None }; DEEPEST_QUANTIFIER], touched: None }
    }

    pub(super) fn bind(&mut self, depth: usize, element: Value) {
        if let Some(place) = self.elements.get_mut(depth) {
            *place = Some(element);
        }
    }

    /// The fact a node reads, when its subject is known.
    pub(super) fn key(&mut self, node: &Node) -> Option<Key> {
        let Op::Fact { subject, slot } = &node.op else { return None };
        match self.state(subject) {
            State::Known(Value::Entity(entity)) => Some(Key { entity, slot: *slot }),
            _ => None,
        }
    }

    pub(super) fn state(&mut self, node: &Node) -> State {
        match &node.op {
            Op::Constant(value) => State::Known(value.clone()),
            Op::Root(index) => {
                self.roots.get(*index).map_or(State::Unknown, |entity| State::Known(Value::Entity(*entity)))
            }
            Op::Element(depth) => self.elements.get(*depth).cloned().flatten().map_or(State::Unknown, State::Known),
            Op::Variable(index) => self.variable(*index),
            Op::Fact { subject, slot } => match self.state(subject) {
                State::Known(Value::Entity(entity)) => self.read(entity, *slot),
                State::Absent => State::Absent,
                _ => State::Unknown,
            },
            Op::List(items) => self.all_known(items, |values| State::Known(Value::List(values.into()))),
            Op::Negate(operand) => match self.state(operand) {
                State::Known(Value::Number(value)) => State::number(-value),
                State::Known(_) => State::Unknown,
                missing => missing,
            },
            Op::Not(operand) => match self.state(operand) {
                State::Known(Value::Bool(value)) => State::Known(Value::Bool(!value)),
                State::Known(_) => State::Unknown,
                missing => missing,
            },
            Op::And(terms) => self.join(terms, false),
            Op::Or(terms) => self.join(terms, true),
            Op::Compare(comparison, operands) => self.both(operands, |a, b| compare(*comparison, &a, &b)),
            Op::Arithmetic(operation, operands) => self.both(operands, |a, b| arithmetic(*operation, &a, &b)),
            Op::In { negated, operands } => self.is_in(*negated, operands),
            Op::Is { question, negated, subject } => self.is(*question, *negated, subject),
            Op::Builtin(builtin, arguments) => self.all_known(arguments, |values| builtin_call(*builtin, &values)),
            Op::Apply(apply, arguments) => {
                self.all_known(arguments, |values| apply(&values).map_or(State::Unknown, State::Known))
            }
            Op::Fired(rule) => self.roots.first().map_or(State::Unknown, |subject| self.world.fired(rule, *subject)),
            Op::Quantifier(quantifier) => self.quantifier(quantifier),
        }
    }

    fn variable(&mut self, index: usize) -> State {
        let Some(evaluation) = self.variables.get(index) else { return State::Unknown };
        if let Some(touched) = &mut self.touched {
            touched.extend(&evaluation.touched);
        }
        evaluation.outcome.clone()
    }

    fn read(&mut self, entity: Entity, slot: Slot) -> State {
        if let Some(touched) = &mut self.touched {
            touched.insert(Key { entity, slot });
        }
        self.world.read(entity, slot)
    }

    /// `or` when `deciding` is true, `and` when it is false: one such term decides, then unknown, then absent.
    fn join(&mut self, terms: &[Node], deciding: bool) -> State {
        let (mut unknown, mut absent) = (false, false);
        for term in terms {
            match self.state(term) {
                State::Known(Value::Bool(value)) if value == deciding => return State::Known(Value::Bool(deciding)),
                State::Known(Value::Bool(_)) => {}
                State::Absent => absent = true,
                State::Known(_) | State::Unknown => unknown = true,
            }
        }
        match (unknown, absent) {
            (true, _) => State::Unknown,
            (_, true) => State::Absent,
            _ => State::Known(Value::Bool(!deciding)),
        }
    }

    fn both(&mut self, operands: &[Node; 2], apply: impl FnOnce(Value, Value) -> State) -> State {
        match (self.state(&operands[0]), self.state(&operands[1])) {
            (State::Absent, _) | (_, State::Absent) => State::Absent,
            (State::Unknown, _) | (_, State::Unknown) => State::Unknown,
            (State::Known(a), State::Known(b)) => apply(a, b),
        }
    }

    fn all_known(&mut self, nodes: &[Node], apply: impl FnOnce(Vec<Value>) -> State) -> State {
        let mut values = Vec::with_capacity(nodes.len());
        let mut unknown = false;
        for node in nodes {
            match self.state(node) {
                State::Known(value) => values.push(value),
                State::Absent => return State::Absent,
                State::Unknown => unknown = true,
            }
        }
        if unknown { State::Unknown } else { apply(values) }
    }

    fn is_in(&mut self, negated: bool, operands: &[Node; 2]) -> State {
        let [item, list] = operands;
        let item = match self.state(item) {
            State::Known(item) => item,
            missing => {
                // An absent list beats an unknown item, as in every comparison.
                let list_absent = !matches!(list.op, Op::List(_)) && self.state(list) == State::Absent;
                return if list_absent { State::Absent } else { missing };
            }
        };
        let found = match &list.op {
            Op::List(nodes) => self.is_among(&item, nodes),
            _ => match self.state(list) {
                State::Known(list) => holds(&list, &item),
                missing => return missing,
            },
        };
        State::from_bool(found.map(|found| found != negated))
    }

    /// Whether one of the nodes has that value; an absent one has not.
    fn is_among(&mut self, item: &Value, nodes: &[Node]) -> Option<bool> {
        let mut result = Some(false);
        for node in nodes {
            match self.state(node) {
                State::Known(value) if value.same(item) == Some(true) => return Some(true),
                State::Known(_) | State::Absent => {}
                State::Unknown => result = None,
            }
        }
        result
    }

    fn is(&mut self, question: Question, negated: bool, subject: &Node) -> State {
        let state = self.state(subject);
        let holds = match question {
            Question::Known => matches!(state, State::Known(_)),
            Question::Unknown => state == State::Unknown,
            Question::Absent => state == State::Absent,
            Question::Empty => match state {
                State::Known(value) => match is_empty(&value) {
                    Some(empty) => empty,
                    None => return State::Unknown,
                },
                missing => return missing,
            },
        };
        State::Known(Value::Bool(holds != negated))
    }

    /// The elements a quantifier goes over, or the state of a list that is not known.
    pub(super) fn elements(&mut self, quantifier: &Quantifier) -> Result<Arc<[Value]>, State> {
        match self.state(&quantifier.list) {
            State::Known(Value::List(items)) => Ok(items),
            State::Known(Value::Set(words)) => Ok(words.iter().cloned().map(Value::Word).collect()),
            State::Known(_) => Err(State::Unknown),
            missing => Err(missing),
        }
    }

    fn quantifier(&mut self, q: &Quantifier) -> State {
        let elements = match self.elements(q) {
            Ok(elements) => elements,
            Err(missing) => return missing,
        };
        let mut tally = Tally::new(q.fold);
        for element in elements.iter() {
            self.bind(q.depth, element.clone());
            if let Some(decided) = tally.add(self.share(q)) {
                return decided;
            }
        }
        tally.total()
    }

    /// What the bound element does to the quantifier.
    fn share(&mut self, q: &Quantifier) -> Share {
        let filter = q.filter.as_ref().map_or(State::TRUE, |filter| self.state(filter));
        if matches!(filter, State::Absent | State::FALSE) {
            return Share::None;
        }
        let body = q.body.as_ref().map_or(State::TRUE, |body| self.state(body));
        let neutral = match q.fold {
            Fold::Any => body == State::FALSE,
            Fold::All => body == State::TRUE,
            Fold::Count => q.counts_true && body == State::FALSE,
            _ => false,
        };
        match (filter, body) {
            (_, State::Absent) => Share::None,
            _ if neutral => Share::None,
            (State::TRUE, State::Known(value)) => Share::Some(value),
            _ => Share::Unknown,
        }
    }

    /// Collects the facts behind an unknown or absent node: its parts of the same state, down to the readings.
    fn why(&mut self, node: &Node, into: &mut Evaluation) {
        let state = self.state(node);
        if matches!(state, State::Known(_)) {
            return;
        }
        if let Some(key) = self.key(node) {
            if state == State::Absent { &mut into.absent } else { &mut into.needed }.insert(key);
            return;
        }
        match &node.op {
            Op::Variable(index) => {
                if let Some(evaluation) = self.variables.get(*index) {
                    match state {
                        State::Absent => into.absent.extend(&evaluation.absent),
                        _ => into.needed.extend(&evaluation.needed),
                    }
                }
            }
            Op::Quantifier(quantifier) => self.why_quantifier(quantifier, &state, into),
            Op::In { operands, .. } => self.why_in(operands, &state, into),
            _ => {
                for operand in node.operands() {
                    if self.state(operand) == state {
                        self.why(operand, into);
                    }
                }
            }
        }
    }

    fn why_in(&mut self, operands: &[Node; 2], state: &State, into: &mut Evaluation) {
        let [item, list] = operands;
        let parts = if let Op::List(nodes) = &list.op { nodes } else { std::slice::from_ref(list) };
        let parts = if self.state(item) == State::Absent { &[] } else { parts };
        for part in std::iter::once(item).chain(parts) {
            if self.state(part) == *state {
                self.why(part, into);
            }
        }
    }

    fn why_quantifier(&mut self, q: &Quantifier, state: &State, into: &mut Evaluation) {
        let Ok(elements) = self.elements(q) else { return self.why(&q.list, into) };
        for element in elements.iter() {
            self.bind(q.depth, element.clone());
            if *state == State::Unknown && !matches!(self.share(q), Share::Unknown) {
                continue;
            }
            for part in q.filter.iter().chain(&q.body) {
                if self.state(part) == *state {
                    self.why(part, into);
                }
            }
        }
    }

    /// Whether absent facts keep an unknown node from ever being true; if so, which.
    fn bars(&mut self, node: &Node, into: &mut BTreeSet<Key>) -> bool {
        match self.state(node) {
            State::Known(value) => return value == Value::Bool(false),
            State::Absent => {
                let mut absent = Evaluation::from(State::Absent);
                self.why(node, &mut absent);
                into.append(&mut absent.absent);
                return true;
            }
            State::Unknown => {}
        }
        match &node.op {
            Op::And(terms) => {
                let mut barred = false;
                for term in terms {
                    barred |= self.bars(term, into);
                }
                barred
            }
            Op::Or(terms) => {
                let mut together = BTreeSet::new();
                let barred = terms.iter().all(|term| self.bars(term, &mut together));
                if barred {
                    into.append(&mut together);
                }
                barred
            }
            Op::Variable(index) => self.variables.get(*index).is_some_and(|evaluation| {
                into.extend(&evaluation.absent);
                !evaluation.absent.is_empty()
            }),
            _ => false,
        }
    }
}

/// The running result of a quantifier.
struct Tally {
    fold: Fold,
    unknown: bool,
    count: usize,
    number: Option<f64>,
    values: Vec<Value>,
}

impl Tally {
    fn new(fold: Fold) -> Self {
        Self { fold, unknown: false, count: 0, number: None, values: Vec::new() }
    }

    /// Adds an element; the result, when it is decided by now.
    fn add(&mut self, share: Share) -> Option<State> {
        let value = match share {
            Share::None => return None,
            Share::Some(value) => value,
            Share::Unknown if matches!(self.fold, Fold::Any | Fold::All) => {
                self.unknown = true;
                return None;
            }
            Share::Unknown => return Some(State::Unknown),
        };
        self.count += 1;
        match (self.fold, value) {
            (Fold::Any, _) => return Some(State::TRUE),
            (Fold::All, _) => return Some(State::FALSE),
            (Fold::Sum, Value::Number(value)) => self.number = Some(self.number.unwrap_or(0.0) + value),
            (Fold::Max, Value::Number(value)) => {
                self.number = Some(self.number.map_or(value, |so_far| so_far.max(value)));
            }
            (Fold::Min, Value::Number(value)) => {
                self.number = Some(self.number.map_or(value, |so_far| so_far.min(value)));
            }
            (Fold::Distinct, value) if !self.values.contains(&value) => self.values.push(value),
            (Fold::Sum | Fold::Max | Fold::Min, _) => return Some(State::Unknown),
            _ => {}
        }
        None
    }

    fn total(self) -> State {
        match self.fold {
            _ if self.unknown => State::Unknown,
            Fold::Any => State::FALSE,
            Fold::All => State::TRUE,
            Fold::Count => State::Known(Value::Number(self.count as f64)),
            Fold::Sum => State::number(self.number.unwrap_or(0.0)),
            Fold::Max | Fold::Min => self.number.map_or(State::Absent, State::number),
            Fold::Distinct => State::Known(Value::List(self.values.into())),
        }
    }
}

fn compare(comparison: Comparison, a: &Value, b: &Value) -> State {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = || match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.partial_cmp(b),
        (Value::Version(a), Value::Version(b)) => Some(a.cmp(b)),
        _ => None,
    };
    State::from_bool(match comparison {
        Comparison::Equal => a.same(b),
        Comparison::NotEqual => a.same(b).map(|same| !same),
        Comparison::Less => order().map(|order| order == Less),
        Comparison::LessOrEqual => order().map(|order| matches!(order, Less | Equal)),
        Comparison::Greater => order().map(|order| order == Greater),
        Comparison::GreaterOrEqual => order().map(|order| matches!(order, Greater | Equal)),
    })
}

fn arithmetic(operation: Operation, a: &Value, b: &Value) -> State {
    let (Value::Number(a), Value::Number(b)) = (a, b) else { return State::Unknown };
    // A division by zero is not finite and so unknown.
    State::number(match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide => a / b,
    })
}

fn holds(list: &Value, item: &Value) -> Option<bool> {
    match (list, item) {
        (Value::List(values), item) => Some(values.iter().any(|value| value.same(item) == Some(true))),
        (Value::Set(words), Value::Word(word) | Value::Text(word)) => Some(words.contains(word)),
        _ => None,
    }
}

fn is_empty(value: &Value) -> Option<bool> {
    match value {
        Value::List(values) => Some(values.is_empty()),
        Value::Set(words) => Some(words.is_empty()),
        Value::Text(text) => Some(text.is_empty()),
        _ => None,
    }
}

fn builtin_call(builtin: Builtin, arguments: &[Value]) -> State {
    let set = |words: BTreeSet<Arc<str>>| State::Known(Value::Set(Arc::new(words)));
    match (builtin, arguments) {
        (Builtin::Intersect, [Value::Set(a), Value::Set(b)]) => set(a.intersection(b).cloned().collect()),
        (Builtin::Difference, [Value::Set(a), Value::Set(b)]) => set(a.difference(b).cloned().collect()),
        (Builtin::Union, [Value::Set(a), Value::Set(b)]) => set(a.union(b).cloned().collect()),
        (Builtin::Size, [Value::Set(words)]) => State::number(words.len() as f64),
        (Builtin::Size, [Value::List(values)]) => State::number(values.len() as f64),
        (Builtin::Empty, [value]) => State::from_bool(is_empty(value)),
        (Builtin::Abs, [Value::Number(value)]) => State::number(value.abs()),
        (Builtin::Max, figures) => extreme(figures, f64::max),
        (Builtin::Min, figures) => extreme(figures, f64::min),
        _ => State::Unknown,
    }
}

fn extreme(figures: &[Value], pick: fn(f64, f64) -> f64) -> State {
    let numbers: Option<Vec<f64>> =
        figures.iter().map(|value| if let Value::Number(n) = value { Some(*n) } else { None }).collect();
    numbers.and_then(|numbers| numbers.into_iter().reduce(pick)).map_or(State::Unknown, State::number)
}

#[cfg(test)]
mod tests;
