//! Paths without gaps, found without directions.
//!
//! Let r(k) be what is left of a hit's score after the k last cells of the diagonal through its end
//! are taken off. If r becomes 0, then that stretch is the path: H of each of its cells is r (it is
//! at least r, since a path along the diagonal has it, and not more, or the hit would score more), so
//! that the traceback, which prefers the diagonal and stops at the first cell whose H is 0, takes it.

use super::{Wanted, rescored};
use crate::terms::alignment::{Alignment, Op};
use crate::terms::batch::Batch;
use crate::terms::casts::{to_i64, to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;

/// Cells that are passed at once where the path can't begin among them.
const STRIDE: usize = 16;

/// The alignment, if its path has no gap and is seen to have none.
pub fn ungapped(batch: &Batch, wanted: &Wanted) -> Result<Option<Alignment>, EngineError> {
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
    rescored(std::iter::once((to_u32(len), Op::Match)), batch, wanted).map(Some)
}

/// The same in modes other than local: the diagonal as far as it goes, if an alignment may begin there, and if it has the
/// score. Then each of its cells has what the cells before it sum up to, and the traceback, which prefers the diagonal,
/// takes it.
fn whole_diagonal(
    batch: &Batch,
    wanted: &Wanted,
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
    rescored(std::iter::once((to_u32(len), Op::Match)), batch, wanted).map(Some)
}

/// Cells of the diagonal that ends with both sequences, up to the cell that brings their sum to `score`. An error where
/// the cells before it bring the sum above: then the hit is not what it claims to be. `None` where the sum stays below,
/// or where the diagonal is bad at the last place that a path of this score must reach: beyond a gap it pairs residues
/// that don't belong together.
fn diagonal_length(query: &[u8], target: &[u8], score: i32, scoring: &Scoring) -> Option<Result<usize, i64>> {
    let most = query.len().min(target.len());
    let (query, target) = (&query[query.len() - most..], &target[target.len() - most..]);
    let best = i64::from(scoring.max_potential()).max(1);
    let least = to_usize(i64::from(score) / best);
    if (2 * STRIDE..=most).contains(&least) {
        let range = most - least..most - least + STRIDE;
        if scoring.score_all(&query[range.clone()], &target[range]) < -best * to_i64(STRIDE) / 2 {
            return None;
        }
    }
    let (mut left, mut len) = (i64::from(score), 0);
    // The sum can't be reached within a stride that would need more than it can have.
    while left > best * to_i64(STRIDE) && len + STRIDE <= most {
        let range = most - len - STRIDE..most - len;
        left -= scoring.score_all(&query[range.clone()], &target[range]);
        len += STRIDE;
        // Not even the best residues alone are enough any more.
        if left > best * to_i64(most - len) {
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
        // Nothing else on the diagonal belongs together, which does not matter to a path as short as this.
        let mut other: Vec<u8> = long.iter().map(|code| code ^ 1).collect();
        other[80..].copy_from_slice(&long[80..]);
        assert_eq!(length(&long, &other, 20), Some(Some(20)));
        assert_eq!(length(&long, &other, 80), None);
        // Behind the mismatch nothing makes up for it.
        assert_eq!(length(&long[48..], &changed[48..], 49), Some(Some(49)));
    }
}
