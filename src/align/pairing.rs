//! Mates: which hits of the two reads of a fragment are reported together.
//!
//! ```text
//! hits of each mate ──> rescue (mates without a hit near) ──> choose (the pair, or both best hits) ──> qualities
//! ```
//!
//! The pair is chosen among all hits of both mates that score nearly as high as the best hits. It has the highest sum
//! of scores minus the penalty of its insert size. See docs/algorithm.md, section 16, for the definition and its
//! assumptions.

mod choose;
mod join;
mod rescue;

use crate::align::hits::{Effort, Rules, SearchInput, TieBreak};
use crate::align::quality::PairScores;
use crate::engine::Engine;
use crate::terms::alignment::{Alignment, Mated, QueryResult, Strand};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::error::EngineError;
use crate::terms::insert::{InsertSize, Orientation, PairScoring, telling_insert};
use crate::terms::scoring::Scoring;
use choose::{Ties, choose};
pub use join::{HitInParts, MateInParts};
use rayon::prelude::*;

/// Penalty for reporting the best hits of both mates unpaired, in matches; bwa's `-U`.
const UNPAIRED: i32 = 17;
/// Maximum number of hits of a mate that pairs are chosen from. If both mates have more, the fragment comes from a
/// repeat with many copies, and its mapping quality is 0 anyway.
pub const MOST_CANDIDATES: usize = 64;
/// Share of the minimum score that is enough for a mate in the window of its mate's hit: a window of some thousand
/// bases has fewer chance alignments than a genome (docs/algorithm.md).
const RESCUED: (u64, u64) = (3, 4);
/// A mate is not used to estimate the insert size if its second hit reaches this share of its best hit's score.
const REPEATED: (i64, i64) = (4, 5);

/// Length of a target, by its number, if it is circular.
pub type CircleOf<'a> = &'a (dyn Fn(u32) -> Option<u32> + Sync);

/// How mates are paired.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    pub insert: InsertSize,
    /// Penalty for reporting the best hits of both mates unpaired.
    pub unpaired: i32,
    pub scores: PairScores,
    /// Minimum score of a mate in the window of its mate's hit.
    pub rescued: i32,
    /// How hits are reported.
    pub rules: Rules,
}

impl Pairing {
    /// Pairing under the `rules` of single reads.
    pub fn new(insert: InsertSize, rules: Rules, scoring: &Scoring) -> Pairing {
        let scores = PairScores::of(scoring);
        let (share, of) = RESCUED;
        // Rounded up: a score reaches the share or it does not.
        let rescued = to_i32((u64::from(to_u32(rules.min_score.max(1))) * share).div_ceil(of));
        Pairing { insert, unpaired: UNPAIRED.saturating_mul(scores.match_), scores, rescued, rules }
    }

    /// The rules that find the hits to choose from.
    pub fn candidates(&self) -> Rules {
        Rules { candidates: Some((self.reach(), MOST_CANDIDATES)), ..self.rules }
    }

    /// Scoring of pairs of hits.
    pub fn scoring(&self) -> PairScoring {
        PairScoring { insert: self.insert, match_: self.scores.match_ }
    }

    /// Maximum score difference to the best hit of a mate for hits in a pair that beats the best hits alone: an insert
    /// size gains less than a match.
    fn reach(&self) -> i32 {
        self.unpaired.saturating_add(self.scores.match_)
    }

