//! Messages of the kernel and of drivers about PCIe links, and what the kernel prints of a function when it finds it.

use crate::formats::pci_link;

/// Speed of one lane in GT/s, and lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// GT/s.
    pub speed: Option<f64>,
    /// Lanes.
    pub width: Option<u32>,
}

/// What such a message says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkReport<'t> {
    /// The narrowest link between the function and the root, or its own link.
    pub now: Figures,
    /// What the function itself could do.
    pub able: Figures,
    /// The port at whose link the path is narrowest; none where the message does not say.
    pub at: Option<&'t str>,
    /// True where it is said of the whole path, so that no other link of it is narrower.
    pub whole_path: bool,
}

/// Reads a message, which the name of driver and device does not belong to any more.
pub fn report(message: &str) -> Option<LinkReport<'_>> {
    available(message).or_else(|| of_driver(message))
}

/// `4.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x1 link at 0000:00:1c.1 (capable of 7.876 Gb/s with 8.0
/// GT/s PCIe x1 link)`, and `... (8.0 GT/s PCIe x8 link)` where the path carries what the function can do.
fn available(message: &str) -> Option<LinkReport<'_>> {
    let (front, rest) = message.split_once(" available PCIe bandwidth")?;
    front.trim().strip_suffix("Gb/s")?.trim().parse::<f64>().ok()?;
    if let Some(limited) = rest.split_once("limited by ").map(|(_, limited)| limited) {
        let (now, rest) = limited.split_once(" link")?;
        let at = rest.trim_start().strip_prefix("at ").and_then(|rest| rest.split_ascii_whitespace().next());
        let able = rest.split_once("Gb/s with ").map_or(Figures::default(), |(_, able)| figures(able));
        let at = at.filter(|at| !at.starts_with('<'));
        return Some(LinkReport { now: figures(now), able, at, whole_path: true });
    }
    let own = figures(rest.split_once('(')?.1);
    Some(LinkReport { now: own, able: own, at: None, whole_path: true })
}

/// `8.0 GT/s PCIe x4`.
fn figures(text: &str) -> Figures {
    let width = text
        .split(|char: char| char.is_whitespace() || ")],".contains(char))
        .find_map(|word| word.strip_prefix('x').and_then(pci_link::width));
    Figures { speed: pci_link::speed(text), width }
}

/// Forms that drivers printed before the kernel had one for all of them.
fn of_driver(message: &str) -> Option<LinkReport<'_>> {
    let lower = message.to_ascii_lowercase();
    // mlx4, cxgb4: `PCIe link speed is 8.0GT/s, device supports 8.0GT/s`, and a second line about the width.
    if let Some((_, rest)) = lower.split_once("pcie link speed is ") {
        let able =
            rest.split_once("device supports ").and_then(|(_, able)| pci_link::speed(&able.replace("gt/s", "GT/s")));
        let now = pci_link::speed(&rest.replace("gt/s", "GT/s"));
        return Some(LinkReport {
            now: Figures { speed: Some(now?), width: None },
            able: Figures { speed: able, width: None },
            ..LinkReport::default()
        });
    }
    if let Some((_, rest)) = lower.split_once("pcie link width is ") {
        let lanes = |text: &str| pci_link::width(text.split(|char: char| !char.is_ascii_alphanumeric()).next()?);
        let able = rest.split_once("device supports ").and_then(|(_, able)| lanes(able));
        return Some(LinkReport {
            now: Figures { speed: None, width: Some(lanes(rest)?) },
            able: Figures { speed: None, width: able },
            ..LinkReport::default()
        });
    }
    // ixgbe `(Speed:5.0GT/s, Width: x4, Encoding Loss:20%)` is about the path; `(PCI Express:5.0GT/s:Width x8)`, igb
    // `(PCIe:5.0Gb/s:Width x4)` and i40e `PCI-Express: Speed 5.0GT/s Width x8` are about the function's own link.
    let path = lower.split_once("(speed:");
    let own = || {
        lower
            .split_once("(pci express:")
            .or_else(|| lower.split_once("(pcie:"))
            .or_else(|| lower.split_once("pci-express: speed "))
    };
    let (whole_path, rest) = match path {
        Some((_, rest)) => (true, rest),
        None => (false, own()?.1),
    };
    let speed = pci_link::speed(&rest.trim_start().replacen("gt/s", "GT/s", 1).replacen("gb/s", "GT/s", 1))?;
    let width = rest.split_once("width").and_then(|(_, rest)| {
        let rest = rest.trim_start_matches([':', ' ']);
        pci_link::width(&rest[..rest.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(rest.len())])
    })?;
    Some(LinkReport { now: Figures { speed: Some(speed), width: Some(width) }, whole_path, ..LinkReport::default() })
}

