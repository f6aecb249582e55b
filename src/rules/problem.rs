//! What is wrong with a rule file, shown with file, line, column and caret.

use std::fmt;
use std::sync::Arc;

use super::located::Located;
use crate::lang::Diagnostic;

/// A rule file as it was read: its name and, where it is at hand, its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// Name as the user gave it, or its path in the repository for an embedded one.
    pub name: String,
    /// Text, shared by the rules of the file; empty for an embedded one, whose expressions were checked when it was built.
    pub text: Arc<str>,
}

/// One problem of one rule. It costs that rule, no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File.
    pub file: String,
    /// Rule id; empty where the file could not be read at all.
    pub rule: String,
    /// Line, from 1; 0 if it is not known.
    pub line: u32,
    /// Message in full, several lines with the caret.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Problem {
    /// A problem of an expression.
    pub fn of_expression(file: &RuleFile, rule: &str, place: &Located, diagnostic: &Diagnostic) -> Self {
        let text = match start_of(&file.text, place) {
            Some(start) => diagnostic.render(&file.name, &file.text, start),
            None => diagnostic.render(&format!("{}:{} (rule {rule})", file.name, place.line), &place.text, 0),
        };
        Self { file: file.name.clone(), rule: rule.into(), line: place.line, text }
    }

    /// A problem of something that is no expression.
    pub fn at(file: &RuleFile, rule: &str, place: &Located, message: impl Into<String>, help: Option<String>) -> Self {
        let diagnostic = Diagnostic::new(0..place.text.len(), message).help(help);
        Self::of_expression(file, rule, place, &diagnostic)
    }

    /// A problem of a rule as a whole.
    pub fn of_rule(file: &RuleFile, id: &Located, message: impl Into<String>) -> Self {
        Self::at(file, &id.text, id, message, None)
    }

    /// A file that is no list of rules.
    pub fn of_file(name: &str, message: String) -> Self {
        Self { file: name.into(), rule: String::new(), line: 0, text: message }
    }
}

/// Byte in the file where the text of a place begins, if it stands there letter by letter; a folded block does not.
fn start_of(file: &str, place: &Located) -> Option<usize> {
    if place.line == 0 || file.is_empty() {
        return None;
    }
    let line_start: usize = file.split_inclusive('\n').take(place.line as usize - 1).map(str::len).sum();
    let line = file.get(line_start..)?;
    let column = line.char_indices().nth((place.column as usize).saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    // A quoted scalar begins one byte behind its quote.
    [0, 1]
        .into_iter()
        .map(|quote| line_start + column + quote)
        .find(|start| file.get(*start..).is_some_and(|rest| rest.starts_with(&place.text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, place: &Located) -> String {
        let file = RuleFile { name: "x.yaml".into(), text: text.into() };
        Problem::of_expression(&file, "a.b", place, &Diagnostic::new(2..4, "no such fact")).text
    }

    #[test]
    fn plain_and_quoted_scalars_point_into_the_file() {
        let plain = problem("- id: a.b\n  when: a bc\n", &Located { text: "a bc".into(), line: 2, column: 9 });
        assert!(plain.contains("x.yaml:2:11"), "{plain}");
        let quoted = problem("- id: a.b\n  when: 'a bc'\n", &Located { text: "a bc".into(), line: 2, column: 9 });
        assert!(quoted.contains("x.yaml:2:12"), "{quoted}");
    }

    #[test]
    fn a_folded_block_is_shown_by_itself() {
        let folded = problem("when: >-\n  a\n  bc\n", &Located { text: "a bc".into(), line: 2, column: 3 });
        assert!(folded.contains("a bc") && folded.contains("x.yaml:2"), "{folded}");
    }
}
