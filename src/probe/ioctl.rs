//! SIOCETHTOOL: what generic netlink does not tell, namely the driver and its own statistics; and the rest for kernels
//! before 5.6, which storage appliances still run.

use std::collections::BTreeMap;

use super::ethtool::{Bitset, FeaturesRow, LinkModesRow, PauseRow, RingsRow};
use super::ethtool_replies::{ChannelsRow, CoalesceRow, EeeRow, FecRow, RssRow};
use super::kernel::Request;
use super::netlink::{text, u16_at, u32_at, u64_at};
use crate::formats::ethtool::statistics::numbered;

const GET_SETTINGS: u32 = 0x01;
const GET_DRIVER: u32 = 0x03;
const GET_COALESCE: u32 = 0x0e;
const GET_RINGS: u32 = 0x10;
const GET_PAUSE: u32 = 0x12;
const GET_STRINGS: u32 = 0x1b;
const GET_STATS: u32 = 0x1d;
const GET_SET_INFO: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const GET_CHANNELS: u32 = 0x3c;
const GET_EEE: u32 = 0x44;
const GET_LINK_SETTINGS: u32 = 0x4c;
const GET_FEC: u32 = 0x50;
const GET_HASHING: u32 = 0x46;
const GET_MODULE: u32 = 0x42;
const GET_MODULE_BYTES: u32 = 0x43;
/// String set of the statistics (ETH_SS_STATS).
const SET_STATS: u32 = 1;
const NAME: usize = 32;
/// More statistics than any driver has; a count beyond it is nonsense.
const MOST: usize = 65_536;

/// The commands that read.
const READS: [(u32, &str); 16] = [
    (GET_SETTINGS, "ETHTOOL_GSET"),
    (GET_COALESCE, "ETHTOOL_GCOALESCE"),
    (GET_RINGS, "ETHTOOL_GRINGPARAM"),
    (GET_PAUSE, "ETHTOOL_GPAUSEPARAM"),
    (GET_FEATURES, "ETHTOOL_GFEATURES"),
    (GET_CHANNELS, "ETHTOOL_GCHANNELS"),
    (GET_EEE, "ETHTOOL_GEEE"),
    (GET_LINK_SETTINGS, "ETHTOOL_GLINKSETTINGS"),
    (GET_FEC, "ETHTOOL_GFECPARAM"),
    (GET_DRIVER, "ETHTOOL_GDRVINFO"),
    (GET_STRINGS, "ETHTOOL_GSTRINGS"),
    (GET_STATS, "ETHTOOL_GSTATS"),
    (GET_SET_INFO, "ETHTOOL_GSSET_INFO"),
    (GET_HASHING, "ETHTOOL_GRSSH"),
    (GET_MODULE, "ETHTOOL_GMODULEINFO"),
    (GET_MODULE_BYTES, "ETHTOOL_GMODULEEEPROM"),
];

/// Name of a command.
pub(super) fn name(command: u32) -> &'static str {
    READS.iter().find(|(number, _)| *number == command).map_or("SIOCETHTOOL", |(_, name)| name)
}

/// True for a buffer that asks a command of the list above.
pub(super) fn only_reads(data: &[u8]) -> bool {
    u32_at(data, 0).is_some_and(|command| READS.iter().any(|(number, _)| *number == command))
}

/// Room for 32 words of 32 bits in each of three masks; kernels have four.
const LINK_WORDS: usize = 32;
/// String set of the features (ETH_SS_FEATURES).
const SET_FEATURES: u32 = 4;

/// Asks for link settings; the first answer of GLINKSETTINGS tells how many words a mask has.
pub(super) fn link_settings_request(interface: &[u8], words: u8) -> Request {
    let mut data = buffer(&[GET_LINK_SETTINGS], 44 + 12 * LINK_WORDS);
    data[15] = words;
    Request::ioctl(interface, data)
}

/// The number of words that the kernel wants, which it gives as a negative one.
pub(super) fn link_settings_words(bytes: &[u8]) -> Option<u8> {
    let words = bytes.get(15)?.cast_signed().checked_neg()?;
    u8::try_from(words).ok().filter(|words| (1..=LINK_WORDS).contains(&usize::from(*words)))
}

