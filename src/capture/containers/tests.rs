//! Containers made here, byte by byte, and what is read of them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::super::{Capture, CaptureError, read, read_stream};
use crate::reading::{Reading, Source};
use crate::snapshot::{SampleSource, Snapshot};

const LINK: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\n\
    2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n\
    \x20   link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9216\n";
const DEV: &str = "Inter-|   Receive                                                |  Transmit\n \
    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n\
    \x20 eth0: 1 22 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";

fn rings(name: &str, rx: u32) -> String {
    format!("Ring parameters for {name}:\nPre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t{rx}\n")
}

/// An archive under construction.
struct Tar(tar::Builder<Vec<u8>>);

impl Tar {
    fn new() -> Self {
        Self(tar::Builder::new(Vec::new()))
    }

    fn header(kind: tar::EntryType, size: usize) -> tar::Header {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size as u64);
        header.set_mode(0o400);
        header
    }

    fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let mut header = Self::header(tar::EntryType::Regular, content.as_ref().len());
        self.0.append_data(&mut header, path, content.as_ref()).unwrap();
        self
    }

    /// A file whose name the library refuses to write.
    fn rude(mut self, path: &str, content: &str) -> Self {
        let mut header = Self::header(tar::EntryType::Regular, content.len());
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        self.0.append(&header, content.as_bytes()).unwrap();
        self
    }

    fn link(mut self, path: &str, target: &str) -> Self {
        let mut header = Self::header(tar::EntryType::Symlink, 0);
        self.0.append_link(&mut header, path, target).unwrap();
        self
    }

    fn special(mut self, kind: tar::EntryType, path: &str) -> Self {
        let mut header = Self::header(kind, 0);
        self.0.append_data(&mut header, path, &b""[..]).unwrap();
        self
    }

    fn bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap()
    }
}

/// A folder of this test that goes when it ends.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("netdoctor-containers-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read_bytes(name: &str, bytes: impl AsRef<[u8]>) -> Result<Capture, CaptureError> {
    read_stream(Box::new(bytes.as_ref()), name)
}

fn only(capture: Capture) -> Snapshot {
    let mut hosts = capture.hosts;
    assert_eq!(hosts.len(), 1, "{:?}", hosts.iter().map(|host| &host.place).collect::<Vec<_>>());
    hosts.remove(0).snapshot
}

fn ring(snapshot: &Snapshot, namespace: &str, name: &str) -> Option<u32> {
    let found = snapshot.interfaces.iter().find(|one| one.namespace == namespace && one.name == name)?;
    found.ring.rx.known().copied()
}

fn place_of<T>(snapshot: &Snapshot, reading: &Reading<T>) -> (String, u32) {
    match snapshot.origins.source_of(reading.source().unwrap()) {
        Source::Capture { file, line, .. } => (file.clone(), *line),
        other => panic!("{other:?}"),
    }
}

/// A small sosreport with all that is special about its paths.
fn sosreport() -> Tar {
    let net = "r/sos_commands/networking";
    Tar::new()
        .file("r/version.txt", "sosreport: 4.0\n")
        .link("r/ip_addr", "sos_commands/networking/ip_-o_addr")
        .link("r/proc/net", "self/net")
        .link("r/proc/self", "4711")
        .file("r/proc/815/net/dev", DEV.replace("22", "99"))
        .file("r/proc/4711/net/dev", DEV)
        .link("r/sys/class/net/eth0", "../../devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/eth0")
        .file(&format!("{net}/ethtool_-g_eth0"), rings("eth0", 512))
        .file(&format!("{net}/ip_netns"), "a_b (id: 0)\na\n")
        .file(&format!("{net}/ip_netns_exec_a_b_ethtool_-g_br_x"), rings("br_x", 64))
        .file(&format!("{net}/namespaces/a/ip_netns_exec_a_ethtool_-g_eth0"), rings("eth0", 128))
        .file(&format!("{net}/ip_-s_-d_link"), LINK)
        .file(&format!("{net}/ethtool_-e_eth0"), "Offset\t\tValues\n")
        .file("r/sos_commands/host/hostname", "nas1\n")
        .file("r/proc/sys/net/core/rmem_max", "212992\n")
}

