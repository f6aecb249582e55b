//! `ip neigh`, and the older views of the same table: `arp -an`, `arp -n` and /proc/net/arp.

use std::net::IpAddr;

use super::words::Words;

/// States of a neighbour.
pub const STATES: [&str; 8] = ["INCOMPLETE", "REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "NOARP", "PERMANENT"];

/// A neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its address.
    pub address: IpAddr,
    /// Interface by which it is reached.
    pub device: String,
    /// Hardware address; none where it is not known.
    pub hardware: Option<String>,
    /// State as `ip neigh` prints it; none in the older forms, which have only complete or not.
    pub state: Option<String>,
    /// Somebody else put it there, such as a routing daemon.
    pub is_learned: bool,
}

impl Neighbour {
    /// True for an entry that counts against the limit of the table: the kernel does not count what it may not throw away.
    pub fn is_counted(&self) -> bool {
        !self.is_learned && !matches!(self.state.as_deref(), Some("PERMANENT" | "NOARP"))
    }
}

/// A line of `ip neigh`.
pub fn row(text: &str) -> Option<Neighbour> {
    let mut words = Words::default();
    words.add(text, 0);
    let address = text.split_ascii_whitespace().next()?.parse().ok()?;
    let state = STATES.iter().find(|state| words.has(state));
    let hardware = words.after("lladdr").map(|at| at.value.to_owned());
    if state.is_none() && hardware.is_none() {
        return None;
    }
    let device = words.after("dev")?.value.to_owned();
    let is_learned = words.has("extern_learn");
    Some(Neighbour { address, device, hardware, state: state.map(|state| (*state).to_owned()), is_learned })
}

/// The headline of `arp -n`, and that of /proc/net/arp.
pub fn is_headline(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("Address ") && text.contains("HWtype") && text.ends_with("Iface")
        || text.starts_with("IP address ") && text.ends_with("Device")
}

/// A line of `arp -an`, `arp -n` or /proc/net/arp.
pub fn arp_row(text: &str) -> Option<Neighbour> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let hardware = |word: &str| is_hardware(word).then(|| word.to_owned());
    // ? (192.0.2.1) at 02:00:00:00:00:05 [ether] on eth0
    if let [_, address, "at", at, .., "on", device] = words.as_slice() {
        let address = address.strip_prefix('(')?.strip_suffix(')')?.parse().ok()?;
        let device = (*device).to_owned();
        // `PERM` follows what an administrator entered.
        let state = words.contains(&"PERM").then(|| "PERMANENT".to_owned());
        return Some(Neighbour { address, device, hardware: hardware(at), state, is_learned: false });
    }
    let (first, last) = (words.first()?, words.last()?);
    let address = first.parse().ok()?;
    let found = words.iter().find_map(|word| hardware(word));
    let incomplete = words.contains(&"(incomplete)");
    (words.len() >= 3 && (found.is_some() || incomplete)).then(|| Neighbour {
        address,
        device: (*last).to_owned(),
        hardware: found,
        // The flag M of `arp -n`, and the bit 4 of /proc/net/arp.
        state: words.iter().any(|word| matches!(*word, "CM" | "0x6")).then(|| "PERMANENT".to_owned()),
        is_learned: false,
    })
}

fn is_hardware(word: &str) -> bool {
    word.len() == 17 && word.split(':').all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_all_forms() {
        let stale = row("192.0.2.1 dev eth0 lladdr 02:00:00:00:00:05 ref 1 used 0/0/0 probes 4 STALE ").unwrap();
        assert_eq!((stale.device.as_str(), stale.state.as_deref()), ("eth0", Some("STALE")));
        let failed = row("fd00::1 dev eth0  FAILED").unwrap();
        assert_eq!((failed.hardware, failed.state.as_deref()), (None, Some("FAILED")));
        let old = arp_row("? (192.0.2.1) at 02:00:00:00:00:05 [ether] on eth0").unwrap();
        assert_eq!((old.hardware.as_deref(), old.device.as_str()), (Some("02:00:00:00:00:05"), "eth0"));
        assert_eq!(arp_row("? (192.0.2.9) at <incomplete> on eth0").unwrap().hardware, None);
        let table = arp_row("192.0.2.1                ether   02:00:00:00:00:05   C                     eth0").unwrap();
        assert_eq!(table.device, "eth0");
        assert_eq!(
            arp_row("192.0.2.9                        (incomplete)                              eth1")
                .unwrap()
                .hardware,
            None
        );
        assert!(is_headline("Address                  HWtype  HWaddress           Flags Mask            Iface"));
        assert!(is_headline("IP address       HW type     Flags       HW address            Mask     Device"));
        for other in ["bad command or file name", "192.0.2.1 dev eth0 proto kernel", "", "192.0.2.1", "x y z"] {
            assert_eq!((row(other), arp_row(other)), (None, None), "{other}");
        }
    }
}
