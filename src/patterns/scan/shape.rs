//! Divides a text into chunks, and copies its bit planes for the device.

use super::shader::THREADS;
use crate::patterns::sliced::packed::PackedText;
use crate::terms::casts::{low_u32, to_isize};
use std::ops::Range;

/// Bits of a word, and therefore chunks per thread and columns per transpose step.
pub const WORD: usize = 32;
/// Words of a plane are a multiple of this, so that the words a thread copies per task belong to one plane.
const PLANE_WORDS: usize = 1 << 10;
/// A chunk is at least this many times its overlap.
const OVERLAP: usize = 8;
/// Maximum length of a chunk in bases, unless the overlap requires more.
const LONGEST: usize = 1 << 13;

/// Division of a part of a text into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkShape {
    /// Words per column.
    pub words: usize,
    /// Bases per chunk without its overlap: a multiple of [`WORD`].
    pub chunk: usize,
    /// Columns before each chunk: a multiple of [`WORD`].
    pub before: usize,
}

impl ChunkShape {
    /// Chooses the shape for `letters` bases and `patterns` patterns with `before` bases of overlap, for `threads`
    /// threads if possible.
    pub fn new(letters: usize, patterns: usize, before: usize, threads: usize) -> ChunkShape {
        let least = OVERLAP * (before + 1);
        let wanted = letters * patterns / (WORD * threads);
        let chunk = wanted.clamp(least, least.max(LONGEST)).next_multiple_of(WORD);
        let words = letters.div_ceil(chunk * WORD);
        // Every thread of a workgroup should have work.
        let threads = THREADS as usize;
        let words = if words > threads / 2 { words.next_multiple_of(threads) } else { words };
        let chunk = letters.div_ceil(words * WORD).next_multiple_of(WORD);
        ChunkShape::of_chunks(letters, chunk, before)
    }

    /// Sets the chunk length.
    pub fn of_chunks(letters: usize, chunk: usize, before: usize) -> ChunkShape {
        let words = letters.div_ceil(chunk * WORD);
        ChunkShape { words, chunk, before: before.next_multiple_of(WORD) }
    }

    /// Columns per chunk, including its overlap.
    pub fn columns(&self) -> usize {
        self.before + self.chunk
    }

    /// Words per plane of the packed text.
    pub fn plane_words(&self) -> usize {
        ((self.words * WORD * self.chunk + self.before) / WORD).next_multiple_of(PLANE_WORDS)
    }
}

/// Planes to upload: `plane_words` words of each.
pub struct PlaneCopy<'a> {
    pub text: &'a PackedText,
    /// Positions of the text that are uploaded; other positions hold nothing.
    pub own: Range<usize>,
    /// Position of the first character of a plane, possibly before the text.
    pub from: isize,
    pub plane_words: usize,
}

impl PlaneCopy<'_> {
    /// Copies the words `words` of all planes.
    pub fn copy(&self, words: Range<usize>, copied: &mut [u32]) {
        let mut at = words.start;
        let mut rest = copied;
        // The words copied by one call are of two planes only if the text is short.
        while at < words.end {
            let (plane, first) = (at / self.plane_words, at % self.plane_words);
            let count = (self.plane_words - first).min(words.end - at);
            let (own, others) = rest.split_at_mut(count);
            for (block, out) in own.chunks_mut(2).enumerate() {
                let from = self.from + to_isize((first + 2 * block) * WORD);
                let bits = self.text.bits_within(plane, &self.own, from);
                out.iter_mut()
                    .zip([low_u32(bits), (bits >> WORD) as u32])
                    .for_each(|(out, word)| *out = word);
            }
            (at, rest) = (at + count, others);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_their_chunks() {
        for letters in [1, 31, 32, 33, 1000, 1 << 20, 100_000_007] {
            for patterns in [1, 96, 2000] {
                for before in [0, 1, 22, 33, 1100] {
                    let shape = ChunkShape::new(letters, patterns, before, 1 << 16);
                    let ChunkShape { words, chunk, .. } = shape;
                    assert!(words * WORD * chunk >= letters && (words - 1) * WORD * chunk < letters);
                    assert!(
                        shape.before >= before
                            && [chunk, shape.before].iter().all(|n| n.is_multiple_of(WORD))
                    );
                }
            }
        }
    }

    #[test]
    fn copies() {
        let codes: Vec<u8> = (0..5000).map(|k| [0, 1, 2, 3, 4, 12, 2][k % 7]).collect();
        let (blocks, rest) = codes.as_chunks();
        let mut last = [12; 64];
        last[..rest.len()].copy_from_slice(rest);
        let mut text = PackedText::default();
        text.extend(&[blocks, &[last]].concat(), 0, codes.len());
        for (from, own) in
            [-65, -32, -1, 0, 7, 64].into_iter().flat_map(|from| [(from, 0..5000), (from, 77..4003)])
        {
            let plane_words = 256;
            let mut copied = vec![7; 3 * plane_words];
            let planes = PlaneCopy { text: &text, own: own.clone(), from, plane_words };
            for words in [0..300, 300..301, 301..768] {
                planes.copy(words.clone(), &mut copied[words]);
            }
            for place in 0..(plane_words * WORD) as isize {
                let at = usize::try_from(from + place).ok().filter(|at| own.contains(at));
                let letter = at.map_or(12, |at| codes[at]);
                let bits = [letter & 1 | letter >> 3, letter >> 1 & 1, letter >> 2 & 1];
                for (plane, bit) in bits.into_iter().enumerate() {
                    let word = copied[plane * plane_words + place as usize / WORD];
                    assert_eq!(word >> (place % 32) & 1, u32::from(bit), "{from} {own:?} {place} {plane}");
                }
            }
        }
    }
}
