//! Long queries are searched on the targets that support them, or in their boxes (docs/algorithm.md, section 24),
//! independently of the filter and the engine.
//!
//! The definition is computed without the crate's search for runs and boxes. The plain engine finds the best alignment
//! of a piece, and gets only that piece as input.

use crate::common::batches::{self, reversed};
use crate::common::random::Random;
use std::sync::Arc;
use swalign::align::candidates::filter::Filter;
use swalign::align::candidates::{IndexShape, Meets, PairLayout};
use swalign::align::hits::{self, Effort, Rules, SearchInput, Tiers};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::plain::Plain;
use swalign::terms::alignment::{Alignment, QueryResult, Strand, Strands, Tier};
use swalign::terms::batch::{Batch, Sequences};
use swalign::terms::scoring::Scoring;

const ANCHOR: usize = 19;
const LONG: usize = 400;
const REACH: u32 = 500;
const NEAR: u32 = 250;
const BOTH: PairLayout = PairLayout { strands: Strands::Both, meets: Meets::All };

fn batch(queries: &[Vec<u8>], targets: &[Vec<u8>], scoring: &Scoring) -> Batch {
    let both: Vec<Vec<u8>> = queries.iter().flat_map(|query| [query.clone(), reversed(query)]).collect();
    batches::of(&both, targets, scoring.clone())
}

/// A query of random bases that contains pieces of the targets.
fn query(random: &mut Random, targets: &[Vec<u8>]) -> Vec<u8> {
    let mut query = Vec::new();
    let (pieces, longest) = random.pick(&[(0, 100), (1, 300), (2, 250), (3, 200), (1, 2_000), (1, 60)]);
    for _ in 0..pieces {
        let len = random.below(1_000);
        query.extend(random.codes(len, 4));
        let target = &targets[random.below(targets.len())];
        let len = (30 + random.below(longest)).min(target.len() - 1);
        let start = random.below(target.len() - len);
        let every = random.pick(&[100, 40, 25, 12]);
        let piece = random.mutated_codes(&target[start..start + len], 4, every);
        query.extend(if random.below(2) == 0 { reversed(&piece) } else { piece });
    }
    let len = random.pick(&[LONG, LONG, 1_500, 3_000]);
    query.extend(random.codes(len, 4));
    query
}

type Rectangle = (Strand, u32, (u32, u32), (u32, u32));

/// The boxes around all runs that reach the score, found by comparing all diagonals. Second, the rows near runs, with
/// their targets.
fn boxes(batch: &Batch, record: u32, least: i32) -> (Vec<Rectangle>, Vec<(u32, u32, u32)>) {
    let (mut boxes, mut near): (Vec<Rectangle>, Vec<(u32, u32, u32)>) = (Vec::new(), Vec::new());
    let rows = batch.query(BOTH.query(record, Strand::Forward)).len() as u32;
    for &strand in BOTH.orientations() {
        let query = batch.query(BOTH.query(record, strand));
        for number in 0..batch.targets.len() as u32 {
            let target = batch.target(number);
            let equal = |i: usize, j: usize| query[i] < 4 && query[i] == target[j];
            for (row, &base) in query.iter().enumerate() {
                for (column, &other) in target.iter().enumerate() {
                    if base != other || base >= 4 || (row > 0 && column > 0 && equal(row - 1, column - 1)) {
                        continue;
                    }
                    let most = (query.len() - row).min(target.len() - column);
                    let len = (0..most).take_while(|&at| equal(row + at, column + at)).count();
                    if len < ANCHOR {
                        continue;
                    }
                    let (start, end) =
                        ((row as u32).saturating_sub(NEAR), (row as u32 + len as u32 + NEAR).min(rows));
                    near.push(match strand {
                        Strand::Forward => (number, start, end),
                        _ => (number, rows - end, rows - start),
                    });
                    let score = |i: usize, j: usize| batch.scoring.score(query[i], target[j]);
                    let side = |cells: &mut dyn Iterator<Item = (usize, usize)>| {
                        let (mut sum, mut best) = (0, 0);
                        for (i, j) in cells {
                            sum += score(i, j);
                            best = best.max(sum);
                            if best - sum >= least {
                                break;
                            }
                        }
                        best
                    };
                    let own: i32 = (0..len).map(|at| score(row + at, column + at)).sum();
                    let before = side(&mut (1..=row.min(column)).map(|at| (row - at, column - at)));
                    let after = side(&mut (len..most).map(|at| (row + at, column + at)));
                    if own + before + after >= least {
                        let reach = |start: usize, most: usize| {
                            let end = start as u32 + len as u32 + REACH;
                            ((start as u32).saturating_sub(REACH), end.min(most as u32))
                        };
                        boxes.push((strand, number, reach(row, query.len()), reach(column, target.len())));
                    }
                }
            }
        }
    }
    (joined(boxes), near)
}

