//! One pair per vector: the rows of a strip are the lanes, and each lane is one column after the lane above (Wozniak
//! 1997). Each strip hands H and F to the strip below through a row of the matrix.

#![allow(clippy::needless_range_loop, reason = "as in the cells (cell.rs)")]

mod pruned;

pub use pruned::{PrunedSweep, PrunedTrace};

use super::cell::{Cell, DirectionCodes, Operands, Penalties, cell};
use super::lanes::{NO_LETTER, NO_QUERY, NO_TARGET};
use super::simd::{Kernel, KernelPart, Rows, Simd, Vectors};
use crate::engine::carry::IMPOSSIBLE;
use crate::engine::directions::{Tile, cell_bits};
use crate::engine::recurrence::floor;
use crate::engine::{Carried, Edge, Edges};
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::{CODES, has_ends, is_base};
use crate::terms::casts::{const_u8, to_i32, to_u32, to_usize};
use crate::terms::scoring::{Ambiguous, Scoring, Substitution, with_pieces};
use bytemuck::{Pod, cast_slice, pod_read_unaligned};
use std::ops::{Deref, DerefMut, Range};
use std::slice::from_ref;

/// A rectangle of a matrix.
#[derive(Clone, Copy)]
pub struct Rectangle<'a> {
    pub query: &'a [u8],
    pub target: &'a [u8],
    pub scoring: &'a Scoring,
}

/// Sweeps a rectangle from the edges that enter it. Returns the edges that leave it and the first best cell of the
/// columns from `own` on, with its row and column counted in the rectangle.
pub struct RectangleSweep<'a> {
    pub rectangle: Rectangle<'a>,
    pub edges: &'a Edges,
    pub own: usize,
}

impl Kernel for RectangleSweep<'_> {
    type Output = (Edges, HitEnd);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (Edges, HitEnd) {
        with_pieces!(self.rectangle.scoring.gaps(), PIECES => self.sweep::<S, PIECES>(simd))
    }
}

impl RectangleSweep<'_> {
    #[inline(always)]
    fn sweep<S: Simd, const PIECES: usize>(self, simd: S) -> (Edges, HitEnd) {
        let mut strips = Strips::<S, PIECES>::new(simd, self.rectangle, self.edges);
        let cols = self.rectangle.target.len();
        let mut best = HitEnd::default();
        for first in (0..self.rectangle.query.len()).step_by(<S as Vectors<i32>>::LANES) {
            let sink = strips.strip(first, 0..cols, BestCells::new(simd, self.own, cols));
            sink.add_to(&mut best, (first, self.rectangle.query.len()), 0);
        }
        (strips.leave(), best)
    }
}

/// Stores the directions of the cells in `tiles` ([`tiles()`]) in `words`, and returns the edges that leave the
/// rectangle. Cells outside the tiles count as the minimum of H, without a gap.
pub struct DirectionFill<'a> {
    pub rectangle: Rectangle<'a>,
    pub edges: &'a Edges,
    pub tiles: &'a [Tile],
    pub words: &'a mut [u32],
}

impl Kernel for DirectionFill<'_> {
    type Output = Edges;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Edges {
        with_pieces!(self.rectangle.scoring.gaps(), PIECES => self.fill::<S, PIECES>(simd))
    }
}

impl DirectionFill<'_> {
    #[inline(always)]
    fn fill<S: Simd, const PIECES: usize>(self, simd: S) -> Edges {
        let mut strips = Strips::<S, PIECES>::new(simd, self.rectangle, self.edges);
        if let Some(first) = self.tiles.first() {
            strips.close_behind((first.col + first.cols) as usize);
        }
        let mut rest = self.words;
        for tile in self.tiles {
            let (words, behind) = rest.split_at_mut(to_usize(tile.words()));
            let cols = tile.col as usize..(tile.col + tile.cols) as usize;
            strips.strip(to_usize(tile.row), cols, DirectionWriter::new(simd, words));
            rest = behind;
        }
        strips.leave()
    }
}

impl Rectangle<'_> {
    /// Whether comparing residues gives their scores. If not, a table does.
    fn is_compared(&self) -> bool {
        if self.scoring.end_bonus > 0 && has_ends(self.query) {
            return false;
        }
        let all_are_bases = || self.query.iter().chain(self.target).all(|&code| is_base(code));
        match self.scoring.substitution {
            Substitution::Equal { mismatch, ambiguous, .. } => {
                ambiguous == Ambiguous::Penalty(mismatch) || all_are_bases()
            }
            Substitution::Matrix(_) => false,
        }
    }
}

