//! The filter is lossless: hits are the same with and without it. Its theorem also holds for alignments constructed to
//! violate it.

use crate::common::batches::{self, Counting, best, reversed};
use crate::common::{host_scan::HostScan, one_strand, random::Random};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use swalign::align::candidates::ambiguous::{QueryShape, TargetRuns, allowance};
use swalign::align::candidates::by_scan::{SeedEnd, SeedEnds, SeedScan};
use swalign::align::candidates::filter::Filter;
use swalign::align::candidates::levels::{FilterCosts, SeedKind};
use swalign::align::candidates::runs::exact_runs;
use swalign::align::candidates::seed_scores::SeedScores;
use swalign::align::candidates::{
    DiagonalLimits, FilterAnswer, FilterRequest, IndexShape, Meets, PairLayout,
};
use swalign::align::hits::{self, Effort, Rules, SearchInput};
use swalign::engine::cpu::Cpu;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::search::finder::PatternFinder;
use swalign::patterns::search::sliced::SlicedScan;
use swalign::terms::alignment::{Alignment, PathOp, QueryResult, Strand, Strands};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Sequences};
use swalign::terms::error::EngineError;
use swalign::terms::scoring::{Matrix, Scoring};

/// Match, mismatch, gap open, gap extend.
const SCHEMES: [(i32, i32, i32, i32); 6] =
    [(1, 4, 6, 1), (2, 4, 4, 2), (2, 3, 5, 2), (1, 1, 0, 2), (5, 4, 9, 1), (1, 0, 1, 1)];
/// A code that is not a base.
const OTHER: u8 = 14;

fn scoring((match_, mismatch, open, extend): (i32, i32, i32, i32)) -> Scoring {
    Scoring::dna(match_, mismatch, open, extend)
}

/// Targets with repeats on both strands, and queries, most of which are drawn from them.
struct Case {
    batch: Batch,
    layout: PairLayout,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let letters = random.pick(&[4, 4, 4, 3]);
        let mut targets: Vec<Vec<u8>> =
            [30_000, 9_000, 700, 40, 1].map(|len| random.codes(len, letters)).into();
        for _ in 0..10 {
            let (from, to) = (random.below(2), random.below(3));
            let len = 20 + random.below(400);
            let start = random.below(targets[from].len() - len);
            let copy = random.mutated_codes(&targets[from][start..start + len], 4, 25);
            let copy = if random.below(2) == 0 { reversed(&copy) } else { copy };
            let copy = if random.below(3) == 0 { copy.repeat(3) } else { copy };
            let at = random.below(targets[to].len());
            targets[to].iter_mut().skip(at).zip(copy).for_each(|(old, new)| *old = new);
        }
        for _ in 0..20 {
            let target = random.below(2);
            let at = random.below(targets[target].len());
            let run = random.pick(&[1, 1, 1, 2, 3, 8, 40]);
            let code = random.pick(&[OTHER, OTHER, 4, 9]);
            targets[target].iter_mut().skip(at).take(run).for_each(|old| *old = code);
        }
        let strands = random.pick(&[one_strand(seed), Strands::Both, Strands::Both]);
        let mut queries = Sequences::default();
        for _ in 0..60 {
            let query = Case::query(&mut random, &targets);
            queries.push(query.iter().copied());
            if strands == Strands::Both {
                queries.push(reversed(&query));
            }
        }
        let batch = batches::of(queries, &targets, Case::scoring(&mut random));
        Case { batch, layout: PairLayout { strands, meets: Meets::All } }
    }

    /// A scoring with a different treatment of ambiguous codes: as mismatches, with a smaller penalty, with none, or as
    /// IUPAC matches.
    fn scoring(random: &mut Random) -> Scoring {
        let scoring = scoring(random.pick(&SCHEMES));
        match random.below(5) {
            0 => scoring.with_ambiguous(0),
            1 => scoring.with_iupac(),
            2 => scoring.with_ambiguous(1),
            _ => scoring,
        }
    }

    fn query(random: &mut Random, targets: &[Vec<u8>]) -> Vec<u8> {
        let len = random.pick(&[0, 5, 11, 19, 20, 21, 50, 100, 150, 150, 150, 151, 250, 400]);
        if random.below(20) == 0 {
            return random.codes(len, 4);
        }
        let target = &targets[random.pick(&[0, 0, 1, 2])];
        let start = random.below(target.len().saturating_sub(len).max(1));
        let drawn = &target[start..(start + len).min(target.len())];
        let every = random.pick(&[0, 90, 60, 40, 30, 12, 7]);
        let drawn = if every == 0 { drawn.to_vec() } else { random.mutated_codes(drawn, 4, every) };
        let mut drawn = if random.below(2) == 0 { reversed(&drawn) } else { drawn };
        for _ in 0..random.pick(&[0, 0, 0, 1, 3]) {
            let at = random.below(drawn.len().max(1));
            let run = random.pick(&[1, 1, 2, 5, 20]);
            drawn.iter_mut().skip(at).take(run).for_each(|code| *code = OTHER);
        }
        drawn
    }

    fn find(&self, rules: Rules, filter: Option<&Filter>) -> (Vec<QueryResult>, Effort) {
        // A small portion, so that queries without a usable filter are searched in several portions.
        let portion = if filter.is_some() { 40 } else { hits::PORTION };
        let scope = SearchInput { filter, portion, ..SearchInput::new(&self.batch, self.layout, rules) };
        let mut effort = Effort::default();
        let found = hits::find(&mut Cpu::new(), &scope, &mut effort).unwrap();
        (found, effort)
    }
}

/// Windows without hits are dropped after they are scored. The number of windows per round still grows.
#[test]
fn windows_without_a_hit_take_few_rounds() {
    let mut random = Random::new(50);
    let target = random.codes(10_000_000, 4);
    let foreign = random.codes(150, 4);
    let batch = batches::of([foreign.as_slice()], [target.as_slice()], scoring(SCHEMES[0]));
    let sliced = SlicedScan::on(InstructionSet::best());
    let finder = PatternFinder::new(&batch.targets, Box::new(sliced), false);
    let filter = Filter::by_scan(&batch.targets, &batch.scoring, 1, Box::new(finder)).unwrap();
    let layout = PairLayout { strands: Strands::Plus, meets: Meets::All };
    let rules = Rules { min_score: 24, ..Rules::BEST };
    let scope = SearchInput { filter: Some(&filter), ..SearchInput::new(&batch, layout, rules) };
    let mut engine = Counting::new();
    let found = hits::find(&mut engine, &scope, &mut Effort::default()).unwrap();
    let Counting { pairs, scored: calls, .. } = engine;
    assert!(found[0].alignments.is_empty());
    assert!(pairs > 2_000 && calls < 40, "{pairs} pairs in {calls} calls");
}

