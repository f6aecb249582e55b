//! Interfaces: rtnetlink first, then what stands behind each one, then ethtool.

use std::collections::BTreeMap;

use super::ethtool::{self, Command, FeaturesRow, LinkModesRow, Names, PauseRow, RingsRow};
use super::kernel::{Reply, Request};
use super::links::{self, LinkRow};
use super::netlink::{self, Answer};
use super::plan::{self, Probe};
use super::scan::Scan;
use super::{legacy, pci, statistics};
use crate::formats::assignments;
use crate::reading::{BitsPerSecond, Bytes, GapId, GapKind, Reading, SourceId};
use crate::snapshot::{
    Conflict, CounterBlock, Duplex, Feature, Interface, InterfaceKind, LinkModes, OperState, PciAddress, PortType,
};

const UP: u32 = 1;
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

    fn name(&self, index: u32) -> Option<&str> {
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
        links.devices.push(Netdev { row, name, worth_asking: false, has_device: false, wifi: false, pci });
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
        if other_device || index.is_some_and(|index| index != device.row.index) {
            let detail = "/sys shows another network namespace";
            device.pci = Reading::Unknown(scan.gap(GapKind::Failed, detail, &plan::NETDEV, &device.name));
            device.has_device = device.row.parent_device.is_some();
            device.worth_asking |= device.has_device;
            continue;
        }
        device.wifi = assignments::value(&rows, "DEVTYPE") == Some("wlan");
        device.has_device = real.bytes().is_some() || device.row.parent_device.is_some();
        device.worth_asking |= device.has_device;
        device.pci = match real {
            Reply::Bytes(path) => {
                let source = scan.file(link);
                pci::owner(&path.text()).map_or(Reading::Absent(source), |pci| Reading::Known(pci, source))
            }
            Reply::Error { errno: libc::ENOENT, .. } if device.row.parent_device.is_none() => {
                Reading::Absent(scan.file(link))
            }
            refusal => Reading::Unknown(scan.refusal(refusal, &plan::NETDEV, &device.name)),
        };
    }
}

