//! Stretches of low complexity: repeats of short units in DNA (`dust`) and biased composition in proteins (`seg`).
//!
//! Unrelated sequences align well if both have a low-complexity stretch, and no statistic of random sequences accounts
//! for that. [`unmasked_score`] is the part of a hit's score that does not come from low-complexity stretches, and
//! [`hide`] masks them in a sequence before it is aligned.

mod dust;
mod seg;

use crate::terms::alignment::{Alignment, PathOp, PathRun};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::to_i32;
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// Low-complexity stretches of a sequence, in order and without overlaps.
pub fn low_complexity(alphabet: Alphabet, codes: &[u8]) -> Vec<Range<usize>> {
    match alphabet {
        Alphabet::Dna => dust::stretches(codes),
        Alphabet::Protein => seg::stretches(codes),
    }
}

/// Whether each residue of `within` belongs to a low-complexity stretch of the sequence.
pub fn mask(alphabet: Alphabet, codes: &[u8], within: Range<usize>) -> Vec<bool> {
    // DUST looks no farther than one window, so one hit does not require a scan of a whole chromosome.
    let flank = match alphabet {
        Alphabet::Dna => dust::WINDOW,
        Alphabet::Protein => codes.len(),
    };
    let from = within.start.saturating_sub(flank);
    let to = within.end.saturating_add(flank).min(codes.len());
    let mut mask = vec![false; within.len()];
    for stretch in low_complexity(alphabet, &codes[from..to]) {
        let start = (from + stretch.start).clamp(within.start, within.end);
        let end = (from + stretch.end).clamp(within.start, within.end);
        mask[start - within.start..end - within.start].fill(true);
    }
    mask
}

/// Replaces the residues of low-complexity stretches by the code of N, or X of proteins.
pub fn hide(alphabet: Alphabet, codes: &mut [u8]) {
    let any = alphabet.code(alphabet.any_letter()).unwrap_or_default();
    low_complexity(alphabet, codes).into_iter().for_each(|stretch| codes[stretch].fill(any));
}

/// Highest score of a run of columns of an alignment, if a column with a masked residue scores at most 0.
///
/// It is the alignment's score if nothing is masked, and never more. `query` and `target` are whole sequences in the
/// aligned orientation; each mask has one element for each of their aligned residues. Frith (2011) calls this gentle
/// masking.
pub fn unmasked_score(
    scoring: &Scoring,
    (query, query_mask): (&[u8], &[bool]),
    (target, target_mask): (&[u8], &[bool]),
    alignment: &Alignment,
) -> i32 {
    let (first_row, first_column) = (alignment.query_start as usize, alignment.target_start as usize);
    let (mut running, mut best) = (0i64, 0i64);
    for PathRun { op, len, query: rows, target: columns } in alignment.runs() {
        if op != PathOp::Match {
            running = (running - scoring.gap_cost_at(op, rows.start, len as usize)).max(0);
            continue;
        }
        for (i, j) in rows.zip(columns) {
            let score = i64::from(scoring.position_score(i, query[i], target[j]));
            let is_masked = query_mask[i - first_row] || target_mask[j - first_column];
            running = (running + if is_masked { score.min(0) } else { score }).max(0);
            best = best.max(running);
        }
    }
    to_i32(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::Strand;
    use crate::terms::scoring::Matrix;
    use smallvec::smallvec;

    /// Compares intervals with those of NCBI's dustmasker and segmasker, from files with sequences and their output.
    #[test]
    fn stretches_are_those_of_ncbi() {
        let golden = [
            (Alphabet::Dna, include_str!("../../tests/golden/dustmasker.txt")),
            (Alphabet::Protein, include_str!("../../tests/golden/segmasker.txt")),
        ];
        for (alphabet, records) in golden {
            let mut masked = 0;
            for record in records.split("\n>").skip(1) {
                let mut lines = record.lines();
                let name = lines.next().unwrap();
                let mut codes = Vec::new();
                alphabet.encode(lines.next().unwrap().as_bytes(), &mut codes).unwrap();
                let mut expected = vec![false; codes.len()];
                for interval in lines {
                    let (first, last) = interval.split_once(" - ").unwrap();
                    expected[first.parse().unwrap()..=last.parse().unwrap()].fill(true);
                }
                assert_eq!(mask(alphabet, &codes, 0..codes.len()), expected, "{name}");
                let mut hidden = codes.clone();
                hide(alphabet, &mut hidden);
                let any = alphabet.code(if alphabet == Alphabet::Dna { b'N' } else { b'X' }).unwrap();
                let sides = codes.iter().zip(&expected);
                let left: Vec<u8> = sides.map(|(&code, &masked)| if masked { any } else { code }).collect();
                assert_eq!(hidden, left, "{name}");
                masked += expected.iter().filter(|&&is_masked| is_masked).count();
                // A part of a sequence is masked as in the whole sequence.
                let third = codes.len() / 3;
                assert_eq!(mask(alphabet, &codes, third..2 * third), expected[third..2 * third], "{name}");
            }
            assert!(masked > 800, "{alphabet}: {masked}");
        }
    }

    #[test]
    fn ends_and_other_codes() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            let any = alphabet.code(b'X').or(alphabet.code(b'N')).unwrap();
            for len in [0, 1, 2, 3, 4, 7, 11, 12, 13, 63, 64, 65, 66, 130] {
                let shortest = if alphabet == Alphabet::Dna { 7 } else { 12 };
                let same = vec![0; len];
                assert_eq!(mask(alphabet, &same, 0..len), vec![len >= shortest; len], "{alphabet} {len}");
                let others = vec![any; len];
                assert!(low_complexity(alphabet, &others).is_empty(), "{alphabet} {len}");
            }
        }
        // N ends an interval.
        let mut codes = vec![0; 20];
        codes[10] = Alphabet::Dna.code(b'N').unwrap();
        assert_eq!(low_complexity(Alphabet::Dna, &codes), vec![0..10, 11..20]);
    }

    #[test]
    fn masked_columns_add_nothing() {
        let matrix = Matrix::named("BLOSUM62").unwrap();
        let scoring = Scoring::matrix(Alphabet::Protein, matrix, 11, 1);
        let mut codes = Vec::new();
        Alphabet::Protein.encode(b"WQQQQW", &mut codes).unwrap();
        let alignment = Alignment {
            strand: Strand::Forward,
            target: 0,
            score: 42,
            query_start: 0,
            query_end: 6,
            target_start: 0,
            target_end: 6,
            cigar: smallvec![(6, PathOp::Match)],
            shifts: Box::default(),
        };
        let score = |query: [bool; 6], target: [bool; 6]| {
            unmasked_score(&scoring, (&codes, &query), (&codes, &target), &alignment)
        };
        let (none, middle) = ([false; 6], [false, true, true, true, true, false]);
        assert_eq!(score(none, none), 42);
        assert_eq!([score(none, middle), score(middle, none)], [22, 22]);
        assert_eq!(score([true; 6], none), 0);
    }
}
