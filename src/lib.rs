//! netdoctor: a read-only advisor for Linux network performance.
//!
//! Data moves one way: a probe or a capture fills a [`snapshot`], [`facts`] derive from it, [`rules`] reason about them,
//! advice says what to type, a [`report`] shows it. `tests/it/architecture.rs` holds the arrow.

pub mod advice;
pub mod bundle;
pub mod capture;
pub mod ceiling;
pub mod cli;
pub mod facts;
pub mod formats;
pub mod knowledge;
pub mod lang;
pub mod probe;
pub mod reading;
pub mod report;
pub mod rulecheck;
pub mod rules;
pub mod snapshot;
