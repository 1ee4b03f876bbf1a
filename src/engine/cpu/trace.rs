//! Paths of windows that lie side by side in the lanes of vectors: their bands are filled row by row, and
//! each is walked from its end.

use super::lanes::{Costs, Equality, Nothing, Substitutes, side_by_side, tables};
use super::score::Width;
use super::simd::{Kernel, Lane, Simd, Vectors};
use crate::batch::Batch;
use crate::engine::directions::{EXTEND_DELETION, EXTEND_INSERTION};
use crate::engine::paths::run_word;
use crate::engine::{Source, Window};
use crate::error::EngineError;
use crate::scoring::Substitution;
use bytemuck::cast_slice;
use std::ops::Range;

/// Bits of a cell's directions.
const CELL_BITS: u32 = 4;

/// Windows, at most as many as there are lanes; adds the runs of each one's path to `words`. The answer
/// is where they lie.
pub struct Trace<'a> {
    pub batch: &'a Batch,
    pub windows: &'a [Window],
    /// Places among `windows`.
    pub group: &'a [u32],
    pub width: Width,
    pub words: &'a mut Vec<u32>,
}

impl Kernel for Trace<'_> {
    type Output = Result<Vec<Range<u32>>, EngineError>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        match self.width {
            Width::W8 => self.in_lanes::<i8, S>(simd),
            _ => self.in_lanes::<i16, S>(simd),
        }
    }
}

/// The band that holds those of all windows of a group, their last cells one above the other. Cell d of
/// row i is in column i + d of the group's targets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    pub rows: u32,
    deletions: u32,
    insertions: u32,
}

impl Shape {
    pub fn of(window: &Window) -> Shape {
        let band = window.band;
        Shape { rows: window.query_end, deletions: band.deletions, insertions: band.insertions }
    }

    pub fn with(self, other: Shape) -> Shape {
        Shape {
            rows: self.rows.max(other.rows),
            deletions: self.deletions.max(other.deletions),
            insertions: self.insertions.max(other.insertions),
        }
    }

    pub fn cells(self) -> u64 {
        u64::from(self.rows) * self.width()
    }

    /// Cells of a row.
    pub fn width(self) -> u64 {
        u64::from(self.deletions) + u64::from(self.insertions) + 1
    }
}

impl Trace<'_> {
    #[inline(always)]
    fn in_lanes<T: Lane, S: Vectors<T>>(self, simd: S) -> Result<Vec<Range<u32>>, EngineError> {
        let members = || self.group.iter().map(|&place| &self.windows[place as usize]);
        let shape = members().map(Shape::of).fold(Shape::default(), Shape::with);
        let rows = shape.rows as usize;
        let width = shape.width().next_multiple_of(u64::from(T::BITS / CELL_BITS)) as usize;
        let nothing = Nothing::of(&self.batch.scoring);
        let queries = members().map(|window| {
            let query = &self.batch.query(window.query)[..window.query_end as usize];
            (rows - query.len(), query)
        });
        let queries = side_by_side::<T, S>(rows, nothing.query, |code| nothing.query(code), queries);
        // Behind its last residue a target has as many columns as the band has insertions.
        let end = rows + shape.deletions as usize;
        let targets = members().map(|window| {
            let target = &self.batch.target(window.target)[window.start as usize..window.target_end as usize];
            let target = &target[target.len() - target.len().min(end)..];
            (end - target.len(), target)
        });
        let targets =
            side_by_side::<T, S>(rows + width, nothing.target, |code| nothing.target(code), targets);
        let costs = Costs::new(&self.batch.scoring);
        let band = Band { queries, targets, width };
        let directions = match &self.batch.scoring.substitution {
            Substitution::Equal { match_, mismatch } => {
                band.fill::<T, S, _>(simd, costs, Equality::new(simd, *match_, *mismatch))
            }
            Substitution::Matrix(matrix) => band.fill::<T, S, _>(simd, costs, &tables(matrix)),
        };
        let directions: &[T] = cast_slice(&directions);
        let cells = Cells { directions, lanes: S::LANES, width };
        let places = (0..self.group.len()).map(|lane| {
            let start = self.words.len() as u32;
            cells.walk(lane, rows, shape.deletions as usize, self.words)?;
            Ok(start..self.words.len() as u32)
        });
        places.collect()
    }
}

/// Letters of a group's band.
struct Band<V> {
    /// A vector a row.
    queries: Vec<V>,
    /// A vector a column.
    targets: Vec<V>,
    width: usize,
}

