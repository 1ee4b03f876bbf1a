//! Scores of pairs that lie side by side in the lanes of vectors (inter-sequence vectors, as in Rognes
//! 2011), two columns at a time, in lanes as narrow as the scores allow.

use super::lanes::{Costs, Equality, Nothing, Substitutes, Tables, side_by_side, tables};
use super::simd::{Kernel, Lane, Simd, Vectors};
use crate::alignment::Hit;
use crate::alphabet::CODES;
use crate::batch::{Batch, Pair, STRETCH, swept};
use crate::scoring::{Scoring, Substitution};
use bytemuck::{Pod, cast_slice, pod_read_unaligned};
use std::ops::Range;

/// Bits of a lane.
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

    /// The largest score that is exact in lanes of this width; `None` where they don't hold the penalties.
    pub fn most(self, scoring: &Scoring) -> Option<i64> {
        let costs = Costs::new(scoring);
        match self {
            Width::W8 => costs.most::<i8>(),
            Width::W16 => costs.most::<i16>(),
            Width::W32 => costs.most::<i32>(),
        }
    }
}

/// A group of sweeps ([`crate::batch::sweeps`]), at most as many as there are lanes; the answer is one for each of their
/// pairs, `None` where the lanes are too narrow for its sweep's scores.
pub struct Score<'a> {
    pub batch: &'a Batch,
    pub group: &'a [&'a [Pair]],
    pub width: Width,
}

impl Kernel for Score<'_> {
    type Output = Vec<Option<Hit>>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Option<Hit>> {
        match self.width {
            Width::W8 => self.in_lanes::<i8, S>(simd),
            Width::W16 => self.in_lanes::<i16, S>(simd),
            Width::W32 => self.in_lanes::<i32, S>(simd),
        }
    }
}

impl Score<'_> {
    /// The sweeps, each as one pair.
    fn members(&self) -> impl Iterator<Item = Pair> {
        self.group.iter().map(|sweep| swept(sweep))
    }

    fn target(&self, pair: Pair) -> &[u8] {
        &self.batch.target(pair.target)[pair.start as usize..pair.end as usize]
    }

    #[inline(always)]
    fn in_lanes<T: Lane, S: Vectors<T>>(&self, simd: S) -> Vec<Option<Hit>> {
        let costs = Costs::new(&self.batch.scoring);
        let rows = self.members().map(|pair| self.batch.query(pair.query).len()).max().unwrap_or(0);
        let cols = self.members().map(|pair| pair.cols() as usize).max().unwrap_or(0);
        let shape = Shape { rows, cols: cols.next_multiple_of(2) };
        let mut place = 0;
        let owned = |sweep: &&[Pair]| {
            let pair = swept(sweep);
            let owned =
                Owned { first: pair.own - pair.start, behind: pair.cols(), ends: place..place + sweep.len() };
            place = owned.ends.end;
            owned
        };
        let own: Vec<Owned> = self.group.iter().map(owned).collect();
        let first = self.members().next().map_or(0, |pair| pair.query);
        let nothing = Nothing::of(&self.batch.scoring);
        let targets = self.members().map(|pair| (0, self.target(pair)));
        let targets = side_by_side::<T, S>(shape.cols, nothing.target, |code| nothing.target(code), targets);
        // The queries stand at the end of the rows, so that H of the rows before them stays 0.
        let queries = || {
            let queries = self.members().map(|pair| self.batch.query(pair.query));
            let queries = queries.map(|query| (rows - query.len(), query));
            side_by_side::<T, S>(rows, nothing.query, |code| nothing.query(code), queries)
        };
        let ends = match &self.batch.scoring.substitution {
            Substitution::Equal { match_, mismatch } => {
                let substitutes = Equality::new(simd, *match_, *mismatch);
                best_ends(simd, shape, costs, &own, Letters { queries: queries(), targets, substitutes })
            }
            Substitution::Matrix(matrix) if self.members().all(|pair| pair.query == first) => {
                let profile = Profile {
                    query: self.batch.query(first),
                    targets,
                    tables: &tables(matrix),
                    letters: self.batch.scoring.alphabet.letters().len(),
                    columns: [[simd.splat(T::of(0)); CODES]; 2],
                };
                best_ends(simd, shape, costs, &own, profile)
            }
            Substitution::Matrix(matrix) => {
                let letters = Letters { queries: queries(), targets, substitutes: &tables(matrix) };
                best_ends(simd, shape, costs, &own, letters)
            }
        };
        let hit = |(pair, end): (&Pair, &End)| {
            let above = (rows - self.batch.query(pair.query).len()) as u32;
            match end.score {
                _ if end.overflowed => None,
                0 => Some(Hit::default()),
                score => {
                    Some(Hit { score, query_end: end.row + 1 - above, target_end: pair.start + end.col + 1 })
                }
            }
        };
        self.group.iter().copied().flatten().zip(&ends).map(hit).collect()
    }
}

