//! How a setting that a command changes until the next boot is made to last, in the words of whatever configures the network of
//! this host.

use std::borrow::Cow;

use super::setting::{self, Values};
use crate::facts::Facts;
use crate::formats::shell::shell_quote;
use crate::knowledge::{KeptForm, KeptSetting, Manager};
use crate::rules::schema::Place;

/// How to make a step last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// What configures the network; none where that is not known, or makes no difference.
    pub manager: Option<String>,
    /// In words: where it belongs, and what to know; empty where nothing is to last.
    pub note: String,
    /// Lines for the file or field that the note names.
    pub lines: Vec<String>,
    /// Commands to type.
    pub commands: Vec<String>,
    /// Where the manager is not known: the usual ones, and what each would need in a few words.
    pub likely: Vec<(String, String)>,
}

/// The form for this host of a setting that `commands` change.
pub fn keep(facts: &Facts<'_>, key: &str, place: Place, commands: &[String]) -> Keep {
    let persistence = facts.knowledge().persistence();
    let Some(kept) = persistence.settings.iter().find(|one| one.key == key) else { return Keep::default() };
    if kept.set_by.is_empty() {
        return Keep { note: kept.note.clone(), ..Keep::default() };
    }
    if place != Place::Here {
        let note = "Lost at the next boot of that host; what keeps it depends on what configures its network";
        return Keep { note: note.into(), ..Keep::default() };
    }
    let set: Vec<(&String, Values)> =
        commands.iter().filter_map(|command| Some((command, setting::read(&kept.set_by, command)?))).collect();
    let platform = facts.snapshot().host.platform.known();
    let on = |words: &[String]| platform.is_some_and(|platform| words.contains(platform));
    let interface = set.first().and_then(|(_, values)| values.get("iface"));
    let by_platform = persistence.managers.iter().find(|manager| on(&manager.rules_on));
    if let Some(manager) = by_platform.or_else(|| by_files(facts, &persistence.managers, interface?)) {
        let form = form_of(kept, manager).map(|form| written(form, &set));
        let note = format!("Lost at the next boot: {} has no setting for it", manager.name);
        return Keep { manager: Some(manager.name.clone()), ..form.unwrap_or(Keep { note, ..Keep::default() }) };
    }
    let generic = || persistence.managers.iter().filter(|manager| manager.rules_on.is_empty());
    let usual: Vec<&Manager> = generic().filter(|manager| on(&manager.usual_on)).collect();
    let known = !usual.is_empty();
    let candidates = if known { usual } else { generic().collect() };
    // Where all of them need the same, it does not matter which it is; without a platform it may be an appliance.
    if let Some(any) = kept.forms.get("any")
        && platform.is_some()
        && candidates.iter().all(|manager| !kept.forms.contains_key(&manager.id))
    {
        return written(any, &set);
    }
    let names: Vec<&str> = candidates.iter().map(|manager| manager.name.as_str()).collect();
    let usual = if known { format!("; usual here: {}", names.join(", ")) } else { String::new() };
    let likely = candidates.iter().filter_map(|manager| {
        let form = form_of(kept, manager)?;
        Some((manager.name.clone(), in_words(&form.short, set.first())))
    });
    Keep {
        note: format!("Lost at the next boot; what configures the network of this host was not read{usual}"),
        likely: likely.collect(),
        ..Keep::default()
    }
}

/// The manager whose files name the interface. netplan writes the files of others: where it is one of several, it is the one.
fn by_files<'k>(facts: &Facts<'_>, managers: &'k [Manager], interface: &str) -> Option<&'k Manager> {
    let configured = facts.snapshot().host.configured.known()?;
    let names_it = |scope: &str| scope.split([' ', '=', '[', ']', ',', ';', '"', '\'']).any(|word| word == interface);
    let writes = |manager: &&Manager| {
        !manager.files.is_empty() && configured.iter().any(|one| one.manager == manager.files && names_it(&one.scope))
    };
    let found: Vec<&Manager> = managers.iter().filter(writes).collect();
    match found.as_slice() {
        [only] => Some(only),
        several => several.iter().find(|manager| manager.id == "netplan").copied(),
    }
}

fn form_of<'k>(kept: &'k KeptSetting, manager: &Manager) -> Option<&'k KeptForm> {
    kept.forms.get(&manager.id).or_else(|| kept.forms.get("any"))
}

/// A command and the values that it sets.
type Set<'c> = (&'c String, Values);

/// What a template is filled in for.
#[derive(Clone, Copy)]
enum Medium {
    /// A line of a file, of whatever syntax.
    File,
    /// A shell.
    Shell,
}

