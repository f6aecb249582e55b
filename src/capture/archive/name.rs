//! Names of members: from whatever bytes an archive holds to a path below its root.

/// Longest name that is read, in bytes; that of Linux is as long.
const LONGEST: usize = 4096;
/// Longest name in a message.
const LONGEST_PRINTED: usize = 200;

/// Why a name is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// It leads out of the archive.
    Escapes,
    /// It is longer than any path can be.
    Long,
}

impl std::fmt::Display for Bad {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Escapes => "its name leads out of the archive; left out",
            Self::Long => "its name is longer than a path can be; left out",
        })
    }
}

/// The path of a member below the root of its archive, without `.`, empty parts and a leading `/`; empty for the root.
pub(super) fn inside(raw: &[u8]) -> Result<String, Bad> {
    if raw.len() > LONGEST {
        return Err(Bad::Long);
    }
    let text = String::from_utf8_lossy(raw);
    let mut path = String::with_capacity(text.len());
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return Err(Bad::Escapes);
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    Ok(path)
}

/// A path joined to the place where its archive stands.
pub(super) fn below(prefix: &str, path: &str) -> String {
    if prefix.is_empty() { path.to_owned() } else { format!("{prefix}/{path}") }
}

/// A name in a message: without controls, and cut where it is very long.
pub(in crate::capture) fn printable(name: &str) -> String {
    let text: String = name
        .chars()
        .take(LONGEST_PRINTED + 1)
        .flat_map(|char| {
            let escaped = char.is_control().then(|| char.escape_default());
            let plain = escaped.is_none().then_some(char);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if name.chars().nth(LONGEST_PRINTED).is_some() { text + "..." } else { text }
}

const COMPRESSED: [&str; 4] = [".gz", ".xz", ".zst", ".bz2"];

/// A name without the ending that tells of compression.
pub(super) fn without_compression(path: &str) -> &str {
    COMPRESSED.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path)
}

/// The folder that an archive inside an archive stands for, where its name says that it is one: `proc/fs.tar` is `proc/fs`.
pub(super) fn archive_stem(path: &str) -> Option<&str> {
    const SHORT: [&str; 5] = [".tgz", ".txz", ".tbz", ".tbz2", ".tzst"];
    let of_tar = without_compression(path).strip_suffix(".tar");
    of_tar.or_else(|| SHORT.iter().find_map(|ending| path.strip_suffix(ending)))
}

/// True for the name of a compressed file that is no archive.
pub(super) fn is_compressed(path: &str) -> bool {
    COMPRESSED.iter().any(|ending| path.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for (raw, wanted) in [
            ("./a//b/./c", Ok("a/b/c")),
            ("/etc/passwd", Ok("etc/passwd")),
            ("./", Ok("")),
            ("a/../b", Err(Bad::Escapes)),
            ("..", Err(Bad::Escapes)),
            ("a/..b/c..", Ok("a/..b/c..")),
        ] {
            assert_eq!(inside(raw.as_bytes()), wanted.map(str::to_owned), "{raw}");
        }
        assert_eq!(inside(b"a\xffb"), Ok("a\u{fffd}b".to_owned()));
        assert_eq!(inside(&[b'a'; 5000]), Err(Bad::Long));
    }

    #[test]
    fn names_in_messages_are_plain_and_short() {
        assert_eq!(printable("a\u{1b}[31m\nb\u{e9}"), "a\\u{1b}[31m\\nb\u{e9}");
        assert_eq!(printable(&"x".repeat(300)).len(), LONGEST_PRINTED + 1 + 3);
    }

    #[test]
    fn archives_are_known_by_their_endings() {
        for (path, stem) in [
            ("proc/fs.tar", Some("proc/fs")),
            ("a/sosreport-x.tar.xz", Some("a/sosreport-x")),
            ("scc_x.txz", Some("scc_x")),
            ("x.gz", None),
            ("tar", None),
        ] {
            assert_eq!(archive_stem(path), stem, "{path}");
        }
    }
}
