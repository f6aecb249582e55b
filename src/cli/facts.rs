//! `netdoctor facts`: the vocabulary, and every reading of a host or capture.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::{Output, Surroundings, exit, scan};
use crate::capture;
use crate::facts::{Catalogue, DEVICE, Facts, HOST, INTERFACE, LINK, show};
use crate::knowledge::Knowledge;
use crate::lang::{Key, State};
use crate::reading::GapId;
use crate::report::escape::visible;
use crate::report::json::pretty;
use crate::report::{json_value, origin};
use crate::snapshot::Snapshot;

/// Subcommands of `facts`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Every fact that a rule may ask: path, type, unit, meaning, command
    List(List),
    /// Every reading with its state and source
    Show(Show),
}

/// Arguments of `facts list`.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Output format
    #[arg(short, long, value_enum, default_value = "text")]
    format: Shape,
}

/// Arguments of `facts show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// A capture; none: this host
    capture: Option<PathBuf>,
    /// Only this subject: an interface, a PCI address, or `host`
    #[arg(short, long, value_name = "NAME")]
    subject: Option<String>,
    /// Also what nobody asked for
    #[arg(short, long)]
    all: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value = "text")]
    format: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shape {
    Text,
    Json,
}

pub(super) fn run(command: &Command, surroundings: &mut Surroundings<'_>) -> Output {
    match command {
        Command::List(arguments) => Output::text(list(arguments.format)),
        Command::Show(arguments) => {
            let snapshot = match &arguments.capture {
                Some(path) => match capture::read_one(path) {
                    Ok(snapshot) => snapshot,
                    Err(error) => return Output::failure(error.to_string(), exit::INPUT),
                },
                None => scan::snapshot(&scan::Reading::one_sample(), surroundings),
            };
            show_facts(&snapshot, arguments)
        }
    }
}

fn list(shape: Shape) -> String {
    let catalogue = Catalogue::shared();
    let all = catalogue.all();
    if shape == Shape::Json {
        let rows: Vec<Json> = all
            .map(|(scope, _, _, entry)| {
                json!({"path": format!("{scope}.{}", entry.path), "type": entry.kind.to_string(), "unit": entry.unit.symbol(),
                       "doc": entry.doc, "command": entry.command, "derived": entry.is_derived()})
            })
            .collect();
        return pretty(&rows);
    }
    let mut text = String::new();
    for (scope, _, _, entry) in all {
        let unit = entry.unit.symbol();
        let unit = if unit.is_empty() { String::new() } else { format!(", shown in {unit}") };
        text += &format!("{scope}.{}\n    {}{unit}: {}\n", entry.path, entry.kind, entry.doc);
        if !entry.command.is_empty() {
            text += &format!("    {}\n", entry.command);
        }
    }
    text
}

struct Row {
    subject: String,
    fact: String,
    state: &'static str,
    text: String,
    json: Json,
}

fn show_facts(snapshot: &Snapshot, arguments: &Show) -> Output {
    let facts = Facts::new(snapshot, Knowledge::embedded());
    if let Some(name) = &arguments.subject
        && facts.find(name).is_none()
    {
        return Output::failure(format!("there is no subject `{name}`"), exit::USAGE);
    }
    let rows = rows(&facts, arguments);
    if arguments.format == Shape::Json {
        return Output::text(pretty(&rows.into_iter().map(|row| row.json).collect::<Vec<_>>()));
    }
    let mut text = String::new();
    let mut subject = String::new();
    for row in rows {
        if row.subject != subject {
            text += &format!("{}\n", visible(&row.subject));
            subject.clone_from(&row.subject);
        }
        text += &format!("  {:<34} {:<8} {}\n", row.fact, row.state, visible(&row.text));
    }
    Output::text(text)
}

fn rows(facts: &Facts<'_>, arguments: &Show) -> Vec<Row> {
    let catalogue = facts.catalogue();
    let wanted = arguments.subject.as_deref().and_then(|name| facts.find(name));
    let mut rows = Vec::new();
    for scope in [HOST, INTERFACE, DEVICE, LINK] {
        for entity in facts.entities(scope).filter(|entity| wanted.is_none_or(|wanted| wanted == *entity)) {
            for (_, _, slot, _) in catalogue.all().filter(|(_, of, _, _)| *of == scope) {
                rows.extend(row(facts, Key { entity, slot }, arguments.all));
            }
        }
    }
    rows
}

fn row(facts: &Facts<'_>, key: Key, all: bool) -> Option<Row> {
    let entry = facts.catalogue().entry(key)?;
    let found = facts.lookup(key);
    let subject = facts.name(key.entity);
    let fact = facts.path(key);
    let mut json = json!({"subject": subject, "fact": fact});
    let (state, text) = match &found.state {
        State::Known(crate::lang::Value::Entity(other)) => {
            json["value"] = Json::from(facts.name(*other));
            ("known", facts.name(*other))
        }
        State::Known(value) => {
            json["value"] = references(facts, value).unwrap_or_else(|| json_value(value, entry.unit));
            let shown = references(facts, value).map_or_else(|| show(value, entry.unit), |names| names.to_string());
            ("known", shown)
        }
        State::Absent => ("absent", String::new()),
        State::Unknown => {
            let gap = facts.gap(key, found.gap.unwrap_or(GapId::NOT_COLLECTED));
            let derived = !found.from.is_empty() || (entry.is_derived() && found.gap.is_none());
            if !all && !derived && found.gap.is_none_or(|gap| gap == GapId::NOT_COLLECTED) {
                return None;
            }
            let why = if derived { "derived" } else { gap.why.word() };
            json["why"] = why.into();
            json["command"] = gap.command.clone().into();
            let detail = if gap.detail.is_empty() || derived { String::new() } else { format!(": {}", gap.detail) };
            let command = if gap.command.is_empty() { String::new() } else { format!("  ({})", gap.command) };
            ("unknown", format!("{}{detail}{command}", why.replace('_', " ")))
        }
    };
    json["unit"] = entry.unit.symbol().into();
    json["state"] = state.into();
    let mut text = text;
    if state != "unknown" {
        let (source, words) = origin(facts, &found);
        json["source"] = source;
        text += &format!("  [{words}]");
    }
    Some(Row { subject, fact, state, text, json })
}

/// Names in place of references.
fn references(facts: &Facts<'_>, value: &crate::lang::Value) -> Option<Json> {
    let crate::lang::Value::List(items) = value else { return None };
    let names: Option<Vec<Json>> = items
        .iter()
        .map(|item| match item {
            crate::lang::Value::Entity(entity) => Some(Json::from(facts.name(*entity))),
            _ => None,
        })
        .collect();
    names.filter(|names| !names.is_empty()).map(Json::from)
}
