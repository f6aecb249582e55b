//! Files in which settings of the network are kept for the next boot. Each parser yields the settings that matter to speed
//! and loss, and nothing else: these files also hold keys and passwords, so what is not known to be harmless is left out.

pub mod fragments;
pub mod ifcfg;
pub mod ifupdown;
mod ini;
pub mod modprobe;
pub mod netplan;
pub mod network_manager;
pub mod scripts;
pub mod sysctl;
pub mod systemd;
pub mod tuned;
pub mod udev;

/// A setting as a file spells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Section or match that it stands below; empty for the whole host.
    pub scope: String,
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
    /// Line, from 1.
    pub line: u32,
}

/// Longest value that is kept, in bytes: a command line is shorter.
const LONGEST: usize = 1000;

impl Setting {
    /// A setting, unless its value is so long that it is none of those looked for.
    fn new(scope: impl Into<String>, key: impl Into<String>, value: impl Into<String>, line: u32) -> Option<Self> {
        let (scope, key, value) = (scope.into(), key.into(), value.into());
        [&scope, &key, &value].iter().all(|text| text.len() <= LONGEST).then_some(Self { scope, key, value, line })
    }
}

/// The logical lines of a file with their numbers: comments and empty lines left out, lines that end in a backslash joined
/// with the next by a blank. `marks` begin a comment.
fn logical_lines<'t>(text: &'t str, marks: &'t [char]) -> impl Iterator<Item = (u32, String)> + 't {
    let mut lines = text.lines().enumerate();
    std::iter::from_fn(move || {
        let mut joined = String::new();
        let mut first = 0;
        loop {
            let Some((at, line)) = lines.next() else {
                return (!joined.is_empty()).then_some((first, joined));
            };
            let line = line.trim();
            // A comment may stand between the parts of a line.
            if line.starts_with(marks) || (line.is_empty() && joined.is_empty()) {
                continue;
            }
            if joined.is_empty() {
                first = u32::try_from(at + 1).unwrap_or(u32::MAX);
            }
            let (part, more) = line.strip_suffix('\\').map_or((line, false), |part| (part.trim_end(), true));
            if !joined.is_empty() && !part.is_empty() {
                joined.push(' ');
            }
            joined.push_str(part);
            if !more && !joined.is_empty() {
                return Some((first, joined));
            }
        }
    })
}

/// A value without the quotes around it.
fn unquoted(value: &str) -> &str {
    let inside = |quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_keep_the_number_of_the_first() {
        let text = "# x\na = 1\n\nb = 2 \\\n# between\n  3 \\\n4\n; y\nc\\\n";
        let lines: Vec<(u32, String)> = logical_lines(text, &['#', ';']).collect();
        let expected = [(2, "a = 1"), (4, "b = 2 3 4"), (9, "c")].map(|(at, line)| (at, line.to_owned()));
        assert_eq!(lines, expected);
        assert_eq!(logical_lines("\\\n\\\n", &['#']).count(), 0);
    }

    #[test]
    fn long_values_are_left_out() {
        assert!(Setting::new("", "a", "x".repeat(LONGEST), 1).is_some());
        assert!(Setting::new("", "a", "x".repeat(LONGEST + 1), 1).is_none());
        assert_eq!((unquoted("\"a b\""), unquoted("'a\""), unquoted("\"")), ("a b", "'a\"", "\""));
    }
}
