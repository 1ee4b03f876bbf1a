//! Pairs whose queries take several strips, where they are many: a workgroup does all strips of one.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::plan::{DeviceLimits, JOB_EDGES, Whole, fitting, hit_at};
use crate::engine::gpu::tasks::StaggeredTask;
use crate::engine::gpu::variant::{Scores, TileVariant};
use std::cmp::Reverse;

/// Cells of a pair, at most: nothing can cut its workgroup short, which takes a fifth of a second for 2^31 cells on a quick device.
const MOST_CELLS: u64 = 1 << 31;
/// Submissions that a job may take, all of which are one dispatch: the more pairs run side by side, the fewer workgroups wait
/// for the last ones.
const SUBMISSIONS: u64 = 4;

/// The strips of staggered pairs, and what of a device they may take.
pub struct StaggeredStrips {
    variant: TileVariant,
    limits: DeviceLimits,
}

/// The pairs of a job, by their places among all.
pub struct StaggeredPairs(Vec<usize>);

impl StaggeredStrips {
    /// `None` where the scoring or the device has no kernel for them.
    pub fn new(scores: Scores, limits: DeviceLimits) -> Option<StaggeredStrips> {
        let variant = TileVariant::staggered(scores, limits.subgroup)?;
        Some(StaggeredStrips { variant, limits })
    }

    /// Those of the pairs at `long` that it suits, the largest first, and the others; all are others where too few would run
    /// side by side.
    pub fn suited(&self, batch: &Batch, pairs: &[Pair], long: Vec<usize>) -> [Vec<usize>; 2] {
        let cells = |index: &usize| batch.cells(&pairs[*index]);
        let (mut suited, others): (Vec<usize>, Vec<usize>) =
            long.iter().partition(|index| cells(index) <= MOST_CELLS);
        if suited.len() < self.limits.tuning.few_pairs {
            return [Vec::new(), long];
        }
        suited.sort_by_key(|index| Reverse(cells(index)));
        [suited, others]
    }

    /// The next job: as many of the first of the pairs at `rest` as suit submissions of `cells` cells.
    pub fn next(
        &self,
        batch: &Batch,
        pairs: &[Pair],
        rest: &mut &[usize],
        cells: u64,
    ) -> Option<(Job, StaggeredPairs)> {
        let most = [cells * SUBMISSIONS, JOB_EDGES.min(self.limits.binding / 8)];
        let count = fitting(*rest, most, |&index| [batch.cells(&pairs[index]), u64::from(pairs[index].cols())]);
        let (now, behind) = rest.split_at_checked(count)?;
        *rest = behind;
        let mut edges = 0;
        let task = |(result, &index): (u32, &usize)| {
            let Whole { mut span, counts_from } = Whole::pair(batch, &pairs[index]);
            let strips = span.rows.div_ceil(self.variant.capacity());
            span.pad = strips * self.variant.capacity() - span.rows;
            let task = StaggeredTask { span, counts_from, result, strips, edges };
            edges += span.cols;
            task
        };
        let tasks = (0..).zip(now).map(task).collect();
        let mut job = Job { output: now.len() as u64 * 16, ..Job::default() };
        job.push(Dispatch::new(self.variant, tasks));
        job.edges = u64::from(edges);
        Some((job, StaggeredPairs(now.to_vec())))
    }
}

impl StaggeredPairs {
    /// The hit of each pair, by its place.
    pub fn best(&self, pairs: &[Pair], results: &[u32]) -> impl Iterator<Item = (usize, Hit)> {
        let hit = |(&index, result): (&usize, &[u32])| (index, hit_at((0, pairs[index].start), result));
        self.0.iter().zip(results.chunks_exact(4)).map(hit)
    }
}
