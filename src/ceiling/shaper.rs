//! Rates that somebody set: a shaper holds packets back, a policer drops them.

use super::ethernet::Framing;
use super::range::{Ceiling, Confidence};
use crate::knowledge::buses::{Buses, Factors};

/// The kernel counts a frame without its check sequence, preamble and gap.
fn of_rate(rate_bps: f64, framing: &Framing, factors: &Factors, buses: &Buses) -> Ceiling {
    let share = framing.payload_bytes(buses) / framing.dma_bytes(buses);
    framing.cover_timestamps(Ceiling::from_formula(rate_bps * share, factors), buses)
}

/// Payload rate behind a shaper (`tbf`, `htb`, `cake` ...) that is set to `rate_bps` bit/s. It holds for what the interface sends.
pub fn shaper(rate_bps: f64, framing: &Framing, buses: &Buses) -> Ceiling {
    of_rate(rate_bps, framing, &buses.traffic_control.shaper, buses)
}

/// Payload rate behind a policer that is set to `rate_bps` bit/s. What it drops, TCP has to send again, so the range is wide.
pub fn policer(rate_bps: f64, framing: &Framing, buses: &Buses) -> Ceiling {
    of_rate(rate_bps, framing, &buses.traffic_control.policer, buses)
        .noting("a policer drops what comes above its rate: how much TCP gets depends on its burst size")
        .at_most(Confidence::Low)
}
