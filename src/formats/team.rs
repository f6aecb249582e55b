//! `teamdctl X state`, as text and as the JSON of `state dump`.

use serde_json::Value;

use super::cursor::{At, Cursor, pair};
use super::json;

/// A team device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Team {
    /// Its name; none in the printed form.
    pub name: Option<String>,
    /// Line of the first row.
    pub line: u32,
    /// `activebackup`, `lacp`, `roundrobin` ...
    pub runner: Option<String>,
    /// Ports, and whether their link is up by the team's own watches.
    pub ports: Vec<At<(String, Option<bool>)>>,
    /// Port in use, for activebackup.
    pub active_port: Option<String>,
}

/// True where the printed form begins.
pub fn begins(cursor: &Cursor<'_>) -> bool {
    let text = |ahead: usize| cursor.peek_at(ahead).map(|line| line.text.trim_end());
    text(0) == Some("setup:") && text(1).is_some_and(|next| next.trim_start().starts_with("runner:"))
}

/// Reads what comes next; none where it is neither form.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Team> {
    if cursor.peek()?.text.trim_start().starts_with('{') {
        let start = cursor.position();
        let found = json::take(cursor)?;
        let team = of_json(&found.value, found.line);
        if team.is_none() {
            cursor.back_to(start);
        }
        return team;
    }
    if !begins(cursor) {
        return None;
    }
    let mut team = Team { line: cursor.peek()?.number, ..Team::default() };
    let mut section = String::new();
    while let Some(line) = cursor.peek() {
        let depth = line.text.len() - line.text.trim_start().len();
        let text = line.text.trim();
        let (key, value) = pair(text).unwrap_or((text, ""));
        match depth {
            0 if value.is_empty() && matches!(key, "setup" | "ports" | "runner" | "link watches" | "team_device") => {
                section = key.to_owned();
            }
            0 => break,
            2 if section == "ports" => {
                team.ports.push(At::new((text.trim_end_matches(':').to_owned(), None), line.number));
            }
            _ if key == "runner" && section == "setup" => team.runner = Some(value.to_owned()),
            _ if key == "active port" => team.active_port = Some(value.to_owned()),
            _ if key == "link summary" => {
                if let Some(port) = team.ports.last_mut() {
                    port.value.1 = Some(value == "up");
                }
            }
            _ => {}
        }
        cursor.take();
    }
    Some(team)
}

fn of_json(value: &Value, line: u32) -> Option<Team> {
    let text = |path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let runner = text("/setup/runner_name").or_else(|| text("/runner/name"))?;
    let ports = value.get("ports").and_then(Value::as_object)?;
    let ports = ports.iter().map(|(name, port)| {
        let up = port.pointer("/link_watches/up").or_else(|| port.pointer("/link/up")).and_then(Value::as_bool);
        At::new((name.clone(), up), line)
    });
    Some(Team {
        name: text("/team_device/ifname").or_else(|| text("/team_device/ifinfo/ifname")).or_else(|| text("/device")),
        line,
        runner: Some(runner),
        ports: ports.collect(),
        active_port: text("/runner/active_port").filter(|port| !port.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn both_forms() {
        let text = "setup:\n  runner: activebackup\nports:\n  em1\n    link watches:\n      link summary: up\n      instance[link_watch_0]:\n\
                    \u{20}       name: ethtool\n        link: up\n  em2\n    link watches:\n      link summary: down\nrunner:\n  active port: em1\n$ x\n";
        let text_lines = lines(text);
        let mut cursor = Cursor::new(&text_lines);
        let team = parse(&mut cursor).unwrap();
        assert_eq!((team.runner.as_deref(), team.active_port.as_deref()), (Some("activebackup"), Some("em1")));
        assert_eq!(
            team.ports,
            [At::new(("em1".to_owned(), Some(true)), 4), At::new(("em2".to_owned(), Some(false)), 10)]
        );
        assert_eq!(cursor.position(), 14);
        let text = r#"{"ports": {"em1": {"link": {"up": true}}}, "runner": {"active_port": ""}, "setup": {"runner_name": "lacp"},
                       "team_device": {"ifinfo": {"ifname": "team0"}}}"#;
        let text_lines = lines(text);
        let team = parse(&mut Cursor::new(&text_lines)).unwrap();
        assert_eq!((team.name.as_deref(), team.ports.len(), team.active_port), (Some("team0"), 1, None));
        let text_lines = lines("{\"a\": 1}\n");
        let mut cursor = Cursor::new(&text_lines);
        assert_eq!((parse(&mut cursor), cursor.position()), (None, 0));
    }
}
