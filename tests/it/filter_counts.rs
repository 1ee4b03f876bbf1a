//! Counting seeds on diagonals is lossless: the theorem holds for alignments constructed to violate it, and long
//! queries have the same hits with and without the filter.

use crate::common::batches::{best, reversed};
use crate::common::random::Random;
use std::sync::Arc;
use swalign::align::candidates::filter::Filter;
use swalign::align::candidates::levels::{LevelGuarantee, SeedKind};
use swalign::align::candidates::seed_counts::SeedCounts;
use swalign::align::candidates::{Meets, PairLayout};
use swalign::align::hits::{self, Effort, Rules, SearchInput};
use swalign::engine::cpu::Cpu;
use swalign::terms::alignment::{Alignment, PathOp, QueryResult, Strands};
use swalign::terms::batch::{Batch, Sequences};
use swalign::terms::scoring::Scoring;

/// Match, mismatch, gap open, gap extend.
const SCHEMES: [(i32, i32, i32, i32); 6] =
    [(1, 4, 6, 1), (2, 4, 4, 2), (2, 3, 5, 2), (1, 1, 0, 2), (5, 4, 9, 1), (1, 0, 1, 1)];

/// The kind of edits in an alignment.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A substitution, a deletion, an insertion, or one of these at random, in the middle of each of the first seeds.
    Replaced,
    Deletion,
    Insertion,
    Mixed,
    /// The same as `Mixed`, but in the second half only.
    InOneHalf,
    /// One long deletion or insertion.
    LongDeletion,
    LongInsertion,
    /// Random bases replace the start or the end.
    Chimera,
    /// Deletes the last base of every second seed and the first base of the next seed.
    Across,
    /// Deletions, or insertions, of two bases or more in the middle of seeds.
    Deletions,
    Insertions,
}

const FAULTS: [Fault; 11] = [
    Fault::Replaced,
    Fault::Deletion,
    Fault::Insertion,
    Fault::Mixed,
    Fault::InOneHalf,
    Fault::LongDeletion,
    Fault::LongInsertion,
    Fault::Chimera,
    Fault::Across,
    Fault::Deletions,
    Fault::Insertions,
];

/// A copy of a query with edits in `faults` of its seeds.
fn spoilt(random: &mut Random, query: &[u8], seed: usize, faults: usize, fault: Fault) -> Vec<u8> {
    let seeds = query.len() / seed;
    let cut = (faults * seed).min(query.len());
    match fault {
        Fault::LongDeletion => {
            let extra = random.codes(cut / 2, 4);
            let at = random.below(query.len());
            return [&query[..at], &extra, &query[at..]].concat();
        }
        Fault::LongInsertion => {
            let at = random.below(query.len() - cut / 2 + 1);
            return [&query[..at], &query[at + cut / 2..]].concat();
        }
        Fault::Chimera if random.below(2) == 0 => return [&random.codes(cut, 4), &query[cut..]].concat(),
        Fault::Chimera => return [&query[..query.len() - cut], &random.codes(cut, 4)].concat(),
        _ => {}
    }
    let first = if let Fault::InOneHalf = fault { seeds / 2 } else { 0 };
    let mut copy = Vec::with_capacity(query.len() + faults);
    for (k, codes) in query.chunks(seed).enumerate() {
        if k < first || k >= first + faults || codes.len() < seed {
            copy.extend(codes);
            continue;
        }
        let middle = seed / 2;
        let other = (codes[middle] + 1 + random.below(3) as u8) % 4;
        let kind = match fault {
            Fault::Mixed | Fault::InOneHalf => {
                random.pick(&[Fault::Replaced, Fault::Deletion, Fault::Insertion])
            }
            fault => fault,
        };
        match kind {
            Fault::Replaced => copy.extend([&codes[..middle], &[other], &codes[middle + 1..]].concat()),
            Fault::Deletion => copy.extend([&codes[..middle], &[other], &codes[middle..]].concat()),
            Fault::Across if k % 2 == 0 => copy.extend(&codes[..seed - 1]),
            Fault::Across => copy.extend(&codes[1..]),
            Fault::Deletions => {
                let len = 2 + random.below(8);
                copy.extend([&codes[..middle], &random.codes(len, 4), &codes[middle..]].concat());
            }
            Fault::Insertions => {
                copy.extend([&codes[..1 + random.below(middle)], &codes[middle + 1..]].concat());
            }
            _ => copy.extend([&codes[..middle], &codes[middle + 1..]].concat()),
        }
    }
    copy
}

