//! Results of iperf3, as text and as JSON (`-J`). Rates are decimal bits per second in both.

use serde_json::Value;

use super::row::{Row, average, brackets, connected, from_bracket, row};
use super::{Run, Stand};
use crate::formats::cursor::{Cursor, Line};
use crate::formats::json;

/// Reads the output of one or more tests; none where the next line is not of iperf3.
pub fn read(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let first = cursor.peek()?;
    if first.text.trim_start().starts_with('{') {
        return read_json(cursor);
    }
    let mut text = Text::default();
    let start = cursor.position();
    loop {
        let skipped = cursor.rest().iter().take_while(|line| is_gap(line.text)).count();
        let Some(line) = cursor.peek_at(skipped) else { break };
        if !text.line(line) {
            break;
        }
        for _ in 0..=skipped {
            cursor.take();
        }
    }
    if cursor.position() == start {
        return None;
    }
    text.ends();
    Some(text.runs)
}

/// Lines between those of the output: empty ones, and dots where somebody cut.
fn is_gap(text: &str) -> bool {
    matches!(text.trim(), "" | "..." | "\u{2026}" | "[...]" | "^C")
}

fn read_json(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let start = cursor.position();
    let mut runs = Vec::new();
    // `--json-stream` prints an object for each event.
    let mut stream = serde_json::Map::new();
    while let Some(found) = json::take(cursor) {
        let object = |name: &str| found.value.get(name).is_some();
        let event = found.value.get("event").and_then(Value::as_str);
        if let Some(event) = event.filter(|_| object("data")) {
            stream.insert(event.to_owned(), found.value.get("data").cloned().unwrap_or_default());
            if event == "end" {
                runs.extend(from_json(&Value::Object(std::mem::take(&mut stream)), found.line));
            }
        } else if object("start") && (object("end") || object("error")) {
            runs.extend(from_json(&found.value, found.line));
        } else {
            // A document of another tool.
            cursor.back_to(start);
            return None;
        }
    }
    (cursor.position() > start).then_some(runs)
}

fn number(json: &Value, path: &str) -> Option<f64> {
    json.pointer(path)?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

fn from_json(json: &Value, line: u32) -> Vec<Run> {
    let text = |path: &str| json.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let udp = text("/start/test_start/protocol").is_some_and(|protocol| protocol.eq_ignore_ascii_case("udp"));
    let reverse = number(json, "/start/test_start/reverse").is_some_and(|reverse| reverse != 0.0);
    // Only the end that was connected to names who came.
    let is_server = json.pointer("/start/accepted_connection").is_some();
    let base = Run {
        tool: "iperf3",
        line,
        streams: number(json, "/start/test_start/num_streams").map_or(1, |streams| streams as u32),
        udp,
        both_ways: number(json, "/start/test_start/bidir").is_some_and(|both| both != 0.0)
            || json.pointer("/end/sum_sent_bidir_reverse").is_some(),
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
            seconds: Some(pick("seconds")?),
            retransmits: number(json, &format!("/end/{sent}/retransmits")).map(|count| count as u64),
            sent: Some(reverse == is_server),
            ..base.clone()
        })
    };
    let forth = if udp { of("sum", "sum_received", reverse) } else { of("sum_sent", "sum_received", reverse) };
    let back = of("sum_sent_bidir_reverse", "sum_received_bidir_reverse", true);
    forth.into_iter().chain(back).filter(|run| run.bits_per_second > 0.0).collect()
}

/// What a test says before and between its rows.
#[derive(Clone, Debug, Default)]
struct Head {
    local: Option<String>,
    peer: Option<String>,
    /// The end that printed this connected to the other; none where neither shows.
    is_client: Option<bool>,
    reverse: bool,
    version: Option<String>,
    mss: Option<u64>,
    udp: bool,
    /// The rows tell of segments that were sent again, as only the sender knows.
    tells_retransmits: bool,
    /// The head of the table came again: what follows is the summary.
    in_summary: bool,
}

