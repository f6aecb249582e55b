//! `ip link` and `ip addr`: a headline for each interface and indented lines below it.

use super::address::{self, Address};
use super::parts;
use super::statistics::{self, Columns};
use super::words::Words;
use crate::formats::cursor::{At, Cursor};

/// What stands behind the `@` of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lower {
    /// The interface below, or the other end of a pair.
    Name(String),
    /// The index of an interface of another network namespace: `@if7`.
    Elsewhere(u32),
    /// `@NONE`.
    None,
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Name; empty where the headline is missing.
    pub name: String,
    /// Line of the headline, or of the first line.
    pub line: u32,
    /// Index.
    pub index: Option<u32>,
    /// What stands behind the `@`.
    pub lower: Option<Lower>,
    /// Words between the angle brackets; none where a web page swallowed them.
    pub flags: Option<Vec<String>>,
    /// Rest of the headline: `mtu 1500 qdisc mq master br0 state UP ...`.
    pub head: Words,
    /// Type of the hardware: the word behind `link/`.
    pub hardware: Option<At<String>>,
    /// Hardware address.
    pub address: Option<At<String>>,
    /// What `-d` adds to the line of the hardware address.
    pub details: Words,
    /// Kind of a virtual interface: `vlan`, `bond` ...
    pub kind: Option<At<String>>,
    /// The options of that kind.
    pub options: Words,
    /// Kind of what it is a member of: `bond`, `bridge` ...
    pub member_of: Option<At<String>>,
    /// The options of a member.
    pub member: Words,
    /// Name of the XDP program.
    pub program: Option<At<String>>,
    /// Alias that an administrator gave.
    pub alias: Option<At<String>>,
    /// Addresses in their order.
    pub addresses: Vec<Address>,
    /// Counters by their names in `struct rtnl_link_stats64`.
    pub statistics: Vec<(&'static str, u64)>,
    /// Line of the first of them.
    pub statistics_line: u32,
}

impl Link {
    /// A value that `-d` prints, on whichever of its lines it stands.
    pub fn detail(&self, key: &str) -> Option<At<&str>> {
        [&self.details, &self.options, &self.member].into_iter().find_map(|words| words.after(key))
    }

    /// A number that `-d` prints.
    pub fn detail_number(&self, key: &str) -> Option<At<u64>> {
        let found = self.detail(key)?;
        Some(At::new(found.value.parse().ok()?, found.line))
    }

    /// True where the output shows what `-d` shows: a kind that is not printed is none then.
    pub fn is_detailed(&self) -> bool {
        self.details.has("promiscuity")
    }

    /// True where this flag is set; none where the flags are not known.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.flags.as_ref().map(|flags| flags.iter().any(|flag| flag == name))
    }
}

/// Kinds of virtual interfaces as they begin a line of `ip -d link`.
const KINDS: &[&str] = &[
    "amt",
    "bareudp",
    "batadv",
    "bond",
    "bridge",
    "can",
    "dsa",
    "dummy",
    "erspan",
    "geneve",
    "gre",
    "gretap",
    "gtp",
    "hsr",
    "ifb",
    "ip6erspan",
    "ip6gre",
    "ip6gretap",
    "ip6tnl",
    "ipip",
    "ipoib",
    "ipvlan",
    "ipvtap",
    "lowpan",
    "macsec",
    "macvlan",
    "macvtap",
    "netdevsim",
    "netkit",
    "nlmon",
    "openvswitch",
    "ppp",
    "rmnet",
    "sit",
    "team",
    "tun",
    "vcan",
    "veth",
    "virt_wifi",
    "vlan",
    "vrf",
    "vti",
    "vti6",
    "vxcan",
    "vxlan",
    "wireguard",
    "wwan",
    "xfrm",
];

/// Words with which a line of details goes on where a terminal broke it.
const DETAILS: &[&str] = &[
    "promiscuity",
    "allmulti",
    "minmtu",
    "maxmtu",
    "addrgenmode",
    "numtxqueues",
    "numrxqueues",
    "gso_max_size",
    "gso_max_segs",
    "gso_ipv4_max_size",
    "tso_max_size",
    "tso_max_segs",
    "gro_max_size",
    "gro_ipv4_max_size",
    "parentbus",
    "parentdev",
    "portid",
    "portname",
    "switchid",
    "permaddr",
    "link-netns",
    "link-netnsid",
];

