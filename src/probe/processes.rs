//! Programs that matter to the network, and kernel threads that work for it.

use std::collections::BTreeSet;

use super::kernel::{Kernel, Reply, Request, zero_ended};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::formats::{assignments, pid_stat};
use crate::reading::{GapId, GapKind, Reading};
use crate::snapshot::Thread;

/// Most processes whose names are read.
const MOST_PROCESSES: usize = 32_768;
/// Most threads that are watched.
const MOST_THREADS: usize = 2048;
/// Most virtual machines whose threads are looked at, and most threads of one.
const MOST_MACHINES: usize = 64;
const MOST_OF_MACHINE: usize = 256;
/// Bytes of its name that the kernel keeps of a program.
const KEPT: usize = 15;
/// Name and number of the parent of all kernel threads.
const KTHREADD: (u32, &str) = (2, "kthreadd");

/// Programs that matter to the network: managers and their helpers, switches and routers, name servers, tunnels, storage,
/// virtual machines, containers, measuring tools, power.
const SERVICES: &[&str] = &[
    "NetworkManager",
    "systemd-networkd",
    "systemd-resolved",
    "connmand",
    "dhclient",
    "dhcpcd",
    "netplan",
    "ifplugd",
    "wpa_supplicant",
    "hostapd",
    "iwd",
    "teamd",
    "lldpad",
    "lldpd",
    "irqbalance",
    "tuned",
    "power-profiles-daemon",
    "thermald",
    "firewalld",
    "ovs-vswitchd",
    "ovsdb-server",
    "ovn-controller",
    "vpp_main",
    "dpdk-testpmd",
    "zebra",
    "bgpd",
    "ospfd",
    "bird",
    "keepalived",
    "haproxy",
    "nginx",
    "envoy",
    "traefik",
    "caddy",
    "apache2",
    "httpd",
    "varnishd",
    "squid",
    "named",
    "unbound",
    "dnsmasq",
    "pdns_recursor",
    "coredns",
    "openvpn",
    "charon",
    "tailscaled",
    "cloudflared",
    "zerotier-one",
    "syncthing",
    "rsyslogd",
    "syslog-ng",
    "chronyd",
    "ptp4l",
    "phc2sys",
    "smbd",
    "nmbd",
    "rpc.nfsd",
    "nfsd",
    "rpc.mountd",
    "ganesha.nfsd",
    "iscsid",
    "tgtd",
    "ceph-osd",
    "glusterfsd",
    "minio",
    "rsync",
    "vsftpd",
    "proftpd",
    "libvirtd",
    "virtqemud",
    "pveproxy",
    "pvestatd",
    "xenstored",
    "xl",
    "dockerd",
    "containerd",
    "crio",
    "podman",
    "lxd",
    "incusd",
    "kubelet",
    "kube-proxy",
    "cilium-agent",
    "calico-node",
    "flanneld",
    "k3s",
    "k3s-server",
    "asterisk",
    "freeswitch",
    "rtpengine",
    "suricata",
    "zeek",
    "snort",
    "iperf3",
    "iperf",
    "netserver",
    "synonetd",
    "qnetd",
];
/// Programs that run a virtual machine; kernels since 6.4 keep the threads of vhost below them.
const MACHINES: [&str; 4] = ["qemu-", "kvm", "cloud-hyperviso", "firecracker"];

/// A process by its number and its name.
struct Named {
    id: u32,
    name: String,
}

/// A thread that is watched.
struct Watched {
    /// Where its figures are.
    path: String,
    started: u64,
}

/// What is kept for the second sample: a thread for each row of the list.
#[derive(Default)]
pub(super) struct Sample {
    watched: Vec<Watched>,
    at: u64,
}

/// Processes whose name matters, for what else is asked of them.
#[derive(Default)]
pub(super) struct Services {
    /// Their numbers.
    pub ids: Vec<u32>,
}

/// Reads what runs.
pub(super) fn collect(scan: &mut Scan<'_>) -> (Services, Sample) {
    let (named, untold) = match named(scan) {
        Ok(found) => found,
        Err(gap) => {
            let host = &mut scan.out.host;
            host.services = Reading::Unknown(gap);
            host.threads = Reading::Unknown(gap);
            host.irqbalance.running = Reading::Unknown(gap);
            return Default::default();
        }
    };
    banned(scan);
    let services = services(scan, &named, untold);
    let sees_kernel = named.iter().any(|one| (one.id, one.name.as_str()) == KTHREADD);
    if !sees_kernel {
        let gap = scan.dead_end(GapKind::NotPermitted, "kernel threads are not to be seen from this PID namespace");
        scan.out.host.threads = Reading::Unknown(gap);
        // What serves the whole host runs outside.
        let outside =
            scan.dead_end(GapKind::NotPermitted, "the host's programs are not to be seen from this PID namespace");
        if scan.out.host.irqbalance.running.known() == Some(&false) {
            scan.out.host.irqbalance.running = Reading::Unknown(outside);
        }
        return (services, Sample::default());
    }
    let sample = threads(scan, &named);
    (services, sample)
}

