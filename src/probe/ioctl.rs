//! SIOCETHTOOL: what generic netlink does not tell, namely the driver and its own statistics.

use super::kernel::Request;
use super::netlink::{text, u32_at, u64_at};

const GET_DRIVER: u32 = 0x03;
const GET_STRINGS: u32 = 0x1b;
const GET_STATS: u32 = 0x1d;
const GET_SET_INFO: u32 = 0x37;
/// String set of the statistics (ETH_SS_STATS).
const SET_STATS: u32 = 1;
const NAME: usize = 32;
/// More statistics than any driver has; a count beyond it is nonsense.
const MOST: usize = 65_536;

/// The commands that read.
const READS: [(u32, &str); 4] = [
    (GET_DRIVER, "ETHTOOL_GDRVINFO"),
    (GET_STRINGS, "ETHTOOL_GSTRINGS"),
    (GET_STATS, "ETHTOOL_GSTATS"),
    (GET_SET_INFO, "ETHTOOL_GSSET_INFO"),
];

/// Name of a command.
pub(super) fn name(command: u32) -> &'static str {
    READS.iter().find(|(number, _)| *number == command).map_or("SIOCETHTOOL", |(_, name)| name)
}

/// True for a buffer that asks a command of the list above.
pub(super) fn only_reads(data: &[u8]) -> bool {
    u32_at(data, 0).is_some_and(|command| READS.iter().any(|(number, _)| *number == command))
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
    let mut seen = std::collections::BTreeMap::new();
    (0..count)
        .map(|at| {
            let raw = text(names.get(12 + at * NAME..12 + (at + 1) * NAME)?);
            let name = raw.trim().to_owned();
            let times: &mut u32 = seen.entry(name.clone()).or_default();
            *times += 1;
            let name = if *times > 1 { format!("{name}#{times}") } else { name };
            Some((name, u64_at(values, 8 + at * 8)?))
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
        for set in [0x02u32, 0x11, 0x13, 0x1a, 0x27, 0x36] {
            assert!(!only_reads(&set.to_ne_bytes()));
        }
        assert!(only_reads(&GET_STATS.to_ne_bytes()));
        assert!(!only_reads(&[3]));
    }
}
