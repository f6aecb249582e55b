//! Reports that are one text with a heading above each output: the files of a supportconfig, and a pvereport.

use super::super::command::{self, Command};
use super::super::prompt::is_command;
use super::super::site::Site;
use super::super::transcript;
use super::super::understood::Understanding;
use super::place::is_read;
use crate::formats::cursor::Line;
use crate::snapshot::SampleSource;

/// Lines at the beginning of a text that show its style.
const LOOK: usize = 60;

/// How the headings of a report look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) enum Style {
    /// `#==[ Command ]=====#`, below it `# /usr/sbin/ethtool eth0`.
    Supportconfig,
    /// `==== info about network ====`, below it, behind an empty line, `# ip -details address`.
    Pvereport,
}

impl Style {
    /// What kind of capture a report of this style is.
    pub fn source(self) -> SampleSource {
        match self {
            Self::Supportconfig => SampleSource::Supportconfig,
            Self::Pvereport => SampleSource::Transcript,
        }
    }

    /// The style of a text, where it is one of these reports.
    pub fn of(text: &str) -> Option<Self> {
        let mut first = text.lines().take(LOOK);
        first.find_map(|line| {
            let of_supportconfig = kind(line).is_some() || line.trim() == "Support Utilities - Supportconfig";
            let of_proxmox = line.starts_with("==== general system info ====");
            of_supportconfig.then_some(Self::Supportconfig).or(of_proxmox.then_some(Self::Pvereport))
        })
    }
}

/// What a line `#==[ Command ]====...=#` announces.
fn kind(line: &str) -> Option<&str> {
    let (kind, rest) = line.strip_prefix("#==[ ")?.split_once(" ]")?;
    rest.trim_end().trim_end_matches('#').bytes().all(|byte| byte == b'=').then_some(kind)
}

/// Reads the outputs of a report into a host.
pub(in crate::capture) fn read(style: Style, lines: &[Line<'_>], site: &mut Site, understanding: &mut Understanding) {
    let starts: Vec<(usize, Option<Command>)> = (0..lines.len()).filter_map(|at| heading(style, lines, at)).collect();
    for (place, (start, command)) in starts.iter().enumerate() {
        let end = starts.get(place + 1).map_or(lines.len(), |(next, _)| next.saturating_sub(1));
        let Some(command) = command.as_ref().filter(|command| is_read(command)) else { continue };
        understanding.took(1);
        let output = lines.get(start + 1..end.max(start + 1)).unwrap_or_default();
        transcript::output(output, std::slice::from_ref(command), site, understanding);
    }
}

/// The line that names a command, where a block begins at this one; no command where the block is of another kind.
fn heading(style: Style, lines: &[Line<'_>], at: usize) -> Option<(usize, Option<Command>)> {
    match style {
        Style::Supportconfig => {
            let kind = kind(lines[at].text)?;
            let named = lines.get(at + 1).and_then(|line| line.text.strip_prefix('#')).map(str::trim);
            let number = lines.get(at + 1).map_or(0, |line| line.number);
            Some((at + 1, named.and_then(|named| announced(kind, named, number))))
        }
        Style::Pvereport => {
            let text = lines[at].text;
            if text.starts_with("==== ") && text.ends_with(" ====") {
                return Some((at, None));
            }
            let named = text.strip_prefix("# ")?;
            let behind_a_blank = at == 0 || lines[at - 1].text.trim().is_empty();
            (behind_a_blank && is_command(named)).then(|| (at, command::parse(named, lines[at].number).pop()))
        }
    }
}

fn announced(kind: &str, named: &str, line: u32) -> Option<Command> {
    let file = |path: &str| Command {
        line,
        program: "cat".to_owned(),
        arguments: vec![path.to_owned()],
        ..Command::default()
    };
    match kind {
        "Command" => {
            let mut commands = command::parse(named, line);
            (commands.len() == 1).then(|| commands.remove(0))
        }
        "Configuration File" => {
            let path = named.split(" - ").next()?.trim();
            path.starts_with('/').then(|| file(path))
        }
        "Log File" => {
            let (path, rest) = named.split_once(" - ").unwrap_or((named, ""));
            let mut command = file(path.trim());
            if rest.starts_with("Last") {
                command.filters.push(vec!["tail".to_owned()]);
            }
            Some(command)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor;

    fn site(style: Style, text: &str) -> (crate::snapshot::Snapshot, Understanding) {
        let mut site = Site::new(SampleSource::Supportconfig);
        let mut understanding = Understanding::default();
        read(style, &cursor::lines(text), &mut site, &mut understanding);
        (site.finish(), understanding)
    }

    #[test]
    fn blocks_of_a_supportconfig() {
        let text = "=============================================================================\n\
            \x20                    Support Utilities - Supportconfig\n\n\
            #==[ Command ]======================================#\n# /usr/sbin/ethtool -g eth0\nRing parameters for eth0:\n\
            Pre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t512\n\n\
            #==[ Verification ]=================================#\n# rpm -V ethtool\n# Verification Status: Passed\n\n\
            #==[ Configuration File ]===========================#\n# /etc/sysctl.conf - Not modified\nnet.core.rmem_max = 8\n\n\
            #==[ Command ]======================================#\n# /usr/sbin/ip netns exec blue ethtool -g eth0\n\
            Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\n";
        assert_eq!(Style::of(text), Some(Style::Supportconfig));
        let (snapshot, understood) = site(Style::Supportconfig, text);
        let rings: Vec<_> =
            snapshot.interfaces.iter().map(|one| (one.namespace.as_str(), *one.ring.rx.known().unwrap())).collect();
        assert_eq!(rings, [("", 512), ("blue", 256)]);
        assert_eq!(snapshot.host.configured.known().unwrap()[0].value, "8");
        assert_eq!(understood.left, []);
    }

    #[test]
    fn blocks_of_a_pvereport() {
        let text = "==== general system info ====\n\n# hostname\npve1\n\n==== info about network ====\n\n\
            # ip -details -statistics address\n2: eno1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000\n\
            \n# cat /etc/network/interfaces\n# network interface settings\n\nauto lo\n\n# ethtool settings by hand\n";
        assert_eq!(Style::of(text), Some(Style::Pvereport));
        let (snapshot, _) = site(Style::Pvereport, text);
        assert_eq!(snapshot.host.name.known().map(String::as_str), Some("pve1"));
        assert_eq!(snapshot.interface("eno1").unwrap().mtu.known().unwrap().0, 9000);
    }

    #[test]
    fn other_texts_have_no_style() {
        for text in ["", "#==[ Command ]", "#==[ x ]==y==#", "==== x ====", "# ip a"] {
            assert_eq!(Style::of(text).filter(|_| text != "#==[ Command ]"), None, "{text}");
        }
    }
}