/// The headline of an interface: `2: eth0@if7: <BROADCAST,UP> mtu 1500 ...`, also without the number, and without the flags
/// where a web page took them for a tag.
pub fn headline(text: &str, line: u32) -> Option<Link> {
    let text = text.trim_start();
    let (index, rest) = match text.split_once(": ") {
        Some((front, rest)) if front.bytes().all(|byte| byte.is_ascii_digit()) => (Some(front.parse().ok()?), rest),
        _ => (None, text),
    };
    let (name, rest) = rest.trim_start().split_once(':')?;
    if name.is_empty() || name.contains(char::is_whitespace) {
        return None;
    }
    let rest = rest.trim_start();
    let (flags, rest) = match rest.strip_prefix('<').and_then(|inner| inner.split_once('>')) {
        Some((inner, rest)) => {
            let plain = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || "_-,".contains(char);
            if !inner.chars().all(plain) {
                return None;
            }
            (Some(inner.split(',').filter(|flag| !flag.is_empty()).map(str::to_owned).collect()), rest)
        }
        None if index.is_some() && rest.starts_with("mtu ") => (None, rest),
        None => return None,
    };
    let (name, lower) = split_name(name);
    let mut link = Link { name, line, index, lower, flags, ..Link::default() };
    link.head.add(rest, line);
    Some(link)
}

/// Cuts what stands behind the `@` off a name.
pub fn split_name(text: &str) -> (String, Option<Lower>) {
    let Some((name, lower)) = text.split_once('@') else { return (text.to_owned(), None) };
    let lower = match lower {
        "NONE" => Lower::None,
        _ => match lower.strip_prefix("if").and_then(|index| index.parse().ok()) {
            Some(index) => Lower::Elsewhere(index),
            None => Lower::Name(lower.to_owned()),
        },
    };
    (name.to_owned(), Some(lower))
}

