//! CPUs, interrupts, threads, programs, mounts and tables of hosts that this machine is not, as trees of files laid over
//! the recorded machine.

use super::replay::recording;
use super::trees::{CLOSED, Tree};
use super::*;
use crate::reading::{Bytes, GapKind, Reading};
use crate::snapshot::{CounterBlock, Growth, Host};

/// Files of the tree, and where it has none those of the recording. After the wait the second tree speaks.
struct Over {
    trees: [Tree; 2],
    waited: usize,
    below: Recorded,
}

impl Over {
    fn new(first: Tree, second: Tree) -> Self {
        Self { trees: [first, second], waited: 0, below: Recorded::new(recording()) }
    }
}

impl Kernel for Over {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let answer = |request: &Request| match self.trees[self.waited].answer(&request.ask) {
            missing @ Reply::Error { errno: libc::ENOENT | libc::ENOSYS | libc::ENODATA, .. } => {
                match self.below.call(std::slice::from_ref(request)).remove(0) {
                    // What nobody recorded is not there.
                    Reply::Error { errno: libc::ENOSYS, .. } => missing,
                    reply => reply,
                }
            }
            reply => reply,
        };
        requests.iter().map(answer).collect()
    }

    fn now_ms(&mut self) -> u64 {
        self.below.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.waited = 1;
        self.below.sleep(ms);
    }
}

/// Two samples of the recorded machine with these files.
fn twice(first: &[(&str, &str)], second: &[(&str, &str)]) -> Snapshot {
    let mut trees = [Tree::default(), Tree::default()];
    for (path, text) in first {
        trees[0].file(path, *text);
        trees[1].file(path, *text);
    }
    for (path, text) in second {
        trees[1].file(path, *text);
    }
    let [first, second] = trees;
    let options = Options { interval_ms: 1000, ..Options::default() };
    let snapshot = collect(&mut Over::new(first, second), &options, &mut |_| {});
    assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot);
    snapshot
}

fn grown(block: &Reading<CounterBlock>, name: &str) -> Growth {
    block.known().unwrap().get(name).unwrap().growth()
}

fn group<'h>(host: &'h Host, name: &str) -> &'h CounterBlock {
    host.counters.known().unwrap().iter().find(|block| block.group == name).unwrap()
}

#[test]
fn each_cpu_has_its_times_its_node_its_core_and_its_throttling() {
    const CPUS: &str = "/sys/devices/system/cpu";
    let throttled = |cpu: u32, name: &str| format!("{CPUS}/cpu{cpu}/thermal_throttle/{name}_throttle_count");
    let siblings = |cpu: u32| format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
    let softnet = |first: &str| {
        format!(
            "{first} 00000000 00000000 0 0 0 0 0 0 00000000 00000000 0 00000000\n00000002 00000003 00000000 0 0 0 0 0 0 00000000 00000000 0 00000004\n"
        )
    };
    let owned = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let first = [
        owned("/proc/stat", "cpu  1 1 1 1 1 1 1 1\ncpu0 10 0 10 100 0 0 5 0\ncpu4 1 0 1 1000 0 0 0 7\nintr 9\n"),
        owned("/proc/softirqs", "  CPU0 CPU1 CPU4\nNET_TX: 1 2 3\nNET_RX: 10 20 30\n"),
        owned("/proc/net/softnet_stat", &softnet("00000001")),
        owned("/sys/devices/system/node/node0/cpulist", "0-3\n"),
        owned("/sys/devices/system/node/node1/cpulist", "4-7\n"),
        owned(&throttled(0, "core"), "3\n"),
        owned(&throttled(0, "package"), "9\n"),
        owned(&throttled(4, "core"), "0\n"),
        owned(&throttled(4, "package"), "0\n"),
        owned(&siblings(0), "0,8\n"),
        owned(&siblings(4), "2,4\n"),
    ];
    let second = [
        owned("/proc/stat", "cpu0 10 0 10 110 0 0 95 0\ncpu4 1 0 1 1090 0 0 0 17\n"),
        owned("/proc/softirqs", "  CPU0 CPU1 CPU4\nNET_TX: 1 2 3\nNET_RX: 15 20 30\n"),
        owned("/proc/net/softnet_stat", &softnet("00000011")),
        owned(&throttled(0, "core"), "5\n"),
    ];
    let snapshot = twice(&plain(&first), &plain(&second));
    let host = &snapshot.host;
    let [cpu0, cpu4] = host.cpu_list.known().unwrap().as_slice() else { panic!("{:?}", host.cpu_list) };
    assert_eq!((cpu0.number, cpu4.number), (0, 4));
    assert_eq!((cpu0.node.known(), cpu4.node.known()), (Some(&0), Some(&1)));
    assert_eq!((cpu0.core.known(), cpu4.core.known()), (Some(&0), Some(&2)));
    assert_eq!(grown(&cpu0.times, "softirq"), Growth::By(90));
    assert_eq!(grown(&cpu4.times, "steal"), Growth::By(10));
    assert_eq!(grown(&cpu0.softirqs, "NET_RX"), Growth::By(5));
    assert_eq!(grown(&cpu0.softnet, "processed"), Growth::By(16));
    assert_eq!(cpu4.softnet.known().unwrap().get("dropped").unwrap().total(), Some(3));
    assert_eq!(grown(&cpu0.throttled, "core_throttle_count"), Growth::By(2));
    assert_eq!(host.processors.numa_nodes.known(), Some(&2));
}

