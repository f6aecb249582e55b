//! Files of netplan. They are YAML of few forms: maps by indentation, lists of maps, and short maps in braces. What is
//! written in another way is passed over.

use super::{Setting, unquoted};

/// Deepest path that is followed.
const DEPTH: usize = 16;
/// Maps of interfaces.
const KINDS: [&str; 9] =
    ["ethernets", "bonds", "bridges", "vlans", "wifis", "tunnels", "vrfs", "dummy-devices", "virtual-ethernets"];
/// Keys of an interface.
const KEYS: [&str; 12] = [
    "mtu",
    "renderer",
    "set-name",
    "wakeonlan",
    "interfaces",
    "id",
    "link",
    "optional",
    "emit-lldp",
    "virtual-function-count",
    "embedded-switch-mode",
    "match",
];
/// Maps below an interface, and the keys that matter of them; none for all.
const INSIDE: [(&str, &[&str]); 5] = [
    ("match", &["name", "macaddress", "driver"]),
    ("parameters", &[]),
    (
        "routes",
        &["to", "via", "metric", "mtu", "table", "congestion-window", "advertised-receive-window", "advertised-mss"],
    ),
    ("dhcp4-overrides", &["use-mtu", "route-metric"]),
    ("dhcp6-overrides", &["use-mtu", "route-metric"]),
];

/// The settings. The scope is the path below `network`: `bonds.bond0.parameters`.
pub fn parse(text: &str) -> Vec<Setting> {
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut settings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let line = without_comment(line);
        let mut indent = line.len() - line.trim_start_matches(' ').len();
        let mut rest = &line[indent..];
        // An entry of a list: what follows the dash stands deeper.
        while let Some(inner) = rest.strip_prefix("- ") {
            let inside = inner.trim_start_matches(' ');
            indent += rest.len() - inside.len();
            rest = inside;
        }
        let Some((key, value)) = pair(rest) else { continue };
        while above.last().is_some_and(|(outer, _)| *outer >= indent) {
            above.pop();
        }
        let path: Vec<&str> = above.iter().map(|(_, key)| key.as_str()).collect();
        if value.is_empty() {
            if above.len() < DEPTH {
                above.push((indent, key.to_owned()));
            }
        } else if let Some(inside) = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            let path: Vec<&str> = path.iter().copied().chain([key]).collect();
            for (key, value) in inside.split(',').filter_map(|part| pair(part.trim())) {
                settings.extend(setting(&path, key, value, number));
            }
        } else {
            settings.extend(setting(&path, key, value, number));
        }
    }
    settings
}

fn setting(path: &[&str], key: &str, value: &str, line: u32) -> Option<Setting> {
    let path = path.strip_prefix(&["network"])?;
    let wanted = match path {
        [] => key == "renderer",
        [kind] => KINDS.contains(kind) && key == "renderer",
        [kind, _] => KINDS.contains(kind) && (KEYS.contains(&key) || key.ends_with("-offload")),
        [kind, _, map] => {
            let keys = INSIDE.iter().find(|(name, _)| name == map).map(|(_, keys)| *keys);
            KINDS.contains(kind) && keys.is_some_and(|keys| keys.is_empty() || keys.contains(&key))
        }
        _ => false,
    };
    if wanted { Setting::new(path.join("."), key, unquoted(value), line) } else { None }
}

/// `key: value` or `key:`.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = match text.strip_suffix(':') {
        Some(key) if !key.contains(": ") => (key, ""),
        _ => text.split_once(": ")?,
    };
    let key = unquoted(key.trim());
    (!key.is_empty()).then(|| (key, value.trim()))
}

/// The line up to a number sign that begins a comment: at the beginning or behind a blank, outside of quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, char) in line.char_indices() {
        match (quote, char) {
            (None, '#') if before == ' ' => return line[..at].trim_end(),
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        before = char;
    }
    line.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stand_below_their_interface() {
        let text = "# made by hand\nnetwork:\n  version: 2\n  renderer: networkd\n  ethernets:\n    eno1: # the first\n      \
                    match: {macaddress: \"02:00:5e:00:53:01\", secret: x}\n      mtu: 9000\n      dhcp4: true\n      \
                    routes:\n        - to: default\n          via: 192.0.2.1\n          mtu: 1400\n    \"eno2\":\n      \
                    receive-checksum-offload: false\n  wifis:\n    wlan0:\n      access-points:\n        \"home\":\n          \
                    password: \"hidden\"\n          mtu: 1\n  bonds:\n    bond0:\n      interfaces: [eno1, eno2]\n      \
                    parameters:\n        mode: 802.3ad\n";
        let seen = parse(text);
        let rows: Vec<(&str, &str, &str, u32)> =
            seen.iter().map(|row| (row.scope.as_str(), row.key.as_str(), row.value.as_str(), row.line)).collect();
        assert_eq!(
            rows,
            [
                ("", "renderer", "networkd", 4),
                ("ethernets.eno1.match", "macaddress", "02:00:5e:00:53:01", 7),
                ("ethernets.eno1", "mtu", "9000", 8),
                ("ethernets.eno1.routes", "to", "default", 11),
                ("ethernets.eno1.routes", "via", "192.0.2.1", 12),
                ("ethernets.eno1.routes", "mtu", "1400", 13),
                ("ethernets.eno2", "receive-checksum-offload", "false", 15),
                ("bonds.bond0", "interfaces", "[eno1, eno2]", 24),
                ("bonds.bond0.parameters", "mode", "802.3ad", 26),
            ]
        );
    }

    #[test]
    fn comments_do_not_begin_inside_of_words_or_quotes() {
        assert_eq!(without_comment("a: \"x # y\" # z"), "a: \"x # y\"");
        assert_eq!(without_comment("a: x#y"), "a: x#y");
        assert_eq!(without_comment("#a"), "");
        for odd in ["", ":", "- ", "- - a: b", "network:\n\tmtu: 1", "network:\n - {", "mtu: 9000"] {
            assert!(parse(odd).is_empty(), "{odd}");
        }
    }
}