/// The seeds that an alignment contains, by number, with their diagonals.
fn held(alignment: &Alignment, query: &[u8], target: &[u8], seed: usize) -> Vec<(usize, i64)> {
    let (mut q, mut t) = (alignment.query_start as usize, alignment.target_start as usize);
    let mut pairs = Vec::new();
    for &(len, op) in &alignment.cigar {
        for _ in 0..len {
            if op == PathOp::Match && query[q] == target[t] {
                pairs.push((q, t as i64 - q as i64));
            }
            q += usize::from(op != PathOp::Deletion);
            t += usize::from(op != PathOp::Insertion);
        }
    }
    let is_held = |k: &usize| {
        let own: Vec<_> = pairs.iter().filter(|(q, _)| q / seed == *k).collect();
        (own.len() == seed && own.iter().all(|(_, diagonal)| *diagonal == own[0].1)).then(|| (*k, own[0].1))
    };
    (0..query.len() / seed).filter_map(|k| is_held(&k)).collect()
}

/// How many seeds more than the theorem demands the best segment contains, or `None` if no segment contains enough.
fn more_than_needed(counts: &SeedCounts, held: &[(usize, i64)], score: i32) -> Option<usize> {
    let more = |seeds: std::ops::Range<usize>| {
        let own: Vec<i64> =
            held.iter().filter(|(k, _)| seeds.contains(k)).map(|&(_, diagonal)| diagonal).collect();
        let spread = own.iter().max()? - own.iter().min()?;
        let (narrow, wide) = counts.bands(seeds.len());
        let bands = [narrow].into_iter().chain(wide).filter(|of| spread <= of.band as i64);
        let more = bands.filter_map(|of| own.len().checked_sub(of.held)).min();
        more.filter(|_| score <= counts.most_score(seeds.len(), own.len()))
    };
    counts.segments().filter_map(more).max()
}

#[test]
fn alignments_that_score_enough_hold_seeds_of_a_segment_on_near_diagonals() {
    let mut random = Random::new(31);
    // Numbers of checked alignments, and of alignments with no more seeds than the theorem demands.
    let (mut seen, mut tight) = ([0; FAULTS.len()], 0);
    let of_two_pieces = |(a, b, [o, p], [e, f]): (i32, i32, [i32; 2], [i32; 2])| {
        Scoring::dna(a, b, o, e).with_gap_piece(p, f).unwrap()
    };
    let two = [(2, 4, [4, 24], [2, 1]), (1, 4, [6, 26], [2, 1]), (1, 9, [0, 7], [4, 1])].map(of_two_pieces);
    for scoring in SCHEMES.map(|(a, b, o, e)| Scoring::dna(a, b, o, e)).into_iter().chain(two) {
        let scoring = Arc::new(scoring);
        for (len, seed) in [(400, 7), (300, 10), (251, 12), (120, 8), (60, 6)] {
            for round in 0..66 {
                let fault = FAULTS[round % FAULTS.len()];
                let query = match round % 4 {
                    3 => random.codes(1 + round % 5, 4).into_iter().cycle().take(len).collect(),
                    _ => random.codes(len, 4),
                };
                let faults = random.below(len / seed + 1);
                let copy = spoilt(&mut random, &query, seed, faults, fault);
                // The target may end before the query.
                let copy = if round % 7 == 6 { &copy[..copy.len() * 3 / 4] } else { &copy[..] };
                let [before, behind] = [(); 2].map(|()| random.pick(&[0, 5, 40]));
                let target = [&random.codes(before, 4), copy, &random.codes(behind, 4)].concat();
                let Some(found) = best(&query, &target, &scoring) else { continue };
                let held = held(&found, &query, &target, seed);
                for (segments, narrowed) in [1, 2, 3, 5, 8]
                    .into_iter()
                    .flat_map(|segments| [0, 1, 2, 3].map(|times| (segments, times)))
                {
                    let counts = SeedCounts::new(len, (seed, segments), found.score, &scoring);
                    let Some(counts) = counts.and_then(|counts| counts.narrowed(narrowed)) else { continue };
                    let more = more_than_needed(&counts, &held, found.score);
                    assert!(
                        more.is_some(),
                        "{scoring}, {fault:?}, {faults} of {len} / {seed}: {counts:?} {found:?}"
                    );
                    seen[round % FAULTS.len()] += 1;
                    tight += usize::from(more == Some(0));
                }
            }
        }
    }
    assert!(seen.iter().all(|&seen| seen > 30) && tight > 30, "{seen:?}, {tight}");
}

