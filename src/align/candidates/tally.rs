//! Seeds counted on diagonals.

use super::seed_counts::BandCount;
use crate::terms::casts::{to_i64, to_u16, to_u32};

/// Diagonals grouped into bins of equal width. The diagonals of a band fall into a few adjacent bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagonalBins {
    /// Query length in bases: the first diagonal begins this many bases before the first target.
    len: usize,
    /// Binary logarithm of a bin's diagonals.
    shift: u32,
    bins: usize,
}

/// Approximate number of bins per band width: with more bins, fewer seeds outside the band are counted.
const OF_BAND: usize = 4;
/// Binary logarithms of the minimum width of a bin, and of the maximum number of bins.
const LEAST_SHIFT: u32 = 4;
const MOST_BINS: u32 = 20;

impl DiagonalBins {
    /// Bins for a query of `len` bases on targets of `letters` bases in all, and diagonals that differ by at most
    /// `band` or more.
    pub fn new(len: usize, letters: usize, band: usize) -> DiagonalBins {
        let diagonals = len + letters + 1;
        let few_enough = (diagonals.ilog2() + 1).saturating_sub(MOST_BINS);
        let shift = (band / OF_BAND).max(1).ilog2().max(LEAST_SHIFT).max(few_enough);
        DiagonalBins { len, shift, bins: (diagonals >> shift) + 1 }
    }

    pub fn count(&self) -> usize {
        self.bins
    }

    /// Number of adjacent bins that contain any band of diagonals which differ by at most `band`.
    pub fn side_by_side(&self, band: usize) -> usize {
        band.div_ceil(1 << self.shift) + 1
    }

    /// Minimum count of the fullest of `sides` bins that together have `needed` positions or more, limited to the maximum
    /// of a count.
    pub fn share(&self, sides: usize, needed: usize) -> u16 {
        to_u16(needed.div_ceil(sides).clamp(1, usize::from(u16::MAX)))
    }

    /// Number of diagonals of a bin.
    pub fn width(&self) -> usize {
        1 << self.shift
    }

    /// First and last diagonal of a bin, as start positions in the concatenated targets.
    pub fn diagonals(&self, bin: usize) -> (i64, i64) {
        let first = to_i64(bin << self.shift) - to_i64(self.len);
        (first, first + (1 << self.shift) - 1)
    }

    /// Maximum total of `sides` adjacent bins that include `bin`.
    fn most_around(counts: &[u16], bin: usize, sides: usize) -> usize {
        let count = |bin: usize| counts.get(bin).map_or(0, |&count| usize::from(count));
        let first = (bin + 1).saturating_sub(sides);
        let mut held: usize = (first..first + sides).map(count).sum();
        let mut most = held;
        for gone in first..bin {
            held = held + count(gone + sides) - count(gone);
            most = most.max(held);
        }
        most
    }

    fn of(&self, from: usize, place: u32) -> usize {
        (place as usize + self.len - from) >> self.shift
    }
}

/// Counts of seeds by diagonals. All are 0 between two calls.
#[derive(Debug, Default)]
pub struct SeedTally {
    counts: Vec<u16>,
    /// Bins that have at least their share of the needed count.
    hot: Vec<u32>,
}

/// Counts are reset one by one if there is less than one position for this many bins.
const SPARSE: usize = 8;

