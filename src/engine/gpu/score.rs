//! Scores: one task a pair where the query fits a tile, grids of tiles in waves where it does not.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::engine::gpu::grid::Grid;
use crate::engine::gpu::job::{Answer, Inputs, Job};
use crate::engine::gpu::layout::Task;
use crate::engine::gpu::shader::{Kernel, STRIP_ROWS, Scores, Variant};
use crate::engine::gpu::{Gpu, JOB_EDGES, longest_first, scores_of};
use crate::error::EngineError;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Tasks of a job, at most: their results and records stay small beside the sequences.
const JOB_TASKS: usize = 1 << 19;

/// Where a task's result belongs: its pair, and what to add to the tile's rows and columns.
#[derive(Clone, Copy)]
struct Origin {
    pair: u32,
    row: i32,
    col: u32,
}

impl Origin {
    /// The hit that a result stands for.
    fn hit(&self, result: &[u32]) -> Hit {
        match result[0] {
            0 => Hit::default(),
            score => Hit {
                score: score as i32,
                query_end: (self.row + result[1] as i32 + 1) as u32,
                target_end: self.col + result[2] + 1,
            },
        }
    }
}
/// Items by the variant that holds their rows, longest columns first within each.
fn by_variant(
    kernel: Kernel,
    scores: Scores,
    items: impl Iterator<Item = (u32, u32, u32)>,
) -> Vec<(Variant, Vec<u32>)> {
    let mut classes: Vec<(Variant, Vec<u32>, Vec<u32>)> = Vec::new();
    for (index, rows, cols) in items {
        if let Some(variant) = Variant::holding(kernel, scores, rows) {
            let known = classes.iter().position(|class| class.0 == variant);
            let place = known.unwrap_or_else(|| {
                classes.push((variant, vec![], vec![]));
                classes.len() - 1
            });
            classes[place].1.push(index);
            classes[place].2.push(cols);
        }
    }
    let sorted = |(variant, items, cols): (Variant, Vec<u32>, Vec<u32>)| {
        (variant, longest_first(&cols).into_iter().map(|place| items[place as usize]).collect())
    };
    classes.into_iter().map(sorted).collect()
}
impl Gpu {
    /// Scores pairs whose queries fit one tile.
    pub(super) fn score_tiles(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        pairs: &[Pair],
        hits: &mut [Hit],
    ) -> Result<(), EngineError> {
        let scores = scores_of(batch);
        let rows = |pair: &Pair| batch.query(pair.query).len() as u32;
        let short = pairs
            .iter()
            .enumerate()
            .filter(|(_, pair)| (1..=STRIP_ROWS).contains(&rows(pair)) && pair.cols() > 0);
        let items = short.map(|(index, pair)| (index as u32, rows(pair), pair.cols()));
        let classes = by_variant(Kernel::Score, scores, items);
        let (mut class, mut place) = (0, 0);
        let next = |cells: u64| {
            let mut job = Job::default();
            let mut origins = Vec::new();
            while class < classes.len() && job.cells < cells && job.tasks.len() < JOB_TASKS {
                let (variant, order) = &classes[class];
                let mut left = cells - job.cells;
                let fits = |index: &&u32| {
                    let goes_on = left > 0;
                    left = left.saturating_sub(batch.cells(&pairs[**index as usize]));
                    goes_on
                };
                let room = JOB_TASKS - job.tasks.len();
                let count = order[place..].iter().take(room).take_while(fits).count();
                let (tasks, these): (Vec<Task>, Vec<Option<Origin>>) = order[place..place + count]
                    .par_iter()
                    .map(|&index| {
                        let pair = &pairs[index as usize];
                        let pad = variant.capacity() - rows(pair);
                        let origin = Origin { pair: index, row: -(pad as i32), col: pair.start };
                        (pair_task(batch, pair, pad), Some(origin))
                    })
                    .unzip();
                origins.resize(job.push(*variant, tasks), None);
                origins.extend(these);
                place += count;
                if place == order.len() {
                    (class, place) = (class + 1, 0);
                }
            }
            finish_results(&mut job);
            (!job.tasks.is_empty()).then_some((job, origins))
        };
        let take = |answer: Answer, origins: Vec<Option<Origin>>| keep_best(&answer, &origins, hits);
        self.run_all(batch, inputs, next, take)
    }

    /// Scores pairs whose queries take several strips, grids of tiles in waves.
    pub(super) fn score_grids(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        pairs: &[Pair],
        hits: &mut [Hit],
    ) -> Result<(), EngineError> {
        let scores = scores_of(batch);
        let variant = Variant::joined(Kernel::Score, scores);
        let mut long = pairs
            .iter()
            .enumerate()
            .filter(|(_, pair)| batch.query(pair.query).len() as u32 > variant.capacity() && pair.cols() > 0)
            .peekable();
        let next = |cells: u64| {
            let mut job = Job::default();
            let mut waves: BTreeMap<u32, Vec<(Task, Origin)>> = BTreeMap::new();
            let mut planned = 0;
            while let Some((index, pair)) = long.peek() {
                let grid =
                    Grid::padded(batch.query(pair.query).len() as u32, pair.cols(), variant.capacity());
                if planned > 0 && (planned >= cells || job.edges + grid.edges() > JOB_EDGES) {
                    break;
                }
                planned += batch.cells(pair);
                for tile in grid.tiles(|_| 0..pair.cols()) {
                    let task = grid.task(&tile, &pair_task(batch, pair, 0), job.edges);
                    let origin = Origin {
                        pair: *index as u32,
                        row: grid.first_row(tile.strip),
                        col: pair.start + tile.cols.start,
                    };
                    waves.entry(tile.wave).or_default().push((task, origin));
                }
                job.edges += grid.edges();
                long.next();
            }
            let mut origins = Vec::new();
            for wave in waves.into_values() {
                let first = job.tasks.len() as u32;
                origins.resize(first as usize, None);
                origins.extend(wave.iter().map(|(_, origin)| Some(*origin)));
                let number = |(place, (task, _)): (usize, (Task, Origin))| Task {
                    result: first + place as u32,
                    ..task
                };
                job.push(variant, wave.into_iter().enumerate().map(number));
            }
            finish_results(&mut job);
            (!job.tasks.is_empty()).then_some((job, origins))
        };
        let take = |answer: Answer, origins: Vec<Option<Origin>>| keep_best(&answer, &origins, hits);
        self.run_all(batch, inputs, next, take)
    }
}

/// The task of a pair in one tile with `pad` rows above the query.
fn pair_task(batch: &Batch, pair: &Pair, pad: u32) -> Task {
    Task {
        query: batch.queries.start(pair.query as usize) as u32,
        rows: batch.query(pair.query).len() as u32,
        pad,
        target_: batch.targets.start(pair.target as usize) as u32 + pair.start,
        cols: pair.cols(),
        own: pair.own - pair.start,
        ..Task::default()
    }
}

/// Gives every task, the empty ones too, a result of its own.
pub(super) fn finish_results(job: &mut Job) {
    for (place, task) in job.tasks.iter_mut().enumerate() {
        task.result = place as u32;
    }
    job.output = job.tasks.len() as u64 * 16;
}

/// Keeps the first in order of each pair's results.
fn keep_best(answer: &Answer, origins: &[Option<Origin>], hits: &mut [Hit]) {
    for (result, origin) in answer.output.as_ref().chunks_exact(4).zip(origins) {
        if let Some(origin) = origin {
            let (hit, best) = (origin.hit(result), &mut hits[origin.pair as usize]);
            if hit.score > 0 && hit.order(best).is_lt() {
                *best = hit;
            }
        }
    }
}
