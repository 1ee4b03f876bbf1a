//! Pairs whose queries take several strips, where they are many: a workgroup does all strips of one.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::plan::{DeviceLimits, JOB_EDGES, Whole, fitting, hit_at};
use crate::engine::gpu::tasks::StaggeredTask;
use crate::engine::gpu::variant::{Scores, TileVariant};
use std::cmp::Reverse;

/// Cells of a pair, at most: nothing can cut its workgroup short, which takes a fifth of a second for so many on a quick device
/// that is not busy.
const MOST_CELLS: u64 = 1 << 32;
/// Submissions that a job may take, all of which are one dispatch.
const SUBMISSIONS: u64 = 2;
/// Cells that a job may do more than it must, as a share.
const MORE: u64 = 8;
/// The longest query of a job is at most so many times as long as the shortest one.
const ALIKE: u32 = 2;

/// The strips of staggered pairs, and what of a device they may take.
pub struct StaggeredStrips {
    variants: Vec<TileVariant>,
    limits: DeviceLimits,
}

/// The pairs of a job, by their places among all.
pub struct StaggeredPairs(Vec<usize>);

impl StaggeredStrips {
    /// None are there where the scoring or the device has no kernel for them.
    pub fn new(scores: Scores, limits: DeviceLimits) -> StaggeredStrips {
        StaggeredStrips { variants: TileVariant::staggered(scores, limits.subgroup), limits }
    }

    /// Those of the pairs at `long` that it suits, the longest queries first, and the others; all are others where too few
    /// would run side by side.
    pub fn suited(&self, batch: &Batch, pairs: &[Pair], long: Vec<usize>) -> [Vec<usize>; 2] {
        let is_suited = |index: &&usize| batch.cells(&pairs[**index]) <= MOST_CELLS;
        let (mut suited, others): (Vec<usize>, Vec<usize>) = long.iter().partition(is_suited);
        if suited.len() < self.limits.tuning.few_pairs || self.variants.is_empty() {
            return [Vec::new(), long];
        }
        suited.sort_by_key(|&index| Reverse(rows(batch, &pairs[index])));
        [suited, others]
    }

    /// The next job: as many of the first of the pairs at `rest` as suit submissions of `cells` cells, and are alike.
    pub fn next(
        &self,
        batch: &Batch,
        pairs: &[Pair],
        rest: &mut &[usize],
        cells: u64,
    ) -> Option<(Job, StaggeredPairs)> {
        let longest = rows(batch, &pairs[*rest.first()?]);
        let most = [cells * SUBMISSIONS, JOB_EDGES.min(self.limits.binding / 8), 0];
        let count = fitting(*rest, most, |&index| {
            let pair = &pairs[index];
            let is_short = rows(batch, pair) * ALIKE < longest;
            [batch.cells(pair), u64::from(pair.cols()), u64::from(is_short)]
        });
        let (now, behind) = rest.split_at_checked(count)?;
        *rest = behind;
        let mut now = now.to_vec();
        now.sort_by_key(|&index| Reverse(batch.cells(&pairs[index])));
        let variant =
            self.variant(now.iter().map(|&index| (rows(batch, &pairs[index]), pairs[index].cols())))?;
        let mut edges = 0;
        let task = |(result, &index): (u32, &usize)| {
            let Whole { mut span, counts_from } = Whole::pair(batch, &pairs[index]);
            let strips = span.rows.div_ceil(variant.capacity());
            span.pad = strips * variant.capacity() - span.rows;
            let task = StaggeredTask { span, counts_from, result, strips, edges };
            edges += span.cols;
            task
        };
        let tasks = (0..).zip(&now).map(task).collect();
        let mut job = Job { output: now.len() as u64 * 16, ..Job::default() };
        job.push(Dispatch::new(variant, tasks));
        job.edges = u64::from(edges);
        Some((job, StaggeredPairs(now)))
    }

    /// The variant with the most levels, which is done first with a pair, of those that do few cells more than they must for
    /// pairs of these rows and columns.
    fn variant(&self, sizes: impl Iterator<Item = (u32, u32)> + Clone) -> Option<TileVariant> {
        // Levels without a strip take as much of a device as those with one.
        let cells = |variant: &TileVariant| -> u64 {
            let at_once = variant.capacity() * variant.levels().unwrap_or(1);
            sizes
                .clone()
                .map(|(rows, cols)| u64::from(rows.next_multiple_of(at_once)) * u64::from(cols))
                .sum()
        };
        let done: Vec<(u64, TileVariant)> =
            self.variants.iter().map(|variant| (cells(variant), *variant)).collect();
        let least = done.iter().map(|(cells, _)| *cells).min()?;
        let suits = |(cells, _): &&(u64, TileVariant)| *cells <= least + least / MORE;
        done.iter()
            .filter(suits)
            .min_by_key(|(cells, variant)| (Reverse(variant.levels()), *cells))
            .map(|(_, variant)| *variant)
    }
}

fn rows(batch: &Batch, pair: &Pair) -> u32 {
    batch.query(pair.query).len() as u32
}

impl StaggeredPairs {
    /// The hit of each pair, by its place.
    pub fn best(&self, pairs: &[Pair], results: &[u32]) -> impl Iterator<Item = (usize, Hit)> {
        let hit = |(&index, result): (&usize, &[u32])| (index, hit_at((0, pairs[index].start), result));
        self.0.iter().zip(results.chunks_exact(4)).map(hit)
    }
}
