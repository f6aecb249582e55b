//! Tokens to tree, by recursive descent over the levels of binding: or, and, not, comparison, sum, product, sign.

use super::ast::{Comparison, Expr, Fold, Join, Kind, Operation, Quantifier, Question, Segment};
use super::diagnostic::Diagnostic;
use super::lex::{Token, TokenKind, lex};
use super::unit;
use std::ops::Range;

/// Bytes an expression may have.
const LONGEST: usize = 2048;
/// Levels an expression may have.
const DEEPEST: usize = 64;

/// Names that mean something by themselves.
const KEYWORDS: &[&str] = &["and", "or", "not", "in", "is", "for", "if", "true", "false"];

/// The tree of a text, if one can be made out, and everything found wrong with it.
pub(super) fn parse(source: &str) -> (Option<Expr>, Vec<Diagnostic>) {
    if source.len() > LONGEST {
        let message = format!("the expression has {} bytes; the limit is {LONGEST}", source.len());
        let help = "name parts of it in `let`".to_owned();
        return (None, vec![Diagnostic::new(0..source.len(), message).help(help)]);
    }
    let tokens = match lex(source) {
        Ok(tokens) => tokens,
        Err(error) => return (None, vec![error]),
    };
    let mut parser = Parser { source, tokens, at: 0, nesting: 0, errors: Vec::new() };
    let tree = match parser.expression().and_then(|tree| parser.end().map(|()| tree)) {
        Ok(tree) => Some(tree),
        Err(error) => {
            parser.errors.push(error);
            None
        }
    };
    (tree, parser.errors)
}

