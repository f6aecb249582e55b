//! `lscpu`, flat as it was until 2.36 or indented as since.

use super::cursor::{At, Cursor, pair};

/// What is needed of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lscpu {
    /// Machine.
    pub architecture: Option<At<String>>,
    /// CPUs, also those that are off line.
    pub cpus: Option<At<u32>>,
    /// CPUs that are on line, as a list.
    pub online: Option<At<String>>,
    /// Vendor: `GenuineIntel`, `AuthenticAMD` ...
    pub vendor: Option<At<String>>,
    /// Model of the processor.
    pub model: Option<At<String>>,
    /// Sockets.
    pub sockets: Option<At<u32>>,
    /// NUMA nodes.
    pub nodes: Option<At<u32>>,
    /// The last level of the caches: its level, and the bytes of one instance where the number of instances is told.
    pub cache: Option<At<(u32, u64)>>,
    /// CPUs of each NUMA node, as lists.
    pub node_cpus: Vec<(u32, At<String>)>,
    /// True for a guest: a hypervisor is named, or the flag is among those of an x86 processor; false where the flags
    /// are listed without it.
    pub guest: Option<At<bool>>,
}

/// True for the first lines of an output.
pub fn begins(cursor: &Cursor<'_>) -> bool {
    let key = |ahead| cursor.peek_at(ahead).and_then(|line| pair(line.text)).map(|(key, _)| key);
    key(0) == Some("Architecture") && matches!(key(1), Some("CPU op-mode(s)" | "Byte Order" | "CPU(s)"))
}

/// Reads the rows that come next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Lscpu> {
    let mut found = Lscpu::default();
    let start = cursor.position();
    while let Some(row) = cursor.take_if(row) {
        let (key, value) = row.value;
        let at = |text: &str| Some(At::new(text.to_owned(), row.line));
        let number = || Some(At::new(value.parse().ok()?, row.line));
        match key {
            "Architecture" => found.architecture = at(value),
            "CPU(s)" => found.cpus = number(),
            "On-line CPU(s) list" => found.online = at(value),
            "Vendor ID" => found.vendor = at(value),
            "Model name" => found.model = at(value),
            "Socket(s)" => found.sockets = number(),
            "NUMA node(s)" => found.nodes = number(),
            "Hypervisor vendor" => found.guest = Some(At::new(true, row.line)),
            "Flags" if found.guest.is_none() => {
                let flagged = value.split_ascii_whitespace().any(|flag| flag == "hypervisor");
                found.guest = Some(At::new(flagged, row.line));
            }
            _ => {
                let node = key.strip_prefix("NUMA node").and_then(|rest| rest.strip_suffix(" CPU(s)"));
                if let Some(node) = node.and_then(|node| node.parse().ok()) {
                    found.node_cpus.push((node, At::new(value.to_owned(), row.line)));
                }
                let deeper = |level| found.cache.as_ref().is_none_or(|held| held.value.0 < level);
                if let Some(cache) = cache(key, value).filter(|(level, _)| deeper(*level)) {
                    found.cache = Some(At::new(cache, row.line));
                }
            }
        }
    }
    (cursor.position() > start).then_some(found)
}

/// Level and size of one cache. `L3 cache: 8192K` is of one instance, `L3: 32 MiB (2 instances)` of all of them, and so is
/// `L3 cache: 32 MiB` of the versions between, which do not say how many there are: then it is the most that one can have.
fn cache(key: &str, value: &str) -> Option<(u32, u64)> {
    let level = key.strip_prefix('L')?.trim_end_matches(" cache").parse().ok()?;
    let (size, rest) = value.split_once(" (").unwrap_or((value, ""));
    let instances: u64 = match rest.split_once(" instance") {
        Some((count, _)) => count.parse().ok().filter(|count| *count > 0)?,
        None => 1,
    };
    let at = size.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(size.len());
    let (number, unit) = size.split_at(at);
    let scale = match unit.trim().trim_end_matches("iB") {
        "" | "B" => 1.0,
        "K" => 1024.0,
        "M" => 1_048_576.0,
        "G" => 1_073_741_824.0,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * scale / instances as f64;
    (2..=4).contains(&level).then_some((level, bytes as u64)).filter(|(_, bytes)| *bytes > 0)
}

/// A CPU of `lscpu -e`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuRow {
    /// Its number.
    pub cpu: u32,
    /// NUMA node.
    pub node: Option<u32>,
    /// Core, by lscpu's own numbers.
    pub core: Option<u32>,
    /// False where it is off line.
    pub online: bool,
}

