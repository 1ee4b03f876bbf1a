//! Directions: of windows inside their bands, and of whole blocks.

use crate::batch::Batch;
use crate::engine::directions::Layout;
use crate::engine::gpu::grid::{Grid, GridTile};
use crate::engine::gpu::job::{Answer, Dispatch, EdgeValues, Job};
use crate::engine::gpu::lattice::block_task;
use crate::engine::gpu::layout::Task;
use crate::engine::gpu::shader::{Kernel, Scores, Variant};
use crate::engine::gpu::{Gpu, JOB_EDGES, longest_first, scores_of, span};
use crate::engine::{Block, Directions, Edges, Tile, Window};
use crate::error::EngineError;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Direction words of a job, unless one window takes more: 128 MiB.
const JOB_WORDS: u64 = 1 << 25;

/// The tiles of one window and the tasks that fill them.
struct Plan {
    variant: Variant,
    tiles: Vec<Tile>,
    /// Wave of each task; with a place among the window's tiles.
    tasks: Vec<(u32, Task)>,
    edges: u64,
}

impl Plan {
    fn new(batch: &Batch, window: &Window, scores: Scores, subgroup: Option<u32>) -> Plan {
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
            let variant = variant.on(subgroup);
            return Plan { variant, tiles: vec![tile], tasks: vec![(0, Task { pad, ..base })], edges: 0 };
        }
        let variant = Variant::joined(Kernel::Fill, scores).on(subgroup);
        let grid = Grid::padded(rows, cols, variant.capacity());
        let mut plan = Plan { variant, tiles: vec![], tasks: vec![], edges: grid.edges() };
        for tile in grid.tiles(|strip| window.band_cols(grid.rows_of(strip))) {
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
        job.push(Dispatch::new(variant, longest_first(tasks)));
    }
    job.output = layout.words * 4;
    (job, layout)
}

/// A task that keeps the directions of `tile`.
fn keeping(tile: &Tile, task: Task) -> Task {
    Task { directions: tile.offset as u32, band_first: tile.band_first, stored: tile.stored, ..task }
}
impl Gpu {
    /// The directions of `windows`.
    pub(super) fn fill_windows(
        &mut self,
        batch: &Batch,
        windows: &[Window],
    ) -> Result<Directions, EngineError> {
        let residues = span(batch, windows, |window| (window.target, window.start..window.target_end));
        let inputs = self.inputs(batch, residues)?;
        let scores = scores_of(batch);
        let subgroup = self.card.device.subgroup;
        let mut rest = windows
            .par_iter()
            .map(|window| Plan::new(batch, window, scores, subgroup))
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

    /// The edges that a block leaves, swept in the waves of its grid.
    pub(super) fn sweep_block(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
    ) -> Result<Edges, EngineError> {
        let inputs = self.inputs(batch, residues_of(batch, block))?;
        let variant = Variant::thin(Kernel::Score, scores_of(batch)).on(self.card.device.subgroup);
        let grid = Grid::unpadded(block.rows.len() as u32, block.cols.len() as u32, variant.capacity());
        let base = block_task(batch, block);
        let mut waves = Waves::default();
        // What a tile's best cell is does not matter here, but has its place.
        for (tile, place) in grid.tiles(|_| 0..grid.cols).zip(0..) {
            waves.push(tile.wave, Task { result: place, ..grid.task(&tile, &base, 0) });
        }
        let mut job = waves.job(variant);
        (job.edges, job.output) = (grid.edges(), grid.size() * 16);
        job.entering = grid.entering(edges);
        job.leaving = grid.leaving();
        let answer = self.run(batch, &inputs, &job)?;
        Ok(grid.left_behind(answer.leaving))
    }

    /// The directions of blocks, whose grids run side by side.
    pub(super) fn fill_all_blocks(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
    ) -> Result<Directions, EngineError> {
        let residues = span(batch, blocks, |(block, _)| (block.window.target, block.target_cols()));
        let inputs = self.inputs(batch, residues)?;
        let variant = Variant::thin(Kernel::Fill, scores_of(batch)).on(self.card.device.subgroup);
        let (mut waves, mut layout) = (Waves::default(), Layout::default());
        let (mut entering, mut edge_values) = (Vec::new(), 0);
        for (block, edges) in blocks {
            let grid = Grid::unpadded(block.rows.len() as u32, block.cols.len() as u32, variant.capacity());
            let base = block_task(batch, block);
            let tiles: Vec<GridTile> = grid.tiles(|_| 0..grid.cols).collect();
            let kept = |tile: &GridTile| {
                Tile::skewed(grid.first_row(tile.strip), &tile.cols, variant.lanes, variant.rows)
            };
            for (tile, kept) in tiles.iter().zip(layout.push_window(tiles.iter().map(kept))) {
                waves.push(tile.wave, keeping(kept, grid.task(tile, &base, edge_values)));
            }
            let place = |(place, values): (u64, EdgeValues)| (place + edge_values, values);
            entering.extend(grid.entering(edges).into_iter().map(place));
            edge_values += grid.edges();
        }
        let mut job = waves.job(variant);
        (job.edges, job.output, job.entering) = (edge_values, layout.words * 4, entering);
        let answer = self.run(batch, &inputs, &job)?;
        Ok(Directions::new(layout, Box::new(answer.output)))
    }
}

/// The tasks of one variant, by wave.
#[derive(Default)]
struct Waves(BTreeMap<u32, Vec<Task>>);

impl Waves {
    fn push(&mut self, wave: u32, task: Task) {
        self.0.entry(wave).or_default().push(task);
    }

    fn job(self, variant: Variant) -> Job {
        let mut job = Job::default();
        self.0.into_values().for_each(|tasks| job.push(Dispatch::new(variant, tasks)));
        job
    }
}

/// The residues of the targets that a block takes.
pub fn residues_of(batch: &Batch, block: &Block) -> Range<usize> {
    span(batch, std::slice::from_ref(block), |block| (block.window.target, block.target_cols()))
}
