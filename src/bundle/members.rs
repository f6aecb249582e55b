//! What goes into a bundle: the files and the manifest that lists them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use sha2::{Digest, Sha256};

use super::manifest::{Asked, Entry, Manifest, SCHEMA, Stage};
use super::unread::unread;
use super::{time, write};
use crate::probe::{Ask, Recording};
use crate::snapshot::Snapshot;

/// Longest host name that the folder is named after, in bytes.
const LONGEST_NAME: usize = 64;

/// What was read of a host. It is packed as it is: secrets are taken out and names replaced before.
#[derive(Debug, Default)]
pub struct Collected {
    /// The readings.
    pub snapshot: Snapshot,
    /// What was asked and what came back, by the name of the network namespace, which is empty for that of the process.
    /// Nothing of it where names were replaced.
    pub recordings: Vec<(String, Recording)>,
    /// What was asked, as [`sources`] tells it.
    pub read: Vec<Asked>,
    /// How long each part took.
    pub stages: Vec<Stage>,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// Names, addresses and serial numbers were replaced.
    pub redacted: bool,
    /// For [`Manifest::remarks`].
    pub remarks: Vec<String>,
}

/// The report in the forms that a bundle holds.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    /// For programs.
    pub json: String,
    /// For a terminal.
    pub text: String,
    /// For a browser.
    pub html: String,
}

/// A file of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Name below the folder of the bundle.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Its content.
    pub text: String,
}

/// A bundle in memory.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// The folder that holds it.
    pub folder: String,
    /// The table of contents.
    pub manifest: Manifest,
    /// All files, the manifest first.
    pub members: Vec<Member>,
    began: u64,
}

impl Bundle {
    /// Puts the files together.
    pub fn new(collected: &Collected, reports: Reports) -> Self {
        let snapshot = &collected.snapshot;
        let mut members = vec![
            Member {
                name: "snapshot.json".into(),
                what: "the readings, which `netdoctor analyze` reads".into(),
                text: snapshot.to_json() + "\n",
            },
            Member { name: "report.json".into(), what: "the report for programs".into(), text: reports.json },
            Member { name: "report.txt".into(), what: "the report as text".into(), text: reports.text },
            Member { name: "report.html".into(), what: "the report for a browser".into(), text: reports.html },
        ];
        for (namespace, recording) in &collected.recordings {
            let (name, of) = if namespace.is_empty() {
                ("raw/recording.json".to_owned(), String::new())
            } else {
                (format!("raw/netns-{}.json", plain(namespace)), format!(", in network namespace {namespace}"))
            };
            let free = (1..).map(|number| if number == 1 { name.clone() } else { format!("{name}.{number}") });
            let name = free.into_iter().find(|name| members.iter().all(|one| one.name != *name)).unwrap_or_default();
            let what = format!("what the kernel and files answered, word for word{of}");
            members.push(Member { name, what, text: lines(recording) });
        }
        let manifest = Manifest {
            schema: SCHEMA.into(),
            generator: concat!("netdoctor ", env!("CARGO_PKG_VERSION")).into(),
            made_at: time::stamp(collected.began),
            host: snapshot.host.name.known().cloned(),
            privileged: snapshot.host.privileged.known().copied(),
            redacted: collected.redacted,
            seconds: snapshot.sample.seconds,
            stages: collected.stages.clone(),
            files: members.iter().map(entry).collect(),
            read: collected.read.clone(),
            unread: unread(snapshot),
            remarks: collected.remarks.clone(),
        };
        let text = contents(&manifest);
        members.insert(0, Member { name: "manifest.json".into(), what: "this table of contents".into(), text });
        let host = manifest.host.as_deref().map_or_else(|| "host".to_owned(), plain);
        let folder = format!("netdoctor-{host}-{}", time::short(collected.began));
        Self { folder, manifest, members, began: collected.began }
    }

