//! Text to tokens.

use super::diagnostic::Diagnostic;
use super::suggest::{closest, did_you_mean};
use super::unit::{self, Unit};
use super::value::Version;
use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// A number, its unit, and where its digits end.
    Number { value: f64, unit: Unit, digits_end: usize },
    /// `v6.6`.
    Version(Version),
    /// A quoted text without its quotes.
    Text(String),
    /// A name or a keyword.
    Name(String),
    /// The argument of `fired(...)`.
    Rule(String),
    /// An operator or bracket.
    Mark(&'static str),
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// Longest first. Those the language lacks are lexed so that the parser can say what to write instead.
const MARKS: &[&str] = &[
    "<=", ">=", "==", "!=", "&&", "||", "<", ">", "=", "!", "&", "|", "+", "-", "*", "/", "(", ")", "[", "]", ",", ".",
];

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Bytes of the prefix of `text` whose characters all pass.
fn run(text: &str, pass: impl Fn(char) -> bool) -> usize {
    text.find(|c| !pass(c)).unwrap_or(text.len())
}

/// The tokens of a text.
pub(super) fn lex(source: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(next) = source[at..].chars().next() {
        if next.is_whitespace() {
            at += next.len_utf8();
            continue;
        }
        let after_dot = matches!(tokens.last(), Some(Token { kind: TokenKind::Mark("."), .. }));
        let token = if starts_rule(&tokens) && is_name_char(next) {
            rule(source, at)
        } else if next.is_ascii_digit() {
            number(source, at)?
        } else if next == '"' || next == '\'' {
            text(source, at, next)?
        } else if is_name_char(next) {
            name(source, at, after_dot)
        } else {
            mark(source, at, next)?
        };
        at = token.span.end;
        tokens.push(token);
    }
    Ok(tokens)
}

fn starts_rule(tokens: &[Token]) -> bool {
    let [before @ .., Token { kind: TokenKind::Name(name), .. }, Token { kind: TokenKind::Mark("("), .. }] = tokens
    else {
        return false;
    };
    name == "fired" && !matches!(before.last(), Some(Token { kind: TokenKind::Mark("."), .. }))
}

fn rule(source: &str, at: usize) -> Token {
    let end = at + run(&source[at..], |c| is_name_char(c) || c == '.' || c == '-');
    Token { kind: TokenKind::Rule(source[at..end].to_owned()), span: at..end }
}

fn text(source: &str, at: usize, quote: char) -> Result<Token, Diagnostic> {
    let inside = &source[at + 1..];
    let Some(length) = inside.find(quote) else {
        return Err(Diagnostic::new(at..source.len(), "this text has no closing quote"));
    };
    Ok(Token { kind: TokenKind::Text(inside[..length].to_owned()), span: at..at + length + 2 })
}

fn name(source: &str, at: usize, after_dot: bool) -> Token {
    let rest = &source[at..];
    if !after_dot && let Some(token) = version(rest, at) {
        return token;
    }
    let end = at + run(rest, is_name_char);
    Token { kind: TokenKind::Name(source[at..end].to_owned()), span: at..end }
}

fn version(rest: &str, at: usize) -> Option<Token> {
    let digits = rest.strip_prefix('v')?;
    let length = run(digits, |c| c.is_ascii_digit() || c == '.');
    let number = digits[..length].trim_end_matches('.');
    if digits[number.len()..].starts_with(is_name_char) || number.split('.').count() > 4 {
        return None;
    }
    Some(Token { kind: TokenKind::Version(Version::parse(number)?), span: at..at + 1 + number.len() })
}

fn number(source: &str, at: usize) -> Result<Token, Diagnostic> {
    let rest = &source[at..];
    let length = digits(rest);
    let figure = &rest[..length];
    let value = match figure.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|whole| whole as f64),
        None => figure.parse().ok(),
    };
    let unit_length = unit_length(&rest[length..]);
    let span = at..at + length + unit_length;
    let Some(value) = value.filter(|v| v.is_finite()) else {
        return Err(Diagnostic::new(span, format!("`{figure}` is out of range")));
    };
    let name = &rest[length..length + unit_length];
    let unit = if name.is_empty() { Some(Unit::PLAIN) } else { unit::unit(name) };
    let Some(unit) = unit else { return Err(unknown_unit(at + length..span.end, figure, name)) };
    Ok(Token { kind: TokenKind::Number { value, unit, digits_end: at + length }, span })
}

/// Bytes of the number itself: `0x1f`, `12`, `2.5`, `1e-6`.
fn digits(rest: &str) -> usize {
    let digit = |c: char| c.is_ascii_digit();
    if let Some(hex) = rest.strip_prefix("0x").filter(|hex| hex.starts_with(|c: char| c.is_ascii_hexdigit())) {
        return 2 + run(hex, |c| c.is_ascii_hexdigit());
    }
    let mut length = run(rest, digit);
    if let Some(fraction) = rest[length..].strip_prefix('.').filter(|f| f.starts_with(digit)) {
        length += 1 + run(fraction, digit);
    }
    if let Some(exponent) = rest[length..].strip_prefix(['e', 'E']) {
        let sign = run(exponent, |c| c == '-' || c == '+').min(1);
        let figures = run(&exponent[sign..], digit);
        if figures > 0 {
            length += 1 + sign + figures;
        }
    }
    length
}

