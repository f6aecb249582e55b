//! Text out of a terminal: cleaned, cut at the prompts and at the signatures of outputs, and handed to the tools' readers.

use std::collections::BTreeSet;

use super::clean::clean;
use super::command::{self, Command};
use super::prompt;
use super::site::Site;
use super::tools::{self, Intake, Tool};
use super::understood::Understanding;
use crate::formats::cursor::{Cursor, Line};
use crate::snapshot::SampleSource;

/// What was typed and what was printed after it.
struct Block<'a> {
    /// Host in the prompt.
    host: Option<&'a str>,
    /// The prompt can be nothing else: it names a host, or ends with a dollar sign. `#` begins headings and comments too.
    dollar: bool,
    commands: Vec<Command>,
    lines: Vec<Line<'a>>,
}

/// Hosts of a capture, in the order in which they speak.
pub(super) struct Hosts {
    kind: SampleSource,
    sites: Vec<(Option<String>, Site)>,
    current: usize,
    visited: usize,
}

impl Hosts {
    /// No hosts yet, to be read out of this kind of capture.
    pub fn of(kind: SampleSource) -> Self {
        Self { kind, sites: Vec::new(), current: 0, visited: 0 }
    }

    /// The host whose prompt this is. The first named prompt names the host that spoke before without a name.
    pub fn enter(&mut self, name: Option<&str>) -> &mut Site {
        if self.sites.is_empty() {
            self.sites.push((None, Site::new(self.kind)));
        }
        if let Some(name) = name {
            let known = self.sites.iter().position(|(held, _)| held.as_deref() == Some(name));
            let nameless = self.sites.iter().position(|(held, _)| held.is_none());
            self.current = match (known, nameless) {
                (Some(at), _) => at,
                (None, Some(at)) => {
                    self.sites[at].0 = Some(name.to_owned());
                    at
                }
                (None, None) => {
                    self.sites.push((Some(name.to_owned()), Site::new(self.kind)));
                    self.sites.len() - 1
                }
            };
        }
        &mut self.sites[self.current].1
    }

    /// True where a prompt or a command named this host.
    fn knows(&self, name: &str) -> bool {
        self.sites.iter().any(|(held, _)| held.as_deref() == Some(name))
    }

    /// The host that a command was sent to; the terminal stays where it is.
    fn visit(&mut self, name: &str) -> &mut Site {
        let known = self.sites.iter().position(|(held, _)| held.as_deref() == Some(name));
        let at = known.unwrap_or_else(|| {
            self.sites.push((Some(name.to_owned()), Site::new(self.kind)));
            self.sites.len() - 1
        });
        self.visited = at;
        &mut self.sites[at].1
    }

    /// The terminal moved to the host that was visited last.
    fn stay(&mut self) {
        self.current = self.visited;
    }

    /// The hosts of which something was read.
    pub fn into_sites(self) -> Vec<(Option<String>, Site)> {
        self.sites.into_iter().filter(|(_, site)| !site.is_empty()).collect()
    }
}

/// Reads a text. `file` is its name in sources, `-` for standard input.
pub(super) fn read(text: &str, file: &str) -> (Hosts, Understanding) {
    let mut understanding = Understanding::default();
    let mut hosts = Hosts::of(SampleSource::Transcript);
    read_into(text, file, Vec::new(), &mut hosts, &mut understanding);
    (hosts, understanding)
}

