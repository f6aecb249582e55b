//! Where a measured result stands against a ceiling.

use serde::{Deserialize, Serialize};

use super::range::{Ceiling, Direction};
use crate::knowledge::buses::Buses;

/// What a measured rate says about a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The part binds; changing anything else cannot help.
    AtCeiling,
    /// The part probably binds, with a few per cent lost elsewhere.
    Close,
    /// Something else limits.
    NotTheLimit,
    /// Faster than possible: the model or an input is wrong.
    ModelOrInputWrong,
}

/// How a rate was measured; unknown stays `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// Direction seen from the host whose ceiling it is.
    pub direction: Option<Direction>,
    /// Parallel streams.
    pub streams: Option<u32>,
    /// Length of the test, seconds.
    pub seconds: Option<f64>,
}

/// A verdict with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Measured over typical; 1 is typical.
    pub share_of_typical: f64,
    /// Why the comparison is weaker than it looks, in words; empty for a fair test.
    pub caveats: Vec<String>,
}

/// Judges a rate in bit/s against the ceiling of the same direction; `None` if the ceiling or the rate is not positive.
pub fn judge(measured_bps: f64, ceiling: &Ceiling, buses: &Buses) -> Option<Judgement> {
    let usable = measured_bps.is_finite() && measured_bps > 0.0 && ceiling.typical_bps > 0.0;
    usable.then(|| {
        let thresholds = &buses.verdict;
        let verdict = if measured_bps > thresholds.wrong.value * ceiling.hi_bps {
            Verdict::ModelOrInputWrong
        } else if measured_bps >= ceiling.lo_bps {
            Verdict::AtCeiling
        } else if measured_bps >= thresholds.close.value * ceiling.typical_bps {
            Verdict::Close
        } else {
            Verdict::NotTheLimit
        };
        let mut caveats = Vec::new();
        if ceiling.upper_bound_only {
            caveats.push("the ceiling is an upper bound that no measurement supports".to_owned());
        }
        Judgement { verdict, share_of_typical: measured_bps / ceiling.typical_bps, caveats }
    })
}

/// Why a test does not compare well with the ceiling of a whole interface, in words; empty for a fair test.
///
/// `ceiling_direction` of `None` means the ceiling covers both directions, each alone.
pub fn caveats(conditions: &Conditions, ceiling_direction: Option<Direction>, buses: &Buses) -> Vec<String> {
    let mut found = Vec::new();
    let (streams, seconds) = (buses.verdict.streams.value, buses.verdict.seconds.value);
    match conditions.streams {
        Some(1) => found.push("one stream: a single core or window may bind before the interface".to_owned()),
        Some(n) if n < streams => found.push(format!("{n} streams: {streams} or more would be safer")),
        Some(_) => {}
        None => found.push("number of streams not known".to_owned()),
    }
    match conditions.seconds {
        Some(s) if s < f64::from(seconds) => found.push(format!("{s} s is short: {seconds} s or more would be safer")),
        Some(_) => {}
        None => found.push("length of the test not known".to_owned()),
    }
    match (conditions.direction, ceiling_direction) {
        (None, Some(_)) => found.push("direction of the test not known".to_owned()),
        (Some(Direction::Bidirectional), None) => {
            found.push("both directions at once: compare with the ceiling for both directions".to_owned());
        }
        (Some(a), Some(b)) if a != b => found.push("the test ran in another direction than the ceiling".to_owned()),
        _ => {}
    }
    found
}
