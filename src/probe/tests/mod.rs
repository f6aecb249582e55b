//! Tests that need more than one part, a recording or this machine.

use super::*;
use crate::snapshot::Snapshot;

mod activity;
mod configured;
mod edited;
mod isolation;
mod live;
mod namespaces;
mod replay;
mod totality;
mod trees;

/// One sample of everything.
fn scan(kernel: &mut dyn Kernel) -> Snapshot {
    collect(kernel, &Options::default(), &mut |_| {})
}

/// True where the test may make devices and namespaces.
fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
