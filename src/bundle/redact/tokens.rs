//! Addresses and identifiers in a text, in each of their spellings.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// How a hardware address is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `00:11:22:33:44:55` and `00-11-22-33-44-55`, by the mark between the bytes.
    Pairs(char),
    /// `0011.2233.4455`.
    Dotted,
    /// `001122334455`.
    Bare,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A hardware address of 6, 8 or 20 bytes.
    Hardware(Vec<u8>, Spelling),
    /// An IPv4 address, and the length of the network behind it.
    V4(Ipv4Addr, Option<u32>),
    /// An IPv6 address, likewise.
    V6(Ipv6Addr, Option<u32>),
    /// A UUID, or 32 or 64 hex digits such as a machine's or a container's identifier.
    Identifier,
}

/// Something in a text. The range is that of the address without the length of its network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub range: Range<usize>,
    pub kind: Kind,
}

/// What the names of network devices begin with that systemd makes of a hardware address.
const NAMED: [&[u8]; 6] = [b"en", b"wl", b"ww", b"sl", b"ib", b"mc"];

/// Everything in a text, in order. `known` says whether six bytes are a hardware address that stands elsewhere in another
/// spelling; without that, digits alone are none.
pub(super) fn tokens(text: &str, known: &dyn Fn(&[u8]) -> bool) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes[at].is_ascii_hexdigit();
        if !hex && bytes[at] != b':' {
            at += 1;
            continue;
        }
        let starts = at == 0 || !is_word(bytes[at - 1]);
        let token = if starts { token(text, at, known) } else { None };
        let token = token.or_else(|| hex.then(|| bare(bytes, at, known)).flatten());
        match token {
            Some(token) => {
                at = token.range.end;
                found.push(token);
            }
            None => at += 1,
        }
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// What begins at the beginning of a word.
fn token(text: &str, at: usize, known: &dyn Fn(&[u8]) -> bool) -> Option<Token> {
    let bytes = text.as_bytes();
    let before = if at == 0 { 0 } else { bytes[at - 1] };
    if bytes[at].is_ascii_hexdigit()
        && let Some(token) = pairs(bytes, at).or_else(|| identifier(bytes, at)).or_else(|| dotted(bytes, at, known))
    {
        return Some(token);
    }
    if let Some(token) = v6(text, at) {
        return Some(token);
    }
    let inside = before == b'.' && at > 1 && bytes[at - 2].is_ascii_digit();
    if bytes[at].is_ascii_digit() && !inside { v4(text, at) } else { None }
}

fn run(bytes: &[u8], at: usize, fits: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().take_while(|byte| fits(**byte)).count()
}

