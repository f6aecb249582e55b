//! Texts with facts in them: `{{ device.pcie.path.lo }}`. What is filled in is an expression of the rule language that
//! names one value; each is checked when the rule is loaded and shown in its unit.

use minijinja::value::Value as Filled;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::facts::{Catalogue, Unit, show, unit_of_type};
use crate::formats::shell::shell_quote;
use crate::lang::{Context, Diagnostic, Entity, Evaluation, Program, State, World, check};

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
    format!("<{path}>")
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
