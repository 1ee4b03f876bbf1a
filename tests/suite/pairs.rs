//! Pairs of all sizes: at the seams of lanes, tiles and strips, many and few, empty ones, and targets in pieces.

use super::agreement::{paths_agree, scores_agree};
use super::inputs::{batch, one_pair, scorings, seams};
use crate::common::{batches, random::Random};
use swalign::engine::plain::Plain;
use swalign::engine::{CellBits, CellSource, Engine, Layer, Primitives, Window};
use swalign::terms::batch::{Batch, Pair, Sequences};
use swalign::terms::bounds::Band;
use swalign::terms::scoring::{MAX_PARAMETER, Scoring};

/// Scores and paths at every seam, for every scoring.
pub fn seams_agree(engine: &mut dyn Primitives, limit: usize) {
    seams_agree_under(engine, limit, &scorings());
}

/// Scores and paths at every seam, for one in `one_in` scorings, from scoring `first` on.
pub fn some_seams_agree(engine: &mut dyn Primitives, (first, one_in): (usize, usize)) {
    let some: Vec<Scoring> = scorings().into_iter().skip(first % one_in).step_by(one_in).collect();
    seams_agree_under(engine, usize::MAX, &some);
}

/// The same under these scorings.
pub fn seams_agree_under(engine: &mut dyn Primitives, limit: usize, scorings: &[Scoring]) {
    for (number, scoring) in scorings.iter().enumerate() {
        let (batch, pairs) = batch(scoring, &seams(limit), 7 + number as u64);
        let case = format!("seams, scoring {number}");
        let hits = scores_agree(engine, &batch, &pairs, &case);
        paths_agree(engine, &batch, &pairs, &hits, &case);
    }
}

/// Where every cell's H came from, in whole windows at every seam, for every scoring.
pub fn whole_windows_agree(engine: &mut dyn Primitives, limit: usize) {
    whole_windows_agree_under(engine, limit, &scorings());
}