/// The boxes around the supported runs of a query on large references, found by comparing all diagonals.
fn supported_boxes(batch: &Batch, record: u32) -> Vec<Rectangle> {
    let mut boxes: Vec<Rectangle> = Vec::new();
    for &strand in BOTH.orientations() {
        let query = batch.query(BOTH.query(record, strand));
        let (bases, reach) = (query.len().div_ceil(16), (query.len() / 8).max(REACH as usize));
        let apart = (query.len() / 40).max(100);
        for number in 0..batch.targets.len() as u32 {
            let target = batch.target(number);
            let equal = |i: usize, j: usize| query[i] < 4 && query[i] == target[j];
            let mut runs = Vec::new();
            for (row, &base) in query.iter().enumerate() {
                for (column, &other) in target.iter().enumerate() {
                    if base == other && base < 4 && (row == 0 || column == 0 || !equal(row - 1, column - 1)) {
                        let most = (query.len() - row).min(target.len() - column);
                        let len = (0..most).take_while(|&at| equal(row + at, column + at)).count();
                        runs.extend((len >= ANCHOR).then_some((row, column, len)));
                    }
                }
            }
            for &(row, column, len) in &runs {
                let is_near = |&&(i, j, _): &&(usize, usize, usize)| (j + row).abs_diff(i + column) <= apart;
                if runs.iter().filter(is_near).map(|&(_, _, len)| len).sum::<usize>() >= bases {
                    let around = |start: usize, most: usize| {
                        (start.saturating_sub(reach) as u32, (start + len + reach).min(most) as u32)
                    };
                    boxes.push((strand, number, around(row, query.len()), around(column, target.len())));
                }
            }
        }
    }
    joined(boxes)
}

/// Merges boxes that share cells, until no two boxes do.
fn joined(mut boxes: Vec<Rectangle>) -> Vec<Rectangle> {
    let share = |one: (u32, u32), other: (u32, u32)| one.0 < other.1 && other.0 < one.1;
    let join = |one: (u32, u32), other: (u32, u32)| (one.0.min(other.0), one.1.max(other.1));
    'again: loop {
        for one in 0..boxes.len() {
            for other in 0..one {
                let (a, b) = (boxes[one], boxes[other]);
                if (a.0, a.1) == (b.0, b.1) && share(a.2, b.2) && share(a.3, b.3) {
                    boxes[other] = (a.0, a.1, join(a.2, b.2), join(a.3, b.3));
                    boxes.swap_remove(one);
                    continue 'again;
                }
            }
        }
        return boxes;
    }
}

/// The targets that support a record.
fn supporting(batch: &Batch, record: u32, boxes: &[Rectangle], near: &[(u32, u32, u32)]) -> Vec<u32> {
    let len = batch.query(BOTH.query(record, Strand::Forward)).len();
    let supports = |&number: &u32| {
        let is_near = |&row: &u32| near.iter().any(|own| own.0 == number && (own.1..own.2).contains(&row));
        let count = (0..len as u32).filter(is_near).count();
        boxes.iter().any(|own| own.1 == number) && count >= len.min(batch.target(number).len()).div_ceil(2)
    };
    (0..batch.targets.len() as u32).filter(supports).collect()
}

/// The best alignment of a piece.
fn best(query: &[u8], target: &[u8], scoring: &Scoring) -> Option<Alignment> {
    let batch = batches::of([query], [target], scoring.clone());
    let scope =
        SearchInput::new(&batch, PairLayout { strands: Strands::Plus, meets: Meets::All }, Rules::BEST);
    hits::find(&mut Plain::new(), &scope, &mut Effort::default())
        .unwrap()
        .remove(0)
        .alignments
        .into_iter()
        .next()
}

