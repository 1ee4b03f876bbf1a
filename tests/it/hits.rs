//! The hits of a query compared with their definition, which has no chunks: the best alignment over all targets and
//! strands, then the best alignment whose target interval does not overlap earlier hits on its target and strand, and
//! so on.
//!
//! Many copies of the queries are where chunks meet.

use crate::common::batches::{self, Counting, encoded};
use crate::common::definition::{MOST, first_hits, oracle};
use crate::common::{one_strand, random::Random};
use std::collections::BTreeSet;
use std::sync::Arc;
use swalign::align::candidates::{CHUNK, ChunkLength, Meets, MetTargets, PairLayout};
use swalign::align::hits::{self, Detail, Effort, LeastScores, QueryRemarks, Ranks, Rules, SearchInput};
use swalign::engine::cpu::Cpu;
use swalign::engine::{Capabilities, DatabaseQuery, Engine, Paths, TargetScore, Window};
use swalign::terms::alignment::{Alignment, HitEnd, QueryResult, Strand, Strands};
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use swalign::terms::batch::{Batch, Pair, STRETCH, Sequences};
use swalign::terms::error::EngineError;
use swalign::terms::scoring::Scoring;

/// Queries with many copies in the targets: exact or mutated, on both strands, adjacent, and especially where chunks
/// meet.
struct Case {
    batch: Batch,
    layout: PairLayout,
    min_score: i32,
}

/// An engine with this value of `enough_sweeps`. If it is 1, chunks are as long as possible. Stores the maximum number
/// of pairs in a call.
struct Enough(u64, Cpu, usize);

impl Engine for Enough {
    fn capabilities(&self) -> Capabilities {
        Capabilities { enough_sweeps: self.0, last_sweeps: 4, ..self.1.capabilities() }
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        self.2 = self.2.max(pairs.len());
        self.1.score(batch, pairs)
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        self.1.paths(batch, windows)
    }
}

/// An engine without paths. `database` or more short targets count as a database.
struct WithoutPaths {
    engine: Cpu,
    database: usize,
}

impl Engine for WithoutPaths {
    fn capabilities(&self) -> Capabilities {
        Capabilities { database: self.database, ..self.engine.capabilities() }
    }

    fn score_database(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        self.engine.score_database(batch, asked)
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        self.engine.score(batch, pairs)
    }

    fn paths(&mut self, _: &Batch, _: &[Window]) -> Result<Paths, EngineError> {
        Err(EngineError::Internal("paths are not needed".to_string()))
    }
}

/// An engine to which any short targets are a database. Its scores of them are off by the given number.
struct OfDatabases(Cpu, i32);

impl Engine for OfDatabases {
    fn capabilities(&self) -> Capabilities {
        Capabilities { database: 1, ..self.0.capabilities() }
    }

    fn score_database(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        let mut all = self.0.score_database(batch, asked)?;
        all.iter_mut().flatten().for_each(|scored| scored.score += self.1);
        Ok(all)
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        self.0.score(batch, pairs)
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        self.0.paths(batch, windows)
    }
}

