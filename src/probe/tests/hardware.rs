//! Hardware that this machine does not have: files made by hand, and replies of the kernel.

use std::collections::BTreeMap;

use super::trees::{CLOSED, Tree};
use super::*;
use crate::formats::module_memory::{HALF, Place};
use crate::reading::{GapKind, Reading};
use crate::snapshot::{Bus, InterfaceKind};

/// The number of the ethtool family of this kernel.
const FAMILY: u16 = 21;

/// A host of files with one interface, and answers to requests of netlink and ioctl by their bytes.
#[derive(Default)]
struct Host {
    tree: Tree,
    answers: BTreeMap<Vec<u8>, Reply>,
    links: Vec<u8>,
    /// What was asked and had no answer here.
    asked: Vec<String>,
    refusal: Option<i32>,
}

fn nested(fields: &[(u16, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, value) in fields {
        netlink::push(&mut out, *kind, value);
    }
    out
}

fn message(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut message = netlink::message(kind, 0, payload);
    message[6..8].copy_from_slice(&2u16.to_ne_bytes());
    message
}

fn done() -> Vec<u8> {
    message(netlink::DONE, &[0; 4])
}

fn family(name: &str, number: u16, commands: &[u32]) -> Vec<u8> {
    let operations: Vec<Vec<u8>> = commands.iter().map(|command| nested(&[(1, &command.to_ne_bytes())])).collect();
    let operations: Vec<(u16, &[u8])> = operations.iter().map(|one| (1, one.as_slice())).collect();
    let name = format!("{name}\0");
    let fields = [(1, &number.to_ne_bytes()[..]), (2, name.as_bytes()), (6, &nested(&operations))];
    message(ethtool::CONTROL, &[vec![1, 2, 0, 0], nested(&fields)].concat())
}

impl Host {
    /// One interface with this device behind it.
    fn new(name: &str, path: &str, fields: &[(u16, &[u8])]) -> Self {
        let mut host = Self::default();
        let folder = format!("/sys/class/net/{name}");
        host.tree.link(&format!("{folder}/device"), path);
        host.tree.file(&format!("{folder}/uevent"), format!("INTERFACE={name}\nIFINDEX=7\n"));
        host.link(name, fields);
        host
    }

    fn link(&mut self, name: &str, fields: &[(u16, &[u8])]) {
        let mut payload = vec![0; 16];
        (payload[2], payload[4]) = (1, 7);
        payload.extend(nested(&[(3, format!("{name}\0").as_bytes())]));
        payload.extend(nested(fields));
        self.links = message(16, &payload);
    }

    fn has(&mut self, families: &[Vec<u8>]) {
        let bytes = [families.concat(), done()].concat();
        self.on(&ethtool::families_request(), Reply::Bytes(bytes.into()));
    }

    fn on(&mut self, request: &Request, reply: Reply) {
        if let Ask::Netlink { bytes, .. } | Ask::Ioctl { data: bytes, .. } = &request.ask {
            self.answers.insert(bytes.0.clone(), reply);
        }
    }

    /// Half a page of the module's memory.
    fn half(&mut self, place: Place, bytes: &[u8; HALF]) {
        let payload = [vec![31, 1, 0, 0], nested(&[(7, bytes)])].concat();
        self.on(&modules::request(FAMILY, 7, place), Reply::Bytes(message(FAMILY, &payload).into()));
    }
}

impl Kernel for Host {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let mut answer = |request: &Request| match &request.ask {
            Ask::Netlink { bytes, .. } | Ask::Ioctl { data: bytes, .. } => match self.answers.get(&bytes.0) {
                Some(reply) => reply.clone(),
                None if request.ask.to_string() == "RTM_GETLINK" => {
                    Reply::Bytes([self.links.clone(), done()].concat().into())
                }
                None => {
                    self.asked.push(request.ask.to_string());
                    Reply::errno(self.refusal.unwrap_or(libc::EOPNOTSUPP))
                }
            },
            other => self.tree.answer(other),
        };
        requests.iter().map(&mut answer).collect()
    }

    fn now_ms(&mut self) -> u64 {
        0
    }

    fn sleep(&mut self, _: u64) {}
}

const CARD: &str = "/sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0";

fn card() -> Host {
    let mut host = Host::new("eth0", CARD, &[(56, b"0000:01:00.0\0"), (57, b"pci\0")]);
    host.has(&[family("ethtool", FAMILY, &[31]), family("devlink", 22, &[52])]);
    host
}