#[test]
fn what_holds_cpus_back_is_read_where_the_kernel_has_it() {
    let policy = |number: u32, name: &str| format!("/sys/devices/system/cpu/cpufreq/policy{number}/{name}");
    let state = |number: u32, name: &str| format!("/sys/devices/system/cpu/cpu0/cpuidle/state{number}/{name}");
    let cache = |number: u32, name: &str| format!("/sys/devices/system/cpu/cpu0/cache/index{number}/{name}");
    let supply = |name: &str, file: &str| format!("/sys/class/power_supply/{name}/{file}");
    let mut tree = Tree::default();
    for (number, governor) in [(0, "powersave\n"), (1, "performance\n")] {
        tree.file(&policy(number, "scaling_driver"), "intel_pstate\n");
        tree.file(&policy(number, "scaling_governor"), governor);
    }
    for (number, latency, disabled) in [(0, "0", "0"), (1, "2", "0"), (2, "133", "1")] {
        tree.file(&state(number, "latency"), latency);
        tree.file(&state(number, "disable"), disabled);
    }
    for (number, level, size) in [(0, "1", "32K"), (2, "2", "1024K"), (3, "3", "36608K")] {
        tree.file(&cache(number, "level"), level);
        tree.file(&cache(number, "size"), size);
    }
    for (name, file, text) in [
        ("AC", "type", "Mains"),
        ("AC", "online", "0"),
        ("BAT0", "type", "Battery"),
        ("BAT0", "status", "Discharging"),
        ("mouse", "type", "Battery"),
        ("mouse", "scope", "Device"),
        ("mouse", "status", "Discharging"),
    ] {
        tree.file(&supply(name, file), text);
    }
    tree.file("/proc/cpuinfo", "processor: 0\nvendor_id: GenuineIntel\nmodel name: Xeon\nflags: fpu\n");
    let snapshot = scan(&mut tree.clone());
    let processors = &snapshot.host.processors;
    assert_eq!(processors.vendor.known().unwrap(), "GenuineIntel");
    assert_eq!(processors.frequency_driver.known().unwrap(), "intel_pstate");
    let gap = snapshot.origins.gap_of(processors.governor.gap().unwrap());
    assert_eq!(gap.detail, "CPUs differ: performance, powersave");
    assert!(processors.energy_preference.is_absent());
    assert_eq!(processors.deepest_idle_latency.known(), Some(&2));
    assert_eq!(processors.llc.known(), Some(&Bytes(36_608 * 1024)));
    assert_eq!(processors.on_battery.known(), Some(&true));
    assert_eq!(processors.numa_nodes.known(), Some(&1));
    tree.file(&supply("AC", "online"), "1");
    assert_eq!(scan(&mut tree).host.processors.on_battery.known(), Some(&false));
    // A mouse that runs on its battery is no host that does.
    let mut mouse = Tree::default();
    mouse.file(&supply("mouse", "scope"), "Device");
    mouse.file(&supply("mouse", "type"), "Battery");
    mouse.file(&supply("mouse", "status"), "Discharging");
    let snapshot = scan(&mut mouse);
    assert_eq!(snapshot.host.processors.on_battery.known(), Some(&false));
    let processors = &snapshot.host.processors;
    assert!(processors.frequency_driver.is_absent() && processors.deepest_idle_latency.is_absent());
    assert!(processors.iommu.is_absent());
}

