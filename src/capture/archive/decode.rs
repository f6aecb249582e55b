//! Compressed streams: recognised by their first bytes, unpacked with bounded memory.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Memory that the window of a stream may take, in bytes: what the strongest ordinary setting of xz takes.
const MOST_WINDOW: u64 = 64 << 20;
/// What the decoder of xz takes beside its window, in KiB.
const XZ_OVERHEAD: u32 = 1 << 10;
/// Bytes that show what a stream is: one block of a tar.
const HEAD: usize = 512;

/// What the first bytes of a stream say that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Gzip,
    Xz,
    Zstd,
    Bzip2,
    Tar,
    Zip,
    SevenZip,
    Encrypted,
    Plain,
}

impl Form {
    pub fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Self::Bzip2,
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Self::Zip,
            [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Self::SevenZip,
            _ if head.starts_with(b"-----BEGIN PGP MESSAGE") || is_gpg(head) => Self::Encrypted,
            _ if is_tar(head) => Self::Tar,
            _ => Self::Plain,
        }
    }

    /// Why a stream of this form is not read.
    pub fn complaint(self) -> &'static str {
        match self {
            Self::Zip => "a zip file, which is not read; unpack it and give the folder",
            Self::SevenZip => "a 7z file, which is not read; unpack it and give the folder",
            Self::Encrypted => "encrypted; decrypt it first",
            _ => "not read",
        }
    }
}

/// The packets that begin an encrypted OpenPGP message: a session key for a public key, or for a pass phrase.
fn is_gpg(head: &[u8]) -> bool {
    match head {
        [0x84 | 0x85, _, _, 3, ..] | [0x84, _, 3, ..] => true,
        [0x8c, length, 4, 1..=13, 0 | 1 | 3, ..] => *length < 64,
        _ => false,
    }
}

/// True for a header of a tar whose checksum is right.
fn is_tar(head: &[u8]) -> bool {
    let Some(head) = head.get(..HEAD).filter(|head| head[0] != 0) else { return false };
    let digits = &head[148..156];
    let text: String = digits.iter().map(|byte| char::from(*byte)).collect();
    let Ok(wanted) = u32::from_str_radix(text.trim_matches([' ', '\0']), 8) else { return false };
    let sum = |range: &[u8]| range.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    sum(&head[..148]) + 8 * u32::from(b' ') + sum(&head[156..]) == wanted
}

/// A stream whose first bytes were looked at and come again.
pub(super) struct Peek<R> {
    head: Cursor<Vec<u8>>,
    looked: bool,
    rest: R,
}

impl<R: Read> Peek<R> {
    pub fn new(rest: R) -> Self {
        Self { head: Cursor::new(Vec::new()), looked: false, rest }
    }

    /// The first bytes; fewer than a block where the stream is shorter.
    pub fn head(&mut self) -> io::Result<&[u8]> {
        if !self.looked {
            self.looked = true;
            (&mut self.rest).take(HEAD as u64).read_to_end(self.head.get_mut())?;
        }
        Ok(self.head.get_ref())
    }
}

impl<R: Read> Read for Peek<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.head.read(out)? {
            0 => self.rest.read(out),
            count => Ok(count),
        }
    }
}

/// A stream that fails once all streams together gave more than they may.
pub(super) struct Metered<R> {
    inner: R,
    total: Rc<Cell<u64>>,
    most: u64,
}

impl<R> Metered<R> {
    pub fn new(inner: R, total: Rc<Cell<u64>>, most: u64) -> Self {
        Self { inner, total, most }
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.total.get() > self.most {
            return Err(io::Error::other(format!(
                "unpacks to more than {} GiB; the rest was not read",
                self.most >> 30
            )));
        }
        let count = self.inner.read(out)?;
        self.total.set(self.total.get() + count as u64);
        Ok(count)
    }
}

/// The content of a compressed stream.
pub(super) fn open<'r>(form: Form, packed: Box<dyn Read + 'r>) -> Box<dyn Read + 'r> {
    match form {
        Form::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
        Form::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(packed)),
        Form::Xz => {
            let most = u32::try_from(MOST_WINDOW >> 10).unwrap_or(u32::MAX) + XZ_OVERHEAD;
            Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, most))
        }
        Form::Zstd => Box::new(Zstd::new(BufReader::new(packed))),
        _ => packed,
    }
}

/// All frames of a zstd stream, one behind the other.
struct Zstd<R> {
    packed: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(packed: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_WINDOW);
        Self { packed, decoder, in_frame: false }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if self.in_frame {
                if self.decoder.can_collect() > 0 {
                    return self.decoder.read(out);
                }
                if !self.decoder.is_finished() {
                    self.decoder
                        .decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBlocks(1))
                        .map_err(io::Error::other)?;
                    continue;
                }
                self.in_frame = false;
            }
            if self.packed.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.reset(&mut self.packed) {
                Ok(()) => self.in_frame = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.packed).take(u64::from(length)), &mut io::sink())?;
                }
                Err(why) => return Err(io::Error::other(why)),
            }
        }
    }
}
