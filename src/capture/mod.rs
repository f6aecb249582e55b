//! Readings of another time or place: snapshots in their serialised form, what people paste from their terminals, and reports
//! of whole hosts such as a sosreport, as a folder or an archive.

mod archive;
mod clean;
mod command;
mod containers;
mod evidence;
mod log;
mod measured;
mod nameless;
mod pci;
mod prompt;
mod radios;
mod site;
mod tools;
#[cfg(test)]
mod totality;
mod transcript;
mod understood;
mod usb;
mod ways;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use measured::attach;
pub use understood::{Left, Understanding};

use archive::{Input, Problems};
use containers::{Found, Shelf, Style};

use crate::formats::cursor;
use crate::snapshot::{DocumentError, SCHEMA, SampleSource, Snapshot};

/// Largest snapshot that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// Most of any other text that is read, in bytes.
const LARGEST_TEXT: u64 = 24 << 20;

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
    let mut bytes = Vec::new();
    let mut limited = |input: &mut dyn Read| input.take(LARGEST_TEXT + 1).read_to_end(&mut bytes);
    let read = if path == Path::new("-") {
        limited(&mut std::io::stdin().lock())
    } else {
        File::open(path).and_then(|mut file| limited(&mut file))
    };
    read.map_err(|error| CaptureError::Unreadable(format!("{name}: can't be read: {error}")))?;
    if bytes.len() as u64 > LARGEST_TEXT {
        return Err(CaptureError::Unreadable(format!("{name}: larger than {} MiB", LARGEST_TEXT >> 20)));
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Err(CaptureError::Unrecognised(format!("{name} is empty; {RECOGNISED}")));
    }
    Ok(text.to_owned())
}

/// One host of an input.
#[derive(Debug)]
pub struct Captured {
    /// What was read of it.
    pub snapshot: Snapshot,
    /// Folder or member that it was read from, below the input; empty where that is the input itself.
    pub place: String,
    /// How much was understood of what tells of it; none for a snapshot of our own. Hosts of one text share one count.
    pub understanding: Option<Understanding>,
}

/// What an input holds.
#[derive(Debug)]
pub struct Capture {
    /// The hosts, in the order in which they speak; at least one.
    pub hosts: Vec<Captured>,
    /// Parts of the input that were left out, each with its name and the reason.
    pub problems: Vec<String>,
    /// True where one of them is broken or missing.
    pub incomplete: bool,
}

impl Capture {
    fn of(hosts: Vec<Captured>) -> Self {
        Self { hosts, problems: Vec::new(), incomplete: false }
    }
}

/// Reads the one host of an input. Where it holds several, that is an error which names them.
pub fn read_one(path: &Path) -> Result<Snapshot, CaptureError> {
    let mut hosts = read(path)?.hosts;
    if hosts.len() > 1 {
        let name = |one: &'_ Captured| one.snapshot.host.name.known().unwrap_or(&one.place).clone();
        let names: Vec<String> = hosts.iter().map(name).collect();
        return Err(CaptureError::Unreadable(format!(
            "{}: holds {} hosts ({}) and this command takes one; cut the input",
            path.display(),
            hosts.len(),
            names.join(", ")
        )));
    }
    hosts
        .pop()
        .map(|host| host.snapshot)
        .ok_or_else(|| CaptureError::Unrecognised(format!("{}: {RECOGNISED}", path.display())))
}

/// Reads an input: a file, a folder, an archive, or `-` for standard input.
pub fn read(path: &Path) -> Result<Capture, CaptureError> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| CaptureError::Unreadable(format!("{name}: can't be read: {error}"));
    if path == Path::new("-") {
        return read_stream(Box::new(std::io::stdin().lock()), &name);
    }
    if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        return read_stream(Box::new(File::open(path).map_err(unreadable)?), &name);
    }
    let mut shelf = Shelf::default();
    let mut problems = Problems::default();
    archive::folder(path, &mut shelf, &mut problems);
    put_together(Input::Walked, shelf, problems, &name)
}