#[test]
fn hits_are_those_without_a_filter() {
    let (mut cells, mut fewer, mut whole, mut hits, mut queries) = (0, 0, 0, 0, 0);
    // Queries without a level. They are searched in full with any filter.
    let mut without_level = 0;
    for seed in 0..24 {
        let case = Case::new(seed);
        let Batch { targets, scoring, .. } = &case.batch;
        let filter = Filter::by_index(targets, scoring, case.layout.strands.count()).unwrap();
        let match_ = scoring.max_potential();
        let min_score = [20, 12, 60, 5][seed as usize % 4] * match_;
        for (max_hits, secondary_ppm) in [(1, 800_000), (3, 700_000), (2, [0, 1_000_000][seed as usize % 2])]
        {
            let rules = Rules { min_score, secondary_ppm, max_hits, ..Rules::BEST };
            let (expected, all) = case.find(rules, None);
            let (found, some) = case.find(rules, Some(&filter));
            assert_eq!(found, expected, "seed {seed}, {rules:?}, {scoring}");
            hits += found.iter().map(|found| found.alignments.len()).sum::<usize>();
            cells += all.cells;
            fewer += some.cells;
            whole += some.remarks().whole;
            queries += found.len() as u64;
            let len = |record| case.batch.query(case.layout.query(record, Strand::Forward)).len();
            let has_none = |&record: &u32| filter.first(SeedKind::Index, len(record).into()).is_none();
            without_level += (0..found.len() as u32).filter(has_none).count() as u64;
        }
    }
    let whole = whole - without_level;
    // The filter saved work, but could not help every query.
    let seen = format!("{fewer} of {cells} cells, {whole} of {queries} queries in full, {hits} hits");
    assert!(fewer * 20 < cells * 19 && whole > 100 && whole * 3 < queries * 2 && hits > 3000, "{seen}");
}

/// Limits under which each diagonal gets a bound, seeds are compared as a whole or by their k-mers alone, and few
/// diagonals are in memory at once.
fn tight_limits(seed: u64) -> DiagonalLimits {
    let least_unverified = [0, 200][seed as usize % 2];
    let stretch = [1, 256][seed as usize % 2];
    DiagonalLimits { least_bounded: 0, least_unverified, in_memory: 64, stretch, ..DiagonalLimits::default() }
}

/// The filter with a device, which takes over at once, and whose calls are counted.
fn on_device(filter: Filter, scoring: &Arc<Scoring>, calls: &Arc<AtomicUsize>) -> Filter {
    let limits = DiagonalLimits { examined: usize::MAX, spare: 1, ..DiagonalLimits::default() };
    filter.with_limits(limits).with_device(Box::new(HostScan::new(scoring, calls)))
}

/// The filter with an index in several segments.
fn in_segments(filter: Filter, targets: &Sequences, seed: u64) -> Filter {
    let all = targets.codes().len();
    filter.with_segment([all / 2 + 1, all / 7, 997, all - 50][seed as usize % 4])
}

/// An index of the k-mers at every few positions gives the hits of a full search, at all steps and k-mer lengths, in one
/// segment or in several.
#[test]
fn sampled_indexes_lose_nothing() {
    let shapes = [(6, 2), (7, 3), (8, 6), (9, 4), (6, 6), (12, 5)];
    let (mut cells, mut fewer, mut segmented_cells, mut hits) = (0, 0, 0, 0);
    let (calls, idle) = (Arc::default(), Arc::default());
    for (seed, (letters, step)) in (0..).zip(shapes.into_iter().cycle().take(24)) {
        let case = Case::new(seed);
        let Batch { targets, scoring, .. } = &case.batch;
        let (strands, shape) = (case.layout.strands.count(), IndexShape { letters, step });
        let filter = || Filter::by_index_of(targets, scoring, strands, shape).unwrap();
        let device = on_device(filter(), scoring, &calls);
        // A device has no positions of several segments.
        let segmented = in_segments(on_device(filter(), scoring, &idle), targets, seed);
        let segmented = if seed % 2 == 0 { segmented } else { segmented.with_limits(tight_limits(seed / 2)) };
        let filter = if seed % 3 == 0 { filter() } else { filter().with_limits(tight_limits(seed)) };
        let min_score = [20, 60][seed as usize / 6 % 2] * scoring.max_potential();
        let near = Some((12 * scoring.max_potential(), 4));
        let wanted = [(1, 800_000, None), (3, 700_000, None), (2, 950_000, None), (1, 950_000, near)];
        for (max_hits, secondary_ppm, candidates) in wanted {
            let tells_second = seed % 2 == 0;
            let rules = Rules { min_score, secondary_ppm, max_hits, candidates, tells_second, ..Rules::BEST };
            let (expected, all) = case.find(rules, None);
            let (found, some) = case.find(rules, Some(&filter));
            assert_eq!(found, expected, "seed {seed}, {shape:?}, {rules:?}, {scoring}");
            let (found, _) = case.find(rules, Some(&device));
            assert_eq!(found, expected, "seed {seed}, {shape:?}, {rules:?}, {scoring}, on a device");
            let (found, in_segments) = case.find(rules, Some(&segmented));
            assert_eq!(found, expected, "seed {seed}, {shape:?}, {rules:?}, {scoring}, in segments");
            segmented_cells += in_segments.cells;
            hits += found.iter().map(|found| found.alignments.len()).sum::<usize>();
            (cells, fewer) = (cells + all.cells, fewer + some.cells);
        }
    }
    assert!(calls.load(Ordering::Relaxed) > 100 && idle.load(Ordering::Relaxed) == 0, "{calls:?} {idle:?}");
    // The seeds of a sampled index are long, so only a few levels pay in small targets.
    assert!(fewer * 40 < cells * 39 && hits > 1000, "{fewer} of {cells} cells, {hits} hits");
    assert!(segmented_cells * 40 < cells * 39, "{segmented_cells} of {cells} cells in segments");
}

