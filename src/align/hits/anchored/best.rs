//! The best local alignment that contains an exact run.
//!
//! An alignment is *anchored* if it contains `anchor` consecutive columns in which the query and the target have the
//! same base. The recurrence has two layers (docs/algorithm.md, section 24). H, E, F are defined as for local
//! alignments. A, D, I are the same for anchored alignments: layer 2 is entered where a run ends.
//!
//! ```text
//! R(i,j) = R(i-1,j-1) + 1 if q_i = t_j, else 0
//! A(i,j) = max(A(i-1,j-1) + s(q_i,t_j), D(i,j), I(i,j), H(i-k,j-k) + k*match if R(i,j) >= k)
//! D(i,j) = max(D(i,j-1), A(i,j-1) - open) - ext
//! I(i,j) = max(I(i-1,j), A(i-1,j) - open) - ext
//! ```
//!
//! Each piece of the gap costs has its own E, F, D and I.

use crate::align::candidates::runs::are_equal;
use crate::terms::alignment::{Alignment, ColumnOp, HitEnd, PathOp, PathRuns, push_run};
use crate::terms::bounds::longest_span;
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::scoring::{GapPiece, Scoring, with_pieces};

/// Lower than every score, with a margin for subtractions.
const NONE: i32 = i32::MIN / 2;

/// A local alignment within a stretch of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchoredAlignment {
    /// Last cell; columns count from the start of the stretch.
    pub hit: HitEnd,
    pub query_start: u32,
    pub target_start: u32,
    pub cigar: PathRuns,
}

/// Input of an alignment: a query and a stretch of a target.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    pub query: &'a [u8],
    pub target: &'a [u8],
    pub scoring: &'a Scoring,
    /// Minimum number of columns of an exact run; above 0.
    pub anchor: usize,
}

/// Score of a run of matches of these query residues.
fn run_score(scoring: &Scoring, query: &[u8]) -> i32 {
    to_i32(query.len()) * scoring.max_potential() + scoring.bonuses(query)
}

/// Whether an alignment contains an exact run.
pub fn has_run(sides: &Sides, alignment: &Alignment) -> bool {
    let mut is_found = false;
    let aligned = alignment.aligned_residues(sides.target);
    alignment.for_each_piece((sides.query, aligned), are_equal, |piece| {
        is_found |= piece.op == ColumnOp::Equal && piece.columns() >= sides.anchor;
    });
    is_found
}

/// Lengthens a gap that is in each piece of the gap costs by one residue, or opens it where `from` is the value of the
/// cell. Returns the highest value.
#[inline(always)]
fn lengthen<const PIECES: usize>(gaps: &mut [i32; PIECES], from: i32, pieces: &[GapPiece; PIECES]) -> i32 {
    let mut most = NONE;
    for (gap, piece) in gaps.iter_mut().zip(pieces) {
        *gap = (*gap).max(from - piece.open) - piece.extend;
        most = most.max(*gap);
    }
    most
}

/// Best anchored alignment that scores at least `least` and ends after column `own`. Among equal scores, the alignment
/// that ends in the smallest column, then in the smallest row.
pub fn best(sides: &Sides, own: usize, least: i32) -> Option<AnchoredAlignment> {
    with_pieces!(sides.scoring.gaps(), PIECES => best_under::<PIECES>(sides, own, least))
}

fn best_under<const PIECES: usize>(sides: &Sides, own: usize, least: i32) -> Option<AnchoredAlignment> {
    let hit = best_hit::<PIECES>(sides, own).filter(|hit| hit.score >= least)?;
    // An alignment with this score and end covers no more columns.
    let span = longest_span(sides.query, hit.score.max(1), sides.scoring) as usize;
    let begin = (hit.target_end as usize).saturating_sub(span);
    let columns = &sides.target[begin..hit.target_end as usize];
    let found = Matrices::<PIECES>::new(&Sides { target: columns, ..*sides })
        .path(hit.score, hit.query_end as usize)?;
    Some(AnchoredAlignment { hit, target_start: found.target_start + to_u32(begin), ..found })
}