    /// Adds a sentence to [`Manifest::remarks`].
    pub fn remark(&mut self, remark: String) {
        self.manifest.remarks.push(remark);
        if let Some(first) = self.members.first_mut() {
            first.text = contents(&self.manifest);
        }
    }

    /// The archive.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        let files = self.members.iter().map(|member| (member.name.as_str(), member.text.as_bytes()));
        write::pack(&self.folder, files, self.began)
    }
}

fn contents(manifest: &Manifest) -> String {
    serde_json::to_string_pretty(manifest).unwrap_or_default() + "\n"
}

fn entry(member: &Member) -> Entry {
    let mut sha256 = String::new();
    for byte in Sha256::digest(member.text.as_bytes()) {
        let _ = write!(sha256, "{byte:02x}");
    }
    Entry { name: member.name.clone(), bytes: member.text.len() as u64, sha256, what: member.what.clone() }
}

/// A name as part of the name of a file.
fn plain(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let plain: String = name.chars().take(LONGEST_NAME).map(fits).collect();
    let mut plain = plain.replace("..", "__");
    if plain.is_empty() || plain.starts_with(['.', '-']) {
        plain.insert(0, '_');
    }
    plain
}

/// A recording with one exchange a line, so that two can be compared.
fn lines(recording: &Recording) -> String {
    let mut text = String::from("{\"schema\":");
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    text += &quoted(&recording.schema);
    text += ",\"about\":";
    text += &quoted(&recording.about);
    text += ",\"exchanges\":[";
    for (at, exchange) in recording.exchanges.iter().enumerate() {
        text += if at == 0 { "\n" } else { ",\n" };
        text += &serde_json::to_string(exchange).unwrap_or_default();
    }
    text += "\n]}\n";
    text
}

/// What was asked in these sessions: files, requests and calls, how often, and the bytes that came back.
pub fn sources<'r>(recordings: impl IntoIterator<Item = &'r Recording>) -> Vec<Asked> {
    let mut all: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for exchange in recordings.into_iter().flat_map(|recording| &recording.exchanges) {
        let entry = all.entry(source(&exchange.ask)).or_default();
        entry.0 += 1;
        entry.1 += exchange.reply.bytes().map_or(0, <[u8]>::len) as u64;
    }
    all.into_iter().map(|(source, (times, bytes))| Asked { source, times, bytes }).collect()
}

/// What a question goes to, with a `*` for what there is many of.
fn source(ask: &Ask) -> String {
    match ask {
        Ask::Read { path, .. } | Ask::Tail { path, .. } | Ask::Records { path, .. } => pattern(&path.text()),
        Ask::List { path } => format!("names in {}", pattern(&path.text())),
        Ask::Link { path } | Ask::Real { path } | Ask::Exists { path } => {
            format!("look-up of {}", pattern(&path.text()))
        }
        Ask::Ioctl { .. } => ask.to_string().split(' ').next().unwrap_or_default().to_owned(),
        Ask::Netlink { .. } | Ask::Clock | Ask::Uname => ask.to_string(),
        Ask::Variable { name, .. } => format!("environment variable {}", name.text()),
    }
}

/// Folders below which each name is one of many.
const MANY: [&str; 13] = [
    "net",
    "conf",
    "neigh",
    "devices",
    "netns",
    "bonding",
    "irq",
    "virtual",
    "infiniband",
    "slots",
    "block",
    "vlan",
    "dev_snmp6",
];

