//! Constants of a scoring that has no published ones: fitted from the scores of random sequences.
//!
//! The best score of two random sequences has an extreme value distribution, of which `lambda` and `K` are those that make
//! the scores most likely (Eddy 1997, "Maximum likelihood fitting of extreme value distributions"). Scores are whole
//! numbers, so each counts with the probability of the whole number, and those below the median only as being below it,
//! since the distribution is exact in its upper tail alone.
//!
//! The sequences are the same in every run: a seeded generator, whole-number frequencies, no randomness of the machine.

use super::Karlin;
use crate::alphabet::Alphabet;
use crate::batch::Sequences;
use libm::{exp, expm1, log};

/// Pairs of a sample, and letters of each sequence.
pub const PAIRS: usize = 4_000;
pub const LETTERS: usize = 500;
/// Pairs of which the lengths of the best alignments are measured.
pub const MEASURED: usize = 400;
/// Sequences of half the letters, which tell whether scores grow with the length itself.
pub const HALVES: usize = 400;
/// The best score of sequences of twice the length is higher by some 10 to 20 % where it grows with the logarithm, and
/// doubles where it grows with the length.
const MOST_GROWTH: f64 = 1.5;

/// How often each amino acid occurs, of 100,000 (Robinson and Robinson 1991), in the order of the codes.
const AMINO_ACIDS: [u64; 20] = [
    7805, 5129, 4487, 5364, 1925, 4264, 6295, 7377, 2199, 5142, 9019, 5744, 2243, 3856, 5203, 7120, 5841,
    1330, 3216, 6441,
];

/// Random sequences, the i-th of `queries` beside the i-th of `targets`.
pub struct Sample {
    pub queries: Sequences,
    pub targets: Sequences,
}

/// What the best alignments of a sample are.
pub struct Fit<'a> {
    /// Their scores.
    pub scores: &'a [i32],
    /// Scores of sequences of half the letters.
    pub halves: &'a [i32],
    /// Of some of them: score, and letters of the query and of the target.
    pub lengths: &'a [(i32, u32, u32)],
}

impl Sample {
    /// `pairs` of sequences of `letters`.
    pub fn new(alphabet: Alphabet, pairs: usize, letters: usize) -> Sample {
        let mut state = 0x5eed_0001;
        let mut sequence = || (0..letters).map(|_| letter(alphabet, next(&mut state))).collect::<Vec<u8>>();
        let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
        for _ in 0..pairs {
            queries.push(sequence());
            targets.push(sequence());
        }
        Sample { queries, targets }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn letter(alphabet: Alphabet, number: u64) -> u8 {
    match alphabet {
        Alphabet::Dna => (number >> 62) as u8,
        Alphabet::Protein => {
            let all: u64 = AMINO_ACIDS.iter().sum();
            let mut left = (number >> 32) % all;
            let is_in = |&&count: &&u64| {
                let is_behind = left >= count;
                left = left.wrapping_sub(count);
                is_behind
            };
            AMINO_ACIDS.iter().take_while(is_in).count() as u8
        }
    }
}

impl Fit<'_> {
    /// The constants; `None` where scores of random sequences grow with their length, so that there are none.
    pub fn karlin(&self) -> Option<Karlin> {
        let mean = |scores: &[i32]| {
            scores.iter().map(|&score| f64::from(score)).sum::<f64>() / scores.len().max(1) as f64
        };
        let (whole, half) = (mean(self.scores), mean(self.halves));
        if !(half > 0.0 && whole < MOST_GROWTH * half) {
            return None;
        }
        let tail = Tail::new(self.scores)?;
        let lambda = highest((0.001, 5.0), |lambda| tail.likelihood(lambda, tail.best_size(lambda)));
        let size = exp(tail.best_size(lambda));
        let (alpha, beta) = self.line();
        let length = (alpha * whole + beta).clamp(0.0, LETTERS as f64 / 2.0);
        let side = LETTERS as f64 - length;
        Some(Karlin { lambda, k: size / (side * side), alpha, beta, rounds_down: false, finite_size: None })
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

/// Scores from the median on.
struct Tail {
    /// How many there are of each.
    counts: Vec<(i32, f64)>,
    /// The least of them, and how many scores are below it.
    least: i32,
    below: f64,
}

impl Tail {
    fn new(scores: &[i32]) -> Option<Tail> {
        let mut sorted = scores.to_vec();
        sorted.sort_unstable();
        let least = *sorted.get(sorted.len() / 2)?;
        let first = sorted.partition_point(|&score| score < least);
        let counts =
            sorted[first..].chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as f64)).collect();
        Some(Tail { counts, least, below: first as f64 })
    }

    /// The logarithm of the likelihood of the scores, where a score is below `s` with probability
    /// `exp(-exp(size - lambda s))`.
    fn likelihood(&self, lambda: f64, size: f64) -> f64 {
        let hits = |score: i32| exp(size - lambda * f64::from(score));
        let of_score = |&(score, count): &(i32, f64)| {
            let (from, to) = (hits(score), hits(score + 1));
            // exp(-to) - exp(-from), which may be very small.
            count * (log(-expm1(to - from)) - to)
        };
        -self.below * hits(self.least) + self.counts.iter().map(of_score).sum::<f64>()
    }

    /// The logarithm of `K m n` that makes the scores most likely.
    fn best_size(&self, lambda: f64) -> f64 {
        let middle = lambda * f64::from(self.least);
        highest((middle - 5.0, middle + 5.0), |size| self.likelihood(lambda, size))
    }
}

/// Where a function with one peak is highest, by the golden section.
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

