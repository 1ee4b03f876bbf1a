//! Residue frequencies of random sequences, and the resulting statistics of ungapped alignments.

use crate::terms::alphabet::{AMINO_ACIDS, Alphabet, BASES};
use crate::terms::casts::{to_u8, whole_i32};
use crate::terms::scoring::Scoring;
use libm::exp;
use std::ops::Range;

/// Codes of the residues that occur in random sequences.
pub fn standard_codes(alphabet: Alphabet) -> Range<u8> {
    match alphabet {
        Alphabet::Dna => 0..BASES,
        Alphabet::Protein => 0..to_u8(AMINO_ACIDS.len()),
    }
}

/// Frequency of a residue as a whole number, relative to [`total`].
fn count(alphabet: Alphabet, code: u8) -> u64 {
    match alphabet {
        Alphabet::Dna => 1,
        Alphabet::Protein => AMINO_ACIDS[code as usize].into(),
    }
}

fn total(alphabet: Alphabet) -> u64 {
    standard_codes(alphabet).map(|code| count(alphabet, code)).sum()
}

/// Maps a random number to a residue.
pub fn residue(alphabet: Alphabet, number: u64) -> u8 {
    let mut left = match alphabet {
        Alphabet::Dna => number >> 62,
        Alphabet::Protein => (number >> 32) % total(alphabet),
    };
    let is_past = |&code: &u8| {
        let count = count(alphabet, code);
        let is_past = left >= count;
        left = left.wrapping_sub(count);
        is_past
    };
    to_u8(standard_codes(alphabet).take_while(is_past).count())
}

/// Statistics of a scoring that require no alignments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ungapped {
    /// Nats per score of ungapped alignments: the positive solution of `sum p_i p_j exp(lambda s_ij) = 1`. Gaps can
    /// only decrease it.
    pub lambda: f64,
    /// Mean of the positive scores, rounded: alignment scores mostly differ by multiples of about this number.
    pub step: i32,
}

impl Ungapped {
    /// `None` if the expected score of two residues is not negative, or no score is positive.
    pub fn new(scoring: &Scoring) -> Option<Ungapped> {
        let alphabet = scoring.alphabet;
        let all = total(alphabet) as f64;
        let share = |code: u8| count(alphabet, code) as f64 / all;
        let score = |(q, t): (u8, u8)| (share(q) * share(t), f64::from(scoring.score(q, t)));
        let scores: Vec<(f64, f64)> = standard_codes(alphabet)
            .flat_map(|q| standard_codes(alphabet).map(move |t| (q, t)))
            .map(score)
            .collect();
        let highest = scores.iter().fold(0.0, |most: f64, &(_, score)| most.max(score));
        let expected: f64 = scores.iter().map(|(share, score)| share * score).sum();
        if highest <= 0.0 || expected >= 0.0 {
            return None;
        }
        let sum = |lambda: f64| scores.iter().map(|(share, score)| share * exp(lambda * score)).sum::<f64>();
        let (mut low, mut high) = (0.0, 1.0 / highest);
        while sum(high) < 1.0 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if sum(middle) < 1.0 { low = middle } else { high = middle }
        }
        let positive = || scores.iter().filter(|(_, score)| *score > 0.0);
        let shares: f64 = positive().map(|(share, _)| share).sum();
        let mean = positive().map(|(share, score)| share * score).sum::<f64>() / shares;
        Some(Ungapped { lambda: low, step: whole_i32(mean + 0.5) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::scoring::Matrix;

    #[test]
    fn lambdas_without_gaps_are_those_of_blast() {
        for (name, lambda) in
            [("BLOSUM62", 0.3176), ("BLOSUM80", 0.3430), ("PAM30", 0.3400), ("PAM250", 0.2252)]
        {
            let scoring = Scoring::matrix(Alphabet::Protein, Matrix::named(name).unwrap(), 11, 1);
            let found = Ungapped::new(&scoring).unwrap().lambda;
            assert!((found / lambda - 1.0).abs() < 0.002, "{name}: {found}");
        }
        let dna = Ungapped::new(&Scoring::dna(1, 2, 2, 1)).unwrap();
        assert!((dna.lambda - 1.3328).abs() < 1e-3 && dna.step == 1, "{dna:?}");
        let large = Ungapped::new(&Scoring::dna(100_000, 200_000, 2, 1)).unwrap();
        assert!((large.lambda * 1e5 / dna.lambda - 1.0).abs() < 1e-9 && large.step == 100_000, "{large:?}");
    }

    #[test]
    fn scores_that_are_not_negative_on_average_have_no_lambda() {
        assert_eq!(Ungapped::new(&Scoring::dna(3, 1, 5, 5)), None);
        assert_eq!(Ungapped::new(&Scoring::dna(1, 0, 5, 5)), None);
        assert!(Ungapped::new(&Scoring::dna(2, 1, 5, 5)).is_some());
    }
}
