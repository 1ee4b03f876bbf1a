//! Directions of windows inside their bands, and of whole blocks.

use crate::engine::directions::{TileLayout, cell_bits};
use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::plan::grid::{Grid, GridTile};
use crate::engine::gpu::plan::{JOB_EDGES, WaveTasks, WholeTile, blank, fitting, longest_first, window_span};
use crate::engine::gpu::tasks::FillTask;
use crate::engine::gpu::variant::{KernelResults, KernelScoring, TileVariant};
use crate::engine::{Block, Edge, Edges, Tile, Window};
use crate::terms::batch::Batch;
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::scoring::Scoring;

/// Maximum number of direction words of a job, unless one window needs more: 256 MiB.
pub const TRACEBACK_WORDS: u64 = 1 << 26;
/// Maximum number of windows of a job.
const JOB_PLANS: u64 = 1 << 17;

/// The tiles of one window and the tasks that fill them.
pub struct WindowPlan {
    pub rows: u32,
    pub cols: u32,
    variant: TileVariant,
    pub tiles: Vec<Tile>,
    /// Wave and task of each of the tiles, in the same order.
    tasks: Vec<(u32, FillTask)>,
    edges: u64,
    /// The grid and the window whose borders enter as edge values, in modes other than local.
    bordered: Option<(Grid, Window)>,
}

impl WindowPlan {
    pub fn new(
        batch: &Batch,
        window: &Window,
        scoring: impl Into<KernelScoring>,
        subgroup: Option<u32>,
    ) -> WindowPlan {
        let scoring = scoring.into();
        let bits = cell_bits(scoring.pieces);
        let (rows, cols) = (window.query_end, window.cols());
        let mut span = window_span(batch, window);
        let mode = batch.scoring.mode;
        // A tile without edges knows the borders of whole targets only.
        let is_whole = !mode.begins_at_either_start() || window.start == 0;
        let holding = || TileVariant::holding(KernelResults::Fill, scoring, rows);
        if let Some(variant) = if is_whole { holding() } else { None } {
            let variant = variant.in_mode(mode);
            span.pad = variant.pad(rows);
            let shape = (variant.lanes, variant.rows, 1);
            let tile = Tile::new(window, -to_i32(span.pad), 0..cols, shape, bits);
            let variant = variant.on(subgroup);
            let tasks = vec![(0, FillTask { span, ..FillTask::default() })];
            let (tiles, bordered) = (vec![tile], None);
            return WindowPlan { rows, cols, variant, tiles, tasks, edges: 0, bordered };
        }
        let variant = TileVariant::joined(KernelResults::Fill, scoring).in_mode(mode).on(subgroup);
        let grid = Grid::in_mode(mode, rows, cols, variant.capacity());
        let bordered = (!mode.is_local()).then_some((grid, *window));
        let (tiles, tasks, edges) = (Vec::new(), Vec::new(), grid.edges());
        let mut plan = WindowPlan { rows, cols, variant, tiles, tasks, edges, bordered };
        for tile in grid.tiles(|strip| window.band_cols(grid.rows_of(strip))) {
            plan.tasks.push((tile.wave, grid.fill_task(&tile, &span, 0)));
            let shape = (variant.lanes, variant.rows, 1);
            plan.tiles.push(Tile::new(window, grid.first_row(tile.strip), tile.cols, shape, bits));
        }
        plan
    }

    /// The variant of its tiles.
    pub fn variant(&self) -> TileVariant {
        self.variant
    }

    /// The borders of the matrix as edge values, for which `edges` others come first.
    fn borders(&self, scoring: &Scoring, edges: u64) -> impl Iterator<Item = (u64, Edge)> {
        let borders = self.bordered.iter().flat_map(|(grid, window)| {
            grid.entering(&Edges::of_window(scoring, window), self.variant.pieces)
        });
        borders.map(move |(place, edge)| (place + edges, edge))
    }

    fn words(&self) -> u64 {
        self.tiles.iter().map(Tile::words).sum()
    }
}

