//! Plans of small examples, worked out by hand, and limits of plans of random examples.

use super::band::BandPlan;
use super::checkpoint;
use super::fill::{TRACEBACK_WORDS, WindowPlan, kept_job, next_plans};
use super::strips::{PairGrids, StripTiles, is_long};
use super::tile::Tiles;
use super::traceback::{path_words, suits, windows_job};
use super::*;
use crate::engine::Edges;
use crate::engine::checkpoints::Checkpoints;
use crate::engine::gpu::layout::{CHAIN_APART, NOWHERE};
use crate::engine::gpu::tasks::{
    BandGroups, BandTask, ChainTask, FillTask, JoinedTask, LinedTask, ScoreTask, TracebackTask,
};
use crate::engine::gpu::variant::{Exchange, KernelResults, STRIP_ROWS, Scores, TRACES, Variant};
use crate::terms::bounds::Band;
use crate::terms::random::Random;
use crate::terms::scoring::Scoring;
use std::ops::Range;
use std::sync::Arc;

fn lengths(random: &mut Random, count: usize, most: u32) -> Vec<usize> {
    (0..count).map(|_| random.below(most as usize)).collect()
}

/// Queries and targets of these lengths.
fn batch(queries: &[usize], targets: &[usize]) -> Batch {
    let letters = vec![0; queries.iter().chain(targets).copied().max().unwrap_or(0)];
    let sequences = |lengths: &[usize]| Arc::new(lengths.iter().map(|&len| &letters[..len]).collect());
    Batch {
        queries: sequences(queries),
        targets: sequences(targets),
        scoring: Arc::new(Scoring::dna(2, 3, 5, 2)),
    }
}

fn limits(chains: bool) -> DeviceLimits {
    DeviceLimits { tuning: Tuning::default(), subgroup: Some(32), binding: 1 << 30, chains }
}

fn window(query_end: u32, target_end: u32, band: (u32, u32)) -> Window {
    let band = Band { deletions: band.0, insertions: band.1 };
    Window { query: 0, target: 0, start: 0, query_end, target_end, band, score: 0 }
}

/// The tasks of a dispatch, without the empty tasks between and after them.
fn tasks<T: SpanTask>(dispatch: &Dispatch) -> Vec<T> {
    let all: Vec<T> = bytemuck::cast_slice(&dispatch.tasks).to_vec();
    all.into_iter().filter(|task| task.span().rows > 0).collect()
}

/// The tile of a dispatch's kernel: rows of its lanes, and where they exchange values.
fn tile_of(dispatch: &Dispatch) -> (u32, u32, Exchange) {
    match dispatch.variant {
        Variant::Tile(tile) => (tile.lanes, tile.rows, tile.exchange),
        Variant::Trace { .. } | Variant::Traceback { .. } | Variant::Rows { .. } => panic!("not a tile"),
    }
}

#[test]
fn as_many_as_fit_but_one_at_least() {
    let fitting = |sizes: &[[u64; 2]], most| fitting(sizes, most, |&size| size);
    assert_eq!(fitting(&[[3, 1], [3, 1], [3, 1]], [6, 9]), 2);
    assert_eq!(fitting(&[[3, 1], [3, 9], [3, 1]], [6, 9]), 1);
    assert_eq!(fitting(&[[7, 0], [0, 0]], [6, 9]), 1, "one that is too large goes alone");
    assert_eq!(fitting(&[[u64::MAX, 0], [u64::MAX, 0]], [u64::MAX, 0]), 2);
    assert_eq!(fitting(&[], [6, 9]), 1);
}

fn task(query: u32, cols: u32) -> ScoreTask {
    ScoreTask { span: Span { query, rows: 5, pad: 3, target_: 0, cols }, ..ScoreTask::default() }
}

