//! From hits to alignments: the window of each hit, its path, and its recomputed score.
//!
//! A path without gaps needs no engine (`ungapped`). The engine finds the other paths, with the method that suits it
//! ([`Engine::paths`]). All methods return the same path, and each path is rescored.

mod rescored;
mod ungapped;

use crate::engine::{Engine, Paths, Window};
use crate::terms::alignment::{Alignment, HitEnd, Strand};
use crate::terms::batch::Batch;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use rescored::{rescored, rescored_by_rows};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use ungapped::ungapped;

/// Minimum number of paths per parallel task.
const PATHS: usize = 64;
/// Number of paths sampled to estimate how many have no gap.
const SAMPLE: usize = 64;

/// A hit whose path is needed, and the part of the matrix that contains it.
#[derive(Clone, Copy, Debug)]
pub struct WantedPath {
    pub window: Window,
    pub strand: Strand,
    pub score: i32,
}

/// The alignments of `wanted`, in their order.
pub fn align(
    engine: &mut dyn Engine,
    batch: &Batch,
    wanted: &[WantedPath],
) -> Result<Vec<Alignment>, EngineError> {
    let mut sought = FoundAlignments { found: Vec::new(), missing: !wanted.is_empty() };
    // Following a diagonal saves time, unless the engine is faster and few paths are ungapped.
    let has_own_rows = batch.scoring.has_own_rows();
    if !has_own_rows && engine.capabilities().has_quick_paths && !most_are_ungapped(batch, wanted) {
        sought.find(wanted, |wanted| along(batch, wanted, &engine.quick_paths(batch, &windows(wanted))?))?;
    }
    if !has_own_rows {
        sought.find(wanted, |wanted| each(wanted, |_, wanted| ungapped(batch, wanted)))?;
    }
    sought.find(wanted, |wanted| along(batch, wanted, &engine.paths(batch, &windows(wanted))?))?;
    sought.all()
}

/// Returns the alignments of `wanted` that `paths` describe, in the same order.
pub fn alignments(
    batch: &Batch,
    wanted: &[WantedPath],
    paths: &Paths,
) -> Result<Vec<Alignment>, EngineError> {
    along(batch, wanted, paths)?.all()
}

fn windows(wanted: &[WantedPath]) -> Vec<Window> {
    let mut windows = Vec::new();
    wanted.par_iter().with_min_len(PATHS).map(|wanted| wanted.window).collect_into_vec(&mut windows);
    windows
}

/// Returns the alignments of the hits that have a path.
fn along(batch: &Batch, wanted: &[WantedPath], paths: &Paths) -> Result<FoundAlignments, EngineError> {
    each(wanted, |place, wanted| match batch.scoring.has_own_rows() {
        false => paths.runs(place).map(|runs| rescored(runs, batch, wanted)).transpose(),
        true => paths.framed_runs(place).map(|runs| rescored_by_rows(runs, batch, wanted)).transpose(),
    })
}

/// Whether about half of the paths or more have no gap, judged by a sample.
fn most_are_ungapped(batch: &Batch, wanted: &[WantedPath]) -> bool {
    let some = wanted.iter().step_by(wanted.len().div_ceil(SAMPLE).max(1));
    let without_gaps = some.clone().filter(|wanted| matches!(ungapped(batch, wanted), Ok(Some(_))));
    2 * without_gaps.count() >= some.count()
}

/// Alignments found so far, and whether some are still missing.
struct FoundAlignments {
    found: Vec<Option<Alignment>>,
    missing: bool,
}

impl FoundAlignments {
    /// Finds some of the missing alignments. At first, all of them are missing.
    fn find(
        &mut self,
        wanted: &[WantedPath],
        way: impl FnOnce(&[WantedPath]) -> Result<FoundAlignments, EngineError>,
    ) -> Result<(), EngineError> {
        if !self.missing {
            return Ok(());
        }
        if self.found.is_empty() {
            *self = way(wanted)?;
        } else {
            let missing = wanted.iter().zip(&self.found).filter(|(_, found)| found.is_none());
            let rest: Vec<WantedPath> = missing.map(|(wanted, _)| *wanted).collect();
            let more = way(&rest)?;
            let missing = self.found.iter_mut().filter(|found| found.is_none());
            missing.zip(more.found).for_each(|(found, more)| *found = more);
            self.missing = more.missing;
        }
        Ok(())
    }

    fn all(self) -> Result<Vec<Alignment>, EngineError> {
        let all: Option<Vec<Alignment>> = self.found.into_iter().collect();
        all.ok_or_else(|| EngineError::Wrong("a hit was left without a path".to_string()))
    }
}

/// Calls `one` for each hit, on all threads.
fn each(
    wanted: &[WantedPath],
    one: impl Fn(usize, &WantedPath) -> Result<Option<Alignment>, EngineError> + Sync,
) -> Result<FoundAlignments, EngineError> {
    let (failure, missing) = (OnceLock::new(), AtomicBool::new(false));
    let one = |(place, wanted)| {
        let found = one(place, wanted).unwrap_or_else(|error| {
            // Only the first error is kept.
            let _ = failure.set(error);
            None
        });
        if found.is_none() {
            missing.store(true, Ordering::Relaxed);
        }
        found
    };
    let mut found = Vec::new();
    wanted.par_iter().enumerate().with_min_len(PATHS).map(one).collect_into_vec(&mut found);
    failure.into_inner().map_or(Ok(FoundAlignments { found, missing: missing.into_inner() }), Err)
}

/// The window of `hit`, an alignment of `query` against target residues from `start` on, with the band that its score
/// implies.
pub fn window_of(batch: &Batch, query: u32, target: u32, start: u32, hit: &HitEnd) -> Window {
    let codes = &batch.query(query)[..hit.query_end as usize];
    let band = crate::terms::bounds::band(codes, hit.score, &batch.scoring);
    let span = band.deletions.saturating_add(hit.query_end);
    Window {
        query,
        target,
        start: start.max(hit.target_end.saturating_sub(span)),
        query_end: hit.query_end,
        target_end: hit.target_end,
        band,
        score: hit.score,
    }
}
