//! The CPU engine: pairs side by side in the lanes of vectors, or the rows of one pair, on all cores.

mod anchored;
mod cell;
mod database;
mod lanes;
mod score;
pub mod simd;
mod strip;
mod striped;
mod trace;

use crate::alignment::Hit;
use crate::batch::{Batch, Pair, sweeps, swept};
use crate::bounds::Band;
use crate::engine::directions::Layout;
use crate::engine::frontier::{Frontier, better};
use crate::engine::overlaps;
use crate::engine::plain::{floor, recurrence};
use crate::engine::potential::PotentialBehind;
use crate::engine::primitives::all_paths;
use crate::engine::{Asked, BLOCK_ROWS, Block, Capabilities, Checkpoints, Directions, Edges, Engine, Paths};
use crate::engine::{Primitives, TargetScore, Tile, Window};
use crate::error::EngineError;
use crate::scoring::{AlignmentMode, Scoring, Substitution};
use anchored::{Anchored, Values, ends_of};
use lanes::Costs;
use rayon::prelude::*;
use score::{Score, Width};
use simd::InstructionSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use strip::{Fill, Rectangle, Sweep};
use striped::{PrunedSweep, StripedSweep, WindowSize};
use trace::{BandShape, Trace};

/// Four times the widest vectors of 16 threads, whatever the machine has, so that each machine does the same work.
const ENOUGH_SWEEPS: u64 = 1 << 12;
/// Short targets from which on scores are sooner found without the cells that they end in: several groups of the widest
/// vectors.
const DATABASE: usize = 256;
/// Groups of sweeps that a thread takes in one go.
const GROUPS: usize = 16;
/// Queries of more rows are scored strip by strip: the lanes' columns would not stay in the cache.
const MOST_ROWS: usize = 1 << 13;
/// What a step of a strip costs, in steps of pairs side by side.
const STRIP_STEP: u64 = 2;
/// Pairs after which narrow lanes are given up where the scores of more than half of those tried were too large.
const TRIED: usize = 256;

/// Cells of a band that is filled beside others, at most: their directions should stay in a cache. A matrix
/// is looked up lane by lane, so that beyond the nearest cache it is no faster than strips (docs/ideas.md).
const BAND_CELLS: u64 = 1 << 19;
const BAND_CELLS_BY_MATRIX: u64 = 1 << 17;
/// Bands of a group differ in fewer rows than this.
const BAND_ROWS: u32 = 64;

/// Rows of a strip of any instruction set, or of several.
const STRIP_ROWS: u32 = 16;
/// Rows for each lane of 8 bits from which on a rectangle is swept with its rows dealt to narrow lanes.
const STRIPED_ROWS: usize = 4;
/// What a column of it costs beside its cells, and how much more than pairs side by side its cells cost, in steps of those.
const STRIPED_COLUMN: u64 = 16;
const STRIPED_STEP: u64 = 2;
/// Rows and columns of a pair from which on most of its cells may be left out, and the share of a perfect score that its words
/// must promise for that to be tried.
const PRUNED_SIDE: usize = 2048;
const PRUNED_PROMISE: i32 = 4;
/// The share of a whole sweep that may be spent on leaving out most of it.
const PRUNED_SHARE: u64 = 6;
/// Cells from which on a pair is swept by several threads, in parts of this side.
const SHARED_CELLS: u64 = 1 << 24;
const PART_SIDE: u32 = 4 * BLOCK_ROWS;
/// A band that holds every cell.
const WHOLE: Band = Band { deletions: u32::MAX, insertions: u32::MAX };

/// The CPU engine. Its parallel loops run on the current rayon pool.
#[derive(Debug)]
pub struct Cpu {
    set: InstructionSet,
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new()
    }
}

impl Cpu {
    /// An engine on the fastest instruction set that the processor has.
    pub fn new() -> Cpu {
        Cpu::on(InstructionSet::best())
    }

    pub fn on(set: InstructionSet) -> Cpu {
        Cpu { set }
    }

