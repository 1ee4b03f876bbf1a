//! Mapping qualities: the confidence that an alignment is at the query's origin.

use crate::terms::alignment::{Alignment, QueryResult, Tier};
use crate::terms::casts::{to_u8, whole_i32, whole_u8};
use crate::terms::scoring::{Scoring, Substitution};

/// Maximum mapping quality (255 would mean "not known").
const MAX_MAPQ: f64 = 60.0;
/// Maximum mapping quality of a hit of the second tier.
const MAX_ANCHORED_MAPQ: u8 = 30;
/// Added to a mapping quality before it is rounded down.
const ROUNDING: f64 = 0.499;
/// Subtracted from a mapping quality if there is a second hit: `floor(4.343 * ln(2) + .499)`.
const SECOND_HIT: f64 = 3.0;
/// Spans up to this length weigh their identity in full; bwa's `mapQ_coef_len`.
const MAPQ_SPAN: f64 = 50.0;

/// The mapping quality of a primary alignment, 0 to 60, by bwa's formula (`mem_approx_mapq_se`; Li
/// 2013, arXiv:1303.3997):
///
/// ```text
/// l        = the longer of the query's and the target's span
/// identity = 1 - (l * a - score) / (a + b) / l
/// t        = identity^2 * (1 if l < 50, else ln 50 / ln l)
/// mapq     = floor(6.02 * (score - sub) / a * t^2 + .499) - floor(4.343 * ln(n + 1) + .499)
/// ```
///
/// The quality is 0 if `sub >= score`. `sub` is the second best score. It is known exactly: no hit below `threshold`
/// exists, so without a second hit it is at most `threshold - 1`. `n` is the number of hits besides the best, here 0 or
/// 1.
///
/// `a` and `b` are the match score and the mismatch penalty. A matrix has no single match score. Its mean score of a
/// residue with itself is used as `a` (5 for EDNAFULL, 6 for BLOSUM62), and its lowest score as `-b`, so that a perfect
/// alignment has an identity of about 1.
pub fn mapping_quality(scoring: &Scoring, alignment: &Alignment, second: Option<i32>, threshold: i32) -> u8 {
    quality_of(&Typical::of(scoring), alignment.span(), alignment.score, (second, threshold))
}

/// Mapping quality of a query's first hit, or 0 without hits.
pub fn of_first(scoring: &Scoring, found: &QueryResult) -> u8 {
    of_first_less(scoring, found, 0)
}

/// The same if all scores still contain the end bonus of the first hit.
pub fn of_first_less(scoring: &Scoring, found: &QueryResult, bonus: i32) -> u8 {
    let sub = (found.second.map(|second| second - bonus), found.threshold - bonus);
    let single =
        |first: &Alignment| quality_of(&Typical::of(scoring), first.span(), first.score - bonus, sub);
    of_tier(found.quality.or_else(|| found.alignments.first().map(single)).unwrap_or(0), found.tier)
}

/// Limits a mapping quality to the maximum of the hit's tier.
fn of_tier(quality: u8, tier: Tier) -> u8 {
    match tier {
        Tier::Single | Tier::Proven => quality,
        Tier::Anchored => quality.min(MAX_ANCHORED_MAPQ),
    }
}

/// [`mapping_quality`] from its inputs: the longer span, the score, and the second score with the threshold.
pub fn quality_of(typical: &Typical, span: u32, score: i32, (second, threshold): (Option<i32>, i32)) -> u8 {
    let sub = second.unwrap_or(threshold.saturating_sub(1)).max(0);
    if sub >= score || span == 0 {
        return 0;
    }
    let lead = f64::from(score) - f64::from(sub);
    let lead = (quality_per_score(typical, span, score) * lead + ROUNDING).floor();
    let others = if second.is_some() { SECOND_HIT } else { 0.0 };
    whole_u8((lead - others).clamp(0.0, MAX_MAPQ))
}

/// Mapping quality for each unit by which the best score exceeds the second.
fn quality_per_score(typical: &Typical, span: u32, score: i32) -> f64 {
    let (match_, mismatch) = (f64::from(typical.match_), f64::from(typical.mismatch));
    let (span, score) = (f64::from(span), f64::from(score));
    let identity = (1.0 - (span * match_ - score) / (match_ + mismatch) / span).clamp(0.0, 1.0);
    let weight = if span < MAPQ_SPAN { 1.0 } else { MAPQ_SPAN.ln() / span.ln() };
    let t = identity * identity * weight;
    6.02 / match_ * t * t
}

