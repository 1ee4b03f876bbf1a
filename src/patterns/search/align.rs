//! Traces an end back to its start.
//!
//! The traceback starts at D(m,j) and stops at row 0. At each cell it follows the move that produced the cell's value;
//! if several moves did, it prefers the diagonal, then the deletion, then the insertion. This chooses one of the paths
//! with the minimum number of edits, and with it the start; gaps are as far left in the text as possible. The traceback
//! does not depend on how the end was found.
//!
//! A path with `d` edits never leaves its last cell's diagonal by more than `d`, so only that band is filled. Values
//! outside the band count as infinite. Values inside it may be too large, but are exact wherever a path with `d` edits
//! passes, so the traceback equals that of the whole matrix.
//!
//! If the band is large, only some of its rows are stored: the traceback proceeds in blocks of rows, and recomputes
//! each block from the row before it.

use super::pattern::matches;
use crate::terms::alignment::ColumnOp;
use crate::terms::casts::to_u32;
use std::mem;

/// Maximum number of cells stored at once; a larger band is filled in blocks of rows.
const CELLS: usize = 1 << 20;

/// Runs of equal steps in text order. No run is empty, and adjacent runs differ in kind.
pub type PatternPath = Vec<(u32, ColumnOp)>;

/// Start of a hit in the text, 0-based, and the path from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    pub start: usize,
    pub path: PatternPath,
}

/// Cells of the bands, reused from path to path.
#[derive(Clone, Debug, Default)]
pub struct PatternCells {
    cells: Vec<u32>,
    /// The row before each block.
    firsts: Vec<u32>,
}

/// The path of a pattern with `edits` edits at `end`; `None` if there is no such path.
pub fn align(pattern: &[u8], text: &[u8], end: usize, edits: u32) -> Option<Aligned> {
    align_in(&mut PatternCells::default(), pattern, text, end, edits)
}

/// [`align`] with reusable cells.
pub fn align_in(
    kept: &mut PatternCells,
    pattern: &[u8],
    text: &[u8],
    end: usize,
    edits: u32,
) -> Option<Aligned> {
    if edits == 0 {
        let start = end.checked_sub(pattern.len())?;
        return replaced(pattern, text, end)
            .filter(|found| found.path == [(to_u32(end - start), ColumnOp::Equal)]);
    }
    let mut band = PatternBand::fill(kept, pattern, text, end, edits as usize, CELLS);
    let fits = band.at(pattern.len(), band.off) == edits;
    let found = fits.then(|| band.walk());
    *kept = band.kept;
    found
}

/// Minimum number of edits of a pattern at `end`; `None` if it exceeds `most`.
pub fn fewest_in(kept: &mut PatternCells, pattern: &[u8], text: &[u8], end: usize, most: u32) -> Option<u32> {
    let band = PatternBand::fill(kept, pattern, text, end, most as usize, CELLS);
    let edits = band.at(pattern.len(), band.off);
    *kept = band.kept;
    (edits <= most).then_some(edits)
}

/// The path of a pattern without gaps; `None` if fewer than its length of bases precede `end`.
pub fn replaced(pattern: &[u8], text: &[u8], end: usize) -> Option<Aligned> {
    let start = end.checked_sub(pattern.len())?;
    let step = |(&class, &letter): (&u8, &u8)| step_of(class, letter);
    let steps: Vec<ColumnOp> = pattern.iter().zip(&text[start..end]).map(step).collect();
    Some(Aligned { start, path: runs(steps.into_iter()) })
}

/// Joins single steps into runs.
pub fn runs(steps: impl Iterator<Item = ColumnOp>) -> PatternPath {
    let mut path = PatternPath::new();
    for step in steps {
        match path.last_mut() {
            Some((len, last)) if *last == step => *len += 1,
            _ => path.push((1, step)),
        }
    }
    path
}

/// Edits of a path.
pub fn edits(path: &PatternPath) -> u32 {
    path.iter().filter(|run| run.1 != ColumnOp::Equal).map(|run| run.0).sum()
}

pub fn step_of(class: u8, letter: u8) -> ColumnOp {
    if matches(class, letter) { ColumnOp::Equal } else { ColumnOp::Unequal }
}

/// The cells of a band: in row `i`, the columns `j = end - (m - i) + o - off` for `o` from 0 to `2 * off`. Only the
/// rows of one block and the last row of the block before it are in memory.
struct PatternBand<'a> {
    pattern: &'a [u8],
    text: &'a [u8],
    end: usize,
    off: usize,
    /// Rows per block.
    rows: usize,
    /// Index of the block in memory: its rows start at `block * rows + 1`.
    block: usize,
    kept: PatternCells,
}

