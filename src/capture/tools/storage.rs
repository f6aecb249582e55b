//! NFS: the mounts, and what the client asked and asked again.

use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::mountstats::{self, Mount};
use crate::formats::{nfsstat, proc_rpc};
use crate::reading::{Bytes, Reading, SourceId};
use crate::snapshot::NfsMount;

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "nfsstat",
        answers: |command| command.program == "nfsstat",
        begins: |cursor| cursor.peek().is_some_and(|line| nfsstat::begins(line.text)),
        read: counts,
    },
    Tool {
        name: "/proc/net/rpc/nfs",
        answers: |command| command.files().contains(&"/proc/net/rpc/nfs"),
        begins: |_| false,
        read: file,
    },
    Tool {
        name: "mount",
        answers: |command| {
            command.program == "mount"
                && command.arguments.iter().all(|word| word == "-l" || word == "-t" || word.starts_with("nfs"))
                || command
                    .files()
                    .iter()
                    .any(|path| *path == "/etc/mtab" || path.starts_with("/proc/") && path.ends_with("/mounts"))
        },
        begins: |cursor| {
            cursor.peek().and_then(|line| mountstats::listed(line.text)).is_some_and(|mount| is_nfs(&mount))
        },
        read: list,
    },
    Tool {
        name: "mountstats",
        answers: |command| {
            command.files().iter().any(|path| path.starts_with("/proc/") && path.ends_with("/mountstats"))
        },
        begins: |cursor| {
            cursor.peek().is_some_and(|line| line.text.starts_with("device ") && line.text.contains(" with fstype "))
        },
        read: statistics,
    },
];

/// Most mounts of a capture.
const MOST: usize = 1000;

/// Options are kept of NFS alone.
fn is_nfs(mount: &Mount) -> bool {
    mount.options.contains_key("vers") || mount.options.contains_key("addr")
}

fn counts(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    loop {
        if let Some(client) = nfsstat::parse(cursor) {
            if let Some(At { value, line }) = client {
                put_counts(intake, &[("calls", value.calls), ("retrans", value.retrans)], line);
            }
        } else if let Some(At { value, line }) = nfsstat::mount(cursor) {
            put(intake, &value, line);
        } else {
            break;
        }
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        if cursor.peek_at(blank).is_none() {
            break;
        }
        cursor.skip_blank();
    }
}

fn put_counts(intake: &mut Intake<'_>, counts: &[(&str, u64)], line: u32) {
    let rows = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    intake.site.host_counters("rpc_nfs", line, rows, false);
}

/// `net 0 0 0 0`, `rpc 5218 3 5230`, `proc4 ...`.
fn file(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let row = |text: &str| {
        let mut words = text.split_ascii_whitespace();
        let name = words.next()?;
        let known = matches!(name, "net" | "rpc") || name.starts_with("proc");
        (known && words.all(|word| word.parse::<u64>().is_ok())).then(|| proc_rpc::client(text))
    };
    while let Some(At { value, line }) = cursor.take_if(row) {
        if let Some(counts) = value {
            put_counts(intake, &counts, line);
        }
    }
}

fn list(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some(At { value, line }) = cursor.take_if(mountstats::listed) {
        if is_nfs(&value) {
            put(intake, &value, line);
        }
    }
}

fn statistics(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let mut text = String::new();
    let mut line = 0;
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(next) = cursor.peek_at(blank) else { break };
        let heading = next.text.starts_with("device ");
        let below = !text.is_empty() && next.text.starts_with(['\t', ' ']);
        if !heading && !below {
            break;
        }
        // The lines of one mount at a time, so that each row says where it stands.
        if heading {
            put_all(intake, &text, line);
            text.clear();
            line = next.number;
        }
        for _ in 0..=blank {
            cursor.take();
        }
        text.push_str(next.text);
        text.push('\n');
    }
    put_all(intake, &text, line);
}

fn put_all(intake: &mut Intake<'_>, text: &str, line: u32) {
    for mount in mountstats::parse(text) {
        put(intake, &mount, line);
    }
}

/// Adds a mount, or what one output more tells of it.
fn put(intake: &mut Intake<'_>, mount: &Mount, line: u32) {
    if !intake.site.namespace.is_empty() {
        return;
    }
    let source = intake.site.source(line);
    let mut rows = intake.site.snapshot.host.nfs.known().cloned().unwrap_or_default();
    let at = rows.iter().position(|row| row.path == mount.path);
    let fresh = row(mount, source);
    match at {
        Some(at) => rows[at] = joined(fresh, rows[at].clone()),
        None if rows.len() < MOST => rows.push(fresh),
        None => return,
    }
    intake.site.snapshot.host.nfs = Reading::Known(rows, source);
}

