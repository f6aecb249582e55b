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
fn queues_moderation_eee_fec_and_the_reason_for_no_link_are_read_from_hardware() {
    let word = |value: u32| value.to_ne_bytes().to_vec();
    let mut recording = recording();
    let mut exchange = |name: &str, command: u8, fields: &[(u16, Vec<u8>)]| {
        answer(&mut recording, name, &[about(ETH0, command, fields), done(0)].concat());
    };
    exchange("ETHTOOL_MSG_LINKSTATE_GET", 6, &[(2, vec![1]), (3, word(6)), (5, vec![1]), (6, vec![2])]);
    exchange("ETHTOOL_MSG_CHANNELS_GET", 17, &[(2, word(8)), (5, word(63)), (6, word(0)), (9, word(16))]);
    exchange("ETHTOOL_MSG_COALESCE_GET", 19, &[(2, word(50)), (7, word(32)), (11, vec![1]), (12, vec![0])]);
    exchange("ETHTOOL_MSG_EEE_GET", 23, &[(2, bitset(&[5], Some(&[3, 5]))), (4, vec![0]), (5, vec![1])]);
    let mut stats = Vec::new();
    netlink::push(&mut stats, 2, &[9u64.to_ne_bytes(), 4u64.to_ne_bytes(), 5u64.to_ne_bytes()].concat());
    netlink::push(&mut stats, 3, &1u64.to_ne_bytes());
    let fec = [(2, bitset(&[50, 51], None)), (3, vec![1]), (4, word(50)), (5 | 0x8000, stats)];
    exchange("ETHTOOL_MSG_FEC_GET", 29, &fec);
    let options = Options { interval_ms: 200, ..Options::default() };
    let snapshot = collect(&mut Recorded::new(recording), &options, &mut |_| {});
    let eth0 = snapshot.interface("eth0").unwrap();
    assert_eq!(eth0.link.ext_state.known().unwrap(), "Link training failure");
    assert_eq!(eth0.link.sqi.known(), Some(&6));
    let channels = &eth0.channels;
    assert_eq!((channels.rx.known(), channels.rx_max.known()), (Some(&0), Some(&8)));
    assert_eq!((channels.combined.known(), channels.combined_max.known()), (Some(&16), Some(&63)));
    assert!(channels.tx.is_absent());
    let coalesce = &eth0.coalesce;
    assert_eq!((coalesce.rx_usecs.known(), coalesce.tx_frames.known()), (Some(&50), Some(&32)));
    assert_eq!((coalesce.adaptive_rx.known(), coalesce.adaptive_tx.known()), (Some(&true), Some(&false)));
    assert!(coalesce.rx_frames.is_absent());
    assert_eq!((eth0.eee.enabled.known(), eth0.eee.active.known()), (Some(&true), Some(&false)));
    assert_eq!(names(eth0.fec.configured.known().unwrap()), ["auto", "baser", "rs"]);
    assert_eq!(eth0.fec.active.known().unwrap(), "rs");
    let block = eth0.counters.iter().find(|block| block.group == "ethtool_fec").unwrap();
    assert_eq!(block.get("corrected").unwrap().values, [Some(9), Some(9)]);
    assert_eq!(block.get("uncorrectable").unwrap().total(), Some(1));
    assert!(block.get("corrected_bits").is_none());
}

#[test]
fn what_the_driver_says_nothing_of_is_no_zero() {
    let mut recording = recording();
    let fec = [(2, bitset(&[49], None)), (3, vec![0])];
    answer(&mut recording, "ETHTOOL_MSG_FEC_GET", &[about(ETH0, 29, &fec), done(0)].concat());
    let eee = [(2, bitset(&[], Some(&[]))), (4, vec![0]), (5, vec![0])];
    answer(&mut recording, "ETHTOOL_MSG_EEE_GET", &[about(ETH0, 23, &eee), done(0)].concat());
    answer(&mut recording, "ETHTOOL_MSG_LINKSTATE_GET", &[about(ETH0, 6, &[(5, vec![77])]), done(0)].concat());
    answer(&mut recording, "ETHTOOL_MSG_CHANNELS_GET", &done(0));
    follow_up(&mut recording, ethtool::Command::Channels, &refused(libc::EPERM));
    let snapshot = scan(&mut Recorded::new(recording));
    let eth0 = snapshot.interface("eth0").unwrap();
    let why = |gap: Option<crate::reading::GapId>| snapshot.origins.gap_of(gap.unwrap()).clone();
    assert_eq!(names(eth0.fec.configured.known().unwrap()), ["off"]);
    assert_eq!(why(eth0.fec.active.gap()).why, GapKind::DriverUnknown);
    assert!(eth0.eee.enabled.is_absent());
    assert_eq!(why(eth0.link.ext_state.gap()).why, GapKind::DriverUnknown);
    assert!(eth0.link.sqi.is_absent());
    assert_eq!(why(eth0.channels.combined.gap()).command, "sudo ethtool -l eth0");
}

