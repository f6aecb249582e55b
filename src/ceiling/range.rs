//! A ceiling is a range with its assumptions, never a bare number.

use serde::{Deserialize, Serialize};

use crate::knowledge::buses::Factors;

/// Which way the data goes, seen from this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Into this host.
    Receive,
    /// Out of this host.
    Transmit,
    /// Both at once; rates are then per direction.
    Bidirectional,
}

/// How much was read and how much was assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Two or more inputs assumed, or a bus whose figures are thin.
    Low,
    /// One input assumed.
    Medium,
    /// Every input was read.
    High,
}

impl Confidence {
    /// One step lower; [`Confidence::Low`] stays.
    #[must_use]
    pub fn lower(self) -> Self {
        match self {
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }
}

/// How fast one part could go, in bit/s of what the traffic carries (TCP payload, UDP payload, whole frames for L2).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ceiling {
    /// A healthy host reaches at least this.
    pub lo_bps: f64,
    /// What a healthy host usually reaches.
    pub typical_bps: f64,
    /// Nothing goes faster.
    pub hi_bps: f64,
    /// Inputs that were not read, in words; each one lowered the confidence.
    pub assumed: Vec<String>,
    /// What else a reader should know; no effect on the confidence.
    pub notes: Vec<String>,
    /// The formula was never validated here: `hi` is a bound, `typical` equals it.
    pub upper_bound_only: bool,
    /// Follows from `assumed` and from how well the mechanism is known.
    pub confidence: Confidence,
}

impl Ceiling {
    /// A range from a formula's figure and the shares of it that real hosts reach.
    pub fn from_formula(pure_bps: f64, factors: &Factors) -> Self {
        Self::from_bounds(pure_bps * factors.lo, pure_bps * factors.typical, pure_bps * factors.hi)
    }

    /// A range given directly, all three in bit/s; the order is repaired if the inputs contradict it.
    pub fn from_bounds(lo_bps: f64, typical_bps: f64, hi_bps: f64) -> Self {
        // `max` first: it turns what is not a number into zero, where `clamp` would panic on it as a bound.
        let hi_bps = hi_bps.max(0.0);
        let typical_bps = typical_bps.max(0.0).min(hi_bps);
        Self {
            lo_bps: lo_bps.max(0.0).min(typical_bps),
            typical_bps,
            hi_bps,
            assumed: Vec::new(),
            notes: Vec::new(),
            upper_bound_only: false,
            confidence: Confidence::High,
        }
    }

    /// Records an input that was not read and lowers the confidence one step.
    #[must_use]
    pub fn assuming(mut self, what: impl Into<String>) -> Self {
        self.assumed.push(what.into());
        self.confidence = self.confidence.lower();
        self
    }

    /// Records something worth knowing that is no assumption.
    #[must_use]
    pub fn noting(mut self, what: impl Into<String>) -> Self {
        self.notes.push(what.into());
        self
    }

    /// Caps the confidence, for mechanisms whose figures are thin.
    #[must_use]
    pub fn at_most(mut self, confidence: Confidence) -> Self {
        self.confidence = self.confidence.min(confidence);
        self
    }

    /// Turns the range into an upper bound: `typical` becomes `hi`, `lo` the given share of it.
    #[must_use]
    pub fn as_upper_bound(mut self, lo_share: f64, why: &str) -> Self {
        self.typical_bps = self.hi_bps;
        self.lo_bps = self.lo_bps.min(self.hi_bps * lo_share);
        self.upper_bound_only = true;
        self.confidence = Confidence::Low;
        self.noting(format!("upper bound only, not validated: {why}"))
    }

    /// Width of the range as a share of `typical`; zero for an empty ceiling.
    pub fn relative_width(&self) -> f64 {
        if self.typical_bps > 0.0 { (self.hi_bps - self.lo_bps) / self.typical_bps } else { 0.0 }
    }

    /// Whether a rate in bit/s lies in the range.
    pub fn contains(&self, bps: f64) -> bool {
        (self.lo_bps..=self.hi_bps).contains(&bps)
    }

    /// Whether two ranges share a rate.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lo_bps <= other.hi_bps && other.lo_bps <= self.hi_bps
    }
}

/// The smallest, the mean and the largest of the figures; `None` when there is none.
pub(super) fn spread(figures: &[f64]) -> Option<(f64, f64, f64)> {
    let lo = figures.iter().copied().reduce(f64::min)?;
    let hi = figures.iter().copied().reduce(f64::max)?;
    Some((lo, figures.iter().sum::<f64>() / figures.len() as f64, hi))
}