/// Substitution scores, two columns at a time.
trait Columns<T: Lane, S: Vectors<T>> {
    /// What the scores of a column come from.
    type Column: Copy;

    fn columns(&mut self, simd: S, col: usize) -> [Self::Column; 2];
    fn score(&self, simd: S, column: Self::Column, row: usize) -> S::V;
}

/// Each lane's letters, a vector a row and a vector a column.
struct Letters<V, U> {
    queries: Vec<V>,
    targets: Vec<V>,
    substitutes: U,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> Columns<T, S> for Letters<S::V, U> {
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

/// A matrix and one query for all lanes: the scores of each letter against a column are looked up once.
struct Profile<'a, V> {
    query: &'a [u8],
    targets: Vec<V>,
    tables: &'a Tables,
    letters: usize,
    /// By query letter, of two columns.
    columns: [[V; CODES]; 2],
}

impl<T: Lane, S: Vectors<T>> Columns<T, S> for Profile<'_, S::V> {
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

/// Rows and columns of a group; an even number of columns.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    cols: usize,
}

/// The columns that a lane's sweep owns, the first and the one behind the last, and the places of its ends: several where
/// each stretch has one.
struct Owned {
    first: u32,
    behind: u32,
    ends: Range<usize>,
}

impl Owned {
    fn in_stretches(&self) -> bool {
        self.ends.len() > 1
    }

    /// The place of the end in the columns from `col` on, up to those of the next stretch.
    fn end(&self, col: usize) -> usize {
        let stretch = (col / STRETCH as usize).saturating_sub((self.first / STRETCH) as usize);
        self.ends.start + if self.in_stretches() { stretch.min(self.ends.len() - 1) } else { 0 }
    }
}

/// The best cell of a lane, or of a stretch of it.
#[derive(Clone, Copy, Default)]
struct End {
    score: i32,
    row: u32,
    col: u32,
    overflowed: bool,
}

/// The best cell that a column has brought each lane so far.
#[derive(Clone, Copy)]
struct Top<V> {
    score: V,
    /// Row within its part of the rows.
    row: V,
    /// Part of the rows.
    part: V,
}

