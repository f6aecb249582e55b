//! What sysfs says of the device behind an interface: its bus, its USB device, its virtual functions, and the CPUs of its
//! queues.

use super::interfaces::{Links, Netdev};
use super::kernel::{Reply, Request, zero_ended};
use super::plan;
use super::scan::Scan;
use crate::formats::cpu_mask;
use crate::reading::{BitsPerSecond, Gap, GapKind, Reading};
use crate::snapshot::{Bus, Interface, PciAddress, Queue};

/// Why the files of a device are not read.
pub(super) const UNSEEN: &str = "/sys does not show its device here";
/// Most queues of one interface.
const MOST: usize = 1024;

/// Fills the interfaces. Only those with a device are asked one by one.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) {
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let mut asked = Vec::new();
    for (place, interface) in taken.iter_mut().enumerate() {
        let Some(device) = interface.index.known().and_then(|index| links.at(*index)) else { continue };
        interface.bus = bus(scan, device);
        if device.path.is_some() {
            asked.push((place, device));
            continue;
        }
        if device.has_device {
            let gap = scan.gap(GapKind::Failed, UNSEEN, &plan::QUEUES, &device.name);
            interface.queues = Reading::Unknown(gap);
            let gap = scan.gap(GapKind::Failed, UNSEEN, &plan::FUNCTIONS, &device.name);
            interface.virtual_functions = Reading::Unknown(gap);
            if interface.bus.known() == Some(&Bus::Usb) {
                let gap = scan.gap(GapKind::Failed, UNSEEN, &plan::USB, &device.name);
                interface.usb.mark(gap);
            }
        } else {
            // Thousands of them are common, and there is no dump.
            let detail = "not asked where no hardware is behind the interface";
            interface.queues =
                Reading::Unknown(scan.gap(GapKind::NotCollected, detail, &plan::QUEUES, Gap::ANY_INTERFACE));
            let source = scan.netlink("RTM_GETLINK", "all interfaces");
            interface.virtual_functions = Reading::Absent(source);
        }
        if interface.bus.known().is_some_and(|bus| *bus != Bus::Usb) {
            let source = scan.netlink("RTM_GETLINK", "all interfaces");
            interface.usb.mark_absent(source);
        }
    }
    for (place, device) in asked {
        attributes(scan, &mut taken[place], device);
    }
    scan.out.interfaces = taken;
}

/// The bus, by rtnetlink since 5.14, else by the path of the device.
fn bus(scan: &mut Scan<'_>, device: &Netdev) -> Reading<Bus> {
    if !device.has_device {
        return match &device.pci {
            // Its device could not be looked up.
            Reading::Unknown(gap) => Reading::Unknown(*gap),
            _ => Reading::Known(Bus::None, scan.netlink("RTM_GETLINK", "all interfaces")),
        };
    }
    if let Some(bus) = device.row.parent_bus.as_deref().and_then(bus_of_name) {
        return Reading::Known(bus, scan.netlink("RTM_GETLINK", &device.name));
    }
    let file = format!("/sys/class/net/{}/device", device.name);
    match &device.path {
        Some(path) => Reading::Known(bus_of_path(path), scan.file(file)),
        None => Reading::Unknown(scan.gap(GapKind::Failed, UNSEEN, &plan::NETDEV, &device.name)),
    }
}

/// A bus by the kernel's name for it.
fn bus_of_name(name: &str) -> Option<Bus> {
    Some(match name {
        // A part of a PCI function has a bus of its own.
        "auxiliary" => return None,
        "pci" => Bus::Pci,
        "usb" => Bus::Usb,
        "virtio" | "vmbus" | "xen" => Bus::Virtual,
        "platform" | "soc" | "amba" | "mdio_bus" | "fsl-mc" => Bus::Platform,
        _ => Bus::Other,
    })
}

/// A bus by the path of a device.
fn bus_of_path(path: &str) -> Bus {
    let numbered = |part: &str, name: &str| {
        part.strip_prefix(name).is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
    };
    let any = |test: &dyn Fn(&str) -> bool| path.split('/').any(test);
    if any(&|part| numbered(part, "usb")) {
        Bus::Usb
    } else if any(&|part| numbered(part, "virtio") || part.starts_with("vif-") || part.starts_with("VMBUS")) {
        Bus::Virtual
    } else if PciAddress::of_path(path).is_some() {
        Bus::Pci
    } else if any(&|part| part == "platform" || part == "soc") {
        Bus::Platform
    } else {
        Bus::Other
    }
}

/// The USB device of an interface `2-1:1.0` is the directory above it.
fn usb_device(path: &str) -> Option<&str> {
    let mut here = path;
    loop {
        let (above, part) = here.rsplit_once('/')?;
        if part.contains(':') && part.starts_with(|char: char| char.is_ascii_digit()) && part.contains('-') {
            return Some(above);
        }
        here = above;
    }
}

