//! Pairs whose queries take several strips: grids of tiles in waves, or strips in a chain.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::engine::gpu::Chains;
use crate::engine::gpu::job::{Chain, Dispatch, Job};
use crate::engine::gpu::layout::{CHAIN_APART, TILE_COLS};
use crate::engine::gpu::plan::grid::Grid;
use crate::engine::gpu::plan::resumed::{self, ResumedGrid};
use crate::engine::gpu::plan::{DeviceLimits, JOB_EDGES, Whole, fitting, hit_at, scoring};
use crate::engine::gpu::tasks::{ChainTask, ResumedTask, StripTask, Wave};
use crate::engine::gpu::variant::{CHAINED_ROWS, Exchange, Kernel, STRIP_ROWS, Scores, TileVariant, Variant};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

/// Submissions that a job of grids may take: the more grids run side by side, the fewer of a wave's
/// tiles wait for its last ones.
const GRID_SUBMISSIONS: u64 = 16;
/// Columns of a chained strip in one dispatch, unless there are fewer.
const LEAST_RUN: u64 = 1 << 9;
/// Columns that all slots of a chain have together, at most, unless the least runs have more: 128 MiB.
const HANDED_COLS: u64 = 1 << 24;

/// The tiles that grids are made of.
pub struct StripTiles {
    /// Where many stand side by side, and where few do.
    many: TileVariant,
    few: TileVariant,
    /// Strips that go on in each wave, where many stand side by side; none where there can be none.
    resumed: Vec<TileVariant>,
    /// The tiles of strips in a chain, the least rows first; none where strips can't be chained.
    chained: Vec<TileVariant>,
    limits: DeviceLimits,
}

impl StripTiles {
    pub fn new(scores: Scores, limits: DeviceLimits) -> StripTiles {
        StripTiles {
            many: TileVariant::joined(Kernel::Score, scores),
            few: TileVariant::thin(Kernel::Score, scores),
            resumed: TileVariant::resumed(scores, limits.subgroup, limits.tuning.resumed_rows),
            chained: chained(scores, &limits),
            limits,
        }
    }

    /// Rows of the lowest strips.
    fn least_rows(&self) -> u32 {
        self.resumed.iter().fold(self.many.capacity(), |least, variant| least.min(variant.capacity()))
    }

    /// Whether so many tiles side by side leave much of a device idle.
    fn are_few(&self, tiles: usize) -> bool {
        tiles < self.limits.tuning.few_tiles
    }
}

/// The tiles that strips in a chain can be, the least rows first; none where strips can't be chained.
pub fn chained(scores: Scores, limits: &DeviceLimits) -> Vec<TileVariant> {
    let rows = CHAINED_ROWS.into_iter().filter(|_| limits.chains);
    let variant = |rows| Some(TileVariant::chained(scores, rows)?.on(limits.subgroup));
    let suits =
        |variant: &TileVariant| variant.exchange == Exchange::Subgroup || limits.tuning.chains.everywhere;
    rows.filter_map(variant).filter(suits).collect()
}

/// The first of the tiles with which there are few enough strips, or the last.
pub fn suited(
    chained: &[TileVariant],
    chains: &Chains,
    strips: impl Fn(u32) -> usize,
) -> Option<TileVariant> {
    let fits = |variant: &&TileVariant| strips(variant.capacity()) <= chains.strips;
    chained.iter().find(fits).or(chained.last()).copied()
}

/// Whether a pair takes several strips.
pub fn is_long(batch: &Batch, pair: &Pair) -> bool {
    batch.query(pair.query).len() as u32 > STRIP_ROWS && pair.cols() > 0
}

/// What runs side by side in a wave.
struct WaveLoad {
    tiles: usize,
    cells: u64,
}

/// The pairs of a job, and its grids.
pub struct PairGrids {
    placed: Vec<PlacedGrid>,
}

/// The grid of a pair, where its edge values and its columns in the chain begin, and where its results lie.
struct PlacedGrid {
    /// The pair's place among all that are scored, and the first of its columns.
    index: usize,
    start: u32,
    grid: Grid,
    whole: Whole,
    edges: u64,
    results: Range<u64>,
    chain: u32,
    /// Its waves, and those of the job before its own.
    waves: u32,
    waves_before: u32,
}

