//! Hamming distances, counted in bit-sliced numbers of a few bits.
//!
//! If the planes of all columns are available, adders of single bits count the matches: seven bits are added to a sum
//! of three ([`sum`]), which is subtracted from the number of matches needed ([`take_away`]).
//!
//! If planes come block by block, [`HammingCounts`] carries its state from column to column. `C(i,j)` counts the
//! mismatches of the first `i` classes with the `i` bytes that end at column `j`:
//!
//! ```text
//! C(0,j) = 0        C(i,j) = C(i-1,j-1) + !matches, and too many if a text begins behind column j
//! ```
//!
//! The state stores `2^w - k - 1 + C`: `w` bits of it, and a sticky overflow bit that is set once there are too many
//! mismatches. This takes `2w + 2` operations per cell regardless of the length.

use super::myers::constant;
use super::transpose::{BLOCK, all_ones};
use crate::engine::cpu::simd::Bits;

/// Bits added per call of [`sum`].
pub const ADDENDS: usize = 7;

/// Sum and carry of three bits.
#[inline(always)]
fn add<S: Bits>(simd: S, a: S::B, b: S::B, c: S::B) -> (S::B, S::B) {
    (simd.xor(simd.xor(a, b), c), simd.majority(a, b, c))
}

/// The three bits of the sum of seven bits.
#[inline(always)]
pub fn sum<S: Bits>(simd: S, [a, b, c, d, e, f, g]: [S::B; ADDENDS]) -> [S::B; 3] {
    let (abc, abc_twos) = add(simd, a, b, c);
    let (def, def_twos) = add(simd, d, e, f);
    let (one, ones_twos) = add(simd, abc, def, g);
    let (two, four) = add(simd, abc_twos, def_twos, ones_twos);
    [one, two, four]
}

/// Subtracts a three-bit number from another, by adding its complement and one.
#[inline(always)]
pub fn take_away<S: Bits>(simd: S, number: &mut [S::B], bits: [S::B; 3]) {
    let ones: S::B = all_ones();
    let mut carry = ones;
    for (place, bit) in number.iter_mut().enumerate() {
        let minus = if place < bits.len() { simd.and_not(ones, bits[place]) } else { ones };
        let (sum, next) = add(simd, *bit, minus, carry);
        (*bit, carry) = (sum, next);
    }
}

/// Counts of each row except the last, including row 0: `w` bits, the lowest first, then the overflow bit.
pub struct HammingCounts<S: Bits> {
    bits: Vec<S::B>,
    width: usize,
}

impl<S: Bits> HammingCounts<S> {
    /// State at the beginning of all chunks; the pattern must have at least one class.
    #[inline(always)]
    pub fn new(len: usize, allowed: i64) -> HammingCounts<S> {
        // The smallest width with 2^w > k.
        let width = (i64::BITS - allowed.leading_zeros()) as usize;
        let mut bits = vec![all_ones(); len * (width + 1)];
        let bias = (1 << width) - allowed - 1;
        bits[..=width].copy_from_slice(&constant::<S>(bias, width + 1));
        HammingCounts { bits, width }
    }

    /// Processes a block of columns in which texts begin at the bits of `beginnings`, and adds the ends of hits.
    #[inline(always)]
    pub fn sweep(
        &mut self,
        simd: S,
        pattern: &[usize],
        planes: &[[S::B; BLOCK]],
        beginnings: &[S::B; BLOCK],
        ends: &mut [S::B; BLOCK],
    ) {
        let (ones, size): (S::B, usize) = (all_ones(), self.width + 1);
        let Some((last, others)) = pattern.split_last() else { return };
        for k in 0..BLOCK {
            let row = &self.bits[others.len() * size..];
            // For the last row, only the overflow matters.
            let misses = simd.and_not(ones, planes[*last][k]);
            let carry = row[..self.width].iter().fold(misses, |carry, &bit| simd.and(carry, bit));
            let too_many = simd.or(simd.or(row[self.width], carry), beginnings[k]);
            ends[k] = simd.or(ends[k], simd.and_not(ones, too_many));
            // From the last row up, so that each row reads the previous value of the row above it.
            for (i, &class) in others.iter().enumerate().rev() {
                let (before, row) = self.bits.split_at_mut((i + 1) * size);
                let before = &before[i * size..];
                let mut carry = simd.and_not(ones, planes[class][k]);
                for bit in 0..self.width {
                    row[bit] = simd.xor(before[bit], carry);
                    carry = simd.and(before[bit], carry);
                }
                row[self.width] = simd.or(simd.or(before[self.width], carry), beginnings[k]);
            }
        }
    }
}
