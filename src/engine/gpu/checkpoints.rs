//! Checkpoints of long alignments: the edges between their blocks, from one sweep over many of them.

use crate::engine::checkpoints::Checkpoints;
use crate::engine::gpu::job::Job;
use crate::engine::gpu::plan::checkpoint::{self, CheckpointSweep};
use crate::engine::gpu::runner::JobInputs;
use crate::engine::gpu::variant::{KernelResults, TileVariant};
use crate::engine::gpu::{Cols, Gpu, residues_of, scoring_of, window_residues};
use crate::engine::primitives::block_by_block;
use crate::engine::{Block, Edges, Window};
use crate::terms::batch::Batch;
use crate::terms::error::EngineError;
use std::sync::atomic::Ordering::Relaxed;

impl Gpu {
    /// The edges that a block leaves, swept in the waves of its grid.
    pub(super) fn sweep_block(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
    ) -> Result<Edges, EngineError> {
        let inputs = self.inputs(batch, residues_of(batch, block))?;
        let variant = TileVariant::thin(KernelResults::Score, scoring_of(batch)).in_mode(batch.scoring.mode);
        let variant = variant.on(self.limits().subgroup);
        let (grid, job) = checkpoint::block_job(batch, block, edges, variant);
        let answer = self.run(&inputs, &job)?;
        Ok(grid.left_behind(answer.leaving()))
    }

    /// Sweeps a block in bands, each of all columns and as many rows of parts as a job can hold. If not even one row of
    /// parts fits, each part is large enough for a grid of its own.
    pub(super) fn sweep_in_bands(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Checkpoints, EngineError> {
        let mut checkpoints = Checkpoints::new(block, edges, side, &batch.scoring);
        let down = checkpoints.down();
        let mut parts = down;
        while parts > 0 {
            let limits = self.limits();
            if checkpoint::fits(&checkpoint::alone(&checkpoints, 0..parts, &limits), &limits) {
                let inputs = self.inputs(batch, residues_of(batch, block))?;
                let mut bands = (0..down).step_by(parts as usize).map(|first| first..first + parts);
                match bands.try_for_each(|band| self.sweep_band(batch, &inputs, &mut checkpoints, band)) {
                    Err(EngineError::OutOfMemory(_)) => {}
                    swept => return swept.map(|()| checkpoints),
                }
            }
            parts = if parts == 1 { 0 } else { parts.div_ceil(2) };
        }
        block_by_block(self, batch, block, edges, side)
    }

    /// Sweeps windows, as many in one job as it can hold.
    pub(super) fn sweep_side_by_side(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Checkpoints>, EngineError> {
        let blank = |window| {
            let edges = Edges::of_window(&batch.scoring, window);
            Checkpoints::new(&Block::whole(window), &edges, side, &batch.scoring)
        };
        let mut all: Vec<Checkpoints> = windows.iter().map(blank).collect();
        let inputs = self.inputs(batch, window_residues(batch, windows))?;
        let mut done = 0;
        while done < all.len() {
            let limits = self.limits();
            let sweeps = checkpoint::side_by_side(&all[done..], &limits);
            match sweeps.len() {
                // A single window gets the whole device.
                1 => {
                    let window = &windows[done];
                    let edges = Edges::of_window(&batch.scoring, window);
                    all[done] = self.sweep_in_bands(batch, &Block::whole(window), &edges, side)?;
                }
                _ => {
                    let scoring = scoring_of(batch);
                    let mut job = checkpoint::waves(batch, &sweeps, scoring, &limits);
                    if !batch.scoring.mode.is_local() {
                        let entering = sweeps.iter().zip(&all[done..]);
                        let entering = entering.flat_map(|(sweep, all)| sweep.entering(all, scoring.pieces));
                        job.entering = entering.collect();
                    }
                    self.run_sweeps(&inputs, &mut all[done..], &sweeps, job)?;
                }
            }
            done += sweeps.len();
        }
        Ok(all)
    }

    /// Sweeps some rows of parts, as one grid.
    fn sweep_band(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        checkpoints: &mut Checkpoints,
        parts: Cols,
    ) -> Result<(), EngineError> {
        let (limits, scoring) = (self.limits(), scoring_of(batch));
        let sweep = checkpoint::alone(checkpoints, parts, &limits);
        let entering = checkpoints.entering(&sweep.band);
        if let Some(variant) = checkpoint::chained_over(&sweep.grid, &entering, scoring, &limits) {
            let (sweep, job) = checkpoint::chain(batch, &sweep, checkpoints.side(), variant, &limits);
            let all = std::slice::from_mut(checkpoints);
            if self.run_sweeps(inputs, all, &[sweep], job)? {
                return Ok(());
            }
            self.card.chains.store(false, Relaxed);
        }
        let mut job = checkpoint::waves(batch, std::slice::from_ref(&sweep), scoring, &limits);
        job.entering = sweep.entering(checkpoints, scoring.pieces);
        self.run_sweeps(inputs, std::slice::from_mut(checkpoints), &[sweep], job).map(|_| ())
    }

    /// Runs a job of sweeps and stores the edges on the lines of each sweep. Returns `false` if a strip gave up
    /// waiting, which makes the results invalid.
    fn run_sweeps(
        &mut self,
        inputs: &JobInputs,
        all: &mut [Checkpoints],
        sweeps: &[CheckpointSweep],
        job: Job,
    ) -> Result<bool, EngineError> {
        if job.cells == 0 {
            return Ok(true);
        }
        let answer = self.run(inputs, &job)?;
        if job.chain.is_some() && checkpoint::has_given_up(&sweeps[0], answer.output.as_ref()) {
            return Ok(false);
        }
        let mut read = answer.leaving();
        for (sweep, checkpoints) in sweeps.iter().zip(all) {
            let lines = sweep.left().iter().map(Vec::len).sum();
            sweep.keep(checkpoints, read.by_ref().take(lines));
        }
        Ok(true)
    }
}
