//! Content-defined chunking of DNA: Rabin's fingerprint of the bases before a position decides whether to cut there. So
//! equal stretches get equal chunks at any position (section 21 of docs/algorithm.md).
//!
//! A *window* is `W` consecutive bases of one sequence. A [`CutRule`] gives each window a fingerprint of 32 bits: the
//! bases are the coefficients of a polynomial over GF(2), which is reduced (Rabin 1981). If all bits of the rule's mask
//! are set in it, the window ends at a *cut*. A cut depends only on its `W` bases, so two equal stretches have the same
//! cuts from their `W`-th base on.
//!
//! - [`plain`] is the specification: it computes the fingerprint of each window independently.
//! - [`rolling`] updates the fingerprint from one window to the next: three table look-ups per base.
//! - [`sliced`] computes fingerprints with a stretch of the text in every bit of a vector. [`cuts`] uses it if the text
//!   is long enough.
//!
//! All of them return the same cuts, on every instruction set.

pub mod cores;
pub mod plain;
pub mod polynomial;
pub mod rolling;
pub mod sliced;

use crate::engine::cpu::simd::InstructionSet;
use crate::terms::alphabet::{CODES, is_base};
use crate::terms::batch::Sequences;
use crate::terms::casts::const_u32;
use std::ops::Range;

/// Maximum window length, in bases.
pub const MOST_WINDOW: usize = 256;
/// Maximum average chunk length of a rule, in bases.
pub const MOST_MEAN: usize = 1 << 24;
/// Value of codes that are not a base.
const NO_BASE: u32 = 5;

/// A table with one entry per residue code.
pub type ResidueTable = [u32; CODES];

/// The value that represents a code in fingerprints. All codes that are not a base have the same value.
pub const VALUES: ResidueTable = {
    let mut values = [NO_BASE; CODES];
    let mut code = 0;
    while is_base(code) {
        values[code as usize] = code as u32;
        code += 1;
    }
    values
};

/// Rule that decides which windows end at a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutRule {
    window: usize,
    /// Bits of the mask.
    bits: u32,
    leaving: ResidueTable,
}

impl CutRule {
    /// Creates a rule with windows of `window` bases and an average chunk length of `mean` bases, a power of two. Panics
    /// if the numbers are out of range.
    pub const fn new(window: usize, mean: usize) -> CutRule {
        assert!(1 <= window && window <= MOST_WINDOW, "the length of a window");
        assert!(mean.is_power_of_two() && 2 <= mean && mean <= MOST_MEAN, "the average length of a chunk");
        let gone = polynomial::power(polynomial::LETTER_BITS * const_u32(window));
        let mut leaving = VALUES;
        let mut code = 0;
        while code < CODES {
            leaving[code] = polynomial::product(leaving[code], gone);
            code += 1;
        }
        CutRule { window, bits: mean.trailing_zeros(), leaving }
    }

    /// Window length, in bases.
    pub const fn window(&self) -> usize {
        self.window
    }

    /// Bits of the mask.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Mask of the bits that are all set in the fingerprint of a window that ends at a cut.
    pub fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// Contribution of each code to the fingerprint when it leaves the window.
    pub fn leaving(&self) -> &ResidueTable {
        &self.leaving
    }
}

/// The cuts of a sequence of codes, ascending. A cut is the number of bases before it, from `W` up to the length.
pub fn cuts(codes: &[u8], rule: &CutRule) -> Vec<usize> {
    cores::cuts(InstructionSet::best(), codes, rule)
}

/// The cuts of each sequence. No window crosses the end of a sequence. This is the faster way for many short sequences.
pub fn cuts_of_all(sequences: &Sequences, rule: &CutRule) -> Vec<Vec<usize>> {
    of_sequences(sequences, rule, &cuts(sequences.codes(), rule))
}

/// Splits the cuts of the concatenated sequences, ascending, into the cuts of each sequence.
pub fn of_sequences(sequences: &Sequences, rule: &CutRule, cuts: &[usize]) -> Vec<Vec<usize>> {
    let mut rest = cuts;
    let mut start = 0;
    let own = |codes: &[u8]| {
        let end = start + codes.len();
        let (own, behind) = rest.split_at(rest.partition_point(|&cut| cut <= end));
        // A window that ends earlier begins in the previous sequence.
        let whole = own.iter().filter(|&&cut| cut >= start + rule.window);
        let own = whole.map(|cut| cut - start).collect();
        (rest, start) = (behind, end);
        own
    };
    sequences.iter().map(own).collect()
}

/// The chunks of a sequence of `len` bases with these cuts: consecutive ranges, none of them empty. The first chunk
/// starts, and the last one ends, at an end of the sequence, which need not be a cut.
pub fn chunks(len: usize, cuts: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let inner = cuts.iter().copied().filter(move |&cut| 0 < cut && cut < len);
    let ends = inner.chain((len > 0).then_some(len));
    ends.scan(0, |start, end| Some(std::mem::replace(start, end)..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_checked() {
        for (window, mean) in [(0, 64), (MOST_WINDOW + 1, 64), (32, 63), (32, 1), (32, 2 * MOST_MEAN)] {
            assert!(std::panic::catch_unwind(|| CutRule::new(window, mean)).is_err(), "{window}, {mean}");
        }
        let rule = CutRule::new(48, 1 << 12);
        assert_eq!((rule.window(), rule.mask()), (48, 4095));
    }

    #[test]
    fn chunks_lie_between_cuts() {
        let ranges = |len, cuts: &[usize]| chunks(len, cuts).collect::<Vec<_>>();
        assert!(ranges(0, &[]).is_empty());
        assert!(ranges(9, &[]).into_iter().eq(std::iter::once(0..9)));
        assert_eq!(ranges(9, &[4, 5, 9]), [0..4, 4..5, 5..9]);
    }
}
