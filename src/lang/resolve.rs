//! Names: what a dotted path or a bare word stands for.

use super::ast::Segment;
use super::check::{Checker, Typed};
use super::program::{Node, Op};
use super::suggest::{closest, did_you_mean};
use super::types::{ScopeId, Type, Words};
use super::value::Value;
use std::ops::Range;

impl Checker<'_> {
    /// Whether the name is bound to something that can be compared with words and texts.
    pub(super) fn binds_value(&self, name: &str) -> bool {
        let element = self.elements.iter().find(|(known, _)| known == name).map(|(_, kind)| kind);
        let variable = self.context.variables.iter().find(|(known, _)| known == name).map(|(_, kind)| kind);
        element.or(variable).is_some_and(|kind| !matches!(kind, Type::Entity(_)))
    }

    /// A quoted text, which may stand for a word that is no name, such as `10baseT/Half`.
    pub(super) fn literal_text(&mut self, span: &Range<usize>, text: &str, expected: Option<&Type>) -> Option<Typed> {
        match expected {
            Some(Type::Word(words)) => self.word(span, text, words),
            _ => Some(Typed::new(span, Op::Constant(Value::Text(text.into())), Type::Text)),
        }
    }

    fn word(&mut self, span: &Range<usize>, text: &str, words: &'static Words) -> Option<Typed> {
        if !words.open && !words.words.contains(&text) {
            let near = closest(text, words.words.iter().copied());
            let help = did_you_mean(&near).unwrap_or_else(|| format!("it is {words}"));
            return self.fail(span, format!("`{text}` is not a {}", words.name), help);
        }
        Some(Typed::new(span, Op::Constant(Value::Word(text.into())), Type::Word(words)))
    }

    pub(super) fn path(&mut self, span: &Range<usize>, segments: &[Segment], expected: Option<&Type>) -> Option<Typed> {
        if let [only] = segments
            && !self.binds_value(&only.name)
        {
            match expected {
                Some(Type::Word(words)) => return self.word(span, &only.name, words),
                Some(Type::Text) => {
                    return Some(Typed::new(span, Op::Constant(Value::Text(only.name.as_str().into())), Type::Text));
                }
                _ => {}
            }
        }
        let Some((bound, used)) = self.bound(segments) else { return self.unknown_name(span, segments) };
        self.facts(bound, &segments[used..], span)
    }

    /// What the first names are bound to, and how many names that takes.
    fn bound(&self, segments: &[Segment]) -> Option<(Typed, usize)> {
        let first = &segments[0];
        let span = |count: usize| first.span.start..segments[count - 1].span.end;
        if let Some(depth) = self.elements.iter().rposition(|(name, _)| *name == first.name) {
            let kind = self.elements[depth].1.clone();
            return Some((Typed::new(&span(1), Op::Element(depth), kind), 1));
        }
        for count in (1..=segments.len()).rev() {
            let name = dotted(&segments[..count]);
            if let Some(index) = self.context.variables.iter().position(|(known, _)| *known == name) {
                let kind = self.context.variables[index].1.clone();
                return Some((Typed::new(&span(count), Op::Variable(index), kind), count));
            }
        }
        let index = self.context.roots.iter().position(|(name, _)| *name == first.name)?;
        Some((Typed::new(&span(1), Op::Root(index), Type::Entity(self.context.roots[index].1)), 1))
    }

    /// Follows facts from a subject, the longest known path first.
    fn facts(&mut self, from: Typed, rest: &[Segment], whole: &Range<usize>) -> Option<Typed> {
        let (mut at, mut rest) = (from, rest);
        while !rest.is_empty() {
            let Type::Entity(scope) = at.kind else { return self.no_parts(&at, rest, whole) };
            let vocabulary = self.context.vocabulary;
            let found = (1..=rest.len())
                .rev()
                .find_map(|count| vocabulary.fact(scope, &dotted(&rest[..count])).map(|fact| (count, fact)));
            let Some((count, (slot, kind))) = found else { return self.unknown_fact(&at.node, scope, rest) };
            self.reads.insert((scope, slot));
            let span = whole.start..rest[count - 1].span.end;
            at = Typed::new(&span, Op::Fact { subject: Box::new(at.node), slot }, kind);
            rest = &rest[count..];
        }
        at.node.span = whole.clone();
        Some(at)
    }

    fn no_parts(&mut self, at: &Typed, rest: &[Segment], whole: &Range<usize>) -> Option<Typed> {
        let list = self.text(&at.node.span).to_owned();
        let rest = dotted(rest);
        let help = match at.kind {
            Type::List(_) => Some(format!("go over its elements: any(x.{rest} for x in {list})")),
            _ => None,
        };
        self.fail(whole, format!("`{list}` has type `{}` and no `{rest}`", at.kind), help)
    }

    fn unknown_fact(&mut self, subject: &Node, scope: ScopeId, rest: &[Segment]) -> Option<Typed> {
        let wanted = dotted(rest);
        let paths = self.context.vocabulary.paths(scope);
        let mut near = closest(&wanted, paths.iter().map(String::as_str));
        if near.is_empty() {
            let tail = format!(".{}", rest.last().map_or("", |segment| segment.name.as_str()));
            near = paths.iter().map(String::as_str).filter(|path| path.ends_with(&tail)).collect();
        }
        let before = self.text(&subject.span);
        let full: Vec<_> = near.iter().map(|path| format!("{before}.{path}")).collect();
        let span = rest[0].span.start..rest[rest.len() - 1].span.end;
        let message = format!("{} has no fact `{wanted}`", self.context.vocabulary.scope_name(scope));
        self.fail(&span, message, did_you_mean(&full))
    }

    fn unknown_name(&mut self, span: &Range<usize>, segments: &[Segment]) -> Option<Typed> {
        let wanted = dotted(segments);
        let vocabulary = self.context.vocabulary;
        let rooted = self.context.roots.iter().filter(|(_, scope)| vocabulary.fact(*scope, &wanted).is_some());
        let mut near: Vec<_> = rooted.map(|(root, _)| format!("{root}.{wanted}")).collect();
        if near.is_empty() {
            let names = self.context.roots.iter().map(|(name, _)| *name);
            let names = names.chain(self.context.variables.iter().map(|(name, _)| name.as_str()));
            let names: Vec<_> = names.chain(self.elements.iter().map(|(name, _)| name.as_str())).collect();
            near = closest(&wanted, names.iter().copied()).into_iter().map(str::to_owned).collect();
            if near.is_empty()
                && let [first, rest @ ..] = segments
                && !rest.is_empty()
            {
                let roots = closest(&first.name, names);
                near = roots.into_iter().map(|root| format!("{root}.{}", dotted(rest))).collect();
            }
        }
        self.fail(span, format!("unknown name `{wanted}`"), did_you_mean(&near))
    }
}

fn dotted(segments: &[Segment]) -> String {
    match segments {
        [only] => only.name.clone(),
        _ => segments.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>().join("."),
    }
}
