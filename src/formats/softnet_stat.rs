//! /proc/net/softnet_stat: one line of hexadecimal columns for each online CPU.

/// Columns that tell something, by their position; the others are zero, or lengths of queues at this moment.
const COLUMNS: [(usize, &str); 5] =
    [(0, "processed"), (1, "dropped"), (2, "time_squeeze"), (9, "received_rps"), (10, "flow_limit_count")];
/// Position of the number of the CPU, since Linux 5.10.
pub const CPU: usize = 12;

/// The counters: first summed over all CPUs, then for each CPU as `cpu3.dropped`.
///
/// Kernels differ in the number of columns (9 to 15): what this one does not list is missing, not zero. Lines of a
/// kernel before 5.10 do not say which CPU they are of; `online` does, if it is as long as the file. `None` if this is
/// no such file.
pub fn parse(text: &str, online: Option<&[u32]>) -> Option<Vec<(String, u64)>> {
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row = line.split_ascii_whitespace().map(|column| u32::from_str_radix(column, 16).ok());
        rows.push(row.collect::<Option<Vec<u32>>>().filter(|row| row.len() >= 3)?);
    }
    let width = rows.iter().map(Vec::len).min()?;
    let columns = || COLUMNS.iter().filter(|(at, _)| *at < width);
    let mut counters: Vec<(String, u64)> =
        columns().map(|(at, name)| ((*name).to_owned(), rows.iter().map(|row| u64::from(row[*at])).sum())).collect();
    let online = online.filter(|online| online.len() == rows.len());
    for (position, row) in rows.iter().enumerate() {
        let Some(cpu) = row.get(CPU).copied().or_else(|| online?.get(position).copied()) else { continue };
        counters.extend(columns().map(|(at, name)| (format!("cpu{cpu}.{name}"), u64::from(row[*at]))));
    }
    Some(counters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(rows: &[(String, u64)], name: &str) -> Option<u64> {
        rows.iter().find(|(found, _)| found == name).map(|(_, value)| *value)
    }

    /// Two lines of Linux 6.18, the second with the number of a CPU that is not its position.
    const NOW: &str = "\
0000004d 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000004 00000000 00000000 00000000 00000000
00003e55 ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000000 00000000
";

    #[test]
    fn columns_are_summed_and_kept_for_each_cpu() {
        let rows = parse(NOW, Some(&[0, 1])).unwrap();
        assert_eq!(get(&rows, "processed"), Some(0x4d + 0x3e55));
        assert_eq!(get(&rows, "dropped"), Some(0x1_0000_0000));
        assert_eq!(get(&rows, "received_rps"), Some(3));
        assert_eq!(get(&rows, "cpu3.processed"), Some(0x3e55));
        assert_eq!(get(&rows, "cpu0.flow_limit_count"), Some(4));
        assert_eq!(get(&rows, "cpu1.processed"), None);
        assert_eq!(rows.len(), 15);
    }

    #[test]
    fn an_older_kernel_has_fewer_columns_and_no_cpu_numbers() {
        let old = "00000001 00000000 00000005 00000000 00000000 00000000 00000000 00000000 00000000\n".repeat(2);
        let rows = parse(&old, Some(&[0, 2])).unwrap();
        assert_eq!(get(&rows, "time_squeeze"), Some(10));
        assert_eq!(get(&rows, "received_rps"), None);
        assert_eq!(get(&rows, "cpu2.time_squeeze"), Some(5));
        assert_eq!(parse(&old, None).unwrap().len(), 3);
        assert_eq!(parse(&old, Some(&[0])).unwrap().len(), 3);
        for bad in ["", "\n", "x 0 0", "0000004d 00000001", "1ffffffff 0 0"] {
            assert_eq!(parse(bad, None), None, "{bad}");
        }
    }
}
