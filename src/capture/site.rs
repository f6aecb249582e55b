//! One host of a capture while its readings are put together.

use std::collections::{BTreeMap, BTreeSet};

use super::command::Command;
use super::measured::{self, Measured};
use super::ways::{self, Ways};
use super::{evidence, log, pci, radios, tools, usb};
use crate::formats::cursor::At;
use crate::formats::shell::shell_quote;
use crate::reading::{Gap, GapKind, Reading, Source, SourceId};
use crate::snapshot::{Counter, CounterBlock, Host, Interface, PciAddress, PciDevice, Route, SampleSource, Snapshot};

/// Most interfaces, devices or measurements of a host.
const MOST: usize = 10_000;
/// Most samples of one list of counters.
const MOST_SAMPLES: usize = 4096;

/// Tools whose word on the present state of an interface counts more than that of the others, best first. The rest
/// stands between the two lists.
const EXACT: &[&str] = &["ethtool", "sysfs", "ip", "/proc", "lspci"];
/// Tools that tell of the past, or only roughly.
const VAGUE: &[&str] = &["dmesg", "ifconfig", "netstat", "lshw", "inxi", "mii-tool"];

fn rank(tool: &str) -> usize {
    let is = |prefix: &&str| tool.starts_with(*prefix);
    let vague = || VAGUE.iter().position(is).map(|at| EXACT.len() + 1 + at);
    EXACT.iter().position(is).or_else(vague).unwrap_or(EXACT.len())
}

/// Parameters that facts ask for and that are there only with a module.
const OF_MODULES: &[&str] =
    &["net.bridge.bridge-nf-call-iptables", "net.netfilter.nf_conntrack_max", "net.netfilter.nf_conntrack_count"];

/// One host of a capture.
#[derive(Debug, Default)]
pub(super) struct Site {
    /// What was read so far.
    pub snapshot: Snapshot,
    /// File inside the capture that is being read, `-` for standard input.
    pub file: String,
    /// Tool whose output is being read.
    pub tool: &'static str,
    /// Network namespace of the output that is being read; empty for that of the host.
    pub namespace: String,
    /// True once an output was understood, whether or not it told something that a snapshot holds.
    pub heard: bool,
    interfaces: BTreeMap<(String, String), usize>,
    devices: BTreeMap<PciAddress, usize>,
    /// The kernel log.
    pub log: log::Log,
    /// PCI functions of any class.
    pub pci: pci::Tree,
    /// Vendor, product and name of the network adapters that `lsusb` lists.
    pub adapters: Vec<(String, String, SourceId)>,
    /// Where all interfaces were listed with their functions.
    pub all_links: Option<SourceId>,
    /// True once all parameters of the network were listed.
    pub all_parameters: bool,
    /// Radios that the kernel log names.
    pub radios: radios::Radios,
    /// Devices on the USB that the kernel log names.
    pub usb: usb::Usb,
    /// Bridges that do not ask themselves for netfilter: namespace, name, and where it stands.
    pub unfiltered_bridges: Vec<(String, String, SourceId)>,
    /// The table of IPv6 as long as that of IPv4 was not met.
    pub routes_v6: Vec<Route>,
    /// What `ip route get` answered.
    pub ways: Ways,
    measured: Vec<Measured>,
    counters: Vec<CounterBlock>,
    /// Network namespace that each group of counters of the host was read in.
    counters_of: BTreeMap<String, String>,
    sysctl: BTreeMap<String, At<String>>,
    /// Parameters that were read in a namespace of a container.
    sysctl_elsewhere: BTreeSet<String>,
    sysctl_file: String,
    last_source: Option<SourceId>,
}

impl Site {
    /// An empty host, read out of this kind of capture.
    pub fn new(kind: SampleSource) -> Self {
        let mut site = Self::default();
        site.snapshot.sample.source = kind;
        site
    }

    /// Names the host as its prompt did, where no output says better.
    pub fn name_host(&mut self, name: Option<String>) {
        if let Some(name) = name {
            let source = self.inferred("the prompt");
            self.snapshot.host.name.fill(Reading::Known(name, source));
        }
    }

