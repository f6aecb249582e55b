//! The tables of ethtool: rings, channels, pause, coalescing, EEE, FEC.

use super::super::super::site::Refusal;
use super::{Intake, device, mark_refusal, refused, write_refusal};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ethtool::switch;
use crate::formats::ethtool::table::{self, Shape, Table};
use crate::reading::Reading;
use crate::snapshot::{Interface, LinkModes};

/// Section of what is possible, and of what is set.
const MOST: usize = 1;
const SET: usize = 2;

type Leaf<T> = fn(&mut Interface) -> &mut Reading<T>;

/// Reads a table and names its interface; writes a refusal into `leaves`.
fn table<T>(
    cursor: &mut Cursor<'_>,
    intake: &mut Intake<'_>,
    shape: &Shape,
    leaves: &[Leaf<T>],
) -> Option<(String, Table)> {
    // What a whole section is told by, these leaves are not all of.
    let refuse = |intake: &mut Intake<'_>, refusal: &At<Refusal>| {
        for leaf in leaves {
            write_refusal(intake, refusal, leaf);
        }
        mark_refusal(intake, refusal, |interface, source| match shape.headlines {
            headlines if headlines == table::COALESCE.headlines => interface.coalesce.mark_absent(source),
            headlines if headlines == table::FEC.headlines => interface.fec.mark_absent(source),
            _ => {}
        });
    };
    if let Some(refusal) = refused(cursor, intake) {
        refuse(intake, &refusal);
        return None;
    }
    let found = table::parse(cursor, shape)?;
    let named = found.interface.as_ref().map(|at| at.value.as_str()).or_else(|| device(intake.command));
    let name = intake.interface_or_stand_in(named, found.line);
    // Old versions print the refusal behind the headline, where no row follows.
    if found.rows.is_empty()
        && let Some(refusal) = refused(cursor, intake)
    {
        refuse(intake, &refusal);
    }
    Some((name, found))
}

/// A number, or `n/a`, which says that the driver has no such thing.
fn number(intake: &mut Intake<'_>, name: &str, leaf: Leaf<u32>, cell: Option<At<&str>>) {
    let Some(cell) = cell else { return };
    match cell.value.parse() {
        Ok(value) => intake.site.put(name, leaf, At::new(value, cell.line)),
        Err(_) if cell.value == "n/a" => intake.site.put_absent(name, leaf, cell.line),
        Err(_) => {}
    }
}

/// As [`number`], where zero of all says the same as `n/a`: old versions print 0 for what a driver lacks.
fn count(intake: &mut Intake<'_>, name: &str, leaf: Leaf<u32>, cell: Option<At<&str>>, most: Option<&At<&str>>) {
    match (cell, most) {
        (Some(cell), Some(most)) if most.value == "0" && cell.value == "0" => {
            intake.site.put_absent(name, leaf, cell.line);
        }
        (cell, _) => number(intake, name, leaf, cell),
    }
}

fn flag(intake: &mut Intake<'_>, name: &str, leaf: Leaf<bool>, cell: Option<At<&str>>) {
    let Some(cell) = cell else { return };
    match switch(cell.value) {
        Some(on) => intake.site.put(name, leaf, At::new(on, cell.line)),
        None if cell.value == "n/a" => intake.site.put_absent(name, leaf, cell.line),
        None => {}
    }
}

pub(super) fn rings(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let leaves: [Leaf<u32>; 4] =
        [|i| &mut i.ring.rx_max, |i| &mut i.ring.tx_max, |i| &mut i.ring.rx, |i| &mut i.ring.tx];
    let Some((name, table)) = table(cursor, intake, &table::RINGS, &leaves) else { return };
    let [rx_max, tx_max, rx, tx] = leaves;
    let most = (table.get(MOST, "rx"), table.get(MOST, "tx"));
    count(intake, &name, rx, table.get(SET, "rx"), most.0.as_ref());
    count(intake, &name, tx, table.get(SET, "tx"), most.1.as_ref());
    count(intake, &name, rx_max, most.0.clone(), most.0.as_ref());
    count(intake, &name, tx_max, most.1.clone(), most.1.as_ref());
}

pub(super) fn channels(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let leaves: [Leaf<u32>; 6] = [
        |i| &mut i.channels.rx,
        |i| &mut i.channels.rx_max,
        |i| &mut i.channels.tx,
        |i| &mut i.channels.tx_max,
        |i| &mut i.channels.combined,
        |i| &mut i.channels.combined_max,
    ];
    let Some((name, table)) = table(cursor, intake, &table::CHANNELS, &leaves) else { return };
    for (key, pair) in ["rx", "tx", "combined"].into_iter().zip(leaves.chunks(2)) {
        let most = table.get(MOST, key);
        count(intake, &name, pair[0], table.get(SET, key), most.as_ref());
        count(intake, &name, pair[1], most.clone(), most.as_ref());
    }
}

