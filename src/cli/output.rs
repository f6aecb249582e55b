//! What a command hands back to `main`, and how reports are rendered into it.

use std::path::{Path, PathBuf};

use super::{FailOn, Format, ReportArguments, RuleArguments, exit};
use crate::capture::{CaptureError, attach};
use crate::facts::Facts;
use crate::knowledge::Knowledge;
use crate::reading::{Reading, Source};
use crate::report::escape::visible;
use crate::report::model::Report;
use crate::report::{assemble, html, is_at_least, json, markdown, text};
use crate::rules::schema::Severity;
use crate::rules::{RuleFolder, RuleSet, diagnose, rank};
use crate::snapshot::Snapshot;

/// The terminal behind standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Columns; none where standard output is no terminal.
    pub width: Option<usize>,
    /// Colours are wanted.
    pub colour: bool,
}

/// A file that the user named.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToWrite {
    /// Where.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// If it is new, nobody but its owner may read it.
    pub private: bool,
}

impl ToWrite {
    /// A text.
    pub fn text(path: PathBuf, text: String) -> Self {
        Self { path, bytes: text.into_bytes(), private: false }
    }
}

/// Text for standard output and standard error, files to write, exit code.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// For standard output.
    pub out: String,
    /// For standard error: problems, each a line or more.
    pub err: Vec<String>,
    /// Files that the user named.
    pub files: Vec<ToWrite>,
    /// Exit code.
    pub code: u8,
}

impl Output {
    /// Text on standard output, exit code 0.
    pub fn text(out: String) -> Self {
        Self { out, ..Self::default() }
    }

    /// A message on standard error.
    pub fn failure(message: impl Into<String>, code: u8) -> Self {
        Self { err: vec![message.into()], code, ..Self::default() }
    }
}

/// The rules in force, and what is wrong with those that are left out. A folder that the user named and that can't be
/// read ends the command.
pub(super) fn load_rules(arguments: &RuleArguments) -> Result<(RuleSet, Vec<String>), Output> {
    if let Some(path) = arguments.rules.iter().find(|path| !path.is_dir()) {
        let message = format!("--rules {}: there is no such folder", visible(&path.display().to_string()));
        return Err(Output::failure(message, exit::USAGE));
    }
    let configured = |path: PathBuf| RuleFolder { path, must_exist: false };
    let mut folders = vec![configured("/etc/netdoctor/rules.d".into())];
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".config"));
    let user = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or(home);
    folders.extend(user.map(|path| configured(path.join("netdoctor/rules.d"))));
    folders.extend(arguments.rules.iter().map(|path| RuleFolder { path: path.clone(), must_exist: true }));
    let set = RuleSet::with_folders(&folders);
    let problems = set.problems.iter().map(ToString::to_string).collect();
    Ok((set, problems))
}

/// Puts what the user said beside the readings into a snapshot: measured results, and what the host is for.
pub(super) fn attach_given(snapshot: &mut Snapshot, arguments: &ReportArguments) -> Result<(), CaptureError> {
    if let Some(workload) = arguments.workload {
        let source = snapshot.origins.source(Source::Inferred { from: "--workload".to_owned() });
        snapshot.host.workload = Reading::Known(workload.word().to_owned(), source);
    }
    for given in &arguments.measured {
        let named = given.split_once('=').filter(|_| !Path::new(given).exists());
        if let Some((name, _)) = named.filter(|(name, _)| snapshot.interface(name).is_none()) {
            return Err(CaptureError::NotThere(format!("--measured {given}: there is no interface `{name}`")));
        }
        match named {
            Some((name, file)) => attach(snapshot, Path::new(file), Some(name))?,
            None => attach(snapshot, Path::new(given), None)?,
        }
    }
    Ok(())
}

/// The exit code for an input that could not be used.
pub(super) fn code_of(error: &CaptureError) -> u8 {
    if matches!(error, CaptureError::NotThere(_)) { exit::USAGE } else { exit::INPUT }
}

/// Diagnoses a snapshot. Rules that are left out are told in the report too: it may go where standard error does not.
pub(super) fn report_of(snapshot: &Snapshot, rules: &RuleSet) -> Report {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    let diagnosis = diagnose(rules, &facts);
    let ranked = rank(rules, &facts, &diagnosis);
    let mut report = assemble(&facts, rules, &diagnosis, &ranked);
    for problem in &rules.problems {
        let rule = if problem.rule.is_empty() { "rules" } else { &problem.rule };
        report.sample.remarks.push(format!("left out, for it is broken: {rule} ({}:{})", problem.file, problem.line));
    }
    report
}

