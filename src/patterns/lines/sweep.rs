//! Sweeps patterns over the planes of classes in blocks of columns.
//!
//! With gaps, [`myers`] computes the edits. A newline makes its column the first column of a text. It resets the number
//! `D(m) - k - 1`, whose sign shows where hits end, to its initial value.
//!
//! Without gaps, `C(i,j)` counts the mismatches of the first `i` classes with the `i` bytes that end at column `j`:
//!
//! ```text
//! C(0,j) = 0        C(i,j) = C(i-1,j-1) + !matches, and too many if a line begins after column j
//! ```
//!
//! The state stores `2^w - k - 1 + C`: `w` bits of it, and a sticky overflow bit that is set once there are too many
//! mismatches. This takes `2w + 2` operations per cell regardless of the length. A search in bases needs fewer, with
//! the planes of all columns at once (`search/sliced/hamming.rs`).

use crate::engine::cpu::simd::Bits;
use crate::patterns::search::MatchRule;
use crate::patterns::sliced::myers::{self, COLUMNS, Where, constant, step, width};
use crate::patterns::sliced::transpose::{BLOCK, all_ones};
use crate::terms::casts::to_i64;

/// The state of a pattern after a column.
pub enum PatternState<S: Bits> {
    WithGaps(Differences<S>),
    WithoutGaps(HammingCounts<S>),
}

/// Differences between the rows of the column, and the number at its last row.
pub struct Differences<S: Bits> {
    /// `v+` and `v-` of each row.
    rows: Vec<[S::B; 2]>,
    number: Vec<S::B>,
    /// The number in a column in which a line begins.
    start: Vec<S::B>,
}

impl<S: Bits> PatternState<S> {
    /// State at the beginning of a line. With gaps, the pattern must have more than `max_edits` classes; without gaps,
    /// at least one.
    #[inline(always)]
    pub fn new(len: usize, rule: &MatchRule) -> PatternState<S> {
        let allowed = to_i64(rule.edits_of(len));
        if rule.indels {
            let most = to_i64(len) - allowed - 1;
            let start = constant::<S>(most, width(-allowed - 1, most));
            let rows = myers::beginning::<S>(len);
            return PatternState::WithGaps(Differences { rows, number: start.clone(), start });
        }
        PatternState::WithoutGaps(HammingCounts::new(len, allowed))
    }

    /// Processes a block of columns, and adds the ends of hits.
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
            PatternState::WithGaps(state) => state.sweep(simd, pattern, planes, newlines, ends),
            PatternState::WithoutGaps(state) => state.sweep(simd, pattern, planes, newlines, ends),
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
            let matches = pattern.iter().map(|&class| &planes[class].as_chunks().0[place]);
            let (no_plus, minus) = myers::columns(simd, matches, &mut self.rows, Where(newlines));
            for k in 0..COLUMNS {
                step(simd, &mut self.number, simd.and_not(ones, no_plus[k]), minus[k]);
                for (bit, &start) in self.number.iter_mut().zip(&self.start) {
                    *bit = simd.or(simd.and_not(*bit, newlines[k]), simd.and(start, newlines[k]));
                }
                ends[k] = simd.or(ends[k], self.number[self.number.len() - 1]);
            }
        }
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
