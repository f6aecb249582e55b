//! `ip`: interfaces, addresses, routes, rules and neighbours.

mod links;
mod routes;

pub(super) use routes::{Way, put as put_ways};

use super::super::command::Command;
use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ip::json::{self, Document};
use crate::formats::ip::neighbour::{self, Neighbour};
use crate::formats::ip::{brief, link, route, rule};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "ip",
        answers: |command| asks(command, &["link", "address"]),
        begins: begins_links,
        read: links::read,
    },
    Tool {
        name: "ip route",
        answers: |command| asks(command, &["route"]),
        begins: |cursor| cursor.peek().is_some_and(|line| route::begins(line.text)),
        read: routes::read,
    },
    Tool {
        name: "ip rule",
        answers: |command| asks(command, &["rule"]),
        begins: |cursor| cursor.peek().is_some_and(|line| rule::row(line.text).is_some()),
        read: rules,
    },
    Tool {
        name: "ip neigh",
        answers: |command| asks(command, &["neighbour", "neighbor"]),
        begins: |cursor| cursor.peek().is_some_and(|line| neighbour::row(line.text).is_some()),
        read: neighbours,
    },
    Tool {
        name: "ip maddr",
        answers: |command| asks(command, &["maddress"]),
        begins: |_| false,
        read: |cursor, _| {
            let row = |text: &str| {
                let first = text.split_ascii_whitespace().next()?;
                let index = first.strip_suffix(':').is_some_and(|index| index.parse::<u32>().is_ok());
                (index || matches!(first, "link" | "inet" | "inet6")).then_some(())
            };
            while cursor.take_if(row).is_some() {}
        },
    },
    Tool {
        name: "arp",
        answers: |command| command.program == "arp" || command.files().contains(&"/proc/net/arp"),
        begins: |cursor| cursor.peek().is_some_and(|line| neighbour::is_headline(line.text)),
        read: arp,
    },
];

/// What an `ip` command asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked<'c> {
    /// `link`, `addr`, `route` ..., as it was typed.
    object: &'c str,
    /// Namespace of `-n`.
    namespace: Option<&'c str>,
    /// The one interface that it shows.
    device: Option<&'c str>,
    /// True where it changes something instead of showing it.
    changes: bool,
    /// True where it shows only some of what there is.
    picks: bool,
    /// The family that it is about, where one is named.
    family: Option<&'c str>,
}

impl Asked<'_> {
    /// True where it is about this object, whose name may be shortened.
    fn is_about(&self, object: &str) -> bool {
        !self.object.is_empty() && object.starts_with(self.object)
    }
}

/// Options of ip that have a value.
const VALUED: [&str; 9] = ["-n", "-netns", "-f", "-family", "-l", "-loops", "-rc", "-rcvbuf", "-b"];
/// Verbs that show.
const SHOWS: [&str; 7] = ["s", "sh", "show", "l", "ls", "list", "lst"];
/// Words of a filter with a value.
const FILTERS: [&str; 9] = ["master", "type", "vrf", "scope", "to", "label", "group", "table", "proto"];

fn asked(command: &Command) -> Option<Asked<'_>> {
    if command.program != "ip" {
        return None;
    }
    let mut words = command.arguments.iter().map(String::as_str);
    let mut asked = Asked::default();
    loop {
        let word = words.next()?;
        if !word.starts_with('-') {
            asked.object = word;
            break;
        }
        let word = word.strip_prefix("--").map_or(word, |_| &word[1..]);
        if VALUED.contains(&word) {
            let value = words.next()?;
            if word.starts_with("-n") {
                asked.namespace = Some(value);
            } else if word.starts_with("-f") {
                asked.family = Some(value);
            }
        }
        match word {
            "-4" => asked.family = Some("inet"),
            "-6" => asked.family = Some("inet6"),
            _ => {}
        }
    }
    // Of routes, the other family has a table of its own.
    asked.picks = asked.family.is_some() && !asked.is_about("route");
    let rest: Vec<&str> = words.collect();
    let rest = match rest.split_first() {
        Some((verb, rest)) if SHOWS.contains(verb) => rest,
        Some((&"get", _)) => {
            asked.picks = true;
            return Some(asked);
        }
        Some((&("dev" | "up"), _)) | None => &rest[..],
        Some(_) => {
            asked.changes = true;
            return Some(asked);
        }
    };
    let mut rest = rest.iter().copied();
    while let Some(word) = rest.next() {
        match word {
            "dev" => asked.device = rest.next(),
            // All tables hold the main one.
            "table" if asked.is_about("route") => {
                asked.picks |= rest.next().is_none_or(|table| !matches!(table, "all" | "main" | "254"));
            }
            _ if FILTERS.contains(&word) => {
                asked.picks = true;
                rest.next();
            }
            "up" | "nomaster" | "primary" | "secondary" | "dynamic" | "permanent" | "default" => asked.picks = true,
            _ => asked.device = Some(word),
        }
    }
    Some(asked)
}

/// True for an `ip` command about one of these objects, whose names may be shortened.
fn asks(command: &Command, objects: &[&str]) -> bool {
    asked(command).is_some_and(|asked| objects.iter().any(|object| object.starts_with(asked.object)))
}

fn begins_links(cursor: &Cursor<'_>) -> bool {
    let Some(line) = cursor.peek() else { return false };
    let tells = |brief: brief::Brief| brief.link.is_some() || !brief.addresses.is_empty();
    link::begins(line.text) || brief::parse(line.text).is_some_and(tells) || line.text.starts_with("[{\"ifindex\":")
}

