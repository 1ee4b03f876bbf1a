//! Paths in the form that engines store: runs of equal steps, from the end of the path, one word per run, followed by a
//! zero if there is room. A word of [`CellSource::Stop`] that is not zero is a change of the frame.

use crate::engine::CellSource;
use crate::engine::directions::{CellBits, DirectionWords, Layer, SOURCE_BITS};
use crate::terms::alignment::PathOp;
use crate::terms::casts::{low_u16, to_u32};
use std::ops::Range;

/// A path on its way back through blocks.
#[derive(Clone, Debug)]
pub struct Leg {
    pub stand: PathPosition,
    /// The blocks that it may cross; empty if the path does not move.
    pub blocks: Range<usize>,
}

/// The position of a path on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPosition {
    /// Rows and columns of its window up to and including its next cell.
    pub rows: u32,
    pub cols: u32,
    /// The step that led to the cell; the next step may continue that gap. [`CellSource::Diagonal`] at the window's
    /// last cell, and [`CellSource::Stop`] if the path is complete.
    pub layer: Layer,
}

impl PathPosition {
    /// The position after the step that the directions of its cell tell. If the path ends, it stays at the cell.
    #[inline]
    pub fn step(self, bits: CellBits) -> PathPosition {
        let PathPosition { rows, cols, .. } = self;
        let layer = self.layer.next(bits);
        match layer.source {
            CellSource::Stop => PathPosition { rows, cols, layer },
            CellSource::Diagonal => PathPosition { rows: rows - 1, cols: cols - 1, layer },
            CellSource::Deletion => PathPosition { rows, cols: cols - 1, layer },
            CellSource::Insertion => PathPosition { rows: rows - 1, cols, layer },
        }
    }
}

/// Lengths of words of [`CellSource::Stop`] that are changes of the frame.
const LEFT_OUT: u32 = 1;
const TWICE: u32 = 2;
/// Maximum number of steps of a run.
const MOST_STEPS: u32 = u32::MAX >> SOURCE_BITS;

/// The word of a run: the bits of its [`CellSource`], with its length above them.
pub fn run_word(len: u32, source: CellSource) -> u32 {
    len << SOURCE_BITS | source as u32
}

/// Appends `len` steps, at most [`MOST_STEPS`], to the runs of a path.
pub fn push_steps(runs: &mut Vec<u32>, len: u32, source: CellSource) {
    match runs.last_mut() {
        Some(last)
            if CellSource::of(low_u16(*last)) == source && len <= MOST_STEPS - (*last >> SOURCE_BITS) =>
        {
            *last += len << SOURCE_BITS;
        }
        _ => runs.push(run_word(len, source)),
    }
}

/// Appends a change of the frame to the runs of a path: a base that is left out, or else one that is read twice.
pub fn push_shift(runs: &mut Vec<u32>, is_forward: bool) {
    runs.push(run_word(if is_forward { LEFT_OUT } else { TWICE }, CellSource::Stop));
}

/// An element of a path that may change the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramedRun {
    Run(u32, PathOp),
    /// A base of the query is left out.
    Forward,
    /// A base of the query is read twice.
    Back,
}

/// The paths of some windows.
#[derive(Default)]
pub struct Paths {
    /// The words, in the parts in which they were made.
    parts: Vec<DirectionWords>,
    /// Part and word range of each window's path; an empty range if there is none.
    places: Vec<(u32, Range<u32>)>,
}

impl Paths {
    /// Returns no path for each of `count` windows.
    pub fn none(count: usize) -> Paths {
        Paths { parts: Vec::new(), places: vec![(0, 0..0); count] }
    }

    /// Number of windows.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The paths of windows with these runs.
    pub fn of(runs: Vec<Vec<u32>>) -> Paths {
        let mut paths = Paths::default();
        for mut words in runs {
            if words.is_empty() {
                // A path without steps is a zero word.
                words.push(0);
            }
            let place = 0..to_u32(words.len());
            paths.push(Box::new(words), std::iter::once(place));
        }
        paths
    }

    /// Appends the paths of further windows, whose words are the ranges `places` of `words`.
    pub fn push(&mut self, words: DirectionWords, places: impl IntoIterator<Item = Range<u32>>) {
        let part = to_u32(self.parts.len());
        self.parts.push(words);
        self.places.extend(places.into_iter().map(|place| (part, place)));
    }

