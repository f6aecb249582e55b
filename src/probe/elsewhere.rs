//! Other network namespaces: which there are, and what the interfaces in them tell. Files of /sys show the namespace of
//! their mount, so most is told by netlink.

use std::collections::BTreeMap;

use super::ethtool::Family;
use super::interfaces::{self, Links};
use super::kernel::{Kernel, Request, zero_ended};
use super::scan::Scan;
use super::statistics::{self, Stamps};
use super::{
    Options, bonds, dcb, devlink, ethtool, filters, hardware, interrupts, links, modules, netlink, offers, plan,
    qdiscs, rdma, session, standard, wireless,
};
use crate::formats::shell::shell_quote;
use crate::reading::{GapKind, Reading};
use crate::snapshot::Interface;

/// Where names of network namespaces are kept.
const NAMES: &str = "/run/netns";
/// Most namespaces that are looked into.
const MOST: usize = 256;

/// A network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name; without one the number of its inode.
    pub name: String,
    /// The file to enter it by.
    pub path: String,
    /// What goes before a command that is to run in it.
    pub enter: String,
}

impl Namespace {
    /// The namespace with this name in /run/netns.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            path: format!("{NAMES}/{name}"),
            enter: format!("ip netns exec {}", shell_quote(name)),
        }
    }
}

/// The number in `net:[4026531840]`.
fn inode(link: &[u8]) -> Option<u64> {
    std::str::from_utf8(link).ok()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// The network namespaces of this host apart from that of `kernel`: those with a name, then those of processes. `enter`
/// makes a kernel that looks into one. A user without privileges sees few of them.
pub fn namespaces(kernel: &mut dyn Kernel, enter: &mut dyn FnMut(&str) -> Box<dyn Kernel>) -> Vec<Namespace> {
    let own = Request::link("/proc/self/ns/net");
    let replies = kernel.call(&[own.clone(), Request::list(NAMES), Request::list("/proc")]);
    let [here, names, processes] = replies.as_slice() else { return Vec::new() };
    let here = here.bytes().and_then(inode);
    let mut seen: Vec<u64> = here.into_iter().collect();
    let mut found = Vec::new();
    for name in names.bytes().into_iter().flat_map(zero_ended) {
        let namespace = Namespace::named(&String::from_utf8_lossy(name));
        let number =
            enter(&namespace.path).call(std::slice::from_ref(&own)).first().and_then(|link| inode(link.bytes()?));
        // One that can't be entered is kept, so that its reason is told.
        if number.is_none_or(|number| !seen.contains(&number)) {
            seen.extend(number);
            found.push(namespace);
        }
    }
    let mut ids: Vec<u32> = processes
        .bytes()
        .into_iter()
        .flat_map(zero_ended)
        .filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok())
        .collect();
    ids.sort_unstable();
    let path = |id: &u32| format!("/proc/{id}/ns/net");
    let requests: Vec<Request> = ids.iter().map(|id| Request::link(path(id))).collect();
    let mut others: BTreeMap<u64, u32> = BTreeMap::new();
    for (id, link) in ids.iter().zip(kernel.call(&requests)) {
        if let Some(number) = link.bytes().and_then(inode).filter(|number| !seen.contains(number)) {
            others.entry(number).or_insert(*id);
        }
    }
    found.extend(others.into_iter().map(|(number, id)| Namespace {
        name: number.to_string(),
        path: path(&id),
        enter: format!("nsenter -t {id} -n"),
    }));
    found.truncate(MOST);
    found
}

/// What one namespace told at the first sample, and what the second needs of it.
pub(super) struct Place {
    pub interfaces: Vec<Interface>,
    found: Links,
    family: Option<Family>,
    stamps: Stamps,
    ports: rdma::Sample,
    interrupts: interrupts::Sample,
}

/// The first sample of the namespace that the scan looks into.
pub(super) fn first(scan: &mut Scan<'_>, name: &str, options: &Options) -> Option<Place> {
    let options = Options { namespace: name.to_owned(), ..options.clone() };
    let requests = [
        interfaces::links_request(),
        netlink::route_dump(links::GET_ADDRESS, &[0; 8]),
        netlink::route_dump(links::GET_ROUTE, &[0; 12]).most(1 << 22),
        ethtool::families_request(),
    ];
    let answers = netlink::ask(scan.kernel, &requests);
    let [listed, addresses, routes, families] = answers.as_slice() else { return None };
    if let (Some(refusal), true) = (&listed.refusal, listed.parts.is_empty()) {
        scan.refusal(refusal, &plan::INSIDE, name);
        scan.remark(format!("nothing could be read in the network namespace {name}"));
        return None;
    }
    let mut stamps = Stamps { links: scan.kernel.now_ms(), ..Stamps::default() };
    let mut found = interfaces::read_links(scan, listed);
    interfaces::find_devices(scan, &mut found);
    interfaces::build(scan, &found, &options);
    interfaces::addresses(scan, addresses);
    hardware::collect(scan, &found);
    stamps.qdiscs = qdiscs::collect(scan);
    stamps.filters = filters::collect(scan);
    session::default_route(scan, routes);
    let family = offers::collect(scan, &found, families);
    stamps.dumps = scan.kernel.now_ms();
    bonds::collect(scan, &found);
    if let Some(family) = &family {
        stamps.standard = standard::collect(scan, &found, family);
    }
    dcb::collect(scan, &found);
    wireless::collect(scan, &found, families);
    devlink::collect(scan, &found, families);
    statistics::drivers(scan, &found, &mut stamps);
    let ports = rdma::collect(scan, &found);
    let interrupts = interrupts::collect(scan, &found);
    let interfaces = std::mem::take(&mut scan.out.interfaces);
    Some(Place { interfaces, found, family, stamps, ports, interrupts })
}

/// The second sample.
pub(super) fn again(scan: &mut Scan<'_>, place: &mut Place) {
    scan.out.interfaces = std::mem::take(&mut place.interfaces);
    interrupts::again(scan, &place.interrupts);
    statistics::second_sample(scan, &place.found, place.family.as_ref(), &place.stamps, &place.ports);
    place.interfaces = std::mem::take(&mut scan.out.interfaces);
}

/// What comes last.
pub(super) fn last(scan: &mut Scan<'_>, place: &mut Place, session_elsewhere: bool) {
    scan.out.interfaces = std::mem::take(&mut place.interfaces);
    modules::collect(scan, &place.found, place.family.as_ref());
    place.interfaces = std::mem::take(&mut scan.out.interfaces);
    let source = scan.inferred("the session's interface is in another network namespace");
    let gap = scan.dead_end(GapKind::NotCollected, "which namespace the session comes through");
    for interface in &mut place.interfaces {
        interface.session.is_session =
            if session_elsewhere { Reading::Known(false, source) } else { Reading::Unknown(gap) };
    }
}
