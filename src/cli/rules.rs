//! `netdoctor rules`: documentation, lint, tests and coverage of the rules.

use std::path::{Path, PathBuf};

use super::output::load_rules;
use super::{Output, RuleArguments, Surroundings, exit, trace};
use crate::capture;
use crate::reading::numbers::plural;
use crate::report::escape::visible;
use crate::rulecheck::{cover, lint, read_allowed, read_tests, run_tests, survivors};
use crate::rules::schema::{Explains, Interrupts, Place, RuleSpec};
use crate::rules::{Rule, RuleFolder, RuleSet};

/// Subcommands of `rules`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// One line per rule
    List(List),
    /// Documentation of a rule
    Show(Show),
    /// Lint: names, types, units, thresholds, edges
    Check(Check),
    /// Rule tests, and mutants that they do not notice
    Test(Test),
    /// Why a rule did or did not fire: each term with its value and source
    Trace(trace::Arguments),
    /// Which rules raw input makes fire
    Coverage(Coverage),
}

/// Arguments of `rules list`.
#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    rules: RuleArguments,
}

/// Arguments of `rules show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Rule id
    id: String,
    #[command(flatten)]
    rules: RuleArguments,
}

/// Arguments of `rules check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// Folder of rules; none: those that are built in
    dir: Option<PathBuf>,
}

/// Arguments of `rules test`.
#[derive(Debug, clap::Args)]
pub struct Test {
    /// Folder of rules with a folder `tests` in it
    #[arg(default_value = "rules")]
    dir: PathBuf,
    /// Leave the mutants out
    #[arg(long)]
    no_mutants: bool,
}

/// Arguments of `rules coverage`.
#[derive(Debug, clap::Args)]
pub struct Coverage {
    /// Captures, or folders of captures
    #[arg(required = true, value_name = "PATH")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleArguments,
}

pub(super) fn run(command: &Command, surroundings: &mut Surroundings<'_>) -> Output {
    let output = run_raw(command, surroundings);
    // Rules and file names are text of others.
    let out = output.out.lines().map(|line| visible(line) + "\n").collect();
    Output { out, ..output }
}

fn run_raw(command: &Command, surroundings: &mut Surroundings<'_>) -> Output {
    match command {
        Command::List(arguments) => list(arguments),
        Command::Show(arguments) => show(arguments),
        Command::Check(arguments) => check(arguments),
        Command::Test(arguments) => test(arguments),
        Command::Trace(arguments) => trace::run(arguments, surroundings),
        Command::Coverage(arguments) => coverage(arguments),
    }
}