/// Targets with near and distant repeats, and long queries from one position, from two positions, or random.
fn case(seed: u64) -> (Batch, PairLayout) {
    let mut random = Random::new(seed);
    let mut targets: Vec<Vec<u8>> = [40_000, 6_000, 1_200, 300].map(|len| random.codes(len, 4)).into();
    for _ in 0..6 {
        let (from, to) = (random.below(2), random.below(3));
        let len = 100 + random.below(900);
        let start = random.below(targets[from].len() - len);
        let copy = random.mutated_codes(&targets[from][start..start + len], 4, 30);
        let copy = if random.below(3) == 0 { copy[..40].repeat(12) } else { copy };
        let copy = if random.below(2) == 0 { reversed(&copy) } else { copy };
        let at = random.below(targets[to].len());
        targets[to].iter_mut().skip(at).zip(copy).for_each(|(old, new)| *old = new);
    }
    targets[0][500] = 14;
    targets[0][9_000..9_040].fill(14);
    (0..12).for_each(|number| targets[0][15_000 + number * 90] = 14);
    let mut queries = Sequences::default();
    for number in 0..7 {
        let len = random.pick(&[380, 600, 1_000, 1_500]);
        let part = |random: &mut Random, len: usize| -> Vec<u8> {
            let target = &targets[random.pick(&[0, 0, 0, 1, 2])];
            let start = random.below(target.len().saturating_sub(len).max(1));
            let drawn = &target[start..(start + len).min(target.len())];
            let every = random.pick(&[300, 90, 60, 45, 30, 12]);
            random.mutated_codes(drawn, 4, every)
        };
        let mut query = match number % 7 {
            5 => [part(&mut random, len / 3), part(&mut random, len * 2 / 3)].concat(),
            6 => random.codes(len, 4),
            _ => part(&mut random, len),
        };
        if number % 5 == 4 {
            query[len / 4] = 14;
        }
        let query = if random.below(2) == 0 { reversed(&query) } else { query };
        queries.push(query.iter().copied());
        queries.push(reversed(&query));
    }
    let (a, b, o, e) = SCHEMES[[1, 0, 1, 2, 4, 3][seed as usize % 6]];
    let targets = Arc::new(targets.iter().map(Vec::as_slice).collect());
    let scoring = Scoring::dna(a, b, o, e).with_ambiguous(if seed.is_multiple_of(2) { b } else { 1 });
    let batch = Batch { queries: Arc::new(queries), targets, scoring: Arc::new(scoring) };
    (batch, PairLayout { strands: Strands::Both, meets: Meets::All })
}

