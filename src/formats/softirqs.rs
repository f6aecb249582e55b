//! /proc/softirqs: a column for each possible CPU, a line for each kind of soft interrupt.

/// Soft interrupts of the network since boot, with the number of their CPU.
pub fn network(text: &str) -> Vec<(u32, [(&'static str, u64); 2])> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let cpus: Option<Vec<u32>> =
        head.split_ascii_whitespace().map(|word| word.strip_prefix("CPU")?.parse().ok()).collect();
    let row = |name: &str| {
        let line = text.lines().find_map(|line| line.trim_ascii_start().strip_prefix(name)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().map(|figure| figure.parse::<u64>().ok()).collect::<Option<Vec<u64>>>()
    };
    let (Some(cpus), Some(sent), Some(received)) = (cpus, row("NET_TX"), row("NET_RX")) else { return Vec::new() };
    if sent.len() != cpus.len() || received.len() != cpus.len() {
        return Vec::new();
    }
    let figures = sent.into_iter().zip(received).map(|(sent, received)| [("NET_RX", received), ("NET_TX", sent)]);
    cpus.into_iter().zip(figures).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_told_for_each_cpu() {
        let text = "                    CPU0       CPU2       \n          HI:          0          0\n      \
                    NET_TX:         12         14\n      NET_RX:       1599       1171\n       BLOCK:  0  2\n";
        assert_eq!(network(text), [(0, [("NET_RX", 1599), ("NET_TX", 12)]), (2, [("NET_RX", 1171), ("NET_TX", 14)])]);
    }

    #[test]
    fn a_table_that_does_not_fit_tells_nothing() {
        for bad in ["", "CPU0\nNET_RX: 1\n", "CPU0\nNET_TX: 1 2\nNET_RX: 1\n", "CPU0\nNET_TX: x\nNET_RX: 1\n"] {
            assert!(network(bad).is_empty(), "{bad}");
        }
    }
}
