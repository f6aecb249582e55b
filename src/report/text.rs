//! The report on a terminal. The answer comes first, then what to do, then what was excluded and what was not seen.
//! Prose is wrapped; table cells and commands are never broken.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::reading::numbers;
use crate::report::escape;
use crate::report::model::Report;
use crate::report::table;
use crate::report::view::{Action, Below, Ceiling, Grid, Item, NONE, Reading, View};

/// How the text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    /// True for ANSI colours.
    pub colour: bool,
    /// True for everything: all findings, each reading with its source, waterfalls, undecided checks.
    pub verbose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 80, colour: false, verbose: false }
    }
}

/// Items of a section that are shown without `verbose`.
const ON_SCREEN: usize = 3;
/// Where text begins, to the right of the labels.
const INDENT: usize = 12;
/// Narrower terminals put the label on a line of its own.
const NARROW: usize = 50;
/// Most columns of running text: longer lines are hard to follow. Tables and commands take what there is.
const PROSE: usize = 120;
/// Longer labels of a waterfall push their own line to the right.
const LABEL: usize = 40;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();
const MAGENTA: Style = AnsiColor::Magenta.on_default().bold();
const COMMAND: Style = AnsiColor::Cyan.on_default();

/// Renders one report, or several below each other.
pub fn render(reports: &[Report], options: &Options) -> String {
    let mut page = Page { out: String::new(), options: *options };
    for (i, report) in reports.iter().enumerate() {
        let view = View::new(report);
        if reports.len() > 1 {
            if i > 0 {
                page.blank();
            }
            page.line(&[(BOLD, &format!("== {} ==", view.host_name))]);
        }
        page.report(&view);
    }
    page.out
}

struct Page {
    out: String,
    options: Options,
}

impl Page {
    fn report(&mut self, view: &View) {
        self.head(view);
        self.interfaces(view);
        self.findings(view);
        self.ceilings(view);
        self.excluded(view);
        self.not_decided(view);
        self.drops(view);
        self.not_seen(view);
        self.notes(view);
        self.blank();
        self.summary(view);
    }

    fn head(&mut self, view: &View) {
        self.paragraph(BOLD, &view.answer);
        self.paragraph(PLAIN, &view.quality);
        for sentence in &view.way {
            self.paragraph(PLAIN, sentence);
        }
        let mut facts = vec![view.host_name.clone()];
        facts.extend(view.host_facts.iter().cloned());
        self.paragraph(DIM, &facts.join(", "));
    }

    fn interfaces(&mut self, view: &View) {
        if !view.interfaces.rows.is_empty() || !view.alike.is_empty() {
            self.blank();
        }
        self.grid(&view.interfaces, "");
        for line in &view.alike {
            self.paragraph(DIM, line);
        }
        if self.options.verbose {
            for (name, alias) in &view.aliases {
                self.paragraph(DIM, &format!("{name} is called \"{alias}\""));
            }
        }
    }

    fn grid(&mut self, grid: &Grid, indent: &str) {
        if grid.rows.is_empty() {
            return;
        }
        let mut head = true;
        for line in table::lay_out(grid, self.options.width.saturating_sub(indent.len())) {
            let mut pieces = vec![(PLAIN, indent)];
            pieces.extend(line.iter().map(|piece| {
                (if head { DIM } else { cell_style(&piece.head, piece.text.trim_end()) }, piece.text.as_str())
            }));
            // An empty line stands before the head of a second part.
            head = line.is_empty();
            self.line(&pieces);
        }
    }

    fn findings(&mut self, view: &View) {
        self.section(&view.fix_now, "FIX NOW", true);
        self.section(&view.options, "OPTION", false);
        self.section(&view.limits, "LIMIT", false);
    }

    fn section(&mut self, items: &[Item], label: &str, full: bool) {
        let shown = if self.options.verbose { items.len() } else { items.len().min(ON_SCREEN) };
        for item in &items[..shown] {
            self.blank();
            self.item(item, label, full || self.options.verbose);
        }
        if items.len() > shown {
            self.entry("", DIM, &format!("{} more with -v", numbers::count((items.len() - shown) as u64)), DIM);
        }
    }