    /// The narrowest lanes for the bands of queries of `rows` residues, if there are any narrow enough.
    fn width_for(&self, batch: &Batch, rows: i64) -> Option<Width> {
        let bound = rows * i64::from(batch.scoring.max_potential());
        let holds = |width: &Width| width.most(&batch.scoring).is_some_and(|most| bound <= most);
        [Width::W8, Width::W16].into_iter().find(holds)
    }

    /// Whether bands are filled sooner side by side than one after another in strips.
    fn goes_in_lanes(&self, shapes: impl Iterator<Item = BandShape>) -> bool {
        let lanes = self.set.lanes(Width::W32.bytes()) as u64;
        let strips = |shape: BandShape| u64::from(shape.rows).div_ceil(lanes) * (shape.width() + 2 * lanes);
        let (in_strips, all) = shapes
            .fold((0, BandShape::default()), |(steps, all), shape| (steps + strips(shape), all.with(shape)));
        all.cells() < in_strips
    }
}

impl Engine for Cpu {
    fn capabilities(&self) -> Capabilities {
        let name = match rayon::current_num_threads() {
            1 => format!("CPU (1 thread, {})", self.set),
            threads => format!("CPU ({threads} threads, {})", self.set),
        };
        Capabilities { enough_sweeps: ENOUGH_SWEEPS, database: DATABASE, ..Capabilities::named(name) }
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        let sweeps: Vec<&[Pair]> = sweeps(pairs).collect();
        let order = in_order(batch, &sweeps);
        let trials = Trials::default();
        let threads = rayon::current_num_threads();
        let is_shared = sweeps.len() < threads;
        let scorer = Scorer { set: self.set, batch, sweeps: &sweeps, trials: &trials, is_shared };
        let lanes = self.set.lanes(Width::W8.bytes());
        // Few pairs are spread over all threads; long ones one by one, since each may fill the lanes by itself.
        let rows = |sweep: &&[Pair]| batch.query(swept(sweep).query).len();
        let is_long = |sweep: &&[Pair]| striped_window(self.set, &batch.scoring, rows(sweep)).is_some();
        let share = order.len().div_ceil(4 * threads);
        let share =
            if share < lanes && sweeps.iter().all(is_long) { share } else { share.next_multiple_of(lanes) };
        let some = order.par_chunks(share.clamp(1, GROUPS * lanes));
        let scored: Vec<Vec<Hit>> = some.map(|some| scorer.score(some)).collect();
        let mut scored = scored.into_iter().flatten();
        let mut hits = vec![Hit::default(); pairs.len()];
        let mut rest = hits.as_mut_slice();
        let mut places: Vec<&mut [Hit]> = Vec::with_capacity(sweeps.len());
        for sweep in &sweeps {
            let (own, behind) = rest.split_at_mut(sweep.len());
            places.push(own);
            rest = behind;
        }
        for &index in &order {
            places[index as usize].iter_mut().zip(&mut scored).for_each(|(place, hit)| *place = hit);
        }
        let mend = |(pair, hit): (&Pair, &mut Hit)| {
            if overlaps::may_be_empty(&batch.scoring, hit) {
                *hit = overlaps::best(batch, pair);
            }
        };
        if batch.scoring.mode == AlignmentMode::Overlap {
            pairs.par_iter().zip(&mut hits).for_each(mend);
        }
        Ok(hits)
    }

    fn score_database(
        &mut self,
        batch: &Batch,
        asked: &[Asked],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        self.score_targets(batch, asked)
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        all_paths(self, batch, windows)
    }
}

