//! Prompts: which lines were typed, by whom on which host.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::formats::cursor::front;

/// A line that was typed at a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Typed<'a> {
    /// Host name in the prompt.
    pub host: Option<&'a str>,
    /// True where the prompt ends as that of root does.
    pub root: Option<bool>,
    /// What was typed; empty where only the prompt stands there.
    pub text: &'a str,
}

/// Prompts that name a user and a host, or a directory: whatever follows was typed. Groups: host, mark, text.
static FULL: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // [root@host dir]# and [user@host:~] $
        r"^(?:\([\w.-]+\) ?)?\[[\w.-]+@(?P<host>[\w.-]+)[^\]]{0,80}\] ?(?P<mark>[#$%>])(?:\s+(?P<text>.*))?$",
        // root@host:~# and user@host ~ $ and user@host>
        r"^(?:\([\w.-]+\) ?)?[\w.-]+@(?P<host>[\w.-]+)(?::|\s)?\s?(?:\[?\s?[~/][^#$%>]{0,80}\]?)?\s?(?P<mark>[#$%>])(?:\s+(?P<text>.*)|(?P<glued>[a-z]\S*(?:\s.*)?))?$",
        // user@host:dir$
        r"^[\w.-]+@(?P<host>[\w.-]+):[\w./~ -]{0,80}(?P<mark>[#$])(?:\s+(?P<text>.*))?$",
        // host:~#
        r"^(?P<host>[A-Za-z][\w.-]*):(?:[~/][^\s#$%>]*|[\w.-]+ \w+) ?(?P<mark>[#$%>])(?:\s+(?P<text>.*))?$",
        // [~] # of QNAP, ~#, ~ $, /dir #
        r"^\[?[~/][\w./-]{0,80}\]?\s?(?P<mark>[#$%])(?:\s+(?P<text>.*))?$",
        // bash-4.2#
        r"^(?:ba|z|da|k|a)?sh-[\d.]+(?P<mark>[#$])(?:\s+(?P<text>.*))?$",
        // the second line of a framed prompt
        "^[\u{2514}\u{2570}\u{2517}][\u{2500}-\u{257f}]*(?P<mark>[#$%])(?:\\s+(?P<text>.*))?$",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Reads a line as prompt and command. A bare mark counts as a prompt only before something that is a command: `#` also
/// begins comments, `>` also quotes.
pub(super) fn typed(line: &str) -> Option<Typed<'_>> {
    let line = line.trim_start();
    let head = front(line, 200);
    if !head.contains(['#', '$', '%', '>', '\u{276f}', '\u{279c}']) {
        return None;
    }
    for pattern in FULL.iter() {
        if let Some(found) = pattern.captures(line) {
            let group = |name: &str| found.name(name).map(|group| group.as_str());
            let mark = group("mark").unwrap_or_default();
            let text = group("text").or_else(|| group("glued")).unwrap_or_default().trim();
            if mark == ">" && !text.is_empty() && !is_command(text) {
                continue;
            }
            return Some(Typed {
                host: group("host").filter(|host| !host.is_empty()),
                root: match mark {
                    "#" => Some(true),
                    "$" | "%" => Some(false),
                    _ => None,
                },
                text,
            });
        }
    }
    bare(line)
}

/// A mark alone: `$ ethtool eth0`, `# ethtool eth0`.
fn bare(line: &str) -> Option<Typed<'_>> {
    let mark = line.chars().next()?;
    let text = line[mark.len_utf8()..].strip_prefix([' ', '\t'])?.trim();
    let (root, sure) = match mark {
        '#' => (Some(true), false),
        '$' => (Some(false), true),
        '>' | '%' | '\u{276f}' | '\u{279c}' => (None, false),
        _ => return None,
    };
    let fits =
        is_command(text) || sure && text.starts_with(|char: char| char.is_ascii_lowercase() || "./(".contains(char));
    fits.then_some(Typed { host: None, root, text })
}