/// The last cell of the best anchored alignment.
fn best_hit<const PIECES: usize>(sides: &Sides, own: usize) -> Option<HitEnd> {
    let Sides { query, target, scoring, anchor } = *sides;
    let rows = query.len();
    let run_score = |i: usize| run_score(scoring, &query[i - anchor..i]);
    let pieces = scoring.gaps().array::<PIECES>();
    // The previous columns, as many as a run has. The last one is directly before the current column.
    let mut h = vec![vec![0i32; rows + 1]; anchor + 1];
    let (mut e, mut d) = (vec![[NONE; PIECES]; rows + 1], vec![[NONE; PIECES]; rows + 1]);
    let mut a = vec![NONE; rows + 1];
    let mut run = vec![0u32; rows + 1];
    let mut best: Option<HitEnd> = None;
    for (j, &base) in target.iter().enumerate() {
        let (before, now) = (j % (anchor + 1), (j + 1) % (anchor + 1));
        // Column j + 1 - anchor.
        let entered = (j + 2) % (anchor + 1);
        let (mut f, mut i_gap) = ([NONE; PIECES], [NONE; PIECES]);
        let (mut a_diagonal, mut run_diagonal) = (a[0], run[0]);
        let mut h_now = std::mem::take(&mut h[now]);
        h_now[0] = 0;
        for i in 1..=rows {
            let score = scoring.score(query[i - 1], base);
            let h_before = &h[before];
            let deleted = lengthen(&mut e[i], h_before[i], &pieces);
            let inserted = lengthen(&mut f, h_now[i - 1], &pieces);
            let runs = if are_equal(query[i - 1], base) { run_diagonal + 1 } else { 0 };
            let anchored_gap = lengthen(&mut d[i], a[i], &pieces);
            // A of this column's row above is in `a[i - 1]` by now.
            let anchored_gap = anchored_gap.max(lengthen(&mut i_gap, a[i - 1], &pieces));
            let entry = match runs as usize >= anchor {
                true => h[entered][i - anchor] + run_score(i),
                false => NONE,
            };
            let anchored = (a_diagonal + score).max(anchored_gap).max(entry).max(NONE);
            h_now[i] = (h_before[i - 1] + score).max(deleted).max(inserted).max(0);
            (a_diagonal, a[i]) = (a[i], anchored);
            (run_diagonal, run[i]) = (run[i], runs);
            if j + 1 > own && anchored > best.map_or(0, |best| best.score) {
                best = Some(HitEnd { score: anchored, query_end: to_u32(i), target_end: to_u32(j) + 1 });
            }
        }
        h[now] = h_now;
    }
    best
}

/// All cells of a stretch. The alignment ends in its last column.
struct Matrices<'a, const PIECES: usize> {
    sides: Sides<'a>,
    columns: usize,
    h: Vec<i32>,
    e: Vec<[i32; PIECES]>,
    f: Vec<[i32; PIECES]>,
    a: Vec<i32>,
    d: Vec<[i32; PIECES]>,
    i: Vec<[i32; PIECES]>,
    run: Vec<u32>,
}

/// The gap that the traceback is in, with the number of its piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GapState {
    Cell,
    Deletion(usize),
    Insertion(usize),
}

