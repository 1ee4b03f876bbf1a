//! A region of a search: end columns of a target, and the knowledge about the hits in them.

use super::{HitAt, SearchInput};
use crate::align::backtrace::{self, WantedPath};
use crate::align::repeats::{DistinctTargets, StretchPosition};
use crate::terms::alignment::{Alignment, HitEnd, Locus, Strand};
use crate::terms::batch::{Batch, Pair};
use crate::terms::bounds::potential;
use crate::terms::casts::to_i32;
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// End columns of one target whose best hit is known, or only bounded from above.
///
/// If the batch's targets are distinct stretches of other targets, `pair` and `best` are in columns of a stretch, and
/// `place` maps them to the target.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub strand: Strand,
    pub pair: Pair,
    pub place: StretchPosition,
    /// If set, the region also represents the copies of its columns from this number on, which follow it in the order
    /// of hits.
    copies: Option<u32>,
    pub bound: i32,
    /// Whether the best hit's score equals the bound.
    pub is_scored: bool,
    /// The best hit, once its end cell is known.
    pub best: Option<HitEnd>,
    /// The path of the best hit, once it is known.
    pub path: Option<KnownPath>,
}

/// A path that a search knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownPath {
    pub number: u32,
    /// First target column of the path.
    pub start: u32,
}

/// Earliest position in the order of hits that a hit may have: score, strand, target, ends in the target and in the
/// query.
pub type FirstPlace = (Reverse<i32>, Strand, u32, u32, u32);

/// Order of regions by their best possible hit: score, strand, target. Cells break ties.
pub type RegionKey = (Reverse<i32>, Strand, u32);

/// Remainder of a region after columns are cut out.
pub enum Left {
    /// The whole region; its sweep may begin later.
    Whole(Region),
    /// Up to two regions. The copies that the region represented are in none of them.
    Pieces(SmallVec<[Region; 2]>),
}

impl Region {
    /// A pair of the batch of which only a bound is known.
    pub fn unscored(scope: &SearchInput, strand: Strand, pair: Pair, bound: i32) -> Region {
        let (place, copies) = match scope.repeats.distinct() {
            Some(distinct) => (distinct.place(pair.target), Some(0)),
            None => (StretchPosition::of(pair.target), None),
        };
        Region { strand, pair, place, copies, bound, is_scored: false, best: None, path: None }
    }

    /// The region's hit as the limits see it, with the bound as its score.
    pub fn hit_at(&self) -> HitAt {
        HitAt { target: self.place.target, score: self.bound }
    }

    /// Position of the region among scored regions.
    pub fn key(&self) -> RegionKey {
        (Reverse(self.bound), self.strand, self.place.target)
    }

    /// Earliest possible position of the region.
    pub fn first_key(&self) -> RegionKey {
        if self.is_scored { self.key() } else { (Reverse(self.bound), Strand::Forward, 0) }
    }

    /// Earliest cell that its best hit may end in, to order regions whose cells are unknown.
    pub fn first_cell(&self) -> (Reverse<i32>, Strand, u32, u32) {
        (Reverse(self.bound), self.strand, self.place.target, self.place.there(self.pair.own))
    }

    /// Earliest position that its best hit may have in the order of hits.
    pub fn first_place(&self) -> FirstPlace {
        let (end, query_end) = match self.best {
            Some(hit) => (self.place.there(hit.target_end), hit.query_end),
            None => (self.place.there(self.pair.own) + 1, 0),
        };
        (Reverse(self.bound), self.strand, self.place.target, end, query_end)
    }

    /// The columns of its target that its hits can cover, if each covers at most `span` of them.
    pub fn reach(&self, span: u32) -> (u32, u32) {
        let Pair { start, own, end, .. } = self.pair;
        let before = own.saturating_sub(start).min(span);
        let there = self.place.there(own);
        (there.saturating_sub(before), there + (end - own))
    }

    /// The columns of its target that its hits end in.
    pub fn own_columns(&self) -> (u32, u32) {
        (self.place.there(self.pair.own), self.place.there(self.pair.end))
    }

