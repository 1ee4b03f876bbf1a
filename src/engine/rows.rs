//! The recurrence over rows that are not residues: the positions of a profile, each with scores of its own, or the codons of a
//! strand of DNA, whose paths may change the frame (Zhang, Pearson and Miller 1997). [`crate::engine::cpu`] and the GPU
//! engine compute the same scores on vectors.
//!
//! For a profile, the recurrence is that of the front page with `s(i,t_j)` in the place of `s(q_i,t_j)`. If its positions have gap
//! costs ([`PositionGaps`](crate::terms::scoring::PositionGaps)), a deletion pays those after its position, and an insertion those
//! of each position that it skips:
//!
//! ```text
//! E(i,j+1) = max(E(i,j) - extend of after_i,       H(i,j) - first of after_i)
//! F(i+1,j) = max(F(i,j) - extend of skipped_(i+1), H(i,j) - first of skipped_(i+1))
//! ```
//!
//! For codons, code i of the query is the residue of the codon that ends with base i of the strand (`Strand::PlusCodons`), so row i is
//! the matrix after base i, and the codon before is 3 rows above. A path that leaves a base out takes 4 rows, and one that
//! reads a base twice takes 2. Both cost `frameshift`:
//!
//! ```text
//! M(i,j)   = max(H(i-3,j-1), H(i-4,j-1) - frameshift, H(i-2,j-1) - frameshift)
//! H(i,j)   = max(0, M(i,j) + s(q_i,t_j), E(i,j), F(i,j))
//! E(i,j+1) = max(E(i,j), H(i,j) - open) - extend
//! F(i+3,j) = max(F(i,j), H(i,j) - open) - extend
//! ```
//!
//! H is 0 in the rows before the first codon and in the column before the first residue. Ties go to the stop, the codon
//! after the last one, the codon after a base that is left out, the codon that reads a base twice, the deletion and the
//! insertion, in this order.

use crate::engine::Window;
use crate::engine::directions::{CellBits, CellSource, Layer};
use crate::engine::paths::{Paths, push_shift, push_steps};
use crate::engine::recurrence::decide;
use crate::terms::alignment::{CODON, HitEnd};
use crate::terms::alphabet::CODES;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{low_u8, to_u8, to_u32, to_usize};
use crate::terms::scoring::{GapPiece, Scoring};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a codon.
pub const STEP: usize = CODON as usize;
/// Rows above a cell that it may depend on.
pub const ABOVE: usize = STEP + 1;
/// Maximum number of directions of a window that are kept at once. Those of a larger window are computed again, part by
/// part.
const KEPT: usize = 1 << 24;
/// Columns of the first part of a window in which its path is sought, rows beyond those of its columns, and the factor by which
/// parts grow.
const FIRST_COLS: usize = 64;
const SPARE_ROWS: usize = 64;
const GROWTH: usize = 4;
/// Bytes of H and E of a row.
const ROW_BYTES: usize = 8;
/// The bits of a cell that say how a path comes to it; the bits below are those of [`decide`].
const STEP_SHIFT: u32 = 4;

/// How a path comes to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowStep {
    /// From the position or the codon before.
    Next,
    /// A base between the two codons is left out.
    Forward,
    /// The last base of the codon before is read again.
    Back,
}

impl RowStep {
    const ALL: [RowStep; 3] = [RowStep::Next, RowStep::Forward, RowStep::Back];

    /// Rows of the step, where `step` are those of the next row.
    fn rows(self, step: usize) -> usize {
        match self {
            RowStep::Next => step,
            RowStep::Forward => step + 1,
            RowStep::Back => step - 1,
        }
    }
}

/// H and E of each row in a column, from which the next column is computed.
#[derive(Clone)]
struct Column {
    h: Vec<i32>,
    e: Vec<i32>,
}

impl Column {
    /// The column before the first residue, of a query of this many bases.
    fn border(bases: usize, gap: GapPiece) -> Column {
        Column { h: vec![0; bases + 1], e: vec![-gap.first(); bases + 1] }
    }