/// The scores of all codes, indexed by `query code * CODES + target code`. The absence of a residue scores lowest.
fn table(scoring: &Scoring) -> Vec<i32> {
    let codes = 0..const_u8(CODES);
    let lowest = scoring.lowest();
    let score = |q: u8, t: u8| if q.max(t) == NO_LETTER { lowest } else { scoring.score(q, t) };
    codes.clone().flat_map(|q| codes.clone().map(move |t| score(q, t))).collect()
}

/// The tiles of strips of `lanes` rows. `cols` returns the columns that the rows of a strip need.
pub fn tiles(
    rows: u32,
    lanes: usize,
    scoring: &Scoring,
    cols: impl Fn(Range<u32>) -> Range<u32>,
) -> impl Iterator<Item = Tile> {
    let (lanes, cell_bits) = (to_u32(lanes), cell_bits(scoring.gaps().count()));
    (0..rows.div_ceil(lanes)).map(move |strip| {
        let first = strip * lanes;
        Tile::strip(to_i32(first), cols(first..rows.min(first + lanes)), lanes, cell_bits)
    })
}

/// Substitution scores of target residues against the rows of a strip.
#[derive(Clone, Copy)]
enum RowSubstitutes<'a, V> {
    Letters {
        match_: V,
        mismatch: V,
    },
    /// Indexed by `query code * CODES + target code`.
    Matrix(&'a [i32]),
}

/// Data shared by all strips of a rectangle.
struct Given<'a, S: Rows> {
    simd: S,
    rectangle: Rectangle<'a>,
    edges: &'a Edges,
    /// Indexed by `query code * CODES + target code`; empty if residues are compared.
    matrix: Vec<i32>,
}

/// Number of lanes of the longest vector.
const MOST_LANES: usize = 16;
/// Number of values before the first column of a [`RowAbove`].
const PADDING: usize = MOST_LANES - 1;

/// Values of the row above a strip, one for each column. A vector is loaded that ends at a column, so other values precede the
/// first column.
struct RowAbove(Vec<i32>);

impl RowAbove {
    fn new(values: &[i32]) -> RowAbove {
        RowAbove([&[0; PADDING], values].concat())
    }

    /// The values of some columns, after [`PADDING`] values.
    fn padded(&mut self, cols: &Range<usize>) -> &mut [i32] {
        &mut self.0[cols.start..cols.end + PADDING]
    }
}

impl Deref for RowAbove {
    type Target = [i32];

    fn deref(&self) -> &[i32] {
        &self.0[PADDING..]
    }
}

impl DerefMut for RowAbove {
    fn deref_mut(&mut self) -> &mut [i32] {
        &mut self.0[PADDING..]
    }
}

/// The state between strips.
struct Strips<'a, S: Rows, const PIECES: usize> {
    given: Given<'a, S>,
    /// The target's codes in reverse order, padded on both sides with codes of no residue for the lanes.
    reversed: Vec<i32>,
    /// H and F of the row above the next strip. F is that of the strip's first row.
    above_h: RowAbove,
    above_f: [RowAbove; PIECES],
    /// H and E after the last column.
    behind: Edge,
}

