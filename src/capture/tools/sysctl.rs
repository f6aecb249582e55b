//! `sysctl`, files below /proc/sys, and sysctl.conf, which holds intent and not state.

use super::super::command::Command;
use super::{Intake, Tool, path_value};
use crate::formats::cursor::{At, Cursor};
use crate::formats::sysctl::{self, Setting};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "sysctl.conf",
        answers: |command| {
            let files = command.files();
            !files.is_empty() && files.iter().all(|path| sysctl::is_configuration(path))
        },
        begins: |_| false,
        read: configuration,
    },
    Tool { name: "sysctl", answers: |command| command.program == "sysctl", begins, read: settings },
    Tool {
        name: "/proc/sys",
        answers: |command| command.files().iter().any(|path| path.starts_with("/proc/sys/")),
        begins: |cursor| cursor.peek().is_some_and(|line| path(line.text).is_some()),
        read: files,
    },
];

/// Parameters that are kept: those of the network.
fn is_kept(key: &str) -> bool {
    key.starts_with("net.") || key.starts_with("sunrpc.")
}

fn put(intake: &mut Intake<'_>, key: String, value: &str, line: u32) {
    if is_kept(&key) {
        intake.site.sysctl(key, At::new(sysctl::value(value), line));
    }
}

fn printed(text: &str) -> Option<Setting> {
    sysctl::setting(text).filter(|setting| setting.printed)
}

fn begins(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| printed(line.text).is_some() && !line.text.starts_with([' ', '\t']))
}

fn settings(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let keys = intake.command.map(keys).unwrap_or_default();
    let mut next = keys.iter();
    while let Some(line) = cursor.peek() {
        if let Some(setting) = sysctl::setting(line.text).filter(|setting| setting.printed || intake.command.is_some())
        {
            put(intake, setting.key, &setting.value, line.number);
        } else if sysctl::is_complaint(line.text) || sysctl::is_heading(line.text) {
            next.next();
        } else if let Some(key) = next.next().filter(|_| is_value(line.text)) {
            // -n prints the value alone.
            put(intake, key.clone(), line.text, line.number);
        } else {
            break;
        }
        cursor.take();
    }
}

/// The keys whose values a command prints without their names.
fn keys(command: &Command) -> Vec<String> {
    let bare = command.has_flag('n') || command.has("--values");
    if command.program != "sysctl" || !bare {
        return Vec::new();
    }
    let words = command.arguments.iter().filter(|word| !word.starts_with('-') && !word.contains('='));
    words.map(|word| word.replace('/', ".")).collect()
}

/// A line that can be the value of a parameter: figures or words, no prose and no complaint.
fn is_value(text: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || " \t_-.,/+[]:".contains(char);
    let mut words = text.split_ascii_whitespace();
    let numbers = words.clone().all(|word| word.parse::<f64>().is_ok());
    !text.trim().is_empty()
        && text.chars().all(plain)
        && (numbers || words.all(|word| word.len() <= 24) && !text.ends_with(':'))
}

/// The parameter and the value of a line `/proc/sys/net/core/rmem_max:212992`.
fn path(text: &str) -> Option<(String, &str)> {
    let (path, value) = path_value(text).filter(|(path, _)| path.starts_with("/proc/sys/"))?;
    Some((sysctl::key_of_path(path)?, value))
}

fn files(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let files: Vec<String> =
        intake.command.map(|command| command.files()).unwrap_or_default().into_iter().map(str::to_owned).collect();
    let mut next = files.iter().filter(|file| file.starts_with("/proc/sys/"));
    while let Some(line) = cursor.peek() {
        if let Some((key, value)) = path(line.text) {
            put(intake, key, value, line.number);
        } else if super::super::site::refusal(line.text).is_some() {
            next.next();
        } else if is_value(line.text)
            && let Some(key) = next.next().and_then(|file| sysctl::key_of_path(file))
        {
            put(intake, key, line.text, line.number);
        } else {
            break;
        }
        cursor.take();
    }
}

/// Takes settings and comments.
fn configuration(cursor: &mut Cursor<'_>, _: &mut Intake<'_>) {
    let known = |text: &str| {
        let text = text.trim_start();
        text.starts_with(['#', ';'])
            || sysctl::setting(text).is_some()
            || path_value(text).is_some_and(|(path, rest)| {
                sysctl::is_configuration(path)
                    && (rest.is_empty() || rest.starts_with('#') || sysctl::setting(rest).is_some())
            })
    };
    while cursor.take_if(|text| known(text).then_some(())).is_some() {
        cursor.skip_blank();
    }
}
