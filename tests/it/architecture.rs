//! Data moves one way: a room uses only the rooms that stand before it in the line of `docs` in src/lib.rs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::{read, repository};

/// Each room and the rooms that it may use. A room that is not listed fails, so that its place is decided when it is built.
const ALLOWED: &[(&str, &[&str])] = &[
    // What was observed.
    ("reading", &[]),
    ("snapshot", &["reading"]),
    // Pure parsers and pure data: no I/O, no snapshot.
    ("formats", &["reading"]),
    ("knowledge", &[]),
    ("lang", &[]),
    // Two ways to fill a snapshot; nothing that judges is known to them.
    ("probe", &["reading", "snapshot", "formats"]),
    ("capture", &["reading", "snapshot", "formats", "knowledge"]),
    // Derivation and judgement.
    ("ceiling", &["knowledge"]),
    ("facts", &["reading", "snapshot", "formats", "knowledge", "lang", "ceiling"]),
    ("rules", &["reading", "snapshot", "formats", "knowledge", "lang", "facts"]),
    ("advice", &["reading", "snapshot", "formats", "knowledge", "lang", "facts", "rules"]),
    // What is shown. It never knows where a snapshot came from.
    ("report", &["reading", "snapshot", "formats", "knowledge", "lang", "ceiling", "facts", "rules", "advice"]),
    // What is handed to somebody else: what was read, and reports as texts.
    ("bundle", &["reading", "snapshot", "formats", "probe"]),
    ("rulecheck", &["reading", "snapshot", "knowledge", "lang", "facts", "rules", "advice"]),
    (
        "cli",
        &[
            "ceiling",
            "reading",
            "snapshot",
            "knowledge",
            "lang",
            "facts",
            "rules",
            "report",
            "rulecheck",
            "probe",
            "capture",
            "bundle",
        ],
    ),
];

/// Rooms that the text of a source file names by `crate::`. Comments and literals do not count; groups do.
fn uses(source: &str) -> BTreeSet<String> {
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(|line| [line, "\n"])
        .collect::<String>()
        .replace("$crate::", "crate::");
    let mut rooms = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = code[at + "crate::".len()..].trim_start();
        match rest.strip_prefix('{') {
            Some(group) => rooms.extend(first_names(group)),
            None => rooms.extend(name(rest)),
        }
    }
    rooms
}

fn name(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// The first name of each item of `a::b, c::{d, e}}`.
fn first_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut begins = true;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && (c.is_alphabetic() || c == '_') => {
                names.extend(name(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// Arrows that run back, each as `file: room -> room`.
fn backward(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in files {
        let room = file.split(['/', '.']).next().unwrap_or_default();
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == room) else {
            found.push(format!("{file}: the room `{room}` has no place in the line"));
            continue;
        };
        let wrong = uses(text).into_iter().filter(|used| used != room && !allowed.contains(&used.as_str()));
        found.extend(wrong.map(|used| format!("{file}: {room} -> {used}")));
    }
    found
}

fn sources(folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.strip_prefix(repository().join("src")).unwrap().to_str().unwrap().to_owned();
            files.insert(name, read(&path));
        }
    }
}

fn all_sources() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    sources(&repository().join("src"), &mut files);
    files
}

#[test]
fn no_arrow_runs_back() {
    let mut files = all_sources();
    // The binary and the table of contents stand above all rooms.
    assert!(files.remove("main.rs").is_some() && files.remove("lib.rs").is_some());
    assert!(files.len() > 80, "only {} files were found", files.len());
    assert_eq!(backward(&files), Vec::<String>::new());
}

#[test]
fn a_made_up_backward_arrow_is_caught() {
    for (file, text, told) in [
        ("snapshot/host.rs", "use crate::facts::Facts;", "snapshot/host.rs: snapshot -> facts"),
        ("report/text.rs", "fn f() { crate::probe::collect(); }", "report/text.rs: report -> probe"),
        (
            "lang/eval.rs",
            "use crate::{\n    lang::Value,\n    reading::{Gap, GapKind},\n};",
            "lang/eval.rs: lang -> reading",
        ),
        ("probe/plan.rs", "macro_rules! m { () => { $crate::rules::f() } }", "probe/plan.rs: probe -> rules"),
        ("attic/mod.rs", "", "attic/mod.rs: the room `attic` has no place in the line"),
    ] {
        let files = [(file.to_owned(), text.to_owned())].into();
        assert_eq!(backward(&files), [told]);
    }
    let fine = "//! See crate::probe.\nuse crate::{facts, rules::{RuleSet, Rule}}; // crate::cli\nuse mycrate::cli;";
    assert_eq!(backward(&[("report/html.rs".to_owned(), fine.to_owned())].into()), Vec::<String>::new());
}

#[test]
fn the_line_has_no_way_back() {
    let index: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    while placed.len() < index.len() {
        let ready: Vec<&str> = index
            .iter()
            .filter(|(room, uses)| !placed.contains(*room) && uses.iter().all(|used| placed.contains(used)))
            .map(|(room, _)| *room)
            .collect();
        assert!(!ready.is_empty(), "the table goes round in a circle; placed so far: {placed:?}");
        placed.extend(ready);
    }
}

#[test]
fn every_room_of_the_table_of_contents_has_its_place() {
    let declared: BTreeSet<String> = read("src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod ")))
        .map(|line| line.trim_end_matches(';').to_owned())
        .collect();
    let placed: BTreeSet<String> = ALLOWED.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(declared, placed);
}

/// Names of macros and functions that write to a terminal.
const WRITERS: [&str; 7] = ["println!", "print!", "eprintln!", "eprint!", "dbg!", "io::stdout", "io::stderr"];

#[test]
fn only_main_writes() {
    let mut files = all_sources();
    let main = files.remove("main.rs").unwrap();
    assert!(WRITERS.iter().any(|writer| main.contains(writer)), "main.rs no longer writes: the words are out of date");
    for (file, text) in files.iter().filter(|(file, _)| !is_test(file)) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for writer in WRITERS {
            let words = code
                .match_indices(writer)
                .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
            assert_eq!(words.count(), 0, "{file} uses {writer}");
        }
    }
}

fn is_test(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("tests.rs")
}
