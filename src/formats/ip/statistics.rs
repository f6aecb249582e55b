//! The counters of `ip -s link` and `ip -s -s link`: a line of words and a line of numbers below it, named as in
//! `struct rtnl_link_stats64` (iproute2 ip/ipaddress.c).

/// Which counter stands in which column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<Option<&'static str>>);

const RX: &[(&str, &str)] = &[
    ("bytes", "rx_bytes"),
    ("packets", "rx_packets"),
    ("errors", "rx_errors"),
    ("dropped", "rx_dropped"),
    // Until 5.8 this column held the overruns, since then the missed frames.
    ("overrun", "rx_over_errors"),
    ("missed", "rx_missed_errors"),
    ("mcast", "multicast"),
    ("compressed", "rx_compressed"),
    ("length", "rx_length_errors"),
    ("crc", "rx_crc_errors"),
    ("frame", "rx_frame_errors"),
    ("fifo", "rx_fifo_errors"),
    ("nohandler", "rx_nohandler"),
    ("otherhost", "rx_otherhost_dropped"),
];
const TX: &[(&str, &str)] = &[
    ("bytes", "tx_bytes"),
    ("packets", "tx_packets"),
    ("errors", "tx_errors"),
    ("dropped", "tx_dropped"),
    ("carrier", "tx_carrier_errors"),
    ("collsns", "collisions"),
    ("compressed", "tx_compressed"),
    ("aborted", "tx_aborted_errors"),
    ("fifo", "tx_fifo_errors"),
    ("window", "tx_window_errors"),
    ("heartbeat", "tx_heartbeat_errors"),
    ("heartbt", "tx_heartbeat_errors"),
    // Changes of the carrier; they are no field of the structure.
    ("transns", ""),
];

/// Reads a line of words: `RX: bytes  packets  errors ...`, `TX errors: aborted ...`.
pub fn columns(text: &str) -> Option<Columns> {
    let (front, rest) = text.split_once(':')?;
    let names = match front.trim() {
        "RX" | "RX errors" => RX,
        "TX" | "TX errors" => TX,
        _ => return None,
    };
    let find = |word: &str| names.iter().find(|(name, _)| *name == word).map(|(_, counter)| *counter);
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Numbers behind the colon are those of ifconfig.
    if words.is_empty() || words.iter().any(|word| !word.bytes().all(|byte| byte.is_ascii_lowercase())) {
        return None;
    }
    Some(Columns(words.into_iter().map(|word| find(word).filter(|name| !name.is_empty())).collect()))
}

impl Columns {
    /// The counters of a line of numbers. `None` where it is no such line; with `-h` the numbers are rounded, and a line
    /// with fewer numbers than words cannot be told apart: both are taken without a counter.
    pub fn values(&self, text: &str) -> Option<Vec<(&'static str, u64)>> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let is_number = |word: &&str| {
            let digits = word.trim_end_matches(['k', 'K', 'M', 'G', 'T', 'P', 'i']);
            word.starts_with(|char: char| char.is_ascii_digit())
                && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        if words.is_empty() || !words.iter().all(is_number) {
            return None;
        }
        if words.len() != self.0.len() {
            return Some(Vec::new());
        }
        let rows = self.0.iter().zip(words);
        Some(rows.filter_map(|(name, word)| Some(((*name)?, word.parse().ok()?))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_by_their_words() {
        let old = columns("    RX: bytes  packets  errors  dropped overrun mcast   ").unwrap();
        assert_eq!(
            old.values("    61367859241 653095320 0       1481    7       3").unwrap(),
            [
                ("rx_bytes", 61_367_859_241),
                ("rx_packets", 653_095_320),
                ("rx_errors", 0),
                ("rx_dropped", 1481),
                ("rx_over_errors", 7),
                ("multicast", 3)
            ]
        );
        let new = columns("RX:  bytes packets errors dropped  missed   mcast").unwrap();
        assert_eq!(new.values("1 2 3 4 5 6").unwrap()[4], ("rx_missed_errors", 5));
        let errors = columns("    TX errors: aborted   fifo  window heartbt transns").unwrap();
        assert_eq!(errors.values("1 2 3 4 5").unwrap().last(), Some(&("tx_heartbeat_errors", 4)));
    }

    #[test]
    fn numbers_that_cannot_be_placed_are_dropped() {
        let three = columns("RX: bytes packets errors").unwrap();
        assert_eq!(three.values("1 2"), Some(Vec::new()));
        assert_eq!(three.values("61.3G 653M 0").unwrap(), [("rx_errors", 0)]);
        assert_eq!(three.values("TX: bytes packets"), None);
        assert_eq!(three.values(""), None);
        assert_eq!(columns("RX packets:12 errors:0"), None);
        assert_eq!(columns("RX: 12 packets"), None);
    }
}