/// All processes with their names; one that ends meanwhile is left out. With them the reason why others do not tell theirs.
fn named(scan: &mut Scan<'_>) -> Result<(Vec<Named>, Option<GapId>), GapId> {
    let [list] = scan.batch(&[Request::list("/proc")]);
    let Some(names) = list.bytes() else { return Err(scan.refusal(&list, &plan::PROCESSES, "")) };
    let ids: Vec<u32> = zero_ended(names).filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok()).collect();
    // Where /proc hides the processes of others, that of init is not there.
    if !ids.contains(&1) {
        return Err(scan.gap(GapKind::NotPermitted, "/proc hides the processes of others", &plan::PROCESSES, ""));
    }
    if ids.len() > MOST_PROCESSES {
        let detail = format!("{} processes are too many to look at", ids.len());
        return Err(scan.gap(GapKind::NotCollected, detail, &plan::PROCESSES, ""));
    }
    let replies = names_of(scan.kernel, ids.iter().map(|id| format!("/proc/{id}")));
    let refused =
        |reply: &&Reply| !matches!(reply, Reply::Bytes(_) | Reply::Error { errno: libc::ENOENT | libc::ESRCH, .. });
    let untold = replies.iter().find(refused).map(|reply| scan.refusal(reply, &plan::PROCESSES, ""));
    let named = ids.into_iter().zip(&replies).filter_map(|(id, reply)| Some(Named { id, name: name(reply)? }));
    Ok((named.collect(), untold))
}

/// Asks for the names of processes or threads by their directories.
fn names_of(kernel: &mut dyn Kernel, directories: impl Iterator<Item = String>) -> Vec<Reply> {
    let requests: Vec<Request> = directories.map(|path| Request::read(path + "/comm").most(64)).collect();
    kernel.call(&requests)
}

fn name(reply: &Reply) -> Option<String> {
    Some(String::from_utf8_lossy(reply.bytes()?).trim_end_matches('\n').to_owned())
}

/// The full name of a program that matters, by what the kernel keeps of it.
fn service(name: &str) -> Option<&'static str> {
    SERVICES.iter().copied().find(|full| full.get(..KEPT).unwrap_or(full) == name)
}

/// A program that was not found may be one that does not tell its name.
fn services(scan: &mut Scan<'_>, named: &[Named], untold: Option<GapId>) -> Services {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut services = Services::default();
    for one in named {
        if let Some(full) = service(&one.name) {
            found.insert(full);
            services.ids.push(one.id);
        } else if is_machine(&one.name) {
            found.insert("qemu");
        }
    }
    let source = scan.file("/proc");
    let host = &mut scan.out.host;
    let balances = found.contains("irqbalance");
    host.irqbalance.running = match untold.filter(|_| !balances) {
        Some(gap) => Reading::Unknown(gap),
        None => Reading::Known(balances, source),
    };
    host.services = match untold {
        Some(gap) => Reading::Unknown(gap),
        None => Reading::Known(found.into_iter().map(ToOwned::to_owned).collect(), source),
    };
    services
}

fn is_machine(name: &str) -> bool {
    MACHINES.iter().any(|begin| name == *begin || (begin.ends_with('-') && name.starts_with(begin)))
}

/// CPUs that irqbalance may not use, by the files that its unit reads.
fn banned(scan: &mut Scan<'_>) {
    const FILES: [&str; 2] = ["/etc/default/irqbalance", "/etc/sysconfig/irqbalance"];
    const KEYS: [&str; 2] = ["IRQBALANCE_BANNED_CPULIST", "IRQBALANCE_BANNED_CPUS"];
    let replies = scan.batch(&FILES.map(Request::read));
    let there = FILES
        .iter()
        .zip(&replies)
        .find(|(_, reply)| !matches!(reply, Reply::Error { errno: libc::ENOENT | libc::ENOTDIR, .. }));
    let Some((path, reply)) = there else {
        scan.out.host.irqbalance.banned = Reading::Absent(scan.file(FILES[0]));
        return;
    };
    scan.out.host.irqbalance.banned = match scan.text_of(reply, path, &plan::PROCESSES, "") {
        Err(gap) => Reading::Unknown(gap),
        Ok((text, source)) => {
            let rows = assignments::parse(&text);
            let value = KEYS.iter().find_map(|key| assignments::value(&rows, key));
            super::tuning::or_absent(value.map(ToOwned::to_owned), source)
        }
    };
}

/// True for the name of a kernel thread that works for the network. `interrupts` are those of interfaces.
fn is_watched(name: &str, interrupts: &BTreeSet<String>) -> bool {
    let of_interrupt = || {
        let number = name.strip_prefix("irq/")?.split('-').next()?;
        interrupts.contains(number).then_some(())
    };
    ["ksoftirqd/", "vhost-", "napi/"].iter().any(|begin| name.starts_with(begin))
        || name == "nfsd"
        || of_interrupt().is_some()
}