    /// Whether the region also represents copies of its columns.
    pub fn has_copies(&self) -> bool {
        self.copies.is_some()
    }

    /// Detaches the next copies of its columns as separate regions.
    pub fn take_copies(&mut self, distinct: &DistinctTargets, batch: &Batch) -> Vec<Region> {
        let copies = self.next_copies(distinct, batch);
        self.copies = None;
        copies
    }

    /// Whether all hits in the region with this score come after the hit of a region whose cell is known.
    pub fn is_behind(&self, best: &Region) -> bool {
        let Some(hit) = best.best else { return false };
        let (strand, target, end) = (best.strand, best.place.target, best.place.there(hit.target_end));
        let (_, own_strand, own_target, own) = self.first_cell();
        (own_strand, own_target, own) >= (strand, target, end)
    }

    pub fn locus(&self) -> Locus {
        let hit = self.best.unwrap_or_default();
        let hit = HitEnd { target_end: self.place.there(hit.target_end), ..hit };
        Locus { hit, strand: self.strand, target: self.place.target }
    }

    /// An alignment of the pair, in the coordinates of the region's target.
    pub fn in_place(&self, alignment: Alignment) -> Alignment {
        Alignment {
            target: self.place.target,
            target_start: self.place.there(alignment.target_start),
            target_end: self.place.there(alignment.target_end),
            ..alignment
        }
    }

    /// The hit of the pair without its path.
    pub fn without_path(&self) -> Alignment {
        Alignment {
            strand: self.strand,
            target: self.pair.target,
            score: self.bound,
            query_start: 0,
            query_end: 0,
            target_start: 0,
            target_end: 0,
            cigar: Default::default(),
            shifts: Box::default(),
        }
    }

    pub fn wanted(&self, batch: &Batch) -> WantedPath {
        let hit = self.best.unwrap_or_default();
        let window = backtrace::window_of(batch, self.pair.query, self.pair.target, self.pair.start, &hit);
        WantedPath { window, strand: self.strand, score: hit.score }
    }

    /// Notes that nothing in the region scores enough.
    pub fn forget(&mut self) {
        self.bound = i32::MIN;
        (self.is_scored, self.best, self.path) = (false, None, None);
    }

    /// Accepts the engine's answer after checking that it is possible.
    pub fn learn(&mut self, hit: HitEnd, batch: &Batch) -> Result<(), EngineError> {
        let pair = &self.pair;
        let inside = hit.target_end > pair.own
            && hit.target_end <= pair.end
            && hit.query_end >= 1
            && hit.query_end as usize <= batch.query(pair.query).len();
        let is_other = self.is_scored && hit.score != self.bound;
        let is_negative = hit.score < 0 && batch.scoring.mode.is_local();
        if is_negative || hit.score > self.bound || (!hit.is_none() && !inside) || is_other {
            return Err(EngineError::Wrong(format!(
                "{hit:?} for {pair:?}, which can score {} at most",
                self.bound
            )));
        }
        self.bound = hit.score;
        (self.is_scored, self.best) = (true, Some(hit));
        Ok(())
    }

    /// Cuts columns of its target and strand out of the region, for hits that cover at most `span` columns.
    pub fn without(mut self, taken: (u32, u32), batch: &Batch, span: u32) -> Left {
        let (taken_start, taken_end) = (self.place.here(taken.0), self.place.here(taken.1));
        if self.pair.end <= taken_start {
            return Left::Whole(self);
        }
        // The sweep may begin far before the stretch.
        self.pair.start = self.pair.start.max(self.pair.own.saturating_sub(span));
        let Pair { start, own, end, .. } = self.pair;
        if taken_end <= start {
            return Left::Whole(self);
        }
        self.copies = None;
        let left = self.piece(batch, (start, own, end.min(taken_start)));
        let right = self.piece(batch, (start.max(taken_end), own.max(taken_end), end));
        Left::Pieces(left.into_iter().chain(right).collect())
    }

