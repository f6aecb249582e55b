//! Texts with facts in them: `{{ device.pcie.path.lo }}`. What is filled in is an expression of the rule language that
//! names one value; each is checked when the rule is loaded and shown in its unit.

use minijinja::value::Value as Filled;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::facts::{Catalogue, Unit, show, unit_of_type};
use crate::formats::shell::shell_quote;
use crate::lang::{Context, Diagnostic, Entity, Evaluation, Program, State, Type, World, check};

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
        let mut problems = Vec::new();
        let mut inputs = Vec::new();
        for path in paths {
            match check(&path, context) {
                Ok(program) => inputs.push(Input { unit: unit_of(&path, &program), path, program }),
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

    /// Fills the template in. A value that is not known stands as `<its name>`.
    pub fn render(&self, world: &dyn World, roots: &[Entity], variables: &[Evaluation]) -> String {
        if self.inputs.is_empty() && !self.source.contains('{') {
            return self.source.clone();
        }
        let mut context = serde_json::Value::Object(serde_json::Map::new());
        for input in &self.inputs {
            let filled = match input.program.evaluate(world, roots, variables).outcome {
                State::Known(crate::lang::Value::Bool(flag)) => serde_json::Value::Bool(flag),
                State::Known(value) => serde_json::Value::String(show(&value, input.unit)),
                // A condition that was not read does not hold: a placeholder would count as true.
                State::Absent | State::Unknown if *input.program.result_type() == Type::Bool => false.into(),
                State::Absent | State::Unknown => serde_json::Value::String(placeholder(&input.path)),
            };
            insert(&mut context, &input.path, filled);
        }
        let environment = environment(self.purpose);
        let rendered = environment
            .template_from_str(&self.source)
            .and_then(|template| template.render(Filled::from_serialize_compat(&context)));
        rendered.unwrap_or_else(|_| self.source.clone())
    }
}

/// Longest template in bytes.
const LONGEST: usize = 4096;

/// Holds templates to what texts need, so that a template that checks also renders: `{{ name }}`, `{% if name %}`,
/// `{% if not name %}`, `{% else %}` and `{% endif %}`. In a command a name stands by itself: between quotes the quoting of its value
/// would end them.
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
            ("{%", "else" | "endif") => None,
            ("{%", inner) => match inner.strip_prefix("if ") {
                Some(name) => Some(name.trim_start().strip_prefix("not ").unwrap_or(name).trim()),
                None => {
                    return refuse(
                        start..end,
                        "a template knows `if`, `else` and `endif` only",
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
                "a name between quotes, or behind `\\` or `$(`",
                "leave the quotes out: the value is quoted where it needs it",
            );
        }
        at = end;
    }
    Ok(())
}

/// True where a shell would still be inside quotes, a substitution or an escape after this text.
fn in_quotes(before: &str) -> bool {
    let mut quote = None;
    let mut escaped = false;
    for c in before.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            _ => {}
        }
    }
    quote.is_some() || escaped || before.contains("$(")
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
    if path == "arm.ratio" { "share not known".to_owned() } else { format!("<{path}>") }
}

fn environment(purpose: Purpose) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    if purpose == Purpose::Command {
        environment.set_formatter(|out, _, value| {
            // A placeholder is quoted as well: a person replaces it, a shell must not take it for redirections. So no text of
            // the host can pass for one either.
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
            "{% for a in b %}",
        ] {
            assert!(simple(bad, Purpose::Prose).is_err(), "{bad}");
        }
        assert!(simple(&"x".repeat(LONGEST + 1), Purpose::Prose).is_err());
    }

    #[test]
    fn a_name_in_a_command_stands_by_itself() {
        assert_eq!(simple("ethtool -G {{ iface.name }} rx 1024", Purpose::Command), Ok(()));
        assert_eq!(simple("sh -c 'id' {{ iface.name }}", Purpose::Command), Ok(()));
        for bad in [
            "sh -c 'ethtool {{ iface.name }}'",
            "echo \"{{ iface.name }}\"",
            "echo \\{{ x }}",
            "a $(b {{ x }})",
            "a `b {{ x }}`",
        ] {
            assert!(simple(bad, Purpose::Command).is_err(), "{bad}");
        }
    }
}
