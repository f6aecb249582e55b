//! `/proc/net/bonding/X`.

use super::cursor::{At, Cursor, pair};

/// What the file says of a bond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bonding {
    /// Line of the first row.
    pub line: u32,
    /// Mode in the kernel's short word: `active-backup`.
    pub mode: Option<At<&'static str>>,
    /// `layer2`, `layer3+4` ...
    pub hash_policy: Option<At<String>>,
    /// Milliseconds between two looks at the link; 0 is none.
    pub miimon: Option<At<u32>>,
    /// Milliseconds between two ARP probes.
    pub arp_interval: Option<At<u32>>,
    /// Member in use; `Some(None)` where there is none.
    pub active_member: Option<At<Option<String>>>,
    /// Aggregator in use.
    pub active_aggregator: Option<At<u32>>,
    /// Hardware address of the LACP partner.
    pub partner_address: Option<At<String>>,
    /// Members.
    pub members: Vec<Member>,
}

/// A member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Interface.
    pub name: String,
    /// Line of its heading.
    pub line: u32,
    /// Link by the bond's own monitoring.
    pub mii_up: Option<At<bool>>,
    /// Mb/s; none for `Unknown`.
    pub speed: Option<At<Option<u32>>>,
    /// `full`, `half`; none for `Unknown`.
    pub duplex: Option<At<String>>,
    /// Times that its link went down.
    pub link_failures: Option<At<u32>>,
    /// Hardware address that it was made with.
    pub permanent_address: Option<At<String>>,
    /// Aggregator that it belongs to.
    pub aggregator: Option<At<u32>>,
    /// One end or the other never agreed to the aggregate.
    pub churned: Option<At<bool>>,
}

const HEAD: &str = "Ethernet Channel Bonding Driver:";

/// True for the line that the file begins with.
pub fn begins(text: &str) -> bool {
    text.trim().starts_with(HEAD)
}

/// The kernel's short word for a mode: `fault-tolerance (active-backup)` is `active-backup`.
pub fn mode(text: &str) -> Option<&'static str> {
    const MODES: [(&str, &str); 7] = [
        ("load balancing (round-robin)", "balance-rr"),
        ("fault-tolerance (active-backup)", "active-backup"),
        ("load balancing (xor)", "balance-xor"),
        ("fault-tolerance (broadcast)", "broadcast"),
        ("IEEE 802.3ad Dynamic link aggregation", "802.3ad"),
        ("transmit load balancing", "balance-tlb"),
        ("adaptive load balancing", "balance-alb"),
    ];
    MODES.iter().find(|(long, _)| text.starts_with(long)).map(|(_, short)| *short)
}

/// Keys of rows, some of which stand in several places.
const KEYS: &[&str] = &[
    "Bonding Mode",
    "Transmit Hash Policy",
    "Primary Slave",
    "Currently Active Slave",
    "MII Status",
    "MII Polling Interval (ms)",
    "Up Delay (ms)",
    "Down Delay (ms)",
    "Peer Notification Delay (ms)",
    "ARP Polling Interval (ms)",
    "ARP IP target/s (n.n.n.n form)",
    "ARP Missed Max",
    "NS IPv6 target/s (xx::xx form)",
    "802.3ad info",
    "LACP active",
    "LACP rate",
    "Min links",
    "Aggregator selection policy (ad_select)",
    "System priority",
    "System MAC address",
    "Active Aggregator Info",
    "Aggregator ID",
    "Number of ports",
    "Actor Key",
    "Partner Key",
    "Partner Mac Address",
    "Slave Interface",
    "Speed",
    "Duplex",
    "Link Failure Count",
    "Permanent HW addr",
    "Slave queue ID",
    "Actor Churn State",
    "Partner Churn State",
    "Actor Churned Count",
    "Partner Churned Count",
    "details actor lacp pdu",
    "details partner lacp pdu",
    "system priority",
    "system mac address",
    "port key",
    "oper key",
    "port priority",
    "port number",
    "port state",
    "Number of Slaves",
    "Slave is active",
    "bond bond0 has no active aggregator",
];

impl Bonding {
    /// Takes a row that `grep` picked out of the file; one of a member, whose heading may be missing, is left aside.
    pub fn grepped(&mut self, text: &str, line: u32) {
        let of_bond = [
            "Bonding Mode",
            "Transmit Hash Policy",
            "Currently Active Slave",
            "MII Polling",
            "ARP Polling",
            "Partner Mac",
        ];
        if of_bond.iter().any(|start| text.trim().starts_with(start)) {
            self.row(text, line);
        }
    }

