//! Very long alignments, block by block.

use super::Wanted;
use super::walk::Walk;
use crate::alignment::Alignment;
use crate::batch::Batch;
#[cfg(doc)]
use crate::engine::BLOCK_ROWS;
use crate::engine::{Block, Edges, Engine, Window};
use crate::error::EngineError;

/// Aligns one window in blocks of `side` x `side` cells: a first sweep keeps only the edges between
/// blocks; then the blocks that the path crosses are swept again, with directions, from its end.
/// `side` is a multiple of [`BLOCK_ROWS`].
pub fn align_in_blocks(
    engine: &mut dyn Engine,
    batch: &Batch,
    wanted: &Wanted,
    side: u32,
) -> Result<Alignment, EngineError> {
    let grid = Grid::sweep(engine, batch, &wanted.window, side)?;
    let mut walk = Walk::new(&wanted.window);
    while !walk.done {
        let (row, col) = ((walk.rows - 1) / side, (walk.cols - 1) / side);
        let block = grid.block(row, col, walk.rows, walk.cols);
        let swept = engine.sweep(batch, &block, &grid.edges(row, col, &block), true)?;
        let directions =
            swept.directions.ok_or_else(|| EngineError::Wrong("a sweep without directions".to_string()))?;
        walk.through(&mut directions.window(0), row * side, col * side)?;
    }
    walk.finish(batch, wanted)
}

/// The edges between the blocks of a window.
struct Grid {
    window: Window,
    side: u32,
    /// `horizontal[r]`: `[H, F]` over all columns of the row above block row r; none for r = 0.
    horizontal: Vec<Vec<[i32; 2]>>,
    /// `vertical[c]`: `[H, E]` over all rows of the column before block column c; none for c = 0.
    vertical: Vec<Vec<[i32; 2]>>,
}

impl Grid {
    fn sweep(
        engine: &mut dyn Engine,
        batch: &Batch,
        window: &Window,
        side: u32,
    ) -> Result<Grid, EngineError> {
        let (rows, cols) = (window.query_end, window.target_end - window.start);
        let (down, across) = (rows.div_ceil(side), cols.div_ceil(side));
        let mut grid = Grid {
            window: *window,
            side,
            horizontal: vec![Vec::new(); down as usize],
            vertical: vec![Vec::new(); across as usize],
        };
        for row in 0..down {
            for col in 0..across {
                if row + 1 == down && col + 1 == across {
                    break; // Nothing lies behind the last block.
                }
                let block = grid.block(row, col, rows, cols);
                let edges = engine.sweep(batch, &block, &grid.edges(row, col, &block), false)?.edges;
                if let Some(below) = grid.horizontal.get_mut(row as usize + 1) {
                    below.extend(edges.horizontal);
                }
                if let Some(right) = grid.vertical.get_mut(col as usize + 1) {
                    right.extend(edges.vertical);
                }
            }
        }
        Ok(grid)
    }

    /// The block at (`row`, `col`), cut off behind the first `rows` rows and `cols` columns.
    fn block(&self, row: u32, col: u32, rows: u32, cols: u32) -> Block {
        let start = self.window.start;
        let cut = |index: u32, end: u32| index * self.side..end.min((index + 1).saturating_mul(self.side));
        let cols = cut(col, cols);
        Block {
            query: self.window.query,
            rows: cut(row, rows),
            target: self.window.target,
            cols: start + cols.start..start + cols.end,
        }
    }

    fn edges(&self, row: u32, col: u32, block: &Block) -> Edges {
        let first_row = block.rows.start as usize;
        let first_col = (block.cols.start - self.window.start) as usize;
        let cut = |line: &[[i32; 2]], first: usize, len: usize| match line.is_empty() {
            true => Vec::new(),
            false => line[first..first + len].to_vec(),
        };
        let above = &self.horizontal[row as usize];
        Edges {
            corner: if row == 0 || col == 0 { 0 } else { above[first_col - 1][0] },
            horizontal: cut(above, first_col, block.cols.len()),
            vertical: cut(&self.vertical[col as usize], first_row, block.rows.len()),
        }
    }
}
