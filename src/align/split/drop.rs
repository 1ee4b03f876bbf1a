//! Cuts paths whose running score falls too far.
//!
//! An optimal path crosses an inversion or a replaced stretch if the part after it scores more than the crossing costs.
//! There the running score falls by hundreds. As in ksw2 (Li 2018, doi:10.1093/bioinformatics/bty191), only the fall
//! beyond the cost of a gap between the two diagonals counts, so that a long insertion or deletion cuts nothing.

use crate::terms::alignment::{Alignment, PathOp, PathRuns, push_run};
use crate::terms::casts::{to_i32, to_i64, to_u32};
use crate::terms::scoring::Scoring;

/// Steps of a path, and their scores.
struct PathSteps<'a> {
    scoring: &'a Scoring,
    query: &'a [u8],
    target: &'a [u8],
}

/// A cell of a path, by its number of steps.
#[derive(Clone, Copy)]
struct PathCell {
    step: u64,
    score: i64,
    /// Row minus column.
    diagonal: i64,
}

impl PathCell {
    /// Fall of the score up to `now`, beyond the cost of a gap between the diagonals.
    fn fall(&self, now: &PathCell, extend: i32) -> i64 {
        self.score - now.score - i64::from(extend) * (self.diagonal - now.diagonal).abs()
    }
}

impl PathSteps<'_> {
    /// Calls `take` after each step of an alignment. A gap pays for its opening with its first step, and with each further
    /// step what one more residue costs.
    fn walk(&self, alignment: &Alignment, mut take: impl FnMut(PathCell)) {
        let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
        let mut now = PathCell { step: 0, score: 0, diagonal: 0 };
        for &(len, op) in &alignment.cigar {
            for at in 0..len {
                let cost = |len: u32| if len == 0 { 0 } else { self.scoring.gap_cost(len as usize) };
                let gap = cost(at) - cost(at + 1);
                let (score, rows, columns) = match op {
                    PathOp::Match => (i64::from(self.scoring.score(self.query[i], self.target[j])), 1, 1),
                    PathOp::Insertion => (gap, 1, 0),
                    PathOp::Deletion => (gap, 0, 1),
                };
                (i, j) = (i + rows, j + columns);
                now.step += 1;
                now.score += score;
                now.diagonal += to_i64(rows) - to_i64(columns);
                take(now);
            }
        }
    }
}

/// Best-scoring part of an alignment whose running score falls by more than `drop`. `None` if it never does. Among
/// equal parts, the first one is returned. A part ends at the maximum of its running score before the fall. The next
/// part begins at the minimum before the score rises again.
pub fn best_part(
    alignment: &Alignment,
    (query, target): (&[u8], &[u8]),
    scoring: &Scoring,
    drop: i32,
) -> Option<Alignment> {
    let steps = PathSteps { scoring, query, target };
    let begin = PathCell { step: 0, score: 0, diagonal: 0 };
    let (mut base, mut top) = (begin, begin);
    let mut best: Option<(PathCell, PathCell)> = None;
    let mut is_cut = false;
    let mut keep = |base: PathCell, top: PathCell| {
        if best.is_none_or(|(from, to)| top.score - base.score > to.score - from.score) {
            best = Some((base, top));
        }
    };
    steps.walk(alignment, |now| {
        if now.score > top.score {
            top = now;
        } else if top.fall(&now, scoring.gaps().lower_bound().extend) > i64::from(drop) {
            is_cut = true;
            keep(base, top);
            (base, top) = (now, now);
        } else if now.score <= base.score {
            // Nothing is gained so far, so the part can begin here.
            (base, top) = (now, now);
        }
    });
    keep(base, top);
    let (from, to) = best.filter(|_| is_cut)?;
    Some(part(alignment, (from.step, to.step), to.score - from.score))
}

