//! Cuts computed with the processor's vectors.

use super::sliced::{self, SlicedPiece};
use super::{CutRule, rolling};
use crate::engine::cpu::simd::InstructionSet;
use rayon::prelude::*;
use std::ops::Range;

/// Bases of a lane's stretch: long stretches read few bases twice, and short stretches keep a piece, which has one
/// stretch per lane, in the cache.
const STRETCH: usize = 1025;
/// Minimum stretch of a lane, in bases and in windows. Below it, the scalar loop is faster.
const LEAST_STRETCH: usize = 32;
const LEAST_WINDOWS: usize = 1;

/// The cuts of a text, ascending, as [`super::plain::cuts`] gives them.
pub fn cuts(set: InstructionSet, text: &[u8], rule: &CutRule) -> Vec<usize> {
    let least = LEAST_STRETCH.max(LEAST_WINDOWS * rule.window());
    cuts_in_stretches(set, text, rule, least..STRETCH)
}

/// The same with stretches of about these lengths: the shorter one at the end of a text, the longer one elsewhere.
/// Tests set them to cover all boundaries.
pub fn cuts_in_stretches(
    set: InstructionSet,
    text: &[u8],
    rule: &CutRule,
    stretches: Range<usize>,
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
    own: Range<usize>,
    /// Bases of a lane's stretch, or `None` if vectors do not pay.
    stretch: Option<usize>,
}

impl TextPiece {
    fn cuts(&self, set: InstructionSet, text: &[u8], rule: &CutRule) -> Vec<usize> {
        let own = self.own.clone();
        match self.stretch {
            Some(stretch) => set.run(SlicedPiece { text, own, stretch, rule }),
            None => {
                let mut cuts = Vec::new();
                rolling::cuts(text, own, rule, |cut| cuts.push(cut));
                cuts
            }
        }
    }
}

/// Splits a text of `len` bases into pieces.
fn pieces(set: InstructionSet, len: usize, rule: &CutRule, stretches: Range<usize>) -> Vec<TextPiece> {
    let lanes = set.lanes(1) * 8;
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < len {
        let rest = len - first;
        let stretch = sliced::stretch(stretches.end.min(rest.div_ceil(lanes)), rule.window());
        let pays = rest >= lanes * stretches.start;
        let end = if pays { len.min(first + lanes * stretch) } else { len };
        pieces.push(TextPiece { own: first..end, stretch: pays.then_some(stretch) });
        first = end;
    }
    pieces
}
