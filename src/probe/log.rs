//! The log of the kernel: the lines that concern networking.

use std::collections::{BTreeMap, BTreeSet};

use super::interfaces::Links;
use super::kernel::{Ask, Reply, Request};
use super::plan;
use super::scan::Scan;
use crate::formats::kernel_log;
use crate::reading::{GapKind, Reading, SourceId};
use crate::snapshot::LogLine;

const DEVICE: &str = "/dev/kmsg";
/// Where syslog daemons put lines of the kernel: the first that has any counts.
const FILES: [&str; 3] = ["/var/log/kern.log", "/var/log/syslog", "/var/log/messages"];
/// A binary journal, which is not read here.
const JOURNALS: [&str; 2] = ["/var/log/journal", "/run/log/journal"];
/// Bytes of the device; the ring of a kernel is rarely longer.
const RECORDS: usize = 4 << 20;
/// Bytes from the end of a file.
const TAIL: usize = 2 << 20;
/// Lines that are kept, the newest.
const MOST: usize = 2000;

/// What makes a line worth keeping without the name of an interface, driver or device of this host. Lower case; each
/// begins with a whole word.
const PHRASES: &[&str] = &[
    "nf_conntrack",
    "expectation table full",
    "neighbour",
    "neighbor table",
    "arp_cache",
    "ndisc_cache",
    "dst cache overflow",
    "dst_alloc",
    "tcp:",
    "request_sock_tcp",
    "request_sock_subflow",
    "possible syn flooding",
    "too many orphaned sockets",
    "out of memory",
    "out of socket memory",
    "invoked oom-killer",
    "page allocation failure",
    "page_pool",
    "udp:",
    "icmp:",
    "icmpv6:",
    "ipv4:",
    "ipv6:",
    "martian source",
    "duplicate address",
    "address conflict",
    "own address as source",
    "netdev watchdog",
    "transmit queue",
    "nic link is",
    "link becomes ready",
    "downshift",
    "pcie link",
    "pcieport",
    "pciehp",
    "aer:",
    "insufficient power",
    "device is inaccessible",
    "unsupported sfp",
    "unqualified",
    "sfp",
    "health reporter",
    "direct firmware load",
    "bonding",
    "8021q:",
    "nfs:",
    "cpu clock throttled",
    "temperature above threshold",
    "soft lockup",
    "blocked for more than",
    "rcu: info",
    "hogged cpu",
    "nobody cared",
    "dmar:",
    "iommu:",
    "swiotlb buffer is full",
    "skb_over_panic",
    "skb_under_panic",
];

/// Decides which lines concern networking.
struct Sieve {
    /// By the first word: phrases of which one must be in the line; none where the word is enough.
    words: BTreeMap<String, Vec<&'static str>>,
    /// By the first byte of a word: bits for the lengths that there are.
    lengths: [u64; 256],
    /// Names that are not one word, as an interface `a;$(id>x)`.
    odd: Vec<String>,
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '@')
}

/// Words of a line; PCI addresses, which hold colons, come whole and in parts.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_ascii_whitespace().flat_map(|piece| {
        let long = if piece.len() >= 12 && piece.contains(':') { piece } else { "" };
        let digits = |char: char| char.is_ascii_hexdigit() || char == ':' || char == '.';
        let addresses = long.split(move |char| !digits(char)).map(|part| part.trim_matches([':', '.']));
        // `eth0.` at the end of a sentence.
        let bare = piece.strip_suffix('.').and_then(|piece| piece.rsplit(|char| !is_part(char)).next());
        piece
            .split(|char| !is_part(char))
            .chain(addresses.filter(|part| part.len() >= 12))
            .chain(bare)
            .filter(|part| !part.is_empty())
    })
}

fn bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

