//! What to type for a finding: exact commands, what they interrupt, how to check, how to keep them and how to take them back.

mod flaw;
mod keep;
mod setting;

use std::collections::BTreeSet;

pub use flaw::{flaw, reads_as_command};
pub use keep::Keep;

use crate::facts::{DEVICE, Facts, HOST, INTERFACE};
use crate::formats::shell::{can_be_copied, shell_quote};
use crate::lang::{Entity, Key, State, Value};
use crate::rules::schema::{Interrupts, Place};
use crate::rules::{Advice, Finding, Rule, Template, bind};
use crate::snapshot::STAND_IN;

/// One thing to do, with this host's names and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub action: String,
    /// Where the commands are typed.
    pub place: Place,
    /// Commands, quoted for a POSIX shell and complete.
    pub commands: Vec<String>,
    /// Why a command is not among them; empty where none is left out.
    pub commands_note: String,
    /// How to make it last.
    pub keep: Keep,
    /// What it risks; empty for nothing.
    pub risk: String,
    /// What it interrupts.
    pub interrupts: Interrupts,
    /// Whether the user's own session, or the default route, runs over what is interrupted; none where that was not read.
    pub hits_session: Option<bool>,
    /// What it may bring; empty where that is not told.
    pub gain: String,
    /// How to check it and what should be seen.
    pub verify: String,
    /// Commands that take it back.
    pub undo: Vec<String>,
    /// How to take it back, in words; empty where the commands do.
    pub undo_note: String,
}

/// The steps of a finding, alternatives in order.
pub fn steps(rule: &Rule, finding: &Finding, facts: &Facts<'_>, subject: Entity) -> Vec<Step> {
    let roots = bind(rule, subject);
    let writer = Writer { facts, roots: &roots, finding };
    let holds = |advice: &&Advice| {
        // A condition that can't be decided keeps its step: the text says under which condition it helps.
        advice.when.as_ref().is_none_or(|when| {
            let outcome = when.evaluate(facts, &roots, &finding.variables).outcome;
            matches!(outcome, State::Known(Value::Bool(true)) | State::Unknown)
        })
    };
    rule.recommend.iter().filter(holds).map(|advice| writer.step(advice, subject)).collect()
}

/// True for a command with the stand-in for an interface that an output does not name.
fn names_nothing(command: &str) -> bool {
    command.split(' ').any(|word| word.trim_matches('\'').starts_with(STAND_IN))
}

/// Fills in the texts of one finding.
struct Writer<'a> {
    facts: &'a Facts<'a>,
    roots: &'a [Entity],
    finding: &'a Finding,
}

