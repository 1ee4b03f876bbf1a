//! A lossless filter before scoring: it selects the windows around positions where a seed of the query occurs in a
//! target.
//!
//! [`super::levels`] defines the seeds and the score from which an alignment is guaranteed to contain one.
//! [`crate::align::hits`] descends the levels as far as a query needs. The seeds are located by an index
//! ([`super::by_index`]) or by a scan ([`super::by_scan`]), and their cost is predicted: from the number of positions
//! before these are examined, and from the number of columns before windows are scored. If the predicted cost exceeds
//! its share of a full search, the query gets a full search ([`FilterAnswer::Dear`]). This module chooses between index
//! and scan for each batch.

use super::ambiguous::QueryShape;
use super::boxes::{ExactRun, RunBox, RunSupport};
use super::by_index::{AnchoredRegions, ByIndex, DiagonalLimits, DiagonalScan, IntactWindow, QueryBuffers};
use super::by_scan::{ByScan, SeedScan};
use super::index::IndexShape;
use super::kmers::StoredIndex;
use super::levels::{FilterCosts, Level, Levels, SeedKind};
use super::pieces::EqualPieces;
use super::seeds::{QuickLook, Seeds};
use super::{FilterAnswer, FilterRequest, PairLayout};
use crate::terms::alignment::Strand;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::SeedAlphabet;
use crate::terms::casts::{to_u32, whole_u64};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Minimum number of bases of all targets: scoring fewer is as fast as filtering them.
const LEAST_TARGETS: usize = 1 << 11;

/// Finds windows in the targets.
#[derive(Default)]
pub struct Filter {
    by_index: Option<ByIndex>,
    by_scan: Option<ByScan>,
    /// Approximate number of bases of all queries of the run, if known.
    queries: Option<u64>,
    /// Cells that an index would have saved so far.
    missed: Mutex<f64>,
}

impl Filter {
    /// A filter that uses an index, for queries on `strands` strands. `None` if the targets or the scoring do not allow
    /// it.
    pub fn by_index(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32) -> Option<Filter> {
        Filter::by_index_of(targets, scoring, strands, IndexShape::suited(targets.codes().len()))
    }

    /// The same with an index of this shape.
    pub fn by_index_of(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        shape: IndexShape,
    ) -> Option<Filter> {
        let index =
            is_for(targets, scoring).then(|| ByIndex::of_shape(targets, scoring, strands, shape))??;
        Some(Filter { by_index: Some(index), ..Filter::default() })
    }

    /// A filter that uses `scan`, which must scan the same targets.
    pub fn by_scan(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn SeedScan + Send>,
    ) -> Option<Filter> {
        // Scans compare bases, and not their classes.
        let is_whole = SeedAlphabet::of(scoring).is_some_and(|alphabet| alphabet.is_whole());
        let by_scan = || Some(ByScan::new(targets, scoring, strands, scan));
        (is_whole && is_for(targets, scoring)).then(|| Filter { by_scan: by_scan(), ..Filter::default() })
    }

    /// A filter that scans until the queries repay an index, and then uses the index. `queries` is the approximate number of
    /// bases of all queries to come, if known.
    pub fn auto(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn SeedScan + Send>,
        queries: Option<u64>,
    ) -> Option<Filter> {
        match Filter::by_scan(targets, scoring, strands, scan) {
            Some(filter) => {
                Some(Filter { by_index: ByIndex::new(targets, scoring, strands), queries, ..filter })
            }
            None => Filter::by_index(targets, scoring, strands),
        }
    }

    /// The same filter with an index of the targets that is stored in a file.
    pub fn with_stored(mut self, stored: StoredIndex) -> Filter {
        if let Some(by_index) = &mut self.by_index {
            by_index.store(stored);
        }
        self
    }

    /// The same filter with an index of this shape, if it has an index, for queries on `strands` strands.
    pub fn with_shape(
        self,
        shape: IndexShape,
        (targets, scoring, strands): (&Arc<Sequences>, &Arc<Scoring>, u32),
    ) -> Filter {
        let of_shape = |by_index: ByIndex| match by_index.kmers.shape() == shape {
            true => Some(by_index),
            false => ByIndex::of_shape(targets, scoring, strands, shape),
        };
        Filter { by_index: self.by_index.and_then(of_shape), ..self }
    }

