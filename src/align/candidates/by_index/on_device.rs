//! Regions of many records together: a device examines the positions of their pieces, and bounds the scores on the
//! diagonals there.

use super::super::diagonal_bound::{ADJACENT, DiagonalBound, EditLoss};
use super::super::levels::LevelGuarantee;
use super::super::pieces::Piece;
use super::super::windows::{CandidateRegion, join, push_along, push_regions, push_stretches};
use super::super::{FilterAnswer, FilterRequest, MOST_STRETCHES, PairLayout};
use super::{AnchoredRegions, ByIndex, QueryBuffers, set_adjacent};
use crate::terms::alignment::Strand;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::{SeedAlphabet, longest_span};
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::{GapPiece, Scoring};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Positions that a device examines in one call, and maximum number of positions of a record that a device examines. They
/// bound the memory for diagonals.
const PORTION: usize = 1 << 23;
const MOST_PLACES: usize = 1 << 22;
/// A device that examines positions of an index.
pub trait DiagonalScan: Send + Sync {
    /// Sends the index's positions to the device, unless it has them, or waits for another thread that does. Returns whether
    /// the device has them.
    fn prepare(&self, targets: &Arc<Sequences>, places: &[u32]) -> bool;

    /// For each position where its piece occurs: the diagonal, and the maximum score of an alignment that crosses it, as
    /// far as that is at least the query's [`ScannedQuery::least`]. In any order; a diagonal may be listed several times. A
    /// score may be too high: it is that of the best alignment on the diagonals that an alignment of the least score can
    /// visit, or on some more.
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
    /// Maximum scores of equal bases and of unequal ones.
    pub match_: i32,
    pub mismatch: i32,
    /// Minimum loss by an edit ([`EditLoss`]).
    pub edit: i32,
    /// Minimum costs of a gap's first residue and of each further one.
    pub open: i32,
    pub extend: i32,
    /// End bonus of each end of a query.
    pub end_bonus: i32,
}

