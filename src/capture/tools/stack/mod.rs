//! What stands on the ports: queueing disciplines, bonds, bridges, VLANs, teams.

mod queueing;

use super::super::command::Command;
use super::super::site::Site;
use super::{Intake, Tool, is_interface_name};
use crate::formats::bonding::{self, Bonding};
use crate::formats::cursor::{At, Cursor};
use crate::formats::{bridging, team, vlan};
use crate::reading::{BitsPerSecond, Gap, GapKind, Reading};
use crate::snapshot::{BondMember, Duplex, InterfaceKind, natural};

pub(super) static TOOLS: &[Tool] = &[
    queueing::TC,
    queueing::FILTERS,
    Tool {
        name: "/proc/net/bonding",
        answers: |command| bond_of(command).is_some(),
        begins: |cursor| cursor.peek().is_some_and(|line| bonding::begins(line.text)),
        read: bond,
    },
    Tool {
        name: "/proc/net/vlan",
        answers: |command| command.files().iter().any(|file| file.starts_with("/proc/net/vlan/")),
        begins: |cursor| cursor.peek().is_some_and(|line| vlan::begins(line.text)),
        read: vlans,
    },
    Tool {
        name: "brctl",
        answers: |command| command.program == "brctl",
        begins: |cursor| cursor.peek().is_some_and(|line| bridging::begins(line.text)),
        read: bridges,
    },
    Tool {
        name: "bridge",
        answers: |command| command.program == "bridge",
        begins: |cursor| cursor.peek().is_some_and(|line| bridging::port(line.text).is_some()),
        read: bridge_rows,
    },
    Tool { name: "teamdctl", answers: |command| command.program == "teamdctl", begins: team::begins, read: teams },
];

/// The bond that a command prints the file of.
fn bond_of(command: &Command) -> Option<&str> {
    command.files().into_iter().find_map(|file| file.strip_prefix("/proc/net/bonding/"))
}

/// Notes that an interface gathers others.
fn gather(site: &mut Site, name: &str, kind: InterfaceKind, members: &[At<String>], line: u32) {
    site.put(name, |i| &mut i.kind, At::new(kind, line));
    site.put(
        name,
        |i| &mut i.stack.members,
        At::new(members.iter().map(|member| member.value.clone()).collect(), line),
    );
    for member in members.iter().filter(|member| is_interface_name(&member.value)) {
        site.put(&member.value, |i| &mut i.stack.master, At::new(name.to_owned(), member.line));
    }
}

fn bond(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let files = intake.command.map_or_else(Vec::new, Command::files);
    // `grep X /proc/net/bonding/*` puts the file before each line.
    if let Some(line) = cursor.peek()
        && let Some((file, _)) = line.text.split_once(':').filter(|(file, _)| file.starts_with("/proc/net/bonding/"))
    {
        let file = file.to_owned();
        let mut found = Bonding::default();
        while let Some(row) =
            cursor.peek().and_then(|line| Some((line.text.strip_prefix(&file)?.strip_prefix(':')?, line.number)))
        {
            found.line = if found.line == 0 { row.1 } else { found.line };
            found.grepped(row.0, row.1);
            cursor.take();
        }
        let name = file.trim_start_matches("/proc/net/bonding/");
        if is_interface_name(name) {
            put_bond(intake.site, name, found, true);
        }
        return;
    }
    let Some(found) = bonding::parse(cursor) else { return };
    let filtered = intake.is_filtered();
    // Never the one interface that is known so far: that may be a member.
    let name = match files.as_slice() {
        [only] => only.strip_prefix("/proc/net/bonding/").filter(|name| is_interface_name(name)).map(str::to_owned),
        _ => None,
    };
    let name = name.unwrap_or_else(|| format!("{}{}", crate::snapshot::STAND_IN, found.line));
    put_bond(intake.site, &name, found, filtered);
}

