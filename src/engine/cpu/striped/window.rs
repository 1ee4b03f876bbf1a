//! How much of a matrix lanes of 16 bits hold at a time, and what scores are in them (docs/algorithm.md, section 9).

use crate::engine::cpu::lanes::Costs;
use crate::engine::cpu::simd::Lane;
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::scoring::Scoring;

/// Rows of a strip for each lane of 16 bits, at most: what a column reads and writes should stay in the nearest cache.
const MOST_ROWS: usize = 64;
const LEAST_ROWS: usize = 4;
/// Rows that a gap from above is followed through before it is asked again whether it counts.
pub const FOLLOWED: usize = 4;
/// Columns of a window, at most.
const MOST_COLS: i64 = 1 << 12;

/// What a window of lanes of 16 bits holds, so that no value leaves their range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    pub rows: usize,
    pub cols: usize,
    /// How far below the highest value that enters a window its values lie, at most.
    pub spread: i32,
    pub values: LaneValues,
}

impl WindowSize {
    /// For `lanes` lanes of 16 bits; `None` where neighbouring cells may differ by too much.
    pub fn of(scoring: &Scoring, lanes: usize) -> Option<WindowSize> {
        let costs = Costs::new(scoring);
        let values = LaneValues::of::<i16>(&costs)?;
        let (best, most) = (i64::from(costs.best), i64::from(values.most));
        // Cells side by side, or one above the other, differ by no more than this.
        let step = best + i64::from(costs.first);
        let with = |rows: usize| {
            let cols = (most - best - step * (to_i64(rows) + 2)) / (step + best);
            let cols = cols.min(MOST_COLS);
            let spread = step * (to_i64(rows) + cols + 2);
            let size = || WindowSize { rows, cols: to_usize(cols), spread: to_i32(spread), values };
            (cols >= to_i64(rows) / 2).then(size)
        };
        let mut heights = std::iter::successors(Some(MOST_ROWS), |rows| Some(rows / 2));
        heights.by_ref().take_while(|&rows| rows >= LEAST_ROWS).find_map(|rows| with(rows * lanes))
    }
}

/// What scores are as values of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneValues {
    /// The floor's.
    pub zero: i32,
    pub most: i32,
    pub first: i32,
    pub extend: i32,
    /// The score that the floor stands for.
    pub origin: i32,
}

impl LaneValues {
    /// Gaps that are followed may sink lower than what other steps compute; `None` where lanes of this type don't hold the
    /// penalties.
    #[inline(always)]
    pub fn of<T: Lane>(costs: &Costs) -> Option<LaneValues> {
        let sink = to_i64(FOLLOWED) * i64::from(costs.extend);
        let (zero, most) = (costs.zero::<T>() + sink, costs.most::<T>()? - sink);
        let (first, extend) = (costs.first, costs.extend);
        let of = LaneValues { zero: to_i32(zero), most: to_i32(most), first, extend, origin: 0 };
        (most >= i64::from(costs.best).max(1)).then_some(of)
    }

    #[inline(always)]
    pub fn h(&self, h: i32) -> i32 {
        h.saturating_sub(self.origin).max(0) + self.zero
    }

    #[inline(always)]
    pub fn gap(&self, gap: i32) -> i32 {
        gap.saturating_sub(self.origin).max(-self.first) + self.zero
    }

    #[inline(always)]
    pub fn score(&self, value: i32) -> i32 {
        value - self.zero + self.origin
    }
}
