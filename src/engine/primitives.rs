//! The building blocks of paths: directions, the edges between blocks, and tracebacks over them. Each engine implements
//! the operations, and [`crate::engine::pathfinding`] combines them.

use crate::engine::{BLOCK_ROWS, Block, Checkpoints, Directions, EdgeRoom, Edges, Engine};
use crate::engine::{Leg, PathPosition, Paths, Window};
use crate::terms::batch::Batch;
use crate::terms::error::EngineError;
use std::sync::Arc;

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
    ) -> Result<Option<(Vec<PathPosition>, Paths)>, EngineError> {
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

/// Sweeps a block part by part.
pub fn block_by_block<P: Primitives + ?Sized>(
    engine: &mut P,
    batch: &Batch,
    block: &Block,
    edges: &Edges,
    side: u32,
) -> Result<Checkpoints, EngineError> {
    let mut checkpoints = Checkpoints::new(block, edges, side, &batch.scoring);
    for part in (0..checkpoints.waves()).flat_map(|wave| checkpoints.wave(wave)).collect::<Vec<_>>() {
        if !checkpoints.is_last(&part) {
            let left = engine.sweep(batch, &part, &checkpoints.entering(&part))?;
            checkpoints.leave(&part, &left);
        }
    }
    Ok(checkpoints)
}
