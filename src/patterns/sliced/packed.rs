//! DNA packed to bit planes: for each character the low and the high bit of its base, and whether it is no base. A scan
//! reads 64 bases as one word of each plane, so no scan has to split codes into bits again.
//!
//! A character that matches nothing (`NOTHING`) is no base, and has a low bit. Outside of a text there are such
//! characters.

use super::transpose::BLOCK;
use crate::engine::cpu::simd::{Bits, InstructionSet, Kernel, Simd};
use crate::terms::alphabet::NOTHING;
use crate::terms::casts::{low_u32, to_isize};
use bytemuck::cast_slice;
use rayon::prelude::*;
use std::ops::Range;

/// Planes: the low bits, the high bits, and the characters that are no bases.
const PLANES: usize = 3;
/// The bits of `NOTHING` in each plane.
const OUTSIDE: [u64; PLANES] = [u64::MAX, 0, u64::MAX];
/// Padding words that may be read after the last base.
const BEHIND: usize = 2;
/// Blocks that a thread packs per task; less work than this stays on one thread.
pub const RUN: usize = 1 << 10;

/// A text as bit planes.
#[derive(Clone, Debug, Default)]
pub struct PackedText {
    planes: [Vec<u64>; PLANES],
    len: usize,
}

/// The bits of 64 characters, the first character lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasePlanes {
    pub low: u64,
    pub high: u64,
    pub other: u64,
}

