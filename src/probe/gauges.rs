//! Gauges of the protocols: sockets, tracked connections, NFS mounts.

use std::collections::BTreeMap;

use super::kernel::{Reply, Request};
use super::plan;
use super::scan::Scan;
use crate::formats::{mountstats, sockstat};
use crate::reading::{Bytes, GapKind, Reading, SourceId};
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
    let gap = scan.gap(GapKind::Failed, "not in the list of mounts", &plan::MOUNTS, "");
    let rows = mounts.iter().map(|mount| NfsMount {
        server: servers.get(&mount.path).map_or(Reading::Unknown(gap), |server| Reading::Known(server.clone(), list)),
        ..row(mount, source, gap)
    });
    scan.out.host.nfs = Reading::Known(rows.collect(), source);
}

fn row(mount: &mountstats::Mount, source: SourceId, gap: crate::reading::GapId) -> NfsMount {
    let known = |value: Option<u64>| value.map_or(Reading::Unknown(gap), |value| Reading::Known(value, source));
    let word = |name: &str| {
        mount.options.get(name).cloned().map_or(Reading::Unknown(gap), |value| Reading::Known(value, source))
    };
    // Without the option there is one connection; kernels before 5.3 know no other way.
    let connections = mount.number("nconnect").and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
    NfsMount {
        path: mount.path.clone(),
        export: Reading::Known(mount.export.clone(), source),
        server: Reading::default(),
        version: word("vers"),
        transport: word("proto"),
        nconnect: Reading::Known(connections, source),
        rsize: known(mount.number("rsize")).map(|size| Bytes(*size)),
        wsize: known(mount.number("wsize")).map(|size| Bytes(*size)),
        operations: known(mount.requests.map(|(count, _)| count)),
        retransmissions: known(mount.requests.map(|(_, again)| again)),
    }
}
