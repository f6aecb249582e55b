//! Archives and folders as a stream of members: read once from front to back, nothing unpacked to disk, no link followed.
//! What is inside is hostile until it is read: sizes, names, depth and number are bounded here.

mod decode;
mod folder;
mod name;
mod tarball;

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use decode::{Form, Peek};
pub(super) use name::printable;
pub(super) use tarball::cut_off;

/// Archives inside archives that are opened, counted from the outermost.
const DEEPEST: usize = 4;
/// Compressed streams inside each other that are opened.
const MOST_LAYERS: usize = 3;
/// Bytes that all streams of an input may unpack to.
const MOST_UNPACKED: u64 = 16 << 30;
/// Members of an input, those in archives inside it included.
const MOST_MEMBERS: u64 = 4_000_000;
/// Problems that are told one by one.
const MOST_PROBLEMS: usize = 20;

/// Takes the members of an archive or a folder in the order in which they come.
pub(super) trait Visitor {
    /// True where the content of this member is wanted.
    fn wants(&mut self, path: &str) -> bool;
    /// A file that is wanted. It need not be read to its end. `size` is what the archive says, where it says it.
    fn file(&mut self, path: &str, content: &mut dyn Read, size: Option<u64>) -> io::Result<()>;
    /// A symbolic or hard link. The target is as it was written; that of a hard link begins with `/`, which is the root of the archive.
    fn link(&mut self, path: &str, target: &str);
}

/// What went wrong on the way.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<String>,
    more: usize,
    /// True where a part of the input could not be read.
    pub incomplete: bool,
}

impl Problems {
    /// Notes something that was left out on purpose.
    pub fn note(&mut self, text: String) {
        if self.told.len() < MOST_PROBLEMS {
            self.told.push(text);
        } else {
            self.more += 1;
        }
    }

    /// Notes that a part of the input is missing.
    pub fn lost(&mut self, text: String) {
        self.incomplete = true;
        // What is missing is told even where much was left out.
        if self.told.len() < 2 * MOST_PROBLEMS {
            self.told.push(text);
        } else {
            self.more += 1;
        }
    }

    /// The sentences, at the end how many more there would be.
    pub fn into_texts(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("{} more of the like", self.more));
        }
        self.told
    }
}

/// A walk through one input.
struct Walk<'v> {
    visitor: &'v mut dyn Visitor,
    problems: &'v mut Problems,
    unpacked: Rc<Cell<u64>>,
    members: u64,
}

impl<'v> Walk<'v> {
    fn new(visitor: &'v mut dyn Visitor, problems: &'v mut Problems) -> Self {
        Self { visitor, problems, unpacked: Rc::default(), members: 0 }
    }

    /// Counts a member; false where there are too many.
    fn count(&mut self) -> bool {
        self.members += 1;
        if self.members == MOST_MEMBERS + 1 {
            self.problems.lost(format!("has more than {MOST_MEMBERS} members; the rest was not read"));
        }
        self.members <= MOST_MEMBERS
    }

    /// Notes that a part of the input is missing. `place` is the member, empty for the input itself.
    fn lost(&mut self, place: &str, why: &dyn fmt::Display) {
        let place = if place.is_empty() { String::new() } else { format!("{}: ", printable(place)) };
        self.problems.lost(format!("{place}{why}"));
    }
}

/// A failure to read in words: decoders tell it in those of their format.
fn in_words(why: &io::Error) -> String {
    match (why.kind(), why.get_ref()) {
        (io::ErrorKind::UnexpectedEof, Some(inner)) if inner.to_string().starts_with("cut off") => why.to_string(),
        (io::ErrorKind::UnexpectedEof, _) => "cut off".to_owned(),
        (io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput, _) => format!("broken ({why})"),
        _ => why.to_string(),
    }
}

/// What an input is.
pub(super) enum Input {
    /// An archive, a folder or a compressed file, which was walked through.
    Walked,
    /// A text: its bytes.
    Text(Vec<u8>),
}

/// Walks through a folder.
pub(super) fn folder(path: &Path, visitor: &mut dyn Visitor, problems: &mut Problems) {
    folder::walk(&mut Walk::new(visitor, problems), path);
}

/// Walks through a stream if it is an archive or compressed. A plain text is returned instead, as far as `most` says, which is
/// given its first bytes. `name` is that of the input.
pub(super) fn stream(
    reader: Box<dyn Read + '_>,
    name: &str,
    most: impl Fn(&[u8]) -> u64,
    visitor: &mut dyn Visitor,
    problems: &mut Problems,
) -> io::Result<Input> {
    let mut walk = Walk::new(visitor, problems);
    let mut peek = Peek::new(BufReader::with_capacity(64 << 10, reader));
    let head = peek.head()?;
    if Form::of(head) == Form::Plain {
        let most = most(head);
        let mut bytes = Vec::new();
        peek.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            walk.problems.lost(format!("larger than {} MiB; the rest was not read", most >> 20));
        }
        return Ok(Input::Text(bytes));
    }
    content(&mut walk, Box::new(peek), "", "", file_name(name), 0);
    Ok(Input::Walked)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Reads what a file holds: the members of an archive, below `prefix`; else itself, as the member `path`.
fn content<'r>(walk: &mut Walk<'_>, reader: Box<dyn Read + 'r>, place: &str, prefix: &str, path: &str, depth: usize) {
    let mut reader = reader;
    let mut path = path.to_owned();
    for layer in 0..=MOST_LAYERS {
        let mut peek = Peek::new(reader);
        let form = match peek.head() {
            Ok(head) => Form::of(head),
            Err(why) => return walk.lost(place, &in_words(&why)),
        };
        match form {
            Form::Tar => return tarball::walk(walk, &mut peek, place, prefix, depth),
            Form::Plain => {
                if !walk.visitor.wants(&path) {
                    return;
                }
                if let Err(why) = walk.visitor.file(&path, &mut peek, None) {
                    walk.lost(place, &in_words(&why));
                }
                return;
            }
            Form::Zip | Form::Encrypted | Form::SevenZip => return walk.lost(place, &form.complaint()),
            Form::Gzip | Form::Xz | Form::Zstd | Form::Bzip2 if layer == MOST_LAYERS => {
                return walk.lost(place, &format_args!("compressed more than {MOST_LAYERS} times; not read"));
            }
            Form::Gzip | Form::Xz | Form::Zstd | Form::Bzip2 => {
                let unpacked = decode::open(form, Box::new(peek));
                let metered = decode::Metered::new(unpacked, Rc::clone(&walk.unpacked), MOST_UNPACKED);
                reader = Box::new(BufReader::with_capacity(64 << 10, metered));
                path = name::without_compression(&path).to_owned();
            }
        }
    }
}
