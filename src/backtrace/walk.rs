//! The walk along one path, from its end, by the directions of the cells that it crosses.

use super::Wanted;
use crate::alignment::{Alignment, Cigar, Op, push_run};
use crate::batch::Batch;
use crate::engine::directions::{EXTEND_DELETION, EXTEND_INSERTION};
use crate::engine::{Cells, Leg, Source, Stand, Window};
use crate::error::EngineError;
use std::ops::Range;

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

    /// Where it stands, before it goes through some blocks.
    pub fn leg(&self, blocks: Range<usize>) -> Leg {
        let layer = match self.layer {
            Layer::H => Source::Diagonal,
            Layer::Deletion => Source::Deletion,
            Layer::Insertion => Source::Insertion,
        };
        Leg { stand: Stand { rows: self.rows, cols: self.cols, layer }, blocks }
    }

    /// Goes on as an engine has walked.
    pub fn go_on(&mut self, stand: Stand, runs: impl Iterator<Item = (u32, Op)>) -> Result<(), EngineError> {
        let is_back = stand.rows <= self.rows && stand.cols <= self.cols;
        let moves = (stand.rows, stand.cols) != (self.rows, self.cols);
        if !is_back || (!moves && stand.layer != Source::Stop) {
            return Err(EngineError::Wrong(format!("the path ends at {}, {}", self.rows, self.cols)));
        }
        runs.for_each(|(len, op)| push_run(&mut self.reversed, len, op));
        (self.rows, self.cols) = (stand.rows, stand.cols);
        self.layer = match stand.layer {
            Source::Deletion => Layer::Deletion,
            Source::Insertion => Layer::Insertion,
            Source::Diagonal | Source::Stop => Layer::H,
        };
        self.done = stand.layer == Source::Stop || stand.rows == 0 || stand.cols == 0;
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

    /// The alignment, once its path is seen to give its score.
    pub fn finish(&self, batch: &Batch, wanted: &Wanted) -> Result<Alignment, EngineError> {
        along(self.reversed.iter().copied(), batch, wanted)
    }
}

/// The alignment whose path has these runs, from its end, once they are seen to give its score: what they are worth
/// is counted anew from the sequences' codes.
#[inline]
pub fn along(
    runs: impl Iterator<Item = (u32, Op)>,
    batch: &Batch,
    wanted: &Wanted,
) -> Result<Alignment, EngineError> {
    let window = &wanted.window;
    let (query, target) = (batch.query(window.query), batch.target(window.target));
    let (mut row, mut col) = (window.query_end as usize, window.target_end as usize);
    let mut score = 0;
    let mut cigar = Cigar::new();
    for (len, op) in runs {
        let (behind_row, behind_col) = (row, col);
        let back =
            |end: usize, first: u32| end.checked_sub(len as usize).filter(|&start| start >= first as usize);
        let outside = || EngineError::Wrong("a path leaves its window".to_string());
        if op != Op::Deletion {
            row = back(row, 0).ok_or_else(outside)?;
        }
        if op != Op::Insertion {
            col = back(col, window.start).ok_or_else(outside)?;
        }
        score += match op {
            Op::Match => batch.scoring.score_all(&query[row..behind_row], &target[col..behind_col]),
            Op::Insertion | Op::Deletion => -batch.scoring.gap_cost(len as usize),
        };
        push_run(&mut cigar, len, op);
    }
    if score != i64::from(wanted.score) {
        let problem = format!("a path of score {score} was found for a hit of score {}", wanted.score);
        return Err(EngineError::Wrong(problem));
    }
    cigar.reverse();
    Ok(Alignment {
        strand: wanted.strand,
        target: window.target,
        score: wanted.score,
        query_start: row as u32,
        query_end: window.query_end,
        target_start: col as u32,
        target_end: window.target_end,
        cigar,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Strand;
    use crate::bounds::Band;
    use crate::scoring::Scoring;
    use std::sync::Arc;

    #[test]
    fn runs_that_can_not_be_the_path_are_errors() {
        let batch = Batch {
            queries: Arc::new([&[0u8, 1, 2, 3, 0][..]].into_iter().collect()),
            targets: Arc::new([&[3u8, 0, 1, 2, 2, 3, 0][..]].into_iter().collect()),
            scoring: Arc::new(Scoring::dna(4, 4, 2, 1)),
        };
        let band = Band { deletions: 9, insertions: 9 };
        let window = Window { query: 0, target: 0, start: 1, query_end: 5, target_end: 7, band };
        let found = |score, runs: &[(u32, Op)]| {
            along(runs.iter().copied(), &batch, &Wanted { window, strand: Strand::Forward, score })
        };
        let runs = [(2, Op::Match), (1, Op::Deletion), (3, Op::Match)];
        let alignment = found(17, &runs).unwrap();
        assert_eq!((alignment.query_start, alignment.target_start), (0, 1));
        assert_eq!(&alignment.cigar[..], [(3, Op::Match), (1, Op::Deletion), (2, Op::Match)]);
        let wrong = |score, runs: &[(u32, Op)]| matches!(found(score, runs), Err(EngineError::Wrong(_)));
        assert!(wrong(18, &runs) && wrong(16, &runs) && wrong(17, &runs[..2]) && wrong(17, &[]));
        assert!(wrong(17, &[(2, Op::Match), (1, Op::Deletion), (4, Op::Match)]), "before the query");
        assert!(wrong(17, &[(7, Op::Deletion)]) && wrong(17, &[(u32::MAX, Op::Insertion)]));
    }

    #[test]
    fn a_walk_goes_back_or_ends() {
        let window =
            Window { query: 0, target: 0, start: 0, query_end: 9, target_end: 7, band: Band::default() };
        let goes = |rows, cols, layer| {
            let mut walk = Walk::new(&window);
            let runs = [(2, Op::Match)].into_iter();
            walk.go_on(Stand { rows, cols, layer }, runs).is_ok().then_some(walk.done)
        };
        assert_eq!(goes(7, 5, Source::Diagonal), Some(false));
        assert_eq!(goes(7, 7, Source::Insertion), Some(false));
        assert_eq!((goes(7, 5, Source::Stop), goes(2, 0, Source::Diagonal)), (Some(true), Some(true)));
        assert_eq!(goes(9, 7, Source::Stop), Some(true));
        assert_eq!(goes(9, 7, Source::Diagonal), None, "nothing was walked");
        assert_eq!((goes(3, 8, Source::Diagonal), goes(10, 1, Source::Stop)), (None, None), "ahead");
    }
}
