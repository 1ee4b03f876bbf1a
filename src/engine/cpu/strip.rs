//! One pair at a time, the rows of a strip in the lanes of a vector, each lane one column behind the one
//! above (Wozniak 1997); strips one below the other hand H and F on through a row of the matrix.

use super::simd::{Kernel, Rows, Simd, Vectors};
use crate::alignment::Hit;
use crate::alphabet::CODES;
use crate::engine::directions::{CELLS_PER_WORD, EXTEND_DELETION, EXTEND_INSERTION, Tile};
use crate::engine::plain::IMPOSSIBLE;
use crate::engine::{Edges, Source};
use crate::scoring::{Scoring, Substitution};
use bytemuck::{cast_slice, pod_read_unaligned};
use std::ops::Range;

/// A rectangle of a matrix.
#[derive(Clone, Copy)]
pub struct Rectangle<'a> {
    pub query: &'a [u8],
    pub target: &'a [u8],
    pub scoring: &'a Scoring,
}

/// Codes that stand for no residue where letters are compared, and in a matrix.
const NO_QUERY: i32 = 62;
const NO_TARGET: i32 = 63;
const NO_LETTER: i32 = CODES as i32 - 1;

/// Sweeps a rectangle from the edges that enter it; the answer are the edges that leave it and the first
/// best cell of the columns from `own` on, its rows and columns counted in the rectangle.
pub struct Sweep<'a> {
    pub rectangle: Rectangle<'a>,
    pub edges: &'a Edges,
    pub own: usize,
}

impl Kernel for Sweep<'_> {
    type Output = (Edges, Hit);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (Edges, Hit) {
        let mut strips = Strips::new(simd, self.rectangle, self.edges, self.own);
        let mut no_words = [];
        for first in (0..self.rectangle.query.len()).step_by(<S as Vectors<i32>>::LANES) {
            strips.strip::<false>(first, 0..self.rectangle.target.len(), &mut no_words);
        }
        strips.leave()
    }
}

/// Keeps the directions of the cells in `tiles` ([`tiles()`]) in `words`; the answer are the edges
/// that leave the rectangle. Cells outside of tiles count as H = 0 without a gap.
pub struct Fill<'a> {
    pub rectangle: Rectangle<'a>,
    pub edges: &'a Edges,
    pub tiles: &'a [Tile],
    pub words: &'a mut [u32],
}

impl Kernel for Fill<'_> {
    type Output = Edges;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Edges {
        let mut strips = Strips::new(simd, self.rectangle, self.edges, usize::MAX);
        let mut rest = self.words;
        for tile in self.tiles {
            let (words, behind) = rest.split_at_mut(tile.words() as usize);
            let cols = tile.col as usize..(tile.col + tile.cols) as usize;
            strips.strip::<true>(tile.row as usize, cols, words);
            rest = behind;
        }
        strips.leave().0
    }
}

/// The tiles of strips of `lanes` rows, over the columns that each strip's rows ask for.
pub fn tiles(rows: u32, lanes: usize, cols: impl Fn(Range<u32>) -> Range<u32>) -> impl Iterator<Item = Tile> {
    let lanes = lanes as u32;
    (0..rows.div_ceil(lanes)).map(move |strip| {
        let first = strip * lanes;
        Tile::strip(first as i32, cols(first..rows.min(first + lanes)), lanes)
    })
}

/// How the letters of a target are scored against the rows of a strip.
#[derive(Clone, Copy)]
enum Substitutes<'a, V> {
    Letters {
        match_: V,
        mismatch: V,
    },
    /// By `query code * CODES + target code`.
    Matrix(&'a [i32]),
}

/// The state between strips.
struct Strips<'a, S: Rows> {
    simd: S,
    rectangle: Rectangle<'a>,
    edges: &'a Edges,
    own: usize,
    /// The target's codes from its end, with as many of no letter on both sides as lanes need.
    reversed: Vec<i32>,
    matrix: Vec<i32>,
    /// H and F of the row above the next strip, F that of the strip's first row.
    above_h: Vec<i32>,
    above_f: Vec<i32>,
    /// `[H, E]` behind the last column.
    behind: Vec<[i32; 2]>,
    best: Hit,
}

