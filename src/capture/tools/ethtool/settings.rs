//! `ethtool DEVICE`.

use super::{Intake, device, refused};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ethtool::settings;
use crate::reading::{BitsPerSecond, Gap, GapKind};
use crate::snapshot::{Duplex, LinkModes, PortType};

pub(super) fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if refused(cursor, intake).is_some() {
        return;
    }
    let Some(found) = settings::parse(cursor) else { return };
    let named = found.interface.as_ref().map(|at| at.value.as_str()).or_else(|| device(intake.command));
    let name = intake.interface_or_stand_in(named, found.line);
    let site = &mut *intake.site;
    let unsaid = |what: &str| Gap::new(GapKind::DriverUnknown).detail(format!("ethtool prints {what}"));
    let modes = |found: Option<At<_>>| found.map(|at| at.map(LinkModes));
    // A driver that lists nothing at all has no modes.
    match (&found.supported, &found.advertised) {
        (Some(supported), Some(advertised)) if supported.value.is_empty() && advertised.value.is_empty() => {
            site.put_absent(&name, |i| &mut i.link.supported, supported.line);
            site.put_absent(&name, |i| &mut i.link.advertised, advertised.line);
        }
        _ => {
            site.put_some(&name, |i| &mut i.link.supported, modes(found.supported));
            site.put_some(&name, |i| &mut i.link.advertised, modes(found.advertised));
        }
    }
    match found.partner {
        Some(partner) if partner.value.is_empty() => {
            site.put_gap(&name, |i| &mut i.link.partner, unsaid("Not reported"));
        }
        partner => site.put_some(&name, |i| &mut i.link.partner, modes(partner)),
    }
    site.put_some(&name, |i| &mut i.link.autoneg_supported, found.autoneg_supported);
    site.put_some(&name, |i| &mut i.link.autoneg, found.autoneg);
    site.put_some(&name, |i| &mut i.link.lanes, found.lanes);
    site.put_some(&name, |i| &mut i.link.sqi, found.sqi);
    site.put_some(&name, |i| &mut i.link.ext_state, found.ext_state);
    site.put_some(&name, |i| &mut i.link.up, found.link.clone());
    let down = found.link.is_some_and(|link| !link.value);
    match found.speed {
        Some(At { value: Some(megabits), line }) => {
            site.put(&name, |i| &mut i.link.speed, At::new(BitsPerSecond(u64::from(megabits) * 1_000_000), line));
        }
        // A port without a link has no speed.
        Some(At { value: None, line }) if down => site.put_absent(&name, |i| &mut i.link.speed, line),
        Some(_) => site.put_gap(&name, |i| &mut i.link.speed, unsaid("Speed: Unknown!")),
        None => {}
    }
    if let Some(duplex) = found.duplex {
        let word = match duplex.value.to_ascii_lowercase().as_str() {
            "full" => Some(Duplex::Full),
            "half" => Some(Duplex::Half),
            _ => None,
        };
        match word {
            Some(word) => site.put(&name, |i| &mut i.link.duplex, At::new(word, duplex.line)),
            None if down => site.put_absent(&name, |i| &mut i.link.duplex, duplex.line),
            None => site.put_gap(&name, |i| &mut i.link.duplex, unsaid("Duplex: Unknown!")),
        }
    }
    if let Some(port) = found.port {
        let connector = match port.value.as_str() {
            "Twisted Pair" => PortType::Tp,
            "AUI" => PortType::Aui,
            "MII" => PortType::Mii,
            "FIBRE" => PortType::Fibre,
            "BNC" => PortType::Bnc,
            "Direct Attach Copper" => PortType::Dac,
            "None" | "NONE" => PortType::None,
            _ => PortType::Other,
        };
        site.put(&name, |i| &mut i.port.connector, At::new(connector, port.line));
    }
    // The headline alone names an interface that exists.
    site.interface(&name);
}
