//! `iw dev X info`, `iw dev X link` and `iw dev X get power_save`.

use super::cursor::{At, Cursor, pair};

/// What iw says of an interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wireless {
    /// Interface, where the output names it.
    pub name: Option<At<String>>,
    /// Line of the first row.
    pub line: u32,
    /// Index.
    pub index: Option<At<u32>>,
    /// Hardware address.
    pub address: Option<At<String>>,
    /// There is an association; `Some(false)` for `Not connected.`
    pub connected: Option<At<bool>>,
    /// Signal in dBm.
    pub signal: Option<At<f64>>,
    /// Rates in bit/s.
    pub rx_bitrate: Option<At<f64>>,
    /// Rates in bit/s.
    pub tx_bitrate: Option<At<f64>>,
    /// Power saving is on.
    pub power_save: Option<At<bool>>,
    /// Channel in MHz.
    pub frequency: Option<At<u32>>,
    /// Number of the radio.
    pub radio: Option<At<u32>>,
}

/// True for a line that one of the outputs begins with.
pub fn begins(text: &str) -> bool {
    let text = text.trim();
    let words = text.split_ascii_whitespace().count();
    text.starts_with("Interface ") && words == 2
        || text.starts_with("phy#") && words == 1
        || text == "Power save: on"
        || text == "Power save: off"
        || text.starts_with("Connected to ") && text.contains(" (on ")
}

const WORDS: &[&str] = &[
    "ifindex",
    "wdev",
    "addr",
    "ssid",
    "type",
    "wiphy",
    "channel",
    "txpower",
    "multicast TXQ:",
    "qsz-byt",
    "SSID:",
    "freq:",
    "RX:",
    "TX:",
    "signal:",
    "rx bitrate:",
    "tx bitrate:",
    "bss flags:",
    "dtim period:",
    "beacon int:",
];

/// Reads what comes next; none where no such output begins.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Wireless> {
    let first = cursor.peek().filter(|line| begins(line.text) || line.text.trim() == "Not connected.")?;
    let mut found = Wireless { line: first.number, ..Wireless::default() };
    let mut any = false;
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let indented = line.text.starts_with([' ', '\t']);
        if any && !indented && begins(text) && !text.starts_with("Interface") {
            break;
        }
        if !any || begins(text) && found.name.is_none() {
            found.head(text, line.number);
        } else if indented
            && (WORDS.iter().any(|word| text.starts_with(word))
                || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'\t' || byte == b' '))
        {
            found.row(text, line.number);
        } else {
            break;
        }
        any = true;
        cursor.take();
    }
    Some(found)
}

impl Wireless {
    fn head(&mut self, text: &str, line: u32) {
        if let Some(name) = text.strip_prefix("Interface ") {
            self.name = Some(At::new(name.trim().to_owned(), line));
        } else if let Some(state) = text.strip_prefix("Power save: ") {
            self.power_save = Some(At::new(state == "on", line));
        } else if let Some(number) = text.strip_prefix("phy#") {
            self.radio = number.parse().ok().map(|number| At::new(number, line));
        } else if text == "Not connected." {
            self.connected = Some(At::new(false, line));
        } else if let Some((_, rest)) = text.split_once(" (on ") {
            self.connected = Some(At::new(true, line));
            self.name = Some(At::new(rest.trim_end_matches(')').to_owned(), line));
        }
    }

    fn row(&mut self, text: &str, line: u32) {
        let word = |start: &str| text.strip_prefix(start)?.split_ascii_whitespace().next();
        if let Some(index) = word("ifindex ") {
            self.index = index.parse().ok().map(|index| At::new(index, line));
        } else if let Some(number) = word("wiphy ") {
            self.radio = number.parse().ok().map(|number| At::new(number, line));
        } else if let Some(address) = word("addr ") {
            self.address = Some(At::new(address.to_owned(), line));
        } else if let Some(channel) = text.strip_prefix("channel ") {
            let frequency = channel.split_once('(').and_then(|(_, rest)| rest.split_once(" MHz"));
            self.frequency =
                frequency.and_then(|(number, _)| number.parse().ok()).map(|frequency| At::new(frequency, line));
        } else if let Some((key, value)) = pair(text) {
            let number = value.split_ascii_whitespace().next().and_then(|number| number.parse::<f64>().ok());
            let rate = number.filter(|_| value.contains("MBit/s")).map(|rate| At::new(rate * 1e6, line));
            match key {
                "freq" => self.frequency = number.map(|frequency| At::new(frequency as u32, line)),
                "signal" => self.signal = number.map(|signal| At::new(signal, line)),
                "rx bitrate" => self.rx_bitrate = rate,
                "tx bitrate" => self.tx_bitrate = rate,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn info_link_and_power_save() {
        let text = "Interface wlp3s0\n\tifindex 3\n\twdev 0x1\n\taddr 02:00:00:00:00:01\n\tssid net1\n\tchannel 44 (5220 MHz), width: 80 MHz\n\tmulticast TXQ:\n\t\tqsz-byt\tqsz-pkt\n\t\t0\t0\n\n\
                    Connected to 02:00:00:00:00:02 (on wlp3s0)\n\tSSID: net1\n\tsignal: -55 dBm\n\trx bitrate: 866.7 MBit/s VHT-MCS 9\n\nPower save: on\nNot a row\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let info = parse(&mut cursor).unwrap();
        assert_eq!(
            (info.name.unwrap().value.as_str(), info.index.unwrap().value, info.address.unwrap().line),
            ("wlp3s0", 3, 4)
        );
        cursor.skip_blank();
        let link = parse(&mut cursor).unwrap();
        assert_eq!((link.name.unwrap().value.as_str(), link.connected.unwrap().value), ("wlp3s0", true));
        assert_eq!((link.signal.unwrap().value, link.rx_bitrate.unwrap().value), (-55.0, 866.7e6));
        cursor.skip_blank();
        assert_eq!(parse(&mut cursor).unwrap().power_save, Some(At::new(true, 16)));
        assert_eq!(parse(&mut cursor), None);
    }
}
