//! Checkpoints: the edges between the parts of a long alignment. From them each part can be swept again independently
//! (the grid cache of FastLSA, Driga et al. 2006).

use crate::engine::recurrence::floor;
use crate::engine::{Block, Carry, Edge, Edges};
use crate::terms::casts::to_u32;
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// The edges that enter the parts of `side` x `side` cells of a block. A part outside the window's band leaves the
/// minimum values, because no path passes through it (docs/algorithm.md, section 7).
///
/// Under affine gaps they take 8 bytes per column for each row of parts and 8 bytes per row for each column of parts,
/// except the first row and the first column: about `16 * rows * cols / side` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    block: Block,
    side: u32,
    /// H of the cell diagonally above the block's first cell.
    corner: i32,
    /// `horizontal[r]`: H and F over all columns of the row above the r-th row of parts; for r = 0, the values that
    /// enter the block.
    pub horizontal: Vec<Edge>,
    /// `vertical[c]`: H and E over all rows of the column before the c-th column of parts; for c = 0, the values that
    /// enter the block.
    pub vertical: Vec<Edge>,
}

impl Checkpoints {
    /// The checkpoints of a block that `edges` enter. Between its parts they hold the minimum of H.
    pub fn new(block: &Block, edges: &Edges, side: u32, scoring: &Scoring) -> Checkpoints {
        let (floor, pieces) = (floor(scoring), scoring.gaps().count());
        let lines = |first: &Edge, len: usize, count: usize| {
            let least = (1..count.div_ceil(side as usize))
                .map(|_| Edge::filled(Carry { h: floor, gap: floor }, len, pieces));
            std::iter::once(first.clone()).chain(least).collect()
        };
        let (rows, cols) = (block.rows.len(), block.cols.len());
        Checkpoints {
            block: block.clone(),
            side,
            corner: edges.corner,
            horizontal: lines(&edges.horizontal, cols, rows),
            vertical: lines(&edges.vertical, rows, cols),
        }
    }

    pub fn side(&self) -> u32 {
        self.side
    }

    /// Rows of parts.
    pub fn down(&self) -> u32 {
        to_u32(self.horizontal.len())
    }

    /// Columns of parts.
    pub fn across(&self) -> u32 {
        to_u32(self.vertical.len())
    }

    /// The parts `rows` x `cols` as one block.
    pub fn parts(&self, rows: Range<u32>, cols: Range<u32>) -> Block {
        let cut = |within: &Range<u32>, parts: Range<u32>| {
            let place =
                |part: u32| within.end.min(within.start.saturating_add(part.saturating_mul(self.side)));
            place(parts.start)..place(parts.end)
        };
        Block {
            window: self.block.window,
            rows: cut(&self.block.rows, rows),
            cols: cut(&self.block.cols, cols),
        }
    }

    /// Maximum number of bytes of the directions of a part, of `cell_bits` bits per cell.
    pub fn block_bytes(&self, cell_bits: u32) -> u64 {
        self.parts(0..1, 0..1).direction_bytes(cell_bits)
    }

    /// Anti-diagonals of parts.
    pub fn waves(&self) -> u32 {
        (self.down() + self.across()).saturating_sub(1)
    }

    /// The parts of an anti-diagonal that the window's band crosses. They depend on earlier waves, but not on each
    /// other.
    pub fn wave(&self, wave: u32) -> Vec<Block> {
        let rows = (wave + 1).saturating_sub(self.across())..self.down().min(wave + 1);
        let parts = rows.map(|row| self.parts(row..row + 1, wave - row..wave - row + 1));
        let crossed = |part: &Block| {
            let band = part.window.band_cols(i64::from(part.rows.start)..i64::from(part.rows.end));
            band.start < part.cols.end && part.cols.start < band.end
        };
        parts.filter(crossed).collect()
    }

    /// Whether `part` is the last part of the block.
    pub fn is_last(&self, part: &Block) -> bool {
        (part.rows.end, part.cols.end) == (self.block.rows.end, self.block.cols.end)
    }

    /// Stores the edges that `part` leaves.
    pub fn leave(&mut self, part: &Block, edges: &Edges) {
        self.leave_below(part.rows.end, part.cols.start, &edges.horizontal);
        self.leave_right(part.rows.start, part.cols.end, &edges.vertical);
    }

    /// The parts that the diagonal crosses on the way back from the last cell of the window's first `rows` rows and
    /// `cols` columns. The last part comes first and is cut off after that cell.
    pub fn parts_before(&self, rows: u32, cols: u32) -> impl Iterator<Item = Block> {
        let Range { start: first_row, .. } = self.block.rows;
        let Range { start: first_col, .. } = self.block.cols;
        let mut cell = Some((rows, cols));
        std::iter::from_fn(move || {
            let (last_row, last_col) = cell.take()?;
            let (row, col) = ((last_row - 1 - first_row) / self.side, (last_col - 1 - first_col) / self.side);
            let part = self.parts(row..row + 1, col..col + 1);
            let left = (last_row - part.rows.start).min(last_col - part.cols.start);
            let before = (last_row - left, last_col - left);
            cell = (before.0 > first_row && before.1 > first_col).then_some(before);
            Some(Block {
                rows: part.rows.start..part.rows.end.min(rows),
                cols: part.cols.start..part.cols.end.min(cols),
                ..part
            })
        })
    }

