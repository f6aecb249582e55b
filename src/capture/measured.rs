//! Measured results beside a capture or a live scan: read, and matched to the interface that they ran over.

use std::net::IpAddr;
use std::path::Path;

use super::{CaptureError, read_text};
use crate::formats::results::{self, Run, Stand};
use crate::reading::{BitsPerSecond, Bytes, Reading, Seconds, Source, SourceId};
use crate::snapshot::{Measurement, Snapshot};

/// No link is near it, in bit/s: what a damaged text claims above it is no result.
const FASTEST: f64 = 1e14;

/// A test that carried more bytes than this did not come to a stand right at its beginning.
const FLOWED: f64 = 16e6;

/// Reads the results of a file (`-` for standard input) into a snapshot. `interface` names the interface where the user did.
pub fn attach(snapshot: &mut Snapshot, path: &Path, interface: Option<&str>) -> Result<(), CaptureError> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    let runs = results::parse(&text);
    if runs.is_empty() {
        return Err(CaptureError::Unrecognised(format!(
            "{name}: no result was recognised in it; what would be recognised: the output of iperf3 (as text with its lines that end in sender and receiver, or as JSON), of iperf 2, netperf, nuttcp or perftest (ib_write_bw and the like)"
        )));
    }
    let mut all = snapshot.host.measured.known().cloned().unwrap_or_default();
    let mut first = None;
    for run in runs {
        let source =
            snapshot.origins.source(Source::Capture { file: name.clone(), line: run.line, tool: run.tool.into() });
        first.get_or_insert(source);
        let mut one = measurement(snapshot, &run, source);
        place(snapshot, &run, interface, &mut one, source);
        all.push(one);
    }
    let source = snapshot.host.measured.source().or(first).unwrap_or(SourceId::ASSUMED);
    snapshot.host.measured = Reading::Known(all, source);
    Ok(())
}

/// A result of a transcript.
#[derive(Debug)]
pub(super) struct Measured {
    pub run: Run,
    pub source: SourceId,
    /// It ran in a container, whose interface is none of the host's.
    pub in_container: bool,
    /// No buffer size was asked for.
    pub no_window: bool,
}

/// Puts the results of a transcript into its snapshot, once its interfaces and their addresses are known.
pub(super) fn finish(snapshot: &mut Snapshot, all: Vec<Measured>) {
    let Some(first) = all.first().map(|one| one.source) else { return };
    let mut results = Vec::with_capacity(all.len());
    for Measured { run, source, in_container, no_window } in all {
        let mut one = measurement(snapshot, &run, source);
        if no_window {
            one.window_option.fill(Reading::Absent(source));
        }
        if in_container {
            one.sends = run.sent.map_or_else(Reading::default, |sent| Reading::Known(sent, source));
        } else {
            place(snapshot, &run, None, &mut one, source);
            // What is printed in a terminal of this host is told from its side, where no address says otherwise.
            one.sends.fill(run.sent.map_or_else(Reading::default, |sent| Reading::Known(sent, source)));
        }
        results.push(one);
    }
    snapshot.host.measured = Reading::Known(results, first);
}

fn measurement(snapshot: &mut Snapshot, run: &Run, source: SourceId) -> Measurement {
    fn told<T>(value: Option<T>, source: SourceId) -> Reading<T> {
        value.map_or_else(Reading::default, |value| Reading::Known(value, source))
    }
    let rate_source = match run.average_of {
        Some(count) => {
            let place = snapshot.origins.source_of(source).to_string();
            let from =
                format!("the average of the {count} intervals up to {place}: the summary of the test is missing");
            snapshot.origins.source(Source::Inferred { from })
        }
        None => source,
    };
    let (stalled, stalled_window) = match run.stand {
        Some(Stand::Stalled(window)) => (Reading::Known(true, source), Reading::Known(Bytes(window), source)),
        Some(Stand::Flowed) => (Reading::Known(false, source), Reading::Absent(source)),
        // The summary alone shows that much more than the first segments got through.
        None if run.seconds.is_some_and(|seconds| run.bits_per_second * seconds / 8.0 > FLOWED) => {
            (Reading::Known(false, source), Reading::Absent(source))
        }
        None => Default::default(),
    };
    Measurement {
        stalled,
        stalled_window,
        tool: run.tool.into(),
        source: Some(source),
        rate: if run.bits_per_second < FASTEST {
            Reading::Known(BitsPerSecond(run.bits_per_second.round() as u64), rate_source)
        } else {
            Reading::default()
        },
        duration: told(run.seconds.map(Seconds), source),
        streams: Reading::Known(run.streams, source),
        retransmits: told(run.retransmits, source),
        protocol: Reading::Known(protocol(run).into(), source),
        both_ways: Reading::Known(run.both_ways, source),
        rdma_mtu: match &run.rdma {
            Some(rdma) => told(rdma.mtu.map(|mtu| Bytes(u64::from(mtu))), source),
            None => Reading::Absent(source),
        },
        binary_megabytes: if run.rdma.is_some() {
            Reading::Known(run.binary_megabytes, source)
        } else {
            Reading::Absent(source)
        },
        version: told(run.version.as_ref().and_then(|version| version.parse().ok()), source),
        mss: told(run.mss.map(Bytes), source),
        window_option: told(run.window.map(Bytes), source),
        local_address: told(run.local.clone(), source),
        peer_address: told(run.peer.clone(), source),
        receiver_address: told(receiver(run), source),
        ..Measurement::default()
    }
}