impl<'a, S: Rows> Strips<'a, S> {
    #[inline(always)]
    fn new(simd: S, rectangle: Rectangle<'a>, edges: &'a Edges, own: usize) -> Strips<'a, S> {
        let (none, matrix) = match &rectangle.scoring.substitution {
            Substitution::Equal { .. } => (NO_TARGET, Vec::new()),
            Substitution::Matrix(matrix) => {
                (NO_LETTER, matrix.scores.iter().flatten().map(|&score| i32::from(score)).collect())
            }
        };
        let plain = |&code: &u8| if none == NO_TARGET && code >= 4 { none } else { i32::from(code) };
        let pad = std::iter::repeat_n(none, S::LANES - 1);
        let reversed = pad.clone().chain(rectangle.target.iter().rev().map(plain)).chain(pad);
        let cols = rectangle.target.len();
        let above = |which: usize, none: i32| match edges.horizontal.is_empty() {
            true => vec![none; cols],
            false => edges.horizontal.iter().map(|value| value[which]).collect(),
        };
        Strips {
            simd,
            rectangle,
            edges,
            own,
            reversed: reversed.collect(),
            matrix,
            above_h: above(0, 0),
            above_f: above(1, IMPOSSIBLE),
            behind: Vec::with_capacity(rectangle.query.len()),
            best: Hit::default(),
        }
    }

    /// What leaves the rectangle, and its best cell.
    #[inline(always)]
    fn leave(self) -> (Edges, Hit) {
        let horizontal = self.above_h.iter().zip(&self.above_f).map(|(&h, &f)| [h, f]).collect();
        (Edges { corner: 0, horizontal, vertical: self.behind }, self.best)
    }

    /// Sweeps the strip whose first row is `first` over `cols`; keeps the directions or the best cell.
    #[inline(always)]
    fn strip<const KEEP: bool>(&mut self, first: usize, cols: Range<usize>, words: &mut [u32]) {
        if cols.is_empty() {
            return;
        }
        let simd = self.simd;
        let lane_of = |values: &dyn Fn(usize) -> i32| {
            let mut lanes = [0; 16];
            lanes.iter_mut().take(S::LANES).enumerate().for_each(|(lane, value)| *value = values(lane));
            pod_read_unaligned::<S::V>(cast_slice(&lanes[..S::LANES]))
        };
        let query = &self.rectangle.query[first..];
        let edges = &self.edges.vertical;
        // Only a strip from the first column on has a neighbour to its left that counts.
        let left = |lane: usize| edges.get(first + lane).copied().filter(|_| cols.start == 0);
        let scoring = self.rectangle.scoring;
        let (substitutes, rows) = match scoring.substitution {
            Substitution::Equal { match_, mismatch } => {
                let letter = |lane: usize| match query.get(lane) {
                    Some(&code) if code < 4 => i32::from(code),
                    _ => NO_QUERY,
                };
                let (match_, mismatch) = (simd.splat(match_), simd.splat(-mismatch));
                (Substitutes::Letters { match_, mismatch }, lane_of(&letter))
            }
            Substitution::Matrix(_) => {
                let letter = |lane: usize| query.get(lane).map_or(NO_LETTER, |&code| i32::from(code));
                let row = |lane: usize| letter(lane) * CODES as i32;
                (Substitutes::Matrix(&self.matrix), lane_of(&row))
            }
        };
        let corner = match (cols.start, first) {
            (0, 0) => self.edges.corner,
            (0, first) => edges.get(first - 1).map_or(0, |value| value[0]),
            _ => 0,
        };
        let left_h = lane_of(&|lane| left(lane).map_or(0, |value| value[0]));
        let left_e = lane_of(&|lane| left(lane).map_or(IMPOSSIBLE, |value| value[1]));
        let step = Step {
            simd,
            substitutes,
            rows,
            numbers: lane_of(&|lane| lane as i32),
            first: simd.splat(scoring.gap_open + scoring.gap_extend),
            extend: simd.splat(scoring.gap_extend),
            left_h,
            left_e,
            own: simd.splat(self.own.saturating_sub(cols.start).min(i32::MAX as usize) as i32),
            cols: simd.splat(cols.len() as i32),
        };
        let mut state = State {
            h: simd.rotate(left_h),
            e: left_e,
            f: simd.splat(IMPOSSIBLE),
            diagonal: simd.splat(corner),
            best: simd.splat(0),
            best_step: simd.splat(0),
            bits: simd.splat(0),
        };
        let (lanes, len) = (S::LANES, cols.len());
        let rows_here = query.len().min(lanes);
        // At step s the first lane is at column s, the last one at s - lanes + 1.
        let last = self.rectangle.target.len() + lanes - 2 - cols.start;
        let leaves = cols.end == self.rectangle.target.len();
        let mut band = Columns {
            letters: &self.reversed[..=last + lanes - 1],
            above_h: &mut self.above_h[cols.clone()],
            above_f: &mut self.above_f[cols.clone()],
            behind: leaves.then_some(&mut self.behind),
            rows: rows_here,
            words,
        };
        let own = if KEEP { 0 } else { self.own.saturating_sub(cols.start) };
        let inner_end = len - 1;
        let inner_start = own.saturating_add(lanes - 1).min(inner_end);
        step.edge::<KEEP>(&mut state, 0..inner_start, &mut band);
        step.inner::<KEEP>(&mut state, inner_start..inner_end, &mut band);
        step.edge::<KEEP>(&mut state, inner_end..len + lanes - 1, &mut band);
        if KEEP {
            step.complete_words(&mut state, len + lanes - 1, &mut band);
            return;
        }
        let best = [state.best, state.best_step];
        let best: &[i32] = cast_slice(&best);
        for lane in 0..rows_here {
            let (score, step) = (best[lane], best[lanes + lane]);
            let hit = Hit {
                score,
                query_end: (first + lane + 1) as u32,
                target_end: (cols.start as i32 + step - lane as i32 + 1) as u32,
            };
            if score > 0 && hit.order(&self.best).is_lt() {
                self.best = hit;
            }
        }
    }
}

