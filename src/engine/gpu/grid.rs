//! Grids of tiles: strips of query rows by runs of target columns, for what one tile can't hold.

use crate::engine::gpu::Cols;
use crate::engine::gpu::job::EdgeValues;
use crate::engine::gpu::layout::{TILE_COLS, Task};
use crate::engine::{Edges, Window};
use std::ops::Range;

/// The grid over `rows` x `cols` cells.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub rows: u32,
    pub cols: u32,
    /// Rows of a strip.
    height: u32,
    /// Empty rows above the first.
    pad: u32,
}

/// One tile of a grid. Tiles of one wave run side by side; each waits for the waves before.
#[derive(Clone, Debug)]
pub struct GridTile {
    pub strip: u32,
    pub wave: u32,
    pub cols: Cols,
}

impl Grid {
    /// A grid whose last strip is full, for scores: the empty rows stand above the query.
    pub fn padded(rows: u32, cols: u32, height: u32) -> Grid {
        Grid { rows, cols, height, pad: rows.next_multiple_of(height) - rows }
    }

    /// A grid whose first strip begins with the first row, so that edges can enter from above.
    pub fn unpadded(rows: u32, cols: u32, height: u32) -> Grid {
        Grid { rows, cols, height, pad: 0 }
    }

    pub fn strips(&self) -> u32 {
        (self.rows + self.pad).div_ceil(self.height)
    }

    /// The grid's row that is the first of a strip's tile; negative where empty rows come first.
    pub fn first_row(&self, strip: u32) -> i32 {
        (strip * self.height) as i32 - self.pad as i32
    }

    /// Edge values: one for each column, and for each strip one a row and a corner.
    pub fn edges(&self) -> u64 {
        u64::from(self.cols) + u64::from(self.strips()) * u64::from(self.height + 1)
    }

    fn vertical(&self, strip: u32) -> u64 {
        u64::from(self.cols) + u64::from(strip) * u64::from(self.height + 1)
    }

    /// The tiles, given the columns that each strip needs; cut at multiples of [`TILE_COLS`], so that
    /// whatever a tile needs from above was done one wave before it.
    pub fn tiles(&self, cols: impl Fn(u32) -> Cols) -> impl Iterator<Item = GridTile> {
        (0..self.strips()).flat_map(move |strip| {
            let cols = cols(strip);
            (cols.start / TILE_COLS..cols.end.div_ceil(TILE_COLS)).map(move |run| GridTile {
                strip,
                wave: strip + run,
                cols: cols.start.max(run * TILE_COLS)..cols.end.min((run + 1) * TILE_COLS),
            })
        })
    }

    /// The columns that a window's band takes in a strip, and one before them: the first cell's
    /// diagonal neighbour comes from there.
    pub fn band_cols(&self, window: &Window, strip: u32) -> Cols {
        let diagonal = i64::from(self.cols) - i64::from(self.rows);
        let first = i64::from(self.first_row(strip)) + diagonal;
        let last = first + i64::from(self.height) - 1;
        let clip = |col: i64| col.clamp(0, i64::from(self.cols)) as u32;
        clip(first - i64::from(window.band.deletions) - 1)..clip(last + i64::from(window.band.insertions) + 1)
    }

    /// The task of a tile; `base` is that of the whole grid, as if it were one tile without padding.
    pub fn task(&self, tile: &GridTile, base: &Task, edges: u64) -> Task {
        let first = self.first_row(tile.strip);
        let row = first.max(0) as u32;
        Task {
            query: base.query + row,
            rows: (first + self.height as i32).min(self.rows as i32) as u32 - row,
            pad: (row as i32 - first) as u32,
            target_: base.target_ + tile.cols.start,
            cols: tile.cols.len() as u32,
            own: base.own.saturating_sub(tile.cols.start),
            horizontal: (edges + u64::from(tile.cols.start)) as u32,
            vertical: (edges + self.vertical(tile.strip)) as u32,
            ..*base
        }
    }

    /// Where entering edges go.
    pub fn entering(&self, edges: &Edges) -> Vec<(u64, EdgeValues)> {
        let mut entering = Vec::new();
        if !edges.horizontal.is_empty() {
            entering.push((0, edges.horizontal.clone()));
        }
        for strip in 0..self.strips() {
            let row = (strip * self.height) as usize;
            let corner = match row {
                0 => edges.corner,
                row => edges.vertical.get(row - 1).map_or(0, |value| value[0]),
            };
            let rows = edges.vertical.iter().skip(row).take(self.height as usize);
            entering
                .push((self.vertical(strip), std::iter::once([corner, 0]).chain(rows.copied()).collect()));
        }
        entering
    }

    /// Where leaving edges lie: below, then right, strip by strip.
    pub fn leaving(&self) -> Vec<Range<u64>> {
        let right = |strip: u32| {
            let first = self.vertical(strip) + 1;
            let rows = (self.rows - strip * self.height).min(self.height);
            first..first + u64::from(rows)
        };
        std::iter::once(0..u64::from(self.cols)).chain((0..self.strips()).map(right)).collect()
    }

    /// The leaving edges, as read back.
    pub fn left_behind(&self, read: Vec<EdgeValues>) -> Edges {
        let mut read = read.into_iter();
        let below = read.next().unwrap_or_default();
        // Below a strip that is not full lie the rows behind the query.
        let full = self.rows.is_multiple_of(self.height);
        Edges {
            corner: 0,
            horizontal: if full { below } else { Vec::new() },
            vertical: read.flatten().collect(),
        }
    }
}