impl Sieve {
    fn new(names: &BTreeSet<String>) -> Self {
        let mut sieve = Self { words: BTreeMap::new(), lengths: [0; 256], odd: Vec::new() };
        for phrase in PHRASES {
            let first = phrase.split(|char| !is_part(char)).next().unwrap_or(phrase);
            if first != *phrase {
                sieve.words.entry(first.to_owned()).or_default().push(phrase);
            }
        }
        // A word that is enough by itself outranks the phrases that begin with it.
        for phrase in PHRASES.iter().filter(|phrase| phrase.chars().all(is_part)) {
            sieve.words.insert((*phrase).to_owned(), Vec::new());
        }
        for name in names {
            let name = name.to_ascii_lowercase();
            if name.chars().all(|char| is_part(char) || char == ':') {
                sieve.words.insert(name, Vec::new());
            } else {
                sieve.odd.push(name);
            }
        }
        for word in sieve.words.keys() {
            sieve.lengths[usize::from(word.as_bytes().first().copied().unwrap_or(0))] |= bit(word);
        }
        sieve
    }

    fn keeps(&self, line: &str) -> bool {
        // It holds many words, and perhaps secrets.
        if line.contains("ommand line:") {
            return false;
        }
        let lower = line.to_ascii_lowercase();
        let wanted = |word: &str| {
            let first = usize::from(word.as_bytes()[0]);
            self.lengths[first] & bit(word) != 0
                && self
                    .words
                    .get(word)
                    .is_some_and(|phrases| phrases.is_empty() || phrases.iter().any(|phrase| lower.contains(phrase)))
        };
        words(&lower).any(wanted) || self.odd.iter().any(|name| lower.contains(name))
    }
}

/// Names of this host: interfaces, drivers of network devices, PCI addresses.
fn names(scan: &Scan<'_>, links: &Links) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = links.devices.iter().map(|device| device.name.clone()).collect();
    for interface in &scan.out.interfaces {
        names.extend(interface.driver.name.known().cloned());
        names.extend(interface.device.known().map(ToString::to_string));
    }
    for device in &scan.out.devices {
        names.insert(device.address.to_string());
        names.extend(device.driver.known().cloned());
    }
    // Drivers of functions of any class.
    for other in ["", "virtio-pci", "vfio-pci", "pcieport"] {
        names.remove(other);
    }
    names
}

/// The clocks at the moment of reading, in seconds.
#[derive(Clone, Copy)]
struct Clocks {
    kernel: f64,
    day: f64,
    offset: f64,
}

fn clocks(reply: &Reply) -> Option<Clocks> {
    let text = String::from_utf8_lossy(reply.bytes()?);
    let mut figures = text.split_ascii_whitespace().map(|figure| figure.parse::<f64>().ok());
    let clocks = Clocks { kernel: figures.next()??, day: figures.next()??, offset: figures.next()?? };
    [clocks.kernel, clocks.day, clocks.offset].iter().all(|figure| figure.is_finite()).then_some(clocks)
}

/// Seconds from then to now. Clocks of CPUs differ by a little; a stamp further ahead is of no use.
fn age(now: f64, then: f64) -> Option<f64> {
    const SKEW: f64 = 60.0;
    let age = now - then;
    (age.is_finite() && age > -SKEW).then(|| (age.max(0.0) * 1e6).round() / 1e6)
}

/// Lines out of the records of /dev/kmsg. The kernel stamps them with a clock that stands still while the machine
/// sleeps, so their age is taken from that clock and not from the time since boot.
fn from_records(bytes: &[u8], sieve: &Sieve, clocks: Option<Clocks>, source: SourceId) -> Vec<LogLine> {
    let mut lines = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(record) = kernel_log::record(line).filter(|record| record.facility == 0) else { continue };
        if sieve.keeps(&record.text) {
            let age = clocks.and_then(|clocks| age(clocks.kernel, record.stamp_us as f64 / 1e6));
            lines.push(LogLine { age, text: record.text, source });
        }
    }
    lines
}

/// Lines out of a file, and whether there was any line of the kernel in it.
fn from_file(bytes: &[u8], sieve: &Sieve, clocks: Option<Clocks>, source: SourceId) -> (Vec<LogLine>, bool) {
    let mut lines = Vec::new();
    let mut any = false;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let Some((stamp, text)) = kernel_log::syslog(&line) else { continue };
        any = true;
        if sieve.keeps(text) {
            let age = clocks
                .zip(stamp)
                .and_then(|(clocks, stamp)| age(clocks.day, stamp.seconds(clocks.day, clocks.offset)?));
            lines.push(LogLine { age, text: text.to_owned(), source });
        }
    }
    (lines, any)
}

