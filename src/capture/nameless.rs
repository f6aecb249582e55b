//! Lines of the kernel log that concern a network device without naming an interface of it.

use super::site::Site;
use crate::knowledge::{EventOf, Knowledge};
use crate::reading::{Reading, Source};
use crate::snapshot::{Interface, InterfaceKind, LogLine, PciAddress, STAND_IN};

/// Says which interface each of these lines is about: the one port that there is, or a stand-in where there is none. Where
/// there are several, nobody knows.
pub(super) fn place(site: &mut Site, lines: &mut [LogLine]) {
    let knowledge = Knowledge::embedded();
    let events = knowledge.log_events();
    // A function that no driver could start has no interface.
    let failed = |text: &str| events.iter().any(|event| event.event == "probe_failed" && event.matches(text));
    let texts: Vec<String> = lines.iter().map(|line| line.text.to_lowercase()).collect();
    for at in 0..lines.len() {
        let text = &texts[at];
        let of_device = |event: &&crate::knowledge::LogEventSpec| event.of == EventOf::Device && event.matches(text);
        let Some(event) = events.iter().find(of_device) else { continue };
        let (interfaces, devices) = site.snapshot.named_in(&lines[at].text);
        if !interfaces.is_empty() {
            continue;
        }
        let line = match site.snapshot.origins.source_of(lines[at].source) {
            Source::Capture { line, .. } => *line,
            _ => continue,
        };
        if let [device] = devices.as_slice() {
            let address = site.snapshot.devices[*device].address;
            let has_failed = || {
                let names = |other: &LogLine| site.snapshot.named_in(&other.text).1.contains(device);
                lines.iter().zip(&texts).any(|(other, text)| failed(text) && names(other))
            };
            if !has_failed() && site.snapshot.interfaces.iter().all(|one| one.name == "lo" || has_place(one)) {
                of_function(site, address, line);
            }
        } else if devices.is_empty() && event.tells_alone(text) {
            lines[at].about = alone(site, text, line);
        }
    }
}

/// True where it is known which device the interface is of, or that it is of none.
fn has_place(interface: &Interface) -> bool {
    interface.device.known().is_some() || interface.device.is_absent()
}

/// Makes a stand-in for the interface of a function.
fn of_function(site: &mut Site, address: PciAddress, line: u32) {
    let of_it = |interface: &Interface| interface.device.known() == Some(&address);
    if site.snapshot.interfaces.iter().any(of_it) {
        return;
    }
    let source = site.inferred(&format!("{address}, whose interface nothing names"));
    let device = site.snapshot.devices.iter().find(|device| device.address == address);
    let driver = device.map(|device| device.driver.clone()).unwrap_or_default();
    let class = device.and_then(|device| device.class.known().copied());
    let interface = site.interface(&format!("{STAND_IN}{line}"));
    interface.device = Reading::Known(address, source);
    interface.driver.name.fill(driver);
    if class == Some(0x0280) {
        interface.kind = Reading::Known(InterfaceKind::Wifi, source);
    }
}

