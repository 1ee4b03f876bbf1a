//! Pairs whose queries fit one tile: one task per sweep.

use crate::engine::gpu::job::Job;
use crate::engine::gpu::layout::TASK_ALIGNMENT;
use crate::engine::gpu::plan::{WholeTile, fitting, hit_at, longest_first, none, scoring};
use crate::engine::gpu::tasks::ScoreTask;
use crate::engine::gpu::variant::{KernelResults, KernelScoring, TileVariant};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, sweeps, swept};
use crate::terms::casts::to_u32;
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of pairs of a job: their results and records stay small compared with the sequences.
const JOB_PAIRS: usize = 1 << 19;
/// Jobs begin at multiples of this number of pairs.
const GRAIN: usize = 256;
/// Number of pairs in each piece of parallel sorting.
const SORT_PAIRS: usize = 1 << 12;

/// The pairs of a batch whose queries fit one tile, and the tiles that hold them.
pub struct Tiles<'a> {
    batch: &'a Batch,
    /// Sorted by capacity.
    variants: Vec<TileVariant>,
    subgroup: Option<u32>,
}

impl Tiles<'_> {
    pub fn new(batch: &Batch, scoring: impl Into<KernelScoring>, subgroup: Option<u32>) -> Tiles<'_> {
        let mode = batch.scoring.mode;
        let tiles = TileVariant::tiles(KernelResults::Score, scoring).into_iter();
        Tiles { batch, variants: tiles.map(|tile| tile.in_mode(mode)).collect(), subgroup }
    }

    /// Index of the variant that holds a pair.
    fn class(&self, pair: &Pair) -> Option<usize> {
        let rows = to_u32(self.batch.query(pair.query).len());
        let held = || self.variants.iter().position(|variant| variant.capacity() >= rows);
        if rows == 0 || pair.cols() == 0 { None } else { held() }
    }

    /// Number of cells of each grain of `pairs`.
    pub fn grains(&self, pairs: &[Pair]) -> Vec<u64> {
        let cells = |sweep: &[Pair]| {
            let pair = swept(sweep);
            self.class(&pair).map_or(0, |_| self.batch.cells(&pair))
        };
        pairs.par_chunks(GRAIN).with_min_len(16).map(|grain| sweeps(grain).map(cells).sum()).collect()
    }

    /// The tasks of `pairs`, which begin at `first`, by class, the longest targets first.
    fn tasks(&self, pairs: &[Pair], first: usize) -> Vec<Vec<ScoreTask>> {
        let mut classes = vec![Vec::new(); self.variants.len()];
        let mut place = 0;
        for sweep in sweeps(pairs) {
            let pair = swept(sweep);
            if let Some(class) = self.class(&pair) {
                let WholeTile { mut span, mut counts_from } = WholeTile::pair(self.batch, &pair);
                span.pad = self.variants[class].pad(span.rows);
                if !self.batch.scoring.mode.free_ends().target {
                    // The only end is in the last column.
                    counts_from = counts_from.max(span.cols - 1);
                }
                let tasks: &mut Vec<ScoreTask> = &mut classes[class];
                // All pairs are usually of one class.
                tasks.reserve(if tasks.is_empty() { (pairs.len() - place) / sweep.len() } else { 1 });
                let (result, in_stretches) = (to_u32(first + place), u32::from(sweep.len() > 1));
                tasks.push(ScoreTask { span, counts_from, result, in_stretches });
            }
            place += sweep.len();
        }
        classes.into_iter().map(longest_first).collect()
    }

    /// A job that scores `pairs`; the index of each result is that of its pair.
    pub fn job(&self, pairs: &[Pair]) -> Job {
        let parts: Vec<Vec<Vec<ScoreTask>>> = pairs
            .par_chunks(SORT_PAIRS)
            .enumerate()
            .map(|(part, some)| self.tasks(some, part * SORT_PAIRS))
            .collect();
        let mut job = Job { output: pairs.len() as u64 * 16, ..Job::default() };
        for (class, variant) in self.variants.iter().enumerate() {
            let parts = || parts.iter().map(|classes| classes[class].as_slice());
            let count: usize = parts().map(<[ScoreTask]>::len).sum();
            if count > 0 {
                let mut tasks = Vec::with_capacity(count.next_multiple_of(TASK_ALIGNMENT));
                parts().for_each(|part| tasks.extend_from_slice(part));
                let in_stretches = tasks.iter().any(|task| task.in_stretches != 0);
                let variant = if in_stretches { variant.in_stretches() } else { *variant };
                job.push(scoring(variant, tasks, self.subgroup));
            }
        }
        job
    }

    /// Reads the hits of `pairs` from their results.
    pub fn take(&self, pairs: &[Pair], results: &[u32], hits: &mut [HitEnd]) {
        let none = none(self.batch.scoring.mode);
        let known = hits.par_iter_mut().zip(pairs).zip(results.par_chunks_exact(4));
        known.with_min_len(SORT_PAIRS).for_each(|((hit, pair), result)| {
            if self.class(pair).is_some() {
                *hit = hit_at(0, pair.start, result, none);
            }
        });
    }
}

/// The pairs of the next job: as many grains as have `cells` cells. `done` counts grains.
pub fn next_pairs(grains: &[u64], done: &mut usize, pairs: usize, cells: u64) -> Option<Range<usize>> {
    let first = *done;
    let rest = grains.get(first..).filter(|rest| !rest.is_empty())?;
    *done += fitting(rest, [cells, JOB_PAIRS as u64], |&more| [more, GRAIN as u64]);
    Some(first * GRAIN..(*done * GRAIN).min(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_whole_grains() {
        let mut done = 0;
        let mut next = |cells| next_pairs(&[5, 5, 20, 1], &mut done, 1000, cells);
        assert_eq!(next(10), Some(0..512));
        assert_eq!(next(10), Some(512..768), "one that is too large goes alone");
        assert_eq!(next(10), Some(768..1000));
        assert_eq!(next(10), None);
        let many = vec![0; JOB_PAIRS / GRAIN + 1];
        assert_eq!(next_pairs(&many, &mut 0, usize::MAX, 10), Some(0..JOB_PAIRS));
    }
}
