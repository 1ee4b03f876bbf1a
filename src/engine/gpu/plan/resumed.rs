//! Grids whose strips go on in each wave where they stopped in the one before.

use crate::engine::gpu::layout::{NOWHERE, TURNS, TURNS_APART};
use crate::engine::gpu::plan::Whole;
use crate::engine::gpu::plan::grid::Grid;
use crate::engine::gpu::tasks::ResumedTask;
use crate::engine::gpu::variant::TileVariant;

/// Rows beside which the rest of a step counts little: a step of no rows takes about as long as one of so many.
const STEP_ROWS: u64 = 4;
/// Edge values that keep a lane beside those of its rows.
const KEPT: u32 = 3;

/// A grid in strips of a variant.
#[derive(Clone, Copy, Debug)]
pub struct ResumedGrid {
    grid: Grid,
    lanes: u32,
    rows: u32,
}

impl ResumedGrid {
    pub fn new(variant: &TileVariant, grid: &Grid) -> ResumedGrid {
        let grid = Grid::padded(grid.rows, grid.cols, variant.capacity());
        ResumedGrid { grid, lanes: variant.lanes, rows: variant.rows }
    }

    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Edge values in which the columns have their turns. A strip takes the place of a column again when the last one has read
    /// it in an earlier wave.
    fn ring(&self) -> u32 {
        self.grid.strips() * TURNS_APART * self.lanes
    }

    /// Edge values that keep a strip.
    fn kept(&self) -> u32 {
        (self.rows + KEPT) * self.lanes
    }

    /// Edge values in all: what is kept of all strips, then the ring.
    pub fn edges(&self) -> u64 {
        u64::from(self.grid.strips()) * u64::from(self.kept()) + u64::from(self.ring())
    }

    /// Turns in which some lane of a strip has a column.
    fn turns(&self) -> u32 {
        (self.grid.cols + self.lanes - 1).div_ceil(self.lanes)
    }

    pub fn waves(&self) -> u32 {
        ((self.grid.strips() - 1) * TURNS_APART + self.turns()).div_ceil(TURNS)
    }

    /// The tasks of its strips, whose results lie one behind the other from `result` on; so many waves come before its first.
    pub fn tasks(
        self,
        whole: Whole,
        edges: u64,
        result: u64,
        waves_before: u32,
    ) -> impl Iterator<Item = ResumedTask> {
        let strips = self.grid.strips();
        let ring = (edges + u64::from(strips) * u64::from(self.kept())) as u32;
        (0..strips).map(move |strip| ResumedTask {
            span: self.grid.strip_span(strip, &whole.span),
            counts_from: whole.counts_from,
            result: result as u32 + strip,
            above: if strip > 0 { ring } else { NOWHERE },
            below: if strip + 1 < strips { ring } else { NOWHERE },
            ring: self.ring(),
            kept: edges as u32 + strip * self.kept(),
            first_turn: waves_before * TURNS + strip * TURNS_APART,
        })
    }

    /// Cells that the strip of a task does in a wave.
    pub fn cells(task: &ResumedTask, lanes: u32, wave: u32) -> u64 {
        let col = |turn: u32| turn.saturating_sub(task.first_turn).saturating_mul(lanes).min(task.span.cols);
        let cols = col((wave + 1) * TURNS) - col(wave * TURNS);
        u64::from(cols) * u64::from(task.span.rows)
    }
}

/// The variant that does the least for grids, where fewer strips than `busy` leave a device idle.
pub fn suited(
    variants: &[TileVariant],
    grids: impl Iterator<Item = Grid> + Clone,
    busy: usize,
) -> Option<TileVariant> {
    let cost = |variant: &&TileVariant| -> u64 {
        let (mut strips, mut cells) = (0, 0);
        for grid in grids.clone() {
            let of_grid = u64::from(grid.rows.div_ceil(variant.capacity()));
            strips += of_grid;
            cells += of_grid * u64::from(grid.cols);
        }
        // Cells stand for columns of lanes; an idle device takes longer.
        cells * (u64::from(variant.rows) + STEP_ROWS) * (busy as u64).max(strips) / strips.max(1)
    };
    variants.iter().min_by_key(cost).copied()
}