/// The first of the remaining plans, as many as fit a job with room for `words` direction words. A larger window gets a
/// job of its own.
pub fn next_plans<'a>(rest: &mut &'a [WindowPlan], words: u64) -> Option<&'a [WindowPlan]> {
    let size = |plan: &WindowPlan| [plan.words(), plan.edges, 1];
    let (next, behind) = rest.split_at_checked(fitting(*rest, [words, JOB_EDGES, JOB_PLANS], size))?;
    *rest = behind;
    Some(next)
}

/// A job that fills `plans` and keeps the directions on the device; and its tiles, plan by plan.
pub fn kept_job(
    scoring: &Scoring,
    plans: &[WindowPlan],
    few_tiles: usize,
    subgroup: Option<u32>,
) -> (Job, Vec<Tile>) {
    let (mut waves, mut layout, mut job) = (WaveTasks::new(), TileLayout::default(), Job::default());
    for plan in plans {
        let tiles = layout.push_window(plan.tiles.iter().copied());
        for ((wave, task), tile) in plan.tasks.iter().zip(tiles) {
            let (above, left) = (task.above + to_u32(job.edges), task.left + to_u32(job.edges));
            waves.push(*wave, plan.variant, FillTask { above, left, ..keeping(tile, *task) });
        }
        job.entering.extend(plan.borders(scoring, job.edges));
        job.blank = blank(plan.variant.mode);
        job.edges += plan.edges;
    }
    job.scratch = layout.words;
    for (variant, tasks) in waves.into_tasks() {
        let thin = TileVariant::thin(KernelResults::Fill, variant.scoring());
        let thin = thin.in_mode(variant.mode).on(subgroup);
        let is_few = variant.has_edges() && tasks.len() < few_tiles && thin.lanes == variant.lanes;
        let variant = if is_few { thin } else { variant };
        job.push(Dispatch::new(variant, longest_first(tasks)).into_scratch());
    }
    (job, layout.tiles)
}

/// A job that fills blocks, whose grids run concurrently, and keeps the directions on the device. Also returns its
/// tiles, whose rows and columns are counted in the window, and a table of tile indices: element k + 1 is the first
/// tile of block k, and element 0 is the number of tiles. The last blocks come first, like the last tiles of a window,
/// because a path continues in the previous tile.
pub fn blocks_job(
    batch: &Batch,
    blocks: &[(Block, Edges)],
    variant: TileVariant,
) -> (Job, Vec<Tile>, Vec<usize>) {
    let (mut waves, mut layout, mut job) = (WaveTasks::new(), TileLayout::default(), Job::default());
    let mut firsts = vec![0; blocks.len() + 1];
    for (place, (block, edges)) in blocks.iter().enumerate().rev() {
        let first = layout.tiles.len();
        firsts[place + 1] = first;
        let grid = Grid::unpadded(to_u32(block.rows.len()), to_u32(block.cols.len()), variant.capacity());
        let whole = WholeTile::block(batch, block);
        let tiles: Vec<GridTile> = grid.tiles(|_| 0..grid.cols).collect();
        let kept = |tile: &GridTile| {
            let bits = cell_bits(variant.pieces);
            Tile::skewed(grid.first_row(tile.strip), &tile.cols, variant.lanes, variant.rows, bits)
        };
        for (tile, kept) in tiles.iter().zip(layout.push_window(tiles.iter().map(kept))) {
            let task = keeping(kept, grid.fill_task(tile, &whole.span, job.edges));
            waves.push(tile.wave, variant, task);
        }
        let place = |(place, values): (u64, Edge)| (place + job.edges, values);
        job.entering.extend(grid.entering(edges, variant.pieces).into_iter().map(place));
        job.edges += grid.edges();
        for tile in &mut layout.tiles[first..] {
            (tile.row, tile.col) = (tile.row + to_i32(block.rows.start), tile.col + block.cols.start);
        }
    }
    firsts[0] = layout.tiles.len();
    (job.scratch, job.blank) = (layout.words, blank(variant.mode));
    let dispatch = |(variant, tasks)| job.push(Dispatch::new(variant, tasks).into_scratch());
    waves.into_tasks().for_each(dispatch);
    (job, layout.tiles, firsts)
}

/// Sets the task to keep the directions of `tile`.
fn keeping(tile: &Tile, task: FillTask) -> FillTask {
    FillTask { directions: to_u32(tile.offset), band_first: tile.band_first, stored: tile.stored, ..task }
}