impl<V: bytemuck::Pod> Band<V> {
    /// The directions of the band, row by row, those of as many cells in a lane as it has bits for. Cells
    /// outside count as H = 0 without a gap.
    #[inline(always)]
    fn fill<T: Lane, S: Vectors<T, V = V>, U: Substitutes<T, S>>(
        &self,
        simd: S,
        costs: Costs,
        substitutes: U,
    ) -> Vec<V> {
        let lane = |value: i64| simd.splat(T::of(value as i32));
        let zero = lane(costs.zero::<T>());
        let gap = lane(costs.zero::<T>() - i64::from(costs.first));
        let first = lane(i64::from(costs.first));
        let extend = lane(i64::from(costs.extend));
        let bit = |bits: u8| lane(i64::from(bits) << (T::BITS - CELL_BITS));
        let [diagonal, deletion, insertion] =
            [Source::Diagonal, Source::Deletion, Source::Insertion].map(|source| bit(source as u8));
        let [longer_deletion, longer_insertion] = [bit(EXTEND_DELETION), bit(EXTEND_INSERTION)];
        let stop = lane(0);
        let cells = (T::BITS / CELL_BITS) as usize;
        // [H(i-1,j-1), F(i,j-1)] of the cells of the row above.
        let mut above = vec![[zero, gap]; self.width + 1];
        let mut directions = Vec::with_capacity(self.queries.len() * self.width / cells);
        for (i, &query) in self.queries.iter().enumerate() {
            let targets = &self.targets[i..i + self.width];
            let mut e = gap;
            for (at, targets) in targets.chunks_exact(cells).enumerate() {
                let above = &mut above[at * cells..(at + 1) * cells + 1];
                let mut bits = stop;
                for (k, &target) in targets.iter().enumerate() {
                    // Invariant: e = E(i,j), f = F(i,j).
                    let f = above[k + 1][1];
                    let matched = simd.add(above[k][0], substitutes.score(simd, query, target));
                    let h = simd.max(simd.max(simd.max(matched, zero), f), e);
                    let opened = simd.sub(h, first);
                    let (longer_e, longer_f) = (simd.sub(e, extend), simd.sub(f, extend));
                    let source = simd.select(simd.eq(h, e), deletion, insertion);
                    let source = simd.select(simd.eq(h, matched), diagonal, source);
                    let source = simd.select(simd.eq(h, zero), stop, source);
                    let goes_on = simd.or(
                        simd.select(simd.gt(longer_e, opened), longer_deletion, stop),
                        simd.select(simd.gt(longer_f, opened), longer_insertion, stop),
                    );
                    bits = simd.shift_and_or(bits, simd.or(source, goes_on));
                    e = simd.max(opened, longer_e);
                    above[k] = [h, simd.max(opened, longer_f)];
                }
                directions.push(bits);
            }
        }
        directions
    }
}

/// The directions of a group's band.
struct Cells<'a, T> {
    directions: &'a [T],
    lanes: usize,
    width: usize,
}

impl<T: Lane> Cells<'_, T> {
    fn get(&self, lane: usize, row: usize, cell: usize) -> u8 {
        let cells = (T::BITS / CELL_BITS) as usize;
        let word = (row * self.width + cell) / cells * self.lanes + lane;
        let shift = CELL_BITS * (cell % cells) as u32;
        (self.directions[word].unsigned() >> shift) as u8 & 15
    }

    /// Adds the runs of a lane's path from the last row and `cell` on to `words`.
    fn walk(
        &self,
        lane: usize,
        rows: usize,
        mut cell: usize,
        words: &mut Vec<u32>,
    ) -> Result<(), EngineError> {
        let (mut row, mut gap, mut len, mut last) = (rows, 0, 0, Source::Stop);
        while row > 0 && cell < self.width {
            let bits = self.get(lane, row - 1, cell);
            // In a gap the path goes on with it as long as it was extended.
            let source = if bits & gap != 0 { source_of(gap) } else { Source::of(bits) };
            (row, cell, gap) = match source {
                Source::Stop => break,
                Source::Diagonal => (row - 1, cell, 0),
                Source::Deletion => (row, cell.wrapping_sub(1), EXTEND_DELETION),
                Source::Insertion => (row - 1, cell + 1, EXTEND_INSERTION),
            };
            if source != last && len > 0 {
                words.push(run_word(len, last));
                len = 0;
            }
            (last, len) = (source, len + 1);
        }
        // Nothing at all is a path, too, and needs its zero.
        words.push(if len > 0 { run_word(len, last) } else { 0 });
        match cell < self.width {
            true => Ok(()),
            false => Err(EngineError::Wrong("a path leaves its band".to_string())),
        }
    }
}

/// The source that goes on with a gap.
fn source_of(gap: u8) -> Source {
    if gap == EXTEND_DELETION { Source::Deletion } else { Source::Insertion }
}
