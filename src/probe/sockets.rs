//! Sockets that wait: listeners of TCP, and all of UDP.

use super::flows::{Sample, flow};
use super::kernel::{Reply, Request};
use super::netlink::{self, u32_at};
use super::plan;
use super::scan::Scan;
use crate::formats::cursor::{At, Cursor, lines};
use crate::formats::proc_net_udp;
use crate::reading::{Bytes, GapKind, Reading};
use crate::snapshot::{Listener, UdpSocket};

/// Most sockets of each kind.
const MOST: usize = 4096;
/// The most bytes of a dump or a file.
const LIMIT: usize = 1 << 20;

/// Reads both kinds. `flows` says whether the kernel may be asked without loading a module.
pub(super) fn collect(scan: &mut Scan<'_>, flows: &Sample) {
    listeners(scan, flows);
    datagrams(scan);
}

/// The request for listeners of a family, with their memory.
fn request(family: i32) -> Request {
    const LISTEN: u32 = 1 << 10;
    const WANTED: u8 = 1 << 6;
    let mut payload = vec![family as u8, libc::IPPROTO_TCP as u8, WANTED, 0];
    payload.extend(LISTEN.to_ne_bytes());
    payload.resize(56, 0);
    netlink::socket_dump(&payload).most(LIMIT)
}

fn listeners(scan: &mut Scan<'_>, flows: &Sample) {
    if let Some(gap) = flows.gap() {
        scan.out.host.listeners = Reading::Unknown(gap);
        return;
    }
    let answers = netlink::ask(scan.kernel, &[request(libc::AF_INET), request(libc::AF_INET6)]);
    // A kernel without IPv6 has no such sockets.
    if let Some(refusal) = &answers[0].refusal {
        scan.out.host.listeners = Reading::Unknown(scan.refusal(refusal, &plan::LISTENERS, ""));
        return;
    }
    let source = scan.netlink("SOCK_DIAG_BY_FAMILY", "TCP, listening");
    let mut found = Vec::new();
    for part in answers.iter().flat_map(|answer| &answer.parts).take(MOST) {
        let Some(row) = flow(part) else { continue };
        let mut memory = |value: Option<u32>| {
            let value = value.map(|bytes| Bytes(u64::from(bytes)));
            scan.or_unknown(value, source, GapKind::KernelTooOld, "not in the answer of sock_diag")
        };
        let (receive_buffer, send_buffer) = (memory(row.receive_buffer), memory(row.send_buffer));
        let most = scan.or_unknown(u32_at(part, 60), source, GapKind::Malformed, "not in the answer of sock_diag");
        let program =
            Reading::Unknown(scan.gap(GapKind::NotCollected, "not in the answer of sock_diag", &plan::LISTENERS, ""));
        let waiting = Reading::Known(row.receive_queue, source);
        found.push(Listener { local: row.local.to_string(), program, waiting, most, receive_buffer, send_buffer });
    }
    found.sort_by(|a, b| a.local.cmp(&b.local));
    scan.out.host.listeners = Reading::Known(found, source);
}

fn datagrams(scan: &mut Scan<'_>) {
    const FILES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];
    let replies = scan.batch(&FILES.map(|file| Request::read(file).most(LIMIT)));
    let mut found = Vec::new();
    let mut first = None;
    for (file, reply) in FILES.iter().zip(&replies) {
        let Reply::Bytes(blob) = reply else { continue };
        let source = scan.file(*file);
        first.get_or_insert(source);
        let text = blob.text();
        let lines = lines(&text);
        for At { value, .. } in proc_net_udp::parse(&mut Cursor::new(&lines)) {
            let drops = scan.or_unknown(value.drops, source, GapKind::KernelTooOld, "the file has no such column");
            let unread = scan.gap(GapKind::NotCollected, "not in the file", &plan::DATAGRAMS, "");
            found.push(UdpSocket {
                local: value.local,
                program: Reading::Unknown(unread),
                receive_queue: Reading::Known(Bytes(value.waiting), source),
                receive_buffer: Reading::Unknown(unread),
                drops,
            });
        }
    }
    found.truncate(MOST);
    found.sort_by(|a, b| a.local.cmp(&b.local));
    scan.out.host.udp_sockets = match first {
        Some(source) => Reading::Known(found, source),
        None => Reading::Unknown(scan.refusal(&replies[0], &plan::DATAGRAMS, "")),
    };
}