/// True for the headings of `lscpu -e`.
pub fn is_table(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    words.next() == Some("CPU")
        && text.contains("SOCKET")
        && words.all(|word| word.bytes().all(|byte| byte.is_ascii_uppercase() || b"0123456789:dipL".contains(&byte)))
}

/// Reads the table of `lscpu -e`.
pub fn table(cursor: &mut Cursor<'_>) -> Vec<At<CpuRow>> {
    let Some(headings) =
        cursor.take_if(|text| is_table(text).then(|| text.split_ascii_whitespace().collect::<Vec<_>>()))
    else {
        return Vec::new();
    };
    let headings = headings.value;
    let row = |text: &str| {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let cell = |name: &str| words.get(headings.iter().position(|heading| *heading == name)?).copied();
        let fits = words.len() == headings.len() || words.get(1) == Some(&"-");
        let cpu = words.first()?.parse().ok().filter(|_| fits)?;
        Some(CpuRow {
            cpu,
            node: cell("NODE").and_then(|node| node.parse().ok()),
            core: cell("CORE").and_then(|core| core.parse().ok()),
            online: cell("ONLINE") != Some("no"),
        })
    };
    std::iter::from_fn(|| cursor.take_if(row)).collect()
}

/// What `lscpu -p` begins with.
const PARSABLE: &str = "# The following is the parsable format";

/// True for the first line of `lscpu -p`.
pub fn is_parsable(text: &str) -> bool {
    text.trim_start().starts_with(PARSABLE)
}

/// The columns of `# CPU,Core,Socket,Node,,L1d,L1i,L2,L3`.
fn columns(text: &str) -> Option<Vec<String>> {
    let names: Vec<String> =
        text.trim().strip_prefix("# ")?.split(',').map(|name| name.trim().to_uppercase()).collect();
    let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b':');
    (names.contains(&"CPU".to_owned()) && names.iter().all(plain)).then_some(names)
}

/// Reads `lscpu -p`; empty where it does not come next.
pub fn parsable(cursor: &mut Cursor<'_>) -> Vec<At<CpuRow>> {
    if cursor.peek().is_none_or(|line| !is_parsable(line.text) && columns(line.text).is_none()) {
        return Vec::new();
    }
    let mut names: Option<Vec<String>> = None;
    while names.is_none() && cursor.peek().is_some_and(|line| line.text.trim_start().starts_with('#')) {
        names = cursor.take().and_then(|line| columns(line.text));
    }
    let Some(names) = names else { return Vec::new() };
    let row = |text: &str| {
        let cells: Vec<&str> = text.trim().split(',').collect();
        let cell = |name: &str| cells.get(names.iter().position(|held| held == name)?).copied();
        let plain = |cell: &&str| cell.bytes().all(|byte| byte.is_ascii_digit() || b":YN".contains(&byte));
        let fits = cells.len() == names.len() && cells.iter().all(plain);
        Some(CpuRow {
            cpu: cell("CPU").filter(|_| fits)?.parse().ok()?,
            node: cell("NODE").and_then(|node| node.parse().ok()),
            core: cell("CORE").and_then(|core| core.parse().ok()),
            online: cell("ONLINE") != Some("N"),
        })
    };
    std::iter::from_fn(|| cursor.take_if(row)).collect()
}

