//! What ethtool says over netlink of each interface: a dump per command, and a request of its own for hardware that the
//! dump passed over, so that the reason is kept.

use std::collections::BTreeMap;

use super::ethtool::{self, Command, Family, FeaturesRow, LinkModesRow, Names, PauseRow, RingsRow};
use super::interfaces::{Links, Netdev};
use super::kernel::{Reply, Request};
use super::netlink::{self, Answer};
use super::plan::{self, Probe};
use super::scan::Scan;
use super::tuning::{self, or_absent};
use super::{ethtool_replies, legacy, statistics};
use crate::reading::{BitsPerSecond, Gap, GapId, GapKind, Reading, SourceId};
use crate::snapshot::{CounterBlock, Duplex, Feature, Interface, LinkModes, PortType};

/// What one ethtool command said of one interface.
enum Outcome<'a> {
    Found(&'a [u8]),
    /// The driver has no such thing.
    Unsupported,
    Gap(GapId),
}

fn probe_of(command: Command) -> &'static Probe {
    match command {
        Command::LinkInfo => &plan::LINK_INFO,
        Command::LinkModes => &plan::LINK_MODES,
        Command::LinkState => &plan::LINK_STATE,
        Command::Features => &plan::FEATURES,
        Command::Rings => &plan::RINGS,
        Command::Channels => &plan::CHANNELS,
        Command::Coalesce => &plan::COALESCE,
        Command::Pause => &plan::PAUSE,
        Command::Eee => &plan::EEE,
        Command::Fec => &plan::FEC,
        Command::PrivateFlags => &plan::PRIVATE_FLAGS,
        Command::Rss => &plan::HASHING,
    }
}

/// Asks ethtool over netlink and fills the interfaces of the snapshot. `families` answers [`ethtool::families_request`].
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links, families: &Answer) -> Option<Family> {
    let Some(family) = families.parts.iter().find_map(|payload| ethtool::family(payload)) else {
        let gap = match &families.refusal {
            Some(refusal) => scan.refusal(refusal, &plan::ETHTOOL, Gap::ANY_INTERFACE),
            None if families.complete => scan.gap(
                GapKind::KernelTooOld,
                "no ethtool over netlink (kernel before 5.6)",
                &plan::ETHTOOL,
                Gap::ANY_INTERFACE,
            ),
            None => scan.gap(GapKind::Malformed, "the dump of families has no end", &plan::ETHTOOL, Gap::ANY_INTERFACE),
        };
        for command in Command::ALL {
            each(scan, links, command, &Names::default(), |_, _| Outcome::Gap(gap));
        }
        legacy::collect(scan, links, &Command::ALL);
        return None;
    };
    let known = |command: Command| family.commands.contains(&u32::from(command as u8));
    let mut requests = vec![ethtool::names_request(family.id)];
    let commands: Vec<Command> = Command::ALL.into_iter().filter(|command| known(*command)).collect();
    requests.extend(commands.iter().map(|command| ethtool::request(family.id, *command, None, true)));
    let mut answers = netlink::ask(scan.kernel, &requests).into_iter();
    let names = answers.next().unwrap_or_default();
    let names = names.parts.first().map(|payload| ethtool::names(payload)).unwrap_or_default();
    for command in Command::ALL.into_iter().filter(|command| !known(*command)) {
        let gap = scan.gap(GapKind::KernelTooOld, command.name(), probe_of(command), Gap::ANY_INTERFACE);
        each(scan, links, command, &names, |_, _| Outcome::Gap(gap));
    }
    let older: Vec<Command> = Command::ALL.into_iter().filter(|command| !known(*command)).collect();
    legacy::collect(scan, links, &older);
    for (command, answer) in commands.into_iter().zip(answers) {
        one_command(scan, links, family.id, command, answer, &names);
    }
    Some(family)
}

/// True where the kernel does not know a flag of the request, which an older one says by EINVAL.
fn wants_fewer_flags(command: Command, answer: &Answer) -> bool {
    command.has_stats() && matches!(answer.refusal, Some(Reply::Error { errno: libc::EINVAL, .. }))
}

