//! PCI functions of class network and the links above them.

use std::collections::{BTreeMap, BTreeSet};

use super::kernel::{Ask, Lock, Reply, Request, zero_ended};
use super::scan::Scan;
use super::{pci_state, plan};
use crate::formats::pci_config::{self, Config, Express};
use crate::formats::pci_id::{is_emulated, name};
use crate::formats::{assignments, pci_link};
use crate::reading::{Bytes, GapId, GapKind, Gigatransfers, Reading, SourceId};
use crate::snapshot::{Conflict, PciAddress, PciDevice, Pcie, PcieLink, PcieRole, pcie_ends};

const DEVICES: &str = "/sys/bus/pci/devices";
const SLOTS: &str = "/sys/bus/pci/slots";
const THUNDERBOLT: &str = "/sys/bus/thunderbolt/devices";

/// What sysfs says of every function of the host.
struct Function {
    /// Bridges above it, nearest first, up to the root complex.
    above: Vec<PciAddress>,
    uevent: Vec<assignments::Assignment>,
}

impl Function {
    fn class(&self) -> Option<u32> {
        u32::from_str_radix(assignments::value(&self.uevent, "PCI_CLASS")?, 16).ok()
    }

    /// Vendor and device.
    fn id(&self) -> Option<(u16, u16)> {
        let (vendor, device) = assignments::value(&self.uevent, "PCI_ID")?.split_once(':')?;
        Some((u16::from_str_radix(vendor, 16).ok()?, u16::from_str_radix(device, 16).ok()?))
    }

    fn is_network(&self) -> bool {
        self.class().is_some_and(|class| class >> 16 == 2)
    }

    fn is_bridge(&self) -> bool {
        self.class().is_some_and(|class| class >> 8 == 0x0604)
    }
}

/// Replies of one function's files.
struct Files {
    config: Config,
    /// How many bytes of it were shown, or the refusal.
    config_reply: Result<usize, Reply>,
    config_source: SourceId,
    removable: bool,
    /// current speed, current width, highest speed, highest width
    link: [Reply; 4],
}

const LINK_FILES: [&str; 4] = ["current_link_speed", "current_link_width", "max_link_speed", "max_link_width"];

type Tree = BTreeMap<PciAddress, Function>;

pub(super) fn collect(scan: &mut Scan<'_>) {
    let Some(tree) = tree(scan) else { return };
    let network: Vec<PciAddress> =
        tree.iter().filter(|(_, function)| function.is_network()).map(|(address, _)| *address).collect();
    if network.is_empty() {
        return;
    }
    let own = own_files(scan, &network);
    let mut wanted: BTreeSet<PciAddress> = network.iter().copied().collect();
    wanted.extend(network.iter().filter_map(|address| tree.get(address)).flat_map(|function| function.above.clone()));
    wanted.extend(own.values().filter_map(|(_, physical)| physical.known().copied()));
    let files = files(scan, &wanted);
    let slots = slots(scan);
    let [thunderbolt] = scan.batch(&[Request::list(THUNDERBOLT)]);
    let has_thunderbolt = match &thunderbolt {
        Reply::Bytes(blob) => Some(!blob.0.is_empty()),
        Reply::Error { errno: libc::ENOENT, .. } => Some(false),
        _ => None,
    };
    let around = Around { tree, files, slots, has_thunderbolt };
    for address in network {
        let Some((numa_node, physical_function)) = own.get(&address) else { continue };
        let mut device = around.identity(scan, address);
        device.numa_node = numa_node.clone();
        device.physical_function = physical_function.clone();
        let physical = physical_function.known().copied().unwrap_or(address);
        device.pcie = around.pcie(scan, address, physical);
        scan.out.devices.push(device);
    }
    pci_state::collect(scan);
}

/// Gives each function the interfaces that belong to it.
pub(super) fn join_interfaces(scan: &mut Scan<'_>, all: &[(PciAddress, String)]) {
    let source = scan.inferred("device link of each interface in /sys/class/net");
    for device in &mut scan.out.devices {
        let names = all.iter().filter(|(address, _)| *address == device.address).map(|(_, name)| name.clone());
        let mut names: Vec<String> = names.collect();
        names.sort_by_key(|name| crate::snapshot::natural(name));
        device.interfaces = Reading::Known(names, source);
    }
}

