//! `ip link` and `ip addr`: what they say of interfaces.

use std::collections::BTreeMap;

use super::super::{Intake, is_interface_name};
use super::{Asked, asked, complaint, document};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ip::brief;
use crate::formats::ip::json::Document;
use crate::formats::ip::link::{self, Link, Lower};
use crate::reading::{Bytes, Reading};
use crate::snapshot::{BondMember, InterfaceKind, OperState, Word, natural};

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
    site.put_some(&name, |i| &mut i.mtu_min, link.detail("minmtu").and_then(number).map(bytes));
    match link.detail("maxmtu").and_then(number) {
        Some(At { value: 0, line }) => site.put_absent(&name, |i| &mut i.mtu_max, line),
        most => site.put_some(&name, |i| &mut i.mtu_max, most.map(bytes)),
    }
    site.put_some(&name, |i| &mut i.address, link.address.clone());
    let permanent = link.detail("permaddr").map(|at| at.map(str::to_owned));
    site.put_some(&name, |i| &mut i.permanent_address, permanent);
    site.put_some(&name, |i| &mut i.alias, link.alias.clone());
    site.put_some(&name, |i| &mut i.kind, kind(link));
    site.put_some(&name, |i| &mut i.vlan_tags, tags.count(link).map(|tags| At::new(tags, line)));
    if link.detail("parentbus").is_some_and(|bus| bus.value == "pci")
        && let Some(device) = link.detail("parentdev")
        && let Ok(address) = device.value.parse()
    {
        site.put(&name, |i| &mut i.device, At::new(address, device.line));
        site.link_device(&name, address, device.line);
    }
    let addresses: Vec<String> = link.addresses.iter().filter_map(|address| address.text()).collect();
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

/// Sets the addresses; those of an output that does not show all are added to what is known.
fn put_addresses(intake: &mut Intake<'_>, name: &str, mut found: Vec<String>, line: u32, all: bool) {
    if !all && let Some(known) = intake.site.interface(name).addresses.known() {
        let fresh: Vec<String> = found.into_iter().filter(|address| !known.contains(address)).collect();
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

fn number(at: At<&str>) -> Option<At<u64>> {
    Some(At::new(at.value.parse().ok()?, at.line))
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
