//! `ip link` and `ip addr`: what they say of interfaces.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::site::Site;
use super::super::{Intake, is_interface_name};
use super::{Asked, asked, complaint, document};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ip::address::Address;
use crate::formats::ip::brief;
use crate::formats::ip::json::Document;
use crate::formats::ip::link::{self, Link, Lower};
use crate::reading::{Bytes, Reading};
use crate::snapshot::{BondMember, Bus, InterfaceKind, OperState, Word, XdpMode, natural};

/// As deep as the kernel lets devices be stacked.
const DEEPEST: usize = 8;

pub(super) fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let asked = intake.command.and_then(asked).unwrap_or_default();
    if let Some(namespace) = asked.namespace {
        namespace.clone_into(&mut intake.site.namespace);
    }
    if asked.changes {
        return complaint(cursor, intake);
    }
    let links = match document(cursor) {
        Some(Document::Links(links)) => links,
        _ => link::parse(cursor, asked.device.is_some()),
    };
    if links.is_empty() {
        while let Some(row) = cursor.take_if(brief::parse) {
            put_brief(intake, row);
        }
        return complaint(cursor, intake);
    }
    let tags = Tags::of(&links);
    for link in &links {
        put(intake, &asked, link, &tags);
    }
    let complete = intake.command.is_some() && asked.device.is_none() && !asked.picks && !intake.is_filtered();
    stack(intake, &links, complete);
}

fn put(intake: &mut Intake<'_>, asked: &Asked<'_>, link: &Link, tags: &Tags<'_>) {
    let name = if link.name.is_empty() {
        intake.interface_or_stand_in(asked.device, link.line)
    } else if is_interface_name(&link.name) {
        link.name.clone()
    } else {
        return;
    };
    let whole_list = !asked.picks && !intake.is_filtered();
    let site = &mut *intake.site;
    let line = link.line;
    let bytes = |at: At<u64>| at.map(Bytes);
    site.put_some(&name, |i| &mut i.index, link.index.map(|index| At::new(index, line)));
    site.put_some(&name, |i| &mut i.admin_up, link.flag("UP").map(|up| At::new(up, line)));
    site.put_some(&name, |i| &mut i.link.up, carrier(link).map(|up| At::new(up, line)));
    let state = link.head.after("state").and_then(|at| OperState::from_word(&at.value.to_ascii_lowercase()));
    site.put_some(&name, |i| &mut i.oper_state, state.map(|state| At::new(state, line)));
    site.put_some(&name, |i| &mut i.mtu, link.head.number("mtu").map(bytes));
    site.put_some(&name, |i| &mut i.txqueuelen, link.head.number("qlen"));
    site.put_some(&name, |i| &mut i.mtu_min, link.detail_number("minmtu").map(bytes));
    match link.detail_number("maxmtu") {
        Some(At { value: 0, line }) => site.put_absent(&name, |i| &mut i.mtu_max, line),
        most => site.put_some(&name, |i| &mut i.mtu_max, most.map(bytes)),
    }
    match (&link.hardware, &link.address) {
        (Some(hardware), None) if hardware.value == "none" => {
            site.put_absent(&name, |i| &mut i.address, hardware.line);
        }
        (_, address) => site.put_some(&name, |i| &mut i.address, address.clone()),
    }
    let permanent = link.detail("permaddr").map(|at| at.map(str::to_owned));
    site.put_some(&name, |i| &mut i.permanent_address, permanent);
    match &link.alias {
        // `ip link` prints it below the hardware address; `ip addr` does with -d only.
        None if whole_list && link.hardware.is_some() && (asked.is_about("link") || link.is_detailed()) => {
            site.put_absent(&name, |i| &mut i.alias, line);
        }
        alias => site.put_some(&name, |i| &mut i.alias, alias.clone()),
    }
    site.put_some(&name, |i| &mut i.kind, kind(link));
    site.put_some(&name, |i| &mut i.vlan_tags, tags.count(link).map(|tags| At::new(tags, line)));
    if link.detail("parentbus").is_some_and(|bus| bus.value == "pci")
        && let Some(device) = link.detail("parentdev")
        && let Ok(address) = device.value.parse()
    {
        site.put(&name, |i| &mut i.device, At::new(address, device.line));
        site.link_device(&name, address, device.line);
    }
    details(site, &name, link);
    let addresses: Vec<String> = link.addresses.iter().filter_map(Address::text).collect();
    // `ip link` prints no addresses, which says nothing of them; `ip addr` prints all.
    let lists_addresses = whole_list && "address".starts_with(asked.object) && !asked.object.is_empty();
    if !addresses.is_empty() || lists_addresses {
        put_addresses(intake, &name, addresses, line, lists_addresses);
    }
    if !link.statistics.is_empty() {
        let rows = link.statistics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let partial = intake.is_filtered();
        intake.site.counters(&name, "rtnl_link_stats64", link.statistics_line, rows, partial);
    }
}

