//! The form of a rule test file: for one rule, cases with the facts that are given and what must come out.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::rules::schema::{Confidence, Kind, Severity, Side};
use crate::rules::{Problem, read_folder};

/// The tests of one rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleCases {
    /// Rule id.
    pub rule: String,
    /// A snapshot in its serialised form (without schema and tables) that all cases start from.
    #[serde(default)]
    pub given: Option<serde_json::Value>,
    /// Or a fixture, as a path from the folder of the test file.
    #[serde(default)]
    pub fixture: Option<String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Assignments to the given snapshot, in order: `eth0.mtu=9000`, `eth0.link.up=unknown`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Lines of the kernel log, instead of those given.
    #[serde(default)]
    pub log: Option<Vec<GivenLine>>,
    /// Subject to look at; may be left out where there is one only.
    #[serde(default)]
    pub subject: Option<String>,
    /// What must come out.
    pub expect: Expected,
    /// Kind of the finding.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// Severity of the finding.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Confidence of the finding.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// What the finding must name as assumed: a piece of each line. An empty list: it assumes nothing.
    #[serde(default)]
    pub assumed: Option<Vec<String>>,
    /// Who must have sent the data that the finding is about; for rules that state it.
    #[serde(default)]
    pub sides: Option<Vec<Side>>,
    /// Facts that must be named as missing, for `unknown`.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Pieces of text that the finding must say in its texts and commands.
    #[serde(default)]
    pub says: Vec<String>,
    /// Pieces of text that it must not say.
    #[serde(default)]
    pub never_says: Vec<String>,
}

/// A line of the kernel log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenLine {
    /// Seconds before the snapshot; none for a line without a time.
    #[serde(default)]
    pub age: Option<f64>,
    /// Seconds after the boot; none for a line without such a stamp.
    #[serde(default)]
    pub since_boot: Option<f64>,
    /// The message.
    pub text: String,
}

/// Result that a case expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// The condition holds.
    Fires,
    /// It does not.
    Passes,
    /// The rule does not concern the subject.
    NotApplicable,
    /// A fact is missing.
    Unknown,
}

/// One test file.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// Its path.
    pub name: String,
    /// Folder that fixtures are looked up from.
    pub folder: PathBuf,
    /// Its tests.
    pub rules: Vec<RuleCases>,
}

/// Name of the list of mutants that may survive.
pub const SURVIVORS: &str = "surviving-mutants.yaml";

/// Reads the test files of a folder.
pub fn read_tests(folder: &Path) -> Result<Vec<TestFile>, Problem> {
    let mut files = Vec::new();
    for (name, text) in read_folder(folder)? {
        if !name.ends_with(SURVIVORS) {
            files.push(TestFile { rules: parse(&name, &text?)?, name, folder: folder.to_owned() });
        }
    }
    Ok(files)
}

/// Parses one file of the folder.
pub(super) fn parse<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, Problem> {
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options).map_err(|error| Problem::of_file(name, format!("{name}: {error}")))
}
