//! `netdoctor analyze`: the diagnosis of a capture.

use std::path::PathBuf;

use super::output::{attach_given, code_of, deliver, load_rules, report_of, written_over};
use super::{Output, ReportArguments, Surroundings, exit};
use crate::capture::{self, Understanding};
use crate::report::model::{LineLeft, Understood};

/// Arguments of `analyze`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Captures; - for standard input
    #[arg(required = true, value_name = "PATH")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    report: ReportArguments,
}

pub(super) fn run(arguments: &Arguments, surroundings: &mut Surroundings<'_>) -> Output {
    if let Some(problem) = written_over(&arguments.inputs, arguments.report.outputs()) {
        return Output::failure(problem, exit::USAGE);
    }
    let (rules, mut problems) = match load_rules(&arguments.report.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let mut reports = Vec::new();
    let mut failed = None;
    for input in &arguments.inputs {
        let read = capture::read(input).and_then(|mut capture| {
            for host in &mut capture.hosts {
                attach_given(&mut host.snapshot, &arguments.report)?;
            }
            Ok(capture)
        });
        match read {
            Ok(capture) => {
                if capture.incomplete {
                    failed.get_or_insert(exit::INPUT);
                }
                problems.extend(capture.problems);
                let several = capture.hosts.len() > 1;
                for host in &capture.hosts {
                    let mut report = report_of(&host.snapshot, &rules);
                    // One of several must be told from the others.
                    let named = if host.place.is_empty() { input.clone() } else { input.join(&host.place) };
                    report.capture = (arguments.inputs.len() > 1 || several).then(|| named.display().to_string());
                    report.understood = host.understanding.as_ref().map(understood);
                    reports.push(report);
                }
            }
            Err(error) => {
                failed.get_or_insert(code_of(&error));
                problems.push(error.to_string());
            }
        }
    }
    if reports.is_empty() {
        return Output { err: problems, code: failed.unwrap_or(exit::INPUT), ..Output::default() };
    }
    let mut output = deliver(&reports, &arguments.report, surroundings.terminal, problems);
    if let Some(code) = failed {
        output.code = code;
    }
    output
}

fn understood(counted: &Understanding) -> Understood {
    let left = counted.left.iter();
    let left = left.map(|left| LineLeft { file: left.file.clone(), line: left.line, text: left.text.clone() });
    Understood { lines: counted.lines, read: counted.read, left: left.collect() }
}
