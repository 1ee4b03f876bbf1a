//! Directions: of windows inside their bands, and of whole blocks.

use crate::batch::Batch;
use crate::engine::directions::Layout;
use crate::engine::gpu::grid::{Grid, GridTile};
use crate::engine::gpu::job::{Dispatch, EdgeValues, Job};
use crate::engine::gpu::lattice::block_task;
use crate::engine::gpu::layout::{MAX_GROUPS, NOWHERE, TASK_ALIGNMENT, Task};
use crate::engine::gpu::runner::{Answer, Inputs};
use crate::engine::gpu::shader::{Kernel, Scores, Variant};
use crate::engine::gpu::trace::path_words;
use crate::engine::gpu::{Gpu, JOB_EDGES, longest_first, scores_of, span};
use crate::engine::{Block, Directions, Edges, Leg, Paths, Source, Stand, Tile, Window};
use crate::error::EngineError;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Direction words of a job, unless one window takes more: 128 MiB, or 256 where they stay on the device.
const FILL_WORDS: u64 = 1 << 25;
const WALK_WORDS: u64 = 1 << 26;

/// Windows of a job, at most.
const JOB_PLANS: usize = 1 << 17;
/// Words in which a walk says where it stands.
const STAND_WORDS: u32 = 3;

/// The tiles of one window and the tasks that fill them.
struct Plan {
    rows: u32,
    cols: u32,
    variant: Variant,
    tiles: Vec<Tile>,
    /// Wave of each task; with a place among the window's tiles.
    tasks: Vec<(u32, Task)>,
    edges: u64,
}

impl Plan {
    fn new(batch: &Batch, window: &Window, scores: Scores, subgroup: Option<u32>) -> Plan {
        let (rows, cols) = (window.query_end, window.target_end - window.start);
        let base = Task {
            query: batch.queries.start(window.query as usize) as u32,
            rows,
            target_: batch.targets.start(window.target as usize) as u32 + window.start,
            cols,
            ..Task::default()
        };
        if let Some(variant) = Variant::holding(Kernel::Fill, scores, rows) {
            let pad = variant.capacity() - rows;
            let tile = Tile::new(window, -(pad as i32), 0..cols, (variant.lanes, variant.rows, 1));
            let variant = variant.on(subgroup);
            let tasks = vec![(0, Task { pad, ..base })];
            return Plan { rows, cols, variant, tiles: vec![tile], tasks, edges: 0 };
        }
        let variant = Variant::joined(Kernel::Fill, scores).on(subgroup);
        let grid = Grid::padded(rows, cols, variant.capacity());
        let mut plan = Plan { rows, cols, variant, tiles: vec![], tasks: vec![], edges: grid.edges() };
        for tile in grid.tiles(|strip| window.band_cols(grid.rows_of(strip))) {
            plan.tasks.push((tile.wave, grid.task(&tile, &base, 0)));
            let shape = (variant.lanes, variant.rows, 1);
            plan.tiles.push(Tile::new(window, grid.first_row(tile.strip), tile.cols, shape));
        }
        plan
    }

    fn words(&self) -> u64 {
        self.tiles.iter().map(Tile::words).sum()
    }
}

/// The first of the plans that are left, as many as a job of so many direction words can hold; a window that is larger
/// takes one of its own.
fn next_plans<'a>(rest: &mut &'a [Plan], most_words: u64) -> Option<&'a [Plan]> {
    let (mut words, mut edges) = (0, 0);
    let fits = |plan: &&Plan| {
        words += plan.words();
        edges += plan.edges;
        words <= most_words && edges <= JOB_EDGES
    };
    let count = rest.iter().take(JOB_PLANS).take_while(fits).count().max(1);
    let (next, behind) = rest.split_at_checked(count)?;
    *rest = behind;
    Some(next)
}

/// A fill job for `plans`, and where their directions will lie.
fn fill_job(plans: &[Plan]) -> (Job, Layout) {
    let (dispatches, layout, edges) = dispatches(plans, |task| task);
    let mut job = Job { edges, output: layout.words * 4, ..Job::default() };
    dispatches
        .into_iter()
        .for_each(|(variant, tasks)| job.push(Dispatch::new(variant, longest_first(tasks))));
    (job, layout)
}