    /// The part of the region with these columns (start, own, end), or `None` if it is empty. If the best hit of the
    /// whole region ends in the part, and the part includes the columns before it or the columns of its path, it is
    /// also the best hit of the part.
    fn piece(&self, batch: &Batch, (start, own, end): (u32, u32, u32)) -> Option<Region> {
        if own >= end {
            return None;
        }
        let pair = Pair { start, own, end, ..self.pair };
        let has_start = start == self.pair.start || self.path.is_some_and(|path| start <= path.start);
        let is_inside = |hit: &HitEnd| has_start && own < hit.target_end && hit.target_end <= end;
        if let Some(best) = self.best.filter(is_inside) {
            return Some(Region { pair, bound: best.score, ..*self });
        }
        let is_all = pair == self.pair && self.best.is_none();
        let is_scored = is_all && self.is_scored;
        // Hits that end before the first best hit score less.
        let ends_before = self.best.is_some_and(|best| end < best.target_end);
        let bound = (self.bound - i32::from(ends_before)).min(bound(batch, &pair));
        Some(Region { pair, bound, is_scored, best: None, path: None, ..*self })
    }

    /// The next copies of the region's columns that it represents. Each of them represents the copies after it.
    pub fn next_copies(&self, distinct: &DistinctTargets, batch: &Batch) -> Vec<Region> {
        let mut next = Vec::new();
        let mut left: SmallVec<[_; 2]> =
            self.copies.iter().map(|&from| (self.pair.own..self.pair.end, from)).collect();
        while let Some((columns, from)) = left.pop() {
            let Some((number, copied)) = distinct.next_copy(self.pair.target, &columns, from) else {
                continue;
            };
            let (own, end) =
                (columns.start.max(copied.columns().start), columns.end.min(copied.columns().end));
            let there = Region { place: copied.place, copies: Some(number + 1), ..*self };
            next.extend(there.piece(batch, (self.pair.start, own, end)));
            let others = [columns.start..own, end..columns.end];
            left.extend(
                others.into_iter().filter(|columns| !columns.is_empty()).map(|columns| (columns, number + 1)),
            );
        }
        next
    }
}

/// Maximum score of an alignment of a record.
pub struct Most {
    /// Maximum by query, for each orientation of the record.
    queries: SmallVec<[i32; 2]>,
    first_query: u32,
    /// Maximum per target residue, and that of the end bonuses.
    residue: [i32; 2],
}

impl Most {
    pub fn of(scope: &SearchInput, record: u32) -> Most {
        let SearchInput { batch, layout, .. } = scope;
        let bound = |strand: &Strand| {
            let query = batch.query(layout.query(record, *strand));
            to_i32(potential(query, &batch.scoring).min(i64::from(i32::MAX)))
        };
        let queries = layout.orientations().iter().map(bound).collect();
        let first_query = layout.query(record, Strand::Forward);
        Most { queries, first_query, residue: by_residue(&batch.scoring) }
    }

    pub fn in_pair(&self, pair: &Pair) -> i32 {
        self.queries[(pair.query - self.first_query) as usize].min(by_target(pair, self.residue))
    }
}

/// Maximum score of any alignment of `pair`.
fn bound(batch: &Batch, pair: &Pair) -> i32 {
    let by_query = potential(batch.query(pair.query), &batch.scoring);
    to_i32(by_query.min(i64::from(by_target(pair, by_residue(&batch.scoring)))))
}

/// Maximum of a target residue, and of the end bonuses.
fn by_residue(scoring: &Scoring) -> [i32; 2] {
    [scoring.max_potential(), 2 * scoring.end_bonus]
}

/// Maximum total score of the target residues of `pair`, each at most `most`, with the end bonuses.
fn by_target(pair: &Pair, [most, bonuses]: [i32; 2]) -> i32 {
    to_i32((i64::from(pair.cols()) * i64::from(most) + i64::from(bonuses)).min(i64::from(i32::MAX)))
}
