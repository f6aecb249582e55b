//! Vendors, devices and classes of PCI by their numbers and by the names that lspci prints.

/// Ports and devices that only hypervisors have: QEMU, VMware, virtio.
pub fn is_emulated(vendor: u16, device: u16) -> bool {
    matches!((vendor, device), (0x1b36, 0x0001..=0x000e) | (0x15ad, 0x0790 | 0x07a0) | (0x1af4, _))
}

/// Vendors that make hypervisors and no hardware: Red Hat (two numbers), VMware, Microsoft, XenSource, VirtualBox.
pub fn is_hypervisors(vendor: u16) -> bool {
    matches!(vendor, 0x1af4 | 0x1b36 | 0x15ad | 0x1414 | 0x5853 | 0x80ee)
}

/// Name of a device as lspci prints it.
pub fn name(vendor: u16, id: u16) -> Option<String> {
    if let Some(device) = pci_ids::Device::from_vid_pid(vendor, id) {
        return Some(format!("{} {}", device.vendor().name(), device.name()));
    }
    let vendor = <pci_ids::Vendor as pci_ids::FromId<u16>>::from_id(vendor)?;
    Some(format!("{} Device {id:04x}", vendor.name()))
}

/// Base class and subclass of a name that lspci prints: `Ethernet controller` is 0x0200.
pub fn class(name: &str) -> Option<u16> {
    let subclasses = pci_ids::Classes::iter().flat_map(|class| {
        class.subclasses().map(move |subclass| (u16::from(class.id()) << 8 | u16::from(subclass.id()), subclass.name()))
    });
    let mut named = subclasses.filter(|(_, held)| held.eq_ignore_ascii_case(name));
    named.next().map(|(class, _)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_names() {
        for (text, wanted) in [
            ("Ethernet controller", Some(0x0200)),
            ("Network controller", Some(0x0280)),
            ("Infiniband controller", Some(0x0207)),
            ("PCI bridge", Some(0x0604)),
            ("VGA compatible controller", Some(0x0300)),
            ("Something else", None),
        ] {
            assert_eq!(class(text), wanted, "{text}");
        }
    }

    #[test]
    fn names_are_those_of_lspci() {
        assert_eq!(name(0x1af4, 0x1041).as_deref(), Some("Red Hat, Inc. Virtio 1.0 network device"));
        assert_eq!(name(0x8086, 0x0d57).as_deref(), Some("Intel Corporation Device 0d57"));
        assert_eq!(name(0xfff0, 1), None);
    }
}