/// The tasks of each dispatch that fills `plans`, in their order, each as `made` makes it; where the directions will lie;
/// and edge values.
fn dispatches(plans: &[Plan], made: impl Fn(Task) -> Task) -> (Vec<(Variant, Vec<Task>)>, Layout, u64) {
    let mut edges = 0;
    let mut classes: BTreeMap<(u32, u32, u32), (Variant, Vec<Task>)> = BTreeMap::new();
    let mut layout = Layout::default();
    for plan in plans {
        let tiles = layout.push_window(plan.tiles.iter().copied());
        for ((wave, task), tile) in plan.tasks.iter().zip(tiles) {
            let task = Task {
                horizontal: task.horizontal + edges as u32,
                vertical: task.vertical + edges as u32,
                ..made(keeping(tile, *task))
            };
            let key = (*wave, plan.variant.capacity(), u32::from(plan.variant.edges));
            classes.entry(key).or_insert((plan.variant, vec![])).1.push(task);
        }
        edges += plan.edges;
    }
    (classes.into_values().collect(), layout, edges)
}

/// A job that fills `plans` and walks back over them, of which each path may take so many `words`; and where each will
/// lie.
fn walk_job(
    plans: &[Plan],
    words: &[u32],
    few_tiles: usize,
    subgroup: Option<u32>,
) -> (Job, Vec<Range<u32>>) {
    let (dispatches, layout, edges) = dispatches(plans, |task| Task { own: 1, ..task });
    let mut job = Job { edges, scratch: layout.words, ..Job::default() };
    for (variant, tasks) in dispatches {
        let thin = Variant::thin(Kernel::Fill, variant.scores).on(subgroup);
        let is_few = variant.edges && tasks.len() < few_tiles && thin.lanes == variant.lanes;
        let variant = if is_few { thin } else { variant };
        job.push(Dispatch::new(variant, longest_first(tasks)).into_scratch());
    }
    let (mut walkers, mut places) = (Vec::with_capacity(plans.len()), Vec::with_capacity(plans.len()));
    let (mut path, mut tiles) = (0, 0);
    for (plan, words) in plans.iter().zip(words) {
        let stand = Stand { rows: plan.rows, cols: plan.cols, layer: Source::Diagonal };
        let place = path..path + words;
        walkers.push(walker(stand, tiles..tiles + plan.tiles.len(), &place, NOWHERE));
        (path, tiles) = (place.end, tiles + plan.tiles.len());
        places.push(place);
    }
    job.output = u64::from(path) * 4;
    job.push(walks(walkers, &layout.tiles));
    (job, places)
}

/// A job that fills blocks, whose grids run side by side; their tiles, which count rows and columns in the window; and
/// of each block, by its place and one, its first tile, with the number of all in front. The last blocks come first, as
/// do the tiles of a window: paths go on in the tile before.
fn blocks_job(batch: &Batch, blocks: &[(Block, Edges)], variant: Variant) -> (Job, Vec<Tile>, Vec<usize>) {
    let (mut waves, mut layout, mut job) = (Waves::default(), Layout::default(), Job::default());
    let mut firsts = vec![0; blocks.len() + 1];
    for (place, (block, edges)) in blocks.iter().enumerate().rev() {
        let first = layout.tiles.len();
        firsts[place + 1] = first;
        let grid = Grid::unpadded(block.rows.len() as u32, block.cols.len() as u32, variant.capacity());
        let base = block_task(batch, block);
        let tiles: Vec<GridTile> = grid.tiles(|_| 0..grid.cols).collect();
        let kept = |tile: &GridTile| {
            Tile::skewed(grid.first_row(tile.strip), &tile.cols, variant.lanes, variant.rows)
        };
        for (tile, kept) in tiles.iter().zip(layout.push_window(tiles.iter().map(kept))) {
            waves.push(tile.wave, Task { own: 1, ..keeping(kept, grid.task(tile, &base, job.edges)) });
        }
        let place = |(place, values): (u64, EdgeValues)| (place + job.edges, values);
        job.entering.extend(grid.entering(edges).into_iter().map(place));
        job.edges += grid.edges();
        for tile in &mut layout.tiles[first..] {
            (tile.row, tile.col) = (tile.row + block.rows.start as i32, tile.col + block.cols.start);
        }
    }
    firsts[0] = layout.tiles.len();
    job.scratch = layout.words;
    waves.into_dispatches(variant).for_each(|dispatch| job.push(dispatch.into_scratch()));
    (job, layout.tiles, firsts)
}

