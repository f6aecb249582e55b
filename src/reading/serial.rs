//! The serialised form of a reading: `[value, source]`, `{"absent": source}`, `{"unknown": gap}`; one that nobody asked
//! for is left out. A source or gap is the index into the snapshot's tables or, in files written by hand, the thing
//! itself: `[1500, "assumed"]`, `[1500, "assumed: seed 3, line 11"]`, `{"unknown": "not_permitted"}`.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeTuple, Serializer};
use serde::{Deserialize, Serialize};

use super::{Gap, GapId, GapKind, Origins, Reading, Source, SourceId};

thread_local! {
    /// The tables that references of the document being read point into.
    static TABLES: RefCell<Option<Origins>> = const { RefCell::new(None) };
}

/// The tables of a serialised snapshot, read before the rest of it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Header {
    /// Schema name, for example `netdoctor.snapshot/1`.
    pub schema: String,
    sources: Vec<Source>,
    gaps: Vec<Gap>,
}

/// Runs `read` while references of readings resolve into the tables of `header`; yields the result and the tables, which
/// have grown by whatever the document wrote in place.
pub fn with_origins<T>(header: Header, read: impl FnOnce() -> T) -> (T, Origins) {
    let before = TABLES.replace(Some(Origins::from_tables(header.sources, header.gaps)));
    let result = read();
    let origins = TABLES.replace(before).unwrap_or_default();
    (result, origins)
}

fn in_tables<T, E: de::Error>(work: impl FnOnce(&mut Origins) -> Result<T, E>) -> Result<T, E> {
    TABLES.with_borrow_mut(|tables| work(tables.get_or_insert_with(Origins::default)))
}

impl Serialize for SourceId {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u32(self.0)
    }
}

impl Serialize for GapId {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u32(self.0)
    }
}

impl<'de> Deserialize<'de> for SourceId {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = SourceId;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an index into `sources`, \"assumed\", \"assumed: NOTE\", or a source")
    }

    fn visit_u64<E: de::Error>(self, index: u64) -> Result<SourceId, E> {
        in_tables(|tables| match u32::try_from(index) {
            Ok(id) if (id as usize) < tables.sources().len() => Ok(SourceId(id)),
            _ => Err(E::custom(format_args!("source {index} is not in `sources`"))),
        })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SourceId, E> {
        let source = match text.strip_prefix("assumed") {
            Some("") => Source::assumed(""),
            Some(rest) if rest.starts_with(':') => Source::assumed(rest[1..].trim()),
            _ if text.starts_with('/') => Source::File { path: text.into() },
            _ => return Err(E::custom(format_args!("`{text}` is no source: write \"assumed: NOTE\" or a path"))),
        };
        in_tables(|tables| Ok(tables.source(source)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SourceId, A::Error> {
        let source = Source::deserialize(de::value::MapAccessDeserializer::new(map))?;
        in_tables(|tables| Ok(tables.source(source)))
    }
}

impl<'de> Deserialize<'de> for GapId {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(GapVisitor)
    }
}

struct GapVisitor;

impl<'de> Visitor<'de> for GapVisitor {
    type Value = GapId;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an index into `gaps`, a reason such as \"not_permitted\", or a gap")
    }

    fn visit_u64<E: de::Error>(self, index: u64) -> Result<GapId, E> {
        in_tables(|tables| match u32::try_from(index) {
            Ok(id) if (id as usize) < tables.gaps().len() => Ok(GapId(id)),
            _ => Err(E::custom(format_args!("gap {index} is not in `gaps`"))),
        })
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<GapId, E> {
        let kind =
            GapKind::from_word(word).ok_or_else(|| E::custom(format_args!("`{word}` is no reason for a gap")))?;
        in_tables(|tables| Ok(tables.gap(Gap::new(kind))))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GapId, A::Error> {
        let gap = Gap::deserialize(de::value::MapAccessDeserializer::new(map))?;
        in_tables(|tables| Ok(tables.gap(gap)))
    }
}

impl<T: Serialize> Serialize for Reading<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(value, source) => {
                let mut pair = out.serialize_tuple(2)?;
                pair.serialize_element(value)?;
                pair.serialize_element(source)?;
                pair.end()
            }
            Self::Absent(source) => {
                let mut map = out.serialize_map(Some(1))?;
                map.serialize_entry("absent", source)?;
                map.end()
            }
            Self::Unknown(gap) => {
                let mut map = out.serialize_map(Some(1))?;
                map.serialize_entry("unknown", gap)?;
                map.end()
            }
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Reading<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(ReadingVisitor(std::marker::PhantomData))
    }
}

struct ReadingVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ReadingVisitor<T> {
    type Value = Reading<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[value, source], {\"absent\": source} or {\"unknown\": gap}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Reading<T>, A::Error> {
        let value = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        let source = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
        if seq.next_element::<de::IgnoredAny>()?.is_some() {
            return Err(de::Error::invalid_length(3, &self));
        }
        Ok(Reading::Known(value, source))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Reading<T>, A::Error> {
        let reading = match map.next_key::<String>()?.as_deref() {
            Some("absent") => Reading::Absent(map.next_value()?),
            Some("unknown") => Reading::Unknown(map.next_value()?),
            Some(other) => return Err(de::Error::unknown_field(other, &["absent", "unknown"])),
            None => return Err(de::Error::invalid_length(0, &self)),
        };
        match map.next_key::<String>()? {
            None => Ok(reading),
            Some(other) => Err(de::Error::custom(format_args!("`{other}` beside absent or unknown"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (Result<Vec<Reading<u32>>, serde_json::Error>, Origins) {
        let sources = vec![Source::assumed(""), Source::File { path: "/sys/x".into() }];
        with_origins(Header { sources, ..Header::default() }, || serde_json::from_str(json))
    }

    #[test]
    fn the_three_states_survive_a_round_trip() {
        let text = r#"[[1500,1],{"absent":1},{"unknown":0}]"#;
        let (readings, origins) = read(text);
        let readings = readings.unwrap();
        assert_eq!(readings[0].known(), Some(&1500));
        assert_eq!(origins.source_of(readings[0].source().unwrap()).to_string(), "/sys/x");
        assert!(readings[1].is_absent());
        assert!(readings[2].is_unasked());
        assert_eq!(serde_json::to_string(&readings).unwrap(), text);
    }

    #[test]
    fn sources_and_gaps_may_be_written_in_place() {
        let (readings, origins) =
            read(r#"[[9000,"assumed: seed 3, line 11"],{"unknown":"not_permitted"},[1,"assumed"]]"#);
        let readings = readings.unwrap();
        assert_eq!(origins.source_of(readings[0].source().unwrap()), &Source::assumed("seed 3, line 11"));
        assert_eq!(origins.gap_of(readings[1].gap().unwrap()).why, GapKind::NotPermitted);
        assert_eq!(readings[2].source(), Some(SourceId::ASSUMED));
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_an_error() {
        for bad in [
            "[[1500,7]]",
            "[[1500]]",
            r#"[[1500,"hearsay"]]"#,
            r#"[{"unknown":"lazy"}]"#,
            r#"[{"absent":0,"x":1}]"#,
            "[1500]",
        ] {
            assert!(read(bad).0.is_err(), "{bad}");
        }
    }
}
