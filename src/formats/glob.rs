//! Patterns of shells: `*`, `?` and `[a-z]`, as fnmatch(3) reads them without flags.

/// True where the pattern is that of the whole text. Takes at most as many steps as the lengths multiplied.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut here) = (0, 0);
    // Where the last star stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while here < text.len() {
        match step(&pattern, at, text[here]) {
            Some(next) => (at, here) = (next, here + 1),
            None if pattern.get(at) == Some(&'*') => {
                star = Some((at, here));
                at += 1;
            }
            None => match &mut star {
                Some((from, taken)) => {
                    *taken += 1;
                    (at, here) = (*from + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|char| *char == '*')
}

/// True where the text holds a sign of a pattern.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The place behind the part of the pattern that takes this character; `None` if it takes another one, or is a star.
fn step(pattern: &[char], at: usize, char: char) -> Option<usize> {
    match pattern.get(at)? {
        '*' => None,
        '?' => Some(at + 1),
        '[' => match class(&pattern[at + 1..], char) {
            Some((inside, length)) => inside.then_some(at + 1 + length),
            // Without an end it is a bracket and nothing else.
            None => (char == '[').then_some(at + 1),
        },
        '\\' if at + 1 < pattern.len() => (pattern[at + 1] == char).then_some(at + 2),
        other => (*other == char).then_some(at + 1),
    }
}

/// Whether the class, which begins behind its bracket, holds the character, and its length.
fn class(rest: &[char], char: char) -> Option<(bool, usize)> {
    let negated = matches!(rest.first(), Some('!' | '^'));
    let begin = usize::from(negated);
    // A bracket at the very beginning is one of the characters.
    let end = begin + 1 + rest.get(begin + 1..)?.iter().position(|char| *char == ']')?;
    let mut inside = false;
    let mut at = begin;
    while at < end {
        if at + 2 < end && rest[at + 1] == '-' {
            inside |= (rest[at]..=rest[at + 2]).contains(&char);
            at += 3;
        } else {
            inside |= rest[at] == char;
            at += 1;
        }
    }
    Some((inside != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_shells() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("*", "eth0", true),
            ("eth*", "eth0", true),
            ("eth*", "veth0", false),
            ("e*0*1", "en0p0s1", true),
            ("en?s0", "en1s0", true),
            ("en?s0", "ens0", false),
            ("eth[0-2]", "eth1", true),
            ("eth[0-2]", "eth3", false),
            ("eth[!0]", "eth1", true),
            ("eth[^0]", "eth0", false),
            ("a[]b]c", "a]c", true),
            ("a[b", "a[b", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("", "", true),
            ("", "a", false),
            ("net.ipv4.conf.*.rp_filter", "net.ipv4.conf.eth0.rp_filter", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_do_not_take_for_ever() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
        assert!(matches(&"*a".repeat(200), &"a".repeat(200)));
        assert!(!matches(&"*".repeat(500), "") || is_pattern("*"));
    }
}