/// What `-d` adds: sizes of packets, and the options of a kind.
fn details(site: &mut Site, name: &str, link: &Link) {
    let bytes = |key: &str| link.detail_number(key).map(|at| at.map(Bytes));
    site.put_some(name, |i| &mut i.gso_max_size, bytes("gso_max_size"));
    site.put_some(name, |i| &mut i.gro_max_size, bytes("gro_max_size"));
    xdp(site, name, link);
    let Some(kind) = kind(link).filter(|_| link.is_detailed()) else { return };
    let options = &link.options;
    let text = |key: &str| options.after(key).map(|at| at.map(str::to_owned));
    let flag = |key: &str| options.number::<u32>(key).map(|at| at.map(|value| value != 0));
    match kind.value {
        InterfaceKind::Vlan => site.put_some(name, |i| &mut i.vlan_id, options.number("id")),
        _ => site.put_absent(name, |i| &mut i.vlan_id, kind.line),
    }
    of_other_kinds(site, name, &kind);
    if link.kind.is_some() || kind.value == InterfaceKind::Loopback {
        // What the kernel makes by itself hangs on no bus.
        site.put(name, |i| &mut i.bus, At::new(Bus::None, kind.line));
        site.put_absent(name, |i| &mut i.device, kind.line);
    }
    match kind.value {
        InterfaceKind::Bridge => {
            site.put_some(name, |i| &mut i.bridge.stp, flag("stp_state"));
            site.put_some(name, |i| &mut i.bridge.vlan_filtering, flag("vlan_filtering"));
            let netfilter = flag("nf_call_iptables").map(|at| {
                at.map(|on| on || link.options.number("nf_call_ip6tables").is_some_and(|at: At<u32>| at.value != 0))
            });
            // A bridge that does not ask for it has it all the same where the namespace asks for all of them.
            match netfilter {
                Some(on) if !on.value => {
                    let source = site.source(on.line);
                    site.unfiltered_bridges.push((site.namespace.clone(), name.to_owned(), source));
                }
                on => site.put_some(name, |i| &mut i.bridge.netfilter, on),
            }
        }
        InterfaceKind::Vxlan | InterfaceKind::Geneve => {
            site.put_some(name, |i| &mut i.tunnel.vni, options.number("id"));
            site.put_some(name, |i| &mut i.tunnel.port, options.number("dstport"));
            address(site, name, |i| &mut i.tunnel.remote, text("remote").or_else(|| text("group")), kind.line);
            address(site, name, |i| &mut i.tunnel.local, text("local"), kind.line);
        }
        InterfaceKind::Gre | InterfaceKind::Ipip => {
            address(site, name, |i| &mut i.tunnel.remote, text("remote"), kind.line);
            address(site, name, |i| &mut i.tunnel.local, text("local"), kind.line);
            let source = site.source(kind.line);
            site.interface(name).tunnel.mark_absent(source);
        }
        // Who holds it open is not told.
        InterfaceKind::Tun => {
            site.put_absent(name, |i| &mut i.tunnel.remote, kind.line);
            site.put_absent(name, |i| &mut i.tunnel.local, kind.line);
            site.put_absent(name, |i| &mut i.tunnel.port, kind.line);
            site.put_absent(name, |i| &mut i.tunnel.vni, kind.line);
        }
        _ => {}
    }
}

/// What only other kinds of interfaces have.
fn of_other_kinds(site: &mut Site, name: &str, kind: &At<InterfaceKind>) {
    let source = site.source(kind.line);
    let interface = site.interface(name);
    if kind.value != InterfaceKind::Bond {
        interface.bond.mark_absent(source);
    }
    if kind.value != InterfaceKind::Bridge {
        interface.bridge.mark_absent(source);
    }
    // Of these `ip` tells not all that there is of ends.
    let may_be_tunnel = matches!(
        kind.value,
        InterfaceKind::Vxlan
            | InterfaceKind::Geneve
            | InterfaceKind::Gre
            | InterfaceKind::Ipip
            | InterfaceKind::Wireguard
            | InterfaceKind::Tun
            | InterfaceKind::Other
    );
    if !may_be_tunnel {
        interface.tunnel.mark_absent(source);
    }
    if kind.value != InterfaceKind::Wifi {
        interface.wireless.mark_absent(source);
    }
}

