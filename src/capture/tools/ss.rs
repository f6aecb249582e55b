//! `ss`: sockets and their counts. Nothing in a snapshot holds them yet.

use super::{Intake, Tool};
use crate::formats::cursor::Cursor;
use crate::formats::ss;

pub(super) static TOOLS: &[Tool] = &[Tool {
    name: "ss",
    answers: |command| command.program == "ss",
    begins: |cursor| cursor.peek().is_some_and(|line| ss::begins(line.text)),
    read,
}];

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let summary = intake.command.is_some_and(|command| command.has_flag('s') || command.has("--summary"));
    if summary {
        ss::summary(cursor);
    }
    ss::parse(cursor);
}