    fn item(&mut self, item: &Item, label: &str, full: bool) {
        let style = match (label, item.severity.as_str()) {
            ("FIX NOW", "critical") => RED,
            ("FIX NOW", _) => YELLOW,
            ("OPTION", _) => CYAN,
            ("LIMIT", _) => MAGENTA,
            _ => BOLD,
        };
        self.entry(&format!("{label:<8} {}", item.number), style, &item.title, BOLD);
        let about = [&item.subject, &item.rule].map(String::as_str).into_iter().filter(|text| !text.is_empty());
        let graded = format!("{} {}", item.severity, item.kind);
        let sure = if item.confidence.is_empty() { String::new() } else { format!("confidence {}", item.confidence) };
        let about: Vec<&str> = about.chain([graded.trim(), &sure]).filter(|text| !text.is_empty()).collect();
        self.entry("", DIM, &about.join(", "), DIM);
        self.seen(item, full);
        self.entry("  why", DIM, &item.why, PLAIN);
        if full {
            self.entry("  costs", DIM, &item.impact, PLAIN);
        }
        if !item.assumed.is_empty() {
            self.entry("  assumed", DIM, &item.assumed.join("; "), PLAIN);
        }
        for below in &item.below {
            self.below(below);
        }
        for other in &item.maybe {
            self.entry("  maybe", DIM, other, PLAIN);
        }
        let actions = if full { item.actions.len() } else { item.actions.len().min(1) };
        for action in &item.actions[..actions] {
            self.action(action);
        }
        if item.actions.len() > actions {
            let more = item.actions.len() - actions;
            self.entry("", DIM, &format!("{} with -v", numbers::plural(more, "more step")), DIM);
        }
    }

    /// When it was seen, then the readings that it rests on.
    fn seen(&mut self, item: &Item, full: bool) {
        self.entry("  seen", DIM, &item.seen, PLAIN);
        if full {
            self.readings(if item.seen.is_empty() { "  seen" } else { "" }, &item.evidence);
        }
    }

    fn readings(&mut self, label: &str, evidence: &[Reading]) {
        if self.options.verbose {
            for (i, reading) in evidence.iter().enumerate() {
                let source = if reading.source.is_empty() { String::new() } else { format!(" ({})", reading.source) };
                let text = format!("{}: {} = {}{source}", reading.subject, reading.fact, reading.text);
                self.entry(if i == 0 { label } else { "" }, DIM, &text, PLAIN);
            }
            return;
        }
        let mut texts: Vec<String> =
            evidence.iter().take(4).map(|reading| format!("{} {}", reading.fact, reading.text)).collect();
        if evidence.len() > 4 {
            texts.push(format!("{} more with -v", evidence.len() - 4));
        }
        self.entry(label, DIM, &texts.join("; "), PLAIN);
    }

    fn below(&mut self, below: &Below) {
        let mut text = format!("{} ({}, {})", below.title, below.subject, below.rule);
        for part in [&below.seen, &below.surely].into_iter().filter(|part| !part.is_empty()) {
            text = format!("{text}, {part}");
        }
        self.entry("  below", DIM, &text, PLAIN);
        if self.options.verbose {
            self.readings("", &below.evidence);
        }
    }

    fn action(&mut self, action: &Action) {
        let letter = if action.letter.is_empty() { String::new() } else { format!("{}) ", action.letter) };
        if let Some(rule) = &action.withheld_by {
            let text = format!("{letter}{} No use while {rule} stands.", sentence(&action.what));
            self.entry("  later", DIM, &text, DIM);
            return;
        }
        self.entry("  do", BOLD, &format!("{letter}{}", action.what), PLAIN);
        self.entry("  where", BOLD, &action.place, BOLD);
        self.commands("", &action.commands);
        self.entry("", DIM, &action.commands_note, PLAIN);
        self.entry("  gain", DIM, &action.gain, PLAIN);
        self.entry("  effect", DIM, &action.effect, if action.disruptive { YELLOW } else { PLAIN });
        self.entry("  risk", DIM, &action.risk, PLAIN);
        let keep: Vec<String> = [action.keep_lines.as_slice(), &action.keep_commands].concat();
        self.entry("  keep", DIM, &action.keep_note, PLAIN);
        self.commands(if action.keep_note.is_empty() { "  keep" } else { "" }, &keep);
        if self.options.verbose {
            self.entry("  likely", DIM, &action.keep_likely, PLAIN);
        }
        self.entry("  check", DIM, &action.verify, PLAIN);
        self.entry("  undo", DIM, &action.undo_note, PLAIN);
        self.commands(if action.undo_note.is_empty() { "  undo" } else { "" }, &action.undo);
    }

