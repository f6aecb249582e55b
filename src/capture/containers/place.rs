//! Where a member belongs: the host that it is of, what of a host it is, and how much of it is worth keeping.

use std::borrow::Cow;

use super::super::command::Command;
use super::super::tools;
use super::typed;

/// Names of folders that stand at the root of a host.
const ROOTS: [&str; 13] = [
    "sos_commands",
    "sos_reports",
    "sos_strings",
    "sos_logs",
    "proc",
    "sys",
    "etc",
    "var",
    "usr",
    "run",
    "lib",
    "boot",
    "dev",
];

/// A member's path, cut at the root of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<'p> {
    /// Folder that holds the host; empty where that is the input itself.
    pub root: &'p str,
    /// The path below it.
    pub rest: &'p str,
    /// True where the path is that of a file of the host, or one of a sosreport.
    pub in_tree: bool,
}

impl<'p> Place<'p> {
    /// The folder before the first name that belongs to the root of a host. Without one, all folders before the name.
    pub fn of(path: &'p str) -> Self {
        let mut at = 0;
        let mut found = None;
        for part in path.split('/') {
            if ROOTS.contains(&part) && at + part.len() < path.len() {
                if part.starts_with("sos_") {
                    found = Some(at);
                    break;
                }
                found = found.or(Some(at));
            }
            at += part.len() + 1;
        }
        let cut = found.unwrap_or_else(|| path.rfind('/').map_or(0, |slash| slash + 1));
        Self { root: path[..cut].trim_end_matches('/'), rest: &path[cut..], in_tree: found.is_some() }
    }
}

/// What a member is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The output of a command, or a file that a tool's reader knows.
    Output(Vec<Command>),
    /// The list of what a sosreport ran.
    Manifest,
    /// The list of network namespaces.
    Namespaces,
    /// A file of a folder, of which nothing is known but its name.
    Loose,
    /// Nothing that anybody reads.
    Nothing,
}

/// How much of a long member is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Beginning,
    End,
}

/// What a member is, by its path alone. `namespaces` are the known names of network namespaces, longest first.
pub(super) fn what(place: Place<'_>, namespaces: &[String]) -> What {
    if !place.in_tree {
        return if is_other(place.rest) { What::Nothing } else { What::Loose };
    }
    let rest = place.rest;
    if rest == "sos_reports/manifest.json" {
        return What::Manifest;
    }
    if rest == "sos_commands/networking/ip_netns" {
        return What::Namespaces;
    }
    let output = rest.strip_prefix("sos_commands/").or_else(|| rest.strip_prefix("sos_strings/"));
    let command = match output {
        Some(output) => {
            let name = output.rsplit('/').next().unwrap_or_default();
            typed::of_mangled(name, namespaces)
        }
        None => file_of(rest).map(|path| typed::of_file(&path)),
    };
    match command {
        Some(command) if is_read(&command) => What::Output(vec![command]),
        _ => What::Nothing,
    }
}

/// The path on the host of a file that was copied. `proc/4711/net/dev` is what `proc/net/dev` leads to in a sosreport.
fn file_of(rest: &str) -> Option<Cow<'_, str>> {
    if let Some((_, file)) = process_net(rest) {
        return Some(Cow::Owned(format!("/proc/net/{file}")));
    }
    if let Some(log) = rest.strip_prefix("var/log/") {
        return ["messages", "syslog", "kern.log", "dmesg"].contains(&log).then(|| Cow::Owned(format!("/{rest}")));
    }
    if rest.contains("/sysctl.d/") && rest.strip_suffix(".conf").is_none() {
        return None;
    }
    let wanted = match rest.split('/').next()? {
        "proc" => {
            !rest.starts_with("proc/sys/") || rest.starts_with("proc/sys/net/") || rest.starts_with("proc/sys/sunrpc/")
        }
        "sys" | "etc" | "usr" => true,
        _ => false,
    };
    wanted.then(|| Cow::Owned(format!("/{rest}")))
}