impl ScanScores {
    /// `None` if the scoring has no bound.
    pub fn new(scoring: &Scoring) -> Option<ScanScores> {
        let (match_, edit) = EditLoss::new(scoring)?.numbers();
        let mismatch = to_i32(i64::from(match_) - SeedAlphabet::of(scoring)?.loss());
        let GapPiece { open, extend } = scoring.gaps().lower_bound();
        let end_bonus = scoring.end_bonus;
        Some(ScanScores { match_, mismatch, edit, open: open.saturating_add(extend), extend, end_bonus })
    }
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

/// Finds the regions of a record on the host.
type HostSearch<'a> = &'a (dyn Fn(&mut QueryBuffers, &FilterRequest) -> FilterAnswer + Sync);

/// A record whose positions the device examines: a query for each strand, with diagonals that the host bounds.
struct ScannedRecord<'a> {
    /// Minimum score of the alignments that count.
    least: i32,
    strands: SmallVec<[(Strand, ScannedQuery<'a>, Vec<i64>); 2]>,
    places: usize,
}

/// Diagonals of a record that the device finds: for each strand, with their maximum scores, in ascending order.
struct FoundOnStrands<'a, 'b> {
    record: &'a ScannedRecord<'b>,
    diagonals: SmallVec<[Vec<(i64, i32)>; 2]>,
}

/// Diagonals, grouped by query.
struct FoundDiagonals {
    /// Diagonals and maximum scores.
    all: Vec<(i64, i32)>,
    /// Where those of each query end.
    ends: Vec<usize>,
    /// The first query of each record, and the number of queries.
    firsts: Vec<usize>,
}

impl FoundDiagonals {
    fn new(found: Vec<BoundedDiagonal>, queries: usize, firsts: Vec<usize>) -> FoundDiagonals {
        let mut ends = vec![0; queries];
        found.iter().for_each(|found| ends[found.query as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        // While diagonals are distributed, an end is the index of the query's next one.
        let mut all = vec![(0, 0); found.len()];
        for BoundedDiagonal { query, diagonal, most } in found {
            let next = &mut ends[query as usize];
            all[*next] = (diagonal, most);
            *next += 1;
        }
        FoundDiagonals { all, ends, firsts }
    }

    /// For each query of a record, its diagonals in ascending order.
    fn of_record(&self, record: usize) -> SmallVec<[Vec<(i64, i32)>; 2]> {
        let of_query = |query: usize| {
            let start = query.checked_sub(1).map_or(0, |before| self.ends[before]);
            let mut diagonals = self.all[start..self.ends[query]].to_vec();
            diagonals.sort_unstable();
            // Each intact piece finds its diagonal.
            diagonals.dedup();
            diagonals
        };
        (self.firsts[record]..self.firsts[record + 1]).map(of_query).collect()
    }
}

impl ByIndex {
    /// The device if it has the index's positions, which must be in one segment. Sends them once that is worth the time.
    pub(super) fn device(&self) -> Option<&dyn DiagonalScan> {
        let device = self.device.as_deref().filter(|_| self.is_device_worth())?;
        device.prepare(&self.targets, self.kmers.all_places()?).then_some(device)
    }

    /// Whether there is a device that is worth the time to send the index's positions, by those that the host has examined.
    pub(super) fn is_device_worth(&self) -> bool {
        let is_possible = self.device.is_some() && self.kmers.step() > 1;
        let is_worth =
            |places: &[u32]| self.examined.load(Ordering::Relaxed) >= places.len() / self.limits.examined;
        is_possible && self.kmers.all_places().is_some_and(is_worth)
    }

    /// [`Seeds::regions`](super::Seeds::regions), as far as possible on a device. `on_host` finds the regions of the other
    /// records.
    pub(super) fn regions_on_device(
        &self,
        device: &dyn DiagonalScan,
        (batch, layout): (&Batch, &PairLayout),
        wanted: &[FilterRequest],
        (room, on_host): (usize, HostSearch),
    ) -> Result<Vec<FilterAnswer>, EngineError> {
        let scanned = |work: &mut QueryBuffers, wanted: &FilterRequest| {
            let &FilterRequest { record, least, .. } = wanted;
            let is_held = matches!(wanted.level.known, LevelGuarantee::Held(_));
            is_held.then(|| self.scanned((batch, layout), (record, least), device.limits(), work)).flatten()
        };
        let records: Vec<Option<ScannedRecord>> =
            wanted.par_iter().map_init(QueryBuffers::default, scanned).collect();
        let answer = |work: &mut QueryBuffers, number: usize, found: Option<FoundOnStrands>| {
            let wanted = &wanted[number];
            let Some(found) = found else { return on_host(work, wanted) };
            let len = found.record.strands[0].1.codes.len();
            let most = self.levels.most(len, wanted);
            let dense = self.levels.field.dense_stretches(len, &wanted.level);
            match self.of_scanned((batch, layout), wanted.record, (found, &dense, most), work) {
                Some((mut regions, seeding)) => {
                    let held = keep_best(&mut regions, wanted, self.limits.spare);
                    FilterAnswer::Regions { regions, held, spent: wanted.spent + seeding }
                }
                None => FilterAnswer::Dear,
            }
        };
        let mut taken = 0;
        let goes_on = |answers: &[FilterAnswer]| {
            let regions = |answer: &FilterAnswer| match answer {
                FilterAnswer::Regions { regions, .. } => regions.len(),
                _ => 0,
            };
            taken += answers.iter().map(regions).sum::<usize>();
            taken < room.max(1)
        };
        let mut answers = self.in_portions(device, &records, answer, goes_on)?;
        answers.resize(wanted.len(), FilterAnswer::Later);
        Ok(answers)
    }

    /// For each record, the regions with the alignments of at least its score that contain a k-mer of the index. `on_host`
    /// finds the regions of records that the device does not support.
    pub(super) fn anchored_on_device(
        &self,
        device: &dyn DiagonalScan,
        (batch, layout): (&Batch, &PairLayout),
        records: &[(u32, Option<i32>)],
        on_host: impl Fn(&mut QueryBuffers, (u32, Option<i32>)) -> Option<AnchoredRegions> + Sync,
    ) -> Result<Vec<Option<AnchoredRegions>>, EngineError> {
        let scanned = |work: &mut QueryBuffers, &(record, least): &(u32, Option<i32>)| {
            self.scanned((batch, layout), (record, least?), device.limits(), work)
        };
        let all: Vec<Option<ScannedRecord>> =
            records.par_iter().map_init(QueryBuffers::default, scanned).collect();
        let answer = |work: &mut QueryBuffers, number: usize, found: Option<FoundOnStrands>| {
            let (record, least) = records[number];
            let Some(found) = found else { return on_host(work, records[number]) };
            let most = self.levels.field.most(found.record.strands[0].1.codes.len());
            let (regions, _) = self.of_scanned((batch, layout), record, (found, &[], most), work)?;
            Some(AnchoredRegions { least: least?, regions })
        };
        self.in_portions(device, &all, answer, |_| true)
    }

    /// The answers for records, in order, made from what the device finds for each of them, or from nothing. Stops once
    /// `goes_on` returns `false` for the answers of a portion.
    fn in_portions<T: Send>(
        &self,
        device: &dyn DiagonalScan,
        records: &[Option<ScannedRecord>],
        answer: impl Fn(&mut QueryBuffers, usize, Option<FoundOnStrands>) -> T + Sync,
        mut goes_on: impl FnMut(&[T]) -> bool,
    ) -> Result<Vec<T>, EngineError> {
        let mut answers = Vec::with_capacity(records.len());
        while answers.len() < records.len() {
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
            let of_record = |work: &mut QueryBuffers, number: usize| {
                let found = records[number].as_ref().zip(found.as_ref());
                let found = found.map(|(record, found)| FoundOnStrands {
                    record,
                    diagonals: found.of_record(number - start),
                });
                answer(work, number, found)
            };
            answers.par_extend((start..end).into_par_iter().map_init(QueryBuffers::default, of_record));
            if !goes_on(&answers[start..]) {
                break;
            }
        }
        Ok(answers)
    }

    /// The queries of a record for a device: their rarest pieces, or all k-mers. `None` if the host has to find its regions.
    fn scanned<'a>(
        &self,
        (batch, layout): (&'a Batch, &PairLayout),
        (record, least): (u32, i32),
        (most_len, most_gaps): (usize, usize),
        QueryBuffers { places: [found, _], pieces: buffers, .. }: &mut QueryBuffers,
    ) -> Option<ScannedRecord<'a>> {
        let ByIndex { kmers, levels, .. } = self;
        if !self.alphabet.is_whole() {
            return None;
        }
        let mut all = ScannedRecord { least, strands: SmallVec::new(), places: 0 };
        for &strand in layout.orientations() {
            let codes = batch.query(layout.query(record, strand));
            let gaps = longest_span(codes, least, &levels.field.scoring) as usize - codes.len();
            let seeds = self.seeds_of(codes);
            let bound = self.bound((codes, &seeds), least).filter(DiagonalBound::is_of_bases)?;
            if codes.len() > most_len || gaps > most_gaps {
                return None;
            }
            let every = kmers.look_up_all(&seeds, found);
            let wanted = bound.pieces(least, kmers.least(), 1);
            let rarest = wanted.and_then(|wanted| kmers.rarest(found, (wanted, codes.len()), buffers));
            let (mut pieces, mut near) = (Vec::new(), Vec::new());
            match (rarest, self.near()) {
                (Some((places, rarest)), Some(known)) => {
                    all.places += to_usize(places);
                    kmers.for_each_range(&rarest, found, |Piece { bases, .. }, row, places| {
                        pieces.push(ScannedPiece { bases: bases.clone(), before: row - bases.start, places });
                    });
                    known.push_diagonals(kmers, found, &mut near);
                    near.sort_unstable();
                }
                _ => {
                    all.places += every;
                    kmers.for_each_kmer_range(found, |bases, places| {
                        pieces.push(ScannedPiece { bases, before: 0, places });
                    });
                }
            }
            all.strands.push((strand, ScannedQuery { codes: seeds, gaps, least, pieces }, near));
        }
        (all.places <= MOST_PLACES && !all.strands.is_empty()).then_some(all)
    }

    /// The diagonals that the device finds for the queries of these records.
    fn found(
        &self,
        device: &dyn DiagonalScan,
        records: &[Option<ScannedRecord>],
    ) -> Result<FoundDiagonals, EngineError> {
        let queries = records.iter().flatten().flat_map(|record| &record.strands);
        let queries: Vec<ScannedQuery> = queries.map(|(_, query, _)| query.clone()).collect();
        let mut firsts = vec![0];
        for record in records {
            firsts.push(firsts[firsts.len() - 1] + record.as_ref().map_or(0, |record| record.strands.len()));
        }
        let scores = ScanScores::new(&self.levels.field.scoring).filter(|_| !queries.is_empty());
        let found = match scores {
            Some(scores) => device.scan(&self.targets, &queries, scores)?,
            None => Vec::new(),
        };
        Ok(FoundDiagonals::new(found, queries.len(), firsts))
    }

    /// The regions of a record from the diagonals that a device has found, and the cells that finding them took. `None` if
    /// they would cost more than `most` cells. An alignment in the stretches `dense` may have any score.
    fn of_scanned(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        record: u32,
        (found, dense, most): (FoundOnStrands, &[Range<usize>], f64),
        QueryBuffers { windows, diagonals: buffers, .. }: &mut QueryBuffers,
    ) -> Option<(Vec<CandidateRegion>, f64)> {
        let ByIndex { targets, kmers, levels, .. } = self;
        let FoundOnStrands { record: scanned, diagonals } = found;
        let least = scanned.least;
        let seeding = scanned.places as f64 * levels.field.costs.place;
        let mut cells = seeding;
        let mut regions: Vec<CandidateRegion> = Vec::new();
        for ((strand, query, near), diagonals) in scanned.strands.iter().zip(diagonals) {
            windows.clear();
            let number = layout.query(record, *strand);
            let len = query.codes.len();
            let span = longest_span(batch.query(number), least, &levels.field.scoring);
            let mut push = |range: (i64, i64), most: i32| {
                push_along(windows, targets, range, (0, len, len), (span, most));
            };
            let mut rest = &diagonals[..];
            while let Some(&(first, _)) = rest.first() {
                let is_adjacent = |other: &&(i64, i32)| other.0 - first <= to_i64(ADJACENT);
                let (adjacent, behind) = rest.split_at(rest.iter().take_while(is_adjacent).count());
                let most = adjacent.iter().map(|found| found.1).max().unwrap_or(0);
                push((first, adjacent[adjacent.len() - 1].0), most);
                rest = behind;
            }
            if !near.is_empty()
                && let Some(bound) = self.bound((batch.query(number), &query.codes), least)
            {
                set_adjacent(near, &mut buffers.adjacent);
                bound.most_scores((kmers.codes(), least), &buffers.adjacent, &mut buffers.most);
                let bounded = buffers.adjacent.iter().zip(&buffers.most).filter(|&(_, &most)| most >= least);
                bounded.for_each(|(&range, &most)| push(range, most));
            }
            push_stretches(windows, targets, dense, span);
            cells += join(windows, u32::max) as f64 * len as f64;
            if cells > most || windows.len() as u64 > MOST_STRETCHES {
                return None;
            }
            push_regions(&mut regions, targets, (*strand, number), (span, to_i32), windows);
        }
        Some((regions, seeding))
    }

    /// The bound for a query, whose seeds have the codes `seeds`.
    pub(super) fn bound(&self, (codes, seeds): (&[u8], &[u8]), least: i32) -> Option<DiagonalBound> {
        let field = &self.levels.field;
        let gaps = longest_span(codes, least, &field.scoring) as usize - codes.len();
        DiagonalBound::new(seeds, gaps, field.bonuses(codes.len()), self.loss?)
    }
}

/// Keeps the regions with the highest bounds: at least as many as the hits that are enough, and `spare` more. Returns the
/// score from which all regions are kept.
fn keep_best(regions: &mut Vec<CandidateRegion>, wanted: &FilterRequest, spare: usize) -> i32 {
    let many = wanted.enough.map_or(usize::MAX, |enough| enough.saturating_add(spare));
    if regions.len() <= many {
        return wanted.least;
    }
    let mut bounds: Vec<i32> = regions.iter().map(|&(_, _, most)| most).collect();
    let held = *bounds.select_nth_unstable_by_key(many, |&most| Reverse(most)).1;
    regions.retain(|&(_, _, most)| most >= held);
    held.max(wanted.least)
}