/// Scores that matter for the mapping quality of a query's best hit: lower ones leave it at its maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QualityScores {
    pub typical: Typical,
    /// Length of the query; at least 1.
    pub len: u32,
    /// What end bonuses add to a score, at most.
    pub bonuses: i32,
    pub tier: Tier,
}

impl QualityScores {
    /// The same for hits of the second tier.
    pub fn anchored(self) -> QualityScores {
        QualityScores { tier: Tier::Anchored, ..self }
    }

    /// The highest score such that the quality is the maximum of the tier if no other hit reaches it, whatever their
    /// scores, and if the best hit, of score `best`, covers the query.
    pub fn least(&self, best: i32) -> i32 {
        let of_each = quality_per_score(&self.typical, self.len, best.saturating_sub(self.bonuses));
        let most = f64::from(of_tier(whole_u8(MAX_MAPQ), self.tier));
        let lead = ((most + SECOND_HIT - ROUNDING) / of_each).ceil();
        // A division by 0 gives infinity.
        best.saturating_sub(whole_i32(lead).saturating_sub(1))
    }
}

/// Mapping quality of a pair of mates whose score exceeds the second best by `lead`, if `others` more pairs score about
/// the same as the second best; bwa's `mem_sam_pe`:
///
/// ```text
/// mapq = floor(6.02 * lead / a + .499) - floor(4.343 * ln(others + 1) + .499)
/// ```
pub fn of_pair(lead: i64, match_: i32, others: usize) -> u8 {
    let lead = (6.02 * lead as f64 / f64::from(match_.max(1)) + 0.499).floor();
    let others = if others > 0 { (4.343 * (others as f64 + 1.0).ln() + 0.499).floor() } else { 0.0 };
    whole_u8((lead - others).clamp(0.0, MAX_MAPQ))
}

/// The score of a match and the penalty of a mismatch, for [`mapping_quality`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typical {
    /// At least 1.
    pub match_: i32,
    /// At least 0.
    pub mismatch: i32,
}

impl Typical {
    pub fn of(scoring: &Scoring) -> Typical {
        let letters = scoring.alphabet.required_letters();
        let codes = 0..to_u8(letters.len());
        match &scoring.substitution {
            Substitution::Equal { match_, mismatch, .. } => Typical { match_: *match_, mismatch: *mismatch },
            Substitution::Matrix(_) => {
                let own: i32 = codes.clone().map(|code| scoring.score(code, code)).sum();
                let worst = codes.clone().flat_map(|q| codes.clone().map(move |t| scoring.score(q, t))).min();
                let mean = (f64::from(own) / letters.len() as f64).round();
                Typical { match_: whole_i32(mean).max(1), mismatch: -worst.unwrap_or(0).min(0) }
            }
        }
    }
}

/// Properties of a scoring that the choice of a pair of mates needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairScores {
    /// Maximum score of a residue.
    pub match_: i32,
    /// Pairs whose scores differ by at most this are considered about equally good.
    pub close: i64,
    pub typical: Typical,
    /// Bonus in the score of a hit for each end of the query that it reaches.
    pub end_bonus: i32,
}

