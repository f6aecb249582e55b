//! All integration tests, in one binary: each file of its own would be linked again.
#![allow(clippy::unwrap_used, reason = "in a helper of a test too, a panic is the message")]

mod advice;
mod architecture;
mod cases;
mod ceiling;
mod cli;
mod collect;
mod contract;
mod determinism;
mod elsewhere;
mod engine;
mod fuzz;
mod healthy;
mod hostile;
mod laws;
mod live_capture;
mod namespaces;
mod recordings;
mod roots;
mod seeds;
mod snapshots;
mod strace;
mod support;
mod vocabulary;
