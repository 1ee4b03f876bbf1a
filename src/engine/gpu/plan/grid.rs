//! Grids of tiles: strips of query rows by runs of target columns, for matrices that one tile can't hold.

use crate::engine::carry::EdgeSlice;
use crate::engine::gpu::Cols;
use crate::engine::gpu::layout::{FEW_TILE_COLS, NOWHERE, TILE_COLS};
use crate::engine::gpu::plan::WholeTile;
use crate::engine::gpu::tasks::{ChainTask, FillTask, JoinedTask, LinedTask, Span};
use crate::engine::gpu::variant::STRIP_ROWS;
use crate::engine::{BLOCK_ROWS, Carry, Edge, Edges};
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::scoring::AlignmentMode;
use std::ops::Range;

// The lines between blocks coincide with tile borders.
const _: () = assert!(BLOCK_ROWS.is_multiple_of(TILE_COLS) && BLOCK_ROWS.is_multiple_of(STRIP_ROWS));
const _: () = assert!(TILE_COLS.is_multiple_of(FEW_TILE_COLS));

/// A grid over `rows` x `cols` cells.
///
/// Its edge values are, in order: one for each column; for each strip a corner and one for each row; then the values of
/// its lines, first the horizontal lines with a value for each column, then the vertical lines, strip by strip in the
/// same way. Tiles overwrite edge values with their own. Values that cross a line are stored in the line instead, once.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub rows: u32,
    pub cols: u32,
    /// Rows of a strip.
    height: u32,
    /// Empty rows above the first row.
    pad: u32,
    /// Columns of a tile.
    run: u32,
    /// Distance between lines inside the grid; [`u32::MAX`] if there are none.
    side: u32,
}

/// One tile of a grid. Tiles of one wave run concurrently; each depends on earlier waves.
#[derive(Clone, Debug)]
pub struct GridTile {
    pub strip: u32,
    pub wave: u32,
    pub cols: Cols,
}

/// Index of the first edge value on each side of a tile.
struct TileEdges {
    above: u32,
    left: u32,
    below: u32,
    right: u32,
}

impl Grid {
    /// A grid whose last strip is full, for scores: the empty rows are above the query.
    pub fn padded(rows: u32, cols: u32, height: u32) -> Grid {
        Grid { pad: rows.next_multiple_of(height) - rows, ..Grid::unpadded(rows, cols, height) }
    }

    /// A grid whose first strip begins with the first row, so that edges can enter from above.
    pub fn unpadded(rows: u32, cols: u32, height: u32) -> Grid {
        Grid { rows, cols, height, pad: 0, run: TILE_COLS, side: u32::MAX }
    }

    /// The grid of a window or a pair: borders lie directly above the first row, except in mode local, where empty rows
    /// may be above it.
    pub fn in_mode(mode: AlignmentMode, rows: u32, cols: u32, height: u32) -> Grid {
        match mode.is_local() {
            true => Grid::padded(rows, cols, height),
            false => Grid::unpadded(rows, cols, height),
        }
    }

    /// The same grid with lines at the multiples of `side`, which is a multiple of [`BLOCK_ROWS`].
    pub fn with_lines(self, side: u32) -> Grid {
        Grid { side, ..self }
    }

    /// The same grid, with short tiles if at most `side_by_side` tiles run concurrently and that is fewer than `few`.
    pub fn in_tiles_for(self, side_by_side: usize, few: usize) -> Grid {
        let run = if side_by_side < few { FEW_TILE_COLS } else { TILE_COLS };
        Grid { run, ..self }
    }

    /// The same rows and columns for chained strips of `height` rows, with the empty rows above the query, and runs of
    /// `run` columns in one dispatch.
    pub fn chained(self, height: u32, run: u32) -> Grid {
        Grid { run, ..Grid::padded(self.rows, self.cols, height) }
    }

