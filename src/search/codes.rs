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
    /// For each block of letters, the lower and the higher bits of their codes.
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
        let words = self.codes.len().div_ceil(BLOCK);
        self.low.resize(words, 0);
        self.high.resize(words, 0);
        self.rare.resize(words.div_ceil(BLOCK), 0);
        InstructionSet::best().run(Pack(self));
    }

    /// Words of the lower and of the higher bits of the letters at these places, where a word begins with them and
    /// all are bases.
    #[inline(always)]
    pub(super) fn words(&self, places: Range<usize>) -> Option<(&[u64], &[u64])> {
        let words = places.start / BLOCK..places.end.div_ceil(BLOCK);
        let told = places.start.is_multiple_of(BLOCK) && !self.are_rare(words.clone());
        told.then(|| (&self.low[words.clone()], &self.high[words]))
    }

    /// Whether some of these blocks have letters that are no base.
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
        // Where nothing is left there is no word for it, and the loop ends before.
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
        for len in [0, 1, 63, 64, 65, 128, 3, 4000, 60, 8000] {
            let from = text.len();
            text.extend(codes[from..codes.len().min(from + len)].iter().copied());
            assert_eq!(*text, codes[..text.len()]);
            for first in (0..text.len()).step_by(BLOCK) {
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
