//! `sysctl`, files below /proc/sys, and sysctl.conf, which holds intent and not state.

use super::super::command::Command;
use super::{Intake, Tool, path_value};
use crate::formats::cursor::{At, Cursor};
use crate::formats::sysctl::{self, Setting};
use crate::snapshot::ConfiguredSetting;

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "sysctl.conf",
        answers: |command| {
            let files = command.files();
            !files.is_empty() && files.iter().all(|path| sysctl::is_configuration(path))
        },
        begins: |_| false,
        read: configuration,
    },
    Tool { name: "sysctl", answers: |command| command.program == "sysctl", begins, read: settings },
    Tool {
        name: "/proc/sys",
        answers: |command| command.files().iter().any(|path| path.starts_with("/proc/sys/")),
        begins: |cursor| cursor.peek().is_some_and(|line| path(line.text).is_some()),
        read: files,
    },
];

/// Most settings of files that are kept.
const MOST: usize = 10_000;

/// Parameters that are kept: those of the network.
fn is_kept(key: &str) -> bool {
    key.starts_with("net.") || key.starts_with("sunrpc.")
}

/// Older and shorter names of the same parameters.
const ALIASES: [(&str, &str); 5] = [
    ("net.nf_conntrack_max", "net.netfilter.nf_conntrack_max"),
    ("net.ipv4.ip_conntrack_max", "net.netfilter.nf_conntrack_max"),
    ("net.ipv4.netfilter.ip_conntrack_max", "net.netfilter.nf_conntrack_max"),
    ("net.ipv4.netfilter.ip_conntrack_count", "net.netfilter.nf_conntrack_count"),
    ("net.ipv4.netfilter.ip_conntrack_buckets", "net.netfilter.nf_conntrack_buckets"),
];

fn put(intake: &mut Intake<'_>, key: String, value: &str, line: u32) {
    if !is_kept(&key) {
        return;
    }
    let key = ALIASES.iter().find(|(old, _)| *old == key).map_or(key, |(_, new)| (*new).to_owned());
    if intake.site.namespace.is_empty()
        && let Some(number) = value.trim().parse().ok().map(|number: u64| At::new(number, line))
    {
        match key.as_str() {
            "net.netfilter.nf_conntrack_max" => intake.site.put_host(|host| &mut host.conntrack.max, number),
            "net.netfilter.nf_conntrack_count" => intake.site.put_host(|host| &mut host.conntrack.count, number),
            "net.netfilter.nf_conntrack_buckets" => intake.site.put_host(|host| &mut host.conntrack.buckets, number),
            _ => {}
        }
    }
    intake.site.sysctl(key, At::new(sysctl::value(value), line));
}

fn printed(text: &str) -> Option<Setting> {
    sysctl::setting(text).filter(|setting| setting.printed)
}

fn begins(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| printed(line.text).is_some() && !line.text.starts_with([' ', '\t']))
}

/// Fewest lines in the form of `sysctl -a` that are taken for its output although nobody says so: a few lines may as well
/// be what somebody was told to write into sysctl.conf.
const FEWEST: usize = 20;

fn settings(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if intake.command.is_none() {
        let rows = cursor.rest().iter().take_while(|line| printed(line.text).is_some()).count();
        if rows < FEWEST {
            while cursor.take_if(printed).is_some() {}
            return;
        }
    }
    let lists = |command: &Command| command.has_flag('a') || command.has_flag('A') || command.has("--all");
    let whole = intake.command.is_none_or(lists) && !intake.is_filtered() && intake.site.namespace.is_empty();
    intake.site.all_parameters |= whole;
    let keys = intake.command.map(keys).unwrap_or_default();
    let mut next = keys.iter();
    let mut file = intake.command.and_then(applied);
    while let Some(line) = cursor.peek() {
        if let (Some(file), Some(key)) = (&file, sysctl::unknown_key(line.text)) {
            put_refused(intake, file.clone(), key, line.number);
        } else if let Some(path) = sysctl::heading(line.text).filter(|_| file.is_some()) {
            file = Some(path.to_owned());
        }
        if let Some(setting) = sysctl::setting(line.text).filter(|setting| setting.printed || intake.command.is_some())
        {
            put(intake, setting.key, &setting.value, line.number);
        } else if sysctl::is_complaint(line.text) || sysctl::is_heading(line.text) {
            next.next();
        } else if let Some(key) = next.next().filter(|_| is_value(line.text)) {
            // -n prints the value alone.
            put(intake, key.clone(), line.text, line.number);
        } else {
            break;
        }
        cursor.take();
    }
}