/// Reads across the borders of segments: a border before, on and after each base of a k-mer, at the ends of a read, in its
/// middle, and near the border of two references.
#[test]
fn reads_at_the_borders_of_segments_have_the_hits_of_a_full_search() {
    let (mut hits, mut cells, mut fewer) = (0, 0, 0);
    for (seed, len) in (0..).zip([30usize, 150, 300, 3000].into_iter().cycle().take(16)) {
        let mut random = Random::new(4200 + seed);
        let (letters, step) = random.pick(&[(8, 3), (7, 6), (9, 2), (6, 4)]);
        // The first border, in bases, and that of the references, up to a base before or after it.
        let segment = (len + 2_000).next_multiple_of(step as usize);
        let first = [segment - 1, segment, segment + 1, len + 7][seed as usize % 4];
        let (mut codes, apart) = (random.codes(3 * segment + 50, 4), random.codes(40, 4));
        // A repeat, a copy of which crosses a border.
        let copy = codes[segment - len / 2..segment + len - len / 2].to_vec();
        codes[2 * segment + 300..][..len]
            .copy_from_slice(&random.mutated_codes(&copy, 4, 20).repeat(2)[..len]);
        codes[2 * segment - 9..2 * segment + 9].copy_from_slice(&apart[..18]);
        let mut queries = Sequences::default();
        for border in [first, segment, 2 * segment] {
            let kmer = letters as usize;
            let ends = (border.saturating_sub(len + 2)..=border.saturating_sub(len - 2)).step_by(2);
            let inside = (1..=kmer + step as usize).map(|before| border.saturating_sub(before));
            let middle = [border - len.min(border) / 2, border, border + 1];
            for start in ends.chain(inside).chain(middle) {
                let every = random.pick(&[0, 0, 40, 15]);
                let drawn = &codes[start..start + len];
                let query = if every == 0 { drawn.to_vec() } else { random.mutated_codes(drawn, 4, every) };
                queries.push(query.iter().copied());
                queries.push(reversed(&query));
                if len == 3000 && random.below(3) > 0 {
                    break;
                }
            }
        }
        let targets = [&codes[..first], &codes[first..]];
        let scoring = scoring(SCHEMES[seed as usize % 3]);
        let batch = batches::of(queries, targets, scoring);
        let case = Case { batch, layout: PairLayout { strands: Strands::Both, meets: Meets::All } };
        let Batch { targets, scoring, .. } = &case.batch;
        let shape = IndexShape { letters, step };
        let whole = Filter::by_index_of(targets, scoring, 2, shape).unwrap();
        let segmented = || Filter::by_index_of(targets, scoring, 2, shape).unwrap().with_segment(segment);
        let tight = segmented().with_limits(tight_limits(seed));
        for (share, max_hits) in [(20, 1), (70, 3)] {
            let min_score = (len as i32 * share / 100).max(18) * scoring.max_potential();
            let rules = Rules { min_score, secondary_ppm: 700_000, max_hits, ..Rules::BEST };
            let (expected, all) = case.find(rules, None);
            for (name, filter) in [("whole", &whole), ("in segments", &segmented()), ("tight", &tight)] {
                let (found, some) = case.find(rules, Some(filter));
                assert_eq!(
                    found, expected,
                    "seed {seed}, {len} bases, {name}, {shape:?}, {rules:?}, {scoring}"
                );
                (cells, fewer) = (cells + all.cells, fewer + some.cells);
            }
            hits += expected.iter().map(|found| found.alignments.len()).sum::<usize>();
        }
    }
    assert!(hits > 500 && fewer * 10 < cells * 9, "{hits} hits, {fewer} of {cells} cells");
}

/// A sampled index lists the runs that a scan of the targets finds.
#[test]
fn runs_by_a_sampled_index_are_those_of_a_scan() {
    let mut runs = 0;
    for seed in 0..12 {
        let case = Case::new(seed);
        let Batch { targets, scoring, queries, .. } = &case.batch;
        let least = [8, 10, 14][seed as usize % 3];
        let shape = IndexShape { letters: least as u32 - 3, step: 4 };
        let filter = Filter::by_index_of(targets, scoring, case.layout.strands.count(), shape).unwrap();
        let filter = if seed % 2 == 0 { filter } else { in_segments(filter, targets, seed / 2) };
        let all: Vec<u32> = (0..queries.len() as u32).collect();
        assert_eq!(filter.exact_runs(&case.batch, &all, least), None, "the index is not made yet");
        filter.kind(&case.batch, &case.layout);
        let listed = filter.exact_runs(&case.batch, &all, least);
        assert_eq!(listed, Some(exact_runs(&case.batch, &all, least)), "seed {seed}");
        assert_eq!(filter.exact_runs(&case.batch, &all, least - 1), None, "the index may lack such runs");
        runs += listed.unwrap().iter().flatten().map(Vec::len).sum::<usize>();
    }
    assert!(runs > 5000, "{runs}");
    // A stretch with 2,048 copies, and one with a copy more.
    let mut random = Random::new(3);
    let (few, many) = (random.codes(20, 4), random.codes(20, 4));
    let copies = |stretch: &[u8], count: usize| [stretch, &[OTHER; 4]].concat().repeat(count);
    let target = [copies(&few, 2048), copies(&many, 2049)].concat();
    let batch = batches::of([&few[..], &many], [&target[..]], scoring(SCHEMES[0]));
    let filter =
        Filter::by_index_of(&batch.targets, &batch.scoring, 1, IndexShape { letters: 8, step: 3 }).unwrap();
    filter.kind(&batch, &PairLayout { strands: Strands::Plus, meets: Meets::All });
    let listed = filter.exact_runs(&batch, &[0, 1], 14).unwrap();
    assert_eq!(listed, exact_runs(&batch, &[0, 1], 14));
    let counts: Vec<Option<usize>> = listed.iter().map(|runs| runs.as_ref().map(Vec::len)).collect();
    assert_eq!(counts, [Some(2048), None]);
}

