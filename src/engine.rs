//! What an engine does, and the directions it leaves behind.
//!
//! All engines compute the recurrence of the front page ([`crate`]) and answer alike, byte for byte:
//! [`plain`] is the specification, [`cpu`] uses the machine's cores, [`gpu`] runs WGSL kernels.

pub mod cpu;
pub(crate) mod directions;
mod edge_room;
mod frontier;
#[cfg(feature = "gpu")]
pub mod gpu;
mod guarded;
mod lattice;
mod paths;
pub mod plain;

pub use directions::{Cells, Directions, Source, Tile};
pub use edge_room::EdgeRoom;
pub use guarded::Guarded;
pub use lattice::Lattice;
pub use paths::{Leg, Paths, Stand};

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::bounds::Band;
use crate::error::EngineError;
use std::ops::Range;
use std::sync::Arc;

/// The part of the matrix in which the path of one hit lies: query rows `0..query_end` and target
/// columns `start..target_end`, the path ending in the last cell and staying inside `band`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub query: u32,
    pub target: u32,
    pub start: u32,
    pub query_end: u32,
    pub target_end: u32,
    pub band: Band,
}

impl Window {
    /// Target columns.
    pub fn cols(&self) -> u32 {
        self.target_end - self.start
    }

    /// Bytes that its directions take, at most: half a byte for each cell of the band, the band widened by the rows that
    /// a lane holds together.
    pub fn direction_bytes(&self) -> u64 {
        let band = u64::from(self.band.deletions) + u64::from(self.band.insertions) + 32;
        u64::from(self.query_end.next_multiple_of(8)) * u64::from(self.cols()).min(band) / 2
    }

    /// The columns, counted from the window's first, that its band takes in `rows`, and one before them:
    /// the first cell's diagonal neighbour comes from there.
    pub fn band_cols(&self, rows: Range<i64>) -> Range<u32> {
        let diagonal = i64::from(self.cols()) - i64::from(self.query_end);
        let clip = |col: i64| col.clamp(0, i64::from(self.cols())) as u32;
        let first = rows.start + diagonal - i64::from(self.band.deletions) - 1;
        clip(first)..clip(rows.end + diagonal + i64::from(self.band.insertions))
    }
}

/// Blocks that have others below them have a multiple of this many rows.
pub const BLOCK_ROWS: u32 = 512;

/// A rectangle of a window, swept with what its neighbours above and to the left left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub window: Window,
    pub rows: Range<u32>,
    /// Counted from the window's first column.
    pub cols: Range<u32>,
}

impl Block {
    /// The whole of a window.
    pub fn whole(window: &Window) -> Block {
        Block { window: *window, rows: 0..window.query_end, cols: 0..window.cols() }
    }

    /// The residues of its rows and of its columns.
    pub fn codes<'a>(&self, batch: &'a Batch) -> (&'a [u8], &'a [u8]) {
        let Range { start, end } = self.target_cols();
        let rows = self.rows.start as usize..self.rows.end as usize;
        let target = &batch.target(self.window.target)[start as usize..end as usize];
        (&batch.query(self.window.query)[rows], target)
    }

    /// Bytes that its directions take, at most: half a byte for each cell of its strips, and the steps in which the lanes
    /// of a tile begin and end.
    pub fn direction_bytes(&self) -> u64 {
        let (rows, cols) = (self.rows.len() as u64, self.cols.len() as u64);
        let tiles = cols.div_ceil(u64::from(BLOCK_ROWS));
        rows.next_multiple_of(u64::from(BLOCK_ROWS)) * (cols + 32 * tiles) / 2
    }

    /// Its columns, counted from the target's first.
    pub fn target_cols(&self) -> Range<u32> {
        self.window.start + self.cols.start..self.window.start + self.cols.end
    }
}

/// The values that enter a block from above and from the left, or leave it below and to the right.
/// An empty edge stands for the matrix' own border: H = 0, and no gap comes in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// H of the cell diagonally above the block's first. Only an entering edge has one.
    pub corner: i32,
    /// `[H, F]` of the row above the block (or its last row), a column each; F is that of the row
    /// below.
    pub horizontal: Vec<[i32; 2]>,
    /// `[H, E]` of the column before the block (or its last column), a row each; E is that of the
    /// column behind.
    pub vertical: Vec<[i32; 2]>,
}

/// Batch-level work on the recurrence. An engine may be used again after any error but
/// [`EngineError::Lost`].
pub trait Engine: Send {
    /// What the engine is and runs on, for people.
    fn describe(&self) -> String;

    /// The best score of each pair and the first cell, in the order of [`Hit::order`], that has it;
    /// a score of 0 where nothing scores.
    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError>;

    /// So many sweeps at a time keep the engine busy: with more, shorter ones it has more columns to warm up over. It
    /// should be asked where sweeps serve several pairs, and the engine scores those so ([`crate::batch::sweeps`]).
    fn enough_sweeps(&self) -> u64 {
        u64::MAX
    }

    /// The last sweeps of a call may be so many times as many, and as much shorter, so that the engine is not idle while
    /// a few long ones end.
    fn more_last_sweeps(&self) -> u64 {
        1
    }

    /// The directions of each window, at least inside its band.
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError>;

    /// The paths of those windows that the engine walks by itself; the others are filled and walked.
    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let _ = batch;
        Ok(Paths::none(windows.len()))
    }

    /// Whether [`Engine::trace`] takes the time of the host's threads, if it traces at all.
    fn traces_on_host(&self) -> bool {
        true
    }

    /// The edges that a block leaves, for alignments whose directions are too large to be kept at once. The
    /// edge below is left only by blocks of a multiple of [`BLOCK_ROWS`] rows.
    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError>;

    /// The directions of blocks, given the edges that enter each: those of the k-th are window k.
    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError>;

    /// Walks paths on through such blocks, each through its own from the last cell of the first one, where the engine does
    /// so by itself: where each stands then, and its runs.
    fn walk_blocks(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
        legs: &[Leg],
    ) -> Result<Option<(Vec<Stand>, Paths)>, EngineError> {
        let _ = (batch, blocks, legs);
        Ok(None)
    }

    /// The side of blocks that suits the engine best, a multiple of [`BLOCK_ROWS`], and bytes of their directions that it
    /// should have at a time.
    fn block_room(&self) -> (u32, u64) {
        (BLOCK_ROWS, 16 << 20)
    }

    /// What those wait for who want lattices, where many may want some at a time.
    fn edge_room(&self) -> Option<Arc<EdgeRoom>> {
        None
    }

    /// Sweeps all of `block` that its window's band crosses, without directions, and leaves the edges
    /// between the parts of `side` x `side` cells, a multiple of [`BLOCK_ROWS`], that it is cut into.
    fn sweep_lattice(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Lattice, EngineError> {
        lattice::block_by_block(self, batch, block, edges, side)
    }

    /// The lattices of whole windows.
    fn sweep_lattices(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Lattice>, EngineError> {
        let none = Edges::default();
        let sweep = |window| self.sweep_lattice(batch, &Block::whole(window), &none, side);
        windows.iter().map(sweep).collect()
    }
}
