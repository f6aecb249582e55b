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

/// A name without the `#2` that tells it from an earlier row of the same name.
pub fn unnumbered(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((front, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => front,
        _ => name,
    }
}

/// The numbers that stand at the holes of `pattern` in `name`, joined by dots; empty for a pattern without holes.
/// The name has to match.
pub fn holes(pattern: &str, name: &str) -> String {
    let mut numbers: Vec<&str> = Vec::new();
    let mut rest = name;
    let mut parts = pattern.split("{n}");
    let first = parts.next().unwrap_or_default();
    rest = rest.get(first.len()..).unwrap_or_default();
    for literal in parts {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at(digits);
        numbers.push(number);
        rest = tail.get(literal.len()..).unwrap_or_default();
    }
    numbers.join(".")
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

    #[test]
    fn repeated_names_are_told_apart_by_a_number_alone() {
        assert_eq!((unnumbered("pkts rx OOB#12"), unnumbered("pkts rx OOB")), ("pkts rx OOB", "pkts rx OOB"));
        assert_eq!((unnumbered("Tx Queue#"), unnumbered("Tx Queue##2")), ("Tx Queue#", "Tx Queue#"));
    }

    #[test]
    fn numbers_of_the_holes_name_the_instance() {
        assert_eq!(holes("rx_queue_{n}_drops", "rx_queue_12_drops"), "12");
        assert_eq!(holes("tc{n}_rx{n}", "tc1_rx22"), "1.22");
        assert_eq!(holes("rx_missed", "rx_missed"), "");
        assert_eq!(holes("rx_queue_{n}_drops", "x"), "");
    }
}
