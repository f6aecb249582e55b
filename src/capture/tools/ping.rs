//! `ping`, `tracepath`, `traceroute`, `mtr`. A snapshot holds no paths yet.

use super::Tool;
use crate::formats::{ping, trace};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "ping",
        answers: |command| ["ping", "ping6", "ping.exe"].contains(&command.program.as_str()),
        begins: |cursor| cursor.peek().is_some_and(|line| ping::begins(line.text)),
        read: |cursor, intake| {
            ping::parse(cursor, intake.command.is_some());
        },
    },
    Tool {
        name: "tracepath",
        answers: |command| {
            ["tracepath", "tracepath6", "traceroute", "traceroute6", "mtr"].contains(&command.program.as_str())
        },
        begins: |cursor| cursor.peek().is_some_and(|line| trace::begins(line.text)),
        read: |cursor, _| {
            trace::parse(cursor);
        },
    },
];
