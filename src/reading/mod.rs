//! A reading is known, absent or unknown for a reason; it never falls back to zero, false or empty.

mod gap;
pub mod numbers;
mod origins;
mod serial;
mod source;
mod units;

pub use gap::{Gap, GapKind};
pub use origins::{GapId, Origins, SourceId};
pub use serial::{Header, with_origins};
pub use source::Source;
pub use units::{BitsPerSecond, Bytes, Celsius, Decibel, Gigatransfers, Seconds, Version};

/// One value of the host as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading<T> {
    /// The value and where it was read.
    Known(T, SourceId),
    /// The driver or hardware has no such thing. That is a fact, not a gap.
    Absent(SourceId),
    /// Not asked, not permitted, timed out ...: the gap says why and what would fill it.
    Unknown(GapId),
}

impl<T> Default for Reading<T> {
    fn default() -> Self {
        Self::Unknown(GapId::NOT_COLLECTED)
    }
}

impl<T> Reading<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value, _) => Some(value),
            Self::Absent(_) | Self::Unknown(_) => None,
        }
    }

    /// Where the value, or its absence, was read.
    pub fn source(&self) -> Option<SourceId> {
        match self {
            Self::Known(_, source) | Self::Absent(source) => Some(*source),
            Self::Unknown(_) => None,
        }
    }

    /// Why the value is not known.
    pub fn gap(&self) -> Option<GapId> {
        match self {
            Self::Unknown(gap) => Some(*gap),
            Self::Known(..) | Self::Absent(_) => None,
        }
    }

    /// True where the hardware or driver has no such thing.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent(_))
    }

    /// True for a reading that nobody asked for; it is left out of the serialised form.
    pub fn is_unasked(&self) -> bool {
        matches!(self, Self::Unknown(GapId::NOT_COLLECTED))
    }

    /// The same state and origin with another value.
    pub fn map<U>(&self, convert: impl FnOnce(&T) -> U) -> Reading<U> {
        match self {
            Self::Known(value, source) => Reading::Known(convert(value), *source),
            Self::Absent(source) => Reading::Absent(*source),
            Self::Unknown(gap) => Reading::Unknown(*gap),
        }
    }

    /// Takes `other` where this reading is not known yet: the first source of the precedence wins, and any answer
    /// is better than a reading that nobody asked for.
    pub fn fill(&mut self, other: Self) {
        let replace = match (&*self, &other) {
            (Self::Known(..), _) | (Self::Absent(_), Self::Absent(_) | Self::Unknown(_)) => false,
            (_, Self::Known(..)) | (Self::Unknown(_), Self::Absent(_)) => true,
            (Self::Unknown(mine), Self::Unknown(_)) => *mine == GapId::NOT_COLLECTED,
        };
        if replace {
            *self = other;
        }
    }
}
