//! What an expression can yield.

use super::types::Entity;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A dotted version of up to four numbers; missing ones are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u32; 4]);

impl Version {
    /// Reads the dotted numbers at the start of a text (`6.6.31-amd64` is 6.6.31); `None` when it starts otherwise.
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut parts = [0; 4];
        for (place, digits) in parts.iter_mut().zip(text[..end].trim_end_matches('.').split('.')) {
            *place = digits.parse().ok()?;
        }
        Some(Self(parts))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.0.iter().rposition(|part| *part != 0).map_or(2, |last| last + 1).max(2);
        let parts: Vec<_> = self.0[..used].iter().map(u32::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

/// A known value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A condition.
    Bool(bool),
    /// A number in base units.
    Number(f64),
    /// Free text.
    Text(Arc<str>),
    /// One word.
    Word(Arc<str>),
    /// A version.
    Version(Version),
    /// A set of words.
    Set(Arc<BTreeSet<Arc<str>>>),
    /// A list.
    List(Arc<[Value]>),
    /// A reference to a subject.
    Entity(Entity),
}

impl Value {
    /// Equality as the language sees it: a word equals a text of the same letters. `None` when the two cannot be compared.
    pub(super) fn same(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Word(a) | Self::Text(a), Self::Word(b) | Self::Text(b)) => Some(a == b),
            (Self::Number(a), Self::Number(b)) => Some(a == b),
            (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b) => Some(a == b),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_number() {
        let v = |text| Version::parse(text).unwrap();
        assert!(v("5.10.3") > v("5.9"));
        assert_eq!(v("6.6"), v("6.6.0"));
        assert_eq!(v("6.6.31-amd64"), v("6.6.31"));
        assert_eq!(v("5.10.0").to_string(), "5.10");
        assert_eq!(v("0").to_string(), "0.0");
    }

    #[test]
    fn a_text_that_does_not_start_with_a_number_is_no_version() {
        for text in ["", "x", ".5", "99999999999.1", "1..2"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
