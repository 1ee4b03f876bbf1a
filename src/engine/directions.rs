//! Direction matrices: 4 bits per cell, 8 cells per word, and the layout of the cells. Under gap costs of several pieces
//! a cell has more bits.
//!
//! The bits of a cell (i, j): 2 bits name the source of H(i,j) ([`CellSource`]), one bit says whether E(i,j+1) extends
//! E(i,j) instead of opening at H(i,j), and one bit says the same of F(i+1,j) and F(i,j). Under several pieces, the next
//! bits have the index of the piece whose gap is the source, and two bits of each further piece say whether its E and F
//! extend. At equal
//! scores a gap opens rather than extends, so that it closes as early as possible on the way back. The bits of E or F are
//! arbitrary if that E or F is 0 or less, because no path contains such a gap.
//!
//! All constants of this encoding are defined in this file.

use crate::engine::Window;
use crate::terms::casts::{low_u8, low_u16, to_i32, to_u32, to_usize};
use crate::terms::scoring::MOST_PIECES;
use std::ops::Range;

/// The source of H of a cell. Ties are broken in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CellSource {
    /// H is 0: the path starts after this cell.
    Stop = 0,
    /// From the cell diagonally above: a match or a mismatch.
    Diagonal = 1,
    /// From E: a deletion ends here.
    Deletion = 2,
    /// From F: an insertion ends here.
    Insertion = 3,
}

/// All bits of a cell.
pub type CellBits = u16;

/// Bits of a [`CellSource`], the lowest of a cell.
pub const SOURCE_BITS: u32 = 2;
/// All bits of a [`CellSource`].
pub const SOURCE_MASK: CellBits = (1 << SOURCE_BITS) - 1;
/// Bits that say whether E and F of a piece extend a gap.
const EXTEND_BITS: u32 = 2;
/// The lowest bit of the piece whose gap is the source.
pub const PIECE_SHIFT: u32 = SOURCE_BITS + EXTEND_BITS;
/// Bits of a piece.
const PIECE_BITS: u32 = MOST_PIECES.next_power_of_two().trailing_zeros();
/// All bits of the piece whose gap is the source.
pub const PIECE_MASK: CellBits = ((1 << PIECE_BITS) - 1) << PIECE_SHIFT;

/// Bits per cell under gap costs of this number of pieces: a power of two, so that no cell is in two words.
pub const fn cell_bits(pieces: usize) -> u32 {
    match pieces {
        1 => PIECE_SHIFT,
        _ => extend_shift(pieces).next_power_of_two(),
    }
}

/// The lowest bit of those that say whether gaps of a piece extend.
#[inline(always)]
const fn extend_shift(piece: usize) -> u32 {
    let mut shift = SOURCE_BITS;
    let mut earlier = 0;
    while earlier < piece {
        shift += if earlier == 0 { EXTEND_BITS + PIECE_BITS } else { EXTEND_BITS };
        earlier += 1;
    }
    shift
}

const _: () = assert!(cell_bits(MOST_PIECES) <= CellBits::BITS);

/// Cells per word.
pub const fn cells_per_word(pieces: usize) -> u32 {
    u32::BITS / cell_bits(pieces)
}

/// Bits that say whether E and F of a piece extend a gap.
#[inline(always)]
pub const fn extend_bits(piece: usize) -> [CellBits; 2] {
    [1 << extend_shift(piece), 2 << extend_shift(piece)]
}

impl CellSource {
    /// The source that the lowest bits encode.
    #[inline(always)]
    pub fn of(bits: CellBits) -> CellSource {
        match bits & SOURCE_MASK {
            0 => CellSource::Stop,
            1 => CellSource::Diagonal,
            2 => CellSource::Deletion,
            _ => CellSource::Insertion,
        }
    }
}

/// A step of a path on its way back, and the piece of the gap costs that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    pub source: CellSource,
    /// Index of the piece; 0 outside gaps.
    pub piece: u8,
}

impl From<CellSource> for Layer {
    /// A step outside gaps, or in a gap of the first piece.
    fn from(source: CellSource) -> Layer {
        Layer { source, piece: 0 }
    }
}

