//! netdoctor: a read-only advisor for Linux network performance.
//!
//! Data moves one way: [`probe`] or [`capture`] fill a [`snapshot`], [`facts`] derive from it, [`rules`] reason about it,
//! [`advice`] says what to type, [`report`] shows it. `tests/it/architecture.rs` holds the arrow.

pub mod ceiling;
pub mod knowledge;
pub mod lang;
