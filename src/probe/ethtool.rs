//! The ethtool family of generic netlink: requests, and one small decoder per answer.

use std::collections::{BTreeMap, BTreeSet};

use rtnetlink::packet_core::NLM_F_DUMP;

use super::kernel::{Lock, Request};
use super::netlink::{attribute, attributes, generic, messages, push, text, u16_at, u32_at, u64_at};

/// The family that knows the other families (nlctrl).
pub(super) const CONTROL: u16 = 16;
const FLAG_COMPACT: u32 = 1;
const FLAG_STATS: u32 = 4;

/// ETHTOOL_MSG_STRSET_GET.
pub(super) const STRSET: u8 = 1;

/// A GET command whose answer is one message per device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Command {
    LinkInfo = 2,
    LinkModes = 4,
    LinkState = 6,
    Features = 11,
    Rings = 15,
    Channels = 17,
    Coalesce = 19,
    Pause = 21,
    PrivateFlags = 13,
    Eee = 23,
    Fec = 29,
    Rss = 38,
}

impl Command {
    pub const ALL: [Self; 12] = [
        Self::LinkInfo,
        Self::LinkModes,
        Self::LinkState,
        Self::Features,
        Self::Rings,
        Self::Channels,
        Self::Coalesce,
        Self::Pause,
        Self::Eee,
        Self::Fec,
        Self::PrivateFlags,
        // Behind the queues, which it leads to.
        Self::Rss,
    ];

    pub fn name(self) -> &'static str {
        command_name(self as u8).unwrap_or("")
    }

    /// True where the answer may hold statistics.
    pub fn has_stats(self) -> bool {
        matches!(self, Self::Pause | Self::Fec)
    }
}

/// Name of a GET command.
pub(super) fn command_name(command: u8) -> Option<&'static str> {
    Some(match command {
        1 => "ETHTOOL_MSG_STRSET_GET",
        2 => "ETHTOOL_MSG_LINKINFO_GET",
        4 => "ETHTOOL_MSG_LINKMODES_GET",
        6 => "ETHTOOL_MSG_LINKSTATE_GET",
        7 => "ETHTOOL_MSG_DEBUG_GET",
        9 => "ETHTOOL_MSG_WOL_GET",
        11 => "ETHTOOL_MSG_FEATURES_GET",
        13 => "ETHTOOL_MSG_PRIVFLAGS_GET",
        15 => "ETHTOOL_MSG_RINGS_GET",
        17 => "ETHTOOL_MSG_CHANNELS_GET",
        19 => "ETHTOOL_MSG_COALESCE_GET",
        21 => "ETHTOOL_MSG_PAUSE_GET",
        23 => "ETHTOOL_MSG_EEE_GET",
        25 => "ETHTOOL_MSG_TSINFO_GET",
        29 => "ETHTOOL_MSG_FEC_GET",
        31 => "ETHTOOL_MSG_MODULE_EEPROM_GET",
        32 => "ETHTOOL_MSG_STATS_GET",
        34 => "ETHTOOL_MSG_MODULE_GET",
        38 => "ETHTOOL_MSG_RSS_GET",
        _ => return None,
    })
}

/// True for the commands of the family that read.
pub(super) fn is_get(command: u8) -> bool {
    command_name(command).is_some()
}

/// Asks for all families. Asked for one by its name, a kernel that does not have it would try to load a module for it.
pub(super) fn families_request() -> Request {
    generic(CONTROL, NLM_F_DUMP, 3, 1, &[], Lock::None)
}

/// Numbers and names of all families in the bytes of that answer.
pub(super) fn family_names(answer: &[u8]) -> BTreeMap<u16, String> {
    let row = |payload: &[u8]| {
        let rest = payload.get(4..)?;
        Some((attribute(rest, 1).and_then(|value| u16_at(value, 0))?, attribute(rest, 2).map(text)?))
    };
    messages(answer).filter(|message| message.kind == CONTROL).filter_map(|message| row(message.payload)).collect()
}

/// The number of the family with this name in the answer to [`families_request`].
pub(super) fn family_number(parts: &[Vec<u8>], name: &str) -> Option<u16> {
    parts.iter().find_map(|payload| {
        let rest = payload.get(4..)?;
        attribute(rest, 2).filter(|found| text(found) == name)?;
        attribute(rest, 1).and_then(|value| u16_at(value, 0))
    })
}

/// The family of this kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Family {
    pub id: u16,
    /// Commands that this kernel has.
    pub commands: BTreeSet<u32>,
}

/// Reads one family of the answer to [`families_request`]; `None` unless it is that of ethtool.
pub(super) fn family(payload: &[u8]) -> Option<Family> {
    let rest = payload.get(4..)?;
    attribute(rest, 2).filter(|name| text(name) == "ethtool")?;
    let id = attribute(rest, 1).and_then(|value| u16_at(value, 0))?;
    let operations = attribute(rest, 6).unwrap_or_default();
    let commands = attributes(operations).filter_map(|(_, operation)| u32_at(attribute(operation, 1)?, 0)).collect();
    Some(Family { id, commands })
}

