//! Ways through the network, hop by hop: `tracepath`, `traceroute`, `mtr --report`.

use super::cursor::{At, Cursor};

/// A hop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hop {
    /// Its number.
    pub number: u32,
    /// Its name or address; none where it does not answer.
    pub host: Option<String>,
    /// Largest packet that passes from here on, as tracepath found.
    pub pmtu: Option<u32>,
    /// Packets lost up to here in percent, as mtr counts.
    pub loss: Option<f64>,
    /// Mean round trip in milliseconds, as mtr counts.
    pub mean: Option<f64>,
}

/// A way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Hops in their order; tracepath lists one twice where it finds a smaller MTU.
    pub hops: Vec<At<Hop>>,
    /// Largest packet that passes the whole way.
    pub pmtu: Option<At<u32>>,
}

fn pmtu(text: &str) -> Option<u32> {
    let mut words = text.split_ascii_whitespace().skip_while(|word| *word != "pmtu");
    words.nth(1)?.parse().ok()
}

/// A hop of tracepath: ` 1?: [LOCALHOST]  pmtu 1500`, ` 2:  192.0.2.1  0.412ms asymm  3`, ` 3:  no reply`.
fn tracepath(text: &str) -> Option<Hop> {
    let (number, rest) = text.trim().split_once(':')?;
    let number = number.trim_end_matches('?').parse().ok()?;
    let rest = rest.trim();
    let first = rest.split_ascii_whitespace().next()?;
    let silent = rest.starts_with("no reply") || first == "[LOCALHOST]";
    let timed = rest.contains("ms") || rest.contains("pmtu ");
    (silent || timed).then(|| Hop {
        number,
        host: (!silent).then(|| first.to_owned()),
        pmtu: pmtu(rest),
        ..Hop::default()
    })
}

/// A hop of traceroute: ` 1  gw (192.0.2.1)  0.312 ms  0.290 ms`, ` 2  * * *`.
fn traceroute(text: &str) -> Option<Hop> {
    let mut words = text.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let rest: Vec<&str> = words.collect();
    let answers = rest.contains(&"ms");
    let silent = !rest.is_empty() && rest.iter().all(|word| *word == "*");
    let host = rest.iter().find(|word| **word != "*").map(|word| (*word).to_owned());
    (answers || silent).then_some(Hop { number, host, ..Hop::default() })
}

/// A hop of mtr: `  1.|-- 192.0.2.1   0.0%    10    0.3   0.4   0.2   0.9   0.1`.
fn mtr(text: &str) -> Option<Hop> {
    let (number, rest) = text.trim().split_once('.')?;
    let number = number.parse().ok()?;
    let rest = rest.trim_start_matches(['|', '-', '`', ' ']);
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let at = words.iter().position(|word| word.ends_with('%') && word.starts_with(|char: char| char.is_ascii_digit()));
    let loss = at.and_then(|at| words[at].trim_end_matches('%').parse().ok());
    let silent = words.first() == Some(&"???");
    if loss.is_none() && !silent {
        return None;
    }
    let mean = at.and_then(|at| words.get(at + 3)?.parse().ok());
    let host = words.first().filter(|_| !silent).map(|word| (*word).to_owned());
    Some(Hop { number, host, loss, mean, pmtu: None })
}

/// True for the head of a report of mtr or traceroute.
pub fn is_heading(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("traceroute to ")
        || text.starts_with("HOST: ") && text.contains("Loss%")
        || text.starts_with("Host ") && text.contains("Loss%")
        || text.starts_with("Start: ")
        || text.starts_with("Keys: ")
        || text.starts_with("Packets ") && text.ends_with("Pings")
}

/// True for a line that begins such an output, although nobody says so.
pub fn begins(text: &str) -> bool {
    let heading = is_heading(text) && !text.trim_start().starts_with(['S', 'K', 'P']);
    heading || tracepath(text).is_some_and(|hop| hop.pmtu.is_some() && text.contains("[LOCALHOST]"))
}

/// Reads the hops that come next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Trace> {
    let mut trace = Trace::default();
    let start = cursor.position();
    loop {
        if cursor.take_if(|text| is_heading(text).then_some(())).is_some() {
            continue;
        }
        let end = cursor.take_if(|text| {
            let text = text.trim_start();
            let ends = ["Resume: ", "Too many hops: "].iter().any(|begin| text.starts_with(begin));
            ends.then(|| pmtu(text))
        });
        if let Some(end) = end {
            trace.pmtu = end.value.map(|most| At::new(most, end.line));
            continue;
        }
        let hop = cursor.take_if(|text| mtr(text).or_else(|| tracepath(text)).or_else(|| traceroute(text)));
        match hop {
            Some(hop) => trace.hops.push(hop),
            None => break,
        }
    }
    (cursor.position() > start).then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Trace, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor).unwrap_or_default(), cursor.position())
    }

    #[test]
    fn tracepath_finds_the_smallest_mtu() {
        let (trace, taken) = read(
            " 1?: [LOCALHOST]                      pmtu 9000\n 1:  192.0.2.1                                             0.412ms \n \
             2:  192.0.2.1                                             0.400ms pmtu 1500\n 2:  no reply\n 3:  198.51.100.1   5.1ms reached\n     \
             Resume: pmtu 1500 hops 3 back 3 \nend\n",
        );
        assert_eq!((trace.hops.len(), taken), (5, 6));
        assert_eq!((trace.hops[0].value.pmtu, trace.hops[2].value.pmtu), (Some(9000), Some(1500)));
        assert_eq!(trace.pmtu, Some(At::new(1500, 6)));
        assert_eq!(trace.hops[3].value.host, None);
    }

    #[test]
    fn mtr_counts_losses() {
        let (trace, taken) = read(
            "Start: 2026-01-02T03:04:05+0000\nHOST: host1                        Loss%   Snt   Last   Avg  Best  Wrst StDev\n  \
            1.|-- 192.0.2.1                 10.0%    10    0.3   0.4   0.2   0.9   0.1\n  2.|-- ???                       100.0    10    0.0   0.0   0.0   0.0   0.0\n",
        );
        assert_eq!((trace.hops.len(), taken), (2, 4));
        let first = &trace.hops[0].value;
        assert_eq!((first.loss, first.mean, first.host.as_deref()), (Some(10.0), Some(0.4), Some("192.0.2.1")));
    }

    #[test]
    fn traceroute_and_other_lines() {
        let (trace, _) = read(
            "traceroute to h (192.0.2.9), 30 hops max, 60 byte packets\n 1  gw (192.0.2.1)  0.312 ms  0.290 ms\n 2  * * *\n",
        );
        assert_eq!(trace.hops[0].value.host.as_deref(), Some("gw"));
        assert_eq!(trace.hops[1].value.host, None);
        for other in ["1: x", "5 apples", "1.5 Gbit", "2. then do this", ""] {
            assert_eq!(read(other).1, 0, "{other}");
        }
        assert!(begins(" 1?: [LOCALHOST]                      pmtu 1500") && !begins("Start: now"));
    }
}
