//! Paths as an engine that walks by itself leaves them: steps of two bits from the end of the path,
//! the numbers of [`Source`], 16 to a word from the lowest bits on, a zero behind the last.

use crate::engine::Source;
use crate::engine::directions::Words;
use std::ops::Range;

pub const STEPS_PER_WORD: u32 = 16;
/// One step in each pair of bits.
const EACH: u32 = 0x5555_5555;

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

    /// Runs of equal steps of window `index`, from the end of its path; `None` where it has none.
    pub fn runs(&self, index: usize) -> Option<impl Iterator<Item = (u32, Source)> + '_> {
        let (part, place) = self.places.get(index)?;
        let words = (**self.parts.get(*part as usize)?).as_ref();
        let words = words.get(place.start as usize..place.end as usize)?;
        (!words.is_empty()).then_some(Runs { words, left: STEPS_PER_WORD })
    }
}

/// The runs of a path.
struct Runs<'a> {
    /// The words from the current one on.
    words: &'a [u32],
    /// Steps of the current one that are left.
    left: u32,
}

impl Iterator for Runs<'_> {
    type Item = (u32, Source);

    fn next(&mut self) -> Option<(u32, Source)> {
        let (&word, _) = self.words.split_first()?;
        let mut steps = word >> (2 * (STEPS_PER_WORD - self.left));
        let source = Source::of(steps as u8);
        if source == Source::Stop {
            return None;
        }
        let mut run = 0;
        loop {
            let more = ((steps ^ (source as u32 * EACH)).trailing_zeros() / 2).min(self.left);
            run += more;
            self.left -= more;
            if self.left > 0 {
                return Some((run, source));
            }
            self.words = &self.words[1..];
            self.left = STEPS_PER_WORD;
            match self.words.first() {
                Some(&word) => steps = word,
                None => return Some((run, source)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_by_hand() {
        let runs = |words: &[u32]| -> Vec<(u32, Source)> {
            let mut paths = Paths::none(1);
            paths.push(Box::new(words.to_vec()), std::iter::once(0..words.len() as u32));
            paths.runs(1).map(Iterator::collect).unwrap_or_default()
        };
        use Source::{Deletion, Diagonal, Insertion};
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[0]), []);
        assert_eq!(runs(&[0b01_11_10_10_01]), [(1, Diagonal), (2, Deletion), (1, Insertion), (1, Diagonal)]);
        assert_eq!(runs(&[EACH, 0b01]), [(17, Diagonal)]);
        assert_eq!(runs(&[3 * EACH, 0]), [(16, Insertion)]);
        assert_eq!(runs(&[EACH]), [(16, Diagonal)]);
        assert!(Paths::none(2).runs(1).is_none() && Paths::none(0).runs(0).is_none());
    }
}