/// Programs whose name at the beginning of a line, behind a bare mark, makes it a command.
const PROGRAMS: &[&str] = &[
    "arp",
    "arping",
    "awk",
    "bash",
    "bonnie",
    "brctl",
    "bridge",
    "bwctl",
    "bwm-ng",
    "cat",
    "cd",
    "conntrack",
    "cpupower",
    "curl",
    "date",
    "dcb",
    "dd",
    "devlink",
    "df",
    "dmesg",
    "dmidecode",
    "docker",
    "dropwatch",
    "echo",
    "egrep",
    "esxcli",
    "ethq",
    "ethtool",
    "export",
    "fgrep",
    "find",
    "fio",
    "for",
    "free",
    "grep",
    "head",
    "hostname",
    "hostnamectl",
    "htop",
    "ib_send_bw",
    "ib_write_bw",
    "ibdev2netdev",
    "ibstat",
    "ibstatus",
    "ibv_devinfo",
    "ifconfig",
    "ifdown",
    "iftop",
    "ifup",
    "inxi",
    "ip",
    "iperf",
    "iperf3",
    "ipmitool",
    "iptables",
    "irqbalance",
    "iw",
    "iwconfig",
    "journalctl",
    "kubectl",
    "less",
    "lldpcli",
    "lldpctl",
    "logread",
    "ls",
    "lscpu",
    "lshw",
    "lsmod",
    "lspci",
    "lsusb",
    "mii-diag",
    "mii-tool",
    "mlnx_tune",
    "mlxconfig",
    "mlxlink",
    "modinfo",
    "modprobe",
    "more",
    "mount",
    "mpstat",
    "mtr",
    "nc",
    "netperf",
    "netplan",
    "netstat",
    "networkctl",
    "nfsstat",
    "nft",
    "nmcli",
    "nstat",
    "numactl",
    "nuttcp",
    "nvme",
    "opkg",
    "ovs-appctl",
    "ovs-dpctl",
    "ovs-ofctl",
    "ovs-vsctl",
    "perf",
    "ping",
    "ping6",
    "podman",
    "ps",
    "pvereport",
    "qperf",
    "reboot",
    "rmmod",
    "route",
    "sar",
    "sed",
    "service",
    "show_gids",
    "smartctl",
    "sockperf",
    "ss",
    "ssh",
    "stdbuf",
    "sudo",
    "sysctl",
    "systemctl",
    "systemd-detect-virt",
    "tail",
    "taskset",
    "tc",
    "tcpdump",
    "teamdctl",
    "teamnl",
    "time",
    "timeout",
    "top",
    "tracepath",
    "traceroute",
    "tuned-adm",
    "turbostat",
    "udevadm",
    "ufw",
    "uname",
    "uptime",
    "vi",
    "vim",
    "virsh",
    "vmstat",
    "vtysh",
    "watch",
    "wg",
    "wget",
    "while",
    "x",
    "xdp-loader",
    "zcat",
    "zgrep",
];

/// True where a text begins as a typed command does.
pub(super) fn is_command(text: &str) -> bool {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    let path = first.starts_with("./") || first.starts_with('/') && first.len() > 1 && !first.ends_with(':');
    // Comments are sentences: a program's name followed by prose is rare, and "time", "date" and the like begin sentences.
    (PROGRAMS.binary_search(&name).is_ok() && !name.is_empty()) || path || assigns(first)
}

fn assigns(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') && name.len() < 16
    })
}

/// Tools whose name alone, at the beginning of a line without a prompt, makes it a command if arguments follow that
/// look like arguments.
const PLAIN: &[&str] = &[
    "cat",
    "dmesg",
    "ethtool",
    "ifconfig",
    "ip",
    "iperf",
    "iperf3",
    "journalctl",
    "lscpu",
    "lspci",
    "lshw",
    "mpstat",
    "netstat",
    "nstat",
    "ping",
    "route",
    "sar",
    "ss",
    "sysctl",
    "tc",
    "tracepath",
    "uname",
    "uptime",
    "vmstat",
];