/// The file that a command applies, as far as it is told: `sysctl -p` reads /etc/sysctl.conf, and `--system` names each file
/// before it.
fn applied(command: &Command) -> Option<String> {
    const LOADS: [&str; 4] = ["-p", "--load", "-f", "--system"];
    if command.program != "sysctl" || !command.arguments.iter().any(|word| LOADS.contains(&word.as_str())) {
        return None;
    }
    let named = command.last_operand().filter(|_| !command.has("--system"));
    Some(named.unwrap_or("/etc/sysctl.conf").to_owned())
}

/// Notes a setting of a file that the kernel refused because it has no such parameter.
fn put_refused(intake: &mut Intake<'_>, file: String, key: String, line: u32) {
    let mut found = intake.site.snapshot.host.configured.known().cloned().unwrap_or_default();
    if found.len() >= MOST || !intake.site.namespace.is_empty() || !is_kept(&key) {
        return;
    }
    let row = ConfiguredSetting { manager: "sysctl".to_owned(), file, line, key, ..ConfiguredSetting::default() };
    found.push(row);
    intake.site.put_host(|host| &mut host.configured, At::new(found, line));
}

/// The keys whose values a command prints without their names.
fn keys(command: &Command) -> Vec<String> {
    let bare = command.has_flag('n') || command.has("--values");
    if command.program != "sysctl" || !bare {
        return Vec::new();
    }
    let words = command.arguments.iter().filter(|word| !word.starts_with('-') && !word.contains('='));
    words.map(|word| word.replace('/', ".")).collect()
}

/// A line that can be the value of a parameter: figures or words, no prose and no complaint.
fn is_value(text: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || " \t_-.,/+[]:".contains(char);
    let mut words = text.split_ascii_whitespace();
    let numbers = words.clone().all(|word| word.parse::<f64>().is_ok());
    let key = text.trim().chars().all(|char| char.is_ascii_hexdigit() || char == ':' || char == '-');
    !text.trim().is_empty()
        && text.chars().all(plain)
        && (numbers || key || words.all(|word| word.len() <= 24) && !text.ends_with(':'))
}

/// The parameter and the value of a line `/proc/sys/net/core/rmem_max:212992`.
fn path(text: &str) -> Option<(String, &str)> {
    let (path, value) = path_value(text).filter(|(path, _)| path.starts_with("/proc/sys/"))?;
    Some((sysctl::key_of_path(path)?, value))
}

fn files(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let files: Vec<String> =
        intake.command.map(|command| command.files()).unwrap_or_default().into_iter().map(str::to_owned).collect();
    let mut next = files.iter().filter(|file| file.starts_with("/proc/sys/"));
    while let Some(line) = cursor.peek() {
        if let Some((key, value)) = path(line.text) {
            put(intake, key, value, line.number);
        } else if super::super::site::refusal(line.text).is_some() {
            next.next();
        } else if is_value(line.text)
            && let Some(key) = next.next().and_then(|file| sysctl::key_of_path(file))
        {
            put(intake, key, line.text, line.number);
        } else {
            break;
        }
        cursor.take();
    }
}