#[test]
fn interrupts_are_found_by_their_function_and_not_by_those_of_others() {
    let interrupts = |input: u32, other: u32| {
        format!(
            "     CPU0 CPU1\n 38: 0 {input} PCI-MSIX-0000:00:03.0 1-edge      virtio2-input.0\n 39: {other} 7 PCI-MSIX-0000:00:03.0 2-edge      \
             virtio2-output.0\n 40: 5 5 PCI-MSIX-0000:00:04.0 0-edge      nvme0q0\n 41: 0 0 PCI-MSIX-0000:00:03.0 3-edge    \n 42: 1 0 IO-APIC 4-edge      \
             eth0-other\n"
        )
    };
    let (first, second) = (interrupts(100, 0), interrupts(150, 3));
    let files = [
        ("/proc/interrupts", first.as_str()),
        ("/sys/bus/pci/devices/0000:00:03.0/msi_irqs/38", "msix"),
        ("/sys/bus/pci/devices/0000:00:03.0/msi_irqs/39", "msix"),
        ("/sys/bus/pci/devices/0000:00:03.0/msi_irqs/41", "msix"),
        ("/proc/irq/38/smp_affinity_list", "0-1\n"),
        ("/proc/irq/38/effective_affinity_list", "1\n"),
        ("/proc/irq/39/smp_affinity_list", "0\n"),
        ("/proc/irq/39/effective_affinity_list", "\n"),
    ];
    let snapshot = twice(&files, &[("/proc/interrupts", second.as_str())]);
    let irqs = snapshot.interface("eth0").unwrap().irqs.known().unwrap();
    let seen: Vec<(&str, &str)> = irqs.iter().map(|irq| (irq.number.as_str(), irq.action.as_str())).collect();
    // 41 has no action: nobody asked for it. 42 only sounds like one of eth0, whose function has a list.
    assert_eq!(seen, [("38", "virtio2-input.0"), ("39", "virtio2-output.0")]);
    assert_eq!(irqs[0].affinity.known().unwrap(), &[0, 1]);
    assert_eq!(irqs[0].effective_affinity.known().unwrap(), &[1]);
    assert_eq!(irqs[1].effective_affinity.known().unwrap(), &[] as &[u32]);
    let input = irqs[0].counts.known().unwrap();
    assert_eq!(input.counters.len(), 1);
    assert_eq!(grown(&irqs[0].counts, "cpu1"), Growth::By(50));
    // CPU 0 had a column before it served any: it began at zero.
    assert_eq!(grown(&irqs[1].counts, "cpu0"), Growth::By(3));
    assert!(snapshot.interface("lo").unwrap().irqs.is_absent());
    assert!(snapshot.interface("ifb0").unwrap().irqs.is_absent());
}

#[test]
fn an_interrupt_that_changes_hands_between_the_samples_has_one_sample() {
    let line = |action: &str, count: u32| format!("CPU0\n 38: {count} PCI-MSIX 1-edge      {action}\n");
    let (first, second) = (line("virtio2-input.0", 5), line("nvme0q1", 9));
    let files = [("/proc/interrupts", first.as_str()), ("/sys/bus/pci/devices/0000:00:03.0/msi_irqs/38", "msix")];
    let snapshot = twice(&files, &[("/proc/interrupts", second.as_str())]);
    let irq = &snapshot.interface("eth0").unwrap().irqs.known().unwrap()[0];
    assert_eq!(grown(&irq.counts, "cpu0"), Growth::OneSample);
    assert!(irq.affinity.gap().is_some());
}