    /// Lines that are meant to be typed; the label stands beside the first.
    fn commands(&mut self, label: &str, commands: &[String]) {
        for (i, command) in commands.iter().enumerate() {
            self.verbatim(if i == 0 { label } else { "" }, command);
        }
    }

    fn ceilings(&mut self, view: &View) {
        for ceiling in &view.ceilings {
            if ceiling.below_link || self.options.verbose {
                self.blank();
                self.ceiling(ceiling);
            }
        }
        if !view.link_bound.is_empty() && !self.options.verbose || !view.shared.is_empty() {
            self.blank();
        }
        if !self.options.verbose {
            for line in &view.link_bound {
                self.entry("CEILING", BOLD, line, PLAIN);
            }
        }
        for line in &view.shared {
            self.entry("SHARED", BOLD, line, PLAIN);
        }
    }

    fn ceiling(&mut self, ceiling: &Ceiling) {
        let mut text = format!("{}: {}", ceiling.name, ceiling.range);
        if !ceiling.binding.is_empty() {
            text = format!("{text}, limited by {}", ceiling.binding);
        }
        if !ceiling.confidence.is_empty() {
            text = format!("{text} (confidence {})", ceiling.confidence);
        }
        self.entry("CEILING", BOLD, &text, PLAIN);
        let label = ceiling.steps.iter().map(|bar| table::columns(&bar.label)).filter(|n| *n <= LABEL).max();
        let label = label.unwrap_or(0);
        let value = ceiling.steps.iter().map(|bar| table::columns(&bar.text)).max().unwrap_or(0);
        let room = self.options.width.saturating_sub(4 + label + 2 + value + 2 + "  binds".len()).min(50);
        for bar in &ceiling.steps {
            let pad = " ".repeat(label.saturating_sub(table::columns(&bar.label)));
            let figure = " ".repeat(value.saturating_sub(table::columns(&bar.text))) + &bar.text;
            let blocks = |part: f64| (part * room as f64).round() as usize;
            let solid = if bar.typical > 0.0 { blocks(bar.lo).max(1) } else { 0 };
            let drawn = if bar.from > 0.0 {
                let start = blocks(bar.from).max(1);
                " ".repeat(start) + &".".repeat(blocks(bar.typical).saturating_sub(start).max(1))
            } else {
                "#".repeat(solid) + &"=".repeat(blocks(bar.hi).saturating_sub(solid))
            };
            let drawn = if room < 10 { String::new() } else { drawn };
            let style = if bar.binds { MAGENTA } else { PLAIN };
            let mark = if bar.binds { "  binds" } else { "" };
            self.line(&[(PLAIN, &format!("    {}{pad}  {figure}  ", bar.label)), (style, &drawn), (style, mark)]);
        }
        if !ceiling.headroom.is_empty() {
            self.entry("  no limit", DIM, &ceiling.headroom.join("; "), PLAIN);
        }
        if !ceiling.notes.is_empty() {
            self.entry("  note", DIM, &ceiling.notes.join("; "), PLAIN);
        }
        if !ceiling.assumed.is_empty() {
            self.entry("  assumed", DIM, &ceiling.assumed.join("; "), PLAIN);
        }
        if !ceiling.as_root.is_empty() {
            self.entry("  as root", DIM, &ceiling.as_root, PLAIN);
        }
    }

    fn excluded(&mut self, view: &View) {
        if view.excluded.is_empty() && view.symptom_note.is_empty() {
            return;
        }
        self.blank();
        let of = if view.symptom.is_empty() { String::new() } else { format!(" of: {}", view.symptom) };
        self.paragraph(BOLD, &format!("NOT THE CAUSE{of}"));
        let shown = if self.options.verbose { view.excluded.len() } else { view.excluded.len().min(6) };
        for (what, by) in &view.excluded[..shown] {
            self.hanging(2, "", &format!("{what}: {by}"), PLAIN);
        }
        if view.excluded.len() > shown {
            self.hanging(2, "", &format!("{} more with -v", view.excluded.len() - shown), DIM);
        }
        self.hanging(2, "", &sentence(&view.symptom_note), PLAIN);
    }