/// The same under these scorings.
pub fn whole_windows_agree_under(engine: &mut dyn Primitives, limit: usize, scorings: &[Scoring]) {
    let band = Band { deletions: 1 << 20, insertions: 1 << 20 };
    for (number, scoring) in scorings.iter().enumerate() {
        let (batch, pairs) = batch(scoring, &seams(limit), 70 + number as u64);
        let window = |pair: &Pair| {
            let query_end = batch.query(pair.query).len() as u32;
            let (query, target, target_end) = (pair.query, pair.target, pair.end);
            Window { query, target, start: 0, query_end, target_end, band, score: 0 }
        };
        let windows: Vec<Window> = pairs.iter().map(window).collect();
        let expected = Plain::new().fill(&batch, &windows).unwrap();
        let filled = engine.fill(&batch, &windows).unwrap();
        for (index, window) in windows.iter().enumerate() {
            let (mut expected, mut filled) = (expected.window(index), filled.window(index));
            for (i, j) in (0..window.query_end).flat_map(|i| (0..window.target_end).map(move |j| (i, j))) {
                let (expected, filled) = (expected.get(i, j), filled.get(i, j));
                let source =
                    |bits: Option<CellBits>| bits.map(|bits| Layer::from(CellSource::Stop).next(bits));
                assert_eq!(source(expected), source(filled), "cell {i}, {j} of {window:?}, {scoring:?}");
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
    shared_queries_agree_under(engine, &scorings());
}

/// The same under two in three of these scorings.
pub fn shared_queries_agree_under(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    for (number, scoring) in scorings.iter().enumerate().filter(|(number, _)| number % 3 != 1) {
        let (batch, pairs) = shared_case(scoring, number as u64);
        scores_agree(engine, &batch, &pairs, &format!("shared queries, scoring {number}"));
    }
}

/// Queries and the many targets of each.
pub fn shared_case(scoring: &Scoring, seed: u64) -> (Batch, Vec<Pair>) {
    let lengths = shared_lengths();
    let sizes: Vec<(usize, usize)> = (0..75).map(|k| (lengths[k % lengths.len()], 20 + k % 23)).collect();
    let (batch, _) = batch(scoring, &sizes, 500 + seed);
    let pair = |query: u32, target: u32| Pair { own: target % 3, ..batches::whole(&batch, query, target) };
    let met = |query: u32| if query == 3 { 2 } else { 40 + 7 * query };
    let pairs: Vec<Pair> = (0..lengths.len() as u32)
        .flat_map(|query| (0..met(query)).map(move |k| (query, k % 75)))
        .map(|(query, target)| pair(query, target))
        .collect();
    (batch, pairs)
}

/// More small pairs than one dimension of a dispatch has workgroups.
pub fn many_pairs_agree(engine: &mut dyn Primitives) {
    let sizes: Vec<(usize, usize)> = (0..280_000).map(|k| (1 + k % 3, 1 + k % 5)).collect();
    let (batch, pairs) = batch(&Scoring::dna(1, 4, 6, 1), &sizes, 11);
    scores_agree(engine, &batch, &pairs, "many pairs");
}

/// Targets at the seams of the runs of columns of a grid, and queries of one strip and more.
pub fn grids_agree(engine: &mut dyn Primitives) {
    some_grids_agree(engine, (0, 1));
}

/// The same for one in `one_in` of these scorings, from number `first` on.
pub fn some_grids_agree(engine: &mut dyn Primitives, (first, one_in): (usize, usize)) {
    let some = scorings();
    let some = some.iter().enumerate().step_by(2).skip(first % one_in).step_by(one_in);
    grids_agree_under(engine, some);
}

/// [`grids_agree`] under some of a list of scorings.
pub fn grids_agree_under<'a>(
    engine: &mut dyn Primitives,
    scorings: impl Iterator<Item = (usize, &'a Scoring)>,
) {
    let sizes = grid_sizes();
    for (number, scoring) in scorings {
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

/// Pairs with enough rows that hundreds of strips wait for each other.
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

/// A long path under gap costs above any score. Its mismatches are close together, so that an engine could mistake them
/// for a gap.
pub fn dear_gaps_agree(engine: &mut dyn Primitives) {
    let mut random = Random::new(77);
    let query: Vec<u8> = (0..4000).map(|_| random.below(4) as u8).collect();
    let mut target = query.clone();
    target[38..58].iter_mut().for_each(|code| *code ^= 1);
    let (batch, pair) = one_pair(&query, &target, &Scoring::dna(1, 1, 0, MAX_PARAMETER));
    let pairs = [pair];
    let hits = scores_agree(engine, &batch, &pairs, "dear gaps");
    assert_eq!(hits[0].score, 3960);
    paths_agree(engine, &batch, &pairs, &hits, "dear gaps");
}

/// Targets that are uploaded to the device in several pieces: pairs at the ends and starts of pieces, in calls from the
/// last piece to the first, and from two engines at the same time that wait for each other's pieces.
pub fn pieces_agree(engines: [&mut dyn Primitives; 2]) {
    /// Residues of a piece, four bits each.
    const PIECE: usize = 8 << 20;
    let mut random = Random::new(77);
    let target = random.codes(2 * PIECE + 5000, 4);
    let ends = [2 * PIECE + 5000, 2 * PIECE + 60, 2 * PIECE, PIECE + 1, PIECE, PIECE - 7, 100];
    let queries = ends.map(|end| &target[end - 100..end]);
    let batch = || batches::of(queries, [&target[..]], Scoring::dna(1, 4, 6, 1));
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

/// Pairs without residues score nothing and harm no neighbour.
pub fn empty_pairs_agree(engine: &mut dyn Primitives) {
    let scoring = Scoring::dna(1, 4, 6, 1);
    let batch = batches::of([&[][..], &[0, 1, 2], &[3]], [&[][..], &[0, 1, 2], &[2]], scoring);
    let numbers = (0..3).flat_map(|query| (0..3).map(move |target| (query, target)));
    let pairs: Vec<Pair> = numbers.map(|(query, target)| batches::whole(&batch, query, target)).collect();
    scores_agree(engine, &batch, &pairs, "empty");
    // A pair that owns no columns, next to a pair that begins in the same column.
    let none = Pair { query: 1, target: 1, start: 0, own: 0, end: 0 };
    scores_agree(engine, &batch, &[none, Pair { end: 3, ..none }, none], "nothing is owned");
    assert!(engine.score(&batch, &[]).unwrap().is_empty());
}

/// Long pairs, of which every other one is alike.
pub fn alike_and_other_pairs_agree(engine: &mut dyn Primitives) {
    let mut random = Random::new(77);
    let mut codes = |len: usize| (0..len).map(|_| random.below(4) as u8).collect::<Vec<u8>>();
    let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
    for number in 0..6 {
        let target = codes(2100 + 10 * number);
        let mut query = if number % 2 == 0 { target.clone() } else { codes(2090) };
        (0..query.len()).step_by(97).for_each(|place| query[place] ^= 1);
        query.drain(500..500 + number);
        queries.push(query);
        targets.push(target);
    }
    let batch = batches::of(queries, targets, Scoring::dna(2, 4, 4, 2));
    let pairs = batches::whole_pairs(&batch);
    let hits = scores_agree(engine, &batch, &pairs, "alike and others");
    paths_agree(engine, &batch, &pairs, &hits, "alike and others");
}