fn interface(host: &mut Host) -> crate::snapshot::Interface {
    scan(host).interface("eth0").unwrap().clone()
}

#[test]
fn the_cpus_of_queues_come_from_their_files() {
    let mut host = card();
    for (file, text) in [
        ("queues/rx-0/rps_cpus", "0\n"),
        ("queues/rx-1/rps_cpus", "00000001,80000000\n"),
        ("queues/tx-0/xps_cpus", "3\n"),
        ("queues/tx-1/byte_queue_limits/limit", "0\n"),
        ("device/sriov_numvfs", "4\n"),
    ] {
        host.tree.file(&format!("/sys/class/net/eth0/{file}"), text);
    }
    let port = interface(&mut host);
    let queues = port.queues.known().unwrap();
    let names: Vec<_> = queues.iter().map(|queue| (queue.tx, queue.index)).collect();
    assert_eq!(names, [(false, 0), (false, 1), (true, 0), (true, 1)]);
    assert_eq!((queues[0].rps_cpus.known(), queues[1].rps_cpus.known()), (Some(&vec![]), Some(&vec![31, 32])));
    assert_eq!(queues[2].xps_cpus.known(), Some(&vec![0, 1]));
    assert!(queues[3].xps_cpus.is_absent() && queues[2].rps_cpus.is_absent());
    assert_eq!((port.virtual_functions.known(), port.bus.known()), (Some(&4), Some(&Bus::Pci)));
    assert!(port.usb.speed.is_absent());
    host.tree.file("/sys/class/net/eth0/queues/rx-1/rps_cpus", CLOSED);
    let snapshot = scan(&mut host);
    let closed = &snapshot.interface("eth0").unwrap().queues.known().unwrap()[1].rps_cpus;
    let gap = snapshot.origins.gap_of(closed.gap().unwrap());
    assert_eq!(
        (gap.why, gap.command.as_str()),
        (GapKind::NotPermitted, "sudo grep . /sys/class/net/eth0/queues/*/*ps_cpus")
    );
}

#[test]
fn a_usb_adapter_tells_of_its_bus() {
    let path = "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0";
    let mut host = Host::new("eth0", path, &[]);
    for (file, text) in [
        ("idVendor", "0bda\n"),
        ("idProduct", "8156\n"),
        ("speed", "5000\n"),
        ("version", " 3.20\n"),
        ("product", "USB 10/100/1G/2.5G LAN\n"),
    ] {
        host.tree.file(&format!("/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/{file}"), text);
    }
    let port = interface(&mut host);
    assert_eq!((port.bus.known(), port.usb.id.known().unwrap().as_str()), (Some(&Bus::Usb), "0bda:8156"));
    assert_eq!(
        (port.usb.speed.known().unwrap().0, port.usb.version.known().unwrap().as_str()),
        (5_000_000_000, "3.20")
    );
    assert_eq!(port.usb.product.known().unwrap(), "USB 10/100/1G/2.5G LAN");
    assert!(port.device.is_absent(), "the controller is not its own");
    assert!(port.module.present.is_absent() && port.pfc.priorities.is_absent());
    // Nobody asked the adapter for a module.
    assert!(!host.asked.iter().any(|ask| ask.contains("MODULE")), "{:?}", host.asked);
}

#[test]
fn a_function_tells_of_its_errors_and_its_power() {
    let mut host = card();
    let at = "/sys/bus/pci/devices/0000:01:00.0";
    host.tree.link(at, "../../../devices/pci0000:00/0000:00:1c.0/0000:01:00.0");
    for (file, text) in [
        ("uevent", "DRIVER=x\nPCI_CLASS=20000\nPCI_ID=8086:1572\n"),
        ("power_state", "D0\n"),
        ("driver_override", "(null)\n"),
        ("aer_dev_correctable", "RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3\n"),
        ("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 0\n"),
        ("aer_dev_fatal", "TLP 1\nTOTAL_ERR_FATAL 1\n"),
        ("link/l0s_aspm", "0\n"),
        ("link/l1_aspm", "1\n"),
        ("link/l1_2_aspm", "1\n"),
    ] {
        host.tree.file(&format!("{at}/{file}"), text);
    }
    let snapshot = scan(&mut host);
    let [device] = snapshot.devices.as_slice() else { panic!("{:?}", snapshot.devices) };
    assert_eq!(device.power_state.known().unwrap(), "D0");
    assert!(device.driver_override.is_absent());
    assert_eq!(device.pcie.aspm.known().unwrap(), &["l1", "l1.2"]);
    let rows = &device.aer.known().unwrap().counters;
    let rows: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.total())).collect();
    assert_eq!(rows, [("correctable.RxErr", Some(3)), ("correctable.BadTLP", Some(0)), ("fatal.TLP", Some(1))]);
    host.tree.file(&format!("{at}/driver_override"), "vfio-pci\n");
    host.tree.file(&format!("{at}/aer_dev_fatal"), CLOSED);
    let snapshot = scan(&mut host);
    assert_eq!(snapshot.devices[0].driver_override.known().unwrap(), "vfio-pci");
    assert_eq!(snapshot.origins.gap_of(snapshot.devices[0].aer.gap().unwrap()).why, GapKind::NotPermitted);
}

