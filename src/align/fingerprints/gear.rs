//! Gear fingerprints with a stretch of the text in every lane of several vectors.

use super::{CutRule, GEAR_WINDOW};
use crate::engine::cpu::simd::{Kernel, Simd, Vectors};
use crate::terms::casts::to_i32;
use std::ops::Range;

/// Number of interleaved vectors: each sum in one vector depends on the sum before it.
pub const VECTORS: usize = 4;
/// Number of residues per load.
const LOADED: usize = 4;
/// Number of residues before a stretch that its first window needs.
const BEFORE: usize = GEAR_WINDOW - 1;

/// Residues of a lane's stretch, at most `most`. Together with the residues before it, they fill whole loads.
pub fn stretch(most: usize) -> usize {
    ((most + BEFORE) / LOADED * LOADED).saturating_sub(BEFORE)
}

/// A vector of fingerprints, positions or residues.
type Ints<S> = <S as Vectors<i32>>::V;

/// Finds the cuts after the residues of `own`. Each lane processes `stretch` residues (a result of [`stretch()`]), and
/// all lanes together process `own`. The text has at least 31 residues before `own`.
pub struct GearPiece<'a> {
    pub text: &'a [u8],
    pub own: Range<usize>,
    pub stretch: usize,
    pub rule: &'a CutRule,
}

impl Kernel for GearPiece<'_> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<usize> {
        let GearPiece { text, own, stretch, rule } = self;
        let text = &text[own.start - BEFORE..own.end];
        let lanes = <S as Vectors<i32>>::LANES;
        let table = *rule.entering();
        let mask = simd.splat(rule.mask().cast_signed());
        let four: Ints<S> = simd.splat(to_i32(LOADED));
        let nothing: Ints<S> = simd.splat(0);
        let mut places = [nothing; VECTORS];
        for (vector, places) in places.iter_mut().enumerate() {
            let starts: Vec<i32> = (0..lanes).map(|lane| to_i32((vector * lanes + lane) * stretch)).collect();
            *places = simd.load(&starts);
        }
        let (mut prints, mut letters) = ([nothing; VECTORS], [nothing; VECTORS]);
        let mut cuts = Vec::new();
        for column in (0..BEFORE + stretch).step_by(LOADED) {
            // No closures here: a closure that is not inlined would not be compiled for the instruction set.
            for k in 0..VECTORS {
                letters[k] = simd.letters(text, places[k]);
                places[k] = Vectors::<i32>::add(simd, places[k], four);
            }
            for at in column..column + LOADED {
                let mut found = [0; VECTORS];
                for k in 0..VECTORS {
                    let doubled = Vectors::<i32>::add(simd, prints[k], prints[k]);
                    prints[k] = Vectors::<i32>::add(simd, doubled, simd.entries(&table, letters[k]));
                    letters[k] = simd.next_letters(letters[k]);
                    found[k] = simd.have_all(prints[k], mask);
                }
                if found == [0; VECTORS] || at < BEFORE {
                    continue;
                }
                for (vector, mut found) in found.into_iter().enumerate() {
                    while found != 0 {
                        let lane = vector * lanes + found.trailing_zeros() as usize;
                        cuts.push(own.start + lane * stretch + (at - BEFORE) + 1);
                        found &= found - 1;
                    }
                }
            }
        }
        cuts.sort_unstable();
        cuts
    }
}
