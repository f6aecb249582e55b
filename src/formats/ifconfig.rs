//! `ifconfig`: net-tools 1.60 and BusyBox (`eth0      Link encap:Ethernet`), net-tools 2 (`eth0: flags=4163<UP,...>  mtu 1500`)
//! and the BSDs (`em0: flags=8843<UP,...> metric 0 mtu 1500`), which are told apart.

use std::net::Ipv4Addr;

use super::cursor::{At, Cursor, Line};

/// Whose output it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// It cannot be told, as from single lines that a filter left.
    #[default]
    Unknown,
    /// net-tools 1.60 or BusyBox, which cut names to nine characters.
    OldLinux,
    /// net-tools 2.
    Linux,
    /// FreeBSD, macOS and their kin: only the MTU means the same as on Linux.
    Bsd,
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Name as it is printed; empty where a filter took the first line.
    pub name: String,
    /// Line of the first line.
    pub line: u32,
    /// Whose output it is.
    pub system: System,
    /// Words of the flags: `UP BROADCAST RUNNING MULTICAST`.
    pub flags: Option<At<Vec<String>>>,
    /// MTU.
    pub mtu: Option<At<u64>>,
    /// Type of the hardware in the tool's words: `Ethernet`, `Local Loopback`, `loop` ...
    pub hardware: Option<String>,
    /// Hardware address.
    pub address: Option<At<String>>,
    /// Addresses with their prefix.
    pub addresses: Vec<At<String>>,
    /// Length of the transmit queue.
    pub txqueuelen: Option<At<u32>>,
    /// Counters by their names in [`super::proc_net_dev`], from which ifconfig takes them.
    pub counters: Vec<At<(&'static str, u64)>>,
}

/// True for the line with which an output begins.
pub fn begins(text: &str) -> bool {
    let mut interface = Interface::default();
    headline(&mut interface, text, 0)
}

/// Reads the interfaces. With `headless` also lines of one whose first line is missing: those that a filter left.
pub fn parse(cursor: &mut Cursor<'_>, headless: bool) -> Vec<Interface> {
    let mut interfaces: Vec<Interface> = Vec::new();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let mut fresh = Interface { line: line.number, ..Interface::default() };
        if headline(&mut fresh, line.text, line.number) {
            interfaces.push(fresh);
        } else if !interfaces.last_mut().is_some_and(|last| row(last, line)) {
            // A row that the last one has already begins the next sample of a filtered output.
            let filtered = interfaces.last().is_none_or(|last| last.name.is_empty()) && interfaces.len() < 4096;
            if !(headless && filtered && row(&mut fresh, line)) {
                break;
            }
            interfaces.push(fresh);
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    interfaces
}

fn headline(interface: &mut Interface, text: &str, line: u32) -> bool {
    if text.starts_with([' ', '\t']) {
        return false;
    }
    if let Some((name, rest)) = text.split_once("Link encap:") {
        let (hardware, address) = match rest.split_once("HWaddr") {
            Some((hardware, address)) => (hardware, Some(address.trim())),
            None => (rest, None),
        };
        interface.name = name.trim().to_owned();
        interface.system = System::OldLinux;
        // `Media:` may stand behind it, after two spaces.
        interface.hardware = hardware.split("  ").next().map(|hardware| hardware.trim().to_owned());
        interface.address = address.filter(|address| !address.is_empty()).map(|address| at(address, line));
        return !interface.name.is_empty() && !interface.name.contains(' ');
    }
    let Some((name, rest)) = text.split_once(": flags=") else { return false };
    let Some((flags, rest)) = rest.split_once('<').and_then(|(_, rest)| rest.split_once('>')) else { return false };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return false;
    }
    name.clone_into(&mut interface.name);
    let flags: Vec<String> = flags.split(',').filter(|flag| !flag.is_empty()).map(str::to_owned).collect();
    // BSD has SIMPLEX, and prints one space before the MTU.
    let bsd = flags.iter().any(|flag| flag == "SIMPLEX" || flag == "SMART") || !rest.starts_with("  mtu");
    interface.system = if bsd { System::Bsd } else { System::Linux };
    interface.flags = Some(At::new(flags, line));
    interface.mtu = number_after(rest, "mtu ").map(|mtu| At::new(mtu, line));
    true
}

