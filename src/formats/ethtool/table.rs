//! Outputs of the form `Key: value` below a headline that names the interface: rings (-g), channels (-l), pause (-a),
//! coalescing (-c), EEE and FEC.

use super::headline;
use crate::formats::cursor::{At, Cursor, pair};

/// A table of one interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The interface; none where the headline is missing.
    pub interface: Option<At<String>>,
    /// Line of the headline, or of the first row.
    pub line: u32,
    /// The rows in their order.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of section headings above it: rings and channels have two sections, what is possible and what is set.
    pub section: usize,
    /// As it is printed, without white space around it.
    pub key: String,
    /// As it is printed, without white space around it; `n/a` where the driver has no such thing.
    pub value: String,
    /// Where it stands.
    pub line: u32,
}

/// What tells one kind of table from the others.
pub struct Shape {
    /// Beginnings of its headline.
    pub headlines: &'static [&'static str],
    /// Headings of sections.
    pub sections: &'static [&'static str],
    /// Keys, in lower case; rows with other keys belong to it only where their value is a number, `n/a`, on or off.
    pub keys: &'static [&'static str],
}

/// `ethtool -g`.
pub const RINGS: Shape = Shape {
    headlines: &["Ring parameters for"],
    sections: &["Pre-set maximums:", "Current hardware settings:"],
    keys: &[
        "rx",
        "rx mini",
        "rx jumbo",
        "tx",
        "rx buf len",
        "cqe size",
        "tx push",
        "rx push",
        "tx push buff len",
        "tcp data split",
    ],
};
/// `ethtool -l`.
pub const CHANNELS: Shape = Shape {
    headlines: &["Channel parameters for"],
    sections: &["Pre-set maximums:", "Current hardware settings:"],
    keys: &["rx", "tx", "other", "combined"],
};
/// `ethtool -a`.
pub const PAUSE: Shape = Shape {
    headlines: &["Pause parameters for"],
    sections: &["Statistics:"],
    keys: &["autonegotiate", "rx", "tx", "rx negotiated", "tx negotiated", "tx_pause_frames", "rx_pause_frames"],
};
/// `ethtool -c`.
pub const COALESCE: Shape = Shape {
    headlines: &["Coalesce parameters for"],
    sections: &[],
    keys: &["adaptive rx", "cqe mode rx", "stats-block-usecs", "sample-interval", "pkt-rate-low", "pkt-rate-high"],
};
/// `ethtool --show-eee`.
pub const EEE: Shape = Shape {
    headlines: &["EEE settings for"],
    sections: &[],
    keys: &[
        "eee status",
        "tx lpi",
        "supported eee link modes",
        "advertised eee link modes",
        "link partner advertised eee link modes",
    ],
};
/// `ethtool --show-fec`.
pub const FEC: Shape = Shape {
    headlines: &["FEC parameters for"],
    sections: &["Statistics:"],
    keys: &[
        "configured fec encodings",
        "supported/configured fec encodings",
        "active fec encoding",
        "active fec encodings",
    ],
};

/// Reads a table. Without a headline there must be a row that fits, and the caller knows whose output it is.
pub fn parse(cursor: &mut Cursor<'_>, shape: &Shape) -> Option<Table> {
    let interface = headline(cursor, shape.headlines);
    let mut table = Table { line: interface.as_ref().map_or(0, |at| at.line), interface, rows: Vec::new() };
    let mut section = 0;
    loop {
        // Blank lines stand between the sections.
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let text = line.text.trim();
        let heading = shape.sections.contains(&text);
        let found = rows(text, shape);
        if !heading && found.is_empty() {
            // A list of link modes goes on on further lines.
            let modes = text.split_ascii_whitespace().all(|word| word.contains("base") && word.contains('/'));
            match table.rows.last_mut().filter(|row| blank == 0 && modes && row.key.ends_with("link modes")) {
                Some(row) => row.value = format!("{} {text}", row.value),
                None => break,
            }
        }
        for _ in 0..=blank {
            cursor.take();
        }
        section += usize::from(heading);
        if table.line == 0 {
            table.line = line.number;
        }
        table.rows.extend(found.into_iter().map(|(key, value)| Row { section, key, value, line: line.number }));
    }
    (table.interface.is_some() || !table.rows.is_empty()).then_some(table)
}

/// The rows of a line: `Adaptive RX: on  TX: off` holds two.
fn rows(text: &str, shape: &Shape) -> Vec<(String, String)> {
    let Some((key, value)) = pair(text) else { return Vec::new() };
    let lower = key.to_ascii_lowercase();
    let plain = |word: &str| {
        matches!(word, "n/a" | "on" | "off") || word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty()
    };
    let known = shape.keys.contains(&lower.as_str());
    if !known && !(plain(value) && key.len() <= 40 && !key.contains('/')) {
        return Vec::new();
    }
    if let Some((first, second)) = value.split_once("TX:") {
        let front = lower.trim_end_matches("rx").trim_end();
        return vec![(lower.clone(), first.trim().to_owned()), (format!("{front} tx"), second.trim().to_owned())];
    }
    vec![(lower, value.to_owned())]
}

impl Table {
    /// The value of a key in a section; sections count from 0 before the first heading.
    pub fn get(&self, section: usize, key: &str) -> Option<At<&str>> {
        let row = self.rows.iter().find(|row| row.section == section && row.key == key)?;
        Some(At::new(row.value.as_str(), row.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str, shape: &Shape) -> (Table, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let table = parse(&mut cursor, shape).unwrap();
        (table, cursor.position())
    }

    #[test]
    fn rings_have_two_sections() {
        let text = "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nTX:\t\t4096\n\n\
                    Current hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t256\nRX Buf Len:\t\tn/a\nTX Push:\toff\n\n\
                    Pause parameters for eth0:\nRX: on\n";
        let (table, taken) = read(text, &RINGS);
        assert_eq!(table.interface, Some(At::new("eth0".into(), 1)));
        assert_eq!(table.get(1, "rx"), Some(At::new("4096", 3)));
        assert_eq!(table.get(2, "rx"), Some(At::new("512", 8)));
        assert_eq!(table.get(2, "tx"), Some(At::new("256", 10)));
        assert_eq!(table.get(1, "rx mini"), Some(At::new("n/a", 4)));
        assert_eq!(table.get(0, "rx"), None);
        assert_eq!(taken, 12);
    }

    #[test]
    fn two_values_on_a_line_and_cut_tables() {
        let (table, _) = read(
            "Coalesce parameters for eth1:\nAdaptive RX: on  TX: off\nrx-usecs: 3\ntx-usecs-irq:\tn/a\n",
            &COALESCE,
        );
        assert_eq!(table.get(0, "adaptive rx").unwrap().value, "on");
        assert_eq!(table.get(0, "adaptive tx").unwrap().value, "off");
        assert_eq!(table.get(0, "rx-usecs").unwrap().value, "3");
        let (table, _) = read("Pause parameters for a.b:", &PAUSE);
        assert!(table.rows.is_empty());
        let (table, taken) = read("Autonegotiate :\ton\nRX:\t\toff\nroot: something else\n", &PAUSE);
        assert_eq!((table.interface, table.rows.len(), taken), (None, 2, 2));
    }
}
