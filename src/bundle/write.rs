//! The archive itself.

use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Packs files below one folder as a compressed tar archive, in their order. `time` is that of the files, in seconds since
/// 1970. Nothing else of the host goes into the archive: no user, no group.
pub fn pack<'f>(folder: &str, files: impl Iterator<Item = (&'f str, &'f [u8])>, time: u64) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(time);
        archive.append_data(&mut header, format!("{folder}/{name}"), bytes)?;
    }
    archive.into_inner()?.finish()
}
