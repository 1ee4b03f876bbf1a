//! How much of a matrix 16-bit lanes hold at once, and their values of scores (docs/algorithm.md, section 9).

use crate::engine::cpu::lanes::StepCosts;
use crate::engine::cpu::simd::Lane;
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::scoring::{GapPiece, Scoring};

/// Maximum number of strip rows for each 16-bit lane: the values of a column should stay in the nearest cache.
const MOST_ROWS: usize = 64;
const LEAST_ROWS: usize = 4;
/// Number of rows that a gap from above is followed through before the next check whether it counts.
pub const FOLLOWED: usize = 4;
/// Maximum number of columns of a window.
const MOST_COLS: i64 = 1 << 12;

/// Size of a window of 16-bit lanes in which no value overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    pub rows: usize,
    pub cols: usize,
    /// Maximum distance of its values below the highest value that enters the window.
    pub spread: i32,
    pub values: LaneValues,
}

impl WindowSize {
    /// Window size for `lanes` 16-bit lanes. `None` if neighboring cells may differ too much.
    pub fn of(scoring: &Scoring, lanes: usize) -> Option<WindowSize> {
        let costs = StepCosts::new(scoring);
        let values = LaneValues::of::<i16>(&costs)?;
        let (best, most) = (i64::from(costs.best), i64::from(values.most));
        // Horizontal and vertical neighbors differ by at most this.
        let step = best + i64::from(costs.gaps.first.first());
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

/// Conversion of scores to lane values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneValues {
    /// Lane value of the floor.
    pub zero: i32,
    pub most: i32,
    /// The score at the floor.
    pub origin: i32,
}

impl LaneValues {
    /// Gaps that are followed may become lower than the results of other steps. `None` if lanes of this type cannot
    /// hold the penalties.
    #[inline(always)]
    pub fn of<T: Lane>(costs: &StepCosts) -> Option<LaneValues> {
        // The first piece extends at the highest cost.
        let sink = to_i64(FOLLOWED) * i64::from(costs.gaps.first.extend);
        let (zero, most) = (costs.zero::<T>() + sink, costs.most::<T>()? - sink);
        let of = LaneValues { zero: to_i32(zero), most: to_i32(most), origin: 0 };
        (most >= i64::from(costs.best).max(1)).then_some(of)
    }

    #[inline(always)]
    pub fn h(&self, h: i32) -> i32 {
        h.saturating_sub(self.origin).max(0) + self.zero
    }

    #[inline(always)]
    pub fn gap(&self, gap: i32, piece: GapPiece) -> i32 {
        gap.saturating_sub(self.origin).max(-piece.first()) + self.zero
    }

    /// The lane value of a gap that opens where H is at the floor.
    #[inline(always)]
    pub fn lowest_gap(&self, piece: GapPiece) -> i32 {
        self.zero - piece.first()
    }

    #[inline(always)]
    pub fn score(&self, value: i32) -> i32 {
        value - self.zero + self.origin
    }
}
