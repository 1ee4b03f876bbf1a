//! Cuts paths whose running score falls too far.
//!
//! An optimal path crosses an inversion or a replaced stretch if the part after it scores more than the crossing costs.
//! There the running score falls by hundreds. As in ksw2 (Li 2018, doi:10.1093/bioinformatics/bty191), only the fall
//! beyond the cost of a gap between the two diagonals counts, so that a long insertion or deletion cuts nothing.

use crate::terms::alignment::{Alignment, PathOp, PathRun, PathRuns, push_run};
use crate::terms::casts::{to_i32, to_u32};
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
        let mut now = PathCell { step: 0, score: 0, diagonal: 0 };
        for PathRun { op, len, query, target } in alignment.runs() {
            let (rows, columns) = op.consumed(1);
            let cost = |len: usize| if len == 0 { 0 } else { self.scoring.gap_cost(len) };
            for at in 0..len as usize {
                now.score += match op {
                    PathOp::Match => i64::from(
                        self.scoring.score(self.query[query.start + at], self.target[target.start + at]),
                    ),
                    PathOp::Insertion | PathOp::Deletion => cost(at) - cost(at + 1),
                };
                now.step += 1;
                now.diagonal += i64::from(rows) - i64::from(columns);
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
    let mut step = 0u64;
    let mut cut = Alignment { score: to_i32(score), cigar: PathRuns::new(), ..alignment.clone() };
    for PathRun { op, len, query, target } in alignment.runs() {
        let behind = step + u64::from(len);
        let [first, end] = [from, to].map(|place| to_u32(place.clamp(step, behind) - step));
        step = behind;
        if first < end {
            let places = |len| {
                let (rows, columns) = op.consumed(len);
                (to_u32(query.start) + rows, to_u32(target.start) + columns)
            };
            if cut.cigar.is_empty() {
                (cut.query_start, cut.target_start) = places(first);
            }
            push_run(&mut cut.cigar, end - first, op);
            (cut.query_end, cut.target_end) = places(end);
        }
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
            shifts: Box::default(),
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