/// An SFP without light.
fn sfp() -> ([u8; HALF], [u8; HALF]) {
    let (mut id, mut live) = ([0; HALF], [0; HALF]);
    (id[0], id[2], id[3], id[92], id[93]) = (3, 7, 0x10, 0x68, 0x30);
    id[20..36].copy_from_slice(b"ACME            ");
    // 78 and 73 degrees; received power: 0 dBm and -20 dBm, then -1 and -18 dBm.
    (live[0], live[4]) = (78, 73);
    for (at, word) in [(32, 10_000u16), (34, 100), (36, 7943), (38, 158), (96, 0x2645), (98, 33_000), (102, 5719)] {
        live[at..at + 2].copy_from_slice(&word.to_be_bytes());
    }
    live[110] = 2;
    (id, live)
}

#[test]
fn a_module_is_read_page_by_page() {
    let mut host = card();
    let (id, live) = sfp();
    host.half(Place::FIRST, &id);
    host.half(Place::DIAGNOSTICS, &live);
    let module = interface(&mut host).module;
    assert_eq!((module.present.known(), module.identifier.known().unwrap().as_str()), (Some(&true), "SFP"));
    assert_eq!(module.compliance.known().unwrap(), &["10g base-sr"]);
    assert_eq!((module.temperature.known().unwrap().0, module.rx_los.known()), (38.27, Some(&true)));
    let lane = &module.lanes.known().unwrap()[0];
    assert_eq!((lane.rx_power.known().unwrap().0, lane.tx_power.known().unwrap().0), (-40.0, -2.43));
    assert_eq!(module.thresholds.rx_power_low_alarm.known().unwrap().0, -20.0);
    assert_eq!(module.thresholds.temperature_high_warn.known().unwrap().0, 73.0);
    // Nobody wrote these; that is for the facts to see.
    assert_eq!(module.thresholds.tx_power_low_warn.known().unwrap().0, -40.0);
    assert!(module.bit_rate.is_absent() && module.part_number.is_absent());
}

#[test]
fn a_page_that_is_not_given_leaves_gaps_where_it_would_have_told() {
    let mut host = card();
    host.half(Place::FIRST, &sfp().0);
    host.refusal = Some(libc::EIO);
    let snapshot = scan(&mut host);
    let module = &snapshot.interface("eth0").unwrap().module;
    assert_eq!(module.vendor.known().unwrap(), "ACME");
    let gap = snapshot.origins.gap_of(module.temperature.gap().unwrap());
    assert_eq!((gap.why, gap.command.as_str()), (GapKind::Failed, "sudo ethtool -m eth0"));
    assert!(module.lanes.gap().is_some() && module.thresholds.rx_power_low_alarm.gap().is_some());
}

#[test]
fn a_user_may_not_read_modules_and_a_port_without_a_cage_has_none() {
    let mut host = card();
    host.on(&modules::request(FAMILY, 7, Place::FIRST), Reply::errno(libc::EPERM));
    let snapshot = scan(&mut host);
    let gap = snapshot.origins.gap_of(snapshot.interface("eth0").unwrap().module.present.gap().unwrap());
    assert_eq!((gap.why, gap.command.as_str()), (GapKind::NotPermitted, "sudo ethtool -m eth0"));
    let told = "pluggable module and its diagnostics of eth0: sudo ethtool -m eth0";
    assert!(snapshot.sample.needs_root.iter().any(|line| line == told), "{:?}", snapshot.sample.needs_root);
    let port = interface(&mut card());
    assert!(port.module.present.is_absent() && port.pfc.priorities.is_absent() && port.rss.table.is_absent());
    assert!(port.devlink.health.is_absent() && port.rdma.device.is_absent() && port.wireless.signal.is_absent());
}