/// An end of a tunnel; `any`, or none printed, is none.
fn address(
    site: &mut Site,
    name: &str,
    leaf: fn(&mut crate::snapshot::Interface) -> &mut Reading<String>,
    end: Option<At<String>>,
    line: u32,
) {
    match end.filter(|at| at.value != "any") {
        Some(end) => site.put(name, leaf, end),
        None => site.put_absent(name, leaf, line),
    }
}

/// The headline says where an XDP program runs. Versions that print the largest MTU print this too.
fn xdp(site: &mut Site, name: &str, link: &Link) {
    let modes = [("xdp", XdpMode::Native), ("xdpgeneric", XdpMode::Generic), ("xdpoffload", XdpMode::Offload)];
    let mode = modes.into_iter().find(|(word, _)| link.head.has_tagged(word)).map(|(_, mode)| mode);
    match mode {
        Some(mode) => {
            site.put(name, |i| &mut i.xdp.mode, At::new(mode, link.line));
            site.put_some(name, |i| &mut i.xdp.program, link.program.clone());
        }
        None if link.detail("maxmtu").is_some() => {
            site.put_absent(name, |i| &mut i.xdp.mode, link.line);
            site.put_absent(name, |i| &mut i.xdp.program, link.line);
        }
        None => {}
    }
}

/// Sets the addresses; those of an output that does not show all are added to what is known.
fn put_addresses(intake: &mut Intake<'_>, name: &str, mut found: Vec<String>, line: u32, all: bool) {
    if !all && let Some(known) = intake.site.interface(name).addresses.known() {
        let held: BTreeSet<&String> = known.iter().collect();
        let fresh: Vec<String> = found.into_iter().filter(|address| !held.contains(address)).collect();
        found = known.iter().cloned().chain(fresh).collect();
    }
    intake.site.put(name, |i| &mut i.addresses, At::new(found, line));
}

fn put_brief(intake: &mut Intake<'_>, row: At<brief::Brief>) {
    let At { value: row, line } = row;
    if !is_interface_name(&row.name) {
        return;
    }
    let state = OperState::from_word(&row.state.to_ascii_lowercase());
    intake.site.put_some(&row.name, |i| &mut i.oper_state, state.map(|state| At::new(state, line)));
    if let Some((address, flags)) = row.link {
        let flags = Link { flags: Some(flags), ..Link::default() };
        intake.site.put(&row.name, |i| &mut i.address, At::new(address, line));
        intake.site.put_some(&row.name, |i| &mut i.admin_up, flags.flag("UP").map(|up| At::new(up, line)));
        intake.site.put_some(&row.name, |i| &mut i.link.up, carrier(&flags).map(|up| At::new(up, line)));
    }
    if !row.addresses.is_empty() {
        put_addresses(intake, &row.name, row.addresses, line, false);
    }
}

/// True where packets pass. Versions before 2006 print neither of the two words for the carrier.
fn carrier(link: &Link) -> Option<bool> {
    let has = |name: &str| link.flag(name);
    match (has("UP")?, has("NO-CARRIER")?, has("LOWER_UP")?) {
        (false, ..) | (true, true, _) => Some(false),
        (true, false, true) => Some(true),
        (true, false, false) => None,
    }
}

/// The kind, where the output tells it.
fn kind(link: &Link) -> Option<At<InterfaceKind>> {
    if let Some(kind) = &link.kind {
        return Some(kind.clone().map(|kind| InterfaceKind::of_link_kind(&kind)));
    }
    let hardware = link.hardware.as_ref()?;
    let kind = match hardware.value.as_str() {
        "loopback" => InterfaceKind::Loopback,
        "infiniband" => InterfaceKind::Infiniband,
        "ipip" | "tunnel6" | "sit" => InterfaceKind::Ipip,
        "gre" | "gre6" => InterfaceKind::Gre,
        wifi if wifi.starts_with("ieee802.11") => InterfaceKind::Wifi,
        "ether" if is_vlan(link) => InterfaceKind::Vlan,
        // What has no link kind is hardware. Of that, `ip` tells wireless ports from others by nothing but their name.
        "ether" if link.is_detailed() && !link.name.starts_with("wl") => InterfaceKind::Ethernet,
        _ => return None,
    };
    Some(At::new(kind, hardware.line))
}

