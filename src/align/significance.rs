//! Statistical significance of scores: bit scores and E-values (Karlin and Altschul 1990; with gaps Altschul and Gish
//! 1996).
//!
//! Two random sequences of `m` and `n` residues have `K m n exp(-lambda S)` alignments that score `S` or more. The bit
//! score is `(lambda S - ln K) / ln 2`. An alignment cannot begin near the end of a sequence, so both sequences count
//! with fewer residues, as in BLAST. For proteins, the mean and the variance of the lengths of alignments of that score
//! determine the correction (Park, Sheetlin, Ma, Madden and Spouge 2012). Otherwise both sequences are shortened by the
//! expected length of a chance alignment of the score.
//!
//! Logarithms are computed by a library written in Rust, since those of operating systems differ in the last digit, and
//! the same input must give the same bytes everywhere.

mod composition;
mod constants;
mod fit;
mod units;

pub use composition::Ungapped;
pub use fit::{Fit, Growth, LETTERS, LONG, LONG_LETTERS, MEASURED, PAIRS, RandomSample, SHORT};
pub use units::InUnits;

use libm::{erfc, exp, floor, log, sqrt};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};
use std::fmt;

/// Maximum of all scores.
const MOST_SCORE: i32 = 1 << 29;

/// The parameters of Karlin and Altschul for alignments with gaps.
///
/// They apply to the scoring divided by the greatest common divisor of its scores and gap costs, so that a scoring and
/// its multiples have the same E-values, to the last digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Karlin {
    /// Score that counts as one.
    pub unit: i32,
    /// Nats per unit.
    pub lambda: f64,
    pub k: f64,
    /// An alignment of `S` units has about `alpha S + beta` columns.
    pub alpha: f64,
    pub beta: f64,
    /// Rounds an odd number of units down to an even number, as BLAST does if its constants are those of even scores.
    pub rounds_down: bool,
    /// Lengths of alignments, if known.
    pub finite_size: Option<FiniteSize>,
}

/// Lengths of alignments in residues of each sequence, as functions of the score: slope and offset of their mean, of
/// their variance, and of the covariance of both lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiniteSize {
    pub mean: (f64, f64),
    pub variance: (f64, f64),
    pub covariance: (f64, f64),
}

/// The constants of a scoring, and their origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    pub karlin: Karlin,
    /// Whether they are fitted rather than published.
    pub is_fitted: bool,
    pub growth: Growth,
}

/// Size of the searched targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSpace {
    /// Total number of target residues.
    pub letters: u64,
    pub targets: u64,
}

/// The chance hits that an E-value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Hits of the query on its only target.
    Pair,
    /// Hits of the query on all targets.
    Search(SearchSpace),
    /// Hits of the shorter sequence of a pair on all sequences of their file. The order of the two does not matter.
    Triangle(SearchSpace),
    /// Hits of the query on as many targets of this target's length as there are targets. Both sequences count with
    /// their full lengths, without corrections for their ends.
    Corrected { targets: u64 },
}

/// Bit scores and E-values of one scoring in one search space, as BLAST computes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Significance {
    pub(crate) karlin: Karlin,
    /// Whether the constants are fitted rather than published.
    pub(crate) is_fitted: bool,
    pub(crate) space: Space,
}

impl Karlin {
    /// The published constants of a scoring. `None` if there are none and they have to be fitted, as for gap costs of two
    /// pieces.
    pub fn known(units: &InUnits) -> Option<Karlin> {
        if units.scoring.gaps().count() > 1 {
            return None;
        }
        let karlin = match units.match_and_mismatch() {
            Some(scores) => {
                constants::of_nucleotides(scores, units.scoring.gap_open, units.scoring.gap_extend)
            }
            None => constants::of_matrix(units),
        };
        Some(karlin?.in_units(units))
    }

    /// Whether comparison with published constants proves that scores of random sequences grow with the logarithm of
    /// the length.
    pub fn is_known_to_be_logarithmic(units: &InUnits) -> bool {
        constants::penalizes_as_published(units)
    }

