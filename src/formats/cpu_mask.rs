//! CPU masks as the kernel prints them: hexadecimal words of 32 CPUs with commas between, the highest first.

/// The CPUs of a mask: `00000000,0000000f` are 0 to 3. None for anything else.
pub fn parse(text: &str) -> Option<Vec<u32>> {
    let words: Vec<&str> = text.trim().split(',').collect();
    let last = words.len().checked_sub(1)?;
    let mut cpus = Vec::new();
    for (at, word) in words.iter().rev().enumerate() {
        // All words but the first have their leading zeros.
        let fits = if at == last { (1..=8).contains(&word.len()) } else { word.len() == 8 };
        if !fits || at > 512 || !word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let bits = u32::from_str_radix(word, 16).ok()?;
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| at as u32 * 32 + bit));
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_highest_first() {
        assert_eq!(parse("f"), Some(vec![0, 1, 2, 3]));
        assert_eq!(parse("00000001,80000000\n"), Some(vec![31, 32]));
        assert_eq!(parse("0"), Some(Vec::new()));
        for odd in ["", "g", "1,2", "000000001", "0-3", "1,,00000000"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }
}
