//! Who sent the data that a finding is about: this host, the other end, and in which measured results.

use std::collections::BTreeSet;

use super::compile::Rule;
use super::schema::Side;
use crate::facts::{Facts, MEASUREMENT};
use crate::lang::{Entity, Evaluation, Slot, State, Value, World};

/// Who sent the data that a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Senders {
    /// This host.
    pub own: bool,
    /// The other end.
    pub peer: bool,
    /// It was counted on this host, over all that the counters see.
    pub counted: bool,
    /// Measured results that show it, by their position.
    pub results: BTreeSet<usize>,
}

impl Senders {
    /// Of a finding: each side whose condition holds. A result shows a side where the condition holds with it and not without
    /// any.
    pub(super) fn of(
        rule: &Rule,
        world: &dyn World,
        facts: &Facts<'_>,
        roots: &[Entity],
        values: &[Evaluation],
    ) -> Self {
        if rule.sides.is_empty() {
            return Self { own: true, ..Self::default() };
        }
        let mut found = Self::default();
        for (side, program) in &rule.sides {
            let holds = |result: Option<Entity>| {
                let masked = OneResult { world, result };
                program.evaluate(&masked, roots, values).outcome == State::TRUE
            };
            let counted = holds(None);
            let results: Vec<usize> = facts
                .entities(MEASUREMENT)
                .filter(|result| !counted && holds(Some(*result)))
                .map(|result| result.index as usize)
                .collect();
            let shown = counted || !results.is_empty() || program.evaluate(world, roots, values).outcome == State::TRUE;
            found.counted |= counted;
            found.results.extend(results);
            match side {
                Side::Own => found.own |= shown,
                Side::Peer => found.peer |= shown,
                Side::Both => (found.own, found.peer) = (found.own || shown, found.peer || shown),
            }
        }
        found
    }

    /// True where a cause on this side can be behind all of it. Nobody knows who sent where no side holds: then only what works
    /// both ways can be.
    pub(super) fn covered_by(&self, side: Option<Side>) -> bool {
        match side {
            Some(Side::Both) => true,
            Some(Side::Own) | None => self.own && !self.peer,
            Some(Side::Peer) => self.peer && !self.own,
        }
    }
}

/// The world with one measured result, or none.
struct OneResult<'a> {
    world: &'a dyn World,
    result: Option<Entity>,
}

impl World for OneResult<'_> {
    fn read(&self, entity: Entity, slot: Slot) -> State {
        let state = self.world.read(entity, slot);
        let State::Known(Value::List(items)) = &state else { return state };
        let hidden = |item: &Value| matches!(item, Value::Entity(entity) if entity.scope == MEASUREMENT && Some(*entity) != self.result);
        if !items.iter().any(hidden) {
            return state;
        }
        State::Known(Value::List(items.iter().filter(|item| !hidden(item)).cloned().collect()))
    }

    fn fired(&self, rule: &str, subject: Entity) -> State {
        self.world.fired(rule, subject)
    }
}