    /// True where nothing was read.
    pub fn is_empty(&self) -> bool {
        !self.heard
            && self.snapshot.interfaces.is_empty()
            && self.snapshot.devices.is_empty()
            && self.snapshot.host == Host::default()
            && self.log.is_empty()
            && self.pci.is_empty()
            && self.measured.is_empty()
            && self.counters.is_empty()
            && self.sysctl.is_empty()
    }

    /// The place of a line of the output that is being read.
    pub fn source(&mut self, line: u32) -> SourceId {
        // Many values stand on one line.
        let same = |source: &Source| matches!(source, Source::Capture { file, line: at, tool } if *at == line && tool == self.tool && *file == self.file);
        if let Some(last) = self.last_source.filter(|last| same(self.snapshot.origins.source_of(*last))) {
            return last;
        }
        let source = Source::Capture { file: self.file.clone(), line, tool: self.tool.to_owned() };
        let id = self.snapshot.origins.source(source);
        self.last_source = Some(id);
        id
    }

    /// What follows from other readings, told in words.
    pub fn inferred(&mut self, from: &str) -> SourceId {
        self.snapshot.origins.source(Source::Inferred { from: from.to_owned() })
    }

    /// Names of the interfaces so far, in the order in which they were met.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.snapshot.interfaces.iter().map(|interface| interface.name.as_str())
    }

    /// The interface of this name in the namespace of the output, made where it is new. Those too many share one that is
    /// thrown away in the end.
    pub fn interface(&mut self, name: &str) -> &mut Interface {
        let key = (self.namespace.clone(), name.to_owned());
        let count = self.snapshot.interfaces.len();
        let at = *self.interfaces.entry(key).or_insert(count.min(MOST));
        if at == self.snapshot.interfaces.len() {
            self.snapshot.interfaces.push(Interface {
                name: name.to_owned(),
                namespace: self.namespace.clone(),
                ..Interface::default()
            });
        }
        &mut self.snapshot.interfaces[at]
    }

    /// True where this interface was met before.
    pub fn knows(&self, name: &str) -> bool {
        self.interfaces.contains_key(&(self.namespace.clone(), name.to_owned()))
    }

    /// True where there were more interfaces or devices than are kept.
    pub fn has_too_many(&self) -> bool {
        self.snapshot.interfaces.len() > MOST || self.snapshot.devices.len() > MOST
    }

    /// The PCI function of this address, made where it is new.
    pub fn device(&mut self, address: PciAddress) -> &mut PciDevice {
        let count = self.snapshot.devices.len();
        let at = *self.devices.entry(address).or_insert(count.min(MOST));
        if at == self.snapshot.devices.len() {
            self.snapshot.devices.push(PciDevice { address, ..PciDevice::default() });
        }
        &mut self.snapshot.devices[at]
    }

    /// Sets a leaf of an interface. A later output of a tool that is as exact or more replaces an earlier one.
    pub fn put<T>(&mut self, name: &str, leaf: impl Fn(&mut Interface) -> &mut Reading<T>, value: At<T>) {
        let source = self.source(value.line);
        self.settle(|site| leaf(site.interface(name)), Reading::Known(value.value, source));
    }

    /// Sets a leaf of an interface where the output gave a value for it.
    pub fn put_some<T>(&mut self, name: &str, leaf: impl Fn(&mut Interface) -> &mut Reading<T>, value: Option<At<T>>) {
        if let Some(value) = value {
            self.put(name, leaf, value);
        }
    }

    /// Says that the driver or hardware of an interface has no such thing.
    pub fn put_absent<T>(&mut self, name: &str, leaf: impl Fn(&mut Interface) -> &mut Reading<T>, line: u32) {
        let source = self.source(line);
        self.settle(|site| leaf(site.interface(name)), Reading::Absent(source));
    }

    /// Says why a leaf of an interface is not known; an answer that there is already stays.
    pub fn put_gap<T>(&mut self, name: &str, leaf: impl Fn(&mut Interface) -> &mut Reading<T>, gap: Gap) {
        let gap = self.snapshot.origins.gap(gap);
        leaf(self.interface(name)).fill(Reading::Unknown(gap));
    }

    /// Sets a leaf of a PCI function.
    pub fn put_device<T>(
        &mut self,
        address: PciAddress,
        leaf: impl Fn(&mut PciDevice) -> &mut Reading<T>,
        value: At<T>,
    ) {
        let source = self.source(value.line);
        self.settle(|site| leaf(site.device(address)), Reading::Known(value.value, source));
    }

    /// Sets a leaf of the host.
    pub fn put_host<T>(&mut self, leaf: impl Fn(&mut Host) -> &mut Reading<T>, value: At<T>) {
        let source = self.source(value.line);
        self.settle(|site| leaf(&mut site.snapshot.host), Reading::Known(value.value, source));
    }

    /// Says why a leaf of the host is not known; an answer that there is already stays.
    pub fn put_host_gap<T>(&mut self, leaf: impl Fn(&mut Host) -> &mut Reading<T>, gap: Gap) {
        let gap = self.snapshot.origins.gap(gap);
        leaf(&mut self.snapshot.host).fill(Reading::Unknown(gap));
    }

    /// Sets what was read of a PCI function of any class.
    pub fn put_pci<T>(
        &mut self,
        address: PciAddress,
        leaf: impl Fn(&mut pci::Function) -> &mut Reading<T>,
        value: At<T>,
    ) {
        let source = self.source(value.line);
        self.settle(|site| leaf(site.pci.function(address)), Reading::Known(value.value, source));
    }

    fn settle<T>(&mut self, slot: impl Fn(&mut Self) -> &mut Reading<T>, fresh: Reading<T>) {
        let old = slot(self).source().map(|source| rank_of(self.snapshot.origins.source_of(source)));
        if old.is_none_or(|old| rank(self.tool) <= old) {
            *slot(self) = fresh;
        }
    }

    /// Adds a list of counters of an interface: a new block, or a later sample of one that there is.
    /// `partial` says that rows may be missing.
    pub fn counters(&mut self, name: &str, group: &str, line: u32, rows: Vec<(String, u64)>, partial: bool) {
        let source = self.source(line);
        let held = self.interface(name).counters.iter().find(|block| block.group == group).map(|block| block.source);
        let elsewhere = held.is_some_and(|source| self.is_of_another_file(source));
        sample(&mut self.interface(name).counters, group, source, rows, partial, elsewhere);
    }

    /// True for what was read in another file. Files of one host were written at about one moment, in an order that nobody
    /// knows: what two of them count are no two samples.
    fn is_of_another_file(&self, source: SourceId) -> bool {
        matches!(self.snapshot.origins.source_of(source), Source::Capture { file, .. } if *file != self.file)
    }

    /// Adds a list of counters of the host. Those of a container are another list, which counts only where the host's own
    /// is missing.
    pub fn host_counters(&mut self, group: &str, line: u32, rows: Vec<(String, u64)>, partial: bool) {
        let held = self.counters_of.get(group).is_none_or(|of| *of == self.namespace);
        if !held && !self.namespace.is_empty() {
            return;
        }
        if !held {
            self.counters.retain(|block| block.group != group);
        }
        self.counters_of.insert(group.to_owned(), self.namespace.clone());
        let source = self.source(line);
        let held = self.counters.iter().find(|block| block.group == group).map(|block| block.source);
        let elsewhere = held.is_some_and(|source| self.is_of_another_file(source));
        sample(&mut self.counters, group, source, rows, partial, elsewhere);
    }

    /// Makes a PCI function and notes that this interface is one of its ports.
    pub fn link_device(&mut self, name: &str, address: PciAddress, line: u32) {
        let mut names = self.device(address).interfaces.known().cloned().unwrap_or_default();
        if !names.iter().any(|held| held == name) {
            names.push(name.to_owned());
        }
        self.put_device(address, |device| &mut device.interfaces, At::new(names, line));
    }

    /// Adds a measured result.
    pub fn measured(&mut self, one: Measured) {
        if self.measured.len() < MOST {
            self.measured.push(one);
        }
    }

    /// Sets a kernel parameter by its dotted name; the last one counts, and one of a container only where the host's own is
    /// missing.
    pub fn sysctl(&mut self, key: String, value: At<String>) {
        if self.namespace.is_empty() {
            self.sysctl_elsewhere.remove(&key);
        } else if self.sysctl.contains_key(&key) && !self.sysctl_elsewhere.contains(&key) {
            return;
        } else {
            self.sysctl_elsewhere.insert(key.clone());
        }
        self.sysctl_file = self.file.clone();
        self.sysctl.insert(key, value);
    }

    /// Decides on the bridges that do not ask for netfilter themselves, by the parameters of their namespace.
    fn bridges(&mut self) {
        const CALLS: [&str; 2] = ["net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables"];
        let parameters = self.snapshot.host.sysctl.known();
        let calls = CALLS.map(|key| parameters.and_then(|all| all.get(key)).filter(|value| !value.is_empty()));
        // Without the module there are no such parameters, which a list of all shows.
        let none = self.all_parameters && calls.iter().all(Option::is_none);
        let on = calls.iter().flatten().any(|value| value.trim() != "0");
        let off = none || calls.iter().all(|value| value.is_some_and(|value| value.trim() == "0"));
        let of_parameters = self.snapshot.host.sysctl.source();
        for (namespace, name, own) in std::mem::take(&mut self.unfiltered_bridges) {
            let Some(at) = self.interfaces.get(&(namespace.clone(), name)).copied() else { continue };
            let here = namespace.is_empty();
            let gap = || {
                Gap::new(GapKind::NotInCapture)
                    .detail("whether its namespace hands the packets of all bridges to netfilter")
                    .command("sysctl net.bridge.bridge-nf-call-iptables net.bridge.bridge-nf-call-ip6tables")
            };
            let netfilter = match of_parameters {
                Some(source) if here && on => Reading::Known(true, source),
                _ if here && off => Reading::Known(false, own),
                _ => Reading::Unknown(self.snapshot.origins.gap(gap())),
            };
            if let Some(interface) = self.snapshot.interfaces.get_mut(at) {
                interface.bridge.netfilter.fill(netfilter);
            }
        }
    }

    /// What was put together, in its one order.
    pub fn finish(mut self) -> Snapshot {
        let first = |site: &mut Self, line: Option<u32>| line.map(|line| site.source(line));
        let line = self.sysctl.values().map(|value| value.line).min();
        self.tool = "sysctl";
        self.file = self.sysctl_file.clone();
        if let Some(source) = first(&mut self, line) {
            let sysctl = std::mem::take(&mut self.sysctl);
            let mut values: BTreeMap<String, String> =
                sysctl.into_iter().map(|(key, value)| (key, value.value)).collect();
            // What a module brings is missing from a whole list where the module is; from a part it proves nothing.
            if !self.all_parameters {
                for key in OF_MODULES {
                    values.entry((*key).to_owned()).or_default();
                }
            }
            self.snapshot.host.sysctl = Reading::Known(values, source);
        }
        let host = &mut self.snapshot.host;
        if let Some(source) = self.counters.first().map(|block| block.source) {
            host.counters = Reading::Known(std::mem::take(&mut self.counters), source);
        }
        usb::finish(&mut self);
        evidence::finish(&mut self);
        self.bridges();
        radios::finish(&mut self);
        tools::finish(&mut self);
        pci::finish(&mut self);
        log::finish(&mut self);
        self.snapshot.interfaces.truncate(MOST);
        self.snapshot.devices.truncate(MOST);
        measured::finish(&mut self.snapshot, std::mem::take(&mut self.measured));
        ways::finish(&mut self.snapshot, &self.ways);
        self.snapshot.sort();
        self.snapshot
    }
}

