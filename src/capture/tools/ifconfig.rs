//! `ifconfig`: what it says of interfaces. Its counters are the sums of /proc/net/dev.

use super::super::command::Command;
use super::{Intake, Tool, is_interface_name};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ifconfig::{self, Interface, System};
use crate::formats::netstat::interfaces;
use crate::reading::Bytes;
use crate::snapshot::InterfaceKind;

pub(super) static TOOLS: &[Tool] = &[Tool {
    name: "ifconfig",
    answers: |command| command.program == "ifconfig",
    begins: |cursor| cursor.peek().is_some_and(|line| ifconfig::begins(line.text)),
    read,
}];

/// Longest name that net-tools 1.60 prints.
const CUT: usize = 9;

/// The one interface that the command names; `None` inside where it changes something.
fn device(command: Option<&Command>) -> Option<Option<&str>> {
    let Some(command) = command.filter(|command| command.program == "ifconfig") else { return Some(None) };
    let mut operands = command.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    match (operands.next(), operands.next()) {
        (_, Some(_)) => None,
        (first, None) => Some(first),
    }
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(device) = device(intake.command) else { return complaint(cursor) };
    if intake.command.is_some_and(|command| command.has_flag('s')) {
        return super::netstat::interface_table(cursor, intake);
    }
    let found = ifconfig::parse(cursor, device.is_some());
    if found.is_empty() && intake.command.is_some() {
        return complaint(cursor);
    }
    for interface in &found {
        put(intake, device, interface);
    }
}

fn complaint(cursor: &mut Cursor<'_>) {
    let begins = |text: &str| {
        ["SIOC", "ifconfig: "].iter().any(|begin| text.starts_with(begin)) || text.ends_with(": Device not found")
    };
    cursor.take_if(|text| (begins(text) || text.contains("error fetching interface information")).then_some(()));
}

/// The name of an interface, which old versions cut: that of the command, or the only one that begins so.
fn name(intake: &mut Intake<'_>, device: Option<&str>, interface: &Interface) -> Option<String> {
    let printed = interface.name.as_str();
    if printed.is_empty() {
        return Some(intake.interface_or_stand_in(device, interface.line));
    }
    if let Some(device) = device.filter(|device| device.starts_with(printed) && interface.system == System::OldLinux) {
        return Some(device.to_owned());
    }
    if !is_interface_name(printed) {
        return None;
    }
    if interface.system == System::OldLinux {
        return Some(super::whole_name(intake, printed, CUT));
    }
    Some(printed.to_owned())
}

fn put(intake: &mut Intake<'_>, device: Option<&str>, interface: &Interface) {
    let Some(name) = name(intake, device, interface) else { return };
    let filtered = intake.is_filtered();
    let site = &mut *intake.site;
    site.put_some(&name, |i| &mut i.mtu, interface.mtu.clone().map(|at| at.map(Bytes)));
    if interface.system == System::Bsd {
        return;
    }
    if let Some(flags) = &interface.flags {
        let has = |flag: &str| flags.value.iter().any(|word| word == flag);
        site.put(&name, |i| &mut i.admin_up, At::new(has("UP"), flags.line));
        site.put(&name, |i| &mut i.link.up, At::new(has("UP") && has("RUNNING"), flags.line));
        // A virtual routing table is a master too, but does no ARP.
        if has("MASTER") && !has("NOARP") {
            site.put(&name, |i| &mut i.kind, At::new(InterfaceKind::Bond, flags.line));
        }
    }
    let kind = match interface.hardware.as_deref() {
        Some("Local Loopback" | "loop") => Some(InterfaceKind::Loopback),
        Some("IPIP Tunnel" | "IPv6-in-IPv4" | "sit") => Some(InterfaceKind::Ipip),
        Some("InfiniBand" | "infiniband") => Some(InterfaceKind::Infiniband),
        _ => None,
    };
    site.put_some(&name, |i| &mut i.kind, kind.map(|kind| At::new(kind, interface.line)));
    let address = interface.address.clone().map(|at| at.map(|text| text.to_ascii_lowercase()));
    site.put_some(&name, |i| &mut i.address, address);
    site.put_some(&name, |i| &mut i.txqueuelen, interface.txqueuelen.clone());
    if let Some(first) = interface.addresses.first() {
        let addresses = interface.addresses.iter().map(|at| at.value.clone()).collect();
        site.put(&name, |i| &mut i.addresses, At::new(addresses, first.line));
    }
    if let Some(first) = interface.counters.first() {
        let rows = interface.counters.iter().map(|at| (at.value.0.to_owned(), at.value.1)).collect();
        let partial = filtered || interface.name.is_empty();
        site.counters(&name, "proc_net_dev", first.line, rows, partial);
    }
}