/// The hits within boxes in order, and the score of the second hit.
fn in_boxes(batch: &Batch, record: u32, boxes: &[Rectangle], rules: &Rules) -> (Vec<Alignment>, Option<i32>) {
    let mut regions = boxes.to_vec();
    let (mut hits, mut second): (Vec<Alignment>, Option<i32>) = (Vec::new(), None);
    loop {
        let of_region = |&(strand, number, rows, columns): &Rectangle| {
            let query = &batch.query(BOTH.query(record, strand))[rows.0 as usize..rows.1 as usize];
            let target = &batch.target(number)[columns.0 as usize..columns.1 as usize];
            best(query, target, &batch.scoring).map(|own| Alignment {
                strand,
                target: number,
                query_start: own.query_start + rows.0,
                query_end: own.query_end + rows.0,
                target_start: own.target_start + columns.0,
                target_end: own.target_end + columns.0,
                ..own
            })
        };
        let order = |own: &Alignment| (-own.score, own.strand, own.target, own.target_end, own.query_end);
        let Some(hit) = regions.iter().filter_map(of_region).min_by_key(order) else { break };
        let threshold = hits.first().map_or(rules.min_score, |first| rules.threshold(first.score));
        if hit.score < threshold {
            break;
        }
        if hits.len() == 1 {
            second = second.or(Some(hit.score));
        }
        if hits.len() >= rules.max_hits {
            break;
        }
        let cut = |(strand, target, rows, (start, end)): Rectangle| {
            if (strand, target) != (hit.strand, hit.target)
                || end <= hit.target_start
                || hit.target_end <= start
            {
                return vec![(strand, target, rows, (start, end))];
            }
            let pieces = [(start, end.min(hit.target_start)), (start.max(hit.target_end), end)];
            pieces
                .into_iter()
                .filter(|piece| piece.0 < piece.1)
                .map(|piece| (strand, target, rows, piece))
                .collect()
        };
        regions = regions.into_iter().flat_map(cut).collect();
        hits.push(hit);
    }
    (hits, second)
}

/// The hits on some targets, which are searched without the others.
fn on_targets(batch: &Batch, record: u32, targets: &[u32], rules: Rules) -> QueryResult {
    let queries: Sequences = BOTH.queries(record).map(|query| batch.query(query)).collect();
    let own: Sequences = targets.iter().map(|&target| batch.target(target)).collect();
    let alone = Batch { queries: Arc::new(queries), targets: Arc::new(own), ..batch.clone() };
    let scope = SearchInput::new(&alone, BOTH, rules);
    let mut found = hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap().remove(0);
    found.alignments.iter_mut().for_each(|own| own.target = targets[own.target as usize]);
    found
}

fn find(
    engine: &mut dyn Engine,
    batch: &Batch,
    tiers: &Tiers,
    rules: Rules,
    filter: Option<&Filter>,
) -> Vec<QueryResult> {
    let portion = if filter.is_some() { 5 } else { hits::PORTION };
    let scope = SearchInput { filter, portion, tiers: Some(tiers), ..SearchInput::new(batch, BOTH, rules) };
    hits::find(engine, &scope, &mut Effort::default()).unwrap()
}

#[test]
fn long_queries_are_searched_as_their_definition_says() {
    let mut counts = [0; 3];
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let mut targets: Vec<Vec<u8>> = [5_000, 4_000, 700].map(|len| random.codes(len, 4)).into();
        // A copy of a part of the first target, so that queries have several hits.
        let repeat = random.mutated_codes(&targets[0][1_000..1_400], 4, 30);
        targets[1].splice(500..900, repeat);
        let queries: Vec<Vec<u8>> = (0..16).map(|_| query(&mut random, &targets)).collect();
        let minimap2 = Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1).unwrap();
        let scoring =
            [Scoring::dna(2, 4, 4, 2), Scoring::dna(1, 4, 6, 1), minimap2][seed as usize % 3].clone();
        let least = 30 * scoring.max_potential();
        let batch = batch(&queries, &targets, &scoring);
        let (max_hits, secondary_ppm) = [(1, 800_000), (4, 300_000)][seed as usize / 2];
        let rules = Rules { max_hits, secondary_ppm, min_score: least, ..Rules::BEST };
        let tiers = Tiers::of_lengths(ANCHOR as u32, least, vec![least; LONG]).with_long(LONG);
        let filter = Filter::by_index(&batch.targets, &batch.scoring, 2);
        let found = find(&mut Cpu::new(), &batch, &tiers, rules, None);
        assert_eq!(found, find(&mut Cpu::new(), &batch, &tiers, rules, filter.as_ref()), "seed {seed}");
        let boxed = find(&mut Cpu::new(), &batch, &tiers.clone().boxed(), rules, None);
        for (record, (found, boxed)) in (0..).zip(found.iter().zip(&boxed)) {
            let (boxes, near) = boxes(&batch, record, least);
            let supporting = supporting(&batch, record, &boxes, &near);
            let (hits, second) = in_boxes(&batch, record, &boxes, &rules);
            let of = |own: &QueryResult| (own.alignments.clone(), own.second);
            assert_eq!(of(boxed), (hits.clone(), second), "seed {seed}, record {record} in boxes");
            if !supporting.is_empty() {
                let expected = on_targets(&batch, record, &supporting, rules);
                assert_eq!(of(found), of(&expected), "seed {seed}, record {record} on {supporting:?}");
                assert_eq!(found.tier, Tier::Proven);
                counts[0] += 1;
            } else if boxes.is_empty() {
                assert!(found.alignments.is_empty(), "seed {seed}, record {record}");
                counts[1] += 1;
            } else {
                assert_eq!(of(found), (hits, second), "seed {seed}, record {record}");
                assert_eq!(found.tier, Tier::Anchored);
                counts[2] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 8), "{counts:?}");
}

