//! Scores without end bonuses, as they are reported (docs/algorithm.md, section 27).
//!
//! A search ranks alignments by their scores with end bonuses. The reported score of an alignment leaves its bonuses out.
//! The second score and the threshold are lowered by the bonuses of the best alignment, so that their distances to its
//! score stay the same.

use crate::align::hits::Scope;
use crate::terms::alignment::{Found, Strand, Supplementary};
use crate::terms::casts::to_u32;
use rayon::prelude::*;

/// Takes the end bonuses out of the scores of each record's hits. Hits that then score less than the minimum score are
/// removed, and so are supplementary hits that score less than `split_score`.
pub fn leave_out(scope: &Scope, split_score: i32, found: &mut [Found]) {
    let end_bonus = scope.batch.scoring.end_bonus;
    if end_bonus == 0 {
        return;
    }
    let least = scope.tiers.map_or(scope.rules.min_score, |tiers| tiers.least);
    found.par_iter_mut().enumerate().for_each(|(record, found)| {
        let query = scope.layout.query(to_u32(record), Strand::Forward);
        leave_out_of(found, to_u32(scope.batch.query(query).len()), (end_bonus, [least, split_score]));
    });
}

/// Takes the end bonuses out of the scores of the hits of a query of `len` residues.
fn leave_out_of(found: &mut Found, len: u32, (end_bonus, [least, split_score]): (i32, [i32; 2])) {
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
    }
    found.alignments.retain(|alignment| alignment.score >= least);
    found.supplementary.retain(|piece| piece.is_piece_of_first || piece.alignment.score >= split_score);
}