/// The part of an alignment between two steps.
fn part(alignment: &Alignment, (from, to): (u64, u64), score: i64) -> Alignment {
    let (mut i, mut j, mut step) = (alignment.query_start, alignment.target_start, 0u64);
    let mut cut = Alignment { score: to_i32(score), cigar: PathRuns::new(), ..alignment.clone() };
    for &(len, op) in &alignment.cigar {
        let (first, behind) = (step, step + u64::from(len));
        let (rows, columns) = match op {
            PathOp::Match => (1, 1),
            PathOp::Insertion => (1, 0),
            PathOp::Deletion => (0, 1),
        };
        let skipped = to_u32(from.clamp(first, behind) - first);
        let own = to_u32(to.clamp(first, behind) - from.clamp(first, behind).min(to.clamp(first, behind)));
        if own > 0 {
            if cut.cigar.is_empty() {
                (cut.query_start, cut.target_start) = (i + skipped * rows, j + skipped * columns);
            }
            push_run(&mut cut.cigar, own, op);
            (cut.query_end, cut.target_end) = (i + (skipped + own) * rows, j + (skipped + own) * columns);
        }
        (i, j, step) = (i + len * rows, j + len * columns, behind);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::Strand;

    fn aligned(cigar: &[(u32, PathOp)]) -> Alignment {
        let span =
            |other: PathOp| cigar.iter().filter(|(_, op)| *op != other).map(|(len, _)| len).sum::<u32>();
        Alignment {
            strand: Strand::Forward,
            target: 3,
            score: 0,
            query_start: 2,
            query_end: 2 + span(PathOp::Deletion),
            target_start: 5,
            target_end: 5 + span(PathOp::Insertion),
            cigar: cigar.iter().copied().collect(),
        }
    }

    /// Sequences in which the columns of these lengths are equal, unequal, equal and so on.
    fn sides(lengths: &[usize]) -> (Vec<u8>, Vec<u8>) {
        let columns = lengths.iter().enumerate().flat_map(|(at, &len)| vec![(at % 2) as u8; len]);
        let target: Vec<u8> = columns.collect();
        ([vec![3; 2], vec![0; target.len()]].concat(), [vec![2; 5], target].concat())
    }

    #[test]
    fn paths_are_cut_where_they_fall() {
        let scoring = Scoring::dna(2, 4, 4, 2);
        let (query, target) = sides(&[300, 60, 200, 10, 100]);
        let whole = aligned(&[(670, PathOp::Match)]);
        let cut = |drop| best_part(&whole, (&query, &target), &scoring, drop);
        assert_eq!(cut(240), None, "it falls by 240");
        let first = cut(239).unwrap();
        assert_eq!((first.score, first.query_start, first.query_end), (600, 2, 302));
        assert_eq!((first.target_start, first.target_end, first.cigar.len()), (5, 305, 1));
        // Both sides of a fall of 40 are one part, unless the fall is too large.
        let (query, target) = sides(&[200, 60, 300, 10, 100]);
        let cut =
            |drop| best_part(&aligned(&[(670, PathOp::Match)]), (&query, &target), &scoring, drop).unwrap();
        assert_eq!([cut(100).score, cut(39).score], [760, 600]);
        assert_eq!((cut(100).query_start, cut(100).query_end), (262, 672));
        assert_eq!((cut(39).target_start, cut(39).target_end), (265, 565));
    }

    #[test]
    fn gaps_alone_cut_nothing() {
        let scoring = Scoring::dna(2, 4, 4, 2);
        let (query, target) = (vec![0; 700], vec![0; 2000]);
        for gap in [PathOp::Deletion, PathOp::Insertion] {
            let path = aligned(&[(100, PathOp::Match), (400, gap), (100, PathOp::Match)]);
            assert_eq!(best_part(&path, (&query, &target), &scoring, 4), None);
            let part = best_part(&path, (&query, &target), &scoring, 3).unwrap();
            assert_eq!((part.score, part.cigar.len()), (200, 1));
        }
    }
}
