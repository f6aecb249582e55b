//! `uname`, and the banners of /proc/version and of sysstat, which hold parts of the same.

/// What `uname -a` tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uname {
    /// `Linux`, `FreeBSD`, `Darwin` ...
    pub system: String,
    /// Host name.
    pub node: Option<String>,
    /// Kernel release.
    pub release: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// CPUs, which only sysstat tells.
    pub cpus: Option<u32>,
}

const SYSTEMS: [&str; 6] = ["Linux", "FreeBSD", "OpenBSD", "NetBSD", "Darwin", "SunOS"];
const MACHINES: [&str; 24] = [
    "x86_64",
    "amd64",
    "i386",
    "i486",
    "i586",
    "i686",
    "aarch64",
    "arm64",
    "armv5tel",
    "armv6l",
    "armv7l",
    "armv8l",
    "mips",
    "mips64",
    "mipsel",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv64",
    "s390x",
    "loongarch64",
    "sparc64",
    "alpha",
    "parisc",
];

/// True for the name of a machine.
pub fn is_machine(word: &str) -> bool {
    MACHINES.contains(&word)
}

fn is_release(word: &str) -> bool {
    word.starts_with(|char: char| char.is_ascii_digit()) && word.contains('.')
}

/// Reads the line of `uname -a`, of /proc/version, or the banner of sysstat.
pub fn parse(text: &str) -> Option<Uname> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let system = words.first().filter(|word| SYSTEMS.contains(word))?;
    let mut uname = Uname { system: (*system).to_owned(), ..Uname::default() };
    let own = |word: &&str| (*word).to_owned();
    let inner = |word: &str| word.strip_prefix('(').and_then(|word| word.strip_suffix(')')).map(str::to_owned);
    match words.as_slice() {
        // Linux version 6.1.0-57-amd64 (builder@host) ...
        [_, "version", release, ..] if is_release(release) => uname.release = Some(own(release)),
        // Linux 5.4.0-42-generic (host1) 	01/01/20 	_x86_64_	(8 CPU)
        [_, release, node, ..] if is_release(release) && inner(node).is_some() => {
            uname.release = Some(own(release));
            uname.node = inner(node);
            let machine = words.iter().find_map(|word| word.strip_prefix('_')?.strip_suffix('_'));
            uname.machine = machine.map(str::to_owned);
            let last = words.windows(2).find(|pair| pair[1] == "CPU)");
            uname.cpus = last.and_then(|pair| pair[0].strip_prefix('(')?.parse().ok());
        }
        [_, node, release, ..] if is_release(release) => {
            uname.node = Some(own(node));
            uname.release = Some(own(release));
            uname.machine = words.iter().rev().find(|word| is_machine(word)).map(own);
        }
        _ => return None,
    }
    Some(uname)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_three_kinds() {
        let uname = parse("Linux host1 5.15.137 #0 SMP Tue Nov 14 13:38:11 2023 aarch64 GNU/Linux").unwrap();
        assert_eq!((uname.node.as_deref(), uname.release.as_deref()), (Some("host1"), Some("5.15.137")));
        assert_eq!(uname.machine.as_deref(), Some("aarch64"));
        let cut = parse("Linux host1 6.8.0-48-generic #48~22.04.1-Ubuntu").unwrap();
        assert_eq!((cut.release.as_deref(), cut.machine), (Some("6.8.0-48-generic"), None));
        let version = parse("Linux version 6.1.0-57-amd64 (debian-kernel@lists.debian.org) (gcc-12)").unwrap();
        assert_eq!((version.node, version.release.as_deref()), (None, Some("6.1.0-57-amd64")));
        let banner = parse("Linux 5.4.0-42-generic (host1) \t01/01/20 \t_x86_64_\t(8 CPU)").unwrap();
        assert_eq!(
            (banner.node.as_deref(), banner.machine.as_deref(), banner.cpus),
            (Some("host1"), Some("x86_64"), Some(8))
        );
        assert_eq!(parse("FreeBSD host1 12.2-STABLE FreeBSD 12.2-STABLE amd64").unwrap().system, "FreeBSD");
        for other in ["Linux is an operating system", "Linux", "linux host 5.4", ""] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