    /// Columns of the longest run.
    pub fn run_cols(&self) -> u32 {
        self.cols.min(self.run)
    }

    pub fn strips(&self) -> u32 {
        (self.rows + self.pad).div_ceil(self.height)
    }

    /// The grid row of the first row of a strip's tile; negative if empty rows come first.
    pub fn first_row(&self, strip: u32) -> i32 {
        to_i32(strip * self.height) - to_i32(self.pad)
    }

    /// The grid rows of a strip's tile, including the empty rows.
    pub fn rows_of(&self, strip: u32) -> Range<i64> {
        let first = i64::from(self.first_row(strip));
        first..first + i64::from(self.height)
    }

    /// Empty rows above the first row.
    pub fn empty(&self) -> u32 {
        self.pad
    }

    /// Number of runs of columns.
    pub fn runs(&self) -> u32 {
        self.cols.div_ceil(self.run)
    }

    /// Number of tiles.
    pub fn size(&self) -> u64 {
        u64::from(self.strips()) * u64::from(self.runs())
    }

    /// Number of lines inside `len` rows or columns.
    fn lines(&self, len: u32) -> u32 {
        len.saturating_sub(1) / self.side
    }

    /// Index of the line directly before row or column `place` of `len`, if there is one.
    fn line(&self, place: u32, len: u32) -> Option<u32> {
        let on_line = place >= self.side && place < len && place.is_multiple_of(self.side);
        on_line.then(|| place / self.side - 1)
    }

    /// Number of edge values.
    pub fn edges(&self) -> u64 {
        self.vertical_line(self.lines(self.cols))
    }

    /// Number of edge values of all strips' rows and corners.
    fn strip_edges(&self) -> u64 {
        u64::from(self.strips()) * u64::from(self.height + 1)
    }

    fn horizontal_line(&self, line: u32) -> u64 {
        u64::from(self.cols) + self.strip_edges() + u64::from(line) * u64::from(self.cols)
    }

    fn vertical_line(&self, line: u32) -> u64 {
        self.horizontal_line(self.lines(self.rows)) + u64::from(line) * self.strip_edges()
    }

    /// The edge values between a strip and the one above.
    fn horizontal(&self, strip: u32) -> u64 {
        self.line(strip * self.height, self.rows).map_or(0, |line| self.horizontal_line(line))
    }

    /// The edge values between the columns `col - 1` and `col` of a strip.
    fn vertical(&self, strip: u32, col: u32) -> u64 {
        let line = self.line(col, self.cols).map(|line| self.vertical_line(line));
        line.unwrap_or(u64::from(self.cols)) + u64::from(strip) * u64::from(self.height + 1)
    }

    /// The same lines over strips of `height` rows in a chain, in one run.
    pub fn chained_with_lines(self, height: u32) -> Grid {
        Grid { height, run: u32::MAX, ..self }
    }

    /// The tiles, given the columns that each strip needs. They are cut at multiples of the run length, so that the
    /// values that a tile needs from above are complete one wave earlier.
    pub fn tiles(&self, cols: impl Fn(u32) -> Cols) -> impl Iterator<Item = GridTile> {
        (0..self.strips()).flat_map(move |strip| {
            let cols = cols(strip);
            (cols.start / self.run..cols.end.div_ceil(self.run)).map(move |run| GridTile {
                strip,
                wave: strip + run,
                cols: cols.start.max(run * self.run)..cols.end.min((run + 1) * self.run),
            })
        })
    }

    /// Number of waves of its tiles.
    pub fn waves(&self) -> u32 {
        (self.strips() + self.runs()).saturating_sub(1)
    }

    /// Maximum number of tiles in a wave.
    pub fn widest(&self) -> u32 {
        self.strips().min(self.runs())
    }

    /// Number of tiles of one wave if all columns are needed.
    pub fn wave_size(&self, wave: u32) -> u32 {
        let least = self.widest().min(wave + 1);
        least.min(self.waves() - wave)
    }