    /// Takes a row; false for a row of something else.
    fn row(&mut self, text: &str, line: u32) -> bool {
        let (key, value) = pair(text).unwrap_or((text.trim(), ""));
        if !KEYS.contains(&key) {
            return text.contains("has no active aggregator");
        }
        let number = || value.parse().ok().map(|number| At::new(number, line));
        let text = || Some(At::new(value.to_owned(), line));
        if key == "Slave Interface" {
            self.members.push(Member { name: value.to_owned(), line, ..Member::default() });
            return true;
        }
        if let Some(member) = self.members.last_mut() {
            match key {
                "MII Status" => member.mii_up = Some(At::new(value == "up", line)),
                "Speed" => {
                    let speed = value.strip_suffix("Mbps").and_then(|number| number.trim().parse().ok());
                    member.speed = Some(At::new(speed, line));
                }
                "Duplex" if value != "Unknown" => member.duplex = text(),
                "Link Failure Count" => member.link_failures = number(),
                "Permanent HW addr" => member.permanent_address = text(),
                "Aggregator ID" => member.aggregator = number(),
                "Actor Churn State" | "Partner Churn State" => {
                    // `monitoring` is not decided yet.
                    let churned = value == "churned" || member.churned.as_ref().is_some_and(|at| at.value);
                    if matches!(value, "churned" | "none") {
                        member.churned = Some(At::new(churned, line));
                    }
                }
                _ => {}
            }
            return true;
        }
        match key {
            "Bonding Mode" => self.mode = mode(value).map(|mode| At::new(mode, line)),
            "Transmit Hash Policy" => {
                self.hash_policy = Some(At::new(value.split(' ').next().unwrap_or_default().to_owned(), line));
            }
            "Currently Active Slave" => {
                let name = Some(value.to_owned()).filter(|name| name != "None" && !name.is_empty());
                self.active_member = Some(At::new(name, line));
            }
            "MII Polling Interval (ms)" => self.miimon = number(),
            "ARP Polling Interval (ms)" => self.arp_interval = number(),
            "Aggregator ID" => self.active_aggregator = number(),
            "Partner Mac Address" => self.partner_address = text(),
            _ => {}
        }
        true
    }
}

/// Reads one file; none where the next line is no row of one. A second head begins a second file.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Bonding> {
    let mut bonding = Bonding::default();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let head = begins(line.text);
        if head && bonding.line > 0 || !head && !bonding.row(line.text, line.number) {
            break;
        }
        if bonding.line == 0 {
            bonding.line = line.number;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    (bonding.line > 0).then_some(bonding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn a_bond_without_a_partner() {
        let text = "Ethernet Channel Bonding Driver: v6.8.0\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\n\
                    Transmit Hash Policy: layer3+4 (1)\nMII Status: up\nMII Polling Interval (ms): 100\nUp Delay (ms): 0\n\n802.3ad info\n\
                    LACP rate: slow\nActive Aggregator Info:\n\tAggregator ID: 2\n\tPartner Mac Address: 00:00:00:00:00:00\n\n\
                    Slave Interface: eno1\nMII Status: going down\nSpeed: Unknown\nDuplex: Unknown\nLink Failure Count: 3\n\
                    Permanent HW addr: 02:00:00:00:00:01\nAggregator ID: 1\ndetails partner lacp pdu:\n    system mac address: 00:00:00:00:00:00\n\n\
                    Slave Interface: eno2\nMII Status: up\nSpeed: 10000 Mbps\nDuplex: full\n\nEthernet Channel Bonding Driver: v6.8.0\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let bond = parse(&mut cursor).unwrap();
        assert_eq!(
            (bond.mode, bond.miimon, bond.arp_interval),
            (Some(At::new("802.3ad", 3)), Some(At::new(100, 6)), None)
        );
        assert_eq!((bond.hash_policy.unwrap().value.as_str(), bond.active_aggregator.unwrap().value), ("layer3+4", 2));
        assert_eq!(bond.partner_address.unwrap().value, "00:00:00:00:00:00");
        let [first, second] = bond.members.as_slice() else { panic!("two members") };
        assert_eq!((first.name.as_str(), first.line), ("eno1", 15));
        assert_eq!(
            (first.mii_up.clone(), first.speed.clone(), first.duplex.clone()),
            (Some(At::new(false, 16)), Some(At::new(None, 17)), None)
        );
        assert_eq!((first.link_failures.clone().unwrap().value, first.aggregator.clone().unwrap().value), (3, 1));
        assert_eq!(
            (second.speed.clone().unwrap().value, second.duplex.clone().unwrap().value.as_str()),
            (Some(10_000), "full")
        );
        cursor.skip_blank();
        assert!(begins(cursor.peek().unwrap().text));
        assert!(parse(&mut cursor).is_some());
        assert_eq!(parse(&mut cursor), None);
    }

    #[test]
    fn modes_have_short_names() {
        for (long, short) in [
            ("fault-tolerance (active-backup) (fail_over_mac active)", Some("active-backup")),
            ("load balancing (round-robin)", Some("balance-rr")),
            ("load balancing (xor)", Some("balance-xor")),
            ("adaptive load balancing", Some("balance-alb")),
            ("something new", None),
        ] {
            assert_eq!(mode(long), short, "{long}");
        }
    }
}
