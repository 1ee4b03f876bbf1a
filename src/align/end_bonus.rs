//! Scores without end bonuses, as they are reported (docs/algorithm.md, section 27).
//!
//! A search ranks alignments by their scores with end bonuses. The reported score of an alignment leaves its bonuses out.
//! The second score and the threshold are lowered by the bonuses of the best alignment, so that their distances to its
//! score stay the same.

use crate::align::hits::SearchInput;
use crate::terms::alignment::{QueryResult, Strand, Supplementary, Tier};
use crate::terms::casts::to_u32;
use rayon::prelude::*;

/// Minimum scores of reported hits.
#[derive(Clone, Copy, Debug)]
pub struct ReportedScores {
    pub min_score: i32,
    /// Of hits of the second tier.
    pub anchored: i32,
    /// Of supplementary hits.
    pub supplementary: i32,
    /// Of mates in the window of their mate's hit.
    pub rescued: Option<i32>,
}

impl ReportedScores {
    /// The minimum scores of a search for single queries.
    pub fn of(scope: &SearchInput) -> ReportedScores {
        let min_score = scope.rules.min_score;
        let anchored = scope.tiers.map_or(min_score, |tiers| tiers.least);
        ReportedScores { min_score, anchored, supplementary: 0, rescued: None }
    }
}

/// Takes the end bonuses out of the scores of the hits that a search found for each record.
pub fn leave_out(scope: &SearchInput, scores: ReportedScores, found: &mut [QueryResult]) {
    let len = |record| scope.batch.query(scope.layout.query(to_u32(record), Strand::Forward)).len();
    leave_out_of_queries(scope.batch.scoring.end_bonus, scores, found, len);
}

/// Takes the end bonuses out of the scores of each query's hits. Hits that then score less than the minimum score are
/// removed. `len` gives the residues of a query.
pub fn leave_out_of_queries(
    end_bonus: i32,
    scores: ReportedScores,
    found: &mut [QueryResult],
    len: impl Fn(usize) -> usize + Sync,
) {
    if end_bonus == 0 {
        return;
    }
    found.par_iter_mut().enumerate().for_each(|(query, found)| {
        let least = match (found.mated.and_then(|mated| mated.insert), scores.rescued) {
            (Some(_), Some(rescued)) => rescued.min(scores.min_score),
            _ if found.tier == Tier::Anchored => scores.anchored,
            _ => scores.min_score,
        };
        leave_out_of(found, to_u32(len(query)), end_bonus, [least, scores.supplementary]);
    });
}

/// Takes the end bonuses out of the scores of the hits of a query of `len` residues.
fn leave_out_of(found: &mut QueryResult, len: u32, end_bonus: i32, [least, of_supplementary]: [i32; 2]) {
    let Some(best) = found.alignments.first() else { return };
    let bonus = best.bonus(len, end_bonus);
    found.second = found.second.map(|second| second - bonus);
    found.threshold -= bonus;
    for alignment in &mut found.alignments {
        alignment.score -= alignment.bonus(len, end_bonus);
    }
    for Supplementary { alignment, second, .. } in &mut found.supplementary {
        let bonus = alignment.bonus(len, end_bonus);
        alignment.score -= bonus;
        *second = second.map(|second| second - bonus);
    }
    if found.alignments[0].score < least {
        found.alignments.clear();
        found.supplementary.clear();
        found.quality = found.quality.map(|_| 0);
    }
    found.alignments.retain(|alignment| alignment.score >= least);
    let counts = |piece: &Supplementary| piece.is_piece_of_first || piece.alignment.score >= of_supplementary;
    found.supplementary.retain(counts);
}
