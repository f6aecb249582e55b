//! Who a message of the kernel is about: driver, device on its bus, interface.

/// What the beginning of a message proves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speaker<'t> {
    /// Driver.
    pub driver: Option<&'t str>,
    /// Address of the device on its bus: `0000:01:00.0`, `1-1.1:1.0`, `1f00100000.ethernet`.
    pub bus: Option<&'t str>,
    /// Interface.
    pub interface: Option<&'t str>,
    /// Its former name, for `renamed from`.
    pub former: Option<&'t str>,
    /// What was said.
    pub message: &'t str,
}

/// Reads the beginning of a message. The kernel prints `DRIVER ADDRESS INTERFACE: message` for a network device and
/// `DRIVER ADDRESS: message` for any device; older drivers put a colon between address and interface.
pub fn speaker(text: &str) -> Speaker<'_> {
    let nobody = Speaker { message: text, ..Speaker::default() };
    if let Some(found) = watchdog(text) {
        return found;
    }
    let Some((driver, rest)) = text.split_once(' ') else { return nobody };
    let Some((second, rest)) = rest.split_once(' ') else { return nobody };
    let bus = second.trim_end_matches(':');
    let pci = is_pci_address(bus);
    if !is_driver(driver) || !(pci || is_bus_address(bus)) {
        return nobody;
    }
    let ends = second.ends_with(':');
    if ends && !pci {
        // `usb 1-1: ...`, `sd 2:0:0:0: ...`: any device.
        return nobody;
    }
    let of_device = Speaker { driver: Some(driver), bus: Some(bus), message: rest, ..Speaker::default() };
    let (third, after) = rest.split_once(' ').unwrap_or((rest, ""));
    if ends {
        // `e1000e 0000:01:00.0: eth1: message`, where a word such as `MAC:` is none.
        let named = third.strip_suffix(':').filter(|name| is_common_name(name));
        return match named {
            Some(_) => named_interface(of_device, named, after),
            None => of_device,
        };
    }
    if let Some(after) = rest.strip_prefix("(unnamed net_device) (uninitialized): ") {
        return Speaker { message: after, ..of_device };
    }
    let registered = after.strip_prefix("(uninitialized): ").or_else(|| after.strip_prefix("(unregistered): "));
    match (third.strip_suffix(':'), registered) {
        (Some(name), _) if is_interface(name) => named_interface(of_device, Some(name), after),
        (None, Some(after)) if is_interface(third) => named_interface(of_device, Some(third), after),
        // `i40e 04:00.0 Core and Global modules ready`.
        _ if pci => of_device,
        _ => nobody,
    }
}

fn named_interface<'t>(of_device: Speaker<'t>, interface: Option<&'t str>, message: &'t str) -> Speaker<'t> {
    let former = message.strip_prefix("renamed from ").and_then(|rest| rest.split_ascii_whitespace().next());
    Speaker { interface, former, message, ..of_device }
}

/// `NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out`.
fn watchdog(text: &str) -> Option<Speaker<'_>> {
    let rest = text.strip_prefix("NETDEV WATCHDOG: ")?;
    let (name, rest) = rest.split_once(" (")?;
    let (driver, _) = rest.split_once("):")?;
    let fits = is_interface(name) && is_driver(driver);
    fits.then_some(Speaker { driver: Some(driver), interface: Some(name), message: text, ..Speaker::default() })
}

/// `0000:01:00.0` or, from old drivers, `01:00.0`.
pub fn is_pci_address(word: &str) -> bool {
    let Some((front, function)) = word.split_once('.') else { return false };
    let parts: Vec<&str> = front.split(':').collect();
    let hex = |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let placed = match parts.as_slice() {
        [domain, bus, device] => {
            (4..=8).contains(&domain.len()) && hex(domain, domain.len()) && hex(bus, 2) && hex(device, 2)
        }
        [bus, device] => hex(bus, 2) && hex(device, 2),
        _ => false,
    };
    placed && matches!(function.as_bytes(), [b'0'..=b'7'])
}

/// Addresses on other busses hold a digit: `1-1.1:1.0`, `fe300000.ethernet`, `virtio0`, `mdio-bus:1f`.
fn is_bus_address(word: &str) -> bool {
    word.len() >= 3
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_@".contains(&byte))
}

