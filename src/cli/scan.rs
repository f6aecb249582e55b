//! `netdoctor scan`: this host.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::output::{attach_given, code_of, deliver, load_rules, report_of};
use super::{Output, ReportArguments, Surroundings, ToWrite, exit};
use crate::probe::{self, Kernel};
use crate::report::escape::visible;
use crate::snapshot::Snapshot;

/// Arguments of `scan`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    host: HostArguments,
    /// Judge the way to this other end: its route, next hop, interface and connections. Sends nothing
    #[arg(long, value_name = "ADDRESS", value_parser = peer_address)]
    peer: Option<IpAddr>,
    /// Write the snapshot, in the form that analyze reads, instead of a report
    #[arg(long)]
    snapshot: bool,
    #[command(flatten)]
    report: ReportArguments,
}

/// What the user wants to be read of this host.
#[derive(Debug, clap::Args)]
pub(super) struct HostArguments {
    /// Only these interfaces
    #[arg(short, long, value_name = "IFACE")]
    pub interface: Vec<String>,
    /// Time between the two samples of the counters, such as 3s or 500ms; 0 takes one sample
    #[arg(long, visible_alias = "during", value_name = "TIME", default_value = "3s", value_parser = milliseconds)]
    interval: u64,
    /// Look into this network namespace too, by its name in /run/netns; `all` for every one that this user can enter
    #[arg(long, value_name = "NAME")]
    netns: Vec<String>,
    /// Read files below this folder instead of /, for tests; links, addresses and rings are still those of this host
    #[arg(long, value_name = "DIR", default_value = "/", value_parser = folder)]
    root: PathBuf,
}

impl HostArguments {
    pub(super) fn reading(&self) -> Reading {
        Reading {
            interfaces: self.interface.clone(),
            interval_ms: self.interval,
            root: self.root.clone(),
            namespaces: self.netns.clone(),
            peer: None,
        }
    }

    /// The namespaces that are not there, in sentences.
    pub(super) fn unknown_namespaces(&self) -> Vec<String> {
        let known = |name: &&String| *name == ALL || !name.contains('/') && Path::new("/run/netns").join(name).exists();
        let missing = self.netns.iter().filter(|name| !known(name));
        missing.map(|name| format!("there is no network namespace `{}`", visible(name))).collect()
    }

    /// The interfaces that are not there, in sentences.
    pub(super) fn unknown_interfaces(&self, snapshot: &Snapshot) -> Vec<String> {
        let missing = self.interface.iter().filter(|name| snapshot.interface(name).is_none());
        missing.map(|name| format!("there is no interface `{}`", visible(name))).collect()
    }
}

/// What is read of this host.
pub(super) struct Reading {
    interfaces: Vec<String>,
    interval_ms: u64,
    root: PathBuf,
    namespaces: Vec<String>,
    peer: Option<IpAddr>,
}

impl Reading {
    pub(super) fn one_sample() -> Self {
        Self { interfaces: Vec::new(), interval_ms: 0, root: "/".into(), namespaces: Vec::new(), peer: None }
    }

    /// One sample of these interfaces, of all where none is named.
    pub(super) fn of(interfaces: &[String]) -> Self {
        Self { interfaces: interfaces.to_vec(), ..Self::one_sample() }
    }

    pub(super) fn two_samples() -> Self {
        Self { interval_ms: 3000, ..Self::one_sample() }
    }
}

/// Reads this host.
pub(super) fn snapshot(reading: &Reading, surroundings: &mut Surroundings<'_>) -> Snapshot {
    read(reading, surroundings.progress, &|kernel| kernel).snapshot
}

/// What was read, and the kernels that answered.
pub(super) struct Read<K> {
    pub snapshot: Snapshot,
    /// By the name of the network namespace, which is empty for that of the process.
    pub kernels: Vec<(String, K)>,
}

