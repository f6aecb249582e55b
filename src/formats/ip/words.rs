//! Lists of words `key value key value ...`, in which some keys stand alone.

use crate::formats::cursor::At;

/// The words of one or more lines in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<At<String>>);

impl Words {
    /// Adds the words of a line.
    pub fn add(&mut self, text: &str, line: u32) {
        self.0.extend(text.split_ascii_whitespace().map(|word| At::new(word.to_owned(), line)));
    }

    /// Adds a key and its value, which may hold spaces.
    pub fn put(&mut self, key: &str, value: &str, line: u32) {
        self.0.extend([key, value].map(|word| At::new(word.to_owned(), line)));
    }

    /// The word behind a key, and its line.
    pub fn after(&self, key: &str) -> Option<At<&str>> {
        let at = self.0.iter().position(|word| word.value == key)?;
        self.0.get(at + 1).map(|word| At::new(word.value.as_str(), word.line))
    }

    /// The number behind a key.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Option<At<T>> {
        let word = self.after(key)?;
        Some(At::new(word.value.parse().ok()?, word.line))
    }

    /// True where this word is among them, alone or with something behind a slash: `xdp/id:12`.
    pub fn has_tagged(&self, key: &str) -> bool {
        self.0.iter().any(|word| word.value.split('/').next() == Some(key))
    }

    /// True where this word is among them.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|word| word.value == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_word_behind_it() {
        let mut words = Words::default();
        words.add("mtu 1500 qdisc mq", 1);
        words.add("onlink metric x", 2);
        assert_eq!(words.number::<u32>("mtu"), Some(At::new(1500, 1)));
        assert_eq!(words.after("qdisc").unwrap().value, "mq");
        assert_eq!(words.number::<u32>("metric"), None);
        assert_eq!(words.after("x"), None);
        assert!(words.has("onlink") && !words.has("dead"));
    }
}