fn path(address: PciAddress, file: &str) -> String {
    format!("{DEVICES}/{address}/{file}")
}

fn tree(scan: &mut Scan<'_>) -> Option<Tree> {
    let [list] = scan.batch(&[Request::list(DEVICES)]);
    let Some(bytes) = list.bytes() else {
        // A machine without PCI has no such directory.
        if !matches!(list, Reply::Error { errno: libc::ENOENT, .. }) {
            scan.refusal(&list, &plan::PCI, "");
            scan.remark("PCI functions could not be listed".into());
        }
        return None;
    };
    let addresses: Vec<PciAddress> =
        zero_ended(bytes).filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok()).collect();
    let requests: Vec<Request> = addresses
        .iter()
        .flat_map(|address| [Request::link(format!("{DEVICES}/{address}")), Request::read(path(*address, "uevent"))])
        .collect();
    let replies = scan.kernel.call(&requests);
    let mut tree = Tree::new();
    for (address, pair) in addresses.into_iter().zip(replies.chunks(2)) {
        let [link, uevent] = pair else { continue };
        let text = |reply: &Reply| reply.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let uevent = if let Some(text) = text(uevent) {
            assignments::parse(&text)
        } else {
            scan.refusal(uevent, &plan::PCI, &address.to_string());
            Vec::new()
        };
        let above = text(link).map(|link| above(&link)).unwrap_or_default();
        tree.insert(address, Function { above, uevent });
    }
    Some(tree)
}

/// The bridges in the path of a device, nearest first. A `pciDDDD:BB` in it is a root complex, where the path begins
/// anew: behind Intel VMD there are two.
fn above(link: &str) -> Vec<PciAddress> {
    let mut chain = Vec::new();
    for part in link.split('/') {
        if part.starts_with("pci") {
            chain.clear();
        } else if let Ok(address) = part.parse::<PciAddress>() {
            chain.push(address);
        }
    }
    chain.pop();
    chain.reverse();
    chain
}

type Own = BTreeMap<PciAddress, (Reading<u32>, Reading<PciAddress>)>;

/// NUMA node and physical function.
fn own_files(scan: &mut Scan<'_>, network: &[PciAddress]) -> Own {
    let requests: Vec<Request> = network
        .iter()
        .flat_map(|address| [Request::read(path(*address, "numa_node")), Request::link(path(*address, "physfn"))])
        .collect();
    let replies = scan.kernel.call(&requests);
    let mut own = Own::new();
    for (address, pair) in network.iter().zip(replies.chunks(2)) {
        let [node, physical] = pair else { continue };
        let subject = address.to_string();
        let node_path = path(*address, "numa_node");
        let node = match scan.parsed(node, &node_path, &plan::PCI, &subject, |text| text.trim().parse::<i64>().ok()) {
            Reading::Known(node, source) => {
                u32::try_from(node).map_or(Reading::Absent(source), |node| Reading::Known(node, source))
            }
            Reading::Absent(source) => Reading::Absent(source),
            Reading::Unknown(gap) => Reading::Unknown(gap),
        };
        let physical_path = path(*address, "physfn");
        let physical = match physical {
            Reply::Error { errno: libc::ENOENT, .. } => Reading::Absent(scan.file(physical_path)),
            other => {
                scan.parsed(other, &physical_path, &plan::PCI, &subject, |text| text.rsplit('/').next()?.parse().ok())
            }
        };
        own.insert(*address, (node, physical));
    }
    own
}