fn nibbles(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

/// 6, 8 or 20 pairs of hex digits.
fn pairs(bytes: &[u8], at: usize) -> Option<Token> {
    let mark = *bytes.get(at + 2)?;
    if mark != b':' && mark != b'-' {
        return None;
    }
    let mut digits = Vec::new();
    let mut end = at;
    loop {
        if run(bytes, end, |byte| byte.is_ascii_hexdigit()) != 2 {
            return None;
        }
        digits.extend_from_slice(&bytes[end..end + 2]);
        end += 2;
        let goes_on = bytes.get(end) == Some(&mark) && bytes.get(end + 1).is_some_and(u8::is_ascii_hexdigit);
        // A port or a remark may stand behind the last one: `52:54:00:12:34:56-eth0`.
        let is_whole = [12, 16, 40].contains(&digits.len());
        if !goes_on || (is_whole && run(bytes, end + 1, is_word) != 2) {
            break;
        }
        end += 1;
    }
    let is_end = bytes.get(end).is_none_or(|byte| !is_word(*byte)) && bytes.get(end..end + 2) != Some(b"::");
    let spelling = Spelling::Pairs(char::from(mark));
    ([12, 16, 40].contains(&digits.len()) && is_end)
        .then(|| Token { range: at..end, kind: Kind::Hardware(nibbles(&digits), spelling) })
}

/// `0011.2233.4455`, where that is a known address: versions look alike.
fn dotted(bytes: &[u8], at: usize, known: &dyn Fn(&[u8]) -> bool) -> Option<Token> {
    let piece = bytes.get(at..at + 14)?;
    let digits: Vec<u8> = piece.iter().copied().filter(u8::is_ascii_hexdigit).collect();
    let fits = piece[4] == b'.' && piece[9] == b'.' && digits.len() == 12;
    let is_end = bytes.get(at + 14).is_none_or(|byte| !is_word(*byte));
    let address = nibbles(&digits);
    (fits && is_end && known(&address))
        .then(|| Token { range: at..at + 14, kind: Kind::Hardware(address, Spelling::Dotted) })
}

/// Twelve hex digits: in a name that systemd makes, or a known address, which may stand in a longer run of them.
fn bare(bytes: &[u8], at: usize, known: &dyn Fn(&[u8]) -> bool) -> Option<Token> {
    let digits = bytes.get(at..at + 12).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    let before = at > 0 && bytes[at - 1].is_ascii_hexdigit();
    let is_alone = !before && bytes.get(at + 12).is_none_or(|byte| !byte.is_ascii_hexdigit());
    let address = nibbles(digits);
    let named = at >= 3 && bytes[at - 1] == b'x' && NAMED.contains(&&bytes[at - 3..at - 1]);
    let starts = at < 4 || !bytes[at - 4].is_ascii_alphanumeric();
    // Digits in a longer number are that number.
    let is_number = digits.iter().all(u8::is_ascii_digit)
        && (at > 0 && bytes[at - 1].is_ascii_digit() || bytes.get(at + 12).is_some_and(u8::is_ascii_digit));
    (named && starts && is_alone || !is_number && known(&address))
        .then(|| Token { range: at..at + 12, kind: Kind::Hardware(address, Spelling::Bare) })
}

fn identifier(bytes: &[u8], at: usize) -> Option<Token> {
    let mut end = at;
    let lower = run(bytes, at, |byte| byte.is_ascii_hexdigit());
    if lower == 32 || lower == 64 {
        end += lower;
    } else {
        for (part, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
            if part > 0 {
                if bytes.get(end) != Some(&b'-') {
                    return None;
                }
                end += 1;
            }
            if end >= bytes.len() || run(bytes, end, |byte| byte.is_ascii_hexdigit()) != length {
                return None;
            }
            end += length;
        }
    }
    bytes.get(end).is_none_or(|byte| !is_word(*byte)).then_some(Token { range: at..end, kind: Kind::Identifier })
}

/// The length of a network behind an address.
fn length(bytes: &[u8], at: usize) -> Option<u32> {
    if bytes.get(at) != Some(&b'/') {
        return None;
    }
    let digits = run(bytes, at + 1, |byte| byte.is_ascii_digit());
    if digits > 3 || bytes.get(at + 1 + digits).is_some_and(|byte| is_word(*byte)) {
        return None;
    }
    std::str::from_utf8(&bytes[at + 1..at + 1 + digits]).ok()?.parse().ok()
}

fn v4(text: &str, at: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    let mut end = at;
    let mut octets = [0; 4];
    for (part, octet) in octets.iter_mut().enumerate() {
        if part > 0 {
            if bytes.get(end) != Some(&b'.') {
                return None;
            }
            end += 1;
        }
        let digits = if end < bytes.len() { run(bytes, end, |byte| byte.is_ascii_digit()) } else { 0 };
        if digits == 0 || digits > 3 {
            return None;
        }
        *octet = text[end..end + digits].parse().ok()?;
        end += digits;
    }
    let goes_on = bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    if goes_on || bytes.get(end).is_some_and(|byte| is_word(*byte)) {
        return None;
    }
    let length = length(bytes, end).filter(|length| *length <= 32);
    Some(Token { range: at..end, kind: Kind::V4(octets.into(), length) })
}

fn v6(text: &str, at: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    // Names in programs have such marks too: `a::b::c`.
    if at > 1 && &bytes[at - 2..at] == b"::" {
        return None;
    }
    if bytes[at] == b':' && (bytes.get(at + 1) != Some(&b':') || at > 0 && bytes[at - 1] == b':') {
        return None;
    }
    let mut end = at + run(bytes, at, |byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.');
    // The run may go on into a word, or end with the mark of a sentence.
    loop {
        let piece = &text[at..end];
        if piece.bytes().filter(|byte| *byte == b':').count() < 2 || piece.len() > 45 + 32 {
            return None;
        }
        let ends_oddly =
            bytes.get(end..end + 2) == Some(b"::") || piece.ends_with(':') && bytes.get(end) == Some(&b':');
        let is_end = bytes.get(end).is_none_or(|byte| !is_word(*byte)) && !ends_oddly;
        if let Some(address) = is_end.then(|| piece.parse::<Ipv6Addr>().ok()).flatten() {
            let length = length(bytes, end).filter(|length| *length <= 128);
            return Some(Token { range: at..end, kind: Kind::V6(address, length) });
        }
        end = at + piece.rfind([':', '.'])?;
        // `fd00::` ends with both marks.
        if end > at && bytes[end - 1] == b':' && bytes[end] == b':' && text[at..=end].parse::<Ipv6Addr>().is_ok() {
            let range = at..end + 1;
            if bytes.get(range.end).is_none_or(|byte| !is_word(*byte) && *byte != b':') {
                let length = length(bytes, range.end).filter(|length| *length <= 128);
                return text[range.clone()]
                    .parse()
                    .ok()
                    .map(|address| Token { range, kind: Kind::V6(address, length) });
            }
        }
    }
}

/// A hardware address as it was spelled, in the case of its digits.
pub(super) fn spelled(address: &[u8], spelling: Spelling, like: &str) -> String {
    let upper = like.bytes().any(|byte| byte.is_ascii_uppercase());
    let mut out = String::new();
    for (at, byte) in address.iter().enumerate() {
        match spelling {
            Spelling::Pairs(mark) if at > 0 => out.push(mark),
            Spelling::Dotted if at > 0 && at % 2 == 0 => out.push('.'),
            _ => {}
        }
        out += &if upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let known = |address: &[u8]| address == [0, 0x11, 0x22, 0x33, 0x44, 0x55];
        tokens(text, &known).into_iter().map(|token| &text[token.range]).collect()
    }

    #[test]
    fn addresses_are_found_in_each_spelling() {
        for (text, wanted) in [
            ("link/ether 00:11:22:33:44:55 brd ff:ff:ff:ff:ff:ff", &["00:11:22:33:44:55", "ff:ff:ff:ff:ff:ff"][..]),
            ("00-11-22-AA-BB-CC.", &["00-11-22-AA-BB-CC"]),
            ("52:54:00:12:34:56-eth0", &["52:54:00:12:34:56"]),
            ("0011.2233.4455 and 1234.5678.9012", &["0011.2233.4455"]),
            ("enx0a1b2c3d4e5f: up", &["0a1b2c3d4e5f"]),
            ("rename001122334455", &["001122334455"]),
            ("1001122334455, 9001122334455f", &[]),
            ("br-1a2b3c4d5e6f", &[]),
            (
                "a0:00:02:20:fe:80:00:00:00:00:00:00:00:02:c9:03:00:01:02:03",
                &["a0:00:02:20:fe:80:00:00:00:00:00:00:00:02:c9:03:00:01:02:03"],
            ),
            ("guid 00:02:c9:03:00:01:02:03", &["00:02:c9:03:00:01:02:03"]),
            ("192.0.2.7:5201 10.0.0.0/8, 192.0.2.9.", &["192.0.2.7", "10.0.0.0", "192.0.2.9"]),
            ("10.0.0.1-10.0.0.9 (10.0.0.3)", &["10.0.0.1", "10.0.0.9", "10.0.0.3"]),
            ("[2001:db8::7]:443 fe80::1%eth0 ::1 fd00::/8", &["2001:db8::7", "fe80::1", "::1", "fd00::"]),
            ("from 2001:db8::7: timed out", &["2001:db8::7"]),
            ("at fd00::2:eth0", &["fd00::2"]),
            ("::ffff:192.0.2.7", &["::ffff:192.0.2.7"]),
            ("4c4c4544-0042-3510-8052-b4c04f4a5231", &["4c4c4544-0042-3510-8052-b4c04f4a5231"]),
            ("id 0123456789abcdef0123456789abcdef", &["0123456789abcdef0123456789abcdef"]),
            ("inet:192.0.2.7", &["192.0.2.7"]),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_only_looks_alike_is_left() {
        for text in [
            "0000:01:00.0",
            "14e4:1750 14e4:2100",
            "12:34:56",
            "2026-12-01 15:30:00",
            "version 5.1.6-k 6.12.0",
            "1.2.3.4.5",
            "v1.2.3.4x",
            "300.1.1.1",
            "a::b::c",
            "cpu::x",
            "face",
            "00:11:22:33:44",
            "\u{e9}00:11:22:33:44:55\u{e9}",
            "",
            ":",
            "::::",
            ":::1",
            "1-2-3",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn networks_have_their_length() {
        let kinds = |text: &str| tokens(text, &|_| false).into_iter().map(|token| token.kind).collect::<Vec<_>>();
        assert_eq!(kinds("192.0.2.0/24"), [Kind::V4("192.0.2.0".parse().unwrap(), Some(24))]);
        assert_eq!(kinds("192.0.2.0/240"), [Kind::V4("192.0.2.0".parse().unwrap(), None)]);
        assert_eq!(kinds("fd00::/64"), [Kind::V6("fd00::".parse().unwrap(), Some(64))]);
        assert_eq!(kinds("192.0.2.7/5201/x").len(), 1);
    }

    #[test]
    fn spellings_are_kept() {
        let address = [0, 0x11, 0x22, 0xaa, 0xbb, 0xcc];
        for text in ["00:11:22:aa:bb:cc", "00-11-22-AA-BB-CC", "enx001122aabbcc"] {
            let all = tokens(text, &|_| false);
            let Kind::Hardware(bytes, spelling) = &all[0].kind else { panic!("{text}") };
            assert_eq!(bytes, &address);
            assert_eq!(spelled(bytes, *spelling, &text[all[0].range.clone()]), text[all[0].range.clone()]);
        }
        assert_eq!(spelled(&address, Spelling::Dotted, "0011.22aa.bbcc"), "0011.22aa.bbcc");
    }
}
