//! One pair per vector: the rows of a strip are the lanes, and each lane is one column after the lane above (Wozniak
//! 1997). Each strip hands H and F to the strip below through a row of the matrix.

#![allow(clippy::needless_range_loop, reason = "as in the cells (cell.rs)")]

mod pruned;

pub use pruned::{PrunedSweep, PrunedTrace};

use super::cell::{Cell, DirectionCodes, Operands, Penalties, cell};
use super::lanes::{NO_LETTER, NO_QUERY, NO_TARGET};
use super::simd::{Kernel, Rows, Simd, Vectors};
use crate::engine::carry::IMPOSSIBLE;
use crate::engine::directions::{Tile, cell_bits};
use crate::engine::recurrence::floor;
use crate::engine::{Carried, Edge, Edges};
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::{CODES, has_ends, is_base};
use crate::terms::casts::{const_u8, to_i32, to_u32, to_usize};
use crate::terms::scoring::{Ambiguous, Scoring, Substitution, with_pieces};
use bytemuck::{Pod, cast_slice, pod_read_unaligned};
use std::ops::Range;
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
            let mut sink = BestCells::new(simd, self.own, cols);
            strips.strip(first, 0..cols, &mut sink);
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
            strips.strip(to_usize(tile.row), cols, &mut DirectionWriter::new(simd, words));
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

/// The state between strips.
struct Strips<'a, S: Rows, const PIECES: usize> {
    given: Given<'a, S>,
    /// The target's codes in reverse order, padded on both sides with codes of no residue for the lanes.
    reversed: Vec<i32>,
    /// H and F of the row above the next strip. F is that of the strip's first row.
    above_h: Vec<i32>,
    above_f: [Vec<i32>; PIECES],
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
            above_h: edges.horizontal.heights(cols),
            above_f: std::array::from_fn(|piece| edges.horizontal.gaps(piece, cols)),
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

    /// Sweeps the strip whose first row is `first` over `cols`, and passes the cells to `sink`.
    #[inline(always)]
    fn strip<K: CellSink<S, PIECES>>(&mut self, first: usize, cols: Range<usize>, sink: &mut K) {
        self.strip_until(first, cols, None, sink);
    }

    /// Sweeps a strip as [`Strips::strip`], but no further than `rule` asks for. Returns the number of columns that all rows have
    /// done, and the number of steps.
    #[inline(always)]
    fn strip_until<K: CellSink<S, PIECES>>(
        &mut self,
        first: usize,
        cols: Range<usize>,
        rule: Option<&StopRule>,
        sink: &mut K,
    ) -> (usize, usize) {
        if cols.is_empty() {
            return (0, 0);
        }
        let (step, mut state) = self.given.begin(first, &cols);
        let (lanes, len) = (S::LANES, cols.len());
        // At step s the first lane is at column s, the last lane at column s - lanes + 1.
        let last = self.given.rectangle.target.len() + lanes - 2 - cols.start;
        let leaves = cols.end == self.given.rectangle.target.len();
        let mut band = StripColumns {
            letters: &self.reversed[..=last + lanes - 1],
            above_h: &mut self.above_h[cols.clone()],
            above_f: self.above_f.each_mut().map(|f| &mut f[cols.clone()]),
            behind: leaves.then_some(&mut self.behind),
            rows: (self.given.rectangle.query.len() - first).min(lanes),
        };
        let inner_end = len - 1;
        let inner_start = sink.first_col().saturating_add(lanes - 1).min(inner_end);
        let mut done = 0;
        while done < inner_end {
            let part = if done < inner_start { inner_start } else { inner_end };
            let next = rule.map_or(part, |rule| part.min(rule.first_step.max(done + StopRule::STEPS)));
            match done < inner_start {
                true => step.edge(&mut state, done..next, &mut band, sink),
                false => step.inner(&mut state, done..next, &mut band, sink),
            }
            done = next;
            let Some(rule) = rule.filter(|rule| done >= rule.first_step && done < inner_end) else {
                continue;
            };
            // A path goes one or two steps on with each residue.
            if rule.is_met(&step, &state) {
                step.edge(&mut state, done..done + 1, &mut band, sink);
                done += 1;
                if rule.is_met(&step, &state) {
                    sink.end(self.given.simd, done);
                    return ((done + 1).saturating_sub(lanes), done);
                }
            }
        }
        step.edge(&mut state, inner_end..len + lanes - 1, &mut band, sink);
        sink.end(self.given.simd, len + lanes - 1);
        (len, len + lanes - 1)
    }
}

