//! Sweeps that store checkpoints: the edges between the blocks of a long alignment.

use crate::engine::carry::EdgeSlice;
use crate::engine::checkpoints::Checkpoints;
use crate::engine::gpu::Cols;
use crate::engine::gpu::job::{Chain, Dispatch, Job};
use crate::engine::gpu::layout::CHAIN_APART;
use crate::engine::gpu::plan::grid::Grid;
use crate::engine::gpu::plan::strips::{chained, suited};
use crate::engine::gpu::plan::{DeviceLimits, WholeTile, blank, fitting, gave_up, in_waves};
use crate::engine::gpu::tasks::JoinedTask;
use crate::engine::gpu::variant::{KernelResults, KernelScoring, STRIP_ROWS, TileVariant};
use crate::engine::{Block, Edge, Edges};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use std::ops::Range;

/// A sweep over some rows of the parts of a block, which stores the edges between the parts.
#[derive(Clone)]
pub struct CheckpointSweep {
    pub band: Block,
    /// The block's last part.
    last: Block,
    pub grid: Grid,
    /// Index of its first edge value in its job.
    edges: u64,
}

impl CheckpointSweep {
    /// The sweep of these rows of parts, in tiles for many concurrent tiles.
    pub fn new(checkpoints: &Checkpoints, parts: Cols) -> CheckpointSweep {
        let (down, across) = (checkpoints.down(), checkpoints.across());
        let band = checkpoints.parts(parts, 0..across);
        let last = checkpoints.parts(down - 1..down, across - 1..across);
        let (rows, cols) = (to_u32(band.rows.len()), to_u32(band.cols.len()));
        let grid = Grid::unpadded(rows, cols, STRIP_ROWS).with_lines(checkpoints.side());
        CheckpointSweep { band, last, grid, edges: 0 }
    }

    /// The same sweep, in tiles for at most `widest` concurrent tiles.
    pub fn in_tiles_for(self, widest: usize, few: usize) -> CheckpointSweep {
        CheckpointSweep { grid: self.grid.in_tiles_for(widest, few), ..self }
    }

    /// The columns that a strip has to sweep.
    fn needed(&self, strip: u32) -> Cols {
        let (band, rows) = (&self.band, self.grid.rows_of(strip));
        let first = i64::from(band.rows.start);
        let cols = band.window.band_cols(first + rows.start..first + rows.end);
        let behind = first + rows.start >= i64::from(self.last.rows.start);
        let end = if behind { self.last.cols.start } else { band.cols.end };
        let place = |col: u32| col.clamp(band.cols.start, end) - band.cols.start;
        place(cols.start)..place(cols.end)
    }

    /// The edge values that enter it, at their positions in its job.
    pub fn entering(&self, checkpoints: &Checkpoints, pieces: usize) -> Vec<(u64, Edge)> {
        let entering = self.grid.entering(&checkpoints.entering(&self.band), pieces);
        entering.into_iter().map(|(place, edge)| (place + self.edges, edge)).collect()
    }

    /// The edges that it stores on lines: for each line, the first column or strip, and the range of the values in its
    /// job.
    pub fn left(&self) -> [Vec<(u32, Range<u64>)>; 2] {
        let needed = |strip: u32| self.needed(strip);
        let placed =
            |(first, values): (u32, Range<u64>)| (first, self.edges + values.start..self.edges + values.end);
        [self.grid.horizontal_lines(needed), self.grid.vertical_lines(needed)]
            .map(|lines| lines.into_iter().map(placed).collect())
    }

    /// Stores the edges that were read back.
    pub fn keep<'a>(&self, checkpoints: &mut Checkpoints, mut read: impl Iterator<Item = EdgeSlice<'a>>) {
        let (band, side) = (&self.band, checkpoints.side());
        let [below, right] = self.left();
        for ((line, (first_col, _)), values) in (1..).zip(below).zip(read.by_ref()) {
            let row = band.rows.end.min(band.rows.start + line * side);
            checkpoints.leave_below(row, band.cols.start + first_col, &values.cut(0..values.len()));
        }
        for ((line, (first_strip, _)), values) in (1..).zip(right).zip(read) {
            let first_row = band.rows.start + to_u32(self.grid.first_row(first_strip));
            let values = self.grid.line_rows(first_strip, values);
            checkpoints.leave_right(first_row, band.cols.start + line * side, &values);
        }
    }
}

