//! The CPU engine: scores pairs in the lanes of vectors, or the rows of one pair, on all cores.

mod alike;
mod anchored;
mod cell;
mod columns;
mod database;
mod lanes;
mod rows;
mod score;
mod scorer;
pub mod simd;
mod strip;
mod striped;
mod sweeps;
mod trace;

use crate::engine::database::by_pairs;
use crate::engine::directions::{TileLayout, cell_bits};
use crate::engine::overlaps;
use crate::engine::pathfinding::all_paths;
use crate::engine::{Block, Capabilities, Checkpoints, DatabaseQuery, Directions, Edges, Engine, Paths};
use crate::engine::{Primitives, TargetScore, Tile, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, sweeps, swept};
use crate::terms::casts::{to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::Substitution;
pub use alike::SHARE;
use anchored::Values;
use lanes::StepCosts;
use rayon::prelude::*;
use score::Width;
use scorer::{Scorer, Trials, in_order};
use simd::InstructionSet;
use std::ops::Range;
use strip::{DirectionFill, Rectangle};
use sweeps::{striped_window, sweep, sweep_parts};
use trace::{BandShape, Trace, holds_global};

/// Four times the widest vectors of 16 threads. It does not depend on the machine, so all machines do the same work.
const ENOUGH_SWEEPS: u64 = 1 << 12;
/// Four times the widest vectors. A vector whose lanes hold several queries looks scores up lane by lane.
const ENOUGH_OF_QUERY: u64 = 1 << 8;
/// Number of short targets from which it is faster to find scores without their end cells: several groups of the widest
/// vectors.
const DATABASE: usize = 256;
/// Maximum number of groups of sweeps in one piece of parallel work.
const GROUPS: usize = 16;
/// Maximum number of cells of a band that is filled in the same vectors as others, so that the directions stay in a
/// cache. A matrix is looked up lane by lane, so beyond the nearest cache that is no faster than strips
/// (docs/ideas.md).
const BAND_CELLS: u64 = 1 << 19;
const BAND_CELLS_BY_MATRIX: u64 = 1 << 17;
/// The same in global mode, in which strips use wide lanes; and the bytes of directions of all threads.
const GLOBAL_CELLS: u64 = 1 << 22;
const GLOBAL_BYTES: u64 = 1 << 29;
/// Granularity of band heights when bands are grouped.
const BAND_ROWS: u32 = 64;

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
    /// Creates an engine for the fastest instruction set of the processor.
    pub fn new() -> Cpu {
        Cpu::on(InstructionSet::best())
    }

    pub fn on(set: InstructionSet) -> Cpu {
        Cpu { set }
    }

    /// The narrowest lanes that hold the bands of queries of `rows` residues, if any do.
    fn width_for(&self, batch: &Batch, rows: i64) -> Option<Width> {
        let bound = batch.scoring.most_score(to_usize(rows));
        let bits = cell_bits(batch.scoring.gaps().count()) as usize;
        let holds = |width: &Width| {
            bits <= 8 * width.bytes() && width.most(&batch.scoring).is_some_and(|most| bound <= most)
        };
        [Width::W8, Width::W16].into_iter().find(holds)
    }

    /// Whether it is faster to fill the bands in the lanes of vectors than one after another in strips.
    fn goes_in_lanes(&self, batch: &Batch, windows: &[Window], group: &[u32]) -> bool {
        let lanes = self.set.lanes(Width::W32.bytes()) as u64;
        let strips = |shape: BandShape| u64::from(shape.rows).div_ceil(lanes) * (shape.width() + 2 * lanes);
        let windows = group.iter().map(|&place| &windows[place as usize]);
        let (in_strips, all) = windows.fold((0, BandShape::default()), |(steps, all), window| {
            (steps + strips(BandShape::of(window)), all.with(BandShape::of_path(batch, window)))
        });
        all.cells() < in_strips
    }
}

