//! Files of NetworkManager, netplan, ifupdown and the ifcfg scripts.

use super::super::plan;
use super::super::scan::Scan;
use super::{Content, Files, contents, doubt, fragments, holds, holds_if, names, row};
use crate::formats::configured::fragments::last_wins;
use crate::formats::configured::{Setting, ifcfg, ifupdown, netplan, network_manager};
use crate::formats::glob;
use crate::snapshot::ConfiguredSetting;

/// Deepest chain of files of ifupdown that name each other, and most of them.
const DEPTH: usize = 4;
const MOST_INCLUDED: usize = 256;

pub(super) fn collect(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    connections(scan, found);
    plans(scan, found);
    stanzas(scan, found);
    scripts(scan, found);
}

/// Adds settings of which those that come once hold. Of several of the same key nobody can tell here which does.
/// `sure` says that nothing was left unread.
fn add_single(
    scan: &mut Scan<'_>,
    manager: &str,
    all: Vec<(String, Setting)>,
    sure: bool,
    found: &mut Vec<ConfiguredSetting>,
) {
    let key = |setting: &Setting| (setting.scope.clone(), setting.key.clone());
    let forward = last_wins(all.iter().map(|(_, setting)| key(setting)));
    let mut backward = last_wins(all.iter().rev().map(|(_, setting)| key(setting)));
    backward.reverse();
    for (((file, setting), last), first) in all.into_iter().zip(forward).zip(backward) {
        let wins = if last && first { holds_if(scan, true, sure) } else { doubt(scan, "the key comes more than once") };
        found.push(row(manager, &file, setting, wins));
    }
}

fn connections(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    let folders: Vec<String> =
        ["/etc", "/run", "/usr/lib"].map(|root| format!("{root}/NetworkManager/system-connections")).to_vec();
    let listed = names(scan, &folders, &plan::CONNECTIONS);
    // Of one name the first directory's file is read. Old files have no ending.
    let mut paths: Vec<String> = Vec::new();
    let mut sure = listed.whole;
    for (folder, names) in folders.iter().zip(listed.names) {
        for name in names {
            let is_kept = !name.starts_with('.') && !name.ends_with('~') && !name.ends_with(".nmmeta");
            if is_kept && !paths.iter().any(|path| path.rsplit('/').next() == Some(&name)) {
                paths.push(format!("{folder}/{name}"));
            }
        }
    }
    let texts = contents(scan, &paths, &plan::CONNECTIONS);
    let mut all = Vec::new();
    for (path, content) in paths.into_iter().zip(texts) {
        sure &= !matches!(content, Content::Closed);
        if let Content::Text(text) = content {
            all.extend(network_manager::connection(&text).into_iter().map(|setting| (path.clone(), setting)));
        }
    }
    add_single(scan, "NetworkManager", all, sure, found);
}

/// netplan reads the files of three directories by name; a later file replaces single keys.
fn plans(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    let folders = ["/run/netplan", "/etc/netplan", "/lib/netplan"].map(ToOwned::to_owned).to_vec();
    let Files { fragments: files, whole } = fragments(scan, &folders, ".yaml");
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    let closed = texts.iter().rposition(|content| matches!(content, Content::Closed));
    let mut all: Vec<(usize, bool, String, Setting)> = Vec::new();
    for (place, (file, content)) in files.into_iter().zip(texts).enumerate() {
        if let Content::Text(text) = content {
            let rows = netplan::parse(&text).into_iter();
            all.extend(rows.map(|setting| (place, file.masked, file.path.clone(), setting)));
        }
    }
    let wins = last_wins(all.iter().enumerate().map(|(at, (_, masked, _, setting))| {
        // Lists of routes add up, and a file that is never read replaces nothing.
        let own = if *masked || setting.scope.ends_with(".routes") { at + 1 } else { 0 };
        (setting.scope.clone(), setting.key.clone(), own)
    }));
    for ((place, masked, path, setting), wins) in all.into_iter().zip(wins) {
        let sure = whole && closed.is_none_or(|closed| closed < place);
        let wins = holds_if(scan, wins && !masked, sure);
        found.push(row("netplan", &path, setting, wins));
    }
}

