//! Scores of pairs in the lanes of vectors (inter-sequence vectors, as in Rognes 2011), two columns per iteration, in
//! lanes as narrow as the scores allow.

use super::cell::{Penalties, cell};
use super::lanes::{
    Ambiguity, Equality, MatrixRows, Nothing, PieceCount, StepCosts, Substitutes, bonuses_side_by_side,
    compared, rows_of_tables, side_by_side,
};
use super::simd::{Kernel, Lane, Simd, Vectors};
use crate::engine::Carried;
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::CODES;
use crate::terms::batch::{Batch, Pair, STRETCH, swept};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::scoring::{ComparedScores, Scoring};
use bytemuck::{Pod, cast_slice, pod_read_unaligned};
use std::ops::Range;

/// Width of a lane in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    W8,
    W16,
    W32,
}

impl Width {
    pub fn bytes(self) -> usize {
        match self {
            Width::W8 => 1,
            Width::W16 => 2,
            Width::W32 => 4,
        }
    }

    /// The largest score that is exact in lanes of this width. `None` if they cannot hold the penalties.
    pub fn most(self, scoring: &Scoring) -> Option<i64> {
        let costs = StepCosts::new(scoring);
        match self {
            Width::W8 => costs.most::<i8>(),
            Width::W16 => costs.most::<i16>(),
            Width::W32 => costs.most::<i32>(),
        }
    }
}

/// Scores a group of sweeps ([`crate::terms::batch::sweeps`]), at most one for each lane. Each of their pairs gets an
/// answer, which is `None` if the lanes are too narrow for the scores of its sweep.
pub struct ScoreKernel<'a> {
    pub batch: &'a Batch,
    pub group: &'a [&'a [Pair]],
    pub width: Width,
}

impl Kernel for ScoreKernel<'_> {
    type Output = Vec<Option<HitEnd>>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Option<HitEnd>> {
        match (self.batch.scoring.gaps().count(), self.width) {
            (1, Width::W8) => self.in_lanes::<i8, S, 1>(simd),
            (1, Width::W16) => self.in_lanes::<i16, S, 1>(simd),
            (1, Width::W32) => self.in_lanes::<i32, S, 1>(simd),
            (_, Width::W8) => self.in_lanes::<i8, S, 2>(simd),
            (_, Width::W16) => self.in_lanes::<i16, S, 2>(simd),
            (_, Width::W32) => self.in_lanes::<i32, S, 2>(simd),
        }
    }
}