fn list(arguments: &List) -> Output {
    let (rules, problems) = match load_rules(&arguments.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let mut out = String::new();
    let width = rules.ids().map(str::len).max().unwrap_or(0);
    for rule in rules.ids().filter_map(|id| rules.get(id)) {
        let spec = &rule.spec;
        out += &format!(
            "{:<width$}  {:<8} {:<9} {:<11} {}\n",
            rule.id(),
            spec.kind.word(),
            spec.severity.word(),
            spec.scope.word(),
            spec.title
        );
    }
    Output { out, err: problems, ..Output::default() }
}

fn show(arguments: &Show) -> Output {
    let (rules, problems) = match load_rules(&arguments.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    match rules.get(&arguments.id) {
        Some(rule) => Output { out: page(rule), err: problems, ..Output::default() },
        None => unknown_rule(&rules, &arguments.id),
    }
}

pub(super) fn unknown_rule(rules: &RuleSet, id: &str) -> Output {
    let near = crate::lang::closest(id, rules.ids());
    let hint = near
        .first()
        .map_or_else(|| "`netdoctor rules list` shows all".into(), |near| format!("did you mean `{near}`?"));
    Output::failure(format!("there is no rule `{id}`; {hint}"), exit::USAGE)
}

/// The documentation page of a rule.
fn page(rule: &Rule) -> String {
    let spec = &rule.spec;
    let mut page = format!("{}\n{}\n\n", rule.id(), spec.title);
    page += &format!(
        "{}, {}, asked of each {}; {}:{}\n",
        spec.kind.word(),
        spec.severity.word(),
        spec.scope.word(),
        rule.file,
        spec.id.line
    );
    conditions(&mut page, spec);
    if let Some(headline) = &spec.headline {
        page += &format!("\nHeadline\n  {}\n", headline.text);
    }
    page += &format!("\nWhy\n  {}\n\nImpact\n  {}\n", spec.why.text, spec.impact.text);
    for advice in &spec.recommend {
        page += &format!("\nDo: {}\n", advice.action.text);
        if advice.place != Place::Here {
            page += &format!("  where   on the {}\n", advice.place.word());
        }
        for command in &advice.commands {
            page += &format!("    {}\n", command.text);
        }
        if let Some(gain) = &advice.gain {
            page += &format!("  gain    {}\n", gain.text);
        }
        if let Some(risk) = &advice.risk {
            page += &format!("  risk    {}\n", risk.text);
        }
        let interrupts = match advice.interrupts {
            Interrupts::None => "nothing",
            Interrupts::Queue => "packets of the interface, for some milliseconds",
            Interrupts::Link => "the link, for some seconds",
            Interrupts::AllPorts => "every port of the card",
            Interrupts::Service => "the connections of a program",
            Interrupts::Host => "the host",
        };
        page += &format!("  interrupts {interrupts}\n  check   {}\n", advice.verify.text);
        for undo in advice.undo.iter().chain(&advice.undo_note) {
            page += &format!("  undo    {}\n", undo.text);
        }
    }
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            page += &format!("\n{title}\n");
            for line in lines {
                page += &format!("  - {line}\n");
            }
        }
    };
    section("When it may be wrong", spec.false_positives.clone());
    let edge = |edge: &Explains| match edge.side {
        Some(side) => format!("{} (side: {})", edge.rule, side.word()),
        None => edge.rule.clone(),
    };
    section("Explains", spec.explains.iter().map(edge).collect());
    section("Withholds the advice of", spec.instead_of.clone());
    section("Sources", spec.sources.iter().map(|source| format!("{} ({})", source.from, source.checked)).collect());
    page
}

fn conditions(page: &mut String, spec: &RuleSpec) {
    if let Some(requires) = &spec.requires {
        *page += &format!("\nApplies where\n  {}\n", requires.text);
    }
    *page += "\nFires when\n";
    for (name, value) in &spec.lets.0 {
        *page += &format!("  {name} = {}\n", value.text);
    }
    *page += &format!("  {}\n", spec.when.text);
    for one in &spec.severity_when {
        *page += &format!("  severity {} when {}\n", one.is.word(), one.when.text);
    }
    for one in &spec.kind_when {
        *page += &format!("  kind {} when {}\n", one.is.word(), one.when.text);
    }
    for one in &spec.confidence_when {
        let word = one.is.word();
        *page += &format!("  confidence {word} when {}\n", one.when.text);
    }
    for one in &spec.sides {
        *page += &format!("  side {} when {}\n", one.is.word(), one.when.text);
    }
}

/// The built-in rules, or those of a folder alone.
fn rules_of(dir: Option<&Path>) -> RuleSet {
    match dir {
        None => RuleSet::embedded(),
        Some(path) => RuleSet::of_folder(&RuleFolder { path: path.to_owned(), must_exist: true }),
    }
}

fn check(arguments: &Check) -> Output {
    let rules = rules_of(arguments.dir.as_deref());
    let mut problems: Vec<String> = rules.problems.iter().map(ToString::to_string).collect();
    problems.extend(lint(&rules).iter().map(ToString::to_string));
    let summary = format!("{} checked, {}\n", plural(rules.rules().len(), "rule"), plural(problems.len(), "problem"));
    let code = if problems.is_empty() { exit::CLEAN } else { exit::FOUND };
    Output { out: summary, err: problems, code, ..Output::default() }
}

