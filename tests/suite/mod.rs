//! One suite for every fast engine: it must answer as `plain` does, cell for cell and path for path.
//!
//! An engine is used again across all cases of a test, since stale state is its likeliest fault. All
//! randomness is seeded; a failure names its case.
#![allow(dead_code)]

pub mod bands;
pub mod crowd;
pub mod lanes;
pub mod stretches;

use crate::common::random::Random;
use std::sync::Arc;
use swalign::alignment::{Alignment, Cigar, Hit, Strand};
use swalign::alphabet::Alphabet;
use swalign::backtrace::{self, Wanted};
use swalign::batch::{Batch, Pair, Sequences};
use swalign::bounds::Band;
use swalign::engine::blockwise::{Cuts, paths_in_blocks};
use swalign::engine::plain::Plain;
use swalign::engine::primitives::{filled_paths, paths_in_groups};
use swalign::engine::{Block, Edges, Engine, Paths, Primitives, Window};
use swalign::error::EngineError;
use swalign::scoring::{MAX_PARAMETER, Matrix, Scoring};

/// The scorings that engines are tested with: both substitutions, affine and linear gaps, a
/// mismatch that costs nothing.
pub fn scorings() -> Vec<Scoring> {
    let blosum =
        |open, extend| Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), open, extend);
    let mut positive = Matrix::named("BLOSUM62").unwrap();
    positive.name = "positive".to_string();
    positive.scores.iter_mut().flatten().for_each(|score| *score += 5);
    vec![
        Scoring::dna(1, 4, 6, 1),
        Scoring::dna(2, 4, 4, 2),
        Scoring::dna(1, 1, 0, 2),
        Scoring::dna(1, 0, 1, 1),
        Scoring::dna(127, 128, 300, 20),
        Scoring::dna(128, 500, 1000, 3),
        blosum(11, 1),
        blosum(0, 8),
        // Nothing scores below 1.
        Scoring::matrix(Alphabet::Protein, positive, 11, 1),
        // Too large for a row to fit below a score.
        blosum(40_000_000, 1),
    ]
}

/// Letters of random sequences: now and then an ambiguous one.
fn letters(scoring: &Scoring, random: &mut Random) -> u8 {
    match (scoring.alphabet, random.below(4)) {
        (Alphabet::Dna, 0) => 2,
        (Alphabet::Dna, 1) => 6,
        (Alphabet::Dna, _) => 4,
        (Alphabet::Protein, 0) => 3,
        (Alphabet::Protein, _) => 24,
    }
}

/// A batch of pairs with these query and target lengths, half of them related.
pub fn batch(scoring: &Scoring, sizes: &[(usize, usize)], seed: u64) -> (Batch, Vec<Pair>) {
    let mut random = Random::new(seed);
    let (mut queries, mut targets, mut pairs) = (Sequences::default(), Sequences::default(), Vec::new());
    for (index, &(rows, cols)) in sizes.iter().enumerate() {
        let letters = letters(scoring, &mut random);
        let target = random.codes(cols, letters);
        let query = match random.below(2) {
            0 => random.codes(rows, letters),
            _ => {
                let start = random.below(cols / 2 + 1);
                let mut query = random.mutated_codes(&target[start..], letters, 12);
                query.truncate(rows);
                let missing = rows - query.len();
                query.extend(random.codes(missing, letters));
                query
            }
        };
        queries.push(query);
        targets.push(target);
        let end = cols as u32;
        let start = if random.below(3) == 0 { random.below(cols) as u32 } else { 0 };
        let own =
            if random.below(3) == 0 { start + random.below((end - start) as usize) as u32 } else { start };
        pairs.push(Pair { query: index as u32, target: index as u32, start, own, end });
    }
    (
        Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::new(scoring.clone()) },
        pairs,
    )
}

/// Query lengths at the seams of lanes, tiles and strips, each with target lengths at the seams of
/// words and of the wavefront.
pub fn seams(limit: usize) -> Vec<(usize, usize)> {
    let rows = [
        1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 103, 104, 105, 127, 128, 129, 151, 152, 153,
        159, 160, 161, 191, 192, 193, 199, 200, 201, 255, 256, 257, 303, 304, 305, 383, 384, 385, 511, 512,
        513, 1023, 1024, 1025, 1540,
    ];
    let cols = [1, 2, 7, 8, 9, 31, 32, 33, 100, 241];
    rows.into_iter()
        .enumerate()
        .flat_map(|(index, rows)| {
            [cols[index % cols.len()], cols[(index + 5) % cols.len()]].map(|cols| (rows, cols))
        })
        .filter(|&(rows, _)| rows <= limit)
        .collect()
}