impl Primitives for Cpu {
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        let mut layout = Layout::default();
        let lanes = self.set.lanes(Width::W32.bytes());
        let tiles: Vec<Range<usize>> = windows
            .iter()
            .map(|window| {
                let first = layout.tiles.len();
                layout.push_window(strip::tiles(window.query_end, lanes, |rows| {
                    window.band_cols(i64::from(rows.start)..i64::from(rows.end))
                }));
                first..layout.tiles.len()
            })
            .collect();
        let mut words = vec![0; layout.words as usize];
        let mut rest = words.as_mut_slice();
        let mut parts = Vec::with_capacity(windows.len());
        for (window, tiles) in windows.iter().zip(tiles) {
            let tiles = &layout.tiles[tiles];
            let (part, behind) = rest.split_at_mut(tiles.iter().map(Tile::words).sum::<u64>() as usize);
            parts.push((window, tiles, part));
            rest = behind;
        }
        parts.into_par_iter().for_each(|(window, tiles, words)| {
            let query = &batch.query(window.query)[..window.query_end as usize];
            let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
            let rectangle = Rectangle { query, target, scoring: &batch.scoring };
            let edges = Edges::of_window(&batch.scoring, window);
            self.set.run(Fill { rectangle, edges: &edges, tiles, words });
        });
        Ok(Directions::new(layout, Box::new(words)))
    }

    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let mut paths = Paths::none(windows.len());
        let mode = batch.scoring.mode;
        if !mode.is_local() && mode != AlignmentMode::Glocal {
            return Ok(paths);
        }
        let shape = |place: &u32| BandShape::of(&windows[*place as usize]);
        let most = match batch.scoring.substitution {
            Substitution::Equal { .. } => BAND_CELLS,
            Substitution::Matrix(_) => BAND_CELLS_BY_MATRIX,
        };
        let mut order: Vec<u32> =
            (0..windows.len() as u32).filter(|place| shape(place).cells() <= most).collect();
        // Bands of about one height and width go well side by side.
        order.par_sort_unstable_by_key(|place| {
            let shape = shape(place);
            (shape.rows.div_ceil(BAND_ROWS), shape.width(), *place)
        });
        let traced = order.par_chunks(self.set.lanes(Width::W8.bytes())).map(|some| {
            let mut words = Vec::new();
            let mut places = Vec::with_capacity(some.len());
            let rows = some.iter().map(|place| shape(place).rows).max().unwrap_or(0);
            let width = match mode.is_local() {
                true => self.width_for(batch, i64::from(rows)),
                false => Some(Width::W16),
            };
            let Some(width) = width else { return Ok((words, places)) };
            for group in some.chunks(self.set.lanes(width.bytes())) {
                let whole: Vec<u32>;
                let group = match mode.is_local() {
                    true => group,
                    false => {
                        whole = of_whole_queries(batch, windows, group);
                        &whole
                    }
                };
                if !group.is_empty() && self.goes_in_lanes(group.iter().map(shape)) {
                    let trace = Trace { batch, windows, group, width, words: &mut words };
                    places.extend(group.iter().copied().zip(self.set.run(trace)?));
                }
            }
            Ok((words, places))
        });
        for (words, places) in traced.collect::<Result<Vec<_>, EngineError>>()? {
            paths.put(Box::new(words), places);
        }
        Ok(paths)
    }

    fn block_checkpoints(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Checkpoints, EngineError> {
        Ok(sweep_parts(self.set, batch, (block, edges), side))
    }

    fn checkpoints(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Checkpoints>, EngineError> {
        let sweep = |window| {
            let edges = Edges::of_window(&batch.scoring, window);
            sweep_parts(self.set, batch, (&Block::whole(window), &edges), side)
        };
        Ok(windows.par_iter().map(sweep).collect())
    }

    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
        Ok(sweep(self.set, batch, (block, edges), usize::MAX).0)
    }

    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError> {
        let lanes = self.set.lanes(Width::W32.bytes());
        let fill = |(block, edges): &(Block, Edges)| {
            let (query, target) = block.codes(batch);
            let rectangle = Rectangle { query, target, scoring: &batch.scoring };
            let mut layout = Layout::default();
            layout.push_window(strip::tiles(query.len() as u32, lanes, |_| 0..target.len() as u32));
            let mut words = vec![0; layout.words as usize];
            self.set.run(Fill { rectangle, edges, tiles: &layout.tiles, words: &mut words });
            Directions::new(layout, Box::new(words))
        };
        let filled: Vec<Directions> = blocks.par_iter().map(fill).collect();
        let mut all = Directions::default();
        filled.into_iter().for_each(|one| all.append(one));
        Ok(all)
    }
}

