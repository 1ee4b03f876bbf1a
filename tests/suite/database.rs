//! Queries against many short targets: the scores that count, at the seams of tiles, strips and workgroups.

use super::agreement::specified;
use super::inputs::{letters, scorings};
use crate::common::{batches, random::Random};
use swalign::engine::plain::Plain;
use swalign::engine::{DatabaseQuery, Engine, Primitives, TargetScore};
use swalign::terms::batch::{Batch, Sequences};
use swalign::terms::scoring::Scoring;

/// Query lengths at the seams of the tiles that do a query alone.
pub const ROWS: [usize; 24] = [
    1, 63, 64, 65, 96, 97, 128, 129, 152, 153, 160, 192, 200, 224, 256, 257, 288, 320, 352, 384, 400, 448,
    480, 512,
];
/// The same of those that do it in strips: two of each height, and more.
pub const STRIP_ROWS: [usize; 11] = [513, 576, 577, 640, 704, 768, 832, 896, 960, 1024, 1600];

/// Scorings by every way in which kernels find scores, with thresholds that all, some and none reach.
pub fn databases_agree(engine: &mut dyn Primitives) {
    some_databases_agree(engine, 1);
}

/// The same for one in `one_in` of these scorings.
pub fn some_databases_agree(engine: &mut dyn Primitives, one_in: usize) {
    for number in [0, 5, 6, 9].into_iter().step_by(one_in) {
        let rows = [&ROWS[..], &STRIP_ROWS].concat();
        let batch = database(&scorings()[number], 900 + number as u64, &rows, &[]);
        agree(engine, &batch, &format!("database, scoring {number}"));
        let longest = Sequences::default().longest_short();
        let longest = [longest, longest + 1];
        let batch = database(&scorings()[number], 920 + number as u64, &[30, 520], &longest);
        agree(engine, &batch, &format!("database of long targets, scoring {number}"));
    }
}

/// The same for engines that have lanes of 8 and 16 bits: scorings whose values fill them, and don't fit into them.
pub fn databases_agree_in_lanes(engine: &mut dyn Primitives) {
    for number in [0, 3, 4, 5, 6, 8, 9] {
        let batch = database(&scorings()[number], 940 + number as u64, &[1, 2, 17, 150, 600], &[]);
        agree(engine, &batch, &format!("lanes, scoring {number}"));
    }
    let longest = Sequences::default().longest_short();
    let batch = database(&scorings()[6], 948, &[30, 200, 8200], &[300, longest, longest + 1]);
    agree(engine, &batch, "lanes, long ones");
}

/// Several engines at the same time, which share the buffers of the device, with one database after another.
pub fn databases_agree_side_by_side(engines: &mut [Box<dyn Primitives>]) {
    for seed in 0..3 {
        let batch = database(&scorings()[6], 950 + seed, &[40, 300, 700, 1300], &[]);
        std::thread::scope(|scope| {
            for engine in engines.iter_mut() {
                let batch = &batch;
                scope.spawn(move || agree(engine.as_mut(), batch, &format!("side by side, {seed}")));
            }
        });
    }
}

/// Queries of these lengths, and targets that hold parts of them, the `longest` among them.
pub fn database(scoring: &Scoring, seed: u64, rows: &[usize], longest: &[usize]) -> Batch {
    let mut random = Random::new(seed);
    let letters = letters(scoring, &mut random).max(3);
    let queries: Vec<Vec<u8>> = rows.iter().map(|&rows| random.codes(rows, letters)).collect();
    let seams = [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 65];
    let rest = (0..60).map(|k| 1 + k * 37 % 101).collect::<Vec<usize>>();
    let mut targets = Sequences::default();
    for (place, len) in seams.iter().chain(&rest).chain(longest).chain(&seams).copied().enumerate() {
        let query = &queries[place * 7 % queries.len()];
        let part = &query[random.below(query.len())..];
        let mut target = random.mutated_codes(part, letters, 15);
        target.truncate(len);
        let missing = len - target.len();
        let mut all = random.codes(missing, letters);
        all.extend(target);
        targets.push(all);
    }
    batches::of(
        queries.iter().map(Vec::as_slice).chain([&[][..]]).collect::<Sequences>(),
        targets,
        scoring.clone(),
    )
    .with_ends()
}

/// The engine gives what `plain` gives, for all queries at once and for each alone.
pub fn agree(engine: &mut dyn Primitives, batch: &Batch, case: &str) {
    let all = || 0..batch.queries.len() as u32;
    let asked_for = |least: i32| {
        all().map(move |query| DatabaseQuery { query, least, first: 0 }).collect::<Vec<DatabaseQuery>>()
    };
    let plain = |asked_for: &[DatabaseQuery]| {
        specified(batch, asked_for, || Plain::new().score_database(batch, asked_for).unwrap())
    };
    let known = plain(&asked_for(1));
    let scores: Vec<i32> = known.iter().flatten().map(|scored| scored.score).collect();
    let (most, some) = (*scores.iter().max().unwrap(), scores.iter().sum::<i32>() / scores.len() as i32);
    for least in [1, some, most, most + 1] {
        let counting = |known: &Vec<TargetScore>| -> Vec<TargetScore> {
            known.iter().copied().filter(|scored| scored.score >= least).collect()
        };
        let expected: Vec<Vec<TargetScore>> = known.iter().map(counting).collect();
        let scored = engine.score_database(batch, &asked_for(least)).unwrap();
        for (query, (expected, scored)) in expected.iter().zip(&scored).enumerate() {
            let rows = batch.query(query as u32).len();
            assert_eq!(expected, &sorted(scored), "{case}, query {query} of {rows}, least {least}");
        }
    }
    let last = batch.queries.len() as u32 - 2;
    let first = batch.targets.len() as u32 / 3;
    let alone = [DatabaseQuery { query: last, least: some, first }];
    let expected = plain(&alone);
    assert!(expected[0].iter().all(|scored| scored.target >= first), "{case}, alone");
    assert_eq!(expected[0], sorted(&engine.score_database(batch, &alone).unwrap()[0]), "{case}, alone");
    // As all against all: each query is compared with the targets after its own number.
    let behind: Vec<DatabaseQuery> =
        all().map(|query| DatabaseQuery { query, least: some, first: 2 * query }).collect();
    let expected = plain(&behind);
    let scored: Vec<_> =
        engine.score_database(batch, &behind).unwrap().iter().map(|one| sorted(one)).collect();
    assert_eq!(expected, scored, "{case}, behind");
    assert!(engine.score_database(batch, &[]).unwrap().is_empty());
}

fn sorted(scored: &[TargetScore]) -> Vec<TargetScore> {
    let mut sorted = scored.to_vec();
    sorted.sort_unstable();
    sorted
}
