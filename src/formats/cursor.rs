//! Lines of a tool's output, and a cursor that remembers which of them were understood.

/// A line and where it stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// From 1.
    pub number: u32,
    /// Without its end; control sequences, quote marks and the like are gone already.
    pub text: &'a str,
}

/// A value and the line that it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// From 1.
    pub line: u32,
}

impl<T> At<T> {
    /// A value that stands on this line.
    pub fn new(value: T, line: u32) -> Self {
        Self { value, line }
    }

    /// Another value from the same line.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> At<U> {
        At { value: convert(self.value), line: self.line }
    }
}

/// Walks the lines of an output from the first to the last. A parser takes the lines that it understands, passes those
/// that belong to it but tell it nothing that it knows, and stops before the first that is not its own.
#[derive(Debug)]
pub struct Cursor<'a> {
    lines: &'a [Line<'a>],
    at: usize,
    understood: Vec<bool>,
}

impl<'a> Cursor<'a> {
    /// A cursor before the first line.
    pub fn new(lines: &'a [Line<'a>]) -> Self {
        Self { lines, at: 0, understood: vec![false; lines.len()] }
    }

    /// The next line, which stays the next.
    pub fn peek(&self) -> Option<Line<'a>> {
        self.lines.get(self.at).copied()
    }

    /// The line `ahead` lines after the next; 0 is the next.
    pub fn peek_at(&self, ahead: usize) -> Option<Line<'a>> {
        self.lines.get(self.at.saturating_add(ahead)).copied()
    }

    /// Takes the next line as understood.
    pub fn take(&mut self) -> Option<Line<'a>> {
        let line = self.peek()?;
        self.understood[self.at] = true;
        self.at += 1;
        Some(line)
    }

    /// Steps over the next line without having understood it.
    pub fn pass(&mut self) -> Option<Line<'a>> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    /// Takes the next line if `wanted` makes something of its text.
    pub fn take_if<T>(&mut self, wanted: impl FnOnce(&'a str) -> Option<T>) -> Option<At<T>> {
        let line = self.peek()?;
        let value = wanted(line.text)?;
        self.take();
        Some(At::new(value, line.number))
    }

    /// Takes empty lines.
    pub fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.text.trim().is_empty()) {
            self.take();
        }
    }

    /// True where nothing but empty lines stands before the next line.
    pub fn is_at_start(&self) -> bool {
        self.lines[..self.at].iter().all(|line| line.text.trim().is_empty())
    }

    /// How many lines were taken or passed.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns to a position that was left before; what was understood since is forgotten.
    pub fn back_to(&mut self, position: usize) {
        if position < self.at {
            self.understood[position..self.at].fill(false);
            self.at = position;
        }
    }

    /// The lines that are not yet taken or passed.
    pub fn rest(&self) -> &'a [Line<'a>] {
        &self.lines[self.at..]
    }

    /// For each line of the output: true where it was understood.
    pub fn understood(&self) -> &[bool] {
        &self.understood
    }
}

/// The lines of a text, numbered from 1.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    text.lines().enumerate().map(|(at, text)| Line { number: at as u32 + 1, text }).collect()
}

/// The first bytes of a text, at most `most` of them and whole characters only.
pub fn front(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Key and value of a line `Key: value` at the first colon, both trimmed.
pub fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    Some((key.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_remembers_what_was_understood() {
        let text = "one\n\ntwo\nthree";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        assert!(cursor.is_at_start());
        assert_eq!(cursor.take().unwrap(), Line { number: 1, text: "one" });
        assert!(!cursor.is_at_start());
        cursor.skip_blank();
        let start = cursor.position();
        assert_eq!(cursor.take_if(|text| text.strip_prefix('t')).unwrap(), At::new("wo", 3));
        assert!(cursor.take_if(|text| text.strip_prefix('x')).is_none());
        assert_eq!(cursor.pass().unwrap().text, "three");
        assert!(cursor.peek().is_none() && cursor.take().is_none() && cursor.rest().is_empty());
        assert_eq!(cursor.understood(), [true, true, true, false]);
        cursor.back_to(start);
        assert_eq!(cursor.understood(), [true, true, false, false]);
        assert_eq!(cursor.peek_at(1).unwrap().number, 4);
    }
}
