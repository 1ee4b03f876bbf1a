//! Diagonals of a sampled index's positions, bounded on a GPU, compared with the bounds of the host. SWALIGN_TEST_GPU names
//! the adapter (default: llvmpipe, Mesa's software adapter).

use crate::common::devices::card;
use crate::common::host_scan::bounded_diagonals;
use crate::common::random::Random;
use std::ops::Range;
use std::sync::Arc;
use swalign::align::candidates::by_index::{
    BoundedDiagonal, DiagonalScan, RUN, ScanScores, ScannedPiece, ScannedQuery,
};
use swalign::align::candidates::{IndexShape, KmerIndex};
use swalign::engine::gpu::Card;
use swalign::patterns::scan::diagonals::shader::{BoundVariant, UNIT};
use swalign::patterns::scan::diagonals::{CardDiagonals, DiagonalTuning};
use swalign::terms::batch::Sequences;
use swalign::terms::scoring::Scoring;

/// Default sizes, and submissions of one unit with room for few diagonals.
fn tunings() -> [DiagonalTuning; 2] {
    [DiagonalTuning::default(), DiagonalTuning { submission: Some(1), room: (1, 40) }]
}

/// Copies of a repeat between random bases, with a few residues that are no bases.
fn targets(random: &mut Random) -> Sequences {
    let repeat = random.codes(400, 4);
    let sequence = |random: &mut Random| {
        let mut codes = Vec::new();
        for _ in 0..12 {
            codes.extend(random.mutated_codes(&repeat, 4, 25));
            let apart = random.below(90);
            codes.extend(random.codes(apart, 4));
        }
        for _ in 0..random.below(3) {
            let at = random.below(codes.len());
            codes[at] = 14;
        }
        codes
    };
    let all: Vec<Vec<u8>> = (0..3).map(|_| sequence(random)).collect();
    all.iter().map(Vec::as_slice).collect()
}

/// The range of the positions of the k-mer that these codes begin with.
fn range(index: &KmerIndex, codes: &[u8]) -> Range<usize> {
    index.segments().next().unwrap()(index.kmer(codes).unwrap()).positions()
}

/// The k-mers of pieces of a query that cover it.
fn pieces(random: &mut Random, query: &[u8], index: &KmerIndex, shape: IndexShape) -> Vec<ScannedPiece> {
    let (letters, step) = (shape.letters as usize, shape.step as usize);
    let shortest = letters + step - 1;
    let mut pieces = Vec::new();
    let mut start = 0;
    while start + shortest <= query.len() {
        let end = (start + shortest + random.below(30)).min(query.len());
        let first = start + random.below(end - start - shortest + 1);
        for row in first..first + step {
            let places = range(index, &query[row..]);
            pieces.push(ScannedPiece { bases: start..end, before: row - start, places });
        }
        start = end;
    }
    pieces
}

/// The diagonals that the host finds, and whether the band around each has bases only.
fn expected(
    codes: &[u8],
    index: &KmerIndex,
    queries: &[ScannedQuery],
    scoring: &Scoring,
) -> Vec<(BoundedDiagonal, bool)> {
    let found = bounded_diagonals(codes, index.whole().unwrap(), queries, scoring);
    let is_plain = |found: &BoundedDiagonal| {
        let query = &queries[found.query as usize];
        let first = found.diagonal - query.gaps as i64;
        // The device reads some words more.
        let len = query.codes.len() + 2 * query.gaps + 320;
        let around = usize::try_from(first).ok().and_then(|first| codes.get(first..first + len));
        around.is_some_and(|around| around.iter().all(|&code| code < 4))
    };
    found.into_iter().map(|found| (found, is_plain(&found))).collect()
}