fn put_bond(site: &mut Site, name: &str, found: Bonding, filtered: bool) {
    let line = found.line;
    let lacp = found.mode.as_ref().map(|mode| mode.value == "802.3ad");
    site.put(name, |i| &mut i.kind, At::new(InterfaceKind::Bond, line));
    site.put_some(name, |i| &mut i.bond.mode, found.mode.map(|at| at.map(str::to_owned)));
    site.put_some(name, |i| &mut i.bond.xmit_hash_policy, found.hash_policy);
    // The kernel prints the interval of ARP monitoring only where there is any.
    let complete = !filtered && found.miimon.is_some() && !found.members.is_empty();
    let arp = found.arp_interval.or_else(|| found.miimon.as_ref().filter(|_| complete).map(|at| At::new(0, at.line)));
    site.put_some(name, |i| &mut i.bond.arp_interval, arp);
    site.put_some(name, |i| &mut i.bond.miimon, found.miimon);
    match found.active_member {
        Some(At { value: Some(member), line }) => site.put(name, |i| &mut i.bond.active_member, At::new(member, line)),
        Some(At { value: None, line }) => site.put_absent(name, |i| &mut i.bond.active_member, line),
        None => {}
    }
    if lacp == Some(false) {
        site.put_absent(name, |i| &mut i.bond.active_aggregator, line);
        site.put_absent(name, |i| &mut i.bond.partner_address, line);
    }
    site.put_some(name, |i| &mut i.bond.active_aggregator, found.active_aggregator);
    site.put_some(name, |i| &mut i.bond.partner_address, found.partner_address);
    if found.members.is_empty() {
        return;
    }
    let mut members = Vec::with_capacity(found.members.len());
    for member in &found.members {
        fn known<T>(site: &mut Site, value: Option<At<T>>) -> Reading<T> {
            value.map_or_else(Reading::default, |at| Reading::Known(at.value, site.source(at.line)))
        }
        let megabits = |at: At<Option<u32>>| Some(At::new(BitsPerSecond(u64::from(at.value?) * 1_000_000), at.line));
        let speed = member.speed.clone().and_then(megabits);
        let unsaid = Gap::new(GapKind::DriverUnknown).detail("Speed: Unknown");
        let mut row = BondMember {
            name: member.name.clone(),
            mii_up: known(site, member.mii_up.clone()),
            link_failures: known(site, member.link_failures.clone()),
            aggregator: known(site, member.aggregator.clone()),
            speed: known(site, speed.clone()),
            churned: known(site, member.churned.clone()),
        };
        if lacp == Some(false) && !filtered {
            row.aggregator = Reading::Absent(site.source(member.line));
            row.churned = Reading::Absent(site.source(member.line));
        }
        if member.speed.is_some() && speed.is_none() {
            row.speed = Reading::Unknown(site.snapshot.origins.gap(unsaid));
        }
        members.push(row);
        if !is_interface_name(&member.name) {
            continue;
        }
        site.put(&member.name, |i| &mut i.stack.master, At::new(name.to_owned(), member.line));
        site.put_some(&member.name, |i| &mut i.link.speed, speed);
        let duplex = member.duplex.clone().and_then(|at| {
            let word = match at.value.as_str() {
                "full" => Duplex::Full,
                "half" => Duplex::Half,
                _ => return None,
            };
            Some(At::new(word, at.line))
        });
        site.put_some(&member.name, |i| &mut i.link.duplex, duplex);
        let address = member.permanent_address.clone().filter(|at| {
            at.value.len() == 17 && at.value.contains(|char: char| char.is_ascii_hexdigit()) && !at.value.contains('x')
        });
        site.put_some(&member.name, |i| &mut i.permanent_address, address);
    }
    members.sort_by_key(|member| natural(&member.name));
    let mut names: Vec<String> = found.members.iter().map(|member| member.name.clone()).collect();
    names.sort_by_key(|name| natural(name));
    site.put(name, |i| &mut i.stack.members, At::new(names, line));
    site.put(name, |i| &mut i.bond.members, At::new(members, line));
}

fn vlans(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(found) = vlan::parse(cursor) else { return };
    let site = &mut *intake.site;
    let parent_of = |name: &str| found.iter().find(|row| row.value.name == name).map(|row| row.value.parent.as_str());
    for row in found.iter().filter(|row| is_interface_name(&row.value.name) && is_interface_name(&row.value.parent)) {
        // A VLAN of a VLAN carries both tags.
        let mut tags = 1;
        let mut below = row.value.parent.as_str();
        while let Some(parent) = parent_of(below).filter(|_| tags < 8) {
            tags += 1;
            below = parent;
        }
        let name = row.value.name.as_str();
        site.put(name, |i| &mut i.kind, At::new(InterfaceKind::Vlan, row.line));
        site.put(name, |i| &mut i.stack.parent, At::new(row.value.parent.clone(), row.line));
        site.put(name, |i| &mut i.vlan_tags, At::new(tags, row.line));
        site.put(name, |i| &mut i.vlan_id, At::new(row.value.id, row.line));
    }
}

fn bridges(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(found) = bridging::parse(cursor) else { return };
    for bridge in found.iter().filter(|bridge| is_interface_name(&bridge.name)) {
        gather(intake.site, &bridge.name, InterfaceKind::Bridge, &bridge.ports, bridge.line);
        intake.site.put(&bridge.name, |i| &mut i.bridge.stp, At::new(bridge.stp, bridge.line));
    }
}

fn bridge_rows(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some(line) = cursor.peek() {
        let text = line.text;
        let further = text.starts_with([' ', '\t']) && text.contains(" on") | text.contains(" off");
        match bridging::port(text) {
            Some(port) if is_interface_name(&port.name) && is_interface_name(&port.master) => {
                intake.site.put(&port.name, |i| &mut i.stack.master, At::new(port.master.clone(), line.number));
            }
            Some(_) => {}
            None if intake.command.is_some() && (further || bridging::is_other_row(text)) => {}
            None => break,
        }
        cursor.take();
    }
}