#[test]
fn workgroups_share_a_query() {
    let tasks = [task(7, 10), task(1, 10), task(7, 30), task(7, 20)];
    let grouped = grouped(&tasks, 2, 4);
    let of = |task: &ScoreTask| (task.span.query, task.span.pad, task.span.cols);
    let expected = [(1, 7, 10), (0, 0, 0), (7, 7, 30), (7, 7, 20), (7, 7, 10), (0, 0, 0)];
    assert_eq!(grouped.iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn waves_hold_the_tasks_of_all_grids_that_reach_them() {
    let variant = TileVariant::joined(KernelResults::Score, Scores::Packed);
    let grids = [(512, 512), (1024, 1024), (2000, 512)].map(|(rows, cols)| Grid::padded(rows, cols, 512));
    let tasks = |grid: &Grid, wave: u32, tasks: &mut Vec<JoinedTask>| {
        let tiles = grid.wave(wave, |_| 0..grid.cols);
        tasks.extend(tiles.map(|tile| grid.joined_task(&tile, &WholeTile::default(), 0, 0)));
    };
    let dispatches = in_waves(&grids, |grid| (0, grid), tasks, |tasks| Dispatch::new(variant, tasks));
    let cells: Vec<u64> = dispatches.iter().map(|dispatch| dispatch.cells / 512).collect();
    assert_eq!(cells, [512 + 512 + 464, 2 * 512 + 512, 512 + 512, 512]);
}

#[test]
fn pairs_of_tiles_by_hand() {
    let batch = batch(&[3, 40], &[10, 20]);
    let pair = |query, target, own, end| Pair { query, target, start: 0, own, end };
    let pairs = [pair(0, 0, 0, 10), pair(1, 1, 0, 20), pair(0, 1, 7, 20)];
    let job = Tiles::new(&batch, Scores::Packed, Some(32)).job(&pairs);
    assert_eq!((job.output, job.cells, job.edges), (48, 30 + 800 + 60, 0));
    let [small, large] = &job.dispatches[..] else { panic!("two capacities") };
    assert_eq!((tile_of(small), small.groups), ((8, 4, Exchange::Subgroup), 64 / 4));
    assert_eq!(tile_of(large), (8, 8, Exchange::Subgroup));
    let task = |query, rows, pad, (target_, cols): (u32, u32), counts_from, result| ScoreTask {
        span: Span { query, rows, pad, target_, cols },
        counts_from,
        result,
        in_stretches: 0,
    };
    // The longest target comes first; the targets are stored contiguously.
    assert_eq!(tasks::<ScoreTask>(small), [task(0, 3, 29, (10, 20), 7, 2), task(0, 3, 29, (0, 10), 0, 0)]);
    assert_eq!(tasks::<ScoreTask>(large), [task(3, 40, 24, (10, 20), 0, 1)]);
}

#[test]
fn whole_queries_begin_at_the_border_of_their_tile() {
    for (mode, counts_from) in
        [(AlignmentMode::Glocal, 7), (AlignmentMode::Global, 19), (AlignmentMode::Overlap, 7)]
    {
        let mut batch = batch(&[40], &[20]);
        batch.scoring = Arc::new(Scoring::dna(2, 3, 5, 2).in_mode(mode));
        let pair = Pair { query: 0, target: 0, start: 0, own: 7, end: 20 };
        let tiles = Tiles::new(&batch, Scores::Packed, Some(32));
        let job = tiles.job(&[pair]);
        let [dispatch] = &job.dispatches[..] else { panic!("one pair") };
        let [task] = tasks::<ScoreTask>(dispatch)[..] else { panic!("one task") };
        assert_eq!((task.span.pad, task.counts_from), (0, counts_from), "{mode}");
        let mut hits = [HitEnd::default(); 2];
        let results = [HitEnd::NONE.score.cast_unsigned(), 0, 0, 0, 0, 39, 19, 0];
        tiles.take(&[pair; 2], &results, &mut hits);
        assert_eq!(hits, [HitEnd::NONE, HitEnd { score: 0, query_end: 40, target_end: 20 }], "{mode}");
    }
}

#[test]
fn random_pairs_have_one_tile_each() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let (queries, targets) = (lengths(&mut random, 5, 600), lengths(&mut random, 5, 100));
        let batch = batch(&queries, &targets);
        let pair = |_| {
            let (query, target) = (random.number(5), random.number(5));
            let end = random.number(targets[target as usize] as u32 + 1);
            let start = random.number(end + 1);
            Pair { query, target, start, own: start, end }
        };
        let pairs: Vec<Pair> = (0..40).map(pair).collect();
        let job = Tiles::new(&batch, Scores::Packed, Some(32)).job(&pairs);
        let mut results = Vec::new();
        for dispatch in &job.dispatches {
            let (lanes, rows, _) = tile_of(dispatch);
            for ScoreTask { span, result, .. } in tasks::<ScoreTask>(dispatch) {
                let pair = &pairs[result as usize];
                let held = TileVariant::holding(KernelResults::Score, Scores::Packed, span.rows).unwrap();
                assert_eq!((held.lanes, held.rows), (lanes, rows), "seed {seed}: the smallest tile");
                assert_eq!(span.rows + span.pad, lanes * rows, "seed {seed}");
                assert_eq!(
                    (span.rows, span.cols),
                    (batch.query(pair.query).len() as u32, pair.cols()),
                    "seed {seed}"
                );
                assert_eq!(
                    span.target_,
                    batch.targets.start(pair.target as usize) as u32 + pair.start,
                    "seed {seed}"
                );
                results.push(result);
            }
        }
        results.sort_unstable();
        let fits = |pair: &Pair| {
            (1..=STRIP_ROWS).contains(&(batch.query(pair.query).len() as u32)) && pair.cols() > 0
        };
        let expected = (0..).zip(&pairs).filter(|(_, pair)| fits(pair)).map(|(place, _)| place);
        assert!(results.into_iter().eq(expected), "seed {seed}");
    }
}

