//! /proc/self/mountstats: what the NFS client knows of each mount. And NFS mounts as /proc/self/mounts and `mount` list them.

use std::collections::BTreeMap;

/// An NFS mount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// Server and export.
    pub export: String,
    /// Where it is mounted.
    pub path: String,
    /// Options by their names; those without a value have none: `vers`, `proto`, `nconnect`, `rsize` ...
    pub options: BTreeMap<String, String>,
    /// Connections that have a line of their own; 0 where the kernel writes none.
    pub connections: u32,
    /// Requests, and requests sent again; `None` where the mount has no list of its operations.
    pub requests: Option<(u64, u64)>,
}

impl Mount {
    /// An option as a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.options.get(name)?.parse().ok()
    }
}

/// Reads the NFS mounts in the order of the file; mounts of other kinds are passed over.
pub fn parse(text: &str) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = Vec::new();
    let mut inside = false;
    let mut operations = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            operations = false;
            let mount = heading(rest);
            inside = mount.is_some();
            mounts.extend(mount);
            continue;
        }
        let Some(mount) = mounts.last_mut().filter(|_| inside) else { continue };
        let line = line.trim_ascii();
        if let Some(list) = line.strip_prefix("opts:") {
            mount.options = options(list.trim_ascii());
        } else if line.starts_with("xprt:") {
            mount.connections = mount.connections.saturating_add(1);
        } else if line == "per-op statistics" {
            operations = true;
            mount.requests = Some((0, 0));
        } else if operations && let Some((operations, sent)) = operation(line) {
            let sums = mount.requests.get_or_insert((0, 0));
            sums.0 = sums.0.saturating_add(operations);
            // A request that waits was sent and is not done yet; it is counted once it is.
            sums.1 = sums.1.saturating_add(sent.saturating_sub(operations));
        }
    }
    mounts
}

/// `SERVER:EXPORT mounted on PATH with fstype nfs4 statvers=1.1`.
fn heading(text: &str) -> Option<Mount> {
    let (export, rest) = text.split_once(" mounted on ")?;
    let (path, rest) = rest.rsplit_once(" with fstype ")?;
    let kind = rest.split_ascii_whitespace().next()?;
    (kind == "nfs" || kind == "nfs4").then(|| Mount { export: plain(export), path: plain(path), ..Mount::default() })
}

/// `READ: 12 13 0 ...`: operations and how often they were sent.
fn operation(line: &str) -> Option<(u64, u64)> {
    let (_, figures) = line.split_once(':')?;
    let mut figures = figures.split_ascii_whitespace().map(|figure| figure.parse().ok());
    Some((figures.next()??, figures.next()??))
}

