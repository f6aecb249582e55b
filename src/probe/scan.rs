//! What the parts of a collection share: the kernel, the snapshot that grows, and the book of refusals.

use std::collections::{BTreeMap, BTreeSet};

use nix::errno::Errno;

use super::kernel::{Kernel, Reply, Request};
use super::plan::Probe;
use crate::formats::shell::shell_quote;
use crate::reading::{Gap, GapId, GapKind, Reading, Source, SourceId};
use crate::snapshot::Snapshot;

/// A collection in progress.
pub(super) struct Scan<'k> {
    pub kernel: &'k mut dyn Kernel,
    pub out: Snapshot,
    /// What goes before a command that is to run in the namespace that `kernel` looks into; empty for ours.
    pub enter: String,
    /// Per probe that was refused: the subjects.
    refused: BTreeMap<&'static str, (Probe, BTreeSet<String>)>,
    /// Per probe that was cut short and reason: the subjects.
    cut: BTreeMap<(&'static str, String), (Probe, BTreeSet<String>)>,
    remarks: Vec<String>,
}

impl<'k> Scan<'k> {
    pub fn new(kernel: &'k mut dyn Kernel) -> Self {
        Self {
            kernel,
            out: Snapshot::default(),
            enter: String::new(),
            refused: BTreeMap::new(),
            cut: BTreeMap::new(),
            remarks: Vec::new(),
        }
    }

    /// Asks a fixed number of questions.
    pub fn batch<const N: usize>(&mut self, requests: &[Request; N]) -> [Reply; N] {
        let mut replies = self.kernel.call(requests).into_iter();
        std::array::from_fn(|_| replies.next().unwrap_or(Reply::TimedOut))
    }

    pub fn file(&mut self, path: impl Into<String>) -> SourceId {
        self.out.origins.source(Source::File { path: path.into() })
    }

    pub fn netlink(&mut self, command: &str, subject: &str) -> SourceId {
        self.out.origins.source(Source::Netlink { command: command.into(), subject: subject.into() })
    }

    pub fn ioctl(&mut self, command: &str, subject: &str) -> SourceId {
        self.out.origins.source(Source::Ioctl { command: command.into(), subject: subject.into() })
    }

    pub fn call(&mut self, name: &str) -> SourceId {
        self.out.origins.source(Source::Call { name: name.into() })
    }

    pub fn inferred(&mut self, from: &str) -> SourceId {
        self.out.origins.source(Source::Inferred { from: from.into() })
    }

    /// A gap whose command is the probe's.
    pub fn gap(&mut self, why: GapKind, detail: impl Into<String>, probe: &Probe, subject: &str) -> GapId {
        let command = self.command(probe, subject);
        self.out.origins.gap(Gap::new(why).detail(detail).command(command))
    }

    /// The command of the probe, for the namespace that is looked into.
    fn command(&self, probe: &Probe, subject: &str) -> String {
        let command = probe.command(subject);
        let of_namespace = probe.id.starts_with("net.") || probe.id.starts_with("ethtool.");
        // A name that can't be typed leaves no command to run anywhere.
        if command.is_empty() || self.enter.is_empty() || !of_namespace {
            return command;
        }
        let plain = command.strip_prefix("sudo ").unwrap_or(&command);
        // What a shell is to take apart, it must do inside.
        if plain.contains([';', '*']) {
            let inside = plain.replace("; sudo ", "; ");
            return format!("sudo {} sh -c {}", self.enter, shell_quote(&inside));
        }
        format!("sudo {} {plain}", self.enter)
    }

    /// A gap without a command: nothing that a person could type knows more.
    pub fn dead_end(&mut self, why: GapKind, detail: impl Into<String>) -> GapId {
        self.out.origins.gap(Gap::new(why).detail(detail))
    }

    /// A value of an answer, or the gap that says why the answer does not hold it.
    pub fn or_unknown<T>(&mut self, value: Option<T>, source: SourceId, why: GapKind, detail: &str) -> Reading<T> {
        match value {
            Some(value) => Reading::Known(value, source),
            None => Reading::Unknown(self.dead_end(why, detail)),
        }
    }