/// Those windows of a group that can be traced side by side in mode glocal, in lanes of 16 bits: nothing but the band limits
/// them, all columns of the group's band are letters of their targets, and their scores are exact.
fn of_whole_queries(batch: &Batch, windows: &[Window], group: &[u32]) -> Vec<u32> {
    let of = |&place: &u32| &windows[place as usize];
    let limited = |window: &Window| window.cols() < window.query_end.saturating_add(window.band.deletions);
    let mut group: Vec<u32> = group.iter().copied().filter(|place| !limited(of(place))).collect();
    let shape = group.iter().map(of).map(BandShape::of).fold(BandShape::default(), BandShape::with);
    // A band of so many deletions is that of a score no lower than this.
    let least = -batch.scoring.gap_cost(shape.deletions as usize + 1);
    let values = Values::of::<i16>(&Costs::new(&batch.scoring), shape.rows as usize);
    if values.is_none_or(|values| least < values.least_exact()) {
        return Vec::new();
    }
    group.retain(|place| of(place).target_end >= of(place).query_end.saturating_add(shape.deletions));
    group
}

/// The first best cell of a block's columns from `own` on, its rows and columns counted in the window. The block is swept
/// in parts, those of one anti-diagonal side by side.
fn score_parts(set: InstructionSet, batch: &Batch, block: &Block, side: u32, own: u32) -> Hit {
    let mut frontier = Frontier::new(block, Edges::default(), side);
    let mut best = Hit::default();
    for wave in 0..frontier.waves() {
        let parts = frontier.wave(wave);
        let sweep = |part: &Block| {
            let own = own.saturating_sub(part.cols.start) as usize;
            sweep(set, batch, (part, &frontier.entering(part)), own)
        };
        let swept: Vec<(Edges, Hit)> = parts.par_iter().map(sweep).collect();
        for (part, (edges, hit)) in parts.iter().zip(swept) {
            best = better(best, hit, part);
            frontier.leave(part, &edges);
        }
    }
    best
}

/// The edges that a window leaves below and to the right.
fn leaving(set: InstructionSet, batch: &Batch, window: &Window) -> Edges {
    let Edges { corner, horizontal, vertical } = Edges::of_window(&batch.scoring, window);
    // Below whole strips alone an edge is left; the rows behind them are few.
    let rows = window.query_end / STRIP_ROWS * STRIP_ROWS;
    let (upper, lower) = vertical.split_at(rows as usize);
    let last = upper.last().map_or(corner, |value| value[0]);
    let entering = Edges { corner, horizontal, vertical: upper.to_vec() };
    let block = Block { rows: 0..rows, ..Block::whole(window) };
    let cells = u64::from(rows) * u64::from(window.cols());
    let left = match () {
        () if rows == 0 => entering,
        // Parts pay where several threads share them.
        () if cells >= SHARED_CELLS && rayon::current_num_threads() > 1 => {
            let mut frontier = Frontier::new(&block, entering, PART_SIDE);
            for wave in 0..frontier.waves() {
                let parts = frontier.wave(wave);
                let sweep = |part: &Block| sweep(set, batch, (part, &frontier.entering(part)), usize::MAX).0;
                let swept: Vec<Edges> = parts.par_iter().map(sweep).collect();
                parts.iter().zip(&swept).for_each(|(part, edges)| frontier.leave(part, edges));
            }
            frontier.into_edges()
        }
        () => sweep(set, batch, (&block, &entering), usize::MAX).0,
    };
    let block = Block { rows: rows..window.query_end, ..block };
    let (query, target) = block.codes(batch);
    let entering = Edges { corner: last, horizontal: left.horizontal, vertical: lower.to_vec() };
    let below = recurrence(query, target, &batch.scoring, &entering, |_, _, _, _| {});
    Edges { vertical: [left.vertical, below.vertical].concat(), ..below }
}

