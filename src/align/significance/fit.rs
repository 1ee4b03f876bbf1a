//! Fits the constants of a scoring without published ones to the scores of random sequences.
//!
//! The best score of two random sequences has an extreme value distribution. Its `lambda` and `K` are the maximum
//! likelihood estimates from the scores (Eddy 1997, "Maximum likelihood fitting of extreme value distributions"). The
//! distribution is exact only in its upper tail, so scores below the median count only as being below it. Scores are
//! whole numbers and may be coarse: with 3 for a match and 7 for a mismatch, most are multiples of 3. So scores are
//! counted in bins as wide as the mean positive score of two residues, at all positions of the bins. `lambda` is at
//! most that of ungapped alignments. Given `lambda`, `K` is chosen so that the observed scores have their observed
//! frequencies.
//!
//! The sequences are the same in every run: a seeded generator, whole-number frequencies, no system randomness.

use super::Karlin;
use super::composition::{Ungapped, residue};
use crate::terms::alphabet::Alphabet;
use crate::terms::batch::Sequences;
use crate::terms::casts::to_i32;
use libm::{exp, expm1, log};

/// Number of pairs of a sample, and residues of each sequence.
pub const PAIRS: usize = 4_000;
pub const LETTERS: usize = 500;
/// Number of pairs whose best alignment's length is measured.
pub const MEASURED: usize = 400;
/// Number of short and long pairs whose scores show how scores grow with the length.
pub const SHORT: usize = 64;
pub const LONG: usize = 24;
/// Residues of each sequence of a long pair.
pub const LONG_LETTERS: usize = 4 * LETTERS;

/// Scores that fewer pairs reach do not count for `K`.
const FEWEST: usize = 20;
/// Maximum number of positions of the bins.
const MOST_POSITIONS: i32 = 8;

/// How the best scores of random sequences grow with their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// With the logarithm of the length.
    Logarithmic,
    /// Noticeably faster than the logarithm.
    NearLinear,
    /// In proportion to the length, or nearly so: there are no E-values.
    Linear,
}

impl Growth {
    /// Sequences of four times the length score 20 to 35 % higher if scores grow with the logarithm of the length, and
    /// four times as high if they grow with the length.
    pub fn of(short: &[i32], long: &[i32]) -> Growth {
        let (short, long) = (mean(short), mean(long));
        match long / short {
            ratio if ratio <= 1.45 => Growth::Logarithmic,
            ratio if ratio <= 1.75 => Growth::NearLinear,
            _ => Growth::Linear,
        }
    }
}

/// Random sequences; the i-th of `queries` and the i-th of `targets` form a pair.
pub struct RandomSample {
    pub queries: Sequences,
    pub targets: Sequences,
}

/// Best alignments of a sample, under a scoring in its own units.
pub struct Fit<'a> {
    pub ungapped: Ungapped,
    /// Scores of the alignments.
    pub scores: &'a [i32],
    /// For some of the alignments: score, query residues and target residues.
    pub lengths: &'a [(i32, u32, u32)],
}

impl RandomSample {
    /// `pairs` pairs of sequences of `letters` residues.
    pub fn new(alphabet: Alphabet, pairs: usize, letters: usize) -> RandomSample {
        RandomSample::seeded(alphabet, pairs, letters, 0x5eed_0001)
    }