    /// A value of an answer, or the gap that names the command for it.
    pub fn or_command<T>(&mut self, value: Option<T>, source: SourceId, detail: &str, probe: &Probe) -> Reading<T> {
        match value {
            Some(value) => Reading::Known(value, source),
            None => Reading::Unknown(self.gap(GapKind::Failed, detail, probe, "")),
        }
    }

    /// The gap for a refusal. Refusals for lack of privilege and probes cut short are remembered.
    pub fn refusal(&mut self, reply: &Reply, probe: &Probe, subject: &str) -> GapId {
        let (why, detail) = match reply {
            Reply::Bytes(_) => (GapKind::Malformed, "the answer makes no sense".to_owned()),
            Reply::TimedOut => (GapKind::TimedOut, "no answer in time".to_owned()),
            Reply::Skipped { because } => (GapKind::Skipped, because.clone()),
            Reply::Error { errno, text } => {
                let why = match *errno {
                    libc::EPERM | libc::EACCES => GapKind::NotPermitted,
                    libc::ENODEV | libc::ENXIO => GapKind::Changed,
                    _ => GapKind::Failed,
                };
                let name = Errno::from_raw(*errno);
                let words = if text.is_empty() { name.desc() } else { text };
                (why, if name == Errno::UnknownErrno { words.to_owned() } else { format!("{name:?}: {words}") })
            }
        };
        match why {
            GapKind::NotPermitted => {
                let subjects = &mut self.refused.entry(probe.id).or_insert((*probe, BTreeSet::new())).1;
                note(subjects, subject);
                let command = as_root(&self.command(probe, subject));
                return self.out.origins.gap(Gap::new(why).detail(detail).command(command));
            }
            GapKind::TimedOut | GapKind::Skipped => {
                let key = (probe.id, detail.clone());
                note(&mut self.cut.entry(key).or_insert((*probe, BTreeSet::new())).1, subject);
            }
            _ => {}
        }
        self.gap(why, detail, probe, subject)
    }

    pub fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// A file as text, or the reason why not.
    pub fn text_of(
        &mut self,
        reply: &Reply,
        path: &str,
        probe: &Probe,
        subject: &str,
    ) -> Result<(String, SourceId), GapId> {
        match reply {
            Reply::Bytes(blob) => Ok((blob.text(), self.file(path))),
            refusal => Err(self.refusal(refusal, probe, subject)),
        }
    }

    /// A file through its parser.
    pub fn parsed<T>(
        &mut self,
        reply: &Reply,
        path: &str,
        probe: &Probe,
        subject: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Reading<T> {
        let (text, source) = match self.text_of(reply, path, probe, subject) {
            Ok(found) => found,
            Err(gap) => return Reading::Unknown(gap),
        };
        match parse(&text) {
            Some(value) => Reading::Known(value, source),
            None => {
                Reading::Unknown(self.gap(GapKind::Malformed, format!("{path}: `{}`", excerpt(&text)), probe, subject))
            }
        }
    }

    /// The snapshot, with what root would add and what was cut short.
    pub fn finish(mut self) -> Snapshot {
        self.out.sample.needs_root = self
            .refused
            .values()
            .map(|(probe, subjects)| {
                let command = as_root(&probe.command(subjects.first().map_or("", String::as_str)));
                format!("{}: {command}", words(probe, subjects))
            })
            .collect();
        let cut = self.cut.iter().map(|((_, why), (probe, subjects))| format!("{}: {why}", words(probe, subjects)));
        self.out.sample.remarks = self.remarks.iter().cloned().chain(cut).collect();
        self.out.sort();
        self.out
    }
}

fn note(subjects: &mut BTreeSet<String>, subject: &str) {
    if !subjects.contains(subject) {
        subjects.insert(subject.to_owned());
    }
}

fn words(probe: &Probe, subjects: &BTreeSet<String>) -> String {
    let what = probe.what;
    match subjects.first().map(String::as_str) {
        None | Some("") => what.to_owned(),
        Some(first) if subjects.len() == 1 => format!("{what} of {first}"),
        Some(first) => format!("{what} of {first} and {} more", subjects.len() - 1),
    }
}

fn as_root(command: &str) -> String {
    if command.starts_with("sudo ") { command.to_owned() } else { format!("sudo {command}") }
}

/// The beginning of an odd text, on one line.
fn excerpt(text: &str) -> String {
    text.trim().chars().take(60).map(|char| if char.is_control() { ' ' } else { char }).collect()
}
