//! Pairs whose queries need several strips: grids of tiles in waves, or strips in a chain.

use crate::engine::carry::EdgeSlice;
use crate::engine::gpu::Chains;
use crate::engine::gpu::job::{Chain, Job};
use crate::engine::gpu::layout::{CHAIN_APART, NOWHERE};
use crate::engine::gpu::plan::blocks::{PairBlock, blocks};
use crate::engine::gpu::plan::grid::{Grid, GridTile};
use crate::engine::gpu::plan::{DeviceLimits, WholeTile, blank, fitting, hit_at, in_waves, scoring};
use crate::engine::gpu::tasks::{ChainTask, JoinedTask};
use crate::engine::gpu::variant::{
    CHAINED_ROWS, Exchange, KernelResults, KernelScoring, STRIP_ROWS, TileVariant,
};
use crate::engine::{Edge, Edges};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{to_u32, to_usize};
use crate::terms::scoring::{AlignmentMode, Scoring};
use rayon::prelude::*;
use std::cmp::Reverse;

/// Maximum number of submissions of a job of grids: the more grids run concurrently, the fewer tiles of a wave wait for
/// its last tiles.
const GRID_SUBMISSIONS: u64 = 16;
/// Minimum number of columns of a chained strip in one dispatch, unless it has fewer.
const LEAST_RUN: u64 = 1 << 9;
/// Maximum number of columns of all slots of a chain, unless runs of minimum length have more: 128 MiB.
const HANDED_COLS: u64 = 1 << 24;

/// Maximum number of edge values of a job of several grids in modes other than local, whose borders the host writes: 32
/// MiB.
const BORDERED_EDGES: u64 = 1 << 22;

/// The tiles that grids are made of.
pub struct StripTiles {
    /// Variants for many and for few concurrent tiles.
    many: TileVariant,
    few: TileVariant,
    /// Variants for strips in a chain, by increasing rows; empty if strips can't be chained.
    chained: Vec<TileVariant>,
    mode: AlignmentMode,
    limits: DeviceLimits,
}

impl StripTiles {
    pub fn new(scoring: impl Into<KernelScoring>, limits: DeviceLimits) -> StripTiles {
        let scoring = scoring.into();
        StripTiles {
            many: TileVariant::joined(KernelResults::Score, scoring),
            few: TileVariant::thin(KernelResults::Score, scoring),
            chained: chained(scoring, &limits),
            mode: AlignmentMode::Local,
            limits,
        }
    }

    /// The tiles of another mode. Their edges hold the borders of the matrix, so strips are not chained.
    pub fn in_mode(self, mode: AlignmentMode) -> StripTiles {
        let (many, few) = (self.many.in_mode(mode), self.few.in_mode(mode));
        let chained = if mode.is_local() { self.chained } else { Vec::new() };
        StripTiles { many, few, chained, mode, ..self }
    }

    /// The grid of a pair.
    fn grid(&self, rows: u32, cols: u32) -> Grid {
        Grid::in_mode(self.mode, rows, cols, self.many.capacity())
    }

    /// Whether a job can hold a pair. Chained strips store only edges, for which a device has more room.
    pub fn hold(&self, batch: &Batch, pair: &Pair) -> bool {
        let rows = to_u32(batch.query(pair.query).len());
        let grid = self.grid(rows, pair.cols());
        let [edges, size] = self.limits.job_room();
        let in_waves = grid.edges() <= edges && grid.size() <= size;
        in_waves || (self.is_chained(grid.widest() as usize) && grid.edges() <= self.limits.binding / 8)
    }

    /// Whether grids whose widest wave has `widest` tiles are chained.
    fn is_chained(&self, widest: usize) -> bool {
        widest < self.limits.tuning.few_tiles && !self.chained.is_empty()
    }

    /// The blocks of a pair that is too large for a job, band by band.
    pub fn blocks(&self, batch: &Batch, pair: &Pair) -> Vec<Vec<PairBlock>> {
        let (rows, height) = (to_u32(batch.query(pair.query).len()), self.many.capacity());
        let [edges, size] = self.limits.job_room();
        blocks(&Grid::padded(rows, pair.cols(), height), height, [edges.max(2), size])
    }
}

