//! Scores: one task a sweep where the query fits a tile, grids of tiles in waves where it does not.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair, sweeps, swept};
use crate::engine::gpu::grid::Grid;
use crate::engine::gpu::job::{Chain, Dispatch, Job};
use crate::engine::gpu::layout::{CHAIN_APART, TASK_ALIGNMENT, Task};
use crate::engine::gpu::runner::{Answer, Inputs};
use crate::engine::gpu::shader::{CHAINED_ROWS, Kernel, STRIP_ROWS, Scores, Variant};
use crate::engine::gpu::{Chains, Gpu, JOB_EDGES, Tuning, longest_first, scores_of};
use crate::error::EngineError;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Pairs of a job, at most: their results and records stay small beside the sequences.
const JOB_PAIRS: usize = 1 << 19;
/// Jobs begin at multiples of so many pairs.
const GRAIN: usize = 256;
/// Pairs that one thread puts in order in one go.
const SORT_PAIRS: usize = 1 << 12;
/// Submissions that a job of grids may take: the more grids run side by side, the fewer of a wave's
/// tiles wait for its last ones.
const GRID_SUBMISSIONS: u64 = 4;
/// Columns of a chained strip in one dispatch, unless there are fewer.
const LEAST_RUN: u64 = 1 << 9;
/// Columns that all slots of a chain have together, at most but for the least runs: 128 MiB.
const HANDED_COLS: u64 = 1 << 24;
/// Where tasks are padded so that workgroups share a query, at most so many times as many.
const MOST_PADDING: usize = 2;

/// What to add to the rows and columns of a result.
#[derive(Clone, Copy)]
struct Origin {
    row: u32,
    col: u32,
}

impl Origin {
    /// The hit that a result stands for.
    fn hit(&self, result: &[u32]) -> Hit {
        match result[0] {
            0 => Hit::default(),
            score => Hit {
                score: score as i32,
                query_end: self.row + result[1] + 1,
                target_end: self.col + result[2] + 1,
            },
        }
    }
}

/// The pairs of a batch whose queries fit one tile, and the tiles that hold them, one for each sweep.
struct Tiles<'a> {
    batch: &'a Batch,
    /// By capacity.
    variants: Vec<Variant>,
    subgroup: Option<u32>,
}

impl Tiles<'_> {
    /// The place of the variant that holds a pair.
    fn class(&self, pair: &Pair) -> Option<usize> {
        let rows = self.batch.query(pair.query).len() as u32;
        let held = || self.variants.iter().position(|variant| variant.capacity() >= rows);
        if rows == 0 || pair.cols() == 0 { None } else { held() }
    }

    /// Cells of each grain of `pairs`.
    fn cells(&self, pairs: &[Pair]) -> Vec<u64> {
        let cells = |sweep: &[Pair]| {
            let pair = swept(sweep);
            self.class(&pair).map_or(0, |_| self.batch.cells(&pair))
        };
        pairs.par_chunks(GRAIN).with_min_len(16).map(|grain| sweeps(grain).map(cells).sum()).collect()
    }

    /// The tasks of `pairs`, which begin at `first`, by class, the longest targets first.
    fn tasks(&self, pairs: &[Pair], first: usize) -> Vec<Vec<Task>> {
        let mut classes = vec![Vec::new(); self.variants.len()];
        let mut place = 0;
        for sweep in sweeps(pairs) {
            let pair = swept(sweep);
            if let Some(class) = self.class(&pair) {
                let base = pair_task(self.batch, &pair, (first + place) as u32);
                let pad = self.variants[class].capacity() - base.rows;
                let tasks: &mut Vec<Task> = &mut classes[class];
                // Most often all are of one class.
                tasks.reserve(if tasks.is_empty() { (pairs.len() - place) / sweep.len() } else { 1 });
                tasks.push(Task { pad, stored: u32::from(sweep.len() > 1), ..base });
            }
            place += sweep.len();
        }
        classes.into_iter().map(longest_first).collect()
    }

    /// A job that scores `pairs`; the result of each lies at its own place.
    fn job(&self, pairs: &[Pair]) -> Job {
        let parts: Vec<Vec<Vec<Task>>> = pairs
            .par_chunks(SORT_PAIRS)
            .enumerate()
            .map(|(part, some)| self.tasks(some, part * SORT_PAIRS))
            .collect();
        let mut job = Job { output: pairs.len() as u64 * 16, ..Job::default() };
        for (class, variant) in self.variants.iter().enumerate() {
            let parts = || parts.iter().map(|classes| classes[class].as_slice());
            let count: usize = parts().map(<[Task]>::len).sum();
            if count > 0 {
                let mut tasks = Vec::with_capacity(count.next_multiple_of(TASK_ALIGNMENT));
                parts().for_each(|part| tasks.extend_from_slice(part));
                let in_stretches = tasks.iter().any(|task| task.stored != 0);
                let variant = if in_stretches { variant.in_stretches() } else { *variant };
                job.push(dispatch(variant, tasks, self.subgroup));
            }
        }
        job
    }
}

