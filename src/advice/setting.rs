//! What a command sets: `ethtool -G eth0 rx 1024` against `ethtool -G {iface} {pairs}` gives the interface and the ring.

use std::collections::BTreeMap;

use crate::formats::shell::shell_words;

/// Values by the names of the pattern's holes, and of the pairs.
pub type Values = BTreeMap<String, String>;

/// Reads a command by the pattern of a setting. `None` where it is another command, or more than one simple command.
pub fn read(pattern: &str, command: &str) -> Option<Values> {
    let words = shell_words(command)?;
    let mut rest = words.as_slice();
    let mut values = Values::new();
    for expected in pattern.split_whitespace() {
        if expected == "{pairs}" {
            if rest.is_empty() || rest.len() % 2 != 0 {
                return None;
            }
            values.extend(rest.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())));
            return Some(values);
        }
        let (word, others) = rest.split_first()?;
        take(expected, word, &mut values)?;
        rest = others;
    }
    rest.is_empty().then_some(values)
}

/// Matches one word; a hole takes at least one character.
fn take(pattern: &str, word: &str, values: &mut Values) -> Option<()> {
    let Some((before, rest)) = pattern.split_once('{') else { return (pattern == word).then_some(()) };
    let (name, after) = rest.split_once('}')?;
    let tail = word.strip_prefix(before)?;
    // What follows the hole up to the next one ends its value.
    let literal = after.split('{').next().unwrap_or_default();
    let end = if literal.is_empty() { tail.len() } else { tail.find(literal)? };
    let (value, remaining) = tail.split_at(end);
    if value.is_empty() {
        return None;
    }
    values.insert(name.to_owned(), value.to_owned());
    take(after, remaining, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Values {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_command_gives_its_values() {
        let ring = "ethtool -G {iface} {pairs}";
        assert_eq!(read(ring, "ethtool -G eth0 rx 1024"), Some(values(&[("iface", "eth0"), ("rx", "1024")])));
        let both = values(&[("iface", "eth0"), ("rx", "1024"), ("tx", "512")]);
        assert_eq!(read(ring, "ethtool -G eth0 rx 1024 tx 512"), Some(both));
        let odd = values(&[("iface", "a;$(id)"), ("rx", "1")]);
        assert_eq!(read(ring, "ethtool -G 'a;$(id)' rx 1"), Some(odd));
        let pace = "tc qdisc replace dev {iface} root fq maxrate {rate}mbit";
        let paced = values(&[("iface", "eth4"), ("rate", "6482")]);
        assert_eq!(read(pace, "tc qdisc replace dev eth4 root fq maxrate 6482mbit"), Some(paced));
        let sysctl = values(&[("name", "net.ipv4.tcp_rmem"), ("value", "4096 131072 6291456")]);
        assert_eq!(read("sysctl -w {name}={value}", "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'"), Some(sysctl));
    }

    #[test]
    fn another_command_gives_none() {
        let ring = "ethtool -G {iface} {pairs}";
        for other in [
            "ethtool -g eth0",
            "ethtool -G eth0",
            "ethtool -G eth0 rx",
            "ethtool -G $(id) rx 1",
            "ethtool -G eth0 rx 1; reboot",
            "",
        ] {
            assert_eq!(read(ring, other), None, "{other}");
        }
        let pace = "tc qdisc replace dev {iface} root fq maxrate {rate}mbit";
        assert_eq!(read(pace, "tc qdisc replace dev eth4 root fq maxrate 6gbit"), None);
        assert_eq!(read(pace, "tc qdisc replace dev eth4 root fq maxrate mbit"), None);
        assert_eq!(read(pace, "tc qdisc replace dev eth4 root fq maxrate 6mbit limit 9"), None);
    }
}