    /// Index of a tile among all tiles of the grid, run by run.
    pub fn place(&self, tile: &GridTile) -> u64 {
        u64::from(tile.cols.start / self.run) * u64::from(self.strips()) + u64::from(tile.strip)
    }

    /// The first row, not counting empty rows, and the first column of the tile at an index.
    pub fn first_cell(&self, place: u64) -> (u32, u32) {
        let (run, strip) = (place / u64::from(self.strips()), place % u64::from(self.strips()));
        (to_u32(self.first_row(to_u32(strip)).max(0)), to_u32(run) * self.run)
    }

    /// The tiles of one wave, strip by strip, given the columns that each strip needs.
    pub fn wave(&self, wave: u32, cols: impl Fn(u32) -> Cols) -> impl Iterator<Item = GridTile> {
        let first = (wave + 1).saturating_sub(self.runs());
        (first..self.strips().min(wave + 1)).filter_map(move |strip| {
            let (cols, run) = (cols(strip), wave - strip);
            let cols = cols.start.max(run * self.run)..cols.end.min((run + 1) * self.run);
            (!cols.is_empty()).then_some(GridTile { strip, wave, cols })
        })
    }

    /// A tile, if the grid has it.
    pub fn tile(&self, strip: u32, run: u32) -> Option<GridTile> {
        let cols = run * self.run..self.cols.min((run + 1) * self.run);
        let there = strip < self.strips() && run < self.runs();
        there.then_some(GridTile { strip, wave: strip + run, cols })
    }

    /// The task of a tile that is scored in waves; `edges` is the index of the grid's first edge value.
    pub fn joined_task(&self, tile: &GridTile, whole: &WholeTile, edges: u64, result: u32) -> JoinedTask {
        let TileEdges { above, left, below, right } = self.edges_of(tile, edges);
        let counts_from = whole.counts_from.saturating_sub(tile.cols.start);
        JoinedTask { span: self.span(tile, &whole.span), counts_from, result, above, below, left, right }
    }

    /// The task of a tile whose directions are filled, without the fields for the kept directions; `edges` as above.
    pub fn fill_task(&self, tile: &GridTile, whole: &Span, edges: u64) -> FillTask {
        let TileEdges { above, left, .. } = self.edges_of(tile, edges);
        FillTask { span: self.span(tile, whole), above, left, ..FillTask::default() }
    }

    /// The task of a tile of chained strips, whose columns begin at `chain` there; `edges` as above.
    pub fn chained_task(
        &self,
        tile: &GridTile,
        whole: &WholeTile,
        edges: u64,
        chain: u32,
        result: u32,
    ) -> ChainTask {
        let TileEdges { left, right, .. } = self.edges_of(tile, edges);
        let (first, last) = (tile.cols.start == 0, tile.cols.end == self.cols);
        let span = self.span(tile, &whole.span);
        ChainTask {
            counts_from: whole.counts_from.saturating_sub(tile.cols.start),
            result,
            chain,
            entering: if tile.strip > 0 { span.cols } else { 0 },
            left: if first { NOWHERE } else { left },
            right: if last { NOWHERE } else { right },
            span,
        }
    }

    /// The task of a strip in a chain with lines, given its columns and those of the strip above. Nothing enters the
    /// grid.
    pub fn lined_task(&self, strip: u32, cols: Cols, above: Cols, whole: &Span, chain: u32) -> LinedTask {
        let line = cols.start / self.side;
        let on_line = self.line((strip + 1) * self.height, self.rows).is_some() || strip + 1 == self.strips();
        let tile = GridTile { strip, wave: 0, cols: cols.clone() };
        let has_line = line < self.lines(self.cols);
        LinedTask {
            span: self.span(&tile, whole),
            result: strip,
            chain: chain + cols.start,
            entering: above.end.min(cols.end).saturating_sub(cols.start),
            line_col: if has_line { (line + 1) * self.side - cols.start - 1 } else { NOWHERE },
            line_place: to_u32(self.vertical_line(line) + u64::from(strip) * u64::from(self.height + 1)),
            below: if on_line { self.edges_of(&tile, 0).below } else { NOWHERE },
        }
    }