fn files(scan: &mut Scan<'_>, wanted: &BTreeSet<PciAddress>) -> BTreeMap<PciAddress, Files> {
    let asleep: Vec<Request> =
        wanted.iter().map(|address| Request::read(path(*address, "power/runtime_status"))).collect();
    let asleep: BTreeSet<PciAddress> = wanted
        .iter()
        .zip(scan.kernel.call(&asleep))
        .filter(|(_, reply)| reply.bytes().is_some_and(|status| status.starts_with(b"suspended")))
        .map(|(address, _)| *address)
        .collect();
    let requests: Vec<Request> = wanted
        .iter()
        .filter(|address| !asleep.contains(*address))
        .flat_map(|address| {
            let lock = Lock::Device(address.to_string());
            let config = Ask::Read { path: path(*address, "config").into(), limit: 256 };
            let links = LINK_FILES.map(|file| Request::read(path(*address, file)).lock(lock.clone()));
            std::iter::once(Request::new(config).lock(lock.clone()))
                .chain([Request::read(path(*address, "removable"))])
                .chain(links)
        })
        .collect();
    let replies = scan.kernel.call(&requests);
    let mut answered = replies.chunks(6);
    let sleeps = Reply::Skipped { because: "it sleeps (runtime suspend), and reading would wake it".into() };
    let sleeping = vec![sleeps; 6];
    let mut files = BTreeMap::new();
    for address in wanted {
        let replies = if asleep.contains(address) { Some(&sleeping[..]) } else { answered.next() };
        let Some(replies) = replies else { continue };
        let [config, removable, link @ ..] = replies else { continue };
        let Ok(link) = <[Reply; 4]>::try_from(link.to_vec()) else { continue };
        let config_source = scan.file(path(*address, "config"));
        let parsed = config.bytes().map_or(Config::Hidden, pci_config::parse);
        let config_reply = config.bytes().map(<[u8]>::len).ok_or_else(|| config.clone());
        let removable = removable.bytes().is_some_and(|text| text.starts_with(b"removable"));
        files.insert(*address, Files { config: parsed, config_reply, config_source, removable, link });
    }
    files
}

/// Slot names by `domain:bus:device` of the card in the slot.
fn slots(scan: &mut Scan<'_>) -> BTreeMap<String, (String, SourceId)> {
    let [list] = scan.batch(&[Request::list(SLOTS)]);
    let names: Vec<String> = list
        .bytes()
        .map(|bytes| zero_ended(bytes).map(|name| String::from_utf8_lossy(name).into_owned()).collect())
        .unwrap_or_default();
    let requests: Vec<Request> = names.iter().map(|name| Request::read(format!("{SLOTS}/{name}/address"))).collect();
    let replies = scan.kernel.call(&requests);
    let mut slots = BTreeMap::new();
    for (name, reply) in names.into_iter().zip(replies) {
        if let Some(bytes) = reply.bytes() {
            let source = scan.file(format!("{SLOTS}/{name}/address"));
            slots.insert(String::from_utf8_lossy(bytes).trim().to_owned(), (name, source));
        }
    }
    slots
}

/// What stands around the functions of class network.
struct Around {
    tree: Tree,
    files: BTreeMap<PciAddress, Files>,
    slots: BTreeMap<String, (String, SourceId)>,
    /// `None` where it could not be asked.
    has_thunderbolt: Option<bool>,
}

impl Around {
    fn identity(&self, scan: &mut Scan<'_>, address: PciAddress) -> PciDevice {
        let mut device = PciDevice { address, ..PciDevice::default() };
        let Some(function) = self.tree.get(&address) else { return device };
        let source = scan.file(path(address, "uevent"));
        let value = |key| assignments::value(&function.uevent, key);
        if let Some(class) = function.class() {
            device.class = Reading::Known((class >> 8) as u16, source);
        }
        if let Some(id) = value("PCI_ID") {
            let subsystem = value("PCI_SUBSYS_ID").map(|id| format!(" {id}")).unwrap_or_default();
            device.id = Reading::Known(format!("{id}{subsystem}").to_ascii_lowercase(), source);
        }
        device.driver = value("DRIVER").map_or(Reading::Absent(source), |driver| Reading::Known(driver.into(), source));
        device.name = match function.id().and_then(|(vendor, id)| name(vendor, id)) {
            Some(name) => {
                let source = scan.inferred("PCI id list of this netdoctor");
                Reading::Known(name, source)
            }
            None => Reading::Unknown(scan.gap(GapKind::DriverUnknown, "not in the PCI id list", &plan::PCI, "")),
        };
        device
    }