/// A printed output while it is read.
#[derive(Default)]
struct Text<'t> {
    head: Head,
    rows: Vec<(Row<'t>, u32)>,
    summaries: Vec<(Row<'t>, u32)>,
    runs: Vec<Run>,
}

/// Beginnings of lines that only iperf3 prints and that tell nothing of the result.
const OTHERS: &[&str] = &[
    "iperf Done.",
    "iperf3: ",
    "Control connection MSS",
    "Starting Test: protocol:",
    "Test Complete. Summary Results:",
    "CPU Utilization: ",
    "snd_tcp_congestion ",
    "rcv_tcp_congestion ",
    "Server output:",
    "Time: ",
    "Cookie: ",
    "Target Bitrate: ",
    "UDP MSS ",
    "warning: ",
    "WARNING:  Size of data read",
    "interrupt - the ",
];

impl<'t> Text<'t> {
    /// Takes a line; false for one that is not of iperf3.
    fn line(&mut self, line: Line<'t>) -> bool {
        let text = line.text.trim();
        if let Some(rest) = text.strip_prefix("Connecting to host ") {
            self.begins(Some(true));
            self.head.peer = rest.split(',').next().map(|host| host.trim().to_owned());
        } else if let Some(rest) = text.strip_prefix("Accepted connection from ") {
            self.begins(Some(false));
            self.head.peer = rest.split(',').next().map(|host| host.trim().to_owned());
        } else if text.starts_with("Server listening on ") && !text.contains("TCP port") && !text.contains("UDP port") {
            self.begins(Some(false));
        } else if let Some(rest) = text.strip_prefix("iperf 3") {
            self.head.version = rest.split_whitespace().next().map(|minor| format!("3{minor}"));
        } else if text.starts_with("Reverse mode, remote host") {
            self.head.reverse = true;
        } else if let Some(rest) = text.strip_prefix("TCP MSS: ") {
            self.head.mss = rest.split_whitespace().next().and_then(|size| size.parse().ok());
        } else if let Some((_, local, _, peer)) = connected(text).filter(|_| text.contains(" connected to ")) {
            self.head.local.get_or_insert_with(|| local.to_owned());
            self.head.peer = Some(peer.to_owned());
        } else if let Some(names) = table_head(text) {
            self.head.in_summary |= !self.rows.is_empty();
            self.head.udp |= names.contains("Datagrams");
            self.head.tells_retransmits |= names.contains("Retr");
        } else if let Some(row) = row(text).filter(|row| row.digits == 2) {
            let ends = row.rest.last().is_some_and(|word| matches!(*word, "sender" | "receiver"));
            let omitted = row.rest.last() == Some(&"(omitted)");
            if ends || self.head.in_summary {
                self.summaries.push((row, line.number));
            } else if !omitted {
                self.rows.push((row, line.number));
            }
        } else {
            return self.is_other(text);
        }
        true
    }

    fn is_other(&self, text: &str) -> bool {
        let begun = self.head.is_client.is_some() || self.head.version.is_some() || !self.rows.is_empty();
        let of_uname = self.head.version.is_some() && self.head.is_client.is_none() && self.rows.is_empty();
        let sent = brackets(text)
            .is_some_and(|(.., rest)| rest.trim_start().starts_with("Sent ") && rest.ends_with(" datagrams"));
        OTHERS.iter().any(|start| text.starts_with(start)) && (begun || text.starts_with("iperf"))
            || begun && (text.len() > 9 && text.bytes().all(|byte| matches!(byte, b'-' | b' ')) || sent)
            || text.len() > 40 && text.bytes().all(|byte| byte == b'-')
            // With -V: the name of the system.
            || of_uname && ["Linux ", "FreeBSD ", "Darwin "].iter().any(|system| text.starts_with(system))
    }

    /// A new test begins.
    fn begins(&mut self, is_client: Option<bool>) {
        self.ends();
        self.head = Head { is_client, version: self.head.version.take(), ..Head::default() };
    }

    /// Adds the results of the test that was read.
    fn ends(&mut self) {
        let (rows, summaries) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.summaries));
        self.runs.extend(runs_of(&self.head, &summaries, &rows));
    }
}

