//! Pictures for the HTML report. Lengths along the page are percentages, so that a picture fits a phone and a sheet
//! of paper alike while its text keeps its size. Colours come from the classes of the page's style.

use std::fmt::Write as _;

use crate::report::escape;
use crate::report::view::{Bar, Path};

/// Height of one node and of one link of a PCIe path.
const NODE: u32 = 26;
const LINK: u32 = 58;

/// One bar of the waterfall: what is left, what was lost since the bar before, and the range as a whisker. The
/// figures stand beside it as text, so it is hidden from screen readers.
pub fn bar(bar: &Bar) -> String {
    let class = if bar.binds { "kept binds" } else { "kept" };
    let mut out =
        String::from("<svg class=\"bar\" width=\"100%\" height=\"20\" aria-hidden=\"true\" focusable=\"false\">");
    out.push_str("<rect class=\"all\" x=\"0\" y=\"4\" width=\"100%\" height=\"12\" rx=\"2\"/>");
    if bar.from > 0.0 {
        let (from, width) = (percent(bar.from), percent((bar.typical - bar.from).max(0.0)));
        let _ = write!(out, "<rect class=\"gap\" x=\"{from}\" y=\"4\" width=\"{width}\" height=\"12\"/></svg>");
        return out;
    }
    if bar.before > bar.typical {
        let _ = write!(
            out,
            "<rect class=\"lost\" x=\"{}\" y=\"4\" width=\"{}\" height=\"12\"/>",
            percent(bar.typical),
            percent(bar.before - bar.typical)
        );
    }
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"0\" y=\"4\" width=\"{}\" height=\"12\" rx=\"2\"/>",
        percent(bar.typical)
    );
    if bar.hi > bar.lo {
        let (lo, hi) = (percent(bar.lo), percent(bar.hi));
        for (x1, x2, y1, y2) in [(&lo, &hi, 10, 10), (&lo, &lo, 5, 15), (&hi, &hi, 5, 15)] {
            let _ = write!(out, "<line class=\"range\" x1=\"{x1}\" x2=\"{x2}\" y1=\"{y1}\" y2=\"{y2}\"/>");
        }
    }
    out.push_str("</svg>");
    out
}

/// A PCIe path as a line of stations from the card down the page to the root port. A link is as thick as it has
/// lanes; the narrowest is marked.
pub fn path(path: &Path) -> String {
    let hops = u32::try_from(path.hops.len()).unwrap_or(u32::MAX).min(1000);
    let height = NODE + hops * (NODE + LINK);
    let title = format!("PCIe path of {}, from the card to the root", path.device);
    let mut out = format!(
        "<svg class=\"path\" width=\"100%\" height=\"{height}\" role=\"img\" aria-label=\"{}\">",
        escape::html(&title)
    );
    let mut y = 0;
    for hop in path.hops.iter().take(1000) {
        let class = if hop.narrowest { "narrowest" } else { "link" };
        let thick = 2 + hop.lanes.clamp(1, 16) / 2;
        let (top, bottom) = (y + NODE / 2, y + NODE + LINK + NODE / 2);
        let _ = write!(
            out,
            "<line class=\"{class}\" x1=\"14\" x2=\"14\" y1=\"{top}\" y2=\"{bottom}\" stroke-width=\"{thick}\"/>"
        );
        y += NODE + LINK;
    }
    station(&mut out, 0, &path.device, "card");
    y = 0;
    for hop in path.hops.iter().take(1000) {
        let mark = if hop.narrowest && hops > 1 { "narrowest" } else { "" };
        let first = listed(&[&hop.link, &hop.rate, mark], "link unknown");
        let class = if hop.narrowest { "strong" } else { "plain" };
        text(&mut out, class, y + NODE + 24, &first);
        text(&mut out, "faint", y + NODE + 42, &hop.could);
        y += NODE + LINK;
        station(&mut out, y, &hop.upper, &hop.role);
    }
    out.push_str("</svg>");
    out
}

fn station(out: &mut String, y: u32, name: &str, role: &str) {
    let _ = write!(out, "<circle class=\"station\" cx=\"14\" cy=\"{}\" r=\"7\"/>", y + NODE / 2);
    text(out, "plain", y + NODE / 2 + 5, &listed(&[name, role], ""));
}

fn text(out: &mut String, class: &str, y: u32, text: &str) {
    if !text.is_empty() {
        let _ = write!(out, "<text class=\"{class}\" x=\"34\" y=\"{y}\">{}</text>", escape::html(text));
    }
}

fn listed(parts: &[&str], empty: &str) -> String {
    let known: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if known.is_empty() { empty.to_owned() } else { known.join(" · ") }
}

/// A part of 1 as a percentage with one decimal.
fn percent(part: f64) -> String {
    format!("{:.1}%", part * 100.0)
}
