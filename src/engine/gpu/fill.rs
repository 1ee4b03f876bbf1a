//! Directions: of windows inside their bands, and of whole blocks.

use crate::batch::Batch;
use crate::engine::directions::Layout;
use crate::engine::gpu::grid::{Grid, GridTile};
use crate::engine::gpu::job::{Answer, Dispatch, Job};
use crate::engine::gpu::lattice::block_task;
use crate::engine::gpu::layout::Task;
use crate::engine::gpu::shader::{Kernel, Scores, Variant};
use crate::engine::gpu::{Gpu, JOB_EDGES, longest_first, scores_of};
use crate::engine::{Block, Directions, Edges, Swept, Tile, Window};
use crate::error::EngineError;
use rayon::prelude::*;
use std::collections::BTreeMap;

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
        let inputs = self.inputs(batch)?;
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

    /// Sweeps a block, in the waves of its grid.
    pub(super) fn sweep_block(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        keep: bool,
    ) -> Result<Swept, EngineError> {
        let inputs = self.inputs(batch)?;
        let kernel = if keep { Kernel::Fill } else { Kernel::Score };
        let variant = Variant::thin(kernel, scores_of(batch)).on(self.card.device.subgroup);
        let grid = Grid::unpadded(block.rows.len() as u32, block.cols.len() as u32, variant.capacity());
        let base = block_task(batch, block);
        let tiles: Vec<GridTile> = grid.tiles(|_| 0..grid.cols).collect();
        let kept = |tile: &GridTile| {
            Tile::skewed(grid.first_row(tile.strip), &tile.cols, variant.lanes, variant.rows)
        };
        let mut layout = Layout::default();
        layout.push_window(tiles.iter().map(kept));
        let mut waves: BTreeMap<u32, Vec<Task>> = BTreeMap::new();
        for (place, (tile, kept)) in tiles.iter().zip(&layout.tiles).enumerate() {
            let task = Task { result: place as u32, ..grid.task(tile, &base, 0) };
            let task = if keep { keeping(kept, task) } else { task };
            waves.entry(tile.wave).or_default().push(task);
        }
        let mut job = Job { edges: grid.edges(), ..Job::default() };
        for wave in waves.into_values() {
            job.push(Dispatch::new(variant, wave));
        }
        job.entering = grid.entering(edges);
        job.leaving = grid.leaving();
        match keep {
            true => job.output = layout.words * 4,
            // What a tile's best cell is does not matter here, but has its place.
            false => job.output = tiles.len() as u64 * 16,
        }
        let answer =
            self.runner.run(&self.card.device, &self.card.pipelines, &inputs, &batch.scoring, &job)?;
        let directions = keep.then(|| Directions::new(layout, Box::new(answer.output)));
        Ok(Swept { edges: grid.left_behind(answer.leaving), directions })
    }
}
