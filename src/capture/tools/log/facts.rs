//! What messages of the kernel prove: interfaces, drivers, PCI functions and their links, and the state of links.

use std::collections::BTreeMap;

use super::super::super::pci::{Kind, PathNote};
use super::super::super::site::Site;
use super::super::is_interface_name;
use super::Record;
use crate::formats::cursor::At;
use crate::formats::kernel_log::link::{self, LinkMessage};
use crate::formats::kernel_log::pcie::{self, Found};
use crate::formats::kernel_log::speaker::{is_common_name, is_pci_address, speaker};
use crate::knowledge::Knowledge;
use crate::reading::{BitsPerSecond, Reading};
use crate::snapshot::{Bus, Duplex, PciAddress, PcieRole};

/// What was heard of one interface; the last message counts.
#[derive(Default)]
struct Heard {
    line: u32,
    driver: Option<At<String>>,
    bus: Option<At<String>>,
    up: Option<At<bool>>,
    speed: Option<At<f64>>,
    full: Option<At<bool>>,
    pause: Option<At<(bool, bool)>>,
    fec: Option<At<&'static str>>,
}

impl Heard {
    fn link(&mut self, message: &LinkMessage<'_>, line: u32) {
        fn note<T>(slot: &mut Option<At<T>>, value: Option<T>, line: u32) {
            if let Some(value) = value {
                *slot = Some(At::new(value, line));
            }
        }
        note(&mut self.up, message.up, line);
        note(&mut self.speed, message.speed, line);
        note(&mut self.full, message.full, line);
        note(&mut self.pause, message.pause, line);
        note(&mut self.fec, message.fec, line);
    }
}

/// The interface in `removed PHC on eth6` and `registered PHC device on eth0`, which drivers say of the function alone.
fn clock_of(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once(" PHC on ").or_else(|| message.split_once(" PHC device on "))?;
    rest.split_ascii_whitespace().next()
}

/// Drivers of the PCI core and of ports, which drive functions of any class.
const GENERAL: &[&str] = &["pci", "pcieport", "pci_bus", "pciehp", "vfio-pci", "virtio-pci", "iommu", "xen_pciback"];

