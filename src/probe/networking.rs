//! The network stack of the host: its parameters, and counters that belong to no interface.

use std::collections::{BTreeMap, BTreeSet};

use super::kernel::{Reply, Request};
use super::plan::{self, Probe};
use super::scan::Scan;
use super::statistics;
use crate::formats::{cpu_list, proc_net, proc_net_stat, proc_rpc, softnet_stat, sysctl};
use crate::reading::{GapKind, Reading, SourceId};
use crate::snapshot::CounterBlock;

/// Parameters worth reading, by their dotted names.
const SYSCTLS: &[&str] = &[
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.rmem_default",
    "net.core.wmem_default",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.somaxconn",
    "net.core.default_qdisc",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.rps_sock_flow_entries",
    "net.core.optmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_mem",
    "net.ipv4.udp_mem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_fack",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.ip_forward",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.conf.default.rp_filter",
    "net.ipv4.conf.all.arp_ignore",
    "net.ipv4.conf.all.arp_announce",
    "net.ipv4.neigh.default.gc_thresh1",
    "net.ipv4.neigh.default.gc_thresh2",
    "net.ipv4.neigh.default.gc_thresh3",
    "net.ipv4.ipfrag_high_thresh",
    "net.ipv6.conf.all.forwarding",
    "net.ipv6.neigh.default.gc_thresh1",
    "net.ipv6.neigh.default.gc_thresh2",
    "net.ipv6.neigh.default.gc_thresh3",
    "net.ipv6.ip6frag_high_thresh",
    "net.bridge.bridge-nf-call-iptables",
    "net.bridge.bridge-nf-call-ip6tables",
    "net.bridge.bridge-nf-call-arptables",
    "net.netfilter.nf_conntrack_max",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_buckets",
];

