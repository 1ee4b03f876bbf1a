//! About what a long query scores, by how many of its seeds stand near one diagonal.

use super::tally::{Bins, Tally};
use crate::terms::casts::{to_i64, whole_i32};
use crate::terms::scoring::{Scoring, Substitution};

/// Seeds of a query for which a score is estimated, at least.
pub const LONG: usize = 32;
/// The band is one in so many letters of the query: what gaps on one side may be ahead of those on the other.
const BAND: usize = 16;
/// Seeds on near diagonals, at least.
const LEAST_HELD: usize = 6;
/// How many standard deviations fewer seeds are taken to be held than are.
const CAUTION: f64 = 2.0;
/// How many times as many errors are taken to be there, at least: they are not of all kinds equally often.
const MORE_ERRORS: f64 = 1.0625;

/// A query, and the letters of all targets.
pub struct Estimate {
    pub len: usize,
    pub seed: usize,
    pub letters: usize,
}

impl Estimate {
    /// What the best alignment scores, about, rather less than more: errors fall on letters independently, so the share of
    /// seeds without any tells how many there are. The seeds are given with all their places.
    pub fn score<'a>(
        &self,
        seeds: impl Iterator<Item = (usize, &'a [u32])> + Clone,
        tally: &mut Tally,
        scoring: &Scoring,
    ) -> i32 {
        let Substitution::Equal { match_, mismatch } = scoring.substitution else { return 0 };
        let bins = Bins::new(self.len, self.letters, self.len / BAND);
        let mut best = (0, 0);
        tally.count(seeds.clone(), (&bins, LEAST_HELD), |bin, held| best = best.max((held, bin)));
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
        // A letter that differs, one left out and one more, as often as each other.
        let [a, b, gap] = [match_, mismatch, scoring.gap_open + scoring.gap_extend].map(f64::from);
        let lost = (a + b + gap + gap + a) / 3.0;
        whole_i32((covered * (a - errors * lost)).max(0.0))
    }
}
