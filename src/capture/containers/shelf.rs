//! The members that are worth reading, held until the whole input was seen.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::super::archive::{Visitor, cut_off, printable};
use super::blocks::Style;
use super::bundle::{Bundles, Hashing};
use super::place::{Keep, Place, What, keep, what};
use super::typed;

/// Most bytes of a member that are kept.
const MOST_MEMBER: usize = 16 << 20;
/// Most bytes of a log that are kept: its end.
const MOST_LOG: usize = 4 << 20;
/// Most bytes that are kept of all members, their names included.
const MOST_HELD: usize = 96 << 20;
/// What a member costs beside its text and its name, in bytes.
const COST: usize = 1024;
/// Bytes that show whether a file holds text.
const SAMPLE: usize = 4096;

/// A member that is held.
#[derive(Debug, Default)]
pub(super) struct Member {
    pub text: String,
    /// Number of the first line of the text.
    pub first_line: u32,
    /// True where a part of it is missing.
    pub cut: bool,
    /// A report in one text, of which this is a part or the whole.
    pub style: Option<Style>,
}

/// All that is kept of an input.
#[derive(Debug, Default)]
pub(in crate::capture) struct Shelf {
    pub(super) members: BTreeMap<String, Member>,
    /// Links by their path.
    pub(super) links: BTreeMap<String, String>,
    /// Our own bundles.
    pub(super) bundles: Bundles,
    held: usize,
    /// What was left out, to be told.
    pub(super) notes: Vec<String>,
    full: bool,
}

/// Most notes that are kept.
const MOST_NOTES: usize = 20;

impl Shelf {
    fn note(&mut self, path: &str, text: &str) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(format!("{}: {text}", printable(path)));
        }
    }

    /// Makes room for a member; false where there is none.
    fn has_room(&mut self, bytes: usize) -> bool {
        self.held += bytes;
        self.held <= MOST_HELD
    }

    /// Notes that only a part of a member was kept, where it is one of those that are known.
    fn tell_cut(&mut self, path: &str) {
        let place = Place::of(path);
        if what(place, &[]) != What::Loose || !typed::of_loose(place.rest).is_empty() {
            let part = if keep(place) == Keep::End { "end" } else { "beginning" };
            self.note(path, &format!("is very long; only its {part} was read"));
        }
    }

    fn hold(&mut self, path: &str, bytes: Vec<u8>, first_line: u32, cut: bool) -> io::Result<()> {
        if bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some(text) = text_of(bytes) else {
            if matches!(what(Place::of(path), &[]), What::Output(_) | What::Manifest) {
                self.note(path, "holds no text; left out");
            }
            return Ok(());
        };
        let style = Style::of(&text);
        self.bundles.look_at(path, &text);
        if !self.has_room(text.len() + path.len() + COST) {
            if self.full {
                return Ok(());
            }
            self.full = true;
            return Err(io::Error::other(format!(
                "{} MiB of texts were kept before it; it and more was left out",
                MOST_HELD >> 20
            )));
        }
        let member = Member { text, first_line, cut, style };
        if let Some(before) = self.members.insert(path.to_owned(), member) {
            self.held -= before.text.len() + path.len() + COST;
            self.note(path, "is there more than once; the last one was read");
        }
        Ok(())
    }
}

impl Visitor for Shelf {
    fn wants(&mut self, path: &str) -> bool {
        what(Place::of(path), &[]) != What::Nothing || self.bundles.wants(path)
    }

    fn file(&mut self, path: &str, content: &mut dyn Read, size: Option<u64>) -> io::Result<()> {
        let place = Place::of(path);
        if self.bundles.is_aside(path) || what(place, &[]) == What::Nothing {
            return self.bundles.pass(path, content);
        }
        let may_be_ours = self.bundles.wants(path) || Bundles::is_snapshot(path);
        // A snapshot that is cut says nothing at all.
        let most = if Bundles::is_snapshot(path) { MOST_HELD.saturating_sub(self.held) } else { MOST_MEMBER };
        let mut content = Hashing::new(content);
        let (bytes, first_line, read, cut, failed) = match keep(place) {
            Keep::Beginning => beginning(&mut content, most),
            Keep::End => end(&mut content),
        };
        if may_be_ours {
            self.bundles.keep(path, content);
        }
        let short = size.filter(|size| !cut && read < *size);
        let problem = failed.or_else(|| short.map(|size| cut_off(read, size)));
        self.hold(path, bytes, first_line, cut || problem.is_some())?;
        if cut && self.members.contains_key(path) {
            self.tell_cut(path);
        }
        problem.map_or(Ok(()), Err)
    }

