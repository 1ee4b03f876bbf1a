//! Fragments of the donor that reads come from.

use std::ops::Range;

use crate::donor::Donor;
use crate::numbers::{to_u64, whole};
use crate::random::{Purpose, Random};

/// Number, length and errors of reads.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// Runs with different seeds draw different reads from the same donor.
    pub seed: u64,
    /// Number of reads or pairs.
    pub count: u64,
    /// Donor bases of each read.
    pub length: usize,
    pub pairs: bool,
    pub insert_mean: f64,
    pub insert_deviation: f64,
    /// Errors per base.
    pub error_rate: f64,
    /// Share of errors that insert or delete a base.
    pub indel_share: f64,
}

impl ReadOptions {
    /// Number of reads of a fragment.
    pub const fn mates(&self) -> usize {
        if self.pairs { 2 } else { 1 }
    }

    /// Donor positions of the reads of a fragment, from left to right.
    pub fn templates(&self, fragment: &Fragment) -> impl Iterator<Item = Range<u64>> {
        let end = fragment.start + fragment.bases;
        let bases = to_u64(self.length).min(fragment.bases);
        let right = self.pairs.then_some(end - bases..end);
        std::iter::once(fragment.start..fragment.start + bases).chain(right)
    }
}

/// Stretch of the donor that a read or a pair covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Donor position of the first base.
    pub start: u64,
    pub bases: u64,
    /// Whether the read, or the first read of the pair, is on the reverse strand.
    pub reverse: bool,
}

/// Draws fragments that contain no N. Each fragment is a function of the seed and its number.
pub struct Fragments {
    pub options: ReadOptions,
    /// Stretches of the donor without N that have room for a read.
    stretches: Vec<Range<u64>>,
    /// For each stretch, the number of positions of a read in it and the stretches before it.
    positions: Vec<u64>,
}

impl Fragments {
    /// Finds the stretches of the donor that have room for a read. The error says that there are none.
    pub fn new(donor: &Donor, options: &ReadOptions) -> Result<Self, String> {
        let shortest = to_u64(options.length);
        let known = donor.genome.layout.known();
        let mut stretches: Vec<Range<u64>> = known.iter().map(|stretch| donor.positions(stretch)).collect();
        stretches.retain(|stretch| stretch.end - stretch.start >= shortest);
        let mut total = 0;
        let add = |stretch: &Range<u64>| {
            total += stretch.end - stretch.start - shortest + 1;
            total
        };
        let positions: Vec<u64> = stretches.iter().map(add).collect();
        if stretches.is_empty() {
            return Err(format!(
                "the donor has no {shortest} bases in a row without N; use a smaller --length"
            ));
        }
        Ok(Self { options: options.clone(), stretches, positions })
    }

    /// Draws the fragment with this number. All positions in the donor are equally likely.
    pub fn draw(&self, number: u64) -> Fragment {
        const ATTEMPTS: usize = 64;
        let mut random = Random::new(self.options.seed, Purpose::Fragments, number);
        let reverse = random.chance(0.5);
        for _ in 0..ATTEMPTS {
            let bases = self.draw_length(&mut random);
            let Range { start, end } = self.draw_rest(&mut random);
            if bases <= end - start {
                return Fragment { start, bases, reverse };
            }
        }
        // Every position has room for the shortest fragment.
        let start = self.draw_rest(&mut random).start;
        Fragment { start, bases: to_u64(self.options.length), reverse }
    }

    fn draw_length(&self, random: &mut Random) -> u64 {
        let ReadOptions { pairs, insert_mean, insert_deviation, length, .. } = self.options;
        let insert = if pairs { whole(random.normal(insert_mean, insert_deviation) + 0.5) } else { 0 };
        insert.max(to_u64(length))
    }

    /// Draws a position. Returns the stretch from there on.
    fn draw_rest(&self, random: &mut Random) -> Range<u64> {
        let total = self.positions.last().copied().unwrap_or(0);
        let drawn = random.below(total);
        let index = self.positions.partition_point(|positions| *positions <= drawn);
        let before = if index == 0 { 0 } else { self.positions[index - 1] };
        let stretch = &self.stretches[index];
        stretch.start + (drawn - before)..stretch.end
    }
}
