//! Patterns swept over the planes of classes, a block of columns after the other.
//!
//! With gaps it is the recurrence of [`crate::search::sliced`], in its letters: `v` is the difference of a cell to
//! the one above it, `h` to the one before it, and `+` and `-` say where it is 1 and -1.
//!
//! ```text
//! same    = matches | v- | h-
//! next h+ = v- | !(same | v+)                  next h- = same & v+
//! next v+ = h- | !(same | h+) | newline        next v- = same & h+ & !newline
//! ```
//!
//! A newline makes its column the first one of a text, where `D(i) = i`: `v+` everywhere, and the number
//! `D(m) - k - 1`, whose sign says where hits end, is that of a beginning.
//!
//! Without gaps, `C(i,j)` counts the bytes outside their classes of the `i` that end at column `j`:
//!
//! ```text
//! C(0,j) = 0        C(i,j) = C(i-1,j-1) + !matches, and too many if column j is a newline
//! ```
//!
//! `2^w - k - 1 + C` is kept, `w` bits of it and one more that stays once there are too many, which makes
//! `2w + 2` operations a cell whatever the length.

use crate::engine::cpu::simd::Bits;
use crate::search::Rule;
use crate::search::sliced::sweep::{constant, step, width};
use crate::search::sliced::tile::{BLOCK, all_ones};
use bytemuck::Zeroable;

/// Columns that are done in one go.
const COLUMNS: usize = 8;

/// A pattern at the end of a column.
pub enum State<S: Bits> {
    WithGaps(Differences<S>),
    WithoutGaps(Counts<S>),
}

/// Differences down the column, and the number at its last row.
pub struct Differences<S: Bits> {
    /// `v+` and `v-` of each row.
    rows: Vec<[S::B; 2]>,
    number: Vec<S::B>,
    /// The number of a column in which a line begins.
    start: Vec<S::B>,
}

/// Counts of each row but the last, row 0 included: `w` bits, the lowest first, and the one of too many.
pub struct Counts<S: Bits> {
    bits: Vec<S::B>,
    width: usize,
}

impl<S: Bits> State<S> {
    /// Where a line begins; a pattern of more than `max_edits` classes, or without gaps of one at least.
    #[inline(always)]
    pub fn new(len: usize, rule: &Rule) -> State<S> {
        let allowed = rule.edits_of(len) as i64;
        if rule.indels {
            let most = len as i64 - allowed - 1;
            let start = constant::<S>(most, width(-allowed - 1, most));
            let rows = vec![[all_ones(), S::B::zeroed()]; len];
            return State::WithGaps(Differences { rows, number: start.clone(), start });
        }
        // The smallest width with 2^w > k.
        let width = (i64::BITS - allowed.leading_zeros()) as usize;
        let (zero, ones): (S::B, S::B) = (S::B::zeroed(), all_ones());
        let mut bits = vec![ones; len * (width + 1)];
        let bias = (1 << width) - allowed - 1;
        for (bit, out) in bits[..=width].iter_mut().enumerate() {
            *out = if bias >> bit & 1 == 1 { ones } else { zero };
        }
        State::WithoutGaps(Counts { bits, width })
    }

    /// Does a block of columns; adds where hits end.
    #[inline(always)]
    pub fn sweep(
        &mut self,
        simd: S,
        pattern: &[usize],
        planes: &[[S::B; BLOCK]],
        newlines: &[S::B; BLOCK],
        ends: &mut [S::B; BLOCK],
    ) {
        match self {
            State::WithGaps(state) => state.sweep(simd, pattern, planes, newlines, ends),
            State::WithoutGaps(state) => state.sweep(simd, pattern, planes, newlines, ends),
        }
    }
}

impl<S: Bits> Differences<S> {
    #[inline(always)]
    fn sweep(
        &mut self,
        simd: S,
        pattern: &[usize],
        planes: &[[S::B; BLOCK]],
        newlines: &[S::B; BLOCK],
        ends: &mut [S::B; BLOCK],
    ) {
        let ones: S::B = all_ones();
        let (newlines, _) = newlines.as_chunks::<COLUMNS>();
        let (ends, _) = ends.as_chunks_mut::<COLUMNS>();
        for (place, (newlines, ends)) in newlines.iter().zip(ends).enumerate() {
            let (no_plus, minus) = self.columns(simd, pattern, planes, newlines, place);
            for k in 0..COLUMNS {
                step(simd, &mut self.number, simd.and_not(ones, no_plus[k]), minus[k]);
                for (bit, &start) in self.number.iter_mut().zip(&self.start) {
                    *bit = simd.or(simd.and_not(*bit, newlines[k]), simd.and(start, newlines[k]));
                }
                ends[k] = simd.or(ends[k], self.number[self.number.len() - 1]);
            }
        }
    }

    /// Does all rows of the columns at `place`; gives `!h+` and `h-` of the last row.
    #[inline(always)]
    fn columns(
        &mut self,
        simd: S,
        pattern: &[usize],
        planes: &[[S::B; BLOCK]],
        newlines: &[S::B; COLUMNS],
        place: usize,
    ) -> ([S::B; COLUMNS], [S::B; COLUMNS]) {
        // Row 0: D(0,j) = 0.
        let (mut no_plus, mut minus) = ([all_ones(); COLUMNS], [S::B::zeroed(); COLUMNS]);
        for (&class, [v_plus, v_minus]) in pattern.iter().zip(&mut self.rows) {
            let matches = &planes[class].as_chunks::<COLUMNS>().0[place];
            let (mut above, mut below) = (*v_plus, *v_minus);
            for k in 0..COLUMNS {
                let same = simd.or(simd.or(matches[k], below), minus[k]);
                let next_no_plus = simd.and_not(simd.or(same, above), below);
                let next_minus = simd.and(same, above);
                above = simd.or(simd.or(minus[k], simd.and_not(no_plus[k], same)), newlines[k]);
                below = simd.and_not(simd.and_not(same, no_plus[k]), newlines[k]);
                (no_plus[k], minus[k]) = (next_no_plus, next_minus);
            }
            (*v_plus, *v_minus) = (above, below);
        }
        (no_plus, minus)
    }
}

impl<S: Bits> Counts<S> {
    #[inline(always)]
    fn sweep(
        &mut self,
        simd: S,
        pattern: &[usize],
        planes: &[[S::B; BLOCK]],
        newlines: &[S::B; BLOCK],
        ends: &mut [S::B; BLOCK],
    ) {
        let (ones, size): (S::B, usize) = (all_ones(), self.width + 1);
        let Some((last, others)) = pattern.split_last() else { return };
        for k in 0..BLOCK {
            let row = &self.bits[others.len() * size..];
            // Of the last row only whether there are too many.
            let misses = simd.and_not(ones, planes[*last][k]);
            let carry = row[..self.width].iter().fold(misses, |carry, &bit| simd.and(carry, bit));
            let too_many = simd.or(simd.or(row[self.width], carry), newlines[k]);
            ends[k] = simd.or(ends[k], simd.and_not(ones, too_many));
            // From the last row up, so that each finds the one before it as it was.
            for (i, &class) in others.iter().enumerate().rev() {
                let (before, row) = self.bits.split_at_mut((i + 1) * size);
                let before = &before[i * size..];
                let mut carry = simd.and_not(ones, planes[class][k]);
                for bit in 0..self.width {
                    row[bit] = simd.xor(before[bit], carry);
                    carry = simd.and(before[bit], carry);
                }
                row[self.width] = simd.or(simd.or(before[self.width], carry), newlines[k]);
            }
        }
    }
}