impl<'a, S: Rows, const PIECES: usize> Strips<'a, S, PIECES> {
    #[inline(always)]
    fn new(simd: S, rectangle: Rectangle<'a>, edges: &'a Edges) -> Strips<'a, S, PIECES> {
        let matrix = if rectangle.is_compared() { Vec::new() } else { table(rectangle.scoring) };
        let none = i32::from(if matrix.is_empty() { NO_TARGET } else { NO_LETTER });
        let is_compared = matrix.is_empty();
        let plain = |&code: &u8| if is_compared && !is_base(code) { none } else { i32::from(code) };
        let pad = std::iter::repeat_n(none, S::LANES - 1);
        let reversed = pad.clone().chain(rectangle.target.iter().rev().map(plain)).chain(pad);
        let cols = rectangle.target.len();
        Strips {
            given: Given { simd, rectangle, edges, matrix },
            reversed: reversed.collect(),
            above_h: RowAbove::new(&edges.horizontal.heights(cols)),
            above_f: std::array::from_fn(|piece| RowAbove::new(&edges.horizontal.gaps(piece, cols))),
            behind: Edge::with_capacity(rectangle.query.len(), PIECES),
        }
    }

    /// Resets the edge above from column `col` on, where no path enters. In modes other than local, the edge may
    /// otherwise exceed the values of cells there.
    #[inline(always)]
    fn close_behind(&mut self, col: usize) {
        if !self.given.rectangle.scoring.mode.is_local() {
            self.above_h[col..].fill(IMPOSSIBLE);
            self.above_f.iter_mut().for_each(|f| f[col..].fill(IMPOSSIBLE));
        }
    }

    /// The edges that leave the rectangle.
    #[inline(always)]
    fn leave(self) -> Edges {
        let gaps = |col: usize| self.above_f.each_ref().map(|f| f[col]);
        let values = self.above_h.iter().enumerate();
        let horizontal = values.map(|(col, &h)| Carried { h, gaps: gaps(col) }).collect();
        Edges { corner: 0, horizontal, vertical: self.behind }
    }

    /// Sweeps the strip whose first row is `first` over `cols`, and passes the cells to `sink`, which it returns.
    #[inline(always)]
    fn strip<K: CellSink<S, PIECES>>(&mut self, first: usize, cols: Range<usize>, sink: K) -> K {
        self.strip_until(first, cols, None, sink).1
    }

    /// Sweeps a strip as [`Strips::strip`], but no further than `rule` asks for. Returns the extent, and the sink.
    #[inline(always)]
    fn strip_until<K: CellSink<S, PIECES>>(
        &mut self,
        first: usize,
        cols: Range<usize>,
        rule: Option<&StopRule<S>>,
        mut sink: K,
    ) -> (SweptExtent, K) {
        if cols.is_empty() {
            return (SweptExtent { cols: 0, steps: 0 }, sink);
        }
        let (constants, mut state) = self.given.begin(first, &cols);
        let (lanes, len) = (S::LANES, cols.len());
        // At step s the first lane is at column s, the last lane at column s - lanes + 1.
        let last = self.given.rectangle.target.len() + lanes - 2 - cols.start;
        let leaves = cols.end == self.given.rectangle.target.len();
        let mut band = StripColumns {
            letters: &self.reversed[..=last + lanes - 1],
            above_h: self.above_h.padded(&cols),
            above_f: self.above_f.each_mut().map(|f| f.padded(&cols)),
            behind: leaves.then_some(&mut self.behind),
            rows: (self.given.rectangle.query.len() - first).min(lanes),
        };
        let inner_end = len - 1;
        let inner_start = sink.first_col().saturating_add(lanes - 1).min(inner_end);
        let mut done = 0;
        while done < inner_end {
            let part = if done < inner_start { inner_start } else { inner_end };
            let next = rule.map_or(part, |rule| part.min(rule.first_step.max(done + StopRule::<S>::STEPS)));
            sink = match done < inner_start {
                true => constants.edge(&mut state, done..next, &mut band, sink),
                false => constants.inner(&mut state, done..next, &mut band, sink),
            };
            done = next;
            let Some(rule) = rule.filter(|rule| done >= rule.first_step && done < inner_end) else {
                continue;
            };
            // A path goes one or two steps on with each residue.
            if rule.is_met(&constants, &state) {
                sink = constants.edge(&mut state, done..done + 1, &mut band, sink);
                done += 1;
                if rule.is_met(&constants, &state) {
                    sink.end(self.given.simd, done);
                    return (SweptExtent { cols: (done + 1).saturating_sub(lanes), steps: done }, sink);
                }
            }
        }
        sink = constants.edge(&mut state, inner_end..len + lanes - 1, &mut band, sink);
        sink.end(self.given.simd, len + lanes - 1);
        (SweptExtent { cols: len, steps: len + lanes - 1 }, sink)
    }
}

/// How far a strip was swept.
struct SweptExtent {
    /// Number of columns that all rows have done.
    cols: usize,
    steps: usize,
}

/// When a strip need not be swept any further: if no value of two consecutive steps counts.
struct StopRule<S: Rows> {
    /// Steps that are done in any case. After them, nothing that counts enters the strip from above or from the left.
    first_step: usize,
    /// The maximum in each lane of E of the next column that does not count.
    deletion: S::V,
    /// The maximum in each lane of H and of F below, with the cost of its first residue, that do not count.
    insertion: S::V,
}

