//! Files of /proc/net/stat: a line of names, then a line of hexadecimal figures for each CPU.

/// The counters, summed over all CPUs. `entries` is left out: each line repeats that length of the whole table. `None` if
/// this is no such file.
pub fn parse(text: &str) -> Option<Vec<(String, u64)>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let names: Vec<&str> = lines.next()?.split_ascii_whitespace().collect();
    let mut sums: Vec<u64> = vec![0; names.len()];
    let mut rows = 0;
    for line in lines {
        let figures: Vec<u64> = line
            .split_ascii_whitespace()
            .map(|figure| u64::from_str_radix(figure, 16).ok())
            .collect::<Option<_>>()
            .filter(|figures: &Vec<u64>| figures.len() == names.len())?;
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum = sum.saturating_add(figure);
        }
        rows += 1;
    }
    let named = |name: &&str| name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if rows == 0 || !names.iter().all(named) {
        return None;
    }
    let counters = names.into_iter().zip(sums).filter(|(name, _)| *name != "entries");
    Some(counters.map(|(name, sum)| (name.to_owned(), sum)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_cpus_are_added() {
        let text = "entries  found insert_failed drop\n00000010  00000001 0000000f 00000000\n\
                    00000010  00000002 00000001 00000003\n";
        let rows = parse(text).unwrap();
        let rows: Vec<(&str, u64)> = rows.iter().map(|(name, sum)| (name.as_str(), *sum)).collect();
        assert_eq!(rows, [("found", 3), ("insert_failed", 16), ("drop", 3)]);
    }

    #[test]
    fn a_table_that_does_not_fit_is_none() {
        for bad in ["", "entries found\n", "entries found\n00000001\n", "entries found\n1 x\n", "1 2\n1 2\n"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
