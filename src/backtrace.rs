//! The only place that walks a path: from the end cell back to the first cell whose H is 0.

use crate::alignment::{Alignment, Cigar, Hit, Op, Strand, push_run};
use crate::batch::Batch;
use crate::engine::directions::{EXTEND_DELETION, EXTEND_INSERTION};
use crate::engine::{BLOCK_ROWS, Block, Cells, Edges, Engine, Source, Window};
use crate::error::EngineError;
use rayon::prelude::*;

/// Directions that are filled at once take at most this many bytes.
const FILL_BYTES: u64 = 48 << 20;
/// A window whose directions take more than this is walked block by block.
const WINDOW_BYTES: u64 = 48 << 20;
/// Side of such a block, in cells: its directions take half its square, 72 MiB.
const BLOCK_SIDE: u32 = 24 * BLOCK_ROWS;

/// A hit whose path is wanted, with the part of the matrix that holds it.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub window: Window,
    pub strand: Strand,
    pub score: i32,
}

/// How the walk came to the cell that it stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// H of this cell is on the path.
    H,
    /// A deletion ends right of this cell; it may go on here.
    Deletion,
    /// An insertion ends below this cell; it may go on here.
    Insertion,
}

/// A walk in progress: the cell it stands on is (rows - 1, cols - 1) of the window.
struct Walk {
    rows: u32,
    cols: u32,
    layer: Layer,
    /// The path so far, from its end.
    reversed: Cigar,
    done: bool,
}

impl Walk {
    fn new(window: &Window) -> Walk {
        let (rows, cols) = (window.query_end, window.target_end - window.start);
        Walk { rows, cols, layer: Layer::H, reversed: Cigar::new(), done: rows == 0 || cols == 0 }
    }

    /// Walks while the cell is at or behind (`row`, `col`); `cells` holds from there on.
    fn through(&mut self, cells: &mut Cells<'_>, row: u32, col: u32) -> Result<(), EngineError> {
        while !self.done && self.rows > row && self.cols > col {
            let bits = cells.get(self.rows - 1 - row, self.cols - 1 - col).ok_or_else(|| {
                EngineError::Wrong(format!("the path leaves its band at {}, {}", self.rows, self.cols))
            })?;
            self.step(bits);
            self.done |= self.rows == 0 || self.cols == 0;
        }
        Ok(())
    }

    fn step(&mut self, bits: u8) {
        let goes_on = match self.layer {
            Layer::H => false,
            Layer::Deletion => bits & EXTEND_DELETION != 0,
            Layer::Insertion => bits & EXTEND_INSERTION != 0,
        };
        if !goes_on {
            self.layer = match bits & 3 {
                code if code == Source::Diagonal as u8 => Layer::H,
                code if code == Source::Deletion as u8 => Layer::Deletion,
                code if code == Source::Insertion as u8 => Layer::Insertion,
                _ => {
                    self.done = true;
                    return;
                }
            };
        }
        let op = match self.layer {
            Layer::H => Op::Match,
            Layer::Deletion => Op::Deletion,
            Layer::Insertion => Op::Insertion,
        };
        push_run(&mut self.reversed, 1, op);
        self.rows -= u32::from(op != Op::Deletion);
        self.cols -= u32::from(op != Op::Insertion);
    }

    /// The alignment, once its rescored path is seen to give its score.
    fn finish(mut self, batch: &Batch, wanted: &Wanted) -> Result<Alignment, EngineError> {
        self.reversed.reverse();
        let window = &wanted.window;
        let alignment = Alignment {
            strand: wanted.strand,
            target: window.target,
            score: wanted.score,
            query_start: self.rows,
            query_end: window.query_end,
            target_start: window.start + self.cols,
            target_end: window.target_end,
            cigar: self.reversed,
        };
        let rescored =
            alignment.rescore(batch.query(window.query), batch.target(window.target), &batch.scoring);
        if rescored == Some(i64::from(wanted.score)) {
            return Ok(alignment);
        }
        Err(EngineError::Wrong(format!(
            "a path of score {rescored:?} was found for a hit of score {}",
            wanted.score
        )))
    }
}

/// The alignments of `wanted`, in their order. Directions are filled in groups that fit a budget;
/// the paths of a group are walked in parallel.
pub fn align(
    engine: &mut dyn Engine,
    batch: &Batch,
    wanted: &[Wanted],
) -> Result<Vec<Alignment>, EngineError> {
    let mut alignments = Vec::with_capacity(wanted.len());
    let mut rest = wanted;
    while let Some(first) = rest.first() {
        if bytes(&first.window) > WINDOW_BYTES {
            alignments.push(align_in_blocks(engine, batch, first, BLOCK_SIDE)?);
            rest = &rest[1..];
            continue;
        }
        let mut total = 0;
        let fits = |wanted: &&Wanted| {
            let more = bytes(&wanted.window);
            total += more;
            more <= WINDOW_BYTES && total <= FILL_BYTES
        };
        let (group, behind) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        alignments.extend(align_group(engine, batch, group)?);
        rest = behind;
    }
    Ok(alignments)
}

/// Bytes that the directions of a window take, at most: half a byte for each cell of the band, the
/// band widened by the rows that a lane holds together.
fn bytes(window: &Window) -> u64 {
    let cols = u64::from(window.target_end - window.start);
    let band = u64::from(window.band.deletions) + u64::from(window.band.insertions) + 32;
    u64::from(window.query_end.next_multiple_of(8)) * cols.min(band) / 2
}

fn align_group(
    engine: &mut dyn Engine,
    batch: &Batch,
    group: &[Wanted],
) -> Result<Vec<Alignment>, EngineError> {
    let windows: Vec<Window> = group.iter().map(|wanted| wanted.window).collect();
    let directions = engine.fill(batch, &windows)?;
    group
        .par_iter()
        .enumerate()
        .map(|(index, wanted)| {
            let mut walk = Walk::new(&wanted.window);
            walk.through(&mut directions.window(index), 0, 0)?;
            walk.finish(batch, wanted)
        })
        .collect()
}

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

/// The window of `hit`, an alignment of `query` against target residues from `start` on, and the
/// band that its score proves.
pub fn window_of(batch: &Batch, query: u32, target: u32, start: u32, hit: &Hit) -> Window {
    let codes = &batch.query(query)[..hit.query_end as usize];
    let band = crate::bounds::band(codes, hit.score, &batch.scoring);
    let span = band.deletions.saturating_add(hit.query_end);
    Window {
        query,
        target,
        start: start.max(hit.target_end.saturating_sub(span)),
        query_end: hit.query_end,
        target_end: hit.target_end,
        band,
    }
}