impl PairScores {
    pub fn of(scoring: &Scoring) -> PairScores {
        let (match_, typical) = (scoring.max_potential(), Typical::of(scoring));
        let replaced = i64::from(match_) + i64::from(typical.mismatch);
        let close = replaced.max(scoring.gap_cost(1));
        PairScores { match_, close, typical, end_bonus: scoring.end_bonus }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::{PathOp, PathRuns, Strand};
    use crate::terms::alphabet::Alphabet;
    use crate::terms::scoring::Matrix;
    use smallvec::smallvec;

    fn spanning(score: i32, cigar: PathRuns) -> Alignment {
        let span = |kind: PathOp| cigar.iter().filter(|(_, op)| *op != kind).map(|(len, _)| len).sum();
        let (query_end, target_end) = (span(PathOp::Deletion), span(PathOp::Insertion));
        let strand = Strand::Forward;
        Alignment {
            strand,
            target: 0,
            score,
            query_start: 0,
            query_end,
            target_start: 0,
            target_end,
            cigar,
            shifts: Box::default(),
        }
    }

    #[test]
    fn mapping_quality_by_hand() {
        let short = Scoring::dna(1, 4, 6, 1);
        let perfect = |len: u32, score| spanning(score, smallvec![(len, PathOp::Match)]);
        // 40 below the span of 50, identity 1: 6.02 * 8 + .499 = 48.66.
        assert_eq!(mapping_quality(&short, &perfect(40, 40), None, 33), 48);
        // The same with an actual second score of 32: 3 less.
        assert_eq!(mapping_quality(&short, &perfect(40, 40), Some(32), 32), 45);
        assert_eq!(mapping_quality(&short, &perfect(40, 40), Some(40), 32), 0, "two equal places");
        assert_eq!(
            mapping_quality(&short, &perfect(20, 20), None, 20),
            6,
            "nothing from 20 up, so 19 may be"
        );
        assert_eq!(mapping_quality(&short, &perfect(150, 150), None, 120), 60, "clamped");
        // l = 100, score 90 (2 mismatches): identity = 1 - 10/5/100 = .98, t = .9604 * .8495 = .8159,
        // 6.02 * (90 - 80) * .6656 + .499 = 40.57; the second hit subtracts 3.
        assert_eq!(mapping_quality(&short, &perfect(100, 90), Some(80), 72), 37);
        // A lead of 1 is worth 4, minus 3 for the second.
        assert_eq!(mapping_quality(&short, &perfect(100, 90), Some(89), 72), 1);
        let long = Scoring::dna(2, 4, 4, 2);
        // 6.02 * (80 - 70) / 2 + .499 = 30.6.
        assert_eq!(mapping_quality(&long, &perfect(40, 80), Some(70), 64), 27);
    }

    /// The scores are the highest of which this is true, and the query's maximum quality needs no lower one.
    #[test]
    fn scores_below_the_least_do_not_lower_the_quality() {
        for scoring in [Scoring::dna(1, 4, 6, 1), Scoring::dna(2, 4, 4, 2).with_end_bonus(3)] {
            let (typical, match_) = (Typical::of(&scoring), scoring.max_potential());
            let bonuses = 2 * scoring.end_bonus;
            for len in [19u32, 36, 49, 50, 100, 150, 250, 1000, 15_000] {
                let perfect = match_ * len as i32;
                for lost in [0, match_, 5, 15, perfect / 20] {
                    let best = perfect - lost;
                    let least = QualityScores { typical, len, bonuses, tier: Tier::Proven }
                        .least(best + bonuses)
                        - bonuses;
                    let quality = |second| quality_of(&typical, len, best, (Some(second), 1));
                    if least > 1 {
                        assert_eq!((quality(least - 1), quality(least) < 60), (60, true), "{len}, {best}");
                        assert_eq!(quality_of(&typical, len, best, (None, least)), 60);
                    }
                }
            }
        }
        let scores = |len| {
            let typical = Typical { match_: 1, mismatch: 4 };
            QualityScores { typical, len, bonuses: 0, tier: Tier::Proven }
        };
        let anchored = |len, best| scores(len).anchored().least(best);
        let of = |len, best| scores(len).least(best);
        // (63 - .499) / (6.02 * (ln 50 / ln 150)^2) = 17.05.
        assert_eq!([of(150, 150), of(150, 135), of(100, 100), of(30, 30)], [133, 117, 86, 20]);
        // (33 - .499) / (6.02 * (ln 50 / ln 150)^2) = 8.87.
        assert_eq!([anchored(150, 150), anchored(30, 30)], [142, 25]);
        assert!(of(150, -600) < -1_000_000_000, "no score is enough at an identity of 0");
    }

    #[test]
    fn mapping_quality_of_odd_scores_stays_in_range() {
        let matrix = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        assert_eq!(Typical::of(&matrix), Typical { match_: 6, mismatch: 4 });
        for scoring in [matrix, Scoring::dna(1, 0, 0, 1), Scoring::dna(1 << 20, 1, 0, 1)] {
            for len in [1, 2, 49, 50, 51, 1_000_000] {
                for score in [1, 60, 1 << 29] {
                    for second in [None, Some(1), Some(score)] {
                        let alignment = spanning(score, smallvec![(len, PathOp::Match)]);
                        assert!(mapping_quality(&scoring, &alignment, second, i32::MIN) <= 60);
                    }
                }
            }
        }
    }
}
