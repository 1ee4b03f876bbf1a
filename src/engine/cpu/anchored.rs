//! Scores in modes other than local, whose alignments begin and end at the borders of the matrix: in the lanes of
//! vectors, two columns per iteration, or in strips.
//!
//! H has no floor in these modes. Narrow lanes need one: the lowest value from which a step cannot underflow the type.
//! A path through a cell at the floor scores more than it should, but at most the floor plus the potential of the whole
//! query. So an end above that limit is exact, and the other ends are scored again in wider lanes.

use super::columns::{ColumnLoop, ColumnSink, ColumnState, GroupSweep, LaneGroup, PAIR, SubstitutionColumns};
use super::lanes::StepCosts;
use super::score::{Width, lanes_of};
use super::simd::{Kernel, Lane, Simd, Vectors};
use crate::engine::{Carried, Edges};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, swept};
use crate::terms::casts::{to_i32, to_i64, to_u32};
use crate::terms::scoring::{AlignmentMode, with_pieces};
use bytemuck::cast_slice;
use std::ops::Range;
use std::slice::from_ref;

/// Columns whose ends are stored before they are examined.
const COLUMNS: usize = 512;

/// Finds the first best ends of a group of sweeps, at most one for each lane, whose queries and targets are not empty.
/// Each of their pairs gets an answer, which is `None` if the lanes are too narrow.
pub struct Anchored<'a> {
    pub batch: &'a Batch,
    pub group: &'a [&'a [Pair]],
    pub width: Width,
}

impl Kernel for Anchored<'_> {
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

/// Lane values: the minimum of H, and a score of 0.
#[derive(Clone, Copy)]
pub struct Values {
    pub floor: i64,
    pub zero: i64,
    /// Maximum that the group's queries can add to a score.
    most: i64,
}

impl Values {
    /// Returns `None` if lanes of this type cannot hold the highest score.
    pub fn of<T: Lane>(costs: &StepCosts, rows: usize) -> Option<Values> {
        let most = to_i64(rows) * i64::from(costs.best);
        let floor = costs.zero::<T>();
        // As high as possible, to leave room for negative scores.
        let zero = i64::from(T::MAX) - i64::from(costs.best) - most;
        (floor < zero).then_some(Values { floor, zero, most })
    }

    /// The lane value of a score that is at most 0.
    pub fn lane<T: Lane>(&self, score: i64) -> T {
        T::of(to_i32((self.zero + score).max(self.floor)))
    }

    /// The lowest score whose lane value is exact.
    pub fn least_exact(&self) -> i64 {
        self.floor + self.most + 1 - self.zero
    }

    /// The score of a lane value, if it is exact.
    fn score(&self, value: i32) -> Option<i32> {
        (i64::from(value) > self.floor + self.most).then(|| to_i32(i64::from(value) - self.zero))
    }
}

impl Anchored<'_> {
    #[inline(always)]
    fn in_lanes<T: Lane, S: Vectors<T>, const PIECES: usize>(&self, simd: S) -> Vec<Option<HitEnd>> {
        let group = LaneGroup { batch: self.batch, sweeps: self.group };
        let costs = StepCosts::new(&self.batch.scoring);
        let (rows, cols) = (group.rows(), group.cols());
        let Some(values) = Values::of::<T>(&costs, rows) else {
            return vec![None; self.group.iter().map(|sweep| sweep.len()).sum()];
        };
        let ends = AnchoredEnds::new(self.batch, self.group);
        let sweep = AnchoredSweep::<PIECES> { batch: self.batch, costs, values, rows, cols, ends };
        let ends = group.sweep::<T, S, _, PIECES>(simd, sweep);
        let hit = |best: HitEnd| values.score(best.score).map(|score| HitEnd { score, ..best });
        ends.best.into_iter().map(hit).collect()
    }
}

/// A lane: the rows and columns of its sweep, and the positions of the ends of its pairs.
struct AnchoredLane {
    rows: usize,
    cols: usize,
    /// Target column of its first column.
    start: u32,
    /// Whether its last column is the target's last.
    is_at_end: bool,
    /// Indices of its pairs.
    pairs: Range<usize>,
}

/// The first best end of each pair so far. Its score is a lane value.
struct AnchoredEnds {
    lanes: Vec<AnchoredLane>,
    /// Columns that each pair owns, counted from the first column of its lane.
    owned: Vec<Range<usize>>,
    best: Vec<HitEnd>,
}

