//! Results of nuttcp.

use super::Run;
use crate::formats::cursor::Cursor;

/// A row: `1411.8125 MB /   1.00 sec = 11836.0164 Mbps 41 %TX 63 %RX 0 retrans 0.29 msRTT`.
struct Row {
    seconds: f64,
    bits_per_second: f64,
    retransmits: Option<u64>,
    /// The row over the whole test names the load of the processors.
    whole: bool,
    udp: bool,
}

fn row(text: &str) -> Option<Row> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [amount, "MB" | "KB" | "GB" | "TB", "/", seconds, "sec", "=", rate, unit, rest @ ..] = words.as_slice() else {
        return None;
    };
    amount.parse::<f64>().ok()?;
    let scale = match *unit {
        "Kbps" => 1e3,
        "Mbps" => 1e6,
        "Gbps" => 1e9,
        _ => return None,
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let before =
        |word: &str| rest.iter().position(|held| *held == word).and_then(|at| rest.get(at.checked_sub(1)?)).copied();
    let row = Row {
        seconds: number(seconds)?,
        bits_per_second: number(rate)? * scale,
        retransmits: before("retrans").and_then(|count| count.parse().ok()),
        whole: rest.contains(&"%TX") || rest.contains(&"%RX"),
        udp: rest.contains(&"drop/pkt"),
    };
    (row.seconds > 0.0 && row.bits_per_second >= 0.0).then_some(row)
}

/// Reads the rows of one test; none where the next line is not of nuttcp.
pub fn read(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let start = cursor.position();
    let mut intervals: Vec<(Row, u32)> = Vec::new();
    let mut runs = Vec::new();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        match row(text) {
            Some(found) if found.whole => {
                intervals.clear();
                runs.push(Run {
                    seconds: Some(found.seconds),
                    retransmits: found.retransmits,
                    udp: found.udp,
                    ..result(line.number, found.bits_per_second)
                });
            }
            Some(found) => intervals.push((found, line.number)),
            None if text.starts_with("nuttcp-t: ")
                || text.starts_with("nuttcp-r: ")
                || text.starts_with("nuttcp: ") => {}
            None => break,
        }
        cursor.take();
    }
    if let Some((_, line)) = intervals.last().filter(|_| intervals.len() >= 3) {
        let seconds: f64 = intervals.iter().map(|(row, _)| row.seconds).sum();
        let bits: f64 = intervals.iter().map(|(row, _)| row.seconds * row.bits_per_second).sum();
        runs.push(Run { average_of: u32::try_from(intervals.len()).ok(), ..result(*line, bits / seconds) });
    }
    (cursor.position() > start).then_some(runs)
}

fn result(line: u32, bits_per_second: f64) -> Run {
    Run { tool: "nuttcp", line, bits_per_second, streams: 1, ..Run::default() }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn the_row_over_the_whole_test_counts() {
        let text = " 1411.8125 MB /   1.00 sec = 11843.2000 Mbps     0 retrans\n 1400.0000 MB /   1.00 sec = 11744.0512 Mbps     2 retrans\n\
                    2811.8125 MB /   2.00 sec = 11793.0000 Mbps 41 %TX 63 %RX 2 retrans 0.29 msRTT\n";
        let runs = parse(text);
        assert_eq!((runs.len(), runs[0].bits_per_second, runs[0].seconds), (1, 11_793e6, Some(2.0)));
        assert_eq!((runs[0].retransmits, runs[0].udp), (Some(2), false));
        let runs = parse("  119.2051 MB /  10.00 sec =  100.0001 Mbps 99 %TX 2 %RX 0 / 12345 drop/pkt 0.00 %loss\n");
        assert!(runs[0].udp && runs[0].retransmits.is_none());
        assert!(parse("12 MB / 1 sec of video = 3 Mbps").is_empty());
    }
}
