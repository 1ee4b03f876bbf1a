//! The path of a long alignment whose score is known. Directions are filled only for cells through which an alignment
//! with that score can pass (docs/algorithm.md, section 23).

use super::{Rectangle, Strips, Unkept, Words};
use crate::engine::carry::IMPOSSIBLE;
use crate::engine::cpu::simd::{Kernel, Rows, Simd, Vectors};
use crate::engine::directions::{CELL_BITS, Directions, Layout, Source, Tile};
use crate::engine::potential::PotentialBehind;
use crate::engine::traceback::Traceback;
use crate::engine::{Edges, Stand, Window};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
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
        let PrunedTrace { rectangle, window, score, potential, most, kept, between, front_columns } = self;
        let edges = Edges::default();
        let strips = Strips::new(simd, rectangle, &edges);
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
fn front_score(front: &Front, path: &Traceback, potential: &PotentialBehind, scoring: &Scoring) -> i32 {
    let Stand { cols, layer, .. } = path.stand;
    let col = (cols as usize).wrapping_sub(1);
    if !front.live.contains(&col) {
        return 0;
    }
    let col = col - front.live.start;
    let value = match layer.source {
        Source::Insertion => front.f[col] + scoring.gap_extend,
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
        let mut layout = Layout::default();
        layout.push_window(self.tiles);
        Directions::new(layout, Box::new(self.words))
    }
}

/// The values that enter a strip from above, in the columns in which they count.
struct Front {
    first: usize,
    live: Range<usize>,
    h: Vec<i32>,
    f: Vec<i32>,
}

/// Fronts from top to bottom.
struct Fronts {
    all: Vec<Front>,
    /// [`PrunedTrace::front_columns`].
    columns: usize,
}

impl Fronts {
    fn new(columns: usize) -> Fronts {
        Fronts { all: Vec::new(), columns }
    }

    /// Adds a front. If the fronts have too many columns together, every second one is dropped, because wide fronts of
    /// a long query would fill the memory.
    fn push(&mut self, front: Front) {
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

    fn pop(&mut self) -> Option<Front> {
        self.all.pop()
    }
}

/// Strips of the cells that count. Other cells get the values of the matrix border from above.
struct PrunedFill<'a, S: Rows> {
    simd: S,
    strips: Strips<'a, S, 1>,
    window: &'a Window,
    score: i32,
    potential: &'a PotentialBehind,
    /// Columns with values from above that count.
    live: Range<usize>,
    filled: Filled,
}

impl<S: Rows> PrunedFill<'_, S> {
    fn front(&self, first: usize) -> Front {
        let of = |values: &[i32]| values[self.live.clone()].to_vec();
        let [above_f] = &self.strips.above_f;
        Front { first, live: self.live.clone(), h: of(&self.strips.above_h), f: of(above_f) }
    }

    /// Restarts from a front.
    fn enter(&mut self, front: &Front) {
        self.close(self.live.clone());
        self.live = front.live.clone();
        self.strips.above_h[self.live.clone()].copy_from_slice(&front.h);
        self.strips.above_f[0][self.live.clone()].copy_from_slice(&front.f);
        self.filled = Filled::from(front.first);
        self.keep(front.live.clone(), front.first);
    }

    /// Closes those columns from which the score is out of reach after the first `rows` rows.
    fn keep(&mut self, cols: Range<usize>, rows: usize) {
        let Scoring { gap_open, gap_extend, .. } = *self.strips.given.rectangle.scoring;
        // An extended gap has already paid `gap_open`.
        let least = self.score - self.potential.behind(rows..rows + 1)[0] - gap_open - gap_extend;
        let below = &self.strips.above_f[0][cols.clone()];
        let start = below.iter().position(|&f| f >= least).unwrap_or(below.len());
        let end = below.iter().rposition(|&f| f >= least).map_or(start, |last| last + 1);
        self.live = cols.start + start..cols.start + end;
        self.close(cols.start..self.live.start);
        self.close(self.live.end..cols.end);
    }

    /// Resets the values from above in these columns, so that they no longer count.
    fn close(&mut self, cols: Range<usize>) {
        let cols = cols.start..cols.end.max(cols.start);
        self.strips.above_h[cols.clone()].fill(0);
        self.strips.above_f[0][cols].fill(IMPOSSIBLE);
    }

    /// Fills the strip from row `first` on; `keeps` says whether its directions are kept. Returns its number of cells.
    #[inline(always)]
    fn strip(&mut self, first: usize, keeps: bool) -> usize {
        let Rectangle { query, scoring, .. } = self.strips.given.rectangle;
        let rows = S::LANES.min(query.len() - first);
        let most = self.potential.behind(first..first + rows + 1);
        let opens = scoring.gap_open + scoring.gap_extend;
        let band = self.window.band_cols(to_i64(first)..to_i64(first + rows));
        let band = band.start as usize..band.end as usize;
        let cols = match most[..rows].iter().any(|&most| most >= self.score) {
            true => band,
            false if self.live.is_empty() => 0..0,
            false => {
                // An extended gap has already paid `gap_open`. Deletions reach as far as the score can still be
                // attained.
                let above = &self.strips.above_f[0][self.live.clone()];
                let above = above.iter().copied().max().unwrap_or(IMPOSSIBLE) + opens;
                let most = above + to_i32(rows) * scoring.max_potential() + most[rows];
                let most = most + scoring.bonuses(&query[first..first + rows]);
                let reach = to_usize((most - self.score).max(0) / scoring.gap_extend);
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
                CELL_BITS,
            );
            let kept = self.filled.words.len();
            self.filled.words.resize(kept + to_usize(tile.words()), 0);
            self.filled.tiles.push(tile);
            let mut words = Words::new(self.simd, &mut self.filled.words[kept..]);
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