fn check_sosreport(capture: Capture) {
    assert!(!capture.incomplete && capture.problems.is_empty(), "{:?}", capture.problems);
    let snapshot = only(capture);
    assert_eq!(snapshot.sample.source, SampleSource::Sosreport);
    assert_eq!(snapshot.host.name.known().map(String::as_str), Some("nas1"));
    assert_eq!(ring(&snapshot, "", "eth0"), Some(512));
    assert_eq!(ring(&snapshot, "a_b", "br_x"), Some(64));
    assert_eq!(ring(&snapshot, "a", "eth0"), Some(128));
    let eth0 = snapshot.interface("eth0").unwrap();
    assert_eq!(eth0.mtu.known().unwrap().0, 9000);
    assert_eq!(eth0.device.known().unwrap().to_string(), "0000:03:00.0");
    // Only the file of the process that collected is that of the host.
    let dev = eth0.counters.iter().find(|block| block.group == "proc_net_dev").unwrap();
    assert_eq!(dev.get("rx_packets").unwrap().values, [Some(22)]);
    assert_eq!(snapshot.host.sysctl.known().unwrap()["net.core.rmem_max"], "212992");
    assert_eq!(place_of(&snapshot, &eth0.ring.rx), ("r/sos_commands/networking/ethtool_-g_eth0".to_owned(), 5));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn a_sosreport_as_an_archive_of_any_kind() {
    let tar = sosreport().bytes();
    check_sosreport(read_bytes("x.tar", &tar).unwrap());
    check_sosreport(read_bytes("name-says-nothing", gzip(&tar)).unwrap());
    check_sosreport(read_bytes("-", bzip2(&tar)).unwrap());
    check_sosreport(read_bytes("x.tar.xz", xz(&tar)).unwrap());
    check_sosreport(read_bytes("x.tar.zst", zstd(&tar)).unwrap());
    // Two frames, one behind the other, and one to be skipped.
    let (front, back) = tar.split_at(5000);
    let frames = [zstd(front), b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec(), zstd(back)].concat();
    check_sosreport(read_bytes("x.tar.zst", frames).unwrap());
}

#[test]
fn a_sosreport_as_a_folder() {
    let place = Place::new();
    let root = place.0.join("x");
    std::fs::create_dir_all(&root).unwrap();
    tar::Archive::new(sosreport().bytes().as_slice()).unpack(&root).unwrap();
    check_sosreport(read(&root).unwrap());
}

#[test]
fn the_order_of_members_changes_nothing() {
    let files: [(&str, String); 4] = [
        ("r/sos_commands/networking/ip_-s_-d_link", LINK.to_owned()),
        (
            "r/sos_commands/networking/ip_-o_addr",
            "2: eth0    inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0\n".to_owned(),
        ),
        ("r/sos_commands/networking/ethtool_-g_eth0", rings("eth0", 512)),
        ("r/proc/net/dev", DEV.to_owned()),
    ];
    let json = |order: &mut dyn Iterator<Item = &(&str, String)>| {
        let tar = order.fold(Tar::new(), |tar, (path, text)| tar.file(path, text));
        only(read_bytes("x.tar", tar.bytes()).unwrap()).to_json()
    };
    assert_eq!(json(&mut files.iter()), json(&mut files.iter().rev()));
}

#[test]
fn a_manifest_outranks_the_names_of_files() {
    let manifest = r#"{"components": {"report": {"plugins": {"networking": {"commands": [
        {"exec": "ip netns exec x_ip_y ethtool -i a_b", "filepath": "sos_commands/networking/ip_netns_exec_x_ip_y_ethtool_-i_a_b"}]}}}}}"#;
    let tar = Tar::new()
        .file(
            "r/sos_commands/networking/ip_netns_exec_x_ip_y_ethtool_-i_a_b",
            "driver: veth\nversion: 1.0\nbus-info: \n",
        )
        .file("r/sos_reports/manifest.json", manifest);
    let snapshot = only(read_bytes("x.tar", tar.bytes()).unwrap());
    let only = &snapshot.interfaces[0];
    assert_eq!((only.namespace.as_str(), only.name.as_str()), ("x_ip_y", "a_b"));
    assert_eq!(only.driver.name.known().map(String::as_str), Some("veth"));
}

#[test]
fn names_that_were_mangled_are_mended() {
    let link = "2: eth0:1x: <BROADCAST,UP> mtu 1500 qdisc mq state UP\n".replace("eth0:1x", "wan+1");
    let tar = Tar::new()
        .file("r/sos_commands/networking/ethtool_-i_wan_1", "driver: igb\nversion: 5\nbus-info: 0000:03:00.0\n")
        .file("r/sos_commands/networking/ip_-s_-d_link", link);
    let snapshot = only(read_bytes("x.tar", tar.bytes()).unwrap());
    assert_eq!(snapshot.interfaces.len(), 1);
    assert_eq!(snapshot.interface("wan+1").unwrap().driver.name.known().map(String::as_str), Some("igb"));
}

