//! From a hit to its path: back from the end cell to the first cell whose H is 0.
//!
//! Paths without gaps need no directions (`straight`). Of the others an engine may walk some by
//! itself ([`Engine::trace`]); the rest is walked here over directions that the engine fills, and very
//! long ones block by block (`blocks`). All ways give the same path, and each path is rescored.

pub mod blocks;
mod straight;
mod walk;

use crate::alignment::{Alignment, Hit, Strand};
use crate::batch::Batch;
use crate::engine::{Engine, Window};
use crate::error::EngineError;
use blocks::{Cuts, align_in_blocks};
use rayon::prelude::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use straight::straight;
use walk::{Walk, along};

/// Directions that are filled at once take at most this many bytes: each worker has as much of the
/// host's memory under way, and once more to read.
const FILL_BYTES: u64 = 16 << 20;
/// A window whose directions take more than this is walked block by block: then most of it needs none.
const WINDOW_BYTES: u64 = 2 << 20;
/// Paths that a thread walks in one go, at least.
const WALKS: usize = 64;
/// Paths that tell what most are like.
const SAMPLE: usize = 64;

/// A hit whose path is wanted, with the part of the matrix that holds it.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub window: Window,
    pub strand: Strand,
    pub score: i32,
}

/// The alignments of `wanted`, in their order.
pub fn align(
    engine: &mut dyn Engine,
    batch: &Batch,
    wanted: &[Wanted],
) -> Result<Vec<Alignment>, EngineError> {
    let mut sought = Sought { found: Vec::new(), missing: !wanted.is_empty() };
    // A look at a diagonal is worth its time unless somebody else traces paths in less, and few of them have no gap.
    let look_first = engine.traces_on_host() || most_are_straight(batch, wanted);
    if look_first {
        sought.find(wanted, |wanted| look(batch, wanted))?;
    }
    sought.find(wanted, |wanted| trace(engine, batch, wanted))?;
    if !look_first {
        sought.find(wanted, |wanted| look(batch, wanted))?;
    }
    sought.find(wanted, |wanted| fill(engine, batch, wanted))?;
    let all: Option<Vec<Alignment>> = sought.found.into_iter().collect();
    all.ok_or_else(|| EngineError::Wrong("a hit was left without a path".to_string()))
}

/// Whether about half of the paths or more have no gap, by some of them.
fn most_are_straight(batch: &Batch, wanted: &[Wanted]) -> bool {
    let some = wanted.iter().step_by(wanted.len().div_ceil(SAMPLE).max(1));
    let straight = some.clone().filter(|wanted| matches!(straight(batch, wanted), Ok(Some(_))));
    2 * straight.count() >= some.count()
}

/// Alignments that were found, and whether some are still missing.
struct Sought {
    found: Vec<Option<Alignment>>,
    missing: bool,
}

impl Sought {
    /// Finds some of those that are missing; at first that is all of them.
    fn find(
        &mut self,
        wanted: &[Wanted],
        way: impl FnOnce(&[Wanted]) -> Result<Sought, EngineError>,
    ) -> Result<(), EngineError> {
        if !self.missing {
            return Ok(());
        }
        if self.found.is_empty() {
            *self = way(wanted)?;
        } else {
            let missing = wanted.iter().zip(&self.found).filter(|(_, found)| found.is_none());
            let rest: Vec<Wanted> = missing.map(|(wanted, _)| *wanted).collect();
            let more = way(&rest)?;
            let missing = self.found.iter_mut().filter(|found| found.is_none());
            missing.zip(more.found).for_each(|(found, more)| *found = more);
            self.missing = more.missing;
        }
        Ok(())
    }
}

/// What `one` finds of each, on all threads.
fn each(
    wanted: &[Wanted],
    one: impl Fn(usize, &Wanted) -> Result<Option<Alignment>, EngineError> + Sync,
) -> Result<Sought, EngineError> {
    let (failure, missing) = (OnceLock::new(), AtomicBool::new(false));
    let one = |(place, wanted)| {
        let found = one(place, wanted).unwrap_or_else(|error| {
            // The first is enough.
            let _ = failure.set(error);
            None
        });
        if found.is_none() {
            missing.store(true, Ordering::Relaxed);
        }
        found
    };
    let mut found = Vec::new();
    wanted.par_iter().enumerate().with_min_len(WALKS).map(one).collect_into_vec(&mut found);
    failure.into_inner().map_or(Ok(Sought { found, missing: missing.into_inner() }), Err)
}

