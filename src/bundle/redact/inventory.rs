//! What there is to replace in a snapshot.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use super::Redactor;
use super::leaves::{self, Role};
use super::tokens::Kind;
use crate::snapshot::Snapshot;

/// Names that no host is known by.
const NOBODY: [&str; 5] = ["localhost", "localhost.localdomain", "(none)", "none", "host"];
/// Domains that are everybody's.
const ANYWHERE: [&str; 9] =
    ["local", "lan", "home", "internal", "localdomain", "home.arpa", "fritz.box", "intranet", "invalid"];
/// Keys of configuration files that hold the name of a wireless network.
const NETWORK_KEYS: [&str; 5] = ["ssid", "essid", "wpa-ssid", "wireless-essid", "wifi-ssid"];

/// Finds the names that people gave.
pub(super) fn names(redactor: &mut Redactor, snapshot: &Snapshot) {
    let host = &snapshot.host;
    let own = host.name.known().map(String::as_str).filter(|name| !NOBODY.contains(name));
    let mut hosts: Vec<&str> = own.into_iter().collect();
    let mut servers: BTreeSet<&str> = BTreeSet::new();
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for mount in host.nfs.known().into_iter().flatten() {
        paths.insert(&mount.path);
        servers.extend(mount.server.known().map(String::as_str));
        if let Some(export) = mount.export.known() {
            let (server, place) = export.split_once(":/").unwrap_or(("", export));
            servers.insert(server.trim_matches(['[', ']']));
            paths.insert(&export[export.len() - place.len() - usize::from(!server.is_empty())..]);
        }
    }
    for measured in host.measured.known().into_iter().flatten() {
        let ends = [&measured.local_address, &measured.peer_address, &measured.receiver_address];
        servers.extend(ends.into_iter().filter_map(|end| end.known()).map(String::as_str));
    }
    servers.retain(|name| !name.is_empty() && name.parse::<IpAddr>().is_err() && !NOBODY.contains(name));
    hosts.extend(servers);
    let mut domains: Vec<&str> = Vec::new();
    let mut labels: Vec<&str> = Vec::new();
    for name in hosts {
        let (label, domain) = name.split_once('.').unwrap_or((name, ""));
        let number = labels.iter().position(|one| one.eq_ignore_ascii_case(label)).unwrap_or_else(|| {
            labels.push(label);
            labels.len() - 1
        });
        let new = format!("host-{}", number + 1);
        let mut full = new.clone();
        if !domain.is_empty() && !ANYWHERE.contains(&domain) {
            let number = domains.iter().position(|one| one.eq_ignore_ascii_case(domain)).unwrap_or_else(|| {
                domains.push(domain);
                domains.len() - 1
            });
            full += &format!(".domain-{}.invalid", number + 1);
            redactor.names.add("domain", domain, format!("domain-{}.invalid", number + 1));
        } else if !domain.is_empty() {
            full += &format!(".{domain}");
        }
        redactor.names.add("host name", name, full.clone());
        redactor.names.add("host name", label, new);
        if Some(name) == own {
            redactor.whole.insert(("host", name.to_owned()), full);
        }
    }
    paths.remove("/");
    for (at, path) in paths.into_iter().filter(|path| !path.is_empty()).enumerate() {
        redactor.whole.insert(("path", path.to_owned()), format!("/path-{}", at + 1));
        // A short one may be the beginning of any path.
        if path.trim_matches('/').contains('/') && path.len() > 8 {
            redactor.names.add("path", path, format!("/path-{}", at + 1));
        }
    }
    let aliases: BTreeSet<&String> = snapshot.interfaces.iter().filter_map(|one| one.alias.known()).collect();
    for (at, alias) in aliases.into_iter().filter(|alias| !alias.is_empty()).enumerate() {
        let new = format!("alias-{}", at + 1);
        redactor.whole.insert(("alias", alias.clone()), new.clone());
        let is_interface = snapshot.interfaces.iter().any(|one| one.name == *alias);
        if alias.len() > 3 && !is_interface && alias.chars().any(|c| !c.is_alphabetic()) {
            redactor.names.add("alias", alias, new);
        }
    }
    connections(redactor, snapshot);
}

