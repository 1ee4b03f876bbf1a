//! Edit distances, as differences of neighbouring cells.
//!
//! Myers (1999) keeps the differences between neighbouring cells, which are -1, 0 or 1; here each of them is two vectors,
//! with a bit for each chunk. In letters of the recurrence, with `v` the difference of a cell to the one above it, `h` to
//! the one before it, and `+` and `-` for where it is 1 and -1 (Hyyrö 2003):
//!
//! ```text
//! same    = matches | v- | h-                  D(i,j) = D(i-1,j-1), with v of column j-1 and h of row i-1
//! next h+ = v- | !(same | v+)                  next h- = same & v+
//! next v+ = h- | !(same | h+)                  next v- = same & h+
//! ```
//!
//! Kept as `v+`, `v-`, `h-` and `!h+`, these are 8 operations of two operands, or 5 of three, for a cell of all chunks,
//! whatever the number of edits. A few columns are done in one go, so that the differences of a row stay in registers. At
//! the last row, `D(m,j) - max_edits - 1` is kept as a number of a few bits, again a vector for each: where it is negative
//! there is an end.
//!
//! A text may begin in any column, and others end before it: there `D(i) = i`, so that `v+` is everywhere.

use super::transpose::all_ones;
use crate::engine::cpu::simd::Bits;
use bytemuck::Zeroable;

/// Columns that are done in one go.
pub const COLUMNS: usize = 8;

/// `v+` and `v-` of each row, in the column in which all chunks begin: D(i,0) = i.
pub fn beginning<S: Bits>(rows: usize) -> Vec<[S::B; 2]> {
    vec![[all_ones(), S::B::zeroed()]; rows]
}

/// Where texts begin in some columns.
pub trait Beginnings<S: Bits>: Copy {
    /// What becomes of `v+` and `v-` of a column.
    fn begin(self, simd: S, column: usize, v: [S::B; 2]) -> [S::B; 2];
}

/// No text begins there.
#[derive(Clone, Copy)]
pub struct Nowhere;

/// Texts begin where bits are set.
#[derive(Clone, Copy)]
pub struct Where<'a, B>(pub &'a [B; COLUMNS]);

impl<S: Bits> Beginnings<S> for Nowhere {
    #[inline(always)]
    fn begin(self, _: S, _: usize, v: [S::B; 2]) -> [S::B; 2] {
        v
    }
}

impl<S: Bits> Beginnings<S> for Where<'_, S::B> {
    #[inline(always)]
    fn begin(self, simd: S, column: usize, [plus, minus]: [S::B; 2]) -> [S::B; 2] {
        [simd.or(plus, self.0[column]), simd.and_not(minus, self.0[column])]
    }
}

/// Does all rows of some columns, with `matches` of each; gives `!h+` and `h-` of the last row.
#[inline(always)]
pub fn columns<'a, S: Bits>(
    simd: S,
    matches: impl Iterator<Item = &'a [S::B; COLUMNS]>,
    rows: &mut [[S::B; 2]],
    beginnings: impl Beginnings<S>,
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

/// Bits of a number that is at least `least` and at most `most`.
pub fn width(least: i64, most: i64) -> usize {
    (1..64).find(|bits| -1 << (bits - 1) <= least && most < 1 << (bits - 1)).unwrap_or(64)
}

/// The same number in each chunk.
#[inline(always)]
pub fn constant<S: Bits>(value: i64, width: usize) -> Vec<S::B> {
    let (zero, ones): (S::B, S::B) = (S::B::zeroed(), all_ones());
    (0..width).map(|bit| if value >> bit & 1 == 1 { ones } else { zero }).collect()
}

/// Adds 1 where `plus` is and takes 1 where `minus` is; never both.
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
