//! Texts with facts in them: `{{ device.pcie.path.lo }}`. What is filled in is an expression of the rule language that
//! names one value; each is checked when the rule is loaded and shown in its unit.

use std::collections::BTreeSet;

use minijinja::value::Value as Filled;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::facts::{Catalogue, Unit, show, unit_of_type};
use crate::formats::shell::shell_quote;
use crate::lang::{Context, Diagnostic, Entity, Evaluation, Key, Program, State, Type, World, check};

/// Steps that a template may take: a bound, far above what a text needs.
const FUEL: u64 = 20_000;

/// What a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Prose: values stand as they are.
    Prose,
    /// A shell command: each value is quoted where it needs it.
    Command,
}

/// A checked template.
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
    purpose: Purpose,
    inputs: Vec<Input>,
}

#[derive(Clone, Debug)]
struct Input {
    path: String,
    program: Program,
    unit: Unit,
    /// True where the template goes over its elements.
    each: bool,
}

impl Template {
    /// Checks a template: its syntax and each name in it.
    pub fn check(source: &str, purpose: Purpose, context: &Context<'_>) -> Result<Self, Vec<Diagnostic>> {
        simple(source, purpose)?;
        if !source.contains('{') {
            return Ok(Self { source: source.into(), purpose, inputs: Vec::new() });
        }
        let environment = environment(purpose);
        let parsed = environment.template_from_str(source).map_err(|error| {
            let span = error.range().unwrap_or(0..source.len());
            vec![Diagnostic::new(span, format!("this template can't be read: {error}"))]
        })?;
        let mut paths: Vec<String> = parsed.undeclared_variables(true).into_iter().collect();
        paths.sort();
        let lists = lists(source);
        let mut problems = Vec::new();
        let mut inputs = Vec::new();
        for path in paths {
            let each = lists.contains(&path.as_str());
            match check(&path, context) {
                Ok(program) if each && !matches!(program.result_type(), Type::Set(_) | Type::List(_)) => {
                    let at = source.find(&path).unwrap_or(0);
                    let message = format!("`{path}` has no elements to go over");
                    problems.push(Diagnostic::new(at..at + path.len(), message));
                }
                Ok(program) => inputs.push(Input { unit: unit_of(&path, &program), path, program, each }),
                Err(found) => {
                    let at = source.find(&path).unwrap_or(0);
                    problems.extend(found.into_iter().map(|mut diagnostic| {
                        diagnostic.span = at + diagnostic.span.start..at + diagnostic.span.end;
                        diagnostic
                    }));
                }
            }
        }
        if problems.is_empty() { Ok(Self { source: source.into(), purpose, inputs }) } else { Err(problems) }
    }

    /// Fills a text in. In the place of a value that is not known stands that it was not read.
    pub fn render(&self, world: &dyn World, roots: &[Entity], variables: &[Evaluation]) -> String {
        if self.is_plain() {
            return self.source.clone();
        }
        let mut context = empty();
        for input in &self.inputs {
            let evaluation = input.program.evaluate(world, roots, variables);
            let filled = input.known(&evaluation.outcome).unwrap_or_else(|| {
                // A condition that was not read does not hold: a placeholder would count as true.
                if *input.program.result_type() == Type::Bool {
                    false.into()
                } else if input.each {
                    serde_json::Value::Array(vec![placeholder(&input.path).into()])
                } else {
                    placeholder(&input.path).into()
                }
            });
            insert(&mut context, &input.path, filled);
        }
        self.with(&context).unwrap_or_else(|| self.source.clone())
    }

    /// Fills a command in. Each value that it comes to needs to be known and not empty: nobody could type the rest.
    ///
    /// # Errors
    /// The facts that nobody read, of all values that the template names.
    pub fn fill(&self, world: &dyn World, roots: &[Entity], variables: &[Evaluation]) -> Result<String, BTreeSet<Key>> {
        if self.is_plain() {
            return Ok(self.source.clone());
        }
        let mut context = empty();
        let mut missing = BTreeSet::new();
        for input in &self.inputs {
            let evaluation = input.program.evaluate(world, roots, variables);
            match input.known(&evaluation.outcome).filter(|filled| !is_empty(filled)) {
                Some(filled) => insert(&mut context, &input.path, filled),
                // Left undefined: the engine refuses to print it, to ask for it and to go over it.
                None => missing.extend(evaluation.needed),
            }
        }
        self.with(&context).ok_or(missing)
    }

    fn is_plain(&self) -> bool {
        self.inputs.is_empty() && !self.source.contains('{')
    }

    fn with(&self, context: &serde_json::Value) -> Option<String> {
        let environment = environment(self.purpose);
        let template = environment.template_from_str(&self.source).ok()?;
        template.render(Filled::from_serialize_compat(context)).ok()
    }
}