/// The edges between the parts of a block, those of one anti-diagonal swept side by side.
fn sweep_parts(
    set: InstructionSet,
    batch: &Batch,
    (block, edges): (&Block, &Edges),
    side: u32,
) -> Checkpoints {
    let mut checkpoints = Checkpoints::new(block, edges, side, floor(&batch.scoring));
    for wave in 0..checkpoints.waves() {
        let mut parts = checkpoints.wave(wave);
        // Nothing needs what the last part leaves.
        parts.retain(|part| !checkpoints.is_last(part));
        let sweep = |part: &Block| sweep(set, batch, (part, &checkpoints.entering(part)), usize::MAX).0;
        let swept: Vec<Edges> = parts.par_iter().map(sweep).collect();
        parts.iter().zip(&swept).for_each(|(part, edges)| checkpoints.leave(part, edges));
    }
    checkpoints
}

/// The edges that a block leaves, and the first best cell of its columns from `own` on.
fn sweep(set: InstructionSet, batch: &Batch, (block, edges): (&Block, &Edges), own: usize) -> (Edges, Hit) {
    let (query, target) = block.codes(batch);
    let rectangle = Rectangle { query, target, scoring: &batch.scoring };
    sweep_rectangle(set, rectangle, edges, own)
}

/// The windows of a sweep whose `rows` are dealt to narrow lanes, if that pays.
fn striped_window(set: InstructionSet, scoring: &Scoring, rows: usize) -> Option<WindowSize> {
    let size = WindowSize::of(scoring, set.lanes(Width::W16.bytes()));
    size.filter(|_| rows >= STRIPED_ROWS * set.lanes(Width::W8.bytes()))
}

/// The edges that a rectangle leaves, and the first best cell of its columns from `own` on.
fn sweep_rectangle(set: InstructionSet, rectangle: Rectangle<'_>, edges: &Edges, own: usize) -> (Edges, Hit) {
    match striped_window(set, rectangle.scoring, rectangle.query.len()) {
        Some(size) => set.run(StripedSweep { rectangle, edges, own, size }),
        None => set.run(Sweep { rectangle, edges, own }),
    }
}

/// The places of sweeps, in an order that brings together what goes well side by side: sweeps of one query where lanes
/// can share its profile, of about one size elsewhere.
fn in_order(batch: &Batch, sweeps: &[&[Pair]]) -> Vec<u32> {
    let by_query = matches!(batch.scoring.substitution, Substitution::Matrix(_));
    let key = |(place, sweep): (usize, &&[Pair])| {
        let pair = swept(sweep);
        let rows = batch.query(pair.query).len() as u32;
        let query = if by_query { pair.query } else { 0 };
        ((!rows, query, !pair.cols()), place as u32)
    };
    let mut keys: Vec<_> = sweeps.par_iter().enumerate().map(key).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|(_, place)| place).collect()
}

/// How often narrow lanes were tried and were too narrow. Where that is common they are no longer tried.
#[derive(Default)]
struct Trials {
    tried: AtomicUsize,
    failed: AtomicUsize,
}

impl Trials {
    fn are_worth_it(&self) -> bool {
        let (tried, failed) = (self.tried.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
        tried < TRIED || 2 * failed <= tried
    }

    fn count(&self, tried: usize, failed: usize) {
        self.tried.fetch_add(tried, Ordering::Relaxed);
        self.failed.fetch_add(failed, Ordering::Relaxed);
    }
}

/// Scores some sweeps of a batch.
#[derive(Clone, Copy)]
struct Scorer<'a> {
    set: InstructionSet,
    batch: &'a Batch,
    sweeps: &'a [&'a [Pair]],
    trials: &'a Trials,
    /// Whether several threads share a pair, since there are fewer pairs than threads.
    is_shared: bool,
}

