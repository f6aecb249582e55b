//! Hosts that this machine is not, as trees of files made by hand.

use std::collections::BTreeMap;

use super::*;
use crate::reading::{GapKind, Reading};
use crate::snapshot::PcieRole;

/// Content of a file that may not be read.
pub(super) const CLOSED: &[u8] = b"closed";

/// Files and symbolic links; netlink and ioctl are not there.
#[derive(Clone, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    /// A link leads to a path; where to is told as it is written.
    links: BTreeMap<String, String>,
}

impl Tree {
    pub(super) fn link(&mut self, path: &str, to: &str) {
        self.links.insert(path.to_owned(), to.to_owned());
    }

    /// The path behind the links of the tree.
    fn real(&self, path: &str) -> String {
        self.links.get(path).filter(|to| to.starts_with('/')).cloned().unwrap_or_else(|| path.to_owned())
    }

    pub(super) fn file(&mut self, path: &str, text: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), text.into());
    }

    /// A PCI function below `path`, as `pci0000:00/0000:00:1c.0`, with speed and width: current, then highest.
    fn function(&mut self, path: &str, class: &str, id: &str, link: Option<[&str; 4]>) {
        let address = path.rsplit('/').next().unwrap();
        let at = format!("/sys/bus/pci/devices/{address}");
        self.links.insert(at.clone(), format!("../../../devices/{path}"));
        self.file(
            &format!("{at}/uevent"),
            format!("DRIVER=x\nPCI_CLASS={class}\nPCI_ID={id}\nPCI_SUBSYS_ID=0001:0002\n"),
        );
        self.file(&format!("{at}/numa_node"), "1\n");
        if let Some(link) = link {
            let names = ["current_link_speed", "current_link_width", "max_link_speed", "max_link_width"];
            for (name, text) in names.into_iter().zip(link) {
                self.file(&format!("{at}/{name}"), format!("{text}\n"));
            }
        }
    }

    /// Configuration space with a PCIe capability of this port type, cut to `shown` bytes.
    fn config(&mut self, address: &str, port_type: u8, shown: usize) {
        let mut bytes = vec![0; 256];
        bytes[..2].copy_from_slice(&[0x86, 0x80]);
        bytes[6] = 0x10;
        bytes[0x34] = 0x70;
        bytes[0x70] = 0x10;
        bytes[0x72] = port_type << 4 | 2;
        bytes[0x74] = 1;
        bytes[0x78..0x7a].copy_from_slice(&0x2010u16.to_le_bytes());
        bytes.truncate(shown);
        self.file(&format!("/sys/bus/pci/devices/{address}/config"), bytes);
    }

    pub(super) fn answer(&self, ask: &Ask) -> Reply {
        let none = Reply::errno(libc::ENOENT);
        match ask {
            Ask::Records { path, .. } => match self.files.get(&path.text()) {
                Some(text) if text.is_empty() => Reply::errno(libc::EPERM),
                Some(text) => Reply::Bytes(text.clone().into()),
                None => none,
            },
            // Noon of 10 February 2026 in Berlin, 1000 s after boot.
            Ask::Clock => Reply::Bytes("1000.0 1770721200.0 3600".into()),
            Ask::Read { path, .. } | Ask::Tail { path, .. } => match self.real(&path.text()).as_str() {
                "/dev/null" => Reply::Error { errno: libc::EINVAL, text: "not a regular file".into() },
                path => match self.files.get(path) {
                    Some(text) if text == CLOSED => Reply::errno(libc::EACCES),
                    Some(text) => Reply::Bytes(text.clone().into()),
                    None => none,
                },
            },
            Ask::Real { path } if self.links.contains_key(&path.text()) || self.files.contains_key(&path.text()) => {
                Reply::Bytes(self.real(&path.text()).into())
            }
            Ask::Link { path } => self.links.get(&path.text()).map_or(none, |to| Reply::Bytes(to.as_str().into())),
            Ask::Exists { path } => {
                let inside = format!("{}/", path.text());
                let there = self.files.keys().any(|file| *file == path.text() || file.starts_with(&inside));
                if there { Reply::Bytes(Blob::default()) } else { none }
            }
            Ask::List { path } => {
                let front = format!("{}/", path.text());
                let all = self.files.keys().chain(self.links.keys());
                let names: std::collections::BTreeSet<&str> =
                    all.filter_map(|path| path.strip_prefix(&front)?.split('/').next()).collect();
                if names.is_empty() {
                    return none;
                }
                Reply::Bytes(names.iter().flat_map(|name| name.bytes().chain([0])).collect::<Vec<u8>>().into())
            }
            Ask::Uname => Reply::Bytes("6.1.0\0x86_64\0box\0".into()),
            Ask::Variable { .. } => Reply::errno(libc::ENODATA),
            _ => Reply::errno(libc::ENOSYS),
        }
    }
}

