//! sysctl.conf(5) and sysctl.d(5), and which of several lines holds in the end.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::{glob, sysctl};

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Dotted name, as `sysctl -a` prints it. May be a pattern.
    pub key: String,
    /// Value with single blanks; `None` for a line that only takes a key out of patterns (`-net.ipv4.conf.eth0.rp_filter`).
    pub value: Option<String>,
    /// From 1.
    pub line: u32,
}

impl Line {
    /// True for a key that concerns the network, and holds no secret.
    pub fn is_of_network(&self) -> bool {
        const OTHERS: [&str; 3] = ["kernel.numa_balancing", "vm.min_free_kbytes", "vm.zone_reclaim_mode"];
        const SECRETS: [&str; 2] = ["tcp_fastopen_key", "stable_secret"];
        let wanted = ["net.", "sunrpc.", "fs.nfs."].iter().any(|begin| self.key.starts_with(begin));
        (wanted || OTHERS.contains(&self.key.as_str())) && !SECRETS.iter().any(|end| self.key.ends_with(end))
    }
}

/// The lines of a file. Comments and what is no assignment are passed over.
pub fn lines(text: &str) -> Vec<Line> {
    let row = |(at, line): (usize, &str)| {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        let number = u32::try_from(at + 1).ok()?;
        let (plain, marked) = line.strip_prefix('-').map_or((line, false), |rest| (rest.trim_start(), true));
        let (key, value) = match plain.split_once('=') {
            Some((key, value)) => (key.trim_end(), Some(sysctl::value(value))),
            None if marked => (plain, None),
            None => return None,
        };
        (!key.is_empty() && !key.contains(char::is_whitespace)).then(|| Line { key: dotted(key), value, line: number })
    };
    text.lines().enumerate().filter_map(row).collect()
}

/// The dotted name of a key. Where a slash comes first, dots and slashes change places.
fn dotted(key: &str) -> String {
    let key = key.trim_start_matches('/');
    match key.find(['.', '/']) {
        Some(at) if key.as_bytes()[at] == b'/' => key
            .chars()
            .map(|char| match char {
                '/' => '.',
                '.' => '/',
                other => other,
            })
            .collect(),
        _ => key.to_owned(),
    }
}

/// Which lines hold after a boot. `files` are the lines of each file, `None` for one that could not be read; `order` names
/// them by their places in the order in which they are applied: one may come twice or never. `None` where a file that could
/// not be read comes later.
pub fn wins(files: &[Option<Vec<Line>>], order: &[usize]) -> Vec<Vec<Option<bool>>> {
    let mut verdicts: Vec<Vec<Option<bool>>> =
        files.iter().map(|lines| vec![Some(false); lines.as_ref().map_or(0, Vec::len)]).collect();
    let mut last: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut doubtful: BTreeSet<(usize, usize)> = BTreeSet::new();
    for file in order {
        match files.get(*file) {
            Some(Some(lines)) => {
                for (at, line) in lines.iter().enumerate() {
                    last.insert(&line.key, (*file, at));
                    doubtful.remove(&(*file, at));
                }
            }
            Some(None) => doubtful.extend(last.values()),
            None => {}
        }
    }
    for place @ (file, at) in last.into_values() {
        verdicts[file][at] = (!doubtful.contains(&place)).then_some(true);
    }
    verdicts
}

/// True for a key that stands for several.
pub fn is_pattern(key: &str) -> bool {
    glob::is_pattern(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_dotted_however_they_are_written() {
        let text = "# net.core.x = 1\n;y=2\n net.core.rmem_max=16777216\nnet/ipv4/conf/eth0.100/rp_filter = 2\n\
                    -net.ipv4.tcp_rmem = 4096\t87380   6291456\n-net.ipv4.conf.eth1.rp_filter\nodd\n= 5\na b = 3\n\
                    net.ipv4.conf.*.rp_filter = 0\n";
        let rows = lines(text);
        let seen: Vec<(&str, Option<&str>, u32)> =
            rows.iter().map(|row| (row.key.as_str(), row.value.as_deref(), row.line)).collect();
        assert_eq!(
            seen,
            [
                ("net.core.rmem_max", Some("16777216"), 3),
                ("net.ipv4.conf.eth0/100.rp_filter", Some("2"), 4),
                ("net.ipv4.tcp_rmem", Some("4096 87380 6291456"), 5),
                ("net.ipv4.conf.eth1.rp_filter", None, 6),
                ("net.ipv4.conf.*.rp_filter", Some("0"), 10),
            ]
        );
        assert!(is_pattern(seen[4].0) && !is_pattern(seen[0].0));
    }

    #[test]
    fn secrets_and_other_keys_are_not_of_the_network() {
        let of = |key: &str| lines(&format!("{key}=1"))[0].is_of_network();
        assert!(of("net.core.rmem_max") && of("vm.min_free_kbytes") && of("sunrpc.tcp_slot_table_entries"));
        assert!(!of("net.ipv4.tcp_fastopen_key") && !of("net.ipv6.conf.all.stable_secret") && !of("kernel.pid_max"));
    }

    #[test]
    fn the_last_file_of_the_order_holds() {
        let file = |text: &str| Some(lines(text));
        let files = [file("net.a=1\nnet.a=2\nnet.b=1\n"), file("net.a=3\n"), file("net.c=1\n")];
        let verdicts = wins(&files, &[0, 1]);
        assert_eq!(verdicts[0], [Some(false), Some(false), Some(true)]);
        assert_eq!(verdicts[1], [Some(true)]);
        // A file that nothing reads at boot does nothing.
        assert_eq!(verdicts[2], [Some(false)]);
        // One that is applied again has the last word.
        let verdicts = wins(&files, &[0, 1, 0]);
        assert_eq!(verdicts[0], [Some(false), Some(true), Some(true)]);
        assert_eq!(verdicts[1], [Some(false)]);
    }

    #[test]
    fn a_file_that_could_not_be_read_leaves_a_doubt_on_those_before_it() {
        let file = |text: &str| Some(lines(text));
        let files = [file("net.a=1\nnet.b=1\n"), None, file("net.b=2\n")];
        let verdicts = wins(&files, &[0, 1, 2]);
        assert_eq!(verdicts[0], [None, Some(false)]);
        assert_eq!(verdicts[2], [Some(true)]);
        // What takes a key out of patterns also undoes an earlier line of that key.
        let files = [file("net.a=1\n-net.a\n")];
        assert_eq!(wins(&files, &[0]), [[Some(false), Some(true)]]);
        assert!(wins(&[], &[7]).is_empty());
    }
}
