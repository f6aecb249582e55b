//! /proc/stat: times of the CPUs in ticks.

/// Names of the columns that do not overlap: `guest` and `guest_nice` behind them are inside `user` and `nice`.
pub const COLUMNS: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// The line of a CPU, or of all together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number; none for all together.
    pub cpu: Option<u32>,
    /// Ticks in the order of [`COLUMNS`]; kernels before 2.6.11 have fewer.
    pub ticks: Vec<u64>,
}

impl Row {
    /// All ticks.
    pub fn total(&self) -> u64 {
        self.ticks.iter().fold(0, |sum, ticks| sum.saturating_add(*ticks))
    }

    /// The columns by their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COLUMNS.into_iter().zip(self.ticks.iter().copied())
    }
}

/// Reads the line of a CPU.
pub fn row(text: &str) -> Option<Row> {
    let mut words = text.split_ascii_whitespace();
    let number = words.next()?.strip_prefix("cpu")?;
    let cpu = if number.is_empty() { None } else { Some(number.parse().ok()?) };
    let ticks: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let fits = (4..=10).contains(&ticks.len());
    fits.then(|| Row { cpu, ticks: ticks.into_iter().take(COLUMNS.len()).collect() })
}

/// The online CPUs in the order of the file, each by its number. The line of their sum is passed over.
pub fn cpus(text: &str) -> impl Iterator<Item = (u32, Row)> {
    // They are the first lines: what follows may be long.
    let rows = text.lines().take_while(|line| line.starts_with("cpu")).filter_map(row);
    rows.filter_map(|row| Some((row.cpu?, row)))
}

/// True for the other lines of the file.
pub fn is_other(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let known = ["intr", "ctxt", "btime", "processes", "procs_running", "procs_blocked", "softirq", "page", "swap"];
    known.contains(&first) && text.split(' ').skip(1).all(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_not_counted_twice() {
        let all = row("cpu  69486 896 22864 200523 11442 0 577 230 50 5").unwrap();
        assert_eq!((all.cpu, all.ticks.len(), all.total()), (None, 8, 306_018));
        let one = row("cpu3 1 2 3 4").unwrap();
        assert_eq!((one.cpu, one.named().last()), (Some(3), Some(("idle", 4))));
        assert!(is_other("procs_running 2") && is_other("intr 5 0 7") && !is_other("softirq of the CPU"));
        let text =
            "cpu  17 1 30 300\ncpu0 10 1 20 200 8 0 5 1 0 0\ncpu3 7 0 10 100 4 0 4 1\nintr 5 cpu9\ncpu7 1 2 3 4\n";
        let numbers: Vec<(u32, u64)> = cpus(text).map(|(cpu, row)| (cpu, row.total())).collect();
        assert_eq!(numbers, [(0, 245), (3, 126)]);
        for other in ["cpu", "cpu 1 2", "cpux 1 2 3 4", "cpu0 a b c d", "cpu : 0", ""] {
            assert_eq!(row(other), None, "{other}");
        }
    }
}