/// Variants for strips in a chain, by increasing rows; empty if strips can't be chained.
pub fn chained(scoring: KernelScoring, limits: &DeviceLimits) -> Vec<TileVariant> {
    let rows = CHAINED_ROWS.into_iter().filter(|_| limits.chains);
    let variant = |rows| Some(TileVariant::chained(scoring, rows)?.on(limits.subgroup));
    let suits =
        |variant: &TileVariant| variant.exchange == Exchange::Subgroup || limits.tuning.chains.everywhere;
    rows.filter_map(variant).filter(suits).collect()
}

/// The first variant with which there are few enough strips, or the last.
pub fn suited(
    chained: &[TileVariant],
    chains: &Chains,
    strips: impl Fn(u32) -> usize,
) -> Option<TileVariant> {
    let fits = |variant: &&TileVariant| strips(variant.capacity()) <= chains.strips;
    chained.iter().find(fits).or(chained.last()).copied()
}

/// Whether a pair needs several strips.
pub fn is_long(batch: &Batch, pair: &Pair) -> bool {
    to_u32(batch.query(pair.query).len()) > STRIP_ROWS && pair.cols() > 0
}

/// The pairs of a job, and its grids.
pub struct PairGrids {
    placed: Vec<PlacedGrid>,
}

/// The grid of a pair or of one of its blocks, and the indices of its first edge value, tile result and chain column.
struct PlacedGrid {
    /// Index of the pair among all pairs to score, and the grid's first row and column in the pair.
    index: usize,
    row: u32,
    start: u32,
    grid: Grid,
    whole: WholeTile,
    edges: u64,
    results: u64,
    chain: u32,
    /// Waves of the job before this grid's first wave.
    waves_before: u32,
}

impl PairGrids {
    /// The grids of the next job: as many of the first pairs at `rest` as suit submissions of `cells` cells.
    pub fn next(
        batch: &Batch,
        pairs: &[Pair],
        rest: &mut &[usize],
        tiles: &StripTiles,
        cells: u64,
    ) -> Option<PairGrids> {
        let placed = |&index: &usize| {
            let pair = &pairs[index];
            let whole = WholeTile::pair(batch, pair);
            let grid = tiles.grid(whole.span.rows, pair.cols());
            PlacedGrid::first(index, 0, pair.start, grid, whole)
        };
        // The last pair may exceed the limit.
        let mut before = 0;
        let [edges, size] = tiles.limits.job_room();
        let edges = if tiles.mode.is_local() { edges } else { edges.min(BORDERED_EDGES) };
        let most = [(cells * GRID_SUBMISSIONS).saturating_sub(1), edges, size];
        let count = fitting(*rest, most, |index| {
            let cells = batch.cells(&pairs[*index]);
            let grid = placed(index).grid;
            [std::mem::replace(&mut before, cells), grid.edges(), grid.size()]
        });
        let (now, behind) = rest.split_at_checked(count)?;
        *rest = behind;
        Some(PairGrids { placed: now.iter().map(placed).collect() })
    }

    /// The grid of a block of a pair that is too large for a job, and its job, which stores the block's edges.
    pub fn block(
        batch: &Batch,
        pair: &Pair,
        block: &PairBlock,
        entering: &Edges,
        tiles: &StripTiles,
    ) -> (PairGrids, Job) {
        let whole = block.whole(batch, pair);
        let grid = Grid::padded(whole.span.rows, whole.span.cols, tiles.many.capacity());
        let (row, start) = (block.rows.start, pair.start + block.cols.start);
        let mut grids = PairGrids { placed: vec![PlacedGrid::first(0, row, start, grid, whole)] };
        // Blocks are cut for tiles of full length; with shorter tiles, a job could not hold them.
        let mut job = grids.waves(tiles, usize::MAX);
        (job.entering, job.leaving) = (grid.entering(entering, tiles.many.pieces), grid.leaving());
        (grids, job)
    }

