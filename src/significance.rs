//! How likely a score is by chance: bit scores and E-values (Karlin and Altschul 1990; with gaps Altschul and Gish 1996).
//!
//! Of two random sequences of `m` and `n` letters, `K m n exp(-lambda S)` alignments score `S` or more. The bit score is
//! `(lambda S - ln K) / ln 2`. An alignment can't begin near the end of a sequence. So both count with fewer letters, as
//! BLAST has it: for proteins by the mean and the variance of the lengths of alignments of that score (Park, Sheetlin, Ma,
//! Madden and Spouge 2012), else shortened by the length of an alignment of the score that is expected by chance.
//!
//! Logarithms are those of a library written in Rust, since those of operating systems differ in the last digit, and the
//! same input gives the same bytes everywhere.

mod constants;
mod fit;

pub use fit::{Fit, HALVES, LETTERS, MEASURED, PAIRS, Sample};

use crate::alphabet::Alphabet;
use crate::scoring::{Scoring, Substitution};
use libm::{erfc, exp, log, sqrt};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};
use std::fmt;

/// No score is higher.
const MOST_SCORE: i32 = 1 << 29;

/// The parameters of Karlin and Altschul for alignments with gaps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Karlin {
    /// Nats a score unit.
    pub lambda: f64,
    pub k: f64,
    /// An alignment of score `S` has `alpha S + beta` columns, about.
    pub alpha: f64,
    pub beta: f64,
    /// Odd scores count as the even ones below them, as BLAST has it where its constants are those of scores that are all
    /// even.
    pub rounds_down: bool,
    /// Where it is known, how far alignments reach.
    pub finite_size: Option<FiniteSize>,
}

/// How many letters alignments of a score take of each sequence: slope and offset over the score of their mean, their
/// variance, and the covariance of both sequences' letters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiniteSize {
    pub mean: (f64, f64),
    pub variance: (f64, f64),
    pub covariance: (f64, f64),
}

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSpace {
    /// Letters of all targets.
    pub letters: u64,
    pub targets: u64,
}

/// Bit scores and E-values of one scoring in one search space, as BLAST reckons them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Significance {
    karlin: Karlin,
    /// Whether the constants are fitted, and not published ones.
    is_fitted: bool,
    /// `None` where each query meets one target, and its letters are the space.
    space: Option<SearchSpace>,
}

impl Karlin {
    /// The published constants of a scoring; `None` where there are none and they have to be fitted.
    pub fn known(scoring: &Scoring) -> Option<Karlin> {
        let Scoring { gap_open, gap_extend, .. } = *scoring;
        match &scoring.substitution {
            Substitution::Equal { match_, mismatch } => {
                constants::of_nucleotides([*match_, *mismatch, gap_open, gap_extend])
            }
            Substitution::Matrix(matrix) if scoring.alphabet == Alphabet::Protein && matrix.is_built_in() => {
                constants::of_matrix(&matrix.name, gap_open, gap_extend)
            }
            Substitution::Matrix(_) => None,
        }
    }

    /// `lambda S`, as the constants count scores.
    fn nats(&self, score: i32) -> f64 {
        let counted = if self.rounds_down { score - score.rem_euclid(2) } else { score };
        self.lambda * f64::from(counted)
    }

    /// By how many letters the query and each target are shortened: the largest `l` that is at most the length of an
    /// alignment of the score expected by chance in what is left, where that leaves anything.
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

    /// Size of the space in which alignments of a score can begin, of a query and a target.
    fn space_of_pair(&self, score: i32, query: u64, target: u64) -> f64 {
        let Some(finite_size) = self.finite_size else {
            return self.effective_space(query, SearchSpace { letters: target, targets: 1 });
        };
        let [(query, query_probable), (target, target_probable)] =
            [query, target].map(|letters| finite_size.left(self, score, letters));
        let covariance = at_least_two(self, finite_size.covariance, score);
        query * target + covariance * query_probable * target_probable
    }