    /// Sets the paths of some windows, given each window and its range of `words`.
    pub fn put(&mut self, words: DirectionWords, places: impl IntoIterator<Item = (u32, Range<u32>)>) {
        let part = to_u32(self.parts.len());
        self.parts.push(words);
        for (index, place) in places {
            self.places[index as usize] = (part, place);
        }
    }

    /// Sets the paths of the windows at `places` to those of `others`, in order.
    pub fn put_all(&mut self, places: &[u32], others: Paths) {
        let parts = to_u32(self.parts.len());
        self.parts.extend(others.parts);
        for (&index, (part, place)) in places.iter().zip(others.places) {
            self.places[index as usize] = (part + parts, place);
        }
    }

    /// The windows without a path.
    pub fn missing(&self) -> Vec<u32> {
        let missing = (0..).zip(&self.places).filter(|(_, (_, words))| words.is_empty());
        missing.map(|(index, _)| index).collect()
    }

    /// Appends the paths of `behind`.
    pub fn append(&mut self, behind: Paths) {
        let parts = to_u32(self.parts.len());
        self.parts.extend(behind.parts);
        self.places.extend(behind.places.into_iter().map(|(part, place)| (part + parts, place)));
    }

    /// The paths of two sets of windows, concatenated.
    pub fn joined(mut first: Paths, second: Paths) -> Paths {
        first.append(second);
        first
    }

    /// Runs of window `index`, from the end of its path, or `None` if it has none.
    pub fn runs(&self, index: usize) -> Option<impl Iterator<Item = (u32, PathOp)> + '_> {
        self.steps(index).map(|runs| runs.map(move |(len, source)| (len, path_op(source))))
    }

    /// Like `runs`, for paths that may change the frame.
    pub fn framed_runs(&self, index: usize) -> Option<impl Iterator<Item = FramedRun> + '_> {
        let run = |&word: &u32| match (word >> SOURCE_BITS, CellSource::of(low_u16(word))) {
            (LEFT_OUT, CellSource::Stop) => FramedRun::Forward,
            (_, CellSource::Stop) => FramedRun::Back,
            (len, source) => FramedRun::Run(len, path_op(source)),
        };
        let words = self.words(index)?;
        (!words.is_empty()).then(|| words.iter().take_while(|&&word| word != 0).map(run))
    }

    /// The words of window `index`.
    fn words(&self, index: usize) -> Option<&[u32]> {
        let (part, place) = self.places.get(index)?;
        let words = (**self.parts.get(*part as usize)?).as_ref();
        words.get(place.start as usize..place.end as usize)
    }

    /// Like `runs`, but with the source of each run's steps.
    pub fn steps(&self, index: usize) -> Option<impl Iterator<Item = (u32, CellSource)> + '_> {
        let words = self.words(index)?;
        let run = |&word: &u32| (word >> SOURCE_BITS, CellSource::of(low_u16(word)));
        let is_run = |&(_, source): &(u32, CellSource)| source != CellSource::Stop;
        (!words.is_empty()).then(|| words.iter().map(run).take_while(is_run))
    }
}

/// The kind of the steps of a run.
fn path_op(source: CellSource) -> PathOp {
    match source {
        CellSource::Deletion => PathOp::Deletion,
        CellSource::Insertion => PathOp::Insertion,
        CellSource::Diagonal | CellSource::Stop => PathOp::Match,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_by_hand() {
        let runs = |words: &[u32]| -> Vec<(u32, PathOp)> {
            let mut paths = Paths::none(1);
            paths.push(Box::new(words.to_vec()), std::iter::once(0..words.len() as u32));
            paths.runs(1).map(Iterator::collect).unwrap_or_default()
        };
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[0]), []);
        let three = [(2, CellSource::Insertion), (1 << 29, CellSource::Deletion), (1, CellSource::Diagonal)]
            .map(|(len, source)| run_word(len, source));
        let expected = [(2, PathOp::Insertion), (1 << 29, PathOp::Deletion), (1, PathOp::Match)];
        assert_eq!(runs(&three), expected, "no room for a zero");
        assert_eq!(runs(&[three[0], three[1], three[2], 0, 7]), expected);
        assert!(Paths::none(2).runs(1).is_none() && Paths::none(0).runs(0).is_none());
    }
}
