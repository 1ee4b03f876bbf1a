//! Hits and their pieces, compared with the definition.

use super::*;
use crate::common::definition::{MOST, oracle};
use crate::common::golden::check_path;
use swalign::align::candidates::CHUNK;
use swalign::align::candidates::filter::Filter;
use swalign::align::circles;
use swalign::align::hits::{self, Effort, PORTION, Rules, SearchInput};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::plain::Plain;
use swalign::terms::alignment::{Alignment, PathOp, QueryResult};

const RECORDS: usize = 4;

struct Case {
    batch: Batch,
    min_score: i32,
}

impl Case {
    /// Circles from one base to more than a chunk, and linear targets. Copies of reads cross the origins, some with
    /// gaps there, and some reads go around a circle more than once.
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let (match_, mismatch, open, extend) =
            random.pick(&[(1, 4, 6, 1), (2, 4, 4, 2), (1, 1, 0, 2), (1, 0, 1, 1), (5, 4, 9, 1)]);
        let letters = random.pick(&[&b"AC"[..], b"ACG", b"ACGT", b"ACGT", b"ACGTN"]);
        let long = CHUNK as usize - 60 + random.below(120);
        let lengths = match seed % 4 {
            0 => vec![1 + random.below(5), 30 + random.below(60), 1 + random.below(5)],
            1 => vec![40 + random.below(100), 60, 1 + random.below(30)],
            2 => vec![long, 200, 40],
            _ => vec![300 + random.below(300), 2100],
        };
        let mut targets: Vec<Vec<u8>> = lengths.iter().map(|&len| drawn(&mut random, letters, len)).collect();
        let mut reads: Vec<Vec<u8>> = Vec::new();
        for _ in 0..RECORDS {
            let target = &targets[random.below(targets.len())];
            let len = random.pick(&[8, 20, 45, 70, target.len().min(150) * 3 / 2, target.len().min(60) * 3]);
            // Usually around the origin.
            let start = match random.below(4) {
                0 => random.below(target.len()),
                _ => target.len() * 900 - random.below(len.max(1)),
            };
            let mut read = round(target, start, len);
            if random.below(2) == 0 {
                let at = random.below(read.len());
                match random.below(2) {
                    0 => drop(read.drain(at..(at + 1 + random.below(4)).min(len))),
                    _ => read.extend_from_slice(&read.clone()[at..]),
                }
            }
            let percent = random.pick(&[0, 0, 4, 12]);
            let read = random.mutated(Alphabet::Dna, &read, percent);
            reads.push(if random.below(2) == 0 { reverse_complement(&read) } else { read });
        }
        for target in &mut targets {
            if random.below(2) == 0 {
                let copy = reads[random.below(RECORDS)].clone();
                let (len, at) = (target.len(), random.below(target.len()));
                (at..).zip(copy.into_iter().take(len)).for_each(|(at, letter)| target[at % len] = letter);
            }
        }
        let circles = random.pick(&[&[0][..], &[0, 1], &[0, 1, 2], &[1]]);
        let circles: Vec<usize> = circles.iter().copied().filter(|&circle| circle < targets.len()).collect();
        let scoring = Scoring::dna(match_, mismatch, open, extend);
        let min_score = match_ * (5 + random.below(10) as i32);
        Case { batch: batch_of(&reads, &targets, &circles, scoring), min_score }
    }

    fn find(
        &self,
        engine: &mut dyn Engine,
        filter: Option<&Filter>,
        rules: Rules,
        portion: usize,
    ) -> Vec<QueryResult> {
        let scope = SearchInput { filter, portion, ..SearchInput::new(&self.batch, LAYOUT, rules) };
        hits::find(engine, &scope, &mut Effort::default()).unwrap()
    }
}

#[test]
fn hits_on_circles_are_those_of_their_definition() {
    let (mut hits, mut across, mut around, mut pieces, mut several) = (0, 0, 0, 0, 0);
    for seed in 0..48 {
        let case = Case::new(seed);
        let batch = &case.batch;
        let secondary_ppm = [800_000, 400_000, 0, 1_000_000][(seed / 4) as usize % 4];
        let expected: Vec<(Vec<Alignment>, i32)> = (0..RECORDS as u32)
            .map(|record| oracle(batch, &LAYOUT, record, case.min_score, secondary_ppm))
            .collect();
        let index = Filter::by_index(&batch.targets, &batch.scoring, 2);
        for max_hits in [1, 2, MOST - 1] {
            let rules = Rules { min_score: case.min_score, secondary_ppm, max_hits, ..Rules::BEST };
            let ways: [(&mut dyn Engine, _, _); 4] = [
                (&mut Cpu::new(), None, PORTION),
                (&mut Cpu::new(), None, 1),
                (&mut Cpu::new(), index.as_ref(), PORTION),
                (&mut Plain::new(), index.as_ref(), 1),
            ];
            for (way, (engine, filter, portion)) in ways.into_iter().enumerate() {
                let mut found = case.find(engine, filter, rules, portion);
                for (record, (found, (hits, threshold))) in found.iter().zip(&expected).enumerate() {
                    let place = format!("seed {seed}, record {record}, {max_hits} hits at most, way {way}");
                    assert_eq!(found.alignments, hits[..hits.len().min(max_hits)], "{place}");
                    assert_eq!(found.second, hits.get(1).map(|hit| hit.score), "{place}");
                    assert_eq!(found.threshold, *threshold, "{place}");
                }
                let whole = found.clone();
                circles::cut(batch, LAYOUT, &mut found);
                for (record, (whole, cut)) in (0..).zip(whole.iter().zip(&found)) {
                    pieces += check_pieces(batch, record, whole, cut);
                }
            }
        }
        for hit in expected.iter().flat_map(|(hits, _)| hits) {
            let circle = batch.targets.circle(hit.target).unwrap_or(u32::MAX);
            hits += 1;
            across += usize::from(hit.target_end > circle);
            around += usize::from(hit.target_end - hit.target_start > circle);
        }
        several += expected.iter().filter(|(hits, _)| hits.len() > 2).count();
    }
    for (count, least) in [(hits, 200), (across, 50), (around, 10), (pieces, 500), (several, 20)] {
        assert!(count >= least, "too few: {hits} {across} {around} {pieces} {several}");
    }
}