/// The jobs' ranges of pairs: as many grains as have `cells` cells, but one at least.
fn next_range(grains: &[u64], done: &mut usize, pairs: usize, cells: u64) -> Option<Range<usize>> {
    let first = *done;
    let (mut taken, mut planned) = (0, 0);
    while let Some(more) = grains.get(first + taken) {
        if taken > 0 && (planned + more > cells || (taken + 1) * GRAIN > JOB_PAIRS) {
            break;
        }
        planned += more;
        taken += 1;
    }
    *done += taken;
    (taken > 0).then(|| first * GRAIN..((first + taken) * GRAIN).min(pairs))
}

/// A dispatch of `tasks`; where enough of them have one query, its workgroups share a profile.
fn dispatch(variant: Variant, tasks: Vec<Task>, subgroup: Option<u32>) -> Dispatch {
    if let Some(sharing) = variant.sharing(subgroup) {
        let pad = sharing.capacity() - variant.capacity();
        let grouped = grouped(&tasks, sharing.pairs() as usize, pad);
        if grouped.len() <= tasks.len() * MOST_PADDING {
            return Dispatch::new(sharing, grouped);
        }
    }
    Dispatch::new(variant.on(subgroup), tasks)
}

/// The tasks so that each `size` of them have one query, with empty ones between; `pad` more rows
/// stand above each query.
fn grouped(tasks: &[Task], size: usize, pad: u32) -> Vec<Task> {
    let mut order: Vec<u32> = (0..tasks.len() as u32).collect();
    let query = |place: &u32| {
        let task = &tasks[*place as usize];
        (task.query, task.rows, task.pad)
    };
    order.par_sort_unstable_by_key(|place| (query(place), Reverse(tasks[*place as usize].cols), *place));
    let mut grouped = Vec::with_capacity(tasks.len());
    for same in order.chunk_by(|a, b| query(a) == query(b)) {
        let task = |place: &u32| Task { pad: tasks[*place as usize].pad + pad, ..tasks[*place as usize] };
        grouped.extend(same.iter().map(task));
        grouped.resize(grouped.len().next_multiple_of(size), Task::default());
    }
    grouped
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
        let variants = Variant::tiles(Kernel::Score, scores_of(batch));
        let tiles = Tiles { batch, variants, subgroup: self.card.runtime.device.subgroup };
        let grains = tiles.cells(pairs);
        let mut done = 0;
        let next = |cells: u64| {
            let range = next_range(&grains, &mut done, pairs.len(), cells)?;
            Some((tiles.job(&pairs[range.clone()]), range))
        };
        let take = |answer: Answer, range: Range<usize>| {
            let results = answer.output.as_ref().par_chunks_exact(4);
            let known = hits[range.clone()].par_iter_mut().zip(&pairs[range]);
            known.zip(results).with_min_len(SORT_PAIRS).for_each(|((hit, pair), result)| {
                if tiles.class(pair).is_some() {
                    *hit = Origin { row: 0, col: pair.start }.hit(result);
                }
            });
        };
        self.run_all(batch, inputs, next, take)
    }

    /// Scores pairs whose queries take several strips, grids of tiles.
    pub(super) fn score_grids(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        pairs: &[Pair],
        hits: &mut [Hit],
    ) -> Result<(), EngineError> {
        let is_long = |pair: &Pair| batch.query(pair.query).len() as u32 > STRIP_ROWS && pair.cols() > 0;
        let long = pairs.iter().enumerate().filter(|(_, pair)| is_long(pair)).map(|(index, _)| index);
        let left = self.score_grids_of(batch, inputs, (pairs, long.collect()), hits)?;
        if !left.is_empty() {
            // Without chains nothing waits, so nothing is left this time.
            self.card.chains.store(false, Relaxed);
            self.score_grids_of(batch, inputs, (pairs, left), hits)?;
        }
        Ok(())
    }

    /// Scores those of the pairs; the answer is those for which strips have waited in vain.
    fn score_grids_of(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        (pairs, long): (&[Pair], Vec<usize>),
        hits: &mut [Hit],
    ) -> Result<Vec<usize>, EngineError> {
        let shapes = self.shapes(scores_of(batch));
        let mut left = Vec::new();
        let mut long = long.into_iter().map(|index| (index, &pairs[index])).peekable();
        let next = |cells: u64| {
            let mut grids = Grids::default();
            let mut planned = 0;
            while let Some((index, pair)) = long.peek() {
                let base = pair_task(batch, pair, 0);
                let grid = Grid::padded(base.rows, pair.cols(), shapes.many.capacity());
                if planned > 0
                    && (planned >= cells * GRID_SUBMISSIONS || grids.edges + grid.edges() > JOB_EDGES)
                {
                    break;
                }
                planned += batch.cells(pair);
                grids.push(*index, grid, base, pair.start);
                long.next();
            }
            (planned > 0).then(|| (grids.job(&shapes), grids))
        };
        let take = |answer: Answer, grids: Grids| {
            if answer.output.as_ref().chunks_exact(4).any(gave_up) {
                left.extend(grids.placed.iter().map(|grid| grid.index));
                return;
            }
            let best = |grid: &PlacedGrid| (grid.index, grid.best(answer.output.as_ref()));
            let best: Vec<(usize, Hit)> = grids.placed.par_iter().map(best).collect();
            best.into_iter().for_each(|(index, hit)| hits[index] = hit);
        };
        self.run_all(batch, inputs, next, take)?;
        Ok(left)
    }

    /// The tiles for grids.
    fn shapes(&self, scores: Scores) -> Shapes {
        Shapes {
            many: Variant::joined(Kernel::Score, scores),
            few: Variant::thin(Kernel::Score, scores),
            chained: self.chained_variants(scores),
            tuning: self.tuning,
            subgroup: self.card.runtime.device.subgroup,
        }
    }

    /// The tiles that strips in a chain can be, the least rows first; none where strips can't be chained.
    pub(super) fn chained_variants(&self, scores: Scores) -> Vec<Variant> {
        let may_chain = self.card.chains.load(Relaxed);
        let rows = CHAINED_ROWS.into_iter().filter(|_| may_chain);
        let variant = |rows| Some(Variant::chained(scores, rows)?.on(self.card.runtime.device.subgroup));
        let suits = |variant: &Variant| variant.shuffle || self.tuning.chains.everywhere;
        rows.filter_map(variant).filter(suits).collect()
    }
}

