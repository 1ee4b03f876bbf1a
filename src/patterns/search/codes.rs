//! The input of scans: the codes of a text and their packed bits.
//!
//! Packed bases take two bits each, and a scan reads 64 bases as one word of low and one word of high bits. So a scan
//! reads a quarter of the memory, and no scan has to split the codes into bits again.

use crate::engine::cpu::simd::{InstructionSet, Kernel, Simd};
use rayon::prelude::*;
use std::ops::{Deref, Range};

/// Bases per word.
const BLOCK: usize = 64;

/// Blocks that a thread copies or packs per task, a multiple of the bits of a word; less work than this stays on one
/// thread.
const RUN: usize = 1 << 10;

/// Codes of a text: 0 to 3, [`super::OTHER`] and [`super::NOTHING`].
#[derive(Clone, Debug, Default)]
pub struct TextCodes {
    /// The codes, padded with zeros.
    blocks: Vec<[u8; BLOCK]>,
    letters: usize,
    /// For each block of bases, the low and the high bits of their codes.
    low: Vec<u64>,
    high: Vec<u64>,
    /// One bit for each block that has characters other than bases. For these, two bits are not enough.
    rare: Vec<u64>,
    /// Number of whole blocks that are packed.
    packed: usize,
}

impl TextCodes {
    pub fn of(codes: &[u8]) -> TextCodes {
        let mut text = TextCodes::default();
        text.append(codes, u8::MAX);
        text
    }

    /// Appends codes; codes above `most` become `most`. Long inputs are copied and packed on all threads.
    pub fn append(&mut self, codes: &[u8], most: u8) {
        let at = self.letters % BLOCK;
        let room = if at == 0 { 0 } else { BLOCK - at };
        let (first, rest) = codes.split_at(room.min(codes.len()));
        if let Some(last) = self.blocks.last_mut() {
            last[at..].iter_mut().zip(first).for_each(|(own, &code)| *own = code.min(most));
        }
        let (whole, rest) = rest.as_chunks::<BLOCK>();
        let plain = |block: &[u8; BLOCK]| block.map(|code| code.min(most));
        match whole.len() > RUN {
            true => self.blocks.par_extend(whole.par_iter().with_min_len(RUN).map(plain)),
            false => self.blocks.extend(whole.iter().map(plain)),
        }
        if !rest.is_empty() {
            let mut last = [0; BLOCK];
            last.iter_mut().zip(rest).for_each(|(own, &code)| *own = code.min(most));
            self.blocks.push(last);
        }
        self.letters += codes.len();
        self.pack();
    }

    /// Packs the blocks that are not packed yet. An incomplete last block is packed again each time.
    fn pack(&mut self) {
        let TextCodes { blocks, letters, low, high, rare, packed } = self;
        low.resize(blocks.len(), 0);
        high.resize(blocks.len(), 0);
        rare.resize(blocks.len().div_ceil(BLOCK), 0);
        let set = InstructionSet::best();
        let first = *packed;
        *packed = *letters / BLOCK;
        if blocks.len() - first <= RUN {
            let (low, high) = (&mut low[first..], &mut high[first..]);
            set.run(Pack { blocks: &blocks[first..], low, high, rare: &mut rare[first / BLOCK..], first });
            return;
        }
        let first = first / RUN * RUN;
        let runs = blocks[first..].par_chunks(RUN).zip(low[first..].par_chunks_mut(RUN));
        let runs = runs
            .zip(high[first..].par_chunks_mut(RUN))
            .zip(rare[first / BLOCK..].par_chunks_mut(RUN / BLOCK));
        runs.for_each(|(((blocks, low), high), rare)| set.run(Pack { blocks, low, high, rare, first: 0 }));
    }

    /// Words of the low and of the high bits of the bases at these positions, if the first position begins a word and
    /// all of them are bases.
    #[inline(always)]
    pub(super) fn words(&self, places: Range<usize>) -> Option<(&[u64], &[u64])> {
        let words = places.start / BLOCK..places.end.div_ceil(BLOCK);
        let told = places.start.is_multiple_of(BLOCK) && !self.are_rare(words.clone());
        told.then(|| (&self.low[words.clone()], &self.high[words]))
    }

    /// Whether some of these blocks have characters other than bases.
    #[inline(always)]
    fn are_rare(&self, blocks: Range<usize>) -> bool {
        let Some(last) = blocks.end.checked_sub(1) else { return false };
        (blocks.start / BLOCK..=last / BLOCK).any(|word| {
            let from =
                if word == blocks.start / BLOCK { u64::MAX << (blocks.start % BLOCK) } else { u64::MAX };
            let to = if word == last / BLOCK { u64::MAX >> (BLOCK - 1 - last % BLOCK) } else { u64::MAX };
            self.rare[word] & from & to != 0
        })
    }
}

impl Deref for TextCodes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.blocks.as_flattened()[..self.letters]
    }
}

/// Packs blocks. The first of them has the bit `first` of its word in `rare`.
struct Pack<'a> {
    blocks: &'a [[u8; BLOCK]],
    low: &'a mut [u64],
    high: &'a mut [u64],
    rare: &'a mut [u64],
    first: usize,
}

impl Kernel for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Pack { blocks, low, high, rare, first } = self;
        let words = low.iter_mut().zip(high);
        for ((block, letters), (low, high)) in (first % BLOCK..).zip(blocks).zip(words) {
            (*low, *high) = (simd.bits_of::<0>(letters), simd.bits_of::<1>(letters));
            // `NOTHING` has this bit too.
            let others = simd.bits_of::<2>(letters) != 0;
            let bit = block % BLOCK;
            rare[block / BLOCK] = rare[block / BLOCK] & !(1 << bit) | u64::from(others) << bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::search::{NOTHING, OTHER};

    #[test]
    fn bits_are_those_of_the_codes() {
        let code = |k: usize| match k % 301 {
            77 => OTHER,
            200 => NOTHING,
            other => (other * other % 7 % 4) as u8,
        };
        let codes: Vec<u8> = (0..300_000).map(code).collect();
        // Input in pieces of several lengths.
        let mut text = TextCodes::default();
        for len in [0, 1, 63, 64, 65, 128, 3, 4000, 60, 70_001, 65_536, 8000, 131_000, 300_000] {
            let from = text.len();
            text.append(&codes[from..codes.len().min(from + len)], u8::MAX);
            assert_eq!(*text, codes[..text.len()]);
            for first in (0..text.len()).step_by(BLOCK * if text.len() < 9000 { 1 } else { 37 }) {
                for len in [1, 64, 65, 130, 4097].into_iter().filter(|len| first + len <= text.len()) {
                    let whole = first..text.len().min((first + len).next_multiple_of(BLOCK));
                    let letters = &codes[whole];
                    let expected = letters.iter().all(|&code| code < 4).then(|| {
                        let bits = |of: u32| -> Vec<u64> {
                            let word = |letters: &[u8]| {
                                (0..).zip(letters).map(|(k, code)| u64::from(code >> of & 1) << k).sum()
                            };
                            letters.chunks(BLOCK).map(word).collect()
                        };
                        (bits(0), bits(1))
                    });
                    let words = text.words(first..first + len);
                    let found = words.map(|(low, high)| (low.to_vec(), high.to_vec()));
                    assert_eq!(found, expected, "{len} from {first} of {}", text.len());
                    assert_eq!(text.words(first + 1..first + len), None, "no word begins there");
                }
            }
        }
        assert_eq!(text.len(), codes.len());
    }
}