/// Renders reports as the arguments ask.
pub(super) fn deliver(
    reports: &[Report],
    arguments: &ReportArguments,
    terminal: Terminal,
    problems: Vec<String>,
) -> Output {
    let targets = match targets(arguments) {
        Ok(targets) => targets,
        Err(message) => return Output::failure(message, exit::USAGE),
    };
    let mut output = Output { err: problems, ..Output::default() };
    for (format, file) in targets {
        let to_terminal = if file.is_none() { terminal } else { Terminal::default() };
        let rendered = render(reports, format, arguments.verbose, to_terminal);
        match file {
            Some(path) => output.files.push(ToWrite::text(path, rendered)),
            None => output.out += &rendered,
        }
    }
    let severity = match arguments.fail_on {
        FailOn::Critical => Some(Severity::Critical),
        FailOn::Warning => Some(Severity::Warning),
        FailOn::Advice => Some(Severity::Advice),
        FailOn::Info => Some(Severity::Info),
        FailOn::Never => None,
    };
    if severity.is_some_and(|severity| reports.iter().any(|report| is_at_least(report, severity))) {
        output.code = exit::FOUND;
    }
    output
}

pub(super) fn render(reports: &[Report], format: Format, verbose: bool, terminal: Terminal) -> String {
    match format {
        Format::Text => {
            let width = terminal.width.unwrap_or(100);
            text::render(reports, &text::Options { width, colour: terminal.colour, verbose })
        }
        Format::Md => markdown::render(reports),
        Format::Html => html::render(reports),
        Format::Json => json::render(reports),
    }
}

impl ReportArguments {
    /// The files that the user named.
    pub(super) fn outputs(&self) -> &[PathBuf] {
        &self.output
    }

    /// The file that a snapshot goes to: it has one form and goes to one place.
    pub(super) fn only_file(&self) -> Result<Option<PathBuf>, String> {
        match (self.format.is_empty(), self.output.as_slice()) {
            (false, _) => Err("--snapshot has a form of its own: leave -f out".into()),
            (true, [first, _, ..]) => Err(format!("--snapshot goes to one file: {} and what else?", first.display())),
            (true, files) => Ok(files.first().cloned()),
        }
    }
}

/// Pairs formats with files: the n-th -o takes the n-th -f; a file without a format goes by its ending, a format without a
/// file to standard output.
fn targets(arguments: &ReportArguments) -> Result<Vec<(Format, Option<PathBuf>)>, String> {
    let count = arguments.format.len().max(arguments.output.len());
    if count == 0 {
        return Ok(vec![(Format::Text, None)]);
    }
    if let Some(twice) = arguments.output.iter().enumerate().find(|(at, file)| arguments.output[..*at].contains(file)) {
        return Err(format!("{}: two outputs for one file", twice.1.display()));
    }
    if count.saturating_sub(arguments.output.len()) > 1 {
        return Err("several formats for standard output: give each of the others its -o FILE".into());
    }
    (0..count)
        .map(|at| match (arguments.format.get(at), arguments.output.get(at)) {
            (Some(format), file) => Ok((*format, file.cloned())),
            (None, Some(file)) => format_of(file).map(|format| (format, Some(file.clone()))),
            (None, None) => Ok((Format::Text, None)),
        })
        .collect()
}

/// The file that would be written over though it is read.
pub(super) fn written_over(inputs: &[PathBuf], outputs: &[PathBuf]) -> Option<String> {
    let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    let twice = outputs.iter().find(|output| output.is_file() && inputs.iter().any(|input| same(input, output)))?;
    Some(format!("{}: is read, and -o would write over it", visible(&twice.display().to_string())))
}

fn format_of(file: &Path) -> Result<Format, String> {
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("txt" | "text") => Ok(Format::Text),
        Some("md" | "markdown") => Ok(Format::Md),
        Some("html" | "htm") => Ok(Format::Html),
        Some("json") => Ok(Format::Json),
        _ => Err(format!("{}: the ending names no format; add -f text, md, html or json", file.display())),
    }
}
