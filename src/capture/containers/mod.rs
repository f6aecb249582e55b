//! Reports of whole hosts: a sosreport, a supportconfig, a pvereport, or a folder of outputs, as a directory or an archive.
//!
//! The members that somebody can read are put on a [shelf](shelf::Shelf) while the input streams by; then each host's are
//! handed to the readers of the tools in one fixed order, so that the order in an archive changes nothing.

mod blocks;
mod bundle;
mod host;
mod place;
mod shelf;
mod sos;
#[cfg(test)]
mod tests;
mod typed;

pub(super) use blocks::{Style, read as read_blocks};
pub(super) use host::{Found, read_all};
pub(super) use shelf::Shelf;
