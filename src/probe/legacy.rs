//! ethtool by ioctl, for what the kernel does not tell over netlink (before 5.6 nothing, until 5.8 not all).

use std::collections::BTreeMap;

use super::ethtool::Command;
use super::interfaces::{Links, Netdev};
use super::kernel::{Reply, Request};
use super::plan::{self, Probe};
use super::scan::Scan;
use super::{ioctl, offers, tuning};
use crate::reading::{GapKind, Reading, SourceId};
use crate::snapshot::{Eee, Fec, Interface, Rss};

/// Link modes by bit, as the kernel's table `link_mode_names` has them; kernels without a table to ask know no later ones.
const LINK_MODES: [&str; 62] = [
    "10baseT/Half",
    "10baseT/Full",
    "100baseT/Half",
    "100baseT/Full",
    "1000baseT/Half",
    "1000baseT/Full",
    "Autoneg",
    "TP",
    "AUI",
    "MII",
    "FIBRE",
    "BNC",
    "10000baseT/Full",
    "Pause",
    "Asym_Pause",
    "2500baseX/Full",
    "Backplane",
    "1000baseKX/Full",
    "10000baseKX4/Full",
    "10000baseKR/Full",
    "10000baseR_FEC",
    "20000baseMLD2/Full",
    "20000baseKR2/Full",
    "40000baseKR4/Full",
    "40000baseCR4/Full",
    "40000baseSR4/Full",
    "40000baseLR4/Full",
    "56000baseKR4/Full",
    "56000baseCR4/Full",
    "56000baseSR4/Full",
    "56000baseLR4/Full",
    "25000baseCR/Full",
    "25000baseKR/Full",
    "25000baseSR/Full",
    "50000baseCR2/Full",
    "50000baseKR2/Full",
    "100000baseKR4/Full",
    "100000baseSR4/Full",
    "100000baseCR4/Full",
    "100000baseLR4_ER4/Full",
    "50000baseSR2/Full",
    "1000baseX/Full",
    "10000baseCR/Full",
    "10000baseSR/Full",
    "10000baseLR/Full",
    "10000baseLRM/Full",
    "10000baseER/Full",
    "2500baseT/Full",
    "5000baseT/Full",
    "None",
    "RS",
    "BASER",
    "50000baseKR/Full",
    "50000baseSR/Full",
    "50000baseCR/Full",
    "50000baseLR_ER_FR/Full",
    "50000baseDR/Full",
    "100000baseKR2/Full",
    "100000baseSR2/Full",
    "100000baseCR2/Full",
    "100000baseLR2_ER2_FR2/Full",
    "100000baseDR2/Full",
];

/// Names of link modes by bit.
pub(super) fn link_mode_names() -> BTreeMap<usize, String> {
    LINK_MODES.iter().enumerate().map(|(bit, name)| (bit, (*name).to_owned())).collect()
}

/// Fills by ioctl what these commands would tell, for devices worth a request.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links, commands: &[Command]) {
    if commands.is_empty() {
        return;
    }
    let mut interfaces = std::mem::take(&mut scan.out.interfaces);
    for interface in &mut interfaces {
        let device = interface.index.known().and_then(|index| links.at(*index));
        let Some(device) = device.filter(|device| device.worth_asking) else { continue };
        for command in commands {
            match command {
                Command::LinkModes => link_modes(scan, interface, device),
                Command::Features => features(scan, interface, device),
                Command::Rings => rings(scan, interface, device),
                Command::Pause => pause(scan, interface, device),
                Command::Channels => channels(scan, interface, device),
                Command::Coalesce => coalesce(scan, interface, device),
                Command::Eee => eee(scan, interface, device),
                Command::Fec => fec(scan, interface, device),
                // The port comes with the link modes, the link itself from rtnetlink; flags stay a gap.
                Command::LinkInfo | Command::LinkState | Command::PrivateFlags => {}
                Command::Rss => hashing(scan, interface, device),
            }
        }
    }
    scan.out.interfaces = interfaces;
}

/// A value, or for the whole section absence or a gap.
fn take<T>(
    scan: &mut Scan<'_>,
    reply: &Reply,
    value: Option<T>,
    probe: &Probe,
    device: &Netdev,
) -> Result<T, Option<crate::reading::GapId>> {
    match (reply, value) {
        (_, Some(value)) => Ok(value),
        (Reply::Error { errno: libc::EOPNOTSUPP, .. }, _) => Err(None),
        (refusal, None) => Err(Some(scan.refusal(refusal, probe, &device.name))),
    }
}

fn link_modes(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let name = &device.row.raw_name;
    let [first] = scan.batch(&[ioctl::link_settings_request(name, 0)]);
    let (reply, row, command) = if let Some(words) = first.bytes().and_then(ioctl::link_settings_words) {
        let [reply] = scan.batch(&[ioctl::link_settings_request(name, words)]);
        let row = reply.bytes().and_then(|bytes| ioctl::link_settings(bytes, words));
        (reply, row, "ETHTOOL_GLINKSETTINGS")
    } else {
        let [reply] = scan.batch(&[ioctl::settings_request(name)]);
        let row = reply.bytes().and_then(ioctl::settings);
        (reply, row, "ETHTOOL_GSET")
    };
    let source = scan.ioctl(command, &device.name);
    match take(scan, &reply, row, &plan::LINK_MODES, device) {
        Ok((row, port)) => {
            offers::apply_link_modes(scan, interface, device, &row, &link_mode_names(), source);
            interface.port.connector = Reading::Known(offers::port_type(port), source);
        }
        Err(None) => {
            let link = &mut interface.link;
            link.speed = Reading::Absent(source);
            link.duplex = Reading::Absent(source);
            link.autoneg = Reading::Absent(source);
            link.autoneg_supported = Reading::Absent(source);
            link.supported = Reading::Absent(source);
            link.advertised = Reading::Absent(source);
            link.partner = Reading::Absent(source);
        }
        Err(Some(_)) => {}
    }
    if interface.link.lanes.known().is_none() {
        let detail = "not told by ioctl";
        interface.link.lanes = Reading::Unknown(scan.dead_end(GapKind::KernelTooOld, detail));
    }
}

