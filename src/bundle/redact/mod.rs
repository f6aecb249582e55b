//! Other names, addresses and serial numbers in the place of the real ones: the same everywhere, so that what belongs together
//! still does. What was replaced can't be found out without a secret that is forgotten.

mod addresses;
mod inventory;
mod key;
mod leaves;
mod names;
#[cfg(test)]
mod tests;
mod tokens;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use self::key::Key;
use self::leaves::Role;
use self::names::Names;
use self::tokens::{Kind, Token, spelled};
use crate::snapshot::Snapshot;

/// Secrets that are tried so that nothing new equals anything old.
const TRIALS: u8 = 8;

/// Replaces what tells whose host it is.
pub struct Redactor {
    key: Key,
    document: Value,
    /// What stands in the snapshot and is replaced.
    old: Values,
    /// Six bytes that are a hardware address, also one that stays.
    known: BTreeSet<Vec<u8>>,
    names: Names,
    /// Texts that are replaced as a whole, by what they are: `alias`, `connection`, `path`, `network`.
    whole: BTreeMap<(&'static str, String), String>,
    /// Interfaces that get another name.
    renamed: BTreeMap<String, String>,
    /// Names that are also words of the system and stay where they are that.
    shared: Vec<String>,
    /// Old values that are new ones of others as well.
    met: usize,
    /// Replacements that were made before, by the text and the length of the network.
    made: RefCell<BTreeMap<(String, Option<u32>), Option<String>>>,
}

/// Addresses and identifiers.
#[derive(Clone, Debug, Default)]
struct Values {
    v4: BTreeSet<Ipv4Addr>,
    v6: BTreeSet<Ipv6Addr>,
    hardware: BTreeSet<Vec<u8>>,
    identifiers: BTreeSet<String>,
}

impl Values {
    fn holds(&self, kind: &Kind, text: &str) -> bool {
        match kind {
            Kind::Hardware(address, _) => self.hardware.contains(address),
            Kind::V4(address, _) => self.v4.contains(address),
            Kind::V6(address, _) => self.v6.contains(address),
            Kind::Identifier => self.identifiers.contains(&text.to_ascii_lowercase()),
        }
    }

    fn add(&mut self, kind: &Kind, text: &str) {
        match kind {
            Kind::Hardware(address, _) => drop(self.hardware.insert(address.clone())),
            Kind::V4(address, _) => drop(self.v4.insert(*address)),
            Kind::V6(address, _) => drop(self.v6.insert(*address)),
            Kind::Identifier => drop(self.identifiers.insert(text.to_ascii_lowercase())),
        }
    }

    fn len(&self) -> usize {
        self.v4.len() + self.v6.len() + self.hardware.len() + self.identifiers.len()
    }
}

/// Something of the original that stands in a file all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// The file.
    pub file: String,
    /// What it is: `hardware address`, `host name` ...
    pub what: &'static str,
    /// The value.
    pub value: String,
}

impl Redactor {
    /// Looks for what is to be replaced in a snapshot. The secret has to come from a source that nobody can guess.
    pub fn new(snapshot: &Snapshot, secret: [u8; 32]) -> Result<Self, String> {
        let document: Value = serde_json::from_str(&snapshot.to_json())
            .map_err(|error| format!("the snapshot can't be read: {error}"))?;
        let mut redactor = Self {
            key: Key::new(secret),
            document,
            old: Values::default(),
            known: BTreeSet::new(),
            names: Names::default(),
            whole: BTreeMap::new(),
            renamed: BTreeMap::new(),
            shared: Vec::new(),
            met: 0,
            made: RefCell::default(),
        };
        inventory::names(&mut redactor, snapshot);
        let document = std::mem::take(&mut redactor.document);
        inventory::values(&mut redactor, &document);
        let first = redactor.key.clone();
        let mut met = redactor.meeting(&document);
        for trial in 1..TRIALS {
            if met.len() == 0 {
                break;
            }
            redactor.key = Key::new(first.bytes("trial", &[&[trial]]));
            redactor.made.take();
            met = redactor.meeting(&document);
        }
        // What is new in one place and old in another can't be told apart any more.
        redactor.met = met.len();
        redactor.old.v4.retain(|address| !met.v4.contains(address));
        redactor.old.v6.retain(|address| !met.v6.contains(address));
        redactor.old.hardware.retain(|address| !met.hardware.contains(address));
        inventory::shared(&mut redactor, &document);
        for interface in &snapshot.interfaces {
            let new = redactor.text(&interface.name);
            if new != interface.name {
                redactor.renamed.insert(interface.name.clone(), new);
            }
        }
        redactor.document = document;
        Ok(redactor)
    }