/// The first sample of the threads.
fn threads(scan: &mut Scan<'_>, named: &[Named]) -> Sample {
    let irqs = scan.out.interfaces.iter().filter_map(|interface| interface.irqs.known()).flatten();
    let interrupts: BTreeSet<String> = irqs.map(|irq| irq.number.clone()).collect();
    let mut paths: Vec<String> = named
        .iter()
        .filter(|one| is_watched(&one.name, &interrupts))
        .map(|one| format!("/proc/{}/stat", one.id))
        .collect();
    let machines: Vec<String> = named
        .iter()
        .filter(|one| is_machine(&one.name))
        .take(MOST_MACHINES)
        .map(|one| format!("/proc/{}/task", one.id))
        .collect();
    paths.extend(below(scan.kernel, &machines).into_iter().map(|path| path + "/stat"));
    paths.truncate(MOST_THREADS);
    let stats = stats(scan.kernel, &paths);
    let at = scan.kernel.now_ms();
    let source = scan.file("/proc");
    let mut rows = Vec::new();
    let mut watched = Vec::new();
    for (path, stat) in paths.into_iter().zip(stats) {
        let Some(stat) = stat else { continue };
        // Any program may give itself the name of a kernel thread.
        let of_kernel = stat.parent == KTHREADD.0 || path.contains("/task/");
        if !of_kernel || !is_watched(&stat.name, &interrupts) {
            continue;
        }
        let file = scan.file(&path);
        rows.push(Thread {
            name: stat.name,
            ticks: Reading::Known(statistics::block("ticks", file, [("ticks", stat.ticks)]), file),
            ..Thread::default()
        });
        watched.push(Watched { path, started: stat.started });
    }
    scan.out.host.threads = Reading::Known(rows, source);
    Sample { watched, at }
}

/// Directories of the threads of vhost below these directories.
fn below(kernel: &mut dyn Kernel, directories: &[String]) -> Vec<String> {
    let requests: Vec<Request> = directories.iter().map(|path| Request::list(path.as_str())).collect();
    let replies = kernel.call(&requests);
    let paths: Vec<String> = directories
        .iter()
        .zip(&replies)
        .flat_map(|(path, reply)| {
            let names = reply.bytes().map(zero_ended).into_iter().flatten().take(MOST_OF_MACHINE);
            names.map(move |name| format!("{path}/{}", String::from_utf8_lossy(name)))
        })
        .collect();
    let replies = names_of(kernel, paths.iter().cloned());
    let is_vhost = |reply: &Reply| name(reply).is_some_and(|name| name.starts_with("vhost-"));
    paths.into_iter().zip(replies).filter(|(_, reply)| is_vhost(reply)).map(|(path, _)| path).collect()
}

fn stats(kernel: &mut dyn Kernel, paths: &[String]) -> Vec<Option<pid_stat::PidStat>> {
    let requests: Vec<Request> = paths.iter().map(|path| Request::read(path.as_str())).collect();
    let parse = |reply: Reply| pid_stat::parse(&String::from_utf8_lossy(reply.bytes()?));
    kernel.call(&requests).into_iter().map(parse).collect()
}

/// The second sample of the threads.
pub(super) fn again(scan: &mut Scan<'_>, sample: &Sample) {
    let paths: Vec<String> = sample.watched.iter().map(|one| one.path.clone()).collect();
    if paths.is_empty() {
        return;
    }
    let stats = stats(scan.kernel, &paths);
    let after = scan.kernel.now_ms().saturating_sub(sample.at);
    let Reading::Known(rows, _) = &mut scan.out.host.threads else { return };
    for ((row, watched), stat) in rows.iter_mut().zip(&sample.watched).zip(stats) {
        let Some(stat) = stat.filter(|stat| stat.started == watched.started && stat.name == row.name) else { continue };
        if let Reading::Known(block, _) = &mut row.ticks {
            block.append(after, [("ticks", stat.ticks)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_what_the_kernel_keeps_of_their_names() {
        assert_eq!(service("systemd-network"), Some("systemd-networkd"));
        assert_eq!(service("power-profiles-"), Some("power-profiles-daemon"));
        assert_eq!(service("irqbalance"), Some("irqbalance"));
        assert_eq!((service("irqbalance-ui"), service("systemd-net"), service("")), (None, None, None));
        let kept: BTreeSet<&str> = SERVICES.iter().map(|full| full.get(..KEPT).unwrap_or(full)).collect();
        assert_eq!(kept.len(), SERVICES.len(), "two names are kept alike");
        assert!(is_machine("qemu-system-x86") && is_machine("kvm") && !is_machine("kvmd"));
    }

    #[test]
    fn threads_of_the_network_are_watched_and_others_are_not() {
        let interrupts = ["45".to_owned()].into();
        for name in ["ksoftirqd/3", "vhost-4711", "napi/eth0-8193", "irq/45-eth0-TxRx-0", "nfsd"] {
            assert!(is_watched(name, &interrupts), "{name}");
        }
        for name in ["irq/44-nvme0q1", "irq/455-x", "kworker/0:1", "ksoftirqd", "nfsd4", "irq/45"] {
            assert_eq!(is_watched(name, &interrupts), name == "irq/45", "{name}");
        }
    }
}