    fn link(&mut self, path: &str, target: &str) {
        let place = Place::of(path);
        let leads_to_facts =
            place.rest.starts_with("sys/class/net/") || place.rest == "proc/self" || place.rest == "proc/net";
        if leads_to_facts && target.len() < SAMPLE && self.has_room(path.len() + target.len() + COST) {
            self.links.insert(path.to_owned(), target.to_owned());
        }
    }
}

/// The first bytes, `most` of them; their first line; how many were read; true where there are more; what went wrong.
fn beginning(content: &mut dyn Read, most: usize) -> (Vec<u8>, u32, u64, bool, Option<io::Error>) {
    let mut bytes = Vec::new();
    let failed = (&mut *content).take(most as u64 + 1).read_to_end(&mut bytes).err();
    let cut = bytes.len() > most;
    bytes.truncate(most);
    let read = bytes.len() as u64;
    (bytes, 1, read, cut, failed)
}

/// The last bytes, from the beginning of a line on.
fn end(content: &mut dyn Read) -> (Vec<u8>, u32, u64, bool, Option<io::Error>) {
    let mut bytes = Vec::new();
    let (mut line, mut read, mut cut) = (1_u32, 0, false);
    loop {
        let before = bytes.len();
        let result = (&mut *content).take(MOST_LOG as u64).read_to_end(&mut bytes);
        let got = bytes.len() - before;
        read += got as u64;
        if bytes.len() > MOST_LOG {
            let excess = bytes.len() - MOST_LOG;
            let start = bytes[excess..].iter().position(|byte| *byte == b'\n').map_or(excess, |at| excess + at + 1);
            line = line.saturating_add(bytes[..start].iter().map(|byte| u32::from(*byte == b'\n')).sum());
            bytes.drain(..start);
            cut = true;
        }
        if got == 0 || result.is_err() {
            return (bytes, line, read, cut, result.err());
        }
    }
}

/// A text in UTF-8, from UTF-16 where its mark says so; none for what is no text.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    let wide = match bytes.get(..2) {
        Some([0xff, 0xfe]) => Some(u16::from_le_bytes as fn([u8; 2]) -> u16),
        Some([0xfe, 0xff]) => Some(u16::from_be_bytes as fn([u8; 2]) -> u16),
        _ => None,
    };
    if let Some(of_bytes) = wide {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| of_bytes([pair[0], pair[1]])).collect();
        return Some(String::from_utf16_lossy(&units));
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let odd = sample.iter().filter(|byte| **byte < 9 || (14..27).contains(*byte)).count();
    if odd * 20 > sample.len() {
        return None;
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Some(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_keeps_its_line_numbers() {
        let mut text = String::new();
        let mut count = 0;
        while text.len() < 3 * MOST_LOG {
            count += 1;
            text += &format!("line {count} of a log that is rather long, as logs are\n");
        }
        let (bytes, first, read, cut, failed) = end(&mut text.as_bytes());
        let kept = String::from_utf8(bytes).unwrap();
        assert!(cut && failed.is_none() && read == text.len() as u64 && kept.len() <= MOST_LOG);
        assert!(kept.starts_with(&format!("line {first} of")) && kept.ends_with("as logs are\n"));
        assert_eq!(end(&mut &b"a\nb"[..]).0, b"a\nb");
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        assert_eq!(text_of(b"a\xffb".to_vec()).as_deref(), Some("a\u{fffd}b"));
        assert_eq!(text_of(b"\xff\xfea\0\n\0".to_vec()).as_deref(), Some("a\n"));
        assert_eq!(text_of("\u{feff}x".as_bytes().to_vec()).as_deref(), Some("x"));
        assert_eq!(text_of(vec![0; 100]), None);
        assert_eq!(text_of(vec![]).as_deref(), Some(""));
    }
}
