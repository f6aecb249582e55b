//! Results of iperf3, as text and as JSON (`-J`). Rates are decimal bits per second in both.

use serde_json::Value;

/// One direction of an iperf3 run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Line of the summary that it was read from, from 1; 1 for JSON.
    pub line: u32,
    /// Rate at the receiver (at the sender, where the receiver's is not told), bit/s.
    pub bits_per_second: f64,
    /// Length in seconds.
    pub seconds: f64,
    /// Parallel streams.
    pub streams: u32,
    /// Segments sent again; none where the sender's system does not tell, or for UDP.
    pub retransmits: Option<u64>,
    /// True where the end that printed this received the data (`-R`, or the other half of `--bidir`).
    pub reverse: bool,
    /// True for UDP.
    pub udp: bool,
    /// Version, for example `3.12`.
    pub version: Option<String>,
    /// Segment size in bytes.
    pub mss: Option<u64>,
    /// Buffer size that was asked for, in bytes.
    pub window: Option<u64>,
    /// Address of the end that printed this.
    pub local: Option<String>,
    /// Address of the other end.
    pub peer: Option<String>,
}

/// Reads all runs of a text: JSON if it is an object with `start` and `end`, else the printed form. Nothing recognised: none.
pub fn parse(text: &str) -> Vec<Run> {
    let json = text.find('{').and_then(|start| serde_json::from_str::<Value>(text[start..].trim()).ok());
    match json {
        Some(json) if json.get("end").is_some() => from_json(&json),
        _ => from_text(text),
    }
}