fn rank_of(source: &Source) -> usize {
    match source {
        Source::Capture { tool, .. } => rank(tool),
        // What was inferred yields to whatever was read.
        _ => usize::MAX,
    }
}

/// Adds to the block of this group. What is held of another file (`elsewhere`) stays as it is.
fn sample(
    blocks: &mut Vec<CounterBlock>,
    group: &str,
    source: SourceId,
    rows: Vec<(String, u64)>,
    partial: bool,
    elsewhere: bool,
) {
    match blocks.iter_mut().find(|block| block.group == group) {
        Some(block) if elsewhere => complete(block, rows),
        Some(block) => add(block, rows, partial),
        None => blocks.push(first(group, source, rows, partial)),
    }
}

/// Adds a list of counters to a leaf that holds one list.
pub(super) fn sample_leaf(
    leaf: &mut Reading<CounterBlock>,
    group: &str,
    source: SourceId,
    rows: Vec<(String, u64)>,
    partial: bool,
) {
    match leaf {
        Reading::Known(block, _) => add(block, rows, partial),
        _ => *leaf = Reading::Known(first(group, source, rows, partial), source),
    }
}

fn first(group: &str, source: SourceId, rows: Vec<(String, u64)>, partial: bool) -> CounterBlock {
    let counters = rows.into_iter().map(|(name, value)| Counter { name, values: vec![Some(value)] }).collect();
    CounterBlock { group: group.to_owned(), source, partial, at_ms: vec![0], counters }
}