/// `2: eth0    inet 192.0.2.7/24 ...`: a line of `ip -o addr`.
fn one_line_address(text: &str, line: u32) -> Option<Link> {
    let (index, rest) = text.trim_start().split_once(": ")?;
    let index = index.parse().ok()?;
    let (name, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let address = address::address(rest, line)?;
    let (name, lower) = split_name(name);
    Some(Link { name, line, index: Some(index), lower, addresses: vec![address], ..Link::default() })
}

/// What the lines below a headline are about.
#[derive(Default)]
struct State {
    columns: Option<Columns>,
    /// Counters of a virtual function follow.
    in_function: bool,
}

/// True for a line that begins the output of `ip link` or `ip addr`.
pub fn begins(text: &str) -> bool {
    let Some(first) = parts(text).next() else { return false };
    headline(first, 0).is_some() || one_line_address(first, 0).is_some()
}

/// Reads the interfaces. With `headless` also lines below a headline that is missing.
pub fn parse(cursor: &mut Cursor<'_>, headless: bool) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    let mut state = State::default();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let mut parts = parts(line.text);
        let first = parts.next().unwrap_or_default();
        if let Some(link) = headline(first, line.number) {
            links.push(link);
            state = State::default();
        } else if let Some(link) = one_line_address(first, line.number) {
            match links.last_mut().filter(|last| last.name == link.name && last.index == link.index) {
                Some(last) => last.addresses.extend(link.addresses),
                None => links.push(link),
            }
        } else {
            if links.is_empty() && headless && begins_headless(first) {
                links.push(Link { line: line.number, ..Link::default() });
            }
            let understood = links.last_mut().is_some_and(|link| detail(link, &mut state, first, line.number));
            if !understood {
                break;
            }
        }
        if let Some(link) = links.last_mut() {
            for part in parts {
                detail(link, &mut state, part, line.number);
            }
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    links
}

fn begins_headless(text: &str) -> bool {
    statistics::columns(text).is_some() || text.trim_start().starts_with("link/")
}

/// Reads a line below a headline; false where it is none.
fn detail(link: &mut Link, state: &mut State, text: &str, line: u32) -> bool {
    if let Some(columns) = state.columns.take()
        && let Some(values) = columns.values(text)
    {
        if !state.in_function {
            if link.statistics.is_empty() {
                link.statistics_line = line;
            }
            link.statistics.extend(values);
        }
        return true;
    }
    if let Some(columns) = statistics::columns(text) {
        state.columns = Some(columns);
        return true;
    }
    let indented = text.starts_with([' ', '\t']);
    let text = text.trim();
    let Some(word) = text.split_ascii_whitespace().next() else { return true };
    if let Some(hardware) = word.strip_prefix("link/") {
        if link.hardware.is_some() {
            return false;
        }
        link.hardware = Some(At::new(hardware.to_owned(), line));
        link.details.add(text, line);
        // A device without an address goes on with the details.
        let is_address = |text: &str| text.contains([':', '.']);
        link.address = link.details.after(word).filter(|at| is_address(at.value)).map(|at| at.map(str::to_owned));
        return true;
    }
    if let Some(address) = address::address(text, line) {
        link.addresses.push(address);
        return true;
    }
    if let Some(master) = word.strip_suffix("_slave") {
        link.member_of = Some(At::new(master.to_owned(), line));
        link.member.add(text, line);
        return true;
    }
    match word {
        "alias" => {
            link.alias = text.strip_prefix("alias ").map(|alias| At::new(alias.trim().to_owned(), line));
        }
        "prog/xdp" => {
            let mut words = Words::default();
            words.add(text, line);
            link.program = words.after("name").map(|name| name.map(str::to_owned));
        }
        "altname" | "valid_lft" => {}
        "vf" => state.in_function = true,
        _ if KINDS.binary_search(&word).is_ok() && link.hardware.is_some() && (indented || goes_on(text)) => {
            if link.kind.is_none() {
                link.kind = Some(At::new(word.to_owned(), line));
            }
            link.options.add(text, line);
        }
        _ if DETAILS.contains(&word) && link.hardware.is_some() => link.details.add(text, line),
        _ => return false,
    }
    true
}

/// True where details stand behind the options of a kind: without an indent, `can` or `team` may begin a sentence.
fn goes_on(text: &str) -> bool {
    text.split_ascii_whitespace().any(|word| DETAILS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Vec<Link>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor, false), cursor.position())
    }

    #[test]
    fn kinds_are_sorted_for_the_search() {
        assert!(KINDS.is_sorted());
    }

    /// `ip -s -s -d link` of iproute2 6.1, with a VLAN.
    const DETAILED: &str = "\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff permaddr 02:00:00:00:00:0f promiscuity 0  allmulti 0 minmtu 68 maxmtu 9216
    bond_slave state ACTIVE mii_status UP link_failure_count 3 perm_hwaddr 02:00:00:00:00:0f queue_id 0 numtxqueues 64 numrxqueues 64 gso_max_size 65536 parentbus pci parentdev 0000:03:00.0
    RX:  bytes packets errors dropped  missed   mcast
        100 10 1 2 3 4
    RX errors:  length    crc   frame    fifo overrun
                     5      6       7       8       9
    TX:  bytes packets errors dropped carrier collsns
         200 20 0 0 0 0
    vf 0     link/ether 02:00:00:00:01:01 brd ff:ff:ff:ff:ff:ff, spoof checking on, link-state auto, trust off
    RX: bytes  packets  mcast   bcast   dropped
    1 1 1 1 1
    altname enp3s0
5: eth0.100@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 0 maxmtu 65535
    vlan protocol 802.1Q id 100 <REORDER_HDR> addrgenmode eui64 numtxqueues 1
    alias to the rack; see ticket
root@host1:~#
";

    #[test]
    fn details_and_counters_are_read() {
        let (links, taken) = read(DETAILED);
        assert_eq!((links.len(), taken), (2, 17));
        let port = &links[0];
        assert_eq!((port.name.as_str(), port.index, port.lower.as_ref()), ("eth0", Some(2), None));
        assert_eq!(port.head.number::<u64>("mtu"), Some(At::new(1500, 1)));
        assert_eq!(port.head.after("master").unwrap().value, "bond0");
        assert_eq!(port.detail("permaddr"), Some(At::new("02:00:00:00:00:0f", 2)));
        assert_eq!(port.detail("parentdev"), Some(At::new("0000:03:00.0", 3)));
        assert_eq!(port.member_of, Some(At::new("bond".to_owned(), 3)));
        assert_eq!(port.member.number::<u32>("link_failure_count").unwrap().value, 3);
        assert_eq!(port.flag("LOWER_UP"), Some(true));
        let get = |name: &str| port.statistics.iter().find(|row| row.0 == name).map(|row| row.1);
        assert_eq!(get("rx_missed_errors"), Some(3));
        assert_eq!(get("rx_over_errors"), Some(9));
        assert_eq!(get("tx_bytes"), Some(200));
        assert_eq!((port.statistics.len(), port.statistics_line), (17, 5));
        let vlan = &links[1];
        assert_eq!((vlan.name.as_str(), &vlan.lower), ("eth0.100", &Some(Lower::Name("eth0".into()))));
        assert_eq!(vlan.kind, Some(At::new("vlan".to_owned(), 16)));
        assert_eq!(vlan.options.number::<u32>("id").unwrap().value, 100);
        assert_eq!(vlan.alias.as_ref().unwrap().value, "to the rack; see ticket");
        assert!(vlan.is_detailed());
    }

    #[test]
    fn one_line_forms_and_busybox() {
        let (links, _) = read(
            "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever\n\
             1: lo    inet6 ::1/128 scope host \\       valid_lft forever preferred_lft forever\n\
             3: eth0@if11    inet 172.26.0.8/26 scope global eth0\n",
        );
        assert_eq!(links.iter().map(|link| link.addresses.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(links[1].lower, Some(Lower::Elsewhere(11)));
        let (links, _) = read(
            "2: eth0: <UP> mtu 1500 qdisc mq state UP qlen 1000\\    link/ether 02:00:00:00:00:01 brd \
             ff:ff:ff:ff:ff:ff\\    RX: bytes  packets\\    12 3\n",
        );
        assert_eq!(links[0].statistics, [("rx_bytes", 12), ("rx_packets", 3)]);
        let (links, _) = read(
            "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc pfifo_fast qlen 1000\n    link/ether 02:00:00:00:00:01 \
             brd ff:ff:ff:ff:ff:ff\n    inet 10.0.0.1/8 brd 10.255.255.255 scope global eth0\n",
        );
        assert_eq!(links[0].addresses[0].text().as_deref(), Some("10.0.0.1/8"));
        assert!(!links[0].is_detailed());
    }

    #[test]
    fn headlines_of_many_kinds() {
        let head = |text: &str| headline(text, 1);
        assert_eq!(head("tunl0@NONE: <NOARP> mtu 1440 qdisc noop state DOWN").unwrap().lower, Some(Lower::None));
        assert_eq!(head("2: eth0:  mtu 1500 qdisc mq state UP").unwrap().flags, None);
        for other in [
            "en0: flags=8863<UP,BROADCAST,SMART> mtu 1500",
            "eth0: flags=4163<UP>  mtu 1500",
            "eth0: <driver> mtu",
            "note: mtu 1500",
            "time: <T> x y: z w",
            "a b: <UP> mtu 1",
            ": <UP>",
            "",
        ] {
            assert_eq!(head(other).is_some(), other.starts_with("time"), "{other}");
        }
    }

    #[test]
    fn counters_below_a_missing_headline_need_leave() {
        let text =
            "   RX:  bytes packets errors dropped missed mcast\n        4972630 27502   0      617     0     4248\n";
        assert!(read(text).0.is_empty());
        let lines = lines(text);
        let links = parse(&mut Cursor::new(&lines), true);
        assert_eq!(links[0].name, "");
        assert_eq!(links[0].statistics[3], ("rx_dropped", 617));
    }
}