    /// The same from another seed.
    pub fn seeded(alphabet: Alphabet, pairs: usize, letters: usize, mut state: u64) -> RandomSample {
        let mut sequence = || (0..letters).map(|_| residue(alphabet, next(&mut state))).collect::<Vec<u8>>();
        let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
        for _ in 0..pairs {
            queries.push(sequence());
            targets.push(sequence());
        }
        RandomSample { queries, targets }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn mean(scores: &[i32]) -> f64 {
    scores.iter().map(|&score| f64::from(score)).sum::<f64>() / scores.len().max(1) as f64
}

impl Fit<'_> {
    /// The constants, or `None` if there are no scores.
    pub fn karlin(&self) -> Option<Karlin> {
        let Ungapped { lambda: most, step } = self.ungapped;
        let mut sorted = self.scores.to_vec();
        sorted.sort_unstable();
        let tails = Tails::new(&sorted, step)?;
        let lambda = highest((most / 50.0, most), |lambda| tails.likelihood(lambda, tails.best_size(lambda)));
        let size = exp(size_at_scores(&sorted, lambda).unwrap_or_else(|| tails.best_size(lambda)));
        let (alpha, beta) = self.line();
        let length = (alpha * mean(self.scores) + beta).clamp(0.0, LETTERS as f64 / 2.0);
        let side = LETTERS as f64 - length;
        let k = size / (side * side);
        Some(Karlin { unit: 1, lambda, k, alpha, beta, rounds_down: false, finite_size: None })
    }

    /// Slope and offset of the lengths over the scores, by least squares.
    fn line(&self) -> (f64, f64) {
        let points = || {
            self.lengths
                .iter()
                .map(|&(score, query, target)| (f64::from(score), f64::from(query + target) / 2.0))
        };
        let count = self.lengths.len().max(1) as f64;
        let (x, y) = points().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
        let (mut covariance, mut variance) = (0.0, 0.0);
        for point in points() {
            covariance += (point.0 - x) * (point.1 - y);
            variance += (point.0 - x) * (point.0 - x);
        }
        let slope = if variance > 0.0 { (covariance / variance).max(0.0) } else { 0.0 };
        (slope, y - slope * x)
    }
}

/// Scores from the median on, in bins at several positions.
struct Tails {
    width: i32,
    of_positions: Vec<ScoreTail>,
}

/// Scores from the median on, in bins at one position.
struct ScoreTail {
    /// Lower ends of the bins that are not empty, and the number of scores in each.
    counts: Vec<(i32, f64)>,
    /// Lower end of the first bin, and the number of scores below it.
    least: i32,
    below: f64,
}

impl Tails {
    /// Returns `None` if there are no scores.
    fn new(sorted: &[i32], width: i32) -> Option<Tails> {
        let median = *sorted.get(sorted.len() / 2)?;
        let positions = width.min(MOST_POSITIONS);
        let of_position = |at: i32| {
            let offset = to_i32(i64::from(at) * i64::from(width) / i64::from(positions));
            ScoreTail::new(sorted, median - width / 2 + offset, width)
        };
        Some(Tails { width, of_positions: (0..positions).map(of_position).collect() })
    }

    /// Log-likelihood of the scores, averaged over all positions of the bins.
    fn likelihood(&self, lambda: f64, size: f64) -> f64 {
        let all: f64 = self.of_positions.iter().map(|tail| tail.likelihood(lambda, size, self.width)).sum();
        all / self.of_positions.len() as f64
    }

    /// Maximum likelihood estimate of the logarithm of `K m n`.
    fn best_size(&self, lambda: f64) -> f64 {
        let least = self.of_positions.iter().map(|tail| tail.least).min().unwrap_or(0);
        let middle = lambda * f64::from(least);
        highest((middle - 8.0, middle + 8.0), |size| self.likelihood(lambda, size))
    }
}

impl ScoreTail {
    fn new(sorted: &[i32], least: i32, width: i32) -> ScoreTail {
        let first = sorted.partition_point(|&score| score < least);
        let bin = |score: i32| least + (score - least) / width * width;
        let bins = sorted[first..].chunk_by(|&a, &b| bin(a) == bin(b));
        let counts = bins.map(|scores| (bin(scores[0]), scores.len() as f64)).collect();
        ScoreTail { counts, least, below: first as f64 }
    }

