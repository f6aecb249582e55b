//! Why a reading is unknown, and what would supply it.

use serde::{Deserialize, Serialize};

/// The reasons for not knowing a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// No probe asked for it.
    NotCollected,
    /// The kernel refused it to this user.
    NotPermitted,
    /// This kernel has no such command or file.
    KernelTooOld,
    /// The kernel or driver did not answer in time.
    TimedOut,
    /// It was not asked because an earlier request under the same lock did not come back.
    Skipped,
    /// The kernel answered with an error.
    Failed,
    /// The answer could not be understood.
    Malformed,
    /// The device or the value changed while it was read.
    Changed,
    /// The capture does not hold it.
    NotInCapture,
    /// The driver reports a value that means "unknown".
    DriverUnknown,
    /// It follows from other readings, of which one is unknown.
    Derived,
}

impl GapKind {
    /// The word of the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotCollected => "not_collected",
            Self::NotPermitted => "not_permitted",
            Self::KernelTooOld => "kernel_too_old",
            Self::TimedOut => "timed_out",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Malformed => "malformed",
            Self::Changed => "changed",
            Self::NotInCapture => "not_in_capture",
            Self::DriverUnknown => "driver_unknown",
            Self::Derived => "derived",
        }
    }

    /// The kind for a word of the JSON contract.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::NotCollected,
            Self::NotPermitted,
            Self::KernelTooOld,
            Self::TimedOut,
            Self::Skipped,
            Self::Failed,
            Self::Malformed,
            Self::Changed,
            Self::NotInCapture,
            Self::DriverUnknown,
            Self::Derived,
        ]
        .into_iter()
        .find(|kind| kind.word() == word)
    }
}

/// One reason for not knowing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The kind of reason.
    pub why: GapKind,
    /// What was tried and what came back; empty where the kind says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The command that would supply the value, ready to be typed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
}

impl Gap {
    /// Stands in a command for the name of the interface that is asked about, where one gap is that of many.
    pub const ANY_INTERFACE: &str = "IFACE";

    /// A gap of this kind without detail or command.
    pub fn new(why: GapKind) -> Self {
        Self { why, detail: String::new(), command: String::new() }
    }

    /// Adds what was tried and what came back.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Adds the command that would supply the value.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self
    }
}
