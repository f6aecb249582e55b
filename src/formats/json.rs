//! JSON documents among the lines of a terminal.

use serde_json::Value;

use super::cursor::{At, Cursor};

/// Most lines of one document.
const MOST: usize = 1 << 20;

/// Takes the JSON array or object that begins with the next line; none where that is not the beginning of one, or where
/// it is cut off. What stands behind its end on its last line goes with it.
pub fn take(cursor: &mut Cursor<'_>) -> Option<At<Value>> {
    let first = cursor.peek()?;
    if !first.text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let rest = cursor.rest();
    // Most documents are short: the lines behind them are not put together for nothing.
    for most in [64, 4096, MOST] {
        let mut text = String::new();
        let mut ends = Vec::new();
        for line in rest.iter().take(most) {
            text.push_str(line.text);
            text.push('\n');
            ends.push(text.len());
        }
        let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let end = values.byte_offset();
                let lines = ends.iter().position(|at| *at >= end).unwrap_or(0) + 1;
                for _ in 0..lines {
                    cursor.take();
                }
                return Some(At::new(value, first.number));
            }
            // Further lines mend only what is cut off.
            Some(Err(error)) if !error.is_eof() => return None,
            _ => {}
        }
        if rest.len() <= most {
            break;
        }
    }
    None
}

/// The text of a string, a number or a truth value.
pub fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn documents_end_where_they_end() {
        let text = "[ {\n  \"a\": 18446744073709551615\n} ]\nnext\n{\"cut\": [1,\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let found = take(&mut cursor).unwrap();
        assert_eq!((found.value[0]["a"].as_u64(), found.line), (Some(u64::MAX), 1));
        assert_eq!(cursor.peek().unwrap().text, "next");
        assert_eq!(take(&mut cursor), None);
        cursor.pass();
        assert_eq!(take(&mut cursor), None);
    }

    #[test]
    fn a_long_document_is_taken_whole() {
        let text = format!("[\n{}0]\nend", "0,\n".repeat(5000));
        let lines = lines(&text);
        let mut cursor = Cursor::new(&lines);
        assert_eq!(take(&mut cursor).unwrap().value.as_array().unwrap().len(), 5001);
        assert_eq!(cursor.peek().unwrap().text, "end");
    }

    #[test]
    fn a_deep_document_is_no_trouble() {
        let text = "[".repeat(100_000);
        let lines = lines(&text);
        assert_eq!(take(&mut Cursor::new(&lines)), None);
    }
}
