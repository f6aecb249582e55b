//! What several tests need: fixtures, reports in every format, the program itself, a folder of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use netdoctor::facts::{Catalogue, Facts};
use netdoctor::knowledge::Knowledge;
use netdoctor::lang::{Key, State};
use netdoctor::report::model::Report;
use netdoctor::report::{assemble, html, json, markdown, text};
use netdoctor::rules::{RuleSet, diagnose, parse_file, rank};
use netdoctor::snapshot::Snapshot;

/// The repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the repository.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files of a folder of the repository with this ending, in order of their names.
pub fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|one| one == ending))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} has no *.{ending}");
    files
}

/// Snapshots of seeds and whole hosts, each with its name.
pub fn fixtures() -> Vec<(String, String)> {
    let paths = ["fixtures/seeds", "fixtures/hosts"].into_iter().flat_map(|folder| files(folder, "json"));
    paths.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), read(path))).collect()
}

/// A snapshot out of its text.
pub fn snapshot(text: &str) -> Snapshot {
    Snapshot::from_json(text).unwrap_or_else(|error| panic!("{error}"))
}

/// One in `step` of many trials, in the long form of the tests (`test.sh --long`) all. Which ones differs by `turn`.
pub fn trials<T>(all: Vec<T>, step: usize, turn: usize) -> Vec<T> {
    let step = if std::env::var_os("NETDOCTOR_LONG").is_some() { 1 } else { step };
    all.into_iter().enumerate().filter(|(at, _)| (at + turn).is_multiple_of(step)).map(|(_, one)| one).collect()
}

/// Every known reading of a snapshot: the key, the path of the fact.
pub fn known_readings(snapshot: &Snapshot) -> Vec<(Key, String)> {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    let catalogue = Catalogue::shared();
    let mut found = Vec::new();
    for (_, scope, slot, entry) in catalogue.all().filter(|(_, _, _, entry)| !entry.is_derived()) {
        for entity in facts.entities(scope) {
            let key = Key { entity, slot };
            if facts.lookup(key).state != State::Unknown {
                found.push((key, entry.path.clone()));
            }
        }
    }
    found
}

/// The report of a snapshot by these rules.
pub fn report_by(rules: &RuleSet, snapshot: &Snapshot) -> Report {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    let diagnosis = diagnose(rules, &facts);
    assemble(&facts, rules, &diagnosis, &rank(rules, &facts, &diagnosis))
}

/// The report of a snapshot by the rules that are built in.
pub fn report(snapshot: &Snapshot) -> Report {
    report_by(&RuleSet::embedded(), snapshot)
}

/// A report in every format, each with its name; text also verbose.
pub fn formats(report: &Report) -> Vec<(String, String)> {
    let reports = std::slice::from_ref(report);
    let mut all = vec![
        ("md".to_owned(), markdown::render(reports)),
        ("html".to_owned(), html::render(reports)),
        ("json".to_owned(), json::render(reports)),
    ];
    for (width, verbose) in [(80, false), (80, true), (200, false), (200, true)] {
        let options = text::Options { width, colour: false, verbose };
        all.push((format!("text {width}{}", if verbose { " -v" } else { "" }), text::render(reports, &options)));
    }
    all
}

/// Rules out of YAML text; all of them must be right.
pub fn rules(yaml: &str) -> RuleSet {
    let (specs, problems) = parse_file("test.yaml", yaml);
    assert_eq!(problems, [], "the rules of the test");
    let set = RuleSet::compile(specs);
    assert_eq!(set.problems, [], "the rules of the test");
    set
}

/// The program, in an environment that no setting of the caller reaches.
pub fn netdoctor(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netdoctor"));
    command.args(arguments).current_dir(repository()).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "XDG_CONFIG_HOME", "SSH_CONNECTION"] {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent").env("TERM", "xterm-256color");
    command
}

/// What a run of the program said.
#[derive(Debug)]
pub struct Said {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the program to its end.
pub fn run(arguments: &[&str]) -> Said {
    netdoctor(arguments).output().unwrap().into()
}

/// Runs the program with text on its standard input.
pub fn run_with_input(arguments: &[&str], input: &[u8]) -> Said {
    use std::io::Write as _;
    let mut command = netdoctor(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may leave before it has read everything.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let said = child.wait_with_output().unwrap().into();
    drop(writer.join().unwrap());
    said
}

/// A folder of a test's own; it goes when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    /// A fresh, empty folder.
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("netdoctor-it-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A path below it, as an argument.
    pub fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file below it and yields its path.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.at(name)
    }

    /// Names of what lies in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
