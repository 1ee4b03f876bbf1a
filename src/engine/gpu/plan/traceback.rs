//! Tracebacks over directions that stay on the device.

use crate::engine::directions::{Layer, cell_bits};
use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::layout::NOWHERE;
use crate::engine::gpu::plan::DeviceLimits;
use crate::engine::gpu::plan::fill::{WindowPlan, blocks_job, kept_job};
use crate::engine::gpu::tasks::{KeptTile, TracebackTask};
use crate::engine::gpu::variant::{TileVariant, Variant};
use crate::engine::{Block, CellSource, Edges, Leg, PathPosition, Tile, Window};
use crate::terms::batch::Batch;
use crate::terms::casts::{low_u16, to_u32};
use crate::terms::scoring::{AlignmentMode, Scoring};
use std::ops::Range;

/// Words that hold the position of a path.
const STAND_WORDS: u32 = 3;
/// Maximum number of bytes of a window's directions, and of steps of its path, for tracing on the device.
const MOST_TRACED: u64 = 2 << 20;
const MOST_STEPS: u64 = 1 << 15;

/// Whether a window's directions fit the device, and its path is short enough for one workgroup.
pub fn suits(window: &Window, scoring: &Scoring) -> bool {
    let bits = cell_bits(scoring.gaps().count());
    let steps = u64::from(window.query_end) + u64::from(window.cols());
    let is_long = steps > MOST_STEPS || window.direction_bytes(bits) > MOST_TRACED;
    !is_long && window.query_end > 0 && window.cols() > 0
}

/// Maximum number of words of a window's path: runs between and in gaps, but not more than there are steps.
pub fn path_words(window: &Window, scoring: &Scoring) -> u32 {
    let runs = (2 * window.band.most_gaps(scoring)).saturating_add(1);
    runs.min(window.query_end.saturating_add(window.band.deletions.min(window.cols())))
}

/// A job that fills `plans` and traces back over them, and the word range of each path. Each path may use its number of
/// `words`.
pub fn windows_job(
    scoring: &Scoring,
    plans: &[WindowPlan],
    words: &[u32],
    limits: &DeviceLimits,
) -> (Job, Vec<Range<u32>>) {
    let (mut job, tiles) = kept_job(scoring, plans, limits.tuning.few_tiles, limits.subgroup);
    let (mut tasks, mut places) = (Vec::with_capacity(plans.len()), Vec::with_capacity(plans.len()));
    let (mut path, mut tile) = (0, 0);
    for (plan, words) in plans.iter().zip(words) {
        let stand = PathPosition { rows: plan.rows, cols: plan.cols, layer: CellSource::Diagonal.into() };
        let place = path..path + words;
        tasks.push(task(stand, tile..tile + plan.tiles.len(), &place, NOWHERE));
        (path, tile) = (place.end, tile + plan.tiles.len());
        places.push(place);
    }
    job.output = u64::from(path) * 4;
    let variant = plans.first().map(WindowPlan::variant);
    if let Some(TileVariant { mode, pieces, .. }) = variant {
        job.push(tracebacks(tasks, &tiles, Variant::Traceback { mode, pieces }));
    }
    (job, places)
}

/// A job that fills blocks, whose grids run concurrently, and traces paths through them; and the word range of the runs
/// of each path, which follow its position.
pub fn legs_job(
    batch: &Batch,
    blocks: &[(Block, Edges)],
    legs: &[Leg],
    variant: TileVariant,
) -> (Job, Vec<Range<u32>>) {
    let (mut job, tiles, firsts) = blocks_job(batch, blocks, variant);
    let steps = |(block, _): &(Block, Edges)| to_u32(block.rows.len() + block.cols.len());
    let (mut tasks, mut places, mut end) = (Vec::with_capacity(legs.len()), Vec::new(), 0);
    for Leg { stand, blocks: through } in legs {
        let runs: u32 = blocks[through.clone()].iter().map(steps).sum();
        let place = end + STAND_WORDS..end + STAND_WORDS + runs;
        tasks.push(task(*stand, firsts[through.end]..firsts[through.start], &place, end));
        end = place.end;
        places.push(place);
    }
    // The kernel of mode local leaves the residues that remain before a path to the host.
    let (mode, pieces) = (AlignmentMode::Local, variant.pieces);
    job.push(tracebacks(tasks, &tiles, Variant::Traceback { mode, pieces }));
    job.output = u64::from(end) * 4;
    (job, places)
}

/// The positions of the paths of [`legs_job`].
pub fn stands(output: &[u32], places: &[Range<u32>]) -> Vec<PathPosition> {
    let stand = |place: &Range<u32>| match output[(place.start - STAND_WORDS) as usize..] {
        [rows, cols, layer, ..] => PathPosition { rows, cols, layer: Layer::of(low_u16(layer)) },
        _ => PathPosition { rows: 0, cols: 0, layer: CellSource::Stop.into() },
    };
    places.iter().map(stand).collect()
}

/// The task that traces a path from a position back over some tiles and stores its runs at a range of words. `says` is
/// the index of its final position, or [`NOWHERE`]. Without tiles the task is empty.
fn task(stand: PathPosition, tiles: Range<usize>, place: &Range<u32>, says: u32) -> TracebackTask {
    TracebackTask {
        rows: if tiles.is_empty() { 0 } else { stand.rows },
        cols: stand.cols,
        layer: stand.layer.bits().into(),
        first_tile: to_u32(tiles.start),
        tiles: to_u32(tiles.len()),
        path: place.start,
        path_words: place.end - place.start,
        stand: says,
    }
}

/// The dispatch that traces paths back over their tiles, one workgroup for each path.
fn tracebacks(tasks: Vec<TracebackTask>, tiles: &[Tile], kernel: Variant) -> Dispatch {
    let groups = to_u32(tasks.len());
    let tiles = tiles.iter().map(kept).collect();
    Dispatch::without_cells::<TracebackTask>(kernel, tasks).with_table::<KeptTile>(tiles).in_groups(groups)
}

/// A tile in the kernel's format.
fn kept(tile: &Tile) -> KeptTile {
    KeptTile {
        row: tile.row,
        rows: tile.rows(),
        col: tile.col,
        cols: tile.cols,
        lanes: tile.lanes,
        rows_per_lane: tile.rows_per_lane,
        directions: to_u32(tile.offset),
        band_first: tile.band_first,
        stored: tile.stored,
    }
}
