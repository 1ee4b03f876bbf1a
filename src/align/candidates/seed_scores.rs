//! Score from which an alignment is guaranteed to contain a seed of the query without more edits than allowed. See
//! docs/algorithm.md, section 15, for the theorem and its proof.
//!
//! A query is cut into consecutive seeds of `seed` bases. The remainder at its end belongs to no seed.

use crate::terms::bounds::twice_to_spoil;
use crate::terms::casts::{to_i32, to_i64};
use crate::terms::scoring::Scoring;

/// Lengths of the seeds that are searched with edits, in bases.
pub const SCANNED_SEEDS: std::ops::RangeInclusive<usize> = 10..=64;
/// Maximum number of edits of these seeds.
pub const MOST_EDITS: usize = 3;

/// Guarantee about the alignments of a query that is cut into seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedScores {
    len: i64,
    seed: i64,
    match_: i64,
    /// Twice the minimum loss at each seed that the alignment covers and that has more edits.
    spoil: i64,
    /// Maximum score of an alignment, by the number of seeds that it contains.
    most: [i32; KEPT],
}

/// Number of seed counts whose maximum score is kept.
const KEPT: usize = 8;

impl SeedScores {
    /// Guarantee for a query of `len` bases and seeds of `seed` bases that are found with at most `edits` edits. `None`
    /// if the proof does not apply to the scoring, or if no alignment is guaranteed to contain a seed.
    pub fn new(len: usize, seed: usize, edits: usize, scoring: &Scoring) -> Option<SeedScores> {
        let spoil = twice_to_spoil(seed, edits, scoring).filter(|_| scoring.fits(len))?;
        let a = i64::from(scoring.max_potential());
        let (len, seed) = (i64::try_from(len).ok()?, i64::try_from(seed).ok()?);
        let mut seeds = SeedScores { len, seed, match_: a, spoil, most: [0; KEPT] };
        seeds.most = std::array::from_fn(|found| seeds.most_with(to_i64(found)));
        (i64::from(seeds.least_score()) <= a * len).then_some(seeds)
    }

    /// Minimum score from which every alignment is guaranteed to contain a complete seed with no more edits.
    pub fn least_score(&self) -> i32 {
        self.most_score(0) + 1
    }

    /// Maximum score of an alignment that contains at most `found` seeds, from the table.
    pub fn most_score(&self, found: usize) -> i32 {
        self.most.get(found).copied().unwrap_or(to_i32(self.match_ * self.len))
    }

    /// Maximum score of an alignment that contains at most `found` seeds, computed.
    fn most_with(&self, found: i64) -> i32 {
        // Among lengths with the same number of seeds inside, the longest scores best, and the bound is linear in this
        // number on both sides of `found`. So it suffices to check the extreme lengths, and the lengths that miss part
        // of the last seeds.
        let longest_with = |inside: i64| self.seed * (inside + 2) - 2;
        let last = self.inside(self.len - 1);
        let ends = [self.len, self.len - 1, longest_with(last - 1), longest_with(found)];
        to_i32(ends.map(|l| self.spoilt(l.clamp(0, self.len), found)).into_iter().max().unwrap_or(0))
    }

    /// Maximum score of an alignment of `l` bases if all but `found` of the seeds inside are spoilt.
    fn spoilt(&self, l: i64, found: i64) -> i64 {
        self.match_ * l - ((self.inside(l) - found).max(0) * self.spoil + 1) / 2
    }

    /// Minimum number of complete seeds inside any `l` consecutive bases.
    fn inside(&self, l: i64) -> i64 {
        // The worst start is directly after the first base of a seed, unless there is only one start.
        if l == self.len { l / self.seed } else { ((l + 1) / self.seed - 1).max(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: all stretches of the query.
    fn by_definition(len: usize, seed: usize, match_: i64, spoil_twice: i64, found: usize) -> i64 {
        let inside = |place: usize, l: usize| {
            (0..len / seed).filter(|k| k * seed >= place && (k + 1) * seed <= place + l).count()
        };
        let fewest = |l: usize| (0..=len - l).map(|place| inside(place, l)).min().unwrap();
        (0..=len)
            .map(|l| match_ * l as i64 - (fewest(l).saturating_sub(found) as i64 * spoil_twice + 1) / 2)
            .max()
            .unwrap()
    }

    #[test]
    fn scores_are_those_of_the_definition() {
        let schemes = [
            ((1, 4, 6, 1), 10),
            ((2, 4, 4, 2), 12),
            ((2, 3, 5, 2), 10),
            ((1, 1, 0, 2), 4),
            ((5, 4, 9, 1), 18),
            ((1, 19, 40, 1), 40),
        ];
        for ((a, b, o, e), spoil_twice) in schemes {
            let scoring = Scoring::dna(a, b, o, e);
            for len in [1, 2, 5, 20, 31, 64, 100, 150] {
                for seed in [5, 8, 11, 13, 20, 22, 31, 64, 151] {
                    let most: Vec<i64> = (0..=len / seed + 1)
                        .map(|found| by_definition(len, seed, a.into(), spoil_twice, found))
                        .collect();
                    let place = format!("{len} letters, seeds of {seed}, {scoring}");
                    let Some(seeds) = SeedScores::new(len, seed, 0, &scoring) else {
                        let proven = 2 * (a + e) * (seed as i32 - 1) >= o;
                        assert!(!proven || most[0] == i64::from(a) * len as i64, "{place}");
                        continue;
                    };
                    let found: Vec<i64> = (0..most.len()).map(|n| seeds.most_with(n as i64).into()).collect();
                    assert_eq!(found, most, "{place}");
                    assert_eq!(i64::from(seeds.least_score()), most[0] + 1);
                    assert_eq!(i64::from(seeds.most_score(1)), most[1], "{place}");
                    assert!((0..most.len()).all(|n| i64::from(seeds.most_score(n)) >= most[n]));
                }
            }
        }
    }

    #[test]
    fn seeds_with_edits_cost_more_to_spoil() {
        let scoring = Scoring::dna(1, 4, 6, 1);
        // Three edits: 15 by substitutions, 9 by a deletion of three bases, 3 + 6 by half an insertion.
        let seeds = SeedScores::new(150, 20, 2, &scoring).unwrap();
        assert_eq!(i64::from(seeds.least_score()), by_definition(150, 20, 1, 18, 0) + 1);
        // The proof needs seeds of at least 3 + 6 / 4 bases.
        assert_eq!(SeedScores::new(150, 4, 2, &scoring), None);
        assert!(SeedScores::new(150, 5, 2, &scoring).is_some());
    }

    #[test]
    fn seeds_too_short_for_the_proof_are_refused() {
        // An insertion over three seeds of one base costs 15 + 3 * 6, less than the 3 * 27 / 2 of the bound.
        assert_eq!(SeedScores::new(100, 1, 0, &Scoring::dna(5, 40, 15, 1)), None);
        assert!(SeedScores::new(100, 3, 0, &Scoring::dna(5, 40, 15, 1)).is_some());
    }
}
