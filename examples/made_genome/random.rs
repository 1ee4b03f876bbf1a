//! Random numbers that are the same on every platform.
//!
//! The generator is `SplitMix64` (Steele, Lea and Flood 2014). A stream is identified by a seed, a purpose and a number, so
//! that any part of the genome can be generated without the parts before it. Logarithms use basic IEEE 754 operations only,
//! because those of the system's library differ between platforms in the last bit.

use crate::numbers::{to_usize, whole};

const INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;

/// Use of a stream's numbers. Streams of different purposes are independent.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Purpose {
    Unknown = 1,
    Families,
    Composition,
    Content,
    Duplicated,
    Duplication,
    VariantPositions,
    VariantAlleles,
    LargeVariants,
    Fragments,
    Errors,
    Alleles,
    Sample,
}

/// Stream of random numbers.
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64, purpose: Purpose, number: u64) -> Self {
        let purpose = mixed(seed ^ mixed(purpose as u64));
        Self { state: mixed(purpose ^ mixed(number.wrapping_add(INCREMENT))) }
    }

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mixed(self.state)
    }

    /// Number in `0..limit`; 0 if the limit is 0.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next().carrying_mul(limit, 0).1
    }

    /// Index in `0..limit`; 0 if the limit is 0.
    #[inline]
    pub fn index(&mut self, limit: usize) -> usize {
        to_usize(self.below(crate::numbers::to_u64(limit)))
    }

    /// Number in `low..=high`; `low` if the range is empty.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// Number in `[0, 1)`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        f64::from_bits((1023 << 52) | (self.next() >> 12)) - 1.0
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Number from a normal distribution, as a sum of 12 uniform numbers. It is within 6 deviations of the mean.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.unit()).sum();
        mean + deviation * (sum - 6.0)
    }

    pub fn base(&mut self) -> u8 {
        b"ACGT"[self.index(4)]
    }

    /// One of the three bases that differ from this one.
    pub fn other_base(&mut self, base: u8) -> u8 {
        let others = match base {
            b'A' => b"CGT",
            b'C' => b"AGT",
            b'G' => b"ACT",
            _ => b"ACG",
        };
        others[self.index(3)]
    }
}

/// Number of failures before the first success, of trials with equal probability of success.
pub struct Geometric {
    /// `ln(1 - probability)`, which is negative; 0 if there is never a success.
    logarithm: f64,
}

impl Geometric {
    pub fn new(probability: f64) -> Self {
        let failure = 1.0 - probability;
        Self { logarithm: if failure > 0.0 { natural_logarithm(failure) } else { f64::NEG_INFINITY } }
    }

    /// The next number of failures; `u64::MAX` if there is never a success.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        if self.logarithm == 0.0 {
            return u64::MAX;
        }
        whole(natural_logarithm(1.0 - random.unit()) / self.logarithm)
    }

    /// [`Self::draw`], limited to the number of trials.
    #[inline]
    pub fn draw_up_to(&self, trials: usize, random: &mut Random) -> usize {
        to_usize(self.draw(random)).min(trials)
    }
}

/// Finalizer of `SplitMix64`, a bijection.
#[inline]
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// Natural logarithm of a normal number above 0, with an error below 1e-9 of its value.
#[inline]
fn natural_logarithm(number: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = number.to_bits();
    // As 2^52 + exponent, whose bits are those of the exponent.
    let mut exponent = f64::from_bits((1075 << 52) | (bits >> 52)) - 4_503_599_627_370_496.0 - 1023.0;
    let mut mantissa = f64::from_bits((1023 << 52) | (bits & MANTISSA));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // ln(m) = 2 artanh((m - 1) / (m + 1)), as a series.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let series = [1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0, 1.0];
    let artanh = t * series.iter().fold(0.0, |sum, coefficient| sum * square + coefficient);
    exponent * std::f64::consts::LN_2 + 2.0 * artanh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_close_to_the_library_s() {
        for number in [1e-300, 1e-16, 1e-5, 0.3, 0.5, 0.7, 0.71, 0.95, 0.999_999, 1.0, 1.5, 3.0, 1e10] {
            let error = natural_logarithm(number) - f64::ln(number);
            assert!(error.abs() <= 1e-9 * f64::ln(number).abs(), "{number}: {error}");
        }
    }

    #[test]
    fn failures_have_the_mean_of_their_distribution() {
        let mut random = Random::new(1, Purpose::Content, 0);
        for probability in [0.9, 0.2, 0.01] {
            let geometric = Geometric::new(probability);
            let total: u64 = (0..20_000).map(|_| geometric.draw(&mut random)).sum();
            let expected = whole(20_000.0 * (1.0 - probability) / probability);
            assert!(total.abs_diff(expected) < expected / 20 + 100, "{probability}: {total}, not {expected}");
        }
        assert_eq!(Geometric::new(0.0).draw(&mut random), u64::MAX);
        assert_eq!(Geometric::new(1.0).draw(&mut random), 0);
    }

    #[test]
    fn numbers_keep_their_limits() {
        let mut random = Random::new(7, Purpose::Errors, 3);
        for _ in 0..1000 {
            assert!(random.below(3) < 3);
            assert!((5..=6).contains(&random.between(5, 6)));
            assert!((0.0..1.0).contains(&random.unit()));
            assert_ne!(random.other_base(b'G'), b'G');
            assert!((-60.0..=60.0).contains(&random.normal(0.0, 10.0)));
        }
        assert_eq!((random.below(0), random.between(4, 4), random.between(4, 2)), (0, 4, 4));
    }
}