    /// Scores drawn from a known distribution give its constants back.
    #[test]
    fn known_distributions_are_found() {
        for (lambda, size) in [(0.267, 9.0), (1.37, 12.0), (0.08, 11.0)] {
            let mut state = 7;
            let scores: Vec<i32> = (0..20_000)
                .map(|_| {
                    let uniform = (next(&mut state) >> 11) as f64 / (1u64 << 53) as f64;
                    // Rounded down: at least s with the probability that the real number is.
                    ((size - log(-log(uniform))) / lambda).floor() as i32
                })
                .collect();
            let tail = Tail::new(&scores).unwrap();
            let found = highest((0.001, 5.0), |lambda| tail.likelihood(lambda, tail.best_size(lambda)));
            assert!((found / lambda - 1.0).abs() < 0.02, "{found} {lambda}");
            assert!((tail.best_size(found) / size - 1.0).abs() < 0.03, "{} {size}", tail.best_size(found));
        }
    }

    #[test]
    fn letters_have_their_frequencies() {
        let Sample { queries, targets } = Sample::new(Alphabet::Protein, 200, 500);
        let count = |code: u8| {
            [&queries, &targets].iter().flat_map(|all| all.codes()).filter(|&&c| c == code).count()
        };
        let leucine = Alphabet::Protein.code(b'L').unwrap();
        let tryptophan = Alphabet::Protein.code(b'W').unwrap();
        assert!((17_500..18_600).contains(&count(leucine)), "{}", count(leucine));
        assert!((2_400..2_900).contains(&count(tryptophan)), "{}", count(tryptophan));
        assert_eq!(count(20), 0);
        let dna = Sample::new(Alphabet::Dna, 100, 100);
        assert!((0..4).all(|code| {
            (2_300..2_700).contains(&dna.queries.codes().iter().filter(|&&c| c == code).count())
        }));
    }

    #[test]
    fn scores_that_grow_with_the_length_have_no_constants() {
        let fit = Fit { scores: &[500; 50], halves: &[250; 50], lengths: &[(500, 500, 500)] };
        assert_eq!(fit.karlin(), None);
        assert_eq!(Fit { scores: &[], halves: &[], lengths: &[] }.karlin(), None);
    }
}
