//! CPU lists of sysfs such as `0-3,8,10-11`.

/// How many CPUs a list names; `None` if it is no list.
pub fn count(text: &str) -> Option<u32> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut total = 0u32;
    for piece in text.split(',') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        total = total.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(total)
}

/// The CPUs that a list names; `None` if it is no list, or one of more than 65,536 CPUs.
pub fn members(text: &str) -> Option<Vec<u32>> {
    if count(text)? > 1 << 16 {
        return None;
    }
    let mut members = Vec::new();
    for piece in text.trim().split(',') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        members.extend(first.trim().parse::<u32>().ok()?..=last.trim().parse::<u32>().ok()?);
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        assert_eq!(count("0-1\n"), Some(2));
        assert_eq!(count("0-3,8,10-11"), Some(7));
        assert_eq!(members("0,2-3\n"), Some(vec![0, 2, 3]));
        assert_eq!(members("0-65536"), None);
        for bad in ["", "x", "3-1", "0-4294967295", "1,,2"] {
            assert_eq!(count(bad), None, "{bad}");
        }
    }
}