    /// Computes the next column, of target residue `t`. The rows of the query are counted from `first`. `cell` receives the row, H
    /// and the direction bits of each cell.
    fn advance(
        &mut self,
        (first, query): (usize, &[u8]),
        t: u8,
        rules: RowRules,
        cell: impl FnMut(usize, i32, u8),
    ) {
        let RowRules { scoring, gap, shift } = rules;
        match (&scoring.profile, shift) {
            (Some(profile), _) => {
                let scores = profile.rows.get(first..).unwrap_or_default();
                let scores = scores.iter().map(|row| i32::from(row[usize::from(t)]));
                match profile.gaps.is_empty() {
                    true => self.advance_in::<1>(scores.map(|score| (score, [gap; 2])), gap, 0, cell),
                    false => {
                        let gaps = (first..).map(|position| profile.gaps_after(position));
                        self.advance_in::<1>(scores.zip(gaps), gap, 0, cell);
                    }
                }
            }
            (None, shift) => {
                // A look at the table for each residue costs more than this copy of its column.
                let column: [i32; CODES] = std::array::from_fn(|q| scoring.score(to_u8(q), t));
                let scores = query.iter().map(|&q| column[usize::from(q)]);
                let steps = scores.skip(STEP - 1).map(|score| (score, [gap; 2]));
                self.advance_in::<STEP>(steps, gap, shift.unwrap_or(0), cell);
            }
        }
    }

    /// Computes the next column from the score of each row, and the costs of the deletion and the insertion that leave it. The first
    /// row is row `ROWS`. A codon or a position has `ROWS` rows, and paths may change the frame of codons. No gap costs less than
    /// `gap`.
    #[inline(always)]
    fn advance_in<const ROWS: usize>(
        &mut self,
        steps: impl Iterator<Item = (i32, [GapPiece; 2])>,
        gap: GapPiece,
        shift: i32,
        mut cell: impl FnMut(usize, i32, u8),
    ) {
        // H of the last column in the rows above, the nearest row first.
        let mut above = [0; ABOVE];
        let mut f = [-gap.first(); ROWS];
        let rows = self.h.iter_mut().zip(&mut self.e).enumerate().skip(ROWS);
        for ((row, (h, e)), (score, [deletion, insertion])) in rows.zip(steps) {
            let mut best = (above[ROWS - 1], RowStep::Next);
            if ROWS > 1 {
                for step in [RowStep::Forward, RowStep::Back] {
                    let from = above[step.rows(ROWS) - 1] - shift;
                    if from > best.0 {
                        best = (from, step);
                    }
                }
            }
            let decided = decide(best.0 + score, [[*e], [f[0]]], 0, [[deletion], [insertion]]);
            above = [*h, above[0], above[1], above[2]];
            (*h, [*e]) = (decided.h, decided.e);
            f.rotate_left(1);
            [f[ROWS - 1]] = decided.f;
            cell(row, *h, low_u8(decided.bits) | (best.1 as u8) << STEP_SHIFT);
        }
    }
}

/// The scoring, and the numbers of rows, on which the recurrence depends.
#[derive(Clone, Copy)]
struct RowRules<'a> {
    scoring: &'a Scoring,
    gap: GapPiece,
    /// Cost of a change of the frame, if rows are bases and paths may change it.
    shift: Option<i32>,
}

impl RowRules<'_> {
    fn of(scoring: &Scoring) -> RowRules<'_> {
        RowRules { scoring, gap: scoring.gaps().first, shift: scoring.frameshift }
    }

    /// Rows of a residue of the query.
    fn step(&self) -> usize {
        if self.shift.is_some() { STEP } else { 1 }
    }

    /// Maximum number of rows that a residue of the target takes.
    fn longest_step(&self) -> usize {
        self.step() + usize::from(self.shift.is_some())
    }
}

