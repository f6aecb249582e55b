//! CPU masks such as `ff` and `00000001,000000ff`: hexadecimal words of 32 bits, the highest first.

/// Most CPUs of a mask.
const MOST: usize = 1 << 16;

/// The CPUs whose bits are set; `None` if it is no mask.
pub fn members(text: &str) -> Option<Vec<u32>> {
    let text = text.trim();
    if text.is_empty() || text.len() > MOST / 2 {
        return None;
    }
    let mut cpus = Vec::new();
    for (word, digits) in text.rsplit(',').enumerate() {
        let plain = !digits.is_empty() && digits.len() <= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = plain.then(|| u32::from_str_radix(digits, 16).ok())??;
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| word as u32 * 32 + bit));
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_word_stands_last() {
        assert_eq!(members("0\n"), Some(Vec::new()));
        assert_eq!(members("05"), Some(vec![0, 2]));
        assert_eq!(members("00000001,80000000"), Some(vec![31, 32]));
        for bad in ["", "0x1", "1,,2", "g", "123456789", "-1"] {
            assert_eq!(members(bad), None, "{bad}");
        }
    }
}
