//! What an expression can be: types, quantities, and the ids of the caller's vocabulary.

use std::fmt;

/// A kind of subject, numbered by the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopeId(pub u16);

/// A fact of a scope, numbered by the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// One subject: the `index`-th of its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity {
    /// What kind of subject it is.
    pub scope: ScopeId,
    /// Which one of its kind.
    pub index: u32,
}

/// One fact of one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The subject.
    pub entity: Entity,
    /// The fact.
    pub slot: Slot,
}

/// Exponents of data (bits) and time (seconds).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim {
    /// Exponent of the bit.
    pub data: i8,
    /// Exponent of the second.
    pub time: i8,
}

impl Dim {
    /// A ratio or a count.
    pub const PLAIN: Self = Self { data: 0, time: 0 };
    /// Bits.
    pub const DATA: Self = Self { data: 1, time: 0 };
    /// Seconds.
    pub const TIME: Self = Self { data: 0, time: 1 };
    /// Bits per second.
    pub const RATE: Self = Self { data: 1, time: -1 };
    /// Events per second.
    pub const FREQUENCY: Self = Self { data: 0, time: -1 };

    /// The dimension of a product; `None` when an exponent leaves its range.
    pub fn times(self, other: Self) -> Option<Self> {
        Some(Self { data: self.data.checked_add(other.data)?, time: self.time.checked_add(other.time)? })
    }

    /// The dimension of a quotient; `None` when an exponent leaves its range.
    pub fn per(self, other: Self) -> Option<Self> {
        Some(Self { data: self.data.checked_sub(other.data)?, time: self.time.checked_sub(other.time)? })
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = |name: &str, exponent: i8| match exponent {
            1 => name.to_owned(),
            n => format!("{name}^{n}"),
        };
        let units = [("bit", self.data), ("s", self.time)];
        let above: Vec<_> = units.iter().filter(|(_, n)| *n > 0).map(|(u, n)| power(u, *n)).collect();
        let below: Vec<_> = units.iter().filter(|(_, n)| *n < 0).map(|(u, n)| power(u, n.saturating_neg())).collect();
        match (above.is_empty(), below.is_empty()) {
            (true, true) => f.write_str("no unit"),
            (false, true) => f.write_str(&above.join(" ")),
            (true, false) => write!(f, "1/{}", below.join("/")),
            (false, false) => write!(f, "{}/{}", above.join(" "), below.join("/")),
        }
    }
}

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A number that can be added, multiplied and divided.
    Scale(Dim),
    /// A power level; two can be compared and subtracted.
    Dbm,
    /// A temperature; two can be compared and subtracted.
    Celsius,
}

/// A vocabulary of words a fact may take.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// What the words name, such as `port type`.
    pub name: &'static str,
    /// The words known.
    pub words: &'static [&'static str],
    /// Whether other words may occur.
    pub open: bool,
}

/// The type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// A condition.
    Bool,
    /// A number in base units (bit, second, dBm, degree Celsius).
    Number(Quantity),
    /// Free text.
    Text,
    /// One word of a vocabulary.
    Word(&'static Words),
    /// A dotted version.
    Version,
    /// A set of words.
    Set(&'static Words),
    /// An ordered list.
    List(Box<Type>),
    /// A reference to a subject.
    Entity(ScopeId),
}

impl Type {
    /// A number without unit.
    pub const PLAIN: Self = Self::Number(Quantity::Scale(Dim::PLAIN));

    /// A number of the given dimension.
    pub const fn number(dim: Dim) -> Self {
        Self::Number(Quantity::Scale(dim))
    }

    /// A list of the given type.
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }
}

/// So many words of a vocabulary are printed before it is cut.
const WORDS_SHOWN: usize = 8;

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.open || self.words.is_empty() {
            return write!(f, "word ({})", self.name);
        }
        let shown = &self.words[..self.words.len().min(WORDS_SHOWN)];
        write!(f, "one of {}", shown.join("|"))?;
        if shown.len() < self.words.len() { f.write_str("|...") } else { Ok(()) }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Number(Quantity::Scale(Dim::PLAIN)) => f.write_str("plain number"),
            Self::Number(Quantity::Scale(dim)) => write!(f, "number in {dim}"),
            Self::Number(Quantity::Dbm) => f.write_str("level in dBm"),
            Self::Number(Quantity::Celsius) => f.write_str("temperature in C"),
            Self::Text => f.write_str("text"),
            Self::Word(words) => words.fmt(f),
            Self::Version => f.write_str("version"),
            Self::Set(words) => write!(f, "set of words ({})", words.name),
            Self::List(element) => write!(f, "list of: {element}"),
            Self::Entity(_) => f.write_str("reference"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_as_an_author_would_say_them() {
        static PORTS: Words = Words { name: "port type", words: &["tp", "fibre", "dac"], open: false };
        static DRIVERS: Words = Words { name: "driver", words: &["ice"], open: true };
        let shown = [
            (Type::Bool, "true or false"),
            (Type::PLAIN, "plain number"),
            (Type::number(Dim::RATE), "number in bit/s"),
            (Type::number(Dim::FREQUENCY), "number in 1/s"),
            (Type::number(Dim { data: 2, time: -2 }), "number in bit^2/s^2"),
            (Type::Number(Quantity::Dbm), "level in dBm"),
            (Type::Word(&PORTS), "one of tp|fibre|dac"),
            (Type::Word(&DRIVERS), "word (driver)"),
            (Type::list(Type::Text), "list of: text"),
        ];
        for (kind, text) in shown {
            assert_eq!(kind.to_string(), text);
        }
    }

    #[test]
    fn dimensions_refuse_to_overflow() {
        let far = Dim { data: i8::MAX, time: i8::MIN };
        assert_eq!(far.times(Dim::DATA), None);
        assert_eq!(far.per(Dim::TIME), None);
        assert_eq!(Dim::DATA.per(Dim::TIME), Some(Dim::RATE));
        assert!(!far.to_string().is_empty());
    }
}