impl<S: Rows> StopRule<S> {
    /// Number of steps between checks.
    const STEPS: usize = 8;

    /// Whether no value that leaves the last step counts.
    #[inline(always)]
    fn is_met<const PIECES: usize>(
        &self,
        constants: &StripConstants<'_, S, PIECES>,
        state: &StripState<S::V, PIECES>,
    ) -> bool {
        let simd = constants.simd;
        for piece in 0..PIECES {
            let opened = simd.add(state.f[piece], constants.penalties.first[piece]);
            let counts = [simd.gt(state.e[piece], self.deletion), simd.gt(opened, self.insertion)];
            if simd.any_lane(counts[0]) || simd.any_lane(counts[1]) {
                return false;
            }
        }
        true
    }
}

/// A vector of the first of 16 values.
#[inline(always)]
fn lanes_of<S: Rows>(values: impl Fn(usize) -> i32) -> S::V {
    let mut lanes = [0; MOST_LANES];
    lanes.iter_mut().take(S::LANES).enumerate().for_each(|(lane, value)| *value = values(lane));
    pod_read_unaligned(cast_slice(&lanes[..S::LANES]))
}

impl<S: Rows> Given<'_, S> {
    /// Returns the constants of a strip's steps, and the state before the first step.
    #[inline(always)]
    fn begin<const PIECES: usize>(
        &self,
        first: usize,
        cols: &Range<usize>,
    ) -> (StripConstants<'_, S, PIECES>, StripState<S::V, PIECES>) {
        let simd = self.simd;
        let query = &self.rectangle.query[first..];
        let edges = &self.edges.vertical;
        // Only a strip that starts at the first column has a relevant left neighbor.
        let left = |lane: usize| edges.get::<PIECES>(first + lane).filter(|_| cols.start == 0);
        let scoring = self.rectangle.scoring;
        let (substitutes, rows) = match scoring.substitution {
            Substitution::Equal { match_, mismatch, .. } if self.matrix.is_empty() => {
                let letter = |lane: usize| match query.get(lane) {
                    Some(&code) if is_base(code) => code.into(),
                    _ => NO_QUERY.into(),
                };
                let (match_, mismatch) = (simd.splat(match_), simd.splat(-mismatch));
                (RowSubstitutes::Letters { match_, mismatch }, lanes_of::<S>(letter))
            }
            _ => {
                let row = |lane: usize| i32::from(*query.get(lane).unwrap_or(&NO_LETTER)) * to_i32(CODES);
                (RowSubstitutes::Matrix(&self.matrix), lanes_of::<S>(row))
            }
        };
        let corner = match (cols.start, first) {
            (0, 0) => self.edges.corner,
            (0, first) => edges.h(first - 1).unwrap_or(0),
            _ => floor(scoring),
        };
        // In local mode an empty edge is the matrix border. The other borders of a band have the same values.
        let none = simd.splat(IMPOSSIBLE);
        let left_h = lanes_of::<S>(|lane| left(lane).map_or(floor(scoring), |value| value.h));
        let mut left_e = [none; PIECES];
        for (piece, e) in left_e.iter_mut().enumerate() {
            *e = lanes_of::<S>(|lane| left(lane).map_or(IMPOSSIBLE, |value| value.gaps[piece]));
        }
        let numbers = lanes_of::<S>(to_i32);
        let mut penalties =
            Penalties { floor: simd.splat(floor(scoring)), first: [none; PIECES], extend: [none; PIECES] };
        for (at, piece) in scoring.gaps().array::<PIECES>().into_iter().enumerate() {
            penalties.first[at] = simd.splat(piece.first());
            penalties.extend[at] = simd.splat(piece.extend);
        }
        let state = StripState { h: left_h, e: left_e, f: [none; PIECES], diagonal: simd.splat(corner) };
        (StripConstants { simd, substitutes, rows, numbers, penalties, left_h, left_e }, state)
    }
}

/// Receives the cells of a strip, step by step.
trait CellSink<S: Rows, const PIECES: usize> {
    /// The first column that counts, counted in the strip.
    fn first_col(&self) -> usize;