/// Reads an input that is no folder from its first byte to its last. `name` is what it is called in sources and messages.
pub fn read_stream(input: Box<dyn Read + '_>, name: &str) -> Result<Capture, CaptureError> {
    let mut shelf = Shelf::default();
    let mut problems = Problems::default();
    let most = |head: &[u8]| if head.trim_ascii_start().starts_with(b"{") { LARGEST } else { LARGEST_TEXT };
    let input = archive::stream(input, name, most, &mut shelf, &mut problems)
        .map_err(|error| CaptureError::Unreadable(format!("{name}: can't be read: {error}")))?;
    put_together(input, shelf, problems, name)
}

fn put_together(input: Input, shelf: Shelf, mut problems: Problems, name: &str) -> Result<Capture, CaptureError> {
    let mut capture = match input {
        Input::Text(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            let read = self::text(text, name);
            if problems.incomplete { read.map_err(|error| with(&error, problems_of(&mut problems))) } else { read }?
        }
        Input::Walked => {
            let Found { hosts, notes, lost } = containers::read_all(shelf);
            for text in lost {
                problems.lost(text);
            }
            for text in notes {
                problems.note(text);
            }
            if hosts.is_empty() {
                let nothing = CaptureError::Unrecognised(format!("{name}: nothing was recognised; {RECOGNISED}"));
                return Err(with(&nothing, problems_of(&mut problems)));
            }
            Capture::of(hosts)
        }
    };
    capture.incomplete = problems.incomplete;
    capture.problems = problems_of(&mut problems).into_iter().map(|problem| format!("{name}: {problem}")).collect();
    Ok(capture)
}

fn problems_of(problems: &mut Problems) -> Vec<String> {
    std::mem::take(problems).into_texts()
}

/// An error, and what was left out before it.
fn with(error: &CaptureError, problems: Vec<String>) -> CaptureError {
    let mut text = error.to_string();
    if problems.is_empty() {
        return CaptureError::Unrecognised(text);
    }
    for problem in problems {
        text += &format!("\n  {problem}");
    }
    CaptureError::Unreadable(text)
}

/// Reads a text that stands for itself.
fn text(text: &str, name: &str) -> Result<Capture, CaptureError> {
    if text.trim().is_empty() {
        return Err(CaptureError::Unrecognised(format!("{name} is empty; {RECOGNISED}")));
    }
    match Snapshot::from_json(text) {
        Ok(mut snapshot) => {
            // What was live when it was written is a capture now.
            if snapshot.sample.source == SampleSource::Live {
                snapshot.sample.source = SampleSource::Bundle;
            }
            Ok(Capture::of(vec![Captured { snapshot, place: String::new(), understanding: None }]))
        }
        Err(DocumentError::Broken(why)) if text.trim_start().starts_with('{') && text.contains(SCHEMA) => {
            Err(CaptureError::Unreadable(format!("{name}: this snapshot is broken: {why}")))
        }
        Err(DocumentError::Schema(schema)) => {
            Err(CaptureError::Unrecognised(format!("{name}: {}; {RECOGNISED}", DocumentError::Schema(schema))))
        }
        Err(_) => transcript(text, name),
    }
}

fn transcript(text: &str, name: &str) -> Result<Capture, CaptureError> {
    let (hosts, understanding) = match Style::of(text) {
        Some(style) => {
            let mut understanding = Understanding::default();
            let mut hosts = transcript::Hosts::of(style.source());
            let site = hosts.enter(None);
            name.clone_into(&mut site.file);
            containers::read_blocks(style, &cursor::lines(text), site, &mut understanding);
            (hosts, understanding)
        }
        None => transcript::read(text, name),
    };
    let hosts: Vec<Captured> = hosts
        .into_sites()
        .into_iter()
        .map(|(host, mut site)| {
            site.name_host(host);
            let understanding = Some(understanding.clone());
            Captured { snapshot: site.finish(), place: String::new(), understanding }
        })
        .collect();
    if hosts.is_empty() {
        return Err(CaptureError::Unrecognised(format!("{name}: nothing was recognised; {RECOGNISED}")));
    }
    Ok(Capture::of(hosts))
}

/// What `analyze` takes, for messages.
const RECOGNISED: &str = "what would be recognised: a bundle or a snapshot of netdoctor; text as a terminal shows it: the output of ethtool, ip, \
ifconfig, lspci -vv, dmesg, sysctl, netstat, ss, tc, iperf3 and the like, best with the commands above it; a sosreport, \
supportconfig, pvereport or folder of such outputs, also as tar, tar.gz, tar.xz, tar.zst or tar.bz2";
