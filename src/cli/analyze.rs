//! `netdoctor analyze`: the diagnosis of a capture.

use std::path::PathBuf;

use super::output::{deliver, load_rules, report_of};
use super::{Output, ReportArguments, Surroundings, exit};
use crate::capture;

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
    let (rules, mut problems) = match load_rules(&arguments.report.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let mut reports = Vec::new();
    let mut unreadable = false;
    for input in &arguments.inputs {
        match capture::read(input) {
            Ok(snapshot) => reports.push(report_of(&snapshot, &rules)),
            Err(error) => {
                unreadable = true;
                problems.push(error.to_string());
            }
        }
    }
    if reports.is_empty() {
        return Output { err: problems, code: exit::INPUT, ..Output::default() };
    }
    let mut output = deliver(&reports, &arguments.report, surroundings.terminal, problems);
    if unreadable {
        output.code = exit::INPUT;
    }
    output
}
