//! The report as one HTML file: no script, nothing from outside, dark and light, phone and paper.

use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::reading::numbers;
use crate::report::escape;
use crate::report::model::Report;
use crate::report::svg;
use crate::report::templates::{self, Medium};
use crate::report::view::{Ceiling, View};

/// Renders one page for one or several reports.
pub fn render(reports: &[Report]) -> String {
    let views: Vec<View> = reports.iter().map(View::new).collect();
    let bars: Vec<Vec<Vec<String>>> = each_ceiling(&views, |ceiling| ceiling.steps.iter().map(svg::bar).collect());
    let paths: Vec<Vec<Option<String>>> = each_ceiling(&views, |ceiling| ceiling.path.as_ref().map(svg::path));
    let title = match &views[..] {
        [one] => one.host_name.clone(),
        several => numbers::plural(several.len(), "host"),
    };
    let style = Value::from_safe_string(templates::STYLE.to_owned());
    match templates::render(
        Medium::Html,
        context! { views => Serde(views), bars => Serde(bars), paths => Serde(paths), title, style },
    ) {
        Ok(text) => text,
        Err(error) => format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>netdoctor</title></head>\
             <body><p>The report could not be written: {}</p></body></html>\n",
            escape::html(&error.to_string())
        ),
    }
}

fn each_ceiling<T>(views: &[View], draw: impl Fn(&Ceiling) -> T) -> Vec<Vec<T>> {
    views.iter().map(|view| view.ceilings.iter().map(&draw).collect()).collect()
}
