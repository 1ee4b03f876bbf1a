//! The path of a long alignment whose score is known. Directions are filled only for cells through which an alignment
//! with that score can pass (docs/algorithm.md, section 23).

use super::PrunedStrips;
use crate::engine::cpu::simd::{Kernel, Rows, Simd, Vectors};
use crate::engine::cpu::strip::{DirectionWriter, Rectangle, Unkept};
use crate::engine::directions::{CellSource, Directions, Tile, TileLayout, cell_bits};
use crate::engine::potential::PotentialBehind;
use crate::engine::traceback::Traceback;
use crate::engine::{Edges, PathPosition, Window};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::{Scoring, with_pieces};
use std::ops::Range;

/// Finds the path that ends in the last cell of a window, in local mode. Returns `None` if too many cells must be
/// computed.
///
/// A first sweep keeps only the values that enter some of the strips from above. Directions are then filled from the
/// lowest of these fronts upward. At each front it is known where the path enters and with what score, so hardly any
/// cells away from the path count.
#[derive(Clone, Copy)]
pub struct PrunedTrace<'a> {
    pub rectangle: Rectangle<'a>,
    pub window: &'a Window,
    pub score: i32,
    pub potential: &'a PotentialBehind,
    /// Maximum number of cells that the first sweep may compute.
    pub most: u64,
    /// Approximate number of direction words that are kept at once. For longer alignments, strips are filled once more.
    pub kept: usize,
    /// Minimum number of cells that are swept between two fronts.
    pub between: u64,
    /// Approximate number of columns of fronts that are kept. The first and the last front are always kept.
    pub front_columns: usize,
}

impl Kernel for PrunedTrace<'_> {
    type Output = Result<Option<Traceback>, EngineError>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        with_pieces!(self.rectangle.scoring.gaps(), PIECES => self.trace::<S, PIECES>(simd))
    }
}

impl PrunedTrace<'_> {
    #[inline(always)]
    fn trace<S: Simd, const PIECES: usize>(self, simd: S) -> <Self as Kernel>::Output {
        let PrunedTrace { rectangle, window, score, potential, most, kept, between, front_columns } = self;
        let edges = Edges::default();
        let strips = PrunedStrips::<S, PIECES>::new(simd, rectangle, &edges, potential, score);
        let mut fill = PrunedFill { strips, window, filled: Filled::default() };
        let (rows, lanes) = (rectangle.query.len(), <S as Vectors<i32>>::LANES);
        let (mut fronts, mut left, mut next) = (Fronts::new(front_columns), most, most);
        // Directions are kept until there are too many.
        let mut keeps = true;
        for first in (0..rows).step_by(lanes) {
            if left <= next {
                fronts.push(fill.front(first));
                next = left.saturating_sub(between);
            }
            let Some(rest) = left.checked_sub(fill.strip(first, keeps) as u64) else { return Ok(None) };
            left = rest;
            if keeps && fill.filled.words.len() > kept {
                keeps = false;
                fill.filled = Filled::default();
            }
        }
        let mut path = Traceback::new(window);
        if keeps {
            path.through(&mut fill.filled.directions().window(0), 0, 0)?;
            return Ok(Some(path));
        }
        let (mut end, mut below) = (rows, None);
        while let Some(front) = fronts.pop() {
            let first = front.first;
            if let Some(below) = &below {
                fill.strips.threshold = score.max(front_score(below, &path, potential, rectangle.scoring));
            }
            fill.enter(&front);
            let mut upper = Fronts::new(front_columns);
            upper.push(front);
            for first in (first..end).step_by(lanes) {
                if fill.filled.words.len() >= kept {
                    fill.filled = Filled::from(first);
                    upper.push(fill.front(first));
                }
                fill.strip(first, true);
            }
            let filled = std::mem::take(&mut fill.filled);
            end = filled.first;
            path.through(&mut filled.directions().window(0), to_u32(end), 0)?;
            if path.is_done() {
                break;
            }
            below = upper.pop();
            fronts.all.append(&mut upper.all);
        }
        Ok(Some(path))
    }
}

/// The minimum score bound for cells above a front, such that an alignment must leave at the same cell as the path and
/// with the same value (docs/algorithm.md, section 23).
fn front_score<const PIECES: usize>(
    front: &StripFront<PIECES>,
    path: &Traceback,
    potential: &PotentialBehind,
    scoring: &Scoring,
) -> i32 {
    let PathPosition { cols, layer, .. } = path.stand;
    let col = (cols as usize).wrapping_sub(1);
    if !front.live.contains(&col) {
        return 0;
    }
    let col = col - front.live.start;
    let value = match layer.source {
        CellSource::Insertion => {
            let piece = usize::from(layer.piece);
            front.f[piece][col] + scoring.gaps().array::<PIECES>()[piece].extend
        }
        _ => front.h[col],
    };
    value + potential.behind(front.first..front.first + 1)[0] - potential.word()
}