    /// Number of edge values from one vertical line to the next. Strips in a chain store one more line after the last
    /// column, which nothing reads.
    pub fn lines_apart(&self) -> u64 {
        self.strip_edges()
    }

    /// The residues of a tile; `whole` holds those of the grid.
    fn span(&self, tile: &GridTile, whole: &Span) -> Span {
        let first = self.first_row(tile.strip);
        let row = to_u32(first.max(0));
        Span {
            query: whole.query + row,
            rows: to_u32((first + to_i32(self.height)).min(to_i32(self.rows))) - row,
            pad: to_u32(to_i32(row) - first),
            target_: whole.target_ + tile.cols.start,
            cols: to_u32(tile.cols.len()),
        }
    }

    /// Indices of the edge values around a tile.
    fn edges_of(&self, tile: &GridTile, edges: u64) -> TileEdges {
        let GridTile { strip, cols, .. } = tile;
        TileEdges {
            above: to_u32(edges + self.horizontal(*strip) + u64::from(cols.start)),
            left: to_u32(edges + self.vertical(*strip, cols.start)),
            below: to_u32(edges + self.horizontal(strip + 1) + u64::from(cols.start)),
            right: to_u32(edges + self.vertical(*strip, cols.end)),
        }
    }

    /// Positions of the entering edges, for gap costs of `pieces` pieces. Nothing enters from above if the grid begins with
    /// empty rows.
    pub fn entering(&self, edges: &Edges, pieces: usize) -> Vec<(u64, Edge)> {
        let mut entering = Vec::new();
        if !edges.horizontal.is_empty() {
            entering.push((0, edges.horizontal.clone()));
        }
        // Nothing reads the gap of a corner.
        let blank = |h: i32, len: usize| Edge::filled(Carry { h, gap: 0 }, len, pieces);
        for strip in 0..self.strips() {
            let rows = self.strip_rows(strip);
            let corner = match rows.start {
                0 => edges.corner,
                row => edges.vertical.h(row as usize - 1).unwrap_or(0),
            };
            let values = edges.vertical.cut(rows.start as usize..rows.end as usize);
            let before = blank(0, self.empty_rows(strip) as usize).followed_by(blank(corner, 1));
            entering.push((self.vertical(strip, 0), before.followed_by(values)));
        }
        entering
    }

    /// Positions of the leaving edges: below, then right, strip by strip.
    pub fn leaving(&self) -> Vec<Range<u64>> {
        let right = |strip: u32| {
            let first = self.vertical(strip, 0) + 1 + u64::from(self.empty_rows(strip));
            first..first + self.strip_rows(strip).len() as u64
        };
        std::iter::once(0..u64::from(self.cols)).chain((0..self.strips()).map(right)).collect()
    }

    /// Empty rows of a strip's tile, above all others.
    fn empty_rows(&self, strip: u32) -> u32 {
        if strip == 0 { self.pad } else { 0 }
    }

    /// The grid rows of a strip, without empty rows.
    fn strip_rows(&self, strip: u32) -> Cols {
        let Range { start, end } = self.rows_of(strip);
        to_u32(start.max(0))..to_u32(end.min(i64::from(self.rows)))
    }

    /// The edge values that strips of the columns `cols` store on the horizontal lines, followed by those below all
    /// strips: for each line, the first column and the range of the values.
    pub fn horizontal_lines(&self, cols: impl Fn(u32) -> Cols) -> Vec<(u32, Range<u64>)> {
        let lines = (0..self.lines(self.rows)).map(|line| self.horizontal_line(line)).chain([0]);
        let line = |(number, first): (u32, u64)| {
            let row = number.saturating_mul(self.side).min(self.rows);
            let cols = cols(row.div_ceil(self.height) - 1);
            (cols.start, first + u64::from(cols.start)..first + u64::from(cols.end))
        };
        (1..).zip(lines).map(line).collect()
    }

