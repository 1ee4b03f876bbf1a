//! The donor: the reference with known variants.
//!
//! The *plan* of a block lists positions and lengths of variants. It does not depend on bases, so that the length of each
//! donor block is known without generating it. Alleles and left alignment need the bases of the reference block.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::genome::{Genome, Reference};
use crate::layout::Block;
use crate::numbers::{to_u64, to_usize};
use crate::random::{Geometric, Purpose, Random};
use crate::variants::{Change, Planned, Variant, VariantOptions, donor_seed, large_variants};

/// Stretch of a donor block that is equal to a stretch of the reference, except for substitutions. Positions count from
/// the starts of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub donor: usize,
    pub reference: usize,
    pub length: usize,
    pub inverted: bool,
}

/// Block of the donor.
pub struct DonorBlock {
    /// The block of the reference that it corresponds to.
    pub reference: Block,
    pub bases: Vec<u8>,
    /// Pieces in the donor's order. Bases between pieces are inserted.
    pub pieces: Vec<Piece>,
}

/// Reference with variants.
///
/// A *donor position* counts from the first base of the donor's first sequence.
pub struct Donor<'a> {
    pub genome: &'a Genome,
    pub options: VariantOptions,
    /// Large variants by the number of their block.
    large: BTreeMap<u64, Planned>,
    /// Donor position of each block, and the number of donor bases.
    starts: Vec<u64>,
}

impl<'a> Donor<'a> {
    /// Plans the donor. The error says what the genome has no room for.
    pub fn new(genome: &'a Genome, options: VariantOptions) -> Result<Self, String> {
        let large = large_variants(genome, &options)?;
        let mut donor = Self { genome, options, large, starts: vec![0] };
        let mut end = 0;
        for number in 0..genome.layout.blocks {
            let block = genome.layout.block(number);
            end += donor_bases(block.bases, &donor.plan(&block));
            donor.starts.push(end);
        }
        Ok(donor)
    }

    /// Number of the block that contains a donor position.
    pub fn block_at(&self, position: u64) -> u64 {
        to_u64(self.starts.partition_point(|start| *start <= position) - 1)
    }

    /// Donor position of the first base of a block.
    pub fn block_start(&self, number: u64) -> u64 {
        self.starts[to_usize(number)]
    }

    /// Position of a block within the donor's sequence.
    pub fn start_in_sequence(&self, block: &Block) -> u64 {
        let sequence = &self.genome.layout.sequences[block.sequence];
        self.block_start(block.number) - self.block_start(sequence.first_block)
    }

    /// Donor positions of a stretch of the reference that runs of N or borders of sequences delimit.
    pub fn positions(&self, stretch: &Range<u64>) -> Range<u64> {
        self.position(stretch.start)..self.position(stretch.end)
    }

    /// Donor position of a genome position at the border of a run of N or of a sequence.
    fn position(&self, border: u64) -> u64 {
        let layout = &self.genome.layout;
        if border == layout.bases {
            return self.block_start(layout.blocks);
        }
        let block = layout.block_at(border);
        let offset = to_usize(border - block.start);
        let mut before = self.plan(&block);
        before.retain(|planned| planned.start < offset);
        self.block_start(block.number) + donor_bases(offset, &before)
    }

    /// Plans a block: variants in order, at least one unchanged base apart, and apart from runs of N and the block's ends.
    fn plan(&self, block: &Block) -> Vec<Planned> {
        let VariantOptions { snp_rate, indel_rate, .. } = self.options;
        let mut random = self.random(Purpose::VariantPositions, block.number);
        let distance = Geometric::new((snp_rate + indel_rate).min(1.0));
        let snp_share = snp_rate / (snp_rate + indel_rate);
        let mut plan: Vec<Planned> = self.large.get(&block.number).copied().into_iter().collect();
        let occupied = self.occupied(block);
        let mut start = 1;
        loop {
            start += distance.draw_up_to(block.bases, &mut random);
            let planned = Planned::small(start, snp_share, &mut random);
            if planned.end() >= block.bases {
                break;
            }
            if occupied.iter().all(|range| planned.end() < range.start || range.end < start) {
                plan.push(planned);
            }
            start = planned.end() + 1;
        }
        plan.sort_unstable_by_key(|planned| planned.start);
        plan
    }

