//! /proc/net/dev: two lines of headings and a line for each interface.
//!
//! The kernel adds fields up for it (net/core/net-procfs.c): `drop` holds missed frames too, `frame` the errors of length,
//! overrun and check sum, `carrier` the aborted, window and heartbeat errors. ifconfig and netstat -i print the same sums.

use super::cursor::{At, Cursor};

/// Names of the columns, receive side first.
pub const COLUMNS: [&str; 16] = [
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped",
    "rx_fifo_errors",
    "rx_frame_errors",
    "rx_compressed",
    "multicast",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
    "tx_fifo_errors",
    "collisions",
    "tx_carrier_errors",
    "tx_compressed",
];

/// The line of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its counters in the order of [`COLUMNS`].
    pub counters: [u64; 16],
}

/// True for one of the lines of headings.
pub fn is_heading(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("Inter-|") || text.starts_with("face |")
}

/// Reads the line of an interface. On old kernels the first number touches the colon.
pub fn row(text: &str) -> Option<Row> {
    let (name, rest) = text.trim().rsplit_once(':')?;
    let mut counters = [0; 16];
    let mut words = rest.split_ascii_whitespace();
    for slot in &mut counters {
        *slot = words.next()?.parse().ok()?;
    }
    let fits = words.next().is_none() && !name.is_empty() && !name.contains(char::is_whitespace);
    fits.then(|| Row { name: name.to_owned(), counters })
}

/// Reads the lines that come next.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<At<Row>> {
    let mut rows = Vec::new();
    loop {
        let heading = cursor.take_if(|text| is_heading(text).then_some(())).is_some();
        match cursor.take_if(row) {
            Some(row) => rows.push(row),
            None if heading => {}
            None => return rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn rows_of_new_and_old_kernels() {
        let text = "Inter-|   Receive                                                |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
            lo: 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0\n  eth0:18446744073709551615 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\nend\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let rows = parse(&mut cursor);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[1].line, rows[1].value.name.as_str()), (4, "eth0"));
        assert_eq!(rows[1].value.counters[0], u64::MAX);
        assert_eq!(rows[1].value.counters[13], 14);
        assert_eq!(COLUMNS[13], "collisions");
        assert_eq!(cursor.peek().unwrap().text, "end");
    }

    #[test]
    fn cut_rows_are_none() {
        for text in ["eth0: 1 2 3", "eth0: x 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0", ": 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0", ""] {
            assert_eq!(row(text), None, "{text}");
        }
        assert_eq!(row("eth0:1 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0"), None);
    }
}