    /// The same constants for scores in other units.
    pub fn in_units(self, units: &InUnits) -> Karlin {
        Karlin { unit: units.unit, ..self }
    }

    fn units(&self, score: i32) -> f64 {
        f64::from(score) / f64::from(self.unit)
    }

    /// `lambda S`, with the score in the constants' units.
    fn nats(&self, score: i32) -> f64 {
        let units = self.units(score);
        self.lambda * if self.rounds_down { 2.0 * floor(units / 2.0) } else { units }
    }

    /// Length adjustment of the query and of each target, in residues. It is the largest `l` that is at most the
    /// expected length of a chance alignment in the shortened sequences, if they are not empty.
    fn length_adjustment(&self, query: u64, space: SearchSpace) -> u64 {
        let (m, n, targets) = (query as f64, space.letters as f64, space.targets as f64);
        let is_within = |l: u64| {
            let left = (m - l as f64) * (n - targets * l as f64);
            let all = self.k * left;
            m > l as f64
                && n > targets * l as f64
                && all > m.max(n)
                && l as f64 <= self.alpha / self.lambda * log(all) + self.beta
        };
        if !is_within(0) {
            return 0;
        }
        let (mut within, mut beyond) = (0, query + 1);
        while beyond - within > 1 {
            let middle = within + (beyond - within) / 2;
            if is_within(middle) { within = middle } else { beyond = middle }
        }
        within
    }

    /// Size of the space in which alignments of a score can begin, for a query and a target.
    fn space_of_pair(&self, score: i32, query: u64, target: u64) -> f64 {
        let Some(finite_size) = self.finite_size else {
            return self.effective_space(query, SearchSpace { letters: target, targets: 1 });
        };
        let [(query, query_probable), (target, target_probable)] =
            [query, target].map(|letters| finite_size.left(self, score, letters));
        let covariance = at_least_two(self, finite_size.covariance, score);
        query * target + covariance * query_probable * target_probable
    }

    /// The same for a query and all targets. With finite-size corrections, it is the space of copies of this target, as
    /// many as give the residues of all targets.
    fn space_of_search(&self, score: i32, (query, target): (u64, u64), space: SearchSpace) -> f64 {
        match self.finite_size {
            None => self.effective_space(query, space),
            Some(_) => {
                let pair = self.space_of_pair(score, query, target);
                pair * space.letters as f64 / target.max(1) as f64
            }
        }
    }

    /// Size of the search space after the length adjustment.
    fn effective_space(&self, query: u64, space: SearchSpace) -> f64 {
        let l = self.length_adjustment(query, space);
        let letters = space.letters.saturating_sub(space.targets.saturating_mul(l)).max(1);
        query.saturating_sub(l).max(1) as f64 * letters as f64
    }
}

impl Significance {
    /// The bit score of a score.
    pub fn bits(&self, score: i32) -> f64 {
        // Without rounding the score: BLAST rounds it only for E-values.
        (self.karlin.lambda * self.karlin.units(score) - log(self.karlin.k)) / LN_2
    }

    /// The E-value of a score, for a query and a target of the given lengths.
    pub fn evalue(&self, score: i32, query: usize, target: usize) -> f64 {
        exp(self.log_evalue(score, query, target))
    }
}

/// Further functions for the command-line program.
#[doc(hidden)]
impl Significance {
    pub fn new(Constants { karlin, is_fitted, .. }: Constants, space: Space) -> Significance {
        Significance { karlin, is_fitted, space }
    }

    /// The natural logarithm of the E-value, which does not underflow.
    pub fn log_evalue(&self, score: i32, query: usize, target: usize) -> f64 {
        log(self.space(score, query, target).max(0.0) * self.karlin.k) - self.karlin.nats(score)
    }

