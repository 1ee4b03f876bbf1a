//! What paths are made of: directions, the edges between blocks, and tracebacks over them. Each engine brings the
//! operations, and [`all_paths`] puts them together.

use crate::engine::blockwise::{Cuts, paths_in_blocks};
use crate::engine::checkpoints::block_by_block;
use crate::engine::overlaps;
use crate::engine::traceback::Traceback;
use crate::engine::{BLOCK_ROWS, Block, Checkpoints, Directions, EdgeRoom, Edges, Engine};
use crate::engine::{Leg, Paths, Stand, Window};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::sync::Arc;

/// Bytes of directions that are filled at once, at most: each worker has as much of the host's memory under way,
/// and once more to read.
const FILL_BYTES: u64 = 16 << 20;
/// A window whose directions take more bytes is traced block by block: then most of it needs none.
const WINDOW_BYTES: u64 = 2 << 20;

/// What suits an engine where long alignments are cut into blocks.
#[derive(Clone)]
pub struct BlockRoom {
    /// Side of the blocks, a multiple of [`BLOCK_ROWS`].
    pub side: u32,
    /// Bytes of directions that the engine should have at a time.
    pub ahead: u64,
    /// Memory limit that concurrent callers share for checkpoints, if there is one.
    pub edges: Option<Arc<EdgeRoom>>,
}

impl Default for BlockRoom {
    fn default() -> BlockRoom {
        BlockRoom { side: BLOCK_ROWS, ahead: 16 << 20, edges: None }
    }
}

/// The operations over matrices that an engine's paths are made of. Only engines and their tests need them.
pub trait Primitives: Engine {
    /// The directions of each window, at least inside its band.
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError>;

    /// The paths of the windows that the engine fills and traces in one go. The other windows get none.
    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let _ = batch;
        Ok(Paths::none(windows.len()))
    }

    /// The edges that a block leaves. Only a block of a multiple of [`BLOCK_ROWS`] rows leaves one below.
    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError>;

    /// The directions of blocks, given the edges that enter each: those of the k-th are window k.
    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError>;

    /// Takes paths on through blocks, each through its own from the last cell of the first one: where each stands
    /// then, and its runs. `None` where the host should do it, over the directions of [`Primitives::fill_blocks`].
    fn trace_blocks(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
        legs: &[Leg],
    ) -> Result<Option<(Vec<Stand>, Paths)>, EngineError> {
        let _ = (batch, blocks, legs);
        Ok(None)
    }

    /// How long alignments are best cut.
    fn block_room(&self) -> BlockRoom {
        BlockRoom::default()
    }

    /// Sweeps all of `block` that its window's band crosses, without directions, and leaves the edges between the
    /// parts of `side` x `side` cells, a multiple of [`BLOCK_ROWS`], that it is cut into.
    fn block_checkpoints(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Checkpoints, EngineError> {
        block_by_block(self, batch, block, edges, side)
    }

    /// The checkpoints of whole windows.
    fn checkpoints(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Checkpoints>, EngineError> {
        let sweep = |window| {
            let edges = Edges::of_window(&batch.scoring, window);
            self.block_checkpoints(batch, &Block::whole(window), &edges, side)
        };
        windows.iter().map(sweep).collect()
    }
}

/// The paths of windows: what the engine traces by itself, and the rest by [`filled_paths`].
pub fn all_paths(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let mut paths = engine.trace(batch, windows)?;
    let missing = paths.missing();
    if !missing.is_empty() {
        let left: Vec<Window> = missing.iter().map(|&place| windows[place as usize]).collect();
        paths.put_all(&missing, filled_paths(engine, batch, &left)?);
    }
    overlaps::mend(batch, windows, &mut paths);
    Ok(paths)
}

/// The paths of windows, traced by the host: in long windows block by block, in the others over the directions of
/// the whole window.
pub fn filled_paths(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let is_long = |&place: &u32| windows[place as usize].direction_bytes() > WINDOW_BYTES;
    let (long, short): (Vec<u32>, Vec<u32>) = (0..to_u32(windows.len())).partition(is_long);
    let some = |places: &[u32]| -> Vec<Window> { places.iter().map(|&at| windows[at as usize]).collect() };
    let mut paths = Paths::none(windows.len());
    let room = engine.block_room();
    paths.put_all(&long, paths_in_blocks(engine, batch, &some(&long), Cuts::of(&room))?);
    paths.put_all(&short, paths_in_groups(engine, batch, &some(&short))?);
    Ok(paths)
}

/// The paths of windows, each traced over the directions of its whole window. These are filled in groups that fit a
/// budget, and the windows of a group are traced in parallel.
pub fn paths_in_groups(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let mut paths = Paths::default();
    let mut rest = windows;
    while !rest.is_empty() {
        let mut total = 0;
        let fits = |window: &&Window| {
            total += window.direction_bytes();
            total <= FILL_BYTES
        };
        let (group, behind) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        let directions = engine.fill(batch, group)?;
        let trace = |(index, window): (usize, &Window)| {
            let mut path = Traceback::new(window);
            path.through(&mut directions.window(index), 0, 0)?;
            Ok(path.into_runs(batch.scoring.mode))
        };
        let runs = group.par_iter().enumerate().map(trace).collect::<Result<Vec<_>, EngineError>>()?;
        paths.append(Paths::of(runs));
        rest = behind;
    }
    Ok(paths)
}
