//! Several pairs in the lanes of one vector: numbers of pairs, scores, rows and columns at the limits of lanes of 8 and
//! 16 bits.

use super::agreement::{paths_agree, scores_agree};
use super::inputs::{batch, one_pair, scorings};
use crate::common::{batches, random::Random};
use swalign::engine::Primitives;
use swalign::terms::batch::{Batch, Pair, Sequences};
use swalign::terms::scoring::{Scoring, Substitution};

/// As many pairs of about one size as a vector has lanes, one less and one more.
pub fn counts_agree(engine: &mut dyn Primitives) {
    for count in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129] {
        for (number, scoring) in scorings().iter().enumerate() {
            let sizes: Vec<(usize, usize)> = (0..count).map(|k| (38 + k % 3, 60 + k % 5)).collect();
            let (batch, pairs) = batch(scoring, &sizes, (100 * count + number) as u64);
            let case = format!("{count} pairs, scoring {number}");
            let hits = scores_agree(engine, &batch, &pairs, &case);
            paths_agree(engine, &batch, &pairs, &hits, &case);
        }
    }
}

/// Pairs of equal sequences, each followed by a pair with nothing in common, so that pairs that are too large for
/// their lanes have neighbours that are not.
fn equal_pairs(scoring: &Scoring, lengths: impl Iterator<Item = usize>) -> (Batch, Vec<Pair>) {
    let mut random = Random::new(5);
    let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
    for len in lengths {
        let query = random.codes(len, 4);
        targets.push(query.iter().copied());
        queries.push(query);
        queries.push(random.codes(len, 4));
        targets.push(random.codes(len, 4));
    }
    let batch = batches::of(queries, targets, scoring.clone());
    let pairs = batches::whole_pairs(&batch);
    (batch, pairs)
}

/// Best scores around the largest that lanes of 8 and of 16 bits can hold, whatever they keep free for the
/// penalties.
pub fn largest_scores_agree(engine: &mut dyn Primitives) {
    for scoring in [Scoring::dna(1, 4, 6, 1), Scoring::dna(2, 3, 5, 2), Scoring::dna(1, 60, 60, 1)] {
        let Substitution::Equal { match_, .. } = scoring.substitution else { continue };
        // All scores up to the limit of 8 bits and above it, in the lanes of the same vectors.
        let (batch, pairs) = equal_pairs(&scoring, (60..270).map(|score| score / match_ as usize));
        scores_agree(engine, &batch, &pairs, &format!("scores of 60 to 269 for {scoring}"));
    }
    for (match_, mismatch, open, extend) in
        [(100, 400, 600, 100), (255, 3, 5, 2), (1000, 30_000, 20_000, 900)]
    {
        let scoring = Scoring::dna(match_, mismatch, open, extend);
        for largest in [32_768, 65_536] {
            let len = (largest / match_) as usize;
            let (batch, pairs) = equal_pairs(&scoring, (len.saturating_sub(20).max(1)..len + 20).step_by(3));
            scores_agree(engine, &batch, &pairs, &format!("scores around {largest} for {scoring}"));
        }
    }
}

/// Best cells in rows and columns around those that a lane can count to.
pub fn places_agree(engine: &mut dyn Primitives) {
    const MATCH: usize = 12;
    let rows = [13, 127, 128, 129, 255, 256, 257, 258, 511, 512, 513];
    let cols = [13, 125, 126, 127, 128, 129, 252, 253, 254, 255, 256, 257, 378, 379];
    let mut random = Random::new(9);
    let (mut queries, mut targets, mut pairs) = (Sequences::default(), Sequences::default(), Vec::new());
    for (place, (row, col)) in rows.iter().flat_map(|&row| cols.map(|col| (row, col))).enumerate() {
        let same = random.codes(MATCH, 4);
        let around = |end: usize, len: usize, letter: u8| {
            let mut codes = vec![letter; len];
            codes[end - MATCH..end].copy_from_slice(&same);
            codes
        };
        queries.push(around(row, 520, 0));
        targets.push(around(col, 390, 3));
        // One third owns all columns, one third those from the best cell on, and one third those after it.
        let own = if place % 3 == 0 { 0 } else { (col - place % 3 % 2) as u32 };
        pairs.push(Pair { query: place as u32, target: place as u32, start: 0, own, end: 390 });
    }
    let scoring = Scoring::dna(1, 4, 6, 1);
    let batch = batches::of(queries, targets, scoring);
    let hits = scores_agree(engine, &batch, &pairs, "places");
    assert!(hits.iter().filter(|hit| hit.score >= MATCH as i32).count() > hits.len() / 3, "they are found");
    paths_agree(engine, &batch, &pairs, &hits, "places");
}

/// Pairs that several threads share, with more rows than a strip has. Some own only columns from the middle on.
pub fn long_pairs_agree(engine: &mut dyn Primitives) {
    for (number, scoring) in [&scorings()[0], &scorings()[6]].into_iter().enumerate() {
        let sizes = [(4097, 4200), (2050, 8300), (8200, 2100), (8500, 3)];
        let (batch, pairs) = batch(scoring, &sizes, 40 + number as u64);
        let case = format!("long pairs, scoring {number}");
        let hits = scores_agree(engine, &batch, &pairs, &case);
        paths_agree(engine, &batch, &pairs, &hits, &case);
    }
}

/// Long pairs that are alike, so that lanes of 16 bits count from higher scores than 0: far from the path, too, where gaps
/// lead from it to the corners, and beside bands that leave out most of the matrix.
pub fn alike_pairs_agree(engine: &mut dyn Primitives) {
    let [dna, protein] = [1, 6].map(|number| scorings().swap_remove(number));
    let mut random = Random::new(41);
    for (scoring, letters) in [(Scoring::dna(40, 50, 30, 4), 4), (dna, 4), (protein, 20)] {
        let target = random.codes(2100, letters);
        let query = random.mutated_codes(&target, letters, 30);
        let (batch, pair) = one_pair(&query, &target, &scoring);
        let case = format!("alike, {scoring}");
        let hits = scores_agree(engine, &batch, &[pair], &case);
        paths_agree(engine, &batch, &[pair], &hits, &case);
    }
}
