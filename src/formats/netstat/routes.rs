//! `route -n` and `netstat -rn`.

use crate::formats::cursor::{At, Cursor};

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Destination; `0.0.0.0` or `default` for everywhere.
    pub destination: String,
    /// Gateway; `0.0.0.0`, `*` or `::` where there is none.
    pub gateway: String,
    /// Mask; empty in the IPv6 table, where the destination holds the length.
    pub mask: String,
    /// Letters of the flags: `UG`.
    pub flags: String,
    /// Metric; 0 in the form of `netstat -r`, which has none.
    pub metric: u32,
    /// Interface.
    pub device: String,
}

impl Row {
    /// True for a route to everywhere that is up.
    pub fn is_default(&self) -> bool {
        let all = matches!(self.destination.as_str(), "default" | "::/0" | "[::]/0")
            || self.destination == "0.0.0.0" && self.mask == "0.0.0.0";
        all && self.flags.contains('U') && !self.flags.contains('!')
    }
}

const TITLES: [&str; 2] = ["Kernel IP routing table", "Kernel IPv6 routing table"];

/// True for the title or the headings.
pub fn begins(text: &str) -> bool {
    TITLES.contains(&text.trim()) || headings(text).is_some()
}

fn headings(text: &str) -> Option<bool> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    match words.as_slice() {
        ["Destination", "Gateway", "Genmask", "Flags", .., "Iface"] => Some(true),
        ["Destination", "Next", "Hop", "Flag" | "Flags", .., "If" | "Iface"] => Some(false),
        _ => None,
    }
}

/// A line of the table. IPv4 has the columns destination, gateway, mask, flags, metric (or MSS), references (or window),
/// use (or irtt), interface.
pub fn row(text: &str) -> Option<Row> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_flags = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'!');
    let (destination, gateway, mask, flags, rest) = match words.as_slice() {
        [destination, gateway, mask, flags, rest @ ..] if is_mask(mask) && is_flags(flags) => {
            (destination, gateway, *mask, flags, rest)
        }
        [destination, gateway, flags, rest @ ..] if destination.contains(':') && is_flags(flags) => {
            (destination, gateway, "", flags, rest)
        }
        _ => return None,
    };
    let [metric, _, _, device] = rest else { return None };
    Some(Row {
        destination: (*destination).to_owned(),
        gateway: (*gateway).to_owned(),
        mask: mask.to_owned(),
        flags: (*flags).to_owned(),
        metric: metric.parse().unwrap_or(0),
        device: (*device).to_owned(),
    })
}

fn is_mask(word: &str) -> bool {
    word.parse::<std::net::Ipv4Addr>().is_ok()
}

/// Reads the routes that come next, with or without title and headings.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<At<Row>> {
    let mut rows = Vec::new();
    loop {
        if cursor.take_if(|text| begins(text).then_some(())).is_some() {
            continue;
        }
        match cursor.take_if(row) {
            Some(row) => rows.push(row),
            None => return rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn both_tables_are_read() {
        let text = "Kernel IP routing table\n\
            Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n\
            0.0.0.0         192.168.40.1    0.0.0.0         UG    100    0        0 eth2\n\
            192.168.40.0    0.0.0.0         255.255.255.0   U     0      0        0 eth0\n\
            Kernel IPv6 routing table\n\
            Destination                    Next Hop                   Flag Met Ref Use If\n\
            [::]/0                         fe80::1                    UG   1024 3   0 eth0\nend\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let rows = parse(&mut cursor);
        assert_eq!(rows.len(), 3);
        assert!(rows[0].value.is_default() && rows[0].value.metric == 100 && rows[0].line == 3);
        assert!(!rows[1].value.is_default());
        assert!(rows[2].value.is_default());
        assert_eq!((rows[2].value.device.as_str(), cursor.peek().unwrap().text), ("eth0", "end"));
        assert!(
            row("default         10.0.0.1        0.0.0.0         UG    0      0        0 enp7s0").unwrap().is_default()
        );
    }

    #[test]
    fn other_lines_are_none() {
        for text in ["", "default via 10.0.0.1 dev eth0", "0.0.0.0 10.0.0.1 0.0.0.0 UG", "1 2 3 4 5 6 7 8"] {
            assert_eq!(row(text), None, "{text}");
        }
    }
}
