//! Number of seeds of a query segment that an alignment contains on nearby diagonals. See docs/algorithm.md, section
//! 15, for the theorem and its proof.
//!
//! A query is cut into consecutive seeds, and these into segments of about as many seeds each. At least one segment
//! loses no more than its share of the whole alignment's loss, so the alignment contains its share of that segment's
//! seeds.

use crate::terms::bounds::twice_to_spoil;
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::scoring::{Gaps, Scoring};
use std::ops::Range;

/// Guarantee about the alignments of a query that reach some score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedCounts {
    /// Bases per seed, complete seeds of the query, and segments that these seeds are grouped into.
    seed: usize,
    seeds: usize,
    segments: usize,
    /// Twice the score of a perfect alignment, plus twice the reduction of losses at the seeds of an alignment's two
    /// ends.
    most: i64,
    /// Twice the maximum loss of all seeds together.
    lost: i64,
    /// Twice the minimum loss at a seed that the alignment does not contain.
    spoil: i64,
    gaps: Gaps,
}

impl SeedCounts {
    /// Guarantee about the alignments of a query of `len` bases that score at least `least`, with seeds of `seed` bases
    /// in `segments` segments. `None` if the proof does not apply to the scoring, or if no alignment is guaranteed to
    /// contain a seed.
    pub fn new(
        len: usize,
        (seed, segments): (usize, usize),
        least: i32,
        scoring: &Scoring,
    ) -> Option<SeedCounts> {
        let spoil = twice_to_spoil(seed, 0, scoring).filter(|_| scoring.fits(len))?;
        let match_ = i64::from(scoring.max_potential());
        let seeds = len / seed;
        let spoil = spoil.min(2 * match_ * i64::try_from(seed).ok()?);
        // A seed that the alignment does not cover loses all of its bases, but a seed at either end perhaps only one.
        let ends = 2 * (spoil - 2 * match_).max(0);
        let most = 2 * match_ * i64::try_from(len).ok()? + ends;
        let lost = most - 2 * i64::from(least);
        let gaps = scoring.gaps();
        let counts = SeedCounts { seed, seeds, segments, most, lost, spoil, gaps };
        let is_sure = gaps.pieces().all(|piece| piece.extend > 0)
            && (1..=seeds).contains(&segments)
            && (0..spoil * to_i64(seeds)).contains(&lost);
        is_sure.then_some(counts)
    }

    /// Bases per seed.
    pub fn seed(&self) -> usize {
        self.seed
    }

    /// The seeds of each segment.
    pub fn segments(&self) -> impl Iterator<Item = Range<usize>> {
        let SeedCounts { seeds, segments, .. } = *self;
        let border = move |segment: usize| to_usize(seeds as u64 * segment as u64 / segments as u64);
        (0..segments).map(move |segment| border(segment)..border(segment + 1))
    }

    /// Twice the share of all losses that belongs to a segment of `seeds` seeds, rounded down.
    fn share(&self, seeds: usize) -> i64 {
        self.lost * to_i64(seeds) / to_i64(self.seeds)
    }

    /// Minimum number of seeds that a segment of `seeds` seeds contains if it has no more than its share of the losses.
    pub fn least_held(&self, seeds: usize) -> usize {
        seeds - to_usize(self.share(seeds) / self.spoil)
    }

    /// Maximum distance between the diagonals of two of these seeds.
    pub fn band(&self, seeds: usize) -> usize {
        to_usize(self.gaps.longest(self.share(seeds) / 2, 0))
    }

    /// Maximum score of an alignment that contains at most `held` seeds of a segment of `seeds` seeds which has no more
    /// than its share of the losses.
    pub fn most_score(&self, seeds: usize, held: usize) -> i32 {
        let spoilt = to_i64(seeds.saturating_sub(held));
        let lost = (self.spoil * spoilt * to_i64(self.seeds) + to_i64(seeds) - 1) / to_i64(seeds);
        to_i32((self.most - lost) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_hand() {
        // A perfect alignment scores 2000, one of 1600 lacks 400. A seed that is not held costs 6, but perhaps 2 at
        // either end: 408 / 6 are 68 of 100 seeds.
        let scoring = Scoring::dna(2, 4, 4, 2);
        let counts = SeedCounts::new(1000, (10, 1), 1600, &scoring).unwrap();
        assert_eq!(counts.segments().next(), Some(0..100));
        assert_eq!((counts.least_held(100), counts.band(100)), (32, 202));
        assert_eq!([0, 32, 99, 100].map(|held| counts.most_score(100, held)), [1408, 1600, 2002, 2008]);
        // One of the four segments loses 102 or less: 17 seeds.
        let counts = SeedCounts::new(1000, (10, 4), 1600, &scoring).unwrap();
        assert_eq!(counts.segments().last(), Some(75..100));
        assert_eq!((counts.least_held(25), counts.band(25)), (8, 49));
        assert_eq!(counts.most_score(25, 8), 1600);
        // Segments of 33, 33 and 34.
        let counts = SeedCounts::new(1009, (10, 3), 1618, &scoring).unwrap();
        assert_eq!(counts.segments().map(|seeds| seeds.len()).collect::<Vec<_>>(), [33, 33, 34]);
        // If all seeds may be spoilt, none is guaranteed: 608 / 6 are 101.
        assert_eq!(SeedCounts::new(1000, (10, 1), 1400, &scoring), None);
        assert!(SeedCounts::new(1000, (10, 1), 1409, &scoring).is_some());
    }

    #[test]
    fn what_scores_enough_is_not_ruled_out() {
        for (a, b, o, e) in
            [(1, 4, 6, 1), (2, 4, 4, 2), (2, 3, 5, 2), (1, 1, 0, 2), (5, 4, 9, 1), (5, 0, 0, 1)]
        {
            let scoring = Scoring::dna(a, b, o, e);
            for (len, seed, segments) in
                [(1000, 8, 1), (1000, 11, 7), (150, 10, 15), (151, 10, 4), (64, 9, 3)]
            {
                let perfect = a * len as i32;
                for least in 1..=perfect {
                    let Some(counts) = SeedCounts::new(len, (seed, segments), least, &scoring) else {
                        continue;
                    };
                    for seeds in counts.segments().map(|seeds| seeds.len()) {
                        let held = counts.least_held(seeds);
                        assert!((1..=seeds).contains(&held));
                        assert!(counts.most_score(seeds, held) >= least, "{counts:?}, {seeds} seeds");
                        assert!(counts.most_score(seeds, held - 1) < least, "{counts:?}, {seeds} seeds");
                    }
                }
            }
        }
    }
}
