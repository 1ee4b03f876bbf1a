//! Depth and coverage of the references by primary alignments.

use crate::terms::alignment::{Alignment, PathOp};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u32, to_usize};
use std::cmp::Reverse;
use std::num::NonZeroU32;

/// Maximum number of references with bins; the longest references have them.
const REFERENCES: usize = 1000;
/// Maximum number of bins per reference, and in total.
const BINS_OF_ONE: usize = 2000;
const BINS_OF_ALL: usize = 200_000;

/// An interval of a target that an alignment covers. Deleted residues are not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    target: u32,
    start: u32,
    end: u32,
    /// For the first interval of an alignment, whether another hit of the query has the same score; otherwise `None`.
    begins: Option<HitComparison>,
}

/// Comparison of a query's hit with its other hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitComparison {
    /// No other hit has the same score.
    Unique,
    Tied,
}

/// Depth and coverage of all targets.
#[derive(Clone, Debug)]
pub struct Depth {
    targets: Vec<Target>,
    bins: Vec<u64>,
    /// One bit for each residue of all targets.
    covered: Vec<u64>,
}

/// Counts for one target.
#[derive(Clone, Debug)]
struct Target {
    /// Offset of its first residue in the concatenated targets.
    start: u64,
    letters: u32,
    unique: u64,
    tied: u64,
    aligned: u64,
    /// Index of its first bin, and residues per bin; 0 residues if it has no bins.
    first_bin: usize,
    bin_letters: u32,
}

/// Coverage of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceDepth<'a> {
    pub letters: u64,
    /// Number of primary alignments of queries without another hit of the same score, and of all other queries.
    pub unique: u64,
    pub tied: u64,
    /// Number of query residues that are aligned to its residues.
    pub aligned: u64,
    /// Number of residues that at least one alignment covers.
    pub covered: u64,
    /// Residues per bin; 0 if there are no bins.
    pub bin_letters: u64,
    /// `aligned`, per bin.
    pub bins: &'a [u64],
}

impl ReferenceDepth<'_> {
    /// Number of primary alignments.
    pub fn alignments(&self) -> u64 {
        self.unique + self.tied
    }
}

/// The intervals that the primary alignment of a query covers.
pub fn covered(alignment: &Alignment, standing: HitComparison) -> impl Iterator<Item = Covered> + '_ {
    let (target, mut begins) = (alignment.target, Some(standing));
    alignment.runs().filter(|run| run.op == PathOp::Match).map(move |run| Covered {
        target,
        start: to_u32(run.target.start),
        end: to_u32(run.target.end),
        begins: begins.take(),
    })
}

/// The intervals that another piece of an alignment covers, without counting the alignment again.
pub fn covered_by_piece(alignment: &Alignment) -> impl Iterator<Item = Covered> + '_ {
    covered(alignment, HitComparison::Unique).map(|covered| Covered { begins: None, ..covered })
}

impl Depth {
    pub fn new(targets: &Sequences) -> Depth {
        let letters = |target: usize| to_u32(targets.once(to_u32(target)).len());
        let mut longest: Vec<usize> = (0..targets.len()).collect();
        if longest.len() > REFERENCES {
            longest.select_nth_unstable_by_key(REFERENCES, |&target| (Reverse(letters(target)), target));
            longest.truncate(REFERENCES);
        }
        longest.sort_unstable();
        let most = to_u32(BINS_OF_ONE.min(BINS_OF_ALL / longest.len().max(1)));
        let plain = |target| Target {
            start: targets.start(target) as u64,
            letters: letters(target),
            unique: 0,
            tied: 0,
            aligned: 0,
            first_bin: 0,
            bin_letters: 0,
        };
        let mut all: Vec<Target> = (0..targets.len()).map(plain).collect();
        let mut bins = 0;
        for target in longest {
            let target = &mut all[target];
            target.first_bin = bins;
            target.bin_letters = target.letters.div_ceil(most).max(1);
            bins += target.bins();
        }
        let words = targets.codes().len().div_ceil(64);
        Depth { targets: all, bins: vec![0; bins], covered: vec![0; words] }
    }

    pub fn add(&mut self, &Covered { target, start, end, begins }: &Covered) {
        let Some(target) = self.targets.get_mut(target as usize) else { return };
        target.unique += u64::from(begins == Some(HitComparison::Unique));
        target.tied += u64::from(begins == Some(HitComparison::Tied));
        target.aligned += u64::from(end - start);
        if let Some(width) = NonZeroU32::new(target.bin_letters).map(NonZeroU32::get) {
            for bin in start / width..end.div_ceil(width) {
                let inside = end.min((bin + 1).saturating_mul(width)) - start.max(bin * width);
                self.bins[target.first_bin + bin as usize] += u64::from(inside);
            }
        }
        let (start, end) = (target.start + u64::from(start), target.start + u64::from(end));
        for (word, mask) in words(start, end) {
            self.covered[word] |= mask;
        }
    }

