//! Windows of single flows: the round trip from which they bind, and what those of a measured result allowed.

use std::net::IpAddr;

use super::Facts;
use crate::ceiling::Ceiling;
use crate::ceiling::combine::Combined;
use crate::ceiling::tcp::{ReceiveBuffer, receive_window, send_window};
use crate::facts::catalogue::HOST;
use crate::lang::{State, Value};
use crate::reading::numbers;
use crate::snapshot::{Measurement, address_of};

/// Round trips of a local network stay below this, seconds. A window that binds above it only is no news there.
const LOCAL_ROUND_TRIP: f64 = 1e-3;

/// A kernel parameter that is a plain number.
pub(super) fn parameter(facts: &Facts<'_>, name: &str) -> Option<f64> {
    match facts.lookup_state(&facts.key(HOST, 0, &format!("sysctl.{name}"))) {
        State::Known(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// A kernel parameter that is a size, in bytes; the language counts sizes in bits.
fn size(facts: &Facts<'_>, name: &str) -> Option<u64> {
    parameter(facts, name).map(|bits| (bits / 8.0) as u64).filter(|bytes| *bytes > 0)
}

fn kernel(facts: &Facts<'_>) -> Option<(u32, u32)> {
    let parts = &facts.snapshot().host.kernel.known()?.parts;
    let part = |at: usize| parts.get(at).and_then(|part| u32::try_from(*part).ok());
    part(0).zip(part(1))
}

fn receive_buffer(facts: &Facts<'_>, mtu: Option<u64>) -> Option<ReceiveBuffer> {
    Some(ReceiveBuffer {
        bytes: size(facts, "net.ipv4.tcp_rmem.max")?,
        explicit: false,
        kernel: kernel(facts),
        adv_win_scale: parameter(facts, "net.ipv4.tcp_adv_win_scale").map(|scale| scale as i32),
        mtu: mtu.and_then(|mtu| u32::try_from(mtu).ok()),
    })
}

/// From which round trip on one flow does not fill the interface; told where local networks may reach it.
pub(super) fn note(facts: &Facts<'_>, mtu: Option<u64>, whole: Option<&Combined>) -> Option<String> {
    let buffer = receive_buffer(facts, mtu)?;
    let window = receive_window(&buffer, facts.knowledge().buses());
    let seconds = window.binding_rtt_seconds(whole?.ceiling.typical_bps)?;
    (seconds < LOCAL_ROUND_TRIP).then(|| {
        let size = numbers::bytes(buffer.bytes);
        let milliseconds = numbers::significant(seconds * 1e3, 2);
        format!("one flow that is received: its window (tcp_rmem up to {size}) binds above a round trip of {milliseconds} ms")
    })
}

/// What the windows of a measured result allow.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowOf {
    /// For all streams together.
    pub ceiling: Ceiling,
    /// Round trip to the other end, seconds.
    pub rtt_seconds: f64,
    /// Parallel streams.
    pub streams: u32,
}

/// Least round trip to an address, of all connections to it.
fn round_trip(facts: &Facts<'_>, peer: &str) -> Option<f64> {
    let wanted: IpAddr = peer.parse().ok()?;
    let flows = facts.snapshot().host.flows.known()?;
    let to_peer = flows.iter().filter(|flow| address_of(&flow.peer).parse() == Ok(wanted));
    let trips = to_peer.filter_map(|flow| flow.min_rtt.known().or_else(|| flow.rtt.known())).map(|rtt| rtt.0);
    trips.filter(|seconds| *seconds > 0.0).reduce(f64::min)
}

/// The windows of a result: the receive buffer of this host where it received, its send buffer where it sent. Unknown unless the
/// kernel sized them, and a connection to the same host tells the round trip.
pub fn window_of(facts: &Facts<'_>, one: &Measurement, mtu: Option<u64>) -> Option<WindowOf> {
    if one.window_option.known().is_some() {
        return None;
    }
    let buses = facts.knowledge().buses();
    let rtt_seconds = round_trip(facts, one.peer_address.known()?)?;
    let streams = *one.streams.known()?;
    let window = if *one.sends.known()? {
        send_window(size(facts, "net.ipv4.tcp_wmem.max")?, buses)
    } else {
        receive_window(&receive_buffer(facts, mtu)?, buses)
    };
    let each = window.over(rtt_seconds)?;
    let n = f64::from(streams.max(1));
    let ceiling =
        Ceiling { lo_bps: each.lo_bps * n, typical_bps: each.typical_bps * n, hi_bps: each.hi_bps * n, ..each };
    Some(WindowOf { ceiling, rtt_seconds, streams })
}