#[test]
fn a_grid_by_hand() {
    let grid = Grid::padded(600, 700, 512);
    assert_eq!((grid.strips(), grid.runs(), grid.first_row(0), grid.first_row(1)), (2, 2, -424, 88));
    let whole = WholeTile {
        span: Span { query: 1000, rows: 600, pad: 0, target_: 5000, cols: 700 },
        counts_from: 520,
    };
    let task = |strip, run| grid.joined_task(&grid.tile(strip, run).unwrap(), &whole, 10, 9);
    // Edge values: 10 at the front, one for each column, then 1 + 512 for each strip.
    let [first, left] = [10, 10 + 700];
    let span = Span { query: 1000, rows: 88, pad: 424, target_: 5000, cols: 512 };
    let expected =
        JoinedTask { span, counts_from: 520, result: 9, above: first, below: first, left, right: left };
    assert_eq!(task(0, 0), expected);
    let span = Span { query: 1088, rows: 512, pad: 0, target_: 5512, cols: 188 };
    let (above, left) = (first + 512, left + 513);
    let expected = JoinedTask { span, counts_from: 8, result: 9, above, below: above, left, right: left };
    assert_eq!(task(1, 1), expected);
    assert_eq!(grid.edges(), 700 + 2 * 513);
}

#[test]
fn tiles_of_random_grids_cover_all_cells_and_keep_to_their_edges() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (rows, cols) = (1 + random.number(3000), 1 + random.number(3000));
        let lined = Grid::unpadded(rows, cols, 512).with_lines(512 * (1 + random.number(3)));
        for grid in [Grid::padded(rows, cols, 512), lined, lined.in_tiles_for(1, 2)] {
            let span = Span { query: 7, rows, pad: 0, target_: 9, cols };
            let whole = WholeTile { span, counts_from: 0 };
            let mut cells = 0;
            for tile in grid.tiles(|_| 0..cols) {
                let JoinedTask { span, above, below, left, right, .. } =
                    grid.joined_task(&tile, &whole, 0, 0);
                let height = u64::from(span.rows + span.pad).max(512) + 1;
                cells += u64::from(span.rows) * u64::from(span.cols);
                assert!(span.query >= 7 && span.query + span.rows <= 7 + rows, "seed {seed}");
                assert!(span.target_ >= 9 && span.target_ + span.cols <= 9 + cols, "seed {seed}");
                let rows_end = |first: u32| u64::from(first) + u64::from(span.cols);
                assert!(rows_end(above) <= grid.edges() && rows_end(below) <= grid.edges(), "seed {seed}");
                let cols_end = |first: u32| u64::from(first) + height;
                assert!(cols_end(left) <= grid.edges() && cols_end(right) <= grid.edges(), "seed {seed}");
            }
            assert_eq!(cells, u64::from(rows) * u64::from(cols), "seed {seed}");
        }
    }
}