    /// Runs of N and the large variant of a block, counted from its start.
    fn occupied(&self, block: &Block) -> Vec<Range<usize>> {
        let end = block.start + to_u64(block.bases);
        let runs = self.genome.layout.runs_within(block.start..end).iter();
        let offset = |position: u64| to_usize(position.clamp(block.start, end) - block.start);
        let large = self.large.get(&block.number).map(|large| large.start..large.end());
        runs.map(|run| offset(run.start)..offset(run.end)).chain(large).collect()
    }

    /// Variants of a block, in order. They share no reference base.
    pub fn variants(&self, reference: &Reference) -> Vec<Variant> {
        let block = &reference.block;
        let mut random = self.random(Purpose::VariantAlleles, block.number);
        let mut end = 0;
        let mut variants = Vec::new();
        for planned in self.plan(block) {
            let variant = planned.with_alleles(&reference.bases, end, &mut random);
            end = variant.start + variant.reference.len();
            variants.push(variant);
        }
        variants
    }

    /// Generates a block of the donor.
    pub fn block(&self, number: u64) -> DonorBlock {
        let reference = self.genome.reference(number);
        DonorBlock::new(&reference, &self.variants(&reference))
    }

    fn random(&self, purpose: Purpose, number: u64) -> Random {
        Random::new(donor_seed(self.genome, &self.options), purpose, number)
    }
}

impl DonorBlock {
    /// Applies variants to a block of the reference.
    fn new(reference: &Reference, variants: &[Variant]) -> Self {
        let capacity = reference.bases.len() + reference.bases.len() / 64;
        let mut block =
            Self { reference: reference.block, bases: Vec::with_capacity(capacity), pieces: Vec::new() };
        let mut at = 0;
        for variant in variants {
            block.append(at, &reference.bases[at..variant.start], false);
            at = variant.start + variant.reference.len();
            if variant.change == Change::Inversion {
                block.append(variant.start, &variant.alternative, true);
            } else {
                let aligned = variant.reference.len().min(variant.alternative.len());
                block.append(variant.start, &variant.alternative[..aligned], false);
                block.bases.extend_from_slice(&variant.alternative[aligned..]);
            }
        }
        block.append(at, &reference.bases[at..], false);
        block
    }

    /// Appends bases that correspond to the reference from a position on.
    fn append(&mut self, reference: usize, bases: &[u8], inverted: bool) {
        let (donor, length) = (self.bases.len(), bases.len());
        self.bases.extend_from_slice(bases);
        match self.pieces.last_mut() {
            _ if length == 0 => {}
            Some(last)
                if !inverted
                    && !last.inverted
                    && last.donor + last.length == donor
                    && last.reference + last.length == reference =>
            {
                last.length += length;
            }
            _ => self.pieces.push(Piece { donor, reference, length, inverted }),
        }
    }
}

/// Number of donor bases that correspond to the first reference bases of a block, which have the planned variants.
fn donor_bases(reference_bases: usize, plan: &[Planned]) -> u64 {
    let sum = |change| {
        let lengths = plan.iter().filter(|planned| planned.change == change).map(|planned| planned.length);
        lengths.sum::<usize>()
    };
    to_u64(reference_bases + sum(Change::Insertion) - sum(Change::Deletion))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_large_variant_is_planned_or_refused() {
        let genome = Genome::new(1, 20_000_000);
        let options = |deletions, inversions| VariantOptions {
            seed: 1,
            snp_rate: 0.0,
            indel_rate: 0.0,
            deletions,
            inversions,
        };
        let donor = Donor::new(&genome, options(10, 7)).unwrap();
        let count = |change| donor.large.values().filter(|planned| planned.change == change).count();
        assert_eq!((count(Change::Deletion), count(Change::Inversion)), (10, 7));
        let genome = Genome::new(1, 100_000);
        assert!(Donor::new(&genome, options(50, u64::MAX)).is_err());
    }
}
