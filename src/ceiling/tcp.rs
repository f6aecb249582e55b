//! What one TCP flow can reach: its window over the round-trip time. Loss is told as "matters", never as a ceiling.

use serde::Serialize;

use super::range::{Ceiling, Confidence};
use crate::knowledge::buses::Buses;

/// The receive buffer of one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// Third value of `tcp_rmem`; for an explicit SO_RCVBUF the buffer in force (the kernel doubles the wish, after
    /// capping it at `rmem_max`), bytes.
    pub bytes: u64,
    /// The program set SO_RCVBUF, so the buffer does not grow by itself.
    pub explicit: bool,
    /// Kernel version, major and minor.
    pub kernel: Option<(u32, u32)>,
    /// `net.ipv4.tcp_adv_win_scale`; only old kernels use it.
    pub adv_win_scale: Option<i32>,
    /// Largest packet, bytes; jumbo packets fill their buffers better.
    pub mtu: Option<u32>,
}

/// How many bytes one flow may have in flight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Window {
    /// At least, bytes.
    pub lo_bytes: f64,
    /// Usually, bytes.
    pub typical_bytes: f64,
    /// At most, bytes.
    pub hi_bytes: f64,
    /// Inputs that were not read, in words.
    pub assumed: Vec<String>,
}

/// Share of the buffer that old kernels announce, from `tcp_adv_win_scale`.
fn scaled_share(scale: i32) -> f64 {
    if scale > 0 { 1.0 - 0.5f64.powi(scale) } else { 2f64.powi(scale) }
}

/// The window that a receive buffer allows.
pub fn receive_window(buffer: &ReceiveBuffer, buses: &Buses) -> Window {
    let t = &buses.tcp;
    let mut assumed = Vec::new();
    let old_share = scaled_share(buffer.adv_win_scale.unwrap_or(t.receive_share_scaled.value as i32));
    let jumbo = buffer.mtu.is_some_and(|mtu| mtu >= t.jumbo_mtu.value);
    let new_typical = if jumbo { t.receive_share_jumbo.value } else { t.receive_share.typical };
    let (lo, typical, hi) = match buffer.kernel {
        Some(kernel) if kernel < t.receive_share_since.value => {
            if buffer.adv_win_scale.is_none() {
                assumed.push("tcp_adv_win_scale 1, the kernel's default".to_owned());
            }
            (old_share, old_share, old_share)
        }
        Some(kernel) if buffer.explicit && kernel < t.explicit_share_fixed.value => {
            (t.explicit_share_lo.value, t.receive_share.lo, t.receive_share.hi)
        }
        Some(_) => (t.receive_share.lo, new_typical, t.receive_share.hi),
        None => {
            assumed.push("kernel version not known: half of the receive buffer taken as window".to_owned());
            (t.receive_share.lo, t.receive_share.lo, t.receive_share.hi)
        }
    };
    let bytes = buffer.bytes as f64;
    let fill = &t.fill;
    Window {
        lo_bytes: bytes * lo * fill.lo,
        typical_bytes: bytes * typical * fill.typical,
        hi_bytes: bytes * hi * fill.hi,
        assumed,
    }
}

/// What a send buffer (third value of `tcp_wmem`, or the SO_SNDBUF in force, bytes) lets a flow have in flight.
pub fn send_window(buffer_bytes: u64, buses: &Buses) -> Window {
    let (bytes, s) = (buffer_bytes as f64, &buses.tcp.send_share);
    Window { lo_bytes: bytes * s.lo, typical_bytes: bytes * s.typical, hi_bytes: bytes * s.hi, assumed: Vec::new() }
}

impl Window {
    /// A window that was read from the flow itself, bytes.
    pub fn stated(bytes: f64, buses: &Buses) -> Self {
        let fill = &buses.tcp.fill;
        Self {
            lo_bytes: bytes * fill.lo,
            typical_bytes: bytes * fill.typical,
            hi_bytes: bytes * fill.hi,
            assumed: Vec::new(),
        }
    }

    /// The narrower of two windows: the flow needs both.
    #[must_use]
    pub fn narrower(self, other: Self) -> Self {
        let (mut tight, wide) = if self.typical_bytes <= other.typical_bytes { (self, other) } else { (other, self) };
        tight.lo_bytes = tight.lo_bytes.min(wide.lo_bytes);
        tight.hi_bytes = tight.hi_bytes.min(wide.hi_bytes);
        tight.assumed.extend(wide.assumed);
        tight
    }

    /// What one flow reaches over a round trip of `rtt_seconds`; `None` unless that is positive.
    pub fn over(&self, rtt_seconds: f64) -> Option<Ceiling> {
        if !(rtt_seconds.is_finite() && rtt_seconds > 0.0) {
            return None;
        }
        let rate = |bytes: f64| bytes * 8.0 / rtt_seconds;
        let mut ceiling = Ceiling::from_bounds(rate(self.lo_bytes), rate(self.typical_bytes), rate(self.hi_bytes));
        for what in &self.assumed {
            ceiling = ceiling.assuming(what.clone());
        }
        Some(ceiling.noting("per flow: parallel flows multiply it"))
    }

    /// Round trip in seconds above which this window binds below a ceiling of `bps`; `None` unless `bps` is positive.
    pub fn binding_rtt_seconds(&self, bps: f64) -> Option<f64> {
        (bps > 0.0).then(|| self.typical_bytes * 8.0 / bps)
    }
}

/// What a Reno flow would reach at this loss. An order of magnitude, not a ceiling: other congestion controls do better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossEstimate {
    /// Pessimistic, bit/s.
    pub lo_bps: f64,
    /// By the formula, bit/s.
    pub formula_bps: f64,
    /// What modern congestion control was seen to reach, bit/s.
    pub hi_bps: f64,
    /// Never better than low.
    pub confidence: Confidence,
}

impl LossEstimate {
    /// Whether loss has to be looked at before the ceiling `bps` can be reached.
    pub fn matters(&self, bps: f64) -> bool {
        self.formula_bps < bps
    }
}

/// Estimate for segments of `mss_bytes`, a round trip of `rtt_seconds` and a share `lost` of segments sent again;
/// `None` where nothing was lost or an input is not positive.
pub fn loss_estimate(mss_bytes: u32, rtt_seconds: f64, lost: f64, buses: &Buses) -> Option<LossEstimate> {
    let usable = rtt_seconds.is_finite() && rtt_seconds > 0.0 && lost > 0.0 && lost <= 1.0;
    usable.then(|| {
        let rate = f64::from(mss_bytes) * 8.0 / rtt_seconds * buses.tcp.loss_constant.value / lost.sqrt();
        let spread = &buses.tcp.loss_spread;
        LossEstimate {
            lo_bps: rate * spread.lo,
            formula_bps: rate,
            hi_bps: rate * spread.hi,
            confidence: Confidence::Low,
        }
    })
}