/// Number of queries of a case, and of targets.
const RECORDS: usize = 3;

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let (match_, mismatch, open, extend) = random.pick(&[
            (1, 4, 6, 1),
            (2, 4, 4, 2),
            (1, 1, 0, 2),
            (1, 0, 1, 1),
            (5, 4, 9, 1),
            (2, 3, 5, 2),
        ]);
        let layout = PairLayout {
            strands: random.pick(&[one_strand(seed), Strands::Both, Strands::Both]),
            meets: random.pick(&[Meets::All, Meets::All, Meets::All, Meets::Paired(0), Meets::Behind(0)]),
        };
        let letters = random.pick(&[&b"AC"[..], b"ACG", b"ACGT", b"ACGT", b"ACGTN"]);
        let text = |random: &mut Random, len| -> Vec<u8> { (0..len).map(|_| random.pick(letters)).collect() };
        let queries: Vec<Vec<u8>> = (0..RECORDS)
            .map(|_| {
                let len = 12 + random.below(60);
                text(&mut random, len)
            })
            .collect();
        let mut lengths = [
            2 * CHUNK as usize + random.below(CHUNK as usize),
            CHUNK as usize - 40 + random.below(80),
            1 + random.below(150),
        ];
        lengths.rotate_left(random.below(RECORDS));
        let mut targets: Vec<Vec<u8>> = lengths.iter().map(|&len| text(&mut random, len)).collect();
        let mut case = Case {
            batch: batches::of(
                case_queries(&queries, &layout),
                encoded(&targets),
                Scoring::dna(match_, mismatch, open, extend),
            ),
            layout,
            min_score: match_ * (8 + random.below(8) as i32),
        };
        for (target, letters) in targets.iter_mut().enumerate() {
            let mut borders = case.borders(target as u32);
            borders.extend((0..3).map(|_| random.below(letters.len()) as u32));
            for border in borders {
                let query = match layout.meets {
                    Meets::Paired(first) => &queries[target - first as usize],
                    Meets::All | Meets::Behind(_) => &queries[random.below(RECORDS)],
                };
                let len = query.len();
                let anywhere = random.below(len);
                let before = random.pick(&[0, 1, len / 2, len - 1, len, anywhere]);
                let percent = random.pick(&[0, 0, 5, 15]);
                let copy = random.mutated(Alphabet::Dna, query, percent);
                let copy = if random.below(3) == 0 { reverse_complement(&copy) } else { copy };
                let start = (border as usize).saturating_sub(before);
                let copies = if random.below(2) == 0 { copy.repeat(2) } else { copy };
                letters.iter_mut().skip(start).zip(copies).for_each(|(old, new)| *old = new);
            }
        }
        case.batch.targets = Arc::new(encoded(&targets));
        case
    }

    /// The columns of `target` at which chunks of any query meet.
    fn borders(&self, target: u32) -> Vec<u32> {
        let mut borders: Vec<u32> = (0..RECORDS as u32)
            .flat_map(|record| {
                MetTargets::all(&self.batch).pairs(
                    &self.batch,
                    &self.layout,
                    record,
                    self.min_score,
                    ChunkLength::SHORT,
                )
            })
            .filter(|pair| pair.target == target && pair.own > 0)
            .map(|pair| pair.own)
            .collect();
        borders.sort_unstable();
        borders.dedup();
        borders
    }

    fn find(&self, rules: &Rules) -> Vec<QueryResult> {
        self.find_least(rules, None)
    }

    fn find_least(&self, rules: &Rules, least: Option<&dyn LeastScores>) -> Vec<QueryResult> {
        let find = |engine: &mut dyn Engine, portion: usize| {
            let (batch, layout, rules) = (&self.batch, self.layout, *rules);
            let scope = SearchInput { least, portion, ..SearchInput::new(batch, layout, rules) };
            hits::find(engine, &scope, &mut Effort::default()).unwrap()
        };
        let found = find(&mut Cpu::new(), hits::PORTION);
        let long = find(&mut Enough(1, Cpu::new(), 0), hits::PORTION);
        assert_eq!(found, long, "chunks of any length give the same hits");
        let of_databases = find(&mut OfDatabases(Cpu::new(), 0), hits::PORTION);
        assert_eq!(found, of_databases, "scores of short targets come first");
        for portion in [1, 40] {
            assert_eq!(found, find(&mut Cpu::new(), portion), "portions of {portion} give the same hits");
        }
        found
    }
}

/// All orientations of each query.
fn case_queries(queries: &[Vec<u8>], layout: &PairLayout) -> Sequences {
    if layout.strands == Strands::Both { batches::both_strands(queries) } else { encoded(queries) }
}

/// Properties of the cases, to verify that none is missing.
#[derive(Debug, Default)]
struct Seen {
    hits: usize,
    without: usize,
    ties: usize,
    reverse: usize,
    /// Hits that span a border of chunks, and hits that touch one.
    across: usize,
    touching: usize,
    /// Adjacent hits without a column between them.
    adjacent: usize,
}

impl Seen {
    fn see(&mut self, case: &Case, hits: &[Alignment]) {
        self.hits += hits.len();
        self.without += usize::from(hits.is_empty());
        self.ties += hits.windows(2).filter(|two| two[0].score == two[1].score).count();
        for hit in hits {
            let interval = (hit.target_start, hit.target_end);
            self.reverse += usize::from(hit.strand == Strand::Reverse);
            for border in case.borders(hit.target) {
                self.across += usize::from(interval.0 < border && border < interval.1);
                self.touching += usize::from(interval.0 == border || border == interval.1);
            }
            let behind = |other: &&Alignment| {
                (other.strand, other.target, other.target_start) == (hit.strand, hit.target, hit.target_end)
            };
            self.adjacent += hits.iter().filter(behind).count();
        }
    }
}