/// True for a name like `eth0.100@eth0`, which says it without `-d`.
fn is_vlan(link: &Link) -> bool {
    let Some(Lower::Name(lower)) = &link.lower else { return false };
    let number = link.name.strip_prefix(lower.as_str()).and_then(|rest| rest.strip_prefix('.'));
    number.is_some_and(|number| number.parse::<u16>().is_ok())
}

/// What is needed to count the tags of a stack of interfaces.
struct Tags<'l>(BTreeMap<&'l str, &'l Link>);

impl<'l> Tags<'l> {
    fn of(links: &'l [Link]) -> Self {
        Self(links.iter().map(|link| (link.name.as_str(), link)).collect())
    }

    /// Tags of an interface and of those below it that it shares the wire with.
    fn count(&self, link: &Link) -> Option<u32> {
        let mut tags = 0;
        let mut here = link;
        for _ in 0..DEEPEST {
            // A VLAN always names what it stands on.
            let Some(lower) = &here.lower else { return here.hardware.is_some().then_some(tags) };
            match kind(here)?.value {
                InterfaceKind::Vlan => tags += 1,
                InterfaceKind::Macvlan | InterfaceKind::Macvtap | InterfaceKind::Ipvlan | InterfaceKind::Macsec => {}
                _ => return Some(tags),
            }
            let Lower::Name(lower) = lower else { return None };
            here = self.0.get(lower.as_str())?;
        }
        None
    }
}

/// Positions in the stack. Only a list of all interfaces tells who has no members.
fn stack(intake: &mut Intake<'_>, links: &[Link], complete: bool) {
    let mut members: BTreeMap<&str, Vec<&Link>> = BTreeMap::new();
    for link in links.iter().filter(|link| is_interface_name(&link.name)) {
        position(intake, link);
        if let Some(master) = link.head.after("master").filter(|at| is_interface_name(at.value)) {
            members.entry(master.value).or_default().push(link);
        }
    }
    if !complete {
        return;
    }
    for (master, mut below) in members.clone() {
        below.sort_by_key(|link| natural(&link.name));
        let names: Vec<String> = below.iter().map(|link| link.name.clone()).collect();
        let line = below.iter().map(|link| link.line).min().unwrap_or(0);
        intake.site.put(master, |i| &mut i.stack.members, At::new(names, line));
        // The members tell what they are members of.
        let told = below.iter().find_map(|link| link.member_of.as_ref());
        if let Some(kind) = told.filter(|_| !links.iter().any(|link| link.name == master && link.kind.is_some())) {
            let kind = kind.clone().map(|kind| InterfaceKind::of_link_kind(&kind));
            intake.site.put(master, |i| &mut i.kind, kind);
        }
    }
    for link in links.iter().filter(|link| !members.contains_key(link.name.as_str()) && !link.name.is_empty()) {
        let Some(kind) = kind(link) else { continue };
        let gathers =
            [InterfaceKind::Bridge, InterfaceKind::Bond, InterfaceKind::Team, InterfaceKind::Vrf].contains(&kind.value);
        if gathers {
            intake.site.put(&link.name, |i| &mut i.stack.members, At::new(Vec::new(), link.line));
        } else {
            intake.site.put_absent(&link.name, |i| &mut i.stack.members, link.line);
        }
    }
    for link in links.iter().filter(|link| kind(link).is_some_and(|kind| kind.value == InterfaceKind::Bond)) {
        bond(intake, link, members.get(link.name.as_str()).map_or(&[][..], Vec::as_slice));
    }
}