/// A line of /proc/PID/stat.
fn stat(id: u32, name: &str, parent: u32, ticks: u64, started: u64) -> String {
    format!("{id} ({name}) S {parent} 0 0 0 -1 0 0 0 0 0 0 {ticks} 0 0 20 0 1 0 {started} 0\n")
}

/// A host of these processes: number, name, parent, ticks.
fn processes(rows: &[(u32, &str, u32, u64)]) -> Vec<(String, String)> {
    rows.iter()
        .flat_map(|(id, name, parent, ticks)| {
            [
                (format!("/proc/{id}/comm"), format!("{name}\n")),
                (format!("/proc/{id}/stat"), stat(*id, name, *parent, *ticks, u64::from(*id))),
            ]
        })
        .collect()
}

fn plain(rows: &[(String, String)]) -> Vec<(&str, &str)> {
    rows.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

#[test]
fn programs_and_kernel_threads_are_told_by_their_names_and_parents() {
    let rows = |ticks: u64| {
        processes(&[
            (1, "systemd", 0, 0),
            (2, "kthreadd", 0, 0),
            (14, "ksoftirqd/0", 2, 100 + ticks),
            (15, "napi/eth0-1", 2, 5),
            (300, "irq/38-virtio2", 2, 9),
            (301, "irq/77-nvme0q1", 2, 9),
            (400, "systemd-network", 1, 1),
            (401, "irqbalance", 1, 1),
            // A program that calls itself so.
            (500, "ksoftirqd/1", 1, 999),
            (600, "qemu-system-x86", 1, 7),
        ])
    };
    let mut first = rows(0);
    first.extend([
        ("/proc/600/task/600/comm".to_owned(), "qemu-system-x86\n".to_owned()),
        ("/proc/600/task/601/comm".to_owned(), "vhost-600\n".to_owned()),
        ("/proc/600/task/601/stat".to_owned(), stat(601, "vhost-600", 1, 40, 600)),
        ("/proc/interrupts".to_owned(), "CPU0\n 38: 5 PCI-MSIX 1-edge      virtio2-input.0\n".to_owned()),
        ("/sys/bus/pci/devices/0000:00:03.0/msi_irqs/38".to_owned(), "msix".to_owned()),
        ("/etc/default/irqbalance".to_owned(), "# x\nIRQBALANCE_BANNED_CPULIST=\"2-3\"\n".to_owned()),
    ]);
    let snapshot = twice(&plain(&first), &plain(&rows(60)));
    let host = &snapshot.host;
    assert_eq!(host.services.known().unwrap(), &["irqbalance", "qemu", "systemd-networkd"]);
    assert_eq!(host.irqbalance.running.known(), Some(&true));
    assert_eq!(host.irqbalance.banned.known().unwrap(), "2-3");
    let threads = host.threads.known().unwrap();
    let names: Vec<&str> = threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["ksoftirqd/0", "napi/eth0-1", "irq/38-virtio2", "vhost-600"]);
    assert_eq!(grown(&threads[0].ticks, "ticks"), Growth::By(60));
    assert_eq!(grown(&threads[3].ticks, "ticks"), Growth::By(0));
}

#[test]
fn a_thread_with_the_number_of_an_ended_one_is_another() {
    let first = processes(&[(1, "init", 0, 0), (2, "kthreadd", 0, 0), (14, "ksoftirqd/0", 2, 100)]);
    let second = [("/proc/14/stat".to_owned(), stat(14, "ksoftirqd/0", 2, 500, 4711))];
    let snapshot = twice(&plain(&first), &plain(&second));
    assert_eq!(grown(&snapshot.host.threads.known().unwrap()[0].ticks, "ticks"), Growth::OneSample);
}

