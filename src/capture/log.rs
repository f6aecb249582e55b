//! The kernel log of a host while a capture is read.

use std::collections::BTreeSet;

use super::site::Site;
use super::{nameless, usb};
use crate::formats::kernel_log::Stamp;
use crate::formats::kernel_log::sieve::Sieve;
use crate::reading::{Reading, SourceId};
use crate::snapshot::LogLine;

/// Most lines that are kept of one output before its names are all known, and most that are kept in the end.
const MOST: usize = 20_000;
/// Outputs up to this many lines are kept whole until all names are known.
const SHORT: usize = 5_000;
/// Clocks of CPUs, and stamps of minutes, differ by a little; what is further ahead is of no use.
const SKEW: f64 = 60.0;

/// A line of the log.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Seconds on the kernel's clock, where no other clock is known.
    pub boot: Option<f64>,
    /// Seconds on the kernel's clock, beside another clock too.
    pub since_boot: Option<f64>,
    /// By the clock of the host.
    pub clock: Option<Stamp>,
    /// Seconds before the newest line of the same output.
    pub age: Option<f64>,
    pub text: String,
    pub source: SourceId,
}

impl Entry {
    /// What tells it from another line with another text; none where it bears no stamp.
    fn stamp(&self) -> Option<String> {
        (self.boot.is_some() || self.clock.is_some()).then(|| format!("{:?} {:?}", self.boot, self.clock))
    }
}

/// The lines of a host, in the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct Log {
    entries: Vec<Entry>,
    /// Seconds since 1970 in local time, as `date` printed it.
    pub now: Option<f64>,
    /// Where an output was, though no line of it may have been kept.
    pub read: Option<SourceId>,
}

fn age(now: f64, then: f64) -> Option<f64> {
    let age = now - then;
    (age.is_finite() && age > -SKEW).then(|| (age.max(0.0) * 1e6).round() / 1e6)
}

impl Log {
    pub fn is_empty(&self) -> bool {
        self.read.is_none()
    }

    /// True where a line is as wanted.
    pub fn tells(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.entries.iter().any(|entry| wanted(&entry.text))
    }

    /// Adds the lines of one output. What an earlier output showed too is told once.
    pub fn add(&mut self, mut fresh: Vec<Entry>, names: impl FnOnce() -> BTreeSet<String>) {
        if fresh.len() > SHORT {
            let sieve = Sieve::new(&names());
            fresh.retain(|entry| sieve.keeps(&entry.text));
        }
        if !self.entries.is_empty() {
            let told: BTreeSet<(String, &str)> =
                fresh.iter().filter_map(|entry| Some((entry.stamp()?, entry.text.as_str()))).collect();
            self.entries.retain(|old| old.stamp().is_none_or(|stamp| !told.contains(&(stamp, old.text.as_str()))));
        }
        self.entries.extend(fresh);
        let excess = self.entries.len().saturating_sub(MOST.max(SHORT));
        self.entries.drain(..excess);
    }
}

/// Puts the lines that concern networking into the snapshot, oldest first.
pub(super) fn finish(site: &mut Site) {
    let log = std::mem::take(&mut site.log);
    let Some(read) = log.read else { return };
    let sieve = Sieve::new(&site.snapshot.log_names());
    let uptime = site.snapshot.host.uptime.known().map(|uptime| uptime.0);
    let mut lines: Vec<LogLine> = Vec::new();
    for entry in log.entries {
        if !sieve.keeps(&entry.text) {
            continue;
        }
        let by_date = log.now.zip(entry.clock).filter(|(_, stamp)| !matches!(stamp, Stamp::Absolute(_)));
        let by_date = by_date.and_then(|(now, stamp)| age(now, stamp.seconds(now, 0.0)?));
        let by_uptime = uptime.zip(entry.boot).and_then(|(uptime, boot)| age(uptime, boot));
        let age = by_date.or(by_uptime).or(entry.age);
        let since_boot = entry.since_boot.or(entry.boot);
        lines.push(LogLine { age, since_boot, text: entry.text, source: entry.source, about: String::new() });
    }
    nameless::place(site, &mut lines);
    usb::place(site, &mut lines);
    if lines.iter().all(|line| line.age.is_some()) {
        lines.sort_by(|a, b| b.age.unwrap_or(0.0).total_cmp(&a.age.unwrap_or(0.0)));
    }
    site.snapshot.host.log.fill(Reading::Known(lines, read));
}