    fn not_decided(&mut self, view: &View) {
        if view.not_decided.is_empty() {
            return;
        }
        self.blank();
        self.line(&[(BOLD, "NOT DECIDED")]);
        let verbose = self.options.verbose;
        let shown = if verbose { view.not_decided.len() } else { view.not_decided.len().min(ON_SCREEN) };
        for one in &view.not_decided[..shown] {
            self.hanging(2, "", &format!("{} ({}) lacks {}", one.subjects, one.rule, one.lacks), PLAIN);
            let commands = if verbose { one.commands.len() } else { one.commands.len().min(1) };
            for command in &one.commands[..commands] {
                self.verbatim("", command);
            }
        }
        if view.not_decided.len() > shown {
            self.hanging(2, "", &format!("{} more with -v", view.not_decided.len() - shown), DIM);
        }
    }

    fn drops(&mut self, view: &View) {
        if view.drops.rows.is_empty() {
            return;
        }
        self.blank();
        match &view.no_drops {
            Some(line) if !self.options.verbose => self.entry("WHO DROPS", BOLD, line, PLAIN),
            _ => {
                self.entry("WHO DROPS", BOLD, &view.drops_note, DIM);
                self.grid(&view.drops, "  ");
            }
        }
        let verbose = self.options.verbose;
        let shown = if verbose { view.host_losses.len() } else { view.host_losses.len().min(ON_SCREEN) };
        for line in &view.host_losses[..shown] {
            self.hanging(2, "", &format!("host: {line}"), PLAIN);
        }
        if view.host_losses.len() > shown {
            self.hanging(2, "", &format!("{} more with -v", view.host_losses.len() - shown), DIM);
        }
        if verbose && !view.host_clean.is_empty() {
            self.hanging(2, "", &format!("host: {}", view.host_clean), PLAIN);
        }
    }

    fn not_seen(&mut self, view: &View) {
        if view.not_seen.is_empty() && view.next_command.is_none() {
            return;
        }
        self.blank();
        if self.options.verbose {
            for (i, unseen) in view.not_seen.iter().enumerate() {
                let why = if unseen.why.is_empty() { String::new() } else { format!(": {}", unseen.why) };
                let label = if i == 0 { "NOT SEEN" } else { "" };
                self.entry(label, BOLD, &format!("{}{why}", unseen.what), PLAIN);
                if !unseen.command.is_empty() {
                    self.verbatim("", &unseen.command);
                }
            }
        } else {
            let mut list: Vec<String> = view.not_seen.iter().take(3).map(|unseen| unseen.what.clone()).collect();
            if view.not_seen.len() > 3 {
                list.push(format!("{} more with -v", view.not_seen.len() - 3));
            }
            self.entry("NOT SEEN", BOLD, &list.join("; "), PLAIN);
        }
        if let Some(command) = &view.next_command {
            self.verbatim(if view.not_seen.is_empty() { "NEXT" } else { "  next" }, command);
        }
    }

    fn notes(&mut self, view: &View) {
        let verbose = self.options.verbose;
        let start = self.out.len();
        self.blank();
        let after = self.out.len();
        if verbose {
            self.labelled("ROOT ADDS", &view.needs_root);
        }
        // What was cut short or left out is never hidden; of many, the first ones stand for the rest.
        let shown = if verbose { view.remarks.len() } else { view.remarks.len().min(3) };
        self.labelled("REMARK", &view.remarks[..shown]);
        if shown < view.remarks.len() {
            self.labelled("REMARK", &[format!("{} more with -v", view.remarks.len() - shown)]);
        }
        self.labelled("CONFLICT", &view.conflicts);
        if let Some(understood) = &view.understood {
            let shown = if verbose { understood.left.len() } else { understood.left.len().min(5) };
            let mut text = understood.text.clone();
            if shown > 0 {
                text.push_str(" Not understood:");
            }
            self.entry("INPUT", BOLD, &text, PLAIN);
            for line in &understood.left[..shown] {
                self.line(&[(DIM, &format!("{}{line}", " ".repeat(self.indent())))]);
            }
            if understood.left.len() > shown {
                self.entry("", DIM, &format!("{} more with -v", understood.left.len() - shown), DIM);
            }
        }
        if self.out.len() == after {
            self.out.truncate(start);
        }
        if verbose {
            self.section(&view.hygiene, "HYGIENE", false);
            for undecided in &view.undecided {
                self.blank();
                let text = format!("{} ({}) lacks {}", undecided.rule, undecided.subjects, undecided.lacks);
                self.entry("UNDECIDED", BOLD, &text, PLAIN);
                for command in &undecided.commands {
                    self.verbatim("", command);
                }
            }
        }
    }

