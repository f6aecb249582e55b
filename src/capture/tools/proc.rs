//! Files of /proc: counters of interfaces, protocols, the receive softirq and sockets, and facts of the host.

use super::super::command::Command;
use super::{Intake, Tool, is_interface_name};
use crate::formats::cursor::{At, Cursor};
use crate::formats::{cpuinfo, meminfo, proc_net, proc_net_dev, sockstat, softnet_stat, uname, uptime};
use crate::reading::{Bytes, Seconds};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "/proc/net/dev",
        answers: |command| prints(command, "/proc/net/dev"),
        begins: |cursor| cursor.peek().is_some_and(|line| proc_net_dev::is_heading(line.text)),
        read: devices,
    },
    Tool {
        name: "/proc/net/snmp",
        answers: |command| prints(command, "/proc/net/snmp") || prints(command, "/proc/net/netstat"),
        begins: begins_pairs,
        read: pairs,
    },
    Tool {
        name: "/proc/net/snmp6",
        answers: |command| prints(command, "/proc/net/snmp6"),
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.starts_with("Ip6InReceives ")),
        read: lines_of_snmp6,
    },
    Tool {
        name: "/proc/net/softnet_stat",
        answers: |command| prints(command, "/proc/net/softnet_stat"),
        begins: |cursor| cursor.peek().is_some_and(|line| softnet_row(line.text).is_some_and(|row| row.len() >= 9)),
        read: softnet,
    },
    Tool {
        name: "/proc/net/sockstat",
        answers: |command| prints(command, "/proc/net/sockstat") || prints(command, "/proc/net/sockstat6"),
        begins: |cursor| cursor.peek().is_some_and(|line| sockstat::row(line.text).is_some()),
        read: |cursor, _| while cursor.take_if(sockstat::row).is_some() {},
    },
    Tool {
        name: "/proc/meminfo",
        answers: |command| prints(command, "/proc/meminfo"),
        begins: |cursor| cursor.peek().is_some_and(|line| meminfo::total(line.text).is_some()),
        read: memory,
    },
    Tool {
        name: "/proc/cpuinfo",
        answers: |command| prints(command, "/proc/cpuinfo"),
        begins: |cursor| {
            let begins = |ahead, key: &str| cursor.peek_at(ahead).is_some_and(|line| line.text.starts_with(key));
            begins(0, "processor\t: ") && (begins(1, "vendor_id\t: ") || begins(1, "BogoMIPS\t: "))
        },
        read: processors,
    },
    Tool {
        name: "/proc/uptime",
        answers: |command| prints(command, "/proc/uptime"),
        begins: |_| false,
        read: |cursor, intake| {
            let seconds = cursor.take_if(uptime::seconds);
            put_uptime(intake, seconds);
        },
    },
    Tool {
        name: "/proc/version",
        answers: |command| prints(command, "/proc/version"),
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.starts_with("Linux version ")),
        read: |cursor, intake| {
            if let Some(found) = cursor.take_if(uname::parse) {
                super::host::put_uname(intake, &found);
            }
        },
    },
    Tool {
        name: "/proc/loadavg",
        answers: |command| prints(command, "/proc/loadavg"),
        begins: |_| false,
        read: |cursor, _| {
            cursor.take_if(|text| (text.split_ascii_whitespace().count() == 5 && text.contains('/')).then_some(()));
        },
    },
];

fn prints(command: &Command, path: &str) -> bool {
    command.files().contains(&path)
}

pub(super) fn put_uptime(intake: &mut Intake<'_>, seconds: Option<At<f64>>) {
    if let Some(seconds) = seconds {
        intake.site.put_host(|host| &mut host.uptime, seconds.map(Seconds));
    }
}

fn devices(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for row in proc_net_dev::parse(cursor) {
        if is_interface_name(&row.value.name) {
            let rows = proc_net_dev::COLUMNS.iter().map(|name| (*name).to_owned()).zip(row.value.counters).collect();
            intake.site.counters(&row.value.name, "proc_net_dev", row.line, rows, false);
        }
    }
}

/// Counters of protocols, of which those with `Ext` in their name are in a file of their own.
pub(super) fn put_protocols(intake: &mut Intake<'_>, line: u32, rows: Vec<(String, u64)>, partial: bool) {
    let (extended, plain): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|(name, _)| name.split('.').next().is_some_and(|protocol| protocol.ends_with("Ext")));
    for (group, rows) in [("snmp", plain), ("netstat", extended)] {
        if !rows.is_empty() {
            intake.site.host_counters(group, line, rows, partial);
        }
    }
}

const PROTOCOLS: [&str; 9] = ["Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt"];