/// When a strip need not be swept any further: if no value of two consecutive steps counts.
struct StopRule {
    /// Steps that are done in any case. After them, nothing that counts enters the strip from above or from the left.
    first_step: usize,
    /// The minimum in each lane of E of the next column that counts.
    deletion: [i32; 16],
    /// The minimum in each lane of H above and of F with the cost of its first residue that count.
    insertion: [i32; 16],
}

impl StopRule {
    /// Number of steps between checks.
    const STEPS: usize = 8;

    /// Whether no value that leaves the last step counts.
    #[inline(always)]
    fn is_met<S: Rows, const PIECES: usize>(
        &self,
        step: &StripConstants<'_, S, PIECES>,
        state: &StripState<S::V, PIECES>,
    ) -> bool {
        let mut counts = 0;
        for piece in 0..PIECES {
            let opened = step.simd.add(state.f[piece], step.penalties.first[piece]);
            let (e, f): (&[i32], &[i32]) =
                (cast_slice(from_ref(&state.e[piece])), cast_slice(from_ref(&opened)));
            for lane in 0..S::LANES {
                counts |=
                    u32::from(e[lane] >= self.deletion[lane]) | u32::from(f[lane] >= self.insertion[lane]);
            }
        }
        counts == 0
    }
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
        let lane_of = |values: &dyn Fn(usize) -> i32| {
            let mut lanes = [0; 16];
            lanes.iter_mut().take(S::LANES).enumerate().for_each(|(lane, value)| *value = values(lane));
            pod_read_unaligned::<S::V>(cast_slice(&lanes[..S::LANES]))
        };
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
                (RowSubstitutes::Letters { match_, mismatch }, lane_of(&letter))
            }
            _ => {
                let row = |lane: usize| i32::from(*query.get(lane).unwrap_or(&NO_LETTER)) * to_i32(CODES);
                (RowSubstitutes::Matrix(&self.matrix), lane_of(&row))
            }
        };
        let corner = match (cols.start, first) {
            (0, 0) => self.edges.corner,
            (0, first) => edges.h(first - 1).unwrap_or(0),
            _ => floor(scoring),
        };
        // In local mode an empty edge is the matrix border. The other borders of a band have the same values.
        let none = simd.splat(IMPOSSIBLE);
        let left_h = lane_of(&|lane| left(lane).map_or(floor(scoring), |value| value.h));
        let mut left_e = [none; PIECES];
        for (piece, e) in left_e.iter_mut().enumerate() {
            *e = lane_of(&|lane| left(lane).map_or(IMPOSSIBLE, |value| value.gaps[piece]));
        }
        let numbers = lane_of(&to_i32);
        let mut penalties =
            Penalties { floor: simd.splat(floor(scoring)), first: [none; PIECES], extend: [none; PIECES] };
        for (at, piece) in scoring.gaps().array::<PIECES>().into_iter().enumerate() {
            penalties.first[at] = simd.splat(piece.first());
            penalties.extend[at] = simd.splat(piece.extend);
        }
        let state =
            StripState { h: simd.rotate(left_h), e: left_e, f: [none; PIECES], diagonal: simd.splat(corner) };
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
struct StripState<V, const PIECES: usize> {
    /// H of each lane's last cell and F of the row below it, rotated by one lane.
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
    above_h: &'a mut [i32],
    above_f: [&'a mut [i32]; PIECES],
    /// Receives H and E of the last column if that leaves the rectangle.
    behind: Option<&'a mut Edge>,
    /// Rows of the strip that are rows of the rectangle.
    rows: usize,
}

impl<const PIECES: usize> StripColumns<'_, PIECES> {
    /// H and F above the first lane's cell in column `col`.
    #[inline(always)]
    fn entering(&self, col: usize) -> Carried<i32, PIECES> {
        let mut gaps = [IMPOSSIBLE; PIECES];
        for piece in 0..PIECES {
            gaps[piece] = self.above_f[piece][col];
        }
        Carried { h: self.above_h[col], gaps }
    }

