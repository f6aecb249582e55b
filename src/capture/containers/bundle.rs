//! Our own bundles: a folder with a manifest, of which the snapshot is the host and all else is for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read};

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// What the schema of a manifest begins with.
const SCHEMA: &str = "netdoctor.bundle/";
/// The member that is read.
pub(super) const SNAPSHOT: &str = "snapshot.json";
/// The member that says that it is a bundle.
const MANIFEST: &str = "manifest.json";
/// Names of members that are read to their end for their hash, before it is known that they are of a bundle.
const OTHERS: [&str; 3] = ["report.json", "report.txt", "report.html"];
/// Most members whose hash is kept.
const MOST: usize = 10_000;
/// Most bundles of one input.
const MOST_BUNDLES: usize = 1000;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest {
    files: Vec<Entry>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    name: String,
    sha256: String,
}

/// What is known of bundles while an input streams by.
#[derive(Debug, Default)]
pub(super) struct Bundles {
    /// By their folder: the hashes of their members; none where the manifest is broken.
    found: BTreeMap<String, Option<BTreeMap<String, String>>>,
    /// By path.
    hashes: BTreeMap<String, String>,
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn inside<'p>(root: &str, path: &'p str) -> Option<&'p str> {
    if root.is_empty() { Some(path) } else { path.strip_prefix(root)?.strip_prefix('/') }
}

impl Bundles {
    /// True for a member that may be one of a bundle and that nobody else reads.
    pub fn wants(&self, path: &str) -> bool {
        OTHERS.contains(&split(path).1) || self.root_of(path).is_some()
    }

    /// The folder of the bundle that a member is of.
    pub fn root_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        std::iter::once("").chain(folders).find(|folder| self.found.contains_key(*folder))
    }

    /// True where a member is the snapshot of a bundle, or may be.
    pub fn is_snapshot(path: &str) -> bool {
        split(path).1 == SNAPSHOT
    }

    /// True for a member of a known bundle that is for people.
    pub fn is_aside(&self, path: &str) -> bool {
        self.root_of(path).is_some_and(|root| inside(root, path) != Some(SNAPSHOT))
    }

    /// Reads a member to its end for its hash alone.
    pub fn pass(&mut self, path: &str, content: &mut dyn Read) -> io::Result<()> {
        let mut hashing = Hashing::new(content);
        io::copy(&mut hashing, &mut io::sink())?;
        self.keep(path, hashing);
        Ok(())
    }

    /// Keeps the hash of a member that was read, after what is left of it.
    pub fn keep(&mut self, path: &str, mut read: Hashing<'_>) {
        let whole = io::copy(&mut read, &mut io::sink()).is_ok();
        if whole && self.hashes.len() < MOST {
            self.hashes.insert(path.to_owned(), read.hex());
        }
    }

    /// Notices a manifest.
    pub fn look_at(&mut self, path: &str, text: &str) {
        let (root, name) = split(path);
        let is_manifest = name == MANIFEST
            && text.trim_start().starts_with('{')
            && text.contains(SCHEMA)
            && text.contains("\"schema\"");
        if !is_manifest || self.found.len() >= MOST_BUNDLES {
            return;
        }
        let manifest: Option<Manifest> = serde_json::from_str(text).ok();
        let hashes = |manifest: Manifest| manifest.files.into_iter().map(|file| (file.name, file.sha256)).collect();
        self.found.insert(root.to_owned(), manifest.map(hashes));
    }

    /// The folders of all bundles.
    pub fn roots(&self) -> Vec<String> {
        self.found.keys().cloned().collect()
    }

    /// What is not as it was when the bundle was made: names of members, true where it is the snapshot.
    pub fn changed(&self, root: &str) -> Vec<(bool, String)> {
        let Some(Some(hashes)) = self.found.get(root) else {
            return vec![(false, format!("{MANIFEST}: broken; what it says was not checked"))];
        };
        let mut told = Vec::new();
        for (name, hash) in hashes {
            let path = if root.is_empty() { name.clone() } else { format!("{root}/{name}") };
            match self.hashes.get(&path) {
                Some(found) if found.eq_ignore_ascii_case(hash) => {}
                Some(_) => {
                    let why = "not as it was when the bundle was made: its SHA-256 is another one";
                    told.push((name == SNAPSHOT, format!("{name}: {why}")));
                }
                None => told.push((name == SNAPSHOT, format!("{name}: is missing, or could not be read to its end"))),
            }
        }
        told
    }
}

/// Passes bytes on and hashes them.
pub(super) struct Hashing<'r> {
    inner: &'r mut dyn Read,
    hash: Sha256,
}

impl<'r> Hashing<'r> {
    pub fn new(inner: &'r mut dyn Read) -> Self {
        Self { inner, hash: Sha256::new() }
    }

    fn hex(self) -> String {
        let mut hex = String::new();
        for byte in self.hash.finalize() {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }
}

impl Read for Hashing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_compared_with_the_manifest() {
        let mut bundles = Bundles::default();
        assert!(!bundles.wants("b/raw/x") && bundles.wants("b/report.html"));
        // SHA-256 of "abc": FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let file = |name: &str| format!("{{\"name\": \"{name}\", \"sha256\": \"{abc}\"}}");
        let files = ["report.txt", "report.json", SNAPSHOT, "raw/x"].map(file).join(", ");
        bundles.look_at("a/b/manifest.json", &format!("{{\"schema\": \"netdoctor.bundle/1\", \"files\": [{files}]}}"));
        assert_eq!(bundles.roots(), ["a/b"]);
        assert!(
            bundles.is_aside("a/b/raw/x") && !bundles.is_aside("a/b/snapshot.json") && !bundles.is_aside("a/bc/raw/x")
        );
        for (name, text) in [("report.txt", "abc"), (SNAPSHOT, "abd"), ("raw/x", "abc")] {
            bundles.pass(&format!("a/b/{name}"), &mut text.as_bytes()).unwrap();
        }
        let told = bundles.changed("a/b");
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(!told[0].0 && told[0].1.starts_with("report.json: is missing"), "{told:?}");
        assert!(told[1].0 && told[1].1.starts_with("snapshot.json: not as it was"), "{told:?}");
    }

    #[test]
    fn a_file_that_is_only_called_so_makes_no_bundle() {
        let mut bundles = Bundles::default();
        for text in ["", "{}", "netdoctor.bundle/1", "{\"schema\": \"somebody.else/1\"}"] {
            bundles.look_at("manifest.json", text);
        }
        assert!(bundles.roots().is_empty());
        bundles.look_at("manifest.json", "{\"schema\": \"netdoctor.bundle/1\", ");
        assert_eq!(bundles.changed("")[0].1, "manifest.json: broken; what it says was not checked");
    }
}
