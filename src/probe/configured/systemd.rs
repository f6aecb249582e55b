//! Files of systemd: .link for udev, .network and .netdev for systemd-networkd.

use std::collections::BTreeMap;

use super::super::interfaces::Links;
use super::super::kernel::{Reply, Request};
use super::super::plan;
use super::super::scan::Scan;
use super::{Content, Folders, contents, doubt, holds_if, is_missing, names, row};
use crate::formats::assignments;
use crate::formats::configured::fragments::{self, last_wins};
use crate::formats::configured::systemd::{self, Device, File};
use crate::reading::Reading;
use crate::snapshot::ConfiguredSetting;

/// Most interfaces whose files are asked for: virtual ones of containers have none.
const MOST_INTERFACES: usize = 256;

/// A kind of file.
struct Kind {
    suffix: &'static str,
    manager: &'static str,
    /// Whether the first file that fits an interface is the only one.
    one_for_each: bool,
}

const KINDS: [Kind; 3] = [
    Kind { suffix: ".link", manager: "systemd-link", one_for_each: true },
    Kind { suffix: ".network", manager: "systemd-networkd", one_for_each: true },
    Kind { suffix: ".netdev", manager: "systemd-networkd", one_for_each: false },
];

/// A file with what is put on top of it.
struct Unit {
    path: String,
    masked: bool,
    /// The file itself, then its drop-ins in their order.
    parts: Vec<(String, File)>,
    /// All of them could be read.
    whole: bool,
}

pub(super) fn collect(scan: &mut Scan<'_>, folders: &Folders, links: &Links, found: &mut Vec<ConfiguredSetting>) {
    let folders = folders.of("systemd/network");
    let listed = names(scan, &folders, &plan::CONFIGURED);
    if listed.names.iter().all(Vec::is_empty) {
        return;
    }
    let pairs: Vec<(&str, Vec<String>)> = folders.iter().map(String::as_str).zip(listed.names).collect();
    let (devices, told) = devices(scan, links);
    let sure = listed.whole && told;
    for kind in &KINDS {
        for unit in units(scan, &pairs, kind) {
            rows(scan, kind, &unit, &devices, sure, found);
        }
    }
}

fn units(scan: &mut Scan<'_>, pairs: &[(&str, Vec<String>)], kind: &Kind) -> Vec<Unit> {
    let files = fragments::in_order(pairs, kind.suffix);
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    let mut units = Vec::new();
    for (file, content) in files.into_iter().zip(texts) {
        let Content::Text(text) = content else { continue };
        let mut whole = true;
        let mut parts = vec![(file.path.clone(), systemd::parse(&text))];
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let drop_ins = format!("{name}.d");
        if !file.masked && pairs.iter().any(|(_, names)| names.contains(&drop_ins)) {
            let folders: Vec<String> = pairs.iter().map(|(folder, _)| format!("{folder}/{drop_ins}")).collect();
            let files = super::fragments(scan, &folders, ".conf");
            whole &= files.whole;
            let paths: Vec<String> =
                files.fragments.into_iter().filter(|file| !file.masked).map(|file| file.path).collect();
            let texts = contents(scan, &paths, &plan::CONFIGURED);
            for (path, content) in paths.into_iter().zip(texts) {
                match content {
                    Content::Text(text) => parts.push((path, systemd::parse(&text))),
                    Content::Nothing => {}
                    Content::Closed => whole = false,
                }
            }
        }
        units.push(Unit { path: file.path, masked: file.masked, parts, whole });
    }
    units
}

/// An interface and the files that udev and systemd-networkd chose for it.
struct Chosen {
    device: Device,
    files: BTreeMap<&'static str, String>,
}

