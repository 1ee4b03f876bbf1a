//! One long pair whose rows are dealt to the lanes of a vector, consecutive rows to each lane (Farrar 2007), in lanes
//! as narrow as the scores allow.
//!
//! All lanes are in one column. Gaps that pass from one lane to the next are added after the column, and followed down
//! the rows as far as they count (docs/algorithm.md, section 9).

#![allow(clippy::needless_range_loop, reason = "as in the cells (cell.rs)")]

mod window;

pub use window::WindowSize;

use super::cell::{Penalties, cell};
use super::lanes::{
    Ambiguity, Equality, MatrixRows, Nothing, StepCosts, Substitutes, bonuses_side_by_side, side_by_side,
};
use super::simd::{Kernel, Lane, Simd, Stripes, Vectors};
use super::strip::Rectangle;
use crate::engine::{Carried, Edges};
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::CODES;
use crate::terms::casts::{to_i32, to_u8, to_u32};
use crate::terms::scoring::{ComparedScores, GapPiece, Scoring, with_pieces};
use bytemuck::{cast_slice, cast_slice_mut};
use std::ops::Range;
use std::slice::from_ref;
use window::{FOLLOWED, LaneValues};

/// Number of target codes.
const LETTERS: usize = 64;

/// Sweeps a rectangle from the edges that enter it. Returns the edges that leave it and the first best cell of the
/// columns from `own` on, with its row and column counted in the rectangle.
pub struct StripedSweep<'a> {
    pub rectangle: Rectangle<'a>,
    pub edges: &'a Edges,
    pub own: usize,
    pub size: WindowSize,
}

impl Kernel for StripedSweep<'_> {
    type Output = (Edges, HitEnd);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (Edges, HitEnd) {
        with_pieces!(self.rectangle.scoring.gaps(), PIECES => self.sweep::<S, PIECES>(simd))
    }
}

impl StripedSweep<'_> {
    #[inline(always)]
    fn sweep<S: Simd, const PIECES: usize>(self, simd: S) -> (Edges, HitEnd) {
        let Rectangle { query, target, scoring } = self.rectangle;
        let substitutes = StripedSubstitutes::new(scoring);
        let nothing = Nothing::of(scoring);
        let letters: Vec<u8> = target.iter().map(|&code| nothing.target(code)).collect();
        let present = &letters_of(&letters);
        let cols = target.len();
        let mut above = self.edges.horizontal.values::<PIECES>(target.len());
        let mut behind = self.edges.vertical.values::<PIECES>(query.len());
        let mut best = HitEnd::default();
        let mut corner = self.edges.corner;
        let strips = query.len().div_ceil(self.size.rows);
        let height = query.len().div_ceil(strips.max(1)).next_multiple_of(<S as Vectors<i8>>::LANES);
        let mut first = 0;
        for (query, behind) in query.chunks(height).zip(behind.chunks_mut(height)) {
            let below = behind.last().map_or(0, |value| value.h);
            let columns = StripedColumns { query, letters: &letters, above: &mut above, behind, corner };
            let substitutes = &substitutes;
            let mut strip = Strip { substitutes, present, scoring, columns, own: self.own, best, first };
            strip.sweep(simd, self.size, 0, |_, col| (col < cols).then_some(cols));
            best = strip.best;
            corner = below;
            first += query.len();
        }
        let [horizontal, vertical] = [above, behind].map(|values| values.into_iter().collect());
        (Edges { corner: 0, horizontal, vertical }, best)
    }
}

/// Substitution scores of query residues against a target residue.
enum StripedSubstitutes {
    Compared(ComparedScores),
    Tables(Box<MatrixRows>),
}

impl StripedSubstitutes {
    fn new(scoring: &Scoring) -> StripedSubstitutes {
        match scoring.compared() {
            Some(scores) => StripedSubstitutes::Compared(scores),
            None => StripedSubstitutes::Tables(Box::new(scoring.table())),
        }
    }

