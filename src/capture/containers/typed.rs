//! The command behind the name of a file that holds its output.

use super::super::command::Command;
use super::place::is_read;

/// A command of these words.
fn command(program: &str, arguments: impl IntoIterator<Item = impl Into<String>>) -> Command {
    Command {
        program: program.to_owned(),
        arguments: arguments.into_iter().map(Into::into).collect(),
        ..Command::default()
    }
}

/// The command that prints a file.
pub(super) fn of_file(path: &str) -> Command {
    if path == "/etc/hostname" {
        return command("hostname", [""; 0]);
    }
    command("cat", [path])
}

/// The command of a file below `sos_commands`, whose name has `_` for everything but letters, digits, `-`, `.` and `_`, and
/// `.` for `/`. `namespaces` are known names of network namespaces, longest first.
pub(super) fn of_mangled(name: &str, namespaces: &[String]) -> Option<Command> {
    let cut = name.strip_suffix(".tailed");
    let name = cut.unwrap_or(name);
    let mut command = match name.strip_prefix("ip_netns_exec_") {
        Some(rest) => in_namespace(rest, namespaces)?,
        None => plain(name)?,
    };
    if cut.is_some() {
        // Only the end of it was kept, so that what is missing proves nothing.
        command.filters.push(vec!["tail".to_owned()]);
    }
    Some(command)
}

/// The command of `NAMESPACE_COMMAND`. The name may hold `_` itself: known names come first, then whatever leaves a command
/// that is read.
fn in_namespace(rest: &str, namespaces: &[String]) -> Option<Command> {
    let known = namespaces.iter().filter_map(|name| {
        let inner = rest.strip_prefix(mangled(name).as_str())?.strip_prefix('_')?;
        Some((name.as_str(), inner))
    });
    let guessed = rest.match_indices('_').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    let mut splits = known.chain(guessed.filter(|(name, _)| !name.is_empty()));
    splits.find_map(|(name, inner)| {
        let command = plain(inner).filter(is_read)?;
        Some(Command { namespace: Some(name.to_owned()), ..command })
    })
}

