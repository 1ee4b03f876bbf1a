//! Ungapped paths, found without a direction matrix.
//!
//! Let r(k) be the hit's score minus the scores of the last k cells on the diagonal through its end. If r(k) becomes 0,
//! these k cells are the path. For each smaller k, the cell before the last k cells has H = r(k): H is not lower, since
//! the path along the diagonal scores r(k), and not higher, or the hit would score more. The traceback prefers the
//! diagonal and stops at the first cell with H = 0, so it follows exactly these cells.

use super::{WantedPath, rescored};
use crate::terms::alignment::{Alignment, PathOp};
use crate::terms::batch::Batch;
use crate::terms::casts::{to_i64, to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;

/// Number of cells that are skipped at once if the path cannot begin among them.
const STRIDE: usize = 16;

/// The alignment, if its path is recognized as ungapped.
pub fn ungapped(batch: &Batch, wanted: &WantedPath) -> Result<Option<Alignment>, EngineError> {
    let window = &wanted.window;
    let query = &batch.query(window.query)[..window.query_end as usize];
    let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
    if !batch.scoring.mode.is_local() {
        return whole_diagonal(batch, wanted, query, target);
    }
    let len = match diagonal_length(query, target, wanted.score, &batch.scoring) {
        None => return Ok(None),
        Some(Ok(len)) => len,
        Some(Err(more)) => {
            let problem = format!("a path scores {more} more than the {} of its hit", wanted.score);
            return Err(EngineError::Wrong(problem));
        }
    };
    rescored(std::iter::once((to_u32(len), PathOp::Match)), batch, wanted).map(Some)
}

/// Tries the whole diagonal in modes other than local: an alignment must be allowed to begin at its first cell, and its
/// sum must equal the score. Then H of each cell is the sum up to it, and the traceback, which prefers the diagonal,
/// follows it.
fn whole_diagonal(
    batch: &Batch,
    wanted: &WantedPath,
    query: &[u8],
    target: &[u8],
) -> Result<Option<Alignment>, EngineError> {
    let len = query.len().min(target.len());
    let (row, col) = (query.len() - len, target.len() - len);
    if !batch.scoring.mode.may_begin(row, wanted.window.start as usize + col)
        || batch.scoring.score_all(&query[row..], &target[col..]) != i64::from(wanted.score)
    {
        return Ok(None);
    }
    rescored(std::iter::once((to_u32(len), PathOp::Match)), batch, wanted).map(Some)
}

/// Number of cells, counted from the end of both sequences along the diagonal, whose sum is `score`. Returns an error
/// if the sum exceeds the score first, since the hit then does not have the score it claims. Returns `None` if the sum
/// stays below, or if the diagonal scores badly in the farthest stretch that a path of this score must reach: beyond a
/// gap, the diagonal pairs unrelated residues.
fn diagonal_length(query: &[u8], target: &[u8], score: i32, scoring: &Scoring) -> Option<Result<usize, i64>> {
    let most = query.len().min(target.len());
    let (query, target) = (&query[query.len() - most..], &target[target.len() - most..]);
    let best = i64::from(scoring.max_potential()).max(1);
    let bonus = query.first().map_or(0, |&code| i64::from(scoring.bonus(code)));
    let least = to_usize(i64::from(score) / best);
    if (2 * STRIDE..=most).contains(&least) {
        let range = most - least..most - least + STRIDE;
        if scoring.score_all(&query[range.clone()], &target[range]) < -best * to_i64(STRIDE) / 2 {
            return None;
        }
    }
    let (mut left, mut len) = (i64::from(score), 0);
    // A stride cannot reach the sum if it needs more than the maximum score of its cells.
    while left > best * to_i64(STRIDE) && len + STRIDE <= most {
        let range = most - len - STRIDE..most - len;
        left -= scoring.score_all(&query[range.clone()], &target[range]);
        len += STRIDE;
        // Even a perfect rest of the diagonal is not enough.
        if left > best * to_i64(most - len) + bonus {
            return None;
        }
    }
    let mut pairs = query[..most - len].iter().zip(&target[..most - len]).rev();
    let scores = || pairs.next().map(|(&q, &t)| i64::from(scoring.score(q, t)));
    let mut scores = std::iter::from_fn(scores);
    while left > 0 {
        left -= scores.next()?;
        len += 1;
    }
    let mut sum = -left;
    let most = scores.fold(sum, |most, score| {
        sum += score;
        most.max(sum)
    });
    Some(if most > 0 { Err(most) } else { Ok(len) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_by_hand() {
        let scoring = Scoring::dna(1, 4, 6, 1);
        let length = |query: &[u8], target: &[u8], score| {
            diagonal_length(query, target, score, &scoring).map(|length| length.ok())
        };
        assert_eq!(length(&[0, 1, 2], &[3, 0, 1, 2], 3), Some(Some(3)));
        assert_eq!(length(&[0, 1, 2], &[3, 0, 1, 2], 2), Some(None), "it is worth 3");
        assert_eq!(length(&[0, 1, 2], &[1, 2], 3), None);
        assert_eq!(length(&[14, 14], &[14, 14], 1), None, "N matches nothing");
        let long: Vec<u8> = (0..100u32).map(|k| (k * k % 7 % 4) as u8).collect();
        let mut changed = long.clone();
        changed[50] ^= 1;
        assert_eq!(length(&long, &changed, 95), Some(Some(100)));
        assert_eq!(length(&long, &changed, 96), None);
        for score in [1, 16, 49, 50, 94] {
            assert_eq!(length(&long, &changed, score), Some(None), "{score}");
        }
        for len in [1, 15, 16, 17, 33] {
            assert_eq!(length(&long[..len], &long[..len], len as i32), Some(Some(len)));
        }
        // The rest of the diagonal is unrelated, which does not affect a path as short as this one.
        let mut other: Vec<u8> = long.iter().map(|code| code ^ 1).collect();
        other[80..].copy_from_slice(&long[80..]);
        assert_eq!(length(&long, &other, 20), Some(Some(20)));
        assert_eq!(length(&long, &other, 80), None);
        // No residues after the mismatch compensate for it.
        assert_eq!(length(&long[48..], &changed[48..], 49), Some(Some(49)));
    }
}
