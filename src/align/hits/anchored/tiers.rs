//! Minimum scores down to which a query's hits are proven: definition of both tiers.

use crate::align::candidates::seed_scores::SeedScores;
use crate::align::significance::Ungapped;
use crate::terms::casts::{to_i32, whole_i32};
use crate::terms::scoring::{GapPiece, Scoring};

/// Queries of this many bases or more are long: their tier depends on the targets that support them.
pub const LONG: usize = 400;
/// Maximum number of cells of the chance windows of a query on the level that proves its minimum score.
const PROVEN_CELLS: f64 = (1u64 << 17) as f64;
/// Maximum number of cells of a full search that proves all scores.
const FULL_CELLS: f64 = (1u64 << 23) as f64;
/// Lengths of the seeds that prove a score, in bases.
const SEEDS: std::ops::RangeInclusive<usize> = 6..=32;
/// Maximum expected number of chance hits of a query at the proven minimum score.
const BY_CHANCE: f64 = 0.001;

/// Minimum scores of the two tiers, by the length of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiers {
    /// Bases of an exact run; 0 if there is no second tier.
    pub anchor: u32,
    /// Score that an exact run reaches with its ungapped extensions on a target that long queries are searched on.
    pub run_score: i32,
    /// Minimum score of the second tier and of long queries.
    pub least: i32,
    /// Minimum score of the first tier, by the length of the query.
    proven: Vec<i32>,
    /// Queries of this many bases or more are long.
    long: usize,
    /// Whether no target supports a long query, so that all are searched in their boxes.
    pub is_boxed: bool,
}

impl Tiers {
    /// Tiers for queries against `columns` columns: the residues of all references, on each strand. No hit scores less
    /// than `floor`, and none of the second tier less than `run_score`.
    pub fn new(scoring: &Scoring, columns: u64, floor: i32, (anchor, run_score): (u32, i32)) -> Tiers {
        let chance = Chance::new(scoring);
        // A query gets a full search if that takes few cells.
        let is_small = |len: usize| len as f64 * columns as f64 <= FULL_CELLS;
        let proven = |len: usize| match is_small(len) {
            true => floor,
            false => proven(scoring, columns, len).max(floor).max(chance.least_score(columns, len)),
        };
        let long = if anchor > 0 && !is_small(LONG) { LONG } else { usize::MAX };
        let proven = (0..LONG).map(proven).collect();
        Tiers { anchor, run_score, least: run_score.max(floor), proven, long, is_boxed: false }
    }

    /// Tiers with these minimum scores of the first tier, by length. No query is long.
    pub fn of_lengths(anchor: u32, least: i32, proven: Vec<i32>) -> Tiers {
        Tiers { anchor, run_score: least, least, proven, long: usize::MAX, is_boxed: false }
    }

    /// The same tiers, in which queries of `long` bases or more are long.
    pub fn with_long(self, long: usize) -> Tiers {
        Tiers { long, ..self }
    }

    /// The same tiers, in which no target supports a long query.
    pub fn boxed(self) -> Tiers {
        Tiers { is_boxed: true, ..self }
    }

    /// Minimum score down to which the hits of a query of `len` bases are proven. `None` for long queries.
    pub fn proven(&self, len: usize) -> Option<i32> {
        (len < self.long).then(|| self.proven.get(len).or(self.proven.last()).copied().unwrap_or(self.least))
    }

    /// Whether any query can be long.
    pub fn has_long(&self) -> bool {
        self.long < usize::MAX
    }

    /// Minimum score of a query of `len` bases in its first search.
    pub fn least_score(&self, len: usize) -> i32 {
        self.proven(len).unwrap_or(self.least)
    }

    /// The lowest and the highest of the first tier's minimum scores.
    pub fn range(&self) -> (i32, i32) {
        let [lowest, highest] = [self.proven.iter().min(), self.proven.iter().max()];
        (lowest.copied().unwrap_or(self.least), highest.copied().unwrap_or(self.least))
    }
}

