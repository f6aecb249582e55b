//! Profiles of tuned: tuned.conf.

use super::{Setting, ini, unquoted};

/// What a profile tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Profiles that it builds on, in the order in which they are applied.
    pub includes: Vec<String>,
    /// Settings; their scope is the section.
    pub settings: Vec<Setting>,
}

/// Plugins that matter; a section is named after its plugin or names it by `type`.
const PLUGINS: [&str; 5] = ["sysctl", "net", "cpu", "irqbalance", "irq"];

/// Reads a profile. Of [sysctl] only the keys of the network are kept.
pub fn profile(text: &str) -> Profile {
    let entries = ini::parse(text);
    let mut profile = Profile::default();
    for entry in &entries {
        if entry.section == "main" && entry.key == "include" {
            profile
                .includes
                .extend(entry.value.split([',', ' ']).filter(|name| !name.is_empty()).map(ToOwned::to_owned));
        }
        let named = entries.iter().find(|other| other.number == entry.number && other.key == "type");
        let plugin = named.map_or(entry.section.as_str(), |named| named.value.as_str());
        let is_kept = match plugin {
            "sysctl" => entry.key.starts_with("net."),
            _ => PLUGINS.contains(&plugin) && !matches!(entry.key.as_str(), "type" | "priority"),
        };
        if is_kept {
            // A sign in front says how values of several profiles are put together.
            let value = unquoted(entry.value.trim_start_matches(['>', '<', '='])).to_owned();
            profile.settings.extend(Setting::new(entry.section.as_str(), &entry.key, value, entry.line));
        }
    }
    profile
}

/// Whether tuned applies the files of sysctl.d once more behind its own values: `reapply_sysctl` of tuned-main.conf, on where
/// nothing else is said.
pub fn reapplies_sysctl(text: &str) -> bool {
    let entries = ini::parse(text);
    let found = entries.iter().rev().find(|entry| entry.key == "reapply_sysctl");
    found.is_none_or(|entry| !matches!(entry.value.to_ascii_lowercase().as_str(), "0" | "false" | "off" | "no"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_names_what_it_builds_on_and_what_it_sets() {
        let text = "[main]\nsummary=x\ninclude=throughput-performance\n[sysctl]\nnet.core.rmem_max=\"16777216\"\nvm.swappiness=10\n\
                    net.ipv4.tcp_rmem=>4096 131072 16777216\n[nics]\ntype=net\ncoalesce=rx-usecs 10\n[cpu]\ngovernor=performance\n[disk]\nreadahead=1\n";
        let profile = profile(text);
        assert_eq!(profile.includes, ["throughput-performance"]);
        let rows: Vec<(&str, &str, &str)> =
            profile.settings.iter().map(|row| (row.scope.as_str(), row.key.as_str(), row.value.as_str())).collect();
        assert_eq!(
            rows,
            [
                ("sysctl", "net.core.rmem_max", "16777216"),
                ("sysctl", "net.ipv4.tcp_rmem", "4096 131072 16777216"),
                ("nics", "coalesce", "rx-usecs 10"),
                ("cpu", "governor", "performance"),
            ]
        );
    }

    #[test]
    fn system_files_come_last_unless_that_is_switched_off() {
        assert!(reapplies_sysctl("") && reapplies_sysctl("reapply_sysctl = 1\n"));
        assert!(!reapplies_sysctl("reapply_sysctl = 0\n") && !reapplies_sysctl("reapply_sysctl=False\n"));
        assert!(reapplies_sysctl("# reapply_sysctl = 0\n"));
    }
}
