//! The report as Markdown: for issues, wikis and tickets. Everything is in it; nothing needs HTML.

use minijinja::context;
use minijinja::value::Serde;

use crate::report::escape;
use crate::report::model::Report;
use crate::report::templates::{self, Medium};
use crate::report::view::View;

/// Renders one report, or several below each other.
pub fn render(reports: &[Report]) -> String {
    let views: Vec<View> = reports.iter().map(View::new).collect();
    match templates::render(Medium::Markdown, context! { views => Serde(views) }) {
        Ok(text) => tidy(&text),
        Err(error) => format!("The report could not be written: {}\n", escape::markdown(&error.to_string())),
    }
}

/// One empty line at most between blocks, none at the ends.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = true;
    for line in text.lines().map(str::trim_end) {
        if !(line.is_empty() && blank) {
            out.push_str(line);
            out.push('\n');
        }
        blank = line.is_empty();
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}
