//! What a terminal, a mailer or a forum adds to the lines of a tool, taken off again. Lines keep their numbers.

use crate::formats::cursor::front;

/// A line without the additions of terminals and mailers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CleanLine {
    /// From 1, in the file as it was given.
    pub number: u32,
    pub text: String,
}

/// Longest line that is kept, in bytes; no tool prints a longer one that means anything.
const LONGEST: usize = 64 << 10;
/// Longest line that is kept of a document in JSON, in bytes.
const LONGEST_DOCUMENT: usize = 16 << 20;

/// The lines of a text. Lines that only frame the paste (code fences) are empty.
pub(super) fn clean(text: &str) -> Vec<CleanLine> {
    let mut lines: Vec<CleanLine> = text
        .split('\n')
        .enumerate()
        .map(|(at, raw)| CleanLine { number: u32::try_from(at + 1).unwrap_or(u32::MAX), text: line(raw) })
        .collect();
    if lines.last().is_some_and(|last| last.text.is_empty()) {
        lines.pop();
    }
    unquote(&mut lines);
    dedent(&mut lines);
    lines
}

/// A line as far as it is kept: documents of JSON stand on one line, however long.
pub(super) fn kept(raw: &str) -> &str {
    let most = if raw.starts_with(['[', '{']) { LONGEST_DOCUMENT } else { LONGEST };
    front(raw, most).trim_end()
}

/// A line without what a terminal added.
pub(super) fn line(raw: &str) -> String {
    let raw = kept(raw);
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => escape_sequence(&mut chars),
            // A terminal's carriage return starts the line anew: the last text stays.
            '\r' if chars.peek().is_some_and(|next| *next != '\r') => out.clear(),
            '\u{8}' => {
                out.pop();
            }
            '\u{a0}' | '\u{2007}' | '\u{202f}' => out.push(' '),
            '\t' => out.push('\t'),
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' | '\u{ad}' => {}
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{201c}' | '\u{201d}' => out.push('"'),
            control if control.is_control() => {}
            other => out.push(other),
        }
    }
    let kept = out.trim_end();
    if is_fence(kept) {
        return String::new();
    }
    out.truncate(kept.len());
    out
}

/// Swallows a control sequence whose escape character was just read.
fn escape_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            while let Some(next) = chars.peek() {
                let ends = ('@'..='~').contains(next);
                if !next.is_ascii() {
                    return;
                }
                chars.next();
                if ends {
                    return;
                }
            }
        }
        Some(']') => {
            // An operating system command ends with BEL or ESC \.
            while let Some(next) = chars.next() {
                if next == '\u{7}' {
                    return;
                }
                if next == '\u{1b}' {
                    chars.next();
                    return;
                }
            }
        }
        Some('(' | ')') => {
            chars.next();
            chars.next();
        }
        Some(_) => {
            chars.next();
        }
        None => {}
    }
}

/// A line that only opens or closes a block of code.
fn is_fence(text: &str) -> bool {
    let text = text.trim();
    let fence = text.trim_start_matches(['`', '~']);
    let marks = text.len() - fence.len();
    let bbcode = ["[code]", "[/code]", "[quote]", "[/quote]", "<pre>", "</pre>", "<code>", "</code>"];
    (marks >= 3 && fence.chars().all(|char| char.is_ascii_alphanumeric()))
        || bbcode.iter().any(|tag| text.eq_ignore_ascii_case(tag))
}

/// Takes the `> ` of quoted mail off where nearly every line that is not empty has it.
fn unquote(lines: &mut [CleanLine]) {
    for _ in 0..4 {
        let full = lines.iter().filter(|line| !line.text.is_empty()).count();
        let quoted = lines.iter().filter(|line| line.text.starts_with('>')).count();
        if full < 3 || quoted * 10 < full * 8 {
            return;
        }
        for line in lines.iter_mut() {
            if let Some(rest) = line.text.strip_prefix('>') {
                line.text = rest.strip_prefix(' ').unwrap_or(rest).to_owned();
            }
        }
    }
}

/// Takes off what every line that is not empty begins with, if that is white space: Markdown's four spaces.
fn dedent(lines: &mut [CleanLine]) {
    let indent = |text: &str| text.len() - text.trim_start_matches(' ').len();
    let least = lines.iter().filter(|line| !line.text.is_empty()).map(|line| indent(&line.text)).min().unwrap_or(0);
    if least > 0 {
        for line in lines.iter_mut().filter(|line| !line.text.is_empty()) {
            line.text.drain(..least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        clean(text).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn terminals_leave_no_trace() {
        assert_eq!(texts("\u{1b}[1;32mroot@a\u{1b}[0m:~# x\r\n\u{1b}]0;title\u{7}ok\r\n"), ["root@a:~# x", "ok"]);
        assert_eq!(texts("10%\r100% done\nab\u{8}c\u{1b}(B"), ["100% done", "ac"]);
        assert_eq!(texts("a\u{a0}b\u{200b}c\u{0}"), ["a bc"]);
        assert_eq!(texts("a\u{1b}"), ["a"]);
        assert_eq!(texts("\u{1b}[é"), ["é"]);
    }

    #[test]
    fn quotes_and_fences_go_and_numbers_stay() {
        let lines = clean("```bash\n$ x\n```\n\n~~~\n");
        assert_eq!(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["", "$ x", "", "", ""]);
        assert_eq!(lines[1].number, 2);
        assert_eq!(texts("> > a\n> > b: 1\n> >\n> > c"), ["a", "b: 1", "", "c"]);
        assert_eq!(texts("> ls\nfile\nother\nthird"), ["> ls", "file", "other", "third"]);
        assert_eq!(texts("    a\n      b\n\n    c"), ["a", "  b", "", "c"]);
    }
}
