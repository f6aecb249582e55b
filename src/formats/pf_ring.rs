//! `/proc/net/pf_ring/dev/NAME/info` of ntop's PF_RING: what the module knows of an interface.

use super::cursor::{At, Cursor, pair};

/// What is needed of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Interface.
    pub name: String,
    /// Line of the name.
    pub line: u32,
    /// Index.
    pub index: Option<At<u32>>,
    /// Hardware address.
    pub address: Option<At<String>>,
    /// Words on the card, the last of which is the driver: `Intel ice`; none for `Standard NIC`.
    pub driver: Option<At<String>>,
}

const KEYS: &[&str] = &[
    "Name",
    "Index",
    "Address",
    "Polling Mode",
    "Promisc",
    "Type",
    "Family",
    "TX Queues",
    "RX Queues",
    "Num RX Slots",
    "Num TX Slots",
    "RX Slot Size",
    "TX Slot Size",
    "# Bound Sockets",
    "# TX Queues",
    "# RX Queues",
    "Max # TX Queues",
    "Max # RX Queues",
    "# Used RX Queues",
    "TX Queue Size",
];

/// True where such a file begins.
pub fn begins(cursor: &Cursor<'_>) -> bool {
    let key = |ahead| cursor.peek_at(ahead).and_then(|line| pair(line.text)).map(|(key, _)| key);
    key(0) == Some("Name") && key(1) == Some("Index") && key(2) == Some("Address")
}

/// Reads the rows that come next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Info> {
    let row = |text| pair(text).filter(|(key, _)| KEYS.contains(key));
    let first = cursor.take_if(|text| row(text).filter(|(key, _)| *key == "Name"))?;
    let mut info = Info { name: first.value.1.to_owned(), line: first.line, ..Info::default() };
    while let Some(At { value: (key, value), line }) = cursor.take_if(row) {
        match key {
            "Index" => info.index = value.parse().ok().map(|index| At::new(index, line)),
            "Address" => info.address = Some(At::new(value.to_ascii_lowercase(), line)),
            "Family" => {
                let driver = value.split_ascii_whitespace().last().filter(|word| !word.eq_ignore_ascii_case("NIC"));
                info.driver = driver.map(|driver| At::new(driver.to_owned(), line));
            }
            _ => {}
        }
    }
    Some(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn the_last_word_on_the_card_is_its_driver() {
        let text = "Name:         eth2\nIndex:        11\nAddress:      02:00:00:00:00:0A\nPolling Mode: NAPI/ZC\nFamily:       Intel ice\nRX Queues:    3\nend: 1\n";
        let all = lines(text);
        let mut cursor = Cursor::new(&all);
        assert!(begins(&cursor));
        let info = parse(&mut cursor).unwrap();
        assert_eq!((info.name.as_str(), info.line, cursor.position()), ("eth2", 1, 6));
        assert_eq!(info.driver, Some(At::new("ice".to_owned(), 5)));
        assert_eq!(info.address.unwrap().value, "02:00:00:00:00:0a");
        assert_eq!(parse(&mut cursor), None);
        let standard = lines("Name: eth0\nFamily: Standard NIC\n");
        assert_eq!(parse(&mut Cursor::new(&standard)).unwrap().driver, None);
    }
}
