//! Rabin's fingerprints with a stretch of the text in every bit of a vector.
//!
//! A vector holds one coefficient of the fingerprints of all stretches. So multiplying by x^5 moves vectors, and all
//! sums are exclusive ors. A coefficient of the next fingerprint is the sum of the coefficient five positions below,
//! some of the five highest coefficients, and some bits of the base that leaves the window. All such sums are
//! computed first: 32 sums of the coefficients, and 8 sums of the base's three bits.

use super::CutRule;
use super::polynomial::{CARRIED, LETTER_BITS, power};
use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::patterns::sliced::transpose::{BLOCK, splat, transpose_rows};
use crate::terms::casts::{to_u8, to_u32};
use bytemuck::Pod;
use std::array::from_fn;
use std::ops::Range;

/// Bits per base: five values in all.
const PLANES: usize = 3;
/// Coefficients of a fingerprint.
const BITS: usize = u32::BITS as usize;
/// The coefficients that are carried over when a base is appended.
const TOP: usize = LETTER_BITS as usize;

/// For each coefficient, the sum of the five highest coefficients that is added to it, as a bit mask.
#[expect(clippy::cast_possible_truncation, reason = "a constant of single bits below 2^TOP")]
const CARRIED_TO: [u8; BITS] = {
    let mut table = [0; BITS];
    let mut bit = 0;
    while bit < BITS {
        let mut top = 0;
        while top < TOP {
            table[bit] |= ((CARRIED[1 << top] >> bit & 1) << top) as u8;
            top += 1;
        }
        bit += 1;
    }
    table
};

/// Residues of a lane's stretch, about `wanted`. Together with the bases before it, they fill whole blocks.
pub fn stretch(wanted: usize, window: usize) -> usize {
    (wanted + window - 1).next_multiple_of(BLOCK) - (window - 1)
}

/// Finds the cuts after the bases of `own`. Each lane processes `stretch` bases, a result of [`stretch()`].
pub struct SlicedPiece<'a> {
    pub text: &'a [u8],
    pub own: Range<usize>,
    pub stretch: usize,
    pub rule: &'a CutRule,
}

/// Bits of the bases of 64 columns: for each plane and each column, the bits of all lanes.
type PlaneBlock<B> = [[B; BLOCK]; PLANES];

impl Kernel for SlicedPiece<'_> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<usize> {
        let window = self.rule.window();
        let before = window - 1;
        // Ring of the latest blocks: a base leaves the window at most one window after it entered.
        let ring_blocks = window.div_ceil(BLOCK) + 1;
        let columns = ring_blocks * BLOCK;
        let nothing: PlaneBlock<S::B> = [[splat(0); BLOCK]; PLANES];
        let mut ring = vec![nothing; ring_blocks];
        let leaving_from = self.leaving_from();
        let mut prints =
            Prints { state: [splat(0); BITS], carried: [splat(0); 1 << TOP], gone: [splat(0); 1 << PLANES] };
        let mut cuts = Vec::new();
        for number in 0..(before + self.stretch) / BLOCK {
            let slot = number % ring_blocks;
            self.load(simd, number * BLOCK, &mut ring[slot]);
            for at in 0..BLOCK {
                let column = number * BLOCK + at;
                self.prefetch(simd, column);
                let gone = (column + columns - window) % columns;
                let gone = letter(&ring[gone / BLOCK], gone % BLOCK);
                prints.step(simd, letter(&ring[slot], at), gone, &leaving_from);
                if column >= before {
                    self.take(simd, &prints.state, column - before, &mut cuts);
                }
            }
        }
        cuts.sort_unstable();
        cuts
    }
}