/// Process and file of `proc/PROCESS/net/FILE`.
pub(super) fn process_net(rest: &str) -> Option<(&str, &str)> {
    let (process, file) = rest.strip_prefix("proc/")?.split_once("/net/")?;
    let is_process = process == "self" || process == "thread-self" || process.bytes().all(|byte| byte.is_ascii_digit());
    (is_process && !process.is_empty()).then_some((process, file))
}

/// True where some tool's reader takes the output of this command.
pub(super) fn is_read(command: &Command) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| command.has(word));
    let tells = match command.program.as_str() {
        // Logs of an earlier boot, and what is no log at all.
        "journalctl" => !has(&["-1", "--list-boots", "--disk-usage", "--verify", "--header", "--user"]),
        // Of the many outputs of this one only those of bonds are read.
        "ovs-appctl" => command.arguments.iter().any(|word| word.starts_with("bond") || word.starts_with("lacp")),
        // Dumps of a memory and of registers.
        "ethtool" => !has(&["-e", "--eeprom-dump", "-d", "--register-dump"]),
        _ => true,
    };
    tells && tools::all().any(|tool| (tool.answers)(command))
}

/// Which end of a long output matters.
pub(super) fn keep(place: Place<'_>) -> Keep {
    let name = place.rest.rsplit('/').next().unwrap_or_default();
    let grows = place.rest.starts_with("var/log/") || name.starts_with("journalctl");
    if grows || ["messages", "syslog", "kern.log"].iter().any(|log| name.starts_with(log)) {
        Keep::End
    } else {
        Keep::Beginning
    }
}

/// Names of files that hold no text of a tool.
fn is_other(name: &str) -> bool {
    const ENDINGS: [&str; 18] = [
        ".md5", ".sha256", ".sha1", ".asc", ".sig", ".html", ".css", ".js", ".png", ".jpg", ".svg", ".pdf", ".pcap",
        ".so", ".pyc", ".rpm", ".deb", ".db",
    ];
    let lower = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_where_the_known_folders_begin() {
        for (path, root, rest, in_tree) in [
            ("sosreport-a/sos_commands/pci/lspci_-nnvv", "sosreport-a", "sos_commands/pci/lspci_-nnvv", true),
            ("proc/net/dev", "", "proc/net/dev", true),
            ("a/b/etc/sysctl.conf", "a/b", "etc/sysctl.conf", true),
            ("host1/ethtool/i/eth0", "host1/ethtool/i", "eth0", false),
            ("var/tmp/x/sos_commands/a/b", "var/tmp/x", "sos_commands/a/b", true),
            ("proc", "", "proc", false),
            ("a/ip_addr", "a", "ip_addr", false),
        ] {
            assert_eq!(Place::of(path), Place { root, rest, in_tree }, "{path}");
        }
    }

    #[test]
    fn only_what_somebody_reads_is_wanted() {
        let is_output = |path| matches!(what(Place::of(path), &[]), What::Output(_));
        for path in [
            "x/sos_commands/networking/ethtool_-S_eth0",
            "x/sos_commands/networking/ip_netns_exec_a_b_ethtool_-k_eth0",
            "x/sos_strings/networking/ethtool_-S_eth0.tailed",
            "x/proc/4711/net/softnet_stat",
            "x/proc/sys/net/core/rmem_max",
            "x/sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/statistics/rx_bytes",
            "x/etc/sysctl.d/90-net.conf",
            "x/var/log/messages",
        ] {
            assert!(is_output(path), "{path}");
        }
        for path in [
            "x/sos_commands/networking/ethtool_-e_eth0",
            "x/sos_commands/logs/journalctl_--no-pager_--boot_-1",
            "x/sos_commands/rpm/rpm_-qa",
            "x/proc/sys/kernel/hostname",
            "x/proc/kallsyms",
            "x/etc/shadow",
            "x/var/log/messages-20260101",
        ] {
            assert!(!is_output(path), "{path}");
        }
    }
}
