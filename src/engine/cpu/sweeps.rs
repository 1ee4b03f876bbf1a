//! Sweeps of rectangles of one pair, by one or several threads.

use super::score::Width;
use super::simd::InstructionSet;
use super::strip::{Rectangle, RectangleSweep};
use super::striped::{StripedSweep, WindowSize};
use crate::engine::frontier::{Frontier, better};
use crate::engine::recurrence::recurrence;
use crate::engine::{BLOCK_ROWS, Block, Checkpoints, Edges, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::Batch;
use crate::terms::scoring::Scoring;
use rayon::prelude::*;

/// A multiple of the strip height of every instruction set.
const STRIP_ROWS: u32 = 16;
/// Number of rows for each 8-bit lane from which a rectangle is swept with its rows dealt to narrow lanes.
const STRIPED_ROWS: usize = 4;
/// Number of cells from which several threads sweep a pair, and the side of the parts.
pub const SHARED_CELLS: u64 = 1 << 24;
pub const PART_SIDE: u32 = 4 * BLOCK_ROWS;
/// The first best cell of a block's columns from `own` on, with its row and column counted in the window. The parts of
/// an anti-diagonal of the block are swept in parallel.
pub fn score_parts(set: InstructionSet, batch: &Batch, block: &Block, side: u32, own: u32) -> HitEnd {
    let mut frontier = Frontier::new(block, Edges::default(), side, batch.scoring.gaps());
    let mut best = HitEnd::default();
    for wave in 0..frontier.waves() {
        let parts = frontier.wave(wave);
        let sweep = |part: &Block| {
            let own = own.saturating_sub(part.cols.start) as usize;
            sweep(set, batch, part, &frontier.entering(part), own)
        };
        let swept: Vec<(Edges, HitEnd)> = parts.par_iter().map(sweep).collect();
        for (part, (edges, hit)) in parts.iter().zip(swept) {
            best = better(best, hit, part);
            frontier.leave(part, &edges);
        }
    }
    best
}

/// The edges that a window leaves below and to the right.
pub fn leaving(set: InstructionSet, batch: &Batch, window: &Window) -> Edges {
    let Edges { corner, horizontal, vertical } = Edges::of_window(&batch.scoring, window);
    // Only whole strips leave an edge below. The few rows after them are computed by the plain recurrence.
    let rows = window.query_end / STRIP_ROWS * STRIP_ROWS;
    let (upper, lower) = vertical.split_at(rows as usize);
    let last = (rows as usize).checked_sub(1).and_then(|row| upper.h(row)).unwrap_or(corner);
    let entering = Edges { corner, horizontal, vertical: upper };
    let block = Block { rows: 0..rows, ..Block::whole(window) };
    let cells = u64::from(rows) * u64::from(window.cols());
    let left = match () {
        () if rows == 0 => entering,
        // Splitting into parts pays if several threads share them.
        () if cells >= SHARED_CELLS && rayon::current_num_threads() > 1 => {
            let mut frontier = Frontier::new(&block, entering, PART_SIDE, batch.scoring.gaps());
            for wave in 0..frontier.waves() {
                let parts = frontier.wave(wave);
                let sweep = |part: &Block| sweep(set, batch, part, &frontier.entering(part), usize::MAX).0;
                let swept: Vec<Edges> = parts.par_iter().map(sweep).collect();
                parts.iter().zip(&swept).for_each(|(part, edges)| frontier.leave(part, edges));
            }
            frontier.into_edges()
        }
        () => sweep(set, batch, &block, &entering, usize::MAX).0,
    };
    let block = Block { rows: rows..window.query_end, ..block };
    let (query, target) = block.codes(batch);
    let entering = Edges { corner: last, horizontal: left.horizontal, vertical: lower };
    let below = recurrence(query, target, &batch.scoring, &entering, |_, _, _| {});
    Edges { vertical: left.vertical.followed_by(below.vertical), ..below }
}

/// The edges between the parts of a block. The parts of an anti-diagonal are swept in parallel.
pub fn sweep_parts(
    set: InstructionSet,
    batch: &Batch,
    block: &Block,
    edges: &Edges,
    side: u32,
) -> Checkpoints {
    let mut checkpoints = Checkpoints::new(block, edges, side, &batch.scoring);
    for wave in 0..checkpoints.waves() {
        let mut parts = checkpoints.wave(wave);
        // Nothing needs the edges that the last part leaves.
        parts.retain(|part| !checkpoints.is_last(part));
        let sweep = |part: &Block| sweep(set, batch, part, &checkpoints.entering(part), usize::MAX).0;
        let swept: Vec<Edges> = parts.par_iter().map(sweep).collect();
        parts.iter().zip(&swept).for_each(|(part, edges)| checkpoints.leave(part, edges));
    }
    checkpoints
}

/// The edges that a block leaves, and the first best cell of its columns from `own` on.
pub fn sweep(
    set: InstructionSet,
    batch: &Batch,
    block: &Block,
    edges: &Edges,
    own: usize,
) -> (Edges, HitEnd) {
    let (query, target) = block.codes(batch);
    let rectangle = Rectangle { query, target, scoring: &batch.scoring };
    sweep_rectangle(set, rectangle, edges, own)
}

/// The windows of a sweep whose `rows` are dealt to narrow lanes, if that pays.
pub fn striped_window(set: InstructionSet, scoring: &Scoring, rows: usize) -> Option<WindowSize> {
    let size = WindowSize::of(scoring, set.lanes(Width::W16.bytes()));
    size.filter(|_| rows >= STRIPED_ROWS * set.lanes(Width::W8.bytes()))
}

/// The edges that a rectangle leaves, and the first best cell of its columns from `own` on.
pub fn sweep_rectangle(
    set: InstructionSet,
    rectangle: Rectangle<'_>,
    edges: &Edges,
    own: usize,
) -> (Edges, HitEnd) {
    match striped_window(set, rectangle.scoring, rectangle.query.len()) {
        Some(size) => set.run(StripedSweep { rectangle, edges, own, size }),
        None => set.run(RectangleSweep { rectangle, edges, own }),
    }
}