#[test]
fn hits_are_those_of_their_definition() {
    let mut seen = Seen::default();
    for seed in 0..60 {
        let case = Case::new(seed);
        let secondary_ppm = [800_000, 500_000, 0, 1_000_000][seed as usize % 4];
        let expected: Vec<(Vec<Alignment>, i32)> = (0..RECORDS as u32)
            .map(|record| oracle(&case.batch, &case.layout, record, case.min_score, secondary_ppm))
            .collect();
        for max_hits in [1, 2, MOST - 1] {
            let rules = Rules { min_score: case.min_score, secondary_ppm, max_hits, ..Rules::BEST };
            for (record, (found, (hits, threshold))) in case.find(&rules).iter().zip(&expected).enumerate() {
                let place =
                    format!("seed {seed}, record {record}, {max_hits} hits at most, {:?}", case.layout);
                assert_eq!(found.alignments, hits[..hits.len().min(max_hits)], "{place}");
                assert_eq!(found.second, hits.get(1).map(|hit| hit.score), "{place}");
                assert_eq!(found.threshold, *threshold, "{place}");
            }
        }
        expected.iter().for_each(|(hits, _)| seen.see(&case, hits));
    }
    let Seen { hits, without, ties, reverse, across, touching, adjacent } = seen;
    for (count, least) in
        [(hits, 300), (without, 3), (ties, 50), (reverse, 50), (across, 20), (touching, 20), (adjacent, 20)]
    {
        assert!(count >= least, "the cases hold too little: {seen:?}");
    }
}

/// The hits that remain after the limits are applied to all hits in order.
fn limited(hits: &[Alignment], rules: &Rules) -> Vec<Alignment> {
    let mut kept: Vec<Alignment> = Vec::new();
    for hit in hits {
        let last_target =
            kept.iter().rev().find(|hit| kept.iter().find(|other| other.target == hit.target) == Some(hit));
        let is_tie =
            |last: Option<&Alignment>| rules.keeps_ties && last.is_some_and(|last| last.score == hit.score);
        let on_target = kept.iter().filter(|other| other.target == hit.target).count();
        let targets: BTreeSet<u32> = kept.iter().map(|other| other.target).collect();
        let target_has_room = match on_target {
            0 => targets.len() < rules.max_targets || is_tie(last_target),
            _ => on_target < rules.max_per_target,
        };
        let lacks = kept.first().map_or(0, |best| best.score - hit.score);
        let is_candidate =
            rules.candidates.is_some_and(|(within, most)| kept.len() < most && lacks <= within);
        if is_candidate || target_has_room && (kept.len() < rules.max_hits || is_tie(kept.last())) {
            kept.push(hit.clone());
        }
    }
    kept
}

/// Long targets need a higher score than the lowest.
struct Least<'a> {
    lowest: Vec<i32>,
    of_long: i32,
    batch: &'a Batch,
}

impl LeastScores for Least<'_> {
    fn lowest(&self, record: u32) -> i32 {
        self.lowest[record as usize]
    }

    fn is_enough(&self, record: u32, target: u32, score: i32) -> bool {
        let more = if self.batch.target(target).len() > 200 { self.of_long } else { 0 };
        score >= self.lowest(record) + more
    }
}