#[test]
fn an_older_kernel_tells_of_modules_and_hashing_by_ioctl() {
    let mut host = Host::new("eth0", CARD, &[]);
    host.has(&[family("ethtool", FAMILY, &[])]);
    let (id, live) = sfp();
    let mut about = 0x42u32.to_ne_bytes().to_vec();
    about.extend([2u32, 512].map(u32::to_ne_bytes).concat());
    host.on(&ioctl::module_request(b"eth0"), Reply::Bytes(about.into()));
    let bytes = [vec![0; 16], id.to_vec(), vec![0; HALF], live.to_vec(), vec![0; HALF]].concat();
    host.on(&ioctl::module_bytes_request(b"eth0", 0, 512), Reply::Bytes(bytes.into()));
    let hashing = |entries: u32, table: &[u32]| {
        let head = [0x46, 0, entries, 0, 1, 0].map(u32::to_ne_bytes).concat();
        let table: Vec<u8> = table.iter().flat_map(|queue| queue.to_ne_bytes()).collect();
        Reply::Bytes([head, table].concat().into())
    };
    host.on(&ioctl::hashing_request(b"eth0", 0), hashing(4, &[]));
    host.on(&ioctl::hashing_request(b"eth0", 4), hashing(4, &[0, 1, 0, 0]));
    let channels = [0x3cu32, 0, 0, 0, 8, 0, 0, 0, 3].map(u32::to_ne_bytes).concat();
    host.on(&ioctl::channels_request(b"eth0"), Reply::Bytes(channels.into()));
    let port = interface(&mut host);
    assert_eq!(port.module.temperature.known().unwrap().0, 38.27);
    assert_eq!(port.channels.combined.known(), Some(&3));
    // Nothing leads to the third queue.
    assert_eq!(
        (port.rss.table.known(), port.rss.function.known().unwrap().as_str()),
        (Some(&vec![3, 1, 0]), "toeplitz")
    );
    assert!(port.rss.configured.gap().is_some());
}

#[test]
fn priorities_reporters_and_the_package_of_the_firmware_are_told() {
    let mut host = card();
    let mut row = vec![0; 136];
    (row[0], row[1]) = (8, 0x08);
    let pfc = nested(&[(1, b"eth0\0"), (13, &nested(&[(2, &row)]))]);
    let mut question = vec![0, dcb::IEEE_GET, 0, 0];
    netlink::push(&mut question, 1, b"eth0\0");
    let bytes = netlink::message(dcb::GET_DCB, 0, &question);
    host.answers.insert(bytes, Reply::Bytes(message(76, &[vec![0, 21, 0, 0], pfc].concat()).into()));
    let handle = nested(&[(1, b"pci\0"), (2, b"0000:01:00.0\0")]);
    let reporter = nested(&[(114, &nested(&[(115, b"fw\0"), (116, &[0]), (117, &[2, 0, 0, 0, 0, 0, 0, 0])]))]);
    let version = nested(&[(101, &nested(&[(103, b"fw.app.name\0"), (104, b"Package\0")]))]);
    for (command, rest) in [(52, reporter), (51, version)] {
        let request = netlink::family_request(Protocol::Devlink, 22, 0x300, command, &[]);
        let payload = [vec![command, 1, 0, 0], handle.clone(), rest].concat();
        host.on(&request, Reply::Bytes([message(22, &payload), done()].concat().into()));
    }
    let port = interface(&mut host);
    assert_eq!((port.pfc.enabled_mask.known(), port.pfc.priorities.known()), (Some(&8), Some(&8)));
    let health = &port.devlink.health.known().unwrap()[0];
    assert_eq!(
        (health.name.as_str(), health.state.known().unwrap().as_str(), health.errors.known()),
        ("fw", "healthy", Some(&2))
    );
    assert_eq!(port.devlink.firmware_package.known().unwrap(), "Package");
}

