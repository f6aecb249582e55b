//! `ip` of iproute2 and of BusyBox, as text and as JSON.

pub mod address;
pub mod brief;
pub mod json;
pub mod link;
pub mod neighbour;
pub mod route;
pub mod rule;
pub mod statistics;
pub mod words;

/// The parts of a line that `ip -o` joins with backslashes; any other line is one part.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split('\\')
}