/// What a headline says of the interfaces above and below. They are printed before the state, so a headline that was
/// cut off after it is whole in this.
fn position(intake: &mut Intake<'_>, link: &Link) {
    let site = &mut *intake.site;
    let line = link.line;
    let master = link.head.after("master");
    let whole = link.head.has("state") || link.head.has("qlen") || link.head.has("group");
    match master {
        Some(master) => site.put(&link.name, |i| &mut i.stack.master, At::new(master.value.to_owned(), line)),
        None if whole => site.put_absent(&link.name, |i| &mut i.stack.master, line),
        None => {}
    }
    if !whole {
        return;
    }
    let kind = kind(link).map(|kind| kind.value);
    let paired = matches!(kind, Some(InterfaceKind::Veth | InterfaceKind::Netkit));
    let tunnel = link.options.after("dev").filter(|_| kind == Some(InterfaceKind::Vxlan));
    match &link.lower {
        Some(Lower::Name(lower)) if paired => {
            site.put(&link.name, |i| &mut i.stack.peer, At::new(lower.clone(), line));
            site.put_absent(&link.name, |i| &mut i.stack.parent, line);
        }
        Some(Lower::Elsewhere(_)) if paired => {
            site.put_absent(&link.name, |i| &mut i.stack.peer, line);
            site.put_absent(&link.name, |i| &mut i.stack.parent, line);
        }
        // Without -d a pair looks like a VLAN: what stands behind the @ may be either.
        Some(Lower::Name(lower)) if kind.is_some() => {
            site.put(&link.name, |i| &mut i.stack.parent, At::new(lower.clone(), line));
            site.put_absent(&link.name, |i| &mut i.stack.peer, line);
        }
        Some(Lower::Name(_) | Lower::Elsewhere(_)) => {}
        Some(Lower::None) | None => {
            match tunnel {
                Some(lower) => {
                    let lower = lower.map(str::to_owned);
                    site.put(&link.name, |i| &mut i.stack.parent, lower);
                }
                // The lower link of a VXLAN tunnel is printed with -d only.
                None if link.is_detailed() || kind.is_some_and(|kind| kind != InterfaceKind::Vxlan) => {
                    site.put_absent(&link.name, |i| &mut i.stack.parent, line);
                }
                None => {}
            }
            site.put_absent(&link.name, |i| &mut i.stack.peer, line);
        }
    }
}

/// A bond as `ip -d link` shows it.
fn bond(intake: &mut Intake<'_>, link: &Link, below: &[&Link]) {
    let name = &link.name;
    let text = |key: &str| link.options.after(key).map(|at| at.map(str::to_owned));
    let site = &mut *intake.site;
    site.put_some(name, |i| &mut i.bond.mode, text("mode"));
    site.put_some(name, |i| &mut i.bond.miimon, link.options.number("miimon"));
    site.put_some(name, |i| &mut i.bond.arp_interval, link.options.number("arp_interval"));
    site.put_some(name, |i| &mut i.bond.xmit_hash_policy, text("xmit_hash_policy"));
    site.put_some(name, |i| &mut i.bond.active_member, text("active_slave"));
    site.put_some(name, |i| &mut i.bond.active_aggregator, link.options.number("ad_aggregator"));
    site.put_some(name, |i| &mut i.bond.partner_address, text("ad_partner_mac"));
    let told: Vec<&&Link> = below.iter().filter(|link| link.member_of.is_some()).collect();
    let Some(first) = told.first() else { return };
    let line = first.line;
    let mut members = Vec::with_capacity(told.len());
    for member in told {
        let mut row = BondMember { name: member.name.clone(), ..BondMember::default() };
        if let Some(status) = member.member.after("mii_status") {
            row.mii_up = Reading::Known(status.value == "UP", site.source(status.line));
        }
        if let Some(failures) = member.member.number("link_failure_count") {
            row.link_failures = Reading::Known(failures.value, site.source(failures.line));
        }
        if let Some(aggregator) = member.member.number("ad_aggregator_id") {
            row.aggregator = Reading::Known(aggregator.value, site.source(aggregator.line));
        }
        members.push(row);
    }
    site.put(name, |i| &mut i.bond.members, At::new(members, line));
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;
    use crate::reading::Bytes;
    use crate::snapshot::{Bus, InterfaceKind, OperState, Snapshot};

    fn interface<'s>(snapshot: &'s Snapshot, name: &str) -> &'s crate::snapshot::Interface {
        snapshot.interface(name).unwrap()
    }

    const LINKS: &str = "\
$ ip -s -d link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 minmtu 0 maxmtu 0 numtxqueues 1 gso_max_size 65536
2: eth0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff permaddr 02:00:00:00:00:0a promiscuity 0 minmtu 68 maxmtu 9216
    bond_slave state ACTIVE mii_status UP link_failure_count 3 ad_aggregator_id 1 parentbus pci parentdev 0000:03:00.0
    RX: bytes  packets  errors  dropped overrun mcast
    100        10       1       2       3       4
    TX: bytes  packets  errors  dropped carrier collsns
    200        20       0       0       5       0
