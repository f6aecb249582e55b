//! Where a reading comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The origin of a known value, or of the knowledge that there is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// A netlink request, named as in the kernel (`RTM_GETLINK`, `ETHTOOL_MSG_RINGS_GET`).
    Netlink {
        /// The request.
        command: String,
        /// The interface or object that was asked for.
        subject: String,
    },
    /// An ioctl, named as in the kernel (`ETHTOOL_GDRVINFO`).
    Ioctl {
        /// The request.
        command: String,
        /// The interface that was asked for.
        subject: String,
    },
    /// A file of the live host (/proc, /sys, /etc).
    File {
        /// Its path.
        path: String,
    },
    /// A system call without a file (`uname`).
    Call {
        /// Its name.
        name: String,
    },
    /// A place in a capture.
    Capture {
        /// The file inside the capture, `-` for standard input.
        file: String,
        /// The line, from 1; 0 where the whole file is meant.
        line: u32,
        /// The tool that printed it, if it is known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tool: String,
    },
    /// It follows from other readings.
    Inferred {
        /// What it follows from, in words.
        from: String,
    },
    /// Not read: assumed by whoever wrote the fixture, or by a rule test.
    Assumed {
        /// What the assumption rests on; empty for a bare assumption.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// Set by the user to ask "what if".
    WhatIf {
        /// The setting as typed.
        setting: String,
    },
}

impl Source {
    /// A bare assumption or, with a note, an assumption that rests on something.
    pub fn assumed(note: &str) -> Self {
        Self::Assumed { note: note.into() }
    }

    /// True where nobody read the value.
    pub fn is_assumption(&self) -> bool {
        matches!(self, Self::Assumed { .. } | Self::WhatIf { .. })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Netlink { command, subject } | Self::Ioctl { command, subject } => write!(out, "{command} {subject}"),
            Self::File { path } => out.write_str(path),
            Self::Call { name } => write!(out, "{name}()"),
            Self::Capture { file, line: 0, .. } => out.write_str(file),
            Self::Capture { file, line, .. } => write!(out, "{file}:{line}"),
            Self::Inferred { from } => write!(out, "inferred from {from}"),
            Self::Assumed { note } if note.is_empty() => out.write_str("assumed"),
            Self::Assumed { note } => write!(out, "assumed: {note}"),
            Self::WhatIf { setting } => write!(out, "what if {setting}"),
        }
    }
}
