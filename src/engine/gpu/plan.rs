//! Plans of GPU work: turns pairs, windows and blocks into jobs. Nothing here needs a device.
//!
//! - [`tile`]: pairs whose queries fit one tile;
//! - [`grid`]: how longer queries are cut into tiles, and where tiles find the edges of others;
//! - [`strips`]: pairs whose queries need several strips;
//! - [`blocks`]: pairs that are too large for a job;
//! - [`database`]: queries against all short targets;
//! - [`checkpoint`]: sweeps that store the edges between blocks;
//! - [`fill`]: directions of windows and of blocks;
//! - [`traceback`]: tracebacks over directions that stay on the device;
//! - [`band`]: windows with narrow bands, which one kernel fills and traces back.

pub mod band;
pub mod blocks;
pub mod checkpoint;
pub mod database;
pub mod fill;
pub mod grid;
pub mod rows;
pub mod strips;
pub mod tile;
pub mod traceback;

use crate::engine::carry::IMPOSSIBLE;
use crate::engine::gpu::job::Dispatch;
use crate::engine::gpu::layout::TASK_ALIGNMENT;
use crate::engine::gpu::tasks::{JoinedTask, Span, SpanTask};
use crate::engine::gpu::variant::TileVariant;
use crate::engine::gpu::{Cols, Tuning};
use crate::engine::{Block, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, counting_sort_descending};
use crate::terms::casts::to_u32;
use crate::terms::scoring::AlignmentMode;
use grid::Grid;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of edge values of a job: 512 MiB.
pub const JOB_EDGES: u64 = 1 << 26;
/// Maximum factor by which tasks are padded so that workgroups share a query.
const MOST_PADDING: usize = 2;
/// Keys of the counting sort by columns.
const COLS_CLASSES: u32 = 1 << 12;
const COLS_PER_CLASS: u32 = 8;

/// Device properties that plans depend on.
#[derive(Clone, Copy, Debug)]
pub struct DeviceLimits {
    pub tuning: Tuning,
    /// Size of a subgroup, if it is fixed.
    pub subgroup: Option<u32>,
    /// Maximum number of bytes of a buffer that a kernel can bind.
    pub binding: u64,
    /// Whether strips may be chained.
    pub chains: bool,
}

impl DeviceLimits {
    /// Edge values and tiles that a job can hold.
    pub fn job_room(&self) -> [u64; 2] {
        let tasks = self.binding / size_of::<JoinedTask>() as u64;
        [JOB_EDGES.min(self.binding / 8), self.tuning.many_tiles.min(tasks)]
    }
}

/// Number of `items` that fit together, at least one. Each takes its `size` in several respects, whose limits are
/// `most`.
pub fn fitting<T, const N: usize>(
    items: impl IntoIterator<Item = T>,
    most: [u64; N],
    mut size: impl FnMut(T) -> [u64; N],
) -> usize {
    let mut taken = [0u64; N];
    let fits = |item: T| {
        taken.iter_mut().zip(size(item)).for_each(|(taken, more)| *taken = taken.saturating_add(more));
        taken.iter().zip(&most).all(|(taken, most)| taken <= most)
    };
    items.into_iter().map(fits).take_while(|&fits| fits).count().max(1)
}

/// Residues as if they were one tile, and the first column whose cells count for the score.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeTile {
    pub span: Span,
    pub counts_from: u32,
}

impl WholeTile {
    pub fn pair(batch: &Batch, pair: &Pair) -> WholeTile {
        let rows = 0..to_u32(batch.query(pair.query).len());
        let span = span_of(batch, pair.query, rows, pair.target, pair.start..pair.end);
        WholeTile { span, counts_from: pair.own - pair.start }
    }

    /// A block in which no cell counts.
    pub fn block(batch: &Batch, block: &Block) -> WholeTile {
        let Block { window: Window { query, target, .. }, rows, .. } = block;
        let span = span_of(batch, *query, rows.clone(), *target, block.target_cols());
        WholeTile { span, counts_from: u32::MAX }
    }
}

/// The residues of a window.
fn window_span(batch: &Batch, window: &Window) -> Span {
    let cols = window.start..window.target_end;
    span_of(batch, window.query, 0..window.query_end, window.target, cols)
}

fn span_of(batch: &Batch, query: u32, rows: Cols, target: u32, cols: Cols) -> Span {
    Span {
        query: to_u32(batch.queries.start(query as usize)) + rows.start,
        rows: rows.end - rows.start,
        pad: 0,
        target_: to_u32(batch.targets.start(target as usize)) + cols.start,
        cols: cols.end - cols.start,
    }
}

/// The hit of a result of a tile whose first cell is given; `none` if the result has the score of `none`.
pub fn hit_at(row: u32, col: u32, result: &[u32], none: HitEnd) -> HitEnd {
    match result[0].cast_signed() {
        score if score == none.score => none,
        score => HitEnd { score, query_end: row + result[1] + 1, target_end: col + result[2] + 1 },
    }
}