/// The only pair of a batch as the next job of grids.
fn pair_grids(batch: &Batch, pairs: &[Pair], tiles: &StripTiles) -> PairGrids {
    let (all, cells) = ((0..pairs.len()).collect::<Vec<usize>>(), 1 << 34);
    PairGrids::next(batch, pairs, &mut all.as_slice(), tiles, cells).unwrap()
}

#[test]
fn strips_by_hand() {
    let batch = batch(&[600, 512], &[700]);
    let pairs = [Pair { query: 0, target: 0, start: 0, own: 0, end: 700 }];
    assert!(is_long(&batch, &pairs[0]) && !is_long(&batch, &Pair { query: 1, ..pairs[0] }));
    let tiles = StripTiles::new(Scores::Packed, limits(false));
    let job = pair_grids(&batch, &pairs, &tiles).job(&tiles, &batch.scoring);
    // Few concurrent tiles are short: three runs of 256 columns and two strips, so four waves.
    let cells: Vec<u64> = job.dispatches.iter().map(|dispatch| dispatch.cells).collect();
    assert_eq!(cells, [88 * 256, 88 * 256 + 512 * 256, 88 * 188 + 512 * 256, 512 * 188]);
    assert_eq!((job.output, job.chain.is_some()), (6 * 16, false));

    let tiles = StripTiles::new(Scores::Packed, limits(true));
    let job = pair_grids(&batch, &pairs, &tiles).job(&tiles, &batch.scoring);
    let [dispatch] = &job.dispatches[..] else { panic!("one run of all strips") };
    assert_eq!((tile_of(dispatch), job.output), ((32, 4, Exchange::Subgroup), 5 * 16));
    let strips = tasks::<ChainTask>(dispatch);
    // The empty rows are above the query; only the first strip has no strip above it.
    let facts: Vec<_> =
        strips.iter().map(|task| (task.span.query, task.span.rows, task.span.pad, task.entering)).collect();
    assert_eq!(
        facts,
        [(0, 88, 40, 0), (88, 128, 0, 700), (216, 128, 0, 700), (344, 128, 0, 700), (472, 128, 0, 700)]
    );
    for (place, task) in (0..).zip(&strips) {
        assert_eq!((task.result, task.chain, task.left, task.right), (place, CHAIN_APART, NOWHERE, NOWHERE));
    }
}