/// A command that stands on a line by itself without a prompt, perhaps framed: `ethtool -g eth0`, `**ethtool -g eth0**`,
/// `=== ethtool -g eth0 ===`, `ethtool -g eth0:`.
pub(super) fn plain(line: &str) -> Option<&str> {
    let frame = |char: char| char.is_whitespace() || "=*#-`_>+:".contains(char);
    let text = line.trim_start_matches(frame).trim_end_matches(frame);
    let mut words = text.split_ascii_whitespace();
    let mut first = words.next()?;
    if first == "sudo" {
        first = words.next()?;
    }
    let name = first.rsplit('/').next().unwrap_or_default();
    if !PLAIN.contains(&name) || text.len() > 160 {
        return None;
    }
    let arguments: Vec<&str> = words.collect();
    let looks = |word: &&str| {
        word.starts_with('-')
            || word.starts_with('/')
            || *word == "|"
            || word.starts_with(|char: char| char.is_ascii_alphabetic())
                && word.chars().any(|char| char.is_ascii_digit())
                && word.chars().all(|char| char.is_ascii_alphanumeric() || "_-.@".contains(char))
            || name == "ip" && ["link", "addr", "a", "address", "route", "r", "neigh", "l", "rule"].contains(word)
            || name == "tc" && ["qdisc", "class", "filter"].contains(word)
    };
    match arguments.split_first() {
        None => {
            ["dmesg", "ifconfig", "lspci", "lscpu", "lshw", "nstat", "ss", "uptime"].contains(&name).then_some(text)
        }
        Some((first, _)) => looks(first).then_some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sorted_for_the_search() {
        let mut sorted = PROGRAMS.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted, PROGRAMS);
    }

    #[test]
    fn prompts_of_all_kinds() {
        for (line, host, root, text) in [
            ("root@host1:~# iperf3 -c 10.0.0.1", Some("host1"), Some(true), "iperf3 -c 10.0.0.1"),
            ("[root@host1 log]# dmesg", Some("host1"), Some(true), "dmesg"),
            ("[root@host1 ]# cat /proc/x", Some("host1"), Some(true), "cat /proc/x"),
            ("[root@host1 ~]#  tc -s qdisc show ", Some("host1"), Some(true), "tc -s qdisc show"),
            ("root@host1 [ ~ ]# ethtool -g eth0", Some("host1"), Some(true), "ethtool -g eth0"),
            ("root@host1 ~ # conntrack -S", Some("host1"), Some(true), "conntrack -S"),
            ("core@host1 ~ $ ip a", Some("host1"), Some(false), "ip a"),
            ("pi@host1:~ $ dmesg", Some("host1"), Some(false), "dmesg"),
            ("user@box:~/src/x-y$ ls -l", Some("box"), Some(false), "ls -l"),
            ("admin@NAS:/volume1$ ethtool eth0", Some("NAS"), Some(false), "ethtool eth0"),
            ("testvm:~# ethtool -g eth0", Some("testvm"), Some(true), "ethtool -g eth0"),
            ("[~] # ethtool eth4", None, Some(true), "ethtool eth4"),
            ("~# ethtool -k eth1", None, Some(true), "ethtool -k eth1"),
            ("bash-4.2# ip a", None, Some(true), "ip a"),
            ("(base) user@gpu1:~$ nvidia-smi", Some("gpu1"), Some(false), "nvidia-smi"),
            ("$ ethtool eth0", None, Some(false), "ethtool eth0"),
            ("# ethtool eth0", None, Some(true), "ethtool eth0"),
            ("root@OpenWrt:~#", Some("OpenWrt"), Some(true), ""),
            ("root@OpenWrt:/# logread", Some("OpenWrt"), Some(true), "logread"),
            ("\u{2514}\u{2500}$ ip a", None, Some(false), "ip a"),
            ("DiskStation> ethtool eth0", None, None, ""),
        ] {
            let found = typed(line);
            if text.is_empty() && host.is_none() {
                assert_eq!(found, None, "{line}");
            } else {
                assert_eq!(found, Some(Typed { host, root, text }), "{line}");
            }
        }
    }

    #[test]
    fn outputs_are_no_prompts() {
        for line in [
            "# Kernel sysctl configuration file for Red Hat Linux",
            "# Controls IP packet forwarding",
            "> quoted prose of a mail",
            "     rx_packets: 1",
            "2: eth0: <BROADCAST,UP> mtu 1500 qdisc mq state UP",
            "[    1.234] igb 0000:01:00.0 eth0: NIC Link is Down",
            "50% of what is sent > what is received",
            "tcp LISTEN 0 128 *:22 *:* users:((\"sshd\",pid=1,fd=3)) # x",
            "eth0: negotiated 1000baseT-FD flow-control, link ok",
            "Average:     all   10.00  # comment",
            "inet6 fe80::1%lo0 prefixlen 64",
            "",
        ] {
            assert_eq!(typed(line), None, "{line}");
        }
    }

    #[test]
    fn commands_stand_alone() {
        for (line, wanted) in [
            ("ethtool -g eth0", Some("ethtool -g eth0")),
            ("**ethtool eth0**", Some("ethtool eth0")),
            ("=== ip -s link ===", Some("ip -s link")),
            ("ethtool eth0:", Some("ethtool eth0")),
            ("cat /proc/net/softnet_stat", Some("cat /proc/net/softnet_stat")),
            ("dmesg", Some("dmesg")),
            ("ethtool says that the link is up", None),
            ("ip addresses are scarce", None),
            ("cat is on the mat", None),
            ("ethtool: bad command line argument(s)", None),
            ("", None),
        ] {
            assert_eq!(plain(line), wanted, "{line}");
        }
    }
}
