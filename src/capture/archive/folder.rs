//! Folders: files in the order of their names, no link followed, nothing opened that is no file.

use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Walk, content, name};

/// Folders inside each other that are entered.
const DEEPEST: usize = 64;

/// Hands the files and links below a folder to the visitor.
pub(super) fn walk(walk: &mut Walk<'_>, folder: &Path) {
    // The last one is the next; paths are those of the file system and those below the folder.
    let mut left: Vec<(PathBuf, String, usize)> = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((real, path, depth)) = left.pop() {
        let kind = match fs::symlink_metadata(&real) {
            Ok(found) => found.file_type(),
            Err(why) => {
                walk.lost(&path, &why);
                continue;
            }
        };
        if path.is_empty() || kind.is_dir() {
            if depth > DEEPEST {
                walk.lost(&path, &format_args!("folders deeper than {DEEPEST}; not read"));
                continue;
            }
            let mut inside = match fs::read_dir(&real) {
                Ok(entries) => entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect::<Vec<_>>(),
                Err(why) => {
                    walk.lost(&path, &why);
                    continue;
                }
            };
            inside.sort_unstable_by(|a, b| b.cmp(a));
            for file in inside {
                if !walk.count() {
                    return;
                }
                if let Ok(part) = name::inside(file.as_bytes()) {
                    left.push((real.join(&file), name::below(&path, &part), depth + 1));
                }
            }
        } else if kind.is_symlink() {
            if let Ok(target) = fs::read_link(&real) {
                walk.visitor.link(&path, &target.to_string_lossy());
            }
        } else if kind.is_file() {
            file(walk, &real, &path);
        }
    }
}

fn file(walk: &mut Walk<'_>, real: &Path, path: &str) {
    let stem = name::archive_stem(path);
    if !walk.visitor.wants(stem.unwrap_or(path)) {
        return;
    }
    // What became a link or a pipe since it was looked at is not opened, or not waited for.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(real);
    let opened = opened.and_then(|file| Ok((file.metadata()?, file)));
    match opened {
        Ok((found, mut file)) if found.is_file() => {
            if stem.is_some() || name::is_compressed(path) {
                content(walk, Box::new(file), path, stem.unwrap_or(path), path, 1);
            } else if let Err(why) = walk.visitor.file(path, &mut file, None) {
                walk.lost(path, &why);
            }
        }
        Ok(_) => {}
        Err(why) => walk.lost(path, &why),
    }
}