impl Layer {
    /// The step that a path takes at a cell on its way back, where `self` is the step that led to the cell. In a gap, the
    /// path continues the gap as long as the gap was extended.
    #[inline(always)]
    pub fn next(self, bits: CellBits) -> Layer {
        let [deletion, insertion] = extend_bits(usize::from(self.piece));
        match self.source {
            CellSource::Deletion if bits & deletion != 0 => self,
            CellSource::Insertion if bits & insertion != 0 => self,
            _ => Layer::of(bits),
        }
    }

    /// The step that the source and the piece in a cell's bits encode.
    #[inline(always)]
    pub fn of(bits: CellBits) -> Layer {
        Layer { source: CellSource::of(bits), piece: low_u8((bits & PIECE_MASK) >> PIECE_SHIFT) }
    }

    /// The bits of a cell whose source is this step.
    #[inline(always)]
    pub const fn bits(self) -> CellBits {
        self.source as CellBits | (self.piece as CellBits) << PIECE_SHIFT
    }
}

/// A rectangle of a window whose directions are stored together.
///
/// Rows are dealt to lanes, `rows_per_lane` to each. A lane handles its rows of a column in one step and, if `skew` is
/// 1, one column later than the lane above. The `stored` steps of each lane that the band crosses are kept, in `words`
/// words of 8 rows each. The words of a lane are contiguous, `(lane * stored + step) * words + row / 8`, because a lane
/// writes them one after another. If a lane holds a single row, a word has 8 of its steps instead: `step / 8 * lanes +
/// lane`. Cells of 8 bits are 4 to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Window row of the tile's first row; negative if rows above the window pad the tile.
    pub row: i32,
    /// Window column of the tile's first column.
    pub col: u32,
    pub cols: u32,
    pub lanes: u32,
    pub rows_per_lane: u32,
    pub skew: u32,
    /// First column of the tile that the band reaches in the tile's first row.
    pub band_first: i32,
    /// Number of kept steps of each lane.
    pub stored: u32,
    /// Bits per cell.
    pub cell_bits: u32,
    /// Index of its first word in the part that holds its window.
    pub offset: u64,
}

impl Tile {
    /// A tile over `cols` columns from `col` and the rows that `lanes` lanes hold from `row`, of a window with `band`,
    /// with `cell_bits` bits per cell. `offset` is left at 0.
    pub fn new(window: &Window, row: i32, cols: Range<u32>, shape: (u32, u32, u32), cell_bits: u32) -> Tile {
        let (lanes, rows_per_lane, skew) = shape;
        // The path ends in the window's last cell, on the diagonal `col - row = end`.
        let end = i64::from(window.target_end - window.start) - i64::from(window.query_end);
        let first = i64::from(row) + end - i64::from(window.band.deletions) - i64::from(cols.start);
        let len = cols.end - cols.start;
        let steps = len + (lanes - 1) * skew;
        let width =
            rows_per_lane.saturating_add(window.band.deletions).saturating_add(window.band.insertions);
        Tile {
            row,
            col: cols.start,
            cols: len,
            lanes,
            rows_per_lane,
            skew,
            band_first: to_i32(first.clamp(-(1 << 30), 1 << 30)),
            stored: width.min(steps),
            cell_bits,
            offset: 0,
        }
    }

    /// A tile that keeps every cell of `rows` x `cols`, with `cell_bits` bits each.
    pub fn whole(rows: u32, cols: u32, cell_bits: u32) -> Tile {
        let rows_per_lane = u32::BITS / cell_bits;
        let lanes = rows.div_ceil(rows_per_lane).max(1);
        Tile {
            row: 0,
            col: 0,
            cols,
            lanes,
            rows_per_lane,
            skew: 0,
            band_first: -(1 << 30),
            stored: cols,
            cell_bits,
            offset: 0,
        }
    }

    /// A tile of a block that keeps every step of `lanes` skewed lanes, with `cell_bits` bits per cell.
    pub fn skewed(row: i32, cols: &Range<u32>, lanes: u32, rows_per_lane: u32, cell_bits: u32) -> Tile {
        let len = cols.end - cols.start;
        let stored = len + lanes - 1;
        Tile {
            row,
            col: cols.start,
            cols: len,
            lanes,
            rows_per_lane,
            skew: 1,
            band_first: -(1 << 30),
            stored,
            cell_bits,
            offset: 0,
        }
    }

