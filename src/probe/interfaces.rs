//! Interfaces: what rtnetlink says of them, and the device behind each one.

use std::collections::BTreeMap;

use super::kernel::{Reply, Request};
use super::link_details;
use super::links::{self, LinkRow};
use super::netlink::{self, Answer};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::formats::assignments;
use crate::reading::{Bytes, GapKind, Reading, SourceId};
use crate::snapshot::{Interface, InterfaceKind, OperState, PciAddress};

/// Why sysfs tells nothing of an interface.
const ELSEWHERE: &str = "/sys shows another network namespace";
/// The interface is administratively up.
pub(super) const UP: u32 = 1;
const LOWER_UP: u32 = 0x1_0000;

/// One interface while it is collected.
pub(super) struct Netdev {
    pub row: LinkRow,
    pub name: String,
    /// Hardware, or a bond or team: worth a request of its own.
    pub worth_asking: bool,
    /// Has a device behind it.
    pub has_device: bool,
    pub wifi: bool,
    pub pci: Reading<PciAddress>,
    /// Where its device lies below /sys/devices; `None` without one, and where /sys shows another namespace.
    pub path: Option<String>,
}

/// All links of the namespace, also those that the caller does not want to see: names of others depend on them.
pub(super) struct Links {
    pub devices: Vec<Netdev>,
    by_index: BTreeMap<u32, usize>,
}

impl Links {
    pub fn at(&self, index: u32) -> Option<&Netdev> {
        self.by_index.get(&index).map(|at| &self.devices[*at])
    }

    pub fn name(&self, index: u32) -> Option<&str> {
        self.at(index).map(|device| device.name.as_str())
    }
}

/// The request for all links.
pub(super) fn links_request() -> Request {
    netlink::route_dump(links::GET_LINK, &[0; 16])
}

/// Takes the answer to [`links_request`].
pub(super) fn read_links(scan: &mut Scan<'_>, answer: &Answer) -> Links {
    if answer.interrupted {
        scan.remark("the list of interfaces changed while it was read".into());
    }
    if let Some(refusal) = &answer.refusal {
        scan.refusal(refusal, &plan::LINKS, "");
    }
    if !answer.complete {
        scan.remark("interfaces could not be listed, or not all".into());
    }
    let mut links = Links { devices: Vec::new(), by_index: BTreeMap::new() };
    for payload in &answer.parts {
        let Some(row) = links::link(payload) else {
            let index = netlink::u32_at(payload, 4).unwrap_or(0);
            scan.remark(format!("interface with index {index} could not be understood"));
            continue;
        };
        let name = String::from_utf8_lossy(&row.raw_name).into_owned();
        links.by_index.insert(row.index, links.devices.len());
        let pci = Reading::default();
        links.devices.push(Netdev { row, name, worth_asking: false, has_device: false, wifi: false, pci, path: None });
    }
    links
}

