//! Edit distances, computed from differences of neighboring cells.
//!
//! Myers (1999) stores the differences between neighboring cells, which are -1, 0 or 1. Here each difference is two
//! vectors, with one bit per chunk. `v` is the difference of a cell to the cell above it, `h` the difference to the
//! cell before it; `+` marks a difference of 1 and `-` a difference of -1 (Hyyrö 2003):
//!
//! ```text
//! same    = matches | v- | h-                  D(i,j) = D(i-1,j-1), with v of column j-1 and h of row i-1
//! next h+ = v- | !(same | v+)                  next h- = same & v+
//! next v+ = h- | !(same | h+)                  next v- = same & h+
//! ```
//!
//! Stored as `v+`, `v-`, `h-` and `!h+`, this takes 8 two-operand or 5 three-operand operations per cell of all chunks,
//! regardless of the number of edits. A few columns are computed together, so that the differences of a row stay in
//! registers. At the last row, `D(m,j) - max_edits - 1` is stored as a bit-sliced number of a few bits: if it is
//! negative, there is an end.
//!
//! A text may begin in any column, after other texts have ended. At that column `D(i) = i`, so `v+` is set in all rows.

use super::transpose::all_ones;
use crate::engine::cpu::simd::Bits;
use bytemuck::Zeroable;

/// Columns computed together.
pub const COLUMNS: usize = 8;

/// `v+` and `v-` of each row in the first column, if all chunks begin there: D(i,0) = i.
pub fn beginning<S: Bits>(rows: usize) -> Vec<[S::B; 2]> {
    vec![[all_ones(), S::B::zeroed()]; rows]
}

/// Columns in which texts begin.
pub trait TextStarts<S: Bits>: Copy {
    /// Updates `v+` and `v-` of a column in which texts may begin.
    fn begin(self, simd: S, column: usize, v: [S::B; 2]) -> [S::B; 2];
}

/// No text begins in these columns.
#[derive(Clone, Copy)]
pub struct Nowhere;

/// Texts begin at the set bits.
#[derive(Clone, Copy)]
pub struct Where<'a, B>(pub &'a [B; COLUMNS]);

impl<S: Bits> TextStarts<S> for Nowhere {
    #[inline(always)]
    fn begin(self, _: S, _: usize, v: [S::B; 2]) -> [S::B; 2] {
        v
    }
}

impl<S: Bits> TextStarts<S> for Where<'_, S::B> {
    #[inline(always)]
    fn begin(self, simd: S, column: usize, [plus, minus]: [S::B; 2]) -> [S::B; 2] {
        [simd.or(plus, self.0[column]), simd.and_not(minus, self.0[column])]
    }
}

/// Computes all rows of some columns from the `matches` of each row, and returns `!h+` and `h-` of the last row.
#[inline(always)]
pub fn columns<'a, S: Bits>(
    simd: S,
    matches: impl Iterator<Item = &'a [S::B; COLUMNS]>,
    rows: &mut [[S::B; 2]],
    beginnings: impl TextStarts<S>,
) -> ([S::B; COLUMNS], [S::B; COLUMNS])
where
    S::B: 'a,
{
    // Row 0: D(0,j) = 0.
    let (mut no_plus, mut minus) = ([all_ones(); COLUMNS], [S::B::zeroed(); COLUMNS]);
    for (matches, row) in matches.zip(rows) {
        let [mut above, mut below] = *row;
        for k in 0..COLUMNS {
            let same = simd.or(simd.or(matches[k], below), minus[k]);
            let next_no_plus = simd.and_not(simd.or(same, above), below);
            let next_minus = simd.and(same, above);
            above = simd.or(minus[k], simd.and_not(no_plus[k], same));
            below = simd.and_not(same, no_plus[k]);
            [above, below] = beginnings.begin(simd, k, [above, below]);
            (no_plus[k], minus[k]) = (next_no_plus, next_minus);
        }
        *row = [above, below];
    }
    (no_plus, minus)
}

/// Number of bits of a signed number between `least` and `most`.
pub fn width(least: i64, most: i64) -> usize {
    (1..64).find(|bits| -1 << (bits - 1) <= least && most < 1 << (bits - 1)).unwrap_or(64)
}

/// The same number in each chunk.
#[inline(always)]
pub fn constant<S: Bits>(value: i64, width: usize) -> Vec<S::B> {
    let (zero, ones): (S::B, S::B) = (S::B::zeroed(), all_ones());
    (0..width).map(|bit| if value >> bit & 1 == 1 { ones } else { zero }).collect()
}

/// Adds 1 at the bits of `plus` and subtracts 1 at the bits of `minus`; no bit is set in both.
#[inline(always)]
pub fn step<S: Bits>(simd: S, number: &mut [S::B], plus: S::B, minus: S::B) {
    let [lowest, rest @ ..] = number else { return };
    let changes = simd.or(plus, minus);
    let mut carry = simd.and(*lowest, changes);
    *lowest = simd.xor(*lowest, changes);
    for bit in rest {
        let sum = simd.xor(simd.xor(*bit, minus), carry);
        carry = simd.majority(*bit, minus, carry);
        *bit = sum;
    }
}