fn kind(device: &Netdev) -> InterfaceKind {
    let row = &device.row;
    match row.kind.as_deref() {
        Some("veth") => InterfaceKind::Veth,
        Some("netkit") => InterfaceKind::Netkit,
        Some("bridge") => InterfaceKind::Bridge,
        Some("bond") => InterfaceKind::Bond,
        Some("team") => InterfaceKind::Team,
        Some("vlan") => InterfaceKind::Vlan,
        Some("vxlan") => InterfaceKind::Vxlan,
        Some("geneve") => InterfaceKind::Geneve,
        Some("gre" | "gretap" | "ip6gre" | "ip6gretap" | "erspan" | "ip6erspan") => InterfaceKind::Gre,
        Some("ipip" | "sit" | "ip6tnl" | "vti" | "vti6") => InterfaceKind::Ipip,
        Some("wireguard") => InterfaceKind::Wireguard,
        Some("xfrm") => InterfaceKind::Xfrm,
        Some("tun") => InterfaceKind::Tun,
        Some("macvlan") => InterfaceKind::Macvlan,
        Some("macvtap") => InterfaceKind::Macvtap,
        Some("ipvlan" | "ipvtap") => InterfaceKind::Ipvlan,
        Some("dummy") => InterfaceKind::Dummy,
        Some("ifb") => InterfaceKind::Ifb,
        Some("vrf") => InterfaceKind::Vrf,
        Some("macsec") => InterfaceKind::Macsec,
        Some("openvswitch") => InterfaceKind::Openvswitch,
        Some("netdevsim") => InterfaceKind::Netdevsim,
        Some("ipoib") => InterfaceKind::Infiniband,
        Some("wlan") => InterfaceKind::Wifi,
        Some("dsa") => InterfaceKind::Ethernet,
        Some(_) => InterfaceKind::Other,
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
fn address(bytes: &[u8], hardware: u16) -> Option<String> {
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
    for device in &links.devices {
        if wanted.is_empty() || wanted.contains(&device.name) {
            let mut interface = interface(scan, links, device, &members);
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
    out.link.carrier_down = scan.or_unknown(row.carrier_down.map(u64::from), source, why, detail);
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
    out
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

/// What one ethtool command said of one interface.
enum Outcome<'a> {
    Found(&'a [u8]),
    /// The driver has no such thing.
    Unsupported,
    Gap(GapId),
}

fn probe_of(command: Command) -> &'static Probe {
    match command {
        Command::LinkInfo => &plan::LINK_INFO,
        Command::LinkModes => &plan::LINK_MODES,
        Command::LinkState => &plan::LINK_STATE,
        Command::Features => &plan::FEATURES,
        Command::Rings => &plan::RINGS,
        Command::Pause => &plan::PAUSE,
    }
}

/// Asks ethtool over netlink and fills the interfaces of the snapshot.
pub(super) fn ethtool(scan: &mut Scan<'_>, links: &Links, family: &Answer) -> Option<u16> {
    let Some(family) = family.parts.first().and_then(|payload| ethtool::family(payload)) else {
        let gap = match &family.refusal {
            Some(Reply::Error { errno: libc::ENOENT, .. }) => {
                scan.gap(GapKind::KernelTooOld, "no ethtool over netlink (kernel before 5.6)", &plan::ETHTOOL, "IFACE")
            }
            Some(refusal) => scan.refusal(refusal, &plan::ETHTOOL, "IFACE"),
            None => scan.gap(GapKind::Malformed, "the answer for the ethtool family", &plan::ETHTOOL, "IFACE"),
        };
        for command in Command::ALL {
            each(scan, links, command, &Names::default(), |_, _| Outcome::Gap(gap));
        }
        legacy::collect(scan, links, &Command::ALL);
        return None;
    };
    let known = |command: Command| family.commands.contains(&u32::from(command as u8));
    let mut requests = vec![ethtool::names_request(family.id)];
    let commands: Vec<Command> = Command::ALL.into_iter().filter(|command| known(*command)).collect();
    requests.extend(commands.iter().map(|command| ethtool::request(family.id, *command, None, true)));
    let mut answers = netlink::ask(scan.kernel, &requests).into_iter();
    let names = answers.next().unwrap_or_default();
    let names = names.parts.first().map(|payload| ethtool::names(payload)).unwrap_or_default();
    for command in Command::ALL.into_iter().filter(|command| !known(*command)) {
        let gap = scan.gap(GapKind::KernelTooOld, command.name(), probe_of(command), "IFACE");
        each(scan, links, command, &names, |_, _| Outcome::Gap(gap));
    }
    let older: Vec<Command> = Command::ALL.into_iter().filter(|command| !known(*command)).collect();
    legacy::collect(scan, links, &older);
    for (command, answer) in commands.into_iter().zip(answers) {
        one_command(scan, links, family.id, command, answer, &names);
    }
    Some(family.id)
}

/// True where the kernel does not know a flag of the request, which an older one says by EINVAL.
fn wants_fewer_flags(command: Command, answer: &Answer) -> bool {
    command.has_stats() && matches!(answer.refusal, Some(Reply::Error { errno: libc::EINVAL, .. }))
}

fn one_command(scan: &mut Scan<'_>, links: &Links, family: u16, command: Command, answer: Answer, names: &Names) {
    let mut answer = answer;
    let mut stats = true;
    if wants_fewer_flags(command, &answer) {
        stats = false;
        let request = ethtool::request(family, command, None, false);
        answer = netlink::ask(scan.kernel, &[request]).pop().unwrap_or_default();
    }
    if answer.interrupted {
        scan.remark("the list of interfaces changed while it was read".into());
    }
    let dumped: BTreeMap<u32, &[u8]> =
        answer.parts.iter().filter_map(|payload| Some((ethtool::device(payload)?, payload.as_slice()))).collect();
    // A dump passes over devices without support and ends at the first that fails otherwise.
    let hopeless = matches!(answer.refusal, Some(Reply::TimedOut | Reply::Skipped { .. }));
    let missing: Vec<&Netdev> = links
        .devices
        .iter()
        .filter(|device| device.worth_asking && !hopeless && !dumped.contains_key(&device.row.index))
        .collect();
    let requests: Vec<Request> =
        missing.iter().map(|device| ethtool::request(family, command, Some(device.row.index), stats)).collect();
    let followed = netlink::ask(scan.kernel, &requests);
    let followed: BTreeMap<u32, &Answer> = missing.iter().map(|device| device.row.index).zip(followed.iter()).collect();
    let probe = probe_of(command);
    each(scan, links, command, names, |scan, device| {
        if let Some(payload) = dumped.get(&device.row.index) {
            return Outcome::Found(payload);
        }
        if let Some(answer) = followed.get(&device.row.index) {
            return match (answer.parts.first(), &answer.refusal) {
                (Some(payload), _) => Outcome::Found(payload),
                (None, Some(Reply::Error { errno: libc::EOPNOTSUPP, .. })) => Outcome::Unsupported,
                (None, Some(refusal)) => Outcome::Gap(scan.refusal(refusal, probe, &device.name)),
                (None, None) => Outcome::Gap(scan.gap(GapKind::Malformed, "an empty answer", probe, &device.name)),
            };
        }
        match &answer.refusal {
            Some(Reply::Error { errno: libc::EOPNOTSUPP, .. }) => Outcome::Unsupported,
            Some(refusal) => Outcome::Gap(scan.refusal(refusal, probe, &device.name)),
            None if answer.complete => Outcome::Unsupported,
            None => Outcome::Gap(scan.gap(GapKind::Malformed, "the dump has no end", probe, &device.name)),
        }
    });
}

/// Applies the outcome of a command to each interface of the snapshot.
fn each<'a>(
    scan: &mut Scan<'_>,
    links: &Links,
    command: Command,
    names: &Names,
    mut outcome: impl FnMut(&mut Scan<'_>, &Netdev) -> Outcome<'a>,
) {
    let mut interfaces = std::mem::take(&mut scan.out.interfaces);
    for interface in &mut interfaces {
        let Some(device) = interface.index.known().and_then(|index| links.at(*index)) else { continue };
        match outcome(scan, device) {
            Outcome::Found(payload) => {
                let source = scan.netlink(command.name(), &device.name);
                if !decode(scan, interface, device, command, payload, names, source) {
                    let probe = probe_of(command);
                    let gap = scan.gap(GapKind::Malformed, command.name(), probe, &device.name);
                    mark(interface, command, gap);
                }
            }
            Outcome::Unsupported => {
                let subject = if device.worth_asking { device.name.as_str() } else { "all interfaces" };
                let source = scan.netlink(command.name(), subject);
                mark_absent(interface, command, source);
            }
            Outcome::Gap(gap) => mark(interface, command, gap),
        }
    }
    scan.out.interfaces = interfaces;
}

fn mark(interface: &mut Interface, command: Command, gap: GapId) {
    match command {
        Command::LinkInfo => interface.port.connector.fill(Reading::Unknown(gap)),
        Command::LinkModes => interface.link.mark(gap),
        Command::LinkState => interface.link.up.fill(Reading::Unknown(gap)),
        Command::Features => interface.features.fill(Reading::Unknown(gap)),
        Command::Rings => interface.ring.mark(gap),
        Command::Pause => interface.pause.mark(gap),
    }
}

fn mark_absent(interface: &mut Interface, command: Command, source: SourceId) {
    match command {
        Command::LinkInfo => interface.port.connector.fill(Reading::Absent(source)),
        Command::LinkModes => interface.link.mark_absent(source),
        Command::LinkState => {}
        Command::Features => interface.features.fill(Reading::Absent(source)),
        Command::Rings => interface.ring.mark_absent(source),
        Command::Pause => interface.pause.mark_absent(source),
    }
}

fn decode(
    scan: &mut Scan<'_>,
    interface: &mut Interface,
    device: &Netdev,
    command: Command,
    payload: &[u8],
    names: &Names,
    source: SourceId,
) -> bool {
    match command {
        Command::LinkInfo => {
            let Some(port) = ethtool::port(payload) else { return false };
            interface.port.connector = Reading::Known(port_type(port), source);
        }
        Command::LinkModes => {
            let Some(row) = ethtool::link_modes(payload) else { return false };
            apply_link_modes(scan, interface, device, &row, &names.link_modes, source);
        }
        Command::LinkState => {
            // A driver that cannot tell sends none.
            let Some(up) = ethtool::link_state(payload) else { return true };
            let admin_up = interface.admin_up.known() == Some(&true);
            if let (true, Reading::Known(used, used_source)) = (admin_up, &interface.link.up)
                && *used != up
            {
                scan.out.conflicts.push(Conflict {
                    subject: interface.name.clone(),
                    fact: "iface.link.up".into(),
                    used: used.to_string(),
                    used_source: *used_source,
                    other: up.to_string(),
                    other_source: source,
                });
            }
        }
        Command::Features => {
            if names.features.is_empty() {
                return false;
            }
            let Some(row) = ethtool::features(payload) else { return false };
            interface.features = apply_features(&row, &names.features, source);
        }
        Command::Rings => {
            let Some(row) = ethtool::rings(payload) else { return false };
            apply_rings(interface, row, source);
        }
        Command::Pause => {
            let Some(row) = ethtool::pause(payload) else { return false };
            apply_pause(interface, &row, source);
        }
    }
    true
}

fn or_absent<T>(value: Option<T>, source: SourceId) -> Reading<T> {
    value.map_or(Reading::Absent(source), |value| Reading::Known(value, source))
}

pub(super) fn apply_features(
    row: &FeaturesRow,
    names: &BTreeMap<usize, String>,
    source: SourceId,
) -> Reading<BTreeMap<String, Feature>> {
    let feature =
        |bit| Feature { active: row.active.value(bit), changeable: row.hardware.value(bit) && !row.fixed.value(bit) };
    Reading::Known(names.iter().map(|(bit, name)| (name.clone(), feature(*bit))).collect(), source)
}

pub(super) fn apply_rings(interface: &mut Interface, row: RingsRow, source: SourceId) {
    interface.ring.rx = or_absent(row.rx, source);
    interface.ring.rx_max = or_absent(row.rx_max, source);
    interface.ring.tx = or_absent(row.tx, source);
    interface.ring.tx_max = or_absent(row.tx_max, source);
}

pub(super) fn apply_pause(interface: &mut Interface, row: &PauseRow, source: SourceId) {
    interface.pause.autoneg = or_absent(row.autoneg, source);
    interface.pause.rx = or_absent(row.rx, source);
    interface.pause.tx = or_absent(row.tx, source);
    if !row.stats.is_empty() {
        interface.counters.push(pause_block(&row.stats, source));
    }
}

/// Statistics of pause frames as a block.
pub(super) fn pause_block(rows: &[(&'static str, u64)], source: SourceId) -> CounterBlock {
    statistics::block("ethtool_pause", source, rows.iter().copied())
}

pub(super) fn port_type(port: u8) -> PortType {
    match port {
        0 => PortType::Tp,
        1 => PortType::Aui,
        2 => PortType::Mii,
        3 => PortType::Fibre,
        4 => PortType::Bnc,
        5 => PortType::Dac,
        0xef => PortType::None,
        _ => PortType::Other,
    }
}

pub(super) fn apply_link_modes(
    scan: &mut Scan<'_>,
    interface: &mut Interface,
    device: &Netdev,
    row: &LinkModesRow,
    names: &BTreeMap<usize, String>,
    source: SourceId,
) {
    let why = GapKind::DriverUnknown;
    let speed = row.speed.map(|megabits| BitsPerSecond(u64::from(megabits) * 1_000_000));
    let duplex = row.duplex.map(|duplex| if duplex == 0 { Duplex::Half } else { Duplex::Full });
    let link = &mut interface.link;
    link.speed = scan.or_unknown(speed, source, why, "the driver reports no speed");
    link.duplex = scan.or_unknown(duplex, source, why, "the driver reports no duplex mode");
    link.autoneg = row.autoneg.map_or(Reading::Absent(source), |on| Reading::Known(on, source));
    link.lanes = match row.lanes {
        None if !device.has_device => Reading::Absent(source),
        lanes => scan.or_unknown(lanes, source, why, "the driver reports no number of lanes"),
    };
    if names.is_empty() {
        let gap =
            scan.gap(GapKind::Failed, "the names of link modes could not be read", &plan::LINK_MODES, &device.name);
        link.mark(gap);
        return;
    }
    // Bits that name a mode; the others are ports, pause, FEC and negotiation itself.
    let set = |bit_set: &dyn Fn(usize) -> bool| {
        let modes = names.iter().filter(|(bit, name)| name.contains("base") && bit_set(**bit));
        LinkModes(modes.map(|(_, name)| name.clone()).collect())
    };
    let autoneg_bit = names.iter().find(|(_, name)| *name == "Autoneg").map(|(bit, _)| *bit);
    if let Some(ours) = &row.ours {
        let (supported, advertised) = (set(&|bit| ours.mask(bit)), set(&|bit| ours.value(bit)));
        let lists = !supported.0.is_empty() || !advertised.0.is_empty();
        let reading = |modes| if lists { Reading::Known(modes, source) } else { Reading::Absent(source) };
        link.supported = reading(supported);
        link.advertised = reading(advertised);
        link.autoneg_supported = Reading::Known(autoneg_bit.is_some_and(|bit| ours.mask(bit)), source);
    } else {
        link.supported = Reading::Absent(source);
        link.advertised = Reading::Absent(source);
        link.autoneg_supported = Reading::Absent(source);
    }
    link.partner = match &row.partner {
        Some(partner) => Reading::Known(set(&|bit| partner.value(bit)), source),
        None if row.autoneg == Some(true) => {
            Reading::Unknown(scan.dead_end(why, "the driver reports no modes of the link partner"))
        }
        None => Reading::Absent(source),
    };
}
