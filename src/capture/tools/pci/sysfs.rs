//! Files of PCI functions in sysfs, one line each.

use super::super::super::command::Command;
use super::super::super::site::Site;
use super::super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::pci_link;
use crate::reading::{Gigatransfers, Reading};
use crate::snapshot::PciAddress;

pub(super) const TOOL: Tool = Tool {
    name: "sysfs pci",
    answers: |command| !paths(command).is_empty(),
    begins: |cursor| with_path(cursor).is_some(),
    read,
};

const FILES: &[&str] = &["current_link_speed", "current_link_width", "max_link_speed", "max_link_width", "numa_node"];

fn is_ours(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or_default();
    let place = folder.starts_with("/sys/bus/pci/devices/")
        || folder.starts_with("/sys/devices/pci")
        || folder.starts_with("/sys/class/net/");
    place && FILES.contains(&file)
}

/// The files that a command prints, where all are such files.
fn paths(command: &Command) -> Vec<&str> {
    let files = command.files();
    if files.iter().all(|file| is_ours(file) || file.contains('*') && file.starts_with("/sys/")) {
        files
    } else {
        Vec::new()
    }
}

/// A line that `grep` prints with its file: path and value.
fn with_path<'a>(cursor: &Cursor<'a>) -> Option<(&'a str, &'a str)> {
    // The addresses in a path hold colons.
    let text = cursor.peek()?.text;
    let end = FILES.iter().find_map(|file| Some(text.find(&format!("/{file}:"))? + 1 + file.len()))?;
    is_ours(&text[..end]).then(|| (&text[..end], text[end + 1..].trim()))
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some((path, value)) = with_path(cursor) {
        let Some(line) = cursor.take() else { return };
        put(intake.site, path, value, line.number);
    }
    let Some(command) = intake.command else { return };
    let files = paths(command);
    if files.iter().any(|file| file.contains('*')) {
        // The names that a pattern stood for are not known.
        return;
    }
    for path in files {
        let plain =
            |text: &str| pci_link::speed(text).is_some() || text.starts_with("Unknown") || text.parse::<i64>().is_ok();
        let Some(found) = cursor.take_if(|text| plain(text.trim()).then(|| text.trim().to_owned())) else { return };
        put(intake.site, path, &found.value, found.line);
    }
}

/// The function that a path leads to: the last address in it, or that of the interface.
fn function(site: &Site, path: &str) -> Option<PciAddress> {
    let address = path.split('/').rev().find_map(|part| part.parse::<PciAddress>().ok());
    // `..` leads to the port above, which the path does not name.
    if path.contains("/..") {
        return None;
    }
    address.or_else(|| {
        let name = path.strip_prefix("/sys/class/net/")?.split('/').next()?;
        site.snapshot.interface(name)?.device.known().copied()
    })
}

fn put(site: &mut Site, path: &str, value: &str, line: u32) {
    let Some(address) = function(site, path) else { return };
    let speed = pci_link::speed(value).map(|speed| At::new(Gigatransfers(speed), line));
    let width = pci_link::width(value).map(|width| At::new(width, line));
    match path.rsplit('/').next() {
        Some("current_link_speed") => {
            if let Some(speed) = speed {
                site.put_pci(address, |function| &mut function.speed, speed);
            }
        }
        Some("max_link_speed") => {
            if let Some(speed) = speed {
                site.put_pci(address, |function| &mut function.speed_max, speed);
            }
        }
        Some("current_link_width") => {
            if let Some(width) = width {
                site.put_pci(address, |function| &mut function.width, width);
            }
        }
        Some("max_link_width") => {
            if let Some(width) = width {
                site.put_pci(address, |function| &mut function.width_max, width);
            }
        }
        // -1 is none.
        Some("numa_node") => {
            if let Ok(node) = value.parse() {
                site.put_pci(address, |function| &mut function.numa_node, At::new(node, line));
            } else if value == "-1" {
                let source = site.source(line);
                site.pci.function(address).numa_node.fill(Reading::Absent(source));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::transcript::one;

    #[test]
    fn files_of_one_function_and_of_many() {
        let text = "$ ethtool -i eth0\ndriver: igc\nversion: 6\nbus-info: 0000:03:00.0\n\
                    $ cat /sys/bus/pci/devices/0000:03:00.0/current_link_speed /sys/class/net/eth0/device/current_link_width\n5.0 GT/s PCIe\n1\n\
                    $ grep . /sys/bus/pci/devices/0000:03:00.0/max_link_*\n/sys/bus/pci/devices/0000:03:00.0/max_link_speed:5.0 GT/s PCIe\n\
                    /sys/bus/pci/devices/0000:03:00.0/max_link_width:1\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let link = &snapshot.devices[0].pcie.links.known().unwrap()[0];
        assert_eq!((link.speed.known().unwrap().0, link.width.known()), (5.0, Some(&1)));
        assert_eq!((link.lower_speed_max.known().unwrap().0, link.lower_width_max.known()), (5.0, Some(&1)));
        assert_eq!(link.upper.known(), None);
    }
}
