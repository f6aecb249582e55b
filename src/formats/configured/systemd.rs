//! systemd.link(5), systemd.network(5) and systemd.netdev(5).

use super::{Setting, ini, unquoted};
use crate::formats::glob;

/// What a file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Conditions of [Match], in their order.
    pub conditions: Vec<(String, String)>,
    /// Settings. Their scope is the section with the conditions: `[Link] OriginalName=eth0`.
    pub settings: Vec<Setting>,
}

/// Sections that hold no keys of ciphers, and matter.
const SECTIONS: [&str; 11] = [
    "Link",
    "Network",
    "Route",
    "RoutingPolicyRule",
    "Bond",
    "Bridge",
    "BridgeVLAN",
    "VLAN",
    "VXLAN",
    "MACVLAN",
    "SR-IOV",
];
/// Keys of sections that hold others as well.
const KEYS: [(&str, &[&str]); 4] = [
    ("NetDev", &["Name", "Kind", "MTUBytes"]),
    ("DHCPv4", &["UseMTU", "UseRoutes", "RouteMetric"]),
    ("DHCPv6", &["UseMTU"]),
    ("DHCP", &["UseMTU", "UseRoutes", "RouteMetric"]),
];

/// Reads a file of any of the three kinds, or a drop-in of one.
pub fn parse(text: &str) -> File {
    let entries = ini::parse(text);
    let matching: Vec<&ini::Entry> = entries.iter().filter(|entry| entry.section == "Match").collect();
    let conditions: Vec<(String, String)> =
        matching.iter().map(|entry| (entry.key.clone(), unquoted(&entry.value).to_owned())).collect();
    let scope: Vec<String> = conditions.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let scope = scope.join(" ");
    let wanted = |entry: &&ini::Entry| {
        let discipline =
            ["Queueing", "Fair", "Codel", "CoDel", "CAKE", "Token", "PFIFO", "BFIFO", "Hierarchy", "Emulator", "QDisc"];
        let section = entry.section.as_str();
        let keys = KEYS.iter().find(|(name, _)| *name == section).map(|(_, keys)| *keys);
        (SECTIONS.contains(&section)
            || keys.is_some_and(|keys| keys.contains(&entry.key.as_str()))
            || discipline.iter().any(|part| section.contains(part)))
            && !entry.key.contains("Password")
            && !entry.key.contains("PrivateKey")
    };
    let settings = entries
        .iter()
        .filter(wanted)
        .filter_map(|entry| {
            let scope = format!("[{}] {scope}", entry.section);
            Setting::new(scope.trim_end(), &entry.key, unquoted(&entry.value), entry.line)
        })
        .collect();
    File { conditions, settings }
}

/// What is known of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Its name now.
    pub name: String,
    /// Hardware address, in lower case with colons.
    pub address: Option<String>,
    /// Hardware address that it was made with.
    pub permanent_address: Option<String>,
    /// Driver.
    pub driver: Option<String>,
    /// `ID_PATH` of udev.
    pub path: Option<String>,
    /// Kind of device as `networkctl` names it: `ether`, `loopback`, `wlan`.
    pub kind: Option<String>,
}

/// Whether the conditions of a .link file hold for an interface. `None` where one of them asks for what is not known, and
/// none fails.
pub fn holds(conditions: &[(String, String)], device: &Device) -> Option<bool> {
    // Without conditions a file is not used.
    let mut verdict = Some(!conditions.is_empty());
    for (key, wanted) in conditions {
        let one = match key.as_str() {
            "MACAddress" => device.address.as_deref().map(|own| is_one_of(wanted, own)),
            "PermanentMACAddress" => device.permanent_address.as_deref().map(|own| is_one_of(wanted, own)),
            // The name from before udev renamed it: only "any" can be told.
            "OriginalName" => (wanted == "*").then_some(true),
            "Name" => Some(fits(wanted, &device.name)),
            "Driver" => device.driver.as_deref().map(|own| fits(wanted, own)),
            "Path" => device.path.as_deref().map(|own| fits(wanted, own)),
            "Type" => device.kind.as_deref().map(|own| fits(wanted, own)),
            _ => None,
        };
        match one {
            Some(false) => return Some(false),
            Some(true) => {}
            None => verdict = None,
        }
    }
    verdict
}

/// Hardware addresses may be written with colons, dashes or dots, in any case.
fn is_one_of(list: &str, own: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).collect::<String>().to_ascii_lowercase();
    list.split_whitespace().any(|one| digits(one) == digits(own))
}

/// Patterns parted by blanks; an exclamation mark in front of the first turns the list round.
fn fits(list: &str, own: &str) -> bool {
    let (list, negated) = list.strip_prefix('!').map_or((list, false), |list| (list, true));
    list.split_whitespace().any(|pattern| glob::matches(pattern, own)) != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_with_their_section_and_conditions_and_without_secrets() {
        let text = "[Match]\nMACAddress=02:00:5E:00:53:01\nOriginalName=*\n[Link]\nRxBufferSize=4096\n# MTUBytes=1\n\
                    WakeOnLanPassword=02:00:00:00:00:00\n[WireGuard]\nPrivateKey=hidden\n[NetDev]\nKind=bond\nDescription=x\n\
                    [FairQueueing]\nParent=root\n";
        let file = parse(text);
        assert_eq!(file.conditions[1], ("OriginalName".to_owned(), "*".to_owned()));
        let rows: Vec<(&str, &str, &str, u32)> = file
            .settings
            .iter()
            .map(|row| (row.scope.as_str(), row.key.as_str(), row.value.as_str(), row.line))
            .collect();
        let scope = "MACAddress=02:00:5E:00:53:01 OriginalName=*";
        assert_eq!(
            rows,
            [
                (format!("[Link] {scope}").as_str(), "RxBufferSize", "4096", 5),
                (format!("[NetDev] {scope}").as_str(), "Kind", "bond", 11),
                (format!("[FairQueueing] {scope}").as_str(), "Parent", "root", 14),
            ]
        );
        assert_eq!(parse("[Link]\nMTUBytes=9000\n").settings[0].scope, "[Link]");
    }

    #[test]
    fn conditions_hold_fail_or_cannot_be_told() {
        let device = Device {
            name: "eno1".into(),
            address: Some("02:00:5e:00:53:01".into()),
            driver: Some("ice".into()),
            ..Device::default()
        };
        let verdict = |conditions: &[(&str, &str)]| {
            let owned: Vec<(String, String)> =
                conditions.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            holds(&owned, &device)
        };
        assert_eq!(verdict(&[]), Some(false));
        assert_eq!(verdict(&[("MACAddress", "02-00-5E-00-53-01 02:00:5e:00:53:02")]), Some(true));
        assert_eq!(verdict(&[("MACAddress", "02:00:5e:00:53:02")]), Some(false));
        assert_eq!(verdict(&[("OriginalName", "*"), ("Driver", "i40e ice")]), Some(true));
        assert_eq!(verdict(&[("Driver", "!ice")]), Some(false));
        assert_eq!(verdict(&[("OriginalName", "eth0")]), None);
        assert_eq!(verdict(&[("OriginalName", "eth0"), ("Name", "eth*")]), Some(false));
        assert_eq!(verdict(&[("Path", "pci-*"), ("Name", "eno*")]), None);
        assert_eq!(verdict(&[("KernelCommandLine", "x")]), None);
    }
}
