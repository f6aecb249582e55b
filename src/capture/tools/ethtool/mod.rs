//! ethtool: what each of its outputs says of an interface.

pub(super) mod more;
mod settings;
mod tables;

use std::collections::BTreeMap;

use super::super::command::Command;
use super::super::site::{Refusal, not_permitted, refusal};
use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ethtool::table::{self, Shape};
use crate::formats::ethtool::{driver, features, headed, settings as settings_format, statistics};
use crate::reading::{Reading, SourceId};
use crate::snapshot::{Bus, Feature, InterfaceKind};

pub(super) static TOOLS: &[Tool] = &[
    Tool { name: "ethtool", answers: |command| asks(command, &[]), begins: begins_settings, read: settings::read },
    Tool {
        name: "ethtool -i",
        answers: |command| asks(command, &["-i", "--driver"]),
        begins: begins_driver,
        read: driver_info,
    },
    Tool {
        name: "ethtool -g",
        answers: |command| asks(command, &["-g", "--show-ring"]),
        begins: |cursor| begins(cursor, &table::RINGS),
        read: tables::rings,
    },
    Tool {
        name: "ethtool -l",
        answers: |command| asks(command, &["-l", "--show-channels"]),
        begins: |cursor| begins(cursor, &table::CHANNELS),
        read: tables::channels,
    },
    Tool {
        name: "ethtool -a",
        answers: |command| asks(command, &["-a", "--show-pause"]),
        begins: |cursor| begins(cursor, &table::PAUSE),
        read: tables::pause,
    },
    Tool {
        name: "ethtool -c",
        answers: |command| asks(command, &["-c", "--show-coalesce"]),
        begins: |cursor| begins(cursor, &table::COALESCE),
        read: tables::coalesce,
    },
    Tool {
        name: "ethtool --show-eee",
        answers: |command| asks(command, &["--show-eee"]),
        begins: |cursor| begins(cursor, &table::EEE),
        read: tables::eee,
    },
    Tool {
        name: "ethtool --show-fec",
        answers: |command| asks(command, &["--show-fec"]),
        begins: |cursor| begins(cursor, &table::FEC),
        read: tables::fec,
    },
    Tool {
        name: "ethtool -k",
        answers: |command| asks(command, &["-k", "--show-features", "--show-offload"]),
        begins: begins_features,
        read: offloads,
    },
    Tool {
        name: "ethtool -S",
        answers: |command| asks(command, &["-S", "--statistics"]),
        begins: begins_statistics,
        read: driver_statistics,
    },
];

/// Options that may stand before the one that asks.
const MODIFIERS: [&str; 4] = ["-I", "--include-statistics", "--json", "--debug"];

/// True for an ethtool command with one of these options; with none, for `ethtool DEVICE`.
fn asks(command: &Command, options: &[&str]) -> bool {
    if command.program != "ethtool" {
        return false;
    }
    let first = command.arguments.iter().map(String::as_str).find(|word| !MODIFIERS.contains(word));
    match first {
        Some(first) if options.is_empty() => !first.starts_with('-') && command.arguments.len() == 1,
        Some(first) => options.contains(&first),
        None => false,
    }
}

/// The device that an ethtool command names.
fn device(command: Option<&Command>) -> Option<&str> {
    command.filter(|command| command.program == "ethtool")?.last_operand()
}

fn begins(cursor: &Cursor<'_>, shape: &Shape) -> bool {
    cursor.peek().is_some_and(|line| headed(line.text, shape.headlines).is_some())
}

fn begins_settings(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| headed(line.text, settings_format::HEADLINES).is_some())
}

fn begins_driver(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| driver::begins(line.text.trim()))
        && cursor
            .peek_at(1)
            .is_some_and(|line| line.text.trim().starts_with("version:") || line.text.trim().starts_with("firmware"))
}

fn begins_features(cursor: &Cursor<'_>) -> bool {
    let Some(line) = cursor.peek() else { return false };
    headed(line.text, features::HEADLINES).is_some()
        || features::is_row(line.text) && features::is_group(line.text.split(':').next().unwrap_or_default().trim())
        || line.text.trim_start().starts_with("rx-checksumming: ")
}

fn begins_statistics(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| statistics::begins(line.text))
}

/// Takes a refusal as the whole answer to a command: `Cannot get device ring settings: Operation not supported`.
fn refused(cursor: &mut Cursor<'_>, intake: &Intake<'_>) -> Option<At<Refusal>> {
    let command = intake.command.filter(|command| command.program == "ethtool")?;
    let line = cursor.peek()?;
    let text = line.text.trim();
    let of_ethtool = ["Cannot ", "netlink error:", "ethtool:", "no stats available", "No data available", "rxclass:"];
    if !of_ethtool.iter().any(|start| text.starts_with(start)) || command.arguments.is_empty() {
        return None;
    }
    cursor.take();
    // Some versions break the line before the reason: `Cannot get device channel parameters`, `: Operation not supported`.
    let reason = cursor.take_if(|next| refusal(next).filter(|_| next.starts_with(": ") && refusal(text).is_none()));
    let found = refusal(text).or(reason.map(|at| at.value))?;
    Some(At::new(found, line.number))
}

/// Writes a refusal into the leaves that the command asked for.
fn write_refusal<T>(
    intake: &mut Intake<'_>,
    refusal: &At<Refusal>,
    leaf: impl Fn(&mut crate::snapshot::Interface) -> &mut Reading<T>,
) {
    let (Some(command), Some(name)) = (intake.command, device(intake.command)) else { return };
    if !super::is_interface_name(name) {
        return;
    }
    match refusal.value {
        Refusal::Unsupported => intake.site.put_absent(name, leaf, refusal.line),
        Refusal::NotPermitted => {
            let gap = not_permitted(command, &intake.site.file, refusal.line);
            intake.site.put_gap(name, leaf, gap);
        }
        Refusal::Missing => {}
    }
}

