//! `free`.

use super::cursor::{At, Cursor};

/// True for the line of headings: `total used free shared buff/cache available`.
pub fn is_heading(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    words.next() == Some("total") && words.next() == Some("used") && words.next() == Some("free")
}

/// Bytes of a figure: with a suffix (`31Gi`, `15G`, `512K`) whatever the options say, else in `unit` bytes. Rounded figures
/// are rounded still.
fn bytes(figure: &str, unit: Option<u64>) -> Option<u64> {
    let end = figure.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(figure.len());
    let (number, suffix) = figure.split_at(end);
    let factor = match suffix.trim_end_matches('i') {
        "" => unit?,
        "B" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return None,
    };
    if number.contains('.') {
        let number: f64 = number.parse().ok()?;
        return Some((number * factor as f64) as u64);
    }
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Reads the table: bytes of memory in all; none inside where the unit is not known. `unit` is that of the options:
/// 1024 without any.
pub fn parse(cursor: &mut Cursor<'_>, unit: Option<u64>) -> Option<Option<At<u64>>> {
    cursor.take_if(|text| is_heading(text).then_some(()))?;
    let mut total = None;
    while let Some(row) = cursor.take_if(|text| {
        let (name, rest) = text.split_once(':')?;
        matches!(name.trim(), "Mem" | "Swap" | "-/+ buffers/cache" | "Low" | "High" | "Total").then_some((name, rest))
    }) {
        let (name, rest) = row.value;
        if name.trim() == "Mem" {
            let figure = rest.split_ascii_whitespace().next().and_then(|figure| bytes(figure, unit));
            total = figure.map(|figure| At::new(figure, row.line));
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str, unit: Option<u64>) -> Option<Option<At<u64>>> {
        let lines = lines(text);
        parse(&mut Cursor::new(&lines), unit)
    }

    const HEAD: &str = "              total        used        free      shared  buff/cache   available\n";

    #[test]
    fn units_come_from_options_or_suffixes() {
        let kib = format!("{HEAD}Mem:       24731184     1000    2000   5   6   7\nSwap:  0 0 0\nx\n");
        assert_eq!(read(&kib, Some(1024)), Some(Some(At::new(25_324_732_416, 2))));
        assert_eq!(read(&kib, None), Some(None));
        let human = format!("{HEAD}Mem:           31Gi       5.2Gi        12Gi\n");
        assert_eq!(read(&human, None).unwrap().unwrap().value, 31 << 30);
        assert_eq!(bytes("1.5G", None), Some(3 << 29));
        assert_eq!(read("total is used free of charge\n", None), None);
    }
}
