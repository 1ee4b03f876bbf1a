//! The path of a long alignment whose score is known. Directions are filled only for cells through which an alignment
//! with that score can pass (docs/algorithm.md, section 23).

use super::{DirectionWriter, Rectangle, Strips, Unkept};
use crate::engine::carry::IMPOSSIBLE;
use crate::engine::cpu::simd::{Kernel, Rows, Simd, Vectors};
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
        let strips = Strips::<S, PIECES>::new(simd, rectangle, &edges);
        let filled = Filled::default();
        let mut fill = PrunedFill { simd, strips, window, score, potential, live: 0..0, filled };
        let (rows, lanes) = (rectangle.query.len(), <S as Vectors<i32>>::LANES);
        let (mut fronts, mut left, mut next) = (Fronts::new(front_columns), most, most);
        for first in (0..rows).step_by(lanes) {
            if left <= next {
                fronts.push(fill.front(first));
                next = left.saturating_sub(between);
            }
            let Some(rest) = left.checked_sub(fill.strip(first, false) as u64) else { return Ok(None) };
            left = rest;
        }
        let mut path = Traceback::new(window);
        let (mut end, mut below) = (rows, None);
        while let Some(front) = fronts.pop() {
            let first = front.first;
            if let Some(below) = &below {
                fill.score = score.max(front_score(below, &path, potential, rectangle.scoring));
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

/// Strips of the cells that count. Other cells get the values of the matrix border from above.
struct PrunedFill<'a, S: Rows, const PIECES: usize> {
    simd: S,
    strips: Strips<'a, S, PIECES>,
    window: &'a Window,
    score: i32,
    potential: &'a PotentialBehind,
    /// Columns with values from above that count.
    live: Range<usize>,
    filled: Filled,
}

impl<S: Rows, const PIECES: usize> PrunedFill<'_, S, PIECES> {
    fn front(&self, first: usize) -> StripFront<PIECES> {
        let of = |values: &[i32]| values[self.live.clone()].to_vec();
        let f = self.strips.above_f.each_ref().map(|f| of(f));
        StripFront { first, live: self.live.clone(), h: of(&self.strips.above_h), f }
    }

    /// Restarts from a front.
    fn enter(&mut self, front: &StripFront<PIECES>) {
        self.close(self.live.clone());
        self.live = front.live.clone();
        self.strips.above_h[self.live.clone()].copy_from_slice(&front.h);
        for (above, f) in self.strips.above_f.iter_mut().zip(&front.f) {
            above[self.live.clone()].copy_from_slice(f);
        }
        self.filled = Filled::from(front.first);
        self.keep(front.live.clone(), front.first);
    }

    /// Closes those columns from which the score is out of reach after the first `rows` rows.
    fn keep(&mut self, cols: Range<usize>, rows: usize) {
        let least = self.score - self.potential.behind(rows..rows + 1)[0];
        let gaps = self.strips.given.rectangle.scoring.gaps();
        let mut live = cols.end..cols.start;
        for (below, piece) in self.strips.above_f.iter().zip(gaps.pieces()) {
            // The cell above may score as much as a gap that opens there. An extended gap has already paid for that.
            let least = least - piece.first();
            let below = &below[cols.clone()];
            if let Some(first) = below.iter().position(|&f| f >= least) {
                let last = below.iter().rposition(|&f| f >= least).unwrap_or(first);
                live = live.start.min(cols.start + first)..live.end.max(cols.start + last + 1);
            }
        }
        self.live = if live.start < live.end { live } else { cols.end..cols.end };
        self.close(cols.start..self.live.start);
        self.close(self.live.end..cols.end);
    }

    /// Resets the values from above in these columns, so that they no longer count.
    fn close(&mut self, cols: Range<usize>) {
        let cols = cols.start..cols.end.max(cols.start);
        self.strips.above_h[cols.clone()].fill(0);
        self.strips.above_f.iter_mut().for_each(|f| f[cols.clone()].fill(IMPOSSIBLE));
    }

    /// Fills the strip from row `first` on; `keeps` says whether its directions are kept. Returns its number of cells.
    #[inline(always)]
    fn strip(&mut self, first: usize, keeps: bool) -> usize {
        let Rectangle { query, scoring, .. } = self.strips.given.rectangle;
        let rows = S::LANES.min(query.len() - first);
        let most = self.potential.behind(first..first + rows + 1);
        let gaps = scoring.gaps();
        let band = self.window.band_cols(to_i64(first)..to_i64(first + rows));
        let band = band.start as usize..band.end as usize;
        let cols = match most[..rows].iter().any(|&most| most >= self.score) {
            true => band,
            false if self.live.is_empty() => 0..0,
            false => {
                // The cell above may score as much as a gap that opens there. Deletions reach as far as the score can
                // still be attained.
                let highest = |f: &Vec<i32>| f[self.live.clone()].iter().copied().max().unwrap_or(IMPOSSIBLE);
                let above = self.strips.above_f.iter().zip(gaps.pieces());
                let above = above.map(|(f, piece)| highest(f) + piece.first()).max().unwrap_or(IMPOSSIBLE);
                let most = above + to_i32(rows) * scoring.max_potential() + most[rows];
                let most = most + scoring.bonuses(&query[first..first + rows]);
                let reach = to_usize((most - self.score).max(0) / gaps.lower_bound().extend);
                self.live.start.max(band.start)..(self.live.end + rows + reach).min(band.end)
            }
        };
        self.close(self.live.start..self.live.end.min(cols.start));
        self.close(self.live.start.max(cols.end)..self.live.end);
        if cols.is_empty() {
            self.live = 0..0;
            return 0;
        }
        if keeps {
            let tile = Tile::strip(
                to_i32(first - self.filled.first),
                to_u32(cols.start)..to_u32(cols.end),
                to_u32(S::LANES),
                cell_bits(PIECES),
            );
            let kept = self.filled.words.len();
            self.filled.words.resize(kept + to_usize(tile.words()), 0);
            self.filled.tiles.push(tile);
            let mut words = DirectionWriter::new(self.simd, &mut self.filled.words[kept..]);
            self.strips.strip(first, cols.clone(), &mut words);
        } else {
            self.strips.strip(first, cols.clone(), &mut Unkept);
        }
        self.keep(cols.clone(), first + rows);
        rows * cols.len()
    }
}

#[cfg(test)]
mod tests;