/// Link modes and port out of GLINKSETTINGS.
pub(super) fn link_settings(bytes: &[u8], words: u8) -> Option<(LinkModesRow, u8)> {
    let words = usize::from(words);
    let mask = |number: usize| -> Option<Vec<u32>> {
        (0..words).map(|at| u32_at(bytes, 48 + 4 * (number * words + at))).collect()
    };
    let ours = Bitset { mask: mask(0)?, value: mask(1)? };
    let partner = Bitset { mask: Vec::new(), value: mask(2)? };
    Some((row(ours, partner, u32_at(bytes, 4)?, *bytes.get(8)?, *bytes.get(11)?), *bytes.get(9)?))
}

/// Asks for link settings in the way of kernels before 4.6.
pub(super) fn settings_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_SETTINGS], 40))
}

/// Link modes and port out of GSET, which knows the first 32 modes only.
pub(super) fn settings(bytes: &[u8]) -> Option<(LinkModesRow, u8)> {
    let ours = Bitset { mask: vec![u32_at(bytes, 4)?], value: vec![u32_at(bytes, 8)?] };
    let partner = Bitset { mask: Vec::new(), value: vec![u32_at(bytes, 32)?] };
    let speed = u32::from(u16_at(bytes, 12)?) | u32::from(u16_at(bytes, 28)?) << 16;
    // "Unknown" is -1 in 16 or in 32 bits.
    let speed = if speed == 0xffff { u32::MAX } else { speed };
    Some((row(ours, partner, speed, *bytes.get(14)?, *bytes.get(18)?), *bytes.get(15)?))
}

fn row(ours: Bitset, partner: Bitset, speed: u32, duplex: u8, autoneg: u8) -> LinkModesRow {
    let silent = partner.value.iter().all(|word| *word == 0);
    LinkModesRow {
        autoneg: Some(autoneg != 0),
        ours: Some(ours),
        partner: Some(partner).filter(|_| !silent),
        speed: Some(speed).filter(|speed| *speed != u32::MAX && *speed != 0),
        duplex: Some(duplex).filter(|duplex| *duplex < 2),
        lanes: None,
    }
}

/// Asks for ring sizes.
pub(super) fn rings_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_RINGS], 32))
}

/// Ring sizes; a kind of ring whose largest size is 0 is none.
pub(super) fn rings(bytes: &[u8]) -> Option<RingsRow> {
    let (rx_max, tx_max, rx, tx) = (u32_at(bytes, 4)?, u32_at(bytes, 16)?, u32_at(bytes, 20)?, u32_at(bytes, 32)?);
    let some = |value: u32, max: u32| (max > 0).then_some(value);
    Some(RingsRow {
        rx: some(rx, rx_max),
        rx_max: some(rx_max, rx_max),
        tx: some(tx, tx_max),
        tx_max: some(tx_max, tx_max),
    })
}

/// Asks for flow control.
pub(super) fn pause_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_PAUSE], 12))
}

/// Flow control.
pub(super) fn pause(bytes: &[u8]) -> Option<PauseRow> {
    let flag = |at: usize| u32_at(bytes, at).map(|on| on != 0);
    Some(PauseRow { autoneg: Some(flag(4)?), rx: Some(flag(8)?), tx: Some(flag(12)?), stats: Vec::new() })
}

/// Asks for the number of queues.
pub(super) fn channels_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_CHANNELS], 32))
}

/// Queues; a kind of which there can be none is none.
pub(super) fn channels(bytes: &[u8]) -> Option<ChannelsRow> {
    let some = |at: usize, max: usize| Some(u32_at(bytes, at)?).filter(|_| u32_at(bytes, max) != Some(0));
    u32_at(bytes, 32)?;
    Some(ChannelsRow {
        rx: some(20, 4),
        rx_max: some(4, 4),
        tx: some(24, 8),
        tx_max: some(8, 8),
        combined: some(32, 16),
        combined_max: some(16, 16),
    })
}

/// Asks for interrupt moderation.
pub(super) fn coalesce_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_COALESCE], 88))
}

/// Interrupt moderation. What the driver lacks cannot be told from zero.
pub(super) fn coalesce(bytes: &[u8]) -> Option<CoalesceRow> {
    let flag = |at: usize| u32_at(bytes, at).map(|on| on != 0);
    Some(CoalesceRow {
        rx_usecs: Some(u32_at(bytes, 4)?),
        rx_frames: Some(u32_at(bytes, 8)?),
        tx_usecs: Some(u32_at(bytes, 20)?),
        tx_frames: Some(u32_at(bytes, 24)?),
        adaptive_rx: Some(flag(40)?),
        adaptive_tx: Some(flag(44)?),
    })
}

/// Asks for Energy Efficient Ethernet.
pub(super) fn eee_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_EEE], 36))
}

