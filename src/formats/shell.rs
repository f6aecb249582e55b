//! Words for a POSIX shell.

use std::borrow::Cow;

/// Quotes a word so that a POSIX shell takes it literally. A word that needs no quotes stays as it is.
pub fn shell_quote(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+.,:/@%=".contains(&byte);
    // A leading `=` is expanded by zsh, a leading `~` by all.
    if !word.is_empty() && word.bytes().all(plain) && !word.starts_with('=') {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// True for a character that a terminal obeys, that reorders its neighbours or that cannot be seen.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
            | 0x1_BCA0..=0x1_BCA3 | 0x1_D173..=0x1_D17A | 0xE_0000..=0xE_0FFF)
}

/// True for a text that comes out of a report as it is. What cannot be seen is shown in another form, and what is no UTF-8 is
/// replaced: typed as shown, it would name something else.
pub fn can_be_copied(text: &str) -> bool {
    !text.contains(|c| is_hidden(c) || c == char::REPLACEMENT_CHARACTER)
}

/// The words of one simple command that holds nothing but plain words and words as [`shell_quote`] writes them; `None` for
/// anything else, and for a shell that would have to expand, redirect or combine something.
pub fn shell_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let (quoted, after) = rest.as_str().split_once('\'')?;
                word.get_or_insert_default().push_str(quoted);
                rest = after.chars();
            }
            '\\' => word.get_or_insert_default().push(rest.next()?),
            c if c.is_ascii_alphanumeric() || "_-+.,:/@%=".contains(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_words_stay_words() {
        for (word, quoted) in [
            ("eth0", "eth0"),
            ("eth0.100@x", "eth0.100@x"),
            ("a;$(id>x)", "'a;$(id>x)'"),
            ("it's", r"'it'\''s'"),
            ("`x`", "'`x`'"),
            ("", "''"),
            ("=ls", "'=ls'"),
            ("~", "'~'"),
        ] {
            assert_eq!(shell_quote(word), quoted);
        }
    }

    #[test]
    fn the_shell_itself_agrees() {
        for word in ["a'b'c", "$(id)", "a\\b", "*", "\"", "é", "!x"] {
            let command = format!("printf %s {}", shell_quote(word));
            let out = std::process::Command::new("sh").arg("-c").arg(command).output().unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), word);
        }
    }

    #[test]
    fn words_come_back_as_they_were_quoted() {
        for word in ["eth0", "a;$(id>x)", "it's", "", "é x\n", "a\\b", "'"] {
            let command = format!("ethtool -G {} rx 1", shell_quote(word));
            let expected = ["ethtool", "-G", word, "rx", "1"].map(str::to_owned);
            assert_eq!(shell_words(&command), Some(expected.to_vec()), "{command}");
        }
        for other in ["a $(b)", "a; b", "a | b", "a \"b\"", "a > b", "a 'b", "a \\", "a *"] {
            assert_eq!(shell_words(other), None, "{other}");
        }
        assert_eq!(shell_words("  a  b "), Some(vec!["a".into(), "b".into()]));
    }
}
