//! Sweeps of only those cells through which an alignment with a high enough score can pass.
//!
//! Query words that are absent from the target bound how much an alignment can still score after each row. Each strip
//! is swept only in columns that receive a value from which the threshold can be reached. Passes near the most
//! promising cells find the threshold first (docs/algorithm.md, section 23).

use super::{Strip, StripedColumns, StripedSubstitutes, WindowSize, letters_of};
use crate::engine::Carried;
use crate::engine::carry::IMPOSSIBLE;
use crate::engine::cpu::lanes::Nothing;
use crate::engine::cpu::simd::{Kernel, Simd, Vectors};
use crate::engine::cpu::strip::Rectangle;
use crate::engine::potential::PotentialBehind;
use crate::terms::alignment::HitEnd;
use crate::terms::scoring::with_pieces;
use std::ops::Range;

/// Maximum number of strip rows for each 16-bit lane.
const ROWS: usize = 8;
/// Number of columns between checks whether any value still reaches the next columns.
const COLUMNS: usize = 64;
/// Length in residues of a gap whose cost is the first pass's tolerance below the most promising cells.
const NEAR: i32 = 64;
/// Factor by which the next pass moves further from the most promising cells if the last pass did not suffice.
const WIDER: i32 = 8;

/// Finds the first best cell of a rectangle's columns from `own` on, in local mode. `None` if that takes too many
/// steps.
pub struct PrunedSweep<'a> {
    pub rectangle: Rectangle<'a>,
    pub own: usize,
    pub size: WindowSize,
    pub potential: &'a PotentialBehind,
    /// Lower scores are not wanted: the sweep may then find any cell with a lower score, or none.
    pub least: Option<i32>,
    /// Maximum number of vectors of cells that may be computed, and the overhead of each column in such vectors.
    pub most: u64,
    pub column: u64,
}

/// The cells from which a pass continues.
#[derive(Clone, Copy)]
enum Aim {
    /// Cells whose attainable score is below that of the most promising cell by at most this much.
    Near(i32),
    /// Cells from which this score is attainable.
    AtLeast(i32),
}

impl Aim {
    /// The minimum attainable score of a cell, if the maximum of all cells is `most`.
    fn least(self, most: i32) -> i32 {
        match self {
            Aim::Near(less) => most - less,
            Aim::AtLeast(score) => score,
        }
    }
}

/// The result of a pass.
struct PassResult {
    best: HitEnd,
    /// Alignments that the pass did not cover score less than this.
    least: i32,
}

impl Kernel for PrunedSweep<'_> {
    type Output = Option<HitEnd>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<HitEnd> {
        with_pieces!(self.rectangle.scoring.gaps(), PIECES => self.find::<S, PIECES>(simd))
    }
}

