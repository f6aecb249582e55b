//! `/sys/bus/pci/devices/*/aer_dev_*`: errors by Advanced Error Reporting, a name and a count in each line.

/// Counts by their names, without the total; `None` where no line is one.
pub fn counts(text: &str) -> Option<Vec<(String, u64)>> {
    let row = |line: &str| {
        let (name, count) = line.trim().rsplit_once(' ')?;
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        Some((name.trim().to_owned(), count.parse().ok().filter(|_| plain)?))
    };
    let rows: Vec<(String, u64)> = text.lines().filter_map(row).collect();
    let own: Vec<(String, u64)> = rows.iter().filter(|(name, _)| !name.starts_with("TOTAL_")).cloned().collect();
    (!rows.is_empty()).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_no_error_of_its_own() {
        let text = "RxErr 3\nBadTLP 0\nTimeout 12\nTOTAL_ERR_COR 15\n";
        let expected = [("RxErr".to_owned(), 3), ("BadTLP".to_owned(), 0), ("Timeout".to_owned(), 12)];
        assert_eq!(counts(text).unwrap(), expected);
        assert_eq!(counts("TOTAL_ERR_FATAL 0\n"), Some(Vec::new()));
        for bad in ["", "RxErr", "RxErr x\n", "\u{1b} 1"] {
            assert_eq!(counts(bad), None, "{bad:?}");
        }
    }
}
