//! `netstat` and `route`: counters of interfaces and protocols, routes, sockets.

use super::super::command::Command;
use super::ip::{Way, put_ways};
use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::netstat::{interfaces, routes, sockets, statistics};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "netstat -s",
        answers: |command| asks(command, 's', "--statistics"),
        begins: |cursor| cursor.peek().is_some_and(|line| statistics::begins(line.text)),
        read: protocols,
    },
    Tool {
        name: "netstat -i",
        answers: |command| asks(command, 'i', "--interfaces"),
        begins: |cursor| cursor.peek().is_some_and(|line| interfaces::begins(line.text)),
        read: interface_table,
    },
    Tool {
        name: "route",
        answers: |command| asks(command, 'r', "--route") || command.program == "route",
        begins: |cursor| cursor.peek().is_some_and(|line| routes::begins(line.text)),
        read: route_table,
    },
    Tool {
        name: "netstat",
        answers: |command| command.program == "netstat" && !"sir".chars().any(|letter| command.has_flag(letter)),
        begins: |cursor| cursor.peek().is_some_and(|line| sockets::is_heading(line.text)),
        read: |cursor, intake| {
            let sockets = sockets::parse(cursor);
            super::ss::put(intake, &sockets);
        },
    },
];

fn asks(command: &Command, letter: char, long: &str) -> bool {
    command.program == "netstat" && (command.has_flag(letter) || command.has(long))
}

fn protocols(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(found) = statistics::parse(cursor) else { return };
    let partial = intake.is_filtered() || found.sections.is_empty();
    let found = if partial { found } else { found.with_zeros() };
    super::proc::put_protocols(intake, found.line, found.rows, partial);
}

pub(super) fn interface_table(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for row in interfaces::parse(cursor) {
        super::ifconfig::put_row(intake, &row);
    }
}

fn route_table(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let rows = routes::parse(cursor);
    let ways: Vec<Way> = rows.into_iter().map(|row| way(row.value, row.line)).collect();
    // Without -6, route prints one family; the form of netstat -r has no metrics.
    let complete = intake.command.is_some_and(|command| command.program == "route") && !intake.is_filtered();
    put_ways(intake, &ways, complete);
}

fn way(row: routes::Row, line: u32) -> Way {
    let length = row.mask.parse::<std::net::Ipv4Addr>().ok().map(|mask| mask.to_bits().count_ones());
    let destination = match length {
        Some(length) => format!("{}/{length}", row.destination),
        None => row.destination.clone(),
    };
    let none = ["0.0.0.0", "*", "::", "[::]"].contains(&row.gateway.as_str());
    Way {
        v6: row.destination.contains(':'),
        metric: row.metric,
        is_default: row.is_default(),
        gateway: (!none).then_some(row.gateway),
        table: "main".to_owned(),
        is_own: row.flags.contains('!') || row.device == "lo",
        line,
        devices: vec![At::new(row.device, line)],
        destination,
        ..Way::default()
    }
}
