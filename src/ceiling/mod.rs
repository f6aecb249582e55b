//! How fast could an interface go: pure functions from known inputs to a range with its assumptions.
//!
//! Rates are bit/s in `f64`, sizes are bytes. Every constant stands in `knowledge/buses.yaml` with its source.
//!
//! - [`range`]: a ceiling is {lo, typical, hi}, what was assumed, and a confidence
//! - [`ethernet`]: framing of the link, small frames, half duplex
//! - [`pcie`]: PCI Express paths, DMA engines, chipset uplinks
//! - [`bus`]: PCI and PCI-X, USB, Thunderbolt
//! - [`tcp`]: the window of one flow; loss as an order of magnitude
//! - [`shaper`]: rates that somebody set
//! - [`combine`]: the binding part, shared uplinks, bonds
//! - [`question`]: all of them together, for who asks "how fast would"
//! - [`verdict`]: a measured result against a ceiling

pub mod bus;
pub mod combine;
pub mod ethernet;
pub mod pcie;
pub mod question;
pub mod range;
pub mod shaper;
pub mod tcp;
pub mod verdict;

#[cfg(test)]
mod tests;

pub use ethernet::{Duplex, Framing, Traffic, Tunnel};
pub use range::{Ceiling, Confidence, Direction};