/// Says of a whole section that the driver has no such thing, where the command was refused for that.
fn mark_refusal(
    intake: &mut Intake<'_>,
    refusal: &At<Refusal>,
    mark: impl Fn(&mut crate::snapshot::Interface, SourceId),
) {
    let named = device(intake.command).filter(|name| super::is_interface_name(name));
    if let (Refusal::Unsupported, Some(name)) = (refusal.value, named) {
        let source = intake.site.source(refusal.line);
        mark(intake.site.interface(name), source);
    }
}

fn driver_info(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(refusal) = refused(cursor, intake) {
        write_refusal(intake, &refusal, |interface| &mut interface.driver.name);
        return;
    }
    let line = cursor.peek().map_or(0, |line| line.number);
    let Some(info) = driver::parse(cursor) else { return };
    let name = intake.interface_or_stand_in(device(intake.command), line);
    let site = &mut *intake.site;
    let full = |value: Option<At<String>>| value.filter(|at| !at.value.is_empty() && at.value != "N/A");
    let kind = info.name.as_ref().and_then(|driver| Some(At::new(kind_of_driver(&driver.value)?, driver.line)));
    if let Some(kind) = kind {
        // What a tool said of the kind itself stays.
        let source = site.source(kind.line);
        site.interface(&name).kind.fill(Reading::Known(kind.value, source));
    }
    site.put_some(&name, |interface| &mut interface.driver.name, full(info.name));
    // A line with nothing behind it says that there is none.
    let mut field =
        |leaf: fn(&mut crate::snapshot::Interface) -> &mut Reading<String>, value: Option<At<String>>| match value {
            Some(At { value, line }) if matches!(value.as_str(), "" | "N/A" | "n/a") => {
                site.put_absent(&name, leaf, line);
            }
            value => site.put_some(&name, leaf, value),
        };
    field(|interface| &mut interface.driver.version, info.version);
    field(|interface| &mut interface.driver.firmware, info.firmware);
    field(|interface| &mut interface.driver.bus_info, info.bus_info.clone());
    let Some(bus) = info.bus_info else { return };
    if let Ok(address) = bus.value.parse() {
        site.put(&name, |interface| &mut interface.device, At::new(address, bus.line));
        site.link_device(&name, address, bus.line);
    } else {
        site.put_absent(&name, |interface| &mut interface.device, bus.line);
        if bus.value.starts_with("usb-") {
            site.put(&name, |interface| &mut interface.bus, At::new(Bus::Usb, bus.line));
        }
    }
}

/// The kind of interface that a driver makes, for those that make one kind only.
fn kind_of_driver(driver: &str) -> Option<InterfaceKind> {
    let kind = match driver {
        "bonding" => "bond",
        "802.1Q VLAN Support" => "vlan",
        "veth" | "bridge" | "vxlan" | "geneve" | "dummy" | "team" | "openvswitch" | "macvlan" | "macsec" => driver,
        _ => return None,
    };
    Some(InterfaceKind::of_link_kind(kind))
}

fn offloads(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(refusal) = refused(cursor, intake) {
        write_refusal(intake, &refusal, |interface| &mut interface.features);
        return;
    }
    let line = cursor.peek().map_or(0, |line| line.number);
    let Some(found) = features::parse(cursor) else { return };
    let named = found.interface.as_ref().map(|at| at.value.as_str()).or_else(|| device(intake.command));
    let name = intake.interface_or_stand_in(named, line);
    let mut fresh = BTreeMap::new();
    // Groups first, so that the rows of their members win.
    let groups = found.rows.iter().filter(|row| features::kernel_name(&row.name) != row.name);
    let members = found.rows.iter().filter(|row| features::kernel_name(&row.name) == row.name);
    for row in groups.chain(members) {
        let feature = Feature { active: row.active, changeable: !row.fixed };
        fresh.insert(features::kernel_name(&row.name).to_owned(), feature);
    }
    // Old versions say of no row that it is fixed, or asked for in vain.
    let tells = found.rows.iter().any(|row| row.fixed || row.requested.is_some());
    let refused =
        found.rows.iter().filter(|row| row.requested.is_some_and(|wanted| wanted != row.active) && !row.fixed);
    let mut refused: Vec<String> = refused.map(|row| features::kernel_name(&row.name).to_owned()).collect();
    refused.sort();
    refused.dedup();
    let whole = !intake.is_filtered();
    let site = &mut *intake.site;
    if tells && whole {
        site.put(&name, |interface| &mut interface.features_refused, At::new(refused, line));
    }
    // A filtered output adds to what an earlier one said.
    if let Some(before) = site.interface(&name).features.known() {
        let mut both = before.clone();
        both.extend(fresh);
        fresh = both;
    }
    site.put(&name, |interface| &mut interface.features, At::new(fresh, line));
}

fn driver_statistics(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if refused(cursor, intake).is_some() {
        return;
    }
    let Some(found) = statistics::parse(cursor) else { return };
    let named = found.interface.as_ref().map(|at| at.value.as_str()).or_else(|| device(intake.command));
    let name = intake.interface_or_stand_in(named, found.line);
    if !found.rows.is_empty() {
        let partial = intake.is_filtered();
        intake.site.counters(&name, "ethtool_statistics", found.line, found.rows, partial);
    }
}