/// The walk from a stand over some tiles, whose runs go to a place; where it says how it stands then, or [`NOWHERE`].
/// Without tiles there is none.
fn walker(stand: Stand, tiles: Range<usize>, place: &Range<u32>, says: u32) -> Task {
    Task {
        query: tiles.start as u32,
        rows: if tiles.is_empty() { 0 } else { stand.rows },
        pad: tiles.len() as u32,
        cols: stand.cols,
        own: place.end - place.start,
        vertical: says,
        result: place.start,
        stored: stand.layer as u32,
        ..Task::default()
    }
}

/// The walks of `walkers` over their tiles, of which each has some in a row.
fn walks(walkers: Vec<Task>, tiles: &[Tile]) -> Dispatch {
    let groups = walkers.len() as u32;
    // A dispatch of several rows may have a few workgroups more.
    let heads = groups + groups.div_ceil(MAX_GROUPS);
    let mut tasks = Vec::with_capacity(heads as usize + tiles.len() + TASK_ALIGNMENT);
    tasks.extend(walkers.into_iter().map(|walker| Task { query: walker.query + heads, ..walker }));
    tasks.resize(heads as usize, Task::default());
    tasks.extend(tiles.iter().map(walked));
    Dispatch::without_cells(Variant::walking(), tasks).in_groups(groups)
}

/// A tile as `shaders/walk.wgsl` finds it.
fn walked(tile: &Tile) -> Task {
    Task {
        query: tile.row as u32,
        rows: tile.rows(),
        pad: tile.lanes,
        target_: tile.col,
        cols: tile.cols,
        own: tile.rows_per_lane,
        directions: tile.offset as u32,
        band_first: tile.band_first,
        stored: tile.stored,
        ..Task::default()
    }
}

/// A task that keeps the directions of `tile`.
fn keeping(tile: &Tile, task: Task) -> Task {
    Task { own: 0, directions: tile.offset as u32, band_first: tile.band_first, stored: tile.stored, ..task }
}

impl Gpu {
    /// The directions of `windows`.
    pub(super) fn fill_windows(
        &mut self,
        batch: &Batch,
        windows: &[Window],
    ) -> Result<Directions, EngineError> {
        let (inputs, plans) = self.plan(batch, windows)?;
        let mut rest = plans.as_slice();
        let next = |_| Some(fill_job(next_plans(&mut rest, FILL_WORDS)?));
        let mut all = Directions::default();
        let take =
            |answer: Answer, layout: Layout| all.append(Directions::new(layout, Box::new(answer.output)));
        self.run_all(batch, &inputs, next, take)?;
        Ok(all)
    }

    /// The paths of those windows whose directions can stay on the device, where there is work enough for it.
    pub(super) fn fill_and_walk(
        &mut self,
        batch: &Batch,
        (windows, places): (&[Window], &[u32]),
        paths: &mut Paths,
    ) -> Result<(), EngineError> {
        let cells = |window: &Window| u64::from(window.query_end) * u64::from(window.cols());
        if windows.iter().map(cells).sum::<u64>() <= self.tuning.few_cells {
            return Ok(());
        }
        let (inputs, plans) = self.plan(batch, windows)?;
        let words: Vec<u32> = windows.iter().map(|window| path_words(window, &batch.scoring)).collect();
        let (few_tiles, subgroup) = (self.tuning.few_tiles, self.card.runtime.device.subgroup);
        let most_words = WALK_WORDS.min(self.card.runtime.device.limits.max_storage_buffer_binding_size / 4);
        let (mut rest, mut begun) = (plans.as_slice(), 0);
        let next = |_| {
            let plans = next_plans(&mut rest, most_words)?;
            let range = begun..begun + plans.len();
            begun = range.end;
            let (job, ends) = walk_job(plans, &words[range.clone()], few_tiles, subgroup);
            Some((job, (range, ends)))
        };
        let take = |answer: Answer, (range, ends): (Range<usize>, Vec<Range<u32>>)| {
            paths.put(Box::new(answer.output), places[range].iter().copied().zip(ends));
        };
        self.run_all(batch, &inputs, next, take)
    }

