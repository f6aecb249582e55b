//! Other addresses in the place of real ones. Two addresses that share their first bits share as many afterwards, so that
//! what is in one subnet stays in one; ranges that mean something (private, link-local, multicast ...) are kept.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::key::Key;

/// A range of addresses whose first bits stay.
struct Range {
    prefix: u128,
    bits: u32,
    /// The rest stays too.
    whole: bool,
}

const fn v4(a: u8, b: u8, bits: u32, whole: bool) -> Range {
    Range { prefix: ((a as u128) << 24 | (b as u128) << 16) >> (32 - bits), bits, whole }
}

/// Of IPv4. What is masks or broadcast lies in the last one.
const V4: [Range; 8] = [
    v4(0, 0, 8, true),
    v4(127, 0, 8, true),
    v4(224, 0, 3, true),
    v4(10, 0, 8, false),
    v4(100, 64, 10, false),
    v4(169, 254, 16, false),
    v4(172, 16, 12, false),
    v4(192, 168, 16, false),
];
/// Bits of a public IPv4 address that stay.
const V4_KEPT: u32 = 8;

const fn v6(first: u16, bits: u32, whole: bool) -> Range {
    Range { prefix: ((first as u128) << 112) >> (128 - bits), bits, whole }
}

/// Of IPv6: unspecified and loopback; link-local, usually with zeros up to bit 64; unique local; multicast, of which the
/// solicited-node addresses hold the last bits of another one.
const V6: [Range; 7] = [
    Range { prefix: 0, bits: 127, whole: true },
    v6(0xfe80, 10, false),
    v6(0xfe80, 64, false),
    v6(0xfc00, 8, false),
    v6(0xfd00, 8, false),
    v6(0xff00, 8, true),
    Range { prefix: 0xff02_0000_0000_0000_0000_0001_ff00_0000 >> 24, bits: 104, whole: false },
];
/// Bits of any other IPv6 address that stay.
const V6_KEPT: u32 = 16;

/// Of hardware addresses: virtual machines of QEMU share a prefix that nobody owns, and multicast of IPv6 holds the last
/// bits of an IPv6 address.
const MAC: [Range; 2] =
    [Range { prefix: 0x52_54_00, bits: 24, whole: false }, Range { prefix: 0x33_33_ff, bits: 24, whole: false }];

/// Replaces the bits of `value`, which has `width` of them, up to the bit `end`. Each bit is turned or not by what stands
/// before it alone. The first one that may be turned is, so that no address replaces itself.
fn replace(key: &Key, value: u128, width: u32, end: u32, ranges: &[Range], kept: u32) -> u128 {
    let head = |bits: u32| if bits == 0 { 0 } else { value >> (width - bits) };
    let range_of = |at: u32| {
        let inside = |range: &&Range| range.bits <= at && head(range.bits) == range.prefix;
        ranges.iter().filter(inside).max_by_key(|range| range.bits)
    };
    // A bit that leads to or away from a range is not turned.
    let leads = |at: u32| ranges.iter().any(|range| range.bits > at && range.prefix >> (range.bits - at) == head(at));
    let stays = |at: u32| match range_of(at) {
        _ if leads(at) => true,
        Some(range) => range.whole,
        None => at < kept,
    };
    let mut out = value;
    for at in 0..end {
        if stays(at) {
            continue;
        }
        let is_first = at == 0 || stays(at - 1);
        let turned = || {
            let parts: [&[u8]; 2] = [&(width << 16 | at).to_be_bytes(), &head(at).to_be_bytes()];
            key.bytes("address", &parts)[0] & 1 == 1
        };
        if is_first || turned() {
            out ^= 1 << (width - 1 - at);
        }
    }
    out
}

/// The bits of an IP address that are replaced: the host part of a network stays zero, and so does the last bit of all, for
/// the two ends of a link of two addresses.
fn end_of(value: u128, width: u32, length: Option<u32>) -> u32 {
    match length {
        Some(length) if length < width && (length == 0 || value << (128 - width + length) == 0) => {
            length.min(width - 1)
        }
        _ => width - 1,
    }
}

/// Another IPv4 address. `length` is that of the network behind the stroke, if one stands there.
pub(super) fn of_v4(key: &Key, address: Ipv4Addr, length: Option<u32>) -> Ipv4Addr {
    // The masks of one and two bits; all longer ones lie in a range that stays.
    if [0x8000_0000, 0xc000_0000].contains(&address.to_bits()) {
        return address;
    }
    let value = u128::from(address.to_bits());
    let end = end_of(value, 32, length);
    Ipv4Addr::from_bits(u32::try_from(replace(key, value, 32, end, &V4, V4_KEPT)).unwrap_or_default())
}

