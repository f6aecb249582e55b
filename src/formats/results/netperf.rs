//! Results of netperf.

use super::Run;
use crate::formats::cursor::{Cursor, pair};

/// Reads the output of one test; none where the next line is not of netperf.
pub fn read(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let first = cursor.peek()?;
    if is_title(first.text) || is_table_head(cursor) {
        return Some(table(cursor));
    }
    names_and_values(cursor).or_else(|| columns(cursor))
}

/// `MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to ...`.
fn is_title(text: &str) -> bool {
    let text = text.trim();
    let words = [
        "STREAM TEST",
        "MAERTS TEST",
        "REQUEST/RESPONSE TEST",
        "SENDFILE TEST",
        "Connect/Request/Response TEST",
        "OMNI",
    ];
    words.iter().any(|word| text.contains(word)) && text.contains(" from ") && text.contains(" to ")
}

/// The table without its title: `Recv   Send    Send` above `Socket Socket  Message  Elapsed`.
fn is_table_head(cursor: &Cursor<'_>) -> bool {
    let words = |ahead: usize| cursor.peek_at(ahead).map(|line| line.text.split_ascii_whitespace().collect::<Vec<_>>());
    let first = words(0).unwrap_or_default();
    let second = words(1).unwrap_or_default();
    first.first() == Some(&"Recv") && first.get(1) == Some(&"Send") && second.starts_with(&["Socket", "Socket"])
        || first.starts_with(&["Socket", "Message"]) && second.starts_with(&["Size", "Size"])
        || first.starts_with(&["Local", "/Remote"])
}

/// Words of the lines above the numbers.
const HEADS: &[&str] = &[
    "Recv",
    "Send",
    "Socket",
    "Size",
    "bytes",
    "Local",
    "Message",
    "Elapsed",
    "secs.",
    "Utilization",
    "Service",
    "Demand",
    "Trans.",
    "Rate",
    "Bytes",
    "Bytes/sec",
    "Time",
    "Throughput",
    "CPU",
    "Request",
    "Resp.",
    "/Remote",
    "Messages",
    "Okay",
    "Errors",
    "#",
    "%",
    "S",
    "U",
    "us/KB",
    "us/Tr",
    "per",
    "sec",
    "local",
    "remote",
    "Remote",
    "recv",
    "send",
    "secs",
    "utilization",
    "size",
];

fn is_head(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace().peekable();
    words.peek().is_some() && words.all(|word| HEADS.contains(&word) || scale(word).is_some())
}

/// Bits per second of a unit: `10^6bits/sec`, `10^9bits/s`, `KBytes/sec`, `MBytes`.
fn scale(unit: &str) -> Option<f64> {
    match unit.trim_end_matches("/sec").trim_end_matches("/s") {
        "10^3bits" => Some(1e3),
        "10^6bits" => Some(1e6),
        "10^9bits" => Some(1e9),
        "KBytes" => Some(8.0 * 1024.0),
        "MBytes" => Some(8.0 * 1_048_576.0),
        "GBytes" => Some(8.0 * 1_073_741_824.0),
        _ => None,
    }
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    numbers.filter(|numbers| !numbers.is_empty() && numbers.iter().all(|number| number.is_finite()))
}

