//! interfaces(5) of ifupdown and ifupdown2.

use super::{Setting, logical_lines, scripts};

/// What a file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Settings; their scope is `iface eth0`.
    pub settings: Vec<Setting>,
    /// Paths and patterns behind `source`.
    pub sources: Vec<String>,
    /// Directories behind `source-directory`.
    pub directories: Vec<String>,
}

const COMMANDS: [&str; 8] = ["up", "post-up", "pre-up", "down", "post-down", "pre-down", "vrf-up", "bond-up"];
const KEYS: [&str; 10] = [
    "mtu",
    "metric",
    "txqueuelen",
    "link-speed",
    "link-duplex",
    "link-autoneg",
    "link-fec",
    "link-type",
    "vlan-raw-device",
    "vlan-id",
];
const BEGINNINGS: [&str; 8] = ["bond-", "bond_", "bridge-", "bridge_", "vxlan-", "ethernet-", "hardware-", "offload-"];
const ENDS: [&str; 2] = ["-offload", "-offloads"];

/// Reads a file.
pub fn parse(text: &str) -> File {
    let mut file = File::default();
    let mut scope = String::new();
    for (line, text) in logical_lines(text, &['#']) {
        let (key, value) =
            text.split_once(char::is_whitespace).map_or((text.as_str(), ""), |(key, rest)| (key, rest.trim()));
        match key {
            "iface" => scope = format!("iface {}", value.split_ascii_whitespace().next().unwrap_or_default()),
            "source" => file.sources.push(value.to_owned()),
            "source-directory" => file.directories.push(value.to_owned()),
            "auto" | "mapping" | "no-auto-down" | "no-scripts" => scope.clear(),
            _ if key.starts_with("allow-") => scope.clear(),
            _ if !scope.is_empty() && is_setting(key, value) => {
                file.settings.extend(Setting::new(scope.as_str(), key, value, line));
            }
            _ => {}
        }
    }
    file
}

fn is_setting(key: &str, value: &str) -> bool {
    KEYS.contains(&key)
        || BEGINNINGS.iter().any(|begin| key.starts_with(begin))
        || ENDS.iter().any(|end| key.ends_with(end))
        || (is_command(key) && scripts::is_tuning(value))
}

/// True for an option that may come several times, each time with another command.
pub fn is_command(key: &str) -> bool {
    COMMANDS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_belong_to_the_stanza_above_them() {
        let text = "source /etc/network/interfaces.d/*\nsource-directory more\nauto eth0\niface eth0 inet static\n  address 192.0.2.7/24\n\
                    \tmtu 9000\n  post-up ethtool -G $IFACE rx 4096 || true\n  post-up echo hello\n  wpa-psk secret\n\
                    \tgro-offload on\nauto bond0\nmtu 1\niface bond0 inet manual\n bond-mode 802.3ad\n";
        let file = parse(text);
        assert_eq!(file.sources, ["/etc/network/interfaces.d/*"]);
        assert_eq!(file.directories, ["more"]);
        let seen: Vec<(&str, &str, &str, u32)> = file
            .settings
            .iter()
            .map(|row| (row.scope.as_str(), row.key.as_str(), row.value.as_str(), row.line))
            .collect();
        assert_eq!(
            seen,
            [
                ("iface eth0", "mtu", "9000", 6),
                ("iface eth0", "post-up", "ethtool -G $IFACE rx 4096 || true", 7),
                ("iface eth0", "gro-offload", "on", 10),
                ("iface bond0", "bond-mode", "802.3ad", 14),
            ]
        );
    }
}