/// Looks up the device behind each interface that may have one.
pub(super) fn find_devices(scan: &mut Scan<'_>, links: &mut Links) {
    let candidate =
        |row: &LinkRow| row.parent_device.is_some() || (row.kind.is_none() && row.hardware != libc::ARPHRD_LOOPBACK);
    let mut requests = Vec::new();
    for device in links.devices.iter().filter(|device| candidate(&device.row)) {
        let path = |tail: &[u8]| [b"/sys/class/net/", &device.row.raw_name[..], tail].concat();
        requests.push(Request::real(path(b"/device")));
        requests.push(Request::read(path(b"/uevent")));
    }
    let replies = scan.kernel.call(&requests);
    let mut pairs = replies.chunks(2);
    for device in &mut links.devices {
        device.worth_asking = matches!(device.row.kind.as_deref(), Some("bond" | "team"));
        if !candidate(&device.row) {
            device.pci = Reading::Absent(scan.netlink("RTM_GETLINK", "all interfaces"));
            continue;
        }
        let Some([real, uevent]) = pairs.next() else { continue };
        let link = format!("/sys/class/net/{}/device", device.name);
        let rows = uevent.bytes().map(|text| assignments::parse(&String::from_utf8_lossy(text))).unwrap_or_default();
        let index = assignments::value(&rows, "IFINDEX").and_then(|index| index.parse::<u32>().ok());
        let bus_name = real.bytes().map(|path| String::from_utf8_lossy(path).rsplit('/').next().map(ToOwned::to_owned));
        let other_device = match (&device.row.parent_device, bus_name) {
            (Some(mine), Some(theirs)) => theirs.as_ref() != Some(mine),
            _ => false,
        };
        // Neither shown nor missing: rtnetlink names a device.
        let hidden = matches!(real, Reply::Error { errno: libc::ENOENT, .. }) && device.row.parent_device.is_some();
        if other_device || hidden || index.is_some_and(|index| index != device.row.index) {
            device.pci = match pci_of(&device.row) {
                Some(pci) => Reading::Known(pci, scan.netlink("RTM_GETLINK", &device.name)),
                None => Reading::Unknown(scan.gap(GapKind::Failed, ELSEWHERE, &plan::NETDEV, &device.name)),
            };
            device.has_device = device.row.parent_device.is_some();
            device.worth_asking |= device.has_device;
            continue;
        }
        device.wifi = assignments::value(&rows, "DEVTYPE") == Some("wlan");
        device.has_device = real.bytes().is_some() || device.row.parent_device.is_some();
        device.path = real.bytes().map(|path| String::from_utf8_lossy(path).into_owned());
        device.worth_asking |= device.has_device;
        device.pci = match real {
            Reply::Bytes(path) => {
                let source = scan.file(link);
                PciAddress::of_path(&path.text()).map_or(Reading::Absent(source), |pci| Reading::Known(pci, source))
            }
            Reply::Error { errno: libc::ENOENT, .. } if device.row.parent_device.is_none() => {
                Reading::Absent(scan.file(link))
            }
            refusal => match pci_of(&device.row) {
                Some(pci) => Reading::Known(pci, scan.netlink("RTM_GETLINK", &device.name)),
                None => Reading::Unknown(scan.refusal(refusal, &plan::NETDEV, &device.name)),
            },
        };
    }
}

/// The PCI function that rtnetlink names as the parent.
fn pci_of(row: &LinkRow) -> Option<PciAddress> {
    row.parent_device.as_ref().filter(|_| row.parent_bus.as_deref() == Some("pci"))?.parse().ok()
}

pub(super) fn kind(device: &Netdev) -> InterfaceKind {
    let row = &device.row;
    match row.kind.as_deref() {
        Some(kind) => InterfaceKind::of_link_kind(kind),
        None if device.wifi => InterfaceKind::Wifi,
        None => match row.hardware {
            libc::ARPHRD_ETHER => InterfaceKind::Ethernet,
            libc::ARPHRD_LOOPBACK => InterfaceKind::Loopback,
            libc::ARPHRD_INFINIBAND => InterfaceKind::Infiniband,
            libc::ARPHRD_IEEE80211..=803 => InterfaceKind::Wifi,
            libc::ARPHRD_TUNNEL | libc::ARPHRD_TUNNEL6 | libc::ARPHRD_SIT => InterfaceKind::Ipip,
            libc::ARPHRD_IPGRE | 823 => InterfaceKind::Gre,
            _ => InterfaceKind::Other,
        },
    }
}

fn oper_state(code: u8) -> Option<OperState> {
    Some(match code {
        0 => OperState::Unknown,
        1 => OperState::NotPresent,
        2 => OperState::Down,
        3 => OperState::LowerLayerDown,
        4 => OperState::Testing,
        5 => OperState::Dormant,
        6 => OperState::Up,
        _ => return None,
    })
}

