//! The table of contents of a bundle, `manifest.json`.

use serde::{Deserialize, Serialize};

/// Schema of the manifests that this version writes.
pub const SCHEMA: &str = "netdoctor.bundle/1";

/// What a bundle is and holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name and version of the program.
    pub generator: String,
    /// When the collection began, in UTC: `2026-12-01T15:30:00Z`.
    pub made_at: String,
    /// Host name; none where it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// True where root's privileges were in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// True where names, addresses and serial numbers were replaced.
    pub redacted: bool,
    /// Seconds between the two samples of the counters; 0 for one sample.
    pub seconds: f64,
    /// How long each part of the collection took, in order.
    pub stages: Vec<Stage>,
    /// The other files of the bundle.
    pub files: Vec<Entry>,
    /// What was asked. Names of interfaces, processes and the like are a `*` in it.
    pub read: Vec<Asked>,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// What was taken out or replaced, and what was checked, in sentences.
    pub remarks: Vec<String>,
}

/// A part of the collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What it read.
    pub name: String,
    /// How long it took.
    pub milliseconds: u64,
}

/// A file of the bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name below the folder of the bundle.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its bytes, in lower-case hex digits.
    pub sha256: String,
    /// What it is.
    pub what: String,
}

/// A place that was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Asked {
    /// A file, a request of netlink, an ioctl ...
    pub source: String,
    /// How often.
    pub times: u64,
    /// Bytes that came back.
    pub bytes: u64,
}

/// Facts that are unknown for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Which: `link.speed, link.duplex`.
    pub what: String,
    /// Of which interfaces, PCI functions or `host`; at most eight, then `and 92 more`.
    pub of: Vec<String>,
    /// The reason as a word, for example `not_permitted`.
    pub why: String,
    /// What was tried and what came back.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The command that would tell; empty where none would.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
}