fn one_command(scan: &mut Scan<'_>, links: &Links, family: u16, command: Command, answer: Answer, names: &Names) {
    let mut answer = answer;
    let mut stats = true;
    if wants_fewer_flags(command, &answer) {
        stats = false;
        let request = ethtool::request(family, command, None, false);
        answer = netlink::ask(scan.kernel, &[request]).pop().unwrap_or_default();
    }
    if answer.interrupted {
        scan.remark("the list of interfaces changed while it was read".into());
    }
    // Further contexts of hashing are not that of the port.
    let main = |(_, payload): &(u32, &[u8])| {
        command != Command::Rss || ethtool_replies::rss(payload).is_some_and(|row| row.context == 0)
    };
    let dumped: BTreeMap<u32, &[u8]> = answer
        .parts
        .iter()
        .filter_map(|payload| Some((ethtool::device(payload)?, payload.as_slice())))
        .filter(main)
        .collect();
    // A dump passes over devices without support and ends at the first that fails otherwise.
    let hopeless = matches!(answer.refusal, Some(Reply::TimedOut | Reply::Skipped { .. }));
    let missing: Vec<&Netdev> = links
        .devices
        .iter()
        .filter(|device| device.worth_asking && !hopeless && !dumped.contains_key(&device.row.index))
        .collect();
    let requests: Vec<Request> =
        missing.iter().map(|device| ethtool::request(family, command, Some(device.row.index), stats)).collect();
    let followed = netlink::ask(scan.kernel, &requests);
    let followed: BTreeMap<u32, &Answer> = missing.iter().map(|device| device.row.index).zip(followed.iter()).collect();
    let probe = probe_of(command);
    each(scan, links, command, names, |scan, device| {
        if let Some(payload) = dumped.get(&device.row.index) {
            return Outcome::Found(payload);
        }
        if let Some(answer) = followed.get(&device.row.index) {
            return match (answer.parts.first(), &answer.refusal) {
                (Some(payload), _) => Outcome::Found(payload),
                (None, Some(Reply::Error { errno: libc::EOPNOTSUPP, .. })) => Outcome::Unsupported,
                (None, Some(refusal)) => Outcome::Gap(scan.refusal(refusal, probe, &device.name)),
                (None, None) => Outcome::Gap(scan.gap(GapKind::Malformed, "an empty answer", probe, &device.name)),
            };
        }
        match &answer.refusal {
            Some(Reply::Error { errno: libc::EOPNOTSUPP, .. }) => Outcome::Unsupported,
            Some(refusal) => Outcome::Gap(scan.refusal(refusal, probe, &device.name)),
            None if answer.complete => Outcome::Unsupported,
            None => Outcome::Gap(scan.gap(GapKind::Malformed, "the dump has no end", probe, &device.name)),
        }
    });
}

/// Applies the outcome of a command to each interface of the snapshot.
fn each<'a>(
    scan: &mut Scan<'_>,
    links: &Links,
    command: Command,
    names: &Names,
    mut outcome: impl FnMut(&mut Scan<'_>, &Netdev) -> Outcome<'a>,
) {
    let mut interfaces = std::mem::take(&mut scan.out.interfaces);
    for interface in &mut interfaces {
        let Some(device) = interface.index.known().and_then(|index| links.at(*index)) else { continue };
        match outcome(scan, device) {
            Outcome::Found(payload) => {
                let source = scan.netlink(command.name(), &device.name);
                if !decode(scan, interface, device, command, payload, names, source) {
                    let probe = probe_of(command);
                    let gap = scan.gap(GapKind::Malformed, command.name(), probe, &device.name);
                    mark(interface, command, gap);
                }
            }
            Outcome::Unsupported => {
                let subject = if device.worth_asking { device.name.as_str() } else { "all interfaces" };
                let source = scan.netlink(command.name(), subject);
                mark_absent(interface, command, source);
            }
            Outcome::Gap(gap) => mark(interface, command, gap),
        }
    }
    scan.out.interfaces = interfaces;
}

fn mark(interface: &mut Interface, command: Command, gap: GapId) {
    match command {
        Command::LinkInfo => interface.port.connector.fill(Reading::Unknown(gap)),
        Command::LinkModes => interface.link.mark(gap),
        Command::LinkState => {
            interface.link.up.fill(Reading::Unknown(gap));
            // Link modes, which are read before, say nothing of these.
            interface.link.ext_state = Reading::Unknown(gap);
            interface.link.sqi = Reading::Unknown(gap);
        }
        Command::Features => {
            interface.features.fill(Reading::Unknown(gap));
            interface.features_refused.fill(Reading::Unknown(gap));
        }
        Command::Rings => interface.ring.mark(gap),
        Command::Channels => interface.channels.mark(gap),
        Command::Coalesce => interface.coalesce.mark(gap),
        Command::Pause => interface.pause.mark(gap),
        Command::Eee => interface.eee.mark(gap),
        Command::Fec => interface.fec.mark(gap),
        Command::PrivateFlags => interface.private_flags.fill(Reading::Unknown(gap)),
        Command::Rss => interface.rss.mark(gap),
    }
}