    /// Receives the cells of step `s` and their operands; lane k is at column `s - k`. At an edge, some lanes are outside
    /// the columns that count.
    fn take<const EDGE: bool>(
        &mut self,
        step: &StripConstants<'_, S, PIECES>,
        s: usize,
        cell: &Cell<S::V, PIECES>,
        operands: &Operands<S::V, PIECES>,
    );

    /// Called after the last step.
    fn end(&mut self, simd: S, steps: usize);
}

/// Stores directions.
struct DirectionWriter<'a, V, const PIECES: usize> {
    codes: DirectionCodes<V, PIECES>,
    /// Directions of the last steps, eight under affine gaps, the most recent in the highest bits.
    bits: V,
    words: &'a mut [u32],
}

impl<'a, V: Pod, const PIECES: usize> DirectionWriter<'a, V, PIECES> {
    /// Steps of a word.
    const STEPS: usize = (u32::BITS / cell_bits(PIECES)) as usize;

    #[inline(always)]
    fn new<S: Vectors<i32, V = V>>(simd: S, words: &'a mut [u32]) -> DirectionWriter<'a, V, PIECES> {
        DirectionWriter { codes: DirectionCodes::new(simd), bits: simd.splat(0), words }
    }

    #[inline(always)]
    fn keep(&mut self, s: usize) {
        if (s + 1).is_multiple_of(Self::STEPS) {
            let bits: &[u32] = cast_slice(std::slice::from_ref(&self.bits));
            let at = s / Self::STEPS * bits.len();
            self.words[at..at + bits.len()].copy_from_slice(bits);
        }
    }
}

impl<S: Rows, const PIECES: usize> CellSink<S, PIECES> for DirectionWriter<'_, S::V, PIECES> {
    #[inline(always)]
    fn first_col(&self) -> usize {
        0
    }

    #[inline(always)]
    fn take<const EDGE: bool>(
        &mut self,
        step: &StripConstants<'_, S, PIECES>,
        s: usize,
        cell: &Cell<S::V, PIECES>,
        operands: &Operands<S::V, PIECES>,
    ) {
        self.bits = self.codes.decide(step.simd, self.bits, cell, operands);
        self.keep(s);
    }

    /// Completes the last words.
    #[inline(always)]
    fn end(&mut self, simd: S, steps: usize) {
        for s in steps..steps.next_multiple_of(Self::STEPS) {
            self.bits = self.codes.skip(simd, self.bits);
            self.keep(s);
        }
    }
}

/// Discards the cells.
struct Unkept;

impl<S: Rows, const PIECES: usize> CellSink<S, PIECES> for Unkept {
    #[inline(always)]
    fn first_col(&self) -> usize {
        0
    }

    #[inline(always)]
    fn take<const EDGE: bool>(
        &mut self,
        _: &StripConstants<'_, S, PIECES>,
        _: usize,
        _: &Cell<S::V, PIECES>,
        _: &Operands<S::V, PIECES>,
    ) {
    }

    #[inline(always)]
    fn end(&mut self, _: S, _: usize) {}
}

/// Keeps the first best cell of each row.
struct BestCells<V> {
    /// The first column that counts, as a number and in each lane, and the number of columns.
    first_col: usize,
    own: V,
    cols: V,
    score: V,
    step: V,
}

impl<V: Pod> BestCells<V> {
    #[inline(always)]
    fn new<S: Rows + Vectors<i32, V = V>>(simd: S, own: usize, cols: usize) -> BestCells<V> {
        BestCells {
            first_col: own,
            own: simd.splat(to_i32(own.min(i32::MAX as usize))),
            cols: simd.splat(to_i32(cols)),
            score: simd.splat(0),
            step: simd.splat(0),
        }
    }

    /// Replaces `best` by the best cell of the strip, if that one ranks higher. The strip starts at row `first` of `rows`, and its
    /// columns at `start`.
    #[inline(always)]
    fn add_to(&self, best: &mut HitEnd, (first, rows): (usize, usize), start: usize) {
        let scores: &[i32] = cast_slice(std::slice::from_ref(&self.score));
        let steps: &[i32] = cast_slice(std::slice::from_ref(&self.step));
        for (lane, (&score, &step)) in scores.iter().zip(steps).enumerate().take(rows - first) {
            if score <= 0 {
                continue;
            }
            let target_end = to_u32(start) + to_u32(step - to_i32(lane) + 1);
            let query_end = to_u32(first + lane + 1);
            let hit = HitEnd { score, query_end, target_end };
            if hit.order(best).is_lt() {
                *best = hit;
            }
        }
    }
}