impl Engine for Cpu {
    fn capabilities(&self) -> Capabilities {
        let name = match rayon::current_num_threads() {
            1 => format!("CPU (1 thread, {})", self.set),
            threads => format!("CPU ({threads} threads, {})", self.set),
        };
        Capabilities {
            enough_sweeps: ENOUGH_SWEEPS,
            enough_of_query: ENOUGH_OF_QUERY,
            database: DATABASE,
            ..Capabilities::named(name)
        }
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        if batch.scoring.has_own_rows() {
            return Ok(self.score_rows(batch, pairs));
        }
        let sweeps: Vec<&[Pair]> = sweeps(pairs).collect();
        let order = in_order(batch, &sweeps);
        let trials = Trials::default();
        let threads = rayon::current_num_threads();
        let is_shared = sweeps.len() < threads;
        let scorer = Scorer { set: self.set, batch, sweeps: &sweeps, trials: &trials, is_shared };
        let lanes = self.set.lanes(Width::W8.bytes());
        // Few pairs are spread over all threads. Long pairs are separate pieces of work, because each may fill the
        // lanes alone.
        let rows = |sweep: &&[Pair]| batch.query(swept(sweep).query).len();
        let is_long = |sweep: &&[Pair]| striped_window(self.set, &batch.scoring, rows(sweep)).is_some();
        let share = order.len().div_ceil(4 * threads);
        let share =
            if share < lanes && sweeps.iter().all(is_long) { share } else { share.next_multiple_of(lanes) };
        let some = order.par_chunks(share.clamp(1, GROUPS * lanes));
        let scored: Vec<Vec<HitEnd>> =
            some.map(|some| scorer.score(some)).collect::<Result<_, EngineError>>()?;
        let mut scored = scored.into_iter().flatten();
        let mut hits = vec![HitEnd::default(); pairs.len()];
        let mut rest = hits.as_mut_slice();
        let mut places: Vec<&mut [HitEnd]> = Vec::with_capacity(sweeps.len());
        for sweep in &sweeps {
            let (own, behind) = rest.split_at_mut(sweep.len());
            places.push(own);
            rest = behind;
        }
        for &index in &order {
            places[index as usize].iter_mut().zip(&mut scored).for_each(|(place, hit)| *place = hit);
        }
        overlaps::mend_ends(batch, pairs, &mut hits);
        Ok(hits)
    }

    fn quick_scores(
        &mut self,
        batch: &Batch,
        pairs: &[(Pair, i32)],
    ) -> Result<Vec<Option<HitEnd>>, EngineError> {
        let score = |(pair, least): &(Pair, i32)| alike::score_at_least(self.set, batch, pair, *least);
        Ok(pairs.par_iter().map(score).collect())
    }

    fn score_database(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        match batch.scoring.has_own_rows() {
            true => by_pairs(self, batch, asked),
            false => self.score_targets(batch, asked),
        }
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        match batch.scoring.has_own_rows() {
            true => Ok(crate::engine::rows::paths(batch, windows)),
            false => all_paths(self, batch, windows),
        }
    }
}