/// Limits of targets and of hits per target, ties, and a minimum score of each record.
#[test]
fn limits_let_in_what_they_say() {
    let (mut hits, mut ties, mut targets_full, mut target_full, mut hidden) = (0, 0, 0, 0, 0);
    for seed in 100..140 {
        let case = Case::new(seed);
        let mut random = Random::new(seed);
        let least: Vec<i32> = (0..RECORDS).map(|_| case.min_score + random.below(6) as i32).collect();
        let least = Least { lowest: least, of_long: random.below(2) as i32 * 3, batch: &case.batch };
        let all: Vec<(Vec<Alignment>, bool)> = (0..RECORDS as u32)
            .map(|record| {
                let (hits, _) = oracle(&case.batch, &case.layout, record, least.lowest(record), 0);
                let is_enough = |hit: &Alignment| least.is_enough(record, hit.target, hit.score);
                // The oracle stops at a maximum number of hits.
                let are_all = hits.len() < MOST;
                (hits.into_iter().filter(is_enough).collect(), are_all)
            })
            .collect();
        for _ in 0..4 {
            let rules = Rules {
                max_hits: random.pick(&[1, 2, 4, MOST - 1]),
                max_targets: random.pick(&[1, 2, usize::MAX]),
                max_per_target: random.pick(&[1, 1, 2, usize::MAX]),
                keeps_ties: random.pick(&[false, true]),
                tells_second: random.pick(&[false, true]),
                ..Rules::BEST
            };
            for (record, found) in case.find_least(&rules, Some(&least)).iter().enumerate() {
                let (expected, place) =
                    (limited(&all[record].0, &rules), format!("seed {seed}, record {record}, {rules:?}"));
                // The oracle stops at a maximum number of hits. It then knows only the first hits.
                let known = expected.len();
                assert_eq!(found.alignments.get(..known), Some(&*expected), "{place}");
                assert!(!all[record].1 || found.alignments.len() == known, "{place}");
                // The second hit is reported even if a limit excludes it.
                let second = all[record].0.get(1).map(|hit| hit.score);
                if rules.tells_second && (all[record].1 || second.is_some()) {
                    assert_eq!(found.second, second, "{place}");
                    hidden += usize::from(second.is_some() && known == 1 && rules.max_hits > 1);
                }
                hits += known;
                ties += usize::from(rules.keeps_ties && known > rules.max_hits);
                let on = |target| expected.iter().filter(|hit| hit.target == target).count();
                targets_full += usize::from(rules.max_targets < 3 && expected.len() < all[record].0.len());
                target_full += usize::from((0..3).any(|target| on(target) == rules.max_per_target));
            }
        }
    }
    for (count, least) in [(hits, 300), (ties, 5), (targets_full, 50), (target_full, 50), (hidden, 5)] {
        let counts = [hits, ties, targets_full, target_full, hidden];
        assert!(count >= least, "the cases hold too little: {counts:?}");
    }
}

/// If only scores are requested, no path is computed, and the hits are the same.
#[test]
fn scores_need_no_paths() {
    let mut hits = 0;
    for seed in 0..60 {
        let case = Case::new(seed);
        for (max_hits, max_targets, keeps_ties) in
            [(usize::MAX, usize::MAX, false), (2, 2, false), (1, 1, true), (usize::MAX, 2, true)]
        {
            let limits = Rules { max_hits, max_targets, keeps_ties, ..Rules::BEST };
            let rules = Rules { min_score: case.min_score, max_per_target: 1, ..limits };
            let told = |found: &QueryResult| {
                let told = |hit: &Alignment| (hit.target, hit.strand, hit.score);
                (found.alignments.iter().map(told).collect::<Vec<_>>(), found.threshold, found.second)
            };
            let expected: Vec<_> = case.find(&rules).iter().map(told).collect();
            hits += expected.iter().map(|(hits, ..)| hits.len()).sum::<usize>();
            for database in [1, usize::MAX] {
                let scope = SearchInput {
                    detail: Detail::Score,
                    ..SearchInput::new(&case.batch, case.layout, rules)
                };
                let mut engine = WithoutPaths { engine: Cpu::new(), database };
                let found = hits::find(&mut engine, &scope, &mut Effort::default()).unwrap();
                let found: Vec<_> = found.iter().map(told).collect();
                assert_eq!(found, expected, "seed {seed}, {rules:?}, {database}");
            }
        }
    }
    assert!(hits > 500, "{hits}");
}

/// Searches reads on one strand of a target. Returns the hits, and the number of computed cells.
fn searched(
    engine: &mut Enough,
    (len, reads): (usize, usize),
    rules: Rules,
    portion: usize,
) -> (Vec<QueryResult>, u64) {
    let mut random = Random::new(5);
    let target = random.codes(len, 4);
    let mut queries = Sequences::default();
    for _ in 0..reads {
        let start = random.below(target.len() - 150);
        queries.push(random.mutated_codes(&target[start..start + 150], 4, 20));
    }
    let batch = batches::of(queries, [target.as_slice()], Scoring::dna(1, 4, 6, 1));
    let layout = PairLayout { strands: Strands::Plus, meets: Meets::All };
    let scope = SearchInput { portion, ..SearchInput::new(&batch, layout, rules) };
    let mut effort = Effort::default();
    let found = hits::find(engine, &scope, &mut effort).unwrap();
    assert!(found.iter().all(|found| !found.alignments.is_empty()));
    (found, effort.cells)
}

