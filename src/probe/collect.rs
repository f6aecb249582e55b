//! The order of a collection: what needs no lock first, drivers last.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::elsewhere::{self, Namespace, Place};
use super::kernel::Kernel;
use super::scan::Scan;
use super::statistics::{self, Stamps};
use super::{
    activity, bonds, configured, dcb, devlink, ethtool, filters, gauges, hardware, host, interfaces, links, log,
    modules, netlink, networking, offers, pci, pci_state, peer, processors, qdiscs, rdma, routing, session, standard,
    wireless,
};
use crate::snapshot::{SampleSource, Snapshot};

/// What to collect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Milliseconds between two samples of the counters; 0 for one sample.
    pub interval_ms: u64,
    /// Names of the interfaces to show; empty for all.
    pub interfaces: BTreeSet<String>,
    /// The other end whose way is looked up, and whose connections come before others.
    pub peer: Option<IpAddr>,
    /// What to call the network namespace that `kernel` looks at; empty for the one of the process.
    pub namespace: String,
}

/// Another network namespace, and a kernel that looks into it.
pub struct Elsewhere<'k> {
    /// Which.
    pub namespace: Namespace,
    /// Who answers.
    pub kernel: &'k mut dyn Kernel,
}

/// Reads the host. Never fails: what could not be read is a gap in the snapshot. `progress` hears what comes next.
pub fn collect(kernel: &mut dyn Kernel, options: &Options, progress: &mut dyn FnMut(&str)) -> Snapshot {
    collect_with(kernel, Vec::new(), options, progress)
}

/// Reads the host, and the interfaces in these other network namespaces.
pub fn collect_with<'k>(
    kernel: &'k mut dyn Kernel,
    mut others: Vec<Elsewhere<'k>>,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Snapshot {
    let mut scan = Scan::new(kernel);
    scan.out.sample.source = SampleSource::Live;
    progress("host");
    host::collect(&mut scan);
    processors::collect(&mut scan);
    networking::parameters(&mut scan);
    gauges::collect(&mut scan);
    progress("PCI");
    let errors_at = scan.kernel.now_ms();
    pci::collect(&mut scan);
    processors::iommu(&mut scan);
    progress("interfaces");
    let requests = [
        interfaces::links_request(),
        netlink::route_dump(links::GET_ADDRESS, &[0; 8]),
        netlink::route_dump(links::GET_ROUTE, &[0; 12]).most(1 << 22),
        ethtool::families_request(),
    ];
    let mut answers = netlink::ask(scan.kernel, &requests[..1]);
    let mut stamps = Stamps { links: scan.kernel.now_ms(), ..Stamps::default() };
    stamps.tables = networking::counters(&mut scan);
    answers.extend(netlink::ask(scan.kernel, &requests[1..]));
    let [link_answer, addresses, routes, families] = answers.as_slice() else { return scan.finish() };
    let mut found = interfaces::read_links(&mut scan, link_answer);
    interfaces::find_devices(&mut scan, &mut found);
    interfaces::build(&mut scan, &found, options);
    let owned: Vec<_> =
        found.devices.iter().filter_map(|device| Some((*device.pci.known()?, device.name.clone()))).collect();
    pci::join_interfaces(&mut scan, &owned);
    interfaces::addresses(&mut scan, addresses);
    hardware::collect(&mut scan, &found);
    stamps.qdiscs = qdiscs::collect(&mut scan);
    stamps.filters = filters::collect(&mut scan);
    session::default_route(&mut scan, routes);
    routing::routes(&mut scan, &found, routes);
    routing::collect(&mut scan);
    if let Some(peer) = options.peer {
        peer::collect(&mut scan, &found, peer);
    }
    session::session(&mut scan, addresses);
    progress("ethtool");
    let family = offers::collect(&mut scan, &found, families);
    stamps.dumps = scan.kernel.now_ms();
    bonds::collect(&mut scan, &found);
    if let Some(family) = &family {
        stamps.standard = standard::collect(&mut scan, &found, family);
    }
    progress("drivers");
    dcb::collect(&mut scan, &found);
    wireless::collect(&mut scan, &found, families);
    devlink::collect(&mut scan, &found, families);
    statistics::drivers(&mut scan, &found, &mut stamps);
    let rdma = rdma::collect(&mut scan, &found);
    let mut places: Vec<Option<Place>> = others
        .iter_mut()
        .map(|other| {
            progress(&other.namespace.name);
            within(&mut scan, other, |scan, name| elsewhere::first(scan, name, options))
        })
        .collect();
    let mut activity = activity::first(&mut scan, &found);
    if options.interval_ms > 0 {
        progress("waiting for the second sample");
        scan.kernel.sleep(options.interval_ms);
        activity::again(&mut scan, &mut activity);
        networking::again(&mut scan, &stamps.tables);
        pci_state::again(&mut scan, errors_at);
        statistics::second_sample(&mut scan, &found, family.as_ref(), &stamps, &rdma);
        let seconds = scan.out.sample.seconds;
        for (other, place) in others.iter_mut().zip(places.iter_mut()) {
            if let Some(place) = place {
                within(&mut scan, other, |scan, _| elsewhere::again(scan, place));
            }
        }
        scan.out.sample.seconds = seconds;
    }
    progress("files");
    configured::collect(&mut scan, &found);
    activity::finish(&mut scan, &found, addresses, &activity, options.peer);
    progress("modules");
    modules::collect(&mut scan, &found, family.as_ref());
    let here = scan.out.interfaces.iter().any(|interface| interface.session.is_session.known() == Some(&true));
    let mut beyond = Vec::new();
    for (other, place) in others.iter_mut().zip(places) {
        if let Some(mut place) = place {
            within(&mut scan, other, |scan, _| elsewhere::last(scan, &mut place, here));
            beyond.append(&mut place.interfaces);
        }
    }
    progress("log");
    log::collect(&mut scan, &found);
    scan.out.interfaces.append(&mut beyond);
    scan.finish()
}

/// Does something with the scan looking into another namespace, and no interface of this one in the way.
fn within<'k, T>(scan: &mut Scan<'k>, other: &mut Elsewhere<'k>, work: impl FnOnce(&mut Scan<'k>, &str) -> T) -> T {
    let own = std::mem::take(&mut scan.out.interfaces);
    std::mem::swap(&mut scan.kernel, &mut other.kernel);
    scan.enter.clone_from(&other.namespace.enter);
    let result = work(scan, &other.namespace.name);
    scan.enter.clear();
    std::mem::swap(&mut scan.kernel, &mut other.kernel);
    scan.out.interfaces = own;
    result
}