impl ScoreKernel<'_> {
    /// The sweeps, each as one pair.
    fn members(&self) -> impl Iterator<Item = Pair> {
        self.group.iter().map(|sweep| swept(sweep))
    }

    fn target(&self, pair: Pair) -> &[u8] {
        &self.batch.target(pair.target)[pair.start as usize..pair.end as usize]
    }

    #[inline(always)]
    fn in_lanes<T: Lane, S: Vectors<T>, const PIECES: usize>(&self, simd: S) -> Vec<Option<HitEnd>> {
        let costs = StepCosts::new(&self.batch.scoring);
        let rows = self.members().map(|pair| self.batch.query(pair.query).len()).max().unwrap_or(0);
        let cols = self.members().map(|pair| pair.cols() as usize).max().unwrap_or(0);
        let shape = GroupShape { rows, cols: cols.next_multiple_of(2) };
        let mut place = 0;
        let owned = |sweep: &&[Pair]| {
            let pair = swept(sweep);
            let owned = OwnedColumns {
                first: pair.own - pair.start,
                behind: pair.cols(),
                ends: place..place + sweep.len(),
            };
            place = owned.ends.end;
            owned
        };
        let own: Vec<OwnedColumns> = self.group.iter().map(owned).collect();
        let first = self.members().next().map_or(0, |pair| pair.query);
        let members = || self.members().flat_map(|pair| [self.batch.query(pair.query), self.target(pair)]);
        let compared = compared(&self.batch.scoring, members());
        let nothing = Nothing::if_compared(compared);
        let targets = self.members().map(|pair| (0, self.target(pair)));
        let targets = side_by_side::<T, S>(shape.cols, nothing.target, |code| nothing.target(code), targets);
        // The queries are aligned to the last row, so that H of the rows before them stays 0.
        let queries = || {
            let queries = self.members().map(|pair| self.batch.query(pair.query));
            queries.map(|query| (rows - query.len(), query))
        };
        let bonuses = || bonuses_side_by_side::<T, S>(rows, &self.batch.scoring, queries());
        let queries = || side_by_side::<T, S>(rows, nothing.query, |code| nothing.query(code), queries());
        let ends = match compared {
            Some(ComparedScores { match_, mismatch, ambiguous }) => {
                let (queries, substitutes) = (queries(), Equality::new(simd, match_, mismatch));
                let lanes = [&queries, &targets];
                let is_any = lanes.iter().any(|lanes| nothing.has_ambiguous::<T, S>(lanes));
                let ambiguity = Ambiguity::new(simd, substitutes, ambiguous);
                let bonuses = bonuses();
                if PieceCount::<PIECES>::ARE_MANY || (is_any && bonuses.is_some()) {
                    // One kernel for all of them, since few runs have two pieces, and every kernel takes time to compile.
                    let bonuses = bonuses.unwrap_or_else(|| vec![simd.splat(T::of(0)); rows]);
                    let letters = LaneResidues { queries, targets, substitutes: ambiguity };
                    let letters = LettersWithEnds { letters, bonuses };
                    best_ends::<T, S, _, PIECES>(simd, shape, costs, &own, letters)
                } else if let Some(bonuses) = bonuses {
                    let letters = LaneResidues { queries, targets, substitutes };
                    let letters = LettersWithEnds { letters, bonuses };
                    best_ends::<T, S, _, PIECES>(simd, shape, costs, &own, letters)
                } else if is_any {
                    let letters = LaneResidues { queries, targets, substitutes: ambiguity };
                    best_ends::<T, S, _, PIECES>(simd, shape, costs, &own, letters)
                } else {
                    let letters = LaneResidues { queries, targets, substitutes };
                    best_ends::<T, S, _, PIECES>(simd, shape, costs, &own, letters)
                }
            }
            None if self.members().all(|pair| pair.query == first) => {
                let profile = QueryProfile {
                    query: self.batch.query(first),
                    targets,
                    tables: &self.batch.scoring.table(),
                    letters: rows_of_tables(&self.batch.scoring),
                    columns: [[simd.splat(T::of(0)); CODES]; 2],
                };
                best_ends::<T, S, _, PIECES>(simd, shape, costs, &own, profile)
            }
            None => {
                let letters =
                    LaneResidues { queries: queries(), targets, substitutes: &self.batch.scoring.table() };
                best_ends::<T, S, _, PIECES>(simd, shape, costs, &own, letters)
            }
        };
        let hit = |(pair, end): (&Pair, &LaneEnd)| {
            let above = to_u32(rows - self.batch.query(pair.query).len());
            match end.score {
                _ if end.overflowed => None,
                0 => Some(HitEnd::default()),
                score => Some(HitEnd {
                    score,
                    query_end: end.row + 1 - above,
                    target_end: pair.start + end.col + 1,
                }),
            }
        };
        self.group.iter().copied().flatten().zip(&ends).map(hit).collect()
    }
}

/// Substitution scores, two columns per iteration.
pub trait SubstitutionColumns<T: Lane, S: Vectors<T>> {
    /// The data from which the scores of a column are looked up.
    type Column: Copy;

    fn columns(&mut self, simd: S, col: usize) -> [Self::Column; 2];
    fn score(&self, simd: S, column: Self::Column, row: usize) -> S::V;
}