    /// Size of the search space that is left of it.
    fn effective_space(&self, query: u64, space: SearchSpace) -> f64 {
        let l = self.length_adjustment(query, space);
        let letters = space.letters.saturating_sub(space.targets.saturating_mul(l)).max(1);
        query.saturating_sub(l).max(1) as f64 * letters as f64
    }
}

impl Significance {
    /// The bit score of a score.
    pub fn bits(&self, score: i32) -> f64 {
        // Of a score as it is: BLAST rounds it for E-values alone.
        (self.karlin.lambda * f64::from(score) - log(self.karlin.k)) / LN_2
    }

    /// The E-value of a score, of a query and a target of so many letters.
    pub fn evalue(&self, score: i32, query: usize, target: usize) -> f64 {
        self.space(score, query, target) * self.karlin.k * exp(-self.karlin.nats(score))
    }
}

/// What the command asks besides.
#[doc(hidden)]
impl Significance {
    /// For queries that all meet all targets; without `space` for queries that meet one target each.
    pub fn new((karlin, is_fitted): (Karlin, bool), space: Option<SearchSpace>) -> Significance {
        Significance { karlin, is_fitted, space }
    }

    /// The space in which alignments of a score can begin, for the E-value.
    fn space(&self, score: i32, query: usize, target: usize) -> f64 {
        let (query, target) = (query as u64, target as u64);
        match (self.space, self.karlin.finite_size) {
            (None, _) => self.karlin.space_of_pair(score, query, target),
            (Some(space), None) => self.karlin.effective_space(query, space),
            // As many such targets as make all letters.
            (Some(space), Some(_)) => {
                let pair = self.karlin.space_of_pair(score, query, target);
                pair * space.letters as f64 / target.max(1) as f64
            }
        }
    }

    /// The logarithm of a score's E-value corrected for the target's length: what is expected of as many targets of this
    /// length as there are. Long targets reach a score by chance more often than short ones. Both sequences count
    /// whole, which ranks homologs better than lengths without the ends do (docs/algorithm.md, section 19).
    pub fn log_corrected_evalue(&self, score: i32, query: usize, target: usize) -> f64 {
        let targets = self.space.map_or(1, |space| space.targets);
        let space = targets as f64 * query as f64 * target as f64;
        log(space * self.karlin.k) - self.karlin.nats(score)
    }

    /// The least score whose E-value is at most `most`; at least 1.
    pub fn least_score(&self, most: f64, query: usize, target: usize) -> i32 {
        let is_enough = |score: i32| self.evalue(score, query, target) <= most;
        if self.karlin.finite_size.is_none() {
            // The space does not depend on the score. Near the solution rounding decides, as it does in E-values.
            let Karlin { lambda, k, .. } = self.karlin;
            let about = (log(k * self.space(1, query, target)) - log(most)) / lambda;
            let first = (about.clamp(1.0, f64::from(MOST_SCORE)) as i32 - 3).max(1);
            return (first..first + 8).find(|&score| is_enough(score)).unwrap_or(first);
        }
        // E-values fall as scores grow.
        first_score(is_enough)
    }

    /// A score that all hits of a query with an E-value of at most `most` reach, on targets of `shortest` letters and
    /// more; at least 1.
    ///
    /// Of the letters that alignments of a score take of a target, let `L` be the number, normally distributed. The space
    /// divided by the target's letters `n` is at least the query's share of it times the mean of `max(0, 1 - L/n)`, with 1
    /// where `L` is negative, and that grows with `n`. It is `(left(n) - left(0)) / n`, where `left(n)` is the mean of
    /// `max(0, n - L)`.
    pub fn lowest_score(&self, most: f64, query: usize, shortest: usize) -> i32 {
        let (Some(space), Some(finite_size)) = (self.space, self.karlin.finite_size) else {
            return self.least_score(most, query, shortest);
        };
        let shortest = shortest.max(1);
        first_score(|score| {
            let left = |letters: usize| finite_size.left(&self.karlin, score, letters as u64).0;
            let share = (left(shortest) - left(0)) / shortest as f64;
            let space = left(query) * share * space.letters as f64;
            space * self.karlin.k * exp(-self.karlin.nats(score)) <= most
        })
    }
}

