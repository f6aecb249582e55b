//! The hosts of a container: which member is of which, and in which order the members of one are read.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::super::Captured;
use super::super::archive::printable;
use super::super::clean;
use super::super::command::Command;
use super::super::site::Site;
use super::super::transcript::{self, Hosts};
use super::super::understood::Understanding;
use super::blocks::{self, Style};
use super::bundle::SNAPSHOT;
use super::place::{Place, What, is_read, process_net, what};
use super::shelf::{Member, Shelf};
use super::{sos, typed};
use crate::formats::cursor::Line;
use crate::reading::{Gap, GapKind, Reading};
use crate::snapshot::{DocumentError, Interface, SCHEMA, SampleSource, Snapshot};

/// Members of one host.
#[derive(Default)]
struct Group {
    members: Vec<(String, Member)>,
    links: Vec<(String, String)>,
}

/// What a container holds.
#[derive(Default)]
pub(in crate::capture) struct Found {
    /// The hosts in the order of their folders.
    pub hosts: Vec<Captured>,
    /// What was left out, to be told.
    pub notes: Vec<String>,
    /// What is broken or missing.
    pub lost: Vec<String>,
}

/// Reads the hosts of a container.
pub(in crate::capture) fn read_all(shelf: Shelf) -> Found {
    let Shelf { mut members, links, notes, bundles, .. } = shelf;
    let mut found = Found { notes, ..Found::default() };
    for root in bundles.roots() {
        let path = |name: &str| if root.is_empty() { name.to_owned() } else { format!("{root}/{name}") };
        let snapshot = members.remove(&path(SNAPSHOT));
        members.retain(|path, _| !is_below(&root, path));
        for (is_lost, text) in bundles.changed(&root) {
            let told = if is_lost { &mut found.lost } else { &mut found.notes };
            told.push(path(&printable(&text)));
        }
        let read = match &snapshot {
            Some(member) if member.cut => Err("longer than what is kept of an input; left out".to_owned()),
            Some(member) => captured(&member.text).map_err(|why| format!("this snapshot is broken: {why}")),
            None => Err("is not there, so nothing is known of the host".to_owned()),
        };
        match read {
            Ok(snapshot) => found.hosts.push(Captured { snapshot, place: root, understanding: None }),
            Err(why) => found.lost.push(format!("{}: {why}", path(SNAPSHOT))),
        }
    }
    for (root, group) in groups(members, links) {
        found.hosts.extend(read(&root, group, &mut found.notes));
    }
    found.hosts.sort_by(|a, b| a.place.cmp(&b.place));
    found
}

fn is_below(root: &str, path: &str) -> bool {
    root.is_empty() || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
}

/// A snapshot of our own: what was live when it was written is a capture now.
fn captured(text: &str) -> Result<Snapshot, DocumentError> {
    let mut snapshot = Snapshot::from_json(text)?;
    if snapshot.sample.source == SampleSource::Live {
        snapshot.sample.source = SampleSource::Bundle;
    }
    Ok(snapshot)
}

/// Sorts the members by the folders of their hosts.
fn groups(members: BTreeMap<String, Member>, links: BTreeMap<String, String>) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let mut loose: Vec<(String, Member)> = Vec::new();
    for (path, member) in members {
        let place = Place::of(&path);
        let root = match member.style {
            Some(Style::Pvereport) => path.clone(),
            Some(Style::Supportconfig) => path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
            None if is_snapshot(&member) => path.clone(),
            None if place.in_tree => place.root.to_owned(),
            None => {
                loose.push((path, member));
                continue;
            }
        };
        groups.entry(root).or_default().members.push((path, member));
    }
    for (path, target) in links {
        let root = Place::of(&path).root;
        if let Some(group) = groups.get_mut(root) {
            group.links.push((path, target));
        }
    }
    // A file beside the folders of a host is of that host.
    let mut homeless = Vec::new();
    for (path, member) in loose {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        let mut folders = folders.rev().chain(std::iter::once(""));
        let home = folders.find(|folder| groups.contains_key(*folder)).map(str::to_owned);
        match home {
            Some(home) => groups.entry(home).or_default().members.push((path, member)),
            None => homeless.push((path, member)),
        }
    }
    let paths: Vec<&str> = homeless.iter().map(|(path, _)| path.as_str()).collect();
    let mut roots: BTreeMap<String, String> = BTreeMap::new();
    split("", &paths, &mut roots);
    for (path, member) in homeless {
        let root = roots.remove(&path).unwrap_or_default();
        groups.entry(root).or_default().members.push((path, member));
    }
    groups
}

