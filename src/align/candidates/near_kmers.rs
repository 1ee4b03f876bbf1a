//! The k-mers of a sampled index near runs of residues that are not bases.
//!
//! Such residues may cost less than other edits, so pieces of a query find no alignments that meet them. Few k-mers are
//! near them, so these alignments are found by all k-mers of a query.

use super::ambiguous::TargetRuns;
use super::kmers::{Kmers, Places};
use crate::terms::casts::{to_i64, to_u32};
use std::ops::Range;

/// Maximum number of bases near runs.
const MOST_BASES: usize = 1 << 24;
/// Leading bits of a k-mer that select its group.
const GROUP_BITS: u32 = 16;

/// The k-mers near runs, by their leading bits.
#[derive(Debug)]
pub struct NearKmers {
    /// Bits of a k-mer after those that select its group.
    rest: u32,
    /// Where the k-mers of each group end.
    ends: Vec<u32>,
    /// The rest of each k-mer, and its position in the concatenated targets.
    kmers: Vec<(u32, usize)>,
}

impl NearKmers {
    /// The k-mers at most `reach` bases away from a run. `None` if there are too many, or if not all runs are known.
    pub fn new(kmers: &Kmers, runs: Option<&TargetRuns>, reach: usize) -> Option<NearKmers> {
        let stretches = match runs {
            None => Vec::new(),
            Some(runs) => runs.around(reach, kmers.codes().len())?,
        };
        if stretches.iter().map(Range::len).sum::<usize>() > MOST_BASES {
            return None;
        }
        let rest = (2 * kmers.letters()).saturating_sub(GROUP_BITS);
        let mut all: Vec<(usize, usize)> =
            stretches.into_iter().flat_map(|stretch| kmers.in_stretch(stretch)).collect();
        all.sort_unstable();
        let groups = 0..1usize << (2 * kmers.letters() - rest);
        let ends = groups.map(|group| to_u32(all.partition_point(|&(kmer, _)| kmer >> rest <= group)));
        let ends = ends.collect();
        let mask = (1usize << rest) - 1;
        let kmers = all.into_iter().map(|(kmer, place)| (to_u32(kmer & mask), place)).collect();
        Some(NearKmers { rest, ends, kmers })
    }

    /// Appends the diagonals of the looked-up k-mers that are near runs.
    pub fn push_diagonals(&self, kmers: &Kmers, found: &Places, diagonals: &mut Vec<i64>) {
        if self.kmers.is_empty() {
            return;
        }
        for (row, kmer) in kmers.looked_up(found) {
            let (group, own) = (kmer >> self.rest, to_u32(kmer & ((1 << self.rest) - 1)));
            let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
            let of_group = &self.kmers[start as usize..self.ends[group] as usize];
            let equal = of_group[of_group.partition_point(|&(rest, _)| rest < own)..].iter();
            let equal = equal.take_while(|&&(rest, _)| rest == own);
            diagonals.extend(equal.map(|&(_, place)| to_i64(place) - to_i64(row)));
        }
    }
}