/// The least score for which something is true that is true of all higher ones.
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
    /// Letters of a sequence that are left behind an alignment of a score, in the mean, and how probable it is that any
    /// are.
    fn left(&self, karlin: &Karlin, score: i32, letters: u64) -> (f64, f64) {
        let (slope, offset) = self.mean;
        let mean = slope * f64::from(score) + offset;
        let deviation = sqrt(at_least_two(karlin, self.variance, score));
        let of_deviation = (letters as f64 - mean) / deviation;
        let probable = 0.5 * erfc(-of_deviation * FRAC_1_SQRT_2);
        let density = exp(-0.5 * of_deviation * of_deviation) / sqrt(2.0 * PI);
        ((letters as f64 - mean) * probable + deviation * density, probable)
    }
}

/// A line over the score, but no less than at the score of two nats.
fn at_least_two(karlin: &Karlin, (slope, offset): (f64, f64), score: i32) -> f64 {
    (slope * f64::from(score) + offset).max(2.0 * slope / karlin.lambda)
}

impl fmt::Display for Significance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Karlin { lambda, k, alpha, beta, .. } = self.karlin;
        let origin = if self.is_fitted { "fitted to random sequences" } else { "published" };
        write!(f, "lambda={lambda:.4} K={k:.4} alpha={alpha:.3} beta={beta:.2} ({origin})")?;
        match self.space {
            Some(SearchSpace { letters, targets }) => {
                write!(f, "; space: {letters} letters in {targets} targets")
            }
            None => write!(f, "; space: each pair's own"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Matrix;

    fn protein(name: &str, open: i32, extend: i32) -> Option<Karlin> {
        Karlin::known(&Scoring::matrix(Alphabet::Protein, Matrix::named(name).unwrap(), open, extend))
    }

    /// What blastp 2.12 prints for BLOSUM62 and 11/1: a score of 100 has 43.1 bits, of 1000 390 bits.
    #[test]
    fn bits_are_those_of_blastp() {
        let significance = Significance::new((protein("BLOSUM62", 11, 1).unwrap(), false), None);
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
            // By the definition, step by step.
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
        let all = [Scoring::dna(2, 3, 5, 2), Scoring::dna(1, 4, 6, 1), Scoring::dna(1, 1, 0, 2), protein];
        for scoring in all {
            let karlin = Karlin::known(&scoring).unwrap();
            for space in [None, Some(SearchSpace { letters: 5_000_000, targets: 8_000 })] {
                let significance = Significance::new((karlin, false), space);
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
                                .filter(|&len| len <= target && space.is_some())
                            {
                                assert!(significance.lowest_score(most, query, shortest) <= least, "{place}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// E-values of blastp (`-comp_based_stats 0`) for a query of 57 letters.
    #[test]
    fn evalues_are_those_of_blastp() {
        let space = SearchSpace { letters: 3_632_841, targets: 8_000 };
        let significance = Significance::new((protein("BLOSUM62", 11, 1).unwrap(), false), Some(space));
        for (score, query, target, expected) in
            [(308, 57, 57, 5.3e-40), (258, 57, 68, 3.04e-32), (55, 57, 1827, 0.43)]
        {
            let evalue = significance.evalue(score, query, target);
            assert!((evalue / expected - 1.0).abs() < 0.03, "{evalue} {expected}");
        }
    }

    #[test]
    fn unknown_scorings_have_no_constants() {
        assert_eq!(protein("BLOSUM62", 3, 1), None);
        assert_eq!(Karlin::known(&Scoring::dna(3, 7, 1, 1)), None);
        assert!(protein("PAM30", 9, 1).is_some() && protein("BLOSUM45", 15, 2).is_some());
        let [once, twice] = [Scoring::dna(1, 2, 2, 1), Scoring::dna(2, 4, 4, 2)]
            .map(|scoring| Karlin::known(&scoring).unwrap());
        assert_eq!((once.lambda, once.k), (2.0 * twice.lambda, twice.k));
    }
}
