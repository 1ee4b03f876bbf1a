//! A scoring in its own units: a scoring and its multiples have the same statistics.

use super::composition::standard_codes;
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::to_i8;
use crate::terms::scoring::{Ambiguous, GapPiece, Scoring, Substitution};

/// Maximum score when scoring random sequences, so that no sum overflows.
const MOST_POTENTIAL: i32 = 1 << 16;

/// A scoring divided by the greatest common divisor of its scores and gap costs.
pub struct InUnits {
    pub scoring: Scoring,
    /// Original score of one unit.
    pub unit: i32,
}

impl InUnits {
    /// Only scores of standard residues count, since random sequences contain no others.
    pub fn new(scoring: &Scoring) -> InUnits {
        let costs = scoring.gaps().pieces().flat_map(|piece| [piece.open, piece.extend]);
        let unit = match &scoring.substitution {
            Substitution::Equal { match_, mismatch, .. } => {
                divisor([*match_, *mismatch].into_iter().chain(costs))
            }
            Substitution::Matrix(_) => divisor(standard_scores(scoring).chain(costs)),
        };
        InUnits { scoring: divided(scoring, unit), unit }
    }

    /// The same with rounded scores of a larger unit if sums of scores would overflow.
    pub fn small(self) -> InUnits {
        let factor = self.scoring.max_potential() / MOST_POTENTIAL + 1;
        match factor {
            1 => self,
            _ => InUnits { scoring: divided(&self.scoring, factor), unit: self.unit * factor },
        }
    }

    /// The match and mismatch scores, if DNA has no other scores.
    pub fn match_and_mismatch(&self) -> Option<(i32, i32)> {
        if self.scoring.alphabet != Alphabet::Dna {
            return None;
        }
        let (match_, mismatch) = (self.scoring.score(0, 0), -self.scoring.score(0, 1));
        let is_equal = |(q, t)| self.scoring.score(q, t) == if q == t { match_ } else { -mismatch };
        pairs(Alphabet::Dna).all(is_equal).then_some((match_, mismatch))
    }

    /// Whether another scoring has the same scores for all standard residues, regardless of gap costs.
    pub fn has_scores_of(&self, other: &Scoring) -> bool {
        self.scoring.alphabet == other.alphabet
            && pairs(other.alphabet).all(|(q, t)| self.scoring.score(q, t) == other.score(q, t))
    }
}

fn pairs(alphabet: Alphabet) -> impl Iterator<Item = (u8, u8)> {
    standard_codes(alphabet).flat_map(move |q| standard_codes(alphabet).map(move |t| (q, t)))
}

fn standard_scores(scoring: &Scoring) -> impl Iterator<Item = i32> + '_ {
    pairs(scoring.alphabet).map(|(q, t)| scoring.score(q, t))
}

/// A scoring with all numbers divided, and rounded if necessary.
fn divided(scoring: &Scoring, by: i32) -> Scoring {
    let rounded = |number: i32| (number + by / 2).div_euclid(by);
    let substitution = match &scoring.substitution {
        // Random sequences have no ambiguous codes.
        Substitution::Equal { match_, mismatch, .. } => {
            let [match_, mismatch] = [*match_, *mismatch].map(rounded);
            Substitution::Equal { match_, mismatch, ambiguous: Ambiguous::Penalty(mismatch) }
        }
        Substitution::Matrix(matrix) => {
            let mut matrix = matrix.clone();
            for score in matrix.scores.iter_mut().flatten() {
                *score = to_i8(rounded(i32::from(*score)).clamp(i32::from(i8::MIN), i32::from(i8::MAX)));
            }
            Substitution::Matrix(matrix)
        }
    };
    let piece =
        |piece: GapPiece| GapPiece { open: rounded(piece.open), extend: rounded(piece.extend).max(1) };
    Scoring { substitution, ..scoring.clone() }.with_gaps(scoring.gaps().map(piece))
}

/// The greatest common divisor of numbers, at least 1.
fn divisor(numbers: impl Iterator<Item = i32>) -> i32 {
    numbers.fold(0, |all, number| greatest_common_divisor(all, number.abs())).max(1)
}

fn greatest_common_divisor(one: i32, other: i32) -> i32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::scoring::Matrix;

    #[test]
    fn multiples_have_the_same_units() {
        let once = InUnits::new(&Scoring::dna(3, 7, 5, 3));
        assert_eq!((&once.scoring, once.unit), (&Scoring::dna(3, 7, 5, 3), 1));
        for factor in [2, 3, 200_000] {
            let InUnits { scoring, unit } =
                InUnits::new(&Scoring::dna(3 * factor, 7 * factor, 5 * factor, 3 * factor));
            assert_eq!((scoring, unit), (once.scoring.clone(), factor));
        }
        let large = InUnits::new(&Scoring::dna(1 << 20, (1 << 20) - 1, 5, 3)).small();
        assert!(large.unit == 17 && large.scoring.max_potential() <= MOST_POTENTIAL, "{}", large.scoring);
    }

    #[test]
    fn matrices_of_matches_and_mismatches_are_known() {
        let text = "  A C G T N\nA 4 -6 -6 -6 -1\nC -6 4 -6 -6 -1\nG -6 -6 4 -6 -1\nT -6 -6 -6 4 -1\nN -1 -1 -1 -1 -1\n";
        let matrix = Matrix::from_text("twice", text, Alphabet::Dna).unwrap();
        let units = InUnits::new(&Scoring::matrix(Alphabet::Dna, matrix, 10, 4));
        assert_eq!((units.match_and_mismatch(), units.unit), (Some((2, 3)), 2));
        assert_eq!((units.scoring.gap_open, units.scoring.gap_extend), (5, 2));
        let protein = Scoring::matrix(Alphabet::Protein, Matrix::named("PAM30").unwrap(), 9, 1);
        assert_eq!(InUnits::new(&protein).match_and_mismatch(), None);
    }
}
