//! Which lines of a log concern networking.

use std::collections::{BTreeMap, BTreeSet};

/// What makes a line worth keeping without the name of an interface, driver or device of this host. Lower case; each
/// begins with a whole word.
const PHRASES: &[&str] = &[
    "nf_conntrack",
    "expectation table full",
    "neighbour",
    "neighbor table",
    "arp_cache",
    "ndisc_cache",
    "dst cache overflow",
    "dst_alloc",
    "tcp:",
    "request_sock_tcp",
    "request_sock_subflow",
    "possible syn flooding",
    "too many orphaned sockets",
    "out of memory",
    "out of socket memory",
    "invoked oom-killer",
    "page allocation failure",
    "page_pool",
    "not running at top speed",
    "udp:",
    "icmp:",
    "icmpv6:",
    "ipv4:",
    "ipv6:",
    "martian source",
    "duplicate address",
    "address conflict",
    "ip conflict",
    "duplicate ip",
    "sufficiently increase receive buffer size",
    "sufficiently increase send buffer size",
    "own address as source",
    "netdev watchdog",
    "transmit queue",
    "tx_timeout",
    "nic link is",
    "link becomes ready",
    "downshift",
    "pcie link",
    "pcieport",
    "pciehp",
    "aer:",
    "insufficient power",
    "device is inaccessible",
    "unsupported sfp",
    "unqualified",
    "sfp",
    "health reporter",
    "direct firmware load",
    "bonding",
    "8021q:",
    "nfs:",
    "cpu clock throttled",
    "cpu clock is throttled",
    "temperature above threshold",
    "temperature is above threshold",
    "soft lockup",
    "blocked for more than",
    "rcu: info",
    "hogged cpu",
    "nobody cared",
    "dmar:",
    "iommu:",
    "swiotlb buffer is full",
    "skb_over_panic",
    "skb_under_panic",
];

/// What makes a line of another program than the kernel worth keeping, in lower case. Of links the kernel tells itself.
const OF_DAEMONS: &[&str] = &[
    "duplicate address",
    "address conflict",
    "ip conflict",
    "duplicate ip",
    "sufficiently increase receive buffer size",
    "sufficiently increase send buffer size",
];

/// True for a line of a daemon's log that concerns networking.
pub fn tells_of_network(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    OF_DAEMONS.iter().any(|phrase| lower.contains(phrase))
}

/// Decides which lines concern networking.
#[derive(Debug)]
pub struct Sieve {
    /// By the first word: phrases of which one must be in the line; none where the word is enough.
    words: BTreeMap<String, Vec<&'static str>>,
    /// By the first byte of a word: bits for the lengths that there are.
    lengths: [u64; 256],
    /// Names that are not one word, as an interface `a;$(id>x)`.
    odd: Vec<String>,
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '@')
}

/// Words of a line; PCI addresses, which hold colons, come whole and in parts.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_ascii_whitespace().flat_map(|piece| {
        let long = if piece.len() >= 12 && piece.contains(':') { piece } else { "" };
        let digits = |char: char| char.is_ascii_hexdigit() || char == ':' || char == '.';
        let addresses = long.split(move |char| !digits(char)).map(|part| part.trim_matches([':', '.']));
        // `eth0.` at the end of a sentence.
        let bare = piece.strip_suffix('.').and_then(|piece| piece.rsplit(|char| !is_part(char)).next());
        piece
            .split(|char| !is_part(char))
            .chain(addresses.filter(|part| part.len() >= 12))
            .chain(bare)
            .filter(|part| !part.is_empty())
    })
}

fn bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

impl Sieve {
    /// A sieve for a host on which these are the names of interfaces, drivers and devices.
    pub fn new(names: &BTreeSet<String>) -> Self {
        let mut sieve = Self { words: BTreeMap::new(), lengths: [0; 256], odd: Vec::new() };
        for phrase in PHRASES {
            let first = phrase.split(|char| !is_part(char)).next().unwrap_or(phrase);
            if first != *phrase {
                sieve.words.entry(first.to_owned()).or_default().push(phrase);
            }
        }
        // A word that is enough by itself outranks the phrases that begin with it.
        for phrase in PHRASES.iter().filter(|phrase| phrase.chars().all(is_part)) {
            sieve.words.insert((*phrase).to_owned(), Vec::new());
        }
        for name in names {
            let name = name.to_ascii_lowercase();
            if name.chars().all(|char| is_part(char) || char == ':') {
                sieve.words.insert(name, Vec::new());
            } else {
                sieve.odd.push(name);
            }
        }
        for word in sieve.words.keys() {
            sieve.lengths[usize::from(word.as_bytes().first().copied().unwrap_or(0))] |= bit(word);
        }
        sieve
    }

    /// True for a line that concerns networking.
    pub fn keeps(&self, line: &str) -> bool {
        // It holds many words, and perhaps secrets.
        if line.contains("ommand line:") {
            return false;
        }
        let lower = line.to_ascii_lowercase();
        let wanted = |word: &str| {
            let first = usize::from(word.as_bytes()[0]);
            self.lengths[first] & bit(word) != 0
                && self
                    .words
                    .get(word)
                    .is_some_and(|phrases| phrases.is_empty() || phrases.iter().any(|phrase| lower.contains(phrase)))
        };
        words(&lower).any(wanted) || self.odd.iter().any(|name| lower.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sieve(names: &[&str]) -> Sieve {
        Sieve::new(&names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn lines_about_this_hosts_devices_are_kept() {
        let sieve = sieve(&["eth0", "bond0", "igb", "0000:03:00.0", "a;$(id>x)", "eth0.100"]);
        for line in [
            "igb 0000:01:00.1 enp1s0f1: igb: enp1s0f1 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX/TX",
            "br0: port 1(eth0) entered disabled state",
            "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
            "bond0: (slave eth7): link status definitely down, disabling slave",
            "pci 0000:03:00.0: 7.876 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x4 link",
            "x: 0000:03:00.0 reset",
            "vfio: address=0000:03:00.0, reset",
            "device eth0.100 left promiscuous mode",
            "Lost the link of eth0.",
            "a;$(id>x): link up",
            "TCP: request_sock_TCP: Possible SYN flooding on port 80. Sending cookies.",
            "nf_conntrack: nf_conntrack: table full, dropping packet",
            "neighbour: arp_cache: neighbor table overflow!",
            "Out of memory: Killed process 7 (x)",
            "NETDEV WATCHDOG: eth9 (x): transmit queue 0 timed out",
            "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:00:1c.0",
            "CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)",
        ] {
            assert!(sieve.keeps(line), "{line}");
        }
        for line in [
            "audit: initializing netlink subsys (disabled)",
            "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
            "veth0: link up",
            "eth01: link up",
            "igbvf: x",
            "pci 0000:04:00.0: reset",
            "we ran out of ideas",
            "Kernel command line: quiet eth0",
            "EXT4-fs (sda1): mounted filesystem",
            "",
        ] {
            assert!(!sieve.keeps(line), "{line}");
        }
    }

    #[test]
    fn every_phrase_begins_with_a_word_in_lower_case() {
        for phrase in PHRASES {
            assert!(phrase.starts_with(is_part) && *phrase == phrase.to_ascii_lowercase(), "{phrase}");
            assert!(sieve(&[]).keeps(&format!("x: {phrase} y")), "{phrase}");
        }
    }
}
