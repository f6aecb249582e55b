//! Counter names with holes: `rx_queue_{n}_drops` matches a run of digits at `{n}`.

/// True where `name` is `pattern` with digits in place of each `{n}`.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((literal, rest)) = pattern.split_once("{n}") else {
        return pattern == name;
    };
    let Some(tail) = name.strip_prefix(literal) else {
        return false;
    };
    let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && matches(rest, &tail[digits..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_take_digits_only() {
        assert!(matches("rx_queue_{n}_drops", "rx_queue_12_drops"));
        assert!(matches("[{n}]: rx_discards", "[0]: rx_discards"));
        assert!(!matches("rx_queue_{n}_drops", "rx_queue__drops"));
        assert!(!matches("rx_queue_{n}_drops", "rx_queue_1_drops_total"));
        assert!(!matches("rx_missed", "rx_missed_errors"));
        assert!(matches("tc{n}_rx{n}", "tc1_rx22"));
    }
}
