//! A text as scans take it: its codes, and their bits packed.
//!
//! Packed, the letters of most texts take two bits, of which a scan reads a word for 64 letters: a text in memory
//! is read a quarter as long, and no letter of it is taken apart in each scan anew.

use crate::engine::cpu::simd::{InstructionSet, Kernel, Simd};
use std::ops::{Deref, Range};

/// Letters of a word.
const BLOCK: usize = 64;

/// Codes of letters: 0 to 3, [`super::OTHER`] and [`super::NOTHING`].
#[derive(Clone, Debug, Default)]
pub struct Codes {
    codes: Vec<u8>,
    /// For each block of letters, the lower and the higher bits of their codes, and behind the last block 0.
    low: Vec<u64>,
    high: Vec<u64>,
    /// A bit for each block: whether it has letters that are no base. Of them, two bits do not tell.
    rare: Vec<u64>,
    /// Letters in whole blocks.
    packed: usize,
}

impl Codes {
    pub fn of(codes: &[u8]) -> Codes {
        let mut text = Codes::default();
        text.extend(codes.iter().copied());
        text
    }

    /// Appends codes.
    pub fn extend(&mut self, codes: impl Iterator<Item = u8>) {
        self.codes.extend(codes);
        let words = self.codes.len().div_ceil(BLOCK) + 1;
        self.low.resize(words, 0);
        self.high.resize(words, 0);
        self.rare.resize(words.div_ceil(BLOCK), 0);
        InstructionSet::best().run(Pack(self));
    }

    /// Whether all letters of these places are bases.
    #[inline(always)]
    pub(super) fn are_bases(&self, places: Range<usize>) -> bool {
        let (first, last) = (places.start / BLOCK, places.end.saturating_sub(1) / BLOCK);
        (first / BLOCK..=last / BLOCK).all(|word| {
            let from = if word == first / BLOCK { u64::MAX << (first % BLOCK) } else { u64::MAX };
            let to = if word == last / BLOCK { u64::MAX >> (BLOCK - 1 - last % BLOCK) } else { u64::MAX };
            self.rare[word] & from & to == 0
        })
    }

    /// The lower and the higher bits of each 64 letters from `first` on: at most as many blocks as begin in the
    /// text.
    #[inline(always)]
    pub(super) fn bits(&self, first: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (word, shift) = (first / BLOCK, (first % BLOCK) as u32);
        let joined = move |two: &[u64]| two[0] >> shift | two[1] << 1 << (BLOCK as u32 - 1 - shift);
        let low = self.low[word..].windows(2).map(joined);
        low.zip(self.high[word..].windows(2).map(joined))
    }
}

impl Deref for Codes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.codes
    }
}

/// Packs what is not packed yet; the last block, until it is whole, each time anew.
struct Pack<'a>(&'a mut Codes);

impl Kernel for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Codes { codes, low, high, rare, packed } = self.0;
        let first = *packed / BLOCK;
        let (blocks, rest) = codes[*packed..].as_chunks::<BLOCK>();
        *packed += blocks.len() * BLOCK;
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let words = low[first..].iter_mut().zip(&mut high[first..]);
        for ((block, letters), (low, high)) in (first..).zip(blocks.iter().chain([&last])).zip(words) {
            (*low, *high) = (simd.bits_of::<0>(letters), simd.bits_of::<1>(letters));
            // Letters that are nothing have this bit too.
            let others = simd.bits_of::<2>(letters) != 0;
            let bit = block % BLOCK;
            rare[block / BLOCK] = rare[block / BLOCK] & !(1 << bit) | u64::from(others) << bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{NOTHING, OTHER};

    #[test]
    fn bits_are_those_of_the_codes() {
        let code = |k: usize| match k % 301 {
            77 => OTHER,
            200 => NOTHING,
            other => (other * other % 7 % 4) as u8,
        };
        let codes: Vec<u8> = (0..9000).map(code).collect();
        // As it comes, in pieces of several lengths.
        let mut text = Codes::default();
        for (len, at) in [0, 1, 63, 64, 65, 128, 3, 4000, 60, 8000].into_iter().zip(1..) {
            let from = text.len();
            text.extend(codes[from..codes.len().min(from + len)].iter().copied());
            assert_eq!(*text, codes[..text.len()], "piece {at}");
            for first in [0, 1, 63, 64, 65, 100, 4095, 4096, 5000].into_iter().filter(|&at| at < text.len()) {
                let blocks: Vec<(u64, u64)> = text.bits(first).collect();
                for (block, letters) in text[first..].chunks_exact(BLOCK).enumerate() {
                    let bit =
                        |of: u32| (0..).zip(letters).map(|(k, &code)| u64::from(code >> of & 1) << k).sum();
                    assert_eq!(
                        blocks[block],
                        (bit(0), bit(1)),
                        "block {block} from {first} of {}",
                        text.len()
                    );
                }
            }
        }
        assert_eq!(text.len(), codes.len());
        for first in 0..700 {
            for len in [1, 64, 65, 130, 4097] {
                // Told of whole blocks.
                let (from, to) = (first / BLOCK * BLOCK, (first + len).next_multiple_of(BLOCK));
                let bases = codes[from..to].iter().all(|&code| code < 4);
                assert_eq!(text.are_bases(first..first + len), bases, "{len} from {first}");
            }
        }
    }
}