impl<'a> PatternBand<'a> {
    /// Fills the band row by row, with about `cells` cells in memory, and keeps its last block.
    fn fill(
        kept: &mut PatternCells,
        pattern: &'a [u8],
        text: &'a [u8],
        end: usize,
        off: usize,
        cells: usize,
    ) -> PatternBand<'a> {
        let (width, len) = (2 * off + 1, pattern.len());
        // Memory is smallest if a block has as many rows as there are blocks.
        let rows = if (len + 1) * width <= cells { len } else { (cells / width).max(len.isqrt()).max(1) };
        let mut band = PatternBand { pattern, text, end, off, rows, block: 0, kept: mem::take(kept) };
        let first = |o: usize| if band.column(0, o).is_some() { 0 } else { u32::MAX };
        let firsts: Vec<u32> = (0..width).map(first).collect();
        band.kept.firsts.clear();
        band.kept.firsts.extend(firsts);
        band.fill_block(0);
        while band.block * rows + rows < len {
            band.kept.firsts.extend_from_slice(&band.kept.cells[rows * width..]);
            band.fill_block(band.block + 1);
        }
        band
    }

    /// Fills a block, starting from the row before it.
    fn fill_block(&mut self, block: usize) {
        let width = 2 * self.off + 1;
        self.block = block;
        let before = block * self.rows;
        let PatternCells { cells, firsts } = &mut self.kept;
        cells.clear();
        cells.extend_from_slice(&firsts[block * width..(block + 1) * width]);
        let last = (before + self.rows).min(self.pattern.len());
        cells.resize((last - before + 1) * width, u32::MAX);
        for i in before + 1..=last {
            for o in 0..width {
                let Some(j) = self.column(i, o) else { continue };
                let cell = self.cell(i, o, j);
                self.kept.cells[(i - before) * width + o] = cell;
            }
        }
    }

    /// The column of a cell; `None` outside the matrix.
    fn column(&self, i: usize, o: usize) -> Option<usize> {
        (self.end + i + o).checked_sub(self.pattern.len() + self.off).filter(|&j| j <= self.end)
    }

    /// A cell of the block, or of the row before it.
    fn at(&self, i: usize, o: usize) -> u32 {
        self.kept.cells[(i - self.block * self.rows) * (2 * self.off + 1) + o]
    }

    /// The value and step of each move into a cell of row 1 or more.
    fn ways(&self, i: usize, o: usize, j: usize) -> [(u32, ColumnOp); 3] {
        let diagonal = match j.checked_sub(1) {
            Some(before) => {
                let step = step_of(self.pattern[i - 1], self.text[before]);
                (self.at(i - 1, o).saturating_add(u32::from(step == ColumnOp::Unequal)), step)
            }
            None => (u32::MAX, ColumnOp::Unequal),
        };
        let deletion = if o > 0 { self.at(i, o - 1).saturating_add(1) } else { u32::MAX };
        let insertion = if o < 2 * self.off { self.at(i - 1, o + 1).saturating_add(1) } else { u32::MAX };
        [diagonal, (deletion, ColumnOp::Deletion), (insertion, ColumnOp::Insertion)]
    }

    fn cell(&self, i: usize, o: usize, j: usize) -> u32 {
        self.ways(i, o, j).iter().map(|way| way.0).min().unwrap_or(u32::MAX)
    }

    /// Traces back from the last cell. The last block must be in memory.
    fn walk(&mut self) -> Aligned {
        let (mut i, mut o, mut steps) = (self.pattern.len(), self.off, Vec::new());
        loop {
            let j = self.column(i, o).unwrap_or(0);
            if i == 0 {
                return Aligned { start: j, path: runs(steps.into_iter().rev()) };
            }
            if i == self.block * self.rows {
                self.fill_block(self.block - 1);
            }
            let ways = self.ways(i, o, j);
            let best = self.at(i, o);
            // One of the moves produced the cell's value.
            let (_, step) = ways.into_iter().find(|way| way.0 == best).unwrap_or(ways[2]);
            match step {
                ColumnOp::Equal | ColumnOp::Unequal => i -= 1,
                ColumnOp::Deletion => o -= 1,
                ColumnOp::Insertion => (i, o) = (i - 1, o + 1),
            }
            steps.push(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::search::plain;

    /// Blocks with any number of rows, and cells that are reused from path to path.
    #[test]
    fn blocks_of_rows_are_those_of_the_whole_band() {
        let text: Vec<u8> = (0..150u32).map(|k| (k * k % 7 % 4) as u8).collect();
        let mut kept = PatternCells::default();
        for len in [1, 2, 3, 8, 30, 61] {
            let pattern: Vec<u8> = (0..len).map(|k: u32| 1 << (k * k % 11 % 4)).collect();
            for end in [1, 2, 29, 64, 150] {
                let expected = plain::align(&pattern, &text, end);
                let off = edits(&expected.path) as usize;
                for cells in [0, 50, 200, 1000, CELLS] {
                    let mut band = PatternBand::fill(&mut kept, &pattern, &text, end, off, cells);
                    assert_eq!(band.at(pattern.len(), off) as usize, off);
                    assert_eq!(band.walk(), expected, "{len} rows, end {end}, {cells} cells");
                    kept = band.kept;
                }
            }
        }
    }
}