/// A form with the values of all commands that set something.
fn written(form: &KeptForm, set: &[Set<'_>]) -> Keep {
    let (lines, commands) = (all(&form.lines, set, Medium::File), all(&form.commands, set, Medium::Shell));
    let nothing = lines.is_empty() && commands.is_empty();
    let promised = !form.lines.is_empty() || !form.commands.is_empty();
    // Where the lines can't be written, or the form has no note and no command, the short form has to do.
    let note = if nothing && (promised || form.note.is_empty()) { &form.short } else { &form.note };
    Keep { note: in_words(note, set.first()), lines, commands, ..Keep::default() }
}

fn all(templates: &[String], set: &[Set<'_>], medium: Medium) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut says_something = false;
    for one in set {
        for template in templates {
            let constant = !template.contains('{');
            let Some(line) = filled(template, one, medium) else { continue };
            if !(constant && lines.contains(&line)) {
                lines.push(line);
                says_something |= !constant;
            }
        }
    }
    // The head of a section says nothing by itself.
    if says_something { lines } else { Vec::new() }
}

/// A template with its holes filled; `None` where the command sets no such value, or a file might take it for more than a word.
fn filled(template: &str, (command, values): &Set<'_>, medium: Medium) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once('{') {
        let (name, after) = tail.split_once('}')?;
        out.push_str(before);
        let in_quotes = out.matches('"').count() % 2 == 1;
        match (name, medium) {
            // Quoted as a shell needs it; between other quotes that would not hold.
            ("command", _) => out.push_str(Some(command.as_str()).filter(|command| !in_quotes || is_plain(command))?),
            (name, Medium::Shell) => out.push_str(&shell_quote(values.get(name)?)),
            (name, Medium::File) => out.push_str(values.get(name).filter(|value| is_plain(value))?),
        }
        rest = after;
    }
    Some(out + rest)
}

/// True for words that no shell and no file takes for more than words.
fn is_plain(text: &str) -> bool {
    text.split(' ').all(|word| matches!(shell_quote(word), Cow::Borrowed(_)))
}

/// A note for people: values as they are, a hole without one as its name.
fn in_words(template: &str, set: Option<&Set<'_>>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once('{') {
        let Some((name, after)) = tail.split_once('}') else { break };
        out.push_str(before);
        match (name, set) {
            ("command", Some((command, _))) => out.push_str(command),
            (name, Some((_, values))) if values.contains_key(name) => out.push_str(&values[name]),
            ("iface", _) => out.push_str("the interface"),
            (name, _) => out.push_str(name),
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::flaw;
    use crate::knowledge::Knowledge;

    /// A command of each kind that rules use.
    const COMMANDS: &[(&str, &str)] = &[
        ("ring", "ethtool -G eth0 rx 1024"),
        ("ring", "ethtool -G eth0 rx 1024 tx 512"),
        ("pause", "ethtool -A eth0 rx on tx off"),
        ("mtu", "ip link set dev eth0 mtu 9000"),
        ("offload", "ethtool -K eth0 gro on"),
        ("speed", "ethtool -s eth0 autoneg on"),
        ("eee", "ethtool --set-eee eth0 eee off"),
        ("qdisc", "tc qdisc replace dev eth0 root fq maxrate 6480mbit"),
        ("txqueuelen", "ip link set dev eth0 txqueuelen 2000"),
        ("bond", "ip link set dev bond0 type bond miimon 100"),
        ("channels", "ethtool -L eth0 combined 8"),
        ("coalesce", "ethtool -C eth0 rx-usecs 20"),
        ("rxhash", "ethtool -N eth0 rx-flow-hash udp4 sdfn"),
        ("advertise", "ethtool -s eth0 advertise 2500baseT/Full on"),
        ("fec", "ethtool --set-fec eth0 encoding rs"),
        ("wifi", "iw dev wlan0 set power_save off"),
        ("sysctl", "sysctl -w net.ipv4.tcp_sack=1"),
    ];

    fn kept(key: &str) -> &'static KeptSetting {
        Knowledge::embedded().persistence().settings.iter().find(|one| one.key == key).unwrap()
    }

    fn set<'c>(key: &str, command: &'c String) -> Set<'c> {
        (command, setting::read(&kept(key).set_by, command).unwrap())
    }

    fn form(key: &str, manager: &str, command: &str) -> Keep {
        let command = command.to_owned();
        let form = &kept(key).forms[manager];
        written(form, &[set(key, &command)])
    }

    #[test]
    fn every_form_of_every_setting_is_filled_in() {
        let managers = &Knowledge::embedded().persistence().managers;
        for (key, command) in COMMANDS {
            let owned = (*command).to_owned();
            for manager in managers {
                let form = form_of(kept(key), manager).unwrap_or_else(|| panic!("{key}: nothing for {}", manager.id));
                let keep = written(form, &[set(key, &owned)]);
                assert!(!keep.note.is_empty() || !keep.commands.is_empty(), "{key}, {}", manager.id);
                let promised = !form.lines.is_empty() || !form.commands.is_empty();
                assert_eq!(
                    promised,
                    !keep.lines.is_empty() || !keep.commands.is_empty(),
                    "{key}, {}: {keep:?}",
                    manager.id
                );
                for text in keep.lines.iter().chain(&keep.commands).chain([&keep.note]) {
                    assert!(!text.contains(['{', '}']), "{key}, {}: {text}", manager.id);
                }
                for command in &keep.commands {
                    assert_eq!(flaw(command), None, "{key}, {}: {command}", manager.id);
                }
            }
        }
    }

    #[test]
    fn forms_name_managers_and_settings_name_their_command() {
        let persistence = Knowledge::embedded().persistence();
        for one in &persistence.settings {
            for id in one.forms.keys().filter(|id| *id != "any") {
                assert!(persistence.managers.iter().any(|manager| manager.id == *id), "{}: {id}", one.key);
            }
            assert_eq!(one.set_by.is_empty(), one.forms.is_empty(), "{}", one.key);
            assert!(
                one.set_by.is_empty() || COMMANDS.iter().any(|(key, _)| *key == one.key),
                "{}: no command",
                one.key
            );
        }
    }

    #[test]
    fn files_that_name_the_interface_show_who_is_in_charge() {
        let keep_on = |files: &[(&str, &str)]| {
            let row = |(manager, scope): &(&str, &str)| serde_json::json!({"manager": manager, "file": "f", "line": 1, "scope": scope, "key": "k", "value": "v"});
            let rows: Vec<serde_json::Value> = files.iter().map(row).collect();
            let document = serde_json::json!({"schema": crate::snapshot::SCHEMA,
                "host": {"platform": ["debian", "assumed"], "configured": [rows, "assumed"]}});
            let snapshot = crate::snapshot::Snapshot::from_json(&document.to_string()).unwrap();
            let facts = Facts::new(&snapshot, Knowledge::embedded());
            keep(&facts, "mtu", Place::Here, &["ip link set dev eth0 mtu 9000".to_owned()])
        };
        for (files, manager) in [
            (&[("ifupdown", "eth0")][..], Some("ifupdown")),
            // Every Debian has a stanza of lo.
            (&[("ifupdown", "lo"), ("NetworkManager", "interface-name=eth0")], Some("NetworkManager")),
            (&[("systemd-networkd", "[Match] Name=eth0"), ("netplan", "eth0")], Some("netplan")),
            (&[("systemd-networkd", "eth0"), ("ifupdown", "eth0")], None),
            (&[("ifupdown", "eth01")], None),
            (&[("udev", "eth0"), ("systemd-link", "eth0")], None),
            (&[], None),
        ] {
            let keep = keep_on(files);
            assert_eq!(keep.manager.as_deref(), manager, "{files:?}");
            assert_eq!(keep.likely.is_empty(), manager.is_some(), "{files:?}");
            assert_eq!(keep.lines.is_empty() && keep.commands.is_empty(), manager.is_none(), "{files:?}");
        }
    }

    #[test]
    fn a_line_without_a_value_is_left_out() {
        let ring = form("ring", "systemd", "ethtool -G eth0 rx 1024");
        assert_eq!(ring.lines, ["[Link]", "RxBufferSize=1024"]);
        let both = form("ring", "networkmanager", "ethtool -G eth0 rx 1024 tx 512").commands;
        let prefix = "nmcli connection modify uuid $(nmcli -g general.con-uuid device show eth0)";
        assert_eq!(both, [format!("{prefix} ethtool.ring-rx 1024"), format!("{prefix} ethtool.ring-tx 512")]);
        let pace = form("qdisc", "systemd", "tc qdisc replace dev eth0 root fq maxrate 6480mbit");
        assert_eq!(pace.lines, ["[FairQueueing]", "Parent=root", "MaximumRate=6480M"]);
        // A section without a setting of its own says nothing: the short form has to do.
        let other = form("offload", "systemd", "ethtool -K eth0 rxhash on");
        assert_eq!((other.lines.len(), other.note.as_str()), (0, "its line in a .link drop-in"));
    }

    #[test]
    fn a_name_that_a_file_would_take_for_more_is_left_out() {
        let command = "ethtool --set-eee 'a\",RUN+=\"reboot' eee off";
        let udev = form("eee", "any", command);
        assert_eq!((udev.lines.len(), udev.note.as_str()), (0, "a udev rule"));
        // A shell takes the quoted command as it is.
        let stanza = form("eee", "ifupdown", command);
        assert_eq!(stanza.lines, [format!("post-up {command} || true")]);
        let nm = form("mtu", "networkmanager", "ip link set dev 'a;$(id)' mtu 9000");
        assert!(nm.commands[0].contains("device show 'a;$(id)')"), "{:?}", nm.commands);
    }
}