    /// The same filter with other costs of its steps.
    pub fn with_costs(mut self, costs: FilterCosts) -> Filter {
        let by_index = self.by_index.iter_mut().map(Seeds::levels_mut);
        let by_scan = self.by_scan.iter_mut().map(Seeds::levels_mut);
        by_index.chain(by_scan).for_each(|levels| levels.set_costs(costs));
        self
    }

    /// The same filter with a device that examines positions of a sampled index.
    pub fn with_device(mut self, device: Box<dyn DiagonalScan>) -> Filter {
        if let Some(by_index) = &mut self.by_index {
            by_index.set_device(device);
        }
        self
    }

    /// The same filter, which builds its index in segments of about `bases` bases.
    pub fn with_segment(mut self, bases: usize) -> Filter {
        self.by_index.iter_mut().for_each(|by_index| by_index.kmers.set_segment(bases));
        self
    }

    /// The same filter with other limits of its index.
    pub fn with_limits(mut self, limits: DiagonalLimits) -> Filter {
        self.by_index.iter_mut().for_each(|by_index| by_index.limits = limits);
        self
    }

    /// Time that building a sampled index took, as references of more than `MOST_DENSE` bases have. `None` if none was
    /// built.
    pub fn sampled_in(&self) -> Option<Duration> {
        let by_index = self.by_index.as_ref().filter(|_| self.is_sampled())?;
        by_index.kmers.built_in()
    }

    /// Whether the index has a sample of the k-mers, as those of large references have.
    pub fn is_sampled(&self) -> bool {
        self.by_index.as_ref().is_some_and(|by_index| by_index.kmers.step() > 1)
    }

    /// Chooses how to find a batch's seeds. Builds the index now if it is worth its time. Must not be called in a
    /// parallel loop.
    pub fn kind(&self, batch: &Batch, layout: &PairLayout) -> SeedKind {
        let Some(by_index) = &self.by_index else { return SeedKind::Scan };
        let kmers = &by_index.kmers;
        let is_worth = || kmers.are_stored() || self.index_is_worth(by_index.levels(), batch, layout);
        if !kmers.are_tried() && is_worth() {
            kmers.prepare();
        }
        if kmers.are_ready() || self.by_scan.is_none() { SeedKind::Index } else { SeedKind::Scan }
    }

