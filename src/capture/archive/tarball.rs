//! Tar archives, entry by entry. Long names and extended headers are read here and not by the library, so that they are bounded.

use std::cell::Cell;
use std::io::{self, Read};

use super::{DEEPEST, Walk, content, in_words, name};

/// Most bytes of an extended header or of a long name that are read.
const MOST_HEADER: u64 = 64 << 10;

/// What stands before an entry and belongs to it.
#[derive(Default)]
struct Ahead {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

/// Hands the entries to the visitor, below `prefix`. `place` is what the archive is called in problems.
pub(super) fn walk(walk: &mut Walk<'_>, reader: &mut dyn Read, place: &str, prefix: &str, depth: usize) {
    let zeros = Cell::new(0);
    let mut archive = tar::Archive::new(Ending { reader, zeros: &zeros });
    let entries = match archive.entries() {
        Ok(entries) => entries.raw(true),
        Err(why) => return walk.lost(place, &in_words(&why)),
    };
    let mut ahead = Ahead::default();
    let mut last = String::new();
    for entry in entries {
        if !walk.count() {
            return;
        }
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(why) => {
                let behind =
                    if last.is_empty() { String::new() } else { format!(" behind {}", name::printable(&last)) };
                let why = in_words(&why);
                return walk.lost(place, &format_args!("{why}{behind}; the rest was not read"));
            }
        };
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions() {
            let mut bytes = Vec::new();
            if let Err(why) = (&mut entry).take(MOST_HEADER).read_to_end(&mut bytes) {
                return walk.lost(place, &in_words(&why));
            }
            if kind.is_pax_local_extensions() {
                extended(&bytes, &mut ahead);
            } else {
                bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
                *(if kind.is_gnu_longname() { &mut ahead.path } else { &mut ahead.link }) = Some(bytes);
            }
            continue;
        }
        if kind.is_pax_global_extensions() {
            continue;
        }
        let before = std::mem::take(&mut ahead);
        let raw = before.path.unwrap_or_else(|| entry.header().path_bytes().into_owned());
        let path = match name::inside(&raw) {
            Ok(path) => path,
            Err(bad) => {
                let named = String::from_utf8_lossy(&raw[..raw.len().min(1000)]).into_owned();
                walk.problems.note(format!("{}: {bad}", name::printable(&named)));
                continue;
            }
        };
        if path.is_empty() || kind.is_dir() {
            continue;
        }
        let path = name::below(prefix, &path);
        if kind.is_symlink() || kind.is_hard_link() {
            let raw = before.link.or_else(|| entry.header().link_name_bytes().map(std::borrow::Cow::into_owned));
            let target = raw.unwrap_or_default();
            let target = String::from_utf8_lossy(&target);
            let target =
                if kind.is_hard_link() { format!("/{}", name::below(prefix, &target)) } else { target.into_owned() };
            walk.visitor.link(&path, &target);
        } else if kind.is_file() || kind.is_contiguous() {
            let size = entry.header().entry_size().ok();
            file(walk, &mut entry, &path, size, depth);
        } else if walk.visitor.wants(&path) {
            walk.problems.note(format!("{}: neither a file nor a link; left out", name::printable(&path)));
        }
        last = path;
    }
    // The library takes the end of the stream for the end of the archive.
    if zeros.get() < BLOCK {
        let behind = if last.is_empty() { String::new() } else { format!(" behind {}", name::printable(&last)) };
        walk.lost(place, &format_args!("cut off{behind}: the mark of its end is missing; the rest was not read"));
    }
}

/// Bytes of a block. An archive ends with a block of zeros at least.
const BLOCK: u64 = 512;

/// Counts the zeros that a stream has ended with so far.
struct Ending<'r> {
    reader: &'r mut dyn Read,
    zeros: &'r Cell<u64>,
}

impl Read for Ending<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.reader.read(buffer)?;
        let ended = buffer[..got].iter().rev().take_while(|byte| **byte == 0).count();
        let before = if ended == got { self.zeros.get() } else { 0 };
        self.zeros.set(before + ended as u64);
        Ok(got)
    }
}

fn file(walk: &mut Walk<'_>, entry: &mut dyn Read, path: &str, size: Option<u64>, depth: usize) {
    let stem = name::archive_stem(path);
    if stem.is_none() && !name::is_compressed(path) {
        if walk.visitor.wants(path)
            && let Err(why) = walk.visitor.file(path, entry, size)
        {
            walk.lost(path, &in_words(&why));
        }
        return;
    }
    if !walk.visitor.wants(stem.unwrap_or(path)) {
        return;
    }
    if depth + 1 >= DEEPEST {
        return walk.lost(path, &format_args!("an archive in archives deeper than {DEEPEST}; not read"));
    }
    content(walk, Box::new(entry), path, stem.unwrap_or(path), path, depth + 1);
}

/// Takes the names out of an extended header: records `LENGTH KEY=VALUE\n`, where the length counts the whole record.
fn extended(bytes: &[u8], ahead: &mut Ahead) {
    let mut rest = bytes;
    while let Some(space) = rest.iter().position(|byte| *byte == b' ') {
        let length = std::str::from_utf8(&rest[..space]).ok().and_then(|text| text.parse::<usize>().ok());
        let Some(record) = length.filter(|length| *length > space + 1).and_then(|length| rest.get(..length)) else {
            return;
        };
        rest = &rest[record.len()..];
        let record = &record[space + 1..record.len() - 1];
        let Some(equals) = record.iter().position(|byte| *byte == b'=') else { continue };
        match &record[..equals] {
            b"path" => ahead.path = Some(record[equals + 1..].to_vec()),
            b"linkpath" => ahead.link = Some(record[equals + 1..].to_vec()),
            _ => {}
        }
    }
}

/// What `io::Read` says of a stream that ends too soon.
pub(in crate::capture) fn cut_off(got: u64, size: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("cut off after {got} of {size} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_headers_give_names() {
        let mut ahead = Ahead::default();
        extended(b"12 path=a/b\n30 mtime=1234567890.123456789\n14 linkpath=c\n", &mut ahead);
        assert_eq!(ahead.path.as_deref(), Some(&b"a/b"[..]));
        for odd in [&b"9999 path=x\n"[..], b"0 path=x\n", b"5 \n", b"x path=y\n", b"", b"3 a"] {
            extended(odd, &mut Ahead::default());
        }
    }
}