/// The first best end of a pair.
pub fn best(batch: &Batch, pair: &Pair) -> HitEnd {
    let (query, rules) = (batch.query(pair.query), RowRules::of(&batch.scoring));
    let target = &batch.target(pair.target)[pair.start as usize..pair.end as usize];
    let mut column = Column::border(query.len(), rules.gap);
    let mut best = HitEnd::default();
    for (target_end, &t) in (pair.start + 1..).zip(target) {
        column.advance((0, query), t, rules, |row, h, _| {
            if h > best.score && target_end > pair.own {
                best = HitEnd { score: h, query_end: to_u32(row), target_end };
            }
        });
    }
    best
}

/// The first best ends of pairs, on all threads.
pub fn all_best(batch: &Batch, pairs: &[Pair]) -> Vec<HitEnd> {
    pairs.par_iter().map(|pair| best(batch, pair)).collect()
}

/// The path of each window. Windows with many cells follow one another, so that their memory does.
pub fn paths(batch: &Batch, windows: &[Window]) -> Paths {
    let small: Vec<Option<Vec<u32>>> =
        windows.par_iter().map(|window| path_of(batch, window, KEPT / 16, KEPT)).collect();
    let large = |window: &Window| path_of(batch, window, usize::MAX, KEPT).unwrap_or_default();
    Paths::of(
        windows.iter().zip(small).map(|(window, small)| small.unwrap_or_else(|| large(window))).collect(),
    )
}

/// The runs of a window's path, from its end: those in the smallest part of the window, of some sizes, whose best alignment that
/// ends in the last cell has the score of the window. `None` if these parts have more than `most` cells.
fn path_of(batch: &Batch, window: &Window, most: usize, kept: usize) -> Option<Vec<u32>> {
    let first = first_row(batch, window);
    let longest = RowRules::of(&batch.scoring).longest_step();
    let mut cols = FIRST_COLS;
    loop {
        let start = window.target_end.saturating_sub(to_u32(cols)).max(window.start);
        let rows = longest * cols + SPARE_ROWS;
        let row = (window.query_end as usize).saturating_sub(rows).max(first);
        let part = Window { start, ..*window };
        let is_whole = start == window.start && row == first;
        if (window.query_end as usize - row).saturating_mul(part.cols() as usize) > most {
            return None;
        }
        let (score, runs) = path_keeping(batch, &part, row..window.query_end as usize, kept);
        if is_whole || (window.score > 0 && score == window.score) {
            return Some(runs);
        }
        cols *= GROWTH;
    }
}

/// The first row that the path of a window may use. Each residue of the target takes at most `step` rows, or one more if the path
/// may change the frame. Each inserted residue takes `step` rows and the cost of a gap, which the residues of the target must earn.
fn first_row(batch: &Batch, window: &Window) -> usize {
    let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
    let scoring = &batch.scoring;
    let rules = RowRules::of(scoring);
    let most = target.iter().map(|&t| i64::from(scoring.most_against(t))).sum::<i64>();
    let inserted = to_usize(most / i64::from(scoring.gap_extend));
    let of_target = rules.longest_step().saturating_mul(target.len());
    let rows = of_target.saturating_add(rules.step().saturating_mul(inserted));
    (window.query_end as usize).saturating_sub(rows)
}

