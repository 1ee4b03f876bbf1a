//! The edges between the parts of a long alignment, left by one sweep over many of them.

use crate::batch::Batch;
use crate::engine::checkpoints::{Checkpoints, block_by_block};
use crate::engine::gpu::fill::residues_of;
use crate::engine::gpu::grid::Grid;
use crate::engine::gpu::job::{Chain, Dispatch, Inputs, Job};
use crate::engine::gpu::layout::{CHAIN_APART, Task};
use crate::engine::gpu::score::gave_up;
use crate::engine::gpu::shader::{Kernel, STRIP_ROWS, Variant};
use crate::engine::gpu::{Cols, Gpu, JOB_EDGES, scores_of, span};
use crate::engine::{Block, Edges, Window};
use crate::error::EngineError;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// A sweep over some rows of a lattice's parts.
#[derive(Clone)]
struct Sweep {
    band: Block,
    /// The last part of the lattice: nothing lies behind it.
    last: Block,
    grid: Grid,
    /// Its first edge value among those of its job.
    edges: u64,
}

impl Sweep {
    /// The sweep of these rows of parts in tiles for where many are side by side.
    fn new(lattice: &Checkpoints, parts: Cols) -> Sweep {
        let (down, across) = (lattice.down(), lattice.across());
        let band = lattice.parts(parts, 0..across);
        let last = lattice.parts(down - 1..down, across - 1..across);
        let (rows, cols) = (band.rows.len() as u32, band.cols.len() as u32);
        let grid = Grid::unpadded(rows, cols, STRIP_ROWS).with_lines(lattice.side());
        Sweep { band, last, grid, edges: 0 }
    }

    /// The same where so many tiles at most are side by side.
    fn in_tiles_for(self, widest: usize, few: usize) -> Sweep {
        Sweep { grid: self.grid.in_tiles_for(widest, few), ..self }
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

    /// What it leaves on lines: of each the first column or strip, and where the values lie in its job.
    fn left(&self) -> [Vec<(u32, Range<u64>)>; 2] {
        let needed = |strip: u32| self.needed(strip);
        let placed =
            |(first, values): (u32, Range<u64>)| (first, self.edges + values.start..self.edges + values.end);
        [self.grid.horizontal_lines(needed), self.grid.vertical_lines(needed)]
            .map(|lines| lines.into_iter().map(placed).collect())
    }

    /// Keeps what it left, as read back.
    fn keep<'a>(&self, lattice: &mut Checkpoints, mut read: impl Iterator<Item = &'a [[i32; 2]]>) {
        let (band, side) = (&self.band, lattice.side());
        let [below, right] = self.left();
        for ((line, (first_col, _)), values) in (1..).zip(below).zip(read.by_ref()) {
            let row = band.rows.end.min(band.rows.start + line * side);
            lattice.leave_below(row, band.cols.start + first_col, values);
        }
        for ((line, (first_strip, _)), values) in (1..).zip(right).zip(read) {
            let first_row = band.rows.start + self.grid.first_row(first_strip) as u32;
            let values = self.grid.line_rows(first_strip, values);
            lattice.leave_right(first_row, band.cols.start + line * side, &values);
        }
    }
}

impl Gpu {
    /// Whether a job can hold the tiles and edge values of grids.
    fn can_hold(&self, tiles: u64, edges: u64) -> bool {
        let most_edges = JOB_EDGES.min(self.card.device.limits.max_storage_buffer_binding_size / 8);
        tiles <= self.tuning.many_tiles && edges <= most_edges
    }