/// In a large search, the last sweeps are shorter than the others.
#[test]
fn sweeps_of_two_lengths_give_the_same_hits() {
    let find = |enough: u64| {
        let rules = Rules { min_score: 20, secondary_ppm: 200_000, max_hits: 3, ..Rules::BEST };
        searched(&mut Enough(enough, Cpu::new(), 0), (50_000, 32), rules, hits::PORTION)
    };
    let [all_short, two_lengths, all_long] = [u64::MAX, 80, 1].map(find);
    assert_eq!(all_short.0, two_lengths.0);
    assert_eq!(all_short.0, all_long.0);
    assert!(all_short.1 > two_lengths.1 && two_lengths.1 > all_long.1, "lengths differ");
}

/// A portion limits the number of pairs that are scored in one call.
#[test]
fn portions_bound_what_is_scored_at_a_time() {
    let most = |portion: usize| {
        let rules = Rules { min_score: 20, secondary_ppm: 800_000, max_hits: 1, ..Rules::BEST };
        let mut engine = Enough(1, Cpu::new(), 0);
        searched(&mut engine, (40_000, 20), rules, portion);
        engine.2
    };
    // One more stretch at the end of a target, and one for each warm-up.
    let of_one = 40_000 / STRETCH as usize + 4;
    assert!(most(usize::MAX) > 10 * of_one, "all of a batch at a time");
    assert!(most(5 * of_one) <= 6 * of_one);
    // The two pieces next to each hit are scored for all queries in one call.
    assert!(most(1) <= of_one.max(2 * 20));
}

/// Targets of which many are equal, have two hits, or none. Scoring the database first gives the same hits as scoring
/// pairs.
#[test]
fn databases_have_the_hits_of_their_pairs() {
    let mut found = 0;
    for seed in 0..40 {
        let mut random = Random::new(7000 + seed);
        let kinds: Vec<Vec<u8>> = (0..4).map(|_| random.codes(40 + 30 * seed as usize % 90, 4)).collect();
        let targets: Sequences = (0..50)
            .map(|_| {
                let (kind, every) =
                    (random.pick(&[0, 1, 2, 3]), random.pick(&[usize::MAX, usize::MAX, 30, 8]));
                let copy = random.mutated_codes(&kinds[kind], 4, every);
                match random.below(4) {
                    0 => [copy.clone(), copy].concat(),
                    1 => random.codes(30, 4),
                    _ => copy,
                }
            })
            .fold(Sequences::default(), |mut all, target| {
                all.push(target);
                all
            });
        let batch = batches::of(&kinds, targets, Scoring::dna(2, 3, 5, 2));
        let layout =
            PairLayout { strands: random.pick(&[one_strand(seed), Strands::Both]), meets: Meets::All };
        for max_hits in [1, 2, 10, 40] {
            let rules = Rules {
                min_score: random.pick(&[1, 20, 60]),
                secondary_ppm: random.pick(&[0, 500_000, 1_000_000]),
                max_hits,
                max_targets: random.pick(&[1, 3, usize::MAX]),
                max_per_target: random.pick(&[1, 2, usize::MAX]),
                frames: 1,
                keeps_ties: random.below(3) == 0,
                candidates: random.pick(&[None, None, Some((20, 7))]),
                tells_second: random.below(2) == 0,
                of_quality: None,
            };
            let lowest = vec![20, 30, 40, 50];
            let least = Least { batch: &batch, lowest, of_long: 40 };
            let least: Option<&dyn LeastScores> = if random.below(2) == 0 { Some(&least) } else { None };
            let find = |engine: &mut dyn Engine| {
                let scope = SearchInput { least, portion: 64, ..SearchInput::new(&batch, layout, rules) };
                let mut effort = Effort::default();
                (hits::find(engine, &scope, &mut effort).unwrap(), effort.remarks().cut)
            };
            let expected = find(&mut Cpu::new());
            assert_eq!(find(&mut OfDatabases(Cpu::new(), 0)), expected, "seed {seed}, {rules:?}");
            let has_hits = least.is_none() && !expected.0[0].alignments.is_empty();
            for off in [1, -1, 1 << 20, -(1 << 20)].into_iter().filter(|_| has_hits) {
                let scope = SearchInput { portion: 64, ..SearchInput::new(&batch, layout, rules) };
                let wrong = hits::find(&mut OfDatabases(Cpu::new(), off), &scope, &mut Effort::default());
                assert!(matches!(wrong, Err(EngineError::Wrong(_))), "seed {seed}, {off}, {rules:?}");
            }
            found += expected.0.iter().map(|found| found.alignments.len()).sum::<usize>();
        }
    }
    assert!(found > 1000, "the cases hold too little: {found}");
}