/// Whether a result is that of a chained strip which waited in vain.
pub(super) fn gave_up(result: &[u32]) -> bool {
    result[3] != 0
}

/// The tiles that grids are made of, by how many stand side by side.
struct Shapes {
    many: Variant,
    few: Variant,
    /// Those of strips in a chain.
    chained: Vec<Variant>,
    tuning: Tuning,
    subgroup: Option<u32>,
}

/// The grids of a job.
#[derive(Default)]
struct Grids {
    placed: Vec<PlacedGrid>,
    edges: u64,
}

/// The grid of a pair, and where its edge values, the results of its tiles and its columns in the chain begin.
struct PlacedGrid {
    /// The pair's place among those that are scored, and the first of its columns.
    index: usize,
    start: u32,
    grid: Grid,
    base: Task,
    edges: u64,
    results: u64,
    chain: u32,
}

impl Grids {
    fn push(&mut self, index: usize, grid: Grid, base: Task, start: u32) {
        self.edges += grid.edges();
        self.placed.push(PlacedGrid { index, start, grid, base, edges: 0, results: 0, chain: 0 });
    }

    /// Cuts all grids anew, and places what they take; the job without its dispatches.
    fn cut(&mut self, cut: impl Fn(Grid) -> Grid) -> Job {
        let (mut edges, mut results) = (0, 0);
        for placed in &mut self.placed {
            placed.grid = cut(placed.grid);
            (placed.edges, placed.results) = (edges, results);
            edges += placed.grid.edges();
            results += placed.grid.size();
        }
        Job { edges, output: results * 16, ..Job::default() }
    }

    /// The job of all tiles.
    fn job(&mut self, shapes: &Shapes) -> Job {
        let widest: usize = self.placed.iter().map(|grid| grid.grid.widest() as usize).sum();
        let few = widest < shapes.tuning.few_tiles;
        let strips = |variant: &Variant| -> usize {
            let strips = |placed: &PlacedGrid| placed.base.rows.div_ceil(variant.capacity());
            self.placed.iter().map(|placed| strips(placed) as usize).sum()
        };
        let chains = shapes.tuning.chains;
        let fits = |variant: &&Variant| strips(variant) <= chains.strips;
        match shapes.chained.iter().find(fits).or(shapes.chained.last()) {
            Some(&variant) if few => self.chain(variant, chains),
            _ => self.waves(shapes, widest),
        }
    }

