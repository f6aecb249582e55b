//! `ethtool -k`.

use super::headline;
use crate::formats::cursor::{At, Cursor, pair};

/// A feature of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureRow {
    /// As ethtool prints it: `rx-checksumming`, `tx-tcp-segmentation`.
    pub name: String,
    /// In use.
    pub active: bool,
    /// Marked `[fixed]`.
    pub fixed: bool,
    /// Asked for, where that differs from what is in use: `off [requested on]`.
    pub requested: Option<bool>,
    /// Where it stands.
    pub line: u32,
}

/// The features of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// The interface; none where the headline is missing.
    pub interface: Option<At<String>>,
    /// The rows in their order.
    pub rows: Vec<FeatureRow>,
}

/// Beginnings of the headline.
pub const HEADLINES: &[&str] = &["Features for", "Offload parameters for"];

/// Names of groups, as old and new versions print them, and the kernel's names of what is in the group.
const GROUPS: &[(&str, &[&str])] = &[
    ("rx-checksumming", &["rx-checksum"]),
    ("tx-checksumming", &["tx-checksum-ip-generic"]),
    ("scatter-gather", &["tx-scatter-gather"]),
    ("tcp-segmentation-offload", &["tx-tcp-segmentation"]),
    ("udp-fragmentation-offload", &["tx-udp-fragmentation"]),
    ("generic-segmentation-offload", &["tx-generic-segmentation"]),
    ("generic-receive-offload", &["rx-gro"]),
    ("large-receive-offload", &["rx-lro"]),
    ("rx-vlan-offload", &["rx-vlan-hw-parse"]),
    ("tx-vlan-offload", &["tx-vlan-hw-insert"]),
    ("ntuple-filters", &["rx-ntuple-filter"]),
    ("receive-hashing", &["rx-hashing"]),
];

/// The kernel's name of a feature; a group yields the feature that stands for it.
pub fn kernel_name(name: &str) -> &str {
    GROUPS.iter().find(|(group, _)| *group == name).map_or(name, |(_, names)| names[0])
}

/// True for the name of a group whose members have rows of their own in a complete output.
pub fn is_group(name: &str) -> bool {
    matches!(name, "tx-checksumming" | "scatter-gather" | "tcp-segmentation-offload")
}

fn row(text: &str) -> Option<(String, bool, bool, Option<bool>)> {
    let (name, value) = pair(text)?;
    // Versions before 3.3 print spaces in names: `generic segmentation offload`.
    let name = name.replace(' ', "-");
    let named = name.len() <= 40 && name.contains(['-', '_'])
        || matches!(name.as_str(), "highdma" | "loopback" | "netns-local");
    let mut words = value.split_ascii_whitespace();
    let active = match words.next()? {
        "on" => true,
        "off" => false,
        _ => return None,
    };
    let rest: Vec<&str> = words.collect();
    let requested = match rest.as_slice() {
        ["[requested", "on]", ..] => Some(true),
        ["[requested", "off]", ..] => Some(false),
        [] | ["[fixed]"] | ["[not", "requested]"] => None,
        _ => return None,
    };
    named.then(|| (name, active, rest.contains(&"[fixed]"), requested))
}

/// True for a row of such an output.
pub fn is_row(text: &str) -> bool {
    row(text).is_some()
}

/// Reads the features of one interface; none where neither headline nor row comes next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Features> {
    let interface = headline(cursor, HEADLINES);
    let mut rows = Vec::new();
    while let Some(found) = cursor.take_if(|text| {
        if text.starts_with("Cannot get device ") && text.contains("settings") {
            return Some(None);
        }
        row(text).map(Some)
    }) {
        if let Some((name, active, fixed, requested)) = found.value {
            rows.push(FeatureRow { name, active, fixed, requested, line: found.line });
        }
    }
    (interface.is_some() || !rows.is_empty()).then_some(Features { interface, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn features_of_new_and_old_versions() {
        let text = "Features for eth0:\nrx-checksumming: on [fixed]\ntx-checksumming: on\n\ttx-checksum-ip-generic: on\n\
                    tcp-segmentation-offload: off\n\ttx-tcp-segmentation: off [requested on]\nhighdma: on\nlink: up\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let features = parse(&mut cursor).unwrap();
        assert_eq!(features.rows.len(), 6);
        assert!(features.rows[0].fixed && features.rows[0].active);
        assert_eq!(features.rows[4].requested, Some(true));
        assert_eq!(cursor.peek().unwrap().text, "link: up");
        assert!(
            is_row("generic segmentation offload: on") && !is_row("speed: on") && !is_row("tx-nocache-copy: maybe")
        );
        assert_eq!(kernel_name("generic-receive-offload"), "rx-gro");
        assert_eq!(kernel_name("rx-udp-gro-forwarding"), "rx-udp-gro-forwarding");
    }
}