/// The grid of one block, and the job of its tiles in waves, which stores the block's edges.
pub fn block_job(batch: &Batch, block: &Block, edges: &Edges, variant: TileVariant) -> (Grid, Job) {
    let grid = Grid::unpadded(to_u32(block.rows.len()), to_u32(block.cols.len()), variant.capacity());
    let whole = WholeTile::block(batch, block);
    let tasks = |grid: &Grid, wave: u32, tasks: &mut Vec<JoinedTask>| {
        for tile in grid.wave(wave, |_| 0..grid.cols) {
            // Nothing reads the best cell of a tile, but it still needs a position in the wave.
            tasks.push(grid.joined_task(&tile, &whole, 0, to_u32(tasks.len())));
        }
    };
    let mut job = Job {
        edges: grid.edges(),
        output: grid.size() * 16,
        blank: blank(variant.mode),
        entering: grid.entering(edges, variant.pieces),
        leaving: grid.leaving(),
        ..Job::default()
    };
    let waves = in_waves(&[grid], |grid| (0, grid), tasks, |tasks| Dispatch::new(variant, tasks));
    waves.into_iter().for_each(|wave| job.push(wave));
    (grid, job)
}

/// Whether a job can hold a sweep.
pub fn fits(sweep: &CheckpointSweep, limits: &DeviceLimits) -> bool {
    let size = [sweep.grid.edges(), sweep.grid.size()];
    size.iter().zip(limits.job_room()).all(|(size, most)| *size <= most)
}

/// The sweep of only these rows of parts.
pub fn alone(checkpoints: &Checkpoints, parts: Cols, limits: &DeviceLimits) -> CheckpointSweep {
    let sweep = CheckpointSweep::new(checkpoints, parts);
    let widest = sweep.grid.widest() as usize;
    sweep.in_tiles_for(widest, limits.tuning.few_tiles)
}

/// The sweeps of the first windows, as many as a job can hold together, at least one.
pub fn side_by_side(all: &[Checkpoints], limits: &DeviceLimits) -> Vec<CheckpointSweep> {
    let sweep = |checkpoints: &Checkpoints| CheckpointSweep::new(checkpoints, 0..checkpoints.down());
    let count = fitting(all, limits.job_room(), |checkpoints| {
        let grid = sweep(checkpoints).grid;
        [grid.edges(), grid.in_tiles_for(0, 1).size()]
    });
    let mut sweeps: Vec<CheckpointSweep> = all.iter().take(count).map(sweep).collect();
    let widest = sweeps.iter().map(|sweep| sweep.grid.widest() as usize).sum();
    let mut edges = 0;
    for sweep in &mut sweeps {
        sweep.grid = sweep.grid.in_tiles_for(widest, limits.tuning.few_tiles);
        sweep.edges = edges;
        edges += sweep.grid.edges();
    }
    sweeps
}

/// The variant for sweeping a grid as a chain of strips. This requires that the grid begins with the window, that few
/// tiles run concurrently, and that a dispatch holds all columns.
pub fn chained_over(
    grid: &Grid,
    entering: &Edges,
    scoring: KernelScoring,
    limits: &DeviceLimits,
) -> Option<TileVariant> {
    let begins = entering.corner == 0 && entering.horizontal.is_empty() && entering.vertical.is_empty();
    let chains = limits.tuning.chains;
    let few = (grid.widest() as usize) < limits.tuning.few_tiles && grid.cols <= chains.cols;
    let variants = chained(scoring, limits).into_iter().filter(|_| begins && few);
    let lined: Vec<TileVariant> = variants.filter_map(TileVariant::with_lines).collect();
    suited(&lined, &chains, |rows| grid.rows.div_ceil(rows) as usize)
}