#[test]
fn what_a_container_or_a_closed_proc_hides_is_unknown() {
    let snapshot = twice(&plain(&processes(&[(1, "nginx", 0, 0), (2, "sh", 1, 0)])), &[]);
    let host = &snapshot.host;
    assert_eq!(host.services.known().unwrap(), &["nginx"]);
    for gap in [host.threads.gap(), host.irqbalance.running.gap()] {
        assert_eq!(snapshot.origins.gap_of(gap.unwrap()).why, GapKind::NotPermitted);
    }
    // hidepid=2 shows a user its own processes only.
    let snapshot = twice(&plain(&processes(&[(4711, "bash", 1, 0)])), &[]);
    let gap = snapshot.origins.gap_of(snapshot.host.services.gap().unwrap());
    assert_eq!((gap.why, gap.command.as_str()), (GapKind::NotPermitted, "ps -e -o pid,comm"));
}

#[test]
fn firmware_tells_the_cloud_and_the_case() {
    let with = |files: &[(&str, &str)]| {
        let mut tree = Tree::default();
        for (name, text) in files {
            tree.file(&format!("/sys/class/dmi/id/{name}"), *text);
        }
        scan(&mut tree)
    };
    let host = with(&[("sys_vendor", "Amazon EC2\n"), ("product_name", "m7i.large\n"), ("chassis_type", "1\n")]).host;
    assert_eq!(host.cloud.known().unwrap(), "aws");
    let snapshot = with(&[("sys_vendor", "Dell Inc.\n"), ("product_name", "PowerEdge\n"), ("chassis_type", "23\n")]);
    assert!(snapshot.host.cloud.is_absent());
    assert_eq!(snapshot.host.chassis.known().unwrap(), "server");
    let snapshot = with(&[("sys_vendor", "QEMU\n"), ("chassis_type", "1\n")]);
    assert_eq!(snapshot.origins.gap_of(snapshot.host.chassis.gap().unwrap()).why, GapKind::DriverUnknown);
    let snapshot = with(&[]);
    assert_eq!(snapshot.origins.gap_of(snapshot.host.cloud.gap().unwrap()).command, "sudo dmidecode -t system");
    let mut board = Tree::default();
    board.file("/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0");
    assert!(scan(&mut board).host.cloud.is_absent());
}

#[test]
fn tables_of_connections_and_neighbours_are_summed_over_cpus_and_families() {
    let arp = |fulls: &str| format!("entries table_fulls\n00000002 {fulls}\n00000002 00000001\n");
    let (two, none, seven) = (arp("00000002"), arp("00000000"), arp("00000007"));
    let first = [
        (
            "/proc/net/stat/nf_conntrack",
            "entries drop insert_failed\n00000005 00000001 0000000a\n00000005 00000002 00000000\n",
        ),
        ("/proc/net/stat/arp_cache", two.as_str()),
        ("/proc/net/stat/ndisc_cache", none.as_str()),
        ("/proc/net/xfrm_stat", "XfrmInError             \t0\nXfrmInNoStates          \t7\n"),
        ("/proc/net/rpc/nfs", "net 0 0 0 0\nrpc 5000 9 5009\n"),
        ("/proc/net/sockstat", "sockets: used 34\nTCP: inuse 1 orphan 2 tw 3 alloc 4 mem 170\n"),
        ("/proc/net/sockstat6", "TCP6: inuse 5\n"),
        ("/proc/sys/net/netfilter/nf_conntrack_count", "17\n"),
        ("/proc/sys/net/netfilter/nf_conntrack_max", "262144\n"),
    ];
    let snapshot = twice(&first, &[("/proc/net/stat/arp_cache", seven.as_str())]);
    let host = &snapshot.host;
    assert_eq!(group(host, "conntrack").get("drop").unwrap().total(), Some(3));
    assert!(group(host, "conntrack").get("entries").is_none());
    let fulls = group(host, "neigh_stat").get("table_fulls").unwrap();
    // 2 and 1 of one family, 0 and 1 of the other.
    assert_eq!((fulls.values[0], fulls.growth()), (Some(4), Growth::By(5)));
    assert_eq!(group(host, "xfrm_stat").get("XfrmInNoStates").unwrap().total(), Some(7));
    assert_eq!(group(host, "rpc_nfs").get("retrans").unwrap().total(), Some(9));
    let sockets = host.sockstat.known().unwrap();
    assert_eq!((sockets["TCP.orphan"], sockets["TCP.mem"], sockets["TCP6.inuse"]), (2, 170, 5));
    assert_eq!((host.conntrack.count.known(), host.conntrack.max.known()), (Some(&17), Some(&262_144)));
    // A kernel that does not track connections has no such files.
    let bare = scan(&mut Tree::default()).host;
    assert!(bare.conntrack.count.is_absent() && bare.conntrack.buckets.is_absent());
}