    /// Old values that are new ones as well.
    fn meeting(&self, document: &Value) -> Values {
        let mut met = Values::default();
        leaves::visit(document, &mut Vec::new(), &mut |_, text| {
            for token in self.tokens(text) {
                let Some(new) = self.replacement(&token, &text[token.range.clone()]) else { continue };
                for token in self.tokens(&new) {
                    let text = &new[token.range.clone()];
                    if self.old.holds(&token.kind, text) {
                        met.add(&token.kind, text);
                    }
                }
            }
        });
        met
    }

    fn tokens(&self, text: &str) -> Vec<Token> {
        tokens::tokens(text, &|address| self.known.contains(address))
    }

    /// What stands in the place of an address; none where it stays.
    fn replacement(&self, token: &Token, text: &str) -> Option<String> {
        let length = match &token.kind {
            Kind::V4(_, length) | Kind::V6(_, length) => *length,
            Kind::Hardware(..) | Kind::Identifier => None,
        };
        let place = (text.to_owned(), length);
        if let Some(made) = self.made.borrow().get(&place) {
            return made.clone();
        }
        let new = match &token.kind {
            Kind::Hardware(address, spelling) => {
                let new = addresses::of_hardware(&self.key, address);
                (new != *address).then(|| spelled(&new, *spelling, text))
            }
            Kind::V4(address, length) => {
                let new = addresses::of_v4(&self.key, *address, *length);
                (new != *address).then(|| new.to_string())
            }
            Kind::V6(address, length) => {
                let new = addresses::of_v6(&self.key, *address, *length);
                (new != *address).then(|| new.to_string())
            }
            Kind::Identifier => Some(self.identifier(text)).filter(|new| new != text),
        };
        self.made.borrow_mut().insert(place, new.clone());
        new
    }

    /// Another identifier of the same form.
    fn identifier(&self, old: &str) -> String {
        if old.bytes().all(|byte| b"0-".contains(&byte)) {
            return old.to_owned();
        }
        let bytes = [0, 1].map(|half| self.key.bytes("identifier", &[old.to_ascii_lowercase().as_bytes(), &[half]]));
        let mut digits = bytes.iter().flatten().flat_map(|byte| [byte >> 4, byte & 15]);
        let upper = old.bytes().any(|byte| byte.is_ascii_uppercase());
        let digit = |value: u8| {
            let digit = char::from_digit(value.into(), 16).unwrap_or('0');
            if upper { digit.to_ascii_uppercase() } else { digit }
        };
        old.chars().map(|c| if c == '-' { c } else { digit(digits.next().unwrap_or(0)) }).collect()
    }

