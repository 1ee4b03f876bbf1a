//! The two tiers of hits agree with their definition (docs/algorithm.md, section 24), whatever the filter and the
//! engine.
//!
//! This test computes the definition independently of the crate's search: a recurrence with a layer for alignments that
//! contain a run, over whole targets, and again over the parts that hits leave.

use crate::common::batches::{self, reversed};
use crate::common::random::Random;
use std::sync::Arc;
use swalign::align::candidates::filter::Filter;
use swalign::align::candidates::{IndexShape, Meets, PairLayout};
use swalign::align::hits::{self, Effort, Rules, SearchInput, Tiers};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::plain::Plain;
use swalign::patterns::search::finder::PatternFinder;
use swalign::patterns::search::sliced::SlicedScan;
use swalign::terms::alignment::{Alignment, PathOp, QueryResult, Strand, Strands, Tier};
use swalign::terms::batch::{Batch, Sequences};
use swalign::terms::scoring::Scoring;

const NONE: i32 = i32::MIN / 2;
const STRANDS: Strands = Strands::Both;

/// Score, strand, target, and end in the target and in the query of a hit.
type End = (i32, Strand, u32, u32, u32);

/// Returns the score of the best alignment with a run of `anchor` equal bases, or of any alignment if `anchor` is 0,
/// and the column and row of its end.
fn best(query: &[u8], target: &[u8], scoring: &Scoring, anchor: usize) -> Option<(i32, u32, u32)> {
    let (rows, columns) = (query.len() + 1, target.len() + 1);
    let at = |i: usize, j: usize| i * columns + j;
    let grid = |value: i32| vec![value; rows * columns];
    let (mut h, mut a, mut run) = (grid(0), grid(NONE), grid(0));
    // A piece of the gap costs has its own gaps.
    let pieces: Vec<(i32, i32)> = std::iter::once((scoring.gap_open, scoring.gap_extend))
        .chain(scoring.further_gaps.into_iter().flatten().map(|gap| (gap.open, gap.extend)))
        .map(|(open, extend)| (open + extend, extend))
        .collect();
    let gaps = || vec![grid(NONE); pieces.len()];
    let (mut e, mut f, mut d, mut g) = (gaps(), gaps(), gaps(), gaps());
    let mut best: Option<(i32, u32, u32)> = None;
    for j in 1..columns {
        for i in 1..rows {
            let (one, other) = (query[i - 1], target[j - 1]);
            let score = scoring.score(one, other);
            let is_equal = one == other && one < 4;
            let (mut gap, mut anchored_gap) = (NONE, NONE);
            let (here, left, above, diagonal) = (at(i, j), at(i, j - 1), at(i - 1, j), at(i - 1, j - 1));
            for (piece, &(first, extend)) in pieces.iter().enumerate() {
                let (e, f) = (&mut e[piece], &mut f[piece]);
                e[here] = (e[left] - extend).max(h[left] - first);
                f[here] = (f[above] - extend).max(h[above] - first);
                gap = gap.max(e[here]).max(f[here]);
                if anchor > 0 {
                    let (d, g) = (&mut d[piece], &mut g[piece]);
                    d[here] = (d[left] - extend).max(a[left] - first).max(NONE);
                    g[here] = (g[above] - extend).max(a[above] - first).max(NONE);
                    anchored_gap = anchored_gap.max(d[here]).max(g[here]);
                }
            }
            h[here] = 0.max(h[diagonal] + score).max(gap);
            run[here] = if is_equal { run[diagonal] + 1 } else { 0 };
            let enters = run[here] as usize >= anchor && anchor > 0;
            let entered = if enters { h[at(i - anchor, j - anchor)] + anchor as i32 * score } else { NONE };
            a[here] = (a[diagonal] + score).max(anchored_gap).max(entered).max(NONE);
            let value = if anchor == 0 { h[here] } else { a[here] };
            // Cells have the order of hits: by column, then by row.
            if value > best.map_or(0, |best| best.0) {
                best = Some((value, j as u32, i as u32));
            }
        }
    }
    best
}

