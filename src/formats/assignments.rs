//! `KEY=VALUE` lines: os-release, /etc.defaults/VERSION of Synology DSM, uevent files of sysfs, ini files of QNAP QTS.

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The `[section]` above it; empty outside of one.
    pub section: String,
    /// The key, trimmed.
    pub key: String,
    /// The value without its quotes.
    pub value: String,
}

/// Reads the assignments in order; comments and other lines are passed over.
pub fn parse(text: &str) -> Vec<Assignment> {
    let mut section = String::new();
    let mut rows = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim().clone_into(&mut section);
            continue;
        }
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some((key, value)) = line.split_once('=') {
            let row = Assignment { section: section.clone(), key: key.trim().to_owned(), value: unquote(value.trim()) };
            rows.push(row);
        }
    }
    rows
}

/// The value of the last assignment to `key`, as a shell would see it; `None` if there is none or it is empty.
pub fn value<'a>(rows: &'a [Assignment], key: &str) -> Option<&'a str> {
    rows.iter().rev().find(|row| row.key == key).map(|row| row.value.as_str()).filter(|value| !value.is_empty())
}

fn unquote(value: &str) -> String {
    for quote in ['"', '\''] {
        let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) else { continue };
        if quote == '\'' {
            return inner.to_owned();
        }
        let mut plain = String::with_capacity(inner.len());
        let mut chars = inner.chars();
        while let Some(char) = chars.next() {
            match char {
                '\\' => plain.extend(chars.next()),
                other => plain.push(other),
            }
        }
        return plain;
    }
    value.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn os_release_is_read_with_and_without_quotes() {
        let rows = parse("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n# ID=x\nV='a\\b'\nQ=\"a\\\"b\"\n");
        assert_eq!(value(&rows, "PRETTY_NAME"), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(value(&rows, "ID"), Some("debian"));
        assert_eq!(value(&rows, "V"), Some("a\\b"));
        assert_eq!(value(&rows, "Q"), Some("a\"b"));
        assert_eq!(value(&rows, "X"), None);
    }

    #[test]
    fn synology_and_qnap_files_are_read() {
        let dsm = parse("majorversion=\"7\"\nproductversion=\"7.2.1\"\nbuildnumber=\"69057\"\n");
        assert_eq!(value(&dsm, "productversion"), Some("7.2.1"));
        let qts = parse("[System]\nModel = TS-h973AX\nInternal Model = TS-X73A\nVersion = 5.1.4\n[Other]\nModel=\n");
        assert_eq!(qts[0].section, "System");
        assert_eq!(qts[0].value, "TS-h973AX");
    }

    #[test]
    fn a_lone_quote_is_a_value() {
        assert_eq!(parse("A=\"")[0].value, "\"");
        assert_eq!(parse("A=\"\\\"")[0].value, "");
        assert!(parse("no assignment\n[half\n").is_empty());
    }
}
