//! Readings of this machine: what is asked as data, the kernel behind a trait, and the collection that fills a snapshot.

mod activity;
mod bonds;
mod cgroups;
mod collect;
mod configured;
mod ethtool;
mod ethtool_replies;
mod faulty;
mod flows;
mod gauges;
mod host;
mod interfaces;
mod interrupts;
mod ioctl;
mod isolated;
mod kernel;
mod legacy;
mod links;
mod live;
mod log;
mod netlink;
mod networking;
mod offers;
mod pci;
pub mod plan;
mod processes;
mod processors;
mod qdiscs;
mod recorded;
mod routing;
mod scan;
mod session;
mod sockets;
mod standard;
mod statistics;
mod sys;
#[cfg(test)]
mod tests;
mod tuning;

pub use collect::{Options, collect};
pub use faulty::{ALL_FAULTS, Fault, Faulty, LOSSES};
pub use isolated::{DEFAULT_BUDGET_MS, Isolated};
pub use kernel::{Ask, Blob, Kernel, Lock, Protocol, Reply, Request};
pub use live::Live;
pub use recorded::{Exchange, RECORDING_SCHEMA, Recorded, Recorder, Recording};