fn is_snapshot(member: &Member) -> bool {
    member.text.trim_start().starts_with('{') && member.text.contains(SCHEMA)
}

/// Finds the folder of the host of each path. Folders beside each other that hold the output of the same command, or files
/// of the same name, are of different hosts.
fn split(prefix: &str, paths: &[&str], roots: &mut BTreeMap<String, String>) {
    let below = |path: &str| if prefix.is_empty() { path.to_owned() } else { path[prefix.len() + 1..].to_owned() };
    let mut folders: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut own = Vec::new();
    for path in paths {
        match below(path).split_once('/') {
            Some((folder, _)) => folders.entry(folder.to_owned()).or_default().push(path),
            None => own.push(*path),
        }
    }
    let mut met: BTreeSet<String> = BTreeSet::new();
    let mut alike = false;
    for (folder, paths) in &folders {
        let keys: BTreeSet<String> = paths
            .iter()
            .map(|path| match typed::of_loose(path).first() {
                Some(command) => format!("{} {}", command.program, command.arguments.join(" ")),
                None => below(path)[folder.len() + 1..].to_owned(),
            })
            .collect();
        alike |= keys.iter().any(|key| met.contains(key));
        met.extend(keys);
    }
    if alike {
        for (folder, paths) in folders {
            split(&join(prefix, &folder), &paths, roots);
        }
        roots.extend(own.into_iter().map(|path| (path.to_owned(), prefix.to_owned())));
        return;
    }
    // One folder for all may hold the hosts; one that does not is none itself.
    if own.is_empty()
        && let (1, Some((folder, paths))) = (folders.len(), folders.iter().next())
    {
        let mut deeper = BTreeMap::new();
        split(&join(prefix, folder), paths, &mut deeper);
        let mut found = deeper.values();
        let first = found.next();
        if found.any(|root| Some(root) != first) {
            return roots.extend(deeper);
        }
    }
    roots.extend(paths.iter().map(|path| ((*path).to_owned(), prefix.to_owned())));
}

fn join(prefix: &str, folder: &str) -> String {
    if prefix.is_empty() { folder.to_owned() } else { format!("{prefix}/{folder}") }
}

/// How the text of a member is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// As the output of one known command.
    Output,
    /// As one text with headings.
    Styled(Style),
    /// As what a terminal showed, perhaps of the command that its name tells of.
    Terminal,
}

/// A member whose turn comes.
struct Job {
    order: u8,
    path: String,
    member: Member,
    commands: Vec<Command>,
    how: How,
}

/// Orders from this one on are of logs.
const LOGS: u8 = 7;

/// True for a command that lists all interfaces of the host.
fn is_link_list(command: &Command) -> bool {
    let mut words = command.arguments.iter().filter(|word| !word.starts_with('-')).map(String::as_str);
    let object = words.next();
    let rest = words.all(|word| ["show", "list", "ls"].contains(&word));
    let shows = matches!(object, Some("link" | "l" | "a" | "addr" | "address"));
    command.program == "ip" && shows && rest && command.namespace.is_none() && !command.is_filtered()
}

