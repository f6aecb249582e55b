//! What outputs prove of a port without saying it: the driver by the names of its counters, the hardware by what only hardware
//! tells.

use super::site::Site;
use crate::knowledge::Knowledge;
use crate::reading::Reading;
use crate::snapshot::{Interface, InterfaceKind};

/// Fills in drivers, ports and links that follow from other readings of the same interface.
pub(super) fn finish(site: &mut Site) {
    for at in 0..site.snapshot.interfaces.len() {
        let interface = &site.snapshot.interfaces[at];
        if !may_be_port(interface) {
            continue;
        }
        let driver = driver(interface);
        let physical = physical(interface);
        let up =
            (interface.eee.active.known() == Some(&true)).then_some("energy saving that both ends of the link use");
        let autoneg = negotiates(interface).then_some("a link partner that negotiates");
        let autoneg = autoneg.map(|from| Reading::Known(true, site.inferred(from)));
        let driver = driver.map(|(name, from)| Reading::Known(name, site.inferred(&from)));
        let physical = physical.map(|from| Reading::Known(true, site.inferred(from)));
        let up = up.map(|from| Reading::Known(true, site.inferred(from)));
        let interface = &mut site.snapshot.interfaces[at];
        let is_unknown = interface.driver.name.is_unasked();
        if let Some(driver) = driver.filter(|_| is_unknown) {
            interface.driver.name = driver;
        }
        // A driver says more than all the rest.
        if interface.driver.name.known().and_then(|driver| Knowledge::embedded().is_hardware(driver)).is_none() {
            interface.port.physical.fill(physical.unwrap_or_default());
        }
        interface.link.up.fill(up.unwrap_or_default());
        interface.link.autoneg.fill(autoneg.unwrap_or_default());
    }
}

/// False for what is known to be made up, and for names that VLANs and their like bear: they show the port below them as
/// their own.
fn may_be_port(interface: &Interface) -> bool {
    let kind = matches!(interface.kind.known(), None | Some(InterfaceKind::Ethernet));
    kind && interface.stack.parent.known().is_none()
        && !interface.name.contains(['.', '@'])
        && !["vlan", "macv", "bond", "br", "veth", "tap", "tun"].iter().any(|start| interface.name.starts_with(start))
}

/// The driver, and what tells it.
fn driver(interface: &Interface) -> Option<(String, String)> {
    let names = names(interface)?;
    let driver = Knowledge::embedded().driver_of_names(names)?;
    Some((driver.to_owned(), format!("names of counters that only {driver} has")))
}

fn names(interface: &Interface) -> Option<impl Iterator<Item = &str> + Clone> {
    let block = interface.counters.iter().find(|block| block.group == "ethtool_statistics")?;
    Some(block.counters.iter().map(|counter| counter.name.as_str()))
}

/// What shows that the port is of hardware.
fn physical(interface: &Interface) -> Option<&'static str> {
    if names(interface).is_some_and(|names| Knowledge::embedded().are_of_hardware(names)) {
        Some("counters that only ports of hardware have")
    } else if negotiates(interface) {
        Some("a link partner that negotiates")
    } else if has_slow_modes(interface) {
        Some("link modes that only copper ports of hardware have")
    } else if interface.module.present.known() == Some(&true) {
        Some("the module in it")
    } else if interface.eee.enabled.known().is_some() {
        Some("its Energy Efficient Ethernet")
    } else {
        None
    }
}

fn negotiates(interface: &Interface) -> bool {
    interface.link.partner.known().is_some_and(|modes| modes.0.iter().any(|mode| mode.contains("base")))
}

/// Virtual ports show 1000baseT or 10000baseT at most, and none of the slower modes beside it.
fn has_slow_modes(interface: &Interface) -> bool {
    let has = |modes: &crate::snapshot::LinkModes, start: &str| modes.0.iter().any(|mode| mode.starts_with(start));
    interface.link.supported.known().is_some_and(|modes| has(modes, "10baseT/") && has(modes, "100baseT/"))
}

#[cfg(test)]
mod tests {
    use super::super::transcript::one;
    use crate::snapshot::{Bus, Interface};

