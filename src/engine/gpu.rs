//! The GPU engine: the recurrence in WGSL kernels, through wgpu.
//!
//! A query that fits one tile takes one task a pair; several short ones share a workgroup. Longer
//! queries are cut into strips of rows and their targets into runs of columns; the tiles of such a
//! grid run in waves along its anti-diagonals, and hand H, E and F on through edge buffers.

mod buffers;
mod device;
mod grid;
mod job;
pub mod layout;
mod pipeline;
pub mod shader;

pub use device::{AdapterEntry, list};

use crate::alignment::Hit;
use crate::batch::{Batch, Pair, Sequences, counting_sort_descending};
use crate::engine::directions::Layout;
use crate::engine::{Block, Directions, Edges, Engine, Swept, Tile, Window};
use crate::error::EngineError;
use crate::scoring::Substitution;
use device::Device;
use grid::{Grid, GridTile};
use job::{Answer, Inputs, Job, Pending, Runner};
use layout::{Letters, Task};
use pipeline::Pipelines;
use rayon::prelude::*;
use shader::{Kernel, STRIP_ROWS, Scores, Variant};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// Tasks of a job, at most: their results and records stay small beside the sequences.
const JOB_TASKS: usize = 1 << 19;
/// Edge values of a job, at most: 256 MiB.
const JOB_EDGES: u64 = 1 << 25;
/// Direction words of a job, unless one window takes more: 128 MiB.
const JOB_WORDS: u64 = 1 << 25;
/// Keys of the counting sort by columns.
const COLS_CLASSES: u32 = 1 << 14;
const COLS_PER_CLASS: u32 = 4;

/// An open GPU; engines on it share its queue, its kernels and the targets that were uploaded last.
pub struct Card {
    device: Device,
    pipelines: Pipelines,
    targets: Mutex<Option<(Weak<Sequences>, Letters, wgpu::Buffer)>>,
}

impl Card {
    /// Opens the adapter that `wanted` names (index, PCI id, part of the name), or the best real GPU.
    /// `checked` keeps the shaders' bounds checks.
    pub fn open(wanted: Option<&str>, checked: bool) -> Result<Arc<Card>, EngineError> {
        let device = Device::open(wanted, checked)?;
        Ok(Arc::new(Card { device, pipelines: Pipelines::default(), targets: Mutex::new(None) }))
    }

    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// The packed targets on the device.
    fn targets(&self, targets: &Arc<Sequences>, letters: Letters) -> Result<wgpu::Buffer, EngineError> {
        let mut cached =
            self.targets.lock().map_err(|_| EngineError::Lost("uploading the targets failed".to_string()))?;
        if let Some((known, packed_as, buffer)) = cached.as_ref()
            && known.upgrade().is_some_and(|known| Arc::ptr_eq(&known, targets))
            && *packed_as == letters
        {
            return Ok(buffer.clone());
        }
        *cached = None;
        let buffer = upload_sequences(&self.device, "targets", targets, |codes| letters.pack_targets(codes))?;
        *cached = Some((Arc::downgrade(targets), letters, buffer.clone()));
        Ok(buffer)
    }
}

fn upload_sequences(
    device: &Device,
    label: &'static str,
    sequences: &Sequences,
    pack: impl Fn(&[u8]) -> Vec<u32>,
) -> Result<wgpu::Buffer, EngineError> {
    if u32::try_from(sequences.codes().len()).is_err() {
        return Err(EngineError::Unsupported(format!(
            "{} residues of {label} are more than a device can index; use --device cpu",
            sequences.codes().len()
        )));
    }
    buffers::upload(device, label, &pack(sequences.codes()))
}

/// The GPU engine.
pub struct Gpu {
    card: Arc<Card>,
    runner: Runner,
}

impl Gpu {
    pub fn new(card: Arc<Card>) -> Gpu {
        let runner = Runner::new(&card.device);
        Gpu { card, runner }
    }

    /// Time spent in kernels so far by the device's clock; zero where it has none.
    pub fn kernel_time(&self) -> Duration {
        self.runner.kernel_time
    }

