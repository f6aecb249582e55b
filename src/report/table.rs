//! Aligned columns for the terminal. No cell is ever broken: what does not fit goes below, whole.

use unicode_width::UnicodeWidthStr;

use crate::reading::numbers::THIN;
use crate::report::view::Grid;

/// Space between two columns.
const GAP: usize = 2;
/// A longer cell than this pushes its own row to the right, not the whole column.
const WIDEST: usize = 28;

/// One piece of a table line: the head of its column and the text, padded.
pub struct Piece {
    pub head: String,
    pub text: String,
}

/// Columns on a terminal.
pub fn columns(text: &str) -> usize {
    // The thin space between digits is printed as a plain one.
    if text.contains(THIN) { text.replace(THIN, " ").width() } else { text.width() }
}

/// Lines of a table, the head first. Where the table is too wide, the words of its last column stand below each
/// other; where that is not enough, the later columns form a second table with the same rows (after an empty line).
pub fn lay_out(grid: &Grid, width: usize) -> Vec<Vec<Piece>> {
    let widths: Vec<usize> = (0..grid.heads.len()).map(|i| column_width(grid, i)).collect();
    let all: Vec<usize> = (0..widths.len()).collect();
    let total = |cols: &[usize]| cols.iter().map(|i| widths[*i] + GAP).sum::<usize>().saturating_sub(GAP);
    if total(&all) <= width {
        return part(grid, &all, &widths, None);
    }
    if let [rest @ .., last] = &all[..]
        && let room = width.saturating_sub(total(rest) + GAP)
        && room >= longest_word(grid, *last)
    {
        return part(grid, &all, &widths, Some(room));
    }
    let mut lines = Vec::new();
    let mut next = 1;
    while next < all.len() {
        let mut cols = vec![0];
        while next < all.len() && (cols.len() < 2 || total(&cols) + GAP + widths[next] <= width) {
            cols.push(next);
            next += 1;
        }
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        lines.extend(part(grid, &cols, &widths, None));
    }
    if lines.is_empty() { part(grid, &all, &widths, None) } else { lines }
}

fn column_width(grid: &Grid, i: usize) -> usize {
    let cells = grid.rows.iter().map(|row| columns(&row[i]));
    cells.filter(|width| *width <= WIDEST).chain([columns(&grid.heads[i])]).max().unwrap_or(0)
}

fn longest_word(grid: &Grid, i: usize) -> usize {
    let words = grid.rows.iter().flat_map(|row| row[i].split(", ")).map(|word| columns(word) + 1);
    words.chain([columns(&grid.heads[i])]).max().unwrap_or(0)
}

fn part(grid: &Grid, cols: &[usize], widths: &[usize], last_room: Option<usize>) -> Vec<Vec<Piece>> {
    let mut lines = vec![line(grid, cols, widths, &grid.heads)];
    for row in &grid.rows {
        let Some((room, last)) = last_room.zip(row.len().checked_sub(1)) else {
            lines.push(line(grid, cols, widths, row));
            continue;
        };
        for (n, words) in stack(&row[last], room).into_iter().enumerate() {
            let mut cells = if n == 0 { row.clone() } else { vec![String::new(); row.len()] };
            cells[last] = words;
            lines.push(line(grid, cols, widths, &cells));
        }
    }
    lines
}

fn line(grid: &Grid, cols: &[usize], widths: &[usize], cells: &[String]) -> Vec<Piece> {
    cols.iter()
        .map(|i| {
            let pad = (widths[*i] + GAP).saturating_sub(columns(&cells[*i])).max(GAP);
            Piece { head: grid.heads[*i].clone(), text: format!("{}{}", cells[*i], " ".repeat(pad)) }
        })
        .collect()
}

/// Fills lines with whole words of a comma-separated list.
fn stack(list: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in list.split(", ") {
        match lines.last_mut() {
            Some(line) if columns(line) + 2 + columns(word) < room => {
                line.push_str(", ");
                line.push_str(word);
            }
            Some(line) => {
                line.push(',');
                lines.push(word.to_owned());
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
