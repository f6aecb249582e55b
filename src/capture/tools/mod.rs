//! The tools whose output is read: how each is recognised, and what its rows mean for a host.

mod count;
mod cpu;
mod dmi;
mod ethtool;
mod hardware;
mod host;
mod ifconfig;
mod ip;
mod kernel;
mod log;
mod netstat;
mod nstat;
mod pci;
mod ping;
mod proc;
mod rdma;
mod results;
mod ss;
mod stack;
mod state;
mod storage;
mod sysctl;
mod sysfs;

use super::command::Command;
use super::site::Site;
use crate::formats::cursor::Cursor;

/// A tool whose output is read.
pub(super) struct Tool {
    /// As it is named in sources.
    pub name: &'static str,
    /// True for a command that prints this output.
    pub answers: fn(&Command) -> bool,
    /// True where the next lines are the beginning of its output, though nobody says so.
    pub begins: fn(&Cursor<'_>) -> bool,
    /// Takes the lines that are its own, and puts what they say into the site. It may take none.
    pub read: fn(&mut Cursor<'_>, &mut Intake<'_>),
}

/// What a tool's reader has at hand.
pub(super) struct Intake<'s> {
    /// The host that the output is of.
    pub site: &'s mut Site,
    /// The command that printed it, where it is known.
    pub command: Option<&'s Command>,
}

impl Intake<'_> {
    /// True where lines may be missing without a trace.
    pub fn is_filtered(&self) -> bool {
        self.command.is_some_and(Command::is_filtered)
    }

    /// The interface for an output that does not name it: what the command named; else the only interface that the
    /// capture has named so far; else a stand-in that says where the output stands.
    pub fn interface_or_stand_in(&mut self, named: Option<&str>, line: u32) -> String {
        if let Some(name) = named.filter(|name| is_interface_name(name)) {
            return name.to_owned();
        }
        let mut names = self.site.names().filter(|name| *name != "lo");
        match (names.next(), names.next()) {
            (Some(only), None) => only.to_owned(),
            _ => format!("{}{line}", crate::snapshot::STAND_IN),
        }
    }
}

/// True for a word that can be an interface's name. The kernel takes more, but a capture that is cut holds anything.
pub(super) fn is_interface_name(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 15
        && !word.contains(['/', ' ', '\t', '$', ':', '*'])
        && word != "."
        && word != ".."
}

/// Path and value of a line `path:value`, as `grep . FILES` prints it. PCI addresses in a path hold colons too.
fn path_value(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with('/') {
        return None;
    }
    let from = text.find("/net/").unwrap_or(0);
    let at = from + text[from..].find(':')?;
    let (path, value) = (&text[..at], &text[at + 1..]);
    (!path.contains(char::is_whitespace)).then_some((path, value))
}

/// The name of an interface that a tool may have cut to `most` characters: the only one met so far that begins so.
fn whole_name(intake: &Intake<'_>, printed: &str, most: usize) -> String {
    if printed.len() < most || intake.site.knows(printed) {
        return printed.to_owned();
    }
    let mut names = intake.site.names().filter(|name| name.starts_with(printed));
    match (names.next(), names.next()) {
        (Some(only), None) => only.to_owned(),
        _ => printed.to_owned(),
    }
}

/// What follows once all outputs are read.
pub(super) fn finish(site: &mut Site) {
    hardware::finish(site);
}

/// All tools. The order decides where an output begins like that of several.
pub(super) fn all() -> impl Iterator<Item = &'static Tool> {
    [
        log::TOOLS,
        count::TOOLS,
        ethtool::more::TOOLS,
        ethtool::TOOLS,
        pci::TOOLS,
        results::TOOLS,
        stack::TOOLS,
        hardware::TOOLS,
        rdma::TOOLS,
        storage::TOOLS,
        dmi::TOOLS,
        ip::TOOLS,
        ifconfig::TOOLS,
        netstat::TOOLS,
        nstat::TOOLS,
        ss::TOOLS,
        sysctl::TOOLS,
        sysfs::TOOLS,
        proc::TOOLS,
        kernel::TOOLS,
        host::TOOLS,
        cpu::TOOLS,
        state::TOOLS,
        ping::TOOLS,
    ]
    .into_iter()
    .flatten()
}