    fn labelled(&mut self, label: &str, texts: &[String]) {
        for (i, text) in texts.iter().enumerate() {
            self.entry(if i == 0 { label } else { "" }, BOLD, text, PLAIN);
        }
    }

    fn summary(&mut self, view: &View) {
        let mut parts = view.summary.clone();
        if !view.hygiene.is_empty() {
            let more = if self.options.verbose { "" } else { " (-v)" };
            parts.push(format!("{}{more}", numbers::plural(view.hygiene.len(), "hygiene note")));
        }
        self.paragraph(DIM, &parts.join(", "));
    }

    fn indent(&self) -> usize {
        if self.options.width < NARROW { 2 } else { INDENT }
    }

    /// A label and wrapped text to the right of it; nothing for empty text.
    fn entry(&mut self, label: &str, label_style: Style, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let indent = self.indent();
        let mut lead = label.to_owned();
        if !label.is_empty() && table::columns(label) >= indent {
            self.line(&[(label_style, label)]);
            lead.clear();
        }
        let lines = wrap(text, self.options.width.min(PROSE).saturating_sub(indent));
        for (i, line) in lines.iter().enumerate() {
            let lead = if i == 0 { lead.as_str() } else { "" };
            let pad = " ".repeat(indent - table::columns(lead));
            self.line(&[(label_style, lead), (PLAIN, &pad), (style, line)]);
        }
    }

    /// A label and one line that is meant to be typed.
    fn verbatim(&mut self, label: &str, text: &str) {
        let indent = self.indent();
        let mut lead = label;
        // A line that is too long stands alone: it is never broken.
        let too_long = indent + 2 + table::columns(text) > self.options.width;
        if !label.is_empty() && (too_long || table::columns(label) >= indent) {
            self.line(&[(DIM, label)]);
            lead = "";
        }
        // A command stands two columns further in than prose.
        let pad = " ".repeat(indent + 2 - table::columns(lead));
        self.line(&[(DIM, lead), (PLAIN, &pad), (COMMAND, text)]);
    }

    fn paragraph(&mut self, style: Style, text: &str) {
        self.hanging(0, "", text, style);
    }

    fn hanging(&mut self, indent: usize, mark: &str, text: &str, style: Style) {
        let width = self.options.width.min(PROSE);
        let room = width.saturating_sub(indent + mark.len() + 2);
        let first = width.saturating_sub(indent + mark.len());
        let lines = wrap(text, if indent == 0 { first } else { room });
        for (i, line) in lines.iter().enumerate() {
            let rest = if indent == 0 || i == 0 { "" } else { "  " };
            self.line(&[(PLAIN, &format!("{}{mark}{rest}", " ".repeat(indent))), (style, line)]);
        }
    }

    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// The only place that writes text: hidden characters cannot pass, whatever came before.
    fn line(&mut self, pieces: &[(Style, &str)]) {
        let end = pieces.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        for (i, (style, text)) in pieces.iter().enumerate().take(end.map_or(0, |end| end + 1)) {
            let text = if Some(i) == end { text.trim_end() } else { text };
            let text = escape::visible(text).replace(numbers::THIN, " ");
            if self.options.colour && *style != PLAIN && !text.trim().is_empty() {
                let _ = write!(self.out, "{style}{text}{style:#}");
            } else {
                self.out.push_str(&text);
            }
        }
        self.out.push('\n');
    }
}

fn cell_style(head: &str, cell: &str) -> Style {
    match head {
        "STATE" if cell == NONE => PLAIN,
        "STATE" if cell.split(", ").any(|word| matches!(word, "LOSS" | "DEGRADED" | "FAULT" | "DOWN")) => RED,
        "STATE" if cell.chars().any(|c| c.is_ascii_uppercase()) => YELLOW,
        "STATE" if cell.split(", ").any(|word| word == "ok") => GREEN,
        "LOSS" if cell.starts_with('+') => RED,
        _ if cell == NONE => DIM,
        _ => PLAIN,
    }
}

fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Words of a text; a figure keeps its unit.
fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 15] =
        ["Tb/s", "Gb/s", "Mb/s", "kb/s", "b/s", "B", "KiB", "MiB", "GiB", "%", "s", "ms", "us", "min", "packets"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        match words.last_mut() {
            Some(last) if unit && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Breaks text at spaces. A word that is wider than the line stands alone on its line, unbroken: it may be a path, an
/// address or a command.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        let word = word.as_str();
        match lines.last_mut() {
            Some(line) if table::columns(line) + 1 + table::columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
