//! `lsusb`, `lsusb -t` and the tree that Synology's lsusb draws.

/// A device on a USB.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// Vendor and product: `0bda:8157`; none in the tree of `-t`.
    pub id: Option<String>,
    /// Megabits per second of its link: 480 is USB 2.
    pub megabits: Option<f64>,
    /// Driver; none where the output does not tell.
    pub driver: Option<String>,
    /// What it calls itself.
    pub name: String,
    /// Its number on the bus, in the tree of `-t`, which has a row for each of its functions.
    pub number: Option<u32>,
}

fn is_id(word: &str) -> bool {
    let mut parts = word.split(':');
    let hex = |part: Option<&str>| {
        part.is_some_and(|part| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    hex(parts.next()) && hex(parts.next())
}

/// Reads a row of any of the three.
pub fn row(text: &str) -> Option<Device> {
    let text = text.trim();
    // `Bus 001 Device 002: ID 0bda:8157 Realtek Semiconductor Corp.`
    if let Some((bus, rest)) =
        text.split_once(": ID ").filter(|(front, _)| front.starts_with("Bus ") && front.contains(" Device "))
    {
        let (id, name) = rest.split_once(' ').unwrap_or((rest, ""));
        return (is_id(id) && bus.len() < 32).then(|| Device {
            id: Some(id.to_owned()),
            name: name.trim().to_owned(),
            ..Device::default()
        });
    }
    // `|__ Port 1: Dev 2, If 0, Class=Vendor Specific Class, Driver=r8152, 5000M`
    if (text.starts_with("|__ Port ") || text.starts_with("/:  Bus ") || text.starts_with("/: Bus "))
        && text.contains("Dev ")
    {
        let driver = text.split_once("Driver=").and_then(|(_, rest)| rest.split([',', '/']).next()).map(str::trim);
        let speed = text.rsplit(',').next().and_then(|speed| {
            speed.trim().trim_end_matches("/x1").trim_end_matches("/x2").strip_suffix('M')?.parse().ok()
        });
        let class = text.split_once("Class=").and_then(|(_, rest)| rest.split(',').next()).unwrap_or_default();
        let driver = driver.filter(|driver| !driver.is_empty() && *driver != "[none]");
        return Some(Device {
            megabits: speed,
            driver: driver.map(str::to_owned),
            name: class.to_owned(),
            number: text.split_once(": Dev ").and_then(|(_, rest)| rest.split(',').next()?.trim().parse().ok()),
            ..Device::default()
        });
    }
    // `|__5-1.2     0bda:8157:3000 00  2.10  480MBit/s 500mA 1IF  (Realtek USB 10/100/1G/2.5G/5G LAN)`
    let rest = text.strip_prefix("|__")?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let [_, id, _, _, speed, ..] = words.as_slice() else { return None };
    let megabits = speed.strip_suffix("MBit/s")?.parse().ok();
    let name = rest.split_once('(').and_then(|(_, name)| name.rsplit_once(')')).map_or("", |(name, _)| name);
    is_id(id).then(|| Device {
        id: Some(id[..9].to_owned()),
        megabits,
        driver: None,
        name: name.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
        number: None,
    })
}

/// True for a row of the long form (`-v`) below a device.
pub fn is_detail(text: &str) -> bool {
    let text = text.trim_start();
    let keys = [
        "Descriptor:",
        "bLength",
        "bDescriptor",
        "bcd",
        "bDevice",
        "bMaxPacketSize",
        "id",
        "i",
        "bNum",
        "bm",
        "w",
        "b",
        "Couldn't open device",
        "(Bus Powered)",
        "Self Powered",
        "Remote Wakeup",
        "MaxPower",
        "Transfer Type",
        "Synch Type",
        "Usage Type",
        "ID ",
    ];
    keys.iter().any(|key| text.starts_with(key)) || text.ends_with("Descriptor:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_forms_of_rows() {
        let found = row("Bus 002 Device 003: ID 0bda:8157 Realtek Semiconductor Corp. USB LAN").unwrap();
        assert_eq!(
            (found.id.as_deref(), found.name.as_str(), found.megabits),
            (Some("0bda:8157"), "Realtek Semiconductor Corp. USB LAN", None)
        );
        let found = row("    |__ Port 1: Dev 2, If 0, Class=Vendor Specific Class, Driver=r8152, 5000M").unwrap();
        assert_eq!(
            (found.driver.as_deref(), found.megabits, found.name.as_str()),
            (Some("r8152"), Some(5000.0), "Vendor Specific Class")
        );
        let found =
            row("    |__5-1.2     0bda:8157:3000 00  2.10  480MBit/s 500mA 1IF  (Realtek USB 10/100/1G/2.5G/5G LAN)")
                .unwrap();
        assert_eq!(
            (found.id.as_deref(), found.megabits, found.name.as_str()),
            (Some("0bda:8157"), Some(480.0), "Realtek USB 10/100/1G/2.5G/5G LAN")
        );
        for other in ["|__ what", "Bus 1 leaves at 5: ID card", "", "|__a b c d e"] {
            assert_eq!(row(other), None, "{other}");
        }
    }
}
