//! The serialised snapshot: the form of fixtures, of golden files and of the bundle's heart.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Conflict, Host, Interface, PciDevice, Sample, Snapshot};
use crate::reading::{Gap, Header, Source, with_origins};

/// Schema of the documents that this version writes. Older ones are read for ever.
pub const SCHEMA: &str = "netdoctor.snapshot/1";

/// Why a document could not be read.
#[derive(Debug, PartialEq, Eq)]
pub enum DocumentError {
    /// It is JSON, but no snapshot.
    NotASnapshot,
    /// It was written by a version with another schema.
    Schema(String),
    /// It is broken at this place.
    Broken(String),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASnapshot => write!(out, "no \"schema\": \"{SCHEMA}\" in it"),
            Self::Schema(schema) => write!(out, "schema `{schema}` is unknown to this version, which reads {SCHEMA}"),
            Self::Broken(why) => out.write_str(why),
        }
    }
}

impl std::error::Error for DocumentError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    #[serde(rename = "schema")]
    _schema: String,
    #[serde(default, rename = "sources")]
    _sources: serde::de::IgnoredAny,
    #[serde(default, rename = "gaps")]
    _gaps: serde::de::IgnoredAny,
    /// Free text for whoever writes a fixture by hand.
    #[serde(default, rename = "about")]
    _about: serde::de::IgnoredAny,
    #[serde(default)]
    sample: Sample,
    #[serde(default)]
    host: Host,
    #[serde(default)]
    interfaces: Vec<Interface>,
    #[serde(default)]
    devices: Vec<PciDevice>,
    #[serde(default)]
    conflicts: Vec<Conflict>,
}

#[derive(Serialize)]
struct BodyRef<'a> {
    schema: &'a str,
    sources: &'a [Source],
    gaps: &'a [Gap],
    sample: &'a Sample,
    host: &'a Host,
    interfaces: &'a [Interface],
    devices: &'a [PciDevice],
    #[serde(skip_serializing_if = "<[Conflict]>::is_empty")]
    conflicts: &'a [Conflict],
}

impl Snapshot {
    /// Reads a serialised snapshot. Entities are put into their order, whatever order the document has.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let header: Header = serde_json::from_str(text).map_err(|error| DocumentError::Broken(error.to_string()))?;
        match header.schema.as_str() {
            SCHEMA => {}
            "" => return Err(DocumentError::NotASnapshot),
            other => return Err(DocumentError::Schema(other.into())),
        }
        let (body, origins) = with_origins(header, || serde_json::from_str::<Body>(text));
        let body = body.map_err(|error| DocumentError::Broken(error.to_string()))?;
        let mut snapshot = Self {
            sample: body.sample,
            origins,
            host: body.host,
            interfaces: body.interfaces,
            devices: body.devices,
            conflicts: body.conflicts,
        };
        snapshot.sort();
        Ok(snapshot)
    }

    /// Writes the snapshot so that [`Snapshot::from_json`] reads it back.
    pub fn to_json(&self) -> String {
        let body = BodyRef {
            schema: SCHEMA,
            sources: self.origins.sources(),
            gaps: self.origins.gaps(),
            sample: &self.sample,
            host: &self.host,
            interfaces: &self.interfaces,
            devices: &self.devices,
            conflicts: &self.conflicts,
        };
        serde_json::to_string(&body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Bytes, GapKind, Reading};

    #[test]
    fn a_document_written_by_hand_is_read_and_survives_a_round_trip() {
        let text = r#"{"schema": "netdoctor.snapshot/1", "about": "two ports",
            "interfaces": [{"name": "eth10", "mtu": [9000, "assumed: datasheet"]},
                           {"name": "eth2", "mtu": {"unknown": "not_permitted"}}]}"#;
        let snapshot = Snapshot::from_json(text).unwrap();
        let names: Vec<_> = snapshot.interfaces.iter().map(|interface| interface.name.as_str()).collect();
        assert_eq!(names, ["eth2", "eth10"]);
        assert_eq!(snapshot.interfaces[1].mtu.known(), Some(&Bytes(9000)));
        let Reading::Unknown(gap) = snapshot.interfaces[0].mtu else { panic!("eth2 must stay unknown") };
        assert_eq!(snapshot.origins.gap_of(gap).why, GapKind::NotPermitted);
        assert_eq!(Snapshot::from_json(&snapshot.to_json()), Ok(snapshot));
    }

    #[test]
    fn a_stray_key_and_a_foreign_schema_are_errors_with_their_place() {
        let typo = r#"{"schema": "netdoctor.snapshot/1", "interfaces": [{"name": "eth2", "mut": [1500, 0]}]}"#;
        let Err(DocumentError::Broken(why)) = Snapshot::from_json(typo) else { panic!("a typo must be told") };
        assert!(why.contains("mut") && why.contains("column"), "{why}");
        assert_eq!(Snapshot::from_json("{}"), Err(DocumentError::NotASnapshot));
        let newer = r#"{"schema": "netdoctor.snapshot/9"}"#;
        assert_eq!(Snapshot::from_json(newer), Err(DocumentError::Schema("netdoctor.snapshot/9".into())));
    }
}
