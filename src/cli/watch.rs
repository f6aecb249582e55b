//! `netdoctor watch`: a line a second with the loss counters that moved, by interface and place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::scan::{self, milliseconds};
use super::{Output, Surroundings, exit};
use crate::facts::{Count, Facts};
use crate::knowledge::schema::CounterSubject;
use crate::knowledge::{Knowledge, Place};
use crate::reading::numbers;
use crate::report::escape::visible;
use crate::snapshot::Snapshot;

/// Counters of one place that a line names.
const NAMES: usize = 3;

/// Interfaces that a line names before it counts the rest.
const INTERFACES: usize = 8;

/// Arguments of `watch`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Only these interfaces, and the host
    #[arg(short, long, value_name = "IFACE")]
    interface: Vec<String>,
    /// Time between two lines, such as 1s or 500ms
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = milliseconds)]
    interval: u64,
    /// End after so many lines
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
}

pub(super) fn run(arguments: &Arguments, surroundings: &mut Surroundings<'_>) -> Output {
    let reading = scan::Reading::of(&arguments.interface);
    let interval = Duration::from_millis(arguments.interval.max(100));
    let mut before = Tally::of(&scan::snapshot(&reading, surroundings));
    if let Some(name) = arguments.interface.iter().find(|name| !before.links.contains_key(*name)) {
        return Output::failure(format!("there is no interface `{}`", visible(name)), exit::USAGE);
    }
    if before.lost.is_empty() {
        return Output::failure("no counter of lost packets could be read on this host", exit::INPUT);
    }
    let mut next = Instant::now() + interval;
    let mut lines = 0;
    while arguments.count.is_none_or(|count| lines < count) {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        next = (next + interval).max(Instant::now());
        let after = Tally::of(&scan::snapshot(&reading, surroundings));
        let line = format!("{}  {}", clock(SystemTime::now()), moved(&before, &after));
        if !(surroundings.line)(&line) {
            break;
        }
        before = after;
        lines += 1;
    }
    Output::default()
}

