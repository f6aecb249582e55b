//! Decoders of the ethtool family for the state of the link, queues, interrupt moderation, EEE, FEC and the standard
//! statistics.

use std::collections::BTreeMap;

use super::ethtool::{Bitset, u8_of, u32_of};
use super::kernel::{Lock, Request};
use super::netlink::{attribute, attributes, generic, push, text, u32_at, u64_at};

/// ETHTOOL_MSG_LINKSTATE_GET_REPLY.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LinkStateRow {
    pub up: Option<bool>,
    pub sqi: Option<u32>,
    pub ext_state: Option<u8>,
}

pub(super) fn link_state(payload: &[u8]) -> Option<LinkStateRow> {
    let body = payload.get(4..)?;
    Some(LinkStateRow { up: u8_of(body, 2).map(|up| up != 0), sqi: u32_of(body, 3), ext_state: u8_of(body, 5) })
}

/// The words of `ethtool` for `enum ethtool_link_ext_state`.
pub(super) fn ext_state(code: u8) -> Option<&'static str> {
    const WORDS: [&str; 11] = [
        "Autoneg",
        "Link training failure",
        "Logical mismatch",
        "Bad signal integrity",
        "No cable",
        "Cable issue",
        "EEPROM issue",
        "Calibration failure",
        "Power budget exceeded",
        "Overheat",
        "Module",
    ];
    WORDS.get(usize::from(code)).copied()
}

/// ETHTOOL_MSG_CHANNELS_GET_REPLY; a kind of queue that the driver lacks is not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ChannelsRow {
    pub rx: Option<u32>,
    pub rx_max: Option<u32>,
    pub tx: Option<u32>,
    pub tx_max: Option<u32>,
    pub combined: Option<u32>,
    pub combined_max: Option<u32>,
}

pub(super) fn channels(payload: &[u8]) -> Option<ChannelsRow> {
    let body = payload.get(4..)?;
    Some(ChannelsRow {
        rx_max: u32_of(body, 2),
        tx_max: u32_of(body, 3),
        combined_max: u32_of(body, 5),
        rx: u32_of(body, 6),
        tx: u32_of(body, 7),
        combined: u32_of(body, 9),
    })
}

/// ETHTOOL_MSG_COALESCE_GET_REPLY; a parameter that the driver lacks is not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CoalesceRow {
    pub rx_usecs: Option<u32>,
    pub rx_frames: Option<u32>,
    pub tx_usecs: Option<u32>,
    pub tx_frames: Option<u32>,
    pub adaptive_rx: Option<bool>,
    pub adaptive_tx: Option<bool>,
}

pub(super) fn coalesce(payload: &[u8]) -> Option<CoalesceRow> {
    let body = payload.get(4..)?;
    Some(CoalesceRow {
        rx_usecs: u32_of(body, 2),
        rx_frames: u32_of(body, 3),
        tx_usecs: u32_of(body, 6),
        tx_frames: u32_of(body, 7),
        adaptive_rx: u8_of(body, 11).map(|on| on != 0),
        adaptive_tx: u8_of(body, 12).map(|on| on != 0),
    })
}

/// ETHTOOL_MSG_EEE_GET_REPLY.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EeeRow {
    /// The port can do it at some speed; `None` where that is not said.
    pub supported: Option<bool>,
    pub enabled: Option<bool>,
    pub active: Option<bool>,
}

pub(super) fn eee(payload: &[u8]) -> Option<EeeRow> {
    let body = payload.get(4..)?;
    let ours = attribute(body, 2).and_then(Bitset::new);
    Some(EeeRow {
        supported: ours.map(|ours| ours.mask.iter().any(|word| *word != 0)),
        active: u8_of(body, 4).map(|on| on != 0),
        enabled: u8_of(body, 5).map(|on| on != 0),
    })
}

