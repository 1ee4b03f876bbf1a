//! Regions of many records together: a device examines the positions of their pieces, and bounds the scores on the
//! diagonals there.

use super::super::diagonal_bound::{ADJACENT, DiagonalBound, EditLoss};
use super::super::levels::LevelGuarantee;
use super::super::pieces::Piece;
use super::super::windows::{CandidateRegion, join, push_along, push_regions, push_stretches};
use super::super::{FilterAnswer, FilterRequest, MOST_STRETCHES, PairLayout};
use super::{ByIndex, QueryBuffers};
use crate::terms::alignment::Strand;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::longest_span;
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::error::EngineError;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Positions that a device examines in one call, and maximum number of positions of a record that a device examines. They
/// bound the memory for diagonals.
const PORTION: usize = 1 << 23;
const MOST_PLACES: usize = 1 << 22;
/// A device takes the positions of the index once the host has examined one in this many of them: sending them takes about
/// as long.
const EXAMINED: usize = 8;

/// A device that examines positions of an index.
pub trait DiagonalScan: Send + Sync {
    /// Sends the index's positions to the device, unless another thread does. Returns whether the device has them.
    fn prepare(&self, targets: &Arc<Sequences>, places: &[u32]) -> bool;

    /// For each position where its piece occurs: the diagonal, and the maximum score of an alignment that crosses it, as
    /// far as that is at least the query's [`ScannedQuery::least`]. In any order; a diagonal may be listed several times.
    fn scan(
        &self,
        targets: &Arc<Sequences>,
        queries: &[ScannedQuery],
        costs: ScanScores,
    ) -> Result<Vec<BoundedDiagonal>, EngineError>;

    /// Maximum length of a query, and maximum number of diagonals on each side of the one that is crossed.
    fn limits(&self) -> (usize, usize);
}

/// The scores that bounds depend on.
#[derive(Clone, Copy, Debug)]
pub struct ScanScores {
    /// Score of an equal base.
    pub match_: i32,
    /// Minimum loss by an edit.
    pub edit: i32,
    /// Maximum sum of the end bonuses.
    pub bonuses: i32,
}

/// A query in one orientation, which has bases only.
#[derive(Clone, Debug)]
pub struct ScannedQuery<'a> {
    pub codes: Cow<'a, [u8]>,
    /// Number of diagonals on each side of the one that is crossed.
    pub gaps: usize,
    pub least: i32,
    pub pieces: Vec<ScannedPiece>,
}

/// A k-mer of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedPiece {
    /// Bases of the query.
    pub bases: Range<usize>,
    /// Bases of the piece before the k-mer.
    pub before: usize,
    /// Range of the k-mer's positions in the index.
    pub places: Range<usize>,
}

/// The maximum score of an alignment that crosses a diagonal: the position of the query's first base in the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundedDiagonal {
    pub query: u32,
    pub diagonal: i64,
    pub most: i32,
}

