//! Where rules come from: embedded, `--rules DIR`, and the two configuration folders. A later rule of the same id
//! replaces an earlier one; a broken rule costs that rule alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::compile::{Rule, compile};
use super::problem::{Problem, RuleFile};
use super::schema::RuleSpec;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

/// Largest rule file that is read, in bytes.
const LARGEST_FILE: u64 = 4 << 20;

/// The rules in force, in the order in which they can be evaluated: a rule stands behind those that it asks for.
#[derive(Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    index: BTreeMap<String, usize>,
    /// What was wrong with rules that are left out.
    pub problems: Vec<Problem>,
}

impl RuleSet {
    /// The rules that this binary was built with.
    pub fn embedded() -> Self {
        Self::compile(embedded_specs())
    }

    /// The rules of a folder alone.
    pub fn of_folder(folder: &RuleFolder) -> Self {
        Self::extended(Vec::new(), std::slice::from_ref(folder))
    }

    /// The embedded rules, overridden by those of the folders in order. A folder that does not exist is skipped unless
    /// it was named by the user.
    pub fn with_folders(folders: &[RuleFolder]) -> Self {
        Self::extended(embedded_specs(), folders)
    }

    fn extended(mut specs: Vec<(RuleFile, RuleSpec)>, folders: &[RuleFolder]) -> Self {
        let mut problems = Vec::new();
        for folder in folders {
            match read_folder(&folder.path) {
                Ok(found) => {
                    for (file, text) in found {
                        let (parsed, found) = match text {
                            Ok(text) => parse_file(&file, &text),
                            Err(problem) => (Vec::new(), vec![problem]),
                        };
                        specs.extend(parsed);
                        problems.extend(found);
                    }
                }
                Err(problem) if folder.must_exist || folder.path.exists() => problems.push(problem),
                Err(_) => {}
            }
        }
        let mut set = Self::compile(specs);
        problems.append(&mut set.problems);
        set.problems = problems;
        set
    }

    /// Checks rules; the last of equal ids wins.
    pub fn compile(specs: Vec<(RuleFile, RuleSpec)>) -> Self {
        let mut by_id: BTreeMap<String, (RuleFile, RuleSpec)> = BTreeMap::new();
        let mut problems = Vec::new();
        for (file, spec) in specs {
            let id = spec.id.text.clone();
            // A folder may be named as that of the embedded rules is; these come without a text.
            if by_id.get(&id).is_some_and(|(other, _)| other.name == file.name && other.text == file.text) {
                problems.push(Problem::of_rule(&file, &spec.id, format!("`{id}` stands twice in this file")));
            }
            by_id.insert(id, (file, spec));
        }
        let ids: BTreeSet<String> = by_id.keys().cloned().collect();
        let mut rules = BTreeMap::new();
        for (id, (file, spec)) in &by_id {
            match compile(spec, file, &ids) {
                Ok(rule) => {
                    rules.insert(id.clone(), rule);
                }
                Err(found) => problems.extend(found),
            }
        }
        let order = stratify(&rules, &by_id, &mut problems);
        let rules: Vec<Rule> = order.iter().filter_map(|id| rules.remove(id)).collect();
        let index = rules.iter().enumerate().map(|(at, rule)| (rule.id().to_owned(), at)).collect();
        Self { rules, index, problems }
    }

    /// All rules in the order of evaluation.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Position of a rule by its id.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// A rule by its id.
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.position(id).map(|at| &self.rules[at])
    }

    /// All ids in alphabetical order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.index.keys().map(String::as_str)
    }
}

/// A folder of rule files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFolder {
    /// Its path.
    pub path: PathBuf,
    /// The user named it: that it is missing is an error.
    pub must_exist: bool,
}

/// The rules that build.rs embedded.
///
/// # Panics
/// Never on input: build.rs wrote the sections from the same types.
pub fn embedded_specs() -> Vec<(RuleFile, RuleSpec)> {
    let mut all = Vec::new();
    for (name, json) in embedded::RULES {
        let specs: Vec<RuleSpec> =
            serde_json::from_str(json).unwrap_or_else(|error| panic!("embedded section {name}: {error}"));
        all.extend(specs.into_iter().map(|spec| (RuleFile { name: (*name).into(), text: "".into() }, spec)));
    }
    all
}

/// A rule file: its name, and its text or what is wrong with it.
pub type NamedFile = (String, Result<String, Problem>);