    /// The edge values that strips of the columns `cols` store on the vertical lines, including corners: for each line,
    /// the first strip and the range of the values.
    pub fn vertical_lines(&self, cols: impl Fn(u32) -> Cols) -> Vec<(u32, Range<u64>)> {
        let line = |line: u32| {
            let col = (line + 1) * self.side;
            let reaches = |strip: &u32| cols(*strip).start < col && col <= cols(*strip).end;
            let mut strips = (0..self.strips()).filter(reaches);
            let first = strips.next();
            let strips = first.map_or(0..0, |first| first..strips.last().unwrap_or(first) + 1);
            let place = |strip: u32| self.vertical_line(line) + u64::from(strip) * u64::from(self.height + 1);
            (strips.start, place(strips.start)..place(strips.end))
        };
        (0..self.lines(self.cols)).map(line).collect()
    }

    /// The strips of a vertical line from `first` on, as read back, without their corners.
    pub fn line_rows(&self, first: u32, read: EdgeSlice) -> Edge {
        let starts = (0..read.len()).step_by(self.height as usize + 1);
        let rows = starts.zip(first..).map(|(start, strip)| {
            let rows = self.strip_rows(strip).len();
            read.cut(start + 1..start + 1 + rows)
        });
        rows.fold(Edge::default(), Edge::followed_by)
    }

    /// The leaving edges, as read back.
    pub fn left_behind<'a>(&self, mut read: impl Iterator<Item = EdgeSlice<'a>>) -> Edges {
        let all = |slice: EdgeSlice| slice.cut(0..slice.len());
        let below = read.next().map(all).unwrap_or_default();
        // Below a strip that is not full there are only rows after the query.
        let full = (self.rows + self.pad).is_multiple_of(self.height);
        Edges {
            corner: 0,
            horizontal: if full { below } else { Edge::default() },
            vertical: read.map(all).fold(Edge::default(), Edge::followed_by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_hold_every_tile_once() {
        for (rows, cols) in
            [(1, 1), (512, 512), (513, 512), (512, 513), (1300, 4000), (4000, 600), (2000, 2000)]
        {
            let padded = Grid::padded(rows, cols, 512);
            for grid in [padded, Grid::unpadded(rows, cols, 512), padded.in_tiles_for(1, 2)] {
                let case = format!("{grid:?}");
                let waves = (0..grid.waves()).flat_map(|wave| {
                    let tiles: Vec<GridTile> = grid.wave(wave, |_| 0..cols).collect();
                    assert_eq!(tiles.len() as u32, grid.wave_size(wave), "{case}, wave {wave}");
                    tiles
                });
                let key = |tile: &GridTile| (tile.strip, tile.cols.start, tile.cols.end, tile.wave);
                let mut found: Vec<_> = waves.map(|tile| key(&tile)).collect();
                found.sort_unstable();
                let tiles: Vec<GridTile> = grid.tiles(|_| 0..cols).collect();
                assert_eq!(found, tiles.iter().map(key).collect::<Vec<_>>(), "{case}");
                assert_eq!(tiles.len() as u64, grid.size(), "{case}");
                let mut places: Vec<u64> = tiles.iter().map(|tile| grid.place(tile)).collect();
                for (&place, tile) in places.iter().zip(&tiles) {
                    let first_row = grid.first_row(tile.strip).max(0) as u32;
                    assert_eq!(grid.first_cell(place), (first_row, tile.cols.start), "{case}");
                }
                places.sort_unstable();
                assert!(places.into_iter().eq(0..grid.size()), "{case}");
            }
        }
    }
}