/// Bytes of the unit that follows a number: letters or `%`, then `/` with a time.
fn unit_length(rest: &str) -> usize {
    let base = if rest.starts_with('%') { 1 } else { run(rest, is_name_char) };
    let per = rest[base..].strip_prefix('/').map_or("", |time| &time[..run(time, is_name_char)]);
    if ["ns", "us", "ms", "s", "min", "h", "d"].contains(&per) { base + 1 + per.len() } else { base }
}

fn unknown_unit(span: Range<usize>, figure: &str, name: &str) -> Diagnostic {
    if let Some(rest) = name.strip_prefix('_') {
        let help = format!("write {figure}{}", rest.replace('_', ""));
        return Diagnostic::new(span, "digits are not grouped by `_`").help(help);
    }
    let help = if let Some(prefix) = name.strip_suffix("bps") {
        Some(format!("write {figure}{prefix}bit/s"))
    } else {
        let known = unit::names();
        did_you_mean(&closest(name, known.iter().map(String::as_str)))
    };
    Diagnostic::new(span, format!("`{name}` is not a unit")).help(help)
}

fn mark(source: &str, at: usize, next: char) -> Result<Token, Diagnostic> {
    match MARKS.iter().find(|mark| source[at..].starts_with(**mark)) {
        Some(mark) => Ok(Token { kind: TokenKind::Mark(mark), span: at..at + mark.len() }),
        None => Err(Diagnostic::new(at..at + next.len_utf8(), format!("`{next}` has no meaning here"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::types::{Dim, Quantity};

    fn only(source: &str) -> TokenKind {
        let tokens = lex(source).unwrap();
        assert_eq!(tokens.len(), 1, "{source}: {tokens:?}");
        tokens[0].kind.clone()
    }

    fn base(source: &str) -> (f64, Quantity) {
        let TokenKind::Number { value, unit, .. } = only(source) else { panic!("{source}") };
        (value * unit.factor, unit.quantity)
    }

    #[test]
    fn numbers_carry_their_unit() {
        let scale = |dim| Quantity::Scale(dim);
        let cases = [
            ("25Gbit", 25e9, scale(Dim::DATA)),
            ("25Gbit/s", 25e9, scale(Dim::RATE)),
            ("2.5Gbit/s", 2.5e9, scale(Dim::RATE)),
            ("9000B", 72_000.0, scale(Dim::DATA)),
            ("5%", 0.05, scale(Dim::PLAIN)),
            ("24h", 86_400.0, scale(Dim::TIME)),
            ("10/s", 10.0, scale(Dim::FREQUENCY)),
            ("1e6", 1e6, scale(Dim::PLAIN)),
            ("1e-6", 1e-6, scale(Dim::PLAIN)),
            ("0xffff", 65_535.0, scale(Dim::PLAIN)),
            ("70C", 70.0, Quantity::Celsius),
            ("12dBm", 12.0, Quantity::Dbm),
        ];
        for (source, value, quantity) in cases {
            let (found, kind) = base(source);
            assert!((found - value).abs() <= value * 1e-12, "{source}: {found}");
            assert_eq!(kind, quantity, "{source}");
        }
    }

    #[test]
    fn a_division_is_not_a_rate() {
        assert_eq!(lex("10 / s").unwrap().len(), 3);
        assert_eq!(lex("10/size").unwrap().len(), 3);
    }

    #[test]
    fn versions_and_names_are_told_apart() {
        assert_eq!(only("v6.6"), TokenKind::Version(Version::parse("6.6").unwrap()));
        assert_eq!(only("vlan"), TokenKind::Name("vlan".into()));
        assert_eq!(only("v4x"), TokenKind::Name("v4x".into()));
        assert_eq!(lex("a.v4").unwrap()[2].kind, TokenKind::Name("v4".into()));
    }

    #[test]
    fn a_rule_id_keeps_its_dashes() {
        let tokens = lex("fired(ring.rx-starved-2)").unwrap();
        assert_eq!(tokens[2].kind, TokenKind::Rule("ring.rx-starved-2".into()));
        assert_eq!(lex("x.fired(a-b)").unwrap().len(), 8);
    }

    #[test]
    fn what_is_not_a_token_is_explained() {
        let error = |source| lex(source).unwrap_err();
        assert_eq!(error("10Gbps").help.unwrap(), "write 10Gbit/s");
        assert_eq!(error("10gbit").help.unwrap(), "did you mean `Gbit`, `Gibit`, `Mbit`?");
        assert_eq!(error("1_000_000").help.unwrap(), "write 1000000");
        assert_eq!(error("1e999").message, "`1e999` is out of range");
        assert_eq!(error("'open").message, "this text has no closing quote");
        assert_eq!(error("a ? b"), Diagnostic::new(2..3, "`?` has no meaning here"));
    }
}