fn at(text: &str, line: u32) -> At<String> {
    At::new(text.to_owned(), line)
}

/// The number right behind a key.
fn number_after<T: std::str::FromStr>(text: &str, key: &str) -> Option<T> {
    let rest = text[text.find(key)? + key.len()..].trim_start();
    let end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Words of counters, and their names; the side stands at the beginning of the line.
const COUNTERS: &[(&str, &str, &str)] = &[
    ("RX", "packets", "rx_packets"),
    ("RX", "bytes", "rx_bytes"),
    ("RX", "errors", "rx_errors"),
    ("RX", "dropped", "rx_dropped"),
    ("RX", "overruns", "rx_fifo_errors"),
    ("RX", "frame", "rx_frame_errors"),
    ("RX", "compressed", "rx_compressed"),
    ("TX", "packets", "tx_packets"),
    ("TX", "bytes", "tx_bytes"),
    ("TX", "errors", "tx_errors"),
    ("TX", "dropped", "tx_dropped"),
    ("TX", "overruns", "tx_fifo_errors"),
    ("TX", "carrier", "tx_carrier_errors"),
    ("TX", "collisions", "collisions"),
    ("TX", "compressed", "tx_compressed"),
];

/// The counters of a line: `RX packets:5 errors:0 dropped:0 overruns:0 frame:0`, `RX errors 0  dropped 0 ...`,
/// `RX bytes:38165404 (36.3 MiB)  TX bytes:23844353 (22.7 MiB)`, `collisions:0 txqueuelen:1000`.
fn counters(text: &str) -> Option<Vec<(&'static str, u64)>> {
    let mut side = match text.split([' ', ':']).next()? {
        side @ ("RX" | "TX") => side,
        "collisions" => "TX",
        _ => return None,
    };
    let mut rows = Vec::new();
    let mut words = text.split([' ', '\t', ':']).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        if word == "RX" || word == "TX" {
            side = word;
            continue;
        }
        let known = COUNTERS.iter().find(|(of, key, _)| *of == side && *key == word);
        let Some((_, _, name)) = known else { continue };
        let value = words.next_if(|next| next.bytes().all(|byte| byte.is_ascii_digit()))?;
        rows.push((*name, value.parse().ok()?));
    }
    (!rows.is_empty()).then_some(rows)
}

/// Reads a line below the first; false where it is none of this interface.
fn row(interface: &mut Interface, line: Line<'_>) -> bool {
    let (text, number) = (line.text.trim(), line.number);
    let linux = interface.system != System::Bsd;
    if linux && let Some(rows) = counters(text) {
        if rows.iter().any(|(name, _)| interface.counters.iter().any(|held| held.value.0 == *name)) {
            return false;
        }
        interface.counters.extend(rows.into_iter().map(|row| At::new(row, number)));
        interface.txqueuelen =
            number_after(text, "txqueuelen:").map(|length| At::new(length, number)).or(interface.txqueuelen.take());
        return true;
    }
    let mut words = text.split_ascii_whitespace();
    let Some(first) = words.next() else { return true };
    let second = words.next().unwrap_or_default();
    match first {
        "inet" if second.starts_with("addr:") => {
            let prefix = after(text, "Mask:").and_then(prefix);
            address(interface, &second["addr:".len()..], prefix, number);
        }
        "inet6" if second == "addr:" => address(interface, words.next().unwrap_or_default(), None, number),
        "inet6" if second.starts_with("addr:") => address(interface, &second["addr:".len()..], None, number),
        "inet" => address(interface, second, after(text, "netmask ").and_then(prefix), number),
        "inet6" => {
            let prefix = number_after(text, "prefixlen ");
            address(interface, second.split('%').next().unwrap_or_default(), prefix, number);
        }
        "ether" | "loop" | "infiniband" | "unspec" | "tunnel" | "ppp" | "sit" | "slip" if linux => {
            if first == "ether" {
                interface.address = Some(at(second, number));
            }
            interface.hardware = Some(first.to_owned());
            interface.txqueuelen = number_after(text, "txqueuelen ").map(|length| At::new(length, number));
        }
        _ if text.contains("MTU:") && text.contains("Metric:") => {
            let flags = text.split("MTU:").next().unwrap_or_default();
            let flags: Vec<String> = flags.split_ascii_whitespace().map(str::to_owned).collect();
            interface.flags = Some(At::new(flags, number));
            interface.mtu = number_after(text, "MTU:").map(|mtu| At::new(mtu, number));
        }
        _ if first.starts_with("Interrupt:") || text.starts_with("Base address:") || text.starts_with("Memory:") => {}
        "device" if second == "interrupt" || second == "memory" || second == "base" => {}
        "UP" | "DOWN" | "[NO" | "NOARP" | "POINTOPOINT" | "EtherTalk" | "Media:" | "media" => {}
        _ if !linux => {
            let known = [
                "options=",
                "ether",
                "media:",
                "status:",
                "nd6",
                "lladdr",
                "groups:",
                "index",
                "priority:",
                "supported",
                "id",
                "member:",
                "description:",
                "hwaddr",
                "plugged:",
                "vendor:",
                "Configuration:",
                "vlan:",
                "vnetid:",
                "root",
                "maxage",
                "ipfilter",
                "laggproto",
                "laggport:",
                "capabilities=",
                "llprio",
                "enabled=",
                "address:",
                "agent",
                "link",
                "type:",
                "state",
                "scheduler:",
                "uplink",
                "effective",
                "generation",
                "desc:",
                "eflags=",
            ];
            return known.iter().any(|known| first.starts_with(known));
        }
        _ => return false,
    }
    true
}

