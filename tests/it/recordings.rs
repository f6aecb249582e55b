//! Sessions that tests/vm/record.sh recorded with real drivers, from the messages of the kernel to the findings. What is
//! expected was read off what ip, ethtool and /proc/net/bonding printed in the same machine.

use netdoctor::probe::{ALL_FAULTS, Faulty, Kernel, Options, Recorded, Recording, collect};
use netdoctor::report::model::Report;
use netdoctor::snapshot::{Duplex, InterfaceKind, Snapshot};

use crate::support::{files, read, report};

/// Both samples of a session.
fn taken(kernel: &mut dyn Kernel) -> Snapshot {
    collect(kernel, &Options { interval_ms: 6000, ..Options::default() }, &mut |_| {})
}

fn recording(name: &str) -> Recording {
    serde_json::from_str(&read(format!("fixtures/netlink/{name}.json"))).unwrap()
}

fn session(name: &str) -> Snapshot {
    taken(&mut Recorded::new(recording(name)))
}

/// Rule, subject, kind and severity of each finding.
fn found(report: &Report) -> Vec<(&str, &str, &str, &str)> {
    let findings = report.findings.iter();
    findings.map(|one| (one.rule.as_str(), one.subject.as_str(), one.kind.as_str(), one.severity.as_str())).collect()
}

/// Rules that judged this subject and found nothing.
fn passes<'r>(report: &'r Report, subject: &str) -> Vec<&'r str> {
    let checks = report.checks.iter().filter(|check| check.result == "passes");
    checks.filter(|check| check.subjects.iter().any(|one| one == subject)).map(|check| check.rule.as_str()).collect()
}

/// The samples of a counter.
fn counted(snapshot: &Snapshot, interface: &str, group: &str, name: &str) -> Vec<u64> {
    let blocks = &snapshot.interface(interface).unwrap().counters;
    let block = blocks.iter().find(|block| block.group == group).unwrap();
    block.get(name).unwrap().values.iter().map(|value| value.unwrap()).collect()
}

#[test]
fn real_ports_read_as_their_tools_print_them() {
    let snapshot = session("bond-member-down");
    let igb0 = snapshot.interface("igb0").unwrap();
    assert_eq!(igb0.kind.known(), Some(&InterfaceKind::Ethernet));
    assert_eq!(
        (igb0.driver.name.known().unwrap(), igb0.driver.firmware.known().unwrap()),
        (&"igb".into(), &"2.1.0".into())
    );
    assert_eq!((igb0.link.speed.known().unwrap().0, igb0.link.duplex.known()), (1_000_000_000, Some(&Duplex::Full)));
    assert_eq!((igb0.link.autoneg.known(), igb0.link.up.known()), (Some(&true), Some(&true)));
    assert_eq!((igb0.mtu.known().unwrap().0, igb0.mtu_max.known().unwrap().0), (1500, 9216));
    assert_eq!((igb0.ring.rx.known(), igb0.ring.rx_max.known()), (Some(&256), Some(&4096)));
    assert_eq!((igb0.channels.combined.known(), igb0.channels.combined_max.known()), (Some(&4), Some(&8)));
    assert_eq!((igb0.coalesce.rx_usecs.known(), igb0.coalesce.tx_usecs.known()), (Some(&3), Some(&3)));
    assert!(igb0.coalesce.rx_frames.is_absent());
    assert_eq!(
        (igb0.pause.autoneg.known(), igb0.pause.rx.known(), igb0.pause.tx.known()),
        (Some(&true), Some(&true), Some(&true))
    );
    assert!(igb0.link.partner.known().is_none(), "this driver tells no modes of the partner");
    let e1000e0 = snapshot.interface("e1000e0").unwrap();
    assert_eq!(
        (e1000e0.driver.name.known().unwrap(), e1000e0.driver.firmware.known().unwrap()),
        (&"e1000e".into(), &"2.1-0".into())
    );
    assert_eq!((e1000e0.link.up.known(), e1000e0.admin_up.known()), (Some(&false), Some(&true)));
    assert!(e1000e0.link.speed.known().is_none() && e1000e0.link.duplex.known().is_none());
    assert!(e1000e0.channels.combined.is_absent(), "operation not supported");
    assert_eq!((e1000e0.mtu.known().unwrap().0, e1000e0.mtu_max.known().unwrap().0), (9000, 9212));
    assert_eq!(counted(&snapshot, "igb0", "rtnl_link_carrier", "carrier_down_count"), [4, 4]);
    assert_eq!(counted(&snapshot, "e1000e0", "rtnl_link_carrier", "carrier_changes"), [5, 5]);
    let statistics =
        |name: &str| snapshot.interface(name).unwrap().counters.iter().any(|block| block.group == "ethtool_statistics");
    assert!(statistics("igb0") && statistics("e1000e0") && !statistics("bond0"));
    // One member of the bond keeps its own address, which the other shows.
    assert_eq!(igb0.address.known(), e1000e0.address.known());
    assert_ne!(e1000e0.permanent_address.known(), e1000e0.address.known());
    for port in ["igb0", "e1000e0"] {
        let address = snapshot.interface(port).unwrap().device.known().copied().unwrap();
        let device = snapshot.devices.iter().find(|device| device.address == address).unwrap();
        let link = &device.pcie.links.known().unwrap()[0];
        assert_eq!(
            (link.speed.known().map(|speed| speed.0), link.width.known().copied()),
            (Some(2.5), Some(1)),
            "{port}"
        );
    }
}

