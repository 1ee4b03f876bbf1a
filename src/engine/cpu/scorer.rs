//! Chooses how pairs are scored: together in lanes, or one after another.

use super::alike::{SHARE, score_alike};
use super::anchored::{Anchored, ends_of};
use super::score::{ScoreKernel, Width};
use super::simd::InstructionSet;
use super::strip::Rectangle;
use super::sweeps::{PART_SIDE, SHARED_CELLS, leaving, score_parts, striped_window, sweep, sweep_rectangle};
use crate::engine::{Block, Edges, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, swept};
use crate::terms::bounds::Band;
use crate::terms::casts::{to_i64, to_u32};
use crate::terms::error::EngineError;
use crate::terms::scoring::Substitution;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Queries of more rows are scored strip by strip, because the lanes' columns would not fit the cache.
pub const MOST_ROWS: usize = 1 << 13;
/// Cost of a strip's step, in steps of pairs in lanes.
const STRIP_STEP: u64 = 2;
/// Number of pairs after which narrow lanes are abandoned if more than half of the scores tried were too large.
const TRIED: usize = 256;

/// Overhead of a striped column, and the cost of its cells relative to those of pairs in lanes; both in steps of the
/// latter.
const STRIPED_COLUMN: u64 = 16;
const STRIPED_STEP: u64 = 2;
/// A band that holds every cell.
const WHOLE: Band = Band { deletions: u32::MAX, insertions: u32::MAX };

/// The indices of sweeps in an order that puts suitable sweeps into the same vectors: sweeps of one query if lanes can
/// share its profile, otherwise sweeps of similar size.
pub fn in_order(batch: &Batch, sweeps: &[&[Pair]]) -> Vec<u32> {
    let by_query = matches!(batch.scoring.substitution, Substitution::Matrix(_));
    let key = |(place, sweep): (usize, &&[Pair])| {
        let pair = swept(sweep);
        let rows = to_u32(batch.query(pair.query).len());
        let query = if by_query { pair.query } else { 0 };
        ((!rows, query, !pair.cols()), to_u32(place))
    };
    let mut keys: Vec<_> = sweeps.par_iter().enumerate().map(key).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|(_, place)| place).collect()
}

/// Counts how often narrow lanes were tried and were too narrow. If that is common, they are no longer tried.
#[derive(Default)]
pub struct Trials {
    tried: AtomicUsize,
    failed: AtomicUsize,
}

impl Trials {
    pub fn are_worth_it(&self) -> bool {
        let (tried, failed) = (self.tried.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
        tried < TRIED || 2 * failed <= tried
    }

    pub fn count(&self, tried: usize, failed: usize) {
        self.tried.fetch_add(tried, Ordering::Relaxed);
        self.failed.fetch_add(failed, Ordering::Relaxed);
    }
}

/// Scores some sweeps of a batch.
#[derive(Clone, Copy)]
pub struct Scorer<'a> {
    pub set: InstructionSet,
    pub batch: &'a Batch,
    pub sweeps: &'a [&'a [Pair]],
    pub trials: &'a Trials,
    /// Whether several threads share a pair, because there are fewer pairs than threads.
    pub is_shared: bool,
}