/// Reads the log: from the kernel where that is permitted, else from the files of a syslog daemon.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) {
    let sieve = Sieve::new(&names(scan, links));
    let records = Request::new(Ask::Records { path: DEVICE.into(), limit: RECORDS });
    let [reply, clock] = scan.batch(&[records, Request::new(Ask::Clock)]);
    let clocks = clocks(&clock);
    if let Some(bytes) = reply.bytes() {
        let source = scan.file(DEVICE);
        let lines = from_records(bytes, &sieve, clocks, source);
        scan.out.host.log = newest(lines, source);
        return;
    }
    let mut refusal = None;
    for path in FILES {
        let [file] = scan.batch(&[Request::new(Ask::Tail { path: path.into(), limit: TAIL })]);
        match &file {
            Reply::Bytes(blob) => {
                let source = scan.file(path);
                let (lines, any) = from_file(&blob.0, &sieve, clocks, source);
                if any {
                    scan.out.host.log = newest(lines, source);
                    return;
                }
            }
            Reply::Error { errno: libc::ENOENT, .. } => {}
            other => refusal = refusal.or(Some(other.clone())),
        }
    }
    scan.out.host.log = Reading::Unknown(gap(scan, &reply, refusal.as_ref()));
}

fn newest(mut lines: Vec<LogLine>, source: SourceId) -> Reading<Vec<LogLine>> {
    lines.drain(..lines.len().saturating_sub(MOST));
    Reading::Known(lines, source)
}