/// ETHTOOL_MSG_FEC_GET_REPLY.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FecRow {
    /// Words for the configured modes; none where the driver says none.
    pub configured: Vec<&'static str>,
    /// `None` where the driver says none, as it does without a link.
    pub active: Option<&'static str>,
    /// Totals over all lanes.
    pub stats: Vec<(&'static str, u64)>,
}

/// Words for the modes of FEC by their bits among the link modes.
const FEC_MODES: [(usize, &str); 4] = [(49, "off"), (50, "rs"), (51, "baser"), (74, "llrs")];
/// Statistics by their attribute.
const FEC_STATS: [(u16, &str); 3] = [(2, "corrected"), (3, "uncorrectable"), (4, "corrected_bits")];

pub(super) fn fec(payload: &[u8]) -> Option<FecRow> {
    let body = payload.get(4..)?;
    let modes = attribute(body, 2).and_then(Bitset::new).unwrap_or_default();
    let mut configured: Vec<&'static str> =
        FEC_MODES.iter().filter(|(bit, _)| modes.value(*bit)).map(|(_, word)| *word).collect();
    if u8_of(body, 3).is_some_and(|auto| auto != 0) {
        configured.push("auto");
    }
    let active = u32_of(body, 4).and_then(|bit| FEC_MODES.iter().find(|(known, _)| *known == bit as usize));
    let stats = attribute(body, 5).unwrap_or_default();
    // Each is a list: the total, then one figure for each lane where the driver counts lanes.
    let total = |kind| attribute(stats, kind).and_then(|value| u64_at(value, 0));
    Some(FecRow {
        configured,
        active: active.map(|(_, word)| *word),
        stats: FEC_STATS.iter().filter_map(|(kind, name)| Some((*name, total(*kind)?))).collect(),
    })
}

/// ETHTOOL_MSG_PRIVFLAGS_GET_REPLY: flags by their names.
pub(super) fn private_flags(payload: &[u8]) -> Option<BTreeMap<String, bool>> {
    let bits = attribute(attribute(payload.get(4..)?, 2)?, 3)?;
    let flag = |bit| Some((attribute(bit, 2).map(text)?, attribute(bit, 3).is_some()));
    Some(attributes(bits).filter_map(|(_, bit)| flag(bit)).filter(|(name, _)| !name.is_empty()).collect())
}

/// ETHTOOL_MSG_RSS_GET_REPLY.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RssRow {
    /// 0 is that of the whole port.
    pub context: u32,
    /// A bit for the hash function in use.
    pub function: Option<u32>,
    /// The queue of each entry.
    pub table: Option<Vec<u32>>,
}

pub(super) fn rss(payload: &[u8]) -> Option<RssRow> {
    let body = payload.get(4..)?;
    let table = attribute(body, 4).map(|table| (0..table.len() / 4).filter_map(|at| u32_at(table, at * 4)).collect());
    Some(RssRow {
        context: u32_of(body, 2).unwrap_or(0),
        function: u32_of(body, 3).filter(|bits| *bits != 0),
        table: table.filter(|table: &Vec<u32>| !table.is_empty()),
    })
}

/// The words of `ethtool -x` for a hash function.
pub(super) fn hash_function(bits: u32) -> Option<&'static str> {
    match bits {
        1 => Some("toeplitz"),
        2 => Some("xor"),
        4 => Some("crc32"),
        _ => None,
    }
}

/// ETHTOOL_MSG_STATS_GET.
pub(super) const STATS: u8 = 32;
/// Sets of names of the groups eth-phy, eth-mac, eth-ctrl and rmon.
pub(super) const STATS_SETS: [u32; 4] = [17, 18, 19, 20];

/// Asks for the four groups of standard statistics of one device. Unlike elsewhere, the header is attribute 2.
pub(super) fn stats_request(family: u16, index: u32) -> Request {
    let mut header = Vec::new();
    push(&mut header, 1, &index.to_ne_bytes());
    let mut groups = Vec::new();
    push(&mut groups, 1, &[]);
    push(&mut groups, 2, &4u32.to_ne_bytes());
    push(&mut groups, 4, &15u32.to_ne_bytes());
    let mut body = Vec::new();
    push(&mut body, 2 | 0x8000, &header);
    push(&mut body, 3 | 0x8000, &groups);
    generic(family, 0, STATS, 1, &body, Lock::Rtnl)
}

