//! `vmstat`: two lines of headings and a line for each interval.

use super::cursor::{At, Cursor};

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vmstat {
    /// Headings: `r`, `b`, `swpd` ... `us`, `sy`, `id`, `wa`, `st`.
    pub headings: Vec<String>,
    /// Rows; the first one is about the time since boot.
    pub rows: Vec<At<Vec<u64>>>,
}

/// True for the first line of headings.
pub fn begins(text: &str) -> bool {
    text.trim_start().starts_with("procs ") && text.contains("memory")
}

/// Reads the table.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Vmstat> {
    let mut table = Vmstat::default();
    let start = cursor.position();
    loop {
        if cursor.take_if(|text| begins(text).then_some(())).is_some() {
            continue;
        }
        let headings = |text: &str| {
            let words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
            (words.len() > 10 && words[0] == "r" && words[1] == "b").then_some(words)
        };
        if let Some(found) = cursor.take_if(headings) {
            table.headings = found.value;
            continue;
        }
        let width = table.headings.len();
        let row = |text: &str| {
            let cells: Option<Vec<u64>> = text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
            cells.filter(|cells| cells.len() == width && width > 0)
        };
        let Some(row) = cursor.take_if(row) else { break };
        table.rows.push(row);
    }
    (cursor.position() > start).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn rows_fit_their_headings() {
        let text = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
            r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n \
            1  0      0 2000000  10000 500000    0    0     1     2   50   60  1  2 90  0  7\n \
            r is a letter\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let table = parse(&mut cursor).unwrap();
        assert_eq!((table.rows.len(), table.rows[0].value[16], cursor.position()), (1, 7, 3));
        assert_eq!(table.headings[16], "st");
        assert_eq!(parse(&mut cursor), None);
    }
}