    #[inline(always)]
    fn score<T: Lane, S: Vectors<T>>(&self, simd: S, queries: &[S::V], letter: u8, scores: &mut Vec<S::V>) {
        // In loops, since operations are not inlined into what a vector's `extend` calls.
        let before = scores.len();
        scores.extend_from_slice(queries);
        match self {
            &StripedSubstitutes::Compared(ComparedScores { match_, mismatch, ambiguous }) => {
                let substitutes = Ambiguity::new(simd, Equality::new(simd, match_, mismatch), ambiguous);
                let letter = simd.splat(T::of(i32::from(letter)));
                for score in &mut scores[before..] {
                    *score = substitutes.score(simd, *score, letter);
                }
            }
            StripedSubstitutes::Tables(tables) => {
                let table = std::array::from_fn(|query| tables[query][usize::from(letter) % CODES]);
                for score in &mut scores[before..] {
                    *score = simd.lookup(&table, *score);
                }
            }
        }
    }
}

/// The distinct codes in `letters`.
fn letters_of(letters: &[u8]) -> Vec<u8> {
    let all = letters.iter().fold(0u64, |all, &letter| all | 1 << (usize::from(letter) % LETTERS));
    (0..to_u8(LETTERS)).filter(|&letter| all >> letter & 1 != 0).collect()
}

/// The rows and columns of a strip, and the values between them and their neighbors.
struct StripedColumns<'a, const PIECES: usize> {
    query: &'a [u8],
    letters: &'a [u8],
    /// H and F above the strip in columns to come, and below it in columns that are done.
    above: &'a mut [Carried<i32, PIECES>],
    /// H and E of the last finished column; F and E are those of the next cells.
    behind: &'a mut [Carried<i32, PIECES>],
    /// H above the last finished column.
    corner: i32,
}

struct Strip<'a, const PIECES: usize> {
    substitutes: &'a StripedSubstitutes,
    /// Codes that occur in the columns.
    present: &'a [u8],
    scoring: &'a Scoring,
    columns: StripedColumns<'a, PIECES>,
    own: usize,
    best: HitEnd,
    /// The strip's first row.
    first: usize,
}

impl<const PIECES: usize> Strip<'_, PIECES> {
    /// Sweeps columns from `col` on, some in 8-bit lanes, some in windows of 16-bit lanes. `goes_to` returns the column
    /// up to which to continue before it is called again, or `None` to stop. Returns the first column that is not
    /// swept.
    #[inline(always)]
    fn sweep<S: Simd>(
        &mut self,
        simd: S,
        size: WindowSize,
        mut col: usize,
        goes_to: impl Fn(&Strip<PIECES>, usize) -> Option<usize>,
    ) -> usize {
        let is_local = self.scoring.mode.is_local();
        // 8-bit lanes hold only scores near 0.
        let costs = StepCosts::new(self.scoring);
        let narrow = LaneValues::of::<i8>(&costs).filter(|values| is_local && values.most >= 8 * costs.best);
        let mut in_8 = None;
        let mut in_16 = None;
        while let Some(to) = goes_to(self, col) {
            let end = to.min(col + size.cols);
            let entering = self.columns.behind.iter().chain(&self.columns.above[col..end]);
            let highest = entering.map(|value| value.h).max().unwrap_or(0);
            if let Some(values) = narrow.filter(|values| highest <= values.most / 2) {
                let lanes =
                    in_8.get_or_insert_with(|| StripedLanes::<i8, S, PIECES>::new(simd, self, values));
                col = lanes.sweep(simd, self, col..to, 0);
            } else {
                let origin = highest - size.spread;
                let origin = if is_local { origin.max(0) } else { origin };
                let lanes =
                    in_16.get_or_insert_with(|| StripedLanes::<i16, S, PIECES>::new(simd, self, size.values));
                col = lanes.sweep(simd, self, col..end, origin);
            }
        }
        col
    }
}

/// A strip in lanes of one width.
struct StripedLanes<T: Lane, S: Stripes<T>, const PIECES: usize> {
    /// H(i,j) and E(i,j+1) of the last column. Lane l has the rows from `l * rows` on.
    column: Vec<Carried<S::V, PIECES>>,
    /// Substitution scores of the rows, one run for each target code.
    scores: Vec<S::V>,
    /// Start of the scores of each target code.
    places: [usize; LETTERS],
    penalties: Penalties<S::V, PIECES>,
    open: [S::V; PIECES],
    /// Gaps that open where H is at the floor.
    gaps: [S::V; PIECES],
    pieces: [GapPiece; PIECES],
    values: LaneValues,
}

