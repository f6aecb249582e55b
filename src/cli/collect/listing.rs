//! What a bundle holds, for whoever has to decide whether it may leave the machine.

use crate::bundle::{Bundle, Unread};
use crate::reading::numbers::{bytes, count, plural};
use crate::report::escape::visible;

/// A few lines. `doubts` are not for the bundle itself.
pub(super) fn short(bundle: &Bundle, packed: usize, doubts: &[String]) -> String {
    let mut out = headline(bundle, packed);
    for remark in bundle.manifest.remarks.iter().chain(doubts) {
        out += &format!("{remark}\n");
    }
    let unread = &bundle.manifest.unread;
    if !unread.is_empty() {
        let refused = unread.iter().filter(|one| one.why == "not_permitted").count();
        let root = if refused > 0 { ", some of which root may" } else { "" };
        out += &format!("not everything could be read{root}: manifest.json tells what and why\n");
    }
    printable(&out)
}

/// Everything.
pub(super) fn long(bundle: &Bundle, packed: usize, doubts: &[String]) -> String {
    let manifest = &bundle.manifest;
    let mut out = format!("nothing was written; this would be in the file:\n\n{}", headline(bundle, packed));
    for member in &bundle.members {
        out += &format!("  {:<24} {:>12}  {}\n", member.name, bytes(member.text.len() as u64), member.what);
    }
    out += "\nremarks\n";
    for remark in manifest.remarks.iter().chain(doubts) {
        out += &format!("  {remark}\n");
    }
    out += "\nread (times, bytes)\n";
    let (told, silent): (Vec<_>, Vec<_>) = manifest.read.iter().partition(|asked| asked.bytes > 0);
    for asked in told {
        out += &format!("  {:>7} {:>12}  {}\n", count(asked.times), bytes(asked.bytes), asked.source);
    }
    if !silent.is_empty() {
        out += &format!("  {} gave nothing: manifest.json names them\n", plural(silent.len(), "other place"));
    }
    out += "\nnot read\n";
    if manifest.unread.is_empty() {
        out += "  nothing was missing\n";
    }
    for one in &manifest.unread {
        out += &unread(one);
    }
    out += "\ntime\n";
    for stage in &manifest.stages {
        out += &format!("  {:>7} ms  {}\n", count(stage.milliseconds), stage.name);
    }
    printable(&out)
}

fn headline(bundle: &Bundle, packed: usize) -> String {
    let size: usize = bundle.members.iter().map(|member| member.text.len()).sum();
    format!(
        "{}: {}, {}, packed {}\n",
        bundle.folder,
        plural(bundle.members.len(), "file"),
        bytes(size as u64),
        bytes(packed as u64)
    )
}

fn unread(one: &Unread) -> String {
    let why = one.why.replace('_', " ");
    let detail = if one.detail.is_empty() { String::new() } else { format!(" ({})", one.detail) };
    let command = if one.command.is_empty() { String::new() } else { format!("; try: {}", one.command) };
    format!("  {} of {}: {why}{detail}{command}\n", one.what, one.of.join(", "))
}

/// Names of hosts are no commands to a terminal.
fn printable(text: &str) -> String {
    text.lines().map(|line| visible(line).into_owned() + "\n").collect::<String>().replace('\u{202f}', " ")
}
