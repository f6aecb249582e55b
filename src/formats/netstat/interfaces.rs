//! `netstat -i`: a table with a line for each interface. Old versions have a column more, `Met`.

use crate::formats::cursor::{At, Cursor};

/// The line of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, cut to the width of the column on old versions.
    pub name: String,
    /// MTU.
    pub mtu: u64,
    /// Counters by their names in [`crate::formats::proc_net_dev`].
    pub counters: Vec<(&'static str, u64)>,
    /// Letters of the flags: `BMRU`.
    pub flags: String,
}

/// Headings, and the counters below them (net-tools lib/interface.c).
const COLUMNS: &[(&str, &str)] = &[
    ("RX-OK", "rx_packets"),
    ("RX-ERR", "rx_errors"),
    ("RX-DRP", "rx_dropped"),
    ("RX-OVR", "rx_fifo_errors"),
    ("TX-OK", "tx_packets"),
    ("TX-ERR", "tx_errors"),
    ("TX-DRP", "tx_dropped"),
    ("TX-OVR", "tx_fifo_errors"),
];

/// True for the title or the line of headings.
pub fn begins(text: &str) -> bool {
    text.trim() == "Kernel Interface table" || headings(text).is_some()
}

fn headings(text: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let ours = words.first() == Some(&"Iface") && words.contains(&"RX-OK") && words.last() == Some(&"Flg");
    ours.then_some(words)
}

/// Reads the table. Lines before its headings, and those of interfaces without counters, say nothing.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<At<Row>> {
    cursor.take_if(|text| (text.trim() == "Kernel Interface table").then_some(()));
    let mut rows = Vec::new();
    // With -c the headings come again and again.
    while let Some(headings) = cursor.take_if(headings) {
        while let Some(row) = cursor.take_if(|text| row(text, &headings.value)) {
            rows.extend(row.value.map(|value| At::new(value, row.line)));
        }
    }
    rows
}

/// A line of the table; `None` inside where it holds no counters.
fn row(text: &str, headings: &[&str]) -> Option<Option<Row>> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if text.contains("no statistics available") {
        return Some(None);
    }
    if words.len() != headings.len() {
        return None;
    }
    let cell = |heading: &str| words[headings.iter().position(|name| *name == heading)?].parse().ok();
    let counters = COLUMNS.iter().filter_map(|(heading, name)| Some((*name, cell(heading)?)));
    let row = Row {
        name: words[0].to_owned(),
        mtu: cell("MTU")?,
        counters: counters.collect(),
        flags: words[words.len() - 1].to_owned(),
    };
    Some(Some(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> Vec<Row> {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        parse(&mut cursor).into_iter().map(|at| at.value).collect()
    }

    #[test]
    fn columns_go_by_their_headings() {
        let new = "Kernel Interface table\n\
            Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n\
            eth0             1500 653090942      1   1481 2      84429784      3      4      5 BMRU\n\
            eth0:1           1500     - no statistics available -                        BMRU\n\
            lo              65536  1280117      0      0 0       1280117      0      0      0 LRU\nend\n";
        let rows = read(new);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].name.as_str(), rows[0].mtu, rows[0].flags.as_str()), ("eth0", 1500, "BMRU"));
        assert_eq!(rows[0].counters[2], ("rx_dropped", 1481));
        assert_eq!(rows[0].counters[7], ("tx_fifo_errors", 5));
        let old = "Iface   MTU Met   RX-OK RX-ERR RX-DRP RX-OVR   TX-OK TX-ERR TX-DRP TX-OVR Flg\n\
            bond0  1500 0   845265      0      7      0  1749518      0      0      0 BMmRU\n";
        assert_eq!(read(old)[0].counters[2], ("rx_dropped", 7));
        assert_eq!(read(old)[0].mtu, 1500);
    }

    #[test]
    fn tables_of_others_are_none() {
        assert!(!begins("Name  Mtu Network       Address              Ipkts Ierrs    Opkts Oerrs  Coll"));
        assert!(read("eth0 1500 1 2 3 4 5 6 7 8 BMRU\n").is_empty());
        assert!(read("Iface MTU RX-OK Flg\neth0 1500\n").is_empty());
    }
}
