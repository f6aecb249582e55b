//! Results of iperf 2 (program `iperf`).

use super::Run;
use super::row::{Row, average, brackets, connected, row, scale};
use crate::formats::cursor::{Cursor, Line};

/// Reads the output of one or more tests; none where the next line is not of iperf 2.
pub fn read(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let start = cursor.position();
    let mut text = Text::default();
    loop {
        let blank = cursor.rest().iter().take_while(|line| matches!(line.text.trim(), "" | "..." | "^C")).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        if !text.line(line) {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    if cursor.position() == start {
        return None;
    }
    text.ends();
    Some(text.runs)
}

/// A printed output while it is read.
#[derive(Default)]
struct Text<'t> {
    is_client: Option<bool>,
    local: Option<&'t str>,
    peer: Option<&'t str>,
    udp: bool,
    window: Option<u64>,
    version: Option<&'t str>,
    /// Place of the column `Rtry` behind the rate; 0 is the first.
    retries: Option<usize>,
    /// Streams of a test in both directions that came in, by their number.
    incoming: Vec<&'t str>,
    /// The other direction began after the first had ended (`-r`).
    in_turn: bool,
    streams: Vec<&'t str>,
    rows: Vec<(Row<'t>, u32)>,
    runs: Vec<Run>,
}

/// Beginnings of further lines.
const OTHERS: &[&str] = &[
    "Binding to local address",
    "Sending ",
    "Receiving ",
    "IPG target",
    "UDP buffer size",
    "Write buffer size",
    "Read buffer size",
    "TOS set to",
    "TCP congestion control",
    "Joining multicast",
    "WARNING: option",
    "WARN: ",
    "write failed: ",
    "read failed: ",
    "connect failed: ",
    "tcp connect attempt",
    "Dual test",
    "Waiting for server threads",
];

impl<'t> Text<'t> {
    /// Takes a line; false for one that is not of iperf 2.
    fn line(&mut self, line: Line<'t>) -> bool {
        let text = line.text.trim();
        let port = |rest: &str| rest.contains("TCP port") || rest.contains("UDP port");
        if let Some(rest) = text.strip_prefix("Client connecting to ").filter(|rest| port(rest)) {
            self.begins(Some(true), rest.contains("UDP port"));
            self.peer = rest.split(',').next();
        } else if let Some(rest) = text.strip_prefix("Server listening on ").filter(|rest| port(rest)) {
            // A test in both directions listens before it connects.
            self.begins(Some(false), rest.contains("UDP port"));
        } else if let Some(rest) = text.strip_prefix("TCP window size: ") {
            self.window = rest
                .split_once("(WARNING: requested ")
                .and_then(|(_, asked)| size(asked))
                .or_else(|| size(rest).filter(|_| !rest.contains("(default)")));
        } else if let Some(rest) = text.strip_prefix("iperf version ") {
            self.version = rest.split_ascii_whitespace().next();
        } else if let Some((id, local, port, peer)) = connected(text).filter(|_| text.contains(" connected with ")) {
            self.local.get_or_insert(local);
            self.peer = Some(peer);
            self.streams.push(id);
            if port == "5001" || self.is_client == Some(false) {
                self.incoming.push(id);
                self.in_turn |= !self.rows.is_empty();
            }
        } else if let Some(names) = brackets(text).filter(|(id, ..)| *id == "ID").map(|(.., rest)| rest) {
            if !names.trim_start().starts_with("Interval") {
                return false;
            }
            self.udp |= names.contains("Datagrams");
            let after = names.split_once("Bandwidth").map(|(_, after)| after);
            self.retries = after.and_then(|after| after.split_ascii_whitespace().position(|name| name == "Rtry"));
        } else if let Some(found) = row(text).filter(|row| row.digits != 2) {
            self.rows.push((found, line.number));
        } else if let Some(run) = csv(text, line.number) {
            self.runs.push(run);
        } else {
            let begun = self.is_client.is_some() || !self.rows.is_empty();
            let in_brackets = brackets(text).is_some_and(|(_, _, rest)| {
                let rest = rest.trim_start();
                ["Server Report", "Sent ", "WARNING: did not", "sender", "0.0", "(icwnd", "Interval"]
                    .iter()
                    .any(|start| rest.starts_with(start))
                    || rest.ends_with("datagrams received out-of-order")
            });
            return begun && (in_brackets || OTHERS.iter().any(|start| text.starts_with(start)))
                || text.starts_with("connect failed: ")
                || text.len() > 40 && text.bytes().all(|byte| byte == b'-') && begun;
        }
        true
    }

    fn begins(&mut self, is_client: Option<bool>, udp: bool) {
        if !self.rows.is_empty() {
            self.ends();
        }
        let runs = std::mem::take(&mut self.runs);
        // The server part of a test in both directions belongs to the client part that follows it.
        *self = Self { is_client, udp, runs, version: self.version, ..Self::default() };
    }

    /// Adds the results of the test that was read: the last row over the whole time, of each direction.
    fn ends(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let received = |id: &str| self.incoming.contains(&id);
        let has_sum = rows.iter().any(|(row, _)| row.is_sum());
        let both = !self.incoming.is_empty() && self.streams.iter().any(|id| !received(id));
        let directions: &[Option<bool>] = match (both, self.is_client) {
            (true, _) => &[Some(true), Some(false)],
            (false, Some(true)) => &[Some(true)],
            (false, Some(false)) => &[Some(false)],
            (false, None) => &[None],
        };
        for sent in directions {
            let mine = |row: &Row<'_>| !both || row.is_sum() || Some(!received(row.id)) == *sent;
            let mut picked: Vec<&(Row<'_>, u32)> =
                rows.iter().filter(|(row, _)| mine(row) && (!has_sum || both || row.is_sum())).collect();
            let streams = self.streams.iter().filter(|id| !both || Some(!received(id)) == *sent).count();
            if both {
                picked.retain(|(row, _)| !row.is_sum());
            }
            let base = Run {
                tool: "iperf",
                streams: u32::try_from(streams).unwrap_or(u32::MAX).max(1),
                sent: *sent,
                udp: self.udp,
                both_ways: both && !self.in_turn,
                version: self.version.map(str::to_owned),
                window: self.window,
                local: self.local.map(str::to_owned),
                peer: self.peer.map(str::to_owned),
                ..Run::default()
            };
            self.runs.extend(result(&picked, self.retries, base));
        }
    }
}

/// The whole test: the longest row that begins at its beginning and is more than an interval; else the average.
fn result(rows: &[&(Row<'_>, u32)], retries: Option<usize>, base: Run) -> Option<Run> {
    let last = rows.iter().map(|(row, _)| row.to).fold(0.0, f64::max);
    let whole = rows.iter().rev().find(|(row, _)| row.from == 0.0 && row.to >= last * 0.99);
    if let Some((row, line)) = whole {
        return Some(Run {
            line: *line,
            bits_per_second: row.bits_per_second,
            seconds: Some(row.seconds()),
            retransmits: retries.and_then(|at| row.rest.get(at)?.parse().ok()),
            ..base
        });
    }
    let (bits_per_second, count) = average(rows.iter().map(|(row, _)| row))?;
    Some(Run { line: rows.last()?.1, bits_per_second, average_of: Some(count), ..base })
}

/// `85.0 KByte (default)`, in bytes.
fn size(text: &str) -> Option<u64> {
    let mut words = text.split_ascii_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let unit = words.next()?.trim_end_matches(')');
    // The letters are binary, as those of a rate in bytes.
    let bytes = scale(&format!("{}s/sec", unit.trim_end_matches('s')))? / 8.0;
    let size = number * bytes;
    (size.is_finite() && (1.0..1e15).contains(&size)).then_some(size as u64)
}

/// `-y C`: stamp, this end, port, other end, port, stream, interval, bytes, bit/s.
fn csv(text: &str, line: u32) -> Option<Run> {
    let fields: Vec<&str> = text.split(',').collect();
    let [stamp, local, _, peer, _, id, interval, _, rate, rest @ ..] = fields.as_slice() else { return None };
    let stamped = stamp.bytes().take_while(u8::is_ascii_digit).count() >= 14;
    let (from, to) = interval.split_once('-')?;
    let (from, to): (f64, f64) = (from.parse().ok()?, to.parse().ok()?);
    let bits_per_second: f64 = rate.parse().ok()?;
    // Intervals of a longer test are left to the row over all of it.
    (stamped
        && from == 0.0
        && to > 1.5
        && bits_per_second.is_finite()
        && bits_per_second > 0.0
        && id.parse::<i32>().is_ok())
    .then(|| Run {
        tool: "iperf",
        line,
        bits_per_second,
        seconds: Some(to),
        streams: 1,
        udp: !rest.is_empty(),
        local: Some((*local).to_owned()),
        peer: Some((*peer).to_owned()),
        ..Run::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_client_and_its_streams() {
        let text = "------------------------------------------------------------\n\
                    Client connecting to 10.0.0.2, TCP port 5001\nTCP window size:  512 KByte (WARNING: requested 1.00 MByte)\n\
                    ------------------------------------------------------------\n\
                    [  4] local 10.0.0.1 port 50000 connected with 10.0.0.2 port 5001\n\
                    [  3] local 10.0.0.1 port 50001 connected with 10.0.0.2 port 5001\n\
                    [ ID] Interval       Transfer     Bandwidth\n\
                    [  3]  0.0- 1.0 sec  56.0 MBytes   470 Mbits/sec\n[  4]  0.0- 1.0 sec  56.0 MBytes   470 Mbits/sec\n\
                    [SUM]  0.0- 1.0 sec   112 MBytes   940 Mbits/sec\n\
                    [  3]  0.0-10.0 sec   561 MBytes   471 Mbits/sec\n[SUM]  0.0-10.0 sec  1.10 GBytes   942 Mbits/sec\n";
        let runs = parse(text);
        assert_eq!(runs.len(), 1);
        let run = &runs[0];
        assert_eq!((run.tool, run.bits_per_second, run.seconds, run.streams), ("iperf", 942e6, Some(10.0), 2));
        assert_eq!((run.window, run.sent, run.line), (Some(1 << 20), Some(true), 12));
        assert_eq!(run.peer.as_deref(), Some("10.0.0.2"));
    }

    #[test]
    fn newer_versions_tell_retries() {
        let text = "Client connecting to 10.0.0.2, TCP port 5001\nTCP window size: 85.0 KByte (default)\n\
                    [  1] local 10.0.0.1 port 50000 connected with 10.0.0.2 port 5001 (icwnd/mss/irtt=14/1448/310)\n\
                    [ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT        NetPwr\n\
                    [  1] 0.0000-10.0136 sec  1.10 GBytes   941 Mbits/sec  8970/0        12       -1K/1346 us  87000\n";
        let runs = parse(text);
        assert_eq!((runs[0].retransmits, runs[0].bits_per_second, runs[0].window), (Some(12), 941e6, None));
    }

    #[test]
    fn both_directions_are_two_results() {
        let text = "------------------------------------------------------------\nServer listening on TCP port 5001\n\
                    TCP window size: 85.3 KByte (default)\n------------------------------------------------------------\n\
                    Client connecting to 10.0.0.2, TCP port 5001\n\
                    [  5] local 10.0.0.1 port 50000 connected with 10.0.0.2 port 5001\n\
                    [  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 60000\n\
                    [ ID] Interval       Transfer     Bandwidth\n\
                    [  5]  0.0-10.0 sec   913 MBytes   766 Mbits/sec\n[  4]  0.0-10.0 sec  1.04 GBytes   890 Mbits/sec\n";
        let told: Vec<_> = parse(text).iter().map(|run| (run.sent, run.bits_per_second)).collect();
        assert_eq!(told, [(Some(true), 766e6), (Some(false), 890e6)]);
    }

    #[test]
    fn cut_off_machine_readable_and_failed() {
        let text = "Client connecting to 10.0.0.2, TCP port 5001\n[  3]  0.0- 1.0 sec  1 MBytes  8.00 Mbits/sec\n\
                    [  3]  1.0- 2.0 sec  1 MBytes  6.00 Mbits/sec\n[  3]  2.0- 3.0 sec  1 MBytes  4.00 Mbits/sec\n";
        let runs = parse(text);
        assert_eq!((runs[0].bits_per_second, runs[0].average_of, runs[0].seconds), (6e6, Some(3), None));
        let runs = parse("20240409111527,10.0.0.1,50000,10.0.0.2,5001,3,0.0-10.0,1176502272,941201817\n");
        assert_eq!((runs[0].bits_per_second, runs[0].seconds, runs[0].udp), (941_201_817.0, Some(10.0), false));
        assert_eq!(parse("connect failed: Connection refused\n"), []);
        assert_eq!(size("85.0 KByte (default)"), Some(87_040));
    }
}
