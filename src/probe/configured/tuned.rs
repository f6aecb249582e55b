//! The profile that tuned applies after a boot.

use super::super::kernel::{Reply, Request};
use super::super::plan;
use super::super::scan::Scan;
use super::{Content, contents, is_missing};
use crate::formats::configured::Setting;
use crate::formats::configured::fragments::last_wins;
use crate::formats::configured::sysctl::Line;
use crate::formats::configured::tuned::{self, Profile};

/// Most profiles that build on each other.
const MOST: usize = 32;

/// The kernel parameters of one profile.
pub(super) struct Parameters {
    pub path: String,
    /// `None` where it could not be read, or nobody knows whether it is applied.
    pub lines: Option<Vec<Line>>,
}

/// What tuned does.
pub(super) struct Tuned {
    /// Profiles in the order in which they are applied.
    pub profiles: Vec<Parameters>,
    /// Its other settings: file, whether a later profile leaves it standing, setting.
    pub others: Vec<(String, bool, Setting)>,
    /// The files of the administrator are applied once more behind it.
    pub reapplies: bool,
    /// It is known what it does.
    pub sure: bool,
}

impl Tuned {
    fn none(sure: bool) -> Self {
        Self { profiles: Vec::new(), others: Vec::new(), reapplies: false, sure }
    }
}

/// Reads the active profile, if tuned runs.
pub(super) fn profiles(scan: &mut Scan<'_>) -> Tuned {
    let runs = scan.out.host.services.known().map(|services| services.iter().any(|name| name == "tuned"));
    if runs == Some(false) {
        return Tuned::none(true);
    }
    let [active, main] =
        scan.batch(&[Request::read("/etc/tuned/active_profile"), Request::read("/etc/tuned/tuned-main.conf")]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let names: Vec<String> =
        active.bytes().map(text).unwrap_or_default().split_whitespace().map(ToOwned::to_owned).collect();
    let told = |reply: &Reply| reply.bytes().is_some() || is_missing(reply);
    if names.is_empty() {
        return Tuned::none(told(&active));
    }
    let mut found: Vec<(String, Option<Profile>)> = Vec::new();
    for name in names {
        follow(scan, &name, &mut found);
    }
    let reapplies = tuned::reapplies_sysctl(&main.bytes().map(text).unwrap_or_default());
    let mut out = Tuned { reapplies, ..Tuned::none(told(&main)) };
    let mut others = Vec::new();
    for (path, profile) in found {
        let lines = profile.as_ref().filter(|_| runs == Some(true)).map(|profile| {
            let parameters = profile.settings.iter().filter(|setting| setting.scope == "sysctl");
            parameters
                .map(|setting| Line {
                    key: setting.key.clone(),
                    value: Some(setting.value.clone()),
                    line: setting.line,
                })
                .collect()
        });
        if runs == Some(true) {
            let rest = profile.map(|profile| profile.settings).unwrap_or_default().into_iter();
            others.extend(rest.filter(|setting| setting.scope != "sysctl").map(|setting| (path.clone(), setting)));
        }
        out.profiles.push(Parameters { path, lines });
    }
    let wins = last_wins(others.iter().map(|(_, setting)| (setting.scope.clone(), setting.key.clone())));
    out.others = others.into_iter().zip(wins).map(|((path, setting), wins)| (path, wins, setting)).collect();
    out
}

/// Reads a profile behind those that it builds on.
fn follow(scan: &mut Scan<'_>, name: &str, found: &mut Vec<(String, Option<Profile>)>) {
    // A dash in front: it need not be there.
    let name = name.trim_start_matches('-');
    if name.is_empty() || name.contains(['/', '$']) || found.len() >= MOST {
        return;
    }
    let paths: Vec<String> = ["/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"]
        .iter()
        .map(|folder| format!("{folder}/{name}/tuned.conf"))
        .collect();
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    let there = paths.into_iter().zip(texts).find(|(_, content)| !matches!(content, Content::Nothing));
    let Some((path, content)) = there else { return };
    // A circle ends where it began.
    if found.iter().any(|(known, _)| *known == path) {
        return;
    }
    let Content::Text(text) = content else {
        found.push((path, None));
        return;
    };
    let profile = tuned::profile(&text);
    // It holds its place while those below it are read.
    found.push((path, None));
    let place = found.len() - 1;
    for include in profile.includes.clone() {
        follow(scan, &include, found);
    }
    let (path, _) = found.remove(place);
    found.push((path, Some(profile)));
}