/// The word right behind a key.
fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text[text.find(key)? + key.len()..].split_ascii_whitespace().next()
}

/// Length of a netmask: `255.255.255.0`, on a BSD `0xffffff00`.
fn prefix(mask: &str) -> Option<u8> {
    let bits = match mask.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => mask.parse::<Ipv4Addr>().ok()?.to_bits(),
    };
    (bits.leading_ones() + bits.trailing_zeros() == 32).then_some(bits.leading_ones() as u8)
}

/// Adds an address, if it is one: people cross them out.
fn address(interface: &mut Interface, text: &str, prefix: Option<u8>, line: u32) {
    let (own, length) = text.split_once('/').unwrap_or((text, ""));
    let Ok(own) = own.parse::<std::net::IpAddr>() else { return };
    if let Some(prefix) = length.parse().ok().or(prefix) {
        interface.addresses.push(At::new(format!("{own}/{prefix}"), line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str, headless: bool) -> (Vec<Interface>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor, headless), cursor.position())
    }

    fn get(interface: &Interface, name: &str) -> Option<u64> {
        interface.counters.iter().find(|at| at.value.0 == name).map(|at| at.value.1)
    }

    const OLD: &str = "\
eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:01  
          inet addr:192.0.2.12  Bcast:192.0.2.255  Mask:255.255.255.0
          inet6 addr: fe80::1/64 Scope:Link
          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1
          RX packets:3811442658 errors:7 dropped:7183 overruns:1 frame:5
          TX packets:3587842070 errors:0 dropped:0 overruns:0 carrier:2
          collisions:3 txqueuelen:1000 
          RX bytes:3492834266631 (3.4 TB)  TX bytes:4635258443813 (4.6 TB)
          Interrupt:20 Memory:fe500000-fe520000 

lo        Link encap:Local Loopback  
          inet addr:127.0.0.1  Mask:255.0.0.0
          UP LOOPBACK RUNNING  MTU:65536  Metric:1
NIC statistics:
";

    #[test]
    fn the_old_form() {
        let (found, taken) = read(OLD, false);
        assert_eq!((found.len(), taken), (2, 13));
        let eth0 = &found[0];
        assert_eq!((eth0.name.as_str(), eth0.system), ("eth0", System::OldLinux));
        assert_eq!(eth0.mtu, Some(At::new(1500, 4)));
        assert_eq!(eth0.flags.as_ref().unwrap().value, ["UP", "BROADCAST", "RUNNING", "MULTICAST"]);
        assert_eq!(eth0.address, Some(At::new("02:00:00:00:00:01".to_owned(), 1)));
        let addresses: Vec<&str> = eth0.addresses.iter().map(|at| at.value.as_str()).collect();
        assert_eq!(addresses, ["192.0.2.12/24", "fe80::1/64"]);
        assert_eq!(eth0.txqueuelen, Some(At::new(1000, 7)));
        for (name, value) in [
            ("rx_packets", 3_811_442_658),
            ("rx_errors", 7),
            ("rx_dropped", 7183),
            ("rx_fifo_errors", 1),
            ("rx_frame_errors", 5),
            ("tx_carrier_errors", 2),
            ("collisions", 3),
            ("rx_bytes", 3_492_834_266_631),
            ("tx_bytes", 4_635_258_443_813),
        ] {
            assert_eq!(get(eth0, name), Some(value), "{name}");
        }
        assert_eq!(found[1].hardware.as_deref(), Some("Local Loopback"));
    }

    #[test]
    fn the_new_form() {
        let text = "enp6s0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000\n\
                    \u{20}       inet 10.0.0.1  netmask 255.255.240.0  broadcast 10.0.15.255\n\
                    \u{20}       inet6 fe80::1  prefixlen 64  scopeid 0x20<link>\n\
                    \u{20}       ether 02:00:00:00:00:01  txqueuelen 500  (Ethernet)\n\
                    \u{20}       RX packets 617659  bytes 350097816 (350.0 MB)\n\
                    \u{20}       RX errors 0  dropped 13262  overruns 0  frame 4\n\
                    \u{20}       TX packets 567456  bytes 374999164 (374.9 MB)\n\
                    \u{20}       TX errors 0  dropped 0 overruns 0  carrier 0  collisions 9\n\
                    \u{20}       device interrupt 20  memory 0xfe500000-fe520000  \n\n\
                    eth1: flags=4099<UP,BROADCAST,MULTICAST>  mtu 1500\n";
        let (found, taken) = read(text, false);
        assert_eq!((found.len(), taken), (2, 11));
        assert_eq!((found[0].system, found[0].mtu.as_ref().unwrap().value), (System::Linux, 9000));
        assert_eq!(found[0].addresses[0].value, "10.0.0.1/20");
        assert_eq!(found[0].txqueuelen.as_ref().unwrap().value, 500);
        assert_eq!((get(&found[0], "rx_dropped"), get(&found[0], "collisions")), (Some(13_262), Some(9)));
        assert_eq!(get(&found[0], "tx_bytes"), Some(374_999_164));
    }

    #[test]
    fn what_a_filter_left_are_samples() {
        let text = "        RX errors 0  dropped 88791  overruns 0  frame 0\n".repeat(2) + "done\n";
        let (found, taken) = read(&text, true);
        assert_eq!((found.len(), taken), (2, 2));
        assert_eq!(read(&text, false), (Vec::new(), 0));
        let (found, _) = read("RX packets 5  bytes 7 (7.0 B)\nRX errors 1  dropped 2  overruns 0  frame 0\n", true);
        assert_eq!((found.len(), get(&found[0], "rx_bytes"), get(&found[0], "rx_dropped")), (1, Some(7), Some(2)));
    }

    #[test]
    fn a_bsd_is_told_apart() {
        let text = "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\
                    \toptions=4219b<RXCSUM,TXCSUM>\n\tether 02:00:00:00:00:01\n\
                    \tinet 10.0.0.1 netmask 0xffffff00 broadcast 10.0.0.255\n\
                    \tmedia: Ethernet autoselect (1000baseT <full-duplex>)\n\tstatus: active\n";
        let (found, taken) = read(text, false);
        assert_eq!((found[0].system, found[0].mtu.as_ref().unwrap().value, taken), (System::Bsd, 1500, 6));
        assert_eq!(found[0].addresses[0].value, "10.0.0.1/24");
    }

    #[test]
    fn odd_lines_are_none() {
        for text in [
            "eth0: <UP> mtu 1500",
            "a b: flags=1<UP>  mtu 5",
            " Link encap:Ethernet",
            "x: flags=",
            "RX",
            "RX packets:",
            "",
        ] {
            assert!(!begins(text), "{text}");
        }
        assert_eq!(counters("RX packets:x errors:0"), None);
        assert_eq!(prefix("255.0.255.0"), None);
        assert_eq!(prefix("0.0.0.0"), Some(0));
    }
}