    /// The hits of a mate that pairs are chosen from; other hits are ignored.
    fn among<'a>(&self, hits: &'a [Alignment]) -> &'a [Alignment] {
        let least = hits.first().map_or(0, |best| best.score.saturating_sub(self.reach()));
        let near = hits.iter().take(MOST_CANDIDATES).take_while(|hit| hit.score >= least).count();
        &hits[..near]
    }

    /// Pairs the mates of a batch, whose records are adjacent. `found` has the hits of each mate by
    /// [`Pairing::candidates`]. They are replaced by the reported hits, with the hit of the pair first. Among equal
    /// pairs, `tie_break` chooses, or the first pair wins.
    pub fn pair(
        &self,
        engine: &mut dyn Engine,
        scope: &SearchInput,
        found: &mut [QueryResult],
        tie_break: Option<&TieBreak>,
        effort: &mut Effort,
    ) -> Result<(), EngineError> {
        let rescued = rescue::rescue(self, engine, scope, found, effort)?;
        let pairs = found.par_chunks_exact_mut(2).zip(rescued.into_par_iter()).enumerate();
        let circle_of = |target| scope.batch.targets.circle(target);
        pairs.for_each(|(number, (pair, rescued))| {
            let record = 2 * to_u32(number);
            let len = |record| to_u32(scope.batch.query(scope.layout.query(record, Strand::Forward)).len());
            let lens = [record, record + 1].map(len);
            let ties = Ties { keeps_all: self.rules.keeps_ties, tie_break: tie_break.copied(), record, lens };
            choose(self, &circle_of, pair, rescued, ties);
        });
        Ok(())
    }

    /// Clears the insert size of mates whose first hits no longer form a proper pair because one of them was cut.
    pub fn confirm(&self, circle_of: CircleOf, found: &mut [QueryResult]) {
        let scoring = self.scoring();
        found.par_chunks_exact_mut(2).for_each(|mates| {
            if mates.iter().all(|mate| mate.mated.is_none_or(|mated| mated.insert.is_none())) {
                return;
            }
            let insert = match [&mates[0].alignments[..], &mates[1].alignments[..]] {
                [[one, ..], [other, ..]] => scoring.of(one, other, circle_of(one.target)),
                _ => None,
            };
            let insert = insert.map(|(insert, _)| insert);
            mates.iter_mut().filter_map(|mate| mate.mated.as_mut()).for_each(|mated| mated.insert = insert);
        });
    }

    /// Adds the hits found in the windows of mates' hits, for a part of the references. No pair is chosen:
    /// [`Pairing::join`] does that with the hits of all parts.
    pub fn prepare(
        &self,
        engine: &mut dyn Engine,
        scope: &SearchInput,
        found: &mut [QueryResult],
        effort: &mut Effort,
    ) -> Result<(), EngineError> {
        rescue::rescue_all(self, engine, scope, found, effort)?;
        for (number, found) in found.iter_mut().enumerate() {
            found.quality = Some(0);
            found.mated = Some(Mated { is_first: number % 2 == 0, insert: None });
        }
        Ok(())
    }
}

/// The insert size between the best hits of two mates in `targets`, if both hits are unique.
pub fn insert(targets: &Sequences, mates: [&QueryResult; 2]) -> Option<(Orientation, u32)> {
    let unique = |found: &QueryResult| {
        let best = found.alignments.first()?;
        let (share, of) = REPEATED;
        let is_repeated = |second: i32| i64::from(second) * of >= i64::from(best.score) * share;
        (!found.second.is_some_and(is_repeated)).then(|| best.clone())
    };
    let (one, other) = (unique(mates[0])?, unique(mates[1])?);
    telling_insert(&one, &other, targets.circle(one.target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_score_of_a_rescued_mate_is_rounded_up() {
        let insert = InsertSize { orientation: Orientation::Fr, mean: 300, deviation: 30 };
        for (min_score, rescued) in
            [(1, 1), (2, 2), (3, 3), (4, 3), (20, 15), (21, 16), (22, 17), (23, 18), (24, 18)]
        {
            let rules = Rules { min_score, ..Rules::BEST };
            assert_eq!(
                Pairing::new(insert, rules, &Scoring::dna(1, 4, 6, 1)).rescued,
                rescued,
                "{min_score}"
            );
        }
        let rules = Rules { min_score: i32::MAX, ..Rules::BEST };
        assert_eq!(Pairing::new(insert, rules, &Scoring::dna(1, 4, 6, 1)).rescued, 1_610_612_736);
    }
}