fn teams(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(found) = team::parse(cursor) else { return };
    // `teamdctl team0 state`: the first operand.
    let operand = intake.command.and_then(|command| command.arguments.iter().find(|word| !word.starts_with('-')));
    let Some(name) = found.name.or_else(|| operand.cloned()).filter(|name| is_interface_name(name)) else { return };
    let ports: Vec<At<String>> = found.ports.into_iter().map(|port| port.map(|(name, _)| name)).collect();
    gather(intake.site, &name, InterfaceKind::Team, &ports, found.line);
}

#[cfg(test)]
mod tests {
    use super::super::super::transcript::one;
    use crate::snapshot::InterfaceKind;

    const BOND: &str = "Ethernet Channel Bonding Driver: v6.8.0\n\nBonding Mode: fault-tolerance (active-backup)\nCurrently Active Slave: eno1\n\
        MII Status: up\nMII Polling Interval (ms): 0\nUp Delay (ms): 0\n\nSlave Interface: eno1\nMII Status: up\nSpeed: 1000 Mbps\n\
        Duplex: full\nLink Failure Count: 9\nPermanent HW addr: xx:xx:xx:xx:xx:xx\nSlave queue ID: 0\n\nSlave Interface: wlan0\nMII Status: up\nSpeed: Unknown\n";

    #[test]
    fn a_bond_and_its_members() {
        let (snapshot, understood) = one(&format!("$ cat /proc/net/bonding/bond0\n{BOND}"));
        assert_eq!(understood.left, []);
        let bond = snapshot.interface("bond0").unwrap();
        assert_eq!(
            (bond.kind.known(), bond.bond.mode.known().unwrap().as_str()),
            (Some(&InterfaceKind::Bond), "active-backup")
        );
        assert_eq!((bond.bond.miimon.known(), bond.bond.arp_interval.known()), (Some(&0), Some(&0)));
        assert!(bond.bond.partner_address.is_absent());
        let members = bond.bond.members.known().unwrap();
        assert_eq!((members[0].link_failures.known(), members[0].speed.known().unwrap().0), (Some(&9), 1_000_000_000));
        assert!(members[1].speed.known().is_none() && members[1].aggregator.is_absent());
        let member = snapshot.interface("eno1").unwrap();
        assert_eq!((member.stack.master.known().unwrap().as_str(), member.permanent_address.known()), ("bond0", None));
        // A bond that nobody names is not the one interface that is.
        let (snapshot, _) = one(&format!("ethtool -g eno1:\nRing parameters for eno1:\nRX: 5\n\n{BOND}"));
        assert!(snapshot.interface("eno1").unwrap().bond.mode.known().is_none());
    }

    #[test]
    fn a_filtered_bond_proves_nothing_by_absence() {
        let (snapshot, understood) = one(
            "$ grep 'Bonding Mode' /proc/net/bonding/bond*\n/proc/net/bonding/bond0:Bonding Mode: load balancing (xor)\n\
             /proc/net/bonding/bond1:Bonding Mode: load balancing (round-robin)\n",
        );
        assert_eq!(understood.left, []);
        let mode = |name: &str| snapshot.interface(name).unwrap().bond.mode.known().unwrap().clone();
        assert_eq!((mode("bond0"), mode("bond1")), ("balance-xor".to_owned(), "balance-rr".to_owned()));
        assert!(snapshot.interface("bond0").unwrap().bond.arp_interval.known().is_none());
    }

    #[test]
    fn vlans_bridges_and_teams() {
        let text = "# cat /proc/net/vlan/config\nVLAN Dev name | VLAN ID\nName-Type: X\neth0.5 | 5 | eth0\nqinq | 7 | eth0.5\n\
                    # brctl show\nbridge name\tbridge id\t\tSTP enabled\tinterfaces\nbr0\t\t8000.02000000000a\tno\t\teth0.5\n\
                    # bridge link\n2: eth1: <UP> mtu 1500 master br0 state forwarding priority 32 cost 2\n\
                    # teamdctl team0 state\nsetup:\n  runner: lacp\nports:\n  em1\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let tags = |name: &str| snapshot.interface(name).unwrap().vlan_tags.known().copied();
        assert_eq!((tags("eth0.5"), tags("qinq")), (Some(1), Some(2)));
        let master = |name: &str| snapshot.interface(name).unwrap().stack.master.known().cloned();
        assert_eq!(
            (master("eth0.5"), master("eth1"), master("em1")),
            (Some("br0".into()), Some("br0".into()), Some("team0".into()))
        );
        assert_eq!(snapshot.interface("team0").unwrap().kind.known(), Some(&InterfaceKind::Team));
    }
}
