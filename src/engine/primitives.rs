//! The building blocks of paths: directions, the edges between blocks, and tracebacks over them. Each engine implements
//! the operations, and [`all_paths`] combines them.

use crate::engine::blockwise::{Cuts, paths_in_blocks};
use crate::engine::checkpoints::block_by_block;
use crate::engine::directions::cell_bits;
use crate::engine::overlaps;
use crate::engine::traceback::Traceback;
use crate::engine::{BLOCK_ROWS, Block, Checkpoints, Directions, EdgeRoom, Edges, Engine};
use crate::engine::{Leg, Paths, Stand, Window};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::sync::Arc;

/// Maximum number of bytes of directions that are filled at once. Each worker holds this much host memory in flight,
/// and the same again while it reads.
const FILL_BYTES: u64 = 16 << 20;
/// A window whose directions take more bytes is traced block by block, because most of it needs no directions.
const WINDOW_BYTES: u64 = 2 << 20;

/// An engine's preferences for cutting long alignments into blocks.
#[derive(Clone)]
pub struct BlockRoom {
    /// Side of the blocks, a multiple of [`BLOCK_ROWS`].
    pub side: u32,
    /// Bytes of directions that the engine should hold at once.
    pub ahead: u64,
    /// Memory limit that concurrent callers share for checkpoints, if there is one.
    pub edges: Option<Arc<EdgeRoom>>,
}

impl Default for BlockRoom {
    fn default() -> BlockRoom {
        BlockRoom { side: BLOCK_ROWS, ahead: 16 << 20, edges: None }
    }
}

/// The matrix operations that an engine's paths are built from. Only engines and their tests need them.
pub trait Primitives: Engine {
    /// Fills the directions of each window, at least inside its band.
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError>;

    /// Traces the windows that the engine fills and traces in a single step. The other windows get no path.
    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let _ = batch;
        Ok(Paths::none(windows.len()))
    }

    /// Returns the edges that a block leaves. A block leaves a lower edge only if its number of rows is a multiple of
    /// [`BLOCK_ROWS`].
    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError>;

    /// Fills the directions of blocks, given the edges that enter each block. Those of the k-th block are window k.
    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError>;

    /// Traces each path through its own blocks, from the last cell of the first block. Returns each path's new position
    /// and its runs, or `None` if the host should trace over the directions of [`Primitives::fill_blocks`].
    fn trace_blocks(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
        legs: &[Leg],
    ) -> Result<Option<(Vec<Stand>, Paths)>, EngineError> {
        let _ = (batch, blocks, legs);
        Ok(None)
    }

    /// The preferred way to cut long alignments.
    fn block_room(&self) -> BlockRoom {
        BlockRoom::default()
    }

    /// Sweeps the part of `block` that its window's band crosses, without directions. Returns the edges between the
    /// parts of `side` x `side` cells into which the block is cut; `side` is a multiple of [`BLOCK_ROWS`].
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

/// The paths of windows: the engine's own traces, and the rest from [`filled_paths`].
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

/// The paths of windows, traced by the host. Long windows are traced block by block, others over the directions of the
/// whole window.
pub fn filled_paths(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let bits = cell_bits(batch.scoring.gaps().count());
    let is_long = |&place: &u32| windows[place as usize].direction_bytes(bits) > WINDOW_BYTES;
    let (long, short): (Vec<u32>, Vec<u32>) = (0..to_u32(windows.len())).partition(is_long);
    let some = |places: &[u32]| -> Vec<Window> { places.iter().map(|&at| windows[at as usize]).collect() };
    let mut paths = Paths::none(windows.len());
    let room = engine.block_room();
    paths
        .put_all(&long, paths_in_blocks(engine, batch, &some(&long), Cuts::of(&room, batch.scoring.gaps()))?);
    paths.put_all(&short, paths_in_groups(engine, batch, &some(&short))?);
    Ok(paths)
}

/// The paths of windows, each traced over the directions of its whole window. The directions are filled in groups that
/// fit a budget, and the windows of a group are traced in parallel.
pub fn paths_in_groups(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let bits = cell_bits(batch.scoring.gaps().count());
    let mut paths = Paths::default();
    let mut rest = windows;
    while !rest.is_empty() {
        let mut total = 0;
        let fits = |window: &&Window| {
            total += window.direction_bytes(bits);
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