/// Grids of 19, 7, 6, 5, 3 and 3 waves in three rows, of which the second ends with the last wave. The test counts the
/// tiles of first strips, which are absent from a grid's last wave.
#[test]
fn short_grids_follow_others() {
    let batch = batch(&[513], &[9 * 512, 3 * 512, 2 * 512, 1100, 512, 0]);
    let pair =
        |target: u32| Pair { query: 0, target, start: 0, own: 0, end: batch.target(target).len() as u32 };
    let mut pairs: Vec<Pair> = (0..5).map(pair).collect();
    pairs.push(pairs[4]);
    let tiles = StripTiles::new(Scores::Packed, limits(false));
    let mut grids = pair_grids(&batch, &pairs, &tiles);
    let job = grids.job(&tiles, &batch.scoring);
    let cells: u64 = pairs.iter().map(|pair| batch.cells(pair)).sum();
    assert_eq!((job.dispatches.len(), job.cells), (19, cells));
    let tops = |wave: &Dispatch| tasks::<JoinedTask>(wave).iter().filter(|task| task.span.query == 0).count();
    let tops: Vec<usize> = job.dispatches.iter().map(tops).collect();
    assert_eq!(tops, [2, 3, 3, 3, 3, 1, 2, 2, 1, 2, 2, 1, 2, 2, 2, 2, 2, 2, 0]);
}

#[test]
fn strips_of_random_pairs_cover_all_cells() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let lengths = |random: &mut Random, least| -> Vec<usize> {
            (0..3).map(|_| least + random.number(2500) as usize).collect()
        };
        let (queries, targets) = (lengths(&mut random, 513), lengths(&mut random, 1));
        let batch = batch(&queries, &targets);
        let pair =
            |k: usize| Pair { query: k as u32, target: k as u32, start: 0, own: 0, end: targets[k] as u32 };
        let pairs: Vec<Pair> = (0..3).map(pair).collect();
        let cells: u64 = pairs.iter().map(|pair| batch.cells(pair)).sum();
        for chains in [false, true] {
            let tiles = StripTiles::new(Scores::Packed, limits(chains));
            let mut grids = pair_grids(&batch, &pairs, &tiles);
            let job = grids.job(&tiles, &batch.scoring);
            assert_eq!((job.cells, grids.indices().count()), (cells, 3), "seed {seed}");
            let results = |dispatch: &Dispatch| -> Vec<u32> {
                match chains {
                    true => tasks::<ChainTask>(dispatch).iter().map(|task| task.result).collect(),
                    false => tasks::<JoinedTask>(dispatch).iter().map(|task| task.result).collect(),
                }
            };
            let mut results: Vec<u32> = job.dispatches.iter().flat_map(results).collect();
            results.sort_unstable();
            assert!(
                results.into_iter().eq(0..job.output as u32 / 16),
                "seed {seed}: a place for each result"
            );
        }
    }
}

#[test]
fn checkpoints_by_hand() {
    let batch = batch(&[1024], &[1024]);
    let block = Block::whole(&window(1024, 1024, (1024, 1024)));
    let checkpoints = Checkpoints::new(&block, &Edges::default(), 512, &Scoring::dna(1, 4, 6, 1));
    let sweep = checkpoint::alone(&checkpoints, 0..2, &limits(false));
    // The last of four parts is not swept, because no part needs its edges.
    let job = checkpoint::waves(&batch, std::slice::from_ref(&sweep), Scores::Packed.into(), &limits(false));
    assert_eq!((job.cells, job.output), (512 * 1024 + 512 * 512, 2 * 16));
    let [below, right] = sweep.left();
    // The line between the rows of parts, and the values below the last row; the line between the columns, with
    // corners.
    assert_eq!(
        below.iter().map(|(first, values)| (*first, values.end - values.start)).collect::<Vec<_>>(),
        [(0, 1024), (0, 512)]
    );
    assert_eq!(
        right.iter().map(|(first, values)| (*first, values.end - values.start)).collect::<Vec<_>>(),
        [(0, 2 * 513)]
    );

    let limits = limits(true);
    let variant =
        checkpoint::chained_over(&sweep.grid, &Edges::default(), Scores::Packed.into(), &limits).unwrap();
    assert_eq!((variant.lanes, variant.rows), (32, 4));
    let (sweep, job) = checkpoint::chain(&batch, &sweep, 512, variant, &limits);
    let strips: Vec<LinedTask> = job.dispatches.iter().flat_map(tasks).collect();
    let facts: Vec<_> =
        strips.iter().map(|task| (task.span.query, task.span.cols, task.entering, task.line_col)).collect();
    let above: Vec<_> =
        (0..4).map(|strip| (strip * 128, 1024, if strip > 0 { 1024 } else { 0 }, 511)).collect();
    let under: Vec<_> = (4..8).map(|strip| (strip * 128, 512, 512, 511)).collect();
    assert_eq!(facts, [above, under].concat());
    // The last strip of each row of parts stores the values below it.
    let leaves = |task: &LinedTask| task.below != NOWHERE;
    assert_eq!(
        strips.iter().map(leaves).collect::<Vec<_>>(),
        [false, false, false, true, false, false, false, true]
    );
    assert!(!checkpoint::has_given_up(&sweep, &[0; 32]));
}