pub(super) fn pause(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let leaves: [Leaf<bool>; 3] = [|i| &mut i.pause.autoneg, |i| &mut i.pause.rx, |i| &mut i.pause.tx];
    let Some((name, table)) = table(cursor, intake, &table::PAUSE, &leaves) else { return };
    let cell = |key: &str| table.get(0, key);
    flag(intake, &name, leaves[0], cell("autonegotiate"));
    // With autonegotiation the link does what was negotiated, where that is printed.
    flag(intake, &name, leaves[1], cell("rx negotiated").or_else(|| cell("rx")));
    flag(intake, &name, leaves[2], cell("tx negotiated").or_else(|| cell("tx")));
    let rows: Vec<(String, u64)> = table
        .rows
        .iter()
        .filter(|row| row.key.ends_with("_pause_frames"))
        .filter_map(|row| Some((row.key.clone(), row.value.parse().ok()?)))
        .collect();
    if !rows.is_empty() {
        intake.site.counters(&name, "ethtool_pause", table.line, rows, false);
    }
}

pub(super) fn coalesce(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let numbers: [(Leaf<u32>, &str); 4] = [
        (|i| &mut i.coalesce.rx_usecs, "rx-usecs"),
        (|i| &mut i.coalesce.rx_frames, "rx-frames"),
        (|i| &mut i.coalesce.tx_usecs, "tx-usecs"),
        (|i| &mut i.coalesce.tx_frames, "tx-frames"),
    ];
    let leaves: Vec<Leaf<u32>> = numbers.iter().map(|(leaf, _)| *leaf).collect();
    let Some((name, table)) = table(cursor, intake, &table::COALESCE, &leaves) else { return };
    for (leaf, key) in numbers {
        number(intake, &name, leaf, table.get(0, key));
    }
    flag(intake, &name, |i| &mut i.coalesce.adaptive_rx, table.get(0, "adaptive rx"));
    flag(intake, &name, |i| &mut i.coalesce.adaptive_tx, table.get(0, "adaptive tx"));
}

pub(super) fn eee(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let leaves: [Leaf<bool>; 2] = [|i| &mut i.eee.enabled, |i| &mut i.eee.active];
    let Some((name, table)) = table(cursor, intake, &table::EEE, &leaves) else { return };
    let Some(status) = table.get(0, "eee status") else { return };
    if status.value.starts_with("not supported") {
        intake.site.put_absent(&name, leaves[0], status.line);
        intake.site.put_absent(&name, leaves[1], status.line);
        return;
    }
    let enabled = status.value.starts_with("enabled");
    if enabled || status.value.starts_with("disabled") {
        intake.site.put(&name, leaves[0], At::new(enabled, status.line));
        intake.site.put(&name, leaves[1], At::new(enabled && status.value.ends_with("- active"), status.line));
    }
}

pub(super) fn fec(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let configured: [Leaf<LinkModes>; 1] = [|i| &mut i.fec.configured];
    let Some((name, table)) = table(cursor, intake, &table::FEC, &configured) else { return };
    let cell = |keys: [&str; 2]| keys.into_iter().find_map(|key| table.get(0, key));
    if let Some(cell) = cell(["configured fec encodings", "supported/configured fec encodings"]) {
        let modes = cell.value.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        intake.site.put(&name, configured[0], At::new(LinkModes(modes), cell.line));
    }
    if let Some(cell) = cell(["active fec encoding", "active fec encodings"]) {
        let active = match cell.value.to_ascii_lowercase().as_str() {
            "none" | "off" => "off".to_owned(),
            other => other.to_owned(),
        };
        intake.site.put(&name, |i| &mut i.fec.active, At::new(active, cell.line));
    }
    // With `-I` the counts follow; those of lanes are parts of them.
    let names = [
        ("corrected_blocks", "corrected"),
        ("uncorrectable_blocks", "uncorrectable"),
        ("corrected_bits", "corrected_bits"),
    ];
    let row = |(printed, name): (&str, &str)| Some((name.to_owned(), table.get(1, printed)?.value.parse().ok()?));
    let rows: Vec<(String, u64)> = names.into_iter().filter_map(row).collect();
    if !rows.is_empty() {
        let partial = intake.is_filtered();
        intake.site.counters(&name, "ethtool_fec", table.line, rows, partial);
    }
}
