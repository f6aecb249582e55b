//! Which route a packet takes.

use std::net::IpAddr;

use super::traffic::Route;

/// The route with the longest prefix that holds an address; among equals the one with the least metric. Routes of other
/// tables than `main` are left out.
pub fn best_route<'r>(routes: &'r [Route], address: &str) -> Option<&'r Route> {
    let address: IpAddr = address.split('%').next()?.parse().ok()?;
    let main = |route: &&Route| route.table.known().is_none_or(|table| table == "main" || table == "254");
    // `default` is of the family of its next hop.
    let of_family = |route: &&Route| {
        let gateway = route.gateway.known().and_then(|gateway| gateway.parse::<IpAddr>().ok());
        gateway.is_none_or(|gateway| gateway.is_ipv4() == address.is_ipv4())
    };
    let fits = routes
        .iter()
        .filter(main)
        .filter(of_family)
        .filter_map(|route| Some((prefix(&route.destination, address)?, route)));
    fits.min_by_key(|(length, route)| (std::cmp::Reverse(*length), route.metric.known().copied().unwrap_or(0)))
        .map(|(_, route)| route)
}

/// Length of the prefix of a destination that holds the address; `None` if it does not.
fn prefix(destination: &str, address: IpAddr) -> Option<u8> {
    if destination == "default" {
        return Some(0);
    }
    let (network, length) = destination.split_once('/').map_or((destination, None), |(a, b)| (a, Some(b)));
    let network: IpAddr = network.parse().ok()?;
    let (own, theirs, bits) = match (network, address) {
        (IpAddr::V4(own), IpAddr::V4(theirs)) => (u128::from(own.to_bits()), u128::from(theirs.to_bits()), 32),
        (IpAddr::V6(own), IpAddr::V6(theirs)) => (own.to_bits(), theirs.to_bits(), 128),
        _ => return None,
    };
    let length: u8 = length.map_or(Some(bits), |text| text.parse().ok()).filter(|length| *length <= bits)?;
    let shift = u32::from(bits - length);
    let head = |address: u128| address.checked_shr(shift).unwrap_or(0);
    (head(own) == head(theirs)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Reading, SourceId};

    #[test]
    fn the_longest_prefix_wins() {
        let route = |destination: &str, metric: u32| Route {
            destination: destination.into(),
            metric: Reading::Known(metric, SourceId::ASSUMED),
            ..Route::default()
        };
        let routes =
            [route("default", 100), route("10.0.0.0/8", 0), route("10.1.0.0/16", 50), route("10.1.0.0/16", 20)];
        let best =
            |address| best_route(&routes, address).map(|route| (route.destination.as_str(), route.metric.clone()));
        assert_eq!(best("10.1.2.3").unwrap(), ("10.1.0.0/16", Reading::Known(20, SourceId::ASSUMED)));
        assert_eq!(best("10.2.0.1").unwrap().0, "10.0.0.0/8");
        assert_eq!(best("192.0.2.1").unwrap().0, "default");
        assert_eq!(best("2001:db8::1").unwrap().0, "default");
        assert_eq!(best("nonsense"), None);
        assert_eq!(prefix("10.0.0.0/33", IpAddr::from([10, 0, 0, 1])), None);
        assert_eq!(prefix("10.0.0.0/0", IpAddr::from([192, 0, 2, 1])), Some(0));
        assert_eq!(prefix("192.0.2.1", IpAddr::from([192, 0, 2, 1])), Some(32));
    }
}
