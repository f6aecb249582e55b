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

/// Rows of the file of one socket, `/proc/net/pf_ring/PID-NAME.N`.
const OF_SOCKET: &[&str] = &[
    "Bound Device(s)",
    "Active",
    "Breed",
    "Appl. Name",
    "Socket Mode",
    "Capture Direction",
    "Sampling Rate",
    "Filtering Sampling Rate",
    "IP Defragment",
    "BPF Filtering",
    "Sw Filt Hash Rules",
    "Sw Filt WC Rules",
    "Sw Filt Hash Match",
    "Sw Filt Hash Miss",
    "Hw Filt Rules",
    "Poll Pkt Watermark",
    "Num Poll Calls",
    "Poll Watermark Timeout",
    "Channel Id Mask",
    "VLAN Id",
    "Slot Version",
    "Min Num Slots",
    "Bucket Len",
    "Slot Len",
    "Tot Memory",
    "Tot Packets",
    "Tot Pkt Lost",
    "Tot Insert",
    "Tot Read",
    "Insert Offset",
    "Remove Offset",
    "Num Free Slots",
    "Reflect: Fwd Ok",
    "Reflect: Fwd Errors",
    "TX: Send Ok",
    "TX: Send Errors",
    "Cluster Id",
];

/// Reads the file of a socket: the interface that it is bound to, where it is one.
pub fn socket(cursor: &mut Cursor<'_>) -> Option<At<String>> {
    let row = |text: &str| {
        OF_SOCKET.iter().any(|key| text.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')))
    };
    let first = cursor
        .take_if(|text| pair(text).filter(|(key, _)| *key == "Bound Device(s)").map(|(_, name)| name.to_owned()))?;
    while cursor.take_if(|text| row(text).then_some(())).is_some() {}
    Some(first)
}

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
        let bound = lines("Bound Device(s)    : eth7\nActive             : 1\nTot Packets        : 5926009\nrest\n");
        let mut cursor = Cursor::new(&bound);
        assert_eq!((socket(&mut cursor), cursor.position()), (Some(At::new("eth7".to_owned(), 1)), 3));
        assert_eq!(socket(&mut cursor), None);
        let standard = lines("Name: eth0\nFamily: Standard NIC\n");
        assert_eq!(parse(&mut Cursor::new(&standard)).unwrap().driver, None);
    }
}