/// Bounds of diagonals lose nothing, and save the scores of most windows in a repeat with many copies.
#[test]
fn diagonals_of_repeats_are_bounded_and_lose_nothing() {
    let mut saved = [0; 2];
    let calls = Arc::default();
    for seed in 0..6 {
        let mut random = Random::new(50 + seed);
        let family = random.codes(300, 4);
        let copies = (0..150).flat_map(|_| {
            let every = random.pick(&[8, 10, 12, 60]);
            let copy = random.mutated_codes(&family, 4, every);
            let copy = if random.below(2) == 0 { reversed(&copy) } else { copy };
            [copy, random.codes(90, 4)]
        });
        let target: Vec<u8> = copies.flatten().collect();
        let mut queries = Sequences::default();
        for _ in 0..40 {
            let at = random.below(target.len() - 150);
            let query = random.mutated_codes(&target[at..at + 150], 4, 70);
            queries.push(query.iter().copied());
            queries.push(reversed(&query));
        }
        let scoring = scoring(SCHEMES[seed as usize]).with_end_bonus([0, 5][seed as usize % 2]);
        let batch = batches::of(queries, [&target[..]], scoring);
        let case = Case { batch, layout: PairLayout { strands: Strands::Both, meets: Meets::All } };
        let Batch { targets, scoring, .. } = &case.batch;
        let rules = Rules { min_score: 110 * scoring.max_potential(), secondary_ppm: 800_000, ..Rules::BEST };
        let (expected, _) = case.find(rules, None);
        let shapes = [IndexShape { letters: 8, step: 1 }, IndexShape { letters: 7, step: 4 }];
        let filter = |shape| Filter::by_index_of(targets, scoring, 2, shape).unwrap();
        let without = DiagonalLimits { least_bounded: usize::MAX, ..DiagonalLimits::default() };
        let (found, unbounded) = case.find(rules, Some(&filter(shapes[0]).with_limits(without)));
        assert_eq!(found, expected, "seed {seed}, without bounds, {scoring}");
        let device = on_device(filter(shapes[1]), scoring, &calls);
        let near = Some((20 * scoring.max_potential(), 6));
        for (tells_second, max_hits, candidates) in
            [(false, 1, None), (true, 1, None), (true, 4, None), (false, 1, near)]
        {
            let rules = Rules { tells_second, max_hits, candidates, ..rules };
            let (found, _) = case.find(rules, Some(&device));
            assert_eq!(found, case.find(rules, None).0, "seed {seed}, on a device, {rules:?}, {scoring}");
        }
        for (number, shape) in shapes.into_iter().enumerate() {
            for limits in [DiagonalLimits::default(), tight_limits(seed)] {
                let filter =
                    if seed % 2 == 0 { filter(shape) } else { in_segments(filter(shape), targets, seed) };
                let (found, bounded) = case.find(rules, Some(&filter.with_limits(limits)));
                assert_eq!(found, expected, "seed {seed}, {shape:?}, {limits:?}, {scoring}");
                saved[number] += u64::from(bounded.cells * 2 < unbounded.cells);
            }
        }
    }
    assert!(saved.iter().all(|&saved| saved >= 2), "{saved:?}");
    assert!(calls.load(Ordering::Relaxed) > 20, "{calls:?}");
}

/// Copies of a read with edits at regular distances, which damage the maximum number of pieces, with edits near its ends,
/// or with codes other than bases. The threshold is near their scores.
#[test]
fn pieces_of_reads_lose_no_copy() {
    let (mut hits, mut fewer, mut cells) = (0, 0, 0);
    let calls = Arc::default();
    for seed in 0..36 {
        let mut random = Random::new(900 + seed);
        let scheme = SCHEMES[seed as usize % 4];
        let scoring = scoring(scheme).with_end_bonus(random.pick(&[0, 3, 5]));
        let scoring = if seed % 3 == 0 { scoring } else { scoring.with_ambiguous(random.below(2) as i32) };
        let (mut target, mut queries) = (random.codes(20_000, 4), Sequences::default());
        for _ in 0..12 {
            let len = random.pick(&[60, 100, 150, 151, 250]);
            let read = random.codes(len, 4);
            for _ in 0..6 {
                target.extend(edited_regularly(&mut random, &read));
                target.extend(random.codes(300, 4));
            }
            target.extend(&read);
            target.extend(random.codes(300, 4));
            queries.push(read.iter().copied());
            queries.push(reversed(&read));
        }
        let batch = batches::of(queries, [&target[..]], scoring);
        let batch = batch.with_ends();
        let case = Case { batch, layout: PairLayout { strands: Strands::Both, meets: Meets::All } };
        let Batch { targets, scoring, .. } = &case.batch;
        let shape = random.pick(&[IndexShape { letters: 8, step: 6 }, IndexShape { letters: 9, step: 3 }]);
        let filter = || Filter::by_index_of(targets, scoring, 2, shape).unwrap();
        let device = on_device(filter(), scoring, &calls);
        let filter = if seed % 2 == 0 { filter() } else { filter().with_limits(tight_limits(seed)) };
        let filter = if seed % 3 == 0 { filter } else { in_segments(filter, targets, seed) };
        for secondary_ppm in [980_000, 940_000, 900_000, 860_000, 800_000] {
            let rules = Rules {
                min_score: 30 * scoring.max_potential(),
                secondary_ppm,
                max_hits: 9,
                tells_second: true,
                ..Rules::BEST
            };
            let (expected, all) = case.find(rules, None);
            let (found, some) = case.find(rules, Some(&filter));
            assert_eq!(found, expected, "seed {seed}, {shape:?}, {rules:?}, {scoring}");
            for max_hits in [1, 9] {
                let rules_here = Rules { max_hits, ..rules };
                let expected = match max_hits == rules.max_hits {
                    true => expected.clone(),
                    false => case.find(rules_here, None).0,
                };
                let found = case.find(rules_here, Some(&device)).0;
                assert_eq!(found, expected, "seed {seed}, {shape:?}, {rules_here:?}, {scoring}, on a device");
            }
            hits += found.iter().map(|found| found.alignments.len()).sum::<usize>();
            (cells, fewer) = (cells + all.cells, fewer + some.cells);
        }
    }
    assert!(calls.load(Ordering::Relaxed) > 100, "{calls:?}");
    assert!(hits > 5000 && fewer * 3 < cells, "{hits} hits, {fewer} of {cells} cells");
}

