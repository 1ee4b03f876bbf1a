//! Sequences of the genome, their blocks, and their runs of N.
//!
//! A block is the unit of generation: any block can be generated without the others. Blocks do not cross sequences. A
//! *genome position* counts from the first base of the first sequence; a sequence position counts within one sequence.

use std::ops::Range;

use crate::numbers::{scaled, to_u64, to_usize};
use crate::random::{Purpose, Random};

/// Bases of a block, except for the last block of a sequence. A multiple of the bases of a FASTA line.
pub const BLOCK: u64 = 128_000;

/// Name and size of a human chromosome (`GRCh38`), in bases.
struct Chromosome {
    name: &'static str,
    bases: u64,
}

const fn chromosome(name: &'static str, bases: u64) -> Chromosome {
    Chromosome { name, bases }
}

const CHROMOSOMES: [Chromosome; 24] = [
    chromosome("chr1", 248_956_422),
    chromosome("chr2", 242_193_529),
    chromosome("chr3", 198_295_559),
    chromosome("chr4", 190_214_555),
    chromosome("chr5", 181_538_259),
    chromosome("chr6", 170_805_979),
    chromosome("chr7", 159_345_973),
    chromosome("chr8", 145_138_636),
    chromosome("chr9", 138_394_717),
    chromosome("chr10", 133_797_422),
    chromosome("chr11", 135_086_622),
    chromosome("chr12", 133_275_309),
    chromosome("chr13", 114_364_328),
    chromosome("chr14", 107_043_718),
    chromosome("chr15", 101_991_189),
    chromosome("chr16", 90_338_345),
    chromosome("chr17", 83_257_441),
    chromosome("chr18", 80_373_285),
    chromosome("chr19", 58_617_616),
    chromosome("chr20", 64_444_167),
    chromosome("chr21", 46_709_983),
    chromosome("chr22", 50_818_468),
    chromosome("chrX", 156_040_895),
    chromosome("chrY", 57_227_415),
];

/// Size of a genome whose long runs of N have the sizes below.
const FULL_SIZE: u64 = 3_100_000_000;
const CENTROMERE: Range<u64> = 500_000..3_000_000;
const TELOMERE: u64 = 10_000;
/// A short run of N has 1 to 1,023 bases. Each stretch of this size has at most one.
const SHORT_RUN_SPACING: u64 = 1_000_000;

pub struct Sequence {
    pub name: &'static str,
    /// Genome position of the first base.
    pub start: u64,
    pub bases: u64,
    pub first_block: u64,
}

/// Part of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub number: u64,
    /// Index of the sequence.
    pub sequence: usize,
    /// Sequence position of the first base.
    pub sequence_start: u64,
    /// Genome position of the first base.
    pub start: u64,
    pub bases: usize,
}

pub struct Layout {
    pub bases: u64,
    pub blocks: u64,
    /// Sequences with at least one base.
    pub sequences: Vec<Sequence>,
    /// Runs of N as genome positions, in order. Runs neither overlap nor touch, except at the border of sequences.
    pub runs: Vec<Range<u64>>,
}

impl Layout {
    /// Divides a genome of this size into sequences in proportion to the human chromosomes.
    pub fn new(seed: u64, bases: u64) -> Self {
        let human: u64 = CHROMOSOMES.iter().map(|chromosome| chromosome.bases).sum();
        let mut layout = Self { bases, blocks: 0, sequences: Vec::new(), runs: Vec::new() };
        let (mut human_end, mut start) = (0, 0);
        for (number, chromosome) in CHROMOSOMES.iter().enumerate() {
            human_end += chromosome.bases;
            // At least 1 base in the first sequence, however few there are.
            let end = scaled(bases, human_end, human).max(1);
            if end > start {
                layout.push_sequence(chromosome.name, start, end - start);
                let random = Random::new(seed, Purpose::Unknown, to_u64(number));
                layout.push_runs(random, start..end);
            }
            start = end;
        }
        layout
    }

    fn push_sequence(&mut self, name: &'static str, start: u64, bases: u64) {
        self.sequences.push(Sequence { name, start, bases, first_block: self.blocks });
        self.blocks += bases.div_ceil(BLOCK);
    }