impl Input {
    /// The value as the template takes it; `None` where it is absent or unknown.
    fn known(&self, outcome: &State) -> Option<serde_json::Value> {
        let text = |value: &crate::lang::Value| serde_json::Value::String(show(value, self.unit));
        match outcome {
            State::Known(crate::lang::Value::Bool(flag)) => Some((*flag).into()),
            State::Known(crate::lang::Value::Set(words)) if self.each => {
                Some(words.iter().map(|word| serde_json::Value::from(&**word)).collect())
            }
            State::Known(crate::lang::Value::List(items)) if self.each => Some(items.iter().map(text).collect()),
            State::Known(value) => Some(text(value)),
            State::Absent | State::Unknown => None,
        }
    }
}

fn empty() -> serde_json::Value {
    serde_json::Value::Object(serde_json::Map::new())
}

fn is_empty(filled: &serde_json::Value) -> bool {
    match filled {
        serde_json::Value::String(text) => text.is_empty(),
        serde_json::Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Longest template in bytes.
const LONGEST: usize = 4096;

/// The names that a template goes over.
fn lists(source: &str) -> Vec<&str> {
    let tags = source.split("{%").skip(1).filter_map(|rest| rest.split("%}").next());
    tags.filter_map(|tag| Some(loop_of(tag.trim_matches('-').trim())?.1)).collect()
}

/// `for x in list`: the name of an element, and that of the list.
fn loop_of(tag: &str) -> Option<(&str, &str)> {
    let (element, list) = tag.strip_prefix("for ")?.split_once(" in ")?;
    Some((element.trim(), list.trim()))
}

/// Holds templates to what texts need, so that a template that checks also renders: `{{ name }}`, `{% if name %}`,
/// `{% if not name %}`, `{% else %}` and `{% endif %}`, `{% for x in name %}` and `{% endfor %}`. In a command a name stands by
/// itself: between quotes the quoting of its value would end them.
fn simple(source: &str, purpose: Purpose) -> Result<(), Vec<Diagnostic>> {
    let refuse = |span: std::ops::Range<usize>, message: &str, help: &str| {
        Err(vec![Diagnostic::new(span, message).help(help.to_owned())])
    };
    if source.len() > LONGEST {
        return refuse(0..0, "this text is too long", &format!("at most {LONGEST} bytes"));
    }
    let mut at = 0;
    while let Some(found) =
        source[at..].find("{{").into_iter().chain(source[at..].find("{%")).chain(source[at..].find("{#")).min()
    {
        let start = at + found;
        let opening = &source[start..start + 2];
        let closing = if opening == "{{" { "}}" } else { "%}" };
        let Some(length) = source[start..].find(closing) else {
            return refuse(start..start + 2, "this is never closed", &format!("close it with `{closing}`"));
        };
        let end = start + length + 2;
        let inner = source[start + 2..end - 2].trim_matches('-').trim();
        let name = match (opening, inner) {
            ("{{", name) => Some(name),
            ("{%", "else" | "endif" | "endfor") => None,
            ("{%", inner) => match (inner.strip_prefix("if "), loop_of(inner)) {
                (Some(name), _) => Some(name.trim_start().strip_prefix("not ").unwrap_or(name).trim()),
                (None, Some((element, list))) if element.chars().all(|c| c.is_ascii_lowercase()) => Some(list),
                _ => {
                    return refuse(
                        start..end,
                        "a template knows `if`, `else`, `endif`, `for` and `endfor` only",
                        "move the rest into a `let`",
                    );
                }
            },
            _ => return refuse(start..end, "a template has no comments", "write them as comments of the file"),
        };
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c));
        if name.is_some_and(|name| !is_name(name)) {
            return refuse(
                start..end,
                "here belongs one name",
                "give the expression a name with `let`, and write that name here",
            );
        }
        if purpose == Purpose::Command && opening == "{{" && in_quotes(&source[..start]) {
            return refuse(
                start..end,
                "a name between quotes, or behind `\\`",
                "leave the quotes out: the value is quoted where it needs it",
            );
        }
        at = end;
    }
    Ok(())
}