fn row(mount: &Mount, source: SourceId) -> NfsMount {
    fn known<T>(value: Option<T>, source: SourceId) -> Reading<T> {
        value.map_or_else(Reading::default, |value| Reading::Known(value, source))
    }
    let text = |name: &str| mount.options.get(name).filter(|value| !value.is_empty()).cloned();
    let bytes = |name: &str| known(mount.number(name).map(Bytes), source);
    // An export of a server that is named by its address.
    let host = || {
        let (host, _) = mount.export.rsplit_once(":/")?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.parse::<std::net::IpAddr>().is_ok().then(|| host.to_owned())
    };
    // Without the option there is one connection; kernels before 5.3 know no other way.
    let connections = mount.number("nconnect").and_then(|count| u32::try_from(count).ok());
    let complete = text("vers").is_some() && text("proto").is_some();
    NfsMount {
        path: mount.path.clone(),
        export: Reading::Known(mount.export.clone(), source),
        server: known(text("addr").or_else(host), source),
        version: known(text("vers"), source),
        transport: known(text("proto"), source),
        nconnect: known(connections.or_else(|| complete.then_some(1)), source),
        rsize: bytes("rsize"),
        wsize: bytes("wsize"),
        operations: known(mount.requests.map(|(count, _)| count), source),
        retransmissions: known(mount.requests.map(|(_, again)| again), source),
        ..NfsMount::default()
    }
}

/// A row with what only an earlier output told.
fn joined(mut fresh: NfsMount, old: NfsMount) -> NfsMount {
    fresh.server.fill(old.server);
    fresh.version.fill(old.version);
    fresh.transport.fill(old.transport);
    fresh.nconnect.fill(old.nconnect);
    fresh.rsize.fill(old.rsize);
    fresh.wsize.fill(old.wsize);
    fresh.operations.fill(old.operations);
    fresh.retransmissions.fill(old.retransmissions);
    fresh
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;
    use crate::snapshot::{Counter, NfsMount, Snapshot};

    fn total(snapshot: &Snapshot, name: &str) -> Vec<Option<u64>> {
        let block = snapshot.host.counters.known().unwrap().iter().find(|block| block.group == "rpc_nfs").unwrap();
        block.get(name).map(|counter: &Counter| counter.values.clone()).unwrap()
    }

    fn told(mount: &NfsMount) -> (&str, Option<&str>, Option<&str>, Option<u32>) {
        (
            mount.path.as_str(),
            mount.server.known().map(String::as_str),
            mount.transport.known().map(String::as_str),
            mount.nconnect.known().copied(),
        )
    }

    #[test]
    fn requests_whoever_prints_them() {
        let text = "$ nfsstat -rc\nClient rpc stats:\ncalls      retrans    authrefrsh\n81204471   412044     81204490\n\n\
            $ nfsstat -m\n/proj from 192.0.2.60:/export/proj\n Flags:\trw,relatime,vers=3,rsize=32768,proto=udp,addr=192.0.2.60\n\n\
            $ cat /proc/net/rpc/nfs\nnet 0 0 0 0\nrpc 81220877 412611 81220896\nproc3 22 1 2\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        assert_eq!(total(&snapshot, "calls"), [Some(81_204_471), Some(81_220_877)]);
        assert_eq!(total(&snapshot, "retrans"), [Some(412_044), Some(412_611)]);
        let [mount] = snapshot.host.nfs.known().unwrap().as_slice() else { panic!("one mount") };
        assert_eq!(told(mount), ("/proj", Some("192.0.2.60"), Some("udp"), Some(1)));
        assert_eq!(mount.rsize.known().unwrap().0, 32_768);
    }

    #[test]
    fn outputs_add_up_to_one_mount() {
        let text = "$ mount | grep nfs\n192.0.2.9:/vol on /mnt type nfs4 (rw,vers=4.2,proto=tcp,nconnect=4,addr=192.0.2.9)\n\
            $ cat /proc/self/mountstats\ndevice proc mounted on /proc with fstype proc\ndevice 192.0.2.9:/vol mounted on /mnt with fstype nfs4 statvers=1.1\n\
            \topts:\trw,vers=4.2,rsize=1048576,proto=tcp,nconnect=4\n\tage:\t1000\n\tper-op statistics\n\t        READ: 90 92 1 100 200 0 1 1 0\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let [mount] = snapshot.host.nfs.known().unwrap().as_slice() else { panic!("one mount") };
        assert_eq!(told(mount), ("/mnt", Some("192.0.2.9"), Some("tcp"), Some(4)));
        assert_eq!((mount.operations.known(), mount.retransmissions.known()), (Some(&90), Some(&2)));
    }

    #[test]
    fn the_kernel_was_asked_for_the_way_to_the_server() {
        let text = "$ cat /proc/mounts\n192.0.2.70:/scratch /scratch nfs4 rw,vers=4.2,proto=tcp,addr=192.0.2.70 0 0\n/dev/sda1 / ext4 rw 0 0\n\
            $ ip route get 192.0.2.70\n192.0.2.70 dev ens2f0 src 192.0.2.17 uid 0\n    cache\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        assert_eq!(snapshot.host.nfs.known().unwrap()[0].interface.known().unwrap(), "ens2f0");
        // Nothing of NFS is no list of none: a filter may have picked the lines.
        assert!(one("$ mount\n/dev/sda1 on / type ext4 (rw)\n").0.host.nfs.is_unasked());
    }
}