/// Takes settings and comments. What a file says is what shall be, not what is.
fn configuration(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let file = intake.command.and_then(Command::file).map(str::to_owned);
    let mut found = intake.site.snapshot.host.configured.known().cloned().unwrap_or_default();
    let mut first = None;
    while let Some(line) = cursor.peek() {
        let text = line.text.trim_start();
        let (path, text) = match path_value(text).filter(|(path, _)| sysctl::is_configuration(path)) {
            Some((path, rest)) => (Some(path.to_owned()), rest.trim_start()),
            None => (file.clone(), text),
        };
        let setting = sysctl::setting(text);
        let heading = text.starts_with("==> ") && text.ends_with(" <==");
        if setting.is_none() && !text.is_empty() && !text.starts_with(['#', ';']) && !heading {
            break;
        }
        cursor.take();
        if let (Some(setting), Some(file)) = (setting, path) {
            first.get_or_insert(line.number);
            let row = ConfiguredSetting {
                manager: "sysctl".to_owned(),
                file,
                line: line.number,
                key: setting.key,
                value: setting.value,
                ..ConfiguredSetting::default()
            };
            if found.len() < MOST {
                found.push(row);
            }
        }
    }
    if let Some(first) = first.filter(|_| intake.site.namespace.is_empty()) {
        intake.site.put_host(|host| &mut host.configured, At::new(found, first));
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;

    #[test]
    fn values_of_all_forms_and_no_intents() {
        let text = "$ sysctl net.ipv4.tcp_rmem\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\n$ cat /proc/sys/net/core/somaxconn\n4096\n\
            $ sysctl -n net.core.rmem_max net.core.wmem_max\n212992\n425984\n$ grep . /proc/sys/net/ipv4/tcp_sack /proc/sys/net/core/x\n\
            /proc/sys/net/ipv4/tcp_sack:1\n$ cat /proc/sys/net/netfilter/nf_conntrack_max\n65536\n\
            $ cat /etc/sysctl.conf\n# tuned\nnet.core.rmem_max = 16777216\n\n$ echo 9 > /proc/sys/net/core/busy_poll\n\
            $ sysctl -p\nsysctl: cannot stat /proc/sys/net/ipv4/tcp_tw_recycle: No such file or directory\nnet.ipv4.tcp_tw_reuse = 1\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let values: Vec<(&str, &str)> =
            snapshot.host.sysctl.known().unwrap().iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        // Parameters of modules that nobody listed are unreadable, not missing.
        let (unread, values): (Vec<_>, Vec<_>) = values.into_iter().partition(|(_, value)| value.is_empty());
        assert_eq!(
            unread.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
            ["net.bridge.bridge-nf-call-iptables", "net.netfilter.nf_conntrack_count"]
        );
        assert_eq!(
            values,
            [
                ("net.core.rmem_max", "212992"),
                ("net.core.somaxconn", "4096"),
                ("net.core.wmem_max", "425984"),
                ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
                ("net.ipv4.tcp_sack", "1"),
                ("net.ipv4.tcp_tw_reuse", "1"),
                ("net.netfilter.nf_conntrack_max", "65536"),
            ]
        );
        assert_eq!(snapshot.host.conntrack.max.known(), Some(&65_536));
        let configured = snapshot.host.configured.known().unwrap();
        let seen: Vec<_> =
            configured.iter().map(|one| (one.file.as_str(), one.key.as_str(), one.value.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("/etc/sysctl.conf", "net.core.rmem_max", "16777216"),
                ("/etc/sysctl.conf", "net.ipv4.tcp_tw_recycle", "")
            ]
        );
    }

    #[test]
    fn parameters_that_a_file_sets_in_vain() {
        let refused = |text: &str| {
            let (snapshot, understood) = one(text);
            assert_eq!(understood.left, []);
            let rows = snapshot.host.configured.known().cloned().unwrap_or_default();
            rows.into_iter().map(|row| (row.file, row.key)).collect::<Vec<_>>()
        };
        let row = |file: &str, key: &str| (file.to_owned(), key.to_owned());
        let old = "error: \"net.ipv4.tcp_fack\" is an unknown key\n";
        assert_eq!(refused(&format!("# sysctl -p\n{old}")), [row("/etc/sysctl.conf", "net.ipv4.tcp_fack")]);
        let named = "# sysctl -p /etc/sysctl.d/x.conf\nsysctl: cannot stat /proc/sys/net/ipv4/tcp_abc: No such file or directory\n";
        assert_eq!(refused(named), [row("/etc/sysctl.d/x.conf", "net.ipv4.tcp_abc")]);
        let system = format!(
            "# sysctl --system\n* Applying /etc/sysctl.d/10-a.conf ...\nnet.core.rmem_max = 1\n* Applying /etc/sysctl.d/20-b.conf ...\n{old}"
        );
        assert_eq!(refused(&system), [row("/etc/sysctl.d/20-b.conf", "net.ipv4.tcp_fack")]);
        // Who only asks for a parameter has it in no file.
        assert_eq!(
            refused(
                "# sysctl net.ipv4.tcp_fack\nsysctl: cannot stat /proc/sys/net/ipv4/tcp_fack: No such file or directory\n"
            ),
            []
        );
        // It exists.
        assert_eq!(refused("# sysctl -p\nsysctl: setting key \"net.ipv4.tcp_fack\": Read-only file system\n"), []);
    }

    #[test]
    fn lines_without_a_command_need_the_form_of_sysctl() {
        let many: String = (0..20).map(|n| format!("net.ipv4.conf.eth{n}.rp_filter = 2\n")).collect();
        assert_eq!(one(&many).0.host.sysctl.known().unwrap().len(), 20);
        let (snapshot, understood) = one("net.core.rmem_max = 212992\nnet.core.wmem_max = 1\n");
        assert!(snapshot.host.sysctl.is_unasked() && understood.left.is_empty());
        let (snapshot, understood) = one("net.core.rmem_max=212992\n");
        assert!(snapshot.host.sysctl.is_unasked() && understood.left.len() == 1);
    }
}
