//! The unit in which a fact is shown; the language computes in bits and seconds.

use crate::lang::{Dim, Quantity, Type, Value};
use crate::reading::numbers::{rate, significant};

/// Unit of a fact as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// None: words, texts, plain numbers.
    Plain,
    /// Bytes.
    Bytes,
    /// Bits per second.
    BitsPerSecond,
    /// Seconds.
    Seconds,
    /// 10^9 transfers per second.
    Gigatransfers,
    /// PCIe or Ethernet lanes.
    Lanes,
    /// Ring descriptors.
    Descriptors,
    /// Packets.
    Packets,
    /// Packets per second.
    PacketsPerSecond,
    /// Times per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// A share of one.
    Share,
}

impl Unit {
    /// The unit as it stands beside a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Plain | Self::Share => "",
            Self::Bytes => "B",
            Self::BitsPerSecond => "bit/s",
            Self::Seconds => "s",
            Self::Gigatransfers => "GT/s",
            Self::Lanes => "lanes",
            Self::Descriptors => "descriptors",
            Self::Packets => "packets",
            Self::PacketsPerSecond => "packets/s",
            Self::PerSecond => "/s",
            Self::BytesPerSecond => "B/s",
        }
    }

    /// A number of the language's base units in this unit.
    pub fn from_base(self, number: f64) -> f64 {
        match self {
            Self::Bytes | Self::BytesPerSecond => number / 8.0,
            _ => number,
        }
    }

    /// A number of this unit in the language's base units.
    pub fn to_base(self, number: f64) -> f64 {
        match self {
            Self::Bytes | Self::BytesPerSecond => number * 8.0,
            _ => number,
        }
    }
}

/// The unit that a value of this type is shown in where no fact says better.
pub fn unit_of_type(kind: &Type) -> Unit {
    match kind {
        Type::Number(Quantity::Scale(Dim::RATE)) => Unit::BitsPerSecond,
        Type::Number(Quantity::Scale(Dim::DATA)) => Unit::Bytes,
        Type::Number(Quantity::Scale(Dim::TIME)) => Unit::Seconds,
        _ => Unit::Plain,
    }
}

/// A value as people write it: `100 Gb/s`, `1500 B`, `Gen3`, `full`, `eth2, eth3`.
pub fn show(value: &Value, unit: Unit) -> String {
    match value {
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.into(),
        Value::Number(number) => show_number(*number, unit),
        Value::Text(text) | Value::Word(text) => text.to_string(),
        Value::Version(version) => version.to_string(),
        Value::Set(words) => words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" "),
        Value::List(items) => items.iter().map(|item| show(item, unit)).collect::<Vec<_>>().join(", "),
        Value::Entity(entity) => format!("#{}", entity.index),
    }
}

/// A number in the language's base units as people write it.
pub fn show_number(number: f64, unit: Unit) -> String {
    match unit {
        Unit::BitsPerSecond => rate(number),
        Unit::Share => format!("{} %", significant(number * 100.0, 3)),
        Unit::Plain => significant_or_whole(number),
        _ => format!("{} {}", significant_or_whole(unit.from_base(number)), unit.symbol()),
    }
}

fn significant_or_whole(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.0}") } else { significant(number, 3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_carry_their_unit() {
        assert_eq!(show(&Value::Number(12_000.0), Unit::Bytes), "1500 B");
        assert_eq!(show(&Value::Number(2048.0), Unit::Descriptors), "2048 descriptors");
        assert_eq!(show(&Value::Number(0.0019), Unit::Share), "0.19 %");
        assert_eq!(show(&Value::Number(8.0), Unit::Gigatransfers), "8 GT/s");
        assert_eq!(show(&Value::Bool(true), Unit::Plain), "yes");
    }
}