/// What stays the same over the steps of a strip.
struct Step<'a, S: Rows> {
    simd: S,
    substitutes: Substitutes<'a, S::V>,
    rows: S::V,
    /// 0, 1, 2 and so on.
    numbers: S::V,
    first: S::V,
    extend: S::V,
    /// H and E of the column before the first one, and the column behind the last one.
    left_h: S::V,
    left_e: S::V,
    own: S::V,
    cols: S::V,
}

/// What goes on from step to step.
struct State<V> {
    /// H of each lane's last cell and F of the row below it, moved one lane on.
    h: V,
    f: V,
    /// E of each lane's next cell.
    e: V,
    /// H above the last cell: diagonally above the next.
    diagonal: V,
    best: V,
    best_step: V,
    /// Directions of the last eight steps, the last one in the highest bits.
    bits: V,
}

/// What a strip reads and writes, by its columns.
struct Columns<'a> {
    /// From behind; the first lane's letter of step 0 is where the last vector begins.
    letters: &'a [i32],
    above_h: &'a mut [i32],
    above_f: &'a mut [i32],
    /// Takes `[H, E]` of the last column, where that leaves the rectangle.
    behind: Option<&'a mut Vec<[i32; 2]>>,
    /// Rows of the strip that are rows of the rectangle.
    rows: usize,
    words: &'a mut [u32],
}