    fn pcie(&self, scan: &mut Scan<'_>, address: PciAddress, physical: PciAddress) -> Pcie {
        let mut pcie = Pcie::default();
        let (Some(function), Some(files)) = (self.tree.get(&address), self.files.get(&physical)) else { return pcie };
        let own = self.files.get(&address).unwrap_or(files);
        pcie.virtual_root = self.virtual_root(scan, address);
        let no_files = matches!(files.link[0], Reply::Error { errno: libc::ENOENT, .. });
        let express = matches!(files.config, Config::Express(_));
        if no_files && !express {
            let source = match files.config {
                Config::Conventional => files.config_source,
                _ => scan.inferred("no current_link_speed in its sysfs directory"),
            };
            pcie.links = Reading::Absent(source);
            // Without the capability there are no such sizes, whoever reads.
            pcie.mps = Reading::Absent(source);
            pcie.mps_supported = Reading::Absent(source);
            pcie.mrrs = Reading::Absent(source);
            pcie.relaxed_ordering = Reading::Absent(source);
            pcie.aspm = Reading::Absent(source);
            return pcie;
        }
        pcie.links = self.links(scan, function, physical, files);
        if let Config::Express(express) = own.config {
            capability(&mut pcie, express, own.config_source);
            // A virtual function has no link of its own.
            if let Config::Express(physical) = files.config {
                pcie.aspm = aspm(physical, files.config_source);
            }
        } else {
            let gap = config_gap(scan, address, own);
            pcie.mps = Reading::Unknown(gap);
            pcie.mps_supported = Reading::Unknown(gap);
            pcie.mrrs = Reading::Unknown(gap);
            pcie.relaxed_ordering = Reading::Unknown(gap);
            pcie.aspm = Reading::Unknown(gap);
        }
        pcie
    }

    fn links(
        &self,
        scan: &mut Scan<'_>,
        function: &Function,
        lowest: PciAddress,
        files: &Files,
    ) -> Reading<Vec<PcieLink>> {
        let source = scan.file(format!("{DEVICES}/{lowest}"));
        let chain = &function.above;
        let mut links = Vec::new();
        if chain.is_empty() {
            // On the root bus: part of the root complex on a real machine; in a guest the port is hidden.
            let integrated = matches!(files.config, Config::Express(Express { port_type: 9, .. }));
            if !integrated && scan.out.host.is_guest.known() == Some(&true) {
                let hidden = scan.dead_end(GapKind::DriverUnknown, "the hypervisor shows no port above the function");
                links.push(self.link(scan, lowest, None, Reading::Unknown(hidden), lowest));
            }
            return Reading::Known(links, source);
        }
        let roles: Vec<Reading<PcieRole>> =
            chain.iter().enumerate().map(|(at, port)| self.role(scan, *port, at, chain.len())).collect();
        let ports: Vec<_> = chain.iter().copied().zip(roles.iter().map(|role| role.known().copied())).collect();
        for (lower, at) in pcie_ends(lowest, &ports) {
            links.push(self.link(scan, lower, Some(chain[at]), roles[at].clone(), lowest));
        }
        Reading::Known(links, source)
    }

    fn role(&self, scan: &mut Scan<'_>, port: PciAddress, at: usize, length: usize) -> Reading<PcieRole> {
        let role = match self.files.get(&port).map(|files| (files.config, files.config_source)) {
            Some((Config::Express(express), source)) => match express.port_type {
                4 => Some((PcieRole::RootPort, source)),
                5 => Some((PcieRole::SwitchUpstream, source)),
                6 => Some((PcieRole::SwitchDownstream, source)),
                7 => Some((PcieRole::PciBridge, source)),
                _ => Some((PcieRole::Bridge, source)),
            },
            Some((Config::Conventional, source)) => Some((PcieRole::Bridge, source)),
            _ => None,
        };
        if let Some((role, source)) = role {
            return Reading::Known(role, source);
        }
        let source = scan.inferred("position below the root complex");
        Reading::Known(if at + 1 == length { PcieRole::RootPort } else { PcieRole::SwitchDownstream }, source)
    }