impl Kernel for Tree {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        requests.iter().map(|request| self.answer(&request.ask)).collect()
    }

    fn now_ms(&mut self) -> u64 {
        0
    }

    fn sleep(&mut self, _: u64) {}
}

const BRIDGE: &str = "60400";
const ETHERNET: &str = "20000";

/// A root port, a switch with two ports, a card with two functions below one, a disk below the other.
fn switched(shown: usize) -> Tree {
    let mut tree = Tree::default();
    tree.file("/proc/cpuinfo", "processor: 0\nflags: fpu\n");
    let root = "pci0000:00/0000:00:1c.0";
    let gen4 = Some(["16.0 GT/s PCIe", "4", "16.0 GT/s PCIe", "8"]);
    tree.function(root, BRIDGE, "8086:A0BC", gen4);
    tree.function(
        &format!("{root}/0000:01:00.0"),
        BRIDGE,
        "10B5:8724",
        Some(["8.0 GT/s PCIe", "4", "8.0 GT/s PCIe", "4"]),
    );
    let switch = format!("{root}/0000:01:00.0");
    for port in ["0000:02:00.0", "0000:02:01.0"] {
        tree.function(
            &format!("{switch}/{port}"),
            BRIDGE,
            "10B5:8724",
            Some(["8.0 GT/s PCIe", "8", "8.0 GT/s PCIe", "8"]),
        );
    }
    for card in ["0000:03:00.0", "0000:03:00.1"] {
        let figures = Some(["Unknown", "63", "16.0 GT/s PCIe", "8"]);
        tree.function(&format!("{switch}/0000:02:00.0/{card}"), ETHERNET, "14E4:1750", figures);
        tree.config(card, 0, shown);
    }
    tree.function(&format!("{switch}/0000:02:01.0/0000:04:00.0"), "10802", "144D:A80A", None);
    for (port, port_type) in [("0000:00:1c.0", 4), ("0000:01:00.0", 5), ("0000:02:00.0", 6), ("0000:02:01.0", 6)] {
        tree.config(port, port_type, shown);
    }
    tree.file("/sys/bus/pci/slots/3/address", "0000:03:00\n");
    tree
}