/// The score of the last cell, and the runs of its path, from its end. About `kept` directions are kept at once, or those of as
/// many columns as there are parts.
fn path_keeping(batch: &Batch, window: &Window, bases: Range<usize>, kept: usize) -> (i32, Vec<u32>) {
    let rules = RowRules::of(&batch.scoring);
    let (first, step) = (bases.start, rules.step());
    let query = &batch.query(window.query)[bases];
    let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
    let rows = query.len() + 1;
    // The fewer columns in a part, the more columns are kept between parts.
    let even = if kept < KEPT { 1 } else { (ROW_BYTES * target.len()).isqrt() };
    let cols = (kept / rows).max(even).clamp(1, target.len().max(1));
    let mut column = Column::border(query.len(), rules.gap);
    let parts: Vec<&[u8]> = target.chunks(cols).collect();
    let mut before = Vec::with_capacity(parts.len());
    for (place, part) in parts.iter().enumerate() {
        before.push(column.clone());
        if place + 1 < parts.len() {
            part.iter().for_each(|&t| column.advance((first, query), t, rules, |_, _, _| {}));
        }
    }
    let mut runs = Vec::new();
    let mut row = query.len();
    let mut layer = Layer::from(CellSource::Diagonal);
    let mut cells = vec![0u8; rows * cols.min(target.len())];
    let mut score = None;
    for (part, mut column) in parts.into_iter().zip(before).rev() {
        for (cells, &t) in cells.chunks_exact_mut(rows).zip(part) {
            cells[..step.min(rows)].fill(0);
            column.advance((first, query), t, rules, |row, _, bits| cells[row] = bits);
        }
        // The last part comes first.
        let last = *score.get_or_insert(column.h[query.len()]);
        let mut col = part.len();
        while col > 0 {
            let cell = cells[(col - 1) * rows + row];
            layer = layer.next(CellBits::from(cell & ((1 << STEP_SHIFT) - 1)));
            match layer.source {
                CellSource::Stop => return (last, runs),
                CellSource::Deletion => col -= 1,
                CellSource::Insertion => row -= step,
                CellSource::Diagonal => {
                    let from = RowStep::ALL[usize::from(cell >> STEP_SHIFT)];
                    (row, col) = (row - from.rows(step), col - 1);
                    push_steps(&mut runs, 1, layer.source);
                    match from {
                        RowStep::Next => {}
                        RowStep::Forward => push_shift(&mut runs, true),
                        RowStep::Back => push_shift(&mut runs, false),
                    }
                    continue;
                }
            }
            push_steps(&mut runs, 1, layer.source);
        }
    }
    (score.unwrap_or(0), runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::FramedRun;
    use crate::terms::alignment::PathOp;
    use crate::terms::alphabet::Alphabet;
    use crate::terms::random::Random;
    use crate::terms::scoring::{Matrix, PositionGaps, PositionScores};
    use std::sync::Arc;

    /// The best score by its definition: each predecessor of a codon and each length of a gap is tried.
    fn defined(query: &[u8], target: &[u8], scoring: &Scoring, shift: i32) -> i64 {
        let mut ends = vec![vec![0i64; target.len() + 1]; query.len() + 1];
        let mut best = 0;
        for row in STEP..=query.len() {
            for col in 1..=target.len() {
                let score = i64::from(scoring.score(query[row - 1], target[col - 1]));
                let from = |rows: usize, cost: i32| {
                    Some(ends[row.checked_sub(rows)?][col - 1] + score - i64::from(cost))
                };
                let codons =
                    [from(STEP, 0), from(STEP + 1, shift), from(STEP - 1, shift)].into_iter().flatten();
                let deletions = (1..=col).map(|gap| ends[row][col - gap] - scoring.gap_cost(gap));
                let insertions =
                    (1..=row / STEP).map(|gap| ends[row - STEP * gap][col] - scoring.gap_cost(gap));
                let all = codons.chain(deletions).chain(insertions);
                ends[row][col] = all.fold(0, i64::max);
                best = best.max(ends[row][col]);
            }
        }
        best
    }

    /// The best score of a profile by its definition: each length of a gap is tried.
    fn defined_by_positions(profile: &PositionScores, target: &[u8]) -> i64 {
        let mut ends = vec![vec![0i64; target.len() + 1]; profile.rows.len() + 1];
        let mut best = 0;
        for row in 1..ends.len() {
            for col in 1..=target.len() {
                let score = i64::from(profile.rows[row - 1][usize::from(target[col - 1])]);
                let mut all = vec![0, ends[row - 1][col - 1] + score];
                let after = profile.gaps[row - 1].after;
                all.extend((1..=col).map(|gap| ends[row][col - gap] - after.cost(gap)));
                let mut cost = 0;
                for first in (0..row).rev() {
                    let skipped = profile.gaps[first].skipped;
                    all.push(ends[first][col] - cost - i64::from(skipped.first()));
                    cost += i64::from(skipped.extend);
                }
                ends[row][col] = all.into_iter().fold(0, i64::max);
                best = best.max(ends[row][col]);
            }
        }
        best
    }

    /// The score of a path, and the row and column where it begins.
    fn walked(batch: &Batch, hit: &HitEnd, runs: impl Iterator<Item = FramedRun>) -> (i64, usize, usize) {
        let (query, target, scoring) = (batch.query(0), batch.target(0), &*batch.scoring);
        let (mut row, mut col, mut score) = (hit.query_end as usize, hit.target_end as usize, 0);
        for run in runs {
            match run {
                FramedRun::Forward => row -= 1,
                FramedRun::Back => row += 1,
                FramedRun::Run(len, PathOp::Deletion) => {
                    col -= len as usize;
                    score -= scoring.gap_cost(len as usize);
                    continue;
                }
                FramedRun::Run(len, PathOp::Insertion) => {
                    row -= STEP * len as usize;
                    score -= scoring.gap_cost(len as usize);
                    continue;
                }
                FramedRun::Run(len, PathOp::Match) => {
                    for _ in 0..len {
                        score += i64::from(scoring.score(query[row - 1], target[col - 1]));
                        (row, col) = (row - STEP, col - 1);
                    }
                    continue;
                }
            }
            score -= i64::from(scoring.frameshift.unwrap());
        }
        (score, row, col)
    }

    #[test]
    fn scores_and_paths_keep_to_the_definition() {
        let mut random = Random::new(11);
        let blosum = Matrix::named("BLOSUM62").unwrap();
        let (mut shifts, mut gaps) = (0, 0);
        for round in 0..400 {
            let (open, extend, shift) =
                (random.below(8) as i32, 1 + random.below(3) as i32, 1 + random.below(9) as i32);
            let target = random.codes(1 + round % 14, 20);
            // The codons of the target, with bases lost or added, among random ones.
            let bases = 3 + random.below(12);
            let mut query = random.codes(bases, 20);
            let mut row = random.below(query.len());
            for &t in &target {
                row += [3, 3, 3, 4, 2, 6][random.below(6)];
                let (bases, code) = (query.len().max(row + random.below(3)), random.below(20) as u8);
                query.resize(bases, code);
                if let Some(place) = query.get_mut(row) {
                    *place = t;
                }
            }
            let scoring = Scoring::matrix(Alphabet::Protein, blosum.clone(), open, extend);
            let scoring = Scoring { frameshift: Some(shift), ..scoring };
            let batch = Batch {
                queries: Arc::new([&query[..]].into_iter().collect()),
                targets: Arc::new([&target[..]].into_iter().collect()),
                scoring: Arc::new(scoring.clone()),
            };
            let pair = Pair { query: 0, target: 0, start: 0, own: 0, end: target.len() as u32 };
            let hit = best(&batch, &pair);
            let case = format!("round {round}, {scoring}: {query:?} {target:?}");
            assert_eq!(i64::from(hit.score), defined(&query, &target, &scoring, shift), "{case}");
            if hit.score == 0 {
                continue;
            }
            let window = crate::align::backtrace::window_of(&batch, 0, 0, 0, &hit);
            let found = paths(&batch, &[window]);
            let (score, row, col) = walked(&batch, &hit, found.framed_runs(0).unwrap());
            assert_eq!(score, i64::from(hit.score), "{case}");
            assert!(row < query.len() && col < target.len(), "{case}");
            let runs: Vec<FramedRun> = found.framed_runs(0).unwrap().collect();
            shifts += usize::from(runs.iter().any(|run| matches!(run, FramedRun::Forward | FramedRun::Back)));
            gaps += usize::from(
                runs.iter().any(|run| matches!(run, FramedRun::Run(_, op) if *op != PathOp::Match)),
            );
            // A window that is computed in parts has the same path.
            let in_parts = path_of(&batch, &window, usize::MAX, 1 + random.below(40)).unwrap();
            assert_eq!(Paths::of(vec![in_parts]).framed_runs(0).unwrap().collect::<Vec<_>>(), runs, "{case}");
        }
        assert!(shifts > 100 && gaps > 50, "{shifts} {gaps}");
    }

    #[test]
    fn profiles_with_gap_costs_keep_to_the_definition() {
        let mut random = Random::new(12);
        let blosum = Matrix::named("BLOSUM62").unwrap();
        let mut gaps = [0; 2];
        for round in 0..400 {
            let len = 1 + random.below(20);
            let query = random.codes(len, 20);
            // The residues of the query, with some lost and others added.
            let mut target = random.codes(round % 4, 20);
            for &q in &query {
                let added = [0, 0, 0, 0, 1, 3][random.below(6)];
                target.extend(random.codes(added, 20));
                target.extend((random.below(4) > 0).then_some(q));
            }
            target.push(0);
            let piece = |random: &mut Random| GapPiece {
                open: random.below(10) as i32,
                extend: 1 + random.below(5) as i32,
            };
            let of_positions = |_| PositionGaps { after: piece(&mut random), skipped: piece(&mut random) };
            let gap_costs: Vec<PositionGaps> = (0..len).map(of_positions).collect();
            let rows = query.iter().map(|&q| blosum.scores[usize::from(q)]).collect();
            let profile = Arc::new(PositionScores { rows, gaps: gap_costs });
            let scoring = Scoring::matrix(Alphabet::Protein, blosum.clone(), 11, 1);
            let batch = Batch {
                queries: Arc::new([&query[..]].into_iter().collect()),
                targets: Arc::new([&target[..]].into_iter().collect()),
                scoring: Arc::new(scoring.with_profile(&query, Arc::clone(&profile))),
            };
            let pair = Pair { query: 0, target: 0, start: 0, own: 0, end: target.len() as u32 };
            let hit = best(&batch, &pair);
            let case = format!("round {round}, {profile:?}: {query:?} {target:?}");
            assert_eq!(i64::from(hit.score), defined_by_positions(&profile, &target), "{case}");
            if hit.score == 0 {
                continue;
            }
            let window = crate::align::backtrace::window_of(&batch, 0, 0, 0, &hit);
            let found = paths(&batch, &[window]);
            let runs: Vec<FramedRun> = found.framed_runs(0).unwrap().collect();
            let (mut row, mut col, mut score) = (hit.query_end as usize, hit.target_end as usize, 0);
            for run in &runs {
                let FramedRun::Run(len, op) = *run else { panic!("{case}") };
                for at in (0..len as usize).rev() {
                    let is_first = at == 0;
                    let cost =
                        |piece: GapPiece| i64::from(if is_first { piece.first() } else { piece.extend });
                    match op {
                        PathOp::Match => {
                            (row, col) = (row - 1, col - 1);
                            score += i64::from(profile.rows[row][usize::from(target[col])]);
                        }
                        PathOp::Deletion => {
                            col -= 1;
                            score -= cost(profile.gaps[row - 1].after);
                        }
                        PathOp::Insertion => {
                            row -= 1;
                            score -= cost(profile.gaps[row].skipped);
                        }
                    }
                }
            }
            assert_eq!(score, i64::from(hit.score), "{case}");
            let has =
                |wanted: PathOp| runs.iter().any(|run| matches!(run, FramedRun::Run(_, op) if *op == wanted));
            gaps[0] += usize::from(has(PathOp::Deletion));
            gaps[1] += usize::from(has(PathOp::Insertion));
            let in_parts = path_of(&batch, &window, usize::MAX, 1 + random.below(40)).unwrap();
            assert_eq!(Paths::of(vec![in_parts]).framed_runs(0).unwrap().collect::<Vec<_>>(), runs, "{case}");
        }
        assert!(gaps.iter().all(|&gaps| gaps > 100), "{gaps:?}");
    }
}