fn mark_absent(interface: &mut Interface, command: Command, source: SourceId) {
    match command {
        Command::LinkInfo => interface.port.connector.fill(Reading::Absent(source)),
        Command::LinkModes => interface.link.mark_absent(source),
        Command::LinkState => {
            interface.link.ext_state = Reading::Absent(source);
            interface.link.sqi = Reading::Absent(source);
        }
        Command::Features => {
            interface.features.fill(Reading::Absent(source));
            interface.features_refused.fill(Reading::Absent(source));
        }
        Command::Rings => interface.ring.mark_absent(source),
        Command::Channels => interface.channels.mark_absent(source),
        Command::Coalesce => interface.coalesce.mark_absent(source),
        Command::Pause => interface.pause.mark_absent(source),
        Command::Eee => interface.eee.mark_absent(source),
        Command::Fec => interface.fec.mark_absent(source),
        Command::PrivateFlags => interface.private_flags.fill(Reading::Absent(source)),
        Command::Rss => interface.rss.mark_absent(source),
    }
}

fn decode(
    scan: &mut Scan<'_>,
    interface: &mut Interface,
    device: &Netdev,
    command: Command,
    payload: &[u8],
    names: &Names,
    source: SourceId,
) -> bool {
    match command {
        Command::LinkInfo => {
            let Some(port) = ethtool::port(payload) else { return false };
            interface.port.connector = Reading::Known(port_type(port), source);
        }
        Command::LinkModes => {
            let Some(row) = ethtool::link_modes(payload) else { return false };
            apply_link_modes(scan, interface, device, &row, &names.link_modes, source);
        }
        Command::LinkState => {
            let Some(row) = ethtool_replies::link_state(payload) else { return false };
            tuning::apply_link_state(scan, interface, row, source);
        }
        Command::Features => {
            if names.features.is_empty() {
                return false;
            }
            let Some(row) = ethtool::features(payload) else { return false };
            interface.features = apply_features(&row, &names.features, source);
            interface.features_refused = refused_features(&row, &names.features, source);
        }
        Command::Rings => {
            let Some(row) = ethtool::rings(payload) else { return false };
            apply_rings(interface, row, source);
        }
        Command::Pause => {
            let Some(row) = ethtool::pause(payload) else { return false };
            apply_pause(interface, &row, source);
        }
        Command::Channels => {
            let Some(row) = ethtool_replies::channels(payload) else { return false };
            tuning::apply_channels(interface, row, source);
        }
        Command::Coalesce => {
            let Some(row) = ethtool_replies::coalesce(payload) else { return false };
            tuning::apply_coalesce(interface, row, source);
        }
        Command::Eee => {
            let Some(row) = ethtool_replies::eee(payload) else { return false };
            tuning::apply_eee(interface, row, source);
        }
        Command::Fec => {
            let Some(row) = ethtool_replies::fec(payload) else { return false };
            tuning::apply_fec(scan, interface, &row, source);
        }
        Command::PrivateFlags => {
            let Some(flags) = ethtool_replies::private_flags(payload) else { return false };
            interface.private_flags = Reading::Known(flags, source);
        }
        Command::Rss => {
            let Some(row) = ethtool_replies::rss(payload) else { return false };
            tuning::apply_rss(scan, interface, row, source);
        }
    }
    true
}

pub(super) fn apply_features(
    row: &FeaturesRow,
    names: &BTreeMap<usize, String>,
    source: SourceId,
) -> Reading<BTreeMap<String, Feature>> {
    let feature =
        |bit| Feature { active: row.active.value(bit), changeable: row.hardware.value(bit) && !row.fixed.value(bit) };
    Reading::Known(names.iter().map(|(bit, name)| (name.clone(), feature(*bit))).collect(), source)
}