impl SlicedPiece<'_> {
    /// For each coefficient, the sum of the leaving base's bits that is subtracted from it, as a bit mask.
    fn leaving_from(&self) -> [u8; BITS] {
        let gone = LETTER_BITS * to_u32(self.rule.window());
        let powers: [u32; PLANES] = from_fn(|plane| power(gone + to_u32(plane)));
        from_fn(|bit| (0..PLANES).map(|plane| to_u8((powers[plane] >> bit & 1) << plane)).sum())
    }

    /// Loads the bases of all lanes from `column` on.
    #[inline(always)]
    fn load<S: Simd>(&self, simd: S, column: usize, block: &mut PlaneBlock<S::B>) {
        let words = size_of::<S::B>() / 8;
        let before = self.rule.window() - 1;
        for lane in 0..words * BLOCK {
            let start = self.own.start + lane * self.stretch;
            // Position of a base in the text, plus `before`.
            let place = start + column;
            let planes = match place.checked_sub(before).and_then(|from| self.text.get(from..from + BLOCK)) {
                Some(letters) => planes_of(simd, letters.try_into().unwrap_or(&[0; BLOCK])),
                None if start < self.own.end => {
                    let letter = |k: usize| (place + k).checked_sub(before).and_then(|at| self.text.get(at));
                    planes_of(simd, &from_fn(|k| letter(k).copied().unwrap_or(0)))
                }
                None => [0; PLANES],
            };
            let (word, row) = (lane / BLOCK, lane % BLOCK);
            for (rows, plane) in block.iter_mut().zip(planes) {
                bytemuck::cast_slice_mut::<S::B, u64>(rows)[row * words + word] = plane;
            }
        }
        for rows in block {
            transpose_rows(simd, rows);
        }
    }

    /// Prefetches the bases of the next block, a few lanes per column.
    #[inline(always)]
    fn prefetch<S: Simd>(&self, simd: S, column: usize) {
        let lanes = size_of::<S::B>() * 8 / BLOCK;
        // The last base of a block is in the new cache line.
        let ahead = self.own.start + column / BLOCK * BLOCK + 2 * BLOCK;
        for lane in column % BLOCK * lanes..(column % BLOCK + 1) * lanes {
            let place = (ahead + lane * self.stretch).checked_sub(self.rule.window());
            if let Some(letters) = place.and_then(|place| self.text.get(place..)) {
                simd.prefetch(letters);
            }
        }
    }

    /// Adds the cuts after base `at` of all stretches.
    #[inline(always)]
    fn take<S: Simd>(&self, simd: S, state: &[S::B; BITS], at: usize, cuts: &mut Vec<usize>) {
        let bits = self.rule.bits() as usize;
        let all = state[1..bits].iter().fold(state[0], |all, &bit| simd.and(all, bit));
        if !simd.any(all) {
            return;
        }
        for (word, &bits) in bytemuck::cast_slice::<S::B, u64>(&[all]).iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let lane = word * BLOCK + bits.trailing_zeros() as usize;
                let cut = self.own.start + lane * self.stretch + at + 1;
                if (self.rule.window()..=self.own.end).contains(&cut) {
                    cuts.push(cut);
                }
                bits &= bits - 1;
            }
        }
    }
}

/// Bits of 64 bases. Codes from 4 on become 5.
#[inline(always)]
fn planes_of<S: Bits>(simd: S, letters: &[u8; BLOCK]) -> [u64; PLANES] {
    let other = simd.bits_of::<2>(letters) | simd.bits_of::<3>(letters);
    [simd.bits_of::<0>(letters) | other, simd.bits_of::<1>(letters) & !other, other]
}

#[inline(always)]
fn letter<B: Copy>(block: &PlaneBlock<B>, at: usize) -> [B; PLANES] {
    from_fn(|plane| block[plane][at])
}

/// The coefficients of the fingerprints, and buffers for the sums of a step.
struct Prints<B> {
    state: [B; BITS],
    carried: [B; 1 << TOP],
    gone: [B; 1 << PLANES],
}

impl<B: Pod> Prints<B> {
    /// Updates the fingerprints with one base appended and one removed at the beginning.
    #[inline(always)]
    fn step<S: Bits<B = B>>(
        &mut self,
        simd: S,
        entering: [B; PLANES],
        leaving: [B; PLANES],
        leaving_from: &[u8; BITS],
    ) {
        sums(simd, from_fn::<_, TOP, _>(|k| self.state[BITS - TOP + k]), &mut self.carried);
        sums(simd, leaving, &mut self.gone);
        // Unrolled from the highest coefficient down, each computed from one that has not changed yet. The compiler
        // does not unroll a loop.
        macro_rules! coefficients {
            ($($bit:literal)+) => {$(
                let carried = self.carried[CARRIED_TO[$bit] as usize];
                let added = simd.xor(carried, self.gone[leaving_from[$bit] as usize % (1 << PLANES)]);
                self.state[$bit] = match usize::checked_sub($bit, TOP) {
                    Some(below) => simd.xor(self.state[below], added),
                    None if $bit < PLANES => simd.xor(entering[$bit % PLANES], added),
                    None => added,
                };
            )+};
        }
        coefficients! {
            31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0
        }
    }
}

/// Writes the sums of all subsets of some vectors, except the empty one, by the bits of the subset.
#[inline(always)]
fn sums<S: Bits, const COUNT: usize, const SUMS: usize>(
    simd: S,
    vectors: [S::B; COUNT],
    sums: &mut [S::B; SUMS],
) {
    for (bit, vector) in vectors.into_iter().enumerate() {
        sums[1 << bit] = vector;
        for rest in 1..1 << bit {
            sums[1 << bit | rest] = simd.xor(sums[rest], vector);
        }
    }
}
