//! Rows of iperf3 and iperf 2, which differ in little: `[  5]   0.00-10.00  sec  11.8 GBytes  10.1 Gbits/sec  16900  sender`.

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row<'t> {
    /// Number of the stream, or `SUM`.
    pub id: &'t str,
    /// `TX-C`, `RX-C` and so on of a test in both directions; else empty.
    pub role: &'t str,
    /// Seconds.
    pub from: f64,
    /// Seconds.
    pub to: f64,
    /// Digits behind the point of the times: iperf3 prints two.
    pub digits: usize,
    pub bits_per_second: f64,
    /// What follows the rate.
    pub rest: Vec<&'t str>,
}

impl Row<'_> {
    pub fn seconds(&self) -> f64 {
        self.to - self.from
    }

    pub fn is_sum(&self) -> bool {
        self.id.starts_with("SUM")
    }
}

/// The line from its first bracket on, where before it stands nothing but a stamp (`--timestamps`) or the echo of Ctrl-C.
pub(super) fn from_bracket(text: &str) -> Option<&str> {
    let at = text.find('[')?;
    let front = text[..at].trim();
    let stamp = front.len() <= 40 && front.contains(':') && front.contains(|char: char| char.is_ascii_digit());
    (front.is_empty() || front == "^C" || stamp).then(|| &text[at..])
}

/// What stands in the first brackets, in the second, and behind them.
pub(super) fn brackets(text: &str) -> Option<(&str, &str, &str)> {
    let (id, rest) = from_bracket(text)?.strip_prefix('[')?.split_once(']')?;
    match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((role, rest)) => Some((id.trim(), role.trim(), rest)),
        None => Some((id.trim(), "", rest)),
    }
}

/// Reads a row; none for any other line.
pub(super) fn row(text: &str) -> Option<Row<'_>> {
    let (id, role, rest) = brackets(text)?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    // iperf 2 glues a space into short times: ` 0.0- 1.0 sec`.
    let (range, words) = match words.as_slice() {
        [from, to, "sec", ..] if from.ends_with('-') => ((*from, *to), &words[2..]),
        [range, "sec", ..] => (range.split_once('-')?, &words[1..]),
        _ => return None,
    };
    let (from, to) = (range.0.trim_end_matches('-'), range.1);
    let digits = to.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let unit = words.iter().position(|word| word.ends_with("/sec"))?;
    let scale = scale(words[unit])?;
    let number =
        |text: &str| text.replace(',', ".").parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let row = Row {
        id,
        role,
        from: number(from)?,
        to: number(to)?,
        digits,
        bits_per_second: number(words.get(unit.checked_sub(1)?)?)? * scale,
        rest: words[unit + 1..].to_vec(),
    };
    (row.to > row.from).then_some(row)
}

/// Bits per second of a unit. The letters of bits are decimal, those of bytes binary.
pub(super) fn scale(unit: &str) -> Option<f64> {
    let name = unit.strip_suffix("/sec").or_else(|| unit.strip_suffix("/s"))?;
    let (letter, bytes) = match name.strip_suffix("bits") {
        Some(letter) => (letter, false),
        None => (name.strip_suffix("Bytes")?, true),
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == letter)? as i32;
    Some(if bytes { 8.0 * 1024_f64.powi(power) } else { 1000_f64.powi(power) })
}

/// The average over intervals of a test that was cut off, in bit/s, and how many they are; none for fewer than three,
/// which say little.
pub(super) fn average<'r, 't: 'r>(rows: impl Iterator<Item = &'r Row<'t>>) -> Option<(f64, u32)> {
    let (mut bits, mut seconds, mut count) = (0.0, 0.0, 0);
    for row in rows {
        bits += row.bits_per_second * row.seconds();
        seconds += row.seconds();
        count += 1;
    }
    (count >= 3 && seconds > 0.0).then(|| (bits / seconds, count))
}

/// `[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201`: stream, this end with its port, the other end.
pub(super) fn connected(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (id, _, rest) = brackets(text)?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    match words.as_slice() {
        ["local", local, "port", port, "connected", "to" | "with", peer, "port", ..] => Some((id, local, port, peer)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_programs() {
        let found = row("[  5][TX-C]   0.00-10.04  sec  1.09 GBytes   935 Mbits/sec    3             sender").unwrap();
        assert_eq!((found.id, found.role, found.seconds(), found.digits), ("5", "TX-C", 10.04, 2));
        assert_eq!((found.bits_per_second, found.rest), (935e6, vec!["3", "sender"]));
        let found = row("[ 5] 0.00-30.00 sec 11.5 MBytes 3.22 Mbits/sec receiver").unwrap();
        assert_eq!((found.bits_per_second, found.rest), (3.22e6, vec!["receiver"]));
        let found = row("[  3]  0.0- 1.0 sec   113 MBytes   949 Mbits/sec").unwrap();
        assert_eq!((found.from, found.to, found.digits), (0.0, 1.0, 1));
        let found = row("^C[  4]   4.00-4.93   sec  0.00 Bytes  0.00 bits/sec    0   8.74 KBytes").unwrap();
        assert_eq!((found.bits_per_second, found.rest[0]), (0.0, "0"));
        let stamped = row("Tue Feb 10 09:34:10 2026 [SUM]   0.00-1.00   sec   112 MBytes   112 MBytes/sec").unwrap();
        assert_eq!((stamped.is_sum(), stamped.bits_per_second), (true, 112.0 * 8.0 * 1_048_576.0));
        for other in [
            "[ ID] Interval           Transfer     Bitrate         Retr",
            "[  5] local 10.0.0.1 port 5 connected to 10.0.0.2 port 5201",
            "[  5]   1.00-0.00   sec  1 MBytes  1 Mbits/sec",
            "[  5]   0.00-1.00   sec  1 MBytes  1 furlongs/sec",
            "prose [  5]   0.00-1.00   sec  1 MBytes  1 Mbits/sec",
            "[  5]   0.00-NaN   sec  1 MBytes  1 Mbits/sec",
            "",
        ] {
            assert_eq!(row(other), None, "{other}");
        }
    }

    #[test]
    fn few_intervals_are_no_average() {
        let rows: Vec<Row<'_>> =
            ["[  5]   0.00-1.00   sec  1 MBytes  9.00 Mbits/sec", "[  5]   1.00-3.00   sec  1 MBytes  3.00 Mbits/sec"]
                .iter()
                .filter_map(|text| row(text))
                .collect();
        assert_eq!(average(rows.iter()), None);
        assert_eq!(average(rows.iter().chain(&rows)), Some((5e6, 4)));
    }
}
