//! Hits, mates and split reads on a circle do not depend on its rotation.

use super::*;
use std::cmp::Reverse;
use swalign::align::candidates::filter::Filter;
use swalign::align::hits::{self, Effort, Rules, SearchInput};
use swalign::align::pairing::{self, Pairing};
use swalign::align::split::{self, Splitting};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::plain::Plain;
use swalign::terms::alignment::{Alignment, QueryResult};
use swalign::terms::batch::Pair;
use swalign::terms::insert::{InsertSize, Orientation};

const RULES: Rules = Rules { min_score: 20, secondary_ppm: 500_000, max_hits: 3, ..Rules::BEST };

/// The circle rotated by `by` bases: its first bases are moved to its end.
fn turned(circle: &[u8], by: usize) -> Vec<u8> {
    round(circle, by, circle.len())
}

fn find(batch: &Batch, rules: Rules, filter: Option<&Filter>) -> Vec<QueryResult> {
    let scope = SearchInput { filter, ..SearchInput::new(batch, LAYOUT, rules) };
    hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap()
}

/// Translates a hit on the rotated circle to the original circle.
fn turned_back(mut hit: Alignment, by: usize, len: usize) -> Alignment {
    let start = (hit.target_start as usize + by) % len;
    hit.target_end = (start as u32) + (hit.target_end - hit.target_start);
    hit.target_start = start as u32;
    hit
}

/// Number of ends on the circle, on both strands, at which a read has its best score.
fn best_ends(batch: &Batch, record: u32, score: i32) -> usize {
    let len = batch.targets.circle(0).unwrap();
    let ends = |strand: u32| {
        let pair = |own: u32| Pair { query: 2 * record + strand, target: 0, start: 0, own, end: own + 1 };
        let pairs: Vec<Pair> = (0..2 * len).map(pair).collect();
        let hits = Plain::new().score(batch, &pairs).unwrap();
        let best = hits.iter().filter(|hit| hit.score == score).map(|hit| (hit.target_end - 1) % len);
        best.collect::<std::collections::BTreeSet<u32>>().len()
    };
    ends(0) + ends(1)
}

#[test]
fn hits_turn_with_the_circle() {
    let (mut unique, mut across) = (0, 0);
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let len = 60 + random.below(60);
        let circle = drawn(&mut random, if seed % 2 == 0 { b"ACGT" } else { b"AC" }, len);
        let reads: Vec<Vec<u8>> = (0..6)
            .map(|_| {
                let start = random.below(len);
                let read = round(&circle, start, len / 3);
                let read = random.mutated(Alphabet::Dna, &read, 8);
                if random.below(2) == 0 { reverse_complement(&read) } else { read }
            })
            .collect();
        let scoring = || Scoring::dna(1, 4, 6, 1);
        let rules = Rules { min_score: 8, max_hits: 1, ..RULES };
        let batch = batch_of(&reads, std::slice::from_ref(&circle), &[0], scoring());
        let whole = find(&batch, rules, None);
        let score = |found: &QueryResult| found.alignments.first().map_or(0, |hit| hit.score);
        let is_unique: Vec<bool> =
            (0..).zip(&whole).map(|(record, found)| best_ends(&batch, record, score(found)) == 1).collect();
        for by in 0..len {
            let batch = batch_of(&reads, &[turned(&circle, by)], &[0], scoring());
            for (number, (found, one)) in find(&batch, rules, None).iter().zip(&whole).enumerate() {
                assert_eq!(score(found), score(one), "seed {seed}, turned by {by}, read {number}");
                let Some(hit) = found.alignments.first().filter(|_| is_unique[number]) else { continue };
                assert_eq!(
                    turned_back(hit.clone(), by, len),
                    one.alignments[0],
                    "seed {seed}, turned by {by}"
                );
                unique += 1;
                across += usize::from(hit.target_end > len as u32);
            }
        }
    }
    assert!(unique > 1000 && across > 300, "too few: {unique} {across}");
}

/// Pairs of mates from a circle, some with many errors.
fn mates(random: &mut Random, circle: &[u8]) -> Vec<Vec<u8>> {
    let mut reads = Vec::new();
    for _ in 0..40 {
        let (start, size) = (random.below(circle.len()), random.pick(&[90, 170, 200, 230, 260, 700]));
        let fragment = round(circle, start, size);
        let percents = random.pick(&[[0, 0], [1, 3], [0, 14], [20, 2], [0, 60]]);
        let left = random.mutated(Alphabet::Dna, &fragment[..70], percents[0]);
        let right = random.mutated(Alphabet::Dna, &reverse_complement(&fragment[size - 70..]), percents[1]);
        reads.extend(if random.below(2) == 0 { [left, right] } else { [right, left] });
    }
    reads
}

/// The reported hits of a read, with positions on the original circle.
fn told(found: &QueryResult, by: usize, len: usize) -> impl PartialEq + std::fmt::Debug {
    let mut hits: Vec<Alignment> =
        found.alignments.iter().map(|hit| turned_back(hit.clone(), by, len)).collect();
    hits[1.min(found.alignments.len())..].sort_by_key(|hit| (Reverse(hit.score), hit.strand, hit.target_end));
    let supplementary: Vec<(Alignment, u8)> = found
        .supplementary
        .iter()
        .map(|hit| (turned_back(hit.alignment.clone(), by, len), hit.quality))
        .collect();
    (hits, found.second, found.quality, found.mated, supplementary)
}