/// /etc/network/interfaces and what it names.
fn stanzas(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    let mut all: Vec<(String, Setting)> = Vec::new();
    let mut open = vec!["/etc/network/interfaces".to_owned()];
    let mut seen = open.clone();
    let mut sure = true;
    for _ in 0..DEPTH {
        let texts = contents(scan, &open, &plan::CONFIGURED);
        let mut next = Vec::new();
        for (path, content) in std::mem::take(&mut open).into_iter().zip(texts) {
            sure &= !matches!(content, Content::Closed);
            let Content::Text(text) = content else { continue };
            let file = ifupdown::parse(&text);
            all.extend(file.settings.into_iter().map(|setting| (path.clone(), setting)));
            for source in &file.sources {
                next.extend(expand(scan, source, &mut sure));
            }
            for folder in &file.directories {
                let folder = absolute(folder);
                let plain =
                    |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
                let listed = names(scan, std::slice::from_ref(&folder), &plan::CONFIGURED);
                sure &= listed.whole;
                let inside = listed.names.into_iter().flatten().filter(plain);
                next.extend(inside.map(|name| format!("{folder}/{name}")));
            }
        }
        for path in next {
            if seen.len() < MOST_INCLUDED && !seen.contains(&path) {
                seen.push(path.clone());
                open.push(path);
            }
        }
        if open.is_empty() {
            break;
        }
    }
    // Commands add up.
    let (commands, single): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, setting)| ifupdown::is_command(&setting.key));
    add_single(scan, "ifupdown", single, sure, found);
    for (file, setting) in commands {
        let wins = holds(scan, true);
        found.push(row("ifupdown", &file, setting, wins));
    }
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') {
        path.trim_end_matches('/').to_owned()
    } else {
        format!("/etc/network/{}", path.trim_end_matches('/'))
    }
}

/// The files that a path with a pattern in its last part names.
fn expand(scan: &mut Scan<'_>, source: &str, sure: &mut bool) -> Vec<String> {
    let source = absolute(source);
    let Some((folder, pattern)) = source.rsplit_once('/') else { return Vec::new() };
    if !glob::is_pattern(pattern) {
        return vec![source];
    }
    let listed = names(scan, &[folder.to_owned()], &plan::CONFIGURED);
    *sure &= listed.whole;
    let fits = |name: &String| !name.starts_with('.') && glob::matches(pattern, name);
    listed.names.into_iter().flatten().filter(fits).map(|name| format!("{folder}/{name}")).collect()
}

/// ifcfg files of Red Hat and SUSE.
fn scripts(scan: &mut Scan<'_>, found: &mut Vec<ConfiguredSetting>) {
    let folders = ["/etc/sysconfig/network-scripts", "/etc/sysconfig/network"].map(ToOwned::to_owned).to_vec();
    let listed = names(scan, &folders, &plan::CONFIGURED);
    let mut paths = Vec::new();
    let mut sure = listed.whole;
    for (folder, names) in folders.iter().zip(listed.names) {
        let is_kept = |name: &String| {
            name.starts_with("ifcfg-")
                && name != "ifcfg-lo"
                && !name.ends_with(['~'])
                && !name.contains(".bak")
                && !name.contains(".rpm")
        };
        paths.extend(names.into_iter().filter(is_kept).map(|name| format!("{folder}/{name}")));
    }
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    let mut all = Vec::new();
    for (path, content) in paths.into_iter().zip(texts) {
        sure &= !matches!(content, Content::Closed);
        if let Content::Text(text) = content {
            let name = path.rsplit('/').next().unwrap_or_default();
            all.extend(ifcfg::settings(name, &text).into_iter().map(|setting| (path.clone(), setting)));
        }
    }
    add_single(scan, "ifcfg", all, sure, found);
}