3: eth1: <NO-CARRIER,BROADCAST,MULTICAST,SLAVE,UP> mtu 9000 qdisc mq master bond0 state DOWN mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9216
    bond_slave state BACKUP mii_status DOWN link_failure_count 7 ad_aggregator_id 2
4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    bond mode 802.3ad miimon 100 arp_interval 0 xmit_hash_policy layer3+4 ad_aggregator 1 ad_partner_mac 00:00:00:00:00:00
5: bond0.7@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 1 minmtu 0 maxmtu 65535
    vlan protocol 802.1Q id 7 <REORDER_HDR>
    bridge_slave state forwarding priority 32 cost 100
6: br0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    bridge forward_delay 1500 stp_state 0 vlan_filtering 1 nf_call_iptables 0 nf_call_ip6tables 1
7: vx1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 xdpgeneric qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:07 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    vxlan id 42 remote 192.0.2.9 local 192.0.2.1 dev bond0.7 srcport 0 0 dstport 4789
    prog/xdp id 12 name filter tag 00 jited
8: veth1@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:08 brd ff:ff:ff:ff:ff:ff link-netnsid 0 promiscuity 0 minmtu 68 maxmtu 65535
    veth
";

    #[test]
    fn a_detailed_list_tells_the_stack() {
        let (snapshot, understood) = one(LINKS);
        assert_eq!(understood.left, []);
        let eth0 = interface(&snapshot, "eth0");
        assert_eq!((eth0.mtu.known(), eth0.mtu_max.known()), (Some(&Bytes(9000)), Some(&Bytes(9216))));
        assert_eq!((eth0.link.up.known(), eth0.oper_state.known()), (Some(&true), Some(&OperState::Up)));
        assert_eq!(eth0.stack.master.known().unwrap(), "bond0");
        assert!(eth0.stack.parent.is_absent() && eth0.vlan_id.is_absent() && eth0.xdp.mode.is_absent());
        assert_eq!(eth0.permanent_address.known().unwrap(), "02:00:00:00:00:0a");
        assert_eq!(eth0.device.known().unwrap().to_string(), "0000:03:00.0");
        assert_eq!(snapshot.devices[0].interfaces.known().unwrap(), &["eth0"]);
        let block = &eth0.counters[0];
        assert_eq!(block.group, "rtnl_link_stats64");
        assert_eq!(block.get("rx_over_errors").unwrap().total(), Some(3));
        assert_eq!(block.get("rx_missed_errors"), None);
        assert_eq!(interface(&snapshot, "eth1").link.up.known(), Some(&false));
        let lo = interface(&snapshot, "lo");
        assert!(lo.mtu_max.is_absent() && lo.kind.known() == Some(&InterfaceKind::Loopback));
        let bond = &interface(&snapshot, "bond0").bond;
        assert_eq!((bond.mode.known().unwrap().as_str(), bond.miimon.known()), ("802.3ad", Some(&100)));
        assert_eq!(bond.partner_address.known().unwrap(), "00:00:00:00:00:00");
        let members = bond.members.known().unwrap();
        assert_eq!(
            (members.len(), members[1].link_failures.known(), members[1].mii_up.known()),
            (2, Some(&7), Some(&false))
        );
        let vlan = interface(&snapshot, "bond0.7");
        assert_eq!((vlan.vlan_tags.known(), vlan.vlan_id.known()), (Some(&1), Some(&7)));
        assert_eq!(vlan.stack.parent.known().unwrap(), "bond0");
        let bridge = interface(&snapshot, "br0");
        assert_eq!(bridge.stack.members.known().unwrap(), &["bond0.7"]);
        assert_eq!((bridge.bridge.stp.known(), bridge.bridge.netfilter.known()), (Some(&false), Some(&true)));
        let tunnel = interface(&snapshot, "vx1");
        assert_eq!(
            (tunnel.tunnel.vni.known(), tunnel.tunnel.remote.known().unwrap().as_str()),
            (Some(&42), "192.0.2.9")
        );
        assert_eq!(tunnel.stack.parent.known().unwrap(), "bond0.7");
        assert_eq!(tunnel.xdp.program.known().unwrap(), "filter");
        let veth = interface(&snapshot, "veth1");
        assert!(veth.stack.peer.is_absent() && veth.stack.parent.is_absent());
    }

    #[test]
    fn without_details_little_is_said_of_kinds() {
        let (snapshot, _) =
            one("$ ip link\n2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT qlen 1000\n\
            \u{20}   link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n\
            5: eth0.7@eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT qlen 1000\n\
            \u{20}   link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n");
        let eth0 = interface(&snapshot, "eth0");
        assert!(eth0.kind.is_unasked() && eth0.addresses.is_unasked() && eth0.stack.parent.is_unasked());
        assert_eq!((eth0.vlan_tags.known(), eth0.link.up.known()), (Some(&0), Some(&true)));
        assert_eq!(interface(&snapshot, "eth0.7").vlan_tags.known(), Some(&1));
    }

    #[test]
    fn what_has_no_address_has_none() {
        let text = "$ ip -d link\n8: tun0: <POINTOPOINT,NOARP> mtu 1500 qdisc noop state DOWN mode DEFAULT group default qlen 500\n\
            \u{20}   link/none  promiscuity 0  allmulti 0 minmtu 68 maxmtu 65535 \n    tun type tun pi off vnet_hdr off persist on numtxqueues 1\n";
        let (snapshot, _) = one(text);
        let tun = interface(&snapshot, "tun0");
        assert!(
            tun.address.is_absent() && tun.alias.is_absent() && tun.device.is_absent() && tun.xdp.program.is_absent()
        );
        assert!(tun.bond.mode.is_absent() && tun.bridge.stp.is_absent());
        assert!(tun.tunnel.remote.is_absent() && tun.tunnel.program.is_unasked());
        assert_eq!(tun.bus.known(), Some(&Bus::None));
    }

    #[test]
    fn a_bridge_that_does_not_ask_for_netfilter_may_have_it_by_its_namespace() {
        let bridge = "$ ip -d link\n5: br0: <UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000\n\
            \u{20}   link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0\n    bridge stp_state 0 nf_call_iptables 0 nf_call_ip6tables 0\n";
        let with = |parameters: &str| one(&format!("{bridge}{parameters}")).0.interfaces[0].bridge.netfilter.clone();
        let call = |v4: u8, v6: u8| {
            format!(
                "$ sysctl net.bridge\nnet.bridge.bridge-nf-call-ip6tables = {v6}\nnet.bridge.bridge-nf-call-iptables = {v4}\n"
            )
        };
        assert_eq!(with(&call(1, 0)).known(), Some(&true));
        assert_eq!(with(&call(0, 0)).known(), Some(&false));
        assert!(with("").gap().is_some(), "nobody looked");
    }

    #[test]
    fn a_container_is_another_namespace() {
        let text = "$ docker exec web ip addr\n2: eth0@if9: <UP,LOWER_UP> mtu 1400 qdisc noqueue state UP\n\
            \u{20}   link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    inet 172.17.0.2/16 scope global eth0\n\
            $ ip -br addr\neth0             UP             192.0.2.7/24 fe80::1/64\n$ ip -n blue link\n\
            2: eth0: <UP,LOWER_UP> mtu 1300 qdisc noqueue state UP mode DEFAULT\n";
        let (snapshot, _) = one(text);
        let mtus: Vec<(&str, Option<&Bytes>)> =
            snapshot.interfaces.iter().map(|interface| (interface.namespace.as_str(), interface.mtu.known())).collect();
        assert_eq!(mtus, [("", None), ("blue", Some(&Bytes(1300))), ("container web", Some(&Bytes(1400)))]);
        assert_eq!(snapshot.interfaces[0].addresses.known().unwrap(), &["192.0.2.7/24", "fe80::1/64"]);
    }

    #[test]
    fn samples_follow_each_other_and_intent_is_no_state() {
        let text = "$ ip -s link show eth0\n2: eth0: <UP> mtu 1500 state UP\n    RX: bytes packets\n    1 2\n\
            $ ip link set dev eth0 mtu 9000\nRTNETLINK answers: Operation not permitted\n$ ip -s link show eth0\n    RX: bytes packets\n    5 7\n";
        let (snapshot, understood) = one(text);
        let eth0 = interface(&snapshot, "eth0");
        assert_eq!((eth0.mtu.known(), eth0.counters.len(), understood.left.len()), (Some(&Bytes(1500)), 1, 0));
        assert_eq!(eth0.counters[0].get("rx_packets").unwrap().values, [Some(2), Some(7)]);
    }
}
