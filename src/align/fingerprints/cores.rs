//! Cuts computed with the processor's vectors.

use super::gear::GearPiece;
use super::sliced::{self, SlicedPiece};
use super::{CutRule, GEAR_WINDOW, WindowHash, rolling};
use crate::engine::cpu::simd::InstructionSet;
use crate::terms::alphabet::Alphabet;
use rayon::prelude::*;

/// Residues of a lane's stretch, for Rabin's fingerprints and for the gear hash: long stretches read few residues
/// twice, and short stretches keep a piece, which has one stretch per lane, in the cache.
const RABIN_STRETCH: usize = 1025;
const GEAR_STRETCH: usize = 2049;
/// Minimum stretch of a lane, in residues and in windows. Below it, the scalar loop is faster.
const LEAST_STRETCH: usize = 32;
const LEAST_WINDOWS: usize = 1;

/// The cuts of a text, ascending, as [`super::plain::cuts`] gives them.
pub fn cuts(set: InstructionSet, text: &[u8], rule: &CutRule) -> Vec<usize> {
    let stretch = match rule.kind() {
        WindowHash::Rabin => RABIN_STRETCH,
        WindowHash::Gear => GEAR_STRETCH,
    };
    let least = LEAST_STRETCH.max(LEAST_WINDOWS * rule.window());
    cuts_in_stretches(set, text, rule, least..stretch)
}

/// The same with stretches of about these lengths: the shorter one at the end of a text, the longer one elsewhere.
/// Tests set them to cover all boundaries.
pub fn cuts_in_stretches(
    set: InstructionSet,
    text: &[u8],
    rule: &CutRule,
    stretches: std::ops::Range<usize>,
) -> Vec<usize> {
    let pieces = pieces(set, text.len(), rule, stretches);
    match &pieces[..] {
        [] => Vec::new(),
        [piece] => piece.cuts(set, text, rule),
        pieces => {
            let found: Vec<Vec<usize>> = pieces.par_iter().map(|piece| piece.cuts(set, text, rule)).collect();
            found.concat()
        }
    }
}

/// A part of a text that one thread processes.
struct TextPiece {
    first: usize,
    end: usize,
    /// Residues of a lane's stretch, or `None` if vectors do not pay.
    stretch: Option<usize>,
}

impl TextPiece {
    fn cuts(&self, set: InstructionSet, text: &[u8], rule: &CutRule) -> Vec<usize> {
        let own = self.first..self.end;
        let Some(stretch) = self.stretch else {
            let mut cuts = Vec::new();
            rolling::cuts(text, own, rule, |cut| cuts.push(cut));
            return cuts;
        };
        match (rule.kind(), rule.alphabet()) {
            (WindowHash::Rabin, Alphabet::Dna) => {
                set.run(SlicedPiece::<{ sliced::DNA_PLANES }> { text, own, stretch, rule })
            }
            (WindowHash::Rabin, Alphabet::Protein) => {
                set.run(SlicedPiece::<{ sliced::PROTEIN_PLANES }> { text, own, stretch, rule })
            }
            (WindowHash::Gear, _) => set.run(GearPiece { text, own, stretch, rule }),
        }
    }
}

/// Splits a text of `len` residues into pieces.
fn pieces(
    set: InstructionSet,
    len: usize,
    rule: &CutRule,
    stretches: std::ops::Range<usize>,
) -> Vec<TextPiece> {
    let mut pieces = Vec::new();
    // The gear hash's lanes read no residues before the text.
    let mut first = match rule.kind() {
        WindowHash::Rabin => 0,
        WindowHash::Gear => (GEAR_WINDOW - 1).min(len),
    };
    while first < len {
        let rest = len - first;
        let (lanes, stretch) = match rule.kind() {
            WindowHash::Rabin => {
                let lanes = set.lanes(1) * 8;
                let wanted = stretches.end.min(rest.div_ceil(lanes));
                (lanes, sliced::stretch(wanted, rule.window()))
            }
            WindowHash::Gear => {
                let lanes = set.lanes(4) * super::gear::VECTORS;
                // In this case all lanes are within the text.
                (lanes, super::gear::stretch(stretches.end.min(rest / lanes)))
            }
        };
        let pays = rest >= lanes * stretches.start && stretch > 0;
        let end = if pays { len.min(first + lanes * stretch) } else { len };
        pieces.push(TextPiece { first, end, stretch: pays.then_some(stretch) });
        first = end;
    }
    pieces
}