impl PrunedSweep<'_> {
    #[inline(always)]
    fn find<S: Simd, const PIECES: usize>(mut self, simd: S) -> Option<HitEnd> {
        let scoring = self.rectangle.scoring;
        if let Some(least) = self.least {
            return self.pass::<S, PIECES>(simd, Aim::AtLeast(least)).map(|found| found.best);
        }
        let near = (scoring.gap_open + NEAR * scoring.gap_extend).min(self.potential.whole() / 4);
        let mut aim = Aim::Near(near);
        loop {
            let PassResult { best, least } = self.pass::<S, PIECES>(simd, aim)?;
            if best.score >= least {
                return Some(best);
            }
            // How far the cells of an alignment with this score can be below the bound.
            let slack = self.potential.whole() - best.score;
            aim = match aim {
                // The pass may have lost the best alignment at an inversion or a long gap.
                Aim::Near(near) if slack / WIDER > near => Aim::Near(near * WIDER),
                Aim::Near(_) if best.score > 0 => Aim::AtLeast(best.score),
                _ => return None,
            };
        }
    }

    /// Sweeps all strips once. `None` if that takes too many steps.
    #[inline(always)]
    fn pass<S: Simd, const PIECES: usize>(&mut self, simd: S, aim: Aim) -> Option<PassResult> {
        let Rectangle { query, target, scoring } = self.rectangle;
        let nothing = Nothing::of(scoring);
        let letters: Vec<u8> = target.iter().map(|&code| nothing.target(code)).collect();
        let (substitutes, present) = (StripedSubstitutes::new(scoring), letters_of(&letters));
        let lanes = <S as Vectors<i16>>::LANES;
        let height = self.size.rows.min(ROWS * lanes);
        let mut front = StripedFront::<PIECES>::new(target.len());
        let mut behind = vec![Carried::BORDER; height];
        let mut threshold = aim.least(self.potential.whole());
        let (mut best, mut least) = (HitEnd::default(), threshold);
        let mut end = 0;
        while end < query.len() {
            let first = end;
            end = query.len().min(first + height);
            // An alignment may begin in any row after which the threshold is attainable, so all columns of these rows
            // are swept.
            let begins = |&most: &i32| most >= threshold;
            let cols = match self.potential.behind(first..end).iter().rposition(begins) {
                Some(last) => {
                    end = end.min(first + (last + 1).next_multiple_of(lanes));
                    0..target.len()
                }
                None => front.enters(),
            };
            if cols.is_empty() {
                continue;
            }
            let query = &query[first..end];
            let behind = &mut behind[..query.len()];
            behind.fill(Carried::BORDER);
            let columns =
                StripedColumns { query, letters: &letters, above: &mut front.above, behind, corner: 0 };
            // Only scores at or above the threshold are of interest.
            let known = HitEnd { score: threshold.max(1) - 1, ..HitEnd::default() };
            let known = if best.score > known.score { best } else { known };
            let mut strip = Strip {
                substitutes: &substitutes,
                present: &present,
                scoring,
                columns,
                own: self.own,
                best: known,
                first,
            };
            let most = self.potential.behind(first + 1..end + 1);
            let swept = strip.sweep(simd, self.size, cols.start, |strip, col| {
                let to_check = (col + COLUMNS).min(target.len());
                match col < cols.end {
                    true => Some(cols.end),
                    false => (col < target.len() && goes_on(strip.columns.behind, most, threshold))
                        .then_some(to_check),
                }
            });
            if strip.best.query_end > 0 {
                best = strip.best;
            }
            let steps = query.len().div_ceil(lanes) as u64 + self.column;
            self.most = self.most.checked_sub(steps * (swept - cols.start) as u64)?;
            // The cell above may score as much as a gap that opens there. An extended gap has already paid for that.
            let pieces = scoring.gaps().array::<PIECES>();
            let attainable = |value: &Carried<i32, PIECES>| {
                let gaps = value.gaps.iter().zip(&pieces).map(|(gap, piece)| gap + piece.first());
                gaps.fold(IMPOSSIBLE, i32::max)
            };
            let rest = most[query.len() - 1];
            let swept = cols.start..swept;
            let promising = front.most(swept.clone(), attainable) + rest;
            threshold = aim.least(promising.max(self.potential.from(end)).max(best.score));
            least = least.max(threshold);
            front.keep(swept, |value| attainable(value) >= threshold - rest);
        }
        Some(PassResult { best, least })
    }
}

/// Whether the threshold is attainable from a cell of a column, or from a deletion that continues after it.
#[inline(always)]
fn goes_on<const PIECES: usize>(column: &[Carried<i32, PIECES>], behind: &[i32], threshold: i32) -> bool {
    let highest = |value: &Carried<i32, PIECES>| value.gaps.iter().fold(value.h, |most, &gap| most.max(gap));
    column.iter().zip(behind).any(|(value, &most)| highest(value) + most >= threshold)
}

/// The values that enter the next strip from above. Values that don't count are replaced by those of the matrix border.
struct StripedFront<const PIECES: usize> {
    /// H and F of each column.
    above: Vec<Carried<i32, PIECES>>,
    live: Range<usize>,
}

impl<const PIECES: usize> StripedFront<PIECES> {
    fn new(cols: usize) -> StripedFront<PIECES> {
        StripedFront { above: vec![Carried::BORDER; cols], live: 0..0 }
    }

    /// The columns that receive a value from above, vertically or diagonally.
    fn enters(&self) -> Range<usize> {
        let Range { start, end } = self.live;
        if start == end { 0..0 } else { start..(end + 1).min(self.above.len()) }
    }

    /// The highest score of some columns.
    fn most(&self, cols: Range<usize>, score: impl Fn(&Carried<i32, PIECES>) -> i32) -> i32 {
        self.above[cols].iter().map(score).max().unwrap_or(IMPOSSIBLE)
    }

    /// Of the swept columns, keeps those from the first to the last that count.
    fn keep(&mut self, swept: Range<usize>, counts: impl Fn(&Carried<i32, PIECES>) -> bool) {
        let cells = &mut self.above[swept.clone()];
        let first = cells.iter().position(&counts).unwrap_or(cells.len());
        let end = cells.iter().rposition(counts).map_or(first, |last| last + 1);
        cells[..first].fill(Carried::BORDER);
        cells[end..].fill(Carried::BORDER);
        self.live = swept.start + first..swept.start + end;
    }
}

#[cfg(test)]
mod tests;
