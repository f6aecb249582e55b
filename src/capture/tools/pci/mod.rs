//! PCI: lspci.

use super::super::command::Command;
use super::super::pci::Kind;
use super::super::site::not_permitted;
use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::lspci::{self, Function};
use crate::reading::{Bytes, Gigatransfers, Reading};
use crate::snapshot::{PciAddress, PcieRole};

pub(super) static TOOLS: &[Tool] = &[
    Tool { name: "lspci -t", answers: is_tree, begins: begins_tree, read: tree },
    Tool { name: "lspci", answers: |command| command.program == "lspci", begins, read },
];

fn is_tree(command: &Command) -> bool {
    command.program == "lspci" && command.has_flag('t')
}

fn begins_tree(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| lspci::begins_tree(line.text.trim_end()))
}

fn begins(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| lspci::begins(line.text.trim()))
}

/// The function that `-s` names, where it names one.
fn asked_for(command: &Command) -> Option<PciAddress> {
    let mut words = command.arguments.iter();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("-s") {
            Some("") => words.next()?.as_str(),
            Some(value) => value,
            None => continue,
        };
        return value.parse().ok();
    }
    None
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let command = intake.command;
    let filtered = intake.is_filtered();
    let functions = lspci::parse(cursor);
    let picks = ["-s", "-d", "-i", "-H1", "-A"];
    let picked = command.is_none_or(|command| command.arguments.iter().any(|word| picks.iter().any(|pick| word.starts_with(pick))));
    for function in &functions {
        let named = function.address.as_ref().and_then(|at| at.value.parse().ok());
        let Some(address) = named.or_else(|| command.and_then(asked_for)) else { continue };
        put(intake, address, function, filtered);
    }
    if let Some(first) = functions.first().filter(|_| !picked && !filtered && functions.len() > 1) {
        let source = intake.site.source(first.line);
        intake.site.pci.lists_all(source);
    }
}

fn put(intake: &mut Intake<'_>, address: PciAddress, function: &Function, filtered: bool) {
    let command = intake.command;
    let site = &mut *intake.site;
    macro_rules! put {
        ($($leaf:ident: $value:expr),* $(,)?) => { $(
            if let Some(at) = $value {
                site.put_pci(address, |function| &mut function.$leaf, at);
            }
        )* };
    }
    put! {
        class: function.class.clone(),
        id: function.id.clone(),
        subsystem: function.subsystem.clone(),
        name: function.name.clone(),
        driver: function.driver.clone(),
        numa_node: function.numa_node.clone(),
        slot: function.slot.clone(),
        buses: function.buses.clone(),
        kind: function.kind.as_ref().and_then(|at| Some(At::new(kind(&at.value)?, at.line))),
        mps: function.payload.clone().map(|at| at.map(Bytes)),
        mps_supported: function.payload_most.clone().map(|at| at.map(Bytes)),
        mrrs: function.read_request.clone().map(|at| at.map(Bytes)),
        relaxed_ordering: function.relaxed_ordering.clone(),
    }
    for (link, is_now) in [(&function.link_now, true), (&function.link_most, false)] {
        let Some(At { value: figures, line }) = link else { continue };
        let speed = figures.speed.map(|speed| At::new(Gigatransfers(speed), *line));
        let width = figures.width.map(|width| At::new(width, *line));
        if is_now {
            put! { speed: speed, width: width }
        } else {
            put! { speed_max: speed, width_max: width }
        }
    }
    if let Some(line) = function.denied {
        let gap = match command {
            Some(command) => not_permitted(command, &site.file, line),
            None => crate::reading::Gap::new(crate::reading::GapKind::NotPermitted)
                .detail(format!("access denied at {}:{line}", site.file))
                .command(format!("sudo lspci -vv -s {address}")),
        };
        let gap = site.snapshot.origins.gap(gap);
        let held = site.pci.function(address);
        held.speed.fill(Reading::Unknown(gap));
        held.width.fill(Reading::Unknown(gap));
        held.mps.fill(Reading::Unknown(gap));
        held.mps_supported.fill(Reading::Unknown(gap));
        held.mrrs.fill(Reading::Unknown(gap));
        held.relaxed_ordering.fill(Reading::Unknown(gap));
    } else if let Some(line) = function.shows_capabilities.filter(|_| function.kind.is_none() && !filtered) {
        // All capabilities were shown, and the one of PCI Express is not among them.
        let source = site.source(line);
        let held = site.pci.function(address);
        held.kind.fill(Reading::Absent(source));
        held.mps.fill(Reading::Absent(source));
        held.mps_supported.fill(Reading::Absent(source));
        held.mrrs.fill(Reading::Absent(source));
        held.relaxed_ordering.fill(Reading::Absent(source));
    }
}

/// `Endpoint`, `Root Port (Slot+)`, `Downstream Port (Slot-)`.
fn kind(words: &str) -> Option<Kind> {
    let port = |role| Some(Kind::Port(role));
    match words.split(" (").next().unwrap_or_default().trim() {
        "Endpoint" | "Legacy Endpoint" => Some(Kind::Endpoint),
        "Root Complex Integrated Endpoint" | "Root Complex Event Collector" => Some(Kind::Integrated),
        "Root Port" => port(PcieRole::RootPort),
        "Upstream Port" => port(PcieRole::SwitchUpstream),
        "Downstream Port" => port(PcieRole::SwitchDownstream),
        "PCI-Express to PCI/PCI-X Bridge" | "PCI/PCI-X to PCI-Express Bridge" => port(PcieRole::PciBridge),
        _ => None,
    }
}

fn tree(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for row in lspci::tree(cursor) {
        let Some(buses) = row.below else { continue };
        let address = PciAddress { domain: row.domain, bus: row.bus, device: row.device, function: row.function };
        intake.site.put_pci(address, |function| &mut function.buses, At::new(buses, row.line));
    }
}