#[test]
fn hosts_stay_apart() {
    let inner = |rx| {
        Tar::new()
            .file("sosreport-h-2026-01-01-abcdefg/sos_commands/networking/ethtool_-g_eth0", rings("eth0", rx))
            .bytes()
    };
    let tar = Tar::new().file("c/a.tar", inner(1)).file("c/b.tar", inner(2)).file("c/sos_logs/sos.log", "x");
    let capture = read_bytes("collect.tar", tar.bytes()).unwrap();
    let found: Vec<_> = capture
        .hosts
        .iter()
        .map(|host| {
            (host.place.as_str(), ring(&host.snapshot, "", "eth0"), host.snapshot.host.name.known().unwrap().as_str())
        })
        .collect();
    let place = |name: &str| format!("c/{name}/sosreport-h-2026-01-01-abcdefg");
    assert_eq!(found, [(place("a").as_str(), Some(1), "h"), (place("b").as_str(), Some(2), "h")]);

    let place = Place::new();
    for (host, rx) in [("before", 1), ("after", 2)] {
        place.write(&format!("{host}/ethtool/g/eth0"), rings("eth0", rx));
    }
    let capture = read(&place.0).unwrap();
    let found: Vec<_> =
        capture.hosts.iter().map(|host| (host.place.as_str(), ring(&host.snapshot, "", "eth0"))).collect();
    assert_eq!(found, [("after", Some(2)), ("before", Some(1))]);
}

#[test]
fn a_nested_tar_stands_for_its_folder() {
    let inner = Tar::new().file("4711/net/dev", DEV).bytes();
    let tar = Tar::new().file("r/sos_commands/networking/ip_-s_-d_link", LINK).file("r/proc.tar", inner);
    let snapshot = only(read_bytes("x.tar", tar.bytes()).unwrap());
    let eth0 = snapshot.interface("eth0").unwrap();
    assert!(eth0.counters.iter().any(|block| block.group == "proc_net_dev"));
}

#[test]
fn a_supportconfig_and_a_pvereport() {
    let block = |command: &str, output: &str| format!("#==[ Command ]=====#\n# {command}\n{output}\n");
    let network = block("/sbin/ip -stats link", LINK) + &block("/usr/sbin/ethtool -g eth0", &rings("eth0", 512));
    let tar = Tar::new()
        .file(
            "scc_h/basic-environment.txt",
            block("/bin/uname -a", "Linux h 5.14.21-default #1 SMP x86_64 x86_64 x86_64 GNU/Linux\n"),
        )
        .file("scc_h/network.txt", network);
    let snapshot = only(read_bytes("scc_h.tar", tar.bytes()).unwrap());
    assert_eq!(snapshot.sample.source, SampleSource::Supportconfig);
    assert_eq!((snapshot.host.name.known().unwrap().as_str(), ring(&snapshot, "", "eth0")), ("h", Some(512)));
    let eth0 = snapshot.interface("eth0").unwrap();
    assert_eq!(place_of(&snapshot, &eth0.mtu), ("scc_h/network.txt".to_owned(), 4));

    let text = format!(
        "==== general system info ====\n\n# hostname\npve1\n\n==== info about network ====\n\n# ip -details -statistics address\n{LINK}"
    );
    let snapshot = only(read_bytes("report.txt", text).unwrap());
    assert_eq!(
        (snapshot.host.name.known().unwrap().as_str(), snapshot.interface("eth0").unwrap().mtu.known().unwrap().0),
        ("pve1", 9000)
    );
}

#[test]
fn two_files_of_one_moment_are_no_two_samples() {
    let counters = |missed: u32| format!("NIC statistics:\n     rx_packets: 5\n     rx_missed_errors: {missed}\n");
    let tar = Tar::new()
        .file("r/sos_commands/networking/ethtool_-S_eth0", counters(7))
        .file("r/sos_commands/other/ethtool_-I_-S_eth0", counters(9));
    let snapshot = only(read_bytes("x.tar", tar.bytes()).unwrap());
    let block = &snapshot.interface("eth0").unwrap().counters[0];
    assert_eq!(block.get("rx_missed_errors").unwrap().values, [Some(7)]);
}

#[test]
fn made_up_addresses_are_not_believed() {
    let tar = Tar::new().file("r/sos_commands/networking/ip_-s_-d_link", LINK.replace("52:54:00", "53:4f:53"));
    let capture = read_bytes("x-obfuscated.tar", tar.bytes()).unwrap();
    assert!(capture.problems[0].contains("sos clean"), "{:?}", capture.problems);
    let snapshot = only(capture);
    assert!(snapshot.interface("eth0").unwrap().address.known().is_none());
}

