//! `numactl -H`.

/// True for a row of `numactl -H`.
pub fn is_node_row(text: &str) -> bool {
    let text = text.trim();
    let numbers = |text: &str| text.split_ascii_whitespace().all(|word| word.parse::<u32>().is_ok());
    text.starts_with("available: ") && text.contains(" nodes")
        || text.starts_with("node distances:")
        || text.strip_prefix("node ").is_some_and(|rest| {
            rest.contains(" cpus:") || rest.contains(" size:") || rest.contains(" free:") || numbers(rest)
        })
        || text.split_once(':').is_some_and(|(node, distances)| {
            node.trim().parse::<u32>().is_ok() && !distances.trim().is_empty() && numbers(distances)
        })
        || text == "No NUMA available on this system"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_distances() {
        for row in [
            "available: 2 nodes (0-1)",
            "node 0 cpus: 0 1 2 3",
            "node 0 size: 64290 MB",
            "node distances:",
            "node   0   1 ",
            "  0:  10  21 ",
        ] {
            assert!(is_node_row(row), "{row}");
        }
        assert!(!is_node_row("node is a word") && !is_node_row("0: "));
    }
}
