//! The templates of the Markdown and HTML reports, and the escape that each of them applies to every value.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error};

use crate::report::escape;

const MARKDOWN: &str = include_str!("../../report-templates/report.md.jinja");
const HTML: &str = include_str!("../../report-templates/report.html.jinja");
/// The style of the HTML page.
pub const STYLE: &str = include_str!("../../report-templates/style.css");

/// Fills in the template of a medium.
pub fn render(medium: Medium, context: Value) -> Result<String, Error> {
    let mut env = Environment::new();
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    // Every value is escaped by the formatter below, whatever the name of the template; only what macros and pictures
    // hand on as safe passes.
    env.set_auto_escape_callback(|_| AutoEscape::Custom("medium".into()));
    env.set_formatter(move |out, _state, value| {
        if value.is_safe() {
            return out.write_str(value.as_str().unwrap_or_default()).map_err(Error::from);
        }
        if value.is_undefined() || value.is_none() {
            return Ok(());
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.write_str(&medium.escape(&text)).map_err(Error::from)
    });
    env.add_filter("code", |text: &str| Value::from_safe_string(escape::markdown_code(text)));
    env.add_filter("block", |lines: Vec<String>, indent: &str| {
        Value::from_safe_string(escape::markdown_block("sh", &lines, indent))
    });
    env.add_filter("lines", |lines: Vec<String>, indent: &str| {
        Value::from_safe_string(escape::markdown_block("", &lines, indent))
    });
    env.add_filter("slug", |text: &str| text.to_lowercase().replace(' ', "-"));
    env.add_template("report", medium.source())?;
    env.get_template("report")?.render(context)
}

/// The medium that a template writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    Markdown,
    Html,
}

impl Medium {
    fn source(self) -> &'static str {
        match self {
            Self::Markdown => MARKDOWN,
            Self::Html => HTML,
        }
    }

    fn escape(self, text: &str) -> String {
        match self {
            // A lone dash is our sign for "no reading"; no template begins a line with a value.
            Self::Markdown if text == "-" => text.to_owned(),
            Self::Markdown => escape::markdown(text),
            Self::Html => escape::html(text),
        }
    }
}