impl SeedTally {
    /// Counts the positions of seeds, given with the start of each seed in the query. If the adjacent bins of a band
    /// together have as many positions as needed, one of them has at least its share of them (limited to the maximum of a
    /// count). Calls `call` with all bins that have this share for one of `bands`, in ascending order, and with the maximum
    /// total of adjacent bins that include the bin and contain the last, widest band.
    pub fn count<'a>(
        &mut self,
        seeds: impl Iterator<Item = (usize, &'a [u32])> + Clone,
        (bins, bands): (&DiagonalBins, &[BandCount]),
        mut call: impl FnMut(usize, usize),
    ) {
        let SeedTally { counts, hot } = self;
        if counts.len() < bins.bins {
            counts.resize(bins.bins, 0);
        }
        hot.clear();
        let tests = bands.iter().map(|&BandCount { band, held }| {
            let sides = bins.side_by_side(band);
            (sides, held, bins.share(sides, held))
        });
        let least = tests.clone().map(|(_, _, share)| share).min().unwrap_or(u16::MAX);
        let widest = tests.clone().map(|(sides, ..)| sides).max().unwrap_or(1);
        let mut all = 0;
        for (from, places) in seeds.clone() {
            all += places.len();
            for &place in places {
                let bin = bins.of(from, place);
                let count = &mut counts[bin];
                *count = count.saturating_add(1);
                if *count == least {
                    hot.push(to_u32(bin));
                }
            }
        }
        hot.sort_unstable();
        for bin in hot.iter().map(|&bin| bin as usize) {
            let holds = |(sides, held, share): (usize, usize, u16)| {
                counts[bin] >= share && DiagonalBins::most_around(counts, bin, sides) >= held
            };
            if tests.clone().any(holds) {
                call(bin, DiagonalBins::most_around(counts, bin, widest));
            }
        }
        if all < bins.bins / SPARSE {
            for (from, places) in seeds {
                places.iter().for_each(|&place| counts[bins.of(from, place)] = 0);
            }
        } else {
            counts[..bins.bins].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_band_lies_in_bins_side_by_side() {
        for (len, letters, band) in
            [(100, 2000, 0), (100, 2000, 15), (100, 2000, 64), (500, 2000, 300), (5000, 1 << 27, 70)]
        {
            let bins = DiagonalBins::new(len, letters, band);
            assert!(bins.count() <= 1 << (MOST_BINS + 1), "{bins:?}");
            for first in [0, 1, 15, 16, 17, 63, 64, letters - band] {
                let [low, high] = [first, first + band].map(|place| bins.of(len, place as u32));
                assert!(high - low < bins.side_by_side(band), "{bins:?}: {first}");
                let (lowest, highest) = bins.diagonals(low);
                assert!((lowest..=highest).contains(&(first as i64 - len as i64)));
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_definition() {
        let mut state = 1u32;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % bound
        };
        let mut tally = SeedTally::default();
        for round in 0..200 {
            let (len, letters) = (200, [1000, 40_000][round % 2]);
            let narrow = [0, 20, 100, 500][round % 4];
            let bins = DiagonalBins::new(len, letters, narrow);
            let lists: Vec<(usize, Vec<u32>)> = (0..len / 10)
                .map(|seed| {
                    let near = |place: u32| (place * 10 + seed as u32 * 10).min(letters as u32 - 1);
                    (seed * 10, (0..below(20)).map(|_| near(below(letters as u32 / 10))).collect())
                })
                .collect();
            let narrow = BandCount { band: narrow, held: 1 + below(12) as usize };
            let more = narrow.held + below(12) as usize;
            let wide = (round % 3 > 0).then_some(BandCount { band: narrow.band + 170, held: more });
            let bands: Vec<BandCount> = [narrow].into_iter().chain(wide).collect();
            let mut found = Vec::new();
            let seeds = lists.iter().map(|(from, places)| (*from, &places[..]));
            tally.count(seeds, (&bins, &bands), |first, held| found.push((first, held)));
            let held = |bin: usize| {
                let (lowest, highest) = bins.diagonals(bin);
                let diagonals = lists.iter().flat_map(|(from, places)| {
                    places.iter().map(move |&place| i64::from(place) - *from as i64)
                });
                diagonals.filter(|diagonal| (lowest..=highest).contains(diagonal)).count()
            };
            let counts: Vec<usize> = (0..bins.count()).map(held).collect();
            let most = |bin: usize, band: usize| {
                let sides = bins.side_by_side(band);
                let firsts = (bin + 1).saturating_sub(sides)..=bin;
                firsts.map(|first| counts[first..].iter().take(sides).sum::<usize>()).max().unwrap()
            };
            let holds = |bin: usize| {
                bands.iter().any(|&BandCount { band, held }| {
                    counts[bin] * bins.side_by_side(band) >= held && most(bin, band) >= held
                })
            };
            let widest = bands[bands.len() - 1].band;
            let all = (0..bins.count()).filter(|&bin| holds(bin));
            let expected: Vec<(usize, usize)> = all.map(|bin| (bin, most(bin, widest))).collect();
            assert_eq!(found, expected, "{bins:?}, {bands:?}");
            assert!(tally.counts.iter().all(|&count| count == 0));
        }
    }
}
