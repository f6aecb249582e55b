//! Tables of sysstat (`mpstat`, `sar`): a line of headings that comes again and again, and rows below it, both with the
//! time in front; at the end rows of averages.

use super::cursor::{At, Cursor};

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
    /// Cells below the headings.
    pub cells: Vec<String>,
}

impl Table {
    /// The number of a row below a heading. Some languages have a comma in numbers.
    pub fn number(&self, row: &Row, heading: &str) -> Option<f64> {
        let at = self.headings.iter().position(|name| name == heading)?;
        row.cells.get(at)?.replace(',', ".").parse().ok()
    }

    /// The first cell of a row: `all`, the number of a CPU or the name of an interface, where the table has it.
    pub fn subject<'r>(&self, row: &'r Row) -> Option<&'r str> {
        let named = matches!(self.headings.first()?.as_str(), "CPU" | "IFACE");
        row.cells.first().map(String::as_str).filter(|_| named)
    }
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
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        if let Some(headings) = headings(line.text) {
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
            table.rows.push(At::new(Row { average, cells }, line.number));
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
        for other in ["12:00:01 eth0 5 6", "Average: of all", "at 12:00:01 CPU 100%", ""] {
            assert_eq!(read(other).1, 0, "{other}");
        }
    }
}