/// Names of connections and wireless networks in the files of network managers.
fn connections(redactor: &mut Redactor, snapshot: &Snapshot) {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut networks: BTreeSet<String> = BTreeSet::new();
    for row in snapshot.host.configured.known().into_iter().flatten() {
        let value = row.value.trim_matches(['"', '\'']);
        if NETWORK_KEYS.contains(&row.key.to_ascii_lowercase().as_str()) {
            networks.insert(value.to_owned());
        }
        if row.manager != "NetworkManager" {
            continue;
        }
        if row.key == "id" && row.scope.starts_with("connection of ") {
            found.insert(value.to_owned());
        }
        found.extend(row.scope.rsplit_once(" of ").map(|(_, of)| of.to_owned()));
    }
    let paths = snapshot.origins.sources().iter().map(ToString::to_string);
    let files = snapshot.host.configured.known().into_iter().flatten().map(|row| row.file.clone());
    for path in paths.chain(files) {
        if let Some((_, file)) = path.split_once("/system-connections/") {
            found.insert(file.trim_end_matches(".nmconnection").to_owned());
        }
    }
    // What is named like its interface tells nothing more.
    let is_interface = |name: &String| snapshot.interfaces.iter().any(|one| one.name == *name);
    found.retain(|name| !name.is_empty() && !is_interface(name));
    networks.retain(|name| !name.is_empty() && !is_interface(name));
    for (what, prefix, all) in [("connection", "connection", found), ("network", "network", networks)] {
        for (at, name) in all.iter().enumerate() {
            let new = format!("{prefix}-{}", at + 1);
            redactor.whole.insert((what, name.clone()), new.clone());
            redactor.whole.entry((what, format!("\"{name}\""))).or_insert_with(|| format!("\"{new}\""));
            if name.len() > 3 && name.chars().any(|c| !c.is_alphabetic() && c != ' ') {
                redactor.names.add(what, name, new);
            }
        }
    }
}

/// Finds addresses and identifiers.
pub(super) fn values(redactor: &mut Redactor, document: &Value) {
    // An address in one spelling makes that one known which is hard to tell from other things.
    leaves::visit(document, &mut Vec::new(), &mut |_, text| {
        for token in super::tokens::tokens(text, &|_| false) {
            if let Kind::Hardware(address, _) = token.kind
                && address.len() == 6
                && address.iter().any(|byte| *byte != 0 && *byte != 0xff)
            {
                redactor.known.insert(address);
            }
        }
    });
    let mut serials: BTreeSet<String> = BTreeSet::new();
    leaves::visit(document, &mut Vec::new(), &mut |path, text| {
        if leaves::role(path) == Role::Text {
            serials.extend(self::serials(text).into_iter().map(str::to_owned));
        }
    });
    for (at, serial) in serials.iter().enumerate() {
        redactor.names.add("serial number", serial, format!("serial-{}", at + 1));
    }
    let mut found = super::Values::default();
    let mut see = |path: &[&str], text: &str| {
        let is_text = leaves::role(path) == Role::Text;
        for token in redactor.tokens(text) {
            let value = &text[token.range.clone()];
            let is_wanted = is_text || matches!(token.kind, Kind::Hardware(..));
            if is_wanted && redactor.replacement(&token, value).is_some() {
                found.add(&token.kind, value);
            }
        }
    };
    leaves::visit(document, &mut Vec::new(), &mut see);
    if let Some(parameters) = document["host"]["sysctl"].get(0).and_then(Value::as_object) {
        parameters.keys().for_each(|key| see(&["host"], key));
    }
    redactor.old = found;
}

/// Finds the names that are words of the system as well.
pub(super) fn shared(redactor: &mut Redactor, document: &Value) {
    let mut used: BTreeSet<String> = BTreeSet::new();
    leaves::visit(document, &mut Vec::new(), &mut |path, text| {
        if leaves::role(path) == Role::Technical {
            used.extend(redactor.names.find(text).into_iter().map(|(_, name)| name.old.clone()));
        }
    });
    redactor.shared = used.into_iter().collect();
}

/// Words that stand before a serial number in a log.
const SERIAL: [&str; 4] = ["serialnumber", "serial number", "serial", "s/n"];

/// Serial numbers in a text, by the word before them. What has the form of an address is none of them.
fn serials(text: &str) -> Vec<&str> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for word in SERIAL {
        for (at, _) in lower.match_indices(word) {
            let rest = &text[at + word.len()..];
            let value = rest.trim_start_matches([':', '=', ' ', '#']);
            let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(value.len());
            let is_marked = rest.len() > value.len();
            let is_address = super::tokens::tokens(value, &|_| false).first().is_some_and(|one| one.range.start == 0);
            let value = &value[..end];
            let is_serial = value.len() > 5 && value.bytes().any(|byte| byte.is_ascii_digit());
            if is_marked && is_serial && !is_address {
                found.push(value);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_known_by_the_word_before_them() {
        assert_eq!(serials("usb 2-1: SerialNumber: 000A1B2C, S/N=XY-77120 x"), ["000A1B2C", "XY-77120"]);
        let none: [&str; 0] = [];
        for text in ["serial8250: ttyS0", "serial console", "SerialNumber: 00-11-22-33-44-55", "serial 12"] {
            assert_eq!(serials(text), none, "{text}");
        }
    }
}
