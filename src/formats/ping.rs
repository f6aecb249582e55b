//! `ping` of iputils, BusyBox, the BSDs and Windows.

use super::cursor::{At, Cursor};

/// What one run tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ping {
    /// Line of the first line.
    pub line: u32,
    /// Who was asked, as it is printed.
    pub target: Option<String>,
    /// Bytes of the payload; a packet has 28 more with IPv4.
    pub payload: Option<u32>,
    /// Packets sent.
    pub sent: Option<u64>,
    /// Answers.
    pub received: Option<u64>,
    /// Answers that came more than once.
    pub duplicates: u64,
    /// Largest packet that somebody on the way, or this host itself, let pass where one was too long.
    pub too_long: Option<At<u32>>,
    /// A packet was too long, and it is not said by how much.
    pub needs_fragments: bool,
    /// Least, mean and largest round trip in milliseconds.
    pub round_trip: Option<At<(f64, f64, f64)>>,
}

/// True for a line that begins an output.
pub fn begins(text: &str) -> bool {
    head(text).is_some()
}

/// `PING h (192.0.2.1) 56(84) bytes of data.`, `PING h (192.0.2.1): 56 data bytes`, `Pinging h with 32 bytes of data:`.
fn head(text: &str) -> Option<(String, Option<u32>)> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix("Pinging ") {
        let (target, rest) = rest.split_once(" with ")?;
        let size = rest.strip_suffix(" bytes of data:")?;
        return Some((target.to_owned(), size.parse().ok()));
    }
    let rest = text.strip_prefix("PING ").or_else(|| text.strip_prefix("PING6("))?;
    if !rest.contains("bytes") {
        return None;
    }
    let target = rest.split([' ', ':']).next()?.to_owned();
    // The first number with `(`, or before `data bytes`.
    let mut words = rest.split_ascii_whitespace();
    let size = words.find_map(|word| {
        let end = word.find(|char: char| !char.is_ascii_digit()).unwrap_or(word.len());
        (end > 0 && (end == word.len() || word[end..].starts_with('('))).then(|| word[..end].parse().ok()).flatten()
    });
    Some((target, size))
}