impl PairGrids {
    /// The grids of the next job: as many of the first of the pairs at `rest` as suit submissions of `cells` cells.
    pub fn next(
        batch: &Batch,
        pairs: &[Pair],
        rest: &mut &[usize],
        tiles: &StripTiles,
        cells: u64,
    ) -> Option<PairGrids> {
        let placed = |&index: &usize| {
            let pair = &pairs[index];
            let whole = Whole::pair(batch, pair);
            let grid = Grid::padded(whole.span.rows, pair.cols(), tiles.many.capacity());
            PlacedGrid {
                index,
                start: pair.start,
                grid,
                whole,
                edges: 0,
                results: 0..0,
                chain: 0,
                waves: 0,
                waves_before: 0,
            }
        };
        if rest.is_empty() {
            return None;
        }
        let DeviceLimits { tuning, binding, .. } = tiles.limits;
        let most_edges = JOB_EDGES.min(binding / 8);
        let most_strips = tuning.many_tiles.min(binding / size_of::<StripTask>() as u64);
        let most = [
            (cells * GRID_SUBMISSIONS).saturating_sub(1),
            most_edges.saturating_sub(u64::from(TILE_COLS)),
            most_strips,
        ];
        // The last one may go over.
        let mut before = 0;
        let count = fitting(*rest, most, |index| {
            let cells = std::mem::replace(&mut before, batch.cells(&pairs[*index]));
            let grid = placed(index).grid;
            let resumed = tiles.resumed.iter().map(|variant| ResumedGrid::new(variant, &grid).edges());
            let edges = resumed.fold(grid.edges_in_ring(), u64::max);
            [cells, edges, u64::from(grid.rows.div_ceil(tiles.least_rows()))]
        });
        let side_by_side = rest.iter().take(count).map(|index| placed(index).grid.widest() as usize).sum();
        // Few may be chained, which takes edge values for all columns.
        let count = match tiles.are_few(side_by_side) {
            true => fitting(&rest[..count], [most_edges], |index| [placed(index).grid.edges()]),
            false => count,
        };
        let (now, behind) = rest.split_at_checked(count)?;
        *rest = behind;
        Some(PairGrids { placed: now.iter().map(placed).collect() })
    }

