//! Sweeps patterns over the planes of classes in blocks of columns, with [`myers`] and, without gaps, with
//! [`crate::patterns::sliced::hamming`].
//!
//! A newline makes its column the first column of a text. It resets the number `D(m) - k - 1`, whose sign shows where
//! hits end, to its initial value.

use crate::engine::cpu::simd::Bits;
use crate::patterns::search::MatchRule;
use crate::patterns::sliced::hamming::HammingCounts;
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
