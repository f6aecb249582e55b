//! `nstat`.

use std::collections::BTreeMap;

use super::{Intake, Tool};
use crate::formats::cursor::Cursor;
use crate::formats::nstat;

pub(super) static TOOLS: &[Tool] = &[Tool {
    name: "nstat",
    answers: |command| command.program == "nstat",
    begins: |cursor| cursor.peek().is_some_and(|line| nstat::is_headline(line.text)),
    read,
}];

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let rows = nstat::parse(cursor);
    // Without -a the numbers are what was added since this user last asked.
    let Some(command) = intake.command.filter(|command| command.has_flag('a') || command.has("--ignore")) else {
        return;
    };
    let all = command.has_flag('z') || command.has("--zeros");
    let partial = intake.is_filtered() || !all || command.arguments.iter().any(|word| !word.starts_with('-'));
    let line = rows.first().map_or(0, |row| row.line);
    let mut groups: BTreeMap<&str, Vec<(String, u64)>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.value.group).or_default().push((row.value.name, row.value.value));
    }
    for (group, rows) in groups {
        intake.site.host_counters(group, line, rows, partial);
    }
}