impl PackedText {
    /// Packs the codes of a text, on one thread.
    #[inline(always)]
    pub fn fill<S: Bits>(&mut self, simd: S, codes: &[u8]) {
        self.resize(codes.len());
        let (blocks, rest) = codes.as_chunks();
        let mut last = [NOTHING; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        for (at, block) in blocks.iter().chain((!rest.is_empty()).then_some(&last)).enumerate() {
            let packed = pack(simd, block);
            self.planes.iter_mut().zip(packed).for_each(|(plane, word)| plane[at] = word);
        }
    }

    /// Packs the blocks from `first` on of a text of `len` characters, on all threads. Blocks before them stay.
    pub fn extend(&mut self, blocks: &[[u8; BLOCK]], first: usize, len: usize) {
        self.resize(len);
        let set = InstructionSet::best();
        let [low, high, other] = self.planes.each_mut().map(|plane| &mut plane[first..blocks.len()]);
        let blocks = &blocks[first..];
        if blocks.len() <= RUN {
            return set.run(Pack { blocks, planes: [low, high, other] });
        }
        let runs = blocks.par_chunks(RUN).zip(low.par_chunks_mut(RUN));
        let runs = runs.zip(high.par_chunks_mut(RUN)).zip(other.par_chunks_mut(RUN));
        runs.for_each(|(((blocks, low), high), other)| {
            set.run(Pack { blocks, planes: [low, high, other] });
        });
    }

    /// Packs the reverse of `others`: the base after position `at` is the base before position `padded() - at` of
    /// `others`.
    #[inline(always)]
    pub fn fill_reversed(&mut self, others: &PackedText) {
        self.resize(others.padded());
        let words = others.padded() / BLOCK;
        for (plane, others) in self.planes.iter_mut().zip(&others.planes) {
            for (own, word) in plane.iter_mut().zip(others[..words].iter().rev()) {
                *own = word.reverse_bits();
            }
        }
    }

    fn resize(&mut self, len: usize) {
        self.len = len;
        let words = len.div_ceil(BLOCK);
        for (plane, outside) in self.planes.iter_mut().zip(OUTSIDE) {
            plane.resize(words + BEHIND, outside);
            plane[words..].fill(outside);
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length in characters including the rest of the last block.
    pub fn padded(&self) -> usize {
        self.len.next_multiple_of(BLOCK)
    }

    /// The 64 characters of a block.
    #[inline(always)]
    pub fn block(&self, block: usize) -> BasePlanes {
        BasePlanes::of(|plane| self.planes[plane][block])
    }

    /// The 64 characters from this position on.
    #[inline(always)]
    pub fn window(&self, at: usize) -> BasePlanes {
        BasePlanes::of(|plane| bits(&self.planes[plane], at))
    }

    /// The low and the high bits of the 64 characters from this position on.
    #[inline(always)]
    pub fn bases(&self, at: usize) -> (u64, u64) {
        (bits(&self.planes[0], at), bits(&self.planes[1], at))
    }

    /// The bits of the 25 characters from this position on, in each plane.
    #[inline(always)]
    pub fn short_window(&self, at: usize) -> [u32; PLANES] {
        self.planes.each_ref().map(|plane| {
            if cfg!(target_endian = "big") {
                return low_u32(bits(plane, at));
            }
            // One load without alignment is faster than two words.
            let four = cast_slice::<u64, u8>(plane)[at / 8..].first_chunk().copied().unwrap_or_default();
            u32::from_le_bytes(four) >> (at % 8)
        })
    }

    /// The bits of a plane from position `at` on. Only the characters at the positions `within` count; those before and
    /// after them are `NOTHING`.
    #[inline(always)]
    pub fn bits_within(&self, plane: usize, within: &Range<usize>, at: isize) -> u64 {
        let (start, end) = (to_isize(within.start) - at, to_isize(within.end) - at);
        let (outside, block) = (OUTSIDE[plane], to_isize(BLOCK));
        if end <= 0 || start >= block || start >= end {
            return outside;
        }
        let inside = u64::MAX << start.max(0) & u64::MAX >> (block - end.min(block));
        let bits = match usize::try_from(at) {
            Ok(at) => bits(&self.planes[plane], at),
            Err(_) => self.planes[plane][0] << at.unsigned_abs(),
        };
        bits & inside | outside & !inside
    }

    /// Calls `call` with the number and the characters of each of `count` consecutive windows; the first begins at
    /// `from`, possibly before the text.
    #[inline(always)]
    pub fn for_each_window(&self, from: isize, count: usize, mut call: impl FnMut(usize, BasePlanes)) {
        let is_inside = |from: &usize| from.is_multiple_of(BLOCK) && from + count * BLOCK <= self.len;
        if let Some(from) = usize::try_from(from).ok().filter(is_inside) {
            let words = self.planes.each_ref().map(|plane| &plane[from / BLOCK..][..count]);
            (0..count).for_each(|k| call(k, BasePlanes::of(|plane| words[plane][k])));
            return;
        }
        for k in 0..count {
            let at = from + to_isize(k * BLOCK);
            call(k, BasePlanes::of(|plane| self.bits_within(plane, &(0..self.len), at)));
        }
    }
}

impl BasePlanes {
    #[inline(always)]
    fn of(plane: impl Fn(usize) -> u64) -> BasePlanes {
        BasePlanes { low: plane(0), high: plane(1), other: plane(2) }
    }
}

/// 64 bits from this position on.
#[inline(always)]
fn bits(plane: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / BLOCK, at % BLOCK);
    plane[word] >> shift | plane[word + 1] << 1 << (BLOCK - 1 - shift)
}

/// The bits of a block in each plane.
#[inline(always)]
fn pack<S: Bits>(simd: S, block: &[u8; BLOCK]) -> [u64; PLANES] {
    let fourth = simd.bits_of::<3>(block);
    [simd.bits_of::<0>(block) | fourth, simd.bits_of::<1>(block), simd.bits_of::<2>(block) | fourth]
}

/// Packs blocks.
struct Pack<'a> {
    blocks: &'a [[u8; BLOCK]],
    planes: [&'a mut [u64]; PLANES],
}

impl Kernel for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let [low, high, other] = self.planes;
        for (((block, low), high), other) in self.blocks.iter().zip(low).zip(high).zip(other) {
            [*low, *high, *other] = pack(simd, block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of the codes from a position on, one by one.
    fn expected(codes: &[u8], at: isize) -> BasePlanes {
        let mut planes = [0; PLANES];
        for k in 0..BLOCK {
            let code = usize::try_from(at + k as isize).ok().and_then(|at| codes.get(at)).unwrap_or(&NOTHING);
            let bits = [code & 1 | code >> 3 & 1, code >> 1 & 1, code >> 2 & 1];
            planes.iter_mut().zip(bits).for_each(|(plane, bit)| *plane |= u64::from(bit) << k);
        }
        BasePlanes::of(|plane| planes[plane])
    }

    #[test]
    fn windows_are_those_of_the_codes() {
        let codes: Vec<u8> = (0..333).map(|k| [0, 1, 2, 3, 4, NOTHING, 2, 0][k * k % 8]).collect();
        let mut text = PackedText::default();
        for len in [0, 1, 63, 64, 65, 128, 333, 200] {
            let codes = &codes[..len];
            InstructionSet::best().run(Fill(&mut text, codes));
            assert_eq!(text.len(), len);
            for at in 0..len {
                let window = expected(codes, at as isize);
                assert_eq!(text.window(at), window, "{at} of {len}");
                assert_eq!(text.bases(at), (window.low, window.high));
                let short = [window.low, window.high, window.other].map(|bits| low_u32(bits) << 7);
                assert_eq!(text.short_window(at).map(|bits| bits << 7), short, "{at} of {len}");
            }
            for from in [-200, -64, -63, -1, 0, 1, 64, 100] {
                let mut found = Vec::new();
                text.for_each_window(from, 4, |k, window| found.push((k, window)));
                let windows = (0..4).map(|k| (k, expected(codes, from + (k * BLOCK) as isize)));
                assert!(found.into_iter().eq(windows), "{from} of {len}");
            }
            let (start, end) = (len / 5, len / 2);
            for at in -70..len as isize + 70 {
                let own = expected(&codes[start..end], at - start as isize);
                let bits = |plane| text.bits_within(plane, &(start..end), at);
                assert_eq!(BasePlanes::of(bits), own, "{at} of {start}..{end}");
            }
            let mut reversed = PackedText::default();
            reversed.fill_reversed(&text);
            for at in 0..len {
                let other = text.bits_within(0, &(0..text.padded()), (text.padded() - at) as isize - 64);
                assert_eq!(reversed.window(at).low, other.reverse_bits(), "{at} of {len}");
            }
        }
    }

    struct Fill<'a>(&'a mut PackedText, &'a [u8]);

    impl Kernel for Fill<'_> {
        type Output = ();

        fn run<S: Simd>(self, simd: S) {
            self.0.fill(simd, self.1);
        }
    }
}