/// Features that are not as somebody asked for; those that are fixed cannot be asked for.
pub(super) fn refused_features(
    row: &FeaturesRow,
    names: &BTreeMap<usize, String>,
    source: SourceId,
) -> Reading<Vec<String>> {
    let Some(wanted) = &row.wanted else { return Reading::Absent(source) };
    let refused =
        |bit: usize| row.hardware.value(bit) && !row.fixed.value(bit) && wanted.value(bit) != row.active.value(bit);
    let mut refused: Vec<String> =
        names.iter().filter(|(bit, _)| refused(**bit)).map(|(_, name)| name.clone()).collect();
    refused.sort();
    Reading::Known(refused, source)
}

pub(super) fn apply_rings(interface: &mut Interface, row: RingsRow, source: SourceId) {
    interface.ring.rx = or_absent(row.rx, source);
    interface.ring.rx_max = or_absent(row.rx_max, source);
    interface.ring.tx = or_absent(row.tx, source);
    interface.ring.tx_max = or_absent(row.tx_max, source);
}

pub(super) fn apply_pause(interface: &mut Interface, row: &PauseRow, source: SourceId) {
    interface.pause.autoneg = or_absent(row.autoneg, source);
    interface.pause.rx = or_absent(row.rx, source);
    interface.pause.tx = or_absent(row.tx, source);
    if !row.stats.is_empty() {
        interface.counters.push(pause_block(&row.stats, source));
    }
}

/// Statistics of pause frames as a block.
pub(super) fn pause_block(rows: &[(&'static str, u64)], source: SourceId) -> CounterBlock {
    statistics::block("ethtool_pause", source, rows.iter().copied())
}

pub(super) fn port_type(port: u8) -> PortType {
    match port {
        0 => PortType::Tp,
        1 => PortType::Aui,
        2 => PortType::Mii,
        3 => PortType::Fibre,
        4 => PortType::Bnc,
        5 => PortType::Dac,
        0xef => PortType::None,
        _ => PortType::Other,
    }
}

pub(super) fn apply_link_modes(
    scan: &mut Scan<'_>,
    interface: &mut Interface,
    device: &Netdev,
    row: &LinkModesRow,
    names: &BTreeMap<usize, String>,
    source: SourceId,
) {
    let why = GapKind::DriverUnknown;
    let speed = row.speed.map(|megabits| BitsPerSecond(u64::from(megabits) * 1_000_000));
    let duplex = row.duplex.map(|duplex| if duplex == 0 { Duplex::Half } else { Duplex::Full });
    let link = &mut interface.link;
    link.speed = scan.or_unknown(speed, source, why, "the driver reports no speed");
    link.duplex = scan.or_unknown(duplex, source, why, "the driver reports no duplex mode");
    link.autoneg = row.autoneg.map_or(Reading::Absent(source), |on| Reading::Known(on, source));
    link.lanes = match row.lanes {
        None if !device.has_device => Reading::Absent(source),
        lanes => scan.or_unknown(lanes, source, why, "the driver reports no number of lanes"),
    };
    if names.is_empty() {
        let gap =
            scan.gap(GapKind::Failed, "the names of link modes could not be read", &plan::LINK_MODES, &device.name);
        link.mark(gap);
        return;
    }
    // Bits that name a mode; the others are ports, pause, FEC and negotiation itself.
    let set = |bit_set: &dyn Fn(usize) -> bool| {
        let modes = names.iter().filter(|(bit, name)| name.contains("base") && bit_set(**bit));
        LinkModes(modes.map(|(_, name)| name.clone()).collect())
    };
    let autoneg_bit = names.iter().find(|(_, name)| *name == "Autoneg").map(|(bit, _)| *bit);
    if let Some(ours) = &row.ours {
        let (supported, advertised) = (set(&|bit| ours.mask(bit)), set(&|bit| ours.value(bit)));
        let lists = !supported.0.is_empty() || !advertised.0.is_empty();
        let reading = |modes| if lists { Reading::Known(modes, source) } else { Reading::Absent(source) };
        link.supported = reading(supported);
        link.advertised = reading(advertised);
        link.autoneg_supported = Reading::Known(autoneg_bit.is_some_and(|bit| ours.mask(bit)), source);
    } else {
        link.supported = Reading::Absent(source);
        link.advertised = Reading::Absent(source);
        link.autoneg_supported = Reading::Absent(source);
    }
    link.partner = match &row.partner {
        Some(partner) => Reading::Known(set(&|bit| partner.value(bit)), source),
        None if row.autoneg == Some(true) => {
            Reading::Unknown(scan.dead_end(why, "the driver reports no modes of the link partner"))
        }
        None => Reading::Absent(source),
    };
}