/// What the kernel prints of a PCI function when it finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'t> {
    /// `[8086:1572] type 00 class 0x020000 PCIe Endpoint`.
    Function {
        /// Vendor and device: `8086:1572`.
        id: &'t str,
        /// Base class and subclass.
        class: u16,
        /// What it is on PCIe, in the kernel's words; empty from older kernels.
        kind: &'t str,
    },
    /// `PCI bridge to [bus 03-05]`.
    Bridge {
        /// First bus below it.
        secondary: u8,
        /// Last bus below it.
        subordinate: u8,
    },
}

/// Reads a message of `pci ADDRESS:`.
pub fn found(message: &str) -> Option<Found<'_>> {
    if let Some(rest) = message.strip_prefix("PCI bridge to [bus ") {
        let (buses, _) = rest.split_once(']')?;
        let (first, last) = buses.split_once('-').unwrap_or((buses, buses));
        let hex = |text: &str| u8::from_str_radix(text, 16).ok();
        return Some(Found::Bridge { secondary: hex(first)?, subordinate: hex(last)? });
    }
    let (id, rest) = message.strip_prefix('[')?.split_once(']')?;
    let (vendor, device) = id.split_once(':')?;
    let hex = |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rest = rest.trim_start().strip_prefix("type ")?.split_once("class ")?.1;
    let (class, kind) = rest.split_once(' ').unwrap_or((rest, ""));
    let class = u32::from_str_radix(class.trim().strip_prefix("0x")?, 16).ok()?;
    (hex(vendor) && hex(device)).then_some(Found::Function { id, class: (class >> 8) as u16, kind: kind.trim() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(speed: f64, width: u32) -> Figures {
        Figures { speed: Some(speed), width: Some(width) }
    }

    #[test]
    fn the_kernels_own_message() {
        let text = "4.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x1 link at 0000:00:1c.1 (capable of 7.876 Gb/s \
                    with 8.0 GT/s PCIe x1 link)";
        let wanted = LinkReport { now: both(5.0, 1), able: both(8.0, 1), at: Some("0000:00:1c.1"), whole_path: true };
        assert_eq!(report(text), Some(wanted));
        let text = "63.008 Gb/s available PCIe bandwidth (8.0 GT/s PCIe x8 link)";
        let wanted = LinkReport { now: both(8.0, 8), able: both(8.0, 8), at: None, whole_path: true };
        assert_eq!(report(text), Some(wanted));
        let text = "8.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x4 link at <unknown> (capable of 1 Gb/s with \
                    16.0 GT/s PCIe x16 link), in Flit mode";
        let found = report(text).unwrap();
        assert_eq!((found.now, found.able, found.at), (both(2.5, 4), both(16.0, 16), None));
        // Cut in the middle: what is there counts.
        let found =
            report("126.016 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x16 link at 0000:00:01.1 (capa")
                .unwrap();
        assert_eq!((found.now, found.able, found.at), (both(8.0, 16), Figures::default(), Some("0000:00:01.1")));
    }

    #[test]
    fn what_drivers_printed_before() {
        let own = |speed, width| LinkReport { now: both(speed, width), ..LinkReport::default() };
        for (text, wanted) in [
            ("(Speed:5.0GT/s, Width: x4, Encoding Loss:20%)", LinkReport { whole_path: true, ..own(5.0, 4) }),
            ("(PCI Express:5.0GT/s:Width x8) 02:00:00:00:00:01", own(5.0, 8)),
            ("(PCIe:2.5Gb/s:Width x4) 02:00:00:00:00:01", own(2.5, 4)),
            ("PCI-Express: Speed 5.0GT/s Width x8", own(5.0, 8)),
        ] {
            assert_eq!(report(text), Some(wanted), "{text}");
        }
        let speed = report("PCIe link speed is 5.0GT/s, device supports 8.0GT/s").unwrap();
        assert_eq!((speed.now.speed, speed.able.speed, speed.now.width), (Some(5.0), Some(8.0), None));
        let width = report("PCIe link width is x4, device supports x8").unwrap();
        assert_eq!((width.now.width, width.able.width, width.now.speed), (Some(4), Some(8), None));
        for other in ["PCI Express bandwidth of 16GT/s available", "PCIe link lost, device now detached", "", "(PCIe:"]
        {
            assert_eq!(report(other), None, "{other}");
        }
    }

    #[test]
    fn functions_as_they_are_found() {
        let wanted = Found::Function { id: "8086:1572", class: 0x0200, kind: "PCIe Endpoint" };
        assert_eq!(found("[8086:1572] type 00 class 0x020000 PCIe Endpoint"), Some(wanted));
        let wanted = Found::Function { id: "1002:aab0", class: 0x0403, kind: "" };
        assert_eq!(found("[1002:aab0] type 00 class 0x040300"), Some(wanted));
        assert_eq!(found("PCI bridge to [bus 03]"), Some(Found::Bridge { secondary: 3, subordinate: 3 }));
        assert_eq!(found("PCI bridge to [bus 03-0a]"), Some(Found::Bridge { secondary: 3, subordinate: 10 }));
        for other in ["reg 0x10: [mem 0xd0540000-0xd0543fff 64bit]", "[bus 00-ff]", "[8086:1572] type", ""] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