impl<T: Lane, S: Stripes<T>, const PIECES: usize> StripedLanes<T, S, PIECES> {
    #[inline(always)]
    fn new(simd: S, strip: &Strip<PIECES>, values: LaneValues) -> StripedLanes<T, S, PIECES> {
        let costs = StepCosts::new(strip.scoring);
        let nothing = Nothing::of(strip.scoring);
        let query = strip.columns.query;
        let rows = query.len().div_ceil(S::LANES);
        let lanes = || query.chunks(rows).map(|codes| (0, codes));
        let queries = side_by_side::<T, S>(rows, nothing.query, |code| nothing.query(code), lanes());
        // Tables hold the bonuses of ends.
        let bonuses = match strip.substitutes {
            StripedSubstitutes::Compared(_) => bonuses_side_by_side::<T, S>(rows, strip.scoring, lanes()),
            StripedSubstitutes::Tables(_) => None,
        };
        let mut scores = Vec::new();
        let mut places = [usize::MAX; LETTERS];
        for &letter in strip.present {
            let place = &mut places[usize::from(letter) % LETTERS];
            if *place == usize::MAX {
                *place = scores.len();
                strip.substitutes.score(simd, &queries, letter, &mut scores);
                if let Some(bonuses) = &bonuses {
                    for (score, &bonus) in scores[*place..].iter_mut().zip(bonuses) {
                        *score = simd.add(*score, bonus);
                    }
                }
            }
        }
        let zero = simd.splat(T::of(values.zero));
        let pieces = costs.gaps.array::<PIECES>();
        let (mut open, mut gaps) = ([zero; PIECES], [zero; PIECES]);
        for piece in 0..PIECES {
            open[piece] = simd.splat(T::of(pieces[piece].open));
            gaps[piece] = simd.splat(T::of(values.lowest_gap(pieces[piece])));
        }
        StripedLanes {
            column: vec![Carried { h: zero, gaps: [zero; PIECES] }; rows],
            scores,
            places,
            penalties: Penalties { floor: zero, ..costs.penalties(simd) },
            open,
            gaps,
            pieces,
            values,
        }
    }

    /// Loads the column to the left.
    #[inline(always)]
    fn enter(&mut self, behind: &[Carried<i32, PIECES>]) {
        let rows = self.column.len();
        self.column.fill(Carried { h: self.penalties.floor, gaps: self.gaps });
        for (lane, values) in behind.chunks(rows).enumerate() {
            for (place, value) in self.column.iter_mut().zip(values) {
                set_lane(&mut place.h, lane, T::of(self.values.h(value.h)));
                for piece in 0..PIECES {
                    let gap = self.values.gap(value.gaps[piece], self.pieces[piece]);
                    set_lane(&mut place.gaps[piece], lane, T::of(gap));
                }
            }
        }
    }

    /// Stores the last column as the right edge.
    #[inline(always)]
    fn leave(&self, behind: &mut [Carried<i32, PIECES>]) {
        for (lane, values) in behind.chunks_mut(self.column.len()).enumerate() {
            for (place, value) in self.column.iter().zip(values) {
                value.h = self.values.score(lane_of::<T, S>(place.h, lane).value());
                for piece in 0..PIECES {
                    value.gaps[piece] = self.values.score(lane_of::<T, S>(place.gaps[piece], lane).value());
                }
            }
        }
    }