/// What has to be known first: the name of the host, its CPUs, its interfaces; logs come last, as they are sieved by names.
fn order(command: Option<&Command>) -> u8 {
    let Some(command) = command else { return 5 };
    let file = command.file().unwrap_or_default();
    let object = command.arguments.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let shows_links = command.program == "ip" && ["link", "l", "a", "addr", "address"].contains(&object);
    match command.program.as_str() {
        "hostname" | "uname" | "hostnamectl" | "date" | "uptime" => 0,
        "lscpu" => 1,
        "cat" if file == "/proc/cpuinfo" || file.ends_with("-release") => 1,
        "ls" => 3,
        // What says most of the interfaces wins over what says less and comes later.
        "ip" if shows_links => {
            if command.has("link") {
                3
            } else {
                2
            }
        }
        "cat" if file.starts_with("/proc/net/") => 4,
        "dmesg" | "journalctl" | "logread" => 8,
        "cat" if file.starts_with("/var/log/") => 7,
        "netstat" | "nstat" => 6,
        _ => 5,
    }
}

fn read(root: &str, group: Group, notes: &mut Vec<String>) -> Vec<Captured> {
    let inside = |path: &str| path[if root.is_empty() { 0 } else { (root.len() + 1).min(path.len()) }..].to_owned();
    let is_sos = group.members.iter().any(|(path, _)| inside(path).starts_with("sos_"));
    let style = group.members.iter().find_map(|(_, member)| member.style);
    let kind = match style {
        Some(style) => style.source(),
        None if is_sos => SampleSource::Sosreport,
        None => SampleSource::Directory,
    };
    let mut jobs = match jobs(root, group, is_sos, style.is_some(), notes) {
        Ok(jobs) => jobs,
        Err(snapshot) => return vec![Captured { snapshot: *snapshot, place: root.to_owned(), understanding: None }],
    };
    let lists_links = jobs.iter().any(|job| job.commands.first().is_some_and(is_link_list) && !job.member.cut);
    jobs.sort_by(|a, b| (a.order, &a.path).cmp(&(b.order, &b.path)));
    let mut hosts = Hosts::of(kind);
    let mut understanding = Understanding::default();
    let mut names: Option<Names> = None;
    // The interfaces that the host has, once all of them were listed.
    let mut listed: Option<BTreeSet<String>> = None;
    for mut job in jobs {
        let site = hosts.enter(None);
        if job.order >= LOGS && lists_links {
            listed.get_or_insert_with(|| site.names().map(str::to_owned).collect());
        }
        site.file = job.path;
        let lines = || lines(&job.member.text, job.member.first_line);
        match job.how {
            How::Output => {
                if job.order > 3 {
                    let names = names.get_or_insert_with(|| Names::of(site));
                    for command in &mut job.commands {
                        names.mend(command);
                    }
                }
                let lines = lines();
                let lines: Vec<Line<'_>> = lines.iter().map(|(number, text)| Line { number: *number, text }).collect();
                transcript::output(&lines, &job.commands, site, &mut understanding);
            }
            How::Styled(style) => {
                let lines = lines();
                let lines: Vec<Line<'_>> = lines.iter().map(|(number, text)| Line { number: *number, text }).collect();
                blocks::read(style, &lines, site, &mut understanding);
            }
            How::Terminal => {
                let file = std::mem::take(&mut site.file);
                transcript::read_into(&job.member.text, &file, job.commands, &mut hosts, &mut understanding);
            }
        }
    }
    let mut found = Vec::new();
    for (name, mut site) in hosts.into_sites() {
        site.name_host(name);
        if let Some(name) = sos::host_of(root).filter(|_| is_sos) {
            let source = site.inferred("the name of the folder");
            site.snapshot.host.name.fill(Reading::Known(name.to_owned(), source));
        }
        if site.has_too_many() {
            notes.push(format!("{root}: names more interfaces than are kept; the rest was left out"));
        }
        let mut snapshot = site.finish();
        if let Some(listed) = &listed {
            // A log tells of names that an interface bore for a moment, or bears in a container.
            snapshot.interfaces.retain(|one| !one.namespace.is_empty() || listed.contains(&one.name));
        }
        forget_made_up(&mut snapshot, root, notes);
        let understanding = Some(understanding.clone());
        found.push(Captured { snapshot, place: root.to_owned(), understanding });
    }
    found
}