/// Scores of `engine` and of `plain`, compared.
pub fn scores_agree(engine: &mut dyn Primitives, batch: &Batch, pairs: &[Pair], case: &str) -> Vec<Hit> {
    let expected = Plain::new().score(batch, pairs).unwrap();
    let hits = engine.score(batch, pairs).unwrap();
    assert_eq!(hits.len(), expected.len(), "{case}");
    for ((pair, hit), expected) in pairs.iter().zip(&hits).zip(&expected) {
        let rows = batch.query(pair.query).len();
        assert_eq!(hit, expected, "{case}: {rows} query residues, {pair:?}, {:?}", batch.scoring);
    }
    expected
}

fn wanted(batch: &Batch, pairs: &[Pair], hits: &[Hit]) -> Vec<Wanted> {
    let with_score = pairs.iter().zip(hits).filter(|(_, hit)| hit.score > 0);
    with_score
        .map(|(pair, hit)| Wanted {
            window: backtrace::window_of(batch, pair.query, pair.target, pair.start, hit),
            strand: Strand::Forward,
            score: hit.score,
        })
        .collect()
}

/// The paths of the specification: the whole matrix from the pair's start, without a band.
fn plain_paths(batch: &Batch, pairs: &[Pair], hits: &[Hit]) -> Vec<Alignment> {
    let mut whole = wanted(batch, pairs, hits);
    let starts = pairs.iter().zip(hits).filter(|(_, hit)| hit.score > 0).map(|(pair, _)| pair.start);
    for (wanted, start) in whole.iter_mut().zip(starts) {
        wanted.window.start = start;
    }
    along(batch, &whole, paths_in_groups(&mut Plain::new(), batch, &windows(&whole)))
}

fn windows(wanted: &[Wanted]) -> Vec<Window> {
    wanted.iter().map(|wanted| wanted.window).collect()
}

/// The alignments along `paths`.
fn along(batch: &Batch, wanted: &[Wanted], paths: Result<Paths, EngineError>) -> Vec<Alignment> {
    backtrace::alignments(batch, wanted, &paths.unwrap()).unwrap()
}

/// Paths of `engine` inside the proven band and those of `plain` without one, compared.
pub fn paths_agree(engine: &mut dyn Primitives, batch: &Batch, pairs: &[Pair], hits: &[Hit], case: &str) {
    let expected = plain_paths(batch, pairs, hits);
    let wanted = wanted(batch, pairs, hits);
    for (way, found) in [
        ("as it is best", backtrace::align(engine, batch, &wanted).unwrap()),
        ("filled", along(batch, &wanted, filled_paths(engine, batch, &windows(&wanted)))),
        ("all", along(batch, &wanted, engine.paths(batch, &windows(&wanted)))),
    ] {
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{case}, {way}: {:?}", batch.scoring);
        }
        assert_eq!(found.len(), expected.len(), "{case}");
    }
    // Those without gaps too, which an engine may not be asked for.
    let paths = engine.trace(batch, &windows(&wanted)).unwrap();
    for (index, expected) in expected.iter().enumerate() {
        if let Some(runs) = paths.runs(index) {
            let mut cigar: Cigar = runs.collect();
            cigar.reverse();
            assert_eq!(cigar, expected.cigar, "{case}, traced: {:?}", batch.scoring);
        }
    }
}

/// Scores and paths at every seam, for every scoring.
pub fn seams_agree(engine: &mut dyn Primitives, limit: usize) {
    for (number, scoring) in scorings().iter().enumerate() {
        let (batch, pairs) = batch(scoring, &seams(limit), 7 + number as u64);
        let case = format!("seams, scoring {number}");
        let hits = scores_agree(engine, &batch, &pairs, &case);
        paths_agree(engine, &batch, &pairs, &hits, &case);
    }
}

