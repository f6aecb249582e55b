//! How a reading's Rust type appears in the language.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::unit::Unit;
use crate::lang::{self, Dim, Type, Value, Words};
use crate::reading::{BitsPerSecond, Bytes, Celsius, Decibel, Gigatransfers, Reading, Seconds, Version};
use crate::snapshot::{
    Bus, Duplex, InterfaceKind, LinkModes, OperState, PciAddress, PcieRole, PortType, Word, XdpMode,
};

/// A type that facts can have.
pub trait Fact: Sized {
    /// Unit in which it is shown.
    const UNIT: Unit;
    /// Its type in the language.
    fn kind() -> Type;
    /// Its value in the language.
    fn to_value(&self) -> Value;
    /// The inverse, for rule tests and what-if; the error says what would be right.
    fn from_value(value: &Value) -> Result<Self, String>;
}

/// A reading in terms of the language.
pub fn reading<T: Fact>(reading: &Reading<T>) -> Reading<Value> {
    reading.map(T::to_value)
}

fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(number) => Ok(*number),
        other => Err(format!("{other:?} is no number")),
    }
}

fn whole(value: f64, most: f64) -> Result<f64, String> {
    if value.fract() == 0.0 && (0.0..=most).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} is no whole number from 0 to {most}"))
    }
}

fn text(value: &Value) -> Result<&str, String> {
    match value {
        Value::Text(text) | Value::Word(text) => Ok(text),
        other => Err(format!("{other:?} is no text")),
    }
}

impl Fact for bool {
    const UNIT: Unit = Unit::Plain;
    fn kind() -> Type {
        Type::Bool
    }
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Bool(flag) => Ok(*flag),
            other => Err(format!("{other:?} is neither true nor false")),
        }
    }
}

macro_rules! counting {
    ($kind:ty) => {
        #[allow(clippy::cast_lossless, reason = "one body for all widths")]
        impl Fact for $kind {
            const UNIT: Unit = Unit::Plain;
            fn kind() -> Type {
                Type::PLAIN
            }
            fn to_value(&self) -> Value {
                Value::Number(*self as f64)
            }
            fn from_value(value: &Value) -> Result<Self, String> {
                Ok(whole(number(value)?, <$kind>::MAX as f64)? as $kind)
            }
        }
    };
}
counting!(u16);
counting!(u32);
counting!(u64);

impl Fact for Bytes {
    const UNIT: Unit = Unit::Bytes;
    fn kind() -> Type {
        Type::number(Dim::DATA)
    }
    fn to_value(&self) -> Value {
        Value::Number(self.0 as f64 * 8.0)
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        Ok(Self(whole(number(value)? / 8.0, 1e18)? as u64))
    }
}

impl Fact for BitsPerSecond {
    const UNIT: Unit = Unit::BitsPerSecond;
    fn kind() -> Type {
        Type::number(Dim::RATE)
    }
    fn to_value(&self) -> Value {
        Value::Number(self.0 as f64)
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        Ok(Self(whole(number(value)?, 1e18)? as u64))
    }
}

impl Fact for Gigatransfers {
    const UNIT: Unit = Unit::Gigatransfers;
    fn kind() -> Type {
        Type::PLAIN
    }
    fn to_value(&self) -> Value {
        Value::Number(self.0)
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        number(value).map(Self)
    }
}

macro_rules! plain {
    ($kind:ty, $unit:ident, |$value:ident| $number:expr, $wrap:expr) => {
        impl Fact for $kind {
            const UNIT: Unit = Unit::$unit;
            fn kind() -> Type {
                Type::PLAIN
            }
            fn to_value(&self) -> Value {
                let $value = self;
                Value::Number($number)
            }
            fn from_value(value: &Value) -> Result<Self, String> {
                number(value).map($wrap)
            }
        }
    };
}
plain!(f64, Plain, |value| *value, |number| number);
plain!(Celsius, Plain, |value| value.0, Celsius);
plain!(Decibel, Plain, |value| value.0, Decibel);

impl Fact for Seconds {
    const UNIT: Unit = Unit::Seconds;
    fn kind() -> Type {
        Type::number(Dim::TIME)
    }
    fn to_value(&self) -> Value {
        Value::Number(self.0)
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        number(value).map(Self)
    }
}

