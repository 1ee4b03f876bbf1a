//! The traceback of one path, from its end, by the directions of the cells that it crosses.

use crate::engine::directions::{CellBits, CellSource, WindowCells};
use crate::engine::paths::push_steps;
use crate::engine::{Leg, PathPosition, Window};
use crate::terms::error::EngineError;
use crate::terms::scoring::AlignmentMode;
use std::ops::Range;

/// A path on its way back.
pub struct Traceback {
    pub stand: PathPosition,
    /// The runs so far, from the path's end, in the format of [`crate::engine::Paths`].
    runs: Vec<u32>,
}

impl Traceback {
    /// Starts at the last cell of a window.
    pub fn new(window: &Window) -> Traceback {
        let stand =
            PathPosition { rows: window.query_end, cols: window.cols(), layer: CellSource::Diagonal.into() };
        Traceback { stand, runs: Vec::new() }
    }

    pub fn is_done(&self) -> bool {
        self.stand.layer.source == CellSource::Stop || self.stand.rows == 0 || self.stand.cols == 0
    }

    /// Continues while the next cell is at or after (`row`, `col`); `cells` covers the window from there on.
    pub fn through(&mut self, cells: &mut WindowCells<'_>, row: u32, col: u32) -> Result<(), EngineError> {
        while self.stand.layer.source != CellSource::Stop && self.stand.rows > row && self.stand.cols > col {
            let PathPosition { rows, cols, .. } = self.stand;
            let bits = cells
                .get(rows - 1 - row, cols - 1 - col)
                .ok_or_else(|| EngineError::Wrong(format!("the path leaves its band at {rows}, {cols}")))?;
            self.step(bits);
        }
        Ok(())
    }

    /// Takes the step that the directions of the current cell tell.
    pub fn step(&mut self, bits: CellBits) -> CellSource {
        self.stand = self.stand.step(bits);
        let source = self.stand.layer.source;
        if source != CellSource::Stop {
            push_steps(&mut self.runs, 1, source);
        }
        source
    }

    /// The path's leg through some blocks.
    pub fn leg(&self, blocks: Range<usize>) -> Leg {
        Leg { stand: self.stand, blocks }
    }

    /// Takes over the steps that an engine has traced.
    pub fn go_on(
        &mut self,
        stand: PathPosition,
        runs: impl Iterator<Item = (u32, CellSource)>,
    ) -> Result<(), EngineError> {
        let PathPosition { rows, cols, .. } = self.stand;
        let is_back = stand.rows <= rows && stand.cols <= cols;
        let moves = (stand.rows, stand.cols) != (rows, cols);
        if !is_back || (!moves && stand.layer.source != CellSource::Stop) {
            return Err(EngineError::Wrong(format!("the path ends at {rows}, {cols}")));
        }
        runs.for_each(|(len, source)| push_steps(&mut self.runs, len, source));
        self.stand = stand;
        Ok(())
    }

    /// The runs of the path, from its end. The remaining residues of sequences that align as a whole form a gap before
    /// its first cell.
    pub fn into_runs(mut self, mode: AlignmentMode) -> Vec<u32> {
        if !mode.free_starts().query && self.stand.rows > 0 {
            push_steps(&mut self.runs, self.stand.rows, CellSource::Insertion);
        }
        if !mode.free_starts().target && self.stand.cols > 0 {
            push_steps(&mut self.runs, self.stand.cols, CellSource::Deletion);
        }
        self.runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::directions::Layer;
    use crate::terms::bounds::Band;

    #[test]
    fn a_traceback_goes_back_or_ends() {
        let window = Window {
            query: 0,
            target: 0,
            start: 0,
            query_end: 9,
            target_end: 7,
            band: Band::default(),
            score: 0,
        };
        let goes = |rows, cols, layer: CellSource| {
            let mut path = Traceback::new(&window);
            let runs = [(2, CellSource::Diagonal)].into_iter();
            path.go_on(PathPosition { rows, cols, layer: Layer::from(layer) }, runs)
                .is_ok()
                .then(|| path.is_done())
        };
        assert_eq!(goes(7, 5, CellSource::Diagonal), Some(false));
        assert_eq!(goes(7, 7, CellSource::Insertion), Some(false));
        assert_eq!(
            (goes(7, 5, CellSource::Stop), goes(2, 0, CellSource::Diagonal)),
            (Some(true), Some(true))
        );
        assert_eq!(goes(9, 7, CellSource::Stop), Some(true));
        assert_eq!(goes(9, 7, CellSource::Diagonal), None, "it has not moved");
        assert_eq!((goes(3, 8, CellSource::Diagonal), goes(10, 1, CellSource::Stop)), (None, None), "ahead");
    }
}
