//! Connections of NetworkManager as keyfiles.

use super::{Setting, ini};

/// Sections of which all keys are harmless. Others hold keys and passwords, or nothing that matters here.
const SECTIONS: [&str; 10] =
    ["ethtool", "bond", "bond-port", "bridge", "bridge-port", "vlan", "vxlan", "infiniband", "tc", "team"];
/// Single keys of other sections.
const KEYS: [(&str, &str); 20] = [
    ("connection", "id"),
    ("connection", "type"),
    ("connection", "autoconnect"),
    ("connection", "autoconnect-priority"),
    ("connection", "master"),
    ("connection", "controller"),
    ("connection", "slave-type"),
    ("ethernet", "mtu"),
    ("ethernet", "speed"),
    ("ethernet", "duplex"),
    ("ethernet", "auto-negotiate"),
    ("wifi", "powersave"),
    ("wifi", "band"),
    ("wifi", "mtu"),
    ("ip-tunnel", "mtu"),
    ("wireguard", "mtu"),
    ("ipv4", "route-metric"),
    ("ipv4", "method"),
    ("ipv6", "route-metric"),
    ("ipv6", "method"),
];

/// The settings of a connection. Their scope is the section and the interface, or the name of the connection that names
/// none: `ethernet of eth0`.
pub fn connection(text: &str) -> Vec<Setting> {
    let entries = ini::parse(text);
    let of = |key: &str| {
        entries.iter().find(|entry| entry.section == "connection" && entry.key == key).map(|entry| entry.value.as_str())
    };
    let owner = of("interface-name").or_else(|| of("id")).unwrap_or_default();
    let wanted = |entry: &&ini::Entry| {
        let section = section(&entry.section);
        SECTIONS.contains(&section) || KEYS.contains(&(section, entry.key.as_str()))
    };
    let settings = entries.iter().filter(wanted);
    settings
        .filter_map(|entry| {
            Setting::new(format!("{} of {owner}", section(&entry.section)), &entry.key, &entry.value, entry.line)
        })
        .collect()
}

/// Sections have an older name.
fn section(name: &str) -> &str {
    match name {
        "802-3-ethernet" => "ethernet",
        "802-11-wireless" => "wifi",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_known_are_kept_and_secrets_never() {
        let text = "[connection]\nid=lan\nuuid=1\ntype=ethernet\ninterface-name=eno1\n\n[802-3-ethernet]\nmtu=9000\n\
                    [ethtool]\nring-rx=4096\n[wifi-security]\npsk=hidden\n[802-1x]\npassword=hidden\n\
                    [wireguard]\nprivate-key=hidden\nmtu=1420\n[ipv4]\nmethod=auto\ndns=192.0.2.1\n";
        let seen = connection(text);
        let rows: Vec<(&str, &str, &str, u32)> =
            seen.iter().map(|row| (row.scope.as_str(), row.key.as_str(), row.value.as_str(), row.line)).collect();
        assert_eq!(
            rows,
            [
                ("connection of eno1", "id", "lan", 2),
                ("connection of eno1", "type", "ethernet", 4),
                ("ethernet of eno1", "mtu", "9000", 8),
                ("ethtool of eno1", "ring-rx", "4096", 10),
                ("wireguard of eno1", "mtu", "1420", 17),
                ("ipv4 of eno1", "method", "auto", 19),
            ]
        );
        assert_eq!(connection("[connection]\nid=x\n[vlan]\nid=7\n")[1].scope, "vlan of x");
    }
}