/// Reads this host by kernels that `wrap` makes.
pub(super) fn read<K: Kernel>(
    reading: &Reading,
    progress: &mut dyn FnMut(&str),
    wrap: &dyn Fn(probe::Isolated) -> K,
) -> Read<K> {
    let mut kernel = wrap(probe::Isolated::new(&reading.root));
    let options = probe::Options {
        interval_ms: reading.interval_ms,
        interfaces: reading.interfaces.iter().cloned().collect(),
        peer: reading.peer,
        ..probe::Options::default()
    };
    let wanted = namespaces(reading, &mut kernel);
    let enter = |namespace: &probe::Namespace| wrap(probe::Isolated::in_namespace(&reading.root, &namespace.path));
    let mut kernels: Vec<K> = wanted.iter().map(enter).collect();
    let names: Vec<String> = wanted.iter().map(|namespace| namespace.name.clone()).collect();
    let others = wanted.into_iter().zip(&mut kernels);
    let others = others.map(|(namespace, kernel)| probe::Elsewhere { namespace, kernel }).collect();
    let mut snapshot = probe::collect_with(&mut kernel, others, &options, progress);
    snapshot.sort();
    let kernels = std::iter::once((String::new(), kernel)).chain(names.into_iter().zip(kernels)).collect();
    Read { snapshot, kernels }
}

/// The namespaces to look into.
fn namespaces(reading: &Reading, kernel: &mut dyn Kernel) -> Vec<probe::Namespace> {
    if reading.namespaces.iter().any(|name| name == ALL) {
        return probe::namespaces(kernel, &mut |path| Box::new(probe::Isolated::in_namespace(&reading.root, path)));
    }
    let names: std::collections::BTreeSet<&String> = reading.namespaces.iter().collect();
    names.into_iter().map(|name| probe::Namespace::named(name)).collect()
}

/// The word for every namespace.
const ALL: &str = "all";

pub(super) fn run(arguments: &Arguments, surroundings: &mut Surroundings<'_>) -> Output {
    let reading = Reading { peer: arguments.peer, ..arguments.host.reading() };
    let unknown = arguments.host.unknown_namespaces();
    if !unknown.is_empty() {
        return Output { err: unknown, code: exit::USAGE, ..Output::default() };
    }
    let (rules, mut problems) = match load_rules(&arguments.report.rules) {
        Ok(loaded) => loaded,
        Err(output) => return output,
    };
    let mut snapshot = snapshot(&reading, surroundings);
    if let Err(error) = attach_given(&mut snapshot, &arguments.report) {
        return Output::failure(error.to_string(), code_of(&error));
    }
    let unknown = arguments.host.unknown_interfaces(&snapshot);
    let missing = !unknown.is_empty();
    problems.extend(unknown);
    if missing && snapshot.interfaces.is_empty() {
        return Output { err: problems, code: exit::USAGE, ..Output::default() };
    }
    if arguments.snapshot {
        let text = snapshot.to_json() + "\n";
        let output = Output { err: problems, ..Output::default() };
        return match arguments.report.only_file() {
            Ok(Some(path)) => Output { files: vec![ToWrite::text(path, text)], ..output },
            Ok(None) => Output { out: text, ..output },
            Err(message) => Output::failure(message, exit::USAGE),
        };
    }
    let report = report_of(&snapshot, &rules);
    let mut output = deliver(&[report], &arguments.report, surroundings.terminal, problems);
    if missing {
        output.code = exit::USAGE;
    } else if snapshot.interfaces.is_empty() {
        // A host without even a loopback device was not read.
        output.code = exit::INPUT;
    }
    output
}

/// An address; a name would have to be looked up by packets.
fn peer_address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "give an IP address: names are not looked up, as that would send packets".into())
}

fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if !path.is_dir() {
        return Err("there is no such folder".into());
    }
    if !path.join("proc").is_dir() && !path.join("sys").is_dir() {
        return Err("the folder holds neither proc nor sys".into());
    }
    Ok(path)
}

/// A duration in milliseconds: `3s`, `500ms`, `2min`, or seconds without a unit.
pub(super) fn milliseconds(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit.trim() {
        "" | "s" => 1000.0,
        "ms" => 1.0,
        "min" | "m" => 60_000.0,
        other => return Err(format!("`{other}` is no unit of time: s, ms or min")),
    };
    let number: f64 = number.parse().map_err(|_| format!("`{text}` is no duration such as 3s"))?;
    let milliseconds = number * scale;
    if milliseconds > 3_600_000.0 {
        return Err("longer than an hour".into());
    }
    Ok(milliseconds.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn durations_are_read_with_their_unit() {
        assert_eq!(milliseconds("3s"), Ok(3000));
        assert_eq!(milliseconds("0"), Ok(0));
        assert_eq!(milliseconds("1.5"), Ok(1500));
        assert_eq!(milliseconds("500ms"), Ok(500));
        for bad in ["", "s", "3h", "-1s", "1e9", "61min"] {
            assert!(milliseconds(bad).is_err(), "{bad}");
        }
    }
}
