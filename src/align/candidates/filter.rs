//! A filter in front of the scores that loses nothing: the windows around places where a seed of the query stands in a
//! target.
//!
//! [`super::levels`] says which seeds there are, and from which score on an alignment is sure to hold one; [`crate::align::hits`]
//! goes down the levels as far as a query needs it. The places are found by an index ([`super::by_index`]) or by a scan
//! ([`super::by_scan`]), and what they cost is counted: before places are looked at by their number, before windows are
//! scored by their columns. What would cost more than its share of a full search is searched in full ([`Opened::Dear`]).
//! Here it is chosen for each batch which of the two finds them.

use super::by_index::{ByIndex, MOST_TARGETS};
use super::by_scan::{ByScan, Scan};
use super::index::Index;
use super::kmers::StoredIndex;
use super::levels::{Costs, Level, Levels, SeedKind};
use super::seeds::{Seeds, Seen};
use super::{Layout, Opened, Wanted};
use crate::terms::alignment::Strand;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::SeedAlphabet;
use crate::terms::casts::{to_u32, whole_u64};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use std::sync::{Arc, Mutex};

/// Letters of all targets, at least: fewer are scored as quickly as they are looked through.
const LEAST_TARGETS: usize = 1 << 11;

/// Letters of all targets that have an index, at most.
pub const MOST_INDEXED: usize = MOST_TARGETS;

/// Finds windows in the targets.
#[derive(Default)]
pub struct Filter {
    by_index: Option<ByIndex>,
    by_scan: Option<ByScan>,
    /// Letters of all queries of the run, about, where that is known.
    queries: Option<u64>,
    /// Cells that an index would have saved so far.
    missed: Mutex<f64>,
}

impl Filter {
    /// A filter by an index, for queries on so many strands; `None` where there is none for the targets or the scores.
    pub fn by_index(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32) -> Option<Filter> {
        let index = is_for(targets, scoring).then(|| ByIndex::new(targets, scoring, strands))??;
        Some(Filter { by_index: Some(index), ..Filter::default() })
    }

    /// A filter by scans, which `scan` does in the same targets.
    pub fn by_scan(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn Scan + Send>,
    ) -> Option<Filter> {
        // Scans compare bases, and not their classes.
        let is_whole = SeedAlphabet::of(scoring).is_some_and(|alphabet| alphabet.is_whole());
        let by_scan = || Some(ByScan::new(targets, scoring, strands, scan));
        (is_whole && is_for(targets, scoring)).then(|| Filter { by_scan: by_scan(), ..Filter::default() })
    }

    /// A filter by an index as soon as the queries repay it, and by scans before that; always by scans where the targets
    /// are too large for an index. `queries` are the letters of all queries to come, about, where that is known.
    pub fn auto(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn Scan + Send>,
        queries: Option<u64>,
    ) -> Option<Filter> {
        match Filter::by_scan(targets, scoring, strands, scan) {
            Some(filter) => {
                Some(Filter { by_index: ByIndex::new(targets, scoring, strands), queries, ..filter })
            }
            None => Filter::by_index(targets, scoring, strands),
        }
    }

    /// The same with an index of the targets that lies in a file.
    pub fn with_stored(mut self, stored: StoredIndex) -> Filter {
        if let Some(by_index) = &mut self.by_index {
            by_index.store(stored);
        }
        self
    }

    /// The same where steps have other costs.
    pub fn with_costs(mut self, costs: Costs) -> Filter {
        let by_index = self.by_index.iter_mut().map(Seeds::levels_mut);
        let by_scan = self.by_scan.iter_mut().map(Seeds::levels_mut);
        by_index.chain(by_scan).for_each(|levels| levels.set_costs(costs));
        self
    }

    /// What a batch's seeds are found by. Where an index is worth its time it is made now; not to be called in a
    /// parallel loop.
    pub fn kind(&self, batch: &Batch, layout: &Layout) -> SeedKind {
        let Some(by_index) = &self.by_index else { return SeedKind::Scan };
        let kmers = &by_index.kmers;
        let is_worth = || kmers.are_stored() || self.index_is_worth(by_index.levels(), batch, layout);
        if !kmers.are_tried() && is_worth() {
            kmers.prepare();
        }
        if kmers.are_ready() || self.by_scan.is_none() { SeedKind::Index } else { SeedKind::Scan }
    }

