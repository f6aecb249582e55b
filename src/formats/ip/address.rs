//! Addresses in `ip addr`: `inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0`.

use std::net::IpAddr;

use super::words::Words;

/// An address of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Our end; none where the text holds no address, as where somebody crossed it out.
    pub local: Option<IpAddr>,
    /// Length of the prefix.
    pub prefix: Option<u8>,
    /// `global`, `link`, `host` ...
    pub scope: Option<String>,
    /// Words that stand alone: `secondary`, `deprecated`, `tentative`, `dadfailed`, `dynamic` ...
    pub flags: Vec<String>,
    /// Where it stands.
    pub line: u32,
}

/// Words of an address that have no value.
const FLAGS: &[&str] = &[
    "secondary",
    "deprecated",
    "tentative",
    "optimistic",
    "dadfailed",
    "temporary",
    "home",
    "dynamic",
    "mngtmpaddr",
    "noprefixroute",
    "autojoin",
    "nodad",
    "permanent",
];

impl Address {
    /// As the snapshot holds it: `192.0.2.7/24`.
    pub fn text(&self) -> Option<String> {
        let local = self.local?;
        let prefix = self.prefix.unwrap_or(if local.is_ipv4() { 32 } else { 128 });
        Some(format!("{local}/{prefix}"))
    }
}

/// Reads a line of an address.
pub fn address(text: &str, line: u32) -> Option<Address> {
    let mut words = text.split_ascii_whitespace();
    let (family, first) = (words.next()?, words.next()?);
    if !matches!(family, "inet" | "inet6") || first.contains(':') && family == "inet" {
        return None;
    }
    let mut rest = Words::default();
    rest.add(text, line);
    // Of a point-to-point link the first address is ours, and the prefix stands with the peer's.
    let (own, prefix) = cut(first);
    let peer = rest.after("peer").and_then(|peer| cut(peer.value).1);
    Some(Address {
        local: own.parse().ok(),
        prefix: prefix.or(peer),
        scope: rest.after("scope").map(|scope| scope.value.to_owned()),
        flags: FLAGS.iter().filter(|flag| rest.has(flag)).map(|flag| (*flag).to_owned()).collect(),
        line,
    })
}

fn cut(text: &str) -> (&str, Option<u8>) {
    match text.split_once('/') {
        Some((address, prefix)) => (address, prefix.parse().ok().filter(|prefix| *prefix <= 128)),
        None => (text, None),
    }
}

/// True for the line below an address: `valid_lft forever preferred_lft forever`.
pub fn is_lifetime(text: &str) -> bool {
    text.trim_start().starts_with("valid_lft ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> Option<String> {
        address(line, 1).unwrap().text()
    }

    #[test]
    fn addresses_with_and_without_a_peer() {
        let read = address("    inet 192.0.2.7/24 brd 192.0.2.255 scope global secondary dynamic eth0", 3).unwrap();
        assert_eq!(
            (read.text().as_deref(), read.scope.as_deref(), read.line),
            (Some("192.0.2.7/24"), Some("global"), 3)
        );
        assert_eq!(read.flags, ["secondary", "dynamic"]);
        assert_eq!(text("inet 10.0.0.1 peer 10.0.0.2/32 scope global ppp0").as_deref(), Some("10.0.0.1/32"));
        assert_eq!(text("inet6 fe80::1/64 scope link tentative").as_deref(), Some("fe80::1/64"));
        assert_eq!(text("inet6 2001:db8::7 scope global").as_deref(), Some("2001:db8::7/128"));
        assert_eq!(text("inet x.y.0.18/16 scope global eth0"), None);
        for other in ["inet addr:10.0.0.1  Bcast:10.0.0.255", "inet", "link/ether 02:00:00:00:00:01", ""] {
            assert_eq!(address(other, 1), None, "{other}");
        }
        assert!(is_lifetime("       valid_lft 86000sec preferred_lft 86000sec"));
    }
}
