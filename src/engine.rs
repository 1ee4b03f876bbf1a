//! What an engine does, and the directions it leaves behind.
//!
//! All engines compute the recurrence of the front page ([`crate`]) and answer alike, byte for byte:
//! [`plain`] is the specification, [`cpu`] uses the machine's cores, [`gpu`] runs WGSL kernels.

pub mod cpu;
pub(crate) mod directions;
pub mod gpu;
mod guarded;
mod paths;
pub mod plain;

pub use directions::{Cells, Directions, Source, Tile};
pub use guarded::Guarded;
pub use paths::Paths;

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::bounds::Band;
use crate::error::EngineError;
use std::ops::Range;

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

/// Blocks that have others below them have a multiple of this many rows.
pub const BLOCK_ROWS: u32 = 512;

/// A rectangle of the matrix, swept with what its neighbours above and to the left left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub query: u32,
    pub rows: Range<u32>,
    pub target: u32,
    pub cols: Range<u32>,
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

/// What a sweep over a block leaves.
pub struct Swept {
    pub edges: Edges,
    /// The block's directions (window 0), where they were asked for.
    pub directions: Option<Directions>,
}

/// Batch-level work on the recurrence. An engine may be used again after any error but
/// [`EngineError::Lost`].
pub trait Engine: Send {
    /// What the engine is and runs on, for people.
    fn describe(&self) -> String;

    /// The best score of each pair and the first cell, in the order of [`Hit::order`], that has it;
    /// a score of 0 where nothing scores.
    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError>;

    /// The directions of each window, at least inside its band.
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError>;

    /// The paths of those windows that the engine walks by itself; the others are filled and walked.
    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let _ = batch;
        Ok(Paths::none(windows.len()))
    }

    /// Sweeps one block, for alignments whose directions are too large to be kept at once. The edge
    /// below is left only by blocks of a multiple of [`BLOCK_ROWS`] rows.
    fn sweep(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        keep: bool,
    ) -> Result<Swept, EngineError>;
}
