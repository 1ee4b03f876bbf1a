//! Where each word of so many letters stands in the targets.

use crate::batch::Sequences;
use rayon::prelude::*;
use std::ops::Range;

/// Bits of a letter, and letters that a word may have: an index has a number for each word.
const LETTER_BITS: u32 = 2;
pub const MOST_LETTERS: u32 = 13;
/// Words of a part of the index, which a thread builds in one go: more parts read the targets more often, larger ones
/// leave the cache.
const PART_WORDS: usize = 1 << 22;

/// The places of all words in [`Sequences::codes`], by word, those of one word in ascending order.
#[derive(Debug)]
pub struct Index {
    letters: u32,
    /// Where the places of each word begin, and in the end their number.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Index {
    /// An index of the words of `letters` letters, which are A, C, G and T and of one sequence. There are
    /// fewer than 2^32 letters in all.
    pub fn new(targets: &Sequences, letters: u32) -> Index {
        let words = 1 << (LETTER_BITS * letters);
        let part = |first: usize| Part::new(targets, letters, first..(first + PART_WORDS).min(words));
        let parts: Vec<Part> = (0..words).into_par_iter().step_by(PART_WORDS).map(part).collect();
        let mut index = Index { letters, starts: Vec::with_capacity(words + 1), places: Vec::new() };
        index.places.reserve_exact(parts.iter().map(|part| part.places.len()).sum());
        for part in parts {
            let before = index.places.len() as u32;
            index.starts.extend(part.starts.iter().map(|start| start + before));
            index.places.extend(part.places);
        }
        index.starts.push(index.places.len() as u32);
        index
    }

    /// Letters of a word.
    pub fn letters(&self) -> usize {
        self.letters as usize
    }

    /// The word that the codes are, which are as many as a word has letters.
    pub fn word(&self, codes: &[u8]) -> Option<usize> {
        codes.iter().try_fold(0, |word, &code| (code < 4).then(|| word << LETTER_BITS | usize::from(code)))
    }

    /// Which of [`Index::places`] are those of a word.
    pub fn range(&self, word: usize) -> Range<usize> {
        self.starts[word] as usize..self.starts[word + 1] as usize
    }

    /// Some of the places.
    pub fn places(&self, range: Range<usize>) -> &[u32] {
        &self.places[range]
    }
}

/// The places of some words.
struct Part {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Part {
    fn new(targets: &Sequences, letters: u32, words: Range<usize>) -> Part {
        let mut next = vec![0u32; words.len() + 1];
        for_each_word(targets, letters, |word, _| {
            if words.contains(&word) {
                next[word - words.start + 1] += 1;
            }
        });
        for word in 0..words.len() {
            next[word + 1] += next[word];
        }
        let starts = next[..words.len()].to_vec();
        let mut places = vec![0; next[words.len()] as usize];
        for_each_word(targets, letters, |word, place| {
            if words.contains(&word) {
                let next = &mut next[word - words.start];
                places[*next as usize] = place;
                *next += 1;
            }
        });
        Part { starts, places }
    }
}

/// Calls with each word and its place.
fn for_each_word(targets: &Sequences, letters: u32, mut call: impl FnMut(usize, u32)) {
    let mask = (1 << (LETTER_BITS * letters)) - 1;
    for index in 0..targets.len() {
        let start = targets.start(index);
        // Letters of the word so far.
        let (mut word, mut known) = (0usize, 0);
        for (place, &code) in (start as u32..).zip(targets.get(index)) {
            word = (word << LETTER_BITS | usize::from(code & 3)) & mask;
            known = if code < 4 { known + 1 } else { 0 };
            if known >= letters {
                call(word, place + 1 - letters);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_at_its_places() {
        let mut state = 1u32;
        let mut letter = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) % most) as u8
        };
        let lengths = [0, 1, 3, 4, 5, 300, 40];
        let sequences: Vec<Vec<u8>> =
            lengths.iter().map(|&len| (0..len).map(|_| letter(20).saturating_sub(15)).collect()).collect();
        let targets: Sequences = sequences.iter().map(Vec::as_slice).collect();
        for letters in [1, 2, 4, 9] {
            let index = Index::new(&targets, letters);
            let mut seen = 0;
            for word in 0..1 << (2 * letters) {
                let places = index.places(index.range(word));
                assert!(places.is_sorted());
                for &place in places {
                    let codes = &targets.codes()[place as usize..][..letters as usize];
                    assert_eq!(index.word(codes), Some(word));
                }
                seen += places.len();
            }
            let whole = |codes: &&[u8]| codes.iter().all(|&code| code < 4);
            let expected: usize =
                targets.iter().map(|codes| codes.windows(letters as usize).filter(whole).count()).sum();
            assert_eq!(seen, expected);
        }
    }
}
