//! Symmetric DUST (Morgulis, Gertz, Schäffer and Agarwala 2006), with the parameters of NCBI's dustmasker.
//!
//! An interval of `l` triplets, of which `c` are equal to each other for each kind of triplet, scores the sum of
//! `c (c - 1) / 2` divided by `l - 1`. It is perfect if it scores more than 2 and no part of it scores more than the
//! interval. All perfect intervals of at most 64 bases are low complexity. The definition is the same for the reverse
//! complement.

use crate::terms::alphabet::is_base;
use crate::terms::casts::to_u32;
use std::ops::Range;

/// Bases of the longest interval.
pub const WINDOW: usize = 64;
/// An interval is low complexity only if it scores more than this.
const THRESHOLD: u32 = 2;
/// Triplets of the longest interval.
const MAX_TRIPLETS: usize = WINDOW - 2;

/// A score as a fraction: pairs of equal triplets, over the number of triplets minus one.
#[derive(Clone, Copy)]
struct DustScore {
    pairs: u32,
    of: u32,
}

impl DustScore {
    const NONE: DustScore = DustScore { pairs: 0, of: 1 };

    fn is_above(self, other: DustScore) -> bool {
        self.pairs * other.of > other.pairs * self.of
    }

    fn max(self, other: DustScore) -> DustScore {
        if other.is_above(self) { other } else { self }
    }
}

/// Low-complexity stretches of DNA codes. A code that is no base ends a triplet, and so an interval.
pub fn stretches(codes: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for run in codes.split(|&code| !is_base(code)) {
        of_bases(run, start, &mut found);
        start += run.len() + 1;
    }
    found
}

/// Appends the stretches of bases that begin at `offset`.
fn of_bases(bases: &[u8], offset: usize, found: &mut Vec<Range<usize>>) {
    let triplets: Vec<u8> = bases.windows(3).map(|three| three[0] << 4 | three[1] << 2 | three[2]).collect();
    // Highest score of an interval that begins at each of the last triplets or later, and ends before the current
    // triplet.
    let mut highest = vec![DustScore::NONE; triplets.len()];
    for end in 0..triplets.len() {
        let first = (end + 1).saturating_sub(MAX_TRIPLETS);
        let mut counts = [0u32; 64];
        let mut pairs = 0;
        let mut inside = DustScore::NONE;
        let mut perfect = None;
        for begin in (first..=end).rev() {
            let count = &mut counts[usize::from(triplets[begin])];
            pairs += *count;
            *count += 1;
            inside = inside.max(highest[begin]);
            if begin < end {
                let score = DustScore { pairs, of: to_u32(end - begin) };
                if pairs > THRESHOLD * score.of && !inside.is_above(score) {
                    perfect = Some(begin);
                }
                inside = inside.max(score);
            }
            highest[begin] = inside;
        }
        if let Some(begin) = perfect {
            add(found, offset + begin..offset + end + 3);
        }
    }
}

/// Adds a stretch that ends after all others.
fn add(found: &mut Vec<Range<usize>>, mut stretch: Range<usize>) {
    while let Some(last) = found.pop_if(|last| last.end >= stretch.start) {
        stretch.start = stretch.start.min(last.start);
    }
    found.push(stretch);
}