    /// A text with replaced addresses and identifiers, as far as they are `wanted`; what stands between them goes through `rest`.
    fn with(&self, text: &str, wanted: &dyn Fn(&Token, &str) -> bool, rest: &dyn Fn(&str) -> String) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for token in self.tokens(text) {
            let old = &text[token.range.clone()];
            out += &rest(&text[from..token.range.start]);
            let new = if wanted(&token, old) { self.replacement(&token, old) } else { None };
            out += new.as_deref().unwrap_or(old);
            from = token.range.end;
        }
        out + &rest(&text[from..])
    }

    /// Any text of a report or a manifest with the same replacements as the snapshot's.
    pub fn text(&self, text: &str) -> String {
        let text = self.with(text, &|_, _| true, &|rest| self.names.replaced(rest));
        self.places(&text)
    }

    /// A path with other names of connections and of people.
    fn places(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (folder, what) in [("/system-connections/", "connection"), ("/home/", "person")] {
            let Some(at) = text.find(folder).map(|at| at + folder.len()) else { continue };
            let end = at + text[at..].find(['/', '\n', '\'', '"']).unwrap_or(text.len() - at);
            let stem = text[at..end].trim_end_matches(".nmconnection");
            let new = match self.whole.get(&(what, stem.to_owned())) {
                Some(new) => new.clone(),
                None if what == "person" && end > at => "someone".to_owned(),
                None => continue,
            };
            text.replace_range(at..at + stem.len(), &new);
        }
        text
    }

    /// A text of the snapshot.
    fn leaf(&self, path: &[&str], text: &str) -> String {
        let whole = |what: &'static str| self.whole.get(&(what, text.to_owned())).cloned();
        match path {
            ["host", "name"] => return whole("host").unwrap_or_else(|| self.text(text)),
            ["interfaces", "alias"] => return whole("alias").unwrap_or_default(),
            ["host", "nfs", "path"] => return whole("path").unwrap_or_else(|| text.to_owned()),
            ["host", "nfs", "export"] => {
                // An IPv6 address in front has colons of its own.
                let (server, place) = text.split_once(":/").unwrap_or(("", text.trim_start_matches('/')));
                let place = format!("/{place}");
                let place = self.whole.get(&("path", place.clone())).cloned().unwrap_or(place);
                return if server.is_empty() { place } else { format!("{}:{place}", self.text(server)) };
            }
            ["host", "configured", "value"] => {
                if let Some(new) = whole("network").or_else(|| whole("connection")) {
                    return new;
                }
            }
            ["host", "configured", "scope"] => {
                if let Some((section, of)) = text.rsplit_once(" of ")
                    && let Some(new) = self.whole.get(&("connection", of.to_owned()))
                {
                    return format!("{section} of {new}");
                }
            }
            _ => {}
        }
        match leaves::role(path) {
            Role::Text => self.text(text),
            Role::Technical => {
                let wanted = |token: &Token, text: &str| {
                    matches!(token.kind, Kind::Hardware(..)) || self.old.holds(&token.kind, text)
                };
                self.with(text, &wanted, &str::to_owned)
            }
        }
    }

    /// The name of a field, or that of a kernel parameter, which may hold the name of an interface.
    fn key(&self, path: &[&str], key: &str) -> String {
        let key = self.with(key, &|_, _| true, &str::to_owned);
        if path != ["host", "sysctl"] || self.renamed.is_empty() {
            return key;
        }
        let segment = |part: &str| {
            let new = self.renamed.get(part).or_else(|| self.renamed.get(&part.replace('/', ".")));
            new.map_or_else(|| part.to_owned(), |new| new.replace('.', "/"))
        };
        key.split('.').map(segment).collect::<Vec<_>>().join(".")
    }

    /// The snapshot with everything replaced.
    pub fn snapshot(&self) -> Result<Snapshot, String> {
        let text = |path: &[&str], text: &str| self.leaf(path, text);
        let key = |path: &[&str], key: &str| self.key(path, key);
        let document = leaves::rewritten(&self.document, &mut Vec::new(), &text, &key);
        Snapshot::from_json(&document.to_string()).map_err(|error| format!("a word of the snapshot was lost: {error}"))
    }

    /// Names in a text. What is a part of an address is none.
    fn names_in(&self, text: &str) -> Vec<&names::Name> {
        let tokens = self.tokens(text);
        let inside = |at: &usize| tokens.iter().any(|token| token.range.contains(at));
        let found = self.names.find(text).into_iter();
        found.filter(|(at, _)| !inside(at)).map(|(_, name)| name).collect()
    }

    /// Original values that stand in a file of the bundle.
    pub fn leaks(&self, file: &str, text: &str) -> Vec<Leak> {
        let mut found = Vec::new();
        let leak = |what, value: &str| Leak { file: file.to_owned(), what, value: value.to_owned() };
        for token in self.tokens(text) {
            let value = &text[token.range];
            if self.old.holds(&token.kind, value) {
                let what = match token.kind {
                    Kind::Hardware(..) => "hardware address",
                    Kind::V4(..) | Kind::V6(..) => "address",
                    Kind::Identifier => "identifier",
                };
                found.push(leak(what, value));
            }
        }
        if file == "snapshot.json" {
            let document: Value = serde_json::from_str(text).unwrap_or_default();
            leaves::visit(&document, &mut Vec::new(), &mut |path, text| {
                if leaves::role(path) == Role::Text {
                    found.extend(self.names_in(text).into_iter().map(|name| leak(name.what, &name.old)));
                }
            });
        } else {
            let names = text.lines().flat_map(|line| self.names_in(line));
            let names = names.filter(|name| !name.is_plain() && !self.shared.contains(&name.old));
            found.extend(names.map(|name| leak(name.what, &name.old)));
        }
        found.sort_by(|a, b| (a.what, &a.value).cmp(&(b.what, &b.value)));
        found.dedup();
        found
    }

    /// What is replaced, in sentences that name nothing of it.
    pub fn summary(&self) -> Vec<String> {
        let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
        let addresses = self.old.v4.len() + self.old.v6.len();
        let mut said = vec![format!(
            "replaced: {}, {}, {}, {}",
            count(self.old.hardware.len(), "hardware address", "hardware addresses"),
            count(addresses, "IP address", "IP addresses"),
            count(self.old.identifiers.len(), "identifier", "identifiers"),
            count(self.names.iter().count() + self.whole.len(), "name", "names"),
        )];
        if self.met > 0 {
            said.push(format!("{} old addresses are new ones of others, and can't be looked for", self.met));
        }
        said
    }

    /// Where the check is blind, in sentences for whoever collects: they hold names.
    pub fn doubts(&self) -> Vec<String> {
        let mut said = Vec::new();
        let list = |words: Vec<&str>| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        if !self.shared.is_empty() {
            let words = list(self.shared.iter().map(String::as_str).collect());
            said.push(format!("also words of the system, which stay where they are that: {words}"));
        }
        let plain: Vec<&str> = self.names.iter().filter(|name| name.is_plain()).map(|name| name.old.as_str()).collect();
        if !plain.is_empty() {
            said.push(format!("may be words of any text, so looked for in snapshot.json only: {}", list(plain)));
        }
        said
    }
}