    /// The places of the pairs.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.placed.iter().map(|grid| grid.index)
    }

    /// The best hit of each pair, by its place.
    pub fn best(&self, results: &[u32]) -> Vec<(usize, Hit)> {
        self.placed.par_iter().map(|grid| (grid.index, grid.best(results))).collect()
    }

    /// Cuts all grids anew, and places the edge values from `first_edge` on and the results that they take; the job without its
    /// dispatches.
    fn place(
        &mut self,
        cut: impl Fn(Grid) -> Grid,
        first_edge: u64,
        takes: impl Fn(&Grid) -> [u64; 2],
    ) -> Job {
        let (mut edges, mut results) = (first_edge, 0);
        for placed in &mut self.placed {
            placed.grid = cut(placed.grid);
            placed.waves = placed.grid.waves();
            let [more_edges, more_results] = takes(&placed.grid);
            (placed.edges, placed.results) = (edges, results..results + more_results);
            edges += more_edges;
            results += more_results;
        }
        Job { edges, output: results * 16, ..Job::default() }
    }

    /// The job of all tiles.
    pub fn job(&mut self, tiles: &StripTiles) -> Job {
        let widest: usize = self.placed.iter().map(|grid| grid.grid.widest() as usize).sum();
        let strips = |rows: u32| -> usize {
            self.placed.iter().map(|placed| placed.whole.span.rows.div_ceil(rows) as usize).sum()
        };
        let chains = tiles.limits.tuning.chains;
        match suited(&tiles.chained, &chains, strips) {
            Some(variant) if tiles.are_few(widest) => self.chain(variant, chains),
            _ => {
                let grids = self.placed.iter().map(|placed| placed.grid);
                match resumed::suited(&tiles.resumed, grids, tiles.limits.tuning.few_tiles) {
                    Some(variant) if !tiles.are_few(widest) => self.resume(variant),
                    _ => self.waves(tiles, widest),
                }
            }
        }
    }

    /// The job of all strips, which go on in each wave.
    fn resume(&mut self, variant: TileVariant) -> Job {
        let resumed = |grid: &Grid| ResumedGrid::new(&variant, grid);
        let takes = |grid: &Grid| [resumed(grid).edges(), u64::from(grid.strips())];
        let mut job = self.place(|grid| resumed(&grid).grid(), 0, takes);
        self.placed.iter_mut().for_each(|placed| placed.waves = resumed(&placed.grid).waves());
        self.follow();
        let tasks = |placed: &PlacedGrid| {
            let PlacedGrid { grid, whole, edges, results, waves_before, .. } = placed;
            resumed(grid).tasks(*whole, *edges, results.start, *waves_before)
        };
        let tasks: Vec<ResumedTask> = self.placed.iter().flat_map(tasks).collect();
        let cells = |wave: u32| tasks.iter().map(|task| ResumedGrid::cells(task, variant.lanes, wave)).sum();
        let cells: Vec<u64> = (0..self.all_waves()).into_par_iter().map(cells).collect();
        let groups = tasks.len() as u32;
        let mut tasks = tasks;
        for (number, cells) in (0..).zip(cells) {
            let dispatch = Dispatch::without_cells(variant, std::mem::take(&mut tasks)).in_groups(groups);
            job.push(Dispatch { cells, ..dispatch }.with_table(vec![Wave { number }]));
        }
        job
    }

    /// Waves until all grids are done.
    fn all_waves(&self) -> u32 {
        self.placed.iter().map(|placed| placed.waves_before + placed.waves).max().unwrap_or(0)
    }

    /// The job of all tiles as chained strips. Each strip comes behind the strips that it waits for.
    fn chain(&mut self, variant: TileVariant, chains: Chains) -> Job {
        // All strips in one dispatch, with as many columns as it and their slots can take.
        let rows = || self.placed.iter().map(|placed| placed.whole.span.rows);
        let slots = Chain::slots(rows().max().unwrap_or(0).div_ceil(variant.capacity()));
        let fitting = chains.cells / rows().map(u64::from).sum::<u64>().max(1);
        let fitting = fitting.min(HANDED_COLS / (self.placed.len() as u64 * u64::from(slots)).max(1));
        let run = fitting.max(LEAST_RUN).min(u64::from(chains.cols)) as u32;
        let takes = |grid: &Grid| [grid.edges(), grid.size()];
        let mut job = self.place(|grid| grid.chained(variant.capacity(), run), 0, takes);
        let mut cols = CHAIN_APART;
        for placed in &mut self.placed {
            placed.chain = cols;
            cols += placed.grid.run_cols() + CHAIN_APART;
        }
        let most = |count: fn(&Grid) -> u32| self.placed.iter().map(|grid| count(&grid.grid)).max();
        let (runs, strips) = (most(Grid::runs).unwrap_or(0), most(Grid::strips).unwrap_or(0));
        job.chain = Some(Chain::new(cols, strips, chains.patience));
        // What a run finds on its left lies there when it begins.
        for run in 0..runs {
            let tasks = |strip: u32| self.placed.iter().filter_map(move |grid| grid.chained_task(strip, run));
            job.push_chain(variant, (0..strips).flat_map(tasks), chains.cells);
        }
        job
    }

    /// The job of all tiles, wave by wave: a task for each strip, and a dispatch for each wave.
    fn waves(&mut self, tiles: &StripTiles, widest: usize) -> Job {
        let StripTiles { many, few, limits, .. } = tiles;
        let few_tiles = limits.tuning.few_tiles;
        let takes = |grid: &Grid| [grid.edges_in_ring(), u64::from(grid.strips())];
        let cut = |grid: Grid| grid.in_tiles_for(widest, few_tiles);
        let mut job = self.place(cut, u64::from(TILE_COLS), takes);
        self.follow();
        let variant = if tiles.are_few(widest) { few } else { many };
        let tasks: Vec<StripTask> = self.placed.iter().flat_map(PlacedGrid::strip_tasks).collect();
        let all = scoring(variant.in_waves(), tasks, limits.subgroup);
        let thin = few.in_waves().on(limits.subgroup);
        let loads: Vec<WaveLoad> =
            (0..self.all_waves()).into_par_iter().map(|wave| self.load(wave)).collect();
        let mut first_tasks = all.tasks;
        let words = first_tasks.len();
        for (number, load) in (0..).zip(loads) {
            // Lanes that share a profile are not those of thin tiles.
            let is_thin =
                load.tiles < few_tiles && all.variant == Variant::from(many.in_waves().on(limits.subgroup));
            let variant = if is_thin { Variant::from(thin) } else { all.variant };
            let tasks = std::mem::take(&mut first_tasks);
            let groups = (words / (size_of::<StripTask>() / 4)) as u32 / variant.pairs();
            let dispatch = Dispatch {
                cells: load.cells,
                groups,
                tasks,
                ..Dispatch::without_cells(variant, Vec::<StripTask>::new())
            };
            job.push(dispatch.with_table(vec![Wave { number }]));
        }
        job
    }

    /// What runs side by side in a wave.
    fn load(&self, wave: u32) -> WaveLoad {
        let mut load = WaveLoad { tiles: 0, cells: 0 };
        for PlacedGrid { grid, waves_before, .. } in &self.placed {
            let Some(own) = wave.checked_sub(*waves_before) else { continue };
            for tile in grid.wave(own, |_| 0..grid.cols) {
                load.tiles += 1;
                load.cells += grid.tile_cells(&tile);
            }
        }
        load
    }

    /// Has grids of few waves follow others, within the waves of the longest: if all began at once, the last waves would have
    /// few tiles. One half of the rows of grids that so come about ends with the last wave, since a row may be short.
    fn follow(&mut self) {
        let placed = &mut self.placed;
        placed.sort_by_key(|grid| Reverse(grid.waves));
        let all = placed.first().map_or(0, |longest| longest.waves);
        let (mut long, mut short, mut from_the_end) = (0, placed.len(), false);
        while long < short {
            let mut taken = 0;
            let mut next = long;
            long += 1;
            loop {
                let own = placed[next].waves;
                placed[next].waves_before = if from_the_end { all - taken - own } else { taken };
                taken += own;
                if long == short || taken + placed[short - 1].waves > all {
                    break;
                }
                short -= 1;
                next = short;
            }
            from_the_end = !from_the_end;
        }
    }
}

