//! Gauges of the protocols: sockets, tracked connections, NFS mounts.

use std::collections::BTreeMap;

use super::kernel::{Reply, Request};
use super::plan;
use super::scan::Scan;
use crate::formats::{mountstats, sockstat};
use crate::reading::{Bytes, Reading, SourceId};
use crate::snapshot::NfsMount;

/// Most NFS mounts.
const MOST_MOUNTS: usize = 1000;

pub(super) fn collect(scan: &mut Scan<'_>) {
    sockets(scan);
    conntrack(scan);
    nfs(scan);
}

fn sockets(scan: &mut Scan<'_>) {
    const FILES: [&str; 2] = ["/proc/net/sockstat", "/proc/net/sockstat6"];
    let replies = scan.batch(&FILES.map(Request::read));
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for text in replies.iter().filter_map(Reply::bytes) {
        for row in String::from_utf8_lossy(text).lines().filter_map(sockstat::row) {
            all.extend(row.figures.into_iter().map(|(name, value)| (format!("{}.{name}", row.protocol), value)));
        }
    }
    scan.out.host.sockstat = if all.is_empty() {
        Reading::Unknown(scan.refusal(&replies[0], &plan::SOCKETS, ""))
    } else {
        Reading::Known(all, scan.file(FILES[0]))
    };
}

/// The kernel has no such parameters while connections are not tracked.
fn conntrack(scan: &mut Scan<'_>) {
    let path = |name: &str| format!("/proc/sys/net/netfilter/nf_conntrack_{name}");
    let names = ["count", "max", "buckets"];
    let replies = scan.batch(&names.map(|name| Request::read(path(name))));
    let mut readings: [Reading<u64>; 3] = Default::default();
    for ((reading, reply), name) in readings.iter_mut().zip(&replies).zip(names) {
        *reading = match reply {
            Reply::Error { errno: libc::ENOENT, .. } => Reading::Absent(scan.file(path(name))),
            _ => scan.parsed(reply, &path(name), &plan::CONNTRACK, "", |text| text.trim().parse().ok()),
        };
    }
    let conntrack = &mut scan.out.host.conntrack;
    [conntrack.count, conntrack.max, conntrack.buckets] = readings;
}

fn nfs(scan: &mut Scan<'_>) {
    const STATS: &str = "/proc/self/mountstats";
    const MOUNTS: &str = "/proc/self/mounts";
    let [reply] = scan.batch(&[Request::read(STATS).most(4 << 20)]);
    let (text, source) = match scan.text_of(&reply, STATS, &plan::MOUNTS, "") {
        Ok(found) => found,
        Err(gap) => {
            scan.out.host.nfs = Reading::Unknown(gap);
            return;
        }
    };
    let mut mounts = mountstats::parse(&text);
    mounts.truncate(MOST_MOUNTS);
    if mounts.is_empty() {
        scan.out.host.nfs = Reading::Known(Vec::new(), source);
        return;
    }
    let [reply] = scan.batch(&[Request::read(MOUNTS).most(4 << 20)]);
    let servers = match &reply {
        Reply::Bytes(blob) => mountstats::servers(&blob.text()),
        refused => {
            scan.refusal(refused, &plan::MOUNTS, "");
            BTreeMap::new()
        }
    };
    let list = scan.file(MOUNTS);
    let mut rows = Vec::new();
    for mount in &mounts {
        let server = servers.get(&mount.path).cloned();
        let server = scan.or_command(server, list, "the mount has no address", &plan::MOUNTS);
        rows.push(NfsMount { server, ..row(scan, mount, source) });
    }
    scan.out.host.nfs = Reading::Known(rows, source);
}

fn row(scan: &mut Scan<'_>, mount: &mountstats::Mount, source: SourceId) -> NfsMount {
    const UNTOLD: &str = "not in mountstats";
    let mut number = |value: Option<u64>| scan.or_command(value, source, UNTOLD, &plan::MOUNTS);
    let (rsize, wsize) = (number(mount.number("rsize")), number(mount.number("wsize")));
    let operations = number(mount.requests.map(|(count, _)| count));
    let retransmissions = number(mount.requests.map(|(_, again)| again));
    let mut word = |name: &str| scan.or_command(mount.options.get(name).cloned(), source, UNTOLD, &plan::MOUNTS);
    let (version, transport) = (word("vers"), word("proto"));
    // Without the option there is one connection; kernels before 5.3 know no other way.
    let connections = mount.number("nconnect").and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
    NfsMount {
        path: mount.path.clone(),
        export: Reading::Known(mount.export.clone(), source),
        server: Reading::default(),
        version,
        transport,
        nconnect: Reading::Known(connections, source),
        rsize: rsize.map(|size| Bytes(*size)),
        wsize: wsize.map(|size| Bytes(*size)),
        operations,
        retransmissions,
        ..NfsMount::default()
    }
}