/// Adds the counters that the block does not have yet to its last sample.
fn complete(block: &mut CounterBlock, rows: Vec<(String, u64)>) {
    let earlier = block.at_ms.len().saturating_sub(1);
    let held: BTreeSet<String> = block.counters.iter().map(|counter| counter.name.clone()).collect();
    for (name, value) in rows.into_iter().filter(|(name, _)| !held.contains(name)) {
        let mut values = vec![None; earlier];
        values.push(Some(value));
        block.counters.push(Counter { name, values });
    }
}

fn add(block: &mut CounterBlock, rows: Vec<(String, u64)>, partial: bool) {
    if block.at_ms.len() >= MOST_SAMPLES {
        return;
    }
    // Single rows, as `cat` prints them file by file, make up one sample until one of them comes again.
    let fresh = |name: &String| block.get(name).is_none_or(|counter| counter.values.last() == Some(&None));
    if partial && block.partial && rows.iter().all(|(name, _)| fresh(name)) {
        let earlier = block.at_ms.len() - 1;
        for (name, value) in rows {
            if let Some(counter) = block.counters.iter_mut().find(|counter| counter.name == name) {
                counter.values[earlier] = Some(value);
                continue;
            }
            let mut values = vec![None; earlier];
            values.push(Some(value));
            block.counters.push(Counter { name, values });
        }
        return;
    }
    block.partial |= partial;
    // How much time went by is not known: the same stamp again says so.
    block.append(0, rows.iter().map(|(name, value)| (name.as_str(), *value)));
}

