//! Blocks: parts of a window that are swept separately, and the edges between them.

use crate::engine::Window;
use crate::engine::carry::{Carry, Edge};
use crate::terms::batch::Batch;
use crate::terms::casts::to_i32;
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// Block heights are multiples of this many rows, except for blocks without others below them.
pub const BLOCK_ROWS: u32 = 512;

/// A rectangle of a window, swept from the edges that its neighbors above and to the left leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub window: Window,
    pub rows: Range<u32>,
    /// Columns, counted from the window's first column.
    pub cols: Range<u32>,
}

impl Block {
    /// A block that covers the whole window.
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

    /// Maximum number of bytes of its directions: `cell_bits` bits for each cell of its strips, and for the steps in which
    /// the lanes of a tile begin and end.
    pub fn direction_bytes(&self, cell_bits: u32) -> u64 {
        let (rows, cols) = (self.rows.len() as u64, self.cols.len() as u64);
        let tiles = cols.div_ceil(u64::from(BLOCK_ROWS));
        let cells = rows.next_multiple_of(u64::from(BLOCK_ROWS)) * (cols + 32 * tiles);
        cells * u64::from(cell_bits) / 8
    }

    /// Columns, counted from the target's first column.
    pub fn target_cols(&self) -> Range<u32> {
        self.window.start + self.cols.start..self.window.start + self.cols.end
    }
}

/// The values that enter a block from above and from the left, or that leave it below and to the right. An empty edge
/// is the border of the matrix in local mode: H = 0, and no gap enters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// H of the cell diagonally above the block's first cell. Only entering edges have it.
    pub corner: i32,
    /// H and F of the row above the block (or of its last row) in each column; F is that of the row below.
    pub horizontal: Edge,
    /// H and E of the column before the block (or of its last column) in each row; E is that of the next column.
    pub vertical: Edge,
}

impl Edges {
    /// The edges that enter the first `rows` query residues and `cols` target columns from column `start` on. In modes
    /// other than local, ends that are not free cost a gap.
    pub fn at_borders(scoring: &Scoring, rows: usize, cols: usize, start: u32) -> Edges {
        let mode = scoring.mode;
        if mode.is_local() {
            return Edges::default();
        }
        let gaps = scoring.gaps();
        // An extended gap pays its opening only once.
        let line = |len: usize, is_free: bool| {
            let h = move |place: usize| if is_free { 0 } else { to_i32(-scoring.gap_cost(place)) };
            let opened = |h: i32| gaps.pieces().map(move |piece| h - piece.first());
            let carries = (1..=len).map(h).map(|h| Carry { h, gap: h - gaps.first.first() }).collect();
            Edge { carries, further: (1..=len).map(h).flat_map(|h| opened(h).skip(1)).collect() }
        };
        // An alignment that begins inside a target has skipped target residues, so it cannot skip query residues as
        // well.
        let free = mode.free_starts();
        Edges {
            corner: 0,
            horizontal: line(cols, free.target),
            vertical: line(rows, free.query && start == 0),
        }
    }

    /// The edges that enter a window.
    pub fn of_window(scoring: &Scoring, window: &Window) -> Edges {
        Edges::at_borders(scoring, window.query_end as usize, window.cols() as usize, window.start)
    }
}
