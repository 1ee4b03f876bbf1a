//! Compares the engines with results of other programs: parasail's tables, the suites of SSW, SeqAn3, EMBOSS and GASAL2
//! (tests/golden/README.md), and rust-bio's aligner. gpu_oracles.rs does the same on a GPU.

use crate::common::golden::{Table, check, check_modes};
use crate::common::{batches, codes, random::Random};
use bio::alignment::pairwise::Aligner;
use bio::scores::blosum62;
use swalign::align::backtrace;
use swalign::engine::{Engine, cpu::Cpu, plain::Plain};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::Sequences;
use swalign::terms::scoring::{AlignmentMode, Matrix, Scoring};

/// Defines a test of each table on each engine.
macro_rules! tables {
    ($($test:ident: $table:expr, $rows:literal;)*) => {
        mod plain {
            use super::*;
            $(#[test] fn $test() { assert_eq!(check(&mut Plain::new(), &$table), $rows); })*
        }
        mod cpu {
            use super::*;
            $(#[test] fn $test() { assert_eq!(check(&mut Cpu::new(), &$table), $rows); })*
        }
    };
}

tables! {
    dna_pairs: Table::pairs("dna_pairs"), 1659;
    protein_pairs: Table::pairs("protein_pairs"), 1314;
    gasal2: Table::pairs("gasal2"), 1500;
    ssw: Table::pairs("ssw"), 100;
    small_suites: Table::pairs("small"), 16;
    reads_and_genome: Table::reads(), 40;
}

/// Glocal, global and overlap scores of parasail and Biopython.
#[test]
fn other_modes_on_dna() {
    assert_eq!(check_modes(&mut Cpu::new(), &Table::pairs("dna_pairs")), 3 * 1659);
}

#[test]
fn other_modes_on_proteins() {
    assert_eq!(check_modes(&mut Cpu::new(), &Table::pairs("protein_pairs")), 3 * 1314);
}

/// Global scores of WFA2-lib with gap costs of two pieces. WFA2-lib has only penalties, with 0 for a match. Twice its
/// score plus 1 for each residue is the score in which a match scores 2, and each residue of a gap costs 1 less.
#[test]
fn two_pieces_of_wfa2() {
    let text = crate::common::text("tests/golden/wfa2.tsv");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let sequences = |column: usize| {
        let all: Vec<Vec<u8>> = rows.iter().map(|row| row[column].as_bytes().to_vec()).collect();
        batches::encoded(&all)
    };
    let scoring =
        Scoring::dna(2, 2 * 4 - 2, 2 * 6, 2 * 2 - 1).with_gap_piece(2 * 24, 2 - 1).expect("two pieces");
    let batch = batches::of(sequences(2), sequences(3), scoring.in_mode(AlignmentMode::Global));
    let pairs = batches::whole_pairs(&batch);
    assert_eq!(pairs.len(), 47);
    for engine in [&mut Plain::new() as &mut dyn Engine, &mut Cpu::new()] {
        let hits = engine.score(&batch, &pairs).expect("scores");
        for ((row, pair), hit) in rows.iter().zip(&pairs).zip(&hits) {
            let residues = batch.query(pair.query).len() + batch.target(pair.target).len();
            let expected = 2 * row[1].parse::<i32>().expect("a score") + residues as i32;
            assert_eq!(hit.score, expected, "{}: pair {}", engine.capabilities().name, row[0]);
        }
        // Rescores each path.
        let wanted = pairs.iter().zip(&hits).map(|(pair, hit)| batches::wanted(&batch, pair, hit));
        let wanted: Vec<_> = wanted.collect();
        backtrace::align(engine, &batch, &wanted).expect("paths");
    }
}

/// The modes that rust-bio has, by its function for each. Its gap-open score includes the first residue: a gap of k
/// residues scores `gap_open + (k - 1) * gap_extend`, in negative numbers.
fn check_rust_bio(scoring: &Scoring, pairs: &[(Vec<u8>, Vec<u8>)], residue_score: impl Fn(u8, u8) -> i32) {
    let [one, two] = [1, 2].map(|len| scoring.gap_cost(len) as i32);
    let mut aligner = Aligner::new(-one, one - two, residue_score);
    let (queries, targets): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
    for mode in [AlignmentMode::Local, AlignmentMode::Glocal, AlignmentMode::Global] {
        let expected = pairs.iter().map(|(query, target)| match mode {
            AlignmentMode::Local => aligner.local(query, target).score,
            AlignmentMode::Glocal => aligner.semiglobal(query, target).score,
            _ => aligner.global(query, target).score,
        });
        let expected: Vec<i32> = expected.collect();
        let encoded = |sequences: &[Vec<u8>]| -> Sequences {
            let codes: Vec<_> = sequences.iter().map(|letters| codes(scoring.alphabet, letters)).collect();
            codes.iter().map(Vec::as_slice).collect()
        };
        let batch = batches::of(encoded(&queries), encoded(&targets), scoring.clone().in_mode(mode));
        let all = batches::whole_pairs(&batch);
        for engine in [&mut Plain::new() as &mut dyn Engine, &mut Cpu::new()] {
            let hits = engine.score(&batch, &all).unwrap();
            for ((hit, expected), (query, target)) in hits.iter().zip(&expected).zip(pairs) {
                let (query, target) = (String::from_utf8_lossy(query), String::from_utf8_lossy(target));
                let engine = engine.capabilities().name;
                assert_eq!(hit.score, *expected, "{engine}, {mode:?}, {scoring}\n{query}\n{target}");
            }
        }
    }
}

/// Unrelated pairs, and pairs with a mutated copy, at boundary sizes.
fn pairs_for_rust_bio(alphabet: Alphabet, seed: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let lengths = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 129];
    let mut random = Random::new(seed);
    let mut pairs = Vec::new();
    for query_len in lengths {
        let query = random.sequence(alphabet, query_len);
        let related = random.mutated(alphabet, &query, 15);
        let target_len = random.pick(&lengths);
        let mut target = random.sequence(alphabet, target_len);
        pairs.push((query.clone(), target.clone()));
        target.extend(related);
        pairs.push((query, target));
    }
    pairs
}

#[test]
fn rust_bio_agrees() {
    let scorings =
        [(1, 4, 6, 1), (2, 4, 4, 2), (2, 3, 5, 2), (1, 1, 0, 2), (5, 4, 9, 1), (1, 0, 0, 1), (3, 1, 1, 1)];
    for (seed, (match_, mismatch, open, extend)) in (0..).zip(scorings) {
        let scoring = Scoring::dna(match_, mismatch, open, extend);
        let pairs = pairs_for_rust_bio(Alphabet::Dna, seed);
        check_rust_bio(&scoring, &pairs, |a, b| if a == b { match_ } else { -mismatch });
    }
}

#[test]
fn rust_bio_agrees_on_proteins() {
    for (seed, (open, extend)) in (0..).zip([(11, 1), (10, 1), (0, 4)]) {
        let scoring = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), open, extend);
        check_rust_bio(&scoring, &pairs_for_rust_bio(Alphabet::Protein, seed), blosum62);
    }
}