#[test]
fn the_links_of_a_switched_path_are_named_from_the_card_to_the_root() {
    for shown in [256, 64] {
        let snapshot = scan(&mut switched(shown));
        let device = &snapshot.devices[0];
        assert_eq!(device.numa_node.known(), Some(&1));
        assert_eq!(device.id.known().unwrap(), "14e4:1750 0001:0002");
        let links = device.pcie.links.known().unwrap();
        let ends: Vec<String> =
            links.iter().map(|link| format!("{} {}", link.lower, link.upper.known().unwrap())).collect();
        assert_eq!(ends, ["0000:03:00.0 0000:02:00.0", "0000:01:00.0 0000:00:1c.0"]);
        assert_eq!(links[0].role.known(), Some(&PcieRole::SwitchDownstream));
        assert_eq!(links[1].role.known(), Some(&PcieRole::RootPort));
        // The card says "Unknown" and 63: the port above speaks for the link.
        assert_eq!(links[0].speed.known().unwrap().0, 8.0);
        assert_eq!(links[0].width.known(), Some(&8));
        assert_eq!(links[0].lower_speed_max.known().unwrap().0, 16.0);
        assert_eq!(links[0].upper_width_max.known(), Some(&8));
        assert_eq!(links[0].slot.known().unwrap(), "3");
        assert!(links[1].slot.is_absent());
        assert!(links[0].siblings.known().unwrap().is_empty());
        assert_eq!(links[1].siblings.known().unwrap(), &["0000:04:00.0".parse().unwrap()]);
        assert_eq!(links[1].tunnelled.known(), Some(&false));
        assert_eq!(device.pcie.virtual_root.known(), Some(&false));
        // Both functions of the card report that the ends of the upper link disagree.
        assert_eq!(snapshot.conflicts.len(), 2);
        assert_eq!((snapshot.conflicts[0].used.as_str(), snapshot.conflicts[0].other.as_str()), ("8", "16"));
    }
}

#[test]
fn what_only_root_sees_is_a_gap_with_the_command() {
    let snapshot = scan(&mut switched(256));
    let pcie = &snapshot.devices[0].pcie;
    assert_eq!((pcie.mps.known().unwrap().0, pcie.mps_supported.known().unwrap().0), (128, 256));
    assert_eq!(pcie.mrrs.known().unwrap().0, 512);
    assert_eq!(pcie.relaxed_ordering.known(), Some(&true));
    assert!(snapshot.sample.needs_root.is_empty());

    let snapshot = scan(&mut switched(64));
    let gap = snapshot.origins.gap_of(snapshot.devices[0].pcie.mrrs.gap().unwrap());
    assert_eq!(gap.why, GapKind::NotPermitted);
    assert_eq!(gap.command, "sudo lspci -vvv -s 0000:03:00.0");
    let needs =
        "MaxPayload, MaxReadReq and relaxed ordering of 0000:03:00.0 and 1 more: sudo lspci -vvv -s 0000:03:00.0";
    assert_eq!(snapshot.sample.needs_root, [needs]);
}

#[test]
fn a_port_of_a_hypervisor_makes_the_figures_meaningless_and_one_of_hardware_does_not() {
    let guest = |port: &str| {
        let mut tree = Tree::default();
        tree.file("/proc/cpuinfo", "processor: 0\nflags: fpu hypervisor\n");
        let figures = Some(["Unknown", "0", "Unknown", "255"]);
        tree.function("pci0000:00/0000:00:02.0", BRIDGE, port, figures);
        tree.function("pci0000:00/0000:00:02.0/0000:01:00.0", ETHERNET, "15B3:101E", figures);
        let snapshot = scan(&mut tree);
        (snapshot.devices[0].pcie.clone(), snapshot)
    };
    let (pcie, snapshot) = guest("1B36:000C");
    assert_eq!(pcie.virtual_root.known(), Some(&true));
    let link = &pcie.links.known().unwrap()[0];
    for gap in [link.speed.gap(), link.width.gap(), link.lower_width_max.gap(), link.upper_speed_max.gap()] {
        assert_eq!(snapshot.origins.gap_of(gap.unwrap()).why, GapKind::DriverUnknown);
    }
    assert_eq!(guest("15AD:07A0").0.virtual_root.known(), Some(&true));
    assert!(matches!(guest("8086:A0BC").0.virtual_root, Reading::Unknown(_)));
}

