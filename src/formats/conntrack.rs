//! Statistics of connection tracking: `conntrack -S` old and new, and /proc/net/stat/nf_conntrack.

use std::collections::BTreeMap;

use super::cursor::{At, Cursor};

/// Counters that both forms print, summed over all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Line of the first row.
    pub line: u32,
    /// By their names: `insert_failed`, `drop`, `early_drop` ...
    pub counters: BTreeMap<String, u64>,
}

/// Names of the counters; `entries` and `clashres` are among them in one form only.
const NAMES: [&str; 22] = [
    "entries",
    "searched",
    "found",
    "new",
    "invalid",
    "ignore",
    "delete",
    "delete_list",
    "insert",
    "insert_failed",
    "drop",
    "early_drop",
    "icmp_error",
    "error",
    "expect_new",
    "expect_create",
    "expect_delete",
    "search_restart",
    "clash_resolve",
    "clashres",
    "chaintoolong",
    "chainlength",
];

/// `cpu=0  found=0 invalid=137 insert=0 ...`.
fn cpu_row(text: &str) -> Option<Vec<(&str, u64)>> {
    let mut pairs = text.split_ascii_whitespace().map(|word| word.split_once('='));
    let (first, number) = pairs.next()??;
    number.parse::<u32>().ok().filter(|_| first == "cpu")?;
    pairs.map(|pair| pair.and_then(|(name, value)| Some((name, value.parse().ok()?)))).collect()
}

/// `insert_failed		0`, summed by the tool.
fn sum_row(text: &str) -> Option<(&str, u64)> {
    let mut words = text.split_ascii_whitespace();
    let (name, value) = (words.next()?, words.next()?.parse().ok()?);
    (NAMES.contains(&name) && words.next().is_none()).then_some((name, value))
}

/// The headings of /proc/net/stat/nf_conntrack.
fn headings(text: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    (words.len() > 10 && words[0] == "entries" && words.contains(&"insert_failed")).then_some(words)
}

/// True for a line that begins such an output, although nobody says so.
pub fn begins(text: &str) -> bool {
    headings(text).is_some() || cpu_row(text).is_some_and(|row| row.iter().any(|(name, _)| *name == "insert_failed"))
}

/// Reads one output.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Statistics> {
    let mut statistics = Statistics { line: cursor.peek()?.number, ..Statistics::default() };
    let mut add = |name: &str, value: u64| {
        let slot: &mut u64 = statistics.counters.entry(name.to_owned()).or_default();
        *slot = slot.saturating_add(value);
    };
    let start = cursor.position();
    if let Some(At { value: headings, .. }) = cursor.take_if(headings) {
        let row = |text: &str| {
            let hex: Option<Vec<u64>> =
                text.split_ascii_whitespace().map(|word| u64::from_str_radix(word, 16).ok()).collect();
            hex.filter(|row| row.len() == headings.len())
        };
        while let Some(row) = cursor.take_if(row) {
            // Each line repeats the number of entries of the whole table.
            for (name, value) in headings.iter().zip(row.value).filter(|(name, _)| **name != "entries") {
                add(name, value);
            }
        }
        return Some(statistics);
    }
    let mut met = Vec::new();
    while let Some(line) = cursor.peek() {
        if let Some(row) = cpu_row(line.text) {
            let cpu = line.text.split_ascii_whitespace().next().unwrap_or_default();
            // A CPU that comes again begins the next output.
            if met.first() == Some(&cpu) {
                break;
            }
            met.push(cpu);
            row.iter().for_each(|(name, value)| add(name, *value));
        } else if let Some((name, value)) = sum_row(line.text).filter(|(name, _)| !met.contains(name)) {
            met.push(name);
            add(name, value);
        } else {
            break;
        }
        cursor.take();
    }
    (cursor.position() > start).then_some(statistics)
}

/// True for an entry of the table, and for the line that sums it up.
pub fn is_entry(text: &str) -> bool {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let flow = text.contains("src=")
        && text.contains("dst=")
        && words.first().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    flow || text.starts_with("conntrack v") && text.contains("flow entries")
}

/// The number alone that `conntrack -C` prints.
pub fn count(cursor: &mut Cursor<'_>) -> Option<At<u64>> {
    cursor.take_if(|text| text.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> Option<Statistics> {
        let lines = lines(text);
        parse(&mut Cursor::new(&lines))
    }

    #[test]
    fn cpus_are_summed() {
        let new = read(
            "cpu=0   \tfound=0 invalid=1 insert=0 insert_failed=2 drop=3 early_drop=0\n\
            cpu=1   \tfound=0 invalid=137 insert=0 insert_failed=5 drop=0 early_drop=0\ncpu=0 found=9\n",
        )
        .unwrap();
        assert_eq!((new.counters["insert_failed"], new.counters["drop"], new.counters["found"]), (7, 3, 0));
        let old = read("entries   \t\t90\nsearched  \t\t2228\ninsert_failed\t\t4\ndrop      \t\t0\nother 5\n").unwrap();
        assert_eq!((old.counters["insert_failed"], old.counters.len()), (4, 4));
        let file = read(
            "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop\n\
            0000005a 00 01 00 02 00 00 00 00 0a 01 00\n0000005a 00 01 00 02 00 00 00 00 06 01 00\n",
        )
        .unwrap();
        assert_eq!(
            (file.counters["insert_failed"], file.counters["drop"], file.counters.get("entries")),
            (16, 2, None)
        );
    }

    #[test]
    fn other_lines_are_none() {
        for text in ["cpu=x found=0", "cpu=0 found", "drop it", "insert 5 6", ""] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(begins("cpu=0 found=0 insert_failed=0") && !begins("drop 5"));
    }
}