/// Protocol of a line of /proc/net/snmp, and true where it holds names.
fn half(text: &str) -> Option<(&str, bool)> {
    let (protocol, rest) = text.split_once(": ")?;
    let known = PROTOCOLS.contains(&protocol);
    let mut words = rest.split_ascii_whitespace();
    let numbers = words.clone().all(|word| word.parse::<i128>().is_ok());
    let names = words.all(|word| word.starts_with(|char: char| char.is_ascii_uppercase()));
    (known && !rest.trim().is_empty() && (numbers || names)).then_some((protocol, !numbers))
}

fn begins_pairs(cursor: &Cursor<'_>) -> bool {
    let line = |ahead| cursor.peek_at(ahead).and_then(|line| half(line.text));
    matches!((line(0), line(1)), (Some((first, true)), Some((second, false))) if first == second)
}

fn pairs(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let mut text = String::new();
    let mut met: Vec<String> = Vec::new();
    let line = cursor.peek().map_or(0, |line| line.number);
    while let Some(next) = cursor.peek() {
        let Some((protocol, names)) = half(next.text) else { break };
        // A protocol that comes again begins the next sample.
        if names && met.iter().any(|held| held == protocol) {
            break;
        }
        if names {
            met.push(protocol.to_owned());
        }
        text.push_str(next.text);
        text.push('\n');
        cursor.take();
    }
    let partial = intake.is_filtered();
    put_protocols(intake, line, proc_net::pairs(&text), partial);
}

fn lines_of_snmp6(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let mut rows: Vec<(String, u64)> = Vec::new();
    let row = |text: &str| {
        let of_ipv6 = ["Ip6", "Icmp6", "Udp6", "UdpLite6"].iter().any(|begin| text.starts_with(begin));
        of_ipv6.then(|| proc_net::lines(text).pop()).flatten()
    };
    while let Some(next) = cursor.peek() {
        let Some(row) = row(next.text).filter(|row| rows.first().is_none_or(|first| first.0 != row.0)) else { break };
        rows.push(row);
        cursor.take();
    }
    let partial = intake.is_filtered();
    if !rows.is_empty() {
        intake.site.host_counters("snmp6", line, rows, partial);
    }
}

/// The columns of a line, each of eight digits.
fn softnet_row(text: &str) -> Option<Vec<u32>> {
    let column = |word: &str| (word.len() == 8).then(|| u32::from_str_radix(word, 16).ok()).flatten();
    let row: Option<Vec<u32>> = text.split_ascii_whitespace().map(column).collect();
    row.filter(|row| row.len() >= 3)
}

fn softnet(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let mut text = String::new();
    let mut first: Option<Vec<u32>> = None;
    while let Some(row) = cursor.peek().and_then(|next| softnet_row(next.text)) {
        // The number of the first CPU again begins the next sample.
        let cpu = |row: &Vec<u32>| row.get(softnet_stat::CPU).copied();
        if first.as_ref().is_some_and(|first| cpu(first).is_some() && cpu(first) == cpu(&row)) {
            break;
        }
        text.push_str(cursor.take().map_or("", |line| line.text));
        text.push('\n');
        first.get_or_insert(row);
    }
    if let Some(rows) = softnet_stat::parse(&text, None) {
        let partial = intake.is_filtered();
        intake.site.host_counters("softnet_stat", line, rows, partial);
    }
}

fn memory(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let row = |text: &str| {
        let (key, rest) = text.split_once(':')?;
        let mut words = rest.split_ascii_whitespace();
        let number = words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let unit = words.next().is_none_or(|unit| unit == "kB");
        let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_()".contains(&byte));
        (number && unit && plain).then(|| meminfo::total(text))
    };
    while let Some(row) = cursor.take_if(row) {
        if let Some(total) = row.value {
            intake.site.put_host(|host| &mut host.memory, At::new(Bytes(total), row.line));
        }
    }
}

fn processors(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let mut text = String::new();
    loop {
        let blank = usize::from(cursor.peek().is_some_and(|line| line.text.trim().is_empty()));
        let Some(next) = cursor.peek_at(blank).filter(|line| is_processor_row(line.text)) else { break };
        for _ in 0..=blank {
            cursor.take();
        }
        text.push_str(next.text);
        text.push('\n');
    }
    let found = cpuinfo::parse(&text);
    if found.processors > 0 && !intake.is_filtered() {
        intake.site.put_host(|host| &mut host.cpus, At::new(found.processors, line));
    }
    if let Some(guest) = found.hypervisor {
        intake.site.put_host(|host| &mut host.is_guest, At::new(guest, line));
    }
}

/// `model name	: ...`: a tab or a space stands before the colon.
fn is_processor_row(text: &str) -> bool {
    text.split_once(':').is_some_and(|(key, _)| {
        let plain = |char: char| char.is_ascii_alphanumeric() || " \t_()".contains(char);
        key.ends_with([' ', '\t']) && key.len() <= 32 && !key.trim().is_empty() && key.chars().all(plain)
    })
}