/// A row `Key: value`; headings of groups have no value.
fn row(text: &str) -> Option<(&str, &str)> {
    let (key, value) = pair(text)?;
    let plain = |char: char| char.is_ascii_alphanumeric() || " ()-_/.,+#".contains(char);
    let fits = !key.is_empty() && key.len() <= 40 && key.chars().all(plain);
    let starts = key.starts_with(|char: char| char.is_ascii_uppercase()) || key.starts_with("L1");
    (fits && starts).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn flat_and_indented() {
        let text = "Architecture:             x86_64\n  CPU op-mode(s):         32-bit, 64-bit\nCPU(s):                   16\n\
                    \u{20} On-line CPU(s) list:    0-15\nVendor ID:                GenuineIntel\n  Model name:             Intel(R) Xeon(R)\n\
                    \u{20}   Socket(s):            2\n    Flags:                fpu vme ssse3\nNUMA:\n  NUMA node(s):           2\n\
                    \u{20} NUMA node0 CPU(s):      0-7\n  NUMA node1 CPU(s):      8-15\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        assert!(begins(&cursor));
        let found = parse(&mut cursor).unwrap();
        assert_eq!((found.cpus, found.sockets), (Some(At::new(16, 3)), Some(At::new(2, 7))));
        assert_eq!(found.guest, Some(At::new(false, 8)));
        assert_eq!(found.node_cpus[1], (1, At::new("8-15".to_owned(), 12)));
        assert_eq!(found.architecture.unwrap().value, "x86_64");
        assert_eq!(found.vendor.unwrap().value, "GenuineIntel");
    }

    #[test]
    fn caches_of_old_and_new_versions() {
        assert_eq!(cache("L3 cache", "32 MiB"), Some((3, 32 << 20)));
        assert_eq!(cache("L3", "64 MiB (2 instances)"), Some((3, 32 << 20)));
        assert_eq!(cache("L2 cache", "256K"), Some((2, 256 << 10)));
        assert_eq!(cache("L3 cache", "19.3 MiB").map(|(_, bytes)| bytes), Some(20_237_516));
        for (key, value) in [("L1d cache", "32K"), ("L3", "0 MiB (0 instances)"), ("Model name", "L3"), ("L3", "much")]
        {
            assert_eq!(cache(key, value), None, "{key} {value}");
        }
    }

    #[test]
    fn one_line_for_each_cpu() {
        let lines = lines(
            "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n  0    0      0    0 0:0:0:0          yes\n  1    1      1    1 1:1:1:1           no\nend\n",
        );
        let mut cursor = Cursor::new(&lines);
        let rows: Vec<CpuRow> = table(&mut cursor).into_iter().map(|at| at.value).collect();
        assert_eq!(
            rows,
            [
                CpuRow { cpu: 0, node: Some(0), core: Some(0), online: true },
                CpuRow { cpu: 1, node: Some(1), core: Some(1), online: false }
            ]
        );
        assert!(!is_table("CPU SOCKET of mine") && table(&mut cursor).is_empty());
    }

    #[test]
    fn the_parsable_form() {
        let lines = lines(
            "# The following is the parsable format, which can be fed to other\n# programs.\n# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n\
             0,0,0,0,,0,0,0,0\n12,0,0,,,0,0,0,0\n1,1\nend\n",
        );
        let mut cursor = Cursor::new(&lines);
        let rows: Vec<CpuRow> = parsable(&mut cursor).into_iter().map(|at| at.value).collect();
        assert_eq!(
            rows,
            [
                CpuRow { cpu: 0, node: Some(0), core: Some(0), online: true },
                CpuRow { cpu: 12, node: None, core: Some(0), online: true }
            ]
        );
        assert_eq!((cursor.position(), parsable(&mut cursor).len()), (5, 0));
    }

    #[test]
    fn a_hypervisor_makes_a_guest() {
        let lines = lines("Hypervisor vendor:     KVM\nFlags: fpu hypervisor\n$ next\n");
        let mut cursor = Cursor::new(&lines);
        assert_eq!(parse(&mut cursor).unwrap().guest, Some(At::new(true, 1)));
        assert_eq!(cursor.peek().unwrap().text, "$ next");
    }
}