    fn inputs(&self, batch: &Batch) -> Result<Inputs, EngineError> {
        let letters = scores_of(batch).letters();
        let device = &self.card.device;
        let scores = match &batch.scoring.substitution {
            Substitution::Equal { .. } => None,
            Substitution::Matrix(matrix) => {
                Some(buffers::upload(device, "scores", &Letters::pack_scores(matrix))?)
            }
        };
        Ok(Inputs {
            queries: upload_sequences(device, "queries", &batch.queries, |codes| {
                letters.pack_queries(codes)
            })?,
            targets: self.card.targets(&batch.targets, letters)?,
            scores,
        })
    }

    fn begin(&mut self, batch: &Batch, inputs: &Inputs, job: &Job) -> Result<Pending, EngineError> {
        self.runner.begin(&self.card.device, &self.card.pipelines, inputs, &batch.scoring, job)
    }

    fn finish(&mut self, pending: Pending) -> Result<Answer, EngineError> {
        self.runner.finish(&self.card.device, pending)
    }

    /// Runs the jobs, two of them under way at a time, and passes each answer on with what came with
    /// its job.
    fn run_all<T>(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        mut next: impl FnMut(u64) -> Option<(Job, T)>,
        mut take: impl FnMut(Answer, T),
    ) -> Result<(), EngineError> {
        let mut under_way: Option<(Pending, T)> = None;
        loop {
            let begun = match next(self.runner.cells()) {
                Some((job, with)) => Some((self.begin(batch, inputs, &job)?, with)),
                None => None,
            };
            let done = begun.is_none();
            if let Some((pending, with)) = std::mem::replace(&mut under_way, begun) {
                take(self.finish(pending)?, with);
            }
            if done {
                return Ok(());
            }
        }
    }
}

/// How kernels find a batch's substitution scores.
fn scores_of(batch: &Batch) -> Scores {
    Scores::of(&batch.scoring, batch.queries.iter().map(<[u8]>::len).max().unwrap_or(0))
}

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
            classes[place].2.push(cols / COLS_PER_CLASS);
        }
    }
    let sorted = |(variant, items, keys): (Variant, Vec<u32>, Vec<u32>)| {
        let order = counting_sort_descending(&keys, COLS_CLASSES);
        (variant, order.into_iter().map(|place| items[place as usize]).collect())
    };
    classes.into_iter().map(sorted).collect()
}