/// The interface that a line without any name is about; empty where nobody knows.
fn alone(site: &mut Site, text: &str, line: u32) -> String {
    let wireless = text.contains("brcmf") || text.starts_with("ieee80211 ");
    let knowledge = Knowledge::embedded();
    let is_port = |interface: &&Interface| {
        let driver = interface.driver.name.known();
        let hardware = driver.and_then(|driver| knowledge.is_hardware(driver)) == Some(true)
            || driver.is_some_and(|driver| knowledge.is_wireless(driver));
        let made_up = !matches!(interface.kind.known(), None | Some(InterfaceKind::Ethernet | InterfaceKind::Wifi));
        interface.namespace.is_empty()
            && !made_up
            && (hardware
                || interface.device.known().is_some()
                || interface.port.physical.known() == Some(&true)
                || interface.name.starts_with(STAND_IN))
            && (interface.kind.known() == Some(&InterfaceKind::Wifi)) == wireless
    };
    let mut ports = site.snapshot.interfaces.iter().filter(is_port).map(|interface| interface.name.clone());
    match (ports.next(), ports.next()) {
        (Some(only), None) => return only,
        (Some(_), Some(_)) => return String::new(),
        (None, _) => {}
    }
    drop(ports);
    // Interfaces of which nobody knows what they are may be it as well.
    if site.names().any(|name| name != "lo") && !wireless {
        return String::new();
    }
    let name = format!("{STAND_IN}{line}");
    let source = site.inferred("a message of a network driver that names no interface");
    let interface = site.interface(&name);
    if wireless {
        interface.kind = Reading::Known(InterfaceKind::Wifi, source);
    } else {
        interface.port.physical = Reading::Known(true, source);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::transcript::one;
    use crate::snapshot::InterfaceKind;

    fn about(text: &str) -> Vec<String> {
        one(text).0.host.log.known().unwrap().iter().map(|line| line.about.clone()).collect()
    }

    const HUNG: &str = "$ dmesg\n[    5.0] tx_timeout recovery level 2, hung_queue 31\n";

    #[test]
    fn a_line_without_a_name_is_about_the_only_port() {
        let driver = |name: &str| format!("$ ethtool -i {name}\ndriver: i40e\nversion: 1\n");
        assert_eq!(about(&format!("{}{HUNG}", driver("eth3"))), ["eth3"]);
        assert_eq!(about(&format!("{}{}{HUNG}", driver("eth3"), driver("eth4"))), [""]);
        let (snapshot, _) = one(HUNG);
        assert_eq!(snapshot.host.log.known().unwrap()[0].about, "unnamed:2");
        assert_eq!(snapshot.interfaces[0].port.physical.known(), Some(&true));
        // Two lines are about the same port.
        assert_eq!(about(&format!("{HUNG}[    6.0] tx_timeout: VSI_seid: 396, Q 43\n")), ["unnamed:2", "unnamed:2"]);
        // Something is there, and nobody knows what it is.
        assert_eq!(about(&format!("$ ip link\n2: eth9: <UP> mtu 1500\n{HUNG}")), [""]);
        // Other devices have links and time-outs as well.
        assert_eq!(one("$ dmesg\n[    5.0] ata1: SATA link down (SStatus 0)\n").0.interfaces.len(), 0);
    }

    #[test]
    fn wireless_devices_have_ports_of_their_own() {
        let crash = "$ dmesg\n[  322.4] ieee80211 phy0: brcmf_fw_crashed: Firmware has halted or crashed\n";
        let (snapshot, _) = one(crash);
        assert_eq!(snapshot.interfaces[0].kind.known(), Some(&InterfaceKind::Wifi));
        assert_eq!(snapshot.host.log.known().unwrap()[0].about, "unnamed:2");
        let (snapshot, _) = one("$ dmesg\n[  119.3] mt76x2e 0000:02:00.0: MCU message 30 (seq 4) timed out\n");
        assert_eq!(snapshot.interfaces[0].device.known().unwrap().to_string(), "0000:02:00.0");
        assert_eq!(snapshot.interfaces[0].kind.known(), Some(&InterfaceKind::Wifi));
    }

    #[test]
    fn a_function_that_did_not_start_has_no_interface() {
        let text = "$ dmesg | grep igc\n[  324.3] igc 0001:03:00.0: probe with driver igc failed with error -13\n";
        let (snapshot, _) = one(text);
        assert_eq!((snapshot.interfaces.len(), snapshot.devices.len()), (0, 1));
        assert_eq!(snapshot.devices[0].class.known(), Some(&0x0200));
        assert!(snapshot.devices[0].driver.is_unasked());
        assert_eq!(snapshot.host.log.known().unwrap().len(), 1);
        // Other devices fail to start as well.
        assert!(
            one("$ dmesg\n[  3.0] nvme 0000:05:00.0: probe with driver nvme failed with error -12\n")
                .0
                .devices
                .is_empty()
        );
    }
}