impl AnchoredEnds {
    fn new(batch: &Batch, group: &[&[Pair]]) -> AnchoredEnds {
        let mut place = 0;
        let lane = |sweep: &&[Pair]| {
            let pair = swept(sweep);
            let pairs = place..place + sweep.len();
            place = pairs.end;
            AnchoredLane {
                rows: batch.query(pair.query).len(),
                cols: pair.cols() as usize,
                start: pair.start,
                is_at_end: pair.end as usize == batch.target(pair.target).len(),
                pairs,
            }
        };
        let lanes = group.iter().map(lane).collect();
        let owned = |pair: &Pair| (pair.own - pair.start) as usize..pair.cols() as usize;
        let owned: Vec<Range<usize>> = group.iter().copied().flatten().map(owned).collect();
        AnchoredEnds { lanes, best: vec![HitEnd::NONE; owned.len()], owned }
    }

    /// Processes the last rows of the lanes in the columns from `first` on, one vector for each column.
    fn take_rows<T: Lane>(&mut self, mode: AlignmentMode, first: usize, values: &[T], width: usize) {
        let cols = first..first + values.len() / width;
        for (number, lane) in self.lanes.iter().enumerate() {
            for place in lane.pairs.clone() {
                let own = &self.owned[place];
                // An alignment that ends with the target ends in the last column.
                let from = if mode.free_ends().target { own.start } else { own.end - 1 };
                let best = &mut self.best[place];
                for col in from.max(cols.start)..own.end.min(cols.end) {
                    let score = values[(col - first) * width + number].value();
                    if score > best.score {
                        let target_end = lane.start + to_u32(col) + 1;
                        *best = HitEnd { score, query_end: to_u32(lane.rows), target_end };
                    }
                }
            }
        }
    }

    /// Processes the values of column `col`, one vector for each row, for the lanes whose target ends there. Ends in
    /// the last row were processed before.
    fn take_column<T: Lane>(&mut self, col: usize, values: impl Fn(usize, usize) -> T) {
        for (number, lane) in self.lanes.iter().enumerate() {
            if !lane.is_at_end || lane.cols != col + 1 {
                continue;
            }
            let Some(best) = lane.pairs.clone().next_back().map(|place| &mut self.best[place]) else {
                continue;
            };
            let target_end = lane.start + to_u32(lane.cols);
            for row in 0..lane.rows {
                let hit =
                    HitEnd { score: values(row, number).value(), query_end: to_u32(row) + 1, target_end };
                if hit.order(best).is_lt() {
                    *best = hit;
                }
            }
        }
    }
}

/// Keeps H of each lane's last row in two columns, and all values of the first column if they are asked for.
struct LastRows<'a, V> {
    /// The part of the rows that ends with each lane's last row.
    parts: V,
    above: [V; 2],
    bottom: [V; 2],
    lefts: Option<&'a mut Vec<V>>,
}

impl<T: Lane, S: Vectors<T>> ColumnSink<T, S, PAIR> for LastRows<'_, S::V> {
    #[inline(always)]
    fn take(&mut self, _: S, h: [S::V; 2]) {
        self.above = h;
        if let Some(lefts) = &mut self.lefts {
            lefts.push(h[0]);
        }
    }

    #[inline(always)]
    fn end_part(&mut self, simd: S, part: usize) {
        let of_part = simd.eq(self.parts, simd.splat(T::of(to_i32(part))));
        let [left, right] = self.above;
        self.bottom[0] = simd.select(of_part, left, self.bottom[0]);
        self.bottom[1] = simd.select(of_part, right, self.bottom[1]);
    }
}

/// Runs the recurrence between the borders of the mode.
struct AnchoredSweep<'a, const PIECES: usize> {
    batch: &'a Batch,
    costs: StepCosts,
    values: Values,
    rows: usize,
    cols: usize,
    ends: AnchoredEnds,
}

