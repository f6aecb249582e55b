//! Sources and gaps are interned: thousands of readings share a few hundred of them.

use std::collections::BTreeMap;

use super::{Gap, GapKind, Source};

/// Index of a [`Source`] in the [`Origins`] of the same snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(pub(super) u32);

/// Index of a [`Gap`] in the [`Origins`] of the same snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GapId(pub(super) u32);

impl SourceId {
    /// A bare assumption; entry 0 of every table.
    pub const ASSUMED: Self = Self(0);
}

impl GapId {
    /// Nobody asked; entry 0 of every table.
    pub const NOT_COLLECTED: Self = Self(0);
}

/// The sources and gaps of one snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Origins {
    sources: Vec<Source>,
    source_index: BTreeMap<Source, u32>,
    gaps: Vec<Gap>,
    gap_index: BTreeMap<Gap, u32>,
}

impl Default for Origins {
    fn default() -> Self {
        Self::from_tables(Vec::new(), Vec::new())
    }
}

impl Origins {
    /// Rebuilds the tables of a serialised snapshot. The two fixed entries are put first if they are missing.
    pub(super) fn from_tables(sources: Vec<Source>, gaps: Vec<Gap>) -> Self {
        let mut origins = Self {
            sources: Vec::with_capacity(sources.len() + 1),
            source_index: BTreeMap::new(),
            gaps: Vec::with_capacity(gaps.len() + 1),
            gap_index: BTreeMap::new(),
        };
        if sources.is_empty() {
            origins.push_source(Source::assumed(""));
        }
        if gaps.is_empty() {
            origins.push_gap(Gap::new(GapKind::NotCollected));
        }
        for source in sources {
            origins.push_source(source);
        }
        for gap in gaps {
            origins.push_gap(gap);
        }
        origins
    }

    fn push_source(&mut self, source: Source) {
        let id = self.sources.len() as u32;
        self.source_index.entry(source.clone()).or_insert(id);
        self.sources.push(source);
    }

    fn push_gap(&mut self, gap: Gap) {
        let id = self.gaps.len() as u32;
        self.gap_index.entry(gap.clone()).or_insert(id);
        self.gaps.push(gap);
    }

    /// The id of a source; equal sources share one id.
    pub fn source(&mut self, source: Source) -> SourceId {
        if let Some(id) = self.source_index.get(&source) {
            return SourceId(*id);
        }
        self.push_source(source);
        SourceId(self.sources.len() as u32 - 1)
    }

    /// The id of a gap; equal gaps share one id.
    pub fn gap(&mut self, gap: Gap) -> GapId {
        if let Some(id) = self.gap_index.get(&gap) {
            return GapId(*id);
        }
        self.push_gap(gap);
        GapId(self.gaps.len() as u32 - 1)
    }

    /// The source behind an id; an id of another snapshot yields the bare assumption.
    pub fn source_of(&self, id: SourceId) -> &Source {
        self.sources.get(id.0 as usize).unwrap_or(&self.sources[0])
    }

    /// The gap behind an id; an id of another snapshot yields "not collected".
    pub fn gap_of(&self, id: GapId) -> &Gap {
        self.gaps.get(id.0 as usize).unwrap_or(&self.gaps[0])
    }

    /// All sources in the order of their ids.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// All gaps in the order of their ids.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }
}