    /// Sweeps a block in bands, each of all its columns and as many rows of parts as a job can hold.
    /// Where not even one fits, the parts are large enough for a grid each.
    pub(super) fn sweep_in_bands(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Checkpoints, EngineError> {
        let mut lattice = Checkpoints::new(block, edges, side);
        let down = lattice.down();
        let mut parts = down;
        while parts > 0 {
            let grid = self.sweep_of(&lattice, 0..parts).grid;
            if self.can_hold(grid.size(), grid.edges()) {
                let inputs = self.inputs(batch, residues_of(batch, block))?;
                let mut bands = (0..down).step_by(parts as usize).map(|first| first..first + parts);
                match bands.try_for_each(|band| self.sweep_band(batch, &inputs, &mut lattice, band)) {
                    Err(EngineError::OutOfMemory(_)) => {}
                    swept => return swept.map(|()| lattice),
                }
            }
            parts = if parts == 1 { 0 } else { parts.div_ceil(2) };
        }
        block_by_block(self, batch, block, edges, side)
    }

    /// Sweeps windows, as many side by side as a job can hold.
    pub(super) fn sweep_side_by_side(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Checkpoints>, EngineError> {
        let none = Edges::default();
        let mut lattices: Vec<Checkpoints> =
            windows.iter().map(|window| Checkpoints::new(&Block::whole(window), &none, side)).collect();
        let residues = span(batch, windows, |window| (window.target, window.start..window.target_end));
        let inputs = self.inputs(batch, residues)?;
        let mut rest = lattices.as_mut_slice();
        while !rest.is_empty() {
            let (mut tiles, mut edges) = (0, 0);
            let placed = |lattice: &Checkpoints| {
                let sweep = Sweep { edges, ..Sweep::new(lattice, 0..lattice.down()) };
                tiles += sweep.grid.in_tiles_for(0, 1).size();
                edges += sweep.grid.edges();
                self.can_hold(tiles, edges).then_some(sweep)
            };
            let sweeps: Vec<Sweep> = rest.iter().map_while(placed).collect();
            // What is alone has all of the device for itself.
            if sweeps.len() < 2 {
                let window = &windows[windows.len() - rest.len()];
                rest[0] = self.sweep_in_bands(batch, &Block::whole(window), &none, side)?;
                rest = &mut rest[1..];
                continue;
            }
            let widest = sweeps.iter().map(|sweep| sweep.grid.widest() as usize).sum();
            let few_tiles = self.tuning.few_tiles;
            let sweeps: Vec<Sweep> =
                sweeps.into_iter().map(|sweep| sweep.in_tiles_for(widest, few_tiles)).collect();
            let job = self.waves(batch, &sweeps);
            let (now, behind) = rest.split_at_mut(sweeps.len());
            self.run_sweeps(batch, &inputs, now, &sweeps, job)?;
            rest = behind;
        }
        Ok(lattices)
    }

    /// The sweep of these rows of a lattice's parts alone.
    fn sweep_of(&self, lattice: &Checkpoints, parts: Cols) -> Sweep {
        let sweep = Sweep::new(lattice, parts);
        let widest = sweep.grid.widest() as usize;
        sweep.in_tiles_for(widest, self.tuning.few_tiles)
    }

    /// Sweeps some rows of a lattice's parts, as one grid.
    fn sweep_band(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        lattice: &mut Checkpoints,
        parts: Cols,
    ) -> Result<(), EngineError> {
        let sweep = self.sweep_of(lattice, parts);
        let entering = lattice.entering(&sweep.band);
        let lattices = std::slice::from_mut(lattice);
        if let Some(variant) = self.chained_over(batch, &sweep.grid, &entering) {
            let sweep = Sweep { grid: sweep.grid.chained_with_lines(variant.capacity()), ..sweep.clone() };
            let job = self.chain(batch, &sweep, lattices[0].side(), variant);
            if self.run_sweeps(batch, inputs, lattices, &[sweep], job)? {
                return Ok(());
            }
            self.card.chains.store(false, Relaxed);
        }
        let waves = self.waves(batch, std::slice::from_ref(&sweep));
        let job = Job { entering: sweep.grid.entering(&entering), ..waves };
        self.run_sweeps(batch, inputs, lattices, &[sweep], job).map(|_| ())
    }

    /// Runs the job of sweeps, and keeps what each leaves on the lines of its lattice; whether it held.
    fn run_sweeps(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        lattices: &mut [Checkpoints],
        sweeps: &[Sweep],
        mut job: Job,
    ) -> Result<bool, EngineError> {
        if job.cells == 0 {
            return Ok(true);
        }
        let lines = sweeps.iter().flat_map(|sweep| sweep.left().into_iter().flatten());
        job.leaving = lines.map(|(_, values)| values).collect();
        let answer = self.run(batch, inputs, &job)?;
        // Strips without columns have no result.
        let has_result = |strip: usize| !sweeps[0].needed(strip as u32).is_empty();
        let mut results = answer.output.as_ref().chunks_exact(4).enumerate();
        if job.chain.is_some() && results.any(|(strip, result)| has_result(strip) && gave_up(result)) {
            return Ok(false);
        }
        let mut read = answer.leaving();
        for (sweep, lattice) in sweeps.iter().zip(lattices) {
            let lines = sweep.left().iter().map(Vec::len).sum();
            sweep.keep(lattice, read.by_ref().take(lines));
        }
        Ok(true)
    }

    /// The strips that sweep a grid as a chain: where it begins with the window, few tiles stand side by side, and
    /// a dispatch takes all columns.
    fn chained_over(&self, batch: &Batch, grid: &Grid, entering: &Edges) -> Option<Variant> {
        let begins = entering.corner == 0 && entering.horizontal.is_empty() && entering.vertical.is_empty();
        let chains = self.tuning.chains;
        let few = (grid.widest() as usize) < self.tuning.few_tiles && grid.cols <= chains.cols;
        let variants = self.chained_variants(scores_of(batch)).into_iter().filter(|_| begins && few);
        let suited: Vec<Variant> = variants.filter_map(Variant::with_lines).collect();
        let fits = |variant: &&Variant| grid.rows.div_ceil(variant.capacity()) as usize <= chains.strips;
        suited.iter().find(fits).or(suited.last()).copied()
    }

    /// The job of a sweep as a chain of strips.
    fn chain(&self, batch: &Batch, sweep: &Sweep, side: u32, variant: Variant) -> Job {
        let (grid, base) = (&sweep.grid, block_task(batch, &sweep.band));
        let task = |strip: u32| {
            let above = strip.checked_sub(1).map_or(0..0, |above| sweep.needed(above));
            grid.lined_task(strip, sweep.needed(strip), above, &base, CHAIN_APART)
        };
        let chain = Chain::new(grid.cols + 2 * CHAIN_APART, grid.strips(), self.tuning.chains.patience);
        let apart = grid.lines_apart();
        let mut job = Job {
            edges: grid.edges() + apart,
            output: u64::from(grid.strips()) * 16,
            chain: Some(chain.with_lines(side, apart as u32)),
            ..Job::default()
        };
        job.push_chain(variant, (0..grid.strips()).map(task), self.tuning.chains.cells);
        job
    }

    /// The job of sweeps side by side in waves.
    fn waves(&self, batch: &Batch, sweeps: &[Sweep]) -> Job {
        let (subgroup, few_tiles) = (self.card.device.subgroup, self.tuning.few_tiles);
        let scores = scores_of(batch);
        let (variant, thin) = (Variant::joined(Kernel::Score, scores), Variant::thin(Kernel::Score, scores));
        let based: Vec<(&Sweep, Task)> =
            sweeps.iter().map(|sweep| (sweep, block_task(batch, &sweep.band))).collect();
        let dispatch = |wave| {
            let tasks = based.iter().flat_map(|(sweep, base)| {
                let tiles = sweep.grid.wave(wave, |strip| sweep.needed(strip));
                tiles.map(|tile| sweep.grid.task(&tile, base, sweep.edges))
            });
            // What a tile's best cell is does not matter here, but has its place in its wave.
            let tasks: Vec<Task> = tasks.zip(0..).map(|(task, result)| Task { result, ..task }).collect();
            let variant = if tasks.len() < few_tiles { thin } else { variant };
            (!tasks.is_empty()).then(|| Dispatch::new(variant.on(subgroup), tasks))
        };
        let waves = sweeps.iter().map(|sweep| sweep.grid.waves()).max().unwrap_or(0);
        let waves: Vec<Dispatch> = (0..waves).into_par_iter().filter_map(dispatch).collect();
        let strips: u64 = sweeps.iter().map(|sweep| u64::from(sweep.grid.strips())).sum();
        let edges = sweeps.last().map_or(0, |last| last.edges + last.grid.edges());
        let mut job = Job { edges, output: strips * 16, ..Job::default() };
        waves.into_iter().for_each(|wave| job.push(wave));
        job
    }
}

/// The task of a whole block in which no cell counts for a score.
pub fn block_task(batch: &Batch, block: &Block) -> Task {
    Task {
        query: batch.queries.start(block.window.query as usize) as u32 + block.rows.start,
        target_: batch.targets.start(block.window.target as usize) as u32 + block.target_cols().start,
        own: u32::MAX,
        ..Task::default()
    }
}
