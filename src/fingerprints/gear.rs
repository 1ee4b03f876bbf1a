//! The gear's fingerprints with a stretch of the text in every lane of some vectors.

use super::{GEAR_WINDOW, Rule};
use crate::engine::cpu::simd::{Kernel, Simd, Vectors};
use std::array::from_fn;
use std::ops::Range;

/// Vectors that go side by side: a sum of one waits for the one before.
pub const VECTORS: usize = 4;
/// Letters that are loaded at a time.
const LOADED: usize = 4;
/// Letters in front of a stretch.
const BEFORE: usize = GEAR_WINDOW - 1;

/// Letters of a lane's stretch, `most` at most: with those in front they are loaded whole.
pub fn stretch(most: usize) -> usize {
    ((most + BEFORE) / LOADED * LOADED).saturating_sub(BEFORE)
}

/// A vector of fingerprints, of places or of letters.
type Ints<S> = <S as Vectors<i32>>::V;

/// The cuts behind the letters of `own`, of which each lane takes `stretch`, a result of [`stretch`]: all of them together.
/// There are 31 letters in front of `own`.
pub struct GearPiece<'a> {
    pub text: &'a [u8],
    pub own: Range<usize>,
    pub stretch: usize,
    pub rule: &'a Rule,
}

impl Kernel for GearPiece<'_> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<usize> {
        let GearPiece { text, own, stretch, rule } = self;
        let text = &text[own.start - BEFORE..own.end];
        let lanes = <S as Vectors<i32>>::LANES;
        let table = *rule.entering();
        let mask = simd.splat(rule.mask() as i32);
        let four: Ints<S> = simd.splat(LOADED as i32);
        let add = |a: Ints<S>, b: Ints<S>| Vectors::<i32>::add(simd, a, b);
        let first = |vector: usize| {
            let starts: Vec<i32> =
                (0..lanes).map(|lane| ((vector * lanes + lane) * stretch) as i32).collect();
            simd.load(&starts)
        };
        let mut places: [Ints<S>; VECTORS] = from_fn(first);
        let mut prints: [Ints<S>; VECTORS] = [simd.splat(0); VECTORS];
        let mut cuts = Vec::new();
        for column in (0..BEFORE + stretch).step_by(LOADED) {
            let mut letters: [Ints<S>; VECTORS] = from_fn(|k| simd.letters(text, places[k]));
            places = from_fn(|k| add(places[k], four));
            for at in column..column + LOADED {
                prints = from_fn(|k| add(add(prints[k], prints[k]), simd.entries(&table, letters[k])));
                letters = from_fn(|k| simd.next_letters(letters[k]));
                let found: [u32; VECTORS] = from_fn(|k| simd.have_all(prints[k], mask));
                if found.iter().fold(0, |all, found| all | found) == 0 || at < BEFORE {
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
