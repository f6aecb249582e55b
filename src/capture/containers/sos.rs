//! What a sosreport says of itself: the commands that it ran, its namespaces, whether `sos clean` went over it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::command::{self, Command};

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    components: BTreeMap<String, Component>,
}

#[derive(Default, Deserialize)]
struct Component {
    #[serde(default)]
    plugins: BTreeMap<String, Plugin>,
}

#[derive(Deserialize)]
struct Plugin {
    #[serde(default)]
    commands: Vec<Ran>,
}

#[derive(Deserialize)]
struct Ran {
    #[serde(default)]
    exec: Option<String>,
    #[serde(default)]
    filepath: Option<String>,
}

/// The command of each output, by its path below the root of the report. Empty where the manifest is broken.
pub(super) fn commands(manifest: &str) -> BTreeMap<String, Command> {
    let Ok(manifest) = serde_json::from_str::<Manifest>(manifest) else { return BTreeMap::new() };
    let plugins = manifest.components.into_values().flat_map(|component| component.plugins.into_values());
    let ran = plugins.flat_map(|plugin| plugin.commands);
    ran.filter_map(|ran| {
        let mut commands = command::parse(&ran.exec?, 0);
        let only = (commands.len() == 1).then(|| commands.remove(0))?;
        Some((ran.filepath?, only))
    })
    .collect()
}

/// Names in the output of `ip netns`: `blue (id: 0)`.
pub(super) fn namespaces(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| line.split_ascii_whitespace().next()).map(str::to_owned)
}

/// Host in the name of the top folder: `sosreport-HOST-LABEL-2026-01-31-abcdefg`, `sosreport-HOST-20260131120000`. With a
/// label it cannot be told where the host's name ends.
pub(super) fn host_of(folder: &str) -> Option<&str> {
    let rest = folder.rsplit('/').next()?.strip_prefix("sosreport-")?;
    let is_date = |text: &str| {
        let shape: String = text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
        shape.starts_with("0000-00-00") || shape.starts_with("00000000000000")
    };
    let (at, _) = rest.match_indices('-').find(|(at, _)| is_date(&rest[at + 1..]))?;
    (at > 0).then(|| &rest[..at])
}

/// True for an address that `sos clean` made up: it begins with the letters S, O, S.
pub(super) fn is_made_up(address: &str) -> bool {
    address.to_ascii_lowercase().starts_with("53:4f:53:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_commands() {
        let text = r#"{"version": "4.0", "components": {"report": {"plugins": {"networking": {"timeout_hit": false, "commands": [
            {"command": "ip", "exec": "ip netns exec a_b ethtool -k br_0", "filepath": "sos_commands/networking/x", "return_code": 0},
            {"command": "y", "filepath": null}]}}}}}"#;
        let commands = commands(text);
        let command = &commands["sos_commands/networking/x"];
        assert_eq!((command.program.as_str(), command.namespace.as_deref()), ("ethtool", Some("a_b")));
        assert_eq!(commands.len(), 1);
        assert!(super::commands("{").is_empty() && super::commands("[]").is_empty());
    }

    #[test]
    fn hosts_in_the_names_of_folders() {
        for (folder, host) in [
            ("x/sosreport-nas1-2026-12-01-ljcyimv", Some("nas1")),
            ("sosreport-my-host-0123-2026-12-01-ljcyimv", Some("my-host-0123")),
            ("sosreport-nas1-20261201120000", Some("nas1")),
            ("sosreport-nas1", None),
            ("sosreport-", None),
            ("x", None),
        ] {
            assert_eq!(host_of(folder), host, "{folder}");
        }
        assert_eq!(namespaces("blue (id: 0)\nred\n\n").collect::<Vec<_>>(), ["blue", "red"]);
        assert!(is_made_up("53:4F:53:00:11:22") && !is_made_up("52:54:00:12:34:56"));
    }
}