fn number(json: &Value, path: &str) -> Option<f64> {
    json.pointer(path)?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

fn from_json(json: &Value) -> Vec<Run> {
    let text = |path: &str| json.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let udp = text("/start/test_start/protocol").is_some_and(|protocol| protocol.eq_ignore_ascii_case("udp"));
    let reverse = number(json, "/start/test_start/reverse").is_some_and(|reverse| reverse != 0.0);
    let base = Run {
        line: 1,
        streams: number(json, "/start/test_start/num_streams").map_or(1, |streams| streams as u32),
        udp,
        reverse,
        version: text("/start/version").map(|version| version.trim_start_matches("iperf ").trim().to_owned()),
        mss: number(json, "/start/tcp_mss")
            .or_else(|| number(json, "/start/tcp_mss_default"))
            .filter(|mss| *mss > 0.0)
            .map(|mss| mss as u64),
        window: number(json, "/start/sock_bufsize").filter(|size| *size > 0.0).map(|size| size as u64),
        local: text("/start/connected/0/local_host"),
        peer: text("/start/connected/0/remote_host"),
        ..Run::default()
    };
    let of = |sent: &str, received: &str, reverse: bool| {
        let pick = |key: &str| {
            number(json, &format!("/end/{received}/{key}"))
                .filter(|number| *number > 0.0)
                .or_else(|| number(json, &format!("/end/{sent}/{key}")))
        };
        Some(Run {
            bits_per_second: pick("bits_per_second")?,
            seconds: pick("seconds")?,
            retransmits: number(json, &format!("/end/{sent}/retransmits")).map(|count| count as u64),
            reverse,
            ..base.clone()
        })
    };
    let forth = if udp { of("sum", "sum_received", reverse) } else { of("sum_sent", "sum_received", reverse) };
    let back = of("sum_sent_bidir_reverse", "sum_received_bidir_reverse", true);
    forth.into_iter().chain(back).filter(|run| run.bits_per_second > 0.0).collect()
}

/// A summary line: `[SUM]   0.00-10.00  sec  23.6 GBytes  20.3 Gbits/sec  33857             sender`.
struct Summary {
    line: u32,
    /// Stream number, `SUM`, and the mode of `--bidir` (`TX-C`, `RX-C`).
    id: String,
    seconds: f64,
    bits_per_second: f64,
    retransmits: Option<u64>,
    sender: bool,
}

fn summary(at: usize, line: &str) -> Option<Summary> {
    let line = line.trim();
    let (id, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (mode, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((mode, rest)) => (mode, rest),
        None => ("", rest),
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let sender = match *words.last()? {
        "sender" => true,
        "receiver" => false,
        _ => return None,
    };
    let (from, to) = words.first()?.split_once('-')?;
    let seconds = to.parse::<f64>().ok()? - from.parse::<f64>().ok()?;
    let unit = words.iter().position(|word| word.ends_with("bits/sec"))?;
    let scale = match words[unit] {
        "bits/sec" => 1.0,
        "Kbits/sec" => 1e3,
        "Mbits/sec" => 1e6,
        "Gbits/sec" => 1e9,
        "Tbits/sec" => 1e12,
        _ => return None,
    };
    let rate: f64 = words.get(unit.checked_sub(1)?)?.replace(',', ".").parse().ok()?;
    let retransmits = words.get(unit + 1).and_then(|word| word.parse().ok());
    let id = format!("{}{}", id.trim(), mode);
    let fine = seconds.is_finite() && rate.is_finite() && seconds > 0.0 && rate >= 0.0;
    fine.then_some(Summary { line: at as u32 + 1, id, seconds, bits_per_second: rate * scale, retransmits, sender })
}

/// What a block of the printed form says before its summary.
#[derive(Clone, Default)]
struct Head {
    local: Option<String>,
    peer: Option<String>,
    reverse: bool,
    version: Option<String>,
    mss: Option<u64>,
    streams: Vec<String>,
    udp: bool,
}

fn from_text(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut head = Head::default();
    let mut summaries: Vec<Summary> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("Connecting to host ") {
            runs.extend(runs_of(&head, &summaries));
            summaries.clear();
            head =
                Head { peer: rest.split(',').next().map(Into::into), version: head.version.clone(), ..Head::default() };
        } else if let Some(rest) = trimmed.strip_prefix("iperf 3") {
            head.version = rest.split_whitespace().next().map(|minor| format!("3{minor}"));
        } else if trimmed.starts_with("Reverse mode") {
            head.reverse = true;
        } else if let Some((_, rest)) = trimmed.split_once("TCP MSS: ") {
            head.mss = rest.split_whitespace().next().and_then(|size| size.parse().ok());
        } else if trimmed.contains("Lost/Total Datagrams") {
            head.udp = true;
        } else if let Some((stream, local, peer)) = connected(trimmed) {
            head.local.get_or_insert(local);
            head.peer = Some(peer);
            head.streams.push(stream);
        } else if let Some(found) = summary(at, trimmed) {
            summaries.push(found);
        }
    }
    runs.extend(runs_of(&head, &summaries));
    runs
}

/// `[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201`.
fn connected(line: &str) -> Option<(String, String, String)> {
    let (id, rest) = line.strip_prefix('[')?.split_once(']')?;
    let words: Vec<&str> = rest.split_whitespace().filter(|word| !word.starts_with('[')).collect();
    match words.as_slice() {
        ["local", local, "port", _, "connected", "to", peer, "port", ..] => {
            Some((id.trim().to_owned(), (*local).to_owned(), (*peer).to_owned()))
        }
        _ => None,
    }
}

fn runs_of(head: &Head, summaries: &[Summary]) -> Vec<Run> {
    // The totals over all streams where there are several, else the lines of the one stream.
    let has_sum = summaries.iter().any(|one| one.id.starts_with("SUM"));
    let totals: Vec<&Summary> = summaries.iter().filter(|one| !has_sum || one.id.starts_with("SUM")).collect();
    let streams = summaries.iter().filter(|one| !one.id.starts_with("SUM") && one.sender).count().max(1) as u32;
    let mut runs = Vec::new();
    // The two halves of --bidir are told apart by their mode; without it there is one half.
    let modes: std::collections::BTreeSet<&str> = totals.iter().map(|one| mode_of(&one.id)).collect();
    for mode in &modes {
        let half = || totals.iter().filter(|one| mode_of(&one.id) == *mode);
        let (sender, receiver) = (half().find(|one| one.sender), half().find(|one| !one.sender));
        let Some(best) = receiver.or(sender) else { continue };
        runs.push(Run {
            line: best.line,
            bits_per_second: best.bits_per_second,
            seconds: best.seconds,
            streams: streams / modes.len() as u32,
            retransmits: sender.and_then(|one| one.retransmits),
            reverse: head.reverse || mode.starts_with("RX"),
            udp: head.udp,
            version: head.version.clone(),
            mss: head.mss,
            window: None,
            local: head.local.clone(),
            peer: head.peer.clone(),
        });
    }
    for run in &mut runs {
        run.streams = run.streams.max(1);
    }
    runs
}

/// The half of `--bidir` that a line belongs to; empty without it.
fn mode_of(id: &str) -> &str {
    ["TX-C", "RX-C", "TX-S", "RX-S"].into_iter().find(|mode| id.ends_with(mode)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: &str = "\
Connecting to host 10.0.4.2, port 5201
[  5] local 10.0.4.1 port 41058 connected to 10.0.4.2 port 5201
[  7] local 10.0.4.1 port 41062 connected to 10.0.4.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   601 MBytes  5.04 Gbits/sec  812    218 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  11.8 GBytes  10.1 Gbits/sec  16900             sender
[  5]   0.00-10.00  sec  11.8 GBytes  10.1 Gbits/sec                  receiver
[  7]   0.00-10.00  sec  11.8 GBytes  10.2 Gbits/sec  16957             sender
[  7]   0.00-10.00  sec  11.8 GBytes  10.2 Gbits/sec                  receiver
[SUM]   0.00-10.00  sec  23.6 GBytes  20.3 Gbits/sec  33857             sender
[SUM]   0.00-10.00  sec  23.6 GBytes  20.3 Gbits/sec                  receiver

iperf Done.
";

    #[test]
    fn the_total_of_several_streams_counts() {
        let runs = parse(FOUR);
        assert_eq!(runs.len(), 1);
        let run = &runs[0];
        assert_eq!((run.bits_per_second, run.seconds, run.streams), (20.3e9, 10.0, 2));
        assert_eq!((run.retransmits, run.reverse, run.line), (Some(33857), false, 13));
        assert_eq!((run.local.as_deref(), run.peer.as_deref()), (Some("10.0.4.1"), Some("10.0.4.2")));
    }

    #[test]
    fn one_stream_has_no_total_and_reverse_is_told() {
        let text = "Connecting to host srv, port 5201\nReverse mode, remote host srv is sending\n\
            [  5] local 10.0.0.1 port 5 connected to 10.0.0.2 port 5201\n\
            [  5]   0.00-10.04  sec  1.09 GBytes   935 Mbits/sec    3             sender\n\
            [  5]   0.00-10.00  sec  1.09 GBytes   934 Mbits/sec                  receiver\n";
        let runs = parse(text);
        assert_eq!((runs[0].bits_per_second, runs[0].streams, runs[0].reverse), (934e6, 1, true));
        assert_eq!(runs[0].retransmits, Some(3));
    }

    #[test]
    fn json_is_read_with_its_version_and_segment_size() {
        let text = r#"{"start": {"connected": [{"local_host": "10.0.0.1", "remote_host": "10.0.0.2"}], "version": "iperf 3.12",
            "tcp_mss_default": 8948, "test_start": {"protocol": "TCP", "num_streams": 4, "duration": 30, "reverse": 0}},
            "end": {"sum_sent": {"seconds": 30.0, "bits_per_second": 2.81e10, "retransmits": 7},
                    "sum_received": {"seconds": 30.04, "bits_per_second": 2.8e10}}}"#;
        let runs = parse(text);
        assert_eq!((runs[0].bits_per_second, runs[0].streams, runs[0].retransmits), (2.8e10, 4, Some(7)));
        assert_eq!((runs[0].version.as_deref(), runs[0].mss), (Some("3.12"), Some(8948)));
    }

    #[test]
    fn several_tests_in_one_text_stay_apart() {
        let runs = parse(&(FOUR.to_owned() + &FOUR.replace("20.3 Gbits", "27.9 Gbits")));
        assert_eq!(runs.iter().map(|run| run.bits_per_second).collect::<Vec<_>>(), [20.3e9, 27.9e9]);
    }

    #[test]
    fn anything_else_is_nothing() {
        for text in [
            "",
            "{}",
            "[SUM] sender",
            "[ 5] 1-0 sec x Gbits/sec sender",
            "{\"end\": {\"sum_sent\": {\"seconds\": -1}}}",
        ] {
            assert_eq!(parse(text), [], "{text}");
        }
    }
}