/// Asks for one device or, without an index, for all.
pub(super) fn request(family: u16, command: Command, index: Option<u32>, stats: bool) -> Request {
    let mut flags = 0;
    if matches!(command, Command::LinkModes | Command::Features | Command::Eee | Command::Fec) {
        flags |= FLAG_COMPACT;
    }
    if stats && command.has_stats() {
        flags |= FLAG_STATS;
    }
    let mut header = Vec::new();
    if let Some(index) = index {
        push(&mut header, 1, &index.to_ne_bytes());
    }
    if flags != 0 {
        push(&mut header, 3, &flags.to_ne_bytes());
    }
    let mut body = Vec::new();
    push(&mut body, 1 | 0x8000, &header);
    let dump = if index.is_none() { NLM_F_DUMP } else { 0 };
    generic(family, dump, command as u8, 1, &body, Lock::Rtnl)
}

/// Set of feature names.
const SET_FEATURES: u32 = 4;
/// Set of link mode names.
const SET_LINK_MODES: u32 = 9;

/// Asks for the names that belong to no device.
pub(super) fn names_request(family: u16) -> Request {
    sets_request(family, &[SET_FEATURES, SET_LINK_MODES])
}

/// Asks for these sets of names that belong to no device. A kernel that does not know one of them refuses all.
pub(super) fn sets_request(family: u16, ids: &[u32]) -> Request {
    let mut sets = Vec::new();
    for id in ids {
        let mut set = Vec::new();
        push(&mut set, 1, &id.to_ne_bytes());
        push(&mut sets, 1 | 0x8000, &set);
    }
    let mut body = Vec::new();
    push(&mut body, 1 | 0x8000, &[]);
    push(&mut body, 2 | 0x8000, &sets);
    generic(family, 0, STRSET, 1, &body, Lock::None)
}

/// Names of bits, by bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    pub features: BTreeMap<usize, String>,
    pub link_modes: BTreeMap<usize, String>,
}

/// Reads the answer to [`names_request`].
pub(super) fn names(payload: &[u8]) -> Names {
    let mut sets = sets(payload);
    Names {
        features: sets.remove(&SET_FEATURES).unwrap_or_default(),
        link_modes: sets.remove(&SET_LINK_MODES).unwrap_or_default(),
    }
}

/// Reads the answer to [`sets_request`]: names by set and number.
pub(super) fn sets(payload: &[u8]) -> BTreeMap<u32, BTreeMap<usize, String>> {
    let mut found = BTreeMap::new();
    let Some(sets) = payload.get(4..).and_then(|rest| attribute(rest, 2)) else { return found };
    for (_, set) in attributes(sets) {
        let Some(id) = attribute(set, 1).and_then(|value| u32_at(value, 0)) else { continue };
        let into: &mut BTreeMap<usize, String> = found.entry(id).or_default();
        for (_, string) in attributes(attribute(set, 3).unwrap_or_default()) {
            let bit = attribute(string, 1).and_then(|value| u32_at(value, 0));
            let name = attribute(string, 2).map(text).unwrap_or_default();
            if let (Some(bit), false) = (bit, name.is_empty()) {
                into.insert(bit as usize, name);
            }
        }
    }
    found
}

/// A compact bitset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bitset {
    pub value: Vec<u32>,
    /// Empty in a plain list.
    pub mask: Vec<u32>,
}

fn words(bytes: &[u8]) -> Vec<u32> {
    (0..bytes.len() / 4).filter_map(|at| u32_at(bytes, at * 4)).collect()
}

fn has(words: &[u32], bit: usize) -> bool {
    words.get(bit / 32).is_some_and(|word| word >> (bit % 32) & 1 == 1)
}

impl Bitset {
    /// Reads the attributes of a bitset; `None` for a verbose one, which we never ask for.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let value = words(attribute(bytes, 4)?);
        Some(Self { value, mask: attribute(bytes, 5).map(words).unwrap_or_default() })
    }

    pub fn value(&self, bit: usize) -> bool {
        has(&self.value, bit)
    }

    pub fn mask(&self, bit: usize) -> bool {
        has(&self.mask, bit)
    }
}

/// The device that an answer is about.
pub(super) fn device(payload: &[u8]) -> Option<u32> {
    u32_at(attribute(attribute(payload.get(4..)?, 1)?, 1)?, 0)
}

pub(super) fn u8_of(body: &[u8], kind: u16) -> Option<u8> {
    attribute(body, kind)?.first().copied()
}

pub(super) fn u32_of(body: &[u8], kind: u16) -> Option<u32> {
    u32_at(attribute(body, kind)?, 0)
}

/// ETHTOOL_MSG_LINKMODES_GET_REPLY.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LinkModesRow {
    pub autoneg: Option<bool>,
    /// Value: advertised; mask: supported.
    pub ours: Option<Bitset>,
    pub partner: Option<Bitset>,
    /// Mb/s; `None` for the value that means "unknown".
    pub speed: Option<u32>,
    /// `None` for the value that means "unknown".
    pub duplex: Option<u8>,
    pub lanes: Option<u32>,
}