/// Where every cell's H came from, in whole windows at every seam, for every scoring.
pub fn whole_windows_agree(engine: &mut dyn Primitives, limit: usize) {
    let band = Band { deletions: 1 << 20, insertions: 1 << 20 };
    for (number, scoring) in scorings().iter().enumerate() {
        let (batch, pairs) = batch(scoring, &seams(limit), 70 + number as u64);
        let window = |pair: &Pair| {
            let query_end = batch.query(pair.query).len() as u32;
            let (query, target, target_end) = (pair.query, pair.target, pair.end);
            Window { query, target, start: 0, query_end, target_end, band }
        };
        let windows: Vec<Window> = pairs.iter().map(window).collect();
        let expected = Plain::new().fill(&batch, &windows).unwrap();
        let filled = engine.fill(&batch, &windows).unwrap();
        for (index, window) in windows.iter().enumerate() {
            let (mut expected, mut filled) = (expected.window(index), filled.window(index));
            for (i, j) in (0..window.query_end).flat_map(|i| (0..window.target_end).map(move |j| (i, j))) {
                let (expected, filled) = (expected.get(i, j), filled.get(i, j));
                let sources = (expected.map(|bits| bits & 3), filled.map(|bits| bits & 3));
                assert_eq!(sources.0, sources.1, "cell {i}, {j} of {window:?}, {scoring:?}");
            }
        }
    }
}

/// Lengths of queries that meet many targets, at the seams of the tiles that share a profile.
pub fn shared_lengths() -> Vec<usize> {
    vec![1, 63, 64, 65, 128, 129, 256, 257, 512, 513, 1100]
}

/// Each query against more targets than a workgroup takes, one of them against few.
pub fn shared_queries_agree(engine: &mut dyn Primitives) {
    for (number, scoring) in scorings().iter().enumerate().filter(|(number, _)| number % 3 != 1) {
        let lengths = shared_lengths();
        let sizes: Vec<(usize, usize)> = (0..75).map(|k| (lengths[k % lengths.len()], 20 + k % 23)).collect();
        let (batch, _) = batch(scoring, &sizes, 500 + number as u64);
        let pair = |query: u32, target: u32| Pair {
            query,
            target,
            start: 0,
            own: target % 3,
            end: batch.target(target).len() as u32,
        };
        let met = |query: u32| if query == 3 { 2 } else { 40 + 7 * query };
        let pairs: Vec<Pair> = (0..lengths.len() as u32)
            .flat_map(|query| (0..met(query)).map(move |k| (query, k % 75)))
            .map(|(query, target)| pair(query, target))
            .collect();
        scores_agree(engine, &batch, &pairs, &format!("shared queries, scoring {number}"));
    }
}

/// More small pairs than one dimension of a dispatch has workgroups.
pub fn many_pairs_agree(engine: &mut dyn Primitives) {
    let sizes: Vec<(usize, usize)> = (0..280_000).map(|k| (1 + k % 3, 1 + k % 5)).collect();
    let (batch, pairs) = batch(&Scoring::dna(1, 4, 6, 1), &sizes, 11);
    scores_agree(engine, &batch, &pairs, "many pairs");
}

/// Targets at the seams of the runs of columns of a grid, and queries of one strip and more.
pub fn grids_agree(engine: &mut dyn Primitives) {
    let sizes = grid_sizes();
    for (number, scoring) in scorings().iter().enumerate().step_by(2) {
        let (batch, pairs) = batch(scoring, &sizes, 100 + number as u64);
        let case = format!("grids, scoring {number}");
        let hits = scores_agree(engine, &batch, &pairs, &case);
        paths_agree(engine, &batch, &pairs, &hits, &case);
    }
}

/// Rows and columns of pairs, most of which take several tiles.
pub fn grid_sizes() -> Vec<(usize, usize)> {
    let sizes = |cols: usize| [(150, cols), (513, cols), (1100, cols)];
    [511, 512, 513, 1025, 2049].into_iter().flat_map(sizes).collect()
}

/// Bounds on the strips of a chain by which such pairs reach each height that strips can have.
pub const CHAINED_STRIPS: [usize; 5] = [usize::MAX, 60, 50, 42, 0];

/// Pairs of so many rows that hundreds of strips wait for each other.
pub fn high_pairs_agree(engine: &mut dyn Primitives) {
    for (number, scoring) in scorings().iter().enumerate().step_by(3) {
        let (batch, pairs) = batch(scoring, &[(20_000, 300), (9000, 40), (40_000, 33)], 300 + number as u64);
        scores_agree(engine, &batch, &pairs, &format!("high, scoring {number}"));
    }
}

