//! Tables of sysstat (`mpstat`, `sar`): a line of headings that comes again and again, and rows below it, both with the
//! time in front; at the end rows of averages.

use super::cursor::{At, Cursor};

/// Longest interval, in seconds, of somebody who watches; the timer of sysstat writes a row every ten minutes.
const LONGEST: u32 = 60;
/// Most tables of one output; sar -A has fewer.
const MOST: usize = 64;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Headings without the time: `CPU`, `%usr`, ... or `IFACE`, `rxpck/s`, ...
    pub headings: Vec<String>,
    /// Rows in their order.
    pub rows: Vec<At<Row>>,
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// True for an average over the whole run.
    pub average: bool,
    /// Seconds since the last headings or the row of another moment before it; none where a clock is missing. What sysstat
    /// keeps in its files has minutes between rows.
    pub after: Option<u32>,
    /// Cells below the headings.
    pub cells: Vec<String>,
}

impl Table {
    /// The number of a row below a heading. Some languages have a comma in numbers.
    pub fn number(&self, row: &Row, heading: &str) -> Option<f64> {
        let at = self.headings.iter().position(|name| name == heading)?;
        row.cells.get(at)?.replace(',', ".").parse().ok()
    }

    /// The rows that tell of the interval that somebody watched: the averages, else those of the last moment. None where the
    /// rows are of the past days, or of the time since boot.
    pub fn watched(&self) -> impl Iterator<Item = &At<Row>> {
        let watched = |row: &&At<Row>| row.value.after.is_some_and(|after| (1..=LONGEST).contains(&after));
        let any = self.rows.iter().any(|row| watched(&row));
        let averages = self.rows.iter().any(|row| row.value.average);
        // A list of averages alone was cut out of an output.
        let alone = averages && self.rows.iter().all(|row| row.value.average);
        self.rows.iter().filter(move |row| if averages { row.value.average && (any || alone) } else { watched(row) })
    }

    /// The first cell of a row: `all`, the number of a CPU or the name of an interface, where the table has it.
    pub fn subject<'r>(&self, row: &'r Row) -> Option<&'r str> {
        let named = matches!(self.headings.first()?.as_str(), "CPU" | "IFACE");
        row.cells.first().map(String::as_str).filter(|_| named)
    }
}

/// Seconds of the day of the clock that a line begins with.
fn clock(text: &str) -> Option<u32> {
    let mut words = text.split_ascii_whitespace();
    let mut parts = words.next()?.splitn(3, ':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let hour = match words.next() {
        Some("AM") => hour % 12,
        Some("PM") => hour % 12 + 12,
        _ => hour,
    };
    (hour < 24 && minute < 60 && second < 62).then_some(hour * 3600 + minute * 60 + second)
}

/// Words of a line without the time, and true for an average.
fn words(text: &str) -> Option<(bool, Vec<&str>)> {
    let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
    let first = *words.first()?;
    let clock = first.len() == 8 && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    if first != "Average:" && !clock {
        return None;
    }
    words.remove(0);
    if words.first().is_some_and(|word| matches!(*word, "AM" | "PM")) {
        words.remove(0);
    }
    Some((first == "Average:", words))
}

/// Headings, where the line holds some.
pub fn headings(text: &str) -> Option<Vec<String>> {
    let (_, words) = words(text)?;
    let of_sysstat = |word: &&str| {
        word.starts_with('%')
            || word.ends_with("/s")
            || matches!(*word, "CPU" | "IFACE" | "INTR" | "TOTAL" | "runq-sz")
            || word.contains("-avg")
            || word.starts_with("kb")
    };
    let all = words.iter().all(|word| word.parse::<f64>().is_err());
    let some = words.iter().filter(|word| of_sysstat(word)).count();
    (all && some >= 2).then(|| words.into_iter().map(str::to_owned).collect())
}

/// Reads the tables that come next; the same headings go on with the same table.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut current: Option<usize> = None;
    // The moment before the present one, and the present one.
    let mut moments: (Option<u32>, Option<u32>) = (None, None);
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        if let Some(headings) = headings(line.text) {
            // Headings bear the moment at which their first interval began.
            moments = (None, clock(line.text));
            let known = tables.iter().position(|table| table.headings == headings);
            current = Some(known.unwrap_or(tables.len()));
            if known.is_none() && tables.len() < MOST {
                tables.push(Table { headings, rows: Vec::new() });
            }
        } else {
            let Some(table) = current.and_then(|at| tables.get_mut(at)) else { break };
            let Some((average, cells)) = words(line.text).filter(|(_, cells)| cells.len() == table.headings.len())
            else {
                break;
            };
            let cells = cells.into_iter().map(str::to_owned).collect();
            let now = clock(line.text).filter(|_| !average);
            if now != moments.1 {
                moments = (moments.1, now);
            }
            let after = moments.0.zip(now).map(|(before, now)| (now + 86_400 - before) % 86_400);
            table.rows.push(At::new(Row { average, after, cells }, line.number));
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Vec<Table>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor), cursor.position())
    }

    #[test]
    fn twelve_hour_clocks_have_a_word_more() {
        let text = "11:00:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n\
            11:00:02 PM  all    1.00    0.00    2.00    0.00    0.00   12.50    0.00    0.00    0.00   84.50\n\
            11:00:02 PM    0    1.00    0.00    0.00    0.00    0.00   99.00    0.00    0.00    0.00    0.00\n\n\
            Average:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n\
            Average:     all    1,00    0.00    2.00    0.00    0.00   10.50    0.00    0.00    0.00   84.50\nend\n";
        let (tables, taken) = read(text);
        assert_eq!((tables.len(), taken), (1, 6));
        let table = &tables[0];
        assert_eq!(table.rows.len(), 3);
        let hot = &table.rows[1].value;
        assert_eq!((table.subject(hot), table.number(hot, "%soft")), (Some("0"), Some(99.0)));
        assert_eq!((hot.after, table.watched().count()), (Some(1), 1));
        let average = &table.rows[2].value;
        assert!(average.average && table.number(average, "%usr") == Some(1.0));
    }

    #[test]
    fn interfaces_of_sar() {
        let text = "12:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n\
            12:00:02         eth0  81234.00  40000.00 118000.00   2600.00      0.00      0.00      0.00     96.66\n";
        let (tables, _) = read(text);
        let row = &tables[0].rows[0].value;
        assert_eq!((tables[0].subject(row), tables[0].number(row, "%ifutil")), (Some("eth0"), Some(96.66)));
        assert_eq!(tables[0].watched().count(), 1);
        // What was written every ten minutes, and over midnight.
        let (tables, _) = read(&text.replace("12:00:02", "12:10:01"));
        assert_eq!((tables[0].rows[0].value.after, tables[0].watched().count()), (Some(600), 0));
        let (tables, _) = read(&text.replace("12:00:01", "23:59:59").replace("12:00:02", "00:00:04"));
        assert_eq!(tables[0].rows[0].value.after, Some(5));
        for other in ["12:00:01 eth0 5 6", "Average: of all", "at 12:00:01 CPU 100%", ""] {
            assert_eq!(read(other).1, 0, "{other}");
        }
    }
}