/// Takes a document of `ip -j`.
fn document(cursor: &mut Cursor<'_>) -> Option<Document> {
    let before = cursor.position();
    let value = crate::formats::json::take(cursor)?;
    let found = json::document(&value.value, value.line);
    if found.is_none() {
        cursor.back_to(before);
    }
    found
}

/// Complaints of ip that stand instead of an output.
fn complaint(cursor: &mut Cursor<'_>, intake: &Intake<'_>) {
    const BEGINNINGS: [&str; 8] = [
        "RTNETLINK answers:",
        "Device \"",
        "Cannot ",
        "Error: ",
        "Object \"",
        "Command \"",
        "Dump terminated",
        "Failed to ",
    ];
    if intake.command.is_some_and(|command| command.program == "ip") {
        cursor.take_if(|text| BEGINNINGS.iter().any(|begin| text.trim_start().starts_with(begin)).then_some(()));
    }
}

/// True where the output shows all there is, of the host itself.
fn is_whole(intake: &Intake<'_>, asked: &Asked<'_>) -> bool {
    let named = asked.device.is_some() || asked.picks || asked.namespace.is_some();
    intake.command.is_some() && !named && !intake.is_filtered() && intake.site.namespace.is_empty()
}

fn rules(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let rules = match document(cursor) {
        Some(Document::Rules(rules)) => rules,
        _ => std::iter::from_fn(|| cursor.take_if(rule::row)).map(|at| at.value).collect(),
    };
    complaint(cursor, intake);
    let asked = intake.command.and_then(asked).unwrap_or_default();
    if rules.is_empty() || !is_whole(intake, &asked) {
        return;
    }
    // The three that the kernel makes.
    let own = |rule: &rule::Rule| {
        let table = rule.table.as_deref().unwrap_or_default();
        rule.text.starts_with("from all")
            && ([(0, "local"), (32766, "main"), (32767, "default")].contains(&(rule.priority, table))
                // The one that leads to the table of a VRF is made with the first of them.
                || table == "[l3mdev-table]")
    };
    let others =
        rules.iter().filter(|rule| !own(rule)).map(|rule| format!("{}: {}", rule.priority, rule.text)).collect();
    intake.site.put_host(|host| &mut host.rules, At::new(others, line));
}

fn neighbours(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let found = match document(cursor) {
        Some(Document::Neighbours(found)) => found,
        _ => std::iter::from_fn(|| cursor.take_if(neighbour::row)).map(|at| at.value).collect(),
    };
    complaint(cursor, intake);
    let asked = intake.command.and_then(asked).unwrap_or_default();
    if found.is_empty() || !is_whole(intake, &asked) {
        return;
    }
    let count = |wanted: &dyn Fn(&Neighbour) -> bool| {
        At::new(u32::try_from(found.iter().filter(|row| wanted(row)).count()).unwrap_or(u32::MAX), line)
    };
    let silent = |row: &Neighbour| row.is_counted() && row.state.as_deref() == Some("FAILED");
    let site = &mut *intake.site;
    site.put_host(|host| &mut host.neighbours.v4, count(&|row| row.is_counted() && row.address.is_ipv4()));
    site.put_host(|host| &mut host.neighbours.v6, count(&|row| row.is_counted() && row.address.is_ipv6()));
    site.put_host(|host| &mut host.neighbours.failed, count(&silent));
}

fn arp(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    cursor.take_if(|text| neighbour::is_headline(text).then_some(()));
    let rows: Vec<Neighbour> = std::iter::from_fn(|| cursor.take_if(neighbour::arp_row)).map(|at| at.value).collect();
    let count = rows.iter().filter(|row| row.is_counted()).count();
    cursor.take_if(|text| text.starts_with("Entries: ").then_some(()));
    let all = intake.command.is_some_and(|command| {
        command.program == "arp" && command.arguments.iter().all(|word| word.starts_with('-'))
            || !command.files().is_empty()
    });
    if !rows.is_empty() && all && !intake.is_filtered() && intake.site.namespace.is_empty() {
        let count = At::new(u32::try_from(count).unwrap_or(u32::MAX), line);
        intake.site.put_host(|host| &mut host.neighbours.v4, count);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse;
    use super::*;

    #[test]
    fn commands_name_their_object_and_device() {
        let ask = |text: &str| {
            let command = parse(text, 1).remove(0);
            let asked = asked(&command).unwrap();
            (asked.device.map(str::to_owned), asked.picks, asked.changes, asks(&command, &["link", "address"]))
        };
        let eth0 = || Some("eth0".to_owned());
        for (text, wanted) in [
            ("ip a", (None, false, false, true)),
            ("ip -s -s link show dev eth0", (eth0(), false, false, true)),
            ("ip addr show eth0", (eth0(), false, false, true)),
            ("ip -d -s l sh eth0", (eth0(), false, false, true)),
            ("ip a s eth0 up", (eth0(), true, false, true)),
            ("ip link show master bond0", (None, true, false, true)),
            ("ip -4 addr", (None, true, false, true)),
            ("ip -n blue link", (None, false, false, true)),
            ("ip route get 192.0.2.9", (None, true, false, false)),
            ("ip link set dev eth0 mtu 9000", (None, false, true, true)),
            ("ip --json addr", (None, false, false, true)),
        ] {
            assert_eq!(ask(text), wanted, "{text}");
        }
        let command = parse("ip -n blue link", 1).remove(0);
        assert_eq!(asked(&command).unwrap().namespace, Some("blue"));
        assert_eq!(asked(&parse("ip -s", 1)[0]), None);
    }
}