/// The names of the columns, for `[ ID] Interval  Transfer  Bitrate`.
fn table_head(text: &str) -> Option<&str> {
    let text = from_bracket(text)?;
    let rest = text.strip_prefix("[ ID]").or_else(|| text.strip_prefix("[ID]"))?;
    rest.trim_start().trim_start_matches("[Role]").trim_start().strip_prefix("Interval")
}

fn runs_of(head: &Head, summaries: &[(Row<'_>, u32)], rows: &[(Row<'_>, u32)]) -> Vec<Run> {
    let from = if summaries.is_empty() { rows } else { summaries };
    // The totals over all streams where there are several, else the lines of the one stream.
    let has_sum = from.iter().any(|(row, _)| row.is_sum());
    let streams: std::collections::BTreeSet<(&str, &str)> =
        from.iter().filter(|(row, _)| !row.is_sum()).map(|(row, _)| (row.id, row.role)).collect();
    let roles: std::collections::BTreeSet<&str> = from.iter().map(|(row, _)| row.role).collect();
    let mut runs = Vec::new();
    // The two halves of --bidir are told apart by their role; without it there is one half.
    for role in &roles {
        let role = *role;
        let of_role = || from.iter().filter(|(row, _)| row.role == role && (!has_sum || row.is_sum()));
        let count = streams.iter().filter(|(_, held)| *held == role).count() as u32;
        let base = Run {
            tool: "iperf3",
            streams: count.max(1),
            udp: head.udp,
            both_ways: roles.len() > 1,
            version: head.version.clone(),
            mss: head.mss,
            local: head.local.clone(),
            peer: head.peer.clone(),
            ..Run::default()
        };
        let found = if summaries.is_empty() {
            // Several streams without a sum can't be added up where rows may be missing.
            (has_sum || count == 1).then(|| cut_off(head, role, &of_role().collect::<Vec<_>>(), base)).flatten()
        } else {
            summed_up(head, role, &of_role().collect::<Vec<_>>(), base)
        };
        let intervals: Vec<&Row<'_>> =
            rows.iter().map(|(row, _)| row).filter(|row| row.role == role && !row.is_sum()).collect();
        let other_flows = !rows.iter().any(|(row, _)| row.role != role && row.bits_per_second == 0.0);
        let alone = count == 1 && !head.udp;
        let stand = alone.then(|| stand(&intervals, head.mss)).flatten();
        runs.extend(found.map(|run| {
            let told = stand.filter(|stand| *stand == Stand::Flowed || other_flows && run.sent == Some(true));
            Run { stand: told, ..run }
        }));
    }
    runs
}

/// Least intervals without a byte that make a stand.
const STANDING: usize = 3;
/// What a sender may have sent before, in bytes: segments of its first windows.
const BEFORE: f64 = 1e6;
/// No segment is larger, in bytes: the largest jumbo frames of Ethernet that are usual.
const LARGEST_SEGMENT: u64 = 9216;

