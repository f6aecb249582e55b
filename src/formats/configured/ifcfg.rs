//! ifcfg files: /etc/sysconfig/network-scripts of Red Hat, /etc/sysconfig/network of SUSE.

use super::{Setting, logical_lines, unquoted};

const KEYS: [&str; 13] = [
    "MTU",
    "BONDING_OPTS",
    "BONDING_MODULE_OPTS",
    "BRIDGING_OPTS",
    "ETHTOOL_OPTS",
    "MASTER",
    "BOND",
    "BRIDGE",
    "VLAN",
    "TYPE",
    "ONBOOT",
    "STARTMODE",
    "DEFROUTE",
];

/// The settings. Their scope is the interface: `DEVICE`, or the end of the file's name.
pub fn settings(name: &str, text: &str) -> Vec<Setting> {
    let rows: Vec<(u32, String, String)> = logical_lines(text, &['#'])
        .filter_map(|(line, text)| {
            let (key, value) = text.split_once('=')?;
            Some((line, key.trim().to_owned(), unquoted(value.trim()).to_owned()))
        })
        .collect();
    let device = rows.iter().rev().find(|(_, key, value)| key == "DEVICE" && !value.is_empty());
    let scope = device.map_or_else(|| name.strip_prefix("ifcfg-").unwrap_or(name), |(.., value)| value.as_str());
    let wanted = |key: &str| KEYS.contains(&key) || key.starts_with("ETHTOOL_OPTIONS");
    rows.iter()
        .filter(|(_, key, _)| wanted(key))
        .filter_map(|(line, key, value)| Setting::new(scope, key, value, *line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_device() {
        let text =
            "DEVICE=\"eno1\"\nMTU=9000\n# MTU=1\nETHTOOL_OPTS='-G ${DEVICE} rx 4096; -K ${DEVICE} gro on'\nWPA_PSK=x\n";
        let seen = settings("ifcfg-System_eno1", text);
        let keys: Vec<(&str, &str, u32)> =
            seen.iter().map(|row| (row.key.as_str(), row.value.as_str(), row.line)).collect();
        assert_eq!(keys, [("MTU", "9000", 2), ("ETHTOOL_OPTS", "-G ${DEVICE} rx 4096; -K ${DEVICE} gro on", 4)]);
        assert_eq!(seen[0].scope, "eno1");
        assert_eq!(settings("ifcfg-eth0", "MTU=''\nETHTOOL_OPTIONS_1='-K iface tso off'\n")[1].scope, "eth0");
    }
}
