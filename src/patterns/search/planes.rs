//! The letters of a stretch as planes of bits, read onwards or backwards.

use crate::engine::cpu::simd::Bits;
use crate::patterns::search::pattern::{ANY, Class};
use std::ops::Range;

/// Letters of a word.
const BLOCK: usize = 64;
/// Words behind the last letter that may be read.
const BEHIND: usize = 2;

/// For each letter the lower and the higher bit of a base's code, and whether it is no base. Behind the last letter
/// there are bits of no meaning.
#[derive(Debug, Default)]
pub struct Planes {
    low: Vec<u64>,
    high: Vec<u64>,
    other: Vec<u64>,
    /// Whole words of letters.
    words: usize,
}

/// The bits of 64 letters, the first one lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub low: u64,
    pub high: u64,
    pub other: u64,
}

impl Planes {
    /// Takes codes of DNA, of which those of bases are 0 to 3.
    #[inline(always)]
    pub fn fill<S: Bits>(&mut self, simd: S, codes: &[u8]) {
        self.reset(codes.len().div_ceil(BLOCK));
        let (blocks, rest) = codes.as_chunks::<BLOCK>();
        for (block, letters) in blocks.iter().enumerate() {
            self.put(simd, block, letters);
        }
        if !rest.is_empty() {
            let mut last = [0; BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            self.put(simd, blocks.len(), &last);
        }
    }

    /// Takes the letters of others from the last to the first: their place `at` has behind it what stood in front of
    /// place `letters - at`.
    #[inline(always)]
    pub fn turn(&mut self, others: &Planes) {
        self.reset(others.words);
        let turn = |own: &mut [u64], others: &[u64]| {
            let last = others.len() - BEHIND;
            for (own, word) in own.iter_mut().zip(others[..last].iter().rev()) {
                *own = word.reverse_bits();
            }
        };
        turn(&mut self.low, &others.low);
        turn(&mut self.high, &others.high);
        turn(&mut self.other, &others.other);
    }

    fn reset(&mut self, words: usize) {
        self.words = words;
        for plane in [&mut self.low, &mut self.high, &mut self.other] {
            plane.resize(words + BEHIND, 0);
            plane[words..].fill(0);
        }
    }

    #[inline(always)]
    fn put<S: Bits>(&mut self, simd: S, block: usize, letters: &[u8; BLOCK]) {
        self.low[block] = simd.bits_of::<0>(letters);
        self.high[block] = simd.bits_of::<1>(letters);
        self.other[block] = simd.bits_of::<2>(letters) | simd.bits_of::<3>(letters);
    }

    /// Letters, in whole words.
    pub fn letters(&self) -> usize {
        self.words * BLOCK
    }

    /// The letters from a place on, of which the first 64 are told.
    #[inline(always)]
    pub fn window(&self, at: usize) -> Window {
        Window { low: bits(&self.low, at), high: bits(&self.high, at), other: bits(&self.other, at) }
    }

    /// The lower and the higher bits of the letters from a place on.
    #[inline(always)]
    pub fn bases(&self, at: usize) -> (u64, u64) {
        (bits(&self.low, at), bits(&self.high, at))
    }

    /// Calls with each of these places that has letters of all classes of a PAM in front of it. The places have as many
    /// letters in front of them.
    #[inline(always)]
    pub fn for_each_site(&self, pam: &[Class], places: Range<usize>, mut call: impl FnMut(usize)) {
        if places.is_empty() {
            return;
        }
        let words = places.start / BLOCK..places.end.div_ceil(BLOCK);
        for word in words {
            let mut sites = u64::MAX;
            for (back, &class) in (1..=pam.len()).rev().zip(pam) {
                if class != ANY {
                    let before = if word > 0 { self.of_class(class, word - 1) >> (BLOCK - back) } else { 0 };
                    sites &= self.of_class(class, word) << back | before;
                }
            }
            let first = word * BLOCK;
            if first < places.start {
                sites &= u64::MAX << (places.start - first);
            }
            if first + BLOCK > places.end {
                sites &= u64::MAX >> (first + BLOCK - places.end);
            }
            while sites != 0 {
                call(first + sites.trailing_zeros() as usize);
                sites &= sites - 1;
            }
        }
    }

    /// Which letters of a word a class matches; not for the class N.
    #[inline(always)]
    fn of_class(&self, class: Class, word: usize) -> u64 {
        let (low, high) = (self.low[word], self.high[word]);
        let of = |base: u32, bits: u64| if class >> base & 1 == 1 { bits } else { 0 };
        (of(0, !low & !high) | of(1, low & !high) | of(2, !low & high) | of(3, low & high))
            & !self.other[word]
    }
}

/// 64 bits from a place on.
#[inline(always)]
fn bits(plane: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / BLOCK, at % BLOCK);
    plane[word] >> shift | plane[word + 1] << 1 << (BLOCK - 1 - shift)
}
