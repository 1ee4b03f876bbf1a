//! Gap costs of two pieces, by the drivers of affine ones: all sizes at the seams, groups of pairs in lanes, databases,
//! stretches, bands and blocks.

use super::agreement::{paths_agree, plain_paths, scores_agree};
use super::inputs::{batch, one_pair, two_piece_scorings};
use super::{blocks, database, pairs, stretches};
use crate::common::random::Random;
use std::sync::Arc;
use swalign::engine::Primitives;
use swalign::engine::plain::Plain;
use swalign::terms::alignment::{Alignment, PathOp};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::Batch;
use swalign::terms::scoring::{Matrix, Scoring};

/// Seed of the random costs.
const SEED: u64 = 2018;

/// Gap costs of two pieces for every way in which kernels find scores. Each of them compiles kernels of its own.
pub fn for_kernels() -> Vec<Scoring> {
    let wide = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 1_000_000, 2);
    let [small, large, matrix] = [0, 5, 6].map(|number| scorings()[number].clone());
    vec![small, large, matrix, wide.with_gap_piece(1_048_576, 1).unwrap()]
}

/// All costs of the suite.
pub fn scorings() -> Vec<Scoring> {
    let scorings = two_piece_scorings(&mut Random::new(SEED));
    scorings.iter().enumerate().for_each(|(number, scoring)| eprintln!("{number}: {scoring}"));
    scorings
}

/// Scores and paths at every seam.
pub fn seams_agree(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    pairs::seams_agree_under(engine, usize::MAX, scorings);
}

/// The source of every cell's H in whole windows.
pub fn windows_agree(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    pairs::whole_windows_agree_under(engine, 200, scorings);
}

/// Queries that meet many targets.
pub fn shared_queries_agree(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    pairs::shared_queries_agree_under(engine, scorings);
}

/// Groups of pairs in lanes, databases, and sweeps that serve several pairs.
pub fn groups_agree(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    for (number, scoring) in scorings.iter().enumerate() {
        for count in [3, 16, 33, 65, 129] {
            let sizes: Vec<(usize, usize)> = (0..count).map(|k| (38 + k % 3, 60 + k % 5)).collect();
            let (batch, pairs) = batch(scoring, &sizes, (100 * count + number) as u64);
            let case = format!("{count} pairs under two pieces, scoring {number}");
            let hits = scores_agree(engine, &batch, &pairs, &case);
            paths_agree(engine, &batch, &pairs, &hits, &case);
        }
        let database = database::database(scoring, 940 + number as u64, &[1, 17, 150, 600], &[]);
        database::agree(engine, &database, &format!("database under two pieces, scoring {number}"));
        let (batch, pairs) = stretches::case(scoring, 700 + number as u64, &[8, 33, 150, 300]);
        scores_agree(engine, &batch, &pairs, &format!("stretches under two pieces, scoring {number}"));
    }
}

/// Queries of one strip and more against targets at the seams of the runs of columns of a grid.
pub fn grids_agree(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    pairs::grids_agree_under(engine, scorings.iter().enumerate());
}

/// Long alignments in blocks, and the edges between blocks.
pub fn blocks_agree(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    let every = |step: usize| scorings.iter().enumerate().step_by(step);
    blocks::blocks_agree_under(engine, every(4));
    blocks::narrow_blocks_agree_under(engine, every(6));
    blocks::checkpoints_agree_under(engine, every(5));
}

/// A gap of each length around the length from which the second piece is the cheaper one. The path's score is that of its
/// definition.
pub fn crossings_agree(engine: &mut dyn Primitives, scorings: &[Scoring]) {
    let mut random = Random::new(SEED);
    for (number, scoring) in scorings.iter().enumerate() {
        let gaps = scoring.gaps();
        let Some(second) = gaps.pieces().nth(1) else { panic!("{scoring} has one piece") };
        let crossing = (second.open - gaps.first.open) / (gaps.first.extend - second.extend);
        let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
        for len in [1, crossing - 1, crossing, crossing + 1, crossing + 40].map(|len| len.max(1) as usize) {
            let target = random.codes(600 + len, letters);
            let query = [&target[..300], &target[300 + len..]].concat();
            for (query, target) in [(&query, &target), (&target, &query)] {
                let (batch, pair) = one_pair(query, target, scoring);
                let case = format!("a gap of {len} under two pieces, scoring {number}");
                let hits = scores_agree(engine, &batch, &[pair], &case);
                paths_agree(engine, &batch, &[pair], &hits, &case);
                for path in plain_paths(&batch, &[pair], &hits) {
                    assert_eq!(rescored(&batch, &path), i64::from(path.score), "{case}");
                }
            }
        }
    }
}

fn rescored(batch: &Batch, path: &Alignment) -> i64 {
    let (query, target) = (batch.query(0), batch.target(path.target));
    let (mut i, mut j, mut score) = (path.query_start as usize, path.target_start as usize, 0);
    for &(len, op) in &path.cigar {
        let len = len as usize;
        let (rows, cols) =
            [(len, len), (len, 0), (0, len)][[PathOp::Match, PathOp::Insertion, PathOp::Deletion]
                .iter()
                .position(|other| *other == op)
                .expect("a kind of step")];
        score += match op {
            PathOp::Match => batch.scoring.score_all(&query[i..i + len], &target[j..j + len]),
            _ => -batch.scoring.gap_cost(len),
        };
        (i, j) = (i + rows, j + cols);
    }
    score
}

/// A second piece that is never the cheaper one changes no answer: the affine ones are given, path for path.
pub fn needless_pieces_change_nothing(engine: &mut dyn Primitives) {
    for (number, affine) in super::inputs::scorings().iter().enumerate() {
        let Ok(needless) = affine.clone().with_gap_piece(1 << 20, affine.gap_extend - 1) else { continue };
        let (batch, pairs) = batch(affine, &super::inputs::seams(usize::MAX), 60 + number as u64);
        let hits = scores_agree(&mut Plain::new(), &batch, &pairs, "affine");
        let expected = plain_paths(&batch, &pairs, &hits);
        let two = Batch { scoring: Arc::new(needless), ..batch };
        let case = format!("a needless piece, scoring {number}");
        assert_eq!(engine.score(&two, &pairs).unwrap(), hits, "{case}");
        assert_eq!(plain_paths(&two, &pairs, &hits), expected, "{case}");
        paths_agree(engine, &two, &pairs, &hits, &case);
    }
}
