//! Tests that need more than one part, a recording or this machine.

use super::*;
use crate::snapshot::Snapshot;

mod activity;
mod configured;
mod edited;
mod hardware;
mod isolation;
mod live;
mod namespaces;
mod record;
mod replay;
mod totality;
mod trees;

/// One sample of everything.
fn scan(kernel: &mut dyn Kernel) -> Snapshot {
    collect(kernel, &Options::default(), &mut |_| {})
}

/// The answer to the request for all families, from a kernel without ethtool over netlink.
fn without_ethtool(families: &Reply) -> Reply {
    let bytes = families.bytes().unwrap();
    let others = netlink::messages(bytes).filter(|message| ethtool::family(message.payload).is_none());
    let left: Vec<u8> = others.flat_map(|message| message.whole.to_vec()).collect();
    assert!(left.len() < bytes.len(), "it had the family");
    Reply::Bytes(left.into())
}

/// True where the test may make devices and namespaces.
fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