fn protocol(run: &Run) -> &'static str {
    match &run.rdma {
        Some(rdma) if rdma.ethernet == Some(false) => "infiniband",
        Some(_) => "rdma",
        None if run.udp => "udp",
        None => "tcp",
    }
}

/// The address that the data was sent to; it goes into commands, so nothing else passes for one.
fn receiver(run: &Run) -> Option<String> {
    let address = if run.sent? { &run.peer } else { &run.local };
    address.clone().filter(|address| address.parse::<IpAddr>().is_ok())
}

/// Finds the interface, and which end this host was.
fn place(snapshot: &mut Snapshot, run: &Run, named: Option<&str>, one: &mut Measurement, source: SourceId) {
    let local = holder(snapshot, run.local.as_deref());
    let peer = holder(snapshot, run.peer.as_deref());
    // The text may have been printed here or at the other end; an address of this host tells.
    let printed_here = match (&local, &peer) {
        (Some(_), None) => Some(true),
        (None, Some(_)) => Some(false),
        _ => None,
    };
    if let Some((here, sent)) = printed_here.zip(run.sent) {
        one.sends = Reading::Known(here == sent, source);
    }
    let by_address = if printed_here == Some(false) { peer } else { local };
    // An address that no interface holds, where all addresses were read, says that this result is of another host.
    let foreign = run.local.is_some() && addresses_read(snapshot)
        || [&run.local, &run.peer].into_iter().flatten().any(is_loopback);
    let by_address = by_address.or_else(|| of_device(snapshot, run));
    one.interface = match (named, by_address) {
        (Some(name), _) => Reading::Known(name.into(), source),
        (None, Some(name)) => Reading::Known(name, source),
        (None, None) if foreign => Reading::default(),
        (None, None) => match only_fast_enough(snapshot, run.bits_per_second) {
            Some(name) => {
                let from = format!("the measured rate: {name} is the only port that is up and fast enough");
                Reading::Known(name, snapshot.origins.source(Source::Inferred { from }))
            }
            None => Reading::default(),
        },
    };
}

/// The interface of the RDMA device that a test names.
fn of_device(snapshot: &Snapshot, run: &Run) -> Option<String> {
    let device = run.rdma.as_ref()?.device.as_ref()?;
    let mine = |one: &&crate::snapshot::Interface| one.rdma.device.known() == Some(device);
    snapshot.interfaces.iter().find(mine).map(|one| one.name.clone())
}

fn is_loopback(address: &String) -> bool {
    address == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// True where the addresses of some interface are known; none of a capture without them.
fn addresses_read(snapshot: &Snapshot) -> bool {
    snapshot.interfaces.iter().any(|one| one.addresses.known().is_some())
}

/// The interface that holds an address, or a network in which it lies.
pub(super) fn holder(snapshot: &Snapshot, address: Option<&str>) -> Option<String> {
    let wanted: IpAddr = address?.split('%').next()?.parse().ok()?;
    let holds = |held: &String| held.split('/').next().and_then(|text| text.parse::<IpAddr>().ok()) == Some(wanted);
    let found =
        snapshot.interfaces.iter().find(|one| one.addresses.known().is_some_and(|all| all.iter().any(holds)))?;
    Some(found.name.clone())
}

/// The one port that is up and whose link is as fast as the result; none where several are.
fn only_fast_enough(snapshot: &Snapshot, bits_per_second: f64) -> Option<String> {
    let fast = snapshot.interfaces.iter().filter(|one| {
        one.device.known().is_some()
            && one.link.up.known() != Some(&false)
            && one.link.speed.known().is_none_or(|speed| speed.0 as f64 >= bits_per_second)
    });
    let names: Vec<&str> = fast.map(|one| one.name.as_str()).collect();
    match names.as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    }
}