/// True where a shell would still be inside quotes, an escape or an arithmetic expression after this text. Inside of `$(..)` words
/// are quoted as outside, unless it stands between quotes itself.
fn in_quotes(before: &str) -> bool {
    // The quotes that are open, one for each `$(`.
    let mut open: Vec<Option<char>> = vec![None];
    let mut escaped = false;
    let mut rest = before.char_indices();
    while let Some((at, c)) = rest.next() {
        let quote = open.last().copied().flatten();
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('\''), '\'') => close(&mut open, None),
            (Some('\''), _) => {}
            (_, '\\') => escaped = true,
            (_, '$') if before[at..].starts_with("$((") || quote.is_some() && before[at..].starts_with("$(") => {
                return true;
            }
            (None, '$') if before[at..].starts_with("$(") => {
                rest.next();
                open.push(None);
            }
            (None, ')') if open.len() > 1 => {
                open.pop();
            }
            (Some(one), c) if c == one => close(&mut open, None),
            (None, '\'' | '"' | '`') => close(&mut open, Some(c)),
            _ => {}
        }
    }
    escaped || open.iter().any(Option::is_some)
}

/// Puts another state of quoting in place of the innermost one.
fn close(open: &mut [Option<char>], state: Option<char>) {
    if let Some(last) = open.last_mut() {
        *last = state;
    }
}

/// minijinja 3 takes serde values through a wrapper; one place knows its name.
trait FromSerializeCompat {
    fn from_serialize_compat(value: &serde_json::Value) -> Self;
}

impl FromSerializeCompat for Filled {
    fn from_serialize_compat(value: &serde_json::Value) -> Self {
        Self::from(minijinja::value::Serde(value.clone()))
    }
}

fn placeholder(path: &str) -> String {
    // Where the packets were not counted, the count alone stands there.
    if path == "arm.ratio" { "share not known".to_owned() } else { "(not read)".to_owned() }
}

fn environment(purpose: Purpose) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    if purpose == Purpose::Command {
        environment.set_formatter(|out, _, value| {
            // The formatter of one's own is asked for undefined values as well.
            if value.is_undefined() {
                return Err(minijinja::ErrorKind::UndefinedError.into());
            }
            out.write_str(&shell_quote(&value.to_string()))?;
            Ok(())
        });
    }
    environment
}

fn insert(context: &mut serde_json::Value, path: &str, filled: serde_json::Value) {
    let mut place = context;
    for name in path.split('.') {
        if !place.is_object() {
            *place = serde_json::Value::Object(serde_json::Map::new());
        }
        place = &mut place[name];
    }
    *place = filled;
}

/// The unit of the fact that the path ends in; for a `let`, the unit of its dimension; for the ratio of an arm a share.
fn unit_of(path: &str, program: &Program) -> Unit {
    if path == "arm.ratio" {
        return Unit::Share;
    }
    let catalogue = Catalogue::shared();
    let entries = program.reads().into_iter().filter_map(|(scope, slot)| catalogue.at(scope, slot));
    let last = entries.filter(|entry| path.ends_with(&format!(".{}", entry.path))).max_by_key(|entry| entry.path.len());
    last.map_or_else(|| unit_of_type(program.result_type()), |entry| entry.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_names_and_conditions_only() {
        for good in [
            "plain",
            "{{ iface.name }} is {{ x }}",
            "{% if shared %}all{% else %}one{% endif %}",
            "{%- if not a.b -%}x{%- endif %}",
            "{% for mode in hidden %}{{ mode }} {% endfor %}",
        ] {
            assert_eq!(simple(good, Purpose::Prose), Ok(()), "{good}");
        }
        for bad in [
            "{{ a + 1 }}",
            "{{ 1/0 }}",
            "{% include 'x' %}",
            "{{ a['b'] }}",
            "{{ a | upper }}",
            "{{ not not a }}",
            "{# x #}",
            "{{ a",
            "{% for a in b.c() %}",
            "{% for a, b in c %}",
            "{% for a.b in c %}",
            "{% for a in b if c %}",
            "{% set a = b %}",
        ] {
            assert!(simple(bad, Purpose::Prose).is_err(), "{bad}");
        }
        assert!(simple(&"x".repeat(LONGEST + 1), Purpose::Prose).is_err());
    }

    #[test]
    fn a_name_in_a_command_stands_by_itself() {
        assert_eq!(simple("ethtool -G {{ iface.name }} rx 1024", Purpose::Command), Ok(()));
        assert_eq!(simple("sh -c 'id' {{ iface.name }}", Purpose::Command), Ok(()));
        assert_eq!(simple("a $(b {{ x }} | c 'd') {{ y }}", Purpose::Command), Ok(()));
        assert_eq!(simple("a $(b $(c {{ x }}))", Purpose::Command), Ok(()));
        for bad in [
            "sh -c 'ethtool {{ iface.name }}'",
            "echo \"{{ iface.name }}\"",
            "echo \\{{ x }}",
            "a \"$(b {{ x }})\"",
            "a \"b $(c)\\\" {{ x }}",
            "a $((1 + {{ x }}))",
            "a $(b '{{ x }}')",
            "a `b {{ x }}`",
        ] {
            assert!(simple(bad, Purpose::Command).is_err(), "{bad}");
        }
    }
}