/// If all parts of a query are searched in full, the query counts once as searched in full.
#[test]
fn what_is_said_of_parts_counts_once() {
    let remarks = |whole, unsplit| QueryRemarks { whole, unsplit, ..QueryRemarks::default() };
    let mut all = Effort { said: vec![(2, remarks(1, 0)), (0, remarks(1, 0))], ..Effort::default() };
    let said = vec![(0, remarks(1, 0)), (1, remarks(0, 1)), (2, remarks(1, 0)), (3, remarks(1, 0))];
    all.add_parts(Effort { said, ..Effort::default() }, |part| [2, 0, 0, 5][part as usize]);
    assert_eq!(all.said, [(0, remarks(1, 1)), (2, remarks(1, 0)), (5, remarks(1, 0))]);
    assert_eq!(all.remarks(), remarks(3, 1));
}

/// A target of about `len` bases: copies of `unit` on both strands with up to `between` bases between them. About
/// `percent` % of the bases of the copies are mutated.
fn copies(random: &mut Random, unit: &[u8], len: usize, (between, percent): (usize, usize)) -> Vec<u8> {
    let mut target = Vec::new();
    while target.len() < len {
        let copy = random.mutated(Alphabet::Dna, unit, percent);
        target.extend(if random.below(3) == 0 { reverse_complement(&copy) } else { copy });
        let between = random.below(between + 1);
        target.extend(random.sequence(Alphabet::Dna, between));
    }
    target
}

/// A query with many copies in two targets, adjacent or apart, exact or mutated, and at most [`KNOWN`] of its first
/// hits.
struct ManyHits {
    case: Case,
    rules: Rules,
    all: Vec<Alignment>,
}

/// Maximum number of hits of the oracle.
const KNOWN: usize = 160;

impl ManyHits {
    fn new(seed: u64) -> ManyHits {
        let mut random = Random::new(seed);
        let (match_, mismatch, open, extend) =
            random.pick(&[(1, 4, 6, 1), (2, 4, 4, 2), (1, 1, 0, 2), (5, 4, 9, 1)]);
        let unit_len = 10 + random.below(30);
        let unit = random.sequence(Alphabet::Dna, unit_len);
        let kind = (random.pick(&[0, 0, 3, 60]), random.pick(&[0, 3, 12]));
        let lengths = [random.pick(&[300, 900, 2500]), random.pick(&[40, 600])];
        let targets = lengths.map(|len| copies(&mut random, &unit, len, kind));
        let layout =
            PairLayout { strands: random.pick(&[one_strand(seed), Strands::Both]), meets: Meets::All };
        let batch = batches::of(
            case_queries(&[unit], &layout),
            encoded(&targets),
            Scoring::dna(match_, mismatch, open, extend),
        );
        let (min_score, secondary_ppm) = (match_ * 6, random.pick(&[0, 500_000, 900_000, 1_000_000]));
        let (all, _) = first_hits(&batch, &layout, 0, (min_score, secondary_ppm), KNOWN);
        let rules = Rules { min_score, secondary_ppm, ..Rules::BEST };
        ManyHits { case: Case { batch, layout, min_score }, rules, all }
    }
}

