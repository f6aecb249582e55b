//! The recorded machine with single answers exchanged: hardware, drivers and sessions that it does not have.

use super::replay::recording;
use super::*;
use crate::reading::GapKind;
use crate::snapshot::{Duplex, PortType};

/// Index of eth0 in the recording.
const ETH0: u32 = 4;
const FAMILY: u16 = 21;

/// A reply of ethtool for one device.
fn about(index: u32, command: u8, fields: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut header = Vec::new();
    netlink::push(&mut header, 1, &index.to_ne_bytes());
    let mut payload = vec![command, 1, 0, 0];
    netlink::push(&mut payload, 0x8001, &header);
    for (kind, value) in fields {
        netlink::push(&mut payload, *kind, value);
    }
    let mut message = netlink::message(FAMILY, 0, &payload);
    message[6..8].copy_from_slice(&2u16.to_ne_bytes());
    message
}

fn done(status: i32) -> Vec<u8> {
    netlink::message(netlink::DONE, 2, &status.to_ne_bytes())
}

fn refused(errno: i32) -> Vec<u8> {
    let mut payload = (-errno).to_ne_bytes().to_vec();
    payload.resize(20, 0);
    netlink::message(netlink::ERROR, 0, &payload)
}

/// Exchanges the answers to a request by its name.
fn answer(recording: &mut Recording, name: &str, bytes: &[u8]) {
    let mut found = 0;
    for exchange in &mut recording.exchanges {
        if exchange.ask.to_string() == name {
            exchange.reply = Reply::Bytes(bytes.into());
            found += 1;
        }
    }
    assert!(found > 0, "{name} is not in the recording");
}

/// Adds the answer to the request for eth0 alone.
fn follow_up(recording: &mut Recording, command: ethtool::Command, bytes: &[u8]) {
    let family = recording
        .exchanges
        .iter()
        .find_map(|exchange| match (&exchange.ask, exchange.ask.to_string().as_str()) {
            (Ask::Netlink { bytes, .. }, "ETHTOOL_MSG_RINGS_GET") => netlink::u16_at(&bytes.0, 4),
            _ => None,
        })
        .unwrap();
    for stats in [true, false] {
        let ask = ethtool::request(family, command, Some(ETH0), stats).ask;
        recording.exchanges.push(Exchange { ask, reply: Reply::Bytes(bytes.into()), at_ms: 1 });
    }
}