/// Pairs mates on a circle. Returns the hits, the insert sizes that the best hits suggest, and the number of reads that
/// were rescued by their mate.
fn paired(
    reads: &[Vec<u8>],
    circle: &[u8],
    is_circle: bool,
) -> (Vec<QueryResult>, Vec<(Orientation, u32)>, usize) {
    let insert = InsertSize { orientation: Orientation::Fr, mean: 200, deviation: 20 };
    let circles: &[usize] = if is_circle { &[0] } else { &[] };
    let batch = batch_of(reads, &[circle.to_vec()], circles, Scoring::dna(1, 4, 6, 1));
    let pairing = Pairing::new(insert, RULES, &batch.scoring);
    let rules = pairing.candidates();
    let mut found = find(&batch, rules, None);
    let mates = found.chunks_exact(2);
    let telling: Vec<_> =
        mates.filter_map(|mates| pairing::insert(&batch.targets, [&mates[0], &mates[1]])).collect();
    let scope = SearchInput::new(&batch, LAYOUT, rules);
    let before: Vec<bool> = found.iter().map(|found| found.alignments.is_empty()).collect();
    pairing.pair(&mut Cpu::new(), &scope, &mut found, None, &mut Effort::default()).unwrap();
    let rescued = found.iter().zip(before).filter(|(found, before)| *before && !found.alignments.is_empty());
    let rescued = rescued.count();
    (found, telling, rescued)
}

/// Tests a circle of 1500 bases, and a circle that is not longer than the window of a mate rescue.
#[test]
fn mates_turn_with_the_circle() {
    let (mut proper, mut over_origin, mut rescued) = (0, 0, 0);
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let len = if seed < 4 { 1500 } else { 250 };
        let circle = drawn(&mut random, b"ACGT", len);
        let reads = mates(&mut random, &circle);
        let (expected, telling, _) = paired(&reads, &circle, true);
        for by in (1..len).step_by(37) {
            let (found, told_when_turned, more) = paired(&reads, &turned(&circle, by), true);
            assert_eq!(told_when_turned, telling, "seed {seed}, turned by {by}");
            rescued += more;
            for (number, (one, other)) in found.iter().zip(&expected).enumerate() {
                let place = format!("seed {seed}, turned by {by}, read {number}");
                assert_eq!(told(one, by, len), told(other, 0, len), "{place}");
                assert!(one.alignments.iter().all(|hit| (hit.target_start as usize) < len), "{place}");
            }
            for pair in found.chunks_exact(2).filter(|pair| pair[0].mated.unwrap().is_proper()) {
                let [one, other] = [0, 1].map(|mate| &pair[mate].alignments[0]);
                proper += 1;
                over_origin += usize::from(one.target_start.abs_diff(other.target_start) as usize > len / 2);
            }
        }
        // Mates far from the ends of the text have the same hits on a line as on a circle.
        let (line, ..) = paired(&reads, &circle, false);
        for (one, other) in line.chunks_exact(2).zip(expected.chunks_exact(2)) {
            let is_inside = |found: &QueryResult| {
                let mut hits = found.alignments.iter();
                hits.all(|hit| hit.target_start > 400 && hit.target_end + 400 < len as u32)
            };
            if other.iter().all(is_inside) && other.iter().all(|found| !found.alignments.is_empty()) {
                assert_eq!(one, other, "seed {seed}");
            }
        }
    }
    assert!(proper > 2000 && over_origin > 200 && rescued > 50, "too few: {proper} {over_origin} {rescued}");
}

#[test]
fn split_reads_turn_with_the_circle() {
    const LEN: usize = 900;
    let mut supplementary = 0;
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let circle = drawn(&mut random, b"ACGT", LEN);
        let mut reads = Vec::new();
        for _ in 0..6 {
            let mut read = Vec::new();
            for _ in 0..2 + random.below(3) {
                let (start, len) = (random.below(LEN), 70 + random.below(150));
                let piece = random.mutated(Alphabet::Dna, &round(&circle, start, len), 3);
                read.extend(if random.below(2) == 0 { piece } else { reverse_complement(&piece) });
                read.extend(drawn(&mut random, b"ACGT", 9));
            }
            reads.push(read);
        }
        let found_when_turned = |by: usize| {
            let batch = batch_of(&reads, &[turned(&circle, by)], &[0], Scoring::dna(2, 4, 4, 2));
            let rules = Rules { min_score: 60, max_hits: 1, ..RULES };
            let mut found = find(&batch, rules, None);
            let scope = SearchInput::new(&batch, LAYOUT, rules);
            let splitting = Splitting { least: 60, is_bounded: false, drop: 0 };
            split::supplement(&mut Cpu::new(), &scope, (splitting, None), &mut found, &mut Effort::default())
                .unwrap();
            let whole = found.clone();
            swalign::align::circles::cut(&batch, LAYOUT, &mut found);
            let in_order = |found: &QueryResult| {
                let hits = found.supplementary.iter().map(|hit| Reverse(hit.alignment.score));
                hits.is_sorted() && found.alignments.iter().all(|hit| hit.target_end <= LEN as u32)
            };
            assert!(found.iter().all(in_order), "seed {seed}, turned by {by}");
            whole
        };
        let expected = found_when_turned(0);
        supplementary += expected.iter().map(|found| found.supplementary.len()).sum::<usize>();
        for by in (1..LEN).step_by(41) {
            for (one, other) in found_when_turned(by).iter().zip(&expected) {
                assert_eq!(told(one, by, LEN), told(other, 0, LEN), "seed {seed}, turned by {by}");
            }
        }
    }
    assert!(supplementary > 20, "{supplementary}");
}