/// A copy with edits at regular distances: substitutions, short gaps, codes that are not bases, or random ends.
fn edited_regularly(random: &mut Random, read: &[u8]) -> Vec<u8> {
    let edits = random.below(9);
    let apart = read.len() / (edits + 1);
    let kind = random.below(5);
    let mut copy = Vec::new();
    for (at, &code) in read.iter().enumerate() {
        let is_edited = edits > 0 && (at + 1) % apart == 0 && (at + 1) / apart <= edits;
        match if is_edited { kind } else { 9 } {
            0 => copy.push((code + 1) % 4),
            1 => {}
            2 => copy.extend([code, random.below(4) as u8]),
            3 => copy.push(if at % 2 == 0 { OTHER } else { (code + 1) % 4 }),
            4 => copy.extend(std::iter::repeat_n(OTHER, 1 + random.below(3))),
            _ => copy.push(code),
        }
    }
    if random.below(2) == 0 {
        let (cut, end) = (random.below(12), random.below(12).min(copy.len()));
        copy.iter_mut().take(cut).for_each(|code| *code = random.below(4) as u8);
        copy.truncate(copy.len() - end);
    }
    copy
}

/// One strand of the targets may be a single window for a query of the same length. Hits are still found at a level if
/// the estimate of the score is too high, or if the threshold for further hits is below it.
#[test]
fn queries_as_long_as_their_target_are_not_searched_in_full() {
    let mut random = Random::new(77);
    for (every, max_hits) in [(5000, 1), (500, 1), (100, 3)] {
        let target = random.codes(60_000, 4);
        let query = random.mutated_codes(&target[1_000..58_000], 4, every);
        let queries = [&query[..], &reversed(&query)];
        let batch = batches::of(queries, [&target[..]], Scoring::dna(2, 4, 4, 2));
        let case = Case { batch, layout: PairLayout { strands: Strands::Both, meets: Meets::All } };
        let filter = Filter::by_index(&case.batch.targets, &case.batch.scoring, 2).expect("DNA");
        let rules = Rules { min_score: 100, secondary_ppm: 800_000, max_hits, ..Rules::BEST };
        let (expected, _) = case.find(rules, None);
        let (found, some) = case.find(rules, Some(&filter));
        assert_eq!(found, expected, "an error in {every}");
        // One strand is searched, or twice if the estimate was too high.
        let most = 2 * query.len() as u64 * target.len() as u64;
        assert!(some.remarks().whole == 0 && some.cells <= most, "an error in {every}: {some:?}");
    }
}

#[test]
fn regions_wait_where_there_is_no_room_for_them() {
    let case = Case::new(1);
    let Batch { targets, scoring, queries } = &case.batch;
    let filter = Filter::by_index(targets, scoring, case.layout.strands.count()).unwrap();
    let wanted: Vec<FilterRequest> = (0..case.layout.records(queries.len()) as u32)
        .filter_map(|record| {
            let len = case.batch.query(case.layout.query(record, Strand::Forward)).len();
            let level = filter.first(SeedKind::Index, len.into())?;
            Some(FilterRequest {
                record,
                level,
                least: level.least,
                spent: 0.0,
                is_last: false,
                enough: None,
                first: None,
            })
        })
        .collect();
    // One thread, so that only one query can begin before any regions exist.
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let regions =
        |room| threads.install(|| filter.regions(&case.batch, &case.layout, &wanted, room)).unwrap();
    let all = regions(usize::MAX);
    let count = |opened: &FilterAnswer| match opened {
        FilterAnswer::Regions { regions, .. } => regions.len(),
        _ => 0,
    };
    let of = |opened: &[FilterAnswer]| opened.iter().map(count).sum::<usize>();
    let largest = all.iter().map(count).max().unwrap();
    assert!(all.iter().all(|opened| *opened != FilterAnswer::Later) && of(&all) > 3 * largest + 10);
    for room in [0, 1, 10] {
        let some = regions(room);
        assert!(of(&some) < room + largest && of(&some) > 0, "room for {room}");
        assert!(some.iter().zip(&all).all(|(some, all)| *some == FilterAnswer::Later || some == all));
    }
}

#[test]
fn where_there_is_no_filter() {
    let case = Case::new(1);
    let few: Arc<Sequences> = Arc::new([&[0u8, 1, 2][..]].into_iter().collect());
    assert!(Filter::by_index(&few, &case.batch.scoring, 2).is_none());
    let matrix = Matrix::named("BLOSUM62").unwrap();
    let proteins = Scoring::matrix(Alphabet::Protein, matrix, 11, 1);
    assert!(Filter::by_index(&case.batch.targets, &Arc::new(proteins), 1).is_none());
}

/// A matrix with these scores of A, C, G and T (rows are query bases, columns target bases). Other codes score `other`.
fn matrix(bases: [[i8; 4]; 4], other: i8, open: i32, extend: i32) -> Scoring {
    let mut text = String::from("  A C G T N\n");
    for (row, scores) in "ACGT".chars().zip(bases) {
        let scores: Vec<String> = scores.iter().map(i8::to_string).collect();
        text.push_str(&format!("{row} {} {other}\n", scores.join(" ")));
    }
    text.push_str(&format!("N {other} {other} {other} {other} {other}\n"));
    let matrix = Matrix::from_text("test", &text, Alphabet::Dna).unwrap();
    Scoring::matrix(Alphabet::Dna, matrix, open, extend)
}

/// Scores with one value for matches and one for mismatches.
fn plain_matrix(match_: i8, mismatch: i8) -> [[i8; 4]; 4] {
    std::array::from_fn(|q| std::array::from_fn(|t| if q == t { match_ } else { -mismatch }))
}

/// A matrix in which T of a read scores `score` against C of a reference.
fn converting(score: i8) -> Scoring {
    let mut bases = plain_matrix(2, 4);
    bases[3][1] = score;
    matrix(bases, -4, 4, 2)
}

/// The same case with another scoring. `convert` changes the forward strand of the queries.
fn with_scoring(case: &Case, scoring: Scoring, mut convert: impl FnMut(u8) -> u8) -> Case {
    let Case { batch, layout } = case;
    let step = layout.strands.count() as usize;
    let mut queries = Sequences::default();
    for query in batch.queries.iter().step_by(step) {
        let query: Vec<u8> = query.iter().map(|&code| convert(code)).collect();
        queries.push(query.iter().copied());
        if step == 2 {
            queries.push(reversed(&query));
        }
    }
    let batch = Batch { queries: Arc::new(queries), scoring: Arc::new(scoring), ..batch.clone() };
    Case { batch, layout: *layout }
}