/// The hit of a pair without an alignment.
pub fn none(mode: AlignmentMode) -> HitEnd {
    if mode.is_local() { HitEnd::default() } else { HitEnd::NONE }
}

/// The first value of edges: no alignment enters there.
pub fn blank(mode: AlignmentMode) -> i32 {
    if mode.is_local() { 0 } else { IMPOSSIBLE }
}

/// Whether a result is that of a chained strip that gave up waiting.
pub fn gave_up(result: &[u32]) -> bool {
    result[3] != 0
}

/// Sorts the tasks with the most columns first, so that the last tasks to run are short.
fn longest_first<T: SpanTask>(tasks: Vec<T>) -> Vec<T> {
    if tasks.windows(2).all(|two| two[0].span().cols == two[1].span().cols) {
        return tasks;
    }
    let keys: Vec<u32> = tasks.iter().map(|task| task.span().cols / COLS_PER_CLASS).collect();
    let order = counting_sort_descending(&keys, COLS_CLASSES);
    order.into_iter().map(|place| tasks[place as usize]).collect()
}

/// A dispatch of `tasks`. If enough of them have the same query, its workgroups share a profile.
fn scoring<T: SpanTask>(variant: TileVariant, tasks: Vec<T>, subgroup: Option<u32>) -> Dispatch {
    if let Some(sharing) = variant.sharing(subgroup) {
        let pad = sharing.pad(0) - variant.pad(0);
        let grouped = grouped(&tasks, sharing.pairs() as usize, pad);
        if grouped.len() <= tasks.len() * MOST_PADDING {
            return Dispatch::new(sharing, grouped);
        }
    }
    Dispatch::new(variant.on(subgroup), tasks)
}

/// Pads the tasks with empty tasks so that each group of `size` tasks has the same query. Each query has `pad` more
/// rows above it.
fn grouped<T: SpanTask>(tasks: &[T], size: usize, pad: u32) -> Vec<T> {
    let span = |place: &u32| tasks[*place as usize].span();
    let query = |place: &u32| (span(place).query, span(place).rows, span(place).pad);
    let mut order: Vec<u32> = (0..to_u32(tasks.len())).collect();
    order.par_sort_unstable_by_key(|place| (query(place), Reverse(span(place).cols), *place));
    let mut grouped = Vec::with_capacity(tasks.len());
    for same in order.chunk_by(|a, b| query(a) == query(b)) {
        grouped.extend(same.iter().map(|place| {
            let mut task = tasks[*place as usize];
            task.span_mut().pad += pad;
            task
        }));
        grouped.resize(grouped.len().next_multiple_of(size), T::default());
    }
    grouped
}

/// The dispatches of concurrent grids, wave by wave, built on all threads. `grid` returns a grid and the number of
/// waves before its first wave. `tasks` adds the grid's tasks in one of its waves.
fn in_waves<G: Sync, T: SpanTask>(
    grids: &[G],
    grid: impl Fn(&G) -> (u32, &Grid) + Sync,
    tasks: impl Fn(&G, u32, &mut Vec<T>) + Sync,
    dispatch: impl Fn(Vec<T>) -> Dispatch + Sync,
) -> Vec<Dispatch> {
    let made = |wave: u32| {
        let met = || {
            grids.iter().filter_map(|met| {
                let (before, grid) = grid(met);
                let own = wave.checked_sub(before).filter(|&own| own < grid.waves())?;
                Some((met, grid, own))
            })
        };
        let room: usize = met().map(|(_, grid, own)| grid.wave_size(own) as usize).sum();
        let mut made = Vec::with_capacity(room.next_multiple_of(TASK_ALIGNMENT));
        met().for_each(|(met, _, own)| tasks(met, own, &mut made));
        (!made.is_empty()).then(|| dispatch(made))
    };
    let end = |met: &G| {
        let (before, grid) = grid(met);
        before + grid.waves()
    };
    let waves = grids.iter().map(end).max().unwrap_or(0);
    (0..waves).into_par_iter().filter_map(made).collect()
}

/// Collects tasks in any order, by their wave and kernel.
struct WaveTasks<T>(BTreeMap<(u32, u32, bool), (TileVariant, Vec<T>)>);

impl<T: SpanTask> WaveTasks<T> {
    fn new() -> WaveTasks<T> {
        WaveTasks(BTreeMap::new())
    }

    fn push(&mut self, wave: u32, variant: TileVariant, task: T) {
        let key = (wave, variant.capacity(), variant.has_edges());
        self.0.entry(key).or_insert_with(|| (variant, Vec::new())).1.push(task);
    }

    /// The tasks of each dispatch.
    fn into_tasks(self) -> impl Iterator<Item = (TileVariant, Vec<T>)> {
        self.0.into_values()
    }
}

#[cfg(test)]
mod tests;