/// A record whose positions the device examines: a query for each strand, with diagonals that the host bounds.
struct ScannedRecord<'a> {
    strands: SmallVec<[(Strand, ScannedQuery<'a>, Vec<i64>); 2]>,
    places: usize,
}

impl ByIndex {
    /// The device if it has the index's positions. Sends them once that is worth the time.
    pub(super) fn device(&self) -> Option<&dyn DiagonalScan> {
        let device = self.device.as_deref().filter(|_| self.kmers.step() > 1)?;
        let places = self.kmers.all_places();
        let is_worth = self.examined.load(Ordering::Relaxed) >= places.len() / EXAMINED;
        (is_worth && device.prepare(&self.targets, places)).then_some(device)
    }

    /// [`Seeds::regions`](super::Seeds::regions), as far as possible on a device. `on_host` finds the regions of the other
    /// records.
    pub(super) fn regions_on_device(
        &self,
        device: &dyn DiagonalScan,
        (batch, layout): (&Batch, &PairLayout),
        wanted: &[FilterRequest],
        (room, on_host): (usize, &(dyn Fn(&mut QueryBuffers, &FilterRequest) -> FilterAnswer + Sync)),
    ) -> Result<Vec<FilterAnswer>, EngineError> {
        let scanned = |work: &mut QueryBuffers, wanted: &FilterRequest| {
            self.scanned((batch, layout), wanted, device.limits(), work)
        };
        let records: Vec<Option<ScannedRecord>> =
            wanted.par_iter().map_init(QueryBuffers::default, scanned).collect();
        let mut answers = Vec::with_capacity(wanted.len());
        let mut taken = 0;
        while answers.len() < wanted.len() && taken < room.max(1) {
            let start = answers.len();
            let mut places = 0;
            let in_portion = records[start..].iter().take_while(|record| {
                let begins = places == 0;
                places += record.as_ref().map_or(0, |record| record.places);
                begins || places <= PORTION
            });
            let end = start + in_portion.count();
            // The engine reports a device that has failed.
            let found = match self.found(device, &records[start..end]) {
                Err(error @ EngineError::Wrong(_)) => return Err(error),
                found => found.ok(),
            };
            let answer = |work: &mut QueryBuffers, number: usize| match (&records[number], &found) {
                (Some(record), Some(found)) => {
                    let found = &found[number - start];
                    self.of_scanned((batch, layout), &wanted[number], (record, found), work)
                }
                _ => on_host(work, &wanted[number]),
            };
            let portion = (start..end).into_par_iter().map_init(QueryBuffers::default, answer);
            answers.par_extend(portion);
            let regions = |answer: &FilterAnswer| match answer {
                FilterAnswer::Regions { regions, .. } => regions.len(),
                _ => 0,
            };
            taken += answers[start..].iter().map(regions).sum::<usize>();
        }
        answers.resize(wanted.len(), FilterAnswer::Later);
        Ok(answers)
    }

    /// The queries of a record for a device. `None` if the host has to find its regions.
    fn scanned<'a>(
        &self,
        (batch, layout): (&'a Batch, &PairLayout),
        wanted: &FilterRequest,
        (most_len, most_gaps): (usize, usize),
        QueryBuffers { places: [found, _], pieces: buffers, .. }: &mut QueryBuffers,
    ) -> Option<ScannedRecord<'a>> {
        let ByIndex { kmers, levels, .. } = self;
        let &FilterRequest { record, level, least, .. } = wanted;
        if !matches!(level.known, LevelGuarantee::Held(_)) || !self.alphabet.is_whole() {
            return None;
        }
        let near = self.near()?;
        let mut all = ScannedRecord { strands: SmallVec::new(), places: 0 };
        for &strand in layout.orientations() {
            let codes = batch.query(layout.query(record, strand));
            let gaps = longest_span(codes, least, &levels.field.scoring) as usize - codes.len();
            let seeds = self.seeds_of(codes);
            let bound = self.bound((codes, &seeds), least).filter(DiagonalBound::is_of_bases)?;
            let pieces = bound.pieces(least, kmers.least(), 1)?;
            if codes.len() > most_len || gaps > most_gaps {
                return None;
            }
            kmers.look_up_all(&seeds, found);
            let (places, pieces) = kmers.rarest(found, (pieces, codes.len()), buffers)?;
            all.places += to_usize(places);
            let mut scanned = Vec::with_capacity(pieces.len() * kmers.step() as usize);
            kmers.for_each_range(&pieces, found, |Piece { bases, .. }, row, places| {
                let before = row - bases.start;
                scanned.push(ScannedPiece { bases: bases.clone(), before, places });
            });
            let mut diagonals = Vec::new();
            near.push_diagonals(kmers, found, &mut diagonals);
            let query = ScannedQuery { codes: seeds, gaps, least, pieces: scanned };
            all.strands.push((strand, query, diagonals));
        }
        (all.places <= MOST_PLACES).then_some(all)
    }

    /// For each record and each of its strands, the diagonals that the device finds, in order.
    fn found(
        &self,
        device: &dyn DiagonalScan,
        records: &[Option<ScannedRecord>],
    ) -> Result<Vec<SmallVec<[Vec<BoundedDiagonal>; 2]>>, EngineError> {
        let strands =
            || records.iter().map(|record| record.as_ref().map_or(0, |record| record.strands.len()));
        let queries = records.iter().flatten().flat_map(|record| &record.strands);
        let queries: Vec<ScannedQuery> = queries.map(|(_, query, _)| query.clone()).collect();
        let Some(first) = queries.first() else {
            return Ok(records.iter().map(|_| SmallVec::new()).collect());
        };
        let scores = self
            .scan_scores(first.codes.len())
            .ok_or_else(|| EngineError::Wrong("bounds of a scoring that has none".to_string()))?;
        let mut found = device.scan(&self.targets, &queries, scores)?;
        found.par_sort_unstable();
        let mut query = 0;
        let mut of_query = |_: usize| {
            let [from, to] = [query, query + 1].map(|end| found.partition_point(|found| found.query < end));
            query += 1;
            found[from..to].to_vec()
        };
        Ok(strands().map(|strands| (0..strands).map(&mut of_query).collect()).collect())
    }

    /// The regions of a record from the diagonals that a device has found for each of its strands.
    fn of_scanned(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        wanted: &FilterRequest,
        (scanned, found): (&ScannedRecord, &[Vec<BoundedDiagonal>]),
        QueryBuffers { windows, diagonals: buffers, .. }: &mut QueryBuffers,
    ) -> FilterAnswer {
        let ByIndex { targets, kmers, levels, .. } = self;
        let &FilterRequest { record, level, least, spent, .. } = wanted;
        let len = batch.query(layout.query(record, Strand::Forward)).len();
        let most = levels.most(len, wanted);
        let seeding = scanned.places as f64 * levels.field.costs.place;
        let mut cells = seeding;
        let dense = levels.field.dense_stretches(len, &level);
        let mut regions: Vec<CandidateRegion> = Vec::new();
        for ((strand, query, near), found) in scanned.strands.iter().zip(found) {
            windows.clear();
            let number = layout.query(record, *strand);
            let span = longest_span(batch.query(number), least, &levels.field.scoring);
            let bases = (0, len, len);
            let mut push = |(first, last): (i64, i64), most: i32| {
                push_along(windows, targets, (first, last), bases, (span, most));
            };
            let mut rest = &found[..];
            while let Some(first) = rest.first() {
                let is_adjacent =
                    |other: &&BoundedDiagonal| other.diagonal - first.diagonal <= to_i64(ADJACENT);
                let (adjacent, behind) = rest.split_at(rest.iter().take_while(is_adjacent).count());
                let most = adjacent.iter().map(|found| found.most).max().unwrap_or(0);
                push((first.diagonal, adjacent[adjacent.len() - 1].diagonal), most);
                rest = behind;
            }
            if !near.is_empty()
                && let Some(bound) = self.bound((batch.query(number), &query.codes), least)
            {
                let all: Vec<(i64, i64)> = near.iter().map(|&diagonal| (diagonal, diagonal)).collect();
                bound.most_scores((kmers.codes(), least), &all, &mut buffers.most);
                let bounded = all.iter().zip(&buffers.most).filter(|&(_, &most)| most >= least);
                bounded.for_each(|(&range, &most)| push(range, most));
            }
            push_stretches(windows, targets, &dense, span);
            cells += join(windows, u32::max) as f64 * len as f64;
            if cells > most || windows.len() as u64 > MOST_STRETCHES {
                return FilterAnswer::Dear;
            }
            push_regions(&mut regions, targets, (*strand, number), (span, to_i32), windows);
        }
        FilterAnswer::Regions { regions, spent: spent + seeding }
    }

    /// The scores that bounds of queries of `len` bases depend on.
    fn scan_scores(&self, len: usize) -> Option<ScanScores> {
        let field = &self.levels.field;
        let (match_, edit) = EditLoss::new(&field.scoring)?.numbers();
        Some(ScanScores { match_, edit, bonuses: field.bonuses(len) })
    }

    /// The bound for a query, whose seeds have the codes `seeds`.
    pub(super) fn bound(&self, (codes, seeds): (&[u8], &[u8]), least: i32) -> Option<DiagonalBound> {
        let field = &self.levels.field;
        let gaps = longest_span(codes, least, &field.scoring) as usize - codes.len();
        DiagonalBound::new(seeds, gaps, field.bonuses(codes.len()), &field.scoring)
    }
}