/// A path with a `*` for names of interfaces, devices, processes and the like.
fn pattern(path: &str) -> String {
    let kernel = ["/proc/", "/sys/", "/run/netns/"].iter().any(|root| path.starts_with(root));
    if !kernel {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let mut out = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let before = if at > 0 { parts[at - 1] } else { "" };
        let is_proc_net = path.starts_with("/proc/") && before == "net";
        let numbered = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_address = part.len() > 6 && part.contains(':') && part.contains('.');
        out.push(if (MANY.contains(&before) && (at > 3 || before == "netns") && !is_proc_net) || is_address {
            "*".to_owned()
        } else if numbered.len() < part.len()
            && !["ipv", "snmp", "dev_snmp", "sockstat", "tcp", "udp", "raw", "if_inet"].contains(&numbered)
        {
            format!("{numbered}*")
        } else {
            (*part).to_owned()
        });
    }
    out.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Exchange, Reply};

    #[test]
    fn one_line_stands_for_all_that_is_alike() {
        for (path, wanted) in [
            ("/sys/class/net/eth0/mtu", "/sys/class/net/*/mtu"),
            ("/sys/bus/pci/devices/0000:01:00.0/config", "/sys/bus/pci/devices/*/config"),
            ("/proc/4711/status", "/proc/*/status"),
            ("/proc/irq/37/smp_affinity_list", "/proc/irq/*/smp_affinity_list"),
            ("/proc/net/dev", "/proc/net/dev"),
            ("/proc/net/snmp6", "/proc/net/snmp6"),
            ("/proc/net/bonding/bond0", "/proc/net/bonding/*"),
            ("/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem"),
            ("/proc/sys/net/ipv4/conf/enx001122334455/rp_filter", "/proc/sys/net/ipv4/conf/*/rp_filter"),
            ("/proc/net/sockstat6", "/proc/net/sockstat6"),
            ("/proc/net/dev_snmp6/eth0", "/proc/net/dev_snmp6/*"),
            ("/sys/devices/system/cpu/cpu12/online", "/sys/devices/system/cpu/cpu*/online"),
            ("/etc/netplan/50-cloud-init.yaml", "/etc/netplan/50-cloud-init.yaml"),
        ] {
            assert_eq!(pattern(path), wanted);
        }
    }

    #[test]
    fn what_was_asked_is_counted() {
        let ask = |path: &str| Ask::Read { path: path.into(), limit: 10 };
        let exchange = |path: &str, text: &str| Exchange { ask: ask(path), reply: Reply::Bytes(text.into()), at_ms: 0 };
        let refused = Exchange { ask: ask("/etc/x"), reply: Reply::errno(13), at_ms: 0 };
        let exchanges = vec![exchange("/proc/1/stat", "abc"), exchange("/proc/2/stat", "de"), refused];
        let recording = Recording { exchanges, ..Recording::default() };
        let wanted = [("/etc/x", 1, 0), ("/proc/*/stat", 2, 5)];
        let wanted = wanted.map(|(source, times, bytes)| Asked { source: source.into(), times, bytes });
        assert_eq!(sources([&recording]), wanted);
        assert_eq!(serde_json::from_str::<Recording>(&lines(&recording)).unwrap(), recording);
    }

    #[test]
    fn folders_have_plain_names() {
        assert_eq!(plain("nas1.lan"), "nas1.lan");
        assert_eq!(plain("../a b\u{1b}\u{e4}"), "___a_b__");
        assert_eq!(plain(""), "_");
        assert_eq!(plain(&"x".repeat(300)).len(), LONGEST_NAME);
    }

    #[test]
    fn the_manifest_lists_the_other_files_with_their_hashes() {
        let reports = Reports { json: "{}\n".into(), text: "abc".into(), html: String::new() };
        let bundle = Bundle::new(&Collected { began: 951_782_399, ..Collected::default() }, reports);
        assert_eq!(bundle.folder, "netdoctor-host-20000228-235959");
        let names: Vec<&str> = bundle.members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["manifest.json", "snapshot.json", "report.json", "report.txt", "report.html"]);
        let text = bundle.manifest.files.iter().find(|entry| entry.name == "report.txt").unwrap();
        // FIPS 180-2, appendix B.1.
        assert_eq!(text.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(text.bytes, 3);
        let manifest: Manifest = serde_json::from_str(&bundle.members[0].text).unwrap();
        assert_eq!(manifest, bundle.manifest);
    }
}