impl Scorer<'_> {
    /// The hits of the pairs of the sweeps at `places`, in their order: one for each pair.
    pub fn score(&self, places: &[u32]) -> Result<Vec<HitEnd>, EngineError> {
        let lengths = places.iter().map(|&place| self.sweeps[place as usize].len());
        let ends = lengths.scan(0, |end, len| {
            *end += len;
            Some(*end)
        });
        let firsts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let mut hits = vec![None; firsts[places.len()]];
        let none = if self.batch.scoring.mode.is_local() { HitEnd::default() } else { HitEnd::NONE };
        for (at, &place) in places.iter().enumerate() {
            let sweep = self.sweeps[place as usize];
            if self.is_without_cells(sweep) {
                hits[firsts[at]..firsts[at + 1]].fill(Some(none));
            } else if let [pair] = sweep {
                let threads = if self.is_shared { rayon::current_num_threads() as u64 } else { 1 };
                hits[firsts[at]] = score_alike(self.set, self.batch, pair, SHARE * threads);
            }
        }
        for width in [Width::W8, Width::W16, Width::W32] {
            // Of a sweep's pairs, some may have an exact score in lanes that are too narrow for the others.
            let lacks = |&at: &usize| hits[firsts[at]..firsts[at + 1]].iter().any(Option::is_none);
            let missing: Vec<usize> = (0..places.len()).filter(lacks).collect();
            for some in missing.chunks(self.set.lanes(width.bytes())) {
                let group: Vec<&[Pair]> = some.iter().map(|&at| self.sweeps[places[at] as usize]).collect();
                let mut found = self.score_group(width, &group).into_iter();
                for hit in some.iter().flat_map(|&at| firsts[at]..firsts[at + 1]) {
                    hits[hit] = found.next().flatten();
                }
            }
        }
        let all: Option<Vec<HitEnd>> = hits.into_iter().collect();
        all.ok_or_else(|| EngineError::Wrong("a pair without a score".to_string()))
    }

    /// Whether the query or the target of a sweep is empty.
    fn is_without_cells(&self, sweep: &[Pair]) -> bool {
        let pair = swept(sweep);
        pair.start >= pair.end || self.batch.query(pair.query).is_empty()
    }

    /// The hits of one group's pairs, all of which have cells. A hit is `None` if lanes of `width` are too narrow.
    fn score_group(&self, width: Width, group: &[&[Pair]]) -> Vec<Option<HitEnd>> {
        let pairs = || group.iter().map(|sweep| swept(sweep));
        let rows = |pair: &Pair| self.batch.query(pair.query).len();
        let steps_of = |rows: usize, cols: u32| rows as u64 * u64::from(cols);
        let (longest, widest) = pairs()
            .fold((0, 0), |(longest, widest), pair| (longest.max(rows(&pair)), widest.max(pair.cols())));
        let of_all = |hit: Option<HitEnd>| vec![hit; group.iter().map(|sweep| sweep.len()).sum()];
        let is_local = self.batch.scoring.mode.is_local();
        let in_strips = pairs().map(|pair| self.steps_of_one(rows(&pair), pair.cols())).sum::<u64>();
        if longest > MOST_ROWS || in_strips < steps_of(longest, widest) {
            return group.iter().flat_map(|sweep| self.score_in_strips(sweep)).map(Some).collect();
        }
        if !is_local {
            return self.score_anchored(width, group, longest);
        }
        let bound = self.batch.scoring.most_score(longest.min(widest as usize));
        let score = || self.set.run(ScoreKernel { batch: self.batch, group, width });
        match width.most(&self.batch.scoring) {
            Some(most) if bound <= most => score(),
            Some(_) if width == Width::W16 || (width == Width::W8 && self.trials.are_worth_it()) => {
                let found = score();
                let failed = found.iter().filter(|hit| hit.is_none()).count();
                if width == Width::W8 {
                    self.trials.count(found.len(), failed);
                }
                found
            }
            _ => of_all(None),
        }
    }

    /// Cost of scoring one pair alone, in steps of pairs in lanes.
    fn steps_of_one(&self, rows: usize, cols: u32) -> u64 {
        let scoring = &self.batch.scoring;
        if striped_window(self.set, scoring, rows).is_some() {
            let width = if scoring.mode.is_local() { Width::W8 } else { Width::W16 };
            let rows = rows.div_ceil(self.set.lanes(width.bytes())) as u64;
            return STRIPED_STEP * (rows + STRIPED_COLUMN) * u64::from(cols);
        }
        let lanes = self.set.lanes(Width::W32.bytes());
        STRIP_STEP * rows.div_ceil(lanes) as u64 * (u64::from(cols) + lanes as u64)
    }

    /// Scores a group in modes other than local.
    fn score_anchored(&self, width: Width, group: &[&[Pair]], rows: usize) -> Vec<Option<HitEnd>> {
        // If the best score barely fits, most others are too low to be exact.
        let potential = 2 * to_i64(rows) * i64::from(self.batch.scoring.max_potential());
        let is_worth_it = width == Width::W32
            || width.most(&self.batch.scoring).is_some_and(|most| potential <= most)
                && (width == Width::W16 || self.trials.are_worth_it());
        if !is_worth_it {
            return vec![None; group.iter().map(|sweep| sweep.len()).sum()];
        }
        let found = self.set.run(Anchored { batch: self.batch, group, width });
        if width == Width::W8 {
            self.trials.count(found.len(), found.iter().filter(|hit| hit.is_none()).count());
        }
        found
    }

    /// The hits of a sweep's pairs in modes other than local.
    fn score_anchored_in_strips(&self, sweep: &[Pair]) -> Vec<HitEnd> {
        let Pair { query, target, start, end, .. } = swept(sweep);
        let query_end = to_u32(self.batch.query(query).len());
        let window = Window { query, target, start, query_end, target_end: end, band: WHOLE, score: 0 };
        ends_of(self.batch, sweep, &leaving(self.set, self.batch, &window))
    }

    fn score_in_strips(&self, sweep: &[Pair]) -> Vec<HitEnd> {
        if !self.batch.scoring.mode.is_local() {
            return self.score_anchored_in_strips(sweep);
        }
        if let [pair] = sweep { vec![self.score_pair(pair)] } else { self.score_stretches(sweep) }
    }

    fn score_pair(&self, pair: &Pair) -> HitEnd {
        let own = pair.own - pair.start;
        let (query_end, (start, target_end)) =
            (to_u32(self.batch.query(pair.query).len()), (pair.start, pair.end));
        let window = Window {
            query: pair.query,
            target: pair.target,
            start,
            query_end,
            target_end,
            band: WHOLE,
            score: 0,
        };
        let block = Block::whole(&window);
        // Splitting into parts pays if several threads share them.
        let has_parts = self.is_shared && self.batch.cells(pair) >= SHARED_CELLS;
        let hit = match has_parts {
            true => score_parts(self.set, self.batch, &block, PART_SIDE, own),
            false => sweep(self.set, self.batch, &block, &Edges::default(), own as usize).1,
        };
        if hit.score == 0 { hit } else { HitEnd { target_end: hit.target_end + start, ..hit } }
    }

    /// The hits of a sweep's pairs. Each stretch starts from the edge that the previous one leaves on its right.
    fn score_stretches(&self, sweep: &[Pair]) -> Vec<HitEnd> {
        let mut from = swept(sweep).start;
        let mut edges = Edges::default();
        let stretch = |pair: &Pair| {
            let target = &self.batch.target(pair.target)[from as usize..pair.end as usize];
            let rectangle =
                Rectangle { query: self.batch.query(pair.query), target, scoring: &self.batch.scoring };
            let own = (pair.own - from) as usize;
            let (left, hit) = sweep_rectangle(self.set, rectangle, &edges, own);
            edges.vertical = left.vertical;
            let first = std::mem::replace(&mut from, pair.end);
            if hit.score == 0 { hit } else { HitEnd { target_end: hit.target_end + first, ..hit } }
        };
        sweep.iter().map(stretch).collect()
    }
}