/// Whether one stream came to a stand; none for few intervals, and for one that did where the congestion window is not printed.
fn stand(rows: &[&Row<'_>], mss: Option<u64>) -> Option<Stand> {
    if rows.len() <= STANDING {
        return None;
    }
    let first = rows.iter().position(|row| row.bits_per_second == 0.0);
    let Some(first) = first.filter(|first| *first > 0) else { return first.is_none().then_some(Stand::Flowed) };
    let sent: f64 = rows[..first].iter().map(|row| row.bits_per_second * row.seconds() / 8.0).sum();
    if sent >= BEFORE {
        return Some(Stand::Flowed);
    }
    let windows: Vec<u64> = rows.iter().map(|row| window(row)).collect::<Option<_>>()?;
    let standing = rows[first..].iter().take_while(|row| row.bits_per_second == 0.0).count();
    let window = windows[first];
    let still = windows[first..first + standing].iter().all(|held| *held == window);
    // Printed with three digits.
    let most = mss.map_or(LARGEST_SEGMENT, |mss| mss + mss / 50);
    let again = rows[..first + standing].iter().filter_map(|row| retransmits(row)).sum::<u64>();
    let stalled = standing >= STANDING && still && (1..=most).contains(&window) && again > 0;
    Some(if stalled { Stand::Stalled(window) } else { Stand::Flowed })
}

/// The congestion window at the end of an interval, in bytes: `3   8.74 KBytes`.
fn window(row: &Row<'_>) -> Option<u64> {
    let [_, number, unit, ..] = row.rest.as_slice() else { return None };
    let power = ["Bytes", "KBytes", "MBytes", "GBytes"].iter().position(|known| known == unit)? as i32;
    let bytes = number.parse::<f64>().ok()? * 1024_f64.powi(power);
    (bytes.is_finite() && (0.0..1e12).contains(&bytes)).then_some(bytes.round() as u64)
}

fn retransmits(row: &Row<'_>) -> Option<u64> {
    row.rest.first().and_then(|word| word.parse().ok())
}

/// The lines of a summary: the receiver's counts, for what the sender sends may still wait in its buffer.
fn summed_up(head: &Head, role: &str, rows: &[&(Row<'_>, u32)], base: Run) -> Option<Run> {
    let end = |row: &Row<'_>| row.rest.last().copied().unwrap_or_default().to_owned();
    let sender = rows.iter().find(|(row, _)| end(row) == "sender");
    let receiver = rows.iter().find(|(row, _)| end(row) != "sender");
    // An old server prints zeros for the end that it is not.
    let told = |found: Option<&&(Row<'_>, u32)>| found.is_some_and(|(row, _)| row.bits_per_second > 0.0);
    let (row, line) = receiver.filter(|_| told(receiver) || !told(sender)).or(sender)?;
    let sent = match (role.get(..2), head.is_client) {
        (Some("TX"), _) => Some(true),
        (Some("RX"), _) => Some(false),
        (_, Some(true)) => Some(!head.reverse),
        (_, Some(false)) => Some(told(sender) && !told(receiver)),
        (_, None) if head.tells_retransmits => Some(true),
        (_, None) => None,
    };
    let seconds = row.seconds();
    Some(Run {
        line: *line,
        bits_per_second: row.bits_per_second,
        seconds: Some(seconds),
        retransmits: sender.and_then(|(row, _)| retransmits(row)).filter(|_| !head.udp),
        sent,
        ..base
    })
}

/// A test without a summary: the average of its intervals.
fn cut_off(head: &Head, role: &str, rows: &[&(Row<'_>, u32)], base: Run) -> Option<Run> {
    let (bits_per_second, count) = average(rows.iter().map(|(row, _)| row))?;
    let again = rows.iter().map(|(row, _)| retransmits(row)).sum::<Option<u64>>();
    let sent = match (role.get(..2), head.is_client) {
        (Some("TX"), _) => Some(true),
        (Some("RX"), _) => Some(false),
        (_, Some(true)) => Some(!head.reverse),
        (_, _) => head.tells_retransmits.then_some(true),
    };
    Some(Run {
        line: rows.last()?.1,
        bits_per_second,
        average_of: Some(count),
        retransmits: again.filter(|_| head.tells_retransmits && !head.udp && sent == Some(true)),
        sent,
        ..base
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
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
        assert_eq!((run.bits_per_second, run.seconds, run.streams), (20.3e9, Some(10.0), 2));
        assert_eq!((run.retransmits, run.sent, run.line), (Some(33857), Some(true), 13));
        assert_eq!((run.local.as_deref(), run.peer.as_deref()), (Some("10.0.4.1"), Some("10.0.4.2")));
    }

    #[test]
    fn a_sender_that_came_to_a_stand() {
        let head = "Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n";
        let first = "[  5]   0.00-1.00   sec   297 KBytes  2.43 Mbits/sec    3   8.74 KBytes\n";
        let zero = |from: u32, window: &str| {
            format!("[  5]   {from}.00-{}.00   sec  0.00 Bytes  0.00 bits/sec    1   {window} KBytes\n", from + 1)
        };
        let standing = |count: u32| (1..=count).map(|from| zero(from, "8.74")).collect::<String>();
        let stand = |text: &str| parse(text)[0].stand;
        // 8.74 * 1024 = 8949.76
        assert_eq!(stand(&format!("{head}{first}{}", standing(3))), Some(Stand::Stalled(8950)));
        let cut = format!(
            "{head}{first}{}^C[  5]   3.00-3.40   sec  0.00 Bytes  0.00 bits/sec    0   8.74 KBytes\n",
            standing(2)
        );
        assert_eq!(stand(&cut), Some(Stand::Stalled(8950)));
        let grown = format!("{head}{first}{}{}{}", zero(1, "8.74"), zero(2, "17.5"), zero(3, "8.74"));
        assert_eq!(stand(&grown), Some(Stand::Flowed), "the window moved");
        let fast = first.replace("2.43 Mbits", "2.43 Gbits");
        assert_eq!(stand(&format!("{head}{fast}{}", standing(4))), Some(Stand::Flowed), "it had sent much before");
        assert_eq!(stand(&format!("{head}{}", first.repeat(4))), Some(Stand::Flowed));
        let wide = standing(4).replace("8.74", "87.4");
        assert_eq!(stand(&format!("{head}{first}{wide}")), Some(Stand::Flowed), "no window of one segment");
        let few = format!("{head}{}", first.repeat(3));
        assert_eq!(stand(&few), None);
        let bare = format!("{head}{first}{}", standing(4)).replace("   8.74 KBytes", "");
        assert_eq!(stand(&bare), None, "the other end knows no window");
    }

    #[test]
    fn the_other_direction_tells_a_dead_link() {
        let row = |role: &str, from: u32, rate: &str, rest: &str| {
            format!("[  5][{role}]   {from}.00-{}.00   sec  1 MBytes  {rate}/sec  {rest}\n", from + 1)
        };
        let test = |back: &str| {
            let rows = (0..5).map(|at| {
                let forth = if at == 0 { "4.01 Mbits" } else { "0.00 bits" };
                row("TX-C", at, forth, "1   8.74 KBytes") + &row("RX-C", at, back, "")
            });
            format!("Connecting to host 10.0.0.2, port 5201\n{}", rows.collect::<String>())
        };
        let stands = |text: &str| parse(text).iter().filter_map(|run| run.stand).collect::<Vec<_>>();
        assert_eq!(stands(&test("9.30 Gbits")), [Stand::Flowed, Stand::Stalled(8950)]);
        assert_eq!(stands(&test("0.00 bits")), [], "neither direction gets anything through");
    }

    #[test]
    fn one_stream_has_no_total_and_reverse_is_told() {
        let text = "Connecting to host srv, port 5201\nReverse mode, remote host srv is sending\n\
            [  5] local 10.0.0.1 port 5 connected to 10.0.0.2 port 5201\n\
            [  5]   0.00-10.04  sec  1.09 GBytes   935 Mbits/sec    3             sender\n\
            [  5]   0.00-10.00  sec  1.09 GBytes   934 Mbits/sec                  receiver\n";
        let runs = parse(text);
        assert_eq!((runs[0].bits_per_second, runs[0].streams, runs[0].sent), (934e6, 1, Some(false)));
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

    #[test]
    fn both_directions_at_once_are_two_results() {
        let text = "Connecting to host 10.0.0.1, port 5201\n[ ID][Role] Interval           Transfer     Bitrate         Retr\n\
                    [  5][TX-C]   0.00-10.00  sec  10.0 GBytes  8.60 Gbits/sec   12             sender\n\
                    [  5][TX-C]   0.00-10.00  sec  10.0 GBytes  8.59 Gbits/sec                  receiver\n\
                    [  7][RX-C]   0.00-10.00  sec  11.0 GBytes  9.41 Gbits/sec    7             sender\n\
                    [  7][RX-C]   0.00-10.00  sec  11.0 GBytes  9.40 Gbits/sec                  receiver\n";
        let told: Vec<_> = parse(text).iter().map(|run| (run.sent, run.bits_per_second, run.retransmits)).collect();
        assert_eq!(told, [(Some(false), 9.40e9, Some(7)), (Some(true), 8.59e9, Some(12))]);
    }

    #[test]
    fn without_a_summary_the_intervals_are_averaged() {
        let text = "Connecting to host 10.0.0.1, port 5201\n[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n\
                    [  4]   0.00-1.00   sec   297 KBytes  6.00 Mbits/sec    3   8.74 KBytes\n\
                    [  4]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    1   8.74 KBytes\n\
                    ^C[  4]   2.00-3.00   sec  0.00 Bytes  0.00 bits/sec    0   8.74 KBytes\n";
        let runs = parse(text);
        assert_eq!((runs[0].bits_per_second, runs[0].average_of, runs[0].seconds), (2e6, Some(3), None));
        assert_eq!((runs[0].retransmits, runs[0].sent), (Some(4), Some(true)));
        // Two streams without a sum, and two intervals, are not enough.
        let two = text.replace("[  4]   1.00-2.00", "[  5]   1.00-2.00");
        assert_eq!(parse(&two), []);
        assert_eq!(parse(&text[..text.find('^').unwrap()]), []);
    }

    #[test]
    fn servers_and_datagrams() {
        let text = "-----------------------------------------------------------\nServer listening on 5201\n\
                    -----------------------------------------------------------\nAccepted connection from 10.0.0.9, port 40000\n\
                    [  5] local 10.0.0.1 port 5201 connected to 10.0.0.9 port 40001\n[ ID] Interval           Transfer     Bandwidth\n\
                    [  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec\n- - - - - - - - - - - - - - - - - - - - - - - - -\n\
                    [ ID] Interval           Transfer     Bandwidth\n\
                    [  5]   0.00-10.04  sec  0.00 Bytes  0.00 bits/sec                  sender\n\
                    [  5]   0.00-10.04  sec  1.10 GBytes   941 Mbits/sec                  receiver\n";
        let runs = parse(text);
        assert_eq!((runs.len(), runs[0].bits_per_second, runs[0].sent), (1, 941e6, Some(false)));
        let text = "Connecting to host 10.0.0.1, port 5201\n[ ID] Interval           Transfer     Bandwidth       Total Datagrams\n\
                    [  4]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  82\n\
                    [ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
                    [  4]   0.00-10.00  sec  1.24 MBytes  1.04 Mbits/sec  0.018 ms  0/159 (0%)\n[  4] Sent 159 datagrams\n\niperf Done.\n";
        let lines = crate::formats::cursor::lines(text);
        let mut cursor = Cursor::new(&lines);
        let runs = read(&mut cursor).unwrap();
        assert_eq!((runs[0].udp, runs[0].bits_per_second, runs[0].retransmits), (true, 1.04e6, None));
        assert!(cursor.understood().iter().all(|understood| *understood));
    }

    #[test]
    fn json_as_a_stream_and_failed() {
        let text = "{\"event\":\"start\",\"data\":{\"version\":\"iperf 3.17\",\"accepted_connection\":{}}}\n\
                    {\"event\":\"interval\",\"data\":{}}\n\
                    {\"event\":\"end\",\"data\":{\"sum_received\":{\"bits_per_second\":5e9,\"seconds\":10}}}\n";
        let runs = parse(text);
        assert_eq!((runs[0].bits_per_second, runs[0].sent, runs[0].line), (5e9, Some(false), 3));
        assert_eq!(parse("{\"start\":{},\"end\":{},\"error\":\"unable to connect\"}"), []);
    }
}