#[test]
fn random_sweeps_keep_to_their_edges() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let count = 1 + random.number(3) as usize;
        let sides: Vec<(u32, u32)> =
            (0..count).map(|_| (1 + random.number(3000), 1 + random.number(3000))).collect();
        let lengths =
            |side: fn(&(u32, u32)) -> u32| sides.iter().map(|it| side(it) as usize).collect::<Vec<_>>();
        let batch = batch(&lengths(|it| it.0), &lengths(|it| it.1));
        let checkpoints = |(place, &(rows, cols)): (u32, &(u32, u32))| {
            let wide = 1 + random.number(4000);
            let window = Window { query: place, target: place, ..window(rows, cols, (wide, wide)) };
            Checkpoints::new(&Block::whole(&window), &Edges::default(), 512, &Scoring::dna(1, 4, 6, 1))
        };
        let all: Vec<Checkpoints> = (0..).zip(&sides).map(checkpoints).collect();
        let limits = limits(false);
        let sweeps = checkpoint::side_by_side(&all, &limits);
        assert_eq!(sweeps.len(), count, "seed {seed}");
        let job = checkpoint::waves(&batch, &sweeps, Scores::Packed.into(), &limits);
        assert!(
            job.leaving.iter().all(|values| values.start <= values.end && values.end <= job.edges),
            "seed {seed}"
        );
        for task in job.dispatches.iter().flat_map(tasks::<JoinedTask>) {
            let (above, below) = (u64::from(task.above), u64::from(task.below));
            assert!(above.max(below) + u64::from(task.span.cols) <= job.edges, "seed {seed}");
            assert!(u64::from(task.left.max(task.right)) + 513 <= job.edges, "seed {seed}");
            assert!(u64::from(task.result) < job.output / 16, "seed {seed}");
        }
    }
}

#[test]
fn a_filled_window_by_hand() {
    let batch = batch(&[100], &[120]);
    let plan = WindowPlan::new(&batch, &window(100, 120, (5, 3)), Scores::Packed, Some(32));
    let (job, tiles) = kept_job(&batch.scoring, std::slice::from_ref(&plan), 0, Some(32));
    let [dispatch] = &job.dispatches[..] else { panic!("one tile") };
    assert_eq!(tile_of(dispatch), (8, 16, Exchange::Subgroup));
    // 28 rows above the query. A lane keeps its 16 rows and as many steps as the band is wide, two words each.
    let span = Span { query: 0, rows: 100, pad: 28, target_: 0, cols: 120 };
    let stored = 16 + 5 + 3;
    let expected = FillTask { span, band_first: -28 + (120 - 100) - 5, stored, ..FillTask::default() };
    assert_eq!(tasks::<FillTask>(dispatch), [expected]);
    assert_eq!((tiles[0].words(), job.scratch), (8 * u64::from(stored) * 2, tiles[0].words()));
}

