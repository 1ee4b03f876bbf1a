//! Paths as an engine that walks by itself leaves them: runs of equal steps from the end of the path, a word each,
//! and a zero behind the last where there is room.

use crate::alignment::Op;
use crate::engine::Source;
use crate::engine::directions::Words;
use std::ops::Range;

/// A path on its way back through blocks.
#[derive(Clone, Debug)]
pub struct Leg {
    pub stand: Stand,
    /// The blocks that it may go through; none where it stays where it is.
    pub blocks: Range<usize>,
}

/// Where a path stands on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// Rows and columns of its window up to its next cell, and with it.
    pub rows: u32,
    pub cols: u32,
    /// What the step behind it was, if that was in a gap which may go on here; [`Source::Stop`] where the path begins.
    pub layer: Source,
}

/// Bits of a run's word, the lowest, that say what its steps are: the numbers of [`Source`]. The others are its length.
const SOURCE_BITS: u32 = 2;

/// The word of a run.
pub fn run_word(len: u32, source: Source) -> u32 {
    len << SOURCE_BITS | source as u32
}

/// The paths of some windows.
#[derive(Default)]
pub struct Paths {
    /// The words, in parts as they were made.
    parts: Vec<Words>,
    /// Part and words of each window's path; no words where it has none.
    places: Vec<(u32, Range<u32>)>,
}

impl Paths {
    /// No path for any of `count` windows.
    pub fn none(count: usize) -> Paths {
        Paths { parts: Vec::new(), places: vec![(0, 0..0); count] }
    }

    /// Adds the paths of further windows, which lie at `places` of `words`.
    pub fn push(&mut self, words: Words, places: impl IntoIterator<Item = Range<u32>>) {
        let part = self.parts.len() as u32;
        self.parts.push(words);
        self.places.extend(places.into_iter().map(|place| (part, place)));
    }

    /// Gives some of the windows their paths, which lie at their places of `words`.
    pub fn put(&mut self, words: Words, places: impl IntoIterator<Item = (u32, Range<u32>)>) {
        let part = self.parts.len() as u32;
        self.parts.push(words);
        for (index, place) in places {
            self.places[index as usize] = (part, place);
        }
    }

    /// Adds the paths of `behind` behind those that are here.
    pub fn append(&mut self, behind: Paths) {
        let parts = self.parts.len() as u32;
        self.parts.extend(behind.parts);
        self.places.extend(behind.places.into_iter().map(|(part, place)| (part + parts, place)));
    }

    /// Runs of window `index`, from the end of its path; `None` where it has none.
    pub fn runs(&self, index: usize) -> Option<impl Iterator<Item = (u32, Op)> + '_> {
        let (part, place) = self.places.get(index)?;
        let words = (**self.parts.get(*part as usize)?).as_ref();
        let words = words.get(place.start as usize..place.end as usize)?;
        (!words.is_empty()).then(|| words.iter().map_while(|&word| run_of(word)))
    }
}

/// The run that a word stands for, if it does.
fn run_of(word: u32) -> Option<(u32, Op)> {
    let op = match Source::of(word as u8) {
        Source::Stop => return None,
        Source::Diagonal => Op::Match,
        Source::Deletion => Op::Deletion,
        Source::Insertion => Op::Insertion,
    };
    Some((word >> SOURCE_BITS, op))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_by_hand() {
        let runs = |words: &[u32]| -> Vec<(u32, Op)> {
            let mut paths = Paths::none(1);
            paths.push(Box::new(words.to_vec()), std::iter::once(0..words.len() as u32));
            paths.runs(1).map(Iterator::collect).unwrap_or_default()
        };
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[0]), []);
        let three = [(2, Source::Insertion), (1 << 29, Source::Deletion), (1, Source::Diagonal)]
            .map(|(len, source)| run_word(len, source));
        let expected = [(2, Op::Insertion), (1 << 29, Op::Deletion), (1, Op::Match)];
        assert_eq!(runs(&three), expected, "no room for a zero");
        assert_eq!(runs(&[three[0], three[1], three[2], 0, 7]), expected);
        assert!(Paths::none(2).runs(1).is_none() && Paths::none(0).runs(0).is_none());
    }
}
