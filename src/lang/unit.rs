//! Units of number literals.

use super::types::{Dim, Quantity};

/// A unit: what it measures and how many base units it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) quantity: Quantity,
    pub(super) factor: f64,
}

impl Unit {
    pub(super) const PLAIN: Self = Self { quantity: Quantity::Scale(Dim::PLAIN), factor: 1.0 };
}

/// Every unit without a `/`: name, quantity, base units in one.
const UNITS: &[(&str, Quantity, f64)] = &[
    ("%", Quantity::Scale(Dim::PLAIN), 0.01),
    ("ppm", Quantity::Scale(Dim::PLAIN), 1e-6),
    ("dB", Quantity::Scale(Dim::PLAIN), 1.0),
    ("dBm", Quantity::Dbm, 1.0),
    ("C", Quantity::Celsius, 1.0),
    ("ns", Quantity::Scale(Dim::TIME), 1e-9),
    ("us", Quantity::Scale(Dim::TIME), 1e-6),
    ("ms", Quantity::Scale(Dim::TIME), 1e-3),
    ("s", Quantity::Scale(Dim::TIME), 1.0),
    ("min", Quantity::Scale(Dim::TIME), 60.0),
    ("h", Quantity::Scale(Dim::TIME), 3600.0),
    ("d", Quantity::Scale(Dim::TIME), 86_400.0),
];

/// Prefixes of `bit` and `B`.
const PREFIXES: &[(&str, f64)] = &[
    ("", 1.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
];

/// Bits in a byte.
const BYTE: f64 = 8.0;

fn data_unit(name: &str) -> Option<f64> {
    let (prefix, bits) =
        name.strip_suffix("bit").map(|prefix| (prefix, 1.0)).or_else(|| Some((name.strip_suffix('B')?, BYTE)))?;
    PREFIXES.iter().find(|(known, _)| *known == prefix).map(|(_, factor)| factor * bits)
}

/// The unit of that name, which may end in a time it is counted by (`Gbit/s`, `/h`).
pub(super) fn unit(name: &str) -> Option<Unit> {
    let (base, per) = match name.split_once('/') {
        Some((base, per)) => (base, Some(per)),
        None => (name, None),
    };
    // `Gb/s` is how reports and tools write a rate in bits; without the time it would be mistaken for bytes.
    let bits = per.and(base.strip_suffix('b')).and_then(|prefix| data_unit(&format!("{prefix}bit")));
    let whole = match bits {
        Some(factor) => Unit { quantity: Quantity::Scale(Dim::DATA), factor },
        None if base.is_empty() => Unit::PLAIN,
        None => simple(base)?,
    };
    let Some(per) = per else { return Some(whole) };
    match (whole.quantity, simple(per)?) {
        (Quantity::Scale(dim), Unit { quantity: Quantity::Scale(Dim::TIME), factor }) => {
            Some(Unit { quantity: Quantity::Scale(dim.per(Dim::TIME)?), factor: whole.factor / factor })
        }
        _ => None,
    }
}

fn simple(name: &str) -> Option<Unit> {
    if let Some(factor) = data_unit(name) {
        return Some(Unit { quantity: Quantity::Scale(Dim::DATA), factor });
    }
    UNITS.iter().find(|(known, ..)| *known == name).map(|&(_, quantity, factor)| Unit { quantity, factor })
}

/// All names a number may carry, for suggestions.
pub(super) fn names() -> Vec<String> {
    let data = ["bit", "B"].iter().flat_map(|unit| PREFIXES.iter().map(move |(prefix, _)| format!("{prefix}{unit}")));
    let rates: Vec<_> = PREFIXES.iter().map(|(prefix, _)| format!("{prefix}bit/s")).collect();
    UNITS.iter().map(|(name, ..)| (*name).to_owned()).chain(data).chain(rates).collect()
}

/// A number an author could write for this quantity.
pub(super) fn example(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Dbm => "-12dBm",
        Quantity::Celsius => "70C",
        Quantity::Scale(Dim::DATA) => "9000B or 4MiB",
        Quantity::Scale(Dim::TIME) => "3ms or 24h",
        Quantity::Scale(Dim::RATE) => "10Gbit/s",
        Quantity::Scale(Dim::FREQUENCY) => "100/s or 5/h",
        Quantity::Scale(_) => "10 or 5%",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_unit() {
        for name in names() {
            assert!(unit(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn base_units_are_the_bit_and_the_second() {
        let cases = [
            ("Gbit", Dim::DATA, 1e9),
            ("Gbit/s", Dim::RATE, 1e9),
            ("Gb/s", Dim::RATE, 1e9),
            ("B", Dim::DATA, 8.0),
            ("kB", Dim::DATA, 8e3),
            ("MiB", Dim::DATA, 8_388_608.0),
            ("MB/s", Dim::RATE, 8e6),
            ("%", Dim::PLAIN, 0.01),
            ("ppm", Dim::PLAIN, 1e-6),
            ("min", Dim::TIME, 60.0),
            ("/h", Dim::FREQUENCY, 1.0 / 3600.0),
            ("/d", Dim::FREQUENCY, 1.0 / 86_400.0),
        ];
        for (name, dim, factor) in cases {
            assert_eq!(unit(name), Some(Unit { quantity: Quantity::Scale(dim), factor }), "{name}");
        }
        assert_eq!(unit("dBm").unwrap().quantity, Quantity::Dbm);
        assert_eq!(unit("C").unwrap().quantity, Quantity::Celsius);
    }

    #[test]
    fn what_is_no_unit_is_refused() {
        for name in ["Gbps", "kbits", "KB", "mbit", "C/s", "s/B", "bit/", "/", "x"] {
            assert_eq!(unit(name), None, "{name}");
        }
    }
}