#[test]
fn directions_of_random_windows_do_not_overlap() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let batch = batch(&[2000], &[2000]);
        let plan = |_| {
            let (rows, cols) = (1 + random.number(2000), 1 + random.number(2000));
            let window = window(rows, cols, (random.number(300), random.number(300)));
            WindowPlan::new(&batch, &window, Scores::Packed, Some(32))
        };
        let plans: Vec<WindowPlan> = (0..5).map(plan).collect();
        let (mut rest, mut seen) = (plans.as_slice(), 0);
        while let Some(next) = next_plans(&mut rest, TRACEBACK_WORDS).filter(|next| !next.is_empty()) {
            seen += next.len();
            let (job, tiles) = kept_job(&batch.scoring, next, 0, Some(32));
            let mut places: Vec<Range<u64>> =
                tiles.iter().map(|tile| tile.offset..tile.offset + tile.words()).collect();
            places.sort_by_key(|place| place.start);
            assert!(places.windows(2).all(|two| two[0].end <= two[1].start), "seed {seed}");
            assert!(places.iter().all(|place| place.end <= job.scratch), "seed {seed}");
            let filled: Vec<FillTask> = job.dispatches.iter().flat_map(tasks).collect();
            let mut firsts: Vec<u32> = filled.iter().map(|task| task.directions).collect();
            firsts.sort_unstable();
            let kept: Vec<u32> = places.iter().map(|place| place.start as u32).collect();
            assert_eq!(firsts, kept, "seed {seed}: a task for each tile");
            // Tiles without neighbors have no edge values.
            let meets =
                |dispatch: &&Dispatch| matches!(dispatch.variant, Variant::Tile(tile) if tile.has_edges());
            for task in job.dispatches.iter().filter(meets).flat_map(tasks::<FillTask>) {
                assert!(u64::from(task.above) + u64::from(task.span.cols) <= job.edges, "seed {seed}");
                assert!(u64::from(task.left) + u64::from(STRIP_ROWS) < job.edges, "seed {seed}");
            }
        }
        assert_eq!(seen, plans.len(), "seed {seed}");
    }
}

#[test]
fn paths_of_windows_by_hand() {
    let batch = batch(&[100], &[120]);
    let long = window(100, 120, (5, 3));
    let suits = |window: &Window| suits(window, &batch.scoring);
    assert!(suits(&long) && !suits(&window(0, 120, (5, 3))) && !suits(&window(20_000, 20_000, (5, 3))));
    // A gap costs at least 7, and six deleted residues would cost 17: at most two gaps, between three runs.
    let most = long.band.most_gaps(&batch.scoring);
    assert_eq!((most, path_words(&long, &batch.scoring)), (2, 5));
    assert_eq!(path_words(&window(2, 3, (5, 3)), &batch.scoring), 5, "not more than there are steps");
    let plan = |window: &Window| WindowPlan::new(&batch, window, Scores::Packed, Some(32));
    let plans = [plan(&long), plan(&window(600, 700, (9, 9)))];
    let (job, places) = windows_job(&batch.scoring, &plans, &[5, 7], &limits(false));
    assert_eq!((places, job.output), (vec![0..5, 5..12], 12 * 4));
    let last = job.dispatches.last().unwrap();
    assert_eq!(
        (last.variant, last.groups),
        (Variant::Traceback { mode: AlignmentMode::Local, pieces: 1 }, 2)
    );
    let paths: &[TracebackTask] = bytemuck::cast_slice(&last.tasks);
    let tiles: u32 = plans.iter().map(|plan| plan.tiles.len() as u32).sum();
    let facts = |task: &TracebackTask| {
        (task.rows, task.cols, task.first_tile, task.tiles, task.path, task.path_words)
    };
    assert_eq!(facts(&paths[0]), (100, 120, 0, 1, 0, 5));
    assert_eq!(facts(&paths[1]), (600, 700, 1, tiles - 1, 5, 7));
    assert!(paths[..2].iter().all(|task| task.stand == NOWHERE));
}

