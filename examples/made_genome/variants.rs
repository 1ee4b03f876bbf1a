//! Variants: their plan, which does not depend on bases, and their alleles.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::copies::reverse_complement;
use crate::genome::Genome;
use crate::numbers::{to_u64, to_usize};
use crate::random::{Purpose, Random};

/// Largest number of bases that a small variant inserts or deletes.
const LONGEST_INDEL: usize = 20;
const LARGE_VARIANT: Range<u64> = 1_000..10_000;

/// Frequencies and numbers of variants.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantOptions {
    /// Donors with different seeds have different variants of the same reference.
    pub seed: u64,
    pub snp_rate: f64,
    pub indel_rate: f64,
    /// Number of deletions of 1,000 to 10,000 bases.
    pub deletions: u64,
    /// Number of inversions of 1,000 to 10,000 bases.
    pub inversions: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Substitution,
    Insertion,
    Deletion,
    Inversion,
}

/// Position and length of a variant, without its bases.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    pub change: Change,
    /// First reference base that changes, counted from the start of the block. Inserted bases precede this base.
    pub start: usize,
    /// Number of bases that change.
    pub length: usize,
}

/// A variant as VCF represents it, with the base before an insertion or a deletion.
pub struct Variant {
    pub change: Change,
    /// First base of `reference`, counted from the start of the block.
    pub start: usize,
    pub reference: Vec<u8>,
    pub alternative: Vec<u8>,
}

impl Planned {
    /// Draws the kind and the length of a small variant.
    pub fn small(start: usize, snp_share: f64, random: &mut Random) -> Self {
        if random.chance(snp_share) {
            return Self { change: Change::Substitution, start, length: 1 };
        }
        let change = if random.chance(0.5) { Change::Insertion } else { Change::Deletion };
        Self { change, start, length: 1 + random.index(LONGEST_INDEL) }
    }

    /// End of the reference bases that change.
    pub fn end(&self) -> usize {
        if self.change == Change::Insertion { self.start } else { self.start + self.length }
    }

    /// Draws the alleles. Moves an insertion or a deletion to the left as far as the donor stays the same.
    ///
    /// The base before the variant stays at or after `floor`, the end of the previous variant. It is neither N nor in another
    /// block.
    pub fn with_alleles(&self, bases: &[u8], floor: usize, random: &mut Random) -> Variant {
        let Self { change, mut start, length } = *self;
        let moves_left = |start: usize, last: u8| {
            start >= floor + 2 && bases[start - 1] == last && bases[start - 2] != b'N'
        };
        match change {
            Change::Substitution => {
                let alternative = vec![random.other_base(bases[start])];
                Variant { change, start, reference: vec![bases[start]], alternative }
            }
            Change::Inversion => {
                let reference = bases[start..start + length].to_vec();
                let mut alternative = reference.clone();
                reverse_complement(&mut alternative);
                Variant { change, start, reference, alternative }
            }
            Change::Insertion => {
                let mut inserted: Vec<u8> = (0..length).map(|_| random.base()).collect();
                while moves_left(start, inserted[length - 1]) {
                    inserted.rotate_right(1);
                    start -= 1;
                }
                inserted.insert(0, bases[start - 1]);
                Variant { change, start: start - 1, reference: vec![bases[start - 1]], alternative: inserted }
            }
            Change::Deletion => {
                while moves_left(start, bases[start + length - 1]) {
                    start -= 1;
                }
                let reference = bases[start - 1..start + length].to_vec();
                Variant { change, start: start - 1, reference, alternative: vec![bases[start - 1]] }
            }
        }
    }
}

/// Seed of all streams of a donor.
pub fn donor_seed(genome: &Genome, options: &VariantOptions) -> u64 {
    genome.seed ^ options.seed.rotate_left(32)
}

/// Plans large deletions and inversions, in different blocks and apart from runs of N.
pub fn large_variants(genome: &Genome, options: &VariantOptions) -> Result<BTreeMap<u64, Planned>, String> {
    const ATTEMPTS: usize = 100;
    let layout = &genome.layout;
    let mut large = BTreeMap::new();
    let total = options.deletions.saturating_add(options.inversions);
    let mut random = Random::new(donor_seed(genome, options), Purpose::LargeVariants, 0);
    let mut draw = |large: &BTreeMap<u64, Planned>, change| {
        let block = layout.block(random.below(layout.blocks));
        let length = random.between(LARGE_VARIANT.start, LARGE_VARIANT.end);
        let last_start = to_u64(block.bases).checked_sub(length + 1).filter(|start| *start > 0)?;
        let start = random.between(1, last_start);
        let with_neighbors = block.start + start - 1..block.start + start + length + 1;
        let is_free = !large.contains_key(&block.number) && layout.runs_within(with_neighbors).is_empty();
        let planned = Planned { change, start: to_usize(start), length: to_usize(length) };
        is_free.then_some((block.number, planned))
    };
    for number in 0..total {
        let change = if number < options.deletions { Change::Deletion } else { Change::Inversion };
        let Some((block, planned)) = (0..ATTEMPTS).find_map(|_| draw(&large, change)) else {
            return Err(format!(
                "the genome has room for only {number} of {total} deletions and inversions; use more --bases, or fewer of \
                 them"
            ));
        };
        large.insert(block, planned);
    }
    Ok(large)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alleles(change: Change, start: usize, length: usize, floor: usize) -> Variant {
        let mut random = Random::new(1, Purpose::VariantAlleles, 0);
        Planned { change, start, length }.with_alleles(b"NNGATATATATCCCCG", floor, &mut random)
    }

    #[test]
    fn deletions_move_to_the_left() {
        let deletion = |start, length, floor| {
            let variant = alleles(Change::Deletion, start, length, floor);
            let text = |bases| String::from_utf8(bases).unwrap();
            format!("{} {} {}", variant.start, text(variant.reference), text(variant.alternative))
        };
        assert_eq!(deletion(8, 2, 0), "2 GAT G");
        assert_eq!(deletion(14, 1, 0), "10 TC T");
        assert_eq!(deletion(13, 2, 0), "10 TCC T");
        // The base before a deletion is neither N nor part of another variant.
        assert_eq!(deletion(8, 2, 5), "5 ATA A");
        assert_eq!(deletion(3, 2, 0), "2 GAT G");
    }

    #[test]
    fn insertions_move_to_the_left() {
        for start in 3..16 {
            let variant = alleles(Change::Insertion, start, 1, 0);
            assert_eq!(variant.reference.len(), 1);
            assert_eq!(variant.reference[0], variant.alternative[0]);
            assert!(variant.alternative[1] != variant.alternative[0] || variant.start == 2);
        }
    }
}
