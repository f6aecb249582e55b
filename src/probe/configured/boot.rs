//! Rules of udev, options of modules, units and scripts that set something of the network at boot.

use std::collections::BTreeSet;

use super::super::plan;
use super::super::scan::Scan;
use super::{Content, Files, Folders, contents, doubt, fragments, holds, holds_if, names, row};
use crate::formats::configured::fragments::last_wins;
use crate::formats::configured::{Setting, modprobe, scripts, udev};
use crate::snapshot::ConfiguredSetting;

/// Modules that are no drivers of interfaces and matter.
const MODULES: [&str; 10] = [
    "bonding",
    "nf_conntrack",
    "vhost_net",
    "vhost",
    "tcp_cubic",
    "tcp_bbr",
    "sunrpc",
    "nfs",
    "kvm_intel",
    "intel_idle",
];
const UNITS: &str = "/etc/systemd/system";
/// Targets that pull units in at every boot.
const TARGETS: [&str; 6] = ["multi-user", "network", "network-online", "network-pre", "sysinit", "basic"];
const SCRIPTS: [&str; 2] = ["/etc/rc.local", "/etc/rc.d/rc.local"];
const SCRIPT_FOLDERS: [&str; 4] = [
    "/etc/network/if-up.d",
    "/etc/network/if-pre-up.d",
    "/etc/NetworkManager/dispatcher.d",
    "/etc/networkd-dispatcher/routable.d",
];

pub(super) fn collect(scan: &mut Scan<'_>, folders: &Folders, found: &mut Vec<ConfiguredSetting>) {
    rules(scan, found);
    modules(scan, folders, found);
    units(scan, found);
    commands(scan, found);
}

/// The settings of files that are read one behind the other. `single` says whether a key holds one value; of such the last
/// one counts.
fn add(
    scan: &mut Scan<'_>,
    manager: &str,
    folders: &[String],
    suffix: &str,
    parse: impl Fn(&str) -> Vec<Setting>,
    single: impl Fn(&str) -> bool,
    found: &mut Vec<ConfiguredSetting>,
) {
    let Files { fragments: files, whole: mut sure } = fragments(scan, folders, suffix);
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    let mut all: Vec<(bool, String, Setting)> = Vec::new();
    for (file, content) in files.into_iter().zip(texts) {
        sure &= !matches!(content, Content::Closed);
        if let Content::Text(text) = content {
            all.extend(parse(&text).into_iter().map(|setting| (file.masked, file.path.clone(), setting)));
        }
    }
    let wins = last_wins(all.iter().enumerate().map(|(at, (masked, _, setting))| {
        let own = if *masked || !single(&setting.key) { at + 1 } else { 0 };
        (setting.scope.clone(), setting.key.clone(), own)
    }));
    for ((masked, path, setting), wins) in all.into_iter().zip(wins) {
        let wins = holds_if(scan, wins && !masked, sure);
        found.push(row(manager, &path, setting, wins));
    }
}

/// What distributions ship sets names and permissions; it is not looked through.
fn rules(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    let folders = ["/etc/udev/rules.d", "/run/udev/rules.d"].map(ToOwned::to_owned);
    add(scan, "udev", &folders, ".rules", udev::rules, |key| key.starts_with("ATTR"), found);
}

fn modules(scan: &mut Scan<'_>, folders: &Folders, found: &mut Vec<ConfiguredSetting>) {
    let drivers = scan.out.interfaces.iter().filter_map(|interface| interface.driver.name.known());
    let functions = scan.out.devices.iter().filter_map(|device| device.driver.known());
    let wanted: BTreeSet<String> =
        drivers.chain(functions).map(|name| name.replace('-', "_")).chain(MODULES.map(ToOwned::to_owned)).collect();
    let folders = folders.of("modprobe.d");
    let parse = |text: &str| modprobe::options(text, |module| wanted.contains(module));
    add(scan, "modprobe", &folders, ".conf", parse, |_| true, found);
}

/// Scripts that distributions ship: they hand on what other files set.
const SHIPPED: [&str; 1] = ["ethtool"];

/// Units of the administrator. A unit that no target pulls in may be started in other ways.
fn units(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    let mut folders = vec![UNITS.to_owned()];
    folders.extend(TARGETS.map(|target| format!("{UNITS}/{target}.target.wants")));
    let mut listed = names(scan, &folders, &plan::CONFIGURED).names.into_iter();
    let own: Vec<String> =
        listed.next().unwrap_or_default().into_iter().filter(|name| name.ends_with(".service")).collect();
    let pulled: BTreeSet<String> = listed.flatten().collect();
    let paths: Vec<String> = own.iter().map(|name| format!("{UNITS}/{name}")).collect();
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    for ((name, path), content) in own.iter().zip(&paths).zip(texts) {
        let Content::Text(text) = content else { continue };
        for setting in scripts::unit(&text) {
            let wins =
                if pulled.contains(name) { holds(scan, true) } else { doubt(scan, "no target pulls the unit in") };
            found.push(row("systemd-unit", path, setting, wins));
        }
    }
}

fn commands(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    let folders = SCRIPT_FOLDERS.map(ToOwned::to_owned);
    let listed = names(scan, &folders, &plan::CONFIGURED);
    let mut paths: Vec<String> = SCRIPTS.map(ToOwned::to_owned).to_vec();
    for (folder, names) in folders.iter().zip(listed.names) {
        let own = names.into_iter().filter(|name| !SHIPPED.contains(&name.as_str()));
        paths.extend(own.map(|name| format!("{folder}/{name}")));
    }
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    for (path, content) in paths.iter().zip(texts) {
        let Content::Text(text) = content else { continue };
        for setting in scripts::commands(&text) {
            let wins = doubt(scan, "whether the script runs at boot is not known");
            found.push(row("script", path, setting, wins));
        }
    }
}
