//! Divides a text into chunks and packs it into three bit planes in text order: the low bit of a base, the high bit of
//! a base, and whether a character is no base. Outside the text the low bit is also set.

use super::shader::THREADS;
use crate::engine::cpu::simd::{Kernel, Simd};
use crate::terms::alphabet::NOTHING;
use crate::terms::casts::{low_u32, to_isize};
use std::array::from_fn;
use std::ops::Range;

/// Bits of a word, and therefore chunks per thread and columns per transpose step.
pub const WORD: usize = 32;
/// Bases packed per step.
const BLOCK: usize = 64;
/// Words of a plane are a multiple of this, so that the words a thread packs per task belong to one plane.
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

/// Packs the words `words` of all planes, each of which has `plane_words` words.
pub struct PackPlanes<'a> {
    pub text: &'a [u8],
    /// Offset in the text of the first packed base. If it is negative, the planes begin with padding.
    pub from: isize,
    pub plane_words: usize,
    pub words: Range<usize>,
    pub packed: &'a mut [u32],
}

impl Kernel for PackPlanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let PackPlanes { text, from, plane_words, words, packed } = self;
        let mut at = words.start;
        let mut rest = packed;
        // The words packed by one call span two planes only if the text is short.
        while at < words.end {
            let (plane, first) = (at / plane_words, at % plane_words);
            let count = (plane_words - first).min(words.end - at);
            let (own, others) = rest.split_at_mut(count);
            for (block, out) in own.chunks_mut(2).enumerate() {
                let begin = from + to_isize((first + 2 * block) * WORD);
                let inside =
                    usize::try_from(begin).ok().and_then(|begin| text.get(begin..)?.first_chunk::<BLOCK>());
                let bits = match inside {
                    Some(letters) => bits_of(simd, plane, letters),
                    None => {
                        let letter = |k: usize| {
                            let place = usize::try_from(begin + to_isize(k)).ok();
                            place.and_then(|place| text.get(place)).copied().unwrap_or(NOTHING)
                        };
                        bits_of(simd, plane, &from_fn(letter))
                    }
                };
                for (word, bits) in out.iter_mut().zip([low_u32(bits), (bits >> WORD) as u32]) {
                    *word = bits;
                }
            }
            (at, rest) = (at + count, others);
        }
    }
}

/// 64 bits of a plane.
#[inline(always)]
fn bits_of<S: Simd>(simd: S, plane: usize, letters: &[u8; BLOCK]) -> u64 {
    match plane {
        0 => simd.bits_of::<0>(letters) | simd.bits_of::<3>(letters),
        1 => simd.bits_of::<1>(letters),
        _ => simd.bits_of::<2>(letters),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cpu::simd::InstructionSet;

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
    fn packing() {
        let text: Vec<u8> = (0..5000).map(|k| [0, 1, 2, 3, 4, 12, 2][k % 7]).collect();
        for from in [-65, -32, -1, 0, 7, 64] {
            let plane_words = 256;
            let mut packed = vec![7; 3 * plane_words];
            for words in [0..300, 300..301, 301..768] {
                let (text, packed) = (&text[..], &mut packed[words.clone()]);
                InstructionSet::best().run(PackPlanes { text, from, plane_words, words, packed });
            }
            for place in 0..(plane_words * WORD) as isize {
                let letter = usize::try_from(from + place).ok().and_then(|at| text.get(at)).unwrap_or(&12);
                let bits = [letter & 1 | letter >> 3, letter >> 1 & 1, letter >> 2 & 1];
                for (plane, bit) in bits.into_iter().enumerate() {
                    let word = packed[plane * plane_words + place as usize / WORD];
                    assert_eq!(word >> (place % 32) & 1, u32::from(bit), "{from} {place} {plane}");
                }
            }
        }
    }
}