#[test]
fn bands_by_hand() {
    let batch = batch(&[200], &[200]);
    // Widths 16, 17, 33, 129: the last is wider than all lanes together.
    let windows = [(7, 8), (8, 8), (16, 16), (64, 64)].map(|band| window(100, 110, band));
    let plan = BandPlan::new(&batch, &windows);
    let (job, places) = plan.job(0..4);
    let [dispatch] = &job.dispatches[..] else { panic!("one kernel") };
    let groups: &[BandGroups] = bytemuck::cast_slice(&dispatch.table);
    assert_eq!(groups[..TRACES.len()].iter().map(|kind| kind.groups).collect::<Vec<_>>(), [1, 1, 1, 0]);
    // The widest bands come first.
    let facts: Vec<_> = tasks::<BandTask>(dispatch).iter().map(|task| (task.first_col, task.last)).collect();
    assert_eq!(facts, [(10 - 16, 16), (10 - 8, 8), (10 - 7, 7)]);
    assert_eq!(job.scratch, 100 * 32 * (1 + 4 + 2));
    assert!(places[3].is_empty() && places[..3].iter().all(|place| !place.is_empty()));
}

#[test]
fn bands_reach_the_borders_that_kernels_know() {
    let traced = |mode: AlignmentMode, window: Window| {
        let mut batch = batch(&[200], &[200]);
        batch.scoring = Arc::new(Scoring::dna(2, 3, 5, 2).in_mode(mode));
        !BandPlan::new(&batch, &[window]).is_empty()
    };
    use AlignmentMode::{Global, Glocal, Overlap};
    let near = window(100, 95, (10, 10));
    assert!([Glocal, Global, Overlap].map(|mode| traced(mode, near)) == [true; 3]);
    // The band does not hold the corner of the matrix.
    let far = window(100, 120, (10, 10));
    assert_eq!([Glocal, Global, Overlap].map(|mode| traced(mode, far)), [true, false, true]);
    // It reaches columns before a window that begins inside its target.
    let inside = Window { start: 5, target_end: 100, ..near };
    assert_eq!([Glocal, Overlap].map(|mode| traced(mode, inside)), [true, false]);
    let whole = Window { target_end: 115, ..inside };
    assert!(traced(Overlap, whole));
}

#[test]
fn random_bands_have_room_of_their_own() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let batch = batch(&[3000], &[3000]);
        let window = |_| {
            window(1 + random.number(3000), 1 + random.number(3000), (random.number(80), random.number(80)))
        };
        let windows: Vec<Window> = (0..300).map(window).collect();
        let plan = BandPlan::new(&batch, &windows);
        let mut first = 0;
        while let Some(range) = plan.range(first) {
            first = range.end;
            let (job, places) = plan.job(range.clone());
            assert!(places.windows(2).all(|two| two[0].end == two[1].start), "seed {seed}");
            assert_eq!(places.last().map_or(0, |place| u64::from(place.end) * 4), job.output, "seed {seed}");
            for dispatch in &job.dispatches {
                let tasks = tasks::<BandTask>(dispatch);
                let groups: u32 = bytemuck::cast_slice::<u32, BandGroups>(&dispatch.table)
                    .iter()
                    .map(|kind| kind.groups)
                    .sum();
                assert_eq!(groups, dispatch.groups, "seed {seed}");
                // Windows of a workgroup share the room of its first window, which is the longest.
                let rooms: Vec<&[BandTask]> = tasks.chunk_by(|a, b| a.directions == b.directions).collect();
                assert_eq!(rooms.len() as u32, groups, "seed {seed}");
                for (room, next) in rooms
                    .iter()
                    .zip(rooms[1..].iter().map(|room| u64::from(room[0].directions)).chain([job.scratch]))
                {
                    let longest = u64::from(room[0].span.rows);
                    assert!(room.iter().all(|task| u64::from(task.span.rows) <= longest), "seed {seed}");
                    assert!(u64::from(room[0].directions) + longest * 32 <= next, "seed {seed}");
                }
            }
        }
        assert_eq!(first, windows.len(), "seed {seed}");
    }
}
