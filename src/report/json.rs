//! The JSON contract: the model itself. One report is an object, several are an array.

use std::fmt::Write as _;

use serde::Serialize;

use crate::report::escape;
use crate::report::model::Report;

/// Pretty JSON with a trailing newline. Control and invisible characters inside strings are written as `\uXXXX`, so
/// the output is as safe on a terminal as in a parser.
pub fn render(reports: &[Report]) -> String {
    match reports {
        [one] => pretty(one),
        several => pretty(several),
    }
}

/// Pretty JSON of anything else that is shown beside the reports, with the same escapes.
pub fn pretty<T: Serialize + ?Sized>(value: &T) -> String {
    // Serialising the model cannot fail: its maps have string keys and it writes to memory.
    let raw = serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    let mut out = String::with_capacity(raw.len() + 1);
    for c in raw.chars() {
        if c != '\n' && escape::is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_an_object_several_are_an_array() {
        let one = Report { answer: "x\u{202e}\u{7f}\u{e0041}\n".into(), ..Report::default() };
        let text = render(std::slice::from_ref(&one));
        assert!(text.contains(r#""answer": "x\u202e\u007f\udb40\udc41\n""#), "{text}");
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), one);
        assert!(render(&[one.clone(), one]).starts_with("[\n"));
        assert_eq!(render(&[]), "[]\n");
    }
}
