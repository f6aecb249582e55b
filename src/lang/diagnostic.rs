//! What is wrong with an expression, and how it is shown.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;

/// One error in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where, as bytes of the expression.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without advice.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    /// The same error with advice, if there is any.
    #[must_use]
    pub fn help(self, help: impl Into<Option<String>>) -> Self {
        Self { help: help.into(), ..self }
    }

    /// File, line, column and carets, as plain text. The expression starts at byte `start_byte` of `file_text`.
    pub fn render(&self, file: &str, file_text: &str, start_byte: usize) -> String {
        let start = floor(file_text, start_byte.saturating_add(self.span.start));
        let end = floor(file_text, start_byte.saturating_add(self.span.end)).max(start);
        let snippet = Snippet::source(file_text).path(file).annotation(AnnotationKind::Primary.span(start..end));
        let mut group = Level::ERROR.primary_title(self.message.as_str()).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::plain().render(&[group])
    }
}

/// The last character boundary at or before a byte, within the text.
fn floor(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_those_of_the_file() {
        let file = "- id: x\n  when: a = 1\n";
        let start = file.find("a = 1").unwrap();
        let shown = Diagnostic::new(2..3, "`=` does not compare").help("write `==`".to_owned());
        assert_eq!(
            shown.render("rules/x.yaml", file, start),
            "error: `=` does not compare\n --> rules/x.yaml:2:11\n  |\n2 |   when: a = 1\n  |           ^\n  |\n  = help: write `==`"
        );
    }

    #[test]
    fn a_span_beyond_the_text_is_shown_at_its_end() {
        for span in [0..0, 4..9, 90..91, usize::MAX..usize::MAX] {
            assert!(Diagnostic::new(span, "x").render("f", "aé", 1).contains("f:1"));
        }
    }
}