impl<T: Lane, S: Vectors<T>, const PIECES: usize> GroupSweep<T, S> for AnchoredSweep<'_, PIECES> {
    type Output = AnchoredEnds;
    const IS_LOCAL: bool = false;

    #[inline(always)]
    fn run<U: SubstitutionColumns<T, S>>(self, simd: S, mut scores: U) -> AnchoredEnds {
        let (scoring, mut ends) = (&*self.batch.scoring, self.ends);
        let mode = scoring.mode;
        let penalties = self.costs.penalties::<T, S, PIECES>(simd);
        // Splits the rows at the last rows of lanes, and lists the lanes that end at each split.
        let mut lasts: Vec<usize> = ends.lanes.iter().map(|lane| lane.rows).collect();
        lasts.sort_unstable();
        lasts.dedup();
        let part_of = |number: usize| {
            let part = ends.lanes.get(number).and_then(|lane| lasts.binary_search(&lane.rows).ok());
            part.map_or(-1, to_i32)
        };
        let parts = lanes_of::<T, S>(part_of);
        let border = |score: i64| simd.splat(self.values.lane::<T>(score));
        let before = |h: S::V| Carried { h, gaps: penalties.opened(simd, h) };
        let free = mode.free_starts();
        let left = |row: usize| if free.query { border(0) } else { border(-scoring.gap_cost(row + 1)) };
        let mut cells: Vec<Carried<S::V, PIECES>> = (0..self.rows).map(|row| before(left(row))).collect();
        let above = |col: usize| match !free.target && col > 0 {
            true => border(-scoring.gap_cost(col)),
            false => border(0),
        };
        let enter = |col: usize| ColumnState { diagonal: above(col), f: before(above(col + 1)).gaps };
        let columns = ColumnLoop { penalties, parts: lasts };
        let mut bottoms: Vec<[S::V; 2]> = Vec::with_capacity(COLUMNS / 2);
        let mut first = 0;
        let mut lefts = Vec::new();
        for col in (0..self.cols).step_by(PAIR) {
            let keeps_left = mode.ends_at_either_end() && ends.lanes.iter().any(|lane| lane.cols == col + 1);
            lefts.clear();
            let none = [penalties.floor; 2];
            let mut rows =
                LastRows { parts, above: none, bottom: none, lefts: keeps_left.then_some(&mut lefts) };
            let mut states = [enter(col), enter(col + 1)];
            columns.sweep(simd, &mut scores, col, &mut states, &mut cells, &mut rows);
            bottoms.push(rows.bottom);
            if 2 * bottoms.len() == COLUMNS || col + 2 >= self.cols {
                ends.take_rows::<T>(mode, first, cast_slice(&bottoms), S::LANES);
                bottoms.clear();
                first = col + 2;
            }
            if mode.ends_at_either_end() && ends.lanes.iter().any(|lane| lane.cols.div_ceil(2) * 2 == col + 2)
            {
                // At equal scores, ends in the last row come first.
                ends.take_rows::<T>(mode, first, cast_slice(&bottoms), S::LANES);
                let of = |values: &[S::V], row: usize, number: usize| -> T {
                    cast_slice::<S::V, T>(&values[row..=row])[number]
                };
                ends.take_column::<T>(col, |row, number| of(&lefts, row, number));
                let h = |row: usize, number: usize| -> T { cast_slice(from_ref(&cells[row].h))[number] };
                ends.take_column::<T>(col + 1, h);
            }
        }
        ends
    }
}

/// The first best ends of a sweep's pairs whose queries end in this row, and whose targets end in this column if they
/// end in the sweep.
pub fn ends_of(batch: &Batch, sweep: &[Pair], edges: &Edges) -> Vec<HitEnd> {
    let mode = batch.scoring.mode;
    let end = |pair: &Pair| {
        let (rows, len) = (batch.query(pair.query).len(), batch.target(pair.target).len());
        if rows == 0 {
            return HitEnd::NONE;
        }
        let hit = |score, query_end: usize, target_end: u32| HitEnd {
            score,
            query_end: to_u32(query_end),
            target_end,
        };
        let of = |h: Option<i32>| h.unwrap_or(HitEnd::NONE.score);
        let in_row = |col: u32| hit(of(edges.horizontal.h((col - pair.start) as usize)), rows, col + 1);
        let from = if mode.free_ends().target { pair.own } else { pair.end - 1 };
        let in_column = |row: usize| hit(of(edges.vertical.h(row)), row + 1, pair.end);
        let down = if mode.ends_at_either_end() && pair.end as usize == len { rows } else { 0 };
        let all = (from..pair.end).map(in_row).chain((0..down).map(in_column));
        all.min_by(HitEnd::order).unwrap_or(HitEnd::NONE)
    };
    sweep.iter().map(end).collect()
}
