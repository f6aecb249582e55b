//! /proc/meminfo.

/// Bytes of `MemTotal`.
pub fn total(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let mut words = rest.split_ascii_whitespace();
    let figure: u64 = words.next()?.parse().ok()?;
    match words.next() {
        Some("kB") => figure.checked_mul(1024),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_in_bytes() {
        assert_eq!(total("MemTotal:       24731184 kB\nMemFree: 1 kB\n"), Some(25_324_732_416));
        for bad in ["", "MemTotal:", "MemTotal: x kB", "MemTotal: 5", "MemTotal: 18446744073709551615 kB"] {
            assert_eq!(total(bad), None, "{bad}");
        }
    }
}
