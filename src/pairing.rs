//! Mates: which hits of the two reads of a fragment are reported together.
//!
//! ```text
//! hits of each mate ──> rescue (mates without a hit near) ──> choose (the pair, or both best hits) ──> qualities
//! ```
//!
//! The pair is chosen among all hits of both mates that score nearly as much as the best, by the sum of their scores
//! less what their insert size costs. docs/algorithm.md, section 16, has the definition and what it rests on.

mod choose;
mod join;
mod rescue;

use crate::alignment::{Alignment, Found, Mated};
use crate::batch::Sequences;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::hits::{Effort, Rules, Scope};
use crate::insert::{InsertSize, Orientation, telling_insert};
use crate::quality::PairScores;
use crate::scoring::Scoring;
use choose::choose;
pub use join::{HitInParts, MateInParts};
use rayon::prelude::*;

/// What the best hits of both mates lose against a pair, in matches; bwa's `-U`.
const UNPAIRED: i32 = 17;
/// Hits of a mate that pairs are chosen from, at most. Where both mates have more, the fragment is one of so many
/// copies that its mapping quality is 0 wherever it is put.
const MOST_CANDIDATES: usize = 64;
/// Share of the least score of a hit that is enough for a mate in the window beside its mate's hit: a window of some
/// thousand letters has fewer alignments by chance than a genome (docs/algorithm.md).
const RESCUED: (i32, i32) = (3, 4);
/// A mate tells nothing of the insert size if its second hit reaches this share of its best one's score.
const REPEATED: (i64, i64) = (4, 5);

/// The letters of a target, by its number, if it is a circle.
pub type CircleOf<'a> = &'a (dyn Fn(u32) -> Option<u32> + Sync);

/// How mates are paired.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    pub insert: InsertSize,
    /// What the best hits of both mates lose against a pair.
    pub unpaired: i32,
    pub scores: PairScores,
    /// Least score of a mate in the window beside its mate's hit.
    pub rescued: i32,
    /// How hits are reported.
    pub rules: Rules,
}

impl Pairing {
    /// Pairing under the `rules` of single reads.
    pub fn new(insert: InsertSize, rules: Rules, scoring: &Scoring) -> Pairing {
        Pairing::by_scores(insert, rules, PairScores::of(scoring))
    }

    /// The same by what it depends on.
    pub fn by_scores(insert: InsertSize, rules: Rules, scores: PairScores) -> Pairing {
        let (share, of) = RESCUED;
        let rescued = (rules.min_score / of * share + rules.min_score % of * share / of).max(1);
        Pairing { insert, unpaired: UNPAIRED.saturating_mul(scores.match_), scores, rescued, rules }
    }

    /// The rules that find the hits to choose from.
    pub fn candidates(&self) -> Rules {
        Rules { candidates: Some((self.reach(), MOST_CANDIDATES)), ..self.rules }
    }

    /// What a hit lacks to the best one of its mate at most, if it is in a pair of hits that beats the best ones alone: an
    /// insert gains less than a match.
    fn reach(&self) -> i32 {
        self.unpaired.saturating_add(self.scores.match_)
    }

    /// The hits of a mate that pairs are chosen from, whatever else was found.
    fn among<'a>(&self, hits: &'a [Alignment]) -> &'a [Alignment] {
        let least = hits.first().map_or(0, |best| best.score.saturating_sub(self.reach()));
        let near = hits.iter().take(MOST_CANDIDATES).take_while(|hit| hit.score >= least).count();
        &hits[..near]
    }

    /// Pairs the mates of a batch, whose records stand side by side. `found` has the hits of each by
    /// [`Pairing::candidates`], and gets those that are reported, the one of the pair first.
    pub fn pair(
        &self,
        engine: &mut dyn Engine,
        scope: &Scope,
        found: &mut [Found],
        effort: &mut Effort,
    ) -> Result<(), EngineError> {
        let rescued = rescue::rescue(self, engine, scope, found, effort)?;
        let pairs = found.par_chunks_exact_mut(2).zip(rescued.into_par_iter());
        let circle_of = |target| scope.batch.targets.circle(target);
        pairs.for_each(|(pair, rescued)| choose(self, &circle_of, pair, rescued));
        Ok(())
    }

    /// Adds to the hits of mates in a part of the references what the windows beside them hold. No pair is chosen:
    /// [`Pairing::join`] does that, with the hits of all parts.
    pub fn prepare(
        &self,
        engine: &mut dyn Engine,
        scope: &Scope,
        found: &mut [Found],
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

/// The inserts that pairs of unique best hits in `targets` show.
pub fn inserts(targets: &Sequences, found: &[Found]) -> Vec<(Orientation, u32)> {
    let unique = |found: &Found| {
        let best = found.alignments.first()?;
        let (share, of) = REPEATED;
        let is_repeated = |second: i32| i64::from(second) * of >= i64::from(best.score) * share;
        (!found.second.is_some_and(is_repeated)).then(|| best.clone())
    };
    let insert = |pair: &[Found]| {
        let (one, other) = (unique(&pair[0])?, unique(&pair[1])?);
        telling_insert(&one, &other, targets.circle(one.target))
    };
    found.chunks_exact(2).filter_map(insert).collect()
}