fn table(cursor: &mut Cursor<'_>) -> Vec<Run> {
    let mut title = "";
    let mut unit = 1e6;
    let mut rows: Vec<(Vec<f64>, u32)> = Vec::new();
    let mut interim: Vec<(f64, u32)> = Vec::new();
    let start = cursor.position();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let text = line.text.trim();
        if is_title(text) && cursor.position() == start {
            title = text;
        } else if let Some(result) = text.strip_prefix("Interim result:") {
            let mut words = result.split_ascii_whitespace();
            let rate = words.next().and_then(|word| word.parse::<f64>().ok()).zip(words.next().and_then(scale));
            interim.extend(rate.map(|(rate, scale)| (rate * scale, line.number)));
        } else if text.starts_with("!!!") || text.starts_with("netperf: ") {
            // A warning.
        } else if is_head(text) && rows.is_empty() {
            // The line below may put the unit at its end.
            unit = text.split_ascii_whitespace().find_map(scale).unwrap_or(unit);
        } else if let Some(numbers) = numbers(text).filter(|_| rows.len() < 2 && (rows.is_empty() || blank == 0)) {
            rows.push((numbers, line.number));
        } else {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    let peer = title.split_once(" to ").and_then(|(_, rest)| rest.split_ascii_whitespace().next());
    let local = title
        .split_once(" from ")
        .and_then(|(_, rest)| rest.split_ascii_whitespace().next())
        .filter(|local| *local != "0.0.0.0" && *local != "::");
    let base = Run {
        tool: "netperf",
        streams: 1,
        udp: title.contains("UDP"),
        sent: Some(!title.contains("MAERTS")),
        local: local.map(str::to_owned),
        peer: peer.map(str::to_owned),
        ..Run::default()
    };
    if title.contains("REQUEST/RESPONSE") || title.contains("Request/Response") {
        return Vec::new();
    }
    let result = match rows.as_slice() {
        // UDP: the second line is the receiver's, and its last number the rate that arrived.
        [(_, _), (numbers, line)] if base.udp && numbers.len() >= 3 => {
            Some((numbers[1], numbers[numbers.len() - 1], *line))
        }
        [(numbers, line)] if base.udp && numbers.len() >= 6 => Some((numbers[2], numbers[5], *line)),
        [(numbers, line), ..] if !base.udp && numbers.len() >= 5 => Some((numbers[3], numbers[4], *line)),
        _ => None,
    };
    let run = match result {
        Some((seconds, rate, line)) if seconds > 0.0 && rate > 0.0 => {
            Some(Run { line, bits_per_second: rate * unit, seconds: Some(seconds), ..base })
        }
        Some(_) => None,
        None if interim.len() >= 3 => {
            let mean = interim.iter().map(|(rate, _)| rate).sum::<f64>() / interim.len() as f64;
            let line = interim.last().map_or(0, |(_, line)| *line);
            Some(Run { line, bits_per_second: mean, average_of: u32::try_from(interim.len()).ok(), ..base })
        }
        None => None,
    };
    run.into_iter().collect()
}

/// What the omni tests say under names.
#[derive(Default)]
struct Named {
    rate: Option<(f64, u32)>,
    unit: Option<f64>,
    seconds: Option<f64>,
    protocol: String,
    direction: String,
    retransmits: Option<u64>,
}

impl Named {
    fn take(&mut self, name: &str, value: &str, line: u32) {
        match name.to_ascii_uppercase().replace(' ', "_").as_str() {
            "THROUGHPUT" => self.rate = value.parse().ok().map(|rate| (rate, line)),
            "THROUGHPUT_UNITS" => self.unit = scale(value),
            "ELAPSED_TIME" | "ELAPSED_TIME_(SEC)" => self.seconds = value.parse().ok(),
            "PROTOCOL" => value.clone_into(&mut self.protocol),
            "DIRECTION" => value.clone_into(&mut self.direction),
            "LOCAL_TRANSPORT_RETRANS" => self.retransmits = value.parse().ok(),
            _ => {}
        }
    }

    fn run(self) -> Vec<Run> {
        let sent = match self.direction.as_str() {
            "Send" | "Xmit" => Some(true),
            "Recv" | "Receive" => Some(false),
            _ => None,
        };
        let rate = self.rate.zip(self.unit).map(|((rate, line), unit)| (rate * unit, line));
        let rate = rate.filter(|(rate, _)| rate.is_finite() && *rate > 0.0);
        let run = rate.map(|(bits_per_second, line)| Run {
            tool: "netperf",
            line,
            bits_per_second,
            seconds: self.seconds.filter(|seconds| *seconds > 0.0),
            streams: 1,
            udp: self.protocol == "UDP",
            retransmits: self.retransmits,
            sent,
            ..Run::default()
        });
        run.into_iter().collect()
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// `-k`: `THROUGHPUT=941.51`.
fn names_and_values(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let known = ["THROUGHPUT", "ELAPSED_TIME", "THROUGHPUT_UNITS", "PROTOCOL", "DIRECTION"];
    let assigned = |text: &'_ str| -> Option<usize> {
        text.split_once('=').filter(|(name, _)| is_name(name)).map(|(name, _)| name.len())
    };
    let ahead = cursor.rest().iter().take_while(|line| assigned(line.text.trim()).is_some());
    let fits =
        ahead.filter(|line| known.iter().any(|name| line.text.trim().split('=').next() == Some(name))).count() >= 2;
    if !fits {
        return None;
    }
    let mut named = Named::default();
    while let Some(found) = cursor.take_if(|text| text.trim().split_once('=').filter(|(name, _)| is_name(name))) {
        named.take(found.value.0, found.value.1.trim(), found.line);
    }
    Some(named.run())
}

/// `-o`: a line of names and a line of values, with commas between.
fn columns(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let (head, values) = (cursor.peek()?, cursor.peek_at(1)?);
    let names: Vec<&str> = head.text.split(',').map(str::trim).collect();
    let cells: Vec<&str> = values.text.split(',').map(str::trim).collect();
    if !names.contains(&"Throughput") || names.len() != cells.len() || pair(head.text).is_some() {
        return None;
    }
    let mut named = Named::default();
    for (name, value) in names.iter().zip(cells) {
        named.take(name, value, values.number);
    }
    cursor.take();
    cursor.take();
    Some(named.run())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::formats::cursor::lines;

    const STREAM: &str = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : demo\n\
                          Recv   Send    Send                          \nSocket Socket  Message  Elapsed              \n\
                          Size   Size    Size     Time     Throughput  \nbytes  bytes   bytes    secs.    10^6bits/sec  \n\n\
                          131072  16384  16384    10.00    9410.45   \n";

    #[test]
    fn streams_in_both_directions() {
        let runs = parse(STREAM);
        assert_eq!(
            (runs[0].tool, runs[0].bits_per_second, runs[0].seconds, runs[0].line),
            ("netperf", 9_410.45e6, Some(10.0), 7)
        );
        assert_eq!(
            (runs[0].sent, runs[0].peer.as_deref(), runs[0].local.as_deref()),
            (Some(true), Some("10.0.0.2"), None)
        );
        let runs = parse(&STREAM.replace("STREAM TEST", "MAERTS TEST").replace("10^6bits", "10^9bits"));
        assert_eq!((runs[0].sent, runs[0].bits_per_second), (Some(false), 9_410.45e9));
    }

    #[test]
    fn a_table_whose_white_space_and_title_are_gone() {
        let text = "Recv Send Send\nSocket Socket Message Elapsed\nSize Size Size Time Throughput\nbytes bytes bytes secs. 10^6bits/sec\n\n\
                    4194304 4194304 4194304 5.04 2853.85\n\nEnable jumbo frames\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let runs = read(&mut cursor).unwrap();
        assert_eq!((runs[0].bits_per_second, runs[0].seconds), (2_853.85e6, Some(5.04)));
        assert_eq!(cursor.position(), 6);
    }

    #[test]
    fn datagrams_and_transactions() {
        let text = "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n\
                    Socket  Message  Elapsed      Messages                \nSize    Size     Time         Okay Errors   Throughput\n\
                    bytes   bytes    secs            #      #   10^6bits/sec\n\n\
                    212992   65507   10.00       18266      0     957.02\n212992           10.00       18000            943.08\n";
        let runs = parse(text);
        assert_eq!((runs[0].udp, runs[0].bits_per_second, runs[0].seconds), (true, 943.08e6, Some(10.0)));
        let text = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\nLocal /Remote\n\
                    Socket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate         \n\
                    bytes  Bytes  bytes    bytes   secs.    per sec   \n\n16384  131072 1        1       10.00    22551.09   \n16384  131072 \n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        assert_eq!(read(&mut cursor), Some(Vec::new()));
        assert_eq!(cursor.rest().len(), 0);
    }

    #[test]
    fn omni_forms_and_interim_results() {
        let runs =
            parse("THROUGHPUT=941.51\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.02\nDIRECTION=Recv\nPROTOCOL=TCP\n");
        assert_eq!((runs[0].bits_per_second, runs[0].sent, runs[0].line), (941.51e6, Some(false), 1));
        let runs = parse("Throughput,Throughput Units,Elapsed Time (sec)\n9.41,10^9bits/s,10.00\n");
        assert_eq!((runs[0].bits_per_second, runs[0].seconds), (9.41e9, Some(10.0)));
        let head = STREAM.split("Recv").next().unwrap();
        let text = format!(
            "{head}{}",
            "Interim result:  941.50 10^6bits/s over 1.00 seconds ending at 1700000000.1\n".repeat(3)
        );
        assert_eq!((parse(&text)[0].bits_per_second, parse(&text)[0].average_of), (941.5e6, Some(3)));
        for other in ["A=1\nB=2\n", "PATH=/bin\nHOME=/\n", "Throughput\n5\n6\n"] {
            assert!(parse(other).is_empty(), "{other}");
        }
    }
}
