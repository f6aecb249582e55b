//! Files for the next boot, as trees of files: who reads them, and which of them holds.

use super::trees::{CLOSED, Tree};
use super::*;
use crate::snapshot::ConfiguredSetting;

/// Settings of a tree of files.
fn settings(tree: &Tree) -> (Vec<ConfiguredSetting>, Snapshot) {
    let mut tree = tree.clone();
    tree.file("/etc/hostname", "box\n");
    let snapshot = scan(&mut tree);
    (snapshot.host.configured.known().unwrap().clone(), snapshot)
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.file(path, *text);
    }
    tree
}

/// File, value and verdict of the settings of a key.
fn of<'s>(settings: &'s [ConfiguredSetting], key: &str) -> Vec<(&'s str, &'s str, Option<bool>)> {
    let rows = settings.iter().filter(|setting| setting.key == key);
    rows.map(|setting| (setting.file.as_str(), setting.value.as_str(), setting.wins.known().copied())).collect()
}

const SYSTEMD: (&str, &str) = ("/run/systemd/system/x", "");
const KEY: &str = "net.core.rmem_max";

#[test]
fn sysctl_files_are_read_by_name_whatever_their_directory() {
    let tree = tree(&[
        SYSTEMD,
        ("/etc/sysctl.d/10-first.conf", "net.core.rmem_max = 1\nnet.core.wmem_max = 5\n"),
        ("/usr/lib/sysctl.d/50-vendor.conf", "net.core.rmem_max = 2\n"),
        ("/run/sysctl.d/60-run.conf", "net/core/rmem_max = 3\nkernel.pid_max = 7\n"),
        ("/usr/lib/sysctl.d/60-run.conf", "net.core.rmem_max = 4\n"),
    ]);
    let (rows, _) = settings(&tree);
    assert_eq!(
        of(&rows, KEY),
        [
            ("/etc/sysctl.d/10-first.conf", "1", Some(false)),
            ("/usr/lib/sysctl.d/50-vendor.conf", "2", Some(false)),
            ("/usr/lib/sysctl.d/60-run.conf", "4", Some(false)),
            ("/run/sysctl.d/60-run.conf", "3", Some(true)),
        ]
    );
    assert_eq!(of(&rows, "net.core.wmem_max"), [("/etc/sysctl.d/10-first.conf", "5", Some(true))]);
    assert!(of(&rows, "kernel.pid_max").is_empty());
}

#[test]
fn the_old_file_counts_at_boot_only_where_something_reads_it() {
    let files =
        [("/etc/sysctl.conf", "net.core.rmem_max = 9\n"), ("/etc/sysctl.d/99-zz.conf", "net.core.rmem_max = 8\n")];
    let old = |wins| ("/etc/sysctl.conf", "9", Some(wins));
    let fragment = |wins| ("/etc/sysctl.d/99-zz.conf", "8", Some(wins));
    // systemd does not read it.
    let mut host = tree(&[&[SYSTEMD][..], &files].concat());
    assert_eq!(of(&settings(&host).0, KEY), [fragment(true), old(false)]);
    // Debian's link puts it behind 90-x.conf and before 99-zz.conf; the lines stand in the file itself.
    host.link("/etc/sysctl.d/99-sysctl.conf", "/etc/sysctl.conf");
    host.file("/etc/sysctl.d/90-x.conf", "net.core.rmem_max = 7\n");
    let (rows, _) = settings(&host);
    assert_eq!(of(&rows, KEY), [("/etc/sysctl.d/90-x.conf", "7", Some(false)), fragment(true), old(false)]);
    host.file("/etc/sysctl.d/99-zz.conf", "# nothing\n");
    assert_eq!(of(&settings(&host).0, KEY), [("/etc/sysctl.d/90-x.conf", "7", Some(false)), old(true)]);
    // procps reads it last.
    assert_eq!(of(&settings(&tree(&files)).0, KEY), [fragment(false), old(true)]);
}

