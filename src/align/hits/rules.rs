//! Rules that make an alignment a hit: minimum scores, ranks and limits.

use crate::align::quality::QualityScores;
use crate::terms::alignment::Alignment;
use crate::terms::casts::to_i32;
use std::collections::HashMap;

/// Rules that make an alignment a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Minimum score of any hit; at least 1 in local mode.
    pub min_score: i32,
    /// Minimum score of a further hit relative to the best score, in millionths.
    pub secondary_ppm: i64,
    /// If set, further hits also score enough to lower the mapping quality.
    pub of_quality: Option<QualityScores>,
    /// Maximum number of alignments per query; at least 1.
    pub max_hits: usize,
    /// Maximum number of targets that a query has hits on; at least 1.
    pub max_targets: usize,
    /// Maximum number of hits of a query on one target; at least 1.
    pub max_per_target: usize,
    /// Number of consecutive targets that are the frames of one sequence. These limits count them as one target.
    pub frames: u32,
    /// Beyond the limits, also report hits that score the same as the last hit, and targets whose best hit scores the
    /// same as that of the last target.
    pub keeps_ties: bool,
    /// If set, also find candidates for mate pairing: hits whose score is at most the first number below the best
    /// score, until the total number of hits reaches the second number.
    pub candidates: Option<(i32, usize)>,
    /// Whether the second hit's score includes hits that the limits exclude, as mapping qualities require.
    pub tells_second: bool,
}

impl Rules {
    /// The best hit of a query alone, at any score.
    pub const BEST: Rules = Rules {
        min_score: 1,
        secondary_ppm: 0,
        of_quality: None,
        max_hits: 1,
        max_targets: usize::MAX,
        max_per_target: usize::MAX,
        frames: 1,
        keeps_ties: false,
        candidates: None,
        tells_second: false,
    };

    /// The number of hits, in their order, that are needed. `None` if the hits themselves decide how many.
    pub fn hits_needed(&self) -> Option<usize> {
        let count = self.most().max(1 + usize::from(self.tells_second));
        (!self.keeps_ties && !self.counts_targets()).then_some(count)
    }

    /// Minimum score of a further hit if the best hit scores `best`. If the best score is not above 0, only equal hits
    /// count, unless there is no minimum share.
    pub fn threshold(&self, best: i32) -> i32 {
        let share = match best {
            _ if self.secondary_ppm == 0 => i64::from(i32::MIN),
            ..=0 => i64::from(best),
            _ => (i64::from(best) * self.secondary_ppm + 999_999) / 1_000_000,
        };
        let share = to_i32(share).max(self.of_quality.map_or(i32::MIN, |scores| scores.least(best)));
        let near = self.candidates.map_or(i32::MAX, |(within, _)| best.saturating_sub(within));
        self.min_score.max(near.min(share))
    }

    /// Applies the rules to the hits of a query, in order. Returns the indices of the reported hits and the score of
    /// the second hit. `told` is the score of a hit after the first one, which need not be in the list.
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

    /// Whether a hit is wanted after those that are kept.
    pub(super) fn wants(&self, kept: &Kept, hit: HitAt) -> bool {
        self.has_room(kept, hit) || self.is_candidate(kept, hit.score)
    }

    /// Whether a hit of this score is an additional candidate, beyond the limits. If it is not, no hit with a lower
    /// score or a later position is.
    pub(super) fn is_candidate(&self, kept: &Kept, score: i32) -> bool {
        self.candidates.is_some_and(|(within, most)| {
            kept.count < most && kept.best.is_none_or(|best| best.saturating_sub(score) <= within)
        })
    }

    /// Whether the limits admit a hit after those that are kept.
    fn has_room(&self, kept: &Kept, hit: HitAt) -> bool {
        let is_tie = |score: Option<i32>| self.keeps_ties && score == Some(hit.score);
        let on_target = kept.on_target(hit.target, self);
        let target_has_room = match on_target {
            0 => kept.targets.len() < self.max_targets || is_tie(kept.of_last_target),
            _ => on_target < self.max_per_target,
        };
        target_has_room && (kept.count < self.max_hits || is_tie(kept.last))
    }

    /// Number of the sequence of which a target is a frame.
    pub fn sequence(&self, target: u32) -> u32 {
        // A damaged file may have any number.
        target / self.frames.max(1)
    }

    /// Whether the hits of each target are counted.
    pub fn counts_targets(&self) -> bool {
        self.max_targets < usize::MAX || self.max_per_target < usize::MAX
    }

    /// Maximum number of alignments that are found for a query.
    pub fn most(&self) -> usize {
        match self.keeps_ties {
            true => usize::MAX,
            false => self.max_hits.max(self.candidates.map_or(0, |(_, most)| most)),
        }
    }
}

/// Decides whether the score of an alignment is enough, if the minimum depends on the record or the target.
pub trait LeastScores: Sync {
    /// Minimum score of the record's alignments on any target; at least 1.
    fn lowest(&self, record: u32) -> i32;

    /// Whether a score of at least that minimum is enough on a target. If it is, so is each higher score.
    fn is_enough(&self, record: u32, target: u32, score: i32) -> bool;
}

/// Ranking of hits, if scores alone do not rank them. It bounds the score of the lowest hit that can be reported.
pub trait Ranks: Sync {
    /// Number of targets whose hits are reported, not counting ties.
    fn places(&self) -> usize;

    /// Whether more than one hit of a target may be reported.
    fn has_more_on_targets(&self) -> bool;

    /// Rank value of a hit of the record, higher is better. `None` for a hit that is never reported.
    fn rank(&self, record: u32, hit: &Alignment) -> Option<f64>;

    /// Minimum score of the record's hits that reach this rank, or count at all.
    fn least_score(&self, record: u32, rank: Option<f64>) -> i32;
}

/// A hit as the limits see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitAt {
    pub target: u32,
    pub score: i32,
}

/// Kept hits of a query as the limits see them.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub count: usize,
    pub best: Option<i32>,
    pub last: Option<i32>,
    /// The first hit's score on the latest target, if the rules count targets.
    pub of_last_target: Option<i32>,
    /// Number of hits on each sequence that has any, if the rules count them.
    pub targets: HashMap<u32, usize>,
}

impl Kept {
    pub fn add(&mut self, hit: HitAt, rules: &Rules) {
        self.count += 1;
        self.best = self.best.or(Some(hit.score));
        self.last = Some(hit.score);
        if rules.counts_targets() {
            let on_target = self.targets.entry(rules.sequence(hit.target)).or_default();
            if *on_target == 0 {
                self.of_last_target = Some(hit.score);
            }
            *on_target += 1;
        }
    }

    /// Number of hits on the sequence of a target.
    pub fn on_target(&self, target: u32, rules: &Rules) -> usize {
        self.targets.get(&rules.sequence(target)).copied().unwrap_or(0)
    }
}