impl<'a, const PIECES: usize> Matrices<'a, PIECES> {
    fn new(sides: &Sides<'a>) -> Matrices<'a, PIECES> {
        let Sides { query, target, scoring, anchor } = *sides;
        let columns = target.len() + 1;
        let cells = (query.len() + 1) * columns;
        let none = || vec![[NONE; PIECES]; cells];
        let (mut h, mut a) = (vec![0; cells], vec![NONE; cells]);
        let (mut e, mut f, mut d, mut i) = (none(), none(), none(), none());
        let mut run = vec![0u32; cells];
        let pieces = scoring.gaps().array::<PIECES>();
        let run_score = |row: usize| run_score(scoring, &query[row - anchor..row]);
        for row in 1..=query.len() {
            for column in 1..columns {
                let at = row * columns + column;
                let (left, above, diagonal) = (at - 1, at - columns, at - columns - 1);
                let score = scoring.score(query[row - 1], target[column - 1]);
                let next = |gaps: &mut [[i32; PIECES]], cells: &[i32], before: usize| {
                    gaps[at] = gaps[before];
                    lengthen(&mut gaps[at], cells[before], &pieces)
                };
                let gap = next(&mut e, &h, left).max(next(&mut f, &h, above));
                h[at] = (h[diagonal] + score).max(gap).max(0);
                run[at] = if are_equal(query[row - 1], target[column - 1]) { run[diagonal] + 1 } else { 0 };
                let gap = next(&mut d, &a, left).max(next(&mut i, &a, above));
                let entry = match run[at] as usize >= anchor {
                    true => h[at - anchor * (columns + 1)] + run_score(row),
                    false => NONE,
                };
                a[at] = (a[diagonal] + score).max(gap).max(entry).max(NONE);
            }
        }
        Matrices { sides: *sides, columns, h, e, f, a, d, i, run }
    }

    /// Whether an anchored alignment scores `score` and ends in this cell, followed by the last `held` columns of a
    /// run.
    fn is_possible(&self, (row, column): (usize, usize), held: usize, score: i32) -> bool {
        let at = row * self.columns + column;
        let missing = self.sides.anchor.saturating_sub(held);
        let Sides { query, scoring, .. } = self.sides;
        let completes = || {
            held > 0
                && self.run[at] as usize >= missing
                && self.h[at - missing * (self.columns + 1)] + run_score(scoring, &query[row - missing..row])
                    == score
        };
        self.a[at] == score || completes()
    }

    /// The alignment of this score that ends in the last column and after `row` rows. If there are several, the choice
    /// is that of a traceback that prefers the diagonal, then a deletion, then an insertion, among gaps of one kind the
    /// first piece, closes gaps as early as possible, and stops as soon as possible.
    fn path(&self, score: i32, row: usize) -> Option<AnchoredAlignment> {
        let scoring = self.sides.scoring;
        let pieces = scoring.gaps().array::<PIECES>();
        let piece_of = |gaps: &[i32; PIECES], score: i32| gaps.iter().position(|&gap| gap == score);
        let (mut row, mut column) = (row, self.columns - 1);
        let end = HitEnd { score, query_end: to_u32(row), target_end: to_u32(column) };
        let (mut left, mut is_anchored, mut held, mut state) = (score, false, 0, GapState::Cell);
        let mut cigar = PathRuns::new();
        loop {
            let at = row * self.columns + column;
            match state {
                GapState::Cell if is_anchored && left == 0 => break,
                GapState::Cell => {
                    let rest = (row > 0 && column > 0).then(|| {
                        let (one, other) = (self.sides.query[row - 1], self.sides.target[column - 1]);
                        let held = if are_equal(one, other) { held + 1 } else { 0 };
                        (left - scoring.score(one, other), held)
                    });
                    let diagonal = rest.filter(|&(rest, held)| {
                        let before = (row - 1, column - 1);
                        match is_anchored || held >= self.sides.anchor {
                            true => self.h[before.0 * self.columns + before.1] == rest,
                            false => self.is_possible(before, held, rest),
                        }
                    });
                    let (deletions, insertions) =
                        if is_anchored { (&self.e, &self.f) } else { (&self.d, &self.i) };
                    if let Some((rest, now)) = diagonal {
                        is_anchored |= now >= self.sides.anchor;
                        (left, held, row, column) = (rest, now, row - 1, column - 1);
                        push_run(&mut cigar, 1, PathOp::Match);
                    } else if let Some(piece) = piece_of(&deletions[at], left) {
                        state = GapState::Deletion(piece);
                    } else {
                        state = GapState::Insertion(piece_of(&insertions[at], left)?);
                    }
                }
                GapState::Deletion(piece) => {
                    let GapPiece { open, extend } = pieces[piece];
                    push_run(&mut cigar, 1, PathOp::Deletion);
                    column = column.checked_sub(1)?;
                    let cells = if is_anchored { &self.h } else { &self.a };
                    let closes = cells[at - 1] - open - extend == left;
                    left += extend + if closes { open } else { 0 };
                    (state, held) = (if closes { GapState::Cell } else { state }, 0);
                }
                GapState::Insertion(piece) => {
                    let GapPiece { open, extend } = pieces[piece];
                    push_run(&mut cigar, 1, PathOp::Insertion);
                    row = row.checked_sub(1)?;
                    let cells = if is_anchored { &self.h } else { &self.a };
                    let closes = cells[at - self.columns] - open - extend == left;
                    left += extend + if closes { open } else { 0 };
                    (state, held) = (if closes { GapState::Cell } else { state }, 0);
                }
            }
        }
        cigar.reverse();
        Some(AnchoredAlignment { hit: end, query_start: to_u32(row), target_start: to_u32(column), cigar })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::{PathRun, Strand};
    use crate::terms::random::Random;

    /// H of all cells.
    fn heights(sides: &Sides) -> Vec<i32> {
        with_pieces!(sides.scoring.gaps(), PIECES => Matrices::<PIECES>::new(sides).h)
    }

    /// The best score of an anchored alignment, by all ways to cut it at a run: the best alignment up to the run, the
    /// run, and the best alignment after it.
    fn by_definition(sides: &Sides) -> i32 {
        let ends = |query: &[u8], target: &[u8]| {
            // H without its floor in the last cell only: the alignment before a run may be empty.
            *heights(&Sides { query, target, ..*sides }).last().unwrap()
        };
        let turned = |codes: &[u8]| codes.iter().rev().copied().collect::<Vec<u8>>();
        let (rows, columns) = (sides.query.len(), sides.target.len());
        let mut best = 0;
        for i in 0..=rows.saturating_sub(sides.anchor) {
            for j in 0..=columns.saturating_sub(sides.anchor) {
                let (to, until) = (i + sides.anchor, j + sides.anchor);
                if to > rows || until > columns {
                    continue;
                }
                let is_run = sides.query[i..to]
                    .iter()
                    .zip(&sides.target[j..until])
                    .all(|(&one, &other)| are_equal(one, other));
                if is_run {
                    let before = ends(&sides.query[..i], &sides.target[..j]);
                    let behind = ends(&turned(&sides.query[to..]), &turned(&sides.target[until..]));
                    best = best.max(before + behind + sides.anchor as i32 * sides.scoring.max_potential());
                }
            }
        }
        best
    }

    fn alignment(found: &AnchoredAlignment) -> Alignment {
        let AnchoredAlignment { hit, query_start, target_start, ref cigar } = *found;
        let HitEnd { score, query_end, target_end } = hit;
        let (strand, cigar) = (Strand::Forward, cigar.clone());
        Alignment {
            strand,
            target: 0,
            score,
            query_start,
            query_end,
            target_start,
            target_end,
            cigar,
            shifts: Box::default(),
        }
    }

    /// Score and ends of a path.
    fn rescored(sides: &Sides, found: &AnchoredAlignment) -> (i32, u32, u32) {
        let (mut i, mut j, mut score) = (found.query_start, found.target_start, 0);
        for PathRun { op, len, query, target } in alignment(found).runs() {
            (i, j) = (to_u32(query.end), to_u32(target.end));
            score += match op {
                PathOp::Match => sides.scoring.score_all(&sides.query[query], &sides.target[target]) as i32,
                PathOp::Insertion | PathOp::Deletion => -(sides.scoring.gap_cost(len as usize) as i32),
            };
        }
        (score, i, j)
    }

    #[test]
    fn the_best_that_contains_a_run() {
        let mut numbers = Random::new(41);
        let mut below = |bound: u64| numbers.below(bound as usize) as u64;
        let mut unlike = 0;
        for round in 0..600 {
            let letters = [2, 3, 4, 5][round % 4];
            let mut codes = |len: u64| (0..len).map(|_| below(letters) as u8).collect::<Vec<u8>>();
            let (query, target) = (codes(1 + round as u64 % 29), codes(1 + round as u64 % 37));
            let scoring = [
                Scoring::dna(1, 4, 6, 1),
                Scoring::dna(2, 4, 4, 2),
                Scoring::dna(1, 1, 0, 2),
                Scoring::dna(3, 1, 1, 1),
                Scoring::dna(2, 4, 4, 2).with_gap_piece(7, 1).unwrap(),
                Scoring::dna(3, 4, 0, 5).with_gap_piece(6, 1).unwrap(),
            ][round / 4 % 6]
                .clone();
            for anchor in [1, 2, 4, 7] {
                let sides = Sides { query: &query, target: &target, scoring: &scoring, anchor };
                let found = best(&sides, 0, 1);
                assert_eq!(
                    found.as_ref().map_or(0, |found| found.hit.score),
                    by_definition(&sides),
                    "round {round}"
                );
                let Some(found) = found else { continue };
                let (score, i, j) = rescored(&sides, &found);
                assert_eq!(
                    HitEnd { score, query_end: i, target_end: j },
                    found.hit,
                    "round {round}, {found:?}"
                );
                assert!(has_run(&sides, &alignment(&found)));
                // More columns on both sides change only its position.
                let wider = [&[4; 3][..], &target, &[4; 5]].concat();
                let elsewhere = best(&Sides { target: &wider, ..sides }, 0, 1).unwrap();
                assert_eq!(
                    (&elsewhere.cigar, elsewhere.target_start),
                    (&found.cigar, found.target_start + 3)
                );
                // Only ends after column `own` count.
                let own = found.hit.target_end as usize;
                let later = best(&sides, own, 1);
                assert!(later.is_none_or(
                    |later| later.hit.score <= found.hit.score && later.hit.target_end as usize > own
                ));
                unlike += usize::from(heights(&sides).iter().max() != Some(&found.hit.score));
            }
        }
        assert!(unlike > 5, "runs decide: {unlike}");
    }

    /// If the best local alignment contains a run, it is the best anchored alignment, including its path.
    #[test]
    fn a_long_run_changes_nothing() {
        let query = [0u8, 1, 2, 3, 3, 1, 0, 2, 1, 1, 0, 3];
        let target = [3u8, 3, 0, 1, 2, 3, 0, 3, 1, 0, 2, 1, 1, 0, 3, 2];
        let scoring = Scoring::dna(2, 4, 4, 2);
        let sides = Sides { query: &query, target: &target, scoring: &scoring, anchor: 6 };
        let found = best(&sides, 0, 1).unwrap();
        let cigar: PathRuns =
            [(4, PathOp::Match), (1, PathOp::Deletion), (8, PathOp::Match)].into_iter().collect();
        assert_eq!((found.hit.score, found.query_start, found.target_start), (18, 0, 2));
        assert_eq!(found.cigar, cigar);
    }
}