fn path_of(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

/// Reads the parameters. A name that this kernel does not have is not in the map; one that could not be read neither,
/// but then the snapshot says so.
pub(super) fn parameters(scan: &mut Scan<'_>) {
    let requests: Vec<Request> = SYSCTLS.iter().map(|name| Request::read(path_of(name))).collect();
    let replies = scan.kernel.call(&requests);
    let mut found = BTreeMap::new();
    let mut gap = None;
    for (name, reply) in SYSCTLS.iter().zip(&replies) {
        match reply {
            Reply::Bytes(blob) => {
                found.insert((*name).to_owned(), sysctl::value(&blob.text()));
            }
            Reply::Error { errno: libc::ENOENT, .. } => {}
            refusal => gap = Some(scan.refusal(refusal, &plan::SYSCTL, name)),
        }
    }
    scan.out.host.sysctl = match (found.is_empty(), gap) {
        (true, Some(gap)) => Reading::Unknown(gap),
        (true, None) => Reading::Unknown(scan.gap(GapKind::Failed, "/proc/sys/net is empty", &plan::SYSCTL, "")),
        (false, _) => Reading::Known(found, scan.file("/proc/sys/net")),
    };
}

/// A file of counters. Those of the same group stand behind each other and are added up.
struct Table {
    group: &'static str,
    path: &'static str,
    probe: &'static Probe,
}

const TABLES: [Table; 9] = [
    Table { group: "softnet_stat", path: "/proc/net/softnet_stat", probe: &plan::SOFTNET },
    Table { group: "snmp", path: "/proc/net/snmp", probe: &plan::PROTOCOLS },
    Table { group: "netstat", path: "/proc/net/netstat", probe: &plan::PROTOCOLS },
    Table { group: "snmp6", path: "/proc/net/snmp6", probe: &plan::PROTOCOLS },
    Table { group: "conntrack", path: "/proc/net/stat/nf_conntrack", probe: &plan::CONNTRACK },
    Table { group: "neigh_stat", path: "/proc/net/stat/arp_cache", probe: &plan::NEIGHBOURS },
    Table { group: "neigh_stat", path: "/proc/net/stat/ndisc_cache", probe: &plan::NEIGHBOURS },
    Table { group: "xfrm_stat", path: "/proc/net/xfrm_stat", probe: &plan::PROTOCOLS },
    Table { group: "rpc_nfs", path: "/proc/net/rpc/nfs", probe: &plan::MOUNTS },
];

/// What is kept from the first sample to the second.
#[derive(Default)]
pub(super) struct Tables {
    online: Option<Vec<u32>>,
    /// Of how many tables each group is the sum.
    parts: BTreeMap<&'static str, usize>,
    at: u64,
}

impl Table {
    fn rows(&self, text: &str, online: Option<&[u32]>) -> Option<Vec<(String, u64)>> {
        let rows = match self.group {
            "softnet_stat" => softnet_stat::parse(text, online)?,
            "snmp6" | "xfrm_stat" => proc_net::lines(text),
            "conntrack" | "neigh_stat" => proc_net_stat::parse(text)?,
            "rpc_nfs" => proc_rpc::client(text)?.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            _ => proc_net::pairs(text),
        };
        (!rows.is_empty()).then_some(rows)
    }

    /// A line for each CPU, or as many as there are protocols.
    fn request(&self) -> Request {
        Request::read(self.path).most(1 << 20)
    }
}

/// The first sample of the counters.
pub(super) fn counters(scan: &mut Scan<'_>) -> Tables {
    const ONLINE: &str = "/sys/devices/system/cpu/online";
    let mut requests: Vec<Request> = TABLES.iter().map(Table::request).collect();
    requests.push(Request::read(ONLINE));
    let replies = scan.kernel.call(&requests);
    let online =
        replies.last().and_then(Reply::bytes).and_then(|text| cpu_list::members(&String::from_utf8_lossy(text)));
    let mut tables = Tables { online, parts: BTreeMap::new(), at: scan.kernel.now_ms() };
    let mut found: Vec<(&str, SourceId, Vec<(String, u64)>)> = Vec::new();
    let mut gap = None;
    let mut torn: BTreeSet<&str> = BTreeSet::new();
    for (table, reply) in TABLES.iter().zip(&replies) {
        // A part of the kernel that is not loaded has no such file.
        if matches!(reply, Reply::Error { errno: libc::ENOENT, .. }) && !found.is_empty() {
            continue;
        }
        match scan.parsed(reply, table.path, table.probe, "", |text| table.rows(text, tables.online.as_deref())) {
            Reading::Known(rows, source) => match found.last_mut().filter(|(group, ..)| *group == table.group) {
                Some((.., sums)) => add_up(sums, &rows),
                None => found.push((table.group, source, rows)),
            },
            Reading::Unknown(why) => {
                gap = Some(why);
                torn.insert(table.group);
                continue;
            }
            Reading::Absent(_) => continue,
        }
        *tables.parts.entry(table.group).or_default() += 1;
    }
    // The sum of what is left would seem to grow once the rest is read again.
    found.retain(|(group, ..)| !torn.contains(group));
    let blocks: Vec<CounterBlock> =
        found.into_iter().map(|(group, source, rows)| statistics::block(group, source, rows)).collect();
    scan.out.host.counters = match (blocks.first(), gap) {
        (Some(block), _) => Reading::Known(blocks.clone(), block.source),
        (None, Some(gap)) => Reading::Unknown(gap),
        (None, None) => Reading::default(),
    };
    tables
}

/// The second sample.
pub(super) fn again(scan: &mut Scan<'_>, tables: &Tables) {
    let requests: Vec<Request> = TABLES.iter().map(Table::request).collect();
    let replies = scan.kernel.call(&requests);
    let after = scan.kernel.now_ms().saturating_sub(tables.at);
    let Reading::Known(blocks, _) = &mut scan.out.host.counters else { return };
    for block in blocks {
        let tables_of = TABLES.iter().zip(&replies).filter(|(table, _)| table.group == block.group);
        let rows: Vec<Vec<(String, u64)>> = tables_of
            .filter_map(|(table, reply)| {
                let text = reply.bytes().map(String::from_utf8_lossy)?;
                table.rows(&text, tables.online.as_deref())
            })
            .collect();
        if tables.parts.get(block.group.as_str()) != Some(&rows.len()) {
            continue;
        }
        let sums = rows.into_iter().reduce(|mut sums, rows| {
            add_up(&mut sums, &rows);
            sums
        });
        if let Some(sums) = sums {
            statistics::append(block, after, sums.iter().map(|(name, value)| (name.as_str(), *value)));
        }
    }
}

/// Adds rows of the same names.
fn add_up(sums: &mut [(String, u64)], rows: &[(String, u64)]) {
    for (name, sum) in sums {
        let row = rows.iter().find(|(other, _)| other == name);
        *sum = sum.saturating_add(row.map_or(0, |(_, value)| *value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_a_file_of_its_own() {
        let paths: BTreeSet<String> = SYSCTLS.iter().map(|name| path_of(name)).collect();
        assert_eq!(paths.len(), SYSCTLS.len());
        assert_eq!(path_of("net.ipv4.conf.all.rp_filter"), "/proc/sys/net/ipv4/conf/all/rp_filter");
        assert_eq!(path_of("net.bridge.bridge-nf-call-iptables"), "/proc/sys/net/bridge/bridge-nf-call-iptables");
    }
}