/// Another IPv6 address.
pub(super) fn of_v6(key: &Key, address: Ipv6Addr, length: Option<u32>) -> Ipv6Addr {
    let value = address.to_bits();
    // IPv4 inside: mapped, and translated by the well-known prefix.
    let carries = [0xffff, 0x0064_ff9b_0000_0000_0000_0000].contains(&(value >> 32));
    if carries && length.is_none_or(|length| length >= 96) {
        let inner = Ipv4Addr::from_bits((value & 0xffff_ffff) as u32);
        let inner = of_v4(key, inner, length.map(|length| length - 96));
        return Ipv6Addr::from_bits(value >> 32 << 32 | u128::from(inner.to_bits()));
    }
    Ipv6Addr::from_bits(replace(key, value, 128, end_of(value, 128, length), &V6, V6_KEPT))
}

/// Another hardware address of 6, 8 or 20 bytes; those of other lengths stay. The vendor stays, and with it what is for all
/// or for nobody. Of an address that no vendor gave only the first byte does.
pub(super) fn of_hardware(key: &Key, bytes: &[u8]) -> Vec<u8> {
    if bytes.iter().all(|byte| *byte == 0) || bytes.iter().all(|byte| *byte == 0xff) {
        return bytes.to_vec();
    }
    match bytes {
        [.., _, _, _, _, _, _, _, _] if bytes.len() == 20 => {
            let (front, guid) = bytes.split_at(12);
            [front, &of_hardware(key, guid)].concat()
        }
        [first, second, third, ..] if [6, 8].contains(&bytes.len()) => {
            let is_solicited = [*first, *second, *third] == [0x33, 0x33, 0xff];
            if bytes.len() == 6 && first & 1 == 1 && !is_solicited {
                return bytes.to_vec();
            }
            let width = 8 * bytes.len() as u32;
            let value = bytes.iter().fold(0, |value, byte| value << 8 | u128::from(*byte));
            let kept = if first & 2 == 2 { 8 } else { 24 };
            let value = replace(key, value, width, width, &MAC, kept);
            value.to_be_bytes()[16 - bytes.len()..].to_vec()
        }
        _ => bytes.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(number: u8) -> Key {
        Key::new([number; 32])
    }

    fn shared(a: u128, b: u128, width: u32) -> u32 {
        ((a ^ b) << (128 - width)).leading_zeros().min(width)
    }

    #[test]
    fn what_means_something_stays() {
        for text in [
            "0.0.0.0",
            "127.0.0.1",
            "127.0.1.1",
            "255.255.255.255",
            "255.255.255.0",
            "255.192.0.0",
            "128.0.0.0",
            "192.0.0.0",
            "224.0.0.251",
            "239.255.255.250",
        ] {
            let address: Ipv4Addr = text.parse().unwrap();
            assert_eq!(of_v4(&key(1), address, None), address);
        }
        for text in ["::", "::1", "ff02::1", "ff02::fb", "::ffff:127.0.0.1"] {
            let address: Ipv6Addr = text.parse().unwrap();
            assert_eq!(of_v6(&key(1), address, None), address);
        }
        for bytes in [[0; 6], [0xff; 6], [1, 0, 0x5e, 0, 0, 1], [0x33, 0x33, 0, 0, 0, 1], [1, 0x80, 0xc2, 0, 0, 2]] {
            assert_eq!(of_hardware(&key(1), &bytes), bytes);
        }
    }

    #[test]
    fn the_ends_of_ranges_stay_in_them() {
        for (text, bits) in [
            ("10.0.0.0", 8),
            ("10.255.255.255", 8),
            ("172.16.0.1", 12),
            ("172.31.255.254", 12),
            ("192.168.0.1", 16),
            ("100.64.0.1", 10),
            ("100.127.255.254", 10),
            ("169.254.169.254", 16),
            ("9.255.255.255", 8),
            ("11.0.0.0", 8),
            ("172.15.255.255", 8),
            ("172.32.0.0", 8),
            ("192.167.255.255", 8),
            ("192.169.0.0", 8),
            ("100.63.255.255", 8),
        ] {
            let address: Ipv4Addr = text.parse().unwrap();
            for number in 0..20 {
                let other = of_v4(&key(number), address, None);
                assert_ne!(other, address);
                assert!(shared(address.to_bits().into(), other.to_bits().into(), 32) >= bits, "{text} {other}");
                assert_eq!(kind(address), kind(other), "{text} {other}");
            }
        }
    }

    /// The range of an address by the definitions of its RFC, without the code above.
    fn kind(address: Ipv4Addr) -> &'static str {
        let [a, b, ..] = address.octets();
        match (a, b) {
            (100, 64..=127) => "shared",
            _ if address.is_private() => "private",
            _ if address.is_link_local() => "link-local",
            _ if address.is_loopback() => "loopback",
            (224.., _) => "multicast and masks",
            (0, _) => "this network",
            _ => "public",
        }
    }

    #[test]
    fn networks_keep_their_host_part_and_hold_their_hosts() {
        for (network, length, host) in [
            ("192.168.1.0", 24, "192.168.1.77"),
            ("10.0.0.0", 8, "10.1.2.3"),
            ("198.51.100.64", 26, "198.51.100.65"),
            ("172.17.0.0", 16, "172.17.255.255"),
        ] {
            let (network, host): (Ipv4Addr, Ipv4Addr) = (network.parse().unwrap(), host.parse().unwrap());
            let mask = !0_u32 << (32 - length);
            for number in 0..20 {
                let other = of_v4(&key(number), network, Some(length));
                assert_eq!(other.to_bits() & !mask, 0);
                assert_eq!(of_v4(&key(number), host, None).to_bits() & mask, other.to_bits());
                // An address with the length of its network behind it is replaced like one without.
                assert_eq!(of_v4(&key(number), host, Some(length)), of_v4(&key(number), host, None));
            }
        }
        // The ends of a link of two addresses stay so, whether the length stands behind them or not.
        for number in 0..20 {
            let ends = ["10.1.0.0", "10.1.0.1"].map(|text| text.parse::<Ipv4Addr>().unwrap());
            let [one, two] = ends.map(|end| of_v4(&key(number), end, Some(31)));
            assert_eq!([one, two], ends.map(|end| of_v4(&key(number), end, None)));
            assert_eq!((one.to_bits() & 1, two.to_bits()), (0, one.to_bits() + 1));
        }
        let any: Ipv4Addr = "0.0.0.0".parse().unwrap();
        assert_eq!(of_v4(&key(1), any, Some(0)), any);
        let (network, host): (Ipv6Addr, Ipv6Addr) = ("2001:db8:7::".parse().unwrap(), "2001:db8:7::9".parse().unwrap());
        let other = of_v6(&key(1), network, Some(64));
        assert_eq!(other.to_bits() as u64, 0);
        assert_eq!(of_v6(&key(1), host, Some(64)).to_bits() >> 64, other.to_bits() >> 64);
        let local: Ipv6Addr = "fe80::".parse().unwrap();
        assert_eq!(of_v6(&key(1), local, Some(64)), local);
        let mapped: Ipv6Addr = "::ffff:192.168.1.77".parse().unwrap();
        let inner = of_v4(&key(1), "192.168.1.77".parse().unwrap(), None);
        assert_eq!(of_v6(&key(1), mapped, None), inner.to_ipv6_mapped());
    }

    #[test]
    fn vendors_stay_and_the_rest_does_not() {
        for (bytes, kept) in [
            (&[0x00, 0x11, 0x22, 0x33, 0x44, 0x55][..], 3),
            (&[0x52, 0x54, 0x00, 1, 2, 3], 3),
            (&[0xf2, 0xff, 0x70, 0x97, 0x93, 0x3c], 1),
            (&[0x33, 0x33, 0xff, 1, 2, 3], 3),
            (&[0x00, 0x02, 0xc9, 3, 0, 1, 2, 3], 3),
            (&[0x80, 0, 0, 0x48, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x00, 0x02, 0xc9, 3, 0, 1, 2, 3], 15),
        ] {
            let other = of_hardware(&key(7), bytes);
            assert_eq!((other.len(), &other[..kept]), (bytes.len(), &bytes[..kept]));
            assert_ne!(other, bytes);
        }
    }

    proptest! {
        #[test]
        fn shared_bits_stay_shared(a: u32, b: u32, number: u8) {
            let key = key(number);
            let (x, y) = (of_v4(&key, Ipv4Addr::from_bits(a), None), of_v4(&key, Ipv4Addr::from_bits(b), None));
            let is_mask = |value: u32| [0x8000_0000, 0xc000_0000].contains(&value);
            prop_assume!(!is_mask(a) && !is_mask(b));
            prop_assert_eq!(shared(a.into(), b.into(), 32), shared(x.to_bits().into(), y.to_bits().into(), 32));
            prop_assert_eq!(kind(Ipv4Addr::from_bits(a)), kind(x));
            let whole = ["loopback", "multicast and masks", "this network"].contains(&kind(x));
            prop_assert_eq!(x == Ipv4Addr::from_bits(a), whole);
        }

        #[test]
        fn neighbours_stay_neighbours(a: u32, bits in 0_u32..32, number: u8) {
            let b = a ^ (1 << bits);
            let (x, y) = (of_v4(&key(number), Ipv4Addr::from_bits(a), None), of_v4(&key(number), Ipv4Addr::from_bits(b), None));
            prop_assert_ne!(x, y);
        }

        #[test]
        fn the_same_holds_for_longer_addresses(a: u128, bits in 0_u32..128, number: u8) {
            let b = a ^ (1 << bits);
            prop_assume!(a >> 32 != 0xffff && b >> 32 != 0xffff);
            let (x, y) = (of_v6(&key(number), Ipv6Addr::from_bits(a), None), of_v6(&key(number), Ipv6Addr::from_bits(b), None));
            prop_assert_eq!(shared(a, b, 128), shared(x.to_bits(), y.to_bits(), 128));
        }

        #[test]
        fn hardware_addresses_never_meet(a: [u8; 6], b: [u8; 6], number: u8) {
            let (x, y) = (of_hardware(&key(number), &a), of_hardware(&key(number), &b));
            prop_assert_eq!(a == b, x == y);
            prop_assert_eq!(x[0], a[0]);
        }
    }
}