/// A word as the name of a file spells it.
pub(super) fn mangled(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for char in word.chars() {
        match char {
            '/' => out.push('.'),
            plain if plain.is_ascii_alphanumeric() || "-_.".contains(plain) => out.push(plain),
            _ if out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    out.trim_matches([' ', '.', '_', '-']).to_owned()
}

fn plain(name: &str) -> Option<Command> {
    let (program, rest) = name.split_once('_').unwrap_or((name, ""));
    if program.is_empty() {
        return None;
    }
    let words = || rest.split('_').filter(|word| !word.is_empty());
    let made = match program {
        // The name of an interface may hold `_`: it is all that follows the options.
        "ethtool" => {
            let mut left = rest;
            let mut arguments = Vec::new();
            while left.starts_with('-') {
                let (option, behind) = left.split_once('_').unwrap_or((left, ""));
                arguments.push(option);
                left = behind;
            }
            arguments.extend((!left.is_empty()).then_some(left));
            command(program, arguments)
        }
        "tc" if rest.contains("_dev_") => {
            let (front, device) = rest.split_once("_dev_")?;
            let ends = ["_ingress", "_egress"];
            let end = ends.iter().find(|end| device.ends_with(**end));
            let device = end.map_or(device, |end| &device[..device.len() - end.len()]);
            let last = end.map(|end| &end[1..]);
            command(program, front.split('_').chain(["dev", device]).chain(last))
        }
        "cat" => command(program, words().map(|word| word.replace('.', "/"))),
        _ => command(program, words()),
    };
    Some(made)
}

/// Files of the kernel by the names that people give their copies.
const FILES: [(&str, &str); 14] = [
    ("cpuinfo", "/proc/cpuinfo"),
    ("meminfo", "/proc/meminfo"),
    ("interrupts", "/proc/interrupts"),
    ("softirqs", "/proc/softirqs"),
    ("softnet_stat", "/proc/net/softnet_stat"),
    ("snmp", "/proc/net/snmp"),
    ("snmp6", "/proc/net/snmp6"),
    ("netstat", "/proc/net/netstat"),
    ("sockstat", "/proc/net/sockstat"),
    ("net_dev", "/proc/net/dev"),
    ("proc_net_dev", "/proc/net/dev"),
    ("proc_stat", "/proc/stat"),
    ("loadavg", "/proc/loadavg"),
    ("proc_version", "/proc/version"),
];

/// Endings that say nothing of the content.
const ENDINGS: [&str; 7] = [".txt", ".out", ".log", ".json", ".text", ".output", ".stdout"];

/// What the path of a file in a folder of outputs may stand for, best guess first: `ethtool_-S_eth0.txt`, `ethtool-S-eth0`,
/// `ethtool/S/eth0`, `lspci-vvv.out`, `proc_net_dev`, `10-ip-s-link.txt`.
pub(super) fn of_loose(path: &str) -> Vec<Command> {
    let path = ENDINGS.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    // Digits that only sort.
    let sorted = name.trim_start_matches(|char: char| char.is_ascii_digit());
    let name = sorted.strip_prefix(['-', '_', '.']).unwrap_or(name);
    let mut found: Vec<Command> = Vec::new();
    let mut add = |command: Option<Command>| {
        if let Some(command) = command.filter(|command| is_read(command) && !found.contains(command)) {
            found.push(command);
        }
    };
    let file = FILES.iter().find(|(known, _)| *known == name).map(|(_, path)| of_file(path));
    add(file);
    if let Some(dotted) = name.strip_prefix("proc_").or_else(|| name.strip_prefix("proc.")) {
        let dotted = dotted.replace('.', "_");
        let paths = (0..=dotted.matches('_').count()).map(|most| format!("/proc/{}", dotted.replacen('_', "/", most)));
        add(paths.map(|path| of_file(&path)).find(is_read));
    }
    let folders = path.rsplit_once('/').and_then(|(folders, last)| in_folders(folders, last));
    let of_sos = || plain(name).filter(|_| name.contains("_-") || !name.contains('-')).map(without_prose);
    add(of_sos().filter(is_read).or_else(|| in_words(name)).or(folders));
    found
}

/// Words behind a program that takes none are what somebody noted: `lscpu_info`.
fn without_prose(mut command: Command) -> Command {
    if !["ethtool", "ip", "tc", "bridge", "cat", "devlink", "ovs-vsctl", "ovs-appctl", "sysctl"]
        .contains(&command.program.as_str())
    {
        command.arguments.retain(|word| word.starts_with('-'));
    }
    command
}

/// `ethtool/i/eth0`: the program, its option and what it was asked about, each a folder.
fn in_folders(folders: &str, last: &str) -> Option<Command> {
    let mut parts = folders.rsplit('/');
    let (option, program) = (parts.next()?, parts.next()?);
    let option = match option.trim_start_matches('-') {
        letter if letter.len() == 1 => format!("-{letter}"),
        word => format!("--{word}"),
    };
    (program == "ethtool").then(|| command(program, [option, last.to_owned()]))
}

/// Words of `ip` that are no options though they are as short.
const OBJECTS: [&str; 9] = ["a", "r", "l", "n", "ad", "addr", "link", "ro", "ru"];

/// `ethtool-S-eth0`, `netstat-rne`, `ip-s-link`, `sysctl-a`: words with one separator, options without their dash.
fn in_words(name: &str) -> Option<Command> {
    let separator = if name.contains('-') { '-' } else { '_' };
    let mut words = name.split(separator).filter(|word| !word.is_empty());
    let program = words.next()?;
    let words: Vec<&str> = words.collect();
    if program == "ethtool" {
        let (first, rest) = words.split_first()?;
        if first.len() > 1 || rest.is_empty() {
            return Some(command(program, [words.join(&separator.to_string())]));
        }
        return Some(command(program, [format!("-{first}"), rest.join(&separator.to_string())]));
    }
    let mut arguments = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let short = word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let option = if program == "ip" {
            word.len() <= 2 && !OBJECTS.contains(word) && arguments.len() == at
        } else {
            short && at == 0
        };
        arguments.push(if option { format!("-{word}") } else { (*word).to_owned() });
    }
    let whole = command(program, arguments);
    is_read(&whole).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> String {
        let inside = command.namespace.as_ref().map(|name| format!("[{name}] ")).unwrap_or_default();
        format!("{inside}{} {}", command.program, command.arguments.join(" ")).trim().to_owned()
    }

    #[test]
    fn names_of_a_sosreport() {
        let known = ["a_b_c".to_owned(), "a_b".to_owned()];
        for (name, wanted) in [
            ("ethtool_-S_eth0", "ethtool -S eth0"),
            ("ethtool_br_x", "ethtool br_x"),
            ("ethtool_--show-priv-flags_bond0.100", "ethtool --show-priv-flags bond0.100"),
            ("ip_-s_-d_link", "ip -s -d link"),
            ("lspci_-nnvv", "lspci -nnvv"),
            ("tc_-s_filter_show_dev_br_x_ingress", "tc -s filter show dev br_x ingress"),
            ("tc_-s_qdisc_show", "tc -s qdisc show"),
            ("cat_.proc.net.dev", "cat /proc/net/dev"),
            ("ip_netns_exec_a_b_ethtool_-k_br_x", "[a_b] ethtool -k br_x"),
            ("ip_netns_exec_a_b_c_ip_address_show", "[a_b_c] ip address show"),
            ("ip_netns_exec_x_y_netstat_-s", "[x_y] netstat -s"),
            ("dmesg", "dmesg"),
        ] {
            assert_eq!(of_mangled(name, &known).as_ref().map(words).as_deref(), Some(wanted), "{name}");
        }
        assert!(of_mangled("ethtool_-S_eth0.tailed", &[]).unwrap().is_filtered());
        assert_eq!(of_mangled("ip_netns_exec_x_frobnicate", &[]), None);
        assert_eq!(mangled("eth0@if3: a//b "), "eth0_if3_a..b");
    }

    #[test]
    fn names_that_people_give() {
        for (path, wanted) in [
            ("ethtool_-S_eth0.txt", "ethtool -S eth0"),
            ("ethtool-S-eth0", "ethtool -S eth0"),
            ("ethtool/i/eth0.104", "ethtool -i eth0.104"),
            ("host/ethtool/c/eth1", "ethtool -c eth1"),
            ("ethtool_eth0", "ethtool eth0"),
            ("ethtool-eth0.txt", "ethtool eth0"),
            ("lspci-vvv.out", "lspci -vvv"),
            ("lspci", "lspci"),
            ("lscpu_info", "lscpu"),
            ("10-ip-s-link.txt", "ip -s link"),
            ("ip_addr", "ip addr"),
            ("netstat-rne.out", "netstat -rne"),
            ("sysctl-a.out", "sysctl -a"),
            ("proc_net_softnet_stat", "cat /proc/net/softnet_stat"),
            ("interrupts", "cat /proc/interrupts"),
            ("meminfo", "cat /proc/meminfo"),
            ("dmesg.log", "dmesg"),
        ] {
            let found: Vec<String> = of_loose(path).iter().map(words).collect();
            assert_eq!(found.first().map(String::as_str), Some(wanted), "{path}: {found:?}");
        }
        for path in ["README", "notes.txt", "eth0", "expected_output", ""] {
            assert_eq!(of_loose(path), [], "{path}");
        }
    }
}