#[test]
fn hostile_members_cost_nothing_but_themselves() {
    let tar = Tar::new()
        .rude("r/../../etc/sos_commands/networking/ethtool_-g_eth9", &rings("eth9", 1))
        .rude("/r/sos_commands/networking/ethtool_-g_eth0", &rings("eth0", 512))
        .link("r/proc/self", "self")
        .link("r/proc/net", "../../../../../proc/net")
        .link("r/sys/class/net/eth7", "/etc/passwd")
        .special(tar::EntryType::Char, "r/sos_commands/networking/ethtool_-g_eth1")
        .special(tar::EntryType::Fifo, "r/sos_commands/networking/ethtool_-g_eth2")
        .file("r/sos_commands/networking/ethtool_-g_eth3", rings("eth3", 1))
        .file("r/sos_commands/networking/ethtool_-g_eth3", rings("eth3", 2))
        .file("r/sos_commands/networking/ethtool_-g_eth4", [0_u8; 9000])
        .file("r/sos_commands/networking/ethtool_-g_eth5", b"Ring parameters for eth5:\nPre-set maximums:\nRX:\t4096\xff\xfe\n\x1b[0mCurrent hardware settings:\nRX:\t\t77\n");
    let capture = read_bytes("x.tar", tar.bytes()).unwrap();
    assert!(!capture.incomplete);
    for (named, why) in [
        ("eth9", "leads out"),
        ("eth1", "neither a file nor a link"),
        ("eth2", "neither a file nor a link"),
        ("eth3", "more than once"),
        ("eth4", "no text"),
    ] {
        assert!(
            capture.problems.iter().any(|text| text.contains(named) && text.contains(why)),
            "{named}: {:?}",
            capture.problems
        );
    }
    let snapshot = only(capture);
    let rings: Vec<_> =
        snapshot.interfaces.iter().map(|one| (one.name.as_str(), one.ring.rx.known().copied())).collect();
    assert_eq!(rings, [("eth0", Some(512)), ("eth3", Some(2)), ("eth5", Some(77))]);
}

#[test]
fn what_stands_before_the_end_of_a_cut_archive_is_read() {
    let whole = Tar::new()
        .file("r/sos_commands/networking/ethtool_-g_eth0", rings("eth0", 512))
        .file("r/sos_commands/networking/ip_-s_-d_link", LINK.repeat(20))
        .bytes();
    for length in [1800, 2700, 512 * 3 + 10] {
        let capture = read_bytes("x.tar", &whole[..length]).unwrap();
        assert!(capture.incomplete && !capture.problems.is_empty(), "{length}");
        assert_eq!(ring(&only(capture), "", "eth0"), Some(512), "{length}");
    }
    // Cut between two members: no member tells of it, only the missing end does.
    let between = 512 + rings("eth0", 512).len().div_ceil(512) * 512;
    for length in [between, whole.len() - 1024] {
        let capture = read_bytes("x.tar", &whole[..length]).unwrap();
        assert!(
            capture.incomplete && capture.problems[0].contains("mark of its end is missing"),
            "{:?}",
            capture.problems
        );
        assert_eq!(ring(&only(capture), "", "eth0"), Some(512), "{length}");
    }
    // One block of zeros at the end is enough.
    assert!(!read_bytes("x.tar", &whole[..whole.len() - 512]).unwrap().incomplete);
    let mut broken = whole.clone();
    broken[1024 + 20] ^= 0x55;
    let capture = read_bytes("x.tar", &broken).unwrap();
    assert!(capture.incomplete && capture.problems[0].contains("ethtool_-g_eth0"), "{:?}", capture.problems);
    for form in ["x.tar.gz", "x.tar.xz", "x.zip", "x.7z"] {
        let magic: &[u8] = match form {
            "x.tar.gz" => b"\x1f\x8b\x08\0\0\0\0\0\0\0junkjunk",
            "x.tar.xz" => b"\xfd7zXZ\0junkjunkjunk",
            "x.zip" => b"PK\x03\x04junk",
            _ => b"7z\xbc\xaf\x27\x1cjunk",
        };
        let error = read_bytes(form, magic).unwrap_err();
        assert!(matches!(&error, CaptureError::Unreadable(text) if text.contains(form)), "{form}: {error}");
    }
}

