//! A rule whose every expression, template and threshold was checked against the vocabulary.

use std::collections::BTreeSet;

use super::arms::Arms;
use super::located::Located;
use super::problem::{Problem, RuleFile};
use super::schema::{Confidence, Interrupts, Kind, Place, RuleSpec, Scope, Severity, Side};
use super::template::{Purpose, Template};
use crate::facts::{Catalogue, DEVICE, HOST, INTERFACE};
use crate::lang::{Allow, Context, Entity, Evaluation, Program, ScopeId, Type, World, check};

/// A rule that can be evaluated.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The rule as it was written.
    pub spec: RuleSpec,
    /// File that it stands in.
    pub file: String,
    /// Where it applies.
    pub requires: Option<Program>,
    /// Intermediate values in order.
    pub lets: Vec<(String, Program)>,
    /// The condition.
    pub when: Program,
    /// Arms.
    pub arms: Option<Arms>,
    /// Conditions of `kind_when`, in its order.
    pub kind_when: Vec<(Kind, Program)>,
    /// Conditions of `severity_when`.
    pub severity_when: Vec<(Severity, Program)>,
    /// Conditions of `confidence_when`.
    pub confidence_when: Vec<(Confidence, Program)>,
    /// Conditions of `sides`.
    pub sides: Vec<(Side, Program)>,
    /// Why it matters.
    pub why: Template,
    /// What it costs.
    pub impact: Template,
    /// The title of a finding where all its values are known.
    pub headline: Option<Template>,
    /// Further facts shown as evidence.
    pub evidence: Vec<Program>,
    /// What to do.
    pub recommend: Vec<Advice>,
    /// Rules whose results the condition asks for.
    pub asks: BTreeSet<String>,
}

/// One checked recommendation.
#[derive(Clone, Debug)]
pub struct Advice {
    /// What to do.
    pub action: Template,
    /// Only then.
    pub when: Option<Program>,
    /// Where it is typed.
    pub place: Place,
    /// Commands.
    pub commands: Vec<Template>,
    /// Key of the persistence knowledge.
    pub persist: String,
    /// What it interrupts.
    pub interrupts: Interrupts,
    /// What it risks.
    pub risk: Option<Template>,
    /// What it may bring.
    pub gain: Option<Template>,
    /// How to check it.
    pub verify: Template,
    /// Commands that take it back.
    pub undo: Vec<Template>,
    /// How to take it back, in words.
    pub undo_note: Option<Template>,
}

impl Rule {
    /// The rule's id.
    pub fn id(&self) -> &str {
        &self.spec.id.text
    }

    /// What a finding is called: the headline, or the title where a value of the headline was not read.
    pub fn title(&self, world: &dyn World, roots: &[Entity], variables: &[Evaluation]) -> String {
        let headline = self.headline.as_ref().and_then(|headline| headline.fill(world, roots, variables).ok());
        headline.unwrap_or_else(|| self.spec.title.clone())
    }

    /// The scope that its subjects are of.
    pub fn subject_scope(&self) -> ScopeId {
        roots(self.spec.scope)[0].1
    }
}

/// Names that are bound in the expressions of a rule; the first is its subject.
pub fn roots(scope: Scope) -> &'static [(&'static str, ScopeId)] {
    match scope {
        Scope::Host => &[("host", HOST)],
        Scope::Interface => &[("iface", INTERFACE), ("host", HOST)],
        Scope::PciDevice => &[("device", DEVICE), ("host", HOST)],
    }
}

/// Variables that a rule with arms has after its `let` names, in the order in which [`Arms`] supplies them.
pub fn arm_variables() -> Vec<(String, Type)> {
    vec![
        ("arms".into(), Type::Bool),
        ("arm.name".into(), Type::Text),
        ("arm.growth".into(), Type::PLAIN),
        ("arm.ratio".into(), Type::PLAIN),
        ("arm.rate".into(), Type::number(crate::lang::Dim::FREQUENCY)),
        ("arm.age".into(), Type::number(crate::lang::Dim::TIME)),
        ("arm.delta".into(), Type::Bool),
        ("arm.repeat".into(), Type::Bool),
        ("arm.log".into(), Type::Bool),
        ("arm.totals".into(), Type::Bool),
    ]
}

