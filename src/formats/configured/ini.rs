//! Files of sections, keys and values: systemd, NetworkManager, tuned.

use super::logical_lines;

/// An assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the section; empty before the first.
    pub section: String,
    /// Which section of the file it is, from 1: names may come twice.
    pub number: usize,
    /// Key.
    pub key: String,
    /// Value, with its quotes.
    pub value: String,
    /// Line, from 1.
    pub line: u32,
}

/// The assignments in the order of the file; other lines are passed over.
pub fn parse(text: &str) -> Vec<Entry> {
    let mut section = String::new();
    let mut number = 0;
    let mut entries = Vec::new();
    for (line, text) in logical_lines(text, &['#', ';']) {
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
            number += 1;
        } else if let Some((key, value)) = text.split_once('=') {
            entries.push(Entry {
                section: section.clone(),
                number,
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
                line,
            });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_one_name_are_told_apart() {
        let entries = parse("a=1\n[Route]\nGateway = x = y\n; b=2\n[Route]\nodd\nMTUBytes=1400\n");
        let seen: Vec<_> = entries
            .iter()
            .map(|entry| (entry.section.as_str(), entry.number, entry.key.as_str(), entry.value.as_str(), entry.line))
            .collect();
        assert_eq!(
            seen,
            [("", 0, "a", "1", 1), ("Route", 1, "Gateway", "x = y", 3), ("Route", 2, "MTUBytes", "1400", 7)]
        );
    }
}
