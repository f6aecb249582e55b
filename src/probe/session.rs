//! Which interface carries the default route and which the user's own login session.

use std::net::IpAddr;

use super::kernel::{Ask, Reply, Request};
use super::links::{self, AddressRow, DefaultRoute};
use super::netlink::Answer;
use super::plan;
use super::scan::Scan;
use crate::formats::proc_status;
use crate::reading::{GapKind, Reading};
use crate::snapshot::Interface;

/// Marks the interfaces by which the default route leaves: IPv4 first, IPv6 where there is none.
pub(super) fn default_route(scan: &mut Scan<'_>, answer: &Answer) {
    let mut routes: Vec<DefaultRoute> = answer.parts.iter().filter_map(|part| links::default_route(part)).collect();
    routes.sort();
    let best = routes.first().cloned();
    if let (None, Some(refusal)) = (&best, &answer.refusal) {
        let gap = scan.refusal(refusal, &plan::ROUTES, "");
        for interface in &mut scan.out.interfaces {
            interface.session.is_default_route = Reading::Unknown(gap);
        }
        return;
    }
    let source = scan.netlink("RTM_GETROUTE", "main table");
    for interface in &mut scan.out.interfaces {
        let leaves = best.as_ref().is_some_and(|best| {
            let same = |route: &&DefaultRoute| route.v6 == best.v6 && route.metric == best.metric;
            let index = interface.index.known();
            routes.iter().filter(same).flat_map(|route| &route.interfaces).any(|hop| Some(hop) == index)
        });
        interface.session.is_default_route = Reading::Known(leaves, source);
    }
}

/// Where the session comes in.
enum Session {
    /// Our end of the connection, the interface of a link-local address, and where it was read.
    Here(IpAddr, Option<String>, String),
    /// No process above us has to do with a login over the network.
    Local,
    /// It could not be found out.
    Hidden(Reply),
}

/// Marks the interface that the session runs over.
pub(super) fn session(scan: &mut Scan<'_>, answer: &Answer) {
    let addresses: Vec<AddressRow> = answer.parts.iter().filter_map(|part| links::address(part)).collect();
    let found = find(scan);
    let (source, indices) = match found {
        Session::Here(address, scope, path) => {
            let named = |interface: &Interface| Some(&interface.name) == scope.as_ref();
            let scope_index = scan.out.interfaces.iter().find(|each| named(each)).and_then(|each| each.index.known());
            let indices: Vec<u32> = addresses
                .iter()
                .filter(|row| row.address == address && scope_index.is_none_or(|index| *index == row.index))
                .map(|row| row.index)
                .collect();
            if indices.is_empty() {
                let gap = match &answer.refusal {
                    Some(refusal) => scan.refusal(refusal, &plan::ADDRESSES, ""),
                    None => {
                        scan.gap(GapKind::Failed, "no interface has the address of the session", &plan::SESSION, "")
                    }
                };
                return mark(scan, gap);
            }
            (scan.file(path), indices)
        }
        Session::Local => (scan.inferred("no SSH_CONNECTION and no sshd above this process"), Vec::new()),
        Session::Hidden(reply) => {
            let gap = scan.refusal(&reply, &plan::SESSION, "");
            return mark(scan, gap);
        }
    };
    for interface in &mut scan.out.interfaces {
        let carries = interface.index.known().is_some_and(|index| indices.contains(index));
        interface.session.is_session = Reading::Known(carries, source);
    }
}

fn mark(scan: &mut Scan<'_>, gap: crate::reading::GapId) {
    for interface in &mut scan.out.interfaces {
        interface.session.is_session = Reading::Unknown(gap);
    }
}

/// SSH_CONNECTION of our environment or, as sudo drops it, of the processes above us.
fn find(scan: &mut Scan<'_>) -> Session {
    let mut process = 0;
    for _ in 0..32 {
        let owner = if process == 0 { "self".to_owned() } else { process.to_string() };
        let [variable, status] = scan.batch(&[
            Request::new(Ask::Variable { process, name: "SSH_CONNECTION".into() }),
            Request::read(format!("/proc/{owner}/status")),
        ]);
        if let Some(bytes) = variable.bytes() {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let ours = text.split_ascii_whitespace().nth(2).unwrap_or_default();
            let (address, scope) = ours.split_once('%').map_or((ours, None), |(address, scope)| (address, Some(scope)));
            return match address.parse::<IpAddr>() {
                Ok(address) => {
                    let path = format!("/proc/{owner}/environ");
                    Session::Here(address.to_canonical(), scope.map(ToOwned::to_owned), path)
                }
                Err(_) => Session::Hidden(variable),
            };
        }
        let Some(text) = status.bytes().map(String::from_utf8_lossy) else { return Session::Hidden(status) };
        let status = proc_status::parse(&text);
        let name = status.name.unwrap_or_default();
        if name == "sshd" || name.starts_with("sshd-") || name == "dropbear" {
            let text = "below sshd, whose connection is not in the environment".to_owned();
            return Session::Hidden(Reply::Error { errno: libc::ENOENT, text });
        }
        match status.parent {
            // The environment of init has nothing to tell.
            None | Some(0 | 1) => break,
            Some(parent) => process = parent,
        }
    }
    // A parent whose environment is closed to us, such as `login`, is no sshd by its name.
    Session::Local
}