pub(super) fn link_modes(payload: &[u8]) -> Option<LinkModesRow> {
    let body = payload.get(4..)?;
    Some(LinkModesRow {
        autoneg: u8_of(body, 2).map(|on| on != 0),
        ours: attribute(body, 3).and_then(Bitset::new),
        partner: attribute(body, 4).and_then(Bitset::new),
        speed: u32_of(body, 5).filter(|speed| *speed != u32::MAX && *speed != 0),
        duplex: u8_of(body, 6).filter(|duplex| *duplex < 2),
        lanes: u32_of(body, 9).filter(|lanes| *lanes != 0),
    })
}

/// The port of ETHTOOL_MSG_LINKINFO_GET_REPLY.
pub(super) fn port(payload: &[u8]) -> Option<u8> {
    u8_of(payload.get(4..)?, 2)
}

/// ETHTOOL_MSG_RINGS_GET_REPLY: descriptors; a kind of ring that the driver lacks is not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RingsRow {
    pub rx: Option<u32>,
    pub rx_max: Option<u32>,
    pub tx: Option<u32>,
    pub tx_max: Option<u32>,
}

pub(super) fn rings(payload: &[u8]) -> Option<RingsRow> {
    let body = payload.get(4..)?;
    Some(RingsRow { rx_max: u32_of(body, 2), tx_max: u32_of(body, 5), rx: u32_of(body, 6), tx: u32_of(body, 9) })
}

/// ETHTOOL_MSG_PAUSE_GET_REPLY.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PauseRow {
    pub autoneg: Option<bool>,
    pub rx: Option<bool>,
    pub tx: Option<bool>,
    /// Names as `ethtool -I -a` prints them.
    pub stats: Vec<(&'static str, u64)>,
}

pub(super) fn pause(payload: &[u8]) -> Option<PauseRow> {
    let body = payload.get(4..)?;
    let stats = attribute(body, 5).unwrap_or_default();
    let frames = |kind| attribute(stats, kind).and_then(|value| u64_at(value, 0));
    let flag = |kind| u8_of(body, kind).map(|on| on != 0);
    let named = [("tx_pause_frames", frames(2)), ("rx_pause_frames", frames(3))];
    Some(PauseRow {
        autoneg: flag(2),
        rx: flag(3),
        tx: flag(4),
        stats: named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
    })
}

/// ETHTOOL_MSG_FEATURES_GET_REPLY.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FeaturesRow {
    pub hardware: Bitset,
    /// What somebody asked for; `None` where that is not told.
    pub wanted: Option<Bitset>,
    pub active: Bitset,
    pub fixed: Bitset,
}

pub(super) fn features(payload: &[u8]) -> Option<FeaturesRow> {
    let body = payload.get(4..)?;
    let set = |kind| attribute(body, kind).and_then(Bitset::new);
    Some(FeaturesRow { hardware: set(2)?, wanted: set(3), active: set(4)?, fixed: set(5).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitset(size: u32, value: &[u32], mask: Option<&[u32]>) -> Vec<u8> {
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let mut out = Vec::new();
        push(&mut out, 2, &size.to_ne_bytes());
        push(&mut out, 4, &bytes(value));
        if let Some(mask) = mask {
            push(&mut out, 5, &bytes(mask));
        }
        out
    }

    #[test]
    fn bitsets_are_read_across_words_and_end_where_they_end() {
        let set = Bitset::new(&bitset(40, &[1, 0x80], Some(&[3, 0x80]))).unwrap();
        assert!(set.value(0) && !set.value(1) && set.value(39) && !set.value(40) && !set.value(4000));
        assert!(set.mask(1));
        assert_eq!(Bitset::new(&[]), None);
    }

    #[test]
    fn a_speed_that_means_unknown_is_no_speed() {
        let mut payload = vec![4, 1, 0, 0];
        push(&mut payload, 2, &[1]);
        push(&mut payload, 3, &bitset(4, &[1], Some(&[3])));
        push(&mut payload, 5, &u32::MAX.to_ne_bytes());
        push(&mut payload, 6, &[255]);
        let row = link_modes(&payload).unwrap();
        assert_eq!((row.autoneg, row.speed, row.duplex, row.lanes), (Some(true), None, None, None));
        assert!(row.ours.unwrap().mask(1));
        assert_eq!(link_modes(&[4]), None);
    }

    #[test]
    fn pause_statistics_that_the_driver_lacks_are_not_zero() {
        let mut stats = Vec::new();
        push(&mut stats, 3, &7u64.to_ne_bytes());
        let mut payload = vec![21, 1, 0, 0];
        push(&mut payload, 3, &[1]);
        push(&mut payload, 5, &stats);
        let row = pause(&payload).unwrap();
        assert_eq!((row.rx, row.tx), (Some(true), None));
        assert_eq!(row.stats, [("rx_pause_frames", 7)]);
    }

    #[test]
    fn every_command_that_is_sent_reads() {
        for command in Command::ALL {
            assert!(is_get(command as u8));
        }
        assert!(!is_get(3) && !is_get(16));
    }
}