/// A hardware address; the address of an IPv4 tunnel is an IPv4 address.
pub(super) fn address(bytes: &[u8], hardware: u16) -> Option<String> {
    if let (libc::ARPHRD_TUNNEL | libc::ARPHRD_SIT | libc::ARPHRD_IPGRE, [a, b, c, d]) = (hardware, bytes) {
        return Some(format!("{a}.{b}.{c}.{d}"));
    }
    let text: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    (!text.is_empty()).then(|| text.join(":"))
}

/// Interfaces whose names are wanted; all without a list.
pub(super) fn build(scan: &mut Scan<'_>, links: &Links, options: &super::Options) {
    let wanted = &options.interfaces;
    let mut members: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for device in &links.devices {
        if let Some(master) = device.row.master {
            members.entry(master).or_default().push(device.name.clone());
        }
    }
    for names in members.values_mut() {
        names.sort_by_key(|name| crate::snapshot::natural(name));
    }
    let shown = |device: &&Netdev| wanted.is_empty() || wanted.contains(&device.name);
    let has_bridge = links.devices.iter().filter(shown).any(|device| kind(device) == InterfaceKind::Bridge);
    let calls = link_details::bridges_call(scan, has_bridge);
    for device in &links.devices {
        if shown(&device) {
            let mut interface = interface(scan, links, device, &members);
            let source = scan.netlink("RTM_GETLINK", &device.name);
            link_details::apply(scan, &mut interface, &device.row, kind(device), calls, source);
            interface.namespace.clone_from(&options.namespace);
            scan.out.interfaces.push(interface);
        }
    }
}

fn interface(scan: &mut Scan<'_>, links: &Links, device: &Netdev, members: &BTreeMap<u32, Vec<String>>) -> Interface {
    let row = &device.row;
    let source = scan.netlink("RTM_GETLINK", &device.name);
    let kind = kind(device);
    let admin_up = row.flags & UP != 0;
    let carrier = row.carrier.unwrap_or(row.flags & LOWER_UP != 0);
    let optional = |text: Option<String>| match text {
        Some(text) if !text.is_empty() => Reading::Known(text, source),
        _ => Reading::Absent(source),
    };
    let mtu = |mtu: Option<u32>| mtu.map(|mtu| Bytes(mtu.into()));
    let mut out = Interface {
        name: device.name.clone(),
        index: Reading::Known(row.index, source),
        kind: Reading::Known(kind, source),
        alias: optional(row.alias.clone()),
        address: optional(row.address.as_deref().and_then(|bytes| address(bytes, row.hardware))),
        device: device.pci.clone(),
        admin_up: Reading::Known(admin_up, source),
        vlan_tags: vlan_tags(scan, links, device, source),
        ..Interface::default()
    };
    out.link.up = Reading::Known(admin_up && carrier, source);
    out.permanent_address = match row.permanent_address.as_deref() {
        // Kernels before 5.6 never send it, later ones send none where there is none.
        None if scan.out.host.kernel.known().is_some_and(|kernel| kernel.parts < vec![5, 6]) => {
            Reading::Unknown(scan.gap(GapKind::KernelTooOld, "IFLA_PERM_ADDRESS", &plan::PERMANENT, &device.name))
        }
        bytes => optional(bytes.and_then(|bytes| address(bytes, row.hardware))),
    };
    let why = GapKind::KernelTooOld;
    let detail = "not in the answer to RTM_GETLINK";
    out.oper_state = scan.or_unknown(row.oper_state.and_then(oper_state), source, why, detail);
    out.mtu = scan.or_unknown(mtu(row.mtu), source, why, detail);
    out.mtu_min = scan.or_unknown(mtu(row.mtu_min), source, why, detail);
    out.mtu_max = match row.mtu_max {
        Some(0) => Reading::Absent(source),
        most => scan.or_unknown(mtu(most), source, why, detail),
    };
    out.txqueuelen = scan.or_unknown(row.txqueuelen, source, why, detail);
    out.link.carrier_down = scan.or_unknown(row.carrier_down_count.map(u64::from), source, why, detail);
    let paired = matches!(kind, InterfaceKind::Veth | InterfaceKind::Netkit);
    let lower = row.lower.filter(|lower| *lower != row.index || row.lower_elsewhere);
    let lower = match lower {
        None => Reading::Absent(source),
        Some(_) if row.lower_elsewhere => {
            Reading::Unknown(scan.dead_end(GapKind::NotCollected, "it is in another network namespace"))
        }
        Some(lower) => match links.name(lower) {
            Some(name) => Reading::Known(name.to_owned(), source),
            None => {
                Reading::Unknown(scan.gap(GapKind::Changed, format!("no link with index {lower}"), &plan::LINKS, ""))
            }
        },
    };
    if paired {
        out.stack.parent = Reading::Absent(source);
        out.stack.peer = if row.lower_elsewhere { Reading::Absent(source) } else { lower };
    } else {
        out.stack.parent = lower;
        out.stack.peer = Reading::Absent(source);
    }
    out.stack.master = match row.master {
        None => Reading::Absent(source),
        Some(master) => match links.name(master) {
            Some(name) => Reading::Known(name.to_owned(), source),
            None => {
                Reading::Unknown(scan.gap(GapKind::Changed, format!("no link with index {master}"), &plan::LINKS, ""))
            }
        },
    };
    let gathers =
        matches!(kind, InterfaceKind::Bridge | InterfaceKind::Bond | InterfaceKind::Team | InterfaceKind::Vrf);
    out.stack.members = match members.get(&row.index) {
        Some(names) => Reading::Known(names.clone(), source),
        None if gathers => Reading::Known(Vec::new(), source),
        None => Reading::Absent(source),
    };
    if !row.stats.is_empty() {
        let rows = links::stat_names(row.stats.len()).iter().copied().zip(row.stats.iter().copied());
        out.counters.push(statistics::block("rtnl_link_stats64", source, rows));
    }
    if row.carrier_counts().next().is_some() {
        out.counters.push(statistics::block(statistics::CARRIER, source, row.carrier_counts()));
    }
    out
}

