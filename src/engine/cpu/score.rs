//! Scores of pairs in the lanes of vectors (inter-sequence vectors, as in Rognes 2011), two columns per iteration, in
//! lanes as narrow as the scores allow.

use super::columns::{ColumnLoop, ColumnSink, ColumnState, GroupSweep, LaneGroup, PAIR, SubstitutionColumns};
use super::lanes::StepCosts;
use super::simd::{Kernel, Lane, Simd, Vectors};
use crate::engine::Carried;
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, STRETCH, swept};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::scoring::{Scoring, with_pieces};
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
        with_pieces!(self.batch.scoring.gaps(), PIECES => match self.width {
            Width::W8 => self.in_lanes::<i8, S, PIECES>(simd),
            Width::W16 => self.in_lanes::<i16, S, PIECES>(simd),
            Width::W32 => self.in_lanes::<i32, S, PIECES>(simd),
        })
    }
}

impl ScoreKernel<'_> {
    #[inline(always)]
    fn in_lanes<T: Lane, S: Vectors<T>, const PIECES: usize>(&self, simd: S) -> Vec<Option<HitEnd>> {
        let group = LaneGroup { batch: self.batch, sweeps: self.group };
        let (rows, cols) = (group.rows(), group.cols());
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
        let owned: Vec<OwnedColumns> = self.group.iter().map(owned).collect();
        let costs = StepCosts::new(&self.batch.scoring);
        let sweep = BestEnds::<PIECES> { rows, cols, costs, owned: &owned };
        let ends = group.sweep::<T, S, _, PIECES>(simd, sweep);
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

/// Keeps the first best cell of two columns. The rows are processed in parts that a lane can count.
struct BestCells<V> {
    left: Top<V>,
    right: Top<V>,
    /// Best values before the current part.
    before: [V; 2],
    /// Next row within its part.
    row: V,
}

impl<V: Copy> BestCells<V> {
    /// The cells that are better than `best`.
    #[inline(always)]
    fn above(best: V, none: V) -> BestCells<V> {
        let top = Top { score: best, row: none, part: none };
        BestCells { left: top, right: top, before: [best; 2], row: none }
    }
}

impl<T: Lane, S: Vectors<T>> ColumnSink<T, S, PAIR> for BestCells<S::V> {
    #[inline(always)]
    fn take(&mut self, simd: S, [left, right]: [S::V; 2]) {
        self.left.take(simd, left, self.row);
        self.right.take(simd, right, self.row);
        self.row = simd.add(self.row, simd.splat(T::of(1)));
    }

    #[inline(always)]
    fn end_part(&mut self, simd: S, part: usize) {
        let part = simd.splat(T::of(to_i32(part)));
        self.left.part = simd.select(simd.gt(self.left.score, self.before[0]), part, self.left.part);
        self.right.part = simd.select(simd.gt(self.right.score, self.before[1]), part, self.right.part);
        (self.before, self.row) = ([self.left.score, self.right.score], simd.splat(T::of(0)));
    }
}

/// Runs the recurrence, and keeps the first best cell, in the order column, row, of the columns that each lane owns, or of
/// each stretch of them.
///
/// Values are the scores plus a constant near the type's minimum, so that its whole range is used (`StepCosts::zero`).
/// Row and column numbers are lane values as well: rows are processed in parts, and columns in blocks, that the lane's
/// type can count. A lane that overflows continues with wrong values, which affect no other lane.
struct BestEnds<'a, const PIECES: usize> {
    rows: usize,
    cols: usize,
    costs: StepCosts,
    owned: &'a [OwnedColumns],
}

impl<T: Lane, S: Vectors<T>, const PIECES: usize> GroupSweep<T, S> for BestEnds<'_, PIECES> {
    type Output = Vec<LaneEnd>;
    const IS_LOCAL: bool = true;

    #[inline(always)]
    fn run<U: SubstitutionColumns<T, S>>(self, simd: S, mut scores: U) -> Vec<LaneEnd> {
        let BestEnds { costs, owned: own, .. } = self;
        let penalties = costs.penalties::<T, S, PIECES>(simd);
        let (zero, gaps) = (penalties.floor, penalties.opened(simd, penalties.floor));
        let (none, one) = (simd.splat(T::of(0)), simd.splat(T::of(1)));
        let parts = (1..=self.rows.div_ceil(T::VALUES)).map(|part| self.rows.min(part * T::VALUES));
        let columns = ColumnLoop { penalties, parts: parts.collect() };
        let enter = ColumnState { diagonal: zero, f: gaps };
        let limit = simd.splat(T::of(to_i32(costs.zero::<T>() + costs.most::<T>().unwrap_or(0))));
        // H(i,j) and E(i,j+1) of the last column, for each row.
        let mut cells = vec![Carried { h: zero, gaps }; self.rows];
        let mut best = zero;
        let mut highest = zero;
        let mut ends = vec![LaneEnd::default(); own.last().map_or(0, |own| own.ends.end)];
        let in_stretches =
            lanes_of::<T, S>(|place| own.get(place).is_some_and(OwnedColumns::in_stretches).into());
        // A lane counts from 0 to its highest value. Blocks begin at even columns, and stretches begin with a block.
        let stretch = if own.iter().any(OwnedColumns::in_stretches) { STRETCH as usize } else { usize::MAX };
        let block = to_usize(T::MAX) / 2 * 2;
        let mut start = 0;
        while start < self.cols {
            let left = stretch - start % stretch;
            let end = (start + block.min(left)).min(self.cols);
            if start.is_multiple_of(stretch) {
                best = simd.select(simd.gt(in_stretches, none), zero, best);
            }
            let (from, last) = owned::<T, S>(own, start);
            let before = best;
            let mut found = Top { score: best, row: none, part: none };
            let mut found_col = none;
            let mut j = none;
            for col in (start..end).step_by(PAIR) {
                let mut tops = BestCells::above(best, none);
                columns.sweep(simd, &mut scores, col, &mut [enter; PAIR], &mut cells, &mut tops);
                for top in [tops.left, tops.right] {
                    highest = simd.max(highest, top.score);
                    // Higher than the best so far, and in a column that the lane owns.
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
            let found = BlockEnds { before, found, col: found_col, highest, limit };
            if note::<T, S>(&found, start, costs, own, &mut ends) && end < self.cols {
                // Too few lanes are left to continue.
                ends.iter_mut().for_each(|end| end.overflowed = true);
                break;
            }
            start = end;
        }
        ends
    }
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
