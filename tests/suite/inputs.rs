//! Seeded batches for engines: scorings, and sizes at the seams of what engines work in.

use crate::common::{batches, random::Random};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Pair, Sequences};
use swalign::terms::scoring::{Matrix, Scoring};

/// The scorings that engines are tested with: both substitutions, ambiguous codes that cost less than a mismatch or
/// that match, affine and linear gaps, a mismatch that costs nothing.
pub fn scorings() -> Vec<Scoring> {
    let blosum =
        |open, extend| Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), open, extend);
    let mut positive = Matrix::named("BLOSUM62").unwrap();
    positive.name = "positive".to_string();
    positive.scores.iter_mut().flatten().for_each(|score| *score += 5);
    vec![
        Scoring::dna(1, 4, 6, 1),
        Scoring::dna(2, 4, 4, 2).with_ambiguous(1),
        Scoring::dna(1, 1, 0, 2),
        Scoring::dna(1, 0, 1, 1),
        Scoring::dna(127, 128, 300, 20),
        Scoring::dna(128, 500, 1000, 3).with_ambiguous(7),
        blosum(11, 1),
        blosum(0, 8),
        // Nothing scores below 1.
        Scoring::matrix(Alphabet::Protein, positive, 11, 1),
        // Too large for a row to fit below a score.
        blosum(40_000_000, 1),
        Scoring::dna(2, 3, 5, 2).with_iupac(),
        Scoring::dna(1, 4, 6, 1).with_end_bonus(5),
        // More than a gap costs.
        Scoring::dna(2, 5, 3, 2).with_ambiguous(1).with_end_bonus(12),
        Scoring::matrix(Alphabet::Dna, converted(), 6, 1).with_end_bonus(7),
    ]
}

/// A DNA matrix that is not symmetric: a T of the query matches C and T.
fn converted() -> Matrix {
    let text =
        "A C G T N\nA 2 -4 -4 -4 -1\nC -4 2 -4 -4 -1\nG -4 -4 2 -4 -1\nT -4 1 -4 2 -1\nN -1 -1 -1 -1 -1\n";
    Matrix::parse("converted", text, Alphabet::Dna).unwrap()
}

/// Gap costs of two pieces: minimap2's, costs that cross at the first residues, linear ones, costs for 8-bit lanes and
/// costs beyond them, and random ones.
pub fn two_piece_scorings(random: &mut Random) -> Vec<Scoring> {
    let two = |scoring: Scoring, (open, extend)| scoring.with_gap_piece(open, extend).unwrap();
    let blosum =
        |open, extend| Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), open, extend);
    let mut scorings = vec![
        two(Scoring::dna(2, 4, 4, 2), (24, 1)),
        two(Scoring::dna(2, 9, 1, 3), (4, 1)),
        two(Scoring::dna(1, 1, 0, 2), (3, 1)),
        // The second piece is always the cheaper one.
        two(Scoring::dna(3, 5, 4, 9), (5, 2)),
        two(Scoring::dna(5, 40, 20, 8), (90, 1)),
        two(Scoring::dna(128, 500, 1000, 30), (3000, 2)),
        two(blosum(9, 3), (13, 1)),
        two(blosum(0, 8), (20, 2)),
        two(Scoring::dna(2, 8, 12, 2), (24, 1)).with_end_bonus(10),
    ];
    for number in 0..6 {
        let (open, extend) = (random.below(12), 2 + random.below(8));
        let second = (open + 1 + random.below(40), 1 + random.below(extend - 1));
        let [open, extend, more, less] = [open, extend, second.0, second.1].map(|cost| cost as i32);
        let scoring = match number % 3 {
            0 => blosum(open, extend),
            _ => Scoring::dna(1 + random.below(5) as i32, random.below(12) as i32, open, extend),
        };
        scorings.push(two(scoring, (more, less)));
    }
    scorings
}

/// Number of codes to draw from for random sequences; some draws include ambiguous codes.
pub fn letters(scoring: &Scoring, random: &mut Random) -> u8 {
    match (scoring.alphabet, random.below(4)) {
        (Alphabet::Dna, 0) => 2,
        (Alphabet::Dna, 1) => 6,
        (Alphabet::Dna, _) => 4,
        (Alphabet::Protein, 0) => 3,
        (Alphabet::Protein, _) => 27,
    }
}

/// A batch of pairs with these query and target lengths, half of them related.
pub fn batch(scoring: &Scoring, sizes: &[(usize, usize)], seed: u64) -> (Batch, Vec<Pair>) {
    let mut random = Random::new(seed);
    let (mut queries, mut targets, mut pairs) = (Sequences::default(), Sequences::default(), Vec::new());
    for (index, &(rows, cols)) in sizes.iter().enumerate() {
        let letters = letters(scoring, &mut random);
        let target = random.codes(cols, letters);
        let query = match random.below(2) {
            0 => random.codes(rows, letters),
            _ => {
                let start = random.below(cols / 2 + 1);
                let mut query = random.mutated_codes(&target[start..], letters, 12);
                query.truncate(rows);
                let missing = rows - query.len();
                query.extend(random.codes(missing, letters));
                query
            }
        };
        queries.push(query);
        targets.push(target);
        let end = cols as u32;
        let start = if random.below(3) == 0 { random.below(cols) as u32 } else { 0 };
        let own =
            if random.below(3) == 0 { start + random.below((end - start) as usize) as u32 } else { start };
        pairs.push(Pair { query: index as u32, target: index as u32, start, own, end });
    }
    (batches::of(queries, targets, scoring.clone()).with_ends(), pairs)
}

/// Query lengths at the seams of lanes, tiles and strips, each with target lengths at the seams of
/// words and of the wavefront.
pub fn seams(limit: usize) -> Vec<(usize, usize)> {
    let rows = [
        1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 103, 104, 105, 127, 128, 129, 151, 152, 153,
        159, 160, 161, 191, 192, 193, 199, 200, 201, 255, 256, 257, 303, 304, 305, 383, 384, 385, 511, 512,
        513, 1023, 1024, 1025, 1540,
    ];
    let cols = [1, 2, 7, 8, 9, 31, 32, 33, 100, 241];
    rows.into_iter()
        .enumerate()
        .flat_map(|(index, rows)| {
            [cols[index % cols.len()], cols[(index + 5) % cols.len()]].map(|cols| (rows, cols))
        })
        .filter(|&(rows, _)| rows <= limit)
        .collect()
}

/// A batch of one query and one target, and their pair.
pub fn one_pair(query: &[u8], target: &[u8], scoring: &Scoring) -> (Batch, Pair) {
    let batch = batches::of([query], [target], scoring.clone()).with_ends();
    let pair = batches::whole(&batch, 0, 0);
    (batch, pair)
}