#[test]
fn a_virtual_function_is_judged_by_the_link_of_its_physical_function() {
    let mut tree = switched(64);
    let switch = "pci0000:00/0000:00:1c.0/0000:01:00.0/0000:02:00.0";
    tree.function(&format!("{switch}/0000:03:10.0"), ETHERNET, "14E4:1806", Some(["Unknown", "0", "Unknown", "0"]));
    tree.links.insert("/sys/bus/pci/devices/0000:03:10.0/physfn".into(), "../0000:03:00.0".into());
    let snapshot = scan(&mut tree);
    let device = snapshot.devices.iter().find(|device| device.address.device == 0x10).unwrap();
    assert_eq!(device.physical_function.known().unwrap().to_string(), "0000:03:00.0");
    let link = &device.pcie.links.known().unwrap()[0];
    assert_eq!(link.lower.to_string(), "0000:03:00.0");
    assert_eq!(link.lower_speed_max.known().unwrap().0, 16.0);
    assert!(link.siblings.known().unwrap().is_empty());
}

#[test]
fn a_sleeping_card_is_not_woken() {
    let mut tree = switched(256);
    tree.file("/sys/bus/pci/devices/0000:03:00.0/power/runtime_status", "suspended\n");
    let snapshot = scan(&mut tree);
    let gap = snapshot.origins.gap_of(snapshot.devices[0].pcie.mps.gap().unwrap());
    assert_eq!(gap.why, GapKind::Skipped);
    // The port above still tells what the link does.
    assert_eq!(snapshot.devices[0].pcie.links.known().unwrap()[0].width.known(), Some(&8));
    assert!(snapshot.devices[1].pcie.mps.known().is_some());
}

#[test]
fn the_control_domain_of_xen_is_no_guest() {
    let mut tree = switched(256);
    tree.file("/proc/cpuinfo", "processor: 0\nflags: fpu hypervisor\n");
    tree.file("/sys/hypervisor/type", "xen\n");
    assert_eq!(scan(&mut tree).host.is_guest.known(), Some(&true));
    tree.file("/proc/xen/capabilities", "control_d\n");
    assert_eq!(scan(&mut tree).host.is_guest.known(), Some(&false));
}