impl PlacedGrid {
    /// The tasks of its strips in waves.
    fn strip_tasks(&self) -> impl Iterator<Item = StripTask> {
        (0..self.grid.strips()).map(|strip| {
            let result = self.results.start as u32 + strip;
            self.grid.strip_task(strip, &self.whole, self.edges, result, self.waves_before + strip)
        })
    }

    /// The task of a strip in a chain, where the grid has it.
    fn chained_task(&self, strip: u32, run: u32) -> Option<ChainTask> {
        let tile = self.grid.tile(strip, run)?;
        let places = (self.edges, self.chain);
        let result = (self.results.start + self.grid.place(&tile)) as u32;
        Some(self.grid.chained_task(&tile, &self.whole, places, result))
    }

    /// The first in order of the hits of its tiles or strips, among the results of its job.
    fn best(&self, results: &[u32]) -> Hit {
        let Range { start, end } = self.results;
        let results = results[start as usize * 4..end as usize * 4].chunks_exact(4);
        let most = results.clone().map(|result| result[0]).max();
        let hit = |(place, result): (u64, &[u32])| {
            // A strip has the place of its first tile. The kernel counts from the query's first row in it.
            let (row, col) = self.grid.first_cell(place);
            hit_at((row, self.start + col), result)
        };
        let highest = (0..).zip(results).filter(|(_, result)| Some(result[0]) == most);
        highest.map(hit).min_by(Hit::order).unwrap_or_default()
    }
}
