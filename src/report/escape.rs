//! Untrusted text, made harmless for the medium that it is shown in. Interface names may hold any byte but `/` and
//! white space; aliases, firmware strings and log lines may hold anything at all.

use std::borrow::Cow;
use std::fmt::Write as _;

pub use crate::formats::shell::is_hidden;

/// Shows hidden characters as `\n`, `\x1b` or `\u{202e}`; leaves all others alone. Its output is one line and is not
/// changed by a second pass. Enough for a terminal; the other media build on it.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c if is_hidden(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Prose of a rule with the host's text inside: line breaks of the YAML become spaces, the rest as [`visible`].
pub fn prose(text: &str) -> String {
    let joined = text.split(['\n', '\r', ' ', '\t']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    visible(&joined).into_owned()
}

/// For HTML text and for attribute values in double or single quotes.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// For Markdown prose and table cells (CommonMark and GitHub's dialect): no emphasis, link, image, code, raw HTML,
/// heading, list or extra cell can begin inside it.
pub fn markdown(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() + 16);
    let mut start = true;
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => out.extend(['\\', c]),
            '#' | '-' | '+' | '=' if start && chars.peek().is_none_or(|next| *next == ' ' || *next == c) => {
                out.extend(['\\', c]);
            }
            // "1. " and "1) " begin a list.
            '.' | ')' if chars.peek().is_none_or(|next| *next == ' ') && is_number(&out) => out.extend(['\\', c]),
            // Bare addresses become links on GitHub.
            ':' if chars.peek() == Some(&'/') => out.push_str("\\:"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("\\."),
            c => out.push(c),
        }
        start = false;
    }
    out
}

/// A Markdown code span: fenced by more backticks than any run inside.
pub fn markdown_code(text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    // A code span loses one space at each end if both are there, and may not begin with a backtick.
    let pad = if text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A fenced Markdown block of commands; each is one line whatever bytes it holds.
pub fn markdown_block(language: &str, lines: &[String], indent: &str) -> String {
    let shown: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    let longest = shown.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let mut out = format!("{indent}{fence}{language}\n");
    for line in shown {
        let _ = writeln!(out, "{indent}{line}");
    }
    let _ = write!(out, "{indent}{fence}");
    out
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(visible("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
        assert_eq!(visible("\u{9b}2J\x7f\u{202e}abc\u{2066}\u{feff}"), "\\u{9b}2J\\x7f\\u{202e}abc\\u{2066}\\u{feff}");
        assert_eq!(visible("x\nFIX NOW\r\t"), "x\\nFIX NOW\\r\\t");
        assert!(matches!(visible("Zürich \u{202f}東京"), Cow::Borrowed(_)));
    }

    #[test]
    fn prose_flows() {
        assert_eq!(prose("one\n  two\n\nthree\n"), "one two three");
        assert_eq!(prose("a\u{2028}b"), "a\\u{2028}b");
    }

    #[test]
    fn html_is_safe_in_attributes() {
        assert_eq!(html("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
    }

    #[test]
    fn markdown_has_no_foothold() {
        assert_eq!(markdown("|<b>"), "\\|&lt;b&gt;");
        assert_eq!(markdown("# x # y"), "\\# x # y");
        assert_eq!(markdown("1. x"), "1\\. x");
        assert_eq!(markdown("10.5 Gb/s"), "10.5 Gb/s");
        assert_eq!(markdown("[a](http://b) ![c](www.d)"), "\\[a\\](http\\://b) !\\[c\\](www\\.d)");
        assert_eq!(markdown("rx_missed *all* `x`\n- y"), "rx\\_missed \\*all\\* \\`x\\`\\\\n- y");
    }

    #[test]
    fn code_is_fenced_by_more_than_it_holds() {
        assert_eq!(markdown_code("a`b``c"), "```a`b``c```");
        assert_eq!(markdown_code("`x`"), "`` `x` ``");
        assert_eq!(markdown_code(""), "`  `");
        assert_eq!(markdown_block("sh", &["a ```` b\nrm".into()], "  "), "  `````sh\n  a ```` b\\nrm\n  `````");
    }
}