/// Reads a text of hosts of which something else may have been read already. `first` are the commands that what stands
/// before the first prompt may be the output of.
pub(super) fn read_into(
    text: &str,
    file: &str,
    first: Vec<Command>,
    hosts: &mut Hosts,
    understanding: &mut Understanding,
) {
    let cleaned = clean(text);
    let lines: Vec<Line<'_>> =
        cleaned.iter().map(|line| Line { number: line.number, text: line.text.as_str() }).collect();
    // Namespace or container whose shell was entered.
    let mut inside: Option<String> = None;
    let mut blocks = blocks(&lines, understanding);
    if let Some(block) = blocks.first_mut() {
        block.commands = first;
    }
    for mut block in blocks {
        if block.commands.iter().any(|command| ["exit", "logout"].contains(&command.program.as_str()))
            || block.host.is_some_and(|host| hosts.knows(host))
        {
            inside = None;
        }
        if let Some(place) = &inside {
            let open = block.commands.iter_mut().filter(|command| command.namespace.is_none() && !command.in_container);
            open.for_each(|command| command.namespace = Some(place.clone()));
        }
        let away: BTreeSet<&str> = block.commands.iter().filter_map(|command| command.host.as_deref()).collect();
        let site = match away.iter().next() {
            None => hosts.enter(block.host),
            Some(only) if away.len() == 1 => {
                let name = (*only).to_owned();
                hosts.enter(block.host);
                hosts.visit(&name)
            }
            // Lines of several hosts that nothing tells apart are of none.
            Some(_) => {
                understanding.add(file, &block.lines, &vec![false; block.lines.len()]);
                continue;
            }
        };
        file.clone_into(&mut site.file);
        site.heard |=
            block.commands.iter().any(|command| block.dollar || tools::all().any(|tool| (tool.answers)(command)));
        output(&block.lines, &block.commands, site, understanding);
        let Some(last) = block.commands.last() else { continue };
        if last.program == "ssh"
            && let Some(host) = &last.host
        {
            hosts.visit(host);
            hosts.stay();
        }
        let is_shell = ["sh", "bash", "ash", "zsh"].contains(&last.program.as_str()) && last.arguments.is_empty();
        if is_shell && (last.in_container || last.namespace.is_some()) {
            inside = Some(namespace_of(last));
        }
    }
}

/// Most commands behind the present one that are asked whether a line is theirs.
const AHEAD: usize = 32;

/// Cuts the lines at the prompts.
fn blocks<'a>(lines: &[Line<'a>], understanding: &mut Understanding) -> Vec<Block<'a>> {
    let mut blocks = vec![Block { host: None, dollar: false, commands: Vec::new(), lines: Vec::new() }];
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let typed = prompt::typed(line.text);
        let text = match &typed {
            Some(typed) => Some(typed.text),
            None => prompt::plain(line.text),
        };
        let Some(text) = text else {
            if let Some(block) = blocks.last_mut() {
                block.lines.push(*line);
            }
            continue;
        };
        understanding.took(1);
        let mut text = text.to_owned();
        // A command that goes on on the next line.
        while text.ends_with('\\')
            && let Some(next) = lines.get(at)
        {
            text.pop();
            text.push_str(next.text.trim_start());
            understanding.took(1);
            at += 1;
        }
        let host = typed.and_then(|typed| typed.host);
        let dollar = host.is_some() || line.text.trim_start().starts_with('$');
        blocks.push(Block { host, dollar, commands: command::parse(&text, line.number), lines: Vec::new() });
    }
    blocks
}