/// Those whose paths have no gap.
fn look(batch: &Batch, wanted: &[Wanted]) -> Result<Sought, EngineError> {
    each(wanted, |_, wanted| straight(batch, wanted))
}

/// Those whose paths the engine walks by itself.
fn trace(engine: &mut dyn Engine, batch: &Batch, wanted: &[Wanted]) -> Result<Sought, EngineError> {
    let mut windows = Vec::new();
    wanted.par_iter().with_min_len(WALKS).map(|wanted| wanted.window).collect_into_vec(&mut windows);
    let paths = engine.trace(batch, &windows)?;
    each(wanted, |place, wanted| paths.runs(place).map(|runs| along(runs, batch, wanted)).transpose())
}

/// All of them, walked here.
fn fill(engine: &mut dyn Engine, batch: &Batch, wanted: &[Wanted]) -> Result<Sought, EngineError> {
    let found = align_filled(engine, batch, wanted)?.into_iter().map(Some).collect();
    Ok(Sought { found, missing: false })
}

/// The alignments of `wanted`, in their order, all walked here: the paths of long windows block by block, those of others
/// over directions that are filled in groups that fit a budget; the paths of a group are walked in parallel.
pub fn align_filled(
    engine: &mut dyn Engine,
    batch: &Batch,
    wanted: &[Wanted],
) -> Result<Vec<Alignment>, EngineError> {
    let is_long = |wanted: &Wanted| wanted.window.direction_bytes() > WINDOW_BYTES;
    let (long, short): (Vec<Wanted>, Vec<Wanted>) = wanted.iter().partition(|wanted| is_long(wanted));
    let cuts = Cuts::of(engine);
    let mut long = align_in_blocks(engine, batch, &long, cuts)?.into_iter();
    let mut short = align_in_groups(engine, batch, &short)?.into_iter();
    let next = |wanted: &Wanted| if is_long(wanted) { long.next() } else { short.next() };
    let all: Option<Vec<Alignment>> = wanted.iter().map(next).collect();
    all.ok_or_else(|| EngineError::Wrong("a hit was left without a path".to_string()))
}

/// The alignments of `wanted`, each walked over the directions of its whole window, which are filled in groups.
pub fn align_in_groups(
    engine: &mut dyn Engine,
    batch: &Batch,
    wanted: &[Wanted],
) -> Result<Vec<Alignment>, EngineError> {
    let mut alignments = Vec::with_capacity(wanted.len());
    let mut rest = wanted;
    while !rest.is_empty() {
        let mut total = 0;
        let fits = |wanted: &&Wanted| {
            total += wanted.window.direction_bytes();
            total <= FILL_BYTES
        };
        let (group, behind) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        alignments.extend(align_group(engine, batch, group)?);
        rest = behind;
    }
    Ok(alignments)
}

fn align_group(
    engine: &mut dyn Engine,
    batch: &Batch,
    group: &[Wanted],
) -> Result<Vec<Alignment>, EngineError> {
    let windows: Vec<Window> = group.iter().map(|wanted| wanted.window).collect();
    let directions = engine.fill(batch, &windows)?;
    group
        .par_iter()
        .enumerate()
        .map(|(index, wanted)| {
            let mut walk = Walk::new(&wanted.window);
            walk.through(&mut directions.window(index), 0, 0)?;
            walk.finish(batch, wanted)
        })
        .collect()
}

/// The window of `hit`, an alignment of `query` against target residues from `start` on, and the
/// band that its score proves.
pub fn window_of(batch: &Batch, query: u32, target: u32, start: u32, hit: &Hit) -> Window {
    let codes = &batch.query(query)[..hit.query_end as usize];
    let band = crate::bounds::band(codes, hit.score, &batch.scoring);
    let span = band.deletions.saturating_add(hit.query_end);
    Window {
        query,
        target,
        start: start.max(hit.target_end.saturating_sub(span)),
        query_end: hit.query_end,
        target_end: hit.target_end,
        band,
    }
}