/// On large references, long queries have the hits of a search of everything from the proven score on, or else those in
/// the boxes of their supported runs.
#[test]
fn long_queries_on_large_references_are_searched_around_supported_runs() {
    let mut counts = [0; 4];
    for seed in 0..6 {
        let mut random = Random::new(100 + seed);
        let mut targets: Vec<Vec<u8>> = [5_000, 3_000, 700].map(|len| random.codes(len, 4)).into();
        let repeat = random.mutated_codes(&targets[0][1_000..2_400], 4, 30);
        targets[1].splice(500..900, repeat);
        let tandem: Vec<u8> = std::iter::repeat_n(random.codes(40, 4), 20).flatten().collect();
        targets[0].splice(4_800..4_900, tandem);
        let mut queries: Vec<Vec<u8>> = (0..4).map(|_| query(&mut random, &targets)).collect();
        // Queries that are similar to a target, with few edits or many, or with a gap.
        for every in [3_000, 1_000, 500, 200, 100, 15, 10] {
            let start = random.below(3_000);
            let len = LONG + random.below(1_600);
            let mut own = random.mutated_codes(&targets[0][start..start + len], 4, every);
            if random.below(4) == 0 {
                let at = random.below(own.len());
                let gap = 1 + random.below(700);
                own.splice(at..at, random.codes(gap, 4));
            }
            queries.push(if random.below(2) == 0 { reversed(&own) } else { own });
        }
        queries.push(random.codes(LONG, 4));
        let minimap2 = Scoring::dna(1, 4, 6, 2).with_gap_piece(26, 1).unwrap();
        let scorings = [Scoring::dna(2, 4, 4, 2), minimap2, Scoring::dna(1, 4, 6, 1).with_ambiguous(1)];
        let scoring = scorings[seed as usize % 3].clone();
        let least = 30 * scoring.max_potential();
        let batch = batch(&queries, &targets, &scoring);
        let (max_hits, secondary_ppm) = [(1, 800_000), (4, 300_000)][seed as usize / 3];
        let rules = Rules { max_hits, secondary_ppm, min_score: least, ..Rules::BEST };
        let tiers =
            Tiers::of_lengths(ANCHOR as u32, least, vec![least; LONG]).with_long(LONG).large(&scoring);
        let shape = IndexShape { letters: 8, step: 6 };
        let found = find(&mut Cpu::new(), &batch, &tiers, rules, None);
        for segment in [usize::MAX, 6_000, 503] {
            let filter = Filter::by_index_of(&batch.targets, &batch.scoring, 2, shape);
            let filter = filter.unwrap().with_segment(segment);
            assert_eq!(
                found,
                find(&mut Cpu::new(), &batch, &tiers, rules, Some(&filter)),
                "seed {seed}, {segment}"
            );
        }
        for (record, found) in (0..).zip(&found) {
            let case = format!("seed {seed}, record {record}");
            let boxes = supported_boxes(&batch, record);
            let (mut hits, mut second) = in_boxes(&batch, record, &boxes, &rules);
            let query = batch.query(BOTH.query(record, Strand::Forward));
            let proven = tiers.proven_long(query).expect("bases only");
            let all: Vec<u32> = (0..batch.targets.len() as u32).collect();
            let whole = on_targets(&batch, record, &all, Rules { min_score: proven, ..rules });
            if !whole.alignments.is_empty() {
                (hits, second) = (whole.alignments, whole.second);
                assert_eq!(found.tier, Tier::Proven, "{case}");
                counts[0] += 1;
            } else if hits.is_empty() {
                counts[1 + usize::from(boxes.is_empty())] += 1;
            } else {
                assert_eq!(found.tier, Tier::Anchored, "{case}");
                counts[3] += 1;
            }
            assert_eq!((&found.alignments, found.second), (&hits, second), "{case}");
        }
    }
    assert!(counts[0] > 8 && counts[2] > 8 && counts[3] > 8, "{counts:?}");
}