impl Primitives for Cpu {
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        let mut layout = TileLayout::default();
        let lanes = self.set.lanes(Width::W32.bytes());
        let tiles: Vec<Range<usize>> = windows
            .iter()
            .map(|window| {
                let first = layout.tiles.len();
                layout.push_window(strip::tiles(window.query_end, lanes, &batch.scoring, |rows| {
                    window.band_cols(i64::from(rows.start)..i64::from(rows.end))
                }));
                first..layout.tiles.len()
            })
            .collect();
        let mut words = vec![0; to_usize(layout.words)];
        let mut rest = words.as_mut_slice();
        let mut parts = Vec::with_capacity(windows.len());
        for (window, tiles) in windows.iter().zip(tiles) {
            let tiles = &layout.tiles[tiles];
            let (part, behind) = rest.split_at_mut(to_usize(tiles.iter().map(Tile::words).sum::<u64>()));
            parts.push((window, tiles, part));
            rest = behind;
        }
        parts.into_par_iter().for_each(|(window, tiles, words)| {
            let query = &batch.query(window.query)[..window.query_end as usize];
            let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
            let rectangle = Rectangle { query, target, scoring: &batch.scoring };
            let edges = Edges::of_window(&batch.scoring, window);
            self.set.run(DirectionFill { rectangle, edges: &edges, tiles, words });
        });
        Ok(Directions::new(layout, Box::new(words)))
    }

    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let mut paths = Paths::none(windows.len());
        let mode = batch.scoring.mode;
        if mode.begins_at_either_start() {
            return Ok(paths);
        }
        let shapes: Vec<BandShape> =
            windows.par_iter().map(|window| BandShape::of_path(batch, window)).collect();
        let shape = |place: &u32| shapes[*place as usize];
        let most = match batch.scoring.substitution {
            Substitution::Equal { .. } if mode.begins_in_corner() => {
                let bits = u64::from(cell_bits(batch.scoring.gaps().count()));
                let cell = (self.set.lanes(Width::W8.bytes()) as u64 * bits).div_ceil(16);
                let of_thread = GLOBAL_BYTES / rayon::current_num_threads() as u64 / cell;
                of_thread.clamp(BAND_CELLS, GLOBAL_CELLS)
            }
            Substitution::Equal { .. } => BAND_CELLS,
            Substitution::Matrix(_) => BAND_CELLS_BY_MATRIX,
        };
        let mut order: Vec<u32> =
            (0..to_u32(windows.len())).filter(|place| shape(place).cells() <= most).collect();
        // Groups bands of similar height and width.
        order.par_sort_unstable_by_key(|place| {
            let shape = shape(place);
            (shape.rows.div_ceil(BAND_ROWS), shape.width(), *place)
        });
        let chunks = order.par_chunks(self.set.lanes(Width::W8.bytes()));
        let traced = chunks.map_init(Vec::new, |room, some| {
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
                let group = if mode.is_local() {
                    group
                } else {
                    let fitting = if mode.begins_in_corner() { of_whole_pairs } else { of_whole_queries };
                    whole = fitting(batch, windows, group);
                    &whole
                };
                if !group.is_empty() && self.goes_in_lanes(batch, windows, group) {
                    let trace = Trace { batch, windows, group, width, words: &mut words, room };
                    places.extend(group.iter().copied().zip(self.set.run(trace)?));
                }
            }
            Ok((words, places))
        });
        for (words, places) in traced.collect::<Result<Vec<_>, EngineError>>()? {
            paths.put(Box::new(words), places);
        }
        if mode.begins_in_corner() {
            return Ok(paths);
        }
        let missing = paths.missing();
        let left: Vec<Window> = missing.iter().map(|&place| windows[place as usize]).collect();
        paths.put_all(&missing, self.trace_alike(batch, &left, SHARE)?);
        Ok(paths)
    }

    fn block_checkpoints(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Checkpoints, EngineError> {
        Ok(sweep_parts(self.set, batch, block, edges, side))
    }

    fn checkpoints(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Checkpoints>, EngineError> {
        let sweep = |window| {
            let edges = Edges::of_window(&batch.scoring, window);
            sweep_parts(self.set, batch, &Block::whole(window), &edges, side)
        };
        Ok(windows.par_iter().map(sweep).collect())
    }

    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
        Ok(sweep(self.set, batch, block, edges, usize::MAX).0)
    }

    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError> {
        let lanes = self.set.lanes(Width::W32.bytes());
        let fill = |(block, edges): &(Block, Edges)| {
            let (query, target) = block.codes(batch);
            let rectangle = Rectangle { query, target, scoring: &batch.scoring };
            let mut layout = TileLayout::default();
            layout.push_window(strip::tiles(to_u32(query.len()), lanes, &batch.scoring, |_| {
                0..to_u32(target.len())
            }));
            let mut words = vec![0; to_usize(layout.words)];
            self.set.run(DirectionFill { rectangle, edges, tiles: &layout.tiles, words: &mut words });
            Directions::new(layout, Box::new(words))
        };
        let filled: Vec<Directions> = blocks.par_iter().map(fill).collect();
        let mut all = Directions::default();
        filled.into_iter().for_each(|one| all.append(one));
        Ok(all)
    }
}

/// The windows of a group that can be traced together in global mode, in 16-bit lanes: their scores are exact.
fn of_whole_pairs(batch: &Batch, windows: &[Window], group: &[u32]) -> Vec<u32> {
    let of = |&place: &u32| &windows[place as usize];
    let rows = group.iter().map(|place| of(place).query_end).max().unwrap_or(0);
    let holds = |place: &u32| holds_global(batch, rows, of(place));
    group.iter().copied().filter(holds).collect()
}

/// The windows of a group that can be traced together in glocal mode, in 16-bit lanes. Only the band limits them, all
/// columns of the group's band are residues of their targets, and their scores are exact.
fn of_whole_queries(batch: &Batch, windows: &[Window], group: &[u32]) -> Vec<u32> {
    let of = |&place: &u32| &windows[place as usize];
    let limited = |window: &Window| window.cols() < window.query_end.saturating_add(window.band.deletions);
    let mut group: Vec<u32> = group.iter().copied().filter(|place| !limited(of(place))).collect();
    let shape = group.iter().map(of).map(BandShape::of).fold(BandShape::default(), BandShape::with);
    // A band with this many deletions belongs to a score of at least this value.
    let least = -batch.scoring.gap_cost(shape.deletions as usize + 1);
    let values = Values::of::<i16>(&StepCosts::new(&batch.scoring), shape.rows as usize);
    if values.is_none_or(|values| least < values.least_exact()) {
        return Vec::new();
    }
    group.retain(|place| of(place).target_end >= of(place).query_end.saturating_add(shape.deletions));
    group
}