/// Why there is no log.
fn gap(scan: &mut Scan<'_>, device: &Reply, file: Option<&Reply>) -> crate::reading::GapId {
    let forbidden = |reply: &&Reply| matches!(reply, Reply::Error { errno: libc::EPERM | libc::EACCES, .. });
    if let Some(refusal) = Some(device).filter(forbidden).or(file.filter(forbidden)) {
        return scan.refusal(refusal, &plan::LOG, "");
    }
    let [first, second] = scan.batch(&JOURNALS.map(Request::exists));
    if first.bytes().or(second.bytes()).is_some() {
        let detail = "the log is in a binary journal";
        return scan.gap(GapKind::NotCollected, detail, &plan::JOURNAL, "");
    }
    scan.refusal(file.unwrap_or(device), &plan::LOG, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sieve(names: &[&str]) -> Sieve {
        Sieve::new(&names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn lines_about_this_hosts_devices_are_kept() {
        let sieve = sieve(&["eth0", "bond0", "igb", "0000:03:00.0", "a;$(id>x)", "eth0.100"]);
        for line in [
            "igb 0000:01:00.1 enp1s0f1: igb: enp1s0f1 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX/TX",
            "br0: port 1(eth0) entered disabled state",
            "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
            "bond0: (slave eth7): link status definitely down, disabling slave",
            "pci 0000:03:00.0: 7.876 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x4 link",
            "x: 0000:03:00.0 reset",
            "vfio: address=0000:03:00.0, reset",
            "device eth0.100 left promiscuous mode",
            "Lost the link of eth0.",
            "a;$(id>x): link up",
            "TCP: request_sock_TCP: Possible SYN flooding on port 80. Sending cookies.",
            "nf_conntrack: nf_conntrack: table full, dropping packet",
            "neighbour: arp_cache: neighbor table overflow!",
            "Out of memory: Killed process 7 (x)",
            "NETDEV WATCHDOG: eth9 (x): transmit queue 0 timed out",
            "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:00:1c.0",
            "CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)",
        ] {
            assert!(sieve.keeps(line), "{line}");
        }
        for line in [
            "audit: initializing netlink subsys (disabled)",
            "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
            "veth0: link up",
            "eth01: link up",
            "igbvf: x",
            "pci 0000:04:00.0: reset",
            "we ran out of ideas",
            "Kernel command line: quiet eth0",
            "EXT4-fs (sda1): mounted filesystem",
            "",
        ] {
            assert!(!sieve.keeps(line), "{line}");
        }
    }

    #[test]
    fn ages_are_counted_on_the_kernels_own_clock() {
        // The machine slept: 500 s by this clock, far more since boot.
        let clocks = clocks(&Reply::Bytes("500.0 1770712450.0 3600".into())).unwrap();
        let bytes = b"6,1,100000000,-;eth0: up\n SUBSYSTEM=net\n6,2,200000000,-;sda: x\n30,3,300000000,-;eth0 said a daemon\n6,4,500000100,-;eth0: down\n4,5,900000000,-;eth0: later\n";
        let lines = from_records(bytes, &sieve(&["eth0"]), Some(clocks), SourceId::ASSUMED);
        let seen: Vec<(Option<f64>, &str)> = lines.iter().map(|line| (line.age, line.text.as_str())).collect();
        assert_eq!(seen, [(Some(400.0), "eth0: up"), (Some(0.0), "eth0: down"), (None, "eth0: later")]);
        let lines = from_records(bytes, &sieve(&["eth0"]), None, SourceId::ASSUMED);
        assert!(lines.iter().all(|line| line.age.is_none()));
    }

    #[test]
    fn files_have_stamps_of_both_forms() {
        let clocks = clocks(&Reply::Bytes("500.0 1770712450.0 3600".into()));
        let text = b"ernel: cut at the beginning of eth0\n\
            Feb 10 09:34:00 box kernel: [  12.3] eth0: classic\n\
            Feb 10 09:34:05 box dhclient[7]: eth0: no line of the kernel\n\
            2026-02-10T08:34:09+00:00 box kernel: eth0: iso\n\
            odd box kernel: eth0: none\n";
        let (lines, any) = from_file(text, &sieve(&["eth0"]), clocks, SourceId::ASSUMED);
        assert!(any);
        let seen: Vec<(Option<f64>, &str)> = lines.iter().map(|line| (line.age, line.text.as_str())).collect();
        assert_eq!(seen, [(Some(10.0), "eth0: classic"), (Some(1.0), "eth0: iso"), (None, "eth0: none")]);
    }

    #[test]
    #[ignore = "measures: run by hand"]
    fn speed() {
        let names: Vec<String> = (0..1000).map(|at| format!("veth{at:x}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let sieve = sieve(&names);
        let line = "Feb  4 09:34:10 compute4 kernel: [    0.308798] ACPI: PCI Interrupt Link [LNKA] (IRQs 5 *10 11)\n\
                    Feb 10 00:00:01 compute4 systemd[1]: logrotate.service: Succeeded.\n\
                    Feb  4 09:34:10 compute4 kernel: [    7.1] veth12: link becomes ready\n";
        let text = line.repeat(TAIL / line.len());
        let started = std::time::Instant::now();
        let (lines, _) = from_file(text.as_bytes(), &sieve, None, SourceId::ASSUMED);
        let took =
            format!("{:?} for {} lines of which {} stay\n", started.elapsed(), text.lines().count(), lines.len());
        std::fs::write("/tmp/probe-log.txt", took).unwrap();
    }

    #[test]
    fn the_newest_lines_are_kept() {
        let line = |at: usize| LogLine { age: None, text: at.to_string(), source: SourceId::ASSUMED };
        let kept = newest((0..MOST + 5).map(line).collect(), SourceId::ASSUMED);
        assert_eq!((kept.known().unwrap().len(), kept.known().unwrap()[0].text.as_str()), (MOST, "5"));
    }

    #[test]
    fn every_phrase_begins_with_a_word_in_lower_case() {
        for phrase in PHRASES {
            assert!(phrase.starts_with(is_part) && *phrase == phrase.to_ascii_lowercase(), "{phrase}");
            assert!(sieve(&[]).keeps(&format!("x: {phrase} y")), "{phrase}");
        }
    }
}