impl Scorer<'_> {
    /// The hits of the pairs of the sweeps at `places`, in their order.
    fn score(&self, places: &[u32]) -> Vec<Hit> {
        let lengths = places.iter().map(|&place| self.sweeps[place as usize].len());
        let ends = lengths.scan(0, |end, len| {
            *end += len;
            Some(*end)
        });
        let firsts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let mut hits = vec![None; firsts[places.len()]];
        for (at, &place) in places.iter().enumerate() {
            if let [pair] = self.sweeps[place as usize] {
                hits[firsts[at]] = self.score_pruned(pair);
            }
        }
        for width in [Width::W8, Width::W16, Width::W32] {
            let missing: Vec<usize> = (0..places.len()).filter(|&at| hits[firsts[at]].is_none()).collect();
            for some in missing.chunks(self.set.lanes(width.bytes())) {
                let group: Vec<&[Pair]> = some.iter().map(|&at| self.sweeps[places[at] as usize]).collect();
                let mut found = self.score_group(width, &group).into_iter();
                for hit in some.iter().flat_map(|&at| firsts[at]..firsts[at + 1]) {
                    hits[hit] = found.next().flatten();
                }
            }
        }
        hits.into_iter().flatten().collect()
    }

    /// The hit of a pair that is alike from end to end, or nearly so: of most of its cells it is proven that no alignment
    /// that scores as much passes through.
    fn score_pruned(&self, pair: &Pair) -> Option<Hit> {
        let Scorer { set, batch, .. } = *self;
        let scoring = &batch.scoring;
        let query = batch.query(pair.query);
        let target = &batch.target(pair.target)[pair.start as usize..pair.end as usize];
        let shorter = query.len().min(target.len());
        if shorter < PRUNED_SIDE {
            return None;
        }
        let size = striped_window(set, scoring, query.len())?;
        let potential = PotentialBehind::new(query, target, scoring)?;
        if potential.whole() < scoring.max_potential() * shorter as i32 / PRUNED_PROMISE {
            return None;
        }
        let rows = query.len().div_ceil(set.lanes(Width::W16.bytes())) as u64;
        let column = STRIPED_COLUMN;
        let threads = if self.is_shared { rayon::current_num_threads() as u64 } else { 1 };
        let most = (rows + column) * target.len() as u64 / (PRUNED_SHARE * threads);
        let rectangle = Rectangle { query, target, scoring };
        let own = (pair.own - pair.start) as usize;
        let hit = set.run(PrunedSweep { rectangle, own, size, potential: &potential, most, column })?;
        Some(Hit { target_end: hit.target_end + pair.start, ..hit })
    }

    /// The hits of one group's pairs, if lanes of `width` are wide enough.
    fn score_group(&self, width: Width, group: &[&[Pair]]) -> Vec<Option<Hit>> {
        let pairs = || group.iter().map(|sweep| swept(sweep));
        let rows = |pair: &Pair| self.batch.query(pair.query).len();
        let steps_of = |rows: usize, cols: u32| rows as u64 * u64::from(cols);
        let (longest, widest) = pairs()
            .fold((0, 0), |(longest, widest), pair| (longest.max(rows(&pair)), widest.max(pair.cols())));
        let of_all = |hit: Option<Hit>| vec![hit; group.iter().map(|sweep| sweep.len()).sum()];
        let is_local = self.batch.scoring.mode.is_local();
        if longest == 0 || widest == 0 {
            return of_all(Some(if is_local { Hit::default() } else { Hit::NONE }));
        }
        let in_strips = pairs().map(|pair| self.steps_of_one(rows(&pair), pair.cols())).sum::<u64>();
        if longest > MOST_ROWS || in_strips < steps_of(longest, widest) {
            return group.iter().flat_map(|sweep| self.score_in_strips(sweep)).map(Some).collect();
        }
        if !is_local {
            return self.score_anchored(width, group, longest);
        }
        let bound = longest.min(widest as usize) as i64 * i64::from(self.batch.scoring.max_potential());
        let score = || self.set.run(Score { batch: self.batch, group, width });
        match width.most(&self.batch.scoring) {
            Some(most) if bound <= most => score(),
            Some(_) if width == Width::W16 || (width == Width::W8 && self.trials.are_worth_it()) => {
                let found = score();
                let failed = found.iter().filter(|hit| hit.is_none()).count();
                if width == Width::W8 {
                    self.trials.count(found.len(), failed);
                }
                found
            }
            _ => of_all(None),
        }
    }

    /// What a pair by itself costs, in steps of pairs side by side.
    fn steps_of_one(&self, rows: usize, cols: u32) -> u64 {
        let scoring = &self.batch.scoring;
        if striped_window(self.set, scoring, rows).is_some() {
            let width = if scoring.mode.is_local() { Width::W8 } else { Width::W16 };
            let rows = rows.div_ceil(self.set.lanes(width.bytes())) as u64;
            return STRIPED_STEP * (rows + STRIPED_COLUMN) * u64::from(cols);
        }
        let lanes = self.set.lanes(Width::W32.bytes());
        STRIP_STEP * rows.div_ceil(lanes) as u64 * (u64::from(cols) + lanes as u64)
    }

    /// The same in modes other than local.
    fn score_anchored(&self, width: Width, group: &[&[Pair]], rows: usize) -> Vec<Option<Hit>> {
        // Where the best score fits barely, most others lie too far below.
        let potential = 2 * rows as i64 * i64::from(self.batch.scoring.max_potential());
        let is_worth_it = width == Width::W32
            || width.most(&self.batch.scoring).is_some_and(|most| potential <= most)
                && (width == Width::W16 || self.trials.are_worth_it());
        if !is_worth_it {
            return vec![None; group.iter().map(|sweep| sweep.len()).sum()];
        }
        let found = self.set.run(Anchored { batch: self.batch, group, width });
        if width == Width::W8 {
            self.trials.count(found.len(), found.iter().filter(|hit| hit.is_none()).count());
        }
        found
    }

    /// The hits of a sweep's pairs in modes other than local.
    fn score_anchored_in_strips(&self, sweep: &[Pair]) -> Vec<Hit> {
        let Pair { query, target, start, end, .. } = swept(sweep);
        let query_end = self.batch.query(query).len() as u32;
        if query_end == 0 || start == end {
            return vec![Hit::NONE; sweep.len()];
        }
        let window = Window { query, target, start, query_end, target_end: end, band: WHOLE };
        ends_of(self.batch, sweep, &leaving(self.set, self.batch, &window))
    }

    fn score_in_strips(&self, sweep: &[Pair]) -> Vec<Hit> {
        if !self.batch.scoring.mode.is_local() {
            return self.score_anchored_in_strips(sweep);
        }
        if let [pair] = sweep { vec![self.score_pair(pair)] } else { self.score_stretches(sweep) }
    }

    fn score_pair(&self, pair: &Pair) -> Hit {
        let own = pair.own - pair.start;
        let (query_end, (start, target_end)) =
            (self.batch.query(pair.query).len() as u32, (pair.start, pair.end));
        let window =
            Window { query: pair.query, target: pair.target, start, query_end, target_end, band: WHOLE };
        let block = Block::whole(&window);
        // Parts pay where several threads share them.
        let has_parts = self.is_shared && self.batch.cells(pair) >= SHARED_CELLS;
        let hit = match has_parts {
            true => score_parts(self.set, self.batch, &block, PART_SIDE, own),
            false => sweep(self.set, self.batch, (&block, &Edges::default()), own as usize).1,
        };
        if hit.score == 0 { hit } else { Hit { target_end: hit.target_end + start, ..hit } }
    }

    /// The hits of a sweep's pairs, each stretch with what the one before it leaves on its right.
    fn score_stretches(&self, sweep: &[Pair]) -> Vec<Hit> {
        let mut from = swept(sweep).start;
        let mut edges = Edges::default();
        let stretch = |pair: &Pair| {
            let target = &self.batch.target(pair.target)[from as usize..pair.end as usize];
            let rectangle =
                Rectangle { query: self.batch.query(pair.query), target, scoring: &self.batch.scoring };
            let own = (pair.own - from) as usize;
            let (left, hit) = sweep_rectangle(self.set, rectangle, &edges, own);
            edges.vertical = left.vertical;
            let first = std::mem::replace(&mut from, pair.end);
            if hit.score == 0 { hit } else { Hit { target_end: hit.target_end + first, ..hit } }
        };
        sweep.iter().map(stretch).collect()
    }
}