/// Reads the answer to [`stats_request`]: the names of the kernel's sets; packets by length as
/// `rx_etherStatsPkts65to127Octets`.
pub(super) fn stats(payload: &[u8], sets: &BTreeMap<u32, BTreeMap<usize, String>>) -> Option<Vec<(String, u64)>> {
    let mut rows = Vec::new();
    for (kind, group) in attributes(payload.get(4..)?) {
        if kind != 4 {
            continue;
        }
        let names = attribute(group, 3).and_then(|set| sets.get(&u32_at(set, 0)?));
        for (kind, value) in attributes(group) {
            match kind {
                4 => {
                    for (number, value) in attributes(value) {
                        let name = names.and_then(|names| names.get(&usize::from(number)));
                        if let (Some(name), Some(value)) = (name, u64_at(value, 0)) {
                            rows.push((name.clone(), value));
                        }
                    }
                }
                5 | 6 => {
                    let direction = if kind == 5 { "rx" } else { "tx" };
                    let edge = |kind| attribute(value, kind).and_then(|edge| u32_at(edge, 0));
                    let count = attribute(value, 9).and_then(|count| u64_at(count, 0));
                    if let (Some(low), Some(high), Some(count)) = (edge(7), edge(8), count) {
                        rows.push((format!("{direction}_etherStatsPkts{low}to{high}Octets"), count));
                    }
                }
                _ => {}
            }
        }
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(fields: &[(u16, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, value) in fields {
            push(&mut out, *kind, value);
        }
        out
    }

    fn reply(fields: &[(u16, &[u8])]) -> Vec<u8> {
        [vec![4, 1, 0, 0], nested(fields)].concat()
    }

    fn bits(set: &[usize], mask: &[usize]) -> Vec<u8> {
        let words = |set: &[usize]| -> Vec<u8> {
            let mut words = [0u32; 4];
            for bit in set {
                words[bit / 32] |= 1 << (bit % 32);
            }
            words.iter().flat_map(|word| word.to_ne_bytes()).collect()
        };
        nested(&[(2, &121u32.to_ne_bytes()), (4, &words(set)), (5, &words(mask))])
    }

    #[test]
    fn the_reason_for_no_link_is_told_in_words() {
        let row = link_state(&reply(&[(2, &[0]), (3, &5u32.to_ne_bytes()), (5, &[4]), (6, &[1])])).unwrap();
        assert_eq!(row, LinkStateRow { up: Some(false), sqi: Some(5), ext_state: Some(4) });
        assert_eq!(row.ext_state.and_then(ext_state), Some("No cable"));
        assert_eq!(ext_state(10), Some("Module"));
        assert_eq!(ext_state(11), None);
    }

    #[test]
    fn queues_and_moderation_that_the_driver_lacks_are_none() {
        let two = 2u32.to_ne_bytes();
        let row = channels(&reply(&[(5, &8u32.to_ne_bytes()), (9, &two)])).unwrap();
        assert_eq!((row.combined_max, row.combined, row.rx, row.tx_max), (Some(8), Some(2), None, None));
        let row = coalesce(&reply(&[(2, &two), (7, &32u32.to_ne_bytes()), (11, &[1])])).unwrap();
        assert_eq!((row.rx_usecs, row.rx_frames, row.tx_frames), (Some(2), None, Some(32)));
        assert_eq!((row.adaptive_rx, row.adaptive_tx), (Some(true), None));
    }

    #[test]
    fn eee_without_a_mode_is_not_supported() {
        let row = eee(&reply(&[(2, &bits(&[5], &[3, 5])), (4, &[0]), (5, &[1])])).unwrap();
        assert_eq!(row, EeeRow { supported: Some(true), enabled: Some(true), active: Some(false) });
        assert_eq!(eee(&reply(&[(2, &bits(&[], &[]))])).unwrap().supported, Some(false));
        assert_eq!(eee(&reply(&[])).unwrap(), EeeRow::default());
    }

    #[test]
    fn modes_of_fec_are_words_and_its_statistics_totals() {
        let mut lanes = 7u64.to_ne_bytes().to_vec();
        lanes.extend(3u64.to_ne_bytes());
        lanes.extend(4u64.to_ne_bytes());
        let stats = nested(&[(2, &lanes), (3, &0u64.to_ne_bytes()), (4, &[])]);
        let fields: [(u16, &[u8]); 4] = [(2, &bits(&[50, 51], &[])), (3, &[1]), (4, &50u32.to_ne_bytes()), (5, &stats)];
        let row = fec(&reply(&fields)).unwrap();
        assert_eq!(row.configured, ["rs", "baser", "auto"]);
        assert_eq!(row.active, Some("rs"));
        assert_eq!(row.stats, [("corrected", 7), ("uncorrectable", 0)]);
        assert_eq!(fec(&reply(&[(3, &[0])])).unwrap(), FecRow::default());
    }

    #[test]
    fn private_flags_come_with_their_names() {
        let on = nested(&[(1, &0u32.to_ne_bytes()), (2, b"legacy-rx\0"), (3, &[])]);
        let off = nested(&[(1, &1u32.to_ne_bytes()), (2, b"link-down-on-close\0")]);
        let bits = nested(&[(1, &on), (1, &off)]);
        let flags = private_flags(&reply(&[(2, &nested(&[(2, &2u32.to_ne_bytes()), (3, &bits)]))])).unwrap();
        assert_eq!(flags, BTreeMap::from([("legacy-rx".into(), true), ("link-down-on-close".into(), false)]));
        assert_eq!(private_flags(&reply(&[])), None);
    }

    #[test]
    fn the_indirection_table_leads_from_entries_to_queues() {
        let table: Vec<u8> = [0u32, 1, 0, 1].iter().flat_map(|queue| queue.to_ne_bytes()).collect();
        let row = rss(&reply(&[(3, &1u32.to_ne_bytes()), (4, &table)])).unwrap();
        assert_eq!(row, RssRow { context: 0, function: Some(1), table: Some(vec![0, 1, 0, 1]) });
        assert_eq!((hash_function(1), hash_function(4), hash_function(3)), (Some("toeplitz"), Some("crc32"), None));
        assert_eq!(rss(&reply(&[(2, &3u32.to_ne_bytes()), (4, &[])])).unwrap().context, 3);
        assert_eq!(rss(&[]), None);
    }

    #[test]
    fn standard_statistics_bear_the_names_of_the_kernel() {
        let sets = BTreeMap::from([(18, BTreeMap::from([(4, "FrameCheckSequenceErrors".to_owned())]))]);
        let counters = nested(&[(4, &9u64.to_ne_bytes()), (99, &1u64.to_ne_bytes())]);
        let bucket = nested(&[(7, &65u32.to_ne_bytes()), (8, &127u32.to_ne_bytes()), (9, &5u64.to_ne_bytes())]);
        let mac = nested(&[(2, &1u32.to_ne_bytes()), (3, &18u32.to_ne_bytes()), (4, &counters)]);
        let rmon = nested(&[(2, &3u32.to_ne_bytes()), (3, &20u32.to_ne_bytes()), (6, &bucket)]);
        let rows = stats(&reply(&[(4, &mac), (4, &rmon)]), &sets).unwrap();
        assert_eq!(
            rows,
            [("FrameCheckSequenceErrors".to_owned(), 9), ("tx_etherStatsPkts65to127Octets".to_owned(), 5)]
        );
        assert_eq!(stats(&reply(&[]), &sets), Some(Vec::new()));
        assert_eq!(stats(&[1], &sets), None);
    }
}
