//! The bases of a stretch as bit planes, read forward or backward.

use crate::engine::cpu::simd::Bits;
use crate::patterns::search::pattern::{ANY, BaseClass};
use std::ops::Range;

/// Bases per word.
const BLOCK: usize = 64;
/// Padding words that may be read after the last base.
const BEHIND: usize = 2;

/// For each base the low and the high bit of its code, and whether the character is no base. The bits after the last
/// base are arbitrary.
#[derive(Debug, Default)]
pub struct Planes {
    low: Vec<u64>,
    high: Vec<u64>,
    other: Vec<u64>,
    /// Number of words, all of which are full.
    words: usize,
}

/// The bits of 64 bases, the first base lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasePlanes {
    pub low: u64,
    pub high: u64,
    pub other: u64,
}

impl Planes {
    /// Fills the planes from DNA codes; bases have the codes 0 to 3.
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

    /// Fills the planes with the reverse of `others`: the base after position `at` is the base before position
    /// `letters - at` of `others`.
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

    /// Length in bases, a multiple of the word size.
    pub fn letters(&self) -> usize {
        self.words * BLOCK
    }

    /// The 64 bases from this position on.
    #[inline(always)]
    pub fn window(&self, at: usize) -> BasePlanes {
        BasePlanes { low: bits(&self.low, at), high: bits(&self.high, at), other: bits(&self.other, at) }
    }

    /// The low and the high bits of the 64 bases from this position on.
    #[inline(always)]
    pub fn bases(&self, at: usize) -> (u64, u64) {
        (bits(&self.low, at), bits(&self.high, at))
    }

    /// Calls `call` with each of these positions that the PAM precedes. Every position must have at least the length of
    /// the PAM before it.
    #[inline(always)]
    pub fn for_each_site(&self, pam: &[BaseClass], places: Range<usize>, mut call: impl FnMut(usize)) {
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

    /// Bases of a word that match a class other than N.
    #[inline(always)]
    fn of_class(&self, class: BaseClass, word: usize) -> u64 {
        let (low, high) = (self.low[word], self.high[word]);
        let of = |base: u32, bits: u64| if class >> base & 1 == 1 { bits } else { 0 };
        (of(0, !low & !high) | of(1, low & !high) | of(2, !low & high) | of(3, low & high))
            & !self.other[word]
    }
}

/// 64 bits from this position on.
#[inline(always)]
fn bits(plane: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / BLOCK, at % BLOCK);
    plane[word] >> shift | plane[word + 1] << 1 << (BLOCK - 1 - shift)
}