/// What `netstat -i` and `ifconfig -s` say.
pub(super) fn put_row(intake: &mut Intake<'_>, row: &At<interfaces::Row>) {
    if !is_interface_name(&row.value.name) {
        return;
    }
    let name = super::whole_name(intake, &row.value.name, CUT);
    let filtered = intake.is_filtered();
    let site = &mut *intake.site;
    let flag = |letter: char| row.value.flags.contains(letter);
    site.put(&name, |i| &mut i.mtu, At::new(Bytes(row.value.mtu), row.line));
    site.put(&name, |i| &mut i.admin_up, At::new(flag('U'), row.line));
    site.put(&name, |i| &mut i.link.up, At::new(flag('U') && flag('R'), row.line));
    if flag('L') {
        site.put(&name, |i| &mut i.kind, At::new(InterfaceKind::Loopback, row.line));
    }
    let rows = row.value.counters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    site.counters(&name, "proc_net_dev", row.line, rows, filtered);
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;
    use crate::snapshot::Growth;

    #[test]
    fn counters_are_those_of_proc_net_dev() {
        let text = "$ ifconfig eth0\neth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:0A  \n          inet addr:192.0.2.12  Bcast:192.0.2.255  Mask:255.255.255.0\n\
            \u{20}         UP BROADCAST MULTICAST  MTU:1500  Metric:1\n          RX packets:5 errors:4 dropped:3 overruns:2 frame:1\n";
        let (snapshot, understood) = one(text);
        let eth0 = snapshot.interface("eth0").unwrap();
        assert_eq!((eth0.admin_up.known(), eth0.link.up.known()), (Some(&true), Some(&false)));
        assert_eq!(eth0.address.known().unwrap(), "02:00:00:00:00:0a");
        assert_eq!(eth0.counters[0].group, "proc_net_dev");
        assert_eq!(eth0.counters[0].get("rx_frame_errors").unwrap().total(), Some(1));
        assert_eq!(understood.left, []);
    }

    #[test]
    fn ip_knows_better_and_names_are_cut() {
        let text = "$ ip link\n2: enp129s0f0: <UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT\n$ ifconfig\n\
            enp129s0f Link encap:Ethernet  HWaddr 02:00:00:00:00:01  \n          UP BROADCAST  MTU:1500  Metric:1\n";
        let (snapshot, _) = one(text);
        assert_eq!(snapshot.interfaces.len(), 1);
        let port = snapshot.interface("enp129s0f0").unwrap();
        assert_eq!((port.mtu.known().unwrap().0, port.link.up.known()), (9000, Some(&true)));
        let (alone, _) = one("$ ifconfig enp129s0f1\nenp129s0f Link encap:Ethernet  HWaddr 02:00:00:00:00:01  \n");
        assert_eq!(alone.interfaces[0].name, "enp129s0f1");
    }

    #[test]
    fn a_loop_takes_samples() {
        let text = "# for i in {1..3}; do ifconfig eth1 | grep RX | grep dropped; sleep 1; done\n\
            \u{20}       RX errors 0  dropped 88791  overruns 0  frame 0\n        RX errors 0  dropped 88792  overruns 0  frame 0\n\
            \u{20}       RX errors 0  dropped 88799  overruns 0  frame 0\n";
        let (snapshot, understood) = one(text);
        let block = &snapshot.interface("eth1").unwrap().counters[0];
        assert_eq!(block.get("rx_dropped").unwrap().growth(), Growth::By(8));
        assert!(block.partial && understood.left.is_empty());
    }

    #[test]
    fn a_bsd_tells_its_mtu_only() {
        let (snapshot, _) = one(
            "$ ifconfig em0\nem0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 9000\n\tether 02:00:00:00:00:01\n",
        );
        let em0 = snapshot.interface("em0").unwrap();
        assert_eq!(em0.mtu.known().unwrap().0, 9000);
        assert!(em0.admin_up.is_unasked() && em0.link.up.is_unasked() && em0.counters.is_empty());
    }
}
