//! The edges between the parts of a long alignment, left by one sweep over many of them.

use crate::batch::Batch;
use crate::engine::gpu::fill::residues_of;
use crate::engine::gpu::grid::Grid;
use crate::engine::gpu::job::{Chain, Dispatch, Inputs, Job};
use crate::engine::gpu::layout::{CHAIN_APART, Task};
use crate::engine::gpu::score::gave_up;
use crate::engine::gpu::shader::{Kernel, STRIP_ROWS, Variant};
use crate::engine::gpu::{Cols, Gpu, JOB_EDGES, scores_of};
use crate::engine::lattice::{Lattice, block_by_block};
use crate::engine::{Block, Edges};
use crate::error::EngineError;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

impl Gpu {
    /// The grid over a block, with lines between parts of `side` x `side` cells.
    fn grid_over(&self, block: &Block, side: u32) -> Grid {
        let (rows, cols) = (block.rows.len() as u32, block.cols.len() as u32);
        let grid = Grid::unpadded(rows, cols, STRIP_ROWS).with_lines(side);
        grid.in_tiles_for(grid.widest() as usize, self.tuning.few_tiles)
    }

    /// Sweeps a block in bands, each of all its columns and as many rows of parts as a job can hold.
    /// Where not even one fits, the parts are large enough for a grid each.
    pub(super) fn sweep_in_bands(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Lattice, EngineError> {
        let most_edges = JOB_EDGES.min(self.card.device.limits.max_storage_buffer_binding_size / 8);
        let mut lattice = Lattice::new(block, edges, side);
        let (down, across) = (lattice.down(), lattice.across());
        let mut parts = down;
        while parts > 0 {
            let grid = self.grid_over(&lattice.parts(0..parts, 0..across), side);
            if grid.size() <= self.tuning.many_tiles && grid.edges() <= most_edges {
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

    /// Sweeps some rows of a lattice's parts, as one grid.
    fn sweep_band(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        lattice: &mut Lattice,
        parts: Cols,
    ) -> Result<(), EngineError> {
        let (down, across) = (lattice.down(), lattice.across());
        let band = lattice.parts(parts, 0..across);
        let last = lattice.parts(down - 1..down, across - 1..across);
        let needed = |grid: &Grid, strip: u32| {
            let rows = grid.rows_of(strip);
            let first = i64::from(band.rows.start);
            let cols = band.window.band_cols(first + rows.start..first + rows.end);
            // Nothing lies behind the last part.
            let behind = first + rows.start >= i64::from(last.rows.start);
            let end = if behind { last.cols.start } else { band.cols.end };
            let place = |col: u32| col.clamp(band.cols.start, end) - band.cols.start;
            place(cols.start)..place(cols.end)
        };
        let grid = self.grid_over(&band, lattice.side());
        let entering = lattice.entering(&band);
        if let Some(variant) = self.chained_over(batch, &grid, &entering) {
            let grid = grid.chained_with_lines(variant.capacity());
            let needed = |strip: u32| needed(&grid, strip);
            let job = self.chain(batch, &band, (&grid, lattice.side()), variant, needed);
            if self.sweep_grid(batch, inputs, (lattice, &band), (&grid, &needed), job)? {
                return Ok(());
            }
            self.card.chains.store(false, Relaxed);
        }
        let needed = |strip: u32| needed(&grid, strip);
        let job = Job { entering: grid.entering(&entering), ..self.waves(batch, &band, &grid, needed) };
        self.sweep_grid(batch, inputs, (lattice, &band), (&grid, &needed), job).map(|_| ())
    }

    /// Runs the job of a grid over a block, and keeps what it leaves on the lattice's lines; whether it held.
    fn sweep_grid(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        (lattice, block): (&mut Lattice, &Block),
        (grid, needed): (&Grid, &dyn Fn(u32) -> Cols),
        mut job: Job,
    ) -> Result<bool, EngineError> {
        if job.cells == 0 {
            return Ok(true);
        }
        let side = lattice.side();
        let (below, right) = (grid.horizontal_lines(needed), grid.vertical_lines(needed));
        job.leaving = below.iter().chain(&right).map(|(_, values)| values.clone()).collect();
        let answer = self.run(batch, inputs, &job)?;
        // Strips without columns have no result.
        let mut results = (0..grid.strips()).zip(answer.output.as_ref().chunks_exact(4));
        if job.chain.is_some() && results.any(|(strip, result)| !needed(strip).is_empty() && gave_up(result))
        {
            return Ok(false);
        }
        let (left_below, left_right) = answer.leaving.split_at(below.len());
        for ((line, (first_col, _)), values) in (1..).zip(below).zip(left_below) {
            let row = block.rows.end.min(block.rows.start + line * side);
            lattice.leave_below(row, block.cols.start + first_col, values);
        }
        for ((line, (first_strip, _)), values) in (1..).zip(right).zip(left_right) {
            let first_row = block.rows.start + grid.first_row(first_strip) as u32;
            let values = grid.line_rows(first_strip, values);
            lattice.leave_right(first_row, block.cols.start + line * side, &values);
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

    /// The job that sweeps a block as a chain of strips, given the columns that each of them needs.
    fn chain(
        &self,
        batch: &Batch,
        block: &Block,
        (grid, side): (&Grid, u32),
        variant: Variant,
        needed: impl Fn(u32) -> Cols,
    ) -> Job {
        let base = block_task(batch, block);
        let task = |strip: u32| {
            let above = strip.checked_sub(1).map_or(0..0, &needed);
            grid.lined_task(strip, needed(strip), above, &base, CHAIN_APART)
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

    /// The job that sweeps a block, given the columns that each strip of its grid needs.
    fn waves(&self, batch: &Batch, block: &Block, grid: &Grid, needed: impl Fn(u32) -> Cols + Sync) -> Job {
        let (subgroup, few_tiles) = (self.card.device.subgroup, self.tuning.few_tiles);
        let scores = scores_of(batch);
        let (variant, thin) = (Variant::joined(Kernel::Score, scores), Variant::thin(Kernel::Score, scores));
        let base = block_task(batch, block);
        // What a tile's best cell is does not matter here, but has its place in its wave.
        let task = |(tile, place)| Task { result: place, ..grid.task(&tile, &base, 0) };
        let dispatch = |wave| {
            let tasks: Vec<Task> = grid.wave(wave, &needed).zip(0..).map(task).collect();
            let variant = if tasks.len() < few_tiles { thin } else { variant };
            (!tasks.is_empty()).then(|| Dispatch::new(variant.on(subgroup), tasks))
        };
        let waves: Vec<Dispatch> = (0..grid.waves()).into_par_iter().filter_map(dispatch).collect();
        let mut job = Job { edges: grid.edges(), output: u64::from(grid.strips()) * 16, ..Job::default() };
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