#[test]
fn nfs_mounts_come_with_the_address_of_their_server() {
    let stats = "device nas:/vol mounted on /mnt with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2,rsize=1048576,wsize=524288,proto=tcp,nconnect=4\n\
                 \tper-op statistics\n\t READ: 100 101 0 0 0 0 0 0 0\n";
    let mounts = "nas:/vol /mnt nfs4 rw,addr=192.0.2.9 0 0\n";
    let snapshot = twice(&[("/proc/self/mountstats", stats), ("/proc/self/mounts", mounts)], &[]);
    let [mount] = snapshot.host.nfs.known().unwrap().as_slice() else { panic!("{:?}", snapshot.host.nfs) };
    assert_eq!((mount.path.as_str(), mount.server.known().unwrap().as_str()), ("/mnt", "192.0.2.9"));
    assert_eq!((mount.nconnect.known(), mount.wsize.known()), (Some(&4), Some(&Bytes(524_288))));
    assert_eq!((mount.operations.known(), mount.retransmissions.known()), (Some(&100), Some(&1)));
    let none = twice(&[("/proc/self/mountstats", "device proc mounted on /proc with fstype proc\n")], &[]);
    assert!(none.host.nfs.known().unwrap().is_empty());
}

#[test]
fn a_limited_group_is_seen_being_held_back() {
    let stat = |periods: u32, throttled: u32| {
        format!("usage_usec 1\nnr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec 0\n")
    };
    let mut files = processes(&[(1, "init", 0, 0), (2, "kthreadd", 0, 0), (77, "nginx", 1, 0)]);
    files.extend([
        ("/proc/self/cgroup".to_owned(), "0::/user.slice\n".to_owned()),
        ("/proc/77/cgroup".to_owned(), "0::/system.slice/nginx.service\n".to_owned()),
        ("/sys/fs/cgroup/user.slice/cpu.stat".to_owned(), stat(0, 0)),
        ("/sys/fs/cgroup/system.slice/nginx.service/cpu.stat".to_owned(), stat(100, 20)),
    ]);
    let second = [("/sys/fs/cgroup/system.slice/nginx.service/cpu.stat".to_owned(), stat(130, 45))];
    let snapshot = twice(&plain(&files), &plain(&second));
    let block = group(&snapshot.host, "cgroup_cpu");
    assert_eq!(block.get("nr_throttled").unwrap().growth(), Growth::By(25));
    assert_eq!(block.get("/system.slice/nginx.service nr_periods").unwrap().growth(), Growth::By(30));
    assert!(block.get("/user.slice nr_periods").is_none());
}

#[test]
fn connections_are_not_asked_for_where_that_would_load_a_module() {
    let modules = [("/proc/modules", "virtio_net 1 0 - Live 0x0\n"), ("/proc/sys/kernel/osrelease", "6.1.0\n")];
    let detail = |files: &[(&str, &str)]| {
        let snapshot = twice(files, &[]);
        let gap = snapshot.host.flows.gap().map(|gap| snapshot.origins.gap_of(gap).clone());
        let gap = gap.unwrap();
        (gap.detail.contains("load tcp_diag"), gap.command)
    };
    assert_eq!(detail(&modules), (true, "ss -tinm".to_owned()));
    // The recording does not hold the answer, but now it is asked.
    let loaded = [("/sys/module/tcp_diag/refcnt", "0\n"), ("/sys/module/inet_diag/refcnt", "1\n")];
    assert!(!detail(&[&modules[..], &loaded].concat()).0);
    let built_in =
        [("/lib/modules/6.1.0/modules.builtin", "kernel/net/ipv4/inet_diag.ko\nkernel/net/ipv4/tcp_diag.ko\n")];
    assert!(!detail(&[&modules[..], &built_in].concat()).0);
    let only_one = [("/lib/modules/6.1.0/modules.builtin", "kernel/net/ipv4/inet_diag.ko\n")];
    assert!(detail(&[&modules[..], &only_one].concat()).0);
    let locked = [("/proc/sys/kernel/modules_disabled", "1\n")];
    assert!(!detail(&[&modules[..], &locked].concat()).0);
    // A kernel without modules has no list of them. Where /proc is not that of the kernel, nothing can be told.
    assert!(!detail(&modules[1..]).0);
}