fn attributes(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let name = &device.name;
    let path = |tail: &str| [b"/sys/class/net/", &device.row.raw_name[..], tail.as_bytes()].concat();
    let [functions, queues] =
        scan.batch(&[Request::read(path("/device/sriov_numvfs")), Request::list(path("/queues"))]);
    let file = format!("/sys/class/net/{name}/device/sriov_numvfs");
    interface.virtual_functions = match &functions {
        Reply::Error { errno: libc::ENOENT, .. } => Reading::Absent(scan.file(file)),
        reply => scan.parsed(reply, &file, &plan::FUNCTIONS, name, |text| text.trim().parse().ok()),
    };
    interface.queues = match &queues {
        Reply::Bytes(names) => masks(scan, device, &names.0),
        // A kernel without RPS and XPS.
        Reply::Error { errno: libc::ENOENT, .. } => Reading::Absent(scan.file(format!("/sys/class/net/{name}/queues"))),
        refusal => Reading::Unknown(scan.refusal(refusal, &plan::QUEUES, name)),
    };
    match (interface.bus.known(), device.path.as_deref().and_then(usb_device)) {
        (Some(Bus::Usb), Some(above)) => usb(scan, interface, above),
        (Some(Bus::Usb), None) => {
            let gap = scan.gap(GapKind::Failed, "no USB device above the interface", &plan::USB, name);
            interface.usb.mark(gap);
        }
        _ => {
            let source = scan.file(format!("/sys/class/net/{name}/device"));
            interface.usb.mark_absent(source);
        }
    }
}

/// The CPUs of each queue. `names` holds `rx-0`, `tx-0` ...
fn masks(scan: &mut Scan<'_>, device: &Netdev, names: &[u8]) -> Reading<Vec<Queue>> {
    let name = &device.name;
    let folder = format!("/sys/class/net/{name}/queues");
    let mut queues: Vec<(bool, u32)> = zero_ended(names)
        .filter_map(|name| {
            let (side, number) = std::str::from_utf8(name).ok()?.split_once('-')?;
            Some((["rx", "tx"].iter().position(|one| *one == side)? == 1, number.parse().ok()?))
        })
        .take(MOST)
        .collect();
    queues.sort_unstable();
    let tail = |(tx, index): (bool, u32)| {
        if tx { format!("tx-{index}/xps_cpus") } else { format!("rx-{index}/rps_cpus") }
    };
    let path = |queue| {
        let tail = format!("/queues/{}", tail(queue));
        [b"/sys/class/net/", &device.row.raw_name[..], tail.as_bytes()].concat()
    };
    let requests: Vec<Request> = queues.iter().map(|queue| Request::read(path(*queue))).collect();
    let replies = scan.kernel.call(&requests);
    let source = scan.file(&folder);
    let rows = queues.iter().zip(&replies).map(|(queue, reply)| {
        let file = format!("{folder}/{}", tail(*queue));
        let cpus = match reply {
            // A device with one transmit queue has no choice, and a kernel may be built without either.
            Reply::Error { errno: libc::ENOENT, .. } => Reading::Absent(scan.file(file)),
            reply => scan.parsed(reply, &file, &plan::QUEUES, name, cpu_mask::members),
        };
        let (tx, index) = *queue;
        let (rps_cpus, xps_cpus) = if tx { (Reading::Absent(source), cpus) } else { (cpus, Reading::Absent(source)) };
        Queue { tx, index, rps_cpus, xps_cpus }
    });
    let rows = rows.collect();
    Reading::Known(rows, source)
}

fn usb(scan: &mut Scan<'_>, interface: &mut Interface, above: &str) {
    const FILES: [&str; 5] = ["idVendor", "idProduct", "speed", "version", "product"];
    let name = interface.name.clone();
    let replies = scan.batch(&FILES.map(|file| Request::read(format!("{above}/{file}"))));
    let mut text = |at: usize| {
        let file = format!("{above}/{}", FILES[at]);
        match &replies[at] {
            Reply::Error { errno: libc::ENOENT, .. } => Reading::Absent(scan.file(file)),
            reply => scan.parsed(reply, &file, &plan::USB, &name, |text| {
                let text = text.trim();
                (!text.is_empty()).then(|| text.to_owned())
            }),
        }
    };
    let (vendor, product) = (text(0), text(1));
    interface.usb.version = text(3);
    interface.usb.product = text(4);
    interface.usb.id = match (vendor, product) {
        (Reading::Known(vendor, source), Reading::Known(product, _)) => {
            Reading::Known(format!("{vendor}:{product}"), source)
        }
        (Reading::Known(..), other) | (other, _) => other,
    };
    let file = format!("{above}/speed");
    // In Mb/s, `1.5` for the slowest.
    interface.usb.speed = scan.parsed(&replies[2], &file, &plan::USB, &name, |text| {
        let megabits: f64 = text.trim().parse().ok()?;
        (megabits > 0.0 && megabits < 1e6).then(|| BitsPerSecond((megabits * 1e6).round() as u64))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_is_known_by_the_path_where_the_kernel_does_not_name_it() {
        for (path, bus) in [
            ("/sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0", Bus::Pci),
            ("/sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0/mlx5_core.sf.4", Bus::Pci),
            ("/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0", Bus::Usb),
            ("/sys/devices/pci0000:00/0000:00:03.0/virtio0", Bus::Virtual),
            ("/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/f8b3781b", Bus::Virtual),
            ("/sys/devices/vif-0", Bus::Virtual),
            ("/sys/devices/platform/soc/1c30000.ethernet", Bus::Platform),
            ("/sys/devices/x", Bus::Other),
        ] {
            assert_eq!(bus_of_path(path), bus, "{path}");
        }
        assert_eq!((bus_of_name("auxiliary"), bus_of_name("vmbus")), (None, Some(Bus::Virtual)));
    }

    #[test]
    fn the_usb_device_stands_above_its_interface() {
        let hub = "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1.4";
        assert_eq!(usb_device(&format!("{hub}/2-1.4:1.0")), Some(hub));
        assert_eq!(usb_device("/sys/devices/pci0000:00/0000:00:14.0"), None);
        assert_eq!(usb_device(""), None);
    }
}
