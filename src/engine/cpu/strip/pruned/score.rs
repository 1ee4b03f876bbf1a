//! The first best cell of a long pair, over only those cells through which a better alignment can pass. Passes near the
//! most promising cells find the threshold first (docs/algorithm.md, section 23).

use super::PrunedStrips;
use crate::engine::Edges;
use crate::engine::beginnings::Beginnings;
use crate::engine::cpu::simd::{Kernel, Simd, Vectors};
use crate::engine::cpu::strip::{BestCells, Rectangle};
use crate::engine::potential::PotentialBehind;
use crate::terms::alignment::HitEnd;
use crate::terms::scoring::with_pieces;

/// Length in residues of a gap whose cost is the first pass's tolerance below the most promising cells.
const NEAR: i32 = 32;
/// Factor by which the next pass moves further from the most promising cells if the last pass did not suffice.
const WIDER: i32 = 8;

/// Finds the first best cell of a rectangle's columns from `own` on, in local mode. `None` if that takes too many
/// steps.
pub struct PrunedSweep<'a> {
    pub rectangle: Rectangle<'a>,
    pub own: usize,
    pub potential: &'a PotentialBehind,
    /// Lower scores are not wanted: the sweep may then find any cell with a lower score, or none.
    pub least: Option<i32>,
    /// Maximum number of vectors of cells that may be computed.
    pub most: u64,
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
        let Rectangle { scoring, .. } = self.rectangle;
        let whole = self.potential.whole();
        let near = (scoring.gap_open + NEAR * scoring.gap_extend).min(whole / 4);
        let mut aim = self.least.map_or(Aim::Near(near), Aim::AtLeast);
        let edges = Edges::default();
        let mut strips =
            PrunedStrips::<S, PIECES>::new(simd, self.rectangle, &edges, self.potential, aim.least(whole));
        loop {
            let PassResult { best, least } = self.pass(&mut strips, aim)?;
            if best.score >= least || self.least.is_some() {
                return Some(best);
            }
            // How far the cells of an alignment with this score can be below the bound.
            let slack = whole - best.score;
            aim = match aim {
                // The pass may have lost the best alignment at an inversion or a long gap.
                Aim::Near(near) if slack / WIDER > near => Aim::Near(near * WIDER),
                Aim::Near(_) if best.score > 0 => Aim::AtLeast(best.score),
                _ => return None,
            };
            strips.restart();
        }
    }

    /// Sweeps all strips once. `None` if that takes too many steps.
    #[inline(always)]
    fn pass<S: Simd, const PIECES: usize>(
        &mut self,
        strips: &mut PrunedStrips<'_, S, PIECES>,
        aim: Aim,
    ) -> Option<PassResult> {
        let Rectangle { query, target, scoring } = self.rectangle;
        strips.threshold = aim.least(self.potential.whole());
        let (mut best, mut least) = (HitEnd::default(), strips.threshold);
        let mut beginnings: Option<Beginnings> = None;
        for first in (0..query.len()).step_by(<S as Vectors<i32>>::LANES) {
            let end = first + strips.rows(first);
            let begins = match strips.begins_in(&(first..end)) {
                false => 0..0,
                true => {
                    let threshold = strips.threshold;
                    let known = beginnings.take().filter(|known| known.include(threshold));
                    let new = || {
                        // The threshold of this pass may fall further.
                        let least = aim.least(threshold).min(threshold);
                        Beginnings::new((query, target), scoring, self.potential, least)
                    };
                    beginnings.insert(known.unwrap_or_else(new)).cols(&(first..end), target.len())
                }
            };
            let cols = strips.cols(first, &begins, 0..target.len());
            let start = cols.start;
            let own = self.own.saturating_sub(start);
            let sink = BestCells::new(strips.simd, own, cols.len());
            let (swept, steps, sink) = strips.sweep(first, &begins, cols, sink);
            if steps == 0 {
                continue;
            }
            sink.add_to(&mut best, (first, query.len()), start);
            self.most = self.most.checked_sub(steps as u64)?;
            let promising = strips.attainable(swept.clone(), end);
            strips.threshold = aim.least(promising.max(self.potential.from(end)).max(best.score));
            least = least.max(strips.threshold);
            strips.keep(swept, end);
        }
        Some(PassResult { best, least })
    }
}

#[cfg(test)]
mod tests;