/// The residues of all lanes, one vector for each row and one for each column.
pub struct LaneResidues<V, U> {
    pub queries: Vec<V>,
    pub targets: Vec<V>,
    pub substitutes: U,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> SubstitutionColumns<T, S> for LaneResidues<S::V, U> {
    type Column = S::V;

    #[inline(always)]
    fn columns(&mut self, _: S, col: usize) -> [S::V; 2] {
        [self.targets[col], self.targets[col + 1]]
    }

    #[inline(always)]
    fn score(&self, simd: S, column: S::V, row: usize) -> S::V {
        self.substitutes.score(simd, self.queries[row], column)
    }
}

/// The same with the end bonuses of the rows.
struct LettersWithEnds<V, U> {
    letters: LaneResidues<V, U>,
    bonuses: Vec<V>,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> SubstitutionColumns<T, S> for LettersWithEnds<S::V, U> {
    type Column = S::V;

    #[inline(always)]
    fn columns(&mut self, simd: S, col: usize) -> [S::V; 2] {
        SubstitutionColumns::<T, S>::columns(&mut self.letters, simd, col)
    }

    #[inline(always)]
    fn score(&self, simd: S, column: S::V, row: usize) -> S::V {
        simd.add(self.letters.score(simd, column, row), self.bonuses[row])
    }
}

/// A matrix and one query for all lanes: each query code's scores against a column are looked up once.
pub struct QueryProfile<'a, V> {
    pub query: &'a [u8],
    pub targets: Vec<V>,
    pub tables: &'a MatrixRows,
    pub letters: usize,
    /// By query code, for two columns.
    pub columns: [[V; CODES]; 2],
}

impl<T: Lane, S: Vectors<T>> SubstitutionColumns<T, S> for QueryProfile<'_, S::V> {
    type Column = usize;

    #[inline(always)]
    fn columns(&mut self, simd: S, col: usize) -> [usize; 2] {
        for (letter, table) in self.tables.iter().enumerate().take(self.letters) {
            self.columns[0][letter] = simd.lookup(table, self.targets[col]);
            self.columns[1][letter] = simd.lookup(table, self.targets[col + 1]);
        }
        [0, 1]
    }

    #[inline(always)]
    fn score(&self, _: S, column: usize, row: usize) -> S::V {
        self.columns[column][usize::from(self.query[row]) % CODES]
    }
}

/// Rows and columns of a group. The number of columns is even.
#[derive(Clone, Copy)]
struct GroupShape {
    rows: usize,
    cols: usize,
}

/// The columns that a lane's sweep owns, from the first to the one after the last, and the indices of its ends. If each
/// stretch has an end, there are several.
struct OwnedColumns {
    first: u32,
    behind: u32,
    ends: Range<usize>,
}

impl OwnedColumns {
    fn in_stretches(&self) -> bool {
        self.ends.len() > 1
    }

    /// Index of the end that covers the columns from `col` to the end of the stretch.
    fn end(&self, col: usize) -> usize {
        let stretch = (col / STRETCH as usize).saturating_sub((self.first / STRETCH) as usize);
        self.ends.start + if self.in_stretches() { stretch.min(self.ends.len() - 1) } else { 0 }
    }
}

/// The best cell of a lane, or of a stretch of it.
#[derive(Clone, Copy, Default)]
struct LaneEnd {
    score: i32,
    row: u32,
    col: u32,
    overflowed: bool,
}

/// The best cell of each lane in the current column so far.
#[derive(Clone, Copy)]
struct Top<V> {
    score: V,
    /// Row within its part of the rows.
    row: V,
    /// Part of the rows.
    part: V,
}

impl<V: Copy> Top<V> {
    /// Replaces the best cell by a row's H if that is higher.
    #[inline(always)]
    fn take<T: Lane, S: Vectors<T, V = V>>(&mut self, simd: S, h: V, row: V) {
        self.row = simd.select(simd.gt(h, self.score), row, self.row);
        self.score = simd.max(h, self.score);
    }
}

/// State of a column on the way down the rows.
struct ColumnState<V, const PIECES: usize> {
    /// H(i-1,j-1) and F(i,j) of the next row i.
    diagonal: V,
    f: [V; PIECES],
    top: Top<V>,
}

impl<V: Copy, const PIECES: usize> ColumnState<V, PIECES> {
    /// Replaces H(i,j-1) and E(i,j) by H(i,j) and E(i,j+1).
    #[inline(always)]
    fn step<T: Lane, S: Vectors<T, V = V>>(
        &mut self,
        simd: S,
        penalties: &Penalties<V, PIECES>,
        score: V,
        left: Carried<V, PIECES>,
        row: V,
    ) -> Carried<V, PIECES> {
        let cell = cell(simd, penalties, simd.add(self.diagonal, score), left.gaps, self.f);
        (self.diagonal, self.f) = (left.h, cell.f);
        self.top.take(simd, cell.h, row);
        Carried { h: cell.h, gaps: cell.e }
    }
}