    /// The edges that enter `part`. The first cell of `part` is that of one of the parts.
    pub fn entering(&self, part: &Block) -> Edges {
        let (row, col) = self.place(part.rows.start, part.cols.start);
        let above = &self.horizontal[row / self.side as usize];
        let before = &self.vertical[col / self.side as usize];
        let cut = |line: &Edge, first: usize, len: usize| line.cut(first..first + len);
        let h = |line: &Edge, place: usize| line.h(place - 1).unwrap_or(0);
        Edges {
            corner: match (row, col) {
                (0, 0) => self.corner,
                (_, 0) => h(before, row),
                _ => h(above, col),
            },
            horizontal: cut(above, col, part.cols.len()),
            vertical: cut(before, row, part.rows.len()),
        }
    }

    /// Stores the lower edge of a block, from column `col` of the window on, in the row before `row`. Does nothing if
    /// no line passes there.
    pub fn leave_below(&mut self, row: u32, col: u32, values: &Edge) {
        let (row, col) = self.place(row, col);
        leave(&mut self.horizontal, row, self.side, col, values);
    }

    /// Stores the right edge of a block, from row `row` of the window on, in the column before `col`. Does nothing if
    /// no line passes there.
    pub fn leave_right(&mut self, row: u32, col: u32, values: &Edge) {
        let (row, col) = self.place(row, col);
        leave(&mut self.vertical, col, self.side, row, values);
    }

    /// A row and a column of the window, counted from the block's first.
    fn place(&self, row: u32, col: u32) -> (usize, usize) {
        ((row - self.block.rows.start) as usize, (col - self.block.cols.start) as usize)
    }
}

fn leave(lines: &mut [Edge], line: usize, side: u32, first: usize, values: &Edge) {
    if line.is_multiple_of(side as usize)
        && let Some(line) = lines.get_mut(line / side as usize)
    {
        line.put(first, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Primitives;
    use crate::engine::plain::Plain;
    use crate::engine::{Capabilities, Directions, Engine, Paths, Window};
    use crate::terms::alignment::HitEnd;
    use crate::terms::batch::Batch;
    use crate::terms::batch::Pair;
    use crate::terms::bounds::Band;
    use crate::terms::error::EngineError;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    /// Records the first cells of the blocks that are swept.
    struct Noting(Vec<(u32, u32)>);

    fn not_asked_for<T>() -> Result<T, EngineError> {
        Err(EngineError::Wrong("not asked for".into()))
    }

    impl Engine for Noting {
        fn capabilities(&self) -> Capabilities {
            Capabilities::named("noting")
        }

        fn score(&mut self, _: &Batch, _: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
            not_asked_for()
        }

        fn paths(&mut self, _: &Batch, _: &[Window]) -> Result<Paths, EngineError> {
            not_asked_for()
        }
    }

    impl Primitives for Noting {
        fn fill(&mut self, _: &Batch, _: &[Window]) -> Result<Directions, EngineError> {
            not_asked_for()
        }

        fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
            self.0.push((block.rows.start, block.cols.start));
            Plain::new().sweep(batch, block, edges)
        }

        fn fill_blocks(&mut self, _: &Batch, _: &[(Block, Edges)]) -> Result<Directions, EngineError> {
            not_asked_for()
        }
    }

    #[test]
    fn only_parts_that_the_band_crosses_are_swept() {
        let codes = [0u8; 1536];
        let batch = Batch {
            queries: Arc::new([&codes[..]].into_iter().collect()),
            targets: Arc::new([&codes[..]].into_iter().collect()),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let swept = |deletions: u32, insertions: u32| {
            let band = Band { deletions, insertions };
            let window =
                Window { query: 0, target: 0, start: 0, query_end: 1536, target_end: 1536, band, score: 0 };
            let mut engine = Noting(Vec::new());
            engine.block_checkpoints(&batch, &Block::whole(&window), &Edges::default(), 512).unwrap();
            engine.0.sort_unstable();
            engine.0
        };
        // A path along the diagonal takes H of the corners from the parts to the left.
        assert_eq!(swept(0, 0), [(0, 0), (512, 0), (512, 512), (1024, 512)]);
        assert_eq!(swept(0, 1), [(0, 0), (0, 512), (512, 0), (512, 512), (512, 1024), (1024, 512)]);
        assert_eq!(swept(0, 512).len(), 6);
        assert_eq!(swept(512, 512).len(), 7);
        assert_eq!(swept(513, 513).len(), 8);
    }
}
