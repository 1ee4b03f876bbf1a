//! Estimates the score of a long query from the number of its seeds near one diagonal.

use super::seed_counts::BandCount;
use super::tally::{DiagonalBins, SeedTally};
use crate::terms::casts::{to_i64, whole_i32};
use crate::terms::scoring::{Scoring, Substitution};

/// Minimum number of seeds of a query whose score is estimated.
pub const LONG: usize = 32;
/// Ratio of query length to band width. The band covers the diagonals that gaps can shift an alignment by.
const BAND: usize = 16;
/// Minimum number of seeds on nearby diagonals.
const LEAST_HELD: usize = 6;
/// Number of standard deviations that are subtracted from the number of seeds found.
const CAUTION: f64 = 2.0;
/// Factor by which the number of errors is increased at least, since error types are not equally frequent.
const MORE_ERRORS: f64 = 1.0625;

/// Length of a query and of its seeds, and the total number of target bases.
pub struct Estimate {
    pub len: usize,
    pub seed: usize,
    pub letters: usize,
}

impl Estimate {
    /// Estimates the best alignment's score, rather too low than too high. Errors hit bases independently, so the share
    /// of error-free seeds gives the number of errors. Each seed comes with all its positions.
    pub fn score<'a>(
        &self,
        seeds: impl Iterator<Item = (usize, &'a [u32])> + Clone,
        tally: &mut SeedTally,
        scoring: &Scoring,
    ) -> i32 {
        let Substitution::Equal { match_, mismatch, .. } = scoring.substitution else { return 0 };
        let band = BandCount { band: self.len / BAND, held: LEAST_HELD };
        let bins = DiagonalBins::new(self.len, self.letters, band.band);
        let mut best = (0, 0);
        tally.count(seeds.clone(), (&bins, &[band]), |bin, held| best = best.max((held, bin)));
        let (first, last) = bins.diagonals(best.1);
        let (first, last) = (first - to_i64(bins.width()), last + to_i64(bins.width()));
        let in_band = |(from, places): (usize, &[u32])| {
            let diagonal = |&place: &u32| i64::from(place) - to_i64(from);
            places.iter().map(diagonal).any(|diagonal| (first..=last).contains(&diagonal)).then_some(from)
        };
        let mut held = seeds.filter_map(in_band);
        let Some(from) = held.next().filter(|_| best.0 > 0) else { return 0 };
        let (count, to) = held.fold((1, from), |(count, _), from| (count + 1, from));
        let covered = (to + self.seed - from) as f64;
        let all = covered / self.seed as f64;
        let share = (f64::from(count) / all).min(1.0);
        let errors = |share: f64| 1.0 - share.max(0.0).powf(1.0 / self.seed as f64);
        let fewer = share - CAUTION * (share * (1.0 - share) / all).sqrt();
        let errors = errors(fewer).max(errors(share) * MORE_ERRORS);
        // A substitution, a deletion and an insertion, all equally frequent.
        let [a, b] = [match_, mismatch].map(f64::from);
        let gap = scoring.gap_cost(1) as f64;
        let lost = (a + b + gap + gap + a) / 3.0;
        whole_i32((covered * (a - errors * lost)).max(0.0))
    }
}