    /// Stores H and F below the last lane's cell in column `col`.
    #[inline(always)]
    fn leave(&mut self, col: usize, left: Carried<i32, PIECES>) {
        self.above_h[col] = left.h;
        for piece in 0..PIECES {
            self.above_f[piece][col] = left.gaps[piece];
        }
    }
}

impl<S: Rows, const PIECES: usize> StripConstants<'_, S, PIECES> {
    /// Steps in which all lanes are inside the columns that count.
    #[inline(always)]
    fn inner<K: CellSink<S, PIECES>>(
        &self,
        state: &mut StripState<S::V, PIECES>,
        steps: Range<usize>,
        cols: &mut StripColumns<'_, PIECES>,
        sink: &mut K,
    ) {
        for s in steps {
            let left = self.run::<K, false>(state, s, cols.letters, cols.entering(s), sink);
            cols.leave(s + 1 - S::LANES, left);
        }
    }

    /// Steps in which some lanes have not begun, are done, or are in columns that don't count.
    #[inline(always)]
    fn edge<K: CellSink<S, PIECES>>(
        &self,
        state: &mut StripState<S::V, PIECES>,
        steps: Range<usize>,
        cols: &mut StripColumns<'_, PIECES>,
        sink: &mut K,
    ) {
        let len = cols.above_h.len();
        for s in steps {
            let entering = if s < len { cols.entering(s) } else { Carried::BORDER };
            let left = self.run::<K, true>(state, s, cols.letters, entering, sink);
            if s + 1 >= S::LANES {
                cols.leave(s + 1 - S::LANES, left);
            }
            if let (Some(behind), Some(lane)) = (&mut cols.behind, (s + 1).checked_sub(len))
                && lane < cols.rows
            {
                // H has moved by one lane.
                let h = cast_slice(from_ref(&state.h))[(lane + 1) % S::LANES];
                let mut gaps = [IMPOSSIBLE; PIECES];
                for (gap, e) in gaps.iter_mut().zip(&state.e) {
                    *gap = cast_slice(from_ref(e))[lane];
                }
                behind.push(Carried { h, gaps });
            }
        }
    }

    /// Computes step `s`, with each lane at column `s - lane`. `letters` are the target residues of the lanes, and
    /// `entering` is H and F above the first lane's cell. Returns H and F below the last lane's cell. Unless `EDGE` is
    /// set, all lanes are inside the columns.
    #[inline(always)]
    fn run<K: CellSink<S, PIECES>, const EDGE: bool>(
        &self,
        state: &mut StripState<S::V, PIECES>,
        s: usize,
        letters: &[i32],
        entering: Carried<i32, PIECES>,
        sink: &mut K,
    ) -> Carried<i32, PIECES> {
        let simd = self.simd;
        let up = simd.with_first(state.h, entering.h);
        let mut f = state.f;
        for piece in 0..PIECES {
            f[piece] = simd.with_first(f[piece], entering.gaps[piece]);
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
        state.e = e;
        state.diagonal = up;
        state.h = simd.rotate(h);
        let mut below = Carried { h: simd.first(state.h), gaps: entering.gaps };
        for piece in 0..PIECES {
            state.f[piece] = simd.rotate(cell.f[piece]);
            below.gaps[piece] = simd.first(state.f[piece]);
        }
        below
    }
}