    fn link(
        &self,
        scan: &mut Scan<'_>,
        lower: PciAddress,
        upper: Option<PciAddress>,
        role: Reading<PcieRole>,
        device: PciAddress,
    ) -> PcieLink {
        let [speed, width, lower_speed_max, lower_width_max] = self.figures(scan, lower);
        let mut link = PcieLink {
            lower,
            upper: Reading::default(),
            role,
            slot: Reading::default(),
            speed: speed.map(|speed| Gigatransfers(*speed)),
            width: width.map(|width| *width as u32),
            lower_speed_max: lower_speed_max.map(|speed| Gigatransfers(*speed)),
            lower_width_max: lower_width_max.map(|width| *width as u32),
            upper_speed_max: Reading::default(),
            upper_width_max: Reading::default(),
            tunnelled: Reading::default(),
            siblings: Reading::default(),
        };
        let Some(upper) = upper else {
            let gap = link.role.gap();
            link.role = Reading::default();
            link.upper = gap.map_or_else(Reading::default, Reading::Unknown);
            return link;
        };
        link.upper = Reading::Known(upper, scan.file(format!("{DEVICES}/{lower}")));
        let [upper_speed, upper_width, upper_speed_max, upper_width_max] = self.figures(scan, upper);
        for (fact, mine, other) in [("speed", &speed, &upper_speed), ("width", &width, &upper_width)] {
            if let (Reading::Known(used, used_source), Reading::Known(value, other_source)) = (mine, other)
                && used != value
            {
                scan.out.conflicts.push(Conflict {
                    subject: device.to_string(),
                    fact: format!("device.pcie.links.{fact}"),
                    used: used.to_string(),
                    used_source: *used_source,
                    other: value.to_string(),
                    other_source: *other_source,
                });
            }
        }
        // The upper end stands in where the lower one gives no figure.
        if link.speed.known().is_none() && upper_speed.known().is_some() {
            link.speed = upper_speed.map(|speed| Gigatransfers(*speed));
        }
        if link.width.known().is_none() && upper_width.known().is_some() {
            link.width = upper_width.map(|width| *width as u32);
        }
        link.upper_speed_max = upper_speed_max.map(|speed| Gigatransfers(*speed));
        link.upper_width_max = upper_width_max.map(|width| *width as u32);
        let slot = format!("{:04x}:{:02x}:{:02x}", lower.domain, lower.bus, lower.device);
        link.slot = match self.slots.get(&slot) {
            Some((name, source)) => Reading::Known(name.clone(), *source),
            None => Reading::Absent(scan.file(SLOTS)),
        };
        link.tunnelled = self.tunnelled(scan, lower, upper);
        link.siblings = self.siblings(scan, upper, device);
        link
    }

    /// Current speed and width, highest speed and width of one end.
    fn figures(&self, scan: &mut Scan<'_>, address: PciAddress) -> [Reading<f64>; 4] {
        let subject = address.to_string();
        let Some(files) = self.files.get(&address) else { return Default::default() };
        std::array::from_fn(|at| {
            let file = path(address, LINK_FILES[at]);
            let reply = &files.link[at];
            let text = match scan.text_of(reply, &file, &plan::PCI_LINK, &subject) {
                Ok((text, source)) => {
                    let figure =
                        if at % 2 == 0 { pci_link::speed(&text) } else { pci_link::width(&text).map(f64::from) };
                    if let Some(figure) = figure {
                        return Reading::Known(figure, source);
                    }
                    text
                }
                Err(gap) => return Reading::Unknown(gap),
            };
            let detail = format!("{}: `{}`", LINK_FILES[at], text.trim().escape_debug());
            Reading::Unknown(scan.gap(GapKind::DriverUnknown, detail, &plan::PCI_LINK, &subject))
        })
    }

    fn tunnelled(&self, scan: &mut Scan<'_>, lower: PciAddress, upper: PciAddress) -> Reading<bool> {
        let removable = |address| self.files.get(&address).is_some_and(|files: &Files| files.removable);
        match self.has_thunderbolt {
            Some(false) => Reading::Known(false, scan.file(THUNDERBOLT)),
            Some(true) if removable(lower) || removable(upper) => {
                let source = scan.inferred("a Thunderbolt domain and `removable` of the function");
                Reading::Known(true, source)
            }
            None | Some(true) => Reading::default(),
        }
    }

    /// Functions that share the link without being part of the card; bridges carry traffic but make none.
    fn siblings(&self, scan: &mut Scan<'_>, upper: PciAddress, device: PciAddress) -> Reading<Vec<PciAddress>> {
        let same_card = |other: &PciAddress| {
            // Below one port there is one card, whatever device numbers its functions take (SR-IOV, ARI).
            other.domain == device.domain && other.bus == device.bus
        };
        let siblings = self
            .tree
            .iter()
            .filter(|(address, function)| {
                function.above.contains(&upper) && !function.is_bridge() && !same_card(address)
            })
            .map(|(address, _)| *address)
            .collect();
        Reading::Known(siblings, scan.file(DEVICES))
    }

