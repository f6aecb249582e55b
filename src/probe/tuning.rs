//! Queues, interrupt moderation, EEE and FEC: decoded rows into an interface.

use super::ethtool_replies::{self, ChannelsRow, CoalesceRow, EeeRow, FecRow, LinkStateRow, RssRow};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::reading::{GapKind, Reading, SourceId};
use crate::snapshot::{Conflict, Interface, LinkModes};

/// A value, or the fact that the driver has none.
pub(super) fn or_absent<T>(value: Option<T>, source: SourceId) -> Reading<T> {
    value.map_or(Reading::Absent(source), |value| Reading::Known(value, source))
}

pub(super) fn apply_link_state(scan: &mut Scan<'_>, interface: &mut Interface, row: LinkStateRow, source: SourceId) {
    let detail = |code: u8| format!("state {code} of the link");
    interface.link.ext_state = match row.ext_state {
        None => Reading::Absent(source),
        Some(code) => match ethtool_replies::ext_state(code) {
            Some(words) => Reading::Known(words.into(), source),
            None => Reading::Unknown(scan.dead_end(GapKind::DriverUnknown, detail(code))),
        },
    };
    interface.link.sqi = or_absent(row.sqi, source);
    // A driver that cannot tell sends none.
    let Some(up) = row.up else { return };
    let admin_up = interface.admin_up.known() == Some(&true);
    if let (true, Reading::Known(used, used_source)) = (admin_up, &interface.link.up)
        && *used != up
    {
        scan.out.conflicts.push(Conflict {
            subject: interface.name.clone(),
            fact: "iface.link.up".into(),
            used: used.to_string(),
            used_source: *used_source,
            other: up.to_string(),
            other_source: source,
        });
    }
}

pub(super) fn apply_channels(interface: &mut Interface, row: ChannelsRow, source: SourceId) {
    let channels = &mut interface.channels;
    channels.rx = or_absent(row.rx, source);
    channels.rx_max = or_absent(row.rx_max, source);
    channels.tx = or_absent(row.tx, source);
    channels.tx_max = or_absent(row.tx_max, source);
    channels.combined = or_absent(row.combined, source);
    channels.combined_max = or_absent(row.combined_max, source);
}

pub(super) fn apply_coalesce(interface: &mut Interface, row: CoalesceRow, source: SourceId) {
    let coalesce = &mut interface.coalesce;
    coalesce.rx_usecs = or_absent(row.rx_usecs, source);
    coalesce.rx_frames = or_absent(row.rx_frames, source);
    coalesce.tx_usecs = or_absent(row.tx_usecs, source);
    coalesce.tx_frames = or_absent(row.tx_frames, source);
    coalesce.adaptive_rx = or_absent(row.adaptive_rx, source);
    coalesce.adaptive_tx = or_absent(row.adaptive_tx, source);
}

/// As `ethtool --show-eee` judges it: a port without a mode for EEE has none, whatever its flags say.
pub(super) fn apply_eee(interface: &mut Interface, row: EeeRow, source: SourceId) {
    if row.supported == Some(false) {
        return interface.eee.mark_absent(source);
    }
    interface.eee.enabled = or_absent(row.enabled, source);
    interface.eee.active = or_absent(row.active, source);
}

pub(super) fn apply_fec(scan: &mut Scan<'_>, interface: &mut Interface, row: &FecRow, source: SourceId) {
    if row.configured.is_empty() && row.active.is_none() {
        interface.fec.mark_absent(source);
    } else {
        let modes = LinkModes(row.configured.iter().map(|word| (*word).to_owned()).collect());
        interface.fec.configured = Reading::Known(modes, source);
        let active = row.active.map(ToOwned::to_owned);
        interface.fec.active =
            scan.or_unknown(active, source, GapKind::DriverUnknown, "the driver reports no FEC mode in use");
    }
    if !row.stats.is_empty() {
        interface.counters.push(statistics::block("ethtool_fec", source, row.stats.iter().copied()));
    }
}

/// Most receive queues of an interface.
const MOST_QUEUES: u32 = 1 << 16;

/// The receive queues in use; `None` where a kind of them is not known.
fn receive_queues(interface: &Interface) -> Option<u32> {
    let count = |reading: &Reading<u32>| match reading {
        Reading::Known(count, _) => Some(*count),
        Reading::Absent(_) => Some(0),
        Reading::Unknown(_) => None,
    };
    let sum = count(&interface.channels.rx)?.checked_add(count(&interface.channels.combined)?)?;
    (1..=MOST_QUEUES).contains(&sum).then_some(sum)
}

pub(super) fn apply_rss(scan: &mut Scan<'_>, interface: &mut Interface, row: RssRow, source: SourceId) {
    let most = row.table.as_ref().and_then(|table| table.iter().max().copied()).unwrap_or(0);
    interface.rss.table = match (row.table, receive_queues(interface)) {
        (None, _) => Reading::Absent(source),
        (Some(table), Some(queues)) if most < MOST_QUEUES => {
            let mut entries = vec![0; queues.max(most + 1) as usize];
            for queue in table {
                entries[queue as usize] += 1;
            }
            Reading::Known(entries, source)
        }
        (Some(_), _) => {
            let detail = "the number of receive queues is not known";
            Reading::Unknown(scan.gap(GapKind::Derived, detail, &plan::HASHING, &interface.name))
        }
    };
    interface.rss.function = match row.function {
        None => Reading::Absent(source),
        Some(bits) => {
            let word = ethtool_replies::hash_function(bits).map(str::to_owned);
            scan.or_unknown(word, source, GapKind::DriverUnknown, "a hash function of its own")
        }
    };
    let detail = "the kernel does not tell whether somebody set the table";
    interface.rss.configured = Reading::Unknown(scan.dead_end(GapKind::DriverUnknown, detail));
}
