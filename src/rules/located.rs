//! Text of a rule file together with its place in it. build.rs includes this file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_yaml::Spanned;

/// A text and the place where it begins in its file.
///
/// In YAML the place comes from the parser. In the embedded JSON sections it stands before the text: `"42:11|a < b"`,
/// so that both routes yield equal rules and a message about an embedded rule still names its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Located {
    /// The text.
    pub text: String,
    /// Line in the file, from 1; 0 if it is not known.
    pub line: u32,
    /// Column in characters, from 1; 0 if it is not known.
    pub column: u32,
}

impl Located {
    /// The text as a slice.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Serialize for Located {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{}:{}|{}", self.line, self.column, self.text))
    }
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<String>::deserialize(input)?;
        let line = u32::try_from(spanned.referenced.line()).unwrap_or(0);
        if line == 0 {
            return split_place(&spanned.value).ok_or_else(|| serde::de::Error::custom("text without its place"));
        }
        let column = u32::try_from(spanned.referenced.column()).unwrap_or(0);
        Ok(Self { text: spanned.value, line, column })
    }
}

fn split_place(value: &str) -> Option<Located> {
    let (place, text) = value.split_once('|')?;
    let (line, column) = place.split_once(':')?;
    Some(Located { text: text.into(), line: line.parse().ok()?, column: column.parse().ok()? })
}

/// A mapping that keeps the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ordered(pub Vec<(String, Located)>);

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Ordered;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("a mapping of names to expressions")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        input.deserialize_map(Visitor)
    }
}