    pub fn len(&self) -> usize {
        self.targets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// All targets, in order.
    pub fn references(&self) -> impl Iterator<Item = ReferenceDepth<'_>> {
        self.targets.iter().map(|target| {
            let end = target.start + u64::from(target.letters);
            let covered =
                words(target.start, end).map(|(word, mask)| (self.covered[word] & mask).count_ones());
            ReferenceDepth {
                letters: u64::from(target.letters),
                unique: target.unique,
                tied: target.tied,
                aligned: target.aligned,
                covered: covered.map(u64::from).sum(),
                bin_letters: u64::from(target.bin_letters),
                bins: &self.bins[target.first_bin..target.first_bin + target.bins()],
            }
        })
    }
}

impl Target {
    fn bins(&self) -> usize {
        if self.bin_letters == 0 { 0 } else { self.letters.div_ceil(self.bin_letters) as usize }
    }
}

/// The words of a bit set that contain the bits from `start` to `end`, and these bits of each word.
fn words(start: u64, end: u64) -> impl Iterator<Item = (usize, u64)> {
    (start / 64..end.div_ceil(64)).map(move |word| {
        let from = start.saturating_sub(word * 64);
        let to = (end - word * 64).min(64);
        let mask = if to <= from { 0 } else { (u64::MAX >> (64 - (to - from))) << from };
        (to_usize(word), mask)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(lengths: &[usize]) -> Sequences {
        let mut targets = Sequences::default();
        lengths.iter().for_each(|&len| targets.push(std::iter::repeat_n(0, len)));
        targets
    }

    #[test]
    fn words_hold_their_bits() {
        for (start, end) in [(0, 0), (0, 1), (3, 64), (63, 65), (64, 128), (70, 300), (130, 130)] {
            let bits: u32 = words(start, end).map(|(_, mask)| mask.count_ones()).sum();
            assert_eq!(u64::from(bits), end - start, "{start}..{end}");
            let inside = |bit: u64| {
                words(start, end).any(|(word, mask)| word as u64 == bit / 64 && mask >> (bit % 64) & 1 == 1)
            };
            assert!((0..320).all(|bit| inside(bit) == (start..end).contains(&bit)), "{start}..{end}");
        }
    }

    #[test]
    fn bins_and_bits_add_up() {
        let mut depth = Depth::new(&targets(&[100, 4001, 0]));
        for (target, start, end) in [(1, 0, 4001), (1, 1, 5), (0, 90, 100), (0, 95, 100)] {
            let standing = if start == 1 { HitComparison::Tied } else { HitComparison::Unique };
            depth.add(&Covered { target, start, end, begins: (start > 0).then_some(standing) });
        }
        let all: Vec<_> = depth.references().collect();
        assert_eq!((all[0].aligned, all[0].covered, all[0].alignments(), all[0].bin_letters), (15, 10, 2, 1));
        assert_eq!([all[0].unique, all[0].tied, all[1].unique, all[1].tied], [2, 0, 0, 1]);
        assert_eq!((all[0].bins[89], all[0].bins[90], all[0].bins[99]), (0, 1, 2));
        assert_eq!((all[1].aligned, all[1].covered, all[1].bin_letters), (4005, 4001, 3));
        assert_eq!((all[1].bins.len(), all[1].bins[0], all[1].bins[1], all[1].bins[1333]), (1334, 5, 5, 2));
        assert_eq!((all[2].letters, all[2].bins.len()), (0, 0));
    }

    #[test]
    fn many_references_have_few_bins_and_the_shortest_none() {
        let lengths: Vec<usize> = (0..1100).map(|target| 300 + target % 700).collect();
        let depth = Depth::new(&targets(&lengths));
        let binned: Vec<_> = depth.references().filter(|reference| !reference.bins.is_empty()).collect();
        assert_eq!(binned.len(), 1000);
        assert!(
            depth.bins.len() <= BINS_OF_ALL && binned.iter().all(|reference| reference.bins.len() <= 200)
        );
        // The lengths 300 to 349 occur twice, and are the 100 shortest.
        assert!(depth.references().all(|reference| (reference.letters >= 350) != reference.bins.is_empty()));
    }
}