/// Gap costs of two pieces: minimap2's, costs that cross early, and a second piece that is always the cheaper one.
fn two_piece_scorings() -> [Scoring; 3] {
    let two = |scheme, (open, extend)| scoring(scheme).with_gap_piece(open, extend).expect("two pieces");
    [two((2, 4, 4, 2), (24, 1)), two((3, 5, 2, 6), (9, 1)), two((2, 6, 3, 7), (4, 2))]
}

/// Compares the hits of every filter with those without a filter. Returns the cells with a filter, and those without.
fn filters_agree(case: &Case, seed: u64) -> (u64, u64) {
    let Batch { targets, scoring, .. } = &case.batch;
    let strands = case.layout.strands.count();
    let scan =
        || Box::new(PatternFinder::new(targets, Box::new(SlicedScan::on(InstructionSet::best())), false));
    let filters = [
        Filter::by_index(targets, scoring, strands),
        Filter::by_scan(targets, scoring, strands, scan()),
        Filter::auto(targets, scoring, strands, scan(), None),
    ];
    assert!(filters[0].is_some() && filters[2].is_some(), "{scoring}");
    let mut cells = (0, 0);
    for (min_score, max_hits) in [(60, 1), (120, 3)] {
        let rules = Rules { min_score, secondary_ppm: 700_000, max_hits, ..Rules::BEST };
        let (expected, all) = case.find(rules, None);
        for filter in filters.iter().flatten() {
            let (found, some) = case.find(rules, Some(filter));
            assert_eq!(found, expected, "seed {seed}, {scoring}, {rules:?}");
            cells = (cells.0 + some.cells, cells.1 + all.cells);
        }
    }
    cells
}

#[test]
fn two_pieces_lose_nothing() {
    for (seed, two) in (0..).zip(two_piece_scorings().into_iter().cycle().take(9)) {
        let case = with_scoring(&Case::new(seed), two, |code| code);
        filters_agree(&case, seed);
    }
}

#[test]
fn matrices_of_dna_lose_nothing() {
    let transitions = [[2, -4, -1, -4], [-4, 2, -4, -1], [-1, -4, 2, -4], [-4, -1, -4, 2]];
    let uneven = [[5, -3, 1, -4], [-2, 7, -6, 0], [-1, -5, 4, -4], [-9, 3, -4, 6]];
    let scorings = [
        matrix(plain_matrix(5, 4), -2, 10, 1),
        matrix(plain_matrix(2, 4), -1, 4, 2),
        matrix(transitions, -4, 4, 2),
        matrix(uneven, -3, 8, 2),
        // N scores more than a mismatch: one less than a match, then the same as a match.
        matrix(plain_matrix(3, 4), 2, 6, 1),
        matrix(plain_matrix(2, 4), 2, 4, 2),
        converting(2),
        converting(1),
        converting(-3),
    ];
    let mut cells = (0, 0);
    for seed in 0..9 {
        let number = seed as usize % scorings.len();
        let mut random = Random::new(seed);
        let is_converting = number >= 6;
        let convert = |code| if is_converting && code == 1 && random.below(10) > 0 { 3 } else { code };
        let case = with_scoring(&Case::new(seed), scorings[number].clone(), convert);
        let (some, all) = filters_agree(&case, seed);
        cells = (cells.0 + some, cells.1 + all);
    }
    // Lookups and windows cost little compared with a full search, even if they do not help.
    assert!(cells.0 * 10 < cells.1 * 16, "{cells:?}");
    // With equal scores for all pairs, seeds cannot distinguish bases.
    let targets = &Case::new(1).batch.targets;
    let nothing = matrix([[1; 4]; 4], 1, 4, 2);
    assert!(Filter::by_index(targets, &Arc::new(nothing), 1).is_none());
}

/// If T and C are in one class, converted reads have seeds.
#[test]
fn converted_reads_are_narrowed_down() {
    let mut random = Random::new(5);
    let target = random.codes(60_000, 4);
    let mut queries = Sequences::default();
    for start in (0..50_000).step_by(1_000) {
        let read = random.mutated_codes(&target[start..start + 150], 4, 75);
        queries.push(read.iter().map(|&code| if code == 1 { 3 } else { code }));
    }
    let batch = Batch {
        queries: Arc::new(queries),
        targets: Arc::new([target.as_slice()].into_iter().collect()),
        scoring: Arc::new(converting(2)),
    };
    let case = Case { batch, layout: PairLayout { strands: Strands::Plus, meets: Meets::All } };
    let filter = Filter::by_index(&case.batch.targets, &case.batch.scoring, 1).expect("three classes");
    let rules = Rules { min_score: 100, secondary_ppm: 800_000, ..Rules::BEST };
    let (expected, all) = case.find(rules, None);
    let (found, some) = case.find(rules, Some(&filter));
    assert_eq!(found, expected);
    assert!(found.iter().all(|found| found.alignments[0].score > 200));
    assert!(some.cells * 2 < all.cells, "{} of {} cells", some.cells, all.cells);
}

/// The kind of edit that destroys a seed.
#[derive(Clone, Copy)]
enum Fault {
    Replaced,
    Deletion,
    Insertion,
    /// Deletes the last bases of a seed and the first bases of the next seed.
    Across,
}

/// A copy of `query[from..to]` in which every complete seed has `faults` edits.
fn spoilt(
    random: &mut Random,
    query: &[u8],
    (from, to): (usize, usize),
    (seed, faults): (usize, usize),
    fault: Fault,
) -> Vec<u8> {
    let mut copy: Vec<Option<u8>> = query[from..to].iter().copied().map(Some).collect();
    let mut extra = Vec::new();
    let inside: Vec<usize> =
        (0..query.len() / seed).map(|k| k * seed).filter(|&k| k >= from && k + seed <= to).collect();
    for (number, &start) in inside.iter().enumerate() {
        // Not at the ends of the seed, where a local alignment could end before the edit.
        let at = start - from + 1 + random.below(seed - 1 - faults);
        match fault {
            Fault::Replaced => copy[at..at + faults]
                .iter_mut()
                .for_each(|code| *code = code.map(|code| (code + 1 + random.below(3) as u8) % 4)),
            Fault::Deletion => extra.extend((0..faults).map(|_| (at, random.below(4) as u8))),
            Fault::Insertion => copy[at..at + faults].fill(None),
            Fault::Across if number % 2 == 1 => {
                copy[start - from - faults..start - from + faults].fill(None);
            }
            Fault::Across if number + 1 == inside.len() => copy[at..at + faults].fill(None),
            Fault::Across => {}
        }
    }
    let extra = |at: usize| extra.iter().filter(move |extra| extra.0 == at).map(|extra| extra.1);
    copy.iter().enumerate().flat_map(|(at, &code)| extra(at).chain(code)).collect()
}