#[test]
fn appliances_are_known_by_their_marker_files() {
    let mut synology = Tree::default();
    synology.file("/etc.defaults/VERSION", "productversion=\"7.2.1\"\nbuildnumber=\"69057\"\n");
    synology.file("/etc.defaults/synoinfo.conf", "upnpmodelname=\"DS1823xs+\"\n");
    let host = scan(&mut synology).host;
    assert_eq!(host.platform.known().unwrap(), "synology_dsm");
    assert_eq!(host.os.known().unwrap(), "DSM 7.2.1-69057");
    assert_eq!(host.product.known().unwrap(), "DS1823xs+");

    let mut qnap = Tree::default();
    qnap.file("/etc/config/qpkg.conf", "[x]\n");
    qnap.file("/etc/default_config/uLinux.conf", "[System]\nModel = TS-h973AX\nVersion = h5.1.4\n");
    qnap.file("/etc/config/uLinux.conf", "[System]\nModel = TS-h973AX\nVersion = h5.2.0\n[Misc]\nModel = x\n");
    let host = scan(&mut qnap).host;
    assert_eq!(host.platform.known().unwrap(), "qnap_qts");
    assert_eq!(host.os.known().unwrap(), "QuTS hero h5.2.0");
    assert_eq!(host.product.known().unwrap(), "TS-h973AX");

    let mut truenas = Tree::default();
    truenas.file("/etc/os-release", "ID=debian\n");
    truenas.file("/etc/version", "25.04.1\n");
    assert_eq!(scan(&mut truenas).host.platform.known().unwrap(), "debian");
    truenas.file("/usr/bin/midclt", "");
    let host = scan(&mut truenas).host;
    assert_eq!(host.platform.known().unwrap(), "truenas");
    assert_eq!(host.os.known().unwrap(), "TrueNAS 25.04.1");

    let mut proxmox = Tree::default();
    proxmox.file("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
    proxmox.file("/etc/pve/storage.cfg", "");
    let host = scan(&mut proxmox).host;
    assert_eq!(host.platform.known().unwrap(), "proxmox");
    assert_eq!(host.os.known().unwrap(), "Debian GNU/Linux 12");
    assert_eq!(host.is_container.known(), Some(&false));
}

/// A host whose log has these files.
fn logs(files: &[(&str, &str)]) -> Snapshot {
    let mut tree = switched(256);
    for (path, text) in files {
        tree.file(path, *text);
    }
    scan(&mut tree)
}

#[test]
fn the_log_comes_from_the_kernel_or_from_files() {
    let kmsg = "6,1,990000000,-;igb 0000:03:00.0 eth0: igb: eth0 NIC Link is Down\n SUBSYSTEM=pci\n6,2,1,-;sda: y\n";
    let snapshot = logs(&[("/dev/kmsg", kmsg)]);
    let [line] = snapshot.host.log.known().unwrap().as_slice() else { panic!("{:?}", snapshot.host.log) };
    assert_eq!((line.age, line.text.as_str()), (Some(10.0), "igb 0000:03:00.0 eth0: igb: eth0 NIC Link is Down"));
    assert_eq!(snapshot.origins.source_of(line.source).to_string(), "/dev/kmsg");

    // Only root may read the device; the first file is new and empty.
    let line = "Feb 10 11:59:30 box kernel: [ 970.1] nf_conntrack: table full, dropping packet\n\
                Feb 10 11:59:31 box sshd[1]: TCP: no line of the kernel\n";
    let snapshot = logs(&[("/dev/kmsg", ""), ("/var/log/kern.log", ""), ("/var/log/syslog", line)]);
    let [line] = snapshot.host.log.known().unwrap().as_slice() else { panic!("{:?}", snapshot.host.log) };
    assert_eq!((line.age, line.text.as_str()), (Some(30.0), "nf_conntrack: table full, dropping packet"));
    assert!(snapshot.sample.needs_root.is_empty());

    // Lines of the kernel that are none of ours are an empty log, not an unread one.
    let snapshot = logs(&[("/dev/kmsg", ""), ("/var/log/messages", "Feb 10 11:59:30 box kernel: usb 1-1: new\n")]);
    assert!(snapshot.host.log.known().unwrap().is_empty());
}

#[test]
fn a_log_that_cannot_be_read_names_the_command() {
    let gap = |snapshot: &Snapshot| snapshot.origins.gap_of(snapshot.host.log.gap().unwrap()).clone();
    let snapshot = logs(&[("/dev/kmsg", "")]);
    assert_eq!((gap(&snapshot).why, gap(&snapshot).command.as_str()), (GapKind::NotPermitted, "sudo dmesg -T"));
    assert_eq!(snapshot.sample.needs_root, ["log of the kernel: sudo dmesg -T"]);
    let snapshot = logs(&[("/var/log/journal/1/system.journal", "x")]);
    let command = "sudo journalctl -k --no-pager";
    assert_eq!((gap(&snapshot).why, gap(&snapshot).command.as_str()), (GapKind::NotCollected, command));
    assert_eq!(gap(&logs(&[])).why, GapKind::Failed);
}

#[test]
fn parameters_that_this_kernel_lacks_are_not_in_the_map() {
    let mut tree = switched(256);
    tree.file("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    tree.file("/proc/net/softnet_stat", "00000010 00000001 00000000\n00000020 00000000 00000002\n");
    tree.file("/sys/devices/system/cpu/online", "0,3\n");
    let snapshot = scan(&mut tree);
    let sysctl = snapshot.host.sysctl.known().unwrap();
    assert_eq!(sysctl.len(), 1);
    assert_eq!(sysctl["net.ipv4.tcp_rmem"], "4096 131072 6291456");
    let [block] = snapshot.host.counters.known().unwrap().as_slice() else { panic!("{:?}", snapshot.host.counters) };
    assert_eq!(block.get("processed").unwrap().total(), Some(48));
    assert_eq!(block.get("cpu3.time_squeeze").unwrap().total(), Some(2));
    let snapshot = scan(&mut switched(256));
    assert_eq!(snapshot.origins.gap_of(snapshot.host.sysctl.gap().unwrap()).command, "sysctl -a");
}
