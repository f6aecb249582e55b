//! Readings of another time or place. So far: snapshots in their serialised form.

mod measured;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use measured::attach;

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
}

impl fmt::Display for CaptureError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => out.write_str(why),
            Self::Unrecognised(why) => {
                write!(
                    out,
                    "{why}; what would be recognised: a snapshot of netdoctor ({SCHEMA}), and for --measured the output of iperf3, as text or JSON"
                )
            }
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
        return Err(CaptureError::Unrecognised(format!(
            "{name} is empty; what would be recognised: a snapshot of netdoctor ({SCHEMA}), and for --measured the output of iperf3"
        )));
    }
    Ok(text)
}

/// Reads an input: a file, or `-` for standard input.
pub fn read(path: &Path) -> Result<Snapshot, CaptureError> {
    let name = path.display().to_string();
    let text = read_text(path)?;
    let read = Snapshot::from_json(&text).map(|mut snapshot| {
        // What was live when it was written is a capture now.
        if snapshot.sample.source == SampleSource::Live {
            snapshot.sample.source = SampleSource::Bundle;
        }
        snapshot
    });
    let known = format!("what would be recognised: a snapshot of netdoctor ({SCHEMA})");
    read.map_err(|error| match error {
        DocumentError::Broken(why) if text.trim_start().starts_with('{') => {
            CaptureError::Unreadable(format!("{name}: this snapshot is broken: {why}"))
        }
        other => CaptureError::Unrecognised(format!("{name}: nothing was recognised ({other}); {known}")),
    })
}