/// The columns of a path that align two bases, as positions on the circle.
fn columns(hit: &Alignment, circle: u32) -> Vec<(u32, u32)> {
    let (mut i, mut j) = (hit.query_start, hit.target_start);
    let mut columns = Vec::new();
    for &(len, op) in &hit.cigar {
        for _ in 0..len {
            if op == PathOp::Match {
                columns.push((i, j % circle));
            }
            i += u32::from(op != PathOp::Deletion);
            j += u32::from(op != PathOp::Insertion);
        }
    }
    columns
}

/// The score of a piece's own path.
fn own_score(batch: &Batch, record: u32, piece: &Alignment) -> i32 {
    let (query, target) = (batch.query(LAYOUT.query(record, piece.strand)), batch.targets.once(piece.target));
    let (mut i, mut j, mut score) = (piece.query_start as usize, piece.target_start as usize, 0);
    for &(len, op) in &piece.cigar {
        let steps = len as usize;
        score += match op {
            PathOp::Match => batch.scoring.score_all(&query[i..i + steps], &target[j..j + steps]),
            PathOp::Insertion | PathOp::Deletion => -batch.scoring.gap_cost(steps),
        };
        i += if op == PathOp::Deletion { 0 } else { steps };
        j += if op == PathOp::Insertion { 0 } else { steps };
    }
    score as i32
}

/// Compares the hits of a record after cutting with the whole hits. Returns the number of cut hits.
fn check_pieces(batch: &Batch, record: u32, whole: &QueryResult, cut: &QueryResult) -> usize {
    let circle = |hit: &Alignment| batch.targets.circle(hit.target);
    let is_across = |hit: &&Alignment| circle(hit).is_some_and(|circle| hit.target_end > circle);
    let mut pieces = cut.alignments.iter();
    for (place, hit) in whole.alignments.iter().enumerate() {
        let mut of_hit: Vec<&Alignment> = vec![pieces.next().expect("a piece of each hit")];
        if is_across(&hit) {
            match place {
                0 => of_hit.extend(cut.supplementary.iter().map(|hit| &hit.alignment)),
                _ => of_hit.extend(pieces.next()),
            }
            assert_eq!(of_hit.len(), 2);
            let [first, other] = [of_hit[0], of_hit[1]].map(|piece| own_score(batch, record, piece));
            assert!(place > 0 || first >= other);
            if of_hit[0].query_start > of_hit[1].query_start {
                assert!(place == 0 && first > other, "of equal ones the first");
                of_hit.reverse();
            }
            assert!(of_hit.iter().all(|piece| piece.score == hit.score), "the score of the hit");
            let len = circle(hit).unwrap();
            assert_eq!(
                (of_hit[0].target_start, of_hit[1].target_end),
                (hit.target_start, hit.target_end - len)
            );
            assert_eq!((of_hit[0].query_start, of_hit[1].query_end), (hit.query_start, hit.query_end));
            let both = of_hit.iter().flat_map(|piece| columns(piece, len));
            assert!(both.eq(columns(hit, len)));
        } else {
            assert_eq!(of_hit, [hit]);
        }
        for piece in of_hit {
            let query = batch.query(LAYOUT.query(record, piece.strand));
            let alone = Alignment { score: own_score(batch, record, piece), ..piece.clone() };
            assert!(alone.score == hit.score || is_across(&hit));
            check_path(&alone, query, batch.targets.once(piece.target), &batch.scoring).unwrap();
        }
    }
    assert!(pieces.next().is_none());
    let first = whole.alignments.first().filter(is_across);
    assert_eq!(cut.supplementary.len(), usize::from(first.is_some()));
    let of_first = |found: &QueryResult| swalign::align::quality::of_first(&batch.scoring, found);
    assert_eq!((of_first(cut), cut.second, cut.threshold), (of_first(whole), whole.second, whole.threshold));
    for other in &cut.supplementary {
        assert_eq!((other.quality, other.second), (of_first(whole), whole.second));
        assert!(other.is_piece_of_first);
    }
    whole.alignments.iter().filter(is_across).count()
}
