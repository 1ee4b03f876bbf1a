//! Which hits of a query are reported, and in which order, where their scores alone don't say it.

use crate::alignment::{Alignment, Found};
use crate::batch::Batch;
use crate::candidates::Layout;
use crate::hits::{HitAt, Ranks, Rules};
use crate::identity::{ColumnKinds, is_equal};
use crate::options::{IdentityDefinition, Limits, Rank};
use crate::scoring::{AlignmentMode, Scoring};
use crate::significance::Significance;
use crate::writer::list::RankedBy;
use rayon::prelude::*;
use std::collections::HashMap;

/// How hits are ranked, of all that score enough.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    by: RankedBy,
    limits: Limits,
    definition: IdentityDefinition,
}

impl Ranking {
    /// `None` where the hits that are found first are those that are reported.
    pub fn new(
        rank: Rank,
        limits: Limits,
        definition: IdentityDefinition,
        significance: Option<Significance>,
    ) -> Option<Ranking> {
        is_needed(rank, &limits).then_some(Ranking {
            by: RankedBy { rank, significance },
            limits,
            definition,
        })
    }

    /// The rules by which everything is found that may be reported.
    pub fn widened(&self, rules: Rules) -> Rules {
        // A hit that does not count leaves room for another one on its target.
        let each_counts = self.limits.identity <= 0.0 && self.limits.coverage <= 0.0;
        let max_per_target = if each_counts { rules.max_per_target } else { usize::MAX };
        Rules { max_hits: usize::MAX, max_targets: usize::MAX, max_per_target, keeps_ties: false, ..rules }
    }

    /// Leaves the hits that are reported, in their order. Of mates in records the hit of the pair stays the first where it
    /// counts; where it does not, the two are no proper pair.
    pub fn choose(&self, batch: &Batch, layout: Layout, found: &mut [Found], in_records: bool) {
        let choose = |(record, found): (u32, &mut Found)| {
            let first = found.alignments.first().cloned();
            let mut of_pair = (in_records && found.mated.is_some()).then_some(f64::INFINITY);
            let ranked = std::mem::take(&mut found.alignments).into_iter().filter_map(|hit| {
                let query = batch.query(layout.query(record, hit.strand));
                let leads = of_pair.take();
                self.key(batch, query, &hit).map(|key| (leads.unwrap_or(key), hit))
            });
            found.alignments = within(&self.limits, ranked.collect(), |hit| hit.target);
            let is_same = found.alignments.first() == first.as_ref();
            if !is_same {
                // It is a hit still, beside what is reported.
                found.second = first.map(|first| first.score).max(found.second);
                found.quality = None;
            }
            is_same
        };
        let all: Vec<(u32, &mut Found)> = (0u32..).zip(found.iter_mut()).collect();
        let are_same: Vec<bool> = all.into_par_iter().map(choose).collect();
        // Mates stand side by side.
        for (mates, are_same) in found.chunks_mut(2).zip(are_same.chunks(2)) {
            let mated = mates.iter_mut().filter_map(|mate| mate.mated.as_mut());
            mated.filter(|_| are_same.contains(&false)).for_each(|mated| mated.insert = None);
        }
    }

    /// What a hit is ranked by, the highest first; `None` for one that does not count.
    fn key(&self, batch: &Batch, query: &[u8], hit: &Alignment) -> Option<f64> {
        let target = batch.targets.once(hit.target);
        let kinds = ColumnKinds::count(&batch.scoring, query, batch.target(hit.target), hit);
        let identity = kinds.identity(self.definition, query.len(), target.len());
        let counts = counts(&self.limits, identity, hit, query.len());
        counts.then(|| self.by.number(hit.score, identity, (query.len(), target.len())))
    }

    /// The ranks of hits of a batch.
    pub fn of<'a>(&'a self, batch: &'a Batch, layout: Layout) -> RanksOfBatch<'a> {
        RanksOfBatch { ranking: self, batch, layout }
    }

    /// The least score of a hit of this identity in percent, of a query in its orientation (docs/algorithm.md, section 20).
    fn least_score(&self, scoring: &Scoring, query: &[u8], percent: f64) -> i32 {
        let is_of_columns = match self.definition {
            IdentityDefinition::Columns | IdentityDefinition::Blast => true,
            IdentityDefinition::Inner => scoring.mode != AlignmentMode::Global,
            IdentityDefinition::Shorter | IdentityDefinition::Longer => false,
        };
        let covered = match scoring.mode {
            AlignmentMode::Glocal | AlignmentMode::Global => 1.0,
            AlignmentMode::Local | AlignmentMode::Overlap => self.limits.coverage / 100.0,
        };
        if !is_of_columns {
            return i32::MIN;
        }
        let gap = scoring.gap_cost(1) as f64;
        let worst = gap.max(-f64::from(scoring.lowest()));
        let equal = query.iter().filter(|&&code| is_equal(scoring.alphabet, code, code));
        let best = f64::from(equal.map(|&code| scoring.score(code, code)).min().unwrap_or(0));
        // Less by what rounding may add.
        let share = percent / 100.0 - 1e-9;
        let of_column = best * share - worst * (1.0 - share);
        match of_column > 0.0 {
            true => (of_column * covered * query.len() as f64).floor() as i32 - 1,
            false => i32::MIN,
        }
    }
}

