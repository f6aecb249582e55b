//! Devices on the USB as the kernel log tells of them by their path: `usb 2-1: new SuperSpeed USB device ...`.

use std::collections::{BTreeMap, BTreeSet};

use super::site::Site;
use crate::knowledge::Knowledge;
use crate::reading::{BitsPerSecond, Reading, SourceId};
use crate::snapshot::{Bus, Interface, LogLine, STAND_IN};

/// Most devices that are kept.
const MOST: usize = 1024;

/// What the log said of one device; the last word counts.
#[derive(Debug, Default)]
struct Device {
    speed: Reading<BitsPerSecond>,
    id: Reading<String>,
    product: Reading<String>,
    /// A line that says that it could be faster.
    held: Option<u32>,
}

/// What the log said of devices on the USB.
#[derive(Debug, Default)]
pub(super) struct Usb {
    devices: BTreeMap<String, Device>,
    /// Drivers of network adapters that were registered.
    drivers: BTreeSet<String>,
}

impl Usb {
    /// Takes a line of the kernel log that begins with `usb`.
    pub fn hear(&mut self, text: &str, line: u32, source: SourceId) {
        if let Some(driver) = text.strip_prefix("usbcore: registered new interface driver ") {
            let driver = driver.trim();
            if Knowledge::embedded().is_hardware(driver) == Some(true) && self.drivers.len() < MOST {
                self.drivers.insert(driver.to_owned());
            }
            return;
        }
        let Some((path, message)) = path(text) else { return };
        if self.devices.len() >= MOST && !self.devices.contains_key(path) {
            return;
        }
        let device = self.devices.entry(path.to_owned()).or_default();
        if let Some(speed) = speed(message) {
            device.speed = Reading::Known(speed, source);
        } else if message.contains("not running at top speed") {
            device.held.get_or_insert(line);
        } else if let Some(id) = id(message) {
            device.id = Reading::Known(id, source);
        } else if let Some(product) = message.strip_prefix("Product: ") {
            device.product = Reading::Known(product.trim().to_owned(), source);
        }
    }
}

/// Path and message of `usb 1-1.2: message`.
fn path(text: &str) -> Option<(&str, &str)> {
    let (path, message) = text.strip_prefix("usb ")?.split_once(": ")?;
    let (hub, ports) = path.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (path.len() <= 32 && digits(hub) && ports.split('.').all(digits)).then_some((path, message))
}

/// The speed in `new SuperSpeed Plus Gen 2x1 USB device number 3 using xhci_hcd`.
fn speed(message: &str) -> Option<BitsPerSecond> {
    let rest = message.strip_prefix("new ").or_else(|| message.strip_prefix("reset "))?;
    let (kind, _) = rest.split_once(" USB device number")?;
    let megabits = match kind {
        "low-speed" => 1.5,
        "full-speed" => 12.0,
        "high-speed" => 480.0,
        "SuperSpeed" | "SuperSpeed Gen 1" | "super-speed" => 5_000.0,
        "SuperSpeedPlus" | "SuperSpeed Plus" | "SuperSpeed Plus Gen 2" | "SuperSpeed Plus Gen 2x1" => 10_000.0,
        "SuperSpeed Plus Gen 2x2" => 20_000.0,
        _ => return None,
    };
    Some(BitsPerSecond((megabits * 1e6) as u64))
}

/// Vendor and product in `New USB device found, idVendor=0bda, idProduct=8156, bcdDevice=31.00`.
fn id(message: &str) -> Option<String> {
    let word = |key: &str| {
        let value = message.split_once(key)?.1.get(..4)?;
        value.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(value)
    };
    Some(format!("{}:{}", word("idVendor=")?, word("idProduct=")?).to_ascii_lowercase())
}

/// The path in the address of an interface of a device: `1-1.2:1.0`.
fn path_of(interface: &Interface) -> Option<&str> {
    let (path, rest) = interface.driver.bus_info.known()?.split_once(':')?;
    (rest.contains('.') && path.contains('-')).then_some(path)
}