    /// Sweeps the strip over `cols`, as far as the lanes hold its values. The floor is the lane value of `origin`, a
    /// lower bound of its scores. Returns the first column that is not swept.
    #[inline(always)]
    fn sweep(&mut self, simd: S, strip: &mut Strip<PIECES>, cols: Range<usize>, origin: i32) -> usize {
        self.values.origin = origin;
        self.enter(strip.columns.behind);
        let rows = self.column.len();
        let limit = origin.saturating_add(self.values.most);
        // The strip's last row.
        let last = strip.columns.query.len() - 1;
        let (last_lane, last_row) = (last / rows, last % rows);
        let mut left = cols.end;
        for col in cols {
            let Carried { h, gaps: f_above } = strip.columns.above[col];
            if h > limit {
                left = col;
                break;
            }
            let place = self.places[usize::from(strip.columns.letters[col]) % LETTERS];
            let above = simd.rotate(self.column[rows - 1].h, 1);
            let diagonal = simd.with_first(above, T::of(self.values.h(strip.columns.corner)));
            let mut f = self.gaps;
            for piece in 0..PIECES {
                let entering = self.values.gap(f_above[piece], self.pieces[piece]);
                f[piece] = simd.with_first(f[piece], T::of(entering));
            }
            strip.columns.corner = h;
            let scores = &self.scores[place..place + rows];
            let down = StripedColumnState { diagonal, f, top: self.penalties.floor };
            let (upper, lower) = self.column.split_at_mut(last_row + 1);
            let down = down.rows(simd, &self.penalties, upper, scores);
            let below = down.f;
            let down = down.rows(simd, &self.penalties, lower, &scores[last_row + 1..]);
            let mut entering = down.f;
            for piece in 0..PIECES {
                entering[piece] = self.gaps_from_lane_to_lane(simd, piece, down.f[piece]);
            }
            self.follow(simd, entering);
            let of_last = |vector: S::V| lane_of::<T, S>(vector, last_lane).value();
            let h = of_last(self.column[last_row].h);
            let mut leaving = Carried { h: self.values.score(h), gaps: [0; PIECES] };
            for (piece, costs) in self.pieces.iter().enumerate() {
                let passed = of_last(entering[piece]) - (to_i32(last_row) + 1) * costs.extend;
                let gap = of_last(below[piece]).max(passed);
                // A gap of the other piece may have raised H of the last row.
                let gap = if PIECES > 1 { gap.max(h - costs.first()) } else { gap };
                leaving.gaps[piece] = self.values.score(gap);
            }
            strip.columns.above[col] = leaving;
            let is_own = col >= strip.own;
            let known = match is_own {
                true => strip.best.score - i32::from(to_u32(col) + 1 < strip.best.target_end),
                false => limit,
            };
            let known = simd.splat(T::of(self.values.h(known.min(limit))));
            if simd.any_lane(simd.gt(down.top, known)) && self.note(strip, col, down.top) {
                left = col + 1;
                break;
            }
        }
        self.leave(strip.columns.behind);
        left
    }

    /// The gaps of a piece that enter each lane from the lane above, given the gaps `ends` that leave each lane's own rows.
    #[inline(always)]
    fn gaps_from_lane_to_lane(&self, simd: S, piece: usize, ends: S::V) -> S::V {
        let gap = T::of(self.values.lowest_gap(self.pieces[piece]));
        let mut entering = simd.with_first(simd.rotate(ends, 1), gap);
        let mut lanes = 1;
        let mut cost = self.pieces[piece].extend.saturating_mul(to_i32(self.column.len()));
        // Gaps that pass through `lanes` lanes. A value lower than a gap opened at the floor does not count.
        while lanes < S::LANES && cost <= T::MAX - gap.value() {
            let least = simd.splat(T::of(gap.value() + cost));
            let paid = simd.splat(T::of(cost));
            if lanes == 1 {
                let leaving = simd.sub(simd.max(entering, least), paid);
                if !simd.any_lane(simd.gt(leaving, ends)) {
                    break;
                }
            }
            let mut from = simd.rotate(entering, lanes);
            cast_slice_mut::<_, T>(std::slice::from_mut(&mut from))[..lanes].fill(gap);
            entering = simd.max(entering, simd.sub(simd.max(from, least), paid));
            lanes *= 2;
            cost = cost.saturating_mul(2);
        }
        entering
    }