#[test]
fn a_real_bond_and_its_vlan_read_as_the_kernel_prints_them() {
    let snapshot = session("bond-member-down");
    let bond = &snapshot.interface("bond0").unwrap().bond;
    assert_eq!((bond.mode.known().unwrap().as_str(), bond.miimon.known()), ("802.3ad", Some(&100)));
    assert_eq!(bond.xmit_hash_policy.known().unwrap(), "layer3+4");
    assert_eq!(bond.active_aggregator.known(), Some(&1));
    let members: Vec<_> = bond.members.known().unwrap().iter().collect();
    let row = |at: usize| {
        (
            members[at].name.as_str(),
            members[at].mii_up.known(),
            members[at].link_failures.known(),
            members[at].aggregator.known(),
        )
    };
    assert_eq!(members.len(), 2);
    assert_eq!(row(0), ("e1000e0", Some(&false), Some(&1), Some(&2)));
    assert_eq!(row(1), ("igb0", Some(&true), Some(&0), Some(&1)));
    let vlan = snapshot.interface("bond0.100").unwrap();
    assert_eq!((vlan.kind.known(), vlan.vlan_tags.known()), (Some(&InterfaceKind::Vlan), Some(&1)));
    assert_eq!((vlan.stack.parent.known().unwrap().as_str(), vlan.mtu.known().unwrap().0), ("bond0", 9000));
    let backup = session("bond-flap");
    let bond = &backup.interface("bond0").unwrap().bond;
    assert_eq!(bond.mode.known().unwrap(), "active-backup");
    assert_eq!(bond.active_member.known().unwrap(), "igb0");
    assert!(bond.members.known().unwrap().iter().all(|member| member.mii_up.known() == Some(&true)));
}

#[test]
fn a_member_without_a_link_and_one_with_small_packets_are_found() {
    let report = report(&session("bond-member-down"));
    // No partner speaks LACP in this machine; the VLAN and the bond below it both took an address of the same network.
    let expected = [
        ("link.admin-up-no-carrier", "e1000e0", "fault", "warning"),
        ("bond.member-down", "bond0", "fault", "critical"),
        ("bond.lacp-partner-missing", "bond0", "fault", "warning"),
        ("mtu.child-exceeds-parent", "bond0", "risk", "advice"),
        ("route.same-subnet-two-nics", "host", "risk", "advice"),
    ];
    assert_eq!(found(&report), expected);
    let under = |rule: &str| report.findings.iter().find(|one| one.rule == rule).unwrap();
    let member = under("bond.member-down");
    assert_eq!(member.under.as_deref(), Some("link.admin-up-no-carrier"), "the port without a link is the cause");
    assert!(member.why.starts_with("1 of the 2 members of bond0 are up"), "{}", member.why);
    let small = under("mtu.child-exceeds-parent");
    assert!(small.why.contains("only 1500 B"), "{}", small.why);
    // The VLAN is as large as the bond that carries it; the links did not fall in the sample, and seldom before.
    assert!(passes(&report, "bond0.100").contains(&"mtu.child-exceeds-parent"));
    assert!(passes(&report, "igb0").contains(&"link.flapping"));
    assert!(passes(&report, "e1000e0").contains(&"link.flapping"));
}

#[test]
fn a_link_that_falls_between_the_samples_is_found_and_nothing_else() {
    let snapshot = session("bond-flap");
    let [before, after] = counted(&snapshot, "igb0", "rtnl_link_carrier", "carrier_down_count")[..] else { panic!() };
    assert_eq!((before, after), (1, 2));
    assert_eq!(counted(&snapshot, "e1000e0", "rtnl_link_carrier", "carrier_down_count"), [1, 1]);
    assert_eq!(counted(&snapshot, "igb0", "ethtool_statistics", "rx_crc_errors").len(), 1, "not compared over a fall");
    let report = report(&snapshot);
    // The VLAN and the bond below it both took an address of the same network.
    let expected =
        [("link.flapping", "igb0", "fault", "critical"), ("route.same-subnet-two-nics", "host", "risk", "advice")];
    assert_eq!(found(&report), expected);
    assert!(report.findings[0].why.contains("fell 1 times within the sample"), "{}", report.findings[0].why);
    assert!(passes(&report, "e1000e0").contains(&"link.flapping"));
    assert!(passes(&report, "bond0").contains(&"bond.member-down"), "it was whole when it was asked");
}

#[test]
fn no_disturbance_of_a_session_makes_it_panic_or_differ() {
    for path in files("fixtures/netlink", "json") {
        let whole: Recording = serde_json::from_str(&read(&path)).unwrap();
        for seed in 0..40 {
            let run = || taken(&mut Faulty::new(seed, ALL_FAULTS, Recorded::new(whole.clone())));
            let snapshot = run();
            assert_eq!(snapshot, run(), "{}, seed {seed}", path.display());
            report(&snapshot);
        }
    }
}