fn is_driver(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 32
        && word.starts_with(|char: char| char.is_ascii_alphanumeric())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte))
}

/// Names of things that are no network interfaces, though their drivers print them in the same place.
const OTHERS: &[&str] =
    &["mlx4_", "mlx5_", "bnxt_re", "card", "hdaudio", "tty", "irdma", "rxe", "sd", "nvme", "video", "usb"];

fn is_interface(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 15
        && !word.contains([':', '/', '(', ')', '[', '<'])
        && word != "."
        && word != ".."
        && !OTHERS.iter().any(|other| word.starts_with(other))
}

/// Beginnings of the names that the kernel, udev and the makers of routers give.
const COMMON: &[&str] =
    &["eth", "en", "em", "wl", "ww", "ib", "lan", "wan", "sw", "usb", "p", "lif", "net", "bond", "ens"];

/// True for a word that looks like an interface even where nothing around it says so: `eth0`, `enp1s0f0`, `lan3`.
pub fn is_common_name(word: &str) -> bool {
    let known = COMMON.iter().any(|start| word.starts_with(start));
    known
        && is_interface(word)
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte))
        // `p` alone begins too many words: `p1p2`, but not `pci0000`.
        && (!word.starts_with('p') || word[1..].starts_with(|char: char| char.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> [&str; 4] {
        let found = speaker(text);
        let plain = |word: Option<&'static str>| word.unwrap_or("-");
        // Leaked for the comparison alone.
        let leak = |word: Option<&str>| plain(word.map(|word| &*Box::leak(word.to_owned().into_boxed_str())));
        [leak(found.driver), leak(found.bus), leak(found.interface), leak(found.former)]
    }

    #[test]
    fn network_devices_say_who_they_are() {
        for (text, wanted) in [
            ("igc 0000:07:00.0 enp7s0: NIC Link is Down", ["igc", "0000:07:00.0", "enp7s0", "-"]),
            ("e1000e 0000:01:00.0: eth1: Detected Hardware Unit Hang:", ["e1000e", "0000:01:00.0", "eth1", "-"]),
            ("igc 0000:0a:00.0 eno1: renamed from eth0", ["igc", "0000:0a:00.0", "eno1", "eth0"]),
            ("mt7530-mdio mdio-bus:1f lan3: Link is Down", ["mt7530-mdio", "mdio-bus:1f", "lan3", "-"]),
            ("smsc95xx 1-1.1:1.0 eth0: MII is busy", ["smsc95xx", "1-1.1:1.0", "eth0", "-"]),
            ("macb 1f00100000.ethernet eth0: Link is Down", ["macb", "1f00100000.ethernet", "eth0", "-"]),
            ("igc 0001:04:00.0 (unnamed net_device) (uninitialized): PHC added", ["igc", "0001:04:00.0", "-", "-"]),
            ("r8169 0000:01:00.0 eth0 (uninitialized): x", ["r8169", "0000:01:00.0", "eth0", "-"]),
            ("ixgbe 0000:82:00.0: MAC: 2, PHY: 19", ["ixgbe", "0000:82:00.0", "-", "-"]),
            ("i40e 04:00.0 Core and Global modules ready 0", ["i40e", "04:00.0", "-", "-"]),
            ("NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out", ["r8169", "-", "eth0", "-"]),
        ] {
            assert_eq!(told(text), wanted, "{text}");
        }
    }

    #[test]
    fn others_prove_no_interface() {
        for text in [
            "usb 1-1: new high-speed USB device number 2",
            "sd 2:0:0:0: [sda] 500 blocks",
            "mlx5_core 0000:03:00.0 mlx5_0: x",
            "cdc_acm 1-1:1.0: ttyACM0: USB ACM device",
            "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
            "br0: port 1(eth0) entered disabled state",
            "we ran out of ideas: x",
            "NETDEV WATCHDOG: ens1f0 (sfc",
            "",
        ] {
            assert_eq!(speaker(text).interface, None, "{text}");
        }
        assert!(is_common_name("enp1s0f0np0") && is_common_name("p1p2") && is_common_name("eth0.100"));
        assert!(!is_common_name("pci0000") && !is_common_name("port") && !is_common_name("SATA"));
        assert!(is_pci_address("10000:e1:00.0") && !is_pci_address("0000:01:00.8") && !is_pci_address("1:2.3"));
    }
}