/// The IP addresses of each interface.
pub(super) fn addresses(scan: &mut Scan<'_>, answer: &Answer) {
    let mut rows: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for row in answer.parts.iter().filter_map(|payload| links::address(payload)) {
        rows.entry(row.index).or_default().push(format!("{}/{}", row.address, row.prefix));
    }
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    for interface in &mut taken {
        let found = interface.index.known().and_then(|index| rows.remove(index));
        interface.addresses = match &answer.refusal {
            Some(refusal) => Reading::Unknown(scan.refusal(refusal, &plan::ADDRESSES, "")),
            None if !answer.complete => {
                Reading::Unknown(scan.gap(GapKind::Malformed, "the dump has no end", &plan::ADDRESSES, ""))
            }
            None => Reading::Known(found.unwrap_or_default(), scan.netlink("RTM_GETADDR", "all interfaces")),
        };
    }
    scan.out.interfaces = taken;
}

/// Tags of an interface and of those below it that it shares the wire with.
fn vlan_tags(scan: &mut Scan<'_>, links: &Links, device: &Netdev, source: SourceId) -> Reading<u32> {
    let mut tags = 0;
    let mut here = device;
    // As deep as the kernel lets devices be stacked.
    for _ in 0..8 {
        match kind(here) {
            InterfaceKind::Vlan => tags += 1,
            InterfaceKind::Macvlan | InterfaceKind::Macvtap | InterfaceKind::Ipvlan | InterfaceKind::Macsec => {}
            _ => return Reading::Known(tags, source),
        }
        let below = here.row.lower.filter(|_| !here.row.lower_elsewhere).and_then(|lower| links.at(lower));
        let Some(below) = below else {
            return Reading::Unknown(
                scan.dead_end(GapKind::NotCollected, "the interface below is in another network namespace"),
            );
        };
        here = below;
    }
    Reading::Unknown(scan.dead_end(GapKind::Malformed, "interfaces stacked in a circle"))
}
