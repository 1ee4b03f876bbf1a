//! Pieces that stand in the targets as they are, by indices of their words.

use super::index::{Index, MOST_LETTERS};
use crate::batch::Sequences;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Letters of a word at least: shorter ones stand everywhere.
pub const LEAST_LETTERS: u32 = 6;
/// Letters by which the words of the indices differ.
const LEVELS_APART: usize = 2;

/// Indices of words of several lengths, each made when it is first needed.
#[derive(Debug)]
pub struct Words {
    targets: Arc<Sequences>,
    /// Longer words first.
    levels: Vec<(u32, OnceLock<Index>)>,
}

/// Memory to use again.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Where a piece begins in the query, and the word that it begins with.
    words: Vec<(usize, usize)>,
    /// The same with where the index has the places of the word.
    places: Vec<(usize, Range<usize>)>,
}

impl Words {
    pub fn new(targets: &Arc<Sequences>) -> Words {
        // About as many words as places.
        let longest = (targets.codes().len().max(1).ilog2() / 2 + 1).clamp(LEAST_LETTERS, MOST_LETTERS);
        let levels = (LEAST_LETTERS..=longest).rev().step_by(LEVELS_APART);
        Words {
            targets: Arc::clone(targets),
            levels: levels.map(|letters| (letters, OnceLock::new())).collect(),
        }
    }

    /// Letters of the shortest pieces that can be looked up.
    pub fn least(&self) -> usize {
        self.levels.last().map_or(LEAST_LETTERS, |level| level.0) as usize
    }

    /// Makes the index for pieces of this length. Not to be called in a parallel loop: what waits for an
    /// index there could be what the one who makes it waits for.
    pub fn prepare(&self, piece: usize) {
        if let Some((letters, index)) = self.level(piece) {
            index.get_or_init(|| Index::new(&self.targets, *letters));
        }
    }

    /// The index of the longest words that such pieces have.
    fn level(&self, piece: usize) -> Option<&(u32, OnceLock<Index>)> {
        self.levels.iter().find(|(letters, _)| *letters as usize <= piece)
    }

    /// Calls with each place where a piece stands as it is: where it begins in the query and in the letters
    /// of all targets, and which of these are its target's. `None` if the index was not prepared.
    pub fn for_each_place(
        &self,
        query: &[u8],
        piece: usize,
        scratch: &mut Scratch,
        mut call: impl FnMut(usize, usize, &Range<usize>),
    ) -> Option<()> {
        let index = self.level(piece)?.1.get()?;
        let Scratch { words, places } = scratch;
        let letters = index.letters();
        // One loop after the other, so that the processor waits for many places of the memory at a time.
        words.clear();
        places.clear();
        let pieces = query.chunks_exact(piece).enumerate();
        words.extend(pieces.filter_map(|(k, codes)| Some((k * piece, index.word(&codes[..letters])?))));
        places.extend(words.iter().map(|&(from, word)| (from, index.range(word))));
        for (from, range) in places.drain(..) {
            let rest = &query[from + letters..from + piece];
            for &place in index.places(range) {
                let place = place as usize;
                let behind = place + letters;
                let Some(there) = self.targets.codes().get(behind..behind + rest.len()) else { continue };
                if !there.iter().eq(rest) {
                    continue;
                }
                let target = self.targets.holding(place);
                let bounds = self.targets.start(target)..self.targets.start(target + 1);
                // A letter that is none matches nothing, and a piece lies in one target.
                if behind + rest.len() <= bounds.end && rest.iter().all(|&code| code < 4) {
                    call(from, place, &bounds);
                }
            }
        }
        Some(())
    }
}