fn bits(set: &[usize]) -> Vec<u8> {
    let mut words = [0u32; 4];
    for bit in set {
        words[bit / 32] |= 1 << (bit % 32);
    }
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn bitset(value: &[usize], mask: Option<&[usize]>) -> Vec<u8> {
    let mut out = Vec::new();
    netlink::push(&mut out, 2, &121u32.to_ne_bytes());
    netlink::push(&mut out, 4, &bits(value));
    if let Some(mask) = mask {
        netlink::push(&mut out, 5, &bits(mask));
    }
    out
}

fn names(modes: &crate::snapshot::LinkModes) -> Vec<&str> {
    modes.0.iter().map(String::as_str).collect()
}

#[test]
fn link_modes_of_hardware_are_named_and_sorted_out() {
    // Bits of the kernel's list: 1000baseT/Full 5, Autoneg 6, FIBRE 10, Pause 13, 25000baseCR/Full 31, FEC RS 50.
    let ours = bitset(&[6, 31], Some(&[5, 6, 10, 13, 31, 50]));
    let fields = [
        (2, vec![1]),
        (3 | 0x8000, ours),
        (4 | 0x8000, bitset(&[5, 31], None)),
        (5, 25_000u32.to_ne_bytes().to_vec()),
        (6, vec![1]),
        (9, 1u32.to_ne_bytes().to_vec()),
    ];
    let mut recording = recording();
    let bytes = [about(ETH0, 4, &fields), done(0)].concat();
    answer(&mut recording, "ETHTOOL_MSG_LINKMODES_GET", &bytes);
    let bytes = [about(ETH0, 2, &[(2, vec![5])]), done(0)].concat();
    answer(&mut recording, "ETHTOOL_MSG_LINKINFO_GET", &bytes);
    let snapshot = scan(&mut Recorded::new(recording));
    let eth0 = snapshot.interface("eth0").unwrap();
    let link = &eth0.link;
    assert_eq!(link.speed.known().unwrap().0, 25_000_000_000);
    assert_eq!(link.duplex.known(), Some(&Duplex::Full));
    assert_eq!((link.autoneg.known(), link.autoneg_supported.known()), (Some(&true), Some(&true)));
    assert_eq!(link.lanes.known(), Some(&1));
    assert_eq!(names(link.supported.known().unwrap()), ["1000baseT/Full", "25000baseCR/Full"]);
    assert_eq!(names(link.advertised.known().unwrap()), ["25000baseCR/Full"]);
    assert_eq!(names(link.partner.known().unwrap()), ["1000baseT/Full", "25000baseCR/Full"]);
    assert_eq!(eth0.port.connector.known(), Some(&PortType::Dac));
    // Found in no dump: a virtual device has no such thing.
    assert!(snapshot.interface("ifb0").unwrap().link.speed.is_absent());
}

#[test]
fn pause_frames_are_counted_where_the_driver_counts_them() {
    let mut stats = Vec::new();
    netlink::push(&mut stats, 2, &3u64.to_ne_bytes());
    netlink::push(&mut stats, 3, &9u64.to_ne_bytes());
    let fields = [(2, vec![0]), (3, vec![1]), (4, vec![0]), (5 | 0x8000, stats)];
    let mut recording = recording();
    answer(&mut recording, "ETHTOOL_MSG_PAUSE_GET", &[about(ETH0, 21, &fields), done(0)].concat());
    let options = Options { interval_ms: 200, ..Options::default() };
    let snapshot = collect(&mut Recorded::new(recording), &options, &mut |_| {});
    let eth0 = snapshot.interface("eth0").unwrap();
    assert_eq!((eth0.pause.rx.known(), eth0.pause.tx.known()), (Some(&true), Some(&false)));
    let block = eth0.counters.iter().find(|block| block.group == "ethtool_pause").unwrap();
    assert_eq!(block.get("rx_pause_frames").unwrap().values, [Some(9), Some(9)]);
    assert_eq!(block.get("tx_pause_frames").unwrap().total(), Some(3));
}

#[test]
fn the_reason_for_a_missing_device_is_asked_for_and_kept() {
    let with = |bytes: &[u8]| {
        let mut recording = recording();
        answer(&mut recording, "ETHTOOL_MSG_RINGS_GET", &done(0));
        follow_up(&mut recording, ethtool::Command::Rings, bytes);
        let snapshot = scan(&mut Recorded::new(recording));
        let reading = snapshot.interface("eth0").unwrap().ring.rx.clone();
        let gap = reading.gap().map(|gap| snapshot.origins.gap_of(gap).clone());
        (reading.is_absent(), gap, snapshot.sample.needs_root)
    };
    assert!(with(&refused(libc::EOPNOTSUPP)).0);
    let (_, gap, needs_root) = with(&refused(libc::EPERM));
    let gap = gap.unwrap();
    assert_eq!((gap.why, gap.command.as_str()), (GapKind::NotPermitted, "sudo ethtool -g eth0"));
    assert_eq!(needs_root, ["ring sizes of eth0: sudo ethtool -g eth0"]);
    let gap = with(&refused(libc::EIO)).1.unwrap();
    assert_eq!((gap.why, gap.command.as_str()), (GapKind::Failed, "ethtool -g eth0"));
    assert_eq!(with(&refused(libc::ENODEV)).1.unwrap().why, GapKind::Changed);
}

#[test]
fn a_dump_that_a_device_cut_short_is_finished_device_by_device() {
    let mut recording = recording();
    answer(&mut recording, "ETHTOOL_MSG_RINGS_GET", &done(-libc::EIO));
    let rings = [(2, 4096u32.to_ne_bytes().to_vec()), (6, 512u32.to_ne_bytes().to_vec())];
    let mut single = about(ETH0, 15, &rings);
    single[6..8].copy_from_slice(&0u16.to_ne_bytes());
    follow_up(&mut recording, ethtool::Command::Rings, &single);
    let snapshot = scan(&mut Recorded::new(recording));
    let ring = &snapshot.interface("eth0").unwrap().ring;
    assert_eq!((ring.rx.known(), ring.rx_max.known()), (Some(&512), Some(&4096)));
    assert!(ring.tx.is_absent());
    // Of the others nobody knows whether they would have come later in the list.
    let ifb0 = snapshot.interface("ifb0").unwrap();
    assert_eq!(snapshot.origins.gap_of(ifb0.ring.rx.gap().unwrap()).why, GapKind::Failed);
}

#[test]
fn one_link_that_makes_no_sense_costs_one_link() {
    let mut recording = recording();
    for exchange in &mut recording.exchanges {
        if exchange.ask.to_string() == "RTM_GETLINK" {
            let Reply::Bytes(Blob(bytes)) = &mut exchange.reply else { panic!() };
            // The first attribute of the first link gets a length that leads nowhere.
            bytes[32..34].copy_from_slice(&[0xff, 0xff]);
        }
    }
    let snapshot = scan(&mut Recorded::new(recording));
    assert_eq!(snapshot.interfaces.len(), 3);
    assert_eq!(snapshot.sample.remarks, ["interface with index 1 could not be understood"]);
}

/// The recording with a login over the network whose own end is the address of eth0.
fn logged_in(process: u32) -> Recording {
    let mut recording = recording();
    let addresses = recording.exchanges.iter().find(|exchange| exchange.ask.to_string() == "RTM_GETADDR").unwrap();
    let answer = netlink::Answer::new(addresses.reply.clone());
    let row = answer.parts.iter().filter_map(|part| links::address(part)).find(|row| row.index == ETH0).unwrap();
    let connection = format!("198.51.100.7 50000 {} 22", row.address);
    recording.exchanges.retain(|exchange| !matches!(&exchange.ask, Ask::Variable { process: 0, .. }));
    let mut add = |ask, reply| recording.exchanges.push(Exchange { ask, reply, at_ms: 0 });
    let variable = |process| Ask::Variable { process, name: "SSH_CONNECTION".into() };
    if process != 0 {
        add(variable(0), Reply::errno(libc::ENODATA));
    }
    add(variable(process), Reply::Bytes(connection.as_str().into()));
    for exchange in &mut recording.exchanges {
        if exchange.ask.to_string() == "read of /proc/self/status" {
            exchange.reply = Reply::Bytes(format!("Name: x\nPPid: {process}\nCapEff: 0\n").as_str().into());
        }
    }
    let status = Request::read(format!("/proc/{process}/status")).ask;
    recording.exchanges.push(Exchange { ask: status, reply: Reply::Bytes("Name: sudo\nPPid: 1\n".into()), at_ms: 0 });
    recording
}

#[test]
fn the_session_is_found_in_our_environment_or_behind_sudo() {
    for process in [0, 77] {
        let snapshot = scan(&mut Recorded::new(logged_in(process)));
        assert_eq!(snapshot.interface("eth0").unwrap().session.is_session.known(), Some(&true), "{process}");
        assert_eq!(snapshot.interface("lo").unwrap().session.is_session.known(), Some(&false));
        assert_eq!(snapshot.host.privileged.known(), Some(&false));
    }
}

#[test]
fn a_session_whose_connection_is_hidden_is_unknown_not_local() {
    let mut recording = logged_in(77);
    recording.exchanges.retain(|exchange| !matches!(&exchange.ask, Ask::Variable { process: 77, .. }));
    for exchange in &mut recording.exchanges {
        if exchange.ask.to_string() == "read of /proc/77/status" {
            exchange.reply = Reply::Bytes("Name: sshd\nPPid: 1\n".into());
        }
    }
    let snapshot = scan(&mut Recorded::new(recording));
    assert!(snapshot.interface("eth0").unwrap().session.is_session.gap().is_some());
}