/// Options by their names: `rw,vers=3`.
pub fn options(list: &str) -> BTreeMap<String, String> {
    list.split(',')
        .map(|option| option.split_once('=').unwrap_or((option, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Address of the server of each NFS mount by its path, out of /proc/self/mounts.
pub fn servers(mounts: &str) -> BTreeMap<String, String> {
    let row = |line: &str| {
        let mut words = line.split(' ');
        let (_, path, kind, list) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let address = options(list).remove("addr")?;
        (kind == "nfs" || kind == "nfs4").then(|| (plain(path), address))
    };
    mounts.lines().filter_map(row).collect()
}

/// A line of /proc/self/mounts: `SERVER:EXPORT PATH nfs4 rw,vers=4.2 0 0`, or of `mount`:
/// `SERVER:EXPORT on PATH type nfs4 (rw,vers=4.2)`. Mounts of other kinds are without options.
pub fn listed(text: &str) -> Option<Mount> {
    let (export, path, kind, list) = if let Some((export, rest)) = text.split_once(" on ") {
        let (path, rest) = rest.split_once(" type ")?;
        let (kind, rest) = rest.split_once(" (")?;
        (export, path, kind, rest.trim_end().strip_suffix(')')?)
    } else {
        let mut words = text.trim_end().split(' ');
        let four = (words.next()?, words.next()?, words.next()?, words.next()?);
        let rest: Vec<&str> = words.collect();
        let numbers = rest.len() == 2 && rest.iter().all(|word| word.parse::<u32>().is_ok());
        (numbers && four.1.starts_with('/')).then_some(four)?
    };
    let of_nfs = kind == "nfs" || kind == "nfs4";
    let options = if of_nfs { options(list) } else { BTreeMap::new() };
    Some(Mount { export: plain(export), path: plain(path), options, ..Mount::default() })
}

/// The kernel writes blanks, tabs, line feeds and backslashes of a name as three octal digits.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let digits = rest.get(at + 1..at + 4);
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(u8::is_ascii) {
            out.push(char::from(byte));
            rest = &rest[at + 4..];
        } else {
            out.push('\\');
            rest = &rest[at + 1..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "device proc mounted on /proc with fstype proc\n\
        device nas:/vol mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1\n\
        \topts:\trw,vers=4.2,rsize=1048576,wsize=524288,namlen=255,soft,proto=tcp,nconnect=4,timeo=600\n\
        \tage:\t1000\n\
        \txprt:\ttcp 0 0 2 0 0 70 70 0 70 0 2 0 0\n\
        \txprt:\ttcp 0 0 2 0 0 30 30 0 30 0 2 0 0\n\
        \tper-op statistics\n\
        \t        NULL: 1 1 0 44 24 0 1 1 0\n\
        \t        READ: 90 92 1 100 200 0 1 1 0\n\
        \t       WRITE: 9 8 0 0 0 0 0 0 0\n\
        device /dev/vda mounted on / with fstype ext4\n\
        \topts:\trw\n\
        device old:/x mounted on /mnt/old with fstype nfs statvers=1.0\n\
        \topts:\trw,vers=3,proto=udp\n";

    #[test]
    fn mounts_have_options_connections_and_requests() {
        let [new, old] = parse(FILE).try_into().unwrap();
        assert_eq!((new.export.as_str(), new.path.as_str()), ("nas:/vol", "/mnt/a b"));
        assert_eq!((new.number("nconnect"), new.number("wsize")), (Some(4), Some(524_288)));
        assert_eq!(new.options["vers"], "4.2");
        assert_eq!(new.options["soft"], "");
        assert_eq!(new.connections, 2);
        // A WRITE that is on its way takes nothing off what READ sent again.
        assert_eq!(new.requests, Some((100, 2)));
        assert_eq!((old.path.as_str(), old.options["proto"].as_str(), old.requests), ("/mnt/old", "udp", None));
    }

    #[test]
    fn servers_are_found_by_the_path() {
        let mounts = "proc /proc proc rw 0 0\nnas:/vol /mnt/a\\040b nfs4 rw,addr=192.0.2.9,clientaddr=192.0.2.7 0 0\n\
                      x /y ext4 rw,addr=1 0 0\n";
        assert_eq!(servers(mounts), [("/mnt/a b".to_owned(), "192.0.2.9".to_owned())].into());
    }

    #[test]
    fn lists_of_mounts() {
        let table = listed("nas:/vol /mnt/a\\040b nfs4 rw,vers=4.2,addr=192.0.2.9 0 0").unwrap();
        let printed = listed("nas:/vol on /mnt/a b type nfs4 (rw,vers=4.2,addr=192.0.2.9)").unwrap();
        assert_eq!(table, printed);
        assert_eq!((table.path.as_str(), table.options["addr"].as_str()), ("/mnt/a b", "192.0.2.9"));
        assert!(listed("/dev/sda1 on / type ext4 (rw,relatime)").unwrap().options.is_empty());
        for other in [
            "",
            "nas:/vol on /mnt",
            "nas:/vol on /mnt type nfs4 (rw,vers=4",
            "a b c d",
            "a b nfs rw 0 0",
            "a /b nfs rw 0 x",
        ] {
            assert_eq!(listed(other), None, "{other}");
        }
    }

    #[test]
    fn odd_text_is_no_mount() {
        for odd in
            ["", "device x mounted on y", "device x mounted on y with fstype ", "opts: rw\nper-op statistics\nA: 1 2"]
        {
            assert!(parse(odd).is_empty(), "{odd}");
        }
        assert_eq!(plain("a\\"), "a\\");
        assert_eq!(plain("a\\400\\0401"), "a\\400 1");
        assert_eq!(plain("\\é40"), "\\é40");
    }
}