/// Reads the rule files of a folder, in order of their names, each with its text or what is wrong with it; `tests` below it
/// belongs to `rules test`.
pub fn read_folder(folder: &Path) -> Result<Vec<NamedFile>, Problem> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml"))
        .collect();
    paths.sort();
    Ok(paths.into_iter().map(|path| (path.display().to_string(), read_rule_file(&path))).collect())
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Problem {
    Problem::of_file(&path.display().to_string(), format!("{}: can't be read: {error}", path.display()))
}

fn read_rule_file(path: &Path) -> Result<String, Problem> {
    let found = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !found.is_file() || found.len() > LARGEST_FILE {
        return Err(unreadable(path, &format_args!("not a file of at most {LARGEST_FILE} bytes")));
    }
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

/// Parses a rule file. Where the file as a whole does not parse, each rule is tried by itself, so that a typo in one
/// costs that one.
pub fn parse_file(name: &str, text: &str) -> (Vec<(RuleFile, RuleSpec)>, Vec<Problem>) {
    let file = RuleFile { name: name.into(), text: text.into() };
    let with_file = |specs: Vec<RuleSpec>| specs.into_iter().map(|spec| (file.clone(), spec)).collect::<Vec<_>>();
    let whole = match parse(text) {
        Ok(specs) => return (with_file(specs), Vec::new()),
        Err(error) => Problem::of_file(name, format!("{name}: {error}")),
    };
    let mut specs = Vec::new();
    let mut problems = Vec::new();
    for (rule, alone) in items(text) {
        match parse(&alone) {
            Ok(found) => specs.extend(with_file(found)),
            Err(error) => problems.push(Problem { rule, ..Problem::of_file(name, format!("{name}: {error}")) }),
        }
    }
    if problems.is_empty() { (Vec::new(), vec![whole]) } else { (specs, problems) }
}

fn parse(text: &str) -> Result<Vec<RuleSpec>, String> {
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options).map_err(|error| error.to_string())
}

/// The items of a list at the left margin, each with its id and behind as many empty lines as stand before it, so that
/// line numbers stay right.
fn items(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("- ")).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            let id = lines[*start].strip_prefix("- id:").map_or("", str::trim);
            (id.to_owned(), "\n".repeat(*start) + &lines[*start..end].join("\n"))
        })
        .collect()
}

/// Orders rules so that each stands behind those that it asks for; a cycle costs the rules that are in it.
fn stratify(
    rules: &BTreeMap<String, Rule>,
    specs: &BTreeMap<String, (RuleFile, RuleSpec)>,
    problems: &mut Vec<Problem>,
) -> Vec<String> {
    let mut order = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut left: BTreeSet<&str> = rules.keys().map(String::as_str).collect();
    while !left.is_empty() {
        let ready: Vec<&str> = left
            .iter()
            .copied()
            // A rule that is asked for and is broken counts as done: its result is unknown.
            .filter(|id| {
                rules[*id].asks.iter().all(|asked| done.contains(asked.as_str()) || !rules.contains_key(asked))
            })
            .collect();
        if ready.is_empty() {
            let rings: Vec<(&str, Vec<&str>)> =
                left.iter().map(|id| (*id, ring(rules, id, &left))).filter(|(_, ring)| !ring.is_empty()).collect();
            for (id, ring) in rings {
                let (file, spec) = &specs[id];
                let message = format!("`fired` goes round in a circle among {}", ring.join(", "));
                problems.push(Problem::of_rule(file, &spec.id, message));
                left.remove(id);
                done.insert(id);
            }
            continue;
        }
        for id in ready {
            left.remove(id);
            done.insert(id);
            order.push(id.to_owned());
        }
    }
    order
}

/// The rules of `left` that `id` asks for, directly or through others, and that ask for it likewise; none where it is in
/// no circle.
fn ring<'r>(rules: &BTreeMap<String, Rule>, id: &str, left: &BTreeSet<&'r str>) -> Vec<&'r str> {
    let below = asked_by(rules, id, left);
    left.iter().copied().filter(|other| below.contains(other) && asked_by(rules, other, left).contains(id)).collect()
}

/// The rules of `left` that a rule asks for, directly or through others.
fn asked_by<'r>(rules: &BTreeMap<String, Rule>, id: &str, left: &BTreeSet<&'r str>) -> BTreeSet<&'r str> {
    let mut found = BTreeSet::new();
    let mut open = vec![id];
    while let Some(next) = open.pop() {
        let asks = rules.get(next).into_iter().flat_map(|rule| &rule.asks);
        for asked in asks.filter_map(|asked| left.get(asked.as_str())) {
            if found.insert(*asked) {
                open.push(asked);
            }
        }
    }
    found
}