#[test]
fn many_hits_are_those_of_their_definition() {
    let (mut count, mut most) = (0, 0);
    for seed in 0..40 {
        let ManyHits { case, rules, all } = ManyHits::new(seed);
        for max_hits in [2, 7, 100, KNOWN - 1] {
            for (max_targets, max_per_target) in [(usize::MAX, usize::MAX), (1, 30), (2, 5), (usize::MAX, 1)]
            {
                let rules = Rules { max_hits, max_targets, max_per_target, ..rules };
                let expected = limited(&all, &rules);
                if max_per_target < 100 && all.len() == KNOWN && expected.len() < max_hits {
                    // The oracle did not compute the hits that would follow.
                    continue;
                }
                let found = case.find(&rules).remove(0);
                assert_eq!(found.alignments, expected, "seed {seed}, {rules:?}");
                count += expected.len();
                most = most.max(expected.len());
            }
        }
    }
    assert!(count > 5000 && most == KNOWN - 1, "too few: {count}, {most} at most");
}

/// Candidates for pairing mates are found in addition to the hits that the limits allow.
#[test]
fn candidates_of_mates_are_those_of_their_definition() {
    let (mut count, mut besides) = (0, 0);
    for seed in 0..40 {
        let ManyHits { case, rules, .. } = ManyHits::new(seed);
        let (batch, layout) = (&case.batch, &case.layout);
        let (all, _) = first_hits(batch, layout, 0, (case.min_score, 0), KNOWN);
        let Some(best) = all.first().map(|hit| hit.score) else { continue };
        let match_ = batch.scoring.max_potential();
        for max_hits in [1, 3, 40] {
            for (max_targets, max_per_target) in [(usize::MAX, usize::MAX), (1, 2), (2, 1)] {
                for candidates in [(0, 9), (5 * match_, 64), (9 * match_, 20)] {
                    let candidates = Some(candidates);
                    let rules = Rules { max_hits, max_targets, max_per_target, candidates, ..rules };
                    let threshold = rules.threshold(best);
                    let reached: Vec<Alignment> =
                        all.iter().take_while(|hit| hit.score >= threshold).cloned().collect();
                    let expected = limited(&reached, &rules);
                    if reached.len() == KNOWN && max_per_target < 100 {
                        continue;
                    }
                    let found = case.find(&rules).remove(0);
                    assert_eq!(found.alignments, expected, "seed {seed}, {rules:?}");
                    count += expected.len();
                    besides += expected.len().saturating_sub(max_hits);
                }
            }
        }
    }
    assert!(count > 5000 && besides > 1000, "too few: {count}, {besides} besides");
}

/// Ranks that are bounded by scores: ten times the score, less a number that depends on the position of the hit.
struct TenTimesTheScore {
    places: usize,
    has_more: bool,
}

impl Ranks for TenTimesTheScore {
    fn places(&self) -> usize {
        self.places
    }

    fn has_more_on_targets(&self) -> bool {
        self.has_more
    }

    fn rank(&self, _: u32, hit: &Alignment) -> Option<f64> {
        let lower = hit.target_start % 7 * 5;
        (!hit.target_start.is_multiple_of(5)).then(|| f64::from(10 * hit.score - lower as i32))
    }

    fn least_score(&self, _: u32, rank: Option<f64>) -> i32 {
        rank.map_or(i32::MIN, |rank| (rank / 10.0).ceil() as i32)
    }
}

impl TenTimesTheScore {
    /// The hits that are reported, given all hits in order.
    fn reported(&self, hits: &[Alignment]) -> Vec<Alignment> {
        let ranked = hits.iter().filter_map(|hit| Some((self.rank(0, hit)?, hit)));
        let mut met = BTreeSet::new();
        let mut ranked: Vec<(f64, &Alignment)> =
            ranked.filter(|(_, hit)| met.insert(hit.target) || self.has_more).collect();
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut targets = BTreeSet::new();
        let has_place = |hit: &Alignment| {
            let is_among = targets.contains(&hit.target) || targets.len() < self.places;
            is_among && (targets.insert(hit.target) || self.has_more)
        };
        ranked.into_iter().map(|(_, hit)| hit.clone()).filter(has_place).collect()
    }
}