/// What an error line of a tool says about the readings that it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The driver has no such thing.
    Unsupported,
    /// Root is needed.
    NotPermitted,
    /// There is no such device, program or file.
    Missing,
}

/// Reads the end of an error line.
pub(super) fn refusal(text: &str) -> Option<Refusal> {
    let text = text.trim_end();
    let ends = |tails: &[&str]| tails.iter().any(|tail| text.ends_with(tail));
    if ends(&["Operation not supported", "Not supported", "no stats available", "No data available"]) {
        Some(Refusal::Unsupported)
    } else if ends(&["Operation not permitted", "Permission denied", "permission denied", "must be root", "superuser"])
    {
        Some(Refusal::NotPermitted)
    } else if ends(&[
        "No such device",
        "does not exist.",
        "No such file or directory",
        "command not found",
        ": not found",
    ]) {
        Some(Refusal::Missing)
    } else {
        None
    }
}

/// Why a reading that only root gets is not in a capture.
pub(super) fn not_permitted(command: &Command, file: &str, line: u32) -> Gap {
    let words = std::iter::once(&command.program).chain(&command.arguments);
    let typed: Vec<_> = words.map(|word| shell_quote(word)).collect();
    Gap::new(GapKind::NotPermitted)
        .detail(format!("refused at {file}:{line}"))
        .command(format!("sudo {}", typed.join(" ")))
}
