//! The edges between the parts of a long alignment, left by one sweep over many of them.

use crate::batch::Batch;
use crate::engine::gpu::fill::residues_of;
use crate::engine::gpu::grid::Grid;
use crate::engine::gpu::job::{Dispatch, Inputs, Job};
use crate::engine::gpu::layout::Task;
use crate::engine::gpu::shader::{Kernel, STRIP_ROWS, Variant};
use crate::engine::gpu::{Cols, Gpu, JOB_EDGES, scores_of};
use crate::engine::lattice::{Lattice, block_by_block};
use crate::engine::{Block, Edges};
use crate::error::EngineError;
use rayon::prelude::*;

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

    /// Sweeps some rows of a lattice's parts, in the waves of one grid.
    fn sweep_band(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        lattice: &mut Lattice,
        parts: Cols,
    ) -> Result<(), EngineError> {
        let (down, across, side) = (lattice.down(), lattice.across(), lattice.side());
        let band = lattice.parts(parts, 0..across);
        let last = lattice.parts(down - 1..down, across - 1..across);
        let grid = self.grid_over(&band, side);
        let needed = |strip: u32| {
            let rows = grid.rows_of(strip);
            let first = i64::from(band.rows.start);
            let cols = band.window.band_cols(first + rows.start..first + rows.end);
            // Nothing lies behind the last part.
            let behind = first + rows.start >= i64::from(last.rows.start);
            let end = if behind { last.cols.start } else { band.cols.end };
            let place = |col: u32| col.clamp(band.cols.start, end) - band.cols.start;
            place(cols.start)..place(cols.end)
        };
        let mut job = self.waves(batch, &band, &grid, needed);
        if job.cells == 0 {
            return Ok(());
        }
        let (below, right) = (grid.horizontal_lines(needed), grid.vertical_lines(needed));
        job.entering = grid.entering(&lattice.entering(&band));
        job.leaving = below.iter().chain(&right).map(|(_, values)| values.clone()).collect();
        let answer = self.run(batch, inputs, &job)?;
        let (left_below, left_right) = answer.leaving.split_at(below.len());
        for ((line, (first_col, _)), values) in (1..).zip(below).zip(left_below) {
            let row = band.rows.end.min(band.rows.start + line * side);
            lattice.leave_below(row, band.cols.start + first_col, values);
        }
        for ((line, (first_strip, _)), values) in (1..).zip(right).zip(left_right) {
            let first_row = band.rows.start + grid.first_row(first_strip) as u32;
            let values = grid.line_rows(first_strip, values);
            lattice.leave_right(first_row, band.cols.start + line * side, &values);
        }
        Ok(())
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