type Parsed<T> = Result<T, Diagnostic>;

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    nesting: usize,
    /// Errors after which parsing went on.
    errors: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn peek_name(&self) -> Option<&str> {
        match self.peek() {
            Some(TokenKind::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn peek_mark(&self) -> Option<&'static str> {
        match self.peek() {
            Some(TokenKind::Mark(mark)) => Some(mark),
            _ => None,
        }
    }

    /// Where the next token stands; the end of the text when there is none.
    fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.source.len()..self.source.len(), |token| token.span.clone())
    }

    /// Where the last token taken ends.
    fn end_of_last(&self) -> usize {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.span.end)
    }

    fn take_mark(&mut self, mark: &str) -> Option<Range<usize>> {
        (self.peek_mark() == Some(mark)).then(|| self.advance())
    }

    fn take_name(&mut self, name: &str) -> Option<Range<usize>> {
        (self.peek_name() == Some(name)).then(|| self.advance())
    }

    fn advance(&mut self) -> Range<usize> {
        let span = self.span();
        self.at += 1;
        span
    }

    fn expect_mark(&mut self, mark: &str) -> Parsed<Range<usize>> {
        self.take_mark(mark).ok_or_else(|| self.unexpected(&format!("`{mark}`")))
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let span = self.span();
        let found = match &self.source[span.clone()] {
            "" => "the end".to_owned(),
            text => format!("`{text}`"),
        };
        Diagnostic::new(span, format!("expected {wanted}, found {found}")).help(self.hint())
    }

    /// What an author probably meant by the token that does not fit.
    fn hint(&self) -> Option<String> {
        if let Some(mark @ ("&" | "|")) = self.peek_mark() {
            let name = if mark == "&" { "intersect" } else { "union" };
            return Some(format!("write {name}(a, b) for sets, `and`/`or` for conditions"));
        }
        let name = self.peek_name()?;
        let last = self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map(|token| &token.kind);
        match (name, last) {
            ("known" | "unknown" | "absent" | "empty", _) => Some(format!("write `is {name}`")),
            (_, Some(TokenKind::Number { .. })) if unit::unit(name).is_some() => {
                Some(format!("write the unit next to the number: `{}{name}`", self.last_text()))
            }
            _ => None,
        }
    }

    fn last_text(&self) -> &str {
        self.at
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or("", |token| &self.source[token.span.clone()])
    }

    fn end(&self) -> Parsed<()> {
        if self.at >= self.tokens.len() { Ok(()) } else { Err(self.unexpected("`and`, `or` or the end")) }
    }

    fn node(&self, start: usize, kind: Kind) -> Parsed<Expr> {
        let expr = Expr::new(start..self.end_of_last(), kind);
        if expr.depth > DEEPEST { Err(too_deep(expr.span)) } else { Ok(expr) }
    }

    /// Runs a level below, within the limit of nesting.
    fn nested<T>(&mut self, level: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= DEEPEST {
            return Err(too_deep(self.span()));
        }
        self.nesting += 1;
        let result = level(self);
        self.nesting -= 1;
        result
    }

    fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|p| p.logic(Join::Or))
    }

    fn logic(&mut self, join: Join) -> Parsed<Expr> {
        let start = self.span().start;
        let term = |p: &mut Self| if join == Join::Or { p.logic(Join::And) } else { p.not() };
        let first = term(self)?;
        let mut operators = Vec::new();
        let mut terms = vec![first];
        while let Some(operator) = self.take_join(join) {
            operators.push(operator);
            terms.push(term(self)?);
        }
        match terms.pop() {
            Some(single) if terms.is_empty() => Ok(single),
            last => {
                terms.extend(last);
                self.node(start, Kind::Logic { join, operators, terms })
            }
        }
    }

    fn take_join(&mut self, join: Join) -> Option<Range<usize>> {
        let (name, mark) = if join == Join::Or { ("or", "||") } else { ("and", "&&") };
        self.take_name(name).or_else(|| {
            let span = self.take_mark(mark)?;
            self.instead(span.clone(), mark, name);
            Some(span)
        })
    }

    /// Notes an operator of other languages and goes on as if ours stood there.
    fn instead(&mut self, span: Range<usize>, written: &str, ours: &str) {
        let error = Diagnostic::new(span, format!("`{written}` is not an operator here"));
        self.errors.push(error.help(format!("write `{ours}`")));
    }

    fn not(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let operator = if let Some(span) = self.take_name("not") {
            span
        } else if let Some(span) = self.take_mark("!") {
            self.instead(span.clone(), "!", "not");
            span
        } else {
            return self.comparison();
        };
        let operand = self.nested(Self::not)?;
        self.node(start, Kind::Not { operator, operand: Box::new(operand) })
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let left = self.sum()?;
        if let Some((comparison, operator)) = self.take_comparison() {
            let right = self.sum()?;
            if self.take_comparison().is_some() {
                let help = "write `a < b and b < c`".to_owned();
                let second = self.tokens[self.at - 1].span.clone();
                return Err(Diagnostic::new(second, "comparisons do not chain").help(help));
            }
            let (left, right) = (Box::new(left), Box::new(right));
            return self.node(start, Kind::Compare { comparison, operator, left, right });
        }
        if self.peek_name() == Some("is") {
            return self.is(start, left);
        }
        let negated = self.peek_name() == Some("not")
            && matches!(self.tokens.get(self.at + 1).map(|t| &t.kind), Some(TokenKind::Name(name)) if name == "in");
        let negation = negated.then(|| self.advance());
        if self.take_name("in").is_none() {
            return Ok(left);
        }
        let list = Box::new(self.sum()?);
        self.node(start, Kind::In { negation, item: Box::new(left), list })
    }

    fn take_comparison(&mut self) -> Option<(Comparison, Range<usize>)> {
        let comparison = match self.peek_mark()? {
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            "==" | "=" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            _ => return None,
        };
        let assigns = self.peek_mark() == Some("=");
        let span = self.advance();
        if assigns {
            let error = Diagnostic::new(span.clone(), "`=` does not compare");
            self.errors.push(error.help("write `==`".to_owned()));
        }
        Some((comparison, span))
    }

    fn is(&mut self, start: usize, subject: Expr) -> Parsed<Expr> {
        self.advance();
        let negation = self.take_name("not");
        let question = match self.peek_name() {
            Some("known") => Question::Known,
            Some("unknown") => Question::Unknown,
            Some("absent") => Question::Absent,
            Some("empty") => Question::Empty,
            _ => {
                let error = self.unexpected("`known`, `unknown`, `absent` or `empty` after `is`");
                return Err(error.help("compare values with `==`".to_owned()));
            }
        };
        self.advance();
        self.node(start, Kind::Is { question, negation, subject: Box::new(subject) })
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.arithmetic(&[("+", Operation::Add), ("-", Operation::Subtract)], Self::product)
    }

    fn product(&mut self) -> Parsed<Expr> {
        self.arithmetic(&[("*", Operation::Multiply), ("/", Operation::Divide)], Self::sign)
    }

    fn arithmetic(&mut self, operations: &[(&str, Operation)], operand: fn(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        let start = self.span().start;
        let mut left = operand(self)?;
        while let Some((_, operation)) = operations.iter().find(|(mark, _)| self.peek_mark() == Some(mark)) {
            self.advance();
            let right = Box::new(operand(self)?);
            left = self.node(start, Kind::Arithmetic { operation: *operation, left: Box::new(left), right })?;
        }
        Ok(left)
    }

    fn sign(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        if self.take_mark("-").is_none() {
            return self.postfix();
        }
        let is_literal = matches!(self.peek(), Some(TokenKind::Number { .. }));
        let operand = self.nested(Self::sign)?;
        match operand.kind {
            // `-12dBm` is a level; a level cannot be negated.
            Kind::Number { value, quantity, digits } if is_literal => {
                self.node(start, Kind::Number { value: -value, quantity, digits })
            }
            kind => self.node(start, Kind::Negate(Box::new(Expr::new(operand.span, kind)))),
        }
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        while self.peek_mark() == Some(".") {
            let Kind::Path(mut segments) = expr.kind else {
                return Err(Diagnostic::new(self.span(), "only a path can be followed by `.`"));
            };
            self.advance();
            let name = match self.peek() {
                Some(TokenKind::Name(name) | TokenKind::Text(name)) => name.clone(),
                _ => return Err(self.unexpected("a name after `.`")),
            };
            let span = self.advance();
            segments.push(Segment { name, span });
            expr = Expr::new(expr.span.start..self.end_of_last(), Kind::Path(segments));
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let kind = match self.peek().cloned() {
            Some(TokenKind::Number { value, unit, digits_end }) => {
                let value = value * unit.factor;
                Kind::Number { value, quantity: unit.quantity, digits: span.start..digits_end }
            }
            Some(TokenKind::Version(version)) => Kind::Version(version),
            Some(TokenKind::Text(text)) => Kind::Text(text),
            Some(TokenKind::Name(name)) => return self.named(&name),
            Some(TokenKind::Mark("(")) => return self.parenthesised(),
            Some(TokenKind::Mark("[")) => {
                self.advance();
                let items = self.sequence("]")?;
                return self.node(span.start, Kind::List(items));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        self.node(span.start, kind)
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        let start = self.advance().start;
        let inner = self.expression()?;
        self.expect_mark(")")?;
        Ok(Expr { span: start..self.end_of_last(), ..inner })
    }

    /// `a, b, c` up to and with the closing mark.
    fn sequence(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut items = vec![self.expression()?];
        while self.take_mark(",").is_some() {
            items.push(self.expression()?);
        }
        self.expect_mark(close)?;
        Ok(items)
    }

    fn named(&mut self, name: &str) -> Parsed<Expr> {
        let calls = matches!(self.tokens.get(self.at + 1).map(|t| &t.kind), Some(TokenKind::Mark("(")));
        if matches!(name, "true" | "false") {
            let start = self.advance().start;
            return self.node(start, Kind::Bool(name == "true"));
        }
        if KEYWORDS.contains(&name) {
            return Err(self.unexpected("a value"));
        }
        let span = self.advance();
        let start = span.start;
        let segment = Segment { name: name.to_owned(), span };
        if !calls {
            return self.node(start, Kind::Path(vec![segment]));
        }
        self.advance();
        if name == "fired" {
            return self.fired(start);
        }
        match Fold::from_name(name) {
            Some(fold) => self.quantifier(fold, segment),
            None if self.take_mark(")").is_some() => {
                self.node(start, Kind::Call { name: segment, arguments: Vec::new() })
            }
            None => {
                let arguments = self.sequence(")")?;
                self.node(start, Kind::Call { name: segment, arguments })
            }
        }
    }

    fn fired(&mut self, start: usize) -> Parsed<Expr> {
        let Some(TokenKind::Rule(rule)) = self.peek().cloned() else {
            return Err(self.unexpected("a rule id without quotes"));
        };
        let span = self.advance();
        self.expect_mark(")")?;
        self.node(start, Kind::Fired(Segment { name: rule, span }))
    }

    fn quantifier(&mut self, fold: Fold, name: Segment) -> Parsed<Expr> {
        let start = name.span.start;
        let first = self.expression()?;
        let (projection, variable, list) = if self.take_name("for").is_some() {
            let variable = self.variable()?;
            if self.take_name("in").is_none() {
                return Err(self.unexpected("`in`"));
            }
            (Some(first), variable, self.expression()?)
        } else if self.peek_mark() == Some(",") && matches!(fold, Fold::Max | Fold::Min) {
            self.advance();
            let mut arguments = vec![first];
            arguments.extend(self.sequence(")")?);
            return self.node(start, Kind::Call { name, arguments });
        } else {
            let span = first.span.clone();
            let (variable, list) = element_of(first).ok_or_else(|| not_a_quantifier(fold, span))?;
            (None, variable, list)
        };
        let filter = if self.take_name("if").is_some() { Some(self.expression()?) } else { None };
        self.expect_mark(")")?;
        let quantifier = Quantifier { fold, keyword: name.span, projection, variable, list, filter };
        self.node(start, Kind::Quantifier(Box::new(quantifier)))
    }

    fn variable(&mut self) -> Parsed<Segment> {
        match self.peek_name() {
            Some(name) if !KEYWORDS.contains(&name) => {
                let name = name.to_owned();
                Ok(Segment { name, span: self.advance() })
            }
            _ => Err(self.unexpected("a name for the elements")),
        }
    }
}

/// `x in list` read as the head of a quantifier.
fn element_of(expr: Expr) -> Option<(Segment, Expr)> {
    let Kind::In { negation: None, item, list } = expr.kind else { return None };
    let Kind::Path(mut segments) = item.kind else { return None };
    (segments.len() == 1).then(|| segments.pop().map(|name| (name, *list))).flatten()
}

fn not_a_quantifier(fold: Fold, span: Range<usize>) -> Diagnostic {
    let name = fold.name();
    let help = match fold {
        Fold::Any | Fold::All => format!("write {name}(x in list if condition)"),
        Fold::Count => "write count(x in list if condition), or size(list)".to_owned(),
        Fold::Max | Fold::Min => format!("write {name}(x.value for x in list) or {name}(a, b)"),
        Fold::Sum | Fold::Distinct => format!("write {name}(x.value for x in list)"),
    };
    Diagnostic::new(span, format!("`{name}` goes over the elements of a list")).help(help)
}

fn too_deep(span: Range<usize>) -> Diagnostic {
    Diagnostic::new(span, format!("the expression is nested deeper than {DEEPEST} levels"))
        .help("name parts of it in `let`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The tree as fully bracketed text.
    fn shape(expr: &Expr) -> String {
        let all = |items: &[Expr]| items.iter().map(shape).collect::<Vec<_>>().join(" ");
        match &expr.kind {
            Kind::Number { value, .. } => value.to_string(),
            Kind::Version(version) => format!("v{version}"),
            Kind::Text(text) => format!("{text:?}"),
            Kind::Bool(value) => value.to_string(),
            Kind::Path(segments) => segments.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join("."),
            Kind::List(items) => format!("[{}]", all(items)),
            Kind::Negate(operand) => format!("(- {})", shape(operand)),
            Kind::Not { operand, .. } => format!("(not {})", shape(operand)),
            Kind::Logic { join, terms, .. } => format!("({join:?} {})", all(terms)),
            Kind::Compare { comparison, left, right, .. } => {
                format!("({comparison:?} {} {})", shape(left), shape(right))
            }
            Kind::Arithmetic { operation, left, right } => format!("({operation:?} {} {})", shape(left), shape(right)),
            Kind::In { negation, item, list } => {
                format!("({} {} {})", if negation.is_some() { "NotIn" } else { "In" }, shape(item), shape(list))
            }
            Kind::Is { question, negation, subject } => {
                format!("({}{question:?} {})", if negation.is_some() { "Not" } else { "" }, shape(subject))
            }
            Kind::Call { name, arguments } => format!("{}({})", name.name, all(arguments)),
            Kind::Fired(rule) => format!("fired({})", rule.name),
            Kind::Quantifier(q) => format!(
                "{}({} for {} in {} if {})",
                q.fold.name(),
                q.projection.as_ref().map_or("_".into(), shape),
                q.variable.name,
                shape(&q.list),
                q.filter.as_ref().map_or("_".into(), shape)
            ),
        }
    }

    fn parsed(source: &str) -> String {
        let (tree, errors) = parse(source);
        assert!(errors.is_empty(), "{source}: {errors:?}");
        shape(&tree.unwrap())
    }

    #[test]
    fn operators_bind_as_the_grammar_says() {
        let cases = [
            ("a or b and not c", "(Or a (And b (not c)))"),
            ("(a or b) and c", "(And (Or a b) c)"),
            ("a and b and c", "(And a b c)"),
            ("not a == b", "(not (Equal a b))"),
            ("a + b * c - d < e / f", "(Less (Subtract (Add a (Multiply b c)) d) (Divide e f))"),
            ("-a * b", "(Multiply (- a) b)"),
            ("a > -12dBm", "(Greater a -12)"),
            ("a - 12", "(Subtract a 12)"),
            ("-(3)", "(- 3)"),
            ("--3", "(- -3)"),
            ("a not in [b, 'c d']", "(NotIn a [b \"c d\"])"),
            ("a.b is not known and c is empty", "(And (NotKnown a.b) (Empty c))"),
            ("v5.10.3 <= host.kernel", "(LessOrEqual v5.10.3 host.kernel)"),
            ("host.sysctl.\"net.bridge.nf-call\" == 1", "(Equal host.sysctl.net.bridge.nf-call 1)"),
            ("iface.in.not", "iface.in.not"),
            ("max(a, b, 3)", "max(a b 3)"),
            ("fired(ring.rx-starved)", "fired(ring.rx-starved)"),
            ("any(x in l if x.a and x.b)", "any(_ for x in l if (And x.a x.b))"),
            ("any(e.k in [a] for e in l)", "any((In e.k [a]) for e in l if _)"),
            ("sum(x.a * 2 for x in l.m if x.b)", "sum((Multiply x.a 2) for x in l.m if x.b)"),
            ("f()", "f()"),
        ];
        for (source, wanted) in cases {
            assert_eq!(parsed(source), wanted, "{source}");
        }
    }

    #[test]
    fn spans_of_parenthesised_parts_hold_the_parentheses() {
        let source = "(a or b) and c";
        let Kind::Logic { terms, .. } = parse(source).0.unwrap().kind else { panic!() };
        assert_eq!(&source[terms[0].span.clone()], "(a or b)");
    }

    #[test]
    fn errors_say_what_to_write() {
        let cases = [
            ("a < b < c", 6..7, "comparisons do not chain", Some("write `a < b and b < c`")),
            ("a = 1", 2..3, "`=` does not compare", Some("write `==`")),
            ("a && b", 2..4, "`&&` is not an operator here", Some("write `and`")),
            ("a || b", 2..4, "`||` is not an operator here", Some("write `or`")),
            ("!a", 0..1, "`!` is not an operator here", Some("write `not`")),
            (
                "a & b",
                2..3,
                "expected `and`, `or` or the end, found `&`",
                Some("write intersect(a, b) for sets, `and`/`or` for conditions"),
            ),
            ("a unknown", 2..9, "expected `and`, `or` or the end, found `unknown`", Some("write `is unknown`")),
            (
                "a > 10 Gbit",
                7..11,
                "expected `and`, `or` or the end, found `Gbit`",
                Some("write the unit next to the number: `10Gbit`"),
            ),
            (
                "a is up",
                5..7,
                "expected `known`, `unknown`, `absent` or `empty` after `is`, found `up`",
                Some("compare values with `==`"),
            ),
            ("a and", 5..5, "expected a value, found the end", None),
            ("", 0..0, "expected a value, found the end", None),
            ("(a", 2..2, "expected `)`, found the end", None),
            ("[]", 1..2, "expected a value, found `]`", None),
            ("f(a).b", 4..5, "only a path can be followed by `.`", None),
            (
                "count(a.b)",
                6..9,
                "`count` goes over the elements of a list",
                Some("write count(x in list if condition), or size(list)"),
            ),
            ("fired('a')", 6..9, "expected a rule id without quotes, found `'a'`", None),
        ];
        for (source, span, message, help) in cases {
            let (_, errors) = parse(source);
            assert_eq!(errors.len(), 1, "{source}: {errors:?}");
            assert_eq!(errors[0].span, span, "{source}");
            assert_eq!(errors[0].message, message, "{source}");
            assert_eq!(errors[0].help.as_deref(), help, "{source}");
        }
    }

    #[test]
    fn several_errors_are_reported_at_once() {
        let (tree, errors) = parse("a = 1 && !b || c");
        assert!(tree.is_some());
        assert_eq!(errors.len(), 4);
    }

    #[test]
    fn size_and_depth_are_bounded() {
        let deep = |open: &str, close: &str, n: usize| format!("{}a{}", open.repeat(n), close.repeat(n));
        assert!(parse(&deep("(", ")", 60)).1.is_empty());
        let long_sum = vec!["1"; 900].join("+");
        for source in [
            deep("(", ")", 65),
            deep("not ", "", 300),
            deep("-", "", 2000),
            deep("[", "]", 1000),
            deep("f(", ")", 600),
            deep("any(x in l if ", ")", 100),
            long_sum,
        ] {
            assert!(parse(&source).1[0].message.contains("nested deeper"), "{}", &source[..20]);
        }
        assert!(parse(&"a".repeat(2049)).1[0].message.contains("2049 bytes"));
        assert!(parse(&vec!["a"; 300].join(" or ")).1.is_empty());
    }

    proptest! {
        #[test]
        fn any_string_is_answered(source in ".{0,200}") {
            let (tree, errors) = parse(&source);
            prop_assert!(tree.is_some() || !errors.is_empty());
            for error in errors {
                prop_assert!(!error.render("f", &source, 0).is_empty());
            }
        }

        #[test]
        fn any_run_of_tokens_is_answered(parts in prop::collection::vec(prop::sample::select(vec![
            "a", ".", "(", ")", "[", "]", ",", "and", "or", "not", "in", "is", "known", "any(", "max(", "for", "if",
            "fired(", "x-y", "1", "5%", "v6.6", "'t'", "<", "==", "=", "-", "*", "/", "!", "é", "10Gbit/s", "true",
        ]), 0..60)) {
            let (tree, errors) = parse(&parts.join(" "));
            prop_assert!(tree.is_some() || !errors.is_empty());
        }
    }
}
