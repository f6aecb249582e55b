//! Interfaces as rows: what each can do, what it loses, and where. Virtual ones that are alike share a line.

use std::collections::{BTreeMap, BTreeSet};

use super::{Grid, NONE, and, full_name, is_virtual, link_text, range_text, show, words};
use crate::reading::numbers;
use crate::report::escape;
use crate::report::model::{DropRow, HostCounter, InterfaceRow, Report};

/// Places where packets are lost, from the wire inwards and out again, with the words of a column head.
const PLACES: [(&str, &str); 8] = [
    ("wire", "WIRE"),
    ("nic", "NIC"),
    ("ring", "RING"),
    ("softnet", "SOFTNET"),
    ("socket", "SOCKET"),
    ("qdisc", "QDISC"),
    ("tx_ring", "TX RING"),
    ("tx_wire", "TX WIRE"),
];

/// Most interfaces on top of others that have rows of their own without cause.
const FEW_STACKED: usize = 4;

/// Splits off the virtual interfaces of which there is nothing to say; they get one line per verdict.
pub(super) fn fold_alike(report: &Report) -> (Vec<&InterfaceRow>, Vec<String>) {
    let mut rows = Vec::new();
    let mut groups: Vec<(String, Vec<&InterfaceRow>)> = Vec::new();
    // A few that stand on another are told with what they can do; of many only what is wrong with them.
    let stacked = |row: &InterfaceRow| row.ceiling.as_ref().is_some_and(|ceiling| ceiling.stands_on.is_some());
    let many = report.interfaces.iter().filter(|row| stacked(row)).count() > FEW_STACKED;
    for row in &report.interfaces {
        // A guest's own port is of kind ethernet: it is what its owner asks about.
        let dull = is_virtual(row)
            && row.kind.as_deref() != Some("ethernet")
            && !row.is_session
            && (row.ceiling.is_none() || many && stacked(row))
            && row.measured_bps.is_none()
            && row.drops.iter().all(|drop| lost(drop).unwrap_or(0) == 0)
            && row.verdict.iter().all(|word| matches!(word.as_str(), "ok" | "idle" | "down" | "not judged"));
        if !dull {
            rows.push(row);
            continue;
        }
        let mut verdict = if row.verdict.is_empty() { "ok".into() } else { show(&row.verdict.join(", ")) };
        // Only what is equal is alike; the loopback's MTU is a size of its own.
        if let Some(mtu) = row.mtu.filter(|mtu| *mtu != 1500 && row.kind.as_deref() != Some("loopback")) {
            verdict += &format!(", MTU {mtu}");
        }
        match groups.iter_mut().find(|(word, _)| *word == verdict) {
            Some((_, members)) => members.push(row),
            None => groups.push((verdict, vec![row])),
        }
    }
    let lines = groups.iter().map(|(verdict, members)| {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for row in members {
            *kinds.entry(row.kind.as_deref().unwrap_or_default()).or_default() += 1;
        }
        let many = |row: &InterfaceRow| {
            let kind = row.kind.as_deref().unwrap_or_default();
            kinds.get(kind).copied().filter(|n| *n > 3 && !kind.is_empty()).map(|n| (kind.to_owned(), n))
        };
        let mut names: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        for row in members {
            let name = match many(row) {
                Some((kind, n)) => format!("{} {}", numbers::count(n as u64), words(&kind)),
                None => full_name(row),
            };
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
        names.sort_by_key(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
        if names.len() > 12 {
            let more = names.len() - 10;
            names.truncate(10);
            names.push(format!("{more} more"));
        }
        let alike = if members.len() > 1 { "alike, " } else { "" };
        format!("+ {}: {alike}{verdict}", names.join(", "))
    });
    let lines = lines.collect();
    (rows, lines)
}

pub(super) fn interface_grid(rows: &[&InterfaceRow]) -> Grid {
    let heads = ["IFACE", "LINK", "MTU", "PCIE", "CAN DO (TCP)", "MEASURED", "LOSS", "STATE"];
    let cells = rows.iter().map(|row| {
        vec![
            full_name(row),
            link_cell(row),
            row.mtu.map(|mtu| mtu.to_string()).unwrap_or_default(),
            row.pcie.as_ref().map(|pcie| link_text(pcie.generation, pcie.width)).unwrap_or_default(),
            row.ceiling.as_ref().map(range_text).unwrap_or_default(),
            row.measured_bps.map(numbers::rate).unwrap_or_default(),
            loss_cell(&row.drops),
            state_cell(row),
        ]
    });
    without_empty_columns(&heads, &cells.collect::<Vec<_>>())
}

/// Drops columns in which nothing stands and writes [`NONE`] into the gaps of the others.
fn without_empty_columns(heads: &[&str], rows: &[Vec<String>]) -> Grid {
    let kept: Vec<usize> = (0..heads.len()).filter(|i| *i == 0 || rows.iter().any(|row| !row[*i].is_empty())).collect();
    let cell = |text: &String| if text.is_empty() { NONE.to_owned() } else { text.clone() };
    Grid {
        heads: kept.iter().map(|i| heads[*i].to_owned()).collect(),
        rows: rows.iter().map(|row| kept.iter().map(|i| cell(&row[*i])).collect()).collect(),
    }
}

fn link_cell(row: &InterfaceRow) -> String {
    match (row.state.as_deref(), row.speed_bps) {
        (Some(state @ ("down" | "no-carrier" | "disabled")), _) => state.to_owned(),
        (_, Some(speed)) => numbers::link_speed(speed),
        _ => String::new(),
    }
}

fn state_cell(row: &InterfaceRow) -> String {
    let mut words: Vec<String> = row.verdict.iter().filter(|word| !word.is_empty()).map(|word| show(word)).collect();
    if row.is_session {
        words.push("your session".into());
    }
    words.join(", ")
}

/// Packets lost at a place that could be read: total, or growth where only that is known.
pub(super) fn lost(drop: &DropRow) -> Option<u64> {
    match (drop.total, drop.grew) {
        (None, None) => None,
        (total, grew) => Some(total.unwrap_or(0).max(grew.unwrap_or(0))),
    }
}

/// "+33 120" while it grows, "12 (+0)" where it does not, "12" without a second sample, "0", "0 seen" where a place
/// could not be read.
fn loss_cell(drops: &[DropRow]) -> String {
    let drops: Vec<&DropRow> = drops.iter().filter(|drop| drop.counted_at.is_none()).collect();
    let known: Vec<&DropRow> = drops.iter().copied().filter(|drop| lost(drop).is_some()).collect();
    if known.is_empty() {
        return String::new();
    }
    let total = known.iter().fold(0u64, |sum, drop| sum.saturating_add(lost(drop).unwrap_or(0)));
    let grew = known.iter().filter_map(|drop| drop.grew).reduce(u64::saturating_add);
    match (total, grew) {
        (_, Some(grew)) if grew > 0 => format!("+{}", numbers::count(grew)),
        (0, _) if known.len() < drops.len() => "0 seen".into(),
        (0, _) => "0".into(),
        (total, Some(_)) => format!("{} (+0)", numbers::count(total)),
        (total, None) => numbers::count(total),
    }
}

/// "as eth2" where the count of the same port stands in that row, [`NONE`] where it could not be read.
fn drop_cell(drop: &DropRow) -> String {
    match &drop.counted_at {
        Some(first) => format!("as {}", show(first)),
        None => amount(drop.total, drop.grew).unwrap_or_else(|| NONE.into()),
    }
}

/// "12 (+3)": in all, and in the sample.
fn amount(total: Option<u64>, grew: Option<u64>) -> Option<String> {
    Some(match (total, grew) {
        (None, None) => return None,
        (Some(0), None | Some(0)) | (None, Some(0)) => "0".into(),
        (Some(total), None) => numbers::count(total),
        (Some(total), Some(grew)) => format!("{} (+{})", numbers::count(total), numbers::count(grew)),
        (None, Some(grew)) => format!("+{}", numbers::count(grew)),
    })
}

/// The host as a whole, as one more row of who drops.
pub(super) fn host_row(report: &Report) -> Option<InterfaceRow> {
    let drops = report.host_drops.clone();
    (!drops.is_empty()).then(|| InterfaceRow { name: "host".into(), drops, ..InterfaceRow::default() })
}

/// Packets lost by place. A cell without a counter stays empty; a place that no row could read has no column.
pub(super) fn drop_grid(rows: &[&InterfaceRow]) -> Grid {
    let tells = |drop: &DropRow| lost(drop).is_some() || drop.counted_at.is_some();
    let with_data = || rows.iter().filter(|row| row.drops.iter().any(tells));
    let read =
        |place: &str| with_data().flat_map(|row| &row.drops).any(|drop| drop.place == place && lost(drop).is_some());
    let places: Vec<(&str, &str)> = PLACES.into_iter().filter(|(place, _)| read(place)).collect();
    let cells = |row: &&InterfaceRow| {
        let at = |place: &str| row.drops.iter().find(|drop| drop.place == place).map(drop_cell).unwrap_or_default();
        std::iter::once(full_name(row)).chain(places.iter().map(|(place, _)| at(place))).collect()
    };
    Grid {
        heads: std::iter::once("IFACE").chain(places.iter().map(|(_, head)| *head)).map(String::from).collect(),
        rows: with_data().map(cells).collect(),
    }
}

/// Counters of the whole host that lost something: "UdpRcvbufErrors 12 (+3): datagrams dropped ...".
pub(super) fn host_losses(report: &Report) -> Vec<String> {
    let line = |one: &HostCounter| {
        let lost = one.total.unwrap_or(0).max(one.grew.unwrap_or(0));
        let amount = amount(one.total, one.grew).filter(|_| lost > 0)?;
        Some(format!("{} {amount}: {}", show(&one.counter), escape::prose(&one.what)))
    };
    // What grows comes first.
    let (growing, others): (Vec<_>, Vec<_>) =
        report.host_counters.iter().partition(|one| one.grew.is_some_and(|grew| grew > 0));
    growing.into_iter().chain(others).filter_map(line).collect()
}

/// "0 at softnet_dropped and TCPRcvQDrop; not readable: UdpRcvbufErrors", of the counters that have a place.
pub(super) fn host_clean(report: &Report) -> String {
    let placed = || report.host_counters.iter().filter(|one| one.place.is_some());
    let names = |wanted: fn(&HostCounter) -> bool| {
        and(&placed().filter(|one| wanted(one)).map(|one| show(&one.counter)).collect::<Vec<_>>())
    };
    let clean = names(|one| amount(one.total, one.grew).as_deref() == Some("0"));
    let unread = names(|one| one.total.is_none() && one.grew.is_none());
    let parts = [("0 at ", clean), ("not readable: ", unread)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("{word}{names}"))
        .collect();
    parts.join("; ")
}

/// Places of which the model speaks, with whether every, and whether any interface could be read there.
fn places_read(rows: &[&InterfaceRow]) -> Vec<(String, bool, bool)> {
    let of = |(place, head): (&str, &str)| {
        let drops = rows.iter().flat_map(|row| &row.drops).filter(|drop| drop.counted_at.is_none());
        let drops: Vec<&DropRow> = drops.filter(|drop| drop.place == place).collect();
        let name = if head == "NIC" { head.to_owned() } else { head.to_ascii_lowercase() };
        let read = |drop: &&DropRow| lost(drop).is_some();
        (!drops.is_empty()).then(|| (name, drops.iter().all(read), drops.iter().any(read)))
    };
    PLACES.into_iter().filter_map(of).collect()
}

/// What the cells mean: "packets since the driver was loaded, of the host since boot (in the sample); - is not readable".
pub(super) fn drops_note(rows: &[&InterfaceRow], grid: &Grid) -> String {
    let unread: Vec<String> = places_read(rows).into_iter().filter(|(.., any)| !any).map(|(name, ..)| name).collect();
    let mut note = "packets since the driver was loaded (in the sample); - is not readable".to_owned();
    if grid.rows.iter().flatten().any(String::is_empty) {
        note += ", empty: no such counter";
    }
    if !unread.is_empty() {
        note += &format!("; nowhere readable: {}", and(&unread));
    }
    note
}

pub(super) fn no_drops(rows: &[&InterfaceRow]) -> String {
    let (read, unread): (Vec<_>, Vec<_>) = places_read(rows).into_iter().partition(|(_, all, _)| *all);
    let names = |list: Vec<(String, bool, bool)>| and(&list.into_iter().map(|(name, ..)| name).collect::<Vec<_>>());
    let at = if read.is_empty() { String::new() } else { format!(" at {}", names(read)) };
    let but = if unread.is_empty() { String::new() } else { format!("; not readable: {}", names(unread)) };
    format!("no loss counted{at}{but}")
}