/// Runs the recurrence, two columns at a time, and keeps the first best cell, in the order column, row, of
/// the columns that each lane owns, or of each stretch of them.
///
/// Values are the scores plus a constant near the type's lowest value, so that its whole range is used
/// (`Costs::zero`). Row and column numbers are counted in lanes: rows are taken in parts, columns in
/// blocks that the lane's type can count. A lane that overflows computes on with wrong values, which
/// reach no other lane.
#[inline(always)]
fn best_ends<T: Lane, S: Vectors<T>, U: Columns<T, S>>(
    simd: S,
    shape: Shape,
    costs: Costs,
    own: &[Owned],
    mut scores: U,
) -> Vec<End> {
    let lane = |value: i64| simd.splat(T::of(value as i32));
    let zero = lane(costs.zero::<T>());
    let gap = lane(costs.zero::<T>() - i64::from(costs.first));
    let first = lane(i64::from(costs.first));
    let extend = lane(i64::from(costs.extend));
    let one = lane(1);
    let none = lane(0);
    let limit = lane(costs.zero::<T>() + costs.most::<T>().unwrap_or(0));
    // [H(i,j), E(i,j+1)] of the last column, a row each.
    let mut column = vec![[zero, gap]; shape.rows];
    let mut best = zero;
    let mut highest = zero;
    let mut ends = vec![End::default(); own.last().map_or(0, |own| own.ends.end)];
    let in_stretches = lanes_of::<T, S>(|place| own.get(place).is_some_and(Owned::in_stretches).into());
    // A lane counts from 0 to its highest value; blocks begin at even columns, and where stretches do.
    let stretch = if own.iter().any(Owned::in_stretches) { STRETCH as usize } else { usize::MAX };
    let block = T::MAX as usize / 2 * 2;
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
            let [left, right] = scores.columns(simd, col);
            let mut tops = [Top { score: best, row: none, part: none }; 2];
            let [mut diagonal, mut diagonal_right] = [zero, zero];
            let [mut f, mut f_right] = [gap, gap];
            let mut row = 0;
            for (part, rows) in column.chunks_mut(T::VALUES).enumerate() {
                let [top, top_right] = [tops[0].score, tops[1].score];
                let mut i = none;
                for cell in rows {
                    // Invariant: diagonal = H(i-1,j-1), h = H(i,j-1), e = E(i,j), f = F(i,j).
                    let [h, e] = *cell;
                    let matched = simd.add(diagonal, scores.score(simd, left, row));
                    let h_left = simd.max(simd.max(simd.max(matched, zero), e), f);
                    diagonal = h;
                    let opened = simd.sub(h_left, first);
                    let e = simd.max(opened, simd.sub(e, extend));
                    f = simd.max(opened, simd.sub(f, extend));
                    tops[0].row = simd.select(simd.gt(h_left, tops[0].score), i, tops[0].row);
                    tops[0].score = simd.max(h_left, tops[0].score);
                    // The same for the next column.
                    let matched = simd.add(diagonal_right, scores.score(simd, right, row));
                    let h_right = simd.max(simd.max(simd.max(matched, zero), e), f_right);
                    diagonal_right = h_left;
                    let opened = simd.sub(h_right, first);
                    let e = simd.max(opened, simd.sub(e, extend));
                    f_right = simd.max(opened, simd.sub(f_right, extend));
                    tops[1].row = simd.select(simd.gt(h_right, tops[1].score), i, tops[1].row);
                    tops[1].score = simd.max(h_right, tops[1].score);
                    *cell = [h_right, e];
                    i = simd.add(i, one);
                    row += 1;
                }
                let part = lane(part as i64);
                tops[0].part = simd.select(simd.gt(tops[0].score, top), part, tops[0].part);
                tops[1].part = simd.select(simd.gt(tops[1].score, top_right), part, tops[1].part);
            }
            for top in tops {
                highest = simd.max(highest, top.score);
                // Higher than the best so far, and in a column of the lane's own.
                let score = simd.select(simd.gt(from, j), best, top.score);
                let score = simd.select(simd.gt(j, last), best, score);
                let better = simd.gt(score, best);
                best = simd.max(score, best);
                found.row = simd.select(better, top.row, found.row);
                found.part = simd.select(better, top.part, found.part);
                found_col = simd.select(better, j, found_col);
                j = simd.add(j, one);
            }
        }
        found.score = best;
        let lanes = Ends { before, found, col: found_col, highest, limit };
        if note::<T, S>(&lanes, start, costs, own, &mut ends) && end < shape.cols {
            // Not worth going on for the others.
            ends.iter_mut().for_each(|end| end.overflowed = true);
            break;
        }
        start = end;
    }
    ends
}

/// The first and the last column of a block that each lane owns, counted from the block's first; none
/// where the last is -1.
#[inline(always)]
fn owned<T: Lane, S: Vectors<T>>(own: &[Owned], start: usize) -> (S::V, S::V) {
    let clip = |col: u32| (i64::from(col) - start as i64).clamp(-1, i64::from(T::MAX)) as i32;
    let from = |place: usize| own.get(place).map_or(-1, |own| clip(own.first));
    let last = |place: usize| own.get(place).map_or(-1, |own| clip(own.behind).max(0) - 1);
    (lanes_of::<T, S>(from), lanes_of::<T, S>(last))
}

/// A value for each lane.
#[inline(always)]
fn lanes_of<T: Lane, S: Vectors<T>>(value: impl Fn(usize) -> i32) -> S::V {
    let mut values = [T::of(0); 64];
    (0..S::LANES).for_each(|place| values[place] = T::of(value(place)));
    read(&values[..S::LANES])
}

#[inline(always)]
fn read<T: Pod, V: Pod>(values: &[T]) -> V {
    pod_read_unaligned(cast_slice(values))
}

/// What a block of columns has brought.
struct Ends<V> {
    before: V,
    found: Top<V>,
    col: V,
    highest: V,
    limit: V,
}

/// Notes the ends of a block that begins at column `start`; says whether most lanes have overflowed.
#[inline(always)]
fn note<T: Lane, S: Vectors<T>>(
    found: &Ends<S::V>,
    start: usize,
    costs: Costs,
    own: &[Owned],
    ends: &mut [End],
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
            end.score = (i64::from(of(1).value()) - costs.zero::<T>()) as i32;
            end.row = of(3).unsigned() * T::VALUES as u32 + of(2).unsigned();
            end.col = start as u32 + of(4).unsigned();
        }
        if over[lane] > over[S::LANES + lane] {
            ends[own.ends.clone()].iter_mut().for_each(|end| end.overflowed = true);
            overflowed += 1;
        }
    }
    2 * overflowed > own.len()
}