fn test(arguments: &Test) -> Output {
    let rules = rules_of(Some(&arguments.dir));
    let tests = arguments.dir.join("tests");
    let read = read_tests(&tests).and_then(|files| Ok((files, read_allowed(&tests)?)));
    let (files, allowed) = match read {
        Ok(read) => read,
        Err(problem) => return Output::failure(problem.to_string(), exit::INPUT),
    };
    let mut err: Vec<String> = rules.problems.iter().chain(&lint(&rules)).map(ToString::to_string).collect();
    let result = run_tests(&rules, &files);
    for failure in &result.failures {
        let case = if failure.case.is_empty() { String::new() } else { format!(", \"{}\"", failure.case) };
        err.push(format!("{}: {}{case}: {}", failure.file, failure.rule, failure.message));
    }
    let (rule_count, case_count) = (plural(rules.rules().len(), "rule"), plural(result.cases, "case"));
    let mut out = format!("{rule_count}, {case_count}, {} failed\n", result.failures.len());
    if !arguments.no_mutants {
        let (tried, survived) = survivors(&rules, &files);
        let is_allowed = |rule: &str, mutant: &str| allowed.iter().any(|one| one.rule == rule && one.mutant == mutant);
        let (reviewed, open): (Vec<_>, Vec<_>) = survived.iter().partition(|one| is_allowed(&one.rule, &one.mutant));
        err.extend(open.iter().map(|one| format!("{}: no case notices the mutant \"{}\"", one.rule, one.mutant)));
        for stale in
            allowed.iter().filter(|one| !reviewed.iter().any(|seen| seen.rule == one.rule && seen.mutant == one.mutant))
        {
            err.push(format!(
                "{}: the mutant \"{}\" does not survive any more: strike it off the list",
                stale.rule, stale.mutant
            ));
        }
        out += &format!("{tried} mutants, {} survived and were reviewed, {} survived\n", reviewed.len(), open.len());
    }
    let code = if err.is_empty() { exit::CLEAN } else { exit::FOUND };
    Output { out, err, code, ..Output::default() }
}

fn coverage(arguments: &Coverage) -> Output {
    let (rules, mut err) = match load_rules(&arguments.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let mut unread = false;
    let mut inputs = Vec::new();
    for path in arguments.inputs.iter().flat_map(|path| files_below(path)) {
        match capture::read(&path) {
            Ok(capture) => {
                inputs.extend(capture.hosts.into_iter().map(|host| (path.display().to_string(), host.snapshot)));
            }
            // Not everything that lies in a folder is a capture.
            Err(capture::CaptureError::Unrecognised(_)) if !arguments.inputs.contains(&path) => {}
            Err(error) => {
                unread = true;
                err.push(error.to_string());
            }
        }
    }
    let coverage = cover(&rules, inputs.iter().map(|(name, snapshot)| (name.as_str(), snapshot)));
    let mut out = String::new();
    for (rule, fires) in &coverage.fires {
        let results = &coverage.results[rule];
        let counts: Vec<String> =
            results.iter().map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
        let proof = fires.first().map_or("unproven", String::as_str);
        out += &format!("{rule}: {} ({proof})\n", counts.join(", "));
    }
    let proven = coverage.fires.values().filter(|fires| !fires.is_empty()).count();
    out += &format!("{proven} of {} rules fire from {} captures\n", coverage.fires.len(), inputs.len());
    Output { out, err, code: if unread { exit::INPUT } else { exit::CLEAN }, ..Output::default() }
}

/// The path itself, or the JSON files below a folder, in order of their names; links are not followed.
fn files_below(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    paths.retain(|path| !path.is_symlink());
    let wanted = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|ending| ending == "json");
    paths.iter().filter(|path| wanted(path)).flat_map(|path| files_below(path)).collect()
}
