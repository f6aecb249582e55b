//! Control groups whose CPU time is limited: our own, and those of programs that matter to the network.

use std::collections::{BTreeMap, BTreeSet};

use super::kernel::{Reply, Request};
use super::scan::Scan;
use super::statistics;
use crate::formats::proc_net;
use crate::reading::Reading;
use crate::snapshot::CounterBlock;

const GROUP: &str = "cgroup_cpu";
/// Most groups that are looked at.
const MOST: usize = 128;
/// Deepest group that is followed upwards.
const DEPTH: usize = 16;
const NAMES: [&str; 3] = ["nr_periods", "nr_throttled", "throttled_usec"];

/// What is kept for the second sample.
#[derive(Default)]
pub(super) struct Sample {
    /// Files by the name of their group, of those that could be read.
    files: BTreeMap<String, String>,
    at: u64,
}

/// The files with the limits of the groups that a process is in, each by the name of its group.
fn files(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let root = match (number, controllers) {
            ("0", "") => "/sys/fs/cgroup".to_owned(),
            _ if controllers.split(',').any(|name| name == "cpu") => format!("/sys/fs/cgroup/{controllers}"),
            _ => continue,
        };
        // A group outside of our namespace has no path here.
        if path.split('/').any(|part| part == "..") {
            continue;
        }
        let mut path = path.trim_end_matches('/');
        for _ in 0..DEPTH {
            let name = if path.is_empty() { "/" } else { path };
            found.push((name.to_owned(), format!("{root}{path}/cpu.stat")));
            // A group is held back with those above it.
            let Some((above, _)) = path.rsplit_once('/') else { break };
            path = above;
        }
    }
    found
}

/// Figures of one group in microseconds; version 1 counts nanoseconds.
fn figures(text: &str) -> Option<[u64; 3]> {
    let rows: BTreeMap<String, u64> = proc_net::lines(text).into_iter().collect();
    let old = rows.get("throttled_time").map(|time| time / 1000);
    Some([*rows.get(NAMES[0])?, *rows.get(NAMES[1])?, rows.get(NAMES[2]).copied().or(old)?])
}

/// Rows of all groups: their sums, and those of each group that has a limit.
fn rows(found: &BTreeMap<&str, [u64; 3]>) -> Vec<(String, u64)> {
    let sum = |at: usize| found.values().fold(0u64, |sum, figures| sum.saturating_add(figures[at]));
    let mut rows: Vec<(String, u64)> =
        NAMES.iter().enumerate().map(|(at, name)| ((*name).to_owned(), sum(at))).collect();
    for (group, figures) in found.iter().filter(|(_, figures)| figures[0] > 0) {
        rows.extend(NAMES.iter().zip(figures).map(|(name, figure)| (format!("{group} {name}"), *figure)));
    }
    rows
}

fn read<'f>(scan: &mut Scan<'_>, files: &'f BTreeMap<String, String>) -> BTreeMap<&'f str, [u64; 3]> {
    let requests: Vec<Request> = files.values().map(|file| Request::read(file.as_str())).collect();
    let replies = scan.kernel.call(&requests);
    let one = |(group, reply): (&'f String, &Reply)| {
        Some((group.as_str(), figures(&String::from_utf8_lossy(reply.bytes()?))?))
    };
    files.keys().zip(&replies).filter_map(one).collect()
}

/// The first sample. `processes` are those of programs that matter to the network.
pub(super) fn first(scan: &mut Scan<'_>, processes: &[u32]) -> Sample {
    let own = Request::read("/proc/self/cgroup");
    let requests: Vec<Request> = std::iter::once(own)
        .chain(processes.iter().take(MOST).map(|id| Request::read(format!("/proc/{id}/cgroup"))))
        .collect();
    let replies = scan.kernel.call(&requests);
    let texts: BTreeSet<String> =
        replies.iter().filter_map(Reply::bytes).map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    let files: BTreeMap<String, String> = texts.iter().flat_map(|text| files(text)).take(MOST).collect();
    let found = read(scan, &files);
    let at = scan.kernel.now_ms();
    if !found.is_empty() {
        let source = scan.file("/sys/fs/cgroup");
        let block = statistics::block(GROUP, source, rows(&found));
        if let Reading::Known(blocks, _) = &mut scan.out.host.counters {
            blocks.push(block);
        }
    }
    let groups: BTreeSet<String> = found.keys().map(|group| (*group).to_owned()).collect();
    Sample { files: files.into_iter().filter(|(group, _)| groups.contains(group)).collect(), at }
}

/// The second sample.
pub(super) fn again(scan: &mut Scan<'_>, sample: &Sample) {
    let there = |blocks: &Vec<CounterBlock>| blocks.iter().any(|block| block.group == GROUP);
    if !scan.out.host.counters.known().is_some_and(there) {
        return;
    }
    let found = read(scan, &sample.files);
    let after = scan.kernel.now_ms().saturating_sub(sample.at);
    let rows = rows(&found);
    let Reading::Known(blocks, _) = &mut scan.out.host.counters else { return };
    // A group that is gone would make the sums smaller.
    let whole = found.len() == sample.files.len();
    let Some(block) = blocks.iter_mut().find(|block| block.group == GROUP && whole) else { return };
    block.append(after, rows.iter().map(|(name, figure)| (name.as_str(), *figure)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_above_hold_back_too() {
        let found = files("0::/system.slice/nginx.service\n");
        let paths: Vec<(&str, &str)> = found.iter().map(|(name, file)| (name.as_str(), file.as_str())).collect();
        assert_eq!(
            paths,
            [
                ("/system.slice/nginx.service", "/sys/fs/cgroup/system.slice/nginx.service/cpu.stat"),
                ("/system.slice", "/sys/fs/cgroup/system.slice/cpu.stat"),
                ("/", "/sys/fs/cgroup/cpu.stat"),
            ]
        );
        let old = files("11:memory:/x\n4:cpu,cpuacct:/docker/1\n");
        assert_eq!(old[0].1, "/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.stat");
        assert_eq!(files("0::/\n").len(), 1);
        assert!(files("0::/../../x\n1:name=systemd:/\nodd\n").is_empty());
    }

    #[test]
    fn both_versions_count_microseconds_and_a_group_without_limit_is_only_in_the_sum() {
        let new = figures("usage_usec 9\nnr_periods 100\nnr_throttled 30\nthrottled_usec 5000\nnr_bursts 0\n").unwrap();
        let old = figures("nr_periods 10\nnr_throttled 1\nthrottled_time 2000999\n").unwrap();
        assert_eq!((new, old), ([100, 30, 5000], [10, 1, 2000]));
        assert_eq!(figures("usage_usec 9\n"), None);
        let found = [("/a", new), ("/b", [0, 0, 0])].into();
        let rows = rows(&found);
        let rows: Vec<(&str, u64)> = rows.iter().map(|(name, figure)| (name.as_str(), *figure)).collect();
        assert_eq!(
            rows,
            [
                ("nr_periods", 100),
                ("nr_throttled", 30),
                ("throttled_usec", 5000),
                ("/a nr_periods", 100),
                ("/a nr_throttled", 30),
                ("/a throttled_usec", 5000),
            ]
        );
    }
}