/// Many random small pairs, so that lanes, workgroups and padding are full of different work.
pub fn random_pairs_agree(engine: &mut dyn Primitives, count: usize, longest: usize) {
    for (number, scoring) in scorings().iter().enumerate() {
        let mut random = Random::new(31 * number as u64);
        let sizes: Vec<(usize, usize)> =
            (0..count).map(|_| (random.below(longest) + 1, random.below(2 * longest) + 1)).collect();
        let (batch, pairs) = batch(scoring, &sizes, 1000 + number as u64);
        let case = format!("random, scoring {number}");
        let hits = scores_agree(engine, &batch, &pairs, &case);
        paths_agree(engine, &batch, &pairs, &hits, &case);
    }
}

/// A long path whose residues would make gaps dearer than any score is high, with mismatches in a stretch where an engine may
/// take it for one with a gap.
pub fn dear_gaps_agree(engine: &mut dyn Primitives) {
    let mut random = Random::new(77);
    let query: Vec<u8> = (0..4000).map(|_| random.below(4) as u8).collect();
    let mut target = query.clone();
    target[38..58].iter_mut().for_each(|code| *code ^= 1);
    let batch = Batch {
        queries: Arc::new([&query[..]].into_iter().collect()),
        targets: Arc::new([&target[..]].into_iter().collect()),
        scoring: Arc::new(Scoring::dna(1, 1, 0, MAX_PARAMETER)),
    };
    let pairs = [Pair { query: 0, target: 0, start: 0, own: 0, end: 4000 }];
    let hits = scores_agree(engine, &batch, &pairs, "dear gaps");
    assert_eq!(hits[0].score, 3960);
    paths_agree(engine, &batch, &pairs, &hits, "dear gaps");
}

/// Small blocks, whose edges and directions take so many bytes at once.
fn cuts(edges: u64, ahead: u64) -> Cuts {
    Cuts { whole: 512, side: 512, largest: 512, beside: 1 << 20, alone: 1 << 20, edges, ahead }
}

/// An alignment walked block by block is the one walked at once, also where blocks are cut in stages.
pub fn blocks_agree(engine: &mut dyn Primitives) {
    for (number, scoring) in scorings().iter().enumerate().step_by(3) {
        let sizes = [(1300, 1700), (512, 513), (1024, 1024), (513, 2600), (40, 700), (700, 40), (2100, 2300)];
        let (batch, pairs) = batch(scoring, &sizes, 500 + number as u64);
        let hits = Plain::new().score(&batch, &pairs).unwrap();
        let expected = plain_paths(&batch, &pairs, &hits);
        let wanted = wanted(&batch, &pairs, &hits);
        // Side by side, all at once and a few at a time; each by itself; in stages.
        let beside = |bytes: u64| Cuts { beside: bytes, ..cuts(1 << 30, 1 << 20) };
        let all = [cuts(1 << 30, 1 << 30), beside(100_000), beside(1), cuts(1 << 30, 1), cuts(1, 1 << 30)];
        for cuts in all {
            let found = along(&batch, &wanted, paths_in_blocks(engine, &batch, &windows(&wanted), cuts));
            assert_eq!(found, expected, "{cuts:?}, scoring {number}");
        }
    }
}

/// A long path that strays in a narrow band, so that most blocks are left out; and one that leaves its diagonal for
/// another one, so that blocks are filled that it misses.
pub fn narrow_blocks_agree(engine: &mut dyn Primitives) {
    let gaps = [(3, 2), (600, 2), (3, 600)];
    let cases = scorings().into_iter().enumerate().step_by(3);
    for ((number, scoring), (missing, more)) in cases.flat_map(|case| gaps.map(|gaps| (case.clone(), gaps))) {
        let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
        let mut random = Random::new(900 + number as u64);
        let target = random.codes(4000, letters);
        let mut query = target[100..3900].to_vec();
        query.drain(700..700 + missing);
        query.splice(2500..2500, random.codes(more, letters));
        let batch = Batch {
            queries: Arc::new([query.as_slice()].into_iter().collect()),
            targets: Arc::new([target.as_slice()].into_iter().collect()),
            scoring: Arc::new(scoring),
        };
        let pairs = [Pair { query: 0, target: 0, start: 0, own: 0, end: 4000 }];
        let hits = Plain::new().score(&batch, &pairs).unwrap();
        let expected = plain_paths(&batch, &pairs, &hits);
        let wanted = wanted(&batch, &pairs, &hits);
        let cuts = cuts(1 << 30, 1 << 20);
        let found = along(&batch, &wanted, paths_in_blocks(engine, &batch, &windows(&wanted), cuts));
        assert_eq!(found, expected, "scoring {number}, {missing} missing, {more} more");
    }
}