impl Writer<'_> {
    fn step(&self, advice: &Advice, subject: Entity) -> Step {
        let (mut commands, lacking) = self.commands(&advice.commands);
        let mut commands_note = lacking.map_or_else(String::new, |keys| self.left_out(&keys));
        let whole = commands.len();
        commands.retain(|command| !names_nothing(command));
        if commands.len() < whole {
            commands_note = "A command is left out here: the output does not say of which interface it is".into();
        }
        let whole = commands.len();
        commands.retain(|command| self.can_be_typed(command));
        if commands.len() < whole {
            commands_note =
                "A command is left out here: a name in it holds characters that can't be typed as they are shown, \
                             or begins like an option"
                    .into();
        }
        let mut keep = keep::keep(self.facts, &advice.persist, advice.place, &commands);
        if let (Some(name), Place::Here) = (self.namespace(subject), advice.place) {
            if !commands.is_empty() {
                commands_note =
                    format!("To be typed in the network namespace {name}. {commands_note}").trim_end().into();
            }
            if keep != Keep::default() {
                let note = format!("Whatever makes the network namespace {name} has to keep it");
                keep = Keep { note, ..Keep::default() };
            }
        }
        let touched = commands.iter().find_map(|command| self.touched(command));
        let (mut undo, lacking) = self.commands(&advice.undo);
        undo.retain(|command| !names_nothing(command) && self.can_be_typed(command));
        let mut undo_note = advice.undo_note.as_ref().map_or_else(String::new, |note| self.text(note));
        if let Some(keys) = lacking.filter(|_| !commands.is_empty()) {
            // What stood there is read first, or nobody could bring it back.
            let mut before = self.readers(&keys);
            undo_note = if before.is_empty() {
                "The former value was not read: note it before the change".into()
            } else {
                "Set the values again that the first command shows: note them before the change".into()
            };
            before.append(&mut commands);
            commands = before;
        }
        Step {
            action: self.text(&advice.action),
            place: advice.place,
            commands,
            commands_note,
            keep,
            risk: advice.risk.as_ref().map_or_else(String::new, |risk| self.text(risk)),
            interrupts: advice.interrupts,
            hits_session: match advice.place {
                Place::Here => self.hits_session(subject, touched, advice.interrupts),
                Place::Peer => Some(false),
            },
            gain: advice.gain.as_ref().map_or_else(String::new, |gain| self.promise(gain)),
            verify: self.text(&advice.verify),
            undo,
            undo_note,
        }
    }

    /// False where a shell or the program that is called would get another name than the interface has.
    fn can_be_typed(&self, command: &str) -> bool {
        let interfaces = &self.facts.snapshot().interfaces;
        let mut odd = interfaces.iter().map(|one| one.name.as_str()).filter(|name| name.starts_with('-'));
        can_be_copied(command) && !odd.any(|name| command.split(' ').any(|word| word == shell_quote(name)))
    }

    fn text(&self, template: &Template) -> String {
        template.render(self.facts, self.roots, &self.finding.variables)
    }

    /// A text that says nothing where a value of it is not known.
    fn promise(&self, template: &Template) -> String {
        template.fill(self.facts, self.roots, &self.finding.variables).unwrap_or_default()
    }

    /// The network namespace of an interface, where that is not the one of the process.
    fn namespace(&self, subject: Entity) -> Option<&str> {
        let interface =
            self.facts.snapshot().interfaces.get(subject.index as usize).filter(|_| subject.scope == INTERFACE);
        interface.map(|interface| interface.namespace.as_str()).filter(|name| !name.is_empty())
    }

    /// The commands that can be filled in; what the others lack.
    fn commands(&self, templates: &[Template]) -> (Vec<String>, Option<BTreeSet<Key>>) {
        let mut lacking = None;
        let fill = |template: &Template| match template.fill(self.facts, self.roots, &self.finding.variables) {
            Ok(command) => Some(command),
            Err(mut missing) => {
                lacking.get_or_insert_with(BTreeSet::new).append(&mut missing);
                None
            }
        };
        let commands = templates.iter().filter_map(fill).collect();
        (commands, lacking)
    }

    /// Why a command is left out.
    fn left_out(&self, missing: &BTreeSet<Key>) -> String {
        let facts = self.facts;
        let what = facts.gaps_below(missing).into_keys().filter_map(|key| {
            let entry = facts.catalogue().entry(key)?;
            Some(format!("{} of {}", entry.doc, facts.name(key.entity)))
        });
        let what: BTreeSet<String> = what.collect();
        let what: Vec<&str> = what.iter().map(String::as_str).take(3).collect();
        let shown = self.readers(missing).first().map(|command| format!("; {command} shows it")).unwrap_or_default();
        match what.as_slice() {
            [] => "A command is left out here: a value that it needs is not known".into(),
            what => format!("A command is left out here, as nobody read: {}{shown}", what.join(", ")),
        }
    }

    /// Commands that show the facts, two at most.
    fn readers(&self, missing: &BTreeSet<Key>) -> Vec<String> {
        let gaps = self.facts.gaps_below(missing).into_iter().map(|(key, gap)| self.facts.gap(key, gap).command);
        let commands: BTreeSet<String> = gaps.filter(|command| !command.is_empty()).collect();
        commands.into_iter().take(2).collect()
    }

    /// The interface whose setting a command changes.
    fn touched(&self, command: &str) -> Option<usize> {
        let mut settings = self.facts.knowledge().persistence().settings.iter();
        let values = settings.find_map(|one| setting::read(&one.set_by, command))?;
        let name = values.get("iface")?;
        self.facts.snapshot().interfaces.iter().position(|interface| interface.name == *name)
    }

    /// Whether the user's session or the default route runs over an interface that the action interrupts.
    fn hits_session(&self, subject: Entity, touched: Option<usize>, interrupts: Interrupts) -> Option<bool> {
        let facts = self.facts;
        let carries = |index: usize| {
            let session = &facts.snapshot().interfaces[index].session;
            match (session.is_session.known(), session.is_default_route.known()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            }
        };
        let any = |ports: Vec<usize>| {
            let answers: Vec<Option<bool>> = ports.into_iter().map(carries).collect();
            if answers.contains(&Some(true)) {
                Some(true)
            } else if answers.contains(&None) {
                None
            } else {
                Some(false)
            }
        };
        // Advice of the whole host concerns the interface that its commands name.
        let subject = match (subject.scope, touched) {
            (HOST, Some(index)) => Facts::entity(INTERFACE, index),
            _ => subject,
        };
        match (interrupts, subject.scope) {
            (Interrupts::None | Interrupts::Service, _) => Some(false),
            (Interrupts::Host, _) => Some(true),
            // No interface is named: any may be meant.
            (_, HOST) => any((0..facts.snapshot().interfaces.len()).collect()),
            (Interrupts::Queue | Interrupts::Link, INTERFACE) => carries(subject.index as usize),
            (_, INTERFACE) => {
                let device = facts.device_of(subject.index as usize);
                any(device.map_or_else(
                    || vec![subject.index as usize],
                    |device| facts.interfaces_of(Facts::entity(DEVICE, device)),
                ))
            }
            (_, _) => any(facts.interfaces_of(subject)),
        }
    }
}
