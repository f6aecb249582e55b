//! Where the processors spend their time: `top`, `mpstat`, `sar`, `vmstat`. A snapshot holds no such shares yet.

use super::{Intake, Tool};
use crate::formats::cursor::Cursor;
use crate::formats::{sysstat, top, uname, vmstat};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "top",
        answers: |command| command.program == "top",
        begins: |cursor| cursor.peek().is_some_and(|line| top::begins(line.text)),
        read: |cursor, intake| {
            let uptime = top::parse(cursor).and_then(|top| top.uptime);
            super::proc::put_uptime(intake, uptime);
        },
    },
    Tool {
        name: "sysstat",
        answers: |command| ["mpstat", "sar", "iostat", "pidstat"].contains(&command.program.as_str()),
        begins: |cursor| cursor.peek().is_some_and(|line| sysstat::headings(line.text).is_some()),
        read: read_sysstat,
    },
    Tool {
        name: "vmstat",
        answers: |command| command.program == "vmstat",
        begins: |cursor| cursor.peek().is_some_and(|line| vmstat::begins(line.text)),
        read: |cursor, _| {
            vmstat::parse(cursor);
        },
    },
];

fn read_sysstat(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(banner) = cursor.take_if(uname::parse) {
        super::host::put_uname(intake, &banner);
    }
    sysstat::parse(cursor);
}