/// Puts what the lines prove into the site.
pub(super) fn hear(site: &mut Site, records: &[Record<'_>]) {
    let mut heard: BTreeMap<String, Heard> = BTreeMap::new();
    for record in records.iter().filter(|record| record.printed.of_kernel) {
        let (text, line) = (&*record.printed.text, record.line);
        of_host(site, text, line);
        let said = speaker(text);
        let driver = said.driver.filter(|driver| !GENERAL.contains(driver));
        let address = said.bus.filter(|bus| is_pci_address(bus)).and_then(|bus| bus.parse::<PciAddress>().ok());
        of_radio(site, text, line);
        if text.starts_with("usb") {
            let source = site.source(line);
            site.usb.hear(text, line, source);
        }
        if let Some(address) = address {
            let of_network = |driver: &&str| {
                let known = Knowledge::embedded();
                known.is_hardware(driver) == Some(true) || known.is_wireless(driver)
            };
            if let Some(driver) = driver.filter(of_network) {
                site.put_pci(address, |function| &mut function.told_by, At::new(driver.to_owned(), line));
            }
            of_function(site, address, said.driver.unwrap_or_default(), said.message, line);
        }
        let message = link::message(said.message);
        let subject = message.as_ref().and_then(|message| message.subject).filter(|name| is_common_name(name));
        let Some(name) = said
            .interface
            .or(subject)
            .or_else(|| clock_of(said.message).filter(|_| address.is_some()))
            .filter(|name| is_interface_name(name))
        else {
            continue;
        };
        if let Some(former) = said.former.and_then(|former| heard.remove(former)) {
            heard.entry(name.to_owned()).or_insert(former);
        }
        let one = heard.entry(name.to_owned()).or_default();
        one.line = line;
        // `igb: eth0 NIC Link is Up`: the driver stands right before the name.
        let before = text.split_once(": ").filter(|(_, rest)| rest.starts_with(name)).map(|(driver, _)| driver);
        let before = before.filter(|word| {
            !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        });
        if let Some(driver) = driver.or(before) {
            one.driver = Some(At::new(driver.to_owned(), line));
        }
        if let Some(bus) = said.bus {
            one.bus = Some(At::new(bus.to_owned(), line));
        }
        if let Some(message) = message {
            one.link(&message, line);
        }
    }
    for (name, heard) in heard {
        put(site, &name, heard);
    }
}

fn put(site: &mut Site, name: &str, heard: Heard) {
    site.interface(name);
    if let Some(bus) = heard.bus {
        let address = Some(&bus.value).filter(|bus| is_pci_address(bus)).and_then(|bus| bus.parse::<PciAddress>().ok());
        if let Some(address) = address {
            site.put(name, |i| &mut i.device, At::new(address, bus.line));
            site.link_device(name, address, bus.line);
            if let Some(driver) = &heard.driver {
                site.put_pci(address, |function| &mut function.driver, driver.clone());
            }
        } else if is_elsewhere(&bus.value) {
            site.put_absent(name, |i| &mut i.device, bus.line);
        }
        site.put_some(name, |i| &mut i.bus, kind_of(&bus.value).map(|kind| At::new(kind, bus.line)));
        site.put(name, |i| &mut i.driver.bus_info, bus);
    }
    site.put_some(name, |i| &mut i.driver.name, heard.driver);
    // A log that ends with the fall of a link may be an excerpt: then nothing is said of now.
    site.put_some(name, |i| &mut i.link.up, heard.up.filter(|up| up.value));
    let speed = heard.speed.map(|at| at.map(|speed| BitsPerSecond(speed.round() as u64)));
    site.put_some(name, |i| &mut i.link.speed, speed);
    let duplex = heard.full.map(|at| at.map(|full| if full { Duplex::Full } else { Duplex::Half }));
    site.put_some(name, |i| &mut i.link.duplex, duplex);
    if let Some(pause) = heard.pause {
        site.put(name, |i| &mut i.pause.rx, At::new(pause.value.0, pause.line));
        site.put(name, |i| &mut i.pause.tx, At::new(pause.value.1, pause.line));
    }
    site.put_some(name, |i| &mut i.fec.active, heard.fec.map(|at| at.map(str::to_owned)));
}

/// True for addresses of the USB and of platforms, which have no PCI function of their own.
fn is_elsewhere(bus: &str) -> bool {
    matches!(kind_of(bus), Some(Bus::Usb | Bus::Platform))
}

/// The bus that an address is of; none where its form does not tell.
fn kind_of(address: &str) -> Option<Bus> {
    let usb = address.split_once('-').is_some_and(|(hub, rest)| {
        hub.bytes().all(|byte| byte.is_ascii_digit()) && rest.contains(':') && !hub.is_empty()
    });
    let numbered = |start: &str| {
        let rest = address.strip_prefix(start).unwrap_or_default();
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
    };
    if is_pci_address(address) {
        Some(Bus::Pci)
    } else if usb {
        Some(Bus::Usb)
    } else if address.ends_with(".ethernet") || address.starts_with("mdio-bus:") {
        Some(Bus::Platform)
    } else if numbered("virtio") || numbered("vif-") {
        Some(Bus::Virtual)
    } else {
        None
    }
}

/// What a message of a driver, or of the kernel when it found the function, says of a PCI function.
fn of_function(site: &mut Site, address: PciAddress, driver: &str, message: &str, line: u32) {
    if driver == "pci" {
        match pcie::found(message) {
            Some(Found::Function { id, class, kind }) => {
                site.put_pci(address, |function| &mut function.class, At::new(class, line));
                site.put_pci(address, |function| &mut function.id, At::new(id.to_ascii_lowercase(), line));
                let kind = match kind {
                    "PCIe Endpoint" | "PCIe Legacy Endpoint" => Some(Kind::Endpoint),
                    "PCIe Root Complex Integrated Endpoint" => Some(Kind::Integrated),
                    "PCIe Root Port" => Some(Kind::Port(PcieRole::RootPort)),
                    "PCIe Switch Upstream Port" => Some(Kind::Port(PcieRole::SwitchUpstream)),
                    "PCIe Switch Downstream Port" => Some(Kind::Port(PcieRole::SwitchDownstream)),
                    _ => None,
                };
                if let Some(kind) = kind {
                    site.put_pci(address, |function| &mut function.kind, At::new(kind, line));
                }
            }
            Some(Found::Bridge { secondary, subordinate }) => {
                site.put_pci(address, |function| &mut function.buses, At::new((secondary, subordinate), line));
            }
            None => {}
        }
    }
    // e1000e names a link that those of its functions that are part of the chipset do not have.
    let Some(report) = pcie::report(message).filter(|report| report.whole_path || driver != "e1000e") else { return };
    let mut note = PathNote { now: report.now, able: report.able, at: report.at.and_then(|at| at.parse().ok()) };
    // mlx4 tells speed and width on two lines.
    if let Reading::Known(before, _) = &site.pci.function(address).note
        && (note.now.speed.is_none() || note.now.width.is_none())
    {
        note.now.speed = note.now.speed.or(before.now.speed);
        note.now.width = note.now.width.or(before.now.width);
        note.able.speed = note.able.speed.or(before.able.speed);
        note.able.width = note.able.width.or(before.able.width);
    }
    site.put_pci(address, |function| &mut function.note, At::new(note, line));
}

/// Radios, and drivers of wireless cards, which the log names without an interface: `ieee80211 phy0: ...`,
/// `brcmfmac: brcmf_sdio_checkdied: ...`.
fn of_radio(site: &mut Site, text: &str, line: u32) {
    let Some((front, _)) = text.split_once(": ") else { return };
    let mut words = front.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    if first == "ieee80211" {
        let numbered = |word: &&str| {
            let number = word.strip_prefix("phy").unwrap_or_default();
            (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        if let Some(phy) = words.next().filter(numbered) {
            site.radios.phys.entry(phy.to_owned()).or_insert(line);
        }
    } else if Knowledge::embedded().is_wireless(first) {
        site.radios.drivers.entry(first.to_owned()).or_insert(line);
    }
}

/// What the firmware tables of made-up machines begin with.
const MACHINES: [&str; 9] = [
    "QEMU ",
    "VMware, Inc. ",
    "innotek GmbH VirtualBox",
    "Xen ",
    "Bochs ",
    "Microsoft Corporation Virtual Machine",
    "Parallels ",
    "Red Hat KVM",
    "Google Google Compute Engine",
];

/// What the kernel says of the machine while it starts.
fn of_host(site: &mut Site, text: &str, line: u32) {
    super::super::dmi::hear(site, text, line);
    if let Some(rest) = text.strip_prefix("Linux version ") {
        if let Some(version) = rest.split_ascii_whitespace().next().and_then(|word| word.parse().ok()) {
            site.put_host(|host| &mut host.kernel, At::new(version, line));
        }
    } else if text.starts_with("Hypervisor detected: ") {
        site.put_host(|host| &mut host.is_guest, At::new(true, line));
    } else if text.strip_prefix("DMI: ").is_some_and(|of| MACHINES.iter().any(|machine| of.starts_with(machine))) {
        site.put_host(|host| &mut host.is_guest, At::new(true, line));
    } else if text == "Booting paravirtualized kernel on bare hardware"
        // A machine that offers the kernel no help is told so too, though somebody made it up.
        && site.snapshot.host.is_guest.known() != Some(&true)
    {
        site.put_host(|host| &mut host.is_guest, At::new(false, line));
    }
}