/// Interfaces that may have files, and whether all could be asked for them.
fn devices(scan: &mut Scan<'_>, links: &Links) -> (Vec<Chosen>, bool) {
    let interfaces: Vec<(String, Device)> = scan
        .out
        .interfaces
        .iter()
        .filter_map(|interface| {
            let index = *interface.index.known()?;
            let link = links.at(index)?;
            let made_up = matches!(link.row.kind.as_deref(), Some("veth" | "netkit" | "tun" | "ifb"));
            (!made_up).then(|| {
                let device = Device {
                    name: interface.name.clone(),
                    address: interface.address.known().cloned(),
                    permanent_address: interface.permanent_address.known().cloned(),
                    driver: interface.driver.name.known().cloned(),
                    ..Device::default()
                };
                (index.to_string(), device)
            })
        })
        .take(MOST_INTERFACES)
        .collect();
    let requests: Vec<Request> = interfaces
        .iter()
        .flat_map(|(index, _)| {
            [
                Request::read(format!("/run/udev/data/n{index}")),
                Request::read(format!("/run/systemd/netif/links/{index}")),
            ]
        })
        .collect();
    let replies = scan.kernel.call(&requests);
    let value = |reply: Option<&Reply>, key: &str| {
        let text = String::from_utf8_lossy(reply?.bytes()?).into_owned();
        assignments::value(&assignments::parse(&text), key).map(ToOwned::to_owned)
    };
    let told = replies.iter().all(|reply| reply.bytes().is_some() || is_missing(reply));
    let chosen = interfaces
        .into_iter()
        .zip(replies.chunks(2))
        .map(|((_, mut device), pair)| {
            // Properties begin with `E:` in the database of udev.
            device.path = value(pair.first(), "E:ID_PATH");
            let mut files = BTreeMap::new();
            if let Some(file) = value(pair.first(), "E:ID_NET_LINK_FILE") {
                files.insert(".link", file);
            }
            if let Some(file) = value(pair.get(1), "NETWORK_FILE") {
                files.insert(".network", file);
            }
            Chosen { device, files }
        })
        .collect();
    (chosen, told)
}

/// /lib is another name of /usr/lib on most hosts, and either may be written.
fn same(one: &str, other: &str) -> bool {
    let plain =
        |path: &str| path.strip_prefix("/usr").filter(|rest| rest.starts_with("/lib/")).unwrap_or(path).to_owned();
    plain(one) == plain(other)
}

fn rows(
    scan: &mut Scan<'_>,
    kind: &Kind,
    unit: &Unit,
    devices: &[Chosen],
    sure: bool,
    found: &mut Vec<ConfiguredSetting>,
) {
    let used = |chosen: &Chosen| chosen.files.get(kind.suffix).is_some_and(|file| same(file, &unit.path));
    let is_used = devices.iter().any(used);
    // What a distribution ships for machines that this one is not says nothing.
    if !is_used && !unit.path.starts_with("/etc/") && !unit.path.starts_with("/run/") {
        return;
    }
    let conditions: &[(String, String)] = unit.parts.first().map_or(&[], |(_, file)| &file.conditions);
    let passed_over = |chosen: &Chosen| {
        chosen.files.contains_key(kind.suffix) && systemd::holds(conditions, &chosen.device) == Some(true)
    };
    let verdict = match (unit.masked, kind.one_for_each) {
        (true, _) => Some(false),
        (false, false) => sure.then_some(true),
        (false, true) if is_used => Some(true),
        (false, true) if sure && devices.iter().any(passed_over) => Some(false),
        (false, true) => None,
    };
    let settings: Vec<(&str, _)> = unit
        .parts
        .iter()
        .flat_map(|(path, file)| file.settings.iter().map(move |setting| (path.as_str(), setting.clone())))
        .collect();
    // A drop-in replaces single keys; lists and sections that may come twice add up.
    let wins = last_wins(settings.iter().enumerate().map(|(place, (_, setting))| {
        let section = setting.scope.split(' ').next().unwrap_or_default().to_owned();
        let adds =
            matches!(section.as_str(), "[Network]" | "[Route]" | "[RoutingPolicyRule]" | "[BridgeVLAN]" | "[SR-IOV]");
        (section, setting.key.clone(), if adds { place } else { 0 })
    }));
    for ((path, setting), wins) in settings.into_iter().zip(wins) {
        let wins: Reading<bool> = match verdict {
            Some(verdict) => holds_if(scan, verdict && wins, unit.whole),
            None => doubt(scan, "no interface is known to use the file"),
        };
        found.push(row(kind.manager, path, setting, wins));
    }
}
