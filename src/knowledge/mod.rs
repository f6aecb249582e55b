//! Typed schema of `knowledge/`: figures with their sources, no logic.

pub mod buses;
