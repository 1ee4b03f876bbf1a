//! Directions and paths of windows, and of the blocks of long alignments.

use crate::engine::gpu::plan::band::BandPlan;
use crate::engine::gpu::plan::fill::{TRACEBACK_WORDS, WindowPlan, next_plans};
use crate::engine::gpu::plan::traceback::{legs_job, path_words, stands, suits, windows_job};
use crate::engine::gpu::runner::{JobInputs, JobResult};
use crate::engine::gpu::variant::{KernelResults, TileVariant};
use crate::engine::gpu::{Gpu, scoring_of, span, window_residues};
use crate::engine::{Block, Edges, Engine, Leg, PathPosition, Paths, Window, overlaps};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::ops::Range;

impl Gpu {
    /// The paths that the device traces, with all targets there or piece by piece.
    pub(super) fn device_paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let mut paths = match self.whole(batch, |gpu| gpu.trace_windows(batch, windows))? {
            Some(paths) => paths,
            // The borders of overlaps depend on the beginning of the whole target, but a piece may lack it.
            None if batch.scoring.mode.begins_at_either_start() => Paths::none(windows.len()),
            None => self.paths_in_pieces(batch, windows, Gpu::trace_windows)?,
        };
        overlaps::mend(batch, windows, &mut paths);
        Ok(paths)
    }

    /// The paths of windows that the host traces.
    pub(super) fn host_paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        self.host_work.windows += windows.len();
        self.host.paths(batch, windows)
    }

    /// Traces the windows whose bands are narrow enough, and those whose directions fit the device.
    pub(super) fn trace_windows(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let mut paths = Paths::none(windows.len());
        if windows.is_empty() {
            return Ok(paths);
        }
        if batch.scoring.compared().is_some() {
            paths = self.trace_narrow(batch, windows)?;
        }
        let is_left = |&place: &u32| {
            suits(&windows[place as usize], &batch.scoring) && paths.runs(place as usize).is_none()
        };
        let places: Vec<u32> = (0..to_u32(windows.len())).into_par_iter().filter(is_left).collect();
        let wide: Vec<Window> = places.iter().map(|&place| windows[place as usize]).collect();
        self.trace_wide(batch, &wide, &places, &mut paths)?;
        Ok(paths)
    }

    /// Traces the windows whose bands are narrow.
    fn trace_narrow(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let plan = BandPlan::new(batch, windows);
        if plan.is_empty() {
            return Ok(Paths::none(windows.len()));
        }
        let inputs = self.inputs(batch, window_residues(batch, windows))?;
        let mut done = 0;
        let next = |_| {
            let range = plan.range(done)?;
            done = range.end;
            Some(plan.job(range))
        };
        let mut paths = Paths::default();
        let take = |answer: JobResult, places: Vec<Range<u32>>| paths.push(Box::new(answer.output), places);
        self.run_all(&inputs, next, take)?;
        Ok(paths)
    }

    /// Traces the windows whose directions can stay on the device, if there is enough work for it.
    fn trace_wide(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        places: &[u32],
        paths: &mut Paths,
    ) -> Result<(), EngineError> {
        if self.is_little(windows) {
            return Ok(());
        }
        let (inputs, plans) = self.plan(batch, windows)?;
        let words: Vec<u32> = windows.iter().map(|window| path_words(window, &batch.scoring)).collect();
        let limits = self.limits();
        let most_words = TRACEBACK_WORDS.min(limits.binding / 4);
        let (mut rest, mut begun) = (plans.as_slice(), 0);
        let next = |_| {
            let plans = next_plans(&mut rest, most_words)?;
            let range = begun..begun + plans.len();
            begun = range.end;
            let (job, ends) = windows_job(&batch.scoring, plans, &words[range.clone()], &limits);
            Some((job, (range, ends)))
        };
        let take = |answer: JobResult, (range, ends): (Range<usize>, Vec<Range<u32>>)| {
            paths.put(Box::new(answer.output), places[range].iter().copied().zip(ends));
        };
        self.run_all(&inputs, next, take)
    }

    /// Whether windows have too few cells to be worth a round trip to the device, which takes longer while it is busy.
    pub(super) fn is_little(&self, windows: &[Window]) -> bool {
        let cells = |window: &Window| u64::from(window.query_end) * u64::from(window.cols());
        let cells = windows.iter().map(cells).sum::<u64>();
        cells <= self.tuning.few_cells || (cells <= self.tuning.few_while_busy && self.card.runtime.is_busy())
    }

    /// The plan that fills each of the windows, and its inputs.
    fn plan(
        &mut self,
        batch: &Batch,
        windows: &[Window],
    ) -> Result<(JobInputs, Vec<WindowPlan>), EngineError> {
        let inputs = self.inputs(batch, window_residues(batch, windows))?;
        let (scoring, subgroup) = (scoring_of(batch), self.limits().subgroup);
        let plan = |window| WindowPlan::new(batch, window, scoring, subgroup);
        Ok((inputs, windows.par_iter().map(plan).collect()))
    }

    /// Traces paths through further blocks, whose grids run concurrently.
    pub(super) fn trace_legs(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
        legs: &[Leg],
    ) -> Result<(Vec<PathPosition>, Paths), EngineError> {
        let residues = span(batch, blocks, |(block, _)| (block.window.target, block.target_cols()));
        let inputs = self.inputs(batch, residues)?;
        let variant = TileVariant::thin(KernelResults::Fill, scoring_of(batch)).in_mode(batch.scoring.mode);
        let variant = variant.on(self.limits().subgroup);
        let (job, places) = legs_job(batch, blocks, legs, variant);
        let output = self.run(&inputs, &job)?.output;
        let stands = stands(output.as_ref(), &places);
        let mut paths = Paths::default();
        paths.push(Box::new(output), places);
        Ok((stands, paths))
    }
}