/// Energy Efficient Ethernet.
pub(super) fn eee(bytes: &[u8]) -> Option<EeeRow> {
    let flag = |at: usize| u32_at(bytes, at).map(|on| on != 0);
    Some(EeeRow { supported: flag(4), active: Some(flag(16)?), enabled: Some(flag(20)?) })
}

/// Asks for forward error correction.
pub(super) fn fec_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_FEC], 12))
}

/// Forward error correction; there are no statistics this way.
pub(super) fn fec(bytes: &[u8]) -> Option<FecRow> {
    const MODES: [(u32, &str); 5] = [(2, "auto"), (4, "off"), (8, "rs"), (16, "baser"), (32, "llrs")];
    let (active, configured) = (u32_at(bytes, 4)?, u32_at(bytes, 8)?);
    let words = |bits: u32| MODES.iter().filter(move |(bit, _)| bits & bit != 0).map(|(_, word)| *word);
    Some(FecRow {
        configured: words(configured).collect(),
        active: words(active).find(|word| *word != "auto"),
        stats: Vec::new(),
    })
}

/// Most entries of an indirection table.
const MOST_ENTRIES: u32 = 1 << 16;

/// Asks for receive side scaling; without entries for how many there are.
pub(super) fn hashing_request(interface: &[u8], entries: u32) -> Request {
    Request::ioctl(interface, buffer(&[GET_HASHING, 0, entries], 12 + 4 * entries as usize))
}

/// How many entries the indirection table has.
pub(super) fn hashing_entries(bytes: &[u8]) -> Option<u32> {
    u32_at(bytes, 8).filter(|entries| *entries <= MOST_ENTRIES)
}

/// Receive side scaling, with a table of as many entries as were asked for.
pub(super) fn hashing(bytes: &[u8], entries: u32) -> Option<RssRow> {
    let table: Vec<u32> = (0..entries as usize).map_while(|at| u32_at(bytes, 24 + 4 * at)).collect();
    (table.len() == entries as usize).then_some(())?;
    let function = bytes.get(16).copied().filter(|bits| *bits != 0).map(u32::from);
    Some(RssRow { context: 0, function, table: (!table.is_empty()).then_some(table) })
}

/// Asks what kind of memory the module of a port has.
pub(super) fn module_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_MODULE], 40))
}

/// The length of that memory in bytes.
pub(super) fn module_length(bytes: &[u8]) -> Option<u32> {
    u32_at(bytes, 8)
}

/// Asks for a part of that memory.
pub(super) fn module_bytes_request(interface: &[u8], offset: u32, length: u32) -> Request {
    Request::ioctl(interface, buffer(&[GET_MODULE_BYTES, 0, offset, length], length as usize))
}

/// That part.
pub(super) fn module_bytes(bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(16..)
}

/// Most words of features; kernels have two or three.
const FEATURE_WORDS: usize = 8;

/// Asks for features, and for their names: 32 for each word. No count of names is given, because newer kernels answer
/// nothing to a count that is not theirs.
pub(super) fn features_requests(interface: &[u8]) -> [Request; 2] {
    let names = FEATURE_WORDS * 32;
    [
        Request::ioctl(interface, buffer(&[GET_FEATURES, FEATURE_WORDS as u32], FEATURE_WORDS * 16)),
        Request::ioctl(interface, buffer(&[GET_STRINGS, SET_FEATURES, 0], names * NAME)),
    ]
}

/// Features and their names by bit.
pub(super) fn features(bytes: &[u8], names: &[u8]) -> Option<(FeaturesRow, BTreeMap<usize, String>)> {
    let words = (u32_at(bytes, 4)? as usize).min(FEATURE_WORDS);
    let column = |at: usize| -> Option<Vec<u32>> { (0..words).map(|word| u32_at(bytes, 8 + word * 16 + at)).collect() };
    let set = |value: Vec<u32>| Bitset { value, mask: Vec::new() };
    let row = FeaturesRow {
        hardware: set(column(0)?),
        wanted: Some(set(column(4)?)),
        active: set(column(8)?),
        fixed: set(column(12)?),
    };
    let count = (u32_at(names, 8)? as usize).min(words * 32);
    let named = |at: usize| names.get(12 + at * NAME..12 + (at + 1) * NAME).map(|raw| (at, text(raw)));
    let names = (0..count).filter_map(named).filter(|(_, name)| !name.is_empty()).collect();
    Some((row, names))
}

fn buffer(words: &[u32], room: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.resize(bytes.len() + room, 0);
    bytes
}

