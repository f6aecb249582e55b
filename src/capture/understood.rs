//! How much of a capture was understood.

use crate::formats::cursor::{Line, front};

/// Most lines that were not understood that are kept.
const MOST: usize = 200;
/// Most characters of one that are kept.
const LONGEST: usize = 400;

/// A line that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// File inside the capture; `-` for standard input.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// Its text, cut where it is very long.
    pub text: String,
}

/// Lines that were read and lines that were left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Understanding {
    /// Lines that are not empty.
    pub lines: u64,
    /// Those of them that were understood.
    pub read: u64,
    /// The first of the others.
    pub left: Vec<Left>,
}

impl Understanding {
    /// Counts lines that were understood.
    pub(super) fn took(&mut self, count: u64) {
        self.lines += count;
        self.read += count;
    }

    /// Counts the lines of an output.
    pub(super) fn add(&mut self, file: &str, lines: &[Line<'_>], understood: &[bool]) {
        for (line, understood) in lines.iter().zip(understood).filter(|(line, _)| !line.text.trim().is_empty()) {
            self.lines += 1;
            if *understood {
                self.read += 1;
            } else if self.left.len() < MOST {
                let text = front(line.text, LONGEST).to_owned();
                self.left.push(Left { file: file.to_owned(), line: line.number, text });
            }
        }
    }

    /// Adds what was counted for another part of the same capture.
    pub fn join(&mut self, other: Self) {
        self.lines += other.lines;
        self.read += other.read;
        let room = MOST - self.left.len().min(MOST);
        self.left.extend(other.left.into_iter().take(room));
    }
}
