//! Cuts on the processor's vectors.

use super::gear::GearPiece;
use super::sliced::{self, SlicedPiece};
use super::{GEAR_WINDOW, Kind, Rule, rolling};
use crate::engine::cpu::simd::InstructionSet;
use crate::terms::alphabet::Alphabet;
use rayon::prelude::*;

/// Letters of a lane's stretch of Rabin's fingerprints, and of the gear's: so many that few are read twice, and so few
/// that a piece, a stretch for each lane, stays in a cache.
const RABIN_STRETCH: usize = 1025;
const GEAR_STRETCH: usize = 2049;
/// A lane with a shorter stretch than this many letters, or windows, takes longer than going letter by letter.
const LEAST_STRETCH: usize = 32;
const LEAST_WINDOWS: usize = 1;

/// The cuts of a text, ascending, as [`super::plain::cuts`] gives them.
pub fn cuts(set: InstructionSet, text: &[u8], rule: &Rule) -> Vec<usize> {
    let stretch = match rule.kind() {
        Kind::Rabin => RABIN_STRETCH,
        Kind::Gear => GEAR_STRETCH,
    };
    let least = LEAST_STRETCH.max(LEAST_WINDOWS * rule.window());
    cuts_in_stretches(set, text, rule, least..stretch)
}

/// The same with stretches of about these lengths: a short one at the end of a text, else a long one. Tests set them to
/// reach all seams.
pub fn cuts_in_stretches(
    set: InstructionSet,
    text: &[u8],
    rule: &Rule,
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

/// A part of a text that one thread does in one go.
struct Piece {
    first: usize,
    end: usize,
    /// Letters of a lane's stretch; `None` where vectors don't pay.
    stretch: Option<usize>,
}

impl Piece {
    fn cuts(&self, set: InstructionSet, text: &[u8], rule: &Rule) -> Vec<usize> {
        let own = self.first..self.end;
        let Some(stretch) = self.stretch else {
            let mut cuts = Vec::new();
            rolling::cuts(text, own, rule, |cut| cuts.push(cut));
            return cuts;
        };
        match (rule.kind(), rule.alphabet()) {
            (Kind::Rabin, Alphabet::Dna) => {
                set.run(SlicedPiece::<{ sliced::DNA_PLANES }> { text, own, stretch, rule })
            }
            (Kind::Rabin, Alphabet::Protein) => {
                set.run(SlicedPiece::<{ sliced::PROTEIN_PLANES }> { text, own, stretch, rule })
            }
            (Kind::Gear, _) => set.run(GearPiece { text, own, stretch, rule }),
        }
    }
}

/// Cuts a text of `len` letters.
fn pieces(set: InstructionSet, len: usize, rule: &Rule, stretches: std::ops::Range<usize>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    // The gear's lanes read no letters in front of the text.
    let mut first = match rule.kind() {
        Kind::Rabin => 0,
        Kind::Gear => (GEAR_WINDOW - 1).min(len),
    };
    while first < len {
        let rest = len - first;
        let (lanes, stretch) = match rule.kind() {
            Kind::Rabin => {
                let lanes = set.lanes(1) * 8;
                let wanted = stretches.end.min(rest.div_ceil(lanes));
                (lanes, sliced::stretch(wanted, rule.window()))
            }
            Kind::Gear => {
                let lanes = set.lanes(4) * super::gear::VECTORS;
                // Here all lanes lie in the text.
                (lanes, super::gear::stretch(stretches.end.min(rest / lanes)))
            }
        };
        let pays = rest >= lanes * stretches.start && stretch > 0;
        let end = if pays { len.min(first + lanes * stretch) } else { len };
        pieces.push(Piece { first, end, stretch: pays.then_some(stretch) });
        first = end;
    }
    pieces
}