/// Asks for the driver.
pub(super) fn driver_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_DRIVER], 192))
}

/// What ETHTOOL_GDRVINFO says; empty text where the driver says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DriverRow {
    pub name: String,
    pub version: String,
    pub firmware: String,
    pub bus_info: String,
}

/// Reads the answer to [`driver_request`].
pub(super) fn driver(bytes: &[u8]) -> Option<DriverRow> {
    let field = |at: usize| Some(text(bytes.get(at..at + 32)?).trim().to_owned());
    Some(DriverRow { name: field(4)?, version: field(36)?, firmware: field(68)?, bus_info: field(100)? })
}

/// Asks how many statistics there are.
pub(super) fn count_request(interface: &[u8]) -> Request {
    Request::ioctl(interface, buffer(&[GET_SET_INFO, 0, 1 << SET_STATS, 0], 4))
}

/// Reads the answer to [`count_request`]; 0 where the driver has no statistics.
pub(super) fn count(bytes: &[u8]) -> Option<usize> {
    let mask = u64_at(bytes, 8)?;
    let count = if mask & (1 << SET_STATS) == 0 { 0 } else { u32_at(bytes, 16)? as usize };
    (count <= MOST).then_some(count)
}

/// Asks for the names and the values of `count` statistics.
pub(super) fn statistics_requests(interface: &[u8], count: usize) -> [Request; 2] {
    let length = count as u32;
    [
        Request::ioctl(interface, buffer(&[GET_STRINGS, SET_STATS, length], count * NAME)),
        Request::ioctl(interface, buffer(&[GET_STATS, length], count * 8)),
    ]
}

/// Reads the answers to [`statistics_requests`]: rows in the driver's order, names trimmed, doubles numbered.
/// `None` if either list has another length than was counted: it changed in between.
pub(super) fn statistics(names: &[u8], values: &[u8], count: usize) -> Option<Vec<(String, u64)>> {
    if u32_at(names, 8)? as usize != count || u32_at(values, 4)? as usize != count {
        return None;
    }
    let mut seen = BTreeMap::new();
    (0..count)
        .map(|at| {
            let raw = text(names.get(12 + at * NAME..12 + (at + 1) * NAME)?);
            let name = raw.trim().to_owned();
            let times: &mut u32 = seen.entry(name.clone()).or_default();
            *times += 1;
            Some((numbered(&name, *times), u64_at(values, 8 + at * 8)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(names: &[&str]) -> (Vec<u8>, Vec<u8>) {
        let mut strings = buffer(&[GET_STRINGS, SET_STATS, names.len() as u32], 0);
        let mut values = buffer(&[GET_STATS, names.len() as u32], 0);
        for (at, name) in names.iter().enumerate() {
            let mut padded = name.as_bytes().to_vec();
            padded.resize(NAME, 0);
            strings.extend(padded);
            values.extend((at as u64 * 10).to_ne_bytes());
        }
        (strings, values)
    }

    #[test]
    fn names_are_trimmed_and_doubles_are_numbered() {
        let (names, values) = lists(&["   rx_bytes", "queue", "queue", "queue"]);
        let rows = statistics(&names, &values, 4).unwrap();
        let expected = [("rx_bytes", 0), ("queue", 10), ("queue#2", 20), ("queue#3", 30)];
        assert_eq!(rows, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn a_list_that_changed_its_length_is_no_list() {
        let (names, values) = lists(&["a", "b"]);
        assert_eq!(statistics(&names, &values, 3), None);
        assert_eq!(statistics(&names[..20], &values, 2), None);
        assert_eq!(statistics(&[], &[], 0), None);
    }

    #[test]
    fn a_driver_without_the_set_has_no_statistics() {
        let with = buffer(&[GET_SET_INFO, 0, 2, 0, 20], 0);
        assert_eq!(count(&with), Some(20));
        assert_eq!(count(&buffer(&[GET_SET_INFO, 0, 0, 0, 0], 0)), Some(0));
        assert_eq!(count(&buffer(&[GET_SET_INFO, 0, 2, 0, u32::MAX], 0)), None);
        assert_eq!(count(&[]), None);
    }

    #[test]
    fn setting_commands_do_not_pass() {
        for set in [0x02u32, 0x0b, 0x11, 0x13, 0x1a, 0x27, 0x36, 0x3b, 0x4d] {
            assert!(!only_reads(&set.to_ne_bytes()));
        }
        assert!(only_reads(&GET_STATS.to_ne_bytes()));
        assert!(!only_reads(&[3]));
    }
}