impl Gpu {
    /// Scores pairs whose queries fit one tile.
    fn score_tiles(
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
    fn score_grids(
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
fn finish_results(job: &mut Job) {
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

/// The tiles of one window and the tasks that fill them.
struct Plan {
    variant: Variant,
    tiles: Vec<Tile>,
    /// Wave of each task; with a place among the window's tiles.
    tasks: Vec<(u32, Task)>,
    edges: u64,
}

impl Plan {
    fn new(batch: &Batch, window: &Window, scores: Scores) -> Plan {
        let (rows, cols) = (window.query_end, window.target_end - window.start);
        let base = Task {
            query: batch.queries.start(window.query as usize) as u32,
            rows,
            target_: batch.targets.start(window.target as usize) as u32 + window.start,
            cols,
            ..Task::default()
        };
        if let Some(variant) = Variant::holding(Kernel::Fill, scores, rows) {
            let pad = variant.capacity() - rows;
            let tile = Tile::new(window, -(pad as i32), 0..cols, (variant.lanes, variant.rows, 1));
            return Plan { variant, tiles: vec![tile], tasks: vec![(0, Task { pad, ..base })], edges: 0 };
        }
        let variant = Variant::joined(Kernel::Fill, scores);
        let grid = Grid::padded(rows, cols, variant.capacity());
        let mut plan = Plan { variant, tiles: vec![], tasks: vec![], edges: grid.edges() };
        for tile in grid.tiles(|strip| grid.band_cols(window, strip)) {
            plan.tasks.push((tile.wave, grid.task(&tile, &base, 0)));
            let shape = (variant.lanes, variant.rows, 1);
            plan.tiles.push(Tile::new(window, grid.first_row(tile.strip), tile.cols, shape));
        }
        plan
    }

    fn words(&self) -> u64 {
        self.tiles.iter().map(Tile::words).sum()
    }
}

/// A fill job for `plans`, and where their directions will lie.
fn fill_job(plans: &[Plan]) -> (Job, Layout) {
    let mut job = Job::default();
    let mut classes: BTreeMap<(u32, u32, u32), (Variant, Vec<Task>)> = BTreeMap::new();
    let mut layout = Layout::default();
    for plan in plans {
        let tiles = layout.push_window(plan.tiles.iter().copied());
        for ((wave, task), tile) in plan.tasks.iter().zip(tiles) {
            let task = Task {
                horizontal: task.horizontal + job.edges as u32,
                vertical: task.vertical + job.edges as u32,
                ..keeping(tile, *task)
            };
            let key = (*wave, plan.variant.capacity(), u32::from(plan.variant.edges));
            classes.entry(key).or_insert((plan.variant, vec![])).1.push(task);
        }
        job.edges += plan.edges;
    }
    for (variant, tasks) in classes.into_values() {
        let keys: Vec<u32> = tasks.iter().map(|task| task.cols / COLS_PER_CLASS).collect();
        let order = counting_sort_descending(&keys, COLS_CLASSES);
        job.push(variant, order.into_iter().map(|place| tasks[place as usize]));
    }
    job.output = layout.words * 4;
    (job, layout)
}

/// A task that keeps the directions of `tile`.
fn keeping(tile: &Tile, task: Task) -> Task {
    Task { directions: tile.offset as u32, band_first: tile.band_first, stored: tile.stored, ..task }
}

impl Engine for Gpu {
    fn describe(&self) -> String {
        format!("GPU {}", self.card.name())
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        let inputs = self.inputs(batch)?;
        let mut hits = vec![Hit::default(); pairs.len()];
        self.score_tiles(batch, &inputs, pairs, &mut hits)?;
        self.score_grids(batch, &inputs, pairs, &mut hits)?;
        Ok(hits)
    }

    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        let inputs = self.inputs(batch)?;
        let scores = scores_of(batch);
        let mut rest = windows
            .par_iter()
            .map(|window| Plan::new(batch, window, scores))
            .collect::<Vec<_>>()
            .into_iter()
            .peekable();
        let next = |_| {
            let (mut plans, mut words, mut edges) = (Vec::<Plan>::new(), 0, 0);
            // A window that is larger than a job should be takes one of its own.
            while let Some(plan) = rest.next_if(|plan| {
                let fits = words + plan.words() <= JOB_WORDS && edges + plan.edges <= JOB_EDGES;
                fits || plans.is_empty()
            }) {
                words += plan.words();
                edges += plan.edges;
                plans.push(plan);
            }
            (!plans.is_empty()).then(|| fill_job(&plans))
        };
        let mut all = Directions::default();
        let take =
            |answer: Answer, layout: Layout| all.append(Directions::new(layout, Box::new(answer.output)));
        self.run_all(batch, &inputs, next, take)?;
        Ok(all)
    }

    fn sweep(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        keep: bool,
    ) -> Result<Swept, EngineError> {
        let inputs = self.inputs(batch)?;
        let kernel = if keep { Kernel::Fill } else { Kernel::Score };
        let variant = Variant::joined(kernel, scores_of(batch));
        let grid = Grid::unpadded(block.rows.len() as u32, block.cols.len() as u32, variant.capacity());
        let base = Task {
            query: batch.queries.start(block.query as usize) as u32 + block.rows.start,
            target_: batch.targets.start(block.target as usize) as u32 + block.cols.start,
            own: u32::MAX,
            ..Task::default()
        };
        let tiles: Vec<GridTile> = grid.tiles(|_| 0..grid.cols).collect();
        let kept = |tile: &GridTile| {
            Tile::skewed(grid.first_row(tile.strip), &tile.cols, variant.lanes, variant.rows)
        };
        let mut layout = Layout::default();
        layout.push_window(tiles.iter().map(kept));
        let mut waves: BTreeMap<u32, Vec<Task>> = BTreeMap::new();
        for (tile, kept) in tiles.iter().zip(&layout.tiles) {
            waves.entry(tile.wave).or_default().push(keeping(kept, grid.task(tile, &base, 0)));
        }
        let mut job = Job { edges: grid.edges(), ..Job::default() };
        for wave in waves.into_values() {
            job.push(variant, wave);
        }
        job.entering = grid.entering(edges);
        job.leaving = grid.leaving();
        match keep {
            true => job.output = layout.words * 4,
            false => finish_results(&mut job),
        }
        let answer =
            self.runner.run(&self.card.device, &self.card.pipelines, &inputs, &batch.scoring, &job)?;
        let directions = keep.then(|| Directions::new(layout, Box::new(answer.output)));
        Ok(Swept { edges: grid.left_behind(answer.leaving), directions })
    }
}

/// A range of 32-bit columns.
type Cols = Range<u32>;