    /// A tile of `lanes` rows, a skewed lane each, that keeps every step, with `cell_bits` bits per cell.
    pub fn strip(row: i32, cols: Range<u32>, lanes: u32, cell_bits: u32) -> Tile {
        Tile::skewed(row, &cols, lanes, 1, cell_bits)
    }

    /// Cells of a word: a power of two, so that a traceback divides by it without a division.
    fn cells_per_word(&self) -> u32 {
        1 << (u32::BITS.trailing_zeros() - self.cell_bits.trailing_zeros())
    }

    /// Rows that the tile's lanes hold.
    pub fn rows(&self) -> u32 {
        self.lanes * self.rows_per_lane
    }

    /// Steps of every lane.
    fn steps(&self) -> u32 {
        self.cols + (self.lanes - 1) * self.skew
    }

    /// Words of one lane and step.
    pub fn words_per_step(&self) -> u32 {
        self.rows_per_lane.div_ceil(self.cells_per_word())
    }

    /// Words of the whole tile.
    pub fn words(&self) -> u64 {
        let stored =
            if self.packs_steps() { self.stored.div_ceil(self.cells_per_word()) } else { self.stored };
        u64::from(stored) * u64::from(self.lanes) * u64::from(self.words_per_step())
    }

    /// Whether a word has the cells of several steps.
    fn packs_steps(&self) -> bool {
        self.rows_per_lane == 1
    }

    /// The first step that `lane` keeps.
    #[inline(always)]
    pub fn first_step(&self, lane: u32) -> u32 {
        let first = i64::from(self.band_first) + i64::from(lane) * i64::from(self.rows_per_lane + self.skew);
        to_u32(first.clamp(0, i64::from(self.steps() - self.stored)))
    }

    /// Word (from the tile's first) and shift of the cell at tile row `row` and tile column `col`, or `None` if the
    /// cell is not kept.
    #[inline(always)]
    pub fn place(&self, row: u32, col: u32) -> Option<(u64, u32)> {
        let (lane, k) = (row / self.rows_per_lane, row % self.rows_per_lane);
        let cells = self.cells_per_word();
        let (log, rest) = (cells.trailing_zeros(), cells - 1);
        let step =
            (col + lane * self.skew).checked_sub(self.first_step(lane)).filter(|&step| step < self.stored)?;
        if self.packs_steps() {
            let word = u64::from(step >> log) * u64::from(self.lanes) + u64::from(lane);
            return Some((word, self.cell_bits * (step & rest)));
        }
        let group = u64::from(lane) * u64::from(self.stored) + u64::from(step);
        let word = group * u64::from(self.words_per_step()) + u64::from(k >> log);
        Some((word, self.cell_bits * (k & rest)))
    }

    /// Sets the bits of the cell at window row `row` and column `col`, if the cell is kept.
    pub fn set(&self, words: &mut [u32], row: i32, col: u32, bits: CellBits) {
        if let Some((word, shift)) = self.place((row - self.row).cast_unsigned(), col - self.col) {
            words[to_usize(self.offset + word)] |= u32::from(bits) << shift;
        }
    }

    fn holds(&self, row: u32, col: u32) -> bool {
        (i64::from(row) - i64::from(self.row)).cast_unsigned() <= u64::from(self.rows() - 1)
            && col.wrapping_sub(self.col) < self.cols
    }
}

/// Words in a vector, or in mapped memory of a device.
pub type DirectionWords = Box<dyn AsRef<[u32]> + Send + Sync>;

/// The directions of some windows.
#[derive(Default)]
pub struct Directions {
    /// The words, in parts as they were filled.
    parts: Vec<DirectionWords>,
    tiles: Vec<Tile>,
    /// Part and tiles of each window.
    windows: Vec<(usize, Range<usize>)>,
}

impl Directions {
    /// Directions of a single window.
    pub fn single(tile: Tile, words: Vec<u32>) -> Directions {
        let mut layout = TileLayout::default();
        layout.push_window([tile]);
        Directions::new(layout, Box::new(words))
    }

    /// Directions of windows that share `words`.
    pub fn new(layout: TileLayout, words: DirectionWords) -> Directions {
        let windows = layout.windows.into_iter().map(|tiles| (0, tiles)).collect();
        Directions { parts: vec![words], tiles: layout.tiles, windows }
    }

