//! `netdoctor collect`: a file for support.

mod check;
mod listing;

use std::io::Read as _;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::output::{Terminal, ToWrite, load_rules, render, report_of};
use super::scan::{self, HostArguments};
use super::{Format, Output, RuleArguments, Surroundings, exit};
use crate::bundle::{self, Bundle, Collected, Redactor, Reports, Stage};
use crate::probe::{Recorder, Recording};
use crate::report::model::Report;
use crate::rules::RuleSet;

/// Arguments of `collect`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Archive to write, such as FILE.tar.gz
    #[arg(short, long, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Replace host names, addresses, serial numbers and names that people gave; raw answers are left out
    #[arg(long)]
    redact: bool,
    /// Write nothing; list what would leave the machine
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    host: HostArguments,
    #[command(flatten)]
    rules: RuleArguments,
}

pub(super) fn run(arguments: &Arguments, surroundings: &mut Surroundings<'_>) -> Output {
    let unknown = arguments.host.unknown_namespaces();
    if !unknown.is_empty() {
        return Output { err: unknown, code: exit::USAGE, ..Output::default() };
    }
    let (rules, mut problems) = match load_rules(&arguments.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let mut collected = collect(&arguments.host, surroundings);
    let missing = arguments.host.unknown_interfaces(&collected.snapshot);
    if !missing.is_empty() {
        problems.extend(missing);
        return Output { err: problems, code: exit::USAGE, ..Output::default() };
    }
    scrub(&mut collected);
    (surroundings.progress)("diagnosis");
    let report = report_of(&collected.snapshot, &rules);
    let mut doubts = Vec::new();
    let bundle = if arguments.redact {
        (surroundings.progress)("replacing names and addresses");
        match redacted(collected, &report, &rules) {
            Ok((bundle, told)) => {
                doubts = told;
                bundle
            }
            Err(reasons) => {
                problems.push(format!("not redacted as it should be, so nothing was written:\n{}", reasons.join("\n")));
                return Output { err: problems, code: exit::INTERNAL, ..Output::default() };
            }
        }
    } else {
        collected.remarks.push(
            "not redacted: names, addresses, routes and the kernel log stand in it as they are; --redact replaces them"
                .into(),
        );
        Bundle::new(&collected, reports(&report))
    };
    let packed = match bundle.pack() {
        Ok(packed) => packed,
        Err(error) => return Output::failure(format!("the archive can't be packed: {error}"), exit::INTERNAL),
    };
    let output = Output { err: problems, ..Output::default() };
    match &arguments.output {
        Some(path) if !arguments.dry_run => {
            let out = listing::short(&bundle, packed.len(), &doubts);
            let file = ToWrite { path: path.clone(), bytes: packed, private: true };
            Output { out, files: vec![file], ..output }
        }
        _ => Output { out: listing::long(&bundle, packed.len(), &doubts), ..output },
    }
}

/// Reads the host.
fn collect(host: &HostArguments, surroundings: &mut Surroundings<'_>) -> Collected {
    let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut stages: Vec<(String, Instant)> = vec![("start".into(), Instant::now())];
    let mut progress = |what: &str| {
        stages.push((what.to_owned(), Instant::now()));
        (surroundings.progress)(what);
    };
    let read = scan::read(&host.reading(), &mut progress, &Recorder::new);
    let ends = stages.iter().skip(1).map(|(_, at)| *at).chain([Instant::now()]);
    let length = |((name, begin), end): (&(String, Instant), Instant)| Stage {
        name: name.clone(),
        milliseconds: u64::try_from(end.duration_since(*begin).as_millis()).unwrap_or(u64::MAX),
    };
    let stages = stages.iter().zip(ends).map(length).collect();
    let recordings: Vec<(String, Recording)> =
        read.kernels.into_iter().map(|(name, kernel)| (name, kernel.into_recording())).collect();
    let asked = bundle::sources(recordings.iter().map(|(_, recording)| recording));
    Collected { snapshot: read.snapshot, recordings, read: asked, stages, began, ..Collected::default() }
}

/// Takes secrets out of what was read.
fn scrub(collected: &mut Collected) {
    let mut files: Vec<String> =
        collected.recordings.iter_mut().flat_map(|(_, recording)| bundle::scrub_recording(recording)).collect();
    files.sort();
    files.dedup();
    if !files.is_empty() {
        collected
            .remarks
            .push(format!("values that look like keys or passwords are left out of: {}", files.join(", ")));
    }
    if bundle::scrub_snapshot(&mut collected.snapshot) > 0 {
        collected.remarks.push("values that look like keys or passwords are left out of snapshot.json".into());
    }
}

fn reports(report: &Report) -> Reports {
    let one = |format| render(std::slice::from_ref(report), format, true, Terminal::default());
    Reports { json: one(Format::Json), text: one(Format::Text), html: one(Format::Html) }
}

/// The bundle with other names and addresses, once it was found to say the same and to hold no original; and where that could
/// not be looked for, in sentences that do not belong into it.
fn redacted(collected: Collected, original: &Report, rules: &RuleSet) -> Result<(Bundle, Vec<String>), Vec<String>> {
    let secret = secret().map_err(|error| vec![format!("/dev/urandom: {error}")])?;
    let redactor = Redactor::new(&collected.snapshot, secret).map_err(|error| vec![error])?;
    let snapshot = redactor.snapshot().map_err(|error| vec![error])?;
    let report = report_of(&snapshot, rules);
    let mut remarks: Vec<String> = collected.remarks.iter().map(|remark| redactor.text(remark)).collect();
    remarks.push("raw answers are left out: what is binary in them can't be redacted with certainty".into());
    remarks.extend(redactor.summary());
    remarks.push(check::alike(original, &report, &|text| redactor.text(text))?);
    let mut read = collected.read;
    for asked in &mut read {
        asked.source = redactor.text(&asked.source);
    }
    let mut stages = collected.stages;
    for stage in &mut stages {
        stage.name = redactor.text(&stage.name);
    }
    let collected =
        Collected { snapshot, recordings: Vec::new(), read, stages, began: collected.began, redacted: true, remarks };
    let mut bundle = Bundle::new(&collected, reports(&report));
    let leaks: Vec<bundle::Leak> =
        bundle.members.iter().flat_map(|member| redactor.leaks(&member.name, &member.text)).collect();
    if !leaks.is_empty() {
        let told = leaks.iter().take(10).map(|leak| format!("{}: {} {}", leak.file, leak.what, leak.value));
        return Err(told.collect());
    }
    bundle.remark(format!("checked: no original value stands in any of {} files", bundle.members.len()));
    Ok((bundle, redactor.doubts()))
}

fn secret() -> std::io::Result<[u8; 32]> {
    let mut secret = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
    Ok(secret)
}