/// The rules of these limits, for hits of any score.
pub fn rules(limits: &Limits) -> Rules {
    let Limits { max_hits, max_targets, max_per_target, keeps_ties, .. } = *limits;
    Rules { max_hits, max_targets, max_per_target, keeps_ties, ..Rules::BEST }
}

/// Whether more than scores decides which hits are reported, or in which order.
pub fn is_needed(rank: Rank, limits: &Limits) -> bool {
    rank != Rank::Score || limits.identity > 0.0 || limits.coverage > 0.0
}

/// Whether a hit of this identity counts, of a query of so many letters.
pub fn counts(limits: &Limits, identity: f64, hit: &Alignment, query: usize) -> bool {
    let covered = 100.0 * f64::from(hit.query_end - hit.query_start) / query.max(1) as f64;
    identity >= limits.identity && covered >= limits.coverage
}

/// Those within the limits, of hits in the order of their scores, each behind what it is ranked by: scores decide which hits of
/// a target count, and ranks all else. Ties are of what ranks.
pub fn within<T>(limits: &Limits, mut ranked: Vec<(f64, T)>, target: impl Fn(&T) -> u32) -> Vec<T> {
    let mut on_targets: HashMap<u32, usize> = HashMap::new();
    ranked.retain(|(_, hit)| {
        let count = on_targets.entry(target(hit)).or_default();
        *count += 1;
        *count <= limits.max_per_target
    });
    // The sort is stable: equal ones keep the order of their scores.
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let rules = Rules { min_score: i32::MIN, ..rules(limits) };
    // The limits see the place of a number among the different ones as its score.
    let mut place = i32::MAX;
    let mut before = None;
    let mut seen = Vec::with_capacity(ranked.len());
    for (number, hit) in &ranked {
        if before.is_some_and(|before: f64| before.total_cmp(number).is_ne()) {
            place -= 1;
        }
        before = Some(*number);
        seen.push(HitAt { target: target(hit), score: place });
    }
    let (kept, _) = rules.cut(&seen, None);
    let mut kept = kept.into_iter().peekable();
    let mut is_kept = |at: usize| kept.next_if_eq(&at).is_some();
    ranked.into_iter().enumerate().filter_map(|(at, (_, hit))| is_kept(at).then_some(hit)).collect()
}

/// The ranks of hits of a batch, as far as they tell how far down in the order of scores hits are reported.
pub struct RanksOfBatch<'a> {
    ranking: &'a Ranking,
    batch: &'a Batch,
    layout: Layout,
}

impl Ranks for RanksOfBatch<'_> {
    fn places(&self) -> usize {
        let Limits { max_hits, max_targets, .. } = self.ranking.limits;
        max_targets.min(max_hits)
    }

    fn has_more_on_targets(&self) -> bool {
        self.ranking.limits.max_per_target > 1
    }

    fn rank(&self, record: u32, hit: &Alignment) -> Option<f64> {
        let query = self.batch.query(self.layout.query(record, hit.strand));
        self.ranking.key(self.batch, query, hit)
    }

    fn least_score(&self, record: u32, rank: Option<f64>) -> i32 {
        let Ranking { by, limits, .. } = *self.ranking;
        let by_rank = match (by.rank, rank) {
            (Rank::Identity, Some(identity)) => self.of_identity(record, identity),
            (Rank::Score, Some(score)) => score as i32,
            (Rank::Evalue, Some(_)) | (_, None) => i32::MIN,
        };
        if limits.identity > 0.0 { by_rank.max(self.of_identity(record, limits.identity)) } else { by_rank }
    }
}

impl RanksOfBatch<'_> {
    /// The least score of a hit of this identity, on either strand.
    fn of_identity(&self, record: u32, percent: f64) -> i32 {
        let least = |query| self.ranking.least_score(&self.batch.scoring, self.batch.query(query), percent);
        self.layout.queries(record).map(least).min().unwrap_or(i32::MIN)
    }
}

/// Leaves the hits of a mate that the limits of targets let in, of hits in their order.
pub fn limit(rules: &Rules, found: &mut Found) {
    if !rules.counts_targets() {
        return;
    }
    let seen: Vec<HitAt> =
        found.alignments.iter().map(|&Alignment { target, score, .. }| HitAt { target, score }).collect();
    let unbounded = Rules { min_score: i32::MIN, secondary_ppm: 0, candidates: None, ..*rules };
    let (kept, _) = unbounded.cut(&seen, None);
    let mut at = 0;
    found.alignments.retain(|_| {
        at += 1;
        kept.binary_search(&(at - 1)).is_ok()
    });
}
