//! New types for quantities that could be confused with each other; each states its unit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);
    };
}

quantity! {
    /// A size in bytes (octets).
    Bytes(u64)
}
quantity! {
    /// A rate in bits per second.
    BitsPerSecond(u64)
}
quantity! {
    /// A transfer rate of one PCIe lane in 10^9 transfers per second (GT/s): 2.5, 5, 8, 16, 32 or 64.
    Gigatransfers(f64)
}
quantity! {
    /// A duration in seconds.
    Seconds(f64)
}
quantity! {
    /// A temperature in degrees Celsius.
    Celsius(f64)
}
quantity! {
    /// An optical power level in dBm (decibel relative to one milliwatt).
    Decibel(f64)
}

/// A version such as `6.12.95`: numeric parts, then whatever the vendor put behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Numeric parts in order; at least one.
    pub parts: Vec<u64>,
    /// The text as it was read.
    pub text: String,
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numeric: &str = &text[..text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len())];
        let parts: Vec<u64> = numeric.split('.').map_while(|part| part.parse().ok()).collect();
        if parts.is_empty() {
            return Err(format!("`{text}` does not begin with a version number"));
        }
        Ok(Self { parts, text: text.into() })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_keep_their_numeric_parts_and_their_text() {
        let version: Version = "6.1.0-57-amd64".parse().unwrap();
        assert_eq!(version.parts, [6, 1, 0]);
        assert_eq!(version.to_string(), "6.1.0-57-amd64");
        assert!("unknown".parse::<Version>().is_err());
    }
}
