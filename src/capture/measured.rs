//! Measured results beside a capture or a live scan: read, and matched to the interface that they ran over.

use std::net::IpAddr;
use std::path::Path;

use super::{CaptureError, read_text};
use crate::formats::iperf3::{self, Run};
use crate::reading::{BitsPerSecond, Bytes, Reading, Seconds, Source, SourceId};
use crate::snapshot::{Measurement, Snapshot};

/// Reads the results of a file (`-` for standard input) into a snapshot. `interface` names the interface where the user did.
pub fn attach(snapshot: &mut Snapshot, path: &Path, interface: Option<&str>) -> Result<(), CaptureError> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    let runs = iperf3::parse(&text);
    if runs.is_empty() {
        return Err(CaptureError::Unrecognised(format!(
            "{name}: no result was recognised in it; what would be recognised: the complete output of iperf3, as text or JSON (-J), with its lines that end in sender and receiver"
        )));
    }
    let mut all = snapshot.host.measured.known().cloned().unwrap_or_default();
    let mut first = None;
    for run in runs {
        let source =
            snapshot.origins.source(Source::Capture { file: name.clone(), line: run.line, tool: "iperf3".into() });
        first.get_or_insert(source);
        let mut one = measurement(&run, source);
        place(snapshot, &run, interface, &mut one, source);
        all.push(one);
    }
    let source = snapshot.host.measured.source().or(first).unwrap_or(SourceId::ASSUMED);
    snapshot.host.measured = Reading::Known(all, source);
    Ok(())
}

fn measurement(run: &Run, source: SourceId) -> Measurement {
    let text =
        |value: &Option<String>| value.clone().map_or_else(Reading::default, |value| Reading::Known(value, source));
    Measurement {
        tool: "iperf3".into(),
        source: Some(source),
        rate: Reading::Known(BitsPerSecond(run.bits_per_second.round() as u64), source),
        duration: Reading::Known(Seconds(run.seconds), source),
        streams: Reading::Known(run.streams, source),
        retransmits: run.retransmits.map_or_else(Reading::default, |count| Reading::Known(count, source)),
        protocol: Reading::Known(if run.udp { "udp" } else { "tcp" }.into(), source),
        version: run
            .version
            .as_ref()
            .and_then(|version| version.parse().ok())
            .map_or_else(Reading::default, |version| Reading::Known(version, source)),
        mss: run.mss.map_or_else(Reading::default, |size| Reading::Known(Bytes(size), source)),
        window_option: run.window.map_or_else(Reading::default, |size| Reading::Known(Bytes(size), source)),
        local_address: text(&run.local),
        peer_address: text(&run.peer),
        receiver_address: text(&receiver(run)),
        ..Measurement::default()
    }
}

/// The address that the data was sent to; it goes into commands, so nothing else passes for one.
fn receiver(run: &Run) -> Option<String> {
    let address = if run.reverse { &run.local } else { &run.peer };
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
    if let Some(here) = printed_here {
        one.sends = Reading::Known(here != run.reverse, source);
    }
    let by_address = if printed_here == Some(false) { peer } else { local };
    // An address that no interface holds, where all addresses were read, says that this result is of another host.
    let foreign = run.local.is_some() && addresses_read(snapshot)
        || [&run.local, &run.peer].into_iter().flatten().any(is_loopback);
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

fn is_loopback(address: &String) -> bool {
    address == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// True where the addresses of some interface are known; none of a capture without them.
fn addresses_read(snapshot: &Snapshot) -> bool {
    snapshot.interfaces.iter().any(|one| one.addresses.known().is_some())
}

/// The interface that holds an address, or a network in which it lies.
fn holder(snapshot: &Snapshot, address: Option<&str>) -> Option<String> {
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