    fn port(text: &str) -> Interface {
        let (snapshot, _) = one(text);
        snapshot.interfaces.into_iter().next().unwrap()
    }

    fn told(text: &str) -> (Option<String>, Option<bool>) {
        let port = port(text);
        (port.driver.name.known().cloned(), port.port.physical.known().copied())
    }

    #[test]
    fn counters_tell_driver_and_hardware() {
        let list = |rows: &str| format!("$ ethtool -S eth0\nNIC statistics:\n{rows}");
        let driver = |name: &str| Some(name.to_owned());
        assert_eq!(told(&list("     rx_out_of_buffer: 5\n     rx_packets: 9\n")), (driver("mlx5_core"), None));
        assert_eq!(told(&list("     rx_queue_0_kicks: 5\n")), (driver("virtio_net"), None));
        assert_eq!(told(&list("     rx_missed_errors: 5\n")), (None, Some(true)));
        assert_eq!(told(&list("     rx_no_dma_resources: 5\n")), (None, Some(true)), "of two drivers, both hardware");
        assert_eq!(told(&list("     rx_packets: 5\n     tx_packets: 5\n")), (None, None));
        // What ethtool -i says stays.
        let said = "$ ethtool -i eth0\ndriver: txgbe\nversion: 1\n";
        assert_eq!(told(&format!("{}{said}", list("     corr_ecc_errors: 0\n"))), (driver("txgbe"), None));
        // A VLAN shows what its parent counts.
        assert_eq!(told(&list("     rx_missed_errors: 5\n").replace("eth0", "eth0.7")), (None, None));
    }

    #[test]
    fn link_modes_tell_hardware() {
        let modes = |modes: &str| format!("$ ethtool eth0\nSettings for eth0:\n\tSupported link modes:   {modes}\n");
        let physical = |text: &str| port(text).port.physical.known().copied();
        assert_eq!(physical(&modes("10baseT/Half 100baseT/Full 1000baseT/Full")), Some(true));
        assert_eq!(physical(&modes("1000baseT/Full 10000baseT/Full")), None, "as vmxnet3 shows them");
        let partner = "\tLink partner advertised link modes:  1000baseT/Full\n";
        let negotiates = port(&(modes("10000baseT/Full") + partner));
        assert_eq!((negotiates.port.physical.known(), negotiates.link.autoneg.known()), (Some(&true), Some(&true)));
        let none = "\tLink partner advertised link modes:  Not reported\n";
        assert_eq!(physical(&(modes("10000baseT/Full") + none)), None);
    }

    #[test]
    fn energy_saving_in_use_tells_a_link() {
        let status =
            |status: &str| format!("$ ethtool --show-eee eth0\nEEE settings for eth0:\n\tEEE status: {status}\n");
        let (active, idle) = (port(&status("enabled - active")), port(&status("enabled - inactive")));
        assert_eq!((active.link.up.known(), active.port.physical.known()), (Some(&true), Some(&true)));
        assert_eq!((idle.link.up.known(), idle.port.physical.known()), (None, Some(&true)));
    }

    #[test]
    fn the_alias_of_a_device_tells_bus_and_driver() {
        let alias = |alias: &str| port(&format!("$ cat /sys/class/net/eth0/device/modalias\n{alias}\n"));
        let tree = alias("of:NethernetT(null)Craspberrypi,rp1-gemCcdns,macb");
        assert_eq!((tree.driver.name.known().unwrap().as_str(), tree.bus.known()), ("macb", Some(&Bus::Platform)));
        assert!(alias("of:NethernetT(null)Cvendor,gmac-5").driver.name.is_unasked());
        let usb = alias("usb:v0BDAp8153d3100dc00dsc00dp00icFFiscFFip00in00");
        assert_eq!((usb.usb.id.known().unwrap().as_str(), usb.bus.known()), ("0bda:8153", Some(&Bus::Usb)));
        assert_eq!(alias("pci:v00008086d000015F3sv00001043").bus.known(), Some(&Bus::Pci));
        for odd in ["usb:v", "usb:v0BDAp", "usb:vü0BDp8153"] {
            assert!(alias(odd).usb.id.is_unasked(), "{odd}");
        }
    }
}
