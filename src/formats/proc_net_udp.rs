//! /proc/net/udp and /proc/net/udp6: the sockets of UDP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::cursor::{At, Cursor};

/// A socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Own address and port: `0.0.0.0:2055`, `[::]:53`.
    pub local: String,
    /// Bytes that wait for the program.
    pub waiting: u64,
    /// Datagrams that found no room; none before kernel 2.6.27, which has no such column.
    pub drops: Option<u64>,
}

/// True for the line of headings.
pub fn is_heading(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("sl ") && text.contains("local_address") && text.contains("drops")
}

/// Reads the table, with or without the headings.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<At<Row>> {
    let mut rows = Vec::new();
    loop {
        if cursor.take_if(|text| is_heading(text).then_some(())).is_some() {
            continue;
        }
        let Some(found) = cursor.take_if(row) else { break };
        rows.push(found);
    }
    rows
}

/// `264: 00000000:0807 00000000:0000 07 00000000:00034100 00:00000000 00000000 0 0 20417 2 0000 8120447`
fn row(text: &str) -> Option<Row> {
    let mut words = text.split_ascii_whitespace();
    words.next()?.strip_suffix(':')?.parse::<u64>().ok()?;
    let local = end(words.next()?)?;
    end(words.next()?)?;
    words.next().filter(|state| state.len() == 2)?;
    let (_, waiting) = words.next()?.split_once(':')?;
    Some(Row {
        local,
        waiting: u64::from_str_radix(waiting, 16).ok()?,
        drops: words.nth(7).and_then(|word| word.parse().ok()),
    })
}

/// The kernel prints each word of 32 bits of an address as its own byte order reads it: little endian on all that matter.
fn end(text: &str) -> Option<String> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok().filter(|_| text.is_ascii())?;
    let word = |at: usize| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_le_bytes);
    let address = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for at in 0..4 {
                bytes[at * 4..at * 4 + 4].copy_from_slice(&word(at)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(std::net::SocketAddr::new(address, port).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn addresses_are_little_endian_and_the_last_column_counts_losses() {
        let text = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops             \n\
            \u{20} 264: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000   101        0 18033 2 00000000d3a6e2a1 12        \n\
            \u{20} 300: 00000000000000000000000001000000:14E9 00000000000000000000000000000000:0000 07 00000000:00000300 00:00000000 00000000 0 0 5 2 0 0\n\
            \u{20} 301: 0100007F:0035 00000000:0000 07 00000000:00000000 00:0\n  302: 01:0035 00000000:0000 07\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let rows: Vec<Row> = parse(&mut cursor).into_iter().map(|row| row.value).collect();
        assert_eq!(rows[0], Row { local: "127.0.0.53:53".into(), waiting: 0, drops: Some(12) });
        assert_eq!(rows[1], Row { local: "[::1]:5353".into(), waiting: 0x300, drops: Some(0) });
        // A line that is cut keeps what stands in it, and one that is none ends the table.
        assert_eq!((rows.len(), rows[2].drops), (3, None));
        assert!(cursor.peek().unwrap().text.contains("302"));
    }
}