fn features(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let [values, names] = scan.batch(&ioctl::features_requests(&device.row.raw_name));
    let both = values.bytes().zip(names.bytes()).and_then(|(values, names)| ioctl::features(values, names));
    let source = scan.ioctl("ETHTOOL_GFEATURES", &device.name);
    let refusal = if values.bytes().is_some() { names } else { values };
    match take(scan, &refusal, both, &plan::FEATURES, device) {
        Ok((row, names)) => {
            interface.features = offers::apply_features(&row, &names, source);
            interface.features_refused = offers::refused_features(&row, &names, source);
        }
        Err(None) => {
            interface.features = Reading::Absent(source);
            interface.features_refused = Reading::Absent(source);
        }
        Err(Some(_)) => {}
    }
}

fn rings(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let [reply] = scan.batch(&[ioctl::rings_request(&device.row.raw_name)]);
    let source = scan.ioctl("ETHTOOL_GRINGPARAM", &device.name);
    let row = reply.bytes().and_then(ioctl::rings);
    match take(scan, &reply, row, &plan::RINGS, device) {
        Ok(row) => offers::apply_rings(interface, row, source),
        Err(None) => offers::apply_rings(interface, super::ethtool::RingsRow::default(), source),
        Err(Some(_)) => {}
    }
}

fn pause(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let [reply] = scan.batch(&[ioctl::pause_request(&device.row.raw_name)]);
    let source = scan.ioctl("ETHTOOL_GPAUSEPARAM", &device.name);
    let row = reply.bytes().and_then(ioctl::pause);
    match take(scan, &reply, row, &plan::PAUSE, device) {
        Ok(row) => offers::apply_pause(interface, &row, source),
        Err(None) => offers::apply_pause(interface, &super::ethtool::PauseRow::default(), source),
        Err(Some(_)) => {}
    }
}

/// What a request told and where: no row where the driver has no such thing, nothing where it was refused.
fn section<T>(
    scan: &mut Scan<'_>,
    device: &Netdev,
    request: Request,
    decode: fn(&[u8]) -> Option<T>,
    command: &str,
    probe: &Probe,
) -> Option<(Option<T>, SourceId)> {
    let [reply] = scan.batch(&[request]);
    let source = scan.ioctl(command, &device.name);
    let row = reply.bytes().and_then(decode);
    match take(scan, &reply, row, probe, device) {
        Ok(row) => Some((Some(row), source)),
        Err(None) => Some((None, source)),
        Err(Some(_)) => None,
    }
}

fn channels(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let request = ioctl::channels_request(&device.row.raw_name);
    let found = section(scan, device, request, ioctl::channels, "ETHTOOL_GCHANNELS", &plan::CHANNELS);
    if let Some((row, source)) = found {
        tuning::apply_channels(interface, row.unwrap_or_default(), source);
    }
}

fn coalesce(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let request = ioctl::coalesce_request(&device.row.raw_name);
    let found = section(scan, device, request, ioctl::coalesce, "ETHTOOL_GCOALESCE", &plan::COALESCE);
    if let Some((row, source)) = found {
        tuning::apply_coalesce(interface, row.unwrap_or_default(), source);
    }
}

fn eee(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let request = ioctl::eee_request(&device.row.raw_name);
    if let Some((row, source)) = section(scan, device, request, ioctl::eee, "ETHTOOL_GEEE", &plan::EEE) {
        interface.eee = Eee::default();
        tuning::apply_eee(interface, row.unwrap_or_default(), source);
    }
}

fn fec(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let request = ioctl::fec_request(&device.row.raw_name);
    if let Some((row, source)) = section(scan, device, request, ioctl::fec, "ETHTOOL_GFECPARAM", &plan::FEC) {
        interface.fec = Fec::default();
        tuning::apply_fec(scan, interface, &row.unwrap_or_default(), source);
    }
}

fn hashing(scan: &mut Scan<'_>, interface: &mut Interface, device: &Netdev) {
    let name = &device.row.raw_name;
    let [first] = scan.batch(&[ioctl::hashing_request(name, 0)]);
    let source = scan.ioctl("ETHTOOL_GRSSH", &device.name);
    let entries = first.bytes().and_then(ioctl::hashing_entries);
    let (reply, row) = match entries {
        None | Some(0) => (first.clone(), first.bytes().and_then(|bytes| ioctl::hashing(bytes, 0))),
        Some(entries) => {
            let [reply] = scan.batch(&[ioctl::hashing_request(name, entries)]);
            let row = reply.bytes().and_then(|bytes| ioctl::hashing(bytes, entries));
            (reply, row)
        }
    };
    match take(scan, &reply, row, &plan::HASHING, device) {
        Ok(row) => {
            interface.rss = Rss::default();
            tuning::apply_rss(scan, interface, row, source);
        }
        Err(None) => {
            interface.rss = Rss::default();
            interface.rss.mark_absent(source);
        }
        Err(Some(_)) => {}
    }
}
