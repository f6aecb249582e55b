//! Counters of the protocols: /proc/net/snmp, /proc/net/netstat and /proc/net/snmp6.

/// Counters of /proc/net/snmp and /proc/net/netstat as `Tcp.RetransSegs`: each protocol has a line of names and one of
/// values. Pairs of lines that do not fit are passed over, and so are values below zero, which are limits
/// (`MaxConn -1`).
pub fn pairs(text: &str) -> Vec<(String, u64)> {
    let mut counters = Vec::new();
    let mut names: Option<(&str, &str)> = None;
    for line in text.lines() {
        let Some((protocol, rest)) = line.split_once(':') else {
            names = None;
            continue;
        };
        match names.take() {
            Some((of, names)) if of == protocol => {
                let (names, values) = (names.split_ascii_whitespace(), rest.split_ascii_whitespace());
                if names.clone().count() == values.clone().count() {
                    counters.extend(
                        names
                            .zip(values)
                            .filter_map(|(name, value)| Some((format!("{protocol}.{name}"), value.parse().ok()?))),
                    );
                }
            }
            _ => names = Some((protocol, rest)),
        }
    }
    counters
}

/// Counters of /proc/net/snmp6, and of any file that has a name and a value on each line.
pub fn lines(text: &str) -> Vec<(String, u64)> {
    let row = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some(name), Some(value), None) => Some((name.to_owned(), value.parse().ok()?)),
            _ => None,
        }
    };
    text.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_meet_their_values() {
        let text = "Tcp: RtoAlgorithm MaxConn RetransSegs\nTcp: 1 -1 18446744073709551615\n\
                    Udp: InDatagrams RcvbufErrors\nUdp: 5 7\n";
        let rows: Vec<(String, u64)> = pairs(text);
        let rows: Vec<(&str, u64)> = rows.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(
            rows,
            [("Tcp.RtoAlgorithm", 1), ("Tcp.RetransSegs", u64::MAX), ("Udp.InDatagrams", 5), ("Udp.RcvbufErrors", 7)]
        );
    }

    #[test]
    fn lines_that_do_not_fit_are_passed_over() {
        assert!(pairs("Tcp: A B\nTcp: 1\n").is_empty());
        assert!(pairs("Tcp: A\nUdp: 1\n").is_empty());
        // A line that was cut off does not shift the pairs that follow.
        assert_eq!(pairs("Tcp: A\nUdp: B\nUdp: 2\n"), [("Udp.B".to_owned(), 2)]);
        assert_eq!(pairs("IcmpMsg: InType3\nIcmpMsg: 4"), [("IcmpMsg.InType3".to_owned(), 4)]);
        assert_eq!(lines("Ip6InReceives   \t3\nodd\nx y z\nIp6OutNoRoutes -1\n"), [("Ip6InReceives".to_owned(), 3)]);
    }
}