#[test]
fn a_client_of_an_access_point_tells_of_its_signal() {
    let mut host = Host::new("eth0", CARD, &[]);
    host.tree.file("/sys/class/net/eth0/uevent", "DEVTYPE=wlan\nINTERFACE=eth0\nIFINDEX=7\n");
    host.has(&[family("nl80211", 27, &[])]);
    let index = nested(&[(3, &7u32.to_ne_bytes())]);
    let mut answer = |flags: u16, command: u8, asked: &[u8], fields: &[(u16, &[u8])]| {
        let request = netlink::family_request(Protocol::Wireless, 27, flags, command, asked);
        let payload = [vec![command, 1, 0, 0], index.clone(), nested(fields)].concat();
        host.on(&request, Reply::Bytes([message(27, &payload), done()].concat().into()));
    };
    answer(0x300, 5, &[], &[(5, &2u32.to_ne_bytes()), (38, &5220u32.to_ne_bytes())]);
    let rate = nested(&[(5, &8667u32.to_ne_bytes())]);
    answer(0x300, 17, &index, &[(21, &nested(&[(7, &[0xc9]), (8, &rate)]))]);
    answer(0, 62, &index, &[(93, &1u32.to_ne_bytes())]);
    let port = interface(&mut host);
    assert_eq!(port.kind.known(), Some(&InterfaceKind::Wifi));
    assert_eq!((port.wireless.signal.known().unwrap().0, port.wireless.frequency.known()), (-55.0, Some(&5220)));
    assert_eq!(
        (port.wireless.tx_bitrate.known().unwrap().0, port.wireless.power_save.known()),
        (866_700_000, Some(&true))
    );
    assert!(port.wireless.rx_bitrate.is_absent() && port.module.present.is_absent());
}

#[test]
fn an_rdma_device_has_counters_in_two_samples() {
    let mut host = card();
    let class = "/sys/class/infiniband/mlx5_0";
    for (file, text) in [
        (format!("{class}/ports/1/state"), "4: ACTIVE\n"),
        (format!("{class}/ports/1/hw_counters/out_of_sequence"), "17\n"),
        (format!("{class}/ports/1/hw_counters/lifespan"), "10\n"),
        ("/sys/class/net/eth0/device/infiniband/mlx5_0/node_type".to_owned(), "1: CA\n"),
    ] {
        host.tree.file(&file, text);
    }
    let options = Options { interval_ms: 10, ..Options::default() };
    let snapshot = collect(&mut host, &options, &mut |_| {});
    let rdma = &snapshot.interface("eth0").unwrap().rdma;
    assert_eq!((rdma.device.known().unwrap().as_str(), rdma.state.known().unwrap().as_str()), ("mlx5_0", "active"));
    let block = rdma.counters.known().unwrap();
    assert_eq!(
        (block.counters.len(), &block.get("out_of_sequence").unwrap().values[..]),
        (1, &[Some(17), Some(17)][..])
    );
}

#[test]
fn every_leaf_of_hardware_ends_known_absent_or_with_a_reason() {
    for refusal in [libc::EOPNOTSUPP, libc::EPERM, libc::EIO, libc::ETIMEDOUT] {
        let mut host = card();
        host.refusal = Some(refusal);
        let port = interface(&mut host);
        let unasked: Vec<&str> = [
            ("queues", port.queues.is_unasked()),
            ("private_flags", port.private_flags.is_unasked()),
            ("features_refused", port.features_refused.is_unasked()),
            ("bus", port.bus.is_unasked()),
            ("virtual_functions", port.virtual_functions.is_unasked()),
            ("gro_max_size", port.gro_max_size.is_unasked()),
            ("vlan_id", port.vlan_id.is_unasked()),
            ("tc_actions", port.tc_actions.is_unasked()),
            ("rss", port.rss.table.is_unasked() || port.rss.function.is_unasked()),
            ("pfc", port.pfc.enabled_mask.is_unasked()),
            ("module", port.module.present.is_unasked() || port.module.lanes.is_unasked()),
            ("xdp", port.xdp.mode.is_unasked()),
            ("usb", port.usb.speed.is_unasked()),
            ("wireless", port.wireless.signal.is_unasked()),
            ("tunnel", port.tunnel.remote.is_unasked() || port.tunnel.program.is_unasked()),
            ("bridge", port.bridge.stp.is_unasked()),
            ("devlink", port.devlink.health.is_unasked() || port.devlink.firmware_package.is_unasked()),
            ("rdma", port.rdma.device.is_unasked() || port.rdma.counters.is_unasked()),
        ]
        .into_iter()
        .filter(|(_, unasked)| *unasked)
        .map(|(name, _)| name)
        .collect();
        assert!(unasked.is_empty(), "{refusal}: {unasked:?}");
    }
    // And of a device that sysfs does not show.
    let mut host = Host::default();
    host.link("eth0", &[(56, b"0000:01:00.0\0"), (57, b"pci\0")]);
    host.tree.file("/sys/class/net/eth0/uevent", "IFINDEX=9\n");
    let port = interface(&mut host);
    assert_eq!((port.bus.known(), port.device.known().unwrap().to_string()), (Some(&Bus::Pci), "0000:01:00.0".into()));
    assert!(matches!(port.queues, Reading::Unknown(_)) && port.virtual_functions.gap().is_some());
}