impl Fact for String {
    const UNIT: Unit = Unit::Plain;
    fn kind() -> Type {
        Type::Text
    }
    fn to_value(&self) -> Value {
        Value::Text(self.as_str().into())
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        text(value).map(Into::into)
    }
}

impl Fact for Vec<u32> {
    const UNIT: Unit = Unit::Plain;
    fn kind() -> Type {
        Type::list(Type::PLAIN)
    }
    fn to_value(&self) -> Value {
        Value::List(self.iter().map(Fact::to_value).collect())
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::List(items) => items.iter().map(u32::from_value).collect(),
            other => Err(format!("{other:?} is no list")),
        }
    }
}

impl Fact for Vec<String> {
    const UNIT: Unit = Unit::Plain;
    fn kind() -> Type {
        Type::list(Type::Text)
    }
    fn to_value(&self) -> Value {
        Value::List(self.iter().map(Fact::to_value).collect())
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::List(items) => items.iter().map(String::from_value).collect(),
            other => Err(format!("{other:?} is no list")),
        }
    }
}

impl Fact for PciAddress {
    const UNIT: Unit = Unit::Plain;
    fn kind() -> Type {
        Type::Text
    }
    fn to_value(&self) -> Value {
        Value::Text(self.to_string().into())
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        text(value)?.parse()
    }
}

impl Fact for Version {
    const UNIT: Unit = Unit::Plain;
    fn kind() -> Type {
        Type::Version
    }
    fn to_value(&self) -> Value {
        lang::Version::parse(&self.text).map_or_else(|| Value::Text(self.text.as_str().into()), Value::Version)
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Version(version) => version.to_string().parse(),
            other => text(other)?.parse(),
        }
    }
}

static LINK_MODES: Words = Words { name: "link mode", words: &[], open: true };

impl Fact for LinkModes {
    const UNIT: Unit = Unit::Plain;
    fn kind() -> Type {
        Type::Set(&LINK_MODES)
    }
    fn to_value(&self) -> Value {
        Value::Set(Arc::new(self.0.iter().map(|mode| Arc::from(mode.as_str())).collect()))
    }
    fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::Set(words) => Ok(Self(words.iter().map(ToString::to_string).collect())),
            Value::List(items) => {
                items.iter().map(|item| text(item).map(str::to_owned)).collect::<Result<BTreeSet<_>, _>>().map(Self)
            }
            other => Err(format!("{other:?} is no set of link modes")),
        }
    }
}

macro_rules! word_facts {
    ($($kind:ty),*) => {
        $(impl Fact for $kind {
            const UNIT: Unit = Unit::Plain;
            fn kind() -> Type {
                static WORDS: Words = Words { name: <$kind as Word>::NAME, words: <$kind as Word>::WORDS, open: false };
                Type::Word(&WORDS)
            }
            fn to_value(&self) -> Value {
                Value::Word(self.word().into())
            }
            fn from_value(value: &Value) -> Result<Self, String> {
                let word = text(value)?;
                Self::from_word(word)
                    .ok_or_else(|| format!("`{word}` is no {}: {}", <$kind as Word>::NAME, <$kind as Word>::WORDS.join(", ")))
            }
        })*
    };
}
word_facts!(InterfaceKind, OperState, Duplex, PortType, PcieRole, Bus, XdpMode);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        fn round<T: Fact + PartialEq + std::fmt::Debug>(value: T) {
            assert_eq!(T::from_value(&value.to_value()), Ok(value));
        }
        round(Bytes(9000));
        round(BitsPerSecond(100_000_000_000));
        round(Duplex::Half);
        round("0000:01:00.0".parse::<PciAddress>().unwrap());
        round(LinkModes(["10000baseT/Full".to_owned()].into()));
        round(u64::from(u32::MAX));
    }

    #[test]
    fn bytes_are_bits_to_the_language() {
        assert_eq!(Bytes(1500).to_value(), Value::Number(12_000.0));
        assert!(Bytes::from_value(&Value::Number(-8.0)).is_err());
        assert!(Bytes::from_value(&Value::Number(12.0)).is_err(), "1.5 bytes");
    }

    #[test]
    fn a_word_outside_the_list_is_told_with_the_list() {
        let error = Duplex::from_value(&Value::Word("quarter".into())).unwrap_err();
        assert!(error.contains("half, full"), "{error}");
    }
}