    /// What fills each of the windows, and its inputs.
    fn plan(&mut self, batch: &Batch, windows: &[Window]) -> Result<(Inputs, Vec<Plan>), EngineError> {
        let residues = span(batch, windows, |window| (window.target, window.start..window.target_end));
        let inputs = self.inputs(batch, residues)?;
        let (scores, subgroup) = (scores_of(batch), self.card.runtime.device.subgroup);
        let plan = |window| Plan::new(batch, window, scores, subgroup);
        Ok((inputs, windows.par_iter().map(plan).collect()))
    }

    /// The edges that a block leaves, swept in the waves of its grid.
    pub(super) fn sweep_block(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
    ) -> Result<Edges, EngineError> {
        let inputs = self.inputs(batch, residues_of(batch, block))?;
        let variant = Variant::thin(Kernel::Score, scores_of(batch)).on(self.card.runtime.device.subgroup);
        let grid = Grid::unpadded(block.rows.len() as u32, block.cols.len() as u32, variant.capacity());
        let base = block_task(batch, block);
        let mut waves = Waves::default();
        // What a tile's best cell is does not matter here, but has its place.
        for (tile, place) in grid.tiles(|_| 0..grid.cols).zip(0..) {
            waves.push(tile.wave, Task { result: place, ..grid.task(&tile, &base, 0) });
        }
        let mut job = Job {
            edges: grid.edges(),
            output: grid.size() * 16,
            entering: grid.entering(edges),
            leaving: grid.leaving(),
            ..Job::default()
        };
        waves.into_dispatches(variant).for_each(|dispatch| job.push(dispatch));
        let answer = self.run(batch, &inputs, &job)?;
        Ok(grid.left_behind(answer.leaving()))
    }

    /// Walks paths on through blocks, whose grids run side by side.
    pub(super) fn walk_all_blocks(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
        legs: &[Leg],
    ) -> Result<(Vec<Stand>, Paths), EngineError> {
        let residues = span(batch, blocks, |(block, _)| (block.window.target, block.target_cols()));
        let inputs = self.inputs(batch, residues)?;
        let variant = Variant::thin(Kernel::Fill, scores_of(batch)).on(self.card.runtime.device.subgroup);
        let (mut job, tiles, firsts) = blocks_job(batch, blocks, variant);
        let steps = |(block, _): &(Block, Edges)| (block.rows.len() + block.cols.len()) as u32;
        let (mut walkers, mut places, mut end) = (Vec::with_capacity(legs.len()), Vec::new(), 0);
        for Leg { stand, blocks: through } in legs {
            let runs: u32 = blocks[through.clone()].iter().map(steps).sum();
            let place = end + STAND_WORDS..end + STAND_WORDS + runs;
            walkers.push(walker(*stand, firsts[through.end]..firsts[through.start], &place, end));
            end = place.end;
            places.push(place);
        }
        job.push(walks(walkers, &tiles));
        job.output = u64::from(end) * 4;
        let output = self.run(batch, &inputs, &job)?.output;
        let stand = |place: &Range<u32>| match output.as_ref()[(place.start - STAND_WORDS) as usize..] {
            [rows, cols, layer, ..] => Stand { rows, cols, layer: Source::of(layer as u8) },
            _ => Stand { rows: 0, cols: 0, layer: Source::Stop },
        };
        let stands = places.iter().map(stand).collect();
        let mut paths = Paths::default();
        paths.push(Box::new(output), places);
        Ok((stands, paths))
    }
}

/// The tasks of one variant, by wave.
#[derive(Default)]
struct Waves(BTreeMap<u32, Vec<Task>>);

impl Waves {
    fn push(&mut self, wave: u32, task: Task) {
        self.0.entry(wave).or_default().push(task);
    }

    fn into_dispatches(self, variant: Variant) -> impl Iterator<Item = Dispatch> {
        self.0.into_values().map(move |tasks| Dispatch::new(variant, tasks))
    }
}

/// The residues of the targets that a block takes.
pub fn residues_of(batch: &Batch, block: &Block) -> Range<usize> {
    span(batch, std::slice::from_ref(block), |block| (block.window.target, block.target_cols()))
}
