//! `dropwatch`.

/// A row of dropwatch: how many packets were dropped, and in which function of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drops {
    /// Packets.
    pub count: u64,
    /// Function.
    pub function: String,
}

/// Reads `12 drops at icmp_rcv+11c (0xffffffff8171b9fc) [software]`.
pub fn drops(text: &str) -> Option<Drops> {
    let (count, rest) = text.trim().split_once(" drops at ")?;
    let function = rest.split_ascii_whitespace().next()?.split('+').next()?;
    Some(Drops { count: count.parse().ok()?, function: function.to_owned() })
}

/// True for what dropwatch says around its rows.
pub fn is_dropwatch(text: &str) -> bool {
    let text = text.trim();
    let starts = [
        "dropwatch>",
        "Initializing ",
        "Initalizing ",
        "Enabling monitoring",
        "Kernel monitoring activated",
        "Issue Ctrl-C to stop",
        "Waiting for",
        "Got a stop message",
        "start",
        "stop",
        "exit",
    ];
    starts.iter().any(|start| text.starts_with(start)) && text.len() < 80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_have_a_place() {
        assert_eq!(
            drops("12 drops at icmp_rcv+11c (0xffffffff8171b9fc) [software]"),
            Some(Drops { count: 12, function: "icmp_rcv".into() })
        );
        assert_eq!(drops("many drops at home"), None);
        assert!(is_dropwatch("Initalizing kallsyms db") && is_dropwatch("dropwatch> start") && !is_dropwatch("x"));
    }
}