/// Reads one run; without its head only behind a command that names it.
pub fn parse(cursor: &mut Cursor<'_>, headless: bool) -> Option<Ping> {
    let mut ping = Ping { line: cursor.peek()?.number, ..Ping::default() };
    if let Some(head) = cursor.take_if(head) {
        ping.target = Some(head.value.0);
        ping.payload = head.value.1;
    } else if !headless {
        return None;
    }
    let start = cursor.position();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        if !row(&mut ping, line.text.trim(), line.number) {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    (ping.target.is_some() || cursor.position() > start).then_some(ping)
}

/// The number behind a key.
fn number_after(text: &str, key: &str) -> Option<u32> {
    let rest = text[text.find(key)? + key.len()..].trim_start_matches([' ', '=']);
    let end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn row(ping: &mut Ping, text: &str, line: u32) -> bool {
    let lower = text.to_ascii_lowercase();
    let reply = lower.contains(" bytes from ") && (lower.contains("seq=") || lower.contains("ttl="));
    if reply || lower.starts_with("reply from ") {
        ping.duplicates += u64::from(text.contains("(DUP!)"));
        return true;
    }
    if lower.contains("message too long") || lower.contains("frag needed") || lower.contains("packet too big") {
        let most = number_after(&lower, "mtu");
        match most {
            Some(most) => ping.too_long = Some(At::new(most, line)),
            None => ping.needs_fragments = true,
        }
        return true;
    }
    if lower.contains("needs to be fragmented") {
        ping.needs_fragments = true;
        return true;
    }
    if let Some((front, rest)) = lower.split_once(" packets transmitted, ") {
        ping.sent = front.trim().parse().ok();
        ping.received = rest.split(' ').next().and_then(|word| word.parse().ok());
        return true;
    }
    if let Some(rest) = lower.strip_prefix("packets: ") {
        ping.sent = number_after(rest, "sent").map(u64::from);
        ping.received = number_after(rest, "received").map(u64::from);
        return true;
    }
    if let Some((front, rest)) = lower.split_once(" = ")
        && (front.starts_with("rtt min/avg/max") || front.starts_with("round-trip min/avg/max"))
    {
        let mut figures = rest.split([' ', '/']).map_while(|figure| figure.parse::<f64>().ok());
        if let (Some(least), Some(mean), Some(most)) = (figures.next(), figures.next(), figures.next()) {
            ping.round_trip = Some(At::new((least, mean, most), line));
        }
        return true;
    }
    if lower.starts_with("minimum = ") {
        let figure = |key: &str| number_after(&lower, key).map(f64::from);
        if let (Some(least), Some(most), Some(mean)) = (figure("minimum"), figure("maximum"), figure("average")) {
            ping.round_trip = Some(At::new((least, mean, most), line));
        }
        return true;
    }
    is_mute(&lower)
}

/// Lines that hold no figure.
fn is_mute(lower: &str) -> bool {
    let begins = [
        "--- ",
        "ping statistics for ",
        "approximate round trip",
        "request timed out",
        "request timeout for",
        "no answer yet for",
        "ping: ",
        "ping6: ",
        "control-c",
        "^c",
        "destination host unreachable",
        "destination net unreachable",
        "general failure",
        "ttl expired",
        "transmit failed",
        "hardware error",
        "warning: ",
        "from ",
    ];
    let of_router = |text: &str| text.contains("seq=") || text.contains("unreachable") || text.contains("redirect");
    begins.iter().any(|begin| lower.starts_with(begin)) && (!lower.starts_with("from ") || of_router(lower))
        || !lower.is_empty() && lower.chars().all(|char| ".!e".contains(char))
        || lower.starts_with("pipe ") && lower.len() < 12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Ping, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor, true).unwrap(), cursor.position())
    }

    #[test]
    fn linux_with_and_without_answers() {
        let text = "PING nas (192.0.2.9) 8972(9000) bytes of data.\n8980 bytes from 192.0.2.9: icmp_seq=1 ttl=64 time=0.331 ms\n\
            8980 bytes from 192.0.2.9: icmp_seq=1 ttl=64 time=0.400 ms (DUP!)\n\n--- nas ping statistics ---\n\
            5 packets transmitted, 4 received, +1 duplicates, 20% packet loss, time 4005ms\n\
            rtt min/avg/max/mdev = 0.331/0.365/0.400/0.034 ms\n$\n";
        let (ping, taken) = read(text);
        assert_eq!((ping.target.as_deref(), ping.payload, taken), (Some("nas"), Some(8972), 7));
        assert_eq!((ping.sent, ping.received, ping.duplicates), (Some(5), Some(4), 1));
        assert_eq!(ping.round_trip, Some(At::new((0.331, 0.365, 0.4), 7)));
    }

    #[test]
    fn packets_that_are_too_long() {
        for (text, most) in [
            ("ping: local error: message too long, mtu=1500", Some(1500)),
            ("ping: local error: Message too long, mtu: 1450", None),
            ("From 10.0.0.1 icmp_seq=1 Frag needed and DF set (mtu = 1400)", Some(1400)),
            ("ping: sendmsg: Message too long", None),
            ("Packet needs to be fragmented but DF set.", None),
        ] {
            let (ping, _) = read(&format!("PING a (10.0.0.2) 1472(1500) bytes of data.\n{text}\n"));
            let found = ping.too_long.map(|at| at.value);
            assert_eq!(found.or(ping.needs_fragments.then_some(0)), most.or(found).or(Some(0)), "{text}");
        }
    }

    #[test]
    fn busybox_and_windows() {
        let (ping, _) = read(
            "PING 192.0.2.9 (192.0.2.9): 56 data bytes\n64 bytes from 192.0.2.9: seq=0 ttl=64 time=0.412 ms\n\n\
            --- 192.0.2.9 ping statistics ---\n1 packets transmitted, 1 packets received, 0% packet loss\n\
            round-trip min/avg/max = 0.412/0.412/0.412 ms\n",
        );
        assert_eq!((ping.payload, ping.received), (Some(56), Some(1)));
        let (ping, taken) = read(
            "Pinging 192.0.2.9 with 8972 bytes of data:\nRequest timed out.\nReply from 192.0.2.9: bytes=8972 time<1ms TTL=64\n\n\
            Ping statistics for 192.0.2.9:\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\n\
            Approximate round trip times in milli-seconds:\n    Minimum = 0ms, Maximum = 2ms, Average = 1ms\n",
        );
        assert_eq!((ping.payload, ping.sent, ping.received, taken), (Some(8972), Some(4), Some(3), 8));
        assert_eq!(ping.round_trip.unwrap().value, (0.0, 1.0, 2.0));
    }

    #[test]
    fn other_lines_are_none() {
        for text in ["PING is a program", "ping me", "64 bytes", ""] {
            assert!(!begins(text));
        }
        let lines = lines("prose\n");
        assert_eq!(parse(&mut Cursor::new(&lines), true), None);
    }
}