/// The time of day, in UTC, as logs of the kernel's time can be held against it.
fn clock(now: SystemTime) -> String {
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) % 86_400;
    format!("{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// What is lost so far, and which links are up.
#[derive(Debug, Default)]
struct Tally {
    /// By subject (the host last), place and counter.
    lost: BTreeMap<(bool, String), BTreeMap<(Place, String), u64>>,
    /// By interface; `None` where it was not read.
    links: BTreeMap<String, Option<bool>>,
}

impl Tally {
    fn of(snapshot: &Snapshot) -> Self {
        let facts = Facts::new(snapshot, Knowledge::embedded());
        let mut tally = Self::default();
        for counter in Knowledge::embedded().canonical_counters() {
            let Some(place) = counter.place.filter(|_| counter.loss) else { continue };
            let of_host = counter.subject == CounterSubject::Host;
            let subjects = if of_host { 1 } else { snapshot.interfaces.len() };
            for index in 0..subjects {
                let Count::Counted(counted) = facts.count(index, &counter.name) else { continue };
                if counted.aside || counted.growth_only {
                    continue;
                }
                let name = if of_host { "host" } else { &snapshot.interfaces[index].name };
                let of = tally.lost.entry((of_host, name.to_owned())).or_default();
                of.insert((place, counter.name.clone()), counted.total);
            }
        }
        let up = |one: &crate::snapshot::Interface| (one.name.clone(), one.link.up.known().copied());
        tally.links = snapshot.interfaces.iter().map(up).collect();
        tally
    }
}

/// What changed between two tallies, in one line. A counter that fell was reset: nothing is said of it.
fn moved(before: &Tally, after: &Tally) -> String {
    let mut parts = links(before, after);
    let mut unnamed = 0;
    for (subject, counters) in &after.lost {
        let Some(old) = before.lost.get(subject) else { continue };
        let mut places: BTreeMap<Place, Vec<(u64, &str)>> = BTreeMap::new();
        for (key, total) in counters {
            let grew = old.get(key).map_or(0, |old| total.saturating_sub(*old));
            if grew > 0 {
                places.entry(key.0).or_default().push((grew, &key.1));
            }
        }
        if places.is_empty() {
            continue;
        }
        if parts.len() >= INTERFACES && !subject.0 {
            unnamed += 1;
            continue;
        }
        let mut text = visible(&subject.1).into_owned();
        for (place, mut names) in places {
            names.sort_by_key(|(grew, name)| (std::cmp::Reverse(*grew), *name));
            let sum: u64 = names.iter().fold(0, |sum, (grew, _)| sum.saturating_add(*grew));
            let mut named: Vec<&str> = names.iter().take(NAMES).map(|(_, name)| *name).collect();
            if names.len() > NAMES {
                named.push("...");
            }
            let place = place.word().replace('_', " ");
            let _ = write!(text, " {place} +{} ({})", numbers::count(sum), named.join(", "));
        }
        parts.push(text);
    }
    if unnamed > 0 {
        parts.push(format!("{unnamed} more interfaces"));
    }
    if !parts.is_empty() {
        return parts.join("; ");
    }
    // Where nobody could look, nothing is said.
    let unread = unread(after);
    match (after.lost.is_empty(), unread.is_empty()) {
        (true, _) => "no counter could be read".into(),
        (false, true) => "nothing lost".into(),
        (false, false) => format!("nothing lost; not readable: {}", unread.join(", ")),
    }
}

/// Places of the host where packets may be lost that no counter tells of.
fn unread(tally: &Tally) -> Vec<String> {
    let counters = Knowledge::embedded().canonical_counters();
    let of_host = counters.iter().filter(|one| one.loss && one.subject == CounterSubject::Host);
    let places: BTreeSet<Place> = of_host.filter_map(|one| one.place).collect();
    let read: BTreeSet<Place> = tally.lost.values().flat_map(|of| of.keys()).map(|(place, _)| *place).collect();
    places.difference(&read).map(|place| place.word().replace('_', " ")).collect()
}

/// Interfaces that came, went, rose or fell.
fn links(before: &Tally, after: &Tally) -> Vec<String> {
    let mut parts = Vec::new();
    for (name, up) in &after.links {
        let what = match (before.links.get(name), up) {
            (None, _) => "appeared",
            (Some(Some(true)), Some(false)) => "LINK DOWN",
            (Some(Some(false)), Some(true)) => "link up",
            _ => continue,
        };
        parts.push(format!("{} {what}", visible(name)));
    }
    let gone = before.links.keys().filter(|name| !after.links.contains_key(*name));
    parts.extend(gone.map(|name| format!("{} is gone", visible(name))));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(lost: &[(&str, Place, &str, u64)], links: &[(&str, bool)]) -> Tally {
        let mut tally = Tally::default();
        for (subject, place, counter, total) in lost {
            let of = tally.lost.entry((*subject == "host", (*subject).into())).or_default();
            of.insert((*place, (*counter).into()), *total);
        }
        tally.links = links.iter().map(|(name, up)| ((*name).into(), Some(*up))).collect();
        tally
    }

    #[test]
    fn what_moved_is_named_by_interface_and_place() {
        let before = tally(
            &[
                ("host", Place::Softnet, "softnet_dropped", 5),
                ("eth0", Place::Ring, "rx_ring_full", 10),
                ("eth0", Place::Wire, "rx_crc_errors", 1),
                ("eth1", Place::Qdisc, "qdisc_dropped", 7),
            ],
            &[("eth0", true), ("eth1", true), ("eth2", false), ("eth3", true)],
        );
        let after = tally(
            &[
                ("host", Place::Softnet, "softnet_dropped", 8),
                ("eth0", Place::Ring, "rx_ring_full", 130),
                ("eth0", Place::Wire, "rx_crc_errors", 1),
                ("eth1", Place::Qdisc, "qdisc_dropped", 2),
            ],
            &[("eth0", true), ("eth1", false), ("eth2", true), ("eth4", true)],
        );
        assert_eq!(
            moved(&before, &after),
            "eth1 LINK DOWN; eth2 link up; eth4 appeared; eth3 is gone; eth0 ring +120 (rx_ring_full); host softnet +3 (softnet_dropped)"
        );
        assert_eq!(moved(&after, &after), "nothing lost; not readable: socket");
        let sockets = ("host", Place::Socket, "TCPRcvQDrop", 0);
        let all = tally(&[("host", Place::Softnet, "softnet_dropped", 8), sockets], &[]);
        assert_eq!(moved(&all, &all), "nothing lost");
        let none = tally(&[], &[("eth0", true)]);
        assert_eq!(moved(&none, &none), "no counter could be read");
    }

    #[test]
    fn the_clock_is_that_of_the_day() {
        assert_eq!(clock(UNIX_EPOCH + Duration::from_secs(86_400 + 3_661)), "01:01:01Z");
    }

    #[test]
    fn of_many_interfaces_the_rest_is_counted() {
        let names: Vec<String> = (0..20).map(|n| format!("eth{n:02}")).collect();
        let at = |total| {
            let rows: Vec<_> = names.iter().map(|name| (name.as_str(), Place::Ring, "rx_ring_full", total)).collect();
            tally(&rows, &[])
        };
        let line = moved(&at(0), &at(1));
        assert!(line.ends_with("eth07 ring +1 (rx_ring_full); 12 more interfaces"), "{line}");
    }
}