struct Case {
    batch: Batch,
    layout: PairLayout,
    anchor: usize,
    least: i32,
    proven: Vec<i32>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let letters = random.pick(&[4, 4, 3]);
        let mut targets: Vec<Vec<u8>> = [1_500, 700, 60, 3].map(|len| random.codes(len, letters)).into();
        let repeat = targets[0][100..190].to_vec();
        for _ in 0..6 {
            let copy = random.mutated_codes(&repeat, 4, 14);
            let copy = if random.below(2) == 0 { reversed(&copy) } else { copy };
            let (target, at) = (random.below(2), random.below(600));
            targets[target].splice(at..at + 90, copy.into_iter().take(90).chain([0; 20]).take(90));
        }
        let anchor = random.pick(&[5, 7, 9, 12]);
        let mut queries = Sequences::default();
        for _ in 0..25 {
            let query = Case::query(&mut random, &targets);
            queries.push(query.iter().copied());
            queries.push(reversed(&query));
        }
        let (match_, mismatch, open, extend) =
            random.pick(&[(1, 4, 6, 1), (2, 4, 4, 2), (1, 1, 0, 2), (5, 4, 9, 1), (1, 2, 2, 1)]);
        let scoring = Scoring::dna(match_, mismatch, open, extend);
        let scoring = match random.below(3) {
            0 if extend > 1 => scoring.with_gap_piece(open + random.pick(&[1, 5, 20]), 1).unwrap(),
            _ => scoring,
        };
        let least = match_ * random.pick(&[9, 12, 15]);
        let share = random.pick(&[50, 65, 80]);
        let proven = (0..200).map(|len: i32| least.max(match_ * len * share / 100)).collect();
        let batch = batches::of(queries, &targets, scoring);
        Case { batch, layout: PairLayout { strands: STRANDS, meets: Meets::All }, anchor, least, proven }
    }

    /// Returns a read that partly comes from the targets, with more or fewer errors.
    fn query(random: &mut Random, targets: &[Vec<u8>]) -> Vec<u8> {
        let len = random.pick(&[0, 4, 12, 30, 60, 100, 150]);
        if random.below(8) == 0 {
            return random.codes(len, 4);
        }
        let target = &targets[random.below(2)];
        let start = random.below(target.len() - len);
        let every = random.pick(&[60, 20, 12, 8, 6, 5]);
        let drawn = random.mutated_codes(&target[start..start + len], 4, every);
        let own = random.below(drawn.len() + 1);
        let rest = if random.below(2) == 0 { 0 } else { drawn.len() - own };
        let mut query = drawn[..drawn.len() - rest].to_vec();
        query.extend(random.codes(rest, 4));
        if random.below(6) == 0 && !query.is_empty() {
            let at = random.below(query.len());
            query[at] = 14;
        }
        if random.below(2) == 0 { reversed(&query) } else { query }
    }

    fn tiers(&self) -> Tiers {
        Tiers::of_lengths(self.anchor as u32, self.least, self.proven.clone())
    }

    fn find(
        &self,
        engine: &mut dyn Engine,
        rules: Rules,
        filter: Option<&Filter>,
        portion: usize,
    ) -> Vec<QueryResult> {
        let tiers = self.tiers();
        let scope = SearchInput {
            filter,
            portion,
            tiers: Some(&tiers),
            ..SearchInput::new(&self.batch, self.layout, rules)
        };
        hits::find(engine, &scope, &mut Effort::default()).unwrap()
    }

    /// Returns the tier, the ends of the first hits in order, and the score of the second hit.
    fn by_definition(&self, record: u32, rules: &Rules) -> (Tier, Vec<End>, Option<i32>) {
        let Case { batch, layout, anchor, least, .. } = self;
        let len = batch.query(layout.query(record, Strand::Forward)).len();
        let proven = self.tiers().proven(&vec![0; len]).unwrap();
        for (anchor, min_score, tier) in [(0, proven, Tier::Proven), (*anchor, *least, Tier::Anchored)] {
            if tier == Tier::Anchored && proven <= *least {
                break;
            }
            let (mut ends, mut second) = (Vec::new(), None);
            // Intervals of the hits so far, with their strands and targets.
            let mut taken: Vec<(Strand, u32, u32, u32)> = Vec::new();
            let mut threshold = min_score;
            loop {
                let mut first: Option<(End, Strand, (u32, u32))> = None;
                for &strand in layout.orientations() {
                    let query = batch.query(layout.query(record, strand));
                    for number in 0..batch.targets.len() as u32 {
                        let target = batch.target(number);
                        let mut borders: Vec<(u32, u32)> = taken
                            .iter()
                            .filter(|own| (own.0, own.1) == (strand, number))
                            .map(|own| (own.2, own.3))
                            .collect();
                        borders.push((target.len() as u32, target.len() as u32));
                        borders.sort_unstable();
                        let mut from = 0;
                        for (start, end) in borders {
                            let piece = &target[from as usize..start as usize];
                            if let Some((score, column, row)) = best(query, piece, &batch.scoring, anchor) {
                                let own: End = (score, strand, number, from + column, row);
                                let key = |end: &End| (-end.0, end.1, end.2, end.3, end.4);
                                if first.as_ref().is_none_or(|first| key(&own) < key(&first.0)) {
                                    first = Some((own, strand, (from, start)));
                                }
                            }
                            from = end;
                        }
                    }
                }
                let Some((end, strand, piece)) = first.filter(|first| first.0.0 >= threshold) else { break };
                if ends.is_empty() {
                    threshold = rules_at(rules, min_score).threshold(end.0);
                } else if second.is_none() {
                    second = Some(end.0);
                }
                if ends.len() >= rules.max_hits {
                    break;
                }
                ends.push(end);
                let start = self.start(record, end, piece, anchor);
                taken.push((strand, end.2, start, end.3));
            }
            if !ends.is_empty() {
                return (tier, ends, second);
            }
        }
        (Tier::Proven, Vec::new(), None)
    }

    /// Returns the first column of the hit that ends there, from the crate's own path. Its score and its run are
    /// checked elsewhere.
    fn start(&self, record: u32, end: End, piece: (u32, u32), anchor: usize) -> u32 {
        let tiers = Tiers::of_lengths(anchor as u32, 1, vec![if anchor == 0 { 1 } else { i32::MAX }; 200]);
        let layout = PairLayout { strands: Strands::Plus, meets: Meets::All };
        let query = self.batch.query(self.layout.query(record, end.1));
        let queries: Sequences = [query].into_iter().collect();
        let target = &self.batch.target(end.2)[piece.0 as usize..end.3 as usize];
        let targets: Sequences = [target].into_iter().collect();
        let batch = Batch { queries: Arc::new(queries), targets: Arc::new(targets), ..self.batch.clone() };
        let scope = SearchInput { tiers: Some(&tiers), ..SearchInput::new(&batch, layout, Rules::BEST) };
        let found = hits::find(&mut Plain::new(), &scope, &mut Effort::default()).unwrap();
        let hit = &found[0].alignments[0];
        assert_eq!((hit.score, hit.target_end + piece.0, hit.query_end), (end.0, end.3, end.4));
        hit.target_start + piece.0
    }
}