    /// Size of the space in which alignments of a score can begin, for the E-value.
    fn space(&self, score: i32, query: usize, target: usize) -> f64 {
        let (query, target) = (query as u64, target as u64);
        match self.space {
            Space::Pair => self.karlin.space_of_pair(score, query, target),
            Space::Search(space) => self.karlin.space_of_search(score, (query, target), space),
            Space::Triangle(space) => {
                self.karlin.space_of_search(score, (query.min(target), query.max(target)), space)
            }
            Space::Corrected { targets } => targets as f64 * query as f64 * target as f64,
        }
    }

    /// Whether the order of a query's hits by E-value is that by score, except for ties.
    pub fn has_order_of_scores(&self) -> bool {
        match self.space {
            Space::Pair => true,
            Space::Search(_) => self.karlin.finite_size.is_none(),
            Space::Triangle(_) | Space::Corrected { .. } => false,
        }
    }

    /// The minimum score whose E-value is at most `most`; at least 1.
    pub fn least_score(&self, most: f64, query: usize, target: usize) -> i32 {
        self.least_score_by_log(log(most), query, target)
    }

    fn least_score_by_log(&self, log_most: f64, query: usize, target: usize) -> i32 {
        let depends_on_score =
            self.karlin.finite_size.is_some() && !matches!(self.space, Space::Corrected { .. });
        if depends_on_score {
            return first_score(|score| self.log_evalue(score, query, target) <= log_most);
        }
        let log_at_zero = log(self.space(1, query, target).max(0.0) * self.karlin.k);
        first_score(|score| log_at_zero - self.karlin.nats(score) <= log_most)
    }

    /// Score that all hits of a query with an E-value of at most `most` reach on targets of at least `shortest`
    /// residues; at least 1. For a [`Space::Triangle`], this holds for hits on targets that are no shorter than the
    /// query.
    pub fn lowest_score(&self, most: f64, query: usize, shortest: usize) -> i32 {
        self.lowest_score_by_log(log(most), query, shortest)
    }

    /// The same by the logarithm of the E-value.
    ///
    /// Let `L` be the number of target residues that alignments of a score cover, which is normally distributed. The
    /// space divided by the target length `n` is at least the query's share of the space times the mean of
    /// `max(0, 1 - L/n)`, with 1 if `L` is negative, and this mean grows with `n`. It is `(left(n) - left(0)) / n`,
    /// where `left(n)` is the mean of `max(0, n - L)`.
    pub fn lowest_score_by_log(&self, log_most: f64, query: usize, shortest: usize) -> i32 {
        let (letters, shortest) = match self.space {
            Space::Search(space) => (space.letters, shortest),
            Space::Triangle(space) => (space.letters, shortest.max(query)),
            Space::Pair | Space::Corrected { .. } => {
                return self.least_score_by_log(log_most, query, shortest);
            }
        };
        let Some(finite_size) = self.karlin.finite_size else {
            return self.least_score_by_log(log_most, query, shortest);
        };
        let shortest = shortest.max(1);
        first_score(|score| {
            let left = |letters: usize| finite_size.left(&self.karlin, score, letters as u64).0;
            let share = (left(shortest) - left(0)) / shortest as f64;
            let space = (left(query) * share * letters as f64).max(0.0);
            log(space * self.karlin.k) - self.karlin.nats(score) <= log_most
        })
    }
}

/// The lowest score that satisfies a condition that holds for all higher scores too.
fn first_score(is_enough: impl Fn(i32) -> bool) -> i32 {
    let mut enough = 1;
    while !is_enough(enough) && enough < MOST_SCORE {
        enough *= 2;
    }
    let mut below = enough / 2;
    while enough - below > 1 {
        let middle = below + (enough - below) / 2;
        if is_enough(middle) { enough = middle } else { below = middle }
    }
    enough
}