impl<S: Rows, const PIECES: usize> CellSink<S, PIECES> for BestCells<S::V> {
    #[inline(always)]
    fn first_col(&self) -> usize {
        self.first_col
    }

    #[inline(always)]
    fn take<const EDGE: bool>(
        &mut self,
        step: &StripConstants<'_, S, PIECES>,
        s: usize,
        cell: &Cell<S::V, PIECES>,
        _: &Operands<S::V, PIECES>,
    ) {
        let (simd, now, zero) = (step.simd, step.simd.splat(to_i32(s)), step.simd.splat(0));
        let mut counted = cell.h;
        if EDGE {
            let col = simd.sub(now, step.numbers);
            counted = simd.select(simd.gt(self.own, col), zero, counted);
            counted = simd.select(simd.gt(self.cols, col), counted, zero);
        }
        let better = simd.gt(counted, self.score);
        self.step = simd.select(better, now, self.step);
        self.score = simd.max(counted, self.score);
    }

    #[inline(always)]
    fn end(&mut self, _: S, _: usize) {}
}

/// Values that are constant over the steps of a strip.
#[derive(Clone, Copy)]
struct StripConstants<'a, S: Rows, const PIECES: usize> {
    simd: S,
    substitutes: RowSubstitutes<'a, S::V>,
    rows: S::V,
    /// The numbers 0, 1, 2, ...
    numbers: S::V,
    penalties: Penalties<S::V, PIECES>,
    /// H of the column before the first one, and E of the first one.
    left_h: S::V,
    left_e: [S::V; PIECES],
}

/// State that is carried from step to step.
#[derive(Clone, Copy)]
struct StripState<V, const PIECES: usize> {
    /// H of each lane's last cell and F of the row below it.
    h: V,
    f: [V; PIECES],
    /// E of each lane's next cell.
    e: [V; PIECES],
    /// H above the last cell, which is the diagonal neighbor of the next cell.
    diagonal: V,
}

/// The columns that a strip reads and writes.
struct StripColumns<'a, const PIECES: usize> {
    /// In reverse order. The last vector begins with the first lane's residue of step 0.
    letters: &'a [i32],
    /// With padding ([`RowAbove::padded`]).
    above_h: &'a mut [i32],
    above_f: [&'a mut [i32]; PIECES],
    /// Receives H and E of the last column if that leaves the rectangle.
    behind: Option<&'a mut Edge>,
    /// Rows of the strip that are rows of the rectangle.
    rows: usize,
}

/// H and F outside the columns.
const OUTSIDE: Carried<&[i32], 1> = Carried { h: &[0; MOST_LANES], gaps: [&[IMPOSSIBLE; MOST_LANES]] };

impl<const PIECES: usize> StripColumns<'_, PIECES> {
    /// Number of columns.
    #[inline(always)]
    fn len(&self) -> usize {
        self.above_h.len() - PADDING
    }

    /// Values that end with H and F above the first lane's cell in column `col`, one for each lane.
    #[inline(always)]
    fn entering<S: Rows>(&self, col: usize) -> Carried<&[i32], PIECES> {
        let vector = col + MOST_LANES - S::LANES..col + MOST_LANES;
        let mut gaps: [&[i32]; PIECES] = [&[]; PIECES];
        for piece in 0..PIECES {
            gaps[piece] = &self.above_f[piece][vector.clone()];
        }
        Carried { h: &self.above_h[vector], gaps }
    }

    /// Stores H and F below the last lane's cell in column `col`.
    #[inline(always)]
    fn leave<S: Rows>(&mut self, simd: S, col: usize, state: &StripState<S::V, PIECES>) {
        simd.store_last(state.h, &mut self.above_h[col + PADDING]);
        for piece in 0..PIECES {
            simd.store_last(state.f[piece], &mut self.above_f[piece][col + PADDING]);
        }
    }
}

/// Some steps of a strip. If they are all at an edge, `EDGE` is set.
struct StripSteps<'a, 'b, S: Rows, K, const PIECES: usize, const EDGE: bool> {
    constants: &'a StripConstants<'b, S, PIECES>,
    state: &'a mut StripState<S::V, PIECES>,
    steps: Range<usize>,
    cols: &'a mut StripColumns<'b, PIECES>,
    sink: K,
}