/// Gives interfaces what the log says of their devices. Where nothing names the interface of a device that could be faster, and
/// one driver of network adapters was registered, that device is its adapter.
pub(super) fn finish(site: &mut Site) {
    let usb = std::mem::take(&mut site.usb);
    let is_free = |interface: &Interface| interface.bus.known() == Some(&Bus::Usb) || path_of(interface).is_some();
    let mut held = usb.devices.iter().filter_map(|(path, device)| Some((path, device.held?)));
    if let (Some((path, line)), None) = (held.next(), held.next())
        && let [driver] = usb.drivers.iter().collect::<Vec<_>>().as_slice()
        && !site.snapshot.interfaces.iter().any(is_free)
    {
        let source =
            site.inferred("the one driver of network adapters that was registered, and the one device that it reset");
        let interface = site.interface(&format!("{STAND_IN}{line}"));
        interface.bus = Reading::Known(Bus::Usb, source);
        interface.port.physical = Reading::Known(true, source);
        interface.driver.name = Reading::Known((*driver).clone(), source);
        interface.driver.bus_info = Reading::Known(format!("{path}:1.0"), source);
    }
    let paths = site.snapshot.interfaces.iter().filter_map(|one| Some((one.name.clone(), path_of(one)?.to_owned())));
    let paths: Vec<(String, String)> = paths.collect();
    for (name, path) in paths {
        let Some(device) = usb.devices.get(&path) else { continue };
        let interface = site.interface(&name);
        interface.usb.speed.fill(device.speed.clone());
        interface.usb.id.fill(device.id.clone());
        interface.usb.product.fill(device.product.clone());
    }
}

/// Says which interface the lines of the log are about that name a device on the USB.
pub(super) fn place(site: &Site, lines: &mut [LogLine]) {
    for entry in lines.iter_mut().filter(|entry| entry.about.is_empty()) {
        let Some((wanted, _)) = path(&entry.text) else { continue };
        let named = site.snapshot.interfaces.iter().find(|one| path_of(one) == Some(wanted));
        if let Some(named) = named {
            entry.about.clone_from(&named.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcript::one;
    use super::*;

    #[test]
    fn the_log_tells_the_speed_by_the_path() {
        let text = "$ dmesg\n[   10.1] usb 2-1.3: new SuperSpeed USB device number 3 using xhci_hcd\n\
            [   10.2] usb 2-1.3: New USB device found, idVendor=0BDA, idProduct=8153, bcdDevice=31.00\n\
            [   10.3] usb 2-1.3: Product: USB 10/100/1000 LAN\n[   11.0] r8152 2-1.3:1.0 eth1: v1.12.13\n\
            [   12.0] usb 2-1.4: new high-speed USB device number 4 using xhci_hcd\n";
        let (snapshot, _) = one(text);
        let [port] = snapshot.interfaces.as_slice() else { panic!("one adapter") };
        assert_eq!(port.usb.speed.known().unwrap().0, 5_000_000_000);
        assert_eq!(
            (port.usb.id.known().unwrap().as_str(), port.usb.product.known().unwrap().as_str()),
            ("0bda:8153", "USB 10/100/1000 LAN")
        );
    }

    #[test]
    fn a_device_that_could_be_faster_is_the_adapter_of_the_one_driver() {
        let text = "$ dmesg\n[    7.1] usbcore: registered new interface driver ax88179_178a\n\
            [    7.2] usb 3-2: reset high-speed USB device number 5 using xhci_hcd\n[    7.3] usb 3-2: not running at top speed\n";
        let (snapshot, _) = one(text);
        let [port] = snapshot.interfaces.as_slice() else { panic!("one adapter") };
        assert_eq!((port.name.as_str(), port.usb.speed.known().unwrap().0), ("unnamed:4", 480_000_000));
        assert_eq!(port.driver.name.known().unwrap(), "ax88179_178a");
        let about: Vec<&str> = snapshot.host.log.known().unwrap().iter().map(|line| line.about.as_str()).collect();
        assert_eq!(about.last(), Some(&"unnamed:4"));
        // Another device may be the one.
        let two = format!("{text}[    8.0] usb 3-3: not running at top speed\n");
        assert!(one(&two).0.interfaces.is_empty());
        let storage = text.replace("ax88179_178a", "usb-storage");
        assert!(one(&storage).0.interfaces.is_empty());
    }

    #[test]
    fn paths_are_of_devices() {
        assert_eq!(path("usb 1-1.2: x"), Some(("1-1.2", "x")));
        for other in ["usb usb1: x", "usb 1-1.2 x", "usb 1-: x", "usb 1-1:1.0: x", "usbcore: x", ""] {
            assert_eq!(path(other), None, "{other}");
        }
        assert_eq!(speed("new wireless USB device number 3"), None);
    }
}
