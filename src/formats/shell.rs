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
}