#[test]
fn standard_statistics_have_two_samples_under_the_names_of_the_kernel() {
    let mut counters = Vec::new();
    netlink::push(&mut counters, 4, &3u64.to_ne_bytes());
    let mut group = Vec::new();
    netlink::push(&mut group, 2, &1u32.to_ne_bytes());
    netlink::push(&mut group, 3, &18u32.to_ne_bytes());
    netlink::push(&mut group, 4 | 0x8000, &counters);
    let mut recording = recording();
    answer(&mut recording, "ETHTOOL_MSG_STATS_GET", &about(ETH0, 32, &[(4 | 0x8000, group)]));
    // An answer to a request for one device ends by itself.
    for exchange in &mut recording.exchanges {
        if exchange.ask.to_string() == "ETHTOOL_MSG_STATS_GET" {
            let Reply::Bytes(Blob(bytes)) = &mut exchange.reply else { panic!() };
            bytes[6] = 0;
        }
    }
    let options = Options { interval_ms: 200, ..Options::default() };
    let snapshot = collect(&mut Recorded::new(recording), &options, &mut |_| {});
    let eth0 = snapshot.interface("eth0").unwrap();
    let block = eth0.counters.iter().find(|block| block.group == "ethtool_standard").unwrap();
    assert_eq!(block.get("FrameCheckSequenceErrors").unwrap().values, [Some(3), Some(3)]);
}

/// A message of RTM_NEWLINK.
fn link(index: u32, name: &str, fields: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut payload = vec![0; 16];
    payload[2] = 1;
    payload[4..8].copy_from_slice(&index.to_ne_bytes());
    netlink::push(&mut payload, 3, format!("{name}\0").as_bytes());
    for (kind, value) in fields {
        netlink::push(&mut payload, *kind, value);
    }
    let mut message = netlink::message(16, 0, &payload);
    message[6..8].copy_from_slice(&2u16.to_ne_bytes());
    message
}

fn nested(fields: &[(u16, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, value) in fields {
        netlink::push(&mut out, *kind, value);
    }
    out
}

#[test]
fn a_bond_knows_its_members_and_other_devices_are_none() {
    let aggregate = nested(&[(1, &1u16.to_ne_bytes()), (5, &[2, 0, 0x5e, 0, 0x53, 0xfe])]);
    let data = |mode: u8| {
        let fields: [(u16, &[u8]); 6] = [
            (1, &[mode]),
            (2, &62u32.to_ne_bytes()),
            (3, &100u32.to_ne_bytes()),
            (7, &[0; 4]),
            (14, &[1]),
            (0x8017, &aggregate),
        ];
        nested(&fields)
    };
    let bond = |mode| vec![(18, nested(&[(1, b"bond\0"), (2, &data(mode))]))];
    let member = |master: u32, status: u8| {
        let data = nested(&[(2, &[status]), (3, &4u32.to_ne_bytes()), (6, &1u16.to_ne_bytes())]);
        vec![(10, master.to_ne_bytes().to_vec()), (18, nested(&[(4, b"bond\0"), (5, &data)]))]
    };
    let mut recording = recording();
    let bytes = [
        link(50, "bond0", &bond(4)),
        link(60, "bond1", &bond(1)),
        link(52, "p10", &member(50, 2)),
        link(51, "p9", &member(50, 0)),
        link(62, "q0", &member(60, 0)),
        done(0),
    ]
    .concat();
    answer(&mut recording, "RTM_GETLINK", &bytes);
    let fields = [(5, 25_000u32.to_ne_bytes().to_vec()), (6, vec![1])];
    let bytes = [about(51, 4, &fields), done(0)].concat();
    answer(&mut recording, "ETHTOOL_MSG_LINKMODES_GET", &bytes);
    let snapshot = scan(&mut Recorded::new(recording));
    let bond = &snapshot.interface("bond0").unwrap().bond;
    assert_eq!(bond.mode.known().unwrap(), "802.3ad");
    assert_eq!(bond.xmit_hash_policy.known().unwrap(), "layer3+4");
    assert_eq!((bond.miimon.known(), bond.arp_interval.known()), (Some(&100), Some(&0)));
    assert_eq!(bond.active_aggregator.known(), Some(&1));
    assert_eq!(bond.partner_address.known().unwrap(), "02:00:5e:00:53:fe");
    assert!(bond.active_member.is_absent());
    let members = bond.members.known().unwrap();
    let seen: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.mii_up.known())).collect();
    assert_eq!(seen, [("p9", Some(&true)), ("p10", Some(&false))]);
    assert_eq!(members[0].speed.known().unwrap().0, 25_000_000_000);
    assert_eq!((members[0].link_failures.known(), members[0].aggregator.known()), (Some(&4), Some(&1)));
    assert!(members[1].speed.known().is_none());
    let bond = &snapshot.interface("bond1").unwrap().bond;
    assert_eq!(
        (bond.mode.known().unwrap().as_str(), bond.active_member.known().unwrap().as_str()),
        ("active-backup", "q0")
    );
    assert!(bond.active_aggregator.is_absent() && bond.partner_address.is_absent());
    assert!(bond.members.known().unwrap()[0].aggregator.is_absent());
    assert!(snapshot.interface("q0").unwrap().bond.members.is_absent());
}

#[test]
fn a_refused_dump_of_qdiscs_is_a_gap_with_the_command() {
    let mut recording = recording();
    answer(&mut recording, "RTM_GETQDISC", &refused(libc::EOPNOTSUPP));
    let snapshot = scan(&mut Recorded::new(recording));
    let gap = snapshot.interface("eth0").unwrap().qdiscs.gap().unwrap();
    let gap = snapshot.origins.gap_of(gap);
    assert_eq!((gap.why, gap.command.as_str()), (GapKind::Failed, "tc -s qdisc show dev eth0"));
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