/// A sweep as a chain of strips, and its job.
pub fn chain(
    batch: &Batch,
    sweep: &CheckpointSweep,
    side: u32,
    variant: TileVariant,
    limits: &DeviceLimits,
) -> (CheckpointSweep, Job) {
    let grid = sweep.grid.chained_with_lines(variant.capacity());
    let sweep = CheckpointSweep { grid, ..sweep.clone() };
    let whole = WholeTile::block(batch, &sweep.band);
    let task = |strip: u32| {
        let above = strip.checked_sub(1).map_or(0..0, |above| sweep.needed(above));
        grid.lined_task(strip, sweep.needed(strip), above, &whole.span, CHAIN_APART)
    };
    let chains = limits.tuning.chains;
    let chain = Chain::new(grid.cols + 2 * CHAIN_APART, grid.strips(), chains.patience);
    let apart = grid.lines_apart();
    let mut job = Job {
        edges: grid.edges() + apart,
        output: u64::from(grid.strips()) * 16,
        chain: Some(chain.with_lines(side, to_u32(apart))),
        leaving: leaving(std::slice::from_ref(&sweep)),
        ..Job::default()
    };
    job.push_chain(variant, (0..grid.strips()).map(task), chains.cells);
    (sweep, job)
}

/// The job of concurrent sweeps in waves.
pub fn waves(
    batch: &Batch,
    sweeps: &[CheckpointSweep],
    scoring: KernelScoring,
    limits: &DeviceLimits,
) -> Job {
    let (many, few) = (
        TileVariant::joined(KernelResults::Score, scoring),
        TileVariant::thin(KernelResults::Score, scoring),
    );
    let mode = batch.scoring.mode;
    let (many, few) = (many.in_mode(mode), few.in_mode(mode));
    let based: Vec<(&CheckpointSweep, WholeTile)> =
        sweeps.iter().map(|sweep| (sweep, WholeTile::block(batch, &sweep.band))).collect();
    let tasks = |(sweep, whole): &(&CheckpointSweep, WholeTile), wave: u32, tasks: &mut Vec<JoinedTask>| {
        for tile in sweep.grid.wave(wave, |strip| sweep.needed(strip)) {
            // Nothing reads the best cell of a tile, but it still needs a position in the wave.
            let result = to_u32(tasks.len());
            tasks.push(sweep.grid.joined_task(&tile, whole, sweep.edges, result));
        }
    };
    let dispatch = |tasks: Vec<JoinedTask>| {
        let variant = if tasks.len() < limits.tuning.few_tiles { few } else { many };
        Dispatch::new(variant.on(limits.subgroup), tasks)
    };
    let strips: u64 = sweeps.iter().map(|sweep| u64::from(sweep.grid.strips())).sum();
    let edges = sweeps.last().map_or(0, |last| last.edges + last.grid.edges());
    let (output, leaving, blank) = (strips * 16, leaving(sweeps), blank(mode));
    let mut job = Job { edges, blank, output, leaving, ..Job::default() };
    let waves = in_waves(&based, |(sweep, _)| (0, &sweep.grid), tasks, dispatch);
    waves.into_iter().for_each(|wave| job.push(wave));
    job
}

/// The ranges of the edge values that sweeps store.
fn leaving(sweeps: &[CheckpointSweep]) -> Vec<Range<u64>> {
    let lines = sweeps.iter().flat_map(|sweep| sweep.left().into_iter().flatten());
    lines.map(|(_, values)| values).collect()
}

/// Whether a strip of the only sweep in a chain gave up waiting.
pub fn has_given_up(sweep: &CheckpointSweep, results: &[u32]) -> bool {
    // Strips without columns have no result.
    let has_result = |strip: usize| !sweep.needed(to_u32(strip)).is_empty();
    let mut results = results.chunks_exact(4).enumerate();
    results.any(|(strip, result)| has_result(strip) && gave_up(result))
}
