//! What keeps the host busy, at two moments: CPUs, interrupts, threads, control groups, connections.

use std::net::IpAddr;

use super::interfaces::Links;
use super::netlink::Answer;
use super::scan::Scan;
use super::{cgroups, flows, interrupts, processes, processors, sockets};

/// The first sample, and what the second needs of it.
pub(super) struct Activity {
    cpus: processors::Sample,
    interrupts: interrupts::Sample,
    threads: processes::Sample,
    groups: cgroups::Sample,
    flows: flows::Sample,
    again: Option<flows::Sample>,
}

/// Takes the first sample. What is quick comes last, so that our own work is not in it.
pub(super) fn first(scan: &mut Scan<'_>, links: &Links) -> Activity {
    let interrupts = interrupts::collect(scan, links);
    let (services, threads) = processes::collect(scan);
    let flows = flows::first(scan);
    sockets::collect(scan, &flows);
    let groups = cgroups::first(scan, &services.ids);
    let cpus = processors::first(scan);
    Activity { cpus, interrupts, threads, groups, flows, again: None }
}

/// Takes the second sample.
pub(super) fn again(scan: &mut Scan<'_>, activity: &mut Activity) {
    processors::again(scan, &activity.cpus);
    interrupts::again(scan, &activity.interrupts);
    processes::again(scan, &activity.threads);
    cgroups::again(scan, &activity.groups);
    activity.again = flows::again(scan, &activity.flows);
}

/// Puts together what needs all samples.
pub(super) fn finish(
    scan: &mut Scan<'_>,
    links: &Links,
    addresses: &Answer,
    activity: &Activity,
    peer: Option<IpAddr>,
) {
    processors::softnet(scan);
    flows::fill(scan, links, addresses, (&activity.flows, activity.again.as_ref()), peer);
}
