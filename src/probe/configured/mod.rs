//! Settings of the network that files keep for the next boot.

mod boot;
mod managers;
mod sysctl;
mod systemd;
mod tuned;

use super::interfaces::Links;
use super::kernel::{Reply, Request, zero_ended};
use super::plan::{self, Probe};
use super::scan::Scan;
use crate::formats::configured::Setting;
use crate::formats::configured::fragments::{self, Fragment};
use crate::reading::Reading;
use crate::snapshot::ConfiguredSetting;

/// Most settings that are kept.
const MOST: usize = 4000;
/// Most files of one directory.
const MOST_FILES: usize = 512;

/// Reads the files of all managers. What may be read by root only is told among what root would add.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) {
    let mut found = Vec::new();
    let folders = Folders::new(scan);
    sysctl::collect(scan, &folders, &mut found);
    systemd::collect(scan, &folders, links, &mut found);
    managers::collect(scan, &mut found);
    boot::collect(scan, &folders, &mut found);
    if found.len() > MOST {
        found.truncate(MOST);
        scan.remark(format!("of {} the first {MOST} are shown", plan::CONFIGURED.what));
    }
    let [etc] = scan.batch(&[Request::exists("/etc")]);
    scan.out.host.configured = match (found.is_empty(), etc) {
        (true, refused @ (Reply::Error { .. } | Reply::TimedOut | Reply::Skipped { .. })) => {
            Reading::Unknown(scan.refusal(&refused, &plan::CONFIGURED, ""))
        }
        _ => Reading::Known(found, scan.file("/etc")),
    };
}

/// Where distributions keep what they ship.
struct Folders {
    /// /lib is a folder of its own, and not another name of /usr/lib.
    split: bool,
}

impl Folders {
    fn new(scan: &mut Scan<'_>) -> Self {
        let [lib] = scan.batch(&[Request::real("/lib")]);
        Self { split: lib.bytes() == Some(b"/lib") }
    }

    /// The directories of this name in the order in which they mask each other.
    fn of(&self, name: &str) -> Vec<String> {
        let mut folders: Vec<String> =
            ["/etc", "/run", "/usr/local/lib", "/usr/lib"].iter().map(|root| format!("{root}/{name}")).collect();
        if self.split {
            folders.push(format!("/lib/{name}"));
        }
        folders
    }
}

fn is_missing(reply: &Reply) -> bool {
    matches!(reply, Reply::Error { errno: libc::ENOENT | libc::ENOTDIR, .. })
}

/// Names in directories.
struct Listed {
    /// Of each directory; none of one that is missing or closed.
    names: Vec<Vec<String>>,
    /// All were listed, or are not there.
    whole: bool,
}

/// Lists directories.
fn names(scan: &mut Scan<'_>, folders: &[String], probe: &Probe) -> Listed {
    let requests: Vec<Request> = folders.iter().map(|path| Request::list(path.as_str())).collect();
    let replies = scan.kernel.call(&requests);
    let mut listed = Listed { names: Vec::new(), whole: true };
    for reply in &replies {
        if reply.bytes().is_none() && !is_missing(reply) {
            scan.refusal(reply, probe, "");
            listed.whole = false;
        }
        let text = |name: &[u8]| std::str::from_utf8(name).ok().map(ToOwned::to_owned);
        let names = reply.bytes().map(zero_ended).into_iter().flatten().filter_map(text).take(MOST_FILES);
        listed.names.push(names.collect());
    }
    listed
}

/// Files of directories in the order in which they are read.
struct Files {
    fragments: Vec<Fragment>,
    /// All directories could be listed.
    whole: bool,
}

/// Files of these directories whose names end so.
fn fragments(scan: &mut Scan<'_>, folders: &[String], suffix: &str) -> Files {
    let listed = names(scan, folders, &plan::CONFIGURED);
    let pairs: Vec<(&str, Vec<String>)> = folders.iter().map(String::as_str).zip(listed.names).collect();
    Files { fragments: fragments::in_order(&pairs, suffix), whole: listed.whole }
}

/// A file that was looked for.
enum Content {
    Text(String),
    /// It is not there, or links to nothing: whoever reads it reads nothing.
    Nothing,
    /// It is there and could not be read.
    Closed,
}

/// Reads files.
fn contents(scan: &mut Scan<'_>, paths: &[String], probe: &Probe) -> Vec<Content> {
    let requests: Vec<Request> = paths.iter().map(|path| Request::read(path.as_str())).collect();
    let replies = scan.kernel.call(&requests);
    let mut all = Vec::new();
    for reply in &replies {
        all.push(match reply {
            Reply::Bytes(blob) => Content::Text(blob.text()),
            // A link to /dev/null is the usual way to switch a file off.
            Reply::Error { errno: libc::EINVAL, text } if text == "not a regular file" => Content::Nothing,
            missing if is_missing(missing) => Content::Nothing,
            refused => {
                scan.refusal(refused, probe, "");
                Content::Closed
            }
        });
    }
    all.resize_with(paths.len(), || Content::Closed);
    all
}

/// A setting as a row.
fn row(manager: &str, file: &str, setting: Setting, wins: Reading<bool>) -> ConfiguredSetting {
    ConfiguredSetting {
        manager: manager.into(),
        file: file.into(),
        line: setting.line,
        scope: setting.scope,
        key: setting.key,
        value: setting.value,
        wins,
    }
}

/// Whether a setting holds after a boot.
fn holds(scan: &mut Scan<'_>, verdict: bool) -> Reading<bool> {
    Reading::Known(verdict, scan.inferred("the order in which files are read at boot"))
}

/// Whether a setting holds, as far as nothing that was not read replaces it.
fn holds_if(scan: &mut Scan<'_>, verdict: bool, sure: bool) -> Reading<bool> {
    if verdict && !sure { doubt(scan, UNREAD) } else { holds(scan, verdict) }
}

/// Why a setting is not known to hold.
const UNREAD: &str = "what is read later could not be read here";

/// Not known to hold, and why.
fn doubt(scan: &mut Scan<'_>, why: &str) -> Reading<bool> {
    Reading::Unknown(scan.dead_end(crate::reading::GapKind::Derived, why))
}
