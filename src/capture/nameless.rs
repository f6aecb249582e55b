//! Lines of the kernel log that concern a network device without naming an interface of it.

use super::site::Site;
use crate::formats::kernel_log::link;
use crate::knowledge::{EventOf, Knowledge};
use crate::reading::{BitsPerSecond, Reading, Source};
use crate::snapshot::{Interface, InterfaceKind, LogLine, STAND_IN};

/// Says which interface each of these lines is about: the one port that there is, or a stand-in where there is none. Where
/// there are several, nobody knows.
pub(super) fn place(site: &mut Site, lines: &mut [LogLine]) {
    let events = Knowledge::embedded().log_events();
    for entry in lines {
        let text = &entry.text.to_lowercase();
        let of_device = |event: &&crate::knowledge::LogEventSpec| event.of == EventOf::Device && event.matches(text);
        let Some(event) = events.iter().find(of_device) else { continue };
        let (interfaces, devices) = site.snapshot.named_in(&entry.text);
        let Some(wording) = event.wording(text).filter(|_| interfaces.is_empty()) else { continue };
        if let ([device], Source::Capture { line, .. }) =
            (devices.as_slice(), site.snapshot.origins.source_of(entry.source))
        {
            entry.about = port_of(site, *device, *line);
            continue;
        }
        if !devices.is_empty() {
            continue;
        }
        if let Source::Capture { line, .. } = site.snapshot.origins.source_of(entry.source) {
            let line = *line;
            let name = alone(site, line, wording.driver.as_deref());
            // What is said of a link concerns the same interface.
            if let Some(message) = link::message(&entry.text).filter(|_| !name.is_empty()) {
                let source = entry.source;
                let interface = site.interface(&name);
                interface.link.up.fill(message.up.map_or_else(Reading::default, |up| Reading::Known(up, source)));
                let speed = message.speed.map(|speed| BitsPerSecond(speed.round() as u64));
                interface.link.speed.fill(speed.map_or_else(Reading::default, |speed| Reading::Known(speed, source)));
            }
            entry.about = name;
        }
    }
}

/// A stand-in for the port of a PCI function of this position; empty where one of the interfaces that there are may be it.
fn port_of(site: &mut Site, device: usize, line: u32) -> String {
    if site.names().any(|name| name != "lo" && !name.starts_with(STAND_IN)) {
        return String::new();
    }
    let name = format!("{STAND_IN}{line}");
    let device = &site.snapshot.devices[device];
    let (address, driver) = (device.address, device.driver.clone());
    let source = site.inferred("a message of a network driver about the function");
    let interface = site.interface(&name);
    interface.port.physical = Reading::Known(true, source);
    interface.device = Reading::Known(address, source);
    interface.driver.name.fill(driver);
    site.device(address).interfaces.fill(Reading::Known(vec![name.clone()], source));
    name
}

/// The interface that a line without any name is about; empty where nobody knows.
fn alone(site: &mut Site, line: u32, writer: Option<&str>) -> String {
    let knowledge = Knowledge::embedded();
    let is_port = |interface: &&Interface| {
        let driver = interface.driver.name.known();
        let hardware = driver.and_then(|driver| knowledge.is_hardware(driver)) == Some(true);
        let made_up = !matches!(interface.kind.known(), None | Some(InterfaceKind::Ethernet));
        // A port of another driver does not write so.
        let other = driver.zip(writer).is_some_and(|(driver, writer)| driver != writer);
        interface.namespace.is_empty()
            && !made_up
            && !other
            && (hardware
                || interface.device.known().is_some()
                || interface.port.physical.known() == Some(&true)
                || interface.name.starts_with(STAND_IN))
    };
    let mut ports = site.snapshot.interfaces.iter().filter(is_port).map(|interface| interface.name.clone());
    match (ports.next(), ports.next()) {
        (Some(only), None) => return only,
        (Some(_), Some(_)) => return String::new(),
        (None, _) => {}
    }
    drop(ports);
    // Interfaces of which nobody knows what they are may be it as well.
    if site.names().any(|name| name != "lo") {
        return String::new();
    }
    let name = format!("{STAND_IN}{line}");
    let source = site.inferred("a message of a network driver that names no interface");
    let interface = site.interface(&name);
    interface.port.physical = Reading::Known(true, source);
    if let Some(writer) = writer {
        interface.driver.name = Reading::Known(writer.to_owned(), source);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::transcript::one;

    fn about(text: &str) -> Vec<String> {
        one(text).0.host.log.known().unwrap().iter().map(|line| line.about.clone()).collect()
    }

    #[test]
    fn a_function_without_an_interface_has_a_stand_in() {
        let hang = "$ dmesg\n[   95.1] igb 0000:09:00.0: Detected Tx Unit Hang\n[   97.1] igb 0000:09:00.0: Detected Tx Unit Hang\n";
        let (snapshot, _) = one(hang);
        let [port] = snapshot.interfaces.as_slice() else { panic!("one port") };
        assert_eq!(
            (port.name.as_str(), port.device.known().unwrap().to_string().as_str()),
            ("unnamed:2", "0000:09:00.0")
        );
        assert_eq!(port.port.physical.known(), Some(&true));
        // The one interface of the driver is that of its one function.
        let up = "[   82.7] igb: eth0 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX/TX\n";
        let (snapshot, _) = one(&hang.replace("$ dmesg\n", &format!("$ dmesg\n{up}")));
        assert_eq!(snapshot.interfaces.len(), 1);
        assert_eq!(snapshot.interface("eth0").unwrap().device.known().unwrap().to_string(), "0000:09:00.0");
        // Which of two nobody knows.
        let other = up.replace("eth0", "eth1");
        let (snapshot, _) = one(&hang.replace("$ dmesg\n", &format!("$ dmesg\n{up}{other}")));
        assert!(snapshot.interfaces.iter().all(|one| one.device.is_unasked()));
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
        assert_eq!(snapshot.interfaces[0].driver.name.known().unwrap(), "i40e");
        let igb = "$ ethtool -i eth3\ndriver: igb\nversion: 1\n";
        assert_eq!(about(&format!("{igb}{HUNG}")), [""], "only i40e writes so");
        // Two lines are about the same port.
        assert_eq!(about(&format!("{HUNG}[    6.0] tx_timeout: VSI_seid: 396, Q 43\n")), ["unnamed:2", "unnamed:2"]);
        let phy = "$ dmesg\nRTL8211F Gigabit Ethernet mdio_mux-0.0:00: Downshift occurred from negotiated speed 1Gbps to actual speed 100Mbps, check cabling!\n";
        let (snapshot, _) = one(phy);
        assert_eq!(snapshot.interfaces[0].link.speed.known().unwrap().0, 100_000_000);
        // Something is there, and nobody knows what it is.
        assert_eq!(about(&format!("$ ip link\n2: eth9: <UP> mtu 1500\n{HUNG}")), [""]);
        // Other devices have links and time-outs as well.
        assert_eq!(one("$ dmesg\n[    5.0] ata1: SATA link down (SStatus 0)\n").0.interfaces.len(), 0);
    }
}