/// Hands the lines of an output to the readers of the tools: first to those that the commands name, in their order, else
/// to the one whose output begins so.
pub(super) fn output(lines: &[Line<'_>], commands: &[Command], site: &mut Site, understanding: &mut Understanding) {
    let mut cursor = Cursor::new(lines);
    let answers = |command| tools::all().filter(|tool| (tool.answers)(command)).collect();
    let readers: Vec<Vec<&Tool>> = commands.iter().map(answers).collect();
    let mut current = 0;
    loop {
        cursor.skip_blank();
        let Some(line) = cursor.peek() else { break };
        let named = (current..commands.len().min(current + AHEAD))
            .find(|at| readers[*at].iter().any(|tool| attempt(tool, &mut cursor, Some(&commands[*at]), site)));
        if let Some(at) = named {
            current = at;
            continue;
        }
        let command = commands.get(current);
        let begun = tools::all().any(|tool| (tool.begins)(&cursor) && attempt(tool, &mut cursor, None, site));
        if begun {
            continue;
        }
        if is_of_the_shell(line.text, command) {
            cursor.take();
        } else {
            cursor.pass();
        }
    }
    understanding.add(&site.file, lines, cursor.understood());
}

/// Lets a tool read; true where it took or passed a line.
fn attempt(tool: &Tool, cursor: &mut Cursor<'_>, command: Option<&Command>, site: &mut Site) -> bool {
    let before = cursor.position();
    site.tool = tool.name;
    site.namespace = command.map_or_else(String::new, namespace_of);
    (tool.read)(cursor, &mut Intake { site, command });
    site.namespace.clear();
    let spoke = cursor.position() > before;
    site.heard |= spoke;
    spoke
}

/// The network namespace that a command ran in; each container counts as one.
fn namespace_of(command: &Command) -> String {
    match (&command.namespace, command.in_container, &command.container) {
        (Some(name), ..) => name.clone(),
        (None, true, Some(name)) => format!("container {name}"),
        (None, true, None) => "container".to_owned(),
        (None, false, _) => String::new(),
    }
}

/// Lines that the shell or a program prints instead of an output, and echoes.
fn is_of_the_shell(text: &str, command: Option<&Command>) -> bool {
    let text = text.trim();
    let complaints = ["command not found", ": not found", "No such file or directory", "Permission denied"];
    let echoed = command.is_some_and(|command| {
        command.program == "echo" && command.arguments.join(" ").trim_start_matches("-e ").trim() == text
    });
    echoed
        || complaints.iter().any(|complaint| text.ends_with(complaint))
        || text.chars().all(|char| "-=*_~+#.".contains(char))
}

/// The first host of a text, and how much of it was understood.
#[cfg(test)]
pub(super) fn one(text: &str) -> (crate::snapshot::Snapshot, Understanding) {
    let (hosts, understanding) = read(text, "-");
    let site = hosts.into_sites().into_iter().next();
    (site.map(|(_, site)| site.finish()).unwrap_or_default(), understanding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_stay_apart() {
        let text = "root@a:~# ethtool -g eth0\nRing parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\n\
                    Current hardware settings:\nRX:\t\t512\nroot@b:~# ethtool -g eth0\nRing parameters for eth0:\n\
                    Pre-set maximums:\nRX:\t\t8184\nCurrent hardware settings:\nRX:\t\t2048\n";
        let (hosts, _) = read(text, "-");
        let rings: Vec<_> = hosts
            .into_sites()
            .into_iter()
            .map(|(name, site)| {
                let snapshot = site.finish();
                (name.unwrap(), *snapshot.interfaces[0].ring.rx.known().unwrap())
            })
            .collect();
        assert_eq!(rings, [("a".to_owned(), 512), ("b".to_owned(), 2048)]);
    }

    #[test]
    fn what_ran_elsewhere_is_not_of_this_host() {
        let ring = |rx: u32| {
            format!("Ring parameters for eth0:\nPre-set maximums:\nRX: 4096\nCurrent hardware settings:\nRX: {rx}\n")
        };
        let typed = |command: &str, rx: u32| format!("{command}\n{}", ring(rx));
        for (away, there) in [
            (typed("root@h:~# ssh nas ethtool -g eth0", 256), "nas"),
            (format!("root@h:~# ssh nas\n{}", typed("$ ethtool -g eth0", 256)), "nas"),
        ] {
            let text = typed("root@h:~# ethtool -g eth0", 512) + &away;
            let sites = read(&text, "-").0.into_sites();
            let rings: Vec<_> = sites
                .into_iter()
                .map(|(name, site)| (name.unwrap(), *site.finish().interfaces[0].ring.rx.known().unwrap()))
                .collect();
            assert_eq!(rings, [("h".to_owned(), 512), (there.to_owned(), 256)], "{away}");
        }
        for away in [
            typed("# docker exec web ethtool -g eth0", 256),
            format!("# docker exec -it web sh\n{}", typed("/ # ethtool -g eth0", 256)),
            format!("# ip netns exec blue bash\n{}", typed("# ethtool -g eth0", 256)),
        ] {
            let snapshot = read(&(typed("# ethtool -g eth0", 512) + &away), "-").0.into_sites().remove(0).1.finish();
            let rings: Vec<_> =
                snapshot.interfaces.iter().map(|one| (one.namespace.is_empty(), one.ring.rx.known())).collect();
            assert_eq!(rings, [(true, Some(&512)), (false, Some(&256))], "{away}");
        }
        let (hosts, understanding) =
            read(&format!("# for h in a b; do ssh $h ethtool -g eth0; done\n{}{}", ring(1), ring(2)), "-");
        assert!(hosts.into_sites().is_empty());
        assert_eq!(understanding.left.len(), 10);
    }

    #[test]
    fn several_commands_of_one_line_find_their_outputs() {
        let text = "$ x=\"eth7\"; echo \"$x\"; ethtool -g $x; ethtool -a $x\neth7\nRing parameters for eth7:\n\
                    Pre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t512\n\n\
                    Pause parameters for eth7:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\nwhat is this\n";
        let (hosts, understanding) = read(text, "post.txt");
        let snapshot = hosts.into_sites().remove(0).1.finish();
        let interface = snapshot.interface("eth7").unwrap();
        assert_eq!((interface.ring.rx.known(), interface.pause.rx.known()), (Some(&512), Some(&true)));
        assert_eq!(snapshot.interfaces.len(), 1);
        assert_eq!((understanding.lines, understanding.read), (12, 11));
        assert_eq!(understanding.left[0].text, "what is this");
        assert_eq!(understanding.left[0].line, 13);
    }
}