    /// Whether the queries repay an index. Counts the queries of this batch and similar ones to come, or the earlier
    /// queries.
    fn index_is_worth(&self, levels: &Levels, batch: &Batch, layout: &PairLayout) -> bool {
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

    /// The finder of seeds of a kind.
    fn of(&self, kind: SeedKind) -> Option<&dyn Seeds> {
        match kind {
            SeedKind::Index => self.by_index.as_ref().map(|seeds| seeds as &dyn Seeds),
            SeedKind::Scan => self.by_scan.as_ref().map(|seeds| seeds as &dyn Seeds),
        }
    }

    fn levels(&self, kind: SeedKind) -> Option<&Levels> {
        self.of(kind).map(Seeds::levels)
    }

    /// The level to begin with for a query. `None` if no level pays.
    pub fn first(&self, kind: SeedKind, query: QueryShape) -> Option<Level> {
        self.levels(kind)?.first(query)
    }

    /// The fastest level that covers all alignments of score `most` or more. `None` if no level covers them or pays.
    pub fn at_most(&self, kind: SeedKind, query: QueryShape, most: i32) -> Option<Level> {
        self.levels(kind)?.at_most(query, most)
    }

    /// The next level after one that found nothing and cost `spent` cells in all. `None` if no level pays.
    pub fn below(&self, query: QueryShape, level: &Level, spent: f64) -> Option<Level> {
        self.levels(level.kind)?.below(query, level, spent)
    }

    /// Approximate number of target columns that the first level keeps for a query of `len` bases. `None` if no level
    /// pays.
    pub fn columns(&self, len: usize) -> Option<u64> {
        let levels = self.levels(SeedKind::Index).or(self.levels(SeedKind::Scan))?;
        levels.first(len.into()).map(|level| whole_u64(level.columns))
    }

    /// Calls [`Seeds::glance`] of the finder of this kind.
    pub fn glance(
        &self,
        kind: SeedKind,
        batch: &Batch,
        layout: &PairLayout,
        records: &[u32],
    ) -> Vec<QuickLook> {
        let none = || vec![QuickLook::Alignment(0); records.len()];
        self.of(kind).map_or_else(none, |seeds| seeds.glance(batch, layout, records))
    }

    /// Calls [`ByIndex::anchored`], if the filter has an index.
    pub fn anchored(
        &self,
        batch: &Batch,
        layout: &PairLayout,
        records: (&[u32], usize),
        threshold: impl Fn(u32, i32) -> i32 + Sync,
    ) -> Result<Vec<Option<AnchoredRegions>>, EngineError> {
        match &self.by_index {
            Some(by_index) => by_index.anchored((batch, layout), records, threshold),
            None => Ok(vec![None; records.0.len()]),
        }
    }

    /// Calls [`ByIndex::exact_runs`] for each of `queries`. `None` if an index does not answer.
    pub fn exact_runs(
        &self,
        batch: &Batch,
        queries: &[u32],
        least: usize,
    ) -> Option<Vec<Option<Vec<ExactRun>>>> {
        let by_index = self.by_index.as_ref()?;
        let runs =
            |work: &mut QueryBuffers, &query: &u32| by_index.exact_runs(batch.query(query), least, work);
        queries.par_iter().map_init(QueryBuffers::default, runs).collect()
    }

    /// Calls [`ByIndex::runs_in_rows`] for each of `queries`, and `take` with each of these queries and its runs. `None` inside if the
    /// index does not answer.
    pub fn map_runs_in_rows<T: Send>(
        &self,
        batch: &Batch,
        queries: &[u32],
        (least, wants): (usize, impl Fn(usize) -> bool + Sync),
        take: impl Fn(u32, Vec<ExactRun>) -> T + Sync,
    ) -> Vec<Option<T>> {
        let Some(by_index) = &self.by_index else { return queries.iter().map(|_| None).collect() };
        let taken = |work: &mut QueryBuffers, &query: &u32| {
            let runs = by_index.runs_in_rows(batch.query(query), least, &wants, work)?;
            Some(take(query, runs))
        };
        queries.par_iter().map_init(QueryBuffers::default, taken).collect()
    }

    /// [`ByIndex::row_step`], if the filter has an index.
    pub fn row_step(&self, least: usize) -> Option<usize> {
        self.by_index.as_ref()?.row_step(least)
    }

    /// Calls [`ByIndex::intact_windows`] for each of `queries`, if the filter has an index.
    pub fn intact_windows(
        &self,
        batch: &Batch,
        queries: &[(u32, EqualPieces)],
    ) -> Vec<Option<Vec<IntactWindow>>> {
        let Some(by_index) = &self.by_index else { return queries.iter().map(|_| None).collect() };
        by_index.kmers.prepare();
        let windows = |work: &mut QueryBuffers, &(query, pieces): &(u32, EqualPieces)| {
            by_index.intact_windows(batch.query(query), pieces, work)
        };
        queries.par_iter().map_init(QueryBuffers::default, windows).collect()
    }

    /// Calls [`ByIndex::supported_boxes`] for each of `queries`. `None` if an index does not answer.
    pub fn supported_boxes(&self, batch: &Batch, queries: &[(u32, RunSupport)]) -> Option<Vec<Vec<RunBox>>> {
        let by_index = self.by_index.as_ref()?;
        by_index.kmers.prepare();
        let boxes = |work: &mut QueryBuffers, &(query, support): &(u32, RunSupport)| {
            by_index.supported_boxes(batch.query(query), support, work)
        };
        queries.par_iter().map_init(QueryBuffers::default, boxes).collect()
    }

    /// Calls [`Seeds::regions`] of the finder for the wanted levels, which are all of one kind.
    pub fn regions(
        &self,
        batch: &Batch,
        layout: &PairLayout,
        wanted: &[FilterRequest],
        room: usize,
    ) -> Result<Vec<FilterAnswer>, EngineError> {
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        let kind = first.level.kind;
        let seeds = self.of(kind).ok_or_else(|| EngineError::Wrong(format!("a filter without {kind:?}")))?;
        seeds.regions(batch, layout, wanted, room)
    }
}

/// Whether a filter supports these targets and this scoring.
fn is_for(targets: &Sequences, scoring: &Scoring) -> bool {
    SeedAlphabet::of(scoring).is_some() && has_index(targets.codes().len())
}

/// Whether DNA targets of `bases` bases have enough bases for an index.
pub fn has_index(bases: usize) -> bool {
    bases >= LEAST_TARGETS
}