/// A gap that goes on across the border of two blocks, where H of its cell at the border came along a diagonal: who forgot
/// the gap there would go that way. What is left out of the one sequence ends, up to the border, as what stands before it.
pub fn gaps_across_borders_agree(engine: &mut dyn Primitives) {
    let mut random = Random::new(31);
    let (before, same, between) = (random.codes(432, 4), random.codes(30, 4), random.codes(20, 4));
    let (more, behind) = (random.codes(25, 4), random.codes(700, 4));
    let short = [&before[..], &same, &behind].concat();
    let long = [&before[..], &same, &between, &same, &more, &behind].concat();
    for (query, target) in [(&short, &long), (&long, &short)] {
        let batch = Batch {
            queries: Arc::new([&query[..]].into_iter().collect()),
            targets: Arc::new([&target[..]].into_iter().collect()),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let pairs = [Pair { query: 0, target: 0, start: 0, own: 0, end: target.len() as u32 }];
        let hits = Plain::new().score(&batch, &pairs).unwrap();
        let expected = plain_paths(&batch, &pairs, &hits);
        assert_eq!(expected[0].cigar.len(), 3, "one gap");
        let wanted = wanted(&batch, &pairs, &hits);
        assert_eq!(wanted[0].window.start, 0, "the border is where the gap is");
        for ahead in [1, 1 << 20] {
            let found = paths_in_blocks(engine, &batch, &windows(&wanted), cuts(1 << 30, ahead));
            let found = along(&batch, &wanted, found);
            assert_eq!(found, expected, "{} rows, {ahead} bytes", query.len());
        }
    }
}

/// Targets that go to the device in several pieces, by who needs them: ends and beginnings of them, in calls from
/// behind, and of engines side by side that have to wait for each other.
pub fn pieces_agree(engines: [&mut dyn Primitives; 2]) {
    /// Residues of a piece, four bits each.
    const PIECE: usize = 8 << 20;
    let mut random = Random::new(77);
    let target = random.codes(2 * PIECE + 5000, 4);
    let ends = [2 * PIECE + 5000, 2 * PIECE + 60, 2 * PIECE, PIECE + 1, PIECE, PIECE - 7, 100];
    let batch = || Batch {
        queries: Arc::new(ends.iter().map(|&end| &target[end - 100..end]).collect()),
        targets: Arc::new([target.as_slice()].into_iter().collect()),
        scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
    };
    let pair = |(query, &end): (u32, &usize)| {
        let (start, end) = (end.saturating_sub(300) as u32, (end + 50).min(target.len()) as u32);
        Pair { query, target: 0, start, own: start, end }
    };
    let pairs: Vec<Pair> = (0..).zip(&ends).map(pair).collect();
    let expected = Plain::new().score(&batch(), &pairs).unwrap();
    assert!(expected.iter().zip(&ends).all(|(hit, &end)| (hit.score, hit.target_end) == (100, end as u32)));
    // Each call for itself has to send what it needs.
    let [one, other] = engines;
    for (pair, expected) in pairs.iter().zip(&expected) {
        assert_eq!(&one.score(&batch(), &[*pair]).unwrap()[0], expected, "{pair:?} alone");
    }
    let shared = batch();
    std::thread::scope(|scope| {
        for engine in [one, other] {
            let (batch, pairs, expected) = (&shared, &pairs, &expected);
            scope.spawn(move || {
                for (pair, expected) in pairs.iter().zip(expected) {
                    assert_eq!(&engine.score(batch, &[*pair]).unwrap()[0], expected, "{pair:?}");
                }
                assert_eq!(&engine.score(batch, pairs).unwrap(), expected);
            });
        }
    });
}

/// H and E or F along lines.
type Lines = Vec<Vec<[i32; 2]>>;

/// H as it is, and of gaps those that a path can come through.
fn comparable(lines: &[Vec<[i32; 2]>]) -> Lines {
    lines.iter().map(|line| line.iter().map(|&[h, gap]| [h, gap.max(0)]).collect()).collect()
}

/// What the specification has at the multiples of 512 in a window: below rows, right of columns.
fn lines_of(batch: &Batch, whole: &Block) -> (Lines, Lines) {
    let edges = |block: Block| Plain::new().sweep(batch, &block, &Edges::default()).unwrap();
    let below = |row: u32| edges(Block { rows: 0..row, ..whole.clone() }).horizontal;
    let right = |col: u32| edges(Block { cols: 0..col, ..whole.clone() }).vertical;
    let multiples = |len: u32| (1..len.div_ceil(512)).map(|line| line * 512);
    (multiples(whole.rows.end).map(below).collect(), multiples(whole.cols.end).map(right).collect())
}

/// The edges between blocks are those of the specification: of windows of one block, one row, one column
/// and many, and of the part behind row and column 512 from what enters it; for one scoring in `every`.
pub fn checkpoints_agree(engine: &mut dyn Primitives, every: usize) {
    let band = Band { deletions: 1 << 20, insertions: 1 << 20 };
    let sizes = [(512, 512), (300, 1700), (1700, 300), (513, 513), (1024, 1536), (1300, 2100), (2100, 1025)];
    for (number, scoring) in scorings().iter().enumerate().step_by(every) {
        let (batch, pairs) = batch(scoring, &sizes, 800 + number as u64);
        let window = |(pair, (rows, cols)): (&Pair, (usize, usize))| {
            let (query_end, target_end) = (rows as u32, cols as u32);
            let (query, target) = (pair.query, pair.target);
            Window { query, target, start: 0, query_end, target_end, band }
        };
        let windows: Vec<Window> = pairs.iter().zip(sizes).map(window).collect();
        for (window, found) in windows.iter().zip(engine.checkpoints(&batch, &windows, 512).unwrap()) {
            let (whole, case) = (Block::whole(window), format!("{window:?} beside others, scoring {number}"));
            let (below, right) = lines_of(&batch, &whole);
            assert!(comparable(&found.horizontal)[1..] == comparable(&below), "{case}: rows");
            assert!(comparable(&found.vertical)[1..] == comparable(&right), "{case}: columns");
        }
        for window in &windows {
            let (whole, query_end, target_end) = (Block::whole(window), window.query_end, window.target_end);
            let (below, right) = lines_of(&batch, &whole);
            let whole_edges = Edges::default();
            let from_512 = |line: Option<&Vec<[i32; 2]>>| {
                line.filter(|line| line.len() > 512).map(|line| line[512..].to_vec())
            };
            let rest = from_512(below.first()).zip(from_512(right.first())).map(|(horizontal, vertical)| {
                let corner = below[0][511][0];
                let part = Block { rows: 512..query_end, cols: 512..target_end, ..whole.clone() };
                (part, Edges { corner, horizontal, vertical })
            });
            for (block, edges) in std::iter::once((whole, whole_edges)).chain(rest) {
                let first = block.rows.start as usize;
                for side in [512, 1024] {
                    let found = engine.block_checkpoints(&batch, &block, &edges, side).unwrap();
                    let lines = |all: &Lines| -> Lines {
                        let (skipped, step) = ((first + side as usize) / 512 - 1, side as usize / 512);
                        all.iter().skip(skipped).step_by(step).map(|line| line[first..].to_vec()).collect()
                    };
                    let case = format!("{block:?} by {side}, scoring {number}");
                    let (rows, cols) = (comparable(&found.horizontal), comparable(&found.vertical));
                    assert_eq!(found.horizontal[0], edges.horizontal, "{case}: what enters");
                    assert_eq!(found.vertical[0], edges.vertical, "{case}: what enters");
                    assert!(rows[1..] == comparable(&lines(&below)), "{case}: rows");
                    assert!(cols[1..] == comparable(&lines(&right)), "{case}: columns");
                }
            }
        }
    }
}

/// Pairs without residues score nothing and harm no neighbour.
pub fn empty_pairs_agree(engine: &mut dyn Primitives) {
    let scoring = Scoring::dna(1, 4, 6, 1);
    let batch = Batch {
        queries: Arc::new([&[][..], &[0, 1, 2], &[3]].into_iter().collect()),
        targets: Arc::new([&[][..], &[0, 1, 2], &[2]].into_iter().collect()),
        scoring: Arc::new(scoring),
    };
    let pairs: Vec<Pair> = (0..3)
        .flat_map(|query| (0..3).map(move |target| (query, target)))
        .map(|(query, target)| Pair {
            query,
            target,
            start: 0,
            own: 0,
            end: batch.target(target).len() as u32,
        })
        .collect();
    scores_agree(engine, &batch, &pairs, "empty");
    // One that owns nothing, beside one that goes on from it.
    let none = Pair { query: 1, target: 1, start: 0, own: 0, end: 0 };
    scores_agree(engine, &batch, &[none, Pair { end: 3, ..none }, none], "nothing is owned");
    assert!(engine.score(&batch, &[]).unwrap().is_empty());
}