    /// Log-likelihood of the scores, if a score is below `s` with probability `exp(-exp(size - lambda s))`.
    fn likelihood(&self, lambda: f64, size: f64, width: i32) -> f64 {
        let hits = |score: i32| exp(size - lambda * f64::from(score));
        let of_bin = |&(score, count): &(i32, f64)| {
            let (from, to) = (hits(score), hits(score + width));
            // exp(-to) - exp(-from), which may be very small.
            count * (log(-expm1(to - from)) - to)
        };
        -self.below * hits(self.least) + self.counts.iter().map(of_bin).sum::<f64>()
    }
}

/// The logarithm of `K m n` that gives the scores from the median on their observed frequencies, averaged over these
/// scores. Only scores that occur count. `None` if no score is frequent enough.
fn size_at_scores(sorted: &[i32], lambda: f64) -> Option<f64> {
    let median = *sorted.get(sorted.len() / 2)?;
    let all = sorted.len() as f64;
    let (mut sum, mut count, mut below) = (0.0, 0.0, sorted.partition_point(|&score| score < median));
    for equal in sorted[below..].chunk_by(|a, b| a == b) {
        if below > 0 && sorted.len() - below >= FEWEST {
            let weight = equal.len() as f64;
            sum += weight * (log(-log(below as f64 / all)) + lambda * f64::from(equal[0]));
            count += weight;
        }
        below += equal.len();
    }
    (count > 0.0).then(|| sum / count)
}

/// Maximum of a unimodal function, by golden-section search.
fn highest((mut low, mut high): (f64, f64), function: impl Fn(f64) -> f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_894_9;
    for _ in 0..60 {
        let width = (high - low) * SECTION;
        let (left, right) = (high - width, low + width);
        if function(left) < function(right) { low = left } else { high = right }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores drawn from a known distribution reproduce its constants.
    #[test]
    fn known_distributions_are_found() {
        for (lambda, size, width) in [(0.267, 9.0, 1), (0.267, 9.0, 5), (1.37, 12.0, 1), (0.08, 11.0, 20)] {
            let mut state = 7;
            let mut scores: Vec<i32> = (0..20_000)
                .map(|_| {
                    let uniform = (next(&mut state) >> 11) as f64 / (1u64 << 53) as f64;
                    // Rounded down: the score is at least s with the probability that the real number is.
                    ((size - log(-log(uniform))) / lambda).floor() as i32
                })
                .collect();
            scores.sort_unstable();
            let tail = Tails::new(&scores, width).unwrap();
            let found = highest((0.001, 5.0), |lambda| tail.likelihood(lambda, tail.best_size(lambda)));
            assert!((found / lambda - 1.0).abs() < 0.02, "{found} {lambda}");
            assert!((tail.best_size(found) / size - 1.0).abs() < 0.03, "{} {size}", tail.best_size(found));
        }
    }

    #[test]
    fn letters_have_their_frequencies() {
        let RandomSample { queries, targets } = RandomSample::new(Alphabet::Protein, 200, 500);
        let count = |code: u8| {
            [&queries, &targets].iter().flat_map(|all| all.codes()).filter(|&&c| c == code).count()
        };
        let leucine = Alphabet::Protein.code(b'L').unwrap();
        let tryptophan = Alphabet::Protein.code(b'W').unwrap();
        assert!((17_500..18_600).contains(&count(leucine)), "{}", count(leucine));
        assert!((2_400..2_900).contains(&count(tryptophan)), "{}", count(tryptophan));
        assert_eq!(count(20), 0);
        let dna = RandomSample::new(Alphabet::Dna, 100, 100);
        assert!((0..4).all(|code| {
            (2_300..2_700).contains(&dna.queries.codes().iter().filter(|&&c| c == code).count())
        }));
    }

    /// Multiples of 3 that are geometrically distributed give the constants of the distribution at these multiples.
    #[test]
    fn coarse_scores_have_the_constants_of_their_steps() {
        let mut state = 11;
        let mut scores: Vec<i32> = (0..20_000)
            .map(|_| {
                let uniform = (next(&mut state) >> 11) as f64 / (1u64 << 53) as f64;
                ((9.0 - log(-log(uniform))) / 0.4 / 3.0).floor() as i32 * 3
            })
            .collect();
        scores.sort_unstable();
        let tails = Tails::new(&scores, 3).unwrap();
        let found = highest((0.001, 5.0), |lambda| tails.likelihood(lambda, tails.best_size(lambda)));
        assert!((found / 0.4 - 1.0).abs() < 0.02, "{found}");
        let size = size_at_scores(&scores, 0.4).unwrap();
        assert!((size - 9.0).abs() < 0.05, "{size}");
    }

    #[test]
    fn growth_is_told_by_the_ratio() {
        assert_eq!(Growth::of(&[10, 12], &[13, 15]), Growth::Logarithmic);
        assert_eq!(Growth::of(&[10, 10], &[16, 16]), Growth::NearLinear);
        assert_eq!(Growth::of(&[250; 50], &[1_000; 50]), Growth::Linear);
        assert_eq!(Growth::of(&[0; 50], &[0; 50]), Growth::Linear);
        let ungapped = Ungapped { lambda: 1.0, step: 1 };
        assert_eq!(Fit { ungapped, scores: &[], lengths: &[] }.karlin(), None);
    }
}