    /// Follows gaps down each lane's rows for as long as one of them counts.
    #[inline(always)]
    fn follow(&mut self, simd: S, mut f: [S::V; PIECES]) {
        let Penalties { floor, first, extend } = self.penalties;
        for cells in self.column.chunks_mut(FOLLOWED) {
            // A lower gap gives the cells from here on nothing that they do not already get from H.
            let mut counts = false;
            for piece in 0..PIECES {
                let least = simd.max(simd.sub(cells[0].h, self.open[piece]), floor);
                counts |= simd.any_lane(simd.gt(f[piece], least));
            }
            if !counts {
                break;
            }
            for Carried { h, gaps } in cells {
                for piece in 0..PIECES {
                    *h = simd.max(*h, f[piece]);
                    f[piece] = simd.sub(f[piece], extend[piece]);
                }
                for piece in 0..PIECES {
                    gaps[piece] = simd.max(gaps[piece], simd.sub(*h, first[piece]));
                }
            }
            for piece in 0..PIECES {
                f[piece] = simd.max(f[piece], self.gaps[piece]);
            }
        }
    }

    /// Finds the best cell in a column whose best values are `top`. Returns whether the values have outgrown the lanes.
    #[cold]
    #[inline(never)]
    fn note(&self, strip: &mut Strip<PIECES>, col: usize, top: S::V) -> bool {
        let tops: &[T] = cast_slice(from_ref(&top));
        let rows = self.column.len();
        let cell = |lane: usize, row: usize| lane_of::<T, S>(self.column[row].h, lane);
        let limit = self.values.zero + self.values.most;
        if col >= strip.own {
            // Rows after the query's last one don't count.
            let own = |lane: usize| strip.columns.query.len().saturating_sub(lane * rows).min(rows);
            let top_of = |lane: usize| match own(lane) {
                own if own == rows => Some(tops[lane]),
                own => (0..own).map(|row| cell(lane, row)).max(),
            };
            let mut best = (T::of(self.values.zero), 0);
            for lane in 0..tops.len() {
                match top_of(lane) {
                    Some(top) if top > best.0 => best = (top, lane),
                    _ => {}
                }
            }
            let (top, lane) = best;
            let row = (0..own(lane)).find(|&row| cell(lane, row) == top).unwrap_or(0);
            let hit = HitEnd {
                score: self.values.score(top.value()),
                query_end: to_u32(strip.first + lane * rows + row + 1),
                target_end: to_u32(col) + 1,
            };
            if hit.score > 0 && hit.order(&strip.best).is_lt() {
                strip.best = hit;
            }
        }
        tops.iter().any(|top| top.value() > limit)
    }
}

/// A lane of a vector.
#[inline(always)]
fn lane_of<T: Lane, S: Vectors<T>>(vector: S::V, lane: usize) -> T {
    cast_slice::<_, T>(from_ref(&vector))[lane]
}

/// Replaces a lane of a vector.
#[inline(always)]
fn set_lane<T: Lane, V: bytemuck::Pod>(vector: &mut V, lane: usize, value: T) {
    cast_slice_mut::<_, T>(std::slice::from_mut(vector))[lane] = value;
}

/// State of a column on the way down the rows of each lane.
struct StripedColumnState<V, const PIECES: usize> {
    /// H(i-1,j-1) and F(i,j) of the next row i.
    diagonal: V,
    f: [V; PIECES],
    top: V,
}

impl<V: Copy, const PIECES: usize> StripedColumnState<V, PIECES> {
    #[inline(always)]
    fn rows<T: Lane, S: Vectors<T, V = V>>(
        self,
        simd: S,
        penalties: &Penalties<V, PIECES>,
        column: &mut [Carried<V, PIECES>],
        scores: &[V],
    ) -> StripedColumnState<V, PIECES> {
        let StripedColumnState { mut diagonal, mut f, mut top } = self;
        for (place, &score) in column.iter_mut().zip(scores) {
            let Carried { h, gaps } = *place;
            let cell = cell(simd, penalties, simd.add(diagonal, score), gaps, f);
            (diagonal, f) = (h, cell.f);
            top = simd.max(cell.h, top);
            *place = Carried { h: cell.h, gaps: cell.e };
        }
        StripedColumnState { diagonal, f, top }
    }
}

#[cfg(test)]
mod tests;