/// Values that are constant over a group's columns.
struct LaneConstants<V, const PIECES: usize> {
    penalties: Penalties<V, PIECES>,
    /// The gaps that open where H is 0.
    gaps: [V; PIECES],
    none: V,
    one: V,
}

impl<V: Copy, const PIECES: usize> LaneConstants<V, PIECES> {
    #[inline(always)]
    fn new<T: Lane, S: Vectors<T, V = V>>(simd: S, costs: StepCosts) -> LaneConstants<V, PIECES> {
        let penalties = costs.penalties(simd);
        let gaps = penalties.opened(simd, penalties.floor);
        LaneConstants { penalties, gaps, none: simd.splat(T::of(0)), one: simd.splat(T::of(1)) }
    }

    /// Sweeps two columns, whose H(i,j-1) and E(i,j) are in `column`, and returns the first best cell of each that is
    /// better than `best`.
    #[inline(always)]
    fn two_columns<T: Lane, S: Vectors<T, V = V>, U: SubstitutionColumns<T, S>>(
        &self,
        simd: S,
        scores: &U,
        [left, right]: [U::Column; 2],
        column: &mut [Carried<V, PIECES>],
        best: V,
    ) -> [Top<V>; 2] {
        let top = Top { score: best, row: self.none, part: self.none };
        let mut left_down = ColumnState { diagonal: self.penalties.floor, f: self.gaps, top };
        let mut right_down = ColumnState { diagonal: self.penalties.floor, f: self.gaps, top };
        let mut row = 0;
        for (part, rows) in column.chunks_mut(T::VALUES).enumerate() {
            let before = [left_down.top.score, right_down.top.score];
            let mut i = self.none;
            for cell in rows {
                let between = left_down.step(simd, &self.penalties, scores.score(simd, left, row), *cell, i);
                *cell = right_down.step(simd, &self.penalties, scores.score(simd, right, row), between, i);
                i = simd.add(i, self.one);
                row += 1;
            }
            let part = simd.splat(T::of(to_i32(part)));
            for (top, before) in [&mut left_down.top, &mut right_down.top].into_iter().zip(before) {
                top.part = simd.select(simd.gt(top.score, before), part, top.part);
            }
        }
        [left_down.top, right_down.top]
    }
}

/// Runs the recurrence, two columns per iteration, and keeps the first best cell, in the order column, row, of the
/// columns that each lane owns, or of each stretch of them.
///
/// Values are the scores plus a constant near the type's minimum, so that its whole range is used (`StepCosts::zero`).
/// Row and column numbers are lane values as well: rows are processed in parts, and columns in blocks, that the lane's
/// type can count. A lane that overflows continues with wrong values, which affect no other lane.
#[inline(always)]
fn best_ends<T: Lane, S: Vectors<T>, U: SubstitutionColumns<T, S>, const PIECES: usize>(
    simd: S,
    shape: GroupShape,
    costs: StepCosts,
    own: &[OwnedColumns],
    mut scores: U,
) -> Vec<LaneEnd> {
    let lanes = LaneConstants::<S::V, PIECES>::new(simd, costs);
    let (zero, none) = (lanes.penalties.floor, lanes.none);
    let limit = simd.splat(T::of(to_i32(costs.zero::<T>() + costs.most::<T>().unwrap_or(0))));
    // H(i,j) and E(i,j+1) of the last column, for each row.
    let mut column = vec![Carried { h: zero, gaps: lanes.gaps }; shape.rows];
    let mut best = zero;
    let mut highest = zero;
    let mut ends = vec![LaneEnd::default(); own.last().map_or(0, |own| own.ends.end)];
    let in_stretches =
        lanes_of::<T, S>(|place| own.get(place).is_some_and(OwnedColumns::in_stretches).into());
    // A lane counts from 0 to its highest value. Blocks begin at even columns, and stretches begin with a block.
    let stretch = if own.iter().any(OwnedColumns::in_stretches) { STRETCH as usize } else { usize::MAX };
    let block = to_usize(T::MAX) / 2 * 2;
    let mut start = 0;
    while start < shape.cols {
        let left = stretch - start % stretch;
        let end = (start + block.min(left)).min(shape.cols);
        if start.is_multiple_of(stretch) {
            best = simd.select(simd.gt(in_stretches, none), zero, best);
        }
        let (from, last) = owned::<T, S>(own, start);
        let before = best;
        let mut found = Top { score: best, row: none, part: none };
        let mut found_col = none;
        let mut j = none;
        for col in (start..end).step_by(2) {
            let columns = scores.columns(simd, col);
            for top in lanes.two_columns(simd, &scores, columns, &mut column, best) {
                highest = simd.max(highest, top.score);
                // Higher than the best so far, and in a column that the lane owns.
                let score = simd.select(simd.gt(from, j), best, top.score);
                let score = simd.select(simd.gt(j, last), best, score);
                let better = simd.gt(score, best);
                best = simd.max(score, best);
                found.row = simd.select(better, top.row, found.row);
                found.part = simd.select(better, top.part, found.part);
                found_col = simd.select(better, j, found_col);
                j = simd.add(j, lanes.one);
            }
        }
        found.score = best;
        let found = BlockEnds { before, found, col: found_col, highest, limit };
        if note::<T, S>(&found, start, costs, own, &mut ends) && end < shape.cols {
            // Too few lanes are left to continue.
            ends.iter_mut().for_each(|end| end.overflowed = true);
            break;
        }
        start = end;
    }
    ends
}

