//! What to type for a finding: exact commands, what they interrupt, how to check and how to take them back.

use crate::facts::{DEVICE, Facts, HOST, INTERFACE};
use crate::lang::{Entity, State, Value};
use crate::rules::schema::Interrupts;
use crate::rules::{Finding, Rule, bind};

/// One thing to do, with this host's names and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub action: String,
    /// Commands, quoted for a POSIX shell.
    pub commands: Vec<String>,
    /// How to make it last.
    pub persist: Vec<String>,
    /// What it risks; empty for nothing.
    pub risk: String,
    /// What it interrupts.
    pub interrupts: Interrupts,
    /// The user's own session, or the default route, runs over what is interrupted.
    pub hits_session: bool,
    /// How to check it and what should be seen.
    pub verify: String,
    /// How to take it back.
    pub undo: Vec<String>,
}

/// The steps of a finding, alternatives in order.
pub fn steps(rule: &Rule, finding: &Finding, facts: &Facts<'_>, subject: Entity) -> Vec<Step> {
    let roots = bind(rule, subject);
    let fill = |template: &crate::rules::Template| template.render(facts, &roots, &finding.variables);
    rule.recommend
        .iter()
        .filter(|advice| {
            // A condition that can't be decided keeps its step: the text says under which condition it helps.
            advice.when.as_ref().is_none_or(|when| {
                when.evaluate(facts, &roots, &finding.variables).outcome != State::Known(Value::Bool(false))
            })
        })
        .map(|advice| Step {
            action: fill(&advice.action),
            commands: advice.commands.iter().map(fill).collect(),
            persist: persist(facts, &advice.persist),
            risk: advice.risk.as_ref().map(fill).unwrap_or_default(),
            interrupts: advice.interrupts,
            hits_session: hits_session(facts, subject, advice.interrupts),
            verify: fill(&advice.verify),
            undo: advice.undo.iter().map(fill).collect(),
        })
        .collect()
}

fn persist(facts: &Facts<'_>, key: &str) -> Vec<String> {
    facts.knowledge().persistence().iter().find(|one| one.key == key).map_or_else(Vec::new, |one| one.how.clone())
}

/// True where the user's session or the default route runs over an interface that the action interrupts.
fn hits_session(facts: &Facts<'_>, subject: Entity, interrupts: Interrupts) -> bool {
    let carries = |index: usize| {
        let session = &facts.snapshot().interfaces[index].session;
        session.is_session.known() == Some(&true) || session.is_default_route.known() == Some(&true)
    };
    match (interrupts, subject.scope) {
        (Interrupts::None | Interrupts::Service, _) => false,
        (Interrupts::Host, _) | (_, HOST) => true,
        (Interrupts::Queue | Interrupts::Link, INTERFACE) => carries(subject.index as usize),
        (_, INTERFACE) => {
            let device = facts.device_of(subject.index as usize);
            let ports = device.map_or_else(
                || vec![subject.index as usize],
                |device| facts.interfaces_of(Facts::entity(DEVICE, device)),
            );
            ports.into_iter().any(carries)
        }
        (_, _) => facts.interfaces_of(subject).into_iter().any(carries),
    }
}
