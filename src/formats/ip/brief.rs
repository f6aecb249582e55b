//! `ip -br link` and `ip -br addr`: a line for each interface.

use std::net::IpAddr;

use super::link::{Lower, split_name};

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    /// Name.
    pub name: String,
    /// What stands behind the `@`.
    pub lower: Option<Lower>,
    /// Operational state in capitals.
    pub state: String,
    /// Hardware address, and the flags behind it.
    pub link: Option<(String, Vec<String>)>,
    /// Addresses with their prefix.
    pub addresses: Vec<String>,
}

const STATES: [&str; 7] = ["UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP"];

/// Reads a line. One without anything behind the state is an interface without an address.
pub fn parse(text: &str) -> Option<Brief> {
    let mut words = text.split_ascii_whitespace();
    let (name, state) = (words.next()?, words.next()?);
    if !STATES.contains(&state) {
        return None;
    }
    let (name, lower) = split_name(name);
    let mut brief = Brief { name, lower, state: state.to_owned(), link: None, addresses: Vec::new() };
    let rest: Vec<&str> = words.collect();
    if let [address, flags] = rest.as_slice()
        && let Some(flags) = flags.strip_prefix('<').and_then(|flags| flags.strip_suffix('>'))
    {
        brief.link = Some(((*address).to_owned(), flags.split(',').map(str::to_owned).collect()));
        return Some(brief);
    }
    let mut peer = false;
    for word in rest {
        let address = word.split('/').next().unwrap_or_default();
        let is_address = address.parse::<IpAddr>().is_ok();
        match word {
            "peer" => peer = true,
            "metric" => peer = true,
            _ if peer => peer = false,
            _ if is_address => brief.addresses.push(word.to_owned()),
            _ => return None,
        }
    }
    Some(brief)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_addresses() {
        let link =
            parse("eth0@if7         UP             02:fc:00:00:00:01 <BROADCAST,MULTICAST,UP,LOWER_UP> ").unwrap();
        assert_eq!((link.name.as_str(), link.lower, link.state.as_str()), ("eth0", Some(Lower::Elsewhere(7)), "UP"));
        assert_eq!(link.link.unwrap().1.len(), 4);
        let address = parse("lo               UNKNOWN        127.0.0.1/8 ::1/128 ").unwrap();
        assert_eq!(address.addresses, ["127.0.0.1/8", "::1/128"]);
        assert_eq!(parse("ppp0 UNKNOWN 10.0.0.1 peer 10.0.0.2/32").unwrap().addresses, ["10.0.0.1"]);
        assert!(parse("ifb0             DOWN           ").unwrap().addresses.is_empty());
        for other in ["eth0 up 1.2.3.4", "link UP and running", "", "UP"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
