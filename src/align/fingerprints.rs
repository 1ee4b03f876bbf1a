//! Content-defined chunking: the fingerprint of the residues before a position decides whether to cut there. So equal
//! stretches get equal chunks at any position (section 21 of docs/algorithm.md).
//!
//! A *window* is `W` consecutive residues of one sequence. A [`CutRule`] gives each window a fingerprint of 32 bits. If
//! all bits of the rule's mask are set in it, the window ends at a *cut*. A cut depends only on its `W` residues, so
//! two equal stretches have the same cuts from their `W`-th residue on.
//!
//! - [`plain`] is the specification: it computes the fingerprint of each window independently.
//! - [`rolling`] updates the fingerprint from one window to the next: two or three table look-ups per residue.
//! - [`sliced`] computes Rabin's fingerprints with a stretch of the text in every bit of a vector, and [`gear`]
//!   computes gear fingerprints with a stretch in every lane. [`cuts`] uses them if the text is long enough.
//! - `gpu` cuts a text in device memory.
//!
//! All of them return the same cuts, on every instruction set and every device.

pub mod cores;
pub mod gear;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod plain;
pub mod polynomial;
pub mod rolling;
pub mod sliced;

use crate::engine::cpu::simd::InstructionSet;
use crate::terms::alphabet::{Alphabet, CODES, is_base};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u8, to_u32};
use crate::terms::error::{Error, Result};
use std::ops::Range;

/// Maximum window length, in residues.
pub const MOST_WINDOW: usize = 256;
/// Window length of the gear hash, in residues: after 32 shifts, a residue has left the 32 bits.
pub const GEAR_WINDOW: usize = 32;
/// Maximum average chunk length of a rule.
pub const MOST_MEAN: usize = 1 << 24;
/// Value of DNA codes that are not a base, the same as in packed targets (`engine/gpu/layout.rs`).
const NO_BASE: u8 = 5;

/// Hash function of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowHash {
    /// Rabin (1981): the residues are the coefficients of a polynomial over GF(2), which is reduced.
    Rabin,
    /// Gear (Xia et al. 2014): sums the residues' table values, each shifted by the number of residues after it. The
    /// window has [`GEAR_WINDOW`] residues.
    Gear,
}

/// A table with one entry per residue code.
pub type ResidueTable = [u32; CODES];

/// Rule that decides which windows end at a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutRule {
    kind: WindowHash,
    alphabet: Alphabet,
    window: usize,
    /// Bits of the mask.
    bits: u32,
    entering: ResidueTable,
    leaving: ResidueTable,
}

impl CutRule {
    /// Creates a rule with windows of `window` residues and an average chunk length of `mean` residues, a power of two.
    pub fn new(kind: WindowHash, alphabet: Alphabet, window: usize, mean: usize) -> Result<CutRule> {
        match kind {
            WindowHash::Rabin if !(1..=MOST_WINDOW).contains(&window) => {
                return Err(Error::Usage(format!(
                    "a fingerprint's window of {window} letters: give 1 to {MOST_WINDOW}"
                )));
            }
            WindowHash::Gear if window != GEAR_WINDOW => {
                return Err(Error::Usage(format!(
                    "a gear's window of {window} letters: it has {GEAR_WINDOW} and no others"
                )));
            }
            WindowHash::Rabin | WindowHash::Gear => {}
        }
        if !mean.is_power_of_two() || !(2..=MOST_MEAN).contains(&mean) {
            return Err(Error::Usage(format!(
                "chunks of {mean} letters in the mean: give a power of two from 2 to {MOST_MEAN}"
            )));
        }
        let value = |code: usize| u32::from(value(alphabet, to_u8(code)));
        let (entering, leaving): (ResidueTable, ResidueTable) = match kind {
            WindowHash::Rabin => {
                let gone = polynomial::power(polynomial::LETTER_BITS * to_u32(window));
                let leaving = |code| polynomial::product(value(code), gone);
                (std::array::from_fn(value), std::array::from_fn(leaving))
            }
            WindowHash::Gear => (std::array::from_fn(|code| plain::GEAR[value(code) as usize]), [0; CODES]),
        };
        let bits = mean.trailing_zeros();
        Ok(CutRule { kind, alphabet, window, bits, entering, leaving })
    }

    pub fn kind(&self) -> WindowHash {
        self.kind
    }

    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Window length, in residues.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Average chunk length in random texts, in residues.
    pub fn mean(&self) -> usize {
        1 << self.bits
    }

    /// Bits of the mask.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Mask of the bits that are all set in the fingerprint of a window that ends at a cut. Rabin's fingerprints use
    /// the lowest bits, and the gear hash the highest: its lower bits do not depend on all residues of the window.
    pub fn mask(&self) -> u32 {
        match self.kind {
            WindowHash::Rabin => (1 << self.bits) - 1,
            WindowHash::Gear => u32::MAX << (u32::BITS - self.bits),
        }
    }

    /// Whether a window with this fingerprint ends at a cut.
    pub fn is_cut(&self, fingerprint: u32) -> bool {
        fingerprint & self.mask() == self.mask()
    }

    /// The value that represents a code. All DNA codes that are not a base have the same value.
    pub fn value(&self, code: u8) -> u8 {
        value(self.alphabet, code)
    }

    /// Contribution of each code to the fingerprint when it enters a window.
    pub fn entering(&self) -> &ResidueTable {
        &self.entering
    }

    /// Contribution of each code to the fingerprint when it leaves the window. Zero for the gear hash, which shifts a
    /// residue out at the upper end.
    pub fn leaving(&self) -> &ResidueTable {
        &self.leaving
    }
}

fn value(alphabet: Alphabet, code: u8) -> u8 {
    match alphabet {
        Alphabet::Dna if !is_base(code) => NO_BASE,
        Alphabet::Dna | Alphabet::Protein => code % to_u8(CODES),
    }
}

/// The cuts of a sequence of codes, ascending. A cut is the number of residues before it, from `W` up to the length.
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

/// The chunks of a sequence of `len` residues with these cuts: consecutive ranges, none of them empty. The first chunk
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
        let refused = |kind, window, mean| CutRule::new(kind, Alphabet::Dna, window, mean).is_err();
        assert!(refused(WindowHash::Rabin, 0, 64) && refused(WindowHash::Rabin, MOST_WINDOW + 1, 64));
        assert!(refused(WindowHash::Gear, 31, 64) && refused(WindowHash::Rabin, 32, 63));
        assert!(refused(WindowHash::Rabin, 32, 1) && refused(WindowHash::Gear, 32, 2 * MOST_MEAN));
        let rule = CutRule::new(WindowHash::Rabin, Alphabet::Protein, 48, 1 << 12).unwrap();
        assert_eq!((rule.window(), rule.mean(), rule.mask()), (48, 4096, 0xfff));
        let rule = CutRule::new(WindowHash::Gear, Alphabet::Dna, 32, 1 << 12).unwrap();
        assert_eq!((rule.mean(), rule.mask()), (4096, 0xfff0_0000));
    }

    #[test]
    fn chunks_lie_between_cuts() {
        let ranges = |len, cuts: &[usize]| chunks(len, cuts).collect::<Vec<_>>();
        assert!(ranges(0, &[]).is_empty());
        assert!(ranges(9, &[]).into_iter().eq(std::iter::once(0..9)));
        assert_eq!(ranges(9, &[4, 5, 9]), [0..4, 4..5, 5..9]);
    }
}
