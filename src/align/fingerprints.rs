//! Content-defined cutting: a sequence is cut where a fingerprint of the letters in front says so, so that equal
//! stretches get equal chunks wherever they lie (section 21 of docs/algorithm.md).
//!
//! A *window* is `W` letters of one sequence. A [`Rule`] gives each window a fingerprint of 32 bits; where all bits of
//! the rule's mask are set in it, the window ends at a *cut*. A cut depends on its `W` letters and on nothing else, so
//! of two equal stretches that begin anywhere, all cuts from the `W`-th letter on are at equal places.
//!
//! - [`plain`] is the specification: each window's fingerprint is computed by itself.
//! - [`rolling`] goes on from a window to the next: two or three look-ups a letter.
//! - [`sliced`] does Rabin's fingerprints with a stretch of the text in every bit of a vector, [`gear`] those of the gear
//!   with one in every lane. [`cuts`] takes them where the text is long enough.
//! - `gpu` has a device cut a text that lies there.
//!
//! All give the same cuts, on every instruction set and every device.

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

/// Letters of the longest window.
pub const MOST_WINDOW: usize = 256;
/// Letters of the window of the gear: a letter leaves 32 bits after 32 shifts.
pub const GEAR_WINDOW: usize = 32;
/// The longest chunks that a rule may ask for, in the mean.
pub const MOST_MEAN: usize = 1 << 24;
/// What stands for DNA codes that are no base, as in packed targets (`engine/gpu/layout.rs`): engines hold them so.
const NO_BASE: u8 = 5;

/// How a window becomes a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The letters are the coefficients of a polynomial over GF(2), which is reduced (Rabin 1981).
    Rabin,
    /// The letters' numbers are added, each shifted by the letters behind it (Xia et al. 2014). The window has
    /// [`GEAR_WINDOW`] letters.
    Gear,
}

/// A table for each letter code.
pub type Table = [u32; CODES];

/// Which windows end at a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    kind: Kind,
    alphabet: Alphabet,
    window: usize,
    /// Bits of the mask.
    bits: u32,
    entering: Table,
    leaving: Table,
}

impl Rule {
    /// Windows of `window` letters of an alphabet, and chunks of `mean` letters in the mean, a power of two.
    pub fn new(kind: Kind, alphabet: Alphabet, window: usize, mean: usize) -> Result<Rule> {
        match kind {
            Kind::Rabin if !(1..=MOST_WINDOW).contains(&window) => {
                return Err(Error::Usage(format!(
                    "a fingerprint's window of {window} letters: give 1 to {MOST_WINDOW}"
                )));
            }
            Kind::Gear if window != GEAR_WINDOW => {
                return Err(Error::Usage(format!(
                    "a gear's window of {window} letters: it has {GEAR_WINDOW} and no others"
                )));
            }
            Kind::Rabin | Kind::Gear => {}
        }
        if !mean.is_power_of_two() || !(2..=MOST_MEAN).contains(&mean) {
            return Err(Error::Usage(format!(
                "chunks of {mean} letters in the mean: give a power of two from 2 to {MOST_MEAN}"
            )));
        }
        let value = |code: usize| u32::from(value(alphabet, to_u8(code)));
        let (entering, leaving): (Table, Table) = match kind {
            Kind::Rabin => {
                let gone = polynomial::power(polynomial::LETTER_BITS * to_u32(window));
                let leaving = |code| polynomial::product(value(code), gone);
                (std::array::from_fn(value), std::array::from_fn(leaving))
            }
            Kind::Gear => (std::array::from_fn(|code| plain::GEAR[value(code) as usize]), [0; CODES]),
        };
        let bits = mean.trailing_zeros();
        Ok(Rule { kind, alphabet, window, bits, entering, leaving })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Letters of a window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Letters of a chunk, in the mean over random texts.
    pub fn mean(&self) -> usize {
        1 << self.bits
    }

    /// Bits of the mask.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The bits that are all set in the fingerprint of a window that ends at a cut. Rabin's fingerprints give the lowest,
    /// and the gear's the highest: the lower ones don't depend on all letters of the window.
    pub fn mask(&self) -> u32 {
        match self.kind {
            Kind::Rabin => (1 << self.bits) - 1,
            Kind::Gear => u32::MAX << (u32::BITS - self.bits),
        }
    }

    /// Whether a window with this fingerprint ends at a cut.
    pub fn is_cut(&self, fingerprint: u32) -> bool {
        fingerprint & self.mask() == self.mask()
    }

    /// The letter that a code stands for: DNA codes that are no base are one letter.
    pub fn value(&self, code: u8) -> u8 {
        value(self.alphabet, code)
    }

    /// What each code adds to the fingerprint when it enters a window.
    pub fn entering(&self) -> &Table {
        &self.entering
    }

    /// What each code has added to the fingerprint by the time when it leaves; zeros for the gear, which it leaves at
    /// the upper end.
    pub fn leaving(&self) -> &Table {
        &self.leaving
    }
}

fn value(alphabet: Alphabet, code: u8) -> u8 {
    match alphabet {
        Alphabet::Dna if !is_base(code) => NO_BASE,
        Alphabet::Dna | Alphabet::Protein => code % to_u8(CODES),
    }
}

/// The cuts of a sequence of codes, ascending: letters in front of each, from `W` up to all of them.
pub fn cuts(codes: &[u8], rule: &Rule) -> Vec<usize> {
    cores::cuts(InstructionSet::best(), codes, rule)
}

/// The cuts of each sequence. Windows lie in one sequence. It is the faster way for many short ones.
pub fn cuts_of_all(sequences: &Sequences, rule: &Rule) -> Vec<Vec<usize>> {
    of_sequences(sequences, rule, &cuts(sequences.codes(), rule))
}

/// The cuts of each sequence by those of all codes as one text, ascending.
pub fn of_sequences(sequences: &Sequences, rule: &Rule, cuts: &[usize]) -> Vec<Vec<usize>> {
    let mut rest = cuts;
    let mut start = 0;
    let own = |codes: &[u8]| {
        let end = start + codes.len();
        let (own, behind) = rest.split_at(rest.partition_point(|&cut| cut <= end));
        // A window that ends sooner begins in the sequence before.
        let whole = own.iter().filter(|&&cut| cut >= start + rule.window);
        let own = whole.map(|cut| cut - start).collect();
        (rest, start) = (behind, end);
        own
    };
    sequences.iter().map(own).collect()
}

/// The chunks of a sequence of `len` letters with these cuts: ranges of letters, one behind the other, none of them empty.
/// The first and the last may end without a window, at an end of the sequence.
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
        let refused = |kind, window, mean| Rule::new(kind, Alphabet::Dna, window, mean).is_err();
        assert!(refused(Kind::Rabin, 0, 64) && refused(Kind::Rabin, MOST_WINDOW + 1, 64));
        assert!(refused(Kind::Gear, 31, 64) && refused(Kind::Rabin, 32, 63));
        assert!(refused(Kind::Rabin, 32, 1) && refused(Kind::Gear, 32, 2 * MOST_MEAN));
        let rule = Rule::new(Kind::Rabin, Alphabet::Protein, 48, 1 << 12).unwrap();
        assert_eq!((rule.window(), rule.mean(), rule.mask()), (48, 4096, 0xfff));
        let rule = Rule::new(Kind::Gear, Alphabet::Dna, 32, 1 << 12).unwrap();
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
