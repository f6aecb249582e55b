//! The packets that a ceiling is asked for.

use super::{Facts, window};
use crate::ceiling::{Direction, Framing, Traffic, Tunnel};

/// MTU that is assumed where none was read: the default of Ethernet.
const USUAL_MTU: u32 = 1500;

/// Packets and direction.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Largest IP packet on the wire, bytes; none: not read.
    pub mtu: Option<u64>,
    /// What they carry.
    pub traffic: Traffic,
    /// Direction; none covers receiving and sending, each alone.
    pub direction: Option<Direction>,
    /// 802.1Q tags, where an interface above has told them.
    pub(super) tags: Option<u32>,
    /// Tunnel that an interface above puts them through.
    pub(super) tunnel: Option<Tunnel>,
    /// Interfaces that were passed on the way down.
    pub(super) depth: u32,
}

impl Asked {
    /// TCP over IPv4 in packets of this size.
    pub fn at(mtu: Option<u64>) -> Self {
        Self { mtu, traffic: Traffic::Tcp4, direction: None, tags: None, tunnel: None, depth: 0 }
    }

    /// Timestamps are in use only where both ends have them on: off at this end is known, on is not.
    pub(in crate::facts) fn framing(self, facts: &Facts<'_>, own_tags: u32) -> Framing {
        let mtu = self.mtu.and_then(|mtu| u32::try_from(mtu).ok()).unwrap_or(USUAL_MTU);
        let off = window::parameter(facts, "net.ipv4.tcp_timestamps") == Some(0.0);
        Framing {
            vlan_tags: self.tags.unwrap_or(own_tags),
            timestamps: off.then_some(false),
            tunnel: self.tunnel,
            ..Framing::new(mtu, self.traffic)
        }
    }

    /// What was taken for an MTU that was not read, in words.
    pub(super) fn mtu_unread(self) -> Option<String> {
        self.mtu.is_none().then(|| format!("MTU {USUAL_MTU}: not read"))
    }
}