/// Number of complete seeds of the query that the alignment contains with at most `most` edits.
fn held(alignment: &Alignment, query: &[u8], target: &[u8], seed: usize, most: usize) -> usize {
    let (mut q, mut t) = (alignment.query_start as usize, alignment.target_start as usize);
    // Number of aligned bases and edits of each seed.
    let mut seeds = vec![(0, 0); query.len() / seed + 1];
    for &(len, op) in &alignment.cigar {
        for _ in 0..len {
            let own = &mut seeds[q / seed];
            match op {
                PathOp::Match => *own = (own.0 + 1, own.1 + usize::from(query[q] != target[t])),
                PathOp::Insertion => *own = (own.0 + 1, own.1 + 1),
                // A deletion between two seeds does not count for either.
                PathOp::Deletion => own.1 += usize::from(q % seed != 0),
            }
            q += usize::from(op != PathOp::Deletion);
            t += usize::from(op != PathOp::Insertion);
        }
    }
    seeds.iter().filter(|&&(letters, edits)| letters == seed && edits <= most).count()
}

#[test]
fn alignments_that_score_enough_hold_a_seed() {
    let mut random = Random::new(7);
    // Numbers of alignments without seeds whose score is one below the bound, and of alignments with seeds.
    let (mut tight, mut with_seeds) = (0, 0);
    for scoring in SCHEMES.map(scoring).into_iter().chain(two_piece_scorings()) {
        for (len, seed, edits) in [
            (150, 11, 0),
            (150, 13, 0),
            (150, 20, 0),
            (100, 8, 0),
            (60, 7, 0),
            (30, 9, 0),
            (251, 16, 0),
            (64, 32, 0),
            (150, 15, 1),
            (150, 20, 2),
            (100, 25, 3),
            (60, 12, 1),
        ] {
            let Some(seeds) = SeedScores::new(len, seed, edits, &scoring) else { continue };
            for round in 0..60 {
                let query = random.codes(len, 4);
                let fault = [Fault::Replaced, Fault::Deletion, Fault::Insertion, Fault::Across][round % 4];
                // The whole query, or a part that starts one base after the start of a seed.
                let from = if round < 20 { 0 } else { 1 + seed * random.below(len / seed / 2 + 1) };
                let to = len - if round < 40 { 0 } else { random.below(len / 4) };
                let [before, behind] = [(); 2].map(|()| random.pick(&[0, 5, 40]));
                let mut target = random.codes(before, 4);
                target.extend(spoilt(&mut random, &query, (from.min(to), to), (seed, edits + 1), fault));
                target.extend(random.codes(behind, 4));
                let Some(found) = best(&query, &target, &scoring) else { continue };
                let count = held(&found, &query, &target, seed, edits);
                assert!(
                    found.score <= seeds.most_score(count),
                    "{scoring}: {count} seeds of {seed} with {edits} edits in {len}, {found:?}"
                );
                assert!(count > 0 || found.score < seeds.least_score());
                tight += usize::from(count == 0 && found.score + 1 == seeds.least_score());
                with_seeds += usize::from(count > 0);
            }
        }
    }
    assert!(tight > 20 && with_seeds > 20, "{tight} {with_seeds}");
}

/// Runs of ambiguous codes in targets and queries raise the bound by no more than their allowance.
#[test]
fn alignments_over_ambiguous_codes_hold_a_seed() {
    let mut random = Random::new(8);
    // Numbers of alignments without seeds that score more than the bound for bases, or as much as the bound for runs.
    let (mut above, mut tight) = (0, 0);
    for (number, scheme) in SCHEMES.into_iter().enumerate() {
        for (len, seed, edits) in
            [(150, 14, 0), (150, 11, 0), (100, 20, 0), (60, 6, 0), (30, 9, 0), (150, 15, 1), (100, 25, 3)]
        {
            for round in 0..120 {
                let scoring = match round % 4 {
                    0 => scoring(scheme).with_iupac(),
                    1 => scoring(scheme).with_ambiguous(0),
                    _ => scoring(scheme).with_ambiguous(1),
                };
                let Some(seeds) = SeedScores::new(len, seed, edits, &scoring) else { continue };
                let mut query = random.codes(len, 4);
                let mut copy: Vec<Option<u8>> = query.iter().copied().map(Some).collect();
                let mut extra = vec![0; len];
                // One run for each seed, or for every second border between two seeds.
                let at_borders = round % 3 == 0;
                let runs = if at_borders { &[2, 2, 2, 3, 4][..] } else { &[1, 1, 2, 3, 12] };
                let runs = &runs[..random.pick(&[1, 2, runs.len()])];
                for start in (0..len - seed).step_by(if at_borders { 2 * seed } else { seed }) {
                    let run = random.pick(runs);
                    let place =
                        if at_borders { start + seed - 1 } else { start + 1 + random.below(seed - 1) };
                    match random.below(12) {
                        // Further codes of the run, which are deleted.
                        0 => extra[place] = random.pick(&[1, 2, 9]),
                        // A base inside the run, which is inserted.
                        1 => copy.iter_mut().skip(place + 1).take(1).for_each(|code| *code = None),
                        _ => {}
                    }
                    let is_in_query = random.below(4) == 0;
                    for at in place..(place + run).min(len) {
                        match is_in_query {
                            true => query[at] = OTHER,
                            false => copy[at] = copy[at].map(|_| OTHER),
                        }
                    }
                }
                let mut target = random.codes(20, 4);
                for (code, extra) in copy.into_iter().zip(extra) {
                    target.extend(code);
                    target.extend(vec![OTHER; extra]);
                }
                target.extend(random.codes(20, 4));
                let Some(found) = best(&query, &target, &scoring) else { continue };
                let count = held(&found, &query, &target, seed, edits);
                // More copies than dense stretches can hold. No window reaches two copies.
                let with_space = [&target[..], &[0; 60]].concat();
                let copies = with_space.repeat(10_000 / target.len());
                let more = TargetRuns::of(&copies, &scoring).map_or(Some(0), |runs| {
                    allowance(QueryShape::of(&query), (&runs, target.len()), (seed, edits), &scoring)
                });
                let most = seeds.most_score(count).saturating_add(more.expect("a proof"));
                assert!(
                    found.score <= most,
                    "{number} {round}: {count} seeds of {seed} with {edits} edits in {len}, {most}, {found:?}"
                );
                above += usize::from(count == 0 && found.score >= seeds.least_score());
                tight += usize::from(count == 0 && found.score >= seeds.least_score() && found.score == most);
            }
        }
    }
    assert!(above > 100 && tight > 5, "{above} {tight}");
}