struct Compiler<'a> {
    spec: &'a RuleSpec,
    file: &'a RuleFile,
    rules: &'a BTreeSet<String>,
    variables: Vec<(String, Type)>,
    problems: Vec<Problem>,
}

impl Compiler<'_> {
    /// Checks all parts, so that all problems are told at once.
    fn rule(&mut self) -> Option<Rule> {
        let spec = self.spec;
        let known = Allow { known: true, ..Allow::default() };
        let fired = Allow { fired: true, ..Allow::default() };
        self.house_rules();
        let requires = spec.requires.as_ref().map(|place| self.condition(place, known).ok_or(Unchecked));
        let lets = self.lets()?;
        let arms = spec.arms.as_ref();
        let arms = arms.map(|arms| Arms::compile(arms, spec, self.file, &mut self.problems).ok_or(Unchecked));
        if spec.arms.is_some() {
            self.variables.extend(arm_variables());
        }
        let when = self.condition(&spec.when, fired);
        let kind_when = self.cases(spec.kind_when.iter().map(|one| (one.is, &one.when)));
        let severity_when = self.cases(spec.severity_when.iter().map(|one| (one.is, &one.when)));
        let confidence_when = self.cases(spec.confidence_when.iter().map(|one| (one.is, &one.when)));
        let sides = self.cases(spec.sides.iter().map(|one| (one.is, &one.when)));
        let why = self.template(&spec.why, Purpose::Prose);
        let impact = self.template(&spec.impact, Purpose::Prose);
        let headline = spec.headline.as_ref().map(|place| self.template(place, Purpose::Prose).ok_or(Unchecked));
        let evidence: Vec<_> = spec.evidence.iter().map(|place| self.program(place, Allow::default(), None)).collect();
        let recommend = self.advice();
        let (when, kind_when, severity_when) = (when?, kind_when?, severity_when?);
        let conditions = kind_when.iter().map(|(_, one)| one).chain(severity_when.iter().map(|(_, one)| one));
        let asks = conditions.chain([&when]).flat_map(Program::fired_rules).collect();
        Some(Rule {
            spec: spec.clone(),
            file: self.file.name.clone(),
            requires: requires.transpose().ok()?,
            lets,
            when,
            arms: arms.transpose().ok()?,
            kind_when,
            severity_when,
            confidence_when: confidence_when?,
            sides: sides?,
            why: why?,
            impact: impact?,
            headline: headline.transpose().ok()?,
            evidence: evidence.into_iter().collect::<Option<_>>()?,
            recommend: recommend?,
            asks,
        })
    }

    /// What a rule must keep to besides its expressions.
    fn house_rules(&mut self) {
        let spec = self.spec;
        let quiet = matches!(spec.kind, Kind::Limit | Kind::Hygiene);
        let loudest = spec.severity_when.iter().map(|one| one.is).fold(spec.severity, Severity::max);
        if quiet && spec.kind_when.is_empty() && loudest > Severity::Advice {
            self.note(&spec.id, "a limit or hygiene rule is never above advice".into());
        }
        let id_is_plain = spec.id.text.split_once('.').is_some_and(|(area, name)| {
            let plain = |part: &str| {
                !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            };
            plain(area) && plain(name)
        });
        if !id_is_plain {
            self.note(&spec.id, "an id is `area.what-is-wrong` in lower case".into());
        }
        for one in spec.sides.iter().filter(|one| one.is == Side::Both) {
            self.note(&one.when, "a side is `own` or `peer`; for both give a line each".into());
        }
        if spec.sources.is_empty() {
            self.note(&spec.id, "a rule names its sources".into());
        }
        for one in &spec.recommend {
            if one.interrupts != Interrupts::None && one.risk.is_none() {
                self.note(&one.action, "what interrupts something states its risk".into());
            }
        }
    }

    /// The `let` values; what does not check ends the rule, for it would only raise errors about its name below.
    fn lets(&mut self) -> Option<Vec<(String, Program)>> {
        let mut lets = Vec::new();
        for (name, place) in &self.spec.lets.0 {
            let program = self.program(place, Allow::default(), None)?;
            self.variables.push((name.clone(), program.result_type().clone()));
            lets.push((name.clone(), program));
        }
        Some(lets)
    }

    fn cases<'s, T: Copy>(&mut self, cases: impl Iterator<Item = (T, &'s Located)>) -> Option<Vec<(T, Program)>> {
        let anything = Allow { known: true, unknown: true, fired: true };
        let checked: Vec<_> = cases.map(|(is, when)| Some((is, self.condition(when, anything)?))).collect();
        checked.into_iter().collect()
    }

    fn context(&self, allow: Allow) -> Context<'_> {
        Context {
            vocabulary: Catalogue::shared(),
            roots: roots(self.spec.scope),
            variables: &self.variables,
            allow,
            rules: self.rules,
        }
    }

    fn program(&mut self, place: &Located, allow: Allow, wanted: Option<&Type>) -> Option<Program> {
        let checked = check(&place.text, &self.context(allow));
        match checked {
            Ok(program) => match wanted {
                Some(wanted) if program.result_type() != wanted => {
                    let found = program.result_type().to_string();
                    self.note(place, format!("this is a {found}; here belongs a {wanted}"));
                    None
                }
                _ => Some(program),
            },
            Err(found) => {
                let id = &self.spec.id.text;
                self.problems.extend(found.iter().map(|one| Problem::of_expression(self.file, id, place, one)));
                None
            }
        }
    }

    fn condition(&mut self, place: &Located, allow: Allow) -> Option<Program> {
        self.program(place, allow, Some(&Type::Bool))
    }

    fn template(&mut self, place: &Located, purpose: Purpose) -> Option<Template> {
        let checked = Template::check(&place.text, purpose, &self.context(Allow::default()));
        match checked {
            Ok(template) => Some(template),
            Err(found) => {
                let id = &self.spec.id.text;
                self.problems.extend(found.iter().map(|one| Problem::of_expression(self.file, id, place, one)));
                None
            }
        }
    }

    fn note(&mut self, place: &Located, message: String) {
        self.problems.push(Problem::at(self.file, &self.spec.id.text, place, message, None));
    }

    fn advice(&mut self) -> Option<Vec<Advice>> {
        let spec = self.spec;
        let mut advice = Some(Vec::new());
        for one in &spec.recommend {
            let known = Allow { known: true, ..Allow::default() };
            let when = one.when.as_ref().map(|when| self.condition(when, known).ok_or(Unchecked));
            let action = self.template(&one.action, Purpose::Prose);
            let commands = self.commands(&one.commands);
            let risk = self.optional(one.risk.as_ref());
            let gain = self.optional(one.gain.as_ref());
            let verify = self.template(&one.verify, Purpose::Prose);
            let undo = self.commands(&one.undo);
            let undo_note = self.optional(one.undo_note.as_ref());
            let built = (|| {
                Some(Advice {
                    action: action?,
                    when: when.transpose().ok()?,
                    place: one.place,
                    commands: commands?,
                    persist: one.persist.clone(),
                    interrupts: one.interrupts,
                    risk: risk.transpose().ok()?,
                    gain: gain.transpose().ok()?,
                    verify: verify?,
                    undo: undo?,
                    undo_note: undo_note.transpose().ok()?,
                })
            })();
            match (built, &mut advice) {
                (Some(built), Some(list)) => list.push(built),
                _ => advice = None,
            }
        }
        advice
    }

    /// A text that need not be there.
    fn optional(&mut self, place: Option<&Located>) -> Option<Result<Template, Unchecked>> {
        place.map(|place| self.template(place, Purpose::Prose).ok_or(Unchecked))
    }

    fn commands(&mut self, places: &[Located]) -> Option<Vec<Template>> {
        let built: Vec<Option<Template>> = places.iter().map(|place| self.template(place, Purpose::Command)).collect();
        built.into_iter().collect()
    }
}

/// A part that did not check; what is wrong with it was noted.
#[derive(Debug)]
struct Unchecked;

/// Checks a rule. `rules` holds the ids of all rules that are loaded with it.
pub fn compile(spec: &RuleSpec, file: &RuleFile, rules: &BTreeSet<String>) -> Result<Rule, Vec<Problem>> {
    let mut compiler = Compiler { spec, file, rules, variables: Vec::new(), problems: Vec::new() };
    match compiler.rule() {
        Some(rule) if compiler.problems.is_empty() => Ok(rule),
        _ => Err(compiler.problems),
    }
}
