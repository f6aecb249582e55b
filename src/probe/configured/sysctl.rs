//! Kernel parameters: sysctl.d, sysctl.conf and who comes after them.

use super::super::kernel::{Reply, Request};
use super::super::plan;
use super::super::scan::Scan;
use super::{Content, Files, Folders, UNREAD, contents, doubt, fragments, holds, holds_if, is_missing, row, tuned};
use crate::formats::assignments;
use crate::formats::configured::Setting;
use crate::formats::configured::sysctl::{self, Line};
use crate::snapshot::ConfiguredSetting;

const CONF: &str = "/etc/sysctl.conf";
const UFW: &str = "/etc/ufw/sysctl.conf";

/// A file with parameters.
struct File {
    path: String,
    manager: &'static str,
    /// `None` where it could not be read.
    lines: Option<Vec<Line>>,
}

pub(super) fn collect(scan: &mut Scan<'_>, folders: &Folders, found: &mut Vec<ConfiguredSetting>) {
    let folders = folders.of("sysctl.d");
    let Files { fragments, whole: mut sure } = fragments(scan, &folders, ".conf");
    let [systemd, conf, ufw] = scan.batch(&[
        Request::exists("/run/systemd/system"),
        Request::exists(CONF),
        Request::read("/etc/ufw/ufw.conf"),
    ]);
    let mut paths: Vec<String> = fragments.iter().map(|fragment| fragment.path.clone()).collect();
    // A fragment that is a link to the old file puts that file in its own place.
    let requests: Vec<Request> = paths.iter().map(|path| Request::real(path.as_str())).collect();
    let replies = scan.kernel.call(&requests);
    let linked: Vec<bool> = replies.iter().map(|reply| reply.bytes() == Some(CONF.as_bytes())).collect();
    // A link that leads nowhere is none; any other refusal leaves the order open.
    let told = |reply: &Reply| reply.bytes().is_some() || is_missing(reply);
    sure &= [&systemd, &conf, &ufw].into_iter().chain(&replies).all(told);
    let own = paths.len();
    if conf.bytes().is_some() {
        paths.push(CONF.into());
    }
    let enabled = ufw.bytes().is_some_and(|text| {
        let rows = assignments::parse(&String::from_utf8_lossy(text));
        assignments::value(&rows, "ENABLED").is_some_and(|value| value.eq_ignore_ascii_case("yes"))
    });
    if enabled {
        paths.push(UFW.into());
    }
    let texts = contents(scan, &paths, &plan::CONFIGURED);
    let mut files: Vec<File> = paths
        .into_iter()
        .zip(texts)
        .map(|(path, content)| File {
            path,
            manager: "sysctl",
            lines: match content {
                Content::Text(text) => Some(sysctl::lines(&text)),
                Content::Nothing => Some(Vec::new()),
                Content::Closed => None,
            },
        })
        .collect();
    let at = |wanted: &str| files.iter().position(|file| file.path == wanted);
    let (conf, ufw) = (at(CONF), at(UFW));
    // In the order of a boot. systemd leaves the old file alone unless a fragment links to it; procps reads it last.
    let mut order: Vec<usize> = Vec::new();
    for place in (0..own).filter(|place| !fragments[*place].masked) {
        order.push(if linked.get(place) == Some(&true) { conf.unwrap_or(place) } else { place });
    }
    if systemd.bytes().is_none() {
        order.extend(conf);
    }
    order.extend(ufw);
    let tuned = tuned::profiles(scan);
    sure &= tuned.sure;
    for profile in tuned.profiles {
        order.push(files.len());
        files.push(File { path: profile.path, manager: "tuned", lines: profile.lines });
    }
    if tuned.reapplies {
        // Those of the administrator come once more behind the profile, and then the old file, link or not.
        let of_administrator = |place: &usize| {
            let path = &fragments[*place].path;
            !fragments[*place].masked && (path.starts_with("/etc/") || path.starts_with("/run/"))
        };
        order.extend((0..own).filter(of_administrator));
        order.extend(conf);
    }
    let lines: Vec<Option<Vec<Line>>> = files.iter().map(|file| file.lines.clone()).collect();
    let verdicts = sysctl::wins(&lines, &order);
    for (place, (file, verdicts)) in files.iter().zip(verdicts).enumerate() {
        // The lines stand in the file that the link leads to.
        if linked.get(place) == Some(&true) {
            continue;
        }
        for (line, verdict) in file.lines.iter().flatten().zip(verdicts) {
            let Some(value) = line.value.clone().filter(|_| line.is_of_network()) else { continue };
            let masked = fragments.get(place).is_some_and(|fragment| fragment.masked);
            let wins = match verdict {
                Some(verdict) if sure || masked => holds(scan, verdict),
                // Where the order is open, what seems to lose may come once more.
                _ => doubt(scan, UNREAD),
            };
            let scope = if file.manager == "tuned" { "sysctl".to_owned() } else { String::new() };
            let setting = Setting { scope, key: line.key.clone(), value, line: line.line };
            found.push(row(file.manager, &file.path, setting, wins));
        }
    }
    for (path, wins, setting) in tuned.others {
        let wins = holds_if(scan, wins, tuned.sure);
        found.push(row("tuned", &path, setting, wins));
    }
}
