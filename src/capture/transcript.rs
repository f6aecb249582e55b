//! Text out of a terminal: cleaned, cut at the prompts and at the signatures of outputs, and handed to the tools' readers.

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
    root: Option<bool>,
    commands: Vec<Command>,
    lines: Vec<Line<'a>>,
}

/// Hosts of a capture, in the order in which they speak.
#[derive(Default)]
pub(super) struct Hosts {
    sites: Vec<(Option<String>, Site)>,
    current: usize,
}

impl Hosts {
    /// The host whose prompt this is. The first named prompt names the host that spoke before without a name.
    fn enter(&mut self, name: Option<&str>) -> &mut Site {
        if self.sites.is_empty() {
            self.sites.push((None, Site::new(SampleSource::Transcript)));
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
                    self.sites.push((Some(name.to_owned()), Site::new(SampleSource::Transcript)));
                    self.sites.len() - 1
                }
            };
        }
        &mut self.sites[self.current].1
    }

    /// The hosts of which something was read.
    pub fn into_sites(self) -> Vec<(Option<String>, Site)> {
        self.sites.into_iter().filter(|(_, site)| !site.is_empty()).collect()
    }
}

/// Reads a text. `file` is its name in sources, `-` for standard input.
pub(super) fn read(text: &str, file: &str) -> (Hosts, Understanding) {
    let cleaned = clean(text);
    let lines: Vec<Line<'_>> =
        cleaned.iter().map(|line| Line { number: line.number, text: line.text.as_str() }).collect();
    let mut understanding = Understanding::default();
    let mut hosts = Hosts::default();
    for block in blocks(&lines, &mut understanding) {
        let site = hosts.enter(block.host);
        file.clone_into(&mut site.file);
        output(&block.lines, &block.commands, site, &mut understanding);
        let _ = block.root;
    }
    (hosts, understanding)
}

/// Most commands behind the present one that are asked whether a line is theirs.
const AHEAD: usize = 32;

/// Cuts the lines at the prompts.
fn blocks<'a>(lines: &[Line<'a>], understanding: &mut Understanding) -> Vec<Block<'a>> {
    let mut blocks = vec![Block { host: None, root: None, commands: Vec::new(), lines: Vec::new() }];
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
        let (host, root) = typed.map_or((None, None), |typed| (typed.host, typed.root));
        blocks.push(Block { host, root, commands: command::parse(&text, line.number), lines: Vec::new() });
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
    site.namespace = match command {
        Some(Command { namespace: Some(name), .. }) => name.clone(),
        Some(Command { in_container: true, .. }) => "container".to_owned(),
        _ => String::new(),
    };
    (tool.read)(cursor, &mut Intake { site, command });
    site.namespace.clear();
    let spoke = cursor.position() > before;
    site.heard |= spoke;
    spoke
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
