//! The lines of the CPUs in /proc/stat.

/// Times in the order of the columns. What guests use is inside `user` and `nice`.
pub const TIMES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// The times of a CPU since boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Its number.
    pub cpu: u32,
    /// Ticks under the names of [`TIMES`]; a kernel before 2.6.11 has fewer.
    pub ticks: Vec<(&'static str, u64)>,
}

/// The online CPUs in the order of the file. The line of their sum is passed over.
pub fn cpus(text: &str) -> Vec<Times> {
    let row = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let ticks: Vec<(&'static str, u64)> =
            TIMES.iter().zip(words).map_while(|(name, word)| Some((*name, word.parse().ok()?))).collect();
        (ticks.len() >= 4).then_some(Times { cpu, ticks })
    };
    // They are the first lines: what follows may be long.
    text.lines().take_while(|line| line.starts_with("cpu")).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_online_cpu_has_its_times() {
        let text =
            "cpu  17 1 30 300 12 0 9 2 0 0\ncpu0 10 1 20 200 8 0 5 1 0 0\ncpu3 7 0 10 100 4 0 4 1 0 0\nintr 5 cpu9\n";
        let rows = cpus(text);
        assert_eq!(rows.iter().map(|row| row.cpu).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(rows[1].ticks[3..], [("idle", 100), ("iowait", 4), ("irq", 0), ("softirq", 4), ("steal", 1)]);
        assert_eq!(cpus("cpu0 1 2 3 4\n")[0].ticks.len(), 4);
    }

    #[test]
    fn lines_that_are_cut_or_odd_are_no_rows() {
        for bad in ["", "cpu0\n", "cpu0 1 2 3\n", "cpux 1 2 3 4\n", "cpu0 a b c d\n", "x\ncpu0 1 2 3 4\n"] {
            assert!(cpus(bad).is_empty(), "{bad}");
        }
    }
}