#[test]
fn a_closed_file_names_the_command() {
    let mut tree = Tree::default();
    tree.file("/proc/interrupts", CLOSED);
    let snapshot = collect(&mut Over::new(tree.clone(), tree), &Options::default(), &mut |_| {});
    let gap = snapshot.origins.gap_of(snapshot.interface("eth0").unwrap().irqs.gap().unwrap());
    assert_eq!((gap.why, gap.command.as_str()), (GapKind::NotPermitted, "sudo cat /proc/interrupts"));
    assert_eq!(snapshot.sample.needs_root, ["interrupts: sudo cat /proc/interrupts"]);
}

/// Files that all parts of a collection of the host look for.
fn everything() -> Tree {
    let mut tree = Tree::default();
    let mut files = processes(&[
        (1, "systemd", 0, 0),
        (2, "kthreadd", 0, 0),
        (14, "ksoftirqd/0", 2, 100),
        (50, "tuned", 1, 1),
        (51, "irqbalance", 1, 1),
    ]);
    for (path, text) in [
        ("/proc/stat", "cpu0 10 0 10 100 0 0 5 0\ncpu1 1 0 1 1000 0 0 0 7\n"),
        ("/proc/softirqs", "  CPU0 CPU1\nNET_TX: 1 2\nNET_RX: 10 20\n"),
        ("/proc/interrupts", "CPU0 CPU1\n 38: 0 9 PCI-MSIX-0000:00:03.0 1-edge      virtio2-input.0\n"),
        ("/proc/irq/38/smp_affinity_list", "0-1\n"),
        ("/proc/net/stat/arp_cache", "entries table_fulls\n00000002 00000001\n"),
        ("/proc/net/stat/ndisc_cache", "entries table_fulls\n00000002 00000002\n"),
        ("/proc/net/sockstat", "TCP: inuse 1 orphan 2 tw 3 alloc 4 mem 170\n"),
        (
            "/proc/self/mountstats",
            "device nas:/vol mounted on /mnt with fstype nfs4 statvers=1.1\n\topts:\tvers=4.2,proto=tcp\n",
        ),
        ("/proc/self/mounts", "nas:/vol /mnt nfs4 rw,addr=192.0.2.9 0 0\n"),
        ("/sys/devices/system/node/node0/cpulist", "0\n"),
        ("/sys/devices/system/node/node1/cpulist", "1\n"),
        ("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"),
        ("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
        ("/sys/devices/system/cpu/cpu0/cache/index2/level", "2"),
        ("/sys/devices/system/cpu/cpu0/cache/index2/size", "1024K"),
        ("/sys/devices/system/cpu/cpu0/cache/index3/level", "3"),
        ("/sys/devices/system/cpu/cpu0/cache/index3/size", "36608K"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0"),
        ("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave"),
        ("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave"),
        ("/sys/class/power_supply/AC/type", "Mains"),
        ("/sys/class/power_supply/AC/online", "1"),
        ("/sys/class/power_supply/BAT0/type", "Battery"),
        ("/sys/class/power_supply/BAT0/status", "Discharging"),
        ("/sys/bus/pci/devices/0000:00:03.0/msi_irqs/38", "msix"),
        ("/sys/class/dmi/id/sys_vendor", "Amazon EC2"),
        ("/run/systemd/system/x", ""),
        ("/etc/default/irqbalance", "IRQBALANCE_BANNED_CPULIST=1\n"),
        ("/etc/tuned/active_profile", "own\n"),
        ("/etc/tuned/own/tuned.conf", "[sysctl]\nnet.core.rmem_max=5\n"),
        ("/etc/sysctl.conf", "net.core.rmem_max=1\n"),
        ("/etc/sysctl.d/50-a.conf", "net.core.rmem_max=2\nnet.core.wmem_max=2\n"),
        ("/usr/lib/sysctl.d/40-b.conf", "net.core.rmem_max=3\nnet.core.wmem_max=3\n"),
        ("/etc/ufw/ufw.conf", "ENABLED=yes\n"),
        ("/etc/ufw/sysctl.conf", "net/core/wmem_max=7\n"),
        ("/etc/netplan/a.yaml", "network:\n  ethernets:\n    eth0:\n      mtu: 1\n"),
        ("/run/netplan/b.yaml", "network:\n  ethernets:\n    eth0:\n      mtu: 2\n"),
        ("/etc/systemd/network/10-a.link", "[Match]\nOriginalName=*\n[Link]\nMTUBytes=1\n"),
        ("/etc/systemd/network/20-b.link", "[Match]\nOriginalName=*\n[Link]\nMTUBytes=2\n"),
        ("/etc/systemd/network/10-a.link.d/x.conf", "[Link]\nMTUBytes=3\n"),
        ("/run/udev/data/n4", "E:ID_NET_LINK_FILE=/etc/systemd/network/10-a.link\n"),
        ("/etc/modprobe.d/a.conf", "options bonding max_bonds=0\n"),
        ("/usr/lib/modprobe.d/b.conf", "options bonding max_bonds=1\n"),
        ("/etc/network/interfaces", "source interfaces.d/*\niface eth0 inet dhcp\n  mtu 9000\n"),
        ("/etc/network/interfaces.d/x", "iface eth0 inet dhcp\n  mtu 1500\n"),
    ] {
        files.push((path.to_owned(), text.to_owned()));
    }
    for (path, text) in files {
        tree.file(&path, text);
    }
    tree.link("/etc/sysctl.d/99-sysctl.conf", "/etc/sysctl.conf");
    tree
}

#[test]
fn what_is_lost_of_the_host_changes_nothing_else() {
    let options = Options { interval_ms: 100, ..Options::default() };
    let whole = collect(&mut Over::new(everything(), everything()), &options, &mut |_| {});
    let good = replay::leaves(&whole);
    let wins = |path: &str| {
        good.iter().filter(|(name, _)| name.contains(path) && name.rsplit('.').next() == Some("wins")).count()
    };
    assert!(wins("sysctl") >= 5 && wins("link") >= 3 && wins("netplan") == 2, "{good:#?}");
    let mut survivors = 0;
    for seed in 0..300 {
        let mut kernel = Faulty::new(seed, LOSSES, Over::new(everything(), everything()));
        let snapshot = collect(&mut kernel, &options, &mut |_| {});
        for (path, value) in replay::leaves(&snapshot) {
            survivors += 1;
            let of_host = path.starts_with(".host") || path.contains(".irqs");
            // Maps and joined lists may be shorter.
            if !of_host || [".sysctl", ".sockstat", ".log"].iter().any(|end| path.ends_with(end)) {
                continue;
            }
            assert_eq!(Some(&value), good.get(&path), "seed {seed}: {path}");
        }
        for block in snapshot.host.counters.known().into_iter().flatten() {
            let grown = block.counters.iter().filter(|counter| matches!(counter.growth(), Growth::By(1..)));
            // Nothing of the tree grows; the tables of the recording do.
            let own = ["conntrack", "neigh_stat", "xfrm_stat", "cgroup_cpu"].contains(&block.group.as_str());
            assert!(!own || grown.count() == 0, "seed {seed}: {block:?}");
        }
    }
    assert!(survivors > 300 * good.len() / 2, "{survivors} of {}", 300 * good.len());
}