    /// The job of all tiles as chained strips, in which each has those it waits for before it.
    fn chain(&mut self, variant: Variant, chains: Chains) -> Job {
        // All strips in one dispatch, with as many columns as it and their slots can take.
        let rows = || self.placed.iter().map(|placed| placed.base.rows);
        let slots = Chain::slots(rows().max().unwrap_or(0).div_ceil(variant.capacity()));
        let fitting = chains.cells / rows().map(u64::from).sum::<u64>().max(1);
        let fitting = fitting.min(HANDED_COLS / (self.placed.len() as u64 * u64::from(slots)).max(1));
        let run = fitting.max(LEAST_RUN).min(u64::from(chains.cols)) as u32;
        let cut = |grid: Grid| grid.chained(variant.capacity(), run);
        let mut job = self.cut(cut);
        let mut cols = CHAIN_APART;
        for placed in &mut self.placed {
            placed.chain = cols;
            cols += placed.grid.run_cols() + CHAIN_APART;
        }
        let most = |count: fn(&Grid) -> u32| self.placed.iter().map(|grid| count(&grid.grid)).max();
        let (runs, strips) = (most(Grid::runs).unwrap_or(0), most(Grid::strips).unwrap_or(0));
        job.chain = Some(Chain::new(cols, strips, chains.patience));
        // What a run finds on its left lies there when it begins.
        for run in 0..runs {
            let tasks = |strip: u32| self.placed.iter().filter_map(move |grid| grid.chained_task(strip, run));
            job.push_chain(variant, (0..strips).flat_map(tasks), chains.cells);
        }
        job
    }

    /// The job of all tiles, wave by wave; the waves are made side by side.
    fn waves(&mut self, shapes: &Shapes, widest: usize) -> Job {
        let few_tiles = shapes.tuning.few_tiles;
        let mut job = self.cut(|grid| grid.in_tiles_for(widest, few_tiles));
        // So the grids of any wave are the first ones.
        self.placed.sort_by_key(|grid| Reverse(grid.grid.waves()));
        let waves = self.placed.first().map_or(0, |grid| grid.grid.waves());
        let made = |wave: u32| {
            let met = &self.placed[..self.placed.partition_point(|grid| grid.grid.waves() > wave)];
            let tiles = met.iter().map(|grid| grid.grid.wave_size(wave) as usize).sum();
            let mut tasks = Vec::with_capacity(usize::next_multiple_of(tiles, TASK_ALIGNMENT));
            met.iter().for_each(|grid| tasks.extend(grid.tasks(wave)));
            let few = tasks.len() < few_tiles;
            dispatch(if few { shapes.few } else { shapes.many }, tasks, shapes.subgroup)
        };
        let waves: Vec<Dispatch> = (0..waves).into_par_iter().map(made).collect();
        waves.into_iter().for_each(|wave| job.push(wave));
        job
    }
}

impl PlacedGrid {
    /// The task of a strip in a chain, where the grid has it.
    fn chained_task(&self, strip: u32, run: u32) -> Option<Task> {
        let tile = self.grid.tile(strip, run)?;
        let result = (self.results + self.grid.place(&tile)) as u32;
        Some(Task { result, ..self.grid.chained_task(&tile, &self.base, self.edges, self.chain) })
    }

    /// The tasks of a wave.
    fn tasks(&self, wave: u32) -> impl Iterator<Item = Task> {
        self.grid.wave(wave, |_| 0..self.grid.cols).map(|tile| {
            let result = (self.results + self.grid.place(&tile)) as u32;
            Task { result, ..self.grid.task(&tile, &self.base, self.edges) }
        })
    }

    /// The first in order of its tiles' hits, among the results of its job.
    fn best(&self, results: &[u32]) -> Hit {
        let first = self.results as usize * 4;
        let results = results[first..first + self.grid.size() as usize * 4].chunks_exact(4);
        let most = results.clone().map(|result| result[0]).max();
        let hit = |(place, result): (u64, &[u32])| {
            let (row, col) = self.grid.first_cell(place);
            // The kernel counts from the query's first row in the tile.
            Origin { row, col: self.start + col }.hit(result)
        };
        let highest = (0..).zip(results).filter(|(_, result)| Some(result[0]) == most);
        highest.map(hit).min_by(Hit::order).unwrap_or_default()
    }
}

/// The task of a pair without rows above the query.
fn pair_task(batch: &Batch, pair: &Pair, result: u32) -> Task {
    Task {
        query: batch.queries.start(pair.query as usize) as u32,
        rows: batch.query(pair.query).len() as u32,
        target_: batch.targets.start(pair.target as usize) as u32 + pair.start,
        cols: pair.cols(),
        own: pair.own - pair.start,
        result,
        ..Task::default()
    }
}