    /// The edges that a block leaves, as read back.
    pub fn left_behind<'a>(&self, read: impl Iterator<Item = EdgeSlice<'a>>) -> Edges {
        self.placed.first().map(|placed| placed.grid.left_behind(read)).unwrap_or_default()
    }

    /// The indices of the pairs.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.placed.iter().map(|grid| grid.index)
    }

    /// The best hit of each pair, by index.
    pub fn best(&self, results: &[u32], none: HitEnd) -> Vec<(usize, HitEnd)> {
        self.placed.par_iter().map(|grid| (grid.index, grid.best(results, none))).collect()
    }

    /// Cuts all grids anew and assigns their edges and results. Returns the job without its dispatches.
    fn cut(&mut self, cut: impl Fn(Grid) -> Grid) -> Job {
        let (mut edges, mut results) = (0, 0);
        for placed in &mut self.placed {
            placed.grid = cut(placed.grid);
            (placed.edges, placed.results) = (edges, results);
            edges += placed.grid.edges();
            results += placed.grid.size();
        }
        Job { edges, output: results * 16, ..Job::default() }
    }

    /// The job of all tiles.
    pub fn job(&mut self, tiles: &StripTiles, scoring: &Scoring) -> Job {
        let widest: usize = self.placed.iter().map(|grid| grid.grid.widest() as usize).sum();
        let strips = |rows: u32| -> usize {
            self.placed.iter().map(|placed| placed.whole.span.rows.div_ceil(rows) as usize).sum()
        };
        let chains = tiles.limits.tuning.chains;
        match suited(&tiles.chained, &chains, strips) {
            Some(variant) if tiles.is_chained(widest) => self.chain(variant, chains),
            _ => {
                // Cuts the grids first.
                let job = self.waves(tiles, widest);
                Job { entering: self.borders(tiles, scoring), ..job }
            }
        }
    }

    /// The borders of the matrices in modes other than local.
    fn borders(&self, tiles: &StripTiles, scoring: &Scoring) -> Vec<(u64, Edge)> {
        let of_grid = |placed: &PlacedGrid| {
            let (rows, cols) = (placed.grid.rows as usize, placed.grid.cols as usize);
            let entering = Edges::at_borders(scoring, rows, cols, placed.start);
            let entering = placed.grid.entering(&entering, tiles.many.pieces);
            let edges = placed.edges;
            entering.into_iter().map(move |(place, edge)| (place + edges, edge))
        };
        match tiles.mode.is_local() {
            true => Vec::new(),
            false => self.placed.iter().flat_map(of_grid).collect(),
        }
    }

    /// The job of all tiles as chained strips. Each strip comes after the strips that it waits for.
    fn chain(&mut self, variant: TileVariant, chains: Chains) -> Job {
        // All strips are in one dispatch, with as many columns as the dispatch and the slots allow.
        let rows = || self.placed.iter().map(|placed| placed.whole.span.rows);
        let slots = Chain::slots(rows().max().unwrap_or(0).div_ceil(variant.capacity()));
        let fitting = chains.cells / rows().map(u64::from).sum::<u64>().max(1);
        let fitting = fitting.min(HANDED_COLS / (self.placed.len() as u64 * u64::from(slots)).max(1));
        let run = to_u32(fitting.max(LEAST_RUN).min(u64::from(chains.cols)));
        let mut job = self.cut(|grid| grid.chained(variant.capacity(), run));
        let mut cols = CHAIN_APART;
        for placed in &mut self.placed {
            placed.chain = cols;
            cols += placed.grid.run_cols() + CHAIN_APART;
        }
        let most = |count: fn(&Grid) -> u32| self.placed.iter().map(|grid| count(&grid.grid)).max();
        let (runs, strips) = (most(Grid::runs).unwrap_or(0), most(Grid::strips).unwrap_or(0));
        job.chain = Some(Chain::new(cols, strips, chains.patience));
        // The edge values on the left of a run are complete when it begins.
        for run in 0..runs {
            let tasks = |strip: u32| self.placed.iter().filter_map(move |grid| grid.chained_task(strip, run));
            job.push_chain(variant, (0..strips).flat_map(tasks), chains.cells);
        }
        job
    }

    /// The job of all tiles, wave by wave.
    fn waves(&mut self, tiles: &StripTiles, widest: usize) -> Job {
        let &StripTiles { ref many, ref few, ref limits, mode, .. } = tiles;
        let few_tiles = limits.tuning.few_tiles;
        let mut job = self.cut(|grid| grid.in_tiles_for(widest, few_tiles));
        job.blank = blank(tiles.mode);
        self.follow();
        let dispatch = |tasks: Vec<JoinedTask>| {
            let variant = if tasks.len() < few_tiles { few } else { many };
            scoring(*variant, tasks, limits.subgroup)
        };
        let tasks = |grid: &PlacedGrid, wave: u32, tasks: &mut Vec<JoinedTask>| {
            let tiles = grid.grid.wave(wave, |_| 0..grid.grid.cols);
            tasks.extend(tiles.map(|tile| grid.task(&tile, mode)));
        };
        let waves = in_waves(&self.placed, |grid| (grid.waves_before, &grid.grid), tasks, dispatch);
        waves.into_iter().for_each(|wave| job.push(wave));
        job
    }

    /// Delays grids with few waves so that they follow others within the waves of the longest grid. If all grids began
    /// at once, the last waves would have few tiles. Every second row of consecutive grids is aligned to the last wave
    /// instead of the first, because a row may be shorter than the longest grid.
    fn follow(&mut self) {
        let placed = &mut self.placed;
        placed.sort_by_key(|grid| Reverse(grid.grid.waves()));
        let all = placed.first().map_or(0, |longest| longest.grid.waves());
        let (mut long, mut short, mut from_the_end) = (0, placed.len(), false);
        while long < short {
            let mut taken = 0;
            let mut next = long;
            long += 1;
            loop {
                let own = placed[next].grid.waves();
                placed[next].waves_before = if from_the_end { all - taken - own } else { taken };
                taken += own;
                if long == short || taken + placed[short - 1].grid.waves() > all {
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
    /// The grid whose first cell is at (`row`, `start`) of the pair at `index`, as the first grid of its job.
    fn first(index: usize, row: u32, start: u32, grid: Grid, whole: WholeTile) -> PlacedGrid {
        PlacedGrid { index, row, start, grid, whole, edges: 0, results: 0, chain: 0, waves_before: 0 }
    }

    /// Index of a tile's result.
    fn result(&self, tile: &GridTile) -> u32 {
        to_u32(self.results + self.grid.place(tile))
    }

    /// The task of a tile. In modes other than local, only cells in which alignments may end count for the score.
    fn task(&self, tile: &GridTile, mode: AlignmentMode) -> JoinedTask {
        let mut task = self.grid.joined_task(tile, &self.whole, self.edges, self.result(tile));
        let has_last_row = tile.strip + 1 == self.grid.strips();
        let has_last_col = tile.cols.end == self.grid.cols;
        let last_col = to_u32(tile.cols.len()) - 1;
        let free = mode.free_ends();
        task.counts_from = match (has_last_row, has_last_col) {
            _ if mode.is_local() => task.counts_from,
            (true, _) if free.target => task.counts_from,
            (true, true) => last_col,
            (false, true) if free.query => last_col,
            _ => NOWHERE,
        };
        if mode.ends_at_either_end() && has_last_col {
            task.right = NOWHERE;
        }
        task
    }

    /// The task of a strip in a chain, if the grid has it.
    fn chained_task(&self, strip: u32, run: u32) -> Option<ChainTask> {
        let tile = self.grid.tile(strip, run)?;
        Some(self.grid.chained_task(&tile, &self.whole, self.edges, self.chain, self.result(&tile)))
    }

    /// The best of its tiles' hits, among the results of its job.
    fn best(&self, results: &[u32], none: HitEnd) -> HitEnd {
        let first = to_usize(self.results) * 4;
        let results = results[first..first + to_usize(self.grid.size()) * 4].chunks_exact(4);
        let most = results.clone().map(|result| result[0].cast_signed()).max();
        let hit = |(place, result): (u64, &[u32])| {
            let (row, col) = self.grid.first_cell(place);
            // The kernel counts rows from the query's first row in the tile.
            hit_at(self.row + row, self.start + col, result, none)
        };
        let highest = (0..).zip(results).filter(|(_, result)| Some(result[0].cast_signed()) == most);
        highest.map(hit).min_by(HitEnd::order).unwrap_or(none)
    }
}
