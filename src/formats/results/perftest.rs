//! Results of perftest: `ib_write_bw`, `ib_read_bw`, `ib_send_bw`.
//!
//! Its `MB/sec` are 2^20 bytes a second: the program divides by 0x100000. `--report_gbits` prints decimal `Gb/sec`.

use super::{Rdma, Run};
use crate::formats::cursor::{Cursor, Line, pair};

/// No test of it is longer, in seconds: what is calculated to be is a damaged text.
const LONGEST: f64 = 1e6;

/// Reads the output of one test; none where the next line is not of perftest.
pub fn read(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let start = cursor.position();
    let mut text = Text::default();
    loop {
        let blank = cursor.rest().iter().take_while(|line| is_gap(line.text)).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        if text.tool.is_some() && title(line.text.trim()).is_some() || !text.line(line) {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    if text.tool.is_none() {
        cursor.back_to(start);
        return None;
    }
    // The rule below the last row.
    while cursor.peek().is_some_and(|line| is_gap(line.text) && !line.text.trim().is_empty()) {
        cursor.take();
    }
    (cursor.position() > start).then(|| text.ends())
}

fn is_gap(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.len() > 30 && (text.bytes().all(|byte| byte == b'-') || text.bytes().all(|byte| byte == b'*'))
}

/// `RDMA_Write Bidirectional BW Test`: the program, and whether both directions run at once.
fn title(text: &str) -> Option<(&'static str, bool)> {
    let rest = text.strip_suffix(" BW Test")?;
    let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let tool = match kind {
        "RDMA_Write" => "ib_write_bw",
        "RDMA_Read" => "ib_read_bw",
        "Send" => "ib_send_bw",
        _ => return None,
    };
    Some((tool, rest.split(' ').any(|word| word == "Bidirectional")))
}

/// An output while it is read.
#[derive(Default)]
struct Text {
    tool: Option<(&'static str, bool)>,
    is_server: bool,
    device: Option<String>,
    ethernet: Option<bool>,
    mtu: Option<u32>,
    pairs: u32,
    /// GIDs in the order in which they stand: this end's, the other end's.
    addresses: Vec<Option<String>>,
    /// Bytes of a unit of the average; 0 for decimal gigabits.
    unit: Option<f64>,
    best: Option<(f64, Option<f64>, u32)>,
}

impl Text {
    /// Takes a line; false for one that is not of perftest.
    fn line(&mut self, line: Line<'_>) -> bool {
        let text = line.text.trim();
        if let Some(found) = title(text) {
            self.tool = Some(found);
            return true;
        }
        if text.starts_with("* Waiting for client to connect") {
            self.is_server = true;
            return true;
        }
        if self.tool.is_none() {
            return false;
        }
        if let Some(unit) = average_unit(text) {
            self.unit = Some(unit);
            return true;
        }
        if let Some((rate, seconds)) = self.unit.and_then(|unit| row(text, unit)) {
            if self.best.is_none_or(|(best, ..)| rate > best) {
                self.best = Some((rate, seconds, line.number));
            }
            return true;
        }
        self.pair(text)
    }

    fn pair(&mut self, text: &str) -> bool {
        let Some((key, value)) = pair(text) else {
            return text.starts_with("Data ex. method")
                || text.starts_with("WARNING")
                || text.starts_with("Conflicting CPU");
        };
        let first = value.split_ascii_whitespace().next().unwrap_or_default();
        match key {
            "Dual-port" => self.device = value.rsplit_once(':').map(|(_, name)| name.trim().to_owned()),
            "Device" => self.device = Some(first.to_owned()),
            "Number of qps" => self.pairs = first.parse().unwrap_or(0),
            "Mtu" => self.mtu = value.split('[').next().and_then(|size| size.trim().parse().ok()),
            "Link type" => self.ethernet = Some(first == "Ethernet"),
            "GID" => self.addresses.push(address(value)),
            "local address"
            | "remote address"
            | "Connection type"
            | "TX depth"
            | "RX depth"
            | "CQ Moderation"
            | "PCIe relax order"
            | "ibv_wr* API"
            | "GID index"
            | "Max inline data"
            | "rdma_cm QPs"
            | "Data ex. method"
            | "Post List"
            | "Lock-free"
            | "Using SRQ"
            | "Outstand reads"
            | "Transport type"
            | "Using DDP"
            | "Using Enhanced Reorder" => {}
            _ => return false,
        }
        true
    }

    fn ends(self) -> Vec<Run> {
        let Some((tool, both)) = self.tool else { return Vec::new() };
        let Some((rate, seconds, line)) = self.best else { return Vec::new() };
        // Who printed it shows in a server's output alone.
        let client_sends = tool != "ib_read_bw";
        let address = |at: usize| self.addresses.get(at).cloned().flatten();
        vec![Run {
            tool,
            line,
            bits_per_second: if both { rate / 2.0 } else { rate },
            seconds,
            streams: self.pairs.max(1),
            sent: (self.is_server && !both).then_some(!client_sends),
            both_ways: both,
            rdma: Some(Rdma { mtu: self.mtu, device: self.device, ethernet: self.ethernet }),
            binary_megabytes: self.unit != Some(0.0),
            local: address(0),
            peer: address(1),
            ..Run::default()
        }]
    }
}

/// What `BW average[...]` of the head of the table counts in: bytes of a unit, 0 for decimal gigabits.
fn average_unit(text: &str) -> Option<f64> {
    let rest = text.strip_prefix("#bytes")?.split_once("BW average[")?.1;
    match rest.split(']').next()? {
        "MB/sec" | "MiB/sec" => Some(1_048_576.0),
        "Gb/sec" => Some(0.0),
        _ => None,
    }
}

/// `65536  1868700  0.00  11678.83  0.186861`: the average in bit/s, and how long it took.
fn row(text: &str, unit: f64) -> Option<(f64, Option<f64>)> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [bytes, iterations, _peak, average, ..] = words.as_slice() else { return None };
    let (bytes, iterations): (u64, u64) = (bytes.parse().ok()?, iterations.parse().ok()?);
    let average: f64 = average.parse().ok()?;
    let rate = if unit > 0.0 { average * unit * 8.0 } else { average * 1e9 };
    if !(rate.is_finite() && rate > 0.0) {
        return None;
    }
    let seconds = bytes as f64 * iterations as f64 * 8.0 / rate;
    Some((rate, Some(seconds).filter(|seconds| *seconds > 0.0 && *seconds < LONGEST)))
}

/// An IPv4 address inside a GID, whose 16 bytes are printed as decimal numbers.
fn address(gid: &str) -> Option<String> {
    let bytes: Vec<u8> = gid.split(':').map(|byte| byte.trim().parse().ok()).collect::<Option<_>>()?;
    let [front @ .., 255, 255, a, b, c, d] = bytes.as_slice() else { return None };
    (front.len() == 10 && front.iter().all(|byte| *byte == 0)).then(|| format!("{a}.{b}.{c}.{d}"))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const WRITE: &str = "\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : rocep1s0f0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON
 ibv_wr* API     : ON
 TX depth        : 128
 CQ Moderation   : 1
 Mtu             : 4096[B]
 Link type       : Ethernet
 GID index       : 3
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
---------------------------------------------------------------------------------------
 local address: LID 0000 QPN 0x0128 PSN 0x5b9a5e RKey 0x1fff00 VAddr 0x007f1c5b2a0000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:168:01:50
 remote address: LID 0000 QPN 0x0128 PSN 0xb6a5e4 RKey 0x1fff00 VAddr 0x007f8c5b2a0000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:168:01:51
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      1868700          0.00               11678.83\t\t   0.186861
---------------------------------------------------------------------------------------
";

    /// 11678.83 * 2^20 * 8 = 97.97 Gb/s, not 93.4; 65536 B * 1868700 * 8 at that rate take 10.0 s.
    #[test]
    fn its_megabytes_are_binary() {
        let runs = parse(WRITE);
        assert_eq!(runs.len(), 1);
        let run = &runs[0];
        assert!((run.bits_per_second / 97.97e9 - 1.0).abs() < 1e-4, "{}", run.bits_per_second);
        assert!((run.seconds.unwrap() - 10.0).abs() < 0.01 && run.binary_megabytes);
        assert_eq!((run.tool, run.line, run.streams, run.sent), ("ib_write_bw", 23, 1, None));
        assert_eq!((run.local.as_deref(), run.peer.as_deref()), (Some("192.168.1.50"), Some("192.168.1.51")));
        let rdma = run.rdma.as_ref().unwrap();
        assert_eq!((rdma.mtu, rdma.device.as_deref(), rdma.ethernet), (Some(4096), Some("rocep1s0f0"), Some(true)));
    }

    #[test]
    fn gigabits_both_directions_and_servers() {
        let decimal = WRITE.replace("MB/sec", "Gb/sec").replace("11678.83", "97.97");
        let run = &parse(&decimal)[0];
        assert!((run.bits_per_second - 97.97e9).abs() < 1.0 && !run.binary_megabytes);
        let both = decimal.replace("RDMA_Write BW", "RDMA_Write Bidirectional BW").replace("97.97", "190.2");
        let run = &parse(&both)[0];
        assert!((run.bits_per_second - 95.1e9).abs() < 1.0 && run.both_ways, "half of the sum");
        let server = format!(
            "\n************************************\n* Waiting for client to connect... *\n************************************\n{WRITE}"
        );
        assert_eq!(parse(&server)[0].sent, Some(false));
        assert_eq!(parse(&server.replace("RDMA_Write BW", "RDMA_Read BW"))[0].sent, Some(true));
    }

    #[test]
    fn the_best_size_counts_and_nonsense_does_not() {
        let several = WRITE.replace(
            " 65536      1868700",
            " 2          5000             0.00               9.10\t\t   4.7\n 65536      1868700",
        );
        assert_eq!(parse(&several)[0].line, 24);
        assert!(parse(&WRITE.replace("11678.83", "NaN")).is_empty());
        assert!(parse("RDMA_Write BW Test\n").is_empty() && parse("Send us your BW Test").is_empty());
        assert_eq!(address("254:128:00:00:00:00:00:00:02:00:00:255:255:00:00:01"), None);
    }
}