/// As a function of its own, its values stay in registers.
impl<S: Rows, K: CellSink<S, PIECES>, const PIECES: usize, const EDGE: bool> KernelPart
    for StripSteps<'_, '_, S, K, PIECES, EDGE>
{
    type Output = K;

    #[inline(always)]
    fn run(self) -> K {
        let StripSteps { constants, state: carried, steps, cols, mut sink } = self;
        let (constants, mut state, len) = (*constants, *carried, cols.len());
        for s in steps {
            let entering = match !EDGE || s < len {
                true => cols.entering::<S>(s),
                false => Carried { h: OUTSIDE.h, gaps: [OUTSIDE.gaps[0]; PIECES] },
            };
            constants.run::<K, EDGE>(&mut state, s, cols.letters, entering, &mut sink);
            if !EDGE || s + 1 >= S::LANES {
                cols.leave(constants.simd, s + 1 - S::LANES, &state);
            }
            if EDGE
                && let (Some(behind), Some(lane)) = (&mut cols.behind, (s + 1).checked_sub(len))
                && lane < cols.rows
            {
                let h = cast_slice(from_ref(&state.h))[lane];
                let mut gaps = [IMPOSSIBLE; PIECES];
                for (gap, e) in gaps.iter_mut().zip(&state.e) {
                    *gap = cast_slice(from_ref(e))[lane];
                }
                behind.push(Carried { h, gaps });
            }
        }
        *carried = state;
        sink
    }
}

impl<'b, S: Rows, const PIECES: usize> StripConstants<'b, S, PIECES> {
    /// Steps in which all lanes are inside the columns that count.
    #[inline(always)]
    fn inner<K: CellSink<S, PIECES>>(
        &self,
        state: &mut StripState<S::V, PIECES>,
        steps: Range<usize>,
        cols: &mut StripColumns<'b, PIECES>,
        sink: K,
    ) -> K {
        self.simd.call(StripSteps::<_, _, PIECES, false> { constants: self, state, steps, cols, sink })
    }

    /// Steps in which some lanes have not begun, are done, or are in columns that don't count.
    #[inline(always)]
    fn edge<K: CellSink<S, PIECES>>(
        &self,
        state: &mut StripState<S::V, PIECES>,
        steps: Range<usize>,
        cols: &mut StripColumns<'b, PIECES>,
        sink: K,
    ) -> K {
        self.simd.call(StripSteps::<_, _, PIECES, true> { constants: self, state, steps, cols, sink })
    }

    /// Computes step `s`, with each lane at column `s - lane`. `letters` are the target residues of the lanes, and
    /// `entering` ends with H and F above the first lane's cell. Unless `EDGE` is set, all lanes are inside the columns.
    #[inline(always)]
    fn run<K: CellSink<S, PIECES>, const EDGE: bool>(
        &self,
        state: &mut StripState<S::V, PIECES>,
        s: usize,
        letters: &[i32],
        entering: Carried<&[i32], PIECES>,
        sink: &mut K,
    ) {
        let simd = self.simd;
        let up = simd.shift_in(state.h, entering.h);
        let mut f = state.f;
        for piece in 0..PIECES {
            f[piece] = simd.shift_in(f[piece], entering.gaps[piece]);
        }
        let letters = simd.load(&letters[letters.len() - S::LANES - s..]);
        let score = match self.substitutes {
            RowSubstitutes::Letters { match_, mismatch } => {
                simd.select(simd.eq(self.rows, letters), match_, mismatch)
            }
            RowSubstitutes::Matrix(scores) => simd.gather(scores, simd.add(self.rows, letters)),
        };
        let matched = simd.add(state.diagonal, score);
        let cell = cell(simd, &self.penalties, matched, state.e, f);
        let operands = Operands { floor: self.penalties.floor, matched, e: state.e, f };
        sink.take::<EDGE>(self, s, &cell, &operands);
        let (mut h, mut e) = (cell.h, cell.e);
        if EDGE {
            // Lanes that have not begun keep the values to the left of the first column.
            let waits = simd.gt(self.numbers, simd.splat(to_i32(s)));
            h = simd.select(waits, self.left_h, h);
            for piece in 0..PIECES {
                e[piece] = simd.select(waits, self.left_e[piece], e[piece]);
            }
        }
        *state = StripState { h, f: cell.f, e, diagonal: up };
    }
}
