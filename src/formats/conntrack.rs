//! `conntrack -S`, `-C` and `-L`.

use super::cursor::{At, Cursor};

/// Statistics of connection tracking, summed over the CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Line of the first row.
    pub line: u32,
    /// Names and sums in the order in which they are printed.
    pub sums: Vec<(String, u64)>,
    /// How many CPUs were printed; 0 for the old form, which sums by itself.
    pub cpus: u32,
}

/// True for a row of the form with a line for each CPU.
pub fn begins(text: &str) -> bool {
    text.trim_start().starts_with("cpu=") && text.contains("found=")
}

/// Names of the old form, a line for each.
const NAMES: &[&str] = &[
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
    "chaintoolong",
];

fn old_row(text: &str) -> Option<(&str, u64)> {
    let mut words = text.split_ascii_whitespace();
    let (name, count) = (words.next()?, words.next()?.parse().ok()?);
    (words.next().is_none() && NAMES.contains(&name)).then_some((name, count))
}

/// Reads what comes next; none where it is neither form. The old form must have three rows at least.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Statistics> {
    let first = cursor.peek()?;
    let mut found = Statistics { line: first.number, ..Statistics::default() };
    if begins(first.text) {
        while let Some(row) = cursor.take_if(|text| begins(text).then(|| text.to_owned())) {
            found.cpus += 1;
            for (name, count) in row.value.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
                let Some(count) = count.parse::<u64>().ok().filter(|_| name != "cpu") else { continue };
                match found.sums.iter_mut().find(|(held, _)| held == name) {
                    Some((_, sum)) => *sum = sum.saturating_add(count),
                    None => found.sums.push((name.to_owned(), count)),
                }
            }
        }
        return Some(found);
    }
    let rows = cursor.rest().iter().take_while(|line| old_row(line.text).is_some()).count();
    if rows < 3 {
        return None;
    }
    for _ in 0..rows {
        if let Some(row) = cursor.take_if(old_row) {
            found.sums.push((row.value.0.to_owned(), row.value.1));
        }
    }
    Some(found)
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
    fn both_forms() {
        let found = read("cpu=0   \tfound=0 invalid=1 insert=0 insert_failed=2 drop=0\ncpu=1   \tfound=0 invalid=137 insert=0 insert_failed=3 drop=1\n").unwrap();
        let sum = |name: &str| found.sums.iter().find(|(held, _)| held == name).map(|(_, sum)| *sum);
        assert_eq!(
            (found.cpus, sum("invalid"), sum("insert_failed"), sum("drop"), sum("cpu")),
            (2, Some(138), Some(5), Some(1), None)
        );
        let found = read("entries   \t\t90\nsearched  \t\t2228\nfound     \t\t3774748\ndrop      \t\t0\n").unwrap();
        assert_eq!((found.cpus, found.sums.len(), found.sums[0].clone()), (0, 4, ("entries".to_owned(), 90)));
        assert_eq!(read("found 5\nlost 6\n"), None);
        assert!(
            is_entry("tcp      6 431999 ESTABLISHED src=10.0.0.1 dst=10.0.0.2 sport=1 dport=2")
                && !is_entry("src= dst=")
        );
    }
}