#[test]
fn a_file_that_is_switched_off_or_closed_is_not_one_that_sets_nothing() {
    let mut host = tree(&[
        SYSTEMD,
        ("/usr/lib/sysctl.d/50-a.conf", "net.core.rmem_max = 1\n"),
        ("/usr/lib/sysctl.d/60-b.conf", "net.core.rmem_max = 2\n"),
    ]);
    host.link("/etc/sysctl.d/60-b.conf", "/dev/null");
    let masked = ("/usr/lib/sysctl.d/60-b.conf", "2", Some(false));
    assert_eq!(of(&settings(&host).0, KEY), [("/usr/lib/sysctl.d/50-a.conf", "1", Some(true)), masked]);
    host.file("/etc/sysctl.d/70-closed.conf", CLOSED);
    let (rows, snapshot) = settings(&host);
    assert_eq!(of(&rows, KEY), [("/usr/lib/sysctl.d/50-a.conf", "1", None), masked]);
    assert!(snapshot.sample.needs_root[0].starts_with("settings that files keep"), "{:?}", snapshot.sample.needs_root);
}

#[test]
fn tuned_stands_before_the_files_of_the_administrator_unless_told_otherwise() {
    let mut host = tree(&[
        SYSTEMD,
        ("/proc/1/comm", "systemd\n"),
        ("/proc/50/comm", "tuned\n"),
        ("/etc/tuned/active_profile", "network-throughput\n"),
        ("/usr/lib/tuned/network-throughput/tuned.conf", "[main]\ninclude=throughput\n[sysctl]\nnet.core.rmem_max=5\n"),
        (
            "/usr/lib/tuned/throughput/tuned.conf",
            "[sysctl]\nnet.core.rmem_max=4\nnet.core.wmem_max=4\n[cpu]\ngovernor=performance\n",
        ),
        ("/usr/lib/sysctl.d/50-vendor.conf", "net.core.wmem_max = 1\n"),
        ("/etc/sysctl.d/60-own.conf", "net.core.rmem_max = 2\n"),
    ]);
    let vendor = ("/usr/lib/sysctl.d/50-vendor.conf", "1", Some(false));
    let below = "/usr/lib/tuned/throughput/tuned.conf";
    let above = "/usr/lib/tuned/network-throughput/tuned.conf";
    let own = |wins| ("/etc/sysctl.d/60-own.conf", "2", Some(wins));
    let (rows, _) = settings(&host);
    assert_eq!(of(&rows, KEY), [own(true), (below, "4", Some(false)), (above, "5", Some(false))]);
    assert_eq!(of(&rows, "net.core.wmem_max"), [vendor, (below, "4", Some(true))]);
    assert_eq!(of(&rows, "governor"), [(below, "performance", Some(true))]);
    host.file("/etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n");
    let (rows, _) = settings(&host);
    assert_eq!(of(&rows, KEY), [own(false), (below, "4", Some(false)), (above, "5", Some(true))]);
    // It reads the old file too, which systemd leaves alone.
    host.file("/etc/tuned/tuned-main.conf", "reapply_sysctl = 1\n");
    host.file("/etc/sysctl.conf", "net.core.rmem_max = 3\n");
    assert_eq!(of(&settings(&host).0, KEY)[1], ("/etc/sysctl.conf", "3", Some(true)));
    // Installed and not running, it does nothing.
    host.file("/proc/50/comm", "other\n");
    assert_eq!(of(&settings(&host).0, KEY), [own(true), ("/etc/sysctl.conf", "3", Some(false))]);
}

#[test]
fn ufw_comes_after_systemd_where_it_is_enabled() {
    let mut host = tree(&[
        SYSTEMD,
        ("/etc/sysctl.d/99-x.conf", "net.ipv4.conf.all.rp_filter = 2\n"),
        ("/etc/ufw/sysctl.conf", "net/ipv4/conf/all/rp_filter=1\n"),
        ("/etc/ufw/ufw.conf", "ENABLED=yes\n"),
    ]);
    let key = "net.ipv4.conf.all.rp_filter";
    let (rows, _) = settings(&host);
    assert_eq!(
        of(&rows, key),
        [("/etc/sysctl.d/99-x.conf", "2", Some(false)), ("/etc/ufw/sysctl.conf", "1", Some(true))]
    );
    host.file("/etc/ufw/ufw.conf", "ENABLED=no\n");
    assert_eq!(of(&settings(&host).0, key), [("/etc/sysctl.d/99-x.conf", "2", Some(true))]);
}

