//! The edges between the swept part of a matrix and the rest: the only state that scoring a long pair keeps.

use crate::engine::{Block, Carry, Edge, Edges};
use crate::terms::alignment::HitEnd;
use crate::terms::casts::to_u32;
use crate::terms::scoring::Gaps;
use std::ops::Range;

/// A block cut into parts of `side` x `side` cells, swept by anti-diagonals of parts. It keeps only the edges that the
/// next anti-diagonal needs: 8 bytes per row, 8 bytes per column and 4 bytes per row of parts under affine gaps.
#[derive(Debug)]
pub struct Frontier {
    block: Block,
    side: u32,
    /// H and F of the row above the next part of each column.
    horizontal: Edge,
    /// H and E of the column before the next part of each row.
    vertical: Edge,
    /// For each row of parts, H of the cell diagonally above the next part's first cell.
    corners: Vec<i32>,
}

impl Frontier {
    /// The frontier of a block that `edges` enter, before any part is swept.
    pub fn new(block: &Block, edges: Edges, side: u32, gaps: Gaps) -> Frontier {
        let down = block.rows.len().div_ceil(side as usize);
        let border = |values: Edge, len: usize| match values.is_empty() {
            true => Edge::filled(Carry::BORDER, len, gaps.count()),
            false => values,
        };
        let vertical = border(edges.vertical, block.rows.len());
        let above = |part: usize| {
            (part * side as usize).checked_sub(1).and_then(|row| vertical.h(row)).unwrap_or(edges.corner)
        };
        Frontier {
            block: block.clone(),
            side,
            corners: (0..down).map(above).collect(),
            horizontal: border(edges.horizontal, block.cols.len()),
            vertical,
        }
    }

    /// The edges that leave the block, once all parts are swept.
    pub fn into_edges(self) -> Edges {
        Edges { corner: 0, horizontal: self.horizontal, vertical: self.vertical }
    }

    /// Number of anti-diagonals of parts.
    pub fn waves(&self) -> u32 {
        let across = self.block.cols.len().div_ceil(self.side as usize);
        to_u32((self.corners.len() + across).saturating_sub(1))
    }

    /// The parts of an anti-diagonal. They depend on earlier waves, but not on each other.
    pub fn wave(&self, wave: u32) -> Vec<Block> {
        let (down, across) =
            (to_u32(self.corners.len()), to_u32(self.block.cols.len().div_ceil(self.side as usize)));
        let rows = (wave + 1).saturating_sub(across)..down.min(wave + 1);
        rows.map(|row| self.part(row, wave - row)).collect()
    }

    fn part(&self, row: u32, col: u32) -> Block {
        let cut = |within: &Range<u32>, part: u32| {
            let start = within.start + part * self.side;
            start..within.end.min(start.saturating_add(self.side))
        };
        let Block { window, rows, cols } = &self.block;
        Block { window: *window, rows: cut(rows, row), cols: cut(cols, col) }
    }

    /// The edges that enter `part` of the next wave.
    pub fn entering(&self, part: &Block) -> Edges {
        let (rows, cols) = self.places(part);
        let row = rows.start / self.side as usize;
        Edges {
            corner: self.corners[row],
            horizontal: self.horizontal.cut(cols),
            vertical: self.vertical.cut(rows),
        }
    }

    /// Stores the edges that `part` leaves. A wave must be complete before the next one begins.
    pub fn leave(&mut self, part: &Block, edges: &Edges) {
        let (rows, cols) = self.places(part);
        // The corner of the next part to the right is the cell above this part's last column.
        let corner = &mut self.corners[rows.start / self.side as usize];
        *corner = self.horizontal.h(cols.end - 1).unwrap_or(*corner);
        // No part needs the lower edge of the last row of parts, which may have none.
        if edges.horizontal.len() == cols.len() {
            self.horizontal.put(cols.start, &edges.horizontal);
        }
        self.vertical.put(rows.start, &edges.vertical);
    }

    /// Rows and columns of a part, counted from the block's first.
    fn places(&self, part: &Block) -> (Range<usize>, Range<usize>) {
        let from = |within: &Range<u32>, part: &Range<u32>| {
            (part.start - within.start) as usize..(part.end - within.start) as usize
        };
        (from(&self.block.rows, &part.rows), from(&self.block.cols, &part.cols))
    }
}

/// Returns the better of two hits. The second is counted from a part's first cell.
pub fn better(best: HitEnd, hit: HitEnd, part: &Block) -> HitEnd {
    let hit = HitEnd {
        query_end: hit.query_end + part.rows.start,
        target_end: hit.target_end + part.cols.start,
        ..hit
    };
    if hit.score > 0 && hit.order(&best).is_lt() { hit } else { best }
}