/// What is read of each member, and as what. A snapshot of our own stands for itself.
fn jobs(
    root: &str,
    group: Group,
    is_sos: bool,
    is_styled: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<Job>, Box<Snapshot>> {
    let inside = |path: &str| path[if root.is_empty() { 0 } else { (root.len() + 1).min(path.len()) }..].to_owned();
    let known = known_commands(&group, &inside);
    let namespaces = namespaces(&group, &known, &inside);
    let process = process(&group, &inside, notes);
    let mut jobs: Vec<Job> = Vec::new();
    let mut met: BTreeSet<(String, Vec<String>, Option<String>)> = BTreeSet::new();
    for (path, member) in group.members {
        if path == root && is_snapshot(&member) {
            match captured(&member.text) {
                Ok(snapshot) => return Err(Box::new(snapshot)),
                Err(why) => notes.push(format!("{path}: this snapshot is broken: {why}")),
            }
            continue;
        }
        if let Some(style) = member.style {
            jobs.push(Job { order: 5, path, member, commands: Vec::new(), how: How::Styled(style) });
            continue;
        }
        let rest = inside(&path);
        let place = Place::of(&rest);
        let (mut commands, how) = match what(place, &namespaces) {
            What::Output(_) if process_net(&rest).is_some_and(|(of, _)| Some(of) != process.as_deref()) => continue,
            What::Output(commands) => (known.get(&rest).map_or(commands, |command| vec![command.clone()]), How::Output),
            // What lies beside the folders of a report is a link into them.
            What::Loose if !is_sos && !is_styled => (typed::of_loose(&rest), How::Terminal),
            What::Manifest | What::Namespaces | What::Loose | What::Nothing => continue,
        };
        let of_file =
            |command: &Command| (command.program.clone(), command.arguments.clone(), command.namespace.clone());
        if how == How::Output && !commands.iter().all(|command| met.insert(of_file(command))) {
            continue;
        }
        if member.cut {
            for command in &mut commands {
                command.filters.push(vec!["head".to_owned()]);
            }
        }
        jobs.push(Job { order: order(commands.first()), path, member, commands, how });
    }
    for (path, target) in group.links {
        if inside(&path).starts_with("sys/class/net/") {
            let name = path.rsplit('/').next().unwrap_or_default();
            let member = Member { text: format!("{name} -> {target}"), first_line: 1, ..Member::default() };
            let command = Command {
                program: "ls".to_owned(),
                arguments: vec!["-l".to_owned(), "/sys/class/net".to_owned()],
                ..Command::default()
            };
            jobs.push(Job { order: order(Some(&command)), path, member, commands: vec![command], how: How::Output });
        }
    }
    Ok(jobs)
}

/// The commands that a manifest names, by the path of their output.
fn known_commands(group: &Group, inside: &dyn Fn(&str) -> String) -> BTreeMap<String, Command> {
    let manifest = group.members.iter().find(|(path, _)| inside(path) == "sos_reports/manifest.json");
    let mut commands = manifest.map(|(_, member)| sos::commands(&member.text)).unwrap_or_default();
    commands.retain(|_, command| is_read(command));
    commands
}

/// Network namespaces that a report names, the longest first, so that no name is taken for the beginning of another.
fn namespaces(group: &Group, known: &BTreeMap<String, Command>, inside: &dyn Fn(&str) -> String) -> Vec<String> {
    let mut names: BTreeSet<String> = known.values().filter_map(|command| command.namespace.clone()).collect();
    for (path, member) in &group.members {
        let path = inside(path);
        if path.ends_with("/ip_netns") {
            names.extend(sos::namespaces(&member.text));
        }
        let folder = path.split_once("/namespaces/").and_then(|(_, rest)| rest.split_once('/'));
        names.extend(folder.map(|(name, _)| name.to_owned()));
    }
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names
}

/// The process whose `/proc/PROCESS/net` shows the namespace of the host: the one that collected, to which `/proc/self` leads.
fn process(group: &Group, inside: &dyn Fn(&str) -> String, notes: &mut Vec<String>) -> Option<String> {
    let link = group.links.iter().find(|(path, _)| inside(path) == "proc/self");
    if let Some((_, target)) = link {
        return target.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    }
    let of_process = |path: &str| process_net(&inside(path)).map(|(process, _)| process.to_owned());
    let found: BTreeSet<String> = group.members.iter().filter_map(|(path, _)| of_process(path)).collect();
    let init = ["self", "thread-self", "1"].into_iter().find(|name| found.contains(*name)).map(str::to_owned);
    if init.is_none() && found.len() > 1 {
        notes.push(format!(
            "/proc of {} processes, and nothing says which is in the host's namespace; left out",
            found.len()
        ));
    }
    init.or_else(|| {
        found.into_iter().next().filter(|_| {
            group.members.iter().filter_map(|(path, _)| of_process(path)).collect::<BTreeSet<_>>().len() == 1
        })
    })
}

/// Numbered lines of an output without what a terminal may have added. Nearly always nothing has to be copied.
fn lines(text: &str, first: u32) -> Vec<(u32, Cow<'_, str>)> {
    let plain = !text.bytes().any(|byte| byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f);
    let line = |raw| if plain { Cow::Borrowed(clean::kept(raw)) } else { Cow::Owned(clean::line(raw)) };
    text.lines().zip(first..).map(|(raw, number)| (number, line(raw))).collect()
}

/// The interfaces of a host by what the name of a file makes of them.
struct Names(BTreeMap<(String, String), Option<String>>);

impl Names {
    fn of(site: &Site) -> Self {
        let mut names = BTreeMap::new();
        for Interface { name, namespace, .. } in &site.snapshot.interfaces {
            let key = (namespace.clone(), typed::mangled(name));
            names.entry(key).and_modify(|held| *held = None).or_insert_with(|| Some(name.clone()));
        }
        Self(names)
    }

    /// Puts the name of the interface into a command that has it from the name of a file, where just one fits.
    fn mend(&self, command: &mut Command) {
        if !["ethtool", "tc"].contains(&command.program.as_str()) || self.0.is_empty() {
            return;
        }
        let namespace = command.namespace.clone().unwrap_or_default();
        if let Some(last) = command.arguments.last_mut()
            && let Some(Some(name)) = self.0.get(&(namespace, last.clone()))
        {
            last.clone_from(name);
        }
    }
}

/// Takes out the addresses that `sos clean` made up: different ones became equal.
fn forget_made_up(snapshot: &mut Snapshot, root: &str, notes: &mut Vec<String>) {
    let made_up = |interface: &Interface| interface.address.known().is_some_and(|address| sos::is_made_up(address));
    if !snapshot.interfaces.iter().any(made_up) {
        return;
    }
    let gap = Gap::new(GapKind::NotInCapture).detail("sos clean put other addresses in the place of the real ones");
    let gap = snapshot.origins.gap(gap);
    for interface in &mut snapshot.interfaces {
        for leaf in [&mut interface.address, &mut interface.permanent_address, &mut interface.bond.partner_address] {
            if leaf.known().is_some() {
                *leaf = Reading::Unknown(gap);
            }
        }
        if interface.addresses.known().is_some() {
            interface.addresses = Reading::Unknown(gap);
        }
    }
    let root = if root.is_empty() { String::new() } else { format!("{root}: ") };
    notes.push(format!("{root}sos clean put other addresses in the place of the real ones; nothing is judged by them"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(paths: &[&str]) -> Vec<String> {
        let mut found = BTreeMap::new();
        split("", paths, &mut found);
        paths.iter().map(|path| found[*path].clone()).collect()
    }

    #[test]
    fn folders_with_the_same_outputs_are_hosts() {
        assert_eq!(roots(&["a/ethtool/i/eth0", "a/ethtool/g/eth0", "a/lspci"]), ["", "", ""]);
        assert_eq!(roots(&["x/a/ethtool/i/eth0", "x/a/lspci", "x/b/lspci", "x/c/other"]), ["x/a", "x/a", "x/b", "x/c"]);
        assert_eq!(roots(&["before/notes.txt", "after/notes.txt"]), ["before", "after"]);
        assert_eq!(roots(&["ip_addr", "lspci", "d/ethtool_eth0"]), ["", "", ""]);
    }
}