    /// Whether the queries repay an index: those of a batch and others like them that are to come, or those that came
    /// before.
    fn index_is_worth(&self, levels: &Levels, batch: &Batch, layout: &Layout) -> bool {
        let Some(by_scan) = &self.by_scan else { return true };
        let other = by_scan.levels();
        let records = to_u32(layout.records(batch.queries.len()));
        let saved = |record: u32| {
            let len = batch.query(layout.query(record, Strand::Forward)).len();
            (other.cells(len) - levels.cells(len)).max(0.0)
        };
        let saved: f64 = (0..records).map(saved).sum();
        let letters = (batch.queries.codes().len() / layout.strands.count() as usize).max(1);
        let like_them = self.queries.map_or(1.0, |all| (all as f64 / letters as f64).max(1.0));
        let price = levels.field.letters as f64 * levels.field.costs.indexed;
        let Ok(mut missed) = self.missed.lock() else { return true };
        let before = *missed;
        *missed += saved;
        before + saved * like_them >= price
    }

    /// What finds seeds of a kind.
    fn of(&self, kind: SeedKind) -> Option<&dyn Seeds> {
        match kind {
            SeedKind::Index => self.by_index.as_ref().map(|seeds| seeds as &dyn Seeds),
            SeedKind::Scan => self.by_scan.as_ref().map(|seeds| seeds as &dyn Seeds),
        }
    }

    fn levels(&self, kind: SeedKind) -> Option<&Levels> {
        self.of(kind).map(Seeds::levels)
    }

    /// The level to begin with for a query of `len` letters; `None` where none pays.
    pub fn first(&self, kind: SeedKind, len: usize) -> Option<Level> {
        self.levels(kind)?.first(len)
    }

    /// The quickest level that holds all that score `most` or more; `None` where none does, or pays.
    pub fn at_most(&self, kind: SeedKind, len: usize, most: i32) -> Option<Level> {
        self.levels(kind)?.at_most(len, most)
    }

    /// The next level below one on which nothing was found, where `spent` cells were; `None` where none pays.
    pub fn below(&self, len: usize, level: &Level, spent: f64) -> Option<Level> {
        self.levels(level.kind)?.below(len, level, spent)
    }

    /// Columns that the first level leaves of the targets for a query of `len` letters, about; `None` where none pays.
    pub fn columns(&self, len: usize) -> Option<u64> {
        let levels = self.levels(SeedKind::Index).or(self.levels(SeedKind::Scan))?;
        levels.first(len).map(|level| whole_u64(level.columns))
    }

    /// [`Seeds::glance`] by what finds seeds of a kind.
    pub fn glance(&self, kind: SeedKind, batch: &Batch, layout: &Layout, records: &[u32]) -> Vec<Seen> {
        let none = || vec![Seen::Alignment(0); records.len()];
        self.of(kind).map_or_else(none, |seeds| seeds.glance(batch, layout, records))
    }

    /// [`Seeds::regions`] by what finds the seeds of the wanted levels, which are all of one kind.
    pub fn regions(
        &self,
        batch: &Batch,
        layout: &Layout,
        wanted: &[Wanted],
        room: usize,
    ) -> Result<Vec<Opened>, EngineError> {
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        let kind = first.level.kind;
        let seeds = self.of(kind).ok_or_else(|| EngineError::Wrong(format!("a filter without {kind:?}")))?;
        seeds.regions(batch, layout, wanted, room)
    }
}

/// Whether a filter is for these targets and scores.
fn is_for(targets: &Sequences, scoring: &Scoring) -> bool {
    SeedAlphabet::of(scoring).is_some() && targets.codes().len() >= LEAST_TARGETS
}

/// The index of k-mers that a filter would make of DNA, for a file; `None` where there are too few letters for a filter or
/// too many for an index.
pub fn index(targets: &Sequences) -> Option<Index> {
    let letters = targets.codes().len();
    (LEAST_TARGETS..=MOST_TARGETS).contains(&letters).then(|| Index::new(targets, Index::suited(letters)))
}
