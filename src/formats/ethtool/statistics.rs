//! `ethtool -S` and its kin.

use std::collections::BTreeMap;

use crate::formats::cursor::{At, Cursor};

/// Rows `name: number` under a headline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The interface, where the headline names it (`Standard stats for eth0:`).
    pub interface: Option<At<String>>,
    /// Line of the headline, or of the first row.
    pub line: u32,
    /// Names and values in the order of the driver.
    pub rows: Vec<(String, u64)>,
}

/// True for the headline of the driver's statistics.
pub fn begins(text: &str) -> bool {
    text.trim() == "NIC statistics:"
}

/// A row, cut at the last colon: names hold colons too (`rxq0: rx_pkts: 5`). A row without a number is `None` inside.
fn row(text: &str) -> Option<Option<(&str, u64)>> {
    let (name, value) = text.trim().rsplit_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let fits = !name.is_empty() && name.len() <= 64 && !name.contains("  ") && name.split(' ').count() <= 4;
    if !fits || name.contains(|char: char| "<>(){}\"';".contains(char)) && !name.contains("txq") {
        return None;
    }
    if value.is_empty() {
        return Some(None);
    }
    let digits = value.strip_prefix('-').unwrap_or(value);
    let number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    number.then(|| value.parse().ok().map(|value| (name, value)))
}

/// True for a row of such an output.
pub fn is_row(text: &str) -> bool {
    matches!(row(text), Some(Some(_)))
}

/// The name of a counter that a driver repeats, for each queue say: the second is `NAME#2`.
pub fn numbered(name: &str, times: u32) -> String {
    if times > 1 { format!("{name}#{times}") } else { name.to_owned() }
}

/// Reads the statistics; without a headline the first line must be a row.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Statistics> {
    let mut statistics = Statistics::default();
    if let Some(line) = cursor.peek().filter(|line| begins(line.text)) {
        statistics.line = line.number;
        cursor.take();
    } else if !cursor.peek().is_some_and(|line| is_row(line.text)) {
        return None;
    }
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    while let Some(found) = cursor.take_if(|text| row(text).filter(|row| row.is_some() || text.starts_with(' '))) {
        if statistics.line == 0 {
            statistics.line = found.line;
        }
        statistics.rows.extend(found.value.map(|(name, value)| {
            let times = seen.entry(name.to_owned()).or_default();
            *times += 1;
            (numbered(name, *times), value)
        }));
    }
    Some(statistics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn names_hold_colons_and_spaces() {
        let text = "NIC statistics:\n     rx_packets: 18446744073709551615\n     rxq0: rx_pkts: 5\n     [0]: tx_bytes: 7\n\
                    \u{20}    Rx Jabber: 0\n     heading:\n     port.rx_bytes: 9\n     broken: -1\n\
                    \u{20}    Rx Jabber: 3\n$ next";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let statistics = parse(&mut cursor).unwrap();
        let rows: Vec<(&str, u64)> = statistics.rows.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(
            rows,
            [
                ("rx_packets", u64::MAX),
                ("rxq0: rx_pkts", 5),
                ("[0]: tx_bytes", 7),
                ("Rx Jabber", 0),
                ("port.rx_bytes", 9),
                ("Rx Jabber#2", 3)
            ]
        );
        assert_eq!((statistics.line, cursor.peek().unwrap().text), (1, "$ next"));
    }

    #[test]
    fn prose_and_addresses_are_no_rows() {
        for text in
            ["inet addr: 10", "[   12.5] igb 0000:01:00.0: eth0: 5", "a sentence of many words, a number: 5", "x: 5 y"]
        {
            let row = is_row(text);
            assert_eq!(row, text.starts_with("inet"), "{text}");
        }
    }
}