/// The first and the last column of a block that each lane owns, counted from the block's first column. The last is -1
/// if the lane owns none.
#[inline(always)]
fn owned<T: Lane, S: Vectors<T>>(own: &[OwnedColumns], start: usize) -> (S::V, S::V) {
    let clip = |col: u32| to_i32((i64::from(col) - to_i64(start)).clamp(-1, i64::from(T::MAX)));
    let from = |place: usize| own.get(place).map_or(-1, |own| clip(own.first));
    let last = |place: usize| own.get(place).map_or(-1, |own| clip(own.behind).max(0) - 1);
    (lanes_of::<T, S>(from), lanes_of::<T, S>(last))
}

/// A value for each lane.
#[inline(always)]
pub fn lanes_of<T: Lane, S: Vectors<T>>(value: impl Fn(usize) -> i32) -> S::V {
    let mut values = [T::of(0); 64];
    (0..S::LANES).for_each(|place| values[place] = T::of(value(place)));
    read(&values[..S::LANES])
}

#[inline(always)]
fn read<T: Pod, V: Pod>(values: &[T]) -> V {
    pod_read_unaligned(cast_slice(values))
}

/// The result of a block of columns.
struct BlockEnds<V> {
    before: V,
    found: Top<V>,
    col: V,
    highest: V,
    limit: V,
}

/// Records the ends of a block that begins at column `start`. Returns whether most lanes have overflowed.
#[inline(always)]
fn note<T: Lane, S: Vectors<T>>(
    found: &BlockEnds<S::V>,
    start: usize,
    costs: StepCosts,
    own: &[OwnedColumns],
    ends: &mut [LaneEnd],
) -> bool {
    let lanes = [found.before, found.found.score, found.found.row, found.found.part, found.col];
    let lanes: &[T] = cast_slice(&lanes);
    let over = [found.highest, found.limit];
    let over: &[T] = cast_slice(&over);
    let mut overflowed = 0;
    for (lane, own) in own.iter().enumerate() {
        let of = |which: usize| lanes[which * S::LANES + lane];
        if of(1) > of(0) {
            let end = &mut ends[own.end(start)];
            end.score = to_i32(i64::from(of(1).value()) - costs.zero::<T>());
            end.row = of(3).unsigned() * to_u32(T::VALUES) + of(2).unsigned();
            end.col = to_u32(start) + of(4).unsigned();
        }
        if over[lane] > over[S::LANES + lane] {
            ends[own.ends.clone()].iter_mut().for_each(|end| end.overflowed = true);
            overflowed += 1;
        }
    }
    2 * overflowed > own.len()
}