#[test]
fn managers_keep_what_they_set_and_no_secret() {
    let host = tree(&[
        (
            "/etc/NetworkManager/system-connections/lan.nmconnection",
            "[connection]\nid=lan\ninterface-name=eno1\n[ethernet]\nmtu=9000\n[wifi-security]\npsk=hidden\n",
        ),
        ("/etc/netplan/01-a.yaml", "network:\n  ethernets:\n    eno1:\n      mtu: 1500\n"),
        ("/etc/netplan/50-b.yaml", "network:\n  ethernets:\n    eno1:\n      mtu: 9000\n"),
        ("/etc/network/interfaces", "source interfaces.d/*.cfg\niface eno2 inet dhcp\n  mtu 9000\n"),
        ("/etc/network/interfaces.d/a.cfg", "iface eno3 inet dhcp\n  post-up ethtool -G eno3 rx 4096\n"),
        ("/etc/network/interfaces.d/a.bak", "iface eno3 inet dhcp\n  mtu 1\n"),
        ("/etc/sysconfig/network-scripts/ifcfg-eno4", "DEVICE=eno4\nMTU=9000\n"),
        ("/etc/sysconfig/network-scripts/ifcfg-lo", "MTU=1\n"),
        ("/etc/udev/rules.d/70-x.rules", "SUBSYSTEM==\"net\", KERNEL==\"eno5\", ATTR{mtu}=\"9000\"\n"),
        ("/usr/lib/udev/rules.d/80-x.rules", "SUBSYSTEM==\"net\", ATTR{mtu}=\"1\"\n"),
        ("/etc/modprobe.d/x.conf", "options bonding max_bonds=0\noptions snd a=1\n"),
        ("/usr/lib/modprobe.d/a.conf", "options bonding max_bonds=9\n"),
        ("/etc/systemd/system/rings.service", "[Service]\nExecStart=/usr/sbin/ethtool -G eno1 rx 4096\n"),
        ("/etc/systemd/system/multi-user.target.wants/rings.service", "x"),
        ("/etc/rc.local", "#!/bin/sh\nethtool -K eno1 tso off\n"),
    ]);
    let (rows, snapshot) = settings(&host);
    let seen: Vec<(&str, &str, &str, &str, Option<bool>)> = rows
        .iter()
        .map(|row| {
            (row.manager.as_str(), row.scope.as_str(), row.key.as_str(), row.value.as_str(), row.wins.known().copied())
        })
        .collect();
    for wanted in [
        ("NetworkManager", "ethernet of eno1", "mtu", "9000", Some(true)),
        ("netplan", "ethernets.eno1", "mtu", "1500", Some(false)),
        ("netplan", "ethernets.eno1", "mtu", "9000", Some(true)),
        ("ifupdown", "iface eno2", "mtu", "9000", Some(true)),
        ("ifupdown", "iface eno3", "post-up", "ethtool -G eno3 rx 4096", Some(true)),
        ("ifcfg", "eno4", "MTU", "9000", Some(true)),
        ("udev", "SUBSYSTEM==\"net\", KERNEL==\"eno5\"", "ATTR{mtu}", "9000", Some(true)),
        // By name: a.conf of the distribution stands before x.conf.
        ("modprobe", "bonding", "max_bonds", "0", Some(true)),
        ("modprobe", "bonding", "max_bonds", "9", Some(false)),
        ("systemd-unit", "", "ExecStart", "/usr/sbin/ethtool -G eno1 rx 4096", Some(true)),
        ("script", "", "command", "ethtool -K eno1 tso off", None),
    ] {
        assert!(seen.contains(&wanted), "{wanted:?} is not in {seen:#?}");
    }
    // What is left are the name and the old values of these; nothing else was kept.
    assert_eq!(seen.len(), 12, "{seen:#?}");
    assert!(!snapshot.to_json().contains("hidden"));
}

#[test]
fn connections_that_only_root_may_read_are_told() {
    let mut host = Tree::default();
    host.file("/etc/NetworkManager/system-connections/lan.nmconnection", CLOSED);
    let (rows, snapshot) = settings(&host);
    assert!(rows.is_empty());
    let needs = "connections of NetworkManager: sudo grep -r . /etc/NetworkManager/system-connections";
    assert_eq!(snapshot.sample.needs_root, [needs]);
}