fn compare(card: &Arc<Card>, rounds: usize) {
    let mut random = Random::new(rounds as u64);
    let (mut far, mut near, mut dropped) = (0, 0, 0);
    for round in 0..rounds {
        let targets = Arc::new(targets(&mut random));
        let codes = targets.codes();
        let shape = IndexShape { letters: 8, step: [3, 6][round % 2] };
        let index = KmerIndex::new(&targets, shape);
        let scorings = [
            Scoring::dna(1, 4, 6, 1).with_end_bonus(5),
            Scoring::dna(2, 4, 4, 2),
            Scoring::dna(2, 1, 1, 1).with_end_bonus(3),
        ];
        let scoring = &scorings[round / 2 % 3];
        let scores = ScanScores::new(scoring).unwrap();
        let scans = tunings().map(|tuning| CardDiagonals::new(std::slice::from_ref(card)).tuned(tuning));
        for scan in &scans {
            assert!(scan.prepare(&targets, index.whole().unwrap()));
        }
        let (most_len, most_gaps) = scans[0].limits();
        // Around the seams of words, and the limits.
        let lens = [31, 32, 33, 64, 65, 100, 150, 151, 159, 160, 161, 250, most_len - 1, most_len];
        let gaps = [0, 1, 15, 16, 17, 29, 31, 32, 33, 48, 49, most_gaps];
        let mut batch = Vec::new();
        let shares = 1 + round % 3;
        for &len in lens.iter().skip(round % shares).step_by(shares) {
            let at = random.below(codes.len() - 2 * len);
            let every = random.pick(&[8, 15, 40]);
            let mut query: Vec<u8> = random
                .mutated_codes(&codes[at..at + 2 * len], 4, every)
                .iter()
                .map(|&code| code & 3)
                .collect();
            query.truncate(len);
            let gaps = random.pick(&gaps);
            let pieces = pieces(&mut random, &query, &index, shape);
            let most = scores.match_ * query.len() as i32;
            let least = most * random.pick(&[0, 5, 7, 9]) / 10 + 2 * scoring.end_bonus;
            batch.push(ScannedQuery { codes: query.into(), gaps, least, pieces });
        }
        let mut host = expected(codes, &index, &batch, scoring);
        host.sort();
        for scan in &scans {
            let mut found = scan.scan(&targets, &batch, scores).unwrap();
            found.sort();
            let mut rest = found.as_slice();
            for &(own, is_plain) in &host {
                let least = batch[own.query as usize].least;
                let is_same =
                    |other: &&BoundedDiagonal| (other.query, other.diagonal) == (own.query, own.diagonal);
                match rest.first().filter(is_same) {
                    Some(other) if is_plain => {
                        assert_eq!((other.most, own.most >= least), (own.most, true), "{own:?}");
                        far += 1;
                    }
                    Some(other) => {
                        assert!(other.most >= own.most, "{own:?} {other:?}");
                        near += 1;
                    }
                    None => {
                        assert!(own.most < least, "{own:?} is missing");
                        dropped += 1;
                        continue;
                    }
                }
                rest = &rest[1..];
            }
            assert!(rest.is_empty(), "{rest:?} on the device only");
        }
    }
    assert!(far > 50 * rounds && near > rounds && dropped > 10 * rounds, "{far} {near} {dropped}");
}

#[test]
#[ignore = "needs a GPU or lavapipe"]
fn diagonals_on_a_gpu_are_those_of_the_host() {
    compare(&card(false), 12);
}

#[test]
#[ignore = "needs a GPU or lavapipe"]
fn diagonals_on_a_gpu_with_checks_are_those_of_the_host() {
    compare(&card(true), 3);
}

/// Many positions of one k-mer, more than a unit has, and tasks with one position each.
#[test]
#[ignore = "needs a GPU or lavapipe"]
fn units_begin_and_end_inside_tasks() {
    let card = card(false);
    let copies = 3 * UNIT as usize + 5;
    let mut random = Random::new(5);
    let unit: Vec<u8> = (0..48).map(|_| random.below(4) as u8).collect();
    let codes = unit.repeat(copies);
    let targets: Arc<Sequences> = Arc::new([codes.as_slice()].into_iter().collect());
    let shape = IndexShape { letters: 12, step: 4 };
    let index = KmerIndex::new(&targets, shape);
    let scoring = Scoring::dna(1, 4, 6, 1).with_end_bonus(3);
    let query = codes[..96].to_vec();
    let all = range(&index, &query[4..]);
    assert!(all.len() >= copies - 1);
    let single =
        (0..300).map(|k| ScannedPiece { bases: 0..20, before: 4, places: all.start + k..all.start + k + 1 });
    let pieces: Vec<ScannedPiece> =
        single.chain([ScannedPiece { bases: 0..20, before: 4, places: all.clone() }]).collect();
    let queries = [ScannedQuery { codes: query.into(), gaps: 3, least: 90, pieces }];
    let scan = CardDiagonals::new(std::slice::from_ref(&card));
    assert!(scan.prepare(&targets, index.whole().unwrap()));
    let scores = ScanScores::new(&scoring).unwrap();
    let mut found = scan.scan(&targets, &queries, scores).unwrap();
    let mut host: Vec<BoundedDiagonal> =
        expected(&codes, &index, &queries, &scoring).into_iter().map(|(found, _)| found).collect();
    let diagonals = |found: &mut Vec<BoundedDiagonal>| {
        found.retain(|found| found.most >= 90);
        found.sort();
        found.iter().map(|found| found.diagonal).collect::<Vec<i64>>()
    };
    let (found, host) = (diagonals(&mut found), diagonals(&mut host));
    assert!(found.len() > copies);
    // Near the end of the targets, the device knows no bound.
    assert!(host.iter().all(|diagonal| found.contains(diagonal)) && found.len() <= host.len() + 9);
    assert_eq!(BoundVariant::all(RUN as u32).len(), 40);
}
