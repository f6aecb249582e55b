//! Readings of another time or place: snapshots in their serialised form, and what people paste from their terminals.

mod clean;
mod command;
mod log;
mod measured;
mod nameless;
mod pci;
mod prompt;
mod site;
mod tools;
#[cfg(test)]
mod totality;
mod transcript;
mod understood;
mod ways;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use measured::attach;
pub use understood::{Left, Understanding};

use crate::snapshot::{DocumentError, SCHEMA, SampleSource, Snapshot};

/// Largest document that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Why an input could not be used.
#[derive(Debug)]
pub enum CaptureError {
    /// It could not be read.
    Unreadable(String),
    /// Nothing in it was recognised.
    Unrecognised(String),
    /// The user named something that is not in it.
    NotThere(String),
}

impl fmt::Display for CaptureError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) | Self::Unrecognised(why) | Self::NotThere(why) => out.write_str(why),
        }
    }
}

impl std::error::Error for CaptureError {}

/// Reads a file, or standard input for `-`, as text; bytes that are no UTF-8 are replaced.
fn read_text(path: &Path) -> Result<String, CaptureError> {
    let name = path.display().to_string();
    let unreadable = |error: &dyn fmt::Display| CaptureError::Unreadable(format!("{name}: can't be read: {error}"));
    let mut bytes = Vec::new();
    let mut limited = |input: &mut dyn Read| input.take(LARGEST + 1).read_to_end(&mut bytes);
    if path == Path::new("-") {
        limited(&mut std::io::stdin().lock()).map_err(|error| unreadable(&error))?;
    } else {
        let mut file = File::open(path).map_err(|error| unreadable(&error))?;
        limited(&mut file).map_err(|error| unreadable(&error))?;
    }
    if bytes.len() as u64 > LARGEST {
        return Err(unreadable(&format_args!("larger than {} MiB", LARGEST >> 20)));
    }
    let text = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned();
    if text.trim().is_empty() {
        return Err(CaptureError::Unrecognised(format!("{name} is empty; {RECOGNISED}")));
    }
    Ok(text)
}

/// What an input holds.
#[derive(Debug)]
pub struct Capture {
    /// The hosts, in the order in which they speak; at least one.
    pub snapshots: Vec<Snapshot>,
    /// How much of it was understood; none for a snapshot of our own.
    pub understanding: Option<Understanding>,
}

/// Reads the one host of an input. Where it holds several, that is an error which names them.
pub fn read_one(path: &Path) -> Result<Snapshot, CaptureError> {
    let mut snapshots = read(path)?.snapshots;
    if snapshots.len() > 1 {
        let names = snapshots.iter().filter_map(|one| one.host.name.known()).map(String::as_str);
        let names: Vec<&str> = names.collect();
        return Err(CaptureError::Unreadable(format!(
            "{}: holds {} hosts ({}) and this command takes one; cut the input",
            path.display(),
            snapshots.len(),
            names.join(", ")
        )));
    }
    snapshots.pop().ok_or_else(|| CaptureError::Unrecognised(format!("{}: {RECOGNISED}", path.display())))
}

/// Reads an input: a file, or `-` for standard input.
pub fn read(path: &Path) -> Result<Capture, CaptureError> {
    let name = path.display().to_string();
    let text = read_text(path)?;
    match Snapshot::from_json(&text) {
        Ok(mut snapshot) => {
            // What was live when it was written is a capture now.
            if snapshot.sample.source == SampleSource::Live {
                snapshot.sample.source = SampleSource::Bundle;
            }
            Ok(Capture { snapshots: vec![snapshot], understanding: None })
        }
        Err(DocumentError::Broken(why)) if text.trim_start().starts_with('{') && text.contains(SCHEMA) => {
            Err(CaptureError::Unreadable(format!("{name}: this snapshot is broken: {why}")))
        }
        Err(DocumentError::Schema(schema)) => {
            Err(CaptureError::Unrecognised(format!("{name}: {}; {RECOGNISED}", DocumentError::Schema(schema))))
        }
        Err(_) => transcript(&text, &name),
    }
}

fn transcript(text: &str, name: &str) -> Result<Capture, CaptureError> {
    let (hosts, understanding) = transcript::read(text, name);
    let mut snapshots = Vec::new();
    for (host, mut site) in hosts.into_sites() {
        site.name_host(host);
        snapshots.push(site.finish());
    }
    if snapshots.is_empty() {
        return Err(CaptureError::Unrecognised(format!("{name}: nothing was recognised; {RECOGNISED}")));
    }
    Ok(Capture { snapshots, understanding: Some(understanding) })
}

/// What `analyze` takes, for messages.
const RECOGNISED: &str = "what would be recognised: a snapshot of netdoctor, and text as a terminal shows it: the output of ethtool, \
ip, ifconfig, lspci -vv, dmesg, sysctl, netstat, ss, tc, iperf3 and the like, best with the commands above it";