impl FiniteSize {
    /// Expected number of residues of a sequence that an alignment of a score leaves, and the probability that it
    /// leaves any.
    fn left(&self, karlin: &Karlin, score: i32, letters: u64) -> (f64, f64) {
        let (slope, offset) = self.mean;
        let mean = slope * karlin.units(score) + offset;
        let deviation = sqrt(at_least_two(karlin, self.variance, score));
        let of_deviation = (letters as f64 - mean) / deviation;
        let probable = 0.5 * erfc(-of_deviation * FRAC_1_SQRT_2);
        let density = exp(-0.5 * of_deviation * of_deviation) / sqrt(2.0 * PI);
        ((letters as f64 - mean) * probable + deviation * density, probable)
    }
}

/// A linear function of the score, but at least its value at two nats.
fn at_least_two(karlin: &Karlin, (slope, offset): (f64, f64), score: i32) -> f64 {
    (slope * karlin.units(score) + offset).max(2.0 * slope / karlin.lambda)
}

impl fmt::Display for Significance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Karlin { unit, lambda, k, alpha, beta, .. } = self.karlin;
        let unit = if unit == 1 { String::new() } else { format!(" per score of {unit}") };
        let origin = if self.is_fitted { "fitted to random sequences" } else { "published" };
        write!(f, "lambda={lambda:.4}{unit} K={k:.4} alpha={alpha:.3} beta={beta:.2} ({origin})")?;
        match self.space {
            Space::Search(SearchSpace { letters, targets }) => {
                write!(f, "; space: {letters} letters in {targets} targets")
            }
            Space::Triangle(SearchSpace { letters, targets }) => {
                write!(
                    f,
                    "; space: the shorter of two sequences and {letters} letters in {targets} sequences"
                )
            }
            Space::Corrected { targets } => {
                write!(
                    f,
                    "; space: {targets} {} of each target's length",
                    if targets == 1 { "target" } else { "targets" }
                )
            }
            Space::Pair => write!(f, "; space: each pair's own"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alphabet::Alphabet;
    use crate::terms::scoring::{Matrix, Scoring};

    fn known(scoring: &Scoring) -> Option<Karlin> {
        Karlin::known(&InUnits::new(scoring))
    }

    fn protein(name: &str, open: i32, extend: i32) -> Option<Karlin> {
        known(&Scoring::matrix(Alphabet::Protein, Matrix::named(name).unwrap(), open, extend))
    }

    fn published(karlin: Karlin) -> Constants {
        Constants { karlin, is_fitted: false, growth: Growth::Logarithmic }
    }

    /// Output of blastp 2.12 for BLOSUM62 and 11/1: a score of 100 has 43.1 bits, of 1000 390 bits.
    #[test]
    fn bits_are_those_of_blastp() {
        let significance = Significance::new(published(protein("BLOSUM62", 11, 1).unwrap()), Space::Pair);
        let rounded = |score| (significance.bits(score) * 10.0).round() / 10.0;
        assert_eq!([rounded(100), rounded(62), rounded(41)], [43.1, 28.5, 20.4]);
        assert_eq!(significance.bits(1000).floor(), 389.0);
    }

    /// The lengths that blastp and blastn print as "Length adjustment".
    #[test]
    fn lengths_are_adjusted() {
        let karlin = protein("BLOSUM62", 11, 1).unwrap();
        for (query, letters, targets) in
            [(1, 1, 1), (20, 1_000, 3), (150, 3_632_841, 8_000), (5_000, 200_000_000, 400_000), (300, 9, 1)]
        {
            let space = SearchSpace { letters, targets };
            let l = karlin.length_adjustment(query, space);
            // Definition, checked step by step.
            let is_within = |l: u64| {
                let (Some(m), Some(n)) = (query.checked_sub(l), letters.checked_sub(targets * l)) else {
                    return false;
                };
                let all = karlin.k * m as f64 * n as f64;
                m > 0
                    && n > 0
                    && all > (query.max(letters)) as f64
                    && l as f64 <= karlin.alpha / karlin.lambda * all.ln() + karlin.beta
            };
            let expected = (0..=query).take_while(|&l| is_within(l)).last().unwrap_or(0);
            assert_eq!(l, expected, "{query} {space:?}");
            assert!(karlin.effective_space(query, space) >= 1.0);
        }
    }

    #[test]
    fn the_least_score_has_the_evalue() {
        let protein = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        let all = [
            Scoring::dna(2, 3, 5, 2),
            Scoring::dna(2_000, 3_000, 5_000, 2_000),
            Scoring::dna(1, 4, 6, 1),
            Scoring::dna(1, 1, 0, 2),
            protein,
        ];
        for scoring in all {
            let karlin = known(&scoring).unwrap();
            let search = SearchSpace { letters: 5_000_000, targets: 8_000 };
            let corrected = Space::Corrected { targets: 8_000 };
            for space in [Space::Pair, Space::Search(search), Space::Triangle(search), corrected] {
                let significance = Significance::new(published(karlin), space);
                for query in [1, 18, 150, 15_000] {
                    for most in [1e-100, 1e-5, 0.01, 10.0, 1e6] {
                        let lengths = (1..60).chain([150, 299, 300, 301, 1_000, 5_000, 39_999, 40_000]);
                        for target in lengths {
                            let least = significance.least_score(most, query, target);
                            let evalue = |score| significance.evalue(score, query, target);
                            let place = format!("{scoring} {space:?} {query} {most} {target}");
                            assert!(evalue(least) <= most, "{place}");
                            assert!(least == 1 || evalue(least - 1) > most, "{place}");
                            for shortest in [1, 2, 10, 30, 200]
                                .into_iter()
                                .filter(|&len| len <= target && space != Space::Pair)
                                .filter(|_| !matches!(space, Space::Triangle(_)) || query <= target)
                            {
                                assert!(significance.lowest_score(most, query, shortest) <= least, "{place}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// E-values of blastp (`-comp_based_stats 0`) for a query of 57 residues.
    #[test]
    fn evalues_are_those_of_blastp() {
        let space = SearchSpace { letters: 3_632_841, targets: 8_000 };
        let significance =
            Significance::new(published(protein("BLOSUM62", 11, 1).unwrap()), Space::Search(space));
        for (score, query, target, expected) in
            [(308, 57, 57, 5.3e-40), (258, 57, 68, 3.04e-32), (55, 57, 1827, 0.43)]
        {
            let evalue = significance.evalue(score, query, target);
            assert!((evalue / expected - 1.0).abs() < 0.03, "{evalue} {expected}");
        }
    }

    /// In a file of sequences, the E-value of two sequences does not depend on which one is the query.
    #[test]
    fn pairs_of_a_file_have_one_evalue() {
        let protein = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        for scoring in [Scoring::dna(2, 3, 5, 2), Scoring::dna(1, 1, 0, 2), protein] {
            let karlin = known(&scoring).unwrap();
            let space = SearchSpace { letters: 2_500, targets: 4 };
            let of_file = Significance::new(published(karlin), Space::Triangle(space));
            let search = Significance::new(published(karlin), Space::Search(space));
            let lengths = [1, 20, 21, 150, 700, 1_500];
            for (one, other) in lengths.iter().flat_map(|one| lengths.iter().map(move |other| (*one, *other)))
            {
                let evalue = of_file.evalue(60, one, other);
                assert_eq!(evalue, of_file.evalue(60, other, one), "{scoring} {one} {other}");
                assert_eq!(evalue, search.evalue(60, one.min(other), one.max(other)));
            }
        }
    }

    /// The logarithm keeps the order of E-values that underflow.
    #[test]
    fn evalues_below_all_numbers_have_an_order() {
        let karlin = protein("BLOSUM62", 11, 1).unwrap();
        for space in
            [Space::Search(SearchSpace { letters: 5_000, targets: 8 }), Space::Corrected { targets: 8 }]
        {
            let significance = Significance::new(published(karlin), space);
            let logs = [9_000, 9_001].map(|score| significance.log_evalue(score, 2_000, 2_000));
            assert_eq!(significance.evalue(9_000, 2_000, 2_000), 0.0);
            assert!(logs[1] < logs[0] && logs[0].is_finite());
            // With finite-size corrections, it is a bound.
            let lowest = significance.lowest_score_by_log(logs[0] + 1e-9, 2_000, 2_000);
            assert!((8_900..=9_000).contains(&lowest), "{space:?}: {lowest}");
        }
    }

    #[test]
    fn unknown_scorings_have_no_constants() {
        assert_eq!(protein("BLOSUM62", 3, 1), None);
        assert_eq!(protein("BLOSUM80_3", 10, 1), None);
        assert_eq!(known(&Scoring::dna(3, 7, 1, 1)), None);
        assert!(protein("PAM30", 9, 1).is_some() && protein("BLOSUM45", 15, 2).is_some());
    }

    #[test]
    fn higher_penalties_keep_the_phase() {
        let is_logarithmic = |scoring: &Scoring| Karlin::is_known_to_be_logarithmic(&InUnits::new(scoring));
        for scoring in [
            Scoring::dna(1, 4, 6, 1),
            Scoring::dna(3, 7, 6, 3),
            Scoring::dna(1 << 19, 1 << 19, 1 << 20, 1 << 19),
            Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 40, 1),
        ] {
            assert!(is_logarithmic(&scoring), "{scoring}");
        }
        assert!(!is_logarithmic(&Scoring::dna(1, 1, 1, 1)));
        assert!(!is_logarithmic(&Scoring::dna(5, 4, 10, 1)));
        assert!(!is_logarithmic(&Scoring::dna(1, 0, 10, 10)));
        assert!(!is_logarithmic(&Scoring::matrix(
            Alphabet::Protein,
            Matrix::named("BLOSUM45").unwrap(),
            11,
            1
        )));
    }

    /// Each built-in matrix except the one in thirds of bits has published constants with its usual gap costs.
    #[test]
    fn usual_gap_costs_have_constants() {
        for name in Matrix::names() {
            let (open, extend) = Matrix::named(name).unwrap().usual_gap_costs().unwrap();
            assert_eq!(protein(name, open, extend).is_some(), name != "BLOSUM80_3", "{name}");
        }
    }

    /// Multiples of a scoring have the same E-values and bit scores, to the last digit.
    #[test]
    fn multiples_have_the_same_statistics() {
        let doubled = |name: &str| {
            let mut matrix = Matrix::named(name).unwrap();
            matrix.name = "doubled".to_string();
            matrix.scores.iter_mut().flatten().for_each(|score| *score *= 2);
            matrix
        };
        let pairs = [
            (Scoring::dna(1, 2, 2, 1), Scoring::dna(2, 4, 4, 2)),
            (Scoring::dna(2, 3, 5, 2), Scoring::dna(14, 21, 35, 14)),
            (Scoring::dna(1, 4, 6, 1), Scoring::dna(100_000, 400_000, 600_000, 100_000)),
            (
                Scoring::matrix(Alphabet::Protein, Matrix::named("PAM70").unwrap(), 10, 1),
                Scoring::matrix(Alphabet::Protein, doubled("PAM70"), 20, 2),
            ),
        ];
        for (once, multiple) in pairs {
            let (once, multiple) = (known(&once).unwrap(), known(&multiple).unwrap());
            assert!(once.unit == 1 && multiple.unit > 1);
            for space in [Space::Pair, Space::Search(SearchSpace { letters: 5_000_000, targets: 8_000 })] {
                let [one, other] = [once, multiple].map(|karlin| Significance::new(published(karlin), space));
                for score in [1, 20, 33, 100, 999] {
                    let of = |significance: &Significance, score| {
                        (significance.evalue(score, 150, 400), significance.bits(score))
                    };
                    assert_eq!(of(&one, score), of(&other, score * multiple.unit), "{multiple:?}");
                }
            }
        }
    }
}