/// A substitution in each of many pieces of 32 bases: as many as the proven score permits, and one more.
#[test]
fn pieces_prove_long_queries_to_the_last_edit() {
    let scoring = Scoring::dna(1, 4, 6, 1);
    let tiers = Tiers::of_lengths(ANCHOR as u32, 30, vec![30; LONG]).with_long(LONG).large(&scoring);
    let rules = Rules { max_hits: 3, secondary_ppm: 800_000, min_score: 30, ..Rules::BEST };
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let len = 3_000 + random.below(64);
        // The first piece begins after 4 bases, and an eighth of the pieces must be intact.
        let pieces = (len - 8) / 32;
        let held = pieces.div_ceil(8);
        let own = random.codes(len, 4);
        let damaged = |count: usize, apart: usize| {
            let mut copy = own.clone();
            let numbers = (0..pieces).map(|number| number * apart % pieces).take(count);
            numbers.for_each(|number| copy[4 + 32 * number + 16] ^= 1);
            copy
        };
        for (damaged_pieces, tier) in [(pieces - held, Tier::Proven), (pieces - held + 1, Tier::Anchored)] {
            // A step without a common divisor spreads the damaged pieces.
            let apart =
                [1, pieces - 1, 7, 11].into_iter().filter(|&apart| common_divisor(apart, pieces) == 1);
            for apart in apart {
                let target =
                    [random.codes(700, 4), damaged(damaged_pieces, apart), random.codes(500, 4)].concat();
                let batch = batch(&[own.clone(), reversed(&own)], &[target], &scoring);
                let shape = IndexShape { letters: 8, step: 6 };
                let filter = Filter::by_index_of(&batch.targets, &batch.scoring, 2, shape);
                let filter = filter.map(|filter| filter.with_segment([1_000, usize::MAX][apart % 2]));
                let found = find(&mut Cpu::new(), &batch, &tiers, rules, filter.as_ref());
                assert_eq!(found, find(&mut Cpu::new(), &batch, &tiers, rules, None), "seed {seed}, {apart}");
                for found in &found {
                    assert_eq!(found.alignments[0].score as usize, len - 5 * damaged_pieces);
                    assert_eq!(found.tier, tier, "seed {seed}, {damaged_pieces} of {pieces}, {apart} apart");
                }
            }
        }
    }
}

fn common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// A score is proven if its loss is explained by few edits, and by fewer in queries with ambiguous codes.
#[test]
fn scores_that_pieces_and_boxes_prove() {
    let scoring = Scoring::dna(1, 4, 6, 2).with_gap_piece(26, 1).unwrap().with_ambiguous(1);
    let tiers = Tiers::of_lengths(ANCHOR as u32, 30, vec![30; LONG]).with_long(LONG).large(&scoring);
    let mut query = vec![0u8; 15_000];
    // 468 pieces of 32 bases, each of which loses 5 if it is damaged, and 59 are intact.
    assert_eq!(tiers.proven_long(&query), Some(15_000 - (468 - 58) * 5 + 1));
    // Boxes prove a query with ambiguous codes: without any it would be 14,611.
    query[5_000] = 14;
    let with_code = tiers.proven_long(&query).unwrap();
    assert!((14_612..14_621).contains(&with_code), "{with_code}");
    query.iter_mut().step_by(15).for_each(|code| *code = 14);
    assert_eq!(tiers.proven_long(&query), None);
    // Boxes prove lower scores of a short query than its pieces.
    let short = vec![0; 400];
    assert_eq!(
        (tiers.proven_long(&short), tiers.proven_by_pieces(&short)),
        (Some(311), Some(400 - 11 * 5 + 1))
    );
    let nanopore = Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1).unwrap();
    let tiers = Tiers::of_lengths(ANCHOR as u32, 60, vec![60; LONG]).with_long(LONG).large(&nanopore);
    assert_eq!(tiers.proven_long(&vec![0; 5_000]), Some(10_000 - (156 - 19) * 5 + 1));
}
