//! Pairs that are too large for a job: their cells are cut into blocks. The edges from the blocks above and to the left
//! enter each block.

use crate::engine::gpu::Cols;
use crate::engine::gpu::layout::TILE_COLS;
use crate::engine::gpu::plan::grid::Grid;
use crate::engine::gpu::plan::{WholeTile, span_of};
use crate::engine::{Edge, Edges};
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{to_u32, to_usize};

/// Some rows of a pair's query and some of its columns, counted from the pair's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairBlock {
    pub rows: Cols,
    pub cols: Cols,
}

impl PairBlock {
    /// Its residues, and the first column whose cells count.
    pub fn whole(&self, batch: &Batch, pair: &Pair) -> WholeTile {
        let cols = pair.start + self.cols.start..pair.start + self.cols.end;
        let span = span_of(batch, pair.query, self.rows.clone(), pair.target, cols);
        WholeTile { span, counts_from: (pair.own - pair.start).saturating_sub(self.cols.start) }
    }
}

/// The blocks of a padded grid whose strips have `height` rows, band by band, for jobs with room for `edges` edge
/// values and `tiles` tiles. They are as square as the room allows, so that many tiles run concurrently. The first band
/// contains the empty rows.
pub fn blocks(grid: &Grid, height: u32, [edges, tiles]: [u64; 2]) -> Vec<Vec<PairBlock>> {
    let (strips, runs) = (u64::from(grid.strips()), u64::from(grid.runs()));
    let side = tiles.isqrt();
    // Each direction may use half of the edge values.
    let fit = |most: u64, len: u32| most.min(edges / 2 / u64::from(len)).max(1);
    let down = fit(side.max(tiles / runs.max(1)).min(strips), height + 1);
    let across = fit((tiles / down).min(runs), TILE_COLS);
    let row = |strip: u64| (to_u32(strip.min(strips)) * height).saturating_sub(grid.empty());
    let col = |run: u64| to_u32(run.min(runs)).saturating_mul(TILE_COLS).min(grid.cols);
    let band = |first: u64| {
        let block =
            |run: u64| PairBlock { rows: row(first)..row(first + down), cols: col(run)..col(run + across) };
        (0..runs).step_by(to_usize(across)).map(block).collect()
    };
    (0..strips).step_by(to_usize(down)).map(band).collect()
}

/// The edges that later blocks need, while a pair's blocks are processed band by band.
#[derive(Default)]
pub struct PairFrontier {
    /// H and F of the last row of the previous bands for each column, or of this band for columns that are done.
    above: Edge,
    /// The edge of the block on the left: H and E of its last column, and H above its next column.
    left: (Edge, i32),
}

impl PairFrontier {
    /// The edges that enter a block.
    pub fn entering(&self, block: &PairBlock) -> Edges {
        let cols = block.cols.start as usize..block.cols.end as usize;
        let (vertical, corner) = match block.cols.start {
            0 => Default::default(),
            _ => self.left.clone(),
        };
        Edges { corner, horizontal: self.above.cut(cols), vertical }
    }

    /// Stores the edges that a block leaves.
    pub fn keep(&mut self, block: &PairBlock, left: Edges) {
        let (start, end) = (block.cols.start as usize, block.cols.end as usize);
        let corner = self.above.h(end - 1).unwrap_or(0);
        self.left = (left.vertical, corner);
        if block.rows.start == 0 {
            self.above = self.above.cut(0..start).followed_by(left.horizontal);
        } else {
            self.above.put(start, &left.horizontal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks contain each cell once, and each block fits the room.
    #[test]
    fn blocks_hold_every_cell_once() {
        for (rows, cols) in
            [(1, 1), (512, 512), (513, 40_000), (50_000, 513), (9_999, 9_999), (300_000, 700_000)]
        {
            for room in [[1 << 26, 1 << 21], [1 << 26, 5], [20_000, 1 << 21], [1 << 11, 1]] {
                let grid = Grid::padded(rows, cols, 512);
                let bands = blocks(&grid, 512, room);
                let mut row = 0;
                for band in &bands {
                    let mut col = 0;
                    for block in band {
                        assert_eq!(
                            (block.rows.start, block.cols.start),
                            (row, col),
                            "{rows} x {cols} in {room:?}"
                        );
                        col = block.cols.end;
                        let own = Grid::padded(block.rows.len() as u32, block.cols.len() as u32, 512);
                        assert!(own.size() <= room[1] && own.edges() <= room[0], "{block:?} in {room:?}");
                        assert!(row == 0 || own.empty() == 0, "{block:?} in {room:?}");
                    }
                    assert_eq!(col, cols, "{rows} x {cols} in {room:?}");
                    row = band[0].rows.end;
                }
                assert_eq!(row, rows, "{rows} x {cols} in {room:?}");
            }
        }
    }
}
