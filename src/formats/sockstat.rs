//! /proc/net/sockstat and sockstat6: `TCP: inuse 91 orphan 0 tw 76 alloc 151 mem 7`.

/// Sockets of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `sockets`, `TCP`, `UDP`, `TCP6`, `FRAG` ...
    pub protocol: String,
    /// Names and numbers: `inuse`, `orphan`, `tw`, `alloc` in sockets, `mem` in pages, `memory` in bytes.
    pub figures: Vec<(String, u64)>,
}

const PROTOCOLS: [&str; 12] =
    ["sockets", "TCP", "UDP", "UDPLITE", "RAW", "FRAG", "TCP6", "UDP6", "UDPLITE6", "RAW6", "FRAG6", "MPTCP"];

/// Reads a line.
pub fn row(text: &str) -> Option<Row> {
    let (protocol, rest) = text.split_once(": ")?;
    if !PROTOCOLS.contains(&protocol) {
        return None;
    }
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let pair = |pair: &[&str]| match pair {
        [name, value] if name.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            Some(((*name).to_owned(), value.parse().ok()?))
        }
        _ => None,
    };
    let figures: Vec<(String, u64)> = words.chunks(2).map(pair).collect::<Option<_>>()?;
    (!figures.is_empty()).then(|| Row { protocol: protocol.to_owned(), figures })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_names() {
        let row = row("TCP: inuse 91 orphan 0 tw 76 alloc 151 mem 7").unwrap();
        assert_eq!((row.protocol.as_str(), &row.figures[4]), ("TCP", &("mem".to_owned(), 7)));
        assert_eq!(super::row("sockets: used 383").unwrap().figures, [("used".to_owned(), 383)]);
        for other in ["TCP: out of memory -- consider tuning tcp_mem", "TCP: inuse", "TCP: ", "tcp: inuse 1", ""] {
            assert_eq!(super::row(other), None, "{other}");
        }
    }
}
