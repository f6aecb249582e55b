//! Names that people gave: of the host, of servers, networks, connections and places.

use std::collections::BTreeMap;

/// A name and what stands in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// What it is, for messages: `host name`.
    pub what: &'static str,
    pub old: String,
    pub new: String,
}

impl Name {
    /// True for one that may as well be a word of any text: letters alone.
    pub fn is_plain(&self) -> bool {
        self.old.chars().all(|c| c.is_alphabetic() || c == ' ')
    }

    /// True where it stands in a text at this place, as a word or words of its own.
    fn is_at(&self, text: &str, at: usize) -> bool {
        let Some(piece) = text.get(at..at + self.old.len()) else { return false };
        // Host names have no case; plain words are not searched in all of theirs.
        let same = if self.is_plain() { piece == self.old } else { piece.eq_ignore_ascii_case(&self.old) };
        let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        same && !inside(text[..at].chars().next_back()) && !inside(text[at + piece.len()..].chars().next())
    }
}

/// Names by their first word.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeMap<String, Vec<(usize, Name)>>);

impl Names {
    /// Adds a name, unless it has no letter and is no long number, is shorter than two characters or is there already.
    pub fn add(&mut self, what: &'static str, old: &str, new: String) {
        let is_name = old.len() > 5 || old.chars().any(char::is_alphabetic) && old.chars().nth(1).is_some();
        let Some((at, word)) = words(old).next().filter(|_| is_name) else { return };
        let all = self.0.entry(word.to_ascii_lowercase()).or_default();
        if all.iter().all(|(_, name)| !name.old.eq_ignore_ascii_case(old)) {
            all.push((at, Name { what, old: old.to_owned(), new }));
            all.sort_by_key(|(_, name)| std::cmp::Reverse(name.old.len()));
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Name> {
        self.0.values().flatten().map(|(_, name)| name)
    }

    /// Names in a text with the places where they begin. None stands inside another.
    pub fn find<'n>(&'n self, text: &str) -> Vec<(usize, &'n Name)> {
        let mut found: Vec<(usize, &Name)> = Vec::new();
        if self.0.is_empty() {
            return found;
        }
        for (at, word) in words(text) {
            let Some(all) = self.0.get(&word.to_ascii_lowercase()) else { continue };
            let free = found.last().map_or(0, |(before, name)| before + name.old.len());
            let hit = all.iter().find_map(|(offset, name)| {
                let begin = at.checked_sub(*offset).filter(|begin| *begin >= free)?;
                name.is_at(text, begin).then_some((begin, name))
            });
            found.extend(hit);
        }
        found
    }

    /// A text with other names in it.
    pub fn replaced(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for (at, name) in self.find(text) {
            out += &text[from..at];
            out += &name.new;
            from = at + name.old.len();
        }
        out += &text[from..];
        out
    }
}

/// Runs of letters and digits with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let pieces = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    pieces.map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_as_whole_words() {
        let mut names = Names::default();
        for (old, new) in [
            ("nas1", "host-1"),
            ("nas1.example.com", "host-1.domain-1.invalid"),
            ("vm", "host-2"),
            ("(up link)", "alias-1"),
            ("12", "x"),
            ("a", "x"),
            ("", "x"),
        ] {
            names.add("name", old, new.into());
        }
        for (text, wanted) in [
            ("nas1 and NAS1: nas12, xnas1", "host-1 and host-1: nas12, xnas1"),
            ("nas1.example.com:/pool", "host-1.domain-1.invalid:/pool"),
            ("nas1.example.org", "host-1.example.org"),
            ("br-nas1_a", "br-host-1_a"),
            ("a vm in a VM, kvm", "a host-2 in a VM, kvm"),
            ("to (up link)!", "to alias-1!"),
            ("\u{e9}nas1 nas1\u{e9}", "\u{e9}nas1 nas1\u{e9}"),
            ("\u{e9} nas1 \u{e9}", "\u{e9} host-1 \u{e9}"),
            ("12 a", "12 a"),
            ("", ""),
        ] {
            assert_eq!(names.replaced(text), wanted, "{text}");
        }
        assert_eq!(names.iter().count(), 4);
    }
}
