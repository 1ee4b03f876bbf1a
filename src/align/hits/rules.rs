//! What makes an alignment a hit: least scores, ranks and limits.

use crate::terms::alignment::Alignment;
use crate::terms::casts::to_i32;
use std::collections::HashMap;

/// What makes an alignment a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Least score of any hit; at least 1 in local mode.
    pub min_score: i32,
    /// Least share of the best score that a further hit reaches, in millionths.
    pub secondary_ppm: i64,
    /// Most alignments of a query; at least 1.
    pub max_hits: usize,
    /// Most targets that a query has hits on; at least 1.
    pub max_targets: usize,
    /// Most hits of a query on one target; at least 1.
    pub max_per_target: usize,
    /// Beyond the limits, hits that score as much as the last one are found as well, and targets whose best hit scores as
    /// much as that of the last target.
    pub keeps_ties: bool,
    /// Hits that lack at most so much to the best score are found besides, so many in all at most: what mates are
    /// paired from.
    pub candidates: Option<(i32, usize)>,
    /// Whether the second hit's score counts hits that no limit lets in, as mapping qualities want it.
    pub tells_second: bool,
}

impl Rules {
    /// The best hit of a query alone, at any score.
    pub const BEST: Rules = Rules {
        min_score: 1,
        secondary_ppm: 0,
        max_hits: 1,
        max_targets: usize::MAX,
        max_per_target: usize::MAX,
        keeps_ties: false,
        candidates: None,
        tells_second: false,
    };

    /// The least score at which a further hit exists beside a best one of `best`. Beside one that is not above 0 only equal
    /// ones exist, unless there is no least share.
    pub fn threshold(&self, best: i32) -> i32 {
        let share = match best {
            _ if self.secondary_ppm == 0 => i64::from(i32::MIN),
            ..=0 => i64::from(best),
            _ => (i64::from(best) * self.secondary_ppm + 999_999) / 1_000_000,
        };
        let near = self.candidates.map_or(i32::MAX, |(within, _)| best.saturating_sub(within));
        self.min_score.max(near.min(to_i32(share)))
    }

    /// Which of these, the hits of a query in their order, are found by these rules, and the score of the second hit.
    /// `told` is a score of one behind the first hit, which need not be in the list.
    pub fn cut(&self, hits: &[HitAt], told: Option<i32>) -> (Vec<usize>, Option<i32>) {
        let Some(best) = hits.first() else { return (Vec::new(), None) };
        let threshold = self.threshold(best.score);
        let second = hits.get(1).map(|hit| hit.score).max(told).filter(|&score| score >= threshold);
        let mut kept = Kept::default();
        let wanted = hits.iter().enumerate().take_while(|(_, hit)| hit.score >= threshold);
        let wanted = wanted.filter(|(_, hit)| {
            let is_wanted = self.wants(&kept, **hit);
            if is_wanted {
                kept.add(**hit, self);
            }
            is_wanted
        });
        (wanted.map(|(at, _)| at).collect(), second)
    }

    /// Whether a hit is wanted, behind those that are kept.
    pub(super) fn wants(&self, kept: &Kept, hit: HitAt) -> bool {
        self.has_room(kept, hit) || self.is_candidate(kept, hit.score)
    }

    /// Whether a hit of this score is found besides, whatever the limits say. If it is not, none is that scores less or comes
    /// later.
    pub(super) fn is_candidate(&self, kept: &Kept, score: i32) -> bool {
        self.candidates.is_some_and(|(within, most)| {
            kept.count < most && kept.best.is_none_or(|best| best.saturating_sub(score) <= within)
        })
    }

    /// Whether the limits let a hit in, behind those that are kept.
    fn has_room(&self, kept: &Kept, hit: HitAt) -> bool {
        let is_tie = |score: Option<i32>| self.keeps_ties && score == Some(hit.score);
        let on_target = kept.on_target(hit.target);
        let target_has_room = match on_target {
            0 => kept.targets.len() < self.max_targets || is_tie(kept.of_last_target),
            _ => on_target < self.max_per_target,
        };
        target_has_room && (kept.count < self.max_hits || is_tie(kept.last))
    }

    /// Whether the hits of each target are counted.
    pub fn counts_targets(&self) -> bool {
        self.max_targets < usize::MAX || self.max_per_target < usize::MAX
    }

    /// Most alignments that are found of a query, where ties are not kept.
    pub(super) fn most(&self) -> usize {
        match self.keeps_ties {
            true => usize::MAX,
            false => self.max_hits.max(self.candidates.map_or(0, |(_, most)| most)),
        }
    }
}

/// What decides whether an alignment of a record scores enough, where it is not one number for all.
pub trait LeastScores: Sync {
    /// No alignment of the record that scores less is enough; at least 1.
    fn lowest(&self, record: u32) -> i32;

    /// Whether a score, no lower than that, is enough on a target. If it is, so is each higher one.
    fn is_enough(&self, record: u32, target: u32, score: i32) -> bool;
}

/// How hits are ranked where their scores alone don't say it. It tells how far down in the order of scores a hit can be
/// that is reported.
pub trait Ranks: Sync {
    /// Targets whose hits are reported, but for ties.
    fn places(&self) -> usize;

    /// Whether more than one hit of a target may be reported.
    fn has_more_on_targets(&self) -> bool;

    /// What a hit of the record is ranked by, the highest first; `None` for one that is not reported in any case.
    fn rank(&self, record: u32, hit: &Alignment) -> Option<f64>;

    /// No hit of the record that scores less is ranked as high as this, or counts at all.
    fn least_score(&self, record: u32, rank: Option<f64>) -> i32;
}

/// A hit as the limits see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitAt {
    pub target: u32,
    pub score: i32,
}

/// Hits of a query that are kept, as the limits see them.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub count: usize,
    pub best: Option<i32>,
    pub last: Option<i32>,
    /// The first hit's score on the target that came last, where rules count targets.
    pub of_last_target: Option<i32>,
    /// Hits on each target that has any, where rules count them.
    pub targets: HashMap<u32, usize>,
}

impl Kept {
    pub fn add(&mut self, hit: HitAt, rules: &Rules) {
        self.count += 1;
        self.best = self.best.or(Some(hit.score));
        self.last = Some(hit.score);
        if rules.counts_targets() {
            let on_target = self.targets.entry(hit.target).or_default();
            if *on_target == 0 {
                self.of_last_target = Some(hit.score);
            }
            *on_target += 1;
        }
    }

    pub fn on_target(&self, target: u32) -> usize {
        self.targets.get(&target).copied().unwrap_or(0)
    }
}