#[test]
fn long_queries_have_the_hits_that_they_have_without_a_filter() {
    let (mut cells, mut fewer, mut hits, mut counted) = (0, 0, 0, 0);
    for seed in 0..8 {
        let (batch, layout) = case(seed);
        let find = |rules: Rules, filter: Option<&Filter>| -> (Vec<QueryResult>, Effort) {
            let scope = SearchInput { filter, ..SearchInput::new(&batch, layout, rules) };
            let mut effort = Effort::default();
            (hits::find(&mut Cpu::new(), &scope, &mut effort).unwrap(), effort)
        };
        let filter = Filter::by_index(&batch.targets, &batch.scoring, 2).unwrap();
        let min_score = 20 * batch.scoring.max_potential();
        for (max_hits, secondary_ppm) in [(1, 800_000), (4, 600_000)] {
            let rules = Rules { min_score, secondary_ppm, max_hits, ..Rules::BEST };
            let (expected, all) = find(rules, None);
            let (found, some) = find(rules, Some(&filter));
            assert_eq!(found, expected, "seed {seed}, {rules:?}, {}", batch.scoring);
            for (hit, query) in found.iter().zip(0..) {
                let score = hit.alignments.first().map_or(0, |hit| rules.threshold(hit.score));
                let level = filter.at_most(SeedKind::Index, batch.query(2 * query).len().into(), score);
                counted +=
                    usize::from(level.is_some_and(|level| matches!(level.known, LevelGuarantee::Counted(_))));
            }
            hits += found.iter().map(|found| found.alignments.len()).sum::<usize>();
            (cells, fewer) = (cells + all.cells, fewer + some.cells);
        }
    }
    assert!(fewer * 5 < cells * 4 && hits > 100, "{fewer} of {cells} cells, {hits} hits");
    assert!(counted > 10, "{counted} levels with counts");
}

/// Long queries with many errors. In some, only one half aligns. Others have a second hit with almost the same score,
/// either in full, or only in the prefix, or only after it.
fn many_errors(seed: u64) -> (Batch, PairLayout) {
    let mut random = Random::new(seed);
    let mut target = random.codes(300_000, 4);
    let mut queries = Sequences::default();
    for number in 0..6 {
        let len = random.pick(&[700, 1_200]);
        let start = random.below(target.len() - len);
        let drawn = target[start..start + len].to_vec();
        let copied = match number {
            1 => 0..len * 3 / 4,
            2 => len / 4..len,
            3 => 0..len,
            _ => 0..0,
        };
        let at = random.below(target.len() - len);
        target[at..at + copied.len()].copy_from_slice(&drawn[copied]);
        let read = random.mutated_codes(&drawn, 4, 13);
        let read = match number {
            4 => [read[..len / 2].to_vec(), random.codes(len / 2, 4)].concat(),
            5 => [random.codes(len / 2, 4), read[..len / 2].to_vec()].concat(),
            _ => read,
        };
        let read = if random.below(2) == 0 { reversed(&read) } else { read };
        queries.push(read.iter().copied());
        queries.push(reversed(&read));
    }
    let scoring = Arc::new(Scoring::dna(2, 4, 4, 2));
    let batch =
        Batch { queries: Arc::new(queries), targets: Arc::new([&*target].into_iter().collect()), scoring };
    (batch, PairLayout { strands: Strands::Both, meets: Meets::All })
}

#[test]
fn queries_of_many_errors_take_fewer_cells_for_the_same_hits() {
    let (mut whole, mut further) = (0, 0);
    for seed in 0..3 {
        let (batch, layout) = many_errors(seed);
        let filter = Filter::by_index(&batch.targets, &batch.scoring, 2).unwrap();
        for secondary_ppm in [800_000, 950_000] {
            let rules = Rules { min_score: 40, secondary_ppm, max_hits: 5, ..Rules::BEST };
            let find = |filter: Option<&Filter>| -> (Vec<QueryResult>, Effort) {
                let scope = SearchInput { filter, ..SearchInput::new(&batch, layout, rules) };
                let mut effort = Effort::default();
                (hits::find(&mut Cpu::new(), &scope, &mut effort).unwrap(), effort)
            };
            let ((expected, all), (found, some)) = (find(None), find(Some(&filter)));
            assert_eq!(found, expected, "seed {seed}, {secondary_ppm}");
            further += found.iter().filter(|found| found.alignments.len() > 1).count();
            whole += some.remarks().whole;
            assert!(some.cells * 10 < all.cells * 9, "{} of {} cells", some.cells, all.cells);
        }
    }
    // The filter narrows down few of these queries. Searching prefixes first reduces the number of cells.
    assert!(whole >= 30 && further >= 5, "{whole} queries in full, {further} with further hits");
}