#[test]
fn bombs_and_deep_nesting_end() {
    let zeros = 64 << 20;
    let bomb = |path: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut header = Tar::header(tar::EntryType::Regular, zeros);
        header.set_path(path).unwrap();
        header.set_cksum();
        packed.write_all(header.as_bytes()).unwrap();
        let block = vec![b'x'; 1 << 20];
        (0..zeros >> 20).for_each(|_| packed.write_all(&block).unwrap());
        packed
            .write_all(&Tar::new().file("r/sos_commands/networking/ethtool_-g_eth0", rings("eth0", 512)).bytes())
            .unwrap();
        packed.finish().unwrap()
    };
    for path in ["r/sos_commands/networking/ethtool_-S_eth0", "r/core"] {
        let capture = read_bytes("x.tar.gz", bomb(path)).unwrap();
        assert_eq!(capture.problems.is_empty(), path == "r/core", "{:?}", capture.problems);
        assert_eq!(ring(&only(capture), "", "eth0"), Some(512));
    }
    let deep = (0..12).fold(Tar::new().file("ethtool_-g_eth0", rings("eth0", 1)).bytes(), |inner, _| {
        Tar::new().file("ethtool_-g_eth1", rings("eth1", 2)).file("x.tar", inner).bytes()
    });
    let capture = read_bytes("x.tar", deep).unwrap();
    assert!(capture.incomplete && capture.problems[0].contains("deeper"), "{:?}", capture.problems);
}

#[test]
fn an_interface_too_many_spoils_none_of_the_others() {
    let text: String = (0..10_050).map(|n| rings(&format!("e{n}"), n + 1)).collect();
    let tar = Tar::new().file("all/ethtool_-g.txt", text);
    let capture = read_bytes("x.tar", tar.bytes()).unwrap();
    assert!(capture.problems[0].contains("more interfaces"), "{:?}", capture.problems);
    let snapshot = only(capture);
    assert_eq!(snapshot.interfaces.len(), 10_000);
    assert!((0..10_000).all(|n| snapshot.interfaces[n as usize].ring.rx.known() == Some(&(n + 1))));
}

#[test]
fn folders_are_read_without_following_links() {
    let place = Place::new();
    place.write("ethtool_-g_eth0.txt", rings("eth0", 512));
    place.write("session.txt", "root@nas:~# ethtool -g eth1\n".to_owned() + &rings("eth1", 256));
    place.write("sub/ip_link", LINK);
    std::os::unix::fs::symlink("/etc/passwd", place.0.join("ethtool_-g_eth2")).unwrap();
    std::os::unix::fs::symlink(".", place.0.join("loop")).unwrap();
    nix::unistd::mkfifo(&place.0.join("ethtool_-g_eth3"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    let snapshot = only(read(&place.0).unwrap());
    assert_eq!(snapshot.sample.source, SampleSource::Directory);
    assert_eq!(snapshot.host.name.known().map(String::as_str), Some("nas"));
    assert_eq!((ring(&snapshot, "", "eth0"), ring(&snapshot, "", "eth1")), (Some(512), Some(256)));
    assert_eq!(snapshot.interface("eth0").unwrap().mtu.known().unwrap().0, 9000);
    assert_eq!(place_of(&snapshot, &snapshot.interface("eth0").unwrap().mtu), ("sub/ip_link".to_owned(), 2));
}

#[test]
fn an_empty_container_says_what_would_be_recognised() {
    let place = Place::new();
    for input in [place.0.clone(), place.write("x.tar", Tar::new().file("r/README", "hello\n").bytes())] {
        let error = read(Path::new(&input)).unwrap_err();
        assert!(error.to_string().contains("sosreport"), "{error}");
    }
}

/// An archive of each kind that is whole.
fn whole(form: usize) -> Vec<u8> {
    let inner = Tar::new().file("ethtool_-g_eth0", rings("eth0", 1)).link("b", "a").bytes();
    let tar = sosreport().file("r/proc/fs.tar", &inner).file("dmesg.txt.gz", gzip(b"[ 1.0] x\n")).bytes();
    match form {
        0 => tar,
        1 => gzip(&tar),
        2 => xz(&tar),
        3 => zstd(&tar),
        _ => bzip2(&tar),
    }
}

proptest! {
    #[test]
    fn no_archive_makes_it_panic(
        form in 0_usize..5,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = whole(form);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            bytes.truncate(end.index(bytes.len()));
        }
        if let Ok(capture) = read_bytes("x", &bytes) {
            prop_assert!(!capture.hosts.is_empty());
            for host in capture.hosts {
                prop_assert!(Snapshot::from_json(&host.snapshot.to_json()).is_ok());
            }
        }
    }
}
