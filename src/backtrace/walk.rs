//! The walk along one path, from its end, by the directions of the cells that it crosses.

use super::Wanted;
use crate::alignment::{Alignment, Cigar, Op, push_run};
use crate::batch::Batch;
use crate::engine::directions::{EXTEND_DELETION, EXTEND_INSERTION};
use crate::engine::{Cells, Source, Window};
use crate::error::EngineError;

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
pub struct Walk {
    pub rows: u32,
    pub cols: u32,
    layer: Layer,
    /// The path so far, from its end.
    reversed: Cigar,
    pub done: bool,
}

impl Walk {
    /// At the last cell of a window.
    pub fn new(window: &Window) -> Walk {
        let (rows, cols) = (window.query_end, window.target_end - window.start);
        Walk { rows, cols, layer: Layer::H, reversed: Cigar::new(), done: rows == 0 || cols == 0 }
    }

    /// Walks while the cell is at or behind (`row`, `col`); `cells` holds from there on.
    pub fn through(&mut self, cells: &mut Cells<'_>, row: u32, col: u32) -> Result<(), EngineError> {
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
    pub fn finish(&self, batch: &Batch, wanted: &Wanted) -> Result<Alignment, EngineError> {
        along(self.reversed.iter().rev().copied(), batch, wanted)
    }
}

/// The alignment whose path has these runs, in target order, once it is seen to give its score.
#[inline(always)]
pub fn along(
    runs: impl Iterator<Item = (u32, Op)>,
    batch: &Batch,
    wanted: &Wanted,
) -> Result<Alignment, EngineError> {
    let mut cigar = Cigar::new();
    let (mut rows, mut cols) = (0, 0);
    for (len, op) in runs {
        rows += if op == Op::Deletion { 0 } else { u64::from(len) };
        cols += if op == Op::Insertion { 0 } else { u64::from(len) };
        push_run(&mut cigar, len, op);
    }
    let window = &wanted.window;
    let before = |end: u32, taken: u64| u64::from(end).checked_sub(taken).map(|start| start as u32);
    let outside = || EngineError::Wrong("a path leaves its window".to_string());
    let alignment = Alignment {
        strand: wanted.strand,
        target: window.target,
        score: wanted.score,
        query_start: before(window.query_end, rows).ok_or_else(outside)?,
        query_end: window.query_end,
        target_start: before(window.target_end, cols).ok_or_else(outside)?,
        target_end: window.target_end,
        cigar,
    };
    let rescored = alignment.rescore(batch.query(window.query), batch.target(window.target), &batch.scoring);
    if rescored == Some(i64::from(wanted.score)) {
        return Ok(alignment);
    }
    Err(EngineError::Wrong(format!(
        "a path of score {rescored:?} was found for a hit of score {}",
        wanted.score
    )))
}