    /// Whether the function sits on an emulated bus.
    fn virtual_root(&self, scan: &mut Scan<'_>, address: PciAddress) -> Reading<bool> {
        let guest = match &scan.out.host.is_guest {
            Reading::Known(guest, source) => Some((*guest, *source)),
            _ => None,
        };
        let Some((guest, source)) = guest else {
            let detail = "not known whether this is a virtual machine";
            return Reading::Unknown(scan.gap(GapKind::Derived, detail, &plan::VIRTUAL, ""));
        };
        if !guest {
            return Reading::Known(false, source);
        }
        let chain = self.tree.get(&address).map(|function| function.above.as_slice()).unwrap_or_default();
        let emulated = std::iter::once(&address)
            .chain(chain)
            .find(|address| self.tree.get(address).and_then(Function::id).is_some_and(|id| is_emulated(id.0, id.1)));
        match emulated {
            Some(emulated) => Reading::Known(true, scan.file(path(*emulated, "uevent"))),
            None => Reading::Unknown(scan.dead_end(
                GapKind::DriverUnknown,
                "a guest whose ports are not known as emulated: the function may be passed through",
            )),
        }
    }
}

/// Why a function with a PCIe link shows no capability.
fn config_gap(scan: &mut Scan<'_>, address: PciAddress, files: &Files) -> GapId {
    let subject = address.to_string();
    let (why, detail) = match (&files.config_reply, files.config) {
        (Err(refusal), _) => return scan.refusal(refusal, &plan::PCI_CONFIG, &subject),
        (Ok(shown), Config::Hidden) => {
            let text = format!("the kernel shows {shown} bytes of configuration space to this user");
            return scan.refusal(&Reply::Error { errno: libc::EACCES, text }, &plan::PCI_CONFIG, &subject);
        }
        (Ok(_), Config::Gone) => (GapKind::DriverUnknown, "configuration space reads as all ones"),
        (Ok(_), _) => (GapKind::Malformed, "configuration space without PCI Express capability"),
    };
    scan.gap(why, detail, &plan::PCI_CONFIG, &subject)
}

fn capability(pcie: &mut Pcie, express: Express, source: SourceId) {
    pcie.mps = Reading::Known(Bytes(express.payload.into()), source);
    pcie.mps_supported = Reading::Known(Bytes(express.payload_max.into()), source);
    pcie.mrrs = Reading::Known(Bytes(express.read_request.into()), source);
    pcie.relaxed_ordering = Reading::Known(express.relaxed_ordering, source);
    pcie.aspm = aspm(express, source);
}

fn aspm(express: Express, source: SourceId) -> Reading<Vec<String>> {
    let states = [(1, "l0s"), (2, "l1")].into_iter().filter(|(bit, _)| express.aspm & bit != 0);
    Reading::Known(states.map(|(_, word)| word.to_owned()).collect(), source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> PciAddress {
        text.parse().unwrap()
    }

    #[test]
    fn the_path_up_ends_at_the_nearest_root_complex() {
        let link = "../../../devices/pci0000:00/0000:00:1c.0/0000:01:00.0";
        assert_eq!(above(link), [at("00:1c.0")]);
        let vmd = "../../../devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:1d.0/10000:e1:00.0";
        assert_eq!(above(vmd), [at("10000:e0:1d.0")]);
        assert!(above("../../../devices/pci0000:00/0000:00:03.0").is_empty());
        assert!(above("").is_empty());
    }

    #[test]
    fn a_usb_adapter_has_no_pci_function_of_its_own() {
        assert_eq!(PciAddress::of_path("/sys/devices/pci0000:00/0000:00:03.0/virtio2"), Some(at("00:03.0")));
        assert_eq!(PciAddress::of_path("/sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0"), Some(at("01:00.0")));
        assert_eq!(
            PciAddress::of_path("/sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0/mlx5_core.sf.4"),
            Some(at("01:00.0"))
        );
        assert_eq!(PciAddress::of_path("/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0"), None);
        assert_eq!(PciAddress::of_path("/sys/devices/pci0000:00/0000:00:1d.0/domain0/0-0/0-1/0-1.0"), None);
        assert_eq!(PciAddress::of_path("/sys/devices/platform/soc/fe300000.ethernet"), None);
    }
}