/// If the seeds carry little information, the filter still costs at most its share of a full search. Scored cells count
/// toward that share, and candidates are counted before they are looked at.
#[test]
fn what_tells_little_is_searched_in_full_at_once() {
    let mut random = Random::new(11);
    let repeat = |random: &mut Random, unit: usize, len: usize| -> Vec<u8> {
        random.codes(unit, 4).into_iter().cycle().take(len).collect()
    };
    let mut inputs = vec![
        (vec![vec![1; 3000]], vec![vec![1; 3000]]),
        (vec![vec![0; 150]; 30], vec![vec![0; 20_000]]),
        (vec![vec![OTHER; 150]; 30], vec![vec![OTHER; 20_000]]),
    ];
    for unit in [2, 3, 10, 171] {
        let target = repeat(&mut random, unit, 6000);
        let query = random.mutated_codes(&target[..3000], 4, 12);
        inputs.push((vec![query], vec![random.mutated_codes(&target, 4, 12)]));
    }
    let gene = random.codes(1500, 4);
    let copies = (0..40).map(|_| random.mutated_codes(&gene, 4, 50)).collect();
    inputs.push(((0..30).map(|at| gene[at * 40..at * 40 + 150].to_vec()).collect(), copies));
    let rules = Rules { min_score: 20, secondary_ppm: 800_000, max_hits: 2, ..Rules::BEST };
    for (number, (queries, targets)) in inputs.into_iter().enumerate() {
        let mut oriented = Sequences::default();
        for query in &queries {
            oriented.push(query.iter().copied());
            oriented.push(reversed(query));
        }
        let batch = batches::of(oriented, &targets, scoring(SCHEMES[0]));
        let case = Case { batch, layout: PairLayout { strands: Strands::Both, meets: Meets::All } };
        let Batch { targets, scoring, .. } = &case.batch;
        let (expected, all) = case.find(rules, None);
        let scan = || Box::new(ByDefinition(Arc::clone(targets)));
        let filters = [
            Filter::by_index(targets, scoring, 2).unwrap(),
            Filter::by_scan(targets, scoring, 2, scan()).unwrap(),
            Filter::auto(targets, scoring, 2, scan(), None).unwrap(),
        ];
        for (kind, filter) in filters.iter().enumerate() {
            let (found, some) = case.find(rules, Some(filter));
            assert_eq!(found, expected, "input {number}, filter {kind}");
            // Further hits are searched with windows in the same way as without a filter.
            assert!(
                some.cells * 3 <= all.cells * 5,
                "input {number}, filter {kind}: {} of {}",
                some.cells,
                all.cells
            );
        }
    }
}

/// Finds the ends of seeds by definition. A seed has too many ends if there is more than one per 64 bases.
struct ByDefinition(Arc<Sequences>);

impl SeedScan for ByDefinition {
    fn scan(&self, seeds: &[&[u8]], edits: usize, ends: &mut dyn SeedEnds) -> Result<(), EngineError> {
        for (place, seed) in (0..).zip(seeds) {
            let mut found = Vec::new();
            for (target, codes) in (0..).zip(self.0.iter()) {
                // Sellers' recurrence, column by column.
                let mut column: Vec<usize> = (0..=seed.len()).collect();
                for (end, &letter) in (1..).zip(codes) {
                    let mut diagonal = column[0];
                    for (row, &code) in (1..).zip(*seed) {
                        let matches = code == letter || code >= 4;
                        let here =
                            (diagonal + usize::from(!matches)).min(column[row] + 1).min(column[row - 1] + 1);
                        diagonal = std::mem::replace(&mut column[row], here);
                    }
                    if column[seed.len()] <= edits {
                        found.push(SeedEnd { seed: place, target, end });
                    }
                }
            }
            match ends.wants(place) {
                true if found.len() > self.0.codes().len() / 64 => ends.too_many(place),
                true => ends.take(&found),
                false => {}
            }
        }
        Ok(())
    }
}

/// Hits are also the same if seeds are found by a scan, or by a filter that starts with a scan and builds its index
/// later.
#[test]
fn hits_are_those_without_a_filter_where_seeds_are_scanned_for() {
    let (mut cells, mut fewer) = (0, 0);
    for seed in 100..102 {
        let case = Case::new(seed);
        let Batch { targets, scoring, .. } = &case.batch;
        let scan = || Box::new(ByDefinition(Arc::clone(targets)));
        let strands = case.layout.strands.count();
        let by_scan = Filter::by_scan(targets, scoring, strands, scan()).unwrap();
        // An index without cost is built at once. A very expensive index is never built.
        let costs = |indexed| FilterCosts { indexed, ..FilterCosts::default() };
        let auto = |indexed| {
            let filter = Filter::auto(targets, scoring, strands, scan(), None).unwrap();
            filter.with_costs(costs(indexed))
        };
        let (at_once, never) = (auto(0.0), auto(1e30));
        let rules = Rules {
            min_score: 20 * scoring.max_potential(),
            secondary_ppm: 700_000,
            max_hits: 2,
            ..Rules::BEST
        };
        let (expected, all) = case.find(rules, None);
        for filter in [&by_scan, &at_once, &never] {
            let (found, some) = case.find(rules, Some(filter));
            assert_eq!(found, expected, "seed {seed}, {scoring}");
            (cells, fewer) = (cells + all.cells, fewer + some.cells);
        }
        assert_eq!(at_once.kind(&case.batch, &case.layout), SeedKind::Index);
        assert_eq!(never.kind(&case.batch, &case.layout), SeedKind::Scan);
    }
    assert!(fewer * 20 < cells * 19, "{fewer} of {cells}");
}
