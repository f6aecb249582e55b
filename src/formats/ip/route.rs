//! `ip route`, `ip -6 route` and `ip route get`.

use std::net::IpAddr;

use super::parts;
use super::words::Words;
use crate::formats::cursor::{At, Cursor};

/// A route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// `unicast`, `local`, `broadcast`, `blackhole`, `unreachable` ...
    pub kind: String,
    /// `default`, an address or a prefix.
    pub destination: String,
    /// The other words: `via`, `dev`, `metric`, `mtu`, `initcwnd` ... with their values.
    pub words: Words,
    /// Interfaces by which it leaves; several for a multipath route.
    pub devices: Vec<At<String>>,
    /// Where it stands.
    pub line: u32,
}

impl Route {
    /// The metric; 0 where none is printed.
    pub fn metric(&self) -> u32 {
        self.words.number("metric").map_or(0, |at| at.value)
    }

    /// True for a route of the main table to everywhere.
    pub fn is_default(&self) -> bool {
        let main = self.words.after("table").is_none_or(|table| table.value == "main");
        main && self.kind == "unicast" && matches!(self.destination.as_str(), "default" | "0.0.0.0/0" | "::/0")
    }

    /// True where a hop has an IPv6 address, or the destination is one.
    pub fn is_v6(&self) -> bool {
        self.destination.contains(':')
            || self.words.after("via").is_some_and(|via| via.value.contains(':'))
            || self.words.has("pref")
    }

    /// The MTU of the path, and whether it is locked (`mtu lock 1400`).
    pub fn mtu(&self) -> Option<(u32, bool)> {
        match self.words.after("mtu")?.value {
            "lock" => Some((self.words.number("lock")?.value, true)),
            number => Some((number.parse().ok()?, false)),
        }
    }
}

const KINDS: [&str; 11] = [
    "unicast",
    "local",
    "broadcast",
    "multicast",
    "anycast",
    "blackhole",
    "unreachable",
    "prohibit",
    "throw",
    "nat",
    "xresolve",
];

fn is_destination(word: &str) -> bool {
    let address = word.split('/').next().unwrap_or_default();
    word == "default" || address.parse::<IpAddr>().is_ok() || is_short(word)
}

/// `10/8` and `10.1.0/24`, as older versions print them.
fn is_short(word: &str) -> bool {
    let Some((front, length)) = word.split_once('/') else { return false };
    length.parse::<u8>().is_ok_and(|length| length <= 32)
        && front.split('.').count() <= 4
        && front.split('.').all(|part| part.parse::<u8>().is_ok())
}

/// Reads the first line of a route.
pub fn row(text: &str, line: u32) -> Option<Route> {
    let text = parts(text).next()?;
    let mut rest = text.trim();
    let mut word = rest.split_ascii_whitespace().next()?;
    let mut kind = "unicast";
    if let Some(known) = KINDS.iter().find(|kind| **kind == word) {
        kind = known;
        rest = rest[word.len()..].trim_start();
        word = rest.split_ascii_whitespace().next()?;
    }
    if !is_destination(word) {
        return None;
    }
    let mut route = Route { kind: kind.to_owned(), destination: word.to_owned(), line, ..Route::default() };
    route.words.add(&rest[word.len()..], line);
    let known = ["dev", "via", "proto", "nexthop", "scope", "encap", "nhid"];
    let closed = matches!(kind, "blackhole" | "unreachable" | "prohibit" | "throw");
    if !closed && !known.iter().any(|key| route.words.has(key)) || is_neighbour(&route.words) {
        return None;
    }
    route.devices.extend(route.words.after("dev").map(|device| device.map(str::to_owned)));
    Some(route)
}

/// Lines of `ip neigh` begin alike.
fn is_neighbour(words: &Words) -> bool {
    words.has("lladdr") || super::neighbour::STATES.iter().any(|state| words.has(state))
}

/// True for a line that begins the output of `ip route`: sentences begin with "default" too, so `via` or `dev` must follow.
pub fn begins(text: &str) -> bool {
    row(text, 0).is_some_and(|route| route.words.has("dev"))
}

/// Reads the routes.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    while let Some(line) = cursor.peek() {
        if let Some(mut route) = row(line.text, line.number) {
            for part in parts(line.text).skip(1) {
                more(&mut route, part, line.number);
            }
            routes.push(route);
        } else if !routes.last_mut().is_some_and(|route| more(route, line.text, line.number)) {
            break;
        }
        cursor.take();
    }
    routes
}

/// A line that belongs to the route above it: a next hop, or what `ip route get` tells of the cache.
fn more(route: &mut Route, text: &str, line: u32) -> bool {
    let text = text.trim();
    if text.starts_with("nexthop ") {
        let mut words = Words::default();
        words.add(text, line);
        route.devices.extend(words.after("dev").map(|device| device.map(str::to_owned)));
        return true;
    }
    let cache = text == "cache" || text.starts_with("cache ") || text.starts_with("users ");
    if cache {
        route.words.add(text, line);
    }
    cache
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> Vec<Route> {
        let lines = lines(text);
        parse(&mut Cursor::new(&lines))
    }

    #[test]
    fn routes_with_options_and_several_hops() {
        let routes = read(
            "default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.2 metric 100 \n\
             10.8.0.0/16 dev tun0 proto kernel scope link src 10.8.0.1 mtu lock 1400 advmss 1360\n\
             default proto static metric 200 \n\tnexthop via 10.0.0.1 dev eth1 weight 1 \n\tnexthop via 10.0.1.1 dev eth2 weight 1 \n\
             blackhole 203.0.113.0/24 \nlocal 127.0.0.0/8 dev lo table local proto kernel scope host src 127.0.0.1\n\
             fe80::/64 dev eth0 proto kernel metric 256 pref medium\n",
        );
        assert_eq!(routes.len(), 6);
        assert!(routes[0].is_default() && routes[0].metric() == 100 && !routes[0].is_v6());
        assert_eq!(routes[0].devices, [At::new("eth0".to_owned(), 1)]);
        assert_eq!(routes[1].mtu(), Some((1400, true)));
        assert_eq!(routes[2].devices, [At::new("eth1".to_owned(), 4), At::new("eth2".to_owned(), 5)]);
        assert!(!routes[3].is_default() && routes[5].is_v6());
    }

    #[test]
    fn route_get_tells_of_the_cache() {
        let routes =
            read("198.51.100.7 via 192.0.2.1 dev eth0 src 192.0.2.2 uid 0 \n    cache expires 500sec mtu 1400 \n");
        assert_eq!((routes.len(), routes[0].mtu()), (1, Some((1400, false))));
    }

    #[test]
    fn neighbours_and_prose_are_no_routes() {
        for text in [
            "192.0.2.1 dev eth0 lladdr 02:00:00:00:00:05 STALE",
            "fd00::1 dev eth0 FAILED",
            "default is what you get",
            "default         10.0.0.1        0.0.0.0         UG    0      0        0 enp7s0",
            "10.0.0.1: icmp_seq=1",
            "",
        ] {
            assert!(!begins(text), "{text}");
        }
        assert!(begins("10/8 dev eth0  scope link"));
    }
}
