//! Histograms in bounded memory: the bin width doubles when a value is beyond the last bin.
//!
//! Bins fold exactly into bins of twice the width. So the counts depend only on the values, and not on their order.

use crate::terms::casts::to_usize;
use std::ops::{AddAssign, Range};

/// Maximum number of bins.
pub const BINS: usize = 512;

/// Counts along an axis, in bins of width `1 << shift`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistogramBins {
    shift: u32,
    /// Counts up to the last nonzero bin.
    counts: Vec<u64>,
}

/// Counts of values in bins, and the sum of all values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    bins: HistogramBins,
    count: u64,
    sum: u128,
    least: Option<u64>,
    most: u64,
}

impl HistogramBins {
    /// The width of a bin.
    pub fn width(&self) -> u64 {
        1 << self.shift
    }

    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Adds `count` at `place`.
    pub fn add(&mut self, place: u64, count: u64) {
        self.hold(place);
        let bin = to_usize(place >> self.shift);
        self.reach(bin + 1);
        self.counts[bin] += count;
    }

    /// Adds 1 at each position.
    pub fn add_range(&mut self, places: Range<u64>) {
        let Some(last) = places.end.checked_sub(1).filter(|last| *last >= places.start) else { return };
        self.hold(last);
        let bins = to_usize(places.start >> self.shift)..to_usize(last >> self.shift) + 1;
        self.reach(bins.end);
        if self.shift == 0 {
            self.counts[bins].iter_mut().for_each(|count| *count += 1);
            return;
        }
        for bin in bins {
            let (start, end) = ((bin as u64) << self.shift, (bin as u64 + 1) << self.shift);
            self.counts[bin] += end.min(places.end) - start.max(places.start);
        }
    }

    /// Widens the bins until they include `place`.
    pub fn hold(&mut self, place: u64) {
        while place >> self.shift >= BINS as u64 {
            self.widen();
        }
    }

    /// Widens the bins to those of `other`, if they are narrower.
    pub fn widen_to(&mut self, other: &HistogramBins) {
        while self.shift < other.shift {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.shift += 1;
        self.counts = self.counts.chunks(2).map(|two| two.iter().sum()).collect();
    }

    fn reach(&mut self, bins: usize) {
        if self.counts.len() < bins {
            self.counts.resize(bins, 0);
        }
    }
}

impl AddAssign for HistogramBins {
    fn add_assign(&mut self, mut other: HistogramBins) {
        self.widen_to(&other);
        other.widen_to(self);
        self.reach(other.counts.len());
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        self.bins.add(value, 1);
        self.count += 1;
        self.sum += u128::from(value);
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.most = self.most.max(value);
    }

    pub fn bins(&self) -> &HistogramBins {
        &self.bins
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The minimum and the maximum value; `None` without values.
    pub fn range(&self) -> Option<(u64, u64)> {
        self.least.map(|least| (least, self.most))
    }
}

impl AddAssign for Histogram {
    fn add_assign(&mut self, other: Histogram) {
        self.bins += other.bins;
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.into_iter().chain(other.least).min();
        self.most = self.most.max(other.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_double_and_no_count_is_lost() {
        let values = [0, 511, 3, 512, 70_000, 1, 3];
        let whole = values.iter().fold(Histogram::default(), |mut all, &value| {
            all.add(value);
            all
        });
        assert_eq!((whole.bins.width(), whole.bins.counts.iter().sum::<u64>()), (256, 7));
        assert_eq!((whole.bins.counts[0], whole.bins.counts[1], whole.bins.counts[2]), (4, 1, 1));
        assert_eq!((whole.range(), whole.sum), (Some((0, 70_000)), 71_030));
        for cut in 0..values.len() {
            let [mut first, mut second] = [Histogram::default(), Histogram::default()];
            values[..cut].iter().for_each(|&value| first.add(value));
            values[cut..].iter().rev().for_each(|&value| second.add(value));
            second += first;
            assert_eq!(second, whole, "{cut}");
        }
    }

    #[test]
    fn ranges_are_their_places() {
        for (start, end) in [(0, 0), (0, 5), (3, 1100), (510, 514), (700, 700), (1000, 1024)] {
            let mut places = HistogramBins::default();
            places.add(2000, 1);
            let mut range = places.clone();
            (start..end).for_each(|place| places.add(place, 1));
            range.add_range(start..end);
            assert_eq!(range, places, "{start}..{end}");
        }
    }
}