/// The lowest score that seeds prove for a query of `len` bases within [`PROVEN_CELLS`]; 0 if none do.
fn proven(scoring: &Scoring, columns: u64, len: usize) -> i32 {
    let columns = columns as f64;
    let perfect = scoring.max_potential() * to_i32(len);
    let least = |seed: usize| {
        // An alignment without an intact seed scores no more.
        let most = SeedScores::new(len, seed, 0, scoring)?.most_score(0);
        let slack = |piece: GapPiece| f64::from((perfect - most - piece.open).max(0));
        let longest = |piece: GapPiece| 2.0 * slack(piece) / f64::from(piece.extend.max(1));
        let window = len as f64 + scoring.gaps().pieces().map(longest).fold(0.0, f64::max);
        let by_chance = (len / seed) as f64 * columns / 4f64.powi(to_i32(seed));
        (by_chance * window * len as f64 <= PROVEN_CELLS).then_some(most + 2 * scoring.end_bonus + 1)
    };
    SEEDS.filter_map(least).next().unwrap_or(0)
}

/// Scores that alignments of random bases reach (Karlin and Altschul 1990), without gaps.
struct Chance {
    /// `None` if the expected score of two bases is not negative.
    lambda: Option<f64>,
}

impl Chance {
    fn new(scoring: &Scoring) -> Chance {
        Chance { lambda: Ungapped::new(scoring).map(|ungapped| ungapped.lambda) }
    }

    /// The lowest score that random alignments of a query of `len` bases are expected to reach no more than
    /// [`BY_CHANCE`] times. K is assumed to be 1, its upper bound.
    fn least_score(&self, columns: u64, len: usize) -> i32 {
        let Some(lambda) = self.lambda else { return 0 };
        let places = len.max(1) as f64 * columns.max(1) as f64;
        whole_i32(((places / BY_CHANCE).ln() / lambda).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_scores_of_reads() {
        let tiers = |columns| Tiers::new(&Scoring::dna(1, 4, 6, 1), columns, 20, (19, 30));
        // Both strands of a plasmid, of SARS-CoV-2, of E. coli and of a gigabase.
        let at = |columns: u64, len| tiers(columns).proven(len);
        for (columns, expected) in [
            (3_000, [Some(20), Some(20), Some(20)]),
            (2 * 29_903, [Some(20), Some(20), Some(84)]),
            (2 * 4_641_652, [Some(20), Some(35), Some(100)]),
            (500_000_000, [Some(23), Some(40), Some(110)]),
        ] {
            assert_eq!([24, 50, 150].map(|len| at(columns, len)), expected, "{columns} columns");
        }
        assert_eq!((at(100, 5000), at(2_000_000, 400), at(2_000_000, 5000)), (Some(20), None, None));
        let without = Tiers::new(&Scoring::dna(1, 4, 6, 1), 2_000_000, 20, (0, 30));
        assert!(without.proven(5000).is_some());
        // Doubling the scores doubles the minimum scores, or doubles them minus one.
        let doubled = Tiers::new(&Scoring::dna(2, 8, 12, 2), 9_283_304, 40, (19, 60));
        let single = tiers(9_283_304);
        for len in 0..LONG {
            let (two, one) = (doubled.proven(len).unwrap(), single.proven(len).unwrap());
            assert!((2 * one - 1..=2 * one).contains(&two), "{len}: {two}, {one}");
        }
    }

    #[test]
    fn chance_is_rare() {
        let chance = Chance::new(&Scoring::dna(1, 4, 6, 1));
        // ln(150 * 1e7 / 0.001) / 1.383
        assert_eq!(chance.least_score(10_000_000, 150), 21);
        assert_eq!(Chance::new(&Scoring::dna(3, 1, 1, 1)).least_score(10_000_000, 150), 0);
    }
}