#[test]
fn ranked_hits_are_those_of_their_definition() {
    let (mut count, mut fewer) = (0, 0);
    for seed in 0..60 {
        let ManyHits { case, rules, all } = ManyHits::new(seed);
        if all.len() == KNOWN {
            continue;
        }
        for (places, has_more) in [(1, false), (1, true), (2, true), (9, true), (9, false)] {
            let ranks = TenTimesTheScore { places, has_more };
            let rules = Rules { max_hits: usize::MAX, ..rules };
            let scope =
                SearchInput { ranks: Some(&ranks), ..SearchInput::new(&case.batch, case.layout, rules) };
            for enough in [1, u64::MAX] {
                let mut engine = Enough(enough, Cpu::new(), 0);
                let found = hits::find(&mut engine, &scope, &mut Effort::default()).unwrap().remove(0);
                let expected = ranks.reported(&all);
                assert_eq!(ranks.reported(&found.alignments), expected, "seed {seed}, {places}, {has_more}");
                let among = all.iter().filter(|hit| found.alignments.contains(hit));
                assert!(among.eq(&found.alignments), "seed {seed}: hits that are none, or another order");
                count += expected.len();
                fewer += usize::from(found.alignments.len() < all.len());
            }
        }
    }
    assert!(count > 2000 && fewer > 20, "too few: {count}, {fewer} with hits that rank too low");
}

/// Many hits on one target need few calls of the engine, also if they are ranked or are candidates for mates.
#[test]
fn many_hits_take_few_rounds() {
    let ranks = TenTimesTheScore { places: 5, has_more: true };
    for (between, percent) in [(0, 0), (40, 0), (40, 4)] {
        let mut random = Random::new(between as u64);
        let unit = random.sequence(Alphabet::Dna, 60);
        let target = copies(&mut random, &unit, 150_000, (between, percent));
        let layout = PairLayout { strands: Strands::Both, meets: Meets::All };
        let batch = batches::of(case_queries(&[unit], &layout), encoded(&[target]), Scoring::dna(2, 4, 4, 2));
        let rules = Rules { min_score: 60, secondary_ppm: 500_000, max_hits: 1_000_000, ..Rules::BEST };
        let find = |scope: &SearchInput| {
            let mut engine = Counting::new();
            let found = hits::find(&mut engine, scope, &mut Effort::default()).unwrap().remove(0);
            let hits = found.alignments.len();
            // About two calls for each hit that fits into a stretch.
            let most = 8 * STRETCH as usize / 60;
            assert!(
                hits > 1000 && (engine.scored + engine.traced) < most,
                "{} calls for {hits} hits",
                (engine.scored + engine.traced)
            );
            found
        };
        let scope = SearchInput::new(&batch, layout, rules);
        let found = find(&scope);
        let mut long_chunks = Enough(1, Cpu::new(), 0);
        assert_eq!(found, hits::find(&mut long_chunks, &scope, &mut Effort::default()).unwrap()[0]);
        assert_eq!(found, find(&SearchInput { ranks: Some(&ranks), ..scope }));
        let of_mates = Rules { candidates: Some((30, 64)), ..rules };
        assert_eq!(found, find(&SearchInput { rules: of_mates, ..scope }));
    }
}

/// The first hits of many targets are also computed together.
#[test]
fn hits_of_many_targets_take_few_rounds() {
    let ranks = TenTimesTheScore { places: 5000, has_more: false };
    let mut random = Random::new(11);
    let unit = random.sequence(Alphabet::Dna, 60);
    let targets: Vec<Vec<u8>> = (0..3000).map(|_| random.mutated(Alphabet::Dna, &unit, 4)).collect();
    let layout = PairLayout { strands: Strands::Plus, meets: Meets::All };
    let batch = batches::of(case_queries(&[unit], &layout), encoded(&targets), Scoring::dna(2, 4, 4, 2));
    let rules = Rules { min_score: 20, max_hits: usize::MAX, max_per_target: 1, ..Rules::BEST };
    for ranks in [None, Some(&ranks as &dyn Ranks)] {
        let mut engine = Counting::new();
        let scope = SearchInput { ranks, ..SearchInput::new(&batch, layout, rules) };
        let found = hits::find(&mut engine, &scope, &mut Effort::default()).unwrap().remove(0);
        let hits = found.alignments.len();
        assert!(
            hits > 2500 && (engine.scored + engine.traced) < 60,
            "{} calls for {hits} hits",
            (engine.scored + engine.traced)
        );
    }
}