fn rules_at(rules: &Rules, min_score: i32) -> Rules {
    Rules { min_score, ..*rules }
}

/// Returns the score of the path of an alignment, and whether it contains a run.
fn rescored(batch: &Batch, query: &[u8], hit: &Alignment, anchor: usize) -> (i32, bool) {
    let target = batch.target(hit.target);
    let (mut i, mut j, mut score) = (hit.query_start as usize, hit.target_start as usize, 0);
    let (mut run, mut has_run) = (0, false);
    for &(len, op) in &hit.cigar {
        let gap = batch.scoring.gap_cost(len as usize) as i32;
        if op != PathOp::Match {
            (score, run) = (score - gap, 0);
        }
        match op {
            PathOp::Insertion => i += len as usize,
            PathOp::Deletion => j += len as usize,
            PathOp::Match => {
                for _ in 0..len {
                    score += batch.scoring.score(query[i], target[j]);
                    run = if query[i] == target[j] && query[i] < 4 { run + 1 } else { 0 };
                    has_run |= run >= anchor;
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
    }
    assert_eq!((i as u32, j as u32), (hit.query_end, hit.target_end));
    (score, has_run)
}

#[test]
fn tiers_are_those_of_their_definition() {
    let mut of_tier = [0; 3];
    for seed in 0..20 {
        let case = Case::new(seed);
        let max_hits = [1, 1, 3, 8][seed as usize % 4];
        let secondary_ppm = [800_000, 0, 500_000][seed as usize % 3];
        let rules = Rules { max_hits, secondary_ppm, ..Rules::BEST };
        let Batch { targets, scoring, .. } = &case.batch;
        let by_index = Filter::by_index(targets, scoring, STRANDS.count());
        let finder = PatternFinder::new(targets, Box::new(SlicedScan::on(InstructionSet::best())), false);
        let by_scan = Filter::by_scan(targets, scoring, STRANDS.count(), Box::new(finder));
        let found = case.find(&mut Cpu::new(), rules, None, hits::PORTION);
        // Each run contains a k-mer of the index.
        let shape = IndexShape { letters: case.anchor as u32 - 1, step: 2 };
        assert_eq!(shape.least_seed(), case.anchor);
        let sampled = Filter::by_index_of(targets, scoring, STRANDS.count(), shape);
        assert!(sampled.is_some());
        let segmented = Filter::by_index_of(targets, scoring, STRANDS.count(), shape);
        let segmented = segmented.map(|filter| filter.with_segment(targets.codes().len() / 3));
        for (name, other) in [
            ("plain", case.find(&mut Plain::new(), rules, None, 7)),
            ("index", case.find(&mut Cpu::new(), rules, by_index.as_ref(), 40)),
            ("sampled", case.find(&mut Cpu::new(), rules, sampled.as_ref(), 40)),
            ("segmented", case.find(&mut Cpu::new(), rules, segmented.as_ref(), 40)),
            ("scan", case.find(&mut Cpu::new(), rules, by_scan.as_ref(), hits::PORTION)),
        ] {
            for (record, (one, other)) in found.iter().zip(&other).enumerate() {
                assert_eq!(one, other, "seed {seed}, {name}, record {record}");
            }
        }
        for (record, found) in (0..).zip(&found) {
            let (tier, ends, second) = case.by_definition(record, &rules);
            let hits: Vec<End> = found
                .alignments
                .iter()
                .map(|hit| (hit.score, hit.strand, hit.target, hit.target_end, hit.query_end))
                .collect();
            assert_eq!(hits, ends, "seed {seed}, record {record}");
            if ends.is_empty() {
                of_tier[2] += 1;
                continue;
            }
            assert_eq!((found.tier, found.second), (tier, second), "seed {seed}, record {record}, {found:?}");
            of_tier[usize::from(tier == Tier::Anchored)] += 1;
            for hit in &found.alignments {
                let query = case.batch.query(case.layout.query(record, hit.strand));
                let (score, has_run) = rescored(&case.batch, query, hit, case.anchor);
                assert_eq!(score, hit.score, "seed {seed}, record {record}");
                assert!(has_run || tier == Tier::Proven, "seed {seed}, record {record}");
            }
        }
    }
    assert!(of_tier.iter().all(|&count| count > 30), "{of_tier:?}");
}