impl<S: Rows> Step<'_, S> {
    /// Steps with all lanes inside the columns that count.
    #[inline(always)]
    fn inner<const KEEP: bool>(&self, state: &mut State<S::V>, steps: Range<usize>, cols: &mut Columns<'_>) {
        for s in steps {
            let entering = [cols.above_h[s], cols.above_f[s]];
            let left = self.run::<KEEP, false>(state, s, cols.letters, entering);
            [cols.above_h[s + 1 - S::LANES], cols.above_f[s + 1 - S::LANES]] = left;
            if KEEP {
                self.keep_words(state, s, cols);
            }
        }
    }

    /// Steps at which some lanes have not begun, or are done, or are in columns that don't count.
    #[inline(always)]
    fn edge<const KEEP: bool>(&self, state: &mut State<S::V>, steps: Range<usize>, cols: &mut Columns<'_>) {
        let len = cols.above_h.len();
        for s in steps {
            let entering = if s < len { [cols.above_h[s], cols.above_f[s]] } else { [0, IMPOSSIBLE] };
            let left = self.run::<KEEP, true>(state, s, cols.letters, entering);
            if s + 1 >= S::LANES {
                [cols.above_h[s + 1 - S::LANES], cols.above_f[s + 1 - S::LANES]] = left;
            }
            if let (Some(behind), Some(lane)) = (&mut cols.behind, (s + 1).checked_sub(len))
                && lane < cols.rows
            {
                let lanes = [state.h, state.e];
                let lanes: &[i32] = cast_slice(&lanes);
                // H has moved one lane on.
                behind.push([lanes[(lane + 1) % S::LANES], lanes[S::LANES + lane]]);
            }
            if KEEP {
                self.keep_words(state, s, cols);
            }
        }
    }

    #[inline(always)]
    fn keep_words(&self, state: &State<S::V>, s: usize, cols: &mut Columns<'_>) {
        if (s + 1).is_multiple_of(CELLS_PER_WORD as usize) {
            let at = s / CELLS_PER_WORD as usize * S::LANES;
            cols.words[at..at + S::LANES].copy_from_slice(cast_slice(std::slice::from_ref(&state.bits)));
        }
    }

    /// Keeps the words of the last steps, if they are fewer than a word holds.
    #[inline(always)]
    fn complete_words(&self, state: &mut State<S::V>, steps: usize, cols: &mut Columns<'_>) {
        for s in steps..steps.next_multiple_of(CELLS_PER_WORD as usize) {
            state.bits = self.simd.shift_and_or(state.bits, self.simd.splat(0));
            self.keep_words(state, s, cols);
        }
    }

    /// Step `s`, each lane at column `s - lane`; `letters` are theirs, `entering` H and F above the first
    /// lane's cell. Leaves those below the last lane's. Where not `EDGE`, all lanes are inside the columns.
    #[inline(always)]
    fn run<const KEEP: bool, const EDGE: bool>(
        &self,
        state: &mut State<S::V>,
        s: usize,
        letters: &[i32],
        entering: [i32; 2],
    ) -> [i32; 2] {
        let simd = self.simd;
        let up = simd.with_first(state.h, entering[0]);
        let f = simd.with_first(state.f, entering[1]);
        let letters = simd.load(&letters[letters.len() - S::LANES - s..]);
        let score = match self.substitutes {
            Substitutes::Letters { match_, mismatch } => {
                simd.select(simd.eq(self.rows, letters), match_, mismatch)
            }
            Substitutes::Matrix(scores) => simd.gather(scores, simd.add(self.rows, letters)),
        };
        let matched = simd.add(state.diagonal, score);
        let zero = simd.splat(0);
        let mut h = simd.max(simd.max(simd.max(matched, zero), state.e), f);
        let opened = simd.sub(h, self.first);
        let (longer_e, longer_f) = (simd.sub(state.e, self.extend), simd.sub(f, self.extend));
        if KEEP {
            let bit = |bits: u8| simd.splat((u32::from(bits) << 28) as i32);
            let source =
                simd.select(simd.eq(h, state.e), bit(Source::Deletion as u8), bit(Source::Insertion as u8));
            let source = simd.select(simd.eq(h, matched), bit(Source::Diagonal as u8), source);
            let source = simd.select(simd.eq(h, zero), bit(Source::Stop as u8), source);
            let deletion = simd.select(simd.gt(longer_e, opened), bit(EXTEND_DELETION), zero);
            let insertion = simd.select(simd.gt(longer_f, opened), bit(EXTEND_INSERTION), zero);
            state.bits = simd.shift_and_or(state.bits, simd.or(simd.or(source, deletion), insertion));
        }
        let mut e = simd.max(opened, longer_e);
        let below = simd.max(opened, longer_f);
        let now = simd.splat(s as i32);
        if !KEEP {
            let mut counted = h;
            if EDGE {
                let col = simd.sub(now, self.numbers);
                counted = simd.select(simd.gt(self.own, col), zero, counted);
                counted = simd.select(simd.gt(self.cols, col), counted, zero);
            }
            let better = simd.gt(counted, state.best);
            state.best_step = simd.select(better, now, state.best_step);
            state.best = simd.max(counted, state.best);
        }
        if EDGE {
            // Lanes that have not begun hold what is to the left of the first column.
            let waits = simd.gt(self.numbers, now);
            h = simd.select(waits, self.left_h, h);
            e = simd.select(waits, self.left_e, e);
        }
        state.e = e;
        state.diagonal = up;
        state.h = simd.rotate(h);
        state.f = simd.rotate(below);
        [simd.first(state.h), simd.first(state.f)]
    }
}