/// Directions of some strips, from row `first` on.
#[derive(Default)]
struct Filled {
    first: usize,
    tiles: Vec<Tile>,
    words: Vec<u32>,
}

impl Filled {
    fn from(first: usize) -> Filled {
        Filled { first, ..Filled::default() }
    }

    fn directions(self) -> Directions {
        let mut layout = TileLayout::default();
        layout.push_window(self.tiles);
        Directions::new(layout, Box::new(self.words))
    }
}

/// The values that enter a strip from above, in the columns in which they count.
struct StripFront<const PIECES: usize> {
    first: usize,
    live: Range<usize>,
    h: Vec<i32>,
    f: [Vec<i32>; PIECES],
}

/// Fronts from top to bottom.
struct Fronts<const PIECES: usize> {
    all: Vec<StripFront<PIECES>>,
    /// [`PrunedTrace::front_columns`].
    columns: usize,
}

impl<const PIECES: usize> Fronts<PIECES> {
    fn new(columns: usize) -> Fronts<PIECES> {
        Fronts { all: Vec::new(), columns }
    }

    /// Adds a front. If the fronts have too many columns together, every second one is dropped, because wide fronts of
    /// a long query would fill the memory.
    fn push(&mut self, front: StripFront<PIECES>) {
        self.all.push(front);
        while self.all.len() > 2 && self.all.iter().map(|front| front.h.len()).sum::<usize>() > self.columns {
            let (mut number, last) = (0, self.all.len() - 1);
            self.all.retain(|_| {
                number += 1;
                (number - 1) % 2 == 0 || number - 1 == last
            });
            if self.all.len() == 3 {
                self.all.remove(1);
            }
        }
    }

    fn pop(&mut self) -> Option<StripFront<PIECES>> {
        self.all.pop()
    }
}

/// Strips whose directions are kept.
struct PrunedFill<'a, S: Rows, const PIECES: usize> {
    strips: PrunedStrips<'a, S, PIECES>,
    window: &'a Window,
    filled: Filled,
}

impl<S: Rows, const PIECES: usize> PrunedFill<'_, S, PIECES> {
    fn front(&self, first: usize) -> StripFront<PIECES> {
        let live = self.strips.live.clone();
        let of = |values: &[i32]| values[live.clone()].to_vec();
        let PrunedStrips { strips, .. } = &self.strips;
        StripFront { first, h: of(&strips.above_h), f: strips.above_f.each_ref().map(|f| of(f)), live }
    }

    /// Restarts from a front.
    fn enter(&mut self, front: &StripFront<PIECES>) {
        self.strips.restart();
        self.strips.live = front.live.clone();
        self.strips.strips.above_h[front.live.clone()].copy_from_slice(&front.h);
        for (above, f) in self.strips.strips.above_f.iter_mut().zip(&front.f) {
            above[front.live.clone()].copy_from_slice(f);
        }
        self.filled = Filled::from(front.first);
        self.strips.keep(front.live.clone(), front.first);
    }

    /// Fills the strip from row `first` on; `keeps` says whether its directions are kept. Returns its number of cells.
    #[inline(always)]
    fn strip(&mut self, first: usize, keeps: bool) -> usize {
        let rows = self.strips.rows(first);
        let band = self.window.band_cols(to_i64(first)..to_i64(first + rows));
        let band = band.start as usize..band.end as usize;
        let begins = if self.strips.begins_in(&(first..first + rows)) { band.clone() } else { 0..0 };
        let cols = self.strips.cols(first, &begins, band);
        let swept = if keeps && !cols.is_empty() {
            let kept = self.filled.words.len();
            let tile = |cols: &Range<usize>| {
                Tile::strip(
                    to_i32(first - self.filled.first),
                    to_u32(cols.start)..to_u32(cols.end),
                    to_u32(S::LANES),
                    cell_bits(PIECES),
                )
            };
            self.filled.words.resize(kept + to_usize(tile(&cols).words()), 0);
            let words = DirectionWriter::new(self.strips.simd, &mut self.filled.words[kept..]);
            let (swept, ..) = self.strips.sweep(first, &begins, cols, words);
            let tile = tile(&swept);
            self.filled.words.truncate(kept + to_usize(tile.words()));
            self.filled.tiles.push(tile);
            swept
        } else {
            self.strips.sweep(first, &begins, cols, Unkept).0
        };
        self.strips.keep(swept.clone(), first + rows);
        rows * swept.len()
    }
}

#[cfg(test)]
mod tests;