    /// Adds the runs of N of a sequence: telomeres, a centromere, and short runs.
    fn push_runs(&mut self, mut random: Random, sequence: Range<u64>) {
        let bases = sequence.end - sequence.start;
        let telomere = scaled(TELOMERE, self.bases, FULL_SIZE).min(bases / 20);
        let centromere = random.between(CENTROMERE.start, CENTROMERE.end);
        let centromere = scaled(centromere, self.bases, FULL_SIZE).min(bases / 10);
        let middle = sequence.start + scaled(bases, random.between(30, 50), 100);
        let long = [
            sequence.start..sequence.start + telomere,
            middle..middle + centromere,
            sequence.end - telomere..sequence.end,
        ];
        let first = self.runs.len();
        for cell in sequence.clone().step_by(to_usize(SHORT_RUN_SPACING)) {
            let start = cell + random.below(SHORT_RUN_SPACING);
            let magnitude = 1 << random.below(10);
            let run = start..start + random.between(magnitude, 2 * magnitude - 1);
            let distance_kept = |other: &Range<u64>| run.end < other.start || other.end < run.start;
            if run.end < sequence.end && long.iter().chain(self.runs.last()).all(distance_kept) {
                self.runs.push(run);
            }
        }
        self.runs.extend(long.into_iter().filter(|run| !run.is_empty()));
        self.runs[first..].sort_unstable_by_key(|run| run.start);
    }

    /// The block with this number, which is below the number of blocks.
    pub fn block(&self, number: u64) -> Block {
        let sequence = self.sequences.partition_point(|sequence| sequence.first_block <= number) - 1;
        let of = &self.sequences[sequence];
        let sequence_start = (number - of.first_block) * BLOCK;
        let bases = to_usize((of.bases - sequence_start).min(BLOCK));
        Block { number, sequence, sequence_start, start: of.start + sequence_start, bases }
    }

    /// The block that contains a genome position.
    pub fn block_at(&self, position: u64) -> Block {
        let sequence = self.sequences.partition_point(|sequence| sequence.start <= position) - 1;
        let of = &self.sequences[sequence];
        self.block(of.first_block + (position - of.start) / BLOCK)
    }

    /// Runs of N that share a base with a range of genome positions.
    pub fn runs_within(&self, range: Range<u64>) -> &[Range<u64>] {
        let first = self.runs.partition_point(|run| run.end <= range.start);
        let end = self.runs.partition_point(|run| run.start < range.end);
        &self.runs[first..end.max(first)]
    }

    /// Longest stretches without N, as genome positions. They do not cross sequences.
    pub fn known(&self) -> Vec<Range<u64>> {
        let mut known = Vec::new();
        for sequence in &self.sequences {
            let end = sequence.start + sequence.bases;
            let mut start = sequence.start;
            for run in self.runs_within(start..end) {
                known.push(start..run.start);
                start = run.end;
            }
            known.push(start..end);
        }
        known.retain(|stretch| !stretch.is_empty());
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_size_exactly() {
        for bases in [1, 2, 23, 24, 100, 12_345, 128_000, 3_000_001, 3_100_000_000, 100_000_000_000] {
            let layout = Layout::new(1, bases);
            assert_eq!(layout.sequences.iter().map(|sequence| sequence.bases).sum::<u64>(), bases);
            let mut end = 0;
            for number in
                (0..layout.blocks.min(1_000)).chain(layout.blocks.saturating_sub(100)..layout.blocks)
            {
                let block = layout.block(number);
                assert!(number != 0 || block.start == 0);
                assert!(block.bases > 0 && layout.block_at(block.start) == block);
                assert_eq!(layout.block_at(block.start + to_u64(block.bases) - 1), block);
                end = block.start + to_u64(block.bases);
            }
            assert_eq!(end, bases);
        }
    }

    #[test]
    fn runs_are_apart_and_within_their_share() {
        for bases in [1, 100, 10_000, 3_000_000, 300_000_000, 3_100_000_000] {
            let layout = Layout::new(5, bases);
            let starts: Vec<u64> = layout.sequences.iter().map(|sequence| sequence.start).collect();
            for pair in layout.runs.windows(2) {
                let touch = pair[0].end == pair[1].start && starts.contains(&pair[1].start);
                assert!(pair[0].end < pair[1].start || touch, "{bases}: {pair:?}");
            }
            let unknown: u64 = layout.runs.iter().map(|run| run.end - run.start).sum();
            let known: u64 = layout.known().iter().map(|stretch| stretch.end - stretch.start).sum();
            assert_eq!(unknown + known, bases);
            assert!(bases < 3_000_000 || (bases / 200..bases / 40).contains(&unknown), "{bases}: {unknown}");
        }
    }
}