    /// Appends the windows of `behind`.
    pub fn append(&mut self, behind: Directions) {
        let (parts, tiles) = (self.parts.len(), self.tiles.len());
        self.parts.extend(behind.parts);
        self.tiles.extend(behind.tiles);
        let moved =
            |(part, range): (usize, Range<usize>)| (part + parts, range.start + tiles..range.end + tiles);
        self.windows.extend(behind.windows.into_iter().map(moved));
    }

    /// Returns a reader of one window's cells.
    pub fn window(&self, index: usize) -> WindowCells<'_> {
        let (part, tiles) = &self.windows[index];
        WindowCells { words: (*self.parts[*part]).as_ref(), tiles: &self.tiles[tiles.clone()], last: 0 }
    }
}

/// The layout of the tiles of some windows in words that are yet to be filled.
#[derive(Debug, Default)]
pub struct TileLayout {
    pub tiles: Vec<Tile>,
    windows: Vec<Range<usize>>,
    /// Number of words of all tiles.
    pub words: u64,
}

impl TileLayout {
    /// Appends a window with these tiles, and returns the tiles with their offsets.
    pub fn push_window(&mut self, tiles: impl IntoIterator<Item = Tile>) -> &[Tile] {
        let first = self.tiles.len();
        for mut tile in tiles {
            tile.offset = self.words;
            self.words += tile.words();
            self.tiles.push(tile);
        }
        self.windows.push(first..self.tiles.len());
        &self.tiles[first..]
    }
}

/// Reads the cells of one window. It remembers the tile of the last cell, because a path stays in a tile for long.
pub struct WindowCells<'a> {
    words: &'a [u32],
    tiles: &'a [Tile],
    last: usize,
}

impl WindowCells<'_> {
    /// The bits of the cell at window row `row` and window column `col`, or `None` if the cell is not kept.
    pub fn get(&mut self, row: u32, col: u32) -> Option<CellBits> {
        if !self.tiles.get(self.last)?.holds(row, col) {
            // The path usually continues in the tile above.
            let order =
                (0..=self.last.min(self.tiles.len() - 1)).rev().chain(self.last + 1..self.tiles.len());
            self.last = { order }.find(|&index| self.tiles[index].holds(row, col))?;
        }
        let tile = &self.tiles[self.last];
        let (word, shift) = tile.place(to_u32(i64::from(row) - i64::from(tile.row)), col - tile.col)?;
        let bits = self.words.get(to_usize(tile.offset + word))?;
        Some(low_u16(bits >> shift) & low_u16((1 << tile.cell_bits) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::bounds::Band;
    use std::collections::HashSet;

    /// Every cell of the band has a unique position inside the tile, whatever the shape.
    #[test]
    fn places_are_distinct_and_cover_the_band() {
        for (lanes, rows_per_lane, skew) in [(1, 8, 0), (4, 8, 0), (8, 5, 1), (4, 16, 1)] {
            for (deletions, insertions, cell_bits) in
                [(0, 0, 4), (3, 1, 4), (3, 1, 8), (0, 9, 8), (200, 200, 4), (200, 200, 8)]
            {
                let rows = lanes * rows_per_lane;
                for (query_end, cols) in [(rows, rows + 3), (rows - 2, 7), (rows, 1), (1, rows)] {
                    let band = Band { deletions, insertions };
                    let window = Window {
                        query: 0,
                        target: 0,
                        start: 5,
                        query_end,
                        target_end: 5 + cols,
                        band,
                        score: 0,
                    };
                    let row = query_end as i32 - rows as i32;
                    let shape = (lanes, rows_per_lane, skew);
                    let tile = Tile::new(&window, row, 0..cols, shape, cell_bits);
                    let mut seen = HashSet::new();
                    for i in 0..query_end {
                        for j in 0..cols {
                            // Net deletions of a path from here to the window's last cell.
                            let net = i64::from(cols - 1 - j) - i64::from(query_end - 1 - i);
                            let place = tile.place((i64::from(i) - i64::from(row)) as u32, j);
                            if -i64::from(insertions) <= net && net <= i64::from(deletions) {
                                assert!(place.is_some(), "{tile:?} lacks {i},{j}");
                            }
                            if let Some(place) = place {
                                assert!(place.0 < tile.words() && seen.insert(place), "{tile:?} {i},{j}");
                            }
                        }
                    }
                }
            }
        }
    }
}
